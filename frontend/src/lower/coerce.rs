//! Checked coercions: at run time, a value turns out to have the sizes of a type, or the program fails.

use super::cast::fits;
use super::emit::{text, value};
use super::value::{SumValue, Ty, Value};
use super::{Lower, Res};
use crate::source::Span;
use midend::ir::id::Var;
use midend::ir::scalar::{CmpOp, Const};
use midend::ir::syntax::{Atom, MessagePart, TrapKind};
use midend::ir::types::{ScalarType, Size};
use std::rc::Rc;

/// The message about a shape that is not the expected one.
pub(super) type ShapeMessage<'m> = &'m mut dyn FnMut(&[Size], &[Size]) -> Vec<MessagePart>;

/// What all checks of one coercion share.
struct Checks<'m> {
    kind: TrapKind,
    message: ShapeMessage<'m>,
    /// The checks so far.
    certs: Vec<Var>,
}

impl<'a> Lower<'a> {
    /// Checks at run time that the value has the sizes of the type, then casts it.
    pub fn coerce(
        &mut self,
        v: &Value<'a>,
        ty: &Ty,
        kind: TrapKind,
        message: ShapeMessage<'_>,
    ) -> Res<Value<'a>> {
        let mut checks = Checks {
            kind,
            message,
            certs: Vec::new(),
        };
        let v = self.checked(v, ty, None, &mut checks)?;
        Ok(self.with_certs(&checks.certs, |l| l.cast(&v, ty)))
    }

    /// The value after its sizes were checked, if it is there at all: payloads of absent constructors have any size,
    /// and become values that have the right one.
    fn checked(
        &mut self,
        v: &Value<'a>,
        ty: &Ty,
        present: Option<Atom>,
        checks: &mut Checks<'_>,
    ) -> Res<Value<'a>> {
        Ok(match (v, ty) {
            (Value::Array { dims, elem }, Ty::Array(_)) => {
                let row = self.check_dims(dims, ty, present, checks);
                if let (Value::Rows(rows), Ty::Array(a)) = (&**elem, row)
                    && !a.irregular
                {
                    let (v, certs) = self.regular_rows(rows, dims, a.dim, Span::default())?;
                    checks.certs.extend(certs);
                    return self.checked(&v, ty, present, checks);
                }
                Value::Array {
                    dims: Rc::clone(dims),
                    elem: Rc::new(self.checked(elem, row, present, checks)?),
                }
            }
            (Value::Tuple(vs), Ty::Tuple(ts)) => {
                let pairs = vs.iter().zip(ts.iter());
                let vs = pairs.map(|(v, t)| self.checked(v, t, present, checks));
                Value::Tuple(vs.collect::<Res<_>>()?)
            }
            (Value::Record(vs), Ty::Record(ts)) => {
                let pairs = vs.iter().zip(ts.iter());
                let vs = pairs.map(|((name, v), (_, t))| {
                    Ok((name.clone(), self.checked(v, t, present, checks)?))
                });
                Value::Record(vs.collect::<Res<_>>()?)
            }
            (Value::Sum(sum), Ty::Sum(_)) if !fits(v, ty) => {
                self.checked_sum(sum, ty, present, checks)?
            }
            (
                Value::Leaf(_)
                | Value::Array { .. }
                | Value::Tuple(_)
                | Value::Record(_)
                | Value::Sum(_)
                | Value::Rows(_)
                | Value::Fun(_),
                _,
            ) => v.clone(),
        })
    }

    /// Checks the dimensions of an array, and gives the type of its elements.
    fn check_dims<'t>(
        &mut self,
        dims: &[Size],
        ty: &'t Ty,
        present: Option<Atom>,
        checks: &mut Checks<'_>,
    ) -> &'t Ty {
        let mut row = ty;
        let mut want = Vec::new();
        let mut ok = Atom::Const(Const::Bool(true));
        for dim in dims {
            let Ty::Array(array) = row else { break };
            let expected = array.dim.unwrap_or(*dim);
            want.push(expected);
            let equal = self.cmp(CmpOp::Eq, ScalarType::I64, (*dim).into(), expected.into());
            ok = self.and(ok, equal);
            row = &array.elem;
        }
        if let Some(present) = present {
            let absent = self.not(present);
            ok = self.or(absent, ok);
        }
        let parts = (checks.message)(dims, &want);
        checks.certs.extend(self.assert(ok, checks.kind, parts));
        row
    }

    /// The payloads of the constructor that is there are checked, the others replaced. In an array of sums all have one
    /// size, whichever constructors are there.
    fn checked_sum(
        &mut self,
        sum: &Rc<SumValue<'a>>,
        ty: &Ty,
        present: Option<Atom>,
        checks: &mut Checks<'_>,
    ) -> Res<Value<'a>> {
        let Ty::Sum(types) = ty else {
            return Ok(Value::Sum(Rc::clone(sum)));
        };
        let one = !self.ty(sum.tag.atom).is_array();
        let mut cons = Vec::new();
        for (k, ((name, vs), (_, ts))) in sum.cons.iter().zip(types.iter()).enumerate() {
            let mut payloads = Vec::new();
            for (v, t) in vs.iter().zip(ts) {
                payloads.push(if one && !fits(v, t) {
                    let number = Atom::Const(Const::U8(u8::try_from(k).unwrap_or(u8::MAX)));
                    let chosen = self.cmp(CmpOp::Eq, ScalarType::U8, sum.tag.atom, number);
                    let there = match present {
                        Some(present) => self.and(present, chosen),
                        None => chosen,
                    };
                    let v = self.checked(v, t, Some(there), checks)?;
                    let certs = checks.certs.clone();
                    self.lower_if(
                        there,
                        None,
                        &mut |l| Ok(l.with_certs(&certs, |l| l.cast(&v, t))),
                        &mut |l| Ok(l.absent(t, &mut Vec::new())),
                        Span::default(),
                    )?
                } else {
                    self.checked(v, t, present, checks)?
                });
            }
            cons.push((name.clone(), payloads));
        }
        Ok(Value::Sum(Rc::new(SumValue { tag: sum.tag, cons })))
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
pub(super) fn shape_parts(shape: &[Size]) -> Vec<MessagePart> {
    let mut parts = Vec::new();
    for dim in shape {
        parts.push(text("["));
        parts.push(value(Atom::from(*dim)));
        parts.push(text("]"));
    }
    parts
}
