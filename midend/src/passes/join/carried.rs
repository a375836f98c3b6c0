//! What the step before has stored is carried to the next, which need not load it:
//!
//! ```text
//! loop j < n {                                       loop (last = 0) j < n {
//!   last = if j == 0 { 0 } else { y[j - 1] }   ──►     y[j] = g v last
//!   y[j] = g v last                                  } next g v last
//! }
//! ```
//!
//! What the first step loads is loaded before the loop, if it has a step (Kennedy and Allen, *Optimizing Compilers for Modern Architectures*,
//! 8.3, scalar replacement).

use super::places::{Access, Effects, Indices, Place};
use crate::fired::fired;
use crate::ir::build::Builder;
use crate::ir::id::Var;
use crate::ir::mem::Mem;
use crate::ir::scalar::{BinOp, CmpOp, Const, ScalarOp};
use crate::ir::syntax::{Atom, Body, Exp, LoopForm, LoopParam, Stm, VarInfo, Vars};
use crate::ir::types::{ScalarType, Type};
use std::collections::BTreeSet;

/// The most that a loop carries: all of it is to stay in registers.
const MOST: usize = 4;

/// Has the loops of a body carry what they load one step later. `apart` are buffers of one name.
pub(super) fn carry(vars: &mut Vars, apart: &BTreeSet<Var>, body: &mut Body<Mem>) {
    let mut stms = Vec::with_capacity(body.stms.len());
    for mut stm in std::mem::take(&mut body.stms) {
        stm.exp.bodies_mut(&mut |inner| carry(vars, apart, inner));
        while let Some(found) = find(vars, apart, &stm) {
            fired("join/carried");
            found.carry(vars, &mut stm, &mut stms);
        }
        stms.push(stm);
    }
    body.stms = stms;
}

/// Statements, and the number that comes of them.
type Made = (Vec<Stm<Mem>>, Atom);

/// A statement of a loop that loads what the step before has stored.
struct Found {
    at: usize,
    /// The buffer, the place, and what must have been checked.
    buffer: Var,
    elem: ScalarType,
    place: Place,
    certs: Vec<Var>,
    /// What is stored.
    value: Atom,
    /// What the first step has instead, if that is no load, and what computes it.
    first: Option<Made>,
}

fn find(vars: &Vars, apart: &BTreeSet<Var>, stm: &Stm<Mem>) -> Option<Found> {
    let Exp::Loop {
        params,
        form: LoopForm::For { index, .. },
        body,
    } = &stm.exp
    else {
        return None;
    };
    if params.len() >= MOST {
        return None;
    }
    let effects = Effects::of(stm)?;
    let indices = Indices::of(*index, body);
    let mut all = body.stms.iter().enumerate();
    all.find_map(|(at, stm)| {
        let (load, first) = match &stm.exp {
            Exp::If { .. } => {
                let (first, load) = but_first(&indices, *index, body, stm)?;
                (load, Some(first))
            }
            Exp::Op(Mem::Load { .. }) => (stm, None),
            Exp::Op(_)
            | Exp::Atom(_)
            | Exp::Scalar(..)
            | Exp::Assert { .. }
            | Exp::Guard { .. }
            | Exp::Loop { .. }
            | Exp::Call { .. } => return None,
        };
        let access = indices.access(&load.exp)?;
        let place = access.place?;
        let fixed = |v: &Var| indices.is_fixed(Atom::Var(*v));
        if first.is_none() && !load.certs.iter().all(fixed) {
            return None;
        }
        Some(Found {
            at,
            buffer: access.buffer,
            elem: vars[access.buffer].ty.elem()?,
            place,
            certs: load.certs.clone(),
            value: stored(apart, (&effects, &indices), body, &access)?,
            first,
        })
    })
}

/// What each step stores where the next one loads, if nothing else is stored there in between.
fn stored(
    apart: &BTreeSet<Var>,
    (effects, indices): (&Effects, &Indices),
    body: &Body<Mem>,
    load: &Access,
) -> Option<Atom> {
    let later = |store: &Access| {
        let places = store.place.zip(load.place);
        let same = places.filter(|_| store.buffer == load.buffer);
        same.and_then(|(store, load)| store.ahead_of(&load))
    };
    let meets = |store: &&Access| {
        let near = later(store).is_none_or(|steps| matches!(steps, 0 | 1));
        store.stores && store.meets(load, apart) && near
    };
    if effects.accesses.iter().filter(meets).count() != 1 {
        return None;
    }
    body.stms.iter().find_map(|stm| match &stm.exp {
        Exp::Op(Mem::Store { value, .. }) => {
            let access = indices.access(&stm.exp)?;
            (later(&access) == Some(1)).then_some(*value)
        }
        Exp::Op(_)
        | Exp::Atom(_)
        | Exp::Scalar(..)
        | Exp::Assert { .. }
        | Exp::Guard { .. }
        | Exp::If { .. }
        | Exp::Loop { .. }
        | Exp::Call { .. } => None,
    })
}

