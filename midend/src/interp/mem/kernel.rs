//! Executing kernels point by point.

use super::cells::{self, Cells};
use crate::interp::machine::{Exec, Machine};
use crate::interp::operator::Accumulator;
use crate::interp::shape::{Extent, Shape};
use crate::interp::value::{Run, Val, internal};
use crate::ir::array::ArrayOp;
use crate::ir::id::Var;
use crate::ir::mem::{self, Kernel, KernelKind, Mem, MemHist, Region};
use crate::ir::scalar::Const;
use crate::ir::soac::Operator;
use crate::ir::syntax::{Atom, Lambda, Stm};
use crate::ir::walk;

/// The memory of a launch and the stamps of its points.
#[derive(Debug, Default)]
pub(crate) struct State {
    /// Buffers from outside, then those that the point at hand has allocated.
    memory: Vec<Cells>,
    outside: usize,
    launch: u64,
    point: u64,
    /// Whether the points at hand are those of a kernel inside of a point.
    inside: bool,
    /// Buffers that the body of a histogram combines values into. The device keeps its points apart.
    combined: Vec<usize>,
}

impl State {
    pub(super) fn new(memory: Vec<Cells>, launch: u64) -> Self {
        Self {
            outside: memory.len(),
            memory,
            launch,
            point: launch,
            inside: false,
            combined: Vec::new(),
        }
    }

    /// A stamp later than all of this launch.
    pub(super) const fn next_stamp(&self) -> u64 {
        self.point + 1
    }

    /// The buffers from outside.
    pub(super) fn into_memory(self) -> impl Iterator<Item = Cells> {
        self.memory.into_iter().take(self.outside)
    }

    /// Starts the next point, without the memory of the last one. What threads do for one point is done by that point.
    fn advance(&mut self) {
        self.point += u64::from(!self.inside);
        self.memory.truncate(self.outside);
    }

    const fn stamp(&self) -> cells::Stamp {
        (self.point, self.launch)
    }
}

impl Exec for Mem {
    type State = State;

    fn exec<'p>(machine: &mut Machine<'p, Self>, op: &'p Self, stm: &'p Stm<Self>) -> Run<()> {
        match op {
            Self::Trace(_) | Self::Stream(_) => internal("a kernel shows a value"),
            Self::Alloc { elem, len, .. } => {
                let Ok(len) = usize::try_from(machine.int(*len)?) else {
                    return internal("a buffer of negative length");
                };
                machine.state.memory.push(Cells::undefined(*elem, len)?);
                let buffer = machine.state.memory.len() - 1;
                machine.bind_one(stm, Val::Buffer(buffer))
            }
            Self::Load { buffer, index } => {
                let index = machine.int(*index)?;
                let value = machine.load(*buffer, index)?;
                machine.bind_one(stm, Val::Scalar(value))
            }
            Self::Store {
                buffer,
                index,
                value,
            } => {
                let (index, value) = (machine.int(*index)?, machine.scalar(*value)?);
                machine.store(*buffer, index, value)
            }
            Self::Copy { shape, dst, src } => machine.copy(shape, dst, src),
            Self::Free(_) => internal("a buffer is freed in a kernel"),
            Self::Apart(_) => internal("a kernel speaks of host code"),
            Self::Launch(kernel) => machine.share_out(kernel),
        }
    }

    fn array_op(&self) -> Option<&ArrayOp> {
        None
    }
}

impl<'p> Machine<'p, Mem> {
    /// The buffer that a variable names.
    fn buffer(&mut self, v: Var) -> Run<&mut Cells> {
        match self.atom(Atom::Var(v))? {
            Val::Buffer(i) if i < self.state.memory.len() => Ok(&mut self.state.memory[i]),
            Val::Buffer(_) => internal(format!("{v:?} is used after the end of its work item")),
            Val::Scalar(_) | Val::Array(_) | Val::Cert | Val::Unset | Val::Gone => {
                internal(format!("{v:?} is not a buffer"))
            }
        }
    }

