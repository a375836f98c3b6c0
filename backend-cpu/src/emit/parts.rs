//! Wider vectors put together and taken apart: operations of Cranelift that nothing else uses, and that stand for what it has
//! not (see [`crate::wide`]).

use super::Emit;
use super::library::RAW;
use cranelift_codegen::ir::{InstBuilder, Opcode, Value, types};

impl Emit<'_, '_> {
    /// Two or four vectors side by side, or the one there is.
    pub(super) fn joined(&mut self, vectors: &[Value]) -> Value {
        match *vectors {
            [a, b] => self.pair(a, b),
            [a, b, c, d] => {
                let [low, high] = [self.pair(a, b), self.pair(c, d)];
                self.of_bytes(low, |emit, low| {
                    let high = emit.b.ins().bitcast(types::I8X16, RAW, high);
                    emit.b.ins().uadd_sat(low, high)
                })
            }
            _ => vectors[0],
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
