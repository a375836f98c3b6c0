//! Tensors of DLPack, whose structures are those of `dlpack.h`.

use crate::error::Failure;
use arrc::session::Resident;
use arrc::{Layout, Value};
use midend::device::row_major_strides;
use midend::ir::types::ScalarType;
use midend::with_data;
use std::ffi::c_void;
use std::sync::Arc;

/// `DLTensor`
#[repr(C)]
pub(crate) struct Tensor {
    data: *mut c_void,
    device_type: i32,
    device_id: i32,
    rank: i32,
    code: u8,
    bits: u8,
    lanes: u16,
    shape: *mut i64,
    strides: *mut i64,
    byte_offset: u64,
}

/// `DLManagedTensor`
#[repr(C)]
pub(crate) struct Managed {
    pub(crate) tensor: Tensor,
    context: *mut c_void,
    deleter: Option<unsafe extern "C" fn(*mut Self)>,
}

/// A tensor of somebody else, whose deleter is called when this is dropped.
pub(crate) struct Owned(pub(crate) *mut Managed);

// SAFETY: the consumer of a tensor may call its deleter on any thread.
unsafe impl Send for Owned {}
// SAFETY: nothing is done with a shared reference.
unsafe impl Sync for Owned {}

impl Drop for Owned {
    fn drop(&mut self) {
        // SAFETY: whoever gave the tensor gave it away.
        unsafe {
            if let Some(deleter) = (*self.0).deleter {
                deleter(self.0);
            }
        }
    }
}

/// The type of elements, and where they are: shape, and strides in bytes.
pub(crate) struct Elements {
    start: *const u8,
    elem: ScalarType,
    pub(crate) shape: Vec<i64>,
    strides: Vec<i64>,
}

impl Elements {
    /// What a tensor says of itself.
    ///
    /// # Safety
    /// The tensor is valid.
    pub(crate) unsafe fn of(tensor: &Tensor) -> Result<Self, Failure> {
        const CPU: i32 = 1;
        if tensor.device_type != CPU {
            return Err(Failure::argument("a tensor must be in memory of the host"));
        }
        let elem = element_type(tensor).ok_or_else(|| {
            let Tensor {
                code, bits, lanes, ..
            } = tensor;
            Failure::argument(&format!(
                "there is no type of code {code} with {bits} bits and {lanes} lanes"
            ))
        })?;
        let rank = usize::try_from(tensor.rank).unwrap_or(0);
        let size = i64::try_from(elem.bytes()).unwrap_or(1);
        let list = |start: *const i64| match rank {
            0 => Vec::new(),
            // SAFETY: there are so many, as the caller promises.
            rank => unsafe { std::slice::from_raw_parts(start, rank) }.to_vec(),
        };
        let shape = list(tensor.shape);
        let strides = match tensor.strides.is_null() {
            true => row_major_strides(&shape),
            false => list(tensor.strides),
        };
        let offset = usize::try_from(tensor.byte_offset).unwrap_or(0);
        Ok(Self {
            start: tensor.data.cast_const().cast::<u8>().wrapping_add(offset),
            elem,
            shape,
            strides: strides
                .iter()
                .map(|stride| stride.saturating_mul(size))
                .collect(),
        })
    }

    pub(crate) fn layout(&self) -> Layout<'_> {
        Layout {
            start: self.start,
            elem: self.elem,
            shape: &self.shape,
            strides: &self.strides,
        }
    }

    /// The same with bytes instead of truth values, to test them; nothing for other elements.
    pub(crate) fn bytes(&self) -> Option<Layout<'_>> {
        let elem = ScalarType::U8;
        (self.elem == ScalarType::Bool).then_some(Layout {
            elem,
            ..self.layout()
        })
    }
}

fn element_type(tensor: &Tensor) -> Option<ScalarType> {
    let all = ScalarType::ALL.into_iter();
    let is_it = |ty: &ScalarType| {
        let bits = 8 * ty.bytes();
        tensor.lanes == 1 && tensor.code == code(*ty) && usize::from(tensor.bits) == bits
    };
    { all }.find(is_it)
}

const fn code(elem: ScalarType) -> u8 {
    match elem {
        ScalarType::I8 | ScalarType::I16 | ScalarType::I32 | ScalarType::I64 => 0,
        ScalarType::U8 | ScalarType::U16 | ScalarType::U32 | ScalarType::U64 => 1,
        ScalarType::F16 | ScalarType::F32 | ScalarType::F64 => 2,
        ScalarType::Bool => 6,
    }
}

/// What an exported tensor refers to.
struct Context {
    _resident: Resident,
    /// The elements that were brought from a GPU, or a scalar as an array.
    _copied: Option<Arc<Value>>,
    shape: Vec<i64>,
    strides: Vec<i64>,
}

/// # Safety
/// The tensor was made by [`export`], and nobody uses it any more.
unsafe extern "C" fn delete(managed: *mut Managed) {
    // SAFETY: both were boxes.
    unsafe {
        let managed = Box::from_raw(managed);
        drop(Box::from_raw(managed.context.cast::<Context>()));
    }
}

/// A tensor of elements at `start`, which `resident` or `copied` keeps.
pub(crate) fn export(
    resident: Resident,
    copied: Option<Arc<Value>>,
    start: *const u8,
) -> *mut Managed {
    let (elem, shape) = (resident.elem(), resident.shape().to_vec());
    let mut context = Box::new(Context {
        strides: row_major_strides(&shape),
        shape,
        _resident: resident,
        _copied: copied,
    });
    let tensor = Tensor {
        data: start.cast_mut().cast(),
        device_type: 1,
        device_id: 0,
        rank: i32::try_from(context.shape.len()).unwrap_or(0),
        code: code(elem),
        bits: u8::try_from(8 * elem.bytes()).unwrap_or(64),
        lanes: 1,
        shape: context.shape.as_mut_ptr(),
        strides: context.strides.as_mut_ptr(),
        byte_offset: 0,
    };
    Box::into_raw(Box::new(Managed {
        tensor,
        context: Box::into_raw(context).cast(),
        deleter: Some(delete),
    }))
}

/// The first element of a value on the host.
pub(crate) fn start(value: &Value) -> *const u8 {
    match value {
        Value::Array(array) => with_data!(&array.data, v => v.as_ptr().cast()),
        Value::Scalar(_) => std::ptr::null(),
    }
}
