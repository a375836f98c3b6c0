//! Adjoints are sums: what each use of a variable gives is added up. The first part of a sum is used as it is; arrays are added
//! element by element. An element is added in place where the array is the only reference to the sum; else the sum is copied first.

use super::Derive;
use crate::ir::array::ArrayOp;
use crate::ir::id::Var;
use crate::ir::scalar::{BinOp, Const, ScalarOp};
use crate::ir::soac::{Operator, Soac};
use crate::ir::syntax::{Atom, Body, Exp, Lambda};
use crate::ir::types::{Dim, ScalarType, Size, Type};
use crate::ir::typing;

impl Derive<'_> {
    /// Whether an atom depends on what the derivative is taken with respect to.
    pub(super) fn depends(&self, atom: Atom) -> bool {
        atom.as_var().is_some_and(|v| self.back.active.contains(&v))
    }

    pub(super) fn activate(&mut self, v: Var) {
        self.back.active.insert(v);
        if self.vars[v]
            .ty
            .shape()
            .iter()
            .any(|dim| dim.size().is_none())
        {
            self.refuse("rows of different lengths");
        }
    }

    /// Whether a variable has an adjoint other than zero.
    pub(super) fn has_adjoint(&self, v: Var) -> bool {
        self.back.of.contains_key(&v) || self.back.one_hot.contains_key(&v)
    }

    /// The adjoint of a variable, which is needed no more.
    pub(super) fn taken(&mut self, v: Var) -> Option<Atom> {
        self.spread(v);
        self.back.of.remove(&v)
    }

    pub(super) fn taken_or_zero(&mut self, v: Var) -> Atom {
        match self.taken(v) {
            Some(adjoint) => self.fit(adjoint, &self.vars[v].ty.clone()),
            None => self.zero_adjoint(v),
        }
    }

    /// Zeros like a variable.
    pub(super) fn zero_adjoint(&mut self, v: Var) -> Atom {
        let ty = self.vars[v].ty.clone();
        let zero = self.zero_of_type(&ty);
        self.back.owned.extend(zero.as_var());
        zero
    }

    /// Adds to the adjoint of an atom, if it is active.
    pub(super) fn add(&mut self, to: Atom, value: Atom) {
        let Some(v) = to.as_var().filter(|v| self.back.active.contains(v)) else {
            return;
        };
        self.spread(v);
        let value = self.fit(value, &self.vars[v].ty.clone());
        let sum = match self.back.of.get(&v) {
            Some(sum) => self.plus(*sum, value),
            None => value,
        };
        self.back.of.insert(v, sum);
    }

    /// The adjoint of an array, to be updated in place. The update is recorded by [`Derive::set`].
    pub(super) fn updatable(&mut self, v: Var) -> Var {
        self.spread(v);
        let adjoint = match self.back.of.get(&v) {
            Some(adjoint) => *adjoint,
            None => self.zero_adjoint(v),
        };
        let adjoint = self.fit(adjoint, &self.vars[v].ty.clone());
        self.own(adjoint)
    }

    pub(super) fn set(&mut self, v: Var, adjoint: Var) {
        self.back.owned.insert(adjoint);
        self.back.of.insert(v, adjoint.into());
    }

    /// An array that may be consumed.
    pub(super) fn own(&mut self, adjoint: Atom) -> Var {
        match adjoint {
            Atom::Var(v) if self.back.owned.contains(&v) || !self.vars[v].ty.is_array() => v,
            Atom::Var(v) => {
                let copy = self.array_op("adj", ArrayOp::Copy(v));
                self.back.owned.insert(copy);
                copy
            }
            Atom::Const(c) => {
                let v = self.fresh("adj", Type::Scalar(c.ty()));
                self.push(vec![v], Exp::Atom(adjoint));
                v
            }
        }
    }

    /// As [`Derive::own`], but scalars stay as they are.
    pub(super) fn own_atom(&mut self, adjoint: Atom) -> Atom {
        match adjoint {
            Atom::Var(v) if self.vars[v].ty.is_array() => self.own(adjoint).into(),
            Atom::Var(_) | Atom::Const(_) => adjoint,
        }
    }

    /// An array with the type that it is known to have.
    pub(super) fn fit(&mut self, value: Atom, ty: &Type) -> Atom {
        let (Atom::Var(v), Type::Array(wanted)) = (value, ty) else {
            return value;
        };
        if self.vars[v].ty == *ty {
            return value;
        }
        let owned = self.back.owned.contains(&v);
        let fitted = self.fresh("adj", ty.clone());
        self.back.aliases.unite(fitted, v);
        let op = ArrayOp::Reshape {
            shape: wanted.shape.clone(),
            array: v,
        };
        self.push(vec![fitted], op.into());
        if owned {
            self.back.owned.insert(fitted);
        }
        fitted.into()
    }

    /// An array operation, whose result has the type that follows from it.
    pub(super) fn array_op(&mut self, name: &str, op: ArrayOp) -> Var {
        let ty = typing::array_op(self.vars, &op).unwrap_or(Type::I64);
        let v = self.fresh(name, ty);
        self.push(vec![v], op.into());
        v
    }

    pub(super) fn index(&mut self, array: Var, indices: &[Atom]) -> Var {
        let indices = indices.to_vec();
        self.array_op("x", ArrayOp::Index { array, indices })
    }

    pub(super) fn scalar(&mut self, op: ScalarOp, args: &[Atom]) -> Atom {
        let v = self.fresh("t", Type::Scalar(op.result()));
        self.push(vec![v], Exp::Scalar(op, args.to_vec()));
        v.into()
    }

    /// Arithmetic on `i64`.
    pub(super) fn int(&mut self, op: BinOp, a: impl Into<Atom>, b: impl Into<Atom>) -> Atom {
        let args = [a.into(), b.into()];
        self.scalar(ScalarOp::Bin(op, ScalarType::I64), &args)
    }

    /// The sum of two values of one type.
    pub(super) fn plus(&mut self, a: Atom, b: Atom) -> Atom {
        match (a, b, a.ty(self.vars)) {
            (Atom::Var(x), Atom::Var(y), Type::Array(_)) => self.plus_arrays(x, y).into(),
            (_, _, ty) => match ty.elem() {
                Some(elem) => self.scalar(ScalarOp::Bin(BinOp::Add, elem), &[a, b]),
                None => a,
            },
        }
    }

    fn plus_arrays(&mut self, a: Var, b: Var) -> Var {
        let ty = self.vars[a].ty.clone();
        let (Some(row), Some(width)) = (ty.peel(1), ty.shape().first().and_then(|d| d.size()))
        else {
            return a;
        };
        let params = vec![self.fresh("x", row.clone()), self.fresh("y", row)];
        let lam = self.lambda_of(params, |t, p| vec![t.plus(p[0].into(), p[1].into())]);
        let sum = self.fresh("sum", ty);
        let op = map_of(width, vec![a, b], lam);
        self.push(vec![sum], Exp::Op(op));
        self.back.owned.insert(sum);
        sum
    }

    /// A lambda with these parameters.
    pub(super) fn lambda_of(
        &mut self,
        params: Vec<Var>,
        f: impl FnOnce(&mut Self, &[Var]) -> Vec<Atom>,
    ) -> Lambda<Soac> {
        let (result, stms) = self.nested(|t| f(t, &params));
        Lambda {
            params,
            body: Body { stms, result },
        }
    }

    /// Addition of values of a type, with its zero.
    pub(super) fn addition(&mut self, ty: &Type) -> Operator<Soac> {
        let neutral = self.zero_of_type(ty);
        let params = vec![self.fresh("a", ty.clone()), self.fresh("b", ty.clone())];
        let lam = self.lambda_of(params, |t, p| vec![t.plus(p[0].into(), p[1].into())]);
        Operator {
            comm: true,
            lam,
            neutral: vec![neutral],
        }
    }

    /// The sum of the rows of an array.
    pub(super) fn total(&mut self, array: Var) -> Atom {
        let ty = self.vars[array].ty.clone();
        let (Some(row), Some(width)) = (ty.peel(1), ty.shape().first().and_then(|d| d.size()))
        else {
            return array.into();
        };
        let op = self.addition(&row);
        let sum = self.fresh("total", row.clone());
        let params = vec![self.fresh("x", row)];
        let lam = self.lambda_of(params, |_, p| vec![p[0].into()]);
        let op = Soac::Screma {
            width,
            arrays: vec![array],
            lam,
            scans: Vec::new(),
            reds: vec![op],
        };
        self.push(vec![sum], Exp::Op(op));
        self.back.owned.insert(sum);
        sum.into()
    }

    /// A value repeated.
    pub(super) fn replicate(&mut self, shape: &[Size], value: Atom) -> Var {
        let shape = shape.iter().copied().map(Dim::Size).collect();
        let v = self.array_op("rep", ArrayOp::Replicate { shape, value });
        self.back.owned.insert(v);
        v
    }

    pub(super) fn iota(&mut self, len: Size) -> Var {
        let op = ArrayOp::Iota {
            len,
            start: Atom::ZERO,
            step: Atom::ONE,
            ty: ScalarType::I64,
        };
        self.array_op("iota", op)
    }

    pub(super) fn zero(ty: ScalarType) -> Atom {
        Atom::Const(Const::zero(ty))
    }
}

/// A map.
pub(super) fn map_of(width: Size, arrays: Vec<Var>, lam: Lambda<Soac>) -> Soac {
    Soac::Screma {
        width,
        arrays,
        lam,
        scans: Vec::new(),
        reds: Vec::new(),
    }
}
