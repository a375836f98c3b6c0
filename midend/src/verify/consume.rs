//! Consumption: an array that is updated in place is not used afterwards, nor is any alias of it. Accumulators are treated as
//! the arrays that they update.
//!
//! What an array may share memory with is kept as a set of *roots*: variables that were bound to fresh memory. Two
//! arrays may alias if they have a root in common. Consuming an array consumes its roots.

use super::{Cx, Verify};
use crate::ir::id::{FunId, Id, Var};
use crate::ir::syntax::{Atom, Body, Exp, Fun, Stm};
use crate::ir::types::{Dim, ScalarType};
use crate::ir::walk::deep;
use std::rc::Rc;

/// A sorted set of roots. Nearly all are of one root or none.
#[derive(Clone, Debug, Default)]
pub(super) enum Roots {
    #[default]
    None,
    One([Var; 1]),
    Several(Rc<[Var]>),
}

impl Roots {
    fn of(mut roots: Vec<Var>) -> Self {
        roots.sort_unstable();
        roots.dedup();
        match roots[..] {
            [] => Self::None,
            [root] => Self::One([root]),
            _ => Self::Several(roots.into()),
        }
    }
}

impl std::ops::Deref for Roots {
    type Target = [Var];
    fn deref(&self) -> &[Var] {
        match self {
            Self::None => &[],
            Self::One(root) => root,
            Self::Several(roots) => roots,
        }
    }
}

/// Checks all functions.
pub(super) fn check<D: Verify>(cx: &mut Cx<'_, D>) {
    let program = cx.program;
    let rows = program.vars.len();
    let mut consume = Consume {
        cx,
        roots: vec![Roots::None; rows],
        origin: vec![Origin::default(); rows],
        born: 0,
        consumed: vec![false; rows],
        log: Vec::new(),
        depth: 0,
    };
    for fun in program.funs.iter() {
        consume.cx.fun = Some(fun);
        consume.fun(fun);
    }
    consume.cx.fun = None;
}

/// Where a root came from.
#[derive(Clone, Copy, Default)]
struct Origin {
    /// How many roots were there before.
    born: usize,
    /// The number of lambdas and loops around its binder.
    depth: usize,
    /// Whether it may be consumed there.
    owned: bool,
}

pub(super) struct Consume<'c, 'p, D> {
    pub(super) cx: &'c mut Cx<'p, D>,
    /// The roots of each array or accumulator; empty for anything else.
    pub(super) roots: Vec<Roots>,
    /// For each root, where it came from.
    origin: Vec<Origin>,
    born: usize,
    /// Which roots were consumed.
    pub(super) consumed: Vec<bool>,
    /// These in order, so that a branch can be undone.
    pub(super) log: Vec<Var>,
    /// The number of lambdas and loops around the statement at hand.
    pub(super) depth: usize,
}

