//! What a launch of a kernel is, whatever the device: which entries run one after the other, on how many blocks, with what
//! parameters and scratch memory. Nothing here touches a device; the plan is carried out by whoever holds one.
//!
//! ```text
//! arguments ──► slots ──► plan ──► scratch arrays, then for each step: entry, blocks, parameters
//! ```

mod folds;
mod forms;
mod hist;

use crate::compile::{Dimension, Kernel, Scalar};
use crate::lower::{BlockForm, Lowered, MoreOfScan, THREADS, Team, Tiled};
use midend::device::Arg;
use midend::fired::fired;
use midend::ir::mem::ROUNDING;
use midend::ir::types::{ScalarType, Type};
use midend::trap::{RunError, check_count};

/// Segments up to this length, and more of them than [`MANY`], are folded by a thread each.
const SHORT: i64 = 256;
/// The same where threads side by side would load from places far apart.
const SHORT_ROW: i64 = 16;
/// Rows up to this length are folded by a warp each, if there are so many.
const ROW: (i64, i64) = (1024, 64);
/// Rows up to this length are scanned by a warp each; if there are many of them, so are those that a block has room for.
const LONG_ROW: i64 = 1024;
const MANY_ROWS: i64 = 1 << 11;
/// So many segments keep the device busy without help.
const MANY: i64 = 1 << 14;
/// So many segments are thought to be beside one that must be folded in the same way however many there are.
const STEADY: i64 = 64;
/// Blocks of a reduction.
const BLOCKS: i64 = 2048;
/// The most blocks of an entry, and of one whose threads take memory from the arena.
const MOST_BLOCKS: (u64, u64) = (1 << 30, 256);
/// The blocks of such an entry if there is no memory for more.
const FEW_BLOCKS: u32 = 64;
/// Threads of a map, at most, for each point of [`Limits::wide`]. Beyond that threads take several points in turn: what each does before its
/// first one, and the wait for what that loads, are there once. There are still many times more blocks than run at once, since points
/// may differ in what they cost.
const TURNS: i64 = 8;
/// Bytes that each thread has for local buffers at first, at least and at most.
const SHARE: (u64, u64) = (256, 16 << 10);
/// Bytes of the shares of all threads at first, unless that is too little for some.
const FIRST_ARENA: u64 = 1 << 28;
/// The most bytes of the shares of all threads, if memory has no limit.
const ARENA: u64 = 1 << 32;

/// Sizes from which on launches take other forms. Results do not depend on them, but for the rounding of sums of ragged rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// So many points keep the device busy several at a thread.
    pub wide: i64,
    /// So many blocks, each with a tile of points, keep it busy.
    pub tiles: i64,
    /// More points than that in rows of any lengths are shared out by tiles.
    pub ragged: i64,
    /// So many blocks run at once, at most.
    pub resident: i64,
    /// Bytes of shared memory that a launch can give a block.
    pub room: u32,
}

/// What a launch does.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Plan {
    /// Arrays that live as long as the launch.
    pub(crate) scratch: Vec<Scratch>,
    /// What runs, in this order.
    pub(crate) steps: Vec<Step>,
}

/// A scratch array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Scratch {
    /// The type of an element.
    pub(crate) elem: ScalarType,
    /// Elements.
    pub(crate) len: usize,
    /// What it holds at first.
    pub(crate) first: First,
}

/// What an array holds at first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum First {
    /// Nothing defined.
    Anything,
    /// Zeros, which are zeros again at the end unless a check fails.
    Counters,
    /// Zeros, or words with tags of earlier launches.
    Tagged,
}

impl Scratch {
    /// How many bytes it takes.
    pub(crate) const fn bytes(&self) -> usize {
        self.len.saturating_mul(self.elem.bytes())
    }
}

/// A run of an entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Step {
    /// Its index among the entries of the kernel.
    pub(crate) entry: usize,
    /// Blocks, of [`THREADS`] threads each; not 0.
    pub(crate) blocks: u32,
    /// Bytes of shared memory that each block is given.
    pub(crate) shared: u32,
    /// The parameters behind the fixed ones.
    pub(crate) extras: Vec<Extra>,
}

/// A parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Extra {
    Value(u64),
    /// The address of a scratch array, by its index.
    Scratch(usize),
}

/// Addresses and sizes that a step is given besides the arguments; the order is that of `lower::Fixed`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fixed {
    /// The address of the failure record.
    pub(crate) failure: u64,
    /// The number of the launch, in the high half.
    pub(crate) launch: u64,
    /// The address of the memory for local buffers, if the entry uses it.
    pub(crate) arena: u64,
    /// The bytes of it that each thread has.
    pub(crate) share: u64,
    /// How deep recursive calls may be nested.
    pub(crate) depth: u64,
}

