//! Whether a result is what was expected: by Futhark's tolerance, with the relative error beside it.

use crate::data::{Leaf, const_text};
use midend::ir::scalar::Const;
use midend::value::{Data, Value};
use std::fmt;

/// The tolerance that Futhark's test runner grants: this much, times the largest expected element where that is
/// greater than one, for every element of the array.
pub const TOLERANCE: f64 = 0.002;

/// How two values compare.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// Why they count as different; nothing if they do not.
    pub mismatch: Option<Mismatch>,
    /// The largest relative error of any finite float element; 0 for values without floats.
    pub relative: f64,
}

/// A difference.
#[derive(Clone, Debug, PartialEq)]
pub enum Mismatch {
    /// Another element type, or another number of dimensions.
    Type {
        /// What was expected.
        expected: Leaf,
        /// What was found.
        found: Leaf,
    },
    /// Another shape.
    Shape {
        /// What was expected.
        expected: Vec<i64>,
        /// What was found.
        found: Vec<i64>,
    },
    /// Elements that differ.
    Element {
        /// Where the first of them stands.
        index: Vec<i64>,
        /// What was expected there.
        expected: Const,
        /// What was found there.
        found: Const,
        /// How many elements differ.
        count: usize,
    },
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Type { expected, found } => {
                write!(f, "expected a value of type {expected}, found type {found}")
            }
            Self::Shape { expected, found } => {
                write!(
                    f,
                    "expected an array of shape {expected:?}, found shape {found:?}"
                )
            }
            Self::Element {
                index,
                expected,
                found,
                count,
            } => {
                let place = if index.is_empty() {
                    String::new()
                } else {
                    format!(" at {index:?}")
                };
                let (expected, found) = (const_text(*expected), const_text(*found));
                write!(f, "expected {expected}{place}, found {found}")?;
                match count {
                    0 | 1 => Ok(()),
                    n => write!(f, " ({n} elements differ)"),
                }
            }
        }
    }
}

/// Compares a result with what was expected.
pub fn compare(found: &Value, expected: &Value) -> Comparison {
    let (found_type, expected_type) = (Leaf::of(found), Leaf::of(expected));
    let mismatch = if found_type != expected_type {
        Some(Mismatch::Type {
            expected: expected_type,
            found: found_type,
        })
    } else if found.shape() != expected.shape() {
        Some(Mismatch::Shape {
            expected: expected.shape().to_vec(),
            found: found.shape().to_vec(),
        })
    } else {
        None
    };
    if mismatch.is_some() {
        return Comparison {
            mismatch,
            relative: f64::INFINITY,
        };
    }
    let (differing, relative) = match (found, expected) {
        (Value::Array(found), Value::Array(expected)) => compare_data(&found.data, &expected.data),
        (Value::Scalar(found), Value::Scalar(expected)) => {
            compare_data(&one(*found), &one(*expected))
        }
        (Value::Array(_), Value::Scalar(_)) | (Value::Scalar(_), Value::Array(_)) => {
            (Differing::default(), 0.0)
        }
    };
    let mismatch = differing.first.map(|first| Mismatch::Element {
        index: index_of(first, expected.shape()),
        expected: element(expected, first),
        found: element(found, first),
        count: differing.count,
    });
    Comparison { mismatch, relative }
}

fn one(value: Const) -> Data {
    let mut data = Data::zeros(value.ty(), 1);
    data.set(0, value);
    data
}

fn element(value: &Value, at: usize) -> Const {
    match value {
        Value::Scalar(c) => *c,
        Value::Array(array) => array.data.get(at),
    }
}

fn index_of(flat: usize, shape: &[i64]) -> Vec<i64> {
    let mut rest = flat as i64;
    let mut index: Vec<i64> = shape
        .iter()
        .rev()
        .map(|dim| {
            let i = rest % dim.max(&1);
            rest /= dim.max(&1);
            i
        })
        .collect();
    index.reverse();
    index
}

#[derive(Default)]
struct Differing {
    first: Option<usize>,
    count: usize,
}

impl Differing {
    fn note(&mut self, at: usize) {
        self.first = self.first.or(Some(at));
        self.count += 1;
    }
}

fn exact<T: PartialEq>(found: &[T], expected: &[T]) -> (Differing, f64) {
    let mut differing = Differing::default();
    for (i, (f, e)) in found.iter().zip(expected).enumerate() {
        if f != e {
            differing.note(i);
        }
    }
    (differing, 0.0)
}

/// Floats count as equal when both are NaN, are the same infinity, or differ by no more than the tolerance.
fn floats<T: Copy + Into<f64>>(found: &[T], expected: &[T]) -> (Differing, f64) {
    let finite = expected
        .iter()
        .map(|x| (*x).into())
        .filter(|x| x.is_finite());
    let bound = finite.fold(TOLERANCE, |bound, x: f64| bound.max(TOLERANCE * x));
    let largest = bound / TOLERANCE;
    let mut differing = Differing::default();
    let mut worst = 0.0f64;
    for (i, (f, e)) in found.iter().zip(expected).enumerate() {
        let (f, e): (f64, f64) = ((*f).into(), (*e).into());
        if f == e || (f.is_nan() && e.is_nan()) {
            continue;
        }
        let distance = (f - e).abs();
        // What is next to nothing beside the largest element has no relative error of its own.
        let relative = distance / e.abs().max(largest * 1e-6);
        worst = worst.max(if relative.is_nan() {
            f64::INFINITY
        } else {
            relative
        });
        // Written so that a NaN distance counts as a difference.
        let close = f.is_finite() && e.is_finite() && distance <= bound;
        if !close {
            differing.note(i);
        }
    }
    (differing, worst)
}

