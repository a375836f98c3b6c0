//! Floats made integers, in vectors: truncated, what is too large for a type its largest number, NaNs and infinities 0.

use crate::emit::Emit;
use crate::emit::library::RAW;
use cranelift_codegen::ir::condcodes::FloatCC;
use cranelift_codegen::ir::{InstBuilder, Value, types};
use midend::ir::types::ScalarType;

impl Emit<'_, '_> {
    /// Floats made integers of 32 bits: those that are too large for the type become the largest that it has, NaNs and
    /// infinities 0.
    pub(super) fn truncated(&mut self, a: Value, to: ScalarType) -> Value {
        let infinity = f32::INFINITY.to_le_bytes().repeat(4);
        let infinity = self.lanes_of(types::F32X4, &infinity);
        let size = self.magnitude(a);
        let finite = self.b.ins().fcmp(FloatCC::LessThan, size, infinity);
        let number = self.b.ins().fcvt_to_sint_sat(types::I32X4, a);
        let number = self.b.ins().band(finite, number);
        if to.bytes() == 4 {
            return number;
        }
        let limit = 1i32 << (8 * to.bytes() - 1);
        let largest = if to.is_signed() {
            limit - 1
        } else {
            2 * limit - 1
        };
        let [largest, least] =
            [largest, -limit].map(|n| self.lanes_of(types::I32X4, &n.to_le_bytes().repeat(4)));
        let number = self.b.ins().smin(number, largest);
        self.b.ins().smax(number, least)
    }

    /// Binary32 made integers of 32 bits without a sign by what makes them integers with one: of those that are too large for these half of all
    /// numbers is taken away before, and added again. Negative ones have the bits of integers with a sign.
    pub(super) fn without_sign(&mut self, a: Value) -> Value {
        let mut single = |x: f32| self.lanes_of(types::F32X4, &x.to_le_bytes().repeat(4));
        let (half, infinity) = (single(2_147_483_648.0), single(f32::INFINITY));
        let large = self.b.ins().fcmp(FloatCC::GreaterThanOrEqual, a, half);
        let finite = self.b.ins().fcmp(FloatCC::LessThan, a, infinity);
        let large = self.b.ins().band(large, finite);
        let taken = self.b.ins().bitcast(types::I32X4, RAW, half);
        let taken = self.b.ins().band(large, taken);
        let taken = self.b.ins().bitcast(types::F32X4, RAW, taken);
        let less = self.b.ins().fsub(a, taken);
        let number = self.truncated(less, ScalarType::I32);
        let shift = self.b.ins().iconst(types::I32, 31);
        let top = self.b.ins().ishl(large, shift);
        self.b.ins().bxor(number, top)
    }

    /// Binary64 made integers of up to 32 bits, the lower ones of lanes of 64 with the same results for what these have not: digits of numbers whose
    /// other digits are known.
    pub(super) fn digits(&mut self, a: Value, to: ScalarType) -> Value {
        const SIGNED: u64 = 0x4338_0000_0000_0000;
        let limit = 1i64 << (8 * to.bytes() - 1);
        let largest = if to.is_signed() {
            limit - 1
        } else {
            2 * limit - 1
        };
        let mut double = |x: f64| self.lanes_of(types::F64X2, &x.to_le_bytes().repeat(2));
        let (largest, least) = (double(largest as f64), double(-limit as f64));
        let (infinity, known) = (double(f64::INFINITY), double(f64::from_bits(SIGNED)));
        let size = self.magnitude(a);
        let finite = self.b.ins().fcmp(FloatCC::LessThan, size, infinity);
        let too_large = self.b.ins().fcmp(FloatCC::GreaterThan, a, largest);
        let too_small = self.b.ins().fcmp(FloatCC::LessThan, a, least);
        let number = self.b.ins().trunc(a);
        let number = self.blended(&[too_large], &[largest], &[number])[0];
        let number = self.blended(&[too_small], &[least], &[number])[0];
        let sum = self.b.ins().fadd(number, known);
        let digits = self.b.ins().bitcast(types::I64X2, RAW, sum);
        self.b.ins().band(finite, digits)
    }

