//! Which maps are worked on several points at a time, and what varies in them. Looks at the program only.

use crate::emit::control::is_cheap;
use midend::ir::id::Var;
use midend::ir::mem::{Kernel, KernelKind, Mem};
use midend::ir::syntax::{Atom, Body, Exp, LoopForm, Stm, Vars};
use midend::ir::types::ScalarType;
use midend::ir::walk::free_in_stm;
use std::collections::BTreeSet;

/// The most statements of a body that is emitted for several points.
const MOST: usize = 120;
/// The lanes of a group whose loops carry one varying value: a cache line of binary32, in four vectors, which is as
/// many sums as it takes to have one addition in every cycle.
const WIDE: usize = 16;
/// The lanes where more is carried, so that all of it stays in registers.
const NARROW: usize = 8;

/// How a map is worked on.
#[derive(Debug)]
pub(in crate::emit) struct Plan {
    /// Points at a time.
    pub(in crate::emit) width: usize,
    varying: BTreeSet<Var>,
}

impl Plan {
    /// Whether lanes have values of their own of the variable.
    pub(in crate::emit) fn varies(&self, var: Var) -> bool {
        self.varying.contains(&var)
    }
}

/// The plan for a kernel, if it is a map that gains from one: one with a loop that all points go through equally
/// often, and in which nothing depends on the point but data.
pub(in crate::emit) fn plan(kernel: &Kernel, vars: &Vars) -> Option<Plan> {
    let (index, _) = kernel.space.last()?;
    if !matches!(kernel.kind, KernelKind::Map) {
        return None;
    }
    let mut finder = Finder {
        vars,
        varying: BTreeSet::from([*index]),
        statements: 0,
        loops: 0,
        carried: 0,
    };
    finder.body(&kernel.body)?;
    (finder.loops > 0 && finder.statements <= MOST && finder.carried <= 4).then_some(Plan {
        width: if finder.carried <= 1 { WIDE } else { NARROW },
        varying: finder.varying,
    })
}

/// Finds what varies; gives up where a body cannot be worked on in lanes.
struct Finder<'a> {
    vars: &'a Vars,
    varying: BTreeSet<Var>,
    statements: usize,
    loops: usize,
    carried: usize,
}

impl Finder<'_> {
    fn varies(&self, atom: Atom) -> bool {
        matches!(atom, Atom::Var(v) if self.varying.contains(&v))
    }

    fn body(&mut self, body: &Body<Mem>) -> Option<()> {
        body.stms.iter().try_for_each(|stm| self.stm(stm))
    }

    fn stm(&mut self, stm: &Stm<Mem>) -> Option<()> {
        self.statements += 1;
        match &stm.exp {
            Exp::Loop { params, form, body } => {
                let LoopForm::For { bound, .. } = form else {
                    return None;
                };
                if self.varies(*bound) {
                    return None;
                }
                self.loops += 1;
                for param in params {
                    if self.varies(param.init) {
                        self.varying.insert(param.var);
                    }
                }
                // Until nothing more is found to vary, since one parameter may vary by another.
                loop {
                    let before = self.varying.len();
                    let statements = self.statements;
                    let (loops, carried) = (self.loops, self.carried);
                    self.body(body)?;
                    for (param, next) in params.iter().zip(&body.result) {
                        if self.varies(*next) {
                            self.varying.insert(param.var);
                        }
                    }
                    if self.varying.len() == before {
                        break;
                    }
                    self.statements = statements;
                    (self.loops, self.carried) = (loops, carried);
                }
                for (param, bind) in params.iter().zip(&stm.binds) {
                    if self.varying.contains(&param.var) {
                        self.carried += 1;
                        self.varying.insert(*bind);
                    }
                }
                return Some(());
            }
            Exp::If {
                then, otherwise, ..
            } => {
                if !(is_cheap(then) && is_cheap(otherwise)) {
                    return None;
                }
            }
            Exp::Scalar(op, _) => {
                // These are calls, which leave nothing in vector registers.
                if op.result() == ScalarType::F16 {
                    return None;
                }
            }
            Exp::Atom(_) | Exp::Assert { .. } | Exp::Op(Mem::Load { .. } | Mem::Store { .. }) => {}
            Exp::Call { .. }
            | Exp::Op(Mem::Alloc { .. } | Mem::Free(_) | Mem::Copy { .. } | Mem::Launch(_)) => {
                return None;
            }
        }
        if free_in_stm(self.vars, stm)
            .into_iter()
            .any(|v| self.varying.contains(&v))
        {
            self.varying.extend(&stm.binds);
        }
        Some(())
    }
}
