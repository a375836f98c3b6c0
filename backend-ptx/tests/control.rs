//! Control flow, local memory, checks, functions: lowered and run on the emulator; assembled for every target.

mod common;

use backend_ptx::{EmuDevice, Options};
use common::plan::{
    I64, alloc, blank, buffer, compile, device, download, fun, i64s, kernel, load, program,
    program_with, run, store,
};
use midend::device::Arg;
use midend::ir::id::FunId;
use midend::ir::mem::{KernelKind, Mem, Region};
use midend::ir::scalar::{BinOp, CmpOp, Const};
use midend::ir::syntax::{Atom, Exp, LoopForm, MessagePart, TrapKind};
use midend::ir::types::{ScalarType, Type};
use midend::trap::RunError;
use midend::value::Data;

const LONG: ScalarType = ScalarType::I64;

fn c(n: i64) -> Atom {
    Atom::Const(Const::I64(n))
}

/// Runs a kernel `k` over n points with one result each.
fn results(
    program: &midend::ir::syntax::Program<Mem>,
    n: i64,
    args: &[i64],
) -> Result<Vec<i64>, RunError> {
    results_on(&device(5), program, n, args)
}

fn results_on(
    device: &EmuDevice,
    program: &midend::ir::syntax::Program<Mem>,
    n: i64,
    args: &[i64],
) -> Result<Vec<i64>, RunError> {
    let module = compile(device, program);
    let out = blank(device, LONG, n as usize);
    let mut all: Vec<_> = args.iter().map(|a| i64s(*a)).collect();
    all.push(Arg::Buffer(out.clone()));
    run(device, &module, "k", &all)?;
    let Data::I64(values) = download(device, &out, n as usize) else {
        panic!("integers")
    };
    Ok(values)
}

#[test]
fn loops_of_different_lengths_in_neighbouring_threads() {
    // Steps of the Collatz sequence, and the greatest number on the way.
    let program = program(|b| {
        let n = b.fresh("n", I64);
        let out = b.fresh("out", buffer(LONG));
        kernel(b, "k", &[n.into()], KernelKind::Map, |b, i| {
            let start = b.add(i[0], 1);
            let [x, steps] = ["x", "steps"].map(|name| b.fresh(name, I64));
            let cond = b.body(|b| {
                let one = b.eq(x, c(1));
                vec![b.not(one)]
            });
            let body = b.body(|b| {
                let rest = b.bin(BinOp::Mod, LONG, x, c(2));
                let odd = b.eq(rest, c(1));
                let next = b.if_(
                    odd,
                    &[("y", I64)],
                    |b| {
                        let y = b.mul(x, 3);
                        vec![b.add(y, 1)]
                    },
                    |b| vec![b.bin(BinOp::Div, LONG, x, c(2))],
                );
                vec![next[0].into(), b.add(steps, 1)]
            });
            let all = b.loop_(&[(x, start), (steps, c(0))], LoopForm::While(cond), body);
            store(b, out, i[0], all[1]);
            vec![]
        });
    });
    let expected: Vec<i64> = (1..=300)
        .map(|mut x: i64| {
            let mut steps = 0;
            while x != 1 {
                x = if x % 2 == 1 { 3 * x + 1 } else { x / 2 };
                steps += 1;
            }
            steps
        })
        .collect();
    assert_eq!(results(&program, 300, &[300]), Ok(expected));
}

#[test]
fn values_that_loops_exchange() {
    let program = program(|b| {
        let n = b.fresh("n", I64);
        let out = b.fresh("out", buffer(LONG));
        kernel(b, "k", &[n.into()], KernelKind::Map, |b, i| {
            let [x, y, k] = ["x", "y", "k"].map(|name| b.fresh(name, I64));
            let body = b.body(|b| vec![y.into(), b.add(x, y)]);
            let form = LoopForm::For {
                index: k,
                bound: i[0].into(),
            };
            let fib = b.loop_(&[(x, c(0)), (y, c(1))], form, body);
            store(b, out, i[0], fib[0]);
            vec![]
        });
    });
    let mut pair = (0i64, 1i64);
    let expected: Vec<i64> = (0..60)
        .map(|_| {
            let now = pair.0;
            pair = (pair.1, pair.0 + pair.1);
            now
        })
        .collect();
    assert_eq!(results(&program, 60, &[60]), Ok(expected));
}

