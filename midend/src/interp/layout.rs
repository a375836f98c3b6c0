//! Where variables stand in the frames of their functions, found once for a program.

use crate::ir::dialect::Dialect;
use crate::ir::id::{FunId, Id, IdVec, Var};
use crate::ir::syntax::Program;
use crate::ir::walk;

/// The rows of all variables, and the sizes of all frames.
#[derive(Debug)]
pub(crate) struct Layout {
    slots: Vec<u32>,
    sizes: IdVec<FunId, usize>,
}

impl Layout {
    pub(crate) fn new<D: Dialect>(program: &Program<D>) -> Self {
        let mut slots = vec![u32::MAX; program.vars.len()];
        let sizes = program
            .funs
            .iter()
            .map(|fun| {
                let mut next = 0;
                walk::fun_binders(fun, &mut |v| {
                    slots[v.index()] = next;
                    next += 1;
                });
                next as usize
            })
            .collect();
        Self { slots, sizes }
    }

    /// The row of a variable; beyond every frame if the program does not bind it.
    pub(crate) fn slot(&self, v: Var) -> usize {
        self.slots.get(v.index()).copied().unwrap_or(u32::MAX) as usize
    }

    /// The number of rows that a call of the function needs.
    pub(crate) fn size(&self, fun: FunId) -> usize {
        self.sizes[fun]
    }
}
