//! Every scalar operation on every type, compiled by a back end, against the interpreter's definition, on values at the edges.

use super::plans::{I64, buffer, kernel, load, program, store};
use midend::device::{Arg, Device, Stop};
use midend::interp::scalar::{all_operations, eval, same};
use midend::ir::mem::{KernelKind, Mem};
use midend::ir::scalar::{BinOp, Const, ScalarOp, UnOp};
use midend::ir::syntax::Program;
use midend::ir::types::ScalarType;
use midend::value::Data;

/// Values at the edges of a type.
fn values(ty: ScalarType) -> Vec<Const> {
    let ints: &[i128] = &[
        0,
        1,
        -1,
        2,
        -2,
        3,
        -3,
        5,
        7,
        -7,
        8,
        10,
        31,
        64,
        100,
        -100,
        127,
        128,
        255,
        1000,
        32767,
        65504,
        65520,
        1 << 24,
        (1 << 24) + 1,
        1 << 31,
        (1 << 53) + 1,
    ];
    let floats: &[f64] = &[
        0.0,
        -0.0,
        1.0,
        -1.0,
        0.5,
        -0.5,
        1.5,
        -1.5,
        2.5,
        3.0,
        -3.7,
        0.1,
        1e-3,
        7.0,
        100.25,
        -128.5,
        255.5,
        256.0,
        1e5,
        65504.0,
        65519.0,
        65520.0,
        2147483647.0,
        -2147483649.0,
        4294967296.5,
        9.3e18,
        1.9e19,
        -1e19,
        1e-7,
        6e-8,
        1e-40,
        5e-324,
        1e300,
        1e-300,
        f64::MAX,
        f64::MIN_POSITIVE,
        f64::INFINITY,
        f64::NEG_INFINITY,
        f64::NAN,
    ];
    macro_rules! of_ints {
        ($variant:ident, $int:ty) => {
            ints.iter()
                .map(|x| *x as $int)
                .chain([
                    <$int>::MIN,
                    <$int>::MIN.wrapping_add(1),
                    <$int>::MAX,
                    <$int>::MAX - 1,
                ])
                .map(Const::$variant)
                .collect()
        };
    }
    let mut values: Vec<Const> = match ty {
        ScalarType::I8 => of_ints!(I8, i8),
        ScalarType::I16 => of_ints!(I16, i16),
        ScalarType::I32 => of_ints!(I32, i32),
        ScalarType::I64 => of_ints!(I64, i64),
        ScalarType::U8 => of_ints!(U8, u8),
        ScalarType::U16 => of_ints!(U16, u16),
        ScalarType::U32 => of_ints!(U32, u32),
        ScalarType::U64 => of_ints!(U64, u64),
        ScalarType::F16 => floats
            .iter()
            .map(|x| Const::f16(half::f16::from_f64(*x)))
            .collect(),
        ScalarType::F32 => floats.iter().map(|x| Const::f32(*x as f32)).collect(),
        ScalarType::F64 => floats.iter().map(|x| Const::f64(*x)).collect(),
        ScalarType::Bool => vec![Const::Bool(false), Const::Bool(true)],
    };
    values.sort_unstable();
    values.dedup();
    values
}

/// The operands to try: all combinations, of three operands of fewer values.
fn operands(op: ScalarOp) -> Vec<Vec<Const>> {
    let mut rows: Vec<Vec<Const>> = vec![vec![]];
    for i in 0..op.arity() {
        let mut choices = values(op.operand(i));
        if op.arity() == 3 {
            choices = choices.into_iter().step_by(3).collect();
        }
        rows = rows
            .iter()
            .flat_map(|row| choices.iter().map(|c| [row.as_slice(), &[*c]].concat()))
            .collect();
    }
    rows
}

fn data(ty: ScalarType, elems: impl Iterator<Item = Const>) -> Data {
    let elems: Vec<Const> = elems.collect();
    let mut data = Data::zeros(ty, elems.len());
    for (i, c) in elems.into_iter().enumerate() {
        data.set(i, c);
    }
    data
}

/// A kernel that maps each operation over arrays.
fn maps(ops: &[ScalarOp]) -> Program<Mem> {
    program(|b| {
        for op in ops {
            let n = b.fresh("n", I64);
            let inputs: Vec<_> = (0..op.arity())
                .map(|i| b.fresh("a", buffer(op.operand(i))))
                .collect();
            let out = b.fresh("out", buffer(op.result()));
            kernel(b, &op.to_string(), &[n.into()], KernelKind::Map, |b, i| {
                let args = inputs.iter().map(|a| load(b, *a, i[0])).collect();
                let value = b.scalar("r", *op, args);
                store(b, out, i[0], value);
                vec![]
            });
        }
    })
}

/// Whether a result is the expected one, or, of an operation that only has to be near it, at most 4 units in the last place off, and
/// perhaps zero where it is subnormal.
fn is_right(op: ScalarOp, got: Const, expected: Const) -> bool {
    let may_differ = matches!(
        op,
        ScalarOp::Un(
            UnOp::ExpNear | UnOp::SqrtNear | UnOp::RsqrtNear,
            ScalarType::F32
        ) | ScalarOp::Bin(BinOp::DivNear, ScalarType::F32)
    );
    if same(got, expected) || !may_differ {
        return same(got, expected);
    }
    let (Const::F32(got), Const::F32(expected)) = (got, expected) else {
        return false;
    };
    let (got, expected) = (f32::from_bits(got), f32::from_bits(expected));
    let most = (4.0 * f32::EPSILON * expected.abs()).max(f32::MIN_POSITIVE);
    // The reciprocal root of a subnormal number, which may count as zero.
    let of_subnormal = matches!(op, ScalarOp::Un(UnOp::RsqrtNear, _)) && expected.abs() > 9.0e18;
    (got - expected).abs() <= most || of_subnormal && got == f32::INFINITY
}

/// Runs an operation on rows of operands: the first row whose result is not the expected one.
fn first_wrong<D: Device>(device: &D, module: &D::Module, op: ScalarOp) -> Option<String> {
    let rows: Vec<(Vec<Const>, Const)> = operands(op)
        .into_iter()
        .filter_map(|row| eval(op, &row).ok().map(|value| (row, value)))
        .collect();
    let upload = |data: Data| device.upload(data).expect("there is memory");
    let mut args = vec![Arg::Scalar(Const::I64(rows.len() as i64))];
    for i in 0..op.arity() {
        let column = data(op.operand(i), rows.iter().map(|(row, _)| row[i]));
        args.push(Arg::Buffer(upload(column)));
    }
    let out = upload(Data::zeros(op.result(), rows.len()));
    args.push(Arg::Buffer(out.clone()));
    device
        .launch(module, &op.to_string(), &args, &Stop::new())
        .and_then(|()| device.synchronise())
        .expect("nothing fails");
    let results = device
        .download(&out, rows.len())
        .expect("the length is right");
    rows.iter().enumerate().find_map(|(i, (row, expected))| {
        let got = results.get(i);
        (!is_right(op, got, *expected))
            .then(|| format!("{op} {row:?}: {got:?} instead of {expected:?}"))
    })
}

/// Fails where an operation does not give what the interpreter gives.
pub(crate) fn check_all<D: Device>(device: &D, compile: impl FnOnce(&Program<Mem>) -> D::Module) {
    let ops = all_operations();
    assert!(ops.len() > 500, "the table has {} operations", ops.len());
    let module = compile(&maps(&ops));
    let wrong: Vec<String> = ops
        .iter()
        .filter_map(|op| first_wrong(device, &module, *op))
        .collect();
    assert!(
        wrong.is_empty(),
        "{} operations differ:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}
