//! What an entry point asks of its arguments: how many, of which types and shapes; and the sizes that follow from them.

use super::Value;
use super::leaf::leaves;
use crate::ir::id::{FunId, Var};
use crate::ir::scalar::Const;
use crate::ir::syntax::{EntryType, Fun, Program};
use crate::ir::types::{Dim, ScalarType, Size};
use crate::stream::InMemory;
use crate::trap::RunError;
use std::collections::BTreeMap;

/// The parameters of an entry point as the outside sees them, flattened. It needs no program to be used, so that a
/// plan can keep it.
#[derive(Clone, Debug, PartialEq)]
pub struct Signature {
    /// The name of the entry point.
    pub name: String,
    /// The sizes to find, in the order of the function's parameters.
    pub sizes: Vec<SizeName>,
    /// The values to give.
    pub params: Vec<ParamType>,
    /// The sequences among the parameters: which of the values that are given, were they all, and the types of the arrays.
    pub streams: Vec<(std::ops::Range<usize>, EntryType)>,
    /// The type of the array that the result is, if it is a sequence.
    pub streamed: Option<EntryType>,
    /// How many of the function's leading results are sizes that the values already carry.
    pub size_results: usize,
}

/// A size parameter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SizeName {
    /// The variable.
    pub var: Var,
    /// Its name, for messages.
    pub name: String,
}

/// A parameter that is given as one value.
#[derive(Clone, Debug, PartialEq)]
pub struct ParamType {
    /// The variable.
    pub var: Var,
    /// How messages call it.
    pub label: String,
    /// The type of its elements.
    pub elem: ScalarType,
    /// Its extents, empty for a scalar.
    pub shape: Vec<Extent>,
}

/// One extent that a parameter must have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Extent {
    /// This number.
    Const(i64),
    /// The value of a size or of another parameter.
    Var(Var, String),
    /// Rows of any lengths.
    Ragged,
}

/// What a call asks of a value that it is given.
pub trait Argument {
    /// The type of its elements.
    fn elem(&self) -> ScalarType;
    /// Its extents, empty for a scalar.
    fn shape(&self) -> &[i64];
    /// The scalar that it is.
    fn scalar(&self) -> Option<Const>;
    /// The elements of an array, unless they are known to fit its shape.
    fn elements(&self) -> Option<usize>;
}

impl Argument for Value {
    fn elem(&self) -> ScalarType {
        Self::elem(self)
    }
    fn shape(&self) -> &[i64] {
        Self::shape(self)
    }
    fn scalar(&self) -> Option<Const> {
        match self {
            Self::Scalar(c) => Some(*c),
            Self::Array(_) => None,
        }
    }
    fn elements(&self) -> Option<usize> {
        match self {
            Self::Scalar(_) => None,
            Self::Array(array) => Some(array.data.len()),
        }
    }
}

/// Finds an entry point by the name that users call it by.
pub fn find<D>(program: &Program<D>, name: &str) -> Result<(FunId, Signature), RunError> {
    let mut entries = program
        .funs
        .enumerate()
        .filter_map(|(id, fun)| Some((id, fun, fun.entry.as_ref()?)));
    match entries.find(|(_, _, entry)| entry.name == name) {
        Some((id, fun, _)) => Ok((id, Signature::of(program, fun)?)),
        None => Err(RunError::BadArguments(format!(
            "there is no entry point called `{name}`"
        ))),
    }
}

impl Signature {
    /// The signature of a function that is an entry point.
    pub fn of<D>(program: &Program<D>, fun: &Fun<D>) -> Result<Self, RunError> {
        let malformed =
            || RunError::Internal(format!("`{}` is no well-formed entry point", fun.name));
        let entry = fun.entry.as_ref().ok_or_else(malformed)?;
        if entry.size_params > fun.params.len() {
            return Err(malformed());
        }
        let (sizes, values) = fun.params.split_at(entry.size_params);
        let mut labels = Vec::new();
        let (mut streams, mut all) = (Vec::new(), 0);
        for param in &entry.params {
            let count = leaves(&param.ty).len();
            all += count;
            if param.streamed {
                streams.push((all - count..all, param.ty.clone()));
                continue;
            }
            for i in 1..=count {
                labels.push(if count == 1 {
                    format!("`{}`", param.name)
                } else {
                    format!("`{}` (part {i} of {count})", param.name)
                });
            }
        }
        if labels.len() != values.len() {
            return Err(malformed());
        }
        let params = labels
            .into_iter()
            .zip(values)
            .map(|(label, param)| {
                let ty = &program.vars[param.var].ty;
                Some(ParamType {
                    var: param.var,
                    label,
                    elem: ty.elem()?,
                    shape: ty.shape().iter().map(|&d| extent(program, d)).collect(),
                })
            })
            .collect::<Option<Vec<_>>>()
            .ok_or_else(malformed)?;
        let sizes = sizes
            .iter()
            .map(|p| SizeName {
                var: p.var,
                name: program.vars[p.var].name.clone(),
            })
            .collect();
        Ok(Self {
            name: entry.name.clone(),
            sizes,
            params,
            streams,
            streamed: entry
                .streamed
                .then(|| entry.results.first().cloned())
                .flatten(),
            size_results: entry.size_results,
        })
    }

