//! One loop for two that read one sequence, but of which one may end before the other: `seq.zip s t` ends with the shorter.
//!
//! ```text
//! let a, p, more = loop (..) while more { k = next 0 (p, n - p)   xs = read 0 (k)   .. }
//! let b, q, rest = loop (..) while rest { l = next 1 (q, n - q)   zs = read 0 (l)   ys = read 1 (l)   .. }
//! ──►
//! let a, p, more, b, q, rest = loop (.., r = 0, any = 0 < n) while any {
//!   k = next 0 (r, n - r)   xs = read 0 (k)   ys = read 1 (k)
//!   let a, p, more = if more { .. } else { a, p, more }
//!   let b, q, rest = if rest { .. } else { b, q, rest }
//!   yield .., r + k, more || rest
//! }
//! ```
//!
//! A loop that goes on has had as many elements as it asked for, each time: while both go on they are at the same place, and so is
//! the one loop. What is read for one of them that has ended is taken by the other alone.

use super::steps::{Walk, reads, step};
use crate::analysis::congruence::Congruence;
use crate::fired::fired;
use crate::hash::HashSet;
use crate::interp::scalar::eval;
use crate::ir::array::StreamOp;
use crate::ir::id::{FunId, IdVec, SpanId, Var};
use crate::ir::rename::{Subst, fresh, substitute_stm};
use crate::ir::scalar::{BinOp, CmpOp, Const, ScalarOp};
use crate::ir::soac::Soac;
use crate::ir::syntax::{Atom, Body, Exp, Fun, LoopParam, Stm, Vars};
use crate::ir::types::ScalarType;
use crate::ir::walk::{all_stms, free_in_stm};

/// A loop, taken apart.
pub(super) struct Half<'p> {
    pub(super) stm: &'p Stm<Soac>,
    pub(super) walk: &'p Walk<'p>,
    /// What it computes on its own, and its results.
    pub(super) own: Body<Soac>,
}

/// What both loops do at the same place.
pub(super) struct Both {
    /// In order, in terms of the first one.
    pub(super) stms: Vec<Stm<Soac>>,
    /// How many elements are asked for.
    pub(super) count: Var,
}

/// What an operation on known numbers yields. What comes from outside has no known length: the shorter of two such sequences has none.
pub(super) fn folded(known: &Congruence, op: ScalarOp, args: &[Atom]) -> Option<Atom> {
    let args: Vec<Atom> = args.iter().map(|a| known.representative(*a)).collect();
    let constants: Option<Vec<Const>> = args
        .iter()
        .map(|a| match a {
            Atom::Const(c) => Some(*c),
            Atom::Var(_) => None,
        })
        .collect();
    eval(op, &constants?).ok().map(Atom::Const)
}

/// Whether a loop goes on only if it has had as many elements as it asked for.
pub(super) fn goes_on_when_full(walk: &Walk<'_>) -> bool {
    let next = walk.body.stms.iter().find_map(|stm| {
        let is_next = step(&stm.exp).is_some_and(|step| step.op == StreamOp::Next);
        is_next.then(|| stm.binds[0])
    });
    let Some(count) = next.map(Atom::Var) else {
        return false;
    };
    let place = Atom::Var(walk.params[walk.place].var);
    let add = ScalarOp::Bin(BinOp::Add, ScalarType::I64);
    let Some(&[x, y]) = operands(walk.body, walk.body.result[walk.place], add) else {
        return false;
    };
    let had = if x == place {
        y
    } else if y == place {
        x
    } else {
        return false;
    };
    had == count || is_full(walk.body, walk.body.result[walk.more], (had, count))
}

/// Whether a condition implies that two numbers are equal.
fn is_full(body: &Body<Soac>, cond: Atom, (had, count): (Atom, Atom)) -> bool {
    let equal = ScalarOp::Cmp(CmpOp::Eq, ScalarType::I64);
    let is_equal = |a| {
        operands(body, a, equal)
            .is_some_and(|args| args == [had, count].as_slice() || args == [count, had].as_slice())
    };
    let and = ScalarOp::Bin(BinOp::And, ScalarType::Bool);
    if is_equal(cond)
        || operands(body, cond, and).is_some_and(|args| args.iter().any(|a| is_equal(*a)))
    {
        return true;
    }
    let Some(v) = cond.as_var() else {
        return false;
    };
    let stm = body.stms.iter().find(|stm| stm.binds == [v]);
    stm.is_some_and(|stm| {
        if let Exp::If {
            cond, otherwise, ..
        } = &stm.exp
        {
            is_equal(*cond) && otherwise.result == [Atom::Const(Const::Bool(false))]
        } else {
            false
        }
    })
}

