//! Exceptions: their classes are those of the Python module `arrc._errors`.

use arrc::RunError;
use arrc::session::CompileError;
use frontend::diagnostic::{Diagnostic, Note, Severity};
use frontend::source::SourceMap;
use pyo3::IntoPyObjectExt as _;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyTuple};
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// An exception of a class of `arrc._errors`, with attributes.
fn raise(py: Python<'_>, class: &str, message: &str, attributes: &Bound<'_, PyDict>) -> PyErr {
    let class = py.import("arrc._errors").and_then(|all| all.getattr(class));
    match class.and_then(|class| class.call((message,), Some(attributes))) {
        Ok(exception) => PyErr::from_value(exception),
        Err(error) => error,
    }
}

/// An exception of a class of `arrc._errors` that has nothing to tell but its message.
pub(crate) fn plain(py: Python<'_>, class: &str, message: &str) -> PyErr {
    raise(py, class, message, &PyDict::new(py))
}

/// A diagnostic: severity, code, message, file, line, column, facts and hints.
pub(crate) fn diagnostic<'py>(
    py: Python<'py>,
    sources: &SourceMap,
    what: &Diagnostic,
) -> PyResult<Bound<'py, PyTuple>> {
    let severity = match what.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Remark => "remark",
    };
    let span = what.primary.span;
    let file = sources.get(span.file).map(|file| file.name());
    let position = sources.line_col(span);
    let notes = |wanted: fn(&Note) -> Option<&str>| {
        let notes = what.notes.iter().filter_map(wanted);
        PyTuple::new(py, notes.collect::<Vec<_>>())
    };
    let facts = notes(|note| match note {
        Note::Fact(text) => Some(text),
        Note::Hint(_) => None,
    })?;
    let hints = notes(|note| match note {
        Note::Hint(text) => Some(text),
        Note::Fact(_) => None,
    })?;
    (
        severity,
        what.code.as_str(),
        what.message.as_str(),
        file,
        position.map(|position| position.line),
        position.map(|position| position.col),
        facts,
        hints,
    )
        .into_pyobject(py)
}

/// A program that cannot be compiled.
pub(crate) fn compile(py: Python<'_>, why: &CompileError) -> PyErr {
    let message = why.to_string();
    let message = message.trim_end();
    if why.is_internal() {
        return plain(py, "InternalError", message);
    }
    let all = why.diagnostics().iter();
    let all: PyResult<Vec<_>> = all
        .map(|what| diagnostic(py, why.sources(), what))
        .collect();
    let attributes = PyDict::new(py);
    let set = all.and_then(|all| attributes.set_item("diagnostics", PyList::new(py, all)?));
    match set {
        Ok(()) => raise(py, "CompileError", message, &attributes),
        Err(error) => error,
    }
}

/// File, line and column of where something happened, then of the calls that led there.
fn set_trail<'a, T: ToString + 'a>(
    attributes: &Bound<'_, PyDict>,
    trail: impl Iterator<Item = (&'a T, (u32, u32))>,
) -> PyResult<()> {
    let trail = trail.map(|(file, (line, column))| (file.to_string(), line, column));
    attributes.set_item("trail", trail.collect::<Vec<_>>())
}

/// How programs begin to say that the sizes of arguments do not agree.
const SIZES: &str = "Entry point arguments have invalid sizes";

/// A call that gave no result.
pub(crate) fn run(py: Python<'_>, why: &RunError) -> PyErr {
    let text = why.to_string();
    let message = text.strip_prefix("Error: ").unwrap_or(&text);
    let attributes = PyDict::new(py);
    let filled = match why {
        RunError::Trap(trap) => set_trail(
            &attributes,
            trap.trail.iter().map(|at| (&at.file, at.start)),
        ),
        RunError::OutOfMemory {
            bytes,
            limit,
            trail,
        } => set_trail(&attributes, trail.iter().map(|at| (&at.file, at.start))).and_then(|()| {
            attributes.set_item("bytes", bytes)?;
            attributes.set_item("limit", limit)
        }),
        RunError::Interrupted
        | RunError::OutOfFuel
        | RunError::BadArguments(_)
        | RunError::Internal(_)
        | RunError::Device(_) => Ok(()),
    };
    if let Err(error) = filled {
        return error;
    }
    let class = match why {
        // Sizes are compared by the program.
        RunError::Trap(trap) if trap.message.starts_with(SIZES) => {
            let message = message.trim_start_matches(SIZES).trim_start_matches(": ");
            return plain(
                py,
                "ArgumentError",
                message.lines().next().unwrap_or(message),
            );
        }
        RunError::Trap(_) | RunError::OutOfFuel => "RunError",
        RunError::OutOfMemory { .. } => "OutOfMemoryError",
        RunError::Interrupted => "InterruptedError",
        RunError::BadArguments(_) => "ArgumentError",
        RunError::Internal(_) => "InternalError",
        RunError::Device(_) => "DeviceError",
    };
    raise(py, class, message, &attributes)
}

/// Does work without the interpreter's lock; a panic, which is a mistake in arrc, is an exception.
pub(crate) fn guarded<T: Send>(py: Python<'_>, work: impl FnOnce() -> T + Send) -> PyResult<T> {
    let done = py.detach(|| catch_unwind(AssertUnwindSafe(work)));
    done.map_err(|panic| panicked(py, panic.as_ref()))
}

fn panicked(py: Python<'_>, panic: &(dyn Any + Send)) -> PyErr {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    let text = text.or(panic.downcast_ref::<&str>().copied());
    let text = text.unwrap_or("no message");
    let message = format!("a mistake in arrc, please report it: {text}");
    plain(py, "InternalError", &message)
}

/// As `into_py_any`, for attributes that may be absent.
pub(crate) fn any<'py>(py: Python<'py>, value: impl IntoPyObject<'py>) -> PyResult<Py<PyAny>> {
    value.into_py_any(py)
}
