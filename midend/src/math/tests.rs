//! Values of the typed functions, and that they round once.

use super::code::Definition;
use super::*;
use crate::interp::scalar::convert::convert;
use crate::interp::scalar::{all_operations, eval, is_nan, same};
use crate::ir::id::Id;
use crate::ir::scalar::{BinOp, Const, ScalarOp, UnOp};
use crate::ir::syntax::{Atom, Exp};
use crate::ir::types::ScalarType;
use ::half::f16;

#[test]
fn binary64_to_binary16_rounds_once() {
    // Just above the middle between 1 and the next binary16, by less than binary32 can see.
    let x = 1.0 + 2f64.powi(-11) + 2f64.powi(-40);
    assert_eq!(f64_to_f16(x).to_bits(), 0x3c01);
    assert_eq!(f64_to_f16(1.0 + 2f64.powi(-11)).to_bits(), 0x3c00);
    assert_eq!(
        f64_to_f16(1.0 + 2f64.powi(-11) - 2f64.powi(-40)).to_bits(),
        0x3c00
    );
    assert_eq!(f64_to_f16(65520.0).to_bits(), 0x7c00);
    assert_eq!(f64_to_f16(65_519.999_999_999).to_bits(), 0x7bff);
    assert_eq!(f64_to_f16(1e300).to_bits(), 0x7c00);
    assert_eq!(f64_to_f16(-1e-300).to_bits(), 0x8000);
    // Subnormal: half of the smallest, and a little more.
    assert_eq!(f64_to_f16(2f64.powi(-25)).to_bits(), 0);
    assert_eq!(f64_to_f16(2f64.powi(-25) + 2f64.powi(-70)).to_bits(), 1);
    assert!(f64_to_f16(f64::NAN).is_nan());
    assert_eq!(i64_to_f16(i64::MAX), f16::INFINITY);
    assert_eq!(u64_to_f16(2049), f16::from_f32(2048.0));
}

#[test]
fn binary16_conversion_agrees_with_exhaustive_neighbours() {
    for bits in 0..0x7c00u16 {
        let (low, high) = (f16::from_bits(bits), f16::from_bits(bits + 1));
        assert_eq!(f64_to_f16(low.to_f64()), low);
        if high.is_finite() {
            let middle = (low.to_f64() + high.to_f64()) / 2.0;
            let even = if bits & 1 == 0 { low } else { high };
            assert_eq!(f64_to_f16(middle), even);
            assert_eq!(f64_to_f16(middle * (1.0 + 1e-15)), high);
            assert_eq!(f64_to_f16(middle * (1.0 - 1e-15)), low);
        }
    }
}

#[test]
fn binary16_fma_rounds_once() {
    let h = f16::from_f64;
    // 1 * 1 + a tiny number above the middle of two results that a rounding to nearest would lose.
    let (a, b) = (h(1.0 + 2f64.powi(-10)), h(1.0 + 2f64.powi(-10)));
    // a*b = 1 + 2^-9 + 2^-20
    assert_eq!(f16_fma(a, b, h(0.0)).to_f64(), 1.0 + 2f64.powi(-9));
    // 2048 * 1 + 1 lies in the middle (to even: 2048); a tiny product more goes up.
    assert_eq!(f16_fma(h(2048.0), h(1.0), h(1.0)).to_f64(), 2048.0);
    let tiny = f16::from_bits(1);
    assert_eq!(f16_fma(tiny, tiny, h(1.0)).to_f64(), 1.0);
    assert_eq!(f16_fma(h(3.0), h(683.0), h(0.0)).to_f64(), 2048.0);
    // 3*683 = 2049 is a middle; adding or taking away the smallest number decides.
    assert_eq!(f16_fma(h(3.0), h(683.0), tiny).to_f64(), 2050.0);
    assert_eq!(f16_fma(h(3.0), h(683.0), -tiny).to_f64(), 2048.0);
    assert_eq!(f16_fma(h(-3.0), h(683.0), -tiny).to_f64(), -2050.0);
}

