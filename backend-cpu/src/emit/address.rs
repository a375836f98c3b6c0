//! Addresses of elements, and loads.
//!
//! An index is a sum of numbers. What of it stays the same in the innermost loop is added to the start of the buffer
//! there, and so only once; what is left goes into the address of the load or store:
//!
//! ```text
//! load a[i + row * width]   ──►   line = a + 4 * row * width (before the loop);   load [line + 4 * i]
//! ```

use super::{Emit, clif, plain};
use cranelift_codegen::ir::{InstBuilder, InstructionData, Opcode, Value, types};
use midend::ir::scalar::Const;
use midend::ir::syntax::Atom;
use midend::ir::types::ScalarType;

/// The most numbers that an index is the sum of.
const TERMS: usize = 6;
/// The most operations one after the other that are looked at for whether they go on with what is known before a loop.
const DEPTH: usize = 6;

/// An index as a sum.
#[derive(Default)]
struct Sum {
    /// What is the same in all steps of the innermost loop.
    fixed: Vec<Value>,
    moving: Vec<Value>,
    constant: i64,
}

impl Emit<'_, '_> {
    /// The address of an element as base and constant offset.
    pub(super) fn place(&mut self, start: Value, elem: ScalarType, index: Atom) -> (Value, i32) {
        if let Atom::Const(Const::I64(i)) = index
            && let Some(offset) = bytes(elem.bytes() as i64, i)
        {
            return (start, offset);
        }
        let index = self.atom(index);
        self.split(start, elem, index)
    }

    /// The address of the element at an index.
    pub(super) fn element(&mut self, start: Value, elem: ScalarType, index: Value) -> Value {
        let (place, offset) = self.split(start, elem, index);
        if offset == 0 {
            place
        } else {
            self.b.ins().iadd_imm_s(place, i64::from(offset))
        }
    }

    fn split(&mut self, start: Value, elem: ScalarType, index: Value) -> (Value, i32) {
        self.spaced(start, elem.bytes() as i64, index)
    }

    /// The address of the element at an index of elements so many bytes apart, a power of two, as base and constant offset.
    pub(super) fn spaced(&mut self, start: Value, size: i64, index: Value) -> (Value, i32) {
        let sum = match self.loops.last() {
            Some(counter) => self.sum(index, *counter),
            None => None,
        };
        if let Some(sum) = sum
            && let Some(offset) = bytes(size, sum.constant)
        {
            let mut place = start;
            for part in [sum.fixed, sum.moving] {
                let total = part.into_iter().reduce(|a, b| self.b.ins().iadd(a, b));
                if let Some(total) = total {
                    place = self.ahead(place, size, total);
                }
            }
            return (place, offset);
        }
        (self.ahead(start, size, index), 0)
    }

    /// The index as a sum, if taking it apart leaves less to do in the loop with this counter.
    fn sum(&self, index: Value, counter: Value) -> Option<Sum> {
        let mut sum = Sum::default();
        let mut open = vec![index];
        while let Some(value) = open.pop() {
            if let Some(constant) = self.known(value) {
                sum.constant = sum.constant.wrapping_add(constant);
            } else if self.is_fixed(value, counter, DEPTH) {
                sum.fixed.push(value);
            } else if let Some([a, b]) = self.operands(Opcode::Iadd, value) {
                open.extend([b, a]);
            } else if let Some([a, b]) = self.operands(Opcode::Isub, value)
                && let Some(less) = self.known(b)
            {
                sum.constant = sum.constant.wrapping_sub(less);
                open.push(a);
            } else {
                sum.moving.push(value);
            }
            if sum.fixed.len() + sum.moving.len() + open.len() > TERMS {
                return None;
            }
        }
        let apart = sum.constant != 0 || !(sum.fixed.is_empty() || sum.moving.is_empty());
        apart.then_some(sum)
    }

    /// The value of a constant.
    pub(crate) fn known(&self, value: Value) -> Option<i64> {
        let dfg = &self.b.func.dfg;
        let definition = dfg.insts[dfg.value_def(value).inst()?];
        if let InstructionData::UnaryImm { imm, .. } = definition {
            Some(imm.bits())
        } else {
            None
        }
    }

