//! What the command promises when things go wrong: a message, an exit code, and soon. Never a panic.
//!
//! 1 is a mistake in program, input or usage, 2 a program that failed, 124 a deadline, 130 Ctrl-C.

use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

const TARGETS: [&str; 3] = ["--target=cpu", "--target=ptx-emu", "--target=interp"];

/// Never ends, inside of one kernel.
const ENDLESS_KERNEL: &str = "def main (_n: i32) = map (\\i -> loop x = i while x != -1 do if x == 1 then 2 else (x + 2) % 1000) (map i32.i64 (iota 1000))\n";
/// Never ends, on the host.
const ENDLESS_HOST: &str =
    "def main (n: i32) = loop x = n while x != 0 do if x == 1 then 2 else x + 2\n";
/// Never ends, running short kernels from the host.
const ENDLESS_KERNELS: &str = "def main (n: i32) = loop xs = replicate 9 n while xs[0] != 0 do map (\\x -> if x == 1 then 2 else x + 2) xs\n";
const SUMS: &str = "def main (xs: []i32) (b: bool) = (i32.sum xs, b)\nentry other (x: i32) = x\n";

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

fn start(arguments: &[&str]) -> Child {
    Command::new(env!("CARGO_BIN_EXE_arrc"))
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the command can be started")
}

