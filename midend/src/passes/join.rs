//! Loops of a point that follow one another and have the same steps become one loop, and what one hands on to the next stays in
//! registers:
//!
//! ```text
//! let a = alloc n                                    loop j < n {
//! loop j < n { a[j] = f x[j] }                         let v = f x[j]
//! loop j < n { y[j] = 0 }                      ──►     y[j] = g v y[j - 1]
//! loop j < n { y[j] = g a[j] y[j - 1] }              }
//! ```
//!
//! A step of the later loop comes before later steps of the earlier one then. So where both go to one buffer and one of them writes, the
//! later one goes to no element that the earlier one has still to go to; and at most one of them fails. Buffers are different if one of
//! them was made in the kernel, or right before it, and has no other name.

mod carried;
mod names;
mod places;
mod stored;

use crate::fired::fired;
use crate::ir::id::Var;
use crate::ir::mem::{Kernel, Mem};
use crate::ir::rename::{Subst, substitute};
use crate::ir::syntax::{Atom, Body, Exp, LoopForm, Program, Stm, Vars};
use crate::ir::walk::{all_stms, deep, free_in_stm};
use crate::pass::Pass;
use names::Names;
use places::{Access, Effects};
use std::collections::BTreeSet;

/// The pass.
pub const PASS: Pass<Mem> = Pass {
    name: "join",
    summary: "loops of a point with the same steps become one, and what they hand on is not stored",
    run: |mut program, _| {
        let Program { vars, funs, .. } = &mut program;
        for fun in funs.iter_mut() {
            let mut names = Names::of(&fun.body);
            host(vars, &mut fun.body, &mut names, &mut BTreeSet::new());
        }
        program
    },
};

/// How many statements before a loop are looked at for another one.
const NEAR: usize = 16;
/// The most statements of a loop that is made of two.
const LARGEST: usize = 200;

/// Host code. `fresh` are buffers that were made and have one name; what gets another one in a branch is none after it either.
fn host(vars: &mut Vars, body: &mut Body<Mem>, names: &mut Names, fresh: &mut BTreeSet<Var>) {
    for stm in &mut body.stms {
        names.next().iter().for_each(|v| {
            fresh.remove(v);
        });
        match &mut stm.exp {
            Exp::Op(Mem::Alloc { .. }) => fresh.extend(&stm.binds),
            Exp::Op(Mem::Launch(kernel)) => point(vars, kernel, fresh),
            Exp::Op(_) | Exp::Scalar(..) | Exp::Assert { .. } | Exp::Guard { .. } => {}
            exp @ (Exp::Atom(_) | Exp::If { .. } | Exp::Loop { .. } | Exp::Call { .. }) => {
                deep(|| exp.bodies_mut(&mut |inner| host(vars, inner, names, fresh)));
            }
        }
    }
}

/// What a point of a kernel does.
fn point(vars: &mut Vars, kernel: &mut Kernel, fresh: &BTreeSet<Var>) {
    if kernel.block.is_some() {
        return;
    }
    let mut apart = BTreeSet::new();
    all_stms(&kernel.body, &mut |stm| match &stm.exp {
        Exp::Op(Mem::Alloc { .. }) => apart.extend(&stm.binds),
        Exp::Op(Mem::Load { buffer, .. } | Mem::Store { buffer, .. }) => {
            apart.extend(fresh.get(buffer));
        }
        Exp::Atom(_)
        | Exp::Scalar(..)
        | Exp::Assert { .. }
        | Exp::Guard { .. }
        | Exp::If { .. }
        | Exp::Loop { .. }
        | Exp::Call { .. }
        | Exp::Op(_) => {}
    });
    named(&kernel.body, &mut |v| {
        apart.remove(&v);
    });
    let mut joined = false;
    inside(vars, &apart, &mut kernel.body, &mut joined);
    if joined {
        stored::forward(&apart, &mut kernel.body);
        stored::drop_unread(&apart, &mut kernel.body);
    }
    carried::carry(vars, &apart, &mut kernel.body);
}

/// Calls `f` on what gets other names.
fn named(body: &Body<Mem>, f: &mut dyn FnMut(Var)) {
    all_stms(body, &mut |stm| {
        let names = match &stm.exp {
            Exp::Atom(_) | Exp::Call { .. } | Exp::If { .. } | Exp::Loop { .. } => true,
            Exp::Scalar(..) | Exp::Assert { .. } | Exp::Guard { .. } | Exp::Op(_) => false,
        };
        if names {
            stm.exp.operands(&mut |atom| {
                atom.as_var().inspect(|v| f(*v));
            });
        }
        stm.exp.scopes(&mut |_, inner| {
            let results = inner.result.iter().filter_map(|atom| atom.as_var());
            results.for_each(&mut *f);
        });
    });
}

