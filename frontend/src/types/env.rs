//! Environments: what names mean at the level of modules.

use super::index::Space;
use super::subst::TypeFun;
use super::ty::{Lift, Name, RetType, Sym, Type, TypeParam};
use crate::source::Span;
use crate::syntax::ast::Ident;
use std::collections::BTreeMap;
use std::sync::Arc;

/// What a structure defines.
#[derive(Clone, Debug, Default)]
pub(crate) struct Env {
    pub(crate) values: BTreeMap<Sym, Name>,
    pub(crate) types: BTreeMap<Sym, TypeAbbr>,
    pub(crate) modules: BTreeMap<Sym, Module>,
    pub(crate) sigs: BTreeMap<Sym, Arc<Sig>>,
    /// Where types, modules and module types are defined; an id tells it of a value.
    pub(crate) sites: BTreeMap<(Space, Sym), Span>,
}

/// What a type name means; an abstract type means itself.
#[derive(Clone, Debug)]
pub(crate) struct TypeAbbr {
    pub(crate) lift: Lift,
    pub(crate) fun: TypeFun,
}

/// A module.
#[derive(Clone, Debug)]
pub(crate) enum Module {
    Struct(Arc<Env>),
    Functor(Arc<FunctorSig>),
}

/// A parametric module: its parameter's abstract types are bound in both signatures, the result's only in `result`.
#[derive(Clone, Debug)]
pub(crate) struct FunctorSig {
    /// The id that is bound to the closure.
    pub(crate) name: Name,
    pub(crate) param: Sig,
    pub(crate) result: Sig,
}

/// A module type: a module whose `abs` are to be replaced.
#[derive(Clone, Debug)]
pub(crate) struct Sig {
    pub(crate) abs: Vec<Abs>,
    pub(crate) module: Module,
}

/// An abstract type.
#[derive(Clone, Debug)]
pub(crate) struct Abs {
    pub(crate) name: Name,
    pub(crate) lift: Lift,
    pub(crate) params: Vec<TypeParam>,
}

impl TypeAbbr {
    /// A type without parameters that hides nothing.
    pub(crate) fn plain(ty: Type) -> TypeAbbr {
        let rhs = RetType {
            exts: Vec::new(),
            ty,
        };
        TypeAbbr {
            lift: Lift::Plain,
            fun: TypeFun {
                params: Vec::new(),
                rhs,
            },
        }
    }
}

impl Env {
    /// Defines a value. Values and modules share their names.
    pub(crate) fn add_value(&mut self, sym: Sym, name: Name) {
        self.modules.remove(&sym);
        self.values.insert(sym, name);
    }

    /// Defines a module.
    pub(crate) fn add_module(&mut self, sym: Sym, module: Module) {
        self.values.remove(&sym);
        self.modules.insert(sym, module);
    }

    /// Says where a type, a module or a module type is defined.
    pub(crate) fn put_site(&mut self, space: Space, ident: &Ident) {
        self.sites.insert((space, ident.name.clone()), ident.span);
    }

    /// Where one is defined.
    pub(crate) fn site(&self, space: Space, name: &Sym) -> Option<Span> {
        self.sites.get(&(space, name.clone())).copied()
    }

    /// Adds all of another environment; its names win.
    pub(crate) fn extend(&mut self, other: &Env) {
        for (sym, name) in &other.values {
            self.add_value(sym.clone(), *name);
        }
        for (sym, module) in &other.modules {
            self.add_module(sym.clone(), module.clone());
        }
        self.types
            .extend(other.types.iter().map(|(k, v)| (k.clone(), v.clone())));
        let sites = other.sites.iter();
        self.sites.extend(sites.map(|(k, v)| (k.clone(), *v)));
        self.sigs
            .extend(other.sigs.iter().map(|(k, v)| (k.clone(), v.clone())));
    }
}
