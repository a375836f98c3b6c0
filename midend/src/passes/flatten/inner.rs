//! Operators inside of a map nest, and those of host code, which have the empty context: each becomes one operation
//! over the context and its own dimension, or is distributed further.

use super::context::{Axis, Context, Def, Point, space};
use super::distribute::{Frame, Wanted};
use super::label::{Label, is_reduction_of_rows};
use super::lifted::Source;
use super::{Cx, Mode};
use crate::fired::fired;
use crate::ir::dialect::Dialect;
use crate::ir::id::Var;
use crate::ir::seg::{Seg, SegKind};
use crate::ir::soac::{Operator, Soac};
use crate::ir::syntax::{Atom, Exp, Lambda, Stm};
use crate::ir::types::{Size, Type};
use crate::ir::walk::{free_in_lambda, type_vars};

/// What an operator traverses: arrays, the lambda, and the checks that must have been passed.
#[derive(Clone, Copy)]
pub(super) struct Traversal<'a> {
    pub(super) width: Size,
    pub(super) arrays: &'a [Var],
    pub(super) lam: &'a Lambda<Soac>,
    pub(super) certs: &'a [Var],
}

/// The scans and reductions of an operator.
#[derive(Clone, Copy)]
pub(super) struct Folds<'a> {
    pub(super) scans: &'a [Operator<Soac>],
    pub(super) reds: &'a [Operator<Soac>],
}

impl Folds<'_> {
    /// How many results the scans have, and how many the reductions.
    pub(super) fn counts(&self) -> (usize, usize) {
        let count = |ops: &[Operator<Soac>]| ops.iter().map(|op| op.neutral.len()).sum();
        (count(self.scans), count(self.reds))
    }
}

