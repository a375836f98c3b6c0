//! Results of applications, and sizes that go out of scope.

use super::uses::{bound_inside, dim_uses};
use super::{Sizer, State};
use crate::diagnostic::{Code, Diagnostic};
use crate::source::Span;
use crate::typed::Exp;
use crate::types::context::Res;
use crate::types::infer::tyexp::free_sizes;
use crate::types::opaque::{
    grows, has_binding, metas_of_size, names_of_size, replace_metas, size_of_exp,
};
use crate::types::print;
use crate::types::subst::{Subst, clear_unique, rebuild};
use crate::types::ty::{
    ArrayType, Atom, FunType, Name, NamedType, Prim, RetType, Size, Type, TypeArg,
};
use midend::hash::{HashMap, HashSet};
use std::collections::BTreeMap;
use std::sync::Arc;

impl Sizer<'_, '_> {
    /// The type of an application to one more argument.
    pub(crate) fn apply_one(
        &mut self,
        ty: &Type,
        arg: &mut Exp,
        callee: Option<Name>,
        at: usize,
        rest: Option<Type>,
    ) -> Res<(Type, Vec<Name>)> {
        let Type::Fun(f) = ty else {
            // The first pass has seen to it that only functions are applied.
            return Ok((ty.clone(), Vec::new()));
        };
        let what = match callee {
            Some(name) => format!("argument {} of `{}`", at + 1, self.cx.names.text(name)),
            None => format!("argument {}", at + 1),
        };
        self.unify(arg.span, &what, &f.arg, &arg.ty)?;
        if let Some(rest) = rest {
            return Ok((rest, Vec::new()));
        }
        let (ret, mut exts) = self.open_ret(&f.ret, arg.span);
        let (mut ret, new) = self.free_pending(&ret, arg.span);
        exts.extend(new);
        self.check_result(&ret, &exts, &arg.ty, arg.span)?;
        if let Some(p) = f.param
            && free_sizes(&ret).contains(&p)
        {
            ret = self.substitute_arg(&ret, p, arg, &mut exts);
        }
        Ok((clear_unique_result(&ret), exts))
    }

    /// What is left of a function's type after an argument that is not the last, where no size in it can depend on the
    /// argument. It is not looked at, so that an application takes no time that is square in the number of arguments.
    pub(crate) fn rest_as_it_is(
        &self,
        ty: &Type,
        arg: &Exp,
        mentioned: &HashSet<Name>,
    ) -> Option<Type> {
        let Type::Fun(f) = ty else { return None };
        let mut inside = Vec::new();
        bound_inside(&arg.ty, &mut inside);
        let free = f
            .param
            .is_none_or(|p| !mentioned.contains(&p) && !self.binders.contains(&p));
        let same = free
            && inside.is_empty()
            && f.ret.exts.is_empty()
            && self.existentials == 0
            && self.aliases.is_empty()
            && matches!(f.ret.ty, Type::Fun(_));
        same.then(|| f.ret.ty.clone())
    }

    /// A result type with its existential sizes made unknown sizes of this place.
    fn open_ret(&mut self, ret: &RetType, span: Span) -> (Type, Vec<Name>) {
        let ty = self.ty(&ret.ty);
        if ret.exts.is_empty() {
            return (ty, Vec::new());
        }
        let mut subst = Subst::default();
        let mut exts = Vec::new();
        for ext in &ret.exts {
            let text = self.cx.names.text(*ext).to_owned();
            let fresh = self.unknown(span, &text, "the result of this call has a size of its own");
            subst.sizes.insert(*ext, Size::name(fresh));
            exts.push(fresh);
        }
        (subst.ty(&mut self.cx.names, &ty, &mut Vec::new()), exts)
    }

    /// Whether a size has absorbed an existential one.
    pub(crate) fn pending(&self, m: u32) -> bool {
        match &self.metas[m as usize].state {
            State::Existential { .. } => true,
            State::Copy { of, .. } => {
                matches!(self.metas[*of as usize].state, State::Existential { .. })
            }
            State::Flexible | State::Inst(_) | State::Solved(_) => false,
        }
    }

