//! Reductions: a range of inner points for each of a range of outer points.

use super::{Emit, clif, fixed, plain};
use cranelift_codegen::ir::{InstBuilder, Value, types};
use midend::ir::mem::{Kernel, Mem};
use midend::ir::soac::Operator;
use midend::ir::syntax::Atom;
use midend::ir::types::ScalarType;

impl Emit<'_, '_> {
    /// Parameters: slots, outer range, inner range, address of the addresses of the results.
    pub(super) fn reduce(&mut self, kernel: &Kernel, ops: &[Operator<Mem>], p: &[Value]) {
        let tys = super::kernel::components(self.program, ops);
        let space = self.extents(&kernel.space);
        let (inner, outer) = space
            .split_last()
            .expect("a reduction has a dimension to reduce");
        let inner = *inner;
        let places = self.places(p[5], tys.len());
        let strip = super::control::strip(&kernel.body);
        let (ilo, ihi) = (p[3], p[4]);
        self.points(outer, (p[1], p[2]), 1, |emit, flat| {
            let neutral: Vec<Atom> = ops
                .iter()
                .flat_map(|op| op.neutral.iter().copied())
                .collect();
            let start = emit.atoms(&neutral);
            let sums = emit.range(
                ScalarType::I64,
                (ilo, ihi),
                strip,
                &start,
                |emit, i, sums| {
                    emit.bind(inner.0, i);
                    emit.scoped(&kernel.body, |emit| {
                        let values = emit.body(&kernel.body);
                        emit.operate(ops, sums, &values)
                    })
                },
            );
            for ((sum, place), ty) in sums.into_iter().zip(&places).zip(&tys) {
                let target = emit.element(*place, *ty, flat);
                emit.b.ins().store(plain(), sum, target, 0);
            }
        });
    }

    /// Parameters: slots of the left tuple, which takes the result, and of the right one.
    pub(super) fn combine(&mut self, ops: &[Operator<Mem>], left: Value, right: Value) {
        let tys = super::kernel::components(self.program, ops);
        let a = self.load_slots(left, &tys);
        let b = self.load_slots(right, &tys);
        let sums = self.operate(ops, &a, &b);
        self.store_slots(left, &sums);
    }

    /// Addresses from a table of them.
    pub(super) fn places(&mut self, table: Value, count: usize) -> Vec<Value> {
        (0..count)
            .map(|i| self.b.ins().load(types::I64, fixed(), table, 8 * i as i32))
            .collect()
    }

    /// Scalars from consecutive slots.
    pub(super) fn load_slots(&mut self, slots: Value, tys: &[ScalarType]) -> Vec<Value> {
        tys.iter()
            .enumerate()
            .map(|(i, ty)| self.b.ins().load(clif(*ty), plain(), slots, 8 * i as i32))
            .collect()
    }

    /// Scalars to consecutive slots.
    pub(super) fn store_slots(&mut self, slots: Value, values: &[Value]) {
        for (i, value) in values.iter().enumerate() {
            self.b.ins().store(plain(), *value, slots, 8 * i as i32);
        }
    }
}
