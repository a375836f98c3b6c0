//! Numbers of one type made numbers of another, in vectors: lanes become wider, and so more vectors, or narrower.
//!
//! ```text
//! u8 → i32     16 lanes in one vector, extended to 8 + 8 of 16 bits, then to 4 + 4 + 4 + 4
//! i32 → u8     pairs of vectors packed to one, and again
//! ```
//!
//! Wider vectors ([`crate::wide`]) are extended from their halves; packing works on their parts, which are put in order then.

use super::plan::Plan;
use super::vector::{lanes_per_vector, vector};
use super::{Group, Lanes};
use crate::emit::library::RAW;
use crate::emit::{Emit, clif};
use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::{ConstantData, InstBuilder, Type, Value, types};
use midend::ir::scalar::Const;
use midend::ir::syntax::Atom;
use midend::ir::types::ScalarType;

/// Which bytes of two vectors are the lower halves of lanes of 64 bits.
const LOWER_WORDS: [u8; 16] = [0, 1, 2, 3, 8, 9, 10, 11, 16, 17, 18, 19, 24, 25, 26, 27];
/// Which bytes of two vectors are the upper half of the first.
const UPPER: [u8; 16] = [8, 9, 10, 11, 12, 13, 14, 15, 8, 9, 10, 11, 12, 13, 14, 15];

/// Whether vectors are converted. Truth values are masks.
pub(super) fn converts(from: ScalarType, to: ScalarType, integers: bool) -> bool {
    let packed = |ty| ty == ScalarType::Bool || lanes_per_vector(ty, integers).is_some();
    let known = match (from, to) {
        (_, ScalarType::Bool) | (ScalarType::Bool, _) => true,
        // Of integers of 64 bits those with a sign have a form.
        (ScalarType::F32 | ScalarType::F64, ScalarType::U64) => false,
        (_, ScalarType::F32) => from != ScalarType::U64,
        _ => true,
    };
    known && from != to && packed(from) && packed(to)
}

impl Emit<'_, '_> {
    /// A number in vectors made one of another type.
    pub(super) fn packed_convert(
        &mut self,
        group: &mut Group<'_>,
        (from, to): (ScalarType, ScalarType),
        arg: Atom,
    ) -> Option<Lanes> {
        if !converts(from, to, group.plan.integers) {
            return None;
        }
        let parts = group.plan.parts;
        if from == ScalarType::Bool {
            let per = group.plan.per_vector(to)?;
            let masks = self.mask(group, arg, per);
            let one = self.one(to);
            let ones = masks.into_iter().map(|mask| {
                let ty = self.b.func.dfg.value_type(mask);
                let one = self.b.ins().bitcast(ty, RAW, one);
                let one = self.b.ins().band(mask, one);
                self.b.ins().bitcast(vector(to), RAW, one)
            });
            return Some(Lanes::Packed(ones.collect()));
        }
        group.plan.per_vector(from)?;
        if to == ScalarType::Bool {
            if group.is_linear(arg) {
                return None;
            }
            let numbers = self.packed(group, arg);
            let zero = self.lanes_of(vector(from), &[0; 16]);
            let masks = numbers.into_iter().map(|a| {
                if from.is_float() {
                    self.b.ins().fcmp(FloatCC::NotEqual, a, zero)
                } else {
                    self.b.ins().icmp(IntCC::NotEqual, a, zero)
                }
            });
            return Some(Lanes::Mask(masks.collect()));
        }
        group.plan.per_vector(to)?;
        if to.is_integer()
            && let Some(growing) = self.growing(group, to, arg)
        {
            return Some(Lanes::Packed(growing));
        }
        if let Some(growing) = self.growing_floats(group, to, arg) {
            return Some(Lanes::Packed(growing));
        }
        let growing = self.growing(group, from, arg);
        let numbers = growing.unwrap_or_else(|| self.packed(group, arg));
        Some(Lanes::Packed(self.converted(numbers, (from, to), parts)))
    }

