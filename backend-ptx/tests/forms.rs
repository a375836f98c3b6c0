//! The forms that launches take by their sizes: several points per thread; a thread, a warp, a block, or blocks per row; scans
//! over many groups of tiles. Every form is run, and gives what plain Rust gives.

mod common;

use common::plan::{
    I64, blank, buffer, compile, device, download, i64s, kernel, load, operator, program, run,
    store, upload,
};
use half::f16;
use midend::device::Arg;
use midend::interp::scalar::eval;
use midend::ir::mem::{KernelKind, Mem, MemHist};
use midend::ir::scalar::{BinOp, Const, ScalarOp};
use midend::ir::soac::Operator;
use midend::ir::syntax::{Atom, Program};
use midend::ir::types::{ScalarType, Type};
use midend::value::Data;

const INT: ScalarType = ScalarType::I64;

/// Lengths of rows, and how many of them: around the limits between the forms.
const ROWS: [(i64, i64); 14] = [
    (0, 3),
    (3, 0),
    (1, 1),
    (1, 16),
    (70, 17),
    (64, 31),
    (64, 33),
    (64, 255),
    (65, 256),
    (63, 300),
    (64, 1024),
    (64, 1025),
    (2, 20_000),
    (1, 300_001),
];

/// Folds the rows of a matrix, or its columns.
fn rows(op: BinOp, elem: ScalarType, neutral: Const, columns: bool) -> Program<Mem> {
    program(|b| {
        let (o, n) = (b.fresh("o", I64), b.fresh("n", I64));
        let (xs, out) = (b.fresh("xs", buffer(elem)), b.fresh("out", buffer(elem)));
        let mut op = operator(b, elem, neutral, |b, x, y| b.bin(op, elem, x, y));
        op.comm = true;
        let kind = KernelKind::Red {
            ops: vec![op],
            outs: vec![out],
        };
        kernel(b, "k", &[o.into(), n.into()], kind, |b, i| {
            let (major, minor, width) = if columns {
                (i[1], i[0], o)
            } else {
                (i[0], i[1], n)
            };
            let first = b.mul(major, width);
            let at = b.add(first, minor);
            vec![load(b, xs, at)]
        });
    })
}

/// What the kernel makes of a matrix of so many rows of such a length.
fn folded(program: &Program<Mem>, (o, n): (i64, i64), data: Data) -> Data {
    let device = device(3);
    let module = compile(&device, program);
    let out = blank(&device, data.elem(), o as usize);
    let args = [
        i64s(o),
        i64s(n),
        Arg::Buffer(upload(&device, data)),
        Arg::Buffer(out.clone()),
    ];
    run(&device, &module, "k", &args).expect("runs");
    download(&device, &out, o as usize)
}

#[test]
fn rows_and_columns_of_every_length() {
    for columns in [false, true] {
        let program = rows(BinOp::Add, INT, Const::I64(0), columns);
        for (o, n) in ROWS {
            let value = |i: i64, j: i64| i * 1_000_003 + j * j;
            let at = |k: i64| match columns {
                true => value(k % o, k / o),
                false => value(k / n, k % n),
            };
            let got = folded(&program, (o, n), Data::I64((0..o * n).map(at).collect()));
            let sums = (0..o).map(|i| (0..n).map(|j| value(i, j)).sum());
            assert_eq!(
                got,
                Data::I64(sums.collect()),
                "{o} of {n}, columns {columns}"
            );
        }
    }
}

#[test]
fn truth_values_and_halves_are_folded() {
    let all = rows(BinOp::And, ScalarType::Bool, Const::Bool(true), false);
    let sum = rows(BinOp::Add, ScalarType::F16, Const::F16(0), false);
    for (o, n) in [(70, 9), (64, 100), (3, 1500), (1, 2000)] {
        let truths = (0..o * n).map(|k| k % (2 * n) != n - 1).collect();
        let got = folded(&all, (o, n), Data::Bool(truths));
        let expected = (0..o).map(|i| i % 2 == 1).collect();
        assert_eq!(got, Data::Bool(expected), "{o} of {n}");
        // Sums of up to 2048 are exact.
        let ones = (0..o * n).map(|k| f16::from_f64((k % 2) as f64)).collect();
        let got = folded(&sum, (o, n), Data::F16(ones));
        let odd = |i: i64| (i * n..(i + 1) * n).filter(|k| k % 2 == 1).count();
        let expected = (0..o).map(|i| f16::from_f64(odd(i) as f64)).collect();
        assert_eq!(got, Data::F16(expected), "{o} of {n}");
    }
}

