//! Accumulations: what they mean on every level, and what becomes of them in plans.

use super::*;
use midend::ir::mem::KernelKind;

/// A program that runs an accumulation over `is`: its body updates `a`, the accumulator of the vector `xs`.
fn accumulation(body: &str, op: &str) -> String {
    format!(
        r#"nested
        fun main(n: i64, m: i64, *xs: [n]i64, is: [m]i64) -> (r: [n]i64)
          entry "main" sizes 2 -> 0 (xs: *[]i64, is: []i64) -> ([]i64)
        {{
          let r2: [n]i64 = withacc m (is) into c: cert (a: acc(c, 0)[n]i64 = xs) \(i: i64) {{ {body} }} {op}
          yield r2
        }}"#
    )
}

const SUM: &str = r"by comm (0) \(p: i64, q: i64) { let s: i64 = add.i64(p, q) yield s }";

/// Two updates, the second only of a condition, and further ones in a loop.
const BODY: &str = "
    let b: acc(c, 0)[n]i64 = updateacc (a)[i] = (i)
    let odd: i64 = and.i64(i, 1)
    let is_odd: bool = eq.i64(odd, 1)
    let d: acc(c, 0)[n]i64 = if is_odd {
      let e: acc(c, 0)[n]i64 = updateacc (b)[0] = (100)
      yield e
    } else { yield b }
    let f: acc(c, 0)[n]i64 = loop (g: acc(c, 0)[n]i64 = d) for k: i64 < i {
      let at: i64 = sub.i64(3, k)
      let h: acc(c, 0)[n]i64 = updateacc (g)[at] = (k)
      yield h
    }
    yield f";

#[test]
fn updates_without_an_operator_are_stores_of_a_parallel_kernel() {
    let text = accumulation(BODY, "");
    let args = vec![vector(&[9, 9, 9, 9]), vector(&[1, 2, 7, -1])];
    gives(&text, args, &[vector(&[100, 2, 1, 0])]);
    let (plan, _) = lowered(&text);
    let shown = print::program(&plan);
    let kind = |kind: &KernelKind| *kind == KernelKind::Map;
    let maps = |op: &Mem| matches!(op, Mem::Launch(kernel) if kind(&kernel.kind));
    assert_eq!(count(&plan, maps), 1, "{shown}");
    assert_eq!(
        count(&plan, |op| matches!(op, Mem::Store { .. })),
        3,
        "{shown}"
    );
    let others = |op: &Mem| matches!(op, Mem::Load { .. } | Mem::Alloc { .. } | Mem::Copy { .. });
    assert_eq!(count(&plan, others), 1, "one load of the index: {shown}");
}

#[test]
fn updates_with_an_operator_are_a_histogram() {
    let text = accumulation(BODY, SUM);
    let args = vec![vector(&[9, 9, 9, 9]), vector(&[1, 2, 1, 3, -1])];
    // 9 + (odd elements) * 100 at 0; the loops add 0, 1, 2 at 3, 2, 1.
    gives(&text, args, &[vector(&[409, 13, 13, 12])]);
    let (plan, _) = lowered(&text);
    let hists =
        |op: &Mem| matches!(op, Mem::Launch(kernel) if matches!(kernel.kind, KernelKind::Hist(_)));
    assert_eq!(count(&plan, hists), 1, "{}", print::program(&plan));
}

#[test]
fn nothing_is_updated_for_no_points() {
    for op in ["", SUM] {
        let args = vec![vector(&[5, 6]), vector(&[])];
        gives(&accumulation(BODY, op), args, &[vector(&[5, 6])]);
    }
}

#[test]
fn a_map_that_is_traversed_becomes_part_of_an_accumulation() {
    let text = r#"nested
        fun main(n: i64, m: i64, *xs: [n]i64, is: [m]i64) -> (r: [n]i64)
          entry "main" sizes 2 -> 0 (xs: *[]i64, is: []i64) -> ([]i64)
        {
          let js: [m]i64 = map m (is) \(i: i64) { let j: i64 = add.i64(i, 1) yield j }
          let r2: [n]i64 = withacc m (js) into c: cert (a: acc(c, 0)[n]i64 = xs) \(j2: i64) {
            let b: acc(c, 0)[n]i64 = updateacc (a)[j2] = (j2)
            yield b
          }
          yield r2
        }"#;
    let args = vec![vector(&[0, 0, 0]), vector(&[0, 1, 2])];
    gives(text, args, &[vector(&[0, 1, 2])]);
    let settings = Settings::default();
    let clock = || Duration::ZERO;
    let mut tell = |_: Event<'_>| {};
    let mut driver = Driver::new(&settings, &clock, &mut tell);
    let (plan, _) = pipeline::plan(program(text), &mut driver).expect("sound passes");
    let launches = |op: &Mem| matches!(op, Mem::Launch(_));
    assert_eq!(count(&plan, launches), 1, "{}", print::program(&plan));
}

/// Rows of several arrays, an operator on tuples of which one result is what the other overwrites.
#[test]
fn operators_read_all_places_before_they_write_any() {
    let text = r#"nested
        fun main(n: i64, m: i64, *xs: [n][m]i64, *ys: [n][m]i64, zs: [n][m]i64) -> (r: [n][m]i64, s: [n][m]i64)
          entry "main" sizes 2 -> 0 (xs: *[][]i64, ys: *[][]i64, zs: [][]i64) -> ([][]i64, [][]i64)
        {
          let zero: [m]i64 = replicate [m] 0
          let r2: [n][m]i64, s2: [n][m]i64 = withacc n (zs) into c: cert
              (a: acc(c, 0)[n][m]i64 = xs, b: acc(c, 1)[n][m]i64 = ys) \(z: [m]i64) {
            let d: acc(c, 0)[n][m]i64, e: acc(c, 1)[n][m]i64 = updateacc (a, b)[0] = (z, z)
            yield d, e
          } by (zero, zero) \(p: [m]i64, q: [m]i64, u: [m]i64, v: [m]i64) { yield u, p }
          yield r2, s2
        }"#;
    let args = vec![
        ints(&[2, 2], &[1, 2, 3, 4]),
        ints(&[2, 2], &[5, 6, 7, 8]),
        ints(&[2, 2], &[10, 20, 30, 40]),
    ];
    let expected = [
        ints(&[2, 2], &[30, 40, 3, 4]),
        ints(&[2, 2], &[10, 20, 7, 8]),
    ];
    gives(text, args, &expected);
}

#[test]
fn accumulations_in_maps_are_loops_of_a_thread() {
    let text = r#"nested
        fun main(n: i64, m: i64) -> (r: [n][m]i64)
          entry "main" sizes 0 -> 0 (n: i64, m: i64) -> ([][]i64)
        {
          let is: [n]i64 = iota.i64 n 0 1
          let js: [m]i64 = iota.i64 m 0 1
          let r2: [n][m]i64 = map n (is) \(i: i64) {
            let ones: [m]i64 = replicate [m] 1
            let row: [m]i64 = withacc m (js) into c: cert (a: acc(c, 0)[m]i64 = ones) \(j: i64) {
              let k: i64 = mul.i64(i, j)
              let b: acc(c, 0)[m]i64 = updateacc (a)[k] = (j)
              yield b
            } by (0) \(p: i64, q: i64) { let s: i64 = add.i64(p, q) yield s }
            yield row
          }
          yield r2
        }"#;
    let expected = ints(&[3, 3], &[4, 1, 1, 1, 2, 3, 1, 1, 2]);
    gives(text, vec![int(3), int(3)], &[expected]);
}
