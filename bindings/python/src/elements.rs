//! Numbers and arrays as Python has them.

use arrc::{Adopted, Layout, adopt};
use half::f16;
use midend::device::row_major_strides;
use midend::ir::scalar::Const;
use midend::ir::types::ScalarType;
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict};
use std::any::Any;
use std::ffi::{c_char, c_int};

/// The constant of a type that a Python number is.
pub(crate) fn constant(elem: ScalarType, value: &Bound<'_, PyAny>) -> PyResult<Const> {
    Ok(match elem {
        ScalarType::I8 => Const::I8(value.extract()?),
        ScalarType::I16 => Const::I16(value.extract()?),
        ScalarType::I32 => Const::I32(value.extract()?),
        ScalarType::I64 => Const::I64(value.extract()?),
        ScalarType::U8 => Const::U8(value.extract()?),
        ScalarType::U16 => Const::U16(value.extract()?),
        ScalarType::U32 => Const::U32(value.extract()?),
        ScalarType::U64 => Const::U64(value.extract()?),
        ScalarType::F16 => Const::F16(f16::from_f64(value.extract()?).to_bits()),
        #[expect(clippy::cast_possible_truncation, reason = "rounded to the nearest")]
        ScalarType::F32 => Const::f32(value.extract::<f64>()? as f32),
        ScalarType::F64 => Const::f64(value.extract()?),
        ScalarType::Bool => Const::Bool(value.extract()?),
    })
}

/// A constant as a Python number.
pub(crate) fn number(py: Python<'_>, constant: Const) -> PyResult<Py<PyAny>> {
    use crate::errors::any;
    match constant {
        Const::I8(x) => any(py, x),
        Const::I16(x) => any(py, x),
        Const::I32(x) => any(py, x),
        Const::I64(x) => any(py, x),
        Const::U8(x) => any(py, x),
        Const::U16(x) => any(py, x),
        Const::U32(x) => any(py, x),
        Const::U64(x) => any(py, x),
        Const::F16(bits) => any(py, f16::from_bits(bits).to_f64()),
        Const::F32(bits) => any(py, f32::from_bits(bits)),
        Const::F64(bits) => any(py, f64::from_bits(bits)),
        Const::Bool(x) => any(py, x),
    }
}

/// How NumPy writes a type, in the byte order of this computer.
pub(crate) const fn type_text(elem: ScalarType) -> &'static str {
    match elem {
        ScalarType::I8 => "|i1",
        ScalarType::I16 => "<i2",
        ScalarType::I32 => "<i4",
        ScalarType::I64 => "<i8",
        ScalarType::U8 => "|u1",
        ScalarType::U16 => "<u2",
        ScalarType::U32 => "<u4",
        ScalarType::U64 => "<u8",
        ScalarType::F16 => "<f2",
        ScalarType::F32 => "<f4",
        ScalarType::F64 => "<f8",
        ScalarType::Bool => "|b1",
    }
}

/// An array of somebody else.
pub(crate) struct Given {
    start: *const u8,
    elem: ScalarType,
    shape: Vec<i64>,
    strides: Vec<i64>,
    is_read_only: bool,
    owner: Box<dyn Any + Send + Sync>,
}

/// `PyArrayInterface`: what the capsule `__array_struct__` holds.
#[repr(C)]
struct ArrayStruct {
    two: c_int,
    rank: c_int,
    kind: c_char,
    item_size: c_int,
    flags: c_int,
    shape: *const isize,
    strides: *const isize,
    data: *const u8,
}

const NATIVE_ORDER: c_int = 0x200;
const WRITEABLE: c_int = 0x400;

impl Given {
    /// The array, if it says where it is and its elements are of this type; not if they are truth values that are not side by side.
    pub(crate) fn of(array: &Bound<'_, PyAny>, elem: ScalarType) -> PyResult<Option<Self>> {
        let found = match Self::of_struct(array, elem)? {
            Some(found) => found,
            None => Self::of_interface(array, elem)?,
        };
        // Bytes are tested before they are read as truth values, which takes them to be side by side.
        Ok(found.filter(|given| {
            elem != ScalarType::Bool || given.strides == contiguous(&given.shape, elem)
        }))
    }