fn inside(vars: &mut Vars, apart: &BTreeSet<Var>, body: &mut Body<Mem>, joined: &mut bool) {
    for stm in &mut body.stms {
        let exp = &mut stm.exp;
        deep(|| exp.bodies_mut(&mut |inner| inside(vars, apart, inner, joined)));
    }
    let mut stms: Vec<Stm<Mem>> = Vec::new();
    for mut stm in std::mem::take(&mut body.stms) {
        while let Some(at) = partner(vars, apart, &stms, &stm) {
            fired("join/loops");
            let first = stms.remove(at);
            stm = both(vars, first, stm);
            *joined = true;
        }
        stms.push(stm);
    }
    body.stms = stms;
}

/// The loop that another can be joined with.
fn partner(
    vars: &Vars,
    apart: &BTreeSet<Var>,
    before: &[Stm<Mem>],
    stm: &Stm<Mem>,
) -> Option<usize> {
    let later = Effects::of(stm)?;
    let needed = free_in_stm(vars, stm);
    let mut between: Vec<(BTreeSet<Var>, Option<Effects>)> = Vec::new();
    for (at, first) in before.iter().enumerate().rev().take(NEAR) {
        let effects = Effects::of(first);
        let free: BTreeSet<Var> = free_in_stm(vars, first).into_iter().collect();
        if let Some(earlier) = &effects {
            let apart_from = |(free, other): &(BTreeSet<Var>, Option<Effects>)| {
                let reads = first.binds.iter().any(|v| free.contains(v));
                let meets = other
                    .as_ref()
                    .is_some_and(|other| !earlier.passes(other, apart));
                !reads && !meets
            };
            let small = earlier.size + later.size <= LARGEST;
            let reads = first.binds.iter().any(|v| needed.contains(v));
            let alike = small && !reads && same_steps(vars, first, stm);
            if alike && earlier.joins(&later, apart) && between.iter().all(apart_from) {
                return Some(at);
            }
        } else if !matches!(first.exp, Exp::Scalar(..) | Exp::Op(Mem::Alloc { .. })) {
            return None;
        }
        between.push((free, effects));
    }
    None
}

/// The counter of a loop, and the number of its steps.
fn steps(stm: &Stm<Mem>) -> Option<(Var, Atom)> {
    match &stm.exp {
        Exp::Loop {
            form: LoopForm::For { index, bound },
            ..
        } => Some((*index, *bound)),
        Exp::Loop { .. }
        | Exp::Atom(_)
        | Exp::Scalar(..)
        | Exp::Assert { .. }
        | Exp::Guard { .. }
        | Exp::If { .. }
        | Exp::Call { .. }
        | Exp::Op(_) => None,
    }
}

fn same_steps(vars: &Vars, first: &Stm<Mem>, stm: &Stm<Mem>) -> bool {
    let same = |a: (Var, _), b: (Var, _)| a.1 == b.1 && vars[a.0].ty == vars[b.0].ty;
    steps(first)
        .zip(steps(stm))
        .is_some_and(|(a, b)| same(a, b))
}

/// One loop that does in each step what two do.
fn both(vars: &mut Vars, first: Stm<Mem>, mut stm: Stm<Mem>) -> Stm<Mem> {
    if let (
        Exp::Loop {
            params: theirs,
            form: LoopForm::For { index: counter, .. },
            body: mut before,
        },
        Exp::Loop {
            params,
            form: LoopForm::For { index, .. },
            body,
        },
    ) = (first.exp, &mut stm.exp)
    {
        substitute(vars, &Subst::of([counter], [(*index).into()]), &mut before);
        params.splice(0..0, theirs);
        body.stms.splice(0..0, before.stms);
        body.result.splice(0..0, before.result);
        stm.binds.splice(0..0, first.binds);
        for cert in first.certs {
            if !stm.certs.contains(&cert) {
                stm.certs.push(cert);
            }
        }
    }
    stm
}

impl Effects {
    /// Whether a loop may be executed behind another one as well.
    fn passes(&self, other: &Self, apart: &BTreeSet<Var>) -> bool {
        let meets = |a: &Access| other.accesses.iter().any(|b| a.meets(b, apart));
        let fail = self.fails && other.fails;
        !fail && !self.accesses.iter().any(meets)
    }

    /// Whether a loop can be joined with a later one, to which it hands on something.
    fn joins(&self, later: &Self, apart: &BTreeSet<Var>) -> bool {
        let mut hands_on = false;
        let all = self.accesses.iter().all(|a| {
            later.accesses.iter().all(|b| {
                hands_on |= a.stores && a.buffer == b.buffer;
                !a.meets(b, apart) || a.buffer == b.buffer && a.is_before(b)
            })
        });
        let fail = self.fails && later.fails;
        all && hands_on && !fail
    }
}
