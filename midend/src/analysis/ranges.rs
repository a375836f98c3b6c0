//! Simple facts about integers: which are not negative, and which are below a bound. They hold by construction of the
//! variable, wherever it is in scope, so that what rests on them needs no certificate.
//!
//! The index of a loop, of a space, or of an `iota` that is mapped over is in `0..n`. A size that is bound together with
//! an array of this size is not negative, nor are the sizes of parameters. `n - 1 - i`, `i % n`, `i / 2`, `min` and
//! `max` of such are as well.

use crate::ir::id::Var;
use crate::ir::scalar::{BinOp, Const, ScalarOp};
use crate::ir::syntax::{Atom, Exp, Vars};
use crate::ir::types::Size;
use std::collections::{HashMap, HashSet};

/// What is known.
#[derive(Clone, Debug, Default)]
pub struct Ranges {
    not_negative: HashSet<Var>,
    below: HashMap<Var, Vec<Atom>>,
    /// `v = n - 1` by `v`.
    last: HashMap<Var, Atom>,
}

impl Ranges {
    /// Nothing is known.
    pub fn new() -> Self {
        Self::default()
    }

    /// The variable runs over `0..bound`.
    pub fn index(&mut self, v: Var, bound: Atom) {
        self.not_negative.insert(v);
        self.add_below(v, bound);
    }

    /// The variable is not negative.
    pub fn size(&mut self, v: Var) {
        self.not_negative.insert(v);
    }

    /// Sizes in the types of these variables are not negative if they are among `own` variables.
    pub fn sizes(&mut self, vars: &Vars, own: &[Var]) {
        for v in own {
            for dim in vars[*v].ty.shape() {
                if let Some(Size::Var(n)) = dim.size()
                    && own.contains(&n)
                {
                    self.size(n);
                }
            }
        }
    }

    /// Learns from the scalar operation that defines a variable. Operations on other than integers teach nothing.
    pub fn define<D>(&mut self, v: Var, exp: &Exp<D>) {
        let Exp::Scalar(op, args) = exp else { return };
        match (*op, &args[..]) {
            (ScalarOp::Bin(op, ty), &[a, b]) if ty.is_integer() => self.define_bin(v, op, a, b),
            (ScalarOp::Convert(from, to), &[a]) if from.is_integer() && to.is_signed() => {
                let widens = to.bytes() > from.bytes();
                let keeps = widens || (to.bytes() == from.bytes() && from.is_signed());
                if (from.is_unsigned() && widens) || (keeps && self.is_not_negative(a)) {
                    self.size(v);
                }
            }
            (
                ScalarOp::Un(..)
                | ScalarOp::Bin(..)
                | ScalarOp::Cmp(..)
                | ScalarOp::Tern(..)
                | ScalarOp::Convert(..)
                | ScalarOp::ToBits(_)
                | ScalarOp::FromBits(_)
                | ScalarOp::Select(_),
                _,
            ) => {}
        }
    }

    fn define_bin(&mut self, v: Var, op: BinOp, a: Atom, b: Atom) {
        let (a_low, b_low) = (self.is_not_negative(a), self.is_not_negative(b));
        if op == BinOp::Max && (a_low || b_low) || op == BinOp::Min && a_low && b_low {
            self.size(v);
        }
        if op == BinOp::Min {
            self.inherit_below(v, a);
            self.inherit_below(v, b);
        }
        // The remainder by a divisor that is not negative: it is not zero either, for that was checked before.
        if op == BinOp::Mod && b_low {
            self.index(v, b);
        }
        if matches!(op, BinOp::Div | BinOp::Quot) && a_low && positive(b) {
            self.size(v);
            self.inherit_below(v, a);
        }
        // What is below something is not the largest integer.
        if op == BinOp::Add && one(b) && a_low && self.has_bound(a)
            || op == BinOp::Add && one(a) && b_low && self.has_bound(b)
        {
            self.size(v);
        }
        if op == BinOp::Sub && one(b) {
            self.last.insert(v, a);
            if a_low {
                self.add_below(v, a);
            }
        }
        if op == BinOp::Sub
            && b_low
            && let Some(n) = a.as_var().and_then(|a| self.last.get(&a)).copied()
            && self.is_below(b, n)
        {
            self.index(v, n);
        }
    }

    fn add_below(&mut self, v: Var, bound: Atom) {
        let bounds = self.below.entry(v).or_default();
        // A few are enough, and keep everything linear.
        if bounds.len() < 4 && !bounds.contains(&bound) {
            bounds.push(bound);
        }
    }

    fn inherit_below(&mut self, v: Var, from: Atom) {
        let bounds = from
            .as_var()
            .and_then(|from| self.below.get(&from))
            .cloned();
        for bound in bounds.into_iter().flatten() {
            self.add_below(v, bound);
        }
    }

    fn has_bound(&self, a: Atom) -> bool {
        a.as_var().is_some_and(|v| self.below.contains_key(&v))
    }

    /// Whether the integer is known not to be negative.
    pub fn is_not_negative(&self, a: Atom) -> bool {
        match a {
            Atom::Var(v) => self.not_negative.contains(&v),
            Atom::Const(c) => integer(c).is_some_and(|n| n >= 0),
        }
    }

    /// Whether `a < b` is known.
    pub fn is_below(&self, a: Atom, b: Atom) -> bool {
        let bounds = a.as_var().and_then(|a| self.below.get(&a));
        bounds.is_some_and(|bounds| {
            bounds.iter().any(|bound| match (bound, b) {
                (Atom::Const(bound), Atom::Const(b)) => {
                    matches!((integer(*bound), integer(b)), (Some(bound), Some(b)) if bound <= b)
                }
                (Atom::Const(_) | Atom::Var(_), _) => *bound == b,
            })
        })
    }
}

fn one(a: Atom) -> bool {
    a.as_const().and_then(integer) == Some(1)
}

fn positive(a: Atom) -> bool {
    a.as_const().and_then(integer).is_some_and(|n| n > 0)
}

/// The value of an integer constant.
pub fn integer(c: Const) -> Option<i128> {
    match c {
        Const::I8(n) => Some(n.into()),
        Const::I16(n) => Some(n.into()),
        Const::I32(n) => Some(n.into()),
        Const::I64(n) => Some(n.into()),
        Const::U8(n) => Some(n.into()),
        Const::U16(n) => Some(n.into()),
        Const::U32(n) => Some(n.into()),
        Const::U64(n) => Some(n.into()),
        Const::F16(_) | Const::F32(_) | Const::F64(_) | Const::Bool(_) => None,
    }
}
