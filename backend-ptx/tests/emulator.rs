//! Kernels written by hand, run on the emulator in many orders: what is right passes, what is not is reported.

mod common;

use backend_ptx::emu::{Fault, FaultKind, Memory};
use backend_ptx::ptx::ops::{AtomOp, Binary, Cmp, Shuffle, Special};
use backend_ptx::ptx::verify::verify;
use backend_ptx::ptx::{
    Builder, Class, Inst, Module, Operand, Order, Origin, Reg, Scope, Space, Ty, print,
};
use common::ptxas::TARGETS;
use common::{at, below, imm, kernel, near, pointer, ptxas, read, run, shared, thread, words};

const SEEDS: std::ops::Range<u64> = 1..9;

fn assembles(module: &Module, least: u32) {
    for target in TARGETS.into_iter().filter(|t| *t >= least) {
        verify(module, target).expect("well-formed");
        let text = print::module(module, target);
        ptxas::assemble(&text, target).unwrap_or_else(|log| panic!("sm_{target}: {log}"));
    }
}

/// A source line for reports to name.
fn line(b: &mut Builder, number: u32) {
    b.origin(Origin {
        place: format!("sum.fut:{number}:3"),
        what: "let s = reduce".to_owned(),
    });
}

fn add(b: &mut Builder, x: impl Into<Operand>, y: impl Into<Operand>) -> Reg {
    b.bin(Binary::Add, Ty::U32, x, y)
}

/// Sum of a warp, in all lanes.
fn warp_sum(b: &mut Builder, mut value: Reg) -> Reg {
    for step in [16, 8, 4, 2, 1] {
        let (other, _) = b.shuffle(Shuffle::Butterfly, value, imm(step), 31);
        value = add(b, value, other);
    }
    value
}

/// Sum of an array: warps, then blocks, then the block that comes last.
fn reduction(fence: bool) -> Module {
    kernel(128, 40, |b| {
        let (input, part) = (pointer(b, 0), pointer(b, 8));
        let (ticket, out) = (pointer(b, 16), pointer(b, 24));
        let n = b.param(Ty::U32, 32);
        line(b, 7);
        let (i, tid) = (thread(b), b.special(Special::Tid));
        let value = common::variable(b, 0);
        let inside = below(b, i, n);
        b.when(inside, false, |b| {
            let place = at(b, input, i);
            let x = b.load(Space::Global, Ty::U32, place);
            b.set(Ty::B32, value, x);
        });
        let sum = warp_sum(b, value);
        let sums = shared(b, 5);
        let lane = b.special(Special::Lane);
        let first = b.cmp(Cmp::Eq, Ty::U32, lane, imm(0));
        let warp = b.bin(Binary::Shr, Ty::U32, tid, imm(5));
        let place = near(b, sums, warp);
        b.guarded(
            first,
            Inst::store(
                Space::Shared,
                Order::Weak,
                Ty::U32,
                place.into(),
                sum.into(),
            ),
        );
        b.inst(Inst::Barrier);
        let leader = b.cmp(Cmp::Eq, Ty::U32, tid, imm(0));
        b.when(leader, false, |b| {
            let mut total = b.load(Space::Shared, Ty::U32, sums);
            for i in 1..4 {
                let x = b.load(
                    Space::Shared,
                    Ty::U32,
                    backend_ptx::ptx::Address {
                        base: sums,
                        offset: 4 * i,
                    },
                );
                total = add(b, total, x);
            }
            let block = b.special(Special::Ctaid);
            let place = at(b, part, block);
            b.store(Space::Global, Ty::U32, place, total);
            let blocks = b.special(Special::Nctaid);
            let last = b.bin(Binary::Sub, Ty::U32, blocks, imm(1));
            let drawn = b.reg(Class::B32);
            let dst = Some(drawn);
            let order = if fence {
                Order::AcquireRelease(Scope::Gpu)
            } else {
                Order::Relaxed(Scope::Gpu)
            };
            b.inst(Inst::Atom {
                op: AtomOp::Inc,
                space: Space::Global,
                order,
                ty: Ty::U32,
                dst,
                at: ticket.into(),
                a: last.into(),
                b: None,
            });
            let mine = b.cmp(Cmp::Eq, Ty::U32, drawn, last);
            b.when(mine, false, |b| {
                let (i, total) = (common::variable(b, 0), common::variable(b, 0));
                b.repeat(
                    false,
                    |b| below(b, i, blocks).into(),
                    |b| {
                        let place = at(b, part, i);
                        let x = b.load(Space::Global, Ty::U32, place);
                        b.bin_to(total, Binary::Add, Ty::U32, total, x);
                        b.bin_to(i, Binary::Add, Ty::U32, i, imm(1));
                    },
                );
                b.store(Space::Global, Ty::U32, out, total);
            });
        });
    })
}

