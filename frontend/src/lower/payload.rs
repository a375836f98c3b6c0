//! The sizes of what constructors hold. A payload that is not there has no elements, so that it takes no memory and no
//! check, whatever its type says.
//!
//! Outside of parallel code, payloads have sizes of their own, which conditionals and loops yield beside them. The elements
//! of an array share the sizes that their type states: there an absent payload is as large as the others, with zeros for
//! elements, and so are payloads in parallel code if these sizes are the same for all elements. Where a size may
//! turn out negative, as `n - 1` does, it is 0 there: no payload of that type is present.

use super::cast::{Negative, fits};
use super::emit::int;
use super::env::{DefClosure, Frame};
use super::value::{ArrayTy, Instance, SumValue, Ty, Value, size_of_atom};
use super::{Lower, Res};
use crate::source::Span;
use crate::typed::{Pat, PatKind, Type as SourceType};
use midend::ir::scalar::{BinOp, CmpOp, Const, ScalarOp};
use midend::ir::syntax::{Atom, Exp as IrExp, Stm};
use midend::ir::types::{ScalarType, Size, Type};
use std::rc::Rc;

/// The largest constant size that all payloads have, also absent ones: known sizes are worth more than what these take.
const FEW: i64 = 16;

/// Parallel code that is being built.
pub(super) struct Parallel {
    /// What is older is the same for all elements.
    watermark: usize,
    /// The number of the body around it.
    around: usize,
}

impl<'a> Lower<'a> {
    /// Builds the body of a lambda, the parameters of which are not older than the watermark.
    pub(super) fn in_parallel<R>(
        &mut self,
        watermark: usize,
        f: impl FnOnce(&mut Self) -> Res<R>,
    ) -> Res<R> {
        let around = self.cx.scopes.len().saturating_sub(2);
        self.cx.parallel.push(Parallel { watermark, around });
        let result = f(self);
        self.cx.parallel.pop();
        result
    }

    /// Whether a function that is called here is called once for each element of something.
    pub(super) fn is_parallel(&self) -> bool {
        !self.cx.parallel.is_empty()
    }

    /// Whether a function takes or yields constructors that hold arrays.
    pub(super) fn tells_payloads(&mut self, def: &DefClosure<'a>, frame: &Rc<Frame<'a>>) -> bool {
        let params = def.def.params.iter().map(|p| &p.ty);
        let mut types = params.chain([&def.def.ret.ty]);
        types.any(|ty| {
            let ty = self.stated_type(ty, frame);
            holds_arrays(&ty, false)
        })
    }

    /// The function that is being built, the parameters of which are all there is, is called in parallel code.
    pub(super) fn start_parallel(&mut self) {
        let watermark = self.watermark();
        let around = self.cx.scopes.len().saturating_sub(1);
        self.cx.parallel.push(Parallel { watermark, around });
    }

    /// A type with its sizes, those of payloads as they are here.
    pub fn eval_type(&mut self, ty: &'a SourceType, frame: &Rc<Frame<'a>>) -> Ty {
        let ty = self.stated_type(ty, frame);
        self.with_payloads(&ty)
    }

    /// The type with the sizes that payloads have here.
    pub(super) fn with_payloads(&mut self, ty: &Ty) -> Ty {
        if holds_arrays(ty, false) {
            self.payloads(ty, None, false)
        } else {
            ty.clone()
        }
    }

    /// The type of the elements of an array.
    pub(super) fn element_type(&mut self, ty: &Ty) -> Ty {
        if holds_arrays(ty, false) {
            self.payloads(ty, None, true)
        } else {
            ty.clone()
        }
    }