#[test]
fn several_points_per_thread() {
    // Over a plane, with a check, a store that only some points make, and elements of one byte.
    let program = program(|b| {
        let (o, n) = (b.fresh("o", I64), b.fresh("n", I64));
        let (xs, bytes) = (
            b.fresh("xs", buffer(INT)),
            b.fresh("bytes", buffer(ScalarType::U8)),
        );
        kernel(b, "k", &[o.into(), n.into()], KernelKind::Map, |b, i| {
            let first = b.mul(i[0], n);
            let at = b.add(first, i[1]);
            let x = load(b, xs, at);
            let y = b.bin(BinOp::Add, INT, x, Atom::from(i[0]));
            let y = b.bin(BinOp::Mul, INT, y, Atom::from(3));
            store(b, xs, at, y);
            let byte = load(b, bytes, at);
            let byte = b.bin(
                BinOp::Add,
                ScalarType::U8,
                byte,
                Atom::Const(Const::U8(200)),
            );
            store(b, bytes, at, byte);
            vec![]
        });
    });
    for (o, n) in [
        (1, 999),
        (1, 1000),
        (40, 51),
        (3, 5000),
        (2, 1024),
        (5000, 1),
    ] {
        let device = device(5);
        let module = compile(&device, &program);
        let len = (o * n) as usize;
        let xs = upload(&device, Data::I64((0..o * n).collect()));
        let bytes = upload(&device, Data::U8((0..o * n).map(|k| k as u8).collect()));
        let args = [
            i64s(o),
            i64s(n),
            Arg::Buffer(xs.clone()),
            Arg::Buffer(bytes.clone()),
        ];
        run(&device, &module, "k", &args).expect("runs");
        let expected = (0..o * n).map(|k| (k + k / n) * 3).collect();
        assert_eq!(
            download(&device, &xs, len),
            Data::I64(expected),
            "{o} of {n}"
        );
        let expected = (0..o * n).map(|k| (k as u8).wrapping_add(200)).collect();
        assert_eq!(
            download(&device, &bytes, len),
            Data::U8(expected),
            "{o} of {n}"
        );
    }
}

/// Runs of neighbours, wherever they begin in memory.
#[test]
fn runs_that_begin_anywhere() {
    let program = program(|b| {
        let [n, from, to] = ["n", "from", "to"].map(|name| b.fresh(name, I64));
        let [xs, ys] = ["xs", "ys"].map(|name| b.fresh(name, buffer(ScalarType::U16)));
        kernel(b, "k", &[n.into()], KernelKind::Map, |b, i| {
            let [from, to] = [from, to].map(|start| b.add(i[0], start));
            let x = load(b, xs, from);
            store(b, ys, to, x);
            vec![]
        });
    });
    for (from, to) in [(0, 0), (1, 1), (4, 8), (2, 4), (3, 0), (0, 3)] {
        let n = 10_001;
        let device = device(7);
        let module = compile(&device, &program);
        let xs = (0..n + from).map(|k| k as u16).collect();
        let ys = blank(&device, ScalarType::U16, (n + to) as usize);
        let args = [
            i64s(n),
            i64s(from),
            i64s(to),
            Arg::Buffer(upload(&device, Data::U16(xs))),
            Arg::Buffer(ys.clone()),
        ];
        run(&device, &module, "k", &args).expect("runs");
        let Data::U16(got) = download(&device, &ys, (n + to) as usize) else {
            panic!("other elements")
        };
        let expected: Vec<u16> = (from..from + n).map(|k| k as u16).collect();
        assert_eq!(got[to as usize..], expected, "from {from} to {to}");
    }
}

/// A matrix of two rows and columns.
type Matrix = [i64; 4];

fn product([a, b, c, d]: Matrix, [e, f, g, h]: Matrix) -> Matrix {
    let dot = |x: i64, y: i64, z: i64, w: i64| {
        let (first, second) = (x.wrapping_mul(y), z.wrapping_mul(w));
        first.wrapping_add(second)
    };
    [
        dot(a, e, b, g),
        dot(a, f, b, h),
        dot(c, e, d, g),
        dot(c, f, d, h),
    ]
}

