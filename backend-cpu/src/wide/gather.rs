//! What registers of 512 bits have of their own. Loads from the addresses in a vector: Cranelift stores that vector, and a marked load that makes lanes wider says where it is:
//!
//! ```text
//! vmovdqu [r8], xmm1                  vmovdqu64 [r8], zmm1
//! vpmovzxwd xmm2, [r8 + mark]  ──►    vmovdqu64 zmm31, [r8]; kxnorw k1, k1, k1; vpxor xmm2, xmm2, xmm2; vpgatherqd ymm2 {k1}, [4 * zmm31]
//! ```

use super::masks::MASK;
use super::rewrite::{ORDER, Writer, half, place};
use super::{EXTREMES, Refused, Width};
use iced_x86::{Code, Instruction, MemoryOperand, OpKind, Register};

/// The load that such a marked load stands for: of lanes of 32 bits, to the lower half of a register, or of 64 bits.
pub(super) fn gather(code: Code, width: Width) -> Option<Code> {
    let words =
        (code == Code::VEX_Vpmovzxwd_xmm_xmmm64).then_some(Code::EVEX_Vpgatherqd_ymm_k1_vm64z);
    let longs =
        (code == Code::VEX_Vpmovzxdq_xmm_xmmm64).then_some(Code::EVEX_Vpgatherqq_zmm_k1_vm64z);
    words.or(longs).filter(|_| width == Width::Four)
}

/// What bytes of two vectors as far from the first as [`super::EXTREMES`] says stand for: the least and the greatest integers of 64 bits, binary32 and
/// binary64. Of these, numbers come before NaNs, and the sign of zero counts.
const FORMS: [(Code, Option<i32>); 6] = [
    (Code::EVEX_Vpminsq_zmm_k1z_zmm_zmmm512b64, None),
    (Code::EVEX_Vpmaxsq_zmm_k1z_zmm_zmmm512b64, None),
    (
        Code::EVEX_Vrangeps_zmm_k1z_zmm_zmmm512b32_imm8_sae,
        Some(0b0100),
    ),
    (
        Code::EVEX_Vrangeps_zmm_k1z_zmm_zmmm512b32_imm8_sae,
        Some(0b0101),
    ),
    (
        Code::EVEX_Vrangepd_zmm_k1z_zmm_zmmm512b64_imm8_sae,
        Some(0b0100),
    ),
    (
        Code::EVEX_Vrangepd_zmm_k1z_zmm_zmmm512b64_imm8_sae,
        Some(0b0101),
    ),
];

impl Writer<'_> {
    /// Loads from the addresses in a vector in memory.
    pub(super) fn gather(&mut self, instruction: &Instruction, code: Code) -> Result<(), Refused> {
        let to = instruction.op0_register();
        let load = Code::EVEX_Vmovdqu64_zmm_k1z_zmmm512;
        self.push(Instruction::with2(load, ORDER, place(instruction))?);
        self.push(Instruction::with3(
            Code::VEX_Kxnorw_kr_kr_kr,
            MASK,
            MASK,
            MASK,
        )?);
        self.masks.set(MASK, None);
        let zero = Code::VEX_Vpxor_xmm_xmm_xmmm128;
        self.push(Instruction::with3(zero, to, to, to)?);
        let (whole, scale) = if code == Code::EVEX_Vpgatherqd_ymm_k1_vm64z {
            (half(to), 4)
        } else {
            (self.width.whole(to), 8)
        };
        let none = Register::None;
        let places = MemoryOperand::new(none, ORDER, scale, 0, 8, false, none);
        let mut gather = Instruction::with2(code, whole, places)?;
        gather.set_op_mask(MASK);
        self.push(gather);
        Ok(())
    }

    /// The least or the greatest lanes of two vectors.
    pub(super) fn extreme(&mut self, instruction: &Instruction) -> Result<(), Refused> {
        let refused = || Refused("bytes of two vectors".to_owned());
        let distance = instruction.immediate8();
        let place_of = EXTREMES.iter().position(|of| *of == distance);
        let (code, how) = FORMS[place_of.ok_or_else(refused)?];
        let [to, a] = [0, 1].map(|k| self.width.whole(instruction.op_register(k)));
        let in_memory = instruction.op_kind(2) == OpKind::Memory;
        let b = self.width.whole(instruction.op2_register());
        self.push(match (how, in_memory) {
            (Some(how), true) => Instruction::with4(code, to, a, place(instruction), how)?,
            (Some(how), false) => Instruction::with4(code, to, a, b, how)?,
            (None, true) => Instruction::with3(code, to, a, place(instruction))?,
            (None, false) => Instruction::with3(code, to, a, b)?,
        });
        Ok(())
    }
}
