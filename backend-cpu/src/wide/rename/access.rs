//! What instructions read and write: vector registers, and places of vectors on the stack.

use super::fused::{self, Fused};
use super::webs::Bits;
use crate::calls::evaluates;
use crate::wide::Width;
use iced_x86::{
    Code, EncodingKind, FlowControl, Instruction, InstructionInfoFactory, InstructionInfoOptions,
    OpAccess, OpKind, Register,
};
use std::ops::Range;

/// The registers that Cranelift knows of. Places on the stack are counted from here on, and behind them the registers for what is at these, too.
pub(super) const KNOWN: usize = 16;

/// Where an instruction says which register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum At {
    /// In this operand.
    Operand(u32),
    /// Its memory is a place of a vector on the stack.
    Place,
    /// What is at a place on the stack is in a register, too ([`super::kept`]).
    Kept,
}

/// What is asked of an instruction: how it accesses its operands, and nothing else.
const ACCESSES_ALONE: u32 =
    InstructionInfoOptions::NO_MEMORY_USAGE | InstructionInfoOptions::NO_REGISTER_USAGE;

/// How many instructions an address comes before a call at most.
const NEAR: usize = 32;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    Read,
    Write,
    /// The result is in the register of an operand.
    Both,
}

/// An instruction reads or writes a vector.
#[derive(Clone, Copy, Debug)]
pub(super) struct Touch {
    pub(super) instruction: u32,
    /// The number of a register, or [`KNOWN`] and the number of a place, or behind all of these the register for a place.
    pub(super) location: usize,
    pub(super) at: At,
    pub(super) role: Role,
}

/// What kind of instruction it is.
#[derive(Clone, Copy, Debug)]
pub(super) enum Kind {
    Copy,
    Fused(Fused),
    /// The same for all values of its register, which it names for each operand.
    Constant,
    Plain,
}

/// What all instructions do, reads before writes.
pub(super) struct Accesses {
    pub(super) touches: Vec<Touch>,
    /// For each instruction, where its touches begin, and the end of all.
    starts: Vec<usize>,
    pub(super) kinds: Vec<Kind>,
    /// Whether an instruction can name the first 16 registers only.
    low: Vec<bool>,
    /// Whether it calls other code.
    pub(super) calls: Vec<bool>,
    /// Whether that is called for few values of lanes, far away from what is done for all.
    pub(super) rare: Vec<bool>,
    /// All registers and places.
    pub(super) locations: usize,
}

impl Accesses {
    /// The numbers of the touches of an instruction.
    pub(super) fn range(&self, instruction: usize) -> Range<usize> {
        self.starts[instruction]..self.starts[instruction + 1]
    }

    /// Whether an instruction can name the first 16 registers only, but for copies, which are made anew.
    pub(super) fn is_low(&self, instruction: usize) -> bool {
        self.low[instruction] && !matches!(self.kinds[instruction], Kind::Copy)
    }

    /// The same, and for these touches of places, others of registers for the same.
    pub(super) fn with_kept(&self, reads: &Bits, writes: &Bits) -> Self {
        let mut all = Self {
            touches: Vec::with_capacity(self.touches.len()),
            starts: vec![0],
            kinds: self.kinds.clone(),
            low: self.low.clone(),
            calls: self.calls.clone(),
            rare: self.rare.clone(),
            locations: 2 * self.locations - KNOWN,
        };
        for at in 0..self.kinds.len() {
            for k in self.range(at) {
                let touch = self.touches[k];
                let kept = || Touch {
                    location: touch.location + self.locations - KNOWN,
                    at: At::Kept,
                    ..touch
                };
                // The first that is read and the last that is written is what is copied.
                all.touches.extend(reads.has(k).then(kept));
                all.touches.push(touch);
                all.touches.extend(writes.has(k).then(kept));
            }
            all.starts.push(all.touches.len());
        }
        all
    }

    /// Takes note of what an instruction has become, which touches the same.
    pub(super) fn now(&mut self, number: usize, instruction: &Instruction, width: Width) {
        self.kinds[number] = kind(instruction, width);
        self.low[number] = instruction.code().encoding() != EncodingKind::EVEX;
    }
}