#[test]
fn minima_and_maxima() {
    assert_eq!(f32_min(f32::NAN, 1.0), 1.0);
    assert_eq!(f32_max(1.0, f32::NAN), 1.0);
    assert!(f64_min(f64::NAN, f64::NAN).is_nan());
    assert!(f64_min(0.0, -0.0).is_sign_negative());
    assert!(f64_min(-0.0, 0.0).is_sign_negative());
    assert!(f64_max(-0.0, 0.0).is_sign_positive());
    assert!(f64_max(0.0, -0.0).is_sign_positive());
    assert_eq!(f16_max(f16::ONE, f16::NAN), f16::ONE);
}

#[test]
fn remainders() {
    assert_eq!(f64_mod(-7.0, 3.0), 2.0);
    assert_eq!(f64_mod(7.0, -3.0), -2.0);
    assert_eq!(f64_rem(-7.0, 3.0), -1.0);
    assert_eq!(f32_mod(6.0, -3.0).to_bits(), (-0.0f32).to_bits());
    assert_eq!(f32_mod(1.0, f32::INFINITY), 1.0);
    assert!(f32_mod(1.0, 0.0).is_nan());
    assert_eq!(
        f16_mod(f16::from_f32(-1.0), f16::from_f32(3.0)),
        f16::from_f32(2.0)
    );
}

#[test]
fn stepping() {
    let h = f16::from_f64;
    assert_eq!(f16_nextafter(h(0.0), h(-1.0)).to_bits(), 0x8001);
    assert_eq!(f16_nextafter(h(1.0), h(2.0)).to_bits(), 0x3c01);
    assert_eq!(f16_nextafter(h(-1.0), h(2.0)).to_bits(), 0xbbff);
    assert_eq!(f16_nextafter(h(1.0), h(1.0)), h(1.0));
    assert_eq!(f64_nextafter(1.0, 2.0), 1.0 + f64::EPSILON);
}

/// An operation of the library on binary64, evaluated.
fn double(name: &str, args: &[f64]) -> f64 {
    let args: Vec<Const> = args.iter().map(|x| Const::f64(*x)).collect();
    match eval(operation(name, ScalarType::F64), &args) {
        Ok(Const::F64(bits)) => f64::from_bits(bits),
        other => panic!("{name} gave {other:?}"),
    }
}

/// An operation of the library on binary16, evaluated.
fn short(name: &str, args: &[f32]) -> f16 {
    let args: Vec<Const> = args.iter().map(|x| Const::f16(f16::from_f32(*x))).collect();
    match eval(operation(name, ScalarType::F16), &args) {
        Ok(Const::F16(bits)) => f16::from_bits(bits),
        other => panic!("{name} gave {other:?}"),
    }
}

fn operation(name: &str, ty: ScalarType) -> ScalarOp {
    match UnOp::from_name(name) {
        Some(op) => ScalarOp::Un(op, ty),
        None => ScalarOp::Bin(BinOp::from_name(name).expect("an operation"), ty),
    }
}

