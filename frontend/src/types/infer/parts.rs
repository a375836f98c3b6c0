//! The number of parts of a type, counted as if nothing were shared.
//!
//! A short program can have types of any size: `def f x = (x, x)` doubles, and so does each of its uses. In memory such
//! types are small, for their parts are shared; but whoever walks them does not end. So types are kept below a limit:
//! while types are unified the parts that are looked at are counted, and a definition is not finished before the types
//! of all its variables and instances have been measured. Dimensions of arrays are limited more, for every use of an array
//! looks at all of them.

use super::Infer;
use super::solve::{Meta, Solver};
use crate::diagnostic::{Code, Diagnostic};
use crate::source::Span;
use crate::types::context::Res;
use crate::types::print;
use crate::types::ty::{Type, TypeArg};
use midend::hash::HashMap;

/// The most parts of a type: scalars, arrays, fields, payloads, parameters and results.
pub(super) const MAX_PARTS: usize = 50_000;

/// The most dimensions of an array.
const MAX_RANK: usize = 100;

/// The most parts of a type that is shown in a message.
const SHOWN_PARTS: usize = 1000;

/// Visits the types that a type is directly made of.
fn each_part<'t>(ty: &'t Type, mut f: impl FnMut(&'t Type)) {
    match ty {
        Type::Prim(_) | Type::Meta(_) => {}
        Type::Array(a) => f(&a.elem),
        Type::Tuple(ts) => ts.iter().for_each(f),
        Type::Record(fs) => fs.iter().for_each(|(_, t)| f(t)),
        Type::Sum(cs) => cs.iter().flat_map(|(_, ts)| ts).for_each(f),
        Type::Fun(fun) => {
            f(&fun.arg);
            f(&fun.ret.ty);
        }
        Type::Named(n) => n.args.iter().for_each(|arg| match arg {
            TypeArg::Size(_) => {}
            TypeArg::Type(t) => f(t),
        }),
    }
}

/// Counts the parts of a type, those that variables stand for among them as `meta` says; at most one more than `limit`.
fn count(ty: &Type, limit: usize, meta: &mut dyn FnMut(u32) -> usize) -> usize {
    if let Type::Meta(id) = ty {
        return meta(*id).min(limit + 1);
    }
    let mut total = 1;
    each_part(ty, |part| {
        if total <= limit {
            total += count(part, limit - total, meta);
        }
    });
    total.min(limit + 1)
}

/// Of variables: the number of parts.
type Parts = HashMap<u32, usize>;

/// Of variables: the number of dimensions, and the most dimensions of an array anywhere in them.
type Ranks = HashMap<u32, (usize, usize)>;

/// The number of dimensions of a type, and the most dimensions of an array anywhere in it; `meta` says it of variables.
fn ranks(ty: &Type, meta: &mut dyn FnMut(u32) -> (usize, usize)) -> (usize, usize) {
    match ty {
        Type::Meta(id) => meta(*id),
        Type::Array(a) => {
            let (rank, most) = ranks(&a.elem, meta);
            (rank + 1, most.max(rank + 1))
        }
        Type::Prim(_)
        | Type::Tuple(_)
        | Type::Record(_)
        | Type::Sum(_)
        | Type::Fun(_)
        | Type::Named(_) => {
            let mut most = 0;
            each_part(ty, |part| most = most.max(ranks(part, meta).1));
            (0, most)
        }
    }
}

/// Refuses a written type that is too large.
pub(crate) fn check_written(ty: &Type, span: Span) -> Res<()> {
    if parts(ty, MAX_PARTS) > MAX_PARTS {
        return too_large(span);
    }
    check_rank(ranks(ty, &mut |_| (0, 0)).1, span)
}

/// Refuses arrays of too many dimensions.
fn check_rank(rank: usize, span: Span) -> Res<()> {
    if rank <= MAX_RANK {
        return Ok(());
    }
    let message = format!("this has a type with an array of more than {MAX_RANK} dimensions");
    Err(Box::new(Diagnostic::error(Code::HugeType, span, message)))
}

