//! Filters: the same results as those of the interpreter, for lengths around those of groups and strips, and for what is kept and what
//! it is chosen by of several types.

mod nested;

use nested::{agrees, devices, numbers, scalar_type};

#[test]
fn what_is_kept() {
    let devices = devices();
    for (ty, by, cond) in [
        ("f32", "f32", "lt.f32(y, 0.0f32)"),
        ("i32", "i32", "lt.i32(x, y)"),
        ("f64", "f32", "le.f32(0.0f32, y)"),
        ("i64", "i16", "lt.i16(y, 77i16)"),
        ("u32", "f64", "lt.f64(y, 1000.0f64)"),
        ("u8", "i32", "lt.i32(0i32, y)"),
        ("f32", "i64", "eq.i64(y, y)"),
        ("f32", "u8", "lt.u8(y, 3u8)"),
    ] {
        let text = format!(
            r#"nested
            fun main(n: i64, xs: [n]{ty}, ys: [n]{by}) -> (m: i64, q: [m]{ty}, r: [m]{by}, s: [m]i64)
              entry "main" sizes 1 -> 1 (xs: []{ty}, ys: []{by}) -> ([]{ty}, []{by}, []i64)
            {{
              let is: [n]i64 = iota.i64 n 0 1
              let k: i64, q1: [k]{ty}, r1: [k]{by}, s1: [k]i64 = filter n (xs, ys, is) \(x: {ty}, y: {by}, i: i64) {{
                let c: bool = {cond}
                yield c, x, y, i
              }}
              yield k, q1, r1, s1
            }}"#
        );
        for times in [1, 13] {
            let differs = agrees(&devices, &text, |n| {
                vec![
                    numbers(scalar_type(ty), times * n, 1),
                    numbers(scalar_type(by), times * n, 2),
                ]
            });
            assert_eq!(differs, None, "{text}");
        }
    }
}
