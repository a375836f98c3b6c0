//! Conditionals, loops and calls that arrays go through.

use super::*;

#[test]
fn arrays_from_branches() {
    let text = r#"nested
        fun main(n: i64, xs: [n]i64, c: bool) -> (r: [n]i64, s: i64)
          entry "main" sizes 1 -> 0 (xs: []i64, c: bool) -> ([]i64, i64)
        {
          let ys: [n]i64, t: i64 = if c {
            let zs: [n]i64 = map n (xs) \(x: i64) {
              let y: i64 = add.i64(x, 1)
              yield y
            }
            yield zs, 1
          } else { yield xs, 2 }
          let ws: [n]i64 = slice ys [0:n:1]
          yield ws, t
        }"#;
    let yes = Value::Scalar(Const::Bool(true));
    let no = Value::Scalar(Const::Bool(false));
    gives(text, vec![vector(&[1, 2]), yes], &[vector(&[2, 3]), int(1)]);
    gives(text, vec![vector(&[1, 2]), no], &[vector(&[1, 2]), int(2)]);
}

#[test]
fn arrays_from_branches_inside_of_a_map() {
    let text = r#"nested
        fun main(n: i64, xss: [n][2]i64, yss: [n][2]i64) -> (r: [n][2]i64, s: [n]i64)
          entry "main" sizes 1 -> 0 (xss: [][]i64, yss: [][]i64) -> ([][]i64, []i64)
        {
          let r2: [n][2]i64, s2: [n]i64 = map n (xss, yss) \(xs: [2]i64, ys: [2]i64) {
            let x: i64 = index xs [0]
            let c: bool = lt.i64(0, x)
            let zs: [2]i64 = if c { yield xs } else { yield ys }
            let ws: [2]i64 = if c {
              let vs: [2]i64 = map 2 (zs) \(z: i64) {
                let z2: i64 = mul.i64(z, 10)
                yield z2
              }
              yield vs
            } else { yield zs }
            let a: i64 = index zs [1]
            yield ws, a
          }
          yield r2, s2
        }"#;
    gives(
        text,
        vec![ints(&[2, 2], &[1, 2, -3, 4]), ints(&[2, 2], &[5, 6, 7, 8])],
        &[ints(&[2, 2], &[10, 20, 7, 8]), vector(&[2, 8])],
    );
}

#[test]
fn loops_that_exchange_arrays() {
    let text = r#"nested
        fun main(n: i64, k: i64, xs: [n]i64, ys: [n]i64) -> (r: [n]i64, s: [n]i64, t: [n][2]i64)
          entry "main" sizes 1 -> 0 (k: i64, xs: []i64, ys: []i64) -> ([]i64, []i64, [][]i64)
        {
          let r2: [n]i64, s2: [n]i64 = loop (a: [n]i64 = xs, b: [n]i64 = ys) for i: i64 < k {
            let c: [n]i64 = map n (a) \(x: i64) {
              let y: i64 = add.i64(x, i)
              yield y
            }
            yield b, c
          }
          let t2: [n][2]i64 = map n (xs, ys) \(x3: i64, y3: i64) {
            let p0: [2]i64 = replicate [2] x3
            let q0: [2]i64 = replicate [2] y3
            let p: [2]i64, q: [2]i64 = loop (d: [2]i64 = p0, e: [2]i64 = q0) for j: i64 < k { yield e, d }
            let f: [2]i64 = loop (g: [2]i64 = p) for j2: i64 < k {
              let h: [2]i64 = slice g [1:2:-1]
              let o: [2]i64 = map 2 (h) \(u: i64) {
                let w: i64 = add.i64(u, 1)
                yield w
              }
              yield o
            }
            yield f
          }
          yield r2, s2, t2
        }"#;
    let args = |k| vec![int(k), vector(&[1, 2]), vector(&[10, 20])];
    gives(
        text,
        args(3),
        &[
            vector(&[11, 21]),
            vector(&[3, 4]),
            ints(&[2, 2], &[13, 13, 23, 23]),
        ],
    );
    gives(
        text,
        args(0),
        &[
            vector(&[1, 2]),
            vector(&[10, 20]),
            ints(&[2, 2], &[1, 1, 2, 2]),
        ],
    );
}

#[test]
fn loops_whose_arrays_grow() {
    let grow = r"
          let m2: i64, ys2: [m2]i64 = loop (m: i64 = 1, ys: [m]i64 = one) for i: i64 < k {
            let d: i64 = mul.i64(m, 2)
            let zs: [d]i64 = concat d (ys, ys)
            let v: i64 = add.i64(i, 1)
            let us: [d]i64 = update zs [0] = v
            yield d, us
          }";
    let text = format!(
        r#"nested
        fun main(k: i64) -> (m3: i64, r: [m3]i64)
          entry "main" sizes 0 -> 1 (k: i64) -> ([]i64)
        {{
          let one: [1]i64 = replicate [1] 7
          {grow}
          yield m2, ys2
        }}"#
    );
    gives(&text, vec![int(2)], &[vector(&[2, 7, 1, 7])]);
    let text = format!(
        r#"nested
        fun main(n: i64, ks: [n]i64) -> (r: [n]i64)
          entry "main" sizes 1 -> 0 (ks: []i64) -> ([]i64)
        {{
          let r2: [n]i64 = map n (ks) \(k: i64) {{
            let one: [1]i64 = replicate [1] 7
            {grow}
            let s: i64 = map m2 (ys2) \(x: i64) {{ yield x }} reduce (0) \(a: i64, b: i64) {{
              let c: i64 = add.i64(a, b)
              yield c
            }}
            yield s
          }}
          yield r2
        }}"#
    );
    gives(
        &text,
        vec![vector(&[0, 1, 2, 3])],
        &[vector(&[7, 8, 17, 35])],
    );
}

