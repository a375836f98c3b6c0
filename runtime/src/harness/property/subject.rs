//! A property that can be tested: its entry points are there, and their types fit.

use crate::data::leaves;
use crate::script::type_text;
use crate::session::Program;
use frontend::property::Property;
use midend::ir::scalar::Const;
use midend::ir::syntax::{Entry, EntryType};
use midend::ir::types::ScalarType;
use midend::trap::RunError;
use midend::value::Value;

/// A property with what is needed to test it.
pub(super) struct Subject<'a> {
    pub(super) program: &'a Program,
    pub(super) property: &'a Property,
    /// The type of its argument.
    pub(super) ty: &'a EntryType,
}

impl Subject<'_> {
    /// Whether the property is true of the candidate.
    pub(super) fn holds(&self, candidate: &[Value]) -> Result<bool, RunError> {
        let results = self
            .program
            .call(&self.property.entry, candidate.to_vec())?;
        Ok(results == [Value::Scalar(Const::Bool(true))])
    }
}

/// The property of that name. The error says what is wrong with it.
pub(super) fn subject<'a>(program: &'a Program, name: &str) -> Result<Subject<'a>, String> {
    let Some(entry) = program.entry(name) else {
        return Err(format!(
            "`{name}` is declared as a property, but it is no entry point"
        ));
    };
    let mut attributes = program.properties().iter().filter(|p| p.entry == name);
    let property = match (attributes.next(), attributes.next()) {
        (Some(property), None) => property,
        (None, _) => {
            return Err(format!(
                "`{name}` is declared as a property, but it lacks the attribute `#[prop]`"
            ));
        }
        (Some(_), Some(_)) => return Err(format!("`{name}` has the attribute `#[prop]` twice")),
    };
    let ty = match entry.params.as_slice() {
        [param] => &param.ty,
        params => {
            return Err(format!(
                "the property `{name}` must have one parameter, it has {}",
                params.len()
            ));
        }
    };
    let result = result_of(entry);
    if !same(&result, &EntryType::Scalar(ScalarType::Bool)) {
        return Err(format!(
            "the property `{name}` must have a result of type `bool`, it has one of type `{}`",
            type_text(&result)
        ));
    }
    if let Some(generator) = &property.generator {
        fits(program, "generator", generator, &SIZE_AND_SEED, ty)?;
    }
    if let Some(shrinker) = &property.shrinker {
        let params = [ty.clone(), EntryType::Scalar(ScalarType::U64)];
        fits(program, "shrinker", shrinker, &params, ty)?;
    }
    Ok(Subject {
        program,
        property,
        ty,
    })
}

/// What generators take.
pub(super) const SIZE_AND_SEED: [EntryType; 2] = [
    EntryType::Scalar(ScalarType::I64),
    EntryType::Scalar(ScalarType::U64),
];

/// Whether the entry point has these parameters and this result.
fn fits(
    program: &Program,
    role: &str,
    name: &str,
    params: &[EntryType],
    result: &EntryType,
) -> Result<(), String> {
    let Some(entry) = program.entry(name) else {
        return Err(format!("the {role} `{name}` is no entry point"));
    };
    if has_type(entry, params, result) {
        return Ok(());
    }
    let have: Vec<EntryType> = entry.params.iter().map(|p| p.ty.clone()).collect();
    Err(format!(
        "the {role} `{name}` must have the type `{}`, it has the type `{}`",
        arrows(params, result),
        arrows(&have, &result_of(entry)),
    ))
}

/// The type of a function as the source writes it.
fn arrows(params: &[EntryType], result: &EntryType) -> String {
    let types = params.iter().chain([result]).map(type_text);
    types.collect::<Vec<_>>().join(" -> ")
}

/// Whether the entry point has these parameters and this result.
pub(super) fn has_type(entry: &Entry, params: &[EntryType], result: &EntryType) -> bool {
    let all = || entry.params.iter().zip(params);
    entry.params.len() == params.len()
        && all().all(|(have, want)| same(&have.ty, want))
        && same(&result_of(entry), result)
}

/// The result of an entry point as one type.
fn result_of(entry: &Entry) -> EntryType {
    match entry.results.as_slice() {
        [one] => one.clone(),
        several => EntryType::Tuple(several.to_vec()),
    }
}

/// Whether two types have the same values: one may have a name for what the other spells out.
fn same(a: &EntryType, b: &EntryType) -> bool {
    leaves(a) == leaves(b) && type_text(&plain(a)) == type_text(&plain(b))
}

/// The type without names.
fn plain(ty: &EntryType) -> EntryType {
    match ty {
        EntryType::Scalar(elem) => EntryType::Scalar(*elem),
        EntryType::Array { rank, elem } => EntryType::Array {
            rank: *rank,
            elem: Box::new(plain(elem)),
        },
        EntryType::Rows(elem) => EntryType::Rows(Box::new(plain(elem))),
        EntryType::Tuple(parts) => EntryType::Tuple(parts.iter().map(plain).collect()),
        EntryType::Record(fields) => EntryType::Record(
            fields
                .iter()
                .map(|(name, ty)| (name.clone(), plain(ty)))
                .collect(),
        ),
        EntryType::Sum(constructors) => EntryType::Sum(
            constructors
                .iter()
                .map(|(name, payload)| (name.clone(), payload.iter().map(plain).collect()))
                .collect(),
        ),
        EntryType::Opaque { of, .. } => plain(of),
    }
}
