//! The command as its users meet it: what it prints, and how it ends.

use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

/// Sums the rows of a matrix; fails with a located message if there are no rows.
const SUMS: &str = r#"nested

fun sums(n_0: i64, m_1: i64, xss_2: [n_0][m_1]i32) -> (*r_3: [n_0]i32)
  entry "main" sizes 2 -> 0 (xss: [][]i32) -> ([]i32) @1
{
  let c_4: bool = lt.i64(0, n_0)
  let ok_5: cert = assert c_4 bounds ("no rows: ", n_0) @1
  let r_6: [n_0]i32 = <ok_5> map n_0 (xss_2) \(xs_7: [m_1]i32) {
    let s_8: i32 = map m_1 (xs_7) \(x_9: i32) {
      yield x_9
    } reduce comm (0i32) \(a_10: i32, b_11: i32) {
      let c_12: i32 = add.i32(a_10, b_11)
      yield c_12
    } @1
    yield s_8
  }
  yield r_6
}

span 1 "sums.fut" 1:7..1:11
"#;

/// A directory of its own for each test.
fn directory(test: &str) -> PathBuf {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(test);
    std::fs::create_dir_all(&path).expect("a temporary directory can be made");
    path
}

fn file(test: &str, name: &str, text: &str) -> String {
    let path = directory(test).join(name);
    std::fs::write(&path, text).expect("a temporary file can be written");
    path.display().to_string()
}

fn arrc(arguments: &[&str], input: &str) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_arrc"))
        .args(arguments)
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

fn check(output: &Output, code: i32, stdout: &str, stderr: &str) {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert_eq!(
        (
            output.status.code(),
            text(&output.stdout).as_str(),
            text(&output.stderr).as_str()
        ),
        (Some(code), stdout, stderr)
    );
}

#[test]
fn results_come_from_every_target_and_in_both_formats() {
    let program = file("formats", "sums.ir", SUMS);
    for target in ["--target=interp", "--target=cpu"] {
        let output = arrc(&["run", target, &program], "[[1, 2], [3, 4]]");
        check(&output, 0, "[3i32, 7i32]\n", "");
    }
    let output = arrc(&["run", "-b", &program], "[[1, 2]]");
    assert_eq!(output.stdout, b"b\x02\x01 i32\x01\0\0\0\0\0\0\0\x03\0\0\0");
}

#[test]
fn failures_are_told_apart_by_their_codes() {
    let program = file("codes", "sums.ir", SUMS);
    let output = arrc(&["run", &program], "empty([0][2]i32)");
    check(&output, 2, "", "Error: no rows: 0\n  at sums.fut:1:7\n");
    let output = arrc(&["run", &program], "7");
    let message = "error: argument 1 (xss: [][]i32): standard input: line 1, column 1: expected an array of type [][]i32, found `7`\n";
    check(&output, 1, "", message);
    let output = arrc(&["run", "-e", "other", &program], "");
    let message = format!("error: {program} has no entry point other, it has main\n");
    check(&output, 1, "", &message);
    assert_eq!(
        arrc(&["run", "--no-such-flag", &program], "").status.code(),
        Some(1)
    );
    assert_eq!(
        arrc(&["check", "/no/such/file.fut"], "").status.code(),
        Some(1)
    );
    assert_eq!(
        arrc(&["test", "/no/such/file.fut"], "").status.code(),
        Some(1)
    );
    assert_eq!(arrc(&["--help"], "").status.code(), Some(0));
}

#[test]
fn run_times_go_to_a_file() {
    let program = file("times", "sums.ir", SUMS);
    let times = directory("times").join("times.txt");
    let flag = times.display().to_string();
    let output = arrc(&["run", "-t", &flag, "-r", "3", &program], "[[1]]");
    check(&output, 0, "[1i32]\n", "");
    let lines = std::fs::read_to_string(times).expect("it was written");
    assert_eq!(lines.lines().count(), 3);
    assert!(lines.lines().all(|line| line.parse::<u64>().is_ok()));
}

#[test]
fn a_deadline_stops_what_does_not_end() {
    let source = "def main (n: i32) = loop x = n while x != 0 do if x == 1 then 2 else x + 2\n";
    let program = file("deadline", "forever.fut", source);
    for target in ["--target=interp", "--target=cpu"] {
        let output = arrc(&["run", "--timeout=0.1", target, &program], "1");
        let message = "error: stopped after 0.1 seconds\n";
        check(&output, 124, "", message);
    }
}

