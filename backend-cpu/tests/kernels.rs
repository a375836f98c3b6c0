//! Kernels of every kind, against plain Rust, on one and on two threads.

mod common;

use common::{
    buffer, device, download, i64s, kernel, load, operator, program, run, store, upload, zeros,
};
use midend::device::{Arg, Device};
use midend::ir::mem::{KernelKind, MemHist};
use midend::ir::scalar::{BinOp, Const};
use midend::ir::soac::Operator;
use midend::ir::types::{ScalarType, Type};
use midend::value::Data;

/// Sizes at which something could go wrong.
const SIZES: [i64; 9] = [0, 1, 2, 15, 17, 1000, 1024, 65_537, 300_000];

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

#[test]
fn map_over_three_dimensions() {
    let program = program(|b| {
        let [x, y, z] = ["x", "y", "z"].map(|name| b.fresh(name, common::I64));
        let out = b.fresh("out", buffer(ScalarType::I64));
        kernel(
            b,
            "k",
            &[x.into(), y.into(), z.into()],
            KernelKind::Map,
            |b, i| {
                let row = b.mul(i[0], y);
                let row = b.add(row, i[1]);
                let row = b.mul(row, z);
                let flat = b.add(row, i[2]);
                let a = b.mul(i[0], 10_000);
                let c = b.mul(i[1], 100);
                let sum = b.add(a, c);
                let sum = b.add(sum, i[2]);
                let old = load(b, out, flat);
                let sum = b.add(sum, old);
                store(b, out, flat, sum);
                vec![]
            },
        );
    });
    for threads in [1, 2] {
        let device = device(threads);
        let module = device.compile(&program).expect("compiles");
        for (x, y, z) in [
            (3, 4, 5),
            (1, 1, 1),
            (0, 4, 5),
            (3, 0, 5),
            (7, 1, 3000),
            (100, 30, 2),
            (2000, 50, 1),
        ] {
            let out = zeros(&device, ScalarType::I64, (x * y * z) as usize);
            run(
                &device,
                &module,
                "k",
                &[i64s(x), i64s(y), i64s(z), Arg::Buffer(out.clone())],
            )
            .expect("runs");
            let mut expected = Vec::new();
            for i in 0..x {
                for j in 0..y {
                    expected.extend((0..z).map(|k| i * 10_000 + j * 100 + k));
                }
            }
            assert_eq!(download(&device, &out), Data::I64(expected), "{x} {y} {z}");
        }
    }
}

/// Sum and maximum in one traversal, which may be done in any order.
fn sum_and_max(
    b: &mut midend::ir::build::Builder<'_, midend::ir::mem::Mem>,
) -> Vec<Operator<midend::ir::mem::Mem>> {
    let float = ScalarType::F32;
    let mut ops = vec![
        operator(b, float, Const::f32(0.0), |b, x, y| {
            b.bin(BinOp::Add, float, x, y)
        }),
        operator(b, float, Const::f32(f32::NEG_INFINITY), |b, x, y| {
            b.bin(BinOp::Max, float, x, y)
        }),
    ];
    ops.iter_mut().for_each(|op| op.comm = true);
    ops
}

#[test]
fn reductions_do_not_depend_on_threads() {
    let program = program(|b| {
        let (o, n) = (b.fresh("o", common::I64), b.fresh("n", common::I64));
        let a = b.fresh("a", buffer(ScalarType::F32));
        let outs = ["s", "m"]
            .map(|name| b.fresh(name, buffer(ScalarType::F32)))
            .to_vec();
        let ops = sum_and_max(b);
        let kind = KernelKind::Red {
            ops,
            outs: outs.clone(),
        };
        kernel(b, "flat", &[n.into()], kind, |b, i| {
            let x = load(b, a, i[0]);
            vec![x, x]
        });
        let ops = sum_and_max(b);
        kernel(
            b,
            "rows",
            &[o.into(), n.into()],
            KernelKind::Red { ops, outs },
            |b, i| {
                let row = b.mul(i[0], n);
                let flat = b.add(row, i[1]);
                let x = load(b, a, flat);
                vec![x, x]
            },
        );
    });
    let mut seen = Vec::new();
    for threads in [1, 2] {
        let device = device(threads);
        let module = device.compile(&program).expect("compiles");
        let mut all = Vec::new();
        for (o, n) in
            SIZES
                .map(|n| (1, n))
                .into_iter()
                .chain([(3, 100_000), (1000, 37), (70, 3000), (4, 0)])
        {
            let input = floats(o * n);
            let a = Arg::Buffer(upload(&device, Data::F32(input.clone())));
            let outs = [
                zeros(&device, ScalarType::F32, o as usize),
                zeros(&device, ScalarType::F32, o as usize),
            ];
            let results = [Arg::Buffer(outs[0].clone()), Arg::Buffer(outs[1].clone())];
            let [s, m] = results;
            if o == 1 {
                run(&device, &module, "flat", &[i64s(n), a, s, m]).expect("runs");
            } else {
                run(&device, &module, "rows", &[i64s(o), i64s(n), a, s, m]).expect("runs");
            }
            let sums = download(&device, &outs[0]);
            for row in 0..o as usize {
                let part = &input[row * n as usize..][..n as usize];
                let exact: f64 = part.iter().map(|x| f64::from(*x)).sum();
                let Const::F32(sum) = sums.get(row) else {
                    panic!("an f32")
                };
                let error = (f64::from(f32::from_bits(sum)) - exact).abs();
                assert!(error <= 1e-3 * (n as f64 + 1.0), "{o} {n}: {error}");
                let most = part.iter().copied().fold(f32::NEG_INFINITY, f32::max);
                assert_eq!(
                    download(&device, &outs[1]).get(row),
                    Const::f32(most),
                    "{o} {n}"
                );
            }
            all.push((sums, download(&device, &outs[1])));
        }
        seen.push(all);
    }
    assert_eq!(seen[0], seen[1]);
}

