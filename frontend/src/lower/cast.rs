//! Values take the sizes of types: casts, and values that mean nothing.

use super::Lower;
use super::emit::{text, value};
use super::rows::Rows;
use super::value::{Leaf, SumValue, Ty, Value, int_const};
use midend::ir::array::ArrayOp;
use midend::ir::id::Var;
use midend::ir::scalar::{CmpOp, Const};
use midend::ir::syntax::{Atom, MessagePart, TrapKind};
use midend::ir::types::{ScalarType, Size, Type};
use std::rc::Rc;

/// What becomes of a size of an array without elements that is 0 where the type states a negative one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Negative {
    /// An array of the type is needed: the program fails.
    Refused,
    /// The size stays.
    Kept,
    /// It is known not to be negative.
    Impossible,
}

impl<'a> Lower<'a> {
    /// The value with the sizes of the type. The type system says that they are equal; only their names may differ.
    pub fn cast(&mut self, v: &Value<'a>, ty: &Ty) -> Value<'a> {
        if fits(v, ty) {
            return v.clone();
        }
        self.cast_in(v, ty, &mut Vec::new(), false)
    }

    pub(super) fn cast_in(
        &mut self,
        v: &Value<'a>,
        ty: &Ty,
        outer: &mut Vec<Size>,
        in_sum: bool,
    ) -> Value<'a> {
        match (v, ty) {
            (Value::Leaf(leaf), _) => Value::Leaf(self.reshape(*leaf, outer)),
            (Value::Array { dims, elem }, Ty::Array(_)) => {
                let mut row = ty;
                let (mut new, mut not_negative) = (Vec::new(), Vec::new());
                for dim in dims.iter() {
                    let Ty::Array(array) = row else { break };
                    let want = array.dim.unwrap_or(*dim);
                    let differs = !in_sum && *dim != want && self.is_stated(*dim, want);
                    new.push(if differs && self.of_negative == Negative::Kept {
                        *dim
                    } else {
                        want
                    });
                    if differs && self.of_negative == Negative::Refused {
                        not_negative.extend(self.check_not_negative(want));
                    }
                    row = &array.elem;
                }
                let absent = |(old, new): (&Size, &Size)| *old == Size::Const(0) && old != new;
                if in_sum && dims.iter().zip(&new).any(absent) {
                    return self.absent(ty, outer);
                }
                let mut certs = if self.checks_casts && !in_sum {
                    self.check_equal(dims, &new)
                } else {
                    Vec::new()
                };
                certs.extend(not_negative);
                outer.extend(&new);
                let elem = self.with_certs(&certs, |l| l.cast_in(elem, row, outer, in_sum));
                outer.truncate(outer.len() - new.len());
                Value::Array {
                    dims: new.into(),
                    elem: Rc::new(elem),
                }
            }
            (Value::Rows(rows), Ty::Array(array)) => {
                let pool = Ty::array(array.dim, array.elem.clone());
                Value::Rows(Rc::new(Rows {
                    begin: self.reshape(rows.begin, outer),
                    end: self.reshape(rows.end, outer),
                    pool: self.cast_in(&rows.pool, &pool, &mut Vec::new(), in_sum),
                    compact: rows.compact,
                }))
            }
            (Value::Tuple(vs), Ty::Tuple(ts)) => Value::Tuple(
                vs.iter()
                    .zip(ts.iter())
                    .map(|(v, t)| self.cast_in(v, t, outer, in_sum))
                    .collect(),
            ),
            (Value::Record(vs), Ty::Record(ts)) => Value::Record(
                vs.iter()
                    .zip(ts.iter())
                    .map(|((name, v), (_, t))| (name.clone(), self.cast_in(v, t, outer, in_sum)))
                    .collect(),
            ),
            (Value::Sum(_), Ty::Sum(_))
                if self.checks_casts && outer.is_empty() && !fits(v, ty) =>
            {
                // Only the payload that is there has the size.
                let mut message = |have: &[Size], want: &[Size]| differing(have, want);
                let made = self.coerce(v, ty, TrapKind::Shape, &mut message);
                made.unwrap_or_else(|_| v.clone())
            }
            (Value::Sum(sum), Ty::Sum(cons)) if outer.is_empty() => self.cast_sum(sum, cons),
            (Value::Sum(sum), Ty::Sum(cons)) => {
                let tag = self.reshape(sum.tag, outer);
                let cons = sum.cons.iter().zip(cons.iter());
                let cons = cons
                    .map(|((name, vs), (_, ts))| {
                        let pairs = vs.iter().zip(ts);
                        let vs = pairs
                            .map(|(v, t)| self.cast_in(v, t, outer, true))
                            .collect();
                        (name.clone(), vs)
                    })
                    .collect();
                Value::Sum(Rc::new(SumValue { tag, cons }))
            }
            (
                Value::Array { .. }
                | Value::Tuple(_)
                | Value::Record(_)
                | Value::Sum(_)
                | Value::Rows(_)
                | Value::Fun(_),
                _,
            ) => v.clone(),
        }
    }

