//! `arrc new`: what it makes is formatted and passes its test.

use std::path::PathBuf;
use std::process::{Command, Output};

fn arrc(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_arrc"));
    command.args(arguments).output().expect("the command runs")
}

#[track_caller]
fn ends(arguments: &[&str], code: i32, part: &str) {
    let output = arrc(arguments);
    let text = format!(
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    assert_eq!(output.status.code(), Some(code), "{text}");
    assert!(text.contains(part), "{part:?} is not in {text:?}");
}

#[test]
fn a_new_program_is_formatted_and_passes_its_test() {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("new");
    let _ = std::fs::remove_dir_all(&folder);
    let path = folder.join("first").display().to_string();
    ends(&["new", &path], 0, "first.fut");
    ends(&["fmt", "--check", &path], 0, "");
    ends(&["test", "--target=interp", &path], 0, "1");
    for file in [
        "futhark.pkg",
        ".vscode/settings.json",
        ".github/workflows/test.yml",
    ] {
        assert!(folder.join("first").join(file).is_file(), "{file}");
    }
    ends(&["new", &path], 1, "exists already");
    ends(
        &["new", &folder.join("1st").display().to_string()],
        1,
        "begins with a letter",
    );
}
