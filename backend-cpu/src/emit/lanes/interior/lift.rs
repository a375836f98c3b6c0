//! Bounds of the inside of ragged rows as bounds of all points of a space: where the points of all rows lie one after another in what they
//! index, whether they are inside is seen once for many rows.
//!
//! ```text
//! row begins at `start`; x = start + first; e >= -x && e < m - x   ──►   start + e >= -first && start + e < m - first
//! ```

use super::sums::{Sum, number};
use super::{Bound, Interior};
use crate::emit::control::is_cheap_scalar;
use midend::ir::id::Var;
use midend::ir::mem::Mem;
use midend::ir::scalar::{BinOp, ScalarOp};
use midend::ir::syntax::{Atom, Exp, Stm, Vars};
use midend::ir::types::ScalarType;
use midend::ir::walk::free_in_stm;
use std::collections::{BTreeSet, HashMap};

/// What is done once for many rows, of which there is a point, and bounds of the numbers of their points.
pub(in crate::emit) struct Lifted {
    pub(in crate::emit) once: Vec<Stm<Mem>>,
    /// What all points do if they are within these bounds.
    pub(in crate::emit) interior: Interior,
}

/// What is known of a row at its start.
struct Row<'a> {
    vars: &'a Vars,
    /// What differs from row to row.
    varying: BTreeSet<Var>,
    /// What is a sum of the place where the row begins, once or not, and of what is the same for all rows.
    sums: HashMap<Var, Sum>,
    once: Vec<Stm<Mem>>,
}

impl Interior {
    /// The same for many rows, of each of which these statements are executed first, if its bounds are such that this is possible: a row
    /// has the index `row`, and begins at `start`.
    pub(in crate::emit) fn lifted(
        &self,
        early: &[Stm<Mem>],
        (row, start): (Var, Var),
        vars: &Vars,
    ) -> Option<Lifted> {
        let mut known = Row {
            vars,
            varying: BTreeSet::from([row, start]),
            sums: HashMap::from([(start, Sum::index())]),
            once: Vec::new(),
        };
        for stm in early.iter().chain(&self.early) {
            known.stm(stm);
        }
        let bounds = self.bounds.iter().map(|bound| {
            Some(match bound {
                Bound::From(sum) => Bound::From(known.moved(sum)?),
                Bound::Below(sum) => Bound::Below(known.moved(sum)?),
                Bound::Not(sum) => Bound::Not(known.moved(sum)?),
            })
        });
        let bounds = bounds.collect::<Option<Vec<Bound>>>()?;
        Some(Lifted {
            once: known.once,
            interior: Self {
                kernel: self.kernel.clone(),
                early: Vec::new(),
                bounds,
                usual: None,
            },
        })
    }
}

impl Row<'_> {
    fn stm(&mut self, stm: &Stm<Mem>) {
        let simple = match &stm.exp {
            Exp::Atom(_) | Exp::Op(Mem::Load { .. }) => true,
            Exp::Scalar(op, args) => is_cheap_scalar(*op, args),
            Exp::Assert { .. }
            | Exp::Guard { .. }
            | Exp::If { .. }
            | Exp::Loop { .. }
            | Exp::Call { .. }
            | Exp::Op(_) => false,
        };
        let free = free_in_stm(self.vars, stm);
        if simple && !free.iter().any(|v| self.varying.contains(v)) {
            return self.once.push(stm.clone());
        }
        self.varying.extend(stm.binds.iter().copied());
        if let ([bind], Some(sum)) = (&stm.binds[..], self.computed(&stm.exp)) {
            self.sums.insert(*bind, sum);
        }
    }

    fn computed(&self, exp: &Exp<Mem>) -> Option<Sum> {
        match exp {
            Exp::Atom(atom) => self.sum(*atom),
            Exp::Scalar(ScalarOp::Bin(op @ (BinOp::Add | BinOp::Sub), ScalarType::I64), args) => {
                let times = if *op == BinOp::Add { 1 } else { -1 };
                self.sum(args[0])?.plus(&self.sum(args[1])?, times)
            }
            Exp::Scalar(..)
            | Exp::Assert { .. }
            | Exp::Guard { .. }
            | Exp::If { .. }
            | Exp::Loop { .. }
            | Exp::Call { .. }
            | Exp::Op(_) => None,
        }
    }

    fn sum(&self, atom: Atom) -> Option<Sum> {
        match atom {
            Atom::Const(_) => Sum::constant(number(atom)?),
            Atom::Var(v) if self.varying.contains(&v) => self.sums.get(&v).cloned(),
            Atom::Var(v) => Some(Sum::term(v)),
        }
    }

    /// What an index within a row is compared to, for the number of the point: the place where the row begins has gone.
    fn moved(&self, limit: &Sum) -> Option<Sum> {
        let mut all = Sum::constant(limit.constant)?.plus(&Sum::index(), 1)?;
        for (var, factor) in &limit.terms {
            all = all.plus(&self.sum((*var).into())?, *factor)?;
        }
        (all.index == 0).then_some(all)
    }
}
