//! Where the steps of loops go.

use crate::ir::id::Var;
use crate::ir::mem::Mem;
use crate::ir::scalar::{BinOp, ScalarOp};
use crate::ir::syntax::{Atom, Body, Exp, LoopForm, Stm};
use crate::ir::types::ScalarType;
use crate::ir::walk::{all_stms, body_binders};
use std::collections::{BTreeMap, BTreeSet};

/// The most places that a loop goes to.
const MOST: usize = 32;

/// An index of step `i`: a number that is the same in all steps, and another one times `i` plus a constant, or times what is left of a
/// number from which `i` is taken, plus a constant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) base: Option<Atom>,
    pub(super) step: Atom,
    pub(super) down: Option<Atom>,
    pub(super) ahead: i64,
}

impl Place {
    /// How many steps later a step comes to the place where another one is at once, if both go the same way.
    pub(super) fn ahead_of(&self, other: &Self) -> Option<i64> {
        let of = |place: &Self| (place.base, place.step, place.down);
        let (further, back) = match self.down {
            None => (self, other),
            Some(_) => (other, self),
        };
        let ahead = further.ahead.checked_sub(back.ahead);
        ahead.filter(|_| of(self) == of(other))
    }
}

/// What a step does with a buffer.
#[derive(Clone, Copy, Debug)]
pub(super) struct Access {
    pub(super) buffer: Var,
    pub(super) stores: bool,
    /// Where, if that is known.
    pub(super) place: Option<Place>,
}

impl Access {
    /// Whether an order of both may matter.
    pub(super) fn meets(&self, other: &Self, apart: &BTreeSet<Var>) -> bool {
        let [a, b] = [self, other].map(|access| access.buffer);
        (self.stores || other.stores) && (a == b || !apart.contains(&a) && !apart.contains(&b))
    }

    /// Whether a loop has been where another is in the same step, or is there just before.
    pub(super) fn is_before(&self, later: &Self) -> bool {
        let places = self.place.zip(later.place);
        let ahead = places.and_then(|(place, later)| place.ahead_of(&later));
        ahead.is_some_and(|ahead| ahead >= 0)
    }
}

/// What a loop does with memory.
pub(super) struct Effects {
    pub(super) accesses: Vec<Access>,
    /// Whether it may fail, and how many statements it has.
    pub(super) fails: bool,
    pub(super) size: usize,
}

impl Effects {
    /// What a loop with a counter does, if all of it is told by single elements.
    pub(super) fn of(stm: &Stm<Mem>) -> Option<Self> {
        let Exp::Loop {
            form: LoopForm::For { index, .. },
            body,
            ..
        } = &stm.exp
        else {
            return None;
        };
        let indices = Indices::of(*index, body);
        let mut effects = Self {
            accesses: Vec::new(),
            fails: false,
            size: 0,
        };
        let mut only = true;
        all_stms(body, &mut |stm| {
            effects.size += 1;
            effects.accesses.extend(indices.access(&stm.exp));
            match &stm.exp {
                Exp::Assert { .. } => effects.fails = true,
                Exp::Atom(_)
                | Exp::Scalar(..)
                | Exp::If { .. }
                | Exp::Op(Mem::Load { .. } | Mem::Store { .. }) => {}
                // It may not end.
                Exp::Loop { form, .. } => {
                    effects.fails |= matches!(form, LoopForm::While(_));
                }
                Exp::Guard { .. } | Exp::Call { .. } | Exp::Op(_) => only = false,
            }
        });
        (only && effects.accesses.len() <= MOST).then_some(effects)
    }
}

/// How the indices of a loop are computed.
pub(super) struct Indices {
    counter: Var,
    inner: BTreeSet<Var>,
    scalars: BTreeMap<Var, (ScalarOp, Vec<Atom>)>,
}

impl Indices {
    pub(super) fn of(counter: Var, body: &Body<Mem>) -> Self {
        let mut inner = BTreeSet::from([counter]);
        body_binders(body, &mut |v| {
            inner.insert(v);
        });
        let mut scalars = BTreeMap::new();
        all_stms(body, &mut |stm| {
            if let (Exp::Scalar(op @ ScalarOp::Bin(_, ScalarType::I64), args), [bind]) =
                (&stm.exp, &stm.binds[..])
            {
                scalars.insert(*bind, (*op, args.clone()));
            }
        });
        Self {
            counter,
            inner,
            scalars,
        }
    }

    /// What a load or a store does.
    pub(super) fn access(&self, exp: &Exp<Mem>) -> Option<Access> {
        let (buffer, index, stores) = match exp {
            Exp::Op(Mem::Load { buffer, index }) => (*buffer, *index, false),
            Exp::Op(Mem::Store { buffer, index, .. }) => (*buffer, *index, true),
            Exp::Atom(_)
            | Exp::Scalar(..)
            | Exp::Assert { .. }
            | Exp::Guard { .. }
            | Exp::If { .. }
            | Exp::Loop { .. }
            | Exp::Call { .. }
            | Exp::Op(_) => return None,
        };
        let place = self.place(index);
        Some(Access {
            buffer,
            stores,
            place,
        })
    }

    /// Whether a number is the same in all steps.
    pub(super) fn is_fixed(&self, atom: Atom) -> bool {
        !atom.as_var().is_some_and(|v| self.inner.contains(&v))
    }

    fn defined(&self, atom: Atom) -> Option<(BinOp, [Atom; 2])> {
        match self.scalars.get(&atom.as_var()?)? {
            (ScalarOp::Bin(op, _), args) => Some((*op, [args[0], args[1]])),
            (_, _) => None,
        }
    }

    /// An index, if it grows evenly from step to step.
    fn place(&self, index: Atom) -> Option<Place> {
        if let Some((BinOp::Add, [a, b])) = self.defined(index) {
            let (base, number) = match (self.is_fixed(a), self.is_fixed(b)) {
                (true, false) if a.as_i64().is_none() => (a, b),
                (false, true) if b.as_i64().is_none() => (b, a),
                (_, _) => return self.multiple(index),
            };
            let place = self.multiple(number)?;
            return Some(Place {
                base: Some(base),
                ..place
            });
        }
        self.multiple(index)
    }

    /// A number of steps, or a multiple of one.
    fn multiple(&self, number: Atom) -> Option<Place> {
        let (step, number) = match self.defined(number) {
            Some((BinOp::Mul, [a, b])) if self.is_fixed(a) => (a, b),
            Some((BinOp::Mul, [a, b])) if self.is_fixed(b) => (b, a),
            Some(_) | None => (Atom::ONE, number),
        };
        let (down, ahead) = self.ahead(number)?;
        Some(Place {
            base: None,
            step,
            down,
            ahead,
        })
    }

    /// By how much a number is more than that of the step, or than what is left of another number.
    fn ahead(&self, number: Atom) -> Option<(Option<Atom>, i64)> {
        let counter = Atom::Var(self.counter);
        if number == counter {
            return Some((None, 0));
        }
        let (of, more) = match self.defined(number)? {
            (BinOp::Sub, [a, b]) if b == counter && self.is_fixed(a) => return Some((Some(a), 0)),
            (BinOp::Add, [a, b]) if b.as_i64().is_some() => (a, b.as_i64()?),
            (BinOp::Add, [a, b]) => (b, a.as_i64()?),
            (BinOp::Sub, [a, b]) => (a, b.as_i64()?.checked_neg()?),
            (_, _) => return None,
        };
        let (down, ahead) = self.ahead(of)?;
        Some((down, ahead.checked_add(more)?))
    }
}