/// The operands of what binds a variable, if that is an operation.
fn operands(body: &Body<Soac>, a: Atom, op: ScalarOp) -> Option<&[Atom]> {
    let v = a.as_var()?;
    let stm = body.stms.iter().find(|stm| stm.binds == [v])?;
    if let Exp::Scalar(found, args) = &stm.exp
        && *found == op
    {
        Some(args)
    } else {
        None
    }
}

/// Makes one loop of two, if what both do, and what each reads, needs nothing that only one of them has.
pub(super) fn one(
    vars: &mut Vars,
    funs: &IdVec<FunId, Fun<Soac>>,
    mut both: Both,
    halves: [Half<'_>; 2],
) -> Option<Stm<Soac>> {
    let mut inside: HashSet<Var> = HashSet::default();
    for half in &halves {
        inside.extend(half.walk.params.iter().map(|p| p.var));
        let stms = &half.walk.body.stms;
        inside.extend(stms.iter().flat_map(|stm| stm.binds.iter().copied()));
    }
    let [first, second] = &halves;
    let params = [first, second].map(|half| half.walk.params);
    let places = [first, second].map(|half| half.walk.params[half.walk.place].var);
    let has = |known: &HashSet<Var>, stm: &Stm<Soac>| {
        let free = free_in_stm(vars, stm);
        free.iter()
            .all(|v| known.contains(v) || !inside.contains(v))
    };
    let mut known: HashSet<Var> = places.into_iter().collect();
    for stm in &both.stms {
        if !has(&known, stm) {
            return None;
        }
        known.extend(stm.binds.iter().copied());
    }
    let mut owns = Vec::new();
    for half in &halves {
        let (mut own, mut spans) = (half.own.clone(), Vec::new());
        for stm in std::mem::take(&mut own.stms) {
            match step(&stm.exp) {
                Some(step) if step.op == StreamOp::Read && has(&known, &stm) => {
                    known.extend(stm.binds.iter().copied());
                    both.stms.push(stm);
                }
                Some(_) => return None,
                None => own.stms.push(stm),
            }
        }
        all_stms(&own, &mut |stm| spans.extend(step(&stm.exp)));
        if !spans.is_empty() || !reads(&own, funs).is_empty() {
            return None;
        }
        owns.push((own, half.stm.span));
    }
    let [place, any] = [first.walk.place, first.walk.more].map(|at| LoopParam {
        var: fresh(vars, &mut Subst::new(), first.walk.params[at].var),
        init: first.walk.params[at].init,
    });
    let subst = Subst::of(places, [place.var.into(); 2]);
    let span = first.stm.span;
    for stm in &mut both.stms {
        substitute_stm(vars, &subst, stm);
    }
    let mut body = Body {
        stms: both.stms,
        result: Vec::new(),
    };
    let mut more = Vec::new();
    for (half, (own, span)) in halves.iter().zip(owns) {
        let mut renamed = Subst::new();
        let params = half.walk.params;
        let binds: Vec<Var> = params
            .iter()
            .map(|p| fresh(vars, &mut renamed, p.var))
            .collect();
        body.result.extend(binds.iter().map(|v| Atom::Var(*v)));
        more.push(Atom::Var(binds[half.walk.more]));
        body.stms.push(Stm {
            binds,
            certs: Vec::new(),
            exp: Exp::If {
                cond: params[half.walk.more].var.into(),
                then: own,
                otherwise: Body {
                    stms: Vec::new(),
                    result: params.iter().map(|p| Atom::Var(p.var)).collect(),
                },
            },
            span,
        });
    }
    let add = ScalarOp::Bin(BinOp::Add, ScalarType::I64);
    let or = ScalarOp::Bin(BinOp::Or, ScalarType::Bool);
    let controls = [
        (place, add, vec![place.var.into(), both.count.into()]),
        (any, or, more),
    ];
    let mut params = params.concat();
    let mut binds = [&first.stm.binds[..], &second.stm.binds].concat();
    for (param, op, args) in controls {
        let bind = fresh(vars, &mut Subst::new(), param.var);
        body.stms.push(scalar(bind, op, args, span));
        body.result.push(bind.into());
        params.push(param);
        binds.push(fresh(vars, &mut Subst::new(), param.var));
    }
    let mut certs = first.stm.certs.clone();
    certs.extend(
        second
            .stm
            .certs
            .iter()
            .filter(|c| !first.stm.certs.contains(c)),
    );
    fired("chunks/ends");
    Some(Stm {
        binds,
        certs,
        exp: Exp::Loop {
            params,
            form: crate::ir::syntax::LoopForm::While(Body {
                stms: Vec::new(),
                result: vec![any.var.into()],
            }),
            body,
        },
        span,
    })
}

fn scalar(bind: Var, op: ScalarOp, args: Vec<Atom>, span: SpanId) -> Stm<Soac> {
    Stm {
        binds: vec![bind],
        certs: Vec::new(),
        exp: Exp::Scalar(op, args),
        span,
    }
}
