//! What becomes of an instruction: its form for wider registers, and what else that takes.

use super::forms::{Form, Order, form};
use super::frame::Frame;
use super::gather::gather;
use super::masks::{MASK, Masks, any, choice};
use super::pool::Pool;
use super::{BASE, Refused, Width, has_vectors, part, past, soon};
use iced_x86::{Code, FlowControl, Instruction, MemoryOperand, OpKind, Register};

/// A register that Cranelift knows nothing of, for the order of lanes.
pub(super) const ORDER: Register = Register::ZMM31;
/// A comparison whose result is all ones.
const ALWAYS: [Code; 4] = [
    Code::VEX_Vpcmpeqb_xmm_xmm_xmmm128,
    Code::VEX_Vpcmpeqw_xmm_xmm_xmmm128,
    Code::VEX_Vpcmpeqd_xmm_xmm_xmmm128,
    Code::VEX_Vpcmpeqq_xmm_xmm_xmmm128,
];
/// Forms that round to multiples of powers of two.
const ROUNDS: [Code; 2] = [
    Code::EVEX_Vrndscaleps_zmm_k1z_zmmm512b32_imm8_sae,
    Code::EVEX_Vrndscalepd_zmm_k1z_zmmm512b64_imm8_sae,
];

/// The code that is being written.
pub(super) struct Writer<'c> {
    pub(super) width: Width,
    frame: Frame,
    pub(super) pool: Pool<'c>,
    pub(super) out: Vec<Instruction>,
    pub(super) masks: Masks,
    /// The address of the instruction at hand, and how many it has become.
    now: (u64, u64),
    /// What it chooses by, if a mask register says it.
    by: Option<(usize, Register)>,
}

impl<'c> Writer<'c> {
    pub(super) fn new(width: Width, frame: Frame, pool: Pool<'c>, masks: Masks) -> Self {
        Self {
            width,
            frame,
            pool,
            out: Vec::new(),
            masks,
            now: (0, 0),
            by: None,
        }
    }

    /// Writes down what becomes of an instruction.
    pub(super) fn rewrite(&mut self, mut instruction: Instruction) -> Result<(), Refused> {
        self.now = (instruction.ip(), 0);
        let together = self.masks.together(&instruction);
        let copy = self.masks.copy(&instruction);
        let halves = self.masks.halves(&instruction);
        let in_order = self.masks.in_order(&instruction);
        self.by = self.masks.chooses_by(&instruction);
        self.masks.pass(&instruction);
        if let Some(of) = halves {
            self.masks.mix(instruction.op0_register(), of);
        }
        if let Some((lanes, [low, high])) = in_order {
            let mask = self.masks.register_together();
            let to = self.width.whole(instruction.op0_register());
            let code = Code::VEX_Kunpckbw_kr_kr_kr;
            self.push(Instruction::with3(code, mask, high, low)?);
            self.push(Instruction::with2(lanes, to, mask)?);
            self.masks.set(mask, Some((to, lanes)));
            return Ok(());
        }
        if let Some((lanes, code, [a, b])) = together {
            let mask = self.masks.register_together();
            let to = self.width.whole(instruction.op0_register());
            self.push(Instruction::with3(code, mask, a, b)?);
            self.push(Instruction::with2(lanes, to, mask)?);
            self.masks.set(mask, Some((to, lanes)));
            return Ok(());
        }
        if let Some((code, from, mask)) = copy {
            return self.masked(code, instruction.op0_register(), from, mask);
        }
        let what = instruction;
        let form = if has_vectors(&instruction) {
            let unknown = || Refused(format!("{:?}", what.code()));
            Some(form(instruction.code(), self.width).ok_or_else(unknown)?)
        } else {
            general(&instruction)?;
            None
        };
        if instruction.is_ip_rel_memory_operand() {
            let of_all = form.is_some_and(Form::uses_all);
            let copies = if of_all { self.width.parts() } else { 1 };
            self.pool.take(&instruction, copies)?;
        }
        self.frame.rewrite(&mut instruction);
        match form {
            None => {
                self.leave(&instruction);
                let asked = soon::asked(&instruction)?;
                self.push(asked.unwrap_or(instruction));
            }
            Some(form) => self.vectors(instruction, form)?,
        }
        Ok(())
    }

    /// The lanes of a register that a mask register says, and zeros.
    fn masked(
        &mut self,
        code: Code,
        to: Register,
        from: Register,
        mask: Register,
    ) -> Result<(), Refused> {
        let [to, from] = [to, from].map(|register| self.width.whole(register));
        let mut masked = Instruction::with2(code, to, from)?;
        masked.set_op_mask(mask);
        masked.set_zeroing_masking(true);
        self.push(masked);
        Ok(())
    }