    /// Who the point at hand is to a buffer.
    fn stamp_for(&mut self, buffer: Var) -> Run<cells::Stamp> {
        Ok(match self.atom(Atom::Var(buffer))? {
            Val::Buffer(i) if self.state.combined.contains(&i) => (cells::HOST, cells::HOST),
            Val::Buffer(_)
            | Val::Scalar(_)
            | Val::Array(_)
            | Val::Cert
            | Val::Unset
            | Val::Gone => self.state.stamp(),
        })
    }

    fn load(&mut self, buffer: Var, index: i64) -> Run<Const> {
        let (point, launch) = self.stamp_for(buffer)?;
        self.buffer(buffer)?.load(index, point, launch)
    }

    fn store(&mut self, buffer: Var, index: i64, value: Const) -> Run<()> {
        let (point, launch) = self.stamp_for(buffer)?;
        self.buffer(buffer)?.store(index, value, point, launch)
    }

    fn ints(&self, atoms: &[Atom]) -> Run<Vec<i64>> {
        atoms.iter().map(|&a| self.int(a)).collect()
    }

    fn copy(&mut self, shape: &[Atom], dst: &Region, src: &Region) -> Run<()> {
        let shape = self.ints(shape)?;
        let (to, from) = (self.ints(&dst.strides)?, self.ints(&src.strides)?);
        let (to_offset, from_offset) = (self.int(dst.offset)?, self.int(src.offset)?);
        let same = match (self.atom(dst.buffer.into())?, self.atom(src.buffer.into())?) {
            (Val::Buffer(a), Val::Buffer(b)) => a == b,
            _ => false,
        };
        if same && to_offset == from_offset && to == from {
            return Ok(());
        }
        let from = cells::places(&shape, from_offset, &from)?;
        let to = cells::places(&shape, to_offset, &to)?;
        if same {
            cells::check_apart(&from, &to)?;
        }
        let stamp = self.state.stamp();
        let values = self.buffer(src.buffer)?.take(&from, stamp)?;
        self.buffer(dst.buffer)?.put(&to, values, stamp)
    }

    /// Executes the body at a point, given by its row-major number.
    fn at(&mut self, kernel: &'p Kernel, shape: &Shape, point: i64) -> Run<()> {
        self.state.advance();
        shape.indices(point, |k, i, from| {
            let (var, extent) = kernel.space[k];
            self.set(var, Val::Scalar(Const::I64(i)))?;
            match extent {
                mem::Extent::Regular(_) => Ok(()),
                mem::Extent::Ragged { start, .. } => self.set(start, Val::Scalar(Const::I64(from))),
            }
        })?;
        self.run(&kernel.body)
    }

    /// Executes a kernel whose points the threads that work on the point at hand share out.
    fn share_out(&mut self, kernel: &'p Kernel) -> Run<()> {
        let own = self.state.memory.len();
        let outside = std::mem::replace(&mut self.state.outside, own);
        let inside = std::mem::replace(&mut self.state.inside, true);
        let result = walk::deep(|| execute(self, kernel));
        self.state.memory.truncate(own);
        (self.state.outside, self.state.inside) = (outside, inside);
        result
    }

    /// The space of a kernel in numbers.
    fn space(&mut self, kernel: &Kernel) -> Run<Shape> {
        let mut extents: Vec<Extent> = Vec::new();
        for (_, extent) in &kernel.space {
            extents.push(match *extent {
                mem::Extent::Regular(n) => Extent::Regular(self.int(n)?),
                mem::Extent::Ragged { offsets, .. } => {
                    let rows = Shape::new(extents.clone())?.count();
                    let buffer = self.buffer(offsets)?;
                    let mut starts = Vec::new();
                    for i in 0..=rows {
                        let start = buffer.load(i, cells::HOST, cells::HOST)?;
                        starts.extend(start.as_i64());
                    }
                    Extent::Ragged(starts.into())
                }
            });
        }
        Shape::new(extents)
    }

