//! The extension module `arrc._arrc`: sessions, programs and values for the Python package `arrc`, which makes of them what people use.
//!
//! The interpreter's lock is released while programs are compiled and run, a panic is an exception, and Ctrl-C stops the call of the
//! main thread.

mod arrow;
mod elements;
mod errors;
mod interrupt;
mod leaf;
mod program;
mod session;
mod stream;

use pyo3::prelude::*;

/// Fills the module.
#[pymodule]
fn _arrc(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_class::<session::Session>()?;
    module.add_class::<program::Program>()?;
    module.add_class::<leaf::Leaf>()?;
    module.add_class::<leaf::View>()?;
    module.add_function(wrap_pyfunction!(arrow::arrow_export, module)?)?;
    module.add_function(wrap_pyfunction!(arrow::arrow_parts, module)?)
}
