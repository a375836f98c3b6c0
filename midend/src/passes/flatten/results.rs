//! The end of a body that is distributed: its results, and what must still run.

use super::Cx;
use super::context::{Axis, Context};
use super::distribute::Frame;
use super::label::Label;
use crate::hash::HashSet;
use crate::ir::array::ArrayOp;
use crate::ir::id::Var;
use crate::ir::seg::{Seg, SegKind};
use crate::ir::syntax::{Atom, Body, Exp, Stm};
use crate::ir::types::is_ragged;
use std::collections::BTreeSet;

impl Cx<'_> {
    /// Arrays over the context for the results of a body.
    pub(super) fn results(
        &mut self,
        f: &mut Frame<'_>,
        host: &[bool],
        out: &mut Vec<Stm<Seg>>,
    ) -> Vec<(Atom, bool)> {
        let result = f.body.result.clone();
        let known: Vec<bool> = result
            .iter()
            .zip(host)
            .map(|(&a, &host)| host && self.labels.uniform(a))
            .collect();
        let atoms: Vec<Atom> = result
            .iter()
            .zip(&known)
            .filter(|(_, known)| !**known)
            .map(|(&a, _)| a)
            .collect();
        let mut arrays = self.arrays(f, &atoms, out).into_iter().peekable();
        let mut claimed = HashSet::default();
        let results =
            result
                .iter()
                .zip(known)
                .map(|(&a, known)| match arrays.next_if(|_| !known) {
                    Some(array) => {
                        let root = f.roots.get(&array);
                        let own = root.is_some_and(|root| claimed.insert(*root));
                        (array.into(), own)
                    }
                    None => (self.atom(a), false),
                });
        results.collect()
    }

    /// Arrays that hold the values of atoms at all points of the context.
    pub(super) fn arrays(
        &mut self,
        f: &mut Frame<'_>,
        atoms: &[Atom],
        out: &mut Vec<Stm<Seg>>,
    ) -> Vec<Var> {
        let vars: Vec<Var> = atoms.iter().filter_map(|a| a.as_var()).collect();
        self.settle(f, &vars, out);
        let context = f.context.clone();
        let (mut found, mut rows) = (Vec::new(), Vec::new());
        let (mut values, mut binds) = (Vec::new(), Vec::new());
        for &atom in atoms {
            let stored = atom
                .as_var()
                .and_then(|v| Some((v, self.whole(f, v, out)?)));
            let stored = stored.map(|(v, whole)| self.of_own_rows(f, v, whole, out));
            found.push(stored.unwrap_or_else(|| {
                let ty = self.type_over(&atom.ty(&self.vars), &context, out);
                let array = self.fresh("xs", ty);
                f.made(array);
                rows.extend(
                    atom.as_var()
                        .filter(|&v| self.is_row(v))
                        .map(|v| (v, array)),
                );
                if !self.varies(atom) {
                    values.push(atom);
                    binds.push(array);
                }
                array
            }));
        }
        if !values.is_empty() {
            self.group(f, &BTreeSet::new(), (&values, &binds), &[], out);
        }
        for (row, array) in rows {
            self.spread(&context, row, array, out);
        }
        found
    }

    /// The array that holds the values of a variable at all points, if there is one or it is one in another order.
    fn whole(&mut self, f: &mut Frame<'_>, v: Var, out: &mut Vec<Stm<Seg>>) -> Option<Var> {
        let whole = self.expanded(v, &f.context);
        whole.or_else(|| self.rearranged(f, v, out))
    }

    /// An array over the context, as the nest has it: where nothing is taken to be regular, rows are ragged.
    pub(super) fn of_own_rows(
        &mut self,
        f: &mut Frame<'_>,
        var: Var,
        whole: Var,
        out: &mut Vec<Stm<Seg>>,
    ) -> Var {
        if !self.labels.is_nothing_regular() {
            return whole;
        }
        let ty = self.vars[var].ty.clone();
        let ty = self.type_over(&ty, &f.context, out);
        if is_ragged(ty.shape()) == is_ragged(self.vars[whole].ty.shape()) {
            return whole;
        }
        let rows = self.fresh("rows", ty);
        self.reshape_into(rows, whole, out);
        if let Some(&root) = f.roots.get(&whole) {
            f.roots.insert(rows, root);
        }
        rows
    }

    /// Binds the results of a map: arrays that belong to nobody else.
    pub(super) fn fresh_results(
        &mut self,
        f: &mut Frame<'_>,
        binds: &[Var],
        out: &mut Vec<Stm<Seg>>,
    ) {
        let context = f.context.clone();
        let mut claimed = HashSet::default();
        let (mut values, mut bound) = (Vec::new(), Vec::new());
        let (mut names, mut copies, mut rows) = (Vec::new(), Vec::new(), Vec::new());
        for (&atom, &bind) in f.body.result.iter().zip(binds) {
            let owner = atom.as_var().and_then(|v| f.owner.get(&v)).copied();
            let fill = owner.filter(|i| {
                f.waiting.contains(i) && self.labels.of(&f.body.stms[*i]) == Label::Fill
            });
            if let Some(i) = fill {
                self.fill(f, i, None, out);
            }
            let whole = atom.as_var().and_then(|v| self.whole(f, v, out));
            let whole = whole.filter(|&w| self.same_rows(w, bind));
            let root = whole.and_then(|w| f.roots.get(&w)).copied();
            match (whole, root) {
                (Some(whole), Some(root)) if claimed.insert(root) => names.push((bind, whole)),
                (Some(whole), _) if self.vars[bind].ty.is_array() => {
                    copies.push((bind, whole));
                }
                (Some(_) | None, _) if self.varies(atom) => {
                    rows.extend(atom.as_var().map(|v| (v, bind)));
                }
                (Some(_) | None, _) => {
                    values.push(atom);
                    bound.push(bind);
                }
            }
        }
        if !values.is_empty() {
            let vars: Vec<Var> = values.iter().filter_map(|a| a.as_var()).collect();
            let mut members = self.needed(f, &vars);
            members.extend(self.effects(f));
            let reads: Vec<Var> = members.iter().flat_map(|&i| f.free[i].clone()).collect();
            members.extend(self.needed(f, &reads));
            let checks: Vec<Var> = self.open_checks(f, f.body.stms.len());
            members.extend(self.needed(f, &checks));
            self.group(f, &members, (&values, &bound), &checks, out);
        }
        let vars: Vec<Var> = rows.iter().map(|row| row.0).collect();
        self.settle(f, &vars, out);
        for (row, bind) in rows {
            self.spread(&context, row, bind, out);
        }
        for (bind, whole) in copies {
            let copy = ArrayOp::Copy(whole);
            self.push(out, vec![bind], Exp::Op(Seg::Array(copy)));
        }
        for (bind, whole) in names {
            self.push(out, vec![bind], Exp::Atom(whole.into()));
        }
    }

    /// What waits and was never needed, but must run: it may fail, or not end.
    fn effects(&self, f: &Frame<'_>) -> Vec<usize> {
        let seq = |i: &usize| self.labels.of(&f.body.stms[*i]) != Label::Fill;
        f.waiting.iter().copied().filter(seq).collect()
    }

    /// The checks before a statement that may not have been made.
    pub(super) fn open_checks(&self, f: &Frame<'_>, before: usize) -> Vec<Var> {
        let open = f.checks.iter().filter(|(i, sure)| !sure && *i < before);
        open.map(|&(i, _)| f.body.stms[i].binds[0])
            .filter(|c| self.env.contains_key(c))
            .collect()
    }

    /// What is left at the end: code that must run, and checks that were made only inside of operators that may
    /// have had no points.
    pub(super) fn rest(&mut self, f: &mut Frame<'_>, out: &mut Vec<Stm<Seg>>) {
        let left = self.effects(f);
        if !left.is_empty() {
            let reads: Vec<Var> = left.iter().flat_map(|&i| f.free[i].clone()).collect();
            let mut members: BTreeSet<usize> = left.into_iter().collect();
            members.extend(self.needed(f, &reads));
            let checks = self.open_checks(f, f.body.stms.len());
            members.extend(self.needed(f, &checks));
            self.group(f, &members, (&[], &[]), &checks, out);
        }
        let open = self.open_checks(f, f.body.stms.len());
        if open.is_empty() {
            return;
        }
        self.settle(f, &open, out);
        // A kernel over further dimensions has made a check unless one of these is empty.
        let spaces: Vec<Option<Context>> = open
            .iter()
            .map(|&check| self.made_inside(f, check))
            .collect();
        let alike = spaces.iter().all(|space| *space == spaces[0]);
        let inner = spaces[0].clone().filter(|_| alike);
        let mut point = self.point(&f.context);
        self.need_all(&mut point, &open);
        let mut body = Vec::new();
        self.kernel(point, Vec::new(), SegKind::Map, Vec::new(), &mut body);
        let ragged = |axis: &Axis| matches!(axis, Axis::Ragged(_) | Axis::Chosen { .. });
        let Some(inner) = inner.filter(|inner| !inner.iter().any(ragged)) else {
            out.extend(body);
            return;
        };
        let cond = self.is_empty(&inner, out);
        if cond.as_bool() == Some(false) {
            return;
        }
        let block = |stms| Body {
            stms,
            result: Vec::new(),
        };
        let exp = Exp::If {
            cond,
            then: block(body),
            otherwise: block(Vec::new()),
        };
        self.push(out, Vec::new(), exp);
    }

    /// The dimensions inside of the context of a kernel that made a check.
    fn made_inside(&self, f: &Frame<'_>, check: Var) -> Option<Context> {
        let mut made = self.made_checks.iter();
        let made = made.find(|made| made.cert == check && made.level == f.level)?;
        Some(made.space.iter().skip(f.context.len()).copied().collect())
    }
}
