//! Rows that points go through again and again.
//!
//! Where every point has a row of its own, what neighbours read in a step lies far apart, so that vectors are put together lane by
//! lane. If a loop around goes through the same rows in each of its steps, that is done once for all of them:
//!
//! ```text
//! loop for c < k {                      loop for j < d { panel[j] = x[first..][j] }
//!   loop for j < d {                    loop for c < k {
//!     .. centres[c][j] .. x[i][j] ..  →   loop for j < d { .. centres[c][j] .. panel[j] .. }
//! ```
//!
//! Every step of the loop around would read all of these elements, with no check before or between, so reading them ahead fails
//! nowhere. Rows that are too long for the panel to be near are read as they lie.

use super::turn::Reads;
use super::vector::lanes_per_vector;
use super::{Group, Lanes};
use crate::emit::{Emit, block_args, clif, control, plain};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Value, types};
use midend::ir::id::Var;
use midend::ir::mem::Mem;
use midend::ir::syntax::{Atom, Body, Exp, LoopForm, Stm, Vars};
use midend::ir::types::ScalarType;
use midend::ir::walk::{all_stms, body_binders};
use std::collections::BTreeSet;

/// Bytes of a panel: a part of the second nearest cache.
const PANEL: i64 = 128 << 10;

/// A read of a row that each point has for itself.
#[derive(Clone, Debug)]
pub(super) struct Row {
    /// The counter of the loop whose steps all go through the row.
    around: Var,
    /// That of the loop that goes through it, and its bound.
    pub(super) counter: Var,
    bound: Atom,
    /// What computes the index, and the read.
    pub(super) slice: Vec<Stm<Mem>>,
    /// What the read binds, and its type.
    pub(super) element: Var,
    pub(super) elem: ScalarType,
}

/// A loop around a statement.
struct Level<'b> {
    counter: Var,
    bound: Atom,
    body: &'b Body<Mem>,
    /// What is bound in it.
    own: BTreeSet<Var>,
    /// Whether it only reads and computes.
    is_plain: bool,
}

/// The reads of rows of a body, of elements that are put in vectors.
pub(super) fn rows(vars: &Vars, body: &Body<Mem>, integers: bool) -> Vec<Row> {
    let mut found = Vec::new();
    within(vars, body, &mut Vec::new(), &mut found);
    found.retain(|row| lanes_per_vector(row.elem, integers).is_some());
    found
}

fn within<'b>(vars: &Vars, body: &'b Body<Mem>, levels: &mut Vec<Level<'b>>, found: &mut Vec<Row>) {
    for stm in &body.stms {
        match &stm.exp {
            Exp::Loop {
                params,
                form: LoopForm::For { index, bound },
                body,
            } => {
                let mut own: BTreeSet<Var> = params.iter().map(|param| param.var).collect();
                own.insert(*index);
                body_binders(body, &mut |v| {
                    own.insert(v);
                });
                levels.push(Level {
                    counter: *index,
                    bound: *bound,
                    body,
                    own,
                    is_plain: only_reads(body),
                });
                within(vars, body, levels, found);
                levels.pop();
            }
            Exp::Op(Mem::Load { .. }) => {
                let outermost = (0..levels.len().saturating_sub(1))
                    .find_map(|outer| row(vars, stm, &levels[outer..]));
                found.extend(outermost);
            }
            Exp::Atom(_)
            | Exp::Scalar(..)
            | Exp::Assert { .. }
            | Exp::Guard { .. }
            | Exp::If { .. }
            | Exp::Loop { .. }
            | Exp::Call { .. }
            | Exp::Op(_) => {}
        }
    }
}

/// Whether a body has nothing that fails or writes.
fn only_reads(body: &Body<Mem>) -> bool {
    let mut only = true;
    all_stms(body, &mut |stm| {
        only &= match &stm.exp {
            Exp::Atom(_) | Exp::Scalar(..) | Exp::If { .. } | Exp::Loop { .. } => true,
            Exp::Op(op) => matches!(op, Mem::Load { .. }),
            Exp::Assert { .. } | Exp::Guard { .. } | Exp::Call { .. } => false,
        };
    });
    only
}

