//! Operators that become one.

use super::*;

/// The program after the passes on the nested dialect.
fn fused(text: &str) -> String {
    let settings = Settings::default();
    let clock = || Duration::ZERO;
    let mut tell = |_: Event<'_>| {};
    let mut driver = Driver::new(&settings, &clock, &mut tell);
    let program = pipeline::nested(program(text), &mut driver);
    print::program(&program.unwrap_or_else(|broken| panic!("{broken:?}")))
}

#[test]
fn maps_become_part_of_what_traverses_their_results() {
    let text = r#"nested
        fun main(n: i64, xs: [n]i64) -> (s: i64, q: [n]i64)
          entry "main" sizes 1 -> 0 (xs: []i64) -> (i64, []i64)
        {
          let ys: [n]i64, zs: [n]i64 = map n (xs) \(x: i64) {
            let y: i64 = mul.i64(x, x)
            let z: i64 = add.i64(y, x)
            yield y, z
          }
          let s2: i64 = map n (ys, xs, zs) \(a: i64, b: i64, c: i64) {
            let d: i64 = mul.i64(a, b)
            let e: i64 = add.i64(c, d)
            yield e
          } reduce comm (0) \(f: i64, g: i64) {
            let h: i64 = add.i64(f, g)
            yield h
          }
          yield s2, ys
        }"#;
    gives(text, vec![vector(&[1, 2])], &[int(17), vector(&[1, 4])]);
    let text = fused(text);
    assert_eq!(text.matches("= map").count(), 1, "{text}");
}

#[test]
fn maps_do_not_move_past_the_consumption_of_what_they_read() {
    let text = r#"nested
        fun main(n: i64, *xs: [n]i64) -> (s: i64, q: [n]i64, r: [n]i64)
          entry "main" sizes 1 -> 0 (xs: *[]i64) -> (i64, []i64, []i64)
        {
          let row: [n]i64 = slice xs [0:n:1]
          let ys: [n]i64 = map n (row) \(x: i64) {
            let y: i64 = mul.i64(x, x)
            yield y
          }
          let us: [n]i64 = update xs [0] = 9
          let ws: [n]i64 = map n (us) \(u: i64) {
            let v: i64 = add.i64(u, 1)
            yield v
          }
          let ts: [n]i64 = scatter n (ws, ys) \(w: i64, y2: i64) { yield w, y2 } into (us: 1)
          let s2: i64 = map n (ys) \(a: i64) { yield a } reduce (0) \(f: i64, g: i64) {
            let h: i64 = add.i64(f, g)
            yield h
          }
          yield s2, ys, ts
        }"#;
    gives(
        text,
        vec![vector(&[1, 0, 1])],
        &[int(2), vector(&[1, 0, 1]), vector(&[9, 0, 1])],
    );
    assert_eq!(fused(text).matches("= map").count(), 3);
}
