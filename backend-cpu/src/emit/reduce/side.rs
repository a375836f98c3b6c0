//! Reductions of points that are not put in vectors, as they find what they add up one by one: several points side by side, each with
//! a sum of its own, so that none waits for the sum of the one before.
//!
//! ```text
//! for e: s += as[e] * x[js[e]]   ──►   for e in steps of 4: s0 += as[e] * x[js[e]], s1 += as[e + 1] * x[js[e + 1]], ..
//! ```

use crate::emit::{Emit, block_args, control, fixed};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, MemFlagsData, Value};
use midend::ir::mem::{Kernel, Mem};
use midend::ir::scalar::{BinOp, Const, ScalarOp};
use midend::ir::soac::Operator;
use midend::ir::syntax::{Atom, Exp, Stm};
use midend::ir::types::ScalarType;

/// Points side by side, at most.
const POINTS: usize = 4;
/// Windows of this are masks of points of which so many, the last ones, count.
static LAST: [u64; 2 * POINTS - 1] = [0, 0, 0, !0, !0, !0, !0];
/// The most statements of a point.
const STATEMENTS: usize = 24;

/// How many points of a reduction are worked on side by side, if that pays: their operators may be exchanged, and they load something
/// and do nothing but arithmetic with it.
pub(super) fn points(kernel: &Kernel, ops: &[Operator<Mem>]) -> Option<usize> {
    let stms = &kernel.body.stms;
    let loads = stms
        .iter()
        .any(|stm| matches!(stm.exp, Exp::Op(Mem::Load { .. })));
    let operators = ops.iter().all(|op| {
        let stms = &op.lam.body.stms;
        op.comm && stms.len() <= 2 && stms.iter().all(is_simple)
    });
    let sums: usize = ops.iter().map(|op| op.neutral.len()).sum();
    // A reduction of nothing, which is there for its checks, has no sums.
    let points = POINTS.checked_div(sums)?;
    (loads && is_little(kernel, ops) && operators && points > 1).then_some(points)
}

/// Whether points and operators do little: arithmetic and loads.
pub(super) fn is_little(kernel: &Kernel, ops: &[Operator<Mem>]) -> bool {
    let operators = ops.iter().flat_map(|op| &op.lam.body.stms);
    let mut stms = kernel.body.stms.iter().chain(operators);
    stms.clone().count() <= STATEMENTS && stms.all(is_simple)
}

fn is_simple(stm: &Stm<Mem>) -> bool {
    match &stm.exp {
        Exp::Atom(_) | Exp::Scalar(..) | Exp::Assert { .. } | Exp::Op(Mem::Load { .. }) => true,
        Exp::Guard { .. }
        | Exp::If { .. }
        | Exp::Loop { .. }
        | Exp::Call { .. }
        | Exp::Op(
            Mem::Alloc { .. }
            | Mem::Free(_)
            | Mem::Apart(_)
            | Mem::Store { .. }
            | Mem::Copy { .. }
            | Mem::Launch(_)
            | Mem::Trace(_)
            | Mem::Stream(_),
        ) => false,
    }
}

/// Whether an operator adds, so that zeros change nothing.
fn adds(op: &Operator<Mem>) -> bool {
    let body = &op.lam.body;
    let [stm] = &body.stms[..] else { return false };
    let add = matches!(stm.exp, Exp::Scalar(ScalarOp::Bin(BinOp::Add, _), _));
    let sum = body.result.len() == 1 && body.result[0].as_var() == stm.binds.first().copied();
    let zero = |atom: &Atom| matches!(atom, Atom::Const(c) if *c == Const::zero(c.ty()));
    add && sum && op.neutral.iter().all(zero)
}