/// A read in the innermost of some loops as that of a row, if the outermost of them goes through the same one in each step.
fn row(vars: &Vars, stm: &Stm<Mem>, levels: &[Level<'_>]) -> Option<Row> {
    let (outer, inner) = (levels.first()?, levels.last()?);
    let Exp::Op(Mem::Load { buffer, index }) = &stm.exp else {
        return None;
    };
    let outside = |atom: Atom| !atom.as_var().is_some_and(|v| outer.own.contains(&v));
    let in_i64 = vars[inner.counter].ty.elem() == Some(ScalarType::I64);
    if !(outer.is_plain && in_i64 && outside(Atom::Var(*buffer)) && outside(inner.bound)) {
        return None;
    }
    let mut needed: BTreeSet<Var> = index.as_var().into_iter().collect();
    let mut slice = vec![stm.clone()];
    let inside = levels
        .iter()
        .rev()
        .flat_map(|level| level.body.stms.iter().rev());
    for stm in inside.filter(|stm| matches!(stm.exp, Exp::Atom(_) | Exp::Scalar(..))) {
        if needed.remove(&stm.binds[0]) {
            stm.exp.operands(&mut |atom| needed.extend(atom.as_var()));
            slice.push(stm.clone());
        }
    }
    slice.reverse();
    let fixed = |v: &Var| *v == inner.counter || !outer.own.contains(v);
    needed.iter().all(fixed).then_some(Row {
        around: outer.counter,
        counter: inner.counter,
        bound: inner.bound,
        slice,
        element: stm.binds[0],
        elem: vars[*buffer].ty.elem()?,
    })
}

/// What is computed for anything but to find the elements of rows.
pub(super) fn needed(body: &Body<Mem>, rows: &[Row]) -> BTreeSet<Var> {
    let mut needed = BTreeSet::new();
    needed_in(body, rows, &mut needed);
    needed
}

fn needed_in(body: &Body<Mem>, rows: &[Row], needed: &mut BTreeSet<Var>) {
    needed.extend(body.result.iter().filter_map(|atom| atom.as_var()));
    for stm in body.stms.iter().rev() {
        let of_row = |v: &Var| rows.iter().any(|row| row.element == *v);
        let passes = match &stm.exp {
            Exp::Atom(_) | Exp::Scalar(..) => stm.binds.iter().any(|v| needed.contains(v)),
            Exp::Op(Mem::Load { .. }) => !stm.binds.iter().any(of_row),
            Exp::Assert { .. }
            | Exp::Guard { .. }
            | Exp::If { .. }
            | Exp::Loop { .. }
            | Exp::Call { .. }
            | Exp::Op(_) => true,
        };
        if passes {
            stm.exp.operands(&mut |atom| needed.extend(atom.as_var()));
        }
        stm.exp
            .scopes(&mut |_, inner| needed_in(inner, rows, needed));
    }
}

impl Emit<'_, '_> {
    /// What a loop is made of that all lanes go through together: `emit` emits it, once with the rows that it goes through again and again in
    /// panels, where there are such rows and they are short enough, and once as they lie.
    pub(super) fn with_rows(
        &mut self,
        group: &mut Group<'_>,
        (counter, bound, is_short): (Var, Value, bool),
        inits: &[Value],
        emit: impl Fn(&mut Self, &mut Group<'_>, bool) -> Vec<Value>,
    ) -> Vec<Value> {
        let plan = group.plan;
        let rows: Vec<&Row> = plan
            .rows
            .iter()
            .filter(|row| row.around == counter)
            .collect();
        if rows.is_empty() {
            let is_short = is_short && self.known(bound).is_some_and(|n| i32::try_from(n).is_ok());
            return emit(self, group, is_short);
        }
        let more = match self.elem(counter).is_unsigned() {
            true => IntCC::UnsignedGreaterThan,
            false => IntCC::SignedGreaterThan,
        };
        let mut near = self.b.ins().icmp_imm_s(more, bound, 1);
        let lengths: Vec<Value> = rows.iter().map(|row| self.atom(row.bound)).collect();
        for (row, length) in rows.iter().zip(&lengths) {
            let most = PANEL / (plan.width * row.elem.bytes()) as i64;
            let fits = IntCC::UnsignedLessThanOrEqual;
            let fits = self.b.ins().icmp_imm_s(fits, *length, most);
            near = self.b.ins().band(near, fits);
        }
        if is_short {
            let bound = self.resize(bound, clif(self.elem(counter)), types::I64, true);
            let most = i64::from(i32::MAX);
            let fits = IntCC::SignedLessThanOrEqual;
            let fits = self.b.ins().icmp_imm_s(fits, bound, most);
            near = self.b.ins().band(near, fits);
        }
        let blocks = [(); 2].map(|()| self.b.create_block());
        let done = self.b.create_block();
        let types = self.types_of(inits);
        let results = self.params(done, &types);
        self.b.ins().brif(near, blocks[0], &[], blocks[1], &[]);
        let outside = group.lanes.clone();
        self.b.switch_to_block(blocks[0]);
        let values = self.released(|this| {
            for (row, length) in rows.iter().zip(lengths) {
                let panel = this.row_panel(group, row, length);
                group.panels.insert(row.element, panel);
            }
            emit(this, group, is_short)
        });
        self.b.ins().jump(done, &block_args(values));
        for row in rows {
            group.panels.remove(&row.element);
        }
        group.lanes = outside;
        self.b.switch_to_block(blocks[1]);
        let values = emit(self, group, false);
        self.b.ins().jump(done, &block_args(values));
        self.b.switch_to_block(done);
        results
    }

    /// Reads the rows of all lanes and puts them in a panel.
    fn row_panel(&mut self, group: &mut Group<'_>, row: &Row, length: Value) -> Value {
        let width = group.plan.width as i64;
        let count = self.b.ins().imul_imm_s(length, width);
        let panel = self.take(row.elem, count);
        let outside = group.lanes.clone();
        let body = Body {
            stms: row.slice.clone(),
            result: vec![],
        };
        let strip = control::strip(&body);
        let zero = self.i64(0);
        let reads = Reads {
            slice: row.slice.iter().collect(),
            counter: row.counter,
            first: zero,
            elem: row.elem,
            asks_next: true,
        };
        let first = self.turned(group, &reads, (panel, length)).unwrap_or(zero);
        let range = (first, length);
        self.range(ScalarType::I64, range, strip, &[], |emit, j, _| {
            emit.bind(row.counter, j);
            emit.lanes_body(group, &body);
            let to = emit.panel_step(group, row.elem, (panel, j));
            let vectors = emit.packed(group, Atom::Var(row.element));
            for (i, vector) in vectors.into_iter().enumerate() {
                let offset = group.plan.step() * i as i32;
                emit.b.ins().store(plain(), vector, to, offset);
            }
            vec![]
        });
        group.lanes = outside;
        panel
    }

    /// Where a panel has what is read in a step.
    pub(super) fn panel_step(
        &mut self,
        group: &Group<'_>,
        elem: ScalarType,
        (panel, step): (Value, Value),
    ) -> Value {
        let at = self.b.ins().imul_imm_s(step, group.plan.width as i64);
        self.element(panel, elem, at)
    }

    /// A read of rows, if they are in a panel.
    pub(super) fn row_load(&mut self, group: &Group<'_>, bind: Var) -> Option<Lanes> {
        let panel = *group.panels.get(&bind)?;
        let row = group.plan.rows.iter().find(|row| row.element == bind)?;
        let step = self.var(row.counter);
        let start = self.panel_step(group, row.elem, (panel, step));
        Some(self.lanes_load(group, row.elem, start, row.elem.bytes() as i64))
    }
}
