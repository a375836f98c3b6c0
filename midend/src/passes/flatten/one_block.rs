//! Host loops whose operators do less work than a launch takes, over arrays that the shared memory of one block holds: the block executes all iterations, where the host would launch a kernel for
//! each operator of each of them, which takes longer than the operator does.
//!
//! ```text
//! let r = loop (xs = ys) for s < k { map f xs }
//! ──►
//! g = guard block "main:3" (how many times an operator's work is done while a kernel is launched)
//! let r = if g {
//!   let rs = segmap device (i < 1) { loop (xs = ys) for s < k { segmap block (j < n) { f xs[j] } } }
//!   rs[0]
//! } else { loop (xs = ys) for s < k { segmap device (j < n) { f xs[j] } } }
//! ```
//!
//! On a CPU one thread executes such a loop, as a kernel of one point, in which operators are sequential loops.
//!
//! What is in the loop is what a block can do ([`super::block`]). The work of a kernel is estimated ([`super::work`]) from the extents that are
//! known before the loop; the plan knows how much memory the version takes, and makes the guard false if that is too much, or not known before the
//! loop.

use super::block::Holds;
use super::inner::Traversal;
use super::work::{LAUNCH, LAUNCH_OF_THREAD};
use super::{Cx, Mode, bin, int};
use crate::fired::fired;
use crate::ir::array::ArrayOp;
use crate::ir::id::Var;
use crate::ir::scalar::BinOp;
use crate::ir::seg::{Seg, SegKind};
use crate::ir::soac::Soac;
use crate::ir::syntax::{Atom, Body, Exp, Lambda, LoopForm, LoopParam, Stm};
use crate::ir::threshold::ThresholdKind;
use crate::ir::types::{Dim, Size, Type};
use crate::ir::walk::all_stms;

/// Loops in so many others have no such version, for each of the loops around is looked at whole.
const DEEP: usize = 8;

/// Nor have loops of more statements than these.
const LARGE: usize = 1_000;

/// A host loop: the parameters, the form and the body.
type Parts<'a> = (&'a [LoopParam], &'a LoopForm<Soac>, &'a Body<Soac>);

