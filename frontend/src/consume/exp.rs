//! What each construct uses, consumes and aliases.

use super::alias::{Al, Set};
use super::returns::{fun_type, has_function};
use super::{Checked, Consume, names_of};
use crate::diagnostic::{Code, Diagnostic};
use crate::lower::mentions;
use crate::typed::{Case, Exp, ExpKind, Pat, Slice, Step, Sym, Type, ValueDef};
use std::collections::BTreeSet;

impl<'p> Consume<'p> {
    /// An expression.
    pub(super) fn exp(&mut self, e: &'p Exp) -> Checked {
        stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || self.exp_kind(e))
    }

    fn exp_kind(&mut self, e: &'p Exp) -> Checked {
        match &e.kind {
            ExpKind::Lit(_) | ExpKind::String(_) | ExpKind::Hole | ExpKind::Size(_) => fresh(e),
            ExpKind::Var { name, .. } => self.observe(*name, &e.ty, e.span),
            ExpKind::Tuple(es) => {
                let parts: Vec<Checked> = es.iter().map(|e| self.exp(e)).collect();
                let types = parts.iter().map(|p| p.ty.clone()).collect();
                Checked {
                    al: Al::Tuple(parts.into_iter().map(|p| p.al).collect()),
                    ty: Type::Tuple(types),
                }
            }
            ExpKind::Record(fields) => self.record(fields),
            ExpKind::Array(es) => {
                for e in es {
                    self.exp(e);
                }
                fresh(e)
            }
            ExpKind::Construct(con, es) => self.construct(e, con, es),
            ExpKind::Range { start, second, end } => {
                self.exp(start);
                if let Some(second) = second {
                    self.exp(second);
                }
                self.exp(&end.1);
                fresh(e)
            }
            ExpKind::Coerce(inner) | ExpKind::Attr(_, inner) => self.exp(inner),
            ExpKind::Apply { fun, args, infix } => self.apply(e, fun, args, *infix),
            ExpKind::Negate(inner) | ExpKind::Not(inner) => {
                self.exp(inner);
                fresh(e)
            }
            ExpKind::Field(inner, name) => {
                let v = self.exp(inner);
                v.field(name, &e.ty)
            }
            ExpKind::TupleField(inner, i) => {
                let v = self.exp(inner);
                v.component(*i, &e.ty)
            }
            ExpKind::Lambda { params, body, ret } => {
                let free = self.free_in(Self::exp_names(e));
                let closure = self.closure(&free);
                let declared = &ret.ty;
                let body_span = body.span;
                let checked = self.in_params(params, |cx| {
                    let v = cx.exp(body);
                    cx.check_result(params, declared, &v.al, body_span);
                    cx.check_global_result(params, &v.al, body_span);
                    v
                });
                let ret = self.infer_unique(params, declared, &checked.al);
                Checked {
                    al: closure,
                    ty: fun_type(params, ret),
                }
            }
            ExpKind::Let {
                pat, value, body, ..
            } => self.let_(pat, value, body),
            ExpKind::LetFun { def, body } => {
                self.local_def(def);
                let mut v = self.exp(body);
                v.al.unscope(&BTreeSet::from([def.name.0]));
                v
            }
            ExpKind::If {
                cond,
                then,
                otherwise,
            } => {
                self.exp(cond);
                let ((), a, by_then) = self.contained(|cx| ((), cx.exp(then)));
                let ((), b, by_else) = self.contained(|cx| ((), cx.exp(otherwise)));
                let gone: BTreeSet<u32> = by_then.keys().chain(by_else.keys()).copied().collect();
                self.note_consumed(&by_then);
                self.note_consumed(&by_else);
                Checked {
                    al: without(&a.al.join(&b.al), &gone),
                    ty: a.ty,
                }
            }
            ExpKind::Match { scrutinee, cases } => self.match_(scrutinee, cases),
            ExpKind::Loop {
                pat,
                init,
                form,
                body,
                ..
            } => self.loop_(e, pat, init, form, body),
            ExpKind::Index { array, slices } => {
                let v = self.exp(array);
                self.slices(slices);
                Checked {
                    al: Al::all(&e.ty, &v.al.set()),
                    ty: e.ty.clone(),
                }
            }
            ExpKind::Update {
                source,
                path,
                value,
            } => self.update(e, source, path, value),
            ExpKind::Assert { cond, body, .. } => {
                self.exp(cond);
                self.exp(body)
            }
        }
    }

    pub(super) fn slices(&mut self, slices: &'p [Slice]) {
        for slice in slices {
            match slice {
                Slice::Index(e) => {
                    self.exp(e);
                }
                Slice::Range { start, end, stride } => {
                    for e in [start, end, stride].into_iter().flatten() {
                        self.exp(e);
                    }
                }
            }
        }
    }

    fn record(&mut self, fields: &'p [(Sym, Exp)]) -> Checked {
        let mut als = Vec::new();
        let mut types = Vec::new();
        for (name, e) in fields {
            let v = self.exp(e);
            als.push((name.clone(), v.al));
            types.push((name.clone(), v.ty));
        }
        als.sort_by(|a, b| a.0.cmp(&b.0));
        types.sort_by(|a, b| a.0.cmp(&b.0));
        Checked {
            al: Al::Record(als),
            ty: Type::Record(types.into()),
        }
    }

    fn construct(&mut self, e: &'p Exp, con: &Sym, es: &'p [Exp]) -> Checked {
        let parts: Vec<Al> = es.iter().map(|e| self.exp(e).al).collect();
        let mut al = Al::none(&e.ty);
        if let Al::Sum(cons) = &mut al
            && let Some((_, payload)) = cons.iter_mut().find(|(name, _)| name == con)
        {
            *payload = parts;
        }
        let ty = e.ty.clone();
        Checked { al, ty }
    }

    fn let_(&mut self, pat: &'p Pat, value: &'p Exp, body: &'p Exp) -> Checked {
        let ((), v, new) = self.contained(|cx| ((), cx.exp(value)));
        self.note_consumed(&new);
        if !new.is_empty() && has_function(&value.ty) {
            self.functional_consumption(value.span, "this expression is a function that");
        }
        self.bind_pat(pat, &v);
        let mut result = self.exp(body);
        result.al.unscope(&names_of(std::slice::from_ref(pat)));
        result
    }

    fn local_def(&mut self, def: &'p ValueDef) {
        let free = self.free_in(|f| {
            def.params.iter().for_each(|p| mentions::pat(p, f));
            mentions::exp(&def.body, f);
        });
        let closure = self.closure(&free);
        let checked = self.in_params(&def.params, |cx| {
            let v = cx.exp(&def.body);
            cx.check_result(&def.params, &def.ret.ty, &v.al, def.body.span);
            cx.check_global_result(&def.params, &v.al, def.body.span);
            v
        });
        let ret = self.infer_unique(&def.params, &def.ret.ty, &checked.al);
        let ty = super::returns::with_result(&def.scheme.ty, def.params.len(), &ret);
        let entry = super::Entry {
            al: closure,
            ty,
            consumable: false,
            depth: self.depth,
        };
        self.env.insert(def.name, entry);
    }

    fn match_(&mut self, scrutinee: &'p Exp, cases: &'p [Case]) -> Checked {
        let v = self.exp(scrutinee);
        let mut joined: Option<Checked> = None;
        let mut all = Vec::new();
        for case in cases {
            let ((), mut part, new) = self.contained(|cx| {
                cx.bind_pat(&case.pat, &v);
                ((), cx.exp(&case.body))
            });
            part.al.unscope(&names_of(std::slice::from_ref(&case.pat)));
            all.push(new);
            joined = Some(match joined {
                None => part,
                Some(before) => Checked {
                    al: before.al.join(&part.al),
                    ty: before.ty,
                },
            });
        }
        let gone: BTreeSet<u32> = all.iter().flat_map(|new| new.keys().copied()).collect();
        for new in &all {
            self.note_consumed(new);
        }
        match joined {
            Some(joined) => Checked {
                al: without(&joined.al, &gone),
                ty: joined.ty,
            },
            None => v,
        }
    }

    fn update(&mut self, e: &'p Exp, source: &'p Exp, path: &'p [Step], value: &'p Exp) -> Checked {
        for step in path {
            match step {
                Step::Field(_) | Step::TupleField(_) => {}
                Step::Index(slices) => self.slices(slices),
            }
        }
        let new = self.exp(value);
        let old = self.exp(source);
        let in_place = path.iter().any(|s| matches!(s, Step::Index(_)));
        if !in_place {
            return Checked {
                al: replaced(&old.al, path, &new.al),
                ty: e.ty.clone(),
            };
        }
        let set = old.al.set();
        if !set.is_disjoint(&new.al.set()) {
            let message = "the array of this in-place update may alias the new value";
            let error = Diagnostic::error(Code::SelfAliasing, value.span, message);
            self.errors
                .push(error.hint("use `copy` to remove aliases from the value"));
        }
        self.consume(&set, e.span);
        fresh(e)
    }
}

