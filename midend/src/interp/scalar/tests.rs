//! Edge cases of every scalar operation.

use super::*;
use crate::ir::constant::Scalar;

fn run(op: &str, args: &[Const]) -> Result<Const, ScalarTrap> {
    eval(op.parse().expect("an operation"), args)
}

/// Evaluates `op.ty` for operands of one type and compares bits.
fn check<T: Scalar, R: Scalar>(op: &str, cases: &[(&[T], R)]) {
    for (args, want) in cases {
        let args: Vec<Const> = args.iter().map(|&a| a.into()).collect();
        let got = run(&format!("{op}.{}", T::TYPE), &args).expect("a value");
        assert!(
            same(got, (*want).into()),
            "{op} {args:?} gives {got:?}, not {want:?}"
        );
    }
}

#[test]
fn integer_division() {
    check::<i32, i32>(
        "div",
        &[
            (&[7, 2], 3),
            (&[-7, 2], -4),
            (&[7, -2], -4),
            (&[-7, -2], 3),
            (&[i32::MIN, -1], i32::MIN),
        ],
    );
    check::<i32, i32>(
        "mod",
        &[
            (&[7, 2], 1),
            (&[-7, 2], 1),
            (&[7, -2], -1),
            (&[-7, -2], -1),
            (&[i32::MIN, -1], 0),
            (&[6, -2], 0),
        ],
    );
    check::<i64, i64>(
        "quot",
        &[(&[-7, 2], -3), (&[7, -2], -3), (&[i64::MIN, -1], i64::MIN)],
    );
    check::<i64, i64>(
        "rem",
        &[(&[-7, 2], -1), (&[7, -2], 1), (&[i64::MIN, -1], 0)],
    );
    check::<u8, u8>("div", &[(&[200, 3], 66), (&[255, 255], 1)]);
    check::<u8, u8>("mod", &[(&[200, 3], 2)]);
    check::<u64, u64>("quot", &[(&[u64::MAX, 2], u64::MAX / 2)]);
    check::<i8, i8>(
        "div",
        &[(&[-128, -1], -128), (&[-128, 3], -43), (&[1, -128], -1)],
    );
    for ty in ScalarType::ALL.into_iter().filter(|ty| ty.is_integer()) {
        for op in ["div", "mod", "quot", "rem"] {
            let got = run(&format!("{op}.{ty}"), &[Const::one(ty), Const::zero(ty)]);
            assert_eq!(got, Err(ScalarTrap::DivisionByZero));
        }
    }
}

#[test]
fn integers_wrap() {
    check::<i8, i8>("add", &[(&[127, 1], -128)]);
    check::<u16, u16>("sub", &[(&[0, 1], 65535)]);
    check::<i32, i32>("mul", &[(&[i32::MAX, 2], -2)]);
    check::<i64, i64>("neg", &[(&[i64::MIN], i64::MIN)]);
    check::<u32, u32>("neg", &[(&[1], u32::MAX)]);
    check::<i16, i16>("abs", &[(&[i16::MIN], i16::MIN), (&[-5], 5)]);
    check::<u8, u8>("abs", &[(&[200], 200)]);
    check::<i8, i8>("signum", &[(&[-128], -1), (&[0], 0), (&[9], 1)]);
    check::<u8, u8>("signum", &[(&[200], 1), (&[0], 0)]);
    check::<i32, i32>(
        "pow",
        &[
            (&[3, 4], 81),
            (&[2, 31], i32::MIN),
            (&[0, 0], 1),
            (&[-1, i32::MAX], -1),
            (&[7, 0], 1),
        ],
    );
    check::<u8, u8>("pow", &[(&[2, 200], 0), (&[3, 255], 171)]);
    assert_eq!(
        run("pow.i32", &[2i32.into(), (-1i32).into()]),
        Err(ScalarTrap::NegativeExponent)
    );
}

#[test]
fn bits_of_integers() {
    check::<i32, i32>(
        "shl",
        &[
            (&[1, 32], 1),
            (&[1, 33], 2),
            (&[1, -1], i32::MIN),
            (&[3, 1], 6),
        ],
    );
    check::<i32, i32>(
        "shr",
        &[(&[-8, 1], -4), (&[-8, 33], -4), (&[i32::MIN, 31], -1)],
    );
    check::<u32, u32>("shr", &[(&[0x8000_0000, 31], 1), (&[8, 35], 1)]);
    check::<i8, i8>("shl", &[(&[1, 8], 1), (&[1, 7], -128)]);
    check::<u8, u8>("shr", &[(&[128, 9], 64)]);
    check::<u64, u64>("and", &[(&[12, 10], 8)]);
    check::<u64, u64>("or", &[(&[12, 10], 14)]);
    check::<i16, i16>("xor", &[(&[12, 10], 6)]);
    check::<i16, i16>("not", &[(&[0], -1)]);
    check::<bool, bool>("not", &[(&[true], false)]);
    check::<i8, i32>("popcount", &[(&[-1], 8)]);
    check::<u16, i32>("clz", &[(&[0], 16), (&[1], 15)]);
    check::<i64, i32>("ctz", &[(&[0], 64), (&[8], 3)]);
    check::<i64, i64>("mulhi", &[(&[i64::MAX, 4], 1), (&[-1, 1], -1)]);
    check::<u64, u64>("mulhi", &[(&[u64::MAX, u64::MAX], u64::MAX - 1)]);
    check::<u8, u8>("mulhi", &[(&[255, 255], 254)]);
    check::<u8, u8>("madhi", &[(&[255, 255, 3], 1)]);
    check::<i32, i32>("mad", &[(&[3, 4, 5], 17), (&[i32::MAX, 2, 3], 1)]);
    check::<u8, u8>("min", &[(&[200, 100], 100)]);
    check::<i8, i8>("max", &[(&[-100, 100], 100)]);
}

