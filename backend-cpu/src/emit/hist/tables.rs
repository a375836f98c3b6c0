//! Histograms whose points go to tables in turn, so that neighbours with the same bucket need not wait for each other: a processor takes
//! longer to load what it has just stored than to count.
//!
//! ```text
//! for k < n {                       for k < n / 4 {
//!   bucket[x[k]] += 1                 bucket0[x[4 * k]] += 1
//! }                            ──►    bucket1[x[4 * k + 1]] += 1
//!                                     ..
//!                                   }
//! ```
//!
//! Whoever calls the code gives it the tables: the same one again and again where making and merging others does not pay.

use super::Emit;
use super::soon::soon;
use crate::emit::control::is_cheap;
use cranelift_codegen::ir::{InstBuilder, Value};
use midend::ir::mem::{Extent, Kernel, Mem, MemHist};
use midend::ir::scalar::{BinOp, ScalarOp};
use midend::ir::soac::Operator;
use midend::ir::syntax::{Atom, Exp, Stm};
use midend::ir::types::ScalarType;

/// How many tables there are. Four points that follow one another take as long as one waits for its own.
pub(crate) const TABLES: usize = 4;
/// The most statements of a body that is there for each table.
const MOST: usize = 16;

/// How many tables the code of a chunk is given for each destination.
pub(crate) fn tables(kernel: &Kernel, hists: &[MemHist]) -> usize {
    let [hist] = hists else { return 1 };
    let stms = &kernel.body.stms;
    let regular = kernel
        .space
        .iter()
        .all(|(_, extent)| matches!(extent, Extent::Regular(_)));
    let fits = !kernel.space.is_empty()
        && !kernel.body.result.is_empty()
        && stms.len() <= MOST
        && stms.iter().all(is_simple);
    let alone = crate::emit::divided::divided(kernel).is_none();
    let fits = regular && fits && alone || super::strips::is_long(kernel);
    match fits && hist.dests.len() == 1 && regroups(&hist.op) {
        true => TABLES,
        false => 1,
    }
}

/// Whether a statement takes no longer than updating a bucket, about.
pub(super) fn is_simple(stm: &Stm<Mem>) -> bool {
    match &stm.exp {
        Exp::Atom(_) | Exp::Assert { .. } => true,
        Exp::Scalar(op, _) => {
            let slow = matches!(
                op,
                ScalarOp::Bin(
                    BinOp::Div | BinOp::Mod | BinOp::Quot | BinOp::Rem | BinOp::Pow,
                    _
                )
            );
            !slow && midend::math::definition(*op).is_none()
        }
        Exp::If {
            then, otherwise, ..
        } => is_cheap(then) && is_cheap(otherwise),
        Exp::Op(op) => matches!(op, Mem::Load { .. }),
        Exp::Guard { .. } | Exp::Loop { .. } | Exp::Call { .. } => false,
    }
}

/// Whether an operator gives the same in any order and grouping, with its neutral element among the operands or not: sums of integers.
fn regroups(op: &Operator<Mem>) -> bool {
    let zero = |ty| matches!(op.neutral[..], [Atom::Const(c)] if c.ty() == ty && c.word() == 0);
    sums(op).is_some_and(|ty| ty.is_integer() && zero(ty))
}

/// The type of what an operator sums, if it does nothing else.
pub(super) fn sums(op: &Operator<Mem>) -> Option<ScalarType> {
    let (params, body) = (&op.lam.params, &op.lam.body);
    let ([left, right], [stm]) = (&params[..], &body.stms[..]) else {
        return None;
    };
    let Exp::Scalar(ScalarOp::Bin(BinOp::Add, ty), args) = &stm.exp else {
        return None;
    };
    let both = [Atom::Var(*left), Atom::Var(*right)];
    let operands = args[..] == both || args[..] == [both[1], both[0]];
    let is_result = body.result[..] == [Atom::Var(stm.binds[0])];
    (operands && is_result).then_some(*ty)
}

impl Emit<'_, '_> {
    /// A range of points that go to the tables of `places` in turn.
    pub(super) fn hist_in_turn(
        &mut self,
        kernel: &Kernel,
        hist: &MemHist,
        places: &[Value],
        range: (Value, Value),
    ) {
        let limits = self.limits(hist, None);
        let strip = crate::emit::control::strip(&kernel.body);
        let (Some(space), Some((index, _))) = (self.extents(&kernel.space), kernel.space.last())
        else {
            return;
        };
        let point = |emit: &mut Self, i: Value, place: &Value| {
            emit.bind(*index, i);
            emit.scoped(&kernel.body, |emit| {
                let results = emit.body(&kernel.body);
                let (bucket, value) = (results[0], &results[1..]);
                emit.bucket(hist, bucket, limits, std::slice::from_ref(place), value);
            });
        };
        let turn = places.len() as i64;
        let part = |emit: &mut Self, (first, last): (Value, Value)| {
            let length = emit.b.ins().isub(last, first);
            let shift = i64::from(turn.trailing_zeros());
            let turns = emit.b.ins().sshr_imm_u(length, shift);
            emit.counted(ScalarType::I64, turns, strip, &[], |emit, t, _| {
                let ahead = emit.b.ins().ishl_imm_u(t, shift);
                let start = emit.b.ins().iadd(first, ahead);
                for (k, place) in places.iter().enumerate() {
                    let i = emit.b.ins().iadd_imm_s(start, k as i64);
                    point(emit, i, place);
                }
                vec![]
            });
            let covered = emit.b.ins().ishl_imm_u(turns, shift);
            let left = emit.b.ins().iadd(first, covered);
            emit.few((left, last), &[], |emit, i, _| {
                point(emit, i, &places[0]);
                vec![]
            });
        };
        let stms: Vec<_> = kernel.body.stms.iter().collect();
        let soon = soon(&self.program.vars, &stms, 1).filter(|_| kernel.space.len() == 1);
        self.rows(&space, range, |emit, first, last, _| match &soon {
            Some(soon) => {
                let bound = |emit: &mut Self, i: Value| emit.bind(*index, i);
                emit.loaded_before(soon, (first, last), bound, part);
            }
            None => part(emit, (first, last)),
        });
    }
}
