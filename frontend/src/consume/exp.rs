//! Expressions: what each one looks at and consumes, and what its value shares memory with.

use super::place::{Als, Set, holds_memory};
use super::returns::{self, Function};
use super::{Checker, Kind, Local};
use crate::source::Span;
use crate::typed::{Case, Exp, ExpKind, LoopForm, Name, Pat, Slice, Step, Sym, Type, ValueDef};

impl Checker<'_> {
    pub(super) fn exp(&mut self, exp: &Exp) -> Als {
        stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || self.exp_kind(exp))
    }

    fn exp_kind(&mut self, exp: &Exp) -> Als {
        match &exp.kind {
            ExpKind::Lit(_) | ExpKind::String(_) | ExpKind::Hole | ExpKind::Size(_) => Als::Fresh,
            ExpKind::Var { name, inst } => {
                self.variable(*name, &exp.ty, !inst.sizes.is_empty(), exp.span)
            }
            ExpKind::Tuple(es) => Als::Parts(self.exps(es).into()),
            ExpKind::Record(fields) => self.record(fields),
            ExpKind::Array(es) => {
                self.exps(es);
                Als::Fresh
            }
            ExpKind::Construct(con, es) => {
                let parts = self.exps(es);
                Als::Cons([(con.clone(), parts)].into())
            }
            ExpKind::Range { start, second, end } => {
                self.exp(start);
                second.iter().for_each(|e| drop(self.exp(e)));
                self.exp(&end.1);
                Als::Fresh
            }
            ExpKind::Coerce(e) | ExpKind::Attr(_, e) => self.exp(e),
            ExpKind::Negate(e) | ExpKind::Not(e) => {
                self.exp(e);
                Als::Fresh
            }
            ExpKind::Apply { fun, args, infix } => self.apply(exp, fun, args, *infix),
            ExpKind::Field(e, field) => self.field(e, field, &exp.ty),
            ExpKind::TupleField(e, index) => {
                let als = self.exp(e);
                self.places.component(&als, *index, &exp.ty)
            }
            ExpKind::Lambda { params, body, ret } => self.lambda(params, body, &ret.ty, &exp.ty),
            ExpKind::Let {
                pat, value, body, ..
            } => self.let_exp(pat, value, body),
            ExpKind::LetFun { def, body } => self.let_fun(def, body),
            ExpKind::If {
                cond,
                then,
                otherwise,
            } => {
                self.exp(cond);
                let (a, mut consumed) = self.contain(|this| this.exp(then));
                let (b, more) = self.contain(|this| this.exp(otherwise));
                consumed.extend(more);
                let als = self.places.either(&a, &b, &exp.ty);
                self.merged(als, consumed)
            }
            ExpKind::Match { scrutinee, cases } => self.match_exp(scrutinee, cases, &exp.ty),
            ExpKind::Loop {
                pat,
                init,
                form,
                body,
                ..
            } => self.loop_exp(exp.span, pat, init, form, body),
            ExpKind::Index { array, slices } => {
                let als = self.exp(array);
                let after = self.trail.len();
                self.slices(slices);
                self.still_there(array.span, &als, after);
                Als::any(als.all(), &exp.ty)
            }
            ExpKind::Update {
                source,
                path,
                value,
            } => self.update(exp.span, source, path, value),
            ExpKind::Assert { cond, body, .. } => {
                self.exp(cond);
                self.exp(body)
            }
        }
    }

    /// Values that are evaluated one after the other, before all are used.
    fn exps<'e>(&mut self, exps: impl IntoIterator<Item = &'e Exp>) -> Vec<Als> {
        let first = self.trail.len();
        let mut done = Vec::new();
        for e in exps {
            let als = self.exp(e);
            done.push((e.span, als, self.trail.len()));
        }
        if self.trail.len() > first {
            for (span, als, after) in &done {
                self.still_there(*span, als, *after);
            }
        }
        done.into_iter().map(|(_, als, _)| als).collect()
    }

    /// A value must not have been consumed between its evaluation and its use.
    pub(super) fn still_there(&mut self, span: Span, als: &Als, after: usize) {
        if self.trail.len() == after {
            return;
        }
        let vars = self.vars_of(als);
        let gone = self.trail[after..]
            .iter()
            .find(|v| vars.contains(v))
            .copied();
        if let Some(var) = gone
            && let Some(event) = self.consumed.get(&var).copied()
        {
            self.used_after(None, span, var, event);
        }
    }

    /// What the branches give: what a branch has consumed is no part of it any more.
    fn merged(&mut self, als: Als, consumed: super::Consumed) -> Als {
        if consumed.is_empty() {
            return als;
        }
        self.note_consumed(consumed);
        self.unconsumed(&als)
    }

    /// Components in the order of the type.
    fn record(&mut self, fields: &[(Sym, Exp)]) -> Als {
        let values = self.exps(fields.iter().map(|(_, e)| e));
        let mut parts: Vec<(&Sym, Als)> = fields.iter().map(|(f, _)| f).zip(values).collect();
        parts.sort_by_key(|(field, _)| *field);
        Als::Parts(parts.into_iter().map(|(_, als)| als).collect())
    }

    fn field(&mut self, record: &Exp, field: &Sym, ty: &Type) -> Als {
        let als = self.exp(record);
        match field_index(&record.ty, field) {
            Some(index) => self.places.component(&als, index, ty),
            None => Als::any(als.all(), ty),
        }
    }

    fn let_exp(&mut self, pat: &Pat, value: &Exp, body: &Exp) -> Als {
        let before = self.trail.len();
        let als = self.exp(value);
        if self.trail.len() > before && !returns::order_zero(&value.ty) {
            self.consuming_function(value.span, before, "this function value");
        }
        let vars = self.bind(pat, &als, Kind::Local);
        let result = self.exp(body);
        self.unscope(&vars);
        result
    }

    fn let_fun(&mut self, def: &ValueDef, body: &Exp) -> Als {
        let fun = Function {
            params: &def.params,
            body: &def.body,
            ret: &def.ret.ty,
            declared: returns::any_unique(&def.ret.ty),
        };
        let (captured, ret) = self.function(&fun);
        let scheme = returns::with_result(&def.scheme.ty, def.params.len(), &ret);
        let local = Local {
            als: Als::any(captured, &scheme),
            depth: self.depth(),
            scheme: Some(scheme),
        };
        self.locals.insert(def.name, local);
        self.exp(body)
    }

    fn lambda(&mut self, params: &[Pat], body: &Exp, ret: &Type, ty: &Type) -> Als {
        let fun = Function {
            params,
            body,
            ret,
            declared: returns::any_unique(ret),
        };
        let (captured, ret) = self.function(&fun);
        match returns::with_result(ty, params.len(), &ret) {
            Type::Fun(f) => Als::Fun(captured, f),
            Type::Prim(_)
            | Type::Array(_)
            | Type::Tuple(_)
            | Type::Record(_)
            | Type::Sum(_)
            | Type::Named(_)
            | Type::Meta(_) => Als::any(captured, ty),
        }
    }

    fn match_exp(&mut self, scrutinee: &Exp, cases: &[Case], ty: &Type) -> Als {
        let matched = self.exp(scrutinee);
        let mut consumed = Vec::new();
        let mut result: Option<Als> = None;
        for case in cases {
            let (als, more) = self.contain(|this| {
                let vars = this.bind(&case.pat, &matched, Kind::Local);
                let als = this.exp(&case.body);
                this.unscope(&vars);
                als
            });
            consumed.extend(more);
            result = Some(match result {
                None => als,
                Some(before) => self.places.either(&before, &als, ty),
            });
        }
        self.merged(result.unwrap_or_default(), consumed)
    }

    pub(super) fn slices(&mut self, slices: &[Slice]) {
        for slice in slices {
            match slice {
                Slice::Index(e) => drop(self.exp(e)),
                Slice::Range { start, end, stride } => {
                    let parts = [start, end, stride].into_iter().flatten();
                    parts.for_each(|e| drop(self.exp(e)));
                }
            }
        }
    }

    fn update(&mut self, span: Span, source: &Exp, path: &[Step], value: &Exp) -> Als {
        let mut in_place = false;
        for step in path {
            match step {
                Step::Field(_) | Step::TupleField(_) => {}
                Step::Index(slices) => {
                    in_place = true;
                    self.slices(slices);
                }
            }
        }
        if !in_place && names_a_part(source) {
            return self.replace_part(source, path, value);
        }
        let new = self.exp(value);
        let after = self.trail.len();
        let old = self.exp(source);
        self.still_there(value.span, &new, after);
        if !in_place {
            return self.replace(&old, &source.ty, path, new);
        }
        let mut beside = Set::default();
        let reached = self.reached(&old, &source.ty, path, &mut beside);
        if let Some(shared) = self.places.common(&reached, &beside) {
            self.update_beside(span, source.span, shared);
        }
        let (old, new) = (old.all(), new.all());
        if let Some(shared) = self.places.common(&old, &new) {
            self.update_overlap(value.span, source.span, shared);
        }
        self.consume(span, &old);
        Als::Fresh
    }

    /// A record or tuple with a new part: `r with a = (r.a with [i] = x)` may consume the part that it replaces.
    fn replace_part(&mut self, source: &Exp, path: &[Step], value: &Exp) -> Als {
        let old = self.exp(source);
        let (after, spent) = (self.trail.len(), self.spent.len());
        let new = self.exp(value);
        if self.trail.len() > after {
            let mut kept = Set::default();
            self.reached(&old, &source.ty, path, &mut kept);
            let spent = &self.spent[spent..];
            let known: Vec<_> = spent.iter().cloned().map(Als::Any).collect();
            let known: Vec<_> = known.iter().flat_map(|als| self.vars_of(als)).collect();
            let vars = self.vars_of(&old);
            let unknown = |v| vars.contains(v) && !known.contains(v);
            if spent.iter().any(|set| self.shares(set, &kept))
                || self.trail[after..].iter().any(unknown)
            {
                self.still_there(source.span, &old, after);
            }
        }
        let old = self.unconsumed(&old);
        self.replace(&old, &source.ty, path, new)
    }

    /// The places of the array that an in-place update reaches; those of the parts beside it are added to `beside`.
    fn reached(&mut self, als: &Als, ty: &Type, path: &[Step], beside: &mut Set) -> Set {
        let index = match path.first() {
            Some(Step::Field(field)) => field_index(ty, field),
            Some(Step::TupleField(index)) => Some(*index),
            Some(Step::Index(_)) | None => None,
        };
        let parts = self.places.components(als, ty);
        let (Some(index), Some(parts)) = (index, parts) else {
            return als.all();
        };
        let mut found = Set::default();
        for (i, (part, t)) in parts.iter().enumerate() {
            if i == index {
                found = self.reached(part, t, &path[1..], beside);
            } else {
                *beside = beside.union(&part.all());
            }
        }
        found
    }

    /// A copy of a record or tuple in which a part is another.
    fn replace(&mut self, old: &Als, ty: &Type, path: &[Step], new: Als) -> Als {
        let Some((step, rest)) = path.split_first() else {
            return new;
        };
        let index = match step {
            Step::Field(field) => field_index(ty, field),
            Step::TupleField(index) => Some(*index),
            Step::Index(_) => None,
        };
        let parts = self.places.components(old, ty);
        let (Some(index), Some(mut parts)) = (index, parts) else {
            return Als::any(old.all().union(&new.all()), ty);
        };
        if let Some((part, t)) = parts.get_mut(index) {
            *part = self.replace(&part.clone(), &t.clone(), rest, new);
        }
        Als::Parts(parts.into_iter().map(|(part, _)| part).collect())
    }

    /// The bound or array of a loop, which is evaluated before the loop.
    pub(super) fn loop_head(&mut self, form: &LoopForm) -> Als {
        match form {
            LoopForm::For { bound, .. } => {
                self.exp(bound);
                Als::Fresh
            }
            LoopForm::ForIn { array, .. } => self.exp(array),
            LoopForm::While(_) => Als::Fresh,
        }
    }

    /// Makes a scalar known.
    pub(super) fn bind_scalar(&mut self, name: Name) {
        let local = Local {
            als: Als::Fresh,
            depth: self.depth(),
            scheme: None,
        };
        self.locals.insert(name, local);
    }
}

fn field_index(ty: &Type, field: &Sym) -> Option<usize> {
    match ty {
        Type::Record(fields) => fields.iter().position(|(f, _)| f == field),
        Type::Prim(_)
        | Type::Array(_)
        | Type::Tuple(_)
        | Type::Sum(_)
        | Type::Fun(_)
        | Type::Named(_)
        | Type::Meta(_) => None,
    }
}

/// Whether an argument's type can have memory that a call consumes.
pub(super) fn may_be_consumed(ty: &Type) -> bool {
    holds_memory(ty) && returns::any_unique(ty)
}

/// Whether an expression is a variable or a part of one.
fn names_a_part(exp: &Exp) -> bool {
    if let ExpKind::Field(of, _) | ExpKind::TupleField(of, _) = &exp.kind {
        return names_a_part(of);
    }
    matches!(exp.kind, ExpKind::Var { .. })
}
