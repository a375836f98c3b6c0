//! Equalities that rest on run-time checks, with the time in which each holds.
//!
//! Time counts statements in the order of the text. A check dominates what follows in its body, up to the end of the body, so
//! that what it shows is a fact from the check on and until then, and nowhere else. A fact replaces a term by a form in
//! which the term does not occur; both were canonical at the time, so that replacing comes to an end.

use super::form::{Family, Form, Product, Table, Term, TermKind};
use super::rewrite::With;
use crate::hash::HashMap;
use crate::ir::id::Var;
use crate::ir::scalar::{BinOp, CmpOp, Const, ScalarOp, UnOp};
use crate::ir::types::ScalarType;
use std::cell::Cell;

/// Something equal, while it is.
#[derive(Clone, Copy, Debug)]
struct During<T> {
    from: u32,
    /// The first moment when it no longer holds.
    to: u32,
    equal: T,
}

/// What a fact is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum About {
    /// A term equals a form.
    Term(Term),
    /// The elements of an array.
    Array(Var),
}

/// All facts of a function.
#[derive(Clone, Debug, Default)]
pub(super) struct Facts {
    terms: HashMap<Term, Vec<During<Form>>>,
    arrays: HashMap<Var, Vec<During<Family>>>,
    /// Those that hold now, the innermost last.
    open: Vec<About>,
    /// How often a fact may still be used while a form is resolved: facts about elements whose indices were later shown to be
    /// equal may lead back to one another.
    fuel: Cell<u32>,
}

/// How often facts are used for one form at most.
const FUEL: u32 = 64;

/// What came of learning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Learnt {
    /// Perhaps something.
    Consistent,
    /// Two sizes that can never be equal.
    Contradiction,
}

fn at<T: Copy>(history: Option<&Vec<During<T>>>, now: u32) -> Option<T> {
    let history = history?;
    // Facts about one thing do not overlap in time: a later one is only learnt when no earlier one holds.
    let next = history.partition_point(|d| d.from <= now);
    let last = history[..next].last()?;
    (now < last.to).then_some(last.equal)
}

impl Facts {
    /// What a term is equal to.
    pub(super) fn term(&self, t: Term, now: u32) -> Option<Form> {
        at(self.terms.get(&t), now)
    }

    /// Whether a fact may be used once more.
    pub(super) fn burn(&self) -> bool {
        let left = self.fuel.get();
        self.fuel.set(left.saturating_sub(1));
        left > 0
    }

    /// What the elements of an array are.
    pub(super) fn family(&self, array: Var, now: u32) -> Option<Family> {
        at(self.arrays.get(&array), now)
    }

    /// How many facts hold.
    pub(super) fn mark(&self) -> usize {
        self.open.len()
    }

    /// What was learnt since, and holds.
    pub(super) fn since(&self, mark: usize) -> Vec<About> {
        self.open[mark..].to_vec()
    }

    /// Ends all facts learnt since.
    pub(super) fn close(&mut self, mark: usize, now: u32) {
        for about in self.open.split_off(mark) {
            match about {
                About::Term(t) => end(self.terms.get_mut(&t), now),
                About::Array(v) => end(self.arrays.get_mut(&v), now),
            }
        }
    }

    fn add_term(&mut self, t: Term, equal: Form, from: u32) {
        let to = u32::MAX;
        let history = self.terms.entry(t).or_default();
        history.push(During { from, to, equal });
        self.open.push(About::Term(t));
    }

    /// From now on the elements of an array are these.
    pub(super) fn add_array(&mut self, array: Var, equal: Family, from: u32) {
        if self.family(array, from).is_none() {
            let to = u32::MAX;
            let history = self.arrays.entry(array).or_default();
            history.push(During { from, to, equal });
            self.open.push(About::Array(array));
        }
    }

    /// The form with everything replaced that is known to be equal to something.
    pub(super) fn resolve(&self, table: &mut Table, f: Form, now: u32) -> Form {
        if self.terms.is_empty() && self.arrays.is_empty() {
            return f;
        }
        self.fuel.set(FUEL);
        table.rewrite(f, With::Facts(self, now)).unwrap_or(f)
    }

