//! Resolved code and blocks of elements do what the definitions say.

use super::*;
use crate::interp::code::ops::{Resolved, resolve};
use crate::interp::scalar::{all_operations, eval, same};
use crate::ir::types::ScalarType;

/// Words that are interesting in some type.
const WORDS: [u64; 14] = [
    0,
    1,
    2,
    7,
    0x80,
    0x7fff_ffff,
    0x8000_0000,
    0xffff_ffff,
    0x3fc0_0000,
    0x7fc0_0000,
    0x4004_0000_0000_0000,
    0x7ff8_0000_0000_0000,
    0x8000_0000_0000_0000,
    u64::MAX,
];

fn samples(ty: ScalarType) -> Vec<Const> {
    WORDS.map(|word| Const::from_word(ty, word)).to_vec()
}

#[test]
fn words_are_the_bits_of_constants() {
    for ty in ScalarType::ALL {
        for c in samples(ty) {
            assert_eq!(c.ty(), ty);
            assert_eq!(Const::from_word(ty, c.word()), c);
            let above = if ty.bytes() < 8 {
                c.word() >> (8 * ty.bytes())
            } else {
                0
            };
            assert_eq!(above, 0, "{c:?}");
        }
    }
}

#[test]
fn resolved_operations_are_the_defined_ones() {
    for op in all_operations() {
        let resolved = resolve(op).expect("the operation exists");
        let firsts = samples(op.operand(0));
        let seconds = if op.arity() > 1 {
            samples(op.operand(1))
        } else {
            vec![Const::Bool(false)]
        };
        for &a in &firsts {
            for &b in &seconds {
                let (x, y, mut column) = (a.word(), b.word(), [0; 3]);
                let one = match resolved {
                    Resolved::Unary(f) => {
                        (f.many)(&[x; 3], &mut column);
                        Some((f.one)(x))
                    }
                    Resolved::Binary(f) => {
                        (f.many)(&[x; 3], &[y; 3], &mut column);
                        Some((f.one)(x, y))
                    }
                    Resolved::Partial(f) => {
                        column = [f(x, y).unwrap_or(0); 3];
                        f(x, y)
                    }
                    Resolved::Select | Resolved::Defined => continue,
                };
                let expected = eval(op, &[a, b][..op.arity()]).ok();
                let found = one.map(|word| Const::from_word(op.result(), word));
                let agree = match (found, expected) {
                    (Some(found), Some(expected)) => same(found, expected),
                    (None, None) => true,
                    (Some(_), None) | (None, Some(_)) => false,
                };
                assert!(agree, "{op} of {a:?}, {b:?}: {found:?}, {expected:?}");
                let alike = |word| {
                    same(
                        Const::from_word(op.result(), word),
                        found.unwrap_or(Const::Bool(false)),
                    )
                };
                assert!(
                    one.is_none() || column.into_iter().all(alike),
                    "{op} of {a:?}, {b:?}"
                );
            }
        }
    }
}

#[test]
fn a_loop_may_exchange_what_it_carries() {
    let text = r#"nested
        fun main(n: i64, xs: [n]i64) -> (r: i64, s: i64, t: [n]i64)
          entry "main" sizes 1 -> 0 (xs: []i64) -> (i64, i64, []i64)
        {
          let ys: [n]i64 = iota.i64 n 10 1
          let a: i64, b: i64, us: [n]i64, vs: [n]i64 = loop (c: i64 = 1, d: i64 = 2, ps: [n]i64 = xs, qs: [n]i64 = ys) for i: i64 < 3 {
            yield d, c, qs, ps
          }
          yield a, b, us
        }"#;
    assert_eq!(
        nested(text, vec![vector(&[5, 6])]),
        Ok(vec![int(2), int(1), vector(&[10, 11])])
    );
}

#[test]
fn a_loop_that_updates_one_element_at_a_time_keeps_what_it_started_from() {
    let text = r#"nested
        fun main(n: i64, xs: [n]i64) -> (r: [n]i64, s: [n]i64)
          entry "main" sizes 1 -> 0 (xs: []i64) -> ([]i64, []i64)
        {
          let ys: [n]i64 = copy xs
          let zs: [n]i64 = loop (ps: [n]i64 = ys) for i: i64 < n {
            let x: i64 = index ps [i]
            let big: bool = lt.i64(2, x)
            let qs: [n]i64 = if big {
              let rs: [n]i64 = update ps [i] = 0
              yield rs
            } else { yield ps }
            let us: [n]i64 = update qs [0] = i
            yield us
          }
          yield zs, xs
        }"#;
    assert_eq!(
        nested(text, vec![vector(&[1, 2, 3, 4, 5])]),
        Ok(vec![vector(&[4, 2, 0, 0, 0]), vector(&[1, 2, 3, 4, 5])])
    );
}

