//! The derivatives of the scalar operations, in one table: the interpreter reads it with numbers, the pass with code.
//!
//! Partial derivatives are those of the functions of real numbers that the operations round. Where there is none:
//!
//! - `abs` at 0 has 0, as do `floor`, `ceil`, `round`, `trunc` and `signum` everywhere.
//! - `min` and `max` of equal operands have the derivative of the first; of a number and a NaN, that of the number.
//! - `pow` at base 0 has 0 in the base for exponents below 1, and 0 in the exponent for bases that are not positive.
//!
//! Integers are elements of a ring, in which sums, products, extremes and powers have derivatives. A float that is made of an
//! integer, or of bits, is constant: what a float loses on its way through an integer has no derivative. An integer that is made of a float has
//! that float's, for results that are integers. Truth values are constant.

use crate::interp::scalar::convert::convert;
use crate::ir::scalar::{BinOp, CmpOp, Const, ScalarOp, TernOp, UnOp};
use crate::ir::types::ScalarType;
use std::f64::consts::{LN_2, LN_10, PI};

/// What derivatives are computed with.
pub trait Arith {
    /// A number, or code that computes one.
    type Num: Clone;
    /// An operation.
    fn op(&mut self, op: ScalarOp, args: &[Self::Num]) -> Self::Num;
    /// A constant.
    fn constant(&mut self, c: Const) -> Self::Num;
}

/// A partial derivative.
enum Partial<N> {
    Zero,
    One,
    MinusOne,
    By(N),
    /// One if the condition holds, else zero.
    If(N),
    /// Zero if the condition holds, else one.
    Unless(N),
    /// One, in another type.
    Convert,
}

/// The number of the type that is nearest to a number.
pub fn literal(ty: ScalarType, x: f64) -> Const {
    convert(ty, Const::f64(x))
}

/// The derivative of an operation along a direction: `tangents` are those of its operands, `y` is its value.
pub fn forward<A: Arith>(
    a: &mut A,
    op: ScalarOp,
    args: &[A::Num],
    y: &A::Num,
    tangents: &[Option<A::Num>],
) -> Option<A::Num> {
    let mut sum: Option<A::Num> = None;
    for (i, tangent) in tangents.iter().enumerate() {
        let Some(tangent) = tangent else { continue };
        let (from, to) = (op.operand(i), op.result());
        let partial = partial(a, op, args, y, i);
        let Some(term) = times(a, partial, tangent, from, to) else {
            continue;
        };
        sum = Some(match sum {
            Some(sum) => a.op(ScalarOp::Bin(BinOp::Add, to), &[sum, term]),
            None => term,
        });
    }
    sum
}

/// What operand `i` gets of the adjoint of the result of an operation.
pub fn reverse<A: Arith>(
    a: &mut A,
    op: ScalarOp,
    args: &[A::Num],
    y: &A::Num,
    i: usize,
    adjoint: &A::Num,
) -> Option<A::Num> {
    let partial = partial(a, op, args, y, i);
    times(a, partial, adjoint, op.result(), op.operand(i))
}

/// Whether operand `i` can have a derivative at all.
pub fn depends(op: ScalarOp, i: usize) -> bool {
    let (from, to) = (op.operand(i), op.result());
    (from.is_float() && to.is_float()) || (from != ScalarType::Bool && to.is_integer())
}

fn times<A: Arith>(
    a: &mut A,
    partial: Partial<A::Num>,
    t: &A::Num,
    from: ScalarType,
    to: ScalarType,
) -> Option<A::Num> {
    let zero = a.constant(literal(to, 0.0));
    Some(match partial {
        Partial::Zero => return None,
        Partial::One => t.clone(),
        Partial::MinusOne => a.op(ScalarOp::Un(UnOp::Neg, to), std::slice::from_ref(t)),
        Partial::By(d) => a.op(ScalarOp::Bin(BinOp::Mul, to), &[d, t.clone()]),
        Partial::If(c) => a.op(ScalarOp::Select(to), &[c, t.clone(), zero]),
        Partial::Unless(c) => a.op(ScalarOp::Select(to), &[c, zero, t.clone()]),
        Partial::Convert if from == to => t.clone(),
        Partial::Convert => a.op(ScalarOp::Convert(from, to), std::slice::from_ref(t)),
    })
}

