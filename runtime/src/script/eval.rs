//! Evaluating FutharkScript against the entry points of a program.

use super::value::{index, stack, type_text};
use super::{Exp, ScriptValue};
use crate::data::{Reader, Source, leaves, parse_number, read_all};
use crate::picture::read_png;
use midend::ir::scalar::Const;
use midend::ir::syntax::Entry;
use midend::ir::types::ScalarType;
use midend::value::{ArrayValue, Data, Value};
use std::path::PathBuf;

/// Entry points that can be called.
pub trait Callee {
    /// The entry point of that name.
    fn entry(&self, name: &str) -> Option<&Entry>;
    /// Calls it with its leaves; the leaves of its results.
    fn call(&self, name: &str, args: Vec<Value>) -> Result<Vec<Value>, String>;
}

/// Evaluates expressions.
pub struct Evaluator<'a, C> {
    callee: &'a C,
    /// The directory that paths of files are relative to.
    directory: PathBuf,
}

type Scope = Vec<(String, ScriptValue)>;

impl<'a, C: Callee> Evaluator<'a, C> {
    /// An evaluator for the entry points of a program whose files are in a directory.
    pub fn new(callee: &'a C, directory: impl Into<PathBuf>) -> Self {
        Self {
            callee,
            directory: directory.into(),
        }
    }

    /// The value of an expression.
    pub fn eval(&self, exp: &Exp) -> Result<ScriptValue, String> {
        self.go(exp, &mut Vec::new())
    }

    /// The arguments that an expression gives an entry point: a tuple of as many components as the entry point has
    /// parameters is spread over them.
    pub fn arguments(&self, exp: &Exp, entry: &Entry) -> Result<Vec<Value>, String> {
        let value = self.eval(exp)?;
        fit_all(spread(vec![value], entry), entry)
    }

    /// The value of a function that lacks arguments for these.
    pub fn apply_to(
        &self,
        function: &ScriptValue,
        args: Vec<ScriptValue>,
    ) -> Result<ScriptValue, String> {
        let ScriptValue::Function(name, earlier) = function else {
            return Err(String::from("a function was expected"));
        };
        self.call(name, earlier.iter().cloned().chain(args).collect())
    }

    fn all(&self, exps: &[Exp], scope: &mut Scope) -> Result<Vec<ScriptValue>, String> {
        exps.iter().map(|e| self.go(e, scope)).collect()
    }

    fn go(&self, exp: &Exp, scope: &mut Scope) -> Result<ScriptValue, String> {
        match exp {
            Exp::Apply(name, args) => {
                let args = self.all(args, scope)?;
                self.apply(name, args, scope)
            }
            Exp::Builtin(name, args) => {
                let args = self.all(args, scope)?;
                self.builtin(name, args)
            }
            Exp::Number(text) => Ok(match parse_number(text, None) {
                // Without a suffix the type is left open; the parameter that it meets decides.
                Ok(_) if has_type(text) => {
                    ScriptValue::Plain(Value::Scalar(parse_number(text, None)?))
                }
                Ok(_) => ScriptValue::Number(text.clone()),
                Err(why) => return Err(why),
            }),
            Exp::Text(text) => Ok(ScriptValue::Plain(bytes(text.as_bytes()))),
            Exp::Tuple(items) => Ok(ScriptValue::Tuple(self.all(items, scope)?)),
            Exp::Record(fields) => {
                let values = fields
                    .iter()
                    .map(|(name, e)| Ok((name.clone(), self.go(e, scope)?)));
                Ok(ScriptValue::Record(values.collect::<Result<_, String>>()?))
            }
            Exp::Array(items) => self.array(items, scope),
            Exp::Empty(text) => Reader::new(text.as_bytes())
                .value(None)
                .map(ScriptValue::Plain)
                .map_err(|e| e.message),
            Exp::Field(of, name) => self.go(of, scope)?.field(name),
            Exp::Index(of, indices) => {
                let value = self.go(of, scope)?.plain()?;
                let mut at = Vec::new();
                for i in self.all(indices, scope)? {
                    at.push(as_index(i)?);
                }
                index(&value, &at).map(ScriptValue::Plain)
            }
            Exp::Let(names, bound, body) => {
                let value = self.go(bound, scope)?;
                let depth = scope.len();
                bind(names, value, scope)?;
                let result = self.go(body, scope);
                scope.truncate(depth);
                result
            }
        }
    }

    fn array(&self, items: &[Exp], scope: &mut Scope) -> Result<ScriptValue, String> {
        let values = self.all(items, scope)?;
        // The first element that has a type decides for those that do not.
        let elem = values.iter().find_map(|v| match v {
            ScriptValue::Plain(Value::Scalar(c)) => Some(c.ty()),
            ScriptValue::Plain(Value::Array(_))
            | ScriptValue::Number(_)
            | ScriptValue::Typed(..)
            | ScriptValue::Tuple(_)
            | ScriptValue::Record(_)
            | ScriptValue::Function(..) => None,
        });
        let rows = values.into_iter().map(|v| match (v, elem) {
            (ScriptValue::Number(text), Some(ty)) => {
                parse_number(&text, Some(ty)).map(Value::Scalar)
            }
            (other, _) => other.plain(),
        });
        stack(rows.collect::<Result<_, _>>()?).map(ScriptValue::Plain)
    }