    /// The same, but an array without elements keeps a size that is 0 for a negative one of the type.
    pub(super) fn cast_result(&mut self, v: &Value<'a>, ty: &Ty) -> Value<'a> {
        self.with_negative(Negative::Kept, |l| l.cast(v, ty))
    }

    /// Executes `f` with another use of sizes that are 0 for negative ones.
    pub(super) fn with_negative<R>(
        &mut self,
        of_negative: Negative,
        f: impl FnOnce(&mut Self) -> R,
    ) -> R {
        let outer = std::mem::replace(&mut self.of_negative, of_negative);
        let result = f(self);
        self.of_negative = outer;
        result
    }

    /// Checks a size that a type has only computed.
    fn check_not_negative(&mut self, dim: Size) -> Vec<Var> {
        let zero = Atom::Const(Const::I64(0));
        let ok = self.cmp(CmpOp::Le, ScalarType::I64, zero, Atom::from(dim));
        let message = vec![
            text("An array of a type has the negative size "),
            value(dim),
            text("."),
        ];
        self.assert(ok, TrapKind::NegativeSize, message)
    }

    /// Checks sizes that the checker takes for equal because both are those of irregular dimensions.
    fn check_equal(&mut self, have: &[Size], want: &[Size]) -> Vec<Var> {
        let mut ok = Atom::Const(Const::Bool(true));
        for (a, b) in have.iter().zip(want) {
            let same = self.cmp(CmpOp::Eq, ScalarType::I64, (*a).into(), (*b).into());
            ok = self.and(ok, same);
        }
        self.assert(ok, TrapKind::Shape, differing(have, want))
    }

    /// A value of the type that means nothing: the payload of an absent constructor. Unknown sizes are 0, and so are negative
    /// ones: no value has them.
    pub fn absent(&mut self, ty: &Ty, outer: &mut Vec<Size>) -> Value<'a> {
        match ty {
            Ty::Scalar(s) => Value::Leaf(self.zero(*s, outer)),
            Ty::Array(a) => {
                if a.irregular && !outer.is_empty() {
                    let pool = Ty::array(a.dim, a.elem.clone());
                    return Value::Rows(Rc::new(Rows {
                        begin: self.zero(ScalarType::I64, outer),
                        end: self.zero(ScalarType::I64, outer),
                        pool: self.absent(&pool, &mut Vec::new()),
                        compact: false,
                    }));
                }
                let dim = a.dim.unwrap_or(Size::Const(0));
                let dim = self.not_negative(dim, None);
                outer.push(dim);
                let elem = self.absent(&a.elem, outer);
                outer.pop();
                Value::array(&[dim], elem)
            }
            Ty::Tuple(ts) => Value::Tuple(ts.iter().map(|t| self.absent(t, outer)).collect()),
            Ty::Record(ts) => Value::Record(
                ts.iter()
                    .map(|(name, t)| (name.clone(), self.absent(t, outer)))
                    .collect(),
            ),
            Ty::Sum(cons) => {
                let tag = self.zero(ScalarType::U8, outer);
                let cons = cons.iter();
                let cons = cons
                    .map(|(name, ts)| {
                        let vs = ts.iter().map(|t| self.absent(t, outer)).collect();
                        (name.clone(), vs)
                    })
                    .collect();
                Value::Sum(Rc::new(SumValue { tag, cons }))
            }
            Ty::Fun => Value::unit(),
        }
    }

    pub(super) fn zero(&mut self, s: ScalarType, shape: &[Size]) -> Leaf {
        let value = Atom::Const(int_const(s, 0));
        if shape.is_empty() {
            return Leaf::new(value);
        }
        let ty = Type::array_of(&Type::Scalar(s), shape);
        let op = ArrayOp::Replicate {
            shape: shape.iter().map(|n| (*n).into()).collect(),
            value,
        };
        Leaf::new(Atom::Var(self.array_op("absent", ty, op)))
    }
}

/// The message about rows that are taken for rows of one shape.
pub(super) fn differing(have: &[Size], want: &[Size]) -> Vec<MessagePart> {
    let mut message = vec![text("Rows differ in shape: ")];
    message.extend(super::coerce::shape_parts(have));
    message.push(text(" and "));
    message.extend(super::coerce::shape_parts(want));
    message.push(text("."));
    message
}

/// Whether the value has the sizes of the type already.
pub(super) fn fits(v: &Value<'_>, ty: &Ty) -> bool {
    match (v, ty) {
        (Value::Array { dims, elem }, Ty::Array(_)) => {
            let mut row = ty;
            for dim in dims.iter() {
                let Ty::Array(array) = row else { return true };
                if array.dim.is_some_and(|d| d != *dim) {
                    return false;
                }
                row = &array.elem;
            }
            fits(elem, row)
        }
        (Value::Rows(rows), Ty::Array(a)) => fits(&rows.pool, &Ty::array(a.dim, a.elem.clone())),
        (Value::Tuple(vs), Ty::Tuple(ts)) => vs.iter().zip(ts.iter()).all(|(v, t)| fits(v, t)),
        (Value::Record(vs), Ty::Record(ts)) => {
            vs.iter().zip(ts.iter()).all(|((_, v), (_, t))| fits(v, t))
        }
        (Value::Sum(sum), Ty::Sum(cons)) => sum
            .cons
            .iter()
            .zip(cons.iter())
            .all(|((_, vs), (_, ts))| vs.iter().zip(ts).all(|(v, t)| fits(v, t))),
        (
            Value::Leaf(_)
            | Value::Array { .. }
            | Value::Tuple(_)
            | Value::Record(_)
            | Value::Sum(_)
            | Value::Rows(_)
            | Value::Fun(_),
            _,
        ) => true,
    }
}