/// Moves of whole registers, and to and from memory.
const MOVES: [Code; 12] = [
    Code::VEX_Vmovups_ymm_ymmm256,
    Code::VEX_Vmovups_ymmm256_ymm,
    Code::VEX_Vmovupd_ymm_ymmm256,
    Code::VEX_Vmovupd_ymmm256_ymm,
    Code::VEX_Vmovdqu_ymm_ymmm256,
    Code::VEX_Vmovdqu_ymmm256_ymm,
    Code::EVEX_Vmovups_zmm_k1z_zmmm512,
    Code::EVEX_Vmovups_zmmm512_k1z_zmm,
    Code::EVEX_Vmovupd_zmm_k1z_zmmm512,
    Code::EVEX_Vmovupd_zmmm512_k1z_zmm,
    Code::EVEX_Vmovdqu64_zmm_k1z_zmmm512,
    Code::EVEX_Vmovdqu64_zmmm512_k1z_zmm,
];

/// Instructions that are the same for all values of an operand that they name twice: 0 or all ones.
const CONSTANTS: [Code; 18] = [
    Code::VEX_Vxorps_ymm_ymm_ymmm256,
    Code::VEX_Vxorpd_ymm_ymm_ymmm256,
    Code::VEX_Vpxor_ymm_ymm_ymmm256,
    Code::VEX_Vpcmpeqb_ymm_ymm_ymmm256,
    Code::VEX_Vpcmpeqw_ymm_ymm_ymmm256,
    Code::VEX_Vpcmpeqd_ymm_ymm_ymmm256,
    Code::VEX_Vpcmpeqq_ymm_ymm_ymmm256,
    Code::VEX_Vxorps_xmm_xmm_xmmm128,
    Code::VEX_Vxorpd_xmm_xmm_xmmm128,
    Code::VEX_Vpxor_xmm_xmm_xmmm128,
    Code::VEX_Vpcmpeqb_xmm_xmm_xmmm128,
    Code::VEX_Vpcmpeqw_xmm_xmm_xmmm128,
    Code::VEX_Vpcmpeqd_xmm_xmm_xmmm128,
    Code::VEX_Vpcmpeqq_xmm_xmm_xmmm128,
    Code::EVEX_Vxorps_zmm_k1z_zmm_zmmm512b32,
    Code::EVEX_Vxorpd_zmm_k1z_zmm_zmmm512b64,
    Code::EVEX_Vpxord_zmm_k1z_zmm_zmmm512b32,
    Code::EVEX_Vpxorq_zmm_k1z_zmm_zmmm512b64,
];

/// The place on the stack that an instruction reads or writes, if there are so many.
fn place(instruction: &Instruction, width: Width, places: usize) -> Option<usize> {
    let at = instruction.memory_displacement64() as usize;
    let direct = instruction.memory_base() == Register::RSP;
    let inside = direct && at < places * width.bytes();
    inside.then_some(at / width.bytes())
}

/// Whether it is the beginning of such a place that it names.
fn whole(instruction: &Instruction, width: Width) -> bool {
    let at = instruction.memory_displacement64() as usize;
    at.is_multiple_of(width.bytes())
}

/// Whether it loads a whole vector.
pub(super) fn loads(instruction: &Instruction) -> bool {
    let into = instruction.op0_kind() == OpKind::Register;
    into && MOVES.contains(&instruction.code()) && in_memory(instruction)
}

/// Whether it calls other code.
pub(super) fn calls(instruction: &Instruction) -> bool {
    matches!(
        instruction.flow_control(),
        FlowControl::Call | FlowControl::IndirectCall
    )
}

/// Whether the last instruction calls what evaluates rare values of functions, whose address comes a few instructions before.
fn calls_rarely(instructions: &[Instruction]) -> bool {
    let Some((last, before)) = instructions.split_last() else {
        return false;
    };
    if last.flow_control() != FlowControl::IndirectCall || last.op0_kind() != OpKind::Register {
        return false;
    }
    let called = last.op0_register().full_register();
    let mut near = before.iter().rev().take(NEAR);
    let address = near.find(|i| i.op_count() > 0 && i.op0_register().full_register() == called);
    address.and_then(constant).is_some_and(evaluates)
}

/// The constant that an instruction puts into a register: addresses are short where programs lie low.
fn constant(instruction: &Instruction) -> Option<u64> {
    let code = instruction.code();
    if code == Code::Mov_r64_imm64 {
        Some(instruction.immediate64())
    } else if code == Code::Mov_r32_imm32 {
        Some(u64::from(instruction.immediate32()))
    } else {
        let extended = code == Code::Mov_rm64_imm32;
        let extended = extended && instruction.op0_kind() == OpKind::Register;
        extended.then(|| instruction.immediate32to64() as u64)
    }
}

fn in_memory(instruction: &Instruction) -> bool {
    (0..instruction.op_count()).any(|k| instruction.op_kind(k) == OpKind::Memory)
}

