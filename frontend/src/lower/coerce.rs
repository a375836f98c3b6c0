//! Checked coercions: at run time, a value turns out to have the sizes of a type, or the program fails.

use super::cast::fits;
use super::emit::{text, value};
use super::rows::Rows;
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
    /// The dimensions around what is checked.
    outer: Vec<Size>,
    /// Whether an element of an array is checked.
    element: bool,
}

impl<'m> Checks<'m> {
    fn new(kind: TrapKind, message: ShapeMessage<'m>) -> Self {
        Self {
            kind,
            message,
            certs: Vec::new(),
            outer: Vec::new(),
            element: false,
        }
    }
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
        let mut checks = Checks::new(kind, message);
        let v = self.checked(v, ty, None, &mut checks)?;
        Ok(self.with_certs(&checks.certs, |l| {
            let ty = l.with_payloads(ty);
            l.cast(&v, &ty)
        }))
    }

    /// The same for an element of an array: payloads have the sizes of the type also where they are absent.
    pub(super) fn coerce_element(
        &mut self,
        v: &Value<'a>,
        ty: &Ty,
        kind: TrapKind,
        message: ShapeMessage<'_>,
    ) -> Res<Value<'a>> {
        let mut checks = Checks::new(kind, message);
        checks.element = true;
        let v = self.checked(v, ty, None, &mut checks)?;
        Ok(self.with_certs(&checks.certs, |l| l.cast(&v, ty)))
    }

    /// The value with rows of one length where the type is regular inside of arrays, which is checked.
    pub(super) fn regular_as(&mut self, v: &Value<'a>, ty: &Ty) -> Res<Value<'a>> {
        if !turns_regular(v, ty) {
            return Ok(v.clone());
        }
        let ty = ty.map_dims(&mut |_| None);
        let mut message = |have: &[Size], want: &[Size]| super::cast::differing(have, want);
        self.coerce(v, &ty, TrapKind::Shape, &mut message)
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
                if sum_turns_regular(elem, row) {
                    return self.each_checked(v, ty, checks);
                }
                if let (Value::Rows(_), Ty::Array(a)) = (&**elem, row)
                    && !a.irregular
                {
                    checks.outer.extend(dims.iter());
                    let v = self.checked(elem, row, present, checks)?;
                    checks.outer.truncate(checks.outer.len() - dims.len());
                    return Ok(Value::array(dims, v));
                }
                checks.outer.extend(dims.iter());
                let elem = self.checked(elem, row, present, checks)?;
                checks.outer.truncate(checks.outer.len() - dims.len());
                Value::Array {
                    dims: Rc::clone(dims),
                    elem: Rc::new(elem),
                }
            }
            (Value::Rows(rows), Ty::Array(a)) if a.irregular => {
                // Elements of rows are checked where all of them are.
                let outer = std::mem::take(&mut checks.outer);
                let pool = Ty::array(None, a.elem.clone());
                let pool = self.checked(&rows.pool, &pool, present, checks)?;
                let pool = self.with_certs(&checks.certs.clone(), |l| {
                    l.cast(&pool, &Ty::array(None, a.elem.clone()))
                });
                checks.outer = outer;
                let rows = Rows::clone(rows);
                Value::Rows(Rc::new(Rows { pool, ..rows }))
            }
            (Value::Rows(rows), Ty::Array(a)) => {
                let outer = checks.outer.clone();
                let (v, certs) = self.regular_rows(rows, &outer, a.dim, Span::default())?;
                checks.certs.extend(certs);
                // The rows are an array inside of the dimensions around them.
                self.checked(&v.peel(outer.len()), ty, present, checks)?
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

    /// Every element on its own: which payloads are there differs from one to the next.
    fn each_checked(&mut self, v: &Value<'a>, ty: &Ty, checks: &mut Checks<'_>) -> Res<Value<'a>> {
        let Ty::Array(a) = ty else {
            return Ok(v.clone());
        };
        let input = self.input(v, Span::default())?;
        let elem = input.elem.clone();
        let certs = checks.certs.clone();
        let (kind, row) = (checks.kind, &a.elem);
        let message = &mut checks.message;
        self.with_certs(&certs, |l| {
            l.map_over(input, None, false, Span::default(), &mut |l| {
                let elem = l.opened(&elem);
                l.coerce(&elem, row, kind, *message)
            })
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
                    let chosen = self.is_constructor(sum, k);
                    let there = match present {
                        Some(present) => self.and(present, chosen),
                        None => chosen,
                    };
                    let v = self.checked(v, t, Some(there), checks)?;
                    let certs = checks.certs.clone();
                    let t = match checks.element {
                        true => t.clone(),
                        false => self.payload_type(t),
                    };
                    self.lower_if(
                        there,
                        None,
                        &mut |l| Ok(l.with_certs(&certs, |l| l.cast(&v, &t))),
                        &mut |l| Ok(l.absent(&t, &mut Vec::new())),
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

/// Whether there is a sum with rows of any lengths that are to be of one length.
fn sum_turns_regular(v: &Value<'_>, ty: &Ty) -> bool {
    turns(v, ty, false, false)
}

/// Whether there are rows of any lengths that are to be of one length.
fn turns_regular(v: &Value<'_>, ty: &Ty) -> bool {
    v.has_rows() && turns(v, ty, true, true)
}

/// The same; rows count `here`, and `deeper` inside of other rows. In sums they always do.
fn turns(v: &Value<'_>, ty: &Ty, here: bool, deeper: bool) -> bool {
    match (v, ty) {
        (Value::Rows(rows), Ty::Array(a)) => {
            (here && !a.irregular) || turns(&rows.pool.peel(1), &a.elem, deeper, deeper)
        }
        (Value::Array { dims, elem }, Ty::Array(_)) => {
            let mut row = ty;
            for _ in dims.iter() {
                let Ty::Array(a) = row else { break };
                row = &a.elem;
            }
            turns(elem, row, here, deeper)
        }
        (Value::Tuple(vs), Ty::Tuple(ts)) => {
            let mut pairs = vs.iter().zip(ts.iter());
            pairs.any(|(v, t)| turns(v, t, here, deeper))
        }
        (Value::Record(vs), Ty::Record(ts)) => {
            let mut pairs = vs.iter().zip(ts.iter());
            pairs.any(|((_, v), (_, t))| turns(v, t, here, deeper))
        }
        (Value::Sum(sum), Ty::Sum(cons)) => {
            let pairs = sum.cons.iter().zip(cons.iter());
            let mut pairs = pairs.flat_map(|((_, vs), (_, ts))| vs.iter().zip(ts));
            pairs.any(|(v, t)| turns(v, t, true, deeper))
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
        ) => false,
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
