//! Accumulators of reductions and scans, in all dialects.

use super::machine::{Exec, Machine};
use super::value::{Run, Val, internal};
use crate::ir::soac::Operator;

/// The running value of an operator.
pub(crate) struct Accumulator<'p, D> {
    op: &'p Operator<D>,
    /// The value of everything up to here.
    pub(crate) value: Vec<Val>,
}

impl<'p, D: Exec> Accumulator<'p, D> {
    /// The neutral element, not shared with anything.
    pub(crate) fn new(machine: &Machine<'_, D>, op: &'p Operator<D>) -> Run<Self> {
        let neutral = machine.atoms(&op.neutral)?;
        let value = neutral
            .into_iter()
            .map(|v| machine.unshared(v))
            .collect::<Run<_>>()?;
        Ok(Self { op, value })
    }

    /// The number of values in the tuple.
    pub(crate) fn arity(&self) -> usize {
        self.value.len()
    }

    /// Combines with the elements that follow.
    pub(crate) fn add(
        &mut self,
        machine: &mut Machine<'_, D>,
        elems: impl Iterator<Item = Run<Val>>,
    ) -> Run<()> {
        let lam = &self.op.lam;
        let k = self.value.len();
        if lam.params.len() != 2 * k || lam.body.result.len() != k {
            return internal("an operator has a wrong number of parameters or results");
        }
        // The elements come first: they may be results of an earlier body whose variables stay as they are.
        for (param, elem) in lam.params[k..].iter().zip(elems) {
            machine.set(*param, elem?)?;
        }
        for (param, value) in lam.params.iter().zip(&self.value) {
            machine.set(*param, value.clone())?;
        }
        machine.run(&lam.body)?;
        for (value, result) in self.value.iter_mut().zip(&lam.body.result) {
            *value = machine.atom(*result)?;
        }
        Ok(())
    }
}
