//! `arrc dataset`, `doctor`, `completions`, `man`, `run --trace` and `--fast-math` as their users meet them.

use arrc::session::{Options, Session};
use arrc::target::Target;
use arrc::{ArrayValue, Data, Value};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

fn directory(test: &str) -> PathBuf {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("tools-{test}"));
    std::fs::create_dir_all(&path).expect("a temporary directory can be made");
    path
}

fn arrc(arguments: &[&str], input: &[u8]) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_arrc"))
        .args(arguments)
        .env("XDG_DATA_HOME", directory("data"))
        .env("XDG_CACHE_HOME", directory("cache"))
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

/// What a command that must succeed writes.
#[track_caller]
fn says(arguments: &[&str], input: &[u8]) -> Vec<u8> {
    let output = arrc(arguments, input);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{arguments:?}: {errors}");
    output.stdout
}

#[track_caller]
fn text(arguments: &[&str]) -> String {
    String::from_utf8(says(arguments, b"")).expect("it is text")
}

#[test]
fn values_are_made_in_order_within_bounds() {
    let line = [
        "dataset",
        "-g",
        "3i64",
        "--i32-bounds=-2:2",
        "-g",
        "[2][50]i32",
        "--i32-bounds=7:7",
        "-g",
        "i32",
        "--f32-bounds=1:3",
        "-g",
        "[50]f32",
        "--bool-bounds=true:true",
        "-g",
        "bool",
        "-g",
        "[1, 2]",
    ];
    let made = text(&line);
    let lines: Vec<&str> = made.lines().collect();
    assert_eq!(lines.len(), 6, "{made}");
    assert_eq!((lines[0], lines[2]), ("3i64", "7i32"));
    assert_eq!((lines[4], lines[5]), ("true", "[1i32, 2i32]"));
    let numbers = |line: &str, unit: &str| -> Vec<f64> {
        let numbers = line.split(|c: char| "[], ".contains(c));
        let numbers = numbers.filter(|word| !word.is_empty());
        let number = |word: &str| word.trim_end_matches(unit).parse();
        numbers
            .map(|word| number(word).expect("a number"))
            .collect()
    };
    let whole = numbers(lines[1], "i32");
    assert_eq!(whole.len(), 100);
    for wanted in [-2.0, -1.0, 0.0, 1.0, 2.0] {
        assert!(whole.contains(&wanted), "both ends are reached: {made}");
    }
    assert!(whole.iter().all(|n| (-2.0..=2.0).contains(n)), "{made}");
    let real = numbers(lines[3], "f32");
    assert!(real.iter().all(|x| (1.0..=3.0).contains(x)), "{made}");
    assert!(real.iter().any(|x| *x > 2.0) && real.iter().any(|x| *x < 2.0));
    // The same seed, the same values.
    assert_eq!(made, text(&line));
    let other = text(&["dataset", "-s", "2", "-g", "[9]u8"]);
    assert_ne!(other, text(&["dataset", "-g", "[9]u8"]));
    assert_eq!(
        text(&["dataset", "-t", "-g", "[3][0]u16", "-g", "f16"]),
        "[3][0]u16\nf16\n"
    );
}

#[test]
fn what_cannot_be_made_is_refused() {
    for line in [
        &["dataset", "-g", "[10]t"][..],
        &["dataset", "-g", "[10"],
        &["dataset", "-g", "[99999999999]i64"],
        &["dataset", "--i8-bounds=3:1", "-g", "i8"],
        &["dataset", "--i8-bounds=0:1000", "-g", "i8"],
        &["dataset", "--u8-bounds=1", "-g", "u8"],
        &["dataset", "--npy", "-g", "1i32", "-g", "2i32"],
        &["dataset", "nowhere.in"],
    ] {
        let output = arrc(line, b"");
        assert_eq!(output.status.code(), Some(1), "{line:?}");
        assert!(output.stdout.is_empty(), "{line:?}");
    }
}

