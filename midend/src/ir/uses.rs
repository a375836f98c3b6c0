//! Where in a body variables are used: statements and results of bodies have numbers in the order of the text, those of nested bodies
//! right after their statement. So the numbers in a body are a range, and what is used in it is found by binary search, however deep
//! bodies are nested.

use super::dialect::Dialect;
use super::id::Var;
use super::syntax::{Body, Vars};
use super::walk::{deep, result_uses, stm_uses};
use crate::hash::HashMap;
use std::ops::Range;

/// The uses of some variables in a body.
#[derive(Default)]
pub struct Uses {
    /// The number after each statement and what is nested in it.
    ends: Vec<usize>,
    /// The numbers of the statements and results that use a variable, in order.
    at: HashMap<Var, Vec<usize>>,
}

impl Uses {
    /// The uses of the variables that are wanted.
    pub fn of<D: Dialect>(vars: &Vars, body: &Body<D>, wanted: &dyn Fn(Var) -> bool) -> Self {
        let mut uses = Self::default();
        uses.body(vars, body, wanted);
        uses
    }

    fn body<D: Dialect>(&mut self, vars: &Vars, body: &Body<D>, wanted: &dyn Fn(Var) -> bool) {
        for stm in &body.stms {
            let number = self.ends.len();
            self.ends.push(0);
            stm_uses(vars, stm, &mut |v| self.add(v, number, wanted));
            deep(|| {
                stm.exp
                    .scopes(&mut |_, inner| self.body(vars, inner, wanted));
            });
            self.ends[number] = self.ends.len();
        }
        let number = self.ends.len();
        self.ends.push(number + 1);
        result_uses(body, &mut |v| self.add(v, number, wanted));
    }

    fn add(&mut self, v: Var, number: usize, wanted: &dyn Fn(Var) -> bool) {
        if wanted(v) {
            self.at.entry(v).or_default().push(number);
        }
    }

    /// The numbers of so many statements of a body that begins with a number, and then that of its results.
    pub fn numbers(&self, first: usize, stms: usize) -> Vec<usize> {
        let next = |at: &usize| Some(self.ends[*at]);
        std::iter::successors(Some(first), next)
            .take(stms + 1)
            .collect()
    }

    /// The number of the last statement in a range that uses a variable.
    pub fn last(&self, v: Var, range: Range<usize>) -> Option<usize> {
        let at = self.at.get(&v)?;
        let last = at[..at.partition_point(|n| *n < range.end)].last()?;
        (*last >= range.start).then_some(*last)
    }
}
