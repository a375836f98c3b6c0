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
use crate::emit::lanes::{Interior, Plan};
use crate::emit::memory::REGISTER;
use crate::emit::{Emit, clif, plain};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Value, types};
use midend::fired::fired;
use midend::ir::id::Var;
use midend::ir::mem::{Kernel, KernelKind, Mem, MemHist};
use midend::ir::scalar::Const;
use midend::ir::syntax::{Atom, Exp, Stm};
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
    buckets: Value,
    /// What a point adds.
    each: Const,
}

/// Whether a histogram may have few buckets.
fn may_be_few(hist: &MemHist) -> bool {
    let known = hist.buckets.as_i64();
    known.is_none_or(|buckets| (1..=BUCKETS).contains(&buckets))
}

/// Whether a histogram of points that have little to do does nothing but count, maybe in few buckets.
pub(super) fn may_count(kernel: &Kernel, hist: &MemHist) -> bool {
    let adds = kernel.body.result.get(1);
    let counts = adds.is_some_and(|atom| matches!(atom, Atom::Const(_)));
    let plain = |stm: &Stm<Mem>| !matches!(stm.exp, Exp::Assert { .. } | Exp::If { .. });
    let plain = kernel.body.stms.iter().all(plain);
    let in_turn = super::tables::tables(kernel, std::slice::from_ref(hist)) > 1;
    counts && plain && in_turn && may_be_few(hist)
}

/// Where the buckets of a group are put, and what each point adds, if a histogram of such points counts.
fn counts(kernel: &Kernel, (job, parts): (&Strips, usize), hist: &MemHist) -> Option<(Var, Const)> {
    let &[Source::Near(near, _), Source::Given(Atom::Const(each))] = &job.results[..] else {
        return None;
    };
    let in_turn = super::tables::tables(kernel, std::slice::from_ref(hist)) > 1;
    (in_turn && parts == PARTS).then_some((near, each))
}

/// Whether such points are worked on by comparison if their histogram turns out to have few buckets, and one after the other if not.
pub(in crate::emit) fn compares(kernel: &Kernel, job: &Strips, plan: &Plan) -> bool {
    let KernelKind::Hist(hists) = &kernel.kind else {
        return false;
    };
    !super::strips::is_long(kernel) && counts(kernel, (job, plan.parts), &hists[0]).is_some()
}

impl Emit<'_, '_> {
    /// A histogram of points that have little to do: by comparison if there are few buckets.
    pub(in crate::emit) fn hist_by_buckets(
        &mut self,
        (kernel, hists): (&Kernel, &[MemHist]),
        job: (&Strips, &Plan, Option<&Interior>),
        p: &[Value],
    ) {
        let [few, many, done] = [(); 3].map(|()| self.b.create_block());
        let buckets = self.atom(hists[0].buckets);
        let last = self.b.ins().iadd_imm_s(buckets, -1);
        let less = IntCC::UnsignedLessThan;
        let is_few = self.b.ins().icmp_imm_u(less, last, BUCKETS);
        self.b.ins().brif(is_few, few, &[], many, &[]);
        self.b.switch_to_block(many);
        self.hist(kernel, hists, p, None);
        self.b.ins().jump(done, &[]);
        self.b.switch_to_block(few);
        self.hist_in_strips((kernel, &hists[0]), job, p);
        self.b.ins().jump(done, &[]);
        self.b.switch_to_block(done);
    }

    /// Room for what is gathered, if a histogram counts in few buckets.
    pub(super) fn few_buckets(
        &mut self,
        kernel: &Kernel,
        job: &Strips,
        hist: &MemHist,
    ) -> Option<Gathered> {
        let (near, each) = counts(kernel, (job, self.parts), hist)?;
        // Of many points, how many buckets there are was asked before.
        if super::strips::is_long(kernel) && (hist.buckets.as_i64().is_none() || !may_be_few(hist))
        {
            return None;
        }
        let buckets = self.atom(hist.buckets);
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
        let [zero, end] = [0, POINTS].map(|n| self.i64(n));
        let scratch = self.b.ins().iadd_imm_s(all.bytes, POINTS);
        self.few((zero, all.buckets), &[none], |emit, k, wanted| {
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
