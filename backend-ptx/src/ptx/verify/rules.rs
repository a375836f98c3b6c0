//! Which operations there are for which types, and which memory accesses for which state spaces.

use crate::ptx::inst::{Inst, Operand};
use crate::ptx::ops::{AtomOp, Binary, Cache, Cmp, Round, Ternary, Unary};
use crate::ptx::types::{Order, Space, Ty};

/// Whether the instruction exists as such.
pub(super) fn rules(inst: &Inst) -> Result<(), String> {
    let exists = match inst {
        Inst::Unary { op, ty, a, .. } => unary(*op, *ty) && plain(*ty, &[*a]),
        Inst::Binary { op, ty, a, b, .. } => binary(*op, *ty) && plain(*ty, &[*a, *b]),
        Inst::Ternary {
            op, ty, a, b, c, ..
        } => ternary(*op, *ty) && plain(*ty, &[*a, *b, *c]),
        Inst::Compare { op, ty, a, b, .. } => compare(*op, *ty) && plain(*ty, &[*a, *b]),
        Inst::Convert {
            to, from, round, ..
        } => conversion(*to, *from, *round),
        Inst::Select { ty, yes, no, .. } => {
            matches!(ty, Ty::B16 | Ty::B32 | Ty::B64) && plain(*ty, &[*yes, *no])
        }
        Inst::Mov { ty, .. } => matches!(ty, Ty::Pred | Ty::B16 | Ty::B32 | Ty::B64),
        Inst::Load {
            space,
            order,
            cache,
            ty,
            dst,
            at: _,
            undefined: _,
        } => {
            access(*space, *order, *ty, dst.len())
                && !matches!(order, Order::Release(_) | Order::AcquireRelease(_))
                && (*cache == Cache::Usual || (*space == Space::Global && *order == Order::Weak))
        }
        Inst::Store {
            space,
            order,
            cache,
            ty,
            src,
            ..
        } => {
            access(*space, *order, *ty, src.len())
                && !matches!(order, Order::Acquire(_) | Order::AcquireRelease(_))
                && (*cache == Cache::Usual
                    || (*cache == Cache::Streaming
                        && *space == Space::Global
                        && *order == Order::Weak))
                && plain(*ty, src)
        }
        Inst::Atom {
            op,
            space,
            order,
            ty,
            dst,
            b,
            ..
        } => {
            // Without a result it is a reduction, which is never an acquire.
            let reduction = matches!(order, Order::Relaxed(_) | Order::Release(_))
                && !matches!(op, AtomOp::Exch | AtomOp::Cas);
            atomic(*op, *ty)
                && matches!(space, Space::Global | Space::Shared)
                && *order != Order::Weak
                && (dst.is_some() || reduction)
                && b.is_some() == (*op == AtomOp::Cas)
        }
        Inst::CopyAsync { bytes, .. } => matches!(bytes, 4 | 8 | 16),
        Inst::Match { ty, .. } => matches!(ty, Ty::B32 | Ty::B64),
        Inst::Reduce { op, ty, .. } => {
            matches!(ty, Ty::U32 | Ty::S32 | Ty::B32)
                && atomic(*op, *ty)
                && !matches!(op, AtomOp::Exch | AtomOp::Cas | AtomOp::Inc)
        }
        Inst::BarrierVote { op, .. } => matches!(op, Binary::And | Binary::Or),
        Inst::Param { ty, .. } => *ty != Ty::Pred,
        Inst::Special { .. }
        | Inst::AddressOf { .. }
        | Inst::Pack { .. }
        | Inst::Unpack { .. }
        | Inst::Fence(_)
        | Inst::Prefetch(_)
        | Inst::CopyCommit
        | Inst::CopyWait(_)
        | Inst::Shuffle { .. }
        | Inst::Vote { .. }
        | Inst::WarpSync { .. }
        | Inst::Barrier
        | Inst::Nanosleep(_)
        | Inst::Call { .. } => true,
    };
    if exists {
        Ok(())
    } else {
        Err(format!("there is no such instruction: {inst:?}"))
    }
}

/// Whether operands may be what they are: there are no constants of 16 bits.
fn plain(ty: Ty, operands: &[Operand]) -> bool {
    !matches!(ty, Ty::F16 | Ty::B16)
        || operands.iter().all(|o| match o {
            Operand::Reg(_) => true,
            Operand::Imm(_) => false,
        })
}

