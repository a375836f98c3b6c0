//! Which statements compute the same as others, up to the names of what they bind.
//!
//! ```text
//! let a = add.i64(n, 1)   let xs = map n (is) \(i) { let x = mul.i64(i, a) yield x }
//! let b = add.i64(n, 1)   let ys = map n (is) \(j) { let y = mul.i64(j, b) yield y }      b is a, ys is xs
//! ```

use crate::hash::HashMap;
use crate::ir::array::{ArrayOp, StreamOp};
use crate::ir::dialect::Dialect;
use crate::ir::id::Var;
use crate::ir::rename::Subst;
use crate::ir::syntax::{Atom, Body, Exp, LoopForm, Stm, Vars};
use crate::ir::walk::deep;
use std::mem::{Discriminant, discriminant};

/// What equal expressions have in common, besides what their bodies are.
pub type Key<D> = (Discriminant<Exp<D>>, Vec<Atom>);

/// What is known of variables: which others they are equal to.
#[derive(Clone, Debug, Default)]
pub struct Congruence {
    /// What each variable is equal to; that is equal to nothing else.
    same: Subst,
}

impl Congruence {
    /// From now on, a variable is taken for equal to an atom.
    pub fn equate(&mut self, v: Var, to: Atom) {
        let to = self.same.atom(to);
        self.same.insert(v, to);
    }

    /// What stands for an atom and all that are equal to it.
    pub fn representative(&self, a: Atom) -> Atom {
        self.same.atom(a)
    }

    /// What statements have in common that compute the same.
    pub fn key<D: Dialect>(&self, stm: &Stm<D>) -> Key<D> {
        let mut atoms = Vec::new();
        stm.exp.operands(&mut |a| atoms.push(self.same.atom(a)));
        (discriminant(&stm.exp), atoms)
    }

    /// Whether the second statement computes what the first one does, and needs no check that the first did without. What it
    /// binds is taken for equal from then on.
    pub fn merge<D: Dialect>(&mut self, vars: &Vars, first: &Stm<D>, second: &Stm<D>) -> bool {
        let checked = second.certs.iter().all(|cert| {
            let cert = self.same.var(*cert);
            first.certs.iter().any(|c| self.same.var(*c) == cert)
        });
        checked
            && self.expressions(vars, &first.exp, &second.exp)
            && self.binders(vars, &first.binds, &second.binds)
    }

    /// Takes variables that are bound for equal if their types are.
    fn binders(&mut self, vars: &Vars, first: &[Var], second: &[Var]) -> bool {
        if first.len() != second.len() {
            return false;
        }
        for (a, b) in first.iter().zip(second) {
            self.equate(*b, Atom::Var(*a));
        }
        first
            .iter()
            .zip(second)
            .all(|(a, b)| self.same.ty(&vars[*a].ty) == self.same.ty(&vars[*b].ty))
    }

    fn bodies<D: Dialect>(&mut self, vars: &Vars, first: &Body<D>, second: &Body<D>) -> bool {
        first.stms.len() == second.stms.len()
            && first.result.len() == second.result.len()
            && deep(|| {
                let mut stms = first.stms.iter().zip(&second.stms);
                stms.all(|(a, b)| a.certs.len() == b.certs.len() && self.merge(vars, a, b))
            })
            && first
                .result
                .iter()
                .zip(&second.result)
                .all(|(a, b)| self.same.atom(*a) == self.same.atom(*b))
    }

    fn expressions<D: Dialect>(&mut self, vars: &Vars, first: &Exp<D>, second: &Exp<D>) -> bool {
        if discriminant(first) != discriminant(second) {
            return false;
        }
        let (mut binders, mut others) = (Vec::new(), Vec::new());
        first.inner_binders(&mut |v| binders.push(v));
        second.inner_binders(&mut |v| others.push(v));
        if !self.binders(vars, &binders, &others)
            || self.shell(first.clone()) != self.shell(second.clone())
        {
            return false;
        }
        let (mut bodies, mut other_bodies) = (Vec::new(), Vec::new());
        first.scopes(&mut |_, body| bodies.push(body));
        second.scopes(&mut |_, body| other_bodies.push(body));
        bodies.len() == other_bodies.len()
            && bodies
                .into_iter()
                .zip(other_bodies)
                .all(|(a, b)| self.bodies(vars, a, b))
    }

    /// An expression without its bodies, in terms of what stands for its variables.
    fn shell<D: Dialect>(&self, mut exp: Exp<D>) -> Exp<D> {
        exp.bodies_mut(&mut |body| {
            (body.stms, body.result) = (Vec::new(), Vec::new());
        });
        exp.map_operands(&mut |a| self.same.atom(a));
        match &mut exp {
            Exp::Loop { params, form, .. } => {
                for param in params {
                    param.var = self.same.var(param.var);
                }
                if let LoopForm::For { index, bound: _ } = form {
                    *index = self.same.var(*index);
                }
            }
            Exp::Op(op) => {
                op.scopes_mut(&mut |bound, _| {
                    for v in bound {
                        *v = self.same.var(*v);
                    }
                });
                // Which loop asks for the next chunk makes no difference to what may be answered.
                if let Some(ArrayOp::Stream(stream)) = op.as_array_mut()
                    && stream.op == StreamOp::Next
                {
                    stream.stream = 0;
                }
            }
            Exp::Atom(_)
            | Exp::Scalar(..)
            | Exp::Assert { .. }
            | Exp::Guard { .. }
            | Exp::If { .. }
            | Exp::Call { .. } => {}
        }
        exp
    }
}

/// Statements by what equal ones have in common.
pub struct Table<'p, D> {
    stms: HashMap<Key<D>, Vec<&'p Stm<D>>>,
}

impl<'p, D: Dialect> Table<'p, D> {
    /// No statements yet.
    pub fn new() -> Self {
        Self {
            stms: HashMap::default(),
        }
    }

    /// One more statement.
    pub fn add(&mut self, known: &Congruence, stm: &'p Stm<D>) {
        self.stms.entry(known.key(stm)).or_default().push(stm);
    }

    /// The statement that computes what another one does; what that binds is taken for equal.
    pub fn find(&self, vars: &Vars, known: &mut Congruence, stm: &Stm<D>) -> Option<&'p Stm<D>> {
        let alike = self.stms.get(&known.key(stm))?;
        let found = alike
            .iter()
            .copied()
            .find(|first| known.merge(vars, first, stm));
        if found.is_none() {
            // What is bound further inside is seen by nobody.
            for v in &stm.binds {
                known.same.insert(*v, *v);
            }
        }
        found
    }
}

impl<D: Dialect> Default for Table<'_, D> {
    fn default() -> Self {
        Self::new()
    }
}
