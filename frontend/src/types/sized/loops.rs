//! Loops in the second pass: which sizes of the loop parameters change from iteration to iteration.
//!
//! Every size of the initial value becomes flexible for the body. Comparing the body's result with the parameters then shows
//! which sizes the body reproduces; the others, and all that copy from them, change. Those become sizes that each
//! iteration binds anew, and unknown sizes of the whole loop.

use super::{Sizer, State, ValTy};
use crate::diagnostic::{Code, Diagnostic};
use crate::source::Span;
use crate::syntax::ptr::P;
use crate::typed::{Exp, ExpKind, LoopForm, LoopSize, NameKind, Pat};
use crate::types::context::{Res, err};
use crate::types::opaque::{each_size, metas_of_size};
use crate::types::raw::{RExp, RForm, RPat, RPatKind};
use crate::types::subst::{Subst, any_unique, clear_unique, map_sizes};
use crate::types::ty::{Atom, Name, Prim, Size, Type};
use midend::hash::HashSet;
use std::collections::{BTreeMap, BTreeSet};

/// How the body treats a size.
#[derive(Clone, Copy, PartialEq)]
enum Class {
    /// As the initial size, or as that of another parameter with the same initial size.
    Same(Option<u32>),
    New,
}

/// The sizes of loop parameters that are being decided.
struct Dims {
    initial: BTreeMap<u32, Size>,
    /// Names from here on came into being inside the loop.
    names_before: usize,
    level: u32,
}

impl Sizer<'_, '_> {
    pub(crate) fn loop_exp(
        &mut self,
        pat: &RPat,
        init: &RExp,
        form: &RForm,
        body: &RExp,
        span: Span,
    ) -> Res<Exp> {
        let init = self.boxed(init)?;
        let init_ty = clear_unique(&self.ty(&init.ty));
        let mut dims = Dims {
            initial: BTreeMap::new(),
            names_before: self.cx.names.len(),
            level: self.level,
        };
        let loop_ty = map_sizes(&init_ty, &mut |s| {
            if s.is_irregular() {
                return s.clone();
            }
            let m = self.meta(State::Flexible, span, "a size of a loop parameter");
            self.loop_sizes.insert(m);
            dims.initial.insert(m, s.clone());
            Size::atom(Atom::Meta(m))
        });
        let (head, form_pat) = self.loop_head(form)?;
        note_kept(pat, false, &mut self.cx.kept);
        let pat = self.pattern(pat, Some(&loop_ty))?;
        let level = self.level;
        self.level += 1;
        let form = match (form, head) {
            (RForm::While(cond), None) => LoopForm::While(self.boxed(cond)?),
            (RForm::For(var, _), Some(bound)) => {
                let prim = bound.ty.as_prim().unwrap_or(Prim::I64);
                LoopForm::For {
                    var: *var,
                    prim,
                    bound: P::new(bound),
                }
            }
            (RForm::ForIn(..), Some(array)) => LoopForm::ForIn {
                pat: form_pat.expect("the head of a for-in loop has a pattern"),
                array: P::new(array),
            },
            (RForm::While(_), Some(_)) | (RForm::For(..) | RForm::ForIn(..), None) => {
                return err(Code::TypeMismatch, span, "this loop has no bound");
            }
        };
        let body = self.boxed(body)?;
        for m in dims.initial.keys() {
            self.loop_sizes.remove(m);
        }
        let (sizes, pat) = self.decide(&dims, &loop_ty, pat, &body, span)?;
        self.level = level;
        self.admits(
            &pat,
            &sizes,
            &init.ty,
            init.span,
            "initial value of the loop",
        )?;
        self.irrefutable(&pat)?;
        self.loop_result_is_data(&pat.ty, span)?;

        let mut subst = Subst::default();
        let mut exts = Vec::new();
        for s in &sizes {
            let text = self.cx.names.text(s.name).to_owned();
            let fresh = self.unknown(span, &text, "a size that changes in this loop");
            subst.sizes.insert(s.name, Size::name(fresh));
            exts.push(fresh);
        }
        let ty = self.ty(&pat.ty);
        let ty = clear_unique(&subst.ty(&mut self.cx.names, &ty, &mut Vec::new()));
        let kind = ExpKind::Loop {
            sizes,
            pat,
            init,
            form,
            body,
        };
        Ok(Exp {
            kind,
            ty,
            span,
            exts,
        })
    }

