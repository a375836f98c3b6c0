//! Vector registers chosen anew, once code is widened.
//!
//! Cranelift knows of 16 registers, adds products to a register of a factor only, and where a value goes from turn to turn of a loop,
//! or is needed again far away, it is copied. AVX-512 has 32 registers, and a sum may stay in its own:
//!
//! ```text
//! vmovss xmm11, [r15+rsi*4]                             vbroadcastss zmm11, [r15+rsi*4]
//! vbroadcastss zmm11, xmm11                       ──►
//! vmovdqu64 zmm12, zmm11                                vfmadd231ps zmm8, zmm11, zmm9
//! vfmadd213ps zmm12, zmm9, zmm8
//! ...
//! vmovdqu64 zmm8, zmm12; jmp                            jmp
//! vmovdqu64 zmm1, [rsp+64]; vaddps zmm1, zmm1, zmm2     vaddps zmm1, zmm20, zmm2
//! ```
//!
//! This is register allocation by coloring (Chaitin, *Register allocation and spilling via graph coloring*, 1982; Briggs, Cooper and
//! Torczon, *Improvements to graph coloring register allocation*, 1994) on machine code: what one register or place on the stack
//! holds at different times are different *webs* ([`webs`]), those that are alive at the same time differ in color ([`graph`]), and webs of
//! which one is a copy of the other have the same one if they may. There are no new spills: if colors do not suffice, less is
//! asked for: what finds no register stays on the stack, one place after the other, and in the end registers are what they were, and only
//! loads go where they are used. Every operation computes what it computed.

mod access;
mod again;
mod flow;
mod fold;
mod fused;
mod general;
mod graph;
mod kept;
mod masked;
mod webs;

use super::Width;
use super::pool::Pool;
use access::{At, Kind, Role, Touch};
use flow::Flow;
use graph::{Coalescing, Graph, Staying, preferences};
use iced_x86::{Code, Instruction, MemoryOperand, OpKind, Register};
use std::collections::{BTreeMap, HashMap};
use webs::Webs;

/// The most webs that are looked at: which ones are alive together is a matrix.
const MOST: usize = 8192;
/// The most webs for which more places on the stack are given up one by one, and how many.
const FEW: usize = 2048;
const ROUNDS: usize = 12;
/// The most copies between a number and where it is put in all lanes.
const COPIES: usize = 4;
/// What is set in the addresses of instructions that are put in between.
const BETWEEN: u64 = 1 << 62;
/// How far the addresses of several of them are from each other.
const FURTHER: u64 = 1 << 52;

/// Registers that may be chosen from: one of 32 is left for the order of lanes.
const fn registers(width: Width) -> usize {
    match width {
        Width::Two => 16,
        Width::Four => 31,
    }
}

/// The instruction that copies a register.
const fn copy(width: Width) -> Code {
    match width {
        Width::Two => Code::VEX_Vmovups_ymm_ymmm256,
        Width::Four => Code::EVEX_Vmovdqu64_zmm_k1z_zmmm512,
    }
}

/// Chooses the vector registers of widened code anew, which has so many places for vectors at the lower end of its frame.
pub(super) fn rename(
    instructions: &mut Vec<Instruction>,
    width: Width,
    places: usize,
    pool: &mut Pool<'_>,
) {
    let Some(mut flow) = Flow::of(instructions) else {
        return;
    };
    let mut accesses = access::all(instructions, width, places);
    let again = again::again(&flow, &accesses);
    if !again.is_empty() {
        again::leave_out(instructions, &again);
        let reloads = Flow::of(instructions).map(|flow| {
            let accesses = access::all(instructions, width, places);
            again::reloads(instructions, &flow, &accesses)
        });
        again::load_before(instructions, &reloads.unwrap_or_default());
        let Some(changed) = Flow::of(instructions) else {
            return;
        };
        (flow, accesses) = (changed, access::all(instructions, width, places));
    }
    let Some(mut webs) = Webs::of(&flow, &accesses, MOST) else {
        return;
    };
    if let Some(more) = kept::kept(&flow, &accesses, &webs)
        && let Some(all) = Webs::of(&flow, &more, MOST)
    {
        (accesses, webs) = (more, all);
    }
    load_in_all_lanes(instructions, &mut accesses, &webs, width);
    if width == Width::Four {
        general::in_all_lanes(instructions, &mut accesses, &webs);
    }
    let colors =
        chosen(&flow, &accesses, &webs, registers(width)).unwrap_or_else(|| own(&accesses, &webs));
    let mut folds = fold::folds(instructions, &flow, &accesses, (&webs, &colors), width);
    masked::find(&mut folds, instructions, &flow, &accesses, (&webs, &colors));
    let reloaded = kept::reloaded(&flow, (&accesses, &webs), &colors);
    Renamed {
        width,
        folds,
        reloaded,
        colors: &colors,
        webs: &webs,
        accesses: &accesses,
        pool,
    }
    .all(instructions);
}

