//! The second pass: infers sizes, on the resolved tree whose types are known but for sizes, and builds the typed program.
//!
//! A size is *flexible* while it is inferred (a meta), *rigid* when it is a name: a parameter, or *unknown*, computed by the
//! program at some point. A size that comes from instantiating a type or size parameter may turn out to stand for an
//! existential size of a function type (it *absorbs* it); then each occurrence of the type parameter has its own size, which
//! is why later occurrences get copies of the first.

pub(crate) mod apply;
pub(crate) mod branch;
pub(crate) mod call;
pub(crate) mod causal;
pub(crate) mod def;
pub(crate) mod exp;
pub(crate) mod finish;
pub(crate) mod fresh;
pub(crate) mod inst;
pub(crate) mod link;
pub(crate) mod literal;
pub(crate) mod loops;
pub(crate) mod pattern;
pub(crate) mod slice;
pub(crate) mod unify;
pub(crate) mod update;
pub(crate) mod uses;

use super::context::{Cx, Res, err};
use super::infer::solve::Solver;
use super::opaque::{replace_metas, size_of_exp};
use super::raw::RType;
use super::subst::{Subst, fresh_size, map_sizes, rebuild};
use super::ty::{Atom, Lift, Name, RetType, Scheme, Size, Type};
use crate::diagnostic::Code;
use crate::source::Span;
use crate::typed::{NameKind, Names};
use midend::hash::{HashMap, HashSet};
use std::sync::Arc;

/// What is known of a size that is being inferred.
#[derive(Clone, Debug)]
pub(crate) enum State {
    /// Anything in scope.
    Flexible,
    /// From an instance of a parameter of that lift; may absorb unless the lift is plain.
    Inst(Lift),
    /// A later occurrence of the same, equal to it unless that absorbs.
    Copy {
        of: u32,
        occurrence: u32,
    },
    /// It absorbed an existential size: which one, and where that is computed, if it is.
    Existential {
        key: Option<Atom>,
        computed: Option<Span>,
    },
    Solved(Size),
}

/// Whether branches may decide a size that is being inferred. They do not decide the sizes of values that are there, such as
/// parameters: where the branches differ in those, the size of their result is existential.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Tie {
    /// A part of a type of which nothing says yet that it is that of an array.
    Whole,
    /// The size of an instance, on which nothing depends yet.
    Lone,
    /// The size of a value.
    Tied,
}

#[derive(Clone, Debug)]
pub(crate) struct SizeMeta {
    pub(crate) state: State,
    pub(crate) tie: Tie,
    pub(crate) level: u32,
    pub(crate) span: Span,
    pub(crate) why: &'static str,
}

/// A rigid size.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rigid {
    pub(crate) level: u32,
    /// Computed by the program, at that place for that reason; else a parameter or variable.
    pub(crate) unknown: Option<(Span, &'static str)>,
}

/// The type of a local name.
#[derive(Clone, Debug)]
pub(crate) enum ValTy {
    Mono(Type),
    Poly(Arc<Scheme>),
    /// The function at hand, when it does not declare its result.
    Recursive,
}

/// The state of the second pass over one definition.
pub(crate) struct Sizer<'c, 'a> {
    pub(crate) cx: &'c mut Cx<'a>,
    pub(crate) solver: Solver,
    pub(crate) metas: Vec<SizeMeta>,
    pub(crate) rigid: HashMap<Name, Rigid>,
    /// Parameters of function types inside instances: a size inside the same type may be linked to them.
    pub(crate) binders: HashSet<Name>,
    /// Such parameters that took the name of another.
    pub(crate) aliases: HashMap<Name, Name>,
    /// Sizes of the parameters of loops around.
    pub(crate) loop_sizes: HashSet<u32>,
    pub(crate) vals: HashMap<Name, ValTy>,
    pub(crate) level: u32,
    pub(crate) occurrences: u32,
    /// Whether functions inside of the one being checked may return rows of other lengths than they are applied to.
    pub(crate) results_vary: bool,
    /// How many sizes have absorbed an existential one.
    pub(crate) existentials: u32,
    /// Equations that cannot be decided yet.
    pub(crate) deferred: Vec<unify::Deferred>,
}

impl<'c, 'a> Sizer<'c, 'a> {
    pub(crate) fn new(cx: &'c mut Cx<'a>, solver: Solver) -> Sizer<'c, 'a> {
        Sizer {
            cx,
            solver,
            metas: Vec::new(),
            rigid: HashMap::default(),
            binders: HashSet::default(),
            aliases: HashMap::default(),
            loop_sizes: HashSet::default(),
            vals: HashMap::default(),
            level: 0,
            occurrences: 0,
            results_vary: false,
            existentials: 0,
            deferred: Vec::new(),
        }
    }

    pub(crate) fn meta(&mut self, state: State, span: Span, why: &'static str) -> u32 {
        let id = u32::try_from(self.metas.len()).expect("fewer than 2^32 sizes");
        self.metas.push(SizeMeta {
            tie: match &state {
                State::Inst(_) | State::Copy { .. } => Tie::Lone,
                State::Flexible | State::Existential { .. } | State::Solved(_) => Tie::Tied,
            },
            state,
            level: self.level,
            span,
            why,
        });
        id
    }

    pub(crate) fn flexible(&mut self, span: Span, why: &'static str) -> Size {
        Size::atom(Atom::Meta(self.meta(State::Flexible, span, why)))
    }

    /// A size that the program computes at this place.
    pub(crate) fn unknown(&mut self, span: Span, text: &str, why: &'static str) -> Name {
        let name = self.cx.fresh(text, Some(span), NameKind::Size);
        self.rigid.insert(
            name,
            Rigid {
                level: self.level,
                unknown: Some((span, why)),
            },
        );
        name
    }

