//! The bounds of the inside of a row, at run time.

use super::sums::{LARGE, Sum};
use super::{Bound, Interior};
use crate::emit::Emit;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Value};
use midend::ir::id::Var;
use std::collections::BTreeSet;

impl Emit<'_, '_> {
    /// From where to where, in a row of points from `first` to before `last`, points are inside. The first is not beyond
    /// `last`; there may be none.
    pub(in crate::emit) fn inside(
        &mut self,
        interior: &Interior,
        (first, last): (Value, Value),
    ) -> (Value, Value) {
        for stm in &interior.early {
            self.stm(stm);
        }
        let (mut low, mut high) = (first, last);
        for bound in &interior.bounds {
            match bound {
                Bound::From(sum) => {
                    let from = self.sum_of(sum);
                    low = self.b.ins().smax(low, from);
                }
                Bound::Below(sum) => {
                    let below = self.sum_of(sum);
                    high = self.b.ins().smin(high, below);
                }
                Bound::Not(_) => {}
            }
        }
        for bound in &interior.bounds {
            if let Bound::Not(sum) = bound {
                // A point at the start moves it; else the inside ends before the point.
                let out = self.sum_of(sum);
                let before = IntCC::SignedLessThanOrEqual;
                let at_start = self.b.ins().icmp(before, out, low);
                let behind = self.b.ins().iadd_imm_s(out, 1);
                let from = self.b.ins().smax(low, behind);
                let below = self.b.ins().smin(high, out);
                low = self.b.ins().select(at_start, from, low);
                high = self.b.ins().select(at_start, high, below);
            }
        }
        low = self.b.ins().smin(low, last);
        // Sums of numbers beyond all sizes would overflow.
        if let Some(sane) = self.sane(interior) {
            high = self.b.ins().select(sane, high, low);
        }
        (low, high)
    }

    /// Conditions that hold if all points of a row from `first` to before `last`, of which there are some, are inside; if one does not,
    /// those behind it need not be looked at.
    pub(in crate::emit) fn all_inside(
        &mut self,
        interior: &Interior,
        (first, last): (Value, Value),
        mut holds: impl FnMut(&mut Self, Value),
    ) {
        for stm in &interior.early {
            self.stm(stm);
        }
        if let Some(sane) = self.sane(interior) {
            holds(self, sane);
        }
        let (less, up_to) = (IntCC::SignedLessThan, IntCC::SignedLessThanOrEqual);
        for bound in &interior.bounds {
            let condition = match bound {
                Bound::From(sum) => {
                    let from = self.sum_of(sum);
                    self.b.ins().icmp(up_to, from, first)
                }
                Bound::Below(sum) => {
                    let below = self.sum_of(sum);
                    self.b.ins().icmp(up_to, last, below)
                }
                Bound::Not(sum) => {
                    let out = self.sum_of(sum);
                    let ahead = self.b.ins().icmp(less, out, first);
                    let behind = self.b.ins().icmp(up_to, last, out);
                    self.b.ins().bor(ahead, behind)
                }
            };
            holds(self, condition);
        }
    }

    fn sum_of(&mut self, sum: &Sum) -> Value {
        let mut total = self.i64(sum.constant);
        for (var, factor) in &sum.terms {
            let term = self.var(*var);
            let term = self.b.ins().imul_imm_s(term, *factor);
            total = self.b.ins().iadd(total, term);
        }
        total
    }

    /// Whether all numbers that bounds are made of are as small as sizes are.
    pub(super) fn sane(&mut self, interior: &Interior) -> Option<Value> {
        let mut terms = BTreeSet::<Var>::new();
        for bound in &interior.bounds {
            let (Bound::From(sum) | Bound::Below(sum) | Bound::Not(sum)) = bound;
            terms.extend(sum.terms.keys());
        }
        let mut all = None;
        for var in terms {
            let term = self.var(var);
            let moved = self.b.ins().iadd_imm_s(term, LARGE);
            let small = IntCC::UnsignedLessThan;
            let small = self.b.ins().icmp_imm_u(small, moved, 2 * LARGE);
            all = Some(match all {
                Some(others) => self.b.ins().band(others, small),
                None => small,
            });
        }
        all
    }
}