/// What IEEE 754 and C99 (annex F) say of zeros, infinities and exact cases: operation, operands, result.
const SPECIAL: &[(&str, &[f64], f64)] = &[
    ("exp", &[0.0], 1.0),
    ("exp", &[-INF], 0.0),
    ("exp", &[INF], INF),
    ("exp", &[710.0], INF),
    ("exp", &[-746.0], 0.0),
    ("log", &[1.0], 0.0),
    ("log", &[0.0], -INF),
    ("log", &[-0.0], -INF),
    ("log", &[-1.0], NAN),
    ("log", &[INF], INF),
    ("log2", &[8.0], 3.0),
    ("log2", &[5e-324], -1074.0),
    ("log10", &[1000.0], 3.0),
    ("log10", &[1e22], 22.0),
    ("log1p", &[-0.0], -0.0),
    ("log1p", &[-1.0], -INF),
    ("log1p", &[-1.5], NAN),
    ("log1p", &[INF], INF),
    ("sin", &[-0.0], -0.0),
    ("sin", &[INF], NAN),
    ("cos", &[0.0], 1.0),
    ("tan", &[-0.0], -0.0),
    ("sinpi", &[1.0], 0.0),
    ("sinpi", &[-1.0], -0.0),
    ("sinpi", &[0.5], 1.0),
    ("sinpi", &[1.5], -1.0),
    ("sinpi", &[-0.5], -1.0),
    ("sinpi", &[1e300], 0.0),
    ("sinpi", &[INF], NAN),
    ("cospi", &[0.5], 0.0),
    ("cospi", &[1.0], -1.0),
    ("cospi", &[1e300], 1.0),
    ("tanpi", &[0.25], 1.0),
    ("tanpi", &[0.75], -1.0),
    ("tanpi", &[0.5], INF),
    ("tanpi", &[-0.5], -INF),
    ("asin", &[-0.0], -0.0),
    ("asin", &[1.5], NAN),
    ("acos", &[1.0], 0.0),
    ("acos", &[-1.5], NAN),
    ("atan", &[-0.0], -0.0),
    ("atan", &[INF], std::f64::consts::FRAC_PI_2),
    ("asinpi", &[1.0], 0.5),
    ("acospi", &[-1.0], 1.0),
    ("atanpi", &[1.0], 0.25),
    ("atan2", &[0.0, 0.0], 0.0),
    ("atan2", &[-0.0, 0.0], -0.0),
    ("atan2", &[0.0, -0.0], std::f64::consts::PI),
    ("atan2", &[-0.0, -1.0], -std::f64::consts::PI),
    ("atan2", &[INF, INF], std::f64::consts::FRAC_PI_4),
    ("atan2", &[1.0, INF], 0.0),
    ("atan2", &[NAN, 1.0], NAN),
    ("atan2pi", &[1.0, -1.0], 0.75),
    ("atan2pi", &[-INF, -INF], -0.75),
    ("sinh", &[-0.0], -0.0),
    ("sinh", &[-INF], -INF),
    ("cosh", &[0.0], 1.0),
    ("cosh", &[-INF], INF),
    ("tanh", &[-0.0], -0.0),
    ("tanh", &[-INF], -1.0),
    ("asinh", &[-0.0], -0.0),
    ("asinh", &[-INF], -INF),
    ("acosh", &[1.0], 0.0),
    ("acosh", &[0.5], NAN),
    ("acosh", &[INF], INF),
    ("atanh", &[-0.0], -0.0),
    ("atanh", &[-1.0], -INF),
    ("atanh", &[2.0], NAN),
    ("cbrt", &[27.0], 3.0),
    ("cbrt", &[-0.0], -0.0),
    ("cbrt", &[-INF], -INF),
    ("hypot", &[3.0, 4.0], 5.0),
    ("hypot", &[0.0, -0.0], 0.0),
    ("hypot", &[NAN, -INF], INF),
    ("hypot", &[1.5e308, 1.5e308], INF),
    ("erf", &[-0.0], -0.0),
    ("erf", &[-INF], -1.0),
    ("erfc", &[INF], 0.0),
    ("erfc", &[-INF], 2.0),
    ("gamma", &[5.0], 24.0),
    ("gamma", &[-0.0], -INF),
    ("gamma", &[-2.0], NAN),
    ("gamma", &[-INF], NAN),
    ("gamma", &[INF], INF),
    ("gamma", &[172.0], INF),
    ("gamma", &[-190.5], -0.0),
    ("lgamma", &[1.0], 0.0),
    ("lgamma", &[2.0], 0.0),
    ("lgamma", &[-2.0], INF),
    ("lgamma", &[-INF], INF),
    ("lgamma", &[1e306], INF),
    ("pow", &[2.0, 10.0], 1024.0),
    ("pow", &[NAN, 0.0], 1.0),
    ("pow", &[1.0, NAN], 1.0),
    ("pow", &[-1.0, INF], 1.0),
    ("pow", &[-8.0, 3.0], -512.0),
    ("pow", &[-8.0, 0.5], NAN),
    ("pow", &[-0.0, 3.0], -0.0),
    ("pow", &[-0.0, -3.0], -INF),
    ("pow", &[-0.0, -2.0], INF),
    ("pow", &[-0.0, 2.5], 0.0),
    ("pow", &[-INF, 3.0], -INF),
    ("pow", &[-INF, -3.0], -0.0),
    ("pow", &[-INF, 0.5], INF),
    ("pow", &[0.5, -INF], INF),
    ("pow", &[2.0, -1074.0], 5e-324),
    ("ldexp", &[1.0, 3.0], 8.0),
    ("ldexp", &[5e-324, 2097.9], 8.98846567431158e307),
    ("ldexp", &[1.5, -1075.0], 5e-324),
    ("ldexp", &[1.0, 1e300], INF),
    ("ldexp", &[1.0, NAN], 1.0),
    ("ldexp", &[-0.0, 5.0], -0.0),
];
const INF: f64 = f64::INFINITY;
const NAN: f64 = f64::NAN;

