//! What the emulator reports.

/// Why a launch was ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum FaultKind {
    /// Two threads touch a place, one of them writes, and nothing says who is first.
    Race,
    /// A place is read that was never written.
    Undefined,
    /// An access outside of every array.
    OutOfBounds,
    /// An address that is no multiple of the width of the access.
    Misaligned,
    /// An instruction of all lanes or threads to which not all come.
    Divergence,
    /// All threads wait for what none of them will do.
    Deadlock,
    /// Calls are nested too deep.
    StackOverflow,
    /// The launch took more steps than it may.
    OutOfFuel,
    /// It was stopped from outside.
    Stopped,
    /// There is no such kernel, or the launch does not fit it.
    BadLaunch,
}

impl FaultKind {
    /// The kind in a few words.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Race => "data race",
            Self::Undefined => "read of undefined memory",
            Self::OutOfBounds => "access out of bounds",
            Self::Misaligned => "misaligned access",
            Self::Divergence => "not all threads come together",
            Self::Deadlock => "deadlock",
            Self::StackOverflow => "calls nested too deep",
            Self::OutOfFuel => "too many steps",
            Self::Stopped => "stopped",
            Self::BadLaunch => "bad launch",
        }
    }
}

/// A report: what, where, and who.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// What kind it is.
    pub kind: FaultKind,
    /// The values in question.
    pub detail: String,
    /// The kernel.
    pub kernel: String,
    /// The instruction.
    pub inst: String,
    /// File, line and column of the source, or nothing.
    pub place: String,
    /// The statement of the plan, in short.
    pub what: String,
    /// The number of the block.
    pub block: u32,
    /// The number of the thread in its block.
    pub thread: u32,
}

impl std::fmt::Display for Fault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.kind.name(), self.detail)?;
        write!(f, "\n  in kernel {}", self.kernel)?;
        write!(f, ", block {}, thread {}", self.block, self.thread)?;
        if !self.inst.is_empty() {
            write!(f, "\n  at `{}`", self.inst)?;
        }
        if !self.place.is_empty() || !self.what.is_empty() {
            write!(f, "\n  from {} {}", self.place, self.what)?;
        }
        Ok(())
    }
}

impl std::error::Error for Fault {}

/// A fault whose place is still to be filled in.
#[derive(Debug)]
pub(super) struct Trouble {
    pub(super) kind: FaultKind,
    pub(super) detail: String,
    pub(super) lane: u32,
}

/// How an instruction went.
pub(super) type Done = Result<(), Box<Trouble>>;

/// A fault of one lane.
pub(super) fn trouble<T>(
    kind: FaultKind,
    lane: u32,
    detail: impl Into<String>,
) -> Result<T, Box<Trouble>> {
    Err(Box::new(Trouble {
        kind,
        detail: detail.into(),
        lane,
    }))
}
