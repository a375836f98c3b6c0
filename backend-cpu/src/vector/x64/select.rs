//! Instruction selection for AVX-512. A vector of as many lanes as 512 bits hold of 32 is one register, of 64-bit elements two; a mask is one
//! mask register.

mod integers;
mod masks;
mod memory;

use super::codes::{Conversion, condition, conversion, vector};
use super::mach::{
    ARGUMENTS, GENERAL, Kind, Location, LocationBase, MASK, Machine, MachineBlock, MachineFunction,
    Part, RAX, VECTOR,
};
use crate::vector::ir::{
    Address, Block, Conv, Elem, Function, Inst, Op, Slot, Terminator, Type, Value, VecOp, VecUn,
};
use iced_x86::Code;
use regalloc2::{OperandKind, VReg};
use std::collections::HashMap;

/// A selected function, with its stack slots and constants.
pub(super) struct Selected {
    pub(super) func: MachineFunction,
    pub(super) slots: Vec<u32>,
    pub(super) pool: Vec<Vec<u8>>,
}

/// The lanes that the instructions work on.
pub(crate) const LANES: usize = 16;

struct Select<'a> {
    f: &'a Function,
    blocks: Vec<MachineBlock>,
    at: usize,
    /// The registers of each value that has some.
    registers: Vec<Vec<VReg>>,
    /// What defines each value but parameters.
    ops: Vec<Option<&'a Op>>,
    uses: Vec<u32>,
    vregs: usize,
    slots: Vec<u32>,
    pool: Vec<Vec<u8>>,
    constants: HashMap<Vec<u8>, usize>,
}

/// Selects instructions.
pub(super) fn select(f: &Function) -> Selected {
    let mut ops = vec![None; f.types.len()];
    let mut uses = vec![0u32; f.types.len()];
    for block in &f.blocks {
        for inst in &block.insts {
            if let Some(result) = inst.result {
                ops[result.0 as usize] = Some(&inst.op);
            }
            inst.op.operands(&mut |v| uses[v.0 as usize] += 1);
        }
        let end = block.end.iter();
        end.for_each(|end| end.operands(&mut |v| uses[v.0 as usize] += 1));
    }
    let mut select = Select {
        f,
        blocks: vec![MachineBlock::default(); f.blocks.len()],
        at: 0,
        registers: vec![Vec::new(); f.types.len()],
        ops,
        uses,
        vregs: 0,
        slots: f.slots.clone(),
        pool: Vec::new(),
        constants: HashMap::new(),
    };
    for (k, block) in f.blocks.iter().enumerate() {
        select.blocks[k].cold = block.cold;
        for param in &block.params {
            let made = select.make(*param);
            if k > 0 {
                select.blocks[k].params.extend(made);
            }
        }
        for inst in &block.insts {
            if let Some(result) = inst.result
                && !select.is_rematerialised(result)
            {
                select.make(result);
            }
        }
    }
    for (k, block) in f.blocks.iter().enumerate() {
        select.at = k;
        if k == 0 {
            select.params(&block.params);
        }
        block.insts.iter().for_each(|inst| select.inst(inst));
        if let Some(end) = &block.end {
            select.end(end);
        }
    }
    Selected {
        func: MachineFunction::new(select.blocks, select.vregs),
        slots: select.slots,
        pool: select.pool,
    }
}

impl<'a> Select<'a> {
    fn fresh(&mut self, class: regalloc2::RegClass) -> VReg {
        self.vregs += 1;
        VReg::new(self.vregs - 1, class)
    }

    /// Gives a value its registers.
    fn make(&mut self, value: Value) -> Vec<VReg> {
        let (class, count) = match self.f.ty(value) {
            Type::I32 | Type::I64 => (GENERAL, 1),
            Type::Vector(elem) => (VECTOR, elem.bytes() / 4),
            Type::Mask => (MASK, 1),
        };
        let made: Vec<VReg> = (0..count).map(|_| self.fresh(class)).collect();
        self.registers[value.0 as usize].clone_from(&made);
        made
    }

