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
//! Quotients by what is the same for all lanes are products with its reciprocal.
//!
//! Of zeros and infinities `near` is the result already, and `t` a NaN, of which `min` makes 2. In 256 bits numbers that are less than
//! any normal one count as zero.

use crate::emit::library::RAW;
use crate::emit::{Emit, block_args};
use crate::target::divides_in_halves;
use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::{InstBuilder, Opcode, Value, types};
use midend::ir::scalar::{BinOp, Const, ScalarOp, UnOp};
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
        if parts == 1 || !self.has_fma() {
            return None;
        }
        if op == ScalarOp::Bin(BinOp::DivNear, ScalarType::F32) {
            return self.div_near(&args[0], &args[1]);
        }
        if !matches!(op, ScalarOp::Un(UnOp::RsqrtNear, ScalarType::F32)) {
            return None;
        }
        // A divider that works on registers of 512 bits at once is done before these steps are, beside all else.
        if parts == 4 && !divides_in_halves() {
            return None;
        }
        let vectors = args[0].iter();
        Some(vectors.map(|x| self.rsqrt_near(*x, parts)).collect())
    }

    /// Quotients by what is the same for all lanes: products with its reciprocal, if that is a normal number.
    fn div_near(&mut self, dividends: &[Value], divisors: &[Value]) -> Option<Vec<Value>> {
        let divisor = self.operand_of(Opcode::Splat, divisors[0])?;
        if divisors.iter().any(|by| *by != divisors[0]) {
            return None;
        }
        let [near, far, join] = std::array::from_fn(|_| self.b.create_block());
        self.b.set_cold_block(far);
        // Bits of floats without signs are in the order of what these are.
        let [least, most] =
            [f32::MIN_POSITIVE, 1.0 / f32::MIN_POSITIVE].map(|bound| i64::from(bound.to_bits()));
        let bits = self.b.ins().bitcast(types::I32, RAW, divisor);
        let size = self.b.ins().band_imm_u(bits, i64::from(u32::MAX >> 1));
        let above = self.b.ins().iadd_imm_s(size, -least);
        let fits = IntCC::UnsignedLessThanOrEqual;
        let normal = self.b.ins().icmp_imm_u(fits, above, most - least);
        self.b.ins().brif(normal, near, &[], far, &[]);
        self.b.switch_to_block(near);
        let one = self.constant(Const::f32(1.0));
        let reciprocal = self.b.ins().fdiv(one, divisor);
        let reciprocal = self.b.ins().splat(types::F32X4, reciprocal);
        let all = dividends.iter();
        let quotients: Vec<Value> = all.map(|a| self.b.ins().fmul(*a, reciprocal)).collect();
        let kinds = self.types_of(&quotients);
        let joined = self.params(join, &kinds);
        self.b.ins().jump(join, &block_args(quotients));
        self.b.switch_to_block(far);
        let all = dividends.iter();
        let quotients: Vec<Value> = all.map(|a| self.b.ins().fdiv(*a, divisors[0])).collect();
        self.b.ins().jump(join, &block_args(quotients));
        self.b.switch_to_block(join);
        Some(joined)
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
