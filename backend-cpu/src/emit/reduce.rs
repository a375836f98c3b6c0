//! Reductions: a range of inner points for each of a range of outer points.

pub(in crate::emit) mod columns;
pub(in crate::emit) mod narrow;
mod order;
mod rows;
mod side;

use super::lanes::{Plan, plan_reduction};
use super::{Emit, block_args, clif, fixed, plain};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Value, types};
use midend::ir::mem::{Kernel, Mem};
use midend::ir::soac::Operator;
use midend::ir::syntax::Atom;
use midend::ir::types::ScalarType;

/// Rows between two looks at the stop flag; long ones look at it themselves.
pub(super) const ROWS: i64 = 16;

impl Emit<'_, '_> {
    /// Parameters: slots, outer range, inner range, address of the addresses of the results; or for ragged rows: slots,
    /// the rows and points of a piece, these addresses, slots for what is found of a row that the piece does not finish.
    pub(super) fn reduce(&mut self, kernel: &Kernel, ops: &[Operator<Mem>], p: &[Value]) {
        if kernel.has_ragged_rows() {
            return self.reduce_rows(kernel, ops, p);
        }
        let tys = super::kernel::components(self.vars, ops);
        let places = self.places(p[5], tys.len());
        let plan = plan_reduction(kernel, ops, self.vars, self.asked);
        self.parts = plan.as_ref().map_or(1, |plan| plan.parts);
        self.in_lanes = plan.is_some();
        let (_, outer) = kernel
            .space
            .split_last()
            .expect("a reduction has a dimension to reduce");
        self.walk(outer, (p[1], p[2]), ROWS, |emit, flat| {
            let sums = emit.reduce_row(kernel, (ops, ops), plan.as_ref(), (p[3], p[4]));
            for ((sum, place), ty) in sums.into_iter().zip(&places).zip(&tys) {
                let target = emit.element(*place, *ty, flat);
                emit.b.ins().store(plain(), sum, target, 0);
            }
        });
    }

    /// The neutral element of operators.
    pub(super) fn neutral(&mut self, ops: &[Operator<Mem>]) -> Vec<Value> {
        let neutral: Vec<Atom> = ops
            .iter()
            .flat_map(|op| op.neutral.iter().copied())
            .collect();
        self.atoms(&neutral)
    }

    /// Reduces a range of inner points. Lanes that have seen a point may take the second operators.
    fn reduce_row(
        &mut self,
        kernel: &Kernel,
        (ops, later): (&[Operator<Mem>], &[Operator<Mem>]),
        plan: Option<&Plan>,
        (ilo, ihi): (Value, Value),
    ) -> Vec<Value> {
        let tys = super::kernel::components(self.vars, ops);
        let (index, _) = *kernel.space.last().expect("reductions have a dimension");
        let start = self.neutral(ops);
        if plan.is_none()
            && let Some(points) = side::points(kernel, ops)
        {
            return self.reduce_side_by_side(kernel, ops, points, &start, (ilo, ihi));
        }
        // Where there is no room for the arrays of a group, all is left over.
        let room = plan.and_then(|plan| self.room(plan));
        let end = match room {
            Some(room) => self.b.ins().select(room, ihi, ilo),
            None => ihi,
        };
        let (start, ilo) = match plan {
            Some(plan) if plan.own_sums => {
                let range = (ilo, end);
                let both = (ops, later);
                let (sums, left) =
                    self.reduce_lanes(plan, kernel, both, (&tys, &start), range, None);
                match plan.halved(&tys) {
                    Some(half) if plan.parts == 4 => {
                        let (range, neutral) = ((left, end), (&tys[..], &start[..]));
                        let sums = self.reduce_rest(half.width, kernel, ops, neutral, range, &sums);
                        if room.is_none() {
                            return sums;
                        }
                        (sums, end)
                    }
                    Some(half) => {
                        let range = (left, end);
                        let both = (ops, ops);
                        self.reduce_lanes(&half, kernel, both, (&tys, &start), range, Some(&sums))
                    }
                    None => (sums, left),
                }
            }
            Some(plan) => self.reduce_groups(plan, kernel, ops, &start, (ilo, end)),
            None => (start, ilo),
        };
        let step = |emit: &mut Self, i: Value, sums: &[Value]| {
            emit.bind(index, i);
            emit.scoped(&kernel.body, |emit| {
                let values = emit.body(&kernel.body);
                emit.operate(ops, sums, &values)
            })
        };
        if plan.is_some() && room.is_none() {
            // Groups have left few points over.
            return self.few((ilo, ihi), &start, step);
        }
        let strip = super::control::strip(&kernel.body);
        self.range(ScalarType::I64, (ilo, ihi), strip, &start, step)
    }

