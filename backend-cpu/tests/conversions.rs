//! Conversions, shifts and bits of floats in vectors: the same results as those of the interpreter, to the bit, for every
//! length of the last group.

mod nested;

use midend::interp;
use midend::ir::scalar::Const;
use midend::ir::types::ScalarType;
use midend::value::{ArrayValue, Data, Value};
use nested::{agrees, devices, numbers, scalar_type};

const INTEGERS: [&str; 8] = ["i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64"];
const TYPES: [&str; 10] = [
    "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "f32", "f64",
];

/// Floats around the limits of integers, and what is none if `all` are wanted.
fn floats(n: i64, all: bool) -> Vec<f64> {
    let special = [
        if all { f64::NAN } else { 1.0 },
        f64::INFINITY,
        f64::NEG_INFINITY,
        -0.0,
        0.5,
        -0.75,
        127.5,
        128.0,
        -129.0,
        255.0,
        256.5,
        32767.0,
        65535.5,
        65536.0,
        -32769.0,
        2_147_483_647.0,
        2_147_483_648.0,
        -2_147_483_649.0,
        4_294_967_295.0,
        1e30,
        1e-40,
        3.25,
    ];
    let number = |i: i64| special[(i * 5) as usize % special.len()] + (i / 22) as f64;
    (0..n).map(number).collect()
}

fn values(ty: &str, n: i64, all: bool) -> Value {
    let data = match ty {
        "f32" => Data::F32(floats(n, all).into_iter().map(|x| x as f32).collect()),
        "f64" => Data::F64(floats(n, all)),
        _ => return numbers(scalar_type(ty), n, 9),
    };
    let shape = vec![n];
    Value::Array(ArrayValue { shape, data })
}

fn constant(ty: &str, number: i64) -> Const {
    interp::scalar::convert::convert(scalar_type(ty), Const::I64(number))
}

#[test]
fn numbers_of_all_types() {
    let devices = devices();
    for from in TYPES {
        for to in TYPES {
            if from == to {
                continue;
            }
            let text = format!(
                r#"nested
                fun main(n: i64, x0: {from}, xs: [n]{from}) -> (q: [n]{to}, r: [n]{from})
                  entry "main" sizes 1 -> 0 (x0: {from}, xs: []{from}) -> ([]{to}, []{from})
                {{
                  let q1: [n]{to}, r1: [n]{from} = map n (xs) \(x: {from}) {{
                    let y: {to} = convert.{from}.{to}(x)
                    let z: {from} = max.{from}(x, x0)
                    yield y, z
                  }}
                  yield q1, r1
                }}"#
            );
            // A NaN is equal to nothing, itself included.
            let all = !to.starts_with('f');
            let zero = constant(from, 0);
            let args = |n| vec![Value::Scalar(zero), values(from, n, all)];
            let narrow = agrees(&devices, &text, args);
            // Single floats to integers are made without what has forms of both widths.
            if !(from == "f32" && INTEGERS.contains(&to)) {
                assert_eq!(narrow, None, "{text}");
            }
        }
    }
}

#[test]
fn truth_values_and_indices() {
    let devices = devices();
    for ty in TYPES {
        let text = format!(
            r#"nested
            fun main(n: i64, xs: [n]{ty}, ys: [n]{ty}) -> (q: [n]{ty}, r: [n]{ty}, s: [n]{ty})
              entry "main" sizes 1 -> 0 (xs: []{ty}, ys: []{ty}) -> ([]{ty}, []{ty}, []{ty})
            {{
              let is: [n]i64 = iota.i64 n 0 1
              let q1: [n]{ty}, r1: [n]{ty}, s1: [n]{ty} = map n (xs, ys, is) \(x: {ty}, y: {ty}, i: i64) {{
                let less: bool = lt.{ty}(x, y)
                let one: {ty} = convert.bool.{ty}(less)
                let some: bool = convert.{ty}.bool(x)
                let both: bool = and.bool(less, some)
                let chosen: {ty} = select.{ty}(both, x, y)
                let k: {ty} = convert.i64.{ty}(i)
                let sum: {ty} = add.{ty}(k, x)
                yield one, chosen, sum
              }}
              yield q1, r1, s1
            }}"#
        );
        agrees(&devices, &text, |n| {
            vec![values(ty, n, false), numbers(scalar_type(ty), n, 4)]
        });
    }
}

