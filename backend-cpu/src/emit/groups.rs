//! Rows of points of a map in groups, each of which is worked on in lanes.
//!
//! A row is seldom so many groups and no more. Where nothing is read that the map writes, points may be done twice: the last group then
//! ends where the row ends and covers some of those of the group before. Inside of rows, whose start is where a first neighbour is,
//! all groups but the first begin where results lie at whole lines of the cache.
//!
//! ```text
//! row       0 1 2 3 4 5 6 7 8 9 a b c d
//! groups      1 2 3 4
//!                   4 5 6 7
//!                           8 9 a b
//!                             9 a b c
//! alone     0                         d
//! ```

use super::Emit;
use super::lanes::{Interior, Plan, Usual};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Value, types};
use midend::fired::fired;
use midend::ir::id::Var;
use midend::ir::mem::{Kernel, Mem};
use midend::ir::syntax::{Body, Exp};
use midend::ir::types::ScalarType;
use midend::ir::walk::all_stms;
use std::collections::BTreeSet;

/// The most pairs of buffers that are compared.
const PAIRS: usize = 96;
/// Bytes of a line of the cache.
const LINE: i64 = 64;

/// A row, or a part of one.
#[derive(Clone, Copy)]
pub(super) struct Row {
    /// Its first point, and that after its last.
    pub(super) range: (Value, Value),
    /// What makes a flat index of an index in the row when added, if the space has no ragged dimension.
    pub(super) base: Option<Value>,
}

/// Groups of a row: where each begins, how many there are, and the first point that is left.
struct Groups {
    origin: Value,
    least: Value,
    most: Value,
    count: Value,
    left: Value,
}

/// The buffers that a body reads, and those that it writes, but for those that it makes.
pub(super) fn buffers(body: &Body<Mem>) -> (BTreeSet<Var>, BTreeSet<Var>) {
    let (mut read, mut written) = (BTreeSet::new(), BTreeSet::new());
    let mut own = BTreeSet::new();
    all_stms(body, &mut |stm| match &stm.exp {
        Exp::Op(Mem::Alloc { .. }) => own.extend(stm.binds.iter().copied()),
        Exp::Op(Mem::Load { buffer, .. }) => {
            read.insert(*buffer);
        }
        Exp::Op(Mem::Store { buffer, .. }) => {
            written.insert(*buffer);
        }
        Exp::Atom(_)
        | Exp::Scalar(..)
        | Exp::Assert { .. }
        | Exp::Guard { .. }
        | Exp::If { .. }
        | Exp::Loop { .. }
        | Exp::Call { .. }
        | Exp::Op(_) => {}
    });
    for buffers in [&mut read, &mut written] {
        buffers.retain(|v| !own.contains(v));
    }
    (read, written)
}

impl Emit<'_, '_> {
    /// Whether points of a map may be done twice: nothing is read that is written, under whatever name. Nothing if they may not, or if a
    /// buffer gets its name only inside of the body, as what a loop carries does.
    pub(super) fn may_repeat(&mut self, body: &Body<Mem>) -> Option<Value> {
        let (read, written) = buffers(body);
        let is_inside = |v: &Var| !self.is_bound(*v);
        let any_inside = !written.is_empty() && read.union(&written).any(is_inside);
        if any_inside || !read.is_disjoint(&written) || read.len() * written.len() > PAIRS {
            return None;
        }
        let mut apart = self.b.ins().iconst(types::I8, 1);
        for to in &written {
            for from in &read {
                let (to, from) = (self.var(*to), self.var(*from));
                let differ = self.b.ins().icmp(IntCC::NotEqual, to, from);
                apart = self.b.ins().band(apart, differ);
            }
        }
        Some(apart)
    }

    /// The groups of a range of points. `line` says how many points share a line of the cache with results, if groups are to begin at lines.
    fn groups(
        &mut self,
        row: Row,
        (width, line): (i64, Option<i64>),
        again: Option<Value>,
    ) -> Groups {
        let (first, last) = row.range;
        let shift = i64::from(width.trailing_zeros());
        let length = self.b.ins().isub(last, first);
        let most = self.b.ins().iadd_imm_s(last, -width);
        let whole = self.b.ins().sshr_imm_u(length, shift);
        let covered = self.b.ins().imul_imm_s(whole, width);
        let left = self.b.ins().iadd(first, covered);
        let few = Groups {
            origin: first,
            least: first,
            most,
            count: whole,
            left,
        };
        let Some(again) = again else {
            return few;
        };
        let enough = IntCC::SignedGreaterThanOrEqual;
        let enough = self.b.ins().icmp_imm_s(enough, length, width);
        let again = self.b.ins().band(again, enough);
        let mut origin = first;
        if let (Some(line), Some(base)) = (line, row.base) {
            let flat = self.b.ins().iadd(base, first);
            let behind = self.b.ins().band_imm_s(flat, line - 1);
            let behind = self.aligned(again, behind);
            origin = self.b.ins().isub(first, behind);
        }
        let length = self.b.ins().isub(last, origin);
        let rounded = self.b.ins().iadd_imm_s(length, width - 1);
        let all = self.b.ins().sshr_imm_u(rounded, shift);
        Groups {
            origin,
            least: first,
            most,
            count: self.b.ins().select(again, all, whole),
            left: self.b.ins().select(again, last, left),
        }
    }