#[test]
fn special_operands() {
    for (name, args, expected) in SPECIAL {
        let result = double(name, args);
        let same = result.to_bits() == expected.to_bits() || (result.is_nan() && expected.is_nan());
        assert!(same, "{name} {args:?} is {result}, not {expected}");
    }
}

/// Zeros, infinities, ones and NaNs of binary32 are those of binary64.
#[test]
fn special_operands_of_binary32() {
    for (name, args, expected) in SPECIAL {
        let short = |x: f64| Const::f32(x as f32);
        let is_short = |x: f64| f64::from(x as f32).to_bits() == x.to_bits() || x.is_nan();
        if !args.iter().all(|x| is_short(*x)) || !is_short(*expected) {
            continue;
        }
        let args: Vec<Const> = args.iter().map(|x| short(*x)).collect();
        let op = operation(name, ScalarType::F32);
        if *name == "ldexp" || op.arity() != args.len() {
            continue;
        }
        let result = eval(op, &args).expect("a value");
        assert!(
            same(result, short(*expected)),
            "{name} {args:?} is {result:?}, not {expected}"
        );
    }
}

#[test]
fn a_nan_goes_through() {
    for op in library() {
        let args = vec![Const::f64(NAN); op.arity()];
        let is_ldexp = matches!(op, ScalarOp::Bin(BinOp::Ldexp, _));
        if op.operand(0) == ScalarType::F64 {
            assert!(
                is_nan(eval(op, &args).expect("a value")) || is_ldexp,
                "{op}"
            );
        }
    }
}

/// Every operation with a definition.
fn library() -> impl Iterator<Item = ScalarOp> {
    all_operations()
        .into_iter()
        .filter(|op| definition(*op).is_some())
}

#[test]
fn definitions_are_well_formed_and_evaluated_as_what_they_say() {
    let inputs = [
        0.0, -0.0, 0.3, -0.7, 1.0, 2.5, -3.25, 17.0, 1e-30, 1e20, -1e300, INF, NAN,
    ];
    for op in library() {
        let Some(definition) = definition(op) else {
            continue;
        };
        for x in inputs {
            for y in [0.5, -2.0, 3.0] {
                let args: Vec<Const> = [x, y][..op.arity()]
                    .iter()
                    .map(|x| convert(op.operand(0), Const::f64(*x)))
                    .collect();
                let expected = step_by_step(definition, &args);
                let result = eval(op, &args).expect("a value");
                assert!(
                    same(result, expected),
                    "{op} of {args:?}: {result:?} {expected:?}"
                );
            }
        }
    }
}

