//! Deciding single sizes: links, and existential sizes that are absorbed.

use super::unify::Ctx;
use super::{Sizer, State, Tie};
use crate::source::Span;
use crate::types::context::Res;
use crate::types::opaque::{metas_of_size, names_of_size, replace_metas_of_size};
use crate::types::ty::{Atom, Lift, Name, Size, Type};

impl Sizer<'_, '_> {
    /// A flexible existential that was resolved to an absorbable size makes that existential.
    pub(crate) fn absorb_ext(&mut self, span: Span, ext: Name, m: u32) {
        let size = self.size(&Size::atom(Atom::Meta(m)));
        let Some(Atom::Meta(n)) = size.as_atom() else {
            return;
        };
        if *n == m {
            return;
        }
        let computed = self.rigid.get(&ext).and_then(|r| r.unknown).map(|_| span);
        if let Some(c) = self.absorbable(*n) {
            self.existentials += 1;
            self.metas[c as usize].state = State::Existential {
                key: Some(Atom::Name(ext)),
                computed,
            };
        }
    }

    /// The canonical absorbable size, if this one may absorb.
    pub(crate) fn absorbable(&self, m: u32) -> Option<u32> {
        match &self.metas[m as usize].state {
            State::Inst(l) => (*l != Lift::Plain).then_some(m),
            State::Copy { of, .. } => match &self.metas[*of as usize].state {
                State::Inst(l) => (*l != Lift::Plain).then_some(*of),
                State::Flexible
                | State::Copy { .. }
                | State::Existential { .. }
                | State::Solved(_) => None,
            },
            State::Flexible | State::Existential { .. } | State::Solved(_) => None,
        }
    }

    pub(crate) fn is_existential(&self, m: u32) -> bool {
        match &self.metas[m as usize].state {
            State::Existential { .. } => true,
            State::Copy { of, .. } => {
                matches!(self.metas[*of as usize].state, State::Existential { .. })
            }
            State::Flexible | State::Inst(_) | State::Solved(_) => false,
        }
    }

    pub(crate) fn any_bound(ctx: &Ctx<'_>, s: &Size) -> bool {
        let mut names = Vec::new();
        names_of_size(s, &mut names);
        let mut metas = Vec::new();
        metas_of_size(s, &mut metas);
        names.iter().any(|n| ctx.bound.contains(n))
            || metas.iter().any(|m| ctx.bound_metas.contains(m))
    }

    /// Copies replaced by what they are copies of.
    pub(crate) fn canonical(&self, s: &Size) -> Size {
        replace_metas_of_size(&self.cx.names, s, &mut |m| {
            let now = match self.is_existential(m) {
                true => m,
                false => self.original(m),
            };
            Size::atom(Atom::Meta(now))
        })
    }

    /// Whether a flexible size may become that of another branch. Sizes of values may not. Nor may sizes from outside of a loop
    /// become those of its parameters: what a branch makes of them shows whether the loop keeps them.
    pub(crate) fn can_link(&self, m: u32, other: &Size) -> bool {
        let m = self.original(m);
        if self.metas[m as usize].tie == Tie::Tied {
            return false;
        }
        let level = self.metas[m as usize].level;
        let mut names = Vec::new();
        names_of_size(other, &mut names);
        let mut metas = Vec::new();
        metas_of_size(other, &mut metas);
        names.iter().all(|n| match self.rigid.get(n) {
            Some(r) if r.unknown.is_some() => r.level <= level,
            Some(r) => r.level < level,
            None => true,
        }) && metas.iter().all(|o| {
            let o = self.original(*o);
            let other = self.metas[o as usize].level;
            let inside = other < level || (other == level && !self.loop_sizes.contains(&o));
            inside && o != m
        })
    }

    /// What a copy is one of.
    pub(crate) fn original(&self, m: u32) -> u32 {
        match self.metas[m as usize].state {
            State::Copy { of, .. } => of,
            State::Flexible | State::Inst(_) | State::Existential { .. } | State::Solved(_) => m,
        }
    }

    /// Something depends on a size from now on.
    pub(crate) fn tie(&mut self, size: &Size) {
        let mut metas = Vec::new();
        metas_of_size(size, &mut metas);
        for m in metas {
            let m = self.original(m);
            self.metas[m as usize].tie = Tie::Tied;
        }
    }

    /// Decides a flexible size.
    pub(crate) fn link(&mut self, ctx: &Ctx<'_>, m: u32, to: &Size) -> Res<()> {
        let to = self.canonical(to);
        let m = self.original(m);
        let to = self.size(&to);
        if to == Size::atom(Atom::Meta(m)) {
            return Ok(());
        }
        if let State::Solved(now) = self.metas[m as usize].state.clone() {
            let mut again = Ctx {
                about: ctx.about,
                bound: ctx.bound.clone(),
                bound_metas: ctx.bound_metas.clone(),
                ord: ctx.ord,
                lenient: ctx.lenient,
            };
            return self.sizes(&mut again, &now, &to);
        }
        let level = self.metas[m as usize].level;
        let mut metas = Vec::new();
        metas_of_size(&to, &mut metas);
        if metas.contains(&m) {
            // `n = n + 1` has no solution.
            return Err(self.size_clash(ctx.about, &Size::atom(Atom::Meta(m)), &to));
        }
        for o in metas {
            let other = &mut self.metas[o as usize];
            other.level = other.level.min(level);
        }
        let mut names = Vec::new();
        names_of_size(&to, &mut names);
        for n in names {
            let Some(r) = self.rigid.get_mut(&n) else {
                continue;
            };
            if r.level < level {
                continue;
            }
            match r.unknown {
                Some(_) => r.level = level,
                None if self.binders.contains(&n) => {}
                // An existential size of a function's result may be the function's own parameter.
                None if ctx.bound_metas.contains(&m) && ctx.bound.contains(&n) => {}
                None => {
                    let text = self.cx.names.text(n).to_owned();
                    let why =
                        format!("the size `{text}` is not in scope where this size must be known");
                    return Err(self.clash(ctx.about, &why));
                }
            }
        }
        self.decide_size(m, to);
        Ok(())
    }

