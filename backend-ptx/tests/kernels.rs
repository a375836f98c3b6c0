//! Kernels of every kind, lowered and run on the emulator, against plain Rust; assembled for every target.

mod common;

use common::plan::{
    blank, buffer, compile, device, download, i64s, kernel, load, operator, operator2, program,
    run, store, upload, zeros,
};
use midend::device::Arg;
use midend::ir::mem::{Extent, Kernel, KernelKind, Mem, MemHist};
use midend::ir::scalar::{BinOp, Const};
use midend::ir::syntax::{Atom, Exp};
use midend::ir::types::ScalarType;
use midend::value::Data;

const INT: ScalarType = ScalarType::I32;
const WORD: ScalarType = ScalarType::U32;
const FLOAT: ScalarType = ScalarType::F32;

/// Sizes at which something could go wrong: edges of warps, blocks, tiles, and of the choice between entries.
const SIZES: [i64; 10] = [0, 1, 31, 33, 256, 257, 1025, 2048, 4097, 20_000];

fn floats(n: i64) -> Vec<f32> {
    (0..n)
        .map(|i| ((i * 7919) % 1000) as f32 / 7.0 - 50.0)
        .collect()
}

fn ints(n: i64) -> Vec<i32> {
    (0..n)
        .map(|i| ((i * 7919) % 100_003) as i32 - 50_000)
        .collect()
}

fn words(n: i64) -> Vec<u32> {
    (0..n).map(|i| (i * 7919 % 100_003) as u32).collect()
}

#[test]
fn map_over_three_dimensions() {
    let program = program(|b| {
        let [x, y, z] = ["x", "y", "z"].map(|name| b.fresh(name, common::plan::I64));
        let out = b.fresh("out", buffer(ScalarType::I64));
        let space = [x.into(), y.into(), z.into()];
        kernel(b, "k", &space, KernelKind::Map, |b, i| {
            let row = b.mul(i[0], y);
            let row = b.add(row, i[1]);
            let row = b.mul(row, z);
            let flat = b.add(row, i[2]);
            let a = b.mul(i[0], 10_000);
            let c = b.mul(i[1], 100);
            let sum = b.add(a, c);
            let sum = b.add(sum, i[2]);
            store(b, out, flat, sum);
            vec![]
        });
    });
    let device = device(1);
    let module = compile(&device, &program);
    for (x, y, z) in [(3, 4, 5), (1, 1, 1), (0, 4, 5), (7, 1, 300), (50, 30, 2)] {
        let out = blank(&device, ScalarType::I64, (x * y * z) as usize);
        let args = [i64s(x), i64s(y), i64s(z), Arg::Buffer(out.clone())];
        run(&device, &module, "k", &args).expect("runs");
        let mut expected = Vec::new();
        for i in 0..x {
            for j in 0..y {
                expected.extend((0..z).map(|k| i * 10_000 + j * 100 + k));
            }
        }
        let got = download(&device, &out, (x * y * z) as usize);
        assert_eq!(got, Data::I64(expected), "{x} {y} {z}");
    }
}

/// A sum of integers (commutative or not) and a composition of affine maps, which is not commutative, in one traversal.
fn two_operators(
    b: &mut midend::ir::build::Builder<'_, Mem>,
    comm: bool,
) -> Vec<midend::ir::soac::Operator<Mem>> {
    let mut sum = operator(b, INT, Const::I32(0), |b, x, y| {
        b.bin(BinOp::Add, INT, x, y)
    });
    sum.comm = comm;
    let neutral = [Const::U32(1), Const::U32(0)];
    let affine = operator2(b, [WORD; 2], neutral, |b, [a, x, c, y]| {
        let factor = b.bin(BinOp::Mul, WORD, a, c);
        let shift = b.bin(BinOp::Mul, WORD, x, c);
        vec![factor, b.bin(BinOp::Add, WORD, shift, y)]
    });
    vec![sum, affine]
}

/// A sum, and an affine map.
type Tuple = (i32, u32, u32);

/// What the two operators make of a row, element by element.
fn folded(row: &[i32], words: &[u32]) -> Vec<Tuple> {
    let mut state = (0i32, 1u32, 0u32);
    row.iter()
        .zip(words)
        .map(|(x, w)| {
            let (s, a, c) = state;
            let f = w | 1;
            state = (
                s.wrapping_add(*x),
                a.wrapping_mul(f),
                c.wrapping_mul(f).wrapping_add(*w),
            );
            state
        })
        .collect()
}