fn partial<A: Arith>(
    a: &mut A,
    op: ScalarOp,
    args: &[A::Num],
    y: &A::Num,
    i: usize,
) -> Partial<A::Num> {
    if !depends(op, i) {
        return Partial::Zero;
    }
    match (op, args) {
        (ScalarOp::Un(UnOp::Not, ty), _) if ty.is_integer() => Partial::MinusOne,
        (ScalarOp::Un(op, ty), [x]) => unary(&mut Calc { a, ty }, op, x, y),
        (ScalarOp::Bin(op, ty), [x, z]) if ty.is_integer() => {
            ring(&mut Calc { a, ty }, op, [x, z], i == 0)
        }
        (ScalarOp::Bin(op, ty), [x, z]) => binary(&mut Calc { a, ty }, op, x, z, y, i),
        (ScalarOp::Tern(op, ty), [x, z, w]) => ternary(&mut Calc { a, ty }, op, [x, z, w], i),
        (ScalarOp::Convert(..), _) => Partial::Convert,
        (ScalarOp::Select(_), [c, ..]) if i == 1 => Partial::If(c.clone()),
        (ScalarOp::Select(_), [c, ..]) => Partial::Unless(c.clone()),
        (
            ScalarOp::Un(..)
            | ScalarOp::Bin(..)
            | ScalarOp::Tern(..)
            | ScalarOp::Select(_)
            | ScalarOp::Cmp(..)
            | ScalarOp::ToBits(_)
            | ScalarOp::FromBits(_),
            _,
        ) => Partial::Zero,
    }
}

/// Arithmetic in one type.
struct Calc<'a, A> {
    a: &'a mut A,
    ty: ScalarType,
}

