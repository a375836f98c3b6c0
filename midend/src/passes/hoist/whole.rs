//! Loop-invariant code motion for whole loops, calls and parallel operations: what does not depend on the loop is computed before it,
//! if the loop does anything.
//!
//! ```text
//! loop (s = 0) for i < n {                       let some = lt.i64(0, n)
//!   let k = call costly (m)                      let k = if some { let k = call costly (m); yield k } else { yield 0 }
//!   loop (t = s) for j < k { .. i * j }   ──►    loop (s = 0) for i < n {
//! }                                                loop (t = s) for j < k { .. i * j }
//!                                                }
//! ```
//!
//! So it may fail, or never end, as it does in the first step. With it goes a copy of what it needs, as far as that does not depend on the
//! loop either: cheap operations, which stay where they are for all else that reads them. Arrays have no value for a loop that does nothing;
//! where they are made, the loop stands in the branch, too, and the other one yields what the loop begins with.
//!
//! What consumes something from outside stays, and so do arrays that are consumed in the loop, or become its results: each step makes its own.
//! Nothing leaves operators and bodies of `while` loops, which may be executed not at all; their conditions are executed once at least.

use super::{Hoist, Trips};
use crate::analysis::aliases::{Aliases, consumed};
use crate::analysis::totality::is_total;
use crate::fired::fired;
use crate::hash::HashSet;
use crate::ir::array::ArrayOp;
use crate::ir::id::{FunId, SpanId, Var};
use crate::ir::rename::{self, Subst};
use crate::ir::scalar::{CmpOp, Const, ScalarOp};
use crate::ir::soac::Soac;
use crate::ir::syntax::{Atom, Body, Exp, Stm};
use crate::ir::types::Type;
use crate::ir::walk::{all_stms, body_binders, deep, free_in_stm, type_vars};

/// The fewest statements of the lambda of a map whose results are worth memory.
const LONG: usize = 8;

/// What leaves a loop with what needs it: the condition under which it is computed, and its statements.
pub(super) struct Guarded {
    some: Atom,
    stms: Vec<Stm<Soac>>,
}

impl Guarded {
    /// The loop after what left it, if it does anything; else what it begins with.
    pub(super) fn around(self, hoist: &mut Hoist<'_>, stm: &mut Stm<Soac>, inits: Vec<Atom>) {
        let Self { some, mut stms } = self;
        let mut subst = Subst::new();
        let binds = stm.binds.iter();
        let binds: Vec<Var> = binds
            .map(|v| rename::fresh(hoist.vars, &mut subst, *v))
            .collect();
        let result = binds.iter().map(|v| (*v).into()).collect();
        let nothing = Exp::Atom(Atom::ZERO);
        stms.push(Stm {
            binds,
            certs: stm.certs.clone(),
            exp: std::mem::replace(&mut stm.exp, nothing),
            span: stm.span,
        });
        stm.exp = Exp::If {
            cond: some,
            then: Body { stms, result },
            otherwise: Body {
                stms: Vec::new(),
                result: inits,
            },
        };
    }
}

/// A statement that does not depend on the loop.
struct Invariant {
    at: usize,
    free: Vec<Var>,
    is_costly: bool,
}

