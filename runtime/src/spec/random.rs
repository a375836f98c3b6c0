//! Random arguments: integers over the whole range of their type, floats in [0, 1), the same every time.

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
            let len = shape
                .iter()
                .try_fold(1i64, |product, dim| product.checked_mul(*dim))
                .filter(|len| (0..=LIMIT).contains(len))
                .and_then(|len| usize::try_from(len).ok())
                .ok_or_else(|| format!("a random array of shape {shape:?} is too large"))?;
            let data = elements(*elem, len, state);
            Ok(if shape.is_empty() {
                Value::Scalar(data.get(0))
            } else {
                Value::Array(ArrayValue {
                    shape: shape.clone(),
                    data,
                })
            })
        }
    }
}

fn elements(elem: ScalarType, len: usize, state: &mut SplitMix) -> Data {
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
