//! In which order units are compiled.

use super::Unit;
use cranelift_module::FuncId;
use midend::ir::mem::Mem;
use midend::ir::syntax::Program;
use midend::ir::walk::all_stms;
use rayon::prelude::*;
use std::cmp::Reverse;

/// What is made of each unit, on all threads: the largest come first, so that none is left for the end.
pub(super) fn largest_first<'a, R: Send>(
    program: &Program<Mem>,
    units: &[(FuncId, Unit<'a>)],
    made: &(impl Fn(&(FuncId, Unit<'a>)) -> R + Sync),
) -> Vec<R> {
    if units.len() < 2 {
        return units.iter().map(made).collect();
    }
    let mut order: Vec<usize> = (0..units.len()).collect();
    order.sort_by_cached_key(|k| Reverse(size(program, units[*k].1)));
    let turns = order.into_iter().par_bridge();
    let mut all: Vec<_> = turns.map(|k| (k, made(&units[k]))).collect();
    all.sort_unstable_by_key(|(k, _)| *k);
    all.into_iter().map(|(_, made)| made).collect()
}

/// How many statements a unit is made of.
fn size(program: &Program<Mem>, unit: Unit<'_>) -> usize {
    let mut count = 0;
    let body = match unit {
        Unit::Kernel { kernel, .. } => &kernel.body,
        Unit::Function(fun) | Unit::InLanes(fun, _) => &program.funs[fun].body,
    };
    all_stms(body, &mut |_| count += 1);
    count
}
