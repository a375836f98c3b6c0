//! What waits and reads an array that a statement is about to consume comes before it.

use super::Cx;
use super::distribute::Frame;
use crate::analysis::aliases::consumed;
use crate::hash::HashSet;
use crate::ir::array::ArrayOp;
use crate::ir::id::Var;
use crate::ir::seg::Seg;
use crate::ir::syntax::Stm;
use std::collections::BTreeSet;

impl Cx<'_> {
    /// Statements with those that wait and read, before one of them consumes it, the same array, and what these need.
    pub(super) fn with_earlier_readers(
        &self,
        f: &Frame<'_>,
        members: &BTreeSet<usize>,
    ) -> BTreeSet<usize> {
        let mut all = members.clone();
        let mut todo: Vec<usize> = members.iter().copied().collect();
        // What waits, reads what is consumed somewhere, and is no member yet: of a long row of updates all are, so that nothing is
        // looked at.
        let hot = |i: &usize| f.free[*i].iter().any(|&v| self.labels.hot(v));
        let others = f.waiting.difference(members).copied();
        let mut others: BTreeSet<usize> = others.filter(hot).collect();
        let mut seen = HashSet::default();
        while let Some(i) = todo.pop() {
            if others.range(..i).next().is_none() {
                continue;
            }
            let Some(taken) = self.taken(f, i) else {
                continue;
            };
            let reads = |j: &usize| f.free[*j].iter().any(|&v| self.labels.meets(v, &taken));
            let earlier: Vec<usize> = others.range(..i).copied().filter(reads).collect();
            for j in earlier {
                let mut found = BTreeSet::from([j]);
                self.add_needed(f, f.free[j].clone(), &mut seen, &mut found);
                for k in found {
                    others.remove(&k);
                    if all.insert(k) {
                        todo.push(k);
                    }
                }
            }
        }
        all
    }

    /// What a statement consumes, with all that it came from; nothing if it consumes nothing.
    pub(super) fn taken(&self, f: &Frame<'_>, i: usize) -> Option<HashSet<Var>> {
        let mut taken = Vec::new();
        consumed(&f.body.stms[i], self.source, &mut |v| taken.push(v));
        (!taken.is_empty()).then(|| self.labels.origins(taken))
    }

    /// Arrays that statement `i` is about to consume: copies, if something is still to read them that comes before it and cannot be
    /// stored, so that it is executed when somebody asks.
    pub(super) fn unshared(
        &mut self,
        f: &mut Frame<'_>,
        i: usize,
        arrays: Vec<Var>,
        out: &mut Vec<Stm<Seg>>,
    ) -> Vec<Var> {
        let Some(taken) = self.taken(f, i) else {
            return arrays;
        };
        let reads = |j: &usize| f.free[*j].iter().any(|&v| self.labels.meets(v, &taken));
        // With them comes what they are made of, as far as that is not stored either.
        let mut later: BTreeSet<usize> = f
            .waiting
            .range(..i)
            .chain(f.again.range(..i))
            .copied()
            .collect();
        let read: Vec<Var> = later
            .iter()
            .flat_map(|&j| f.free[j].iter().copied())
            .collect();
        later.extend(self.needed(f, &read));
        if !later.iter().any(reads) {
            return arrays;
        }
        let mut copies = Vec::new();
        for array in arrays {
            let ty = self.vars[array].ty.clone();
            let copy = self.array(out, "own", ty, ArrayOp::Copy(array));
            f.made(copy);
            copies.push(copy);
        }
        copies
    }

    /// Computes what waits and reads an array that statement `i` consumes.
    pub(super) fn before_consumption(
        &mut self,
        f: &mut Frame<'_>,
        i: usize,
        out: &mut Vec<Stm<Seg>>,
    ) {
        let Some(taken) = self.taken(f, i) else {
            return;
        };
        let reads = |j: &usize| f.free[*j].iter().any(|&v| self.labels.meets(v, &taken));
        let needed = self.needed(f, &f.free[i]);
        let first: Vec<usize> = f.waiting.iter().copied().filter(reads).collect();
        let vars: Vec<Var> = first
            .into_iter()
            .filter(|j| !needed.contains(j))
            .flat_map(|j| f.body.stms[j].binds.clone())
            .collect();
        self.settle(f, &vars, out);
    }
}
