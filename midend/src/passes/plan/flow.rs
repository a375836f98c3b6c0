//! Where the memory of an array comes from, read off the flat program: what is updated in place all along a loop or
//! conditional needs no memory of its own.

use crate::hash::HashMap;
use crate::ir::array::ArrayOp;
use crate::ir::id::{IdMap, Var};
use crate::ir::seg::{Seg, SegKind, SegOp};
use crate::ir::syntax::{Atom, Body, Exp, LoopParam, Stm};
use crate::ir::walk::{all_bodies, deep};
use std::cell::RefCell;

/// What an array is to the arrays before it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Origin {
    /// The same elements of the same memory as another, maybe updated.
    Same(Var),
    /// The same memory with dimensions in another order.
    Rearranged(Vec<usize>, Var),
    /// The same memory under another shape.
    Reshaped(Var),
    /// Made by the statement, wherever one wants.
    Made,
    /// Something else.
    Unknown,
}

/// Where each variable of the flat program is bound, and what it is to others.
#[derive(Default)]
pub(super) struct Definitions {
    /// By which statement of its body, and as which of the variables that it binds.
    positions: IdMap<Var, Option<(usize, usize)>>,
    /// What results of conditionals and loops are, of those that were wanted: those around them want them again.
    nested: RefCell<HashMap<Var, Origin>>,
}

impl Definitions {
    /// Adds what is bound in a body.
    pub(super) fn add(&mut self, body: &Body<Seg>) {
        all_bodies(body, &mut |body| {
            for (i, stm) in body.stms.iter().enumerate() {
                for (k, bind) in stm.binds.iter().enumerate() {
                    self.positions.set(*bind, Some((i, k)));
                }
            }
        });
    }

    /// Which of these statements, the first ones of their body, binds a variable, and as which of its variables.
    pub(super) fn definition(&self, stms: &[Stm<Seg>], var: Var) -> Option<(usize, usize)> {
        let (i, k) = self.positions[var]?;
        (stms.get(i)?.binds.get(k) == Some(&var)).then_some((i, k))
    }

    /// What the `k`-th result of a statement is.
    pub(super) fn origin(&self, exp: &Exp<Seg>, k: usize) -> Origin {
        match exp {
            Exp::Atom(Atom::Var(v)) => Origin::Same(*v),
            Exp::Atom(Atom::Const(_))
            | Exp::Scalar(..)
            | Exp::Assert { .. }
            | Exp::Guard { .. }
            | Exp::Call { .. } => Origin::Unknown,
            Exp::If {
                then, otherwise, ..
            } => {
                let same = deep(|| {
                    let first = self.through(then, k)?;
                    (self.through(otherwise, k) == Some(first)).then_some(first)
                });
                same.map_or(Origin::Made, Origin::Same)
            }
            Exp::Loop { params, body, .. } => match params[k].init {
                Atom::Var(init) if self.is_carried(params, body, k) => Origin::Same(init),
                Atom::Var(_) | Atom::Const(_) => Origin::Made,
            },
            Exp::Op(Seg::Array(op)) => array_origin(op),
            Exp::Op(Seg::Par(op)) => par_origin(op, k),
            Exp::Op(Seg::UpdateAcc(update)) => Origin::Same(update.accs[k]),
        }
    }

    /// What a variable is, which is the `k`-th result of a statement.
    fn origin_of(&self, var: Var, exp: &Exp<Seg>, k: usize) -> Origin {
        if !matches!(exp, Exp::If { .. } | Exp::Loop { .. }) {
            return self.origin(exp, k);
        }
        if let Some(known) = self.nested.borrow().get(&var) {
            return known.clone();
        }
        let origin = self.origin(exp, k);
        self.nested.borrow_mut().insert(var, origin.clone());
        origin
    }

    /// The variable from outside of the body whose memory its `k`-th result is.
    fn through(&self, body: &Body<Seg>, k: usize) -> Option<Var> {
        let Atom::Var(mut var) = body.result[k] else {
            return None;
        };
        while let Some((i, k)) = self.definition(&body.stms, var) {
            match self.origin_of(var, &body.stms[i].exp, k) {
                Origin::Same(next) => var = next,
                Origin::Rearranged(..) | Origin::Reshaped(_) | Origin::Made | Origin::Unknown => {
                    return None;
                }
            }
        }
        Some(var)
    }

    /// Whether the `k`-th parameter of a loop is the same memory in all iterations.
    pub(super) fn is_carried(&self, params: &[LoopParam], body: &Body<Seg>, k: usize) -> bool {
        deep(|| self.through(body, k)) == Some(params[k].var)
    }
}

fn array_origin(op: &ArrayOp) -> Origin {
    match op {
        ArrayOp::Update { array, .. } => Origin::Same(*array),
        ArrayOp::Rearrange { perm, array } => Origin::Rearranged(perm.clone(), *array),
        ArrayOp::Reshape { array, .. } => Origin::Reshaped(*array),
        ArrayOp::Index { .. } | ArrayOp::Slice { .. } | ArrayOp::Manifest { .. } => Origin::Unknown,
        ArrayOp::Literal { .. }
        | ArrayOp::Iota { .. }
        | ArrayOp::Replicate { .. }
        | ArrayOp::Scratch { .. }
        | ArrayOp::Copy(_)
        | ArrayOp::Concat { .. }
        | ArrayOp::Trace(_)
        | ArrayOp::Stream(_) => Origin::Made,
    }
}

fn par_origin(op: &SegOp, k: usize) -> Origin {
    match &op.kind {
        SegKind::Map => Origin::Made,
        SegKind::Filter => Origin::Unknown,
        SegKind::Red(ops) | SegKind::Scan(ops) => {
            let scalars: usize = ops.iter().map(|op| op.neutral.len()).sum();
            if k < scalars {
                Origin::Unknown
            } else {
                Origin::Made
            }
        }
        SegKind::Hist(ops) => {
            let dest = ops.iter().flat_map(|op| &op.dests).nth(k);
            dest.map_or(Origin::Unknown, |&dest| Origin::Same(dest))
        }
        SegKind::Scatter(dests) => dests
            .get(k)
            .map_or(Origin::Unknown, |dest| Origin::Same(dest.array)),
        SegKind::WithAcc(acc) => Origin::Same(acc.dests[k]),
    }
}