impl<A: Arith> Calc<'_, A> {
    fn lit(&mut self, x: f64) -> A::Num {
        self.a.constant(literal(self.ty, x))
    }
    fn un(&mut self, op: UnOp, x: &A::Num) -> A::Num {
        self.a
            .op(ScalarOp::Un(op, self.ty), std::slice::from_ref(x))
    }
    fn bin(&mut self, op: BinOp, x: &A::Num, z: &A::Num) -> A::Num {
        let args = [x.clone(), z.clone()];
        self.a.op(ScalarOp::Bin(op, self.ty), &args)
    }
    fn mul(&mut self, x: &A::Num, z: &A::Num) -> A::Num {
        self.bin(BinOp::Mul, x, z)
    }
    fn div(&mut self, x: &A::Num, z: &A::Num) -> A::Num {
        self.bin(BinOp::Div, x, z)
    }
    fn add(&mut self, x: &A::Num, z: &A::Num) -> A::Num {
        self.bin(BinOp::Add, x, z)
    }
    fn sub(&mut self, x: &A::Num, z: &A::Num) -> A::Num {
        self.bin(BinOp::Sub, x, z)
    }
    fn neg(&mut self, x: &A::Num) -> A::Num {
        self.un(UnOp::Neg, x)
    }
    /// `k / x`.
    fn over(&mut self, k: f64, x: &A::Num) -> A::Num {
        let k = self.lit(k);
        self.div(&k, x)
    }
    fn scaled(&mut self, k: f64, x: &A::Num) -> A::Num {
        let k = self.lit(k);
        self.mul(&k, x)
    }
    fn square(&mut self, x: &A::Num) -> A::Num {
        self.mul(x, x)
    }
    /// `1 + x`.
    fn inc(&mut self, x: &A::Num) -> A::Num {
        let one = self.lit(1.0);
        self.add(&one, x)
    }
    /// `1 - x^2`.
    fn one_minus_square(&mut self, x: &A::Num) -> A::Num {
        let one = self.lit(1.0);
        let (low, high) = (self.sub(&one, x), self.inc(x));
        self.mul(&low, &high)
    }
    /// `1 / sqrt(x)`.
    fn over_root(&mut self, k: f64, x: &A::Num) -> A::Num {
        let root = self.un(UnOp::Sqrt, x);
        self.over(k, &root)
    }
    fn one_plus_square(&mut self, x: &A::Num) -> A::Num {
        let square = self.square(x);
        self.inc(&square)
    }
    fn cmp(&mut self, op: CmpOp, x: &A::Num, z: &A::Num) -> A::Num {
        let args = [x.clone(), z.clone()];
        self.a.op(ScalarOp::Cmp(op, self.ty), &args)
    }
    fn logic(&mut self, op: BinOp, x: &A::Num, z: &A::Num) -> A::Num {
        let args = [x.clone(), z.clone()];
        self.a.op(ScalarOp::Bin(op, ScalarType::Bool), &args)
    }
    fn select(&mut self, c: &A::Num, x: &A::Num, z: &A::Num) -> A::Num {
        let args = [c.clone(), x.clone(), z.clone()];
        self.a.op(ScalarOp::Select(self.ty), &args)
    }
    /// The logarithmic derivative of the gamma function: reflected to arguments from 1/2, moved up by 8 with the recurrence, then
    /// the asymptotic series with Bernoulli numbers (Abramowitz and Stegun 6.3.5, 6.3.7, 6.3.18).
    fn digamma(&mut self, x: &A::Num) -> A::Num {
        const SERIES: [f64; 7] = [
            1.0 / 12.0,
            -1.0 / 120.0,
            1.0 / 252.0,
            -1.0 / 240.0,
            1.0 / 132.0,
            -691.0 / 32760.0,
            1.0 / 12.0,
        ];
        let (one, half) = (self.lit(1.0), self.lit(0.5));
        let reflects = self.cmp(CmpOp::Lt, x, &half);
        let mirror = self.sub(&one, x);
        let z = self.select(&reflects, &mirror, x);
        let mut shift = self.over(1.0, &z);
        for k in 1..8 {
            let k = self.lit(f64::from(k));
            let at = self.add(&z, &k);
            let term = self.over(1.0, &at);
            shift = self.add(&shift, &term);
        }
        let eight = self.lit(8.0);
        let w = self.add(&z, &eight);
        let inverse = self.over(1.0, &w);
        let q = self.square(&inverse);
        let mut series = self.lit(0.0);
        for c in SERIES.into_iter().rev() {
            let c = self.lit(c);
            let sum = self.add(&series, &c);
            series = self.mul(&sum, &q);
        }
        let log = self.un(UnOp::Log, &w);
        let first = self.mul(&half, &inverse);
        let mut psi = self.sub(&log, &first);
        psi = self.sub(&psi, &series);
        psi = self.sub(&psi, &shift);
        let tan = self.un(UnOp::Tanpi, x);
        let cotangent = self.over(PI, &tan);
        let reflected = self.sub(&psi, &cotangent);
        self.select(&reflects, &reflected, &psi)
    }
}

