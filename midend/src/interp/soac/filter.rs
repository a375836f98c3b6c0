//! Filter: the rows that satisfy a condition.

use super::Inputs;
use crate::interp::array::{wrap, write_row};
use crate::interp::machine::Machine;
use crate::interp::value::{Array, Dim, Run, Val, internal};
use crate::ir::scalar::Const;
use crate::ir::soac::Soac;
use crate::ir::syntax::{Lambda, Stm};

impl Machine<'_, Soac> {
    pub(super) fn filter(
        &mut self,
        stm: &Stm<Soac>,
        inputs: &Inputs,
        lam: &Lambda<Soac>,
    ) -> Run<()> {
        if stm.binds.is_empty() || lam.body.result.len() != stm.binds.len() {
            return internal("a filter has a wrong number of results");
        }
        let vars = &stm.binds[1..];
        let outs = vars
            .iter()
            .map(|&v| self.output(v, inputs.width))
            .collect::<Run<Vec<Array>>>()?;
        let mut kept = 0;
        for i in 0..inputs.width {
            inputs.apply(self, lam, i)?;
            if self.truth(lam.body.result[0])? {
                for (out, k) in outs.iter().zip(1..) {
                    write_row(out, kept, &self.result(lam, k)?)?;
                }
                kept += 1;
            }
        }
        let mut results = vec![Val::Scalar(Const::I64(kept))];
        for out in outs {
            let mut dims: Vec<Dim> = out.dims.to_vec();
            dims[0].extent = kept;
            results.push(wrap(out.view(0, &dims)));
        }
        self.bind(stm, results)
    }
}