impl Hoist<'_> {
    /// Moves costly statements from the top of a body to `out` that do not depend on anything bound in it; arrays only out of loops.
    /// Whether there was any, and what is to stand around the loop.
    pub(super) fn whole(
        &mut self,
        body: &mut Body<Soac>,
        trips: Trips,
        (bound, is_loop): (&HashSet<Var>, bool),
        out: &mut Vec<Stm<Soac>>,
    ) -> (bool, Option<Guarded>) {
        if matches!(trips, Trips::Unknown) || !body.stms.iter().any(|stm| self.may_move(stm)) {
            return (false, None);
        }
        let invariants = self.invariants(body, bound, is_loop);
        // What the costly ones need comes with them.
        let mut needed: HashSet<Var> = HashSet::default();
        let mut chosen: Vec<&Invariant> = Vec::new();
        for invariant in invariants.iter().rev() {
            let binds = &body.stms[invariant.at].binds;
            if invariant.is_costly || binds.iter().any(|v| needed.contains(v)) {
                needed.extend(&invariant.free);
                chosen.push(invariant);
            }
        }
        chosen.reverse();
        let Some(first) = chosen.iter().find(|invariant| invariant.is_costly) else {
            return (false, None);
        };
        let span = body.stms[first.at].span;
        let mut subst = Subst::new();
        let mut stms = Vec::new();
        let mut leaving = Vec::new();
        let mut moved: HashSet<usize> = HashSet::default();
        let idle = chosen.iter().all(|invariant| {
            let stm = &body.stms[invariant.at];
            is_idle(stm, trips)
        });
        for invariant in &chosen {
            let stm = &body.stms[invariant.at];
            let is_scalar = |v: &Var| matches!(self.vars[*v].ty, Type::Scalar(_));
            if invariant.is_costly || stm.binds.iter().all(is_scalar) {
                if invariant.is_costly {
                    fired("hoist/whole");
                }
                leaving.extend(&stm.binds);
                moved.insert(invariant.at);
                let mut stm = stm.clone();
                rename::substitute_stm(self.vars, &subst, &mut stm);
                stms.push(stm);
            } else {
                stms.push(rename::stm(self.vars, &mut subst, stm));
            }
        }
        let mut at = 0;
        body.stms.retain(|_| {
            at += 1;
            !moved.contains(&(at - 1))
        });
        let some = match idle {
            true => None,
            false => self.some(trips, span, out),
        };
        let Some(some) = some else {
            out.extend(stms);
            return (true, None);
        };
        let zeros = leaving.iter().map(|v| match &self.vars[*v].ty {
            Type::Scalar(ty) => Some(Atom::Const(Const::zero(*ty))),
            Type::Array(_) | Type::Buffer(_) | Type::Acc(_) | Type::Cert => None,
        });
        let Some(zeros) = zeros.collect::<Option<Vec<Atom>>>() else {
            fired("hoist/whole-around");
            return (true, Some(Guarded { some, stms }));
        };
        out.push(self.guarded(some, stms, (leaving, zeros), span));
        (true, None)
    }

    /// A choice between what statements bind, which gets other names in the branch, and zeros.
    fn guarded(
        &mut self,
        some: Atom,
        stms: Vec<Stm<Soac>>,
        (leaving, zeros): (Vec<Var>, Vec<Atom>),
        span: SpanId,
    ) -> Stm<Soac> {
        let mut then = Body {
            stms,
            result: leaving.iter().map(|v| (*v).into()).collect(),
        };
        rename::refresh(self.vars, &mut Subst::new(), &mut then);
        Stm {
            binds: leaving,
            certs: Vec::new(),
            exp: Exp::If {
                cond: some,
                then,
                otherwise: Body {
                    stms: Vec::new(),
                    result: zeros,
                },
            },
            span,
        }
    }

    /// Whether a body is executed; nothing if it surely is.
    fn some(&mut self, trips: Trips, span: SpanId, out: &mut Vec<Stm<Soac>>) -> Option<Atom> {
        let Trips::Count(n) = trips else {
            return None;
        };
        if let Atom::Const(n) = n
            && n.as_int().is_some_and(|n| n > 0)
        {
            return None;
        }
        let Type::Scalar(ty) = n.ty(self.vars) else {
            return None;
        };
        let zero = Atom::Const(Const::zero(ty));
        let op = ScalarOp::Cmp(CmpOp::Lt, ty);
        Some(self.emit("some", op, vec![zero, n], span, out))
    }

    /// The statements of a body that depend on nothing that is bound in it but on one another.
    fn invariants(&self, body: &Body<Soac>, bound: &HashSet<Var>, arrays: bool) -> Vec<Invariant> {
        let mut inside = bound.clone();
        // What is bound by those found so far, and may be consumed by others of them.
        let mut own: HashSet<Var> = HashSet::default();
        let mut aliases = None;
        let mut found = Vec::new();
        for (at, stm) in body.stms.iter().enumerate() {
            // Most depend on something inside that stands in the statement itself.
            let outside = self.is_outside(stm, &inside);
            let costly = outside && self.is_costly(stm);
            let free = (outside && (costly || is_cheap(stm)))
                .then(|| free_in_stm(self.vars, stm))
                .filter(|free| free.iter().all(|v| !inside.contains(v)));
            let fits = |hoist: &Self, aliases: &mut Option<Kept>| {
                let mut takes_ours = true;
                consumed_by(hoist, stm, &mut |v| takes_ours &= own.contains(&v));
                let leaves = |v: &Var| match &hoist.vars[*v].ty {
                    Type::Scalar(_) => true,
                    Type::Array(_) => arrays,
                    Type::Buffer(_) | Type::Acc(_) | Type::Cert => false,
                };
                let made = stm.binds.iter().filter(|v| hoist.vars[**v].ty.is_array());
                let made: Vec<Var> = made.copied().collect();
                let is_kept = made.is_empty()
                    || aliases
                        .get_or_insert_with(|| Kept::of(hoist, body))
                        .keeps(&made);
                takes_ours && stm.binds.iter().all(leaves) && is_kept
            };
            match free {
                Some(free) if !costly || fits(self, &mut aliases) => {
                    own.extend(&stm.binds);
                    found.push(Invariant {
                        at,
                        free,
                        is_costly: costly,
                    });
                }
                Some(_) | None => inside.extend(&stm.binds),
            }
        }
        found
    }

    /// Whether nothing that a statement itself uses is inside.
    fn is_outside(&self, stm: &Stm<Soac>, inside: &HashSet<Var>) -> bool {
        let mut outside = !stm.certs.iter().any(|cert| inside.contains(cert));
        stm.exp
            .operands(&mut |a| outside &= a.as_var().is_none_or(|v| !inside.contains(&v)));
        for v in &stm.binds {
            type_vars(&self.vars[*v].ty, &mut |n| {
                outside &= !inside.contains(&n);
            });
        }
        outside
    }

    /// Whether a statement is of a kind that is moved for its own sake.
    fn may_move(&self, stm: &Stm<Soac>) -> bool {
        match &stm.exp {
            Exp::If { .. } | Exp::Loop { .. } | Exp::Call { .. } => true,
            Exp::Op(op) => !matches!(op, Soac::Array(_) | Soac::UpdateAcc(_)),
            Exp::Atom(_) | Exp::Scalar(..) | Exp::Assert { .. } | Exp::Guard { .. } => false,
        }
    }

    /// Whether computing something again and again costs more than keeping it; not if it shows anything.
    fn is_costly(&self, stm: &Stm<Soac>) -> bool {
        let is_long = |body: &Body<Soac>| {
            let mut costly = body.stms.len() >= LONG;
            for stm in &body.stms {
                costly = costly || deep(|| self.is_costly(stm));
            }
            costly
        };
        let costly = match &stm.exp {
            Exp::Loop { .. } => true,
            Exp::Call { fun, .. } => !self.shows[fun.0 as usize],
            Exp::If {
                then, otherwise, ..
            } => {
                let mut branches = [then, otherwise].into_iter().flat_map(|b| &b.stms);
                branches.any(|stm| deep(|| self.is_costly(stm)))
            }
            Exp::Op(Soac::Screma {
                lam, scans, reds, ..
            }) => !scans.is_empty() || !reds.is_empty() || is_long(&lam.body),
            Exp::Op(Soac::Hist { .. } | Soac::Filter { .. } | Soac::FlatMap { .. }) => true,
            Exp::Op(
                Soac::Array(_) | Soac::Scatter { .. } | Soac::WithAcc { .. } | Soac::UpdateAcc(_),
            )
            | Exp::Atom(_)
            | Exp::Scalar(..)
            | Exp::Assert { .. }
            | Exp::Guard { .. } => false,
        };
        costly && !shows(stm, self.shows)
    }
}

