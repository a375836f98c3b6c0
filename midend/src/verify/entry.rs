//! Entry points: the source types describe the parameters and results.

use super::{Cx, Verify};
use crate::ir::syntax::{EntryType, Fun, Param};
use crate::ir::types::{ScalarType, Type};

/// Checks the outside of a function, if it has one.
pub(super) fn check<D: Verify>(cx: &mut Cx<'_, D>, fun: &Fun<D>) {
    let Some(entry) = &fun.entry else { return };
    let mut leaves = Vec::new();
    for param in &entry.params {
        flatten(&param.ty, 0, param.unique, &mut leaves);
    }
    values(cx, "parameter", &fun.params, entry.size_params, &leaves);
    for (param, leaf) in fun.params.iter().skip(entry.size_params).zip(&leaves) {
        if param.unique && !leaf.unique {
            let name = cx.name(param.var);
            cx.fault(format!(
                "{name} is unique, but the entry point does not say so"
            ));
        }
    }
    leaves.clear();
    for ty in &entry.results {
        flatten(ty, 0, false, &mut leaves);
    }
    values(cx, "result", &fun.results, entry.size_results, &leaves);
}

/// One IR value of a source value.
struct Leaf {
    rank: usize,
    elem: ScalarType,
    unique: bool,
}

fn flatten(ty: &EntryType, rank: usize, unique: bool, leaves: &mut Vec<Leaf>) {
    let mut leaf = |elem| leaves.push(Leaf { rank, elem, unique });
    match ty {
        EntryType::Scalar(elem) => leaf(*elem),
        EntryType::Array { rank: inner, elem } => {
            flatten(elem, rank.saturating_add(*inner), unique, leaves);
        }
        EntryType::Tuple(tys) => tys.iter().for_each(|ty| flatten(ty, rank, unique, leaves)),
        EntryType::Record(fields) => fields
            .iter()
            .for_each(|(_, ty)| flatten(ty, rank, unique, leaves)),
        EntryType::Sum(constructors) => {
            leaf(ScalarType::U8);
            let payloads = constructors.iter().flat_map(|(_, tys)| tys);
            payloads.for_each(|ty| flatten(ty, rank, unique, leaves));
        }
        EntryType::Opaque { name: _, of } => flatten(of, rank, unique, leaves),
    }
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
