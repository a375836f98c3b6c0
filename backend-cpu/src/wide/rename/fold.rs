//! Loads in the instructions that use them, and branches around branches: what is left of copies once they are gone.
//!
//! ```text
//! vmovups ymm14, [rax+r9]                    vsubps ymm15, ymm13, [rax+r9]
//! vsubps ymm15, ymm13, ymm14           ──►
//! jge out; jmp loop; out:                    jl loop; out:
//! ```

use super::access::{Accesses, At, Kind, Role};
use super::flow::Flow;
use super::webs::Webs;
use crate::wide::Width;
use crate::wide::masks::makes_lanes;
use iced_x86::{
    Code, FlowControl, Instruction, InstructionInfoFactory, OpAccess, OpKind, Register,
};
use std::collections::{HashMap, HashSet};

/// Loads that go into another instruction: by the number of that one, which load and whether its operands change places.
pub(super) struct Folds {
    pub(super) into: HashMap<usize, (usize, bool)>,
    /// Operations that are done for the lanes of a choice, by the number of that ([`super::masked`]).
    pub(super) masked: HashMap<usize, usize>,
    pub(super) gone: HashSet<usize>,
}

/// The most instructions that a load is moved over.
const AHEAD: usize = 64;

/// Finds lanes of masks that nothing reads, but for what makes such.
fn unread_lanes(
    gone: &mut HashSet<usize>,
    instructions: &[Instruction],
    flow: &Flow,
    accesses: &Accesses,
    webs: &Webs,
) {
    for block in flow.blocks.iter().rev() {
        for at in block.clone().rev() {
            let mut touches = accesses.range(at);
            let written = touches.find(|k| accesses.touches[*k].role == Role::Write);
            let Some(written) = written.filter(|_| makes_lanes(&instructions[at])) else {
                continue;
            };
            let is_read = webs.touches(webs.web(written)).iter().any(|k| {
                let user = accesses.touches[*k as usize].instruction as usize;
                user != at && !gone.contains(&user)
            });
            if !is_read {
                gone.insert(at);
            }
        }
    }
}

/// What an instruction can have in memory: its last vector operand. Whether the one before may change places with it.
fn takes(code: Code, width: Width) -> Option<bool> {
    let both = match width {
        Width::Two => [&TWO_EITHER[..], &TWO_LAST[..]],
        Width::Four => [&FOUR_EITHER[..], &FOUR_LAST[..]],
    };
    both[0]
        .contains(&code)
        .then_some(true)
        .or_else(|| both[1].contains(&code).then_some(false))
}