#[test]
fn truth_values() {
    check::<bool, bool>("and", &[(&[true, false], false), (&[true, true], true)]);
    check::<bool, bool>("or", &[(&[false, false], false), (&[true, false], true)]);
    check::<bool, bool>("xor", &[(&[true, true], false)]);
    check::<bool, bool>("min", &[(&[true, false], false)]);
    check::<bool, bool>("max", &[(&[true, false], true)]);
    check::<bool, bool>("lt", &[(&[false, true], true), (&[true, true], false)]);
    check::<bool, bool>("eq", &[(&[false, true], false)]);
    assert_eq!(
        run("select.i8", &[true.into(), 1i8.into(), 2i8.into()]),
        Ok(1i8.into())
    );
    assert_eq!(
        run("select.f64", &[false.into(), 1f64.into(), 2f64.into()]),
        Ok(2f64.into())
    );
}

#[test]
fn floats_at_the_corners() {
    let (nan, inf) = (f64::NAN, f64::INFINITY);
    check::<f64, f64>(
        "min",
        &[(&[nan, 1.0], 1.0), (&[0.0, -0.0], -0.0), (&[nan, nan], nan)],
    );
    check::<f64, f64>("max", &[(&[1.0, nan], 1.0), (&[-0.0, 0.0], 0.0)]);
    check::<f64, f64>(
        "div",
        &[(&[1.0, 0.0], inf), (&[1.0, -0.0], -inf), (&[0.0, 0.0], nan)],
    );
    check::<f64, f64>("mod", &[(&[-7.0, 3.0], 2.0), (&[5.5, 2.0], 1.5)]);
    check::<f64, f64>(
        "signum",
        &[
            (&[-0.0], -0.0),
            (&[nan], nan),
            (&[-3.0], -1.0),
            (&[inf], 1.0),
        ],
    );
    check::<f64, f64>(
        "round",
        &[
            (&[0.5], 0.0),
            (&[1.5], 2.0),
            (&[-2.5], -2.0),
            (&[-0.2], -0.0),
        ],
    );
    check::<f64, f64>("neg", &[(&[0.0], -0.0)]);
    check::<f64, f64>("abs", &[(&[-0.0], 0.0), (&[-inf], inf)]);
    check::<f64, bool>("isnan", &[(&[nan], true), (&[inf], false)]);
    check::<f32, bool>(
        "isinf",
        &[(&[f32::NEG_INFINITY], true), (&[f32::NAN], false)],
    );
    check::<f64, bool>("eq", &[(&[nan, nan], false), (&[0.0, -0.0], true)]);
    check::<f64, bool>("lt", &[(&[nan, 1.0], false), (&[-inf, inf], true)]);
    check::<f64, bool>("le", &[(&[-0.0, 0.0], true), (&[1.0, nan], false)]);
    check::<f64, f64>(
        "fma",
        &[(&[1e16, 1.0 + f64::EPSILON, -1e16], 1e16 * f64::EPSILON)],
    );
    check::<f64, f64>("mad", &[(&[2.0, 3.0, 4.0], 10.0)]);
    check::<f64, f64>("lerp", &[(&[1.0, 3.0, 0.5], 2.0)]);
    check::<f64, f64>("copysign", &[(&[3.0, -0.0], -3.0)]);
    check::<f32, f32>("rsqrt", &[(&[4.0], 0.5), (&[0.0], f32::INFINITY)]);
    check::<f32, f32>(
        "sqrt",
        &[(&[2.0], std::f32::consts::SQRT_2), (&[-0.0], -0.0)],
    );
}

#[test]
fn binary16_arithmetic() {
    let h = f16::from_f64;
    check::<f16, f16>(
        "add",
        &[
            (&[h(2048.0), h(1.0)], h(2048.0)),
            (&[h(65504.0), h(16.0)], f16::INFINITY),
        ],
    );
    check::<f16, f16>("mul", &[(&[h(3.0), h(683.0)], h(2048.0))]);
    check::<f16, f16>("div", &[(&[h(1.0), h(3.0)], h(0.333_251_953_125))]);
    check::<f16, f16>("mad", &[(&[h(3.0), h(683.0), h(2.0)], h(2050.0))]);
    check::<f16, f16>(
        "fma",
        &[(&[h(3.0), h(683.0), f16::from_bits(1)], h(2050.0))],
    );
    check::<f16, f16>("sqrt", &[(&[h(2.0)], h(1.414_062_5))]);
    check::<f16, bool>("lt", &[(&[h(1.0), h(2.0)], true)]);
}

