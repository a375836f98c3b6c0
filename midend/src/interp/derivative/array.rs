//! Operations on arrays of numbers.

use super::{Elements, Eval, Item, Num, regular};
use crate::interp::scalar;
use crate::interp::shape::{Extent, Shape};
use crate::interp::value::{Run, internal};
use crate::ir::array::{ArrayOp, SliceDim, StreamOp};
use crate::ir::id::Var;
use crate::ir::scalar::{BinOp, Const, ScalarOp};
use crate::ir::syntax::Atom;
use crate::ir::types::{Dim, Size, Type};
use std::rc::Rc;

pub(super) fn wrap(shape: Shape, data: Vec<Num>) -> Item {
    if shape.rank() == 0
        && let [num] = &data[..]
    {
        return Item::Num(num.clone());
    }
    Item::Array(Rc::new(Elements { shape, data }))
}

impl Eval<'_, '_> {
    pub(super) fn dims(&self, dims: &[Dim]) -> Run<Shape> {
        let extents = dims.iter().map(|dim| match dim {
            Dim::Size(size) => Ok(Extent::Regular(self.size(*size)?)),
            Dim::Ragged(offsets) => {
                let offsets = self.array(*offsets)?;
                let marks = offsets.data.iter().filter_map(|n| n.constant().as_i64());
                Ok(Extent::Ragged(marks.collect()))
            }
        });
        Shape::new(extents.collect::<Run<_>>()?)
    }

    /// The shape that the type of a variable states, without its first dimensions.
    pub(super) fn stated(&self, v: Var, skip: usize) -> Run<Vec<i64>> {
        let shape = self.machine.program.vars[v].ty.shape();
        match self
            .dims(shape.get(skip..).unwrap_or_default())?
            .as_regular()
        {
            Some(extents) => Ok(extents),
            None => internal("rows of different lengths where rows of one length are"),
        }
    }

    pub(super) fn array_op(&mut self, op: &ArrayOp, binds: &[Var]) -> Run<Item> {
        Ok(match op {
            ArrayOp::Index { array, indices } => {
                let array = self.array(*array)?;
                self.row(&array, indices, binds)?
            }
            ArrayOp::Slice { array, dims } => {
                let array = self.array(*array)?;
                let (positions, shape) = self.positions(&array.shape, dims)?;
                let data = positions.into_iter().map(|i| array.data[i].clone());
                wrap(regular(&shape)?, data.collect())
            }
            ArrayOp::Update { array, dims, value } => {
                let value = self.atom(*value)?;
                let mut array = self.taken(*array)?;
                let (positions, _) = self.positions(&array.shape, dims)?;
                let numbers = super::numbers(&value);
                if positions.len() != numbers.len() {
                    return internal("an update of a part of another shape");
                }
                let own = Rc::make_mut(&mut array);
                for (position, num) in positions.into_iter().zip(numbers) {
                    own.data[position] = num.clone();
                }
                Item::Array(array)
            }
            ArrayOp::Literal { elems, row } => {
                let mut shape = vec![Dim::Size(Size::Const(elems.len() as i64))];
                shape.extend(row.shape());
                let mut data = Vec::new();
                for item in self.atoms(elems)? {
                    data.extend_from_slice(super::numbers(&item));
                }
                wrap(self.dims(&shape)?, data)
            }
            ArrayOp::Iota {
                len,
                start,
                step,
                ty,
            } => {
                let (start, step) = (self.num(*start)?, self.num(*step)?);
                let len = self.size(*len)?;
                let mut data = Vec::new();
                for i in 0..len {
                    let i = scalar::convert::convert(*ty, Const::I64(i));
                    let product = ScalarOp::Bin(BinOp::Mul, *ty);
                    let distance = self.scalar(product, &[Num::Const(i), step.clone()])?;
                    let sum = ScalarOp::Bin(BinOp::Add, *ty);
                    data.push(self.scalar(sum, &[start.clone(), distance])?);
                }
                wrap(regular(&[len])?, data)
            }
            ArrayOp::Replicate { shape, value } => {
                let outer = self.dims(shape)?;
                let value = self.atom(*value)?;
                let row = match &value {
                    Item::Array(array) => match array.shape.as_regular() {
                        Some(row) => row,
                        None => return internal("a ragged array is replicated"),
                    },
                    Item::Num(_) | Item::Cert => Vec::new(),
                };
                let mut data = Vec::new();
                for _ in 0..outer.count() {
                    data.extend_from_slice(super::numbers(&value));
                }
                wrap(outer.with_row(&row)?, data)
            }
            ArrayOp::Scratch { elem, shape } => {
                let shape = self.dims(shape)?;
                let zero = Num::Const(Const::zero(*elem));
                let data = vec![zero; shape.count() as usize];
                wrap(shape, data)
            }
            ArrayOp::Copy(array) | ArrayOp::Manifest { array, .. } => {
                Item::Array(self.array(*array)?)
            }
            ArrayOp::Concat { arrays, len } => {
                let mut data = Vec::new();
                let mut row = Vec::new();
                for array in arrays {
                    let array = self.array(*array)?;
                    row = array.shape.regular_from(1).unwrap_or_default();
                    data.extend_from_slice(&array.data);
                }
                row.insert(0, self.size(*len)?);
                wrap(regular(&row)?, data)
            }
            ArrayOp::Rearrange { perm, array } => {
                let array = self.array(*array)?;
                let Some(from) = array.shape.as_regular() else {
                    return internal("a ragged array is rearranged");
                };
                let strides = strides(&from);
                let shape: Vec<i64> = perm.iter().map(|&p| from[p]).collect();
                let steps: Vec<i64> = perm.iter().map(|&p| strides[p]).collect();
                let data = all_positions(&shape, &steps, 0).into_iter();
                let data = data.map(|i| array.data[i].clone()).collect();
                wrap(regular(&shape)?, data)
            }
            ArrayOp::Reshape { shape, array } => {
                let shape = self.dims(shape)?;
                let array = self.array(*array)?;
                if shape.count() != array.data.len() as i64 {
                    return internal("an array is reshaped to another number of elements");
                }
                wrap(shape, array.data.clone())
            }
            // All that is left, as in parallel code.
            ArrayOp::Stream(stream) if stream.op == StreamOp::Next => {
                Item::Num(self.num(stream.whole())?)
            }
            ArrayOp::Trace(_) | ArrayOp::Stream(_) => {
                return internal("what is for the outside is in a derivative");
            }
        })
    }