#[test]
fn calls_from_host_and_from_kernels() {
    let text = r#"nested
        fun main(n: i64, xss: [n][3]i64) -> (r: [n][3]i64, s: [3]i64, t: [n]i64, u: i64)
          entry "main" sizes 1 -> 0 (xss: [][]i64) -> ([][]i64, []i64, []i64, i64)
        {
          let r2: [n][3]i64, t2: [n]i64 = map n (xss) \(xs: [3]i64) {
            let ys: [3]i64 = call twice(3, xs)
            let y: i64 = index ys [2]
            let f: i64 = call down(y)
            yield ys, f
          }
          let row: [3]i64 = index xss [1]
          let s2: [3]i64 = call twice(3, row)
          let u2: i64 = call down(4)
          yield r2, s2, t2, u2
        }
        fun twice(m: i64, as: [m]i64) -> (bs: [m]i64)
        {
          let cs: [m]i64 = map m (as) \(a: i64) {
            let b: i64 = mul.i64(a, 2)
            yield b
          }
          yield cs
        }
        fun down(k: i64) -> (l: i64)
        {
          let c: bool = lt.i64(0, k)
          let w: i64 = if c {
            let k1: i64 = sub.i64(k, 1)
            let x: i64 = call down(k1)
            let z: i64 = add.i64(x, k)
            yield z
          } else { yield 0 }
          yield w
        }"#;
    gives(
        text,
        vec![ints(&[2, 3], &[1, 2, 3, 4, 5, 6])],
        &[
            ints(&[2, 3], &[2, 4, 6, 8, 10, 12]),
            vector(&[8, 10, 12]),
            vector(&[21, 78]),
            int(10),
        ],
    );
}

#[test]
fn failures_are_located() {
    let text = r#"nested
        fun main(n: i64, xs: [n]i64) -> (r: [n]i64)
          entry "main" sizes 1 -> 0 (xs: []i64) -> ([]i64)
        {
          let r2: [n]i64 = map n (xs) \(x: i64) {
            let low: bool = le.i64(0, x)
            let high: bool = lt.i64(x, n)
            let c: bool = and.bool(low, high)
            let ok: cert = assert c bounds ("index ", x, " of ", n) @1
            let y: i64 = <ok> index xs [x]
            yield y
          }
          yield r2
        }
        span 1 "get.fut" 2:5..2:9"#;
    gives(text, vec![vector(&[1, 0])], &[vector(&[0, 1])]);
    let error = run_plan(text, vec![vector(&[1, 2])]).expect_err("an error");
    assert_eq!(error.to_string(), "Error: index 2 of 2\n  at get.fut:2:5");
}

#[test]
fn shapes_change_without_moving() {
    let text = r#"nested
        fun main(xss: [2][3]i64) -> (a: [3][2]i64, b: [6]i64, c: [4]i64, d: [2]i64, e: [4][3]i64)
          entry "main" sizes 0 -> 0 (xss: [][]i64) -> ([][]i64, []i64, []i64, []i64, [][]i64)
        {
          let t: [3][2]i64 = rearrange (1, 0) xss
          let b2: [6]i64 = reshape [6] t
          let part: [2][2]i64 = slice xss [0:2:1, 1:2:1]
          let c2: [4]i64 = reshape [4] part
          let d2: [2]i64 = slice t [2]
          let m: [2][3]i64 = manifest (1, 0) xss
          let e2: [4][3]i64 = concat 4 (xss, m)
          yield t, b2, c2, d2, e2
        }"#;
    gives(
        text,
        vec![ints(&[2, 3], &[1, 2, 3, 4, 5, 6])],
        &[
            ints(&[3, 2], &[1, 4, 2, 5, 3, 6]),
            vector(&[1, 4, 2, 5, 3, 6]),
            vector(&[2, 3, 5, 6]),
            vector(&[3, 6]),
            ints(&[4, 3], &[1, 2, 3, 4, 5, 6, 1, 2, 3, 4, 5, 6]),
        ],
    );
}

#[test]
fn arrays_without_input() {
    let text = r#"nested
        fun main(n: i64) -> (a: [n]i64, b: [n]f32, c: [2][n]i64, d: [2][2]i64)
          entry "main" sizes 0 -> 0 (n: i64) -> ([]i64, []f32, [][]i64, [][]i64)
        {
          let a2: [n]i64 = iota.i64 n 5 -2
          let b2: [n]f32 = iota.f32 n 0.0f32 0.5f32
          let c2: [2][n]i64 = replicate [2] a2
          let p: [2]i64 = literal i64 (1, n)
          let d2: [2][2]i64 = literal [2]i64 (p, p)
          yield a2, b2, c2, d2
        }"#;
    let floats = Value::Array(ArrayValue {
        shape: vec![3],
        data: Data::F32(vec![0.0, 0.5, 1.0]),
    });
    gives(
        text,
        vec![int(3)],
        &[
            vector(&[5, 3, 1]),
            floats,
            ints(&[2, 3], &[5, 3, 1, 5, 3, 1]),
            ints(&[2, 2], &[1, 3, 1, 3]),
        ],
    );
}