impl<'p, D: Verify> Consume<'_, 'p, D> {
    fn fun(&mut self, fun: &'p Fun<D>) {
        for p in &fun.params {
            self.fresh(p.var, p.unique);
        }
        self.body(&fun.body);
        let results: Vec<Roots> = fun
            .body
            .result
            .iter()
            .map(|a| self.atom_roots(*a))
            .collect();
        for (i, formal) in fun.results.iter().enumerate().filter(|(_, p)| p.unique) {
            let shared = |j: usize, other: &Roots| i != j && meet(&results[i], other);
            if results
                .iter()
                .enumerate()
                .any(|(j, other)| shared(j, other))
            {
                let name = self.cx.name(formal.var);
                self.cx
                    .fault(format!("the unique result {name} aliases another result"));
            }
            let borrowed = |r: &Var| fun.params.iter().any(|p| p.var == *r && !p.unique);
            if results[i].iter().any(borrowed) {
                let name = self.cx.name(formal.var);
                self.cx.fault(format!(
                    "the unique result {name} aliases a parameter that is not unique"
                ));
            }
        }
    }

    pub(super) fn body(&mut self, body: &'p Body<D>) {
        for stm in &body.stms {
            let outer = self.cx.stm.replace(stm);
            self.stm(stm);
            self.cx.stm = outer;
        }
        body.result.iter().for_each(|a| self.used(*a));
    }

    fn stm(&mut self, stm: &'p Stm<D>) {
        stm.exp.operands(&mut |a| self.used(a));
        match &stm.exp {
            Exp::Atom(a) => {
                let roots = self.atom_roots(*a);
                stm.binds.iter().for_each(|v| self.share(*v, &roots));
            }
            Exp::Scalar(..) | Exp::Assert { .. } | Exp::Guard { .. } => {}
            Exp::If {
                cond: _,
                then,
                otherwise,
            } => self.branches(&stm.binds, then, otherwise),
            Exp::Loop { params, form, body } => {
                deep(|| self.loop_(&stm.binds, params, form, body));
            }
            Exp::Call { fun, args } => self.call(&stm.binds, *fun, args),
            Exp::Op(op) => self.op(&stm.binds, op),
        }
    }

    fn op(&mut self, binds: &[Var], op: &'p D) {
        let mut taken = Vec::new();
        op.consumed(&mut |v| taken.push(v));
        if !taken.is_empty() {
            let mut operands = Vec::new();
            op.operands(&mut |a| operands.push(a));
            self.consume_all(&taken, &operands);
        }
        op.scopes(&mut |bound, body| deep(|| self.lambda(bound, body)));
        let alias = op.aliased().map(|v| self.roots[v.index()].clone());
        for v in binds {
            match &alias {
                Some(roots) => self.share(*v, roots),
                None => self.fresh(*v, true),
            }
        }
    }

    /// The body of a lambda or kernel, which owns nothing but what it makes and the accumulators that it is handed.
    fn lambda(&mut self, bound: &[Var], body: &'p Body<D>) {
        self.depth += 1;
        for v in bound {
            let handed = self.cx.program.vars[*v].ty.is_acc();
            self.fresh(*v, handed);
        }
        self.body(body);
        self.depth -= 1;
    }

    fn branches(&mut self, binds: &[Var], then: &'p Body<D>, otherwise: &'p Body<D>) {
        let start = self.born;
        let mark = self.log.len();
        deep(|| self.body(then));
        let by_then = self.log.split_off(mark);
        for root in &by_then {
            self.consumed[root.index()] = false;
        }
        deep(|| self.body(otherwise));
        by_then.into_iter().for_each(|r| self.mark(r));
        let mut sets: Vec<Vec<Var>> = binds.iter().map(|_| Vec::new()).collect();
        for body in [then, otherwise] {
            let results = body.result.iter().map(|a| self.atom_roots(*a).to_vec());
            let results = results.collect();
            for (set, new) in sets.iter_mut().zip(self.exported(binds, results, start)) {
                set.extend(new);
            }
        }
        self.set_all(binds, sets);
    }

    /// The roots of results seen from outside of a body that began when `start` roots were there: a root made inside
    /// becomes the first bound variable that has it, as does a root that was consumed.
    pub(super) fn exported(
        &self,
        binds: &[Var],
        results: Vec<Vec<Var>>,
        start: usize,
    ) -> Vec<Vec<Var>> {
        let mut names: Vec<(Var, Var)> = Vec::new();
        let mut sets = Vec::new();
        for (bind, roots) in binds.iter().zip(results) {
            let set = roots.into_iter().map(|r| {
                // What one branch consumed and the other passes on belongs to the result alone.
                if self.origin[r.index()].born < start && !self.consumed[r.index()] {
                    return r;
                }
                match names.iter().find(|(inner, _)| *inner == r) {
                    Some((_, outer)) => *outer,
                    None => {
                        names.push((r, *bind));
                        *bind
                    }
                }
            });
            sets.push(set.collect());
        }
        sets
    }

    /// Gives bound variables these roots; those among them that are roots become so.
    pub(super) fn set_all(&mut self, binds: &[Var], sets: Vec<Vec<Var>>) {
        for (v, set) in binds.iter().zip(sets) {
            if set.contains(v) {
                self.fresh(*v, true);
            }
            self.set(*v, set);
        }
    }

    fn call(&mut self, binds: &[Var], fun: FunId, args: &[Atom]) {
        let fun = &self.cx.program.funs[fun];
        let pairs = || fun.params.iter().zip(args);
        let taken: Vec<Var> = pairs()
            .filter(|(p, _)| p.unique)
            .filter_map(|(_, a)| a.as_var().filter(|v| self.is_array(*v)))
            .collect();
        self.consume_all(&taken, args);
        let kept: Vec<Var> = pairs()
            .filter(|(p, _)| !p.unique)
            .filter_map(|(_, a)| a.as_var())
            .collect();
        binds.iter().for_each(|v| self.fresh(*v, true));
        let results = binds.iter().zip(&fun.results);
        let shared = results.filter(|(v, formal)| !formal.unique && self.is_array(**v));
        let shared: Vec<Var> = shared.map(|(v, _)| *v).collect();
        // A result may alias any such argument and any other such result of its element type: they have one set.
        let elem = |v: Var| self.cx.program.vars[v].ty.elem();
        let mut sets: Vec<(Option<ScalarType>, Roots)> = Vec::new();
        for v in &shared {
            let ty = elem(*v);
            if sets.iter().all(|(other, _)| *other != ty) {
                let all = kept.iter().chain(&shared).filter(|o| elem(**o) == ty);
                let roots = all.flat_map(|o| self.roots[o.index()].iter().copied());
                sets.push((ty, Roots::of(roots.collect())));
            }
        }
        for v in shared {
            let ty = elem(v);
            if let Some((_, roots)) = sets.iter().find(|(other, _)| *other == ty) {
                self.share(v, &roots.clone());
            }
        }
    }

    /// Whether the variable is an array or accumulator.
    pub(super) fn is_array(&self, v: Var) -> bool {
        self.cx.program.vars[v].ty.is_consumable()
    }

    /// Makes an array variable its own root.
    pub(super) fn fresh(&mut self, v: Var, owned: bool) {
        if self.is_array(v) {
            self.origin[v.index()] = Origin {
                born: self.born,
                depth: self.depth,
                owned,
            };
            self.born += 1;
            self.roots[v.index()] = Roots::One([v]);
        }
    }

    pub(super) fn roots_born(&self) -> usize {
        self.born
    }

    /// Whether the root was there when only `start` roots were.
    pub(super) fn born_before(&self, root: Var, start: usize) -> bool {
        self.origin[root.index()].born < start
    }

    fn set(&mut self, v: Var, roots: Vec<Var>) {
        if self.is_array(v) {
            self.roots[v.index()] = Roots::of(roots);
        }
    }

    fn share(&mut self, v: Var, roots: &Roots) {
        if self.is_array(v) {
            self.roots[v.index()] = roots.clone();
        }
    }

    pub(super) fn atom_roots(&self, a: Atom) -> Roots {
        a.as_var()
            .map_or(Roots::None, |v| self.roots[v.index()].clone())
    }

    fn used(&mut self, a: Atom) {
        if let Atom::Var(v) = a
            && self.is_consumed(v)
        {
            let name = self.cx.name(v);
            self.cx.fault(format!(
                "{name} is used after it or an alias of it was consumed"
            ));
        }
    }

    pub(super) fn is_consumed(&self, v: Var) -> bool {
        let gone = |v: Var| {
            let roots = &self.roots[v.index()];
            roots.iter().any(|r| self.consumed[r.index()])
        };
        // A ragged array is nothing without its offsets.
        let mut offsets = self.cx.program.vars[v]
            .ty
            .shape()
            .iter()
            .filter_map(Dim::offsets);
        gone(v) || offsets.any(gone)
    }

    pub(super) fn mark(&mut self, root: Var) {
        if !std::mem::replace(&mut self.consumed[root.index()], true) {
            self.log.push(root);
        }
    }

    /// Consumes arrays that are among the operands of one expression.
    pub(super) fn consume_all(&mut self, taken: &[Var], operands: &[Atom]) {
        for v in taken {
            let roots = &self.roots[v.index()];
            let overlaps = |a: &&Atom| {
                a.as_var()
                    .is_some_and(|o| meet(&self.roots[o.index()], roots))
            };
            if operands.iter().filter(overlaps).count() > 1 {
                let name = self.cx.name(*v);
                self.cx.fault(format!(
                    "{name} is consumed by an operation that also uses it or an alias of it"
                ));
            }
        }
        taken.iter().for_each(|v| self.consume(*v));
    }

    fn consume(&mut self, v: Var) {
        for &root in self.roots[v.index()].clone().iter() {
            let origin = self.origin[root.index()];
            if origin.depth < self.depth {
                let name = self.cx.name(v);
                self.cx.fault(format!(
                    "{name} is consumed in a lambda or loop that does not own it"
                ));
            } else if !origin.owned {
                let name = self.cx.name(v);
                self.cx.fault(format!("{name} is consumed but not unique"));
            }
            self.mark(root);
        }
    }
}

/// Whether two sorted sets of roots meet.
pub(super) fn meet(a: &[Var], b: &[Var]) -> bool {
    let (short, long) = if a.len() < b.len() { (a, b) } else { (b, a) };
    short.iter().any(|r| long.binary_search(r).is_ok())
}
