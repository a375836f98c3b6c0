//! Wider vectors put together and taken apart: operations of Cranelift that nothing else uses, and that stand for what it has
//! not (see [`crate::wide`]).

use super::library::RAW;
use super::{Emit, plain};
use crate::wide::{EXTREMES, PART};
use cranelift_codegen::ir::{InstBuilder, Opcode, Value, types};
use midend::ir::types::ScalarType;

/// Bytes of a register of four vectors.
const REGISTER: u32 = 64;

impl Emit<'_, '_> {
    /// Two or four vectors side by side, or the one there is.
    pub(super) fn joined(&mut self, vectors: &[Value]) -> Value {
        match *vectors {
            [a, b] => self.pair(a, b),
            [a, b, c, d] => {
                let [low, high] = [self.pair(a, b), self.pair(c, d)];
                self.pairs(low, high)
            }
            _ => vectors[0],
        }
    }

    /// Asks for the lines of the cache in which some bytes from an address on are, for which nothing waits. Code for wider registers can.
    pub(super) fn ask_for(&mut self, start: Value, bytes: i32) {
        let zero = self.b.ins().iconst(types::I8, 0);
        let last = (bytes > 1).then_some(bytes - 1);
        for at in (0..bytes).step_by(REGISTER as usize).chain(last) {
            self.b.ins().store(plain(), zero, start, PART + at);
        }
    }

    /// Two pairs side by side.
    pub(super) fn pairs(&mut self, low: Value, high: Value) -> Value {
        self.of_bytes(low, |emit, low| {
            let high = emit.b.ins().bitcast(types::I8X16, RAW, high);
            emit.b.ins().uadd_sat(low, high)
        })
    }

    /// Binary64 of four parts without what is behind the point, as integers of 64 bits; for what is none, the least.
    pub(super) fn integers_of(&mut self, all: Value) -> Value {
        // Marks what Cranelift has not: see `wide`.
        let bytes = self.b.ins().bitcast(types::I8X16, RAW, all);
        let made = self.b.ins().avg_round(bytes, bytes);
        self.b.ins().bitcast(types::I64X2, RAW, made)
    }

    /// The same of binary32 in a pair.
    pub(super) fn integers_of_pair(&mut self, all: Value) -> Value {
        let lanes = self.b.ins().bitcast(types::I16X8, RAW, all);
        let made = self.b.ins().iadd_pairwise(lanes, lanes);
        self.b.ins().bitcast(types::I64X2, RAW, made)
    }

    /// Products of integers of 64 bits in four parts.
    pub(super) fn products_of(&mut self, a: Value, b: Value) -> Value {
        let [a, b] = [a, b].map(|v| self.b.ins().bitcast(types::I32X4, RAW, v));
        let made = self.b.ins().iadd_pairwise(a, b);
        self.b.ins().bitcast(types::I64X2, RAW, made)
    }

    /// The least or the greatest lanes of two vectors of four parts, of integers of 64 bits or of floats that are no signaling NaNs.
    pub(super) fn extreme_of(
        &mut self,
        ty: ScalarType,
        (a, b): (Value, Value),
        least: bool,
    ) -> Value {
        // Marks what Cranelift has not: see `wide`.
        let first = match (ty.is_float(), ty.bytes()) {
            (false, _) => 0,
            (true, 4) => 2,
            (true, _) => 4,
        };
        let distance = EXTREMES[first + usize::from(!least)];
        let of = self.b.func.dfg.value_type(a);
        self.bytes(a, b, std::array::from_fn(|k| distance + k as u8), of)
    }

    /// Integers of 64 bits in four parts as binary64.
    pub(super) fn doubles_of(&mut self, all: Value) -> Value {
        let lanes = self.b.ins().bitcast(types::I16X8, RAW, all);
        let made = self.b.ins().uadd_sat(lanes, lanes);
        self.b.ins().bitcast(types::F64X2, RAW, made)
    }

    /// The same as binary32, in a pair.
    pub(super) fn low_singles(&mut self, all: Value) -> Value {
        let lanes = self.b.ins().bitcast(types::I16X8, RAW, all);
        let made = self.b.ins().usub_sat(lanes, lanes);
        self.b.ins().bitcast(types::F32X4, RAW, made)
    }

    /// The elements at the addresses in a vector, which are counted in elements: numbers of 64 bits in four parts, or of 32 bits in a pair.
    pub(super) fn found_at(&mut self, addresses: Value, bytes: usize) -> Value {
        let room = self.aligned_slot(i64::from(REGISTER));
        self.b.ins().store(plain(), addresses, room, 0);
        // Marks what Cranelift has not: see `wide`.
        match bytes {
            8 => self.b.ins().uload32x2(plain(), room, PART),
            _ => self.b.ins().uload16x4(plain(), room, PART),
        }
    }

    fn pair(&mut self, low: Value, high: Value) -> Value {
        let ty = self.b.func.dfg.value_type(low);
        let [low, high] = [low, high].map(|v| self.b.ins().bitcast(types::I16X8, RAW, v));
        let both = self.b.ins().x86_pmulhrsw(low, high);
        self.b.ins().bitcast(ty, RAW, both)
    }

    /// The parts of a vector.
    pub(super) fn parts_of(&mut self, all: Value, parts: usize) -> Vec<Value> {
        match parts {
            1 => vec![all],
            2 => vec![all, self.second(all)],
            _ => {
                let [low, high] = self.halves_of(all, parts);
                vec![low, self.second(low), high, self.second(high)]
            }
        }
    }

    /// The halves of a wider vector, each at the lower end of one.
    pub(super) fn halves_of(&mut self, all: Value, parts: usize) -> [Value; 2] {
        let upper = if self.repeats(all) {
            all
        } else if parts == 2 {
            self.second(all)
        } else {
            self.of_bytes(all, |emit, all| emit.b.ins().usub_sat(all, all))
        };
        [all, upper]
    }

    /// The second of the vectors side by side.
    fn second(&mut self, all: Value) -> Value {
        if self.repeats(all) {
            return all;
        }
        let ty = self.b.func.dfg.value_type(all);
        let bytes = self.b.ins().bitcast(types::I8X16, RAW, all);
        let second = self.b.ins().x86_pmaddubsw(bytes, bytes);
        self.b.ins().bitcast(ty, RAW, second)
    }

    /// Whether all parts are the same: those of a constant, and of a number in all lanes.
    fn repeats(&self, all: Value) -> bool {
        let dfg = &self.b.func.dfg;
        let mut at = all;
        while let Some(inst) = dfg.value_def(at).inst() {
            let opcode = dfg.insts[inst].opcode();
            if opcode != Opcode::Bitcast {
                return matches!(opcode, Opcode::Vconst | Opcode::Splat);
            }
            at = dfg.inst_args(inst)[0];
        }
        false
    }

    /// The lower halves of all parts, and then the upper ones.
    pub(super) fn apart(&mut self, all: Value) -> Value {
        self.of_bytes(all, |emit, all| emit.b.ins().sadd_sat(all, all))
    }

    /// The other way round: in each part a lane of 64 bits of the lower half and one of the upper half.
    pub(super) fn together(&mut self, all: Value) -> Value {
        self.of_bytes(all, |emit, all| emit.b.ins().ssub_sat(all, all))
    }

    fn of_bytes(&mut self, all: Value, made: impl FnOnce(&mut Self, Value) -> Value) -> Value {
        let ty = self.b.func.dfg.value_type(all);
        let bytes = self.b.ins().bitcast(types::I8X16, RAW, all);
        let made = made(self, bytes);
        self.b.ins().bitcast(ty, RAW, made)
    }
}
