//! Packing: what the columns of a tile read in some steps, side by side.

use super::{Job, Place};
use crate::emit::lanes::Group;
use crate::emit::{Emit, plain};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Value};
use midend::analysis::tiles::{Side, Staged};
use midend::ir::id::Var;
use midend::ir::mem::Mem;
use midend::ir::syntax::Atom;

impl Job<'_> {
    /// The reads of columns, and the variables that they bind.
    pub(super) fn of_columns(&self) -> Vec<(&Staged<'_, Mem>, Var)> {
        let both = self.tiles.staged.iter().zip(self.tiles.reads());
        both.filter(|(staged, _)| staged.side == Side::Column)
            .map(|(staged, read)| (staged, read.binds[0]))
            .collect()
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
                emit.few((zero, count), &[], |emit, step, _| {
                    let now = emit.b.ins().iadd(first, step);
                    emit.bind(job.tiles.counter, now);
                    for (which, (staged, var)) in job.of_columns().into_iter().enumerate() {
                        let to = emit.panel(job, place, which, (g, step));
                        if is_whole {
                            emit.pack_lanes(job, staged, var, (column, to));
                        } else {
                            emit.pack_some(job, place, staged, var, (column, to));
                        }
                    }
                    vec![]
                });
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
        let before = which as i64 * job.steps() * job.columns();
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
        for stm in &staged.slice {
            self.lanes_stm(&mut group, stm);
        }
        let vectors = self.packed(&mut group, Atom::Var(var));
        for (i, vector) in vectors.into_iter().enumerate() {
            let offset = job.plan.step() * i as i32;
            self.b.ins().store(plain(), vector, to, offset);
        }
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
}
