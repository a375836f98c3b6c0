//! The text form of the vector IR.
//!
//! ```text
//! function 16 lanes, slots 64
//! b0(v0: i64, v1: i64):
//!   v2: vec f32 = vload.w32 [v0 + v1*4 + 16], v9
//!   v3: vec f32 = vec.add v2, v2
//!   branch v4, b1(v3), b2()
//! ```

#[cfg(test)]
pub(super) mod parse;

use super::ir::{Address, Block, Function, Op, Terminator, Type, Value};
use std::fmt::{self, Display, Formatter};

impl Display for Value {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "v{}", self.0)
    }
}

impl Display for Block {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "b{}", self.0)
    }
}

impl Display for Type {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::I32 => f.write_str("i32"),
            Self::I64 => f.write_str("i64"),
            Self::Vector(elem) => write!(f, "vec {}", elem.name()),
            Self::Mask => f.write_str("mask"),
        }
    }
}

impl Display for Address {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "[{}", self.base)?;
        if let Some((index, scale)) = self.index {
            write!(f, " + {index}*{scale}")?;
        }
        match self.offset {
            0 => f.write_str("]"),
            offset => write!(f, " + {offset}]"),
        }
    }
}

/// A list of values.
struct List<'a>(&'a [Value]);

impl Display for List<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        for (k, value) in self.0.iter().enumerate() {
            let comma = if k > 0 { ", " } else { "" };
            write!(f, "{comma}{value}")?;
        }
        Ok(())
    }
}

/// A further operand, if there is one.
struct Further(Option<Value>);

impl Display for Further {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(value) => write!(f, ", {value}"),
            None => Ok(()),
        }
    }
}

impl Display for Op {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Const(n) => write!(f, "const {n}"),
            Self::Int(op, a, b) => write!(f, "int.{} {a}, {b}", op.name()),
            Self::Compare(cond, a, b) => write!(f, "cmp.{} {a}, {b}", cond.name()),
            Self::Select(c, a, b) => write!(f, "select {c}, {a}, {b}"),
            Self::Extend(a, bits, true) => write!(f, "sext.{bits} {a}"),
            Self::Extend(a, bits, false) => write!(f, "zext.{bits} {a}"),
            Self::Low(a) => write!(f, "low {a}"),
            Self::TrailingZeros(a) => write!(f, "ctz {a}"),
            Self::Load(cell, at) => write!(f, "load.{} {at}", cell.name()),
            Self::Store(cell, at, v) => write!(f, "store.{} {at}, {v}", cell.name()),
            Self::SlotAddress(slot) => write!(f, "slot {}", slot.0),
            Self::Call(target, args) => write!(f, "call {target}({})", List(args)),
            Self::Splat(a) => write!(f, "splat {a}"),
            Self::SplatLoad(cell, at) => write!(f, "splat_load.{} {at}", cell.name()),
            Self::VecConst(bits) => write!(f, "vconst {bits:#x}"),
            Self::Iota => f.write_str("iota"),
            Self::First(a) => write!(f, "first {a}"),
            Self::Vec(op, a, b) => write!(f, "vec.{} {a}, {b}", op.name()),
            Self::VecUn(op, a) => write!(f, "vec1.{} {a}", op.name()),
            Self::Fma(a, b, c) => write!(f, "fma {a}, {b}, {c}"),
            Self::VecCompare(cond, a, b) => write!(f, "vcmp.{} {a}, {b}", cond.name()),
            Self::FloatCompare(cond, a, b) => write!(f, "fcmp.{} {a}, {b}", cond.name()),
            Self::Blend(m, a, b) => write!(f, "blend {m}, {a}, {b}"),
            Self::Convert(conv, a) => write!(f, "conv.{} {a}", conv.name()),
            Self::MaskConst(all) => write!(f, "mask_const {all}"),
            Self::MaskSplat(a) => write!(f, "mask_splat {a}"),
            Self::FirstLanes(n) => write!(f, "first_lanes {n}"),
            Self::Mask(op, a, b) => write!(f, "mask.{} {a}, {b}", op.name()),
            Self::MaskNot(a) => write!(f, "mask_not {a}"),
            Self::Any(a) => write!(f, "any {a}"),
            Self::MaskBits(a) => write!(f, "mask_bits {a}"),
            Self::VecLoad(cell, at, m) => write!(f, "vload.{} {at}{}", cell.name(), Further(*m)),
            Self::VecStore(cell, at, v, m) => {
                write!(f, "vstore.{} {at}, {v}{}", cell.name(), Further(*m))
            }
            Self::Gather(cell, base, index, m) => {
                write!(f, "gather.{} {base}, {index}{}", cell.name(), Further(*m))
            }
            Self::Scatter(cell, base, index, v, m) => {
                write!(
                    f,
                    "scatter.{} {base}, {index}, {v}{}",
                    cell.name(),
                    Further(*m)
                )
            }
        }
    }
}

impl Display for Terminator {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Jump(block, args) => write!(f, "jump {block}({})", List(args)),
            Self::Branch(cond, (yes, a), (no, b)) => {
                write!(f, "branch {cond}, {yes}({}), {no}({})", List(a), List(b))
            }
            Self::Return(value) => write!(f, "return {value}"),
        }
    }
}

impl Display for Function {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "function {} lanes", self.lanes)?;
        for (k, bytes) in self.slots.iter().enumerate() {
            let before = if k == 0 { ", slots" } else { "" };
            write!(f, "{before} {bytes}")?;
        }
        writeln!(f)?;
        for (k, block) in self.blocks.iter().enumerate() {
            write!(f, "b{k}")?;
            if block.cold {
                f.write_str(" cold")?;
            }
            f.write_str("(")?;
            for (i, param) in block.params.iter().enumerate() {
                let comma = if i > 0 { ", " } else { "" };
                write!(f, "{comma}{param}: {}", self.ty(*param))?;
            }
            writeln!(f, "):")?;
            for inst in &block.insts {
                match inst.result {
                    Some(result) => {
                        writeln!(f, "  {result}: {} = {}", self.ty(result), inst.op)?;
                    }
                    None => writeln!(f, "  {}", inst.op)?,
                }
            }
            if let Some(end) = &block.end {
                writeln!(f, "  {end}")?;
            }
        }
        Ok(())
    }
}
