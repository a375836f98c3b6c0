//! Reductions in lanes: the values of groups of points, what lanes sum on their own, and the sums of lanes combined to one.

use super::shape::Shape;
use super::{Group, Lanes, Plan};
use crate::emit::Emit;
use cranelift_codegen::ir::{InstBuilder, Value};
use midend::fired::fired;
use midend::ir::mem::{Kernel, Mem};
use midend::ir::soac::Operator;
use midend::ir::types::ScalarType;
use std::collections::HashMap;

impl Emit<'_, '_> {
    /// The results of the body of a reduction, lane by lane, for a group of points whose first has the inner index
    /// `first`.
    pub(in crate::emit) fn group_values(
        &mut self,
        plan: &Plan,
        kernel: &Kernel,
        first: Value,
    ) -> Vec<Vec<Value>> {
        let (index, _) = *kernel.space.last().expect("reductions have a dimension");
        let mut group = Group::new(plan, index, first);
        self.with_arrays(plan, |emit| emit.lanes_body(&mut group, &kernel.body));
        let columns: Vec<Vec<Value>> = kernel
            .body
            .result
            .iter()
            .map(|result| self.in_shape(&mut group, Shape::Many, *result))
            .collect();
        (0..plan.width)
            .map(|lane| columns.iter().map(|column| column[lane]).collect())
            .collect()
    }

    /// A step of a reduction in lanes: the body for a group of points whose first has the inner index `first`, and its
    /// values combined with the sums so far, which are vectors.
    pub(in crate::emit) fn group_sums(
        &mut self,
        plan: &Plan,
        kernel: &Kernel,
        ops: &[Operator<Mem>],
        first: Value,
        sums: &[Value],
    ) -> Vec<Value> {
        let (mut group, values) = self.group_vectors(plan, kernel, first);
        self.operate_lanes(&mut group, ops, (sums, &values))
    }

    /// The same of several groups, which are combined with each other first, two and two: what lanes have summed before waits for one of them only.
    pub(in crate::emit) fn sums_of_groups(
        &mut self,
        plan: &Plan,
        kernel: &Kernel,
        ops: &[Operator<Mem>],
        first: Value,
        sums: &[Value],
    ) -> Vec<Value> {
        fired("cpu/pairs-of-groups");
        let (mut group, values) = self.group_vectors(plan, kernel, first);
        let mut all = vec![values];
        for k in 1..plan.groups {
            let first = self.b.ins().iadd_imm_s(first, (k * plan.width) as i64);
            let (next, values) = self.group_vectors(plan, kernel, first);
            group = next;
            all.push(values);
        }
        while all.len() > 1 {
            let pairs = all.chunks(2);
            all = pairs
                .map(|two| self.operate_lanes(&mut group, ops, (&two[0], &two[1])))
                .collect();
        }
        self.operate_lanes(&mut group, ops, (sums, &all[0]))
    }

    /// The results of the points of a group, in vectors.
    pub(in crate::emit) fn group_vectors<'p>(
        &mut self,
        plan: &'p Plan,
        kernel: &Kernel,
        first: Value,
    ) -> (Group<'p>, Vec<Value>) {
        let (index, _) = *kernel.space.last().expect("reductions have a dimension");
        let mut group = Group::new(plan, index, first);
        self.with_arrays(plan, |emit| emit.lanes_body(&mut group, &kernel.body));
        let mut values = Vec::new();
        for result in &kernel.body.result {
            values.extend(self.packed(&mut group, *result));
        }
        (group, values)
    }

    /// Operators applied to tuples of vectors, of so many lanes.
    pub(in crate::emit) fn operated(
        &mut self,
        plan: &Plan,
        ops: &[Operator<Mem>],
        sides: (&[Value], &[Value]),
    ) -> Vec<Value> {
        let mut group = Group::of_lanes(plan, HashMap::new());
        self.operate_lanes(&mut group, ops, sides)
    }

    /// Operators applied to tuples of vectors.
    pub(super) fn operate_lanes(
        &mut self,
        group: &mut Group<'_>,
        ops: &[Operator<Mem>],
        (mut left, mut right): (&[Value], &[Value]),
    ) -> Vec<Value> {
        let mut next = Vec::new();
        for op in ops {
            let (lefts, rights) = op.lam.params.split_at(op.neutral.len());
            for (params, rest) in [(lefts, &mut left), (rights, &mut right)] {
                for param in params {
                    let count = group.plan.vectors(self.elem(*param)).unwrap_or_default();
                    let (mine, others) = rest.split_at(count);
                    group.lanes.insert(*param, Lanes::Packed(mine.to_vec()));
                    *rest = others;
                }
            }
            self.lanes_body(group, &op.lam.body);
            for result in &op.lam.body.result {
                next.extend(self.packed(group, *result));
            }
        }
        next
    }

    /// The sums of lanes, in vectors, combined to one: the first half with the second one, again and again, in vectors as
    /// long as they are full.
    pub(in crate::emit) fn combined_lanes(
        &mut self,
        plan: &Plan,
        ops: &[Operator<Mem>],
        tys: &[ScalarType],
        mut sums: Vec<Value>,
    ) -> Vec<Value> {
        let mut plan = plan.clone();
        let per = |ty: &ScalarType| plan.per_vector(*ty);
        let full = plan.parts * tys.iter().filter_map(per).max().unwrap_or(1);
        while plan.width > full {
            let (mut left, mut right) = (Vec::new(), Vec::new());
            let mut rest = sums.as_slice();
            for ty in tys {
                let count = plan.vectors(*ty).unwrap_or_default();
                let (mine, others) = rest.split_at(count);
                let (first, second) = mine.split_at(count / 2);
                left.extend(first);
                right.extend(second);
                rest = others;
            }
            plan.width /= 2;
            let mut group = Group::of_lanes(&plan, HashMap::new());
            sums = self.operate_lanes(&mut group, ops, (&left, &right));
        }
        let mut rest = sums.as_slice();
        let mut columns = Vec::new();
        for ty in tys {
            let count = plan.vectors(*ty).unwrap_or_default();
            let (mine, others) = rest.split_at(count);
            columns.push(self.unpacked(mine, plan.parts));
            rest = others;
        }
        let lane = |i: usize| columns.iter().map(|column| column[i]).collect();
        let mut lanes: Vec<Vec<Value>> = (0..plan.width).map(lane).collect();
        while lanes.len() > 1 {
            let second = lanes.split_off(lanes.len() / 2);
            for (first, second) in lanes.iter_mut().zip(second) {
                *first = self.operate(ops, first, &second);
            }
        }
        lanes.pop().unwrap_or_default()
    }
}
