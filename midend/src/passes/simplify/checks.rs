//! Checks that are seen to hold go, and a check that was made before is not made again.
//!
//! ```text
//! let ok1 = assert c                     let ok1 = assert c
//! let x = <ok1> index xs[i]     ──►      let x = <ok1> index xs[i]
//! let ok2 = assert c
//! let y = <ok2> index ys[i]              let y = <ok1> index ys[i]
//! ```
//!
//! What a check protects afterwards names the certificates of the checks that prove the same: none if it holds by
//! construction (see [`crate::analysis::ranges`]) or on the branch at hand.

use super::Simplify;
use crate::fired::fired;
use crate::ir::dialect::Dialect;
use crate::ir::id::Var;
use crate::ir::scalar::{BinOp, ScalarOp};
use crate::ir::syntax::{Atom, Exp, Stm};
use crate::ir::types::ScalarType;

/// How many conjunctions deep a proof is looked for.
const DEPTH: usize = 8;

impl<D: Dialect> Simplify<'_, D> {
    /// An `assert` that binds `cert`.
    pub(super) fn check(&mut self, cert: Var, cond: Atom, stm: Stm<D>, out: &mut Vec<Stm<D>>) {
        if !self.rules.checks {
            out.push(stm);
            return;
        }
        if let Some(mut proof) = self.prove(cond, DEPTH) {
            for other in &stm.certs {
                if !proof.contains(other) {
                    proof.push(*other);
                }
            }
            fired("checks/proved");
            self.proofs.insert(cert, proof);
            return;
        }
        self.learn_check(cond, cert, DEPTH);
        out.push(stm);
    }

    /// Replaces certificates of checks that are gone.
    pub(super) fn prove_certs(&self, certs: &mut Vec<Var>) {
        if certs.iter().any(|cert| self.proofs.contains_key(cert)) {
            let mut new: Vec<Var> = Vec::new();
            for cert in certs.drain(..) {
                match self.proofs.get(&cert) {
                    Some(proof) => new.extend(proof),
                    None => new.push(cert),
                }
            }
            new.sort_unstable();
            new.dedup();
            *certs = new;
        }
        for cert in certs {
            *cert = self.subst.var(*cert);
        }
    }

    /// The certificates that prove a condition, if it is known to hold.
    fn prove(&self, cond: Atom, depth: usize) -> Option<Vec<Var>> {
        if let Some(holds) = cond.as_bool() {
            return holds.then(|| {
                fired("checks/true");
                Vec::new()
            });
        }
        if let Some(cert) = self.asserted.get(&cond) {
            fired("checks/made-before");
            return Some(vec![*cert]);
        }
        let (op, [a, b]) = self.connective(cond)?;
        let depth = depth.checked_sub(1)?;
        if op == BinOp::Or {
            fired("checks/either");
            return self.prove(a, depth).or_else(|| self.prove(b, depth));
        }
        let mut proof = self.prove(a, depth)?;
        proof.extend(self.prove(b, depth)?);
        fired("checks/both");
        proof.sort_unstable();
        proof.dedup();
        Some(proof)
    }

    /// The conjunction or disjunction that computes a condition.
    fn connective(&self, cond: Atom) -> Option<(BinOp, [Atom; 2])> {
        let def = self.defs.get(&cond.as_var()?)?;
        let Exp::Scalar(ScalarOp::Bin(op @ (BinOp::And | BinOp::Or), ScalarType::Bool), args) =
            &def.exp
        else {
            return None;
        };
        Some((*op, [*args.first()?, *args.get(1)?]))
    }

    /// A condition was checked, and with it what it is a conjunction of.
    fn learn_check(&mut self, cond: Atom, cert: Var, depth: usize) {
        self.asserted.insert(cond, cert);
        if let Some((BinOp::And, parts)) = self.connective(cond)
            && let Some(depth) = depth.checked_sub(1)
        {
            parts
                .into_iter()
                .for_each(|part| self.learn_check(part, cert, depth));
        }
    }

    /// The branch at hand is taken only if the condition has this value.
    pub(super) fn learn_branch(&mut self, cond: Atom, value: bool) {
        self.learn_part(cond, value, DEPTH);
    }

    fn learn_part(&mut self, cond: Atom, value: bool, depth: usize) {
        let Atom::Var(v) = cond else { return };
        self.known.insert(v, value);
        self.learn_comparison(v, value);
        let decided = if value { BinOp::And } else { BinOp::Or };
        let chosen = self.choices.get(&v).copied();
        if let Some((op, parts)) = self.connective(cond).or(chosen)
            && op == decided
            && let Some(depth) = depth.checked_sub(1)
        {
            for part in parts {
                self.learn_part(part, value, depth);
            }
        }
    }

    /// What the truth value of a comparison of integers says of their ranges.
    fn learn_comparison(&mut self, v: Var, value: bool) {
        let Some(def) = self.defs.get(&v) else { return };
        if let Exp::Scalar(ScalarOp::Cmp(op, ty), args) = &def.exp
            && let &[a, b] = &args[..]
            && ty.is_integer()
        {
            self.ranges.compared(*op, a, b, value);
        }
    }
}