fn run_reduction(module: &Module, n: u32, seed: u64) -> Result<u32, Box<Fault>> {
    let mut memory = Memory::new();
    let values: Vec<u32> = (0..n).map(|i| i * 7 % 1000).collect();
    let blocks = n.div_ceil(128).max(1);
    let input = words(&mut memory, &values);
    let (part, ticket) = (memory.alloc(4, blocks as usize), words(&mut memory, &[0]));
    let out = memory.alloc(4, 1);
    run(
        module,
        &mut memory,
        blocks,
        &[input, part, ticket, out, n.into()],
        seed,
    )?;
    assert_eq!(
        read(&memory, ticket, 1),
        [0],
        "the counter is ready for the next launch"
    );
    Ok(read(&memory, out, 1)[0])
}

#[test]
fn a_reduction_of_many_blocks() {
    let module = reduction(true);
    assembles(&module, 75);
    for n in [1, 31, 128, 129, 1000, 5000] {
        let sum: u32 = (0..n).map(|i| i * 7 % 1000).sum();
        for seed in SEEDS {
            assert_eq!(
                run_reduction(&module, n, seed),
                Ok(sum),
                "{n} elements, seed {seed}"
            );
        }
    }
}

#[test]
fn a_missing_release_is_a_race_between_blocks() {
    let module = reduction(false);
    let faults: Vec<Box<Fault>> = SEEDS
        .filter_map(|seed| run_reduction(&module, 5000, seed).err())
        .collect();
    assert!(!faults.is_empty());
    assert!(
        faults.iter().all(|f| f.kind == FaultKind::Race),
        "{faults:?}"
    );
}

/// Takes a lock, adds to two words, and gives it back; lanes of one warp compete.
fn locked() -> Module {
    kernel(64, 16, |b| {
        let (lock, words) = (pointer(b, 0), pointer(b, 8));
        let got = common::variable(b, 1);
        let order = Order::Relaxed(Scope::Gpu);
        b.repeat(
            false,
            |b| b.cmp(Cmp::Ne, Ty::U32, got, imm(0)).into(),
            |b| {
                b.inst(Inst::Atom {
                    op: AtomOp::Exch,
                    space: Space::Global,
                    order,
                    ty: Ty::B32,
                    dst: Some(got),
                    at: lock.into(),
                    a: imm(1),
                    b: None,
                });
            },
        );
        b.inst(Inst::Fence(Scope::Gpu));
        for offset in [0, 4] {
            let place = backend_ptx::ptx::Address {
                base: words,
                offset,
            };
            let x = b.load_as(Space::Global, order, Ty::U32, place);
            let x = add(b, x, imm(1));
            b.inst(Inst::store(Space::Global, order, Ty::U32, place, x.into()));
        }
        b.inst(Inst::Fence(Scope::Gpu));
        b.inst(Inst::store(
            Space::Global,
            order,
            Ty::U32,
            lock.into(),
            imm(0),
        ));
    })
}

#[test]
fn lanes_that_wait_for_each_other_make_progress() {
    let module = locked();
    assembles(&module, 75);
    for seed in 1..4 {
        let mut memory = Memory::new();
        let (lock, two) = (words(&mut memory, &[0]), words(&mut memory, &[0, 0]));
        run(&module, &mut memory, 3, &[lock, two], seed).expect("no fault");
        assert_eq!(read(&memory, two, 2), [192, 192]);
    }
}

#[test]
fn waiting_for_nothing_is_a_deadlock() {
    let module = locked();
    let mut memory = Memory::new();
    let (lock, two) = (words(&mut memory, &[1]), words(&mut memory, &[0, 0]));
    let fault =
        run(&module, &mut memory, 1, &[lock, two], 1).expect_err("nobody gives the lock back");
    assert_eq!(fault.kind, FaultKind::Deadlock);
}