fn fold_program(scan: bool) -> midend::ir::syntax::Program<Mem> {
    program(|b| {
        let (o, n) = (
            b.fresh("o", common::plan::I64),
            b.fresh("n", common::plan::I64),
        );
        let (xs, ws) = (b.fresh("xs", buffer(INT)), b.fresh("ws", buffer(WORD)));
        let outs = vec![
            b.fresh("s", buffer(INT)),
            b.fresh("f", buffer(WORD)),
            b.fresh("g", buffer(WORD)),
        ];
        let ops = two_operators(b, false);
        let kind = if scan {
            KernelKind::Scan {
                ops,
                outs,
                then: None,
            }
        } else {
            KernelKind::Red { ops, outs }
        };
        kernel(b, "k", &[o.into(), n.into()], kind, |b, i| {
            let row = b.mul(i[0], n);
            let at = b.add(row, i[1]);
            let (x, w) = (load(b, xs, at), load(b, ws, at));
            let odd = b.bin(BinOp::Or, WORD, w, Atom::Const(Const::U32(1)));
            vec![x, odd, w]
        });
    })
}

fn run_fold(scan: bool, seed: u64, (o, n): (i64, i64)) -> [Vec<Tuple>; 2] {
    let program = fold_program(scan);
    let device = device(seed);
    let module = compile(&device, &program);
    let (row, word) = (ints(o * n), words(o * n));
    let len = if scan { o * n } else { o } as usize;
    let outs = [
        blank(&device, INT, len),
        blank(&device, WORD, len),
        blank(&device, WORD, len),
    ];
    let mut args = vec![i64s(o), i64s(n)];
    args.push(Arg::Buffer(upload(&device, Data::I32(row.clone()))));
    args.push(Arg::Buffer(upload(&device, Data::U32(word.clone()))));
    args.extend(outs.iter().cloned().map(Arg::Buffer));
    run(&device, &module, "k", &args).expect("runs");
    let mut expected = Vec::new();
    for i in 0..o {
        let range = (i * n) as usize..((i + 1) * n) as usize;
        let all = folded(&row[range.clone()], &word[range]);
        if scan {
            expected.extend(all);
        } else {
            expected.push(all.last().copied().unwrap_or((0, 1, 0)));
        }
    }
    let [s, f, g] = outs.map(|out| download(&device, &out, len));
    let got = (0..len).map(|i| match (s.get(i), f.get(i), g.get(i)) {
        (Const::I32(s), Const::U32(f), Const::U32(g)) => (s, f, g),
        other => panic!("{other:?}"),
    });
    [got.collect(), expected]
}

#[test]
fn reductions_keep_the_order() {
    for n in SIZES {
        for (o, seed) in [(1, 1), (3, 2)] {
            let [got, expected] = run_fold(false, seed, (o, n));
            assert_eq!(got, expected, "{o} rows of {n}");
        }
    }
}

#[test]
fn scans_keep_the_order_in_whatever_order_blocks_run() {
    for n in SIZES {
        for (o, seed) in [(1, 1), (1, 7), (3, 2)] {
            let [got, expected] = run_fold(true, seed, (o, n));
            assert!(got == expected, "{o} rows of {n}");
        }
    }
}

/// Rows about as long as where another form begins, few and many.
#[test]
fn rows_are_scanned_whatever_their_length() {
    let few = [
        16, 17, 31, 32, 33, 127, 128, 129, 300, 512, 1023, 1024, 1025,
    ]
    .map(|n| (3, n));
    for (o, n) in few
        .into_iter()
        .chain([(60, 17), (2047, 33), (2048, 33), (2049, 5)])
    {
        let [got, expected] = run_fold(true, 5, (o, n));
        assert!(got == expected, "{o} rows of {n}");
    }
}

