//! What the outside of a plan knows of its entry points: the shapes of arrays, which buffers have not.

use crate::ir::id::{FunId, Var};
use crate::ir::syntax::{Param, Program, Vars};
use crate::ir::types::Type;

/// An entry point with the types that its parameters and results had before arrays became buffers.
#[derive(Clone, Debug, PartialEq)]
pub struct Signature {
    /// The name users call it by.
    pub name: String,
    /// The function.
    pub fun: FunId,
    /// The number of leading parameters that are found from the shapes of the others.
    pub size_params: usize,
    /// The number of leading results that the shapes of the others carry.
    pub size_results: usize,
    /// Parameters.
    pub params: Vec<(Var, Type)>,
    /// Results.
    pub results: Vec<(Var, Type)>,
}

/// The signatures of all entry points of a nested or flat program, in the order of its functions.
pub fn signatures<D>(program: &Program<D>) -> Vec<Signature> {
    let funs = program.funs.enumerate();
    let entries = funs.filter_map(|(id, fun)| {
        let entry = fun.entry.as_ref()?;
        Some(Signature {
            name: entry.name.clone(),
            fun: id,
            size_params: entry.size_params,
            size_results: entry.size_results,
            params: formals(&program.vars, &fun.params),
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