    fn indices(&self, indices: &[Atom]) -> Run<Vec<i64>> {
        indices.iter().map(|i| self.int(*i)).collect()
    }

    /// An element or a row.
    fn row(&self, array: &Elements, indices: &[Atom], binds: &[Var]) -> Run<Item> {
        let (shape, k) = (&array.shape, indices.len());
        let indices = self.indices(indices)?;
        let Some(at) = shape.position(indices.iter().copied()) else {
            return internal(format!(
                "index {indices:?} is outside of {:?}",
                shape.extents()
            ));
        };
        if k == shape.rank() {
            return Ok(Item::Num(array.data[at as usize].clone()));
        }
        let (lo, hi) = (shape.start(k, at), shape.start(k, at + 1));
        let (first, last) = shape.row(k, at);
        let mut extents = vec![last - first];
        match (shape.regular_from(k + 1), binds) {
            (Some(inner), _) => extents.extend(inner),
            (None, [.., v]) => extents = self.stated(*v, 0)?,
            (None, []) => {}
        }
        let data = array.data[lo as usize..hi as usize].to_vec();
        Ok(wrap(regular(&extents)?, data))
    }

    /// Where a part of an array is, and its shape.
    fn positions(&self, shape: &Shape, parts: &[SliceDim]) -> Run<(Vec<usize>, Vec<i64>)> {
        let fixed = parts.iter().map_while(|part| match part {
            SliceDim::Fix(i) => Some(*i),
            SliceDim::Range { .. } => None,
        });
        let fixed: Vec<Atom> = fixed.collect();
        let at = shape.position(self.indices(&fixed)?.into_iter());
        let (Some(at), Some(inner)) = (at, shape.regular_from(fixed.len())) else {
            return internal("a part outside of its array, and no check before it");
        };
        let mut offset = shape.start(fixed.len(), at);
        let (mut extents, mut steps) = (Vec::new(), Vec::new());
        let strides = strides(&inner);
        let rest = &parts[fixed.len()..];
        for (k, part) in rest.iter().enumerate() {
            match *part {
                SliceDim::Fix(i) => {
                    let i = self.int(i)?;
                    if !(0..inner[k]).contains(&i) {
                        return internal("a part outside of its array, and no check before it");
                    }
                    offset += i * strides[k];
                }
                SliceDim::Range { start, len, stride } => {
                    let (start, len, stride) =
                        (self.int(start)?, self.size(len)?, self.int(stride)?);
                    let last = start + (len - 1).max(0) * stride;
                    let all = 0..inner[k];
                    if len < 0 || len > 0 && !(all.contains(&start) && all.contains(&last)) {
                        return internal("a part outside of its array, and no check before it");
                    }
                    offset += if len == 0 { 0 } else { start * strides[k] };
                    extents.push(len);
                    steps.push(stride * strides[k]);
                }
            }
        }
        extents.extend(&inner[rest.len()..]);
        steps.extend(&strides[rest.len()..]);
        Ok((all_positions(&extents, &steps, offset), extents))
    }

    /// Rows put together to the array that a variable is for.
    pub(super) fn collected(&self, v: Var, width: i64, data: Vec<Num>) -> Run<Item> {
        let Type::Array(_) = self.machine.program.vars[v].ty else {
            return internal("rows are put together to no array");
        };
        let mut shape = vec![width];
        shape.extend(self.stated(v, 1)?);
        let shape = regular(&shape)?;
        if shape.count() != data.len() as i64 {
            return internal("rows of another shape than their array has");
        }
        Ok(wrap(shape, data))
    }
}

fn strides(shape: &[i64]) -> Vec<i64> {
    let mut stride = 1;
    let mut strides: Vec<i64> = shape
        .iter()
        .rev()
        .map(|n| {
            let own = stride;
            stride *= n;
            own
        })
        .collect();
    strides.reverse();
    strides
}

/// The positions of all elements in row-major order.
fn all_positions(shape: &[i64], steps: &[i64], offset: i64) -> Vec<usize> {
    let mut positions = vec![offset];
    for (n, step) in shape.iter().zip(steps) {
        positions = positions
            .iter()
            .flat_map(|at| (0..*n).map(move |i| at + i * step))
            .collect();
    }
    positions.into_iter().map(|at| at as usize).collect()
}