/// Whether a statement is cheap to compute twice.
fn is_cheap(stm: &Stm<Soac>) -> bool {
    match &stm.exp {
        Exp::Atom(_) | Exp::Scalar(..) => true,
        Exp::Op(Soac::Array(op)) => match op {
            ArrayOp::Index { .. }
            | ArrayOp::Slice { .. }
            | ArrayOp::Literal { .. }
            | ArrayOp::Iota { .. }
            | ArrayOp::Replicate { .. }
            | ArrayOp::Rearrange { .. }
            | ArrayOp::Reshape { .. }
            | ArrayOp::Scratch { .. }
            | ArrayOp::Copy(_)
            | ArrayOp::Concat { .. }
            | ArrayOp::Manifest { .. } => true,
            ArrayOp::Update { .. } | ArrayOp::Trace(_) | ArrayOp::Stream(_) => false,
        },
        Exp::Op(Soac::Screma { scans, reds, .. }) => scans.is_empty() && reds.is_empty(),
        Exp::Op(_)
        | Exp::Assert { .. }
        | Exp::Guard { .. }
        | Exp::If { .. }
        | Exp::Loop { .. }
        | Exp::Call { .. } => false,
    }
}

/// Whether a statement does nothing where a body is executed not at all: it goes through as many elements, and cannot fail.
fn is_idle(stm: &Stm<Soac>, trips: Trips) -> bool {
    let (Exp::Op(Soac::Screma { width, .. }), Trips::Count(n)) = (&stm.exp, trips) else {
        return false;
    };
    let mut total = Atom::from(*width) == n;
    stm.exp.scopes(&mut |_, body| {
        all_stms(body, &mut |stm| {
            total &= match &stm.exp {
                Exp::Scalar(op, args) => is_total(*op, args),
                Exp::Atom(_) | Exp::If { .. } | Exp::Guard { .. } => true,
                Exp::Op(_) | Exp::Loop { .. } | Exp::Assert { .. } | Exp::Call { .. } => false,
            };
        });
    });
    total
}

