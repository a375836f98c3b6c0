//! What passes ask of shape analysis and regularity: equal sizes at a place, equal shapes, classes that share offsets, triples,
//! what decides, lifted functions; and that all of it is found in about linear time.

use midend::analysis::regularity::levels::Levels;
use midend::analysis::regularity::{Regularity, regularity};
use midend::ir::id::{FunId, Var};
use midend::ir::print;
use midend::ir::read;
use midend::ir::soac::Soac;
use midend::ir::syntax::Program;
use midend::ir::types::Size;
use midend::pass::Options;
use midend::passes::flatten::flatten;
use midend::verify;
use std::fmt::Write as _;
use std::time::{Duration, Instant};

struct Found {
    program: Program<Soac>,
    facts: Regularity,
}

fn found(text: &str) -> Found {
    let program = read::program(text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    let facts = regularity(&program);
    Found { program, facts }
}

impl Found {
    fn var(&self, name: &str) -> Var {
        let mut vars = self.program.vars.enumerate();
        let found = vars.find(|(_, info)| info.name == name);
        found.unwrap_or_else(|| panic!("no variable {name}")).0
    }
    fn size(&self, name: &str) -> Size {
        Size::Var(self.var(name))
    }
    fn equal(&self, a: &str, b: &str, at: &str) -> bool {
        let shapes = self.facts.shapes();
        shapes.equal(self.size(a), self.size(b), self.var(at))
    }
    fn same_shape(&self, a: &str, b: &str, at: &str) -> bool {
        let shapes = self.facts.shapes();
        shapes.same_shape(self.var(a), self.var(b), self.var(at))
    }
    fn shares(&self, a: &str, b: &str) -> bool {
        let class = |name| self.facts.class(self.size(name), self.var(name));
        class(a).is_some() && class(a) == class(b)
    }
}

#[test]
fn sizes_are_equal_where_a_check_dominates() {
    let facts = found(
        r#"nested
        fun main(n: i64, m: i64, xs: [n]i64, ys: [m]i64) -> (r: i64)
          entry "main" sizes 2 -> 0 (xs: []i64, ys: []i64) -> (i64)
        {
          let before: i64 = add.i64(n, 1)
          let c: bool = eq.i64(n, m)
          let k: i64 = if c {
            let inside: i64 = add.i64(m, 1)
            yield inside
          } else {
            let outside: i64 = add.i64(m, 1)
            yield outside
          }
          let between: i64 = add.i64(m, 1)
          let ok: cert = assert c shape ("lengths")
          let after: i64 = add.i64(m, 1)
          yield after
        }"#,
    );
    assert!(!facts.equal("n", "m", "before"));
    assert!(facts.equal("n", "m", "inside"));
    assert!(!facts.equal("n", "m", "outside"));
    assert!(!facts.equal("n", "m", "between"));
    assert!(facts.equal("n", "m", "after"));
    assert!(facts.equal("before", "after", "after"));
    assert!(facts.same_shape("xs", "ys", "after"));
    assert!(!facts.same_shape("xs", "ys", "between"));
    assert!(facts.facts.shapes().contradictions().is_empty());
}

#[test]
fn sizes_that_can_never_be_equal_are_told() {
    let facts = found(
        r#"nested
        fun main(n: i64) -> (r: i64)
          entry "main" sizes 0 -> 0 (n: i64) -> (i64)
        {
          let m: i64 = add.i64(n, 2)
          let c: bool = eq.i64(n, m)
          let ok: cert = assert c shape ("lengths")
          yield n
        }"#,
    );
    assert_eq!(facts.facts.shapes().contradictions().len(), 1);
}

#[test]
fn equal_functions_of_indices_share_offsets() {
    let facts = found(
        r#"nested
        fun main(n: i64, m: i64, ks: [n]i64, ls: [n]i64, ms: [m]i64) -> (r: [n]i64)
          entry "main" sizes 2 -> 0 (ks: []i64, ls: []i64, ms: []i64) -> ([]i64)
        {
          let a: [n]i64 = map n (ks) \(k: i64) {
            let first: i64 = add.i64(k, 1)
            yield first
          }
          let b: [n]i64 = map n (a, ls) \(x: i64, l: i64) {
            let second: i64 = sub.i64(x, 0)
            let other: i64 = add.i64(l, 1)
            yield second
          }
          let d: [m]i64 = map m (ms) \(y: i64) {
            let third: i64 = add.i64(y, 1)
            yield third
          }
          let is: [n]i64 = iota.i64 n 0 1
          let e: [n]i64 = map n (is) \(i: i64) {
            let z: i64 = index ks[i]
            let fourth: i64 = add.i64(1, z)
            let inner: [n]i64 = map n (is) \(j: i64) {
              let fifth: i64 = index ks[j]
              yield fifth
            }
            yield fourth
          }
          yield e
        }"#,
    );
    assert!(facts.shares("first", "second"));
    assert!(facts.shares("first", "fourth"));
    assert!(!facts.shares("first", "other"), "elements of another array");
    assert!(!facts.shares("first", "third"), "another width");
    assert!(!facts.shares("fourth", "fifth"), "one index more");
}

#[test]
fn triples_say_what_varies_with_what() {
    let facts = found(
        r#"nested
        fun main(n: i64, m: i64, xss: [n][m]i64) -> (r: [n]i64)
          entry "main" sizes 2 -> 0 (xss: [][]i64) -> ([]i64)
        {
          let rs: [n]i64 = map n (xss) \(xs: [m]i64) {
            let is: [m]i64 = iota.i64 m 0 1
            let row: [m]i64 = map m (is) \(i: i64) {
              let d: i64 = mul.i64(i, i)
              let x: i64 = index xs[i]
              let ragged: [d]i64 = replicate [d] x
              let s: i64 = map d (ragged) \(y: i64) { yield y } reduce comm (0) \(a: i64, b: i64) {
                let t: i64 = add.i64(a, b)
                yield t
              }
              yield s
            }
            let first: i64 = index row[0]
            yield first
          }
          yield rs
        }"#,
    );
    let varies = |name| facts.facts.varies(facts.var(name).into()).nests();
    assert_eq!(varies("is"), Levels::NONE);
    assert_eq!(varies("d"), Levels::nest(1), "the same for all rows");
    assert_eq!(varies("x"), Levels::nest(0).or(Levels::nest(1)));
    assert_eq!(varies("row"), Levels::nest(0));
    assert_eq!(varies("rs"), Levels::NONE);
    let triple = |name| facts.facts.triple(facts.var(name));
    assert_eq!(triple("ragged").regular, [false]);
    assert_eq!(triple("row").regular, [true]);
    assert_eq!(triple("row").level, Some(0));
    assert!(!triple("row").independent && triple("xss").independent);
    assert!(facts.facts.is_regular(facts.var("xs")));
    assert!(!facts.facts.is_regular(facts.var("ragged")));
    assert!(facts.facts.has_equal_rows(facts.var("ragged")));
    assert!(!facts.facts.has_equal_rows(facts.var("row")));
}

#[test]
fn functions_are_lifted_along_calls_and_recursion() {
    let facts = found(
        r#"nested
        fun leaf(a: i64, b: i64) -> (r: i64) noinline {
          let s: i64 = add.i64(a, b)
          yield s
        }
        fun again(c: i64, d: i64) -> (q: i64) noinline {
          let done: bool = le.i64(c, 0)
          let t: i64 = if done {
            let u: i64 = call leaf(c, d)
            yield u
          } else {
            let e: i64 = sub.i64(c, 1)
            let v: i64 = call again(e, d)
            yield v
          }
          yield t
        }
        fun plain(f: i64) -> (p: i64) noinline { yield f }
        fun main(n: i64, m: i64, xs: [n]i64) -> (z: [n]i64)
          entry "main" sizes 1 -> 0 (m: i64, xs: []i64) -> ([]i64)
        {
          let o: i64 = call plain(m)
          let ys: [n]i64 = map n (xs) \(x: i64) {
            let w: i64 = call again(x, o)
            yield w
          }
          yield ys
        }"#,
    );
    let lifted = |f| facts.facts.lifted(FunId(f));
    assert_eq!(lifted(0), Some(Levels::param(0)), "leaf");
    assert_eq!(lifted(1), Some(Levels::param(0)), "again");
    assert_eq!(lifted(2), None, "plain");
    assert!(facts.facts.is_uniform(facts.var("b").into()));
    assert!(!facts.facts.is_uniform(facts.var("done").into()));
}

#[test]
fn without_the_analysis_rows_are_ragged_and_branches_are_split() {
    let facts = found(
        r#"nested
        fun main(n: i64, m: i64, xss: [n][m]i64) -> (r: [n][m]i64)
          entry "main" sizes 2 -> 0 (xss: [][]i64) -> ([][]i64)
        {
          let yss: [n][m]i64 = map n (xss) \(xs: [m]i64) {
            let zs: [m]i64 = loop (ys: [m]i64 = xs) for i: i64 < 3 {
              let ws: [m]i64 = map m (ys) \(y: i64) {
                let w: i64 = add.i64(y, i)
                yield w
              }
              yield ws
            }
            yield zs
          }
          yield yss
        }"#,
    );
    let flat = |without: &[&str]| {
        let options = Options {
            without: without.iter().map(|&name| name.to_owned()).collect(),
            ..Options::default()
        };
        let flat = flatten(facts.program.clone(), &options);
        assert_eq!(verify::program(&flat), Ok(()));
        print::program(&flat)
    };
    let is_ragged = |text: &str| text.contains("[..");
    assert!(!is_ragged(&flat(&[])), "the same length for all rows");
    assert!(is_ragged(&flat(&["regularity"])));
}

/// A program of `count` times a loop around a map around a branch, with checks, each using what the last one made.
fn long(count: usize) -> String {
    let mut body = String::from("let s0: i64 = add.i64(n, 0)\n");
    for i in 0..count {
        let j = i + 1;
        write!(
            body,
            r#"
            let c{i}: bool = le.i64(s{i}, n)
            let ok{i}: cert = assert c{i} shape ("s")
            let l{i}: i64, t{i}: i64 = loop (p{i}: i64 = s{i}, q{i}: i64 = 0) for i{i}: i64 < 3 {{
              let as{i}: [n]i64 = map n (xs) \(x{i}: i64) {{
                let e{i}: bool = lt.i64(x{i}, q{i})
                let k{i}: i64 = if e{i} {{ yield p{i} }} else {{ yield s{i} }}
                let y{i}: i64 = add.i64(k{i}, x{i})
                yield y{i}
              }}
              let z{i}: i64 = index as{i}[0]
              yield p{i}, z{i}
            }}
            let s{j}: i64 = add.i64(l{i}, t{i})
            "#
        )
        .expect("text");
    }
    format!(
        "nested\nfun main(n: i64, xs: [n]i64) -> (r: i64)\n  entry \"main\" sizes 1 -> 0 (xs: []i64) -> (i64)\n{{\n{body}\nyield s{count}\n}}"
    )
}

#[test]
fn the_analyses_take_about_linear_time() {
    let time = |count| {
        let program: Program<Soac> = read::program(&long(count)).expect("a program");
        let once = || {
            let start = Instant::now();
            regularity(&program);
            start.elapsed()
        };
        (0..3).map(|_| once()).min().unwrap_or(Duration::ZERO)
    };
    let (short, long) = (time(400), time(3200));
    // Sixteen times as much; an analysis that looks at all for each would take 256 times as long.
    assert!(
        long < short * 64 + Duration::from_millis(50),
        "{short:?}, {long:?}"
    );
}
