//! Loops: which parameters are consumed is inferred from the body.

use super::place::{Als, Set};
use super::{Checker, Consumed, Kind, Var, returns};
use crate::source::Span;
use crate::typed::{Exp, LoopForm, Name, Pat, PatKind, Type};
use std::collections::{BTreeMap, BTreeSet};

/// A loop parameter and what the body gives for it.
struct Param {
    name: Name,
    var: Option<Var>,
    next: Set,
    declared: bool,
}

/// What the check of a body finds.
struct Body {
    vars: Vec<Var>,
    next: Als,
    consumed: Consumed,
    captured: BTreeMap<Name, Span>,
}

impl Checker<'_> {
    pub(super) fn loop_exp(
        &mut self,
        span: Span,
        pat: &Pat,
        init: &Exp,
        form: &LoopForm,
        body: &Exp,
    ) -> Als {
        let head = self.loop_head(form);
        let checked = self.loop_body(pat, &head, form, body);
        let mut params = Vec::new();
        self.loop_params(pat, &checked.next, &mut params);
        let consumed = self.consumed_params(&params, &checked);
        self.check_next(&params, &consumed, &checked.vars, body.span);

        let before = self.trail.len();
        let initial = self.exp(init);
        let diet = diet(pat, &consumed);
        if returns::any_unique(&diet) {
            self.consumed_arg(&diet, init.span, &initial);
        }
        if self.trail.len() > before {
            let now: BTreeSet<Var> = self.trail[before..].iter().copied().collect();
            self.consumed_before(&checked.captured, &head, form, &now);
        }
        let place = self.result_place("the result of this loop", span);
        self.loop_result(pat, &initial, &checked.next, &consumed, &Set::one(place))
    }

    fn loop_body(&mut self, pat: &Pat, head: &Als, form: &LoopForm, body: &Exp) -> Body {
        let ((vars, next, consumed), captured) = self.framed(|this| {
            let vars = this.bind(pat, &Als::Fresh, Kind::Local);
            let mut inner = Vec::new();
            match form {
                LoopForm::For { var, .. } => this.bind_scalar(*var),
                LoopForm::ForIn { pat, .. } => {
                    let element = Als::any(head.all(), &pat.ty);
                    inner = this.bind(pat, &element, Kind::Element);
                }
                LoopForm::While(cond) => {
                    this.framed(|this| this.exp(cond));
                }
            }
            let (next, consumed) = this.contain(|this| this.exp(body));
            this.unscope(&inner);
            this.unscope(&vars);
            (vars, next, consumed)
        });
        Body {
            vars,
            next,
            consumed,
            captured,
        }
    }

    fn loop_params(&mut self, pat: &Pat, next: &Als, out: &mut Vec<Param>) {
        match &pat.kind {
            PatKind::Name(name) => {
                let own = self.locals.get(name).map(|l| l.als.all());
                let place = own.as_ref().and_then(|set| set.iter().next());
                out.push(Param {
                    name: *name,
                    var: place.map(|p| self.places.var(p)),
                    next: next.all(),
                    declared: returns::any_unique(&pat.ty),
                });
            }
            PatKind::Tuple(ps) => {
                for (i, p) in ps.iter().enumerate() {
                    let part = self.places.component(next, i, &p.ty);
                    self.loop_params(p, &part, out);
                }
            }
            PatKind::Record(ps) => {
                for (i, (_, p)) in ps.iter().enumerate() {
                    let part = self.places.component(next, i, &p.ty);
                    self.loop_params(p, &part, out);
                }
            }
            PatKind::Wild | PatKind::Literal(_) | PatKind::Construct(..) => {}
        }
    }

    /// The parameters that the body consumes, and those whose next values are parts of what becomes a consumed one.
    /// Marks in the pattern count only if nothing follows from them: a parameter that is marked, but is made anew in
    /// every iteration and never consumed, may start with anything.
    fn consumed_params(&self, params: &[Param], body: &Body) -> BTreeSet<Name> {
        let mut vars: BTreeSet<Var> = body.consumed.iter().map(|(v, _)| *v).collect();
        let mut marks = true;
        loop {
            let takes =
                |p: &&Param| marks && p.declared || p.var.is_some_and(|v| vars.contains(&v));
            let consumed: Vec<&Param> = params.iter().filter(takes).collect();
            let next = consumed.iter().flat_map(|p| p.next.iter());
            let more: BTreeSet<Var> = next.map(|p| self.places.var(p)).collect();
            if more.is_subset(&vars) {
                return consumed.iter().map(|p| p.name).collect();
            }
            vars.extend(more);
            marks = false;
        }
    }

    /// The next value of a consumed parameter must not share memory with what is outside or with another next value.
    fn check_next(&mut self, params: &[Param], consumed: &BTreeSet<Name>, own: &[Var], span: Span) {
        let (mut unique, mut all) = (Set::default(), Set::default());
        for param in params {
            let is_consumed = consumed.contains(&param.name);
            let outside = param.next.iter().find(|p| {
                let var = self.places.var(*p);
                self.vars[var as usize].in_scope && !own.contains(&var)
            });
            if let Some(place) = outside.filter(|_| is_consumed) {
                self.loop_outside(span, param.name, place);
                return;
            }
            let against = if is_consumed { &all } else { &unique };
            if let Some(place) = self.places.common(against, &param.next) {
                self.loop_overlap(span, param.name, place);
                return;
            }
            all = all.union(&param.next);
            if is_consumed {
                unique = unique.union(&param.next);
            }
        }
    }

    /// The body must not look at what the initial value consumes.
    fn consumed_before(
        &mut self,
        captured: &BTreeMap<Name, Span>,
        head: &Als,
        form: &LoopForm,
        consumed: &BTreeSet<Var>,
    ) {
        let hit = |this: &Self, set: &Set| {
            let vars = set.iter().map(|p| this.places.var(p));
            vars.filter(|v| consumed.contains(v)).min()
        };
        let mut found: Vec<(Option<Name>, Span, Var)> = Vec::new();
        for (name, span) in captured {
            let Some(local) = self.locals.get(name) else {
                continue;
            };
            if let Some(var) = hit(self, &local.als.all()) {
                found.push((Some(*name), *span, var));
            }
        }
        if let LoopForm::ForIn { array, .. } = form
            && let Some(var) = hit(self, &head.all())
        {
            found.push((None, array.span, var));
        }
        for (name, span, var) in found {
            if let Some(event) = self.consumed.get(&var).copied() {
                self.used_in_loop(name, span, var, event);
            }
        }
    }

    fn loop_result(
        &mut self,
        pat: &Pat,
        init: &Als,
        next: &Als,
        consumed: &BTreeSet<Name>,
        place: &Set,
    ) -> Als {
        let part = |this: &mut Self, i: usize, p: &Pat| {
            let init = this.places.component(init, i, &p.ty);
            let next = this.places.component(next, i, &p.ty);
            this.loop_result(p, &init, &next, consumed, place)
        };
        match &pat.kind {
            PatKind::Tuple(ps) => {
                let parts = ps.iter().enumerate().map(|(i, p)| part(self, i, p));
                Als::Parts(parts.collect())
            }
            PatKind::Record(ps) => {
                let parts = ps.iter().enumerate().map(|(i, (_, p))| part(self, i, p));
                Als::Parts(parts.collect())
            }
            PatKind::Name(name) if consumed.contains(name) => next.clone(),
            PatKind::Name(_) | PatKind::Wild | PatKind::Literal(_) | PatKind::Construct(..) => {
                Als::any(place.union(&init.all()).union(&next.all()), &pat.ty)
            }
        }
    }
}

/// The type of the parameters, with marks where they are consumed.
fn diet(pat: &Pat, consumed: &BTreeSet<Name>) -> Type {
    match &pat.kind {
        PatKind::Name(name) => returns::marked(&pat.ty, consumed.contains(name)),
        PatKind::Wild | PatKind::Literal(_) | PatKind::Construct(..) => {
            returns::marked(&pat.ty, false)
        }
        PatKind::Tuple(ps) => Type::tuple(ps.iter().map(|p| diet(p, consumed)).collect()),
        PatKind::Record(ps) => {
            let fields = ps.iter().map(|(f, p)| (f.clone(), diet(p, consumed)));
            Type::Record(fields.collect())
        }
    }
}
