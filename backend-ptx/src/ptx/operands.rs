//! What instructions read and write, and how wide it must be.

use super::func::{Reg, Term};
use super::inst::{Address, Inst, Operand};
use super::ops::{Binary, Ternary, Unary, Vote};
use super::types::{Class, Space, Ty};

/// An operand of an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Written.
    Def(Reg),
    /// Read.
    Use(Operand),
}

/// Passes accesses on with their widths.
struct Visit<'f> {
    f: &'f mut dyn FnMut(Access, Option<Class>),
}

impl Visit<'_> {
    fn def(&mut self, reg: Reg, class: Class) {
        (self.f)(Access::Def(reg), Some(class));
    }
    fn get(&mut self, operand: impl Into<Operand>, class: Class) {
        (self.f)(Access::Use(operand.into()), Some(class));
    }
    fn at(&mut self, at: &Address, space: Space) {
        self.get(at.base, space.class());
    }
}

impl Inst {
    /// Calls `f` on every operand, reads first, with the width that the instruction asks for. (Of a call, the widths are
    /// those of the function.)
    pub fn accesses(&self, f: &mut dyn FnMut(Access, Option<Class>)) {
        let mut v = Visit { f };
        match self {
            Self::Mov { ty, dst, src } => {
                v.get(*src, ty.class());
                v.def(*dst, ty.class());
            }
            Self::Special { dst, which: _ } | Self::AddressOf { dst, var: _ } => {
                v.def(*dst, Class::B32);
            }
            Self::Pack { dst, low, high } => {
                v.get(*low, Class::B32);
                v.get(*high, Class::B32);
                v.def(*dst, Class::B64);
            }
            Self::Unpack { low, high, src } => {
                v.get(*src, Class::B64);
                v.def(*low, Class::B32);
                v.def(*high, Class::B32);
            }
            Self::Select {
                ty,
                dst,
                yes,
                no,
                cond,
            } => {
                v.get(*yes, ty.class());
                v.get(*no, ty.class());
                v.get(*cond, Class::Pred);
                v.def(*dst, ty.class());
            }
            Self::Unary { op, ty, dst, a } => {
                v.get(*a, ty.class());
                v.def(*dst, op.result(*ty));
            }
            Self::Binary { op, ty, dst, a, b } => {
                v.get(*a, ty.class());
                v.get(*b, op.second(*ty));
                v.def(*dst, op.result(*ty));
            }
            Self::Ternary {
                op,
                ty,
                dst,
                a,
                b,
                c,
            } => {
                let [second, third] = op.others(*ty);
                v.get(*a, ty.class());
                v.get(*b, second);
                v.get(*c, third);
                v.def(*dst, op.result(*ty));
            }
            Self::Compare {
                op: _,
                ty,
                dst,
                a,
                b,
            } => {
                v.get(*a, ty.class());
                v.get(*b, ty.class());
                v.def(*dst, Class::Pred);
            }
            Self::Convert {
                to,
                from,
                round: _,
                dst,
                src,
            } => {
                v.get(*src, from.class());
                v.def(*dst, to.class());
            }
            Self::Param { ty, dst, offset: _ } => v.def(*dst, ty.class()),
            Self::Load { .. } | Self::Store { .. } | Self::Atom { .. } | Self::CopyAsync { .. } => {
                self.memory(&mut v);
            }
            Self::Fence(_) | Self::CopyCommit | Self::CopyWait(_) | Self::Barrier => {}
            Self::Prefetch(at) => v.at(at, Space::Global),
            Self::Nanosleep(time) => v.get(*time, Class::B32),
            Self::Shuffle { .. }
            | Self::Vote { .. }
            | Self::Match { .. }
            | Self::Reduce { .. }
            | Self::WarpSync { .. }
            | Self::BarrierVote { .. } => self.together(&mut v),
            Self::Call {
                fun: _,
                results,
                args,
            } => {
                args.iter().for_each(|a| (v.f)(Access::Use(*a), None));
                results.iter().for_each(|r| (v.f)(Access::Def(*r), None));
            }
        }
    }