impl Step {
    /// The parameters: the arguments, the fixed ones, the extra ones.
    pub(crate) fn params(&self, slots: &[u64], fixed: Fixed, scratch: &[u64]) -> Vec<u64> {
        let fixed = [
            fixed.failure,
            fixed.launch,
            fixed.arena,
            fixed.share,
            fixed.depth,
        ];
        let extras = self.extras.iter().map(|extra| match extra {
            Extra::Value(value) => *value,
            Extra::Scratch(i) => scratch[*i],
        });
        let all = slots.iter().copied().chain(fixed).chain(extras);
        all.collect()
    }

    /// The threads of all blocks.
    pub(crate) const fn threads(&self) -> u64 {
        self.blocks as u64 * THREADS as u64
    }
}

impl Kernel {
    /// Lets a step have fewer blocks, if its threads take what points there are in turn.
    pub(crate) const fn can_do_with_fewer(&self, step: &mut Step) -> bool {
        let takes_turns = match self.lowered {
            Lowered::Map { .. } => step.entry == 0,
            Lowered::Blocks { .. } => true,
            Lowered::Seq(_)
            | Lowered::Red { .. }
            | Lowered::Scan { .. }
            | Lowered::Hist(_)
            | Lowered::Copies { .. } => false,
        };
        let can = takes_turns && step.blocks > FEW_BLOCKS;
        if can {
            step.blocks = FEW_BLOCKS;
        }
        can
    }
}

/// Bytes of local buffers that each thread has: what it begins with, and grows to when threads ask for more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Share(pub(crate) u64);

impl Share {
    /// What each of so many threads begins with.
    pub(crate) fn first(threads: u64) -> Self {
        Self((FIRST_ARENA / threads.max(1)).clamp(SHARE.0, SHARE.1) & !15)
    }

    /// The next larger share, after a thread asked for so many bytes in vain; an error when all shares of `threads`
    /// threads together would pass the limit of memory.
    pub(crate) fn grow(
        self,
        asked: u64,
        threads: u64,
        limit: Option<u64>,
    ) -> Result<Self, RunError> {
        let doubled = self.0.saturating_mul(4).max(asked.saturating_mul(2));
        let share = doubled.saturating_add(15) & !15;
        let bytes = share.saturating_mul(threads);
        if bytes > limit.unwrap_or(ARENA) {
            return Err(RunError::OutOfMemory {
                bytes,
                limit,
                trail: vec![],
            });
        }
        Ok(Self(share))
    }
}

/// Arguments as slots; `address` tells of a buffer where it is and what its elements are.
pub(crate) fn slots<B>(
    kernel: &Kernel,
    args: &[Arg<B>],
    address: impl Fn(&B) -> (u64, ScalarType),
) -> Result<Vec<u64>, RunError> {
    if kernel.args.len() != args.len() {
        return Err(RunError::Device(format!(
            "a kernel of {} arguments was given {}",
            kernel.args.len(),
            args.len()
        )));
    }
    let wrong = || RunError::Device("an argument of a kernel has the wrong type".to_owned());
    let slot = |(arg, ty): (&Arg<B>, &Type)| match (arg, ty) {
        (Arg::Scalar(value), Type::Scalar(ty)) if value.ty() == *ty => Ok(value.to_slot()),
        (Arg::Buffer(buffer), Type::Buffer(elem)) => {
            let (at, ty) = address(buffer);
            if ty == *elem { Ok(at) } else { Err(wrong()) }
        }
        (Arg::Scalar(_) | Arg::Buffer(_), _) => Err(wrong()),
    };
    args.iter().zip(&kernel.args).map(slot).collect()
}

/// What a launch with these arguments does. `load` yields an element of an argument that holds offsets of rows.
pub(crate) fn plan(
    kernel: &Kernel,
    limits: Limits,
    slots: &[u64],
    load: impl FnMut(usize, i64) -> Result<i64, RunError>,
) -> Result<Plan, RunError> {
    let extents = extents(kernel, slots, load)?;
    check_count(extents.points())?;
    let mut planner = Planner {
        kernel,
        limits,
        slots,
        plan: Plan::default(),
    };
    planner.kernel(extents);
    Ok(planner.plan)
}

fn scalar(source: Scalar, slots: &[u64]) -> u64 {
    match source {
        Scalar::Const(value) => value.to_slot(),
        Scalar::Argument(i) => slots[i],
    }
}

/// The sizes of a space.
struct Extents {
    /// The innermost extent and the number of points outside. Where the innermost dimension is ragged, 1 and the rows for what is
    /// folded, else the points and 1.
    inner: i64,
    outer: i64,
    /// The rows of a ragged innermost dimension, and the points.
    ragged: Option<(i64, i64)>,
}

