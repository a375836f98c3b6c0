//! Parallel operators on arrays of numbers, from first to last.

use super::array::wrap;
use super::{Elements, Eval, Item, Num, numbers, regular};
use crate::interp::value::{Run, internal};
use crate::ir::array::ArrayOp;
use crate::ir::id::Var;
use crate::ir::scalar::Const;
use crate::ir::soac::{Accumulation, Operator, Soac, UpdateAcc};
use crate::ir::syntax::{Lambda, Stm};
use crate::ir::types::{Size, Type};
use std::rc::Rc;

/// What an operation traverses.
struct Inputs<'p> {
    width: i64,
    lam: &'p Lambda<Soac>,
    arrays: Vec<Rc<Elements>>,
}

impl<'p> Eval<'_, 'p> {
    fn inputs(&self, width: Size, arrays: &[Var], lam: &'p Lambda<Soac>) -> Run<Inputs<'p>> {
        let arrays = arrays.iter().map(|v| self.array(*v));
        Ok(Inputs {
            width: self.size(width)?,
            lam,
            arrays: arrays.collect::<Run<_>>()?,
        })
    }

    /// The results of the lambda for element `i`.
    fn point(&mut self, inputs: &Inputs<'p>, i: i64) -> Run<Vec<Item>> {
        for (param, array) in inputs.lam.params.iter().zip(&inputs.arrays) {
            let (lo, hi) = (array.shape.start(1, i), array.shape.start(1, i + 1));
            let row = array.shape.regular_from(1).unwrap_or_default();
            let data = array.data[lo as usize..hi as usize].to_vec();
            self.env.insert(*param, wrap(regular(&row)?, data));
        }
        self.body(&inputs.lam.body)
    }

    fn combined(
        &mut self,
        op: &'p Operator<Soac>,
        held: Vec<Item>,
        elems: Vec<Item>,
    ) -> Run<Vec<Item>> {
        self.bind(&op.lam.params, held.into_iter().chain(elems).collect())?;
        self.body(&op.lam.body)
    }

    pub(super) fn op(&mut self, op: &'p Soac, stm: &'p Stm<Soac>) -> Run<()> {
        let binds = &stm.binds;
        match op {
            // What is shown is a value, not code: the derivative shows nothing.
            Soac::Array(ArrayOp::Trace(_)) => Ok(()),
            Soac::Array(op) => {
                let item = self.array_op(op, binds)?;
                self.bind(binds, vec![item])
            }
            Soac::Screma {
                width,
                arrays,
                lam,
                scans,
                reds,
            } => {
                let inputs = self.inputs(*width, arrays, lam)?;
                let results = self.screma(&inputs, scans, reds, binds)?;
                self.bind(binds, results)
            }
            Soac::Hist {
                width,
                arrays,
                lam,
                ops,
            } => {
                let inputs = self.inputs(*width, arrays, lam)?;
                let mut dests = Vec::new();
                for op in ops {
                    let taken = op.dests.iter().map(|v| self.taken(*v));
                    dests.push(taken.collect::<Run<Vec<_>>>()?);
                }
                for i in 0..inputs.width {
                    let mut buckets = self.point(&inputs, i)?;
                    let ranks = ops.iter().map(|op| op.shape.len()).sum();
                    let mut values = buckets.split_off(ranks);
                    for (op, dests) in ops.iter().zip(&mut dests) {
                        let rest = buckets.split_off(op.shape.len());
                        let bucket = std::mem::replace(&mut buckets, rest);
                        let rest = values.split_off(dests.len());
                        let values = std::mem::replace(&mut values, rest);
                        self.merge(dests, Some(&op.op), &bucket, values)?;
                    }
                }
                self.bind(
                    binds,
                    dests.into_iter().flatten().map(Item::Array).collect(),
                )
            }
            Soac::Scatter {
                width,
                arrays,
                lam,
                dests,
            } => {
                let inputs = self.inputs(*width, arrays, lam)?;
                let taken = dests.iter().map(|d| self.taken(d.array));
                let mut to = taken.collect::<Run<Vec<_>>>()?;
                for i in 0..inputs.width {
                    let mut indices = self.point(&inputs, i)?;
                    let values = indices.split_off(dests.iter().map(|d| d.rank).sum());
                    for ((dest, to), value) in dests.iter().zip(&mut to).zip(values) {
                        let rest = indices.split_off(dest.rank);
                        let index = std::mem::replace(&mut indices, rest);
                        self.merge(std::slice::from_mut(to), None, &index, vec![value])?;
                    }
                }
                self.bind(binds, to.into_iter().map(Item::Array).collect())
            }
            Soac::Filter { width, arrays, lam } => {
                let inputs = self.inputs(*width, arrays, lam)?;
                let mut columns: Vec<Vec<Num>> = vec![Vec::new(); binds.len() - 1];
                let mut kept = 0;
                for i in 0..inputs.width {
                    let results = self.point(&inputs, i)?;
                    if integer(&results[0])? == 0 {
                        continue;
                    }
                    kept += 1;
                    for (column, item) in columns.iter_mut().zip(&results[1..]) {
                        column.extend_from_slice(numbers(item));
                    }
                }
                let number = Item::Num(Num::Const(Const::I64(kept)));
                self.bind(&binds[..1], vec![number])?;
                for (v, column) in binds[1..].iter().zip(columns) {
                    let item = self.collected(*v, kept, column)?;
                    self.bind(&[*v], vec![item])?;
                }
                Ok(())
            }
            Soac::FlatMap {
                width,
                arrays,
                lam,
                rows,
                marks: _,
            } => {
                let inputs = self.inputs(*width, arrays, lam)?;
                let mut columns: Vec<Vec<Num>> = vec![Vec::new(); binds.len() - 2];
                let mut offsets = vec![0];
                let mut total = 0;
                for i in 0..inputs.width {
                    let results = self.point(&inputs, i)?;
                    total += integer(&results[0])?;
                    offsets.push(total);
                    for (column, item) in columns.iter_mut().zip(&results[1..]) {
                        column.extend_from_slice(numbers(item));
                    }
                }
                let marks = offsets.iter().map(|n| Num::Const(Const::I64(*n)));
                let marks = wrap(regular(&[offsets.len() as i64])?, marks.collect());
                let count = Item::Num(Num::Const(Const::I64(total)));
                self.bind(&binds[..2], vec![marks, count])?;
                for (k, (v, column)) in binds[2..].iter().zip(columns).enumerate() {
                    let outer = if k < *rows { total } else { inputs.width };
                    let item = self.collected(*v, outer, column)?;
                    self.bind(&[*v], vec![item])?;
                }
                Ok(())
            }
            Soac::WithAcc {
                width,
                arrays,
                lam,
                acc,
            } => {
                let inputs = self.inputs(*width, arrays, lam)?;
                self.with_acc(&inputs, acc, binds)
            }
            Soac::UpdateAcc(update) => self.update_acc(update, binds),
        }
    }

    fn screma(
        &mut self,
        inputs: &Inputs<'p>,
        scans: &'p [Operator<Soac>],
        reds: &'p [Operator<Soac>],
        binds: &[Var],
    ) -> Run<Vec<Item>> {
        let mut held = Vec::new();
        for op in scans.iter().chain(reds) {
            held.push(self.atoms(&op.neutral)?);
        }
        let scanned: usize = scans.iter().map(|op| op.neutral.len()).sum();
        let folded = scanned + reds.iter().map(|op| op.neutral.len()).sum::<usize>();
        let mut columns: Vec<Vec<Num>> = vec![Vec::new(); binds.len()];
        for i in 0..inputs.width {
            let mut results = self.point(inputs, i)?;
            for (column, item) in columns.iter_mut().zip(&results).skip(folded) {
                column.extend_from_slice(numbers(item));
            }
            let mut at = 0;
            for (k, op) in scans.iter().chain(reds).enumerate() {
                let rest = results.split_off(op.neutral.len());
                let elems = std::mem::replace(&mut results, rest);
                let before = std::mem::take(&mut held[k]);
                held[k] = self.combined(op, before, elems)?;
                for item in &held[k] {
                    if at < scanned {
                        columns[at].extend_from_slice(numbers(item));
                    }
                    at += 1;
                }
            }
        }
        let mut reduced = held.into_iter().flatten().skip(scanned);
        let mut results = Vec::new();
        for (i, (v, column)) in binds.iter().zip(columns).enumerate() {
            results.push(if (scanned..folded).contains(&i) {
                match reduced.next() {
                    Some(item) => item,
                    None => return internal("a reduction has a wrong number of results"),
                }
            } else {
                self.collected(*v, inputs.width, column)?
            });
        }
        Ok(results)
    }

    /// Puts values at an index of arrays, if it is in range; with an operator, what it makes of what is there and the values.
    fn merge(
        &mut self,
        dests: &mut [Rc<Elements>],
        op: Option<&'p Operator<Soac>>,
        index: &[Item],
        values: Vec<Item>,
    ) -> Run<()> {
        let index = index.iter().map(integer).collect::<Run<Vec<i64>>>()?;
        let mut ranges = Vec::new();
        for dest in dests.iter() {
            let Some(at) = dest.shape.position(index.iter().copied()) else {
                return Ok(());
            };
            let k = index.len();
            let positions = dest.shape.start(k, at)..dest.shape.start(k, at + 1);
            ranges.push(positions.start as usize..positions.end as usize);
        }
        let values = match op {
            Some(op) => {
                let mut held = Vec::new();
                for (dest, range) in dests.iter().zip(&ranges) {
                    let row = dest.shape.regular_from(index.len()).unwrap_or_default();
                    held.push(wrap(regular(&row)?, dest.data[range.clone()].to_vec()));
                }
                self.combined(op, held, values)?
            }
            None => values,
        };
        for ((dest, range), value) in dests.iter_mut().zip(ranges).zip(values) {
            let numbers = numbers(&value);
            if numbers.len() != range.len() {
                return internal("a value of another shape is written in a derivative");
            }
            Rc::make_mut(dest).data[range].clone_from_slice(numbers);
        }
        Ok(())
    }

    fn with_acc(
        &mut self,
        inputs: &Inputs<'p>,
        acc: &'p Accumulation<Soac>,
        binds: &[Var],
    ) -> Run<()> {
        let taken = acc.dests.iter().map(|v| self.taken(*v));
        let mut accs = taken
            .map(|array| Ok(Item::Array(array?)))
            .collect::<Run<Vec<Item>>>()?;
        self.operators.push((acc.token, acc.op.as_ref()));
        for i in 0..inputs.width {
            self.env.insert(acc.token, Item::Cert);
            self.bind(&acc.params, std::mem::take(&mut accs))?;
            accs = self.point(inputs, i)?;
            for v in inputs.lam.body.stms.iter().flat_map(|stm| &stm.binds) {
                self.env.remove(v);
            }
        }
        self.operators.pop();
        self.bind(binds, accs)
    }

    fn update_acc(&mut self, update: &'p UpdateAcc, binds: &[Var]) -> Run<()> {
        let token = update
            .accs
            .first()
            .map(|v| &self.machine.program.vars[*v].ty);
        let Some(Type::Acc(ty)) = token else {
            return internal("what is updated is no accumulator");
        };
        let found = self.operators.iter().rev().find(|(of, _)| *of == ty.token);
        let Some((_, op)) = found else {
            return internal("an accumulator is updated outside of its accumulation");
        };
        let op = *op;
        let index = [self.atom(update.index)?];
        let values = self.atoms(&update.values)?;
        let accs = update.accs.iter().map(|v| self.taken(*v));
        let mut accs = accs.collect::<Run<Vec<_>>>()?;
        self.merge(&mut accs, op, &index, values)?;
        self.bind(binds, accs.into_iter().map(Item::Array).collect())
    }
}

/// An integer or truth value.
fn integer(item: &Item) -> Run<i64> {
    let Item::Num(num) = item else {
        return internal("an integer is needed in a derivative");
    };
    let c = num.constant();
    match c.as_bool().map(i64::from).or(c.as_i64()) {
        Some(n) => Ok(n),
        None => internal("an integer is needed in a derivative"),
    }
}
