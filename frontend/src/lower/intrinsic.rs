//! Built-in operations on scalars, and the dispatch to those on arrays.

use super::arity::arity;
use super::emit::{text, value};
use super::value::{Code, FunValue, Instance, Ty, Value, float_const, int_const, scalar_type};
use super::{Lower, Res};
use crate::source::Span;
use crate::typed::{Intrinsic, Name, NameKind, Op};
use midend::ir::scalar::{BinOp, CmpOp, Const, ScalarOp, TernOp, UnOp};
use midend::ir::syntax::{Atom, TrapKind};
use midend::ir::types::ScalarType;
use std::rc::Rc;

impl<'a> Lower<'a> {
    /// The built-in that a name stands for.
    pub fn intrinsic_of(&self, name: Name) -> Option<Intrinsic> {
        match self.typed.names.get(name).kind {
            NameKind::Intrinsic(intrinsic) => Some(intrinsic),
            NameKind::Value | NameKind::Size | NameKind::Type | NameKind::Functor => None,
        }
    }

    /// A built-in as a value.
    pub fn intrinsic_value(&mut self, intrinsic: Intrinsic, inst: &Instance) -> Res<Value<'a>> {
        if arity(intrinsic.op) == 0 {
            return self.intrinsic(intrinsic, inst, Vec::new(), Span::default());
        }
        Ok(Value::Fun(Rc::new(FunValue {
            code: Code::Intrinsic {
                intrinsic,
                inst: Rc::new(inst.clone()),
            },
            args: Vec::new(),
        })))
    }

    /// Applies a built-in to all its arguments.
    pub fn intrinsic(
        &mut self,
        intrinsic: Intrinsic,
        inst: &Instance,
        args: Vec<Value<'a>>,
        span: Span,
    ) -> Res<Value<'a>> {
        let ty = match intrinsic.prim {
            Some(prim) => Some(scalar_type(prim)),
            None => inst.types.first().and_then(Ty::as_scalar),
        };
        let atoms: Option<Vec<Atom>> = args
            .iter()
            .map(|v| match v {
                Value::Leaf(leaf) => Some(leaf.atom),
                Value::Array { .. }
                | Value::Tuple(_)
                | Value::Record(_)
                | Value::Sum(_)
                | Value::Rows(_)
                | Value::Fun(_) => None,
            })
            .collect();
        if let Some(atoms) = atoms {
            // The operands know their type best: an instance may be unknown at an entry point.
            let own = atoms.last().map(|a| self.atom_scalar(*a));
            let ty = ty.or(own).unwrap_or(ScalarType::I32);
            let here = self.span_id(span);
            let outer = std::mem::replace(&mut self.span, here);
            let result = self.scalar_intrinsic(intrinsic.op, ty, &atoms);
            self.span = outer;
            if let Some(atom) = result {
                return Ok(Value::scalar(atom));
            }
        }
        let here = self.span_id(span);
        let outer = std::mem::replace(&mut self.span, here);
        let v = self.array_intrinsic(intrinsic, ty, inst, args, span)?;
        self.span = outer;
        Ok(v)
    }

    /// An operation on scalars, if it is one.
    fn scalar_intrinsic(&mut self, op: Op, ty: ScalarType, args: &[Atom]) -> Option<Atom> {
        match *args {
            [] => constant(op, ty).map(Atom::Const),
            [a] => self.unary(op, ty, a),
            [a, b] => self.binary(op, ty, a, b),
            [a, b, c] => self.ternary(op, ty, a, b, c),
            _ => None,
        }
    }

    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "a part of the operations; `arity` lists them all"
    )]
    fn unary(&mut self, op: Op, ty: ScalarType, a: Atom) -> Option<Atom> {
        let un = |op| Some(ScalarOp::Un(op, ty));
        let scalar_op = match op {
            Op::Neg => un(UnOp::Neg),
            Op::Not => un(UnOp::Not),
            Op::Abs => un(UnOp::Abs),
            Op::Sgn => un(UnOp::Signum),
            Op::Popc => un(UnOp::Popcount),
            Op::Clz => un(UnOp::Clz),
            Op::Ctz => un(UnOp::Ctz),
            Op::Sqrt => un(UnOp::Sqrt),
            Op::Rsqrt => un(UnOp::Rsqrt),
            Op::Cbrt => un(UnOp::Cbrt),
            Op::Exp => un(UnOp::Exp),
            Op::Sin => un(UnOp::Sin),
            Op::Cos => un(UnOp::Cos),
            Op::Tan => un(UnOp::Tan),
            Op::SinPi => un(UnOp::Sinpi),
            Op::CosPi => un(UnOp::Cospi),
            Op::TanPi => un(UnOp::Tanpi),
            Op::Asin => un(UnOp::Asin),
            Op::Acos => un(UnOp::Acos),
            Op::Atan => un(UnOp::Atan),
            Op::AsinPi => un(UnOp::Asinpi),
            Op::AcosPi => un(UnOp::Acospi),
            Op::AtanPi => un(UnOp::Atanpi),
            Op::Sinh => un(UnOp::Sinh),
            Op::Cosh => un(UnOp::Cosh),
            Op::Tanh => un(UnOp::Tanh),
            Op::Asinh => un(UnOp::Asinh),
            Op::Acosh => un(UnOp::Acosh),
            Op::Atanh => un(UnOp::Atanh),
            Op::Gamma => un(UnOp::Gamma),
            Op::Lgamma => un(UnOp::Lgamma),
            Op::Erf => un(UnOp::Erf),
            Op::Erfc => un(UnOp::Erfc),
            Op::Log => un(UnOp::Log),
            Op::Log2 => un(UnOp::Log2),
            Op::Log10 => un(UnOp::Log10),
            Op::Log1p => un(UnOp::Log1p),
            Op::Ceil => un(UnOp::Ceil),
            Op::Floor => un(UnOp::Floor),
            Op::Trunc => un(UnOp::Trunc),
            Op::Round => un(UnOp::Round),
            Op::IsInf => un(UnOp::IsInf),
            Op::IsNan => un(UnOp::IsNan),
            Op::FromBits => Some(ScalarOp::FromBits(ty)),
            Op::ToBits => Some(ScalarOp::ToBits(ty)),
            Op::Convert(from) => {
                let from = scalar_type(from);
                if from.is_signed() && ty.is_unsigned() {
                    // To a wider unsigned type the bits are extended with zeros.
                    let bits = self.convert(from, unsigned(from), a);
                    return Some(self.convert(unsigned(from), ty, bits));
                }
                return Some(self.convert(from, ty, a));
            }
            Op::Recip => {
                let one = Atom::Const(float_const(ty, 1.0));
                return Some(self.bin(BinOp::Div, ty, one, a));
            }
            _ => None,
        };
        scalar_op.map(|op| self.scalar(op, &[a]))
    }

    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "a part of the operations; `arity` lists them all"
    )]
    fn binary(&mut self, op: Op, ty: ScalarType, a: Atom, b: Atom) -> Option<Atom> {
        let bin = match op {
            Op::Add => BinOp::Add,
            Op::Sub => BinOp::Sub,
            Op::Mul => BinOp::Mul,
            Op::Div => return Some(self.division(BinOp::Div, ty, a, b)),
            Op::Mod => return Some(self.division(BinOp::Mod, ty, a, b)),
            Op::Quot => return Some(self.division(BinOp::Quot, ty, a, b)),
            Op::Rem => return Some(self.division(BinOp::Rem, ty, a, b)),
            Op::Pow => return Some(self.power(ty, a, b)),
            Op::Min => BinOp::Min,
            Op::Max => BinOp::Max,
            Op::And | Op::LogAnd => BinOp::And,
            Op::Or | Op::LogOr => BinOp::Or,
            Op::Xor => BinOp::Xor,
            Op::Shl => BinOp::Shl,
            Op::Shr => BinOp::Shr,
            Op::LShr => {
                let bits = unsigned(ty);
                let (a, b) = (self.convert(ty, bits, a), self.convert(ty, bits, b));
                let shifted = self.bin(BinOp::Shr, bits, a, b);
                return Some(self.convert(bits, ty, shifted));
            }
            Op::MulHi => BinOp::MulHi,
            Op::Atan2 => BinOp::Atan2,
            Op::Atan2Pi => BinOp::Atan2pi,
            Op::Hypot => BinOp::Hypot,
            Op::NextAfter => BinOp::Nextafter,
            Op::CopySign => BinOp::Copysign,
            Op::Ldexp => {
                let b = self.convert(ScalarType::I32, ty, b);
                return Some(self.bin(BinOp::Ldexp, ty, a, b));
            }
            Op::Eq => return Some(self.cmp(CmpOp::Eq, ty, a, b)),
            Op::Ne => {
                let same = self.cmp(CmpOp::Eq, ty, a, b);
                return Some(self.not(same));
            }
            Op::Lt => return Some(self.cmp(CmpOp::Lt, ty, a, b)),
            Op::Le => return Some(self.cmp(CmpOp::Le, ty, a, b)),
            Op::Gt => return Some(self.cmp(CmpOp::Lt, ty, b, a)),
            Op::Ge => return Some(self.cmp(CmpOp::Le, ty, b, a)),
            Op::GetBit => {
                let bits = unsigned(ty);
                let n = self.convert(ScalarType::I32, bits, a);
                let x = self.bits_of(ty, b);
                let shifted = self.bin(BinOp::Shr, bits, x, n);
                let one = Atom::Const(int_const(bits, 1));
                let bit = self.bin(BinOp::And, bits, shifted, one);
                return Some(self.convert(bits, ScalarType::I32, bit));
            }
            Op::FromFraction => {
                let a = self.convert(ScalarType::I64, ty, a);
                let b = self.convert(ScalarType::I64, ty, b);
                return Some(self.bin(BinOp::Div, ty, a, b));
            }
            _ => return None,
        };
        Some(self.bin(bin, ty, a, b))
    }

    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "a part of the operations; `arity` lists them all"
    )]
    fn ternary(&mut self, op: Op, ty: ScalarType, a: Atom, b: Atom, c: Atom) -> Option<Atom> {
        let tern = match op {
            Op::Lerp => TernOp::Lerp,
            Op::Mad => TernOp::Mad,
            Op::MadHi => TernOp::MadHi,
            Op::Fma => TernOp::Fma,
            Op::SetBit => return Some(self.set_bit(ty, a, b, c)),
            _ => return None,
        };
        Some(self.scalar(ScalarOp::Tern(tern, ty), &[a, b, c]))
    }

    /// The bits of a number.
    fn bits_of(&mut self, ty: ScalarType, a: Atom) -> Atom {
        if ty.is_float() {
            return self.scalar(ScalarOp::ToBits(ty), &[a]);
        }
        self.convert(ty, unsigned(ty), a)
    }

    /// `set_bit n x b`: bit `n` of `x` becomes the lowest bit of `b`.
    fn set_bit(&mut self, ty: ScalarType, n: Atom, x: Atom, b: Atom) -> Atom {
        let bits = unsigned(ty);
        let one = Atom::Const(int_const(bits, 1));
        let n = self.convert(ScalarType::I32, bits, n);
        let x = self.bits_of(ty, x);
        let b = self.convert(ScalarType::I32, bits, b);
        let mask = self.bin(BinOp::Shl, bits, one, n);
        let mask = self.scalar(ScalarOp::Un(UnOp::Not, bits), &[mask]);
        let cleared = self.bin(BinOp::And, bits, x, mask);
        let bit = self.bin(BinOp::And, bits, b, one);
        let bit = self.bin(BinOp::Shl, bits, bit, n);
        let result = self.bin(BinOp::Or, bits, cleared, bit);
        if ty.is_float() {
            return self.scalar(ScalarOp::FromBits(ty), &[result]);
        }
        self.convert(bits, ty, result)
    }

    /// Integer division checks its divisor first.
    fn division(&mut self, op: BinOp, ty: ScalarType, a: Atom, b: Atom) -> Atom {
        if ty.is_float() {
            return self.bin(op, ty, a, b);
        }
        let zero = Atom::Const(int_const(ty, 0));
        let nonzero = match b {
            Atom::Const(c) => Atom::Const(Const::Bool(Atom::Const(c) != zero)),
            Atom::Var(_) => {
                let is_zero = self.cmp(CmpOp::Eq, ty, b, zero);
                self.not(is_zero)
            }
        };
        let message = vec![text("division by zero")];
        let certs = self.assert(nonzero, TrapKind::DivisionByZero, message);
        self.with_certs(&certs, |l| l.bin(op, ty, a, b))
    }

    fn power(&mut self, ty: ScalarType, a: Atom, b: Atom) -> Atom {
        if !ty.is_signed() {
            return self.bin(BinOp::Pow, ty, a, b);
        }
        let zero = Atom::Const(int_const(ty, 0));
        let ok = match b {
            Atom::Const(Const::I8(0..) | Const::I16(0..) | Const::I32(0..) | Const::I64(0..)) => {
                Atom::Const(Const::Bool(true))
            }
            Atom::Const(_) | Atom::Var(_) => self.cmp(CmpOp::Le, ty, zero, b),
        };
        let message = vec![text("negative exponent "), value(b)];
        let certs = self.assert(ok, TrapKind::Other, message);
        self.with_certs(&certs, |l| l.bin(BinOp::Pow, ty, a, b))
    }
}

