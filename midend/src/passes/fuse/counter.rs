//! An array that an operator reads nowhere but where it is, counted, is one of those that it traverses, so that what makes the array can
//! become part of the operator.
//!
//! ```text
//! let is = iota n 0 1                              let is = iota n 0 1
//! let ys = map n (xs) f                            let ys = map n (xs) f
//! let zs = map n (is) \(i) {               ──►     let zs = map n (is, ys) \(i, y) {
//!   let y = index ys[i]                              let z = add.i32(y, 1)
//!   let z = add.i32(y, 1)                            yield z
//!   yield z                                        }
//! }
//! ```
//!
//! Only if a map makes the array and nothing else reads it.

use super::parts::{Consumer, traversal};
use super::uses::Uses;
use super::{Fuse, is_among};
use crate::fired::fired;
use crate::ir::array::ArrayOp;
use crate::ir::id::Var;
use crate::ir::scalar::Const;
use crate::ir::soac::Soac;
use crate::ir::syntax::{Atom, Body, Exp, Stm, VarInfo};
use crate::ir::types::ScalarType;
use crate::ir::walk::all_stms_mut;

impl Fuse<'_> {
    /// Lets operators of a body traverse what they find by their counters.
    pub(super) fn counters(&mut self, body: &mut Body<Soac>) {
        if !body.stms.iter().any(counts) {
            return;
        }
        let uses = Uses::of(body, self.vars, self.funs);
        for at in 0..body.stms.len() {
            let Some(counter) = counter(body, &uses, at) else {
                continue;
            };
            for &array in uses.free(at) {
                if self.is_found_by(body, &uses, (array, counter), at) {
                    fired("fuse/map-counter");
                    self.traverse(&mut body.stms[at], array, counter);
                }
            }
        }
    }

    /// Whether statement `at` alone reads what a map makes, element by element as it counts.
    fn is_found_by(
        &self,
        body: &Body<Soac>,
        uses: &Uses,
        (array, counter): (Var, Var),
        at: usize,
    ) -> bool {
        let Some(consumer) = Consumer::of(&body.stms[at]) else {
            return false;
        };
        let is_as_long =
            self.vars[array].ty.shape().first().and_then(|n| n.size()) == Some(consumer.width);
        is_as_long
            && !uses.consumed_in(at..at + 1).any(|v| v == array)
            && self.only_reader(body, uses, array, at).is_some()
            && !consumer.arrays.contains(&array)
            && only_indexed(&consumer.lam.body, array, counter)
    }

    /// Makes elements of an array a parameter.
    fn traverse(&mut self, stm: &mut Stm<Soac>, array: Var, counter: Var) {
        let (Some(ty), Some(operator)) = (self.vars[array].ty.peel(1), traversal(&mut stm.exp))
        else {
            return;
        };
        let element = self.vars.push(VarInfo {
            name: self.vars[array].name.clone(),
            ty,
        });
        operator.arrays.push(array);
        operator.lam.params.push(element);
        all_stms_mut(&mut operator.lam.body, &mut |stm| {
            if let Some(rest) = indexed(stm, array, counter) {
                stm.exp = match rest {
                    [] => Exp::Atom(element.into()),
                    rest => Exp::Op(Soac::Array(ArrayOp::Index {
                        array: element,
                        indices: rest.to_vec(),
                    })),
                };
            }
        });
    }
}

/// Whether a statement makes the numbers from 0 on.
fn counts(stm: &Stm<Soac>) -> bool {
    matches!(
        &stm.exp,
        Exp::Op(Soac::Array(ArrayOp::Iota {
            start: Atom::Const(Const::I64(0)),
            step: Atom::Const(Const::I64(1)),
            ty: ScalarType::I64,
            ..
        }))
    )
}

/// What counts the elements of an operator: its parameter for numbers from 0 on.
fn counter(body: &Body<Soac>, uses: &Uses, at: usize) -> Option<Var> {
    let consumer = Consumer::of(&body.stms[at])?;
    let mut inputs = consumer.arrays.iter().zip(&consumer.lam.params);
    let counted = inputs.find(|(array, _)| {
        let binder = uses.binders(&[**array]);
        binder.iter().any(|&from| counts(&body.stms[from]))
    });
    counted.map(|(_, param)| *param)
}

/// The further indices of an element at the counter.
fn indexed(stm: &Stm<Soac>, of: Var, counter: Var) -> Option<&[Atom]> {
    match &stm.exp {
        Exp::Op(Soac::Array(ArrayOp::Index { array, indices })) if *array == of => {
            let (first, rest) = indices.split_first()?;
            (*first == counter.into()).then_some(rest)
        }
        Exp::Op(_)
        | Exp::Atom(_)
        | Exp::Scalar(..)
        | Exp::Assert { .. }
        | Exp::Guard { .. }
        | Exp::If { .. }
        | Exp::Loop { .. }
        | Exp::Call { .. } => None,
    }
}

/// Whether a body reads nothing of an array but elements at the counter.
fn only_indexed(body: &Body<Soac>, array: Var, counter: Var) -> bool {
    let mut only = !body.result.iter().any(|a| is_among(*a, &[array]));
    for stm in &body.stms {
        if indexed(stm, array, counter).is_none() {
            stm.exp.operands(&mut |a| only &= !is_among(a, &[array]));
        }
        stm.exp
            .scopes(&mut |_, inner| only = only && only_indexed(inner, array, counter));
    }
    only
}
