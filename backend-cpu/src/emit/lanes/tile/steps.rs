//! The steps of a tile: a few rows by a group of lanes at a time, in registers.

use super::{Job, Place, ROWS, Row};
use crate::emit::lanes::{Group, Lanes};
use crate::emit::{Emit, block_args, plain};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Value};
use midend::analysis::tiles::Side;
use midend::ir::mem::Mem;
use midend::ir::syntax::Stm;
use midend::ir::types::ScalarType;
use std::collections::{BTreeSet, HashMap};

impl Emit<'_, '_> {
    /// All steps; the last values of what is carried wait in memory.
    pub(super) fn tile_steps(&mut self, job: &Job<'_>, place: Place) {
        let bound = self.atom(job.tiles.bound);
        // Without steps, the first values are the last ones, and one run over none of them puts them there.
        let one = self.i64(1);
        let runs = self.parts(bound, job.steps());
        let none = self.b.ins().icmp(IntCC::SignedLessThan, runs, one);
        let runs = self.b.ins().select(none, one, runs);
        self.counted(ScalarType::I64, runs, 16, &[], |emit, run, _| {
            let first = emit.b.ins().imul_imm_s(run, job.steps());
            let left = emit.b.ins().isub(bound, first);
            let most = emit.i64(job.steps());
            let count = emit.least(left, most);
            emit.pack(job, place, (first, count));
            let zero = emit.i64(0);
            let groups = emit.parts(place.columns, job.width());
            let blocks = emit.parts(place.rows, job.block() as i64);
            emit.few((zero, groups), &[], |emit, g, _| {
                emit.few((zero, blocks), &[], |emit, b, _| {
                    emit.block_steps(job, place, (g, b), (first, count));
                    vec![]
                });
                vec![]
            });
            vec![]
        });
    }

    /// The rows of a block: their numbers in the tile, and what is known of each.
    fn block_rows(
        &mut self,
        job: &Job<'_>,
        place: Place,
        (g, b): (Value, Value),
    ) -> (Vec<Value>, Vec<Row>) {
        let ahead = self.b.ins().imul_imm_s(g, job.width());
        let column = self.b.ins().iadd(place.column, ahead);
        let lanes = Group::new(&job.plan, job.tiles.column, column).lanes;
        let start = self.b.ins().imul_imm_s(b, job.block() as i64);
        let (mut numbers, mut rows) = (Vec::new(), Vec::new());
        for r in 0..job.block() as i64 {
            let number = self.b.ins().iadd_imm_s(start, r);
            let row = self.b.ins().iadd(place.row, number);
            let row = self.least(row, place.last_row);
            let mut values = self.values.clone();
            values.insert(job.row, row);
            numbers.push(number);
            rows.push(Row {
                values,
                lanes: lanes.clone(),
            });
        }
        (numbers, rows)
    }

    /// So many steps of a few rows and a group of columns.
    fn block_steps(
        &mut self,
        job: &Job<'_>,
        place: Place,
        (g, b): (Value, Value),
        (first, count): (Value, Value),
    ) {
        debug_assert!(ROWS % job.block() as i64 == 0, "blocks are whole");
        let (numbers, mut rows) = self.block_rows(job, place, (g, b));
        self.jam(job, &mut rows, &job.before);
        let lane = self.b.ins().imul_imm_s(g, job.width());
        let zero = self.i64(0);
        // The values carried, from memory but for the first time.
        let is_first = self.b.ins().icmp(IntCC::Equal, first, zero);
        let [start, go_on, run] = [(); 3].map(|()| self.b.create_block());
        self.b.ins().brif(is_first, start, &[], go_on, &[]);
        self.b.switch_to_block(start);
        let inits = self.first_carried(job, rows.clone());
        let types = self.types_of(&inits);
        self.b.ins().jump(run, &block_args(inits));
        self.b.switch_to_block(go_on);
        let mut waiting = Vec::new();
        for number in &numbers {
            for which in 0..job.tiles.params.len() {
                let at = self.waiting(job, place, which, (*number, lane));
                let count = types.len() / (numbers.len() * job.tiles.params.len());
                for i in 0..count {
                    let offset = job.plan.step() * i as i32;
                    waiting.push(self.b.ins().load(types[0], plain(), at, offset));
                }
            }
        }
        self.b.ins().jump(run, &block_args(waiting));
        let carried = self.params(run, &types);
        self.b.switch_to_block(run);
        let last = self.few((zero, count), &carried, |emit, step, carried| {
            emit.block_step(job, place, rows, (g, first, step), carried)
        });
        let per = types.len() / numbers.len() / job.tiles.params.len();
        let mut last = last.chunks(per);
        for number in &numbers {
            for which in 0..job.tiles.params.len() {
                let at = self.waiting(job, place, which, (*number, lane));
                for (i, vector) in last.next().into_iter().flatten().enumerate() {
                    let offset = job.plan.step() * i as i32;
                    self.b.ins().store(plain(), *vector, at, offset);
                }
            }
        }
    }