/// The unsigned integer type of the same width.
pub const fn unsigned(ty: ScalarType) -> ScalarType {
    match ty {
        ScalarType::I8 => ScalarType::U8,
        ScalarType::I16 | ScalarType::F16 => ScalarType::U16,
        ScalarType::I32 | ScalarType::F32 => ScalarType::U32,
        ScalarType::I64 | ScalarType::F64 => ScalarType::U64,
        ScalarType::U8 | ScalarType::U16 | ScalarType::U32 | ScalarType::U64 | ScalarType::Bool => {
            ty
        }
    }
}

/// The constants of the numeric modules.
#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "a part of the operations; `arity` lists them all"
)]
fn constant(op: Op, ty: ScalarType) -> Option<Const> {
    let float = |x: f64| Some(float_const(ty, x));
    match op {
        Op::Highest => Some(extreme(ty, true)),
        Op::Lowest => Some(extreme(ty, false)),
        Op::Inf => float(f64::INFINITY),
        Op::Nan => float(f64::NAN),
        Op::Pi => float(std::f64::consts::PI),
        Op::E => float(std::f64::consts::E),
        Op::Epsilon => match ty {
            ScalarType::F16 => Some(Const::f16(half::f16::EPSILON)),
            ScalarType::F32 => Some(Const::f32(f32::EPSILON)),
            _ => float(f64::EPSILON),
        },
        Op::NumBits => Some(Const::I32(i32::try_from(ty.bytes() * 8).unwrap_or(64))),
        _ => None,
    }
}

/// The largest or smallest value of a type; infinite for floats.
pub fn extreme(ty: ScalarType, high: bool) -> Const {
    let bits = ty.bytes() * 8;
    if ty.is_float() {
        let x = if high {
            f64::INFINITY
        } else {
            f64::NEG_INFINITY
        };
        return float_const(ty, x);
    }
    if ty == ScalarType::Bool {
        return Const::Bool(high);
    }
    let value: i128 = match (ty.is_signed(), high) {
        (true, true) => (1 << (bits - 1)) - 1,
        (true, false) => -(1 << (bits - 1)),
        (false, true) => (1 << bits) - 1,
        (false, false) => 0,
    };
    int_const(ty, value)
}
