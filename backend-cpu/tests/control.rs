//! Loops, calls, local memory, failed checks and stopping.

mod common;

use common::{
    buffer, device, download, fun, i64s, kernel, load, program, program_with, run, store, zeros,
};
use midend::device::{Arg, Device, Stop};
use midend::ir::build::Builder;
use midend::ir::id::{FunId, Id, Var};
use midend::ir::mem::{KernelKind, Mem, Region};
use midend::ir::scalar::{BinOp, CmpOp, Const};
use midend::ir::syntax::{Atom, Exp, MessagePart, TrapKind};
use midend::ir::types::ScalarType;
use midend::trap::RunError;
use midend::value::Data;
use std::time::{Duration, Instant};

fn alloc(b: &mut Builder<'_, Mem>, len: impl Into<Atom>) -> Var {
    let op = Mem::Alloc {
        elem: ScalarType::I64,
        len: len.into(),
        over: None,
    };
    b.let_("m", buffer(ScalarType::I64), Exp::Op(op))
}

#[test]
fn loops_of_both_forms() {
    let program = program(|b| {
        let (n, out) = (
            b.fresh("n", common::I64),
            b.fresh("out", buffer(ScalarType::I64)),
        );
        kernel(b, "k", &[n.into()], KernelKind::Map, |b, i| {
            // The sum of the numbers below i, and the steps that i takes to 1 by halving and tripling.
            let acc = b.fresh("acc", common::I64);
            let sum = b.for_(i[0].into(), &[(acc, 0.into())], |b, j, p| {
                vec![b.add(p[0], j)]
            });
            let (x, steps) = (b.fresh("x", common::I64), b.fresh("steps", common::I64));
            let start = b.add(i[0], 1);
            let walk = b.while_(
                &[(x, start), (steps, 0.into())],
                |b, p| b.cmp(CmpOp::Lt, ScalarType::I64, 1, p[0]),
                |b, p| {
                    let odd = b.bin(BinOp::Mod, ScalarType::I64, p[0], 2);
                    let odd = b.cmp(CmpOp::Eq, ScalarType::I64, odd, 1);
                    let next = b.if_(
                        odd,
                        &[("y", common::I64)],
                        |b| {
                            let triple = b.mul(p[0], 3);
                            vec![b.add(triple, 1)]
                        },
                        |b| vec![b.bin(BinOp::Div, ScalarType::I64, p[0], 2)],
                    );
                    vec![next[0].into(), b.add(p[1], 1)]
                },
            );
            let steps = b.mul(walk[1], 1_000_000_000);
            let result = b.add(sum[0], steps);
            store(b, out, i[0], result);
            vec![]
        });
    });
    let device = device(2);
    let module = device.compile(&program).expect("compiles");
    let n = 5000;
    let out = zeros(&device, ScalarType::I64, n as usize);
    run(&device, &module, "k", &[i64s(n), Arg::Buffer(out.clone())]).expect("runs");
    let expected = (0..n).map(|i| {
        let (mut x, mut steps) = (i + 1, 0);
        while x > 1 {
            x = if x % 2 == 1 { 3 * x + 1 } else { x / 2 };
            steps += 1;
        }
        i * (i - 1) / 2 + steps * 1_000_000_000
    });
    assert_eq!(download(&device, &out), Data::I64(expected.collect()));
}

/// Counts to i with buffers: small and large, of fixed and of varying length, one carried through the loop.
#[test]
fn local_memory_is_given_back() {
    let program = program(|b| {
        let (n, out) = (
            b.fresh("n", common::I64),
            b.fresh("out", buffer(ScalarType::I64)),
        );
        kernel(b, "k", &[n.into()], KernelKind::Map, |b, i| {
            let small = alloc(b, 8);
            store(b, small, 3, i[0]);
            let large = alloc(b, 20_000);
            store(b, large, 19_999, i[0]);
            let len = b.add(i[0], 1);
            let carried = b.fresh("carried", buffer(ScalarType::I64));
            let first = alloc(b, len);
            store(b, first, i[0], 0);
            let last = b.for_(10.into(), &[(carried, first.into())], |b, _, p| {
                let next = alloc(b, len);
                let old = load(b, p[0], i[0]);
                let new = b.add(old, 1);
                store(b, next, i[0], new);
                vec![next.into()]
            });
            let a = load(b, small, 3);
            let c = load(b, large, 19_999);
            let d = load(b, last[0], i[0]);
            let sum = b.add(a, c);
            let sum = b.add(sum, d);
            store(b, out, i[0], sum);
            vec![]
        });
    });
    let device = device(2);
    let module = device.compile(&program).expect("compiles");
    let n = 3000;
    let out = zeros(&device, ScalarType::I64, n as usize);
    let before = device.memory_used();
    run(&device, &module, "k", &[i64s(n), Arg::Buffer(out.clone())]).expect("runs");
    assert_eq!(device.memory_used(), before);
    assert!(
        device.memory_peak() < 16 << 20,
        "{} bytes",
        device.memory_peak()
    );
    assert_eq!(
        download(&device, &out),
        Data::I64((0..n).map(|i| 2 * i + 10).collect())
    );
}

