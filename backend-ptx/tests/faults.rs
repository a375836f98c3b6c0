//! Faults planted in small kernels: the emulator reports each, with instruction and source line.

mod common;

use backend_ptx::emu::{Fault, FaultKind, Memory};
use backend_ptx::ptx::build::FULL;
use backend_ptx::ptx::ops::{AtomOp, Binary, Cmp, Special, Vote};
use backend_ptx::ptx::verify::verify;
use backend_ptx::ptx::{Builder, Class, Inst, Module, Order, Origin, Scope, Space, Ty, print};
use common::ptxas::{self, TARGETS};
use common::{at, below, imm, kernel, near, pointer, read, run, shared, words};

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

/// Turns an array of 256 around within a block, through shared memory.
fn turned(barrier: bool, beyond: u64, uninitialised: bool, racing: bool) -> Module {
    kernel(256, 16, |b| {
        let (input, out) = (pointer(b, 0), pointer(b, 8));
        let tile = shared(b, 256);
        let tid = b.special(Special::Tid);
        line(b, 12);
        let place = at(b, input, tid);
        let x = b.load(Space::Global, Ty::U32, place);
        line(b, 13);
        let slot = if racing {
            b.bin(Binary::And, Ty::B32, tid, imm(0xfe))
        } else {
            tid
        };
        let place = near(b, tile, slot);
        let store = Inst::store(Space::Shared, Order::Weak, Ty::U32, place.into(), x.into());
        if uninitialised {
            let some = below(b, tid, imm(255));
            b.guarded(some, store);
        } else {
            b.inst(store);
        }
        if barrier {
            b.inst(Inst::Barrier);
        }
        line(b, 14);
        let last = b.mov(Ty::B32, imm(255 + beyond));
        let other = b.bin(Binary::Sub, Ty::U32, last, tid);
        let place = near(b, tile, other);
        let x = b.load(Space::Shared, Ty::U32, place);
        line(b, 15);
        let place = at(b, out, tid);
        b.store(Space::Global, Ty::U32, place, x);
    })
}

fn run_turned(module: &Module, seed: u64) -> Result<Vec<u32>, Box<Fault>> {
    let mut memory = Memory::new();
    let input = words(&mut memory, &(0..256).collect::<Vec<_>>());
    let out = memory.alloc(4, 256);
    run(module, &mut memory, 1, &[input, out], seed)?;
    Ok(read(&memory, out, 256))
}

#[test]
fn shared_memory_with_a_barrier() {
    let module = turned(true, 0, false, false);
    assembles(&module, 75);
    for seed in SEEDS {
        assert_eq!(run_turned(&module, seed), Ok((0..256).rev().collect()));
    }
}

fn every_seed_reports(module: &Module, kinds: &[FaultKind], place: &str, inst: &str) {
    for seed in SEEDS {
        let fault = run_turned(module, seed).expect_err("a fault was planted");
        assert!(kinds.contains(&fault.kind), "{fault}");
        assert!(fault.inst.starts_with(inst), "{fault}");
        assert_eq!(
            (fault.kernel.as_str(), fault.place.as_str()),
            ("k", place),
            "{fault}"
        );
    }
}

#[test]
fn a_missing_barrier_is_reported() {
    let module = turned(false, 0, false, false);
    // By chance the reader comes first, and finds nothing; or the writer does; or the reader has been there before.
    for seed in SEEDS {
        let fault = run_turned(&module, seed).expect_err("a fault was planted");
        let kinds = [FaultKind::Race, FaultKind::Undefined];
        assert!(kinds.contains(&fault.kind), "{fault}");
        assert!(
            ["sum.fut:13:3", "sum.fut:14:3"].contains(&fault.place.as_str()),
            "{fault}"
        );
    }
}

#[test]
fn an_index_out_of_range_is_reported() {
    let module = turned(true, 1, false, false);
    every_seed_reports(
        &module,
        &[FaultKind::OutOfBounds],
        "sum.fut:14:3",
        "ld.shared",
    );
}

#[test]
fn a_read_of_what_nobody_wrote_is_reported() {
    let module = turned(true, 0, true, false);
    every_seed_reports(
        &module,
        &[FaultKind::Undefined],
        "sum.fut:14:3",
        "ld.shared",
    );
}

