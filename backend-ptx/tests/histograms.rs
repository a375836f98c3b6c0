//! Histograms whose points must be combined in order, on the emulator.

mod common;

use common::plan::{
    buffer, compile, device, download, i64s, kernel, load, operator, operator2, program, run,
    upload,
};
use midend::device::{Arg, Device as _};
use midend::ir::mem::{KernelKind, Mem, MemHist};
use midend::ir::scalar::{BinOp, Const};
use midend::ir::soac::Operator;
use midend::ir::syntax::Program;
use midend::ir::types::ScalarType;
use midend::value::Data;

const INDEX: ScalarType = ScalarType::I64;
const WORD: ScalarType = ScalarType::U32;
const FLOAT: ScalarType = ScalarType::F32;

/// Points and buckets: of every form and their edges, with more buckets than shared memory has room for.
const SIZES: [(i64, i64); 12] = [
    (0, 3),
    (1, 1),
    (31, 5),
    (33, 1),
    (1000, 7),
    (1025, 33),
    (5000, 1),
    (40_000, 10),
    (3000, 9000),
    (100, 20_000),
    (20_000, 700),
    (70_000, 4200),
];

/// The bucket of a point: of few points none; where points meet, most are in one.
fn bucket(i: i64, m: i64, meet: bool) -> i64 {
    if meet && i % 8 != 0 {
        m / 2
    } else {
        (i * 7919) % (m + 2) - 1
    }
}

