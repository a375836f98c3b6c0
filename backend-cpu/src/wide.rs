//! Registers of 256 bits, of which Cranelift knows nothing: it compiles code for 128 bits that is made for this, and the
//! machine code is widened.
//!
//! Code that is emitted *in pairs* computes with pairs of vectors: each vector value of Cranelift stands for two, the lower and
//! the upper half of a register of 256 bits, and every operation does to both what it says. Loads and stores of pairs are 32
//! bytes apart. So each instruction on vectors becomes its form for 256 bits, which AVX2 defines half by half:
//!
//! ```text
//! vaddps xmm1, xmm2, [rdi+rax]            ──►   vaddps ymm1, ymm2, [rdi+rax]
//! vmulps xmm1, xmm1, [constant, 16 bytes] ──►   vmulps ymm1, ymm1, [the same, twice]
//! movdqu [rsp+48], xmm3 (a spill)         ──►   vmovdqu [rsp+32], ymm3 (another place, of 32 bytes)
//! vcvtps2pd xmm1, xmm2                    ──►   vpermq ymm1, ymm2, 0x08; vcvtps2pd ymm1, xmm1
//! ret                                     ──►   vzeroupper; ret
//! ```
//!
//! What leaves the lanes of a half is emitted in operations of Cranelift that nothing else uses and that stand for what
//! it has not: `x86_pmulhrsw(a, b)` for the pair of two vectors ([`Form::Pair`]), `x86_pmaddubsw(a, a)` for the upper half of a
//! pair ([`Form::Upper`]), `sadd_sat(a, a)` for a pair whose middle quarters change places ([`Form::Sort`]). Widening the lower
//! lanes of a pair gives the whole of another ([`Form::Extend`]). Numbers in general registers and single floats are what they were.
//!
//! A lane computes what it computes in code for 128 bits, and the lanes of a pair are those of two vectors that lie side by
//! side there, so results are the same to the bit, those of sums of floats among them.
//!
//! Nothing is widened that is not understood: [`mod@check`] knows the operations of Cranelift, [`forms`] the instructions, and a
//! unit in which something else is found is compiled for 128 bits.

mod check;
mod forms;
mod frame;

pub(crate) use check::check;

use forms::{Form, form};
use frame::Frame;
use iced_x86::{
    BlockEncoder, BlockEncoderOptions, Code, Decoder, DecoderOptions, FastFormatter, FlowControl,
    IcedError, Instruction, InstructionBlock, OpKind, Register,
};
use std::collections::{BTreeSet, HashMap};
use std::fmt::Write as _;

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

