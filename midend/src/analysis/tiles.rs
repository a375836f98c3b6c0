//! Which reads of a parallel operation can be brought near for many points at once (thesis 9.2).
//!
//! ```text
//! segmap device tiled 2 (i < n, j < p) {
//!   loop (acc = 0) for k < m {
//!     x = index a[i, k]      row: the same for all columns of a tile
//!     y = index b[k, j]      column: the same for all rows
//!     z = index c[k]         step: the same for all points
//! ```
//!
//! The operation executes a counted loop, equally often at all points, with nothing before it and in it that can fail or
//! write. Points in a tile of the innermost dimension, or of the two innermost ones, go through that loop together, some steps
//! at a time: for these, what a read yields is fetched once for each row, column or step, and stays near. Fetching computes
//! the index anew from the indices and the counter alone (the statements needed are the *slice* of the read), so that the index
//! may be any function of them; if it is read from another array, that is the indirect tiling of thesis 9.2.3.
//!
//! The flat program and the plan are looked at in the same way: the pass `tile` decides on the one, back ends stage on the
//! other.

use super::access::{Access, Along, Read, Reads, access};
use crate::ir::id::Var;
use crate::ir::syntax::{Atom, Body, Exp, LoopForm, LoopParam, Stm, Vars};
use crate::ir::types::Type;
use crate::ir::walk::free_in_stm;
use std::collections::BTreeSet;

/// The parts of a body that is worked on in tiles.
#[derive(Debug)]
pub struct Tiles<'b, D> {
    /// What comes before the loop: cheap, and without effect.
    pub before: &'b [Stm<D>],
    /// The variables that the loop binds.
    pub binds: &'b [Var],
    /// What the loop carries: scalars.
    pub params: &'b [LoopParam],
    /// The counter, of `i64`.
    pub counter: Var,
    /// The number of steps: a constant, or from outside.
    pub bound: Atom,
    /// A step.
    pub body: &'b Body<D>,
    /// What comes after the loop.
    pub after: &'b [Stm<D>],
    /// The index of the second innermost dimension, if that is worked on in tiles, too.
    pub row: Option<Var>,
    /// The index of the innermost dimension.
    pub column: Var,
    /// The reads that are worth staging; at least one.
    pub staged: Vec<Staged<'b, D>>,
    access: Access,
}

/// A read that several points share, at the top level of the loop.
#[derive(Debug)]
pub struct Staged<'b, D> {
    /// The number of its statement in the step.
    pub stm: usize,
    /// Who shares it.
    pub side: Side,
    /// How its place moves from step to step.
    pub by_step: Along,
    /// How its place moves from row to row, or from column to column.
    pub by_index: Along,
    /// The statements that compute its index, and the read, in order.
    pub slice: Vec<&'b Stm<D>>,
}

/// What a read depends on besides the step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Side {
    /// The row: all columns share it.
    Row,
    /// The column: all rows share it.
    Column,
    /// Neither.
    Step,
}

/// Looks for tiles of the `tiled` innermost dimensions, one or two, of a body with these indices.
pub fn tiles<'b, D: Reads>(
    vars: &Vars,
    indices: &[Var],
    tiled: usize,
    body: &'b Body<D>,
) -> Option<Tiles<'b, D>> {
    let is_loop = |stm: &Stm<D>| matches!(stm.exp, Exp::Loop { .. });
    let at = body.stms.iter().position(is_loop)?;
    let (before, stm, after) = (&body.stms[..at], &body.stms[at], &body.stms[at + 1..]);
    let Exp::Loop {
        params,
        form: LoopForm::For { index, bound },
        body: step,
    } = &stm.exp
    else {
        return None;
    };
    let scalar = |v: Var| matches!(vars[v].ty, Type::Scalar(_));
    let is_plain = before.iter().chain(&step.stms).all(is_plain)
        && params.iter().all(|p| scalar(p.var))
        && vars[*index].ty == Type::I64;
    let (column, outer) = indices.split_last()?;
    let row = match tiled {
        1 => None,
        2 => Some(*outer.last()?),
        _ => return None,
    };
    if !is_plain {
        return None;
    }
    let access = access(vars, indices, body);
    let from_before = before
        .iter()
        .any(|stm| stm.binds.iter().any(|v| *bound == (*v).into()));
    if from_before || !access.form(*bound).is_same() {
        return None;
    }
    let mut tiles = Tiles {
        before,
        binds: &stm.binds,
        params,
        counter: *index,
        bound: *bound,
        body: step,
        after,
        row,
        column: *column,
        staged: Vec::new(),
        access,
    };
    tiles.staged = tiles.stage(vars)?;
    Some(tiles)
}

/// Whether a statement neither fails nor writes, and is cheap.
fn is_plain<D: Reads>(stm: &Stm<D>) -> bool {
    match &stm.exp {
        Exp::Atom(_) | Exp::Scalar(..) => true,
        Exp::If {
            then, otherwise, ..
        } => then.stms.iter().chain(&otherwise.stms).all(is_plain),
        Exp::Op(op) => op.read().is_some(),
        Exp::Assert { .. } | Exp::Guard { .. } | Exp::Loop { .. } | Exp::Call { .. } => false,
    }
}

