//! Bytes that the groups of a map read one after the other, asked for before they are needed: those of a group are a line of the cache, of which too
//! few are on their way where nobody asks, for the processor has as many others to look after of what else a group reads and writes.
//!
//! ```text
//! for each group g:                            for each group g:
//!   out[g * 64 + ..] = f(x[g * 64 + ..])  ──►    ask for x[(g + 32) * 64]
//!                                                out[g * 64 + ..] = f(x[g * 64 + ..])
//! ```

use super::Group;
use crate::emit::{Emit, plain};
use crate::wide::PART;
use cranelift_codegen::ir::{InstBuilder, Value, types};
use midend::fired::fired;
use midend::ir::id::Var;

/// How many bytes before they are needed others are asked for.
const AHEAD: i32 = 2048;

impl Emit<'_, '_> {
    /// Asks for what later groups read of a buffer of which this one reads elements from `start` on, so many bytes apart; once for each buffer. Only
    /// where there are marks in addresses anyway, beside which some code cannot be widened.
    pub(super) fn ask_ahead(&mut self, group: &mut Group<'_>, buffer: Var, place: (Value, i64)) {
        let (start, stride) = place;
        let of_bytes = self.elem(buffer).bytes() == 1 && stride == 1;
        if of_bytes && self.past.is_some() && group.asked.insert(buffer) {
            fired("cpu/bytes-asked-for");
            let zero = self.b.ins().iconst(types::I8, 0);
            self.b.ins().store(plain(), zero, start, PART + AHEAD);
        }
    }
}
