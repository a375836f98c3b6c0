//! Stepping through the range of points of a unit, a row of the innermost dimension after the other.

use super::{Lower, Refused, Val};
use crate::vector::ir::{Address, Cell, Cond, IntOp, Op, Type, Value};
use midend::ir::id::Var;
use midend::ir::mem::{Extent, Kernel};
use midend::ir::syntax::Atom;

/// Executes the body for a range of an index.
type Row<'r, L> = dyn FnMut(&mut L, Var, (Value, Value)) -> Result<(), Refused> + 'r;

impl Lower<'_> {
    /// Executes the body for all points of the range that the parameters of a unit say.
    pub(super) fn points(&mut self, kernel: &Kernel, p: &[Value]) -> Result<(), Refused> {
        if let [
            (row, Extent::Regular(_)),
            (index, Extent::Ragged { offsets, start }),
        ] = kernel.space[..]
        {
            return self.ragged_rows(kernel, p, (row, index), (offsets, start));
        }
        let mut extents = Vec::new();
        for (index, extent) in &kernel.space {
            match extent {
                Extent::Regular(n) => match self.val(*n)? {
                    Val::Int(n) => extents.push((*index, n)),
                    _ => return Err(Refused("an extent that varies".to_owned())),
                },
                Extent::Ragged { .. } => {
                    return Err(Refused("rows of different lengths".to_owned()));
                }
            }
        }
        self.rows(&extents, (p[0], p[1]), &mut |this, index, range| {
            this.row(kernel, index, range)
        })
    }

    /// Executes `row` for every run of points that differ in the innermost dimension only, with that part of the range of its index.
    fn rows(
        &mut self,
        space: &[(Var, Value)],
        (lo, hi): (Value, Value),
        row: &mut Row<'_, Self>,
    ) -> Result<(), Refused> {
        let ((innermost, width), outer) = space
            .split_last()
            .ok_or_else(|| Refused("a single point".to_owned()))?;
        if outer.is_empty() {
            return row(self, *innermost, (lo, hi));
        }
        // The number of the point, then the index in each dimension.
        let mut rest = lo;
        let mut start = Vec::new();
        for (_, extent) in space.iter().skip(1).rev() {
            start.push(self.op(IntOp::RemU, rest, *extent));
            rest = self.op(IntOp::DivU, rest, *extent);
        }
        start.push(rest);
        start.push(lo);
        start.reverse();
        let header = self.block(&vec![Type::I64; space.len() + 1]);
        let (next, exit) = (self.block(&[]), self.block(&[]));
        self.jump(header, start);

        let state = self.switch(header);
        let (flat, first) = (state[0], state[space.len()]);
        for ((index, _), value) in outer.iter().zip(&state[1..]) {
            self.values.insert(*index, Val::Int(*value));
        }
        let left = self.op(IntOp::Sub, hi, flat);
        let last = self.op(IntOp::Add, first, left);
        let inside = self.compare(Cond::LtS, last, *width);
        let last = self.select(inside, last, *width);
        let base = self.op(IntOp::Sub, flat, first);
        row(self, *innermost, (first, last))?;
        let flat = self.op(IntOp::Add, base, last);
        let more = self.compare(Cond::LtS, flat, hi);
        self.branch(more, (next, vec![]), (exit, vec![]));

        self.switch(next);
        let zero = self.int(Type::I64, 0);
        let mut stepped = vec![zero];
        let mut carry = self.int(Type::I64, 1);
        for ((_, extent), index) in outer.iter().zip(&state[1..]).rev() {
            let sum = self.op(IntOp::Add, *index, carry);
            let wraps = self.compare(Cond::Eq, sum, *extent);
            stepped.push(self.select(wraps, zero, sum));
            carry = self.push(Type::I64, Op::Extend(wraps, 32, false));
        }
        stepped.push(flat);
        stepped.reverse();
        self.jump(header, stepped);
        self.switch(exit);
        Ok(())
    }

    /// Executes the body for the points of rows of different lengths: from a row to one that is not finished any more, those of a range of
    /// numbers of points.
    fn ragged_rows(
        &mut self,
        kernel: &Kernel,
        p: &[Value],
        (row, index): (Var, Var),
        (offsets, start): (Var, Var),
    ) -> Result<(), Refused> {
        let (first, unfinished, lo, hi) = (p[0], p[1], p[2], p[3]);
        let Val::Shared(offsets) = self.val(Atom::Var(offsets))? else {
            return Err(Refused("offsets that lanes have for themselves".to_owned()));
        };
        let offset_of = |this: &mut Self, row: Value, rows_further: i32| {
            let at = Address {
                base: offsets,
                index: Some((row, 8)),
                offset: 8 * rows_further,
            };
            this.push(Type::I64, Op::Load(Cell::W64, at))
        };
        let begins = offset_of(self, unfinished, 0);
        let begun = self.compare(Cond::LtS, begins, hi);
        let begun = self.push(Type::I64, Op::Extend(begun, 32, false));
        let end = self.op(IntOp::Add, unfinished, begun);
        let (inside, exit) = (self.block(&[Type::I64]), self.block(&[]));
        let any = self.compare(Cond::LtS, first, end);
        self.branch(any, (inside, vec![first]), (exit, vec![]));
        let number = self.switch(inside)[0];
        let (base, past) = (offset_of(self, number, 0), offset_of(self, number, 1));
        self.values.insert(row, Val::Int(number));
        self.values.insert(start, Val::Int(base));
        let from_start = self.compare(Cond::LtS, lo, base);
        let from = self.select(from_start, base, lo);
        let to_end = self.compare(Cond::LtS, past, hi);
        let to = self.select(to_end, past, hi);
        let range = (
            self.op(IntOp::Sub, from, base),
            self.op(IntOp::Sub, to, base),
        );
        self.row(kernel, index, range)?;
        let next = self.op_const(IntOp::Add, number, 1);
        let more = self.compare(Cond::LtS, next, end);
        self.branch(more, (inside, vec![next]), (exit, vec![]));
        self.switch(exit);
        Ok(())
    }

    /// Executes the body for a run of points: as many at a time as there are lanes, the last ones under a mask.
    fn row(
        &mut self,
        kernel: &Kernel,
        index: Var,
        (first, last): (Value, Value),
    ) -> Result<(), Refused> {
        let (inside, exit) = (self.block(&[Type::I64]), self.block(&[]));
        let any = self.compare(Cond::LtS, first, last);
        self.branch(any, (inside, vec![first]), (exit, vec![]));
        let at = self.switch(inside)[0];
        let left = self.op(IntOp::Sub, last, at);
        let lanes = self.int(Type::I64, self.lanes());
        let full = self.compare(Cond::LtS, lanes, left);
        let count = self.select(full, lanes, left);
        self.mask = Some(self.push(Type::Mask, Op::FirstLanes(count)));
        self.values.insert(index, Val::Linear(at, 1));
        self.count_scalar(1.0);
        let takes = super::memory::takes_memory(&kernel.body);
        let before = takes.then(|| self.arena());
        self.body(&kernel.body)?;
        if let Some(before) = before {
            self.release(before);
        }
        self.mask = None;
        self.poll();
        let next = self.op_const(IntOp::Add, at, self.lanes());
        let more = self.compare(Cond::LtS, next, last);
        self.branch(more, (inside, vec![next]), (exit, vec![]));
        self.switch(exit);
        Ok(())
    }
}