    /// Reduces as many whole groups of points as there are, each lane on its own, then the lanes together, and that with
    /// the sums `before`. Yields the sums so far and the first point that is left.
    fn reduce_lanes(
        &mut self,
        plan: &Plan,
        kernel: &Kernel,
        (ops, later): (&[Operator<Mem>], &[Operator<Mem>]),
        (tys, neutral): (&[ScalarType], &[Value]),
        (ilo, ihi): (Value, Value),
        before: Option<&[Value]>,
    ) -> (Vec<Value>, Value) {
        let width = plan.width as i64;
        let clifs: Vec<_> = tys.iter().map(|ty| clif(*ty)).collect();
        let (long, done) = (self.b.create_block(), self.b.create_block());
        let results = self.params(done, &clifs);
        let first_left = self.b.append_block_param(done, types::I64);
        let length = self.b.ins().isub(ihi, ilo);
        let shift = i64::from(width.trailing_zeros());
        let groups = self.b.ins().sshr_imm_u(length, shift);
        let some = IntCC::SignedGreaterThan;
        let has_groups = self.b.ins().icmp_imm_s(some, groups, 0);
        let all = before.unwrap_or(neutral).iter().copied().chain([ilo]);
        self.b
            .ins()
            .brif(has_groups, long, &[], done, &block_args(all));

        self.b.switch_to_block(long);
        let mut inits = Vec::new();
        for (value, ty) in neutral.iter().zip(tys) {
            inits.extend(self.spread(plan, *ty, *value));
        }
        let strip = super::control::strip(&kernel.body);
        let mut rest = (ilo, groups);
        if ops != later {
            // The first group alone: from then on lanes have seen a point.
            inits = self.group_sums(plan, kernel, ops, ilo, &inits);
            rest = (
                self.b.ins().iadd_imm_s(ilo, width),
                self.b.ins().iadd_imm_s(groups, -1),
            );
        }
        let (mut begin, mut count) = rest;
        if plan.groups > 1 {
            // The first groups of what is no multiple, then several at a time.
            let odd = self.b.ins().band_imm_u(count, plan.groups as i64 - 1);
            inits = self.counted(ScalarType::I64, odd, strip, &inits, |emit, g, sums| {
                let ahead = emit.b.ins().imul_imm_s(g, width);
                let first = emit.b.ins().iadd(begin, ahead);
                emit.group_sums(plan, kernel, later, first, sums)
            });
            let covered = self.b.ins().imul_imm_s(odd, width);
            begin = self.b.ins().iadd(begin, covered);
            let shift = i64::from(plan.groups.trailing_zeros());
            count = self.b.ins().sshr_imm_u(count, shift);
        }
        let step = plan.groups as i64 * width;
        let vectors = self.counted(ScalarType::I64, count, strip, &inits, |emit, g, sums| {
            let ahead = emit.b.ins().imul_imm_s(g, step);
            let first = emit.b.ins().iadd(begin, ahead);
            if plan.groups > 1 {
                emit.sums_of_groups(plan, kernel, later, first, sums)
            } else {
                emit.group_sums(plan, kernel, later, first, sums)
            }
        });
        let mut sums = self.combined_lanes(plan, ops, tys, vectors);
        if let Some(before) = before {
            sums = self.operate(ops, before, &sums);
        }
        let covered = self.b.ins().imul_imm_s(groups, width);
        let left = self.b.ins().iadd(ilo, covered);
        let all = sums.into_iter().chain([left]);
        self.b.ins().jump(done, &block_args(all));
        self.b.switch_to_block(done);
        (results, first_left)
    }

