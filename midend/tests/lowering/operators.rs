//! Parallel operators, at the top and inside of others.

use super::*;

const SUM: &str = r"(0) \(a: i64, b: i64) { let c: i64 = add.i64(a, b) yield c }";

#[test]
fn maps_reductions_and_scans() {
    let text = format!(
        r#"nested
        fun main(n: i64, xs: [n]i64) -> (t: i64, s: [n]i64, q: [n]i64, u: i64)
          entry "main" sizes 1 -> 0 (xs: []i64) -> (i64, []i64, []i64, i64)
        {{
          let t2: i64, q2: [n]i64 = map n (xs) \(x: i64) {{
            let y: i64 = mul.i64(x, x)
            yield x, y
          }} reduce comm {SUM}
          let s2: [n]i64, u2: i64 = map n (xs, q2) \(x2: i64, z: i64) {{ yield x2, z }} scan {sum2} reduce {sum3}
          yield t2, s2, q2, u2
        }}"#,
        sum2 = SUM
            .replace('a', "d")
            .replace("dd", "ad")
            .replace('b', "e")
            .replace('c', "f"),
        sum3 = SUM
            .replace("(a:", "(g:")
            .replace("b:", "h:")
            .replace("(a, b)", "(g, h)")
            .replace("c", "k"),
    );
    gives(
        &text,
        vec![vector(&[1, 2, 3])],
        &[int(6), vector(&[1, 3, 6]), vector(&[1, 4, 9]), int(14)],
    );
    gives(
        &text,
        vec![vector(&[])],
        &[int(0), vector(&[]), vector(&[]), int(0)],
    );
}

#[test]
fn matrix_product() {
    let text = r#"nested
        fun main(n: i64, m: i64, k: i64, a: [n][m]i64, b: [m][k]i64) -> (r: [n][k]i64)
          entry "main" sizes 3 -> 0 (a: [][]i64, b: [][]i64) -> ([][]i64)
        {
          let bt: [k][m]i64 = rearrange (1, 0) b
          let r2: [n][k]i64 = map n (a) \(row: [m]i64) {
            let rs: [k]i64 = map k (bt) \(col: [m]i64) {
              let s: i64 = map m (row, col) \(x: i64, y: i64) {
                let p: i64 = mul.i64(x, y)
                yield p
              } reduce (0) \(c: i64, d: i64) {
                let e: i64 = add.i64(c, d)
                yield e
              }
              yield s
            }
            yield rs
          }
          yield r2
        }"#;
    let a = ints(&[2, 3], &[1, 2, 3, 4, 5, 6]);
    let b = ints(&[3, 2], &[1, 0, 2, 1, 0, 3]);
    gives(text, vec![a, b], &[ints(&[2, 2], &[5, 11, 14, 23])]);
    let (plan, _) = lowered(text);
    // One array for the result in each version, and nothing inside of the kernels.
    assert_eq!(
        count(&plan, |op| matches!(op, Mem::Alloc { .. })),
        2,
        "{}",
        print::program(&plan)
    );
    assert_eq!(
        count(&plan, |op| matches!(op, Mem::Copy { .. })),
        0,
        "{}",
        print::program(&plan)
    );
    assert_eq!(
        count(
            &plan,
            |op| matches!(op, Mem::Launch(k) if k.space.len() == 2)
        ),
        1
    );
}

#[test]
fn filters() {
    let text = r#"nested
        fun main(n: i64, xs: [n]i64) -> (k: i64, ys: [k]i64, zs: [k]i64)
          entry "main" sizes 1 -> 1 (xs: []i64) -> ([]i64, []i64)
        {
          let k2: i64, ys2: [k2]i64, zs2: [k2]i64 = filter n (xs) \(x: i64) {
            let p: bool = lt.i64(2, x)
            let y: i64 = mul.i64(x, 10)
            yield p, x, y
          }
          yield k2, ys2, zs2
        }"#;
    gives(
        text,
        vec![vector(&[3, 1, 5, 2])],
        &[vector(&[3, 5]), vector(&[30, 50])],
    );
    gives(text, vec![vector(&[])], &[vector(&[]), vector(&[])]);
    gives(text, vec![vector(&[1])], &[vector(&[]), vector(&[])]);
}

#[test]
fn histograms_and_scatters() {
    let text = r#"nested
        fun main(n: i64, is: [n]i64, js: [n]i64, *e: [2][2]i64) -> (h: [2][2]i64, s: [2][2]i64)
          entry "main" sizes 1 -> 0 (is: []i64, js: []i64, e: *[][]i64) -> ([][]i64, [][]i64)
        {
          let d: [2][2]i64 = replicate [2, 2] 100
          let h2: [2][2]i64 = hist n (is, js) \(i: i64, j: i64) { yield i, j, 1 }
            into [2, 2] (d) by (0) \(a: i64, b: i64) {
              let c: i64 = add.i64(a, b)
              yield c
            }
          let s2: [2][2]i64 = scatter n (is, js) \(i2: i64, j2: i64) {
            let row: [2]i64 = replicate [2] j2
            yield i2, row
          } into (e: 1)
          yield h2, s2
        }"#;
    gives(
        text,
        vec![
            vector(&[0, 1, 2, 0, 0]),
            vector(&[0, 1, 0, 0, -1]),
            ints(&[2, 2], &[1, 2, 3, 4]),
        ],
        &[
            ints(&[2, 2], &[102, 100, 100, 101]),
            ints(&[2, 2], &[-1, -1, 1, 1]),
        ],
    );
}

