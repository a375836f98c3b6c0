//! Programs in text form, run on both dialects.

use super::*;
use crate::ir::scalar::Const;
use crate::ir::syntax::TrapKind;
use crate::value::{ArrayValue, Data};

mod claims;
mod limits;
mod ops;
mod ragged;
mod resolved;

fn nested(text: &str, args: Vec<Value>) -> Result<Vec<Value>, RunError> {
    with(text, args, &Options::default())
}

fn with(text: &str, args: Vec<Value>, options: &Options<'_>) -> Result<Vec<Value>, RunError> {
    let program = crate::ir::read::program(text).expect("a program");
    run(&program, "main", args, options)
}

fn flat(text: &str, args: Vec<Value>) -> Result<Vec<Value>, RunError> {
    let program = crate::ir::read::program(text).expect("a program");
    run_flat(&program, "main", args, &Options::default())
}

fn int(n: i64) -> Value {
    Value::Scalar(Const::I64(n))
}

fn ints(shape: &[i64], data: &[i64]) -> Value {
    Value::Array(ArrayValue {
        shape: shape.to_vec(),
        data: Data::I64(data.to_vec()),
    })
}

fn vector(data: &[i64]) -> Value {
    ints(&[data.len() as i64], data)
}

#[test]
fn reductions_inside_a_map() {
    let text = r#"nested
        fun main(n: i64, m: i64, xss: [n][m]i64) -> (r: [n]i64, t: i64)
          entry "main" sizes 2 -> 0 (xss: [][]i64) -> ([]i64, i64)
        {
          let ys: [n]i64, total: i64 = map n (xss) \(xs: [m]i64) {
            let s: i64 = map m (xs) \(x: i64) { yield x } reduce comm (0) \(a: i64, b: i64) {
              let c: i64 = add.i64(a, b)
              yield c
            }
            yield s, s
          } reduce (1) \(d: i64, e: i64) {
            let f: i64 = mul.i64(d, e)
            yield f
          }
          yield ys, total
        }"#;
    // The order of binds is scans, reductions, maps, so this text is refused by the check of types.
    let error = nested(text, vec![ints(&[2, 3], &[1, 2, 3, 4, 5, 6])]).expect_err("an error");
    assert!(matches!(error, RunError::Internal(_)), "{error}");
    let text = text.replace("let ys: [n]i64, total: i64", "let total: i64, ys: [n]i64");
    let results = nested(&text, vec![ints(&[2, 3], &[1, 2, 3, 4, 5, 6])]);
    assert_eq!(results, Ok(vec![vector(&[6, 15]), int(90)]));
    let results = nested(&text, vec![ints(&[2, 0], &[])]);
    assert_eq!(results, Ok(vec![vector(&[0, 0]), int(0)]));
    let results = nested(&text, vec![ints(&[0, 5], &[])]);
    assert_eq!(results, Ok(vec![vector(&[]), int(1)]));
}

#[test]
fn empty_results_keep_their_rows() {
    let text = r#"nested
        fun main(n: i64, xs: [n]i64) -> (r: [n][3]i64)
          entry "main" sizes 1 -> 0 (xs: []i64) -> ([][]i64)
        {
          let r2: [n][3]i64 = map n (xs) \(x: i64) {
            let row: [3]i64 = replicate [3] x
            yield row
          }
          yield r2
        }"#;
    assert_eq!(
        nested(text, vec![vector(&[])]),
        Ok(vec![ints(&[0, 3], &[])])
    );
    assert_eq!(
        nested(text, vec![vector(&[7])]),
        Ok(vec![ints(&[1, 3], &[7, 7, 7])])
    );
}

#[test]
fn scan_of_rows_and_filter() {
    let text = r#"nested
        fun main(n: i64, xs: [n]i64) -> (s: [n]i64, k: i64, kept: [k]i64)
          entry "main" sizes 1 -> 0 (xs: []i64) -> ([]i64, i64, []i64)
        {
          let s2: [n]i64 = map n (xs) \(x: i64) { yield x } scan (0) \(a: i64, b: i64) {
            let c: i64 = add.i64(a, b)
            yield c
          }
          let k2: i64, kept2: [k2]i64 = filter n (xs, s2) \(y: i64, z: i64) {
            let p: bool = lt.i64(2, z)
            yield p, y
          }
          yield s2, k2, kept2
        }"#;
    assert_eq!(
        nested(text, vec![vector(&[1, 2, -1, 4])]),
        Ok(vec![vector(&[1, 3, 2, 6]), int(2), vector(&[2, 4])])
    );
}