/// Two buffers swap their roles in each of many iterations, sometimes both are one, and sometimes none is replaced.
#[test]
fn loops_that_carry_buffers_stay_small() {
    let program = program(|b| {
        let (n, len, out) = (
            b.fresh("n", common::I64),
            b.fresh("len", common::I64),
            b.fresh("out", buffer(ScalarType::I64)),
        );
        kernel(b, "k", &[8.into()], KernelKind::Map, |b, i| {
            let [x, y] = ["x", "y"].map(|name| b.fresh(name, buffer(ScalarType::I64)));
            let first = alloc(b, len);
            let at = b.sub(len, 1);
            store(b, first, at, i[0]);
            let last = b.for_(
                n.into(),
                &[(x, first.into()), (y, first.into())],
                |b, _, p| {
                    let old = load(b, p[0], at);
                    let third = b.bin(BinOp::Mod, ScalarType::I64, old, 3);
                    let keep = b.cmp(CmpOp::Eq, ScalarType::I64, third, 2);
                    let new = alloc(b, len);
                    let more = b.add(old, 1);
                    store(b, new, at, more);
                    let formals = [
                        ("x", buffer(ScalarType::I64)),
                        ("y", buffer(ScalarType::I64)),
                    ];
                    let next = b.if_(
                        keep,
                        &formals,
                        |_| vec![new.into(), new.into()],
                        |_| vec![new.into(), p[0].into()],
                    );
                    vec![next[0].into(), next[1].into()]
                },
            );
            let (a, c) = (load(b, last[0], at), load(b, last[1], at));
            let a = b.mul(a, 1_000_000);
            let sum = b.add(a, c);
            store(b, out, i[0], sum);
            vec![]
        });
    });
    let device = device(2);
    let module = device.compile(&program).expect("compiles");
    for (n, len) in [(0, 1), (5, 20_000), (4000, 1), (4000, 1000), (100, 50_000)] {
        let out = zeros(&device, ScalarType::I64, 8);
        run(
            &device,
            &module,
            "k",
            &[i64s(n), i64s(len), Arg::Buffer(out.clone())],
        )
        .expect("runs");
        let expected = (0..8).map(|i| {
            let last = i + n;
            let other = if n == 0 || (last - 1) % 3 == 2 {
                last
            } else {
                last - 1
            };
            last * 1_000_000 + other
        });
        assert_eq!(
            download(&device, &out),
            Data::I64(expected.collect()),
            "{n} {len}"
        );
    }
    assert!(
        device.memory_peak() < 32 << 20,
        "{} bytes",
        device.memory_peak()
    );
}

#[test]
fn memory_beyond_the_limit_is_an_error() {
    let program = program(|b| {
        let n = b.fresh("n", common::I64);
        kernel(b, "k", &[], KernelKind::Seq, |b, _| {
            let m = alloc(b, n);
            store(b, m, 0, 1);
            vec![]
        });
    });
    let options = backend_cpu::Options {
        threads: 1,
        memory: Some(1 << 20),
        vector_bits: 0,
    };
    let device = backend_cpu::CpuDevice::new(options).expect("supported");
    let module = device.compile(&program).expect("compiles");
    for n in [1 << 20, 1 << 58, i64::MAX] {
        let result = run(&device, &module, "k", &[i64s(n)]);
        assert!(
            matches!(result, Err(RunError::OutOfMemory { limit: Some(_), .. })),
            "{n}: {result:?}"
        );
    }
    run(&device, &module, "k", &[i64s(1 << 10)]).expect("runs");
    assert!(matches!(
        device.alloc(ScalarType::F64, 1 << 20),
        Err(RunError::OutOfMemory { .. })
    ));
    assert!(matches!(
        device.alloc(ScalarType::F64, usize::MAX / 4),
        Err(RunError::OutOfMemory { .. })
    ));
}

