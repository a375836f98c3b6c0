//! Sequences that come from Python chunk by chunk, and go there.

use crate::elements::number;
use crate::errors::{guarded, plain, run};
use crate::interrupt::Watch;
use crate::leaf::Leaf;
use crate::session::Session;
use arrc::stream::Outside;
use arrc::{RunError, Value};
use midend::device::Stop;
use pyo3::prelude::*;
use pyo3::types::PyList;
use std::sync::{Mutex, PoisonError};

/// Where sequences come from and go to.
pub(crate) struct Ends {
    /// For each parameter that is a sequence, a function from a number to the leaves of so many elements, or of all that are left.
    pub(crate) inputs: Vec<Py<PyAny>>,
    /// Takes the leaves of elements of the result.
    pub(crate) output: Option<Py<PyAny>>,
    pub(crate) session: Py<Session>,
    /// What one of these functions raised.
    failed: Mutex<Option<PyErr>>,
}

impl Ends {
    pub(crate) const fn new(
        inputs: Vec<Py<PyAny>>,
        output: Option<Py<PyAny>>,
        session: Py<Session>,
    ) -> Self {
        Self {
            inputs,
            output,
            session,
            failed: Mutex::new(None),
        }
    }

    /// Ends the call with an exception.
    fn fail(&self, why: PyErr) -> RunError {
        let failed = self.failed.lock();
        *failed.unwrap_or_else(PoisonError::into_inner) = Some(why);
        RunError::Interrupted
    }

    fn put(&self, py: Python<'_>, value: Value) -> PyResult<Leaf> {
        let put = self.session.get().inner.put(value);
        Ok(Leaf::new(put.map_err(|why| run(py, &why))?))
    }

    /// The values of leaves, which are given away.
    fn values(&self, py: Python<'_>, leaves: &Bound<'_, PyList>) -> PyResult<Vec<Value>> {
        let values = leaves.iter().map(|leaf| {
            let leaf = leaf.cast::<Leaf>()?.get().take();
            let gone = || plain(py, "ConsumedError", "the array was given away");
            leaf.ok_or_else(gone)?.get().map_err(|why| run(py, &why))
        });
        values.collect()
    }
}

impl Outside for Ends {
    fn read(&self, stream: u32, most: i64) -> Result<Vec<Value>, RunError> {
        let input = self.inputs.get(stream as usize).ok_or_else(|| {
            RunError::Internal(String::from(
                "there are not as many sequences as parameters",
            ))
        })?;
        Python::attach(|py| {
            let read = || {
                let leaves = input.bind(py).call1((most,))?;
                self.values(py, leaves.cast::<PyList>()?)
            };
            read().map_err(|why| self.fail(why))
        })
    }

    fn write(&self, values: Vec<Value>) -> Result<(), RunError> {
        let Some(output) = &self.output else {
            return Ok(());
        };
        Python::attach(|py| {
            let write = || {
                let leaves = PyList::empty(py);
                for value in values {
                    leaves.append(self.put(py, value)?)?;
                }
                output.bind(py).call1((leaves,)).map(|_| ())
            };
            write().map_err(|why| self.fail(why))
        })
    }
}

/// Calls an entry point with such sequences.
pub(crate) fn call<'py>(
    py: Python<'py>,
    (program, stop): (&arrc::session::Program, &'static Stop),
    entry: &str,
    leaves: &Bound<'py, PyList>,
    ends: &Ends,
) -> PyResult<Bound<'py, PyList>> {
    let args = ends.values(py, leaves)?;
    let watch = Watch::new(stop);
    let results = guarded(py, || program.call_streaming(entry, args, ends));
    let was_stopped = watch.was_stopped();
    drop(watch);
    let failed = ends.failed.lock();
    if let Some(why) = failed.unwrap_or_else(PoisonError::into_inner).take() {
        return Err(why);
    }
    if was_stopped {
        py.check_signals()?;
    }
    let out = PyList::empty(py);
    for result in results?.map_err(|why| run(py, &why))? {
        match result {
            Value::Scalar(constant) => out.append(number(py, constant)?)?,
            value @ Value::Array(_) => out.append(ends.put(py, value)?)?,
        }
    }
    Ok(out)
}
