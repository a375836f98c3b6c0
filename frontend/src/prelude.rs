//! The built-in names: operators, array operations, the numeric modules, and a library in the language itself.
//!
//! Nothing is read before it is used: a definition of the library is parsed and checked when a program first names it.

mod built_in;
mod library;
mod numeric;
mod operators;

pub use library::{Piece, library, operators as operator_pieces, sources};

use crate::diagnostic::Code;
use crate::source::Span;
use crate::syntax::ast::{self, DecKind};
use crate::syntax::{parse_program, parse_type_scheme};
use crate::typed::{Intrinsic, NameKind, ValueDef};
use crate::types::context::{Cx, Res, err};
use crate::types::env::{Env, Module, Sig, TypeAbbr};
use crate::types::infer::Infer;
use crate::types::infer::solve::PrimSet;
use crate::types::ty::{Name, Prim, RetType, Scheme, Sym, Type, TypeParam};
use midend::hash::{HashMap, HashSet};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The name of the file that the prelude is, in places.
pub const FILE: &str = midend::trap::LIBRARY;

const SOURCE: &str = include_str!("prelude/prelude.fut");

#[derive(Clone, Copy, PartialEq)]
enum Chunk {
    Val(&'static str),
    Def(&'static str),
    ModuleType(&'static str),
}

/// What of the prelude has been read.
pub(crate) struct Prelude {
    index: BTreeMap<&'static str, Chunk>,
    values: HashMap<Sym, Option<Name>>,
    modules: HashMap<Prim, Arc<Env>>,
    intrinsics: Option<Arc<Env>>,
    /// What each value of the module `seq` is, once it has been asked for.
    sequences: Option<Arc<Env>>,
    /// What goes through the result of an entry point, once the module has been asked for.
    drain: Option<Name>,
    /// The type of sequences and its parameter, once a program has named it.
    sequence: Option<(Name, Name)>,
    /// The type of accumulators and its parameter, once the module `intrinsics` has been read.
    accumulator: Option<(Name, Name)>,
    sigs: HashMap<Sym, Arc<Sig>>,
    /// The checked definitions, dependencies first.
    pub(crate) defs: Vec<Arc<ValueDef>>,
    overloads: HashMap<Name, PrimSet>,
    equalities: HashSet<Name>,
    logical: HashMap<Name, bool>,
}

impl Prelude {
    pub(crate) fn new() -> Prelude {
        Prelude {
            index: index(SOURCE),
            values: HashMap::default(),
            modules: HashMap::default(),
            intrinsics: None,
            sequences: None,
            drain: None,
            sequence: None,
            accumulator: None,
            sigs: HashMap::default(),
            defs: Vec::new(),
            overloads: HashMap::default(),
            equalities: HashSet::default(),
            logical: HashMap::default(),
        }
    }

    /// Every value's name.
    pub(crate) fn names(&self) -> impl Iterator<Item = &'static str> {
        self.index.keys().copied()
    }
}

/// The name of every value and module type of the library.
pub fn names() -> Vec<&'static str> {
    index(SOURCE).into_keys().collect()
}

/// The pieces of the library by name: each begins in the first column.
fn index(source: &'static str) -> BTreeMap<&'static str, Chunk> {
    pieces(source).into_iter().collect()
}

/// The same, in order.
fn pieces(source: &'static str) -> Vec<(&'static str, Chunk)> {
    slices(source).filter_map(piece).collect()
}

/// The lines of a library between those that begin with a small letter or a comment.
fn slices(source: &'static str) -> impl Iterator<Item = &'static str> {
    let mut starts: Vec<usize> = Vec::new();
    let mut at = 0;
    for line in source.split_inclusive('\n') {
        if line.starts_with(|c: char| c.is_ascii_lowercase()) || line.starts_with("--") {
            starts.push(at);
        }
        at += line.len();
    }
    starts.push(source.len());
    (1..starts.len()).map(move |i| &source[starts[i - 1]..starts[i]])
}

fn piece(slice: &'static str) -> Option<(&'static str, Chunk)> {
    let text = slice.trim_end();
    let name = |rest: &'static str| -> &'static str {
        rest.split_whitespace()
            .next()
            .unwrap_or("")
            .trim_start_matches('(')
            .trim_end_matches(')')
    };
    if let Some(rest) = text.strip_prefix("val ") {
        Some((name(rest), Chunk::Val(text)))
    } else if let Some(rest) = text.strip_prefix("def ") {
        Some((name(rest), Chunk::Def(text)))
    } else {
        let rest = text.strip_prefix("module type ")?;
        Some((name(rest), Chunk::ModuleType(text)))
    }
}

impl Cx<'_> {
    /// A value of the prelude.
    pub(crate) fn prelude_value(&mut self, name: &Sym) -> Res<Option<Name>> {
        if let Some(known) = self.prelude.values.get(name) {
            return Ok(*known);
        }
        let found = match operators::find(name) {
            Some(operator) => Some(self.operator(name, &operator)),
            None => match self.prelude.index.get(name.as_str()).copied() {
                Some(Chunk::Val(text)) => Some(self.in_prelude(|cx| cx.prelude_val(name, text))?),
                Some(Chunk::Def(text)) => Some(self.prelude_def(text, Vec::new())?),
                Some(Chunk::ModuleType(_)) | None => None,
            },
        };
        self.prelude.values.insert(name.clone(), found);
        Ok(found)
    }

    fn operator(&mut self, name: &str, operator: &operators::Operator) -> Name {
        let kind = NameKind::Intrinsic(Intrinsic {
            op: operator.op,
            prim: None,
        });
        let id = self.fresh(name, None, kind);
        let scheme = operators::scheme(self, operator);
        self.names.get_mut(id).scheme = Some(scheme);
        match operator.class {
            operators::Class::Over(set) => {
                self.prelude.overloads.insert(id, set);
            }
            operators::Class::Equality => {
                self.prelude.equalities.insert(id);
            }
            operators::Class::Logical { and } => {
                self.prelude.logical.insert(id, and);
            }
        }
        id
    }

    /// Runs where only the prelude is in scope.
    fn in_prelude<T>(&mut self, f: impl FnOnce(&mut Self) -> T) -> T {
        self.in_frames(Vec::new(), f)
    }

    fn in_frames<T>(&mut self, frames: Vec<Env>, f: impl FnOnce(&mut Self) -> T) -> T {
        let frames = std::mem::replace(&mut self.frames, frames);
        let out = f(self);
        self.frames = frames;
        out
    }

    fn prelude_val(&mut self, name: &Sym, text: &'static str) -> Res<Name> {
        let file = self.loader.sources().add(format!("prelude/{name}"), text);
        // `val f params : type` without the name is what the parser calls a type scheme.
        let rest = text
            .split_once(' ')
            .and_then(|(_, r)| r.split_once(' '))
            .map_or("", |(_, r)| r);
        let parsed = parse_type_scheme(file, rest).map_err(first)?;
        let scheme = self.type_scheme(&parsed.params, &parsed.ty)?;
        let op = operators::array_op(name).expect("every `val` of the prelude is in the table");
        let id = self.fresh(
            name,
            None,
            NameKind::Intrinsic(Intrinsic { op, prim: None }),
        );
        self.names.get_mut(id).scheme = Some(scheme);
        Ok(id)
    }

    fn prelude_def(&mut self, text: &'static str, frames: Vec<Env>) -> Res<Name> {
        let program = self.prelude_program(text)?;
        let Some(ast::Dec {
            kind: DecKind::Val(bind),
            attrs,
            span,
            ..
        }) = program.decs.first()
        else {
            return err(
                Code::BadSyntax,
                program.span,
                "a definition of the prelude was expected here",
            );
        };
        let def = self.in_frames(frames, |cx| cx.define(bind, attrs, *span))?;
        let name = def.name;
        self.prelude.defs.push(def);
        Ok(name)
    }

    fn prelude_program(&mut self, text: &'static str) -> Res<ast::Program> {
        let file = self.loader.sources().add(FILE, text);
        parse_program(file, text).map_err(first)
    }

    /// A type of the prelude.
    pub(crate) fn prelude_type(&mut self, name: &Sym) -> Option<TypeAbbr> {
        if *name == *"seq" {
            return Some(self.sequence());
        }
        Prim::from_name(name).map(|p| TypeAbbr::plain(Type::Prim(p)))
    }

    /// A module of the prelude.
    pub(crate) fn prelude_module(&mut self, name: &Sym) -> Option<Module> {
        if *name == *"intrinsics" {
            return self.intrinsics().ok().map(Module::Struct);
        }
        if *name == *"seq" {
            return self.sequences().ok().map(Module::Struct);
        }
        let p = Prim::from_name(name)?;
        let env = match self.prelude.modules.get(&p) {
            Some(env) => Arc::clone(env),
            None => {
                let env = numeric::shared(&mut self.names, p);
                self.prelude.modules.insert(p, Arc::clone(&env));
                env
            }
        };
        Some(Module::Struct(env))
    }

    /// A module type of the prelude.
    pub(crate) fn prelude_sig(&mut self, name: &Sym) -> Res<Option<Arc<Sig>>> {
        if let Some(sig) = self.prelude.sigs.get(name) {
            return Ok(Some(Arc::clone(sig)));
        }
        let Some(Chunk::ModuleType(text)) = self.prelude.index.get(name.as_str()).copied() else {
            return Ok(None);
        };
        let program = self.prelude_program(text)?;
        let Some(DecKind::ModType(bind)) = program.decs.first().map(|d| &d.kind) else {
            return Ok(None);
        };
        let sig = Arc::new(self.in_prelude(|cx| cx.sig_exp(&bind.body))?);
        self.prelude.sigs.insert(name.clone(), Arc::clone(&sig));
        Ok(Some(sig))
    }

    /// The scalar types that an overloaded operator is defined for.
    pub(crate) fn overload(&self, name: Name) -> Option<PrimSet> {
        self.prelude.overloads.get(&name).copied()
    }

    /// `==` and `!=`.
    pub(crate) fn is_equality(&self, name: Name) -> bool {
        self.prelude.equalities.contains(&name)
    }

    /// `&&` (true) or `||` (false).
    pub(crate) fn is_logical(&self, name: Name) -> Option<bool> {
        self.prelude.logical.get(&name).copied()
    }

    /// Whether a value's type has size parameters.
    pub(crate) fn has_sizes(&self, name: Name) -> bool {
        self.scheme(name).is_some_and(|s| !s.sizes.is_empty())
    }

    /// A polymorphic type as a specification writes it.
    pub(crate) fn type_scheme(
        &mut self,
        params: &[ast::TypeParam],
        te: &ast::TypeExp,
    ) -> Res<Scheme> {
        let mut infer = Infer::new(self);
        let params = infer.type_params(params)?;
        let t = infer.type_exp(te)?;
        let ret = infer.close_type(&t)?;
        let mut scheme = Scheme {
            types: Vec::new(),
            sizes: Vec::new(),
            ty: value_type(&ret),
        };
        for p in params {
            match p {
                TypeParam::Size(n) => scheme.sizes.push(n),
                TypeParam::Type(n, l) => scheme.types.push((n, l)),
            }
        }
        Ok(scheme)
    }
}

/// A type whose open sizes are names of their own.
fn value_type(ret: &RetType) -> Type {
    ret.ty.clone()
}

fn first(mut ds: Vec<crate::diagnostic::Diagnostic>) -> Box<crate::diagnostic::Diagnostic> {
    let d = if ds.is_empty() {
        None
    } else {
        Some(ds.swap_remove(0))
    };
    Box::new(d.unwrap_or_else(|| {
        crate::diagnostic::Diagnostic::error(
            Code::BadSyntax,
            Span::default(),
            "the prelude cannot be read",
        )
    }))
}
