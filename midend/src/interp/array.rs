//! Array operations. Views alias, updates write in place, everything else is made fresh.

mod ragged;

use super::machine::{Exec, Machine};
use super::scalar;
use super::shape::Shape;
use super::strided;
use super::value::{Array, Dim, Run, Val, internal};
use crate::ir;
use crate::ir::array::{ArrayOp, SliceDim, Stream, StreamOp, Trace};
use crate::ir::id::Var;
use crate::ir::scalar::{BinOp, Const, ScalarOp};
use crate::ir::syntax::{Atom, Stm};
use crate::ir::types::{ScalarType, Size};
use crate::stream::{Room, read_sizes, sizes_of};
use crate::value::Value;
use std::rc::Rc;

impl<D: Exec> Machine<'_, D> {
    /// Executes an array operation.
    pub(crate) fn array_op(&mut self, op: &ArrayOp, stm: &Stm<D>) -> Run<()> {
        if let ArrayOp::Trace(trace) = op {
            return self.trace(trace);
        }
        if let ArrayOp::Stream(stream) = op {
            return self.stream(stream, stm);
        }
        let value = self.array_value(op, &stm.binds)?;
        self.bind_one(stm, value)
    }

    /// Shows a value, if somebody looks.
    fn trace(&self, trace: &Trace) -> Run<()> {
        let Some(tracer) = self.options.tracer else {
            return Ok(());
        };
        let values = self.outside(&trace.values)?;
        tracer.show(&trace.label, &trace.ty, &values);
        Ok(())
    }

    /// Values as the outside gets them.
    fn outside(&self, atoms: &[Atom]) -> Run<Vec<Value>> {
        let mut values = Vec::with_capacity(atoms.len());
        for &atom in atoms {
            values.push(match self.atom(atom)? {
                Val::Scalar(c) => Value::Scalar(c),
                Val::Array(array) => Value::Array(array.to_value()),
                Val::Buffer(_) | Val::Cert | Val::Unset | Val::Gone => {
                    return internal("what is no value goes out");
                }
            });
        }
        Ok(values)
    }

    /// A step of a sequence.
    fn stream(&mut self, stream: &Stream, stm: &Stm<D>) -> Run<()> {
        match stream.op {
            StreamOp::Next => {
                let mut args = stream.args.iter();
                let mut int = || args.next().map_or(Ok(1), |&a| self.int(a));
                let (before, left) = (int()?, int()?);
                let room = Room::default();
                let next = self
                    .options
                    .streams
                    .next(stream.stream, before, left, &room);
                self.bind_one(stm, Val::Scalar(next.into()))
            }
            StreamOp::Read => {
                let Some(&most) = stream.args.first() else {
                    return internal("a sequence is read without saying how much");
                };
                let outside = self.options.streams.outside().map_err(Box::new)?;
                let values = outside
                    .read(stream.stream, self.int(most)?)
                    .map_err(Box::new)?;
                let places = sizes_of(&self.program.vars, &stm.binds);
                let sizes = places.and_then(|places| {
                    read_sizes(|array| values.get(array).map(Value::shape), &places)
                });
                let Some(sizes) = sizes else {
                    return internal("the sizes of what is read are not known");
                };
                let mut all: Vec<Val> = sizes.into_iter().map(|n| Val::Scalar(n.into())).collect();
                for value in values {
                    all.push(match value {
                        Value::Scalar(c) => Val::Scalar(c),
                        Value::Array(a) => Val::Array(Rc::new(Array::from_value(a, &self.meter))),
                    });
                }
                self.bind(stm, all)
            }
            StreamOp::Write => {
                let values = self.outside(&stream.args)?;
                let outside = self.options.streams.outside().map_err(Box::new)?;
                outside.write(values).map_err(Box::new)
            }
        }
    }

    /// The value of an array operation.
    fn array_value(&mut self, op: &ArrayOp, binds: &[Var]) -> Run<Val> {
        match op {
            ArrayOp::Index { array, indices } => self.index(*array, indices, binds),
            ArrayOp::Slice { array, dims } => {
                let array = self.array(*array)?;
                let (offset, dims) = self.slice(&array, dims)?;
                Ok(wrap(array.view(offset, &dims)))
            }
            ArrayOp::Update { array, dims, value } => {
                let array = self.array(*array)?;
                let value = self.atom(*value)?;
                let array = self.taken(&array)?;
                let (offset, dims) = self.slice(&array, dims)?;
                array.view(offset, &dims).write(&value)?;
                Ok(wrap(array))
            }
            ArrayOp::Literal { elems, row } => self.literal(elems, row),
            ArrayOp::Iota {
                len,
                start,
                step,
                ty,
            } => self.iota(*len, *start, *step, *ty),
            ArrayOp::Replicate { shape, value } => self.replicate(shape, *value),
            ArrayOp::Scratch { elem, shape } => {
                let shape = self.dims(shape)?;
                Ok(wrap(self.meter.alloc_shaped(*elem, &shape)?))
            }
            ArrayOp::Copy(array) => {
                let array = self.array(*array)?;
                Ok(wrap(self.fresh_copy(&array)?))
            }
            ArrayOp::Concat { arrays, len } => self.concat(arrays, *len),
            ArrayOp::Rearrange { perm, array } => {
                let array = self.array(*array)?;
                Ok(wrap(rearrange(&array, perm)?))
            }
            ArrayOp::Reshape { shape, array } => {
                let shape = self.dims(shape)?;
                let array = self.array(*array)?;
                self.reshape(&array, shape)
            }
            ArrayOp::Manifest { perm, array } => {
                let array = self.array(*array)?;
                if array.ragged.is_some() {
                    return Ok(wrap(self.fresh_copy(&array)?));
                }
                let inner = self.fresh_copy(&rearrange(&array, perm)?)?;
                let mut back = vec![0; perm.len()];
                for (i, &p) in perm.iter().enumerate() {
                    back[p] = i;
                }
                Ok(wrap(rearrange(&inner, &back)?))
            }
            ArrayOp::Trace(_) | ArrayOp::Stream(_) => {
                internal("what is for the outside has no value")
            }
        }
    }

    /// A fresh array with the same elements, row-major.
    pub(crate) fn fresh_copy(&self, array: &Array) -> Run<Array> {
        let copy = self.meter.alloc(array.elem(), &array.shape())?;
        copy.write(&Val::Array(Rc::new(array.clone())))?;
        let ragged = array.ragged.clone();
        Ok(Array { ragged, ..copy })
    }

    /// The successor of an array that is consumed, to be written: nobody looks at the array itself any more.
    pub(crate) fn taken(&self, array: &Array) -> Run<Array> {
        // Other arrays may have the elements of one that repeats: they are never written.
        if array.repeats {
            self.fresh_copy(array)
        } else {
            Ok(array.consumed())
        }
    }

    /// A value that shares nothing with others.
    pub(crate) fn unshared(&self, value: Val) -> Run<Val> {
        match value {
            Val::Array(array) => Ok(wrap(self.fresh_copy(&array)?)),
            Val::Scalar(_) | Val::Buffer(_) | Val::Cert | Val::Unset | Val::Gone => Ok(value),
        }
    }

    fn index(&self, v: Var, indices: &[Atom], binds: &[Var]) -> Run<Val> {
        let array = self.array(v)?;
        if indices.len() > array.rank() {
            return internal("an array is indexed with too many indices");
        }
        if let Some(shape) = &array.ragged {
            return self.ragged_row(&array, shape, indices, binds);
        }
        let mut offset = array.offset;
        for (dim, &index) in array.dims.iter().zip(indices) {
            let i = self.int(index)?;
            if i < 0 || i >= dim.extent {
                return internal(format!(
                    "index {i} is outside of {} rows, and no check before it",
                    dim.extent
                ));
            }
            offset += i * dim.stride;
        }
        if indices.len() == array.dims.len() {
            let c = array.buf.data.borrow().get(offset as usize);
            return Ok(Val::Scalar(c));
        }
        Ok(wrap(array.view(offset, &array.dims[indices.len()..])))
    }

    /// Offset and dimensions of a part of an array.
    fn slice(&self, array: &Array, parts: &[SliceDim]) -> Run<(i64, Vec<Dim>)> {
        if parts.len() > array.rank() {
            return internal("an array is sliced in too many dimensions");
        }
        if let Some(shape) = &array.ragged {
            return self.ragged_part(array, shape, parts);
        }
        let mut offset = array.offset;
        let mut dims = Vec::with_capacity(array.dims.len());
        for (dim, part) in array.dims.iter().zip(parts) {
            let start = match *part {
                SliceDim::Fix(index) => {
                    let i = self.int(index)?;
                    check_range(i, 1, 1, dim.extent)?;
                    i
                }
                SliceDim::Range { start, len, stride } => {
                    let (start, len) = (self.int(start)?, self.size(len)?);
                    let stride = self.int(stride)?;
                    check_range(start, len, stride, dim.extent)?;
                    dims.push(Dim {
                        extent: len,
                        stride: dim.stride.wrapping_mul(stride),
                    });
                    // The start of an empty part may lie anywhere.
                    if len == 0 { 0 } else { start }
                }
            };
            offset += start * dim.stride;
        }
        dims.extend(&array.dims[parts.len()..]);
        Ok((offset, dims))
    }

    fn literal(&self, elems: &[Atom], row: &crate::ir::types::Type) -> Run<Val> {
        let Some(elem) = row.elem() else {
            return internal("an array of certificates");
        };
        let mut shape = vec![elems.len() as i64];
        for &dim in row.shape() {
            shape.push(self.extent(dim)?);
        }
        let array = self.meter.alloc(elem, &shape)?;
        for (i, &a) in elems.iter().enumerate() {
            write_row(&array, i as i64, &self.atom(a)?)?;
        }
        Ok(wrap(array))
    }

    fn iota(&self, len: Size, start: Atom, step: Atom, ty: ScalarType) -> Run<Val> {
        let shape = self.shape(&[len])?;
        let (start, step) = (self.scalar(start)?, self.scalar(step)?);
        let array = self.meter.alloc(ty, &shape)?;
        let mut data = array.buf.data.borrow_mut();
        if let (crate::value::Data::I64(v), Const::I64(a), Const::I64(d)) =
            (&mut *data, start, step)
        {
            for (x, i) in v.iter_mut().zip(0..) {
                *x = a.wrapping_add(d.wrapping_mul(i));
            }
        } else {
            for i in 0..shape[0] {
                let x = iota_element(start, step, i, ty);
                data.set(i as usize, x.or_else(|trap| internal(trap.to_string()))?);
            }
        }
        drop(data);
        Ok(wrap(array))
    }

    fn replicate(&self, outer: &[ir::types::Dim], value: Atom) -> Run<Val> {
        let shape = self.dims(outer)?;
        let Some(outer) = shape.as_regular() else {
            return self.ragged_replicate(shape, value);
        };
        match self.atom(value)? {
            Val::Scalar(c) => {
                if outer.is_empty() {
                    return Ok(Val::Scalar(c));
                }
                let array = self.meter.alloc(c.ty(), &outer)?;
                if c != Const::zero(c.ty()) {
                    strided::fill(&mut array.buf.data.borrow_mut(), c);
                }
                Ok(wrap(array))
            }
            Val::Array(row) => {
                // A row that does not repeat itself may be written later.
                let row = match row.repeats {
                    true => (*row).clone(),
                    false => self.fresh_copy(&row)?,
                };
                Ok(wrap(row.repeated(&outer)?))
            }
            Val::Buffer(_) | Val::Cert | Val::Unset | Val::Gone => {
                internal("what is replicated is no value")
            }
        }
    }

    fn concat(&self, arrays: &[Var], len: Size) -> Run<Val> {
        let len = self.size(len)?;
        let arrays = arrays
            .iter()
            .map(|&v| self.array(v))
            .collect::<Run<Vec<_>>>()?;
        let Some(first) = arrays.first() else {
            return internal("a concatenation of no arrays");
        };
        let total: i64 = arrays.iter().map(|a| a.dims[0].extent).sum();
        if total != len {
            return internal(format!(
                "arrays of {total} rows in all are joined to {len} rows"
            ));
        }
        let mut shape = first.shape();
        shape[0] = len;
        let result = self.meter.alloc(first.elem(), &shape)?;
        let mut row = 0;
        for array in arrays {
            let mut dims = result.dims.to_vec();
            dims[0].extent = array.dims[0].extent;
            let offset = row * result.dims[0].stride;
            row += dims[0].extent;
            result.view(offset, &dims).write(&Val::Array(array))?;
        }
        Ok(wrap(result))
    }

    fn reshape(&self, array: &Rc<Array>, shape: Shape) -> Run<Val> {
        let count = shape.count();
        if count != array.count() {
            return internal(format!(
                "shape {:?} is reshaped to {shape:?}",
                array.shape()
            ));
        }
        if shape.rank() == 0 {
            let at = array.offset as usize;
            return Ok(Val::Scalar(array.buf.data.borrow().get(at)));
        }
        let dims = super::value::dense_dims(&[count]);
        let flat = if array.is_dense() {
            array.view(array.offset, &dims)
        } else {
            self.fresh_copy(array)?.view(0, &dims)
        };
        Ok(wrap(flat.shaped(shape)))
    }
}