    /// An argument of the first type of an instance as the element of an array.
    pub(super) fn as_element(&mut self, inst: &Instance, v: &Value<'a>) -> Value<'a> {
        match inst.types.first() {
            Some(ty) if v.has_payload_arrays(false) => {
                let ty = self.element_type(ty);
                self.cast(v, &ty)
            }
            Some(_) | None => v.clone(),
        }
    }

    /// The type of what a constructor holds that is not in an array.
    pub(super) fn payload_type(&mut self, ty: &Ty) -> Ty {
        self.payloads(ty, Some(false), false)
    }

    /// `payload` says of what is in a constructor whether the constructor is in an array.
    fn payloads(&mut self, ty: &Ty, payload: Option<bool>, in_array: bool) -> Ty {
        match ty {
            Ty::Scalar(_) | Ty::Fun => ty.clone(),
            Ty::Array(a) => {
                let dim = match (payload, a.dim) {
                    (Some(in_array), Some(dim)) => self.payload_size(dim, in_array),
                    (Some(_) | None, dim) => dim,
                };
                let elem = self.payloads(&a.elem, payload, true);
                Ty::Array(Rc::new(ArrayTy {
                    dim,
                    irregular: a.irregular,
                    unique: a.unique,
                    elem,
                }))
            }
            Ty::Tuple(ts) => {
                let ts = ts.iter().map(|t| self.payloads(t, payload, in_array));
                Ty::Tuple(ts.collect())
            }
            Ty::Record(ts) => {
                let ts = ts.iter();
                let ts = ts.map(|(name, t)| (name.clone(), self.payloads(t, payload, in_array)));
                Ty::Record(ts.collect())
            }
            Ty::Sum(cons) => {
                let cons = cons.iter().map(|(name, ts)| {
                    let ts = ts
                        .iter()
                        .map(|t| self.payloads(t, Some(in_array), in_array));
                    (name.clone(), ts.collect())
                });
                Ty::Sum(cons.collect())
            }
        }
    }

    /// The size that all payloads have; nothing if each has its own.
    fn payload_size(&mut self, size: Size, in_array: bool) -> Option<Size> {
        if let Size::Const(0..=FEW) = size {
            return Some(size);
        }
        let mut outermost = self.cx.parallel.iter();
        match outermost.position(|p| self.visible(size, p.watermark)) {
            Some(level) => Some(self.not_negative(size, Some(level))),
            None if in_array => Some(self.not_negative(size, None)),
            None => None,
        }
    }

    /// A size that a type states, or 0 if it is negative; computed before parallel code if its level is given.
    pub(super) fn not_negative(&mut self, size: Size, level: Option<usize>) -> Size {
        let v = match size {
            Size::Const(n) => return Size::Const(n.max(0)),
            Size::Var(v) => v,
        };
        if self.stated.contains_key(&v) || self.extents.contains(&v) {
            return size;
        }
        let op = ScalarOp::Bin(BinOp::Max, ScalarType::I64);
        let args = [int(0), Atom::Var(v)];
        let level = level.and_then(|level| self.cx.parallel.get(level));
        let Some(&Parallel { watermark, around }) = level else {
            let made = self.scalar(op, &args);
            return self.known_size(made, size);
        };
        if let Some(known) = self.known_scalar(op, &args) {
            return self.known_size(known, size);
        }
        let made = self.fresh("n", Type::I64);
        self.cx.placed.insert(made, watermark.saturating_sub(1));
        let stm = Stm {
            binds: vec![made],
            certs: Vec::new(),
            exp: IrExp::Scalar(op, args.to_vec()),
            span: self.span,
        };
        self.emit_around(around, stm, (op, args.to_vec()), made.into());
        self.known_size(made.into(), size)
    }

    fn known_size(&mut self, made: Atom, size: Size) -> Size {
        if let Atom::Var(v) = made {
            self.stated.insert(v, size);
        }
        size_of_atom(made).unwrap_or(size)
    }

    /// Whether an array has the size that a type states, if no array has a negative one.
    pub(super) fn is_stated(&self, have: Size, want: Size) -> bool {
        let stated = match have {
            Size::Var(v) => self.stated.get(&v),
            Size::Const(_) => None,
        };
        have == want || stated == Some(&want)
    }

    /// The sum with the sizes of a type, where payloads that are absent have others.
    pub(super) fn cast_sum(
        &mut self,
        sum: &SumValue<'a>,
        types: &[(crate::typed::Sym, Vec<Ty>)],
    ) -> Value<'a> {
        let mut cons = Vec::with_capacity(sum.cons.len());
        for (k, ((name, vs), (_, ts))) in sum.cons.iter().zip(types).enumerate() {
            let pairs = vs.iter().zip(ts);
            let vs = pairs.map(|(v, t)| {
                if fits(v, t) {
                    return v.clone();
                }
                let there = self.is_constructor(sum, k);
                let cast = self.lower_if(
                    there,
                    None,
                    &mut |l| Ok(l.cast(v, t)),
                    &mut |l| Ok(l.absent(t, &mut Vec::new())),
                    Span::default(),
                );
                cast.unwrap_or_else(|_| v.clone())
            });
            cons.push((name.clone(), vs.collect()));
        }
        Value::Sum(Rc::new(SumValue { tag: sum.tag, cons }))
    }

    /// Whether a sum, which is not in an array, has its constructor of this number.
    pub(super) fn is_constructor(&mut self, sum: &SumValue<'a>, number: usize) -> Atom {
        let number = Const::U8(u8::try_from(number).unwrap_or(u8::MAX));
        match sum.tag.atom {
            Atom::Const(tag) => Atom::Const(Const::Bool(tag == number)),
            Atom::Var(_) => self.cmp(CmpOp::Eq, ScalarType::U8, sum.tag.atom, Atom::Const(number)),
        }
    }

