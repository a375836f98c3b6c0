//! Types of the intermediate languages: scalars, arrays with explicit sizes, accumulators, buffers, certificates.

use super::id::Var;

/// The type of a number or truth value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ScalarType {
    /// Signed 8-bit integer.
    I8,
    /// Signed 16-bit integer.
    I16,
    /// Signed 32-bit integer.
    I32,
    /// Signed 64-bit integer, the type of sizes and indices.
    I64,
    /// Unsigned 8-bit integer.
    U8,
    /// Unsigned 16-bit integer.
    U16,
    /// Unsigned 32-bit integer.
    U32,
    /// Unsigned 64-bit integer.
    U64,
    /// IEEE 754 binary16.
    F16,
    /// IEEE 754 binary32.
    F32,
    /// IEEE 754 binary64.
    F64,
    /// Truth value; one byte in memory, 0 or 1.
    Bool,
}

/// The extent of one dimension: a constant or an `i64` variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Size {
    /// Known when compiling.
    Const(i64),
    /// Known when running.
    Var(Var),
}

/// One dimension of an array type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Dim {
    /// All rows have this extent.
    Size(Size),
    /// Rows differ in length; the variable is the vector of offsets: as many entries as there are rows, and one more,
    /// the first zero, none less than the one before. Rows are numbered over all dimensions outside, row-major; element
    /// (i, j) of `[n][..offsets]t` is the one at `offsets[i] + j` of the elements in order. Two arrays agree in shape
    /// exactly when they name the same variable.
    Ragged(Var),
}

/// An array of scalars; the shape has at least one dimension and the outermost one is never ragged.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ArrayType {
    /// What the array holds.
    pub elem: ScalarType,
    /// Extents, outermost first.
    pub shape: Vec<Dim>,
}

/// An accumulator: the right to update an array that nobody may read until all updates are done.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct AccType {
    /// Which accumulation it belongs to: the certificate that this binds. Accumulators of different ones never mix.
    pub token: Var,
    /// Which of the arrays of that accumulation is updated.
    pub part: usize,
    /// The type of this array.
    pub array: ArrayType,
}

/// The type of a variable.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Type {
    /// One number or truth value.
    Scalar(ScalarType),
    /// An array (nested and flat dialects).
    Array(ArrayType),
    /// An array that can only be updated (nested and flat dialects).
    Acc(AccType),
    /// A one-dimensional piece of memory (plans).
    Buffer(ScalarType),
    /// The proof that an `assert` was passed.
    Cert,
}

impl ScalarType {
    /// All scalar types.
    pub const ALL: [Self; 12] = [
        Self::I8,
        Self::I16,
        Self::I32,
        Self::I64,
        Self::U8,
        Self::U16,
        Self::U32,
        Self::U64,
        Self::F16,
        Self::F32,
        Self::F64,
        Self::Bool,
    ];

    /// The name in source and text forms, such as `i32`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::I8 => "i8",
            Self::I16 => "i16",
            Self::I32 => "i32",
            Self::I64 => "i64",
            Self::U8 => "u8",
            Self::U16 => "u16",
            Self::U32 => "u32",
            Self::U64 => "u64",
            Self::F16 => "f16",
            Self::F32 => "f32",
            Self::F64 => "f64",
            Self::Bool => "bool",
        }
    }
    /// The type with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|ty| ty.name() == name)
    }
    /// Bytes of one element in memory.
    pub const fn bytes(self) -> usize {
        match self {
            Self::I8 | Self::U8 | Self::Bool => 1,
            Self::I16 | Self::U16 | Self::F16 => 2,
            Self::I32 | Self::U32 | Self::F32 => 4,
            Self::I64 | Self::U64 | Self::F64 => 8,
        }
    }
    /// Whether the type is a floating-point type.
    pub const fn is_float(self) -> bool {
        matches!(self, Self::F16 | Self::F32 | Self::F64)
    }
    /// Whether the type is a signed integer type.
    pub const fn is_signed(self) -> bool {
        matches!(self, Self::I8 | Self::I16 | Self::I32 | Self::I64)
    }
    /// Whether the type is an unsigned integer type.
    pub const fn is_unsigned(self) -> bool {
        matches!(self, Self::U8 | Self::U16 | Self::U32 | Self::U64)
    }
    /// Whether the type is an integer type.
    pub const fn is_integer(self) -> bool {
        self.is_signed() || self.is_unsigned()
    }
}

