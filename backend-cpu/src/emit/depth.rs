//! How deep calls are nested: functions in cycles of calls, and those that lead to them, are told how many more calls may be nested, and
//! recursive ones check that number and the stack, as every target does.

use super::{Emit, plain};
use crate::worker::Worker;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Value, types};
use midend::ir::id::SpanId;
use midend::ir::syntax::{Message, MessagePart, TrapKind};
use midend::trap::{MOST_NESTED_CALLS, TOO_DEEP};

impl Emit<'_, '_> {
    /// Fails if too many calls are nested, or if the stack is used up before that; at the start of recursive functions.
    pub(crate) fn check_depth(&mut self, span: SpanId) {
        let calls = self.calls_left();
        let offset = std::mem::offset_of!(Worker<'_>, stack_limit);
        let offset = i32::try_from(offset).expect("the worker is small");
        let worker = self.worker;
        let limit = self.b.ins().load(types::I64, plain(), worker, offset);
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
        self.calls_left = Some(self.b.ins().isub(calls, one));
        self.poll();
    }

    /// How many more calls of recursive functions may be nested here.
    pub(super) fn calls_left(&mut self) -> Value {
        match self.calls_left {
            Some(calls) => calls,
            None => self.i64(MOST_NESTED_CALLS as i64),
        }
    }
}
