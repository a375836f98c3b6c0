//! Pre-lifting: which functions are called inside of parallel operations, and what differs between the points that call them
//! (*Shapes and Flattening*, 4.1).

use super::Regularity;
use super::levels::Levels;
use crate::ir::id::{FunId, Id};
use crate::ir::soac::Soac;
use crate::ir::syntax::{Atom, Body, Exp, Program};
use crate::ir::walk::deep;

/// A call in the text.
struct Site<'p> {
    callee: FunId,
    args: &'p [Atom],
    /// Whether it stands inside of a parallel operation of the caller.
    inside: bool,
}

/// For each function the parameters that vary between points that call it; nothing for functions that no point calls.
pub(super) fn lifted(program: &Program<Soac>, facts: &Regularity) -> Vec<Option<Levels>> {
    let sites = program.funs.iter().map(|fun| {
        let mut sites = Vec::new();
        collect(&fun.body, false, &mut sites);
        sites
    });
    let sites: Vec<Vec<Site<'_>>> = sites.collect();
    let mut lifted: Vec<Option<Levels>> = vec![None; program.funs.len()];
    let mut waiting: Vec<usize> = (0..sites.len()).collect();
    // Each function comes back at most once per parameter.
    while let Some(caller) = waiting.pop() {
        for site in &sites[caller] {
            let outer = lifted[caller];
            if !site.inside && outer.is_none() {
                continue;
            }
            let differs = |a: &Atom| {
                let varies = facts.varies(*a);
                !varies.nests().is_none() || outer.is_some_and(|outer| varies.meets(outer))
            };
            let args = site.args.iter().enumerate().filter(|(_, a)| differs(a));
            let params = args.fold(Levels::NONE, |all, (i, _)| all.or(Levels::param(i)));
            let before = lifted[site.callee.index()];
            let after = Some(before.unwrap_or(Levels::NONE).or(params));
            if before != after {
                lifted[site.callee.index()] = after;
                waiting.push(site.callee.index());
            }
        }
    }
    lifted
}

fn collect<'p>(body: &'p Body<Soac>, inside: bool, sites: &mut Vec<Site<'p>>) {
    for stm in &body.stms {
        if let Exp::Call { fun, args } = &stm.exp {
            sites.push(Site {
                callee: *fun,
                args,
                inside,
            });
        }
        let inside = inside || matches!(stm.exp, Exp::Op(_));
        deep(|| {
            stm.exp
                .scopes(&mut |_, inner| collect(inner, inside, sites));
        });
    }
}
