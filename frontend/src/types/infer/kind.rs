//! What may be known of a type in part, and record, sum and array types by their parts.

use crate::types::ty::{Atom, Prim, Size, Sym, Type};
use std::collections::BTreeMap;

/// A set of scalar types.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct PrimSet(u16);

impl PrimSet {
    pub(crate) const NUMBERS: PrimSet = PrimSet(0x7ff);
    pub(crate) const INTEGERS: PrimSet = PrimSet(0x0ff);
    pub(crate) const SIGNED: PrimSet = PrimSet(0x00f);
    pub(crate) const FLOATS: PrimSet = PrimSet(0x700);
    pub(crate) const ALL: PrimSet = PrimSet(0xfff);
    pub(crate) const LOGICAL: PrimSet = PrimSet(0x8ff);

    pub(crate) fn has(self, p: Prim) -> bool {
        self.0 & (1 << p as u16) != 0
    }

    pub(crate) fn and(self, other: PrimSet) -> PrimSet {
        PrimSet(self.0 & other.0)
    }

    pub(crate) fn members(self) -> impl Iterator<Item = Prim> {
        Prim::ALL.into_iter().filter(move |p| self.has(*p))
    }
}

/// What is known of a type that is being inferred.
#[derive(Clone, Debug)]
pub(crate) enum Kind {
    Any,
    Prims(PrimSet),
    Record(BTreeMap<Sym, Type>),
    Sum(BTreeMap<Sym, Vec<Type>>),
}

/// The type of a field of a record or tuple type.
pub(crate) fn field_of(ty: &Type, field: &Sym) -> Option<Type> {
    match ty {
        Type::Tuple(ts) => ts.get(field.parse::<usize>().ok()?).cloned(),
        Type::Record(fs) => fs.iter().find(|(f, _)| f == field).map(|(_, t)| t.clone()),
        Type::Prim(_)
        | Type::Array(_)
        | Type::Sum(_)
        | Type::Fun(_)
        | Type::Named(_)
        | Type::Meta(_) => None,
    }
}

/// The payload of a constructor of a sum type.
pub(crate) fn payload_of(ty: &Type, constructor: &Sym) -> Option<Vec<Type>> {
    match ty {
        Type::Sum(cs) => cs
            .iter()
            .find(|(c, _)| c == constructor)
            .map(|(_, ts)| ts.clone()),
        Type::Prim(_)
        | Type::Array(_)
        | Type::Tuple(_)
        | Type::Record(_)
        | Type::Fun(_)
        | Type::Named(_)
        | Type::Meta(_) => None,
    }
}

/// An array type whose size is not known in the first pass; messages show it as `[]`.
pub(crate) fn unsized_array(elem: Type) -> Type {
    Type::array(Size::atom(Atom::Meta(u32::MAX)), elem)
}

/// A record type from fields in any order; the fields `0`, `1`, .. make a tuple.
pub(crate) fn record_type(mut fields: Vec<(Sym, Type)>) -> Type {
    let mut numbered: Vec<(usize, &Type)> = Vec::new();
    for (f, t) in &fields {
        match f.parse::<usize>() {
            Ok(k) if k.to_string() == f.as_str() => numbered.push((k, t)),
            Ok(_) | Err(_) => break,
        }
    }
    numbered.sort_by_key(|(k, _)| *k);
    let is_tuple = fields.len() != 1
        && numbered.len() == fields.len()
        && numbered.iter().enumerate().all(|(at, (k, _))| at == *k);
    if is_tuple {
        return Type::tuple(numbered.into_iter().map(|(_, t)| t.clone()).collect());
    }
    fields.sort_by(|x, y| x.0.cmp(&y.0));
    Type::Record(fields.into())
}