/// A map, a scan, and two reductions in one traversal; the check fails for multiples of `bad` and for indices outside.
const TRAVERSAL: &str = r#"nested
    fun main(n: i64, m: i64, xs: [n]i64, ys: [m]f32, bad: i64) -> (s: [n]i64, t: f64, u: i64, v: [n]f32, w: [n]bool)
      entry "main" sizes 2 -> 0 (xs: []i64, ys: []f32, bad: i64) -> ([]i64, f64, i64, []f32, []bool)
    {
      let s2: [n]i64, t2: f64, u2: i64, v2: [n]f32, w2: [n]bool = map n (xs) \(x: i64) {
        let rest: i64 = mod.i64(x, bad)
        let fine: bool = lt.i64(0, rest)
        let ok: cert = assert fine other ("multiple ", x) @1
        let low: bool = lt.i64(x, m)
        let ok2: cert = assert low bounds ("index ", x) @2
        let y: f32 = <ok, ok2> index ys [x]
        let z: f64 = convert.f32.f64(y)
        let half: f64 = mul.f64(z, 0.5f64)
        let even: i64 = and.i64(x, 1)
        let odd: bool = eq.i64(even, 1)
        let pick: f32 = select.f32(odd, y, 1.5f32)
        yield x, half, x, pick, odd
      } scan (0) \(a: i64, b: i64) {
        let c: i64 = add.i64(a, b)
        yield c
      } reduce (0.0f64) \(d: f64, e: f64) {
        let f: f64 = add.f64(d, e)
        yield f
      } reduce (1) \(g: i64, h: i64) {
        let k: i64 = mul.i64(g, 31)
        let l: i64 = add.i64(k, h)
        yield l
      }
      yield s2, t2, u2, v2, w2
    }
    span 1 "map.fut" 1:1..1:9
    span 2 "map.fut" 2:1..2:9
    "#;

fn floats(data: Vec<f32>) -> Value {
    Value::Array(ArrayValue {
        shape: vec![data.len() as i64],
        data: Data::F32(data),
    })
}

#[test]
fn blocks_of_elements_give_what_elements_give() {
    for n in [0, 1, 7, 8, 9, 255, 256, 257, 512, 700] {
        let xs: Vec<i64> = (0..n).map(|i| 1 + i * 7 % 1000).collect();
        let ys: Vec<f32> = (0..1001).map(|i| i as f32 * 0.25).collect();
        let value = |x: i64| ys[x as usize];
        let scan = |sum: &mut i64, x: &i64| {
            *sum += x;
            Some(*sum)
        };
        let sums: Vec<i64> = xs.iter().scan(0, scan).collect();
        let total: f64 = xs.iter().fold(0.0, |t, &x| t + f64::from(value(x)) * 0.5);
        let hash = xs
            .iter()
            .fold(1_i64, |h, x| h.wrapping_mul(31).wrapping_add(*x));
        let odd: Vec<bool> = xs.iter().map(|x| x % 2 == 1).collect();
        let picked = xs.iter().zip(&odd);
        let picked = picked.map(|(&x, odd)| if *odd { value(x) } else { 1.5 });
        let expected = vec![
            vector(&sums),
            Value::Scalar(Const::f64(total)),
            int(hash),
            floats(picked.collect()),
            Value::Array(ArrayValue {
                shape: vec![n],
                data: Data::Bool(odd),
            }),
        ];
        let args = vec![vector(&xs), floats(ys), int(5000)];
        assert_eq!(nested(TRAVERSAL, args), Ok(expected), "{n} elements");
    }
}

#[test]
fn the_first_element_that_fails_is_reported() {
    let failure = |late: &[(usize, i64)]| {
        let mut xs = vec![1; 600];
        for &(i, x) in late {
            xs[i] = x;
        }
        let args = vec![vector(&xs), floats(vec![0.0; 50]), int(40)];
        nested(TRAVERSAL, args).expect_err("a failure").to_string()
    };
    // The first check fails later than the second one, in the same block.
    assert_eq!(
        failure(&[(300, 51), (310, 40)]),
        "Error: index 51\n  at map.fut:2:1"
    );
    assert_eq!(
        failure(&[(310, 51), (300, 80), (301, 40)]),
        "Error: multiple 80\n  at map.fut:1:1"
    );
    assert_eq!(failure(&[(599, 60)]), "Error: index 60\n  at map.fut:2:1");
}

#[test]
fn blocks_spend_fuel() {
    let args = || vec![vector(&[1; 1000]), floats(vec![0.0; 50]), int(40)];
    let spend = |fuel| {
        let options = Options {
            fuel: Some(fuel),
            ..Options::default()
        };
        with(TRAVERSAL, args(), &options).map(|_| ())
    };
    assert_eq!(spend(1_000_000), Ok(()));
    // Twelve for each element, and seven for its operators.
    assert_eq!(spend(10_000), Err(RunError::OutOfFuel));
}

#[test]
fn what_is_not_well_typed_fails_where_it_is_reached() {
    let text = r#"nested
        fun main(x: i64) -> (r: i64)
          entry "main" sizes 0 -> 0 (x: i64) -> (i64)
        {
          let c: bool = lt.i64(x, 10)
          let y: i64 = if c { yield 1 } else {
            let z: i64 = add.i64(x, 1i32)
            yield z
          }
          yield y
        }"#;
    assert_eq!(nested(text, vec![int(9)]), Ok(vec![int(1)]));
    let error = nested(text, vec![int(10)]).expect_err("an error");
    assert!(
        matches!(&error, RunError::Internal(why) if why.contains("other types")),
        "{error}"
    );
}