/// Registers for all webs but for places that stay on the stack, if there are enough.
fn chosen(
    flow: &Flow,
    accesses: &access::Accesses,
    webs: &Webs,
    registers: usize,
) -> Option<Vec<Option<u8>>> {
    let none = Staying::These(Vec::new());
    let mut rounds = vec![
        (Staying::All, Coalescing::Aggressive),
        (none.clone(), Coalescing::Conservative),
        (none, Coalescing::Aggressive),
    ];
    let apart = graph::apart(flow, accesses, webs);
    let code = (flow, accesses, webs);
    let mut more = if webs.count() <= FEW { ROUNDS } else { 0 };
    while let Some((stay, coalescing)) = rounds.pop() {
        let graph = Graph::of(code, &apart, registers, &stay, coalescing);
        let web = match graph.colors() {
            Ok(colors) if coalescing == Coalescing::Conservative && webs.count() <= FEW => {
                return Some(graph.further(colors, preferences(flow, accesses, webs)));
            }
            Ok(colors) => return Some(colors),
            Err(web) => web,
        };
        // One place more that stays where it is may be enough.
        if let (Staying::These(mut places), Coalescing::Conservative) = (stay, coalescing)
            && more > 0
            && let Some(spare) = graph.spare(web)
        {
            more -= 1;
            places.push(spare);
            rounds.push((Staying::These(places), coalescing));
        }
    }
    None
}

/// The registers that webs have already.
fn own(accesses: &access::Accesses, webs: &Webs) -> Vec<Option<u8>> {
    let mut colors = vec![None; webs.count()];
    for (touch, what) in accesses.touches.iter().enumerate() {
        let is_register = what.location < access::KNOWN;
        colors[webs.web(touch)] = is_register.then_some(what.location as u8);
    }
    colors
}

/// A number that is loaded for nothing but to be put in all lanes is loaded in all lanes.
fn load_in_all_lanes(
    instructions: &mut [Instruction],
    accesses: &mut access::Accesses,
    webs: &Webs,
    width: Width,
) {
    for at in 0..instructions.len() {
        let mut touches = accesses.range(at);
        let read = touches.find(|k| accesses.touches[*k].role == Role::Read);
        let spread = fused::spread(&instructions[at], width);
        let (Some(read), Some(spread)) = (read, spread) else {
            continue;
        };
        let Some(load) = only_source(accesses, webs, read) else {
            continue;
        };
        let mut wide = instructions[load];
        if wide.code() != spread.load {
            continue;
        }
        let from = width.whole(wide.op0_register());
        wide.set_code(spread.all);
        wide.set_op0_register(from);
        if wide.memory_base() != Register::RIP && wide.memory_displ_size() > 1 {
            wide.set_memory_displ_size(1);
        }
        instructions[load] = wide;
        let to = instructions[at].op0_register();
        instructions[at] = copied(width, to, from, instructions[at].ip());
        for changed in [load, at] {
            accesses.now(changed, &instructions[changed], width);
        }
    }
}