#[test]
fn histogram_and_scatter_ignore_what_is_outside() {
    let text = r#"nested
        fun main(n: i64, is: [n]i64, vs: [n]i64) -> (h: [3]i64, s: [3]i64)
          entry "main" sizes 1 -> 0 (is: []i64, vs: []i64) -> ([]i64, []i64)
        {
          let d: [3]i64 = replicate [3] 100
          let h2: [3]i64 = hist n (is, vs) \(i: i64, v: i64) { yield i, v }
            into [3] (d) by (0) \(a: i64, b: i64) {
              let c: i64 = add.i64(a, b)
              yield c
            }
          let e: [3]i64 = replicate [3] 0
          let s2: [3]i64 = scatter n (is, vs) \(j: i64, w: i64) { yield j, w } into (e: 1)
          yield h2, s2
        }"#;
    assert_eq!(
        nested(
            text,
            vec![vector(&[0, 3, 2, 0, -1]), vector(&[1, 2, 3, 4, 5])]
        ),
        Ok(vec![vector(&[105, 100, 103]), vector(&[4, 0, 3])])
    );
}

#[test]
fn operators_on_rows_in_histograms() {
    let text = r#"nested
        fun main(n: i64, is: [n]i64, vss: [n][2]i64) -> (h: [2][2]i64)
          entry "main" sizes 1 -> 0 (is: []i64, vss: [][]i64) -> ([][]i64)
        {
          let d: [2][2]i64 = replicate [2, 2] 0
          let z: [2]i64 = replicate [2] 0
          let h2: [2][2]i64 = hist n (is, vss) \(i: i64, v: [2]i64) { yield i, v }
            into [2] (d) by (z) \(a: [2]i64, b: [2]i64) {
              let c: [2]i64 = map 2 (a, b) \(x: i64, y: i64) {
                let s: i64 = add.i64(x, y)
                yield s
              }
              yield c
            }
          yield h2
        }"#;
    assert_eq!(
        nested(
            text,
            vec![vector(&[1, 1, 0]), ints(&[3, 2], &[1, 2, 3, 4, 5, 6])]
        ),
        Ok(vec![ints(&[2, 2], &[5, 6, 4, 6])])
    );
}

#[test]
fn loops_and_conditionals() {
    let text = r#"nested
        fun main(n: i64) -> (a: i64, b: i32, c: i64)
          entry "main" sizes 0 -> 0 (n: i64) -> (i64, i32, i64)
        {
          let f: i64, g: i64 = loop (x: i64 = 0, y: i64 = 1) for i: i64 < n {
            let z: i64 = add.i64(x, y)
            yield y, z
          }
          let k: i32 = loop (s: i32 = 0i32) for j: i32 < 5i32 {
            let t: i32 = add.i32(s, j)
            yield t
          }
          let w: i64 = loop (v: i64 = n) while {
            let c1: bool = lt.i64(v, 100)
            yield c1
          } do {
            let v2: i64 = mul.i64(v, 2)
            yield v2
          }
          let big: bool = lt.i64(50, w)
          let r: i64 = if big { yield w } else { yield 0 }
          yield f, k, r
        }"#;
    assert_eq!(
        nested(text, vec![int(10)]),
        Ok(vec![int(55), Value::Scalar(Const::I32(10)), int(160)])
    );
    assert_eq!(
        nested(text, vec![int(1)]),
        Ok(vec![int(1), Value::Scalar(Const::I32(10)), int(128)])
    );
}

#[test]
fn updates_happen_in_place_and_what_was_consumed_is_gone() {
    let text = r#"nested
        fun main(n: i64, *xs: [n]i64) -> (*r: [n]i64, s: i64)
          entry "main" sizes 1 -> 0 (xs: *[]i64) -> ([]i64, i64)
        {
          let part: [2]i64 = slice xs [0:2:1]
          let y: i64 = index part [1]
          let ys: [n]i64 = update xs [0] = y
          let z: i64 = index ys [0]
          yield ys, z
        }"#;
    assert_eq!(
        nested(text, vec![vector(&[1, 2, 3])]),
        Ok(vec![vector(&[2, 2, 3]), int(2)])
    );
    for after in ["xs", "part"] {
        let text = text.replace("index ys [0]", &format!("index {after} [0]"));
        let error = nested(&text, vec![vector(&[1, 2, 3])]).expect_err("an error");
        assert!(error.to_string().contains("consumed"), "{error}");
    }
}

#[test]
fn a_loop_may_consume_what_it_carries() {
    let text = r#"nested
        fun main(n: i64) -> (r: [n]i64)
          entry "main" sizes 0 -> 0 (n: i64) -> ([]i64)
        {
          let a: [n]i64 = iota.i64 n 10 3
          let r2: [n]i64 = loop (b: [n]i64 = a) for i: i64 < n {
            let x: i64 = index b [i]
            let y: i64 = mul.i64(x, i)
            let c: [n]i64 = update b [i] = y
            yield c
          }
          yield r2
        }"#;
    assert_eq!(
        nested(text, vec![int(4)]),
        Ok(vec![vector(&[0, 13, 32, 57])])
    );
}