    fn apply(
        &self,
        name: &str,
        args: Vec<ScriptValue>,
        scope: &Scope,
    ) -> Result<ScriptValue, String> {
        if let Some((_, value)) = scope.iter().rev().find(|(bound, _)| bound == name) {
            if let ScriptValue::Function(function, earlier) = value {
                return self.call(function, earlier.iter().cloned().chain(args).collect());
            }
            if args.is_empty() {
                return Ok(value.clone());
            }
            return Err(format!("{name} is not a function"));
        }
        self.call(name, args)
    }

    fn call(&self, name: &str, args: Vec<ScriptValue>) -> Result<ScriptValue, String> {
        let Some(entry) = self.callee.entry(name) else {
            return Err(format!("{name} is not an entry point"));
        };
        let args = spread(args, entry);
        if args.len() < entry.params.len() {
            return Ok(ScriptValue::Function(name.to_owned(), args));
        }
        let values = fit_all(args, entry).map_err(|why| format!("in a call of {name}: {why}"))?;
        let mut results = self.callee.call(name, values)?.into_iter();
        let mut typed: Vec<ScriptValue> = entry
            .results
            .iter()
            .map(|ty| {
                let mine = results.by_ref().take(leaves(ty).len()).collect();
                ScriptValue::Typed(ty.clone(), mine)
            })
            .collect();
        Ok(if typed.len() == 1 {
            typed.swap_remove(0)
        } else {
            ScriptValue::Tuple(typed)
        })
    }

    fn builtin(&self, name: &str, args: Vec<ScriptValue>) -> Result<ScriptValue, String> {
        let [
            ScriptValue::Plain(Value::Array(ArrayValue {
                data: Data::U8(file),
                ..
            })),
        ] = args.as_slice()
        else {
            return Err(format!("${name} takes the name of a file"));
        };
        let path = self.directory.join(String::from_utf8_lossy(file).as_ref());
        match name {
            "loaddata" => {
                let source = Source::open(&path).map_err(|e| e.to_string())?;
                let values = read_all(&source).map_err(|e| e.to_string())?;
                let mut values: Vec<_> = values.into_iter().map(ScriptValue::Plain).collect();
                Ok(if values.len() == 1 {
                    values.swap_remove(0)
                } else {
                    ScriptValue::Tuple(values)
                })
            }
            "loadimg" => match std::fs::File::open(&path) {
                Ok(file) => read_png(file)
                    .map(ScriptValue::Plain)
                    .map_err(|why| format!("{} is no PNG file: {why}", path.display())),
                Err(why) => Err(format!("cannot read {}: {why}", path.display())),
            },
            "loadbytes" => match std::fs::read(&path) {
                Ok(contents) => Ok(ScriptValue::Plain(bytes(&contents))),
                Err(why) => Err(format!("cannot read {}: {why}", path.display())),
            },
            _ => Err(format!(
                "${name} is not yet supported; $loaddata, $loadbytes and $loadimg are"
            )),
        }
    }
}

/// Whether a literal says its type: by a suffix, or by being a truth value.
fn has_type(text: &str) -> bool {
    let under = |ty| parse_number(text, Some(ty)).is_ok();
    !(under(ScalarType::F32) && under(ScalarType::F64))
}

fn bytes(contents: &[u8]) -> Value {
    Value::Array(ArrayValue {
        shape: vec![contents.len() as i64],
        data: Data::U8(contents.to_vec()),
    })
}

fn as_index(value: ScriptValue) -> Result<i64, String> {
    let constant = if let ScriptValue::Number(text) = &value {
        Value::Scalar(parse_number(text, Some(ScalarType::I64))?)
    } else {
        value.plain()?
    };
    if let Value::Scalar(Const::I64(i)) = constant {
        Ok(i)
    } else if let Value::Scalar(Const::I32(i)) = constant {
        Ok(i64::from(i))
    } else {
        Err(String::from("an index must be an integer"))
    }
}

fn bind(names: &[String], value: ScriptValue, scope: &mut Scope) -> Result<(), String> {
    if let [name] = names {
        scope.push((name.clone(), value));
        return Ok(());
    }
    if let ScriptValue::Tuple(items) = value.open()
        && items.len() == names.len()
    {
        scope.extend(names.iter().cloned().zip(items));
        return Ok(());
    }
    Err(format!("a tuple of {} was expected", names.len()))
}

/// A single tuple of as many components as there are parameters stands for the arguments.
fn spread(mut args: Vec<ScriptValue>, entry: &Entry) -> Vec<ScriptValue> {
    if args.len() == 1
        && entry.params.len() != 1
        && let ScriptValue::Tuple(items) = args[0].clone().open()
    {
        if items.len() == entry.params.len() {
            return items;
        }
        args = vec![ScriptValue::Tuple(items)];
    }
    args
}

fn fit_all(args: Vec<ScriptValue>, entry: &Entry) -> Result<Vec<Value>, String> {
    if args.len() != entry.params.len() {
        return Err(format!(
            "{} takes {} arguments, {} are given",
            entry.name,
            entry.params.len(),
            args.len()
        ));
    }
    let mut values = Vec::new();
    for (arg, param) in args.into_iter().zip(&entry.params) {
        let fitted = arg
            .fit(&param.ty)
            .map_err(|why| format!("{}: {}: {why}", param.name, type_text(&param.ty)))?;
        values.extend(fitted);
    }
    Ok(values)
}
