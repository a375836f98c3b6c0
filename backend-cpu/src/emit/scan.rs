//! Scans: a range of inner points for each of a range of outer points, from given starts; and the second pass that
//! puts the sums of earlier chunks in front.

use super::{Emit, clif, plain};
use cranelift_codegen::ir::{InstBuilder, Value};
use midend::ir::mem::{Extent, Kernel, Mem};
use midend::ir::soac::Operator;
use midend::ir::types::ScalarType;

impl Emit<'_, '_> {
    /// Parameters: slots, outer range, inner range, slots of the start, slots for the end, table of results; or for ragged
    /// rows, all of which start with the neutral element: slots, the rows and points of a piece, slots for the end, table.
    pub(super) fn scan(&mut self, kernel: &Kernel, ops: &[Operator<Mem>], p: &[Value]) {
        let tys = super::kernel::components(self.program, ops);
        let table = *p.last().expect("the table is the last parameter");
        let places = self.places(table, tys.len());
        if kernel.has_ragged_rows() {
            let piece = super::ragged::piece(&p[1..]);
            return self.piece_rows(&kernel.space, piece, |emit, row| {
                let start = emit.neutral(ops);
                let sums = emit.scan_row(kernel, ops, &places, (start, row.range, row.base));
                emit.store_slots(p[5], &sums);
            });
        }
        let Some(((_, Extent::Regular(width)), outer)) = kernel.space.split_last() else {
            unreachable!("a scan has a dimension to scan");
        };
        let width = self.atom(*width);
        self.walk(outer, (p[1], p[2]), super::reduce::ROWS, |emit, flat| {
            let start = emit.load_slots(p[5], &tys);
            let base = emit.b.ins().imul(flat, width);
            let sums = emit.scan_row(kernel, ops, &places, (start, (p[3], p[4]), base));
            emit.store_slots(p[6], &sums);
        });
    }

    /// Scans a range of inner points from a start; the first point of the row has the number `base`.
    fn scan_row(
        &mut self,
        kernel: &Kernel,
        ops: &[Operator<Mem>],
        places: &[Value],
        (start, range, base): (Vec<Value>, (Value, Value), Value),
    ) -> Vec<Value> {
        let tys = super::kernel::components(self.program, ops);
        let (index, _) = *kernel.space.last().expect("scans have a dimension");
        let strip = super::control::strip(&kernel.body);
        self.range(ScalarType::I64, range, strip, &start, |emit, i, sums| {
            emit.bind(index, i);
            let sums = emit.scoped(&kernel.body, |emit| {
                let values = emit.body(&kernel.body);
                emit.operate(ops, sums, &values)
            });
            let number = emit.b.ins().iadd(base, i);
            for ((sum, place), ty) in sums.iter().zip(places).zip(&tys) {
                let target = emit.element(*place, *ty, number);
                emit.b.ins().store(plain(), *sum, target, 0);
            }
            sums
        })
    }

    /// Parameters: slots, range of flat indices, slots of the carry, table of results.
    pub(super) fn fix(&mut self, ops: &[Operator<Mem>], p: &[Value]) {
        let tys = super::kernel::components(self.program, ops);
        let carry = self.load_slots(p[3], &tys);
        let places = self.places(p[4], tys.len());
        self.range(ScalarType::I64, (p[1], p[2]), 1024, &[], |emit, i, _| {
            let targets: Vec<Value> = places
                .iter()
                .zip(&tys)
                .map(|(place, ty)| emit.element(*place, *ty, i))
                .collect();
            let values: Vec<Value> = targets
                .iter()
                .zip(&tys)
                .map(|(target, ty)| emit.b.ins().load(clif(*ty), plain(), *target, 0))
                .collect();
            let sums = emit.operate(ops, &carry, &values);
            for (sum, target) in sums.into_iter().zip(targets) {
                emit.b.ins().store(plain(), sum, target, 0);
            }
            vec![]
        });
    }
}