/// Whether a statement, or one nested in it, shows something or goes through a sequence.
pub(super) fn shows(stm: &Stm<Soac>, funs: &[bool]) -> bool {
    let own = |stm: &Stm<Soac>| match &stm.exp {
        Exp::Op(Soac::Array(op)) => matches!(op, ArrayOp::Trace(_) | ArrayOp::Stream(_)),
        Exp::Call { fun: FunId(i), .. } => funs[*i as usize],
        Exp::Op(_)
        | Exp::Atom(_)
        | Exp::Scalar(..)
        | Exp::Assert { .. }
        | Exp::Guard { .. }
        | Exp::If { .. }
        | Exp::Loop { .. } => false,
    };
    let mut any = own(stm);
    stm.exp.scopes(&mut |_, body| {
        all_stms(body, &mut |stm| any |= own(stm));
    });
    any
}

/// Calls `f` on what a statement consumes that it does not bind itself.
fn consumed_by(hoist: &Hoist<'_>, stm: &Stm<Soac>, f: &mut dyn FnMut(Var)) {
    let mut inner: HashSet<Var> = HashSet::default();
    stm.exp.inner_binders(&mut |v| {
        inner.insert(v);
    });
    stm.exp.scopes(&mut |_, body| {
        body_binders(body, &mut |v| {
            inner.insert(v);
        });
    });
    let mut taken = Vec::new();
    consumed(stm, hoist.unique, &mut |v| taken.push(v));
    // What is consumed inside may be another name of something outside.
    let mut aliases = Aliases::default();
    aliases.learn(stm);
    let closure = aliases.closure(taken);
    closure
        .into_iter()
        .filter(|v| !inner.contains(v))
        .for_each(f);
}

/// The arrays of a body that nothing in it consumes, and that are not part of its results.
struct Kept {
    touched: HashSet<Var>,
}

impl Kept {
    fn of(hoist: &Hoist<'_>, body: &Body<Soac>) -> Self {
        let mut touched: Vec<Var> = body.result.iter().filter_map(|a| a.as_var()).collect();
        for stm in &body.stms {
            consumed(stm, hoist.unique, &mut |v| touched.push(v));
        }
        let touched = Aliases::of(body).closure(touched);
        Self { touched }
    }

    fn keeps(&self, arrays: &[Var]) -> bool {
        !arrays.iter().any(|v| self.touched.contains(v))
    }
}
