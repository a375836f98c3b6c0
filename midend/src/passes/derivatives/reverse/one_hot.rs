//! Adjoints that are zero but for one element: that of an array of which the minimum or maximum is taken. A map that made the array is
//! undone at that point alone (SC22, section 4: sparse adjoints).
//!
//! ```text
//! xs = map n (as) \a { S  yield x }     ──►   i = argmin xs
//! y  = reduce min xs                           if 0 <= i < n then { a = as[i]  S  S'(x' = y')  as'[i] += a' }
//! ```
//!
//! Any other use of the adjoint makes an array of it.

use super::Derive;
use crate::fired::fired;
use crate::hash::HashMap;
use crate::ir::array::{ArrayOp, SliceDim};
use crate::ir::id::Var;
use crate::ir::rename::{self, Subst};
use crate::ir::scalar::BinOp;
use crate::ir::soac::Soac;
use crate::ir::syntax::{Atom, Body, Exp, Lambda, Stm};
use crate::ir::types::{ScalarType, Size, Type};

/// The adjoint of an array that is zero but for one element.
#[derive(Clone, Copy)]
pub(super) struct OneHot {
    /// Where; out of range for none at all.
    index: Atom,
    value: Atom,
}

/// Adjoints of the code around a body.
pub(super) struct Outside {
    of: HashMap<Var, Atom>,
    one_hot: HashMap<Var, OneHot>,
}

impl Derive<'_> {
    /// Begins without adjoints, for a body.
    pub(super) fn set_aside(&mut self) -> Outside {
        Outside {
            of: std::mem::take(&mut self.back.of),
            one_hot: std::mem::take(&mut self.back.one_hot),
        }
    }

    /// Goes on with the adjoints from before the body.
    pub(super) fn take_up(&mut self, outside: Outside) {
        self.back.of = outside.of;
        self.back.one_hot = outside.one_hot;
    }

    /// Undoes the minimum or maximum of an array.
    pub(super) fn undo_extreme(
        &mut self,
        v: Var,
        (width, array): (Size, Var),
        of: (BinOp, ScalarType),
        neutral: Atom,
    ) {
        let Some(value) = self.taken(v).filter(|_| self.depends(array.into())) else {
            return;
        };
        fired("derivatives/extreme");
        // The neutral element comes before all others.
        let reds = vec![self.first_extreme(of, [neutral, Atom::i64(-1)])];
        let least = self.fresh("least", Type::Scalar(of.1));
        let index = self.fresh("first", Type::I64);
        let inputs = vec![array, self.iota(width)];
        self.alone(vec![least, index], inputs, |arrays, lam| Soac::Screma {
            width,
            arrays,
            lam,
            scans: Vec::new(),
            reds,
        });
        let index = index.into();
        let is_view = self.back.views.contains_key(&array);
        if self.is_local(array) && !self.has_adjoint(array) && !is_view {
            self.back.one_hot.insert(array, OneHot { index, value });
        } else {
            self.add_if_inside(array, OneHot { index, value });
        }
    }

    /// The adjoint of a variable as an array, if it is zero but for one element.
    pub(super) fn spread(&mut self, v: Var) {
        if let Some(one_hot) = self.back.one_hot.remove(&v) {
            self.add_if_inside(v, one_hot);
        }
    }

    /// Adds to an element, if there is one with this index.
    fn add_if_inside(&mut self, array: Var, OneHot { index, value }: OneHot) {
        let Some(width) = self.vars[array].ty.shape().first().and_then(|d| d.size()) else {
            return;
        };
        let (array, indices) = self.behind_views(array, &[index]);
        if !self.is_local(array) {
            return self.add_at(array, &indices, value);
        }
        let sum = self.updatable(array);
        let inside = self.in_range(index, width);
        let (then, stms) = self.nested(|t| {
            let before = t.index(sum, &indices);
            let value = t.plus(before.into(), value);
            let dims = indices.iter().map(|i| SliceDim::Fix(*i)).collect();
            let array = sum;
            let op = ArrayOp::Update { array, dims, value };
            vec![t.array_op("adj", op).into()]
        });
        let result = self.like(sum);
        let exp = Exp::If {
            cond: inside,
            then: Body { stms, result: then },
            otherwise: Body {
                stms: Vec::new(),
                result: vec![sum.into()],
            },
        };
        self.push(vec![result], exp);
        self.set(array, result);
    }

    /// The only adjoint of these variables, if it is zero but for one element.
    pub(super) fn only_one_hot(&mut self, binds: &[Var]) -> Option<(usize, OneHot)> {
        let mut of = (binds.iter().enumerate()).filter(|(_, v)| self.has_adjoint(**v));
        let (Some((k, v)), None) = (of.next(), of.next()) else {
            return None;
        };
        Some((k, self.back.one_hot.remove(v)?))
    }

    /// Undoes one point of a map, of whose results the `k`th has an adjoint there.
    pub(super) fn undo_point(
        &mut self,
        width: Size,
        (arrays, lam): (&[Var], &Lambda<Soac>),
        k: usize,
        OneHot { index, value }: OneHot,
    ) {
        fired("derivatives/one-point");
        let lam = rename::lambda(self.vars, &mut Subst::new(), lam);
        let inside = self.in_range(index, width);
        let mut stms = Vec::new();
        for (param, array) in lam.params.iter().zip(arrays) {
            let indices = vec![index];
            let array = *array;
            stms.push(Stm {
                binds: vec![*param],
                certs: Vec::new(),
                exp: ArrayOp::Index { array, indices }.into(),
                span: self.span,
            });
        }
        stms.extend(lam.body.stms);
        let result = lam.body.result[k];
        let then = Body {
            stms,
            result: vec![result],
        };
        let otherwise = Body {
            stms: Vec::new(),
            result: vec![Self::zero(
                value.ty(self.vars).elem().unwrap_or(ScalarType::F64),
            )],
        };
        let point = self.fresh("y", value.ty(self.vars));
        self.settle_at(point);
        self.activate(point);
        self.back.of.insert(point, value);
        self.undo_conditional(&[point], inside, [then, otherwise]);
    }
}
