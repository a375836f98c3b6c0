//! `arrc literate` as its users meet it.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn directory(test: &str) -> PathBuf {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("literate-{test}"));
    if path.exists() {
        std::fs::remove_dir_all(&path).expect("what an earlier run has left can be removed");
    }
    std::fs::create_dir_all(&path).expect("a temporary directory can be made");
    path
}

fn arrc(directory: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_arrc"))
        .arg("literate")
        .args(arguments)
        .current_dir(directory)
        .env("XDG_CACHE_HOME", directory.join("cache"))
        // Neither gnuplot nor ffmpeg is there.
        .env("PATH", directory)
        .output()
        .expect("the command can be started")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

const PROGRAM: &str = r"-- # Squares
--
-- A program that shows results.

-- | A square.
def square (x: i32) : i32 = x * x

-- Some of them:

def squares (n: i64) = (tabulate n f64.i64, tabulate n (\i -> f64.i64 (i * i)))

-- > square 3

-- > :covert (square 3, true)

-- > :plot2d {square = squares 10};
-- size: (400, 300)

def ramp (h: i64) (w: i64) : [h][w]f32 =
  tabulate_2d h w (\i j -> f32.i64 (i * w + j) / f32.i64 (h * w - 1))

-- > :brief :img ramp 2i64 3i64;
-- file: ramp.png

-- > :img ramp 4i64 4i64

def frame (x: i32) : ([2][2]u32, i32) = (replicate 2 (replicate 2 (u32.i32 x)), x + 1)

-- > :video (frame, 1i32, 3i64);
-- format: apng

def tone : [4]i16 = [0, 100, 0, -100]

-- > :audio tone
";

/// The pixels of a PNG file.
fn pixels(path: &Path) -> (u32, u32, Vec<u8>) {
    let file = std::fs::File::open(path).unwrap_or_else(|why| panic!("{}: {why}", path.display()));
    let decoder = png::Decoder::new(std::io::BufReader::new(file));
    let mut reader = decoder.read_info().expect("a PNG file");
    let mut bytes = vec![0; reader.output_buffer_size().expect("a small picture")];
    let frame = reader.next_frame(&mut bytes).expect("a picture");
    (frame.width, frame.height, bytes)
}

#[test]
fn results_are_shown() {
    let directory = directory("results");
    std::fs::write(directory.join("squares.fut"), PROGRAM).expect("written");
    let output = arrc(&directory, &["squares.fut", "--target", "interp"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let page = std::fs::read_to_string(directory.join("squares.md")).expect("a page");
    let parts = [
        "# Squares\n\nA program that shows results.\n\n```futhark\n-- | A square.\ndef square (x: i32) : i32 = x * x\n```\n\nSome of them:\n\n",
        "```\n> square 3\n```\n\n```\n9i32\n```\n\n```\n(9i32, true)\n```\n\n",
        "```\n> :plot2d {square = squares 10};\nsize: (400, 300)\n```\n\n![](squares-img/",
        "```\n> :img ramp 2i64 3i64\n```\n\n![](squares-img/ramp.png)\n\n",
        "<audio controls src=\"squares-img/",
    ];
    for part in parts {
        assert!(page.contains(part), "{part}\nin\n{page}");
    }
    let ramp = pixels(&directory.join("squares-img/ramp.png"));
    assert_eq!(ramp, (3, 2, vec![0, 51, 102, 153, 204, 255]));
    let files = || -> Vec<(String, std::time::SystemTime)> {
        let entries = std::fs::read_dir(directory.join("squares-img")).expect("files");
        let entries = entries.map(|entry| entry.expect("a file"));
        let time = |entry: &std::fs::DirEntry| entry.metadata().and_then(|m| m.modified());
        let mut all: Vec<_> = entries
            .map(|e| {
                (
                    e.file_name().to_string_lossy().into_owned(),
                    time(&e).expect("a time"),
                )
            })
            .filter(|(name, _)| name != "ramp.png")
            .collect();
        all.sort();
        all
    };
    let made = files();
    let ends: Vec<&str> = made
        .iter()
        .filter_map(|(name, _)| name.split('.').nth(1))
        .collect();
    assert_eq!(ends.len(), 4, "{made:?}");
    for (end, count) in [("svg", 1), ("png", 2), ("wav", 1)] {
        let found = ends.iter().filter(|e| **e == end).count();
        assert_eq!(found, count, "{made:?}");
    }
    for (name, _) in made.iter().filter(|(name, _)| name.ends_with(".svg")) {
        let svg = std::fs::read_to_string(directory.join("squares-img").join(name));
        let svg = svg.expect("a plot");
        assert!(
            svg.contains("width=\"400\"") && svg.contains("<polyline"),
            "{svg}"
        );
    }
    // What has not changed is kept; what is not shown any more goes.
    let output = arrc(&directory, &["squares.fut", "--target", "interp"]);
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(files(), made);
    std::fs::write(directory.join("squares.fut"), "-- > 1\n").expect("written");
    let output = arrc(&directory, &["squares.fut", "--target", "interp"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert!(files().is_empty());
}

#[test]
fn directives_that_fail_are_told() {
    let directory = directory("failures");
    let program = "def f (x: i32) = 1 / x\n\n-- > f 0\n\n-- > g\n\n-- > :gnuplot {a = (f, f)};\n-- plot a\n\n\
                   -- > :video f;\n-- format: avi\n\n-- > f 1\n";
    let program = program.replace("{a = (f, f)}", "{a = ([1, 2], [3, 4])}");
    std::fs::write(directory.join("bad.fut"), program).expect("written");
    let output = arrc(
        &directory,
        &["bad.fut", "-o", "out.md", "--target", "interp"],
    );
    assert_eq!(output.status.code(), Some(1));
    let errors = text(&output.stderr);
    let wanted = [
        "error: bad.fut:3: ",
        "division by zero",
        "error: bad.fut:5: g is not an entry point\n",
        "error: bad.fut:7: gnuplot is not installed\nhint: ",
        "error: bad.fut:10: there is no video format avi",
    ];
    for part in wanted {
        assert!(errors.contains(part), "{part}\nin\n{errors}");
    }
    let page = std::fs::read_to_string(directory.join("out.md")).expect("a page");
    assert!(
        page.contains("```\nerror: g is not an entry point\n```"),
        "{page}"
    );
    assert!(
        page.ends_with("```\n> f 1\n```\n\n```\n1i32\n```\n"),
        "{page}"
    );
    std::fs::remove_file(directory.join("out.md")).expect("removed");
    let line = [
        "bad.fut",
        "-o",
        "out.md",
        "--stop-on-error",
        "--target",
        "interp",
    ];
    let output = arrc(&directory, &line);
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stderr).starts_with("error: bad.fut:3: "));
    assert!(!directory.join("out.md").exists());
}

#[test]
fn programs_that_are_wrong_have_no_page() {
    let directory = directory("wrong");
    std::fs::write(directory.join("bad.fut"), "def f = 1i32 + true\n\n-- > f\n").expect("written");
    for (name, wanted) in [
        ("bad.fut", "bad.fut:1:"),
        ("no.fut", "no.fut"),
        ("x.md", ".fut"),
    ] {
        let output = arrc(&directory, &[name]);
        assert_eq!(output.status.code(), Some(1), "{name}");
        assert!(
            text(&output.stderr).contains(wanted),
            "{}",
            text(&output.stderr)
        );
    }
    assert!(!directory.join("bad.md").exists());
}
