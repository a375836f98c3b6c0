//! Copies between a register and a place on the stack that are the same already.
//!
//! Where Cranelift puts a value on the stack for a part of its life, it stores it there at the end of each turn of a loop that loads it,
//! though nothing has changed it:
//!
//! ```text
//! loop:                                                 loop:
//!   vmovdqu ymm10, [rsp+64]                               vmovdqu ymm10, [rsp+64]
//!   vsubps ymm9, ymm11, ymm10                     ──►     vsubps ymm9, ymm11, ymm10
//!   vmovdqu [rsp+64], ymm10; jmp loop                     jmp loop
//! ```
//!
//! Such a place is one that nothing writes in the loop. What is read behind the loop is loaded there once more, so that it need not be in a
//! register in the loop, where it can be an operand in memory.

use super::access::{Accesses, KNOWN, Kind, Role};
use super::flow::Flow;
use super::webs::Bits;
use iced_x86::Instruction;
use std::collections::HashMap;
use std::ops::Range;

/// How far the addresses of instructions before which others are put are from what they were, which is beyond all others.
const FURTHER: u64 = 1 << 48;

/// Which registers hold what is at which places, as numbers of pairs: a row of whole words for each register.
struct Same {
    words: usize,
    pairs: Bits,
}

impl Same {
    fn of(accesses: &Accesses, pairs: &Bits) -> Self {
        Self {
            words: words(accesses),
            pairs: pairs.clone(),
        }
    }

    /// No pair of a program.
    fn none(accesses: &Accesses) -> Bits {
        Bits::new(64 * KNOWN * words(accesses))
    }

    fn pair(&self, register: usize, place: usize) -> usize {
        64 * register * self.words + place - KNOWN
    }

    fn row(&self, register: usize) -> Range<usize> {
        register * self.words..(register + 1) * self.words
    }

    /// Nothing is known any more of what was written.
    fn forget(&mut self, location: usize) {
        if location < KNOWN {
            let row = self.row(location);
            self.pairs.0[row].fill(0);
        } else {
            for register in 0..KNOWN {
                self.pairs.remove(self.pair(register, location));
            }
        }
    }

    /// What an instruction makes of it. Whether it copies what is there already.
    fn step(&mut self, accesses: &Accesses, at: usize) -> bool {
        if accesses.calls[at] {
            self.pairs.0.fill(0);
        }
        let touches = &accesses.touches[accesses.range(at)];
        let copy = match (accesses.kinds[at], touches) {
            (Kind::Copy, [from, to]) if (from.role, to.role) == (Role::Read, Role::Write) => {
                Some((from.location, to.location))
            }
            (Kind::Copy | Kind::Fused(_) | Kind::Constant | Kind::Plain, _) => None,
        };
        let Some((from, to)) = copy else {
            for touch in touches.iter().filter(|touch| touch.role != Role::Read) {
                self.forget(touch.location);
            }
            return false;
        };
        if from == to {
            return false;
        }
        if from < KNOWN && to < KNOWN {
            let (row, copy) = (self.row(from), self.row(to));
            self.pairs.0.copy_within(row, copy.start);
            return false;
        }
        let pair = self.pair(from.min(to), from.max(to));
        if self.pairs.has(pair) {
            return true;
        }
        self.forget(to);
        self.pairs.insert(pair);
        false
    }
}

/// The words of a row of places.
fn words(accesses: &Accesses) -> usize {
    (accesses.locations - KNOWN).div_ceil(64)
}

