//! Map, reduce and scan in one traversal, from first to last.

use super::Inputs;
use crate::interp::array::{wrap, write_row};
use crate::interp::machine::Machine;
use crate::interp::operator::Accumulator;
use crate::interp::value::{Array, Run, internal};
use crate::ir::soac::{Operator, Soac};
use crate::ir::syntax::{Lambda, Stm};

impl Machine<'_, Soac> {
    pub(super) fn screma(
        &mut self,
        stm: &Stm<Soac>,
        inputs: &Inputs,
        lam: &Lambda<Soac>,
        scans: &[Operator<Soac>],
        reds: &[Operator<Soac>],
    ) -> Run<()> {
        let mut scans = self.accumulators(scans)?;
        let mut reds = self.accumulators(reds)?;
        let scanned = scans.iter().map(Accumulator::arity).sum::<usize>();
        let reduced = reds.iter().map(Accumulator::arity).sum::<usize>();
        if stm.binds.len() < scanned + reduced || lam.body.result.len() != stm.binds.len() {
            return internal("a traversal has a wrong number of results");
        }
        let outputs = |from: usize, to: usize| -> Run<Vec<Array>> {
            let vars = &stm.binds[from..to];
            vars.iter().map(|&v| self.output(v, inputs.width)).collect()
        };
        let scan_outs = outputs(0, scanned)?;
        let map_outs = outputs(scanned + reduced, stm.binds.len())?;
        for i in 0..inputs.width {
            inputs.apply(self, lam, i)?;
            for (out, k) in map_outs.iter().zip(scanned + reduced..) {
                write_row(out, i, &self.result(lam, k)?)?;
            }
            let k = self.accumulate(&mut scans, lam, 0)?;
            let values = scans.iter().flat_map(|s| &s.value);
            for (out, value) in scan_outs.iter().zip(values) {
                write_row(out, i, value)?;
            }
            self.accumulate(&mut reds, lam, k)?;
        }
        let mut results: Vec<_> = scan_outs.into_iter().map(wrap).collect();
        for value in reds.into_iter().flat_map(|r| r.value) {
            results.push(self.unshared(value)?);
        }
        results.extend(map_outs.into_iter().map(wrap));
        self.bind(stm, results)
    }

    fn accumulators<'o>(&self, ops: &'o [Operator<Soac>]) -> Run<Vec<Accumulator<'o, Soac>>> {
        ops.iter().map(|op| Accumulator::new(self, op)).collect()
    }

    /// Adds results of the lambda, from the one at `k` on, to each accumulator; yields where the next ones start.
    fn accumulate(
        &mut self,
        accs: &mut [Accumulator<'_, Soac>],
        lam: &Lambda<Soac>,
        mut k: usize,
    ) -> Run<usize> {
        for acc in accs {
            let n = acc.arity();
            let mut elems = Vec::with_capacity(n);
            for i in k..k + n {
                elems.push(self.result(lam, i)?);
            }
            acc.add(self, elems.into_iter().map(Ok))?;
            k += n;
        }
        Ok(k)
    }
}
