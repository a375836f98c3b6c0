//! Scalar operations, with trivial folding.

use super::{Atom, BinOp, Builder, CmpOp, Const, Dialect, Exp, ScalarOp, ScalarType, Type, UnOp};

impl<D: Dialect> Builder<'_, D> {
    /// A scalar operation.
    pub fn scalar(&mut self, name: &str, op: ScalarOp, args: Vec<Atom>) -> Atom {
        if let Some(a) = fold(op, &args) {
            return a;
        }
        let ty = Type::Scalar(op.result());
        Atom::Var(self.let_(name, ty, Exp::Scalar(op, args)))
    }

    /// An operation of one operand.
    pub fn un(&mut self, op: UnOp, ty: ScalarType, a: impl Into<Atom>) -> Atom {
        self.scalar(op.name(), ScalarOp::Un(op, ty), vec![a.into()])
    }

    /// An operation of two operands.
    pub fn bin(
        &mut self,
        op: BinOp,
        ty: ScalarType,
        a: impl Into<Atom>,
        b: impl Into<Atom>,
    ) -> Atom {
        self.scalar(op.name(), ScalarOp::Bin(op, ty), vec![a.into(), b.into()])
    }

    /// A comparison.
    pub fn cmp(
        &mut self,
        op: CmpOp,
        ty: ScalarType,
        a: impl Into<Atom>,
        b: impl Into<Atom>,
    ) -> Atom {
        self.scalar("c", ScalarOp::Cmp(op, ty), vec![a.into(), b.into()])
    }

    /// A conversion.
    pub fn convert(&mut self, from: ScalarType, to: ScalarType, a: impl Into<Atom>) -> Atom {
        let a = a.into();
        if from == to {
            return a;
        }
        self.scalar("x", ScalarOp::Convert(from, to), vec![a])
    }

    /// The first atom if the condition holds, else the second.
    pub fn select(
        &mut self,
        ty: ScalarType,
        cond: Atom,
        a: impl Into<Atom>,
        b: impl Into<Atom>,
    ) -> Atom {
        self.scalar("x", ScalarOp::Select(ty), vec![cond, a.into(), b.into()])
    }

    /// Sum of `i64`.
    pub fn add(&mut self, a: impl Into<Atom>, b: impl Into<Atom>) -> Atom {
        self.bin(BinOp::Add, ScalarType::I64, a, b)
    }
    /// Difference of `i64`.
    pub fn sub(&mut self, a: impl Into<Atom>, b: impl Into<Atom>) -> Atom {
        self.bin(BinOp::Sub, ScalarType::I64, a, b)
    }
    /// Product of `i64`.
    pub fn mul(&mut self, a: impl Into<Atom>, b: impl Into<Atom>) -> Atom {
        self.bin(BinOp::Mul, ScalarType::I64, a, b)
    }
    /// Product of any number of `i64`, one for none.
    pub fn product(&mut self, factors: impl IntoIterator<Item = Atom>) -> Atom {
        factors
            .into_iter()
            .fold(Atom::ONE, |product, factor| self.mul(product, factor))
    }
    /// Equality of `i64`.
    pub fn eq(&mut self, a: impl Into<Atom>, b: impl Into<Atom>) -> Atom {
        self.cmp(CmpOp::Eq, ScalarType::I64, a, b)
    }
    /// Order of `i64`.
    pub fn lt(&mut self, a: impl Into<Atom>, b: impl Into<Atom>) -> Atom {
        self.cmp(CmpOp::Lt, ScalarType::I64, a, b)
    }
    /// Order of `i64`.
    pub fn le(&mut self, a: impl Into<Atom>, b: impl Into<Atom>) -> Atom {
        self.cmp(CmpOp::Le, ScalarType::I64, a, b)
    }
    /// Conjunction.
    pub fn and(&mut self, a: impl Into<Atom>, b: impl Into<Atom>) -> Atom {
        self.bin(BinOp::And, ScalarType::Bool, a, b)
    }
    /// Disjunction.
    pub fn or(&mut self, a: impl Into<Atom>, b: impl Into<Atom>) -> Atom {
        self.bin(BinOp::Or, ScalarType::Bool, a, b)
    }
    /// Negation of a truth value.
    pub fn not(&mut self, a: impl Into<Atom>) -> Atom {
        self.un(UnOp::Not, ScalarType::Bool, a)
    }
    /// Whether an index is inside an extent.
    pub fn in_range(&mut self, index: impl Into<Atom>, extent: impl Into<Atom>) -> Atom {
        let index = index.into();
        let low = self.le(0, index);
        let high = self.lt(index, extent);
        self.and(low, high)
    }
}