    fn op(&self, value: Value) -> Option<&'a Op> {
        self.ops[value.0 as usize]
    }

    /// Whether a value is rematerialised at its uses.
    fn is_rematerialised(&self, value: Value) -> bool {
        matches!(
            self.op(value),
            Some(Op::Const(_) | Op::VecConst(_) | Op::SlotAddress(_))
        )
    }

    fn push(&mut self, machine: Machine) {
        self.blocks[self.at].insts.push(machine);
    }

    fn part(&self, value: Value) -> Part {
        match self.f.ty(value) {
            Type::I32 => Part::Word32,
            Type::I64 => Part::Word64,
            Type::Vector(_) => Part::Bits512,
            Type::Mask => Part::Mask,
        }
    }

    fn is_wide(&self, value: Value) -> bool {
        self.f.ty(value) == Type::I64
    }

    /// A value that is an immediate of 32 bits.
    fn immediate(&self, value: Value) -> Option<i64> {
        match self.op(value) {
            Some(Op::Const(n)) if i32::try_from(*n).is_ok() => Some(*n),
            _ => None,
        }
    }

    fn constant(&mut self, bytes: Vec<u8>) -> usize {
        if let Some(known) = self.constants.get(&bytes) {
            return *known;
        }
        self.pool.push(bytes.clone());
        self.constants.insert(bytes, self.pool.len() - 1);
        self.pool.len() - 1
    }

    /// The registers of a value; made here if it is rematerialised.
    fn regs(&mut self, value: Value) -> Vec<VReg> {
        match self.op(value) {
            Some(Op::Const(n)) => {
                let reg = self.fresh(GENERAL);
                let wide = self.is_wide(value) && i32::try_from(*n).is_err();
                let machine = match (wide, self.is_wide(value)) {
                    (true, _) => Machine::code(Code::Mov_r64_imm64).def(reg, Part::Word64),
                    (_, true) if *n < 0 => {
                        Machine::code(Code::Mov_rm64_imm32).def(reg, Part::Word64)
                    }
                    (false, _) => Machine::code(Code::Mov_r32_imm32).def(reg, Part::Word32),
                };
                let n = if wide || self.is_wide(value) {
                    *n
                } else {
                    i64::from(*n as i32)
                };
                self.push(machine.immediate(n));
                vec![reg]
            }
            Some(Op::SlotAddress(slot)) => {
                let reg = self.fresh(GENERAL);
                let location = self.slot_location(*slot);
                self.push(
                    Machine::code(Code::Lea_r64_m)
                        .def(reg, Part::Word64)
                        .memory(&location),
                );
                vec![reg]
            }
            Some(Op::VecConst(bits)) => {
                let elem = self.f.elem(value);
                let reg = self.fresh(VECTOR);
                if *bits == 0 {
                    self.zero_into(reg);
                } else {
                    let location = self.pool_element(*bits, elem);
                    let code = broadcast_load(elem);
                    self.push(
                        Machine::code(code)
                            .def(reg, Part::Bits512)
                            .memory(&location),
                    );
                }
                vec![reg; elem.bytes() / 4]
            }
            Some(_) | None => self.registers[value.0 as usize].clone(),
        }
    }

    fn reg(&mut self, value: Value) -> VReg {
        self.regs(value)[0]
    }

    /// The registers that an instruction defines.
    fn defs(&self, value: Value) -> Vec<VReg> {
        self.registers[value.0 as usize].clone()
    }

    fn zero_into(&mut self, reg: VReg) {
        let bytes = vec![0u8; 64];
        let location = Location::pool(self.constant(bytes));
        self.push(
            Machine::code(Code::EVEX_Vmovaps_zmm_k1z_zmmm512)
                .def(reg, Part::Bits512)
                .memory(&location),
        );
    }

    fn zero(&mut self) -> VReg {
        let reg = self.fresh(VECTOR);
        self.zero_into(reg);
        reg
    }

    const fn slot_location(&self, slot: Slot) -> Location {
        Location {
            base: LocationBase::Slot(slot.0 as usize),
            index: None,
            disp: 0,
        }
    }

    fn pool_element(&mut self, bits: u64, elem: Elem) -> Location {
        let bytes = bits.to_le_bytes()[..elem.bytes()].to_vec();
        Location::pool(self.constant(bytes))
    }

    fn location(&mut self, address: &Address) -> Location {
        let base = match self.op(address.base) {
            Some(Op::SlotAddress(slot)) => LocationBase::Slot(slot.0 as usize),
            Some(_) | None => LocationBase::Register(self.reg(address.base)),
        };
        let index = address
            .index
            .map(|(index, scale)| (self.reg(index), Part::Word64, u32::from(scale)));
        Location {
            base,
            index,
            disp: address.offset,
        }
    }

    fn params(&mut self, params: &[Value]) {
        let mut machine = Machine::new(Kind::Params);
        for (param, register) in params.iter().zip(ARGUMENTS) {
            let reg = self.registers[param.0 as usize][0];
            machine = machine.fixed(reg, register, OperandKind::Def);
        }
        self.push(machine);
    }

    fn inst(&mut self, inst: &Inst) {
        let Some(result) = inst.result else {
            return self.effect(&inst.op);
        };
        let unused = self.uses[result.0 as usize] == 0 && !inst.op.has_effect();
        if unused || self.is_rematerialised(result) || self.is_fused(result) {
            return;
        }
        match self.f.ty(result) {
            Type::I32 | Type::I64 => self.uniform(&inst.op, result),
            Type::Vector(elem) => self.vector(&inst.op, result, elem),
            Type::Mask => self.mask(&inst.op, result),
        }
    }

    /// Whether a comparison is part of the branch or the selection that alone uses it, with which it ends its block.
    fn is_fused(&self, value: Value) -> bool {
        let data = &self.f.blocks[self.at];
        let fusible = matches!(self.op(value), Some(Op::Compare(..) | Op::Any(_)));
        let branches = matches!(&data.end, Some(Terminator::Branch(cond, ..)) if *cond == value);
        let here = data
            .insts
            .iter()
            .rev()
            .any(|inst| inst.result == Some(value));
        fusible && branches && here && self.uses[value.0 as usize] == 1
    }

    /// Sets flags by a comparison.
    fn flags(&mut self, a: Value, b: Value) {
        let wide = self.is_wide(a);
        let part = self.part(a);
        let machine = match (self.immediate(b), wide) {
            (Some(n), true) => {
                let a = self.reg(a);
                Machine::code(Code::Cmp_rm64_imm32)
                    .uses(a, part)
                    .immediate(n)
            }
            (Some(n), false) => {
                let a = self.reg(a);
                Machine::code(Code::Cmp_rm32_imm32)
                    .uses(a, part)
                    .immediate(n)
            }
            (None, _) => {
                let (a, b) = (self.reg(a), self.reg(b));
                let code = if wide {
                    Code::Cmp_r64_rm64
                } else {
                    Code::Cmp_r32_rm32
                };
                Machine::code(code).uses(a, part).uses(b, part)
            }
        };
        self.push(machine);
    }

    fn effect(&mut self, op: &Op) {
        match op {
            Op::Store(cell, address, value) => {
                let location = self.location(address);
                let reg = self.reg(*value);
                let (code, part) = match cell.bytes() {
                    1 => (Code::Mov_rm8_r8, Part::Byte),
                    2 => (Code::Mov_rm16_r16, Part::Word16),
                    4 => (Code::Mov_rm32_r32, Part::Word32),
                    _ => (Code::Mov_rm64_r64, Part::Word64),
                };
                self.push(Machine::code(code).memory(&location).uses(reg, part));
            }
            Op::Call(target, args) => self.call(*target, args, None),
            Op::VecStore(cell, address, value, mask) => {
                self.vec_store(*cell, address, *value, *mask);
            }
            Op::Scatter(cell, base, index, value, mask) => {
                self.scatter(*cell, (*base, *index), *value, *mask);
            }
            Op::Const(_)
            | Op::Int(..)
            | Op::Compare(..)
            | Op::Select(..)
            | Op::Extend(..)
            | Op::Low(_)
            | Op::TrailingZeros(_)
            | Op::Load(..)
            | Op::SlotAddress(_)
            | Op::Splat(_)
            | Op::SplatLoad(..)
            | Op::VecConst(_)
            | Op::Iota
            | Op::First(_)
            | Op::Vec(..)
            | Op::VecUn(..)
            | Op::Fma(..)
            | Op::VecCompare(..)
            | Op::FloatCompare(..)
            | Op::Blend(..)
            | Op::Convert(..)
            | Op::MaskConst(_)
            | Op::MaskSplat(_)
            | Op::FirstLanes(_)
            | Op::Mask(..)
            | Op::MaskNot(_)
            | Op::Any(_)
            | Op::MaskBits(_)
            | Op::VecLoad(..)
            | Op::Gather(..) => {}
        }
    }

    fn call(&mut self, target: usize, args: &[Value], result: Option<Value>) {
        let regs: Vec<VReg> = args.iter().map(|a| self.reg(*a)).collect();
        let address = self.fresh(GENERAL);
        self.push(
            Machine::code(Code::Mov_r64_imm64)
                .def(address, Part::Word64)
                .immediate(target as i64),
        );
        let mut machine = Machine::code(Code::Call_rm64);
        machine = machine.fixed_use(address, RAX, Part::Word64);
        for (reg, register) in regs.into_iter().zip(ARGUMENTS) {
            machine = machine.fixed(reg, register, OperandKind::Use);
        }
        if let Some(result) = result {
            let reg = self.defs(result)[0];
            machine = machine.fixed(reg, RAX, OperandKind::Def);
        }
        machine.is_call = true;
        machine.keeps_result = result.is_some();
        self.push(machine);
    }

    fn end(&mut self, end: &Terminator) {
        match end {
            Terminator::Return(value) => {
                let reg = self.reg(*value);
                self.push(Machine::new(Kind::Return).fixed(reg, RAX, OperandKind::Use));
            }
            Terminator::Jump(block, args) => {
                let args = args.iter().flat_map(|a| self.regs(*a)).collect();
                self.jump(*block, args);
            }
            Terminator::Branch(cond, yes, no) => {
                let code = self.branch_code(*cond);
                self.push(Machine::new(Kind::Branch(code)));
                // Each edge is a block of its own, so that none is critical.
                let from = self.at;
                let edges = [yes, no].map(|(block, args)| {
                    self.blocks.push(MachineBlock {
                        cold: self.f.data(*block).cold || self.blocks[from].cold,
                        ..MachineBlock::default()
                    });
                    self.at = self.blocks.len() - 1;
                    let args = args.iter().flat_map(|a| self.regs(*a)).collect();
                    self.jump(*block, args);
                    regalloc2::Block::new(self.at)
                });
                self.at = from;
                self.blocks[from].succs = edges.to_vec();
            }
        }
    }

    fn jump(&mut self, block: Block, args: Vec<VReg>) {
        let at = self.at;
        self.blocks[at].succs = vec![regalloc2::Block::new(block.0 as usize)];
        self.blocks[at].args = args;
        self.push(Machine::new(Kind::Jump));
    }

    /// Sets flags by a condition; the branch that is taken if it holds.
    fn branch_code(&mut self, cond: Value) -> Code {
        if self.is_fused(cond) {
            match self.op(cond) {
                Some(Op::Compare(code, a, b)) => {
                    self.flags(*a, *b);
                    return condition(*code).0;
                }
                Some(Op::Any(mask)) => {
                    self.test_mask(*mask);
                    return Code::Jne_rel32_64;
                }
                Some(_) | None => {}
            }
        }
        let reg = self.reg(cond);
        self.push(
            Machine::code(Code::Test_rm32_r32)
                .uses(reg, Part::Word32)
                .uses(reg, Part::Word32),
        );
        Code::Jne_rel32_64
    }

    fn test_mask(&mut self, mask: Value) {
        let reg = self.reg(mask);
        self.push(
            Machine::code(Code::VEX_Kortestw_kr_kr)
                .uses(reg, Part::Mask)
                .uses(reg, Part::Mask),
        );
    }

    /// The second operand of a vector instruction: an element for all if it is a constant.
    fn with_operand(&mut self, machine: Machine, value: Value, k: usize) -> Machine {
        if let Some(Op::VecConst(bits)) = self.op(value)
            && *bits != 0
        {
            let location = self.pool_element(*bits, self.f.elem(value));
            return machine.memory(&location).broadcasting();
        }
        let reg = self.regs(value)[k];
        machine.uses(reg, Part::Bits512)
    }

    /// An instruction that yields a vector.
    fn vector(&mut self, op: &Op, result: Value, elem: Elem) {
        let defs = self.defs(result);
        let zmm = Part::Bits512;
        match op {
            Op::Splat(a) => {
                let reg = self.reg(*a);
                let part = self.part(*a);
                let code = match elem.bytes() {
                    4 => Code::EVEX_Vpbroadcastd_zmm_k1z_r32,
                    _ => Code::EVEX_Vpbroadcastq_zmm_k1z_r64,
                };
                for def in defs {
                    self.push(Machine::code(code).def(def, zmm).uses(reg, part));
                }
            }
            Op::SplatLoad(_, address) => {
                let location = self.location(address);
                for def in defs {
                    let machine = Machine::code(broadcast_load(elem)).def(def, zmm);
                    self.push(machine.memory(&location));
                }
            }
            Op::Iota => {
                let bytes: Vec<u8> = match elem.bytes() {
                    4 => (0..LANES as u32).flat_map(u32::to_le_bytes).collect(),
                    _ => (0..LANES as u64).flat_map(u64::to_le_bytes).collect(),
                };
                for (def, chunk) in defs.into_iter().zip(bytes.chunks(64)) {
                    let location = Location::pool(self.constant(chunk.to_vec()));
                    let machine = Machine::code(Code::EVEX_Vmovaps_zmm_k1z_zmmm512);
                    self.push(machine.def(def, zmm).memory(&location));
                }
            }
            Op::Vec(op, a, b) => {
                let commutes = !matches!(
                    op,
                    VecOp::Sub | VecOp::Div | VecOp::Shl | VecOp::Sar | VecOp::Shr
                );
                let (a, b) = match commutes && matches!(self.op(*a), Some(Op::VecConst(_))) {
                    true => (b, a),
                    false => (a, b),
                };
                let code = vector(*op, elem).expect("the verifier knows what operations there are");
                let first = self.regs(*a);
                for (k, def) in defs.into_iter().enumerate() {
                    let machine = Machine::code(code).def(def, zmm).uses(first[k], zmm);
                    let machine = self.with_operand(machine, *b, k);
                    self.push(machine);
                }
            }
            Op::VecUn(op, a) => {
                let (code, mode) = match (op, elem.bytes()) {
                    (VecUn::Sqrt, 4) => (Code::EVEX_Vsqrtps_zmm_k1z_zmmm512b32_er, None),
                    (VecUn::Sqrt, _) => (Code::EVEX_Vsqrtpd_zmm_k1z_zmmm512b64_er, None),
                    (_, 4) => (
                        Code::EVEX_Vrndscaleps_zmm_k1z_zmmm512b32_imm8_sae,
                        Some(rounding(*op)),
                    ),
                    (_, _) => (
                        Code::EVEX_Vrndscalepd_zmm_k1z_zmmm512b64_imm8_sae,
                        Some(rounding(*op)),
                    ),
                };
                let from = self.regs(*a);
                for (k, def) in defs.into_iter().enumerate() {
                    let machine = Machine::code(code).def(def, zmm).uses(from[k], zmm);
                    self.push(match mode {
                        Some(mode) => machine.immediate(mode),
                        None => machine,
                    });
                }
            }
            Op::Fma(a, b, c) => {
                let (code213, code231) = match elem.bytes() {
                    4 => (
                        Code::EVEX_Vfmadd213ps_zmm_k1z_zmm_zmmm512b32_er,
                        Code::EVEX_Vfmadd231ps_zmm_k1z_zmm_zmmm512b32_er,
                    ),
                    _ => (
                        Code::EVEX_Vfmadd213pd_zmm_k1z_zmm_zmmm512b64_er,
                        Code::EVEX_Vfmadd231pd_zmm_k1z_zmm_zmmm512b64_er,
                    ),
                };
                // The register that is overwritten is the sum, unless that is a constant.
                let is_constant =
                    |this: &Self, v: Value| matches!(this.op(v), Some(Op::VecConst(_)));
                let (a, b) = if is_constant(self, *a) {
                    (b, a)
                } else {
                    (a, b)
                };
                let in_sum = !is_constant(self, *c);
                let (x, z) = (self.regs(*a), self.regs(*c));
                for (k, def) in defs.into_iter().enumerate() {
                    let machine = if in_sum {
                        let machine = Machine::code(code231).updates(z[k], def, zmm);
                        self.with_operand(machine.uses(x[k], zmm), *b, k)
                    } else {
                        let y = self.regs(*b)[k];
                        let machine = Machine::code(code213).updates(x[k], def, zmm).uses(y, zmm);
                        self.with_operand(machine, *c, k)
                    };
                    self.push(machine);
                }
            }
            Op::Blend(mask, a, b) => {
                let masks = self.masks(*mask, defs.len());
                let code = match elem.bytes() {
                    4 => Code::EVEX_Vpblendmd_zmm_k1z_zmm_zmmm512b32,
                    _ => Code::EVEX_Vpblendmq_zmm_k1z_zmm_zmmm512b64,
                };
                let others = self.regs(*b);
                for (k, def) in defs.into_iter().enumerate() {
                    let machine = Machine::code(code).def(def, zmm).uses(others[k], zmm);
                    let machine = self.with_operand(machine, *a, k);
                    self.push(machine.masked(Some(masks[k]), false));
                }
            }
            Op::Convert(conv, a) => self.convert(*conv, *a, &defs, elem),
            Op::VecLoad(cell, address, mask) => self.vec_load(*cell, address, *mask, &defs),
            Op::Gather(cell, base, index, mask) => {
                self.gather(*cell, (*base, *index), *mask, &defs);
            }
            Op::Const(_)
            | Op::Int(..)
            | Op::Compare(..)
            | Op::Select(..)
            | Op::Extend(..)
            | Op::Low(_)
            | Op::TrailingZeros(_)
            | Op::Load(..)
            | Op::Store(..)
            | Op::SlotAddress(_)
            | Op::Call(..)
            | Op::VecConst(_)
            | Op::First(_)
            | Op::VecCompare(..)
            | Op::FloatCompare(..)
            | Op::MaskConst(_)
            | Op::MaskSplat(_)
            | Op::FirstLanes(_)
            | Op::Mask(..)
            | Op::MaskNot(_)
            | Op::Any(_)
            | Op::MaskBits(_)
            | Op::VecStore(..)
            | Op::Scatter(..) => unreachable!("the operation yields no vector"),
        }
    }

    /// The mask for each of several registers.
    fn masks(&mut self, mask: Value, registers: usize) -> Vec<VReg> {
        let low = self.reg(mask);
        let mut masks = vec![low];
        if registers == 2 {
            let high = self.fresh(MASK);
            let machine = Machine::code(Code::VEX_Kshiftrw_kr_kr_imm8).def(high, Part::Mask);
            self.push(machine.uses(low, Part::Mask).immediate(8));
            masks.push(high);
        }
        masks
    }

    fn optional_masks(&mut self, mask: Option<Value>, registers: usize) -> Vec<Option<VReg>> {
        match mask {
            Some(mask) => self.masks(mask, registers).into_iter().map(Some).collect(),
            None => vec![None; registers],
        }
    }

    /// The upper half of a register.
    fn upper(&mut self, reg: VReg) -> VReg {
        let half = self.fresh(VECTOR);
        let machine = Machine::code(Code::EVEX_Vextracti64x4_ymmm256_k1z_zmm_imm8);
        let machine = machine.def(half, Part::Bits256).uses(reg, Part::Bits512);
        self.push(machine.immediate(1));
        half
    }

    /// A register of two halves.
    fn joined(&mut self, low: VReg, high: VReg, def: VReg) {
        let machine = Machine::code(Code::EVEX_Vinserti64x4_zmm_k1z_zmm_ymmm256_imm8);
        let machine = machine.def(def, Part::Bits512).uses(low, Part::Bits512);
        self.push(machine.uses(high, Part::Bits256).immediate(1));
    }

    fn convert(&mut self, conv: Conv, a: Value, defs: &[VReg], to: Elem) {
        let from = self.f.elem(a);
        let regs = self.regs(a);
        let zmm = Part::Bits512;
        match conversion(conv, from, to) {
            Conversion::Same => {
                for (def, reg) in defs.iter().zip(regs) {
                    let machine = Machine::code(Code::EVEX_Vmovaps_zmm_k1z_zmmm512);
                    self.push(machine.def(*def, zmm).uses(reg, zmm));
                }
            }
            Conversion::Each(code) => {
                for (def, reg) in defs.iter().zip(regs) {
                    self.push(Machine::code(code).def(*def, zmm).uses(reg, zmm));
                }
            }
            Conversion::Widen(code) => {
                let halves = [regs[0], self.upper(regs[0])];
                for (def, half) in defs.iter().zip(halves) {
                    let machine = Machine::code(code).def(*def, zmm);
                    self.push(machine.uses(half, Part::Bits256));
                }
            }
            Conversion::Narrow(code) => {
                let halves: Vec<VReg> = regs
                    .into_iter()
                    .map(|reg| {
                        let half = self.fresh(VECTOR);
                        let machine = Machine::code(code).def(half, Part::Bits256);
                        self.push(machine.uses(reg, zmm));
                        half
                    })
                    .collect();
                self.joined(halves[0], halves[1], defs[0]);
            }
            Conversion::None => unreachable!("the verifier knows what conversions there are"),
        }
    }
}

const fn broadcast_load(elem: Elem) -> Code {
    match elem.bytes() {
        4 => Code::EVEX_Vbroadcastss_zmm_k1z_xmmm32,
        _ => Code::EVEX_Vbroadcastsd_zmm_k1z_xmmm64,
    }
}

/// How to round to an integer, without an exception for what is inexact.
const fn rounding(op: VecUn) -> i64 {
    match op {
        VecUn::Nearest | VecUn::Sqrt => 0x8,
        VecUn::Floor => 0x9,
        VecUn::Ceil => 0xa,
        VecUn::Trunc => 0xb,
    }
}