    /// Branches go to the first of those that an instruction becomes; the others are where nothing else is.
    pub(super) fn push(&mut self, mut instruction: Instruction) {
        let (ip, number) = self.now;
        instruction.set_ip(ip + (number << 40));
        if number > 0 && instruction.is_ip_rel_memory_operand() {
            self.pool.also(instruction.ip(), ip);
        }
        self.now.1 += 1;
        self.out.push(instruction);
    }

    /// Other code finds the upper parts clear: it may use instructions that are slow otherwise.
    fn leave(&mut self, instruction: &Instruction) {
        let flow = instruction.flow_control();
        if matches!(flow, FlowControl::Return | FlowControl::IndirectCall) {
            self.push(Instruction::with(Code::VEX_Vzeroupper));
        }
    }

    /// What does to all parts what an instruction on vectors says.
    fn vectors(&mut self, mut instruction: Instruction, form: Form) -> Result<(), Refused> {
        let mut kinds = (0..instruction.op_count()).map(|k| instruction.op_kind(k));
        let in_memory = kinds.any(|kind| kind == OpKind::Memory);
        if in_memory && let Some(store) = past::store(&instruction, self.width)? {
            self.push(store);
            return Ok(());
        }
        if in_memory && part::is_marked(&mut instruction) && form != Form::Pair {
            if let Some(code) = gather(instruction.code(), self.width) {
                return self.gather(&instruction, code);
            }
            instruction.set_code(part::code(instruction.code())?);
            self.push(instruction);
            return Ok(());
        }
        let given = instruction;
        let refused = || Refused(format!("{:?} of memory", given.code()));
        let register = |k: u32| given.op_register(k);
        let width = self.width;
        let whole = |k: u32| width.whole(register(k));
        match form {
            // Both operands are one value, be it in two registers, or spilled to memory as well.
            Form::Sort(_) | Form::Second | Form::Top | Form::Near(_)
                if instruction.is_ip_rel_memory_operand() =>
            {
                return Err(refused());
            }
            Form::Same => self.push(instruction),
            Form::Twin(code) => {
                self.widen_registers(&mut instruction);
                if ROUNDS.contains(&code) {
                    // The upper bits, which mean nothing else, would be a scale.
                    instruction.set_immediate8(instruction.immediate8() & 0x0f);
                }
                self.push_as(instruction, code);
            }
            Form::Spread(code) => {
                if instruction.code() == Code::VEX_Vmovddup_xmm_xmmm64 && !in_memory {
                    return Err(Refused("a lane of 64 bits of each part".to_owned()));
                }
                instruction.set_op0_register(whole(0));
                self.push_as(instruction, code);
            }
            Form::Shuffle if instruction.immediate8() == 0x44 => {
                if in_memory {
                    return Err(refused());
                }
                let code = match width {
                    Width::Two => Code::VEX_Vbroadcastsd_ymm_xmm,
                    Width::Four => Code::EVEX_Vbroadcastsd_zmm_k1z_xmmm64,
                };
                self.push(Instruction::with2(code, whole(0), register(1))?);
            }
            Form::Shuffle => {
                self.widen_registers(&mut instruction);
                let code = match width {
                    Width::Two => Code::VEX_Vpshufd_ymm_ymmm256_imm8,
                    Width::Four => Code::EVEX_Vpshufd_zmm_k1z_zmmm512b32_imm8,
                };
                self.push_as(instruction, code);
            }
            Form::Promote => {
                if in_memory {
                    return Err(refused());
                }
                self.sort(whole(0), whole(1), Order::Apart)?;
                self.push(match width {
                    Width::Two => {
                        let code = Code::VEX_Vcvtps2pd_ymm_xmmm128;
                        Instruction::with2(code, whole(0), register(0))?
                    }
                    Width::Four => {
                        let code = Code::EVEX_Vcvtps2pd_zmm_k1z_ymmm256b32_sae;
                        Instruction::with2(code, whole(0), half(register(0)))?
                    }
                });
            }
            Form::Demote => {
                if !in_memory {
                    instruction.set_op1_register(whole(1));
                }
                match width {
                    Width::Two => self.push_as(instruction, Code::VEX_Vcvtpd2ps_xmm_ymmm256),
                    Width::Four => {
                        instruction.set_op0_register(half(register(0)));
                        let code = Code::EVEX_Vcvtpd2ps_ymm_k1z_zmmm512b64_er;
                        self.push_as(instruction, code);
                    }
                }
                self.sort(whole(0), whole(0), Order::Together)?;
            }
            Form::Extend(code) => {
                if instruction.is_ip_rel_memory_operand() {
                    return Err(refused());
                }
                instruction.set_op0_register(whole(0));
                if !in_memory && width == Width::Four {
                    instruction.set_op1_register(half(register(1)));
                }
                self.push_as(instruction, code);
            }
            Form::Shift(code) => {
                instruction.set_op0_register(whole(0));
                instruction.set_op1_register(whole(1));
                self.push_as(instruction, code);
            }
            Form::Compare([code, lanes]) => {
                let same = !in_memory && register(1) == register(2);
                if same && ALWAYS.contains(&instruction.code()) {
                    let code = Code::EVEX_Vpternlogd_zmm_k1z_zmm_zmmm512b32_imm8;
                    let to = whole(0);
                    self.push(Instruction::with4(code, to, to, to, 0xff)?);
                    return Ok(());
                }
                let to = whole(0);
                let mask = self.masks.register(self.now.0);
                self.widen_registers(&mut instruction);
                instruction.set_op0_register(mask);
                self.push_as(instruction, code);
                self.push(Instruction::with2(lanes, to, mask)?);
                self.masks.set(mask, Some((to, lanes)));
            }
            Form::Blend([mask, code]) => {
                let (code, mask) = if let Some(known) = self.by.and_then(|by| choice(by, code)) {
                    known
                } else {
                    self.push(Instruction::with2(mask, MASK, whole(3))?);
                    self.masks.set(MASK, None);
                    (code, MASK)
                };
                let mut choice = if in_memory {
                    Instruction::with3(code, whole(0), whole(1), place(&instruction))?
                } else {
                    Instruction::with3(code, whole(0), whole(1), whole(2))?
                };
                choice.set_op_mask(mask);
                self.push(choice);
            }
            Form::Compress => {
                if in_memory {
                    return Err(refused());
                }
                // Lanes of 64 bits are two of 32.
                let mask = Code::EVEX_Vpmovd2m_kr_zmm;
                self.push(Instruction::with2(mask, MASK, whole(2))?);
                self.masks.set(MASK, None);
                let code = Code::EVEX_Vpcompressd_zmmm512_k1z_zmm;
                self.masked(code, register(0), register(1), MASK)?;
            }
            Form::Permute => {
                if in_memory {
                    return Err(refused());
                }
                let code = Code::VEX_Vpermd_ymm_ymm_ymmm256;
                self.push(Instruction::with3(code, whole(0), whole(2), whole(1))?);
            }
            Form::Find(code) => {
                self.widen_registers(&mut instruction);
                self.push_as(instruction, code);
            }
            Form::Near(code) => {
                // Lanes of 32 bits are in the lower half of a register.
                let to = match code == Code::EVEX_Vcvtqq2ps_ymm_k1z_zmmm512b64_er {
                    true => half(register(0)),
                    false => whole(0),
                };
                let from = match code == Code::EVEX_Vcvttps2qq_zmm_k1z_ymmm256b32_sae {
                    true => half(register(1)),
                    false => whole(1),
                };
                self.push(Instruction::with2(code, to, from)?);
            }
            Form::Extreme => self.extreme(&instruction)?,
            Form::Test => {
                if instruction.is_ip_rel_memory_operand() {
                    return Err(refused());
                }
                if let Some((bytes, mask)) = self.by {
                    self.push(Instruction::with2(any(bytes), mask, mask)?);
                    return Ok(());
                }
                let code = Code::EVEX_Vptestmd_kr_k1_zmm_zmmm512b32;
                self.push(if in_memory {
                    Instruction::with3(code, MASK, whole(0), place(&instruction))?
                } else {
                    Instruction::with3(code, MASK, whole(0), whole(1))?
                });
                self.masks.set(MASK, None);
                self.push(Instruction::with2(Code::VEX_Kortestw_kr_kr, MASK, MASK)?);
            }
            Form::Zero => {
                if in_memory || register(0) != register(1) {
                    return Err(refused());
                }
                let (code, to) = (Code::VEX_Vxorpd_xmm_xmm_xmmm128, register(0));
                self.push(Instruction::with3(code, to, to, to)?);
            }
            Form::Sort(order) => {
                self.sort(whole(0), whole(1), order)?;
            }
            Form::Pair => {
                let code = Code::VEX_Vinsertf128_ymm_ymm_xmmm128_imm8;
                let [to, low] = [0, 1].map(|k| half(register(k)));
                if instruction.is_ip_rel_memory_operand() {
                    return Err(refused());
                }
                self.push(if in_memory {
                    Instruction::with4(code, to, low, place(&instruction), 1)?
                } else {
                    Instruction::with4(code, to, low, register(2), 1)?
                });
            }
            Form::Second => {
                let code = Code::VEX_Vextractf128_xmmm128_ymm_imm8;
                self.push(Instruction::with3(code, register(0), half(register(1)), 1)?);
            }
            Form::Four => {
                let code = Code::EVEX_Vinserti64x4_zmm_k1z_zmm_ymmm256_imm8;
                if instruction.is_ip_rel_memory_operand() {
                    return Err(refused());
                }
                self.push(if in_memory {
                    Instruction::with4(code, whole(0), whole(1), place(&instruction), 1)?
                } else {
                    Instruction::with4(code, whole(0), whole(1), half(register(2)), 1)?
                });
            }
            Form::Top => {
                let code = Code::EVEX_Vextracti64x4_ymmm256_k1z_zmm_imm8;
                self.push(Instruction::with3(code, half(register(0)), whole(1), 1)?);
            }
        }
        Ok(())
    }