#[test]
fn stores_that_race_are_reported() {
    let module = turned(true, 0, false, true);
    every_seed_reports(&module, &[FaultKind::Race], "sum.fut:13:3", "st.shared");
}

#[test]
fn blocks_that_store_to_one_place_race_unless_any_may_win() {
    for any_wins in [false, true] {
        let module = kernel(32, 8, |b| {
            let out = pointer(b, 0);
            let block = b.special(Special::Ctaid);
            let Inst::Store {
                space,
                order,
                cache,
                ty,
                src,
                at,
                any_wins: _,
            } = Inst::store(
                Space::Global,
                Order::Weak,
                Ty::U32,
                out.into(),
                block.into(),
            )
            else {
                unreachable!("a store is a store")
            };
            b.inst(Inst::Store {
                space,
                order,
                cache,
                ty,
                src,
                at,
                any_wins,
            });
        });
        let mut memory = Memory::new();
        let out = memory.alloc(4, 1);
        let result = run(&module, &mut memory, 3, &[out], 1).map_err(|f| f.kind);
        assert_eq!(result.is_ok(), any_wins);
        assert!(any_wins || result == Err(FaultKind::Race));
    }
}

/// Every thread adds 1 to a number in memory, in this scope.
fn counting(scope: Scope) -> Module {
    kernel(32, 8, |b| {
        let out = pointer(b, 0);
        line(b, 12);
        b.inst(Inst::Atom {
            op: AtomOp::Add,
            space: Space::Global,
            order: Order::Relaxed(scope),
            ty: Ty::U32,
            dst: None,
            at: out.into(),
            a: imm(1),
            b: None,
        });
    })
}

#[test]
fn atomic_operations_race_with_those_of_other_blocks_unless_their_scope_is_the_device() {
    for (scope, blocks, is_right) in [
        (Scope::Gpu, 3, true),
        (Scope::Sys, 3, true),
        (Scope::Cta, 1, true),
        (Scope::Cta, 3, false),
    ] {
        let module = counting(scope);
        assembles(&module, 75);
        for seed in SEEDS {
            let mut memory = Memory::new();
            let out = words(&mut memory, &[0]);
            match run(&module, &mut memory, blocks, &[out], seed) {
                Ok(_) => {
                    assert!(is_right, "a race within blocks only");
                    assert_eq!(read(&memory, out, 1), [32 * blocks]);
                }
                Err(fault) => {
                    assert!(!is_right, "{fault}");
                    assert_eq!(fault.kind, FaultKind::Race, "{fault}");
                    assert!(fault.inst.starts_with("red"), "{fault}");
                    assert_eq!(fault.place, "sum.fut:12:3", "{fault}");
                }
            }
        }
    }
}

#[test]
fn a_load_in_the_scope_of_its_block_races_with_stores_of_other_blocks() {
    for (scope, is_right) in [(Scope::Gpu, true), (Scope::Cta, false)] {
        let module = kernel(32, 8, |b| {
            let out = pointer(b, 0);
            let tid = b.special(Special::Tid);
            let first = below(b, tid, imm(1));
            let block = b.special(Special::Ctaid);
            let writes = below(b, block, imm(1));
            let writes = b.bin(Binary::And, Ty::Pred, first, writes);
            let order = Order::Relaxed(Scope::Gpu);
            let store = Inst::store(Space::Global, order, Ty::U32, out.into(), imm(1));
            b.guarded(writes, store);
            b.load_as(Space::Global, Order::Relaxed(scope), Ty::U32, out);
        });
        for seed in SEEDS {
            let mut memory = Memory::new();
            let out = words(&mut memory, &[0]);
            let result = run(&module, &mut memory, 2, &[out], seed).map_err(|f| f.kind);
            assert_eq!(result.is_ok(), is_right, "{result:?}");
            assert!(is_right || result == Err(FaultKind::Race));
        }
    }
}

