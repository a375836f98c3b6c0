//! Updates in the second pass.

use super::Sizer;
use crate::source::Span;
use crate::typed::{Exp, ExpKind};
use crate::types::context::Res;
use crate::types::infer::solve::field_of;
use crate::types::raw::{RExp, RStep};
use crate::types::subst::{clear_unique, map_sizes};
use crate::types::ty::{Sym, Type};

impl Sizer<'_, '_> {
    pub(crate) fn update(
        &mut self,
        source: &RExp,
        path: &[RStep],
        value: &RExp,
        span: Span,
    ) -> Res<Exp> {
        let source = self.boxed(source)?;
        let source_ty = self.ty(&source.ty);
        let fields: Option<Vec<Sym>> = path
            .iter()
            .map(|step| match step {
                RStep::Field(f) => Some(f.clone()),
                RStep::Index(_) => None,
            })
            .collect();
        if let Some(fields) = fields {
            let value = self.boxed(value)?;
            let ty = self.replaced(&source_ty, &fields, &value.ty, span)?;
            let path = self.path(&source_ty, path, span)?.0;
            return Ok(Exp {
                kind: ExpKind::Update {
                    source,
                    path,
                    value,
                },
                ty,
                span,
                exts: Vec::new(),
            });
        }
        let (path, target) = self.path(&source_ty, path, span)?;
        let value = self.boxed(value)?;
        self.unify(value.span, "new value of the update", &target, &value.ty)?;
        let ty = self.ty(&clear_unique(&source_ty));
        Ok(Exp {
            kind: ExpKind::Update {
                source,
                path,
                value,
            },
            ty,
            span,
            exts: Vec::new(),
        })
    }

    /// The type of a record with the field at the end of a path replaced.
    pub(crate) fn replaced(
        &mut self,
        ty: &Type,
        fields: &[Sym],
        new: &Type,
        span: Span,
    ) -> Res<Type> {
        let Some((f, rest)) = fields.split_first() else {
            let loose = map_sizes(ty, &mut |_| self.flexible(span, "a record update"));
            self.unify(span, "new value of the field", &loose, new)?;
            return Ok(clear_unique(new));
        };
        let part = field_of(ty, f).unwrap_or_else(Type::unit);
        let part = self.replaced(&part, rest, new, span)?;
        Ok(match ty {
            Type::Tuple(ts) => {
                let at = f.parse::<usize>().unwrap_or(usize::MAX);
                Type::Tuple(
                    ts.iter()
                        .enumerate()
                        .map(|(k, t)| if k == at { part.clone() } else { t.clone() })
                        .collect(),
                )
            }
            Type::Record(fs) => Type::Record(
                fs.iter()
                    .map(|(g, t)| (g.clone(), if g == f { part.clone() } else { t.clone() }))
                    .collect(),
            ),
            Type::Prim(_)
            | Type::Array(_)
            | Type::Sum(_)
            | Type::Fun(_)
            | Type::Named(_)
            | Type::Meta(_) => ty.clone(),
        })
    }
}
