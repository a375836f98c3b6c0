//! Reductions of ragged rows: what is the same for all points of a row is done once for the row, and where all of its points are
//! inside of what they index, they do not look one by one.
//!
//! ```text
//! red (i < n, e in offs) {                       for each row i with points:
//!   b = load begins[i]                             b = load begins[i]
//!   at = b + e                                     if 0 <= b && b + length <= m {
//!   assert 0 <= at && at < m              ──►        for each e: x = load xs[b + e] ..
//!   x = load xs[at] ..                             } else { as it was }
//! ```

use super::side;
use crate::emit::lanes::{Interior, Plan, reduction_plan};
use crate::emit::{Emit, block_args, clif, control};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Value};
use midend::ir::id::Var;
use midend::ir::mem::{Extent, Kernel, Mem};
use midend::ir::soac::Operator;
use midend::ir::syntax::{Exp, Stm, Vars};
use midend::ir::walk::free_in_stm;
use std::collections::BTreeSet;

/// A reduction of ragged rows, taken apart.
pub(super) struct Rows {
    /// What is done once for a row that has points.
    early: Vec<Stm<Mem>>,
    /// What its points do.
    kernel: Kernel,
    /// What those of rows do that are inside of all they index.
    interior: Option<Interior>,
    /// How these are worked on in lanes, or all if there is no difference.
    pub(super) plan: Option<Plan>,
}

impl Rows {
    pub(super) fn new(kernel: &Kernel, ops: &[Operator<Mem>], vars: &Vars, asked: usize) -> Self {
        let mut kernel = kernel.clone();
        name_starts(&mut kernel);
        let early = take_early(&mut kernel, vars);
        let (plan, interior) = reduction_plan(&kernel, ops, vars, asked);
        Self {
            early,
            kernel,
            interior,
            plan,
        }
    }
}

/// Where a row starts is known, and not loaded again.
fn name_starts(kernel: &mut Kernel) {
    let [
        (row, Extent::Regular(_)),
        (_, Extent::Ragged { offsets, start }),
    ] = kernel.space[..]
    else {
        return;
    };
    for stm in &mut kernel.body.stms {
        if let Exp::Op(Mem::Load { buffer, index }) = &stm.exp
            && *buffer == offsets
            && index.as_var() == Some(row)
        {
            stm.exp = Exp::Atom(start.into());
        }
    }
}

/// Takes the statements out of a body that are the same for all points of a row. A check stays behind one that is not, so that
/// the same one as ever fails first; so does a load that names no check of its own: that one may be why it is safe.
fn take_early(kernel: &mut Kernel, vars: &Vars) -> Vec<Stm<Mem>> {
    let mut varying: BTreeSet<Var> = kernel.space.last().map(|(i, _)| *i).into_iter().collect();
    let (mut early, mut late) = (Vec::new(), Vec::new());
    let mut checked = false;
    for stm in std::mem::take(&mut kernel.body.stms) {
        let simple = match &stm.exp {
            Exp::Atom(_) => true,
            Exp::Scalar(op, args) => control::is_cheap_scalar(*op, args),
            Exp::Op(Mem::Load { .. }) => !checked || !stm.certs.is_empty(),
            Exp::Assert { .. } => !checked,
            Exp::Guard { .. }
            | Exp::If { .. }
            | Exp::Loop { .. }
            | Exp::Call { .. }
            | Exp::Op(_) => false,
        };
        let free = free_in_stm(vars, &stm);
        if simple && !free.iter().any(|v| varying.contains(v)) {
            early.push(stm);
            continue;
        }
        checked |= !matches!(
            stm.exp,
            Exp::Atom(_) | Exp::Scalar(..) | Exp::Op(Mem::Load { .. })
        );
        varying.extend(stm.binds.iter().copied());
        late.push(stm);
    }
    kernel.body.stms = late;
    early
}

impl Emit<'_, '_> {
    /// Reduces the points of a row, or of as much of it as is in a piece.
    pub(super) fn reduce_points(
        &mut self,
        rows: &Rows,
        ops: &[Operator<Mem>],
        range: (Value, Value),
    ) -> Vec<Value> {
        let tys = crate::emit::kernel::components(self.program, ops);
        let neutral = self.neutral(ops);
        let (some, done) = (self.b.create_block(), self.b.create_block());
        let types: Vec<_> = tys.iter().map(|ty| clif(*ty)).collect();
        let results = self.params(done, &types);
        let any = self.b.ins().icmp(IntCC::SignedLessThan, range.0, range.1);
        self.b
            .ins()
            .brif(any, some, &[], done, &block_args(neutral));
        self.b.switch_to_block(some);
        for stm in &rows.early {
            self.stm(stm);
        }
        let plan = rows.plan.as_ref();
        let Some(interior) = &rows.interior else {
            let sums = self.reduce_part(&rows.kernel, ops, plan, range);
            self.b.ins().jump(done, &block_args(sums));
            self.b.switch_to_block(done);
            return results;
        };
        let outside = self.b.create_block();
        self.b.set_cold_block(outside);
        self.all_inside(interior, range, |emit, holds| {
            let next = emit.b.create_block();
            emit.b.ins().brif(holds, next, &[], outside, &[]);
            emit.b.switch_to_block(next);
        });
        let sums = self.reduce_part(&interior.kernel, ops, plan, range);
        self.b.ins().jump(done, &block_args(sums));
        self.b.switch_to_block(outside);
        let sums = self.reduce_part(&rows.kernel, ops, None, range);
        self.b.ins().jump(done, &block_args(sums));
        self.b.switch_to_block(done);
        results
    }

    /// Reduces points of a row, of which there are some.
    fn reduce_part(
        &mut self,
        kernel: &Kernel,
        ops: &[Operator<Mem>],
        plan: Option<&Plan>,
        range: (Value, Value),
    ) -> Vec<Value> {
        match side::points(kernel, ops) {
            Some(points) if plan.is_none() => {
                let neutral = self.neutral(ops);
                self.reduce_few_side_by_side(kernel, ops, points, &neutral, range)
            }
            Some(_) | None => self.reduce_row(kernel, ops, plan, range),
        }
    }
}