impl Emit<'_, '_> {
    /// Reduces a range of points, `points` at a time. The last time some of them may be the last one once more, whose values nobody
    /// takes: how many are left over differs from row to row, and a loop over them would end where the processor does not expect it.
    pub(super) fn reduce_side_by_side(
        &mut self,
        kernel: &Kernel,
        ops: &[Operator<Mem>],
        points: usize,
        neutral: &[Value],
        (first, last): (Value, Value),
    ) -> Vec<Value> {
        let count = neutral.len();
        let types = self.types_of(neutral);
        let (some, done) = (self.b.create_block(), self.b.create_block());
        let results = self.params(done, &types);
        let any = self.b.ins().icmp(IntCC::SignedLessThan, first, last);
        let none = block_args(neutral.iter().copied());
        self.b.ins().brif(any, some, &[], done, &none);

        self.b.switch_to_block(some);
        let end = self.b.ins().iadd_imm_s(last, -1);
        let before = self.b.ins().isub(end, first);
        let shift = i64::from(points.trailing_zeros());
        let steps = self.b.ins().sshr_imm_u(before, shift);
        let strip = control::strip(&kernel.body);
        let starts = neutral.repeat(points);
        let sums = self.counted(
            ScalarType::I64,
            steps,
            strip,
            &starts,
            |emit, step, sums| {
                let ahead = emit.b.ins().ishl_imm_u(step, shift);
                let start = emit.b.ins().iadd(first, ahead);
                let mut next = Vec::new();
                for (point, sums) in sums.chunks(count).enumerate() {
                    let at = emit.b.ins().iadd_imm_s(start, point as i64);
                    next.extend(emit.point_added(kernel, ops, at, sums));
                }
                next
            },
        );
        let ahead = self.b.ins().ishl_imm_u(steps, shift);
        let start = self.b.ins().iadd(first, ahead);
        let sums = self.left_over(kernel, ops, &sums, (start, last));
        self.b.ins().jump(done, &block_args(sums));
        self.b.switch_to_block(done);
        results
    }

    /// The same for the points of a row that are in a piece, of which there are some, but not so many that it should look at the stop
    /// flag. The last time these are the last ones of the row, of which some were there before and do not count; only rows of less
    /// than `points` do the last one more than once.
    pub(super) fn reduce_few_side_by_side(
        &mut self,
        kernel: &Kernel,
        ops: &[Operator<Mem>],
        points: usize,
        neutral: &[Value],
        (first, last): (Value, Value),
    ) -> Vec<Value> {
        let count = neutral.len();
        let end = self.b.ins().iadd_imm_s(last, -1);
        let before = self.b.ins().isub(end, first);
        let over = points as i64 - 1;
        let rest = self.b.ins().band_imm_s(before, over);
        let limit = self.b.ins().isub(end, rest);
        let starts = neutral.repeat(points);
        let step = points as i64;
        let sums = self.few_by(step, (first, limit), &starts, |emit, start, sums| {
            let mut next = Vec::new();
            for (point, sums) in sums.chunks(count).enumerate() {
                let at = emit.b.ins().iadd_imm_s(start, point as i64);
                next.extend(emit.point_added(kernel, ops, at, sums));
            }
            next
        });
        if !ops.iter().all(adds) {
            return self.left_over(kernel, ops, &sums, (limit, last));
        }
        let [long, short, done] = [(); 3].map(|()| self.b.create_block());
        let types = self.types_of(neutral);
        let results = self.params(done, &types);
        let has_several = IntCC::SignedGreaterThanOrEqual;
        let is_long = self.b.ins().icmp_imm_s(has_several, before, over);
        self.b.ins().brif(is_long, long, &[], short, &[]);

        self.b.switch_to_block(short);
        let all = self.left_over(kernel, ops, &sums, (limit, last));
        self.b.ins().jump(done, &block_args(all));

        self.b.switch_to_block(long);
        let windows = self.i64(LAST.as_ptr() as i64);
        let ahead = self.b.ins().ishl_imm_u(rest, 3);
        let window = self.b.ins().iadd(windows, ahead);
        let mut all = Vec::new();
        for (point, sums) in sums.chunks(count).enumerate() {
            let at = self.b.ins().iadd_imm_s(last, point as i64 - step);
            if point + 1 == points {
                all.push(self.point_added(kernel, ops, at, sums));
                continue;
            }
            let place = 8 * (point + POINTS - points) as i32;
            let values = self.point_values(kernel, at);
            let kept = values.into_iter().map(|value| {
                let ty = self.b.func.dfg.value_type(value);
                let mask = self.b.ins().load(ty, fixed(), window, place);
                self.b.ins().band(value, mask)
            });
            let kept: Vec<Value> = kept.collect();
            all.push(self.operate(ops, sums, &kept));
        }
        let all = self.all_added(ops, all);
        self.b.ins().jump(done, &block_args(all));
        self.b.switch_to_block(done);
        results
    }

