//! Equality of any two values of one type.

use super::loops::dims_of;
use super::value::{Ty, Value, int_const};
use super::{Lower, Res, unsupported};
use crate::source::Span;
use midend::ir::scalar::{BinOp, CmpOp, Const, ScalarOp};
use midend::ir::soac::{Operator, Soac};
use midend::ir::syntax::{Atom, Body, Exp, Lambda};
use midend::ir::types::{ScalarType, Type};

impl<'a> Lower<'a> {
    /// `==` of any two values of one type.
    pub fn equal(&mut self, a: &Value<'a>, b: &Value<'a>, span: Span) -> Res<Atom> {
        let yes = Atom::Const(Const::Bool(true));
        match (a, b) {
            (Value::Leaf(x), Value::Leaf(y)) => {
                let ty = self.elem_type(*x);
                Ok(self.cmp(CmpOp::Eq, ty, x.atom, y.atom))
            }
            (Value::Tuple(xs), Value::Tuple(ys)) => {
                let mut all = yes;
                for (x, y) in xs.iter().zip(ys.iter()) {
                    let same = self.equal(x, y, span)?;
                    all = self.and(all, same);
                }
                Ok(all)
            }
            (Value::Record(xs), Value::Record(ys)) => {
                let mut all = yes;
                for ((_, x), (_, y)) in xs.iter().zip(ys.iter()) {
                    let same = self.equal(x, y, span)?;
                    all = self.and(all, same);
                }
                Ok(all)
            }
            (Value::Sum(x), Value::Sum(y)) => {
                let u8 = ScalarType::U8;
                let mut all = self.cmp(CmpOp::Eq, u8, x.tag.atom, y.tag.atom);
                for (i, ((_, xs), (_, ys))) in x.cons.iter().zip(&y.cons).enumerate() {
                    let tag = Atom::Const(int_const(u8, i as i128));
                    let here = self.cmp(CmpOp::Eq, u8, x.tag.atom, tag);
                    let same_sizes = xs.iter().zip(ys).all(|(x, y)| dims_of(x) == dims_of(y));
                    if !same_sizes {
                        // Only payloads that are there are as large as each other.
                        let both = self.and(all, here);
                        let ok = self.lower_if(
                            both,
                            None,
                            &mut |l| Ok(Value::scalar(l.equal_all(xs, ys, span)?)),
                            &mut |_| Ok(Value::scalar(all)),
                            span,
                        )?;
                        all = self.scalar_of(&ok, span)?;
                        continue;
                    }
                    let same = self.equal_all(xs, ys, span)?;
                    let elsewhere = self.not(here);
                    let ok = self.or(elsewhere, same);
                    all = self.and(all, ok);
                }
                Ok(all)
            }
            (Value::Array { .. }, Value::Array { .. }) if self.checks_casts => {
                self.equal_if_alike(a, b, span)
            }
            (Value::Array { .. }, Value::Array { .. }) => self.equal_arrays(a, b, span),
            (
                Value::Leaf(_)
                | Value::Array { .. }
                | Value::Tuple(_)
                | Value::Record(_)
                | Value::Sum(_)
                | Value::Rows(_)
                | Value::Fun(_),
                _,
            ) => Err(unsupported(span, "these values cannot be compared")),
        }
    }

    fn equal_all(&mut self, xs: &[Value<'a>], ys: &[Value<'a>], span: Span) -> Res<Atom> {
        let mut same = Atom::Const(Const::Bool(true));
        for (x, y) in xs.iter().zip(ys) {
            let equal = self.equal(x, y, span)?;
            same = self.and(same, equal);
        }
        Ok(same)
    }

    /// `==` of arrays: all elements are equal.
    pub fn equal_arrays(&mut self, a: &Value<'a>, b: &Value<'a>, span: Span) -> Res<Atom> {
        let Some(width) = a.dims().first().copied() else {
            return Ok(Atom::Const(Const::Bool(true)));
        };
        let ty = if self.checks_casts {
            let elem = self.type_of(&b.peel(a.dims().len()));
            let dims = a.dims().iter().rev();
            dims.fold(elem, |elem, dim| Ty::array(Some(*dim), elem))
        } else {
            self.type_of(a)
        };
        let b = self.cast(b, &ty);
        let rows = Value::tuple(vec![a.peel(1), b.peel(1)]);
        let input = self.input(&Value::array(&[width], rows), span)?;
        let (x, y) = (
            super::exp::project_tuple(&input.elem, 0),
            super::exp::project_tuple(&input.elem, 1),
        );
        let (lam, _) = self.lambda(input.params.clone(), None, span, &mut |l| {
            let (x, y) = (l.opened(&x), l.opened(&y));
            Ok(Value::scalar(l.equal(&x, &y, span)?))
        })?;
        let bool = Type::BOOL;
        let params = vec![self.fresh("a", bool.clone()), self.fresh("b", bool.clone())];
        let operands = params.iter().map(|p| Atom::Var(*p)).collect();
        let (result, stms) = self.nested(|l| {
            let exp = Exp::Scalar(ScalarOp::Bin(BinOp::And, ScalarType::Bool), operands);
            Ok(vec![Atom::Var(l.bind1("t", Type::BOOL, exp))])
        })?;
        let operator = Operator {
            comm: true,
            lam: Lambda {
                params,
                body: Body { stms, result },
            },
            neutral: vec![Atom::Const(Const::Bool(true))],
        };
        let op = Soac::Screma {
            width,
            arrays: input.arrays,
            lam,
            scans: Vec::new(),
            reds: vec![operator],
        };
        Ok(Atom::Var(self.bind1("same", bool, Exp::Op(op))))
    }
}