impl Cx<'_> {
    /// Translates a host loop in two versions, if one block or one thread can execute it, and may be faster.
    pub(super) fn loop_at_once(
        &mut self,
        stm: &Stm<Soac>,
        (params, form, body): Parts<'_>,
        out: &mut Vec<Stm<Seg>>,
    ) -> bool {
        let launch = match self.asynchronous {
            true => LAUNCH,
            false => LAUNCH_OF_THREAD,
        };
        if self.loops >= DEEP || !self.has_sizes_of_the_host(stm) {
            return false;
        }
        let mut size = 0;
        all_stms(body, &mut |_| size += 1);
        if size > LARGE {
            return false;
        }
        let lam = alone(vec![stm.clone()], stm);
        self.label_nest(&lam);
        let mut holds = Holds::default();
        let fits = !self.labels.is_nothing_regular()
            && self.is_stm_for_block(stm, false, &mut holds)
            && (holds.hands_on || holds.short);
        let work = self.work_of_loop(stm);
        if !fits || work.fixed > launch || (work.guessed && !self.asynchronous) {
            return false;
        }
        if !self.affords(&lam) {
            return false;
        }
        fired(match self.asynchronous {
            true => "flatten/loop-in-one-block",
            false => "flatten/loop-in-one-thread",
        });
        let lam = self.with_own_arrays(stm, (params, form, body));
        let sum = self.amount(work, out);
        let some = self.scalar(out, "work", bin(BinOp::Max), vec![sum, int(1)]);
        let measure = self.scalar(out, "worth", bin(BinOp::Quot), vec![int(launch), some]);
        let threshold = self.threshold(match self.asynchronous {
            true => ThresholdKind::Block,
            false => ThresholdKind::Alone,
        });
        let guard = Exp::Guard { threshold, measure };
        let cond = self.emit(out, "enough", Type::BOOL, guard).into();
        // Names of the host stand for themselves until the other version has been made.
        let otherwise = self.block(|cx, stms| {
            let exp = cx.loop_exp(params, form, body, Mode::Host);
            let inner = cx.alike(&stm.binds);
            cx.push(stms, inner.clone(), exp);
            inner.into_iter().map(Atom::Var).collect()
        });
        let then = self.block(|cx, stms| cx.at_once(&lam, &stm.binds, stms));
        for &v in &stm.binds {
            self.subst.set(v, None);
        }
        let exp = Exp::If {
            cond,
            then,
            otherwise,
        };
        self.push(out, stm.binds.clone(), exp);
        true
    }

    /// The results of a lambda without parameters that a block or a thread executes.
    fn at_once(&mut self, lam: &Lambda<Soac>, binds: &[Var], out: &mut Vec<Stm<Seg>>) -> Vec<Atom> {
        self.label_nest(lam);
        let t = Traversal {
            width: Size::Const(1),
            arrays: &[],
            lam,
            certs: &[],
        };
        let inner = self.inside(&[], t, out);
        let mut rows = Vec::new();
        for &v in binds {
            let ty = self.type_over(&self.vars[v].ty.clone(), &inner, out);
            rows.push(self.fresh("rows", ty));
        }
        if self.asynchronous {
            self.map_by_blocks(&inner, t, &rows, out);
        } else {
            let (point, result) = self.leaf(&inner, t);
            self.kernel(point, result, SegKind::Map, rows.clone(), out);
        }
        let row = |(&array, &v): (&Var, &Var)| {
            let ty = self.vars[v].ty.clone();
            let indices = vec![int(0)];
            let op = ArrayOp::Index { array, indices };
            Atom::Var(self.array(out, "row", ty, op))
        };
        rows.iter().zip(binds).map(row).collect()
    }

    /// The loop alone in a lambda, in which it starts with copies of what it consumes: a kernel owns none of the host's arrays.
    fn with_own_arrays(
        &mut self,
        stm: &Stm<Soac>,
        (params, form, body): Parts<'_>,
    ) -> Lambda<Soac> {
        let mut stms = Vec::new();
        let mut own = params.to_vec();
        for param in &mut own {
            let Some(array) = param.init.as_var() else {
                continue;
            };
            if !self.vars[array].ty.is_array() || !self.labels.hot(array) {
                continue;
            }
            let copy = self.fresh("own", self.vars[array].ty.clone());
            stms.push(Stm {
                binds: vec![copy],
                certs: stm.certs.clone(),
                exp: Exp::Op(Soac::Array(ArrayOp::Copy(array))),
                span: stm.span,
            });
            param.init = copy.into();
        }
        let exp = Exp::Loop {
            params: own,
            form: form.clone(),
            body: body.clone(),
        };
        stms.push(Stm { exp, ..stm.clone() });
        alone(stms, stm)
    }

    /// Whether a loop yields scalars and arrays of lengths that are known before it.
    fn has_sizes_of_the_host(&self, stm: &Stm<Soac>) -> bool {
        let known = |dim: &Dim| match dim {
            Dim::Size(Size::Var(n)) => !stm.binds.contains(n),
            Dim::Size(Size::Const(_)) => true,
            Dim::Ragged(_) => false,
        };
        stm.binds.iter().all(|&v| {
            let ty = &self.vars[v].ty;
            let is_value = matches!(ty, Type::Scalar(_) | Type::Array(_));
            is_value && ty.shape().iter().all(known)
        })
    }

    /// Variables like others.
    fn alike(&mut self, vars: &[Var]) -> Vec<Var> {
        let infos = vars.iter().map(|&v| self.vars[v].clone());
        let infos: Vec<_> = infos.collect();
        infos.into_iter().map(|info| self.vars.push(info)).collect()
    }
}

/// A lambda without parameters of statements, the last of which yields what it yields.
fn alone(stms: Vec<Stm<Soac>>, last: &Stm<Soac>) -> Lambda<Soac> {
    let result = last.binds.iter().map(|&v| v.into()).collect();
    Lambda {
        params: Vec::new(),
        body: Body { stms, result },
    }
}
