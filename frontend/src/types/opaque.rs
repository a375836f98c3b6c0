//! From expressions to sizes: the polynomial part in normal form, the rest as opaque atoms.

mod key;

use super::size::Arith;
use super::subst::{map_sizes, rebuild};
use super::ty::{Atom, Name, Opaque, Prim, Size, Type, TypeArg};
use super::walk::{self, Visitor};
use crate::typed::{Exp, ExpKind, Lit, NameKind, Names, Op, Slice};
use key::write_key;
use std::sync::Arc;

/// The size that an `i64` expression denotes; `None` if it has bindings inside and so cannot be one.
pub(crate) fn size_of_exp(names: &Names, e: &Exp) -> Option<Size> {
    polynomial(names, e).or_else(|| {
        let mut exp = e.clone();
        (!has_binding(&mut exp)).then(|| opaque(names, exp))
    })
}

fn polynomial(names: &Names, e: &Exp) -> Option<Size> {
    match &e.kind {
        ExpKind::Lit(Lit::Int(_, k)) => i64::try_from(*k).ok().map(Size::constant),
        ExpKind::Size(size) => Some(size.clone()),
        ExpKind::Var { name, inst } if inst.types.is_empty() && inst.sizes.is_empty() => {
            Some(Size::name(*name))
        }
        // A tuning parameter may get another value.
        ExpKind::Attr(attr, _) if attr.name == "param" => None,
        ExpKind::Attr(_, e) | ExpKind::Assert { body: e, .. } => size_of_exp(names, e),
        ExpKind::Negate(e) => Some(size_of_exp(names, e)?.scale(-1)),
        ExpKind::Apply { fun, args, .. } => {
            let op = i64_operator(names, fun)?;
            let [a, b] = args.as_slice() else { return None };
            let (a, b) = (size_of_exp(names, a)?, size_of_exp(names, b)?);
            match op {
                Arith::Add => Some(a.add(&b).with_written(op, a, b)),
                Arith::Sub => Some(a.sub(&b).with_written(op, a, b)),
                // Multiplied out, `(a + b) * (c + d) * ..` would double with every factor.
                Arith::Mul if a.terms.len() * b.terms.len() > 64 => None,
                Arith::Mul => Some(a.mul(&b).with_written(op, a, b)),
            }
        }
        ExpKind::Lit(_)
        | ExpKind::String(_)
        | ExpKind::Hole
        | ExpKind::Var { .. }
        | ExpKind::Tuple(_)
        | ExpKind::Record(_)
        | ExpKind::Array(_)
        | ExpKind::Construct(..)
        | ExpKind::Range { .. }
        | ExpKind::Coerce(_)
        | ExpKind::Not(_)
        | ExpKind::Field(..)
        | ExpKind::TupleField(..)
        | ExpKind::Lambda { .. }
        | ExpKind::Let { .. }
        | ExpKind::LetFun { .. }
        | ExpKind::If { .. }
        | ExpKind::Match { .. }
        | ExpKind::Loop { .. }
        | ExpKind::Index { .. }
        | ExpKind::Update { .. } => None,
    }
}

fn i64_operator(names: &Names, fun: &Exp) -> Option<Arith> {
    let ExpKind::Var { name, inst } = &fun.kind else {
        return None;
    };
    let NameKind::Intrinsic(intrinsic) = names.get(*name).kind else {
        return None;
    };
    let prim = intrinsic
        .prim
        .or_else(|| inst.types.first().and_then(Type::as_prim));
    let arith = [
        (Op::Add, Arith::Add),
        (Op::Sub, Arith::Sub),
        (Op::Mul, Arith::Mul),
    ]
    .into_iter()
    .find(|(op, _)| *op == intrinsic.op);
    if prim == Some(Prim::I64) {
        arith.map(|(_, a)| a)
    } else {
        None
    }
}

