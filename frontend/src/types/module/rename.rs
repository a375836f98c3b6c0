//! Fresh copies of modules: every value, abstract type and functor gets a new id, and a binding of the new to the old.

use crate::typed::{
    FunctorBind, Inst, ModuleBinds, NameInfo, NameKind, Scheme, TypeBind, ValueBind,
};
use crate::types::context::Cx;
use crate::types::env::{Abs, Env, FunctorSig, Module, Sig, TypeAbbr};
use crate::types::subst::{Subst, TypeFun, fresh_size};
use crate::types::ty::{Name, NamedType, RetType, Size, Type, TypeArg, TypeParam};
use std::sync::Arc;

/// A renaming under way.
#[derive(Default)]
pub(crate) struct Renaming {
    pub(crate) subst: Subst,
    /// New ids := old ids.
    pub(crate) binds: ModuleBinds,
}

impl Renaming {
    /// Puts in what a list of bindings says.
    pub(crate) fn follow(&mut self, binds: &ModuleBinds) {
        for t in &binds.types {
            let rhs = RetType {
                exts: t.exts.clone(),
                ty: t.rhs.clone(),
            };
            self.subst.types.insert(
                t.name,
                TypeFun {
                    params: t.params.clone(),
                    rhs,
                },
            );
        }
        for v in &binds.values {
            self.subst.values.insert(v.name, v.value);
        }
    }
}

/// The type parameters of a declaration as arguments.
pub(crate) fn params_as_args(params: &[TypeParam]) -> Vec<TypeArg> {
    params
        .iter()
        .map(|p| match p {
            TypeParam::Size(n) => TypeArg::Size(Size::name(*n)),
            TypeParam::Type(n, _) => TypeArg::Type(Type::named(*n)),
        })
        .collect()
}

/// An abstract type applied to its own parameters.
pub(crate) fn abstract_type(name: Name, params: &[TypeParam]) -> Type {
    Type::Named(Arc::new(NamedType {
        name,
        args: params_as_args(params),
        unique: false,
    }))
}

/// The instance of a scheme at its own parameters.
pub(crate) fn identity(scheme: &Scheme) -> Inst {
    Inst {
        types: scheme.types.iter().map(|(n, _)| Type::named(*n)).collect(),
        sizes: scheme.sizes.iter().map(|n| Size::name(*n)).collect(),
    }
}

