//! The places of vectors on the stack: 16 bytes are too few for a wider one. Each gets as many as it needs below all others, so that the frame
//! grows and everything else in it moves up.
//!
//! ```text
//! sub rsp, 64; movdqu [rsp+16], xmm1; mov [rsp+48], rbx  ──►  sub rsp, 96; vmovdqu [rsp], ymm1; mov [rsp+80], rbx
//! ```
//!
//! The frame begins at a multiple of a register's bytes then, so that no vector is in two lines of the cache.

use super::forms::form;
use super::{Refused, Width, has_vectors};
use iced_x86::{Code, IcedError, Instruction, OpKind, Register};
use std::collections::BTreeMap;

/// Bytes of a vector.
const VECTOR: u64 = 16;

/// The instructions that make room on the stack, and give it back.
const ADJUSTS: [Code; 4] = [
    Code::Sub_rm64_imm8,
    Code::Sub_rm64_imm32,
    Code::Add_rm64_imm8,
    Code::Add_rm64_imm32,
];

/// Lets the frame of code with wider vectors begin at a multiple of their length, if the stack pointer is what the frame pointer says
/// wherever the code returns.
pub(super) fn align(instructions: &mut Vec<Instruction>, width: Width) -> Result<(), IcedError> {
    let adjusts =
        |i: &Instruction| ADJUSTS.contains(&i.code()) && i.op0_register() == Register::RSP;
    let copies = |i: Option<&Instruction>, to: Register, from: Register| {
        i.is_some_and(|i| {
            [Code::Mov_rm64_r64, Code::Mov_r64_rm64].contains(&i.code())
                && [i.op0_register(), i.op1_register()] == [to, from]
        })
    };
    let subtracts = [Code::Sub_rm64_imm8, Code::Sub_rm64_imm32];
    let places = (0..instructions.len()).filter(|at| adjusts(&instructions[*at]));
    let (begins, ends): (Vec<usize>, Vec<usize>) =
        places.partition(|at| subtracts.contains(&instructions[*at].code()));
    let [begin] = begins[..] else { return Ok(()) };
    let before = begin.checked_sub(1).and_then(|at| instructions.get(at));
    let is_kept = copies(before, Register::RBP, Register::RSP)
        && ends
            .iter()
            .all(|end| copies(instructions.get(end + 1), Register::RSP, Register::RBP));
    if is_kept {
        let multiple = -(width.bytes() as i32);
        let rounded = Instruction::with2(Code::And_rm64_imm8, Register::RSP, multiple)?;
        instructions.insert(begin + 1, rounded);
    }
    Ok(())
}

/// Where wider vectors are put.
pub(super) struct Frame {
    width: Width,
    /// For each place of a vector, by its distance from the stack pointer, the number of its new place.
    vectors: BTreeMap<u64, u64>,
}

/// How an instruction uses the stack pointer.
enum Use {
    /// Memory so many bytes from it, and how many there are; a vector, or something else.
    Vector(u64),
    Other(u64, u64),
    /// It makes room, or gives it back.
    Adjusts,
    /// It moves as a call or the frame pointer want it, or not at all.
    None,
}

fn uses(instruction: &Instruction, width: Width) -> Result<Use, Refused> {
    let unknown = || Refused(format!("the stack pointer in {:?}", instruction.code()));
    let in_register = (0..instruction.op_count()).any(|k| {
        let is_register = instruction.op_kind(k) == OpKind::Register;
        is_register && instruction.op_register(k).full_register() == Register::RSP
    });
    if in_register {
        let code = instruction.code();
        let [to, from] = [instruction.op0_register(), instruction.op1_register()];
        if ADJUSTS.contains(&code) && to == Register::RSP {
            return Ok(Use::Adjusts);
        }
        let copies = [Code::Mov_rm64_r64, Code::Mov_r64_rm64].contains(&code);
        return if copies && [to, from].contains(&Register::RBP) {
            Ok(Use::None)
        } else {
            Err(unknown())
        };
    }
    if instruction.memory_index() == Register::RSP {
        return Err(unknown());
    }
    if instruction.memory_base() != Register::RSP {
        return Ok(Use::None);
    }
    let at = instruction.memory_displacement64();
    if instruction.memory_index() != Register::None || at > u64::from(u32::MAX >> 1) {
        return Err(unknown());
    }
    let size = instruction.memory_size().size() as u64;
    let wide = has_vectors(instruction)
        && form(instruction.code(), width).is_some_and(|form| form.uses_all());
    Ok(match wide {
        true if size == VECTOR => Use::Vector(at),
        true => return Err(unknown()),
        false => Use::Other(at, size),
    })
}

