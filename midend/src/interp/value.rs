//! What variables hold while a program is interpreted: scalars, and views of shared typed buffers.

use super::shape::Shape;
use crate::ir::scalar::Const;
use crate::ir::types::ScalarType;
use crate::trap::RunError;
use crate::value::{ArrayValue, Data, elements};
use std::cell::{Cell, RefCell};
use std::rc::Rc;

/// The result of a step; the error is boxed, since it is rare and large.
pub(crate) type Run<T> = Result<T, Box<RunError>>;

/// What a variable holds.
#[derive(Clone, Debug)]
pub(crate) enum Val {
    /// A scalar.
    Scalar(Const),
    /// An array.
    Array(Rc<Array>),
    /// A buffer of a plan, a row of the table of the machine.
    Buffer(usize),
    /// A check that was passed.
    Cert,
    /// Nothing yet.
    Unset,
    /// Nothing any more: an array that was consumed, or is not used again.
    Gone,
}

/// A strided view of a buffer.
#[derive(Clone, Debug)]
pub(crate) struct Array {
    /// The elements, shared with other views.
    pub(crate) buf: Rc<Buf>,
    /// The place of the first element.
    pub(crate) offset: i64,
    /// The version of the buffer when the view was made. The buffer has a later one when the array was consumed.
    pub(crate) version: u32,
    /// Extents and strides, outermost first. A ragged array is a vector here.
    pub(crate) dims: Dims,
    /// The shape, if a dimension is ragged.
    pub(crate) ragged: Option<Rc<Shape>>,
    /// Whether several indices of this array, or of one that it is a part of, mean one element: it is copied before it is
    /// written.
    pub(crate) repeats: bool,
}

/// One dimension of a view.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Dim {
    /// Number of rows.
    pub(crate) extent: i64,
    /// Distance between rows, in elements.
    pub(crate) stride: i64,
}

/// The dimensions of a view; up to three without an allocation of their own, since every row of an array is a view.
#[derive(Clone, Debug)]
pub(crate) enum Dims {
    /// Up to three.
    Few(u8, [Dim; 3]),
    /// More.
    Many(Box<[Dim]>),
}

impl Dims {
    pub(crate) fn new(dims: &[Dim]) -> Self {
        if dims.len() <= 3 {
            let mut few = [Dim::default(); 3];
            few[..dims.len()].copy_from_slice(dims);
            Self::Few(dims.len() as u8, few)
        } else {
            Self::Many(dims.into())
        }
    }
}

impl std::ops::Deref for Dims {
    type Target = [Dim];
    fn deref(&self) -> &[Dim] {
        match self {
            Self::Few(n, dims) => &dims[..usize::from(*n)],
            Self::Many(dims) => dims,
        }
    }
}

/// The elements of arrays.
#[derive(Debug)]
pub(crate) struct Buf {
    /// The elements.
    pub(crate) data: RefCell<Data>,
    /// Counts the updates in place.
    pub(crate) version: Cell<u32>,
    bytes: u64,
    meter: Rc<Meter>,
}

/// Counts the bytes in use.
#[derive(Debug, Default)]
pub(crate) struct Meter {
    used: Cell<u64>,
    /// Elements made since somebody asked.
    made: Cell<u64>,
    limit: Option<u64>,
}

impl Meter {
    pub(crate) fn new(limit: Option<u64>) -> Rc<Self> {
        Rc::new(Self {
            used: Cell::new(0),
            made: Cell::new(0),
            limit,
        })
    }

    /// The number of elements made since the last call.
    pub(crate) fn take_made(&self) -> u64 {
        self.made.take()
    }

    fn out_of_memory(&self, bytes: u64) -> Box<RunError> {
        Box::new(RunError::OutOfMemory {
            bytes,
            limit: self.limit,
            trail: Vec::new(),
        })
    }

    /// Registers `data` as in use.
    pub(crate) fn own(self: &Rc<Self>, data: Data) -> Rc<Buf> {
        let bytes = (data.len() * data.elem().bytes()) as u64;
        self.used.set(self.used.get() + bytes);
        Rc::new(Buf {
            data: RefCell::new(data),
            version: Cell::new(0),
            bytes,
            meter: Rc::clone(self),
        })
    }

