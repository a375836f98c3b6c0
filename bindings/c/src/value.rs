//! Values: from tensors and to tensors.

use crate::error::{Failure, guarded};
use crate::tensor::{Elements, Managed, Owned, Tensor, export, start};
use crate::{CSession, CValue};
use arrc::session::{HostArray, Resident};
use arrc::{Adopted, ArrayValue, Data, RunError, Value, adopt};
use std::any::Any;
use std::sync::Arc;

/// A value from a tensor, whose `owner` is kept as long as its elements are used.
///
/// # Safety
/// The elements are there as long as the owner, and nobody writes to them; nobody else uses them if they may be changed.
unsafe fn put(
    session: &CSession,
    elements: &Elements,
    is_read_only: bool,
    owner: Box<dyn Any + Send + Sync>,
) -> Result<*mut CValue, Failure> {
    let too_large = || Failure::argument("the shape of a tensor is none");
    if let Some(bytes) = elements.bytes() {
        // SAFETY: promised by the caller.
        let bytes = unsafe { adopt(bytes, true, Box::new(())) }.ok_or_else(too_large)?;
        let data = match bytes {
            Adopted::Borrowed(foreign) => foreign.to_data(),
            Adopted::Copied(data) => data,
        };
        if matches!(&data, Data::U8(bytes) if bytes.iter().any(|byte| *byte > 1)) {
            return Err(Failure::argument(
                "the bytes of truth values must be 0 or 1",
            ));
        }
    }
    // SAFETY: promised by the caller.
    let adopted = unsafe { adopt(elements.layout(), is_read_only, owner) };
    let adopted = adopted.ok_or_else(too_large)?;
    let inner = if elements.shape.is_empty() {
        let data = match adopted {
            Adopted::Borrowed(foreign) => foreign.to_data(),
            Adopted::Copied(data) => data,
        };
        session.inner.put(Value::Scalar(data.get(0)))
    } else {
        session.inner.put_adopted(elements.shape.clone(), adopted)
    };
    let inner = inner.map_err(Failure::run)?;
    Ok(Box::into_raw(Box::new(CValue { inner })))
}

/// See `arrc.h`.
///
/// # Safety
/// The arguments are as the header says.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn arrc_put(
    session: *const CSession,
    tensor: *const Tensor,
) -> *mut CValue {
    guarded(|| {
        // SAFETY: promised by the caller.
        let (session, elements) = unsafe { (&*session, Elements::of(&*tensor)?) };
        // SAFETY: the elements are there as long as this lasts, and are copied.
        unsafe {
            let value = put(session, &elements, true, Box::new(()))?;
            let value = Box::from_raw(value);
            let inner = own(value.inner).map_err(Failure::run)?;
            Ok(Box::into_raw(Box::new(CValue { inner })))
        }
    })
}

/// See `arrc.h`.
///
/// # Safety
/// The arguments are as the header says.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn arrc_adopt(
    session: *const CSession,
    tensor: *mut Managed,
    may_change: bool,
) -> *mut CValue {
    let owner = Box::new(Owned(tensor));
    guarded(|| {
        // SAFETY: promised by the caller; the tensor is there as long as its owner.
        unsafe {
            let elements = Elements::of(&(*tensor).tensor)?;
            put(&*session, &elements, !may_change, owner)
        }
    })
}

/// See `arrc.h`.
///
/// # Safety
/// The value is one.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn arrc_share(value: *const CValue) -> *mut CValue {
    // SAFETY: promised by the caller.
    let inner = unsafe { &*value }.inner.clone();
    Box::into_raw(Box::new(CValue { inner }))
}

/// See `arrc.h`.
///
/// # Safety
/// The value is one, and not used any more.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn arrc_value_free(value: *mut CValue) {
    if !value.is_null() {
        // SAFETY: it was a box.
        drop(unsafe { Box::from_raw(value) });
    }
}

/// See `arrc.h`.
///
/// # Safety
/// The value is one.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn arrc_tensor(value: *const CValue) -> *mut Managed {
    guarded(|| {
        // SAFETY: promised by the caller.
        let resident = unsafe { &*value }.inner.clone();
        if let Some(host) = resident.host() {
            let start = host.start;
            return Ok(export(resident, None, start));
        }
        let mut copied = resident.clone().get().map_err(Failure::run)?;
        if let Value::Scalar(constant) = copied {
            let mut data = Data::zeros(constant.ty(), 1);
            data.set(0, constant);
            let shape = Vec::new();
            copied = Value::Array(ArrayValue { shape, data });
        }
        let copied = Arc::new(copied);
        let start = start(&copied);
        Ok(export(resident, Some(copied), start))
    })
}

/// The value with memory of its own, if it is in memory that must not be written to: whoever has that may change it.
pub(crate) fn own(value: Resident) -> Result<Resident, RunError> {
    match value.host() {
        Some(host) if host.is_read_only => value.to_argument(true),
        _ => Ok(value),
    }
}

/// Fails if memory that may be written to is that of two arguments.
pub(crate) fn check_sharing(args: &[Resident]) -> Result<(), Failure> {
    let range = |host: &HostArray<'_>| {
        let extents = host.shape.iter();
        let count = extents.fold(1_i64, |count, extent| count.saturating_mul(*extent));
        let bytes = usize::try_from(count).unwrap_or(0) * host.elem.bytes();
        host.start.addr()..host.start.addr().saturating_add(bytes)
    };
    let foreign = args.iter().filter_map(Resident::host);
    let foreign: Vec<_> = foreign.filter(|host| host.is_foreign).collect();
    for (i, one) in foreign
        .iter()
        .enumerate()
        .filter(|(_, host)| !host.is_read_only)
    {
        for (_, other) in foreign.iter().enumerate().filter(|(j, _)| *j != i) {
            let (one, other) = (range(one), range(other));
            if one.start < other.end && other.start < one.end {
                let why = "memory that may be changed belongs to another argument, too";
                return Err(Failure::argument(why));
            }
        }
    }
    Ok(())
}
