//! Points that are worked on several at a time: the same results as those of the interpreter, to the bit, for every
//! length of the last group.

mod nested;

use backend_cpu::CpuDevice;
use midend::device::Device;
use midend::ir::scalar::Const;
use midend::ir::types::ScalarType;
use midend::value::{ArrayValue, Data, Value};
use nested::{devices, numbers, scalar_type};

/// Runs a program everywhere; all of its kernels have code for both widths.
fn agrees(devices: &[CpuDevice], text: &str, args: impl Fn(i64) -> Vec<Value>) {
    assert_eq!(nested::agrees(devices, text, args), None, "{text}");
}

const INTEGERS: [&str; 8] = ["i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64"];

#[test]
fn integers_in_vectors() {
    let devices = devices();
    for ty in INTEGERS {
        for op in ["add", "sub", "mul", "and", "or", "xor", "min", "max"] {
            let text = format!(
                r#"nested
                fun main(n: i64, xs: [n]{ty}, ys: [n]{ty}) -> (q: [n]{ty}, r: [n]{ty})
                  entry "main" sizes 1 -> 0 (xs: []{ty}, ys: []{ty}) -> ([]{ty}, []{ty})
                {{
                  let q1: [n]{ty}, r1: [n]{ty} = map n (xs, ys) \(x: {ty}, y: {ty}) {{
                    let a: {ty} = {op}.{ty}(x, y)
                    let b: {ty} = neg.{ty}(a)
                    let c: {ty} = {op}.{ty}(b, 3{suffix})
                    let d: {ty} = not.{ty}(c)
                    yield a, d
                  }}
                  yield q1, r1
                }}"#,
                suffix = if ty == "i64" { "" } else { ty },
            );
            agrees(&devices, &text, |n| {
                [1, 2]
                    .map(|seed| numbers(scalar_type(ty), n, seed))
                    .to_vec()
            });
        }
    }
}

#[test]
fn saturating_sums_in_vectors() {
    let text = r#"nested
        fun main(n: i64, xs: [n]i64, ys: [n]i64) -> (q: [n]i64, r: [n]i64)
          entry "main" sizes 1 -> 0 (xs: []i64, ys: []i64) -> ([]i64, []i64)
        {
          let q1: [n]i64, r1: [n]i64 = map n (xs, ys) \(x: i64, y: i64) {
            let a: i64 = add_sat.i64(x, y)
            let b: i64 = add_sat.i64(a, 9223372036854775807)
            let c: i64 = add_sat.i64(a, -9223372036854775808)
            let d: i64 = xor.i64(b, c)
            yield a, d
          }
          yield q1, r1
        }"#;
    let ends = [i64::MIN, -1, 0, 1, 1 << 62, i64::MAX];
    let devices = devices();
    agrees(&devices, text, |n| {
        [1, 6]
            .map(|step| {
                let data = (0..n).map(|i| ends[(i / step) as usize % ends.len()]);
                Value::Array(ArrayValue {
                    shape: vec![n],
                    data: Data::I64(data.collect()),
                })
            })
            .to_vec()
    });
    agrees(&devices, text, |n| {
        [1, 2]
            .map(|seed| numbers(ScalarType::I64, n, seed))
            .to_vec()
    });
}

#[test]
fn integers_summed_in_vectors() {
    let devices = devices();
    for ty in INTEGERS {
        for (op, neutral) in [("add", "0"), ("xor", "0"), ("max", "1")] {
            let suffix = if ty == "i64" { "" } else { ty };
            let text = format!(
                r#"nested
                fun main(n: i64, xs: [n]{ty}) -> (s: {ty})
                  entry "main" sizes 1 -> 0 (xs: []{ty}) -> ({ty})
                {{
                  let t: {ty} = map n (xs) \(x: {ty}) {{
                    let y: {ty} = sub.{ty}(x, 1{suffix})
                    yield y
                  }} reduce comm ({neutral}{suffix}) \(a: {ty}, b: {ty}) {{
                    let c: {ty} = {op}.{ty}(a, b)
                    yield c
                  }}
                  yield t
                }}"#
            );
            agrees(&devices, &text, |n| vec![numbers(scalar_type(ty), n, 5)]);
        }
    }
}

#[test]
fn narrow_integers_are_widened() {
    let devices = devices();
    for from in ["i8", "i16", "u8", "u16"] {
        for to in ["i16", "i32", "i64", "u16", "u32", "u64", "f32"] {
            if from == to {
                continue;
            }
            let text = format!(
                r#"nested
                fun main(n: i64, xs: [n]{from}) -> (q: [n]{to}, r: [n]{from})
                  entry "main" sizes 1 -> 0 (xs: []{from}) -> ([]{to}, []{from})
                {{
                  let q1: [n]{to}, r1: [n]{from} = map n (xs) \(x: {from}) {{
                    let y: {to} = convert.{from}.{to}(x)
                    let z: {from} = add.{from}(x, x)
                    yield y, z
                  }}
                  yield q1, r1
                }}"#
            );
            agrees(&devices, &text, |n| vec![numbers(scalar_type(from), n, 9)]);
        }
    }
}