fn unary<A: Arith>(c: &mut Calc<'_, A>, op: UnOp, x: &A::Num, y: &A::Num) -> Partial<A::Num> {
    Partial::By(match op {
        UnOp::Neg => return Partial::MinusOne,
        UnOp::Not
        | UnOp::Signum
        | UnOp::Popcount
        | UnOp::Clz
        | UnOp::Ctz
        | UnOp::IsNan
        | UnOp::IsInf
        | UnOp::Floor
        | UnOp::Ceil
        | UnOp::Round
        | UnOp::Trunc => return Partial::Zero,
        UnOp::Abs => c.un(UnOp::Signum, x),
        UnOp::Sqrt | UnOp::SqrtNear => c.over(0.5, y),
        UnOp::Rsqrt | UnOp::RsqrtNear => {
            let square = c.square(y);
            let cube = c.mul(&square, y);
            c.scaled(-0.5, &cube)
        }
        UnOp::Cbrt => {
            let square = c.square(y);
            c.over(1.0 / 3.0, &square)
        }
        UnOp::Exp | UnOp::ExpNear => y.clone(),
        UnOp::Log => c.over(1.0, x),
        UnOp::Log2 => c.over(1.0 / LN_2, x),
        UnOp::Log10 => c.over(1.0 / LN_10, x),
        UnOp::Log1p => {
            let sum = c.inc(x);
            c.over(1.0, &sum)
        }
        UnOp::Sin | UnOp::SinNear => c.un(UnOp::Cos, x),
        UnOp::Cos | UnOp::CosNear => {
            let sin = c.un(UnOp::Sin, x);
            c.neg(&sin)
        }
        UnOp::Tan => c.one_plus_square(y),
        UnOp::Sinpi => {
            let cos = c.un(UnOp::Cospi, x);
            c.scaled(PI, &cos)
        }
        UnOp::Cospi => {
            let sin = c.un(UnOp::Sinpi, x);
            c.scaled(-PI, &sin)
        }
        UnOp::Tanpi => {
            let sum = c.one_plus_square(y);
            c.scaled(PI, &sum)
        }
        UnOp::Asin | UnOp::Acos | UnOp::Asinpi | UnOp::Acospi => {
            let sign = if matches!(op, UnOp::Asin | UnOp::Asinpi) {
                1.0
            } else {
                -1.0
            };
            let k = if matches!(op, UnOp::Asin | UnOp::Acos) {
                sign
            } else {
                sign / PI
            };
            let under = c.one_minus_square(x);
            c.over_root(k, &under)
        }
        UnOp::Atan | UnOp::Atanpi => {
            let k = if op == UnOp::Atan { 1.0 } else { 1.0 / PI };
            let sum = c.one_plus_square(x);
            c.over(k, &sum)
        }
        UnOp::Sinh => c.un(UnOp::Cosh, x),
        UnOp::Cosh => c.un(UnOp::Sinh, x),
        UnOp::Tanh => c.one_minus_square(y),
        UnOp::Asinh => {
            let sum = c.one_plus_square(x);
            c.over_root(1.0, &sum)
        }
        UnOp::Acosh => {
            let one = c.lit(1.0);
            let (low, high) = (c.sub(x, &one), c.inc(x));
            let under = c.mul(&low, &high);
            c.over_root(1.0, &under)
        }
        UnOp::Atanh => {
            let under = c.one_minus_square(x);
            c.over(1.0, &under)
        }
        UnOp::Erf | UnOp::Erfc => {
            let k = 2.0 / PI.sqrt();
            let square = c.square(x);
            let exponent = c.neg(&square);
            let density = c.un(UnOp::Exp, &exponent);
            c.scaled(if op == UnOp::Erf { k } else { -k }, &density)
        }
        UnOp::Gamma => {
            let psi = c.digamma(x);
            c.mul(y, &psi)
        }
        UnOp::Lgamma => c.digamma(x),
    })
}

/// The operations on integers.
fn ring<A: Arith>(
    c: &mut Calc<'_, A>,
    op: BinOp,
    [x, z]: [&A::Num; 2],
    first: bool,
) -> Partial<A::Num> {
    let same = matches!(op, BinOp::Sub | BinOp::Mod | BinOp::Rem) && first;
    if same || op == BinOp::Add {
        Partial::One
    } else if op == BinOp::Sub {
        Partial::MinusOne
    } else if op == BinOp::Mul {
        Partial::By(if first { z } else { x }.clone())
    } else if matches!(op, BinOp::Div | BinOp::Quot) && first {
        Partial::By(c.over(1.0, z))
    } else if op == BinOp::Pow && first {
        let (zero, one) = (c.lit(0.0), c.lit(1.0));
        let less = c.sub(z, &one);
        let less = c.bin(BinOp::Max, &less, &zero);
        let power = c.bin(BinOp::Pow, x, &less);
        Partial::By(c.mul(z, &power))
    } else if op == BinOp::Shl && first {
        let one = c.lit(1.0);
        Partial::By(c.bin(BinOp::Shl, &one, z))
    } else if matches!(op, BinOp::Min | BinOp::Max) {
        let (a, b) = if op == BinOp::Min { (z, x) } else { (x, z) };
        let second = c.cmp(CmpOp::Lt, a, b);
        if first {
            Partial::Unless(second)
        } else {
            Partial::If(second)
        }
    } else {
        Partial::Zero
    }
}