impl std::fmt::Display for ScalarType {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

impl Dim {
    /// The extent, unless the dimension is ragged.
    pub const fn size(self) -> Option<Size> {
        match self {
            Self::Size(size) => Some(size),
            Self::Ragged(_) => None,
        }
    }
    /// The offsets of a ragged dimension.
    pub const fn offsets(&self) -> Option<Var> {
        match self {
            Self::Size(_) => None,
            Self::Ragged(offsets) => Some(*offsets),
        }
    }
    /// The variable that the dimension names, if any.
    pub const fn var(self) -> Option<Var> {
        match self {
            Self::Size(Size::Var(v)) | Self::Ragged(v) => Some(v),
            Self::Size(Size::Const(_)) => None,
        }
    }
}

impl ArrayType {
    /// An array with regular dimensions.
    pub fn regular(elem: ScalarType, shape: impl IntoIterator<Item = Size>) -> Self {
        Self {
            elem,
            shape: shape.into_iter().map(Dim::Size).collect(),
        }
    }
    /// The number of dimensions.
    pub fn rank(&self) -> usize {
        self.shape.len()
    }
    /// Whether a dimension is ragged.
    pub fn is_ragged(&self) -> bool {
        is_ragged(&self.shape)
    }
}

/// Whether one of the dimensions is ragged.
pub fn is_ragged(shape: &[Dim]) -> bool {
    shape.iter().any(|dim| matches!(dim, Dim::Ragged(_)))
}

impl From<Size> for Dim {
    fn from(size: Size) -> Self {
        Self::Size(size)
    }
}

impl Type {
    /// The type of sizes and indices.
    pub const I64: Self = Self::Scalar(ScalarType::I64);
    /// The type of truth values.
    pub const BOOL: Self = Self::Scalar(ScalarType::Bool);

    /// An array of `elem` with the given regular outer dimensions around it; `elem` itself for no dimensions.
    pub fn array_of(elem: &Self, outer: &[Size]) -> Self {
        let dims: Vec<Dim> = outer.iter().copied().map(Dim::Size).collect();
        Self::shaped(elem, &dims)
    }
    /// An array of `elem` with the given outer dimensions around it; `elem` itself for no dimensions.
    pub fn shaped(elem: &Self, outer: &[Dim]) -> Self {
        let dims = outer.iter().copied();
        match elem {
            _ if outer.is_empty() => elem.clone(),
            Self::Scalar(s) => Self::Array(ArrayType {
                elem: *s,
                shape: dims.collect(),
            }),
            Self::Array(a) => Self::Array(ArrayType {
                elem: a.elem,
                shape: dims.chain(a.shape.iter().copied()).collect(),
            }),
            Self::Acc(_) | Self::Buffer(_) | Self::Cert => elem.clone(),
        }
    }
    /// The type of an element after indexing away the `n` outermost dimensions; nothing if there are fewer.
    pub fn peel(&self, n: usize) -> Option<Self> {
        match self {
            _ if n == 0 => Some(self.clone()),
            Self::Array(a) if a.rank() == n => Some(Self::Scalar(a.elem)),
            Self::Array(a) if a.rank() > n => Some(Self::Array(ArrayType {
                elem: a.elem,
                shape: a.shape[n..].to_vec(),
            })),
            Self::Array(_) | Self::Scalar(_) | Self::Acc(_) | Self::Buffer(_) | Self::Cert => None,
        }
    }
    /// The shape of an array, or of the array that an accumulator updates; empty for anything else.
    pub fn shape(&self) -> &[Dim] {
        match self {
            Self::Array(array) | Self::Acc(AccType { array, .. }) => &array.shape,
            Self::Scalar(_) | Self::Buffer(_) | Self::Cert => &[],
        }
    }
    /// The number of elements, 1 of a scalar, if it is a constant.
    pub fn known_elements(&self) -> Option<i64> {
        self.shape()
            .iter()
            .try_fold(1_i64, |product, dim| match dim.size()? {
                Size::Const(n) => product.checked_mul(n),
                Size::Var(_) => None,
            })
    }
    /// The number of dimensions of the shape.
    pub fn rank(&self) -> usize {
        self.shape().len()
    }
    /// The scalar type that the value is made of; nothing for a certificate.
    pub const fn elem(&self) -> Option<ScalarType> {
        match self {
            Self::Scalar(s) | Self::Buffer(s) => Some(*s),
            Self::Array(array) | Self::Acc(AccType { array, .. }) => Some(array.elem),
            Self::Cert => None,
        }
    }
    /// Whether the type is an array type.
    pub const fn is_array(&self) -> bool {
        matches!(self, Self::Array(_))
    }
    /// Whether the type is an accumulator type.
    pub const fn is_acc(&self) -> bool {
        matches!(self, Self::Acc(_))
    }
    /// Whether values of the type are consumed by updating them in place.
    pub const fn is_consumable(&self) -> bool {
        self.is_array() || self.is_acc()
    }
}
