//! What comes after the loop: for whole blocks as soon as the last step is done, from registers, for what is left of a tile from memory.

use super::{Job, Place};
use crate::emit::lanes::{Group, Lanes};
use crate::emit::{Emit, clif, plain};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Value};
use midend::fired::fired;
use midend::ir::id::Var;
use midend::ir::mem::Mem;
use midend::ir::syntax::{Atom, Exp, Stm};
use std::collections::BTreeSet;

/// The most statements after a loop of which there is code for each row of a block.
const MOST: usize = 24;

/// What comes after the loop.
pub(super) struct Rest<'j> {
    after: Vec<&'j Stm<Mem>>,
    in_lanes: bool,
    /// Whether it is done block by block.
    pub(super) at_once: bool,
}

impl Emit<'_, '_> {
    /// What comes after the loop of a job.
    pub(super) fn rest<'j>(&self, job: &'j Job<'_>) -> Rest<'j> {
        let rest = job.tiles.before_rest(self.vars, &[]);
        let after: Vec<&Stm<Mem>> = rest.into_iter().chain(job.tiles.after).collect();
        let in_lanes = after.iter().all(|stm| {
            let plain = matches!(stm.exp, Exp::Op(Mem::Load { .. } | Mem::Store { .. }));
            plain || matches!(stm.exp, Exp::Atom(_) | Exp::Scalar(..))
        });
        Rest {
            at_once: in_lanes && after.len() <= MOST,
            after,
            in_lanes,
        }
    }

    /// Whether a block of rows from `start` on and its group of lanes are all in the tile.
    pub(super) fn is_whole(
        &mut self,
        job: &Job<'_>,
        place: Place,
        (g, start): (Value, Value),
    ) -> Value {
        let end = self.b.ins().iadd_imm_s(start, job.block() as i64);
        let fits = IntCC::SignedLessThanOrEqual;
        let rows = self.b.ins().icmp(fits, end, place.rows);
        let next = self.b.ins().iadd_imm_s(g, 1);
        let end = self.b.ins().imul_imm_s(next, job.width());
        let columns = self.b.ins().icmp(fits, end, place.columns);
        self.b.ins().band(rows, columns)
    }

    /// Asks for what comes after the loop will read of a block, before its last steps.
    pub(super) fn rest_soon(
        &mut self,
        job: &Job<'_>,
        place: Place,
        (g, start): (Value, Value),
        rest: &Rest<'_>,
    ) {
        let reads = |stm: &&Stm<Mem>| matches!(stm.exp, Exp::Op(Mem::Load { .. }));
        if job.plan.parts == 1 || !rest.at_once || !rest.after.iter().any(reads) {
            return;
        }
        fired("cpu/rest-of-tiles-soon");
        let ahead = self.b.ins().imul_imm_s(g, job.width());
        let column = self.b.ins().iadd(place.column, ahead);
        let first = self.b.ins().iadd(place.row, start);
        for r in 0..job.block() as i64 {
            let row = self.b.ins().iadd_imm_s(first, r);
            self.bind(job.row, row);
            let mut group = Group::new(&job.plan, job.tiles.column, column);
            // What is not known yet is what comes of elements and of steps.
            let mut unknown: BTreeSet<Var> = job.tiles.binds.iter().copied().collect();
            for stm in &rest.after {
                let mut known = true;
                stm.exp.operands(&mut |atom| {
                    known &= !atom.as_var().is_some_and(|v| unknown.contains(&v));
                });
                if let Exp::Op(Mem::Load { buffer, index }) = &stm.exp
                    && known
                {
                    self.lines_soon(&mut group, *buffer, *index);
                }
                if known && matches!(stm.exp, Exp::Atom(_) | Exp::Scalar(..)) {
                    self.lanes_stm(&mut group, stm);
                } else {
                    unknown.extend(&stm.binds);
                }
            }
        }
    }

