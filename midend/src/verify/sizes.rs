//! When two sizes are known to be equal.

use crate::hash::HashMap;
use crate::ir::id::Var;
use crate::ir::rename::Subst;
use crate::ir::scalar::{BinOp, ScalarOp};
use crate::ir::syntax::{Atom, Exp, Stm};
use crate::ir::types::{ArrayType, Dim, ScalarType, Size, Type};

/// What each variable is another name for. Copies and equal scalar operations on `i64` have one representative, so that
/// a pass may merge equal computations, or not, without making types differ.
#[derive(Default)]
pub(crate) struct Sizes {
    same: Subst,
    numbers: HashMap<(ScalarOp, [Option<Atom>; 3]), Var>,
}

impl Sizes {
    /// Learns what a statement says.
    pub(crate) fn learn<D>(&mut self, stm: &Stm<D>) {
        let [v] = stm.binds[..] else { return };
        match &stm.exp {
            Exp::Atom(a) => self.same.insert(v, self.same.atom(*a)),
            Exp::Scalar(op, args) if op.result() == ScalarType::I64 => {
                let same = |i| args.get(i).map(|a| self.same.atom(*a));
                let mut known = [same(0), same(1), same(2)];
                if matches!(
                    op,
                    ScalarOp::Bin(
                        BinOp::Add
                            | BinOp::Mul
                            | BinOp::AddSat
                            | BinOp::MulSat
                            | BinOp::Min
                            | BinOp::Max,
                        _
                    )
                ) {
                    known[..args.len().min(3)].sort_unstable();
                }
                let first = *self.numbers.entry((*op, known)).or_insert(v);
                if first != v {
                    self.same.insert(v, first);
                }
            }
            Exp::Scalar(..)
            | Exp::Assert { .. }
            | Exp::Guard { .. }
            | Exp::If { .. }
            | Exp::Loop { .. }
            | Exp::Call { .. }
            | Exp::Op(_) => {}
        }
    }

    /// What stands for all variables that are the same as this one.
    pub(crate) fn representative(&self, v: Var) -> Atom {
        self.same.atom(v.into())
    }

    /// Whether the sizes are equal.
    pub(super) fn equal(&self, a: Size, b: Size) -> bool {
        self.same.atom(a.into()) == self.same.atom(b.into())
    }

    /// Whether the types are equal.
    pub(super) fn same_type(&self, a: &Type, b: &Type) -> bool {
        match (a, b) {
            (Type::Array(a), Type::Array(b)) => self.same_array(a, b),
            (Type::Acc(a), Type::Acc(b)) => {
                a.token == b.token && a.part == b.part && self.same_array(&a.array, &b.array)
            }
            (Type::Scalar(_) | Type::Buffer(_) | Type::Cert | Type::Array(_) | Type::Acc(_), _) => {
                a == b
            }
        }
    }

    fn same_array(&self, a: &ArrayType, b: &ArrayType) -> bool {
        let same_dim = |(a, b): (&Dim, &Dim)| match (*a, *b) {
            (Dim::Size(a), Dim::Size(b)) => self.equal(a, b),
            (Dim::Ragged(a), Dim::Ragged(b)) => self.equal(Size::Var(a), Size::Var(b)),
            (Dim::Size(_), Dim::Ragged(_)) | (Dim::Ragged(_), Dim::Size(_)) => false,
        };
        a.elem == b.elem && a.rank() == b.rank() && a.shape.iter().zip(&b.shape).all(same_dim)
    }
}
