//! Checks that programs make at run time.

use super::Emit;
use cranelift_codegen::ir::{Block, InstBuilder, InstructionData, Opcode, Value, types};
use midend::ir::id::SpanId;
use midend::ir::scalar::Const;
use midend::ir::syntax::{Atom, Message};

/// The most parts that a condition is taken apart into.
const PARTS: usize = 4;

impl Emit<'_, '_> {
    /// A check: the cold path stores the values of the message and leaves.
    pub(super) fn assert(&mut self, cond: Atom, message: &Message, span: SpanId) {
        if cond == Atom::Const(Const::Bool(true)) {
            return;
        }
        let cond = self.atom(cond);
        let (bad, good) = (self.b.create_block(), self.b.create_block());
        self.b.set_cold_block(bad);
        let mut parts = Vec::new();
        self.conditions_of(cond, true, &mut parts);
        if parts.len() > PARTS {
            parts = vec![(cond, true)];
        }
        for (k, (part, holds)) in parts.iter().enumerate() {
            let next = if k + 1 < parts.len() {
                self.b.create_block()
            } else {
                good
            };
            self.leave_if_not(*part, *holds, (bad, next));
            self.b.switch_to_block(next);
        }
        self.b.switch_to_block(bad);
        self.report(message, span);
        self.b.switch_to_block(good);
    }

    /// Goes out, unless a condition is as stated.
    fn leave_if_not(&mut self, cond: Value, holds: bool, (out, on): (Block, Block)) {
        if holds {
            return self.leave_unless(cond, (out, on));
        }
        self.b.ins().brif(cond, out, &[], on, &[]);
    }

    /// Conditions that are as stated, all of them, where the one is: a comparison and its branch are one step of the processor, which takes
    /// several to put the outcomes of two comparisons together.
    fn conditions_of(&self, cond: Value, holds: bool, parts: &mut Vec<(Value, bool)>) {
        let dfg = &self.b.func.dfg;
        let inst = dfg.value_def(cond).inst();
        let data = inst.map(|inst| dfg.insts[inst]);
        if dfg.value_type(cond) == types::I8
            && parts.len() < PARTS
            && let Some(InstructionData::Binary { opcode, args }) = data
        {
            let both = (opcode == Opcode::Band && holds) || (opcode == Opcode::Bor && !holds);
            if both {
                self.conditions_of(args[0], holds, parts);
                return self.conditions_of(args[1], holds, parts);
            }
            if opcode == Opcode::Bxor && self.known(args[1]) == Some(1) {
                return self.conditions_of(args[0], !holds, parts);
            }
        }
        parts.push((cond, holds));
    }
}
