//! Counted loops that are over soon.

use crate::emit::{Emit, block_args, clif};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Value};
use midend::ir::types::ScalarType;

impl Emit<'_, '_> {
    /// A counted loop over few `i64` indices: see [`Emit::range`]. It never looks at the stop flag.
    pub(crate) fn few(
        &mut self,
        range: (Value, Value),
        inits: &[Value],
        body: impl FnOnce(&mut Self, Value, &[Value]) -> Vec<Value>,
    ) -> Vec<Value> {
        self.few_by(1, range, inits, body)
    }

    /// The same in steps, of which a whole number lies in the range.
    pub(crate) fn few_by(
        &mut self,
        step: i64,
        (first, bound): (Value, Value),
        inits: &[Value],
        body: impl FnOnce(&mut Self, Value, &[Value]) -> Vec<Value>,
    ) -> Vec<Value> {
        let carried_types = self.types_of(inits);
        let (inner, exit) = (self.b.create_block(), self.b.create_block());
        let results = self.params(exit, &carried_types);
        let less = IntCC::SignedLessThan;
        let any = self.b.ins().icmp(less, first, bound);
        let start = block_args([first].into_iter().chain(inits.iter().copied()));
        let skip = block_args(inits.iter().copied());
        self.b.ins().brif(any, inner, &start, exit, &skip);
        let counter = clif(ScalarType::I64);
        let form = (counter, step, less);
        self.counted_inner(form, bound, &carried_types, (inner, exit), body);
        results
    }
}
