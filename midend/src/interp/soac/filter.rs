//! Filter: the rows that satisfy a condition.

use super::{Inputs, Output};
use crate::interp::array::wrap;
use crate::interp::machine::Machine;
use crate::interp::value::{Dim, Run, Val, internal};
use crate::ir::scalar::Const;
use crate::ir::soac::Soac;
use crate::ir::syntax::Stm;

impl<'p> Machine<'p, Soac> {
    pub(super) fn filter(&mut self, stm: &'p Stm<Soac>, inputs: &Inputs<'p>) -> Run<()> {
        let lam = inputs.lam;
        if stm.binds.is_empty() || lam.body.result.len() != stm.binds.len() {
            return internal("a filter has a wrong number of results");
        }
        let outs = stm.binds.iter().zip(&lam.body.result).skip(1);
        let outs = outs.map(|(&v, &from)| self.output_of(v, inputs.width, from));
        let outs = outs.collect::<Run<Vec<Output>>>()?;
        let mut kept = 0;
        for i in 0..inputs.width {
            inputs.apply(self, i)?;
            if self.truth(lam.body.result[0])? {
                for out in &outs {
                    out.write(self, kept)?;
                }
                kept += 1;
            }
        }
        let mut results = vec![Val::Scalar(Const::I64(kept))];
        for out in outs {
            let mut dims: Vec<Dim> = out.array.dims.to_vec();
            dims[0].extent = kept;
            results.push(wrap(out.array.view(0, &dims)));
        }
        self.bind(stm, results)
    }
}