    /// Whether a value is known before the loop with this counter: it was emitted there, or follows from such values by a few operations,
    /// which Cranelift moves there.
    fn is_fixed(&self, value: Value, counter: Value, depth: usize) -> bool {
        // Values are numbered in the order in which they are emitted.
        if value.as_u32() < counter.as_u32() || self.known(value).is_some() {
            return true;
        }
        let dfg = &self.b.func.dfg;
        let Some(inst) = dfg.value_def(value).inst().filter(|_| depth > 0) else {
            return false;
        };
        let moves = matches!(
            dfg.insts[inst].opcode(),
            Opcode::Iadd
                | Opcode::Isub
                | Opcode::Imul
                | Opcode::Ishl
                | Opcode::Smin
                | Opcode::Smax
                | Opcode::Icmp
                | Opcode::Select
        );
        let mut args = dfg.inst_args(inst).iter();
        moves && args.all(|arg| self.is_fixed(*arg, counter, depth - 1))
    }

    /// The operands of a value that such an operation of two operands gives.
    fn operands(&self, opcode: Opcode, value: Value) -> Option<[Value; 2]> {
        let dfg = &self.b.func.dfg;
        let definition = dfg.insts[dfg.value_def(value).inst()?];
        if let InstructionData::Binary { opcode: op, args } = definition {
            (op == opcode).then_some(args)
        } else {
            None
        }
    }

    /// An address so many elements ahead.
    fn ahead(&mut self, start: Value, size: i64, index: Value) -> Value {
        let shift = i64::from(size.trailing_zeros());
        let offset = if shift == 0 {
            index
        } else {
            self.b.ins().ishl_imm_u(index, shift)
        };
        self.b.ins().iadd(start, offset)
    }

    /// Loads an element. An integer that is narrow, or has a sign, is widened by the same instruction, for [`Emit::widened`].
    pub(super) fn load(&mut self, elem: ScalarType, place: Value, offset: i32) -> Value {
        let ins = self.b.ins();
        let wide = match (elem.is_integer(), elem.bytes(), elem.is_signed()) {
            (true, 1, true) => ins.sload8(types::I64, plain(), place, offset),
            (true, 1, false) => ins.uload8(types::I64, plain(), place, offset),
            (true, 2, true) => ins.sload16(types::I64, plain(), place, offset),
            (true, 2, false) => ins.uload16(types::I64, plain(), place, offset),
            (true, 4, true) => ins.sload32(plain(), place, offset),
            (_, _, _) => return ins.load(clif(elem), plain(), place, offset),
        };
        self.b.ins().ireduce(clif(elem), wide)
    }

    /// The 64-bit value that a narrow integer was loaded as, if it was widened as `signed` says.
    pub(super) fn widened(&self, value: Value, signed: bool) -> Option<Value> {
        let wide = self.operand_of(Opcode::Ireduce, value)?;
        let dfg = &self.b.func.dfg;
        let load = dfg.insts[dfg.value_def(wide).inst()?].opcode();
        let fitting = if signed {
            &[Opcode::Sload8, Opcode::Sload16, Opcode::Sload32][..]
        } else {
            &[Opcode::Uload8, Opcode::Uload16][..]
        };
        fitting.contains(&load).then_some(wide)
    }

    /// The operand of a value that such an operation of one operand gives.
    pub(super) fn operand_of(&self, opcode: Opcode, value: Value) -> Option<Value> {
        let dfg = &self.b.func.dfg;
        let definition = dfg.insts[dfg.value_def(value).inst()?];
        if let InstructionData::Unary { opcode: op, arg }
        | InstructionData::LoadNoOffset {
            opcode: op, arg, ..
        } = definition
        {
            (op == opcode).then_some(arg)
        } else {
            None
        }
    }
}

/// The bytes of so many elements, where they fit the offset of an instruction.
fn bytes(size: i64, count: i64) -> Option<i32> {
    let bytes = count.checked_mul(size)?;
    i32::try_from(bytes)
        .ok()
        .filter(|b| b.unsigned_abs() < 1 << 30)
}
