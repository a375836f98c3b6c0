//! Ragged arrays: a vector of elements, and a shape that says which of them make a row.

use super::{Dim, Machine, Shape, wrap};
use crate::interp::machine::Exec;
use crate::interp::value::{Array, Run, Val, dense_dims, internal};
use crate::ir::array::SliceDim;
use crate::ir::id::Var;
use crate::ir::syntax::Atom;

impl<D: Exec> Machine<'_, D> {
    /// An element of a ragged array, or a row, all rows of which have the lengths that the type of what is bound states.
    pub(super) fn ragged_row(
        &self,
        array: &Array,
        shape: &Shape,
        indices: &[Atom],
        binds: &[Var],
    ) -> Run<Val> {
        if indices.is_empty() {
            return Ok(wrap(array.clone()));
        }
        let (k, at) = (indices.len(), self.ragged_position(shape, indices)?);
        if k == shape.rank() {
            let c = array.buf.data.borrow().get((array.offset + at) as usize);
            return Ok(Val::Scalar(c));
        }
        let (mut lo, mut hi) = shape.row(k, at);
        let mut extents = vec![hi - lo];
        match shape.regular_from(k + 1) {
            Some(inner) => extents.extend(inner),
            None => {
                let mut stated = binds.iter().map(|&v| self.program.vars[v].ty.shape());
                let stated = self.dims(stated.next_back().unwrap_or_default())?;
                extents = stated.as_regular().unwrap_or_default();
                (lo, hi) = (shape.start(k, at), shape.start(k, at + 1));
                if hi - lo != extents.iter().product() {
                    return internal("rows of a row do not have the length that is stated");
                }
                let dims = dense_dims(&extents);
                return Ok(wrap(array.view(array.offset + lo, &dims)));
            }
        }
        let dims = dense_dims(&extents);
        Ok(wrap(array.view(array.offset + lo * dims[0].stride, &dims)))
    }

    /// Offset and dimensions of a part of a ragged array: an element, or a part of a regular row.
    pub(super) fn ragged_part(
        &self,
        array: &Array,
        shape: &Shape,
        parts: &[SliceDim],
    ) -> Run<(i64, Vec<Dim>)> {
        let fixed = parts.iter().map_while(|part| match *part {
            SliceDim::Fix(i) => Some(i),
            SliceDim::Range { .. } => None,
        });
        let fixed: Vec<Atom> = fixed.collect();
        let at = self.ragged_position(shape, &fixed)?;
        let dims = dense_dims(&inner(shape, fixed.len())?);
        let size: i64 = dims.iter().map(|d| d.extent).product();
        let row = array.view(array.offset + at * size, &dims);
        self.slice(&row, &parts[fixed.len()..])
    }

    pub(super) fn ragged_replicate(&self, outer: Shape, value: Atom) -> Run<Val> {
        let value = self.atom(value)?;
        let (elem, row) = match &value {
            Val::Scalar(c) => (c.ty(), Vec::new()),
            Val::Array(row) => (row.elem(), row.shape()),
            Val::Buffer(_) | Val::Cert | Val::Unset | Val::Gone => {
                return internal("what is replicated is no value");
            }
        };
        let shape = outer.with_row(&row)?;
        let array = self.meter.alloc_shaped(elem, &shape)?;
        let dims = dense_dims(&row);
        let size: i64 = row.iter().product();
        for i in 0..if size == 0 { 0 } else { outer.count() } {
            array.view(i * size, &dims).write(&value)?;
        }
        Ok(wrap(array))
    }

    fn ragged_position(&self, shape: &Shape, indices: &[Atom]) -> Run<i64> {
        let indices = indices.iter().map(|&i| self.int(i));
        let indices = indices.collect::<Run<Vec<i64>>>()?;
        match shape.position(indices.iter().copied()) {
            Some(at) => Ok(at),
            None => internal(format!(
                "index {indices:?} is outside of {:?}, and no check before it",
                shape.extents()
            )),
        }
    }
}

/// The extents of the dimensions from `k` on, none of which is ragged.
fn inner(shape: &Shape, k: usize) -> Run<Vec<i64>> {
    match shape.regular_from(k) {
        Some(extents) => Ok(extents),
        None => internal("a part of a ragged array is itself ragged"),
    }
}
