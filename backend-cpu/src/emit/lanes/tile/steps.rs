//! The steps of a tile: a few rows by a group of lanes at a time, in registers.

use super::rest::Rest;
use super::{Job, Place, ROWS, Row, of_side};
use crate::emit::lanes::{Group, Lanes};
use crate::emit::{Emit, block_args, clif, plain};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Value};
use midend::analysis::tiles::Side;
use midend::ir::id::Var;
use midend::ir::mem::Mem;
use midend::ir::syntax::Stm;
use midend::ir::types::ScalarType;

/// A panel of fewer steps, this part of what it has room for, is near together with those of all other groups of lanes of a tile.
const FEW: i64 = 4;

impl Emit<'_, '_> {
    /// All steps; the last values of what is carried wait in memory.
    pub(super) fn tile_steps(&mut self, job: &Job<'_>, place: Place, rest: &Rest<'_>) {
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
            emit.pack_rows(job, place, (first, count));
            let zero = emit.i64(0);
            let groups = emit.parts(place.columns, job.width());
            let blocks = emit.parts(place.rows, job.block() as i64);
            let is_last = emit.b.ins().icmp(IntCC::Equal, left, count);
            // With few steps all panels stay near, and rows are gone through along memory.
            let few =
                emit.b
                    .ins()
                    .icmp_imm_s(IntCC::SignedLessThanOrEqual, count, job.steps() / FEW);
            let outer = emit.b.ins().select(few, blocks, groups);
            let inner = emit.b.ins().select(few, groups, blocks);
            emit.few((zero, outer), &[], |emit, i, _| {
                emit.few((zero, inner), &[], |emit, j, _| {
                    let g = emit.b.ins().select(few, j, i);
                    let b = emit.b.ins().select(few, i, j);
                    emit.block_steps(job, place, (g, b), (first, count, is_last), rest);
                    vec![]
                });
                vec![]
            });
            vec![]
        });
    }

    /// What is known of each row of a block, of which the first has this number in the tile.
    fn block_rows(&mut self, job: &Job<'_>, place: Place, (g, start): (Value, Value)) -> Vec<Row> {
        let ahead = self.b.ins().imul_imm_s(g, job.width());
        let column = self.b.ins().iadd(place.column, ahead);
        let lanes = Group::new(&job.plan, job.tiles.column, column).lanes;
        let first = self.b.ins().iadd(place.row, start);
        let row = |r: i64| {
            let row = self.b.ins().iadd_imm_s(first, r);
            let row = self.least(row, place.last_row);
            let mut values = self.values.clone();
            values.insert(job.row, row);
            Row {
                values,
                lanes: lanes.clone(),
            }
        };
        (0..job.block() as i64).map(row).collect()
    }

    /// So many steps of a few rows and a group of columns.
    fn block_steps(
        &mut self,
        job: &Job<'_>,
        place: Place,
        (g, b): (Value, Value),
        (first, count, is_last): (Value, Value, Value),
        rest: &Rest<'_>,
    ) {
        debug_assert!(ROWS % job.block() as i64 == 0, "blocks are whole");
        let start = self.b.ins().imul_imm_s(b, job.block() as i64);
        let mut rows = self.block_rows(job, place, (g, start));
        let [soon, steps] = [(); 2].map(|()| self.b.create_block());
        self.b.ins().brif(is_last, soon, &[], steps, &[]);
        self.b.switch_to_block(soon);
        self.rest_soon(job, place, (g, start), rest);
        self.b.ins().jump(steps, &[]);
        self.b.switch_to_block(steps);
        self.jam(job, &mut rows, &job.before);
        let zero = self.i64(0);
        // The values carried, from memory but for the first time.
        let is_first = self.b.ins().icmp(IntCC::Equal, first, zero);
        let [begin, go_on, run] = [(); 3].map(|()| self.b.create_block());
        self.b.ins().brif(is_first, begin, &[], go_on, &[]);
        self.b.switch_to_block(begin);
        let inits = self.first_carried(job, rows.clone());
        let types = self.types_of(&inits);
        self.b.ins().jump(run, &block_args(inits));
        self.b.switch_to_block(go_on);
        let places = self.block_waiting(job, place, (g, start), types.len());
        let load = |(at, offset): (Value, i32)| self.b.ins().load(types[0], plain(), at, offset);
        let waiting: Vec<Value> = places.into_iter().map(load).collect();
        self.b.ins().jump(run, &block_args(waiting));
        let carried = self.params(run, &types);
        self.b.switch_to_block(run);
        let last = self.few((zero, count), &carried, |emit, step, carried| {
            emit.block_step(job, place, rows, (g, start, first, step), carried)
        });
        let [now, wait, done] = [(); 3].map(|()| self.b.create_block());
        if rest.at_once {
            let whole = self.is_whole(job, place, (g, start));
            let at_once = self.b.ins().band(whole, is_last);
            self.b.ins().brif(at_once, now, &[], wait, &[]);
            self.b.switch_to_block(now);
            self.rest_at_once(job, place, (g, start), (&last, rest));
            self.b.ins().jump(done, &[]);
        } else {
            self.b.ins().jump(wait, &[]);
        }
        self.b.switch_to_block(wait);
        let places = self.block_waiting(job, place, (g, start), types.len());
        for (vector, (at, offset)) in last.into_iter().zip(places) {
            self.b.ins().store(plain(), vector, at, offset);
        }
        self.b.ins().jump(done, &[]);
        self.b.switch_to_block(done);
    }

    /// Where so many vectors, the values that a block carries, wait: those of a row one after the other.
    fn block_waiting(
        &mut self,
        job: &Job<'_>,
        place: Place,
        (g, start): (Value, Value),
        count: usize,
    ) -> Vec<(Value, i32)> {
        let zero = self.i64(0);
        let params = 0..job.tiles.params.len();
        let starts: Vec<Value> = params
            .map(|which| self.waiting(job, place, which, [g, start, zero]))
            .collect();
        let per = count / (job.block() * starts.len());
        let bytes = job.plan.width * job.elem.bytes();
        let mut places = Vec::new();
        for r in 0..job.block() {
            let row = (r * bytes) as i32;
            for start in &starts {
                places.extend((0..per as i32).map(|i| (*start, row + job.plan.step() * i)));
            }
        }
        places
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
        (g, start, first, step): (Value, Value, Value, Value),
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
        for (which, (_, var)) in of_side(&job.tiles, Side::Column).enumerate() {
            let at = self.panel(job, place, which, (g, step));
            let group = Group::new(&job.plan, job.tiles.column, now);
            let vectors = self.lanes_load(&group, job.elem, at, job.elem.bytes() as i64);
            for row in &mut rows {
                row.lanes.insert(var, vectors.clone());
            }
        }
        let near = self.packed_rows(job);
        let near: Vec<(Var, Value)> = near
            .into_iter()
            .enumerate()
            .map(|(which, (_, var))| (var, self.row_place(job, place, which, (start, step))))
            .collect();
        for side in [Side::Row, Side::Step] {
            for (staged, var) in of_side(&job.tiles, side) {
                if near.iter().all(|(v, _)| *v != var) {
                    self.jam(job, &mut rows, &staged.slice);
                }
            }
        }
        // Row by row, so that what one has read is used at once.
        let (mut next, mut first) = (Vec::new(), None);
        for (r, mut row) in rows.into_iter().enumerate() {
            for (var, at) in &near {
                let offset = r as i32 * (job.steps() * job.elem.bytes() as i64) as i32;
                let value = self.b.ins().load(clif(job.elem), plain(), *at, offset);
                row.values.insert(*var, value);
            }
            self.advance(job, (first.as_ref(), &mut row), &job.left);
            self.in_row(job, &mut row, |emit, group| {
                for result in &job.tiles.body.result {
                    next.extend(emit.packed(group, *result));
                }
            });
            first.get_or_insert(row);
        }
        next
    }

    /// Statements for all rows.
    fn jam(&mut self, job: &Job<'_>, rows: &mut [Row], stms: &[&Stm<Mem>]) {
        let Some((first, others)) = rows.split_first_mut() else {
            return;
        };
        self.advance(job, (None, first), stms);
        for row in others {
            self.advance(job, (Some(first), row), stms);
        }
    }

    /// Statements for a row, but for those that do not differ from those of the first one.
    fn advance(
        &mut self,
        job: &Job<'_>,
        (first, row): (Option<&Row>, &mut Row),
        stms: &[&Stm<Mem>],
    ) {
        for stm in stms {
            let differs = stm.binds.iter().any(|v| job.tiles.depends(*v).0);
            let Some(first) = first.filter(|_| !differs) else {
                self.in_row(job, row, |emit, group| emit.lanes_stm(group, stm));
                continue;
            };
            for var in &stm.binds {
                let value = first.values.get(var);
                row.values.extend(value.map(|value| (*var, *value)));
                let lanes = first.lanes.get(var);
                row.lanes.extend(lanes.map(|lanes| (*var, lanes.clone())));
            }
        }
    }

    /// Emits code for a group of lanes of a row.
    fn in_row(&mut self, job: &Job<'_>, row: &mut Row, f: impl FnOnce(&mut Self, &mut Group<'_>)) {
        let mut group = Group::of_lanes(&job.plan, std::mem::take(&mut row.lanes));
        std::mem::swap(&mut self.values, &mut row.values);
        f(self, &mut group);
        std::mem::swap(&mut self.values, &mut row.values);
        row.lanes = group.lanes;
    }
}