    /// Copies of one occurrence that absorbed the same size are one size: the first of them stands for all.
    pub(crate) fn merge_pending(&mut self, ty: &Type) -> Type {
        let mut reps: BTreeMap<(u32, Atom), u32> = BTreeMap::new();
        let mut rename: HashMap<u32, u32> = HashMap::default();
        let mut metas = Vec::new();
        crate::types::opaque::each_size(ty, &mut |s| metas_of_size(s, &mut metas));
        for m in metas {
            let (of, occurrence) = match self.metas[m as usize].state {
                State::Copy { of, occurrence } => (of, occurrence),
                State::Existential { .. } => (m, 0),
                State::Flexible | State::Inst(_) | State::Solved(_) => continue,
            };
            if let State::Existential { key: Some(key), .. } = self.metas[of as usize].state.clone()
            {
                let rep = *reps.entry((occurrence, key)).or_insert(m);
                rename.insert(m, rep);
            }
        }
        if rename.iter().all(|(a, b)| a == b) {
            return ty.clone();
        }
        replace_metas(&self.cx.names, ty, &mut |m| {
            Size::atom(Atom::Meta(rename.get(&m).copied().unwrap_or(m)))
        })
    }

    fn free_pending(&mut self, ty: &Type, span: Span) -> (Type, Vec<Name>) {
        let mut metas = Vec::new();
        crate::types::opaque::each_size(ty, &mut |s| metas_of_size(s, &mut metas));
        if !metas.iter().any(|m| self.pending(*m)) {
            return (ty.clone(), Vec::new());
        }
        let ty = self.merge_pending(ty);
        self.size_free(
            &ty,
            span,
            "the result of this call has a size of its own",
            &|this, s| {
                let mut metas = Vec::new();
                metas_of_size(s, &mut metas);
                metas.iter().any(|m| this.pending(*m))
            },
        )
    }

    /// A size that only the call makes known cannot be that of a parameter of the result.
    fn check_result(&mut self, ret: &Type, exts: &[Name], arg: &Type, span: Span) -> Res<()> {
        let mut inside = exts.to_vec();
        bound_inside(arg, &mut inside);
        if inside.is_empty() {
            return Ok(());
        }
        let (produced, params) = dim_uses(ret);
        if params
            .iter()
            .any(|n| inside.contains(n) && !produced.contains(n))
        {
            let message = "a size that only this call computes would be the size of a parameter of its result";
            let shown = print::ret(
                &self.cx.names,
                &RetType {
                    exts: exts.to_vec(),
                    ty: ret.clone(),
                },
            );
            return Err(Box::new(
                Diagnostic::error(Code::BadSize, span, message)
                    .note(format!("the result would have the type `{shown}`"))
                    .hint("write the function with all its parameters instead"),
            ));
        }
        Ok(())
    }

    fn substitute_arg(
        &mut self,
        ret: &Type,
        param: Name,
        arg: &mut Exp,
        exts: &mut Vec<Name>,
    ) -> Type {
        let mut subst = Subst::default();
        let is_size = arg.ty.as_prim() == Some(Prim::I64);
        if is_size {
            let known = size_of_exp(&self.cx.names, arg);
            let binds = known.is_none();
            let size = match known.filter(|s| !grows(ret, param, s)) {
                Some(size) => size,
                None if !binds => {
                    let d = self.unknown(arg.span, "n", "the value of this argument");
                    arg.exts.push(d);
                    Size::name(d)
                }
                None => {
                    self.cx.warn(
                        Code::SizeBinds,
                        arg.span,
                        "this size expression binds names, so the size of the result is not known",
                    );
                    let d = self.unknown(arg.span, "n", "the value of this argument");
                    arg.exts.push(d);
                    Size::name(d)
                }
            };
            subst.sizes.insert(param, size);
        } else if has_binding(&mut arg.clone()) {
            let (ty, new) = self.unscope(ret, &[param], arg.span, "it depends on this argument");
            exts.extend(new);
            return ty;
        } else {
            subst.exps.insert(param, arg.clone());
        }
        subst.ty(&mut self.cx.names, ret, &mut Vec::new())
    }

    // --- Sizes that go out of scope ------------------------------------

    /// Replaces sizes that mention names that go out of scope by unknown ones.
    pub(crate) fn unscope(
        &mut self,
        ty: &Type,
        gone: &[Name],
        span: Span,
        why: &'static str,
    ) -> (Type, Vec<Name>) {
        if gone.is_empty() || !free_sizes(ty).iter().any(|n| gone.contains(n)) {
            return (ty.clone(), Vec::new());
        }
        self.size_free(ty, span, why, &|_, s| {
            let mut names = Vec::new();
            names_of_size(s, &mut names);
            names.iter().any(|n| gone.contains(n))
        })
    }

