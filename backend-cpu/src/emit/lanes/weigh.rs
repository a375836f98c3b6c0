//! Which statements have vectors.

use super::choose::{Finder, is_truth};
use super::vector::{lanes_per_vector, packed_type};
use super::words::masked;
use crate::target::divides_in_halves;
use midend::ir::id::Var;
use midend::ir::mem::Mem;
use midend::ir::scalar::{BinOp, Const, ScalarOp, UnOp};
use midend::ir::syntax::{Atom, Exp, Stm};
use midend::ir::types::ScalarType;
use midend::ir::walk::body_uses;
use midend::math::definition;
use std::collections::BTreeSet;

/// The most values that a loop carries which lanes leave at different steps, of which there are as many registers again.
const FLYING: usize = 4;
/// The most operations with vectors of a step that takes no longer than its sum waits for the one before.
const TIGHT: usize = 4;
/// The most of one of which even two registers do not fill that time.
const TIGHTEST: usize = 2;
/// The least operations with vectors for each value that a loop carries beside which it takes little to keep these on the stack.
const SPILLED: usize = 8;
/// Operations with vectors of 512 bits that take as long as a quotient or a root (Agner Fog, "Instruction tables", Ice Lake: 10 to 12 cycles for
/// binary32, two others in each).
const DIVIDER: usize = 20;

/// Whether an operation is one for the divider.
const fn is_divided(op: ScalarOp) -> bool {
    let divided = matches!(op, ScalarOp::Bin(BinOp::Div | BinOp::DivNear, ty) if ty.is_float());
    divided || matches!(op, ScalarOp::Un(UnOp::Sqrt | UnOp::SqrtNear, _))
}

