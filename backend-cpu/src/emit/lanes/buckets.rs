//! Histograms of rows: points of a row whose values go to buckets side by side, as those of the next row go to others.
//!
//! ```text
//! for each row i: for each column j:         for each row i: for each group of columns from j on:
//!   b = j + m * c[i]                   ──►      b = j + m * c[i]
//!   bucket[b] += x[i, j]                        bucket[b..] += x[i, j..], if all of these are buckets
//! ```
//!
//! The buckets of a group differ, and every bucket gets its values in the order of the rows, so results are the same to the bit.

use super::choose::Finder;
use super::plan::Plan;
use super::{Emit, Group, Lanes};
use crate::emit::divided::Divided;
use crate::emit::plain;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Value};
use midend::ir::id::Var;
use midend::ir::mem::{Kernel, Mem, MemHist};
use midend::ir::scalar::{BinOp, CmpOp, Const, ScalarOp};
use midend::ir::soac::Operator;
use midend::ir::syntax::{Atom, Body, Exp, Stm, Vars};
use midend::ir::types::ScalarType;
use midend::ir::walk::{all_stms, free_in_stm};
use std::collections::BTreeSet;

/// How the columns of a row are worked on together.
pub(in crate::emit) struct Buckets {
    pub(in crate::emit) plan: Plan,
    /// The number of a point, and its column.
    number: Var,
    column: Var,
    /// What is computed of points.
    body: Body<Mem>,
    /// What must hold for any bucket to be there; the same for a whole row.
    conds: Vec<Atom>,
    /// The bucket.
    index: Atom,
    values: Vec<Atom>,
}

/// How the columns of rows are worked on together, if their buckets lie side by side and nothing else is done.
pub(in crate::emit) fn buckets(
    vars: &Vars,
    (kernel, hists): (&Kernel, &[MemHist]),
    rows: &Divided,
    asked: usize,
) -> Option<Buckets> {
    let ([hist], Some((bucket, values))) = (hists, rows.body.result.split_first()) else {
        return None;
    };
    let mut alone = true;
    all_stms(&rows.body, &mut |stm| {
        alone &= match &stm.exp {
            Exp::Atom(_) | Exp::Scalar(..) | Exp::Assert { .. } | Exp::If { .. } => true,
            Exp::Op(op) => matches!(op, Mem::Load { .. }),
            Exp::Guard { .. } | Exp::Loop { .. } | Exp::Call { .. } => false,
        };
    });
    if !alone {
        return None;
    }
    let mut conds = Vec::new();
    let index = match scalar(&rows.body, *bucket) {
        Some((ScalarOp::Select(ScalarType::I64), [cond, index, Atom::Const(Const::I64(none))]))
            if *none < 0 =>
        {
            conditions(rows, *cond, &mut conds);
            *index
        }
        Some(_) | None => *bucket,
    };
    let mut job = Buckets {
        plan: Plan::of_lanes(1, 1, BTreeSet::new()),
        number: rows.number,
        column: rows.column,
        body: rows.body.clone(),
        conds,
        index,
        values: values.to_vec(),
    };
    job.keep_needed(vars);
    job.plan = plan_buckets(
        kernel,
        (rows.number, rows.column),
        &hist.op,
        &job,
        (vars, asked),
    )?;
    Some(job)
}

/// The plan for columns of rows whose values go to buckets side by side: one register of what has most lanes.
fn plan_buckets(
    kernel: &Kernel,
    (number, column): (Var, Var),
    op: &Operator<Mem>,
    job: &Buckets,
    (vars, asked): (&Vars, usize),
) -> Option<Plan> {
    [true, false].into_iter().find_map(|integers| {
        let mut finder = Finder::new(kernel, vars, integers)?;
        finder.varying.extend([number, column]);
        finder.unit.extend([number, column]);
        finder.body(&job.body)?;
        finder.operator(op)?;
        let linear = job.index.as_var().is_some_and(|v| finder.unit.contains(&v));
        let alike = job.conds.iter().all(|cond| !finder.varies(*cond));
        let counts = finder.counts;
        let plain = counts.loops == 0 && counts.apart == 0 && counts.finding == 0;
        let plan = finder.plan(asked).filter(|_| linear && alike && plain)?;
        let width = counts.most * plan.parts;
        Some(Plan { width, ..plan })
    })
}

/// The operation that computes a number.
pub(in crate::emit) fn scalar(body: &Body<Mem>, atom: Atom) -> Option<(ScalarOp, &[Atom])> {
    let binds = |stm: &&Stm<Mem>| stm.binds.first().is_some_and(|v| Atom::Var(*v) == atom);
    match &body.stms.iter().find(binds)?.exp {
        Exp::Scalar(op, args) => Some((*op, args)),
        Exp::Atom(_)
        | Exp::Assert { .. }
        | Exp::Guard { .. }
        | Exp::If { .. }
        | Exp::Loop { .. }
        | Exp::Call { .. }
        | Exp::Op(_) => None,
    }
}

