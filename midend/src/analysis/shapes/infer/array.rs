//! What array operations make: elements as functions of indices.

use super::Infer;
use crate::analysis::shapes::Extent;
use crate::analysis::shapes::form::{Form, Nest, Value};
use crate::ir::array::{ArrayOp, SliceDim};
use crate::ir::id::Var;
use crate::ir::soac::Soac;
use crate::ir::syntax::Stm;
use crate::ir::types::ScalarType;

/// The index of a dimension of a result that is being described: no operation has this number.
const fn open(dim: usize) -> Nest {
    Nest(u32::MAX - 1 - dim as u32)
}

impl<'p> Infer<'p> {
    /// Binds the result of an array operation.
    pub(super) fn array_op(&mut self, stm: &'p Stm<Soac>, op: &ArrayOp) {
        let value = self.made(op);
        self.bind_all(stm, &[value]);
        if let ArrayOp::Concat { arrays, len } = op {
            // The length is the sum of the lengths, or there is no run.
            let lengths: Vec<Form> = arrays.iter().filter_map(|v| self.length(*v)).collect();
            let zero = self.table.constant(0);
            let sum = lengths
                .iter()
                .try_fold(zero, |n, m| self.table.add(n, 1, *m));
            let len = self.size(*len);
            if let (Some(sum), true) = (sum, lengths.len() == arrays.len()) {
                self.equal(len, sum, stm.span);
            }
        }
    }

    /// The outermost extent.
    pub(super) fn length(&self, v: Var) -> Option<Form> {
        match self.known[v].shape.first()? {
            Extent::Fixed(f) => Some(*f),
            Extent::Varying(_) => None,
        }
    }

    fn made(&mut self, op: &ArrayOp) -> Option<Value> {
        match op {
            ArrayOp::Index { array, indices } => {
                let at: Option<Vec<Form>> = indices.iter().map(|i| self.scalar(*i)).collect();
                let value = self.picked(*array, &at?)?;
                Some(self.resolved(value))
            }
            ArrayOp::Slice { array, dims } => self.slice(*array, dims),
            ArrayOp::Iota {
                len: _,
                start,
                step,
                ty: ScalarType::I64,
            } => {
                let (start, step) = (self.scalar(*start)?, self.scalar(*step)?);
                let i = self.table.at_index(open(0));
                let way = self.table.mul(i, step)?;
                let element = self.table.add(start, 1, way)?;
                self.close(Value::Scalar(element), 1)
            }
            ArrayOp::Replicate { shape, value } => {
                let value = self.now(*value)?;
                self.close(value, shape.len())
            }
            ArrayOp::Copy(array) | ArrayOp::Manifest { perm: _, array } => {
                self.now((*array).into())
            }
            ArrayOp::Rearrange { perm, array } => {
                // Dimension `perm[i]` of the array is indexed by index `i` of the result.
                let mut at = Vec::new();
                for d in 0..perm.len() {
                    let i = perm.iter().position(|p| *p == d)?;
                    at.push(self.table.at_index(open(i)));
                }
                let element = self.picked(*array, &at)?;
                self.close(element, perm.len())
            }
            ArrayOp::Reshape { shape, array } => {
                let same = self.known[*array].shape.len() == shape.len() && shape.len() == 1;
                self.now((*array).into()).filter(|_| same)
            }
            ArrayOp::Update { .. }
            | ArrayOp::Literal { .. }
            | ArrayOp::Iota { .. }
            | ArrayOp::Scratch { .. }
            | ArrayOp::Concat { .. }
            | ArrayOp::Trace(_)
            | ArrayOp::Stream(_) => None,
        }
    }

    /// What is at some indices of an array.
    fn picked(&mut self, array: Var, at: &[Form]) -> Option<Value> {
        match self.atom(array.into())? {
            Value::Array(family) => self.table.rows(family, at),
            Value::Scalar(_) => None,
        }
    }

    fn slice(&mut self, array: Var, dims: &[SliceDim]) -> Option<Value> {
        let mut at = Vec::new();
        let mut kept = 0;
        for dim in dims {
            at.push(match *dim {
                SliceDim::Fix(i) => self.scalar(i)?,
                SliceDim::Range {
                    start,
                    len: _,
                    stride,
                } => {
                    let i = self.table.at_index(open(kept));
                    kept += 1;
                    let (start, stride) = (self.scalar(start)?, self.scalar(stride)?);
                    let way = self.table.mul(i, stride)?;
                    self.table.add(start, 1, way)?
                }
            });
        }
        let element = self.picked(array, &at)?;
        self.close(element, kept)
    }

    /// An array of `rank` dimensions around a value in which their indices are open.
    fn close(&mut self, value: Value, rank: usize) -> Option<Value> {
        (0..rank).rev().try_fold(value, |value, dim| {
            self.table.abstracted(value, open(dim)).map(Value::Array)
        })
    }
}
