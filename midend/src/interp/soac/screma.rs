//! Map, reduce and scan in one traversal, from first to last.

use super::{Inputs, Output};
use crate::interp::array::{wrap, write_row};
use crate::interp::columns::{self, BLOCK, Columns, Plan};
use crate::interp::machine::Machine;
use crate::interp::operator::Accumulator;
use crate::interp::value::{Array, Run, internal};
use crate::ir::soac::{Operator, Soac};
use crate::ir::syntax::Stm;

/// A traversal: what is done with the results of its lambda.
struct Traversal<'a, 'p> {
    inputs: &'a Inputs<'p>,
    scans: Vec<Accumulator<'p, Soac>>,
    scanned: Vec<Array>,
    reds: Vec<Accumulator<'p, Soac>>,
    mapped: Vec<Output>,
}

/// Fewer elements than this are not worth columns.
const FEW: i64 = 8;

impl<'p> Machine<'p, Soac> {
    pub(super) fn screma(
        &mut self,
        stm: &'p Stm<Soac>,
        inputs: &Inputs<'p>,
        scans: &'p [Operator<Soac>],
        reds: &'p [Operator<Soac>],
    ) -> Run<()> {
        let results = &inputs.lam.body.result;
        let scanned: usize = scans.iter().map(|op| op.neutral.len()).sum();
        let folded = scanned + reds.iter().map(|op| op.neutral.len()).sum::<usize>();
        if stm.binds.len() < folded || results.len() != stm.binds.len() {
            return internal("a traversal has a wrong number of results");
        }
        let outputs = stm.binds[..scanned].iter();
        let outputs = outputs.map(|&v| self.output(v, inputs.width));
        let mapped = stm.binds.iter().zip(results).skip(folded);
        let mapped = mapped.map(|(&v, &from)| self.output_of(v, inputs.width, from));
        let mut traversal = Traversal {
            inputs,
            scanned: outputs.collect::<Run<_>>()?,
            mapped: mapped.collect::<Run<_>>()?,
            scans: self.accumulators(scans, results)?,
            reds: self.accumulators(reds, &results[scanned..])?,
        };
        if !traversal.in_blocks(self)? {
            for i in 0..inputs.width {
                traversal.element(self, i)?;
            }
        }
        let Traversal {
            scanned,
            reds,
            mapped,
            ..
        } = traversal;
        let mut results: Vec<_> = scanned.into_iter().map(wrap).collect();
        for red in reds {
            for value in red.values(self)? {
                results.push(self.unshared(value)?);
            }
        }
        results.extend(mapped.into_iter().map(|out| wrap(out.array)));
        self.bind(stm, results)
    }
}

impl<'p> Traversal<'_, 'p> {
    /// Does element `i`.
    fn element(&mut self, machine: &mut Machine<'p, Soac>, i: i64) -> Run<()> {
        self.inputs.apply(machine, i)?;
        for out in &self.mapped {
            out.write(machine, i)?;
        }
        let mut outs = self.scanned.iter();
        for scan in &mut self.scans {
            scan.add(machine)?;
            for (k, out) in (0..scan.arity()).zip(&mut outs) {
                write_row(out, i, &scan.value(machine, k)?)?;
            }
        }
        for red in &mut self.reds {
            red.add(machine)?;
        }
        Ok(())
    }

    /// Does all elements in blocks, if everything is scalar and the lambda has no control flow.
    fn in_blocks(&mut self, machine: &mut Machine<'p, Soac>) -> Run<bool> {
        let inputs = self.inputs;
        if inputs.width < FEW || !inputs.code.straight {
            return Ok(false);
        }
        let words = |accs: &[Accumulator<'p, Soac>]| -> Option<Vec<_>> {
            let words = accs
                .iter()
                .map(|acc| Some(acc.words()?.collect::<Vec<_>>()));
            words.collect()
        };
        let params: Option<Vec<_>> = inputs.feeds.iter().map(|feed| feed.word).collect();
        let mapped: Option<Vec<_>> = self.mapped.iter().map(|out| out.word).collect();
        let accs = (words(&self.scans), words(&self.reds));
        let (Some(params), Some(mapped), (Some(scans), Some(reds))) = (params, mapped, accs) else {
            return Ok(false);
        };
        let folded = scans.iter().chain(&reds).flatten();
        let results = mapped.iter().copied().chain(folded.map(|(from, _)| *from));
        let new = || Plan::new(&inputs.code, params.iter().copied(), results);
        let Some(plan) = inputs.code.plan.get_or_init(new) else {
            return Ok(false);
        };
        let mut columns = Columns::new(plan, machine);
        let mut done = Ok(());
        let mut start = 0;
        while start < inputs.width && done.is_ok() {
            let n = (inputs.width - start).min(BLOCK as i64);
            done = self.block(machine, &mut columns, start, n as usize);
            start += n;
        }
        columns.finish(machine);
        done.map(|()| true)
    }

    fn block(
        &mut self,
        machine: &mut Machine<'p, Soac>,
        columns: &mut Columns<'_>,
        start: i64,
        n: usize,
    ) -> Run<()> {
        let inputs = self.inputs;
        let cost = n as u32 * (inputs.lam.body.stms.len() as u32 + 1);
        for feed in &inputs.feeds {
            if let Some(word) = feed.word {
                columns.feed(word, &feed.array, start, n);
            }
        }
        if !machine.affords(cost.into()) || !columns.execute(machine, n) {
            return (start..start + n as i64).try_for_each(|i| self.element(machine, i));
        }
        machine.tick(cost)?;
        for out in &self.mapped {
            if let Some(word) = out.word {
                columns.store(word, &out.array, start, n);
            }
        }
        self.fold_columns(machine, columns, start, n)
    }

    /// Combines the elements of a block. What cannot fail is done column by column, the rest element by element.
    fn fold_columns(
        &mut self,
        machine: &mut Machine<'p, Soac>,
        columns: &Columns<'_>,
        start: i64,
        n: usize,
    ) -> Run<()> {
        let mut elems = [0; BLOCK];
        let elems = &mut elems[..n];
        let (mut scans, mut reds) = (Vec::new(), Vec::new());
        let mut outs = &self.scanned[..];
        for scan in &mut self.scans {
            let (mine, rest) = outs.split_at(scan.arity());
            outs = rest;
            match scan.single() {
                Some(single) => {
                    elems.copy_from_slice(&columns.of(single.from)[..n]);
                    single.add(machine, elems)?;
                    columns::store(elems, &mine[0], start);
                }
                None => scans.push((scan, mine)),
            }
        }
        for red in &mut self.reds {
            match red.single() {
                Some(single) => {
                    elems.copy_from_slice(&columns.of(single.from)[..n]);
                    single.add(machine, elems)?;
                }
                None => reds.push(red),
            }
        }
        if scans.is_empty() && reds.is_empty() {
            return Ok(());
        }
        for lane in 0..n {
            for (scan, outs) in &mut scans {
                feed(scan, machine, columns, lane);
                scan.add(machine)?;
                for (k, out) in outs.iter().enumerate() {
                    write_row(out, start + lane as i64, &scan.value(machine, k)?)?;
                }
            }
            for red in &mut reds {
                feed(red, machine, columns, lane);
                red.add(machine)?;
            }
        }
        Ok(())
    }
}

/// Puts an element of a block where an accumulator finds it.
fn feed<'p>(
    acc: &Accumulator<'p, Soac>,
    machine: &mut Machine<'p, Soac>,
    columns: &Columns<'_>,
    lane: usize,
) {
    for (from, _) in acc.words().into_iter().flatten() {
        machine.put(from, columns.of(from)[lane]);
    }
}