    /// These groups, or none if there is no room for the arrays of one.
    fn with_room(&mut self, plan: &Plan, row: Row, groups: Groups) -> Groups {
        let Some(room) = self.room(plan) else {
            return groups;
        };
        Groups {
            count: self.aligned(room, groups.count),
            left: self.b.ins().select(room, groups.left, row.range.0),
            ..groups
        }
    }

    /// A number if a condition holds, else zero.
    fn aligned(&mut self, cond: Value, number: Value) -> Value {
        let zero = self.i64(0);
        self.b.ins().select(cond, number, zero)
    }

    /// Works on the groups of a row.
    fn in_groups(
        &mut self,
        (plan, body): (&Plan, &Body<Mem>),
        index: Var,
        groups: &Groups,
        count: Value,
    ) {
        let strip = super::control::strip(body);
        let width = plan.width as i64;
        let length = self.b.ins().imul_imm_s(count, width);
        let end = self.b.ins().iadd(groups.origin, length);
        let range = (ScalarType::I64, (groups.origin, end));
        self.range_by(width, range, strip, &[], |emit, start, _| {
            let mut start = start;
            if groups.origin != groups.least {
                start = emit.b.ins().smax(start, groups.least);
            }
            let start = emit.b.ins().smin(start, groups.most);
            emit.group(plan, body, index, start);
            vec![]
        });
    }

    /// Works on the groups of the inside of a row, which may be one of most.
    fn in_usual_groups(
        &mut self,
        (plan, interior): (&Plan, &Interior),
        usual: Option<(&Usual, Value)>,
        index: Var,
        (groups, count): (&Groups, Value),
    ) {
        let all = (plan, &interior.kernel.body);
        let Some((usual, is_usual)) = usual else {
            return self.in_groups(all, index, groups, count);
        };
        fired("cpu/usual-rows");
        let plan = usual.plan.as_ref().unwrap_or(plan);
        let most = (plan, &usual.kernel.body);
        let [yes, no, join] = std::array::from_fn(|_| self.b.create_block());
        self.b.ins().brif(is_usual, yes, &[], no, &[]);
        for (block, of) in [(yes, most), (no, all)] {
            self.b.switch_to_block(block);
            self.in_groups(of, index, groups, count);
            self.b.ins().jump(join, &[]);
        }
        self.b.switch_to_block(join);
    }

    /// A row of points, in groups as long as there are enough for one. Yields the first point that is left.
    pub(super) fn whole_groups(
        &mut self,
        kernel: &Kernel,
        (plan, again): (&Plan, Option<Value>),
        index: Var,
        row: Row,
    ) -> Value {
        let groups = self.groups(row, (plan.width as i64, None), again);
        let groups = self.with_room(plan, row, groups);
        let count = groups.count;
        self.in_groups((plan, &kernel.body), index, &groups, count);
        groups.left
    }

    /// A row of points, in groups as long as there are enough for one, then one by one.
    pub(super) fn grouped(
        &mut self,
        kernel: &Kernel,
        (plan, again): (&Plan, Option<Value>),
        index: Var,
        row: Row,
    ) {
        let left = self.whole_groups(kernel, (plan, again), index, row);
        let rest = (left, row.range.1);
        let alone = |emit: &mut Self, i: Value, _: &[Value]| {
            emit.bind(index, i);
            emit.scoped(&kernel.body, |emit| emit.body(&kernel.body));
            vec![]
        };
        if plan.has_arrays() {
            let strip = super::control::strip(&kernel.body);
            self.range(ScalarType::I64, rest, strip, &[], alone);
        } else {
            self.few(rest, &[], alone);
        }
    }

    /// A row of points: those before its inside one by one, those inside in groups as long as there are enough for one, and
    /// the rest one by one.
    pub(super) fn grouped_inside(
        &mut self,
        kernel: &Kernel,
        (plan, interior, again): (&Plan, &Interior, Option<Value>),
        index: Var,
        row: Row,
    ) {
        let (first, last) = row.range;
        let (low, high) = self.inside(interior, (first, last));
        let strip = super::control::strip(&kernel.body);
        let (zero, two) = (self.i64(0), self.i64(2));
        let high = self.b.ins().smax(high, low);
        let inside = Row {
            range: (low, high),
            ..row
        };
        let line = self.line(&kernel.body);
        let groups = self.groups(inside, (plan.width as i64, line), again);
        let groups = self.with_room(plan, inside, groups);
        let usual = interior.usual.as_ref();
        let usual = usual.map(|usual| (usual, self.is_usual(usual)));
        // What is done one by one, and how many groups behind it: at first before the inside, then behind it.
        let parts = [first, low, groups.count];
        self.few((zero, two), &parts, |emit, _, parts| {
            let range = (parts[0], parts[1]);
            emit.range(ScalarType::I64, range, strip, &[], |emit, i, _| {
                emit.bind(index, i);
                emit.scoped(&kernel.body, |emit| emit.body(&kernel.body));
                vec![]
            });
            emit.in_usual_groups((plan, interior), usual, index, (&groups, parts[2]));
            vec![groups.left, last, zero]
        });
    }

    /// How many of the results of a body fill a line of the cache.
    fn line(&self, body: &Body<Mem>) -> Option<i64> {
        let (_, written) = buffers(body);
        let bytes = written.iter().map(|v| self.elem(*v).bytes() as i64);
        Some(LINE / bytes.max()?)
    }
}