/// The composition of linear functions, which is not commutative: (a, b) stands for x -> a x + b.
fn compose(
    b: &mut midend::ir::build::Builder<'_, midend::ir::mem::Mem>,
) -> Operator<midend::ir::mem::Mem> {
    let ty = ScalarType::U32;
    let formals = ["a", "b", "c", "d"].map(|name| (name, Type::Scalar(ty)));
    Operator {
        comm: false,
        lam: b.lambda(&formals, |b, p| {
            let factor = b.bin(BinOp::Mul, ty, p[0], p[2]);
            let term = b.bin(BinOp::Mul, ty, p[1], p[2]);
            vec![factor, b.bin(BinOp::Add, ty, term, p[3])]
        }),
        neutral: vec![Const::U32(1).into(), Const::U32(0).into()],
    }
}

#[test]
fn scans_keep_order() {
    let program = program(|b| {
        let (o, n) = (b.fresh("o", common::I64), b.fresh("n", common::I64));
        let a = b.fresh("a", buffer(ScalarType::I32));
        let outs = ["s", "m"]
            .map(|name| b.fresh(name, buffer(ScalarType::U32)))
            .to_vec();
        let ops = vec![compose(b)];
        kernel(
            b,
            "k",
            &[o.into(), n.into()],
            KernelKind::Scan {
                ops,
                outs,
                then: None,
            },
            |b, i| {
                let row = b.mul(i[0], n);
                let flat = b.add(row, i[1]);
                let x = load(b, a, flat);
                let x = b.convert(ScalarType::I32, ScalarType::U32, x);
                let odd = b.bin(BinOp::Or, ScalarType::U32, x, Const::U32(1));
                vec![odd, x]
            },
        );
    });
    for threads in [1, 2] {
        let device = device(threads);
        let module = device.compile(&program).expect("compiles");
        for (o, n) in
            SIZES
                .map(|n| (1, n))
                .into_iter()
                .chain([(3, 100_000), (1000, 37), (70, 3000), (0, 4)])
        {
            let input = ints(o * n);
            let a = Arg::Buffer(upload(&device, Data::I32(input.clone())));
            let outs = [0, 1].map(|_| zeros(&device, ScalarType::U32, (o * n) as usize));
            let [s, m] = outs.clone().map(Arg::Buffer);
            run(&device, &module, "k", &[i64s(o), i64s(n), a, s, m]).expect("runs");
            let (mut factors, mut terms) = (Vec::new(), Vec::new());
            for (i, x) in input.iter().enumerate() {
                if i as i64 % n == 0 {
                    factors.push(*x as u32 | 1);
                    terms.push(*x as u32);
                } else {
                    let (f, t) = (factors[i - 1], terms[i - 1]);
                    let g = *x as u32 | 1;
                    factors.push(g.wrapping_mul(f));
                    terms.push(t.wrapping_mul(g).wrapping_add(*x as u32));
                }
            }
            assert_eq!(download(&device, &outs[0]), Data::U32(factors), "{o} {n}");
            assert_eq!(download(&device, &outs[1]), Data::U32(terms), "{o} {n}");
        }
    }
}

