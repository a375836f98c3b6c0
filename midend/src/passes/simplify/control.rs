//! Branches and loops that are decided, and what they need not carry.
//!
//! ```text
//! if true { s; yield a } else { .. }                ──►  s; a
//! let r = if c { .. yield n } else { .. yield n }   ──►  r is n
//! if c { yield a } else { yield b }, on scalars     ──►  select(c, a, b)
//! loop (n = m, ..) .. { .. yield n, .. }            ──►  n is m
//! loop (a = x) for i < 1 { s; yield b }             ──►  s with 0 for i, x for a; b
//! ```

use super::Simplify;
use crate::analysis::ranges::{Range, integer};
use crate::fired::fired;
use crate::interp::scalar::convert::convert;
use crate::ir::dialect::Dialect;
use crate::ir::id::{SpanId, Var};
use crate::ir::scalar::{BinOp, Const, ScalarOp};
use crate::ir::syntax::{Atom, Body, Exp, LoopForm, LoopParam, Stm};
use crate::ir::types::Type;

impl<D: Dialect> Simplify<'_, D> {
    /// An `if`.
    pub(super) fn conditional(&mut self, stm: Stm<D>, out: &mut Vec<Stm<D>>) {
        let Stm {
            mut binds,
            certs,
            exp,
            span,
        } = stm;
        let Exp::If {
            cond,
            mut then,
            mut otherwise,
        } = exp
        else {
            return;
        };
        if self.rules.fold
            && let Some(taken) = cond.as_bool()
        {
            fired("fold/if-decided");
            let body = if taken { then } else { otherwise };
            return self.splice(&binds, &certs, span, body, out);
        }
        let in_then = self.branch(cond, true, &mut then);
        let in_otherwise = self.branch(cond, false, &mut otherwise);
        for (i, v) in binds.iter().enumerate() {
            let (a, b) = (then.result[i], otherwise.result[i]);
            self.ranges
                .either(*v, (a, &in_then[i]), (b, &in_otherwise[i]));
        }
        if self.rules.fold {
            self.same_results(&mut binds, &mut then, &mut otherwise);
            if then.stms.is_empty() && otherwise.stms.is_empty() && self.are_scalars(&binds) {
                fired("fold/if-to-select");
                let results = then.result.into_iter().zip(otherwise.result);
                for (v, (a, b)) in binds.into_iter().zip(results) {
                    self.select(v, [cond, a, b], certs.clone(), span, out);
                }
                return;
            }
        }
        let exp = Exp::If {
            cond,
            then,
            otherwise,
        };
        self.retype(&binds);
        if let ([v], Some(choice)) = (&binds[..], connective(&exp)) {
            self.choices.insert(*v, choice);
        }
        let stm = Stm {
            binds,
            certs,
            exp,
            span,
        };
        if !self.is_repeated(&stm) {
            self.keep(stm, out);
        }
    }

    /// Simplifies a branch; yields the ranges of its results.
    fn branch(&mut self, cond: Atom, taken: bool, body: &mut Body<D>) -> Vec<Range> {
        let mut ranges = Vec::new();
        self.scope(|cx| {
            cx.learn_branch(cond, taken);
            cx.body(body);
            ranges = body.result.iter().map(|a| cx.ranges.range(*a)).collect();
        });
        ranges
    }

    /// Results that are the same in both branches are what they are. Being the same, they were bound outside.
    fn same_results(&mut self, binds: &mut Vec<Var>, then: &mut Body<D>, otherwise: &mut Body<D>) {
        let mut kept = Vec::new();
        for (i, v) in binds.iter().enumerate() {
            let (a, b) = (then.result[i], otherwise.result[i]);
            if a == b && !self.is_buffer(*v) {
                self.subst.insert(*v, a);
            } else {
                kept.push(i);
            }
        }
        if kept.len() < binds.len() {
            fired("fold/same-results");
            *binds = kept.iter().map(|i| binds[*i]).collect();
            then.result = kept.iter().map(|i| then.result[*i]).collect();
            otherwise.result = kept.iter().map(|i| otherwise.result[*i]).collect();
        }
    }

    fn are_scalars(&self, vars: &[Var]) -> bool {
        let mut vars = vars.iter();
        vars.all(|v| matches!(self.vars[*v].ty, Type::Scalar(_)))
    }

    /// One of two values.
    fn select(
        &mut self,
        v: Var,
        args: [Atom; 3],
        certs: Vec<Var>,
        span: SpanId,
        out: &mut Vec<Stm<D>>,
    ) {
        let Type::Scalar(ty) = self.vars[v].ty else {
            return;
        };
        let exp = Exp::Scalar(ScalarOp::Select(ty), args.to_vec());
        let binds = vec![v];
        let stm = Stm {
            binds,
            certs,
            exp,
            span,
        };
        self.scalar(v, stm, out);
    }

    /// Statements of a body in place of the statement around it. Its certificates protect each of them.
    fn splice(
        &mut self,
        binds: &[Var],
        certs: &[Var],
        span: SpanId,
        body: Body<D>,
        out: &mut Vec<Stm<D>>,
    ) {
        let mut stms = body.stms;
        for stm in &mut stms {
            for cert in certs {
                if !stm.certs.contains(cert) {
                    stm.certs.push(*cert);
                }
            }
        }
        self.stms(stms, out);
        for (v, a) in binds.iter().zip(body.result) {
            let a = self.atom(a);
            self.define(*v, a, certs.to_vec(), span, out);
        }
    }

    /// A loop.
    pub(super) fn looping(&mut self, stm: Stm<D>, out: &mut Vec<Stm<D>>) {
        let Stm {
            mut binds,
            certs,
            exp,
            span,
        } = stm;
        let Exp::Loop {
            mut params,
            mut form,
            mut body,
        } = exp
        else {
            return;
        };
        if self.rules.fold {
            self.invariant_params(&mut binds, &mut params, &mut body);
            match iterations(&form) {
                Some(0) => {
                    fired("fold/loop-of-none");
                    for (v, p) in binds.iter().zip(&params) {
                        self.define(*v, p.init, certs.clone(), span, out);
                    }
                    return;
                }
                Some(1) => return self.once(&binds, &certs, span, params, &form, body, out),
                Some(_) | None => {}
            }
        }
        for p in &params {
            crate::ir::rename::substitute_type(self.vars, &self.subst, p.var);
        }
        let own: Vec<Var> = params.iter().map(|p| p.var).collect();
        self.ranges.sizes(self.vars, &own);
        if let LoopForm::For { index, .. } = &form {
            self.places(*index, &params, &body);
        }
        self.scope(|cx| {
            match &mut form {
                LoopForm::For { index, bound } => cx.ranges.index(*index, *bound),
                LoopForm::While(cond) => cx.body(cond),
            }
            cx.body(&mut body);
        });
        self.retype(&binds);
        let exp = Exp::Loop { params, form, body };
        let stm = Stm {
            binds,
            certs,
            exp,
            span,
        };
        if !self.is_repeated(&stm) {
            self.keep(stm, out);
        }
    }

    /// Parameters that every iteration passes on, or that start as what every iteration yields, are no parameters.
    fn invariant_params(
        &mut self,
        binds: &mut Vec<Var>,
        params: &mut Vec<LoopParam>,
        body: &mut Body<D>,
    ) {
        let mut kept = Vec::new();
        for (i, p) in params.iter().enumerate() {
            let next = self.atom(body.result[i]);
            if (next == Atom::Var(p.var) || next == p.init) && !self.is_buffer(p.var) {
                self.subst.insert(p.var, p.init);
                self.subst.insert(binds[i], p.init);
            } else {
                kept.push(i);
            }
        }
        if kept.len() < params.len() {
            fired("fold/loop-invariant");
            *params = kept.iter().map(|i| params[*i]).collect();
            *binds = kept.iter().map(|i| binds[*i]).collect();
            body.result = kept.iter().map(|i| body.result[*i]).collect();
        }
    }

    /// A loop of one iteration.
    #[expect(clippy::too_many_arguments, reason = "the parts of one statement")]
    fn once(
        &mut self,
        binds: &[Var],
        certs: &[Var],
        span: SpanId,
        params: Vec<LoopParam>,
        form: &LoopForm<D>,
        body: Body<D>,
        out: &mut Vec<Stm<D>>,
    ) {
        fired("fold/loop-of-one");
        if let LoopForm::For { index, bound } = form
            && let Atom::Const(bound) = bound
        {
            let zero = convert(bound.ty(), Const::I64(0));
            self.subst.insert(*index, zero);
        }
        for p in params {
            self.define(p.var, p.init, certs.to_vec(), span, out);
        }
        self.splice(binds, certs, span, body, out);
    }

    /// Brings the types of bound variables up to date with what was found out in the bodies.
    fn retype(&mut self, binds: &[Var]) {
        for v in binds {
            crate::ir::rename::substitute_type(self.vars, &self.subst, *v);
        }
    }

    fn is_buffer(&self, v: Var) -> bool {
        matches!(self.vars[v].ty, Type::Buffer(_))
    }
}

/// The number of iterations if it is a constant.
fn iterations<D>(form: &LoopForm<D>) -> Option<i128> {
    match form {
        LoopForm::For { index: _, bound } => Some(integer(bound.as_const()?)?.max(0)),
        LoopForm::While(_) => None,
    }
}

/// The conjunction or disjunction that a conditional is.
fn connective<D>(exp: &Exp<D>) -> Option<(BinOp, [Atom; 2])> {
    let Exp::If {
        cond,
        then,
        otherwise,
    } = exp
    else {
        return None;
    };
    let (&[a], &[b]) = (&then.result[..], &otherwise.result[..]) else {
        return None;
    };
    match (a.as_bool(), b.as_bool()) {
        (_, Some(false)) => Some((BinOp::And, [*cond, a])),
        (Some(true), _) => Some((BinOp::Or, [*cond, b])),
        (_, _) => None,
    }
}
