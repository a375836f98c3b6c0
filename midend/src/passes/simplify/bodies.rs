//! Common subexpressions with bodies: a loop, a conditional or an operation that is an earlier one but for the names in it, and binds scalars or
//! nothing. What binds nothing is there for its checks, and they have been made.
//!
//! ```text
//! let a = loop (x = 1) for i < n { .. }          let a = loop (x = 1) for i < n { .. }
//! let b = loop (y = 1) for j < n { .. }    ──►
//! let c = add.i64(a, b)                          let c = add.i64(a, a)
//! ```
//!
//! Two statements are compared only if their operands and numbers of statements are equal, and one is kept for the next to be compared with only if
//! it is not large.

use super::Simplify;
use crate::fired::fired;
use crate::ir::dialect::Dialect;
use crate::ir::rename::Subst;
use crate::ir::syntax::{Atom, Body, Exp, LoopForm, Stm};
use crate::ir::types::Type;
use crate::ir::walk::deep;
use std::rc::Rc;

/// Statements in a statement that is kept, at most.
const LARGE: usize = 400;

/// What must be equal before two statements are compared: operands, and the number of statements inside.
pub(super) type Outline = (Vec<Atom>, usize);

impl<D: Dialect> Simplify<'_, D> {
    /// Whether a statement with bodies is an earlier one: then its variables are replaced. If not, it is kept to be compared with.
    pub(super) fn is_repeated(&mut self, stm: &Stm<D>) -> bool {
        if !self.rules.cse || !D::IS_PURE || !self.binds_scalars(stm) {
            return false;
        }
        let Some(size) = size(stm) else {
            return false;
        };
        let mut own = stm.clone();
        let equal = &self.equal_ranges;
        own.exp.map_operands(&mut |a| {
            let first = a.as_var().and_then(|v| equal.get(&v));
            first.map_or(a, |v| Atom::Var(*v))
        });
        let mut operands = Vec::new();
        own.exp.operands(&mut |a| operands.push(a));
        let outline = (operands, size);
        if let Some(first) = self.bodies.get(&outline).cloned()
            && stm.certs.iter().all(|cert| first.certs.contains(cert))
            && are_alike(&first, &own)
        {
            fired("cse/bodies");
            for (v, same) in stm.binds.iter().zip(&first.binds) {
                self.subst.insert(*v, *same);
            }
            return true;
        }
        self.bodies.insert(outline, Rc::new(own));
        false
    }

    fn binds_scalars(&self, stm: &Stm<D>) -> bool {
        let mut binds = stm.binds.iter();
        binds.all(|v| matches!(self.vars[*v].ty, Type::Scalar(_)))
    }
}

/// The number of statements inside. Nothing for statements that do something besides computing values, have no bodies, or are large.
fn size<D: Dialect>(stm: &Stm<D>) -> Option<usize> {
    let mut left = LARGE;
    let mut bodies = 0;
    stm.exp.scopes(&mut |_, _| bodies += 1);
    (is_pure(&stm.exp, &mut left) && bodies > 0).then_some(LARGE - left)
}

/// Whether an expression does nothing besides computing values, and has at most so many statements inside as are left.
fn is_pure<D: Dialect>(exp: &Exp<D>, left: &mut usize) -> bool {
    let mut pure = match exp {
        Exp::Op(op) => !op.has_effect(),
        Exp::Call { .. } | Exp::Guard { .. } => false,
        Exp::Atom(_) | Exp::Scalar(..) | Exp::Assert { .. } | Exp::If { .. } | Exp::Loop { .. } => {
            true
        }
    };
    exp.scopes(&mut |_, body| {
        for stm in &body.stms {
            if !pure || *left == 0 {
                pure = false;
                return;
            }
            *left -= 1;
            pure = deep(|| is_pure(&stm.exp, left));
        }
    });
    pure
}

/// Whether two statements are the same but for the names of what they bind, and where they come from.
fn are_alike<D: Dialect>(a: &Stm<D>, b: &Stm<D>) -> bool {
    let mut b = b.clone();
    let mut names = Subst::new();
    rename_exp(&a.exp, &mut b.exp, &mut names) && a.exp == b.exp
}

/// Gives what `b` binds inside the names of what `a` does. Whether both have so many statements that bind so many variables.
fn rename_exp<D: Dialect>(a: &Exp<D>, b: &mut Exp<D>, names: &mut Subst) -> bool {
    b.map_operands(&mut |a| names.atom(a));
    let mut binders = Vec::new();
    let mut bodies: Vec<&Body<D>> = Vec::new();
    a.scopes(&mut |bound, body| {
        binders.push(bound.to_vec());
        bodies.push(body);
    });
    if let (
        Exp::Loop { params, form, .. },
        Exp::Loop {
            params: own,
            form: other,
            ..
        },
    ) = (a, &mut *b)
    {
        if params.len() != own.len() {
            return false;
        }
        for (p, q) in params.iter().zip(own) {
            names.insert(q.var, p.var);
            q.var = p.var;
        }
        if let (LoopForm::For { index, .. }, LoopForm::For { index: own, .. }) = (form, other) {
            names.insert(*own, *index);
            *own = *index;
        }
    }
    let mut same = true;
    let mut k = 0;
    if let Exp::Op(op) = &mut *b {
        op.scopes_mut(&mut |bound, body| {
            let fits = binders.get(k).is_some_and(|of| of.len() == bound.len());
            same &= fits;
            if fits {
                for (v, of) in bound.iter_mut().zip(&binders[k]) {
                    names.insert(*v, *of);
                    *v = *of;
                }
                same &= rename_body(bodies[k], body, names);
            }
            k += 1;
        });
    } else {
        b.bodies_mut(&mut |body| {
            same &= bodies.get(k).is_some_and(|of| rename_body(of, body, names));
            k += 1;
        });
    }
    same && k == bodies.len()
}

fn rename_body<D: Dialect>(a: &Body<D>, b: &mut Body<D>, names: &mut Subst) -> bool {
    if a.stms.len() != b.stms.len() {
        return false;
    }
    for (a, b) in a.stms.iter().zip(&mut b.stms) {
        if a.binds.len() != b.binds.len() {
            return false;
        }
        for cert in &mut b.certs {
            *cert = names.var(*cert);
        }
        if !deep(|| rename_exp(&a.exp, &mut b.exp, names)) {
            return false;
        }
        for (v, of) in b.binds.iter_mut().zip(&a.binds) {
            names.insert(*v, *of);
            *v = *of;
        }
        b.span = a.span;
    }
    for a in &mut b.result {
        *a = names.atom(*a);
    }
    true
}
