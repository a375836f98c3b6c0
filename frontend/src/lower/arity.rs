//! How many arguments built-in operations have.

use crate::typed::Op;

/// The number of arguments of a built-in.
pub(super) const fn arity(op: Op) -> usize {
    match op {
        Op::Highest
        | Op::Lowest
        | Op::Inf
        | Op::Nan
        | Op::Pi
        | Op::E
        | Op::Epsilon
        | Op::NumBits => 0,
        Op::Neg
        | Op::Not
        | Op::Abs
        | Op::Sgn
        | Op::Convert(_)
        | Op::Popc
        | Op::Clz
        | Op::Ctz
        | Op::Recip
        | Op::Sqrt
        | Op::Rsqrt
        | Op::Cbrt
        | Op::Exp
        | Op::Sin
        | Op::Cos
        | Op::Tan
        | Op::SinPi
        | Op::CosPi
        | Op::TanPi
        | Op::Asin
        | Op::Acos
        | Op::Atan
        | Op::AsinPi
        | Op::AcosPi
        | Op::AtanPi
        | Op::Sinh
        | Op::Cosh
        | Op::Tanh
        | Op::Asinh
        | Op::Acosh
        | Op::Atanh
        | Op::Gamma
        | Op::Lgamma
        | Op::Erf
        | Op::Erfc
        | Op::Log
        | Op::Log2
        | Op::Log10
        | Op::Log1p
        | Op::Ceil
        | Op::Floor
        | Op::Trunc
        | Op::Round
        | Op::IsInf
        | Op::IsNan
        | Op::FromBits
        | Op::ToBits
        | Op::Sum
        | Op::Product
        | Op::Maximum
        | Op::Minimum
        | Op::Unzip
        | Op::Flatten
        | Op::Unflatten
        | Op::Transpose
        | Op::Reverse
        | Op::Iota
        | Op::Length
        | Op::Copy
        | Op::Manifest
        | Op::Opaque
        | Op::Trace
        | Op::Break
        | Op::SeqParts
        | Op::SeqPut
        | Op::SeqFlat => 1,
        Op::Add
        | Op::Sub
        | Op::Mul
        | Op::Div
        | Op::Mod
        | Op::Quot
        | Op::Rem
        | Op::Pow
        | Op::Min
        | Op::Max
        | Op::And
        | Op::Or
        | Op::Xor
        | Op::Shl
        | Op::Shr
        | Op::LShr
        | Op::MulHi
        | Op::Eq
        | Op::Ne
        | Op::Lt
        | Op::Le
        | Op::Gt
        | Op::Ge
        | Op::LogAnd
        | Op::LogOr
        | Op::GetBit
        | Op::Atan2
        | Op::Atan2Pi
        | Op::Hypot
        | Op::NextAfter
        | Op::CopySign
        | Op::Ldexp
        | Op::FromFraction
        | Op::Map
        | Op::Filter
        | Op::Partition
        | Op::Zip
        | Op::Concat
        | Op::Rotate
        | Op::Replicate
        | Op::Segment
        | Op::SeqNext
        | Op::SeqRead(_)
        | Op::FlatMap => 2,
        Op::SetBit
        | Op::Lerp
        | Op::Mad
        | Op::MadHi
        | Op::Fma
        | Op::Reduce
        | Op::ReduceComm
        | Op::Scan
        | Op::Scatter1d
        | Op::Scatter2d
        | Op::Scatter3d
        | Op::ScatterStream
        | Op::SeqMake
        | Op::Jvp
        | Op::Vjp
        | Op::WithVjp
        | Op::AccWrite => 3,
        Op::Hist
        | Op::HistStream
        | Op::ReduceByIndex1d
        | Op::ReduceByIndex2d
        | Op::ReduceByIndex3d => 5,
    }
}