#[test]
fn values_go_from_format_to_format_and_stay_the_same() {
    let directory = directory("formats");
    for ty in ["i8", "u16", "i32", "u64", "f16", "f32", "f64", "bool"] {
        for shape in ["", "[7]", "[2][3]", "[0][4]"] {
            let ty = format!("{shape}{ty}");
            let first = text(&["dataset", "-g", &ty]);
            let binary = says(&["dataset", "-b"], first.as_bytes());
            assert!(binary.starts_with(b"b\x02"), "{ty}");
            let npy = says(&["dataset", "--npy"], &binary);
            assert_eq!(
                npy.iter().position(|b| *b == b'\n').map(|n| (n + 1) % 64),
                Some(0)
            );
            let path = directory.join("value.npy");
            std::fs::write(&path, npy).expect("written");
            assert_eq!(
                text(&["dataset", &path.display().to_string()]),
                first,
                "{ty}"
            );
        }
    }
}

#[test]
fn the_doctor_finds_what_works() {
    let report = text(&["doctor"]);
    for part in [
        "ok  cpu: ",
        "ok  ptx-emu: ",
        "ok  interp: ",
        "ok  threads: ",
        "ok  history of the REPL: ",
    ] {
        assert!(report.contains(part), "{part} in\n{report}");
    }
    // Without a GPU it says what to do.
    assert!(
        report.contains("ok  ptx: ") || report.contains("install NVIDIA's driver"),
        "{report}"
    );
}

/// The commands that `--help` lists.
fn commands() -> Vec<String> {
    let help = text(&["--help"]);
    let lines = help.lines().skip_while(|line| *line != "Commands:").skip(1);
    let lines = lines.take_while(|line| !line.is_empty());
    let first = lines.filter(|line| line.starts_with("  ") && !line.starts_with("   "));
    let names = first.filter_map(|line| line.split_whitespace().next());
    names
        .filter(|name| *name != "help")
        .map(str::to_owned)
        .collect()
}

/// The long options in a text; in pages for man(1) hyphens are escaped.
fn options(text: &str) -> Vec<String> {
    let plain = text
        .replace("\\-", "-")
        .replace("\\fB", " ")
        .replace("\\fR", " ");
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '-';
    let mut found: Vec<String> = plain
        .split(|c| !is_name(c))
        .filter(|word| word.starts_with("--") && word.len() > 3)
        .map(str::to_owned)
        .collect();
    found.sort();
    found.dedup();
    found
}

#[test]
fn help_pages_completions_and_documentation_agree() {
    let commands = commands();
    assert!(
        commands.len() > 10 && commands.iter().any(|name| name == "bench"),
        "{commands:?}"
    );
    let directory = directory("man").display().to_string();
    says(&["man", "--directory", &directory], b"");
    let bash = text(&["completions", "bash"]);
    let main = text(&["man"]);
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("..");
    let reference = std::fs::read_to_string(root.join("docs/commands.md")).expect("the page");
    for name in &commands {
        let help = options(&text(&[name, "--help"]));
        let page = std::fs::read_to_string(format!("{directory}/arrc-{name}.1")).expect("a page");
        assert_eq!(options(&page), help, "{name}");
        assert_eq!(text(&["man", name]), page);
        assert!(
            main.replace("\\-", "-").contains(name),
            "{name} in the main page"
        );
        for option in help.iter().filter(|option| *option != "--version") {
            assert!(bash.contains(option), "{name} {option} is completed");
        }
        assert!(
            reference.contains(&format!("`{name}`")),
            "{name} in docs/commands.md"
        );
    }
    options_exist(&root, &commands);
    for shell in ["zsh", "fish", "powershell", "elvish"] {
        assert!(
            text(&["completions", shell]).contains("benchcmp"),
            "{shell}"
        );
    }
    assert_eq!(arrc(&["man", "nothing"], b"").status.code(), Some(1));
}