    /// Binary64 made integers of 64 bits, with the same results for what these have not. The upper and the lower half of a number are digits of
    /// others, of which the rest is known, as in [`Self::double`].
    pub(super) fn whole(&mut self, a: Value) -> Value {
        if self.parts == 4 {
            return self.cut_off(a);
        }
        // 2^52 and some units, and those of the sign in the middle of that.
        const UNITS: u64 = 0x4330_0000_0000_0000;
        const SIGNED: u64 = 0x4338_0000_0000_0000;
        const LIMIT: f64 = (1u64 << 63) as f64;
        let mut constant = |ty, bits: u64| self.lanes_of(ty, &bits.to_le_bytes().repeat(2));
        let [units, signed] = [UNITS, SIGNED].map(|bits| constant(types::F64X2, bits));
        let mut double = |x: f64| constant(types::F64X2, x.to_bits());
        let (above, below) = (double(LIMIT), double(-LIMIT));
        let (factor, times) = (double(1.0 / 4_294_967_296.0), double(4_294_967_296.0));
        let infinity = double(f64::INFINITY);
        let (largest, least) = (i64::MAX as u64, i64::MIN as u64);
        let [largest, least] = [largest, least].map(|bits| constant(types::I64X2, bits));
        let number = self.b.ins().trunc(a);
        let high = self.b.ins().fmul(number, factor);
        let high = self.b.ins().floor(high);
        let taken = self.b.ins().fmul(high, times);
        let low = self.b.ins().fsub(number, taken);
        let [high, low] = [(high, signed), (low, units)].map(|(half, known)| {
            let sum = self.b.ins().fadd(half, known);
            let [sum, known] = [sum, known].map(|v| self.b.ins().bitcast(types::I64X2, RAW, v));
            self.b.ins().isub(sum, known)
        });
        let shift = self.b.ins().iconst(types::I32, 32);
        let high = self.b.ins().ishl(high, shift);
        let number = self.b.ins().iadd(high, low);
        let too_large = self.b.ins().fcmp(FloatCC::GreaterThanOrEqual, a, above);
        let too_small = self.b.ins().fcmp(FloatCC::LessThan, a, below);
        let size = self.magnitude(a);
        let finite = self.b.ins().fcmp(FloatCC::LessThan, size, infinity);
        let number = self.blended(&[too_large], &[largest], &[number])[0];
        let number = self.blended(&[too_small], &[least], &[number])[0];
        self.b.ins().band(finite, number)
    }

    /// The same in registers of 512 bits: what is too small is the least already.
    fn cut_off(&mut self, a: Value) -> Value {
        let mut constant = |ty, bits: u64| self.lanes_of(ty, &bits.to_le_bytes().repeat(2));
        let above = constant(types::F64X2, ((1u64 << 63) as f64).to_bits());
        let largest = constant(types::I64X2, i64::MAX as u64);
        let number = self.integers_of(a);
        let too_large = self.b.ins().fcmp(FloatCC::GreaterThanOrEqual, a, above);
        let finite = self.finite(a);
        let number = self.blended(&[too_large], &[largest], &[number])[0];
        self.b.ins().band(finite, number)
    }

    /// Binary32 in registers of 512 bits made integers of 64 bits. Of what is too large, the least less one is the largest.
    pub(super) fn singles_cut_off(&mut self, a: Value) -> [Value; 2] {
        let mut constant = |x: f32| self.lanes_of(types::F32X4, &x.to_le_bytes().repeat(4));
        let above = constant((1u64 << 63) as f32);
        let finite = self.finite(a);
        let lanes = self.b.ins().bitcast(types::I32X4, RAW, a);
        let finite = self.b.ins().band(finite, lanes);
        let number = self.b.ins().bitcast(types::F32X4, RAW, finite);
        let too_large = self
            .b
            .ins()
            .fcmp(FloatCC::GreaterThanOrEqual, number, above);
        let less = self.extended(too_large, true, 4);
        let halves = self.halves_of(number, 4);
        std::array::from_fn(|k| {
            let whole = self.integers_of_pair(halves[k]);
            self.b.ins().iadd(whole, less[k])
        })
    }

    /// Which floats are finite: less themselves they are 0, others are NaNs.
    fn finite(&mut self, a: Value) -> Value {
        let none = self.b.ins().fsub(a, a);
        self.b.ins().fcmp(FloatCC::Ordered, none, none)
    }
}
