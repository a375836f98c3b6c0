//! Instances of schemes, with sizes to be inferred.

use super::{Sizer, State, Tie};
use crate::source::Span;
use crate::typed::{Inst, NameKind};
use crate::types::subst::{Subst, any_unique, map_sizes, set_unique};
use crate::types::ty::{
    ArrayType, Atom, FunType, Lift, Name, NamedType, RetType, Scheme, Size, Type, TypeArg,
};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Why there is a size in an instance of a type parameter.
pub(crate) const INSTANCE: &str = "an instance of a type parameter";

/// A size of what a function is applied to that is not known yet.
pub(crate) const OPEN: u32 = u32::MAX;

impl Sizer<'_, '_> {
    /// A type of the first pass with fresh sizes.
    pub(crate) fn fresh_dims(
        &mut self,
        ty: &Type,
        span: Span,
        state: &State,
        why: &'static str,
    ) -> Type {
        let ty = self.solver.zonk(ty);
        self.fresh_dims_in(&ty, span, state, why)
    }

    fn fresh_dims_in(&mut self, ty: &Type, span: Span, state: &State, why: &'static str) -> Type {
        match ty {
            Type::Prim(_) | Type::Meta(_) => ty.clone(),
            Type::Array(a) => {
                let size = self.whole(state, span, why);
                let elem = self.fresh_dims_in(&a.elem, span, state, why);
                Type::Array(Arc::new(ArrayType {
                    size,
                    elem,
                    unique: false,
                }))
            }
            Type::Tuple(ts) => Type::Tuple(
                ts.iter()
                    .map(|t| self.fresh_dims_in(t, span, state, why))
                    .collect(),
            ),
            Type::Record(fs) => Type::Record(
                fs.iter()
                    .map(|(f, t)| (f.clone(), self.fresh_dims_in(t, span, state, why)))
                    .collect(),
            ),
            Type::Sum(cs) => Type::Sum(
                cs.iter()
                    .map(|(c, ts)| {
                        (
                            c.clone(),
                            ts.iter()
                                .map(|t| self.fresh_dims_in(t, span, state, why))
                                .collect(),
                        )
                    })
                    .collect(),
            ),
            Type::Fun(f) => {
                let param = f.param.map(|p| self.binder(p));
                let arg = self.fresh_dims_in(&f.arg, span, state, why);
                let ty = self.fresh_dims_in(&f.ret.ty, span, state, why);
                let arg = if any_unique(&f.arg) {
                    set_unique(&arg)
                } else {
                    arg
                };
                let ty = if any_unique(&f.ret.ty) {
                    set_unique(&ty)
                } else {
                    ty
                };
                Type::Fun(Arc::new(FunType {
                    param,
                    arg,
                    ret: RetType {
                        exts: Vec::new(),
                        ty,
                    },
                }))
            }
            Type::Named(n) => Type::Named(Arc::new(NamedType {
                name: n.name,
                args: n
                    .args
                    .iter()
                    .map(|arg| match arg {
                        TypeArg::Size(_) => TypeArg::Size(self.whole(state, span, why)),
                        TypeArg::Type(t) => TypeArg::Type(self.fresh_dims_in(t, span, state, why)),
                    })
                    .collect(),
                unique: false,
            })),
        }
    }

    /// A size of a part of a type of which nothing says yet that it is that of an array.
    pub(crate) fn whole(&mut self, state: &State, span: Span, why: &'static str) -> Size {
        let m = self.meta(state.clone(), span, why);
        self.metas[m as usize].tie = Tie::Whole;
        Size::atom(Atom::Meta(m))
    }

    fn binder(&mut self, like: Name) -> Name {
        let text = self.cx.names.text(like).to_owned();
        let span = self.cx.names.get(like).span;
        let name = self.cx.fresh(&text, span, NameKind::Value);
        self.param_size(name);
        self.binders.insert(name);
        name
    }