impl Extents {
    /// The number of all points, saturating.
    fn points(&self) -> i64 {
        let points = self.inner.saturating_mul(self.outer);
        self.ragged.map_or(points, |(_, points)| points)
    }
}

fn extents(
    kernel: &Kernel,
    slots: &[u64],
    mut load: impl FnMut(usize, i64) -> Result<i64, RunError>,
) -> Result<Extents, RunError> {
    let folds = matches!(kernel.lowered, Lowered::Red { .. } | Lowered::Scan { .. });
    let (mut inner, mut outer, mut ragged) = (1i64, 1i64, None);
    for (i, dimension) in kernel.space.iter().enumerate() {
        let rows = inner.saturating_mul(outer);
        (inner, outer) = match dimension {
            Dimension::Regular(n) => ((scalar(*n, slots) as i64).max(0), rows),
            Dimension::Ragged(offsets) => {
                let points = load(*offsets, rows)?;
                let is_last = i + 1 == kernel.space.len();
                ragged = is_last.then_some((rows, points));
                // Folded by row: as many segments as rows.
                if folds && is_last {
                    (1, rows)
                } else {
                    (points, 1)
                }
            }
        };
    }
    Ok(Extents {
        inner,
        outer,
        ragged,
    })
}

/// A plan in the making.
struct Planner<'a> {
    kernel: &'a Kernel,
    limits: Limits,
    slots: &'a [u64],
    plan: Plan,
}

