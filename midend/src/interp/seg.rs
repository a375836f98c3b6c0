//! The operations of the flat dialect.

use super::array::wrap;
use super::machine::{Exec, Machine};
use super::operator::Accumulator;
use super::shape::Shape;
use super::target::{HistTarget, ScatterTarget};
use super::value::{Array, Run, Val, dense_dims, internal};
use crate::ir::array::ArrayOp;
use crate::ir::id::Var;
use crate::ir::scalar::Const;
use crate::ir::seg::{Seg, SegKind, SegOp};
use crate::ir::soac::Operator;
use crate::ir::syntax::Stm;
use crate::ir::types::Dim;
use crate::ir::walk;

impl Exec for Seg {
    type State = ();

    fn exec<'p>(machine: &mut Machine<'p, Self>, op: &'p Self, stm: &'p Stm<Self>) -> Run<()> {
        match op {
            Self::Array(op) => machine.array_op(op, stm),
            Self::Par(op) => walk::deep(|| machine.seg_op(stm, op)),
            Self::UpdateAcc(update) => machine.update_acc(stm, update),
        }
    }

    fn array_op(&self) -> Option<&ArrayOp> {
        match self {
            Self::Array(op) => Some(op),
            Self::Par(_) | Self::UpdateAcc(_) => None,
        }
    }
}

/// The points of a space, with the extents in numbers.
struct Space {
    vars: Vec<Var>,
    shape: Shape,
}

impl<'p> Machine<'p, Seg> {
    fn seg_op(&mut self, stm: &'p Stm<Seg>, op: &'p SegOp) -> Run<()> {
        let space = self.space(op)?;
        match &op.kind {
            SegKind::Map => self.seg_fold(stm, op, &space, &[], false),
            SegKind::Red(ops) => self.seg_fold(stm, op, &space, ops, false),
            SegKind::Scan(ops) => self.seg_fold(stm, op, &space, ops, true),
            SegKind::Filter => self.seg_filter(stm, op, &space),
            SegKind::Hist(ops) => {
                let target = HistTarget::new(self, ops)?;
                for point in 0..space.shape.count() {
                    self.at(op, &space, point)?;
                    target.write(self, &op.body.result)?;
                }
                self.bind(stm, target.finish())
            }
            SegKind::Scatter(dests) => {
                let mut target = ScatterTarget::new(self, dests, stm.span)?;
                for point in 0..space.shape.count() {
                    self.at(op, &space, point)?;
                    target.write(self, &op.body.result)?;
                }
                self.bind(stm, target.finish())
            }
            SegKind::WithAcc(acc) => {
                let mut point = |m: &mut Self, i| m.at(op, &space, i);
                self.with_acc(stm, acc, space.shape.count(), &op.body.result, &mut point)
            }
        }
    }

    fn space(&self, op: &'p SegOp) -> Run<Space> {
        let dims: Vec<Dim> = op.space.dims.iter().map(|(_, dim)| dim.as_dim()).collect();
        Ok(Space {
            vars: op.space.indices(),
            shape: self.dims(&dims)?,
        })
    }

    /// Executes the body at a point, given by its row-major number.
    fn at(&mut self, op: &'p SegOp, space: &Space, point: i64) -> Run<()> {
        space.shape.indices(point, |k, i, _| {
            self.set(space.vars[k], Val::Scalar(Const::I64(i)))
        })?;
        self.run(&op.body)
    }

