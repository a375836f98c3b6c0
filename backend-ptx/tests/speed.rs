//! How fast the emulator is. The figures are printed: `cargo test --release -p arrc-backend-ptx --test speed -- --nocapture`.

mod common;

use backend_ptx::emu::Memory;
use backend_ptx::ptx::ops::{Binary, Ternary};
use backend_ptx::ptx::{Inst, Module, Space, Ty};
use common::{at, below, imm, kernel, near, pointer, read, run, shared, thread, words};
use std::time::Instant;

/// A loop of arithmetic, as in a map with a large body.
fn arithmetic() -> Module {
    kernel(256, 16, |b| {
        let (input, out) = (pointer(b, 0), pointer(b, 8));
        let i = thread(b);
        let place = at(b, input, i);
        let x = b.load(Space::Global, Ty::U32, place);
        let (x, round) = (b.mov(Ty::B32, x), common::variable(b, 0));
        b.repeat(
            true,
            |b| below(b, round, imm(100)).into(),
            |b| {
                let y = b.tern(
                    Ternary::Mad,
                    Ty::U32,
                    [x.into(), imm(1_664_525), imm(1_013_904_223)],
                );
                let z = b.bin(Binary::Shr, Ty::U32, y, imm(7));
                b.bin_to(x, Binary::Xor, Ty::B32, y, z);
                b.bin_to(round, Binary::Add, Ty::U32, round, imm(1));
            },
        );
        let place = at(b, out, i);
        b.store(Space::Global, Ty::U32, place, x);
    })
}

/// Loads and stores of shared and global memory, with barriers.
fn memory() -> Module {
    kernel(256, 16, |b| {
        let (input, out) = (pointer(b, 0), pointer(b, 8));
        let tile = shared(b, 256);
        let i = thread(b);
        let tid = b.special(backend_ptx::ptx::ops::Special::Tid);
        let (sum, round) = (common::variable(b, 0), common::variable(b, 1));
        b.repeat(
            true,
            |b| below(b, round, imm(30)).into(),
            |b| {
                let place = at(b, input, i);
                let x = b.load(Space::Global, Ty::U32, place);
                let place = near(b, tile, tid);
                b.store(Space::Shared, Ty::U32, place, x);
                b.inst(Inst::Barrier);
                let other = b.bin(Binary::Xor, Ty::B32, tid, round);
                let place = near(b, tile, other);
                let y = b.load(Space::Shared, Ty::U32, place);
                b.inst(Inst::Barrier);
                b.bin_to(sum, Binary::Add, Ty::U32, sum, y);
                b.bin_to(round, Binary::Add, Ty::U32, round, imm(1));
            },
        );
        let place = at(b, out, i);
        b.store(Space::Global, Ty::U32, place, sum);
    })
}

#[test]
#[expect(clippy::print_stdout, reason = "a measurement")]
fn lane_instructions_per_second() {
    let blocks = if cfg!(debug_assertions) { 8 } else { 256 };
    for (name, module) in [("arithmetic", arithmetic()), ("memory", memory())] {
        let n = blocks as usize * 256;
        let mut space = Memory::new();
        let input = words(&mut space, &(0..n as u32).collect::<Vec<_>>());
        let out = space.alloc(4, n);
        let start = Instant::now();
        let steps = run(&module, &mut space, blocks, &[input, out], 1).expect("no fault");
        let rate = steps as f64 / start.elapsed().as_secs_f64() / 1e6;
        println!("{name}: {rate:.0} million lane-instructions per second");
        assert!(read(&space, out, n).iter().any(|x| *x != 0));
        assert!(
            cfg!(debug_assertions) || rate > 50.0,
            "{name}: {rate} million per second"
        );
    }
}