fn binary<A: Arith>(
    c: &mut Calc<'_, A>,
    op: BinOp,
    x: &A::Num,
    z: &A::Num,
    y: &A::Num,
    i: usize,
) -> Partial<A::Num> {
    let first = i == 0;
    Partial::By(match op {
        BinOp::Add => return Partial::One,
        BinOp::Sub if first => return Partial::One,
        BinOp::Sub => return Partial::MinusOne,
        BinOp::Mul if first => z.clone(),
        BinOp::Mul => x.clone(),
        BinOp::Div | BinOp::DivNear if first => c.over(1.0, z),
        BinOp::Div | BinOp::DivNear => {
            let ratio = c.div(y, z);
            c.neg(&ratio)
        }
        // x - z * floor(x / z)
        BinOp::Mod if first => return Partial::One,
        BinOp::Mod => {
            let rest = c.sub(y, x);
            let ratio = c.div(&rest, z);
            c.un(UnOp::Round, &ratio)
        }
        BinOp::Pow if first => {
            let (zero, one) = (c.lit(0.0), c.lit(1.0));
            let at_zero = c.cmp(CmpOp::Eq, x, &zero);
            let below = c.cmp(CmpOp::Lt, z, &one);
            let none = c.logic(BinOp::And, &at_zero, &below);
            let less = c.sub(z, &one);
            let power = c.bin(BinOp::Pow, x, &less);
            let product = c.mul(z, &power);
            c.select(&none, &zero, &product)
        }
        BinOp::Pow => {
            let zero = c.lit(0.0);
            let none = c.cmp(CmpOp::Le, x, &zero);
            let log = c.un(UnOp::Log, x);
            let product = c.mul(y, &log);
            c.select(&none, &zero, &product)
        }
        BinOp::Min | BinOp::Max => {
            let less = if op == BinOp::Min {
                c.cmp(CmpOp::Lt, z, x)
            } else {
                c.cmp(CmpOp::Lt, x, z)
            };
            let absent = c.un(UnOp::IsNan, x);
            let second = c.logic(BinOp::Or, &less, &absent);
            return if first {
                Partial::Unless(second)
            } else {
                Partial::If(second)
            };
        }
        BinOp::Atan2 | BinOp::Atan2pi => {
            let (a, b) = (c.square(x), c.square(z));
            let sum = c.add(&a, &b);
            let ratio = c.div(if first { z } else { x }, &sum);
            let k = if op == BinOp::Atan2 { 1.0 } else { 1.0 / PI };
            c.scaled(if first { k } else { -k }, &ratio)
        }
        BinOp::Hypot => c.div(if first { x } else { z }, y),
        BinOp::Copysign if first => {
            let one = c.lit(1.0);
            let (a, b) = (
                c.bin(BinOp::Copysign, &one, x),
                c.bin(BinOp::Copysign, &one, z),
            );
            c.mul(&a, &b)
        }
        BinOp::Nextafter if first => return Partial::One,
        BinOp::Ldexp if first => {
            let one = c.lit(1.0);
            c.bin(BinOp::Ldexp, &one, z)
        }
        BinOp::Copysign
        | BinOp::Nextafter
        | BinOp::Ldexp
        | BinOp::Quot
        | BinOp::Rem
        | BinOp::And
        | BinOp::Or
        | BinOp::Xor
        | BinOp::Shl
        | BinOp::Shr
        | BinOp::MulHi
        | BinOp::AddSat
        | BinOp::MulSat => return Partial::Zero,
    })
}

fn ternary<A: Arith>(
    c: &mut Calc<'_, A>,
    op: TernOp,
    [x, z, w]: [&A::Num; 3],
    i: usize,
) -> Partial<A::Num> {
    Partial::By(match (op, i) {
        (TernOp::Fma | TernOp::Mad, 0) => z.clone(),
        (TernOp::Fma | TernOp::Mad, 1) => x.clone(),
        (TernOp::Fma | TernOp::Mad, _) => return Partial::One,
        (TernOp::Lerp, 0) => {
            let one = c.lit(1.0);
            c.sub(&one, w)
        }
        (TernOp::Lerp, 1) => w.clone(),
        (TernOp::Lerp, _) => c.sub(z, x),
        (TernOp::MadHi, _) => return Partial::Zero,
    })
}