impl<'b, D: Reads> Tiles<'b, D> {
    /// Whether a variable depends on the row (if there are rows), and on the column.
    pub fn depends(&self, var: Var) -> (bool, bool) {
        let form = self.access.form(var.into());
        let row = self.row.is_some_and(|row| form.growth(row).is_some());
        (row, form.growth(self.column).is_some())
    }

    /// The variables that depend on the column.
    pub fn of_column(&self) -> impl Iterator<Item = Var> {
        self.access.depending(self.column)
    }

    /// The variables that depend on the step.
    pub fn of_step(&self) -> impl Iterator<Item = Var> {
        self.access.depending(self.counter)
    }

    /// The reads worth staging, if there are enough: with rows and columns some of each and none that differs at all points;
    /// with columns only, those that are the same for all, or far apart and followed by their neighbours in the next steps.
    fn stage(&self, vars: &Vars) -> Option<Vec<Staged<'b, D>>> {
        let mut staged = Vec::new();
        for (stm, number) in self.body.stms.iter().zip(0..) {
            let read = stm.binds.first().and_then(|v| self.read(*v));
            let Some(read) = read.filter(|read| matches!(vars[read.var].ty, Type::Scalar(_)))
            else {
                continue;
            };
            let on = |var: Var| read.along(var) != Along::Same;
            if !on(self.counter) || self.params.iter().any(|p| on(p.var)) {
                continue;
            }
            let along_steps = read.along(self.counter) == Along::Next;
            let side = match (self.row.is_some_and(on), on(self.column)) {
                (true, true) => return None,
                (true, false) => Side::Row,
                (false, true) => Side::Column,
                (false, false) => Side::Step,
            };
            let is_far = along_steps && read.along(self.column) != Along::Next;
            if self.row.is_none() && side == Side::Column && !is_far {
                continue;
            }
            let index = match side {
                Side::Row => self.row,
                Side::Column => Some(self.column),
                Side::Step => None,
            };
            let by_index = index.map_or(Along::Same, |index| read.along(index));
            let slice = self.slice(vars, number);
            staged.push(Staged {
                stm: number,
                side,
                by_step: read.along(self.counter),
                by_index,
                slice,
            });
        }
        let has = |side| staged.iter().any(|s| s.side == side);
        let enough = match self.row {
            Some(_) => has(Side::Row) && has(Side::Column),
            None => !staged.is_empty(),
        };
        enough.then_some(staged)
    }

    fn read(&self, var: Var) -> Option<&Read> {
        self.access.reads.iter().find(|read| read.var == var)
    }

    /// The statements of a step that are left when the reads are staged, without these.
    pub fn left(&self, vars: &Vars) -> Vec<&'b Stm<D>> {
        let reads: Vec<&Stm<D>> = self.reads().collect();
        let (mut left, mut wanted) = (Vec::new(), uses(&self.body.result));
        for stm in self.body.stms.iter().rev() {
            let is_staged = reads.iter().any(|read| std::ptr::eq(*read, stm));
            if !is_staged && stm.binds.iter().any(|v| wanted.contains(v)) {
                wanted.extend(free_in_stm(vars, stm));
                left.push(stm);
            }
        }
        left.reverse();
        left
    }

    /// The statements of the staged reads.
    pub fn reads(&self) -> impl Iterator<Item = &'b Stm<D>> {
        self.staged.iter().map(|staged| &self.body.stms[staged.stm])
    }

    /// The statements before the loop that the steps need, given what is left of these.
    pub fn before_steps(&self, vars: &Vars, left: &[&'b Stm<D>]) -> Vec<&'b Stm<D>> {
        let inits: Vec<Atom> = self.params.iter().map(|p| p.init).collect();
        let mut wanted = uses(&inits);
        wanted.extend(uses(&self.body.result));
        wanted.extend(left.iter().flat_map(|stm| free_in_stm(vars, stm)));
        needed(vars, self.before.iter(), wanted)
    }

    /// The statements before the loop that what comes after it needs, results of the body among it.
    pub fn before_rest(&self, vars: &Vars, results: &[Atom]) -> Vec<&'b Stm<D>> {
        let mut wanted = uses(results);
        wanted.extend(self.after.iter().flat_map(|stm| free_in_stm(vars, stm)));
        needed(vars, self.before.iter(), wanted)
    }

    /// The statements that a statement of a step needs, and itself.
    fn slice(&self, vars: &Vars, number: usize) -> Vec<&'b Stm<D>> {
        let last = &self.body.stms[number];
        let earlier = self.before.iter().chain(&self.body.stms[..number]);
        let wanted = free_in_stm(vars, last).into_iter().collect();
        let mut slice = needed(vars, earlier, wanted);
        slice.push(last);
        slice
    }
}

/// The variables among atoms.
fn uses(atoms: &[Atom]) -> BTreeSet<Var> {
    atoms.iter().filter_map(|atom| atom.as_var()).collect()
}

/// The statements that bind what is wanted, or what these need.
fn needed<'b, D: Reads>(
    vars: &Vars,
    stms: impl DoubleEndedIterator<Item = &'b Stm<D>>,
    mut wanted: BTreeSet<Var>,
) -> Vec<&'b Stm<D>> {
    let mut found = Vec::new();
    for stm in stms.rev() {
        if stm.binds.iter().any(|v| wanted.contains(v)) {
            wanted.extend(free_in_stm(vars, stm));
            found.push(stm);
        }
    }
    found.reverse();
    found
}
