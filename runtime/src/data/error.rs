//! Why a value could not be read, and where.

use super::Leaf;
use std::fmt;

/// Where reading stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// In text: line and column, both from one; columns count bytes.
    Line(u64, u64),
    /// In binary data: bytes from the start.
    Offset(u64),
    /// No place in particular.
    Nowhere,
}

/// Input that does not fit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadError {
    /// Where.
    pub place: Place,
    /// What is wrong: what was expected, and what was found.
    pub message: String,
    source: Option<String>,
    parameter: Option<String>,
}

impl ReadError {
    /// An error at a place.
    pub fn new(place: Place, message: impl Into<String>) -> Self {
        Self {
            place,
            message: message.into(),
            source: None,
            parameter: None,
        }
    }
    /// The same after so many lines of text and bytes.
    pub(super) fn after(mut self, lines: u64, bytes: u64) -> Self {
        self.place = match self.place {
            Place::Line(line, column) => Place::Line(line + lines, column),
            Place::Offset(offset) => Place::Offset(offset + bytes),
            Place::Nowhere => Place::Nowhere,
        };
        self
    }
    pub(super) fn missing(leaf: Leaf) -> Self {
        Self::new(
            Place::Nowhere,
            format!("the input ended where a value of type {leaf} was expected"),
        )
    }
    pub(super) fn unused(name: &str) -> Self {
        Self::new(
            Place::Nowhere,
            format!("more input than the entry point has parameters: {name} was not read"),
        )
    }
    pub(super) fn in_source(mut self, name: &str) -> Self {
        self.source = Some(name.to_owned());
        self
    }
    pub(super) fn for_parameter(mut self, number: usize, name: &str, leaf: Leaf) -> Self {
        self.parameter = Some(match name {
            "" | "_" => format!("argument {number} ({leaf})"),
            _ => format!("argument {number} ({name}: {leaf})"),
        });
        self
    }
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(parameter) = &self.parameter {
            write!(f, "{parameter}: ")?;
        }
        if let Some(source) = &self.source {
            write!(f, "{source}: ")?;
        }
        match self.place {
            Place::Line(line, column) => write!(f, "line {line}, column {column}: ")?,
            Place::Offset(bytes) => write!(f, "byte {bytes}: ")?,
            Place::Nowhere => {}
        }
        f.write_str(&self.message)
    }
}

impl std::error::Error for ReadError {}
