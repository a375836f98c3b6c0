//! Accumulations that add.
//!
//! ```text
//! ys = with_acc (+) ds \acc x { .. acc2 = update acc i v .. }     ds' += ys'
//!                                                                 xs' += the gradient of \s x { .. s2 = s + ys'[i] * v .. }
//! ```
//!
//! In place of the accumulator a body has the sum of what it adds, with the adjoints of where it adds it as weights: the derivative of that number is
//! the adjoint of what the body reads. So no control flow around updates needs a rule of its own.

use super::Derive;
use super::adjoint::map_of;
use super::histogram::is_row_sum;
use crate::fired::fired;
use crate::ir::id::Var;
use crate::ir::rename::{self, Subst};
use crate::ir::scalar::{BinOp, Const, ScalarOp};
use crate::ir::soac::{Accumulation, Soac};
use crate::ir::syntax::{Atom, Body, Exp, Lambda, Stm};
use crate::ir::types::{ScalarType, Size, Type};
use crate::ir::walk;

/// What stands for an accumulator.
struct Weights {
    /// The accumulation.
    token: Var,
    /// The adjoint of its array, with its outermost extent and the type of its elements.
    adjoint: Var,
    extent: Size,
    elem: ScalarType,
}

impl Derive<'_> {
    pub(super) fn undo_accumulation(
        &mut self,
        binds: &[Var],
        (width, arrays, lam): (Size, &[Var], &Lambda<Soac>),
        acc: &Accumulation<Soac>,
    ) {
        let adds = acc.op.as_ref().is_some_and(is_row_sum);
        let ([v], [dest], [param], true) = (binds, &acc.dests[..], &acc.params[..], adds) else {
            return self.refuse("accumulators that do not add");
        };
        let Some(adjoint) = self.taken(*v).and_then(Atom::as_var) else {
            return;
        };
        fired("derivatives/accumulation");
        let ty = self.vars[adjoint].ty.clone();
        let extent = ty.shape().first().and_then(|dim| dim.size());
        let (Some(extent), Some(elem)) = (extent, ty.elem()) else {
            return self.refuse("rows of different lengths");
        };
        let weights = Weights {
            token: acc.token,
            adjoint,
            extent,
            elem,
        };
        let lam = self.weighted(lam, *param, &weights);
        let wrt: Vec<bool> = arrays.iter().map(|v| self.depends((*v).into())).collect();
        let one = Atom::Const(Const::one(elem));
        self.undo_points(width, arrays, lam, &wrt, Vec::new(), |_, _| vec![Some(one)]);
        self.add((*dest).into(), adjoint.into());
    }

    /// The body with a number in place of its accumulator.
    fn weighted(&mut self, lam: &Lambda<Soac>, param: Var, weights: &Weights) -> Lambda<Soac> {
        let mut subst = Subst::new();
        let sum = self.fresh("sum", Type::Scalar(weights.elem));
        subst.insert(param, sum);
        let Lambda { params, mut body } = rename::lambda(self.vars, &mut subst, lam);
        let mut sums = Vec::new();
        walk::body_binders(&body, &mut |v| sums.push(v));
        for v in sums {
            if matches!(&self.vars[v].ty, Type::Acc(ty) if ty.token == weights.token) {
                self.vars[v].ty = Type::Scalar(weights.elem);
            }
        }
        self.weigh(&mut body, weights);
        let ((), mut stms) = self.nested(|t| {
            t.push(vec![sum], Exp::Atom(Self::zero(weights.elem)));
        });
        stms.append(&mut body.stms);
        body.stms = stms;
        Lambda { params, body }
    }

    /// Puts sums in place of updates.
    fn weigh(&mut self, body: &mut Body<Soac>, weights: &Weights) {
        let mut stms: Vec<Stm<Soac>> = Vec::new();
        for mut stm in std::mem::take(&mut body.stms) {
            let mine = matches!(&stm.exp, Exp::Op(Soac::UpdateAcc(update))
                if self.vars[update.accs[0]].ty == Type::Scalar(weights.elem));
            let (Exp::Op(Soac::UpdateAcc(update)), true) = (&stm.exp, mine) else {
                walk::deep(|| stm.exp.bodies_mut(&mut |inner| self.weigh(inner, weights)));
                stms.push(stm);
                continue;
            };
            let ((), more) = self.nested(|t| {
                t.certs.clone_from(&stm.certs);
                t.span = stm.span;
                let part = t.weighted_part(update.index, update.values[0], weights);
                let add = ScalarOp::Bin(BinOp::Add, weights.elem);
                let args = vec![update.accs[0].into(), part];
                t.push(stm.binds.clone(), Exp::Scalar(add, args));
            });
            stms.extend(more);
        }
        body.stms = stms;
    }

    /// What an update adds to the sum.
    fn weighted_part(&mut self, index: Atom, value: Atom, weights: &Weights) -> Atom {
        let Weights {
            adjoint,
            extent,
            elem,
            ..
        } = *weights;
        let inside = self.in_range(index, extent);
        self.either(
            inside,
            |t| {
                let weight = t.index(adjoint, &[index]);
                t.product(weight.into(), value, elem)
            },
            |_| Self::zero(elem),
        )
    }

    /// The scalar product of two values.
    fn product(&mut self, a: Atom, b: Atom, elem: ScalarType) -> Atom {
        let ty = a.ty(self.vars);
        let width = ty.shape().first().and_then(|dim| dim.size());
        let (Some(row), Some(width), Atom::Var(a), Atom::Var(b)) = (ty.peel(1), width, a, b) else {
            return self.scalar(ScalarOp::Bin(BinOp::Mul, elem), &[a, b]);
        };
        let b = self.fit(b.into(), &ty).as_var().unwrap_or(b);
        let params = vec![self.fresh("x", row.clone()), self.fresh("y", row)];
        let lam = self.lambda_of(params, |t, p| {
            vec![t.product(p[0].into(), p[1].into(), elem)]
        });
        let products = self.fresh("products", Type::array_of(&Type::Scalar(elem), &[width]));
        self.push(vec![products], Exp::Op(map_of(width, vec![a, b], lam)));
        self.total(products)
    }
}