    fn loop_head(&mut self, form: &RForm) -> Res<(Option<Exp>, Option<Pat>)> {
        match form {
            RForm::For(var, bound) => {
                let bound = self.exp(bound)?;
                if bound.ty.as_prim() == Some(Prim::I64) {
                    self.param_size(*var);
                }
                self.vals.insert(*var, ValTy::Mono(bound.ty.clone()));
                Ok((Some(bound), None))
            }
            RForm::ForIn(p, array) => {
                let array = self.exp(array)?;
                let array_ty = self.ty(&array.ty);
                let elem = if let Type::Array(a) = &array_ty {
                    self.tie(&a.size);
                    a.elem.clone()
                } else {
                    array_ty
                };
                let p = self.pattern(p, Some(&elem))?;
                self.irrefutable(&p)?;
                Ok((Some(array), Some(p)))
            }
            RForm::While(_) => Ok((None, None)),
        }
    }

    /// The sizes that change, and the parameters with what is known then.
    fn decide(
        &mut self,
        dims: &Dims,
        loop_ty: &Type,
        pat: Pat,
        body: &Exp,
        span: Span,
    ) -> Res<(Vec<LoopSize>, Pat)> {
        let body_ty = self.ty(&body.ty);
        let pat = self.pat(pat);
        // The body may have linked a size to another flexible one, which then stands for it.
        let mut initial = BTreeMap::new();
        for (m, size) in &dims.initial {
            if let Some(Atom::Meta(now)) = self.size(&Size::atom(Atom::Meta(*m))).as_atom() {
                initial.insert(*now, size.clone());
            }
        }
        let dims = &Dims { initial, ..*dims };
        self.no_inner_sizes(dims, &pat)?;
        // Against fresh sizes, since the body may well give other sizes than it gets.
        let loose = map_sizes(&pat.ty, &mut |s| {
            let mut metas = Vec::new();
            metas_of_size(s, &mut metas);
            if metas.iter().any(|m| dims.initial.contains_key(m)) {
                self.flexible(span, "a size of a loop parameter")
            } else {
                s.clone()
            }
        });
        self.unify(body.span, "loop body", &loose, &body_ty)?;

        let variant = self.variant_sizes(dims, loop_ty, &body_ty);
        let mut sizes = Vec::new();
        for m in variant {
            if self.metas[m as usize].level < dims.level {
                return Err(Box::new(
                    Diagnostic::error(Code::BadSize, span, "a size that changes in this loop is used outside of it")
                        .note("a variable from outside of the loop has a type that would have to change with it"),
                ));
            }
            let name = self.cx.fresh("n", Some(span), NameKind::Size);
            let init = dims.initial[&m].clone();
            self.metas[m as usize].state = State::Solved(Size::name(name));
            sizes.push(LoopSize { name, init });
        }
        let pat = self.pat(pat);
        self.admits(&pat, &sizes, &body.ty, body.span, "loop body")?;
        Ok((sizes, pat))
    }

    /// A loop parameter cannot have a size that is computed inside the loop.
    fn no_inner_sizes(&mut self, dims: &Dims, pat: &Pat) -> Res<()> {
        let bad = crate::types::infer::tyexp::free_sizes(&pat.ty)
            .into_iter()
            .find(|n| n.0 as usize >= dims.names_before && self.is_unknown(*n));
        let Some(bad) = bad else { return Ok(()) };
        let text = self.cx.names.text(bad).to_owned();
        let shown = crate::types::print::ty(&self.cx.names, &pat.ty);
        let message = format!(
            "the loop parameter would have the type `{shown}`, but `{text}` is computed inside the loop"
        );
        let mut d = Diagnostic::error(Code::BadSize, pat.span, message);
        if let Some((at, why)) = self.rigid.get(&bad).and_then(|r| r.unknown) {
            d = d.also(at, format!("computed here: {why}"));
        }
        Err(Box::new(d))
    }

