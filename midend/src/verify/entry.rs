//! Entry points: the source types describe the parameters and results.

use super::{Cx, Verify};
use crate::ir::syntax::{Fun, Param};
use crate::ir::types::Type;
use crate::value::leaf::{Leaf, leaves};

/// Checks the outside of a function, if it has one.
pub(super) fn check<D: Verify>(cx: &mut Cx<'_, D>, fun: &Fun<D>) {
    let Some(entry) = &fun.entry else { return };
    let given = entry.params.iter().map(|param| match param.streamed {
        true => Vec::new(),
        false => leaves(&param.ty),
    });
    let given: Vec<Vec<Leaf>> = given.collect();
    let params = &fun.params;
    values(cx, "parameter", params, entry.size_params, &given.concat());
    let unique = entry.params.iter().zip(&given);
    let unique = unique.flat_map(|(param, leaves)| leaves.iter().map(|_| param.unique));
    for (param, unique) in params.iter().skip(entry.size_params).zip(unique) {
        if param.unique && !unique {
            let name = cx.name(param.var);
            cx.fault(format!(
                "{name} is unique, but the entry point does not say so"
            ));
        }
    }
    let mut results: Vec<Leaf> = entry.results.iter().flat_map(leaves).collect();
    if entry.streamed {
        results.clear();
    }
    values(cx, "result", &fun.results, entry.size_results, &results);
}

fn values<D: Verify>(
    cx: &mut Cx<'_, D>,
    what: &str,
    found: &[Param],
    sizes: usize,
    leaves: &[Leaf],
) {
    if found.len() != sizes.saturating_add(leaves.len()) {
        let found = found.len();
        let leaves = leaves.len();
        return cx.fault(format!(
            "{found} {what}s where the entry point has {sizes} sizes and {leaves} values"
        ));
    }
    for param in &found[..sizes] {
        if cx.program.vars[param.var].ty != Type::I64 {
            cx.fault(format!("a leading {what} of the entry point is no size"));
        }
    }
    for (param, leaf) in found[sizes..].iter().zip(leaves) {
        let ty = &cx.program.vars[param.var].ty;
        let fits = match ty {
            Type::Scalar(elem) => leaf.rank == 0 && *elem == leaf.elem,
            Type::Array(a) => a.rank() == leaf.rank && a.elem == leaf.elem,
            Type::Buffer(elem) => leaf.rank > 0 && *elem == leaf.elem,
            Type::Acc(_) | Type::Cert => false,
        };
        if !fits {
            let (name, ty) = (cx.name(param.var), cx.show(ty));
            cx.fault(format!(
                "{name} of type {ty} is not what the entry point says"
            ));
        }
    }
}
