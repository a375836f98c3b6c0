//! Scope: bound once, bound before use, unique names.

use super::{Cx, Verify};
use crate::hash::HashSet;
use crate::ir::id::{Id, Var};
use crate::ir::syntax::{Atom, Body, Exp, Fun, Stm};
use crate::ir::walk::{deep, type_vars};

/// Checks all functions.
pub(super) fn check<D: Verify>(cx: &mut Cx<'_, D>) {
    let program = cx.program;
    let rows = program.vars.len();
    let mut scope = Scope {
        cx,
        open: vec![false; rows],
        bound: vec![false; rows],
    };
    let mut names = HashSet::default();
    let mut entries = HashSet::default();
    for fun in program.funs.iter() {
        scope.cx.fun = Some(fun);
        if !names.insert(&fun.name) {
            scope.cx.fault("a second function has this name");
        }
        if let Some(entry) = &fun.entry
            && !entries.insert(&entry.name)
        {
            scope.cx.fault("a second entry point has this name");
        }
        scope.fun(fun);
    }
    scope.cx.fun = None;
}

struct Scope<'c, 'p, D> {
    cx: &'c mut Cx<'p, D>,
    /// Whether the variable is in scope.
    open: Vec<bool>,
    /// Whether a binder of the variable was seen.
    bound: Vec<bool>,
}

impl<'p, D: Verify> Scope<'_, 'p, D> {
    fn fun(&mut self, fun: &'p Fun<D>) {
        let params: Vec<Var> = fun.params.iter().map(|p| p.var).collect();
        let results: Vec<Var> = fun.results.iter().map(|p| p.var).collect();
        params.iter().chain(&results).for_each(|v| self.bind(*v));
        self.within(&params, |s| {
            s.within(&results, |_| {});
            s.body(&fun.body);
        });
    }

    fn body(&mut self, body: &'p Body<D>) {
        for stm in &body.stms {
            self.stm(stm);
        }
        for a in &body.result {
            self.operand(*a);
        }
        for v in body.stms.iter().flat_map(|stm| &stm.binds) {
            self.set_open(*v, false);
        }
    }

    fn stm(&mut self, stm: &'p Stm<D>) {
        let outer = self.cx.stm.replace(stm);
        for cert in &stm.certs {
            self.used(*cert);
        }
        stm.exp.operands(&mut |a| self.operand(a));
        if let Exp::Call { fun, args: _ } = &stm.exp
            && self.cx.program.funs.get(*fun).is_none()
        {
            self.cx.fault("calls a function that does not exist");
        }
        stm.exp.inner_binders(&mut |v| self.bind(v));
        stm.exp.scopes(&mut |bound, body| {
            deep(|| self.within(bound, |s| s.body(body)));
        });
        stm.binds.iter().for_each(|v| self.bind(*v));
        self.open_in_order(&stm.binds);
        self.cx.stm = outer;
    }

    /// Runs `f` with variables in scope that it does not bind itself.
    fn within(&mut self, vars: &[Var], f: impl FnOnce(&mut Self)) {
        self.open_in_order(vars);
        f(self);
        vars.iter().for_each(|v| self.set_open(*v, false));
    }

    /// Brings variables into scope, each after those before it, and looks at the sizes in their types.
    fn open_in_order(&mut self, vars: &[Var]) {
        for v in vars {
            if let Some(info) = self.cx.program.vars.get(*v) {
                type_vars(&info.ty, &mut |size| self.used(size));
            }
            self.set_open(*v, true);
        }
    }

    fn set_open(&mut self, v: Var, open: bool) {
        if let Some(flag) = self.open.get_mut(v.index()) {
            *flag = open;
        }
    }

    fn operand(&mut self, a: Atom) {
        if let Atom::Var(v) = a {
            self.used(v);
        }
    }

    fn used(&mut self, v: Var) {
        if self.open.get(v.index()) != Some(&true) {
            let name = self.cx.name(v);
            self.cx.fault(format!("{name} is used but not in scope"));
        }
    }

    fn bind(&mut self, v: Var) {
        match self.bound.get_mut(v.index()) {
            None => self.cx.fault("binds a variable that is not in the table"),
            Some(bound) => {
                if std::mem::replace(bound, true) {
                    let name = self.cx.name(v);
                    self.cx.fault(format!("{name} is bound a second time"));
                }
            }
        }
    }
}
