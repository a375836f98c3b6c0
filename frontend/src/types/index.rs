//! What an editor asks about: every use of a name with its definition, where local names are in scope, and what each module has.
//!
//! The checker notes these while it resolves names, where somebody requests them ([`analyse`]); nothing resolves names a second
//! time.

use super::context::Cx;
use super::env::{Env, Module};
use super::ty::{Name, Prim, RetType, Scheme, Sym, Type};
use super::{Loader, context, print};
use crate::diagnostic::Diagnostic;
use crate::source::{FileId, Span};
use crate::syntax::ast;
use crate::typed::{File, Names, ValueDef};
use std::sync::Arc;

/// What kind of thing a name stands for.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Space {
    /// A value, a function or a size.
    Value,
    /// A type.
    Type,
    /// A module.
    Module,
    /// A module type.
    ModuleType,
}

/// A name where it stands, at its definition or elsewhere.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Use {
    /// Where it stands.
    pub at: Span,
    /// Where what it means is defined; `None` for what is built in.
    pub definition: Option<Span>,
    /// What kind of thing that is.
    pub space: Space,
    /// The id of a value.
    pub name: Option<Name>,
    /// Whether it is also the name of a field, `{x}`.
    pub is_field: bool,
}

/// A local name and where it is in scope.
#[derive(Clone, Copy, Debug)]
pub struct Local {
    /// Its id.
    pub name: Name,
    /// Where it is defined; it is in scope behind that.
    pub definition: Span,
    /// Up to where it is in scope.
    pub end: u32,
}

/// What the checker noted.
#[derive(Default)]
pub struct Index {
    /// Names, in order of position.
    pub uses: Vec<Use>,
    /// Local names.
    pub locals: Vec<Local>,
    /// Those whose end is not known yet.
    open: Vec<usize>,
    /// What is in scope at the end of the program's own file.
    pub(crate) scope: Env,
}

/// The names of a module.
#[derive(Clone, Debug, Default)]
pub struct Outline {
    /// Values and functions.
    pub values: Vec<(Sym, Name)>,
    /// Types.
    pub types: Vec<Sym>,
    /// Modules; a parametric one shows nothing.
    pub modules: Vec<(Sym, Outline)>,
    /// Module types.
    pub module_types: Vec<Sym>,
}

/// What is known of a program, whether it is right or not.
pub struct Analysis {
    /// What each id stands for.
    pub names: Names,
    /// The files with the declarations that are right, imported ones first.
    pub files: Vec<File>,
    /// The definitions of the prelude that it uses.
    pub prelude: Vec<Arc<ValueDef>>,
    /// What is wrong, and warnings.
    pub diagnostics: Vec<Diagnostic>,
    /// Uses and local names.
    pub index: Index,
    /// What is in scope at the end of its own file.
    pub scope: Outline,
    /// The modules of the prelude.
    pub built_in: Outline,
}

/// Checks a program as [`super::check`] does, and keeps what an editor asks about.
pub fn analyse(file: FileId, program: &ast::Program, loader: &mut dyn Loader) -> Analysis {
    let mut cx = Cx::new(loader, file);
    cx.index = Some(Box::default());
    cx.file(file, program);
    let mut index = *cx.index.take().unwrap_or_default();
    index.uses.sort();
    index
        .uses
        .dedup_by_key(|one| (one.at, one.definition, one.space));
    let prelude = Prim::ALL.iter().map(|prim| prim.name());
    let mut built_in = Outline::default();
    for module in prelude.chain(["seq"]) {
        let name = Sym::from(module);
        if let Some(Module::Struct(env)) = cx.prelude_module(&name) {
            built_in.modules.push((name, Outline::of(&env)));
        }
    }
    Analysis {
        scope: Outline::of(&index.scope),
        built_in,
        names: cx.names,
        files: cx.typed_files,
        prelude: cx.prelude.defs,
        diagnostics: cx.diags,
        index,
    }
}