    /// An instance of a scheme at types of the first pass.
    pub(crate) fn instantiate(
        &mut self,
        scheme: &Scheme,
        inst: &[Type],
        span: Span,
    ) -> (Type, Inst) {
        let mut subst = Subst::default();
        let mut out = Inst::default();
        for n in &scheme.sizes {
            let size = Size::atom(Atom::Meta(self.meta(
                State::Inst(Lift::Full),
                span,
                "a size parameter",
            )));
            subst.sizes.insert(*n, size.clone());
            out.sizes.push(size);
        }
        let mut first: BTreeMap<Name, (Type, Lift, bool)> = BTreeMap::new();
        for ((p, lift), ty) in scheme.types.iter().zip(inst) {
            let ty = self.fresh_dims(ty, span, &State::Inst(*lift), INSTANCE);
            first.insert(*p, (ty.clone(), *lift, false));
            out.types.push(ty);
        }
        let ty = subst.ty(&mut self.cx.names, &scheme.ty, &mut Vec::new());
        let ty = if first.is_empty() {
            ty
        } else {
            self.put_in(&ty, &mut first, span)
        };
        // What a substitution of sizes leaves of type parameters are those inside opaque sizes; there any size will do.
        let mut types = Subst::default();
        for (p, (t, ..)) in &first {
            types.bind_type(*p, t.clone());
        }
        (types.ty(&mut self.cx.names, &ty, &mut Vec::new()), out)
    }

    /// Replaces type parameters, each occurrence after the first by a copy.
    fn put_in(
        &mut self,
        ty: &Type,
        first: &mut BTreeMap<Name, (Type, Lift, bool)>,
        span: Span,
    ) -> Type {
        match ty {
            Type::Prim(_) | Type::Meta(_) => ty.clone(),
            Type::Array(a) => Type::Array(Arc::new(ArrayType {
                size: a.size.clone(),
                elem: self.put_in(&a.elem, first, span),
                unique: a.unique,
            })),
            Type::Tuple(ts) => {
                Type::Tuple(ts.iter().map(|t| self.put_in(t, first, span)).collect())
            }
            Type::Record(fs) => Type::Record(
                fs.iter()
                    .map(|(f, t)| (f.clone(), self.put_in(t, first, span)))
                    .collect(),
            ),
            Type::Sum(cs) => Type::Sum(
                cs.iter()
                    .map(|(c, ts)| {
                        (
                            c.clone(),
                            ts.iter().map(|t| self.put_in(t, first, span)).collect(),
                        )
                    })
                    .collect(),
            ),
            Type::Fun(f) => Type::Fun(Arc::new(FunType {
                param: f.param,
                arg: self.put_in(&f.arg, first, span),
                ret: RetType {
                    exts: f.ret.exts.clone(),
                    ty: self.put_in(&f.ret.ty, first, span),
                },
            })),
            Type::Named(n) => {
                if let Some((t, lift, used)) = first.get_mut(&n.name) {
                    let (t, lift) = (t.clone(), *lift);
                    let again = std::mem::replace(used, true);
                    let t = if again && lift != Lift::Plain {
                        self.copy_dims(&t, span)
                    } else {
                        t
                    };
                    return if n.unique { set_unique(&t) } else { t };
                }
                let args = n
                    .args
                    .iter()
                    .map(|arg| match arg {
                        TypeArg::Size(s) => TypeArg::Size(s.clone()),
                        TypeArg::Type(t) => TypeArg::Type(self.put_in(t, first, span)),
                    })
                    .collect();
                Type::Named(Arc::new(NamedType {
                    name: n.name,
                    args,
                    unique: n.unique,
                }))
            }
        }
    }

    fn copy_dims(&mut self, ty: &Type, span: Span) -> Type {
        self.occurrences += 1;
        let occurrence = self.occurrences;
        map_sizes(ty, &mut |s| match s.as_atom() {
            Some(Atom::Meta(of)) => {
                let state = State::Copy {
                    of: *of,
                    occurrence,
                };
                Size::atom(Atom::Meta(self.meta(
                    state,
                    span,
                    "an instance of a type parameter",
                )))
            }
            Some(Atom::Name(_) | Atom::Opaque(_)) | None => s.clone(),
        })
    }
}
