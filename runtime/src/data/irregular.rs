//! Arrays with rows of any lengths as text: `[[1, 2], [], [3]]` stands for the lengths of the rows, and then all elements.

use super::number::parse_token;
use super::{Leaf, ReadError, Reader, append, const_text, leaves, ragged};
use midend::ir::scalar::Const;
use midend::ir::syntax::EntryType;
use midend::ir::types::ScalarType;
use midend::value::{ArrayValue, Data, Value, elements};

/// The most rows that an array without elements may have: each takes memory.
const MOST_EMPTY: i64 = 1 << 20;

/// One pair of brackets, from the outside to the inside.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Level {
    /// A dimension in which all rows have one length.
    Fixed,
    /// A dimension in which they need not.
    Rows,
}

/// The levels of an irregular array of scalars, if the type is one.
pub(crate) fn levels(ty: &EntryType) -> Option<(Vec<Level>, ScalarType)> {
    let mut levels = Vec::new();
    let mut at = ty;
    loop {
        match at {
            EntryType::Array { rank, elem } => {
                levels.extend(std::iter::repeat_n(Level::Fixed, *rank));
                at = elem;
            }
            EntryType::Rows(elem) => {
                levels.push(Level::Rows);
                at = elem;
            }
            EntryType::Scalar(elem) if levels.contains(&Level::Rows) => {
                return Some((levels, *elem));
            }
            EntryType::Scalar(_)
            | EntryType::Tuple(_)
            | EntryType::Record(_)
            | EntryType::Sum(_)
            | EntryType::Opaque { .. } => return None,
        }
    }
}

/// What has been read of an irregular array.
struct Parts {
    /// For each level of rows their lengths.
    lengths: Vec<Vec<i64>>,
    /// For each other level how long it is, once that is known.
    extents: Vec<Option<i64>>,
    data: Option<Data>,
}

impl Parts {
    fn new(levels: &[Level], elem: Option<ScalarType>) -> Self {
        let rows = levels.iter().filter(|l| **l == Level::Rows).count();
        Self {
            lengths: vec![Vec::new(); rows],
            extents: vec![None; levels.len()],
            data: elem.map(|elem| Data::zeros(elem, 0)),
        }
    }

    /// Notes that a pair of brackets holds so many items.
    fn close(&mut self, levels: &[Level], at: usize, count: i64) -> Result<(), String> {
        match levels[at] {
            Level::Rows => {
                let which = levels[..at].iter().filter(|l| **l == Level::Rows).count();
                self.lengths[which].push(count);
                Ok(())
            }
            Level::Fixed => match self.extents[at].replace(count) {
                Some(before) if before != count => Err(format!(
                    "rows of {before} and of {count} elements, where the type has rows of one length"
                )),
                Some(_) | None => Ok(()),
            },
        }
    }

    /// Notes an array without elements, of which the extents are known.
    fn empty(&mut self, levels: &[Level], at: usize, shape: &[i64]) -> Result<(), String> {
        let Some((&count, rows)) = shape.split_first() else {
            return Ok(());
        };
        if count > MOST_EMPTY {
            return Err(format!("more than {MOST_EMPTY} rows without elements"));
        }
        for _ in 0..count {
            self.empty(levels, at + 1, rows)?;
        }
        if count == 0 {
            let below = levels.iter().enumerate().skip(at + 1).zip(rows);
            for ((i, level), &extent) in below {
                if *level == Level::Fixed {
                    self.close(levels, i, extent)?;
                }
            }
        }
        self.close(levels, at, count)
    }

    /// The lengths of each level of rows, and the elements.
    fn values(self, levels: &[Level]) -> Option<Vec<Value>> {
        let (mut shape, mut values) = (Vec::new(), Vec::new());
        let mut lengths = self.lengths.into_iter();
        for (level, extent) in levels.iter().zip(&self.extents) {
            match level {
                Level::Fixed => shape.push(extent.unwrap_or(0)),
                Level::Rows => {
                    let lengths = lengths.next()?;
                    let all = lengths.iter().sum();
                    let shape = std::mem::replace(&mut shape, vec![all]);
                    let data = Data::I64(lengths);
                    values.push(Value::Array(ArrayValue { shape, data }));
                }
            }
        }
        let data = self.data?;
        values.push(Value::Array(ArrayValue { shape, data }));
        Some(values)
    }
}

