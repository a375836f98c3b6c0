//! Scans: a range of inner points for each of a range of outer points, from given starts; and the second pass that
//! puts the sums of earlier chunks in front.

use super::{Emit, clif, plain};
use cranelift_codegen::ir::{InstBuilder, Value};
use midend::ir::mem::{Kernel, Mem};
use midend::ir::soac::Operator;
use midend::ir::types::ScalarType;

impl Emit<'_, '_> {
    /// Parameters: slots, outer range, inner range, slots of the start, slots for the end, table of results.
    pub(super) fn scan(&mut self, kernel: &Kernel, ops: &[Operator<Mem>], p: &[Value]) {
        let tys = super::kernel::components(self.program, ops);
        let space = self.extents(&kernel.space);
        let (inner, outer) = space.split_last().expect("a scan has a dimension to scan");
        let inner = *inner;
        let places = self.places(p[7], tys.len());
        let strip = super::control::strip(&kernel.body);
        let (ilo, ihi, start, end) = (p[3], p[4], p[5], p[6]);
        self.points(outer, (p[1], p[2]), 1, |emit, flat| {
            let sums = emit.load_slots(start, &tys);
            let row = emit.b.ins().imul(flat, inner.1);
            let sums = emit.range(
                ScalarType::I64,
                (ilo, ihi),
                strip,
                &sums,
                |emit, i, sums| {
                    emit.bind(inner.0, i);
                    let sums = emit.scoped(&kernel.body, |emit| {
                        let values = emit.body(&kernel.body);
                        emit.operate(ops, sums, &values)
                    });
                    let index = emit.b.ins().iadd(row, i);
                    for ((sum, place), ty) in sums.iter().zip(&places).zip(&tys) {
                        let target = emit.element(*place, *ty, index);
                        emit.b.ins().store(plain(), *sum, target, 0);
                    }
                    sums
                },
            );
            emit.store_slots(end, &sums);
        });
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
