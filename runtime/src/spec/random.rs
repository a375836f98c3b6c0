//! Random arguments: integers over the whole range of their type, floats in [0, 1), or both in given bounds; the same every
//! time.

use half::f16;
use midend::ir::scalar::Const;
use midend::ir::types::ScalarType;
use midend::value::{ArrayValue, Data, Value};

/// How one argument is made.
#[derive(Clone, Debug, PartialEq)]
pub enum Generator {
    /// This constant.
    Constant(Const),
    /// Random elements; a scalar if the shape is empty.
    Random {
        /// The extents.
        shape: Vec<i64>,
        /// The type of the elements.
        elem: ScalarType,
    },
}

/// The arguments that the generators make from a seed. The error says which array is too large to make.
pub fn generate(generators: &[Generator], seed: u64) -> Result<Vec<Value>, String> {
    let mut state = SplitMix(seed);
    generators.iter().map(|g| one(g, &mut state)).collect()
}

/// More elements than this are refused.
const LIMIT: i64 = 1 << 33;

fn one(generator: &Generator, state: &mut SplitMix) -> Result<Value, String> {
    match generator {
        Generator::Constant(c) => Ok(Value::Scalar(*c)),
        Generator::Random { shape, elem } => {
            let data = elements(*elem, count(shape)?, state);
            Ok(shaped(shape, data))
        }
    }
}

/// How many elements a random value of this shape has.
pub(crate) fn count(shape: &[i64]) -> Result<usize, String> {
    shape
        .iter()
        .try_fold(1i64, |product, dim| product.checked_mul(*dim))
        .filter(|len| (0..=LIMIT).contains(len))
        .and_then(|len| usize::try_from(len).ok())
        .ok_or_else(|| format!("a random array of shape {shape:?} is too large"))
}

/// The value of these elements: a scalar if there are no dimensions.
pub(crate) fn shaped(shape: &[i64], data: Data) -> Value {
    if shape.is_empty() {
        return Value::Scalar(data.get(0));
    }
    Value::Array(ArrayValue {
        shape: shape.to_vec(),
        data,
    })
}

/// Random elements over the whole range of integers, or in [0, 1).
pub(crate) fn elements(elem: ScalarType, len: usize, state: &mut SplitMix) -> Data {
    fn all<T>(len: usize, state: &mut SplitMix, one: fn(u64) -> T) -> Vec<T> {
        (0..len).map(|_| one(state.next())).collect()
    }
    match elem {
        ScalarType::I8 => Data::I8(all(len, state, |x| x as i8)),
        ScalarType::I16 => Data::I16(all(len, state, |x| x as i16)),
        ScalarType::I32 => Data::I32(all(len, state, |x| x as i32)),
        ScalarType::I64 => Data::I64(all(len, state, |x| x as i64)),
        ScalarType::U8 => Data::U8(all(len, state, |x| x as u8)),
        ScalarType::U16 => Data::U16(all(len, state, |x| x as u16)),
        ScalarType::U32 => Data::U32(all(len, state, |x| x as u32)),
        ScalarType::U64 => Data::U64(all(len, state, |x| x)),
        ScalarType::F16 => Data::F16(all(len, state, |x| {
            f16::from_f64((x >> 53) as f64 / 2048.0)
        })),
        ScalarType::F32 => Data::F32(all(len, state, |x| (x >> 40) as f32 / 16_777_216.0)),
        ScalarType::F64 => Data::F64(all(len, state, |x| {
            (x >> 11) as f64 / 9_007_199_254_740_992.0
        })),
        ScalarType::Bool => Data::Bool(all(len, state, |x| x >> 63 == 1)),
    }
}

/// The least and the greatest of random numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Bounds {
    /// Of integers; of truth values 0 and 1.
    Whole(i128, i128),
    /// Of floats.
    Real(f64, f64),
}

/// Random elements within bounds, which must be in order and of the type's kind.
pub(crate) fn bounded(
    elem: ScalarType,
    len: usize,
    bounds: Bounds,
    state: &mut SplitMix,
) -> Result<Data, String> {
    let wrong = || format!("these are no bounds of {elem}");
    let (low, high) = match bounds {
        Bounds::Whole(low, high) if low <= high => (low, high),
        Bounds::Whole(..) => return Err(wrong()),
        Bounds::Real(low, high) => {
            let mut real = || {
                let share = (state.next() >> 11) as f64 / 9_007_199_254_740_992.0;
                (low + share * (high - low)).clamp(low, high)
            };
            if low.is_nan() || high.is_nan() || low > high {
                return Err(wrong());
            }
            return match elem {
                ScalarType::F16 => Ok(Data::F16((0..len).map(|_| f16::from_f64(real())).collect())),
                ScalarType::F32 => Ok(Data::F32((0..len).map(|_| real() as f32).collect())),
                ScalarType::F64 => Ok(Data::F64((0..len).map(|_| real()).collect())),
                ScalarType::I8
                | ScalarType::I16
                | ScalarType::I32
                | ScalarType::I64
                | ScalarType::U8
                | ScalarType::U16
                | ScalarType::U32
                | ScalarType::U64
                | ScalarType::Bool => Err(wrong()),
            };
        }
    };
    // The upper half of a product scales a random number down; bounds of 64 bits do not overflow here.
    let span = (high - low + 1).unsigned_abs();
    let mut whole = || low + ((u128::from(state.next()) * span) >> 64) as i128;
    fn all<T: TryFrom<i128>>(
        len: usize,
        one: &mut dyn FnMut() -> i128,
        wrong: &dyn Fn() -> String,
    ) -> Result<Vec<T>, String> {
        (0..len)
            .map(|_| T::try_from(one()).map_err(|_| wrong()))
            .collect()
    }
    match elem {
        ScalarType::I8 => all(len, &mut whole, &wrong).map(Data::I8),
        ScalarType::I16 => all(len, &mut whole, &wrong).map(Data::I16),
        ScalarType::I32 => all(len, &mut whole, &wrong).map(Data::I32),
        ScalarType::I64 => all(len, &mut whole, &wrong).map(Data::I64),
        ScalarType::U8 => all(len, &mut whole, &wrong).map(Data::U8),
        ScalarType::U16 => all(len, &mut whole, &wrong).map(Data::U16),
        ScalarType::U32 => all(len, &mut whole, &wrong).map(Data::U32),
        ScalarType::U64 => all(len, &mut whole, &wrong).map(Data::U64),
        ScalarType::Bool => {
            let bits: Vec<u8> = all(len, &mut whole, &wrong)?;
            Ok(Data::Bool(bits.into_iter().map(|bit| bit != 0).collect()))
        }
        ScalarType::F16 | ScalarType::F32 | ScalarType::F64 => Err(wrong()),
    }
}

/// The generator of Steele, Lea and Flood, "Fast splittable pseudorandom number generators" (2014).
pub(crate) struct SplitMix(pub(crate) u64);

impl SplitMix {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
}
