//! The tuple that operators work on.

use super::Source;
use crate::emit::kernel::components;
use crate::emit::lanes::chooses;
use midend::ir::mem::Mem;
use midend::ir::soac::Operator;
use midend::ir::syntax::{Atom, Vars};
use midend::ir::types::ScalarType;

/// What launches know of a tuple.
pub(crate) struct Tuple {
    pub(crate) types: Vec<ScalarType>,
    pub(crate) neutral: Vec<Source>,
    /// Whether the operators only compare and choose, so that a point is soon done.
    pub(crate) is_chosen: bool,
}

impl Tuple {
    /// The tuple of some operators.
    pub(super) fn of(vars: &Vars, ops: &[Operator<Mem>], source: impl Fn(&Atom) -> Source) -> Self {
        Self {
            types: components(vars, ops),
            neutral: ops.iter().flat_map(|op| &op.neutral).map(source).collect(),
            is_chosen: ops.iter().all(chooses),
        }
    }

    /// Whether regrouping gives the same bits, because nothing is rounded.
    pub(crate) fn is_exact(&self) -> bool {
        self.types.iter().all(|ty| !ty.is_float())
    }
}
