//! The typed program: what the checker hands to lowering. Data only.
//!
//! Names are resolved to dense ids, types are complete, sugar is gone as far as that is cheap. The meaning of the module
//! level is *evaluation with environments*: an environment binds ids to values, types and functors; declarations are
//! evaluated in order and extend it; a functor is a closure over the environment in which its declaration was evaluated.
//! A functor's body is checked (and written here) once; each application evaluates it again in an environment that binds the
//! parameter's ids by [`ModuleBinds`], and then binds the ids of the result.
//!
//! Existential sizes: a node with a non-empty [`Exp::exts`] binds these size names from the dimensions of its value, just after
//! it has been evaluated; they are in scope in everything that is evaluated later in the same body, so also in the sizes and
//! [`Inst`]s of enclosing nodes (see [`ExpKind::Apply`] for the order). The instance of a lifted type parameter (`'~a`, `'^a`) may contain
//! size names that nothing binds: such a size differs from occurrence to occurrence, and each value tells its own.

pub mod exp;
pub mod intrinsic;
pub mod module;
pub mod names;
pub mod pattern;

pub use crate::types::ty::{
    ArrayType, Atom, FunType, Lift, Name, NamedType, Opaque, Prim, RetType, Scheme, Size, Sym,
    Type, TypeArg, TypeParam,
};
pub use exp::{Attr, Case, Exp, ExpKind, Inst, Lit, LoopForm, LoopSize, RangeEnd, Slice, Step};
pub use intrinsic::{Intrinsic, Op};
pub use module::{
    Dec, Entry, EntryParam, Functor, FunctorBind, ModuleBinds, ModuleExp, TypeBind, ValueBind,
    ValueDef,
};
pub use names::{NameInfo, NameKind, Names};
pub use pattern::{Pat, PatKind};

use std::sync::Arc;

/// A checked program: every file it needs, in dependency order.
#[derive(Clone, Debug)]
pub struct Program {
    /// What each id stands for.
    pub names: Names,
    /// The definitions of the prelude that the program uses, dependencies first.
    pub prelude: Vec<Arc<ValueDef>>,
    /// The built-in types that the program uses, with what they mean here: accumulators are what is updated, and sequences
    /// are functions.
    pub built_in: Vec<TypeBind>,
    /// Which of them is that of sequences.
    pub sequence: Option<Name>,
    /// The files, imported ones before those that import them; the program itself is last. Each is evaluated once.
    pub files: Vec<File>,
    /// The entry points of the program, in source order.
    pub entries: Vec<Entry>,
    /// Whether some type has an irregular dimension: then sizes that are taken for equal may differ, and are checked.
    pub irregular: bool,
}

/// The declarations of one file.
#[derive(Clone, Debug)]
pub struct File {
    /// The name by which it was loaded.
    pub path: String,
    /// Its declarations, in order.
    pub decs: Vec<Dec>,
}

impl Program {
    /// The values and functions that the program itself defines at top level, in order: name, type as the source writes it,
    /// and whether it is a function.
    pub fn values(&self) -> Vec<(String, String, bool)> {
        self.files
            .last()
            .map_or_else(Vec::new, |file| self.values_of(file))
    }

    /// The same of one of its files.
    pub fn values_of(&self, file: &File) -> Vec<(String, String, bool)> {
        let values = file.decs.iter().filter_map(|dec| match dec {
            Dec::Value(def) => Some(def),
            Dec::Module(_) | Dec::Functor(_) => None,
        });
        values
            .map(|def| {
                let ty = crate::types::print::scheme(&self.names, &def.scheme);
                let is_function = matches!(def.scheme.ty, Type::Fun(_));
                (self.names.text(def.name).to_owned(), ty, is_function)
            })
            .collect()
    }
}
