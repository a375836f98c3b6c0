//! From allocated registers to bytes: the frame, the moves of the register allocator, branches and the pool of constants.
//!
//! ```text
//! push rbp; mov rbp, rsp; push kept registers; sub rsp, frame; and rsp, -64
//! code; cold code; constants
//! ```

use super::mach::{Base, Encoded, GENERAL, KEPT, Kind, Machine, MachineFunction, Part, register};
use iced_x86::{Code, Encoder, Instruction, MemoryOperand, OpKind, Register};
use regalloc2::{Allocation, Edit, Inst, InstOrEdit, Output, PReg, RegClass};

/// Why code cannot be encoded.
#[derive(Debug)]
pub(crate) struct Failed(pub(crate) String);

/// The alignment of the frame, of spilled vectors and of constants.
const ALIGN: usize = 64;

/// A location in the code that refers to another one, by a distance of 32 bits at its end.
struct Fixup {
    /// Where the distance is, and where it is counted from.
    at: usize,
    from: usize,
    target: Target,
}

enum Target {
    Block(usize),
    Pool(usize),
}

/// What is encoded.
struct Encoding<'a> {
    func: &'a MachineFunction,
    output: &'a Output,
    encoder: Encoder,
    bytes: Vec<u8>,
    /// Where each block begins.
    starts: Vec<usize>,
    fixups: Vec<Fixup>,
    /// Where stack slots of the function and those of the allocator begin, from the stack pointer.
    slots: Vec<usize>,
    spills: usize,
    frame: usize,
    kept: Vec<usize>,
}

/// The bytes of a function whose registers are allocated. `slots` are the bytes of its stack slots, `pool` its constants.
pub(super) fn encode(
    func: &MachineFunction,
    output: &Output,
    slots: &[u32],
    pool: &[Vec<u8>],
) -> Result<Vec<u8>, Failed> {
    let mut frame = 0;
    let locations = slots.iter().map(|bytes| {
        let location = frame;
        frame += (*bytes as usize).next_multiple_of(ALIGN);
        location
    });
    let locations: Vec<usize> = locations.collect();
    let spills = frame;
    frame += (8 * output.num_spillslots).next_multiple_of(ALIGN);
    let mut encoding = Encoding {
        func,
        output,
        encoder: Encoder::new(64),
        bytes: Vec::new(),
        starts: vec![0; func.blocks.len()],
        fixups: Vec::new(),
        slots: locations,
        spills,
        frame,
        kept: kept(output),
    };
    encoding.prologue()?;
    let (cold, hot): (Vec<usize>, Vec<usize>) =
        (0..func.blocks.len()).partition(|block| func.blocks[*block].cold);
    let order: Vec<usize> = hot.into_iter().chain(cold).collect();
    for (k, block) in order.iter().enumerate() {
        encoding.block(*block, order.get(k + 1).copied())?;
    }
    encoding.link(pool);
    Ok(encoding.bytes)
}

/// The registers that calls keep and the function uses.
fn kept(output: &Output) -> Vec<usize> {
    let mut used = [false; 16];
    let mut note = |allocation: Allocation| {
        if let Some(preg) = allocation.as_reg().filter(|preg| preg.class() == GENERAL) {
            used[preg.hw_enc()] = true;
        }
    };
    output.allocs.iter().for_each(|a| note(*a));
    for (_, Edit::Move { from, to }) in &output.edits {
        note(*from);
        note(*to);
    }
    KEPT.into_iter().filter(|k| used[*k]).collect()
}