impl Finder<'_> {
    /// Takes note of whether a varying statement has vectors.
    pub(super) fn weigh(&mut self, stm: &Stm<Mem>) {
        if self.is_unit(stm) {
            self.unit.extend(&stm.binds);
            return;
        }
        if self.finds_row(stm) || self.looks_up(stm) || self.finds_in_array(stm) {
            return;
        }
        let in_panel = self.is_in_panel(stm);
        if !in_panel && self.gathers(stm) {
            return;
        }
        if !in_panel && self.finds(stm) {
            self.counts.finding += 1;
            return;
        }
        if self.is_growing(stm) {
            self.growing.extend(&stm.binds);
            return;
        }
        let unit = |atom: &Atom| matches!(atom, Atom::Var(v) if self.unit.contains(v));
        let grows =
            |atom: &Atom| unit(atom) || matches!(atom, Atom::Var(v) if self.growing.contains(v));
        let packed = match &stm.exp {
            Exp::Atom(_) => return,
            // Masks are made of masks, or lanes of lanes.
            Exp::Scalar(op, _) if is_truth(*op) => return,
            Exp::Scalar(ScalarOp::Select(ty), args) if self.varies(args[0]) => Some(*ty),
            Exp::If { .. }
                if stm.binds.len() == 1 && self.elem(stm.binds[0]) == Some(ScalarType::Bool) =>
            {
                return;
            }
            Exp::If { .. } => {
                let mut tys = stm.binds.iter().map(|v| self.elem(*v));
                let first = tys.next().flatten();
                first.filter(|_| {
                    tys.all(|ty| ty.is_some_and(|ty| lanes_per_vector(ty, self.integers).is_some()))
                })
            }
            Exp::Scalar(op, args) => {
                let op = &masked(*op, args).map_or(*op, |(op, _)| op);
                let packed = packed_type(*op, self.integers);
                match op {
                    // An index as it grows from lane to lane.
                    ScalarOp::Convert(ScalarType::I64, to) if grows(&args[0]) => packed
                        .filter(|_| to.is_integer() || lanes_per_vector(*to, true).is_some())
                        .map(|_| *to),
                    ScalarOp::Bin(BinOp::Shl | BinOp::Shr, _) if self.varies(args[1]) => None,
                    ScalarOp::Un(..)
                    | ScalarOp::Bin(..)
                    | ScalarOp::Cmp(..)
                    | ScalarOp::Tern(..)
                    | ScalarOp::Convert(..)
                    | ScalarOp::ToBits(_)
                    | ScalarOp::FromBits(_)
                    | ScalarOp::Select(_) => {
                        packed.filter(|_| self.by_vectors || !args.iter().any(grows))
                    }
                }
            }
            Exp::Op(Mem::Load { buffer, index }) => {
                let elem = self.vars[*buffer].ty.elem();
                let own = self.own.contains(buffer) && !self.varies(*index);
                elem.filter(|_| unit(index) || in_panel || own)
            }
            Exp::Op(Mem::Store {
                buffer,
                index,
                value,
            }) => {
                let elem = self.vars[*buffer].ty.elem();
                let own = self.own.contains(buffer) && !self.varies(*index);
                elem.filter(|_| own || unit(index) && !grows(value))
            }
            // Only what it says differs.
            Exp::Assert { cond, .. } if !self.varies(*cond) => return,
            Exp::Assert { .. } | Exp::Guard { .. } | Exp::Loop { .. } | Exp::Call { .. } => None,
            Exp::Op(
                Mem::Alloc { .. }
                | Mem::Free(_)
                | Mem::Apart(_)
                | Mem::Copy { .. }
                | Mem::Launch(_)
                | Mem::Trace(_)
                | Mem::Stream(_),
            ) => None,
        };
        let lanes = packed.and_then(|ty| lanes_per_vector(ty, self.integers));
        match lanes {
            Some(lanes) => {
                let load = matches!(stm.exp, Exp::Op(Mem::Load { .. }));
                self.counts.packed += usize::from(!load);
                self.counts.fills(Some(lanes));
                if let Exp::Scalar(ScalarOp::Convert(_, to), _) = &stm.exp {
                    self.counts.fills(lanes_per_vector(*to, self.integers));
                }
            }
            None => self.counts.apart += 1,
        }
        let mut steps = 0;
        if let Exp::Scalar(op, _) = &stm.exp
            && lanes.is_some()
        {
            steps = definition(*op).map_or(0, |f| f.body.stms.len());
        }
        self.counts.steps[0] += steps;
        let divides = lanes.is_some() && matches!(&stm.exp, Exp::Scalar(op, _) if is_divided(*op));
        self.counts.divided[0] += usize::from(divides);
        if self.counts.depth > 0 {
            self.counts.inner[usize::from(lanes.is_none())] += 1;
            self.counts.divided[1] += usize::from(divides);
            self.counts.steps[1] += steps;
        }
    }

    /// Registers of how many vectors there should be where so many may be: a divider of 256 bits that is never done before the rest is
    /// works on two of its own size as fast as on one of 512 bits.
    pub(super) fn that_gain(&self, asked: usize) -> usize {
        let counts = &self.counts;
        let (all, divided) = match counts.loops {
            0 => (counts.packed + counts.steps[0], counts.divided[0]),
            _ => (counts.inner[0] + counts.steps[1], counts.divided[1]),
        };
        let waits = divided > 0 && all <= DIVIDER * divided;
        if asked > 2 && waits && divides_in_halves() {
            2
        } else {
            asked
        }
    }

    /// Whether a statement makes an index that grows by one from lane to lane of another.
    fn is_unit(&self, stm: &Stm<Mem>) -> bool {
        let unit = |atom: &Atom| matches!(atom, Atom::Var(v) if self.unit.contains(v));
        let Exp::Scalar(ScalarOp::Bin(op @ (BinOp::Add | BinOp::Sub), ScalarType::I64), args) =
            &stm.exp
        else {
            return false;
        };
        let ahead = unit(&args[0]) && !self.varies(args[1]);
        ahead || (*op == BinOp::Add && unit(&args[1]) && !self.varies(args[0]))
    }

    /// Whether a statement makes a number that grows by some constant from lane to lane of such numbers.
    fn is_growing(&self, stm: &Stm<Mem>) -> bool {
        let grows = |atom: &Atom| matches!(atom, Atom::Var(v) if self.unit.contains(v) || self.growing.contains(v));
        let Exp::Scalar(ScalarOp::Bin(op, ScalarType::I64), args) = &stm.exp else {
            return false;
        };
        let fits = |atom: &Atom| !self.varies(*atom) || grows(atom);
        let small = |atom: &Atom| matches!(atom, Atom::Const(Const::I64(n)) if n.unsigned_abs() <= super::STRIDE.unsigned_abs());
        let is_sum = matches!(op, BinOp::Add | BinOp::Sub) && args.iter().all(fits);
        let is_multiple = *op == BinOp::Mul
            && ((grows(&args[0]) && small(&args[1])) || (small(&args[0]) && grows(&args[1])));
        is_sum || is_multiple
    }

    /// Whether a statement does nothing but find elements of rows that are put in panels, once for each row.
    fn finds_row(&mut self, stm: &Stm<Mem>) -> bool {
        let computes = matches!(stm.exp, Exp::Atom(_) | Exp::Scalar(..));
        let finds =
            computes && !self.rows.is_empty() && !stm.binds.iter().any(|v| self.needed.contains(v));
        if finds {
            self.addresses.extend(&stm.binds);
        }
        finds
    }

    /// Whether a statement reads a row that is put in a panel.
    fn is_in_panel(&mut self, stm: &Stm<Mem>) -> bool {
        let Exp::Op(Mem::Load { buffer, index }) = &stm.exp else {
            return false;
        };
        let unit = index.as_var().is_some_and(|v| self.unit.contains(&v));
        let is_row = self.rows.iter().any(|row| stm.binds.contains(&row.element));
        let in_panel = is_row && !unit && !self.varies(Atom::Var(*buffer));
        if in_panel {
            self.in_panels.extend(&stm.binds);
        }
        in_panel
    }

    /// Whether a statement is done lane by lane to find elements, of which those that are more than addresses go into vectors.
    fn finds(&mut self, stm: &Stm<Mem>) -> bool {
        let Some(valued) = &self.valued else {
            return false;
        };
        let is_address = !stm.binds.iter().any(|v| valued.contains(v));
        match &stm.exp {
            Exp::Scalar(op, _) if is_address => {
                // Calls and functions are none of that.
                let simple = op.result().is_integer() || op.result() == ScalarType::Bool;
                if simple {
                    self.addresses.extend(&stm.binds);
                }
                simple
            }
            Exp::Op(Mem::Load { .. }) if is_address => {
                self.addresses.extend(&stm.binds);
                true
            }
            Exp::Op(Mem::Load { buffer, index }) => {
                let linear = matches!(index, Atom::Var(v) if self.unit.contains(v));
                let lanes = self.elem(*buffer);
                let lanes = lanes.and_then(|ty| lanes_per_vector(ty, self.integers));
                let found = !linear && !self.varies(Atom::Var(*buffer)) && lanes.is_some();
                if found {
                    self.counts.fills(lanes);
                }
                found
            }
            Exp::Assert { cond, .. } => self.varies(*cond),
            Exp::Atom(_)
            | Exp::Scalar(..)
            | Exp::Guard { .. }
            | Exp::If { .. }
            | Exp::Loop { .. }
            | Exp::Call { .. }
            | Exp::Op(_) => false,
        }
    }

    /// Whether so much is done in loops that what they carry may be on the stack meanwhile.
    pub(super) fn is_long_step(&self) -> bool {
        self.integers && self.counts.inner[0] >= SPILLED * self.counts.held
    }

    /// About how many instructions there are for so many lanes.
    pub(super) fn instructions(&self, width: usize) -> usize {
        let lanes = if self.integers { self.counts.most } else { 1 };
        self.counts.statements * width / lanes.max(1) + self.counts.finding * width
    }

    /// How many wider registers there should be, of numbers of which each part has so many lanes: where a step of a loop waits for
    /// the one before, there is something else to do meanwhile.
    pub(super) fn flying(&self) -> (usize, usize) {
        let counts = &self.counts;
        if counts.diverging > 0 {
            let registers = match counts.carried <= FLYING {
                // Each step is little more than a comparison and an operation by its mask, one after the other.
                true if counts.shortest == counts.diverging => 8,
                // Of one register after the other several steps are taken at once, so that what is carried is on the stack meanwhile.
                true if counts.in_strips == counts.diverging => 4,
                true => 2,
                false => 1,
            };
            return (registers, counts.least);
        }
        match counts.tightest {
            Some((step, lanes)) if self.integers && step <= TIGHTEST => (4, lanes),
            Some((step, lanes)) if self.integers && step <= TIGHT => (2, lanes),
            Some(_) | None if self.integers && counts.chained > 0 => (2, counts.least),
            Some(_) | None => (1, counts.least),
        }
    }

    /// What loops that lanes leave at different steps end with and nothing uses.
    pub(super) fn unused(&self) -> BTreeSet<Var> {
        let mut unused = self.ends.clone();
        if !unused.is_empty() {
            for body in &self.bodies {
                body_uses(self.vars, body, &mut |v| {
                    unused.remove(&v);
                });
            }
        }
        unused
    }
}
