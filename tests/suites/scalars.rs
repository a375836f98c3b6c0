//! The scalar functions: their error on a sample, that the CPU gives the interpreter's bits, and that the page about
//! them names them all. The errors on the page are measured by `cargo run --release -p arrc-tests --bin accuracy`.

use arrc::session::{Options, Session};
use arrc_tests::accuracy::{
    Bits, FORMATS, Judge, constant, measured, name, of_type, operand, page_rows, program, second,
    value,
};
use arrc_tests::oracle::{ulps, unary};
use midend::interp::scalar::convert::convert;
use midend::interp::scalar::{eval, same};
use midend::ir::scalar::{BinOp, Const, ScalarOp, UnOp};
use midend::ir::types::ScalarType;
use midend::math::library::{bound, functions};
use midend::value::{ArrayValue, Data, Value};

/// Operands tried of each function and type.
const SAMPLE: usize = 400;

#[test]
fn errors_are_within_their_bounds() {
    for (op, bound) in measured() {
        for ty in FORMATS {
            let op = of_type(op, ty);
            let judge = Judge::of(op);
            let mut bits = Bits(7);
            for _ in 0..SAMPLE {
                let x = operand(&mut bits, ty);
                let mut args = vec![x];
                if op.arity() == 2 {
                    args.push(second(op, x, &mut bits));
                }
                let constants: Vec<Const> = args.iter().map(|x| constant(ty, *x)).collect();
                let result = value(eval(op, &constants).expect("a value"));
                if let Some(error) = judge.error(&args, result) {
                    assert!(error <= bound, "{op} of {args:?} is {result}: {error} ulps");
                }
            }
        }
    }
}

/// Angles beyond the reduction by pi/2 in three parts, with sine, cosine and tangent rounded (from MPFR), among them
/// the binary64 that is closest to a multiple of pi/2.
#[test]
fn huge_angles() {
    let table = include_str!("scalars/angles.txt");
    let mut rows = 0;
    for line in table.lines().filter(|l| !l.starts_with('#')) {
        let bits: Vec<u64> = line
            .split_whitespace()
            .map(|word| u64::from_str_radix(word, 16).expect("bits in base 16"))
            .collect();
        for (op, exact) in [UnOp::Sin, UnOp::Cos, UnOp::Tan]
            .into_iter()
            .zip(&bits[1..])
        {
            let op = ScalarOp::Un(op, ScalarType::F64);
            let result = value(eval(op, &[Const::F64(bits[0])]).expect("a value"));
            let off = result.to_bits().abs_diff(*exact);
            assert!(off <= 1, "{op} of {}: {result}", f64::from_bits(bits[0]));
        }
        rows += 1;
    }
    assert!(rows >= 60, "the table has {rows} rows");
}

/// The oracle against values that are known to 30 digits.
#[test]
fn the_oracle_is_right() {
    for (name, x, high, low) in [
        ("exp", 1.0, std::f64::consts::E, 1.4456468917292502e-16),
        (
            "log",
            10.0,
            std::f64::consts::LN_10,
            -2.1707562233822494e-16,
        ),
        ("sin", 1.0, 0.8414709848078965, 1.776845092935536e-18),
        ("atan", 3.0, 1.2490457723982544, -2.196203799612311e-18),
        ("erf", 1.0, 0.8427007929497149, -2.4801011789118602e-17),
        ("erfc", 3.0, 2.209049699858544e-5, 1.5563377960343457e-22),
        ("gamma", 0.25, 3.625609908221908, 1.0555907647086408e-16),
        ("lgamma", 10.5, 13.940625219403763, 2.0916364919946416e-16),
        ("asinh", 0.5, 0.48121182505960347, -2.3257817013462736e-17),
    ] {
        let exact = unary(name, x).expect("a value");
        let value = exact.0.scale(exact.1);
        let error = (value - high).0 - low;
        assert!(error.abs() < 1e-26 * high.abs(), "{name} {x}: {value:?}");
        assert!(ulps(high, exact, 53, -1074) <= 0.5001, "{name}");
    }
}

/// Operands in which each function has something to decide, and some others.
fn operands(ty: ScalarType) -> Vec<Const> {
    let mut bits = Bits(99);
    let mut all: Vec<f64> = (0..150).map(|_| operand(&mut bits, ty)).collect();
    for x in [
        0.0,
        0.5,
        1.0,
        2.0,
        3.0,
        1e9,
        3e9,
        1e300,
        5e-324,
        1e-310,
        f64::INFINITY,
    ] {
        all.extend([x, -x]);
    }
    all.push(f64::NAN);
    all.iter().map(|x| constant(ty, *x)).collect()
}

fn array(ty: ScalarType, values: &[Const]) -> Value {
    let mut data = Data::zeros(ty, values.len());
    for (i, value) in values.iter().enumerate() {
        data.set(i, *value);
    }
    Value::Array(ArrayValue {
        shape: vec![values.len() as i64],
        data,
    })
}

/// In vectors (the map) and one by one (the map with a branch around it).
#[test]
fn the_cpu_gives_the_bits_of_the_interpreter() {
    let session = Session::new(Options::default()).expect("a session");
    for ty in FORMATS {
        let ops = functions(ty);
        let compiled = session
            .compile("functions.fut", &program(&ops))
            .expect("compiles");
        let first = operands(ty);
        let mut others = first.clone();
        others.rotate_left(37);
        for op in ops {
            let mut others = others.clone();
            if op == ScalarOp::Bin(BinOp::Ldexp, ty) {
                // The source's exponent is an integer.
                let whole = |x: &Const| convert(ty, convert(ScalarType::I32, *x));
                others = others.iter().map(whole).collect();
            }
            let expected: Vec<Const> = first
                .iter()
                .zip(&others)
                .map(|(x, y)| eval(op, &[*x, *y][..op.arity()]).expect("a value"))
                .collect();
            let args = [array(ty, &first), array(ty, &others)];
            for way in ["lanes", "alone"] {
                let entry = format!("{way}_{}", name(op));
                let result = compiled
                    .call(&entry, args[..op.arity()].to_vec())
                    .unwrap_or_else(|e| panic!("{entry}: {e}"));
                let Value::Array(result) = &result[0] else {
                    panic!("{entry} gave no array");
                };
                for (i, exact) in expected.iter().enumerate() {
                    let got = result.data.get(i);
                    assert!(
                        same(got, *exact),
                        "{op} {way} of {:?}, {:?}: {got:?}, not {exact:?}",
                        first[i],
                        others[i]
                    );
                }
            }
        }
    }
}

#[test]
fn the_page_names_every_function_and_its_bound() {
    let page = include_str!("../../docs/scalar-functions.md");
    let rows = page_rows(page);
    let expected: Vec<(String, u32)> = measured()
        .into_iter()
        .map(|(op, _)| (name(op).to_owned(), bound(op)))
        .collect();
    let found: Vec<(String, u32)> = rows.iter().map(|r| (r.name.clone(), r.bound)).collect();
    assert_eq!(found, expected);
    for row in rows {
        for error in row.errors {
            assert!(error <= f64::from(row.bound), "{}", row.name);
        }
    }
}
