//! How deep calls are nested: each thread counts those of recursive functions, as every target does, and checks its stack.

use super::{Emit, plain};
use crate::worker::Worker;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Value, types};
use midend::ir::id::SpanId;
use midend::ir::syntax::{Message, MessagePart, TrapKind};
use midend::trap::TOO_DEEP;

impl Emit<'_, '_> {
    /// Fails if too many calls are nested, or if the stack is used up before that; at the start of functions that may recurse. How many
    /// more calls there may be around this one.
    pub(crate) fn check_depth(&mut self, span: SpanId) -> Value {
        let limit = self.of_worker(std::mem::offset_of!(Worker<'_>, stack_limit));
        let calls = self.of_worker(std::mem::offset_of!(Worker<'_>, calls));
        let here = self.b.ins().get_stack_pointer(types::I64);
        let low = self.b.ins().icmp(IntCC::UnsignedLessThan, here, limit);
        let none = self
            .b
            .ins()
            .icmp_imm_s(IntCC::SignedLessThanOrEqual, calls, 0);
        let deep = self.b.ins().bor(low, none);
        let (bad, good) = (self.b.create_block(), self.b.create_block());
        self.b.set_cold_block(bad);
        self.b.ins().brif(deep, bad, &[], good, &[]);
        self.b.switch_to_block(bad);
        let message = Message {
            kind: TrapKind::Recursion,
            parts: vec![MessagePart::Text(TOO_DEEP.to_owned())],
        };
        self.report(&message, span);
        self.b.switch_to_block(good);
        let one = self.b.ins().iconst(types::I64, 1);
        let left = self.b.ins().isub(calls, one);
        self.leave_call(left);
        self.poll();
        calls
    }

    /// Notes that so many more calls may be nested.
    pub(crate) fn leave_call(&mut self, calls: Value) {
        let offset = worker_offset(std::mem::offset_of!(Worker<'_>, calls));
        let worker = self.worker;
        self.b.ins().store(plain(), calls, worker, offset);
    }

    /// A number that the worker holds.
    fn of_worker(&mut self, field: usize) -> Value {
        let (flags, worker) = (plain(), self.worker);
        self.b
            .ins()
            .load(types::I64, flags, worker, worker_offset(field))
    }
}

/// The distance of a field from the start of the worker.
fn worker_offset(field: usize) -> i32 {
    i32::try_from(field).expect("the worker is small")
}