fn compare_data(found: &Data, expected: &Data) -> (Differing, f64) {
    match (found, expected) {
        (Data::I8(f), Data::I8(e)) => exact(f, e),
        (Data::I16(f), Data::I16(e)) => exact(f, e),
        (Data::I32(f), Data::I32(e)) => exact(f, e),
        (Data::I64(f), Data::I64(e)) => exact(f, e),
        (Data::U8(f), Data::U8(e)) => exact(f, e),
        (Data::U16(f), Data::U16(e)) => exact(f, e),
        (Data::U32(f), Data::U32(e)) => exact(f, e),
        (Data::U64(f), Data::U64(e)) => exact(f, e),
        (Data::Bool(f), Data::Bool(e)) => exact(f, e),
        (Data::F16(f), Data::F16(e)) => floats(f, e),
        (Data::F32(f), Data::F32(e)) => floats(f, e),
        (Data::F64(f), Data::F64(e)) => floats(f, e),
        // Element types are compared before.
        (_, _) => (
            Differing {
                first: Some(0),
                count: 1,
            },
            f64::INFINITY,
        ),
    }
}

/// Compares result lists; the first difference with the number of the value, and the largest relative error.
pub fn compare_all(found: &[Value], expected: &[Value]) -> (Result<(), String>, f64) {
    if found.len() != expected.len() {
        let why = format!("expected {} values, found {}", expected.len(), found.len());
        return (Err(why), f64::INFINITY);
    }
    let mut worst = 0.0f64;
    let mut first = Ok(());
    for (i, (f, e)) in found.iter().zip(expected).enumerate() {
        let comparison = compare(f, e);
        worst = worst.max(comparison.relative);
        if let Some(mismatch) = comparison.mismatch
            && first.is_ok()
        {
            first = Err(if expected.len() == 1 {
                mismatch.to_string()
            } else {
                format!("value {}: {mismatch}", i + 1)
            });
        }
    }
    (first, worst)
}

#[cfg(test)]
mod tests {
    use super::*;
    use midend::value::ArrayValue;

    fn floats(xs: &[f64]) -> Value {
        Value::Array(ArrayValue {
            shape: vec![xs.len() as i64],
            data: Data::F64(xs.to_vec()),
        })
    }

    #[test]
    fn the_largest_expected_element_sets_the_tolerance() {
        let expected = floats(&[1000.0, 1.0]);
        assert!(
            compare(&floats(&[1001.9, 2.9]), &expected)
                .mismatch
                .is_none()
        );
        assert!(
            compare(&floats(&[1002.1, 1.0]), &expected)
                .mismatch
                .is_some()
        );
        let relative = compare(&floats(&[1000.0, 1.5]), &expected).relative;
        assert!(
            (relative - 0.5).abs() < 1e-12,
            "the strict error is reported beside it"
        );
    }

    #[test]
    fn special_values_are_told_apart() {
        let one = |x| floats(&[x]);
        assert!(compare(&one(f64::NAN), &one(f64::NAN)).mismatch.is_none());
        assert!(compare(&one(f64::NAN), &one(1.0)).mismatch.is_some());
        assert!(compare(&one(1.0), &one(f64::NAN)).mismatch.is_some());
        let inf = f64::INFINITY;
        assert!(compare(&one(inf), &one(inf)).mismatch.is_none());
        assert!(compare(&one(inf), &one(-inf)).mismatch.is_some());
        assert!(compare(&one(1e300), &one(inf)).mismatch.is_some());
        assert!(compare(&one(inf), &one(1e300)).mismatch.is_some());
    }

    #[test]
    fn types_and_shapes_must_agree() {
        let scalar = Value::Scalar(Const::I32(1));
        let other = Value::Scalar(Const::I64(1));
        let mismatch = compare(&scalar, &other).mismatch.map(|m| m.to_string());
        assert_eq!(
            mismatch.as_deref(),
            Some("expected a value of type i64, found type i32")
        );
        assert!(compare(&floats(&[]), &floats(&[0.0])).mismatch.is_some());
    }

    #[test]
    fn the_first_difference_is_shown_with_its_index() {
        let array = |xs: [i32; 4]| {
            Value::Array(ArrayValue {
                shape: vec![2, 2],
                data: Data::I32(xs.to_vec()),
            })
        };
        let mismatch = compare(&array([1, 2, 0, 0]), &array([1, 2, 3, 4])).mismatch;
        assert_eq!(
            mismatch.map(|m| m.to_string()).as_deref(),
            Some("expected 3i32 at [1, 0], found 0i32 (2 elements differ)")
        );
    }
}
