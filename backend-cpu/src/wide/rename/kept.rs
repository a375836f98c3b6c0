//! Vectors that are on the stack because other code is called far away are in a register, too, where they are read nearby.
//!
//! ```text
//! loop:                                                 loop:
//!   vmovdqu [rsp], ymm15                                  vmovdqu [rsp], ymm8
//!   vmovdqu ymm8, [rsp]                           ──►
//!   vpxor ymm15, ymm8, ymm1; jne loop                     vpxor ymm8, ymm8, ymm1; jne loop
//! call other; vmovdqu ymm3, [rsp]                       call other; vmovdqu ymm3, [rsp]
//! ```
//!
//! What a store leaves in such a register is a location of its own, which loads read that come behind stores only, and behind no call, or behind
//! calls for rare values, after which it is loaded again. It need not find a register: then they are loads as before.

use super::access::{Accesses, At, KNOWN, Role};
use super::flow::Flow;
use super::graph::{Event, walk};
use super::webs::{Bits, Webs};
use std::collections::BTreeMap;

/// The same accesses, and those of registers for places that stay on the stack because of calls, if there are any.
pub(super) fn kept(flow: &Flow, accesses: &Accesses, webs: &Webs) -> Option<Accesses> {
    let crossing = crossing(flow, accesses, webs)?;
    let behind = behind_stores(flow, accesses);
    let mut reads = Bits::new(accesses.touches.len());
    let mut writes = Bits::new(accesses.touches.len());
    let mut any = false;
    for (block, valid) in flow.blocks.iter().zip(behind) {
        let mut valid = valid;
        for at in block.clone() {
            for k in accesses.range(at) {
                let touch = accesses.touches[k];
                if touch.location < KNOWN || !crossing.has(webs.web(k)) {
                    continue;
                }
                match touch.role {
                    Role::Read if valid.has(touch.location) => {
                        reads.insert(k);
                        any = true;
                    }
                    Role::Read => {}
                    Role::Write | Role::Both => writes.insert(k),
                }
            }
            step(accesses, at, &mut valid);
        }
    }
    any.then(|| accesses.with_kept(&reads, &writes))
}

/// The webs of places that are alive where other code is called, if there is any.
fn crossing(flow: &Flow, accesses: &Accesses, webs: &Webs) -> Option<Bits> {
    if !accesses.calls.contains(&true) {
        return None;
    }
    let mut crossing = Bits::new(webs.count());
    each_call(flow, accesses, webs, |_, live| crossing.add(live));
    Some(crossing)
}

/// Does something for each call of other code, with the webs that are alive there.
fn each_call(flow: &Flow, accesses: &Accesses, webs: &Webs, mut call: impl FnMut(usize, &Bits)) {
    walk(flow, accesses, webs, |event, live| match event {
        Event::After(at) if accesses.calls[at] => call(at, live),
        Event::After(_) | Event::Write { .. } | Event::Before => {}
    });
}

/// For each call for rare values, the places whose registers it leaves to be loaded again, and these.
pub(super) fn reloaded(
    flow: &Flow,
    (accesses, webs): (&Accesses, &Webs),
    colors: &[Option<u8>],
) -> BTreeMap<usize, Vec<(usize, u8)>> {
    let mut reloaded = BTreeMap::new();
    if !accesses.rare.contains(&true) {
        return reloaded;
    }
    // The place for which each web is a register, too.
    let mut places: BTreeMap<usize, usize> = BTreeMap::new();
    let own = |place: usize| place - (accesses.locations - KNOWN) / 2;
    for (k, touch) in accesses.touches.iter().enumerate() {
        if touch.at == At::Kept {
            places.insert(webs.web(k), own(touch.location) - KNOWN);
        }
    }
    each_call(flow, accesses, webs, |at, live| {
        let kept = live
            .iter()
            .filter_map(|web| Some((*places.get(&web)?, colors[web]?)));
        if accesses.rare[at] {
            reloaded.insert(at, kept.collect());
        }
    });
    reloaded
}

/// What an instruction makes of the places that have been stored to since the last call.
fn step(accesses: &Accesses, at: usize, valid: &mut Bits) {
    if accesses.calls[at] && !accesses.rare[at] {
        valid.0.fill(0);
    }
    for touch in accesses.range(at).map(|k| accesses.touches[k]) {
        if touch.location >= KNOWN && touch.role != Role::Read {
            valid.insert(touch.location);
        }
    }
}

/// For each block, the places that have been stored to, whichever way control came there, with no call since.
fn behind_stores(flow: &Flow, accesses: &Accesses) -> Vec<Bits> {
    let mut all = Bits::new(accesses.locations);
    all.0.fill(u64::MAX);
    let mut before = vec![all; flow.blocks.len()];
    before[0] = Bits::new(accesses.locations);
    loop {
        let mut changed = false;
        for (number, block) in flow.blocks.iter().enumerate() {
            let mut now = before[number].clone();
            block.clone().for_each(|at| step(accesses, at, &mut now));
            for next in &flow.successors[number] {
                for (word, other) in before[*next].0.iter_mut().zip(&now.0) {
                    changed |= *word & !other != 0;
                    *word &= other;
                }
            }
        }
        if !changed {
            return before;
        }
    }
}
