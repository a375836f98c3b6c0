//! Counts in few buckets. Where many points go to the same bucket each would wait for the one before, so the numbers of their buckets are gathered
//! in memory that is near until there are enough of them, made bytes, and compared with the number of each bucket, a whole register at a time.
//!
//! ```text
//! for each group of points:                 for each group of points: near[filled..] = b; filled += points
//!   for each b of the group:                when that is full:
//!     bucket[b] += 1              ──►         bytes = u8 near
//!                                             for k < buckets: bucket[k] += number of bytes equal to k
//! ```
//!
//! The points of a last group that are done already are the last ones that were gathered, and written over.

use super::strips::{Source, Strips, Target};
use crate::emit::lanes::Plan;
use crate::emit::memory::REGISTER;
use crate::emit::{Emit, clif, plain};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Value, types};
use midend::fired::fired;
use midend::ir::id::Var;
use midend::ir::mem::{Kernel, MemHist};
use midend::ir::scalar::Const;
use midend::ir::syntax::Atom;
use midend::ir::types::ScalarType;

/// So many buckets are compared with at most, since a byte costs as much for each of them.
const BUCKETS: i64 = 32;
/// Points that are gathered. Those of a register that are at the same place in words are no more than 255 together.
const POINTS: i64 = 1024;
/// How many parts a register has whose comparisons have results in masks. In narrower ones this takes as long as to count one after the other.
const PARTS: usize = 4;
/// Registers of bytes that are compared in one turn of a loop.
const TOGETHER: i32 = 4;

/// What is gathered, and where.
#[derive(Clone, Copy)]
pub(super) struct Gathered {
    /// The memory that groups write to, the type of what it holds, and its address.
    near: Var,
    elem: ScalarType,
    start: Value,
    /// Where the number of points in it is.
    filled: Value,
    /// Room for bytes, and for those of one register.
    bytes: Value,
    buckets: i64,
    /// What a point adds.
    each: Const,
}

/// The buckets and what each point adds, if a histogram of such points counts in few buckets.
fn counts(
    kernel: &Kernel,
    (job, parts): (&Strips, usize),
    hist: &MemHist,
) -> Option<(Var, i64, Const)> {
    let (&[Source::Near(near, _), Source::Given(Atom::Const(each))], Some(buckets)) =
        (&job.results[..], hist.buckets.as_i64())
    else {
        return None;
    };
    if parts != PARTS {
        return None;
    }
    let in_turn = super::tables::tables(kernel, std::slice::from_ref(hist)) > 1;
    (in_turn && (1..=BUCKETS).contains(&buckets)).then_some((near, buckets, each))
}

impl Emit<'_, '_> {
    /// Room for what is gathered, if a histogram counts in few buckets.
    pub(super) fn few_buckets(
        &mut self,
        kernel: &Kernel,
        job: &Strips,
        hist: &MemHist,
    ) -> Option<Gathered> {
        let (near, buckets, each) = counts(kernel, (job, self.parts), hist)?;
        fired("cpu/buckets-compared");
        let elem = self.elem(near);
        // A group before, of whose points some are written again, and one behind.
        let room = (POINTS + 2 * REGISTER) * elem.bytes() as i64;
        let start = self.aligned_slot(room);
        let start = self
            .b
            .ins()
            .iadd_imm_s(start, REGISTER * elem.bytes() as i64);
        let bytes = self.aligned_slot(POINTS + REGISTER);
        let filled = self.stack_slot(8);
        let zero = self.i64(0);
        self.b.ins().store(plain(), zero, filled, 0);
        Some(Gathered {
            near,
            elem,
            start,
            filled,
            bytes,
            buckets,
            each,
        })
    }

    /// Has a group put its buckets behind those that are gathered, but for so many points that are done, and counts when there are enough.
    pub(super) fn gather(
        &mut self,
        (all, plan): (Gathered, &Plan),
        done: Value,
        target: Target<'_>,
        group: impl FnOnce(&mut Self),
    ) {
        let filled = self.b.ins().load(types::I64, plain(), all.filled, 0);
        let first = self.b.ins().isub(filled, done);
        let near = self.element(all.start, all.elem, first);
        self.bind(all.near, near);
        group(self);
        let filled = self.b.ins().iadd_imm_s(first, plan.width as i64);
        self.b.ins().store(plain(), filled, all.filled, 0);
        let [full, next] = [(); 2].map(|()| self.b.create_block());
        let more = IntCC::SignedGreaterThanOrEqual;
        let enough = self.b.ins().icmp_imm_s(more, filled, POINTS);
        self.b.ins().brif(enough, full, &[], next, &[]);
        self.b.switch_to_block(full);
        self.count_gathered(all, target);
        let [zero, points] = [0, POINTS].map(|n| self.i64(n));
        let rest = self.b.ins().isub(filled, points);
        self.few((zero, rest), &[], |emit, i, _| {
            let to = emit.element(all.start, all.elem, i);
            let behind = (POINTS * all.elem.bytes() as i64) as i32;
            let bucket = emit.b.ins().load(clif(all.elem), plain(), to, behind);
            emit.b.ins().store(plain(), bucket, to, 0);
            vec![]
        });
        self.b.ins().store(plain(), rest, all.filled, 0);
        self.b.ins().jump(next, &[]);
        self.b.switch_to_block(next);
    }