/// A definition evaluated statement by statement.
fn step_by_step(definition: &Definition, args: &[Const]) -> Const {
    let mut values: Vec<Option<Const>> = vec![None; definition.vars.len()];
    for (param, arg) in definition.params.iter().zip(args) {
        values[param.index()] = Some(*arg);
    }
    let value = |values: &[Option<Const>], atom: &Atom| match atom {
        Atom::Const(c) => *c,
        Atom::Var(v) => values[v.index()].expect("bound before its use"),
    };
    for stm in &definition.body.stms {
        let Exp::Scalar(op, operands) = &stm.exp else {
            panic!("a definition with {:?}", stm.exp);
        };
        let operands: Vec<Const> = operands.iter().map(|a| value(&values, a)).collect();
        values[stm.binds[0].index()] = Some(eval(*op, &operands).expect("well-typed"));
    }
    match &definition.rare {
        Some(rare) if values[rare.cond.index()] == Some(Const::Bool(true)) => {
            step_by_step(&rare.definition, args)
        }
        Some(_) | None => value(&values, &definition.body.result[0]),
    }
}

#[test]
fn ways_with_branches_give_the_same_bits() {
    let mut found = 0;
    for op in library() {
        let Some(definition) = definition(op) else {
            continue;
        };
        let Some(branching) = &definition.branching else {
            continue;
        };
        found += 1;
        assert_eq!(
            op.operand(0),
            ScalarType::F32,
            "{op}: such operands are tried"
        );
        // The ends of what is ordinary, and all exponents.
        let ends = [
            87f32,
            -87.0,
            f32::MIN_POSITIVE,
            f32::INFINITY,
            0.0,
            f32::NAN,
        ];
        let near = ends.map(|x| (-2..3).map(move |d| x.to_bits().wrapping_add_signed(d)));
        let all = (0..u32::MAX / 49_999).map(|i| 49_999 * i);
        let seconds = [2.0, -1.0, 1.0, 0.0, 0.5, 3.0, -7.25, 100.0, 1e9];
        for (i, bits) in near.into_iter().flatten().chain(all).enumerate() {
            let second = match i % 2 {
                0 => seconds[i / 2 % seconds.len()],
                // The result is within the range of normal numbers, or just beyond it.
                _ => ((i % 203) as f32 - 101.0) / f32::from_bits(bits).abs().ln(),
            };
            let x = &[Const::F32(bits), Const::f32(second)][..op.arity()];
            let (a, b) = (step_by_step(definition, x), step_by_step(branching, x));
            assert!(same(a, b), "{op} of {x:?}: {a:?} {b:?}");
        }
    }
    assert!(found >= 3, "functions have ways with branches");
}

/// How many floats there are between two numbers of one type, both of them among them but for one.
fn steps(a: Const, b: Const) -> u64 {
    match (a, b) {
        (Const::F32(a), Const::F32(b)) => {
            let place = |x: u32| i64::from((x << 1) >> 1) * if x >> 31 == 0 { 1 } else { -1 };
            place(a).abs_diff(place(b))
        }
        (Const::F64(a), Const::F64(b)) => {
            let place = |x: u64| (x << 1 >> 1) as i64 * if x >> 63 == 0 { 1 } else { -1 };
            place(a).abs_diff(place(b))
        }
        (a, b) => panic!("{a:?} and {b:?} are not floats of one type"),
    }
}

