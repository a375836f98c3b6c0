//! Arguments of the types that the source has: tuples, records, sums and arrays of these in the notation in which results
//! are printed, or the values that they are made of, one after another.

use super::irregular::{Level, levels};
use super::{Leaf, ReadError, Reader, leaf_value, leaves};
use midend::ir::scalar::Const;
use midend::ir::syntax::EntryType;
use midend::ir::types::ScalarType;
use midend::value::{ArrayValue, Data, Value};

/// What is to be read.
#[derive(Clone, Debug)]
pub(super) enum Item {
    /// A value of a type, or for each of its parts an array of so many dimensions.
    Type(EntryType, usize),
    /// One value, which may say which of so many constructors there is.
    Leaf(Leaf, Option<usize>),
}

impl Item {
    /// The parts of a type, in the order in which they are given.
    pub(super) fn parts(ty: &EntryType, outer: usize) -> Vec<Self> {
        let leaf = |elem| Self::Leaf(Leaf { rank: outer, elem }, None);
        match ty {
            EntryType::Scalar(elem) => vec![leaf(*elem)],
            EntryType::Array { rank, elem } => {
                let rank = outer.saturating_add(*rank);
                if leaves(elem).is_empty() {
                    let elem = ScalarType::Bool;
                    return vec![Self::Leaf(Leaf { rank, elem }, None)];
                }
                vec![Self::Type((**elem).clone(), rank)]
            }
            EntryType::Rows(elem) => {
                let elem = elem.clone();
                let all = EntryType::Array { rank: 1, elem };
                vec![leaf(ScalarType::I64), Self::Type(all, 0)]
            }
            EntryType::Tuple(parts) => {
                let parts = parts.iter().cloned();
                parts.map(|part| Self::Type(part, outer)).collect()
            }
            EntryType::Record(fields) => {
                let parts = fields.iter().map(|(_, ty)| ty.clone());
                parts.map(|part| Self::Type(part, outer)).collect()
            }
            EntryType::Sum(constructors) => {
                let elem = ScalarType::U8;
                let tag = Self::Leaf(Leaf { rank: outer, elem }, Some(constructors.len()));
                let payloads = constructors.iter().flat_map(|(_, payload)| payload.clone());
                let payloads = payloads.map(|ty| Self::Type(ty, outer));
                std::iter::once(tag).chain(payloads).collect()
            }
            EntryType::Opaque { of, .. } => vec![Self::Type((**of).clone(), outer)],
        }
    }
}