#[test]
fn sums_of_floats_do_not_depend_on_timing() {
    for scan in [false, true] {
        let program = program(|b| {
            let n = b.fresh("n", common::plan::I64);
            let (xs, out) = (b.fresh("xs", buffer(FLOAT)), b.fresh("s", buffer(FLOAT)));
            let mut op = operator(b, FLOAT, Const::f32(0.0), |b, x, y| {
                b.bin(BinOp::Add, FLOAT, x, y)
            });
            op.comm = true;
            let (ops, outs) = (vec![op], vec![out]);
            let kind = if scan {
                KernelKind::Scan {
                    ops,
                    outs,
                    then: None,
                }
            } else {
                KernelKind::Red { ops, outs }
            };
            kernel(b, "k", &[n.into()], kind, |b, i| vec![load(b, xs, i[0])]);
        });
        let n = 30_000;
        let len = if scan { n as usize } else { 1 };
        let results: Vec<Data> = (1..5)
            .map(|seed| {
                let device = device(seed);
                let module = compile(&device, &program);
                let out = blank(&device, FLOAT, len);
                let xs = upload(&device, Data::F32(floats(n)));
                let args = [i64s(n), Arg::Buffer(xs), Arg::Buffer(out.clone())];
                run(&device, &module, "k", &args).expect("runs");
                download(&device, &out, len)
            })
            .collect();
        assert!(results.iter().all(|r| *r == results[0]), "scan: {scan}");
        let exact: f64 = floats(n).into_iter().map(f64::from).sum();
        let Const::F32(last) = results[0].get(len - 1) else {
            panic!("a float")
        };
        assert!((f64::from(f32::from_bits(last)) - exact).abs() < 1.0);
    }
}

/// Counts and sums of floats by bucket.
#[test]
fn histograms() {
    let program = program(|b| {
        let (n, m) = (
            b.fresh("n", common::plan::I64),
            b.fresh("m", common::plan::I64),
        );
        let (at, xs) = (
            b.fresh("at", buffer(ScalarType::I64)),
            b.fresh("xs", buffer(FLOAT)),
        );
        let (counts, sums) = (b.fresh("c", buffer(INT)), b.fresh("s", buffer(FLOAT)));
        let plus = |b: &mut midend::ir::build::Builder<'_, Mem>, ty, zero| {
            operator(b, ty, zero, |b, x, y| b.bin(BinOp::Add, ty, x, y))
        };
        let count = MemHist {
            buckets: m.into(),
            dests: vec![counts],
            op: plus(b, INT, Const::I32(0)),
        };
        let sum = MemHist {
            buckets: m.into(),
            dests: vec![sums],
            op: plus(b, FLOAT, Const::f32(0.0)),
        };
        kernel(
            b,
            "counts",
            &[n.into()],
            KernelKind::Hist(vec![count.clone()]),
            |b, i| vec![load(b, at, i[0]), Atom::Const(Const::I32(1))],
        );
        kernel(
            b,
            "sums",
            &[n.into()],
            KernelKind::Hist(vec![sum.clone()]),
            |b, i| {
                let index = load(b, at, i[0]);
                vec![index, load(b, xs, i[0])]
            },
        );
        // The body itself combines, twice.
        kernel(
            b,
            "body",
            &[n.into()],
            KernelKind::Hist(vec![sum]),
            |b, i| {
                let index = load(b, at, i[0]);
                let index = b.bin(BinOp::Mod, ScalarType::I64, index, m);
                for _ in 0..2 {
                    let (old, x) = (load(b, sums, index), load(b, xs, i[0]));
                    let new = b.bin(BinOp::Add, FLOAT, old, x);
                    store(b, sums, index, new);
                }
                vec![]
            },
        );
    });
    let device = device(3);
    let module = compile(&device, &program);
    for (n, m) in [(0, 3), (10, 1), (5000, 7), (30_000, 10), (1000, 5000)] {
        let places: Vec<i64> = (0..n).map(|i| (i * i) % (m + 2) - 1).collect();
        let values: Vec<f32> = (0..n).map(|i| (i % 64) as f32).collect();
        let (mut counts, mut sums) = (vec![5; m as usize], vec![1.0f32; m as usize]);
        let mut twice = sums.clone();
        for (place, x) in places.iter().zip(&values) {
            if (0..m).contains(place) {
                counts[*place as usize] += 1;
                sums[*place as usize] += x;
            }
            twice[place.rem_euclid(m) as usize] += 2.0 * x;
        }
        let at = upload(&device, Data::I64(places));
        let xs = upload(&device, Data::F32(values));
        let c = upload(&device, Data::I32(vec![5; m as usize]));
        let s = upload(&device, Data::F32(vec![1.0; m as usize]));
        let t = upload(&device, Data::F32(vec![1.0; m as usize]));
        let arg = |x: &common::plan::Buffer| Arg::Buffer(x.clone());
        run(
            &device,
            &module,
            "counts",
            &[i64s(n), i64s(m), arg(&at), arg(&c)],
        )
        .expect("runs");
        run(
            &device,
            &module,
            "sums",
            &[i64s(n), i64s(m), arg(&at), arg(&xs), arg(&s)],
        )
        .expect("runs");
        run(
            &device,
            &module,
            "body",
            &[i64s(n), i64s(m), arg(&at), arg(&xs), arg(&t)],
        )
        .expect("runs");
        assert_eq!(
            download(&device, &c, m as usize),
            Data::I32(counts),
            "{n} in {m}"
        );
        assert_eq!(
            download(&device, &s, m as usize),
            Data::F32(sums),
            "{n} in {m}"
        );
        assert_eq!(
            download(&device, &t, m as usize),
            Data::F32(twice),
            "{n} in {m}"
        );
    }
}