/// Whether the options of command lines in the documentation are options of those commands.
#[track_caller]
fn options_exist(root: &Path, commands: &[String]) {
    let pages = [".", "docs", "docs/book"].map(|directory| std::fs::read_dir(root.join(directory)));
    let pages = pages.into_iter().flatten().flatten().flatten();
    let pages: Vec<PathBuf> = pages.map(|entry| entry.path()).collect();
    let mut seen = 0;
    for path in pages
        .iter()
        .filter(|p| p.extension().is_some_and(|e| e == "md"))
    {
        let page = std::fs::read_to_string(path).expect("a page");
        for line in page.split("arrc ").skip(1) {
            let line = line.split(['`', '\n', '|', ';', '>', '#', ')']).next();
            let line = line.unwrap_or_default();
            let name = line.split_whitespace().next().unwrap_or_default();
            if !commands.iter().any(|known| known == name) {
                continue;
            }
            let mut help = options(&text(&[name, "--help"]));
            help.push(String::from("--help"));
            for option in options(line) {
                seen += 1;
                assert!(help.contains(&option), "{}: arrc {line}", path.display());
            }
        }
    }
    assert!(seen > 30, "{seen} options were found");
}

#[test]
fn a_trace_tells_when_what_ran() {
    let text =
        "def main (n: i64) = loop x = 0 for i < n do x + i64.sum (map (+ x) (iota (1000 + i)))\n";
    let source = directory("trace").join("a.fut");
    std::fs::write(&source, text).expect("written");
    let program = source.display().to_string();
    let path = directory("trace").join("trace.json").display().to_string();
    let output = arrc(&["run", "-n", "--trace", &path, &program], b"5i64");
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert!(output.stderr.is_empty(), "a profile was not asked for");
    let text = std::fs::read_to_string(&path).expect("it was written");
    let trace: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    let events = trace["traceEvents"].as_array().expect("events");
    let slices = |track: u64| -> Vec<&serde_json::Value> {
        let mine = |e: &&serde_json::Value| e["ph"] == "X" && e["tid"] == track;
        events.iter().filter(mine).collect()
    };
    let number = |e: &serde_json::Value, key: &str| e[key].as_f64().expect("a number");
    let passes = slices(1);
    assert!(passes.iter().any(|e| e["name"] == "flatten"), "{text}");
    let run = slices(2);
    let (whole, kernels) = run.split_first().expect("the run is there");
    assert_eq!(whole["name"], "main");
    assert_eq!(kernels.len(), 5, "each launch is a slice: {text}");
    let mut before = number(whole, "ts");
    let end = before + number(whole, "dur");
    for kernel in kernels {
        let place = kernel["args"]["where"].as_str().expect("a place");
        assert!(place.contains("a.fut:1:"), "{place}");
        assert!(number(kernel, "ts") >= before, "in order: {text}");
        before = number(kernel, "ts") + number(kernel, "dur");
        assert!(before <= end + 0.01, "within the run: {text}");
    }
}

#[test]
fn what_was_measured_is_listed_kept_and_forgotten() {
    let kept = directory("cache").join("arrc").join("costs.json");
    says(&["cache", "clear"], b"");
    assert!(!kept.exists());
    assert!(text(&["cache"]).contains("nothing"));
    let measured = text(&["cache", "measure"]);
    for line in [
        "a kernel",
        "its own memory",
        "an operation",
        "points at once",
    ] {
        assert!(measured.contains(line), "{measured}");
    }
    assert!(kept.exists());
    // What is listed is what was kept.
    assert!(measured.contains(&text(&["cache", "list"])), "{measured}");
    // What cannot be read is as if it were not there.
    std::fs::write(&kept, "{").expect("it can be written");
    assert!(text(&["cache"]).contains("nothing"));
    says(&["cache", "clear"], b"");
    says(&["cache", "clear"], b"");
    assert!(!kept.exists());
}

