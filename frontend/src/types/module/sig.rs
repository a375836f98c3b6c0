//! Module types.

use super::rename::{Renaming, abstract_type};
use crate::diagnostic::{Code, Diagnostic};
use crate::syntax::ast::{self, ModTypeKind, SpecKind};
use crate::typed::NameKind;
use crate::types::context::{Cx, Res, err};
use crate::types::env::{Abs, Env, FunctorSig, Module, Sig, TypeAbbr};
use crate::types::index::Space;
use crate::types::infer::Infer;
use crate::types::infer::def::lift;
use crate::types::subst::TypeFun;
use crate::types::ty::{Name, RetType, Sym, Type, TypeParam};
use std::collections::BTreeMap;
use std::sync::Arc;

impl Cx<'_> {
    /// A module type; all its ids are its own.
    pub(crate) fn sig_exp(&mut self, e: &ast::ModTypeExp) -> Res<Sig> {
        match &e.kind {
            ModTypeKind::Name(name) => {
                let sig = self.sig(name)?;
                Ok(self.fresh_sig(&sig))
            }
            ModTypeKind::Sig(specs) => self.specs(specs),
            ModTypeKind::With(inner, refinement) => {
                let sig = self.sig_exp(inner)?;
                self.refine(&sig, refinement)
            }
            ModTypeKind::Arrow { param, from, to } => {
                let from = self.sig_exp(from)?;
                let mut frame = Env::default();
                if let Some(param) = param {
                    frame
                        .modules
                        .insert(param.name.clone(), from.module.clone());
                }
                self.frames.push(frame);
                if let Some(param) = param {
                    self.define_site(Space::Module, param);
                }
                let to = self.sig_exp(to);
                self.frames.pop();
                let name = self.fresh("functor", Some(e.span), NameKind::Functor);
                let functor = FunctorSig {
                    name,
                    param: from,
                    result: to?,
                };
                Ok(Sig {
                    abs: Vec::new(),
                    module: Module::Functor(Arc::new(functor)),
                })
            }
        }
    }

    fn specs(&mut self, specs: &[ast::Spec]) -> Res<Sig> {
        self.frames.push(Env::default());
        let mut abs = Vec::new();
        let mut env = Env::default();
        let mut seen = BTreeMap::new();
        let result = specs
            .iter()
            .try_for_each(|s| self.spec(s, &mut abs, &mut env, &mut seen));
        self.frames.pop();
        result?;
        Ok(Sig {
            abs,
            module: Module::Struct(Arc::new(env)),
        })
    }

    fn spec(
        &mut self,
        spec: &ast::Spec,
        abs: &mut Vec<Abs>,
        env: &mut Env,
        seen: &mut BTreeMap<(u8, Sym), crate::source::Span>,
    ) -> Res<()> {
        let mut once = |space: u8, ident: &ast::Ident| match seen
            .insert((space, ident.name.clone()), ident.span)
        {
            None => Ok(()),
            Some(first) => Err(Box::new(
                Diagnostic::error(
                    Code::DuplicateName,
                    ident.span,
                    format!("`{}` is specified twice", ident.name),
                )
                .also(first, "first specified here"),
            )),
        };
        match &spec.kind {
            SpecKind::Val { name, params, ty } => {
                once(0, name)?;
                let scheme = self.type_scheme(params, ty)?;
                let id = self.fresh_ident(name, NameKind::Value);
                self.names.get_mut(id).scheme = Some(scheme);
                self.note_value(name.span, id);
                env.values.insert(name.name.clone(), id);
                self.frame().values.insert(name.name.clone(), id);
            }
            SpecKind::Abbr(bind) => {
                once(1, &bind.name)?;
                let abbr = self.type_bind(bind)?;
                self.add_type(env, &bind.name, abbr);
            }
            SpecKind::Type {
                lift: l,
                name,
                params,
            } => {
                once(1, name)?;
                let params = Infer::new(self).type_params(params)?;
                let id = self.fresh_ident(name, NameKind::Type);
                let l = lift(*l);
                self.lifts.insert(id, l);
                let rhs = RetType {
                    exts: Vec::new(),
                    ty: abstract_type(id, &params),
                };
                abs.push(Abs {
                    name: id,
                    lift: l,
                    params: params.clone(),
                });
                self.add_type(
                    env,
                    name,
                    TypeAbbr {
                        lift: l,
                        fun: TypeFun { params, rhs },
                    },
                );
            }
            SpecKind::Module { name, mod_type } => {
                once(0, name)?;
                let sig = self.sig_exp(mod_type)?;
                abs.extend(sig.abs);
                env.modules.insert(name.name.clone(), sig.module.clone());
                env.put_site(Space::Module, name);
                self.define_site(Space::Module, name);
                self.frame().modules.insert(name.name.clone(), sig.module);
            }
            SpecKind::Include(e) => {
                let sig = self.sig_exp(e)?;
                let Module::Struct(inner) = sig.module else {
                    return err(
                        Code::BadModule,
                        e.span,
                        "a parametric module type cannot be included",
                    );
                };
                for (name, hidden) in inner
                    .types
                    .iter()
                    .filter(|(_, t)| abstract_name(t).is_some())
                {
                    // What is meant by the same name twice is no news.
                    if env
                        .types
                        .get(name)
                        .is_some_and(|t| abstract_name(t) != abstract_name(hidden))
                    {
                        self.warn(
                            Code::ShadowedType,
                            e.span,
                            format!("this inclusion shadows the type `{name}`"),
                        );
                    }
                }
                abs.extend(sig.abs);
                env.extend(&inner);
                self.frame().extend(&inner);
            }
        }
        Ok(())
    }

    fn add_type(&mut self, env: &mut Env, ident: &ast::Ident, abbr: TypeAbbr) {
        let name = &ident.name;
        env.types.insert(name.clone(), abbr.clone());
        env.put_site(Space::Type, ident);
        self.define_site(Space::Type, ident);
        self.frame().types.insert(name.clone(), abbr);
    }

    /// `s with t = ..`.
    fn refine(&mut self, sig: &Sig, r: &ast::TypeRef) -> Res<Sig> {
        let (params, ret, _) = self.type_rhs(&r.params, &r.body)?;
        let Some(abbr) = find_type(&sig.module, &r.name) else {
            let message = format!("the module type has no type `{}`", r.name);
            return err(Code::ModuleMismatch, r.name.span(), message);
        };
        let target = abstract_name(&abbr).and_then(|n| sig.abs.iter().find(|a| a.name == n));
        let Some(target) = target else {
            let message = format!("the type `{}` is not abstract in the module type", r.name);
            return err(Code::ModuleMismatch, r.name.span(), message);
        };
        let same = target.params.len() == params.len()
            && target.params.iter().zip(&params).all(|pair| match pair {
                (TypeParam::Size(_), TypeParam::Size(_)) => true,
                (TypeParam::Type(_, a), TypeParam::Type(_, b)) => a <= b,
                (TypeParam::Size(_), TypeParam::Type(..))
                | (TypeParam::Type(..), TypeParam::Size(_)) => false,
            });
        if !same {
            let message = format!(
                "the type `{}` has other parameters in the module type",
                r.name
            );
            return err(Code::ModuleMismatch, r.span, message);
        }
        let mut renaming = Renaming::default();
        renaming
            .subst
            .types
            .insert(target.name, TypeFun { params, rhs: ret });
        let rest: Vec<Abs> = sig
            .abs
            .iter()
            .filter(|a| a.name != target.name)
            .cloned()
            .collect();
        let abs = self.rename_abs(&rest, &mut renaming);
        let module = self.rename_module(&sig.module, &mut renaming);
        Ok(Sig { abs, module })
    }
}

/// The type at a path in a module.
fn find_type(module: &Module, name: &ast::QualName) -> Option<TypeAbbr> {
    let mut at = module.clone();
    for qual in &name.quals {
        let Module::Struct(env) = &at else {
            return None;
        };
        at = env.modules.get(&qual.name)?.clone();
    }
    match &at {
        Module::Struct(env) => env.types.get(&name.name.name).cloned(),
        Module::Functor(_) => None,
    }
}

/// The id of an abstract type, if the abbreviation is nothing but that.
pub(crate) fn abstract_name(abbr: &TypeAbbr) -> Option<Name> {
    let Type::Named(n) = &abbr.fun.rhs.ty else {
        return None;
    };
    (n.args.len() == abbr.fun.params.len()).then_some(n.name)
}
