//! Sequences that are arrays in memory: how a call with all of its arguments as values goes through them.

use super::Outside;
use crate::ir::syntax::EntryType;
use crate::trap::RunError;
use crate::value::leaf::{Leaf, leaves};
use crate::value::{ArrayValue, Data, Value};
use std::sync::{Mutex, PoisonError};

/// Arrays for the sequences that are parameters, and one for that which is the result.
#[derive(Debug)]
pub struct InMemory {
    inputs: Vec<Input>,
    output: Mutex<Vec<Value>>,
}

#[derive(Debug)]
struct Input {
    ty: EntryType,
    values: Vec<Value>,
    len: usize,
    /// How many elements have been read.
    read: Mutex<usize>,
}

impl InMemory {
    /// Arrays for the parameters, each with its type and the values that it is, and the type of the result.
    pub fn new(
        inputs: Vec<(EntryType, Vec<Value>)>,
        output: Option<&EntryType>,
    ) -> Result<Self, RunError> {
        let inputs = inputs.into_iter().map(|(ty, values)| {
            let given: Vec<Leaf> = values.iter().map(Leaf::of).collect();
            let wanted = leaves(&ty);
            if given != wanted {
                let types = |leaves: &[Leaf]| {
                    let all: Vec<String> = leaves.iter().map(Leaf::to_string).collect();
                    all.join(", ")
                };
                return Err(RunError::BadArguments(format!(
                    "a sequence is given as {}, and values of type {} were given",
                    types(&wanted),
                    types(&given)
                )));
            }
            let len = length(&ty, &mut values.iter())?;
            Ok(Input {
                ty,
                values,
                len,
                read: Mutex::new(0),
            })
        });
        Ok(Self {
            inputs: inputs.collect::<Result<_, _>>()?,
            output: Mutex::new(output.map_or_else(Vec::new, empty)),
        })
    }

