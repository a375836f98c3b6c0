//! The formatter: what it writes, and over whole programs that it changes layout alone.

mod support;

use expect_test::{Expect, expect};
use frontend::source::FileId;
use frontend::syntax::bare::bare;
use frontend::syntax::{format_program, parse_program};
use std::path::{Path, PathBuf};
use support::programs;

const FILE: FileId = FileId(0);

fn format(text: &str) -> String {
    match format_program(FILE, text) {
        Ok(formatted) => formatted,
        Err(errors) => panic!("{}\n{text}", errors[0].message),
    }
}

#[track_caller]
fn formats(text: &str, expected: &Expect) {
    let formatted = format(text);
    expected.assert_eq(&formatted);
    assert_eq!(
        format(&formatted),
        formatted,
        "formatting again changes nothing"
    );
}

/// The tree of a program, but for blanks at the ends of lines of documentation and the two spellings of `def`.
fn tree(text: &str) -> Option<String> {
    let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
    let mut program = parse_program(FILE, &lines.join("\n")).ok()?;
    program.doc = None;
    let tree = bare(&program).replace("keyword: Let", "keyword: Def");
    Some(tree)
}

/// The comments in order, without what stands around them.
fn comments(text: &str) -> Vec<&str> {
    let comment = |line: &'_ str| line.find("--");
    let lines = text.lines();
    lines
        .filter_map(|line| comment(line).map(|at| line[at..].trim_end()))
        .collect()
}

/// Checks that formatting keeps tree and comments, and that it is done after one time.
fn keeps(name: &str, text: &str) {
    let Some(before) = tree(text) else {
        return;
    };
    let formatted = format(text);
    let Some(after) = tree(&formatted) else {
        panic!("{name} does not parse after formatting:\n{formatted}");
    };
    assert!(before == after, "{name} has another tree:\n{formatted}");
    assert_eq!(comments(text), comments(&formatted), "{name}");
    let again = format(&formatted);
    assert!(
        again == formatted,
        "{name} is formatted again:\n{formatted}\n{again}"
    );
    for line in formatted.lines() {
        assert_eq!(line, line.trim_end(), "{name}: blanks at the end of a line");
    }
}

/// Our programs, and those in the directories that `FUTHARK_TESTS` names.
fn all_programs() -> Vec<(String, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut found = Vec::new();
    for ours in [
        "tests/programs",
        "tests/errors",
        "tests/found",
        "examples",
        "frontend/src/prelude",
    ] {
        programs(&root.join(ours), &mut found);
    }
    if let Some(directories) = std::env::var_os("FUTHARK_TESTS") {
        for directory in std::env::split_paths(&directories) {
            programs(&directory, &mut found);
        }
    }
    found.sort();
    let read = |path: PathBuf| {
        let text = std::fs::read_to_string(&path).ok()?;
        Some((path.display().to_string(), text))
    };
    found.into_iter().filter_map(read).collect()
}

#[test]
fn whole_programs_keep_tree_and_comments() {
    let programs = all_programs();
    assert!(programs.len() > 150, "{} programs", programs.len());
    for (name, text) in &programs {
        keeps(name, text);
    }
}

/// Breaks lines at random blanks and puts comments there.
fn broken_up(text: &str, seed: u64) -> String {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut random = |below: u64| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state % below
    };
    let mut out = String::new();
    for line in text.lines() {
        let end = line.find("--").unwrap_or(line.len());
        for (at, letter) in line.char_indices() {
            let breaks = letter == ' ' && at < end && !line.contains(['"', '\'']);
            match breaks.then(|| random(20)) {
                Some(0) => out.push('\n'),
                Some(1) => out.push_str("\n  "),
                Some(2) => out.push_str(" -- a comment\n"),
                Some(3) => out.push_str("\n-- another one\n"),
                Some(4) => out.push_str("\n\n   -- a third\n\n-- and a fourth\n\n"),
                Some(_) | None => out.push(letter),
            }
        }
        out.push('\n');
    }
    out
}

#[test]
fn programs_with_lines_broken_anywhere_keep_tree_and_comments() {
    for (at, (name, text)) in all_programs().iter().enumerate() {
        for seed in 0..3 {
            keeps(name, &broken_up(text, 3 * at as u64 + seed + 1));
        }
    }
}

#[test]
fn one_line_stays_one_line() {
    formats(
        "let   main  [n](xs:[n]i32)(k:i64):[n]i32=map(\\x->x+i32.i64 k)xs\nentry f(a,b)={x=a,y=b,z=[a,b]}\n",
        &expect![[r#"
            def main [n] (xs: [n]i32) (k: i64) : [n]i32 = map (\x -> x + i32.i64 k) xs
            entry f (a, b) = {x = a, y = b, z = [a, b]}
        "#]],
    );
}

#[test]
fn several_lines_are_broken_at_every_break() {
    formats(
        "def f x = if x\n then (1,\n2) else if y then a else b\ndef g = let a = 1 in let b =\n  2 in a + b\n* c\n",
        &expect![[r#"
            def f x =
              if x
              then ( 1
                   , 2
                   )
              else if y then a else b

            def g =
              let a = 1
              let b =
                2
              in a
                 + b
                   * c
        "#]],
    );
    formats(
        "def f xs =\n loop acc = 0\n for x in xs do acc+x\ndef g v = match v\n  case #a x -> x\n  case #b -> 0\ndef h = map (\\x ->\n  x) (r with a = 1\n with b = 2)\n",
        &expect![[r#"
            def f xs =
              loop acc = 0
              for x in xs do
                acc + x

            def g v =
              match v
              case #a x -> x
              case #b -> 0

            def h =
              map (\x ->
                     x)
                  (r with a = 1
                     with b = 2)
        "#]],
    );
}

#[test]
fn modules_and_their_types() {
    formats(
        "module type s={type t val f: t->t}\nmodule m:s={\ntype t=i32\n\n\n\ndef f(x:t)=x\n-- last\n}\nmodule k (p:s)=m\n#[inline] def f x = x\nlocal open m\nimport \"a/b\"\ntype v=#a i32|\n#b\n",
        &expect![[r#"
            module type s = {type t val f : t -> t}

            module m : s = {
              type t = i32

              def f (x: t) = x

              -- last
            }

            module k (p: s) = m

            #[inline]
            def f x = x

            local open m
            import "a/b"

            type v =
                #a i32
              | #b
        "#]],
    );
}

#[test]
fn comments_stay_where_they_are() {
    formats(
        "-- | The file.\n\n-- ==\n-- input { 1 }\n\n-- | Documented.\ndef f = -- behind\n  1 -- end\n-- before g\ndef g =\n  let a = 1 -- a\n\n  -- about b\n  let b = 2\n  in\n  -- result\n  a + -- plus\n  b\n\n\n-- the end\n",
        &expect![[r#"
            -- | The file.

            -- ==
            -- input { 1 }

            -- | Documented.
            def f = -- behind
              1 -- end

            -- before g
            def g =
              let a = 1 -- a

              -- about b
              let b = 2
              -- result
              in a
                 + -- plus
                   b

            -- the end
        "#]],
    );
    formats(
        "-- only\n\n\n-- comments",
        &expect![[r#"
        -- only

        -- comments
    "#]],
    );
    formats("", &expect![""]);
}

#[test]
fn deep_programs_do_not_exhaust_the_stack() {
    let deep = format!("def f = {}1{}", "(".repeat(1400), ")".repeat(1400));
    assert_eq!(format(&deep), format!("{deep}\n"));
    let long = format!("def f =\n  0{}", "\n  + 1".repeat(5000));
    assert_eq!(format(&long), format!("{long}\n"));
}
