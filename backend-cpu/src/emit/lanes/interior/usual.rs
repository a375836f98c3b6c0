//! Choices that come out the same for all points of a row: where they depend on which row it is, they come out one way in most rows, as
//! far from the first and the last one. These rows have a loop without the choices.
//!
//! ```text
//! row i:  loop over lanes {                                       if i == 0 { loop over lanes { .. } }
//!           north = if i == 0 then here else load a[i - 1, ..]    else      { loop over lanes {
//!           ..                                              ──►               north = load a[i - 1, ..]
//!         }                                                                   .. } }
//! ```

use super::super::plan::Plan;
use super::sums::Sum;
use super::{Interior, Walk, size};
use crate::emit::Emit;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Value, types};
use midend::ir::id::Var;
use midend::ir::mem::{Kernel, Mem};
use midend::ir::rename::Subst;
use midend::ir::scalar::{BinOp, CmpOp, Const, ScalarOp, UnOp};
use midend::ir::syntax::{Atom, Body, Exp, Stm};
use midend::ir::types::ScalarType;
use std::collections::BTreeSet;

/// The most statements of a body that is emitted once more.
const STATEMENTS: usize = 96;

/// What points inside of most rows do.
#[derive(Clone, Debug)]
pub(in crate::emit) struct Usual {
    pub(in crate::emit) kernel: Kernel,
    pub(in crate::emit) plan: Option<Plan>,
    /// How what is known at the start of a row comes out in these rows.
    conditions: Vec<(Var, bool)>,
}

impl Interior {
    /// Leaves out what most rows do if their points are not worked on in the same groups as those of others.
    pub(super) fn keep_usual(&mut self, of_all: &Plan, plan: impl FnOnce(&Kernel) -> Option<Plan>) {
        self.usual = self.usual.take().and_then(|usual| {
            let plan = plan(&usual.kernel)?;
            let alike = plan.width == of_all.width
                && plan.parts == of_all.parts
                && !plan.has_arrays()
                && !of_all.has_arrays();
            alike.then_some(Usual {
                plan: Some(plan),
                ..usual
            })
        });
    }
}

impl Walk {
    /// What points inside do in most rows, where this walk has gone through all and has made `kernel` of it; `walk` begins another.
    pub(super) fn usual(&self, kernel: &Kernel, walk: impl FnOnce(Subst) -> Self) -> Option<Usual> {
        if size(&kernel.body) > STATEMENTS {
            return None;
        }
        let mut conditions = Vec::new();
        let mut subst = Subst::new();
        let mut of_row = BTreeSet::new();
        for stm in &kernel.body.stms {
            if self.is_of_row(stm, &of_row) {
                of_row.extend(stm.binds.iter().copied());
            } else if let Exp::If {
                cond: Atom::Var(cond),
                ..
            } = &stm.exp
                && !conditions.iter().any(|(v, _)| v == cond)
                && let Some(holds) = self.usually(*cond)
            {
                conditions.push((*cond, holds));
                subst.insert(*cond, Atom::Const(Const::Bool(holds)));
            }
        }
        if conditions.is_empty() {
            return None;
        }
        let mut other = walk(subst);
        let body = other.all(&kernel.body)?;
        let is_inside = other.bounds.iter().all(|bound| self.bounds.contains(bound));
        is_inside.then(|| Usual {
            kernel: Kernel {
                body,
                ..kernel.clone()
            },
            plan: None,
            conditions,
        })
    }

    /// Whether a statement only computes what is the same for the whole row, where these variables are: then loops have none of it anyway.
    fn is_of_row(&self, stm: &Stm<Mem>, of_row: &BTreeSet<Var>) -> bool {
        let is_known = |known: &BTreeSet<Var>, atom: Atom| {
            self.is_early(atom) || atom.as_var().is_some_and(|v| known.contains(&v))
        };
        let mut known = true;
        stm.exp
            .operands(&mut |atom| known &= is_known(of_row, atom));
        let side = |side: &Body<Mem>| {
            let mut of_side = of_row.clone();
            for stm in &side.stms {
                if !self.is_of_row(stm, &of_side) {
                    return false;
                }
                of_side.extend(stm.binds.iter().copied());
            }
            side.result.iter().all(|atom| is_known(&of_side, *atom))
        };
        known
            && match &stm.exp {
                Exp::Atom(_) | Exp::Scalar(..) => true,
                Exp::If {
                    then, otherwise, ..
                } => side(then) && side(otherwise),
                Exp::Assert { .. }
                | Exp::Guard { .. }
                | Exp::Loop { .. }
                | Exp::Call { .. }
                | Exp::Op(_) => false,
            }
    }

    /// How what is known at the start of a row comes out far from the first and the last row.
    fn usually(&self, v: Var) -> Option<bool> {
        let stm = |stm: &&Stm<Mem>| stm.binds.contains(&v);
        let Exp::Scalar(op, args) = &self.early.iter().find(stm)?.exp else {
            return None;
        };
        let of = |arg: usize| args[arg].as_var().and_then(|v| self.usually(v));
        match op {
            ScalarOp::Cmp(op, ScalarType::I64) => self.compared_rows(*op, args),
            ScalarOp::Un(UnOp::Not, ScalarType::Bool) => Some(!of(0)?),
            ScalarOp::Bin(op @ (BinOp::And | BinOp::Or), ScalarType::Bool) => {
                let decides = *op == BinOp::Or;
                match [of(0), of(1)] {
                    [Some(known), _] | [_, Some(known)] if known == decides => Some(known),
                    [Some(_), Some(_)] => Some(!decides),
                    _ => None,
                }
            }
            ScalarOp::Un(..)
            | ScalarOp::Bin(..)
            | ScalarOp::Cmp(..)
            | ScalarOp::Tern(..)
            | ScalarOp::Select(_)
            | ScalarOp::Convert(..)
            | ScalarOp::ToBits(_)
            | ScalarOp::FromBits(_) => None,
        }
    }

    /// How a comparison of the index of a row comes out where that is larger than constants, smaller than sizes, and equal to nothing.
    fn compared_rows(&self, op: CmpOp, args: &[Atom]) -> Option<bool> {
        let difference = self.sum(args[0])?.plus(&self.sum(args[1])?, -1)?;
        let is_row = |(v, _): &(&Var, &i64)| self.rows.contains(v);
        let mut rows = difference.terms.iter().filter(is_row);
        let ((row, factor), None) = (rows.next()?, rows.next()) else {
            return None;
        };
        if difference.index != 0 || factor.abs() != 1 {
            return None;
        }
        let rising = *factor == 1;
        let limit = difference.plus(&Sum::term(*row), -factor)?;
        Some(match op {
            CmpOp::Eq => false,
            // The row less a size is less than zero; the row less a constant is not.
            CmpOp::Lt | CmpOp::Le => limit.terms.is_empty() != rising,
        })
    }
}

impl Emit<'_, '_> {
    /// Whether a row is one of most, where what is known at its start has been computed.
    pub(in crate::emit) fn is_usual(&mut self, usual: &Usual) -> Value {
        let mut all = self.b.ins().iconst(types::I8, 1);
        for (v, holds) in &usual.conditions {
            let value = self.var(*v);
            let as_usual = if *holds {
                IntCC::NotEqual
            } else {
                IntCC::Equal
            };
            let one = self.b.ins().icmp_imm_u(as_usual, value, 0);
            all = self.b.ins().band(all, one);
        }
        all
    }
}