    /// A new array of zeros, row-major. The caller adds the position to the error. Where an extent is negative there are no elements: whoever
    /// computes the first one fails.
    pub(crate) fn alloc(self: &Rc<Self>, elem: ScalarType, shape: &[i64]) -> Run<Array> {
        let extents = shape.iter().map(|&extent| i128::from(extent.max(0)));
        let count = extents.fold(1i128, i128::saturating_mul);
        let bytes = u64::try_from(count.saturating_mul(elem.bytes() as i128)).unwrap_or(u64::MAX);
        let fits = self
            .limit
            .is_none_or(|l| bytes <= l.saturating_sub(self.used.get()));
        if !fits || bytes > isize::MAX as u64 || !can_allocate(bytes) {
            return Err(self.out_of_memory(bytes));
        }
        self.made.set(self.made.get() + count as u64);
        let buf = self.own(Data::zeros(elem, count as usize));
        Ok(Array::dense(buf, shape))
    }
}

impl Meter {
    /// A new array of zeros of a shape that may be ragged.
    pub(crate) fn alloc_shaped(self: &Rc<Self>, elem: ScalarType, shape: &Shape) -> Run<Array> {
        match shape.as_regular() {
            Some(regular) => self.alloc(elem, &regular),
            None => Ok(self.alloc(elem, &[shape.count()])?.shaped(shape.clone())),
        }
    }
}

/// Asks the allocator whether it would give so much, before a call that cannot fail is made. Small requests are not
/// worth the question.
fn can_allocate(bytes: u64) -> bool {
    bytes < 1 << 26 || Vec::<u8>::new().try_reserve_exact(bytes as usize).is_ok()
}

impl Drop for Buf {
    fn drop(&mut self) {
        self.meter.used.set(self.meter.used.get() - self.bytes);
    }
}

/// An error of the compiler itself.
pub(crate) fn internal<T>(why: impl Into<String>) -> Run<T> {
    Err(Box::new(RunError::Internal(why.into())))
}

impl Array {
    /// All of a buffer in row-major order.
    pub(crate) fn dense(buf: Rc<Buf>, shape: &[i64]) -> Self {
        let version = buf.version.get();
        Self {
            buf,
            offset: 0,
            version,
            dims: Dims::new(&dense_dims(shape)),
            ragged: None,
            repeats: false,
        }
    }

    /// An array whose rows, in all of some new outer dimensions, are this one, which nothing else shares. The caller adds the
    /// location to the error.
    pub(crate) fn repeated(self, outer: &[i64]) -> Run<Self> {
        let rows = outer.iter().map(|&extent| Dim { extent, stride: 0 });
        let dims: Vec<Dim> = rows.chain(self.dims.iter().copied()).collect();
        let extents: Vec<i64> = dims.iter().map(|d| d.extent).collect();
        let count = elements(&extents).and_then(|n| i64::try_from(n).ok());
        match count.and_then(|n| n.checked_mul(self.elem().bytes() as i64)) {
            Some(_) => Ok(Self {
                dims: Dims::new(&dims),
                repeats: true,
                ..self
            }),
            None => Err(self.buf.meter.out_of_memory(u64::MAX)),
        }
    }

    /// An array that owns the elements of `value`.
    pub(crate) fn from_value(value: ArrayValue, meter: &Rc<Meter>) -> Self {
        Self::dense(meter.own(value.data), &value.shape)
    }

    /// A vector of elements under a shape with as many points, which may be ragged.
    pub(crate) fn shaped(self, shape: Shape) -> Self {
        match shape.as_regular() {
            Some(regular) => self.view(self.offset, &dense_dims(&regular)),
            None => Self {
                ragged: Some(Rc::new(shape)),
                ..self
            },
        }
    }

    /// The number of dimensions.
    pub(crate) fn rank(&self) -> usize {
        self.ragged
            .as_ref()
            .map_or(self.dims.len(), |shape| shape.rank())
    }

    /// The elements in row-major order.
    pub(crate) fn to_value(&self) -> ArrayValue {
        let mut data = Data::zeros(self.elem(), self.count() as usize);
        let dst = dense_dims(&self.shape());
        super::strided::copy(
            &mut data,
            0,
            &dst,
            &self.buf.data.borrow(),
            self.offset,
            &self.dims,
        );
        ArrayValue {
            shape: self.shape(),
            data,
        }
    }