#[test]
fn tests_are_counted_and_failures_have_a_cause() {
    let source = "-- ==\n-- input { 1 } output { 2 }\n-- input { 3 } output { 5 }\n\ndef main (x: i32) = x + 1\n";
    let program = file("counts", "inc.fut", source);
    let output = arrc(&["test", "--target=interp", &program], "");
    assert_eq!(output.status.code(), Some(1));
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(text.contains("programs: 0 of 1 passed\n"), "{text}");
    assert!(text.contains("runs: 1 of 2 passed\n"), "{text}");
    assert!(text.contains("    1  wrong result\n"), "{text}");
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        text.contains("main line 3 (values): expected 5i32, found 4i32"),
        "{text}"
    );
    let accepted = "-- ==\n-- error: type\n\ndef main (x: i32) = x + 1\n";
    let program = file("counts", "accepted.fut", accepted);
    // Whatever the registers, the results are the same; there are none of 512 bits.
    let narrow = arrc(&["test", "--vector-bits=128", &program], "");
    assert_eq!(narrow.stdout, arrc(&["test", &program], "").stdout);
    let wide = arrc(&["test", "--vector-bits=512", &program], "");
    assert_eq!(wide.status.code(), Some(1));
    let output = arrc(&["test", &program], "");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(text.contains("accepted what must be rejected"), "{text}");
}

#[test]
fn what_came_of_tests_is_written_as_json() {
    let source = "-- ==\n-- input { 1 } output { 2 }\n-- input { 3 } output { 5 }\n\ndef main (x: i32) = x + 1\n";
    let program = file("json", "inc.fut", source);
    let json = directory("json").join("report.json");
    let flag = format!("--json={}", json.display());
    let output = arrc(&["test", &flag, &program], "");
    assert_eq!(output.status.code(), Some(1));
    let text = std::fs::read_to_string(json).expect("it was written");
    let report: serde_json::Value = serde_json::from_str(&text).expect("it is JSON");
    assert_eq!(report["target"], "cpu");
    let summary = &report["summary"];
    assert_eq!(summary["programs"]["failed"], 1);
    assert_eq!(
        (&summary["cases"]["passed"], &summary["cases"]["failed"]),
        (&1.into(), &1.into())
    );
    assert_eq!(summary["causes"]["wrong result"][0], program);
    let only = &report["programs"][0];
    assert_eq!(
        (&only["path"], &only["kind"]),
        (&program.into(), &"run".into())
    );
    assert_eq!(only["verdict"]["fail"]["cause"], "wrong result");
    assert_eq!(only["cases"][0]["verdict"], "pass");
    assert_eq!(only["cases"][1]["kind"], "values");
    let detail = &only["cases"][1]["verdict"]["fail"]["detail"];
    assert_eq!(detail, "expected 5i32, found 4i32");
    assert!(only["cases"][0]["micros"].is_u64() && only["compile_micros"].is_u64());
}

/// `x * x`, and its derivative in a mode.
fn square(mode: &str) -> String {
    format!(
        r#"nested
fun main(x: f64, d: f64) -> (r: f64, s: f64)
  entry "main" sizes 0 -> 0 (x: f64, d: f64) -> (f64, f64)
{{
  let y: f64, t: f64 = call derived(x, d)
  yield y, t
}}
fun f(u: f64) -> (v: f64) {{
  let g: f64 = mul.f64(u, u)
  yield g
}}
fun derived(w: f64, seed: f64) -> (p: f64, q: f64) noinline derivative {mode} 0 1 {{
  let z: f64 = call f(w)
  yield z, 0.0f64
}}
"#
    )
}