/// Fills local memory of `len` elements with squares, turns it around by a strided copy, and sums what `pick` says.
fn local(len: impl Fn(Atom) -> Atom) -> midend::ir::syntax::Program<Mem> {
    program(|b| {
        let (n, m) = (b.fresh("n", I64), b.fresh("m", I64));
        let out = b.fresh("out", buffer(LONG));
        kernel(b, "k", &[n.into()], KernelKind::Map, |b, i| {
            let len = len(m.into());
            let (first, second) = (alloc(b, LONG, len), alloc(b, LONG, len));
            let j = b.fresh("j", I64);
            let body = b.body(|b| {
                let square = b.mul(j, j);
                let value = b.add(square, i[0]);
                store(b, first, j, value);
                vec![]
            });
            b.loop_(
                &[],
                LoopForm::For {
                    index: j,
                    bound: m.into(),
                },
                body,
            );
            let last = b.sub(m, 1);
            let copy = Mem::Copy {
                shape: vec![m.into()],
                dst: Region {
                    buffer: second,
                    offset: c(0),
                    strides: vec![c(1)],
                },
                src: Region {
                    buffer: first,
                    offset: last,
                    strides: vec![c(-1)],
                },
            };
            b.bind(vec![], Exp::Op(copy));
            let at = b.bin(BinOp::Mod, LONG, i[0], m);
            let x = load(b, second, at);
            store(b, out, i[0], x);
            vec![]
        });
    })
}

#[test]
fn memory_of_a_point() {
    let expected: Vec<i64> = (0..100)
        .map(|i| (19 - i % 20) * (19 - i % 20) + i)
        .collect();
    for program in [local(|_| c(20)), local(|m| m)] {
        assert_eq!(results(&program, 100, &[100, 20]), Ok(expected.clone()));
    }
    // More than threads have at first.
    let large = local(|m| m);
    let expected: Vec<i64> = (0..40).map(|i| (2999 - i) * (2999 - i) + i).collect();
    assert_eq!(results(&large, 40, &[40, 3000]), Ok(expected));
}

/// Each point makes an array of numbers as long as its index, and before it, if that is odd, one of truth values.
fn different() -> midend::ir::syntax::Program<Mem> {
    program(|b| {
        let n = b.fresh("n", I64);
        let out = b.fresh("out", buffer(LONG));
        kernel(b, "k", &[n.into()], KernelKind::Map, |b, i| {
            let len = b.add(i[0], 1);
            let half = b.bin(BinOp::Mod, LONG, i[0], c(2));
            let odd = b.eq(half, c(1));
            let seen = b.if_(
                odd,
                &[("seen", I64)],
                |b| {
                    let flags = alloc(b, ScalarType::Bool, len);
                    store(b, flags, i[0], Atom::Const(Const::Bool(true)));
                    let x = load(b, flags, i[0]);
                    vec![b.select(LONG, x, c(100), c(0))]
                },
                |_| vec![c(0)],
            );
            let own = alloc(b, LONG, len);
            let j = b.fresh("j", I64);
            let body = b.body(|b| {
                let value = b.mul(j, i[0]);
                store(b, own, j, value);
                vec![]
            });
            let form = LoopForm::For {
                index: j,
                bound: len,
            };
            b.loop_(&[], form, body);
            let x = load(b, own, i[0]);
            let sum = b.add(x, seen[0]);
            store(b, out, i[0], sum);
            vec![]
        });
    })
}

#[test]
fn neighbours_with_arrays_of_other_lengths_and_types() {
    let expected: Vec<i64> = (0..200).map(|i| i * i + i % 2 * 100).collect();
    assert_eq!(results(&different(), 200, &[200]), Ok(expected));
}

#[test]
fn memory_of_points_is_interleaved() {
    // An element is 32 slots of 8 bytes behind the one before it.
    let far = ["shl.b64", ", 8;"];
    let has = |program: &midend::ir::syntax::Program<Mem>| {
        let texts = compile(&device(5), program).texts(90);
        let mut lines = texts.iter().flat_map(|(_, text)| text.lines());
        lines.any(|line| far.iter().all(|part| line.contains(part)))
    };
    assert!(has(&local(|m| m)));
    assert!(!has(&local(|_| c(20))));
}

