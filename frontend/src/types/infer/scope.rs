//! Local scopes of the first pass.

use crate::source::Span;
use crate::types::env::{Env, TypeAbbr};
use crate::types::index::Space;
use crate::types::ty::{Name, Scheme, Sym, Type};
use midend::hash::HashMap;
use std::sync::Arc;

/// What a local name means.
#[derive(Clone, Debug)]
pub(crate) enum Local {
    /// A variable of one type.
    Mono(Name, Type),
    /// A local function with type parameters; the scheme has no sizes.
    Poly(Name, Arc<Scheme>),
}

/// A stack of bindings with an undo log.
#[derive(Default)]
pub(crate) struct Scope {
    values: HashMap<Sym, Vec<(usize, Local)>>,
    types: HashMap<Sym, Vec<(usize, TypeAbbr)>>,
    opened: Vec<(usize, Arc<Env>)>,
    log: Vec<Undo>,
}

enum Undo {
    Value(Sym),
    Type(Sym),
    Open,
}

/// What a name was found to mean.
pub(crate) enum Found {
    Local(Local),
    Opened(Name),
    Nothing,
}

impl Scope {
    /// Where to come back to.
    pub(crate) fn mark(&self) -> usize {
        self.log.len()
    }

    /// Forgets what was bound since.
    pub(crate) fn reset(&mut self, mark: usize) {
        while self.log.len() > mark {
            match self.log.pop() {
                Some(Undo::Value(sym)) => {
                    if let Some(stack) = self.values.get_mut(&sym) {
                        stack.pop();
                    }
                }
                Some(Undo::Type(sym)) => {
                    if let Some(stack) = self.types.get_mut(&sym) {
                        stack.pop();
                    }
                }
                Some(Undo::Open) => {
                    self.opened.pop();
                }
                None => {}
            }
        }
    }

    pub(crate) fn bind(&mut self, sym: Sym, local: Local) {
        let at = self.log.len();
        self.values
            .entry(sym.clone())
            .or_default()
            .push((at, local));
        self.log.push(Undo::Value(sym));
    }

    pub(crate) fn bind_type(&mut self, sym: Sym, abbr: TypeAbbr) {
        let at = self.log.len();
        self.types.entry(sym.clone()).or_default().push((at, abbr));
        self.log.push(Undo::Type(sym));
    }

    pub(crate) fn open(&mut self, env: Arc<Env>) {
        self.opened.push((self.log.len(), env));
        self.log.push(Undo::Open);
    }

    pub(crate) fn value(&self, sym: &Sym) -> Found {
        let local = self.values.get(sym).and_then(|s| s.last());
        let opened = self
            .opened
            .iter()
            .rev()
            .find_map(|(at, env)| env.values.get(sym).map(|v| (*at, *v)));
        match (local, opened) {
            (Some((at, local)), Some((open_at, _))) if *at > open_at => Found::Local(local.clone()),
            (_, Some((_, v))) => Found::Opened(v),
            (Some((_, local)), None) => Found::Local(local.clone()),
            (None, None) => Found::Nothing,
        }
    }

    pub(crate) fn ty(&self, sym: &Sym) -> Option<TypeAbbr> {
        let local = self.types.get(sym).and_then(|s| s.last());
        let opened = self
            .opened
            .iter()
            .rev()
            .find_map(|(at, env)| env.types.get(sym).map(|t| (*at, t)));
        match (local, opened) {
            (Some((at, local)), Some((open_at, _))) if *at > open_at => Some(local.clone()),
            (_, Some((_, t))) => Some(t.clone()),
            (Some((_, local)), None) => Some(local.clone()),
            (None, None) => None,
        }
    }

    /// A module that a local open brought into scope.
    pub(crate) fn module(&self, sym: &Sym) -> Option<crate::types::env::Module> {
        self.opened
            .iter()
            .rev()
            .find_map(|(_, env)| env.modules.get(sym).cloned())
    }

    /// Where such a module is defined.
    pub(crate) fn module_site(&self, sym: &Sym) -> Option<Span> {
        let opened = self.opened.iter().rev();
        let mut sites = opened.filter_map(|(_, env)| env.site(Space::Module, sym));
        sites.next()
    }

    /// Every value name in scope, for suggestions.
    pub(crate) fn names(&self) -> impl Iterator<Item = &Sym> {
        self.values
            .iter()
            .filter(|(_, s)| !s.is_empty())
            .map(|(k, _)| k)
    }
}
