//! Accumulations in which each point pushes along a row of its own: a loop that carries nothing but the accumulators only writes,
//! so that its steps can be points of another dimension.
//!
//! ```text
//! with_acc n (vs) acc \(v) { let k = .. v ..  loop (a = acc) for e < k do update a[to[s + e]] = x }
//! ──►
//! ks, ss = segmap (i < n) { .. vs[i] .. }             offs = the sums of ks
//! with_acc (i < n, e in offs) acc { update acc[to[ss[i] + e]] = x }
//! ```
//!
//! Updates of one point are made in their order. That is no matter if an operator combines them, or if all of them write the same
//! value, which the loop does not change.

use super::context::{Axis, Def};
use super::distribute::Wanted;
use super::inner::Traversal;
use super::label::Labels;
use super::{Cx, Mode};
use crate::hash::HashSet;
use crate::ir::id::Var;
use crate::ir::seg::{Level, Seg, SegKind};
use crate::ir::soac::{Accumulation, Soac};
use crate::ir::syntax::{Atom, Body, Exp, Lambda, LoopForm, LoopParam, Stm};
use crate::ir::types::{Size, Type};
use crate::ir::walk::{all_stms, body_binders, free_in_body, free_in_stm};

/// The body of an accumulation that ends in such a loop.
struct Push<'a> {
    /// What a point computes before.
    before: &'a [Stm<Soac>],
    params: &'a [LoopParam],
    index: Var,
    /// How many steps a point takes.
    count: Var,
    step: &'a Body<Soac>,
    /// What the loop needs of what is computed before it, and of the elements that the point is at.
    needed: Vec<Var>,
}

impl<'c> Cx<'c> {
    /// An accumulation of host code, in two versions if its points push along rows.
    pub(super) fn accumulate(
        &mut self,
        (width, arrays, lam): (Size, &[Var], &Lambda<Soac>),
        acc: &Accumulation<Soac>,
        binds: &[Var],
        out: &mut Vec<Stm<Seg>>,
    ) {
        let traversal = (width, arrays, lam);
        let Some(push) = self.push_of(lam, acc) else {
            return self.with_acc(Level::Device, traversal, acc, binds, out);
        };
        self.begin_nest(Labels::varying(push.count));
        let context = [Axis::Regular(self.size(width))];
        let t = Traversal {
            width,
            arrays,
            lam,
            certs: &[],
        };
        self.versions(
            &context,
            lam,
            binds,
            out,
            &mut |cx, binds, out| cx.with_acc(Level::Device, traversal, acc, binds, out),
            &mut |cx, binds, out| cx.push_rows(t, &push, acc, binds, out),
        );
    }