    pub(super) fn converted(
        &mut self,
        numbers: Vec<Value>,
        (from, to): (ScalarType, ScalarType),
        parts: usize,
    ) -> Vec<Value> {
        let narrow = from.bytes() < 4;
        match (from, to) {
            (ScalarType::F32, ScalarType::F64) => {
                let spread = self.ordered(numbers, parts, Emit::together);
                self.promote(&spread, 4)
            }
            (ScalarType::F64, ScalarType::F32) => {
                let singles = self.demote(&numbers);
                self.ordered(singles, parts, Emit::apart)
            }
            (ScalarType::F32, ScalarType::I64) if parts == 4 => {
                let whole = |a| self.singles_cut_off(a);
                numbers.into_iter().flat_map(whole).collect()
            }
            (ScalarType::F32, ScalarType::I64) => {
                let doubles = self.converted(numbers, (from, ScalarType::F64), parts);
                self.converted(doubles, (ScalarType::F64, to), parts)
            }
            (ScalarType::F64, ScalarType::I64) => {
                let whole = |a| self.whole(a);
                numbers.into_iter().map(whole).collect()
            }
            (ScalarType::F64, _) => {
                let digits = |a| self.digits(a, to);
                let numbers = numbers.into_iter().map(digits).collect();
                self.resized(numbers, ScalarType::I64, to, parts)
            }
            (ScalarType::F32, ScalarType::U32) => {
                let number = |a| self.without_sign(a);
                numbers.into_iter().map(number).collect()
            }
            (ScalarType::F32, _) => {
                let numbers = numbers.into_iter().map(|a| self.truncated(a, to));
                let words = numbers.collect();
                self.resized(words, ScalarType::I32, to, parts)
            }
            // Narrow integers without a sign are not negative in 32 bits.
            (_, ScalarType::F32 | ScalarType::F64) if narrow => {
                let words = self.resized(numbers, from, ScalarType::I32, parts);
                self.converted(words, (ScalarType::I32, to), parts)
            }
            (ScalarType::U32, ScalarType::F32) => {
                let single = |a| self.single(a);
                numbers.into_iter().map(single).collect()
            }
            (ScalarType::I64, ScalarType::F32) if parts == 4 => {
                let singles: Vec<Value> =
                    numbers.into_iter().map(|a| self.low_singles(a)).collect();
                let pairs = singles.chunks(2);
                let whole = pairs.map(|two| self.pairs(two[0], two[1]));
                whole.collect()
            }
            (ScalarType::I64, ScalarType::F32) => {
                let double = |a| {
                    let a = self.for_singles(a);
                    self.double(a, true)
                };
                let doubles = numbers.into_iter().map(double).collect();
                self.converted(doubles, (ScalarType::F64, to), parts)
            }
            (_, ScalarType::F32) => {
                let single = |a| self.b.ins().fcvt_from_sint(types::F32X4, a);
                numbers.into_iter().map(single).collect()
            }
            (_, ScalarType::F64) if from.bytes() == 8 => {
                let double = |a| self.double(a, from.is_signed());
                numbers.into_iter().map(double).collect()
            }
            (_, ScalarType::F64) => {
                let double = |a| self.doubles(a, from, parts);
                numbers.into_iter().flat_map(double).collect()
            }
            _ => self.resized(numbers, from, to, parts),
        }
    }

    /// Integers in vectors made wider or narrower.
    pub(in crate::emit) fn resized(
        &mut self,
        mut numbers: Vec<Value>,
        from: ScalarType,
        to: ScalarType,
        parts: usize,
    ) -> Vec<Value> {
        let mut bytes = from.bytes();
        while bytes < to.bytes() {
            let signed = from.is_signed();
            let wider = |a| self.extended(a, signed, parts);
            numbers = numbers.into_iter().flat_map(wider).collect();
            bytes *= 2;
        }
        while bytes > to.bytes() {
            let pairs = numbers.chunks(2);
            let packed = pairs.map(|pair| self.cut(pair[0], pair[1])).collect();
            numbers = self.ordered(packed, parts, Emit::apart);
            bytes /= 2;
        }
        numbers
    }