    /// By `__array_struct__`, which arrays of NumPy make several times faster than the other; nothing if there is none.
    fn of_struct(array: &Bound<'_, PyAny>, elem: ScalarType) -> PyResult<Option<Option<Self>>> {
        let name = pyo3::intern!(array.py(), "__array_struct__");
        let Some(capsule) = array.getattr_opt(name)? else {
            return Ok(None);
        };
        let Ok(held) = capsule.cast::<PyCapsule>() else {
            return Ok(None);
        };
        let pointer = held.pointer_checked(None)?.cast::<ArrayStruct>();
        // SAFETY: the protocol says that the capsule holds this structure.
        let array = unsafe { pointer.as_ref() };
        let kind = match elem {
            ScalarType::I8 | ScalarType::I16 | ScalarType::I32 | ScalarType::I64 => b'i',
            ScalarType::U8 | ScalarType::U16 | ScalarType::U32 | ScalarType::U64 => b'u',
            ScalarType::F16 | ScalarType::F32 | ScalarType::F64 => b'f',
            ScalarType::Bool => b'b',
        };
        let is_it = array.two == 2
            && array.kind as u8 == kind
            && usize::try_from(array.item_size) == Ok(elem.bytes())
            && array.flags & NATIVE_ORDER != 0;
        if !is_it {
            return Ok(Some(None));
        }
        let rank = usize::try_from(array.rank).unwrap_or(0);
        let list = |start: *const isize| -> Vec<i64> {
            // SAFETY: there are as many as dimensions.
            let all = (0..rank).map(|i| unsafe { start.add(i).read() });
            all.map(|n| n as i64).collect()
        };
        let shape = list(array.shape);
        let strides = match array.strides.is_null() {
            true => contiguous(&shape, elem),
            false => list(array.strides),
        };
        Ok(Some(Some(Self {
            start: array.data,
            elem,
            shape,
            strides,
            is_read_only: array.flags & WRITEABLE == 0,
            owner: Box::new(capsule.unbind()),
        })))
    }

    /// By `__array_interface__`.
    fn of_interface(array: &Bound<'_, PyAny>, elem: ScalarType) -> PyResult<Option<Self>> {
        let py = array.py();
        let interface = pyo3::intern!(py, "__array_interface__");
        let Some(interface) = array.getattr_opt(interface)? else {
            return Ok(None);
        };
        let interface = interface.cast::<PyDict>()?;
        let field = |name| interface.get_item(name);
        let Some(text) = field(pyo3::intern!(py, "typestr"))? else {
            return Ok(None);
        };
        if text.extract::<&str>()? != type_text(elem) {
            return Ok(None);
        }
        let (Some(shape), Some(data)) = (
            field(pyo3::intern!(py, "shape"))?,
            field(pyo3::intern!(py, "data"))?,
        ) else {
            return Ok(None);
        };
        let shape: Vec<i64> = shape.extract()?;
        // The alternative is an object with a buffer.
        let Ok((address, is_read_only)) = data.extract::<(usize, bool)>() else {
            return Ok(None);
        };
        let strides = field(pyo3::intern!(py, "strides"))?;
        let strides = match strides.filter(|strides| !strides.is_none()) {
            Some(strides) => strides.extract()?,
            None => contiguous(&shape, elem),
        };
        Ok(Some(Self {
            start: std::ptr::with_exposed_provenance(address),
            elem,
            shape,
            strides,
            is_read_only,
            owner: Box::new(array.clone().unbind()),
        }))
    }

    /// The elements, without a copy if they are side by side, and their shape; nothing if there are more than memory can hold, or if truth
    /// values are others than 0 and 1. Nothing is written to them unless they are given away.
    ///
    /// # Safety
    /// What the array says of itself is so, and nobody writes to it while an entry point is called. Nobody uses it any more if it is given
    /// away.
    pub(crate) unsafe fn adopt(self, is_given: bool) -> Result<(Vec<i64>, Adopted), &'static str> {
        let layout = Layout {
            start: self.start,
            elem: self.elem,
            shape: &self.shape,
            strides: &self.strides,
        };
        // SAFETY: the owner keeps the elements as long as it is there; the rest was promised.
        let adopted = unsafe { adopt(layout, !is_given || self.is_read_only, self.owner) };
        let adopted = adopted.ok_or("the array is larger than memory can be")?;
        if let Adopted::Borrowed(foreign) = &adopted
            && self.elem == ScalarType::Bool
        {
            // SAFETY: they are side by side.
            let bytes = unsafe { std::slice::from_raw_parts(self.start, foreign.len()) };
            if bytes.iter().fold(0, |all, byte| all | byte) > 1 {
                return Err("the bytes of truth values must be 0 or 1");
            }
        }
        Ok((self.shape, adopted))
    }
}

/// Where the elements of an array are that says so.
pub(crate) fn address(array: &Bound<'_, PyAny>) -> PyResult<*const u8> {
    let interface = array.getattr(pyo3::intern!(array.py(), "__array_interface__"))?;
    let data = interface.get_item(pyo3::intern!(array.py(), "data"))?;
    let (address, _): (usize, bool) = data.extract()?;
    Ok(std::ptr::with_exposed_provenance(address))
}

/// The strides, in bytes, of a contiguous array in row-major order.
fn contiguous(shape: &[i64], elem: ScalarType) -> Vec<i64> {
    let bytes = i64::try_from(elem.bytes()).unwrap_or(1);
    let strides = row_major_strides(shape).into_iter();
    strides.map(|stride| stride.saturating_mul(bytes)).collect()
}
