//! Entry points: what may be called from outside, and how its parameters and results are called there.

use super::context::{Cx, Res, err};
use super::infer::tyexp::{free_sizes, witnesses};
use super::ty::{Lift, Name, RetType, Type};
use crate::diagnostic::Code;
use crate::syntax::ast;
use crate::typed::{Entry, EntryParam, ValueDef};

impl Cx<'_> {
    /// Makes a definition an entry point.
    pub(crate) fn entry(
        &mut self,
        bind: &ast::ValBind,
        doc: Option<&ast::Doc>,
        def: &ValueDef,
    ) -> Res<()> {
        let span = bind.name.span;
        if self.frames.len() > 1 {
            return err(
                Code::BadEntry,
                span,
                "an entry point cannot be declared inside of a module",
            );
        }
        if !def.scheme.types.is_empty() {
            return err(
                Code::BadEntry,
                span,
                "an entry point cannot be polymorphic in types",
            );
        }
        let (mut params, result) = entry_params(def, bind, self);
        if params.iter().any(|p| self.has_accumulator(&p.ty)) || self.has_accumulator(&result.ty) {
            let message = "an entry point cannot take or return accumulators";
            return err(Code::BadEntry, span, message);
        }
        let shown: Vec<Name> = params.iter().flat_map(|p| witnesses(&p.ty)).collect();
        let all_free: Vec<Name> = params.iter().flat_map(|p| free_sizes(&p.ty)).collect();
        for n in &def.scheme.sizes {
            if !all_free.contains(n) {
                return err(
                    Code::BadEntry,
                    span,
                    "an entry point cannot have a size parameter that only its result has",
                );
            }
            if !shown.contains(n) {
                let text = self.names.text(*n);
                let message = format!(
                    "the size parameter `{text}` of an entry point must be the size of an array"
                );
                return err(Code::BadEntry, span, message);
            }
        }
        for p in &mut params {
            p.streamed = self.elements_of(&p.ty).is_some();
        }
        let streamed = self.elements_of(&result.ty).is_some();
        let inner = |cx: &Self, ty: &Type| match cx.elements_of(ty) {
            Some(elem) => cx.has_sequence(elem),
            None => cx.has_sequence(ty),
        };
        if params.iter().any(|p| inner(self, &p.ty)) || inner(self, &result.ty) {
            return err(
                Code::BadEntry,
                span,
                "sequences of an entry point must be parameters of their own, or all of the result",
            );
        }
        let functional = params
            .iter()
            .filter(|p| !p.streamed)
            .map(|p| &p.ty)
            .chain((!streamed).then_some(&result.ty))
            .any(|t| self.too_lifted(t, Lift::Size).is_some());
        if functional {
            return err(
                Code::BadEntry,
                span,
                "an entry point cannot take or return functions",
            );
        }
        if self.is_main_file() {
            let drain = match streamed {
                true => self.drain()?,
                false => None,
            };
            let result_text = bind.ret.as_ref().map(|t| self.text(t.span));
            for p in &mut params {
                if p.type_text.is_empty() {
                    p.type_text = super::print::ty(&self.names, &p.ty);
                }
            }
            self.entries.retain(|e| e.name != *bind.name.name);
            self.entries.push(Entry {
                name: bind.name.name.to_string(),
                value: def.name,
                params,
                result_text,
                doc: doc.map(|doc| doc.text.clone()),
                result,
                drain,
                attrs: def.attrs.clone(),
            });
        }
        Ok(())
    }
}

fn entry_params(
    def: &ValueDef,
    bind: &ast::ValBind,
    cx: &mut Cx<'_>,
) -> (Vec<EntryParam>, RetType) {
    let mut params: Vec<EntryParam> = Vec::new();
    for (p, source) in def.params.iter().zip(&bind.params) {
        let type_text = if let ast::PatKind::Ascribe(_, te) = &source.kind {
            cx.text(te.span)
        } else {
            String::new()
        };
        let name = super::sized::def::param_name(p).map(|n| cx.names.text(n).to_owned());
        params.push(EntryParam {
            name,
            type_text,
            ty: p.ty.clone(),
            streamed: false,
        });
    }
    // A definition may have fewer parameters than its type: `entry f = map g`.
    let mut ret = def.ret.clone();
    while let Type::Fun(f) = &ret.ty.clone() {
        let name = f.param.map(|n| cx.names.text(n).to_owned());
        params.push(EntryParam {
            name,
            type_text: String::new(),
            ty: f.arg.clone(),
            streamed: false,
        });
        ret = f.ret.clone();
    }
    (params, ret)
}
