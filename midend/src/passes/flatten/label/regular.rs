//! What the analysis of regularity adds to labels: scalars that points compute, and that are the same for all of them.
//!
//! ```text
//! map (\x -> let k = ks[0] in reduce (+) 0 (map (* x) (iota k))) xs     k varies with nothing: the rows iota k are regular
//! ```
//!
//! What decides how code is executed, lengths, numbers of steps and conditions, is fetched from the first point, so that
//! arrays are regular, loops take the same number of steps, and branches are taken by all points or none.

use super::{Label, Labeller};
use crate::analysis::regularity::Regularity;
use crate::hash::HashSet;
use crate::ir::id::Var;
use crate::ir::soac::Soac;
use crate::ir::syntax::{Atom, Body, Exp, Stm, Vars};
use crate::ir::types::Type;
use crate::ir::walk::{all_stms, type_vars};

/// What is known of regularity.
#[derive(Clone, Copy)]
pub(in super::super) enum Facts<'a> {
    /// What was found out.
    Known(&'a Regularity),
    /// Nothing but what the host knows anyway.
    Host,
    /// Everything is taken to differ, to see what the rest is worth.
    Without,
}

/// The scalars that are lengths, widths, numbers of steps or conditions, and those that loops and branches make of others.
pub(super) fn decisive(body: &Body<Soac>, vars: &Vars) -> HashSet<Var> {
    let mut found = HashSet::default();
    let mut sources: Vec<(Var, Var)> = Vec::new();
    all_stms(body, &mut |stm| {
        found.extend(Regularity::decides(&stm.exp).and_then(|a| a.as_var()));
        let mut lengths = |v: Var| {
            type_vars(&vars[v].ty, &mut |n| {
                found.insert(n);
            });
        };
        stm.binds.iter().for_each(|&v| lengths(v));
        stm.exp.inner_binders(&mut lengths);
        carried(stm, &mut |to, from| {
            sources.extend(from.as_var().map(|from| (to, from)))
        });
    });
    sources.sort_unstable();
    let mut todo: Vec<Var> = found.iter().copied().collect();
    while let Some(v) = todo.pop() {
        let first = sources.partition_point(|(to, _)| *to < v);
        let from = sources[first..].iter().take_while(|(to, _)| *to == v);
        todo.extend(
            from.map(|(_, from)| *from)
                .filter(|from| found.insert(*from)),
        );
    }
    found
}

/// What carries the value of something else through a loop or out of a branch.
fn carried(stm: &Stm<Soac>, f: &mut dyn FnMut(Var, Atom)) {
    match &stm.exp {
        Exp::Atom(a) => stm.binds.iter().for_each(|v| f(*v, *a)),
        Exp::If {
            then, otherwise, ..
        } => {
            for branch in [then, otherwise] {
                let results = stm.binds.iter().zip(&branch.result);
                results.for_each(|(v, a)| f(*v, *a));
            }
        }
        Exp::Loop { params, body, .. } => {
            for (p, next) in params.iter().zip(&body.result) {
                f(p.var, p.init);
                f(p.var, *next);
            }
            let results = stm.binds.iter().zip(params);
            results.for_each(|(v, p)| f(*v, p.var.into()));
        }
        Exp::Scalar(..)
        | Exp::Assert { .. }
        | Exp::Guard { .. }
        | Exp::Call { .. }
        | Exp::Op(_) => {}
    }
}

impl Labeller<'_> {
    /// Whether what a statement of a nest binds decides something, is the same for all points, and can be fetched from one.
    pub(super) fn is_same(&self, stm: &Stm<Soac>, label: Label, v: Var) -> bool {
        let Facts::Known(facts) = self.facts else {
            return false;
        };
        let scalars = || {
            let mut binds = stm.binds.iter();
            binds.all(|&v| matches!(self.vars[v].ty, Type::Scalar(_)))
        };
        let apart = match label {
            Label::Cheap | Label::Seq => scalars(),
            Label::Par => scalars() || matches!(&stm.exp, Exp::If { .. } | Exp::Call { .. }),
            Label::Uniform | Label::Check | Label::Fill | Label::View | Label::Update => false,
        };
        apart
            && matches!(self.vars[v].ty, Type::Scalar(_))
            && self.decisive.contains(&v)
            && facts.is_uniform(v.into())
    }
}