#[test]
fn float_scans_do_not_depend_on_threads() {
    let program = program(|b| {
        let n = b.fresh("n", common::I64);
        let a = b.fresh("a", buffer(ScalarType::F32));
        let out = b.fresh("out", buffer(ScalarType::F32));
        let ops = vec![operator(b, ScalarType::F32, Const::f32(0.0), |b, x, y| {
            b.bin(BinOp::Add, ScalarType::F32, x, y)
        })];
        kernel(
            b,
            "k",
            &[n.into()],
            KernelKind::Scan {
                ops,
                outs: vec![out],
                then: None,
            },
            |b, i| vec![load(b, a, i[0])],
        );
    });
    let results = [1, 2].map(|threads| {
        let device = device(threads);
        let module = device.compile(&program).expect("compiles");
        let n = 1_000_000;
        let a = Arg::Buffer(upload(&device, Data::F32(floats(n))));
        let out = zeros(&device, ScalarType::F32, n as usize);
        run(
            &device,
            &module,
            "k",
            &[i64s(n), a, Arg::Buffer(out.clone())],
        )
        .expect("runs");
        download(&device, &out)
    });
    assert!(results[0] == results[1]);
    let exact: f64 = floats(1_000_000).iter().map(|x| f64::from(*x)).sum();
    let Const::F32(last) = results[0].get(999_999) else {
        panic!("an f32")
    };
    assert!((f64::from(f32::from_bits(last)) - exact).abs() < 100.0);
}

#[test]
fn histograms_ignore_what_is_outside() {
    let program = program(|b| {
        let (n, k) = (b.fresh("n", common::I64), b.fresh("k", common::I64));
        let a = b.fresh("a", buffer(ScalarType::I32));
        let (counts, sums) = (
            b.fresh("c", buffer(ScalarType::I64)),
            b.fresh("s", buffer(ScalarType::F64)),
        );
        let hist = |dest, op| MemHist {
            buckets: k.into(),
            dests: vec![dest],
            op,
        };
        let add = |ty, zero| {
            move |b: &mut _| operator(b, ty, zero, move |b, x, y| b.bin(BinOp::Add, ty, x, y))
        };
        let first = hist(counts, add(ScalarType::I64, Const::I64(0))(b));
        let second = hist(sums, add(ScalarType::F64, Const::f64(0.0))(b));
        kernel(
            b,
            "k",
            &[n.into()],
            KernelKind::Hist(vec![first, second]),
            |b, i| {
                let x = load(b, a, i[0]);
                let bucket = b.convert(ScalarType::I32, ScalarType::I64, x);
                let value = b.convert(ScalarType::I32, ScalarType::F64, x);
                let value = b.bin(BinOp::Mul, ScalarType::F64, value, Const::f64(0.1));
                vec![bucket, bucket, Const::I64(1).into(), value]
            },
        );
    });
    let mut seen = Vec::new();
    for threads in [1, 2] {
        let device = device(threads);
        let module = device.compile(&program).expect("compiles");
        let mut all = Vec::new();
        for (n, k) in [
            (0, 5),
            (10, 0),
            (100, 7),
            (500_000, 16),
            (500_000, 40_000),
            (1000, 100_000),
        ] {
            let input = ints(n);
            let a = Arg::Buffer(upload(&device, Data::I32(input.clone())));
            let (counts, sums) = (
                upload(&device, Data::I64(vec![1; k as usize])),
                zeros(&device, ScalarType::F64, k as usize),
            );
            let args = [
                i64s(n),
                i64s(k),
                a,
                Arg::Buffer(counts.clone()),
                Arg::Buffer(sums.clone()),
            ];
            run(&device, &module, "k", &args).expect("runs");
            let mut expected = vec![1; k as usize];
            for x in input {
                if let Ok(x) = usize::try_from(x)
                    && let Some(count) = expected.get_mut(x)
                {
                    *count += 1;
                }
            }
            assert_eq!(download(&device, &counts), Data::I64(expected), "{n} {k}");
            all.push(download(&device, &sums));
        }
        seen.push(all);
    }
    assert_eq!(seen[0], seen[1]);
}