/// What registers hold of places before each block.
fn before(flow: &Flow, accesses: &Accesses) -> Vec<Bits> {
    let mut all = Same::none(accesses);
    all.0.fill(u64::MAX);
    let mut before = vec![all; flow.blocks.len()];
    before[0] = Same::none(accesses);
    loop {
        let mut changed = false;
        for (number, block) in flow.blocks.iter().enumerate() {
            let mut now = Same::of(accesses, &before[number]);
            for at in block.clone() {
                now.step(accesses, at);
            }
            for next in &flow.successors[number] {
                for (word, other) in before[*next].0.iter_mut().zip(&now.pairs.0) {
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

/// The copies that change nothing, in order.
pub(super) fn again(flow: &Flow, accesses: &Accesses) -> Vec<usize> {
    let mut gone = Vec::new();
    for (block, before) in flow.blocks.iter().zip(before(flow, accesses)) {
        let mut now = Same::of(accesses, &before);
        gone.extend(block.clone().filter(|at| now.step(accesses, *at)));
    }
    gone
}

/// Leaves instructions out, and has branches to them go to what comes behind.
pub(super) fn leave_out(instructions: &mut Vec<Instruction>, gone: &[usize]) {
    let mut left = gone.iter().copied().peekable();
    let mut moved: HashMap<u64, u64> = HashMap::new();
    let mut waiting: Vec<u64> = Vec::new();
    let mut kept = Vec::with_capacity(instructions.len());
    for (at, instruction) in instructions.iter().enumerate() {
        if left.next_if_eq(&at).is_some() {
            waiting.push(instruction.ip());
            continue;
        }
        moved.extend(waiting.drain(..).map(|old| (old, instruction.ip())));
        kept.push(*instruction);
    }
    for instruction in &mut kept {
        if let Some(new) = moved.get(&instruction.near_branch_target()) {
            instruction.set_near_branch64(*new);
        }
    }
    *instructions = kept;
}

/// Which instructions read a register that was loaded in a loop around which they are not, from a place where it still is, and such a load for each,
/// in order.
pub(super) fn reloads(
    instructions: &[Instruction],
    flow: &Flow,
    accesses: &Accesses,
) -> Vec<(usize, usize)> {
    // For each register and place, a load in the innermost loop.
    let mut loads: HashMap<(usize, usize), (u64, usize)> = HashMap::new();
    for (block, weight) in flow.blocks.iter().zip(&flow.weights) {
        for at in block.clone().filter(|at| loads_place(accesses, *at)) {
            let touches = &accesses.touches[accesses.range(at)];
            let load = loads.entry((touches[1].location, touches[0].location));
            let known = load.or_insert((*weight, at));
            *known = (*known).max((*weight, at));
        }
    }
    let mut reloads = Vec::new();
    let blocks = flow.blocks.iter().zip(&flow.weights);
    for ((block, weight), before) in blocks.zip(before(flow, accesses)) {
        let mut now = Same::of(accesses, &before);
        let mut seen = [false; KNOWN];
        for at in block.clone() {
            for touch in &accesses.touches[accesses.range(at)] {
                let register = touch.location;
                if register >= KNOWN || std::mem::replace(&mut seen[register], true) {
                    continue;
                }
                // Copies are done away with elsewhere.
                let reads = touch.role != Role::Write && !matches!(accesses.kinds[at], Kind::Copy);
                let held = loads.iter().filter(|((to, place), (inside, _))| {
                    *to == register && inside > weight && now.pairs.has(now.pair(*to, *place))
                });
                let load = held.map(|(_, (_, load))| *load).min();
                if let Some(load) = load.filter(|_| reads)
                    && !instructions[at].is_ip_rel_memory_operand()
                {
                    reloads.push((at, load));
                }
            }
            now.step(accesses, at);
        }
    }
    reloads.sort_unstable();
    reloads
}

/// Whether an instruction loads what is at a place.
fn loads_place(accesses: &Accesses, at: usize) -> bool {
    let touches = &accesses.touches[accesses.range(at)];
    matches!(
        (accesses.kinds[at], touches),
        (Kind::Copy, [from, to]) if from.location >= KNOWN && to.location < KNOWN
    )
}

/// Puts loads before instructions. What branched to these goes to the loads.
pub(super) fn load_before(instructions: &mut Vec<Instruction>, reloads: &[(usize, usize)]) {
    let mut left = reloads.iter().copied().peekable();
    let mut all = Vec::with_capacity(instructions.len() + reloads.len());
    for (at, instruction) in instructions.iter().enumerate() {
        let mut instruction = *instruction;
        while let Some((_, load)) = left.next_if(|(before, _)| *before == at) {
            let mut load = instructions[load];
            load.set_ip(instruction.ip());
            all.push(load);
            instruction.set_ip(instruction.ip() + FURTHER);
        }
        all.push(instruction);
    }
    *instructions = all;
}