#[test]
fn rows_may_be_consumed_by_the_lambda_of_a_map() {
    let text = r#"nested
        fun main(n: i64, *xss: [n][2]i64) -> (r: [n][2]i64)
          entry "main" sizes 1 -> 0 (xss: *[][]i64) -> ([][]i64)
        {
          let r2: [n][2]i64 = map n (xss) \(xs: [2]i64) {
            let ys: [2]i64 = update xs [0] = 9
            yield ys
          }
          yield r2
        }"#;
    assert_eq!(
        nested(text, vec![ints(&[2, 2], &[1, 2, 3, 4])]),
        Ok(vec![ints(&[2, 2], &[9, 2, 9, 4])])
    );
}

#[test]
fn a_reduction_does_not_share_its_neutral_element() {
    let text = r#"nested
        fun main(n: i64, xss: [n][2]i64) -> (r: [2]i64, z: [2]i64)
          entry "main" sizes 1 -> 0 (xss: [][]i64) -> ([]i64, []i64)
        {
          let zero: [2]i64 = replicate [2] 0
          let s: [2]i64 = map n (xss) \(xs: [2]i64) { yield xs } reduce (zero) \(a: [2]i64, b: [2]i64) {
            let c: [2]i64 = map 2 (a, b) \(x: i64, y: i64) {
              let t: i64 = add.i64(x, y)
              yield t
            }
            yield c
          }
          let t2: [2]i64 = update s [0] = 7
          yield t2, zero
        }"#;
    assert_eq!(
        nested(text, vec![ints(&[0, 2], &[])]),
        Ok(vec![vector(&[7, 0]), vector(&[0, 0])])
    );
    assert_eq!(
        nested(text, vec![ints(&[2, 2], &[1, 2, 3, 4])]),
        Ok(vec![vector(&[7, 6]), vector(&[0, 0])])
    );
}

#[test]
fn flat_operations() {
    let text = r#"flat
        fun main(n: i64, m: i64, xss: [n][m]i64) -> (a: [n][m]i64, b: [n]i64, c: [n][m]i64, d: [2]i64, e: [n]i64)
          entry "main" sizes 2 -> 0 (xss: [][]i64) -> ([][]i64, []i64, [][]i64, []i64, []i64)
        {
          let a2: [n][m]i64 = segmap device (i: i64 < n, j: i64 < m) {
            let x: i64 = index xss [i, j]
            let y: i64 = mul.i64(x, 2)
            yield y
          }
          let b2: [n]i64, i2: [n][m]i64 = segred device (k: i64 < n, l: i64 < m) {
            let z: i64 = index xss [k, l]
            yield z, l
          } reduce (0) \(p: i64, q: i64) {
            let r: i64 = add.i64(p, q)
            yield r
          }
          let c2: [n][m]i64 = segscan device (s: i64 < n, t: i64 < m) {
            let u: i64 = index xss [s, t]
            yield u
          } scan (0) \(v: i64, w: i64) {
            let o: i64 = add.i64(v, w)
            yield o
          }
          let h: [2]i64 = replicate [2] 0
          let d2: [2]i64 = seghist device (aa: i64 < n, ab: i64 < m) {
            let ac: i64 = index xss [aa, ab]
            let ad: i64 = mod.i64(ac, 2)
            yield ad, ac
          } into [2] (h) by (0) \(ae: i64, af: i64) {
            let ag: i64 = add.i64(ae, af)
            yield ag
          }
          let e1: [n]i64 = replicate [n] 0
          let e2: [n]i64 = segscatter device (ah: i64 < n) {
            let ai: i64 = sub.i64(n, ah)
            yield ai, ah
          } into (e1: 1)
          yield a2, b2, c2, d2, e2
        }"#;
    assert_eq!(
        flat(text, vec![ints(&[2, 3], &[1, 2, 3, 4, 5, 6])]),
        Ok(vec![
            ints(&[2, 3], &[2, 4, 6, 8, 10, 12]),
            vector(&[6, 15]),
            ints(&[2, 3], &[1, 3, 6, 4, 9, 15]),
            vector(&[12, 9]),
            vector(&[0, 1]),
        ])
    );
    assert_eq!(
        flat(text, vec![ints(&[3, 0], &[])]),
        Ok(vec![
            ints(&[3, 0], &[]),
            vector(&[0, 0, 0]),
            ints(&[3, 0], &[]),
            vector(&[0, 0]),
            vector(&[0, 2, 1]),
        ])
    );
}

#[test]
fn flat_reduction_to_a_scalar() {
    let text = r#"flat
        fun main(n: i64) -> (r: i64)
          entry "main" sizes 0 -> 0 (n: i64) -> (i64)
        {
          let s: i64 = segred device (i: i64 < n) {
            yield i
          } reduce comm (0) \(a: i64, b: i64) {
            let c: i64 = add.i64(a, b)
            yield c
          }
          yield s
        }"#;
    assert_eq!(flat(text, vec![int(10)]), Ok(vec![int(45)]));
    assert_eq!(flat(text, vec![int(0)]), Ok(vec![int(0)]));
}