    /// The lanes of a vector, twice as wide, in two.
    pub(super) fn extended(&mut self, all: Value, signed: bool, parts: usize) -> [Value; 2] {
        if parts == 1 {
            return if signed {
                let low = self.b.ins().swiden_low(all);
                [low, self.b.ins().swiden_high(all)]
            } else {
                let low = self.b.ins().uwiden_low(all);
                [low, self.b.ins().uwiden_high(all)]
            };
        }
        self.halves_of(all, parts).map(|half| {
            if signed {
                self.b.ins().swiden_low(half)
            } else {
                self.b.ins().uwiden_low(half)
            }
        })
    }

    /// The lower halves of the lanes of two vectors in one; of wider ones, part by part.
    fn cut(&mut self, low: Value, high: Value) -> Value {
        let ty = self.b.func.dfg.value_type(low);
        if ty == types::I64X2 {
            return self.bytes(low, high, LOWER_WORDS, types::I32X4);
        }
        let mut kept = [0; 16];
        let bytes = ty.lane_bits() as usize / 8;
        for (i, byte) in kept.iter_mut().enumerate() {
            *byte = if i % bytes < bytes / 2 { 0xff } else { 0 };
        }
        let kept = self.lanes_of(ty, &kept);
        let [low, high] = [low, high].map(|v| self.b.ins().band(v, kept));
        self.b.ins().unarrow(low, high)
    }

    /// Wider vectors whose parts are made of halves of others each, in order.
    pub(super) fn ordered(
        &mut self,
        vectors: Vec<Value>,
        parts: usize,
        order: fn(&mut Self, Value) -> Value,
    ) -> Vec<Value> {
        if parts == 1 {
            return vectors;
        }
        vectors.into_iter().map(|all| order(self, all)).collect()
    }

    /// Integers of 32 bits without a sign made binary32: both halves are exact, and so are multiples of 2^16; the sum is
    /// rounded once.
    fn single(&mut self, all: Value) -> Value {
        let sixteen = self.b.ins().iconst(types::I32, 16);
        let upper = self.b.ins().ushr(all, sixteen);
        let mask = self.lanes_of(types::I32X4, &0xffffu32.to_le_bytes().repeat(4));
        let lower = self.b.ins().band(all, mask);
        let [upper, lower] =
            [upper, lower].map(|part| self.b.ins().fcvt_from_sint(types::F32X4, part));
        let factor = self.lanes_of(types::F32X4, &65536f32.to_le_bytes().repeat(4));
        let upper = self.b.ins().fmul(upper, factor);
        self.b.ins().fadd(upper, lower)
    }

    /// Integers of 64 bits made binary64: both halves are digits of a number of which the others are known, so that each is exact, and the sum is
    /// rounded once. What is known of the upper one is taken away with what is known of the lower.
    fn double(&mut self, all: Value, signed: bool) -> Value {
        if signed && self.parts == 4 {
            return self.doubles_of(all);
        }
        // 2^52 and some units; 2^84 and some multiples of 2^32, among which those of the sign begin in the middle.
        const LOWER: u64 = 0x4330_0000_0000_0000;
        const UPPER: u64 = 0x4530_0000_0000_0000;
        let middle = if signed { 1 << 31 } else { 0 };
        let mut constant = |ty, bits: u64| self.lanes_of(ty, &bits.to_le_bytes().repeat(2));
        let low = constant(types::I64X2, 0xffff_ffff);
        let lower = constant(types::I64X2, LOWER);
        let upper = constant(types::I64X2, UPPER | middle);
        let known = f64::from_bits(UPPER | middle) + f64::from_bits(LOWER);
        let known = constant(types::F64X2, known.to_bits());
        let lows = self.b.ins().band(all, low);
        let lows = self.b.ins().bor(lows, lower);
        let shift = self.b.ins().iconst(types::I32, 32);
        let highs = self.b.ins().ushr(all, shift);
        let highs = self.b.ins().bxor(highs, upper);
        let [lows, highs] = [lows, highs].map(|v| self.b.ins().bitcast(types::F64X2, RAW, v));
        let highs = self.b.ins().fsub(highs, known);
        self.b.ins().fadd(highs, lows)
    }