/// `start + i * step` in the type of the elements: integers wrap, floats round after each step.
fn iota_element(
    start: Const,
    step: Const,
    i: i64,
    ty: ScalarType,
) -> Result<Const, scalar::ScalarTrap> {
    let i = scalar::convert::convert(ty, Const::I64(i));
    let distance = scalar::eval(ScalarOp::Bin(BinOp::Mul, ty), &[i, step])?;
    scalar::eval(ScalarOp::Bin(BinOp::Add, ty), &[start, distance])
}

fn check_range(start: i64, len: i64, stride: i64, extent: i64) -> Run<()> {
    let (start, len, extent) = (i128::from(start), i128::from(len), i128::from(extent));
    let last = start + (len - 1) * i128::from(stride);
    let inside = |i| (0..extent).contains(&i);
    if len < 0 || (len > 0 && !(inside(start) && inside(last))) {
        return internal(format!(
            "{len} rows from {start} with stride {stride} are taken of {extent} rows, and no check before it"
        ));
    }
    Ok(())
}

fn rearrange(array: &Array, perm: &[usize]) -> Run<Array> {
    let dims: Option<Vec<Dim>> = perm.iter().map(|&p| array.dims.get(p).copied()).collect();
    match dims {
        Some(dims) if dims.len() == array.dims.len() => Ok(array.view(array.offset, &dims)),
        Some(_) | None => internal("a permutation of other dimensions than the array has"),
    }
}

/// Replaces row `i`, which is in range.
pub(crate) fn write_row(array: &Array, i: i64, value: &Val) -> Run<()> {
    let offset = array.offset + i * array.dims[0].stride;
    if let (Val::Scalar(c), 1) = (value, array.dims.len()) {
        let mut data = array.buf.data.borrow_mut();
        if c.ty() != data.elem() {
            return internal("an element of another type is written to an array");
        }
        data.set(offset as usize, *c);
        return Ok(());
    }
    array.view(offset, &array.dims[1..]).write(value)
}

/// The array as a value.
pub(crate) fn wrap(array: Array) -> Val {
    Val::Array(Rc::new(array))
}
