//! `arrc doc` as its users meet it.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn directory(test: &str) -> PathBuf {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("doc-{test}"));
    if path.exists() {
        std::fs::remove_dir_all(&path).expect("what an earlier run has left can be removed");
    }
    std::fs::create_dir_all(&path).expect("a temporary directory can be made");
    path
}

fn arrc(directory: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_arrc"))
        .args(arguments)
        .current_dir(directory)
        .env("XDG_CACHE_HOME", directory.join("cache"))
        .output()
        .expect("the command can be started")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

const GOOD: &str = "\
-- | Numbers.
--
-- >>> twice 3
-- 6

-- | Twice a number.
--
-- >>> let x = 4i64
-- >>> twice
-- ... x
-- 8i64
-- >>> half 0
-- error: division by zero
def twice (x: i64) : i64 = 2 * x

def half (x: i64) : i64 = 1 / x
";

#[test]
fn pages_are_written() {
    let directory = directory("pages");
    std::fs::create_dir_all(directory.join("lib")).expect("made");
    std::fs::write(directory.join("lib/good.fut"), GOOD).expect("written");
    std::fs::write(
        directory.join("main.fut"),
        "import \"lib/good\"\nentry main = twice\n",
    )
    .expect("written");
    let output = arrc(&directory, &["doc", "main.fut", "-o", "html"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let said = text(&output.stdout);
    let wanted = "made html/index.html: 2 files, 3 definitions, 2 of them without a comment\n";
    assert_eq!(said, wanted);
    for page in [
        "index.html",
        "search.js",
        "style.css",
        "doc/main.html",
        "doc/lib/good.html",
        "src/lib/good.fut.html",
        "prelude/f64.html",
    ] {
        assert!(directory.join("html").join(page).is_file(), "{page}");
    }
}

#[test]
fn examples_are_executed() {
    let directory = directory("examples");
    std::fs::write(directory.join("good.fut"), GOOD).expect("written");
    let output = arrc(&directory, &["doc", "--test", "good.fut"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert_eq!(text(&output.stdout), "4 examples, 0 of them failed\n");
    let bad = GOOD.replace("-- 6", "-- 7").replace("8i64", "8i32");
    std::fs::write(directory.join("bad.fut"), bad).expect("written");
    let output = arrc(&directory, &["doc", "--test", "."]);
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(text(&output.stdout), "8 examples, 2 of them failed\n");
    let wrong = text(&output.stderr);
    let parts = [
        "bad.fut:3: `twice 3` gives\n6i64\ninstead of\n7\n",
        "bad.fut:9: `twice\nx` gives\n8i64\ninstead of\n8i32\n",
    ];
    for part in parts {
        assert!(wrong.contains(part), "{wrong}");
    }
    assert!(!wrong.contains("good.fut"), "{wrong}");
}

#[test]
fn examples_of_the_prelude_are_right() {
    let directory = directory("prelude");
    for target in ["interp", "cpu"] {
        let line = ["doc", "--prelude", "--test", "--target", target];
        let output = arrc(&directory, &line);
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        let said = text(&output.stdout);
        let count = said.split(' ').next().and_then(|count| count.parse().ok());
        assert!(count.is_some_and(|count: usize| count > 30), "{said}");
    }
}

#[test]
fn mistakes_are_told() {
    let directory = directory("mistakes");
    std::fs::write(directory.join("bad.fut"), "def f = 1i32 + true\n").expect("written");
    std::fs::create_dir_all(directory.join("empty")).expect("made");
    for (line, wanted) in [
        (&["doc", "bad.fut", "-o", "html"][..], "bad.fut:1:"),
        (&["doc", "nowhere.fut", "-o", "html"], "nowhere.fut"),
        (&["doc", "empty", "-o", "html"], "hint: "),
        (&["doc", "-o", "html"], "hint: "),
        (&["doc", "bad.fut"], "--output"),
    ] {
        let output = arrc(&directory, line);
        assert_eq!(output.status.code(), Some(1), "{line:?}");
        let errors = text(&output.stderr);
        assert!(errors.contains(wanted), "{line:?}: {errors}");
    }
}
