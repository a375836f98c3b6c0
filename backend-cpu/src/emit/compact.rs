//! Scans that count the points which are kept, and store something of those one after the other (filters).
//!
//! Whether a point is kept is not foreseen, so that there is no branch: each point stores to where the next one that is kept goes, and
//! one that is not is written over. What lies beyond the last one that is kept belongs to other points, which other threads may have
//! stored. So points store to the stack, a strip of them at a time, and those that are kept are copied from there.
//!
//! ```text
//! let at = sub.i64(place, 1)                   store strip[before - first] = value
//! if keep {                              ──►   ...
//!   store out[at] = value                      copy strip[0..count] to out[first..]
//! }
//! ```

use super::lanes::compressed;
use super::past::{LINE, Strip};
use super::{Emit, plain};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Value, types};
use midend::analysis::filters::Kept;
use midend::ir::mem::{Kernel, Mem};
use midend::ir::soac::Operator;
use midend::ir::syntax::Lambda;
use midend::ir::types::ScalarType;

/// Bytes of the largest register.
const REGISTER: u32 = 64;
/// The points of a strip, a power of two, and the strips between two looks at the stop flag.
const STRIP: i64 = 512;
const STRIPS: i64 = 16;

impl Emit<'_, '_> {
    /// Scans a range of points from a start, and stores those that are kept.
    pub(super) fn scan_kept(
        &mut self,
        kernel: &Kernel,
        (ops, then): (&[Operator<Mem>], &Lambda<Mem>),
        kept: &Kept,
        (start, (lo, hi)): (&[Value], (Value, Value)),
    ) -> Vec<Value> {
        let (index, _) = *kernel.space.last().expect("scans have a dimension");
        let rooms: Vec<Value> = kept
            .stores
            .iter()
            .map(|(buffer, _)| {
                // Whole registers are stored, of which the first elements count.
                let bytes = STRIP as u32 * self.elem(*buffer).bytes() as u32;
                self.stack_slot(bytes + LINE as u32 + REGISTER)
            })
            .collect();
        let vars = self.vars;
        let together = compressed(vars, (kernel, then), kept, self.asked);
        self.parts = together.as_ref().map_or(1, |job| job.plan.parts);
        self.in_lanes = together.is_some();
        let next = self.next_points();
        let points = self.b.ins().isub(hi, lo);
        let rounded = self.b.ins().iadd_imm_s(points, STRIP - 1);
        let count = self.b.ins().sshr_imm_u(rounded, i64::from(STRIP.ilog2()));
        let zero = self.i64(0);
        self.range(
            ScalarType::I64,
            (zero, count),
            STRIPS,
            start,
            |emit, strip, before| {
                let first = before[0];
                let stores = kept.stores.iter().zip(&rooms);
                let strips: Vec<Strip> = stores
                    .map(|((buffer, _), room)| {
                        let place = (emit.var(*buffer), emit.elem(*buffer));
                        emit.strip_for(*room, place, (start[0], first))
                    })
                    .collect();
                let starts: Vec<Value> = strips.iter().map(|strip| strip.start).collect();
                let from = emit.b.ins().imul_imm_s(strip, STRIP);
                let from = emit.b.ins().iadd(lo, from);
                let to = emit.b.ins().iadd_imm_s(from, STRIP);
                let to = emit.b.ins().smin(to, hi);
                let mut rest = (from, before.to_vec());
                if let Some(job) = &together {
                    // The last point of all is left, at which there may be more to do.
                    let width = job.plan.width as i64;
                    let length = emit.b.ins().isub(to, from);
                    let is_last = emit.b.ins().icmp(IntCC::Equal, to, hi);
                    let last = emit.b.ins().uextend(types::I64, is_last);
                    let others = emit.b.ins().isub(length, last);
                    let shift = i64::from(width.trailing_zeros());
                    let groups = emit.b.ins().sshr_imm_u(others, shift);
                    rest.1 = emit.few((zero, groups), before, |emit, g, sums| {
                        let ahead = emit.b.ins().imul_imm_s(g, width);
                        let start = emit.b.ins().iadd(from, ahead);
                        let at = emit.b.ins().isub(sums[0], first);
                        emit.ask_for_next(kernel, (start, next), job.plan.width);
                        let count = emit.group_kept(job, (index, start), &starts, at);
                        vec![emit.b.ins().iadd(sums[0], count)]
                    });
                    let done = emit.b.ins().imul_imm_s(groups, width);
                    rest.0 = emit.b.ins().iadd(from, done);
                }
                let sums = emit.few((rest.0, to), &rest.1, |emit, i, sums| {
                    emit.bind(index, i);
                    emit.scoped(&kernel.body, |emit| {
                        let values = emit.body(&kernel.body);
                        let next = emit.operate(ops, sums, &values);
                        let rest = &values[next.len()..];
                        for (param, value) in then.params.iter().zip(next.iter().chain(rest)) {
                            emit.bind(*param, *value);
                        }
                        let at = emit.b.ins().isub(sums[0], first);
                        for (n, stm) in then.body.stms.iter().enumerate() {
                            if n != kept.statement {
                                emit.stm(stm);
                                continue;
                            }
                            for ((buffer, value), strip) in kept.stores.iter().zip(&starts) {
                                let elem = emit.elem(*buffer);
                                let place = emit.element(*strip, elem, at);
                                let value = emit.atom(*value);
                                emit.b.ins().store(plain(), value, place, 0);
                            }
                        }
                        next
                    })
                });
                let length = emit.b.ins().isub(sums[0], first);
                let is_last = emit.b.ins().icmp(IntCC::Equal, to, hi);
                for strip in &strips {
                    emit.copy_strip(strip, length, is_last);
                }
                sums
            },
        )
    }
}
