//! Reductions and scans, and their operators.

use super::soac::Input;
use super::value::{Instance, Leaf, Value, int_const};
use super::{Lower, Res};
use crate::source::Span;
use crate::typed::Op;
use midend::ir::scalar::{BinOp, Const, ScalarOp};
use midend::ir::soac::{Operator, Soac};
use midend::ir::syntax::{Atom, Body, Exp, Lambda};
use midend::ir::types::{ScalarType, Type};

impl<'a> Lower<'a> {
    /// The operator of a reduction or scan on elements of the shape of `elem`.
    pub(super) fn operator(
        &mut self,
        op: &Value<'a>,
        neutral: &Value<'a>,
        elem: &Value<'a>,
        comm: bool,
        span: Span,
    ) -> Res<Operator<Soac>> {
        if elem.has_rows() {
            return Err(super::segments::refused(span, "a histogram of the rows of"));
        }
        let ty = self.type_of(elem);
        let neutral = self.cast(neutral, &ty);
        let mut params = Vec::new();
        let mut side = |l: &mut Self, name: &str| {
            elem.map_leaves(&mut |leaf| {
                let ty = l.ty(leaf.atom);
                let v = l.fresh(name, ty);
                params.push(v);
                Leaf {
                    shared: true,
                    ..Leaf::new(v.into())
                }
            })
        };
        let (a, b) = (side(self, "a"), side(self, "b"));
        let (lam, _) = self.lambda(params, Some(&ty), span, &mut |l| {
            l.apply(op.clone(), vec![a.clone(), b.clone()], span)
        })?;
        let comm = comm || commutes(&lam);
        Ok(Operator {
            comm,
            lam,
            neutral: neutral.atoms(),
        })
    }

    pub(super) fn identity(input: &Input<'a>) -> Lambda<Soac> {
        Lambda {
            params: input.params.clone(),
            body: Body {
                stms: Vec::new(),
                result: input.params.iter().map(|p| Atom::Var(*p)).collect(),
            },
        }
    }

