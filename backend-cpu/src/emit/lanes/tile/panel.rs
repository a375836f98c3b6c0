//! Packing: what the columns of a tile read in some steps, side by side, and what its rows read.

use super::{Job, MOST_ROWS, Place, of_side};
use crate::emit::lanes::turn::{Apart, Reads};
use crate::emit::lanes::{Group, Lanes};
use crate::emit::{Emit, plain};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Value, types};
use midend::analysis::tiles::{Side, Staged};
use midend::ir::id::Var;
use midend::ir::mem::Mem;
use midend::ir::syntax::{Atom, Exp, Stm};

/// A read in the steps from a first one on.
fn reads<'j>(job: &'j Job<'_>, staged: &'j Staged<'_, Mem>, first: Value) -> Reads<'j> {
    Reads {
        slice: staged.slice.clone(),
        counter: job.tiles.counter,
        first,
        elem: job.elem,
        asks_next: false,
    }
}

impl Emit<'_, '_> {
    /// Packs what is read in `count` steps from `first` on.
    pub(super) fn pack(&mut self, job: &Job<'_>, place: Place, (first, count): (Value, Value)) {
        let groups = self.parts(place.columns, job.width());
        let zero = self.i64(0);
        self.few((zero, groups), &[], |emit, g, _| {
            let ahead = emit.b.ins().imul_imm_s(g, job.width());
            let column = emit.b.ins().iadd(place.column, ahead);
            let end = emit.b.ins().iadd_imm_s(column, job.width() - 1);
            let whole = emit
                .b
                .ins()
                .icmp(IntCC::SignedLessThanOrEqual, end, place.last_column);
            let blocks = [(); 3].map(|()| emit.b.create_block());
            emit.b.ins().brif(whole, blocks[0], &[], blocks[1], &[]);
            for (block, is_whole) in blocks.iter().zip([true, false]) {
                emit.b.switch_to_block(*block);
                for (which, (staged, var)) in of_side(&job.tiles, Side::Column).enumerate() {
                    let mut start = zero;
                    if is_whole {
                        let panel = emit.panel(job, place, which, (g, zero));
                        let mut group = Group::new(&job.plan, job.tiles.column, column);
                        let reads = reads(job, staged, first);
                        let turned = emit.turned(&mut group, &reads, (panel, count));
                        start = turned.unwrap_or(zero);
                    }
                    emit.few((start, count), &[], |emit, step, _| {
                        let now = emit.b.ins().iadd(first, step);
                        emit.bind(job.tiles.counter, now);
                        let to = emit.panel(job, place, which, (g, step));
                        if is_whole {
                            emit.pack_lanes(job, staged, var, (column, to));
                        } else {
                            emit.pack_some(job, place, staged, var, (column, to));
                        }
                        vec![]
                    });
                }
                emit.b.ins().jump(blocks[2], &[]);
            }
            emit.b.switch_to_block(blocks[2]);
            vec![]
        });
    }

    /// The address of what a group of lanes reads in a step.
    pub(super) fn panel(
        &mut self,
        job: &Job<'_>,
        place: Place,
        which: usize,
        (group, step): (Value, Value),
    ) -> Value {
        let at = self.b.ins().imul_imm_s(group, job.steps());
        let at = self.b.ins().iadd(at, step);
        let at = self.b.ins().imul_imm_s(at, job.width());
        let before = which as i64 * job.steps() * job.most_columns();
        let at = self.b.ins().iadd_imm_s(at, before);
        self.element(place.panels, job.elem, at)
    }

    /// A group of columns that are all in the space.
    fn pack_lanes(
        &mut self,
        job: &Job<'_>,
        staged: &Staged<'_, Mem>,
        var: Var,
        (column, to): (Value, Value),
    ) {
        let mut group = Group::new(&job.plan, job.tiles.column, column);
        self.pack_group(&mut group, &staged.slice, var, to);
    }

    /// A group of which some columns are not.
    fn pack_some(
        &mut self,
        job: &Job<'_>,
        place: Place,
        staged: &Staged<'_, Mem>,
        var: Var,
        (first, to): (Value, Value),
    ) {
        for lane in 0..job.width() {
            let column = self.b.ins().iadd_imm_s(first, lane);
            let column = self.least(column, place.last_column);
            self.bind(job.tiles.column, column);
            for stm in &staged.slice {
                self.stm(stm);
            }
            let value = self.var(var);
            let offset = lane as i32 * job.elem.bytes() as i32;
            self.b.ins().store(plain(), value, to, offset);
        }
    }