#[test]
fn derivatives_in_the_text_form_are_computed_or_refused() {
    let forward = file("derivatives", "forward.ir", &square("forward"));
    let reverse = file("derivatives", "reverse.ir", &square("reverse"));
    for target in ["--target=interp", "--target=cpu", "--target=ptx-emu"] {
        for program in [&forward, &reverse] {
            let output = arrc(&["run", target, program], "3.0 1.0");
            check(&output, 0, "9.0f64\n6.0f64\n", "");
        }
    }
    // The neutral element depends on what the derivative is with respect to.
    let sum = r#"  let us: [1]f64 = replicate [1] u
  let g: f64 = map 1 (us) \(e: f64) {
    yield e
  } reduce (u) \(l: f64, o: f64) {
    let m: f64 = mul.f64(l, o)
    yield m
  }"#;
    let text = square("reverse").replace("  let g: f64 = mul.f64(u, u)", sum);
    let ruleless = file("derivatives", "ruleless.ir", &text);
    let refused = format!(
        "error: {ruleless}: not yet supported: a derivative in reverse mode (`derived`) through a neutral element that is not \
         constant on this target; the interpreter computes it (`--target=interp`)\n"
    );
    assert_eq!(
        arrc(&["run", "--target=interp", &ruleless], "3.0 1.0")
            .status
            .code(),
        Some(0)
    );
    for arguments in [
        &["run", "--target=cpu", &ruleless][..],
        &["run", "--target=ptx-emu", &ruleless],
        &["opt", &ruleless],
        &["opt", "--to=nested", &ruleless],
    ] {
        check(&arrc(arguments, "3.0 1.0"), 1, "", &refused);
    }
    let early = "error: the pass `dead-code` takes programs without derivatives, and `derived` is one; run `derivatives` before it\n";
    check(
        &arrc(&["opt", "--pass=dead-code", &forward], ""),
        1,
        "",
        early,
    );
    let late = ["opt", "--pass=derivatives", "--pass=dead-code", &forward];
    assert_eq!(arrc(&late, "").status.code(), Some(0));
}

#[test]
fn arguments_come_from_files() {
    let program = file("files", "sums.ir", SUMS);
    let input = file("files", "in.txt", "[[5, 6]] -- a comment");
    check(&arrc(&["run", &program, &input], ""), 0, "[11i32]\n", "");
}

#[test]
fn a_program_that_cannot_be_parsed_is_shown_with_its_place() {
    let program = file("syntax", "bad.fut", "def main (x: i32) = )\n");
    let output = arrc(&["check", "--line", &program], "");
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1));
    assert!(
        message.starts_with(&format!("{program}:1:21: error[E0")),
        "{message}"
    );
    let output = arrc(&["test", &program], "");
    assert_eq!(output.status.code(), Some(1));
    let program = file(
        "syntax",
        "rejected.fut",
        "-- ==\n-- error: syntax\ndef main (x: i32) = )\n",
    );
    let output = arrc(&["test", &program], "");
    assert_eq!(
        output.status.code(),
        Some(0),
        "it is rejected as it should be"
    );
}

#[test]
fn thresholds_are_listed_forced_and_checked() {
    let path = file(
        "thresholds",
        "versions.fut",
        "def main (xss: [][]i32) = map i32.sum xss\n",
    );
    let list = arrc(&["opt", "--thresholds", &path], "");
    check(&list, 0, "main:1:outer\nmain:1:rows\n", "");
    for threshold in [
        "main:1:outer=0",
        "main:1:outer=inf",
        "main:1:rows=0",
        "main:1:rows=inf",
        "*=0",
        "*=inf",
    ] {
        let sums = arrc(
            &["run", "--threshold", threshold, &path],
            "[[1, 2], [3, 4]]",
        );
        check(&sums, 0, "[3i32, 7i32]\n", "");
    }
    let unknown = arrc(&["run", "--threshold", "main:2:outer=0", &path], "[[1]]");
    let hint = "error: there is no threshold main:2:outer; did you mean main:1:outer?\n";
    check(&unknown, 1, "", hint);
    let wrong = arrc(&["run", "--threshold", "main=many", &path], "[[1]]");
    let message = "error: `main=many` is not NAME=NUMBER, where NAME may be * or *:KIND and NUMBER may be inf\n";
    check(&wrong, 1, "", message);
}

#[test]
fn traced_values_go_to_standard_error() {
    let text = "def half (x: i32) : i32 = #[trace(half)] (x / 2)\n\
        def main (x: i32) (xs: []f32) =\n  \
          let xs = #[trace] map (+ 1) xs\n  \
          let s = loop s = 0i64 for i < 3 do #[trace(step)] (s + i)\n  \
          let m = #[trace(columns)] transpose [xs, xs]\n  \
          let e = #[trace(empty)] filter (> 9) xs\n  \
          in #[trace(both)] {p = half x, q = (s, m[0, 0], length e)}\n";
    let program = file("trace", "trace.fut", text);
    let shown = format!(
        "{program}:3:21: [2.0f32, 3.0f32]\nstep: 0i64\nstep: 1i64\nstep: 3i64\n\
         columns: [[2.0f32, 2.0f32], [3.0f32, 3.0f32]]\nempty: empty([0]f32)\nhalf: 2i32\n\
         both: {{p = 2i32, q = (3i64, 2.0f32, 0i64)}}\n"
    );
    for target in ["--target=cpu", "--target=interp"] {
        let output = arrc(&["run", target, &program], "5 [1f32, 2f32]");
        check(&output, 0, "{p = 2i32, q = (3i64, 2.0f32, 0i64)}\n", &shown);
    }
    // What runs in parallel is shown by the interpreter.
    let program = file(
        "trace",
        "inner.fut",
        "def main (xs: []i32) = map (\\x -> #[trace(x)] x) xs\n",
    );
    let output = arrc(&["run", "--target=interp", &program], "[4, 5]");
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(stderr, "x: 4i32\nx: 5i32\n", "and nothing warns of it");
    let output = arrc(&["run", "--target=cpu", &program], "[4, 5]");
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(stderr.contains("warning[W0502]"), "{stderr}");
}