/// Instructions of two operands that may change places. Those of floats may not: of two NaNs the first one goes on.
const TWO_EITHER: [Code; 16] = [
    Code::VEX_Vandps_ymm_ymm_ymmm256,
    Code::VEX_Vandpd_ymm_ymm_ymmm256,
    Code::VEX_Vorps_ymm_ymm_ymmm256,
    Code::VEX_Vorpd_ymm_ymm_ymmm256,
    Code::VEX_Vxorps_ymm_ymm_ymmm256,
    Code::VEX_Vxorpd_ymm_ymm_ymmm256,
    Code::VEX_Vpand_ymm_ymm_ymmm256,
    Code::VEX_Vpor_ymm_ymm_ymmm256,
    Code::VEX_Vpxor_ymm_ymm_ymmm256,
    Code::VEX_Vpaddb_ymm_ymm_ymmm256,
    Code::VEX_Vpaddw_ymm_ymm_ymmm256,
    Code::VEX_Vpaddd_ymm_ymm_ymmm256,
    Code::VEX_Vpaddq_ymm_ymm_ymmm256,
    Code::VEX_Vpmullw_ymm_ymm_ymmm256,
    Code::VEX_Vpmulld_ymm_ymm_ymmm256,
    Code::VEX_Vpcmpeqd_ymm_ymm_ymmm256,
];
const TWO_LAST: [Code; 26] = [
    Code::VEX_Vaddps_ymm_ymm_ymmm256,
    Code::VEX_Vaddpd_ymm_ymm_ymmm256,
    Code::VEX_Vmulps_ymm_ymm_ymmm256,
    Code::VEX_Vmulpd_ymm_ymm_ymmm256,
    Code::VEX_Vsubps_ymm_ymm_ymmm256,
    Code::VEX_Vsubpd_ymm_ymm_ymmm256,
    Code::VEX_Vdivps_ymm_ymm_ymmm256,
    Code::VEX_Vdivpd_ymm_ymm_ymmm256,
    Code::VEX_Vminps_ymm_ymm_ymmm256,
    Code::VEX_Vminpd_ymm_ymm_ymmm256,
    Code::VEX_Vmaxps_ymm_ymm_ymmm256,
    Code::VEX_Vmaxpd_ymm_ymm_ymmm256,
    Code::VEX_Vcmpps_ymm_ymm_ymmm256_imm8,
    Code::VEX_Vcmppd_ymm_ymm_ymmm256_imm8,
    Code::VEX_Vandnps_ymm_ymm_ymmm256,
    Code::VEX_Vpandn_ymm_ymm_ymmm256,
    Code::VEX_Vpsubb_ymm_ymm_ymmm256,
    Code::VEX_Vpsubw_ymm_ymm_ymmm256,
    Code::VEX_Vpsubd_ymm_ymm_ymmm256,
    Code::VEX_Vpsubq_ymm_ymm_ymmm256,
    Code::VEX_Vpcmpgtd_ymm_ymm_ymmm256,
    Code::VEX_Vpcmpgtq_ymm_ymm_ymmm256,
    Code::VEX_Vfmadd231ps_ymm_ymm_ymmm256,
    Code::VEX_Vfmadd231pd_ymm_ymm_ymmm256,
    Code::VEX_Vfmadd213ps_ymm_ymm_ymmm256,
    Code::VEX_Vfmadd213pd_ymm_ymm_ymmm256,
];
const FOUR_EITHER: [Code; 6] = [
    Code::EVEX_Vpaddb_zmm_k1z_zmm_zmmm512,
    Code::EVEX_Vpaddw_zmm_k1z_zmm_zmmm512,
    Code::EVEX_Vpaddd_zmm_k1z_zmm_zmmm512b32,
    Code::EVEX_Vpaddq_zmm_k1z_zmm_zmmm512b64,
    Code::EVEX_Vpmullw_zmm_k1z_zmm_zmmm512,
    Code::EVEX_Vpmulld_zmm_k1z_zmm_zmmm512b32,
];
const FOUR_LAST: [Code; 16] = [
    Code::EVEX_Vaddps_zmm_k1z_zmm_zmmm512b32_er,
    Code::EVEX_Vaddpd_zmm_k1z_zmm_zmmm512b64_er,
    Code::EVEX_Vmulps_zmm_k1z_zmm_zmmm512b32_er,
    Code::EVEX_Vmulpd_zmm_k1z_zmm_zmmm512b64_er,
    Code::EVEX_Vsubps_zmm_k1z_zmm_zmmm512b32_er,
    Code::EVEX_Vsubpd_zmm_k1z_zmm_zmmm512b64_er,
    Code::EVEX_Vdivps_zmm_k1z_zmm_zmmm512b32_er,
    Code::EVEX_Vdivpd_zmm_k1z_zmm_zmmm512b64_er,
    Code::EVEX_Vpsubb_zmm_k1z_zmm_zmmm512,
    Code::EVEX_Vpsubw_zmm_k1z_zmm_zmmm512,
    Code::EVEX_Vpsubd_zmm_k1z_zmm_zmmm512b32,
    Code::EVEX_Vpsubq_zmm_k1z_zmm_zmmm512b64,
    Code::EVEX_Vfmadd231ps_zmm_k1z_zmm_zmmm512b32_er,
    Code::EVEX_Vfmadd231pd_zmm_k1z_zmm_zmmm512b64_er,
    Code::EVEX_Vfmadd213ps_zmm_k1z_zmm_zmmm512b32_er,
    Code::EVEX_Vfmadd213pd_zmm_k1z_zmm_zmmm512b64_er,
];

