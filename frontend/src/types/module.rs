//! Modules: structures, parametric modules, their application, ascription, module types.

pub(crate) mod matching;
pub(crate) mod rename;
pub(crate) mod sig;

use super::context::{Cx, Res, err};
use super::decl::Decs;
use super::env::{Env, FunctorSig, Module, Sig};
use super::index::Space;
use crate::diagnostic::Code;
use crate::source::Span;
use crate::syntax::ast::{self, ModExpKind};
use crate::syntax::ptr::P;
use crate::typed::{Dec, Functor, ModuleExp, NameKind};
use rename::Renaming;
use std::sync::Arc;

impl Cx<'_> {
    /// `module m (p: s): t = e`.
    pub(crate) fn module_bind(&mut self, bind: &ast::ModBind) -> Res<(Module, ModuleExp)> {
        self.functor(
            &bind.name.name,
            &bind.params,
            bind.ascription.as_ref(),
            &bind.body,
            bind.name.span,
        )
    }

    fn functor(
        &mut self,
        name: &str,
        params: &[ast::ModParam],
        ascription: Option<&ast::ModTypeExp>,
        body: &ast::ModExp,
        span: Span,
    ) -> Res<(Module, ModuleExp)> {
        let Some((param, rest)) = params.split_first() else {
            let (module, exp) = self.module_exp(body)?;
            return match ascription {
                Some(s) => self.ascribe(module, exp, s),
                None => Ok((module, exp)),
            };
        };
        let sig = self.sig_exp(&param.mod_type)?;
        let outer = std::mem::take(&mut self.created);
        let mut frame = Env::default();
        frame
            .modules
            .insert(param.name.name.clone(), sig.module.clone());
        self.frames.push(frame);
        self.define_site(Space::Module, &param.name);
        let inner = self.functor(name, rest, ascription, body, span);
        self.frames.pop();
        let created = std::mem::replace(&mut self.created, outer);
        let (module, exp) = inner?;
        let id = self.fresh(name, Some(span), NameKind::Functor);
        let result = Sig {
            abs: created,
            module,
        };
        let functor = FunctorSig {
            name: id,
            param: sig,
            result,
        };
        let dec = Dec::Functor(Arc::new(Functor {
            name: id,
            body: exp,
            span,
        }));
        Ok((
            Module::Functor(Arc::new(functor)),
            ModuleExp::Struct(vec![dec]),
        ))
    }

    /// A module expression: what it is, and how to evaluate it.
    pub(crate) fn module_exp(&mut self, me: &ast::ModExp) -> Res<(Module, ModuleExp)> {
        match &me.kind {
            ModExpKind::Name(name) => {
                let module = self.module(name)?;
                if self.is_intrinsics(&module) {
                    let message = "the module `intrinsics` can be used for its members only";
                    return err(Code::BadModule, me.span, message);
                }
                Ok((module, ModuleExp::Known))
            }
            ModExpKind::Struct(decs) => {
                self.frames.push(Env::default());
                let mut out = Decs::default();
                let result = self.decs(decs, &mut out);
                self.frames.pop();
                result?;
                if out.failed {
                    return Err(Box::new(super::infer::name::poison(me.span)));
                }
                Ok((
                    Module::Struct(Arc::new(out.exports)),
                    ModuleExp::Struct(out.typed),
                ))
            }
            ModExpKind::Import(path) => Ok((Module::Struct(self.import(path)?), ModuleExp::Known)),
            ModExpKind::Apply(functor, arg) => self.apply_functor(functor, arg, me.span),
            ModExpKind::Ascribe(inner, sig) => {
                let (module, exp) = self.module_exp(inner)?;
                self.ascribe(module, exp, sig)
            }
            ModExpKind::Lambda {
                param,
                ascription,
                body,
            } => {
                let params = std::slice::from_ref(&**param);
                self.functor("lambda", params, ascription.as_deref(), body, me.span)
            }
        }
    }

    fn ascribe(
        &mut self,
        module: Module,
        exp: ModuleExp,
        sig: &ast::ModTypeExp,
    ) -> Res<(Module, ModuleExp)> {
        let span = sig.span;
        let sig = self.sig_exp(sig)?;
        let binds = self.match_module(&module, &sig, span)?;
        self.created.extend(sig.abs.iter().cloned());
        Ok((
            sig.module,
            ModuleExp::Seq(vec![exp, ModuleExp::Binds(P::new(binds))]),
        ))
    }

    fn apply_functor(
        &mut self,
        functor: &ast::ModExp,
        arg: &ast::ModExp,
        span: Span,
    ) -> Res<(Module, ModuleExp)> {
        let (module, functor_exp) = self.module_exp(functor)?;
        let Module::Functor(functor_sig) = module else {
            return err(
                Code::BadModule,
                functor.span,
                "this module is not parametric, so it cannot be applied",
            );
        };
        let (actual, arg_exp) = self.module_exp(arg)?;
        let param = self.match_module(&actual, &functor_sig.param, arg.span)?;
        let mut renaming = Renaming::default();
        renaming.follow(&param);
        let created = self.rename_abs(&functor_sig.result.abs, &mut renaming);
        let result_module = self.rename_module(&functor_sig.result.module, &mut renaming);
        self.created.extend(created);
        let apply = ModuleExp::Apply {
            functor: functor_sig.name,
            arg: P::new(arg_exp),
            param: P::new(param),
            result: P::new(renaming.binds),
            span,
        };
        Ok((result_module, ModuleExp::Seq(vec![functor_exp, apply])))
    }
}
