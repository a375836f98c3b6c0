//! Inputs and what they are answered with.

use super::*;
use crate::target::Target;

fn repl() -> Repl {
    let options = Options {
        target: Target::Interp,
        ..Options::default()
    };
    Repl::new(options, Settings::default()).expect("the interpreter is always there")
}

/// What an input is answered with.
#[track_caller]
fn says(repl: &mut Repl, text: &str) -> String {
    repl.input(text)
        .unwrap_or_else(|why| panic!("{text}: {why}"))
        .text
}

#[test]
fn definitions_are_kept_and_used() {
    let mut repl = repl();
    assert_eq!(
        says(&mut repl, "def double (x: i32) = x * 2"),
        "double : (x: i32) -> i32\n"
    );
    assert_eq!(says(&mut repl, "double 21"), "42i32\n");
    assert_eq!(
        says(&mut repl, "let xs = map double [1, 2, 3]"),
        "xs : [3]i32\n"
    );
    assert_eq!(
        says(&mut repl, "(i32.sum xs, {a = xs, b = true})"),
        "(12i32, {a = [2i32, 4i32, 6i32], b = true})\n"
    );
    assert_eq!(
        says(&mut repl, "(-0: f64, -0f32, -0, -1u8)"),
        "(-0.0f64, -0.0f32, 0i32, 255u8)\n"
    );
    assert_eq!(
        says(&mut repl, "1e9 + 1000000000000000000000000000000000000000"),
        "1e39f64\n"
    );
    // A later definition hides an earlier one, for what comes after it.
    says(&mut repl, "def double (x: i32) = x + x + 1");
    assert_eq!(says(&mut repl, "(double 1, xs[0])"), "(3i32, 2i32)\n");
    assert_eq!(says(&mut repl, "type t = (i32, f32)"), "");
    assert_eq!(says(&mut repl, "(1, 2) : t"), "(1i32, 2.0f32)\n");
    assert_eq!(
        says(&mut repl, ":info double"),
        "double : (x: i32) -> i32\n"
    );
}

#[test]
fn a_mistake_changes_nothing() {
    let mut repl = repl();
    says(&mut repl, "def x = 1i64");
    for (text, part) in [
        ("x + true", "E0"),
        ("def x = y", "y"),
        ("def f x = (", "`(` is never closed"),
        ("[1, 2][x + 5]", "out of bounds"),
        (":nothing", "there is no command :nothing"),
        (":t", ":t may be :type or :time or :target"),
        (":ir nothing x", "there is no pass nothing"),
        (":load nothing.fut", "there is no program nothing.fut"),
        ("help", "help: commands begin with a colon: `:help`"),
        ("exit", "`:quit`"),
        ("y = 5", "`let y = 5`"),
        ("x +\ntrue", "<input>:2:1"),
    ] {
        let why = repl.input(text).expect_err(text);
        assert!(why.contains(part), "{text}: {why}");
    }
    assert_eq!(says(&mut repl, "x"), "1i64\n");
}

#[test]
fn functions_have_types_and_values_are_fitted() {
    let mut repl = repl();
    assert_eq!(
        says(&mut repl, ":type map"),
        "[d] 't0 't1. (f: t0 -> t1) -> (as: [d]t0) -> *[d]t1\n"
    );
    assert_eq!(
        says(&mut repl, "\\(x: i32) -> x"),
        "a function : (x: i32) -> i32\n"
    );
    says(&mut repl, ":set items 4");
    assert_eq!(
        says(&mut repl, "iota 100"),
        "[0i64, 1i64, ..., 98i64, 99i64] -- [100]\n"
    );
    assert_eq!(
        says(
            &mut repl,
            "map (\\i -> map (\\j -> (i, j)) (iota 6)) (iota 2)",
        ),
        concat!(
            "[[(0i64, 0i64), (0i64, 1i64), ..., (0i64, 4i64), (0i64, 5i64)],\n",
            " [(1i64, 0i64), (1i64, 1i64), ..., (1i64, 4i64), (1i64, 5i64)]] -- [2][6]\n",
        )
    );
}

