//! Registers of 256 and of 512 bits, of which Cranelift knows nothing: it compiles code for 128 bits that is made for this, and
//! the machine code is widened.
//!
//! Code that is emitted for wider registers computes with several vectors at once: each vector value of Cranelift stands for
//! two or four, which lie side by side as the *parts* of a register, and every operation does to all of them what it says. Loads
//! and stores are as many bytes apart as a register has. So each instruction on vectors becomes its form for wider registers,
//! which AVX2 and AVX-512 define part by part:
//!
//! ```text
//!                                               256 bits                          512 bits
//! vaddps xmm1, xmm2, [rdi+rax]            ──►   vaddps ymm1, ymm2, [rdi+rax]      vaddps zmm1, zmm2, [rdi+rax]
//! vmulps xmm1, xmm1, [constant]           ──►   vmulps ymm1, ymm1, [it, twice]    vmulps zmm1, zmm1, [it, four times]
//! movdqu [rsp+48], xmm3 (a spill)         ──►   vmovdqu [rsp+32], ymm3            vmovdqu64 [rsp+64], zmm3 (another place)
//! vcmpltps xmm1, xmm2, xmm3               ──►   vcmpltps ymm1, ymm2, ymm3         vcmpltps k1, zmm2, zmm3; vpmovm2d zmm1, k1
//! vblendvps xmm1, xmm2, xmm3, xmm4        ──►   vblendvps ymm1, ymm2, ymm3, ymm4  vpmovd2m k1, zmm4; vblendmps zmm1 {k1}, zmm2, zmm3
//! vcvtps2pd xmm1, xmm2                    ──►   vpermq ymm1, ymm2, 0xd8; vcvtps2pd ymm1, xmm1
//! ret                                     ──►   vzeroupper; ret
//! ```
//!
//! What leaves the lanes of a part is emitted in operations of Cranelift that nothing else uses and that stand for what it has
//! not (`emit/parts.rs`): `x86_pmulhrsw(a, b)` for two vectors side by side ([`forms::Form::Pair`]), `uadd_sat(a, b)` for two pairs
//! ([`forms::Form::Four`]), `x86_pmaddubsw(a, a)` for the second vector ([`forms::Form::Second`]), `usub_sat(a, a)` for the upper pair of four
//! ([`forms::Form::Top`]), `ssub_sat(a, m)` of lanes of 16 bits, of four, for the lanes of a where those of m are set ([`forms::Form::Compress`]),
//! and of two, for those lanes of 32 bits of a that the lanes of m say ([`forms::Form::Permute`]), `sadd_sat(i, a)` of lanes of 16 bits for those bytes of a that the lower six bits of
//! bytes of i say ([`forms::Form::Find`]), `sadd_sat(a, a)` and `ssub_sat(a, a)` for lanes of 64 bits in another order ([`forms::Form::Sort`]), and
//! `avg_round(a, a)` of lanes of 16 bits for numbers near the reciprocals of roots ([`forms::Form::Near`]). A load or a store of one part has a mark in its distance ([`PART`]), and so has a load from the
//! addresses in a vector ([`mod@gather`]), a store past the caches ([`mod@past`]), and the store of a byte that asks for a line of the cache ([`mod@soon`]). For 512 bits `avg_round(a, a)` of bytes, `uadd_sat(a, a)` and `usub_sat(a, a)` of lanes of 16 bits, and `iadd_pairwise(a, a)` of these stand for binary64 made integers of
//! 64 bits, for these made binary64 and binary32, and for the latter made integers, `iadd_pairwise(a, b)` of lanes of 32 bits for products of 64 bits, and bytes of two vectors from some places on for extremes ([`EXTREMES`]). Widening the
//! lower half of the lanes gives the whole of another vector ([`forms::Form::Extend`]). Numbers in general registers and single floats are
//! what they were.
//!
//! A lane computes what it computes in code for 128 bits, and the parts are the vectors that lie side by side there, so results
//! are the same to the bit. Where lanes decide how sums are rounded, they are as many for all registers.
//!
//! Nothing is widened that is not understood: [`mod@check`] knows the operations of Cranelift, [`forms`] the instructions, and a
//! unit in which something else is found is compiled for fewer bits.

mod check;
mod forms;
mod frame;
mod gather;
mod masks;
mod part;
mod past;
mod pool;
mod rename;
mod rewrite;
mod soon;

pub(crate) use check::check;

use frame::Frame;
use iced_x86::{
    BlockEncoder, BlockEncoderOptions, Decoder, DecoderOptions, FastFormatter, FlowControl,
    IcedError, Instruction, InstructionBlock, OpKind, Register,
};
use masks::Masks;
use pool::Pool;
use rewrite::Writer;
use std::collections::BTreeSet;
use std::fmt::Write as _;

/// The distance that marks a load or a store of one part, the first, of as many bytes as that has: what is meant is so far before the place that is said. Code in which
/// anything else may be that far away is not widened ([`mod@check`]).
pub(crate) const PART: i32 = 1 << 30;

/// The distance that marks a store of a register past the caches ([`mod@past`]), which is far from that of a part.
pub(crate) const PAST: i32 = 3 << 29;

/// The distance that marks a store that is none: what it would store is computed before what comes next.
pub(crate) const HELD: i32 = 7 << 28;

/// How far from the first the bytes of two vectors are that stand for extremes, which no other operation asks for: the least and the greatest integers of 64
/// bits, binary32 and binary64.
pub(crate) const EXTREMES: [u8; 6] = [1, 3, 5, 7, 9, 11];

/// The registers that code is widened for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Width {
    /// Of two vectors: 256 bits, AVX2.
    Two,
    /// Of four: 512 bits, AVX-512.
    Four,
}

