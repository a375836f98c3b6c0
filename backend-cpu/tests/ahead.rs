//! Functions of a loop's counter that are computed for several steps at once, in lanes: the same results as those of the interpreter, to
//! the bit, for every number of steps.

mod nested;

use midend::ir::types::ScalarType;
use nested::{devices, numbers, scalar_type};

/// Steps: fewer than are computed for at once, as many, and more.
const STEPS: [i64; 7] = [-1, 0, 1, 15, 16, 17, 50];

fn agrees(text: &str, ty: ScalarType) {
    let found = nested::agrees(&devices(), text, |n| vec![numbers(ty, n, 7)]);
    assert_eq!(found, None, "{text}");
}

#[test]
fn functions_of_the_counter() {
    for ty in ["f32", "f64"] {
        for counter in ["i32", "i64"] {
            for steps in STEPS {
                let bound = if counter == "i64" {
                    steps.to_string()
                } else {
                    format!("{steps}i32")
                };
                let text = format!(
                    r#"nested
                    fun main(n: i64, xs: [n]{ty}) -> (q: [n]{ty})
                      entry "main" sizes 1 -> 0 (xs: []{ty}) -> ([]{ty})
                    {{
                      let q1: [n]{ty} = map n (xs) \(x: {ty}) {{
                        let sum: {ty} = loop (s: {ty} = x) for w: {counter} < {bound} {{
                          let a: {ty} = convert.{counter}.{ty}(w)
                          let b: {ty} = mul.{ty}(a, a)
                          let c: {ty} = cos.{ty}(b)
                          let d: {ty} = exp.{ty}(c)
                          let e: {ty} = mul.{ty}(c, x)
                          let f: {ty} = add.{ty}(d, e)
                          let g: {ty} = mul.{ty}(s, a)
                          let t: {ty} = sub.{ty}(f, g)
                          yield t
                        }}
                        yield sum
                      }}
                      yield q1
                    }}"#
                );
                agrees(&text, scalar_type(ty));
            }
        }
    }
}

/// What is left lane by lane makes integers of floats.
#[test]
fn whole_parts_after_a_loop() {
    let text = r#"nested
        fun main(n: i64, xs: [n]f32) -> (q: [n]f32)
          entry "main" sizes 1 -> 0 (xs: []f32) -> ([]f32)
        {
          let q1: [n]f32 = map n (xs) \(x: f32) {
            let sum: f32 = loop (s: f32 = 0.0f32) for w: i32 < 20i32 {
              let a: f32 = convert.i32.f32(w)
              let b: f32 = sin.f32(a)
              let c: f32 = mul.f32(b, x)
              let d: f32 = cos.f32(c)
              let e: f32 = add.f32(d, 1.0f32)
              let t: f32 = add.f32(s, e)
              yield t
            }
            let whole: f32 = floor.f32(sum)
            let rest: f32 = sub.f32(sum, whole)
            let k: i32 = convert.f32.i32(whole)
            let m: i32 = mod.i32(k, 2i32)
            let even: bool = eq.i32(m, 0i32)
            let y: f32 = if even {
              yield rest
            } else {
              let z: f32 = sub.f32(1.0f32, rest)
              yield z
            }
            yield y
          }
          yield q1
        }"#;
    agrees(text, ScalarType::F32);
}