#[test]
fn buffers_that_go_from_iteration_to_iteration() {
    // Each iteration makes a buffer out of the last one: ten thousand of them do not fit side by side.
    let program = program(|b| {
        let (n, m) = (b.fresh("n", I64), b.fresh("m", I64));
        let out = b.fresh("out", buffer(LONG));
        kernel(b, "k", &[n.into()], KernelKind::Map, |b, i| {
            let first = alloc(b, LONG, n);
            store(b, first, c(0), i[0]);
            store(b, first, c(1), c(1));
            let (held, j) = (b.fresh("held", buffer(LONG)), b.fresh("j", I64));
            let body = b.body(|b| {
                let next = alloc(b, LONG, n);
                let (x, y) = (load(b, held, c(0)), load(b, held, c(1)));
                let sum = b.add(x, y);
                store(b, next, c(0), sum);
                store(b, next, c(1), y);
                vec![next.into()]
            });
            let form = LoopForm::For {
                index: j,
                bound: m.into(),
            };
            let last = b.loop_(&[(held, first.into())], form, body);
            let x = load(b, last[0], c(0));
            store(b, out, i[0], x);
            vec![]
        });
    });
    let expected: Vec<i64> = (0..5).map(|i| i + 1000).collect();
    assert_eq!(results(&program, 5, &[5, 1000]), Ok(expected));
}

#[test]
fn a_check_reports_its_values() {
    let program = program(|b| {
        let n = b.fresh("n", I64);
        let out = b.fresh("out", buffer(LONG));
        kernel(b, "k", &[n.into()], KernelKind::Map, |b, i| {
            let small = b.lt(i[0], c(77));
            let parts = vec![
                MessagePart::Text("index ".into()),
                MessagePart::Value(i[0].into()),
                MessagePart::Text(" of ".into()),
                MessagePart::Value(Atom::Const(Const::f32(1.5))),
            ];
            b.assert(small, TrapKind::Bounds, parts);
            store(b, out, i[0], i[0]);
            vec![]
        });
    });
    assert_eq!(results(&program, 77, &[77]), Ok((0..77).collect()));
    let Err(RunError::Trap(trap)) = results(&program, 78, &[78]) else {
        panic!("the check fails")
    };
    assert_eq!(trap.kind, TrapKind::Bounds);
    assert_eq!(trap.message, "index 77 of 1.5");
}

/// `f(n, b) = n * f(n - 1, !b)`, stopped at 0, where it takes the sign of `b`.
fn recursive() -> midend::ir::syntax::Program<Mem> {
    program_with(|funs, b| {
        let bool_ty = Type::Scalar(ScalarType::Bool);
        let (m, flag) = (b.fresh("m", I64), b.fresh("flag", bool_ty));
        let result = b.fresh("r", I64);
        let body = b.body(|b| {
            let done = b.cmp(CmpOp::Le, LONG, m, c(0));
            let r = b.if_(
                done,
                &[("r", I64)],
                |b| vec![b.select(LONG, flag.into(), c(1), c(-1))],
                |b| {
                    let less = b.sub(m, 1);
                    let not = b.not(flag);
                    let call = Exp::Call {
                        fun: FunId(0),
                        args: vec![less, not],
                    };
                    let rest = b.let_("x", I64, call);
                    vec![b.add(rest, m)]
                },
            );
            vec![r[0].into()]
        });
        funs.push(fun("f", vec![m, flag], vec![result], body));
        let (n, scale) = (b.fresh("n", I64), b.fresh("scale", I64));
        let out = b.fresh("out", buffer(LONG));
        kernel(b, "k", &[n.into()], KernelKind::Map, |b, i| {
            let m = b.mul(i[0], scale);
            let call = Exp::Call {
                fun: FunId(0),
                args: vec![m, Atom::Const(Const::Bool(true))],
            };
            let x = b.let_("x", I64, call);
            store(b, out, i[0], x);
            vec![]
        });
    })
}

#[test]
fn recursion_and_its_limit() {
    let program = recursive();
    let expected: Vec<i64> = (0..40)
        .map(|i: i64| i * (i + 1) / 2 + if i % 2 == 0 { 1 } else { -1 })
        .collect();
    assert_eq!(results(&program, 40, &[40, 1]), Ok(expected));
    let Err(RunError::Trap(trap)) = results(&program, 2, &[2, 1_000_000]) else {
        panic!("that is too deep")
    };
    assert_eq!(trap.kind, TrapKind::Recursion);
}

#[test]
fn calls_too_deep_for_the_stacks_are_emulated() {
    let program = recursive();
    let options = Options {
        depth: 100,
        ..Options::default()
    };
    let device = EmuDevice::new(options).expect("there is memory");
    let expected: Vec<i64> = (0..300)
        .map(|i: i64| i * (i + 1) / 2 + if i % 2 == 0 { 1 } else { -1 })
        .collect();
    assert_eq!(results_on(&device, &program, 300, &[300, 1]), Ok(expected));
    let Err(RunError::Trap(trap)) = results_on(&device, &program, 2, &[2, 1_000_000]) else {
        panic!("that is too deep")
    };
    assert_eq!(trap.kind, TrapKind::Recursion);
}