fn arrc(arguments: &[&str], input: &[u8]) -> Output {
    let mut child = start(arguments);
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

/// A program so long that compiling it takes seconds.
fn long_program() -> String {
    let one = |i| {
        format!(
            "def f{i} (xs: []f32) = map (\\x -> x * {i}.5 + f32.sqrt (x - {i})) xs |> scan (+) 0\n"
        )
    };
    let mut text: String = (0..10_000).map(one).collect();
    let uses: Vec<String> = (0..10_000).map(|i| format!("(f{i} xs)[0]")).collect();
    text.push_str(&format!("def main (xs: []f32) = {}\n", uses.join(" + ")));
    text
}

/// Interrupts the command when it has been at it for a while; it must end at once.
#[track_caller]
fn interrupt(mut child: Child, wait: Duration) {
    // Waiting closes it, if it is still the child's: then the command would see its input end.
    let stdin = child.stdin.take();
    std::thread::sleep(wait);
    let process = child.id().to_string();
    let sent = Command::new("kill").args(["-INT", &process]).status();
    assert!(sent.expect("kill can be started").success());
    let start = Instant::now();
    let status = child.wait().expect("the command ends");
    drop(stdin);
    let mut text = String::new();
    let mut stderr = child.stderr.take().expect("it was piped");
    stderr
        .read_to_string(&mut text)
        .expect("its messages are text");
    assert_eq!((status.code(), text.as_str()), (Some(130), "Interrupted\n"));
    assert!(
        start.elapsed() < Duration::from_secs(5),
        "{:?}",
        start.elapsed()
    );
}

#[test]
fn ctrl_c_ends_programs_that_do_not_end() {
    let programs = [ENDLESS_KERNEL, ENDLESS_HOST, ENDLESS_KERNELS];
    let mut running = Vec::new();
    for (number, text) in programs.iter().enumerate() {
        let program = file("interrupt", &format!("endless{number}.fut"), text);
        for target in TARGETS {
            let mut child = start(&["run", target, &program]);
            let mut stdin = child.stdin.take().expect("it was piped");
            stdin.write_all(b"1").expect("it reads its input");
            running.push(child);
        }
    }
    std::thread::sleep(Duration::from_secs(2));
    for child in running {
        interrupt(child, Duration::ZERO);
    }
}

#[test]
fn ctrl_c_ends_what_is_not_yet_running() {
    let program = file("interrupt_early", "sums.fut", SUMS);
    let wait = Duration::from_secs(1);
    // Standard input stays open, and nothing comes.
    interrupt(start(&["run", &program]), wait);
    let program = file("interrupt_early", "long.fut", long_program());
    interrupt(start(&["run", &program]), wait);
    interrupt(start(&["check", &program]), Duration::from_millis(200));
}

#[test]
fn deadlines_hold_in_every_phase() {
    let late = |arguments: &[&str], input: &[u8]| {
        let start = Instant::now();
        let output = arrc(arguments, input);
        ends(&output, 124, "error: stopped after 0.3 seconds\n");
        assert!(
            start.elapsed() < Duration::from_secs(5),
            "{:?}",
            start.elapsed()
        );
    };
    for (number, text) in [ENDLESS_KERNEL, ENDLESS_KERNELS].iter().enumerate() {
        let program = file("deadlines", &format!("endless{number}.fut"), text);
        for target in TARGETS {
            late(&["run", "--timeout=0.3", target, &program], b"1");
        }
    }
    let program = file("deadlines", "long.fut", long_program());
    late(&["run", "--timeout=0.3", &program], b"[1]");
    // Standard input stays open, and nothing comes.
    let program = file("deadlines", "sums.fut", SUMS);
    let mut child = start(&["run", "--timeout=0.3", &program]);
    let stdin = child.stdin.take();
    let output = child.wait_with_output().expect("the command ends");
    ends(&output, 124, "error: stopped after 0.3 seconds\n");
    drop(stdin);
}

#[test]
fn out_of_memory_names_size_limit_and_place() {
    let text = "def main (n: i64) =\n  let a = scan (+) 0 (iota n)\n  in a[n - 1]\n";
    let program = file("memory", "large.fut", text);
    for target in TARGETS {
        let output = arrc(&["run", target, "--mem-limit=10M", &program], b"100000000");
        ends(&output, 2, "Error: out of memory: ");
        ends(
            &output,
            2,
            " bytes needed, the limit is 10485760 bytes\n  at ",
        );
        ends(&output, 2, "large.fut:2:");
        let output = arrc(&["run", target, &program], b"4000000000000000000");
        ends(
            &output,
            2,
            "Error: out of memory: 2^63 bytes or more needed",
        );
    }
}

#[test]
fn input_that_does_not_fit_is_located() {
    let program = file("input", "sums.fut", SUMS);
    let truncated = b"b\x02\x01 i32\x04\0\0\0\0\0\0\0\x01\0\0\0";
    let cases: &[(&[u8], &str)] = &[
        (
            b"",
            "argument 1 (xs: []i32): the input ended where a value of type []i32",
        ),
        (
            b"[1, 2",
            "argument 1 (xs: []i32): standard input: line 1, column 6: expected `,` or `]`",
        ),
        (
            b"[1]\n3",
            "argument 2 (b: bool): standard input: line 2, column 1: expected `true` or `false`, found `3`",
        ),
        (
            b"[1, 2.5] true",
            "line 1, column 5: expected an integer of type i32, found `2.5`",
        ),
        (b"[[1]] true", "too many dimensions"),
        (
            b"[99999999999] true",
            "`99999999999` is out of the range of i32",
        ),
        (
            b"[1u8] true",
            "expected a value of type i32, found `1u8` of type u8",
        ),
        (
            b"[1] true\n 7",
            "standard input: line 2, column 2: expected the end of the input, found `7`",
        ),
        (
            truncated,
            "argument 1 (xs: []i32): standard input: byte 15: an array of shape [4] of i32 needs more than the 4 bytes left",
        ),
        (
            b"b\x02\x01 f32\0\0\0\0\0\0\0\0",
            "byte 0: expected a value of type []i32, found a binary value of type []f32",
        ),
        (
            b"b\x02\x01?!?!\0\0\0\0\0\0\0\0",
            "byte 3: unknown element type",
        ),
        (
            b"\xff\xfe\0",
            "argument 1 (xs: []i32): standard input: line 1, column 1: expected an array of type []i32, found the byte 0xff",
        ),
        (b"\x1f\x8bgarbage", "cannot read standard input: "),
    ];
    for (input, part) in cases {
        ends(&arrc(&["run", &program], input), 1, part);
    }
    let sums = "type t = #a i32 | #b | #c f32\nentry one (x: t) = match x case #a i -> i case _ -> 0\n\
        entry many (xs: []t) = length xs\n";
    let sums = file("input", "constructors.fut", sums);
    let cases: &[(&str, &[u8], &str)] = &[
        (
            "one",
            b"\n 3u8 7i32 0f32",
            "argument 1 (x: u8): standard input: line 2, column 2: constructor 3 is none of the type, which has 3",
        ),
        (
            "one",
            b"b\x02\0  u8\x04 7i32 0f32",
            "argument 1 (x: u8): standard input: byte 0: constructor 4 is none of the type",
        ),
        (
            "many",
            b"[0u8, 9u8] [7i32, 1i32] [0f32, 1f32]",
            "line 1, column 1: constructor 9 of element 1, counted from 0",
        ),
    ];
    for (entry, input, part) in cases {
        ends(&arrc(&["run", "-e", entry, &sums], input), 1, part);
    }
    let good = arrc(&["run", "-e", "one", &sums], b"0u8 7i32 0f32");
    assert_eq!(good.stdout, b"7i32\n");
    let deep = file("input", "deep.txt", "[1,".repeat(1_000_000));
    ends(
        &arrc(&["run", &program, &deep], b""),
        1,
        "too many dimensions",
    );
    let garbage = file("input", "garbage.txt", vec![0xaa; 1 << 20]);
    ends(
        &arrc(&["run", &program, &garbage], b""),
        1,
        "garbage.txt: line 1, column 1: ",
    );
}

#[test]
fn files_that_cannot_be_used_are_named() {
    let place = directory("files").display().to_string();
    let program = file("files", "sums.fut", SUMS);
    let picture = file("files", "picture.fut", "def main = [[1u8, 2u8]]\n");
    let cases: &[(&[&str], &str)] = &[
        (
            &["run", "/no/such.fut"],
            "cannot read /no/such.fut: No such file",
        ),
        (&["run", &place], "Is a directory"),
        (
            &["check", "/no/such.fut"],
            "cannot read /no/such.fut: No such file",
        ),
        (&["check", &place], "Is a directory"),
        (
            &["test", "/no/such.fut"],
            "cannot read /no/such.fut: No such file",
        ),
        (
            &["opt", "/no/such.ir"],
            "cannot read /no/such.ir: No such file",
        ),
        (
            &["run", &program, "/no/such.in"],
            "cannot read /no/such.in: No such file",
        ),
        (&["run", &program, &place], "Is a directory"),
        (
            &["run", "-t", "/no/such/times", &program],
            "cannot write /no/such/times: No such file",
        ),
        (&["run", "--png=/no/such.png", &picture], "/no/such.png"),
        (
            &["test", "--json=/no/such.json", &program],
            "cannot write /no/such.json: No such file",
        ),
        (
            &["test", "--conformance=/no/such.md", &program],
            "cannot write /no/such.md: No such file",
        ),
    ];
    for (arguments, part) in cases {
        ends(&arrc(arguments, b"[1] true"), 1, part);
    }
}

#[test]
fn source_that_is_no_program_is_refused() {
    let wide = format!("def main = {}1{}", "(".repeat(200_000), ")".repeat(200_000));
    let letters = "a".repeat(1 << 20);
    let cases: &[(&str, &[u8], &str)] = &[
        (
            "bytes.fut",
            b"def main = 1 \xff\n",
            "it is not UTF-8 text (at byte 13)",
        ),
        (
            "nul.fut",
            b"def main = 1\0\n",
            "error[E0102]: U+0000 has no meaning here",
        ),
        (
            "garbage.fut",
            letters.as_bytes(),
            "error[E0102]: expected a declaration",
        ),
        ("deep.fut", wide.as_bytes(), "error[E0103]: "),
        (
            "empty.fut",
            b"",
            "empty.fut has no entry point main, nor any other",
        ),
    ];
    for (name, bytes, part) in cases {
        let program = file("source", name, bytes);
        ends(&arrc(&["run", &program], b""), 1, part);
    }
    let empty = Path::new(env!("CARGO_TARGET_TMPDIR")).join("source/empty.fut");
    let output = arrc(&["check", &empty.display().to_string()], b"");
    ends(&output, 0, "");
}

#[test]
fn mistakes_on_the_command_line_are_explained() {
    let program = file("usage", "sums.fut", SUMS);
    let cases: &[(&[&str], &str)] = &[
        (
            &["run", "-e", "othr"],
            "has no entry point othr, it has main, other; did you mean other?",
        ),
        (
            &["run", "-e", "nothing"],
            "has no entry point nothing, it has main, other\n",
        ),
        (
            &["run", "-e", "main", "-e", "other"],
            "'--entry-point <NAME>' cannot be used multiple times",
        ),
        (
            &["run", "--target=gpu"],
            "the targets are auto, cpu, ptx, ptx-emu, interp",
        ),
        (
            &["run", "--no-such-flag"],
            "unexpected argument '--no-such-flag'",
        ),
        (
            &["run", "--mem-limit=1x"],
            "is no size such as 4096, 512M or 1.5G",
        ),
        (&["run", "--timeout=-1"], "is no number of seconds"),
        (&["run", "--threads=0"], "is no number of threads"),
        (&["run", "--threads=100000"], "is no number of threads"),
        (&["run", "-r", "0"], "0 is not in 1.."),
        (
            &["run", "--dump-after=flaten"],
            "there is no pass flaten; did you mean flatten?",
        ),
        (
            &["opt", "--pass=simplfy"],
            "there is no pass simplfy on nested programs; did you mean simplify?",
        ),
        (
            &["run", "--without=fold,fuze"],
            "there is no pass fuze; did you mean fuse?",
        ),
        (&["run", "--without=plan"], "plan cannot be left out"),
        (&["explain", "E9999"], "E9999"),
    ];
    for (arguments, part) in cases {
        let arguments: Vec<&str> = match arguments[0] {
            "explain" => arguments.to_vec(),
            _ => arguments
                .iter()
                .copied()
                .chain([program.as_str()])
                .collect(),
        };
        ends(&arrc(&arguments, b"[1] true"), 1, part);
    }
}

#[test]
fn a_reader_that_goes_away_is_no_failure() {
    let program = file("pipe", "many.fut", "def main (n: i64) = iota n\n");
    for format in ["-b", "--runs=1"] {
        let mut child = start(&["run", format, &program]);
        let mut stdin = child.stdin.take().expect("it was piped");
        stdin.write_all(b"1000000").expect("it reads its input");
        drop(stdin);
        let mut first = [0; 10];
        let mut stdout = child.stdout.take().expect("it was piped");
        stdout.read_exact(&mut first).expect("it writes its result");
        drop(stdout);
        let output = child.wait_with_output().expect("the command ends");
        ends(&output, 0, "");
        assert_eq!(stderr(&output), "");
    }
}

#[test]
fn a_full_disk_is_told() {
    let Ok(full) = std::fs::File::options().write(true).open("/dev/full") else {
        return;
    };
    let program = file("full", "many.fut", "def main = iota 100000\n");
    let output = Command::new(env!("CARGO_BIN_EXE_arrc"))
        .args(["run", &program])
        .stdout(full)
        .output()
        .expect("the command can be started");
    ends(&output, 1, "error: cannot write: No space left on device");
}
