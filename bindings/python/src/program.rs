//! Programs: what their entry points are, and calls of them.

use crate::elements::number;
use crate::errors::{diagnostic, guarded, plain, run};
use crate::interrupt::Watch;
use crate::leaf::Leaf;
use crate::session::Session;
use crate::stream::{self, Ends};
use arrc::RunError;
use arrc::session::{HostArray, Resident};
use midend::device::Stop;
use midend::ir::syntax::{Entry, EntryType};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyTuple};

/// A compiled program.
#[pyclass(frozen, module = "arrc._arrc")]
pub(crate) struct Program {
    inner: arrc::session::Program,
    stop: &'static Stop,
}

impl Program {
    pub(crate) const fn new(inner: arrc::session::Program, stop: &'static Stop) -> Self {
        Self { inner, stop }
    }
}

#[pymethods]
impl Program {
    /// The entry points, each a dictionary.
    fn entries<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let entries = self.inner.entries().iter();
        let entries: PyResult<Vec<_>> = entries.map(|entry| self.described(py, entry)).collect();
        PyList::new(py, entries?)
    }

    /// What the compiler warned of, as diagnostics.
    fn warnings<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let warnings = self.inner.warnings().iter();
        let sources = self.inner.sources();
        let warnings: PyResult<Vec<_>> =
            warnings.map(|what| diagnostic(py, sources, what)).collect();
        PyList::new(py, warnings?)
    }

    /// Calls an entry point with leaves, which are given away; its results are leaves and numbers.
    fn call<'py>(
        &self,
        py: Python<'py>,
        entry: &str,
        leaves: &Bound<'py, PyList>,
    ) -> PyResult<Bound<'py, PyList>> {
        let mut residents = Vec::with_capacity(leaves.len());
        for leaf in leaves {
            let leaf = leaf.cast::<Leaf>()?.get().take();
            let gone = || plain(py, "ConsumedError", "the array was given away");
            residents.push(leaf.ok_or_else(gone)?);
        }
        if is_shared(&residents) {
            let why = "the memory of an array that is given away belongs to another argument, too";
            return Err(plain(py, "ArgumentError", why));
        }
        let watch = Watch::new(self.stop);
        let results = guarded(py, || self.run(entry, residents));
        let was_stopped = watch.was_stopped();
        drop(watch);
        if was_stopped {
            py.check_signals()?;
        }
        let results = results?.map_err(|why| run(py, &why))?;
        let out = PyList::empty(py);
        for result in results {
            match result.scalar() {
                Some(constant) => out.append(number(py, constant)?)?,
                None => out.append(Leaf::new(result))?,
            }
        }
        Ok(out)
    }

    /// As `call`, with sequences that come from functions and go to one: see [`Ends`].
    fn stream<'py>(
        &self,
        py: Python<'py>,
        session: Py<Session>,
        entry: &str,
        leaves: &Bound<'py, PyList>,
        inputs: Vec<Py<PyAny>>,
        output: Option<Py<PyAny>>,
    ) -> PyResult<Bound<'py, PyList>> {
        let ends = Ends::new(inputs, output, session);
        stream::call(py, (&self.inner, self.stop), entry, leaves, &ends)
    }
}

impl Program {
    /// Calls an entry point. A result that is in the memory of an argument which was not given away is copied: whoever has that may
    /// change it.
    fn run(&self, entry: &str, args: Vec<Resident>) -> Result<Vec<Resident>, RunError> {
        let results = self.inner.call_resident(entry, args)?;
        let own = |result: Resident| match result.host() {
            Some(host) if host.is_read_only => result.to_argument(true),
            _ => Ok(result),
        };
        results.into_iter().map(own).collect()
    }

    fn described<'py>(&self, py: Python<'py>, entry: &Entry) -> PyResult<Bound<'py, PyDict>> {
        let heading = self.inner.heading(&entry.name);
        let mut params = Vec::with_capacity(entry.params.len());
        for (i, param) in entry.params.iter().enumerate() {
            let described = PyDict::new(py);
            described.set_item("name", &param.name)?;
            described.set_item("type", described_type(py, &param.ty)?)?;
            described.set_item("text", heading.and_then(|heading| heading.params.get(i)))?;
            described.set_item("consumed", param.unique)?;
            described.set_item("sequence", param.streamed)?;
            params.push(described);
        }
        let results = entry.results.iter();
        let results: PyResult<Vec<_>> = results.map(|ty| described_type(py, ty)).collect();
        let described = PyDict::new(py);
        described.set_item("name", &entry.name)?;
        described.set_item("doc", heading.and_then(|heading| heading.doc.as_ref()))?;
        described.set_item("params", params)?;
        described.set_item("results", PyTuple::new(py, results?)?)?;
        described.set_item("text", heading.and_then(|heading| heading.result.as_ref()))?;
        described.set_item("sequence", entry.streamed)?;
        Ok(described)
    }
}

/// Whether memory that may be written to is that of two arguments.
fn is_shared(args: &[Resident]) -> bool {
    let range = |host: &HostArray<'_>| {
        let extents = host.shape.iter();
        let count = extents.fold(1_i64, |count, extent| count.saturating_mul(*extent));
        let bytes = usize::try_from(count).unwrap_or(0) * host.elem.bytes();
        host.start.addr()..host.start.addr().saturating_add(bytes)
    };
    let foreign = || {
        let hosts = args.iter().filter_map(Resident::host);
        hosts.filter(|host| host.is_foreign).enumerate()
    };
    let writable = foreign().filter(|(_, host)| !host.is_read_only);
    let mut pairs = writable.flat_map(|(i, one)| {
        let others = foreign().filter(move |(j, _)| *j != i);
        others.map(move |(_, other)| (one, other))
    });
    pairs.any(|(one, other)| {
        let (one, other) = (range(&one), range(&other));
        one.start < other.end && other.start < one.end
    })
}

/// A type as nested tuples: `("array", 2, ("scalar", "f64"))`.
fn described_type<'py>(py: Python<'py>, ty: &EntryType) -> PyResult<Bound<'py, PyTuple>> {
    let all = |types: &[EntryType]| -> PyResult<Bound<'py, PyTuple>> {
        let types: PyResult<Vec<_>> = types.iter().map(|ty| described_type(py, ty)).collect();
        PyTuple::new(py, types?)
    };
    match ty {
        EntryType::Scalar(elem) => ("scalar", elem.name()).into_pyobject(py),
        EntryType::Array { rank, elem } => {
            ("array", *rank, described_type(py, elem)?).into_pyobject(py)
        }
        EntryType::Rows(elem) => ("rows", described_type(py, elem)?).into_pyobject(py),
        EntryType::Tuple(parts) => ("tuple", all(parts)?).into_pyobject(py),
        EntryType::Record(fields) => {
            let fields: PyResult<Vec<_>> = (fields.iter())
                .map(|(name, ty)| Ok((name.as_str(), described_type(py, ty)?)))
                .collect();
            ("record", PyTuple::new(py, fields?)?).into_pyobject(py)
        }
        EntryType::Sum(constructors) => {
            let constructors: PyResult<Vec<_>> = (constructors.iter())
                .map(|(name, payload)| Ok((name.as_str(), all(payload)?)))
                .collect();
            ("sum", PyTuple::new(py, constructors?)?).into_pyobject(py)
        }
        EntryType::Opaque { name, of } => {
            ("named", name.as_str(), described_type(py, of)?).into_pyobject(py)
        }
    }
}