    /// Reduces the rest of a group, one point after the other: first what lanes of half its width would have, with the same sums in the same
    /// order, if there are as many. The body is there once: its values wait for their sums in memory.
    fn reduce_rest(
        &mut self,
        half: usize,
        kernel: &Kernel,
        ops: &[Operator<Mem>],
        (tys, neutral): (&[ScalarType], &[Value]),
        (ilo, ihi): (Value, Value),
        before: &[Value],
    ) -> Vec<Value> {
        let (index, _) = *kernel.space.last().expect("reductions have a dimension");
        let bytes = 8 * tys.len();
        let memory = self.stack_slot((bytes * (2 * half - 1)) as u32);
        let place_of = |emit: &mut Self, i: Value| {
            let ahead = emit.b.ins().isub(i, ilo);
            let ahead = emit.b.ins().imul_imm_s(ahead, bytes as i64);
            emit.b.ins().iadd(memory, ahead)
        };
        self.few((ilo, ihi), &[], |emit, i, _| {
            let place = place_of(emit, i);
            emit.bind(index, i);
            emit.scoped(&kernel.body, |emit| {
                let values = emit.body(&kernel.body);
                emit.store_slots(place, &values);
            });
            vec![]
        });
        let clifs: Vec<_> = tys.iter().map(|ty| clif(*ty)).collect();
        let (lanes, alone) = (self.b.create_block(), self.b.create_block());
        let sums = self.params(alone, &clifs);
        let first = self.b.append_block_param(alone, types::I64);
        let end = self.b.ins().iadd_imm_s(ilo, half as i64);
        let enough = IntCC::SignedLessThanOrEqual;
        let enough = self.b.ins().icmp(enough, end, ihi);
        let all = block_args(before.iter().copied().chain([ilo]));
        self.b.ins().brif(enough, lanes, &[], alone, &all);

        self.b.switch_to_block(lanes);
        let all = self.sum_of_slots(half, ops, (tys, neutral), memory);
        let all = self.operate(ops, before, &all);
        let all = block_args(all.into_iter().chain([end]));
        self.b.ins().jump(alone, &all);
        self.b.switch_to_block(alone);
        self.few((first, ihi), &sums, |emit, i, sums| {
            let place = place_of(emit, i);
            let values = emit.load_slots(place, tys);
            emit.operate(ops, sums, &values)
        })
    }

    /// Values in so many slots, summed as lanes are.
    fn sum_of_slots(
        &mut self,
        count: usize,
        ops: &[Operator<Mem>],
        (tys, neutral): (&[ScalarType], &[Value]),
        slots: Value,
    ) -> Vec<Value> {
        let bytes = 8 * tys.len();
        let lane = |emit: &mut Self, i: usize| {
            let place = emit.b.ins().iadd_imm_s(slots, (bytes * i) as i64);
            let values = emit.load_slots(place, tys);
            emit.operate(ops, neutral, &values)
        };
        let mut lanes: Vec<Vec<Value>> = (0..count).map(|i| lane(self, i)).collect();
        while lanes.len() > 1 {
            let second = lanes.split_off(lanes.len() / 2);
            for (first, second) in lanes.iter_mut().zip(second) {
                *first = self.operate(ops, first, &second);
            }
        }
        lanes.pop().unwrap_or_default()
    }

    /// Reduces as many whole groups of points as there are: their bodies in lanes, then the values of the lanes one by
    /// one. Yields the sums so far and the first point that is left.
    fn reduce_groups(
        &mut self,
        plan: &Plan,
        kernel: &Kernel,
        ops: &[Operator<Mem>],
        start: &[Value],
        (ilo, ihi): (Value, Value),
    ) -> (Vec<Value>, Value) {
        let width = plan.width as i64;
        let length = self.b.ins().isub(ihi, ilo);
        let groups = self
            .b
            .ins()
            .sshr_imm_u(length, i64::from(width.trailing_zeros()));
        let strip = super::control::strip(&kernel.body);
        let sums = self.counted(ScalarType::I64, groups, strip, start, |emit, g, sums| {
            let ahead = emit.b.ins().imul_imm_s(g, width);
            let first = emit.b.ins().iadd(ilo, ahead);
            if let Some(truths) = emit.group_truths(plan, kernel, ops, first) {
                return emit.operate(ops, sums, &truths);
            }
            let lanes = emit.group_values(plan, kernel, first);
            let mut sums = sums.to_vec();
            for values in lanes {
                sums = emit.operate(ops, &sums, &values);
            }
            sums
        });
        let covered = self.b.ins().imul_imm_s(groups, width);
        let left = self.b.ins().iadd(ilo, covered);
        (sums, left)
    }

    /// Parameters: slots of the left tuple, which takes the result, and of the right one.
    pub(super) fn combine(&mut self, ops: &[Operator<Mem>], left: Value, right: Value) {
        let tys = super::kernel::components(self.vars, ops);
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
