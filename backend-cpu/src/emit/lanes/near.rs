//! Functions that may be off by some units in the last place (`--fast-math`), in wider registers: an instruction gives a number that is
//! near, steps of Newton's and Halley's methods the digits that it has not. Dividing and taking roots is done by one unit of a
//! processor, which a register of 512 bits keeps busy for 12 cycles and more; these steps are products and sums.
//!
//! ```text
//! let y = rsqrt_near.f32(x)   ──►   near = vrsqrtps x         off by less than 1.5 * 2^-12, vrsqrt14ps by 2^-14
//!                                   e = 1 - (x * near) * near
//!                                   t = 1 + e / 2             and 3 / 8 e^2, after vrsqrtps
//!                                   y = near * min(t, 2)
//! ```
//!
//! Of zeros and infinities `near` is the result already, and `t` a NaN, of which `min` makes 2. In 256 bits numbers that are less than
//! any normal one count as zero.

use crate::emit::Emit;
use crate::emit::library::RAW;
use cranelift_codegen::ir::condcodes::FloatCC;
use cranelift_codegen::ir::{InstBuilder, Value, types};
use midend::ir::scalar::{Const, ScalarOp, UnOp};
use midend::ir::types::ScalarType;

impl Emit<'_, '_> {
    /// The vectors of a function that may be near, if registers have instructions for it. Those of 128 bits are not asked: in them
    /// code is what it is for single points.
    pub(super) fn near(
        &mut self,
        op: ScalarOp,
        args: &[Vec<Value>],
        parts: usize,
    ) -> Option<Vec<Value>> {
        let known = matches!(op, ScalarOp::Un(UnOp::RsqrtNear, ScalarType::F32));
        if !known || parts == 1 || !self.has_fma() {
            return None;
        }
        let vectors = args[0].iter();
        Some(vectors.map(|x| self.rsqrt_near(*x, parts)).collect())
    }

    fn rsqrt_near(&mut self, x: Value, parts: usize) -> Value {
        let [one, half, two] = [1.0, 0.5, 2.0].map(|c| self.all(Const::f32(c)));
        // Marks what Cranelift has not: see `wide`.
        let lanes = self.b.ins().bitcast(types::I16X8, RAW, x);
        let near = self.b.ins().avg_round(lanes, lanes);
        let near = self.b.ins().bitcast(types::F32X4, RAW, near);
        let root = self.b.ins().fmul(x, near);
        let less = self.b.ins().fneg(root);
        let off = self.b.ins().fma(less, near, one);
        let slope = if parts == 2 {
            let second = self.all(Const::f32(0.375));
            self.b.ins().fma(off, second, half)
        } else {
            half
        };
        let factor = self.b.ins().fma(off, slope, one);
        let finite = self.b.ins().fcmp(FloatCC::LessThan, factor, two);
        let finite = self.b.ins().bitcast(types::F32X4, RAW, finite);
        let factor = self.b.ins().bitselect(finite, factor, two);
        self.b.ins().fmul(near, factor)
    }
}
