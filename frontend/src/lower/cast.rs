//! Values take the sizes of types: casts, checked coercions, values that mean nothing.

use super::Lower;
use super::emit::{text, value};
use super::value::{Leaf, SumValue, Ty, Value, int_const};
use midend::ir::array::ArrayOp;
use midend::ir::scalar::{CmpOp, Const};
use midend::ir::syntax::{Atom, MessagePart, TrapKind};
use midend::ir::types::{ScalarType, Size, Type};
use std::rc::Rc;

/// The message about a shape that is not the expected one.
pub type ShapeMessage<'m> = &'m mut dyn FnMut(&[Size], &[Size]) -> Vec<MessagePart>;

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
                let mut new = Vec::new();
                for dim in dims.iter() {
                    let Ty::Array(array) = row else { break };
                    new.push(array.dim.unwrap_or(*dim));
                    row = &array.elem;
                }
                let absent = |(old, new): (&Size, &Size)| *old == Size::Const(0) && old != new;
                if in_sum && dims.iter().zip(&new).any(absent) {
                    return self.absent(ty, outer);
                }
                outer.extend(&new);
                let elem = self.cast_in(elem, row, outer, in_sum);
                outer.truncate(outer.len() - new.len());
                Value::Array {
                    dims: new.into(),
                    elem: Rc::new(elem),
                }
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
                | Value::Fun(_),
                _,
            ) => v.clone(),
        }
    }

    /// Checks at run time that the value has the sizes of the type, then casts it.
    pub fn coerce(
        &mut self,
        v: &Value<'a>,
        ty: &Ty,
        kind: TrapKind,
        message: ShapeMessage<'_>,
    ) -> Value<'a> {
        let mut certs = Vec::new();
        self.check_dims(v, ty, kind, message, &mut certs);
        self.with_certs(&certs, |l| l.cast(v, ty))
    }

    pub(super) fn check_dims(
        &mut self,
        v: &Value<'a>,
        ty: &Ty,
        kind: TrapKind,
        message: ShapeMessage<'_>,
        certs: &mut Vec<midend::ir::id::Var>,
    ) {
        match (v, ty) {
            (Value::Array { dims, elem }, Ty::Array(_)) => {
                let mut row = ty;
                let mut want = Vec::new();
                let mut ok = Atom::Const(Const::Bool(true));
                for dim in dims.iter() {
                    let Ty::Array(array) = row else { break };
                    let expected = array.dim.unwrap_or(*dim);
                    want.push(expected);
                    let equal =
                        self.cmp(CmpOp::Eq, ScalarType::I64, (*dim).into(), expected.into());
                    ok = self.and(ok, equal);
                    row = &array.elem;
                }
                let parts = message(dims, &want);
                let new = self.assert(ok, kind, parts);
                certs.extend(new);
                self.check_dims(elem, row, kind, message, certs);
            }
            (Value::Tuple(vs), Ty::Tuple(ts)) => {
                for (v, t) in vs.iter().zip(ts.iter()) {
                    self.check_dims(v, t, kind, message, certs);
                }
            }
            (Value::Record(vs), Ty::Record(ts)) => {
                for ((_, v), (_, t)) in vs.iter().zip(ts.iter()) {
                    self.check_dims(v, t, kind, message, certs);
                }
            }
            (
                Value::Leaf(_)
                | Value::Array { .. }
                | Value::Tuple(_)
                | Value::Record(_)
                | Value::Sum(_)
                | Value::Fun(_),
                _,
            ) => {}
        }
    }

    /// A value of the type that means nothing: the payload of an absent constructor. Unknown sizes are 0.
    pub fn absent(&mut self, ty: &Ty, outer: &mut Vec<Size>) -> Value<'a> {
        match ty {
            Ty::Scalar(s) => Value::Leaf(self.zero(*s, outer)),
            Ty::Array(a) => {
                let dim = a.dim.unwrap_or(Size::Const(0));
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

    /// The message of a failed coercion.
    pub fn coercion_message(have: &[Size], want: &[Size], elem: &str) -> Vec<MessagePart> {
        let mut parts = vec![text("Value of (desugared) shape ")];
        parts.extend(shape_parts(have));
        parts.push(text(" cannot match shape of type \""));
        parts.extend(shape_parts(want));
        parts.push(text(format!("{elem}\".")));
        parts
    }
}

/// `[a][b]` in a message.
pub fn shape_parts(shape: &[Size]) -> Vec<MessagePart> {
    let mut parts = Vec::new();
    for dim in shape {
        parts.push(text("["));
        parts.push(value(Atom::from(*dim)));
        parts.push(text("]"));
    }
    parts
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
            | Value::Fun(_),
            _,
        ) => true,
    }
}