/// What a choice yields in the first step, and computes it, if that is the same whatever the loop does, and the load whose number it yields in the
/// others.
fn but_first<'a>(
    indices: &Indices,
    counter: Var,
    body: &Body<Mem>,
    stm: &'a Stm<Mem>,
) -> Option<(Made, &'a Stm<Mem>)> {
    let Exp::If {
        cond,
        then,
        otherwise,
    } = &stm.exp
    else {
        return None;
    };
    let made = |of: &&Stm<Mem>| of.binds.iter().any(|v| Atom::Var(*v) == *cond);
    let Exp::Scalar(ScalarOp::Cmp(op, ScalarType::I64), args) = &body.stms.iter().find(made)?.exp
    else {
        return None;
    };
    let (counter, zero) = (Atom::Var(counter), Atom::from(0i64));
    let (first, others) = match (op, args[0], args[1]) {
        (CmpOp::Eq, a, b) if (a, b) == (counter, zero) || (a, b) == (zero, counter) => {
            (then, otherwise)
        }
        (CmpOp::Lt, a, b) if (a, b) == (zero, counter) => (otherwise, then),
        (CmpOp::Le, a, b) if (a, b) == (Atom::ONE, counter) => (otherwise, then),
        (_, _, _) => return None,
    };
    let (load, before) = others.stms.split_last()?;
    let only_index = before.iter().all(|stm| matches!(stm.exp, Exp::Scalar(..)));
    let yields = others.result == [Atom::Var(*load.binds.first()?)];
    let [number] = first.result[..] else {
        return None;
    };
    // What needs no check may be computed before the loop.
    let mut made = BTreeSet::new();
    let is_fixed = |atom: Atom, made: &BTreeSet<Var>| {
        indices.is_fixed(atom) || atom.as_var().is_some_and(|v| made.contains(&v))
    };
    for stm in &first.stms {
        let Exp::Scalar(_, args) = &stm.exp else {
            return None;
        };
        if !stm.certs.is_empty() || !args.iter().all(|atom| is_fixed(*atom, &made)) {
            return None;
        }
        made.extend(&stm.binds);
    }
    let fits = is_fixed(number, &made) && only_index && yields;
    let first = (first.stms.clone(), number);
    (fits && matches!(load.exp, Exp::Op(Mem::Load { .. }))).then_some((first, load))
}

impl Found {
    /// Has a loop carry it. What comes before the loop goes to `before`.
    fn carry(mut self, vars: &mut Vars, stm: &mut Stm<Mem>, before: &mut Vec<Stm<Mem>>) {
        let mut fresh = |name: &str| {
            let (name, ty) = (name.into(), Type::Scalar(self.elem));
            vars.push(VarInfo { name, ty })
        };
        let (var, last) = (fresh("carried"), fresh("last"));
        let Exp::Loop {
            params,
            form: LoopForm::For { bound, .. },
            body,
        } = &mut stm.exp
        else {
            return;
        };
        let init = match self.first.take() {
            Some((stms, number)) => {
                before.extend(stms);
                number
            }
            None => {
                let mut b = Builder::new(vars);
                let first = b.with_span(stm.span, |b| self.load(b, *bound));
                before.extend(b.finish(vec![]).stms);
                first
            }
        };
        body.stms[self.at].exp = Exp::Atom(var.into());
        body.result.push(self.value);
        params.push(LoopParam { var, init });
        stm.binds.push(last);
    }

    /// What the first step loads, if there is one.
    fn load(&self, b: &mut Builder<'_, Mem>, bound: Atom) -> Atom {
        let scalar = |b: &mut Builder<'_, Mem>, op, x: Atom, y: Atom| -> Atom {
            let exp = Exp::Scalar(ScalarOp::Bin(op, ScalarType::I64), vec![x, y]);
            b.let_("ix", Type::Scalar(ScalarType::I64), exp).into()
        };
        let some = Exp::Scalar(
            ScalarOp::Cmp(CmpOp::Lt, ScalarType::I64),
            vec![Atom::from(0i64), bound],
        );
        let some = b.let_("some", Type::Scalar(ScalarType::Bool), some);
        let Place {
            base,
            step,
            down,
            ahead,
        } = self.place;
        let first = b.if_(
            some.into(),
            &[("first", Type::Scalar(self.elem))],
            |b| {
                let mut index = Atom::from(ahead);
                if let Some(down) = down {
                    index = scalar(b, BinOp::Add, down, index);
                }
                if step != Atom::ONE {
                    index = scalar(b, BinOp::Mul, index, step);
                }
                if let Some(base) = base {
                    index = scalar(b, BinOp::Add, base, index);
                }
                let buffer = self.buffer;
                let load = Exp::Op(Mem::Load { buffer, index });
                b.with_certs(&self.certs, |b| {
                    vec![b.let_("first", Type::Scalar(self.elem), load).into()]
                })
            },
            |_| vec![Atom::Const(Const::zero(self.elem))],
        );
        first[0].into()
    }
}
