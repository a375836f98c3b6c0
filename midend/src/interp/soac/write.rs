//! Histograms and scatters: results that are written in place at computed indices.

use super::Inputs;
use crate::interp::machine::Machine;
use crate::interp::target::{HistTarget, ScatterTarget};
use crate::interp::value::Run;
use crate::ir::soac::{HistOp, ScatterDest, Soac};
use crate::ir::syntax::{Lambda, Stm};

impl Machine<'_, Soac> {
    pub(super) fn hist(
        &mut self,
        stm: &Stm<Soac>,
        inputs: &Inputs,
        lam: &Lambda<Soac>,
        ops: &[HistOp<Soac>],
    ) -> Run<()> {
        let target = HistTarget::new(self, ops)?;
        for i in 0..inputs.width {
            inputs.apply(self, lam, i)?;
            target.write(self, &lam.body.result)?;
        }
        self.bind(stm, target.finish())
    }

    pub(super) fn scatter(
        &mut self,
        stm: &Stm<Soac>,
        inputs: &Inputs,
        lam: &Lambda<Soac>,
        dests: &[ScatterDest],
    ) -> Run<()> {
        let target = ScatterTarget::new(self, dests)?;
        for i in 0..inputs.width {
            inputs.apply(self, lam, i)?;
            target.write(self, &lam.body.result)?;
        }
        self.bind(stm, target.finish())
    }
}