/// What a condition is made of, without what holds for every column of a row.
pub(in crate::emit) fn conditions(rows: &Divided, cond: Atom, all: &mut Vec<Atom>) {
    let number = |atom: Atom| match scalar(&rows.body, atom) {
        Some((ScalarOp::Convert(ScalarType::I64, ScalarType::U64), args)) => args[0],
        Some(_) | None => atom,
    };
    match scalar(&rows.body, cond) {
        Some((ScalarOp::Bin(BinOp::And, ScalarType::Bool), args)) => {
            for cond in args {
                conditions(rows, *cond, all);
            }
        }
        Some((ScalarOp::Cmp(CmpOp::Lt, ScalarType::U64), args))
            if number(args[0]) == Atom::Var(rows.column) && number(args[1]) == rows.length => {}
        Some(_) | None => all.push(cond),
    }
}

impl Buckets {
    /// Leaves out what nothing is computed of.
    fn keep_needed(&mut self, vars: &Vars) {
        let wanted = self.conds.iter().chain(&self.values).chain([&self.index]);
        let mut needed: BTreeSet<Var> = wanted.filter_map(|atom| atom.as_var()).collect();
        let mut stms = std::mem::take(&mut self.body.stms);
        while let Some(stm) = stms.pop() {
            let is_check = matches!(stm.exp, Exp::Assert { .. });
            if is_check || stm.binds.iter().any(|v| needed.contains(v)) {
                needed.extend(free_in_stm(vars, &stm));
                self.body.stms.push(stm);
            }
        }
        self.body.stms.reverse();
        self.body.result.clear();
    }
}

impl Emit<'_, '_> {
    /// A group of columns of a row: the first has this number and this column. Where some of the buckets are not there, the columns
    /// are left to `alone`, which gets where they begin and end.
    pub(in crate::emit) fn group_of_buckets(
        &mut self,
        (job, hist): (&Buckets, &MemHist),
        (number, column): (Value, Value),
        (first, count): (Option<Value>, Value),
        places: &[Value],
        alone: impl FnOnce(&mut Self, (Value, Value)),
    ) {
        let mut group = Group::new(&job.plan, job.column, column);
        group.lanes.insert(job.number, Lanes::Linear(number, 1));
        self.lanes_body(&mut group, &job.body);
        let bucket = self.linear_operand(&group, job.index);
        let (bucket, _) = bucket.expect("buckets of a plan grow from lane to lane");
        let ahead = match first {
            Some(first) => self.b.ins().isub(bucket, first),
            None => bucket,
        };
        let width = job.plan.width as i64;
        let last = self.b.ins().iadd_imm_s(ahead, width - 1);
        let mut exist = self.b.ins().icmp(IntCC::UnsignedLessThan, ahead, count);
        let so_far = self.b.ins().icmp(IntCC::UnsignedLessThan, last, count);
        exist = self.b.ins().band(exist, so_far);
        for cond in &job.conds {
            let holds = self.atom(*cond);
            exist = self.b.ins().band(exist, holds);
        }
        let [together, apart, done] = [(); 3].map(|()| self.b.create_block());
        self.b.ins().brif(exist, together, &[], apart, &[]);
        self.b.switch_to_block(together);
        let tys: Vec<ScalarType> = hist.op.lam.params[..places.len()]
            .iter()
            .map(|param| self.elem(*param))
            .collect();
        let (mut targets, mut old, mut new) = (Vec::new(), Vec::new(), Vec::new());
        for ((place, ty), value) in places.iter().zip(&tys).zip(&job.values) {
            let target = self.element(*place, *ty, bucket);
            let stride = ty.bytes() as i64;
            if let Lanes::Packed(vectors) = self.lanes_load(&group, *ty, target, stride) {
                old.extend(vectors);
            }
            new.extend(self.packed(&mut group, *value));
            targets.push(target);
        }
        let op = std::slice::from_ref(&hist.op);
        let combined = self.operate_lanes(&mut group, op, (&old, &new));
        let mut rest = combined.as_slice();
        for (target, ty) in targets.into_iter().zip(&tys) {
            let (mine, others) = rest.split_at(job.plan.vectors(*ty).unwrap_or_default());
            for (i, vector) in mine.iter().enumerate() {
                let offset = job.plan.step() * i as i32;
                self.b.ins().store(plain(), *vector, target, offset);
            }
            rest = others;
        }
        self.b.ins().jump(done, &[]);
        self.b.switch_to_block(apart);
        let end = self.b.ins().iadd_imm_s(column, width);
        alone(self, (column, end));
        self.b.ins().jump(done, &[]);
        self.b.switch_to_block(done);
    }
}
