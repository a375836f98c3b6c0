//! Versions in which a block of threads works on a point (rule E1): the operators inside of the nest are shared out among the threads of
//! the block, one after the other, and what they make stays in memory that the threads share.
//!
//! ```text
//! map (\xs -> let m = reduce max xs, ys = map (- m) xs in map (/ sum ys) ys) xss
//! ──►
//! segmap device (i < n) {
//!   m  = segred block (j < k) { xss[i, j] } (max)
//!   ys = segmap block (j < k) { xss[i, j] - m }
//!   s  = segred block (j < k) { ys[j] } (+)
//!   segmap block (j < k) { ys[j] / s }
//! }
//! ```
//!
//! All else is executed by every thread of the block: what the point computes is the same for all of them, and loops and branches go
//! the same way, however they go at other points. So only the lengths of arrays must be those of all points, for the host says how
//! much memory a block needs, once the plan knows which arrays are in memory ([`crate::passes::plan`]).

use super::context::Axis;
use super::inner::{Folds, Traversal};
use super::label::Label;
use super::{Cx, Mode, bin, int};
use crate::fired::fired;
use crate::hash::HashSet;
use crate::ir::array::ArrayOp;
use crate::ir::id::Var;
use crate::ir::scalar::BinOp;
use crate::ir::seg::{Level, Seg, SegKind, SegOp, SegSpace, SpaceDim};
use crate::ir::soac::{HistOp, Operator, ScatterDest, Soac};
use crate::ir::syntax::{Atom, Body, Exp, Lambda, LoopForm, Stm};
use crate::ir::types::{Dim, Size, Type};
use crate::ir::walk::{all_stms, free_in_stm};

/// What a point holds.
#[derive(Default)]
pub(super) struct Holds {
    /// What comes of operators that threads share out.
    made: HashSet<Var>,
    /// Whether one of them uses what came of another, or of itself in an earlier step of a loop.
    pub(super) hands_on: bool,
    /// Whether it holds code that leaves threads of a block idle: sequential code with arrays, and operators inside of operators, which
    /// threads execute sequentially.
    pub(super) idle: bool,
    /// Whether an operator is too short to be shared out.
    pub(super) short: bool,
}

/// With more points than these, code that leaves threads of a block idle is not for blocks. 132 multiprocessors of an H200 work on about
/// half as many at a time, with 256 threads each. There, with a million points such a version took ten times as long as a thread for each.
/// TODO: a bound that the device measures, as the estimate of each version's time would be.
const FEW: i64 = 2048;