/// Each block adds its number to what the block before it has published, value and flag in one word or two.
fn chain(fences: bool) -> Module {
    kernel(32, 24, |b| {
        let (counter, values, flags) = (pointer(b, 0), pointer(b, 8), pointer(b, 16));
        let tid = b.special(Special::Tid);
        let leader = b.cmp(Cmp::Eq, Ty::U32, tid, imm(0));
        b.when(leader, false, |b| {
            let dst = b.reg(Class::B32);
            let order = Order::Relaxed(Scope::Gpu);
            b.inst(Inst::Atom {
                op: AtomOp::Add,
                space: Space::Global,
                order,
                ty: Ty::U32,
                dst: Some(dst),
                at: counter.into(),
                a: imm(1),
                b: None,
            });
            let sum = b.mov(Ty::B32, dst);
            let is_later = b.cmp(Cmp::Ne, Ty::U32, dst, imm(0));
            b.when(is_later, false, |b| {
                let before = b.bin(Binary::Sub, Ty::U32, dst, imm(1));
                let flag = at(b, flags, before);
                let seen = common::variable(b, 0);
                b.repeat(
                    false,
                    |b| b.cmp(Cmp::Eq, Ty::U32, seen, imm(0)).into(),
                    |b| {
                        let x = b.load_as(Space::Global, order, Ty::U32, flag);
                        b.set(Ty::B32, seen, x);
                    },
                );
                if fences {
                    b.inst(Inst::Fence(Scope::Gpu));
                }
                let place = at(b, values, before);
                let x = b.load(Space::Global, Ty::U32, place);
                b.bin_to(sum, Binary::Add, Ty::U32, sum, x);
            });
            let place = at(b, values, dst);
            b.store(Space::Global, Ty::U32, place, sum);
            if fences {
                b.inst(Inst::Fence(Scope::Gpu));
            }
            let flag = at(b, flags, dst);
            b.inst(Inst::store(
                Space::Global,
                order,
                Ty::U32,
                flag.into(),
                imm(1),
            ));
        });
    })
}

fn run_chain(module: &Module, seed: u64) -> Result<Vec<u32>, Box<Fault>> {
    let mut memory = Memory::new();
    let (counter, values) = (words(&mut memory, &[0]), memory.alloc(4, 50));
    let flags = words(&mut memory, &[0; 50]);
    run(module, &mut memory, 50, &[counter, values, flags], seed)?;
    Ok(read(&memory, values, 50))
}

#[test]
fn blocks_that_wait_for_earlier_ones() {
    let module = chain(true);
    assembles(&module, 75);
    let sums: Vec<u32> = (0..50).map(|i| i * (i + 1) / 2).collect();
    for seed in SEEDS {
        assert_eq!(run_chain(&module, seed), Ok(sums.clone()));
    }
    let missing = chain(false);
    for seed in SEEDS {
        let fault = run_chain(&missing, seed).expect_err("fences are missing");
        assert_eq!(fault.kind, FaultKind::Race, "{fault}");
    }
}

#[test]
fn asynchronous_copies_arrive_when_they_are_waited_for() {
    let module = |waits: bool| {
        kernel(64, 16, |b| {
            let (input, out) = (pointer(b, 0), pointer(b, 8));
            let tile = shared(b, 64);
            let tid = b.special(Special::Tid);
            let (from, to) = (at(b, input, tid), near(b, tile, tid));
            b.inst(Inst::CopyAsync {
                bytes: 4,
                to: to.into(),
                from: from.into(),
            });
            b.inst(Inst::CopyCommit);
            if waits {
                b.inst(Inst::CopyWait(0));
            }
            b.inst(Inst::Barrier);
            let other = b.bin(Binary::Xor, Ty::B32, tid, imm(33));
            let place = near(b, tile, other);
            let x = b.load(Space::Shared, Ty::U32, place);
            let place = at(b, out, tid);
            b.store(Space::Global, Ty::U32, place, x);
        })
    };
    assembles(&module(true), 80);
    assert!(
        verify(&module(true), 75).is_err(),
        "sm_75 has no such copies"
    );
    for seed in SEEDS {
        let mut memory = Memory::new();
        let input = words(&mut memory, &(0..64).collect::<Vec<_>>());
        let out = memory.alloc(4, 64);
        run(&module(true), &mut memory, 1, &[input, out], seed).expect("no fault");
        assert_eq!(
            read(&memory, out, 64),
            (0..64).map(|i| i ^ 33).collect::<Vec<_>>()
        );
        let fault =
            run(&module(false), &mut memory, 1, &[input, out], seed).expect_err("nobody waits");
        assert_eq!(fault.kind, FaultKind::Undefined, "{fault}");
    }
}