    /// Whether sequences cross the entry point.
    pub fn has_streams(&self) -> bool {
        !self.streams.is_empty() || self.streamed.is_some()
    }

    /// Takes the arrays that are sequences out of the values that are given.
    pub fn without_streams(&self, args: &mut Vec<Value>) -> Result<InMemory, RunError> {
        let mut inputs = Vec::new();
        for (range, ty) in self.streams.iter().rev() {
            if range.end > args.len() {
                let given = args.len();
                return Err(RunError::BadArguments(format!(
                    "entry point `{}` takes more than the {given} values that were given",
                    self.name
                )));
            }
            inputs.push((ty.clone(), args.drain(range.clone()).collect()));
        }
        inputs.reverse();
        InMemory::new(inputs, self.streamed.as_ref())
    }

    /// Checks the arguments, and yields the values of the size parameters.
    pub fn sizes<A: Argument>(&self, args: &[A]) -> Result<Vec<i64>, RunError> {
        let bad = |why: String| Err(RunError::BadArguments(why));
        if args.len() != self.params.len() {
            let types: Vec<String> = self.params.iter().map(ParamType::to_string).collect();
            return bad(format!(
                "entry point `{}` takes {} ({}), but {} given",
                self.name,
                plural(self.params.len()),
                types.join(", "),
                match args.len() {
                    1 => "1 was".into(),
                    n => format!("{n} were"),
                }
            ));
        }
        let mut known: BTreeMap<Var, (i64, &str)> = BTreeMap::new();
        for (param, arg) in self.params.iter().zip(args) {
            self.check_form(param, arg)?;
            if let Some(Const::I64(n)) = arg.scalar() {
                known.insert(param.var, (n, &param.label));
            }
        }
        for (param, arg) in self.params.iter().zip(args) {
            for (i, (extent, &given)) in param.shape.iter().zip(arg.shape()).enumerate() {
                let place = format!("dimension {} of argument {}", i + 1, param.label);
                match extent {
                    Extent::Const(n) if *n != given => {
                        return bad(format!(
                            "invalid size: {place} must have extent {n}, and has {given}"
                        ));
                    }
                    Extent::Var(v, name) => match known.get(v) {
                        Some(&(n, source)) if n != given => {
                            return bad(format!(
                                "invalid size: {place} must have extent {name}, which is {n} by argument {source}, and has {given}"
                            ));
                        }
                        Some(_) => {}
                        None => {
                            known.insert(*v, (given, &param.label));
                        }
                    },
                    Extent::Const(_) => {}
                    Extent::Ragged => {
                        return bad(format!(
                            "{place} is ragged, and values are regular: an entry point takes offsets and elements instead"
                        ));
                    }
                }
            }
        }
        self.sizes
            .iter()
            .map(|size| match known.get(&size.var) {
                Some(&(n, _)) => Ok(n),
                None => Err(RunError::BadArguments(format!(
                    "the size `{}` of entry point `{}` does not follow from its arguments",
                    size.name, self.name
                ))),
            })
            .collect()
    }

    /// Checks element type and rank, and that the value is well-formed.
    fn check_form<A: Argument>(&self, param: &ParamType, arg: &A) -> Result<(), RunError> {
        let shape = arg.shape();
        if param.elem != arg.elem() || param.shape.len() != shape.len() {
            let dims: String = shape.iter().map(|n| format!("[{n}]")).collect();
            return Err(RunError::BadArguments(format!(
                "argument {} of entry point `{}` must have type {}, but a value of type {dims}{} was given",
                param.label,
                self.name,
                param.type_text(),
                arg.elem()
            )));
        }
        if let Some(elements) = arg.elements()
            && super::elements(shape) != Some(elements)
        {
            return Err(RunError::BadArguments(format!(
                "argument {} has {elements} elements, which do not fit its shape {shape:?}",
                param.label,
            )));
        }
        Ok(())
    }
}

impl ParamType {
    /// The type as the source would write it.
    pub fn type_text(&self) -> String {
        let mut text = String::new();
        for extent in &self.shape {
            text.push_str(&match extent {
                Extent::Const(n) => format!("[{n}]"),
                Extent::Var(_, name) => format!("[{name}]"),
                Extent::Ragged => "[..]".into(),
            });
        }
        text.push_str(self.elem.name());
        text
    }
}

impl std::fmt::Display for ParamType {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.label, self.type_text())
    }
}

fn extent<D>(program: &Program<D>, dim: Dim) -> Extent {
    match dim {
        Dim::Size(Size::Const(n)) => Extent::Const(n),
        Dim::Size(Size::Var(v)) => Extent::Var(v, program.vars[v].name.clone()),
        Dim::Ragged(_) => Extent::Ragged,
    }
}

fn plural(n: usize) -> String {
    match n {
        1 => "1 argument".into(),
        n => format!("{n} arguments"),
    }
}