#[test]
fn conversions() {
    let cases: &[(&str, Const, Const)] = &[
        ("i32.i8", 300i32.into(), 44i8.into()),
        ("i8.u64", (-1i8).into(), u64::MAX.into()),
        ("u8.i64", 255u8.into(), 255i64.into()),
        (
            "u64.f64",
            u64::MAX.into(),
            18_446_744_073_709_551_616f64.into(),
        ),
        (
            "u64.f32",
            u64::MAX.into(),
            18_446_744_073_709_551_616f32.into(),
        ),
        ("i64.f32", 16_777_217i64.into(), 16_777_216f32.into()),
        // Rounding through binary64 first would give the even neighbour below.
        (
            "i64.f32",
            0x4000_0040_0000_0001i64.into(),
            f32::from_bits(0x5e80_0001).into(),
        ),
        ("i64.f16", 2049i64.into(), f16::from_f32(2048.0).into()),
        (
            "f64.f16",
            (1.0 + 2f64.powi(-11) + 2f64.powi(-40)).into(),
            f16::from_bits(0x3c01).into(),
        ),
        ("f64.f32", 1e300f64.into(), f32::INFINITY.into()),
        ("f64.i32", 1e300f64.into(), i32::MAX.into()),
        ("f64.i32", (-1e300f64).into(), i32::MIN.into()),
        ("f64.i32", (-2.9f64).into(), (-2i32).into()),
        ("f64.i64", f64::NAN.into(), 0i64.into()),
        ("f64.i64", f64::NEG_INFINITY.into(), 0i64.into()),
        ("f32.u8", (-1f32).into(), 255u8.into()),
        ("f32.u8", (-300f32).into(), 128u8.into()),
        ("f32.u8", 256f32.into(), 255u8.into()),
        ("f64.u64", (-1e30f64).into(), (1u64 << 63).into()),
        ("f64.u64", 1e30f64.into(), u64::MAX.into()),
        ("f16.i8", f16::INFINITY.into(), 0i8.into()),
        ("f32.bool", f32::NAN.into(), true.into()),
        ("f32.bool", (-0f32).into(), false.into()),
        ("i64.bool", (1i64 << 40).into(), true.into()),
        ("bool.f16", true.into(), f16::ONE.into()),
        ("bool.i8", true.into(), 1i8.into()),
        (
            "f32.f64",
            f32::MIN_POSITIVE.into(),
            f64::from(f32::MIN_POSITIVE).into(),
        ),
    ];
    for &(name, from, to) in cases {
        let got = run(&format!("convert.{name}"), &[from]).expect("a value");
        assert!(
            same(got, to),
            "convert.{name} {from:?} gives {got:?}, not {to:?}"
        );
    }
}

#[test]
fn bits_and_back() {
    assert_eq!(
        run("tobits.f32", &[Const::F32(0xffc1_2345)]),
        Ok(Const::U32(0x7fc0_0000))
    );
    assert_eq!(
        run("tobits.f64", &[1f64.into()]),
        Ok(Const::U64(0x3ff0_0000_0000_0000))
    );
    assert_eq!(
        run("tobits.f16", &[Const::F16(0xfe01)]),
        Ok(Const::U16(0x7e00))
    );
    assert_eq!(
        run("frombits.f32", &[Const::U32(0x3f80_0000)]),
        Ok(1f32.into())
    );
}

#[test]
fn every_operation_gives_a_value_of_its_type() {
    for op in all_operations() {
        let args: Vec<Const> = (0..op.arity()).map(|i| Const::one(op.operand(i))).collect();
        match eval(op, &args) {
            Ok(value) => assert_eq!(value.ty(), op.result(), "{op}"),
            Err(trap) => panic!("{op}: {trap}"),
        }
    }
}

#[test]
fn ill_typed_operands_are_refused() {
    assert_eq!(
        run("add.i32", &[1i64.into(), 1i64.into()]),
        Err(ScalarTrap::IllTyped)
    );
    assert_eq!(run("add.i32", &[1i32.into()]), Err(ScalarTrap::IllTyped));
    assert_eq!(
        run("add.i32", &[1i32.into(), 1i64.into()]),
        Err(ScalarTrap::IllTyped)
    );
    assert_eq!(
        run("frombits.f32", &[1i32.into()]),
        Err(ScalarTrap::IllTyped)
    );
}

#[test]
fn the_page_of_documentation_is_in_step() {
    for (op, args) in table::corners() {
        assert_ne!(run(op, &args), Err(ScalarTrap::IllTyped), "{op} {args:?}");
    }
    let page = table::page();
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/scalar-operations.md");
    if std::env::var_os("ARRC_BLESS").is_some() {
        std::fs::write(path, &page).expect("the page can be written");
    }
    let stored = std::fs::read_to_string(path).unwrap_or_default();
    assert!(
        stored == page,
        "docs/scalar-operations.md is out of step: run with ARRC_BLESS=1"
    );
}