    /// The reads of rows that are packed: numbers of the type of what is carried.
    pub(super) fn packed_rows<'j>(&self, job: &'j Job<'_>) -> Vec<(&'j Staged<'j, Mem>, Var)> {
        let rows = of_side(&job.tiles, Side::Row);
        rows.filter(|(_, var)| self.elem(*var) == job.elem)
            .collect()
    }

    /// Packs what so many rows read in `count` steps from `first` on, as it is needed: the steps of a row side by side, so that the rows of a
    /// block are at constant distances, wherever they come from, and none is in the way of another in the cache.
    pub(super) fn pack_rows(
        &mut self,
        job: &Job<'_>,
        place: Place,
        (first, count): (Value, Value),
    ) {
        let zero = self.i64(0);
        let blocks = self.parts(place.rows, job.block() as i64);
        let rows = self.b.ins().imul_imm_s(blocks, job.block() as i64);
        let shift = i64::from(job.width().trailing_zeros());
        let groups = self.b.ins().sshr_imm_u(count, shift);
        let whole = self.b.ins().imul_imm_s(groups, job.width());
        self.few((zero, rows), &[], |emit, number, _| {
            let row = emit.b.ins().iadd(place.row, number);
            let row = emit.least(row, place.last_row);
            emit.bind(job.row, row);
            for (which, (staged, var)) in emit.packed_rows(job).into_iter().enumerate() {
                let reads = reads(job, staged, first);
                let side = emit.row_side_by_side(job, place, (which, number, groups), &reads);
                let start = side.unwrap_or(zero);
                emit.few((start, groups), &[], |emit, g, _| {
                    let step = emit.b.ins().imul_imm_s(g, job.width());
                    let now = emit.b.ins().iadd(first, step);
                    let to = emit.row_place(job, place, which, (number, step));
                    let mut group = Group::new(&job.along, job.tiles.counter, now);
                    emit.pack_group(&mut group, &staged.slice, var, to);
                    vec![]
                });
                emit.few((whole, count), &[], |emit, step, _| {
                    let now = emit.b.ins().iadd(first, step);
                    emit.bind(job.tiles.counter, now);
                    for stm in &staged.slice {
                        emit.stm(stm);
                    }
                    let to = emit.row_place(job, place, which, (number, step));
                    let value = emit.var(var);
                    emit.b.ins().store(plain(), value, to, 0);
                    vec![]
                });
            }
            vec![]
        });
    }

    /// Packs what a row reads in groups of steps if it lies side by side, which is known only now: the first group that is left.
    fn row_side_by_side(
        &mut self,
        job: &Job<'_>,
        place: Place,
        (which, number, groups): (usize, Value, Value),
        reads: &Reads<'_>,
    ) -> Option<Value> {
        let apart = reads.apart().filter(Apart::is_asked)?;
        let (load, find) = reads.slice.split_last()?;
        let Exp::Op(Mem::Load { buffer, index }) = &load.exp else {
            return None;
        };
        self.bind(reads.counter, reads.first);
        for stm in find {
            self.stm(stm);
        }
        let (side, rest) = (self.b.create_block(), self.b.create_block());
        let left = self.b.append_block_param(rest, types::I64);
        let zero = self.i64(0);
        self.side_by_side(&apart, (side, rest), &[zero.into()]);
        self.b.switch_to_block(side);
        let (buffer, index) = (self.var(*buffer), self.atom(*index));
        let from = self.element(buffer, reads.elem, index);
        let to = self.row_place(job, place, which, (number, zero));
        self.few((zero, groups), &[], |emit, g, _| {
            let ahead = emit.b.ins().imul_imm_s(g, job.width());
            let [from, to] = [from, to].map(|start| emit.element(start, reads.elem, ahead));
            let group = Group::new(&job.along, job.tiles.counter, ahead);
            let vectors = emit.lanes_load(&group, reads.elem, from, reads.elem.bytes() as i64);
            if let Lanes::Packed(vectors) = vectors {
                emit.put_side_by_side(&group, vectors, to);
            }
            vec![]
        });
        self.b.ins().jump(rest, &[groups.into()]);
        self.b.switch_to_block(rest);
        Some(left)
    }

    /// The address of what a row reads in a step.
    pub(super) fn row_place(
        &mut self,
        job: &Job<'_>,
        place: Place,
        which: usize,
        (number, step): (Value, Value),
    ) -> Value {
        let at = self.b.ins().imul_imm_s(number, job.steps());
        let at = self.b.ins().iadd(at, step);
        let at = self
            .b
            .ins()
            .iadd_imm_s(at, which as i64 * job.steps() * MOST_ROWS);
        self.element(place.near, job.elem, at)
    }

    /// Puts what a group of lanes reads side by side.
    fn pack_group(&mut self, group: &mut Group<'_>, slice: &[&Stm<Mem>], var: Var, to: Value) {
        for stm in slice {
            self.lanes_stm(group, stm);
        }
        let vectors = self.packed(group, Atom::Var(var));
        self.put_side_by_side(group, vectors, to);
    }

    fn put_side_by_side(&mut self, group: &Group<'_>, vectors: Vec<Value>, to: Value) {
        for (i, vector) in vectors.into_iter().enumerate() {
            let offset = group.plan.step() * i as i32;
            self.b.ins().store(plain(), vector, to, offset);
        }
    }
}