/// Maps with a loop inside are worked on several points at a time; rows of all lengths, whatever the first point of a
/// chunk is, and all the ways in which lanes meet: neighbouring, distant and equal elements, carried and computed
/// values, choices, checks.
#[test]
fn neighbouring_points_do_not_mix() {
    use midend::ir::scalar::{CmpOp, UnOp};
    use midend::ir::syntax::{MessagePart, TrapKind};
    let float = ScalarType::F32;
    let program = program(|b| {
        let [n, m, p, bad] = ["n", "m", "p", "bad"].map(|name| b.fresh(name, common::I64));
        let [x, y, out] = ["x", "y", "out"].map(|name| b.fresh(name, buffer(float)));
        let counts = b.fresh("counts", buffer(ScalarType::I64));
        kernel(b, "k", &[n.into(), p.into()], KernelKind::Map, |b, i| {
            let fine = b.cmp(CmpOp::Lt, ScalarType::I64, i[1], bad);
            let parts = vec![MessagePart::Value(i[1].into())];
            // What follows names the certificate, as code does that the check protects.
            let ok = b.assert(fine, TrapKind::Bounds, parts);
            b.certs.extend(ok);
            let row = b.mul(i[0], m);
            let (sum, count) = (
                b.fresh("sum", Type::Scalar(float)),
                b.fresh("count", common::I64),
            );
            // Used in the loop and after it, which may have no iteration.
            let shift = b.add(i[1], 1);
            let shift = b.convert(ScalarType::I64, float, shift);
            let start = b.convert(ScalarType::I64, float, i[1]);
            let carried = [(sum, start), (count, i[0].into())];
            let results = b.for_(m.into(), &carried, |b, k, c| {
                let at = b.add(row, k);
                let left = load(b, x, at);
                let at = b.mul(k, p);
                let at = b.add(at, i[1]);
                let right = load(b, y, at);
                let at = b.mul(i[1], m);
                let at = b.add(k, at);
                let distant = load(b, y, at);
                let product = b.bin(BinOp::Mul, float, left, right);
                let other = b.un(UnOp::Abs, float, distant);
                let other = b.bin(BinOp::Mul, float, other, shift);
                let product = b.bin(BinOp::Sub, float, product, other);
                let more = b.bin(BinOp::Add, float, c[0], product);
                let high = b.cmp(CmpOp::Lt, float, Const::f32(0.5), right);
                let step = b.if_(
                    high,
                    &[("step", common::I64)],
                    |_| vec![2.into()],
                    |_| vec![1.into()],
                );
                vec![more, b.add(c[1], step[0])]
            });
            let at = b.mul(i[0], p);
            let at = b.add(at, i[1]);
            let scaled = b.bin(BinOp::Max, float, results[0], Const::f32(0.0));
            let scaled = b.bin(BinOp::Sub, float, scaled, shift);
            store(b, out, at, scaled);
            store(b, counts, at, results[1]);
            vec![]
        });
    });
    let device = device(2);
    let module = device.compile(&program).expect("compiles");
    let value = |i: i64| ((i * 7919) % 16) as f32 / 16.0;
    for (n, m, p) in [
        (1, 3, 1),
        (2, 5, 7),
        (3, 4, 8),
        (5, 0, 9),
        (7, 33, 31),
        (300, 17, 23),
        (40, 100, 100),
    ] {
        let xs: Vec<f32> = (0..n * m).map(value).collect();
        let ys: Vec<f32> = (0..m * p).map(|i| value(i + 3)).collect();
        let out = zeros(&device, float, (n * p) as usize);
        let counts = zeros(&device, ScalarType::I64, (n * p) as usize);
        let buffers = [Data::F32(xs.clone()), Data::F32(ys.clone())]
            .map(|data| Arg::Buffer(upload(&device, data)));
        let [x, y] = buffers;
        let mut args = vec![
            i64s(n),
            i64s(m),
            i64s(p),
            i64s(p),
            x,
            y,
            Arg::Buffer(out.clone()),
            Arg::Buffer(counts.clone()),
        ];
        run(&device, &module, "k", &args).expect("runs");
        let (mut sums, mut steps) = (Vec::new(), Vec::new());
        for i in 0..n {
            for j in 0..p {
                let (mut sum, mut count) = (j as f32, i);
                for k in 0..m {
                    let right = ys[(k * p + j) as usize];
                    sum += xs[(i * m + k) as usize] * right
                        - ys[(k + j * m) as usize].abs() * (j + 1) as f32;
                    count += if right > 0.5 { 2 } else { 1 };
                }
                sums.push(sum.max(0.0) - (j + 1) as f32);
                steps.push(count);
            }
        }
        assert_eq!(download(&device, &out), Data::F32(sums), "{n} {m} {p}");
        assert_eq!(download(&device, &counts), Data::I64(steps), "{n} {m} {p}");
        args[3] = i64s(p - 1);
        let result = run(&device, &module, "k", &args);
        let expected = (p - 1).to_string();
        assert!(
            matches!(&result, Err(midend::trap::RunError::Trap(trap)) if trap.message == expected),
            "{result:?}"
        );
    }
}