#[test]
fn copies_in_kernels() {
    let program = program(|b| {
        let (x, y) = (b.fresh("x", common::I64), b.fresh("y", common::I64));
        let (src, dst) = (
            b.fresh("src", buffer(ScalarType::I32)),
            b.fresh("dst", buffer(ScalarType::I32)),
        );
        let one = Atom::from(1);
        for (name, strides) in [
            ("straight", [y.into(), one]),
            ("transposed", [one, x.into()]),
        ] {
            kernel(b, name, &[], KernelKind::Seq, |b, _| {
                let copy = Mem::Copy {
                    shape: vec![x.into(), y.into()],
                    dst: Region {
                        buffer: dst,
                        offset: 0.into(),
                        strides: strides.to_vec(),
                    },
                    src: Region {
                        buffer: src,
                        offset: 0.into(),
                        strides: vec![y.into(), one],
                    },
                };
                b.bind(vec![], Exp::Op(copy));
                vec![]
            });
        }
    });
    let device = device(1);
    let module = device.compile(&program).expect("compiles");
    for (x, y) in [(3, 5), (2, 500), (70, 1), (0, 3)] {
        let input: Vec<i32> = (0..(x * y) as i32).collect();
        let src = common::upload(&device, Data::I32(input.clone()));
        let dst = zeros(&device, ScalarType::I32, input.len());
        let args = [i64s(x), i64s(y), Arg::Buffer(src), Arg::Buffer(dst.clone())];
        run(&device, &module, "straight", &args).expect("runs");
        assert_eq!(download(&device, &dst), Data::I32(input.clone()));
        run(&device, &module, "transposed", &args).expect("runs");
        let transposed = (0..y)
            .flat_map(|j| (0..x).map(move |i| (i * y + j) as i32))
            .collect();
        assert_eq!(download(&device, &dst), Data::I32(transposed));
    }
}

/// A function with two results that calls itself, and one without end.
#[test]
fn calls_and_recursion() {
    let program = program_with(|funs, b| {
        let i64s = |b: &mut Builder<'_, Mem>, names: &[&str]| -> Vec<Var> {
            names
                .iter()
                .map(|name| b.fresh(name, common::I64))
                .collect()
        };
        // Consecutive Fibonacci numbers.
        let (p, r) = (i64s(b, &["n"]), i64s(b, &["a", "c"]));
        let body = b.body(|b| {
            let small = b.cmp(CmpOp::Le, ScalarType::I64, p[0], 0);
            let formals = [("a", common::I64), ("c", common::I64)];
            let out = b.if_(
                small,
                &formals,
                |_| vec![0.into(), 1.into()],
                |b| {
                    let less = b.sub(p[0], 1);
                    let call = Exp::Call {
                        fun: FunId::new(0),
                        args: vec![less],
                    };
                    let pair = b.let_all(&formals, call);
                    vec![pair[1].into(), b.add(pair[0], pair[1])]
                },
            );
            vec![out[0].into(), out[1].into()]
        });
        funs.push(fun("fibonacci", p, r, body));
        let (p, r) = (i64s(b, &["n"]), i64s(b, &["a"]));
        let body = b.body(|b| {
            let more = b.add(p[0], 1);
            let call = Exp::Call {
                fun: FunId::new(1),
                args: vec![more],
            };
            let deeper = b.let_("x", common::I64, call);
            vec![b.add(deeper, 1)]
        });
        funs.push(fun("endless", p, r, body));
        let out = b.fresh("out", buffer(ScalarType::I64));
        for (i, name) in ["fibonacci", "endless"].into_iter().enumerate() {
            kernel(b, name, &[50.into()], KernelKind::Map, |b, index| {
                let call = Exp::Call {
                    fun: FunId::new(i),
                    args: vec![index[0].into()],
                };
                let formals = [("a", common::I64), ("c", common::I64)];
                let result = b.let_all(&formals[..2 - i], call);
                store(b, out, index[0], result[0]);
                vec![]
            });
        }
    });
    let device = device(2);
    let module = device.compile(&program).expect("compiles");
    let out = zeros(&device, ScalarType::I64, 50);
    run(&device, &module, "fibonacci", &[Arg::Buffer(out.clone())]).expect("runs");
    let mut pair = (0i64, 1i64);
    let expected = (0..50).map(|_| {
        let this = pair.0;
        pair = (pair.1, pair.0 + pair.1);
        this
    });
    assert_eq!(download(&device, &out), Data::I64(expected.collect()));
    let result = run(&device, &module, "endless", &[Arg::Buffer(out.clone())]);
    assert!(
        matches!(&result, Err(RunError::Trap(trap)) if trap.kind == TrapKind::Recursion),
        "{result:?}"
    );
    let result = device
        .pool()
        .install(|| run(&device, &module, "endless", &[Arg::Buffer(out)]));
    assert!(
        matches!(&result, Err(RunError::Trap(trap)) if trap.kind == TrapKind::Recursion),
        "{result:?}"
    );
}

