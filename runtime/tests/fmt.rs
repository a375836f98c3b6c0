//! `arrc fmt`: standard input, files, directories, `--check`, and what goes wrong.

use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

const LOOSE: &str = "let   main (x:i32):i32=x+1 -- one more\n";
const TIGHT: &str = "def main (x: i32) : i32 = x + 1 -- one more\n";

fn arrc(arguments: &[&str], input: &[u8]) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_arrc"))
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the command can be started");
    // A command that does not read its input closes it.
    let _ = child.stdin.take().expect("it was piped").write_all(input);
    child.wait_with_output().expect("the command ends")
}

#[track_caller]
fn gives(arguments: &[&str], input: &[u8], code: i32, stdout: &str, stderr: &str) {
    let output = arrc(arguments, input);
    let error = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{error}");
    assert_eq!(String::from_utf8_lossy(&output.stdout), stdout);
    assert!(error.contains(stderr), "{stderr:?} is not in {error:?}");
    assert_eq!(error.is_empty(), stderr.is_empty(), "{error}");
}

fn directory(test: &str) -> PathBuf {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR"))
        .join("fmt")
        .join(test);
    let _ = std::fs::remove_dir_all(&path);
    std::fs::create_dir_all(path.join("inner")).expect("a temporary directory can be made");
    path
}

#[test]
fn standard_input_is_formatted_to_standard_output() {
    gives(&["fmt"], LOOSE.as_bytes(), 0, TIGHT, "");
    gives(&["fmt", "--check"], TIGHT.as_bytes(), 0, "", "");
    let not = "standard input is not formatted";
    gives(&["fmt", "--check"], LOOSE.as_bytes(), 1, "", not);
    gives(&["fmt"], b"", 0, "", "");
}

#[test]
fn what_does_not_parse_is_an_error_with_its_line() {
    gives(&["fmt"], b"def main =\n", 1, "", "<stdin>:1:11");
    gives(&["fmt"], b"def \xff", 1, "", "UTF-8");
    gives(&["fmt", "/no/such.fut"], b"", 1, "", "/no/such.fut");
}

#[test]
fn files_and_directories_are_rewritten() {
    let path = directory("rewritten");
    let (one, two, wrong) = (
        path.join("one.fut"),
        path.join("inner/two.fut"),
        path.join("wrong.fut"),
    );
    let name = path.display().to_string();
    std::fs::write(&one, LOOSE).expect("written");
    std::fs::write(&two, TIGHT).expect("written");
    gives(
        &["fmt", "--check", &name],
        b"",
        1,
        "",
        "one.fut is not formatted",
    );
    assert_eq!(std::fs::read_to_string(&one).expect("read"), LOOSE);
    gives(&["fmt", &name], b"", 0, "", "");
    assert_eq!(std::fs::read_to_string(&one).expect("read"), TIGHT);
    gives(&["fmt", "--check", &name], b"", 0, "", "");

    // A file that is no program stays as it is, and does not keep others from being formatted.
    std::fs::write(&wrong, "def f = (").expect("written");
    std::fs::write(&two, LOOSE).expect("written");
    gives(
        &["fmt", wrong.to_str().expect("a name"), &name],
        b"",
        1,
        "",
        "wrong.fut:1:9",
    );
    assert_eq!(std::fs::read_to_string(&two).expect("read"), TIGHT);
    assert_eq!(std::fs::read_to_string(&wrong).expect("read"), "def f = (");
}
