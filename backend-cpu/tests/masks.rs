//! Comparisons, choices and loops that lanes leave at different steps: the same results as those of the interpreter, to the
//! bit, for every length of the last group.

mod nested;

use midend::ir::types::ScalarType;
use midend::value::{ArrayValue, Data, Value};
use nested::{agrees, devices, numbers, scalar_type};

const TYPES: [&str; 10] = [
    "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "f32", "f64",
];

/// Floats of which some are large, zero, minus zero or near each other, none beyond `most`, which may be infinite.
fn floats(n: i64, seed: i64, most: f64) -> Vec<f64> {
    let special = [
        f64::INFINITY,
        f64::NEG_INFINITY,
        -0.0,
        0.0,
        3e9,
        -3e9,
        2.5,
        -2.5,
        0.5,
        1e-3,
    ];
    let number = |i: i64| match (i * 7 + seed) % 13 {
        k @ 0..10 => special[k as usize],
        k => k as f64 + i as f64 / 16.0,
    };
    (0..n).map(|i| number(i).clamp(-most, most)).collect()
}

fn vector(n: i64, data: Data) -> Value {
    let shape = vec![n];
    Value::Array(ArrayValue { shape, data })
}

fn singles(n: i64, seed: i64, most: f64) -> Value {
    let numbers = floats(n, seed, most).into_iter().map(|x| x as f32);
    vector(n, Data::F32(numbers.collect()))
}

fn any_numbers(ty: &str, n: i64, seed: i64) -> Value {
    match ty {
        "f32" => singles(n, seed, 1e9),
        "f64" => vector(n, Data::F64(floats(n, seed, 1e9))),
        _ => numbers(scalar_type(ty), n, seed),
    }
}

#[test]
fn numbers_chosen_by_comparisons() {
    let devices = devices();
    for ty in TYPES {
        for op in ["eq", "lt", "le"] {
            let text = format!(
                r#"nested
                fun main(n: i64, xs: [n]{ty}, ys: [n]{ty}) -> (q: [n]{ty}, r: [n]{ty}, s: [n]bool)
                  entry "main" sizes 1 -> 0 (xs: []{ty}, ys: []{ty}) -> ([]{ty}, []{ty}, []bool)
                {{
                  let q1: [n]{ty}, r1: [n]{ty}, s1: [n]bool = map n (xs, ys) \(x: {ty}, y: {ty}) {{
                    let a: bool = {op}.{ty}(x, y)
                    let b: bool = lt.{ty}(y, x)
                    let c: bool = or.bool(a, b)
                    let d: bool = xor.bool(a, true)
                    let e: {ty} = if d {{
                      let f: {ty} = add.{ty}(x, y)
                      let g: bool = lt.{ty}(f, x)
                      let h: {ty} = if g {{ yield f }} else {{ yield y }}
                      yield h
                    }} else {{ yield x }}
                    let i: {ty} = select.{ty}(c, x, e)
                    let j: bool = if b {{ yield d }} else {{ yield c }}
                    let k: bool = not.bool(j)
                    yield e, i, k
                  }}
                  yield q1, r1, s1
                }}"#
            );
            agrees(&devices, &text, |n| {
                [1, 2].map(|seed| any_numbers(ty, n, seed)).to_vec()
            });
        }
    }
}

/// A number and what an operation makes of it: floats are chosen, integers are added to where a mask holds.
#[test]
fn numbers_changed_where_a_mask_holds() {
    let devices = devices();
    for ty in TYPES {
        let ops: &[&str] = match ty {
            "f32" | "f64" => &["add", "sub"],
            _ => &["add", "sub", "xor", "or", "and"],
        };
        for op in ops {
            let text = format!(
                r#"nested
                fun main(n: i64, xs: [n]{ty}, ys: [n]{ty}) -> (q: [n]{ty}, r: [n]{ty}, s: [n]{ty})
                  entry "main" sizes 1 -> 0 (xs: []{ty}, ys: []{ty}) -> ([]{ty}, []{ty}, []{ty})
                {{
                  let q1: [n]{ty}, r1: [n]{ty}, s1: [n]{ty} = map n (xs, ys) \(x: {ty}, y: {ty}) {{
                    let a: bool = lt.{ty}(x, y)
                    let q2: {ty} = if a {{
                      let b: {ty} = {op}.{ty}(x, y)
                      yield b
                    }} else {{ yield x }}
                    let r2: {ty} = if a {{
                      let c: {ty} = {op}.{ty}(y, x)
                      yield c
                    }} else {{ yield x }}
                    let s2: {ty} = if a {{ yield x }} else {{
                      let d: {ty} = {op}.{ty}(x, y)
                      yield d
                    }}
                    yield q2, r2, s2
                  }}
                  yield q1, r1, s1
                }}"#
            );
            agrees(&devices, &text, |n| {
                [1, 2].map(|seed| any_numbers(ty, n, seed)).to_vec()
            });
        }
    }
}

