//! Histograms whose buckets may be changed in any order: components that do not depend on each other, each combined by an
//! operation that is commutative and associative to the last bit; or one component of integers, whatever code combines it.
//!
//! Operators of histograms are commutative and associative, or the program is wrong; of integers they are so to the last bit.

use crate::lower::{Entry, Lower, Shape, Source, components, entry};
use crate::ptx::ops::AtomOp;
use crate::ptx::{Inst, Operand, Order, Scope, Space, Ty};
use midend::analysis::totality::is_total;
use midend::ir::id::Var;
use midend::ir::mem::{Kernel, Mem, MemHist};
use midend::ir::scalar::{BinOp, ScalarOp};
use midend::ir::syntax::{Atom, Body, Exp, Program};
use midend::ir::types::ScalarType;

/// How a component is combined.
#[derive(Clone, Copy, Debug)]
pub(in crate::lower) struct Update {
    /// The operation; nothing if it is the whole operator that combines the component, the only one.
    pub(super) op: Option<BinOp>,
    pub(super) elem: ScalarType,
    /// The atomic operation that does it, if there is one.
    pub(in crate::lower) native: Option<Native>,
}

/// An atomic operation, the type that it works on, and the operation on values that it is.
#[derive(Clone, Copy, Debug)]
pub(in crate::lower) struct Native {
    pub(super) of: BinOp,
    pub(super) op: AtomOp,
    pub(super) ty: Ty,
}

/// How the components of a histogram are combined, each on its own, if the order does not matter.
pub(in crate::lower) fn updates(program: &Program<Mem>, hist: &MemHist) -> Option<Vec<Update>> {
    let lam = &hist.op.lam;
    let types = components(program, std::slice::from_ref(&hist.op));
    if !is_scalar_code(&lam.body) {
        return None;
    }
    let (left, right) = lam.params.split_at(types.len());
    let both = left.iter().zip(right);
    let all = types.iter().zip(&lam.body.result).zip(both);
    let each: Option<Vec<Update>> = all
        .map(|((elem, result), (a, b))| {
            let result = result.as_var()?;
            let mut stms = lam.body.stms.iter();
            let stm = stms.find(|stm| stm.binds == [result])?;
            let Exp::Scalar(ScalarOp::Bin(op, ty), operands) = &stm.exp else {
                return None;
            };
            let (a, b) = (Atom::Var(*a), Atom::Var(*b));
            let is_both = operands[..] == [a, b] || operands[..] == [b, a];
            (is_both && ty == elem && is_exact(*op, *ty)).then(|| Update {
                op: Some(*op),
                elem: *elem,
                native: native(*op, *ty),
            })
        })
        .collect();
    let whole = match types[..] {
        [elem] if !elem.is_float() => Some(vec![Update {
            op: None,
            elem,
            native: None,
        }]),
        _ => None,
    };
    each.or(whole)
}

/// Whether a body is scalar code that cannot fail.
fn is_scalar_code(body: &Body<Mem>) -> bool {
    body.stms.iter().all(|stm| match &stm.exp {
        Exp::Scalar(op, args) => is_total(*op, args),
        Exp::Atom(_) => true,
        Exp::If {
            then, otherwise, ..
        } => is_scalar_code(then) && is_scalar_code(otherwise),
        Exp::Assert { .. }
        | Exp::Guard { .. }
        | Exp::Loop { .. }
        | Exp::Call { .. }
        | Exp::Op(_) => false,
    })
}

/// Whether the order of operands does not matter, nor how they are grouped.
const fn is_exact(op: BinOp, ty: ScalarType) -> bool {
    match ty {
        ScalarType::F16 | ScalarType::F32 | ScalarType::F64 => {
            matches!(op, BinOp::Min | BinOp::Max)
        }
        ScalarType::Bool => matches!(op, BinOp::And | BinOp::Or | BinOp::Xor),
        ScalarType::I8
        | ScalarType::I16
        | ScalarType::I32
        | ScalarType::I64
        | ScalarType::U8
        | ScalarType::U16
        | ScalarType::U32
        | ScalarType::U64 => matches!(
            op,
            BinOp::Add | BinOp::Mul | BinOp::Min | BinOp::Max | BinOp::And | BinOp::Or | BinOp::Xor
        ),
    }
}

/// The atomic operation of an operation on whole words of integers.
#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "few operations are atomic ones"
)]
fn native(op: BinOp, ty: ScalarType) -> Option<Native> {
    let of = match ty {
        ScalarType::I32 => Ty::S32,
        ScalarType::U32 => Ty::U32,
        ScalarType::I64 => Ty::S64,
        ScalarType::U64 => Ty::U64,
        ScalarType::I8
        | ScalarType::I16
        | ScalarType::U8
        | ScalarType::U16
        | ScalarType::F16
        | ScalarType::F32
        | ScalarType::F64
        | ScalarType::Bool => return None,
    };
    let bits = Ty::of_class(of.class());
    let (atom, ty) = match op {
        BinOp::Add if of == Ty::S64 => (AtomOp::Add, Ty::U64),
        BinOp::Add => (AtomOp::Add, of),
        BinOp::Min => (AtomOp::Min, of),
        BinOp::Max => (AtomOp::Max, of),
        BinOp::And => (AtomOp::And, bits),
        BinOp::Or => (AtomOp::Or, bits),
        BinOp::Xor => (AtomOp::Xor, bits),
        _ => return None,
    };
    Some(Native {
        of: op,
        op: atom,
        ty,
    })
}

/// One point per thread. The parameter is the number of points.
pub(super) fn plain(
    source: &mut Source<'_>,
    kernel: &Kernel,
    args: &[Var],
    hists: &[MemHist],
    updates: &[Vec<Update>],
) -> Entry {
    let shape = Shape::of(kernel, args, "", 1);
    entry(source, &shape, |lower, extras| {
        lower.points(extras[0], |lower, point| {
            lower.indices(&kernel.space, point);
            lower.scoped(&kernel.body, |lower| {
                let results = lower.scalars(&kernel.body);
                let (buckets, mut values) = results.split_at(hists.len());
                for ((hist, updates), bucket) in hists.iter().zip(updates).zip(buckets) {
                    let (mine, others) = values.split_at(updates.len());
                    values = others;
                    let extent = lower.atom(hist.buckets);
                    let inside = lower.is_below(*bucket, extent);
                    lower.when(inside, |lower| {
                        for ((dest, update), value) in hist.dests.iter().zip(updates).zip(mine) {
                            match update.native {
                                Some(native) => {
                                    lower.update_atomically(*dest, native, *bucket, *value);
                                }
                                None => lower.update_by_swap(
                                    (&hist.op, *dest),
                                    *update,
                                    *bucket,
                                    *value,
                                ),
                            }
                        }
                    });
                }
            });
        });
    })
}

impl Lower<'_> {
    /// An atomic operation on a bucket.
    pub(in crate::lower) fn update_atomically(
        &mut self,
        dest: Var,
        Native { op, ty, .. }: Native,
        bucket: Operand,
        value: Operand,
    ) {
        let place = self.place(self.value(dest), self.elem(dest), bucket);
        // What is in shared memory is the team's own.
        let scope = match place.space {
            Space::Shared => Scope::Cta,
            Space::Global | Space::Local => Scope::Gpu,
        };
        self.b.inst(Inst::Atom {
            op,
            space: place.space,
            order: Order::Relaxed(scope),
            ty,
            dst: None,
            at: place.at,
            a: value,
            b: None,
        });
    }
}
