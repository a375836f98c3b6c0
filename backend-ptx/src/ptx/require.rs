//! Which version of PTX and which devices an instruction needs.

use super::func::Func;
use super::inst::Inst;
use super::ops::{Binary, Unary};
use super::types::Ty;

/// A version of PTX, which the driver must understand, and the least capability of the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Requirement {
    /// Major and minor version of PTX.
    pub version: (u32, u32),
    /// The capability as in `sm_75`.
    pub target: u32,
}

impl Requirement {
    /// What every function needs.
    pub const BASE: Self = Self {
        version: (6, 3),
        target: 75,
    };
    /// Features of the A100 and later.
    const AMPERE: Self = Self {
        version: (7, 0),
        target: 80,
    };

    /// Both together.
    pub fn and(self, other: Self) -> Self {
        Self {
            version: self.version.max(other.version),
            target: self.target.max(other.target),
        }
    }
}

/// What an instruction needs.
pub fn of_inst(inst: &Inst) -> Requirement {
    match inst {
        Inst::CopyAsync { .. } | Inst::CopyCommit | Inst::CopyWait(_) | Inst::Reduce { .. } => {
            Requirement::AMPERE
        }
        Inst::Binary {
            op: Binary::Min | Binary::Max,
            ty: Ty::F16,
            ..
        } => Requirement::AMPERE,
        Inst::Unary {
            op: Unary::Tanh, ..
        } => Requirement {
            version: (7, 0),
            ..Requirement::BASE
        },
        Inst::Unary {
            op: Unary::Abs,
            ty: Ty::F16,
            ..
        } => Requirement {
            version: (6, 5),
            ..Requirement::BASE
        },
        Inst::Mov { .. }
        | Inst::Special { .. }
        | Inst::AddressOf { .. }
        | Inst::Pack { .. }
        | Inst::Unpack { .. }
        | Inst::Select { .. }
        | Inst::Unary { .. }
        | Inst::Binary { .. }
        | Inst::Ternary { .. }
        | Inst::Compare { .. }
        | Inst::Convert { .. }
        | Inst::Param { .. }
        | Inst::Load { .. }
        | Inst::Store { .. }
        | Inst::Atom { .. }
        | Inst::Fence(_)
        | Inst::Shuffle { .. }
        | Inst::Vote { .. }
        | Inst::Match { .. }
        | Inst::WarpSync { .. }
        | Inst::Barrier
        | Inst::BarrierVote { .. }
        | Inst::Nanosleep(_)
        | Inst::Prefetch(_)
        | Inst::Call { .. } => Requirement::BASE,
    }
}

/// What the instructions of a function need.
pub fn of_func(func: &Func) -> Requirement {
    let lines = func.blocks.iter().flat_map(|block| &block.lines);
    lines
        .map(|line| of_inst(&line.inst))
        .fold(Requirement::BASE, Requirement::and)
}