#[test]
fn what_stands_for_functions_with_fast_math_is_near() {
    let mut angles: Vec<Const> = (0..u32::MAX / 9973).map(|i| Const::F32(9973 * i)).collect();
    for k in 0..30_000 {
        let quarter = f64::from(k) * std::f64::consts::FRAC_PI_2;
        for off in [-1e-3, -1e-9, 0.0, 1e-9, 0.7] {
            angles.push(Const::f32((quarter + off) as f32));
            angles.push(Const::f64(quarter + off));
            angles.push(Const::f64((quarter + off) * -30_011.0));
        }
    }
    // Large ones that are reduced in the quick way.
    for bits in (65_536f32.to_bits()..262_144f32.to_bits()).step_by(997) {
        angles.push(Const::f32(f32::from_bits(bits)));
    }
    let mut bits = 1u64;
    for _ in 0..300_000 {
        bits = bits.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        angles.push(Const::F64(bits));
    }
    let pairs = [
        (UnOp::Sin, UnOp::SinNear),
        (UnOp::Cos, UnOp::CosNear),
        (UnOp::Exp, UnOp::ExpNear),
        (UnOp::Sqrt, UnOp::SqrtNear),
        (UnOp::Rsqrt, UnOp::RsqrtNear),
    ];
    let mut worst = 0;
    for angle in angles {
        for (exact, near) in pairs {
            let value = |op| eval(ScalarOp::Un(op, angle.ty()), &[angle]).expect("a value");
            let (exact, found) = (value(exact), value(near));
            if !same(exact, found) {
                let off = steps(exact, found);
                // The exact one is off, too, by less than one unit.
                assert!(
                    off <= 3,
                    "{} of {angle:?}: {found:?}, {exact:?}",
                    near.name()
                );
                worst = worst.max(off);
            }
        }
    }
    assert!(worst > 0, "they are other functions");
    for zero in [0.0, -0.0] {
        let near = eval(
            ScalarOp::Un(UnOp::SinNear, ScalarType::F32),
            &[Const::f32(zero)],
        );
        assert_eq!(near, Ok(Const::f32(zero)));
    }
}

#[test]
fn binary16_is_rounded_once_from_binary32() {
    assert_eq!(short("pow", &[2.0, -1.0]), f16::from_f32(0.5));
    assert_eq!(short("sinpi", &[0.5]), f16::ONE);
    assert_eq!(short("ldexp", &[1.0, -24.0]).to_bits(), 1);
    assert_eq!(short("ldexp", &[1.5, -25.0]).to_bits(), 1);
    assert_eq!(short("ldexp", &[1.0, 16.0]), f16::INFINITY);
}

/// Powers that binary32 holds, and square roots of squares.
#[test]
fn whole_powers_of_binary32_are_exact() {
    let op = operation("pow", ScalarType::F32);
    let check = |x: f32, y: f32, expected: f32| {
        let power = eval(op, &[Const::f32(x), Const::f32(y)]);
        assert_eq!(power, Ok(Const::f32(expected)), "{x} ** {y}");
    };
    for base in 2..4096i32 {
        let mut power = f64::from(base);
        for exponent in 2..24u8 {
            power *= f64::from(base);
            if power > f64::from(1 << 24) {
                break;
            }
            check(base as f32, f32::from(exponent), power as f32);
            check(
                -base as f32,
                f32::from(exponent),
                if exponent % 2 == 0 { power } else { -power } as f32,
            );
        }
        check((base * base) as f32, 0.5, base as f32);
    }
}

/// The simplifier takes the number for its power of one, and one for its power of zero.
#[test]
fn powers_of_one_and_zero_are_exact() {
    let mut state = 1u64;
    for i in 0..100_000u64 {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(i | 1);
        // All exponents, and subnormal numbers by themselves.
        let bits = if i % 4 == 0 { state >> 12 } else { state };
        let x = f64::from_bits(bits);
        if !x.is_nan() {
            assert_eq!(double("pow", &[x, 1.0]).to_bits(), x.to_bits(), "{x:e}");
            assert_eq!(double("pow", &[x, 0.0]).to_bits(), 1f64.to_bits());
        }
        let x = f32::from_bits((bits >> 32) as u32);
        let op = operation("pow", ScalarType::F32);
        if !x.is_nan() {
            let power = eval(op, &[Const::f32(x), Const::f32(1.0)]);
            assert_eq!(power, Ok(Const::f32(x)));
        }
    }
    for bits in 0..=u16::MAX {
        let x = f16::from_bits(bits);
        if !x.is_nan() {
            assert_eq!(short("pow", &[x.to_f32(), 1.0]).to_bits(), bits);
        }
    }
}
