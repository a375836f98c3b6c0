//! Which arrays of a function may share memory, and what becomes of them.

use super::{Atom, Body, Dialect, Exp, Fun, Id, Soac, Stm, Type, Unique, Var, Vars, deep};

/// Classes of arrays that may share memory.
pub(super) struct Classes {
    /// Towards the representative of the class.
    up: Vec<usize>,
    /// What is known of a class, at its representative.
    class: Vec<Class>,
    /// Whether the variable is a part or permutation of another, whose copy has a layout of its own.
    views: Vec<bool>,
    /// For each body, the number of the one after all that are inside of it.
    ends: Vec<usize>,
}

#[derive(Clone, Copy)]
struct Class {
    /// Something of it is consumed or must be fresh, so that it may share memory with nothing else.
    owned: bool,
    /// The bodies in which its members are bound; nothing is bound outside of all bodies.
    homes: (usize, usize),
}

/// The home of what does not belong to the function.
const OUTSIDE: usize = usize::MAX;

impl Classes {
    /// The classes of a function. `unique` tells of all functions which parameters and results are unique.
    pub(super) fn of(vars: &Vars, fun: &Fun<Soac>, unique: &[Unique]) -> Self {
        let class = Class {
            owned: false,
            homes: (OUTSIDE, OUTSIDE),
        };
        let mut builder = Builder {
            classes: Self {
                up: (0..vars.len()).collect(),
                class: vec![class; vars.len()],
                views: vec![false; vars.len()],
                ends: Vec::new(),
            },
            vars,
            unique,
        };
        for p in &fun.params {
            builder.home(p.var, if p.unique { 0 } else { OUTSIDE });
        }
        builder.body(&fun.body);
        for (p, a) in fun.results.iter().zip(&fun.body.result) {
            // What leaves an entry point belongs to the caller, who may consume it.
            if p.unique || fun.entry.is_some() {
                a.as_var().into_iter().for_each(|v| builder.classes.own(v));
            }
        }
        builder.classes
    }

    fn find(&mut self, v: Var) -> usize {
        let mut i = v.index();
        while self.up[i] != i {
            self.up[i] = self.up[self.up[i]];
            i = self.up[i];
        }
        i
    }

    /// Whether the two are in one class.
    pub(super) fn same(&mut self, a: Var, b: Var) -> bool {
        self.find(a) == self.find(b)
    }

    /// Makes the classes of the two one.
    pub(super) fn union(&mut self, a: Var, b: Var) {
        let (a, b) = (self.find(a), self.find(b));
        if a == b {
            return;
        }
        let (of_a, of_b) = (self.class[a], self.class[b]);
        self.up[a] = b;
        self.class[b] = Class {
            owned: of_a.owned || of_b.owned,
            homes: (
                of_a.homes.0.min(of_b.homes.0),
                of_a.homes.1.max(of_b.homes.1),
            ),
        };
    }

    fn own(&mut self, v: Var) {
        let class = self.find(v);
        self.class[class].owned = true;
    }

    /// Whether the array is laid out as if it had just been copied.
    pub(super) fn is_whole(&self, v: Var) -> bool {
        !self.views[v.index()]
    }

    /// Whether nothing of both classes is consumed or must be fresh.
    pub(super) fn are_shared(&mut self, a: Var, b: Var) -> bool {
        let (a, b) = (self.find(a), self.find(b));
        !self.class[a].owned && !self.class[b].owned
    }

    /// Whether all of the class is bound in a body or inside of it.
    pub(super) fn is_made_in(&mut self, v: Var, body: usize) -> bool {
        let class = self.find(v);
        let (first, last) = self.class[class].homes;
        first >= body && last < self.ends[body]
    }
}

struct Builder<'a> {
    classes: Classes,
    vars: &'a Vars,
    unique: &'a [Unique],
}

impl Builder<'_> {
    fn home(&mut self, v: Var, body: usize) {
        self.classes.class[v.index()].homes = (body, body);
    }

    fn body(&mut self, body: &Body<Soac>) {
        let number = self.classes.ends.len();
        self.classes.ends.push(0);
        for stm in &body.stms {
            stm.binds.iter().for_each(|v| self.home(*v, number));
            // What is bound for a body inside belongs to the body around it.
            let mut inner = Vec::new();
            stm.exp.inner_binders(&mut |v| inner.push(v));
            inner.into_iter().for_each(|v| self.home(v, number));
            deep(|| stm.exp.scopes(&mut |_, body| self.body(body)));
            self.stm(stm);
        }
        self.classes.ends[number] = self.classes.ends.len();
    }

    fn joined(&mut self, v: Var, a: Atom) {
        if let Atom::Var(a) = a
            && self.vars[v].ty.is_consumable()
        {
            self.classes.union(v, a);
        }
    }

    fn stm(&mut self, stm: &Stm<Soac>) {
        match &stm.exp {
            Exp::Atom(a) => stm.binds.iter().for_each(|v| self.joined(*v, *a)),
            Exp::Scalar(..) | Exp::Assert { .. } | Exp::Guard { .. } => {}
            Exp::If {
                cond: _,
                then,
                otherwise,
            } => {
                for body in [then, otherwise] {
                    let results = stm.binds.iter().zip(&body.result);
                    results.for_each(|(v, a)| self.joined(*v, *a));
                }
            }
            Exp::Loop {
                params,
                form: _,
                body,
            } => {
                for ((v, p), a) in stm.binds.iter().zip(params).zip(&body.result) {
                    self.joined(*v, p.var.into());
                    self.joined(*v, p.init);
                    self.joined(*v, *a);
                }
            }
            Exp::Call { fun, args } => self.call(&stm.binds, fun.index(), args),
            Exp::Op(op) => {
                op.consumed(&mut |v| self.classes.own(v));
                if let Some(a) = op.aliased() {
                    stm.binds.iter().for_each(|v| {
                        self.joined(*v, a.into());
                        self.classes.views[v.index()] = true;
                    });
                }
                op.elements(&mut |row, array| self.joined(row, array.into()));
            }
        }
    }

    fn call(&mut self, binds: &[Var], fun: usize, args: &[Atom]) {
        let Some((params, results)) = self.unique.get(fun) else {
            return;
        };
        let mut shared: Vec<Var> = Vec::new();
        for (a, unique) in args.iter().zip(params) {
            let array = a
                .as_var()
                .filter(|v| matches!(self.vars[*v].ty, Type::Array(_)));
            match (array, unique) {
                (Some(v), true) => self.classes.own(v),
                (Some(v), false) => shared.push(v),
                (None, _) => {}
            }
        }
        let passed_on = binds.iter().zip(results).filter(|(_, unique)| !**unique);
        for v in passed_on.map(|(v, _)| *v) {
            for other in &shared {
                if self.vars[v].ty.elem() == self.vars[*other].ty.elem() {
                    self.joined(v, (*other).into());
                }
            }
            shared.push(v);
        }
    }
}