    /// Asks for the elements at indices that grow by one from lane to lane.
    fn lines_soon(&mut self, group: &mut Group<'_>, buffer: Var, index: Atom) {
        let side_by_side = index.as_var().and_then(|v| match group.lanes.get(&v) {
            Some(Lanes::Linear(first, 1)) => Some(*first),
            Some(
                Lanes::Linear(..)
                | Lanes::Many(_)
                | Lanes::Packed(_)
                | Lanes::Narrow(_)
                | Lanes::Mask(_),
            )
            | None => None,
        });
        if let Some(first) = side_by_side {
            let elem = self.elem(buffer);
            let start = self.var(buffer);
            let start = self.element(start, elem, first);
            self.ask_for(start, (group.plan.width * elem.bytes()) as i32);
        }
    }

    /// For a whole block, of which these are the last values carried, row by row.
    pub(super) fn rest_at_once(
        &mut self,
        job: &Job<'_>,
        place: Place,
        (g, start): (Value, Value),
        (last, rest): (&[Value], &Rest<'_>),
    ) {
        fired("cpu/rest-of-tiles-at-once");
        let ahead = self.b.ins().imul_imm_s(g, job.width());
        let column = self.b.ins().iadd(place.column, ahead);
        let first = self.b.ins().iadd(place.row, start);
        let mut vectors = last.chunks(last.len() / job.block() / job.tiles.binds.len());
        for r in 0..job.block() as i64 {
            let row = self.b.ins().iadd_imm_s(first, r);
            self.bind(job.row, row);
            let mut group = Group::new(&job.plan, job.tiles.column, column);
            for bind in job.tiles.binds {
                let mine = vectors.next().unwrap_or_default().to_vec();
                group.lanes.insert(*bind, Lanes::Packed(mine));
            }
            for stm in &rest.after {
                self.lanes_stm(&mut group, stm);
            }
        }
    }

    /// What comes after the loop, for every point of the tile.
    pub(super) fn tile_rest(&mut self, job: &Job<'_>, place: Place, rest: &Rest<'_>) {
        let after = &rest.after;
        let zero = self.i64(0);
        // Of these rows only what is not in whole groups of lanes is left.
        let done = match rest.at_once {
            true => self.b.ins().band_imm_s(place.rows, -(job.block() as i64)),
            false => zero,
        };
        self.few((zero, place.rows), &[], |emit, r, _| {
            let row = emit.b.ins().iadd(place.row, r);
            emit.bind(job.row, row);
            let shift = i64::from(job.width().trailing_zeros());
            let mut left = zero;
            if rest.in_lanes {
                let groups = emit.b.ins().sshr_imm_u(place.columns, shift);
                let is_done = emit.b.ins().icmp(IntCC::SignedLessThan, r, done);
                let first = emit.b.ins().select(is_done, groups, zero);
                emit.few((first, groups), &[], |emit, g, _| {
                    emit.rest_in_lanes(job, place, (g, r), after);
                    vec![]
                });
                left = emit.b.ins().imul_imm_s(groups, job.width());
            }
            emit.few((left, place.columns), &[], |emit, c, _| {
                let column = emit.b.ins().iadd(place.column, c);
                emit.bind(job.tiles.column, column);
                let group = emit.b.ins().sshr_imm_u(c, shift);
                let lane = emit.b.ins().band_imm_s(c, job.width() - 1);
                for (which, bind) in job.tiles.binds.iter().enumerate() {
                    let at = emit.waiting(job, place, which, [group, r, lane]);
                    let value = emit.b.ins().load(clif(job.elem), plain(), at, 0);
                    emit.bind(*bind, value);
                }
                emit.scoped(&job.kernel.body, |emit| {
                    for stm in after {
                        emit.stm(stm);
                    }
                });
                vec![]
            });
            vec![]
        });
    }

    /// The same for a group of lanes.
    fn rest_in_lanes(
        &mut self,
        job: &Job<'_>,
        place: Place,
        (g, r): (Value, Value),
        after: &[&Stm<Mem>],
    ) {
        let zero = self.i64(0);
        let ahead = self.b.ins().imul_imm_s(g, job.width());
        let column = self.b.ins().iadd(place.column, ahead);
        let mut group = Group::new(&job.plan, job.tiles.column, column);
        for (which, bind) in job.tiles.binds.iter().enumerate() {
            let at = self.waiting(job, place, which, [g, r, zero]);
            let vectors = self.lanes_load(&group, job.elem, at, job.elem.bytes() as i64);
            group.lanes.insert(*bind, vectors);
        }
        for stm in after {
            self.lanes_stm(&mut group, stm);
        }
    }
}
