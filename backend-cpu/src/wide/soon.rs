//! Lines of the cache that are asked for before they are needed, of which Cranelift knows nothing: it stores a byte there with the mark of a part.
//!
//! ```text
//! mov byte ptr [rdi + mark], 0  ──►    prefetcht0 [rdi]
//! ```

use super::rewrite::place;
use super::{Refused, part};
use iced_x86::{Code, Instruction};

/// Stores of bytes.
const BYTES: [Code; 2] = [Code::Mov_rm8_imm8, Code::Mov_rm8_r8];

/// What asks for the line of the cache that an instruction means, if it has the mark.
pub(super) fn asked(instruction: &Instruction) -> Result<Option<Instruction>, Refused> {
    let mut meant = *instruction;
    if !(BYTES.contains(&meant.code()) && part::is_marked(&mut meant)) {
        return Ok(None);
    }
    Ok(Some(Instruction::with1(
        Code::Prefetcht0_m8,
        place(&meant),
    )?))
}