    fn variant_sizes(&mut self, dims: &Dims, loop_ty: &Type, body_ty: &Type) -> BTreeSet<u32> {
        let (loop_ty, body_ty) = (self.ty(loop_ty), self.ty(body_ty));
        let mut given = Vec::new();
        each_size(&loop_ty, &mut |s| given.push(s.clone()));
        let mut made = Vec::new();
        each_size(&body_ty, &mut |s| made.push(s.clone()));
        let mut classes: BTreeMap<u32, Class> = BTreeMap::new();
        for (e, d) in given.iter().zip(&made) {
            if e == d {
                continue;
            }
            let mut metas = Vec::new();
            metas_of_size(e, &mut metas);
            for m in metas {
                let Some(initial) = dims.initial.get(&m) else {
                    continue;
                };
                let initial = self.undecided_initial(initial, d, dims);
                let class = if initial == *d {
                    Class::Same(None)
                } else {
                    match d.as_atom() {
                        Some(Atom::Meta(u))
                            if dims.initial.get(u).is_some_and(|i| self.size(i) == initial) =>
                        {
                            Class::Same(Some(*u))
                        }
                        Some(_) | None => Class::New,
                    }
                };
                classes.insert(m, class);
            }
        }
        let mut variant: BTreeSet<u32> = classes
            .iter()
            .filter(|(_, c)| **c == Class::New)
            .map(|(m, _)| *m)
            .collect();
        loop {
            let more: Vec<u32> = classes
                .iter()
                .filter(|(m, c)| {
                    matches!(c, Class::Same(Some(u)) if variant.contains(u)) && !variant.contains(m)
                })
                .map(|(m, _)| *m)
                .collect();
            if more.is_empty() {
                break;
            }
            variant.extend(more);
        }
        for (m, class) in &classes {
            if matches!(class, Class::Same(_)) && !variant.contains(m) {
                let initial = self.size(&dims.initial[m]);
                let mut metas = Vec::new();
                metas_of_size(&initial, &mut metas);
                // The body may have made the initial size depend on this one.
                if !metas.contains(m) {
                    self.metas[*m as usize].state = State::Solved(initial);
                }
            }
        }
        variant
    }

    /// The initial size, which is that of the body if nothing has decided it.
    fn undecided_initial(&mut self, initial: &Size, made: &Size, dims: &Dims) -> Size {
        let initial = self.size(initial);
        let mut metas = Vec::new();
        metas_of_size(made, &mut metas);
        if let Some(Atom::Meta(m)) = initial.as_atom()
            && !self.is_existential(*m)
            && !made.is_irregular()
            && !metas.iter().any(|m| dims.initial.contains_key(m))
            && self.can_link(*m, made)
        {
            self.decide_size(*m, made.clone());
            return made.clone();
        }
        initial
    }

    /// The parameters, with any values of the sizes that change, must fit a value.
    fn admits(
        &mut self,
        pat: &Pat,
        sizes: &[LoopSize],
        ty: &Type,
        span: Span,
        what: &str,
    ) -> Res<()> {
        let mut subst = Subst::default();
        let names: Vec<Name> = sizes.iter().map(|s| s.name).collect();
        for n in names {
            let size = self.flexible(span, "a size that changes in a loop");
            subst.sizes.insert(n, size);
        }
        let wanted = self.ty(&pat.ty);
        let wanted = subst.ty(&mut self.cx.names, &wanted, &mut Vec::new());
        self.unify(span, what, &wanted, ty)
    }
}

/// Finds the names that stand under a written type without marks of uniqueness.
fn note_kept(pat: &RPat, kept: bool, out: &mut HashSet<Name>) {
    match &pat.kind {
        RPatKind::Name(name) => {
            if kept {
                out.insert(*name);
            }
        }
        RPatKind::Wild | RPatKind::Lit { .. } => {}
        RPatKind::Tuple(ps) | RPatKind::Construct(_, ps) => {
            ps.iter().for_each(|p| note_kept(p, kept, out));
        }
        RPatKind::Record(ps) => ps.iter().for_each(|(_, p)| note_kept(p, kept, out)),
        RPatKind::Ascribe(inner, te) => note_kept(inner, kept || !any_unique(&te.ty), out),
    }
}
