//! What FutharkScript expressions evaluate to, and how that fits the parameters of entry points.

use crate::data::{Leaf, leaves, parse_number};
use midend::ir::scalar::Const;
use midend::ir::syntax::EntryType;
use midend::value::{ArrayValue, Data, Value};

/// A value of FutharkScript.
#[derive(Clone, Debug, PartialEq)]
pub enum ScriptValue {
    /// A number without a type yet, as it was written.
    Number(String),
    /// A scalar or an array of scalars.
    Plain(Value),
    /// A result of an entry point: the leaves of its type.
    Typed(EntryType, Vec<Value>),
    /// A tuple.
    Tuple(Vec<ScriptValue>),
    /// A record, fields sorted by name.
    Record(Vec<(String, ScriptValue)>),
    /// An entry point that lacks arguments.
    Function(String, Vec<ScriptValue>),
}

impl ScriptValue {
    /// Takes a result of an entry point apart as far as its type allows: into a plain value, a tuple or a record.
    pub fn open(self) -> Self {
        match self {
            Self::Typed(ty, values) => open_typed(ty, values),
            other @ (Self::Number(_)
            | Self::Plain(_)
            | Self::Tuple(_)
            | Self::Record(_)
            | Self::Function(..)) => other,
        }
    }

    /// The leaves of the value as a parameter of the given type takes them.
    pub fn fit(self, ty: &EntryType) -> Result<Vec<Value>, String> {
        if let Self::Typed(mine, values) = &self
            && mine == ty
        {
            return Ok(values.clone());
        }
        if let EntryType::Opaque { of, .. } = ty {
            return self.open().fit(of);
        }
        let kind = self.kind();
        self.open().fit_opened(ty)?.ok_or_else(|| {
            format!(
                "a value of type {} was expected, this is {kind}",
                type_text(ty)
            )
        })
    }

    /// As [`ScriptValue::fit`], for a value that has been taken apart; nothing if it is of another kind.
    fn fit_opened(self, ty: &EntryType) -> Result<Option<Vec<Value>>, String> {
        match ty {
            EntryType::Scalar(elem) => {
                if let Self::Number(text) = &self {
                    return Ok(Some(vec![Value::Scalar(parse_number(text, Some(*elem))?)]));
                }
                Ok(self.fit_leaf(ty))
            }
            EntryType::Array { .. } | EntryType::Rows(_) => Ok(self.fit_leaf(ty)),
            EntryType::Tuple(parts) => {
                if let Self::Tuple(items) = self
                    && items.len() == parts.len()
                {
                    let fitted = items.into_iter().zip(parts).map(|(item, ty)| item.fit(ty));
                    return Ok(Some(fitted.collect::<Result<Vec<_>, _>>()?.concat()));
                }
                Ok(None)
            }
            EntryType::Record(parts) => {
                if let Self::Record(items) = self
                    && items.len() == parts.len()
                    && items.iter().zip(parts).all(|((a, _), (b, _))| a == b)
                {
                    let pairs = items.into_iter().zip(parts);
                    let fitted = pairs.map(|((_, item), (_, ty))| item.fit(ty));
                    return Ok(Some(fitted.collect::<Result<Vec<_>, _>>()?.concat()));
                }
                Ok(None)
            }
            EntryType::Sum(_) | EntryType::Opaque { .. } => Ok(None),
        }
    }

    fn fit_leaf(self, ty: &EntryType) -> Option<Vec<Value>> {
        if let Self::Plain(value) = self
            && leaves(ty) == [Leaf::of(&value)]
        {
            return Some(vec![value]);
        }
        None
    }

    /// A scalar or array of scalars; numbers without a type get the default one.
    pub fn plain(self) -> Result<Value, String> {
        match self.open() {
            Self::Plain(value) => Ok(value),
            Self::Number(text) => parse_number(&text, None).map(Value::Scalar),
            other @ (Self::Typed(..) | Self::Tuple(_) | Self::Record(_) | Self::Function(..)) => {
                Err(format!(
                    "a plain value was expected, this is {}",
                    other.kind()
                ))
            }
        }
    }

    /// A field of a record, or a component of a tuple by its number.
    pub fn field(self, name: &str) -> Result<Self, String> {
        match self.open() {
            Self::Record(fields) => fields
                .into_iter()
                .find(|(field, _)| field == name)
                .map(|(_, value)| value)
                .ok_or_else(|| format!("the record has no field {name}")),
            Self::Tuple(items) => {
                let count = items.len();
                name.parse::<usize>()
                    .ok()
                    .and_then(|i| items.into_iter().nth(i))
                    .ok_or_else(|| format!("a tuple of {count} has no component {name}"))
            }
            other @ (Self::Number(_) | Self::Plain(_) | Self::Typed(..) | Self::Function(..)) => {
                Err(format!("{} has no field {name}", other.kind()))
            }
        }
    }

