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
//! much memory a block needs.

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
use crate::ir::threshold::ROOM;
use crate::ir::types::{Dim, Size, Type};
use crate::ir::walk::{all_stms, free_in_stm};

/// What a point holds.
#[derive(Default)]
struct Holds {
    /// What comes of operators that threads share out.
    made: HashSet<Var>,
    /// Whether one of them uses what came of another, or of itself in an earlier step of a loop.
    hands_on: bool,
    /// The bytes of an element of arrays that are made, with the extents of each.
    arrays: Vec<(usize, Vec<Size>)>,
}

impl Cx<'_> {
    /// How many points of a nest fit into the memory of a block, if it is worth it that a block works on a point: what operators hand
    /// on to others need not leave it.
    pub(super) fn fitting_points(
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
        let mut inside: HashSet<Var> = lam.params.iter().copied().collect();
        all_stms(&lam.body, &mut |stm| {
            inside.extend(&stm.binds);
            stm.exp.inner_binders(&mut |v| {
                inside.insert(v);
            });
        });
        let mut sizes = holds.arrays.iter().flat_map(|(_, sizes)| sizes);
        if sizes.any(|size| matches!(size, Size::Var(v) if inside.contains(v))) {
            return None;
        }
        let (mut known, mut other) = (0_i64, None);
        for (bytes, extents) in holds.arrays {
            let mut product = bytes as i64;
            let mut factors: Vec<Atom> = Vec::new();
            for extent in extents {
                match self.size(extent) {
                    Size::Const(n) => product = product.checked_mul(n)?,
                    size @ Size::Var(_) => factors.push(size.into()),
                }
            }
            if factors.is_empty() {
                known = known.checked_add(product)?;
                continue;
            }
            let mut term = int(product);
            for factor in factors {
                term = self.scalar(out, "bytes", bin(BinOp::MulSat), vec![factor, term]);
            }
            other = Some(match other {
                None => term,
                Some(sum) => self.scalar(out, "bytes", bin(BinOp::AddSat), vec![sum, term]),
            });
        }
        let Some(other) = other else {
            let rows = ROOM / known.max(1);
            return (rows > 0).then_some(int(rows));
        };
        let all = self.scalar(out, "bytes", bin(BinOp::AddSat), vec![other, int(known)]);
        let some = self.scalar(out, "bytes", bin(BinOp::Max), vec![all, int(1)]);
        Some(self.scalar(out, "fitting", bin(BinOp::Quot), vec![int(ROOM), some]))
    }

    /// Whether the threads of a block can execute a body together; notes what it holds.
    fn is_for_block(&self, body: &Body<Soac>, again: bool, holds: &mut Holds) -> bool {
        body.stms
            .iter()
            .all(|stm| self.is_stm_for_block(stm, again, holds))
    }

    fn is_stm_for_block(&self, stm: &Stm<Soac>, again: bool, holds: &mut Holds) -> bool {
        let reads = free_in_stm(&self.vars, stm);
        let follows = again || reads.iter().any(|v| holds.made.contains(v));
        if follows {
            holds.made.extend(&stm.binds);
        }
        if !stm.binds.iter().all(|&v| self.has_one_length(v)) {
            return false;
        }
        let is_parallel = self.labels.of(stm) == Label::Par;
        let made = match &stm.exp {
            Exp::Atom(_) | Exp::Scalar(..) | Exp::Assert { .. } => false,
            Exp::Guard { .. } => return false,
            Exp::Call { .. } | Exp::If { .. } | Exp::Loop { .. } if !is_parallel => {
                return self.has_scalars_only(stm);
            }
            Exp::Call { .. } => return false,
            Exp::If {
                then, otherwise, ..
            } => {
                let both = [then, otherwise];
                if !both.iter().all(|b| self.is_for_block(b, again, holds)) {
                    return false;
                }
                true
            }
            Exp::Loop { form, body, .. } => {
                let condition = match form {
                    LoopForm::For { .. } => true,
                    LoopForm::While(cond) => self.is_for_block(cond, true, holds),
                };
                if !condition || !self.is_for_block(body, true, holds) {
                    return false;
                }
                true
            }
            Exp::Op(Soac::Screma {
                width,
                lam,
                scans,
                reds,
                ..
            }) => {
                let regular = !matches!(width, Size::Var(n) if !self.labels.regular(*n));
                let scalars = |op: &Operator<Soac>| {
                    let mut params = op.lam.params.iter();
                    params.all(|&p| !self.vars[p].ty.is_array())
                };
                let inner = self.labels.is_parallel(&lam.body) || !self.is_for_thread(lam);
                let one = scans.is_empty() || reds.is_empty();
                if !regular || !one || inner || !scans.iter().chain(reds).all(scalars) {
                    return false;
                }
                if is_parallel {
                    holds.hands_on |= follows;
                    holds.made.extend(&stm.binds);
                }
                true
            }
            Exp::Op(Soac::Array(op)) => match op {
                ArrayOp::Literal { .. }
                | ArrayOp::Copy(_)
                | ArrayOp::Concat { .. }
                | ArrayOp::Manifest { .. } => true,
                ArrayOp::Index { .. }
                | ArrayOp::Slice { .. }
                | ArrayOp::Update { .. }
                | ArrayOp::Iota { .. }
                | ArrayOp::Replicate { .. }
                | ArrayOp::Scratch { .. }
                | ArrayOp::Rearrange { .. }
                | ArrayOp::Reshape { .. }
                | ArrayOp::Trace(_) => false,
                ArrayOp::Stream(_) => return false,
            },
            Exp::Op(soac @ (Soac::Hist { width, lam, .. } | Soac::Scatter { width, lam, .. })) => {
                let regular = !matches!(width, Size::Var(n) if !self.labels.regular(*n));
                let inner = self.labels.is_parallel(&lam.body) || !self.is_for_thread(lam);
                if !regular || inner || !self.writes_scalars(soac) {
                    return false;
                }
                if is_parallel {
                    holds.hands_on |= follows;
                    holds.made.extend(&stm.binds);
                }
                true
            }
            Exp::Op(
                Soac::Filter { .. }
                | Soac::FlatMap { .. }
                | Soac::WithAcc { .. }
                | Soac::UpdateAcc(_),
            ) => return false,
        };
        if made {
            for &bind in &stm.binds {
                let ty = &self.vars[bind].ty;
                let extents = ty.shape().iter().filter_map(|dim| dim.size());
                if let (true, Some(elem)) = (ty.is_array(), ty.elem()) {
                    holds.arrays.push((elem.bytes(), extents.collect()));
                }
            }
        }
        true
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
        let op = SegOp {
            space: SegSpace {
                dims: vec![(index, SpaceDim::Regular(self.size(*width)))],
            },
            level: Level::Block,
            tiled: 0,
            steady: false,
            body,
            kind,
        };
        self.push(out, binds.to_vec(), Exp::Op(Seg::Par(op)));
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