#[test]
fn passes_can_be_left_out_and_counts_of_work_are_compared() {
    let text = "-- ==\n-- input { [1, 2] } output { 5 }\n-- count: COUNTS\n\
        def main (xs: []i32) = i32.sum (map (\\x -> x * x) xs)\n";
    let program = |name, counts| file("counts", name, &text.replace("COUNTS", counts));
    let (right, wrong) = (
        program("right.fut", "reduce 1"),
        program("wrong.fut", "reduce 1 map 1"),
    );
    let passes = |arguments: &[&str]| arrc(arguments, "").status.success();
    assert!(passes(&["test", &right]));
    // Without fusion there is a map more, which `arrc test` then does not look at.
    assert!(passes(&["test", "--without=fuse", &right]));
    let output = arrc(&["test", "--list-failures", &wrong], "");
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    let told = "the device is given reduce 1, not map 1 reduce 1, all guards true";
    assert!(
        stderr.contains(told) && !output.status.success(),
        "{stderr}"
    );
    let dump = ["run", "--without=fuse,simplify", "--dump-after=all", &right];
    let output = arrc(&dump, "[1, 2]");
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(stderr.contains("; after dead-code") && stderr.contains("; after flatten"));
    assert!(
        !stderr.contains("; after fuse") && !stderr.contains("; after simplify"),
        "{stderr}"
    );
}
/// A program with a property, its attribute and what it uses.
fn property(test: &str, attribute: &str, helpers: &str) -> String {
    let program = format!(
        "{helpers}\n-- ==\n-- property: small\n{attribute}\nentry small (xs: []i32) : bool = length xs < 3\n"
    );
    file(test, "property.fut", &program)
}

#[test]
fn counterexamples_are_made_smaller() {
    let path = property("shrink", "#[prop]", "");
    let output = arrc(&["test", "--seed=3", "--target=interp", &path], "");
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        text.contains("`small` is false (test 1, size 50, --seed=3)"),
        "{text}"
    );
    let example = text.split("counterexample: ").nth(1).unwrap_or_default();
    assert_eq!(
        example.matches("i32").count(),
        3,
        "size 3 is the smallest: {text}"
    );
    assert_eq!(output.status.code(), Some(1));

    // Two sizes that the property is true of.
    let output = arrc(&["test", "--max-size=2", &path], "");
    let counts = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(counts.contains("properties: 1 of 1 passed"), "{counts}");
    assert_eq!(output.status.code(), Some(0));
}

#[test]
fn shrinkers_and_generators_are_called() {
    let helpers = "entry ones (n: i64) (_: u64) : []i32 = replicate n 1\n\
                   entry zeros (xs: []i32) (r: u64) : []i32 =\n  \
                     if r % 2 == 0 then xs else map (const 0) (drop 1 xs)";
    let path = property(
        "shrinker",
        "#[prop(gen(ones), shrink(zeros), size(6))]",
        helpers,
    );
    let output = arrc(&["test", "--seed=1", &path], "");
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        text.contains("counterexample: [0i32, 0i32, 0i32]"),
        "{text}"
    );

    // A shrinker that fails; smaller sizes are tried instead.
    let helpers = "entry ones (n: i64) (_: u64) : []i32 = replicate n 1\n\
                   entry fails (xs: []i32) (_: u64) : []i32 = xs with [length xs] = 0";
    let path = property(
        "shrinker_fails",
        "#[prop(gen(ones), shrink(fails), size(6))]",
        &helpers.replace("(xs: []i32)", "(xs: *[]i32)"),
    );
    let output = arrc(&["test", &path], "");
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        text.contains("counterexample: [1i32, 1i32, 1i32]\n"),
        "{text}"
    );
    assert!(text.contains("the shrinker `fails`"), "{text}");
    assert!(text.contains("out of bounds"), "{text}");
}

