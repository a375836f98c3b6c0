//! What was stored in the same step is not loaded, and what nothing loads is not stored.

use super::places::{Access, Indices};
use crate::fired::fired;
use crate::ir::id::Var;
use crate::ir::mem::Mem;
use crate::ir::syntax::{Atom, Body, Exp, LoopForm, Stm};
use crate::ir::walk::{all_stms, all_stms_mut};
use std::collections::BTreeSet;

/// A store of a step, the value, and the number of its statement in the body at hand if it may be left out still.
#[derive(Clone)]
struct Stored {
    access: Access,
    value: Atom,
    at: Option<usize>,
}

/// Lets steps of loops have what they have stored before, without a load.
pub(super) fn forward(apart: &BTreeSet<Var>, body: &mut Body<Mem>) {
    for stm in &mut body.stms {
        if let Exp::Loop {
            form: LoopForm::For { index, .. },
            body: inner,
            ..
        } = &mut stm.exp
        {
            let indices = Indices::of(*index, inner);
            step(apart, &indices, inner, &mut Vec::new());
        }
        stm.exp.bodies_mut(&mut |inner| forward(apart, inner));
    }
}

/// A step, or a choice in one. `known` is what was stored before.
fn step(apart: &BTreeSet<Var>, indices: &Indices, body: &mut Body<Mem>, known: &mut Vec<Stored>) {
    let mut left_out = BTreeSet::new();
    for (at, stm) in body.stms.iter_mut().enumerate() {
        let access = indices.access(&stm.exp);
        match (&mut stm.exp, access) {
            (Exp::Op(Mem::Store { value, .. }), Some(access)) => {
                let over = known.iter().find(|stored| same(&stored.access, &access));
                left_out.extend(over.and_then(|stored| stored.at));
                known.retain(|stored| !may_be_one(apart, &stored.access, &access));
                known.push(Stored {
                    access,
                    value: *value,
                    at: Some(at),
                });
            }
            (exp, Some(access)) => match loaded(&access, known) {
                Some(value) => {
                    fired("join/not-loaded");
                    *exp = Exp::Atom(value);
                }
                None => read(apart, &access, known),
            },
            (
                Exp::If {
                    then, otherwise, ..
                },
                None,
            ) => {
                for side in [then, otherwise] {
                    let mut inner = known.clone();
                    inner.iter_mut().for_each(|stored| stored.at = None);
                    step(apart, indices, side, &mut inner);
                }
                after(apart, indices, stm, known);
            }
            (Exp::Loop { .. } | Exp::Call { .. } | Exp::Op(_), None) => {
                after(apart, indices, stm, known);
            }
            (Exp::Atom(_) | Exp::Scalar(..) | Exp::Assert { .. } | Exp::Guard { .. }, None) => {}
        }
    }
    let mut at = 0;
    body.stms.retain(|_| {
        at += 1;
        !left_out.contains(&(at - 1))
    });
}

fn same(a: &Access, b: &Access) -> bool {
    let places = a.place.zip(b.place);
    a.buffer == b.buffer && places.is_some_and(|(a, b)| a.ahead_of(&b) == Some(0))
}

fn loaded(access: &Access, known: &[Stored]) -> Option<Atom> {
    let stored = known.iter().find(|stored| same(&stored.access, access));
    stored.map(|stored| stored.value)
}

/// Whether two places may be one.
fn may_be_one(apart: &BTreeSet<Var>, a: &Access, b: &Access) -> bool {
    let places = a.place.zip(b.place);
    let others = places.is_some_and(|(a, b)| a.ahead_of(&b).is_some_and(|ahead| ahead != 0));
    a.meets(b, apart) && !(a.buffer == b.buffer && others)
}

/// What may have been read stays.
fn read(apart: &BTreeSet<Var>, access: &Access, known: &mut [Stored]) {
    for stored in known {
        if may_be_one(apart, &stored.access, access) {
            stored.at = None;
        }
    }
}

/// What is known after a statement with others in it.
fn after(apart: &BTreeSet<Var>, indices: &Indices, stm: &Stm<Mem>, known: &mut Vec<Stored>) {
    let body = Body {
        stms: vec![stm.clone()],
        result: Vec::new(),
    };
    all_stms(
        &body,
        &mut |stm| match (indices.access(&stm.exp), &stm.exp) {
            (Some(access), _) if access.stores => {
                known.retain(|stored| !may_be_one(apart, &stored.access, &access));
            }
            (Some(access), _) => read(apart, &access, known),
            (
                None,
                Exp::Atom(_)
                | Exp::Scalar(..)
                | Exp::Assert { .. }
                | Exp::If { .. }
                | Exp::Loop { .. }
                | Exp::Op(Mem::Alloc { .. }),
            ) => {}
            (None, Exp::Guard { .. } | Exp::Call { .. } | Exp::Op(_)) => known.clear(),
        },
    );
}

/// Leaves out the buffers of a point that nothing reads.
pub(super) fn drop_unread(apart: &BTreeSet<Var>, body: &mut Body<Mem>) {
    let mut unread: BTreeSet<Var> = BTreeSet::new();
    all_stms(body, &mut |stm| {
        if matches!(stm.exp, Exp::Op(Mem::Alloc { .. })) {
            unread.extend(stm.binds.iter().filter(|v| apart.contains(v)));
        }
    });
    all_stms(body, &mut |stm| {
        let mut read = |v: Option<Var>| {
            v.inspect(|v| {
                unread.remove(v);
            });
        };
        match &stm.exp {
            Exp::Op(Mem::Store { value, .. }) => read(value.as_var()),
            Exp::Op(Mem::Copy { src, .. }) => read(Some(src.buffer)),
            Exp::Atom(_)
            | Exp::Scalar(..)
            | Exp::Assert { .. }
            | Exp::Guard { .. }
            | Exp::If { .. }
            | Exp::Loop { .. }
            | Exp::Call { .. }
            | Exp::Op(_) => stm.exp.operands(&mut |atom| read(atom.as_var())),
        }
    });
    if unread.is_empty() {
        return;
    }
    fired("join/not-stored");
    let gone = |stm: &Stm<Mem>| match &stm.exp {
        Exp::Op(Mem::Alloc { .. }) => stm.binds.iter().any(|v| unread.contains(v)),
        Exp::Op(Mem::Store { buffer, .. }) => unread.contains(buffer),
        Exp::Op(Mem::Copy { dst, .. }) => unread.contains(&dst.buffer),
        Exp::Atom(_)
        | Exp::Scalar(..)
        | Exp::Assert { .. }
        | Exp::Guard { .. }
        | Exp::If { .. }
        | Exp::Loop { .. }
        | Exp::Call { .. }
        | Exp::Op(_) => false,
    };
    body.stms.retain(|stm| !gone(stm));
    all_stms_mut(body, &mut |stm| {
        stm.exp
            .bodies_mut(&mut |inner| inner.stms.retain(|stm| !gone(stm)));
    });
}