/// The parts of a written type, at most one more than `limit`.
pub(crate) fn parts(ty: &Type, limit: usize) -> usize {
    count(ty, limit, &mut |_| 1)
}

/// Refuses a type with too many parts.
pub(crate) fn too_large<T>(span: Span) -> Res<T> {
    let message = format!("this has a type of more than {MAX_PARTS} parts");
    let error = Diagnostic::error(Code::HugeType, span, message);
    Err(Box::new(error.note(
        "every use of a value whose type has the same part twice can double the type",
    )))
}

impl Solver {
    /// The parts of a type, with all that is known put in; at most one more than `limit`.
    fn known_parts(&self, ty: &Type, limit: usize, known: &mut Parts) -> usize {
        count(ty, limit, &mut |id| self.measure(id, known))
    }

    /// The type with all that is known put in, for a message; a variable if that is too much to show.
    pub(crate) fn shown(&mut self, ty: &Type) -> Type {
        if self.known_parts(ty, SHOWN_PARTS, &mut Parts::default()) > SHOWN_PARTS {
            return Type::Meta(self.count());
        }
        self.zonk(ty)
    }

    /// The first variable whose type is too large.
    fn first_too_large(&self, known: &mut Parts) -> Option<u32> {
        (0..self.count()).find(|id| self.measure(*id, known) > MAX_PARTS)
    }

    /// Refuses arrays of too many dimensions among the types of all variables.
    fn check_ranks(&self, known: &mut Ranks) -> Res<()> {
        for id in 0..self.count() {
            check_rank(self.ranks(id, known).1, self.origin(id))?;
        }
        Ok(())
    }

    /// The ranks of what a variable stands for; `known` holds those of variables that have been looked at.
    fn ranks(&self, id: u32, known: &mut Ranks) -> (usize, usize) {
        if let Some(found) = known.get(&id) {
            return *found;
        }
        let found = stacker::maybe_grow(32 * 1024, 1024 * 1024, || match self.meta(id) {
            Meta::Link(ty) => ranks(ty, &mut |id| self.ranks(id, known)),
            Meta::Free(_) => (0, 0),
        });
        known.insert(id, found);
        found
    }

    /// The parts of what a variable stands for; `known` holds those of variables that have been measured.
    fn measure(&self, id: u32, known: &mut Parts) -> usize {
        if let Some(found) = known.get(&id) {
            return *found;
        }
        let found = stacker::maybe_grow(32 * 1024, 1024 * 1024, || match self.meta(id) {
            Meta::Link(ty) => self.known_parts(ty, MAX_PARTS, known),
            Meta::Free(_) => 1,
        });
        known.insert(id, found);
        found
    }
}

impl Infer<'_, '_> {
    /// Refuses a definition in which a type is too large.
    pub(crate) fn check_parts(&mut self) -> Res<()> {
        let (mut parts, mut ranks) = (Parts::default(), Ranks::default());
        if let Some(id) = self.solver.first_too_large(&mut parts) {
            return too_large(self.solver.origin(id));
        }
        self.solver.check_ranks(&mut ranks)?;
        for (span, ty) in std::mem::take(&mut self.instances) {
            self.check_instance(span, &ty, (&mut parts, &mut ranks))?;
        }
        Ok(())
    }

    /// Refuses a type that is too large.
    pub(crate) fn check_size(&self, span: Span, ty: &Type) -> Res<()> {
        self.check_instance(span, ty, (&mut Parts::default(), &mut Ranks::default()))
    }

    fn check_instance(
        &self,
        span: Span,
        ty: &Type,
        (parts, known): (&mut Parts, &mut Ranks),
    ) -> Res<()> {
        if self.solver.known_parts(ty, MAX_PARTS, parts) > MAX_PARTS {
            return too_large(span);
        }
        check_rank(ranks(ty, &mut |id| self.solver.ranks(id, known)).1, span)
    }

    /// The text of a type in a message.
    pub(crate) fn show(&mut self, ty: &Type) -> String {
        let ty = self.solver.shown(ty);
        print::ty(&self.cx.names, &ty)
    }
}