impl Cx<'_> {
    /// If a block may work on a point of a nest, and it is worth it: the measure of the guard that chooses this, which the plan bounds by
    /// what memory there is. What operators hand on to others need not leave a block.
    pub(super) fn worth_blocks(
        &mut self,
        context: &[Axis],
        lam: &Lambda<Soac>,
        out: &mut Vec<Stm<Seg>>,
    ) -> Option<Atom> {
        let regular = |axis: &Axis| matches!(axis, Axis::Regular(_));
        if self.labels.is_nothing_regular() || !context.iter().all(regular) {
            return None;
        }
        let mut holds = Holds::default();
        if !self.is_for_block(&lam.body, false, &mut holds) || !holds.hands_on {
            return None;
        }
        if !holds.idle {
            return Some(int(1));
        }
        let points = self.points(context, out);
        let points = self.scalar(out, "points", bin(BinOp::Max), vec![points, int(1)]);
        Some(self.scalar(out, "few", bin(BinOp::Quot), vec![int(FEW), points]))
    }

    /// Whether the threads of a block can execute a body together; notes what it holds.
    fn is_for_block(&self, body: &Body<Soac>, again: bool, holds: &mut Holds) -> bool {
        body.stms
            .iter()
            .all(|stm| self.is_stm_for_block(stm, again, holds))
    }

    pub(super) fn is_stm_for_block(&self, stm: &Stm<Soac>, again: bool, holds: &mut Holds) -> bool {
        let reads = free_in_stm(&self.vars, stm);
        let follows = again || reads.iter().any(|v| holds.made.contains(v));
        if follows {
            holds.made.extend(&stm.binds);
        }
        if !stm.binds.iter().all(|&v| self.has_one_length(v)) {
            return false;
        }
        let is_parallel = self.labels.of(stm) == Label::Par;
        if let (Exp::If { .. } | Exp::Loop { .. }, false) = (&stm.exp, is_parallel) {
            if self.has_scalars_only(stm) {
                return true;
            }
            holds.idle = true;
        }
        let regular = |width: &Size| !matches!(width, Size::Var(n) if !self.labels.regular(*n));
        let for_block = match &stm.exp {
            Exp::Atom(_) | Exp::Scalar(..) | Exp::Assert { .. } => true,
            Exp::Call { .. } => !is_parallel && self.has_scalars_only(stm),
            Exp::If {
                then, otherwise, ..
            } => [then, otherwise]
                .iter()
                .all(|body| self.is_for_block(body, again, holds)),
            Exp::Loop { form, body, .. } => {
                let condition = match form {
                    LoopForm::For { .. } => true,
                    LoopForm::While(cond) => self.is_for_block(cond, true, holds),
                };
                condition && self.is_for_block(body, true, holds)
            }
            Exp::Op(Soac::Screma {
                width,
                lam,
                scans,
                reds,
                ..
            }) => {
                let scalars = |op: &Operator<Soac>| {
                    let mut params = op.lam.params.iter();
                    params.all(|&p| !self.vars[p].ty.is_array())
                };
                holds.idle |= self.labels.is_parallel(&lam.body);
                let one = scans.is_empty() || reds.is_empty();
                let folds = scans.iter().chain(reds).all(scalars);
                regular(width) && one && folds && self.is_for_thread(lam)
            }
            Exp::Op(soac @ (Soac::Hist { width, lam, .. } | Soac::Scatter { width, lam, .. })) => {
                holds.idle |= self.labels.is_parallel(&lam.body);
                regular(width) && self.is_for_thread(lam) && self.writes_scalars(soac)
            }
            Exp::Op(Soac::Array(op)) => !matches!(op, ArrayOp::Stream(_) | ArrayOp::Trace(_)),
            Exp::Guard { .. }
            | Exp::Op(
                Soac::Filter { .. }
                | Soac::FlatMap { .. }
                | Soac::WithAcc { .. }
                | Soac::UpdateAcc(_),
            ) => false,
        };
        match &stm.exp {
            Exp::Op(_) if for_block && is_parallel => {
                holds.hands_on |= follows;
                holds.made.extend(&stm.binds);
            }
            Exp::Op(op) => holds.short |= !matches!(op, Soac::Array(_)),
            Exp::Atom(_)
            | Exp::Scalar(..)
            | Exp::Assert { .. }
            | Exp::Guard { .. }
            | Exp::If { .. }
            | Exp::Loop { .. }
            | Exp::Call { .. } => {}
        }
        for_block
    }

    /// Whether what a histogram combines, or a scatter writes, are scalars.
    fn writes_scalars(&self, soac: &Soac) -> bool {
        let rank = |v: Var| self.vars[v].ty.rank();
        match soac {
            Soac::Hist { ops, .. } => ops.iter().all(|op| {
                let mut dests = op.dests.iter();
                dests.all(|&dest| rank(dest) == op.shape.len())
            }),
            Soac::Scatter { dests, .. } => dests.iter().all(|dest| rank(dest.array) == dest.rank),
            Soac::Array(_)
            | Soac::Screma { .. }
            | Soac::Filter { .. }
            | Soac::FlatMap { .. }
            | Soac::WithAcc { .. }
            | Soac::UpdateAcc(_) => false,
        }
    }

    /// Whether the lengths of an array are those of all points.
    fn has_one_length(&self, var: Var) -> bool {
        let mut dims = self.vars[var].ty.shape().iter();
        dims.all(|dim| match *dim {
            Dim::Size(Size::Const(_)) => true,
            Dim::Size(Size::Var(n)) => self.labels.regular(n),
            Dim::Ragged(_) => false,
        })
    }

    /// Whether one thread can execute a lambda for each element of a row: it makes no arrays but those that leave it, hands none
    /// to functions, which do not know what is in shared memory, and chooses none, one of which may be there and the other not.
    fn is_for_thread(&self, lam: &Lambda<Soac>) -> bool {
        let mut results = lam.body.result.iter().filter_map(|a| a.as_var());
        let mut known = true;
        all_stms(&lam.body, &mut |stm| match &stm.exp {
            Exp::Call { args, .. } => {
                let args = args.iter().filter_map(|a| a.as_var());
                known &= args
                    .chain(stm.binds.iter().copied())
                    .all(|v| self.is_number(v));
            }
            Exp::If { .. } => known &= stm.binds.iter().all(|&v| self.is_number(v)),
            Exp::Atom(_)
            | Exp::Scalar(..)
            | Exp::Assert { .. }
            | Exp::Guard { .. }
            | Exp::Loop { .. }
            | Exp::Op(_) => {}
        });
        known && results.all(|v| self.has_one_length(v))
    }

    fn is_number(&self, v: Var) -> bool {
        !matches!(self.vars[v].ty, Type::Array(_) | Type::Acc(_))
    }

    /// Whether a statement neither makes arrays nor hands any to a function, also inside.
    fn has_scalars_only(&self, stm: &Stm<Soac>) -> bool {
        let mut only = true;
        let mut look = |stm: &Stm<Soac>| {
            only &= stm.binds.iter().all(|&v| self.is_number(v));
            match &stm.exp {
                Exp::Call { args, .. } => {
                    let mut args = args.iter().filter_map(|a| a.as_var());
                    only &= args.all(|v| self.is_number(v));
                }
                Exp::Op(Soac::Array(ArrayOp::Index { .. }))
                | Exp::Atom(_)
                | Exp::Scalar(..)
                | Exp::Assert { .. }
                | Exp::If { .. }
                | Exp::Loop { .. } => {}
                Exp::Guard { .. } | Exp::Op(_) => only = false,
            }
        };
        look(stm);
        stm.exp
            .scopes(&mut |_, body| all_stms(body, &mut |stm| look(stm)));
        only
    }

    /// The operator as an operation that the threads of a block share out.
    pub(super) fn block_soac(&mut self, soac: &Soac, binds: &[Var], out: &mut Vec<Stm<Seg>>) {
        if let Soac::Screma {
            width,
            arrays,
            lam,
            scans,
            reds,
        } = soac
            && scans.is_empty()
            && reds.is_empty()
            && self.is_nest_in_block(lam)
        {
            fired("flatten/e1-nest-in-a-block");
            let mut dims = Vec::new();
            let mut stms = Vec::new();
            let result = self.block_nest((*width, arrays, lam), &mut dims, &mut stms);
            let op = in_block(dims, Body { stms, result }, SegKind::Map);
            return self.push(out, binds.to_vec(), op);
        }
        let (width, (index, body), kind) = match soac {
            Soac::Screma {
                width,
                arrays,
                lam,
                scans,
                reds,
            } => {
                let traversed = self.traverse((arrays, lam));
                let mut operators = |ops: &[Operator<Soac>]| -> Vec<Operator<Seg>> {
                    ops.iter().map(|op| self.operator(op)).collect()
                };
                let kind = match (&scans[..], &reds[..]) {
                    ([], []) => SegKind::Map,
                    ([], reds) => SegKind::Red(operators(reds)),
                    (scans, _) => SegKind::Scan(operators(scans)),
                };
                (width, traversed, kind)
            }
            Soac::Hist {
                width,
                arrays,
                lam,
                ops,
            } => {
                fired("flatten/e1-histogram-in-a-block");
                let hists = ops.iter().map(|op| HistOp {
                    shape: self.sizes(&op.shape),
                    dests: self.all_vars(&op.dests),
                    op: self.operator(&op.op),
                });
                let kind = SegKind::Hist(hists.collect());
                (width, self.traverse((arrays, lam)), kind)
            }
            Soac::Scatter {
                width,
                arrays,
                lam,
                dests,
            } => {
                fired("flatten/e1-scatter-in-a-block");
                let dests = dests.iter().map(|dest| ScatterDest {
                    rank: dest.rank,
                    array: self.var(dest.array),
                });
                let kind = SegKind::Scatter(dests.collect());
                (width, self.traverse((arrays, lam)), kind)
            }
            Soac::Array(_)
            | Soac::Filter { .. }
            | Soac::FlatMap { .. }
            | Soac::WithAcc { .. }
            | Soac::UpdateAcc(_) => return self.seq_soac(soac, binds, out),
        };
        fired("flatten/e1-in-a-block");
        let dims = vec![(index, SpaceDim::Regular(self.size(*width)))];
        self.push(out, binds.to_vec(), in_block(dims, body, kind));
    }

    /// Whether the lambda of a map is cheap code without checks and one map whose extent is known before it: the threads of a block share
    /// out the points of both.
    fn is_nest_in_block(&self, lam: &Lambda<Soac>) -> bool {
        let Some((last, before)) = lam.body.stms.split_last() else {
            return false;
        };
        let Exp::Op(Soac::Screma {
            width, scans, reds, ..
        }) = &last.exp
        else {
            return false;
        };
        let results = lam.body.result.iter().map(|a| a.as_var());
        let is_inside = |v: Var| before.iter().any(|stm| stm.binds.contains(&v));
        scans.is_empty()
            && reds.is_empty()
            && last.certs.is_empty()
            && results.eq(last.binds.iter().copied().map(Some))
            && !matches!(*width, Size::Var(n) if is_inside(n) || lam.params.contains(&n))
            && before.iter().all(|stm| {
                stm.certs.is_empty()
                    && matches!(
                        self.labels.of(stm),
                        Label::Uniform | Label::Cheap | Label::View
                    )
                    && !matches!(stm.exp, Exp::Assert { .. })
            })
    }

    /// The dimensions of a perfect nest of maps, and what a point of it computes.
    fn block_nest(
        &mut self,
        (width, arrays, lam): (Size, &[Var], &Lambda<Soac>),
        dims: &mut Vec<(Var, SpaceDim)>,
        out: &mut Vec<Stm<Seg>>,
    ) -> Vec<Atom> {
        let index = self.fresh("i", Type::I64);
        dims.push((index, SpaceDim::Regular(self.size(width))));
        let nest = self.is_nest_in_block(lam);
        let Some((last, before)) = lam.body.stms.split_last().filter(|_| nest) else {
            return self.apply_at((arrays, lam), index, out);
        };
        let elems = self.elements_at(arrays, index, out);
        for (&param, elem) in lam.params.iter().zip(elems) {
            self.subst.set(param, Some(elem));
        }
        for stm in before {
            self.one(stm, Mode::Seq, out);
        }
        let Exp::Op(Soac::Screma {
            width, arrays, lam, ..
        }) = &last.exp
        else {
            unreachable!("a nest ends with a map");
        };
        self.block_nest((*width, arrays, lam), dims, out)
    }

    /// A map, a block working on each point.
    pub(super) fn map_by_blocks(
        &mut self,
        inner: &[Axis],
        t: Traversal<'_>,
        binds: &[Var],
        out: &mut Vec<Stm<Seg>>,
    ) {
        let (point, result) = self.leaf_in(Mode::Block, inner, t);
        self.kernel(point, result, SegKind::Map, binds.to_vec(), out);
    }

    /// A fold over what a map yields, a block working on each point of the map.
    pub(super) fn map_by_blocks_and_fold(
        &mut self,
        inner: &[Axis],
        t: Traversal<'_>,
        folds: Folds<'_>,
        binds: &[Var],
        out: &mut Vec<Stm<Seg>>,
    ) {
        let (scanned, reduced) = folds.counts();
        let folded = scanned + reduced;
        let inputs = self.inputs(inner, t, &binds[folded..], out);
        self.map_by_blocks(inner, t, &inputs, out);
        let point = self.elements(inner, &inputs[..folded]);
        self.fold_point(inner, point, folds, &binds[..folded], out);
    }

    /// Variables for the results of the map of an operator, the last of which are bound.
    pub(super) fn inputs(
        &mut self,
        inner: &[Axis],
        t: Traversal<'_>,
        last: &[Var],
        out: &mut Vec<Stm<Seg>>,
    ) -> Vec<Var> {
        let result = &t.lam.body.result;
        let mut inputs = Vec::new();
        for &atom in &result[..result.len() - last.len()] {
            let ty = self.type_over(&atom.ty(&self.vars), inner, out);
            inputs.push(self.fresh("inputs", ty));
        }
        inputs.extend_from_slice(last);
        inputs
    }
}

/// An operation that the threads of a block share out.
fn in_block(dims: Vec<(Var, SpaceDim)>, body: Body<Seg>, kind: SegKind) -> Exp<Seg> {
    Exp::Op(Seg::Par(SegOp {
        space: SegSpace { dims },
        level: Level::Block,
        tiled: 0,
        steady: false,
        body,
        kind,
    }))
}
