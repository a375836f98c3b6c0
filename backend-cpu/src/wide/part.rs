//! Loads and stores of one part of a register, which have a mark in their distance ([`PART`]).

use super::{PART, Refused};
use iced_x86::{Code, Instruction, Register};

/// Loads of vectors.
const LOADS: [Code; 6] = [
    Code::Movups_xmm_xmmm128,
    Code::Movdqu_xmm_xmmm128,
    Code::VEX_Vmovups_xmm_xmmm128,
    Code::VEX_Vmovupd_xmm_xmmm128,
    Code::VEX_Vmovdqu_xmm_xmmm128,
    Code::Movupd_xmm_xmmm128,
];

/// Stores of vectors.
pub(super) const STORES: [Code; 6] = [
    Code::Movups_xmmm128_xmm,
    Code::Movdqu_xmmm128_xmm,
    Code::VEX_Vmovups_xmmm128_xmm,
    Code::VEX_Vmovupd_xmmm128_xmm,
    Code::VEX_Vmovdqu_xmmm128_xmm,
    Code::Movupd_xmmm128_xmm,
];

/// The instruction that loads or stores one part, for one that does so with a vector.
pub(super) fn code(code: Code) -> Result<Code, Refused> {
    match code {
        code if LOADS.contains(&code) => Ok(Code::VEX_Vmovdqu_xmm_xmmm128),
        code if STORES.contains(&code) => Ok(Code::VEX_Vmovdqu_xmmm128_xmm),
        code => Err(Refused(format!("{code:?} of a part"))),
    }
}

/// Whether an instruction has the mark of a load or a store of one part, which goes.
pub(super) fn is_marked(instruction: &mut Instruction) -> bool {
    let in_frame = [Register::RSP, Register::RIP].contains(&instruction.memory_base());
    let distance = instruction.memory_displacement64() as i64;
    // What else is in the address is little: see `check`.
    let is_marked = !in_frame && distance >= i64::from(PART) / 2;
    if is_marked {
        let distance = distance - i64::from(PART);
        instruction.set_memory_displacement64(distance as u64);
        instruction.set_memory_displ_size(u32::from(distance != 0));
    }
    is_marked
}