    pub(crate) fn is_unknown(&self, name: Name) -> bool {
        self.rigid.get(&name).is_some_and(|r| r.unknown.is_some())
    }

    /// Makes a name of type `i64` or a size name rigid at this level.
    pub(crate) fn param_size(&mut self, name: Name) {
        self.rigid.insert(
            name,
            Rigid {
                level: self.level,
                unknown: None,
            },
        );
    }

    // --- Resolution ----------------------------------------------------

    /// The size with all that is known put in.
    pub(crate) fn size(&mut self, s: &Size) -> Size {
        let aliased = |a: &Atom| match a {
            Atom::Name(n) => self.aliases.contains_key(n),
            Atom::Meta(_) | Atom::Opaque(_) => false,
        };
        if !s.is_open() && !s.terms.keys().flatten().any(aliased) {
            return s.clone();
        }
        rebuild(s, &mut |a| match a {
            Atom::Name(n) => Size::name(self.find(*n)),
            Atom::Meta(m) => self.resolve(*m),
            Atom::Opaque(o) if !o.open && o.metas.is_empty() => Size::atom(a.clone()),
            Atom::Opaque(o) => self.opaque(o),
        })
    }

    fn resolve(&mut self, m: u32) -> Size {
        match self.metas[m as usize].state.clone() {
            State::Solved(s) => {
                let s = self.size(&s);
                self.metas[m as usize].state = State::Solved(s.clone());
                s
            }
            State::Copy { of, .. } => match self.metas[of as usize].state {
                State::Solved(_) => self.resolve(of),
                State::Flexible
                | State::Inst(_)
                | State::Copy { .. }
                | State::Existential { .. } => Size::atom(Atom::Meta(m)),
            },
            State::Flexible | State::Inst(_) | State::Existential { .. } => {
                Size::atom(Atom::Meta(m))
            }
        }
    }

    fn opaque(&mut self, o: &super::ty::Opaque) -> Size {
        struct Zonk<'z, 'c, 'a>(&'z mut Sizer<'c, 'a>);
        impl super::walk::Visitor for Zonk<'_, '_, '_> {
            fn ty(&mut self, ty: &mut Type) {
                *ty = self.0.ty(ty);
            }
            fn size(&mut self, size: &mut Size) {
                *size = self.0.size(size);
            }
        }
        let mut exp = o.exp.clone();
        super::walk::exp(&mut exp, &mut Zonk(self));
        size_of_exp(&self.cx.names, &exp)
            .unwrap_or_else(|| super::opaque::opaque(&self.cx.names, exp))
    }

    /// The type with all that is known put in.
    pub(crate) fn ty(&mut self, ty: &Type) -> Type {
        let ty = map_sizes(ty, &mut |s| self.size(s));
        if self.aliases.is_empty() {
            return ty;
        }
        super::subst::map_params(&ty, &|p| self.find(p))
    }

    /// The name that a parameter of an instance has by now.
    pub(crate) fn find(&self, name: Name) -> Name {
        let mut at = name;
        while let Some(next) = self.aliases.get(&at) {
            at = *next;
        }
        at
    }

    // --- Written types -------------------------------------------------------

    /// A written type whose open sizes are to be inferred; gives these too.
    pub(crate) fn written(&mut self, t: &RType) -> Res<(Type, Vec<u32>)> {
        let pending = self.pending_sizes(t)?;
        let mut subst = Subst::default();
        let mut open = Vec::new();
        for ext in t.exts.iter().chain(&t.loose) {
            let m = self.meta(State::Flexible, t.span, "an open size in a type");
            subst.sizes.insert(*ext, Size::atom(Atom::Meta(m)));
            open.push(m);
        }
        let ty = fill(&self.cx.names, &self.solver.zonk(&t.ty), &pending);
        Ok((subst.ty(&mut self.cx.names, &ty, &mut Vec::new()), open))
    }

    /// A written type whose open sizes are bound by it.
    pub(crate) fn written_ret(&mut self, t: &RType) -> Res<RetType> {
        let pending = self.pending_sizes(t)?;
        let mut subst = Subst::default();
        let mut exts = Vec::new();
        for ext in &t.exts {
            let fresh = fresh_size(&mut self.cx.names, *ext);
            subst.sizes.insert(*ext, Size::name(fresh));
            exts.push(fresh);
        }
        for loose in &t.loose {
            let size = self.flexible(t.span, "an open size in a type");
            subst.sizes.insert(*loose, size);
        }
        let ty = fill(&self.cx.names, &self.solver.zonk(&t.ty), &pending);
        Ok(RetType {
            exts,
            ty: subst.ty(&mut self.cx.names, &ty, &mut Vec::new()),
        })
    }

    fn pending_sizes(&mut self, t: &RType) -> Res<Vec<Size>> {
        let mut out = Vec::new();
        for e in &t.pending {
            let e = self.exp(e)?;
            let Some(size) = size_of_exp(&self.cx.names, &e) else {
                return err(
                    Code::BadSize,
                    e.span,
                    "an expression that binds names cannot be a size",
                );
            };
            out.push(size);
        }
        Ok(out)
    }
}

/// Puts the sizes in for the numbered placeholders of a written type.
fn fill(names: &Names, ty: &Type, pending: &[Size]) -> Type {
    if pending.is_empty() {
        return ty.clone();
    }
    replace_metas(names, ty, &mut |k| {
        pending.get(k as usize).cloned().unwrap_or_default()
    })
}