impl Cx<'_> {
    /// A copy of a module type with ids of its own.
    pub(crate) fn fresh_sig(&mut self, sig: &Sig) -> Sig {
        let mut renaming = Renaming::default();
        let abs = self.rename_abs(&sig.abs, &mut renaming);
        let module = self.rename_module(&sig.module, &mut renaming);
        Sig { abs, module }
    }

    /// New ids for abstract types.
    pub(crate) fn rename_abs(&mut self, abs: &[Abs], renaming: &mut Renaming) -> Vec<Abs> {
        let mut out = Vec::new();
        for a in abs {
            let text = self.names.text(a.name).to_owned();
            let span = self.names.get(a.name).span;
            let name = self.fresh(&text, span, NameKind::Type);
            self.lifts.insert(name, a.lift);
            let new = RetType {
                exts: Vec::new(),
                ty: abstract_type(name, &a.params),
            };
            renaming.subst.types.insert(
                a.name,
                TypeFun {
                    params: a.params.clone(),
                    rhs: new,
                },
            );
            renaming.binds.types.push(TypeBind {
                name,
                params: a.params.clone(),
                exts: Vec::new(),
                rhs: abstract_type(a.name, &a.params),
            });
            out.push(Abs {
                name,
                lift: a.lift,
                params: a.params.clone(),
            });
        }
        out
    }

    /// The copy of a module.
    pub(crate) fn rename_module(&mut self, module: &Module, renaming: &mut Renaming) -> Module {
        self.allocate(module, renaming);
        self.rebuild_module(module, renaming)
    }

    fn allocate(&mut self, module: &Module, renaming: &mut Renaming) {
        let Module::Struct(env) = module else { return };
        for old in env.values.values() {
            if renaming.subst.values.contains_key(old) {
                continue;
            }
            let info = self.names.get(*old);
            let info = NameInfo {
                text: info.text.clone(),
                span: info.span,
                kind: NameKind::Value,
                scheme: None,
            };
            let new = self.names.fresh(info);
            if self.poisoned.contains(old) {
                self.poisoned.insert(new);
            }
            renaming.subst.values.insert(*old, new);
            // Each copy computes its sizes anew.
            if let Some(exts) = self.value_exts.get(old).cloned() {
                let mut fresh = Vec::new();
                for ext in exts {
                    let size = fresh_size(&mut self.names, ext);
                    renaming.subst.sizes.insert(ext, Size::name(size));
                    fresh.push(size);
                }
                self.value_exts.insert(new, fresh);
            }
        }
        env.modules
            .values()
            .for_each(|m| self.allocate(m, renaming));
    }

    fn rebuild_module(&mut self, module: &Module, renaming: &mut Renaming) -> Module {
        match module {
            Module::Struct(env) => Module::Struct(Arc::new(self.rebuild_env(env, renaming))),
            Module::Functor(f) => Module::Functor(Arc::new(self.rebuild_functor(f, renaming))),
        }
    }

    fn rebuild_env(&mut self, env: &Env, renaming: &mut Renaming) -> Env {
        let mut out = Env {
            sigs: env.sigs.clone(),
            sites: env.sites.clone(),
            ..Env::default()
        };
        for (sym, old) in &env.values {
            let new = renaming.subst.values[old];
            out.values.insert(sym.clone(), new);
            if self.scheme(new).is_some() {
                continue;
            }
            let Some(scheme) = self.scheme(*old).cloned() else {
                continue;
            };
            let inst = identity(&scheme);
            let scheme = self.subst_scheme(&renaming.subst, &scheme);
            self.names.get_mut(new).scheme = Some(scheme.clone());
            renaming.binds.values.push(ValueBind {
                name: new,
                scheme,
                value: *old,
                inst,
            });
        }
        for (sym, abbr) in &env.types {
            let abbr = self.subst_abbr(&renaming.subst, abbr);
            out.types.insert(sym.clone(), abbr);
        }
        for (sym, module) in &env.modules {
            let module = self.rebuild_module(module, renaming);
            out.modules.insert(sym.clone(), module);
        }
        for sig in out.sigs.values_mut() {
            let mut inner = Renaming {
                subst: renaming.subst.clone(),
                ..Renaming::default()
            };
            let abs = self.rename_abs(&sig.abs, &mut inner);
            let module = self.rename_module(&sig.module, &mut inner);
            *sig = Arc::new(Sig { abs, module });
        }
        out
    }

    /// The new functor's parameter and result have ids of their own; the binding adapts them to the old ones.
    fn rebuild_functor(&mut self, old: &FunctorSig, renaming: &mut Renaming) -> FunctorSig {
        let text = self.names.text(old.name).to_owned();
        let span = self.names.get(old.name).span;
        let name = self.fresh(&text, span, NameKind::Functor);
        let mut inner = Renaming {
            subst: renaming.subst.clone(),
            ..Renaming::default()
        };
        let abs = self.rename_abs(&old.param.abs, &mut inner);
        let module = self.rename_module(&old.param.module, &mut inner);
        let param = Sig { abs, module };
        // Inside, the old parameter is bound from the new one: the lists the other way round.
        let param_binds = inverse(std::mem::take(&mut inner.binds), self);
        let abs = self.rename_abs(&old.result.abs, &mut inner);
        let module = self.rename_module(&old.result.module, &mut inner);
        let result = Sig { abs, module };
        renaming.binds.functors.push(FunctorBind {
            name,
            functor: old.name,
            param: param_binds,
            result: inner.binds,
        });
        FunctorSig {
            name,
            param,
            result,
        }
    }

    /// The scheme with a substitution; sizes that a lifted type hides become parameters where no result binds them.
    pub(crate) fn subst_scheme(&mut self, subst: &Subst, scheme: &Scheme) -> Scheme {
        let mut hidden = Vec::new();
        let ty = subst.ty(&mut self.names, &scheme.ty, &mut hidden);
        let mut sizes = scheme.sizes.clone();
        sizes.extend(hidden);
        Scheme {
            types: scheme.types.clone(),
            sizes,
            ty,
        }
    }

    pub(crate) fn subst_abbr(&mut self, subst: &Subst, abbr: &TypeAbbr) -> TypeAbbr {
        let rhs = subst.ret(&mut self.names, &abbr.fun.rhs);
        TypeAbbr {
            lift: abbr.lift,
            fun: TypeFun {
                params: abbr.fun.params.clone(),
                rhs,
            },
        }
    }
}

/// Old ids := new ids.
fn inverse(binds: ModuleBinds, cx: &Cx<'_>) -> ModuleBinds {
    ModuleBinds {
        types: binds
            .types
            .into_iter()
            .map(|t| {
                let old = if let Type::Named(n) = &t.rhs {
                    n.name
                } else {
                    t.name
                };
                TypeBind {
                    name: old,
                    exts: Vec::new(),
                    rhs: abstract_type(t.name, &t.params),
                    params: t.params,
                }
            })
            .collect(),
        values: binds
            .values
            .into_iter()
            .map(|v| {
                let scheme = cx.scheme(v.value).cloned().unwrap_or(v.scheme);
                ValueBind {
                    name: v.value,
                    inst: identity(&scheme),
                    scheme,
                    value: v.name,
                }
            })
            .collect(),
        functors: binds
            .functors
            .into_iter()
            .map(|f| FunctorBind {
                name: f.functor,
                functor: f.name,
                param: f.result,
                result: f.param,
            })
            .collect(),
    }
}