impl Reader<'_> {
    /// The values of a type that is an irregular array of scalars.
    pub(super) fn irregular(
        &mut self,
        levels: &[Level],
        elem: Option<ScalarType>,
    ) -> Result<Vec<Value>, ReadError> {
        let mut parts = Parts::new(levels, elem);
        self.level(levels, 0, &mut parts)?;
        let values = parts.values(levels);
        values.ok_or_else(|| self.fail("the type of these elements cannot be told"))
    }

    fn level(&mut self, levels: &[Level], at: usize, parts: &mut Parts) -> Result<(), ReadError> {
        if at == levels.len() {
            self.skip();
            let elem = parts.data.as_ref().map(Data::elem);
            let wanted = elem.map(|elem| Leaf { rank: 0, elem });
            let start = self.position();
            let token = self.token();
            let value = parse_token(token, elem, super::text::range_for(wanted))
                .map_err(|why| self.fail_at(start, why))?;
            let data = parts.data.get_or_insert_with(|| Data::zeros(value.ty(), 0));
            if data.elem() != value.ty() {
                return Err(self.fail_at(start, "the elements of an array must have one type"));
            }
            append(data, &Value::Scalar(value));
            return Ok(());
        }
        self.skip();
        let start = self.position();
        if self.rest().starts_with(b"empty") {
            let elem = parts.data.as_ref().map(Data::elem);
            let rank = levels.len() - at;
            let wanted = elem.map(|elem| Leaf { rank, elem });
            let value = self.value(wanted)?;
            if value.shape().len() != rank {
                let found = value.shape().len();
                let why = format!("expected an array of {rank} dimensions, found {found}");
                return Err(self.fail_at(start, why));
            }
            if parts.data.is_none() {
                parts.data = Some(Data::zeros(value.elem(), 0));
            }
            let empty = parts.empty(levels, at, value.shape());
            return empty.map_err(|why| self.fail_at(start, why));
        }
        self.expect(b'[')?;
        let mut count = 0;
        loop {
            self.skip();
            if self.peek() == Some(b']') {
                break;
            }
            if count > 0 {
                self.expect(b',')?;
                self.skip();
                if self.peek() == Some(b']') {
                    break;
                }
            }
            self.level(levels, at + 1, parts)?;
            count += 1;
        }
        self.expect(b']')?;
        let closed = parts.close(levels, at, count);
        closed.map_err(|why| self.fail(why))
    }

    /// Whether an irregular array in binary form is next.
    pub(super) fn ragged(&mut self) -> bool {
        self.skip();
        ragged::begins(self.bytes(), self.position())
    }

    /// The lengths of the rows and the elements of an irregular array in binary form.
    pub(super) fn ragged_values(
        &mut self,
        expected: Option<(&[Level], ScalarType)>,
    ) -> Result<Vec<Value>, ReadError> {
        let (values, end) = ragged::read(self.bytes(), self.position(), expected)?;
        self.move_to(end);
        Ok(values)
    }

    /// The next value, of the type that it shows; of an array whose rows differ in length, the lengths and the elements.
    pub fn values(&mut self) -> Result<Vec<Value>, ReadError> {
        if self.ragged() {
            return self.ragged_values(None);
        }
        let before = self.clone();
        let plain = self.value(None);
        let Err(why) = plain else {
            return plain.map(|value| vec![value]);
        };
        let mut again = before;
        let depth = again.depth();
        if depth < 2 {
            return Err(why);
        }
        let mut levels = vec![Level::Rows; depth];
        levels[0] = Level::Fixed;
        // The first error says more.
        let Ok(values) = again.irregular(&levels, None) else {
            return Err(why);
        };
        *self = again;
        Ok(values)
    }

    /// How many brackets are open at most in the array that begins here.
    pub(super) fn depth(&mut self) -> usize {
        self.brackets().0
    }

    /// How many brackets are open at most in the array that begins here, the dimensions of arrays written with `empty` counted
    /// in, and whether it has elements.
    pub(super) fn brackets(&mut self) -> (usize, bool) {
        self.skip();
        let (mut open, mut most, mut elements) = (0usize, 0, false);
        let rest = self.rest();
        let mut at = 0;
        while let Some(&byte) = rest.get(at) {
            match byte {
                b'[' => {
                    open += 1;
                    most = most.max(open);
                }
                b']' => open = open.saturating_sub(1),
                b'e' if rest[at..].starts_with(b"empty") => {
                    let length = rest[at..].iter().take_while(|b| **b != b')').count();
                    let dims = rest[at..at + length].iter().filter(|b| **b == b'[').count();
                    most = most.max(open + dims);
                    at += length;
                }
                b',' => {}
                byte if byte.is_ascii_whitespace() => {}
                b'-' if rest[at..].starts_with(b"--") => {
                    at += rest[at..].iter().take_while(|b| **b != b'\n').count();
                }
                _ => elements = true,
            }
            if open == 0 {
                break;
            }
            at += 1;
        }
        (most.min(super::text::MAX_RANK), elements)
    }
}

/// Values for the types, where a regular array may stand for an irregular one.
pub(crate) fn fit<'t>(
    types: impl Iterator<Item = &'t EntryType>,
    values: Vec<Value>,
) -> Vec<Value> {
    let mut rest = values.into_iter().peekable();
    let mut out = Vec::new();
    for ty in types {
        let split = levels(ty).and_then(|(levels, elem)| {
            let rank = levels.len();
            let whole = rest.next_if(|value| Leaf::of(value) == Leaf { rank, elem })?;
            Some(in_rows(&levels, whole))
        });
        match split {
            // What cannot be split stays of another type than what is wanted.
            Some(values) => out.extend(values.unwrap_or_else(|whole| vec![whole])),
            None => out.extend(rest.by_ref().take(leaves(ty).len())),
        }
    }
    out.extend(rest);
    out
}

