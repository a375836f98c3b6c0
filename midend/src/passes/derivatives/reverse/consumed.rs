//! What a statement consumes of what is bound outside of it.

use super::Derive;
use crate::hash::{HashMap, HashSet};
use crate::ir::dialect::Dialect;
use crate::ir::id::Var;
use crate::ir::soac::Soac;
use crate::ir::syntax::{Atom, Exp, Stm};
use crate::ir::walk;

/// What variables may be other names of.
#[derive(Default)]
struct Names {
    of: HashMap<Var, Vec<Var>>,
    consumed: Vec<Var>,
}

impl Names {
    fn name(&mut self, v: Var, of: Atom) {
        if let Atom::Var(of) = of {
            self.of.entry(v).or_default().push(of);
        }
    }
}

impl Derive<'_> {
    /// In the order in which they are found.
    pub(super) fn consumed(&self, stm: &Stm<Soac>) -> Vec<Var> {
        let mut names = Names::default();
        let mut bound = HashSet::default();
        self.names_of(stm, &mut names);
        stm.exp.inner_binders(&mut |v| {
            bound.insert(v);
        });
        stm.exp.scopes(&mut |_, body| {
            walk::all_stms(body, &mut |inner| self.names_of(inner, &mut names));
            walk::body_binders(body, &mut |v| {
                bound.insert(v);
            });
        });
        let mut next = std::mem::take(&mut names.consumed);
        let mut seen = HashSet::default();
        let mut found = Vec::new();
        while let Some(v) = next.pop() {
            if !seen.insert(v) {
                continue;
            }
            if !bound.contains(&v) {
                found.push(v);
            }
            if let Some(of) = names.of.get(&v) {
                next.extend(of);
            }
        }
        found
    }

    fn names_of(&self, stm: &Stm<Soac>, names: &mut Names) {
        stm.exp.consumed(&mut |v| names.consumed.push(v));
        match &stm.exp {
            Exp::Atom(a) => stm.binds.iter().for_each(|v| names.name(*v, *a)),
            Exp::If {
                then, otherwise, ..
            } => {
                for body in [then, otherwise] {
                    for (v, a) in stm.binds.iter().zip(&body.result) {
                        names.name(*v, *a);
                    }
                }
            }
            Exp::Loop { params, body, .. } => {
                for ((v, p), a) in stm.binds.iter().zip(params).zip(&body.result) {
                    names.name(*v, p.var.into());
                    names.name(p.var, p.init);
                    names.name(p.var, *a);
                }
            }
            Exp::Call { fun, args } => {
                for (param, arg) in self.funs[*fun].params.iter().zip(args) {
                    if param.unique {
                        names.consumed.extend(arg.as_var());
                    }
                    for v in &stm.binds {
                        if self.vars[*v].ty.is_array() {
                            names.name(*v, *arg);
                        }
                    }
                }
            }
            Exp::Op(op) => {
                if let (Some(of), Some(v)) = (op.aliased(), stm.binds.first()) {
                    names.name(*v, of.into());
                }
            }
            Exp::Scalar(..) | Exp::Assert { .. } | Exp::Guard { .. } => {}
        }
    }
}
