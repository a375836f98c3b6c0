//! Bindings: variables, patterns, and what is in scope.

use super::place::{Als, Place, Set, holds_memory};
use super::{Checker, Frame, Kind, Local, Var, VarInfo};
use crate::source::Span;
use crate::typed::{Name, Pat, PatKind, Type};
use std::collections::BTreeMap;

impl Checker<'_> {
    pub(super) fn new_var(&mut self, info: VarInfo) -> (Var, Place) {
        let var = Var::try_from(self.vars.len()).expect("fewer than 2^32 variables");
        self.vars.push(info);
        (var, self.places.root(var))
    }

    /// A stand-in for what a call returns: its components may share memory with each other.
    pub(super) fn result_place(&mut self, what: &str, span: Span) -> Place {
        let depth = self.depth();
        let info = VarInfo {
            text: what.to_owned(),
            span: Some(span),
            kind: Kind::Result,
            depth,
            in_scope: false,
            ty: None,
            accumulator: false,
        };
        self.new_var(info).1
    }

    /// Binds the names of a pattern; gives their variables, which [`Checker::unscope`] takes when the scope ends.
    pub(super) fn bind(&mut self, pat: &Pat, als: &Als, kind: Kind) -> Vec<Var> {
        let mut vars = Vec::new();
        self.bind_into(pat, als, kind, &mut vars);
        vars
    }

    fn bind_into(&mut self, pat: &Pat, als: &Als, kind: Kind, vars: &mut Vec<Var>) {
        match &pat.kind {
            PatKind::Name(name) => vars.extend(self.bind_name(*name, pat, als, kind)),
            PatKind::Wild | PatKind::Literal(_) => {}
            PatKind::Tuple(ps) => {
                for (i, p) in ps.iter().enumerate() {
                    let part = self.places.component(als, i, &p.ty);
                    self.bind_into(p, &part, kind, vars);
                }
            }
            PatKind::Record(ps) => {
                for (i, (_, p)) in ps.iter().enumerate() {
                    let part = self.places.component(als, i, &p.ty);
                    self.bind_into(p, &part, kind, vars);
                }
            }
            PatKind::Construct(con, ps) => {
                for (i, p) in ps.iter().enumerate() {
                    let part = self.places.con_part(als, con, &pat.ty, i, &p.ty);
                    self.bind_into(p, &part, kind, vars);
                }
            }
        }
    }

    fn bind_name(&mut self, name: Name, pat: &Pat, als: &Als, kind: Kind) -> Option<Var> {
        let depth = self.depth();
        let mut local = Local {
            als: Als::Fresh,
            depth,
            scheme: None,
        };
        let kind = if self.kept.contains(&name) {
            Kind::Param
        } else {
            kind
        };
        let mut var = None;
        if holds_memory(&pat.ty) {
            let info = VarInfo {
                text: self.names.text(name).to_owned(),
                span: Some(pat.span),
                kind,
                depth,
                in_scope: true,
                ty: (kind == Kind::Param).then(|| pat.ty.clone()),
                accumulator: self.is_accumulator(&pat.ty),
            };
            let (v, place) = self.new_var(info);
            local.als = self.with_self(als, &pat.ty, place);
            var = Some(v);
        }
        self.locals.insert(name, local);
        var
    }

    /// Adds the variable's own place where a value shares memory with nothing in scope.
    fn with_self(&mut self, als: &Als, ty: &Type, place: Place) -> Als {
        if !holds_memory(ty) {
            return Als::Fresh;
        }
        match als {
            Als::Fresh => Als::At(place),
            Als::Any(set) => Als::Any(self.set_with_self(set, place)),
            Als::Fun(..) => als.clone(),
            Als::At(other) => {
                let var = self.places.var(*other);
                if self.vars[var as usize].in_scope {
                    return als.clone();
                }
                self.parts_with_self(als, ty, place)
            }
            Als::Parts(_) | Als::Cons(_) => self.parts_with_self(als, ty, place),
        }
    }

    fn parts_with_self(&mut self, als: &Als, ty: &Type, place: Place) -> Als {
        match ty {
            Type::Tuple(_) | Type::Record(_) => {
                let parts = self.places.components(als, ty).unwrap_or_default();
                let own = self
                    .places
                    .components(&Als::At(place), ty)
                    .unwrap_or_default();
                let parts = parts
                    .iter()
                    .zip(own)
                    .map(|((part, t), (own, _))| match own {
                        Als::At(own) => self.with_self(part, t, own),
                        Als::Fresh | Als::Any(_) | Als::Parts(_) | Als::Cons(_) | Als::Fun(..) => {
                            Als::Fresh
                        }
                    });
                Als::Parts(parts.collect())
            }
            Type::Sum(cs) => {
                let mut cons = Vec::new();
                for (con, ts) in cs.iter() {
                    let mut parts = Vec::new();
                    for (i, t) in ts.iter().enumerate() {
                        let part = self.places.con_part(als, con, ty, i, t);
                        let own = self.places.con_part(&Als::At(place), con, ty, i, t);
                        parts.push(match own {
                            Als::At(own) => self.with_self(&part, t, own),
                            Als::Fresh
                            | Als::Any(_)
                            | Als::Parts(_)
                            | Als::Cons(_)
                            | Als::Fun(..) => Als::Fresh,
                        });
                    }
                    cons.push((con.clone(), parts));
                }
                Als::Cons(cons.into())
            }
            Type::Prim(_) | Type::Array(_) | Type::Fun(_) | Type::Named(_) | Type::Meta(_) => {
                Als::Any(self.set_with_self(&als.all(), place))
            }
        }
    }

    fn set_with_self(&self, set: &Set, place: Place) -> Set {
        let held = set
            .iter()
            .any(|p| self.vars[self.places.var(p) as usize].in_scope);
        if held {
            set.clone()
        } else {
            set.union(&Set::one(place))
        }
    }

    /// Ends the scope of variables. What still shares memory with them does so only with each other.
    pub(super) fn unscope(&mut self, vars: &[Var]) {
        for var in vars {
            self.vars[*var as usize].in_scope = false;
        }
    }

    /// Checks a function's or loop's body: outer variables cannot be consumed in it. Gives what it looks at from outside.
    pub(super) fn framed<T>(
        &mut self,
        body: impl FnOnce(&mut Self) -> T,
    ) -> (T, BTreeMap<Name, Span>) {
        self.frames.push(Frame::default());
        let result = body(self);
        let frame = self.frames.pop().expect("the frame was just pushed");
        let depth = self.depth();
        for (name, span) in &frame.captured {
            let outer = self.locals.get(name).is_some_and(|l| l.depth < depth);
            if let (true, Some(around)) = (outer, self.frames.last_mut()) {
                around.captured.entry(*name).or_insert(*span);
            }
        }
        (result, frame.captured)
    }

    /// All that the names share memory with.
    pub(super) fn places_of(&self, names: &BTreeMap<Name, Span>) -> Set {
        let locals = names.keys().filter_map(|n| self.locals.get(n));
        locals.fold(Set::default(), |set, l| set.union(&l.als.all()))
    }

    /// Looks at a variable.
    pub(super) fn variable(&mut self, name: Name, ty: &Type, has_sizes: bool, span: Span) -> Als {
        let depth = self.depth();
        let Some(local) = self.locals.get(&name) else {
            return if has_sizes {
                Als::Fresh
            } else {
                self.global(name, ty)
            };
        };
        let als = match (&local.scheme, &local.als) {
            (Some(scheme), als) => {
                let marked = super::returns::marked_like(ty, scheme);
                match marked {
                    Type::Fun(f) => Als::Fun(als.all(), f),
                    Type::Prim(_)
                    | Type::Array(_)
                    | Type::Tuple(_)
                    | Type::Record(_)
                    | Type::Sum(_)
                    | Type::Named(_)
                    | Type::Meta(_) => als.clone(),
                }
            }
            (None, als) => als.clone(),
        };
        if local.depth < depth
            && let Some(frame) = self.frames.last_mut()
        {
            frame.captured.entry(name).or_insert(span);
        }
        if !self.consumed.is_empty() {
            self.observe(Some(name), span, &als.all());
        }
        als
    }

    /// A definition outside of the one at hand. Its functions and abstract values count as fresh.
    fn global(&mut self, name: Name, ty: &Type) -> Als {
        if !holds_arrays(ty) {
            return Als::Fresh;
        }
        let place = self.global_place(name);
        self.global_parts(&Als::At(place), ty)
    }

    fn global_parts(&mut self, als: &Als, ty: &Type) -> Als {
        match self.places.components(als, ty) {
            Some(parts) => {
                let parts = parts.iter().map(|(part, t)| self.global_parts(part, t));
                Als::Parts(parts.collect())
            }
            None if holds_arrays(ty) => als.clone(),
            None => Als::Fresh,
        }
    }

    fn global_place(&mut self, name: Name) -> Place {
        if let Some(place) = self.globals.get(&name) {
            return *place;
        }
        let info = VarInfo {
            text: self.names.text(name).to_owned(),
            span: self.names.get(name).span,
            kind: Kind::Global,
            depth: 0,
            in_scope: true,
            ty: None,
            accumulator: false,
        };
        let (_, place) = self.new_var(info);
        self.globals.insert(name, place);
        place
    }
}

/// Whether a value of the type has arrays in it that are visible as such.
fn holds_arrays(ty: &Type) -> bool {
    match ty {
        Type::Array(_) => true,
        Type::Prim(_) | Type::Fun(_) | Type::Named(_) | Type::Meta(_) => false,
        Type::Tuple(ts) => ts.iter().any(holds_arrays),
        Type::Record(fs) => fs.iter().any(|(_, t)| holds_arrays(t)),
        Type::Sum(cs) => cs.iter().any(|(_, ts)| ts.iter().any(holds_arrays)),
    }
}