impl Frame {
    /// Finds the places of vectors beyond `slots`; those before it are memory that the unit asked for, which is large enough.
    pub(super) fn of(
        instructions: &[Instruction],
        slots: u64,
        width: Width,
    ) -> Result<Self, Refused> {
        let mut vectors = BTreeMap::new();
        let mut others = Vec::new();
        let mut room = None;
        for instruction in instructions {
            match uses(instruction, width)? {
                Use::Vector(at) if at >= slots => {
                    vectors.insert(at, 0);
                }
                Use::Other(at, size) if at >= slots => others.push((at, size)),
                Use::Adjusts => {
                    let bytes = instruction.immediate(1);
                    if room.is_some_and(|room| room != bytes) {
                        return Err(Refused("a frame of two sizes".to_owned()));
                    }
                    room = Some(bytes);
                }
                Use::Vector(_) | Use::Other(..) | Use::None => {}
            }
        }
        let apart = vectors.keys().zip(vectors.keys().skip(1));
        let mut apart = apart.map(|(a, b)| b - a);
        let alone = |at: u64, size: u64| {
            let before = vectors.range(..at + size.max(1)).next_back();
            before.is_none_or(|(place, _)| place + VECTOR <= at)
        };
        let fits = apart.all(|distance| distance >= VECTOR)
            && others
                .iter()
                .all(|(at, size)| *size > 0 && alone(*at, *size))
            && (vectors.is_empty() || room.is_some());
        if !fits {
            return Err(Refused("a frame that is not understood".to_owned()));
        }
        for (number, place) in vectors.values_mut().enumerate() {
            *place = number as u64;
        }
        Ok(Self { width, vectors })
    }

    /// Bytes by which instructions may grow, since distances do.
    pub(super) fn longer(&self, instructions: &[Instruction]) -> usize {
        if self.vectors.is_empty() {
            return 0;
        }
        let of_stack = |i: &&Instruction| {
            i.memory_base() == Register::RSP || i.op0_register() == Register::RSP
        };
        4 * instructions.iter().filter(of_stack).count()
    }

    /// How many places of vectors there are, at the lower end of the frame.
    pub(super) fn places(&self) -> usize {
        self.vectors.len()
    }

    /// Bytes by which the frame grows.
    fn more(&self) -> u64 {
        (self.width.bytes() * self.vectors.len()) as u64
    }

    /// Lets an instruction use the new frame.
    pub(super) fn rewrite(&self, instruction: &mut Instruction) {
        if self.vectors.is_empty() {
            return;
        }
        let at = match uses(instruction, self.width) {
            Ok(Use::Vector(at)) => match self.vectors.get(&at) {
                Some(number) => self.width.bytes() as u64 * number,
                None => at + self.more(),
            },
            Ok(Use::Other(at, _)) => at + self.more(),
            Ok(Use::Adjusts) => {
                let room = instruction.immediate(1) + self.more();
                if instruction.code() == Code::Sub_rm64_imm8 {
                    instruction.set_code(Code::Sub_rm64_imm32);
                } else if instruction.code() == Code::Add_rm64_imm8 {
                    instruction.set_code(Code::Add_rm64_imm32);
                }
                instruction.set_op1_kind(OpKind::Immediate32to64);
                instruction.set_immediate32to64(room as i64);
                return;
            }
            Ok(Use::None) | Err(_) => return,
        };
        instruction.set_memory_displacement64(at);
        instruction.set_memory_displ_size(u32::from(at != 0));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_are_aligned_where_the_stack_pointer_comes_back() {
        let copy = |to, from| Instruction::with2(Code::Mov_r64_rm64, to, from);
        let code = [
            copy(Register::RBP, Register::RSP),
            Instruction::with2(Code::Sub_rm64_imm8, Register::RSP, 64),
            Instruction::with2(Code::Add_rm64_imm8, Register::RSP, 64),
            copy(Register::RSP, Register::RBP),
        ];
        let code = code.map(|i| i.expect("it is an instruction")).to_vec();
        let aligned = |mut code: Vec<Instruction>| {
            align(&mut code, Width::Two).expect("it is an instruction");
            let rounds = |i: &Instruction| i.code() == Code::And_rm64_imm8;
            let at = code.iter().position(rounds)?;
            Some((at, code[at].immediate(1) as i64))
        };
        assert_eq!(aligned(code.clone()), Some((2, -32)));
        assert_eq!(aligned(code[..3].to_vec()), None);
        assert_eq!(aligned(code[1..].to_vec()), None);
    }
}
