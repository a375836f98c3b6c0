//! The emulated GPU through the command: results, limits, and the failures of programs.

use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

/// Runs a program on the emulated GPU.
fn emulate(name: &str, text: &str, arguments: &[&str], input: &str) -> Output {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("emulator-{name}"));
    std::fs::write(&path, text).expect("a temporary file can be written");
    let mut child = Command::new(env!("CARGO_BIN_EXE_arrc"))
        .args(["run", "--target=ptx-emu"])
        .args(arguments)
        .arg(&path)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the command can be started");
    let mut stdin = child.stdin.take().expect("it was piped");
    // A command that does not read its input closes it.
    let _ = stdin.write_all(input.as_bytes());
    drop(stdin);
    child.wait_with_output().expect("the command ends")
}

/// It ends with the code, and says these things.
#[track_caller]
fn ends(output: &Output, code: i32, parts: &[&str]) {
    let text = [&output.stdout[..], &output.stderr[..]].concat();
    let text = String::from_utf8_lossy(&text);
    assert_eq!(output.status.code(), Some(code), "{text}");
    for part in parts {
        assert!(text.contains(part), "{part:?} is not in {text:?}");
    }
}

#[test]
fn programs_run_on_it() {
    let text =
        "def main (n: i64) = let xs = scan (+) 0 (iota n) in (xs[n - 1], i64.maximum xs, xs[:3])\n";
    let output = emulate("sums.fut", text, &[], "10000");
    ends(
        &output,
        0,
        &["49995000i64\n49995000i64\n[0i64, 1i64, 3i64]\n"],
    );
}

/// Of tuples of 640 numbers not even the sums of a block's warps fit into shared memory. `weigh` is linear.
const WIDEST: &str = "\
type pair 't = (t, t)
def both 'a (f: a -> a -> a) (x: pair a) (y: pair a) : pair a = (f x.0 y.0, f x.1 y.1)
def made 'a (f: i64 -> a) (i: i64) : pair a = (f (2 * i), f (2 * i + 1))
def total 'a (f: a -> f64) (x: pair a) : f64 = f x.0 + 3 * f x.1
def twice 'a (x: a) : pair a = (x, x)
def part = both (both (both (both (both (both (both (f64.+)))))))
def zero : pair (pair (pair (pair (pair (pair (pair f64)))))) = twice (twice (twice (twice (twice (twice (twice 0))))))
def numbers = made (made (made (made (made (made (made (\\i -> f64.i64 (i * 31 % 7))))))))
def weight = total (total (total (total (total (total (total id))))))
def add (a, b, c, d, e) (f, g, h, i, j) = (part a f, part b g, part c h, part d i, part e j)
def weigh (a, b, c, d, e) = weight a + 2 * weight b + weight c + weight d + weight e
def main (n: i64) =
  let xs = map (\\i -> (numbers i, numbers (i + 1), numbers (i + 2), numbers (i + 3), numbers (2 * i))) (iota n)
  let none = (zero, zero, zero, zero, zero)
  let expected = f64.sum (map weigh xs)
  in (weigh (reduce add none xs) == expected, (map weigh (scan add none xs))[n - 1] == expected)
";

#[test]
fn tuples_may_be_wider_than_shared_memory() {
    let output = emulate("widest.fut", WIDEST, &[], "600");
    ends(&output, 0, &["true\ntrue\n"]);
}

#[test]
fn failures_of_the_program_are_located() {
    let text = "def main (is: []i64) =\n  let xs = iota 10\n  in map (\\i -> xs[i]) is\n";
    let output = emulate("index.fut", text, &[], "[3i64, 11i64, 5i64]");
    let message = "Error: Index [11] out of bounds for array of shape [10].";
    ends(&output, 2, &[message, "index.fut:3:17"]);
}

#[test]
fn a_cap_ends_runs_that_take_longer() {
    let text =
        "def main (n: i64) = i64.sum (map (\\i -> loop x = i for _j < n do x * 3 + 1) (iota n))\n";
    let output = emulate("long.fut", text, &["--cap=100000"], "1000");
    ends(
        &output,
        2,
        &["Error: the run takes more steps than it may\n"],
    );
    let output = emulate("short.fut", text, &["--cap=100000"], "10");
    ends(&output, 0, &[]);
}
