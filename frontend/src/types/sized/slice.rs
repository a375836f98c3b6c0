//! Indices and slices in the second pass: the sizes of what they take out.

use super::Sizer;
use crate::diagnostic::Code;
use crate::source::Span;
use crate::typed::{Exp, ExpKind, Slice, Step};
use crate::types::context::Res;
use crate::types::infer::solve::field_of;
use crate::types::opaque::size_of_exp;
use crate::types::raw::{RExp, RSlice, RStep};
use crate::types::subst::clear_unique;
use crate::types::ty::{Name, Size, Type};

impl Sizer<'_, '_> {
    pub(crate) fn slices(&mut self, slices: &[RSlice]) -> Res<Vec<Slice>> {
        slices
            .iter()
            .map(|slice| match slice {
                RSlice::Index(e) => Ok(Slice::Index(self.exp(e)?)),
                RSlice::Range { start, end, stride } => Ok(Slice::Range {
                    start: start.as_ref().map(|e| self.exp(e)).transpose()?,
                    end: end.as_ref().map(|e| self.exp(e)).transpose()?,
                    stride: stride.as_ref().map(|e| self.exp(e)).transpose()?,
                }),
            })
            .collect()
    }

    pub(crate) fn index(&mut self, array: &RExp, slices: &[RSlice], span: Span) -> Res<Exp> {
        let slices = self.slices(slices)?;
        let array = self.boxed(array)?;
        let array_ty = self.ty(&array.ty);
        let mut exts = Vec::new();
        let ty = self.sliced(&array_ty, &slices, span, &mut exts);
        let kind = ExpKind::Index { array, slices };
        Ok(Exp {
            kind,
            ty,
            span,
            exts,
        })
    }

    /// The type of a slice; sizes that only the slice makes known are added to `exts`.
    pub(crate) fn sliced(
        &mut self,
        ty: &Type,
        slices: &[Slice],
        span: Span,
        exts: &mut Vec<Name>,
    ) -> Type {
        let Some((slice, rest)) = slices.split_first() else {
            return clear_unique(ty);
        };
        let Type::Array(a) = ty else {
            return ty.clone();
        };
        self.tie(&a.size);
        match slice {
            Slice::Index(_) => self.sliced(&a.elem, rest, span, exts),
            Slice::Range { start, end, stride } => {
                let known =
                    self.slice_size(&a.size, start.as_ref(), end.as_ref(), stride.as_ref(), span);
                let size = known.unwrap_or_else(|| {
                    let d = self.unknown(span, "n", "the length of a slice");
                    exts.push(d);
                    Size::name(d)
                });
                let elem = self.sliced(&a.elem, rest, span, exts);
                Type::array(size, elem)
            }
        }
    }

    fn slice_size(
        &mut self,
        whole: &Size,
        start: Option<&Exp>,
        end: Option<&Exp>,
        stride: Option<&Exp>,
        span: Span,
    ) -> Option<Size> {
        let stride = match stride {
            None => 1,
            Some(e) => constant(e)?,
        };
        let part = |this: &Self, e: &Exp| size_of_exp(&this.cx.names, e);
        let known = match (stride, start, end) {
            (1, None, None) => Some(whole.clone()),
            (1, None, Some(e)) => part(self, e),
            (1, Some(s), None) => part(self, s).map(|s| whole.sub(&s)),
            (1, Some(s), Some(e)) => part(self, s).zip(part(self, e)).map(|(s, e)| e.sub(&s)),
            (-1, None, None) => Some(whole.clone()),
            (-1, Some(s), Some(e)) => part(self, s).zip(part(self, e)).map(|(s, e)| s.sub(&e)),
            _ => return None,
        };
        if known.is_none() {
            self.cx.warn(
                Code::SizeBinds,
                span,
                "a bound of this slice binds names, so the size of the result is not known",
            );
        }
        known
    }

    /// The steps of an update, and the type of what is replaced; the sizes of slices are to be inferred.
    pub(crate) fn path(
        &mut self,
        ty: &Type,
        steps: &[RStep],
        span: Span,
    ) -> Res<(Vec<Step>, Type)> {
        let mut at = ty.clone();
        let mut out = Vec::new();
        for step in steps {
            match step {
                RStep::Field(f) => {
                    let tuple = matches!(at, Type::Tuple(_));
                    let field = field_of(&at, f).unwrap_or_else(Type::unit);
                    out.push(match (tuple, f.parse::<usize>()) {
                        (true, Ok(k)) => Step::TupleField(k),
                        _ => Step::Field(f.clone()),
                    });
                    at = field;
                }
                RStep::Index(slices) => {
                    let slices = self.slices(slices)?;
                    at = self.target(&at, &slices, span);
                    out.push(Step::Index(slices));
                }
            }
        }
        Ok((out, clear_unique(&at)))
    }

    fn target(&mut self, ty: &Type, slices: &[Slice], span: Span) -> Type {
        let Some((slice, rest)) = slices.split_first() else {
            return ty.clone();
        };
        let Type::Array(a) = ty else {
            return ty.clone();
        };
        self.tie(&a.size);
        match slice {
            Slice::Index(_) => self.target(&a.elem, rest, span),
            Slice::Range { .. } => {
                let elem = self.target(&a.elem, rest, span);
                Type::array(self.flexible(span, "the size of a slice"), elem)
            }
        }
    }
}

fn constant(e: &Exp) -> Option<i128> {
    if let ExpKind::Negate(e) = &e.kind {
        return Some(-constant(e)?);
    }
    super::literal::constant(e)
}
