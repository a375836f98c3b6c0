//! Arrow's C data interface: nested lists of numbers, in and out. The structures are those of its specification.

use crate::elements::address;
use pyo3::exceptions::PyValueError;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyTuple};
use std::ffi::{CStr, CString, c_char, c_void};
use std::ptr::{NonNull, null, null_mut};

const SCHEMA: &CStr = c"arrow_schema";
const ARRAY: &CStr = c"arrow_array";

/// The flag of fields as they usually are.
const NULLABLE: i64 = 2;

/// The deepest nesting that is read.
const DEEPEST: usize = 64;

/// `struct ArrowSchema`
#[repr(C)]
struct Schema {
    format: *const c_char,
    name: *const c_char,
    metadata: *const c_char,
    flags: i64,
    n_children: i64,
    children: *mut *mut Self,
    dictionary: *mut Self,
    release: Option<unsafe extern "C" fn(*mut Self)>,
    private: *mut c_void,
}

/// `struct ArrowArray`
#[repr(C)]
struct Array {
    length: i64,
    null_count: i64,
    offset: i64,
    n_buffers: i64,
    n_children: i64,
    buffers: *mut *const c_void,
    children: *mut *mut Self,
    dictionary: *mut Self,
    release: Option<unsafe extern "C" fn(*mut Self)>,
    private: *mut c_void,
}

/// What an exported schema refers to.
struct SchemaParts {
    _format: CString,
    /// The child, if there is one.
    children: Vec<*mut Schema>,
}

/// What an exported array refers to.
struct ArrayParts {
    _owner: Option<Py<PyAny>>,
    _buffers: Vec<*const c_void>,
    children: Vec<*mut Array>,
}

/// Frees an exported schema.
///
/// # Safety
/// It was made by [`arrow_export`], and is released once.
unsafe extern "C" fn release_schema(schema: *mut Schema) {
    // SAFETY: the private data and the children were boxes; children that were moved elsewhere have no release function any more.
    unsafe {
        let parts = Box::from_raw((*schema).private.cast::<SchemaParts>());
        for child in &parts.children {
            if let Some(release) = (**child).release {
                release(*child);
            }
            drop(Box::from_raw(*child));
        }
        (*schema).release = None;
    }
}

/// Frees an exported array.
///
/// # Safety
/// As for [`release_schema`].
unsafe extern "C" fn release_array(array: *mut Array) {
    // SAFETY: as above.
    unsafe {
        let parts = Box::from_raw((*array).private.cast::<ArrayParts>());
        for child in &parts.children {
            if let Some(release) = (**child).release {
                release(*child);
            }
            drop(Box::from_raw(*child));
        }
        (*array).release = None;
    }
}

/// A level of nesting from the outside to the inside: format, length, and an array that is its buffer beside that of validity.
type Level<'py> = (String, i64, Option<Bound<'py, PyAny>>);

/// `arrow_export(levels)`: capsules of a schema and of an array.
#[pyfunction]
pub(crate) fn arrow_export<'py>(
    py: Python<'py>,
    levels: Vec<Level<'py>>,
) -> PyResult<Bound<'py, PyTuple>> {
    // What is exported is freed by whoever takes it: nothing fails from where the first structure is made.
    let levels = levels.into_iter().rev().map(|(format, length, buffer)| {
        let format = CString::new(format).map_err(|why| PyValueError::new_err(why.to_string()))?;
        let start = buffer.as_ref().map(address).transpose()?;
        Ok((format, length, start, buffer))
    });
    let levels: PyResult<Vec<_>> = levels.collect();
    let mut inner: Option<(Schema, Array)> = None;
    for (format, length, start, buffer) in levels? {
        let (schemas, arrays) = match inner {
            None => (Vec::new(), Vec::new()),
            Some((schema, array)) => (
                vec![Box::into_raw(Box::new(schema))],
                vec![Box::into_raw(Box::new(array))],
            ),
        };
        let mut buffers = vec![null()];
        buffers.extend(start.map(|start| start.cast::<c_void>()));
        let mut schema = Schema {
            format: format.as_ptr(),
            name: c"item".as_ptr(),
            metadata: null(),
            flags: NULLABLE,
            n_children: schemas.len() as i64,
            children: null_mut(),
            dictionary: null_mut(),
            release: Some(release_schema),
            private: null_mut(),
        };
        let mut array = Array {
            length,
            null_count: 0,
            offset: 0,
            n_buffers: buffers.len() as i64,
            n_children: arrays.len() as i64,
            buffers: null_mut(),
            children: null_mut(),
            dictionary: null_mut(),
            release: Some(release_array),
            private: null_mut(),
        };
        let mut parts = Box::new(SchemaParts {
            _format: format,
            children: schemas,
        });
        schema.children = parts.children.as_mut_ptr();
        schema.private = Box::into_raw(parts).cast();
        let mut parts = Box::new(ArrayParts {
            _owner: buffer.map(Bound::unbind),
            _buffers: buffers,
            children: arrays,
        });
        array.buffers = parts._buffers.as_mut_ptr();
        array.children = parts.children.as_mut_ptr();
        array.private = Box::into_raw(parts).cast();
        inner = Some((schema, array));
    }
    let Some((schema, array)) = inner else {
        return Err(PyValueError::new_err("there are no levels"));
    };
    (
        capsule(py, schema, SCHEMA, drop_schema)?,
        capsule(py, array, ARRAY, drop_array)?,
    )
        .into_pyobject(py)
}

