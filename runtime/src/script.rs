//! FutharkScript: the small language in which test blocks make inputs by calling entry points.

mod eval;
mod parse;
mod value;

pub use eval::{Callee, Evaluator};
pub use parse::{parse, parse_prefix};
pub use value::ScriptValue;
pub(crate) use value::{index, type_text};

/// An expression.
#[derive(Clone, Debug, PartialEq)]
pub enum Exp {
    /// A variable or an entry point, applied to arguments; may be none.
    Apply(String, Vec<Exp>),
    /// A built-in procedure (named without its `$`), applied to arguments.
    Builtin(String, Vec<Exp>),
    /// A number or truth value, as it is written.
    Number(String),
    /// A string.
    Text(String),
    /// A tuple; of no components, the unit.
    Tuple(Vec<Exp>),
    /// A record.
    Record(Vec<(String, Exp)>),
    /// An array.
    Array(Vec<Exp>),
    /// An empty array, as `empty([0]i32)` is written.
    Empty(String),
    /// A field or component.
    Field(Box<Exp>, String),
    /// An element.
    Index(Box<Exp>, Vec<Exp>),
    /// A binding.
    Let(Vec<String>, Box<Exp>, Box<Exp>),
}

impl Exp {
    /// The names of variables and entry points, and whether there are built-in procedures, whose results change with files.
    pub fn names(&self) -> (Vec<&str>, bool) {
        let mut names = Vec::new();
        let mut reads = false;
        let mut waiting = vec![self];
        while let Some(exp) = waiting.pop() {
            match exp {
                Exp::Apply(name, args) => {
                    names.push(&**name);
                    waiting.extend(args);
                }
                Exp::Builtin(_, args) => {
                    reads = true;
                    waiting.extend(args);
                }
                Exp::Number(_) | Exp::Text(_) | Exp::Empty(_) => {}
                Exp::Tuple(items) | Exp::Array(items) => waiting.extend(items),
                Exp::Record(fields) => waiting.extend(fields.iter().map(|(_, exp)| exp)),
                Exp::Field(of, _) => waiting.push(of),
                Exp::Index(of, indices) => {
                    waiting.push(of);
                    waiting.extend(indices);
                }
                Exp::Let(_, bound, body) => waiting.extend([&**bound, &**body]),
            }
        }
        (names, reads)
    }
}

#[cfg(test)]
mod tests;
