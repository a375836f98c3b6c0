//! Histograms whose operators are atomic operations.

use crate::lower::{Entry, Lower, Shape, Source, components, entry};
use crate::ptx::ops::AtomOp;
use crate::ptx::{Inst, Operand, Order, Scope, Space, Ty};
use midend::ir::id::Var;
use midend::ir::mem::{Kernel, Mem, MemHist};
use midend::ir::scalar::{BinOp, ScalarOp};
use midend::ir::soac::Operator;
use midend::ir::syntax::{Atom, Exp, Program};
use midend::ir::types::ScalarType;

/// An atomic operation, and the type that it works on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Update {
    pub(super) op: AtomOp,
    pub(super) ty: Ty,
}

/// The atomic operation that an operator is: one operation on both parameters, on whole words of integers.
#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "few operations are atomic ones"
)]
pub(super) fn update(program: &Program<Mem>, hist: &MemHist) -> Option<Update> {
    let Operator { lam, .. } = &hist.op;
    let ([stm], [Atom::Var(result)], [a, b]) =
        (&lam.body.stms[..], &lam.body.result[..], &lam.params[..])
    else {
        return None;
    };
    let Exp::Scalar(ScalarOp::Bin(op, ty), operands) = &stm.exp else {
        return None;
    };
    let (a, b) = (Atom::Var(*a), Atom::Var(*b));
    let both = operands[..] == [a, b] || operands[..] == [b, a];
    if !both
        || stm.binds != [*result]
        || components(program, std::slice::from_ref(&hist.op)) != [*ty]
    {
        return None;
    }
    let of = match ty {
        ScalarType::I32 => Ty::S32,
        ScalarType::U32 => Ty::U32,
        ScalarType::I64 => Ty::S64,
        ScalarType::U64 => Ty::U64,
        _ => return None,
    };
    let bits = Ty::of_class(of.class());
    let (op, ty) = match op {
        BinOp::Add if of == Ty::S64 => (AtomOp::Add, Ty::U64),
        BinOp::Add => (AtomOp::Add, of),
        BinOp::Min => (AtomOp::Min, of),
        BinOp::Max => (AtomOp::Max, of),
        BinOp::And => (AtomOp::And, bits),
        BinOp::Or => (AtomOp::Or, bits),
        BinOp::Xor => (AtomOp::Xor, bits),
        _ => return None,
    };
    Some(Update { op, ty })
}

/// One point per thread. The parameter is the number of points.
pub(super) fn plain(
    source: &mut Source<'_>,
    kernel: &Kernel,
    args: &[Var],
    hists: &[MemHist],
    updates: &[Update],
) -> Entry {
    let shape = Shape::of(kernel, args, "", 1);
    entry(source, &shape, |lower, extras| {
        lower.points(extras[0], |lower, point| {
            lower.indices(&kernel.space, point);
            lower.scoped(&kernel.body, |lower| {
                let results = lower.scalars(&kernel.body);
                let (buckets, values) = results.split_at(hists.len());
                for (i, (hist, update)) in hists.iter().zip(updates).enumerate() {
                    let extent = lower.atom(hist.buckets);
                    let inside = lower.is_below(buckets[i], extent);
                    lower.when(inside, |lower| {
                        lower.update_atomically(hist, *update, buckets[i], values[i]);
                    });
                }
            });
        });
    })
}

impl Lower<'_> {
    /// An atomic operation on a bucket.
    pub(super) fn update_atomically(
        &mut self,
        hist: &MemHist,
        Update { op, ty }: Update,
        bucket: Operand,
        value: Operand,
    ) {
        let elem = self.elem(hist.dests[0]);
        let place = self.place(self.value(hist.dests[0]), elem, bucket);
        self.b.inst(Inst::Atom {
            op,
            space: Space::Global,
            order: Order::Relaxed(Scope::Gpu),
            ty,
            dst: None,
            at: place.at,
            a: value,
            b: None,
        });
    }
}