/// Masks of numbers of one width that choose between numbers of another.
#[test]
fn masks_of_all_widths() {
    let devices = devices();
    for compared in TYPES {
        for chosen in TYPES {
            let text = format!(
                r#"nested
                fun main(n: i64, xs: [n]{compared}, ys: [n]{compared}, vs: [n]{chosen}) -> (q: [n]{chosen}, r: [n]bool)
                  entry "main" sizes 1 -> 0 (xs: []{compared}, ys: []{compared}, vs: []{chosen}) -> ([]{chosen}, []bool)
                {{
                  let q1: [n]{chosen}, r1: [n]bool = map n (xs, ys, vs) \(x: {compared}, y: {compared}, v: {chosen}) {{
                    let less: bool = lt.{compared}(x, y)
                    let twice: {chosen} = add.{chosen}(v, v)
                    let large: bool = le.{chosen}(v, twice)
                    let w: {chosen} = select.{chosen}(less, v, twice)
                    let both: bool = and.bool(less, large)
                    yield w, both
                  }}
                  yield q1, r1
                }}"#
            );
            agrees(&devices, &text, |n| {
                let xs = values(compared, n, true);
                vec![
                    xs,
                    numbers(scalar_type(compared), n, 4),
                    values(chosen, n, false),
                ]
            });
        }
    }
}

#[test]
fn shifts() {
    let devices = devices();
    for ty in INTEGERS {
        let suffix = if ty == "i64" { "" } else { ty };
        for op in ["shl", "shr"] {
            let text = format!(
                r#"nested
                fun main(n: i64, k: {ty}, xs: [n]{ty}) -> (q: [n]{ty}, r: [n]{ty}, s: [n]{ty})
                  entry "main" sizes 1 -> 0 (k: {ty}, xs: []{ty}) -> ([]{ty}, []{ty}, []{ty})
                {{
                  let q1: [n]{ty}, r1: [n]{ty}, s1: [n]{ty} = map n (xs) \(x: {ty}) {{
                    let a: {ty} = {op}.{ty}(x, 3{suffix})
                    let b: {ty} = {op}.{ty}(x, k)
                    let c: {ty} = add.{ty}(b, 1{suffix})
                    let d: {ty} = {op}.{ty}(x, 77{suffix})
                    yield a, c, d
                  }}
                  yield q1, r1, s1
                }}"#
            );
            for k in [0, 1, 7, 9, 31, 63, 65, -1] {
                let number = constant(ty, k);
                agrees(&devices, &text, |n| {
                    vec![Value::Scalar(number), numbers(scalar_type(ty), n, 5)]
                });
            }
        }
    }
}

#[test]
fn bits_of_floats() {
    let devices = devices();
    for (float, int) in [("f32", "u32"), ("f64", "u64")] {
        let text = format!(
            r#"nested
            fun main(n: i64, xs: [n]{float}, ys: [n]{int}) -> (q: [n]{int}, r: [n]{float})
              entry "main" sizes 1 -> 0 (xs: []{float}, ys: []{int}) -> ([]{int}, []{float})
            {{
              let q1: [n]{int}, r1: [n]{float} = map n (xs, ys) \(x: {float}, y: {int}) {{
                let bits: {int} = tobits.{float}(x)
                let mixed: {int} = xor.{int}(bits, y)
                let z: {float} = frombits.{float}(y)
                let w: {float} = max.{float}(z, 1.0{float})
                yield mixed, w
              }}
              yield q1, r1
            }}"#
        );
        let narrow = agrees(&devices, &text, |n| {
            let ints = if int == "u32" {
                ScalarType::U32
            } else {
                ScalarType::U64
            };
            vec![values(float, n, true), numbers(ints, n, 6)]
        });
        assert_eq!(narrow, None);
    }
}
