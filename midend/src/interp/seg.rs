//! The operations of the flat dialect.

use super::array::wrap;
use super::machine::{Exec, Machine};
use super::operator::Accumulator;
use super::target::{HistTarget, ScatterTarget};
use super::value::{Array, Run, Val, internal};
use crate::ir::id::Var;
use crate::ir::scalar::Const;
use crate::ir::seg::{Seg, SegKind, SegOp, SpaceDim};
use crate::ir::soac::Operator;
use crate::ir::syntax::Stm;
use crate::ir::walk;

impl Exec for Seg {
    type State = ();

    fn exec(machine: &mut Machine<'_, Self>, op: &Self, stm: &Stm<Self>) -> Run<()> {
        match op {
            Self::Array(op) => {
                let value = machine.array_op(op)?;
                machine.bind_one(stm, value)
            }
            Self::Par(op) => walk::deep(|| machine.seg_op(stm, op)),
            Self::UpdateAcc(update) => machine.update_acc(stm, update),
        }
    }
}

/// The points of a space, with the extents in numbers.
struct Space {
    vars: Vec<Var>,
    shape: Vec<i64>,
}

impl Space {
    /// The number of points.
    fn count(&self) -> i64 {
        self.shape.iter().product()
    }
}

impl Machine<'_, Seg> {
    fn seg_op(&mut self, stm: &Stm<Seg>, op: &SegOp) -> Run<()> {
        let space = self.space(op)?;
        match &op.kind {
            SegKind::Map => self.seg_fold(stm, op, &space, &[], false),
            SegKind::Red(ops) => self.seg_fold(stm, op, &space, ops, false),
            SegKind::Scan(ops) => self.seg_fold(stm, op, &space, ops, true),
            SegKind::Hist(ops) => {
                let target = HistTarget::new(self, ops)?;
                for point in 0..space.count() {
                    self.at(op, &space, point)?;
                    target.write(self, &op.body.result)?;
                }
                self.bind(stm, target.finish())
            }
            SegKind::Scatter(dests) => {
                let target = ScatterTarget::new(self, dests)?;
                for point in 0..space.count() {
                    self.at(op, &space, point)?;
                    target.write(self, &op.body.result)?;
                }
                self.bind(stm, target.finish())
            }
            SegKind::WithAcc(acc) => {
                let mut point = |m: &mut Self, i| m.at(op, &space, i);
                self.with_acc(stm, acc, space.count(), &op.body.result, &mut point)
            }
        }
    }

    fn space(&self, op: &SegOp) -> Run<Space> {
        let mut space = Space {
            vars: Vec::new(),
            shape: Vec::new(),
        };
        for &(var, dim) in &op.space.dims {
            match dim {
                SpaceDim::Regular(size) => {
                    space.vars.push(var);
                    space.shape.extend(self.shape(&[size])?);
                }
                SpaceDim::Ragged { offsets: _ } => {
                    return internal("irregular spaces are not yet supported by the interpreter");
                }
            }
        }
        Ok(space)
    }

    /// Executes the body at a point, given by its row-major number.
    fn at(&mut self, op: &SegOp, space: &Space, point: i64) -> Run<()> {
        let mut rest = point;
        for (var, extent) in space.vars.iter().zip(&space.shape).rev() {
            self.set(*var, Val::Scalar(Const::I64(rest % extent)))?;
            rest /= extent;
        }
        self.run(&op.body)
    }

    /// Maps, and reductions or scans of the first results along the innermost dimension.
    fn seg_fold(
        &mut self,
        stm: &Stm<Seg>,
        op: &SegOp,
        space: &Space,
        ops: &[Operator<Seg>],
        scan: bool,
    ) -> Run<()> {
        let folded: usize = ops.iter().map(|op| op.neutral.len()).sum();
        if op.body.result.len() != stm.binds.len() || folded > stm.binds.len() {
            return internal("a parallel operation has a wrong number of results");
        }
        let (outer, inner) = match space.shape.split_last() {
            Some((inner, outer)) if !ops.is_empty() => (outer, *inner),
            Some(_) | None => (&space.shape[..], 1),
        };
        let mut outs = Vec::with_capacity(stm.binds.len());
        for (i, &v) in stm.binds.iter().enumerate() {
            let dims = if i < folded && !scan {
                outer
            } else {
                &space.shape
            };
            outs.push(self.seg_output(v, dims)?);
        }
        for row in 0..outer.iter().product::<i64>() {
            let mut accs = ops
                .iter()
                .map(|op| Accumulator::new(self, op))
                .collect::<Run<Vec<_>>>()?;
            for i in 0..inner {
                let point = row * inner + i;
                self.at(op, space, point)?;
                let results = self.atoms(&op.body.result)?;
                for (out, value) in outs[folded..].iter().zip(&results[folded..]) {
                    out.write_at(point, value)?;
                }
                let mut elems = results.into_iter();
                for acc in &mut accs {
                    let n = acc.arity();
                    acc.add(self, elems.by_ref().take(n).map(Ok))?;
                }
                if scan {
                    write_all(&outs, &accs, point)?;
                }
            }
            if !scan {
                write_all(&outs, &accs, row)?;
            }
        }
        self.bind(stm, outs.into_iter().map(Output::finish).collect())
    }

    /// A place for the results of a body over a space of these extents.
    fn seg_output(&self, v: Var, outer: &[i64]) -> Run<Output> {
        let Some(elem) = self.program.vars[v].ty.elem() else {
            return internal(format!(
                "{v:?} cannot be the result of a parallel operation"
            ));
        };
        let mut shape = outer.to_vec();
        shape.extend(self.type_shape(v, outer.len())?);
        Ok(Output {
            array: self.meter.alloc(elem, &shape)?,
            outer: outer.len(),
        })
    }
}

/// An array over a space, or a single value if the space has no dimensions.
struct Output {
    array: Array,
    outer: usize,
}

impl Output {
    /// Writes the value of the point with this row-major number.
    fn write_at(&self, point: i64, value: &Val) -> Run<()> {
        let inner = &self.array.dims[self.outer..];
        let size: i64 = inner.iter().map(|d| d.extent).product();
        self.array.view(point * size, inner).write(value)
    }

    fn finish(self) -> Val {
        if self.array.dims.is_empty() {
            Val::Scalar(self.array.buf.data.borrow().get(0))
        } else {
            wrap(self.array)
        }
    }
}

fn write_all(outs: &[Output], accs: &[Accumulator<'_, Seg>], point: i64) -> Run<()> {
    let values = accs.iter().flat_map(|acc| &acc.value);
    for (out, value) in outs.iter().zip(values) {
        out.write_at(point, value)?;
    }
    Ok(())
}