    /// Maps, and reductions or scans of the first results along the innermost dimension.
    fn seg_fold(
        &mut self,
        stm: &'p Stm<Seg>,
        op: &'p SegOp,
        space: &Space,
        ops: &'p [Operator<Seg>],
        scan: bool,
    ) -> Run<()> {
        let folded: usize = ops.iter().map(|op| op.neutral.len()).sum();
        if op.body.result.len() != stm.binds.len() || folded > stm.binds.len() {
            return internal("a parallel operation has a wrong number of results");
        }
        // Without operators, each point is a row of its own.
        let rank = space.shape.rank();
        let outer = if ops.is_empty() { rank } else { rank - 1 };
        let mut outs = Vec::with_capacity(stm.binds.len());
        for (i, &v) in stm.binds.iter().enumerate() {
            let rank = if i < folded && !scan { outer } else { rank };
            outs.push(self.seg_output(v, space, rank)?);
        }
        for row in 0..space.shape.count_of(outer) {
            let mut accs = self.accumulators(ops, &op.body.result)?;
            let (first, end) = match outer < rank {
                true => space.shape.row(outer, row),
                false => (row, row + 1),
            };
            for point in first..end {
                self.at(op, space, point)?;
                for (out, result) in outs[folded..].iter().zip(&op.body.result[folded..]) {
                    out.write_at(point, &self.atom(*result)?)?;
                }
                for acc in &mut accs {
                    acc.add(self)?;
                }
                if scan {
                    self.write_all(&outs, &accs, point)?;
                }
            }
            if !scan {
                self.write_all(&outs, &accs, row)?;
            }
        }
        self.bind(stm, outs.into_iter().map(Output::finish).collect())
    }

    /// The values of the points for which the first result holds, in order, and how many there are.
    fn seg_filter(&mut self, stm: &'p Stm<Seg>, op: &'p SegOp, space: &Space) -> Run<()> {
        let (Some((&keep, values)), [_, arrays @ ..]) =
            (op.body.result.split_first(), &stm.binds[..])
        else {
            return internal("a filter has a wrong number of results");
        };
        let mut outs = Vec::with_capacity(arrays.len());
        for &v in arrays {
            outs.push(self.seg_output(v, space, space.shape.rank())?);
        }
        let mut kept = 0;
        for point in 0..space.shape.count() {
            self.at(op, space, point)?;
            if self.truth(keep)? {
                for (out, value) in outs.iter().zip(values) {
                    out.write_at(kept, &self.atom(*value)?)?;
                }
                kept += 1;
            }
        }
        let mut results = vec![Val::Scalar(Const::I64(kept))];
        for out in outs {
            results.push(wrap(out.array.view(0, &dense_dims(&[kept]))));
        }
        self.bind(stm, results)
    }

    fn write_all(&self, outs: &[Output], accs: &[Accumulator<'p, Seg>], point: i64) -> Run<()> {
        let mut outs = outs.iter();
        for acc in accs {
            for (k, out) in (0..acc.arity()).zip(&mut outs) {
                out.write_at(point, &acc.value(self, k)?)?;
            }
        }
        Ok(())
    }

    /// A place for the results of a body over the outer `rank` dimensions of a space.
    fn seg_output(&self, v: Var, space: &Space, rank: usize) -> Run<Output> {
        let Some(elem) = self.program.vars[v].ty.elem() else {
            return internal(format!(
                "{v:?} cannot be the result of a parallel operation"
            ));
        };
        let row = self.type_shape(v, rank)?;
        let shape = space.shape.outer(rank)?.with_row(&row)?;
        Ok(Output {
            array: self.meter.alloc_shaped(elem, &shape)?,
            row,
        })
    }
}

/// An array over a space, or a single value if the space has no dimensions.
struct Output {
    array: Array,
    /// The extents of what a point yields.
    row: Vec<i64>,
}

impl Output {
    /// Writes the value of the point with this row-major number.
    fn write_at(&self, point: i64, value: &Val) -> Run<()> {
        let size = self.row.iter().copied().fold(1, i64::saturating_mul);
        let place = self.array.view(point * size, &dense_dims(&self.row));
        place.write(value)
    }

    fn finish(self) -> Val {
        if self.array.dims.is_empty() {
            Val::Scalar(self.array.buf.data.borrow().get(0))
        } else {
            wrap(self.array)
        }
    }
}