    fn kind(&self) -> String {
        match self {
            Self::Number(text) => format!("the number {text}"),
            Self::Plain(value) => format!("a value of type {}", Leaf::of(value)),
            Self::Typed(ty, _) => format!("a value of type {}", type_text(ty)),
            Self::Tuple(items) => format!("a tuple of {}", items.len()),
            Self::Record(fields) => format!("a record of {} fields", fields.len()),
            Self::Function(name, _) => format!("the function {name}, which lacks arguments"),
        }
    }
}

fn open_typed(ty: EntryType, values: Vec<Value>) -> ScriptValue {
    let take = |parts: Vec<EntryType>, values: Vec<Value>| {
        let mut rest = values.into_iter();
        parts
            .into_iter()
            .map(|part| {
                let mine = rest.by_ref().take(leaves(&part).len()).collect();
                ScriptValue::Typed(part, mine)
            })
            .collect::<Vec<_>>()
    };
    match ty {
        EntryType::Opaque { of, .. } => open_typed(*of, values),
        EntryType::Tuple(parts) => ScriptValue::Tuple(take(parts, values)),
        EntryType::Record(fields) => {
            let (names, parts): (Vec<_>, Vec<_>) = fields.into_iter().unzip();
            ScriptValue::Record(names.into_iter().zip(take(parts, values)).collect())
        }
        EntryType::Scalar(_) | EntryType::Array { .. } | EntryType::Rows(_) | EntryType::Sum(_) => {
            match <[Value; 1]>::try_from(values) {
                Ok([value]) => ScriptValue::Plain(value),
                Err(values) => ScriptValue::Typed(ty, values),
            }
        }
    }
}

/// The type as the source writes it, without sizes.
pub(crate) fn type_text(ty: &EntryType) -> String {
    let all = |parts: &[EntryType]| parts.iter().map(type_text).collect::<Vec<_>>().join(", ");
    match ty {
        EntryType::Scalar(elem) => elem.to_string(),
        EntryType::Array { rank, elem } => format!("{}{}", "[]".repeat(*rank), type_text(elem)),
        EntryType::Rows(elem) => format!("[..]{}", type_text(elem)),
        EntryType::Tuple(parts) => format!("({})", all(parts)),
        EntryType::Record(fields) => {
            let fields: Vec<_> = fields
                .iter()
                .map(|(name, ty)| format!("{name}: {}", type_text(ty)))
                .collect();
            format!("{{{}}}", fields.join(", "))
        }
        EntryType::Sum(constructors) => {
            let constructors: Vec<_> = constructors
                .iter()
                .map(|(name, payload)| {
                    std::iter::once(format!("#{name}"))
                        .chain(payload.iter().map(type_text))
                        .collect::<Vec<_>>()
                        .join(" ")
                })
                .collect();
            format!("({})", constructors.join(" | "))
        }
        EntryType::Opaque { name, .. } => name.clone(),
    }
}

/// Values of one type and shape as the rows of an array.
pub(super) fn stack(rows: Vec<Value>) -> Result<Value, String> {
    let Some(first) = rows.first() else {
        return Err(String::from(
            "the element type of an empty array cannot be told: write `empty([0]i32)` or the like",
        ));
    };
    let (elem, inner) = (first.elem(), first.shape().to_vec());
    let mut data = Data::zeros(elem, 0);
    let mut shape = vec![rows.len() as i64];
    shape.extend(&inner);
    for row in rows {
        if row.elem() != elem || row.shape() != inner {
            return Err(String::from(
                "the elements of an array must have one type and shape",
            ));
        }
        crate::data::append(&mut data, &row);
    }
    Ok(Value::Array(ArrayValue { shape, data }))
}

/// The element or row at the indices.
pub(crate) fn index(value: &Value, indices: &[i64]) -> Result<Value, String> {
    let Value::Array(array) = value else {
        return Err(String::from("only an array can be indexed"));
    };
    if indices.len() > array.shape.len() {
        return Err(String::from("more indices than dimensions"));
    }
    let mut at = 0;
    for (i, dim) in indices.iter().zip(&array.shape) {
        if !(0..*dim).contains(i) {
            return Err(format!(
                "index {indices:?} is out of bounds for shape {:?}",
                array.shape
            ));
        }
        at = at * dim + i;
    }
    let shape = array.shape[indices.len()..].to_vec();
    let len: i64 = shape.iter().product();
    let element = |i: i64| -> Const { array.data.get(usize::try_from(i).unwrap_or(0)) };
    if shape.is_empty() {
        return Ok(Value::Scalar(element(at)));
    }
    let mut data = Data::zeros(array.data.elem(), 0);
    for i in at * len..(at + 1) * len {
        crate::data::append(&mut data, &Value::Scalar(element(i)));
    }
    Ok(Value::Array(ArrayValue { shape, data }))
}