#[test]
fn a_misaligned_vector_is_reported() {
    let module = kernel(32, 8, |b| {
        let out = pointer(b, 0);
        let tid = b.special(Special::Tid);
        let place = at(b, out, tid);
        let cache = backend_ptx::ptx::ops::Cache::Usual;
        let src = vec![imm(1); 4];
        b.inst(Inst::Store {
            space: Space::Global,
            order: Order::Weak,
            cache,
            ty: Ty::U32,
            src,
            at: place.into(),
            any_wins: true,
        });
    });
    let mut memory = Memory::new();
    let out = memory.alloc(4, 64);
    let fault = run(&module, &mut memory, 1, &[out], 1).expect_err("lanes are 4 bytes apart");
    assert_eq!((fault.kind, fault.thread), (FaultKind::Misaligned, 1));
}

#[test]
fn a_barrier_that_not_all_reach_is_reported() {
    // The verifier refuses it; so the branch claims to be uniform, or the threads leave.
    let module = |uniform: bool| {
        kernel(64, 8, |b| {
            pointer(b, 0);
            let tid = b.special(Special::Tid);
            let some = below(b, tid, imm(40));
            b.when(some, uniform, |b| b.inst(Inst::Barrier));
        })
    };
    let refused = verify(&module(false), 75).expect_err("lanes part before the barrier");
    assert!(refused.what.contains("have not met again"), "{refused}");
    let mut memory = Memory::new();
    let fault = run(&module(true), &mut memory, 1, &[0], 1).expect_err("lanes part");
    assert_eq!(fault.kind, FaultKind::Divergence);
    assert!(fault.detail.contains("uniform branch"), "{fault}");
}

#[test]
fn lanes_named_by_a_mask_must_come() {
    let module = kernel(32, 8, |b| {
        let out = pointer(b, 0);
        let lane = b.special(Special::Lane);
        let low = below(b, lane, imm(16));
        let mask = b.select(Ty::B32, low, imm(0xffff), imm(0xffff_0000));
        let all = b.cmp(Cmp::Eq, Ty::U32, lane, lane);
        let dst = b.reg(Class::B32);
        b.inst(Inst::Vote {
            mode: Vote::Ballot,
            dst,
            src: all,
            mask: mask.into(),
        });
        let place = at(b, out, lane);
        b.store(Space::Global, Ty::U32, place, dst);
    });
    let mut memory = Memory::new();
    let out = memory.alloc(4, 32);
    let fault = run(&module, &mut memory, 1, &[out], 1)
        .expect_err("all lanes come, half of them are named");
    assert_eq!(fault.kind, FaultKind::Divergence);
}

#[test]
fn lanes_of_a_warp_are_in_order_after_a_warp_barrier_only() {
    let module = |sync: bool| {
        kernel(32, 8, |b| {
            let out = pointer(b, 0);
            let tile = shared(b, 32);
            let lane = b.special(Special::Lane);
            let place = near(b, tile, lane);
            b.store(Space::Shared, Ty::U32, place, lane);
            if sync {
                b.inst(Inst::WarpSync { mask: FULL });
            }
            let other = b.bin(Binary::Xor, Ty::B32, lane, imm(1));
            let place = near(b, tile, other);
            let x = b.load(Space::Shared, Ty::U32, place);
            let place = at(b, out, lane);
            b.store(Space::Global, Ty::U32, place, x);
        })
    };
    let mut memory = Memory::new();
    let out = memory.alloc(4, 32);
    run(&module(true), &mut memory, 1, &[out], 1).expect("no fault");
    let fault = run(&module(false), &mut memory, 1, &[out], 1).expect_err("no order");
    assert_eq!(fault.kind, FaultKind::Race);
}

#[test]
fn registers_are_written_before_they_are_read() {
    let module = kernel(32, 8, |b| {
        let out = pointer(b, 0);
        let tid = b.special(Special::Tid);
        let some = below(b, tid, imm(7));
        let x = b.reg(Class::B32);
        b.when(some, false, |b| b.set(Ty::B32, x, imm(1)));
        b.store(Space::Global, Ty::U32, out, x);
    });
    let refused = verify(&module, 75).expect_err("one way leads past the write");
    assert!(refused.what.contains("before it is written"), "{refused}");
}
