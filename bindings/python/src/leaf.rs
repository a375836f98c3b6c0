//! Leaves: the arrays of scalars, and scalars, that values are made of, where programs run.

use crate::elements::{number, type_text};
use crate::errors::{guarded, plain, run};
use arrc::Value;
use arrc::session::Resident;
use midend::ir::types::ScalarType;
use midend::with_data;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// A value where programs run.
#[pyclass(frozen, module = "arrc._arrc")]
pub(crate) struct Leaf {
    elem: ScalarType,
    shape: Vec<i64>,
    /// Nothing once it was given away.
    resident: Mutex<Option<Resident>>,
    /// What was brought from a GPU.
    fetched: OnceLock<Arc<Value>>,
}

impl Leaf {
    pub(crate) fn new(resident: Resident) -> Self {
        Self {
            elem: resident.elem(),
            shape: resident.shape().to_vec(),
            resident: Mutex::new(Some(resident)),
            fetched: OnceLock::new(),
        }
    }

    /// The value, which the leaf keeps.
    pub(crate) fn shared(&self) -> Option<Resident> {
        let resident = self.resident.lock();
        resident.unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The value, which the leaf gives away.
    pub(crate) fn take(&self) -> Option<Resident> {
        let resident = self.resident.lock();
        resident.unwrap_or_else(PoisonError::into_inner).take()
    }

    fn present(&self, py: Python<'_>) -> PyResult<Resident> {
        let gone = || plain(py, "ConsumedError", "the array was given away");
        self.shared().ok_or_else(gone)
    }

    /// The elements in memory of the host.
    fn held(&self, py: Python<'_>) -> PyResult<Held> {
        let resident = self.present(py)?;
        if resident.host().is_some() {
            return Ok(Held::There(resident));
        }
        if let Some(value) = self.fetched.get() {
            return Ok(Held::Copied(Arc::clone(value)));
        }
        let value = guarded(py, || resident.get())?;
        let value = Arc::new(value.map_err(|why| run(py, &why))?);
        Ok(Held::Copied(Arc::clone(self.fetched.get_or_init(|| value))))
    }
}

#[pymethods]
impl Leaf {
    /// The name of the type of its elements.
    #[getter]
    fn elem(&self) -> &'static str {
        self.elem.name()
    }

    /// The extents, none of a scalar.
    #[getter]
    fn shape<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, &self.shape)
    }

    /// Whether it was given away.
    #[getter]
    fn is_consumed(&self) -> bool {
        self.shared().is_none()
    }

    /// The number that a scalar is, or nothing.
    fn number(&self, py: Python<'_>) -> PyResult<Option<Py<PyAny>>> {
        let scalar = self.present(py)?.scalar();
        scalar.map(|constant| number(py, constant)).transpose()
    }

    /// Another leaf with the same elements.
    fn share(&self, py: Python<'_>) -> PyResult<Self> {
        Ok(Self::new(self.present(py)?))
    }

    /// Gives the elements away: whoever shares them keeps them.
    fn discard(&self) {
        drop(self.take());
    }

    /// The elements in memory of the host, without a copy unless they are in memory of a GPU.
    fn view(&self, py: Python<'_>) -> PyResult<View> {
        Ok(View {
            elem: self.elem,
            shape: self.shape.clone(),
            held: self.held(py)?,
        })
    }
}

/// Elements in memory of the host.
enum Held {
    There(Resident),
    Copied(Arc<Value>),
}

/// The elements of an array in memory of the host, which stay as long as this is there.
#[pyclass(frozen, module = "arrc._arrc")]
pub(crate) struct View {
    elem: ScalarType,
    shape: Vec<i64>,
    held: Held,
}

impl View {
    fn start(&self) -> *const u8 {
        let nowhere = std::ptr::dangling::<u64>().cast();
        match &self.held {
            Held::There(resident) => resident.host().map_or(nowhere, |host| host.start),
            Held::Copied(value) => match &**value {
                Value::Array(array) => with_data!(&array.data, v => v.as_ptr().cast()),
                Value::Scalar(_) => nowhere,
            },
        }
    }
}

#[pymethods]
impl View {
    /// Where the elements are, for NumPy. They are read-only: arrc has values, which do not change.
    #[getter]
    fn __array_interface__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let interface = PyDict::new(py);
        interface.set_item("version", 3)?;
        interface.set_item("typestr", type_text(self.elem))?;
        interface.set_item("shape", PyTuple::new(py, &self.shape)?)?;
        interface.set_item("strides", py.None())?;
        interface.set_item("data", (self.start().expose_provenance(), true))?;
        Ok(interface)
    }
}
