//! Stores past the caches, of which Cranelift knows nothing: stores of whole registers with a mark of their own ([`PAST`]).
//!
//! ```text
//! vmovups [rdi + mark], xmm1    ──►    vmovntps [rdi], ymm1        vmovntps [rdi], zmm1
//! ```
//!
//! Cranelift computes what two branches use in both of them, unless something before these uses it as well. That is a store with another
//! mark ([`HELD`]), which goes.

use super::{HELD, PART, PAST, Refused, Width, part};
use iced_x86::{Code, Instruction, Register};

/// What a store past the caches is, or one that is none, if an instruction has such a mark.
pub(super) fn store(
    instruction: &Instruction,
    width: Width,
) -> Result<Option<Instruction>, Refused> {
    let in_frame = [Register::RSP, Register::RIP].contains(&instruction.memory_base());
    let distance = instruction.memory_displacement64() as i64;
    // What else is in the address is little: see `check`.
    if in_frame || distance < i64::from(PART / 2 + PAST / 2) {
        return Ok(None);
    }
    let code = instruction.code();
    if !part::STORES.contains(&code) {
        return Err(Refused(format!("{code:?} past the caches")));
    }
    if distance >= i64::from(PAST / 2 + HELD / 2) {
        // Branches may go there.
        return Ok(Some(Instruction::with(Code::Nopd)));
    }
    let mut meant = *instruction;
    let distance = distance - i64::from(PAST);
    meant.set_memory_displacement64(distance as u64);
    meant.set_memory_displ_size(u32::from(distance != 0));
    meant.set_op1_register(width.whole(instruction.op1_register()));
    meant.set_code(match width {
        Width::Two => Code::VEX_Vmovntps_m256_ymm,
        Width::Four => Code::EVEX_Vmovntps_m512_zmm,
    });
    Ok(Some(meant))
}