    fn fold(
        &mut self,
        kernel: &'p Kernel,
        shape: &Shape,
        (ops, outs): (&'p [Operator<Mem>], &'p [Var]),
        scan: Option<Option<&'p Lambda<Mem>>>,
    ) -> Run<()> {
        let Some(inner) = shape.rank().checked_sub(1) else {
            return internal("a kernel that folds has no dimension to fold along");
        };
        for row in 0..shape.count_of(inner) {
            let mut accs = self.accumulators(ops, &kernel.body.result)?;
            let (first, end) = shape.row(inner, row);
            for point in first..end {
                self.at(kernel, shape, point)?;
                for acc in &mut accs {
                    acc.add(self)?;
                }
                match scan {
                    None => {}
                    Some(None) => self.store_all(outs, &accs, point)?,
                    Some(Some(then)) => {
                        let mut args = Vec::with_capacity(then.params.len());
                        for acc in &accs {
                            args.extend(acc.values(self)?);
                        }
                        let rest = &kernel.body.result[args.len()..];
                        args.extend(self.atoms(rest)?);
                        self.apply(then, args.into_iter())?;
                    }
                }
            }
            if scan.is_none() {
                self.state.advance();
                self.store_all(outs, &accs, row)?;
            }
        }
        Ok(())
    }

    fn store_all(&mut self, outs: &[Var], accs: &[Accumulator<'p, Mem>], at: i64) -> Run<()> {
        let mut values = Vec::with_capacity(outs.len());
        for acc in accs {
            values.extend(acc.values(self)?);
        }
        for (&out, value) in outs.iter().zip(values) {
            match value {
                Val::Scalar(c) => self.store(out, at, c)?,
                Val::Array(_) | Val::Buffer(_) | Val::Cert | Val::Unset | Val::Gone => {
                    return internal("an operator of a kernel works on what is no scalar");
                }
            }
        }
        Ok(())
    }

    /// Combines the results of one point: a bucket for each histogram, then their values.
    fn hist(&mut self, kernel: &'p Kernel, hists: &'p [MemHist]) -> Run<()> {
        let results = &kernel.body.result;
        let arity: usize = hists.iter().map(|h| h.dests.len()).sum();
        if results.len() != hists.len() + arity {
            return internal("a histogram has a wrong number of results");
        }
        let (buckets, mut values) = results.split_at(hists.len());
        let mut work = Vec::with_capacity(hists.len());
        for (hist, &bucket) in hists.iter().zip(buckets) {
            let (mine, rest) = values.split_at(hist.dests.len());
            values = rest;
            work.push((hist, self.int(bucket)?, self.atoms(mine)?));
        }
        for (hist, bucket, values) in work {
            if bucket < 0 || bucket >= self.int(hist.buckets)? {
                continue;
            }
            // The combination is the device's doing, not the point's: no race with other points is meant.
            let mut args = Vec::with_capacity(2 * values.len());
            for &dest in &hist.dests {
                let old = self.buffer(dest)?.load(bucket, cells::HOST, cells::HOST)?;
                args.push(Val::Scalar(old));
            }
            args.extend(values);
            self.apply(&hist.op.lam, args.into_iter())?;
            for (&dest, &result) in hist.dests.iter().zip(&hist.op.lam.body.result) {
                let new = self.scalar(result)?;
                self.buffer(dest)?
                    .store(bucket, new, cells::HOST, cells::HOST)?;
            }
        }
        Ok(())
    }
}

/// Executes a kernel whose arguments are set.
pub(super) fn execute<'p>(machine: &mut Machine<'p, Mem>, kernel: &'p Kernel) -> Run<()> {
    let shape = machine.space(kernel)?;
    let count = shape.count();
    match &kernel.kind {
        KernelKind::Map | KernelKind::Seq => {
            for point in 0..count {
                machine.at(kernel, &shape, point)?;
            }
            Ok(())
        }
        KernelKind::Red { ops, outs } => machine.fold(kernel, &shape, (ops, outs), None),
        KernelKind::Scan { ops, outs, then } => {
            machine.fold(kernel, &shape, (ops, outs), Some(then.as_ref()))
        }
        KernelKind::Hist(hists) if kernel.body.result.is_empty() => {
            for &dest in hists.iter().flat_map(|hist| &hist.dests) {
                if let Val::Buffer(i) = machine.atom(dest.into())? {
                    machine.state.combined.push(i);
                }
            }
            for point in 0..count {
                machine.at(kernel, &shape, point)?;
            }
            Ok(())
        }
        KernelKind::Hist(hists) => {
            for point in 0..count {
                machine.at(kernel, &shape, point)?;
                machine.hist(kernel, hists)?;
            }
            Ok(())
        }
    }
}