/// The pairs of sizes in which two opaque sizes differ, if they are the same expression otherwise.
pub(crate) fn similar(names: &Names, a: &Exp, b: &Exp, out: &mut Vec<(Size, Size)>) -> bool {
    let key = |e: &Exp| {
        let mut key = String::new();
        write_key(names, &mut key, e);
        key
    };
    if key(a) == key(b) {
        return true;
    }
    let all = |xs: &[Exp], ys: &[Exp], out: &mut Vec<(Size, Size)>| {
        xs.len() == ys.len() && xs.iter().zip(ys).all(|(x, y)| similar(names, x, y, out))
    };
    if a.ty.as_prim() == Some(Prim::I64)
        && b.ty.as_prim() == Some(Prim::I64)
        && let (Some(x), Some(y)) = (polynomial(names, a), polynomial(names, b))
    {
        out.push((x, y));
        return true;
    }
    match (&a.kind, &b.kind) {
        (
            ExpKind::Apply {
                fun: f, args: xs, ..
            },
            ExpKind::Apply {
                fun: g, args: ys, ..
            },
        ) => key(f) == key(g) && all(xs, ys, out),
        (ExpKind::Tuple(xs), ExpKind::Tuple(ys)) | (ExpKind::Array(xs), ExpKind::Array(ys)) => {
            all(xs, ys, out)
        }
        (ExpKind::Construct(c, xs), ExpKind::Construct(d, ys)) => c == d && all(xs, ys, out),
        (ExpKind::Record(xs), ExpKind::Record(ys)) => {
            xs.len() == ys.len()
                && (xs.iter().zip(ys)).all(|((f, x), (g, y))| f == g && similar(names, x, y, out))
        }
        (ExpKind::Field(x, f), ExpKind::Field(y, g)) => f == g && similar(names, x, y, out),
        (ExpKind::TupleField(x, f), ExpKind::TupleField(y, g)) => {
            f == g && similar(names, x, y, out)
        }
        (ExpKind::Negate(x), ExpKind::Negate(y)) | (ExpKind::Not(x), ExpKind::Not(y)) => {
            similar(names, x, y, out)
        }
        (
            ExpKind::Index {
                array: x,
                slices: ss,
            },
            ExpKind::Index {
                array: y,
                slices: ts,
            },
        ) => {
            let pair = |s: &Slice, t: &Slice, out: &mut Vec<(Size, Size)>| match (s, t) {
                (Slice::Index(i), Slice::Index(j)) => similar(names, i, j, out),
                (Slice::Index(_) | Slice::Range { .. }, _) => false,
            };
            key(x) == key(y)
                && ss.len() == ts.len()
                && ss.iter().zip(ts).all(|(s, t)| pair(s, t, out))
        }
        _ => false,
    }
}

/// Whether an expression binds names (then it cannot be a size).
pub(crate) fn has_binding(e: &mut Exp) -> bool {
    struct Find(bool);
    impl Visitor for Find {
        fn ty(&mut self, _: &mut Type) {}
        fn size(&mut self, _: &mut Size) {}
        fn enter(&mut self, e: &mut Exp) -> bool {
            self.0 |= matches!(
                e.kind,
                ExpKind::Lambda { .. }
                    | ExpKind::Let { .. }
                    | ExpKind::LetFun { .. }
                    | ExpKind::Loop { .. }
                    | ExpKind::Match { .. }
                    | ExpKind::Update { .. }
            );
            !self.0
        }
    }
    let mut find = Find(false);
    walk::exp(e, &mut find);
    find.0
}

/// An opaque size of an expression.
pub(crate) fn opaque(names: &Names, mut exp: Exp) -> Size {
    let mut key = String::new();
    write_key(names, &mut key, &exp);
    let (mut free, mut metas) = free_of_exp(&mut exp);
    free.sort();
    free.dedup();
    metas.sort_unstable();
    metas.dedup();
    let irregular = is_irregular(&mut exp);
    let open = has_open_types(&mut exp);
    Size::atom(Atom::Opaque(Arc::new(Opaque {
        key,
        exp,
        free,
        metas,
        irregular,
        open,
    })))
}

/// Whether an irregular size stands in an expression for a number; the sizes of what functions are applied to do not.
fn is_irregular(exp: &mut Exp) -> bool {
    struct Find(bool);
    impl Visitor for Find {
        fn ty(&mut self, _: &mut Type) {}
        fn size(&mut self, _: &mut Size) {}
        fn enter(&mut self, e: &mut Exp) -> bool {
            self.0 |= matches!(&e.kind, ExpKind::Size(size) if size.is_irregular());
            !self.0
        }
    }
    let mut find = Find(false);
    walk::exp(exp, &mut find);
    find.0
}

fn has_open_types(exp: &mut Exp) -> bool {
    struct Find(bool);
    impl Visitor for Find {
        fn ty(&mut self, ty: &mut Type) {
            each_size(ty, &mut |s| self.0 |= s.is_open());
        }
        fn size(&mut self, _: &mut Size) {}
    }
    let mut find = Find(false);
    walk::exp(exp, &mut find);
    find.0
}

fn free_of_exp(exp: &mut Exp) -> (Vec<Name>, Vec<u32>) {
    struct Free(Vec<Name>, Vec<u32>);
    impl Visitor for Free {
        fn ty(&mut self, _: &mut Type) {}
        fn size(&mut self, size: &mut Size) {
            for atom in size.terms.keys().flatten() {
                match atom {
                    Atom::Name(n) => self.0.push(*n),
                    Atom::Meta(m) => self.1.push(*m),
                    Atom::Opaque(o) => {
                        self.0.extend(&o.free);
                        self.1.extend(&o.metas);
                    }
                }
            }
        }
        fn enter(&mut self, e: &mut Exp) -> bool {
            if let ExpKind::Var { name, .. } = &e.kind {
                self.0.push(*name);
            }
            true
        }
    }
    let mut free = Free(Vec::new(), Vec::new());
    walk::exp(exp, &mut free);
    (free.0, free.1)
}

