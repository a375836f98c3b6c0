//! Arguments: sizes around the ends of types, and such whose products or sums wrap.

use crate::generate::Random;
use midend::ir::scalar::Const;
use midend::value::{ArrayValue, Data, Value};

/// How many sizes a program has.
pub(super) const SIZES: usize = 6;

/// The arguments of a program.
#[derive(Clone, Debug)]
pub(super) struct Arguments {
    pub(super) sizes: [i64; SIZES],
    /// A small array of sizes.
    pub(super) list: Vec<i64>,
}

impl Arguments {
    pub(super) fn values(&self) -> Vec<Value> {
        let sizes = self.sizes.iter().map(|n| Value::Scalar(Const::I64(*n)));
        let list = Value::Array(ArrayValue {
            shape: vec![self.list.len() as i64],
            data: Data::I64(self.list.clone()),
        });
        sizes.chain([list]).collect()
    }
}

pub(super) fn arguments(random: &mut Random) -> Arguments {
    let (mut sizes, mut last) = ([0; SIZES], 1);
    for size in &mut sizes {
        *size = match random.below(100) {
            0..40 => random.below(5) as i64,
            40..80 => large(random),
            80..95 => partner(last, random),
            _ => -large(random),
        };
        last = *size;
    }
    let len = random.below(5);
    let list = (0..len).map(|_| match random.below(10) {
        0..6 => random.below(4) as i64,
        6..9 => large(random),
        _ => -(random.below(3) as i64),
    });
    let mut list: Vec<i64> = list.collect();
    // Lengths of which the sum wraps to a few.
    if list.len() >= 3 && random.chance(30) {
        list[0] = i64::MAX;
        list[1] = i64::MAX;
        list[2] = 2 + random.below(4) as i64;
    }
    Arguments { sizes, list }
}

/// A number next to a power of two at which something may wrap.
fn large(random: &mut Random) -> i64 {
    let bits = *random.pick(&[8, 31, 32, 33, 40, 47, 48, 59, 60, 61, 62, 63]);
    let power = match bits {
        63 => i64::MAX,
        _ => 1 << bits,
    };
    let off = random.below(4) as i64;
    match random.chance(50) {
        true => power - off,
        false => power.saturating_add(off),
    }
}

/// What makes a product with a number wrap to a small one, or a sum.
fn partner(n: i64, random: &mut Random) -> i64 {
    let few = 1 + random.below(6) as i64;
    match random.below(3) {
        0 => few.wrapping_sub(n),
        1 if n % 2 != 0 => {
            // Newton's iteration for the inverse modulo 2^64.
            let mut inverse = n;
            for _ in 0..6 {
                inverse = inverse.wrapping_mul(2i64.wrapping_sub(n.wrapping_mul(inverse)));
            }
            inverse.wrapping_mul(few)
        }
        _ => {
            let wrap = (1i128 << 64) * i128::from(few);
            i64::try_from((wrap / i128::from(n.max(2))) + 1).unwrap_or(i64::MAX)
        }
    }
}
