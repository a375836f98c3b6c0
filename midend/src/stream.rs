//! Sequences as runs see them: who runs a program says how much of a sequence is worked on at once, brings in the elements of those
//! that are parameters, and takes the elements of one that is the result.

mod memory;

pub use memory::{InMemory, Rows};

use crate::ir::id::Var;
use crate::ir::syntax::Vars;
use crate::ir::types::{Dim, Size, Type};
use crate::trap::RunError;
use crate::value::Value;
use std::fmt;

/// What is known of memory when the next chunk is chosen.
#[derive(Clone, Copy, Debug, Default)]
pub struct Room {
    /// Bytes in use.
    pub used: u64,
    /// The most bytes that were in use at once so far.
    pub peak: u64,
    /// Bytes that may be in use at once, if there is a limit.
    pub limit: Option<u64>,
}

/// Chooses the sizes of chunks.
pub trait Schedule: Sync {
    /// How many elements of a sequence are worked on next. `stream` says which loop asks, `before` how many elements came
    /// before, `left` how many may come: at least one. What is given is brought between one and `left`.
    fn next(&self, stream: u32, before: i64, left: i64, room: &Room) -> i64;

    /// What the next answer of [`Schedule::next`] to the loop will be, whatever is learnt until then, as far as so many elements are left:
    /// they are brought to the device while it is at work on those before. Nothing if that is not known yet.
    fn following(&self, _stream: u32) -> Option<i64> {
        None
    }
}

/// What sequences that cross an entry point come from and go to.
pub trait Outside: Sync {
    /// The next elements of the sequence that is the `stream`th among the parameters, as the values that an array of them is:
    /// `most` of them, or all that are left.
    fn read(&self, stream: u32, most: i64) -> Result<Vec<Value>, RunError>;

    /// Gathers the next elements of the sequence until `most` are there, or all that are left, or the device is not `busy` any more; whether
    /// [`Outside::read`] gives so many without waiting. Who does not know whether they are to be had gathers none.
    fn gather(&self, _stream: u32, _most: i64, _busy: &dyn Fn() -> bool) -> bool {
        false
    }

    /// Takes elements of the result, as the values that an array of them is.
    fn write(&self, values: Vec<Value>) -> Result<(), RunError>;
}

/// What a run knows of sequences.
#[derive(Clone, Copy)]
pub struct Streams<'a> {
    schedule: &'a dyn Schedule,
    outside: Option<&'a dyn Outside>,
}

impl<'a> Streams<'a> {
    /// Chunks of sizes that vary, small ones first: whether results depend on them shows soon.
    pub const VARIED: Streams<'static> = Streams {
        schedule: &Varied,
        outside: None,
    };

    /// Chunks as `schedule` says.
    pub const fn new(schedule: &'a dyn Schedule) -> Self {
        Self {
            schedule,
            outside: None,
        }
    }

    /// The same, with sequences that come from `outside` and go there. They are no arguments and no results then.
    #[must_use]
    pub const fn with_outside<'b>(self, outside: &'b dyn Outside) -> Streams<'b>
    where
        'a: 'b,
    {
        Streams {
            schedule: self.schedule,
            outside: Some(outside),
        }
    }

    /// Whether somebody brings in and takes sequences.
    pub const fn has_outside(&self) -> bool {
        self.outside.is_some()
    }

    pub(crate) fn outside(&self) -> Result<&'a dyn Outside, RunError> {
        let nobody = || RunError::Internal(String::from("nobody brings in sequences"));
        self.outside.ok_or_else(nobody)
    }

    /// The size of the next chunk.
    pub(crate) fn next(&self, stream: u32, before: i64, left: i64, room: &Room) -> i64 {
        let next = self.schedule.next(stream, before, left, room);
        next.min(left).max(1)
    }

    /// The size of the chunk after that, if it is known and there is one.
    pub(crate) fn following(&self, stream: u32, left: i64) -> Option<i64> {
        let following = self.schedule.following(stream)?;
        (left > 0).then(|| following.min(left).max(1))
    }
}

impl fmt::Debug for Streams<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Streams")
    }
}

/// Where the sizes that [`crate::ir::array::StreamOp::Read`] binds are found: for each, the number of an array that it binds, and a
/// dimension of that.
pub fn sizes_of(vars: &Vars, binds: &[Var]) -> Option<Vec<(usize, usize)>> {
    let arrays: Vec<Var> = binds
        .iter()
        .copied()
        .filter(|&v| vars[v].ty.is_array())
        .collect();
    let sizes = binds.iter().filter(|&&v| vars[v].ty == Type::I64);
    let found = sizes.map(|&size| {
        arrays.iter().enumerate().find_map(|(i, &array)| {
            let shape = vars[array].ty.shape();
            let dim = shape
                .iter()
                .position(|&d| d == Dim::Size(Size::Var(size)))?;
            Some((i, dim))
        })
    });
    found.collect()
}

/// The values of sizes that are found there, in the shapes of the arrays.
pub(crate) fn read_sizes<'v>(
    shape: impl Fn(usize) -> Option<&'v [i64]>,
    places: &[(usize, usize)],
) -> Option<Vec<i64>> {
    let sizes = places
        .iter()
        .map(|&(array, dim)| shape(array)?.get(dim).copied());
    sizes.collect()
}

struct Varied;

impl Schedule for Varied {
    fn next(&self, _: u32, before: i64, _: i64, _: &Room) -> i64 {
        1 + before / 2 + before % 5
    }
}

/// Chunks of one size.
#[derive(Clone, Copy, Debug)]
pub struct Fixed(pub i64);

impl Schedule for Fixed {
    fn next(&self, _: u32, _: i64, _: i64, _: &Room) -> i64 {
        self.0
    }

    fn following(&self, _: u32) -> Option<i64> {
        Some(self.0)
    }
}
