//! The command and irregular arrays: remarks on them, and their form in files.

use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

/// A directory of its own for each test.
fn directory(test: &str) -> PathBuf {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(test);
    std::fs::create_dir_all(&path).expect("a temporary directory can be made");
    path
}

fn file(test: &str, name: &str, bytes: impl AsRef<[u8]>) -> String {
    let path = directory(test).join(name);
    std::fs::write(&path, bytes).expect("a temporary file can be written");
    path.display().to_string()
}

fn arrc(arguments: &[&str], input: &[u8]) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_arrc"))
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the command can be started");
    let mut stdin = child.stdin.take().expect("it was piped");
    // A command that does not read its input closes it.
    let _ = stdin.write_all(input);
    drop(stdin);
    child.wait_with_output().expect("the command ends")
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// It ends with the code, and says this among other things.
#[track_caller]
fn ends(output: &Output, code: i32, part: &str) {
    let text = stderr(output);
    assert_eq!(output.status.code(), Some(code), "{text}");
    assert!(text.contains(part), "{part:?} is not in {text:?}");
    assert!(!text.contains("internal error"), "{text}");
}

#[test]
fn remarks_on_irregular_arrays_only_when_asked() {
    let text = "def main (ns: []i64) = map (\\n -> let w = n + 1 in iota w) ns\n";
    let program = file("remarks", "rows.fut", text);
    let even = "def main (ns: []i64) = map (\\n -> map (+ n) (iota 3)) ns\n";
    let even = file("remarks", "even.fut", even);
    let remark = "remark[R0301]: rows of different lengths";
    let blame = "the length of a row, `w`, differs from row to row";
    for command in ["check", "run"] {
        let told = arrc(&[command, "-v", &program], b"[1, 2]");
        ends(&told, 0, remark);
        ends(&told, 0, blame);
        let silent = arrc(&[command, &program], b"[1, 2]");
        assert_eq!(stderr(&silent), "");
        let regular = arrc(&[command, "-v", &even], b"[1, 2]");
        assert!(!stderr(&regular).contains("remark"), "{}", stderr(&regular));
    }
}

#[test]
fn remarks_tell_what_else_keeps_arrays_irregular() {
    let cases = [
        (
            "segment",
            "def main (ls: []i64) (xs: []i32) = segment ls xs",
            ":1:36",
            "`segment` makes rows of the lengths that it is given",
        ),
        (
            "parameter",
            "entry main (xss: [][..]i32) = length xss",
            ":1:7",
            "the rows of the parameter `xss` may have any lengths",
        ),
        (
            "literal",
            "def main (n: i64) : [][..]i64 =\n  [iota n, iota (n + 1)]",
            ":2:3",
            "becomes one with rows of any lengths",
        ),
        (
            "branch",
            "def main (b: bool) (n: i64) : [][..]i64 =\n  let xss = map iota (iota n)\n  in if b then xss else [[n, n]]",
            ":3:6",
            "becomes one with rows of any lengths",
        ),
        (
            "loop",
            "def main (n: i64) : [][..]i64 =\n  loop (xss: [][..]i64) = [[n]] for i < n do map iota (iota i)",
            ":2:3",
            "becomes one with rows of any lengths",
        ),
    ];
    for (name, text, place, why) in cases {
        let program = file("kept", &format!("{name}.fut"), text);
        let told = arrc(&["check", "-v", &program], b"");
        ends(&told, 0, why);
        let text = stderr(&told);
        let lines: Vec<&str> = text.lines().collect();
        let at = lines.iter().position(|line| line.contains(why));
        let remark = lines[..at.unwrap_or(0)]
            .iter()
            .rposition(|line| line.contains("remark[R0301]"));
        let arrow = remark.and_then(|i| lines.get(i + 1)).copied().unwrap_or("");
        assert!(
            arrow.ends_with(&format!("{name}.fut{place}")),
            "{name}: {text}"
        );
    }
}

#[test]
fn irregular_arrays_in_files() {
    let program = file(
        "rows",
        "rows.fut",
        "def main (xss: [][..]i32) = map (map (* 2)) xss\n",
    );
    let text = b"[[1, 2], [], [3]]";
    let plain = arrc(&["run", &program], text);
    ends(&plain, 0, "");
    // Binary and as an archive, there and back.
    let binary = arrc(&["run", "-b", &program], text);
    ends(&binary, 0, "");
    assert!(binary.stdout.starts_with(b"b\x03\x02\x00\x01 i32"));
    let twice = arrc(&["run", &program], &binary.stdout);
    ends(&twice, 0, "");
    assert_eq!(twice.stdout, b"[[4i32, 8i32], [], [12i32]]\n");
    let cut = arrc(&["run", &program], &binary.stdout[..20]);
    ends(&cut, 1, "ends inside the lengths");
    let archive = file("rows", "rows.npz", "");
    ends(&arrc(&["run", "--npz", &archive, &program], text), 0, "");
    let again = arrc(&["run", &program, &archive], b"");
    ends(&again, 0, "");
    assert_eq!(again.stdout, twice.stdout);
    let broken = file("rows", "broken.npz", "PK");
    ends(
        &arrc(&["run", &program, &broken], b""),
        1,
        "not a readable .npz file",
    );
    let regular = file("rows", "regular.fut", "def main (xs: []i32) = xs\n");
    ends(
        &arrc(&["run", &regular, &archive], b""),
        1,
        "for irregular arrays of numbers only",
    );
}