/// A value that shares nothing.
fn fresh(e: &Exp) -> Checked {
    Checked {
        al: Al::none(&e.ty),
        ty: e.ty.clone(),
    }
}

/// Aliases without what has been consumed.
fn without(al: &Al, gone: &BTreeSet<u32>) -> Al {
    al.map(&mut |a| (!gone.contains(&a.id)).then_some(a))
}

/// The aliases of a record of which a part was replaced.
fn replaced(old: &Al, path: &[Step], new: &Al) -> Al {
    let Some((step, rest)) = path.split_first() else {
        return new.clone();
    };
    match (step, old) {
        (Step::Field(name), Al::Record(als)) => Al::Record(
            als.iter()
                .map(|(n, a)| {
                    let a = if n == name {
                        replaced(a, rest, new)
                    } else {
                        a.clone()
                    };
                    (n.clone(), a)
                })
                .collect(),
        ),
        (Step::TupleField(i), Al::Tuple(als)) => {
            let als = als.iter().enumerate();
            let als = als.map(|(j, a)| {
                if j == *i {
                    replaced(a, rest, new)
                } else {
                    a.clone()
                }
            });
            Al::Tuple(als.collect())
        }
        (Step::Index(_), _) => Al::Leaf(Set::new()),
        (Step::Field(_) | Step::TupleField(_), _) => old.clone().join(new),
    }
}
