//! Selection of uniform integers.

use super::Select;
use crate::vector::ir::{Cell, IntOp, Op, Value};
use crate::vector::x64::codes::{condition, integer, integer_immediate};
use crate::vector::x64::mach::{GENERAL, Machine, Part, RAX, RDX};
use iced_x86::Code;
use regalloc2::{OperandKind, VReg};

impl Select<'_> {
    /// An instruction that yields a uniform integer.
    pub(super) fn uniform(&mut self, op: &Op, result: Value) {
        let def = self.defs(result)[0];
        let part = self.part(result);
        let wide = self.is_wide(result);
        match op {
            Op::Int(op, a, b) => self.integer(*op, (*a, *b), def, wide),
            Op::Compare(cond, a, b) => {
                self.flags(*a, *b);
                self.flag_into(condition(*cond).1, def);
            }
            Op::Any(mask) => {
                self.test_mask(*mask);
                self.flag_into(Code::Setne_rm8, def);
            }
            Op::Select(cond, a, b) => {
                let (a, b) = (self.reg(*a), self.reg(*b));
                let code = match self.op(*cond) {
                    Some(Op::Compare(code, x, y)) => {
                        self.flags(*x, *y);
                        condition(*code).2[usize::from(wide)]
                    }
                    Some(_) | None => {
                        let cond = self.reg(*cond);
                        let test = Machine::code(Code::Test_rm32_r32);
                        self.push(test.uses(cond, Part::Word32).uses(cond, Part::Word32));
                        [Code::Cmovne_r32_rm32, Code::Cmovne_r64_rm64][usize::from(wide)]
                    }
                };
                self.push(Machine::code(code).updates(b, def, part).uses(a, part));
            }
            Op::Extend(a, bits, signed) => {
                let reg = self.reg(*a);
                let (code, from) = match (bits, signed, wide) {
                    (8, true, false) => (Code::Movsx_r32_rm8, Part::Byte),
                    (8, true, true) => (Code::Movsx_r64_rm8, Part::Byte),
                    (16, true, false) => (Code::Movsx_r32_rm16, Part::Word16),
                    (16, true, true) => (Code::Movsx_r64_rm16, Part::Word16),
                    (8, false, _) => (Code::Movzx_r32_rm8, Part::Byte),
                    (16, false, _) => (Code::Movzx_r32_rm16, Part::Word16),
                    (_, true, true) => (Code::Movsxd_r64_rm32, Part::Word32),
                    (_, _, _) => (Code::Mov_r32_rm32, Part::Word32),
                };
                let to = if *signed { part } else { Part::Word32 };
                self.push(Machine::code(code).def(def, to).uses(reg, from));
            }
            Op::Low(a) => {
                let reg = self.reg(*a);
                let machine = Machine::code(Code::Mov_r32_rm32).def(def, Part::Word32);
                self.push(machine.uses(reg, Part::Word32));
            }
            Op::TrailingZeros(a) => {
                let reg = self.reg(*a);
                let machine = Machine::code(Code::Tzcnt_r32_rm32).def(def, Part::Word32);
                self.push(machine.uses(reg, Part::Word32));
            }
            Op::Load(cell, address) => {
                let location = self.location(address);
                let (code, part) = match cell {
                    Cell::I8 => (Code::Movsx_r32_rm8, Part::Word32),
                    Cell::U8 => (Code::Movzx_r32_rm8, Part::Word32),
                    Cell::I16 => (Code::Movsx_r32_rm16, Part::Word32),
                    Cell::U16 => (Code::Movzx_r32_rm16, Part::Word32),
                    Cell::W32 => (Code::Mov_r32_rm32, Part::Word32),
                    Cell::W64 => (Code::Mov_r64_rm64, Part::Word64),
                };
                self.push(Machine::code(code).def(def, part).memory(&location));
            }
            Op::Call(target, args) => self.call(*target, args, Some(result)),
            Op::First(a) => {
                let reg = self.reg(*a);
                let code = match wide {
                    false => Code::EVEX_Vmovd_rm32_xmm,
                    true => Code::EVEX_Vmovq_rm64_xmm,
                };
                self.push(Machine::code(code).def(def, part).uses(reg, Part::Bits128));
            }
            Op::MaskBits(mask) => {
                let reg = self.reg(*mask);
                let machine = Machine::code(Code::VEX_Kmovw_r32_kr).def(def, Part::Word32);
                self.push(machine.uses(reg, Part::Mask));
            }
            Op::Const(_)
            | Op::SlotAddress(_)
            | Op::Store(..)
            | Op::Splat(_)
            | Op::SplatLoad(..)
            | Op::VecConst(_)
            | Op::Iota
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
            | Op::VecLoad(..)
            | Op::VecStore(..)
            | Op::Gather(..)
            | Op::Scatter(..) => unreachable!("the operation yields no integer"),
        }
    }

    fn flag_into(&mut self, set: Code, def: VReg) {
        let byte = self.fresh(GENERAL);
        self.push(Machine::code(set).def(byte, Part::Byte));
        let machine = Machine::code(Code::Movzx_r32_rm8).def(def, Part::Word32);
        self.push(machine.uses(byte, Part::Byte));
    }

    fn integer(&mut self, op: IntOp, (a, b): (Value, Value), def: VReg, wide: bool) {
        let part = if wide { Part::Word64 } else { Part::Word32 };
        match op {
            IntOp::Add | IntOp::Sub | IntOp::Mul | IntOp::And | IntOp::Or | IntOp::Xor => {
                let commutes = op != IntOp::Sub;
                let (a, b) = match commutes && self.immediate(a).is_some() {
                    true => (b, a),
                    false => (a, b),
                };
                let before = self.reg(a);
                if let Some(n) = self.immediate(b) {
                    if op == IntOp::Mul {
                        let code = [Code::Imul_r32_rm32_imm32, Code::Imul_r64_rm64_imm32]
                            [usize::from(wide)];
                        let machine = Machine::code(code).def(def, part).uses(before, part);
                        return self.push(machine.immediate(n));
                    }
                    if let Some(code) = integer_immediate(op, wide) {
                        let machine = Machine::code(code).updates(before, def, part);
                        return self.push(machine.immediate(n));
                    }
                }
                let b = self.reg(b);
                let code = integer(op, wide).expect("the operation has two operands");
                self.push(Machine::code(code).updates(before, def, part).uses(b, part));
            }
            IntOp::Shl | IntOp::Sar | IntOp::Shr => {
                let before = self.reg(a);
                if let Some(n) = self.immediate(b) {
                    let code = match (op, wide) {
                        (IntOp::Shl, false) => Code::Shl_rm32_imm8,
                        (IntOp::Shl, true) => Code::Shl_rm64_imm8,
                        (IntOp::Sar, false) => Code::Sar_rm32_imm8,
                        (IntOp::Sar, true) => Code::Sar_rm64_imm8,
                        (_, false) => Code::Shr_rm32_imm8,
                        (_, true) => Code::Shr_rm64_imm8,
                    };
                    let n = n & if wide { 63 } else { 31 };
                    let machine = Machine::code(code).updates(before, def, part);
                    return self.push(machine.immediate(n));
                }
                let b = self.reg(b);
                let code = match (op, wide) {
                    (IntOp::Shl, false) => Code::VEX_Shlx_r32_rm32_r32,
                    (IntOp::Shl, true) => Code::VEX_Shlx_r64_rm64_r64,
                    (IntOp::Sar, false) => Code::VEX_Sarx_r32_rm32_r32,
                    (IntOp::Sar, true) => Code::VEX_Sarx_r64_rm64_r64,
                    (_, false) => Code::VEX_Shrx_r32_rm32_r32,
                    (_, true) => Code::VEX_Shrx_r64_rm64_r64,
                };
                let machine = Machine::code(code).def(def, part).uses(before, part);
                self.push(machine.uses(b, part));
            }
            IntOp::DivS | IntOp::DivU | IntOp::RemU => {
                self.divide(op, (a, b), def, wide);
            }
        }
    }

    fn divide(&mut self, op: IntOp, (a, b): (Value, Value), def: VReg, wide: bool) {
        let part = if wide { Part::Word64 } else { Part::Word32 };
        let (low, divisor) = (self.reg(a), self.reg(b));
        let high = self.fresh(GENERAL);
        let signed = op == IntOp::DivS;
        if signed {
            let code = if wide { Code::Cqo } else { Code::Cdq };
            let machine = Machine::code(code).fixed(low, RAX, OperandKind::Use);
            self.push(machine.fixed(high, RDX, OperandKind::Def));
        } else {
            let machine = Machine::code(Code::Mov_r32_imm32).def(high, Part::Word32);
            self.push(machine.immediate(0));
        }
        let code = match (signed, wide) {
            (true, false) => Code::Idiv_rm32,
            (true, true) => Code::Idiv_rm64,
            (false, false) => Code::Div_rm32,
            (false, true) => Code::Div_rm64,
        };
        let other = self.fresh(GENERAL);
        let quotient = matches!(op, IntOp::DivS | IntOp::DivU);
        let (rax, rdx) = if quotient { (def, other) } else { (other, def) };
        self.push(
            Machine::code(code)
                .uses(divisor, part)
                .fixed(low, RAX, OperandKind::Use)
                .fixed(high, RDX, OperandKind::Use)
                .fixed(rax, RAX, OperandKind::Def)
                .fixed(rdx, RDX, OperandKind::Def),
        );
    }
}
