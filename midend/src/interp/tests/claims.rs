//! A claim that does not hold is found: a program is run with what was found out about another one.

use super::*;

/// Runs a program with the claims of one that binds the same variables, and yields what is wrong.
fn wrong(claims_of: &str, text: &str, args: Vec<Value>) -> String {
    let read = |text: &str| crate::ir::read::program(text).expect("a program");
    let (other, program) = (read(claims_of), read(text));
    assert_eq!(other.vars.len(), program.vars.len());
    let watch = Box::new(Watch::new(&program, regularity(&other)));
    let error = run_any(&program, "main", args, &Options::default(), Some(watch));
    let RunError::Internal(why) = error.expect_err("a claim that does not hold") else {
        panic!("another error");
    };
    why
}

/// `text` with what is found, and `change` in it instead of what stands between bars.
fn planted(text: &str, change: &str, args: Vec<Value>) -> String {
    let parts: Vec<&str> = text.split('|').collect();
    let [before, right, after] = parts[..] else {
        panic!("one place to change");
    };
    let right = format!("{before}{right}{after}");
    with_claims(&right, args.clone()).expect("all claims hold");
    wrong(&right, &format!("{before}{change}{after}"), args)
}

fn with_claims(text: &str, args: Vec<Value>) -> Result<Vec<Value>, RunError> {
    let options = Options {
        claims: true,
        ..Options::default()
    };
    with(text, args, &options)
}

#[test]
fn a_wrong_value_is_found() {
    let text = r#"nested
        fun main(n: i64) -> (r: i64)
          entry "main" sizes 0 -> 0 (n: i64) -> (i64)
        {
          let m: i64 = |add.i64(n, n)|
          yield m
        }"#;
    let why = planted(text, "mul.i64(n, n)", vec![int(3)]);
    assert!(
        why.contains("is claimed to be I64(6), and is I64(9)"),
        "{why}"
    );
}

#[test]
fn a_wrong_element_is_found() {
    let text = r#"nested
        fun main(n: i64, xs: [n]i64) -> (r: [n]i64)
          entry "main" sizes 1 -> 0 (xs: []i64) -> ([]i64)
        {
          let is: [n]i64 = map n (xs) \(x: i64) { yield x }
          let ys: [n]i64 = |map n (is) \(i: i64) { yield i }|
          yield ys
        }"#;
    let constant = r"map n (is) \(i: i64) { yield 7 }";
    let why = planted(text, constant, vec![vector(&[7, 8, 9])]);
    assert!(
        why.contains("[1] is claimed to be I64(8), and is I64(7)"),
        "{why}"
    );
}

#[test]
fn what_varies_and_should_not_is_found() {
    let text = r#"nested
        fun main(n: i64, m: i64, xs: [n]i64) -> (r: [n]i64)
          entry "main" sizes 1 -> 0 (m: i64, xs: []i64) -> ([]i64)
        {
          let ys: [n]i64 = map n (xs) \(x: i64) {
            let last: i64 = loop (k: i64 = 1) for i: i64 < 2 {
              let l: i64 = max.i64(k, |m|)
              yield l
            }
            yield last
          }
          yield ys
        }"#;
    let args = vec![int(4), vector(&[5, 6])];
    // The canonical value of `l` names `m` for the right program; only `k` and `last` are unknown to it.
    let why = planted(text, "x", args);
    assert!(why.contains("is claimed to be"), "{why}");
}

#[test]
fn a_shape_that_varies_and_should_not_is_found() {
    let text = r#"nested
        fun main(n: i64, xs: [n]f64) -> (r: [n]i64)
          entry "main" sizes 1 -> 0 (xs: []f64) -> ([]i64)
        {
          let rs: [n]i64 = map n (xs) \(x: f64) {
            let k: i64, ys: [k]f64 = filter n (xs) \(y: f64) {
              let c: bool = lt.f64(y, |8.0f64|)
              yield c, y
            }
            yield k
          }
          yield rs
        }"#;
    let floats = Value::Array(ArrayValue {
        shape: vec![3],
        data: Data::F64(vec![7.0, 8.0, 9.0]),
    });
    let why = planted(text, "x", vec![floats]);
    assert!(why.contains("the same along operation 0"), "{why}");
}

#[test]
fn trips_of_loops_and_calls_are_compared_with_their_like() {
    // `k` differs from iteration to iteration and from call to call, and is the same for all points each time.
    let text = r#"nested
        fun steps(a: i64, b: i64) -> (r: i64) noinline {
          let last: i64 = loop (k: i64 = a) for i: i64 < b {
            let l: i64 = max.i64(k, i)
            let j: i64 = add.i64(l, 1)
            yield j
          }
          yield last
        }
        fun main(n: i64, m: i64, xs: [n]i64) -> (s: [n]i64)
          entry "main" sizes 1 -> 0 (m: i64, xs: []i64) -> ([]i64)
        {
          let ys: [n]i64 = map n (xs) \(x: i64) {
            let u: i64 = call steps(m, 3)
            let v: i64 = call steps(u, x)
            yield v
          }
          yield ys
        }"#;
    let args = vec![int(4), vector(&[5, 0, 1])];
    let results = with_claims(text, args).expect("all claims hold");
    assert_eq!(results, vec![vector(&[12, 7, 8])]);
}