/// A capsule whose pointer is the structure, in a box.
fn capsule<'py, T>(
    py: Python<'py>,
    structure: T,
    name: &'static CStr,
    destructor: ffi::PyCapsule_Destructor,
) -> PyResult<Bound<'py, PyCapsule>> {
    let pointer = NonNull::from(Box::leak(Box::new(structure))).cast();
    // SAFETY: the pointer is valid until the destructor has run, which frees it.
    unsafe { PyCapsule::new_with_pointer_and_destructor(py, pointer, name, Some(destructor)) }
}

/// Frees a schema, and what it refers to unless somebody has taken that.
///
/// # Safety
/// The interpreter calls it with a capsule of [`arrow_export`].
unsafe extern "C" fn drop_schema(capsule: *mut ffi::PyObject) {
    // SAFETY: the pointer was a box; whoever has taken what is in it has set the release function to null.
    unsafe {
        let pointer = ffi::PyCapsule_GetPointer(capsule, SCHEMA.as_ptr());
        let mut schema = Box::from_raw(pointer.cast::<Schema>());
        if let Some(release) = schema.release {
            release(&raw mut *schema);
        }
    }
}

/// Frees an array, likewise.
///
/// # Safety
/// As for [`drop_schema`].
unsafe extern "C" fn drop_array(capsule: *mut ffi::PyObject) {
    // SAFETY: as above.
    unsafe {
        let pointer = ffi::PyCapsule_GetPointer(capsule, ARRAY.as_ptr());
        let mut array = Box::from_raw(pointer.cast::<Array>());
        if let Some(release) = array.release {
            release(&raw mut *array);
        }
    }
}

/// `arrow_parts(schema, array)`: a tuple of format, name, length, offset, count of nulls, addresses of buffers, and the same of children. They
/// are there as long as the capsules are.
#[pyfunction]
pub(crate) fn arrow_parts<'py>(
    schema: &Bound<'py, PyCapsule>,
    array: &Bound<'py, PyCapsule>,
) -> PyResult<Bound<'py, PyTuple>> {
    let py = schema.py();
    let schema = schema.pointer_checked(Some(SCHEMA))?.cast::<Schema>();
    let array = array.pointer_checked(Some(ARRAY))?.cast::<Array>();
    // SAFETY: capsules of these names hold these structures.
    unsafe { parts(py, schema.as_ref(), array.as_ref(), DEEPEST) }
}

/// # Safety
/// The structures are valid.
unsafe fn parts<'py>(
    py: Python<'py>,
    schema: &Schema,
    array: &Array,
    depth: usize,
) -> PyResult<Bound<'py, PyTuple>> {
    if schema.release.is_none() || array.release.is_none() {
        return Err(PyValueError::new_err("the array was released"));
    }
    if depth == 0 || schema.n_children != array.n_children || !schema.dictionary.is_null() {
        return Err(PyValueError::new_err(
            "arrays with dictionaries, or of unknown form, are not read",
        ));
    }
    let count = |n: i64| usize::try_from(n).unwrap_or(0);
    let text = |text: *const c_char| match text.is_null() {
        true => String::new(),
        // SAFETY: it is a string that ends with a zero.
        false => unsafe { CStr::from_ptr(text) }
            .to_string_lossy()
            .into_owned(),
    };
    let buffers = (0..count(array.n_buffers))
        // SAFETY: there are so many.
        .map(|i| unsafe { (*array.buffers.add(i)).expose_provenance() });
    let buffers = PyTuple::new(py, buffers.collect::<Vec<_>>())?;
    let mut children = Vec::new();
    for i in 0..count(array.n_children) {
        // SAFETY: there are so many.
        let child = unsafe {
            let (schema, array) = (&**schema.children.add(i), &**array.children.add(i));
            // Children that were moved elsewhere have been released here.
            parts(py, schema, array, depth - 1)?
        };
        children.push(child);
    }
    (
        text(schema.format),
        text(schema.name),
        array.length,
        array.offset,
        array.null_count,
        buffers,
        PyTuple::new(py, children)?,
    )
        .into_pyobject(py)
}