    /// What was written.
    pub fn into_output(self) -> Vec<Value> {
        self.output
            .into_inner()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

/// Elements that came in pieces and are taken in others.
#[derive(Debug)]
pub struct Rows {
    ty: EntryType,
    pieces: std::collections::VecDeque<(Vec<Value>, usize)>,
    /// How many of the first piece have been taken, and how many there are in all.
    taken: usize,
    len: usize,
    /// How many will be taken at once.
    reserved: Option<usize>,
}

impl Rows {
    /// No elements yet; arrays of them are of this type.
    pub fn new(ty: EntryType) -> Self {
        Self {
            ty,
            pieces: std::collections::VecDeque::new(),
            taken: 0,
            len: 0,
            reserved: None,
        }
    }

    /// How many elements there are.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// More elements, as the values that an array of them is.
    pub fn push(&mut self, values: Vec<Value>) -> Result<(), RunError> {
        let count = length(&self.ty, &mut values.iter())?;
        self.len += count;
        self.pieces.push_back((values, count));
        Ok(())
    }

    /// The first `most` elements, or all; that their shapes agree is checked.
    pub fn take(&mut self, most: usize) -> Result<Vec<Value>, RunError> {
        let mut out = self.empty();
        self.take_into(&mut out, most)?;
        Ok(out)
    }

    /// An array without elements, to [take into](Self::take_into).
    pub fn empty(&self) -> Vec<Value> {
        empty(&self.ty)
    }

    /// Puts the first `most` elements, or all, behind others, for which there will be room at once where it is known how much is
    /// needed; that their shapes agree is checked. How many there were.
    pub fn take_into(&mut self, out: &mut [Value], most: usize) -> Result<usize, RunError> {
        let all = most.min(self.len);
        let mut left = all;
        while left > 0 {
            let Some((values, count)) = self.pieces.front() else {
                break;
            };
            let (from, to) = (self.taken, (self.taken + left).min(*count));
            let whole = from == 0 && to == *count;
            let mut some = Vec::new();
            if !whole {
                part(&self.ty, &mut values.iter(), (from, to), &mut some);
            }
            self.taken = to;
            if to == *count {
                self.taken = 0;
                if let Some((values, _)) = self.pieces.pop_front()
                    && whole
                {
                    some = values;
                }
            }
            (left, self.len) = (left - (to - from), self.len - (to - from));
            let wanted = self.reserved.filter(|_| has_one_length(&self.ty));
            join(out, some, wanted).map_err(|_| {
                RunError::BadArguments(String::from("the elements of a sequence differ in shape"))
            })?;
        }
        Ok(all)
    }

    /// So many elements are going to be taken into one array.
    pub fn reserve(&mut self, count: usize) {
        self.reserved = Some(count);
    }
}

/// An array without elements.
fn empty(ty: &EntryType) -> Vec<Value> {
    let nothing = |leaf: Leaf| {
        Value::Array(ArrayValue {
            shape: vec![0; leaf.rank],
            data: Data::zeros(leaf.elem, 0),
        })
    };
    leaves(ty).into_iter().map(nothing).collect()
}

/// Whether the values of an array are as long as it is.
fn has_one_length(ty: &EntryType) -> bool {
    match ty {
        EntryType::Scalar(_) => true,
        EntryType::Rows(_) => false,
        EntryType::Array { elem: ty, .. } | EntryType::Opaque { of: ty, .. } => has_one_length(ty),
        EntryType::Tuple(parts) => parts.iter().all(has_one_length),
        EntryType::Record(parts) => parts.iter().all(|(_, ty)| has_one_length(ty)),
        EntryType::Sum(parts) => parts.iter().flat_map(|(_, of)| of).all(has_one_length),
    }
}

/// Puts the elements of an array behind those of another, which is going to have so many rows if that is known.
fn join(all: &mut [Value], more: Vec<Value>, wanted: Option<usize>) -> Result<(), RunError> {
    for (all, more) in all.iter_mut().zip(more) {
        if let (Value::Array(all), Value::Array(more)) = (all, more) {
            append(all, more, wanted)?;
        }
    }
    Ok(())
}

impl Outside for InMemory {
    fn read(&self, stream: u32, most: i64) -> Result<Vec<Value>, RunError> {
        let missing = || RunError::Internal(String::from("there is no such sequence"));
        let input = self.inputs.get(stream as usize).ok_or_else(missing)?;
        let mut read = input.read.lock().unwrap_or_else(PoisonError::into_inner);
        let from = *read;
        let most = usize::try_from(most).unwrap_or(0);
        let to = from.saturating_add(most).min(input.len);
        *read = to;
        let mut out = Vec::with_capacity(input.values.len());
        part(&input.ty, &mut input.values.iter(), (from, to), &mut out);
        Ok(out)
    }

    fn gather(&self, _: u32, _: i64, _: &dyn Fn() -> bool) -> bool {
        true
    }

    fn write(&self, values: Vec<Value>) -> Result<(), RunError> {
        let mut output = self.output.lock().unwrap_or_else(PoisonError::into_inner);
        join(&mut output, values, None)
    }
}

/// The number of elements of an array given as values; that they agree is checked.
fn length(ty: &EntryType, values: &mut std::slice::Iter<'_, Value>) -> Result<usize, RunError> {
    let differ =
        || RunError::BadArguments(String::from("the parts of a sequence differ in length"));
    let mut len = None;
    each_leaf(ty, values, &mut |value, inner| {
        let here = value.shape().first().copied();
        let here = here.and_then(|n| usize::try_from(n).ok()).unwrap_or(0);
        match inner {
            Some(rows) if rows == here => Ok(()),
            Some(_) => Err(RunError::BadArguments(String::from(
                "the lengths of rows of a sequence do not add up",
            ))),
            None if *len.get_or_insert(here) == here => Ok(()),
            None => Err(differ()),
        }
    })?;
    Ok(len.unwrap_or(0))
}

/// Looks at a value, and at how long it must be if it holds the elements of rows.
type Look<'f> = dyn FnMut(&Value, Option<usize>) -> Result<(), RunError> + 'f;

/// Calls `f` on the values of an array, each with how long it must be if it holds the elements of rows.
fn each_leaf(
    ty: &EntryType,
    values: &mut std::slice::Iter<'_, Value>,
    f: &mut Look<'_>,
) -> Result<(), RunError> {
    fn go(
        ty: &EntryType,
        rows: Option<usize>,
        values: &mut std::slice::Iter<'_, Value>,
        f: &mut Look<'_>,
    ) -> Result<(), RunError> {
        match ty {
            EntryType::Array { elem, .. } if !leaves(elem).is_empty() => go(elem, rows, values, f),
            EntryType::Array { .. } | EntryType::Scalar(_) => match values.next() {
                Some(value) => f(value, rows),
                None => Ok(()),
            },
            EntryType::Rows(elem) => {
                let Some(lengths) = values.next() else {
                    return Ok(());
                };
                f(lengths, rows)?;
                let total = sum(lengths, 0, usize::MAX);
                go(elem, Some(total), values, f)
            }
            EntryType::Tuple(parts) => parts.iter().try_for_each(|ty| go(ty, rows, values, f)),
            EntryType::Record(parts) => {
                parts.iter().try_for_each(|(_, ty)| go(ty, rows, values, f))
            }
            EntryType::Sum(constructors) => {
                if let Some(tag) = values.next() {
                    f(tag, rows)?;
                }
                let parts = constructors.iter().flat_map(|(_, parts)| parts);
                parts.into_iter().try_for_each(|ty| go(ty, rows, values, f))
            }
            EntryType::Opaque { of, .. } => go(of, rows, values, f),
        }
    }
    go(ty, None, values, f)
}

/// The sum of lengths.
fn sum(lengths: &Value, from: usize, to: usize) -> usize {
    match lengths {
        Value::Array(ArrayValue {
            data: Data::I64(all),
            ..
        }) => {
            let to = to.min(all.len());
            let lengths = all.get(from..to).into_iter().flatten();
            lengths.map(|&n| usize::try_from(n).unwrap_or(0)).sum()
        }
        Value::Array(_) | Value::Scalar(_) => 0,
    }
}

/// Some elements of an array given as values, in the same form.
fn part(
    ty: &EntryType,
    values: &mut std::slice::Iter<'_, Value>,
    (from, to): (usize, usize),
    out: &mut Vec<Value>,
) {
    match ty {
        EntryType::Array { elem, .. } if !leaves(elem).is_empty() => {
            part(elem, values, (from, to), out);
        }
        EntryType::Array { .. } | EntryType::Scalar(_) => {
            out.extend(values.next().map(|value| slice(value, from, to)));
        }
        EntryType::Rows(elem) => {
            let Some(lengths) = values.next() else { return };
            let each: usize = inner(lengths.shape());
            let start = sum(lengths, 0, from.saturating_mul(each));
            let len = sum(lengths, from.saturating_mul(each), to.saturating_mul(each));
            out.push(slice(lengths, from, to));
            part(elem, values, (start, start + len), out);
        }
        EntryType::Tuple(parts) => {
            for ty in parts {
                part(ty, values, (from, to), out);
            }
        }
        EntryType::Record(parts) => {
            for (_, ty) in parts {
                part(ty, values, (from, to), out);
            }
        }
        EntryType::Sum(constructors) => {
            out.extend(values.next().map(|value| slice(value, from, to)));
            for ty in constructors.iter().flat_map(|(_, parts)| parts) {
                part(ty, values, (from, to), out);
            }
        }
        EntryType::Opaque { of, .. } => part(of, values, (from, to), out),
    }
}

/// How many elements a row of an array has.
fn inner(shape: &[i64]) -> usize {
    let rest = shape.iter().skip(1);
    rest.map(|&n| usize::try_from(n).unwrap_or(0)).product()
}

/// The rows of an array from one to before another.
fn slice(value: &Value, from: usize, to: usize) -> Value {
    let Value::Array(array) = value else {
        return value.clone();
    };
    let each = inner(&array.shape);
    let mut shape = array.shape.clone();
    if let Some(first) = shape.first_mut() {
        *first = (to - from) as i64;
    }
    macro_rules! rows {
        ($($kind:ident)*) => {
            match &array.data {
                $(Data::$kind(all) => {
                    Data::$kind(all.get(from * each..to * each).unwrap_or(&[]).to_vec())
                })*
            }
        };
    }
    let data = rows!(I8 I16 I32 I64 U8 U16 U32 U64 F16 F32 F64 Bool);
    Value::Array(ArrayValue { shape, data })
}

/// The most bytes that are asked for before there is something to put there.
const RESERVED: usize = 1 << 30;

/// Puts the rows of an array behind those of another, which is going to have so many if that is known.
fn append(all: &mut ArrayValue, more: ArrayValue, wanted: Option<usize>) -> Result<(), RunError> {
    if more.shape.first() == Some(&0) {
        return Ok(());
    }
    let each = inner(&more.shape);
    let room = wanted.and_then(|n| n.checked_mul(each));
    let room = room.filter(|n| *n <= RESERVED / more.data.elem().bytes());
    if all.shape.first() == Some(&0) {
        // What is the only piece is handed on as it is.
        if room.is_none_or(|room| room <= more.data.len()) {
            *all = more;
            return Ok(());
        }
        all.shape = more.shape.clone();
        if let Some(first) = all.shape.first_mut() {
            *first = 0;
        }
    }
    let differ = || RunError::Internal(String::from("the parts of a sequence differ in shape"));
    if all.shape.get(1..) != more.shape.get(1..) || all.data.elem() != more.data.elem() {
        return Err(differ());
    }
    if let (Some(all), Some(more)) = (all.shape.first_mut(), more.shape.first()) {
        *all += more;
    }
    macro_rules! join {
        ($($kind:ident)*) => {
            match (&mut all.data, more.data) {
                $((Data::$kind(all), Data::$kind(more)) => {
                    if let Some(room) = room {
                        all.reserve_exact(room.saturating_sub(all.len()));
                    }
                    all.extend(more);
                })*
                _ => return Err(differ()),
            }
        };
    }
    join!(I8 I16 I32 I64 U8 U16 U32 U64 F16 F32 F64 Bool);
    Ok(())
}