impl Encoding<'_> {
    fn push(&mut self, instruction: &Instruction) -> Result<(), Failed> {
        let fail =
            |error: iced_x86::IcedError| Failed(format!("{:?}: {error}", instruction.code()));
        self.encoder
            .encode(instruction, self.bytes.len() as u64)
            .map_err(fail)?;
        let mut bytes = self.encoder.take_buffer();
        self.bytes.append(&mut bytes);
        Ok(())
    }

    fn with(&mut self, made: Result<Instruction, iced_x86::IcedError>) -> Result<(), Failed> {
        let instruction = made.map_err(|error| Failed(error.to_string()))?;
        self.push(&instruction)
    }

    fn general(&self, k: usize) -> Register {
        register(PReg::new(k, GENERAL), Part::Word64)
    }

    fn prologue(&mut self) -> Result<(), Failed> {
        self.with(Instruction::with1(Code::Push_r64, Register::RBP))?;
        self.with(Instruction::with2(
            Code::Mov_r64_rm64,
            Register::RBP,
            Register::RSP,
        ))?;
        for k in self.kept.clone() {
            self.with(Instruction::with1(Code::Push_r64, self.general(k)))?;
        }
        let frame = self.frame as i32;
        self.with(Instruction::with2(
            Code::Sub_rm64_imm32,
            Register::RSP,
            frame,
        ))?;
        self.with(Instruction::with2(
            Code::And_rm64_imm8,
            Register::RSP,
            -(ALIGN as i32),
        ))
    }

    fn epilogue(&mut self) -> Result<(), Failed> {
        self.push(&Instruction::with(Code::VEX_Vzeroupper))?;
        let below = -8 * self.kept.len() as i64;
        let location = MemoryOperand::with_base_displ(Register::RBP, below);
        self.with(Instruction::with2(Code::Lea_r64_m, Register::RSP, location))?;
        for k in self.kept.clone().into_iter().rev() {
            self.with(Instruction::with1(Code::Pop_r64, self.general(k)))?;
        }
        self.with(Instruction::with1(Code::Pop_r64, Register::RBP))?;
        self.push(&Instruction::with(Code::Retnq))
    }

    fn block(&mut self, block: usize, next: Option<usize>) -> Result<(), Failed> {
        self.starts[block] = self.bytes.len();
        let func = self.func;
        let range = func.range(block);
        let edits: Vec<_> = self
            .output
            .block_insts_and_edits(func, regalloc2::Block::new(block))
            .collect();
        debug_assert!(range.len() > 0, "blocks end");
        for item in edits {
            match item {
                InstOrEdit::Edit(Edit::Move { from, to }) => self.moved(*from, *to)?,
                InstOrEdit::Inst(inst) => self.inst((block, inst), next)?,
            }
        }
        Ok(())
    }

    fn inst(&mut self, (block, inst): (usize, Inst), next: Option<usize>) -> Result<(), Failed> {
        let func = self.func;
        let machine = &func.insts[inst.index()];
        let succs = &func.blocks[block].succs;
        match machine.kind {
            Kind::Params => Ok(()),
            Kind::Return => self.epilogue(),
            Kind::Jump => match next == Some(succs[0].index()) {
                true => Ok(()),
                false => self.branch(Code::Jmp_rel32_64, succs[0].index()),
            },
            Kind::Branch(code) => {
                let (yes, no) = (succs[0].index(), succs[1].index());
                if next == Some(yes) {
                    let mut instruction = Instruction::default();
                    instruction.set_code(code);
                    instruction.negate_condition_code();
                    return self.branch(instruction.code(), no);
                }
                self.branch(code, yes)?;
                match next == Some(no) {
                    true => Ok(()),
                    false => self.branch(Code::Jmp_rel32_64, no),
                }
            }
            Kind::Plain(code) => self.plain(machine, code, inst),
        }
    }

    /// A branch, whose distance is known later.
    fn branch(&mut self, code: Code, target: usize) -> Result<(), Failed> {
        self.with(Instruction::with_branch(code, self.bytes.len() as u64))?;
        let from = self.bytes.len();
        self.fixups.push(Fixup {
            at: from - 4,
            from,
            target: Target::Block(target),
        });
        Ok(())
    }

    fn plain(&mut self, machine: &Machine, code: Code, inst: Inst) -> Result<(), Failed> {
        let allocated = self.output.inst_allocs(inst).to_vec();
        let reg = |at: usize, part: Part| -> Result<Register, Failed> {
            let preg = allocated[at].as_reg();
            let preg = preg.ok_or_else(|| Failed("an operand without a register".to_owned()))?;
            Ok(register(preg, part))
        };
        let mut instruction = Instruction::default();
        instruction.set_code(code);
        let mut pool = None;
        let mut immediate = false;
        for (k, encoded) in machine.encoded.iter().enumerate() {
            let k = k as u32;
            match *encoded {
                Encoded::Register(at, part) => {
                    instruction.set_op_kind(k, OpKind::Register);
                    instruction.set_op_register(k, reg(at, part)?);
                }
                Encoded::Immediate(value) => {
                    instruction.set_op_kind(k, immediate_kind(code));
                    instruction.set_immediate_i64(k, value);
                    immediate = true;
                }
                Encoded::Memory { base, index, disp } => {
                    instruction.set_op_kind(k, OpKind::Memory);
                    let mut disp = i64::from(disp);
                    let base = match base {
                        Base::Operand(at) => reg(at, Part::Word64)?,
                        Base::Slot(slot) => {
                            disp += self.slots[slot] as i64;
                            Register::RSP
                        }
                        Base::Pool(constant) => {
                            pool = Some(constant);
                            disp = self.bytes.len() as i64;
                            Register::RIP
                        }
                    };
                    instruction.set_memory_base(base);
                    if let Some((at, part, scale)) = index {
                        instruction.set_memory_index(reg(at, part)?);
                        instruction.set_memory_index_scale(scale);
                    }
                    instruction.set_memory_displacement64(disp as u64);
                    let size = match (base, disp) {
                        (Register::RIP, _) => 8,
                        (_, 0) => 0,
                        (_, -128..=127) => 1,
                        _ => 8,
                    };
                    instruction.set_memory_displ_size(size);
                    instruction.set_is_broadcast(machine.broadcast);
                }
            }
        }
        if let Some((at, zeroing)) = machine.mask {
            instruction.set_op_mask(reg(at, Part::Mask)?);
            instruction.set_zeroing_masking(zeroing);
        }
        self.push(&instruction)?;
        if let Some(constant) = pool {
            let from = self.bytes.len();
            self.fixups.push(Fixup {
                at: from - 4 - usize::from(immediate),
                from,
                target: Target::Pool(constant),
            });
        }
        Ok(())
    }

    /// A move of the register allocator.
    fn moved(&mut self, from: Allocation, to: Allocation) -> Result<(), Failed> {
        let class = |a: Allocation| a.as_reg().map(|preg| preg.class());
        let class = class(from).or(class(to));
        let class = class.ok_or_else(|| Failed("a move between stack slots".to_owned()))?;
        let (load, store, part) = match class {
            RegClass::Int => (Code::Mov_r64_rm64, Code::Mov_rm64_r64, Part::Word64),
            RegClass::Float => (
                Code::EVEX_Vmovaps_zmm_k1z_zmmm512,
                Code::EVEX_Vmovaps_zmmm512_k1z_zmm,
                Part::Bits512,
            ),
            RegClass::Vector => (Code::VEX_Kmovw_kr_km16, Code::VEX_Kmovw_m16_kr, Part::Mask),
        };
        let spilled = |a: Allocation| {
            a.as_stack().map(|slot| {
                let location = self.spills + 8 * slot.index();
                MemoryOperand::with_base_displ(Register::RSP, location as i64)
            })
        };
        match (from.as_reg(), to.as_reg(), spilled(from), spilled(to)) {
            (Some(from), Some(to), ..) => self.with(Instruction::with2(
                load,
                register(to, part),
                register(from, part),
            )),
            (None, Some(to), Some(from), _) => {
                self.with(Instruction::with2(load, register(to, part), from))
            }
            (Some(from), None, _, Some(to)) => {
                self.with(Instruction::with2(store, to, register(from, part)))
            }
            _ => Err(Failed("a move between stack slots".to_owned())),
        }
    }

    /// Fills in distances, after the constants have got their locations.
    fn link(&mut self, pool: &[Vec<u8>]) {
        let mut locations = Vec::with_capacity(pool.len());
        for constant in pool {
            let size = constant.len().next_power_of_two();
            let location = self.bytes.len().next_multiple_of(size);
            self.bytes.resize(location, 0);
            self.bytes.extend_from_slice(constant);
            locations.push(location);
        }
        for fixup in &self.fixups {
            let target = match fixup.target {
                Target::Block(block) => self.starts[block],
                Target::Pool(constant) => locations[constant],
            };
            let distance = target as i64 - fixup.from as i64;
            self.bytes[fixup.at..fixup.at + 4].copy_from_slice(&(distance as i32).to_le_bytes());
        }
    }
}

/// How the immediate operand of an instruction is encoded.
#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "a table of the instructions whose immediates have more than eight bits"
)]
const fn immediate_kind(code: Code) -> OpKind {
    match code {
        Code::Mov_r64_imm64 => OpKind::Immediate64,
        Code::Mov_r32_imm32
        | Code::Add_rm32_imm32
        | Code::Sub_rm32_imm32
        | Code::And_rm32_imm32
        | Code::Or_rm32_imm32
        | Code::Xor_rm32_imm32
        | Code::Cmp_rm32_imm32
        | Code::Imul_r32_rm32_imm32 => OpKind::Immediate32,
        Code::Mov_rm64_imm32
        | Code::Add_rm64_imm32
        | Code::Sub_rm64_imm32
        | Code::And_rm64_imm32
        | Code::Or_rm64_imm32
        | Code::Xor_rm64_imm32
        | Code::Cmp_rm64_imm32
        | Code::Imul_r64_rm64_imm32 => OpKind::Immediate32to64,
        _ => OpKind::Immediate8,
    }
}
