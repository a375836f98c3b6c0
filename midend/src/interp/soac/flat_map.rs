//! Flat map: the rows that a lambda makes, one after another.

use super::{Inputs, Output};
use crate::interp::array::wrap;
use crate::interp::machine::Machine;
use crate::interp::value::{Array, Run, Val, internal};
use crate::ir::id::Var;
use crate::ir::scalar::Const;
use crate::ir::soac::Soac;
use crate::ir::syntax::{Atom, Stm};
use crate::ir::types::Size;
use crate::value::Data;
use std::rc::Rc;

impl<'p> Machine<'p, Soac> {
    pub(super) fn flat_map(
        &mut self,
        stm: &'p Stm<Soac>,
        inputs: &Inputs<'p>,
        rows: usize,
        marks: Size,
    ) -> Run<()> {
        let results = &inputs.lam.body.result;
        if results.len() <= rows || stm.binds.len() != results.len() + 1 {
            return internal("a flat map has a wrong number of results");
        }
        if self.size(marks)? != inputs.width + 1 {
            return internal("a flat map has a wrong number of offsets");
        }
        let (own, further) = results[1..].split_at(rows);
        let outs = stm.binds[2 + rows..].iter().zip(further);
        let outs = outs.map(|(&v, &from)| self.output_of(v, inputs.width, from));
        let outs = outs.collect::<Run<Vec<Output>>>()?;
        let mut parts: Vec<Vec<Rc<Array>>> = vec![Vec::new(); rows];
        let mut offsets = vec![0];
        let mut total = 0;
        for i in 0..inputs.width {
            inputs.apply(self, i)?;
            let length = self.length_of_rows(results[0], rows)?;
            for (&atom, parts) in own.iter().zip(&mut parts) {
                parts.push(self.row_of(atom, length)?);
            }
            for out in &outs {
                out.write(self, i)?;
            }
            total = i64::saturating_add(total, length);
            offsets.push(total);
        }
        let marks = [offsets.len() as i64];
        let offsets = Array::dense(self.meter.own(Data::I64(offsets)), &marks);
        let mut values = vec![wrap(offsets), Val::Scalar(Const::I64(total))];
        for (&v, parts) in stm.binds[2..].iter().zip(parts) {
            values.push(wrap(self.joined(v, total, &parts)?));
        }
        values.extend(outs.into_iter().map(|out| wrap(out.array)));
        self.bind(stm, values)
    }

    fn length_of_rows(&self, atom: Atom, rows: usize) -> Run<i64> {
        let length = self.size(Size::of(atom))?;
        if length < 0 && rows > 0 {
            return internal(format!("a row of length {length}"));
        }
        Ok(length)
    }

    fn row_of(&self, atom: Atom, length: i64) -> Run<Rc<Array>> {
        let Some(row) = atom.as_var() else {
            return internal("a row is no array");
        };
        let row = self.array(row)?;
        if row.dims[0].extent != length {
            let found = row.dims[0].extent;
            return internal(format!("a row of length {found} where {length} was said"));
        }
        Ok(row)
    }

    /// Rows one after another.
    fn joined(&self, v: Var, total: i64, parts: &[Rc<Array>]) -> Run<Array> {
        let all = self.output(v, total)?;
        let row = all.dims.iter().skip(1).map(|dim| dim.extent);
        let size = row.fold(1, i64::saturating_mul);
        let mut at = 0;
        for part in parts {
            let length = part.dims[0].extent;
            let mut dims = all.dims.to_vec();
            dims[0].extent = length;
            all.view(at * size, &dims)
                .write(&Val::Array(part.clone()))?;
            at += length;
        }
        Ok(all)
    }
}