/// Finds the loads of whole vectors that one instruction uses, before which nothing is stored and no address changes, and lanes of masks that nothing
/// uses.
pub(super) fn folds(
    instructions: &[Instruction],
    flow: &Flow,
    accesses: &Accesses,
    (webs, colors): (&Webs, &[Option<u8>]),
    width: Width,
) -> Folds {
    let mut found = Folds {
        into: HashMap::new(),
        masked: HashMap::new(),
        gone: HashSet::new(),
    };
    unread_lanes(&mut found.gone, instructions, flow, accesses, webs);
    let mut factory = InstructionInfoFactory::new();
    for block in &flow.blocks {
        for load in block.clone() {
            let given = &instructions[load];
            if !super::access::loads(given) {
                continue;
            }
            // A place of the stack that is in a register now is none to load from.
            let mut written = None;
            let mut on_stack = true;
            for k in accesses.range(load) {
                match accesses.touches[k].at {
                    At::Place | At::Kept => on_stack &= colors[webs.web(k)].is_none(),
                    At::Operand(_) => written = Some(k),
                }
            }
            let Some(written) = written.filter(|_| on_stack) else {
                continue;
            };
            let &[first, last] = webs.touches(webs.web(written)) else {
                continue;
            };
            let user = accesses.touches[last as usize];
            let at = user.instruction as usize;
            let near = at > load && at < block.end && at - load <= AHEAD;
            if first as usize != written || !near || user.role != Role::Read {
                continue;
            }
            let Some(either) = fits(&instructions[at], user.at, width) else {
                continue;
            };
            let plain = matches!(accesses.kinds[at], Kind::Plain);
            let between = &instructions[load + 1..at];
            let free = !found.into.contains_key(&at) && (plain || !either);
            if free && !between.iter().any(|i| disturbs(&mut factory, i, given)) {
                found.into.insert(at, (load, either));
                found.gone.insert(load);
            }
        }
    }
    found
}

/// Whether an operand may be in memory, and whether it has to change places for that.
fn fits(instruction: &Instruction, at: At, width: Width) -> Option<bool> {
    let either = takes(instruction.code(), width)?;
    let registers = (0..3).all(|k| instruction.op_kind(k) == OpKind::Register);
    let differ = instruction.op1_register() != instruction.op2_register();
    let masked = instruction.has_op_mask() || instruction.zeroing_masking();
    if !registers || !differ || masked {
        return None;
    }
    match at {
        At::Operand(2) => Some(false),
        At::Operand(1) if either => Some(true),
        At::Operand(_) | At::Place | At::Kept => None,
    }
}

/// Whether an instruction may store where a load reads from, or changes its address.
fn disturbs(factory: &mut InstructionInfoFactory, other: &Instruction, load: &Instruction) -> bool {
    if other.flow_control() != FlowControl::Next {
        return true;
    }
    let writes = |access| {
        !matches!(
            access,
            OpAccess::None | OpAccess::Read | OpAccess::CondRead | OpAccess::NoMemAccess
        )
    };
    let info = factory.info(other);
    let stores = info.used_memory().iter().any(|m| writes(m.access()));
    let address = [load.memory_base(), load.memory_index()];
    let address = address.map(Register::full_register);
    let moves = info.used_registers().iter().any(|used| {
        let register = used.register().full_register();
        register != Register::None && writes(used.access()) && address.contains(&register)
    });
    stores || moves
}

/// Gives an instruction the memory of a load for its last operand.
pub(super) fn with_memory(instruction: &mut Instruction, load: &Instruction) {
    instruction.set_op2_kind(OpKind::Memory);
    instruction.set_memory_base(load.memory_base());
    instruction.set_memory_index(load.memory_index());
    instruction.set_memory_index_scale(load.memory_index_scale());
    instruction.set_memory_displacement64(load.memory_displacement64());
    instruction.set_memory_displ_size(load.memory_displ_size());
    instruction.set_segment_prefix(load.segment_prefix());
}

/// Turns conditional branches around a branch into one.
pub(super) fn straighten(instructions: &mut Vec<Instruction>) {
    let targets: HashSet<u64> = instructions
        .iter()
        .map(Instruction::near_branch_target)
        .collect();
    let mut out: Vec<Instruction> = Vec::with_capacity(instructions.len());
    let mut all = instructions.iter().copied().enumerate();
    while let Some((at, mut instruction)) = all.next() {
        if let Some([jump, behind]) = instructions.get(at + 1..at + 3)
            && instruction.flow_control() == FlowControl::ConditionalBranch
            && instruction.is_jcc_short_or_near()
            && jump.is_jmp_short_or_near()
            && instruction.near_branch_target() == behind.ip()
            && !targets.contains(&jump.ip())
        {
            instruction.negate_condition_code();
            instruction.set_near_branch64(jump.near_branch_target());
            all.next();
        }
        out.push(instruction);
    }
    *instructions = out;
}
