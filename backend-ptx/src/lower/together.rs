//! Several points in one thread: their statements are interleaved, so that the loads of all of them are under way at once.
//! One element of four bytes per thread keeps a device's memory half busy.
//!
//! ```text
//! x = load xs[i]        x0 = load xs[i]; x1 = load xs[i + 256]
//! y = add x 1      ──►  y0 = add x0 1;   y1 = add x1 1
//! store ys[i] = y       store ys[i] = y0; store ys[i + 256] = y1
//! ```
//!
//! Points of a kernel are independent, so that any order of their statements is right.

use super::runs::Runs;
use super::{Lower, Value};
use crate::ptx::{Operand, Reg};
use midend::ir::id::Var;
use midend::ir::mem::{Extent, Kernel, Mem};
use midend::ir::scalar::{BinOp, ScalarOp};
use midend::ir::soac::Operator;
use midend::ir::syntax::{Body, Exp, Program};
use midend::ir::types::{ScalarType, Type};
use midend::math::{computed_by, definition};
use std::collections::HashMap;

/// Bytes that the points of a thread load together, at least.
const BYTES: usize = 32;
/// The fewest and the most points.
const POINTS: (usize, usize) = (4, 16);
/// The most statements of all points together.
const STATEMENTS: usize = 128;

/// How many points a thread of a kernel goes well with, if more than one.
pub(super) fn points(program: &Program<Mem>, kernel: &Kernel) -> Option<u32> {
    let regular = |(_, extent): &(Var, Extent)| matches!(extent, Extent::Regular(_));
    let is_regular = kernel.space.iter().all(regular);
    is_regular
        .then(|| points_of(program, &kernel.body))
        .flatten()
}

/// The same whatever the space is.
pub(super) fn points_of(program: &Program<Mem>, body: &Body<Mem>) -> Option<u32> {
    let mut look = Look::new(program);
    if !look.body(body) || look.widest == 0 {
        return None;
    }
    let points = (BYTES / look.widest).clamp(POINTS.0, POINTS.1);
    let points = points.min(STATEMENTS / look.statements.max(1));
    (points > 1).then_some(points as u32)
}

/// Whether operators cannot fail, and are so short that a thread goes well with a copy of them for each of so many elements.
pub(super) fn are_short(program: &Program<Mem>, ops: &[Operator<Mem>], elements: u32) -> bool {
    let mut look = Look::new(program);
    ops.iter().all(|op| look.body(&op.lam.body))
        && !look.may_fail
        && look.statements * elements as usize <= STATEMENTS
}

/// How many statements there are in bodies, if all of them are quick.
pub(super) fn quick_statements(program: &Program<Mem>, bodies: &[&Body<Mem>]) -> Option<usize> {
    let mut look = Look::new(program);
    let quick = bodies.iter().all(|body| look.body(body)) && !look.may_fail;
    quick.then_some(look.statements)
}

/// What there is in a body.
struct Look<'a> {
    program: &'a Program<Mem>,
    statements: usize,
    may_fail: bool,
    /// Bytes of the widest element that is loaded or stored.
    widest: usize,
}

impl<'a> Look<'a> {
    fn new(program: &'a Program<Mem>) -> Self {
        Self {
            program,
            statements: 0,
            may_fail: false,
            widest: 0,
        }
    }

    /// Whether the body is short, with nothing in it that takes long beside an access to memory.
    fn body(&mut self, body: &Body<Mem>) -> bool {
        body.stms.iter().all(|stm| {
            self.statements += 1;
            match &stm.exp {
                Exp::Atom(_) => true,
                Exp::Scalar(op, _) => is_quick(*op),
                // What fails leaves for the end, past points that have not failed.
                Exp::Assert { .. } => {
                    self.may_fail = true;
                    true
                }
                Exp::If {
                    then, otherwise, ..
                } => self.body(then) && self.body(otherwise),
                Exp::Op(Mem::Load { buffer, .. } | Mem::Store { buffer, .. }) => {
                    let elem = self.program.vars[*buffer].ty.elem();
                    self.widest = self.widest.max(elem.map_or(0, ScalarType::bytes));
                    matches!(self.program.vars[*buffer].ty, Type::Buffer(_))
                }
                Exp::Guard { .. }
                | Exp::Loop { .. }
                | Exp::Call { .. }
                | Exp::Op(
                    Mem::Alloc { .. }
                    | Mem::Free(_)
                    | Mem::Apart(_)
                    | Mem::Copy { .. }
                    | Mem::Launch(_)
                    | Mem::Trace(_)
                    | Mem::Stream(_),
                ) => false,
            }
        })
    }
}

/// Whether an operation is a few instructions.
fn is_quick(op: ScalarOp) -> bool {
    let divides = matches!(
        op,
        ScalarOp::Bin(BinOp::Div | BinOp::Mod | BinOp::Quot | BinOp::Rem, _)
    );
    !divides && definition(computed_by(op)).is_none()
}

impl Lower<'_> {
    /// The results of the body at every point; `bind` binds the indices of a point. Where points are in runs, accesses may be to
    /// whole ones.
    pub(super) fn together(
        &mut self,
        kernel: &Kernel,
        points: &[Reg],
        runs: Option<&Runs>,
        bind: impl Fn(&mut Self, Reg),
    ) -> Vec<Vec<Operand>> {
        let outer = self.values.clone();
        let mut each: Vec<HashMap<Var, Value>> = Vec::new();
        for point in points {
            self.values.clone_from(&outer);
            bind(self, *point);
            each.push(std::mem::take(&mut self.values));
        }
        for stm in &kernel.body.stms {
            if runs.is_some_and(|runs| self.access_runs(runs, stm, &mut each)) {
                continue;
            }
            for values in &mut each {
                self.at(values, |lower| lower.stm(stm));
            }
        }
        let results = self.with_value(&kernel.body.result);
        let mut all = Vec::new();
        for values in each {
            self.values = values;
            all.push(results.iter().map(|atom| self.atom(*atom)).collect());
        }
        self.values = outer;
        all
    }
}