    /// A value that fits a pattern, its payloads with the sizes that their types state.
    pub(super) fn matched(
        &mut self,
        pat: &'a Pat,
        v: &Value<'a>,
        frame: &Rc<Frame<'a>>,
    ) -> Value<'a> {
        if !v.has_payload_arrays(false) {
            return v.clone();
        }
        match (&pat.kind, v) {
            (PatKind::Tuple(ps), Value::Tuple(vs)) => {
                let pairs = ps.iter().zip(vs.iter());
                Value::tuple(pairs.map(|(p, v)| self.matched(p, v, frame)).collect())
            }
            (PatKind::Record(ps), Value::Record(vs)) => {
                let fields = vs.iter().map(|(name, v)| {
                    let pat = ps.iter().find(|(field, _)| field == name);
                    let v = pat.map_or_else(|| v.clone(), |(_, p)| self.matched(p, v, frame));
                    (name.clone(), v)
                });
                Value::Record(fields.collect())
            }
            (PatKind::Construct(con, ps), Value::Sum(sum)) => {
                let cons = sum.cons.iter().map(|(name, vs)| {
                    if name != con {
                        return (name.clone(), vs.clone());
                    }
                    let pairs = ps.iter().zip(vs);
                    let vs = pairs.map(|(p, v)| {
                        let ty = self.eval_type(&p.ty, frame);
                        let v = self.with_negative(Negative::Impossible, |l| l.cast(v, &ty));
                        self.matched(p, &v, frame)
                    });
                    (name.clone(), vs.collect())
                });
                let (tag, cons) = (sum.tag, cons.collect());
                Value::Sum(Rc::new(SumValue { tag, cons }))
            }
            (
                PatKind::Name(_)
                | PatKind::Wild
                | PatKind::Literal(_)
                | PatKind::Tuple(_)
                | PatKind::Record(_)
                | PatKind::Construct(..),
                _,
            ) => v.clone(),
        }
    }
}

/// The type without the sizes of what constructors hold.
pub(super) fn without_sizes(ty: &Ty) -> Ty {
    some_sizes(ty, false, false)
}

/// The type with no sizes but those of what constructors hold.
pub(super) fn without_others(ty: &Ty) -> Ty {
    some_sizes(ty, false, true)
}

/// The sizes in constructors or the others; `payload` tells whether the type is in one.
fn some_sizes(ty: &Ty, payload: bool, of_payloads: bool) -> Ty {
    let part = |ty: &Ty, payload| some_sizes(ty, payload, of_payloads);
    match ty {
        Ty::Scalar(_) | Ty::Fun => ty.clone(),
        Ty::Array(a) => Ty::Array(Rc::new(ArrayTy {
            dim: a.dim.filter(|_| payload == of_payloads),
            irregular: a.irregular,
            unique: a.unique,
            elem: part(&a.elem, payload),
        })),
        Ty::Tuple(ts) => Ty::Tuple(ts.iter().map(|t| part(t, payload)).collect()),
        Ty::Record(ts) => {
            let ts = ts.iter();
            Ty::Record(
                ts.map(|(name, t)| (name.clone(), part(t, payload)))
                    .collect(),
            )
        }
        Ty::Sum(cons) => {
            let cons = cons.iter();
            let cons =
                cons.map(|(name, ts)| (name.clone(), ts.iter().map(|t| part(t, true)).collect()));
            Ty::Sum(cons.collect())
        }
    }
}

/// Whether a constructor in a type holds arrays.
pub(super) fn holds_arrays(ty: &Ty, payload: bool) -> bool {
    match ty {
        Ty::Scalar(_) | Ty::Fun => false,
        Ty::Array(a) => payload || holds_arrays(&a.elem, payload),
        Ty::Tuple(ts) => ts.iter().any(|t| holds_arrays(t, payload)),
        Ty::Record(ts) => ts.iter().any(|(_, t)| holds_arrays(t, payload)),
        Ty::Sum(cons) => cons
            .iter()
            .any(|(_, ts)| ts.iter().any(|t| holds_arrays(t, true))),
    }
}

impl Value<'_> {
    /// Whether a constructor in the value holds arrays.
    pub(super) fn has_payload_arrays(&self, payload: bool) -> bool {
        match self {
            Value::Leaf(_) | Value::Fun(_) => false,
            Value::Array { elem, .. } => payload || elem.has_payload_arrays(payload),
            Value::Rows(rows) => payload || rows.pool.has_payload_arrays(payload),
            Value::Tuple(vs) => vs.iter().any(|v| v.has_payload_arrays(payload)),
            Value::Record(vs) => vs.iter().any(|(_, v)| v.has_payload_arrays(payload)),
            Value::Sum(sum) => {
                let mut all = sum.cons.iter().flat_map(|(_, vs)| vs);
                all.any(|v| v.has_payload_arrays(true))
            }
        }
    }
}