    /// Integers of 32 bits made binary64.
    fn doubles(&mut self, all: Value, from: ScalarType, parts: usize) -> [Value; 2] {
        let signed = from.is_signed();
        let all = if signed {
            all
        } else {
            let middle = self.lanes_of(types::I32X4, &0x8000_0000u32.to_le_bytes().repeat(4));
            self.b.ins().bxor(all, middle)
        };
        let halves = if parts == 1 {
            let upper = self.bytes(all, all, UPPER, types::I32X4);
            [all, upper]
        } else {
            self.halves_of(all, parts)
        };
        halves.map(|half| {
            let wide = self.b.ins().swiden_low(half);
            let double = self.b.ins().fcvt_from_sint(types::F64X2, wide);
            if signed {
                return double;
            }
            let middle = 2_147_483_648f64.to_le_bytes().repeat(2);
            let middle = self.lanes_of(types::F64X2, &middle);
            self.b.ins().fadd(double, middle)
        })
    }

    /// A constant vector.
    pub(in crate::emit) fn lanes_of(&mut self, ty: Type, bytes: &[u8]) -> Value {
        let constants = &mut self.b.func.dfg.constants;
        let data = constants.insert(ConstantData::from(bytes));
        self.b.ins().vconst(ty, data)
    }

    /// 1 in all lanes.
    pub(super) fn one(&mut self, ty: ScalarType) -> Value {
        let one = if ty == ScalarType::F32 {
            Const::f32(1.0)
        } else if ty == ScalarType::F64 {
            Const::f64(1.0)
        } else {
            Const::U8(1)
        };
        let word = one.word().to_le_bytes();
        self.lanes_of(vector(ty), &word[..ty.bytes()].repeat(16 / ty.bytes()))
    }

    /// The lanes of an index that grows by a constant, as integers of a type.
    pub(super) fn growing(
        &mut self,
        group: &Group<'_>,
        ty: ScalarType,
        index: Atom,
    ) -> Option<Vec<Value>> {
        let (first, step) = match group.lanes.get(&index.as_var()?)? {
            Lanes::Linear(first, step) => (*first, *step),
            Lanes::Many(_) | Lanes::Packed(_) | Lanes::Narrow(_) | Lanes::Mask(_) => return None,
        };
        let first = self.resize(first, types::I64, clif(ty), true);
        self.grown(group.plan, ty, (first, step))
    }

    /// Integers of a type that grow by a constant from lane to lane.
    pub(super) fn grown(
        &mut self,
        plan: &Plan,
        ty: ScalarType,
        (first, step): (Value, i64),
    ) -> Option<Vec<Value>> {
        let per = plan.per_vector(ty)?;
        let base = self.b.ins().splat(vector(ty), first);
        let lane = |i: usize| step.wrapping_mul(i as i64).to_le_bytes();
        let parts = plan.parts;
        // What lanes are ahead of the first is the same in every step of a loop, and in every register but for a constant.
        let steps = (0..parts).map(|part| {
            let lanes = part * per..(part + 1) * per;
            let bytes: Vec<u8> = lanes.flat_map(|i| lane(i)[..ty.bytes()].to_vec()).collect();
            self.lanes_of(vector(ty), &bytes)
        });
        let steps: Vec<Value> = steps.collect();
        let steps = self.joined(&steps);
        let base = self.b.ins().iadd(base, steps);
        let mut all = vec![base];
        for k in 1..plan.filled(per) {
            let ahead = lane(k * per * parts)[..ty.bytes()].repeat(per);
            let ahead = self.lanes_of(vector(ty), &ahead);
            all.push(self.b.ins().iadd(base, ahead));
        }
        Some(all)
    }
}
