//! Does a module have a module type? If so, how are the members of the type bound to those of the module?

use super::rename::params_as_args;
use super::sig::abstract_name;
use crate::diagnostic::{Code, Diagnostic};
use crate::source::Span;
use crate::typed::{FunctorBind, Inst, ModuleBinds, TypeBind, ValueBind};
use crate::types::context::{Cx, Res, err};
use crate::types::env::{Env, FunctorSig, Module, Sig, TypeAbbr};
use crate::types::infer::Infer;
use crate::types::infer::tyexp::witnesses;
use crate::types::opaque::{replace_metas, replace_metas_of_size};
use crate::types::print;
use crate::types::sized::Sizer;
use crate::types::subst::{Subst, TypeFun, apply_type_fun};
use crate::types::ty::{Lift, Name, Scheme, Size, Sym, Type, TypeParam};
use std::collections::BTreeSet;

/// A match under way.
struct Match {
    span: Span,
    /// Applied to what the module has.
    actual: Subst,
    /// Applied to what the module type says: its abstract types become the module's.
    spec: Subst,
    /// The abstract types that are to be found.
    wanted: BTreeSet<Name>,
    lifts: Vec<(Name, Lift)>,
}

impl Cx<'_> {
    /// Matches a module with a module type whose ids are its own.
    pub(crate) fn match_module(
        &mut self,
        actual: &Module,
        sig: &Sig,
        span: Span,
    ) -> Res<ModuleBinds> {
        self.match_with(actual, sig, Subst::default(), Subst::default(), span)
    }

    fn match_with(
        &mut self,
        actual: &Module,
        sig: &Sig,
        sub_a: Subst,
        sub_s: Subst,
        span: Span,
    ) -> Res<ModuleBinds> {
        let mut m = Match {
            span,
            actual: sub_a,
            spec: sub_s,
            wanted: sig.abs.iter().map(|a| a.name).collect(),
            lifts: sig.abs.iter().map(|a| (a.name, a.lift)).collect(),
        };
        let mut binds = ModuleBinds::default();
        self.find_abstract(actual, &sig.module, &mut m, &mut binds)?;
        self.match_members(actual, &sig.module, &mut m, &mut binds)?;
        Ok(binds)
    }

    fn find_abstract(
        &mut self,
        actual: &Module,
        sig: &Module,
        m: &mut Match,
        binds: &mut ModuleBinds,
    ) -> Res<()> {
        let (env, spec) = match (actual, sig) {
            (Module::Struct(env), Module::Struct(spec)) => (env, spec),
            (Module::Functor(_), Module::Functor(_)) => return Ok(()),
            (Module::Functor(_), Module::Struct(_)) => {
                return err(
                    Code::ModuleMismatch,
                    m.span,
                    "a parametric module is given where an ordinary one is wanted",
                );
            }
            (Module::Struct(_), Module::Functor(_)) => {
                return err(
                    Code::ModuleMismatch,
                    m.span,
                    "an ordinary module is given where a parametric one is wanted",
                );
            }
        };
        for (sym, abbr) in &spec.types {
            let Some(name) = abstract_name(abbr).filter(|n| m.wanted.contains(n)) else {
                continue;
            };
            let Some(own) = env.types.get(sym) else {
                return err(
                    Code::ModuleMismatch,
                    m.span,
                    format!("the module does not define the type `{sym}`"),
                );
            };
            m.wanted.remove(&name);
            let own = self.subst_abbr(&m.actual, own);
            let lift = m
                .lifts
                .iter()
                .find(|(n, _)| *n == name)
                .map_or(Lift::Plain, |(_, l)| *l);
            self.check_abstract(sym, &own, abbr, lift, m.span)?;
            m.spec.types.insert(name, own.fun.clone());
            binds.types.push(TypeBind {
                name,
                params: own.fun.params,
                exts: own.fun.rhs.exts,
                rhs: own.fun.rhs.ty,
            });
        }
        for (sym, inner) in &spec.modules {
            let Some(own) = env.modules.get(sym) else {
                return err(
                    Code::ModuleMismatch,
                    m.span,
                    format!("the module does not define the module `{sym}`"),
                );
            };
            self.find_abstract(own, inner, m, binds)?;
        }
        for (sym, id) in &spec.values {
            if let Some(own) = env.values.get(sym) {
                let own = m.actual.values.get(own).copied().unwrap_or(*own);
                m.spec.values.insert(*id, own);
            }
        }
        Ok(())
    }

    /// Whether a type may stand for an abstract one.
    fn check_abstract(
        &mut self,
        sym: &Sym,
        own: &TypeAbbr,
        spec: &TypeAbbr,
        lift: Lift,
        span: Span,
    ) -> Res<()> {
        if !same_params(&own.fun.params, &spec.fun.params) {
            let message = format!(
                "the type `{sym}` of the module has other parameters than its module type says"
            );
            return err(Code::ModuleMismatch, span, message);
        }
        let what = match lift {
            Lift::Plain => "an ordinary type",
            Lift::Size => "a size-lifted type",
            Lift::Full => "a lifted type",
        };
        if own.lift > lift || (lift < Lift::Size && !own.fun.rhs.exts.is_empty()) {
            let shown = print::ret(&self.names, &own.fun.rhs);
            return Err(Box::new(
                Diagnostic::error(
                    Code::ModuleMismatch,
                    span,
                    format!("the module type wants {what} `{sym}`"),
                )
                .note(format!(
                    "the module defines it as `{shown}`, which is more lifted"
                )),
            ));
        }
        let shown = witnesses(&own.fun.rhs.ty);
        for p in &own.fun.params {
            if let TypeParam::Size(n) = p
                && !shown.contains(n)
            {
                let text = self.names.text(*n);
                let message = format!(
                    "the type `{sym}` cannot be abstract: its size `{text}` is not the size of any array in it"
                );
                return err(Code::ModuleMismatch, span, message);
            }
        }
        Ok(())
    }

    fn match_members(
        &mut self,
        actual: &Module,
        sig: &Module,
        m: &mut Match,
        binds: &mut ModuleBinds,
    ) -> Res<()> {
        match (actual, sig) {
            (Module::Struct(env), Module::Struct(spec)) => self.match_env(env, spec, m, binds),
            (Module::Functor(f), Module::Functor(s)) => {
                let bind = self.match_functor(f, s, m)?;
                binds.functors.push(bind);
                Ok(())
            }
            (Module::Struct(_), Module::Functor(_)) | (Module::Functor(_), Module::Struct(_)) => {
                err(
                    Code::ModuleMismatch,
                    m.span,
                    "a parametric and an ordinary module do not match",
                )
            }
        }
    }

    fn match_env(
        &mut self,
        env: &Env,
        spec: &Env,
        m: &mut Match,
        binds: &mut ModuleBinds,
    ) -> Res<()> {
        for (sym, abbr) in &spec.types {
            let Some(own) = env.types.get(sym) else {
                return err(
                    Code::ModuleMismatch,
                    m.span,
                    format!("the module does not define the type `{sym}`"),
                );
            };
            let own = self.subst_abbr(&m.actual, own);
            let wanted = self.subst_abbr(&m.spec, abbr);
            self.match_abbr(sym, &own, &wanted, m.span)?;
        }
        for (sym, id) in &spec.values {
            let Some(own) = env.values.get(sym) else {
                return err(
                    Code::ModuleMismatch,
                    m.span,
                    format!("the module does not define the value `{sym}`"),
                );
            };
            if self.poisoned.contains(own) {
                return Err(Box::new(crate::types::infer::name::poison(m.span)));
            }
            let (Some(spec_scheme), Some(own_scheme)) =
                (self.scheme(*id).cloned(), self.scheme(*own).cloned())
            else {
                continue;
            };
            let wanted = self.subst_spec(sym, &spec_scheme, m)?;
            let has = self.subst_scheme(&m.actual, &own_scheme);
            let inst = self.match_scheme(sym, &has, &wanted, m.span)?;
            binds.values.push(ValueBind {
                name: *id,
                scheme: spec_scheme,
                value: *own,
                inst,
            });
        }
        for (sym, inner) in &spec.modules {
            let Some(own) = env.modules.get(sym) else {
                return err(
                    Code::ModuleMismatch,
                    m.span,
                    format!("the module does not define the module `{sym}`"),
                );
            };
            self.match_members(own, inner, m, binds)?;
        }
        Ok(())
    }

    /// A specified type in terms of the module's types; a size that this leaves without a binder is an error.
    fn subst_spec(&mut self, sym: &Sym, scheme: &Scheme, m: &Match) -> Res<Scheme> {
        let mut exts = Vec::new();
        let ty = m.spec.ty(&mut self.names, &scheme.ty, &mut exts);
        let shown = witnesses(&ty);
        if exts.iter().any(|e| shown.contains(e)) {
            let message =
                format!("the type of the value `{sym}` would have a size that nothing binds");
            return err(Code::ModuleMismatch, m.span, message);
        }
        Ok(Scheme {
            types: scheme.types.clone(),
            sizes: scheme.sizes.clone(),
            ty,
        })
    }

    fn match_abbr(&mut self, sym: &Sym, own: &TypeAbbr, wanted: &TypeAbbr, span: Span) -> Res<()> {
        let ok = same_params(&own.fun.params, &wanted.fun.params) && {
            let args = params_as_args(&wanted.fun.params);
            let mut as_wanted = apply_type_fun(&mut self.names, &own.fun, &args);
            // Existential sizes on both sides are taken to be the same ones.
            if as_wanted.exts.len() == wanted.fun.rhs.exts.len() {
                let mut subst = Subst::default();
                for (a, b) in as_wanted.exts.iter().zip(&wanted.fun.rhs.exts) {
                    subst.sizes.insert(*a, Size::name(*b));
                }
                as_wanted.ty = subst.ty(&mut self.names, &as_wanted.ty, &mut Vec::new());
            }
            let has = Scheme {
                types: Vec::new(),
                sizes: Vec::new(),
                ty: as_wanted.ty,
            };
            let want = Scheme {
                types: Vec::new(),
                sizes: Vec::new(),
                ty: wanted.fun.rhs.ty.clone(),
            };
            self.match_scheme(sym, &has, &want, span).is_ok()
        };
        if ok {
            return Ok(());
        }
        let (has, want) = (
            print::ret(&self.names, &own.fun.rhs),
            print::ret(&self.names, &wanted.fun.rhs),
        );
        Err(Box::new(
            Diagnostic::error(
                Code::ModuleMismatch,
                span,
                format!("the module type wants another type `{sym}`"),
            )
            .note(format!("the module defines `type {sym} = {has}`"))
            .note(format!("the module type says `type {sym} = {want}`")),
        ))
    }

    /// Matches a scheme with one that may be less general; gives the instance.
    fn match_scheme(&mut self, sym: &Sym, has: &Scheme, wanted: &Scheme, span: Span) -> Res<Inst> {
        let mut infer = Infer::new(self);
        let mut subst = Subst::default();
        let mut metas = Vec::new();
        for (p, lift) in &has.types {
            let meta = infer
                .solver
                .fresh(span, *lift, crate::types::infer::solve::Kind::Any);
            subst.bind_type(*p, meta.clone());
            metas.push(meta);
        }
        let ty = subst.ty(&mut infer.cx.names, &has.ty, &mut Vec::new());
        let unified = infer.solver.unify(&ty, &wanted.ty).is_ok();
        let types: Vec<Type> = metas.iter().map(|t| infer.solver.zonk(t)).collect();
        let Infer { cx, mut solver, .. } = infer;
        if !unified {
            return Err(cx.value_mismatch(sym, has, wanted, span, "the types differ"));
        }
        for id in 0..solver.count() {
            if solver.free(id).is_some() {
                solver.set(id, Type::unit());
            }
        }
        for ((_, lift), ty) in has.types.iter().zip(&types) {
            let ty = solver.zonk(ty);
            if let Some(why) = cx.too_lifted(&ty, *lift) {
                return Err(cx.value_mismatch(sym, has, wanted, span, &why));
            }
        }
        let mut sizer = Sizer::new(cx, solver);
        for n in &wanted.sizes {
            sizer.param_size(*n);
        }
        sizer.level = 1;
        let (ty, inst) = sizer.instantiate(has, &types, span);
        let result = sizer
            .unify(span, sym, &wanted.ty, &ty)
            .and_then(|()| sizer.settle());
        let inst = Inst {
            types: inst.types.iter().map(|t| sizer.ty(t)).collect(),
            sizes: inst.sizes.iter().map(|s| sizer.size(s)).collect(),
        };
        // Sizes that a match leaves open do not matter.
        let names = &sizer.cx.names;
        let none = &mut |_| Size::default();
        let inst = Inst {
            types: (inst.types.iter().map(|t| replace_metas(names, t, none))).collect(),
            sizes: (inst.sizes.iter())
                .map(|s| replace_metas_of_size(names, s, none))
                .collect(),
        };
        match result {
            Ok(()) => Ok(inst),
            Err(d) => {
                let why = d.notes.first().map_or("", |n| n.text()).to_owned();
                Err(self.value_mismatch(sym, has, wanted, span, &why))
            }
        }
    }

    fn value_mismatch(
        &self,
        sym: &Sym,
        has: &Scheme,
        wanted: &Scheme,
        span: Span,
        why: &str,
    ) -> Box<Diagnostic> {
        let message =
            format!("the value `{sym}` of the module has another type than its module type says");
        let d = Diagnostic::error(Code::ModuleMismatch, span, message)
            .note(format!(
                "the module has `{}`",
                print::ty(&self.names, &has.ty)
            ))
            .note(format!(
                "the module type says `{}`",
                print::ty(&self.names, &wanted.ty)
            ));
        Box::new(if why.is_empty() { d } else { d.note(why) })
    }

    /// A functor must take at least what its type says, and give at least that.
    fn match_functor(
        &mut self,
        own: &FunctorSig,
        spec: &FunctorSig,
        m: &Match,
    ) -> Res<FunctorBind> {
        let param = self.match_with(
            &spec.param.module,
            &own.param,
            m.spec.clone(),
            m.actual.clone(),
            m.span,
        )?;
        let mut actual = m.actual.clone();
        for t in &param.types {
            let rhs = crate::types::ty::RetType {
                exts: t.exts.clone(),
                ty: t.rhs.clone(),
            };
            actual.types.insert(
                t.name,
                TypeFun {
                    params: t.params.clone(),
                    rhs,
                },
            );
        }
        for v in &param.values {
            actual.values.insert(v.name, v.value);
        }
        let result = self.match_with(
            &own.result.module,
            &spec.result,
            actual,
            m.spec.clone(),
            m.span,
        )?;
        Ok(FunctorBind {
            name: spec.name,
            functor: own.name,
            param,
            result,
        })
    }
}

fn same_params(a: &[TypeParam], b: &[TypeParam]) -> bool {
    a.len() == b.len()
        && a.iter().zip(b).all(|pair| match pair {
            (TypeParam::Size(_), TypeParam::Size(_)) => true,
            (TypeParam::Type(..), TypeParam::Type(..)) => true,
            (TypeParam::Size(_), TypeParam::Type(..))
            | (TypeParam::Type(..), TypeParam::Size(_)) => false,
        })
}