/// Points into the buckets of a histogram with one operator.
fn histogram(
    types: &[ScalarType],
    op: impl FnOnce(&mut midend::ir::build::Builder<'_, Mem>) -> Operator<Mem>,
) -> Program<Mem> {
    program(|b| {
        let [n, m] = ["n", "m"].map(|name| b.fresh(name, common::plan::I64));
        let at = b.fresh("at", buffer(INDEX));
        let xs: Vec<_> = types.iter().map(|ty| b.fresh("xs", buffer(*ty))).collect();
        let dests: Vec<_> = types.iter().map(|ty| b.fresh("out", buffer(*ty))).collect();
        let hist = MemHist {
            buckets: m.into(),
            dests,
            op: op(b),
        };
        let kind = KernelKind::Hist(vec![hist]);
        kernel(b, "k", &[n.into()], kind, |b, i| {
            let index = load(b, at, i[0]);
            let values = xs.iter().map(|x| load(b, *x, i[0])).collect::<Vec<_>>();
            [index].into_iter().chain(values).collect()
        });
    })
}

#[test]
fn points_of_a_bucket_are_combined_in_order() {
    let program = histogram(&[WORD; 2], |b| {
        operator2(
            b,
            [WORD; 2],
            [Const::U32(1), Const::U32(0)],
            |b, [a, x, c, y]| {
                let factor = b.bin(BinOp::Mul, WORD, a, c);
                let shift = b.bin(BinOp::Mul, WORD, x, c);
                vec![factor, b.bin(BinOp::Add, WORD, shift, y)]
            },
        )
    });
    for (k, (n, m)) in SIZES.into_iter().enumerate() {
        let device = device(k as u64 + 1);
        let module = if k == 0 {
            compile(&device, &program)
        } else {
            device.compile(&program).expect("compiles")
        };
        for meet in [false, true] {
            let places: Vec<i64> = (0..n).map(|i| bucket(i, m, meet)).collect();
            let factors: Vec<u32> = (0..n as u32).map(|i| i.wrapping_mul(37) | 1).collect();
            let shifts: Vec<u32> = (0..n as u32).map(|i| i * 13 + 5).collect();
            let (mut a, mut x) = (vec![3u32; m as usize], vec![7u32; m as usize]);
            for ((place, factor), shift) in places.iter().zip(&factors).zip(&shifts) {
                if (0..m).contains(place) {
                    let i = *place as usize;
                    (a[i], x[i]) = (
                        a[i].wrapping_mul(*factor),
                        x[i].wrapping_mul(*factor).wrapping_add(*shift),
                    );
                }
            }
            let outs = [3, 7].map(|v| upload(&device, Data::U32(vec![v; m as usize])));
            let inputs = [Data::I64(places), Data::U32(factors), Data::U32(shifts)];
            let inputs = inputs.map(|data| upload(&device, data));
            let buffers = inputs.iter().chain(&outs).cloned().map(Arg::Buffer);
            let args: Vec<_> = [i64s(n), i64s(m)].into_iter().chain(buffers).collect();
            run(&device, &module, "k", &args).expect("runs");
            let got = outs.map(|out| download(&device, &out, m as usize));
            assert!(got == [Data::U32(a), Data::U32(x)], "{n} in {m}, {meet}");
        }
    }
}

#[test]
fn sums_of_floats_do_not_depend_on_timing() {
    let program = histogram(&[FLOAT], |b| {
        operator(b, FLOAT, Const::f32(0.0), |b, x, y| {
            b.bin(BinOp::Add, FLOAT, x, y)
        })
    });
    for (n, m) in [(5000, 3), (40_000, 7), (20_000, 9000)] {
        let results: Vec<Data> = (1..4)
            .map(|seed| {
                let device = device(seed);
                let module = device.compile(&program).expect("compiles");
                let places: Vec<i64> = (0..n).map(|i| bucket(i, m, false)).collect();
                let values: Vec<f32> = (0..n).map(|i| (i % 977) as f32 * 0.1).collect();
                let out = upload(&device, Data::F32(vec![0.5; m as usize]));
                let inputs = [Data::I64(places), Data::F32(values)];
                let inputs = inputs.map(|data| Arg::Buffer(upload(&device, data)));
                let mut args = vec![i64s(n), i64s(m)];
                args.extend(inputs);
                args.push(Arg::Buffer(out.clone()));
                run(&device, &module, "k", &args).expect("runs");
                download(&device, &out, m as usize)
            })
            .collect();
        assert!(results.iter().all(|r| *r == results[0]), "{n} in {m}");
    }
}

/// Elements of all sizes, in few buckets and in many, whose number is no multiple of what goes into a word.
#[test]
fn small_elements_are_changed_within_their_words() {
    let least = |ty: ScalarType| match ty {
        ScalarType::F16 => Const::F16(0xfc00),
        ScalarType::F32 => Const::f32(f32::NEG_INFINITY),
        ScalarType::F64 => Const::f64(f64::NEG_INFINITY),
        ScalarType::I8
        | ScalarType::I16
        | ScalarType::I32
        | ScalarType::I64
        | ScalarType::U8
        | ScalarType::U16
        | ScalarType::U32
        | ScalarType::U64
        | ScalarType::Bool => Data::zeros(ty, 1).get(0),
    };
    let ops = [BinOp::Max, BinOp::Or, BinOp::Add];
    let ints = [
        ScalarType::I8,
        ScalarType::U8,
        ScalarType::I16,
        ScalarType::U16,
    ];
    let ints = ints.into_iter().flat_map(|ty| ops.map(|op| (ty, op)));
    let floats = [ScalarType::F16, ScalarType::F32, ScalarType::F64];
    let floats = floats.into_iter().map(|ty| (ty, BinOp::Max));
    let truths = [BinOp::And, BinOp::Or, BinOp::Xor].map(|op| (ScalarType::Bool, op));
    for (ty, op) in ints.chain(floats).chain(truths) {
        let program = histogram(&[ty], |b| {
            operator(b, ty, least(ty), |b, x, y| b.bin(op, ty, x, y))
        });
        let device = device(3);
        let module = device.compile(&program).expect("compiles");
        for (n, m) in [(0, 3), (33, 1), (1025, 33), (3000, 7), (700, 1023)] {
            let places: Vec<i64> = (0..n).map(|i| bucket(i, m, i % 3 == 0)).collect();
            let value = |i: i64| match ty {
                ScalarType::I8 => Const::I8((i * 37) as i8),
                ScalarType::U8 => Const::U8((i * 37) as u8),
                ScalarType::I16 => Const::I16((i * 3701) as i16),
                ScalarType::U16 => Const::U16((i * 3701) as u16),
                // Numbers from 1 to 2 and their negations.
                ScalarType::F16 => Const::F16(0x3c00 | (i % 64) as u16 | ((i % 2) as u16) << 15),
                ScalarType::F32 => Const::f32((i % 91) as f32 - 45.0),
                ScalarType::F64 => Const::f64((i % 91) as f64 - 45.0),
                ScalarType::Bool => Const::Bool(i % 3 == 0),
                ScalarType::I32 | ScalarType::I64 | ScalarType::U32 | ScalarType::U64 => {
                    Const::I64(i)
                }
            };
            let mut data = Data::zeros(ty, n as usize);
            let mut expected = Data::zeros(ty, m as usize);
            let out = upload(&device, Data::zeros(ty, m as usize));
            for (i, place) in places.iter().enumerate() {
                let x = value(i as i64);
                data.set(i, x);
                if (0..m).contains(place) {
                    let old = expected.get(*place as usize);
                    let new = midend::interp::scalar::bin(op, old, x).expect("it is defined");
                    expected.set(*place as usize, new);
                }
            }
            let inputs = [Data::I64(places), data];
            let inputs = inputs.map(|data| Arg::Buffer(upload(&device, data)));
            let mut args = vec![i64s(n), i64s(m)];
            args.extend(inputs);
            args.push(Arg::Buffer(out.clone()));
            run(&device, &module, "k", &args)
                .unwrap_or_else(|e| panic!("{ty} {op:?} {n} {m}: {e}"));
            let got = download(&device, &out, m as usize);
            assert!(got == expected, "{ty} {op:?}: {n} in {m}");
        }
    }
}
