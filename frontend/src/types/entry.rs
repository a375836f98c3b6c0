//! Entry points: what may be called from outside, and how its parameters and results are called there.

use super::context::{Cx, Res, err};
use super::infer::tyexp::{free_sizes, witnesses};
use super::ty::{Lift, Name, RetType, Type};
use crate::diagnostic::Code;
use crate::syntax::ast;
use crate::typed::{Entry, EntryParam, ValueDef};

impl Cx<'_> {
    /// Makes a definition an entry point.
    pub(crate) fn entry(&mut self, bind: &ast::ValBind, def: &ValueDef) -> Res<()> {
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
        let functional = params
            .iter()
            .map(|p| &p.ty)
            .chain([&result.ty])
            .any(|t| self.too_lifted(t, Lift::Size).is_some());
        if params.iter().any(|p| self.has_sequence(&p.ty)) || self.has_sequence(&result.ty) {
            return err(
                Code::NotYetSupported,
                span,
                "an entry point cannot yet take or return sequences",
            );
        }
        if functional {
            return err(
                Code::BadEntry,
                span,
                "an entry point cannot take or return functions",
            );
        }
        if self.is_main_file() {
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
                result,
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
        });
        ret = f.ret.clone();
    }
    (params, ret)
}
