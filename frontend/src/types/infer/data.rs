//! Literals, records, arrays, and paths into them, in the first pass.

use super::Infer;
use super::solve::{Kind, PrimSet, record_type, unsized_array};
use crate::diagnostic::Code;
use crate::source::Span;
use crate::syntax::ast::{self, Literal};
use crate::syntax::ptr::P;
use crate::typed::RangeEnd;
use crate::types::context::{Res, err};
use crate::types::raw::{RExp, RKind, RLit, RSlice, RStep};
use crate::types::ty::{Lift, Prim, Size, Sym, Type};
use std::collections::BTreeMap;

impl Infer<'_, '_> {
    pub(crate) fn literal(&mut self, lit: &Literal, span: Span) -> RExp {
        let (kind, ty) = match self.scalar_literal(lit, span) {
            Ok((lit, ty)) => (RKind::Lit(lit), ty),
            Err(bytes) => {
                let ty = Type::array(Size::length(bytes.len()), Type::Prim(Prim::U8));
                (RKind::String(bytes.to_vec()), ty)
            }
        };
        RExp { kind, ty, span }
    }

    /// A scalar literal, in an expression or in a pattern, and its type; or the bytes of a string.
    pub(crate) fn scalar_literal<'a>(
        &mut self,
        lit: &'a Literal,
        span: Span,
    ) -> Result<(RLit, Type), &'a [u8]> {
        let plain = |value| RLit::Int {
            value,
            suffixed: false,
        };
        Ok(match lit {
            Literal::Int { value, suffix } => {
                let value = i128::try_from(*value).unwrap_or(i128::MAX);
                match suffix.and_then(|s| Prim::from_name(s.name())) {
                    Some(p) => {
                        let value = wrapped(value, p);
                        let suffixed = true;
                        (RLit::Int { value, suffixed }, Type::Prim(p))
                    }
                    None => (plain(value), self.number(span, PrimSet::NUMBERS)),
                }
            }
            Literal::Large(digits) => {
                let ty = self.number(span, PrimSet::NUMBERS);
                (RLit::Float(digits.clone()), ty)
            }
            Literal::Char(c) => {
                let ty = self.number(span, PrimSet::NUMBERS);
                (plain(i128::from(u32::from(*c))), ty)
            }
            Literal::Float { digits, suffix } => {
                let ty = match suffix.and_then(|s| Prim::from_name(s.name())) {
                    Some(p) => Type::Prim(p),
                    None => self.number(span, PrimSet::FLOATS),
                };
                (RLit::Float(digits.clone()), ty)
            }
            Literal::Bool(b) => (RLit::Bool(*b), Type::Prim(Prim::Bool)),
            Literal::Str(bytes) => return Err(bytes),
        })
    }

    pub(crate) fn record(&mut self, fields: &[ast::FieldExp], span: Span) -> Res<RExp> {
        let mut out: Vec<(Sym, RExp)> = Vec::new();
        for field in fields {
            if out.iter().any(|(f, _)| *f == field.name.name) {
                return err(
                    Code::DuplicateName,
                    field.name.span,
                    format!("the field `{}` is given twice", field.name.name),
                );
            }
            let e = match &field.value {
                Some(e) => self.exp(e)?,
                None => {
                    let e = self.name(&ast::QualName {
                        quals: Vec::new(),
                        name: field.name.clone(),
                    })?;
                    self.cx.note_field(field.name.span);
                    e
                }
            };
            out.push((field.name.name.clone(), e));
        }
        let ty = record_type(out.iter().map(|(f, e)| (f.clone(), e.ty.clone())).collect());
        Ok(RExp {
            kind: RKind::Record(out),
            ty,
            span,
        })
    }

    pub(crate) fn array(&mut self, es: &[ast::Exp], span: Span) -> Res<RExp> {
        let elem = self.elem(span);
        let mut out = Vec::with_capacity(es.len());
        for e in es {
            let e = self.exp(e)?;
            self.expect(e.span, "array element", &e.ty, &elem)?;
            out.push(e);
        }
        Ok(RExp {
            ty: Type::array(Size::length(out.len()), elem),
            kind: RKind::Array(out),
            span,
        })
    }

    pub(crate) fn range(
        &mut self,
        first: &ast::Exp,
        second: Option<&ast::Exp>,
        end_kind: ast::RangeEnd,
        end: &ast::Exp,
        span: Span,
    ) -> Res<RExp> {
        let start = self.exp(first)?;
        self.require(&start, "range", PrimSet::INTEGERS)?;
        let part = |this: &mut Self, e: &ast::Exp| -> Res<P<RExp>> {
            let e = this.exp(e)?;
            this.expect(e.span, "range", &e.ty, &start.ty)?;
            Ok(P::new(e))
        };
        let second = second.map(|e| part(self, e)).transpose()?;
        let end = part(self, end)?;
        let kind = match end_kind {
            ast::RangeEnd::Inclusive => RangeEnd::Inclusive,
            ast::RangeEnd::Below => RangeEnd::Below,
            ast::RangeEnd::Above => RangeEnd::Above,
        };
        let ty = unsized_array(start.ty.clone());
        let kind = RKind::Range {
            start: P::new(start),
            second,
            end: (kind, end),
        };
        Ok(RExp { kind, ty, span })
    }

    pub(crate) fn project(&mut self, e: RExp, field: &Sym, span: Span) -> Res<RExp> {
        let ty = self.any(span);
        let kind = Kind::Record(BTreeMap::from([(field.clone(), ty.clone())]));
        let record = self.solver.fresh(span, Lift::Full, kind);
        self.expect(e.span, &format!("field `{field}`"), &e.ty, &record)?;
        Ok(RExp {
            kind: RKind::Field(P::new(e), field.clone()),
            ty,
            span,
        })
    }

    pub(crate) fn slices(&mut self, indices: &[ast::DimIndex]) -> Res<Vec<RSlice>> {
        indices
            .iter()
            .map(|index| match index {
                ast::DimIndex::Fix(e) => {
                    let e = self.exp(e)?;
                    self.require(&e, "index", PrimSet::SIGNED)?;
                    Ok(RSlice::Index(e))
                }
                ast::DimIndex::Slice {
                    start, end, stride, ..
                } => {
                    let mut part = |e: &Option<P<ast::Exp>>| -> Res<Option<RExp>> {
                        let Some(e) = e else { return Ok(None) };
                        let e = self.exp(e)?;
                        self.expect(e.span, "slice", &e.ty, &Type::Prim(Prim::I64))?;
                        Ok(Some(e))
                    };
                    Ok(RSlice::Range {
                        start: part(start)?,
                        end: part(end)?,
                        stride: part(stride)?,
                    })
                }
            })
            .collect()
    }

    /// The type of an array that such an index may be applied to, and of the result.
    pub(crate) fn index_types(&mut self, slices: &[RSlice], span: Span) -> (Type, Type) {
        let elem = self.elem(span);
        let mut array = elem.clone();
        let mut result = elem;
        for slice in slices.iter().rev() {
            array = unsized_array(array);
            match slice {
                RSlice::Index(_) => {}
                RSlice::Range { .. } => result = unsized_array(result),
            }
        }
        (array, result)
    }

    pub(crate) fn index(
        &mut self,
        array: P<RExp>,
        indices: &[ast::DimIndex],
        span: Span,
    ) -> Res<RExp> {
        let slices = self.slices(indices)?;
        let (array_ty, ty) = self.index_types(&slices, span);
        self.expect(array.span, "indexed value", &array.ty, &array_ty)?;
        Ok(RExp {
            kind: RKind::Index { array, slices },
            ty,
            span,
        })
    }

    pub(crate) fn steps(&mut self, path: &[ast::UpdateStep]) -> Res<Vec<RStep>> {
        path.iter()
            .map(|step| match step {
                ast::UpdateStep::Index(indices, _) => Ok(RStep::Index(self.slices(indices)?)),
                ast::UpdateStep::Field(f) => Ok(RStep::Field(f.name.clone())),
            })
            .collect()
    }

    pub(crate) fn update(
        &mut self,
        source: P<RExp>,
        path: &[ast::UpdateStep],
        value: P<RExp>,
        span: Span,
    ) -> Res<RExp> {
        let path = self.steps(path)?;
        let mut at = source.ty.clone();
        for step in &path {
            match step {
                RStep::Field(f) => {
                    let part = self.any(span);
                    let kind = Kind::Record(BTreeMap::from([(f.clone(), part.clone())]));
                    let record = self.solver.fresh(span, Lift::Full, kind);
                    self.expect(source.span, &format!("update of field `{f}`"), &at, &record)?;
                    at = part;
                }
                RStep::Index(slices) => {
                    let (array, part) = self.index_types(slices, span);
                    self.expect(source.span, "updated value", &at, &array)?;
                    at = part;
                }
            }
        }
        self.expect(value.span, "new value of the update", &value.ty, &at)?;
        let ty = source.ty.clone();
        Ok(RExp {
            kind: RKind::Update {
                source,
                path,
                value,
            },
            ty,
            span,
        })
    }
}

/// A literal with a suffix of a signed type may be a bit pattern: `0xffi8` is -1.
fn wrapped(value: i128, p: Prim) -> i128 {
    let pattern = (1 << (p.bits() - 1))..(1 << p.bits());
    if p.is_signed() && pattern.contains(&value) {
        value - (1 << p.bits())
    } else {
        value
    }
}
