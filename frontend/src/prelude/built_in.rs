//! The modules `intrinsics` and `seq`, whose types are built in: accumulators and sequences.

use super::{Chunk, Prelude, index, pieces};
use crate::typed::{NameKind, TypeBind};
use crate::types::context::{Cx, Res};
use crate::types::env::{Env, Module, TypeAbbr};
use crate::types::subst::{TypeFun, type_names};
use crate::types::ty::{Lift, Name, NamedType, Prim, RetType, Sym, Type, TypeArg, TypeParam};
use std::sync::Arc;

/// The module `intrinsics`.
const INTRINSICS: &str = include_str!("intrinsics.fut");

/// The module `seq`.
pub(super) const SEQ: &str = include_str!("seq.fut");

/// What of the module `seq` is for the module itself.
pub(super) const SEQ_OWN: &[&str] = &["make", "parts", "flat", "next", "append", "put", "drain"];

impl Prelude {
    /// What the type of accumulators is for everything but the checker: the array that is updated.
    pub(crate) fn accumulator(&self) -> Option<TypeBind> {
        let (name, param) = self.accumulator?;
        Some(TypeBind {
            name,
            params: vec![TypeParam::Type(param, Lift::Plain)],
            exts: Vec::new(),
            rhs: Type::named(param),
        })
    }

    /// What the type of sequences is for everything but the checker.
    pub(crate) fn sequence(&self) -> Option<TypeBind> {
        let (name, param) = self.sequence?;
        Some(TypeBind {
            name,
            params: vec![TypeParam::Type(param, Lift::Plain)],
            exts: Vec::new(),
            rhs: Type::fun(None, Type::Prim(Prim::I64), Type::named(param)),
        })
    }
}

impl Cx<'_> {
    /// Whether it is the module `intrinsics`.
    pub(crate) fn is_intrinsics(&self, module: &Module) -> bool {
        match (module, &self.prelude.intrinsics) {
            (Module::Struct(env), Some(own)) => Arc::ptr_eq(env, own),
            (Module::Struct(_), None) | (Module::Functor(_), _) => false,
        }
    }

    pub(super) fn intrinsics(&mut self) -> Res<Arc<Env>> {
        if let Some(env) = &self.prelude.intrinsics {
            return Ok(Arc::clone(env));
        }
        let mut env = Env::default();
        env.types.insert(Sym::from("acc"), self.accumulator());
        for (name, chunk) in index(INTRINSICS) {
            let name = Sym::from(name);
            let value = match chunk {
                Chunk::Def(text) => self.prelude_def(text, Vec::new())?,
                Chunk::Val(text) => {
                    self.in_frames(vec![env.clone()], |cx| cx.prelude_val(&name, text))?
                }
                Chunk::ModuleType(_) => continue,
            };
            env.values.insert(name, value);
        }
        let env = Arc::new(env);
        self.prelude.intrinsics = Some(Arc::clone(&env));
        Ok(env)
    }

    /// What goes through a sequence that is the result of an entry point.
    pub(crate) fn drain(&mut self) -> Res<Option<Name>> {
        self.sequences()?;
        Ok(self.prelude.drain)
    }

    /// The type of the elements, if a type is that of sequences.
    pub(crate) fn elements_of<'t>(&self, ty: &'t Type) -> Option<&'t Type> {
        let Type::Named(named) = ty else { return None };
        match named.args.first() {
            Some(TypeArg::Type(elem)) if self.is_sequence(named.name) => Some(elem),
            Some(TypeArg::Type(_) | TypeArg::Size(_)) | None => None,
        }
    }

    pub(super) fn sequences(&mut self) -> Res<Arc<Env>> {
        if let Some(env) = &self.prelude.sequences {
            return Ok(Arc::clone(env));
        }
        let (mut own, mut env) = (Env::default(), Env::default());
        for (name, chunk) in pieces(SEQ) {
            let sym = Sym::from(name);
            let frames = vec![own.clone()];
            let value = match chunk {
                Chunk::Def(text) => self.prelude_def(text, frames)?,
                Chunk::Val(text) => self.in_frames(frames, |cx| cx.prelude_val(&sym, text))?,
                Chunk::ModuleType(_) => continue,
            };
            // What has a name of the prelude is for users only: here, that name means what it means everywhere.
            if !self.prelude.index.contains_key(name) {
                own.values.insert(sym.clone(), value);
            }
            if !SEQ_OWN.contains(&name) {
                env.values.insert(sym, value);
            }
        }
        self.prelude.drain = own.values.get("drain").copied();
        let env = Arc::new(env);
        self.prelude.sequences = Some(Arc::clone(&env));
        Ok(env)
    }

    /// The type of sequences: abstract, and as little a value that is kept as a function is.
    pub(super) fn sequence(&mut self) -> TypeAbbr {
        let (name, param) = match self.prelude.sequence {
            Some(known) => known,
            None => {
                let name = self.fresh("seq", None, NameKind::Type);
                let param = self.fresh("t", None, NameKind::Type);
                self.lifts.insert(name, Lift::Full);
                self.prelude.sequence = Some((name, param));
                (name, param)
            }
        };
        let ty = Type::Named(Arc::new(NamedType {
            name,
            args: vec![TypeArg::Type(Type::named(param))],
            unique: false,
        }));
        TypeAbbr {
            lift: Lift::Full,
            fun: TypeFun {
                params: vec![TypeParam::Type(param, Lift::Plain)],
                rhs: RetType {
                    exts: Vec::new(),
                    ty,
                },
            },
        }
    }

    /// The type of accumulators: abstract, and no element of arrays.
    fn accumulator(&mut self) -> TypeAbbr {
        let name = self.fresh("acc", None, NameKind::Type);
        let param = self.fresh("t", None, NameKind::Type);
        self.prelude.accumulator = Some((name, param));
        self.lifts.insert(name, Lift::Size);
        let ty = Type::Named(Arc::new(NamedType {
            name,
            args: vec![TypeArg::Type(Type::named(param))],
            unique: false,
        }));
        TypeAbbr {
            lift: Lift::Size,
            fun: TypeFun {
                params: vec![TypeParam::Type(param, Lift::Plain)],
                rhs: RetType {
                    exts: Vec::new(),
                    ty,
                },
            },
        }
    }

    /// Whether there are accumulators in a value of the type.
    pub(crate) fn has_accumulator(&self, ty: &Type) -> bool {
        let mut names = Vec::new();
        type_names(ty, &mut names);
        let accumulator = self.prelude.accumulator;
        accumulator.is_some_and(|(acc, _)| names.contains(&acc))
    }

    /// Whether it is the type of sequences.
    pub(crate) fn is_sequence(&self, name: Name) -> bool {
        self.prelude.sequence.is_some_and(|(seq, _)| seq == name)
    }

    /// Whether there are sequences in a value of the type.
    pub(crate) fn has_sequence(&self, ty: &Type) -> bool {
        let mut names = Vec::new();
        type_names(ty, &mut names);
        names.into_iter().any(|name| self.is_sequence(name))
    }
}
