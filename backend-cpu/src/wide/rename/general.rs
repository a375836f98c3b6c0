//! Numbers of general registers that are put in all lanes, or that all lanes are shifted by: AVX-512 puts them there without another
//! register between, and shifts each lane by its own number, which is one operation instead of two.
//!
//! ```text
//! vmovd xmm3, ecx                                       vpbroadcastd zmm3, ecx
//! vpbroadcastd zmm4, xmm3                         ──►
//! vmovd xmm5, edx                                       vpbroadcastd zmm5, edx
//! vpsrld zmm6, zmm7, xmm5                               vpsrlvd zmm6, zmm7, zmm5
//! ```

use super::access::{Accesses, At, Role};
use super::copied;
use super::webs::Webs;
use crate::wide::Width;
use iced_x86::{Code, Instruction, OpKind};

const WIDTH: Width = Width::Four;

/// An instruction that puts a number from a general register in a vector register, one that takes it from there, what the first becomes,
/// and what the second becomes, or a copy.
type Pair = (Code, Code, Code, Option<Code>);

const PAIRS: [Pair; 7] = [
    (
        Code::VEX_Vmovd_xmm_rm32,
        Code::EVEX_Vpbroadcastb_zmm_k1z_xmmm8,
        Code::EVEX_Vpbroadcastb_zmm_k1z_r32,
        None,
    ),
    (
        Code::VEX_Vmovd_xmm_rm32,
        Code::EVEX_Vpbroadcastw_zmm_k1z_xmmm16,
        Code::EVEX_Vpbroadcastw_zmm_k1z_r32,
        None,
    ),
    (
        Code::VEX_Vmovd_xmm_rm32,
        Code::EVEX_Vpbroadcastd_zmm_k1z_xmmm32,
        Code::EVEX_Vpbroadcastd_zmm_k1z_r32,
        None,
    ),
    (
        Code::VEX_Vmovq_xmm_rm64,
        Code::EVEX_Vbroadcastsd_zmm_k1z_xmmm64,
        Code::EVEX_Vpbroadcastq_zmm_k1z_r64,
        None,
    ),
    (
        Code::VEX_Vmovd_xmm_rm32,
        Code::EVEX_Vpslld_zmm_k1z_zmm_xmmm128,
        Code::EVEX_Vpbroadcastd_zmm_k1z_r32,
        Some(Code::EVEX_Vpsllvd_zmm_k1z_zmm_zmmm512b32),
    ),
    (
        Code::VEX_Vmovd_xmm_rm32,
        Code::EVEX_Vpsrld_zmm_k1z_zmm_xmmm128,
        Code::EVEX_Vpbroadcastd_zmm_k1z_r32,
        Some(Code::EVEX_Vpsrlvd_zmm_k1z_zmm_zmmm512b32),
    ),
    (
        Code::VEX_Vmovd_xmm_rm32,
        Code::EVEX_Vpsrad_zmm_k1z_zmm_xmmm128,
        Code::EVEX_Vpbroadcastd_zmm_k1z_r32,
        Some(Code::EVEX_Vpsravd_zmm_k1z_zmm_zmmm512b32),
    ),
];

/// What this makes of a user of a number that was moved by an instruction: that one, and the user.
fn pair(moves: Code, user: &Instruction, at: At) -> Option<(Code, Option<Code>)> {
    let last = user.op_count() - 1;
    if at != At::Operand(last) || user.op_kind(last) != OpKind::Register {
        return None;
    }
    let known = |&&(first, second, ..): &&Pair| (first, second) == (moves, user.code());
    let &(.., all, by) = PAIRS.iter().find(known)?;
    Some((all, by))
}

/// Changes numbers that are moved for nothing else.
pub(super) fn in_all_lanes(instructions: &mut [Instruction], accesses: &mut Accesses, webs: &Webs) {
    for moved in 0..instructions.len() {
        let given = instructions[moved];
        let moves = [Code::VEX_Vmovd_xmm_rm32, Code::VEX_Vmovq_xmm_rm64];
        if !moves.contains(&given.code()) || given.op1_kind() != OpKind::Register {
            continue;
        }
        let Some(written) = accesses.range(moved).next() else {
            continue;
        };
        let mut all = None;
        let mut users = Vec::new();
        let alike = webs.touches(webs.web(written)).iter().all(|touch| {
            let touch = accesses.touches[*touch as usize];
            let at = touch.instruction as usize;
            if at == moved {
                return touch.role == Role::Write;
            }
            let pair = pair(given.code(), &instructions[at], touch.at);
            let Some((code, by)) = pair.filter(|_| touch.role == Role::Read) else {
                return false;
            };
            users.push((at, by));
            *all.get_or_insert(code) == code
        });
        let Some(all) = all.filter(|_| alike) else {
            continue;
        };
        let number = WIDTH.whole(given.op0_register());
        instructions[moved].set_code(all);
        instructions[moved].set_op0_register(number);
        accesses.now(moved, &instructions[moved], WIDTH);
        for (at, by) in users {
            let user = &mut instructions[at];
            match by {
                Some(by) => {
                    user.set_code(by);
                    user.set_op2_register(number);
                }
                None => *user = copied(WIDTH, user.op0_register(), number, user.ip()),
            }
            accesses.now(at, &instructions[at], WIDTH);
        }
    }
}
