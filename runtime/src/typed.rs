//! Calls with Rust's own types: numbers, vectors, and arrays of a known number of dimensions.
//!
//! ```
//! use arrc::session::{Options, Session};
//! use arrc::typed::Array;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let session = Session::new(Options::default())?;
//! let program = session.compile("sums.fut", "def main [n][m] (k: f32) (xss: [n][m]f32) = (map f32.sum xss, k * 2)")?;
//! let matrix = Array::new([2, 3], vec![1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0])?;
//! let (sums, twice): (Vec<f32>, f32) = program.run("main", (1.5f32, matrix))?;
//! assert_eq!((sums, twice), (vec![6.0, 15.0], 3.0));
//! # Ok(())
//! # }
//! ```
//!
//! Arguments and results are the leaves of the entry point's parameters and results, in order: a parameter that is a record of
//! three numbers is three arguments. The elements of arrays that are given to the CPU are taken over, not copied, and come back in the
//! same vector where the program updates them in place or gives them back; those of other results are copied once.

use crate::data::{Leaf, leaves};
use crate::session::Program;
use half::f16;
use midend::ir::scalar::Const;
use midend::ir::types::ScalarType;
use midend::trap::RunError;
use midend::value::{ArrayValue, Data, Value};
use std::fmt;

/// A type of numbers or truth values that both Rust and the language have.
pub trait Element: Copy + Sized {
    /// Its name in the language.
    const TYPE: ScalarType;
    /// A value of it.
    fn constant(self) -> Const;
    /// What a value is, if it is of this type.
    fn from_constant(constant: Const) -> Option<Self>;
    /// Elements of it.
    fn data(elements: Vec<Self>) -> Data;
    /// What elements are, if they are of this type.
    fn from_data(data: Data) -> Option<Vec<Self>>;
}

macro_rules! elements {
    ($($rust:ty, $name:ident, $to:expr, $from:expr;)*) => {
        $(impl Element for $rust {
            const TYPE: ScalarType = ScalarType::$name;
            fn constant(self) -> Const {
                let to: fn($rust) -> _ = $to;
                Const::$name(to(self))
            }
            fn from_constant(constant: Const) -> Option<Self> {
                let from: fn(_) -> $rust = $from;
                if let Const::$name(x) = constant { Some(from(x)) } else { None }
            }
            fn data(elements: Vec<Self>) -> Data {
                Data::$name(elements)
            }
            fn from_data(data: Data) -> Option<Vec<Self>> {
                if let Data::$name(elements) = data { Some(elements) } else { None }
            }
        })*
    };
}

elements! {
    i8, I8, |x| x, |x| x;
    i16, I16, |x| x, |x| x;
    i32, I32, |x| x, |x| x;
    i64, I64, |x| x, |x| x;
    u8, U8, |x| x, |x| x;
    u16, U16, |x| x, |x| x;
    u32, U32, |x| x, |x| x;
    u64, U64, |x| x, |x| x;
    f16, F16, f16::to_bits, f16::from_bits;
    f32, F32, f32::to_bits, f32::from_bits;
    f64, F64, f64::to_bits, f64::from_bits;
    bool, Bool, |x| x, |x| x;
}

/// An array of `RANK` dimensions, in row-major order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Array<T, const RANK: usize> {
    shape: [usize; RANK],
    elements: Vec<T>,
}

/// A shape that does not fit the number of elements.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShapeError {
    shape: Vec<usize>,
    elements: usize,
}

impl fmt::Display for ShapeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { shape, elements } = self;
        write!(f, "{elements} elements are no array of shape {shape:?}")
    }
}

impl std::error::Error for ShapeError {}

impl<T, const RANK: usize> Array<T, RANK> {
    /// An array of these elements.
    pub fn new(shape: [usize; RANK], elements: Vec<T>) -> Result<Self, ShapeError> {
        let count = shape.iter().try_fold(1usize, |n, d| n.checked_mul(*d));
        if RANK == 0 || count != Some(elements.len()) {
            return Err(ShapeError {
                shape: shape.to_vec(),
                elements: elements.len(),
            });
        }
        Ok(Self { shape, elements })
    }
    /// The extents, outermost first.
    pub fn shape(&self) -> [usize; RANK] {
        self.shape
    }
    /// The elements.
    pub fn elements(&self) -> &[T] {
        &self.elements
    }
    /// The elements, without a copy.
    pub fn into_elements(self) -> Vec<T> {
        self.elements
    }
}

/// What can be an argument.
pub trait Argument {
    /// The value of the language.
    fn into_value(self) -> Value;
}

