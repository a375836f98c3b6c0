//! Host loops over numbers: the host executes the first iterations, and a kernel those that are left (loop peeling). Most such loops are short,
//! as those that count digits or find a power of two are, and a launch takes longer than they do; where the host must wait for the device,
//! much longer.
//!
//! ```text
//! let s = loop (a = x) while c a do f a
//! ──►
//! let (t, k) = loop (a = x, k = 0) while c a && k < 64 do (f a, k + 1)
//! let s = if c t { loop (a = t) while c a do f a } else { t }       the loop is a sequential kernel
//! ```

use super::Cx;
use crate::fired::fired;
use crate::interp::scalar::convert::convert;
use crate::ir::id::Var;
use crate::ir::rename::{self, Subst};
use crate::ir::scalar::{BinOp, CmpOp, Const, ScalarOp};
use crate::ir::seg::Seg;
use crate::ir::syntax::{Atom, Body, Exp, LoopForm, LoopParam, Stm};
use crate::ir::types::{ScalarType, Type};

/// How many iterations the host executes.
const PEELED: i64 = 64;
/// The most statements of an iteration.
const SHORT: usize = 32;

const INT: ScalarType = ScalarType::I64;

impl Cx<'_> {
    /// Lowers a loop of numbers in two parts, if the device is one that the host would wait for.
    pub(super) fn peel(
        &mut self,
        stm: &Stm<Seg>,
        params: &[LoopParam],
        form: &LoopForm<Seg>,
        body: &Body<Seg>,
    ) -> bool {
        let whole = stm.binds.first().is_none_or(|v| self.unpeeled.contains(v));
        let iteration = self.iteration(params, form, body);
        if !self.asynchronous || whole || iteration.is_none_or(|n| n > SHORT) {
            return false;
        }
        fired("plan/peeled-loop");
        let first = self.first_iterations(stm, params, form, body);
        let rest = self.rest(stm, params, form, body, &first);
        self.looping(&first.binds, (&first.params, &first.form, &first.body));
        self.stms(&Body {
            stms: rest,
            result: vec![],
        });
        true
    }

    /// Whether a function computes with numbers alone, in few statements, so that the host may as well.
    pub(super) fn is_for_host(&self, body: &Body<Seg>) -> bool {
        let all = body.stms.iter().map(|stm| match &stm.exp {
            Exp::Loop { params, form, body } => self.iteration(params, form, body),
            Exp::Atom(_)
            | Exp::Scalar(..)
            | Exp::Assert { .. }
            | Exp::Guard { .. }
            | Exp::If { .. }
            | Exp::Call { .. }
            | Exp::Op(_) => statement(&stm.exp),
        });
        self.asynchronous && all.sum::<Option<usize>>().is_some_and(|n| n <= SHORT)
    }

    /// How many statements an iteration of a loop has, if it computes with numbers alone.
    fn iteration(
        &self,
        params: &[LoopParam],
        form: &LoopForm<Seg>,
        body: &Body<Seg>,
    ) -> Option<usize> {
        let is_scalar = |p: &LoopParam| matches!(self.vars[p.var].ty, Type::Scalar(_));
        let condition = match form {
            LoopForm::For { .. } => 0,
            LoopForm::While(cond) => statements(cond)?,
        };
        let all = condition + statements(body)?;
        params.iter().all(is_scalar).then_some(all)
    }

    /// The loop of the first iterations.
    fn first_iterations(
        &mut self,
        stm: &Stm<Seg>,
        params: &[LoopParam],
        form: &LoopForm<Seg>,
        body: &Body<Seg>,
    ) -> Peeled {
        let mut subst = Subst::new();
        let mut renamed: Vec<LoopParam> = params
            .iter()
            .map(|p| LoopParam {
                var: rename::fresh(&mut self.vars, &mut subst, p.var),
                init: p.init,
            })
            .collect();
        let mut binds: Vec<Var> = stm.binds.iter().map(|&v| self.like(v)).collect();
        match form {
            LoopForm::For { index, bound } => {
                let ty = self.vars[*index].ty.elem().unwrap_or(INT);
                let most = convert(ty, Const::I64(PEELED));
                let count = self.bounded(ty, *bound, most);
                let index = rename::fresh(&mut self.vars, &mut subst, *index);
                let body = rename::body(&mut self.vars, &mut subst, body);
                Peeled {
                    binds,
                    params: renamed,
                    form: LoopForm::For {
                        index,
                        bound: count,
                    },
                    body,
                    count,
                }
            }
            LoopForm::While(cond) => {
                let mut cond_subst = subst.clone();
                let mut cond = rename::body(&mut self.vars, &mut cond_subst, cond);
                let mut body = rename::body(&mut self.vars, &mut subst, body);
                let [k, next, last] = ["k", "k", "k"].map(|name| self.fresh(name, Type::I64));
                renamed.push(LoopParam {
                    var: k,
                    init: Atom::ZERO,
                });
                binds.push(last);
                let few = self.fresh("few", Type::BOOL);
                let both = self.fresh("go_on", Type::BOOL);
                cond.stms.push(plain(
                    few,
                    ScalarOp::Cmp(CmpOp::Lt, INT),
                    vec![k.into(), Atom::i64(PEELED)],
                    stm,
                ));
                let args = vec![cond.result[0], few.into()];
                let and = ScalarOp::Bin(BinOp::And, ScalarType::Bool);
                cond.stms.push(plain(both, and, args, stm));
                cond.result = vec![both.into()];
                let add = ScalarOp::Bin(BinOp::Add, INT);
                body.stms
                    .push(plain(next, add, vec![k.into(), Atom::ONE], stm));
                body.result.push(next.into());
                Peeled {
                    binds,
                    params: renamed,
                    form: LoopForm::While(cond),
                    body,
                    count: Atom::ZERO,
                }
            }
        }
    }

    /// What finds out whether iterations are left, and the loop of these.
    fn rest(
        &mut self,
        stm: &Stm<Seg>,
        params: &[LoopParam],
        form: &LoopForm<Seg>,
        body: &Body<Seg>,
        first: &Peeled,
    ) -> Vec<Stm<Seg>> {
        let reached: Vec<Atom> = first.binds.iter().map(|&v| v.into()).collect();
        let reached = &reached[..stm.binds.len()];
        let binds: Vec<Var> = stm.binds.iter().map(|&v| self.like(v)).collect();
        self.unpeeled.extend(binds.first());
        let begin = |(p, init): (&LoopParam, &Atom)| LoopParam {
            var: p.var,
            init: *init,
        };
        let params: Vec<LoopParam> = params.iter().zip(reached).map(begin).collect();
        let mut stms = Vec::new();
        let mut then = Vec::new();
        let (cond, form, body) = match form {
            LoopForm::For { index, bound } => {
                let ty = self.vars[*index].ty.elem().unwrap_or(INT);
                let more = self.fresh("more", Type::BOOL);
                let less = ScalarOp::Cmp(CmpOp::Lt, ty);
                stms.push(plain(more, less, vec![first.count, *bound], stm));
                let left = self.fresh("left", Type::Scalar(ty));
                let sub = ScalarOp::Bin(BinOp::Sub, ty);
                then.push(plain(left, sub, vec![*bound, first.count], stm));
                let i = self.fresh("i", Type::Scalar(ty));
                let mut body = body.clone();
                let add = ScalarOp::Bin(BinOp::Add, ty);
                body.stms
                    .insert(0, plain(*index, add, vec![i.into(), first.count], stm));
                let bound = left.into();
                (more.into(), LoopForm::For { index: i, bound }, body)
            }
            LoopForm::While(cond) => {
                let mut subst = Subst::of(params.iter().map(|p| p.var), reached.iter().copied());
                let asked = rename::body(&mut self.vars, &mut subst, cond);
                stms.extend(asked.stms);
                (asked.result[0], LoopForm::While(cond.clone()), body.clone())
            }
        };
        then.push(Stm {
            binds: binds.clone(),
            exp: Exp::Loop { params, form, body },
            certs: stm.certs.clone(),
            span: stm.span,
        });
        let result = binds.into_iter().map(Atom::Var).collect();
        stms.push(Stm {
            binds: stm.binds.clone(),
            exp: Exp::If {
                cond,
                then: Body { stms: then, result },
                otherwise: Body {
                    stms: vec![],
                    result: reached.to_vec(),
                },
            },
            certs: vec![],
            span: stm.span,
        });
        stms
    }

    fn like(&mut self, var: Var) -> Var {
        let info = self.vars[var].clone();
        self.fresh(&info.name, info.ty)
    }

    /// The least of a number and a constant, found before the loop.
    fn bounded(&mut self, ty: ScalarType, bound: Atom, most: Const) -> Atom {
        let args = vec![self.atom(bound), most.into()];
        self.scalar("peeled", ScalarOp::Bin(BinOp::Min, ty), args)
    }
}

/// The loop of the first iterations, in the making.
struct Peeled {
    binds: Vec<Var>,
    params: Vec<LoopParam>,
    form: LoopForm<Seg>,
    body: Body<Seg>,
    /// How many iterations there are, if that is known before.
    count: Atom,
}

fn plain(bind: Var, op: ScalarOp, args: Vec<Atom>, like: &Stm<Seg>) -> Stm<Seg> {
    Stm {
        binds: vec![bind],
        certs: vec![],
        exp: Exp::Scalar(op, args),
        span: like.span,
    }
}

/// How many statements a body has, if it computes with numbers alone.
fn statements(body: &Body<Seg>) -> Option<usize> {
    body.stms.iter().map(|stm| statement(&stm.exp)).sum()
}

fn statement(exp: &Exp<Seg>) -> Option<usize> {
    match exp {
        Exp::Atom(_) | Exp::Scalar(..) | Exp::Assert { .. } => Some(1),
        Exp::If {
            then, otherwise, ..
        } => Some(1 + statements(then)?.max(statements(otherwise)?)),
        Exp::Guard { .. } | Exp::Loop { .. } | Exp::Call { .. } | Exp::Op(_) => None,
    }
}
