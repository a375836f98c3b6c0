//! Sums of truth values. A comparison has all bits of a lane or none, which is -1 or 0, so that it is taken away; where registers have 512 bits and
//! masks of their own, one is added where it holds.
//!
//! ```text
//! sum + convert.bool.i32(a < b)       ──►     sum - (a < b)      select (a < b) (sum + 1) sum
//! ```

use super::{Group, Lanes};
use crate::emit::Emit;
use crate::emit::library::RAW;
use cranelift_codegen::ir::InstBuilder;
use midend::ir::id::Var;
use midend::ir::scalar::{BinOp, ScalarOp};
use midend::ir::syntax::Atom;
use midend::ir::types::ScalarType;

impl Emit<'_, '_> {
    /// The sum of integers of which one is a truth value made a number, if that is a mask.
    pub(super) fn tallied(
        &mut self,
        group: &mut Group<'_>,
        op: ScalarOp,
        args: &[Atom],
    ) -> Option<Lanes> {
        let ScalarOp::Bin(BinOp::Add, ty) = op else {
            return None;
        };
        let truth = |atom: &Atom| group.truths.get(&atom.as_var()?).copied();
        let (sum, truth) = match (truth(&args[0]), truth(&args[1])) {
            (None, Some(truth)) => (args[0], truth),
            (Some(truth), None) => (args[1], truth),
            (None, None) | (Some(_), Some(_)) => return None,
        };
        let Some(Lanes::Mask(_)) = group.lanes.get(&truth) else {
            return None;
        };
        let per = group.plan.per_vector(ty)?;
        // Lanes of fewer bits have no sums by masks there.
        if !ty.is_integer() || self.parts == 4 && ty.bytes() < 4 {
            return None;
        }
        let sums = self.packed(group, sum);
        let masks = self.mask(group, truth.into(), per);
        if self.parts == 4 {
            let one = self.one(ty);
            let more = sums.iter().map(|sum| self.b.ins().iadd(*sum, one));
            let more: Vec<_> = more.collect();
            return Some(Lanes::Packed(self.blended(&masks, &more, &sums)));
        }
        let less = sums.into_iter().zip(masks).map(|(sum, mask)| {
            let lanes = self.b.func.dfg.value_type(sum);
            let same = self.b.func.dfg.value_type(mask) == lanes;
            let mask = match same {
                true => mask,
                false => self.b.ins().bitcast(lanes, RAW, mask),
            };
            self.b.ins().isub(sum, mask)
        });
        Some(Lanes::Packed(less.collect()))
    }
}

impl Group<'_> {
    /// Takes note of a truth value that is made a number.
    pub(super) fn note_truth(&mut self, bind: Var, op: ScalarOp, args: &[Atom]) {
        if let ScalarOp::Convert(ScalarType::Bool, _) = op
            && let Atom::Var(truth) = args[0]
        {
            self.truths.insert(bind, truth);
        }
    }
}