#[test]
fn values_are_fitted_to_the_terminal() {
    let mut repl = repl();
    (repl.settings.width, repl.settings.height) = (40, 8);
    assert_eq!(
        says(&mut repl, "tabulate_2d 100 50 (\\i j -> i * j)"),
        concat!(
            "[[0i64,  0i64, ...,    0i64,    0i64],\n",
            " [0i64,  1i64, ...,   48i64,   49i64],\n",
            " ...,\n",
            " [0i64, 99i64, ..., 4752i64, 4851i64]]\n",
            "-- [100][50]\n",
        )
    );
    let numbers = says(&mut repl, "iota 1000");
    let lines: Vec<&str> = numbers.lines().collect();
    assert!((2..=5).contains(&lines.len()), "{numbers}");
    assert!(
        lines.iter().all(|line| line.chars().count() <= 40),
        "{numbers}"
    );
    assert!(numbers.ends_with("-- [1000]\n"), "{numbers}");
    let table = says(&mut repl, "map (\\i -> {i}) (iota 100)");
    assert!(table.lines().count() < 8, "{table}");
    // Where nobody looks, a value is a line.
    repl.settings.layout = false;
    assert_eq!(says(&mut repl, "iota 1000").lines().count(), 1);
}

#[test]
fn a_repeated_expression_is_only_run() {
    let mut repl = repl();
    says(&mut repl, "def f (x: i32) = x + 1");
    says(&mut repl, "f 1");
    let again = |_| {
        let start = Instant::now();
        assert_eq!(says(&mut repl, "f 1"), "2i32\n");
        start.elapsed()
    };
    let least = (0..20).map(again).min().expect("it ran");
    // Checking it again would take longer in this build.
    assert!(least < Duration::from_millis(5), "{least:?}");
}

#[test]
fn inputs_that_break_off_go_on() {
    for text in [
        "1 +\n",
        "def f x =\n",
        "(1,\n",
        "if true then 1\n",
        "let x = 5\nin\n",
        "map (\\x ->\n",
    ] {
        assert!(!is_complete(text), "{text}");
    }
    for text in [
        "1 + 2\n",
        "def f x =\n x\n",
        "let x = 5 in x\n",
        "let x = 5\n",
        ":type (\n",
        "(1\n\n",
        "1 + + 2\n",
        "\n",
    ] {
        assert!(is_complete(text), "{text}");
    }
}

#[test]
fn commands_show_what_becomes_of_a_program() {
    let mut repl = repl();
    assert!(
        says(&mut repl, ":ptx map (+ 1i32) (iota 10 |> map i32.i64)").contains(".visible .entry")
    );
    assert!(
        says(&mut repl, ":ir simplify i32.sum (map i32.i64 (iota 10))").contains("after simplify")
    );
    let asm = says(&mut repl, ":asm map (+ 1i32) (iota 10 |> map i32.i64)");
    assert!(asm.starts_with("; "), "{asm}");
    assert!(asm.contains(", a chunk") && asm.contains("ret"), "{asm}");
    #[cfg(target_arch = "x86_64")]
    if std::is_x86_feature_detected!("avx2") {
        // What is shown is what runs, and its constants are no instructions.
        let wide = says(
            &mut repl,
            ":asm let xs = scan (+) 0 (map f32.i64 (iota 100)) in map2 (*) xs[:99] xs[1:]",
        );
        let wider = [("256 bits", "ymm"), ("512 bits", "zmm")];
        let mut wider = wider.into_iter();
        let shown = wider.any(|(bits, register)| wide.contains(bits) && wide.contains(register));
        assert!(shown, "{wide}");
        assert!(!wide.contains("bad"), "{wide}");
    }
    assert_eq!(
        says(&mut repl, ":asm 1i32 + 2"),
        "no kernels: it is done by the host\n"
    );
    assert!(says(&mut repl, ":explain E0104").contains("E0104"));
    assert!(says(&mut repl, ":time 1 + 1").contains("compiled in "));
    let picture = says(&mut repl, ":show [[0f32, 1], [1, 0]]");
    assert_eq!(
        picture,
        "\x1b[38;2;0;0;0;48;2;255;255;255m▀\x1b[38;2;255;255;255;48;2;0;0;0m▀\x1b[0m\n"
    );
    assert!(says(&mut repl, ":target ptx-emu").starts_with("ptx-emu: "));
    assert_eq!(says(&mut repl, "i64.sum (iota 1000)"), "499500i64\n");
}