    fn push_as(&mut self, mut instruction: Instruction, code: Code) {
        instruction.set_code(code);
        let of_stack = instruction.memory_base() != Register::RIP;
        if self.width == Width::Four && of_stack && instruction.memory_displ_size() > 1 {
            // Distances are counted in whole registers then: many fit into a byte.
            instruction.set_memory_displ_size(1);
        }
        self.push(instruction);
    }

    fn widen_registers(&self, instruction: &mut Instruction) {
        for k in 0..instruction.op_count() {
            if instruction.op_kind(k) == OpKind::Register {
                let register = self.width.whole(instruction.op_register(k));
                instruction.set_op_register(k, register);
            }
        }
    }

    /// Lanes of 64 bits in another order.
    fn sort(&mut self, to: Register, from: Register, order: Order) -> Result<(), Refused> {
        if self.width == Width::Two {
            // The second and the third are exchanged, in both orders.
            let code = Code::VEX_Vpermq_ymm_ymmm256_imm8;
            self.push(Instruction::with3(code, to, from, 0xd8)?);
            return Ok(());
        }
        let order: [u64; 8] = match order {
            Order::Apart => [0, 2, 4, 6, 1, 3, 5, 7],
            Order::Together => [0, 4, 1, 5, 2, 6, 3, 7],
        };
        let place = self
            .pool
            .put(order.iter().flat_map(|k| k.to_le_bytes()).collect());
        self.pool.uses.insert(self.now.0, place);
        let memory = MemoryOperand::with_base_displ(Register::RIP, BASE as i64);
        let load = Code::EVEX_Vmovdqu64_zmm_k1z_zmmm512;
        self.push(Instruction::with2(load, ORDER, memory)?);
        let code = Code::EVEX_Vpermq_zmm_k1z_zmm_zmmm512b64;
        self.push(Instruction::with3(code, to, ORDER, from)?);
        Ok(())
    }
}

impl Form {
    /// Whether it reads or writes as much memory as a register has.
    pub(super) const fn uses_all(self) -> bool {
        match self {
            Self::Twin(_)
            | Self::Shuffle
            | Self::Demote
            | Self::Compare(_)
            | Self::Blend(_)
            | Self::Find(_)
            | Self::Extreme
            | Self::Test => true,
            Self::Spread(_)
            | Self::Same
            | Self::Promote
            | Self::Extend(_)
            | Self::Shift(_)
            | Self::Compress
            | Self::Permute
            | Self::Near(_)
            | Self::Zero
            | Self::Sort(_)
            | Self::Pair
            | Self::Second
            | Self::Four
            | Self::Top => false,
        }
    }
}

/// The memory that an instruction reads or writes.
pub(super) fn place(instruction: &Instruction) -> MemoryOperand {
    MemoryOperand::new(
        instruction.memory_base(),
        instruction.memory_index(),
        instruction.memory_index_scale(),
        instruction.memory_displacement64() as i64,
        instruction.memory_displ_size(),
        false,
        Register::None,
    )
}

/// The register of 256 bits that a register is the lower half of.
pub(super) fn half(register: Register) -> Register {
    Width::Two.whole(register)
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