    /// Adds the points that are left over, at least one and at most as many as there are sums side by side, and then the sums. Some
    /// of them are the last one once more, whose values nobody takes.
    fn left_over(
        &mut self,
        kernel: &Kernel,
        ops: &[Operator<Mem>],
        sums: &[Value],
        (start, last): (Value, Value),
    ) -> Vec<Value> {
        let count = ops.iter().map(|op| op.neutral.len()).sum();
        let end = self.b.ins().iadd_imm_s(last, -1);
        let zeros_do_nothing = ops.iter().all(adds);
        let mut all = Vec::new();
        for (point, sums) in sums.chunks(count).enumerate() {
            if point == 0 {
                all.push(self.point_added(kernel, ops, start, sums));
                continue;
            }
            let at = self.b.ins().iadd_imm_s(start, point as i64);
            if zeros_do_nothing {
                // Minus one where there is a point, else zero.
                let beyond = self.b.ins().isub(at, last);
                let there = self.b.ins().sshr_imm_u(beyond, 63);
                let at = self.b.ins().smin(at, end);
                let values = self.point_values(kernel, at);
                let kept = values.into_iter().map(|value| self.kept(there, value));
                let kept: Vec<Value> = kept.collect();
                all.push(self.operate(ops, sums, &kept));
                continue;
            }
            let there = self.b.ins().icmp(IntCC::SignedLessThan, at, last);
            let at = self.b.ins().select(there, at, end);
            let added = self.point_added(kernel, ops, at, sums);
            let chosen = added.into_iter().zip(sums);
            all.push(
                chosen
                    .map(|(new, old)| self.chosen(there, new, *old))
                    .collect(),
            );
        }
        self.all_added(ops, all)
    }

    /// The sums of several tuples.
    fn all_added(&mut self, ops: &[Operator<Mem>], mut all: Vec<Vec<Value>>) -> Vec<Value> {
        while all.len() > 1 {
            let second = all.split_off(all.len() / 2);
            for (first, second) in all.iter_mut().zip(second) {
                *first = self.operate(ops, first, &second);
            }
        }
        all.pop().unwrap_or_default()
    }

    fn point_added(
        &mut self,
        kernel: &Kernel,
        ops: &[Operator<Mem>],
        at: Value,
        sums: &[Value],
    ) -> Vec<Value> {
        let values = self.point_values(kernel, at);
        self.operate(ops, sums, &values)
    }

    fn point_values(&mut self, kernel: &Kernel, at: Value) -> Vec<Value> {
        let (index, _) = *kernel.space.last().expect("reductions have a dimension");
        self.bind(index, at);
        self.body(&kernel.body)
    }

    /// The value where a mask has all bits, zero where it has none.
    fn kept(&mut self, mask: Value, value: Value) -> Value {
        let ty = self.b.func.dfg.value_type(value);
        let bits = ty.as_int();
        let mask = match bits.bits() {
            64 => mask,
            _ => self.b.ins().ireduce(bits, mask),
        };
        if !ty.is_float() {
            return self.b.ins().band(value, mask);
        }
        let mask = self.b.ins().bitcast(ty, MemFlagsData::new(), mask);
        self.b.ins().band(value, mask)
    }

    /// The one value or the other, without a branch.
    fn chosen(&mut self, cond: Value, yes: Value, no: Value) -> Value {
        let ty = self.b.func.dfg.value_type(yes);
        if !ty.is_float() {
            return self.b.ins().select(cond, yes, no);
        }
        let mask = self.b.ins().bmask(ty.as_int(), cond);
        let mask = self.b.ins().bitcast(ty, MemFlagsData::new(), mask);
        self.b.ins().bitselect(mask, yes, no)
    }
}
