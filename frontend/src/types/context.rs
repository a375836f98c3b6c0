//! The state of a whole check: names, diagnostics, the modules in scope.

use super::env::{Env, Module, Sig, TypeAbbr};
use super::index::Space;
use super::ty::{Name, Scheme, Sym};
use crate::diagnostic::{Code, Diagnostic};
use crate::near::{GUESSES, near};
use crate::prelude::Prelude;
use crate::source::{FileId, SourceMap, Span};
use crate::syntax::ast;
use crate::typed::{NameInfo, NameKind, Names};
use midend::hash::{HashMap, HashSet};
use std::collections::BTreeMap;
use std::sync::Arc;

/// A result of checking; what went wrong is a message for the user.
pub(crate) type Res<T> = Result<T, Box<Diagnostic>>;

/// Where imported files come from. The checker itself reads nothing.
pub trait Loader {
    /// The source texts; the texts of the prelude are added to them.
    fn sources(&mut self) -> &mut SourceMap;

    /// The file that `import "path"` means in the file `from`; the same file must get the same number each time. The text is in
    /// [`Loader::sources`] afterwards. The error is one sentence that says why there is none.
    ///
    /// # Errors
    /// When there is no such file or it cannot be read.
    fn load(&mut self, from: FileId, path: &str) -> Result<FileId, String>;

    /// Values for tuning parameters: what `#[param(name)]` marks has the value of that name, if there is one.
    fn parameters(&self) -> BTreeMap<String, i64> {
        BTreeMap::new()
    }

    /// Whether the target shows what is traced inside of parallel operations, too; else a warning says that it does not.
    fn traces_in_parallel(&self) -> bool {
        false
    }

    /// Whether the target computes derivatives in reverse mode; else they are refused.
    fn computes_gradients(&self) -> bool {
        false
    }
}

/// The state.
pub(crate) struct Cx<'a> {
    pub(crate) names: Names,
    pub(crate) diags: Vec<Diagnostic>,
    pub(crate) loader: &'a mut dyn Loader,
    /// Environments of the enclosing structures, innermost last. Behind all is the prelude.
    pub(crate) frames: Vec<Env>,
    pub(crate) prelude: Prelude,
    /// Definitions that had errors: uses of them say nothing more.
    pub(crate) poisoned: HashSet<Name>,
    /// Sizes that the evaluation of a value computes, by the value.
    pub(crate) value_exts: HashMap<Name, Vec<Name>>,
    /// Loop parameters whose written type is not unique: the loop must not consume them.
    pub(crate) kept: HashSet<Name>,
    /// Type parameters and abstract types that are lifted.
    pub(crate) lifts: HashMap<Name, super::ty::Lift>,
    /// Files that have been checked, or (without a module) are being checked.
    pub(crate) files: BTreeMap<FileId, Option<Arc<Env>>>,
    pub(crate) typed_files: Vec<crate::typed::File>,
    pub(crate) entries: Vec<crate::typed::Entry>,
    /// The file at hand.
    pub(crate) file: FileId,
    /// The program itself.
    pub(crate) main: Option<FileId>,
    /// Abstract types that came into being in the body of the functor at hand.
    pub(crate) created: Vec<super::env::Abs>,
    /// Whether some type has an irregular dimension.
    pub(crate) irregular: bool,
    /// What an editor asks about, if one asks.
    pub(crate) index: Option<Box<super::index::Index>>,
}

/// A shorter way to an error.
pub(crate) fn err<T>(code: Code, span: Span, message: impl Into<String>) -> Res<T> {
    Err(Box::new(Diagnostic::error(code, span, message)))
}

impl<'a> Cx<'a> {
    /// The state at the start of a check.
    pub(crate) fn new(loader: &'a mut dyn Loader, main: FileId) -> Cx<'a> {
        Cx {
            names: Names::default(),
            diags: Vec::new(),
            loader,
            frames: Vec::new(),
            prelude: Prelude::new(),
            poisoned: HashSet::default(),
            kept: HashSet::default(),
            value_exts: HashMap::default(),
            lifts: HashMap::default(),
            files: BTreeMap::new(),
            typed_files: Vec::new(),
            entries: Vec::new(),
            file: main,
            main: Some(main),
            created: Vec::new(),
            irregular: false,
            index: None,
        }
    }
}

impl Cx<'_> {
    /// A new id.
    pub(crate) fn fresh(&mut self, text: &str, span: Option<Span>, kind: NameKind) -> Name {
        self.names.fresh(NameInfo {
            text: text.to_owned(),
            span,
            kind,
            scheme: None,
        })
    }

    /// A new id for an identifier of the source.
    pub(crate) fn fresh_ident(&mut self, ident: &ast::Ident, kind: NameKind) -> Name {
        self.fresh(&ident.name, Some(ident.span), kind)
    }

    pub(crate) fn scheme(&self, name: Name) -> Option<&Scheme> {
        self.names.get(name).scheme.as_ref()
    }

    pub(crate) fn warn(&mut self, code: Code, span: Span, message: impl Into<String>) {
        self.diags.push(Diagnostic::warning(code, span, message));
    }

