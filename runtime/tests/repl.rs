//! The read-eval-print loop as people meet it: at a terminal (a real pseudo-terminal), and at the end of a pipe.

use rexpect::session::{PtySession, spawn_command};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

fn home(test: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("repl-{test}"));
    let _ = std::fs::remove_dir_all(&path);
    std::fs::create_dir_all(&path).expect("a temporary directory can be made");
    path
}

fn command(home: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_arrc"));
    command
        .arg("repl")
        .env("HOME", home)
        .env_remove("XDG_DATA_HOME")
        .env("NO_COLOR", "1")
        .env("TERM", "xterm");
    command
}

/// Types a line; what is said before the next prompt.
#[track_caller]
fn says(terminal: &mut PtySession, line: &str, expected: &str) {
    terminal.send_line(line).expect("the session listens");
    if let Err(why) = terminal.exp_string(expected) {
        panic!("{line}: {why}");
    }
    terminal.exp_string("> ").expect("a prompt follows");
}

#[test]
fn a_session_at_a_terminal() {
    let home = home("terminal");
    let program = home.join("squares.fut");
    std::fs::write(&program, "def square (x: i32) = x * x\n").expect("written");
    let mut terminal = spawn_command(command(&home), Some(60_000)).expect("a terminal");
    terminal.exp_string("> ").expect("a prompt");
    let t = &mut terminal;
    says(t, ":help", ":explain CODE");
    says(
        t,
        &format!(":load {}", program.display()),
        "square : (x: i32) -> i32",
    );
    says(t, "map square [1, 2, 3]", "[1i32, 4i32, 9i32]");
    // A line that breaks off goes on.
    t.send_line("def cube (x: i32) =").expect("sent");
    says(t, "  x * square x", "cube : (x: i32) -> i32");
    says(t, "cube 3", "27i32");
    // A name is completed.
    t.send("cu\t").expect("sent");
    says(t, " 2", "8i32");
    says(
        t,
        "def place = {north = 1i32, east = {metres = 5i32}}",
        "place : ",
    );
    t.send("place.e\t").expect("sent");
    says(t, ".metres", "5i32");
    says(t, "map (\\i -> {i, j = i}) (iota 2)", "1i64  1i64");
    // Mistakes of all kinds leave the session as it is.
    says(t, "cube true", "error[E0301]");
    says(t, "[1, 2][cube 2]", "out of bounds");
    says(t, ":nothing", "there is no command :nothing");
    // An endless loop is stopped.
    t.send_line("loop x = 1i64 while x > 0 do if x == 5 then 1 else x + 1")
        .expect("sent");
    std::thread::sleep(std::time::Duration::from_millis(1500));
    t.send_control('c').expect("sent");
    t.exp_string("Interrupted").expect("it is stopped");
    t.exp_string("> ").expect("a prompt follows");
    // What runs when the time that the loop had to stop is over is not what was to be stopped.
    let since = std::time::Instant::now();
    while since.elapsed() < std::time::Duration::from_millis(1500) {
        says(t, "loop x = 0i32 for i < 9000000 do x ^ i", "i32");
    }
    says(t, ":type cube", "(x: i32) -> i32");
    says(t, ":info", "cube : (x: i32) -> i32");
    says(t, ":time cube 4", "compiled in ");
    says(t, ":set items 2", "items 2");
    says(t, "iota 9", "[0i64, ..., 8i64] -- [9]");
    says(
        t,
        ":show [[0f32, 1], [1, 0]]",
        "38;2;0;0;0;48;2;255;255;255m",
    );
    says(t, ":set time on", "time on");
    says(t, "cube 6", "run in ");
    says(t, ":set time off", "time off");
    says(t, ":ir simplify cube 5", "after simplify");
    says(t, ":ptx map cube (map i32.i64 (iota 5))", ".visible .entry");
    says(t, ":asm map cube (map i32.i64 (iota 5))", ", a chunk");
    says(t, ":explain E0301", "E0301:");
    says(t, ":target interp", "interp: the reference interpreter");
    says(t, "cube 5", "125i32");
    std::fs::write(&program, "def square (x: i32) = x + x\n").expect("written");
    says(t, ":reload", "squares.fut");
    says(t, "cube 5", "50i32");
    // What was typed last comes back.
    t.send("\u{1b}[A").expect("sent");
    says(t, " + 1", "51i32");
    t.send_line(":quit").expect("sent");
    t.exp_eof().expect("the session ends");
    let history = std::fs::read_to_string(home.join(".local/share/arrc/history"));
    assert!(history.expect("there is a history").contains("cube 5 + 1"));
}

#[test]
fn values_and_pictures_fit_the_terminal() {
    let home = home("small");
    let line = format!(
        "stty cols 40 rows 10; exec {} repl --target=cpu",
        env!("CARGO_BIN_EXE_arrc")
    );
    let mut shell = Command::new("sh");
    shell
        .args(["-c", &line])
        .env("HOME", &home)
        .env_remove("XDG_DATA_HOME")
        .env("TERM", "xterm");
    let mut terminal = spawn_command(shell, Some(60_000)).expect("a terminal");
    terminal.exp_string("> ").expect("a prompt");
    let t = &mut terminal;
    let mut lines = |input: &str| -> Vec<String> {
        t.send_line(input).expect("the session listens");
        t.exp_string("\r\n").expect("what was typed ends");
        let text = t.exp_string("> ").expect("a prompt follows");
        text.lines().map(str::to_owned).collect()
    };
    let matrix = lines("tabulate_2d 60 60 (+)");
    assert!((4..10).contains(&matrix.len()), "{matrix:?}");
    let is_whole = |line: &String| line.trim_end().ends_with("-- [60][60]");
    assert!(matrix.iter().any(is_whole), "{matrix:?}");
    // 60 x 60 pixels, of which two are above each other in a character.
    let picture = lines(":show tabulate_2d 60 60 (!=)");
    assert!((4..10).contains(&picture.len()), "{}", picture.len());
    t.send_line(":quit").expect("sent");
    t.exp_eof().expect("the session ends");
}

#[test]
fn inputs_from_a_pipe() {
    let home = home("pipe");
    let mut child = command(&home)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the command can be started");
    let mut input = child.stdin.take().expect("it was piped");
    let text = "def f (x: i32) =\n  x +\n  1\nf true\nf 2\n:quit\nf 3\n";
    input.write_all(text.as_bytes()).expect("it listens");
    drop(input);
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(
        String::from_utf8_lossy(&output.stdout),
        "f : (x: i32) -> i32\n3i32\n"
    );
    assert!(String::from_utf8_lossy(&output.stderr).starts_with("error[E0301]"));
    assert_eq!(output.status.code(), Some(0));
}
