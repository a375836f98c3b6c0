//! Sessions: what programs are compiled for, and what memory their values are in.

use crate::elements::{self, Given};
use crate::errors::{compile, guarded, plain, run};
use crate::leaf::Leaf;
use crate::program::Program;
use arrc::Value;
use arrc::session::Options;
use midend::device::Stop;
use midend::ir::types::ScalarType;
use pyo3::prelude::*;
use std::path::PathBuf;
use std::sync::Arc;

/// Compiles programs for one target, and keeps their values.
#[pyclass(frozen, module = "arrc._arrc")]
pub(crate) struct Session {
    pub(crate) inner: arrc::session::Session,
    /// The flag that stops calls. It is never freed: a handler of signals may hold its address.
    pub(crate) stop: &'static Stop,
}

#[pymethods]
impl Session {
    #[new]
    #[pyo3(signature = (target, device, threads, mem_limit, vector_bits, cap, chunk))]
    #[expect(
        clippy::too_many_arguments,
        reason = "the package passes each option by its name"
    )]
    fn new(
        py: Python<'_>,
        target: &str,
        device: usize,
        threads: Option<usize>,
        mem_limit: Option<u64>,
        vector_bits: Option<u32>,
        cap: Option<u64>,
        chunk: Option<i64>,
    ) -> PyResult<Self> {
        let target = target.parse();
        let target = target.map_err(|why: String| plain(py, "ArgumentError", &why))?;
        let options = Options {
            target,
            device,
            threads,
            vector_bits,
            memory_limit: mem_limit,
            cap,
            chunk,
            ..Options::default()
        };
        let session = guarded(py, || arrc::session::Session::new(options))?;
        let inner = session.map_err(|why| plain(py, "DeviceError", &why.to_string()))?;
        let kept: *const Stop = Arc::into_raw(inner.stop());
        // SAFETY: the reference that was made into the pointer is never given back.
        let stop = unsafe { &*kept };
        Ok(Self { inner, stop })
    }

    /// What people call the device.
    #[getter]
    fn device(&self) -> String {
        self.inner.device()
    }

    /// Compiles a file and what it imports.
    fn compile_file(&self, py: Python<'_>, path: PathBuf) -> PyResult<Program> {
        let compiled = guarded(py, || self.inner.compile_file(&path))?;
        let program = compiled.map_err(|why| compile(py, &why))?;
        Ok(Program::new(program, self.stop))
    }

    /// Compiles a text, which messages call `name`.
    fn compile_text(&self, py: Python<'_>, name: &str, text: &str) -> PyResult<Program> {
        let compiled = guarded(py, || self.inner.compile(name, text))?;
        let program = compiled.map_err(|why| compile(py, &why))?;
        Ok(Program::new(program, self.stop))
    }

    /// A number or truth value. Fails as Python does where the type cannot hold it.
    fn scalar(&self, py: Python<'_>, elem: &str, value: &Bound<'_, PyAny>) -> PyResult<Leaf> {
        let constant = elements::constant(element_type(py, elem)?, value)?;
        let put = self.inner.put(Value::Scalar(constant));
        Ok(Leaf::new(put.map_err(|why| run(py, &why))?))
    }

    /// An array that says by `__array_interface__` where it is, if that is so and its elements are of this type; without a copy if
    /// they are side by side. Nothing is written to it unless it `is_given`.
    fn array(
        &self,
        py: Python<'_>,
        elem: &str,
        array: &Bound<'_, PyAny>,
        is_given: bool,
    ) -> PyResult<Option<Leaf>> {
        let elem = element_type(py, elem)?;
        let Some(given) = Given::of(array, elem)? else {
            return Ok(None);
        };
        // SAFETY: the package promises it; its page tells users that arrays are not to change during a call.
        let adopted = unsafe { given.adopt(is_given) };
        let (shape, adopted) = adopted.map_err(|why| plain(py, "ArgumentError", why))?;
        let put = guarded(py, || self.inner.put_adopted(shape, adopted))?;
        Ok(Some(Leaf::new(put.map_err(|why| run(py, &why))?)))
    }
}

/// The type of this name.
fn element_type(py: Python<'_>, name: &str) -> PyResult<ScalarType> {
    let found = ScalarType::ALL.into_iter().find(|ty| ty.name() == name);
    found.ok_or_else(|| plain(py, "ArgumentError", &format!("there is no type {name}")))
}
