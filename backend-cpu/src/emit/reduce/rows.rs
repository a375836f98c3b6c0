//! Reductions of ragged rows: what is the same for all points of a row is done once for the row, and where all of its points are
//! inside of what they index, they do not look one by one.
//!
//! Where the points of all rows lie one after another in what they index, that is seen once for a piece.
//!
//! ```text
//! red (i < n, e in offs) {                       for each row i with points:
//!   b = load begins[i]                             b = load begins[i]
//!   at = b + e                                     if 0 <= b && b + length <= m {
//!   assert 0 <= at && at < m              ──►        for each e: x = load xs[b + e] ..
//!   x = load xs[at] ..                             } else { as it was }
//! ```

use super::side;
use crate::emit::lanes::{Interior, Lifted, Plan, reduction_plan};
use crate::emit::{Emit, block_args, control, plain, ragged};
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
    plan: Option<Plan>,
    /// How it is seen for many rows at once that all of their points are inside.
    all: Option<Lifted>,
}

impl Rows {
    fn new(kernel: &Kernel, ops: &[Operator<Mem>], vars: &Vars, asked: usize) -> Self {
        let mut kernel = kernel.clone();
        name_starts(&mut kernel);
        let early = take_early(&mut kernel, vars);
        let (plan, interior) = reduction_plan(&kernel, ops, vars, asked);
        let all = match (&interior, &kernel.space[..]) {
            (Some(interior), &[(row, _), (_, Extent::Ragged { start, .. })]) => {
                interior.lifted(&early, (row, start), vars)
            }
            (Some(_) | None, _) => None,
        };
        Self {
            early,
            kernel,
            interior,
            plan,
            all,
        }
    }

    /// Whether points do so little that what is done for each row counts, and the code for it is short.
    fn is_little(&self, ops: &[Operator<Mem>]) -> bool {
        side::is_little(&self.kernel, ops)
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
    /// Parameters: slots, the rows and points of a piece, address of the addresses of the results, slots for what is found of a row
    /// that the piece does not finish.
    pub(super) fn reduce_rows(&mut self, kernel: &Kernel, ops: &[Operator<Mem>], p: &[Value]) {
        let tys = crate::emit::kernel::components(self.vars, ops);
        let places = self.places(p[5], tys.len());
        let rows = Rows::new(kernel, ops, self.vars, self.asked);
        self.parts = rows.plan.as_ref().map_or(1, |plan| plan.parts);
        self.in_lanes = rows.plan.is_some();
        let neutral = self.neutral(ops);
        self.store_slots(p[6], &neutral);
        let piece = ragged::piece(&p[1..]);
        let less = IntCC::SignedLessThan;
        let store = |emit: &mut Self, row: ragged::Row, sums: Vec<Value>| {
            for (j, (sum, ty)) in sums.into_iter().zip(&tys).enumerate() {
                let mut target = emit.element(places[j], *ty, row.number);
                if !row.is_whole {
                    let finished = emit.b.ins().icmp(less, row.number, piece.rows.1);
                    let part = emit.b.ins().iadd_imm_s(p[6], 8 * j as i64);
                    target = emit.b.ins().select(finished, target, part);
                }
                emit.b.ins().store(plain(), sum, target, 0);
            }
        };
        let any = |emit: &mut Self, row: ragged::Row| {
            let sums = emit.reduce_points(&rows, ops, row.range);
            store(emit, row, sums);
        };
        if !rows.is_little(ops) {
            return self.piece_rows(&kernel.space, piece, any);
        }
        let Some(all) = &rows.all else {
            return self.piece_rows_apart(&kernel.space, piece, any);
        };
        let [some, outside, done] = [(); 3].map(|()| self.b.create_block());
        self.b.set_cold_block(outside);
        let has_points = self.b.ins().icmp(less, piece.points.0, piece.points.1);
        self.b.ins().brif(has_points, some, &[], outside, &[]);
        self.b.switch_to_block(some);
        for stm in &all.once {
            self.stm(stm);
        }
        self.all_inside(&all.interior, piece.points, |emit, holds| {
            let next = emit.b.create_block();
            emit.b.ins().brif(holds, next, &[], outside, &[]);
            emit.b.switch_to_block(next);
        });
        let done_once = |stm: &&Stm<Mem>| all.once.iter().any(|once| once.binds == stm.binds);
        let early: Vec<_> = rows.early.iter().filter(|stm| !done_once(stm)).collect();
        self.piece_rows_apart(&kernel.space, piece, |emit, row| {
            let sums = emit.if_any(ops, row.range, |emit| {
                early.iter().for_each(|stm| emit.stm(stm));
                let plan = rows.plan.as_ref();
                emit.reduce_part(&all.interior.kernel, ops, plan, row.range)
            });
            store(emit, row, sums);
        });
        self.b.ins().jump(done, &[]);
        self.b.switch_to_block(outside);
        self.piece_rows(&kernel.space, piece, any);
        self.b.ins().jump(done, &[]);
        self.b.switch_to_block(done);
    }

    /// What `some` yields of a range of points if there are some, else neutral elements.
    fn if_any(
        &mut self,
        ops: &[Operator<Mem>],
        range: (Value, Value),
        some: impl FnOnce(&mut Self) -> Vec<Value>,
    ) -> Vec<Value> {
        let neutral = self.neutral(ops);
        let (begin, done) = (self.b.create_block(), self.b.create_block());
        let types = self.types_of(&neutral);
        let results = self.params(done, &types);
        let any = self.b.ins().icmp(IntCC::SignedLessThan, range.0, range.1);
        let none = block_args(neutral);
        self.b.ins().brif(any, begin, &[], done, &none);
        self.b.switch_to_block(begin);
        let sums = some(self);
        self.b.ins().jump(done, &block_args(sums));
        self.b.switch_to_block(done);
        results
    }

    /// Reduces the points of a row, or of as much of it as is in a piece.
    fn reduce_points(
        &mut self,
        rows: &Rows,
        ops: &[Operator<Mem>],
        range: (Value, Value),
    ) -> Vec<Value> {
        self.if_any(ops, range, |emit| {
            for stm in &rows.early {
                emit.stm(stm);
            }
            let plan = rows.plan.as_ref();
            let Some(interior) = &rows.interior else {
                return emit.reduce_part(&rows.kernel, ops, plan, range);
            };
            let (outside, done) = (emit.b.create_block(), emit.b.create_block());
            emit.b.set_cold_block(outside);
            emit.all_inside(interior, range, |emit, holds| {
                let next = emit.b.create_block();
                emit.b.ins().brif(holds, next, &[], outside, &[]);
                emit.b.switch_to_block(next);
            });
            let sums = emit.reduce_part(&interior.kernel, ops, plan, range);
            let types = emit.types_of(&sums);
            let results = emit.params(done, &types);
            emit.b.ins().jump(done, &block_args(sums));
            emit.b.switch_to_block(outside);
            let sums = emit.reduce_part(&rows.kernel, ops, None, range);
            emit.b.ins().jump(done, &block_args(sums));
            emit.b.switch_to_block(done);
            results
        })
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
            Some(_) | None => self.reduce_row(kernel, (ops, ops), plan, range),
        }
    }
}
