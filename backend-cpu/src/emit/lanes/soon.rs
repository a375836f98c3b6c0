//! Bytes that the groups of a map read one after the other, asked for before they are needed: those of a group are a line of the cache, of which too
//! few are on their way where nobody asks, for the processor has as many others to look after of what else a group reads and writes.
//!
//! ```text
//! for each group g:                            for each group g:
//!   out[g * 64 + ..] = f(x[g * 64 + ..])  ──►    ask for x[(g + 32) * 64]
//!                                                out[g * 64 + ..] = f(x[g * 64 + ..])
//! ```
//!
//! Where groups have much to do and points read rows of their own by gathers, the rows of the next group are asked for: the processor comes to it too
//! late, and does not foresee places that gathers read. So are those that a group goes through again and again before the next one comes.

use super::Group;
use crate::emit::{Emit, plain};
use crate::wide::PART;
use cranelift_codegen::ir::{InstBuilder, Value, types};
use midend::fired::fired;
use midend::ir::id::Var;
use midend::ir::mem::Mem;
use midend::ir::syntax::Body;
use midend::ir::types::ScalarType;
use midend::ir::walk::all_stms;

/// How many bytes before they are needed others are asked for.
const AHEAD: i32 = 2048;

/// Rows of so many bytes are asked for.
const ROW: i64 = 128;
/// A group of so many statements takes longer than memory takes to fetch what the next one reads.
const LONG: usize = 64;

/// Whether a group of points, or a step of theirs, has so much to do that a processor does not come to the next one meanwhile.
pub(super) fn is_long(body: &Body<Mem>) -> bool {
    let mut count = 0;
    all_stms(body, &mut |_| count += 1);
    count >= LONG
}

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

    /// Asks for the rows that the next group reads of a buffer, once: lanes read at places that grow by a constant.
    pub(super) fn rows_soon(
        &mut self,
        group: &mut Group<'_>,
        (buffer, elem): (Var, ScalarType),
        (first, step): (Value, i64),
    ) {
        let row = step.saturating_mul(elem.bytes() as i64);
        if !(group.is_long && (0..=ROW).contains(&row) && group.asked.insert(buffer)) {
            return;
        }
        fired("cpu/rows-soon");
        let width = group.plan.width as i64;
        let next = self.b.ins().iadd_imm_s(first, width * step);
        let start = self.var(buffer);
        let start = self.element(start, elem, next);
        self.ask_for(start, (width * row) as i32);
    }

    /// Asks for the beginnings of the rows of the next group, whose points are as far apart as those of this one.
    pub(super) fn next_rows(&mut self, starts: &[Value]) {
        let [first, second, ..] = *starts else {
            return;
        };
        if self.parts == 1 {
            return;
        }
        fired("cpu/rows-soon");
        let row = self.b.ins().isub(second, first);
        let all = self.b.ins().imul_imm_s(row, starts.len() as i64);
        for start in starts {
            let next = self.b.ins().iadd(*start, all);
            self.ask_for(next, 1);
        }
    }
}