/// Truth values of comparisons of one width choose numbers of another.
#[test]
fn masks_of_other_widths() {
    let devices = devices();
    for from in TYPES {
        for to in TYPES {
            if from == to {
                continue;
            }
            let text = format!(
                r#"nested
                fun main(n: i64, xs: [n]{from}, ys: [n]{to}, zs: [n]{to}) -> (r: [n]{to}, s: [n]{from})
                  entry "main" sizes 1 -> 0 (xs: []{from}, ys: []{to}, zs: []{to}) -> ([]{to}, []{from})
                {{
                  let r1: [n]{to}, s1: [n]{from} = map n (xs, ys, zs) \(x: {from}, y: {to}, z: {to}) {{
                    let w: {from} = min.{from}(x, x)
                    let a: bool = le.{from}(w, x)
                    let b: bool = lt.{to}(y, z)
                    let c: bool = and.bool(a, b)
                    let d: {to} = select.{to}(c, y, z)
                    let e: bool = or.bool(b, a)
                    let f: {from} = select.{from}(b, x, w)
                    let g: {from} = if e {{ yield f }} else {{ yield x }}
                    yield d, g
                  }}
                  yield r1, s1
                }}"#
            );
            agrees(&devices, &text, |n| {
                vec![
                    any_numbers(from, n, 1),
                    any_numbers(to, n, 2),
                    any_numbers(to, n, 3),
                ]
            });
        }
    }
}

/// A loop that goes on while a number is small and there are steps left, which carries a count and a truth value.
#[test]
fn lanes_leave_a_loop_at_different_steps() {
    let devices = devices();
    for (ty, count) in [
        ("f32", "i32"),
        ("f64", "i64"),
        ("f32", "i64"),
        ("f64", "i8"),
        ("f32", "u16"),
    ] {
        let suffix = if count == "i64" { "" } else { count };
        let text = format!(
            r#"nested
            fun main(n: i64, xs: [n]{ty}, most: {count}) -> (q: [n]{ty}, r: [n]{count}, s: [n]bool)
              entry "main" sizes 1 -> 0 (xs: []{ty}, most: {count}) -> ([]{ty}, []{count}, []bool)
            {{
              let q1: [n]{ty}, r1: [n]{count}, s1: [n]bool = map n (xs) \(x: {ty}) {{
                let y: {ty}, k: {count}, odd: bool = loop (z: {ty} = x, i: {count} = 0{suffix}, o: bool = false) while {{
                  let left: bool = lt.{count}(i, most)
                  let go: bool = if left {{
                    let w: {ty} = mul.{ty}(z, z)
                    let small: bool = lt.{ty}(w, 100.0{ty})
                    yield small
                  }} else {{ yield false }}
                  yield go
                }} do {{
                  let z2: {ty} = mul.{ty}(z, 1.5{ty})
                  let z3: {ty} = add.{ty}(z2, 0.25{ty})
                  let i2: {count} = add.{count}(i, 1{suffix})
                  let o2: bool = not.bool(o)
                  yield z3, i2, o2
                }}
                yield y, k, odd
              }}
              yield q1, r1, s1
            }}"#
        );
        for most in [0, 1, 20] {
            let most = midend::interp::scalar::convert::convert(
                scalar_type(count),
                midend::ir::scalar::Const::I64(most),
            );
            agrees(&devices, &text, |n| {
                vec![any_numbers(ty, n, 4), Value::Scalar(most)]
            });
        }
    }
}

#[test]
fn integers_and_floats_of_32_bits() {
    let devices = devices();
    let text = r#"nested
        fun main(n: i64, xs: [n]f32, ks: [n]i32, us: [n]u32) -> (q: [n]i32, r: [n]f32, s: [n]f32)
          entry "main" sizes 1 -> 0 (xs: []f32, ks: []i32, us: []u32) -> ([]i32, []f32, []f32)
        {
          let q1: [n]i32, r1: [n]f32, s1: [n]f32 = map n (xs, ks, us) \(x: f32, k: i32, u: u32) {
            let a: i32 = convert.f32.i32(x)
            let b: f32 = convert.i32.f32(k)
            let c: f32 = convert.u32.f32(u)
            yield a, b, c
          }
          yield q1, r1, s1
        }"#;
    agrees(&devices, text, |n| {
        vec![
            singles(n, 5, f64::INFINITY),
            numbers(ScalarType::I32, n, 6),
            numbers(ScalarType::U32, n, 7),
        ]
    });
}

#[test]
fn floats_made_integral() {
    let devices = devices();
    for ty in ["f32", "f64"] {
        for op in ["floor", "ceil", "round", "trunc"] {
            let text = format!(
                r#"nested
                fun main(n: i64, xs: [n]{ty}) -> (q: [n]{ty}, r: [n]bool)
                  entry "main" sizes 1 -> 0 (xs: []{ty}) -> ([]{ty}, []bool)
                {{
                  let q1: [n]{ty}, r1: [n]bool = map n (xs) \(x: {ty}) {{
                    let y: {ty} = {op}.{ty}(x)
                    let z: {ty} = sub.{ty}(x, x)
                    let w: bool = isnan.{ty}(z)
                    yield y, w
                  }}
                  yield q1, r1
                }}"#
            );
            agrees(&devices, &text, |n| vec![any_numbers(ty, n, 8)]);
        }
    }
}
