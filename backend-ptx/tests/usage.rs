//! What named kernels take of a device: registers, spilled bytes and shared memory, as `ptxas` says, beside a committed
//! table. `ARRC_BLESS=1` rewrites the table.

mod common;

use common::plan::{
    FILTER, PRODUCT, RANKS, ROWS, buffer, compile, device, kernel, load, operator, operator2,
    program, store,
};
use common::ptxas::{self, TARGETS};
use midend::ir::mem::{KernelKind, Mem, MemHist};
use midend::ir::read;
use midend::ir::scalar::{BinOp, Const, UnOp};
use midend::ir::syntax::{Atom, Program};
use midend::ir::types::ScalarType;
use std::fmt::Write as _;
use std::path::Path;

const FLOAT: ScalarType = ScalarType::F32;
const WORD: ScalarType = ScalarType::U32;

type Builder<'a> = midend::ir::build::Builder<'a, Mem>;

/// A map of a function over an array.
fn map(
    b: &mut Builder<'_>,
    name: &str,
    ty: ScalarType,
    f: impl FnOnce(&mut Builder<'_>, Atom) -> Atom,
) {
    let n = b.fresh("n", common::plan::I64);
    let (xs, out) = (b.fresh("xs", buffer(ty)), b.fresh("out", buffer(ty)));
    kernel(b, name, &[n.into()], KernelKind::Map, |b, i| {
        let x = load(b, xs, i[0]);
        let y = f(b, x);
        store(b, out, i[0], y);
        vec![]
    });
}

/// A sum, as a reduction, a scan and a histogram.
fn sums(b: &mut Builder<'_>, ty: ScalarType, zero: Const) {
    let n = b.fresh("n", common::plan::I64);
    let (xs, at) = (
        b.fresh("xs", buffer(ty)),
        b.fresh("at", buffer(ScalarType::I64)),
    );
    let out = b.fresh("out", buffer(ty));
    let sum = |b: &mut Builder<'_>| {
        let mut op = operator(b, ty, zero, |b, x, y| b.bin(BinOp::Add, ty, x, y));
        op.comm = true;
        op
    };
    let red = KernelKind::Red {
        ops: vec![sum(b)],
        outs: vec![out],
    };
    kernel(b, &format!("sum_{ty}"), &[n.into()], red, |b, i| {
        vec![load(b, xs, i[0])]
    });
    let scan = KernelKind::Scan {
        ops: vec![sum(b)],
        outs: vec![out],
        then: None,
    };
    kernel(b, &format!("scan_{ty}"), &[n.into()], scan, |b, i| {
        vec![load(b, xs, i[0])]
    });
    let hist = MemHist {
        buckets: n.into(),
        dests: vec![out],
        op: sum(b),
    };
    let hist = KernelKind::Hist(vec![hist]);
    kernel(b, &format!("hist_{ty}"), &[n.into()], hist, |b, i| {
        let index = load(b, at, i[0]);
        vec![index, load(b, xs, i[0])]
    });
}

/// The largest number of each bucket.
fn largest(b: &mut Builder<'_>, ty: ScalarType, least: Const) {
    let n = b.fresh("n", common::plan::I64);
    let (xs, at) = (
        b.fresh("xs", buffer(ty)),
        b.fresh("at", buffer(ScalarType::I64)),
    );
    let out = b.fresh("out", buffer(ty));
    let hist = MemHist {
        buckets: n.into(),
        dests: vec![out],
        op: operator(b, ty, least, |b, x, y| b.bin(BinOp::Max, ty, x, y)),
    };
    let hist = KernelKind::Hist(vec![hist]);
    kernel(b, &format!("largest_{ty}"), &[n.into()], hist, |b, i| {
        let index = load(b, at, i[0]);
        vec![index, load(b, xs, i[0])]
    });
}

