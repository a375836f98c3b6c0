//! Rows that points go through again and again, which are put side by side for groups of points: the same results as those of the
//! interpreter, to the bit, for rows of any length, gone through any number of times.

mod nested;

use midend::value::{ArrayValue, Data, Value};
use nested::{agrees, devices};

/// For each point, which of `k` centres is nearest and how near, and whether any is that of before. `TYPE` is filled in.
const NEAREST: &str = r#"nested
    fun main(n: i64, d: i64, k: i64, points: [n][d]TYPE, centres: [k][d]TYPE, before: [n]i64) -> (any: bool, best: [n]i64, near: [n]TYPE)
      entry "main" sizes 3 -> 0 (points: [][]TYPE, centres: [][]TYPE, before: []i64) -> (bool, []i64, []TYPE)
    {
      let any1: bool, best1: [n]i64, near1: [n]TYPE = map n (points, before) \(point: [d]TYPE, old: i64) {
        let j: i64, near2: TYPE = loop (j0: i64 = -1, near0: TYPE = 1000000TYPE) for c: i64 < k {
          let centre: [d]TYPE = index centres[c]
          let far: TYPE = map d (centre, point) \(x: TYPE, y: TYPE) {
            let t: TYPE = sub.TYPE(x, y)
            let u: TYPE = mul.TYPE(t, t)
            yield u
          } reduce comm (0TYPE) \(a: TYPE, b: TYPE) {
            let s: TYPE = add.TYPE(a, b)
            yield s
          }
          let closer: bool = lt.TYPE(far, near0)
          let j1: i64 = select.i64(closer, c, j0)
          let near3: TYPE = select.TYPE(closer, far, near0)
          yield j1, near3
        }
        let same: bool = eq.i64(j, old)
        yield same, j, near2
      } reduce comm (false) \(a1: bool, b1: bool) {
        let c1: bool = or.bool(a1, b1)
        yield c1
      }
      yield any1, best1, near1
    }"#;

/// Rows that are gone through twice, in a map without anything else, and with elements that wait for those of another row.
const SCALED: &str = r#"nested
    fun main(n: i64, d: i64, k: i64, points: [n][d]TYPE, centres: [k][d]TYPE, before: [n]i64) -> (r: [n]TYPE)
      entry "main" sizes 3 -> 0 (points: [][]TYPE, centres: [][]TYPE, before: []i64) -> ([]TYPE)
    {
      let r1: [n]TYPE = map n (points) \(point: [d]TYPE) {
        let r2: TYPE = loop (sum: TYPE = 1TYPE) for c: i64 < k {
          let r3: TYPE = loop (inner: TYPE = sum) for e: i64 < d {
            let x: TYPE = index point[e]
            let y: TYPE = index centres[c, e]
            let last: i64 = sub.i64(d, e)
            let other: i64 = sub.i64(last, 1)
            let z: TYPE = index point[other]
            let xy: TYPE = sub.TYPE(x, y)
            let xyz: TYPE = add.TYPE(xy, z)
            let next: TYPE = sub.TYPE(inner, xyz)
            yield next
          }
          yield r3
        }
        yield r2
      }
      yield r1
    }"#;

fn check(text: &str, ty: &str, (d, k): (i64, i64)) {
    let (one, zero, large) = match ty {
        "i32" => ("1i32", "0i32", "1000000i32"),
        "f64" => ("1.0f64", "0.0f64", "1000000.0f64"),
        _ => ("1.0f32", "0.0f32", "1000000.0f32"),
    };
    let text = text.replace("1000000TYPE", large);
    let text = text.replace("(0TYPE)", &format!("({zero})"));
    let text = text.replace("= 1TYPE", &format!("= {one}"));
    let text = text.replace("TYPE", ty);
    let numbers = |shape: [i64; 2], seed: i64| {
        let count = shape[0] * shape[1];
        let numbers = (0..count).map(|i| ((i + seed) * 7919) % 23);
        let data = match ty {
            "i32" => Data::I32(numbers.map(|x| x as i32).collect()),
            "f64" => Data::F64(numbers.map(|x| x as f64 / 2.0).collect()),
            _ => Data::F32(numbers.map(|x| x as f32 / 2.0).collect()),
        };
        Value::Array(ArrayValue {
            shape: shape.to_vec(),
            data,
        })
    };
    let differs = agrees(&devices(), &text, |n| {
        let before = Value::Array(ArrayValue {
            shape: vec![n],
            data: Data::I64((0..n).map(|i| i % 3).collect()),
        });
        vec![numbers([n, d], 1), numbers([k, d], 40), before]
    });
    assert_eq!(differs, None, "{ty}, {d}, {k}");
}

#[test]
fn rows_of_any_length() {
    for text in [NEAREST, SCALED] {
        for ty in ["f32", "f64", "i32"] {
            for (d, k) in [(0, 3), (1, 1), (1, 4), (7, 0), (7, 2), (33, 5)] {
                check(text, ty, (d, k));
            }
        }
    }
}

#[test]
fn rows_too_long_to_be_near() {
    check(NEAREST, "f32", (3000, 2));
    check(SCALED, "f64", (1100, 2));
}
