//! Existential sizes: what the dimensions of a value tell of the names in its type.

use super::Lower;
use super::env::{Binding, Frame};
use super::value::{Value, size_of_atom};
use crate::typed::{Name, Type as SourceType, TypeArg, TypeParam};
use midend::ir::scalar::{CmpOp, Const};
use midend::ir::syntax::Atom;
use midend::ir::types::{ScalarType, Size};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

impl<'a> Lower<'a> {
    /// Binds existential sizes of a type from a value of it.
    pub fn bind_exts(
        &mut self,
        exts: &[Name],
        ty: &'a SourceType,
        v: &Value<'a>,
        frame: &Rc<Frame<'a>>,
    ) {
        if exts.is_empty() {
            return;
        }
        if let (SourceType::Prim(_), Value::Leaf(leaf)) = (ty, v) {
            for name in exts {
                frame.bind(*name, Binding::Size(size_of_atom(leaf.atom)));
            }
            return;
        }
        for name in exts {
            let size = self.found_size(*name, ty, v, frame);
            frame.bind(*name, Binding::Size(size));
        }
    }

    /// The size that a name of a type stands for in a value of it. What a constructor holds tells a size if it is there.
    pub(super) fn found_size(
        &mut self,
        name: Name,
        ty: &'a SourceType,
        v: &Value<'a>,
        frame: &Rc<Frame<'a>>,
    ) -> Option<Size> {
        let mut found = Found::default();
        match_type(
            ty,
            v,
            frame,
            &BTreeSet::from([name]),
            &mut At::default(),
            &mut found,
        );
        if let Some(size) = found.sizes.get(&name) {
            return Some(*size);
        }
        let mut held = found.held.remove(&name)?.into_iter().rev();
        let (_, mut size) = held.next()?;
        for (tags, other) in held {
            if other == size {
                continue;
            }
            let mut there = Atom::Const(Const::Bool(true));
            for (tag, number) in tags {
                let number = Atom::Const(Const::U8(number));
                let same = self.cmp(CmpOp::Eq, ScalarType::U8, tag, number);
                there = self.and(there, same);
            }
            let chosen = self.select(ScalarType::I64, there, other.into(), size.into());
            size = size_of_atom(chosen)?;
        }
        Some(size)
    }
}

/// Tags, and the numbers that they have where a constructor is there.
type Tags = Vec<(Atom, u8)>;

/// Where in a value something is.
#[derive(Clone, Default)]
struct At {
    /// The constructors around it.
    tags: Tags,
    in_array: bool,
}

/// What matching a type with a value has found.
#[derive(Default)]
struct Found<'a> {
    sizes: BTreeMap<Name, Size>,
    /// Sizes of what constructors hold.
    held: BTreeMap<Name, Vec<(Tags, Size)>>,
    /// Values of type parameters, and where they are.
    types: BTreeMap<Name, Vec<(At, Value<'a>)>>,
}

impl Found<'_> {
    fn size(&mut self, name: Name, size: Size, tags: &Tags) {
        if tags.is_empty() {
            self.sizes.entry(name).or_insert(size);
        } else {
            let held = self.held.entry(name).or_default();
            held.push((tags.clone(), size));
        }
    }
}

/// Finds the sizes (and for type parameters the values) that wanted names stand for.
fn match_type<'a>(
    ty: &'a SourceType,
    v: &Value<'a>,
    frame: &Rc<Frame<'a>>,
    want: &BTreeSet<Name>,
    at: &mut At,
    found: &mut Found<'a>,
) {
    match (ty, v) {
        (SourceType::Array(array), Value::Array { dims, .. }) => {
            if let Some(name) = array.size.as_name()
                && want.contains(&name)
            {
                found.size(name, dims[0], &at.tags);
            }
            let outer = std::mem::replace(&mut at.in_array, true);
            match_type(&array.elem, &v.peel(1), frame, want, at, found);
            at.in_array = outer;
        }
        (SourceType::Array(array), Value::Rows(rows)) => {
            let outer = std::mem::replace(&mut at.in_array, true);
            match_type(&array.elem, &rows.pool.peel(1), frame, want, at, found);
            at.in_array = outer;
        }
        (SourceType::Tuple(ts), Value::Tuple(vs)) => {
            for (t, v) in ts.iter().zip(vs.iter()) {
                match_type(t, v, frame, want, at, found);
            }
        }
        (SourceType::Record(ts), Value::Record(vs)) => {
            for ((_, t), (_, v)) in ts.iter().zip(vs.iter()) {
                match_type(t, v, frame, want, at, found);
            }
        }
        (SourceType::Sum(cons), Value::Sum(sum)) => {
            // The elements of an array share their sizes, whatever constructors they have.
            let one = !at.in_array;
            for (k, ((_, ts), (_, vs))) in cons.iter().zip(&sum.cons).enumerate() {
                if one {
                    at.tags
                        .push((sum.tag.atom, u8::try_from(k).unwrap_or(u8::MAX)));
                }
                for (t, v) in ts.iter().zip(vs) {
                    match_type(t, v, frame, want, at, found);
                }
                if one {
                    at.tags.pop();
                }
            }
        }
        (SourceType::Named(named), _) => {
            if want.contains(&named.name) {
                let values = found.types.entry(named.name).or_default();
                values.push((at.clone(), v.clone()));
            }
            let Some(Binding::TypeDef(def)) = frame.lookup(named.name) else {
                return;
            };
            let inner_want = def.params.iter().map(|p| match p {
                TypeParam::Size(name) | TypeParam::Type(name, _) => *name,
            });
            let mut inner = Found::default();
            match_type(
                def.rhs,
                v,
                &def.frame,
                &inner_want.collect(),
                at,
                &mut inner,
            );
            for (param, arg) in def.params.iter().zip(&named.args) {
                match (param, arg) {
                    (TypeParam::Size(param), TypeArg::Size(size)) => {
                        let Some(name) = size.as_name().filter(|name| want.contains(name)) else {
                            continue;
                        };
                        if let Some(actual) = inner.sizes.get(param) {
                            found.sizes.entry(name).or_insert(*actual);
                        }
                        let held = inner.held.remove(param).unwrap_or_default();
                        found.held.entry(name).or_default().extend(held);
                    }
                    (TypeParam::Type(param, _), TypeArg::Type(t)) => {
                        for (mut at, v) in inner.types.remove(param).unwrap_or_default() {
                            match_type(t, &v, frame, want, &mut at, found);
                        }
                    }
                    (TypeParam::Size(_), TypeArg::Type(_))
                    | (TypeParam::Type(..), TypeArg::Size(_)) => {}
                }
            }
        }
        (
            SourceType::Prim(_)
            | SourceType::Array(_)
            | SourceType::Tuple(_)
            | SourceType::Record(_)
            | SourceType::Sum(_)
            | SourceType::Fun(_)
            | SourceType::Meta(_),
            _,
        ) => {}
    }
}