    /// The first values of what is carried.
    fn first_carried(&mut self, job: &Job<'_>, mut rows: Vec<Row>) -> Vec<Value> {
        let mut inits = Vec::new();
        for row in &mut rows {
            self.in_row(job, row, |emit, group| {
                for param in job.tiles.params {
                    inits.extend(emit.packed(group, param.init));
                }
            });
        }
        inits
    }

    /// A step of a few rows and a group of columns: from the values carried to the next ones.
    fn block_step(
        &mut self,
        job: &Job<'_>,
        place: Place,
        mut rows: Vec<Row>,
        (g, first, step): (Value, Value, Value),
        carried: &[Value],
    ) -> Vec<Value> {
        let now = self.b.ins().iadd(first, step);
        let per = carried.len() / rows.len() / job.tiles.params.len();
        let mut vectors = carried.chunks(per);
        for row in &mut rows {
            row.values.insert(job.tiles.counter, now);
            for param in job.tiles.params {
                let mine = vectors.next().unwrap_or_default().to_vec();
                row.lanes.insert(param.var, Lanes::Packed(mine));
            }
        }
        for (which, (_, var)) in job.of_columns().into_iter().enumerate() {
            let at = self.panel(job, place, which, (g, step));
            let group = Group::new(&job.plan, job.tiles.column, now);
            let vectors = self.lanes_load(&group, job.elem, at, job.elem.bytes() as i64);
            for row in &mut rows {
                row.lanes.insert(var, vectors.clone());
            }
        }
        for staged in job.tiles.staged.iter().filter(|s| s.side != Side::Column) {
            self.jam(job, &mut rows, &staged.slice);
        }
        self.jam(job, &mut rows, &job.left);
        let mut next = Vec::new();
        for row in &mut rows {
            self.in_row(job, row, |emit, group| {
                for result in &job.tiles.body.result {
                    next.extend(emit.packed(group, *result));
                }
            });
        }
        next
    }

    /// Statements for all rows, once for all where they do not differ.
    fn jam(&mut self, job: &Job<'_>, rows: &mut [Row], stms: &[&Stm<Mem>]) {
        for stm in stms {
            let differs = stm.binds.iter().any(|v| job.tiles.depends(*v).0);
            let Some((one, others)) = rows.split_first_mut() else {
                return;
            };
            self.in_row(job, one, |emit, group| emit.lanes_stm(group, stm));
            for row in others {
                if differs {
                    self.in_row(job, row, |emit, group| emit.lanes_stm(group, stm));
                    continue;
                }
                for var in &stm.binds {
                    let value = one.values.get(var);
                    row.values.extend(value.map(|value| (*var, *value)));
                    let lanes = one.lanes.get(var);
                    row.lanes.extend(lanes.map(|lanes| (*var, lanes.clone())));
                }
            }
        }
    }

    /// Emits code for a group of lanes of a row.
    fn in_row(&mut self, job: &Job<'_>, row: &mut Row, f: impl FnOnce(&mut Self, &mut Group<'_>)) {
        let mut group = Group {
            plan: &job.plan,
            lanes: std::mem::take(&mut row.lanes),
            panels: HashMap::new(),
            narrow: BTreeSet::new(),
        };
        std::mem::swap(&mut self.values, &mut row.values);
        f(self, &mut group);
        std::mem::swap(&mut self.values, &mut row.values);
        row.lanes = group.lanes;
    }
}