impl Reader<'_> {
    /// The values of a type, if they are next in a notation of their own.
    pub(super) fn structured(
        &mut self,
        ty: &EntryType,
        outer: usize,
    ) -> Result<Option<Vec<Value>>, ReadError> {
        if outer == 0
            && let Some((levels, elem)) = levels(ty)
        {
            return self.whole(&levels, elem);
        }
        self.skip();
        let next = self.peek();
        match ty {
            EntryType::Opaque { of, .. } => self.structured(of, outer),
            EntryType::Array { rank, elem }
                if !matches!(**elem, EntryType::Rows(_)) && !leaves(elem).is_empty() =>
            {
                self.structured(elem, outer.saturating_add(*rank))
            }
            EntryType::Tuple(parts) if next == Some(b'(') => {
                let items = parts.iter().map(|ty| Item::Type(ty.clone(), outer));
                self.enclosed(items.collect()).map(Some)
            }
            EntryType::Record(fields) if next == Some(b'{') => self.record(fields, outer).map(Some),
            EntryType::Sum(constructors) if outer == 0 && next == Some(b'#') => {
                self.constructor(constructors).map(Some)
            }
            EntryType::Sum(_) | EntryType::Rows(_) | EntryType::Array { .. }
                if next == Some(b'(') =>
            {
                // Printed part after part.
                let mut parts = vec![Item::Type(ty.clone(), outer)];
                while let Some(at) = parts.iter().position(|p| matches!(p, Item::Type(..))) {
                    if let Item::Type(ty, outer) = parts.remove(at) {
                        parts.splice(at..at, Item::parts(&ty, outer));
                    }
                }
                self.enclosed(parts).map(Some)
            }
            EntryType::Scalar(_)
            | EntryType::Array { .. }
            | EntryType::Rows(_)
            | EntryType::Tuple(_)
            | EntryType::Record(_)
            | EntryType::Sum(_) => Ok(None),
        }
    }

    /// An irregular array of scalars as one value, if it is next: a list without elements is one, too, and so is a list of
    /// lists, where lengths of rows would be a list of numbers.
    fn whole(
        &mut self,
        levels: &[Level],
        elem: ScalarType,
    ) -> Result<Option<Vec<Value>>, ReadError> {
        if self.ragged() {
            return self.ragged_values(Some((levels, elem))).map(Some);
        }
        let (depth, has_elements) = self.brackets();
        let nothing = self.peek() == Some(b'[') && !has_elements && depth <= levels.len();
        if depth == levels.len() || nothing {
            return self.irregular(levels, Some(elem)).map(Some);
        }
        Ok(None)
    }

    /// Values in parentheses.
    fn enclosed(&mut self, items: Vec<Item>) -> Result<Vec<Value>, ReadError> {
        self.expect(b'(')?;
        let mut values = Vec::new();
        for (i, item) in items.into_iter().enumerate() {
            if i > 0 {
                self.expect(b',')?;
            }
            values.extend(self.item(&item)?);
        }
        self.expect(b')')?;
        Ok(values)
    }

    /// A value in whichever notation.
    pub(super) fn item(&mut self, item: &Item) -> Result<Vec<Value>, ReadError> {
        match item {
            Item::Leaf(leaf, choices) => Ok(vec![leaf_value(self, *leaf, *choices)?]),
            Item::Type(ty, outer) => {
                if let Some(values) = self.structured(ty, *outer)? {
                    return Ok(values);
                }
                let mut values = Vec::new();
                for part in Item::parts(ty, *outer) {
                    values.extend(self.item(&part)?);
                }
                Ok(values)
            }
        }
    }

    fn record(
        &mut self,
        fields: &[(String, EntryType)],
        outer: usize,
    ) -> Result<Vec<Value>, ReadError> {
        self.expect(b'{')?;
        let mut values: Vec<Option<Vec<Value>>> = vec![None; fields.len()];
        for i in 0..fields.len() {
            if i > 0 {
                self.expect(b',')?;
            }
            self.skip();
            let start = self.position();
            let name = self.name();
            let at = fields.iter().position(|(field, _)| *field == name);
            let Some(at) = at.filter(|at| values[*at].is_none()) else {
                let missing = fields.iter().zip(&values).filter(|(_, v)| v.is_none());
                let missing: Vec<&str> = missing.map(|((field, _), _)| field.as_str()).collect();
                let missing = missing.join("`, `");
                let why = format!("expected a field, one of `{missing}`, found `{name}`");
                return Err(self.fail_at(start, why));
            };
            self.expect(b'=')?;
            values[at] = Some(self.item(&Item::Type(fields[at].1.clone(), outer))?);
        }
        self.expect(b'}')?;
        Ok(values.into_iter().flatten().flatten().collect())
    }

    /// A constructor and what it holds. What others hold is not there: it has no elements.
    fn constructor(
        &mut self,
        constructors: &[(String, Vec<EntryType>)],
    ) -> Result<Vec<Value>, ReadError> {
        self.expect(b'#')?;
        let start = self.position();
        let found = self.name();
        let at = constructors.iter().position(|(name, _)| *name == found);
        let Some(at) = at else {
            let names: Vec<&str> = constructors.iter().map(|(name, _)| name.as_str()).collect();
            let names = names.join("`, `#");
            let why = format!("expected a constructor, one of `#{names}`, found `#{found}`");
            return Err(self.fail_at(start, why));
        };
        let mut values = vec![Value::Scalar(Const::U8(
            u8::try_from(at).unwrap_or(u8::MAX),
        ))];
        for (i, (_, payload)) in constructors.iter().enumerate() {
            for ty in payload {
                if i != at {
                    values.extend(leaves(ty).into_iter().map(absent));
                    continue;
                }
                self.skip();
                if is_sum(ty) && self.peek() == Some(b'(') {
                    values.extend(self.enclosed(vec![Item::Type(ty.clone(), 0)])?);
                } else {
                    values.extend(self.item(&Item::Type(ty.clone(), 0))?);
                }
            }
        }
        Ok(values)
    }

    /// The name of a field or constructor.
    fn name(&mut self) -> String {
        let part = |byte: &u8| {
            byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'\'') || *byte >= 0x80
        };
        let length = self.rest().iter().take_while(|byte| part(byte)).count();
        let name = String::from_utf8_lossy(&self.rest()[..length]).into_owned();
        self.move_to(self.position() + length);
        name
    }
}

/// Whether values of the type are constructors.
fn is_sum(ty: &EntryType) -> bool {
    match ty {
        EntryType::Sum(_) => true,
        EntryType::Opaque { of, .. } => is_sum(of),
        EntryType::Scalar(_)
        | EntryType::Array { .. }
        | EntryType::Rows(_)
        | EntryType::Tuple(_)
        | EntryType::Record(_) => false,
    }
}

/// What stands for a value that is not there.
pub(crate) fn absent(leaf: Leaf) -> Value {
    match leaf.rank {
        0 => Value::Scalar(Const::zero(leaf.elem)),
        rank => Value::Array(ArrayValue {
            shape: vec![0; rank],
            data: Data::zeros(leaf.elem, 0),
        }),
    }
}