#[test]
fn a_run_tells_where_it_ran() {
    let program = directory("where").join("prog.fut");
    std::fs::write(&program, "def main (x: i32) = x + 1").expect("it can be written");
    let program = program.to_str().expect("it is text");
    let told = |arguments: &[&str]| {
        let output = arrc(&[&["run", "-v", program], arguments].concat(), b"1");
        assert_eq!(output.status.code(), Some(0));
        String::from_utf8(output.stderr).expect("it is text")
    };
    assert_eq!(
        told(&["--target=cpu"]),
        "arrc: ran on cpu, as was asked for\n"
    );
    // Too little for a GPU, if there is one.
    assert!(told(&[]).starts_with("arrc: ran on cpu: "));
}

#[test]
fn what_kernels_ask_for_follows_from_sizes() {
    let options = Options {
        target: Target::Cpu,
        ..Options::default()
    };
    let session = Session::new(options).expect("a session");
    let effort = |text: &str, n: usize| {
        let program = session.compile("effort.fut", text).expect("a program");
        let xs = Value::Array(ArrayValue {
            shape: vec![i64::try_from(n).expect("it is small")],
            data: Data::F32(vec![1.0; n]),
        });
        let (_, profile) = program.profile("main", vec![xs]).expect("it runs");
        let work = profile.work.iter().map(|done| done.effort);
        work.map(|effort| (effort.operations, effort.bytes))
            .fold((0, 0), |a, b| (a.0 + b.0, a.1 + b.1))
    };
    // An addition and a division, as dear as eight; an element is read and one is written.
    assert_eq!(
        effort("def main (xs: []f32) = map (\\x -> 1 / (x + 1)) xs", 1000),
        (9000, 8000)
    );
    // Seven steps of a loop. What finds the place of an element is no operation.
    assert_eq!(
        effort(
            "def main (xs: []f32) = map (\\x -> loop y = x for _i < 7i32 do y * x) (reverse xs)",
            100
        ),
        (700, 800)
    );
    // Launches in a loop, more than are looked at one by one.
    let many = "def main (xs: *[]f32) = loop xs for _i < 300i32 do map (+ 1) (rotate 1 xs)";
    assert_eq!(effort(many, 1000).0, 300_000);
}

#[test]
fn the_last_digits_of_floats_can_be_free() {
    let text =
        "def main (x: f64) (y: f64) (z: f64) = map (\\i -> x * y + z + f64.i64 i) (iota 1)\n";
    let program = directory("fast-math").join("product.fut");
    std::fs::write(&program, text).expect("a program");
    let program = program.display().to_string();
    for target in ["--target=cpu", "--target=ptx-emu"] {
        let run = |more: &[&str]| {
            let arguments = [&["run", target, &program], more].concat();
            says(&arguments, b"0.1 10.0 -1.0")
        };
        assert_eq!(run(&[]), b"[0.0f64]\n");
        assert_eq!(run(&["--fast-math"]), b"[5.551115123125783e-17f64]\n");
    }
}

#[test]
fn indices_can_go_unchecked() {
    let text = "def main [n] (is: [n]i64) (xs: [n]i32) = map (\\i -> xs[i] / xs[0]) is\n";
    let program = directory("unsafe").join("gather.fut");
    std::fs::write(&program, text).expect("a program");
    let program = program.display().to_string();
    for target in ["--target=interp", "--target=cpu", "--target=ptx-emu"] {
        let arguments = ["run", target, "--unsafe", &program];
        assert_eq!(says(&arguments, b"[1i64, 0] [2i32, 9]"), b"[4i32, 1i32]\n");
    }
    let plan = |more: &[&str]| {
        let text = says(&[&["opt", &program], more].concat(), b"");
        let text = String::from_utf8(text).expect("text");
        (
            text.matches(" bounds (").count(),
            text.matches(" division_by_zero (").count(),
        )
    };
    assert_eq!(plan(&[]), (2, 1));
    assert_eq!(plan(&["--unsafe"]), (0, 1));
}
