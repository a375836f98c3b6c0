//! Causality: a size that the program computes must be computed before a value needs it.

use super::Sizer;
use super::def::bound_exts;
use crate::diagnostic::{Code, Diagnostic};
use crate::source::Span;
use crate::typed::{Exp, ExpKind, LoopForm, Slice, Step};
use crate::types::context::Res;
use crate::types::infer::tyexp::free_sizes;
use crate::types::print;
use crate::types::ty::{Name, Type};
use midend::hash::HashSet;

/// Checks a whole body.
pub(crate) fn check(z: &Sizer<'_, '_>, body: &Exp) -> Res<()> {
    Causal {
        z,
        known: HashSet::default(),
    }
    .exp(body)
}

struct Causal<'z, 'c, 'a> {
    z: &'z Sizer<'c, 'a>,
    known: HashSet<Name>,
}

impl Causal<'_, '_, '_> {
    fn need(&self, ty: &Type, what: &str, span: Span) -> Res<()> {
        let bad = |n: &Name| !self.known.contains(n) && self.z.is_unknown(*n);
        let free = free_sizes(ty);
        if !free.iter().any(bad) {
            return Ok(());
        }
        let bound = bound_exts(ty);
        let Some(n) = free.into_iter().find(|n| bad(n) && !bound.contains(n)) else {
            return Ok(());
        };
        let names = &self.z.cx.names;
        let text = names.text(n);
        let message = format!(
            "the type of {what} is `{}`, but its size `{text}` is not computed before",
            print::ty(names, ty)
        );
        let mut d = Diagnostic::error(Code::Causality, span, message);
        if let Some((at, why)) = self.z.rigid.get(&n).and_then(|r| r.unknown) {
            d = d.also(at, format!("`{text}` is computed here: {why}"));
        }
        Err(Box::new(d.hint(format!(
            "bind the expression that computes `{text}` with `let` first"
        ))))
    }

    /// What is computed inside stays inside.
    fn inside(&mut self, f: impl FnOnce(&mut Self) -> Res<()>) -> Res<()> {
        let known = self.known.clone();
        let out = f(self);
        self.known = known;
        out
    }

    fn exps<'e>(&mut self, es: impl IntoIterator<Item = &'e Exp>) -> Res<()> {
        es.into_iter().try_for_each(|e| self.exp(e))
    }

    fn exp(&mut self, e: &Exp) -> Res<()> {
        stacker::maybe_grow(64 * 1024, 1024 * 1024, || {
            self.children(e)?;
            self.known.extend(&e.exts);
            Ok(())
        })
    }

    fn children(&mut self, e: &Exp) -> Res<()> {
        match &e.kind {
            ExpKind::Lit(_) | ExpKind::String(_) | ExpKind::Size(_) => Ok(()),
            ExpKind::Hole => self.need(&e.ty, "this hole", e.span),
            ExpKind::Var { name, .. } => {
                let what = format!("`{}`", self.z.cx.names.text(*name));
                self.need(&e.ty, &what, e.span)
            }
            ExpKind::Array(es) if es.is_empty() => self.need(&e.ty, "this empty array", e.span),
            ExpKind::Tuple(es) | ExpKind::Array(es) => self.exps(es),
            ExpKind::Record(fields) => self.exps(fields.iter().map(|(_, e)| e)),
            ExpKind::Construct(_, args) => {
                self.exps(args)?;
                self.need(&e.ty, "this constructor", e.span)
            }
            ExpKind::Range { start, second, end } => {
                self.exp(start)?;
                self.exps(second.as_deref())?;
                self.exp(&end.1)
            }
            ExpKind::Coerce(e)
            | ExpKind::Negate(e)
            | ExpKind::Not(e)
            | ExpKind::Field(e, _)
            | ExpKind::TupleField(e, _)
            | ExpKind::Attr(_, e) => self.exp(e),
            ExpKind::Apply { fun, args, infix } => {
                if *infix {
                    self.exps(args)?;
                } else {
                    self.exps(args.iter().rev())?;
                }
                self.exp(fun)
            }
            ExpKind::Lambda { params, body, .. } => {
                for p in params {
                    self.need(&p.ty, "this parameter", p.span)?;
                }
                self.inside(|this| this.exp(body))
            }
            ExpKind::Let { value, body, .. } => {
                self.exp(value)?;
                self.exp(body)
            }
            ExpKind::LetFun { def, body } => {
                self.inside(|this| this.exp(&def.body))?;
                self.exp(body)
            }
            ExpKind::If {
                cond,
                then,
                otherwise,
            } => {
                self.exp(cond)?;
                self.inside(|this| this.exp(then))?;
                self.inside(|this| this.exp(otherwise))
            }
            ExpKind::Match { scrutinee, cases } => {
                self.exp(scrutinee)?;
                cases
                    .iter()
                    .try_for_each(|case| self.inside(|this| this.exp(&case.body)))
            }
            ExpKind::Loop {
                init, form, body, ..
            } => {
                self.exp(init)?;
                match form {
                    LoopForm::For { bound, .. } => self.exp(bound)?,
                    LoopForm::ForIn { array, .. } => self.exp(array)?,
                    LoopForm::While(cond) => self.inside(|this| this.exp(cond))?,
                }
                self.inside(|this| this.exp(body))
            }
            ExpKind::Index { array, slices } => {
                self.exp(array)?;
                self.slices(slices)
            }
            ExpKind::Update {
                source,
                path,
                value,
            } => {
                self.exp(source)?;
                for step in path {
                    match step {
                        Step::Index(slices) => self.slices(slices)?,
                        Step::Field(_) | Step::TupleField(_) => {}
                    }
                }
                self.exp(value)
            }
            ExpKind::Assert { cond, body, .. } => {
                self.exp(cond)?;
                self.exp(body)
            }
        }
    }

    fn slices(&mut self, slices: &[Slice]) -> Res<()> {
        for slice in slices {
            match slice {
                Slice::Index(e) => self.exp(e)?,
                Slice::Range { start, end, stride } => {
                    self.exps([start, end, stride].into_iter().flatten())?;
                }
            }
        }
        Ok(())
    }
}
