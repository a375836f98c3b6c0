//! Names in the sizes of types: those that function types bind, and where they are used.

use crate::types::opaque::names_of_size;
use crate::types::ty::{Name, Size, Type, TypeArg};
use std::sync::Arc;

/// The names bound inside a type by its function types.
pub(super) fn bound_inside(ty: &Type, out: &mut Vec<Name>) {
    match ty {
        Type::Prim(_) | Type::Meta(_) => {}
        Type::Array(a) => bound_inside(&a.elem, out),
        Type::Tuple(ts) => ts.iter().for_each(|t| bound_inside(t, out)),
        Type::Record(fs) => fs.iter().for_each(|(_, t)| bound_inside(t, out)),
        Type::Sum(cs) => cs
            .iter()
            .flat_map(|(_, ts)| ts)
            .for_each(|t| bound_inside(t, out)),
        Type::Fun(f) => {
            out.extend(f.param);
            out.extend(&f.ret.exts);
            bound_inside(&f.arg, out);
            bound_inside(&f.ret.ty, out);
        }
        Type::Named(n) => n.args.iter().for_each(|arg| match arg {
            TypeArg::Size(_) => {}
            TypeArg::Type(t) => bound_inside(t, out),
        }),
    }
}

/// The names in the sizes of a value itself, and those in parameters of functions in it.
pub(crate) fn dim_uses(ty: &Type) -> (Vec<Name>, Vec<Name>) {
    let mut uses = (Vec::new(), Vec::new());
    collect(ty, false, &mut Vec::new(), &mut uses);
    return uses;

    fn size(s: &Size, param: bool, bound: &[Name], uses: &mut (Vec<Name>, Vec<Name>)) {
        let mut names = Vec::new();
        names_of_size(s, &mut names);
        names.retain(|n| !bound.contains(n));
        if param {
            uses.1.extend(names)
        } else {
            uses.0.extend(names)
        }
    }

    fn collect(ty: &Type, param: bool, bound: &mut Vec<Name>, uses: &mut (Vec<Name>, Vec<Name>)) {
        match ty {
            Type::Prim(_) | Type::Meta(_) => {}
            Type::Array(a) => {
                size(&a.size, param, bound, uses);
                collect(&a.elem, param, bound, uses);
            }
            Type::Tuple(ts) => ts.iter().for_each(|t| collect(t, param, bound, uses)),
            Type::Record(fs) => fs.iter().for_each(|(_, t)| collect(t, param, bound, uses)),
            Type::Sum(cs) => cs
                .iter()
                .flat_map(|(_, ts)| ts)
                .for_each(|t| collect(t, param, bound, uses)),
            Type::Fun(f) => {
                collect(&f.arg, true, bound, uses);
                let mark = bound.len();
                bound.extend(f.param);
                bound.extend(&f.ret.exts);
                returns(&f.ret.ty, bound, uses);
                bound.truncate(mark);
            }
            Type::Named(n) => n.args.iter().for_each(|arg| match arg {
                TypeArg::Size(s) => size(s, param, bound, uses),
                TypeArg::Type(t) => collect(t, param, bound, uses),
            }),
        }
    }

    // Of a result only the parameters of functions count.
    fn returns(ty: &Type, bound: &mut Vec<Name>, uses: &mut (Vec<Name>, Vec<Name>)) {
        match ty {
            Type::Prim(_) | Type::Meta(_) | Type::Array(_) | Type::Named(_) => {}
            Type::Tuple(ts) => ts.iter().for_each(|t| returns(t, bound, uses)),
            Type::Record(fs) => fs.iter().for_each(|(_, t)| returns(t, bound, uses)),
            Type::Sum(cs) => cs
                .iter()
                .flat_map(|(_, ts)| ts)
                .for_each(|t| returns(t, bound, uses)),
            Type::Fun(f) => collect(&Type::Fun(Arc::clone(f)), false, bound, uses),
        }
    }
}
