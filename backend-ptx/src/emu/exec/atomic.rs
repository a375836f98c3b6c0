//! Atomic operations, fences, asynchronous copies.

use super::marks::{ACQUIRE, NARROW, RELEASE};
use super::memory::{Elem, global_addresses, lanes, shared_addresses, shared_place};
use super::{File, put};
use crate::emu::code::{LANES, Op};
use crate::emu::fault::Done;
use crate::emu::memory::{Access, Bank, shared};
use crate::emu::run::{Cx, Synchronises};
use crate::ptx::Space;
use crate::ptx::ops::AtomOp;

/// An atomic operation, lane after lane.
pub(super) fn atom<E: Elem>(cx: &mut Cx<'_>, op: &Op, mask: u32) -> Done
where
    E::File: Into<u64>,
{
    let which = AtomOp::ALL[(op.b & 255) as usize];
    let ty = (op.b >> 8) & 255;
    let in_shared = op.b >> 16 == Space::Shared as u32;
    let global = if in_shared {
        [0; LANES]
    } else {
        global_addresses(cx, op)
    };
    let near = if in_shared {
        shared_addresses(cx, op)
    } else {
        [0; LANES]
    };
    let a = E::File::get(&cx.regs, op.list[0].index);
    let b = op
        .list
        .get(1)
        .map_or(a, |s| E::File::get(&cx.regs, s.index));
    let mut old = [E::File::default(); LANES];
    let who = cx.who(true, false);
    let who = who.within_block(op.imm & NARROW != 0);
    let first = cx.warp.number * 32;
    let mut changed = false;
    for lane in lanes(mask) {
        let mine = who.thread(first + lane as u32);
        let both = |bank: &mut Bank, offset: u64, bytes: u32, access: &mut Access<'_>| {
            access.who = mine;
            bank.read(offset, bytes, access)?;
            bank.write(offset, bytes, access)
        };
        let (bank, place) = if in_shared {
            shared_place(cx, near[lane], lane, E::BYTES as u32, both)?
        } else {
            let mut access = Access {
                who: mine,
                intervals: &cx.world.intervals,
                clocks: cx.block.clocks(cx.warp.number),
                lane: lane as u32,
                undefined: false,
            };
            let (bank, offset) = cx.world.memory.bank(global[lane], lane as u32)?;
            let place = both(bank, offset, E::BYTES as u32, &mut access)?;
            (bank, place)
        };
        let before = E::get(bank, place);
        old[lane] = before;
        let (before, x, y) = (before.into(), a[lane].into(), b[lane].into());
        let after = super::together::combine(which, ty, before, x, y);
        changed |= after != before;
        E::set(bank, place, E::of(&after.to_le_bytes()));
    }
    if changed {
        cx.world.polls = 0;
    } else {
        cx.world.polls += 1;
    }
    if op.c == 1 {
        put(&mut cx.regs, op.d, mask, &old);
    }
    if !in_shared {
        cx.observe(mask, &global, op.imm & ACQUIRE != 0);
        cx.publish(mask, &global, Synchronises::Update, op.imm & RELEASE != 0);
    }
    Ok(())
}

pub(super) fn fence(cx: &mut Cx<'_>, _: &Op, mask: u32) -> Done {
    cx.fence(mask);
    Ok(())
}

/// Reads at once; the bytes arrive in shared memory when the thread waits for them.
pub(super) fn copy_async(cx: &mut Cx<'_>, op: &Op, mask: u32) -> Done {
    let from = global_addresses(cx, op);
    let distance = (op.imm >> 32) as u32;
    let to = u32::get(&cx.regs, op.b).map(|base| base.wrapping_add(distance));
    let who = cx.who(false, false);
    let first = cx.warp.number * 32;
    for lane in lanes(mask) {
        let thread = first + lane as u32;
        let mut bytes = [0; 16];
        {
            let access = Access {
                who: who.thread(thread),
                intervals: &cx.world.intervals,
                clocks: cx.block.clocks(cx.warp.number),
                lane: lane as u32,
                undefined: false,
            };
            let (bank, offset) = cx.world.memory.bank(from[lane], lane as u32)?;
            let place = bank.read(offset, op.c, &access)?;
            for (i, byte) in bytes.iter_mut().enumerate().take(op.c as usize) {
                [*byte] = bank.get(place + i);
            }
        }
        // The place is taken from now on: nobody may read or write it before the copy is there.
        let (bank, place) =
            shared_place(cx, to[lane], lane, op.c, |bank, offset, bytes, access| {
                access.who = who.thread(thread);
                bank.write(offset, bytes, access)
            })?;
        bank.forget(place, op.c);
        let (number, _) = shared(to[lane]);
        cx.block
            .copies
            .begin(thread, (number, place), &bytes[..op.c as usize]);
    }
    Ok(())
}

pub(super) fn copy_wait(cx: &mut Cx<'_>, op: &Op, mask: u32) -> Done {
    let who = cx.who(false, false);
    let first = cx.warp.number * 32;
    for lane in lanes(mask) {
        let thread = first + lane as u32;
        for (number, place, bytes) in cx.block.copies.arrived(thread, op.imm as usize) {
            let block = &mut *cx.block;
            let access = Access {
                who: who.thread(thread),
                intervals: &cx.world.intervals,
                clocks: [&block.clock, &block.clock],
                lane: lane as u32,
                undefined: false,
            };
            let bank = &mut block.shared[number];
            bank.write(place as u64, bytes.len() as u32, &access)?;
            for (i, byte) in bytes.into_iter().enumerate() {
                bank.set(place + i, [byte]);
            }
        }
    }
    Ok(())
}