#[test]
fn operators_on_rows() {
    let text = r#"nested
        fun main(n: i64, m: i64, is: [n]i64, vss: [n][m]i64) -> (r: [m]i64, h: [2][m]i64, s: [n][m]i64)
          entry "main" sizes 2 -> 0 (is: []i64, vss: [][]i64) -> ([]i64, [][]i64, [][]i64)
        {
          let z: [m]i64 = replicate [m] 0
          let r2: [m]i64 = map n (vss) \(v: [m]i64) { yield v } reduce (z) \(a: [m]i64, b: [m]i64) {
            let c: [m]i64 = map m (a, b) \(x: i64, y: i64) {
              let t: i64 = add.i64(x, y)
              yield t
            }
            yield c
          }
          let s2: [n][m]i64 = map n (vss) \(v3: [m]i64) { yield v3 } scan (z) \(a3: [m]i64, b3: [m]i64) {
            let c3: [m]i64 = map m (a3, b3) \(x3: i64, y3: i64) {
              let t3: i64 = add.i64(x3, y3)
              yield t3
            }
            yield c3
          }
          let d: [2][m]i64 = replicate [2, m] 0
          let h2: [2][m]i64 = hist n (is, vss) \(i: i64, v2: [m]i64) { yield i, v2 }
            into [2] (d) by (z) \(a2: [m]i64, b2: [m]i64) {
              let c2: [m]i64 = map m (a2, b2) \(x2: i64, y2: i64) {
                let t2: i64 = add.i64(x2, y2)
                yield t2
              }
              yield c2
            }
          yield r2, h2, s2
        }"#;
    gives(
        text,
        vec![vector(&[1, 1, 0]), ints(&[3, 2], &[1, 2, 3, 4, 5, 6])],
        &[
            vector(&[9, 12]),
            ints(&[2, 2], &[5, 6, 4, 6]),
            ints(&[3, 2], &[1, 2, 4, 6, 9, 12]),
        ],
    );
    gives(
        text,
        vec![vector(&[]), ints(&[0, 2], &[])],
        &[vector(&[0, 0]), ints(&[2, 2], &[0; 4]), ints(&[0, 2], &[])],
    );
}

#[test]
fn everything_inside_of_a_map() {
    let text = r#"nested
        fun main(n: i64, m: i64, xss: [n][m]i64) -> (r: [n][m]i64, h: [n][3]i64, w: [n]i64, u: [n]i64)
          entry "main" sizes 2 -> 0 (xss: [][]i64) -> ([][]i64, [][]i64, []i64, []i64)
        {
          let r2: [n][m]i64, h2: [n][3]i64, w2: [n]i64, u2: [n]i64 = map n (xss) \(xs: [m]i64) {
            let sc: [m]i64, mx: i64 = map m (xs) \(x: i64) { yield x, x } scan (0) \(a: i64, b: i64) {
              let c: i64 = add.i64(a, b)
              yield c
            } reduce (-1) \(d: i64, e: i64) {
              let f: i64 = max.i64(d, e)
              yield f
            }
            let d0: [3]i64 = replicate [3] 0
            let hh: [3]i64 = hist m (xs) \(y: i64) { yield y, 1 } into [3] (d0) by (0) \(g: i64, k: i64) {
              let l: i64 = add.i64(g, k)
              yield l
            }
            let hs: [3]i64 = scatter m (xs, sc) \(y3: i64, s3: i64) { yield y3, s3 } into (hh: 1)
            let q: i64, qs: [q]i64 = filter m (sc) \(z: i64) {
              let p: bool = lt.i64(2, z)
              yield p, z
            }
            let t: i64 = map q (qs) \(v: i64) { yield v } reduce (0) \(g2: i64, k2: i64) {
              let l2: i64 = add.i64(g2, k2)
              yield l2
            }
            yield sc, hs, mx, t
          }
          yield r2, h2, w2, u2
        }"#;
    gives(
        text,
        vec![ints(&[2, 3], &[1, 1, 2, 0, 3, 0])],
        &[
            ints(&[2, 3], &[1, 2, 4, 0, 3, 3]),
            ints(&[2, 3], &[0, 2, 4, 3, 0, 0]),
            vector(&[2, 3]),
            vector(&[4, 6]),
        ],
    );
}

#[test]
fn nests_with_checks_between_the_maps() {
    let text = r#"nested
        fun main(n: i64, m: i64) -> (r: [n][m]i64)
          entry "main" sizes 0 -> 0 (n: i64, m: i64) -> ([][]i64)
        {
          let is: [n]i64 = iota.i64 n 0 1
          let r2: [n][m]i64 = map n (is) \(i: i64) {
            let c: bool = le.i64(m, 3)
            let ok: cert = assert c other ("too many: ", m)
            let js: [m]i64 = iota.i64 m 0 1
            let c2: bool = le.i64(i, 4)
            let ok2: cert = assert c2 other ("row ", i)
            let row: [m]i64 = <ok> map m (js) \(j: i64) {
              let x: i64 = mul.i64(i, 10)
              let y: i64 = add.i64(x, j)
              yield y
            }
            yield row
          }
          yield r2
        }"#;
    gives(
        text,
        vec![int(2), int(3)],
        &[ints(&[2, 3], &[0, 1, 2, 10, 11, 12])],
    );
    let (plan, _) = lowered(text);
    assert!(
        count(
            &plan,
            |op| matches!(op, Mem::Launch(k) if k.space.len() == 2)
        ) == 1
    );
    let error = run_plan(text, vec![int(2), int(4)]).expect_err("an error");
    assert_eq!(error.to_string(), "Error: too many: 4");
    let error = run_plan(text, vec![int(6), int(0)]).expect_err("an error");
    assert_eq!(error.to_string(), "Error: row 5");
    gives(text, vec![int(0), int(9)], &[ints(&[0, 9], &[])]);
}