/// What can be a result.
pub trait Outcome: Sized {
    /// The type in the language.
    fn leaf() -> Leaf;
    /// What a value is, if it is of this type.
    fn from_value(value: Value) -> Option<Self>;
}

impl<T: Element> Argument for T {
    fn into_value(self) -> Value {
        Value::Scalar(self.constant())
    }
}

impl<T: Element> Outcome for T {
    fn leaf() -> Leaf {
        Leaf {
            rank: 0,
            elem: T::TYPE,
        }
    }
    fn from_value(value: Value) -> Option<Self> {
        match value {
            Value::Scalar(constant) => T::from_constant(constant),
            Value::Array(_) => None,
        }
    }
}

impl<T: Element, const RANK: usize> Argument for Array<T, RANK> {
    fn into_value(self) -> Value {
        // No array has more elements than an i64 counts.
        let shape = self
            .shape
            .iter()
            .map(|n| i64::try_from(*n).unwrap_or(i64::MAX));
        Value::Array(ArrayValue {
            shape: shape.collect(),
            data: T::data(self.elements),
        })
    }
}

impl<T: Element, const RANK: usize> Outcome for Array<T, RANK> {
    fn leaf() -> Leaf {
        Leaf {
            rank: RANK,
            elem: T::TYPE,
        }
    }
    fn from_value(value: Value) -> Option<Self> {
        let Value::Array(array) = value else {
            return None;
        };
        let shape = array.shape.iter().map(|n| usize::try_from(*n).ok());
        let shape: Vec<usize> = shape.collect::<Option<_>>()?;
        Self::new(shape.try_into().ok()?, T::from_data(array.data)?).ok()
    }
}

impl<T: Element> Argument for Vec<T> {
    fn into_value(self) -> Value {
        let shape = [self.len()];
        Array {
            shape,
            elements: self,
        }
        .into_value()
    }
}

impl<T: Element> Outcome for Vec<T> {
    fn leaf() -> Leaf {
        Array::<T, 1>::leaf()
    }
    fn from_value(value: Value) -> Option<Self> {
        Array::<T, 1>::from_value(value).map(Array::into_elements)
    }
}

/// All arguments of a call: a tuple, also of one or none.
pub trait Arguments {
    /// Their values.
    fn into_values(self) -> Vec<Value>;
}

/// All results of a call: one, or a tuple.
pub trait Results: Sized {
    /// Their types in the language.
    fn leaves() -> Vec<Leaf>;
    /// What values are, if they are of these types.
    fn from_values(values: Vec<Value>) -> Option<Self>;
}

impl Arguments for () {
    fn into_values(self) -> Vec<Value> {
        Vec::new()
    }
}

impl<T: Outcome> Results for T {
    fn leaves() -> Vec<Leaf> {
        vec![T::leaf()]
    }
    fn from_values(values: Vec<Value>) -> Option<Self> {
        let [value] = <[Value; 1]>::try_from(values).ok()?;
        T::from_value(value)
    }
}

macro_rules! tuples {
    ($($name:ident)+) => {
        impl<$($name: Argument),+> Arguments for ($($name,)+) {
            #[expect(non_snake_case, reason = "a variable for each type")]
            fn into_values(self) -> Vec<Value> {
                let ($($name,)+) = self;
                vec![$($name.into_value()),+]
            }
        }
        impl<$($name: Outcome),+> Results for ($($name,)+) {
            fn leaves() -> Vec<Leaf> {
                vec![$($name::leaf()),+]
            }
            fn from_values(values: Vec<Value>) -> Option<Self> {
                let mut values = values.into_iter();
                let all = ($($name::from_value(values.next()?)?,)+);
                values.next().is_none().then_some(all)
            }
        }
    };
}

tuples!(A);
tuples!(A B);
tuples!(A B C);
tuples!(A B C D);
tuples!(A B C D E);
tuples!(A B C D E F);
tuples!(A B C D E F G);
tuples!(A B C D E F G H);