    pub(crate) fn elem(&self) -> ScalarType {
        self.buf.data.borrow().elem()
    }

    pub(crate) fn shape(&self) -> Vec<i64> {
        self.dims.iter().map(|d| d.extent).collect()
    }

    /// The number of elements.
    pub(crate) fn count(&self) -> i64 {
        self.dims
            .iter()
            .fold(1, |count, d| i64::saturating_mul(count, d.extent))
    }

    /// Whether the elements lie one after another in row-major order.
    pub(crate) fn is_dense(&self) -> bool {
        let mut expected = 1;
        self.count() == 0
            || self.dims.iter().rev().all(|d| {
                let ok = d.extent == 1 || d.stride == expected;
                expected *= d.extent;
                ok
            })
    }

    /// Row `i`, which is in range, as the buffer is now; an element if there is one dimension.
    pub(crate) fn row(&self, i: i64) -> Val {
        let offset = self.offset + i * self.dims[0].stride;
        if self.dims.len() == 1 {
            Val::Scalar(self.buf.data.borrow().get(offset as usize))
        } else {
            Val::Array(Rc::new(Self {
                buf: Rc::clone(&self.buf),
                offset,
                version: self.buf.version.get(),
                dims: Dims::new(&self.dims[1..]),
                ragged: None,
                repeats: self.repeats,
            }))
        }
    }

    /// The same buffer seen otherwise, as a regular array.
    pub(crate) fn view(&self, offset: i64, dims: &[Dim]) -> Self {
        Self {
            buf: Rc::clone(&self.buf),
            offset,
            version: self.version,
            dims: Dims::new(dims),
            ragged: None,
            repeats: self.repeats,
        }
    }

    /// Replaces all elements by those of `value`, which has the same shape: a scalar for no dimensions.
    pub(crate) fn write(&self, value: &Val) -> Run<()> {
        match value {
            Val::Scalar(c) if self.dims.is_empty() => {
                if c.ty() != self.elem() {
                    return internal("an element of another type is written to an array");
                }
                self.buf.data.borrow_mut().set(self.offset as usize, *c);
                Ok(())
            }
            Val::Array(source) => self.write_array(source),
            Val::Scalar(_) | Val::Buffer(_) | Val::Cert | Val::Unset | Val::Gone => {
                internal("a value of another shape is written to an array")
            }
        }
    }

    fn write_array(&self, source: &Self) -> Run<()> {
        let same_shape = self.dims.len() == source.dims.len()
            && self
                .dims
                .iter()
                .zip(&*source.dims)
                .all(|(a, b)| a.extent == b.extent);
        if !same_shape || self.elem() != source.elem() {
            return internal(format!(
                "an array of shape {:?} of {} is written to a place of shape {:?} of {}",
                source.shape(),
                source.elem(),
                self.shape(),
                self.elem()
            ));
        }
        if Rc::ptr_eq(&self.buf, &source.buf) {
            if self.offset == source.offset && *self.dims == *source.dims {
                return Ok(());
            }
            // The two may overlap, so the elements are taken out first.
            let value = source.to_value();
            let dims = dense_dims(&value.shape);
            let mut data = self.buf.data.borrow_mut();
            super::strided::copy(&mut data, self.offset, &self.dims, &value.data, 0, &dims);
            return Ok(());
        }
        let mut data = self.buf.data.borrow_mut();
        let from = source.buf.data.borrow();
        super::strided::copy(
            &mut data,
            self.offset,
            &self.dims,
            &from,
            source.offset,
            &source.dims,
        );
        Ok(())
    }

    /// Marks the array as consumed, and gives its successor.
    pub(crate) fn consumed(&self) -> Self {
        let version = self.buf.version.get().wrapping_add(1);
        self.buf.version.set(version);
        Self {
            version,
            ..self.clone()
        }
    }
}

/// Row-major strides for a shape.
pub(crate) fn dense_dims(shape: &[i64]) -> Vec<Dim> {
    let mut stride = 1;
    let mut dims: Vec<Dim> = shape
        .iter()
        .rev()
        .map(|&extent| {
            let dim = Dim { extent, stride };
            stride = i64::wrapping_mul(stride, extent);
            dim
        })
        .collect();
    dims.reverse();
    dims
}