/// What needs no statement: `i64` arithmetic and truth values with constants.
fn fold(op: ScalarOp, args: &[Atom]) -> Option<Atom> {
    match (op, args) {
        (ScalarOp::Bin(op, ScalarType::I64), &[a, b]) => fold_i64(op, a, b),
        (ScalarOp::Bin(op, ScalarType::Bool), &[a, b]) => fold_bool(op, a, b),
        (ScalarOp::Un(UnOp::Not, ScalarType::Bool), &[a]) => Some(Atom::bool(!a.as_bool()?)),
        (ScalarOp::Cmp(op, ScalarType::I64), &[a, b]) => {
            let (x, y) = (a.as_i64()?, b.as_i64()?);
            Some(Atom::bool(match op {
                CmpOp::Eq => x == y,
                CmpOp::Lt => x < y,
                CmpOp::Le => x <= y,
            }))
        }
        (ScalarOp::Select(_), &[cond, a, b]) => Some(if cond.as_bool()? { a } else { b }),
        (
            ScalarOp::Un(..)
            | ScalarOp::Bin(..)
            | ScalarOp::Cmp(..)
            | ScalarOp::Tern(..)
            | ScalarOp::Convert(..)
            | ScalarOp::ToBits(_)
            | ScalarOp::FromBits(_)
            | ScalarOp::Select(_),
            _,
        ) => None,
    }
}

fn fold_i64(op: BinOp, a: Atom, b: Atom) -> Option<Atom> {
    let consts = a.as_i64().zip(b.as_i64());
    let both = |f: fn(i64, i64) -> i64| consts.map(|(x, y)| Atom::i64(f(x, y)));
    match op {
        BinOp::Add if a == Atom::ZERO => Some(b),
        BinOp::Add | BinOp::Sub if b == Atom::ZERO => Some(a),
        BinOp::Mul if a == Atom::ONE => Some(b),
        BinOp::Mul if b == Atom::ONE => Some(a),
        BinOp::Mul if a == Atom::ZERO || b == Atom::ZERO => Some(Atom::ZERO),
        BinOp::Add => both(i64::wrapping_add),
        BinOp::Sub => both(i64::wrapping_sub),
        BinOp::Mul => both(i64::wrapping_mul),
        BinOp::Min => both(i64::min),
        BinOp::Max => both(i64::max),
        BinOp::AddSat if a == Atom::ZERO => Some(b),
        BinOp::AddSat if b == Atom::ZERO => Some(a),
        BinOp::MulSat if a == Atom::ONE => Some(b),
        BinOp::MulSat if b == Atom::ONE => Some(a),
        BinOp::AddSat => both(i64::saturating_add),
        BinOp::MulSat => both(i64::saturating_mul),
        BinOp::Div
        | BinOp::Mod
        | BinOp::Quot
        | BinOp::Rem
        | BinOp::Pow
        | BinOp::And
        | BinOp::Or
        | BinOp::Xor
        | BinOp::Shl
        | BinOp::Shr
        | BinOp::MulHi
        | BinOp::Atan2
        | BinOp::Atan2pi
        | BinOp::Hypot
        | BinOp::DivNear
        | BinOp::Copysign
        | BinOp::Nextafter
        | BinOp::Ldexp => None,
    }
}

fn fold_bool(op: BinOp, a: Atom, b: Atom) -> Option<Atom> {
    let (constant, other) = match (a, b) {
        (Atom::Const(Const::Bool(c)), other) | (other, Atom::Const(Const::Bool(c))) => (c, other),
        (Atom::Const(_) | Atom::Var(_), _) => return None,
    };
    if op == BinOp::And {
        return Some(if constant { other } else { Atom::bool(false) });
    }
    if op == BinOp::Or {
        return Some(if constant { Atom::bool(true) } else { other });
    }
    None
}
