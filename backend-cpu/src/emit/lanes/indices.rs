//! Indices that grow from lane to lane, as floats: if they are no larger than what floats are exact to, the first is made a float and what the
//! others are ahead is added, which is exact, too. Else each is made a float.
//!
//! ```text
//! convert.i64.f64(i..)   ──►   if -2^52 <= i < 2^52 then splat (convert.i64.f64(i)) + (0, 1, 2, ..) else convert.i64.f64(i, i + 1, i + 2, ..)
//! ```

use super::vector::vector;
use super::{Group, Lanes};
use crate::emit::{Emit, block_args, clif};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Value, types};
use midend::ir::scalar::Const;
use midend::ir::syntax::Atom;
use midend::ir::types::ScalarType;

impl Emit<'_, '_> {
    /// The lanes of an index that grows by a constant, as floats.
    pub(super) fn growing_floats(
        &mut self,
        group: &Group<'_>,
        to: ScalarType,
        index: Atom,
    ) -> Option<Vec<Value>> {
        let (first, step) = match group.lanes.get(&index.as_var()?)? {
            Lanes::Linear(first, step) => (*first, *step),
            Lanes::Many(_) | Lanes::Packed(_) | Lanes::Narrow(_) | Lanes::Mask(_) => return None,
        };
        // Half of what all integers are exact to, for the first and for how far others are ahead.
        let most = match to {
            ScalarType::F32 => 1i64 << 23,
            ScalarType::F64 => 1i64 << 52,
            ScalarType::I8
            | ScalarType::I16
            | ScalarType::I32
            | ScalarType::I64
            | ScalarType::U8
            | ScalarType::U16
            | ScalarType::U32
            | ScalarType::U64
            | ScalarType::F16
            | ScalarType::Bool => return None,
        };
        group.plan.per_vector(to)?;
        let ahead = step.checked_mul(group.plan.width as i64)?;
        if ahead.unsigned_abs() > most.unsigned_abs() {
            return None;
        }
        let all = self.growing(group, ScalarType::I64, index)?;
        let is_near = to == ScalarType::F64 && self.near.contains(&index.as_var()?);
        if is_near {
            return Some(self.near_floats(group, to, (first, step)));
        }
        let [near, far, join] = std::array::from_fn(|_| self.b.create_block());
        self.b.set_cold_block(far);
        let moved = self.b.ins().iadd_imm_s(first, most);
        let inside = self
            .b
            .ins()
            .icmp_imm_u(IntCC::UnsignedLessThan, moved, 2 * most);
        self.b.ins().brif(inside, near, &[], far, &[]);
        self.b.switch_to_block(near);
        let floats = self.near_floats(group, to, (first, step));
        let types = self.types_of(&floats);
        let joined = self.params(join, &types);
        self.b.ins().jump(join, &block_args(floats));
        self.b.switch_to_block(far);
        let floats = self.converted(all, (ScalarType::I64, to), group.plan.parts);
        self.b.ins().jump(join, &block_args(floats));
        self.b.switch_to_block(join);
        Some(joined)
    }

    /// The same where these floats are exact.
    fn near_floats(
        &mut self,
        group: &Group<'_>,
        to: ScalarType,
        (first, step): (Value, i64),
    ) -> Vec<Value> {
        let per = 16 / to.bytes();
        let first = self.b.ins().fcvt_from_sint(clif(to), first);
        let first = self.b.ins().splat(vector(to), first);
        let lane = |i: usize| {
            let ahead = step * i as i64;
            let word = if to == ScalarType::F32 {
                Const::f32(ahead as f32).word()
            } else {
                Const::f64(ahead as f64).word()
            };
            word.to_le_bytes()[..to.bytes()].to_vec()
        };
        let parts = group.plan.parts;
        let mut floats = Vec::new();
        for k in 0..group.plan.filled(per) {
            let steps = (0..parts).map(|part| {
                let from = (k * parts + part) * per;
                let bytes: Vec<u8> = (from..from + per).flat_map(lane).collect();
                self.lanes_of(vector(to), &bytes)
            });
            let steps: Vec<Value> = steps.collect();
            let steps = self.joined(&steps);
            floats.push(self.b.ins().fadd(first, steps));
        }
        floats
    }

    /// Integers of 64 bits as such of which all are numbers of binary64, and that are rounded to the same of binary32: of large ones the lowest bits
    /// are in one.
    pub(super) fn for_singles(&mut self, all: Value) -> Value {
        let mut constant = |n: i64| self.lanes_of(types::I64X2, &n.to_le_bytes().repeat(2));
        let low = constant(0x7ff);
        let high = constant(!0x7ff);
        let (least, most) = (constant(-(1 << 53)), constant(1 << 53));
        let lows = self.b.ins().band(all, low);
        let lows = self.b.ins().iadd(lows, low);
        let fewer = self.b.ins().bor(all, lows);
        let fewer = self.b.ins().band(fewer, high);
        let above = self.b.ins().icmp(IntCC::SignedGreaterThan, all, most);
        let below = self.b.ins().icmp(IntCC::SignedGreaterThan, least, all);
        let chosen = self.b.ins().bitselect(above, fewer, all);
        self.b.ins().bitselect(below, fewer, chosen)
    }
}
