//! Sequences. While it is lowered, a sequence is a tuple of numbers and a function (`prelude/seq.fut`), so that all of it is known where it
//! is gone through: what is left in the program are loops over chunks.

use super::value::Value;
use super::{Lower, Res};
use crate::source::Span;
use midend::ir::array::{ArrayOp, Stream, StreamOp};
use midend::ir::types::Type;

impl<'a> Lower<'a> {
    /// The size of the next chunk.
    pub(super) fn next_chunk(
        &mut self,
        before: &Value<'a>,
        left: &Value<'a>,
        span: Span,
    ) -> Res<Value<'a>> {
        let before = self.scalar_of(before, span)?;
        let left = self.scalar_of(left, span)?;
        let stream = self.streams;
        self.streams += 1;
        let step = Stream {
            op: StreamOp::Next,
            stream,
            args: vec![before, left],
        };
        let k = self.array_op("k", Type::I64, ArrayOp::Stream(step));
        Ok(Value::scalar(k))
    }
}
