//! What the command promises of GPUs: nothing of NVIDIA's is needed to start it, and one that is not there is an error of one line.

use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

/// A program in a temporary file; its path.
fn program() -> String {
    let text = "-- ==\n-- input { [1, 2, 3] true } output { 6 true }\ndef main (xs: []i32) (b: bool) = (i32.sum xs, b)\n";
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("gpu_sums.fut");
    std::fs::write(&path, text).expect("a temporary file can be written");
    path.display().to_string()
}

fn arrc(arguments: &[&str]) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_arrc"))
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the command can be started");
    let mut stdin = child.stdin.take().expect("it was piped");
    // A command that does not read its input closes it.
    let _ = stdin.write_all(b"[1, 2, 3] true");
    drop(stdin);
    child.wait_with_output().expect("the command ends")
}

/// It ends with 1, and says this in one line.
#[track_caller]
fn is_refused(output: &Output, begin: &str) {
    let text = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(text.starts_with(begin), "{text}");
    assert_eq!(text.lines().count(), 1, "{text}");
}

#[test]
fn an_absent_gpu_is_an_error_of_one_line() {
    let devices = arrc(&["devices"]);
    let is_here = !String::from_utf8_lossy(&devices.stdout).contains("not here: ");
    let output = arrc(&["run", "--target=ptx", &program()]);
    if is_here {
        let errors = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.stdout, b"6i32\ntrue\n", "{errors}");
    } else {
        is_refused(&output, "error: no NVIDIA ");
    }
}

#[test]
fn a_number_of_no_gpu_is_an_error_of_one_line() {
    for command in ["run", "profile", "test", "bench", "repl"] {
        let target = if command == "bench" {
            "--targets=ptx"
        } else {
            "--target=ptx"
        };
        let output = arrc(&[command, target, "--device=99", &program()]);
        is_refused(&output, "error: --device=99: ");
    }
    let output = arrc(&["run", "--device=99", &program()]);
    is_refused(&output, "error: --device=99: ");
    let output = arrc(&["run", "--target=cpu", "--device=0", &program()]);
    is_refused(&output, "error: --device chooses a GPU");
}

/// The driver is looked for when it is needed, so that the command starts where there is none.
#[cfg(target_os = "linux")]
#[test]
fn nothing_of_cuda_is_linked() {
    // Where there is no ldd, there is nothing to ask.
    let Ok(output) = Command::new("ldd").arg(env!("CARGO_BIN_EXE_arrc")).output() else {
        return;
    };
    let linked = String::from_utf8_lossy(&output.stdout).to_lowercase();
    assert!(linked.contains("libc"), "{linked}");
    for name in ["cuda", "nvidia", "nvrtc", "nvvm", "cublas"] {
        assert!(!linked.contains(name), "{linked}");
    }
}
