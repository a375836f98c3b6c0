//! Accumulations and updates in them, in the nested and the flat dialect. An accumulator is the array that it updates.

use super::array::wrap;
use super::machine::{Exec, Machine};
use super::target::{combine, place};
use super::value::{Run, Val, internal};
use crate::ir::soac::{Accumulation, Operator, UpdateAcc};
use crate::ir::syntax::{Atom, Stm};
use crate::ir::types::Type;

impl<'p, D: Exec> Machine<'p, D> {
    /// Executes the body of an accumulation, `point`, for 0, 1, .. below `count`; `result` are the accumulators that it
    /// yields.
    pub(super) fn with_acc(
        &mut self,
        stm: &'p Stm<D>,
        acc: &'p Accumulation<D>,
        count: i64,
        result: &'p [Atom],
        point: &mut dyn FnMut(&mut Self, i64) -> Run<()>,
    ) -> Run<()> {
        let dests = acc.dests.iter();
        let dests = dests.map(|&v| {
            let array = self.array(v)?;
            Ok(wrap(self.taken(&array)?))
        });
        let mut accs: Vec<Val> = dests.collect::<Run<_>>()?;
        self.operators.push((acc.token, acc.op.as_ref()));
        for i in 0..count {
            self.set(acc.token, Val::Cert)?;
            for (&param, value) in acc.params.iter().zip(&accs) {
                self.set(param, value.clone())?;
            }
            point(self, i)?;
            accs = self.atoms(result)?;
        }
        self.operators.pop();
        self.bind(stm, accs)
    }

    pub(super) fn update_acc(&mut self, stm: &'p Stm<D>, update: &'p UpdateAcc) -> Run<()> {
        let accs = update.accs.iter().map(|&v| self.array(v));
        let accs = accs.collect::<Run<Vec<_>>>()?;
        let values = self.atoms(&update.values)?;
        let index = [update.index];
        match self.operator_of(update)? {
            Some(op) => combine(self, op, &accs, &index, values)?,
            None => {
                for (array, value) in accs.iter().zip(&values) {
                    if let Some(place) = place(self, array, &index)? {
                        place.write(value)?;
                    }
                }
            }
        }
        self.bind(stm, accs.iter().map(|a| wrap(a.consumed())).collect())
    }

    /// The operator of the accumulation that an update belongs to.
    fn operator_of(&self, update: &UpdateAcc) -> Run<Option<&'p Operator<D>>> {
        let ty = update.accs.first().map(|&v| &self.program.vars[v].ty);
        let token = match ty {
            Some(Type::Acc(acc)) => acc.token,
            Some(Type::Scalar(_) | Type::Array(_) | Type::Buffer(_) | Type::Cert) | None => {
                return internal("what is updated is no accumulator");
            }
        };
        match self.operators.iter().rev().find(|(of, _)| *of == token) {
            Some((_, op)) => Ok(*op),
            None => internal("an accumulator is updated outside of its accumulation"),
        }
    }
}