/// What kind of instruction it is; copies to and from the stack are told apart elsewhere.
fn kind(instruction: &Instruction, width: Width) -> Kind {
    let code = instruction.code();
    let register = |k: u32| instruction.op_register(k);
    if MOVES.contains(&code) && !in_memory(instruction) {
        return Kind::Copy;
    }
    if let Some(form) = fused::fused(code, width) {
        return Kind::Fused(form);
    }
    let twice = CONSTANTS.contains(&code) && !in_memory(instruction) && register(1) == register(2);
    let ones = code == Code::EVEX_Vpternlogd_zmm_k1z_zmm_zmmm512b32_imm8
        && instruction.immediate8() == 0xff;
    if twice || ones {
        return Kind::Constant;
    }
    Kind::Plain
}

/// What all instructions read and write.
pub(super) fn all(instructions: &[Instruction], width: Width, places: usize) -> Accesses {
    let mut factory = InstructionInfoFactory::new();
    // A place that is used in another way than by copies stays where it is.
    let mut other = vec![false; places];
    for instruction in instructions.iter().filter(|i| in_memory(i)) {
        let copies = MOVES.contains(&instruction.code());
        if let Some(number) = place(instruction, width, places)
            && !(copies && whole(instruction, width))
        {
            other[number] = true;
        }
    }
    let mut accesses = Accesses {
        touches: Vec::new(),
        starts: vec![0],
        kinds: Vec::with_capacity(instructions.len()),
        low: Vec::with_capacity(instructions.len()),
        calls: instructions.iter().map(calls).collect(),
        rare: (0..instructions.len())
            .map(|at| calls_rarely(&instructions[..=at]))
            .collect(),
        locations: KNOWN + places,
    };
    for (number, instruction) in instructions.iter().enumerate() {
        let mut kind = kind(instruction, width);
        let first = accesses.touches.len();
        let touches = &mut accesses.touches;
        let mut touch = |location, at, role| {
            touches.push(Touch {
                instruction: number as u32,
                location,
                at,
                role,
            });
        };
        let info = factory.info_options(instruction, ACCESSES_ALONE);
        for k in 0..instruction.op_count() {
            let access = info.op_access(k);
            let writes = matches!(access, OpAccess::Write | OpAccess::CondWrite);
            let both = matches!(access, OpAccess::ReadWrite | OpAccess::ReadCondWrite);
            if instruction.op_kind(k) == OpKind::Memory
                && let Some(place) = place(instruction, width, places)
                && !other[place]
            {
                let role = if writes { Role::Write } else { Role::Read };
                touch(KNOWN + place, At::Place, role);
                kind = Kind::Copy;
            }
            if instruction.op_kind(k) != OpKind::Register {
                continue;
            }
            let register = instruction.op_register(k);
            if !register.is_vector_register() || register.number() >= KNOWN {
                continue;
            }
            let location = register.number();
            let at = At::Operand(k);
            match kind {
                Kind::Constant if k == 0 => touch(location, at, Role::Write),
                Kind::Constant => {}
                Kind::Fused(_) if k == 0 => {
                    touch(location, at, Role::Read);
                    touch(location, at, Role::Write);
                }
                Kind::Fused(_) | Kind::Copy | Kind::Plain => {
                    let role = match (writes, both) {
                        (true, _) => Role::Write,
                        (_, true) => Role::Both,
                        (false, false) => Role::Read,
                    };
                    touch(location, at, role);
                }
            }
        }
        accesses.touches[first..].sort_by_key(|touch| touch.role != Role::Read);
        accesses.starts.push(accesses.touches.len());
        accesses.kinds.push(kind);
        let low = instruction.code().encoding() != EncodingKind::EVEX;
        accesses.low.push(low);
    }
    accesses
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constants_have_several_forms() {
        let [all, low] = [0x1234_5678_9abc_u64, 0x8765_4321];
        let forms = [
            (
                Instruction::with2(Code::Mov_r64_imm64, Register::RSI, all),
                Some(all),
            ),
            (
                Instruction::with2(Code::Mov_r32_imm32, Register::ESI, low as u32),
                Some(low),
            ),
            (
                Instruction::with2(Code::Mov_rm64_imm32, Register::RSI, -2),
                Some(-2_i64 as u64),
            ),
            (
                Instruction::with2(Code::Mov_r64_rm64, Register::RSI, Register::RDI),
                None,
            ),
        ];
        for (instruction, expected) in forms {
            assert_eq!(constant(&instruction.expect("a form")), expected);
        }
    }
}