    /// Accesses of instructions on memory.
    fn memory(&self, v: &mut Visit<'_>) {
        if let Self::Load {
            space, ty, dst, at, ..
        } = self
        {
            v.at(at, *space);
            dst.iter().for_each(|d| v.def(*d, ty.class()));
        } else if let Self::Store {
            space, ty, src, at, ..
        } = self
        {
            v.at(at, *space);
            src.iter().for_each(|s| v.get(*s, ty.class()));
        } else if let Self::Atom {
            space,
            ty,
            dst,
            at,
            a,
            b,
            ..
        } = self
        {
            v.at(at, *space);
            v.get(*a, ty.class());
            b.iter().for_each(|b| v.get(*b, ty.class()));
            dst.iter().for_each(|d| v.def(*d, ty.class()));
        } else if let Self::CopyAsync { to, from, .. } = self {
            v.at(to, Space::Shared);
            v.at(from, Space::Global);
        }
    }

    /// Accesses of instructions that several lanes execute together.
    fn together(&self, v: &mut Visit<'_>) {
        if let Self::Shuffle {
            dst,
            ok,
            src,
            lane,
            clamp,
            mask,
            ..
        } = self
        {
            for operand in [src, lane, clamp, mask] {
                v.get(*operand, Class::B32);
            }
            v.def(*dst, Class::B32);
            ok.iter().for_each(|p| v.def(*p, Class::Pred));
        } else if let Self::Vote {
            mode,
            dst,
            src,
            mask,
        } = self
        {
            v.get(*src, Class::Pred);
            v.get(*mask, Class::B32);
            v.def(*dst, mode.result());
        } else if let Self::Match { ty, dst, src, mask }
        | Self::Reduce {
            ty, dst, src, mask, ..
        } = self
        {
            v.get(*src, ty.class());
            v.get(*mask, Class::B32);
            v.def(*dst, Class::B32);
        } else if let Self::WarpSync { mask } = self {
            v.get(*mask, Class::B32);
        } else if let Self::BarrierVote { dst, src, .. } = self {
            v.get(*src, Class::Pred);
            v.def(*dst, Class::Pred);
        }
    }

    /// Whether the lanes of its mask, or all threads of the block, execute the instruction together.
    pub const fn is_collective(&self) -> bool {
        matches!(
            self,
            Self::Shuffle { .. }
                | Self::Vote { .. }
                | Self::Match { .. }
                | Self::Reduce { .. }
                | Self::WarpSync { .. }
                | Self::Barrier
                | Self::BarrierVote { .. }
        )
    }

    /// Whether all threads of the block execute the instruction together.
    pub const fn is_barrier(&self) -> bool {
        matches!(self, Self::Barrier | Self::BarrierVote { .. })
    }
}

impl Term {
    /// Calls `f` on every operand.
    pub fn uses(&self, f: &mut dyn FnMut(Operand)) {
        match self {
            Self::Jump(_) => {}
            Self::Branch { cond, .. } => f(cond.reg.into()),
            Self::Return(values) => values.iter().for_each(|v| f(*v)),
        }
    }
}

impl Unary {
    /// The width of the result for an operand of type `ty`.
    pub const fn result(self, ty: Ty) -> Class {
        match self {
            Self::Popc | Self::Clz | Self::Bfind => Class::B32,
            Self::Neg
            | Self::Abs
            | Self::Not
            | Self::Brev
            | Self::Sqrt
            | Self::SqrtNear
            | Self::Rcp
            | Self::Ex2
            | Self::Lg2
            | Self::Sin
            | Self::Cos
            | Self::Rsqrt
            | Self::Tanh
            | Self::ToGlobal => ty.class(),
        }
    }
}

impl Binary {
    /// The width of the result.
    pub const fn result(self, ty: Ty) -> Class {
        if matches!(self, Self::MulWide) {
            Class::B64
        } else {
            ty.class()
        }
    }
    /// The width of the second operand.
    pub const fn second(self, ty: Ty) -> Class {
        if matches!(self, Self::Shl | Self::Shr) {
            Class::B32
        } else {
            ty.class()
        }
    }
}

impl Ternary {
    /// The width of the result.
    pub const fn result(self, ty: Ty) -> Class {
        if matches!(self, Self::MadWide) {
            Class::B64
        } else {
            ty.class()
        }
    }
    /// The widths of the second and third operands.
    pub const fn others(self, ty: Ty) -> [Class; 2] {
        match self {
            Self::Fma | Self::Mad => [ty.class(); 2],
            Self::MadWide => [ty.class(), Class::B64],
            Self::Bfe => [Class::B32; 2],
            Self::ShfLeft | Self::ShfRight | Self::Prmt => [ty.class(), Class::B32],
        }
    }
}

impl Vote {
    /// The width of the result.
    pub const fn result(self) -> Class {
        match self {
            Self::Ballot => Class::B32,
            Self::Any | Self::All => Class::Pred,
        }
    }
}
