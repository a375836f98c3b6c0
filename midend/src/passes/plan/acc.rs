//! Accumulations: kernels on the host, loops in a kernel; and the updates in them.
//!
//! An update without an operator is a store, and stores of several points to one place may come in any order. With an
//! operator it reads, operates and writes: a histogram that the body makes itself if the operator is one on scalars,
//! else the points are executed one after another.

use super::emit::FrameKind;
use super::view::View;
use super::{Cx, Mode};
use crate::ir::id::Var;
use crate::ir::mem::{Extent, KernelKind, KernelSpace, Mem, MemHist};
use crate::ir::rename::{self, Subst};
use crate::ir::seg::Seg;
use crate::ir::soac::{Accumulation, Operator, UpdateAcc};
use crate::ir::syntax::{Atom, Body, Exp, LoopForm};
use crate::ir::types::Type;

impl Cx<'_> {
    pub(super) fn with_acc(
        &mut self,
        binds: &[Var],
        space: KernelSpace,
        body: &Body<Seg>,
        acc: &Accumulation<Seg>,
    ) {
        let mut views: Vec<View> = acc.dests.iter().map(|&dest| self.view(dest)).collect();
        let combined = acc.op.as_ref().filter(|_| self.mode == Mode::Host);
        let scalar = combined.filter(|_| views.iter().all(|view| view.shape.len() == 1));
        if scalar.is_some() {
            // There may be copies of destinations that are whole buffers.
            views = views.iter().map(|view| self.whole(view)).collect();
        }
        for (&param, view) in acc.params.iter().zip(&views) {
            self.views.insert(param, view.clone());
        }
        if let Some(op) = &acc.op {
            self.operators.insert(acc.token, op.clone());
        }
        if self.mode != Mode::Host {
            self.points(&space, Atom::ZERO, body);
        } else if combined.is_some() && scalar.is_none() {
            let kernel = self.sequential(|cx| cx.points(&space, Atom::ZERO, body));
            self.launch("acc", (Vec::new(), 0), kernel, KernelKind::Seq);
        } else {
            let kind = match scalar {
                Some(op) => KernelKind::Hist(vec![self.mem_hist(op, &views)]),
                None => KernelKind::Map,
            };
            let k = body.result.len();
            self.kernel(("acc", (space, 0), kind), body, (k, &[]), |_, _| Vec::new());
        }
        for (&bind, view) in binds.iter().zip(views) {
            self.views.insert(bind, view);
        }
    }

    fn mem_hist(&mut self, op: &Operator<Seg>, views: &[View]) -> MemHist {
        let buckets = views.first().map_or(Atom::ZERO, |view| view.shape[0]);
        let dests = views.iter().map(|view| view.buffer).collect();
        let op = self.operator(op);
        MemHist { buckets, dests, op }
    }

    /// The body for every point of a row of the space, one after another.
    fn points(&mut self, space: &[(Var, Extent)], row: Atom, body: &Body<Seg>) {
        let Some(((index, extent), inner)) = space.split_first() else {
            return self.stms(body);
        };
        let (index, bound) = (*index, self.row_length(row, extent));
        self.enter(FrameKind::Loop);
        self.define(index);
        let at = self.step_into(row, index.into(), extent);
        self.points(inner, at, body);
        let body = self.leave(Vec::new());
        let form = LoopForm::For { index, bound };
        let exp = Exp::Loop {
            params: Vec::new(),
            form,
            body,
        };
        self.push(Vec::new(), exp);
    }

    pub(super) fn update_acc(&mut self, binds: &[Var], update: &UpdateAcc) {
        let views: Vec<View> = update.accs.iter().map(|&acc| self.view(acc)).collect();
        let index = self.atom(update.index);
        let Some(length) = views.first().map(|view| view.shape[0]) else {
            return;
        };
        let cond = self.in_range(&[index], &[length]);
        self.enter(FrameKind::Branch);
        let places: Vec<View> = views.iter().map(|view| self.row(view, &[index])).collect();
        match self.operator_of(update) {
            Some(op) => self.combine(&op, &places, &update.values),
            None => {
                for (place, &value) in places.iter().zip(&update.values) {
                    self.put(place, value);
                }
            }
        }
        self.leave_guarded(cond);
        for (&bind, view) in binds.iter().zip(views) {
            self.views.insert(bind, view);
        }
    }

    fn operator_of(&self, update: &UpdateAcc) -> Option<Operator<Seg>> {
        let token = match &self.vars[*update.accs.first()?].ty {
            Type::Acc(acc) => acc.token,
            Type::Scalar(_) | Type::Array(_) | Type::Buffer(_) | Type::Cert => return None,
        };
        self.operators.get(&token).cloned()
    }

    /// The operator in place, applied to what is there and the values.
    fn combine(&mut self, op: &Operator<Seg>, places: &[View], values: &[Atom]) {
        let lam = rename::lambda(&mut self.vars, &mut Subst::new(), &op.lam);
        let (old, new) = lam.params.split_at(places.len());
        for (&param, place) in old.iter().zip(places) {
            if self.is_array(param) {
                self.views.insert(param, place.clone());
            } else {
                let load = Mem::Load {
                    buffer: place.buffer,
                    index: place.offset,
                };
                self.push_op(vec![param], load);
            }
        }
        for (&param, &value) in new.iter().zip(values) {
            self.rename(param, value);
        }
        self.stms(&lam.body);
        // A result may be another place, which is about to be overwritten.
        for (place, &result) in places.iter().zip(&lam.body.result) {
            let other = result.as_var().and_then(|v| self.views.get(&v)).cloned();
            if let (Some(from), Atom::Var(v)) = (other, result)
                && places.len() > 1
                && !from.same(place)
                && places.iter().any(|p| self.may_alias(p.buffer, from.buffer))
            {
                let apart = self.fresh_copy(&from);
                self.views.insert(v, apart);
            }
        }
        for (place, &result) in places.iter().zip(&lam.body.result) {
            self.put(place, result);
        }
    }
}