#[test]
fn properties_that_fail_or_hang_show_their_argument() {
    let helpers = "entry ones (n: i64) (_: u64) : []i32 = replicate (n - 49) 1";
    let program = format!(
        "{helpers}\n-- ==\n-- property: p q\n\
         #[prop(gen(ones))]\nentry p (xs: []i32) : bool = xs[length xs] == 0\n\
         #[prop(gen(ones))]\nentry q (xs: []i32) : bool = (loop x = xs[0] while x > 0 do x) == 0\n"
    );
    let path = file("failing", "property.fut", &program);
    let output = arrc(&["test", "--timeout=0.3", &path], "");
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        text.contains("property p: `p` failed (test 1, size 50"),
        "{text}"
    );
    assert!(
        text.contains("property q: `q` failed (test 1, size 50"),
        "{text}"
    );
    assert_eq!(
        text.matches("the argument was: [1i32]").count(),
        2,
        "{text}"
    );
}

#[test]
fn properties_must_be_declared_and_typed() {
    let cases = [
        ("", "lacks the attribute `#[prop]`"),
        (
            "#[prop] #[prop(size(1))]",
            "has the attribute `#[prop]` twice",
        ),
        (
            "#[prop(gen(nothing))]",
            "the generator `nothing` is no entry point",
        ),
        (
            "#[prop(gen(bad))]",
            "the generator `bad` must have the type `i64 -> u64 -> []i32`, it has the type `i64 -> []i32`",
        ),
        (
            "#[prop(shrink(bad))]",
            "the shrinker `bad` must have the type `[]i32 -> u64 -> []i32`, it has the type `i64 -> []i32`",
        ),
    ];
    let helpers = "entry bad (n: i64) : []i32 = replicate n 1";
    for (i, (attribute, expected)) in cases.into_iter().enumerate() {
        let path = property(&format!("typed_{i}"), attribute, helpers);
        let output = arrc(&["test", "--target=interp", &path], "");
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(text.contains(expected), "{text}");
    }
    let undeclared = "#[prop] entry p (x: i32) = x == x\n";
    let wrong = "-- ==\n-- property: f g h\nentry f (x: i32) = x\n\
                 #[prop] entry g (x: i32) = x\n#[prop] entry h (x: i32) (y: bool) = x == 1 || y\n";
    let path = file("undeclared", "property.fut", undeclared);
    let output = arrc(&["test", "--target=interp", &path], "");
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(text.contains("no test block says `property: p`"), "{text}");
    let path = file("wrong", "property.fut", wrong);
    let output = arrc(&["test", "--target=interp", &path], "");
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    for expected in [
        "`f` is declared as a property, but it lacks",
        "the property `g` must have a result of type `bool`, it has one of type `i32`",
        "the property `h` must have one parameter, it has 2",
    ] {
        assert!(text.contains(expected), "{text}");
    }
}

#[test]
fn a_profile_tells_where_time_and_memory_go() {
    let program = file("profile", "sums.ir", SUMS);
    let output = arrc(
        &["run", "--profile", "--threshold", "*=inf", &program],
        "[[1, 2], [3, 4]]",
    );
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(output.stdout, b"[3i32, 7i32]\n");
    let text = String::from_utf8_lossy(&output.stderr);
    let squeezed: Vec<String> = text
        .lines()
        .map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "))
        .collect();
    // The matrix has 16 bytes, the sums 8. One kernel reads the one and writes the other.
    for start in [
        "; sums.fut:1:7 reduce sums.reduce_",
        "; memory: 24 B at the peak",
        "; arguments 16 B 1",
        "; sums.fut:1:7 8 B 1",
        "; compiling: ",
        "; flatten ",
        "; kernels ",
    ] {
        assert!(
            squeezed.iter().any(|line| line.starts_with(start)),
            "no line begins with {start}:\n{text}"
        );
    }
    assert!(
        squeezed
            .iter()
            .any(|line| line.ends_with(" points little work inf 0 1")),
        "no guard was passed:\n{text}"
    );
    // The table says how near each kernel is to what this computer can do.
    for part in [" of peak", "; peak: ", " GB/s of memory, ", "; vectors: "] {
        assert!(text.contains(part), "{part} in\n{text}");
    }
    // The command of that name prints no results.
    let output = arrc(&["profile", &program], "[[1, 2], [3, 4]]");
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(output.stdout.is_empty() && text.contains("; memory: 24 B at the peak"));
    // Without the flag, nothing is told.
    check(&arrc(&["run", &program], "[[1, 2]]"), 0, "[3i32]\n", "");
}