    /// Makes a flexible size another.
    pub(crate) fn decide_size(&mut self, m: u32, to: Size) {
        let m = self.original(m);
        let whole = |m: u32| self.metas[m as usize].tie == Tie::Whole;
        let both = matches!(to.as_atom(), Some(Atom::Meta(o)) if whole(m) && whole(*o));
        if !both {
            self.tie(&to);
        }
        self.metas[m as usize].state = State::Solved(to);
    }

    /// A size inside an instance may be a parameter of a function type of that very instance.
    pub(crate) fn local_link(&mut self, ctx: &Ctx<'_>, m: &Size, other: &Size) -> bool {
        let Some(Atom::Meta(m)) = m.as_atom() else {
            return false;
        };
        if !Self::any_bound(ctx, other) || ctx.bound_metas.contains(m) || self.is_existential(*m) {
            return false;
        }
        if matches!(self.metas[*m as usize].state, State::Flexible) {
            return false;
        }
        let mut names = Vec::new();
        names_of_size(other, &mut names);
        let mut metas = Vec::new();
        metas_of_size(other, &mut metas);
        let ok = names
            .iter()
            .filter(|n| ctx.bound.contains(n))
            .all(|n| self.binders.contains(n))
            && !metas.iter().any(|m| ctx.bound_metas.contains(m));
        if ok {
            self.metas[*m as usize].state = State::Solved(other.clone());
        }
        ok
    }

    /// A size of the elements of an array that a function computes for each of them: they have rows of any lengths.
    pub(crate) fn turn_irregular(&mut self, ctx: &Ctx<'_>, m: &Size, other: &Size) -> bool {
        let Some(Atom::Meta(m)) = m.as_atom() else {
            return false;
        };
        if !Self::any_bound(ctx, other) || ctx.bound_metas.contains(m) {
            return false;
        }
        self.make_irregular(*m)
    }

    /// Makes the size of an instance irregular, if it may be.
    fn make_irregular(&mut self, m: u32) -> bool {
        let of = self.original(m);
        // Only elements of arrays differ in their sizes, and they are what plain type parameters stand for.
        let meta = &self.metas[of as usize];
        let instance = meta.why == super::inst::INSTANCE;
        if !instance || !matches!(meta.state, State::Inst(Lift::Plain)) {
            return false;
        }
        self.cx.irregular = true;
        self.metas[of as usize].state = State::Solved(Size::irregular());
        true
    }

    /// Makes sizes of a parameter irregular that are so in what is given for it.
    pub(crate) fn irregular_parts(&mut self, param: &Type, given: &Type) {
        match (param, given) {
            (Type::Array(p), Type::Array(g)) => {
                if g.size.is_irregular()
                    && let Some(Atom::Meta(m)) = self.size(&p.size).as_atom()
                {
                    self.make_irregular(*m);
                }
                self.irregular_parts(&p.elem, &g.elem);
            }
            (Type::Tuple(ps), Type::Tuple(gs)) => {
                let pairs = ps.iter().zip(gs.iter());
                pairs.for_each(|(p, g)| self.irregular_parts(p, g));
            }
            (Type::Record(ps), Type::Record(gs)) => {
                let pairs = ps.iter().zip(gs.iter());
                pairs.for_each(|(p, g)| self.irregular_parts(&p.1, &g.1));
            }
            (Type::Sum(ps), Type::Sum(gs)) => {
                let pairs = ps.iter().zip(gs.iter());
                let pairs = pairs.flat_map(|(p, g)| p.1.iter().zip(&g.1));
                pairs.for_each(|(p, g)| self.irregular_parts(p, g));
            }
            (
                Type::Prim(_)
                | Type::Array(_)
                | Type::Tuple(_)
                | Type::Record(_)
                | Type::Sum(_)
                | Type::Fun(_)
                | Type::Named(_)
                | Type::Meta(_),
                _,
            ) => {}
        }
    }

    pub(crate) fn absorb(&mut self, ctx: &Ctx<'_>, m: &Size, other: &Size) -> bool {
        let Some(Atom::Meta(m)) = m.as_atom() else {
            return false;
        };
        if !Self::any_bound(ctx, other) || ctx.bound_metas.contains(m) {
            return false;
        }
        if self.is_existential(*m) {
            return true;
        }
        let Some(c) = self.absorbable(*m) else {
            return false;
        };
        let mut names = Vec::new();
        names_of_size(other, &mut names);
        let computed = names
            .iter()
            .find_map(|n| self.rigid.get(n).and_then(|r| r.unknown))
            .map(|(span, _)| span);
        self.existentials += 1;
        self.metas[c as usize].state = State::Existential {
            key: other.as_atom().cloned(),
            computed,
        };
        true
    }
}
