//! What a mask register holds from a comparison on, so that choices and conjunctions need not make it of lanes again, which are not needed then:
//!
//! ```text
//! vcmpltps k1, zmm1, zmm2                             vcmpltps k1, zmm1, zmm2
//! vpmovm2d zmm3, k1                             ──►
//! vpmovd2m k1, zmm3; vblendmps zmm4 {k1}, ..          vblendmps zmm4 {k1}, ..
//! vpmovb2m k1, zmm3; vpblendmb zmm5 {k1}, ..          vpblendmd zmm5 {k1}, ..
//! vpandd zmm6, zmm3, zmm7                             vmovdqa32 zmm6 {k1}{z}, zmm7
//! ```

use iced_x86::{Code, FlowControl, Instruction, OpKind, Register};
use std::collections::HashSet;

/// The instructions that make lanes of a mask, by the bytes of a lane.
const LANES: [(Code, usize); 4] = [
    (Code::EVEX_Vpmovm2b_zmm_kr, 1),
    (Code::EVEX_Vpmovm2w_zmm_kr, 2),
    (Code::EVEX_Vpmovm2d_zmm_kr, 4),
    (Code::EVEX_Vpmovm2q_zmm_kr, 8),
];
/// Choices by a mask, by the bytes of a lane.
const CHOICES: [(Code, usize); 6] = [
    (Code::EVEX_Vpblendmb_zmm_k1z_zmm_zmmm512, 1),
    (Code::EVEX_Vpblendmw_zmm_k1z_zmm_zmmm512, 2),
    (Code::EVEX_Vpblendmd_zmm_k1z_zmm_zmmm512b32, 4),
    (Code::EVEX_Vpblendmq_zmm_k1z_zmm_zmmm512b64, 8),
    (Code::EVEX_Vblendmps_zmm_k1z_zmm_zmmm512b32, 4),
    (Code::EVEX_Vblendmpd_zmm_k1z_zmm_zmmm512b64, 8),
];

/// Copies of the lanes that a mask says, by the bytes of a lane.
const COPIES: [(Code, usize); 4] = [
    (Code::EVEX_Vmovdqu8_zmm_k1z_zmmm512, 1),
    (Code::EVEX_Vmovdqu16_zmm_k1z_zmmm512, 2),
    (Code::EVEX_Vmovdqa32_zmm_k1z_zmmm512, 4),
    (Code::EVEX_Vmovdqa64_zmm_k1z_zmmm512, 8),
];
/// Conjunctions of all bits.
const ANDS: [Code; 3] = [
    Code::VEX_Vpand_xmm_xmm_xmmm128,
    Code::VEX_Vandps_xmm_xmm_xmmm128,
    Code::VEX_Vandpd_xmm_xmm_xmmm128,
];

/// What the mask register holds.
pub(super) struct Masks {
    /// Where branches go to: what is held there is not known.
    targets: HashSet<u64>,
    /// The register of which all bits of a lane are set or none, as the mask says, and the bytes of a lane.
    held: Option<(Register, usize)>,
}

impl Masks {
    pub(super) fn new(instructions: &[Instruction]) -> Self {
        let targets = instructions.iter().map(Instruction::near_branch_target);
        Self {
            targets: targets.collect(),
            held: None,
        }
    }

    /// Takes note of an instruction as it was before it is widened, which may change a register.
    pub(super) fn pass(&mut self, instruction: &Instruction) {
        let goes_on = matches!(
            instruction.flow_control(),
            FlowControl::Next | FlowControl::ConditionalBranch
        );
        let writes = instruction.op_count() > 0 && instruction.op_kind(0) == OpKind::Register;
        let written = writes.then(|| instruction.op0_register().full_register());
        let changes = self.held.is_some_and(|(held, _)| written == Some(held));
        if !goes_on || changes || self.targets.contains(&instruction.ip()) {
            self.held = None;
        }
    }

    /// The copy of a register's lanes by the mask register as it is, if an instruction, as it was before it is widened, is a conjunction of these
    /// with what the mask register says.
    pub(super) fn copy(&self, instruction: &Instruction) -> Option<(Code, Register)> {
        let (held, bytes) = self.held?;
        let registers = (0..3).all(|k| instruction.op_kind(k) == OpKind::Register);
        if !ANDS.contains(&instruction.code())
            || !registers
            || self.targets.contains(&instruction.ip())
        {
            return None;
        }
        let code = COPIES.iter().find(|(_, of)| *of == bytes)?.0;
        let (first, second) = (instruction.op1_register(), instruction.op2_register());
        let is_held = |register: Register| register.full_register() == held;
        match (is_held(first), is_held(second)) {
            (true, _) => Some((code, second)),
            (false, true) => Some((code, first)),
            (false, false) => None,
        }
    }

    /// The mask register is set; if by a comparison, this makes its lanes.
    pub(super) fn set(&mut self, lanes: Option<(Register, Code)>) {
        self.held = lanes.and_then(|(register, code)| {
            let bytes = LANES.iter().find(|(lanes, _)| *lanes == code)?.1;
            Some((register.full_register(), bytes))
        });
    }

    /// A choice by the mask register as it is, if that says what the lanes of a register do by which this one chooses.
    pub(super) fn choice(&self, by: Register, code: Code) -> Option<Code> {
        let (held, bytes) = self.held?;
        let wanted = CHOICES.iter().find(|(choice, _)| *choice == code)?.1;
        if held != by.full_register() || wanted > bytes {
            return None;
        }
        if wanted == bytes {
            return Some(code);
        }
        let wider = CHOICES.iter().find(|(_, of)| *of == bytes)?;
        Some(wider.0)
    }
}

/// Whether an instruction does nothing but make lanes of a mask.
pub(super) fn makes_lanes(instruction: &Instruction) -> bool {
    LANES.iter().any(|(code, _)| *code == instruction.code())
}