impl Planner<'_> {
    fn kernel(&mut self, extents: Extents) {
        let Extents {
            inner,
            outer,
            ragged,
        } = extents;
        let points = inner.saturating_mul(outer);
        if ragged.is_some_and(|rows| self.by_items(rows)) {
            return;
        }
        // How a steady row is folded is decided as if there were so many, whatever there are.
        let beside = match self.kernel.steady {
            true => STEADY,
            false => outer,
        };
        match &self.kernel.lowered {
            Lowered::Seq(_) => self.step(0, 1, vec![]),
            Lowered::Blocks { forms, .. } => {
                let (entry, each, shared) = self.form(forms);
                let threads = points.saturating_mul(each);
                self.threads(entry, threads, vec![Extra::Value(points as u64)]);
                if let Some(step) = self.plan.steps.last_mut() {
                    step.shared = shared;
                }
            }
            Lowered::Map { wide, tiled, .. }
                if let Some((i, blocks, tiles)) = self.tile(tiled, points) =>
            {
                let first = 1 + usize::from(wide.is_some());
                let extras = tiles.map(|n| Extra::Value(n as u64));
                self.step(first + i, blocks, extras.to_vec());
            }
            Lowered::Map {
                wide: Some((_, each)),
                ..
            } if points >= self.limits.wide
                && div_up(points, i64::from(THREADS * each)) <= MOST_BLOCKS.0 as i64 =>
            {
                let tile = i64::from(THREADS * each);
                let blocks = div_up(points, tile) as u32;
                self.step(1, blocks, vec![Extra::Value(points as u64)]);
            }
            Lowered::Hist(hist) => self.hist(hist, points),
            Lowered::Map { .. } => {
                let threads = points.min(TURNS.saturating_mul(self.limits.wide));
                self.threads(0, threads, vec![Extra::Value(points as u64)]);
            }
            Lowered::Red {
                more: Some(more), ..
            } if more.is_contiguous && inner > SHORT_ROW => {
                let (length, rows) = ROW;
                if inner <= length && beside >= rows {
                    let extras = [outer, inner].map(|n| Extra::Value(n as u64));
                    self.threads(2, outer.saturating_mul(32), extras.to_vec());
                } else {
                    self.reduce(inner, (outer, beside));
                }
            }
            Lowered::Red { more: Some(_), .. } if !is_small(inner, beside) => {
                self.reduce(inner, (outer, beside));
            }
            Lowered::Scan {
                more: Some(more), ..
            } if takes_warps(inner, beside, more) => {
                let extras = [outer, inner].map(|n| Extra::Value(n as u64));
                self.threads(1, outer.saturating_mul(32), extras.to_vec());
            }
            Lowered::Scan {
                more:
                    Some(MoreOfScan {
                        large: Some(large), ..
                    }),
                ..
            } if !is_small(inner, beside) => self.scan(inner, outer, large),
            Lowered::Red { .. } | Lowered::Scan { .. } => {
                self.threads(0, outer, vec![Extra::Value(outer as u64)]);
            }
            Lowered::Copies { .. } => self.copies(points),
        }
    }

    /// The first form that the points do with, by its entry, the threads of a point, and the bytes of shared memory that a block is to be
    /// given. It depends on what a point needs alone, so that its row is folded in the same way however many there are.
    fn form(&self, forms: &[BlockForm]) -> (usize, i64, u32) {
        let Some((width, bytes)) = self.kernel.needs else {
            return (0, 1, 0);
        };
        let [width, bytes] = [width, bytes].map(|n| scalar(n, self.slots) as i64);
        let room = |team: Team| team.room.unwrap_or(self.limits.room);
        let fits = |team: Team| width <= team.width && bytes <= i64::from(room(team));
        let Some(i) = forms.iter().position(|form| fits(form.team)) else {
            return (0, 1, 0);
        };
        let team = forms[i].team;
        let given = match team.room {
            Some(_) => 0,
            None => (bytes as u32).next_multiple_of(ROUNDING as u32),
        };
        (1 + i, team.threads.into(), given)
    }

    /// The form to work on a map in tiles by, its blocks, and the number of tiles along the columns and along the rows: the
    /// largest tiles that keep the device busy, or else the smallest; nothing if a tile would be half empty.
    fn tile(&self, tiled: &[Tiled], points: i64) -> Option<(usize, u32, [i64; 2])> {
        let steps = scalar(self.kernel.steps?, self.slots) as i64;
        let extent = |from_inside: usize| {
            let space = self.kernel.space.iter();
            match space.rev().nth(from_inside) {
                Some(Dimension::Regular(n)) => scalar(*n, self.slots) as i64,
                Some(Dimension::Ragged(_)) | None => 1,
            }
        };
        let mut chosen = None;
        for (i, form) in tiled.iter().enumerate() {
            let columns = i64::from(form.columns);
            let rows = form.rows.map_or(1, i64::from);
            let (width, height) = match form.rows {
                Some(_) => (extent(0), extent(1)),
                None => (extent(0), 1),
            };
            let is_full = 2 * width > columns && 2 * height > rows;
            if !is_full || steps < i64::from(form.steps) {
                continue;
            }
            let tiles = [div_up(width, columns), div_up(height, rows)];
            let outside = points / (width * height);
            let blocks = outside.saturating_mul(tiles[0].saturating_mul(tiles[1]));
            let blocks = u32::try_from(blocks).ok();
            let Some(blocks) = blocks.filter(|n| u64::from(*n) <= MOST_BLOCKS.0) else {
                continue;
            };
            chosen = Some((i, blocks, tiles));
            if i64::from(blocks) >= self.limits.tiles {
                break;
            }
        }
        chosen
    }

    fn step(&mut self, entry: usize, blocks: u32, extras: Vec<Extra>) {
        let code = self.kernel.entries()[entry];
        debug_assert_eq!(code.extras, extras.len(), "parameters of {}", code.name);
        if blocks > 0 {
            fired(forms::name(self.kernel, entry));
            self.plan.steps.push(Step {
                entry,
                blocks,
                shared: 0,
                extras,
            });
        }
    }

    fn scratch(&mut self, elem: ScalarType, len: i64, first: First) -> Extra {
        let len = len as usize;
        self.plan.scratch.push(Scratch { elem, len, first });
        Extra::Scratch(self.plan.scratch.len() - 1)
    }

    /// One thread for each of `count`, or as many as there may be.
    fn threads(&mut self, entry: usize, count: i64, extras: Vec<Extra>) {
        let (most, most_with_arena) = MOST_BLOCKS;
        let most = if self.kernel.entries()[entry].uses_arena {
            most_with_arena
        } else {
            most
        };
        let blocks = (count as u64).div_ceil(THREADS.into()).min(most);
        self.step(entry, blocks as u32, extras);
    }
}

/// Whether segments are folded by a thread each.
const fn is_small(inner: i64, outer: i64) -> bool {
    inner <= SHORT || outer >= MANY
}

/// Whether segments are scanned by a warp each: they are neither so short that threads do as well, nor so long that blocks do
/// better. Threads that would each read a column side by side are left alone.
fn takes_warps(inner: i64, outer: i64, more: &MoreOfScan) -> bool {
    let items = more.large.as_ref().map_or(0, |large| large.items);
    let tile = i64::from(THREADS * items);
    let longest = if outer < MANY_ROWS {
        LONG_ROW
    } else {
        tile.max(LONG_ROW)
    };
    let reads_rows = more.is_contiguous || outer < MANY_ROWS;
    reads_rows && inner > SHORT_ROW && inner <= longest
}

/// How many parts of a size cover a length; both positive.
fn div_up(length: i64, size: i64) -> i64 {
    length.unsigned_abs().div_ceil(size.unsigned_abs()) as i64
}