/// A composition of affine maps, as a reduction and a scan; counting in buckets.
fn words(b: &mut Builder<'_>) {
    let n = b.fresh("n", common::plan::I64);
    let (ws, at) = (
        b.fresh("ws", buffer(WORD)),
        b.fresh("at", buffer(ScalarType::I64)),
    );
    let outs = vec![b.fresh("f", buffer(WORD)), b.fresh("g", buffer(WORD))];
    let affine = |b: &mut Builder<'_>| {
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
    };
    let red = KernelKind::Red {
        ops: vec![affine(b)],
        outs: outs.clone(),
    };
    kernel(b, "reduce_affine", &[n.into()], red, |b, i| {
        let w = load(b, ws, i[0]);
        vec![w, w]
    });
    let scan = KernelKind::Scan {
        ops: vec![affine(b)],
        outs: outs.clone(),
        then: None,
    };
    kernel(b, "scan_affine", &[n.into()], scan, |b, i| {
        let w = load(b, ws, i[0]);
        vec![w, w]
    });
    let op = operator(b, WORD, Const::U32(0), |b, x, y| {
        b.bin(BinOp::Add, WORD, x, y)
    });
    let hist = MemHist {
        buckets: n.into(),
        dests: vec![outs[0]],
        op,
    };
    kernel(
        b,
        "count_u32",
        &[n.into()],
        KernelKind::Hist(vec![hist]),
        |b, i| vec![load(b, at, i[0]), Atom::Const(Const::U32(1))],
    );
}

fn all() -> Program<Mem> {
    program(|b| {
        map(b, "increment_i64", ScalarType::I64, |b, x| b.add(x, 1));
        for ty in [FLOAT, ScalarType::F64] {
            for op in [UnOp::Exp, UnOp::Sin, UnOp::Log, UnOp::Gamma, UnOp::Sqrt] {
                map(b, &format!("{}_{ty}", op.name()), ty, |b, x| {
                    b.un(op, ty, x)
                });
            }
            map(b, &format!("mod_{ty}"), ty, |b, x| {
                b.bin(BinOp::Mod, ty, x, x)
            });
            map(b, &format!("pow_{ty}"), ty, |b, x| {
                b.bin(BinOp::Pow, ty, x, x)
            });
        }
        map(b, "divide_i64", ScalarType::I64, |b, x| {
            b.bin(BinOp::Div, ScalarType::I64, x, Atom::Const(Const::I64(10)))
        });
        sums(b, FLOAT, Const::f32(0.0));
        sums(b, ScalarType::F64, Const::f64(0.0));
        sums(b, ScalarType::F16, Const::F16(0));
        sums(b, ScalarType::I64, Const::I64(0));
        sums(b, ScalarType::U8, Const::U8(0));
        largest(b, FLOAT, Const::f32(f32::NEG_INFINITY));
        largest(b, ScalarType::I64, Const::I64(i64::MIN));
        words(b);
    })
}

#[test]
fn kernels_take_what_the_table_says() {
    let device = device(1);
    let [product, filter, ranks, rows] =
        [PRODUCT, FILTER, RANKS, ROWS].map(|text| read::program(text).expect("it is a plan"));
    let mut table = String::from(
        "kernel, then for sm_75, sm_80 and sm_90: registers, spilled bytes, shared bytes\n",
    );
    for plan in [all(), product, filter, ranks, rows] {
        let module = compile(&device, &plan);
        let names: Vec<String> = module.texts(75).into_iter().map(|(name, _)| name).collect();
        for name in &names {
            let _ = write!(table, "{name:24}");
            for target in TARGETS {
                let texts = module.texts(target);
                let text = texts.iter().find(|(n, _)| n == name).map_or("", |(_, t)| t);
                let usage =
                    ptxas::assemble(text, target).unwrap_or_else(|log| panic!("{name}: {log}"));
                let _ = write!(
                    table,
                    "  {:3} {:2} {:5}",
                    usage.registers, usage.spills, usage.shared
                );
            }
            table.push('\n');
        }
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/usage.txt");
    if std::env::var_os("ARRC_BLESS").is_some() {
        std::fs::write(&path, &table).expect("the table can be written");
    }
    let known = std::fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(known, table, "ARRC_BLESS=1 writes the table anew");
}