impl Program {
    /// Calls an entry point. Types that are not those of the entry point are [`RunError::BadArguments`], before anything runs.
    pub fn run<R: Results>(&self, entry: &str, args: impl Arguments) -> Result<R, RunError> {
        let types = |leaves: &[Leaf]| {
            let names: Vec<_> = leaves.iter().map(Leaf::to_string).collect();
            names.join(", ")
        };
        let mut asked = Vec::new();
        if let Some(entry) = self.entry(entry) {
            let given: Vec<Leaf> = entry.results.iter().flat_map(leaves).collect();
            asked = R::leaves();
            if given != asked {
                return Err(RunError::BadArguments(format!(
                    "entry point `{}` gives ({}), and ({}) is asked for",
                    entry.name,
                    types(&given),
                    types(&asked)
                )));
            }
        }
        let results = self.call(entry, args.into_values())?;
        R::from_values(results).ok_or_else(|| {
            let why = format!("`{entry}` did not give ({})", types(&asked));
            RunError::Internal(why)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::{Options, Session};
    use crate::target::Target;

    const PROGRAM: &str = "
entry same8 (a: i8) (b: u16) (c: f16) (d: bool) (e: u64) (f: f64) (g: i16) (h: u32) = (a, b, c, d, e, f, g, h)
entry turned [n][m][k] (xs: [n][m][k]i64) = map transpose xs
entry nothing = 5u8
entry sum (r: {x: i32, ys: []i32}) = r.x + i32.sum r.ys
";

    fn program() -> Program {
        let options = Options {
            target: Target::Interp,
            ..Options::default()
        };
        let session = Session::new(options).expect("the interpreter is always there");
        session.compile("typed.fut", PROGRAM).expect("it is right")
    }

    #[test]
    fn values_of_all_types_go_in_and_out() {
        let half = f16::from_f32(0.5);
        let all = (-1i8, 2u16, half, true, u64::MAX, 0.1f64, -7i16, 9u32);
        let found = program().run::<(i8, u16, f16, bool, u64, f64, i16, u32)>("same8", all);
        assert_eq!(found, Ok(all));
        assert_eq!(program().run("nothing", ()), Ok(5u8));
        assert_eq!(program().run("sum", (1i32, vec![2i32, 3])), Ok(6i32));
    }

    #[test]
    fn vectors_go_in_and_out_without_a_copy() {
        let options = Options {
            target: Target::Cpu,
            ..Options::default()
        };
        let session = Session::new(options).expect("a session");
        let text = "
entry update (xs: *[]f32) (i: i64) (x: f32) = xs with [i] = x
entry both (xs: []f32) = (xs, xs)
entry part (xs: []f32) = take 1 xs
";
        let program = session.compile("update.fut", text).expect("it is right");
        let xs = vec![1.0f32; 10_000];
        let place = xs.as_ptr();
        let ys: Vec<f32> = program.run("update", (xs, 7i64, 2.0f32)).expect("it runs");
        assert_eq!((ys.as_ptr(), ys[6], ys[7]), (place, 1.0, 2.0));
        // Two results are two vectors, and a part is one of its own.
        let (a, b): (Vec<f32>, Vec<f32>) = program.run("both", (ys,)).expect("it runs");
        assert_ne!(a.as_ptr(), b.as_ptr());
        assert_eq!((a.len(), &a), (10_000, &b));
        let first: Vec<f32> = program.run("part", (a,)).expect("it runs");
        assert_eq!(first, [1.0]);
    }

    #[test]
    fn arrays_keep_their_shapes() {
        let array = Array::new([1, 2, 3], vec![1i64, 2, 3, 4, 5, 6]).expect("it fits");
        let turned: Array<i64, 3> = program().run("turned", (array,)).expect("it runs");
        assert_eq!(turned.shape(), [1, 3, 2]);
        assert_eq!(turned.into_elements(), [1, 4, 2, 5, 3, 6]);
        let empty = Array::new([2, 0, 3], Vec::<i64>::new()).expect("it fits");
        let turned: Array<i64, 3> = program().run("turned", (empty,)).expect("it runs");
        assert_eq!(turned.shape(), [2, 3, 0]);
        let wrong = Array::new([2, 2], vec![1i64]).expect_err("it does not fit");
        assert_eq!(wrong.to_string(), "1 elements are no array of shape [2, 2]");
        assert!(Array::new([usize::MAX, 2], vec![1i64]).is_err());
    }

    #[test]
    fn wrong_types_are_told_before_anything_runs() {
        let program = program();
        let result = program.run::<(i32, Vec<f32>)>("nothing", ());
        let why = "entry point `nothing` gives (u8), and (i32, []f32) is asked for";
        assert_eq!(result, Err(RunError::BadArguments(why.to_owned())));
        let bad = |result: Result<i32, RunError>| {
            assert!(
                matches!(result, Err(RunError::BadArguments(_))),
                "{result:?}"
            );
        };
        bad(program.run("sum", (1i64, vec![2i32])));
        bad(program.run("sum", (1i32,)));
        bad(program.run("unknown", ()));
    }
}