/// A regular array as the lengths of its rows and its elements; the array again if there are more rows than memory holds lengths of.
fn in_rows(levels: &[Level], whole: Value) -> Result<Vec<Value>, Value> {
    let Value::Array(whole) = whole else {
        return Ok(vec![whole]);
    };
    let (mut shape, mut values) = (Vec::new(), Vec::new());
    for (level, extent) in levels.iter().zip(&whole.shape) {
        match level {
            Level::Fixed => shape.push(*extent),
            Level::Rows => {
                let mut data: Vec<i64> = Vec::new();
                let count = elements(&shape).filter(|n| data.try_reserve_exact(*n).is_ok());
                let Some(count) = count else {
                    return Err(Value::Array(whole));
                };
                data.resize(count, *extent);
                let all = i64::saturating_mul(count as i64, *extent);
                let shape = std::mem::replace(&mut shape, vec![all]);
                let data = Data::I64(data);
                values.push(Value::Array(ArrayValue { shape, data }));
            }
        }
    }
    let data = whole.data;
    values.push(Value::Array(ArrayValue { shape, data }));
    Ok(values)
}

/// An irregular array of scalars as the source writes it, if the values are of its type.
pub(super) fn text(ty: &EntryType, values: &[Value], most: Option<usize>) -> Option<String> {
    let (levels, _) = levels(ty)?;
    let leaves: Option<Vec<&ArrayValue>> = values
        .iter()
        .map(|value| match value {
            Value::Array(array) => Some(array),
            Value::Scalar(_) => None,
        })
        .collect();
    let leaves = leaves.filter(|leaves| leaves.len() == super::leaves(ty).len())?;
    let offsets = leaves[..leaves.len() - 1].iter().map(|lengths| {
        let mut sum = 0;
        let offset = |i| {
            let begin = sum;
            sum += length(lengths, i);
            begin
        };
        (0..lengths.data.len()).map(offset).collect()
    });
    let show = Show {
        levels,
        offsets: offsets.collect(),
        leaves,
        most: most.unwrap_or(usize::MAX),
    };
    let mut out = String::new();
    show.level(0, (0, 0), 0, &mut out);
    Some(out)
}

fn length(lengths: &ArrayValue, i: usize) -> usize {
    match lengths.data.get(i) {
        Const::I64(n) => usize::try_from(n).unwrap_or(0),
        Const::I8(_)
        | Const::I16(_)
        | Const::I32(_)
        | Const::U8(_)
        | Const::U16(_)
        | Const::U32(_)
        | Const::U64(_)
        | Const::F16(_)
        | Const::F32(_)
        | Const::F64(_)
        | Const::Bool(_) => 0,
    }
}

/// An irregular array that is being shown.
struct Show<'v> {
    levels: Vec<Level>,
    offsets: Vec<Vec<usize>>,
    leaves: Vec<&'v ArrayValue>,
    most: usize,
}

impl Show<'_> {
    /// An array without rows: its extents, 0 for those that rows need not have in common.
    fn empty(&self, at: usize, out: &mut String) {
        out.push_str("empty([0]");
        for (i, level) in self.levels.iter().enumerate().skip(at + 1) {
            let before = &self.levels[..i];
            let leaf = before.iter().filter(|l| **l == Level::Rows).count();
            let fixed = before.iter().rev().take_while(|l| **l == Level::Fixed);
            // The first dimension of what is in rows is that of all of them.
            let dim = fixed.count() + usize::from(leaf > 0);
            let extent = match level {
                Level::Fixed => self.leaves[leaf].shape.get(dim).copied().unwrap_or(0),
                Level::Rows => 0,
            };
            out.push('[');
            out.push_str(&extent.to_string());
            out.push(']');
        }
        let elem = self.leaves.last().map(|leaf| leaf.data.elem().name());
        out.push_str(elem.unwrap_or("?"));
        out.push(')');
    }

    /// What is inside of a level: of which leaf, and of which of its dimensions; at which place in the dimensions before.
    fn level(&self, at: usize, (leaf, dim): (usize, usize), place: usize, out: &mut String) {
        let Some(level) = self.levels.get(at) else {
            out.push_str(&const_text(self.leaves[leaf].data.get(place)));
            return;
        };
        let (begin, count, next) = match level {
            Level::Fixed => {
                let extent = self.leaves[leaf].shape.get(dim).copied().unwrap_or(0);
                let extent = usize::try_from(extent).unwrap_or(0);
                (place * extent, extent, (leaf, dim + 1))
            }
            Level::Rows => {
                let count = length(self.leaves[leaf], place);
                (self.offsets[leaf][place], count, (leaf + 1, 1))
            }
        };
        let tells = self.levels[at + 1..].contains(&Level::Fixed);
        if count == 0 && (at == 0 || tells) {
            return self.empty(at, out);
        }
        out.push('[');
        for i in 0..count {
            if i > 0 {
                out.push_str(", ");
            }
            if i == self.most {
                out.push_str("...");
                break;
            }
            self.level(at + 1, next, begin + i, out);
        }
        out.push(']');
    }
}