/// Products of all matrices up to each, of which the elements lie one after the other.
fn products() -> Program<Mem> {
    program(|b| {
        let n = b.fresh("n", I64);
        let xs = b.fresh("xs", buffer(INT));
        let outs: Vec<_> = (0..4).map(|_| b.fresh("out", buffer(INT))).collect();
        let formals = [(); 8].map(|()| ("x", Type::Scalar(INT)));
        let lam = b.lambda(&formals, |b, p| {
            let p: Vec<Atom> = p.iter().map(|v| Atom::Var(*v)).collect();
            let mut dot = |x: usize, y: usize, z: usize, w: usize| {
                let first = b.bin(BinOp::Mul, INT, p[x], p[y]);
                let second = b.bin(BinOp::Mul, INT, p[z], p[w]);
                b.bin(BinOp::Add, INT, first, second)
            };
            vec![
                dot(0, 4, 1, 6),
                dot(0, 5, 1, 7),
                dot(2, 4, 3, 6),
                dot(2, 5, 3, 7),
            ]
        });
        let ops = vec![Operator {
            comm: false,
            lam,
            neutral: [1, 0, 0, 1].map(|n| Atom::Const(Const::I64(n))).to_vec(),
        }];
        kernel(
            b,
            "k",
            &[n.into()],
            KernelKind::Scan {
                ops,
                outs,
                then: None,
            },
            |b, i| {
                let first = b.mul(i[0], 4);
                (0..4)
                    .map(|k| {
                        let at = b.add(first, k);
                        load(b, xs, at)
                    })
                    .collect()
            },
        );
    })
}

#[test]
fn scans_over_many_groups_of_tiles() {
    // Tiles have 1024 elements, groups 32 tiles; of groups, 32 are looked at together.
    for n in [1023, 32 * 1024, 32 * 1024 + 1, 34 * 32 * 1024 + 5] {
        let device = device(n as u64);
        let module = compile(&device, &products());
        let data: Vec<i64> = (0..4 * n).map(|k| k % 7 - 3 + k / 1000).collect();
        let outs: Vec<_> = (0..4).map(|_| blank(&device, INT, n as usize)).collect();
        let mut args = vec![
            i64s(n),
            Arg::Buffer(upload(&device, Data::I64(data.clone()))),
        ];
        args.extend(outs.iter().cloned().map(Arg::Buffer));
        run(&device, &module, "k", &args).expect("runs");
        let mut expected: [Vec<i64>; 4] = Default::default();
        let mut state = [1, 0, 0, 1];
        for m in data.chunks_exact(4) {
            state = product(state, [m[0], m[1], m[2], m[3]]);
            for (all, x) in expected.iter_mut().zip(state) {
                all.push(x);
            }
        }
        for (out, expected) in outs.iter().zip(expected) {
            assert!(
                download(&device, out, n as usize) == Data::I64(expected),
                "{n}"
            );
        }
    }
}

/// Scans of one component, of each width, whole tiles of which threads keep in registers, and others.
#[test]
fn scans_of_words_bytes_and_truth_values() {
    let scans: [(BinOp, ScalarType, Const); 4] = [
        (BinOp::Add, ScalarType::U8, Const::U8(0)),
        (BinOp::Add, ScalarType::I32, Const::I32(0)),
        (BinOp::Max, INT, Const::I64(i64::MIN)),
        (BinOp::And, ScalarType::Bool, Const::Bool(true)),
    ];
    for (op, elem, neutral) in scans {
        let program = program(|b| {
            let (o, n) = (b.fresh("o", I64), b.fresh("n", I64));
            let (xs, out) = (b.fresh("xs", buffer(elem)), b.fresh("out", buffer(elem)));
            let op = operator(b, elem, neutral, |b, x, y| b.bin(op, elem, x, y));
            let kind = KernelKind::Scan {
                ops: vec![op],
                outs: vec![out],
                then: None,
            };
            kernel(b, "k", &[o.into(), n.into()], kind, |b, i| {
                let first = b.mul(i[0], n);
                let at = b.add(first, i[1]);
                vec![load(b, xs, at)]
            });
        });
        let device = device(7);
        let module = compile(&device, &program);
        for (o, n) in [(1, 300), (3, 4096), (2, 4097), (5, 12_287), (1, 150_000)] {
            let mut data = Data::zeros(elem, (o * n) as usize);
            let mut expected = Data::zeros(elem, (o * n) as usize);
            let mut sum = neutral;
            for k in 0..o * n {
                let x = if elem == ScalarType::Bool {
                    Const::Bool(k % n < n / 2 + k / n)
                } else {
                    Const::from_slot(elem, (k * k % 1013) as u64)
                };
                data.set(k as usize, x);
                sum = if k % n == 0 { neutral } else { sum };
                sum = eval(ScalarOp::Bin(op, elem), &[sum, x]).expect("does not fail");
                expected.set(k as usize, sum);
            }
            let out = blank(&device, elem, (o * n) as usize);
            let args = [
                i64s(o),
                i64s(n),
                Arg::Buffer(upload(&device, data)),
                Arg::Buffer(out.clone()),
            ];
            run(&device, &module, "k", &args).expect("runs");
            assert!(
                download(&device, &out, (o * n) as usize) == expected,
                "{op:?} of {elem}, {o} of {n}"
            );
        }
    }
}

