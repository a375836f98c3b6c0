//! Counts of elements where shapes are made of others: sums and products of extents with overflow checks.
//!
//! Extents are numbers of `i64` that are not negative, and so is the count of elements of every array that there is. Arrays of which
//! elements are computed where they are read take no memory, so that the count of elements of an array made of them may overflow: the
//! error is that of an array that memory does not hold.

use super::Lower;
use super::emit::{int, text};
use midend::ir::id::Var;
use midend::ir::scalar::{BinOp, CmpOp};
use midend::ir::syntax::{Atom, TrapKind};
use midend::ir::types::{ScalarType, Size};
use midend::trap::TOO_LARGE;

impl Lower<'_> {
    /// The sum of two extents, and the check that it is one.
    pub(super) fn extents_sum(&mut self, a: Size, b: Size) -> (Size, Vec<Var>) {
        let sum = self.i64_bin(BinOp::Add, a.into(), b.into());
        // Of two numbers that are not negative, a sum that wraps is negative.
        let is_whole = sum == a.into() || sum == b.into();
        let certs = match is_whole {
            true => Vec::new(),
            false => {
                let ok = self.cmp(CmpOp::Le, ScalarType::I64, int(0), sum);
                self.fits_memory(ok)
            }
        };
        (
            super::value::size_of_atom(sum).unwrap_or(Size::Const(0)),
            certs,
        )
    }

    /// The product of extents, and the check that it is one.
    pub(super) fn extents_product(&mut self, extents: &[Size]) -> (Size, Vec<Var>) {
        let (mut product, mut whole) = (int(1), int(1));
        for &n in extents {
            product = self.i64_bin(BinOp::Mul, product, n.into());
            whole = self.i64_bin(BinOp::MulSat, whole, n.into());
        }
        let certs = match product == whole {
            true => Vec::new(),
            false => {
                let ok = self.cmp(CmpOp::Lt, ScalarType::I64, whole, int(i64::MAX));
                self.fits_memory(ok)
            }
        };
        (
            super::value::size_of_atom(product).unwrap_or(Size::Const(0)),
            certs,
        )
    }

    /// Fails if the rows of an array, which together become one, have more elements than can be counted: then their sum has saturated.
    pub(super) fn check_total(&mut self, total: Size) -> Vec<Var> {
        let ok = self.cmp(CmpOp::Lt, ScalarType::I64, total.into(), int(i64::MAX));
        self.fits_memory(ok)
    }

    /// Fails as an array does that memory does not hold, unless the condition holds.
    pub(super) fn fits_memory(&mut self, ok: Atom) -> Vec<Var> {
        self.assert(ok, TrapKind::Memory, vec![text(TOO_LARGE)])
    }
}
