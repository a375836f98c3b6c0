//! What points outside do, where that is one thing: rows that are cut once, at a number of theirs.
//!
//! ```text
//! if i < j then .. else -1          inside: i + 1 <= j          outside: -1
//! ```

use super::{Bound, Interior, interior};
use crate::emit::Emit;
use cranelift_codegen::ir::{InstBuilder, Value};
use midend::interp::scalar::eval;
use midend::ir::mem::{Kernel, Mem};
use midend::ir::scalar::{Const, ScalarOp};
use midend::ir::syntax::{Atom, Body, Exp};

impl Interior {
    /// The first result of what points outside do, of a kernel of whose like this is the inside, if it is a constant.
    pub(in crate::emit) fn outside(&self, kernel: &Kernel) -> Option<Const> {
        let [bound] = &self.bounds[..] else {
            return None;
        };
        let (before, limit) = match bound {
            Bound::From(limit) => (true, limit),
            Bound::Below(limit) => (false, limit),
            Bound::Not(_) => return None,
        };
        let other = interior(kernel, before)?;
        let [other_bound] = &other.bounds[..] else {
            return None;
        };
        let is_rest = match other_bound {
            Bound::Below(other) => before && other == limit,
            Bound::From(other) => !before && other == limit,
            Bound::Not(_) => false,
        };
        let body = &other.kernel.body;
        constant(body, *body.result.first()?).filter(|_| is_rest)
    }
}

/// The constant that an atom is, or that a conversion makes of one.
fn constant(body: &Body<Mem>, atom: Atom) -> Option<Const> {
    let v = match atom {
        Atom::Const(known) => return Some(known),
        Atom::Var(v) => v,
    };
    let stm = body.stms.iter().find(|stm| stm.binds == [v])?;
    match &stm.exp {
        Exp::Scalar(op @ ScalarOp::Convert(..), args) => match args[0] {
            Atom::Const(of) => eval(*op, &[of]).ok(),
            Atom::Var(_) => None,
        },
        Exp::Scalar(..)
        | Exp::Atom(_)
        | Exp::Assert { .. }
        | Exp::Guard { .. }
        | Exp::If { .. }
        | Exp::Loop { .. }
        | Exp::Call { .. }
        | Exp::Op(_) => None,
    }
}

impl Emit<'_, '_> {
    /// The points of a row that are not outside of its one bound, `range`, where those inside are known.
    pub(in crate::emit) fn not_outside(
        &mut self,
        interior: &Interior,
        (first, last): (Value, Value),
        (low, high): (Value, Value),
    ) -> (Value, Value) {
        let sane = self.sane(interior);
        let known = |emit: &mut Self, inside: Value, end: Value| match sane {
            Some(sane) => emit.b.ins().select(sane, inside, end),
            None => inside,
        };
        match &interior.bounds[..] {
            [Bound::From(_)] => (known(self, low, first), last),
            [Bound::Below(_)] => (first, known(self, high, last)),
            [] | [Bound::Not(_)] | [_, _, ..] => (first, last),
        }
    }
}