#[test]
fn definitions_are_warned_about_once() {
    let mut repl = repl();
    let told = |repl: &mut Repl, text: &str| repl.input(text).expect(text);
    let doubtful = told(&mut repl, "def f (x: i32) = let unused = 2 in x");
    assert_eq!(doubtful.text, "f : (x: i32) -> i32\n");
    assert!(
        doubtful.warnings.contains("`unused` is never used"),
        "{doubtful:?}"
    );
    for text in ["def g = f 1", "g + f 2", ":info", ":time g"] {
        assert_eq!(told(&mut repl, text).warnings, "", "{text}");
    }
    let why = repl.input("def h = unknown").expect_err("an unknown name");
    assert!(!why.contains("never used"), "{why}");
}

#[test]
fn a_loaded_file_is_warned_about() {
    let path = std::env::temp_dir().join(format!("arrc-doubtful-{}.fut", std::process::id()));
    std::fs::write(&path, "def f (x: i32) = let unused = 2 in x\n").expect("written");
    let mut repl = repl();
    let loaded = repl.input(&format!(":load {}", path.display()));
    let again = repl.input(":reload");
    std::fs::remove_file(&path).expect("removed");
    for told in [loaded.expect("it is there"), again.expect("it still is")] {
        assert!(told.warnings.contains("`unused` is never used"), "{told:?}");
    }
    assert_eq!(says(&mut repl, ":quit"), "");
}

#[test]
fn arrays_of_records_are_tables() {
    let mut repl = repl();
    let rows = "map (\\i -> {id = i, pair = (f32.i64 i, i > 1), half = [i, i + 1]}) (iota 3)";
    assert_eq!(
        says(&mut repl, rows),
        concat!(
            "half            id             pair\n",
            "[0i64, 1i64]  0i64  (0.0f32, false)\n",
            "[1i64, 2i64]  1i64  (1.0f32, false)\n",
            "[2i64, 3i64]  2i64   (2.0f32, true)\n",
        )
    );
    says(&mut repl, "type point = {x: i64}");
    says(&mut repl, ":set items 3");
    let many = "map (\\i -> {x = i} : point) (iota 100)";
    assert_eq!(
        says(&mut repl, many),
        "x\n0i64\n1i64\n...\n99i64\n-- [100]\n"
    );
    // What does not fit, has no rows or more dimensions is written as it is in programs.
    repl.settings.width = 10;
    assert!(says(&mut repl, rows).starts_with("[{half = "));
    assert_eq!(
        says(
            &mut repl,
            "filter (\\r -> r.x >= 100) (map (\\i -> {x = i}) (iota 100))"
        ),
        "[]\n"
    );
    assert_eq!(says(&mut repl, "[[{x = 1i32}]]"), "[[{x = 1i32}]]\n");
}

#[test]
fn fields_are_among_the_names() {
    let mut repl = repl();
    says(&mut repl, "def p = {at = {x = 1i32, y = 2i32}, name = 3u8}");
    let names = repl.names();
    for name in ["p", "p.at", "p.at.x", "p.at.y", "p.name", "map"] {
        assert!(names.iter().any(|known| known == name), "{name}");
    }
}
