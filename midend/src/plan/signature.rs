//! What the outside of a plan knows of its entry points: the shapes of arrays, which buffers have not.

use crate::ir::id::{FunId, Var};
use crate::ir::syntax::{Param, Program, Vars};
use crate::ir::types::Type;
use crate::value::entry;

/// An entry point with the types that its parameters and results had before arrays became buffers.
#[derive(Clone, Debug, PartialEq)]
pub struct Signature {
    /// The function.
    pub fun: FunId,
    /// What is asked of arguments.
    pub args: entry::Signature,
    /// Parameters of the function, sizes first.
    pub params: Vec<(Var, Type)>,
    /// Which of them the function may overwrite.
    pub consumed: Vec<bool>,
    /// Results of the function, sizes first.
    pub results: Vec<(Var, Type)>,
}

/// The signatures of all entry points of a nested or flat program, in the order of its functions. The plan keeps the
/// functions' identifiers.
pub fn signatures<D>(program: &Program<D>) -> Vec<Signature> {
    let funs = program.funs.enumerate();
    let entries = funs.filter_map(|(id, fun)| {
        fun.entry.as_ref()?;
        Some(Signature {
            fun: id,
            args: entry::Signature::of(program, fun).ok()?,
            params: formals(&program.vars, &fun.params),
            consumed: fun.params.iter().map(|param| param.unique).collect(),
            results: formals(&program.vars, &fun.results),
        })
    });
    entries.collect()
}

fn formals(vars: &Vars, params: &[Param]) -> Vec<(Var, Type)> {
    params
        .iter()
        .map(|p| (p.var, vars[p.var].ty.clone()))
        .collect()
}