/// Histograms that are atomic operations, two at once: with buckets for shared memory, copies of them, and too many.
#[test]
fn histograms_of_integers() {
    let updates: [(BinOp, ScalarType, u64); 6] = [
        (BinOp::Add, ScalarType::U32, 0),
        (BinOp::Max, ScalarType::I32, i32::MIN as u64),
        (BinOp::Add, INT, 0),
        (BinOp::And, ScalarType::U64, u64::MAX),
        (BinOp::Xor, INT, 0),
        (BinOp::Min, INT, i64::MAX as u64),
    ];
    for (op, elem, neutral) in updates {
        let neutral = Const::from_slot(elem, neutral);
        let program = program(|b| {
            let (n, m) = (b.fresh("n", I64), b.fresh("m", I64));
            let (at, xs) = (b.fresh("at", buffer(INT)), b.fresh("xs", buffer(elem)));
            let hists: Vec<MemHist> = ["one", "two"]
                .into_iter()
                .map(|name| MemHist {
                    buckets: m.into(),
                    dests: vec![b.fresh(name, buffer(elem))],
                    op: operator(b, elem, neutral, |b, x, y| b.bin(op, elem, x, y)),
                })
                .collect();
            kernel(b, "k", &[n.into()], KernelKind::Hist(hists), |b, i| {
                let (place, x) = (load(b, at, i[0]), load(b, xs, i[0]));
                let next = b.add(place, 1);
                vec![place, next, x, x]
            });
        });
        let device = device(11);
        let module = compile(&device, &program);
        for (n, m) in [(9_001, 1), (9_001, 5), (40_000, 300), (30_000, 3_000)] {
            let place = |i: i64| (i * i) % (m + 2) - 1;
            // Sums of these carry into the upper half, and come back.
            let value = |i: i64| Const::from_slot(elem, ((i - n / 2) * 0x3_1234_5679) as u64);
            let places: Vec<i64> = (0..n).map(place).collect();
            let mut values = Data::zeros(elem, n as usize);
            let first = Const::from_slot(elem, 5);
            let mut expected = [0, 1].map(|_| vec![first; m as usize]);
            for i in 0..n {
                values.set(i as usize, value(i));
                for (shift, buckets) in (0..).zip(&mut expected) {
                    if let Some(old) = buckets.get_mut((place(i) + shift) as usize) {
                        let both = [*old, value(i)];
                        *old = eval(ScalarOp::Bin(op, elem), &both).expect("does not fail");
                    }
                }
            }
            let mut start = Data::zeros(elem, m as usize);
            (0..m as usize).for_each(|i| start.set(i, first));
            let outs = [0, 1].map(|_| upload(&device, start.clone()));
            let mut args = vec![
                i64s(n),
                i64s(m),
                Arg::Buffer(upload(&device, Data::I64(places))),
                Arg::Buffer(upload(&device, values)),
            ];
            args.extend(outs.iter().cloned().map(Arg::Buffer));
            run(&device, &module, "k", &args).expect("runs");
            for (out, expected) in outs.iter().zip(expected) {
                let got = download(&device, out, m as usize);
                let wrong = (0..m as usize).find(|i| got.get(*i) != expected[*i]);
                assert_eq!(wrong, None, "{op:?} of {elem}, {n} points, {m} buckets");
            }
        }
    }
}