/// The code of a unit that was emitted in pairs, for registers of 256 bits. `slots` is the end of those places on the stack that
/// the unit asked for, from the stack pointer on. The new code wants to be aligned to 32 bytes.
pub(crate) fn widen(code: &[u8], slots: u64) -> Result<Vec<u8>, Refused> {
    let instructions = decode(code)?;
    let frame = Frame::of(&instructions, slots)?;
    let mut pool = Pool::new(code);
    let mut out = Vec::with_capacity(instructions.len() + 8);
    for instruction in &instructions {
        rewrite(*instruction, &frame, &mut pool, &mut out)?;
    }
    // Forms for 256 bits are as long as those for 128; what is new is at most 11 bytes long.
    let more = 11 * (out.len() - instructions.len()) + frame.longer(&instructions);
    let start = (code.len() + more).next_multiple_of(32);
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

/// The register of 256 bits that a register is the lower half of.
fn whole(register: Register) -> Register {
    if register.is_xmm() {
        Register::YMM0 + register.number() as u32
    } else {
        register
    }
}

/// Writes down what becomes of an instruction.
fn rewrite(
    mut instruction: Instruction,
    frame: &Frame,
    pool: &mut Pool<'_>,
    out: &mut Vec<Instruction>,
) -> Result<(), Refused> {
    let what = instruction;
    let form = if has_vectors(&instruction) {
        let unknown = || Refused(format!("{:?}", what.code()));
        Some(form(instruction.code()).ok_or_else(unknown)?)
    } else {
        general(&instruction)?;
        None
    };
    if instruction.is_ip_rel_memory_operand() {
        let twice = matches!(form, Some(Form::Twin(_) | Form::Shuffle | Form::Demote));
        pool.take(&instruction, twice)?;
    }
    frame.rewrite(&mut instruction);
    let ip = instruction.ip();
    let mut all = match form {
        None => general_in_pairs(instruction),
        Some(form) => in_pairs(instruction, form)?,
    };
    for (i, instruction) in all.iter_mut().enumerate() {
        // Branches go to the first of them; the others are where nothing else is.
        instruction.set_ip(ip + ((i as u64) << 40));
    }
    out.append(&mut all);
    Ok(())
}

/// Whether an instruction without vectors may stand in such code.
fn general(instruction: &Instruction) -> Result<(), Refused> {
    match instruction.flow_control() {
        FlowControl::Next
        | FlowControl::ConditionalBranch
        | FlowControl::UnconditionalBranch
        | FlowControl::IndirectCall
        | FlowControl::Return
        | FlowControl::Exception => Ok(()),
        FlowControl::Call
        | FlowControl::IndirectBranch
        | FlowControl::Interrupt
        | FlowControl::XbeginXabortXend => Err(Refused(format!("{:?}", instruction.code()))),
    }
}

/// Other code finds the upper halves clear: it may use instructions that are slow otherwise.
fn general_in_pairs(instruction: Instruction) -> Vec<Instruction> {
    let leaves = matches!(
        instruction.flow_control(),
        FlowControl::Return | FlowControl::IndirectCall
    );
    if leaves {
        vec![Instruction::with(Code::VEX_Vzeroupper), instruction]
    } else {
        vec![instruction]
    }
}

/// What does to both halves what an instruction on vectors says.
fn in_pairs(mut instruction: Instruction, form: Form) -> Result<Vec<Instruction>, Refused> {
    let in_memory = (0..instruction.op_count()).any(|k| instruction.op_kind(k) == OpKind::Memory);
    let refused = || Refused(format!("{:?} of memory", instruction.code()));
    let register = |k: u32| instruction.op_register(k);
    let all = match form {
        Form::Same => vec![instruction],
        Form::Twin(code) => {
            widen_registers(&mut instruction);
            instruction.set_code(code);
            vec![instruction]
        }
        Form::Spread(code) => {
            if instruction.code() == Code::VEX_Vmovddup_xmm_xmmm64 && !in_memory {
                return Err(Refused("a lane of 64 bits of each half".to_owned()));
            }
            let result = whole(register(0));
            instruction.set_op0_register(result);
            instruction.set_code(code);
            vec![instruction]
        }
        Form::Shuffle if instruction.immediate8() == 0x44 => {
            if in_memory {
                return Err(refused());
            }
            let code = Code::VEX_Vbroadcastsd_ymm_xmm;
            vec![Instruction::with2(code, whole(register(0)), register(1))?]
        }
        Form::Shuffle => {
            widen_registers(&mut instruction);
            instruction.set_code(Code::VEX_Vpshufd_ymm_ymmm256_imm8);
            vec![instruction]
        }
        Form::Promote => {
            if in_memory {
                return Err(refused());
            }
            let (to, from) = (register(0), whole(register(1)));
            let code = Code::VEX_Vcvtps2pd_ymm_xmmm128;
            vec![
                Instruction::with3(Code::VEX_Vpermq_ymm_ymmm256_imm8, whole(to), from, 0x08)?,
                Instruction::with2(code, whole(to), to)?,
            ]
        }
        Form::Demote => {
            let to = whole(register(0));
            if !in_memory {
                let from = whole(register(1));
                instruction.set_op1_register(from);
            }
            instruction.set_code(Code::VEX_Vcvtpd2ps_xmm_ymmm256);
            let sort = Instruction::with3(Code::VEX_Vpermq_ymm_ymmm256_imm8, to, to, 0xd8)?;
            vec![instruction, sort]
        }
        Form::Extend(code) => {
            if instruction.is_ip_rel_memory_operand() {
                return Err(refused());
            }
            let result = whole(register(0));
            instruction.set_op0_register(result);
            instruction.set_code(code);
            vec![instruction]
        }
        Form::Shift(code) => {
            let [to, from] = [0, 1].map(|k| whole(register(k)));
            instruction.set_op0_register(to);
            instruction.set_op1_register(from);
            instruction.set_code(code);
            vec![instruction]
        }
        Form::Sort => {
            if in_memory || register(1) != register(2) {
                return Err(refused());
            }
            let code = Code::VEX_Vpermq_ymm_ymmm256_imm8;
            let (to, from) = (whole(register(0)), whole(register(1)));
            vec![Instruction::with3(code, to, from, 0xd8)?]
        }
        Form::Pair => {
            if in_memory {
                return Err(refused());
            }
            let code = Code::VEX_Vinsertf128_ymm_ymm_xmmm128_imm8;
            let (to, low) = (whole(register(0)), whole(register(1)));
            vec![Instruction::with4(code, to, low, register(2), 1)?]
        }
        Form::Upper => {
            if in_memory || register(1) != register(2) {
                return Err(refused());
            }
            let code = Code::VEX_Vextractf128_xmmm128_ymm_imm8;
            vec![Instruction::with3(
                code,
                register(0),
                whole(register(1)),
                1,
            )?]
        }
    };
    Ok(all)
}

fn widen_registers(instruction: &mut Instruction) {
    for k in 0..instruction.op_count() {
        if instruction.op_kind(k) == OpKind::Register {
            let register = whole(instruction.op_register(k));
            instruction.set_op_register(k, register);
        }
    }
}

/// The constants behind the code.
struct Pool<'c> {
    code: &'c [u8],
    bytes: Vec<u8>,
    places: HashMap<Vec<u8>, usize>,
    /// For each instruction with a constant, by its address, where in the pool that is.
    uses: HashMap<u64, usize>,
}