    /// Takes the body of an accumulation for one that pushes, if it is.
    fn push_of<'a>(&self, lam: &'a Lambda<Soac>, acc: &Accumulation<Soac>) -> Option<Push<'a>> {
        let (last, before) = lam.body.stms.split_last()?;
        let Exp::Loop {
            params,
            form:
                LoopForm::For {
                    index,
                    bound: Atom::Var(count),
                },
            body: step,
        } = &last.exp
        else {
            return None;
        };
        let atoms = |vars: &[Var]| -> Vec<Atom> { vars.iter().map(|&v| v.into()).collect() };
        let starts: Vec<Atom> = params.iter().map(|p| p.init).collect();
        let whole = starts == atoms(&acc.params) && lam.body.result == atoms(&last.binds);
        if !whole || self.vars[*count].ty != Type::I64 || !self.is_unordered(*index, step, acc) {
            return None;
        }
        let mut own: HashSet<Var> = lam.params.iter().copied().collect();
        own.extend(before.iter().flat_map(|stm| &stm.binds));
        let mut needed = free_in_body(&self.vars, step);
        needed.extend(&last.certs);
        needed.retain(|v| own.contains(v));
        let is_scalar = |v: &Var| matches!(self.vars[*v].ty, Type::Scalar(_) | Type::Cert);
        let computed = |v: &Var| !lam.params.contains(v);
        let touches = |stm: &Stm<Soac>| {
            let free = free_in_stm(&self.vars, stm);
            free.iter().any(|v| acc.binders().contains(v))
        };
        let fits = own.contains(count)
            && needed.iter().filter(|v| computed(v)).all(is_scalar)
            && !before.iter().any(touches);
        fits.then_some(Push {
            before,
            params,
            index: *index,
            count: *count,
            step,
            needed,
        })
    }

    /// Whether the steps of a loop may make their updates in any order.
    fn is_unordered(&self, index: Var, step: &Body<Soac>, acc: &Accumulation<Soac>) -> bool {
        let mut changing: HashSet<Var> = [index].into_iter().collect();
        body_binders(step, &mut |v| {
            changing.insert(v);
        });
        let mut values: Vec<&[Atom]> = Vec::new();
        all_stms(step, &mut |stm| {
            if let Exp::Op(Soac::UpdateAcc(update)) = &stm.exp {
                values.push(&update.values);
            }
        });
        let fixed = |a: &Atom| a.as_var().is_none_or(|v| !changing.contains(&v));
        acc.op.is_some()
            || values.windows(2).all(|two| two[0] == two[1])
                && values.iter().copied().flatten().all(fixed)
    }

    /// The accumulation over points and their steps.
    fn push_rows(
        &mut self,
        t: Traversal<'_>,
        push: &Push<'_>,
        acc: &Accumulation<Soac>,
        binds: &[Var],
        out: &mut Vec<Stm<Seg>>,
    ) {
        let context = self.inside(&[], t, out);
        self.before_push(&context, t.lam, push, out);
        let mut space = context.clone();
        space.push(self.axis(Size::Var(push.count), &context, out));
        let dests = self.all_vars(&acc.dests);
        let op = acc.op.as_ref().map(|op| self.operator(op));
        let token = self.bind(acc.token, Mode::Seq);
        let params = self.binds(&acc.params, Mode::Seq);
        let mut point = self.point(&space);
        self.need_all(&mut point, &push.needed);
        let step = point.dims.last().map(|&(index, _)| index.into());
        self.subst.set(push.index, step);
        for (param, &acc) in push.params.iter().zip(&params) {
            self.subst.set(param.var, Some(acc.into()));
        }
        let result = self.stms(push.step, Mode::Seq, &mut point.stms);
        let acc = Accumulation {
            token,
            params,
            dests,
            op,
        };
        self.kernel(point, result, SegKind::WithAcc(acc), binds.to_vec(), out);
    }

    /// Computes what the loops need for all points, all checks before them among it.
    fn before_push(
        &mut self,
        context: &[Axis],
        lam: &Lambda<Soac>,
        push: &Push<'_>,
        out: &mut Vec<Stm<Seg>>,
    ) {
        let is_value = |v: &Var| self.vars[*v].ty != Type::Cert && !lam.params.contains(v);
        let mut wanted: Vec<Var> = push.needed.iter().copied().filter(is_value).collect();
        if !wanted.contains(&push.count) {
            wanted.push(push.count);
        }
        let mut arrays = Vec::new();
        for &v in &wanted {
            let ty = self.vars[v].ty.clone();
            let ty = self.type_over(&ty, context, out);
            let name = self.vars[v].name.clone();
            arrays.push(self.fresh(&name, ty));
        }
        let body = Body {
            stms: push.before.to_vec(),
            result: wanted.iter().map(|&v| v.into()).collect(),
        };
        self.distribute(context.to_vec(), &body, Wanted::Fresh(&arrays), out);
        let depth = context.len();
        for (&v, &array) in wanted.iter().zip(&arrays) {
            self.env.insert(v, Def::Stored { array, depth });
        }
        for stm in push.before {
            for &v in stm.binds.iter().filter(|v| self.vars[**v].ty == Type::Cert) {
                self.env.remove(&v);
                self.subst.set(v, Some(Atom::bool(true)));
            }
        }
    }
}