    /// `reduce op ne xs`.
    pub fn reduce(
        &mut self,
        inst: &Instance,
        op: Value<'a>,
        neutral: &Value<'a>,
        xs: &Value<'a>,
        comm: bool,
        span: Span,
    ) -> Res<Value<'a>> {
        if self.combines_rows(inst, xs) {
            return self.reduce_rows(inst, &op, neutral, xs, span);
        }
        let row = self.row_shape(xs);
        let operator = self.operator(&op, neutral, &row, comm, span)?;
        self.reduce_with(operator, xs, span)
    }

    /// A reduction with an operator that is there.
    pub(super) fn reduce_with(
        &mut self,
        operator: Operator<Soac>,
        xs: &Value<'a>,
        span: Span,
    ) -> Res<Value<'a>> {
        let input = self.input(xs, span)?;
        let mut binds = Vec::new();
        let result = input.elem.map_leaves(&mut |leaf| {
            let ty = self.ty(leaf.atom);
            let v = self.fresh("t", ty);
            binds.push(v);
            Leaf::new(v.into())
        });
        let op = Soac::Screma {
            width: input.width,
            lam: Self::identity(&input),
            arrays: input.arrays,
            scans: Vec::new(),
            reds: vec![operator],
        };
        if !binds.is_empty() {
            self.push(binds, Exp::Op(op));
        }
        Ok(result)
    }

    /// A row as a value of variables that nothing binds: only its shape and types count.
    pub(super) fn row_shape(&mut self, xs: &Value<'a>) -> Value<'a> {
        xs.peel(1).map_leaves(&mut |leaf| {
            let row = self.ty(leaf.atom).peel(1).unwrap_or(Type::I64);
            let v = self.fresh("row", row);
            Leaf::new(v.into())
        })
    }

    /// `scan op ne xs`.
    pub fn scan(
        &mut self,
        inst: &Instance,
        op: Value<'a>,
        neutral: &Value<'a>,
        xs: &Value<'a>,
        span: Span,
    ) -> Res<Value<'a>> {
        if self.combines_rows(inst, xs) {
            return self.scan_rows(inst, &op, neutral, xs, span);
        }
        let row = self.row_shape(xs);
        let operator = self.operator(&op, neutral, &row, false, span)?;
        let input = self.input(xs, span)?;
        let (binds, result) = self.bind_arrays(input.width, &input.elem);
        let op = Soac::Screma {
            width: input.width,
            lam: Self::identity(&input),
            arrays: input.arrays,
            scans: vec![operator],
            reds: Vec::new(),
        };
        if !binds.is_empty() {
            self.push(binds, Exp::Op(op));
        }
        Ok(result)
    }

    /// `sum` and its like.
    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "a part of the operations; `arity` lists them all"
    )]
    pub fn fold_op(
        &mut self,
        op: Op,
        ty: ScalarType,
        xs: &Value<'a>,
        span: Span,
    ) -> Res<Value<'a>> {
        let high = super::intrinsic::extreme(ty, true);
        let low = super::intrinsic::extreme(ty, false);
        let (bin, neutral) = match op {
            Op::Product => (BinOp::Mul, int_const(ty, 1)),
            Op::Maximum => (BinOp::Max, low),
            Op::Minimum => (BinOp::Min, high),
            _ => (BinOp::Add, int_const(ty, 0)),
        };
        let input = self.input(xs, span)?;
        let scalar = Type::Scalar(ty);
        let operator = self.scalar_operator(bin, ty, neutral)?;
        let op = Soac::Screma {
            width: input.width,
            lam: Self::identity(&input),
            arrays: input.arrays,
            scans: Vec::new(),
            reds: vec![operator],
        };
        Ok(Value::scalar(self.bind1("t", scalar, Exp::Op(op))))
    }

    /// A commutative operation of two scalars as an operator.
    pub(super) fn scalar_operator(
        &mut self,
        bin: BinOp,
        ty: ScalarType,
        neutral: Const,
    ) -> Res<Operator<Soac>> {
        let scalar = Type::Scalar(ty);
        let params = vec![
            self.fresh("a", scalar.clone()),
            self.fresh("b", scalar.clone()),
        ];
        let operands = params.iter().map(|p| Atom::Var(*p)).collect();
        let (result, stms) = self.nested(|l| {
            let exp = Exp::Scalar(ScalarOp::Bin(bin, ty), operands);
            Ok(vec![Atom::Var(l.bind1("t", scalar, exp))])
        })?;
        Ok(Operator {
            comm: true,
            lam: Lambda {
                params,
                body: Body { stms, result },
            },
            neutral: vec![Atom::Const(neutral)],
        })
    }
}

/// Whether an operator is a known commutative one on each component: `+ * min max & | ^`.
pub(super) fn commutes(lam: &Lambda<Soac>) -> bool {
    let k = lam.body.result.len();
    let one = |i: usize| {
        let Atom::Var(result) = lam.body.result[i] else {
            return false;
        };
        let (Some(a), Some(b)) = (lam.params.get(i), lam.params.get(i + k)) else {
            return false;
        };
        let (a, b) = (Atom::Var(*a), Atom::Var(*b));
        lam.body.stms.iter().any(|stm| {
            stm.binds == [result]
                && match &stm.exp {
                    Exp::Scalar(ScalarOp::Bin(op, _), args) => {
                        let known = matches!(
                            op,
                            BinOp::Add
                                | BinOp::Mul
                                | BinOp::Min
                                | BinOp::Max
                                | BinOp::And
                                | BinOp::Or
                                | BinOp::Xor
                        );
                        known && (args[..] == [a, b] || args[..] == [b, a])
                    }
                    Exp::Scalar(..)
                    | Exp::Atom(_)
                    | Exp::Assert { .. }
                    | Exp::Guard { .. }
                    | Exp::If { .. }
                    | Exp::Loop { .. }
                    | Exp::Call { .. }
                    | Exp::Op(_) => false,
                }
        })
    };
    lam.params.len() == 2 * k && (0..k).all(one)
}
