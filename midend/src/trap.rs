//! Run-time failures: what a program reports instead of a result.

use crate::ir::id::SpanId;
use crate::ir::span::{Place, Spans};
use crate::ir::syntax::TrapKind;

/// A run-time failure of the program, located.
#[derive(Clone, Debug, PartialEq)]
pub struct Trap {
    /// What kind of failure.
    pub kind: TrapKind,
    /// The message with its values filled in.
    pub message: String,
    /// Where it happened, then the calls that led there, innermost first. May be empty.
    pub trail: Vec<Place>,
}

/// Why a run gave no result.
#[derive(Clone, Debug, PartialEq)]
pub enum RunError {
    /// The program failed.
    Trap(Trap),
    /// Memory ran out or a limit was passed.
    OutOfMemory {
        /// Bytes asked for.
        bytes: u64,
        /// Bytes allowed or available, if known.
        limit: Option<u64>,
        /// The allocation, as for a trap.
        trail: Vec<Place>,
    },
    /// Stopped from outside (Ctrl-C or a deadline).
    Interrupted,
    /// The interpreter or the emulator took more steps than it may.
    OutOfFuel,
    /// The arguments do not fit the entry point.
    BadArguments(String),
    /// A mistake of the compiler: the program breaks an invariant of its language.
    Internal(String),
    /// The device failed (driver errors, sticky faults).
    Device(String),
}

impl Trap {
    /// A trap at `span`, with the trail of calls that `spans` knows.
    pub fn new(kind: TrapKind, message: String, spans: &Spans, span: SpanId) -> Self {
        Self {
            kind,
            message,
            trail: trail(spans, span),
        }
    }
}

/// The place of `span` followed by the calls it was inlined through.
pub fn trail(spans: &Spans, span: SpanId) -> Vec<Place> {
    let mut places = Vec::new();
    let mut next = Some(span);
    while let Some(place) = next.and_then(|s| spans.place(s)) {
        places.push(place.clone());
        next = place.inlined_at;
    }
    places
}

/// What places in the library that comes with the language are called as places in a file.
pub const LIBRARY: &str = "prelude";

/// A trail without the places in the library that it begins with: what its user has written says more. All of it if nothing else is there.
fn shown(trail: &[Place]) -> &[Place] {
    let user = trail.iter().position(|place| &*place.file != LIBRARY);
    &trail[user.unwrap_or(0)..]
}

impl std::fmt::Display for Trap {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Error: {}", self.message)?;
        for (i, place) in shown(&self.trail).iter().enumerate() {
            let (line, column) = place.start;
            let word = if i == 0 { "at" } else { "called from" };
            write!(f, "\n  {word} {}:{line}:{column}", place.file)?;
        }
        Ok(())
    }
}

/// The most bytes that an array can have: its elements are counted in `i64`.
const MOST_BYTES: u64 = i64::MAX as u64;

/// The message about an array or a space of which the elements or bytes cannot be counted.
pub const TOO_LARGE: &str = "out of memory: 2^63 bytes or more needed";

/// How many calls may be nested.
pub const MOST_NESTED_CALLS: usize = 10_000;

/// The message of recursion that is deeper.
pub const TOO_DEEP: &str = "the recursion is too deep";

/// Nothing if a count of elements or points, which saturates, is one; the out-of-memory error if it has overflowed. The caller adds
/// the position.
pub fn check_count(count: i64) -> Result<(), RunError> {
    match count {
        i64::MAX => Err(RunError::OutOfMemory {
            bytes: u64::MAX,
            limit: None,
            trail: Vec::new(),
        }),
        _ => Ok(()),
    }
}

impl RunError {
    /// What is wrong, for those who say themselves that it is a device: an absent one has not failed.
    pub fn reason(&self) -> String {
        if let Self::Device(why) = self {
            return why.clone();
        }
        self.to_string()
    }
}

impl std::fmt::Display for RunError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Trap(trap) => trap.fmt(f),
            Self::OutOfMemory {
                bytes,
                limit,
                trail,
            } => {
                if *bytes > MOST_BYTES {
                    write!(f, "Error: {TOO_LARGE}")?;
                } else {
                    write!(f, "Error: out of memory: {bytes} bytes needed")?;
                    if let Some(limit) = limit {
                        write!(f, ", the limit is {limit} bytes")?;
                    }
                }
                if let Some(place) = shown(trail).first() {
                    write!(
                        f,
                        "\n  at {}:{}:{}",
                        place.file, place.start.0, place.start.1
                    )?;
                }
                Ok(())
            }
            Self::Interrupted => f.write_str("Interrupted"),
            Self::OutOfFuel => f.write_str("Error: the run takes more steps than it may"),
            Self::BadArguments(why) => write!(f, "Error: {why}"),
            Self::Device(why) => write!(f, "Error: the device failed: {why}"),
            Self::Internal(why) => write!(f, "Internal compiler error: {why}"),
        }
    }
}

impl std::error::Error for RunError {}