impl Width {
    /// How many vectors of 128 bits a register has.
    pub(crate) const fn parts(self) -> usize {
        match self {
            Self::Two => 2,
            Self::Four => 4,
        }
    }

    /// Bytes of a register.
    pub(crate) const fn bytes(self) -> usize {
        16 * self.parts()
    }

    /// The register that this one is the first part of.
    fn whole(self, register: Register) -> Register {
        let first = match self {
            Self::Two => Register::YMM0,
            Self::Four => Register::ZMM0,
        };
        if register.is_vector_register() {
            first + register.number() as u32
        } else {
            register
        }
    }
}

/// Why a unit is not widened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Refused(pub(crate) String);

impl From<IcedError> for Refused {
    fn from(error: IcedError) -> Self {
        Self(error.to_string())
    }
}

/// The address that code is taken apart and put together at; it may lie anywhere.
const BASE: u64 = 1 << 32;
/// The most bytes that are between code and its constants.
const PADDING: usize = 32;

/// The code of a unit that was emitted for wider registers. `slots` is the end of those places on the stack that the unit
/// asked for, from the stack pointer on. The new code wants to be aligned to as many bytes as a register has.
///
/// Registers are chosen anew if no vectors and no floats go in or out.
pub(crate) fn widen(
    code: &[u8],
    slots: u64,
    width: Width,
    renamed: bool,
) -> Result<Vec<u8>, Refused> {
    let instructions = decode(code)?;
    let frame = Frame::of(&instructions, slots, width)?;
    let longer = frame.longer(&instructions);
    let places = frame.places();
    let masks = Masks::new(&instructions, width);
    let mut writer = Writer::new(width, frame, Pool::new(code), masks);
    for instruction in &instructions {
        writer.rewrite(*instruction)?;
    }
    let Writer {
        mut out, mut pool, ..
    } = writer;
    // Forms for 256 bits are as long as those for 128 but for a byte by which other registers are named, others have longer prefixes and
    // distances; what is new is at most 11 bytes long, one that aligns the frame among it.
    let prefixes = match width {
        Width::Two => out.len(),
        Width::Four => 7 * out.len(),
    };
    let more = prefixes + 11 * (out.len() + 1 - instructions.len()) + longer;
    if renamed {
        rename::rename(&mut out, width, places, &mut pool);
    }
    if places > 0 {
        frame::align(&mut out, width)?;
    }
    let start = (code.len() + more).next_multiple_of(width.bytes());
    pool.place(&mut out, BASE + start as u64);
    let block = InstructionBlock::new(&out, BASE);
    let encoded = BlockEncoder::encode(64, block, BlockEncoderOptions::NONE)?;
    let mut bytes = encoded.code_buffer;
    if bytes.len() > start {
        return Err(Refused("code longer than was thought".to_owned()));
    }
    if !pool.bytes.is_empty() {
        bytes.resize(start, 0xcc);
        bytes.append(&mut pool.bytes);
    }
    Ok(bytes)
}

/// The instructions, up to the constants behind them.
fn decode(code: &[u8]) -> Result<Vec<Instruction>, Refused> {
    let mut decoder = Decoder::with_ip(64, code, BASE, DecoderOptions::NONE);
    let mut all: Vec<Instruction> = Vec::with_capacity(code.len() / 4);
    let mut end = code.len();
    while decoder.position() < end {
        let rest = &code[decoder.position()..end];
        let ends = all.last().is_some_and(|i| {
            let flow = i.flow_control();
            matches!(
                flow,
                FlowControl::Return | FlowControl::UnconditionalBranch | FlowControl::Exception
            )
        });
        if ends && rest.len() < PADDING && rest.iter().all(|byte| *byte == 0) {
            break;
        }
        let instruction = decoder.decode();
        if instruction.is_invalid() {
            return Err(Refused("bytes that are no instruction".to_owned()));
        }
        if instruction.is_ip_rel_memory_operand() {
            let at = instruction.memory_displacement64().wrapping_sub(BASE);
            let at = usize::try_from(at).map_err(|_| Refused("memory elsewhere".to_owned()))?;
            end = end.min(at);
        }
        all.push(instruction);
    }
    match all.last() {
        Some(last) if last.next_ip() - BASE <= end as u64 => Ok(all),
        Some(_) | None => Err(Refused("instructions run into constants".to_owned())),
    }
}

/// The instructions of code that was widened, for people, with marks where jumps go to.
pub(crate) fn text(code: &[u8]) -> String {
    let Ok(instructions) = decode(code) else {
        return String::new();
    };
    let target = |i: &Instruction| i.near_branch_target().wrapping_sub(BASE);
    let jumps = instructions.iter().filter(|i| i.near_branch_target() != 0);
    let marked: BTreeSet<u64> = jumps.map(target).collect();
    let mut formatter = FastFormatter::new();
    formatter
        .options_mut()
        .set_space_after_operand_separator(true);
    let mut out = String::new();
    for instruction in &instructions {
        let at = instruction.ip() - BASE;
        if marked.contains(&at) {
            // Writing to a string cannot fail.
            let _ = writeln!(out, "at_{at:x}:");
        }
        out.push_str("  ");
        if instruction.near_branch_target() == 0 {
            formatter.format(instruction, &mut out);
        } else {
            let name = format!("{:?}", instruction.mnemonic()).to_lowercase();
            let _ = write!(out, "{name} at_{:x}", target(instruction));
        }
        out.push('\n');
    }
    out
}

/// Whether an operand is a vector register.
fn has_vectors(instruction: &Instruction) -> bool {
    (0..instruction.op_count()).any(|k| {
        instruction.op_kind(k) == OpKind::Register
            && instruction.op_register(k).is_vector_register()
    })
}

#[cfg(test)]
mod tests;