/// Rows of any lengths: each element tells its row and its place in the row; rows are reduced.
#[test]
fn ragged_rows() {
    let ragged =
        |b: &mut midend::ir::build::Builder<'_, Mem>, name: &str, kind, offsets, out: Option<_>| {
            let [i, j, start] = ["i", "j", "start"].map(|name| b.fresh(name, common::plan::I64));
            let rows = b.fresh("rows", common::plan::I64);
            let body = b.body(|b| {
                let scaled = b.mul(i, 1000);
                let value = b.add(scaled, j);
                let Some(out) = out else { return vec![value] };
                let at = b.add(start, j);
                store(b, out, at, value);
                vec![]
            });
            let space = vec![
                (i, Extent::Regular(rows.into())),
                (j, Extent::Ragged { offsets, start }),
            ];
            let kernel = Kernel {
                name: name.to_owned(),
                space,
                tiled: 0,
                steady: false,
                block: None,
                body,
                kind,
            };
            b.bind(vec![], Exp::Op(Mem::Launch(Box::new(kernel))));
        };
    let long = ScalarType::I64;
    let program = program(|b| {
        let [offsets, out, sums] =
            ["offsets", "out", "sums"].map(|name| b.fresh(name, buffer(long)));
        ragged(b, "map", KernelKind::Map, offsets, Some(out));
        let sum = operator(b, long, Const::I64(0), |b, x, y| {
            b.bin(BinOp::Add, long, x, y)
        });
        let kind = KernelKind::Red {
            ops: vec![sum],
            outs: vec![sums],
        };
        ragged(b, "sum", kind, offsets, None);
    });
    let lengths = [0, 3, 0, 0, 700, 1, 0, 40, 0];
    let mut starts = vec![0];
    for n in lengths {
        starts.push(starts[starts.len() - 1] + n);
    }
    let rows = lengths.len();
    let elements = |i: usize| (0..lengths[i]).map(move |j| 1000 * i as i64 + j);
    let device = device(2);
    let module = compile(&device, &program);
    let offsets = upload(&device, Data::I64(starts));
    let (out, sums) = (blank(&device, long, 744), blank(&device, long, rows));
    let arg = |x: &common::plan::Buffer| Arg::Buffer(x.clone());
    run(
        &device,
        &module,
        "map",
        &[arg(&offsets), arg(&out), i64s(rows as i64)],
    )
    .expect("runs");
    run(
        &device,
        &module,
        "sum",
        &[arg(&offsets), arg(&sums), i64s(rows as i64)],
    )
    .expect("runs");
    let expected = (0..rows).flat_map(elements).collect();
    assert_eq!(download(&device, &out, 744), Data::I64(expected));
    let expected = (0..rows).map(|i| elements(i).sum()).collect();
    assert_eq!(download(&device, &sums, rows), Data::I64(expected));
}

#[test]
fn what_a_plan_does_wrong_is_reported() {
    let program = program(|b| {
        let n = b.fresh("n", common::plan::I64);
        let out = b.fresh("out", buffer(INT));
        kernel(b, "beyond", &[n.into()], KernelKind::Map, |b, i| {
            let next = b.add(i[0], 1);
            store(b, out, next, Atom::Const(Const::I32(1)));
            vec![]
        });
        kernel(b, "neighbour", &[n.into()], KernelKind::Map, |b, i| {
            let other = b.bin(
                BinOp::Xor,
                ScalarType::I64,
                i[0],
                Atom::Const(Const::I64(1)),
            );
            let x = load(b, out, other);
            store(b, out, i[0], x);
            vec![]
        });
    });
    let device = device(1);
    let module = compile(&device, &program);
    for (name, what) in [("beyond", "out of bounds"), ("neighbour", "data race")] {
        let out = zeros(&device, INT, 64);
        let error = run(&device, &module, name, &[i64s(64), Arg::Buffer(out)]).expect_err("wrong");
        assert!(error.to_string().contains(what), "{error}");
        assert!(error.to_string().contains(&format!("k_{name}")), "{error}");
    }
}
