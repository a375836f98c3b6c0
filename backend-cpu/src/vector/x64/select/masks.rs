//! Selection of masks, and comparisons into them.

use super::Select;
use crate::vector::ir::{MaskOp, Op, Value};
use crate::vector::x64::codes::{compare, float_compare, mask};
use crate::vector::x64::mach::{GENERAL, Location, MASK, Machine, Part};
use iced_x86::Code;
use regalloc2::VReg;

impl Select<'_> {
    /// An instruction that yields a mask.
    pub(super) fn mask(&mut self, op: &Op, result: Value) {
        let def = self.defs(result)[0];
        let k = Part::Mask;
        match op {
            Op::VecCompare(cond, a, b) => {
                let made = compare(*cond, self.f.elem(*a));
                self.compared(made, (*a, *b), def);
            }
            Op::FloatCompare(cond, a, b) => {
                let made = float_compare(*cond, self.f.elem(*a));
                self.compared(made, (*a, *b), def);
            }
            Op::MaskConst(all) => {
                let code = match all {
                    true => Code::VEX_Kxnorw_kr_kr_kr,
                    false => Code::VEX_Kxorw_kr_kr_kr,
                };
                // What is read does not matter, but is defined.
                let location = Location::pool(self.constant(vec![0, 0]));
                let any = self.fresh(MASK);
                self.push(
                    Machine::code(Code::VEX_Kmovw_kr_km16)
                        .def(any, k)
                        .memory(&location),
                );
                self.push(Machine::code(code).def(def, k).uses(any, k).uses(any, k));
            }
            Op::MaskSplat(a) => {
                let reg = self.reg(*a);
                let all = self.fresh(GENERAL);
                let machine = Machine::code(Code::Neg_rm32).updates(reg, all, Part::Word32);
                self.push(machine);
                let machine = Machine::code(Code::VEX_Kmovw_kr_r32).def(def, k);
                self.push(machine.uses(all, Part::Word32));
            }
            Op::FirstLanes(n) => {
                let reg = self.reg(*n);
                let [all, bits] = [(); 2].map(|()| self.fresh(GENERAL));
                let machine = Machine::code(Code::Mov_r32_imm32).def(all, Part::Word32);
                self.push(machine.immediate(-1));
                let machine = Machine::code(Code::VEX_Bzhi_r32_rm32_r32).def(bits, Part::Word32);
                let machine = machine.uses(all, Part::Word32).uses(reg, Part::Word32);
                self.push(machine);
                let machine = Machine::code(Code::VEX_Kmovw_kr_r32).def(def, k);
                self.push(machine.uses(bits, Part::Word32));
            }
            Op::Mask(op, a, b) => {
                let (a, b) = (self.reg(*a), self.reg(*b));
                let (a, b) = match op {
                    MaskOp::AndNot => (b, a),
                    MaskOp::And | MaskOp::Or | MaskOp::Xor => (a, b),
                };
                self.push(Machine::code(mask(*op)).def(def, k).uses(a, k).uses(b, k));
            }
            Op::MaskNot(a) => {
                let a = self.reg(*a);
                self.push(Machine::code(Code::VEX_Knotw_kr_kr).def(def, k).uses(a, k));
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
            | Op::Splat(_)
            | Op::SplatLoad(..)
            | Op::VecConst(_)
            | Op::Iota
            | Op::First(_)
            | Op::Vec(..)
            | Op::VecUn(..)
            | Op::Fma(..)
            | Op::Blend(..)
            | Op::Convert(..)
            | Op::Any(_)
            | Op::MaskBits(_)
            | Op::VecLoad(..)
            | Op::VecStore(..)
            | Op::Gather(..)
            | Op::Scatter(..) => unreachable!("the operation yields no mask"),
        }
    }

    fn compared(&mut self, (code, predicate): (Code, i64), (a, b): (Value, Value), def: VReg) {
        let first = self.regs(a);
        let mut parts = Vec::new();
        for k in 0..first.len() {
            let into = match first.len() {
                1 => def,
                _ => self.fresh(MASK),
            };
            let machine = Machine::code(code)
                .def(into, Part::Mask)
                .uses(first[k], Part::Bits512);
            let machine = self.with_operand(machine, b, k);
            self.push(machine.immediate(predicate));
            parts.push(into);
        }
        if let [low, high] = parts[..] {
            let machine = Machine::code(Code::VEX_Kunpckbw_kr_kr_kr).def(def, Part::Mask);
            self.push(machine.uses(high, Part::Mask).uses(low, Part::Mask));
        }
    }
}
