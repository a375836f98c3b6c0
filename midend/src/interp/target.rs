//! Destinations that are written in place at computed indices, in the nested and the flat dialect.

use super::array::wrap;
use super::machine::{Exec, Machine};
use super::message::number;
use super::scalar;
use super::value::{Array, Run, Val, internal};
use crate::ir::id::{SpanId, Var};
use crate::ir::soac::{HistOp, Operator, ScatterDest};
use crate::ir::syntax::{Atom, TrapKind};
use crate::value::Value;
use std::collections::HashSet;
use std::rc::Rc;

/// The successor of an array that is consumed.
fn taken<D: Exec>(machine: &Machine<'_, D>, array: Var) -> Run<Rc<Array>> {
    let array = machine.array(array)?;
    Ok(Rc::new(machine.taken(&array)?))
}

/// The destinations of a scatter.
pub(crate) struct ScatterTarget {
    /// Number of indices and array.
    dests: Vec<(usize, Rc<Array>)>,
    /// Which places have been written, if that is of interest: the number of the destination, and where in its buffer.
    written: Option<HashSet<(usize, i64)>>,
    span: SpanId,
}

impl ScatterTarget {
    pub(crate) fn new<D: Exec>(
        machine: &Machine<'_, D>,
        dests: &[ScatterDest],
        span: SpanId,
    ) -> Run<Self> {
        let dests = dests
            .iter()
            .map(|d| Ok((d.rank, taken(machine, d.array)?)))
            .collect::<Run<_>>()?;
        let written = machine.options.collisions.then(HashSet::new);
        Ok(Self {
            dests,
            written,
            span,
        })
    }

    /// Writes the results of one point: the indices for all destinations, then their values.
    pub(crate) fn write<D: Exec>(&mut self, machine: &Machine<'_, D>, result: &[Atom]) -> Run<()> {
        let all: usize = self.dests.iter().map(|d| d.0).sum();
        if result.len() != all + self.dests.len() {
            return internal("a scatter has a wrong number of results");
        }
        let (mut indices, values) = result.split_at(all);
        for (number, ((rank, array), value)) in self.dests.iter().zip(values).enumerate() {
            let (mine, rest) = indices.split_at(*rank);
            indices = rest;
            if let Some(place) = place(machine, array, mine)? {
                let value = machine.atom(*value)?;
                if let Some(written) = &mut self.written
                    && !written.insert((number, place.offset))
                {
                    same(machine, &place, &value, mine, self.span)?;
                }
                place.write(&value)?;
            }
        }
        Ok(())
    }

    pub(crate) fn finish(self) -> Vec<Val> {
        self.dests.into_iter().map(|(_, a)| Val::Array(a)).collect()
    }
}

/// Fails unless what stands at a place of a scatter, which another point wrote, is what is to be written there.
fn same<D: Exec>(
    machine: &Machine<'_, D>,
    place: &Array,
    new: &Val,
    indices: &[Atom],
    span: SpanId,
) -> Run<()> {
    let old = current(place);
    let differ = if let (Val::Scalar(old), Val::Scalar(new)) = (&old, new)
        && !scalar::same(*old, *new)
    {
        format!(": {} and {}", number(*old), number(*new))
    } else if let (Val::Array(old), Val::Array(new)) = (&old, new)
        && !scalar::same_value(&Value::Array(old.to_value()), &Value::Array(new.to_value()))
    {
        String::new()
    } else {
        return Ok(());
    };
    let indices = indices.iter().map(|i| Ok(machine.int(*i)?.to_string()));
    let indices = indices.collect::<Run<Vec<_>>>()?.join(", ");
    let text = format!("Scatter writes different values to index [{indices}]{differ}.");
    Err(machine.trap(TrapKind::Other, text, span))
}

/// The destinations of histograms.
pub(crate) struct HistTarget<'p, D> {
    ops: &'p [HistOp<D>],
    dests: Vec<Vec<Rc<Array>>>,
}

impl<'p, D: Exec> HistTarget<'p, D> {
    pub(crate) fn new(machine: &Machine<'_, D>, ops: &'p [HistOp<D>]) -> Run<Self> {
        let dests = ops
            .iter()
            .map(|op| op.dests.iter().map(|&v| taken(machine, v)).collect())
            .collect::<Run<_>>()?;
        Ok(Self { ops, dests })
    }

    /// Combines the results of one point: the buckets of all operations, then their values.
    pub(crate) fn write(&self, machine: &mut Machine<'p, D>, result: &[Atom]) -> Run<()> {
        let ranks: usize = self.ops.iter().map(|op| op.shape.len()).sum();
        let arity: usize = self.ops.iter().map(|op| op.dests.len()).sum();
        if result.len() != ranks + arity {
            return internal("a histogram has a wrong number of results");
        }
        let (mut buckets, mut values) = result.split_at(ranks);
        // The operators are executed only after all results have been read.
        let mut work = Vec::with_capacity(self.ops.len());
        for (op, dests) in self.ops.iter().zip(&self.dests) {
            let (bucket, rest) = buckets.split_at(op.shape.len());
            buckets = rest;
            let (mine, rest) = values.split_at(op.dests.len());
            values = rest;
            work.push((op, dests, bucket, machine.atoms(mine)?));
        }
        for (op, dests, bucket, values) in work {
            combine(machine, &op.op, dests, bucket, values)?;
        }
        Ok(())
    }

    pub(crate) fn finish(self) -> Vec<Val> {
        self.dests.into_iter().flatten().map(Val::Array).collect()
    }
}

/// Combines what stands at an index of the destinations with values, if the index is in range.
pub(super) fn combine<'p, D: Exec>(
    machine: &mut Machine<'p, D>,
    op: &'p Operator<D>,
    dests: &[Rc<Array>],
    bucket: &[Atom],
    values: Vec<Val>,
) -> Run<()> {
    let mut places = Vec::with_capacity(dests.len());
    for array in dests {
        match place(machine, array, bucket)? {
            Some(place) => places.push(place),
            None => return Ok(()),
        }
    }
    let lam = &op.lam;
    if lam.params.len() != 2 * dests.len() || lam.body.result.len() != dests.len() {
        return internal("an operator has a wrong number of parameters or results");
    }
    let old: Vec<Val> = places.iter().map(current).collect();
    machine.apply(lam, old.into_iter().chain(values))?;
    let mut new = machine.atoms(&lam.body.result)?;
    if places.len() > 1 {
        // A result may be what stands at another place, which is about to be overwritten.
        let apart = new.into_iter().map(|v| machine.unshared(v));
        new = apart.collect::<Run<_>>()?;
    }
    for (place, value) in places.iter().zip(&new) {
        place.write(value)?;
    }
    Ok(())
}

/// What stands at a place now.
fn current(place: &Array) -> Val {
    if place.dims.is_empty() {
        Val::Scalar(place.buf.data.borrow().get(place.offset as usize))
    } else {
        wrap(Array {
            version: place.buf.version.get(),
            ..place.clone()
        })
    }
}

/// The part of an array at these indices, nothing if they lie outside.
pub(super) fn place<D: Exec>(
    machine: &Machine<'_, D>,
    array: &Array,
    indices: &[Atom],
) -> Run<Option<Array>> {
    if indices.len() > array.dims.len() {
        return internal("a destination has too few dimensions");
    }
    let mut offset = array.offset;
    for (dim, &index) in array.dims.iter().zip(indices) {
        let i = machine.int(index)?;
        if i < 0 || i >= dim.extent {
            return Ok(None);
        }
        offset += i * dim.stride;
    }
    Ok(Some(array.view(offset, &array.dims[indices.len()..])))
}