    pub(crate) fn text(&mut self, span: Span) -> String {
        self.loader.sources().text(span).to_owned()
    }

    /// The innermost structure being checked.
    pub(crate) fn frame(&mut self) -> &mut Env {
        if self.frames.is_empty() {
            self.frames.push(Env::default());
        }
        self.frames.last_mut().expect("a frame was just pushed")
    }

    /// A value by its plain name.
    pub(crate) fn global_value(&mut self, name: &Sym) -> Res<Option<Name>> {
        for frame in self.frames.iter().rev() {
            if let Some(v) = frame.values.get(name) {
                return Ok(Some(*v));
            }
            if frame.modules.contains_key(name) {
                return Ok(None);
            }
        }
        self.prelude_value(name)
    }

    /// A type by its plain name.
    pub(crate) fn global_type(&mut self, name: &Sym) -> Option<TypeAbbr> {
        let found = self.frames.iter().rev().find_map(|f| f.types.get(name));
        found.cloned().or_else(|| self.prelude_type(name))
    }

    /// A module by its plain name.
    pub(crate) fn global_module(&mut self, name: &Sym) -> Option<Module> {
        for frame in self.frames.iter().rev() {
            if let Some(module) = frame.modules.get(name) {
                return Some(module.clone());
            }
            // A value hides a module of its name.
            if frame.values.contains_key(name) {
                return None;
            }
        }
        self.prelude_module(name)
    }

    /// A module type by its plain name.
    pub(crate) fn global_sig(&mut self, name: &Sym) -> Res<Option<Arc<Sig>>> {
        let found = self.frames.iter().rev().find_map(|f| f.sigs.get(name));
        match found {
            Some(sig) => Ok(Some(Arc::clone(sig))),
            None => self.prelude_sig(name),
        }
    }

    /// The structure that a path of module names leads to.
    pub(crate) fn path(&mut self, quals: &[ast::Ident]) -> Res<Option<Arc<Env>>> {
        let mut at: Option<Arc<Env>> = None;
        for qual in quals {
            let module = match &at {
                None => self.global_module(&qual.name),
                Some(env) => env.modules.get(&qual.name).cloned(),
            };
            self.note_module(qual, at.as_deref());
            at = Some(structure(module, qual)?);
        }
        Ok(at)
    }

    /// A qualified type.
    pub(crate) fn type_abbr(&mut self, name: &ast::QualName) -> Res<TypeAbbr> {
        let path = self.path(&name.quals)?;
        self.note_last(Space::Type, &name.name, path.as_deref());
        let found = match path {
            None => self.global_type(&name.name.name),
            Some(env) => env.types.get(&name.name.name).cloned(),
        };
        found.ok_or_else(|| self.unknown("type", name, &self.near_types(&name.name.name)))
    }

    /// A qualified module.
    pub(crate) fn module(&mut self, name: &ast::QualName) -> Res<Module> {
        let path = self.path(&name.quals)?;
        self.note_last(Space::Module, &name.name, path.as_deref());
        let found = match path {
            None => self.global_module(&name.name.name),
            Some(env) => env.modules.get(&name.name.name).cloned(),
        };
        found.ok_or_else(|| {
            let near = near(
                &name.name.name,
                self.frames.iter().flat_map(|f| f.modules.keys()),
            );
            self.unknown("module", name, &near)
        })
    }

    /// A qualified module type.
    pub(crate) fn sig(&mut self, name: &ast::QualName) -> Res<Arc<Sig>> {
        let path = self.path(&name.quals)?;
        self.note_last(Space::ModuleType, &name.name, path.as_deref());
        let found = match path {
            None => self.global_sig(&name.name.name)?,
            Some(env) => env.sigs.get(&name.name.name).cloned(),
        };
        found.ok_or_else(|| {
            let near = near(
                &name.name.name,
                self.frames.iter().flat_map(|f| f.sigs.keys()),
            );
            self.unknown("module type", name, &near)
        })
    }

    fn near_types(&self, name: &str) -> Option<String> {
        if self.diags.len() >= GUESSES {
            return None;
        }
        near(name, self.frames.iter().flat_map(|f| f.types.keys()))
    }

    /// The message for a name that is not in scope.
    pub(crate) fn unknown(
        &self,
        what: &str,
        name: &ast::QualName,
        near: &Option<String>,
    ) -> Box<Diagnostic> {
        let message = format!("unknown {what} `{name}`");
        let d =
            Diagnostic::error(Code::UnknownName, name.span(), message).label("not in scope here");
        Box::new(match near {
            Some(near) => d.hint(format!("did you mean `{near}`?")),
            None => d,
        })
    }
}

/// A module that must be a structure.
pub(crate) fn structure(module: Option<Module>, qual: &ast::Ident) -> Res<Arc<Env>> {
    match module {
        Some(Module::Struct(env)) => Ok(env),
        Some(Module::Functor(_)) => err(
            Code::BadModule,
            qual.span,
            format!(
                "the module `{}` is parametric and has no members before it is applied",
                qual.name
            ),
        ),
        None => err(
            Code::UnknownName,
            qual.span,
            format!("unknown module `{}`", qual.name),
        ),
    }
}
