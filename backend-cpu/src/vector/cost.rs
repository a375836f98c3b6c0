//! What an iteration costs in scalar code, and what one costs as a lane of vector code.
//!
//! Costs are cycles of a processor with AVX-512 and two vector ports, for registers of 512 bits: throughputs of Intel's Ice Lake and Sapphire
//! Rapids (uops.info), gathers and scatters with their elements in the first cache. A loop counts as eight iterations of its body.

use super::ir::{Cell, Conv, Elem, Function, Op, Type, Value, VecOp, VecUn};
use midend::ir::scalar::{BinOp, ScalarOp, UnOp};
use midend::ir::types::ScalarType;
use midend::math::definition;
use std::fmt::{self, Display, Formatter};

/// How often the body of a loop is thought to be executed.
pub(super) const ITERATIONS: f64 = 8.0;
/// How much longer a loop takes that lanes leave at different steps.
pub(super) const DIVERGENCE: f64 = 1.5;
/// A branch of which the processor does not foresee the side.
pub(super) const MISPREDICTED: f64 = 4.0;
/// Of scalar code, how many times that of lanes it is at least where lanes are taken.
const GAIN: f64 = 1.25;

/// The costs of as many iterations as there are lanes.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Costs {
    pub(super) scalar: f64,
    pub(super) vector: f64,
}

impl Costs {
    /// Whether vector code is faster.
    pub(super) fn pays(self) -> bool {
        self.scalar >= GAIN * self.vector
    }
}

impl Display for Costs {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "scalar code takes about {:.0} cycles, that of lanes {:.0}",
            self.scalar, self.vector
        )
    }
}

/// How many registers hold a vector.
fn registers(f: &Function, value: Value) -> f64 {
    match f.ty(value) {
        Type::Vector(elem) => (elem.bytes() * f.lanes / 64) as f64,
        Type::I32 | Type::I64 | Type::Mask => 1.0,
    }
}

/// What an instruction costs.
pub(super) fn of_op(f: &Function, op: &Op, result: Option<Value>) -> f64 {
    let width = result.map_or(1.0, |v| registers(f, v));
    match op {
        Op::Const(_) | Op::SlotAddress(_) | Op::VecConst(_) | Op::MaskConst(_) => 0.0,
        Op::Int(op, ..) => match op {
            super::ir::IntOp::DivS | super::ir::IntOp::DivU | super::ir::IntOp::RemU => 12.0,
            super::ir::IntOp::Mul => 1.0,
            super::ir::IntOp::Add
            | super::ir::IntOp::Sub
            | super::ir::IntOp::And
            | super::ir::IntOp::Or
            | super::ir::IntOp::Xor
            | super::ir::IntOp::Shl
            | super::ir::IntOp::Sar
            | super::ir::IntOp::Shr => 0.5,
        },
        Op::Compare(..)
        | Op::Select(..)
        | Op::Extend(..)
        | Op::Low(_)
        | Op::TrailingZeros(_)
        | Op::Load(..)
        | Op::SplatLoad(..)
        | Op::Iota => 0.5,
        Op::Store(..) | Op::Splat(_) | Op::MaskSplat(_) | Op::FirstLanes(_) => 1.0,
        Op::Mask(..) | Op::MaskNot(_) => 1.0,
        Op::First(_) | Op::Any(_) | Op::MaskBits(_) => 2.0,
        Op::Call(..) => 60.0,
        Op::Vec(op, a, _) => width * of_vec(*op, f.elem(*a)),
        Op::VecUn(VecUn::Sqrt, a) => match f.elem(*a) {
            Elem::F32 | Elem::I32 => 18.0,
            Elem::F64 | Elem::I64 => 62.0,
        },
        Op::VecUn(..) => 2.0 * width,
        Op::Fma(..) | Op::Blend(..) => width,
        Op::VecCompare(_, a, _) | Op::FloatCompare(_, a, _) => 1.5 * registers(f, *a) - 0.5,
        Op::Convert(Conv::Bits, _) => 0.5 * width,
        Op::Convert(_, a) => 2.0 * width.max(registers(f, *a)) - 1.0,
        Op::VecLoad(..) => width,
        Op::VecStore(_, _, value, _) => 1.5 * registers(f, *value),
        Op::Gather(cell, _, index, _) => {
            let wide = f.elem(*index).bytes() == 8;
            match cell {
                Cell::W64 => 22.0,
                Cell::I8 | Cell::U8 | Cell::I16 | Cell::U16 | Cell::W32 if wide => 22.0,
                Cell::I8 | Cell::U8 | Cell::I16 | Cell::U16 | Cell::W32 => 18.0,
            }
        }
        Op::Scatter(..) => 30.0,
    }
}

const fn of_vec(op: VecOp, elem: Elem) -> f64 {
    match (op, elem) {
        (VecOp::Div, Elem::F32) => 10.0,
        (VecOp::Div, _) => 16.0,
        (VecOp::Mul, Elem::I32) => 2.0,
        (VecOp::Mul, Elem::I64) => 3.0,
        _ => 1.0,
    }
}

/// What a scalar operation costs in scalar code.
pub(super) fn of_scalar(op: ScalarOp) -> f64 {
    if let Some(definition) = definition(op) {
        return 0.8 * definition.body.stms.len() as f64;
    }
    match op {
        ScalarOp::Bin(BinOp::Div | BinOp::Mod | BinOp::Quot | BinOp::Rem, ty) => match ty {
            ScalarType::F32 | ScalarType::F64 => 5.0,
            ScalarType::I64 | ScalarType::U64 => 12.0,
            ScalarType::I8
            | ScalarType::I16
            | ScalarType::I32
            | ScalarType::U8
            | ScalarType::U16
            | ScalarType::U32
            | ScalarType::F16
            | ScalarType::Bool => 8.0,
        },
        ScalarOp::Un(UnOp::Sqrt | UnOp::Rsqrt, _) => 6.0,
        ScalarOp::Bin(BinOp::Min | BinOp::Max, ty) if ty.is_float() => 3.0,
        ScalarOp::Convert(from, to) if from.is_float() != to.is_float() => 1.5,
        ScalarOp::Un(_, ty) | ScalarOp::Bin(_, ty) | ScalarOp::Tern(_, ty) if ty.is_float() => 1.0,
        ScalarOp::Un(..)
        | ScalarOp::Bin(..)
        | ScalarOp::Cmp(..)
        | ScalarOp::Tern(..)
        | ScalarOp::Convert(..)
        | ScalarOp::ToBits(_)
        | ScalarOp::FromBits(_)
        | ScalarOp::Select(_) => 0.5,
    }
}