    /// The family, the same way.
    pub(super) fn resolve_family(&self, table: &mut Table, f: Family, now: u32) -> Family {
        if self.terms.is_empty() && self.arrays.is_empty() {
            return f;
        }
        self.fuel.set(FUEL);
        table.rewrite_family(f, With::Facts(self, now)).unwrap_or(f)
    }

    /// Learns that two forms are equal. The younger of the terms in which they differ is replaced from now on.
    pub(super) fn equal(&mut self, table: &mut Table, a: Form, b: Form, now: u32) -> Learnt {
        let (a, b) = (self.resolve(table, a, now), self.resolve(table, b, now));
        let Some(difference) = table.add(a, -1, b) else {
            return Learnt::Consistent;
        };
        if let Some(n) = table.as_constant(difference) {
            return match n {
                0 => Learnt::Consistent,
                _ => Learnt::Contradiction,
            };
        }
        let products = &table.form(difference).products;
        let single = products.iter().filter_map(|p| match p {
            Product { times, terms } if terms.len() == 1 && matches!(times, 1 | -1) => {
                Some((terms[0], *times))
            }
            Product { .. } => None,
        });
        let mut candidates: Vec<(u32, Term, i64)> = single
            .filter(|(t, _)| matches!(table.term(*t), TermKind::Var(_) | TermKind::Elem { .. }))
            .map(|(t, times)| (table.term_info(t).born, t, times))
            .collect();
        candidates.sort_unstable();
        while let Some((_, t, times)) = candidates.pop() {
            // difference = times * t + rest = 0, so t = -times * rest as times is 1 or -1.
            let Some(alone) = table.of_products(0, vec![(vec![t], times)]) else {
                continue;
            };
            let zero = table.constant(0);
            let rest = table.add(difference, -1, alone);
            let Some(value) = rest.and_then(|rest| table.add(zero, -times, rest)) else {
                continue;
            };
            let kind = table.term(t).clone();
            if !table.form_mentions(value, &kind) {
                self.add_term(t, value, now);
                return Learnt::Consistent;
            }
        }
        Learnt::Consistent
    }

    /// Learns that a condition holds, or that it does not.
    pub(super) fn condition(
        &mut self,
        table: &mut Table,
        cond: Form,
        holds: bool,
        now: u32,
    ) -> Learnt {
        let Some(t) = table.as_term(cond) else {
            return Learnt::Consistent;
        };
        let TermKind::Op(op, args) = table.term(t).clone() else {
            let never = TermKind::Const(Const::Bool(!holds));
            return match *table.term(t) == never {
                true => Learnt::Contradiction,
                false => Learnt::Consistent,
            };
        };
        let both = match op {
            ScalarOp::Cmp(CmpOp::Eq, ty) if holds && !ty.is_float() => {
                return self.equal(table, args[0], args[1], now);
            }
            ScalarOp::Un(UnOp::Not, ScalarType::Bool) => {
                return self.condition(table, args[0], !holds, now);
            }
            ScalarOp::Bin(BinOp::And, ScalarType::Bool) => holds,
            ScalarOp::Bin(BinOp::Or, ScalarType::Bool) => !holds,
            ScalarOp::Un(..)
            | ScalarOp::Bin(..)
            | ScalarOp::Cmp(..)
            | ScalarOp::Tern(..)
            | ScalarOp::Convert(..)
            | ScalarOp::ToBits(_)
            | ScalarOp::FromBits(_)
            | ScalarOp::Select(_) => false,
        };
        if both {
            self.condition(table, args[0], holds, now);
            self.condition(table, args[1], holds, now);
        }
        Learnt::Consistent
    }
}

fn end<T>(history: Option<&mut Vec<During<T>>>, now: u32) {
    if let Some(last) = history.and_then(|h| h.last_mut()) {
        last.to = now;
    }
}