/// The instruction that makes what is read there and nowhere else, through copies of whole registers, to the stack and back, too.
fn only_source(accesses: &access::Accesses, webs: &Webs, mut read: usize) -> Option<usize> {
    for _ in 0..COPIES {
        let &[write, only] = webs.touches(webs.web(read)) else {
            return None;
        };
        let at = accesses.touches[write as usize].instruction as usize;
        if only as usize != read {
            return None;
        }
        if !matches!(accesses.kinds[at], Kind::Copy) {
            return Some(at);
        }
        let mut touches = accesses.range(at);
        read = touches.find(|k| accesses.touches[*k].role == Role::Read)?;
    }
    None
}

/// A copy of a register.
fn copied(width: Width, to: Register, from: Register, ip: u64) -> Instruction {
    let mut copied = Instruction::default();
    copied.set_code(copy(width));
    copied.set_op0_register(to);
    copied.set_op1_register(from);
    copied.set_ip(ip);
    copied
}

/// Code whose registers are being replaced.
struct Renamed<'a, 'c> {
    width: Width,
    folds: fold::Folds,
    /// What is loaded behind calls: from which place, and to which register.
    reloaded: BTreeMap<usize, Vec<(usize, u8)>>,
    /// The register of each web; none where it stays on the stack.
    colors: &'a [Option<u8>],
    webs: &'a Webs,
    accesses: &'a access::Accesses,
    pool: &'a mut Pool<'c>,
}

impl Renamed<'_, '_> {
    /// Replaces all registers, and leaves out copies of a register to itself.
    fn all(mut self, instructions: &mut Vec<Instruction>) {
        let mut out: Vec<Instruction> = Vec::with_capacity(instructions.len());
        // Where branches go to that went to what is no longer there.
        let mut moved: HashMap<u64, u64> = HashMap::new();
        let mut waiting: Vec<u64> = Vec::new();
        for (at, given) in instructions.iter().enumerate() {
            let before = out.len();
            if let Some((load, either)) = self.folds.into.get(&at).copied() {
                self.folded(at, *given, (&instructions[load], either), &mut out);
            } else if let Some(operation) = self.folds.masked.get(&at).copied() {
                self.masked((operation, instructions[operation]), (at, *given), &mut out);
            } else if !self.folds.gone.contains(&at) {
                self.one(at, *given, &mut out);
            }
            let reloaded = self.reloaded.remove(&at).unwrap_or_default();
            for (k, (place, color)) in reloaded.into_iter().enumerate() {
                out.push(self.reload(place, color, given.ip() + FURTHER * k as u64));
            }
            match out.get(before) {
                Some(first) => {
                    let ip = first.ip();
                    moved.extend(waiting.drain(..).map(|old| (old, ip)));
                }
                None => waiting.push(given.ip()),
            }
        }
        for instruction in &mut out {
            let target = instruction.near_branch_target();
            if let Some(new) = moved.get(&target) {
                instruction.set_near_branch64(*new);
            }
        }
        fold::straighten(&mut out);
        *instructions = out;
    }

    /// An instruction that loads its last operand, or the one that changes places with it.
    fn folded(
        &mut self,
        at: usize,
        mut given: Instruction,
        (load, either): (&Instruction, bool),
        out: &mut Vec<Instruction>,
    ) {
        if either {
            self.one(at, given, out);
            if let Some(last) = out.last_mut() {
                last.set_op1_register(last.op2_register());
                fold::with_memory(last, load);
            }
        } else {
            fold::with_memory(&mut given, load);
            self.one(at, given, out);
        }
        if load.is_ip_rel_memory_operand() {
            self.pool.also(given.ip(), load.ip());
            self.pool.also(given.ip() | BETWEEN, load.ip());
        }
    }

    /// An operation for the lanes that a choice says.
    fn masked(
        &mut self,
        operation: (usize, Instruction),
        choice: (usize, Instruction),
        out: &mut Vec<Instruction>,
    ) {
        let mut both = Vec::new();
        self.one(operation.0, operation.1, &mut both);
        self.one(choice.0, choice.1, &mut both);
        let &[operation, choice] = &both[..] else {
            unreachable!("both are one instruction each");
        };
        let mut joined = masked::joined(operation, &choice);
        joined.set_ip(choice.ip());
        let (to, kept) = (choice.op0_register(), choice.op1_register());
        if to != kept {
            out.push(copied(self.width, to, kept, choice.ip()));
            joined.set_ip(choice.ip() | BETWEEN);
        }
        out.push(joined);
    }

