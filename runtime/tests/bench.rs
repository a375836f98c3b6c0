//! `arrc bench` and `arrc benchcmp` as their users meet them.

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Sums of several sizes, and inputs that are not to be measured.
const SUMS: &str = r#"-- ==
-- input { 10i64 } output { 45i64 }
-- compiled input { 1000i64 } output { 499500i64 }
-- "large" input { 100000i64 } output { 4999950000i64 }
-- nobench input { 5i64 } output { 10i64 }
-- input { -1i64 } error: size
-- slow input { 7i64 }
def main n : i64 = reduce (+) 0 (iota n)
-- ==
-- entry: other
-- no_interp input { 1i32 } output { 2i32 }
entry other (x: i32) : i32 = x + 1
"#;

fn directory(test: &str) -> PathBuf {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("bench-{test}"));
    std::fs::create_dir_all(&path).expect("a temporary directory can be made");
    path
}

fn file(directory: &Path, name: &str, text: &str) -> String {
    let path = directory.join(name);
    std::fs::write(&path, text).expect("a temporary file can be written");
    path.display().to_string()
}

fn arrc(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_arrc"));
    command.args(arguments).output().expect("the command runs")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Two runs of each, so that tests do not wait.
const FAST: [&str; 3] = ["--runs=2", "--no-convergence-phase", "--exclude=slow"];

#[test]
fn targets_stand_side_by_side_in_table_json_and_picture() {
    let directory = directory("sides");
    let program = file(&directory, "sums.fut", SUMS);
    let json = directory.join("out.json").display().to_string();
    let plot = directory.join("out.svg").display().to_string();
    let mut line = vec![
        "bench",
        &program,
        "--targets=cpu,interp,ptx-emu",
        "--json",
        &json,
        "--plot",
        &plot,
    ];
    line.extend(FAST);
    let output = arrc(&line);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let table = text(&output.stdout);
    let names = [
        "#0 (\"10i64\")",
        "#1 (\"1000i64\")",
        "large",
        "sums.fut:other",
    ];
    for name in names {
        assert!(table.contains(name), "{name} in\n{table}");
    }
    assert!(
        !table.contains("5i64") && !table.contains("7i64") && !table.contains("-1i64"),
        "{table}"
    );
    let all: Value = read(&json);
    let times = |target: &str, dataset: &str| {
        let times = &all[format!("{program} ({target})")]["datasets"][dataset]["runtimes"];
        times.as_array().map_or(0, Vec::len)
    };
    for target in ["cpu", "interp", "ptx-emu"] {
        assert_eq!(times(target, "large"), 2, "{target}");
    }
    let other = |target: &str| all.get(format!("{program}:other ({target})")).is_some();
    assert!(other("cpu") && !other("interp"), "excluded by its tag");
    let picture = std::fs::read_to_string(&plot).expect("the picture");
    assert!(picture.contains("time against size") && picture.contains("ptx-emu"));
}

fn read(path: &str) -> Value {
    let text = std::fs::read_to_string(path).expect("the file was written");
    serde_json::from_str(&text).expect("JSON")
}

#[test]
fn what_goes_wrong_is_told_and_the_rest_goes_on() {
    let directory = directory("wrong");
    let text_of = "-- ==\n-- input { 1i32 } output { 3i32 }\n-- input { 2i32 } output { 3i32 }\ndef main (x: i32) = x + 1\n";
    let wrong = file(&directory, "a.fut", text_of);
    let broken = file(
        &directory,
        "b.fut",
        "-- ==\n-- input { 1i32 }\ndef main (x: i32) = x + true\n",
    );
    let mut line = vec!["bench", &wrong, &broken];
    line.extend(FAST);
    let output = arrc(&line);
    assert_eq!(output.status.code(), Some(1));
    let table = text(&output.stdout);
    assert!(
        table.contains("wrong result: expected 3i32, found 2i32"),
        "{table}"
    );
    assert!(table.contains("2 runs"), "{table}");
    assert!(text(&output.stderr).contains("b.fut"));
}

#[cfg(unix)]
#[test]
fn a_crash_is_the_failure_of_one_input() {
    let directory = directory("crash");
    let two = "-- ==\n-- entry: first second\n-- input { 1i32 } output { 2i32 }\n\
        entry first (x: i32) = x + 1\nentry second (x: i32) = 1 + x\n";
    let program = file(&directory, "a.fut", two);
    let json = directory.join("out.json").display().to_string();
    // As the system does when memory is short: our worker is killed while it is at the first input.
    let kill = "if [ {entry} = first ]; then for s in /proc/[0-9]*/status; do \
        if grep -qs \"^PPid:[[:space:]]*$PPID$\" $s && grep -qs '^Name:[[:space:]]*arrc$' $s; \
        then p=${s#/proc/}; kill -9 ${p%/status}; fi; done; fi; echo 2i32";
    let mut line = vec!["bench", &program, "--vs", kill, "--json", &json];
    line.extend(FAST);
    let output = arrc(&line);
    assert_eq!(output.status.code(), Some(1), "{}", text(&output.stderr));
    let all = read(&json);
    let result = |entry: &str, side: &str| {
        &all[format!("{program}:{entry} ({side})")]["datasets"]["#0 (\"1i32\")"]
    };
    let failed = result("first", "cpu").as_str().unwrap_or_default();
    assert!(failed.starts_with("crash: signal: 9"), "{all}");
    let times = |entry: &str, side: &str| {
        let times = result(entry, side)["runtimes"].as_array();
        times.map_or(0, Vec::len)
    };
    assert_eq!(times("first", kill), 2, "the other goes on: {all}");
    assert_eq!(times("second", "cpu"), 2, "it begins anew: {all}");
}

#[test]
fn devices_are_named_and_absent_ones_left_out() {
    let directory = directory("devices");
    let program = file(&directory, "sums.fut", SUMS);
    let json = directory.join("out.json").display().to_string();
    let mut line = vec!["bench", &program, "--targets=ptx,cpu", "--json", &json];
    line.extend(FAST);
    let output = arrc(&line);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let (table, told) = (text(&output.stdout), text(&output.stderr));
    assert!(
        table.contains("cpu: ") && table.contains(" threads"),
        "{table}"
    );
    let all = read(&json);
    if table.starts_with("ptx: ") {
        // There is a GPU.
        assert!(all.get(format!("{program} (ptx)")).is_some());
        return;
    }
    assert_eq!(told.lines().count(), 1, "{told}");
    assert!(told.starts_with("ptx: left out: "), "{told}");
    let device = &all[&program]["datasets"]["large"]["device"];
    assert!(
        device.as_str().is_some_and(|name| name.contains("threads")),
        "{all}"
    );
    let output = arrc(&["bench", &program, "--targets=ptx"]);
    assert_eq!(output.status.code(), Some(1), "nothing is left");
}

#[test]
fn time_runs_out() {
    let directory = directory("time");
    let endless =
        "-- ==\n-- input { 1i64 }\ndef main (x: i64) = loop x while x > 0 do (x + 1) % 7 + 1\n";
    let program = file(&directory, "a.fut", endless);
    let output = arrc(&["bench", &program, "--timeout=0.2"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(
        text(&output.stdout).contains("out of time"),
        "{}",
        text(&output.stdout)
    );
}

#[cfg(unix)]
#[test]
fn other_programs_take_turns() {
    let directory = directory("vs");
    let program = file(&directory, "sums.fut", SUMS);
    let json = directory.join("out.json").display().to_string();
    // It reads a binary i64, gives what the sum of 1000 is, and says what it took.
    let same = "wc -c | grep -qx 15 && echo 7 7 > {times} && echo '499500i64 -- {program} {entry}'";
    let mut line = vec![
        "bench",
        &program,
        "--include=compiled",
        "--vs",
        same,
        "--vs",
        "echo 1i64",
        "--vs",
        "exit 3",
        "--json",
        &json,
    ];
    line.extend(FAST);
    let output = arrc(&line);
    assert_eq!(output.status.code(), Some(1), "one of them fails");
    let table = text(&output.stdout);
    assert!(
        table.contains("echo 1i64: another result: expected 499500i64, found 1i64"),
        "{table}"
    );
    assert!(table.contains("exit status: 3"), "{table}");
    let all = read(&json);
    let times = &all[format!("{program} ({same})")]["datasets"]["#1 (\"1000i64\")"];
    assert_eq!(times["runtimes"], serde_json::json!([7, 7]));
    assert!(
        times.get("stderr").is_none(),
        "the result is the same: {times}"
    );
}

#[test]
fn rounds_add_up() {
    let directory = directory("rounds");
    let program = file(&directory, "sums.fut", SUMS);
    let json = directory.join("out.json").display().to_string();
    let mut line = vec!["bench", &program, "--rounds=3", "--json", &json];
    line.extend(FAST);
    line[5] = "--runs=5";
    let output = arrc(&line);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    // Two in each round, of which the table tells at the end.
    let times = &read(&json)[&program]["datasets"]["large"]["runtimes"];
    assert_eq!(times.as_array().map_or(0, Vec::len), 6);
    let table = text(&output.stdout);
    assert_eq!(table.matches("large").count(), 1, "{table}");
    assert!(table.contains("6 runs"), "{table}");
}

#[cfg(unix)]
#[test]
fn an_interrupt_leaves_nothing_behind() {
    let directory = directory("interrupt");
    let program = file(&directory, "sums.fut", SUMS);
    let temporary = directory.join("temporary");
    let _ = std::fs::remove_dir_all(&temporary);
    std::fs::create_dir_all(&temporary).expect("a directory can be made");
    let files = || std::fs::read_dir(&temporary).map_or(0, Iterator::count);
    let mut bench = Command::new(env!("CARGO_BIN_EXE_arrc"))
        .args(["bench", &program, "--vs", "sleep 100"])
        .env("TMPDIR", &temporary)
        .stdout(std::process::Stdio::null())
        .spawn()
        .expect("the command runs");
    let start = std::time::Instant::now();
    while files() == 0 && start.elapsed().as_secs() < 60 {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    assert_eq!(files(), 1, "it has begun");
    let kill = format!("kill -INT {}", bench.id());
    let killed = Command::new("sh").args(["-c", &kill]).status();
    assert!(killed.is_ok_and(|status| status.success()));
    let status = bench.wait().expect("it ends");
    assert_eq!(status.code(), Some(130));
    assert_eq!(files(), 0);
}

#[test]
fn files_are_compared() {
    let directory = directory("cmp");
    let times = |factor: u32| {
        let times: Vec<u32> = (0..20).map(|i| (1000 + i) * factor / 10).collect();
        let quick: Vec<u32> = (0..20).map(|i| 1000 - i).collect();
        serde_json::json!({"a.fut": {"datasets": {
            "x": {"runtimes": times, "bytes": {}},
            "y": {"runtimes": quick, "bytes": {}, "stderr": null},
        }}})
        .to_string()
    };
    let old = file(&directory, "old.json", &times(10));
    let new = file(&directory, "new.json", &times(12));
    let output = arrc(&["benchcmp", &old, &new]);
    let wanted = concat!(
        "a.fut\n",
        "  x        1000.0 us ->       1200.0 us    0.83x slower\n",
        "  y         981.0 us ->        981.0 us    1.00x\n",
        "2 inputs: 1 slower, 0 faster, geometric mean 0.91x\n",
    );
    assert_eq!(text(&output.stdout), wanted);
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(
        arrc(&["benchcmp", "--strict", &old, &new]).status.code(),
        Some(1)
    );
    assert_eq!(
        arrc(&["benchcmp", "--strict", &new, &old]).status.code(),
        Some(0)
    );
    let output = arrc(&["benchcmp", &old, "nowhere.json"]);
    assert_eq!(output.status.code(), Some(1));
}
