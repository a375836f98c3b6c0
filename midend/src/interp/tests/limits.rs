//! What ends a run without a result.

use super::*;

const FOREVER: &str = r#"nested
    fun main(n: i64) -> (r: i64)
      entry "main" sizes 0 -> 0 (n: i64) -> (i64)
    {
      let w: i64 = loop (v: i64 = n) while { yield true } do {
        let v2: i64 = add.i64(v, 2)
        yield v2
      }
      yield w
    }"#;

#[test]
fn fuel_runs_out() {
    let options = Options {
        fuel: Some(100_000),
        ..Options::default()
    };
    assert_eq!(
        with(FOREVER, vec![int(1)], &options),
        Err(RunError::OutOfFuel)
    );
}

#[test]
fn the_stop_flag_ends_a_run() {
    let stop = Stop::new();
    stop.raise();
    let options = Options {
        stop: Some(&stop),
        ..Options::default()
    };
    assert_eq!(
        with(FOREVER, vec![int(1)], &options),
        Err(RunError::Interrupted)
    );
}

const RECURSIVE: &str = r#"nested
    fun main(n: i64) -> (r: i64)
      entry "main" sizes 0 -> 0 (n: i64) -> (i64)
    {
      let w: i64 = call down(n) @1
      yield w
    }
    fun down(m: i64) -> (s: i64)
    {
      let c: bool = lt.i64(0, m)
      let w2: i64 = if c {
        let k: i64 = sub.i64(m, 1)
        let x: i64 = call down(k)
        let y: i64 = add.i64(x, m)
        yield y
      } else {
        yield 0
      }
      yield w2
    }
    span 1 "down.fut" 3:1..3:9
    "#;

#[test]
fn recursion_keeps_the_variables_of_each_call_and_has_a_limit() {
    assert_eq!(nested(RECURSIVE, vec![int(4000)]), Ok(vec![int(8_002_000)]));
    let error = nested(RECURSIVE, vec![int(1_000_000)]).expect_err("an error");
    let RunError::Trap(trap) = error else {
        panic!("{error}")
    };
    assert_eq!(trap.kind, TrapKind::Recursion);
}

#[test]
fn memory_has_a_limit() {
    let text = r#"nested
        fun main(n: i64) -> (r: i64)
          entry "main" sizes 0 -> 0 (n: i64) -> (i64)
        {
          let a: [n][n]f64 = scratch.f64 [n, n] @1
          yield n
        }
        span 1 "big.fut" 2:5..2:9
        "#;
    let options = Options {
        memory: Some(1 << 20),
        ..Options::default()
    };
    assert_eq!(with(text, vec![int(100)], &options), Ok(vec![int(100)]));
    match with(text, vec![int(1000)], &options) {
        Err(RunError::OutOfMemory {
            bytes,
            limit,
            trail,
        }) => {
            assert_eq!((bytes, limit, trail.len()), (8_000_000, Some(1 << 20), 1));
        }
        other => panic!("{other:?}"),
    }
    for n in [1 << 31, i64::MAX] {
        let error = nested(text, vec![int(n)]).expect_err("an error");
        assert!(matches!(error, RunError::OutOfMemory { .. }), "{error}");
    }
}

#[test]
fn a_failed_check_says_what_and_where() {
    let text = r#"nested
        fun main(n: i64, xs: [n]i64, i: i64) -> (r: i64)
          entry "main" sizes 1 -> 0 (xs: []i64, i: i64) -> (i64)
        {
          let r2: i64 = call get(n, xs, i) @2
          yield r2
        }
        fun get(m: i64, ys: [m]i64, j: i64) -> (s: i64)
        {
          let low: bool = le.i64(0, j)
          let high: bool = lt.i64(j, m)
          let c: bool = and.bool(low, high)
          let ok: cert = assert c bounds ("index ", j, " of ", m, " rows, ", 0.5f64, " ", c) @1
          let x: i64 = <ok> index ys [j]
          yield x
        }
        span 1 "get.fut" 2:5..2:9
        span 2 "get.fut" 7:1..7:8
        "#;
    assert_eq!(
        nested(text, vec![vector(&[4, 5]), int(1)]),
        Ok(vec![int(5)])
    );
    let error = nested(text, vec![vector(&[4, 5]), int(2)]).expect_err("an error");
    assert_eq!(
        error.to_string(),
        "Error: index 2 of 2 rows, 0.5 false\n  at get.fut:2:5\n  called from get.fut:7:1"
    );
}

#[test]
fn arguments_are_checked() {
    let text = r#"nested
        fun main(n: i64, xs: [n]i64, ys: [n][2]i64, k: i64) -> (r: i64)
          entry "main" sizes 1 -> 0 (xs: []i64, ys: [][]i64, k: i64) -> (i64)
        { yield n }"#;
    let refused = |args: Vec<Value>| match nested(text, args) {
        Err(RunError::BadArguments(why)) => why,
        other => panic!("{other:?}"),
    };
    let xs = || vector(&[1, 2, 3]);
    let ys = || ints(&[3, 2], &[0; 6]);
    assert_eq!(nested(text, vec![xs(), ys(), int(0)]), Ok(vec![int(3)]));
    assert_eq!(
        refused(vec![xs()]),
        "entry point `main` takes 3 arguments (`xs`: [n]i64, `ys`: [n][2]i64, `k`: i64), but 1 was given"
    );
    assert_eq!(
        refused(vec![xs(), xs(), int(0)]),
        "argument `ys` of entry point `main` must have type [n][2]i64, but a value of type [3]i64 was given"
    );
    assert_eq!(
        refused(vec![xs(), ints(&[2, 2], &[0; 4]), int(0)]),
        "invalid size: dimension 1 of argument `ys` must have extent n, which is 3 by argument `xs`, and has 2"
    );
    assert_eq!(
        refused(vec![xs(), ints(&[3, 3], &[0; 9]), int(0)]),
        "invalid size: dimension 2 of argument `ys` must have extent 2, and has 3"
    );
    let error = run(
        &crate::ir::read::program(text).expect("a program"),
        "other",
        vec![],
        &Options::default(),
    );
    assert_eq!(
        error,
        Err(RunError::BadArguments(
            "there is no entry point called `other`".into()
        ))
    );
}

#[test]
fn a_missing_check_is_the_compilers_mistake() {
    let text = r#"nested
        fun main(x: i64) -> (r: i64)
          entry "main" sizes 0 -> 0 (x: i64) -> (i64)
        {
          let y: i64 = div.i64(1, x)
          yield y
        }"#;
    let error = nested(text, vec![int(0)]).expect_err("an error");
    assert!(matches!(&error, RunError::Internal(why) if why.contains("division by zero")));
}