    /// The register of a touch.
    fn color(&self, touch: usize) -> Option<u8> {
        self.colors[self.webs.web(touch)]
    }

    /// Loads what is at a place.
    fn reload(&self, place: usize, color: u8, ip: u64) -> Instruction {
        let place = (place * self.width.bytes()) as i64;
        let at = MemoryOperand::with_base_displ(Register::RSP, place);
        let code = copy(self.width);
        let load = Instruction::with2(code, self.register(color), at);
        let mut load = load.expect("vectors are loaded from memory");
        load.set_ip(ip | BETWEEN);
        load
    }

    fn register(&self, color: u8) -> Register {
        self.width.whole(Register::XMM0) + u32::from(color)
    }

    fn one(&mut self, at: usize, mut instruction: Instruction, out: &mut Vec<Instruction>) {
        let kind = self.accesses.kinds[at];
        let (mut to, mut from, mut kept) = (None, None, None);
        for k in self.accesses.range(at) {
            let Touch { at, role, .. } = self.accesses.touches[k];
            let color = self.color(k);
            match role {
                Role::Write if at == At::Kept => kept = color,
                Role::Read if color.is_none() => {}
                Role::Read => from = color,
                Role::Write | Role::Both => to = color,
            }
            let (At::Operand(operand), Some(color)) = (at, color) else {
                continue;
            };
            if instruction.op_kind(operand) != OpKind::Register {
                continue;
            }
            let old = instruction.op_register(operand);
            let first = old - old.number() as u32;
            instruction.set_op_register(operand, first + u32::from(color));
            if matches!(kind, Kind::Constant) {
                for other in 0..instruction.op_count() {
                    if instruction.op_kind(other) == OpKind::Register {
                        instruction.set_op_register(other, first + u32::from(color));
                    }
                }
            }
        }
        if let (Some(kept), Some(from)) = (kept, from) {
            // It is on the stack as well.
            out.push(instruction);
            if kept != from {
                let [to, from] = [kept, from].map(|color| self.register(color));
                out.push(copied(self.width, to, from, instruction.ip() | BETWEEN));
            }
            return;
        }
        match (kind, to, from) {
            (Kind::Copy, Some(to), Some(from)) => {
                if to != from {
                    let [to, from] = [to, from].map(|color| self.register(color));
                    out.push(copied(self.width, to, from, instruction.ip()));
                }
            }
            (Kind::Fused(form), Some(to), _) => {
                self.fused(form, self.register(to), instruction, at, out)
            }
            (Kind::Fused(_) | Kind::Copy | Kind::Constant | Kind::Plain, _, _) => {
                out.push(instruction)
            }
        }
    }

    /// A product and a sum, whose result is in the register of one of its operands, or in a copy of the sum.
    fn fused(
        &mut self,
        form: fused::Fused,
        to: Register,
        instruction: Instruction,
        at: usize,
        out: &mut Vec<Instruction>,
    ) {
        // The operands, as they are read; the first one was renamed to that of the result.
        let mut given = instruction;
        let first = self
            .accesses
            .range(at)
            .find(|k| self.accesses.touches[*k].role == Role::Read);
        if let Some(color) = first.and_then(|k| self.color(k)) {
            given.set_op0_register(self.register(color));
        }
        let operands = form.operands(&given);
        if let Some(new) = operands.tied(to) {
            out.push(new);
            return;
        }
        let ip = given.ip();
        out.push(match operands.sum() {
            Some(sum) => copied(self.width, to, sum, ip),
            None => {
                let mut load = given;
                load.set_code(copy(self.width));
                load.set_op0_register(to);
                load.set_op1_kind(OpKind::Memory);
                load
            }
        });
        let mut sum = operands.of_sum(to);
        sum.set_ip(ip | BETWEEN);
        if sum.is_ip_rel_memory_operand() {
            self.pool.also(sum.ip(), ip);
        }
        out.push(sum);
    }
}

#[cfg(test)]
mod tests;