impl Cx<'_> {
    /// A statement that holds parallelism worth having.
    pub(super) fn par_stm(
        &mut self,
        f: &mut Frame<'_>,
        i: usize,
        stm: &Stm<Soac>,
        out: &mut Vec<Stm<Seg>>,
    ) {
        self.before_consumption(f, i, out);
        let reads = f.free[i].clone();
        self.settle(f, &reads, out);
        let context = f.context.clone();
        match &stm.exp {
            Exp::If {
                cond,
                then,
                otherwise,
            } => {
                if !self.labels.is_uniform_if(stm, *cond, &self.vars) {
                    return self.split_if(f, i, (*cond, then, otherwise), out);
                }
                self.prove(f, &stm.certs, out);
                self.uniform_if(f, &stm.binds, *cond, (then, otherwise), out);
            }
            Exp::Loop { params, form, body } => {
                if !self.labels.is_steady(form) {
                    let source = Source { params, form, body };
                    return self.lift_loop(f, i, source, out);
                }
                self.prove(f, &stm.certs, out);
                self.interchange_loop(f, i, (params, form, body), out);
            }
            Exp::Op(Soac::Filter { width, arrays, lam }) => {
                let mut certs = &stm.certs[..];
                if self.labels.is_parallel(&lam.body) {
                    self.prove(f, certs, out);
                    certs = &[];
                }
                self.checks_before_extents(f, i, stm, out);
                let t = Traversal {
                    width: *width,
                    arrays,
                    lam,
                    certs,
                };
                self.filter_in(&context, t, &stm.binds, out);
                for &bind in &stm.binds {
                    if let Some(Def::Stored { array, .. }) = self.env.get(&bind) {
                        f.made(*array);
                    }
                }
            }
            Exp::Op(Soac::FlatMap { .. }) => self.flat_map_in(f, i, stm, out),
            Exp::Op(
                op
                @ (Soac::Screma { lam, .. } | Soac::Hist { lam, .. } | Soac::Scatter { lam, .. }),
            ) => {
                let mut certs = &stm.certs[..];
                if self.labels.is_parallel(&lam.body) {
                    self.prove(f, certs, out);
                    certs = &[];
                }
                let mut dests = Vec::new();
                op.consumed(&mut |v| dests.push(Atom::Var(v)));
                let dests = self.arrays(f, &dests, out);
                let dests = self.unshared(f, i, dests, out);
                self.checks_before_extents(f, i, stm, out);
                let binds: Vec<Var> = stm
                    .binds
                    .iter()
                    .map(|&b| self.stored(b, &context, out))
                    .collect();
                for &bind in &binds {
                    f.made(bind);
                }
                self.operator_in(&context, (op, certs), &dests, &binds, out);
            }
            Exp::Call { fun, args } => self.lift_call(f, i, (*fun, args), out),
            Exp::Atom(_)
            | Exp::Scalar(..)
            | Exp::Assert { .. }
            | Exp::Guard { .. }
            | Exp::Op(_) => unreachable!("a statement that holds no parallelism"),
        }
    }

    /// An operator in a context, whose destinations are these arrays.
    pub(super) fn operator_in(
        &mut self,
        context: &[Axis],
        (op, certs): (&Soac, &[Var]),
        dests: &[Var],
        binds: &[Var],
        out: &mut Vec<Stm<Seg>>,
    ) {
        match op {
            Soac::Screma {
                width,
                arrays,
                lam,
                scans,
                reds,
            } => {
                let t = Traversal {
                    width: *width,
                    arrays,
                    lam,
                    certs,
                };
                self.screma_in(context, t, Folds { scans, reds }, binds, out);
            }
            Soac::Hist {
                width,
                arrays,
                lam,
                ops,
            } => {
                let t = Traversal {
                    width: *width,
                    arrays,
                    lam,
                    certs,
                };
                self.hist_in(context, t, ops, dests, binds, out);
            }
            Soac::Scatter {
                width,
                arrays,
                lam,
                dests: places,
            } => {
                let t = Traversal {
                    width: *width,
                    arrays,
                    lam,
                    certs,
                };
                self.scatter_in(context, t, places, dests, binds, out);
            }
            Soac::Array(_)
            | Soac::Filter { .. }
            | Soac::FlatMap { .. }
            | Soac::WithAcc { .. }
            | Soac::UpdateAcc(_) => {
                unreachable!("no operator with segments")
            }
        }
    }

    /// The context inside of the lambda of an operator (rule G2).
    pub(super) fn inside(
        &mut self,
        context: &[Axis],
        t: Traversal<'_>,
        out: &mut Vec<Stm<Seg>>,
    ) -> Context {
        fired(match context.is_empty() {
            true => "flatten/g3-empty-context",
            false => "flatten/g2-map-in-map",
        });
        let mut inner = context.to_vec();
        inner.push(self.axis(t.width, context, out));
        for (&param, &array) in t.lam.params.iter().zip(t.arrays) {
            let depth = inner.len();
            self.env.insert(param, Def::Elem { array, depth });
        }
        inner
    }

    /// The body of a kernel over a context that executes a lambda sequentially.
    pub(super) fn leaf(&mut self, context: &[Axis], t: Traversal<'_>) -> (Point, Vec<Atom>) {
        self.leaf_in(Mode::Seq, context, t)
    }

    /// The body of a kernel over a context that executes a lambda.
    pub(super) fn leaf_in(
        &mut self,
        mode: Mode,
        context: &[Axis],
        t: Traversal<'_>,
    ) -> (Point, Vec<Atom>) {
        let mut point = self.point(context);
        let mut reads = free_in_lambda(&self.vars, t.lam);
        reads.extend(&t.lam.params);
        self.need_all(&mut point, t.certs);
        self.need_all(&mut point, &reads);
        let start = point.stms.len();
        let result = self.stms(&t.lam.body, mode, &mut point.stms);
        let certs = self.certs(t.certs);
        for stm in &mut point.stms[start..] {
            stm.certs.extend(&certs);
        }
        (point, result)
    }

    fn screma_in(
        &mut self,
        context: &[Axis],
        t: Traversal<'_>,
        folds: Folds<'_>,
        binds: &[Var],
        out: &mut Vec<Stm<Seg>>,
    ) {
        if folds.scans.is_empty() && folds.reds.is_empty() {
            return self.map_in(context, t, binds, out);
        }
        if let ([], [op]) = (folds.scans, folds.reds)
            && is_reduction_of_rows(&self.vars, t.lam, op, binds.len())
        {
            return self.reduction_of_rows(context, t, op, binds, out);
        }
        let inner = self.inside(context, t, out);
        let whole = self.leaves_whole(t.lam);
        if !whole && self.varied_rows(t.lam) {
            return self.map_and_fold(&inner, t, folds, binds, out);
        }
        if whole || !self.labels.is_parallel(&t.lam.body) {
            return self.fold(&inner, t, folds, binds, out);
        }
        // Rule E2: the map in one operation, the fold in another; or (E1) all at once, what is inside being sequential.
        self.versions_by_blocks(
            &inner,
            t.lam,
            binds,
            out,
            &mut |cx, binds, out| cx.map_by_blocks_and_fold(&inner, t, folds, binds, out),
            (
                &mut |cx, binds, out| cx.fold(&inner, t, folds, binds, out),
                &mut |cx, binds, out| cx.map_and_fold(&inner, t, folds, binds, out),
            ),
        );
    }

    /// A map in a context.
    fn map_in(
        &mut self,
        context: &[Axis],
        t: Traversal<'_>,
        binds: &[Var],
        out: &mut Vec<Stm<Seg>>,
    ) {
        let inner = self.inside(context, t, out);
        let plain = &mut |cx: &mut Self, binds: &[Var], out: &mut Vec<Stm<Seg>>| {
            let (point, result) = cx.leaf(&inner, t);
            cx.kernel(point, result, SegKind::Map, binds.to_vec(), out);
        };
        let rows = self.varied_rows(t.lam);
        if self.leaves_whole(t.lam) || !(rows || self.labels.is_parallel(&t.lam.body)) {
            return plain(self, binds, out);
        }
        let split = &mut |cx: &mut Self, binds: &[Var], out: &mut Vec<Stm<Seg>>| {
            cx.distribute(inner.clone(), &t.lam.body, Wanted::Fresh(binds), out);
        };
        if rows || self.is_nest(t.lam) {
            return split(self, binds, out);
        }
        let block = &mut |cx: &mut Self, binds: &[Var], out: &mut Vec<Stm<Seg>>| {
            cx.map_by_blocks(&inner, t, binds, out);
        };
        self.versions_by_blocks(&inner, t.lam, binds, out, block, (plain, split));
    }

    /// Whether a lambda yields what only sequential code makes, which leaves a point as a whole.
    pub(super) fn leaves_whole(&self, lam: &Lambda<Soac>) -> bool {
        let mut yielded = lam.body.result.iter().filter_map(|a| a.as_var());
        yielded.any(|v| self.labels.irregular(v))
    }

    /// Whether a lambda yields arrays whose lengths differ from point to point. One point cannot write them.
    pub(super) fn varied_rows(&self, lam: &Lambda<Soac>) -> bool {
        lam.body.result.iter().any(|&a| self.varies(a))
    }

    /// What the program checks before statement `i` is checked before memory is allocated for rows of varying length, and
    /// what it checks of uniform values before a size that the host fetched from a point is the extent of anything: no
    /// check of the host says that this is an extent.
    pub(super) fn checks_before_extents(
        &mut self,
        f: &mut Frame<'_>,
        i: usize,
        stm: &Stm<Soac>,
        out: &mut Vec<Stm<Seg>>,
    ) {
        let mut ragged = stm.binds.iter().any(|&b| self.varies(b.into()));
        let mut fetched = false;
        for &bind in &stm.binds {
            type_vars(&self.vars[bind].ty, &mut |n| {
                fetched |= self.labels.is_fetched(n)
            });
        }
        if let Exp::Op(
            Soac::Screma { width, .. } | Soac::Hist { width, .. } | Soac::Scatter { width, .. },
        ) = &stm.exp
            && let Size::Var(n) = *width
        {
            ragged |= !self.labels.regular(n);
            fetched |= self.labels.is_fetched(n);
        }
        if !ragged && !fetched {
            return;
        }
        let mut checks = self.open_checks(f, i);
        if !ragged {
            checks.retain(|cert| {
                let mut uniform = true;
                let check = &f.body.stms[f.owner[cert]].exp;
                check.operands(&mut |a| uniform &= self.labels.uniform(a));
                uniform
            });
        }
        if !checks.is_empty() {
            self.prove(f, &checks, out);
        }
    }

    /// Whether a lambda is nothing but cheap code and one map, which then belongs to the same nest.
    fn is_nest(&self, lam: &Lambda<Soac>) -> bool {
        let Some((last, before)) = lam.body.stms.split_last() else {
            return false;
        };
        let is_map = matches!(
            &last.exp,
            Exp::Op(Soac::Screma { scans, reds, .. }) if scans.is_empty() && reds.is_empty()
        );
        let is_result = |a: &Atom| a.as_var().is_some_and(|v| last.binds.contains(&v));
        let is_cheap = |stm: &Stm<Soac>| match self.labels.of(stm) {
            Label::Uniform | Label::Check | Label::Cheap => true,
            Label::Fill | Label::View | Label::Update | Label::Seq | Label::Par => false,
        };
        is_map
            && self.labels.of(last) == Label::Par
            && lam.body.result.iter().all(is_result)
            && before.iter().all(is_cheap)
    }

    /// Reductions and scans, what is inside being sequential.
    fn fold(
        &mut self,
        inner: &[Axis],
        t: Traversal<'_>,
        folds: Folds<'_>,
        binds: &[Var],
        out: &mut Vec<Stm<Seg>>,
    ) {
        let (point, result) = self.leaf(inner, t);
        self.fold_point(inner, (point, result), folds, binds, out);
    }

    pub(super) fn fold_point(
        &mut self,
        inner: &[Axis],
        (point, mut result): (Point, Vec<Atom>),
        folds: Folds<'_>,
        binds: &[Var],
        out: &mut Vec<Stm<Seg>>,
    ) {
        let Folds { scans, reds } = folds;
        let all = scans.iter().chain(reds);
        if scans.is_empty() || reds.is_empty() {
            let operators = all.map(|op| self.operator(op)).collect();
            let kind = if reds.is_empty() {
                SegKind::Scan(operators)
            } else {
                SegKind::Red(operators)
            };
            return self.kernel(point, result, kind, binds.to_vec(), out);
        }
        fired("flatten/scan-and-reduce");
        // Both: the scan leaves the inputs of the reductions behind as mapped arrays.
        let (scanned, reduced) = folds.counts();
        let mut inputs = Vec::new();
        for p in reds
            .iter()
            .flat_map(|op| op.lam.params[..op.neutral.len()].iter())
        {
            let ty = self.vars[*p].ty.clone();
            let ty = self.type_over(&ty, inner, out);
            inputs.push(self.fresh("inputs", ty));
        }
        let mut bound = binds.to_vec();
        bound.splice(scanned..scanned + reduced, inputs.iter().copied());
        let operators = scans.iter().map(|op| self.operator(op)).collect();
        result.truncate(bound.len());
        self.kernel(point, result, SegKind::Scan(operators), bound, out);
        let (point, result) = self.elements(inner, &inputs);
        let operators = reds.iter().map(|op| self.operator(op)).collect();
        let results = binds[scanned..scanned + reduced].to_vec();
        self.kernel(point, result, SegKind::Red(operators), results, out);
    }

    /// Rule E2: `redomap` is a map, which is distributed, and a reduction; the same for scans.
    fn map_and_fold(
        &mut self,
        inner: &[Axis],
        t: Traversal<'_>,
        folds: Folds<'_>,
        binds: &[Var],
        out: &mut Vec<Stm<Seg>>,
    ) {
        fired("flatten/e2-map-and-fold");
        let (scanned, reduced) = folds.counts();
        let folded = scanned + reduced;
        let inputs = self.map_inputs(inner, t, &binds[folded..], out);
        let point = self.elements(inner, &inputs[..folded]);
        self.fold_point(inner, point, folds, &binds[..folded], out);
    }

    /// Distributes the map of an operator; its results, the last of which are bound.
    fn map_inputs(
        &mut self,
        inner: &[Axis],
        t: Traversal<'_>,
        last: &[Var],
        out: &mut Vec<Stm<Seg>>,
    ) -> Vec<Var> {
        let inputs = self.inputs(inner, t, last, out);
        self.distribute(inner.to_vec(), &t.lam.body, Wanted::Fresh(&inputs), out);
        inputs
    }

    /// Rule G5: a reduction of vectors, element by element, is a map of reductions over the transposed vectors.
    ///
    /// ```text
    /// reduce (map2 (+)) zeros xss  ──►  segred (j < k, i < n) { xss[i, j] } (+)
    /// ```
    pub(super) fn reduction_of_rows(
        &mut self,
        context: &[Axis],
        t: Traversal<'_>,
        op: &Operator<Soac>,
        binds: &[Var],
        out: &mut Vec<Stm<Seg>>,
    ) {
        let Some((columns, arrays, element)) = super::rows::operator_map(op) else {
            return;
        };
        fired("flatten/g5-reduction-of-rows");
        let inner = self.inside(context, t, out);
        let columns = self.size(columns);
        let cheap = t.lam.body.stms.iter().all(super::rows::is_free);
        let inputs = if cheap {
            Vec::new()
        } else {
            self.map_inputs(&inner, t, &[], out)
        };
        let neutral: Vec<Atom> = op.neutral.clone();
        let mut first = Vec::new();
        for ne in neutral {
            first.push(self.first_element(ne, columns, out));
        }
        let column = self.fresh("j", Type::I64);
        let (mut point, rows) = if cheap {
            self.leaf(&inner, t)
        } else {
            self.elements(&inner, &inputs)
        };
        let mut result = Vec::new();
        for row in rows.iter().filter_map(|row| row.as_var()) {
            result.extend(self.element(&mut point.stms, row, column));
        }
        let columns = (column, Axis::Regular(columns));
        point.dims.insert(space(context).len(), columns);
        let lam = self.element_operator(op, arrays, element);
        let kind = SegKind::Red(vec![Operator {
            comm: op.comm,
            lam,
            neutral: first,
        }]);
        self.kernel(point, result, kind, binds.to_vec(), out);
    }
}
