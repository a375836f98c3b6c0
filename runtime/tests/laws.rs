//! `arrc test --laws` and `--check`: laws of operators, and writes that collide.

use std::path::PathBuf;
use std::process::{Command, Output};

/// A directory of its own for each test.
fn directory(test: &str) -> PathBuf {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("laws-{test}"));
    std::fs::create_dir_all(&path).expect("a temporary directory can be made");
    path
}

fn file(test: &str, name: &str, text: &str) -> String {
    let path = directory(test).join(name);
    std::fs::write(&path, text).expect("a temporary file can be written");
    path.display().to_string()
}

fn arrc(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_arrc"));
    command.args(arguments).output().expect("the command runs")
}

/// Operators: right ones, and one for each law that does not hold; one that cannot be tested.
const OPERATORS: &str = r#"-- ==
-- input { [1, 2] [[1f32, 2f32]] 3 }
def vadd [n] (a: [n]f32) (b: [n]f32) = map2 (+) a b
def first (i: i64, x: i32) (j: i64, y: i32) = if y < x || (y == x && j < i) then (j, y) else (i, x)
def minus (a: i32) (b: i32) = a - b
entry main [n][m] (xs: [n]i32) (yss: [m][n]f32) (k: i32) =
  (reduce (+) 0 xs,
   reduce vadd (replicate n 0) yss,
   reduce first (i64.highest, i32.highest) (zip (iota n) xs),
   scan minus 0 xs,
   reduce i32.max 1 xs,
   reduce_comm (\a _ -> a) 0 xs,
   reduce (\a b -> a + b + k) 0 xs)
"#;

#[test]
fn laws_of_operators_are_tested() {
    let program = file("laws", "operators.fut", OPERATORS);
    let json = directory("laws").join("laws.json").display().to_string();
    // The case itself has nothing to complain of.
    let passes = arrc(&["test", &program]);
    assert_eq!(passes.status.code(), Some(0), "{passes:?}");
    for target in ["--target=cpu", "--target=interp"] {
        let line = [
            "test", target, "--laws", "--seed=1", "--json", &json, &program,
        ];
        let output = arrc(&line);
        assert_eq!(output.status.code(), Some(1));
        let told = String::from_utf8_lossy(&output.stderr);
        for part in [
            "operator of scan at line 10:4: the operator of scan is not associative:",
            "a = 0i32\n  b = 0i32\n  c = 1i32",
            "operator of reduce at line 11:4: the operator of reduce is not given with its neutral element:",
            "neutral o a = 1i32\n  a = 0i32",
            "operator of reduce at line 12:4: the operator of reduce is not",
        ] {
            assert!(told.contains(part), "{part} in\n{told}");
        }
        let text = std::fs::read_to_string(&json).expect("it was written");
        let all: serde_json::Value = serde_json::from_str(&text).expect("JSON");
        let cases = all["programs"][0]["cases"].as_array().expect("cases");
        let verdict = |line: u32| {
            let place = format!("at line {line}:4");
            let case = cases.iter().find(|c| {
                let title = c["title"].as_str().unwrap_or_default();
                title.contains(&place) || title.contains(&place.replace(":4", ":5"))
            });
            case.map(|case| case["verdict"].clone())
        };
        for good in [8, 9] {
            assert_eq!(
                verdict(good),
                Some("pass".into()),
                "{target}, line {good}: {text}"
            );
        }
        let skipped = verdict(13).expect("it is listed");
        assert!(
            skipped["skip"]["why"]
                .as_str()
                .is_some_and(|why| why.contains("`k`"))
        );
    }
}

#[test]
fn collisions_of_a_scatter_are_reported() {
    let text = "-- ==
-- input { [0i64, 1i64, 0i64] [5, 6, 5] } output { [5, 6] }
-- input { [0i64, 7i64, 7i64] [5, 6, 7] } output { [5, 0] }
-- input { [1i64, 1i64] [6, 6] }
-- \"collide\" input { [1i64, 0i64, 1i64] [5, 6, 7] }
-- input { [1i64] [5, 6] } error: size
entry main [n] (is: [n]i64) (xs: [n]i32) = scatter (replicate 2 0) is xs
-- ==
-- entry: rows
-- \"rows\" input { [[1, 2], [1, 3]] }
entry rows (xss: [][2]i32) = scatter (replicate 1 [0, 0]) [0, 0] (xss :> [2][2]i32)
-- ==
-- entry: nans
-- input { [f32.nan, f32.nan] }
entry nans (xs: [2]f32) =
  (scatter [0] [0, 0] xs, scatter [[0, 0]] [0, 0] (map (\\x -> [x, 1]) xs))
";
    let program = file("collisions", "a.fut", text);
    assert_eq!(arrc(&["test", &program]).status.code(), Some(0));
    for target in ["--target=cpu", "--target=interp"] {
        let output = arrc(&["test", target, "--check", &program]);
        assert_eq!(output.status.code(), Some(1));
        let told = String::from_utf8_lossy(&output.stderr);
        for part in [
            "main line 5 (\"collide\"): Error: Scatter writes different values to index [1]: 5 and 7.",
            "a.fut:7:",
            "rows line 10 (\"rows\"): Error: Scatter writes different values to index [0].",
        ] {
            assert!(told.contains(part), "{part} in\n{told}");
        }
        assert!(!told.contains("line 2") && !told.contains("line 3") && !told.contains("line 4"));
        assert!(!told.contains("nans"), "a NaN is itself: {told}");
    }
}
