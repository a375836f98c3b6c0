//! Histograms and scatters: results that are written in place at computed indices.

use super::Inputs;
use crate::interp::machine::Machine;
use crate::interp::target::{HistTarget, ScatterTarget};
use crate::interp::value::Run;
use crate::ir::soac::{HistOp, ScatterDest, Soac};
use crate::ir::syntax::Stm;

impl<'p> Machine<'p, Soac> {
    pub(super) fn hist(
        &mut self,
        stm: &'p Stm<Soac>,
        inputs: &Inputs<'p>,
        ops: &'p [HistOp<Soac>],
    ) -> Run<()> {
        let target = HistTarget::new(self, ops)?;
        for i in 0..inputs.width {
            inputs.apply(self, i)?;
            target.write(self, &inputs.lam.body.result)?;
        }
        self.bind(stm, target.finish())
    }

    pub(super) fn scatter(
        &mut self,
        stm: &'p Stm<Soac>,
        inputs: &Inputs<'p>,
        dests: &'p [ScatterDest],
    ) -> Run<()> {
        let mut target = ScatterTarget::new(self, dests, stm.span)?;
        for i in 0..inputs.width {
            inputs.apply(self, i)?;
            target.write(self, &inputs.lam.body.result)?;
        }
        self.bind(stm, target.finish())
    }
}