/// Neighbours that lie side by side but at the ends of a row are not gathered: there is code for all widths.
#[test]
fn stencils() {
    let text = r#"plan
fun main(n: i64, last: i64, xs: buffer f32, out: buffer f32) -> ()
{
  do launch map "k" (i: i64 < n) {
    let before: i64 = sub.i64(i, 1)
    let left: i64 = max.i64(before, 0)
    let behind: i64 = add.i64(i, 1)
    let right: i64 = min.i64(behind, last)
    let x: f32 = load xs[left]
    let y: f32 = load xs[right]
    let z: f32 = add.f32(x, y)
    do store out[i] = z
    yield
  }
  yield
}
"#;
    let plan = midend::ir::read::program(text).expect("it is a program");
    let [_, devices @ ..] = devices();
    #[cfg(target_arch = "x86_64")]
    let able = std::is_x86_feature_detected!("avx2") && std::is_x86_feature_detected!("fma");
    #[cfg(not(target_arch = "x86_64"))]
    let able = false;
    let expected = able.then(|| (String::from("k"), None));
    for device in devices {
        let module = device.compile(&plan).expect("compiles");
        assert_eq!(module.widened().pop(), expected);
    }
}

/// A reduction of nothing, of which the checks are left.
#[test]
fn no_sums() {
    let text = r#"plan
fun main(n: i64, xs: buffer i64) -> ()
{
  do launch red "k" (i: i64 < n) {
    let x: i64 = load xs[i]
    let c: bool = lt.i64(x, 9)
    let ok: cert = assert c assert (x)
    yield
  } out ()
  yield
}
"#;
    let plan = midend::ir::read::program(text).unwrap_or_else(|error| panic!("{error}"));
    for device in devices() {
        device.compile(&plan).expect("compiles");
    }
}

/// Buckets of a byte: with 256 of them no index is out of range, with fewer some are.
#[test]
fn bytes_counted() {
    let devices = devices();
    for buckets in [0, 100, 255, 256, 300] {
        let text = format!(
            r#"nested
            fun main(n: i64, xs: [n]u8) -> (c: [{buckets}]i64)
              entry "main" sizes 1 -> 0 (xs: []u8) -> ([]i64)
            {{
              let zeros: [{buckets}]i64 = replicate [{buckets}] 0
              let counts: [{buckets}]i64 = hist n (xs) \(x: u8) {{
                let i: i64 = convert.u8.i64(x)
                yield i, 1
              }} into [{buckets}] (zeros) by comm (0) \(a: i64, b: i64) {{
                let c2: i64 = add.i64(a, b)
                yield c2
              }}
              yield counts
            }}"#
        );
        agrees(&devices, &text, |n| vec![numbers(ScalarType::U8, n, 3)]);
    }
}

/// The nearest of some numbers: a loop in the body of a reduction that is not one of floats, with choices between
/// floats and between integers, and an operator that keeps order.
#[test]
fn loops_inside_of_reductions() {
    let text = r#"nested
        fun main(n: i64, m: i64, xs: [n]f32, ys: [m]f32) -> (best: [n]i64, digest: i64, last: f32)
          entry "main" sizes 2 -> 0 (xs: []f32, ys: []f32) -> ([]i64, i64, f32)
        {
          let power1: i64, digest1: i64, last1: f32, best1: [n]i64 = map n (xs) \(x: f32) {
            let j: i64, near: f32 = loop (j0: i64 = -1, near0: f32 = 1000000.0f32) for k: i64 < m {
              let y: f32 = index ys[k]
              let d: f32 = sub.f32(x, y)
              let far: f32 = abs.f32(d)
              let closer: bool = lt.f32(far, near0)
              let taken: bool = if closer {
                yield true
              } else {
                let same: bool = eq.f32(far, near0)
                let first: bool = if same {
                  let before: bool = lt.i64(j0, k)
                  yield before
                } else {
                  yield false
                }
                yield first
              }
              let j1: i64, near1: f32 = if taken {
                yield k, far
              } else {
                yield j0, near0
              }
              yield j1, near1
            }
            yield 31, j, near, j
          } reduce (1, 0, 0.0f32) \(f: i64, a: i64, p: f32, g: i64, b: i64, q: f32) {
            let h: i64 = mul.i64(f, g)
            let c: i64 = mul.i64(a, g)
            let e: i64 = add.i64(c, b)
            yield h, e, q
          }
          yield best1, digest1, last1
        }"#;
    let devices = devices();
    for m in [0, 1, 5, 40] {
        agrees(&devices, text, |n| {
            let some = |n: i64, seed: i64| {
                let floats = (0..n).map(|i| (((i + seed) * 7919) % 23) as f32 / 2.0);
                Value::Array(ArrayValue {
                    shape: vec![n],
                    data: Data::F32(floats.collect()),
                })
            };
            vec![some(n, 1), some(m, 40)]
        });
    }
}