    /// Counts what is gathered when there is no more.
    pub(super) fn count_rest(&mut self, all: Gathered, target: Target<'_>) {
        let each = self.atom(Atom::Const(all.each));
        let filled = self.b.ins().load(types::I64, plain(), all.filled, 0);
        let zero = self.i64(0);
        self.few((zero, filled), &[], |emit, i, _| {
            let place = emit.element(all.start, all.elem, i);
            let bucket = emit.b.ins().load(clif(all.elem), plain(), place, 0);
            let bucket = match all.elem.bytes() {
                4 => emit.b.ins().sextend(types::I64, bucket),
                _ => bucket,
            };
            let table = &target.tables[0];
            emit.bucket(target.hist, bucket, target.limits, table, &[each]);
            vec![]
        });
    }

    /// Adds how many of the gathered points go to each bucket.
    fn count_gathered(&mut self, all: Gathered, target: Target<'_>) {
        let (table, elem) = (target.tables[0][0], all.each.ty());
        self.make_bytes(all);
        let [none, one] = [0, 1].map(|n| self.lanes_of(types::I8X16, &[n; 16]));
        let [zero, buckets, end] = [0, all.buckets, POINTS].map(|n| self.i64(n));
        let scratch = self.b.ins().iadd_imm_s(all.bytes, POINTS);
        self.few((zero, buckets), &[none], |emit, k, wanted| {
            let step = REGISTER * i64::from(TOGETHER);
            let sums = emit.few_by(step, (zero, end), &[none, none], |emit, at, sums| {
                let mut sums = sums.to_vec();
                let from = emit.b.ins().iadd(all.bytes, at);
                for j in 0..TOGETHER {
                    let offset = j * REGISTER as i32;
                    let found = emit.b.ins().load(types::I8X16, plain(), from, offset);
                    let equal = emit.b.ins().icmp(IntCC::Equal, found, wanted[0]);
                    let sum = &mut sums[j as usize % 2];
                    let more = emit.b.ins().iadd(*sum, one);
                    *sum = emit.blended(&[equal], &[more], &[*sum])[0];
                }
                sums
            });
            let sum = emit.b.ins().iadd(sums[0], sums[1]);
            emit.b.ins().store(plain(), sum, scratch, 0);
            let number = emit.sum_of_bytes(scratch);
            let more = emit.b.ins().imul_imm_s(number, all.each.word() as i64);
            let more = match clif(elem) {
                types::I64 => more,
                ty => emit.b.ins().ireduce(ty, more),
            };
            let bucket = emit.element(table, elem, k);
            let old = emit.b.ins().load(clif(elem), plain(), bucket, 0);
            let new = emit.b.ins().iadd(old, more);
            emit.b.ins().store(plain(), new, bucket, 0);
            vec![emit.b.ins().iadd(wanted[0], one)]
        });
    }

    /// Makes bytes of what is gathered: all ones of what is no byte, which is no bucket.
    fn make_bytes(&mut self, all: Gathered) {
        let size = all.elem.bytes() as i64;
        let (lanes, unsigned) = match all.elem.bytes() {
            4 => (types::I32X4, ScalarType::U32),
            _ => (types::I64X2, ScalarType::U64),
        };
        let [none, outside] = [0, 0xff].map(|n| self.lanes_of(lanes, &[n; 16]));
        let shift = self.b.ins().iconst(types::I32, 8);
        let [zero, end] = [0, POINTS].map(|n| self.i64(n));
        self.few_by(REGISTER, (zero, end), &[], |emit, at, _| {
            let from = emit.element(all.start, all.elem, at);
            let numbers = (0..size).map(|j| {
                let offset = (j * REGISTER) as i32;
                let number = emit.b.ins().load(lanes, plain(), from, offset);
                let upper = emit.b.ins().ushr(number, shift);
                let is_byte = emit.b.ins().icmp(IntCC::Equal, upper, none);
                emit.blended(&[is_byte], &[number], &[outside])[0]
            });
            let numbers = numbers.collect();
            let bytes = emit.resized(numbers, unsigned, ScalarType::U8, PARTS);
            let to = emit.b.ins().iadd(all.bytes, at);
            emit.b.ins().store(plain(), bytes[0], to, 0);
            vec![]
        });
    }

    /// The sum of the bytes of a register in memory, of which those at the same place in all words are less than 256 together.
    fn sum_of_bytes(&mut self, start: Value) -> Value {
        let word = |emit: &mut Self, at: i32| emit.b.ins().load(types::I64, plain(), start, at);
        let mut sum = word(self, 0);
        for at in (8..REGISTER as i32).step_by(8) {
            let next = word(self, at);
            sum = self.b.ins().iadd(sum, next);
        }
        let [even, ones] = [0x00ff_00ff_00ff_00ff, 0x0001_0001_0001_0001].map(|n| self.i64(n));
        let odd = self.b.ins().ushr_imm_u(sum, 8);
        let [odd, sum] = [odd, sum].map(|half| self.b.ins().band(half, even));
        let pairs = self.b.ins().iadd(odd, sum);
        let product = self.b.ins().imul(pairs, ones);
        self.b.ins().ushr_imm_u(product, 48)
    }
}