    /// Replaces the sizes that `killed` says by unknown ones, bound at the innermost result type or, at the top, by the node.
    pub(crate) fn size_free(
        &mut self,
        ty: &Type,
        span: Span,
        why: &'static str,
        killed: &dyn Fn(&Self, &Size) -> bool,
    ) -> (Type, Vec<Name>) {
        let mut free = Free {
            span,
            why,
            killed,
            map: HashMap::default(),
        };
        let mut created = Vec::new();
        free.witnesses(self, ty, &mut created);
        let ty = free.go(self, ty, &mut created);
        (ty, created)
    }
}

type Killed<'k, 'c, 'a> = dyn Fn(&Sizer<'c, 'a>, &Size) -> bool + 'k;

struct Free<'k, 'c, 'a> {
    span: Span,
    why: &'static str,
    killed: &'k Killed<'k, 'c, 'a>,
    map: HashMap<Size, Name>,
}

impl<'c, 'a> Free<'_, 'c, 'a> {
    /// Single sizes first: larger ones may be written with them.
    fn witnesses(&mut self, z: &mut Sizer<'c, 'a>, ty: &Type, created: &mut Vec<Name>) {
        match ty {
            Type::Prim(_) | Type::Meta(_) | Type::Fun(_) => {}
            Type::Array(a) => {
                if a.size.as_atom().is_some() {
                    self.size(z, &a.size, created);
                }
                self.witnesses(z, &a.elem, created);
            }
            Type::Tuple(ts) => ts.iter().for_each(|t| self.witnesses(z, t, created)),
            Type::Record(fs) => fs.iter().for_each(|(_, t)| self.witnesses(z, t, created)),
            Type::Sum(cs) => cs
                .iter()
                .flat_map(|(_, ts)| ts)
                .for_each(|t| self.witnesses(z, t, created)),
            Type::Named(_) => {}
        }
    }

    fn size(&mut self, z: &mut Sizer<'c, 'a>, s: &Size, created: &mut Vec<Name>) -> Size {
        if !(self.killed)(z, s) {
            return s.clone();
        }
        if let Some(n) = self.map.get(s) {
            return Size::name(*n);
        }
        let smaller = rebuild(s, &mut |a| match self.map.get(&Size::atom(a.clone())) {
            Some(n) => Size::name(*n),
            None => Size::atom(a.clone()),
        });
        if !(self.killed)(z, &smaller) {
            return smaller;
        }
        let text = match s.as_atom() {
            Some(Atom::Name(n)) => z.cx.names.text(*n).to_owned(),
            Some(Atom::Opaque(_) | Atom::Meta(_)) | None => "d".to_owned(),
        };
        let n = z.unknown(self.span, &text, self.why);
        self.map.insert(s.clone(), n);
        created.push(n);
        Size::name(n)
    }

    fn go(&mut self, z: &mut Sizer<'c, 'a>, ty: &Type, created: &mut Vec<Name>) -> Type {
        match ty {
            Type::Prim(_) | Type::Meta(_) => ty.clone(),
            Type::Array(a) => {
                let size = self.size(z, &a.size, created);
                let elem = self.go(z, &a.elem, created);
                Type::Array(Arc::new(ArrayType {
                    size,
                    elem,
                    unique: a.unique,
                }))
            }
            Type::Tuple(ts) => Type::Tuple(ts.iter().map(|t| self.go(z, t, created)).collect()),
            Type::Record(fs) => Type::Record(
                fs.iter()
                    .map(|(f, t)| (f.clone(), self.go(z, t, created)))
                    .collect(),
            ),
            Type::Sum(cs) => Type::Sum(
                cs.iter()
                    .map(|(c, ts)| {
                        (
                            c.clone(),
                            ts.iter().map(|t| self.go(z, t, created)).collect(),
                        )
                    })
                    .collect(),
            ),
            Type::Fun(f) => {
                let arg = self.go(z, &f.arg, created);
                let outer = self.map.clone();
                let mut exts = f.ret.exts.clone();
                self.witnesses(z, &f.ret.ty, &mut exts);
                let ty = self.go(z, &f.ret.ty, &mut exts);
                self.map = outer;
                Type::Fun(Arc::new(FunType {
                    param: f.param,
                    arg,
                    ret: RetType { exts, ty },
                }))
            }
            Type::Named(n) => Type::Named(Arc::new(NamedType {
                name: n.name,
                args: n
                    .args
                    .iter()
                    .map(|arg| match arg {
                        TypeArg::Size(s) => TypeArg::Size(self.size(z, s, created)),
                        TypeArg::Type(t) => TypeArg::Type(self.go(z, t, created)),
                    })
                    .collect(),
                unique: n.unique,
            })),
        }
    }
}

/// A value that was returned: the marks of its top have done their work in the call.
fn clear_unique_result(ty: &Type) -> Type {
    clear_unique(ty)
}