/// Whether a type would have unreasonably large sizes if this one were put in for a name: sizes can double with each `let`.
pub(crate) fn grows(ty: &Type, name: Name, size: &Size) -> bool {
    let terms = size.terms.len().max(1);
    let text: usize = size
        .terms
        .keys()
        .flatten()
        .map(|a| match a {
            Atom::Opaque(o) => o.key.len(),
            Atom::Name(_) | Atom::Meta(_) => 4,
        })
        .sum();
    let mut large = false;
    each_size(ty, &mut |s| {
        let mut total = 0usize;
        for product in s.terms.keys() {
            let mut factor = 1usize;
            for atom in product {
                match atom {
                    Atom::Name(n) if *n == name => factor = factor.saturating_mul(terms),
                    Atom::Opaque(o) if o.free.contains(&name) => {
                        large |= o.key.len() + text > 600;
                    }
                    Atom::Name(_) | Atom::Opaque(_) | Atom::Meta(_) => {}
                }
            }
            total = total.saturating_add(factor);
        }
        large |= total > 64;
    });
    large
}

/// The free names of a size.
pub(crate) fn names_of_size(size: &Size, out: &mut Vec<Name>) {
    for atom in size.terms.keys().flatten() {
        match atom {
            Atom::Name(n) => out.push(*n),
            Atom::Opaque(o) => out.extend(&o.free),
            Atom::Meta(_) => {}
        }
    }
}

/// The sizes being inferred that occur in a size.
pub(crate) fn metas_of_size(size: &Size, out: &mut Vec<u32>) {
    for atom in size.terms.keys().flatten() {
        match atom {
            Atom::Name(_) => {}
            Atom::Opaque(o) => out.extend(&o.metas),
            Atom::Meta(m) => out.push(*m),
        }
    }
}

/// The type with other sizes in place of those that are being inferred, inside opaque sizes too.
pub(crate) fn replace_metas(names: &Names, ty: &Type, f: &mut dyn FnMut(u32) -> Size) -> Type {
    map_sizes(ty, &mut |s| replace_metas_of_size(names, s, f))
}

/// The size with others in place of those that are being inferred, inside opaque sizes too.
pub(crate) fn replace_metas_of_size(
    names: &Names,
    size: &Size,
    f: &mut dyn FnMut(u32) -> Size,
) -> Size {
    struct Replace<'a>(&'a Names, &'a mut dyn FnMut(u32) -> Size);
    impl Visitor for Replace<'_> {
        fn ty(&mut self, ty: &mut Type) {
            *ty = replace_metas(self.0, ty, self.1);
        }
        fn size(&mut self, size: &mut Size) {
            *size = replace_metas_of_size(self.0, size, self.1);
        }
    }
    rebuild(size, &mut |a| match a {
        Atom::Meta(m) => f(*m),
        Atom::Opaque(o) if o.open || !o.metas.is_empty() => {
            revised(names, o, &mut Replace(names, f))
        }
        Atom::Name(_) | Atom::Opaque(_) => Size::atom(a.clone()),
    })
}

/// The size that an opaque one is after a change to its expression.
fn revised(names: &Names, o: &Opaque, change: &mut dyn Visitor) -> Size {
    let mut exp = o.exp.clone();
    walk::exp(&mut exp, change);
    size_of_exp(names, &exp).unwrap_or_else(|| opaque(names, exp))
}

/// The free names and metas in the sizes of a type (of values and sizes; not of types).
pub(crate) fn each_size<'a>(ty: &'a Type, f: &mut dyn FnMut(&'a Size)) {
    match ty {
        Type::Prim(_) | Type::Meta(_) => {}
        Type::Array(a) => {
            f(&a.size);
            each_size(&a.elem, f);
        }
        Type::Tuple(ts) => ts.iter().for_each(|t| each_size(t, f)),
        Type::Record(fs) => fs.iter().for_each(|(_, t)| each_size(t, f)),
        Type::Sum(cs) => cs
            .iter()
            .for_each(|(_, ts)| ts.iter().for_each(|t| each_size(t, f))),
        Type::Fun(fun) => {
            each_size(&fun.arg, f);
            each_size(&fun.ret.ty, f);
        }
        Type::Named(n) => {
            for arg in &n.args {
                match arg {
                    TypeArg::Size(s) => f(s),
                    TypeArg::Type(t) => each_size(t, f),
                }
            }
        }
    }
}
