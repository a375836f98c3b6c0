//! Operations whose results are chosen by a mask, and used for nothing else, are done for the lanes of the mask:
//!
//! ```text
//! vsubpd zmm28, zmm30, zmm15
//! vpblendmq zmm30 {k1}, zmm30, zmm28    ──►    vsubpd zmm30 {k1}, zmm30, zmm15
//! ```

use super::access::{Accesses, At, Kind, Role};
use super::flow::Flow;
use super::fold::Folds;
use super::webs::Webs;
use iced_x86::{Code, FlowControl, Instruction, OpKind, Register};

/// Choices by a mask, by the bytes of a lane.
const CHOICES: [(Code, usize); 5] = [
    (Code::EVEX_Vpblendmb_zmm_k1z_zmm_zmmm512, 1),
    (Code::EVEX_Vpblendmd_zmm_k1z_zmm_zmmm512b32, 4),
    (Code::EVEX_Vpblendmq_zmm_k1z_zmm_zmmm512b64, 8),
    (Code::EVEX_Vblendmps_zmm_k1z_zmm_zmmm512b32, 4),
    (Code::EVEX_Vblendmpd_zmm_k1z_zmm_zmmm512b64, 8),
];
/// Operations, by the bytes of a lane.
const OPERATIONS: [(Code, usize); 12] = [
    (Code::EVEX_Vpaddb_zmm_k1z_zmm_zmmm512, 1),
    (Code::EVEX_Vpsubb_zmm_k1z_zmm_zmmm512, 1),
    (Code::EVEX_Vaddps_zmm_k1z_zmm_zmmm512b32_er, 4),
    (Code::EVEX_Vaddpd_zmm_k1z_zmm_zmmm512b64_er, 8),
    (Code::EVEX_Vsubps_zmm_k1z_zmm_zmmm512b32_er, 4),
    (Code::EVEX_Vsubpd_zmm_k1z_zmm_zmmm512b64_er, 8),
    (Code::EVEX_Vmulps_zmm_k1z_zmm_zmmm512b32_er, 4),
    (Code::EVEX_Vmulpd_zmm_k1z_zmm_zmmm512b64_er, 8),
    (Code::EVEX_Vpaddd_zmm_k1z_zmm_zmmm512b32, 4),
    (Code::EVEX_Vpaddq_zmm_k1z_zmm_zmmm512b64, 8),
    (Code::EVEX_Vpsubd_zmm_k1z_zmm_zmmm512b32, 4),
    (Code::EVEX_Vpsubq_zmm_k1z_zmm_zmmm512b64, 8),
];

/// The most instructions that an operation is moved over.
const AHEAD: usize = 8;

/// Finds the choices that go into operations.
pub(super) fn find(
    folds: &mut Folds,
    instructions: &[Instruction],
    flow: &Flow,
    accesses: &Accesses,
    (webs, colors): (&Webs, &[Option<u8>]),
) {
    let bytes = |table: &[(Code, usize)], instruction: &Instruction| {
        let registers = (0..3).all(|k| instruction.op_kind(k) == OpKind::Register);
        let known = table.iter().find(|(code, _)| *code == instruction.code());
        known.filter(|_| registers).map(|(_, bytes)| *bytes)
    };
    // The touch of an operand, if it is the only one, and its register.
    let operand = |at: usize, k: u32| {
        let mut touches = accesses.range(at);
        touches.find(|touch| accesses.touches[*touch].at == At::Operand(k))
    };
    let color = |touch: usize| colors[webs.web(touch)];
    for block in &flow.blocks {
        for at in block.clone() {
            let choice = &instructions[at];
            let Some(width) = bytes(&CHOICES, choice) else {
                continue;
            };
            let plain = choice.op_mask() != Register::None && !choice.zeroing_masking();
            let (Some(to), Some(kept), Some(chosen)) =
                (operand(at, 0), operand(at, 1), operand(at, 2))
            else {
                continue;
            };
            let &[write, read] = webs.touches(webs.web(chosen)) else {
                continue;
            };
            let made = accesses.touches[write as usize];
            let from = made.instruction as usize;
            let near = from < at && at - from <= AHEAD && block.contains(&from);
            if !plain || !near || read as usize != chosen || made.role != Role::Write {
                continue;
            }
            let operation = &instructions[from];
            let fits = bytes(&OPERATIONS, operation) == Some(width)
                && operation.op_mask() == Register::None
                && matches!(accesses.kinds[from], Kind::Plain)
                && matches!(accesses.kinds[at], Kind::Plain);
            let taken = [from, at]
                .iter()
                .any(|k| folds.into.contains_key(k) || folds.gone.contains(k));
            let (Some(a), Some(b)) = (operand(from, 1), operand(from, 2)) else {
                continue;
            };
            let (Some(to), Some(kept), Some(a), Some(b)) =
                (color(to), color(kept), color(a), color(b))
            else {
                continue;
            };
            let stays = to == kept || (to != a && to != b);
            let disturbed = (from + 1..at).any(|k| {
                let writes = accesses.range(k).any(|touch| {
                    let writes = accesses.touches[touch].role != Role::Read;
                    writes && color(touch).is_some_and(|c| c == a || c == b)
                });
                writes || instructions[k].flow_control() != FlowControl::Next
            });
            if fits && !taken && stays && !disturbed {
                folds.masked.insert(at, from);
                folds.gone.insert(from);
            }
        }
    }
}

/// An operation for the lanes that a choice says, both with the registers that they have now.
pub(super) fn joined(mut operation: Instruction, choice: &Instruction) -> Instruction {
    operation.set_op0_register(choice.op0_register());
    operation.set_op_mask(choice.op_mask());
    operation
}