fn unary(op: Unary, ty: Ty) -> bool {
    match op {
        Unary::Neg | Unary::Abs => ty.is_float() || matches!(ty, Ty::S32 | Ty::S64),
        Unary::Not => ty.is_bits() || ty == Ty::Pred,
        Unary::Popc | Unary::Clz | Unary::Brev => ty.is_bits(),
        Unary::Bfind => ty.is_int(),
        Unary::Sqrt | Unary::Rcp => matches!(ty, Ty::F32 | Ty::F64),
        Unary::SqrtNear
        | Unary::Ex2
        | Unary::Lg2
        | Unary::Sin
        | Unary::Cos
        | Unary::Rsqrt
        | Unary::Tanh => ty == Ty::F32,
        Unary::ToGlobal => ty == Ty::U64,
    }
}

fn binary(op: Binary, ty: Ty) -> bool {
    match op {
        Binary::Add | Binary::Sub | Binary::Mul | Binary::Min | Binary::Max => {
            ty.is_int() || ty.is_float()
        }
        Binary::Div => ty.is_int() || matches!(ty, Ty::F32 | Ty::F64),
        Binary::DivNear => ty == Ty::F32,
        Binary::MulHi | Binary::Rem => ty.is_int(),
        Binary::MulWide => matches!(ty, Ty::U32 | Ty::S32),
        Binary::And | Binary::Or | Binary::Xor => ty.is_bits() || ty == Ty::Pred,
        Binary::Shl => ty.is_bits(),
        Binary::Shr => ty.is_int(),
        Binary::Copysign => matches!(ty, Ty::F32 | Ty::F64),
    }
}

fn ternary(op: Ternary, ty: Ty) -> bool {
    match op {
        Ternary::Fma => ty.is_float(),
        Ternary::Mad | Ternary::Bfe => ty.is_int(),
        Ternary::MadWide => matches!(ty, Ty::U32 | Ty::S32),
        Ternary::ShfLeft | Ternary::ShfRight | Ternary::Prmt => ty == Ty::B32,
    }
}

fn compare(op: Cmp, ty: Ty) -> bool {
    match op {
        Cmp::Eq | Cmp::Ne => ty.is_int() || ty.is_float() || ty.is_bits(),
        Cmp::Lt | Cmp::Le | Cmp::Gt | Cmp::Ge => ty.is_int() || ty.is_float(),
        Cmp::Neu | Cmp::Ltu | Cmp::Num | Cmp::Nan => ty.is_float(),
    }
}

fn conversion(to: Ty, from: Ty, round: Round) -> bool {
    let narrow = matches!(from, Ty::U8 | Ty::S8 | Ty::U16 | Ty::S16);
    let int = from.is_int() || narrow;
    match round {
        // Integers to integers, 16 bits in and out, and floats that lose nothing.
        Round::Exact => {
            (to.is_int() && (int || from == Ty::B16))
                || (to == Ty::B16 && matches!(from, Ty::U32 | Ty::S32))
                || matches!(
                    (to, from),
                    (Ty::F32, Ty::F16) | (Ty::F64, Ty::F16 | Ty::F32)
                )
        }
        Round::Nearest => {
            (to.is_float() && from.is_int())
                || matches!(
                    (to, from),
                    (Ty::F16, Ty::F32 | Ty::F64) | (Ty::F32, Ty::F64)
                )
        }
        Round::IntNearest | Round::IntZero | Round::IntDown | Round::IntUp => {
            (to == from && matches!(to, Ty::F32 | Ty::F64)) || (to.is_int() && from.is_float())
        }
    }
}

/// Loads and stores: widths, vectors of at most 16 bytes, orders only where there are other threads.
fn access(space: Space, order: Order, ty: Ty, count: usize) -> bool {
    let bytes = ty.bytes() as usize * count;
    let ordered = match space {
        Space::Global | Space::Shared => true,
        Space::Local => order == Order::Weak,
    };
    ordered
        && matches!(count, 1 | 2 | 4)
        && (1..=16).contains(&bytes)
        && (order == Order::Weak || (count == 1 && bytes >= 4))
}

fn atomic(op: AtomOp, ty: Ty) -> bool {
    match op {
        AtomOp::Add => matches!(ty, Ty::U32 | Ty::S32 | Ty::U64 | Ty::F32 | Ty::F64),
        AtomOp::Min | AtomOp::Max => ty.is_int(),
        AtomOp::And | AtomOp::Or | AtomOp::Xor | AtomOp::Exch | AtomOp::Cas => ty.is_bits(),
        AtomOp::Inc => ty == Ty::U32,
    }
}