impl Outline {
    fn of(env: &Env) -> Outline {
        let module = |(name, module): (&Sym, &Module)| {
            let outline = match module {
                Module::Struct(env) => Outline::of(env),
                Module::Functor(_) => Outline::default(),
            };
            (name.clone(), outline)
        };
        let values = env.values.iter();
        Outline {
            values: values.map(|(name, id)| (name.clone(), *id)).collect(),
            types: env.types.keys().cloned().collect(),
            modules: env.modules.iter().map(module).collect(),
            module_types: env.sigs.keys().cloned().collect(),
        }
    }

    /// The module that a path leads to.
    pub fn module<'a>(&'a self, path: &[&str]) -> Option<&'a Outline> {
        let Some((first, rest)) = path.split_first() else {
            return Some(self);
        };
        let found = self.modules.iter().find(|(name, _)| **name == **first);
        found?.1.module(rest)
    }
}

impl Names {
    /// A type as the source writes it.
    pub fn type_text(&self, ty: &Type) -> String {
        print::ty(self, ty)
    }

    /// A result type as the source writes it.
    pub fn result_text(&self, ret: &RetType) -> String {
        print::ret(self, ret)
    }

    /// A polymorphic type as the source writes it.
    pub fn scheme_text(&self, scheme: &Scheme) -> String {
        print::scheme(self, scheme)
    }
}

impl Index {
    /// Ends the scope of the local names that were bound since there were `open` without an end.
    fn close(&mut self, open: usize, end: u32) {
        for at in self.open.drain(open.min(self.open.len())..) {
            self.locals[at].end = end;
        }
    }
}

impl context::Cx<'_> {
    /// Notes what a name means.
    pub(crate) fn note(&mut self, at: Span, space: Space, definition: Option<Span>) {
        self.note_use(at, space, definition, None);
    }

    fn note_use(&mut self, at: Span, space: Space, definition: Option<Span>, name: Option<Name>) {
        if let Some(index) = &mut self.index {
            index.uses.push(Use {
                at,
                definition,
                space,
                name,
                is_field: false,
            });
        }
    }

    /// Notes what the name of a value means.
    pub(crate) fn note_value(&mut self, at: Span, name: Name) {
        if self.index.is_some() {
            let definition = self.names.get(name).span;
            self.note_use(at, Space::Value, definition, Some(name));
        }
    }

    /// Notes that the name that was noted last is also that of a field.
    pub(crate) fn note_field(&mut self, at: Span) {
        let index = self.index.as_mut();
        if let Some(last) = index.and_then(|index| index.uses.last_mut())
            && last.at == at
        {
            last.is_field = true;
        }
    }

    /// Notes a local name at its definition.
    pub(crate) fn note_local(&mut self, at: Span, name: Name) {
        self.note_value(at, name);
        if let Some(index) = &mut self.index {
            index.open.push(index.locals.len());
            index.locals.push(Local {
                name,
                definition: at,
                end: at.hi,
            });
        }
    }

    /// How many local names have no end yet.
    pub(crate) fn open_locals(&self) -> usize {
        self.index.as_ref().map_or(0, |index| index.open.len())
    }

    /// Ends the scope of local names.
    pub(crate) fn close_locals(&mut self, open: usize, end: u32) {
        if let Some(index) = &mut self.index {
            index.close(open, end);
        }
    }

    /// Where a module, a type or a module type that has a plain name is defined.
    pub(crate) fn site(&self, space: Space, name: &Sym) -> Option<Span> {
        let frames = self.frames.iter().rev();
        frames.filter_map(|frame| frame.site(space, name)).next()
    }

    /// Notes a part of a path of modules.
    pub(crate) fn note_module(&mut self, qual: &ast::Ident, within: Option<&Env>) {
        self.note_last(Space::Module, qual, within);
    }

    /// Notes the last part of a path into a module, or a plain name.
    pub(crate) fn note_last(&mut self, space: Space, ident: &ast::Ident, within: Option<&Env>) {
        if self.index.is_some() {
            let site = match within {
                None => self.site(space, &ident.name),
                Some(env) => env.site(space, &ident.name),
            };
            self.note(ident.span, space, site);
        }
    }

    /// Says where something of the innermost structure is defined.
    pub(crate) fn define_site(&mut self, space: Space, ident: &ast::Ident) {
        self.note(ident.span, space, Some(ident.span));
        self.frame().put_site(space, ident);
    }
}