impl<'c> Pool<'c> {
    fn new(code: &'c [u8]) -> Self {
        Self {
            code,
            bytes: Vec::new(),
            places: HashMap::new(),
            uses: HashMap::new(),
        }
    }

    /// Takes note of the constant of an instruction, which has it twice or once.
    fn take(&mut self, instruction: &Instruction, twice: bool) -> Result<(), Refused> {
        let at = (instruction.memory_displacement64() - BASE) as usize;
        let size = instruction.memory_size().size();
        let constant = self.code.get(at..at + size);
        let constant = constant.ok_or_else(|| Refused("a constant elsewhere".to_owned()))?;
        if size == 0 || (twice && size != 16) {
            return Err(Refused(format!("a constant of {size} bytes")));
        }
        let constant = constant.repeat(if twice { 2 } else { 1 });
        let bytes = &mut self.bytes;
        let place = *self.places.entry(constant).or_insert_with_key(|constant| {
            bytes.resize(bytes.len().next_multiple_of(constant.len()), 0);
            bytes.extend(constant);
            bytes.len() - constant.len()
        });
        self.uses.insert(instruction.ip(), place);
        Ok(())
    }

    /// Lets the instructions find their constants, which are to stand at this address.
    fn place(&self, instructions: &mut [Instruction], start: u64) {
        for instruction in instructions {
            if instruction.is_ip_rel_memory_operand()
                && let Some(place) = self.uses.get(&instruction.ip())
            {
                instruction.set_memory_displacement64(start + *place as u64);
            }
        }
    }
}

#[cfg(test)]
mod tests;