#[test]
fn failed_checks_are_reported_once() {
    let program = program(|b| {
        let (n, bad) = (b.fresh("n", common::I64), b.fresh("bad", common::I64));
        kernel(b, "k", &[n.into()], KernelKind::Map, |b, i| {
            let low = b.cmp(CmpOp::Lt, ScalarType::I64, i[0], bad);
            let parts = vec![
                MessagePart::Text("index [".to_owned()),
                MessagePart::Value(i[0].into()),
                MessagePart::Text("] of ".to_owned()),
                MessagePart::Value(bad.into()),
                MessagePart::Text(" and ".to_owned()),
                MessagePart::Value(Const::U8(200).into()),
            ];
            b.assert(low, TrapKind::Bounds, parts);
            vec![]
        });
    });
    let device = device(2);
    let module = device.compile(&program).expect("compiles");
    let start = Instant::now();
    for n in [10, 100_000_000_000] {
        let result = run(&device, &module, "k", &[i64s(n), i64s(5)]);
        let Err(RunError::Trap(trap)) = result else {
            panic!("{result:?}")
        };
        assert_eq!(trap.kind, TrapKind::Bounds);
        let tail = trap.message.strip_prefix("index [").expect("the text");
        let (index, rest) = tail.split_once(']').expect("the text");
        assert!(
            (5..n).contains(&index.parse::<i64>().expect("a number")),
            "{}",
            trap.message
        );
        assert_eq!(rest, " of 5 and 200");
    }
    assert!(start.elapsed() < Duration::from_secs(5));
    run(&device, &module, "k", &[i64s(5), i64s(5)]).expect("the next launch is a new one");
}

/// Kernels without end stop when asked, on whichever level they loop.
#[test]
fn stopping() {
    let program = program(|b| {
        let (n, out) = (
            b.fresh("n", common::I64),
            b.fresh("out", buffer(ScalarType::I64)),
        );
        let huge = Atom::from(i64::MAX);
        kernel(b, "while", &[4.into()], KernelKind::Map, |b, i| {
            let x = b.fresh("x", common::I64);
            let last = b.while_(
                &[(x, n.into())],
                |b, p| b.cmp(CmpOp::Le, ScalarType::I64, 0, p[0]),
                |b, p| {
                    let more = b.add(p[0], 1);
                    vec![b.bin(BinOp::And, ScalarType::I64, more, 0xffff)]
                },
            );
            store(b, out, i[0], last[0]);
            vec![]
        });
        kernel(b, "for", &[], KernelKind::Seq, |b, _| {
            let x = b.fresh("x", common::I64);
            let last = b.for_(huge, &[(x, 0.into())], |b, i, p| {
                vec![b.bin(BinOp::Xor, ScalarType::I64, p[0], i)]
            });
            store(b, out, 0, last[0]);
            vec![]
        });
        kernel(b, "nested", &[], KernelKind::Seq, |b, _| {
            let x = b.fresh("x", common::I64);
            let last = b.for_(huge, &[(x, 0.into())], |b, i, p| {
                let y = b.fresh("y", common::I64);
                let inner = b.for_(1000.into(), &[(y, p[0].into())], |b, j, p| {
                    let z = b.bin(BinOp::Xor, ScalarType::I64, p[0], i);
                    vec![b.add(z, j)]
                });
                vec![inner[0].into()]
            });
            store(b, out, 0, last[0]);
            vec![]
        });
        kernel(b, "space", &[huge], KernelKind::Map, |b, i| {
            store(b, out, 0, i[0]);
            vec![]
        });
    });
    let device = device(2);
    let module = device.compile(&program).expect("compiles");
    let out = zeros(&device, ScalarType::I64, 4);
    for name in ["while", "for", "nested", "space"] {
        let stop = Stop::new();
        let raised = std::thread::scope(|scope| {
            let stopper = scope.spawn(|| {
                std::thread::sleep(Duration::from_millis(60));
                stop.raise();
                Instant::now()
            });
            let args = [i64s(0), Arg::Buffer(out.clone())];
            let args = if name == "while" {
                &args[..]
            } else {
                &args[1..]
            };
            let result = device.launch(&module, name, args, &stop);
            assert!(
                matches!(result, Err(RunError::Interrupted)),
                "{name}: {result:?}"
            );
            stopper.join().expect("the stopper does not panic")
        });
        assert!(
            raised.elapsed() < Duration::from_millis(500),
            "{name} took {:?}",
            raised.elapsed()
        );
    }
}