/// Sums of indices of which part is fixed in the innermost loop, also those with constants and those that are used
/// several times.
#[test]
fn addresses_are_split() {
    let text = r#"nested
        fun main(n: i64, m: i64, k: i64, xs: [n]i64) -> (q: [m][k]i64)
          entry "main" sizes 1 -> 0 (m: i64, k: i64, xs: []i64) -> ([][]i64)
        {
          let is: [m]i64 = iota.i64 m 0 1
          let js: [k]i64 = iota.i64 k 0 1
          let q1: [m][k]i64 = map m (is) \(i: i64) {
            let row: [k]i64 = map k (js) \(j: i64) {
              let s: i64 = loop (s0: i64 = 0) for l: i64 < 3 {
                let a: i64 = add.i64(i, j)
                let b: i64 = add.i64(a, l)
                let c: i64 = add.i64(b, 2)
                let d: i64 = mod.i64(c, n)
                let x: i64 = index xs[d]
                let e: i64 = add.i64(b, -1)
                let f: i64 = max.i64(e, 0)
                let g: i64 = min.i64(f, 14)
                let y: i64 = index xs[g]
                let z: i64 = index xs[l]
                let t: i64 = mul.i64(x, y)
                let u: i64 = sub.i64(t, z)
                let v: i64 = add.i64(s0, u)
                yield v
              }
              yield s
            }
            yield row
          }
          yield q1
        }"#;
    let devices = devices();
    agrees(&devices, text, |n| {
        let [m, k] = [n, n / 2].map(|n| Value::Scalar(Const::I64(n.min(70))));
        vec![m, k, numbers(ScalarType::I64, 17, n)]
    });
}

/// Functions of which few operands need more keep to the widest registers.
#[test]
fn functions_in_a_loop() {
    let [_, devices @ ..] = devices();
    #[cfg(target_arch = "x86_64")]
    let able = std::is_x86_feature_detected!("avx2") && std::is_x86_feature_detected!("fma");
    #[cfg(not(target_arch = "x86_64"))]
    let able = false;
    for op in ["exp", "cos", "cos_near", "sin_near"] {
        let text = format!(
            r#"plan
fun main(n: i64, m: i64, xs: buffer f32, out: buffer f32) -> ()
{{
  do launch map "k" (i: i64 < n) {{
    let x: f32 = load xs[i]
    let y: f32 = loop (s: f32 = 0.0f32) for k: i64 < m {{
      let t: f32 = convert.i64.f32(k)
      let u: f32 = mul.f32(t, x)
      let v: f32 = {op}.f32(u)
      let w: f32 = add.f32(s, v)
      yield w
    }}
    do store out[i] = y
    yield
  }}
  yield
}}
"#
        );
        let plan = midend::ir::read::program(&text).expect("it is a program");
        let expected = able.then(|| (String::from("k"), None));
        for device in &devices {
            let module = device.compile(&plan).expect("compiles");
            assert_eq!(module.widened().pop(), expected, "{op}");
        }
    }
}

/// A unit that is too large for all optimisations, with a loop and choices in it.
#[test]
fn very_many_operations() {
    let mut steps = String::new();
    for i in 0..6000 {
        let (a, b) = (format!("a{i}"), format!("b{i}"));
        let step = format!(
            r#"let {a}: i64 = mul.i64(x{i}, {odd})
               let {b}: f64 = convert.i64.f64({a})
               let c{i}: f64 = mul.f64({b}, 0.{i}5f64)
               let d{i}: i64 = convert.f64.i64(c{i})
               let e{i}: bool = lt.i64({a}, d{i})
               let f{i}: i64 = if e{i} {{
                 let g{i}: i64 = div.i64({a}, 7)
                 let h{i}: i64 = rem.i64(g{i}, 1001)
                 yield h{i}
               }} else {{
                 let k{i}: i64 = shr.i64(d{i}, 3)
                 yield k{i}
               }}
               let x{next}: i64 = xor.i64(f{i}, x{i})
            "#,
            odd = 2 * i + 1,
            next = i + 1,
        );
        steps.push_str(&step);
    }
    let text = format!(
        r#"nested
        fun main(n: i64, xs: [n]i64) -> (q: [n]i64)
          entry "main" sizes 1 -> 0 (xs: []i64) -> ([]i64)
        {{
          let q1: [n]i64 = map n (xs) \(x: i64) {{
            let y: i64 = loop (x0: i64 = x) for j: i64 < 3 {{
              {steps}
              yield x6000
            }}
            yield y
          }}
          yield q1
        }}"#
    );
    let devices = devices();
    agrees(&devices[..1], &text, |n| {
        vec![numbers(ScalarType::I64, n.min(2), 3)]
    });
}
