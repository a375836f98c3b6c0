//! Where the statements of one body bind, read and consume variables, kept up to date while maps become part of other
//! statements: so that fusing a body takes no longer than in proportion to its length, but for logarithms.

use crate::analysis::aliases::consumed;
use crate::hash::{HashMap, HashSet};
use crate::ir::id::{FunId, IdVec, Var};
use crate::ir::soac::Soac;
use crate::ir::syntax::{Body, Fun, Vars};
use crate::ir::walk::free_in_stm;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// Statements by what they do with variables. They go by their places in the body.
pub(super) struct Uses {
    bound: HashMap<Var, usize>,
    /// What each statement reads, once each.
    free: Vec<Vec<Var>>,
    read: HashMap<Var, BTreeSet<usize>>,
    consumed: BTreeMap<usize, Vec<Var>>,
    results: HashSet<Var>,
}

impl Uses {
    pub(super) fn of(body: &Body<Soac>, vars: &Vars, funs: &IdVec<FunId, Fun<Soac>>) -> Self {
        let mut uses = Self {
            bound: HashMap::default(),
            free: Vec::with_capacity(body.stms.len()),
            read: HashMap::default(),
            consumed: BTreeMap::new(),
            results: body.result.iter().filter_map(|a| a.as_var()).collect(),
        };
        for (at, stm) in body.stms.iter().enumerate() {
            uses.bound.extend(stm.binds.iter().map(|v| (*v, at)));
            let free = free_in_stm(vars, stm);
            let once = |v: &Var| uses.read.entry(*v).or_default().insert(at);
            uses.free.push(free.into_iter().filter(once).collect());
            consumed(stm, funs, &mut |v| {
                uses.consumed.entry(at).or_default().push(v);
            });
        }
        uses
    }

    /// The statements that bind these variables, from the last to the first.
    pub(super) fn binders(&self, vars: &[Var]) -> Vec<usize> {
        let binders: BTreeSet<usize> = vars
            .iter()
            .filter_map(|v| self.bound.get(v))
            .copied()
            .collect();
        binders.into_iter().rev().collect()
    }

    /// Whether a statement in the range reads the variable.
    pub(super) fn reads_in(&self, v: Var, range: Range<usize>) -> bool {
        let read = self.read.get(&v);
        !range.is_empty() && read.is_some_and(|at| at.range(range).next().is_some())
    }

    /// Whether a statement after this one, or the result of the body, reads the variable.
    pub(super) fn read_after(&self, v: Var, at: usize) -> bool {
        self.results.contains(&v) || self.reads_in(v, at + 1..usize::MAX)
    }

    /// What the statements in the range consume.
    pub(super) fn consumed_in(&self, range: Range<usize>) -> impl Iterator<Item = Var> {
        self.consumed
            .range(range)
            .flat_map(|(_, vars)| vars)
            .copied()
    }

    /// The statement after this one that reads a variable, if there is just one and the result of the body does not.
    pub(super) fn only_read_by(&self, v: Var, at: usize) -> Option<usize> {
        let mut read = self.read.get(&v)?.range(at + 1..);
        let (first, second) = (read.next()?, read.next());
        (second.is_none() && !self.results.contains(&v)).then_some(*first)
    }

    /// The statements that read a variable.
    pub(super) fn readers(&self, v: Var) -> impl Iterator<Item = usize> {
        self.read.get(&v).into_iter().flatten().copied()
    }

    /// Whether the body yields a variable.
    pub(super) fn is_result(&self, v: Var) -> bool {
        self.results.contains(&v)
    }

    /// What a statement reads.
    pub(super) fn free(&self, at: usize) -> &[Var] {
        &self.free[at]
    }

    /// Whether a variable is bound outside of the body, or by a statement before this one.
    pub(super) fn is_bound_before(&self, v: Var, at: usize) -> bool {
        self.bound.get(&v).is_none_or(|binder| *binder < at)
    }

    /// A copy of a statement has become part of another one, which reads none of its results any more.
    pub(super) fn copied(&mut self, binds: &[Var], (from, to): (usize, usize)) {
        for v in self.free[from].clone() {
            if self.read.entry(v).or_default().insert(to) {
                self.free[to].push(v);
            }
        }
        for v in binds {
            if let Some(read) = self.read.get_mut(v) {
                read.remove(&to);
            }
        }
        self.free[to].retain(|v| !binds.contains(v));
    }

    /// A statement has become part of another one, which binds `kept` of its results besides its own.
    pub(super) fn moved(&mut self, binds: &[Var], (from, to): (usize, usize), kept: &[Var]) {
        for v in std::mem::take(&mut self.free[from]) {
            let read = self.read.entry(v).or_default();
            read.remove(&from);
            if read.insert(to) {
                self.free[to].push(v);
            }
        }
        for v in binds {
            if let Some(read) = self.read.get_mut(v) {
                read.remove(&to);
            }
            self.bound.remove(v);
        }
        self.free[to].retain(|v| !binds.contains(v));
        self.bound.extend(kept.iter().map(|v| (*v, to)));
        if let Some(taken) = self.consumed.remove(&from) {
            self.consumed.entry(to).or_default().extend(taken);
        }
    }

    /// A statement, which binds `own`, has moved up to one of which it reads results and has become one with it.
    pub(super) fn risen(&mut self, binds: &[Var], (from, at): (usize, usize), own: &[Var]) {
        self.moved(&[], (at, from), own);
        for v in binds {
            if let Some(read) = self.read.get_mut(v) {
                read.remove(&from);
            }
        }
        self.free[from].retain(|v| !binds.contains(v));
    }
}
