//! Running kernels: arguments to slots, the space to chunks, chunks to threads.

mod columns;
mod hist;
mod map;
mod parts;
mod ragged;
mod reduce;
mod scan;
mod steps;

pub(crate) use parts::{in_parts, parts};
pub(crate) use steps::{is_worth, steps};

use crate::buffer::{Account, Buffer};
use crate::compile::{Code, Compiled, CompiledKind, Dimension, ScanCode, Source, Tuple};
use crate::module::Module;
use crate::team::Team;
use crate::worker::{Launch, Worker};
use midend::device::{Arg, Stop};
use midend::ir::types::{ScalarType, Type};
use midend::trap::RunError;
use ragged::Rows;
use rayon::ThreadPool;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Estimated nanoseconds of work that are worth a thread: for less nobody is woken, and where the whole is less it is not shared out.
const ALONE: f64 = 20_000.0;
/// The least and the most estimated nanoseconds of a chunk.
const CHUNK: (f64, f64) = (5_000.0, 100_000.0);

/// Code that is compiled when it is first asked for.
type Late<'a> = &'a dyn Fn() -> Result<Code, RunError>;

/// One launch of a kernel: what the strategies of the kinds share.
pub(crate) struct Run<'a> {
    launch: &'a Launch<'a>,
    account: &'a Account,
    pool: &'a ThreadPool,
    team: &'a Arc<Team>,
    slots: &'a [u64],
    extents: &'a [i64],
    /// The rows, if the space is ragged; then there are extents only if the rows are even: their number and theirs.
    rows: Option<Rows<'a>>,
    /// Estimated nanoseconds of one point.
    cost: f64,
    /// Whether that does not rest on guesses.
    is_cost_known: bool,
    /// How many times dearer everything is taken to be than it is.
    dearer: f64,
    /// Whether a row is folded in the same way however many there are.
    steady: bool,
    /// The threads of the device.
    threads: usize,
}

/// Runs a kernel to its end, on the threads of a pool; or of a map the points of some of the outermost indices, on this thread. Points are taken to be
/// `dearer` times as dear as they are.
pub(crate) fn launch(
    (pool, team): (&ThreadPool, &Arc<Team>),
    (account, dearer): (&Account, f64),
    module: &Module,
    kernel: &str,
    args: &[Arg<Buffer>],
    part: Option<(i64, i64)>,
    stop: &Stop,
) -> Result<(), RunError> {
    let compiled = module.kernel(pool, kernel)?;
    let mut few = [0; 32];
    let mut many = Vec::new();
    let slots = if args.len() <= few.len() {
        &mut few[..args.len()]
    } else {
        many.resize(args.len(), 0);
        &mut many[..]
    };
    fill(slots, compiled, args)?;
    let launch = Launch::new(stop, account);
    let devices = (pool, team, dearer);
    with_run(devices, &launch, (compiled, slots), |run| match part {
        None => run.run(compiled, &|| module.window(pool, kernel)),
        Some(points) => run.part(compiled, points),
    })??;
    launch.outcome(&module.spans)
}

/// What is done with a launch of a kernel with these arguments.
fn with_run<R>(
    (pool, team, dearer): (&ThreadPool, &Arc<Team>, f64),
    launch: &Launch<'_>,
    (compiled, slots): (&Compiled, &[u64]),
    f: impl FnOnce(&Run<'_>) -> R,
) -> Result<R, RunError> {
    let rank = compiled.space.len();
    let mut few_extents = [0; 16];
    let mut many_extents = Vec::new();
    let extents = if rank <= few_extents.len() {
        &mut few_extents[..]
    } else {
        many_extents.resize(rank, 0);
        &mut many_extents[..]
    };
    let rows = ragged::rows(compiled, slots)?;
    let rank = match rows {
        Some(Rows::Even(count, points)) => {
            extents[..2].copy_from_slice(&[count, points]);
            2
        }
        Some(Rows::Offsets(_)) => 0,
        None => {
            for (extent, dim) in extents.iter_mut().zip(&compiled.space) {
                if let Dimension::Regular(source) = dim {
                    *extent = (scalar(*source, slots) as i64).max(0);
                }
            }
            rank
        }
    };
    Ok(f(&Run {
        launch,
        account: launch.account,
        pool,
        team,
        slots,
        extents: &extents[..rank],
        rows,
        cost: compiled.cost.at(slots) * dearer,
        is_cost_known: compiled.cost.is_known(),
        dearer,
        steady: compiled.steady,
        threads: pool.current_num_threads(),
    }))
}

/// Arguments as compiled code wants them.
fn fill(slots: &mut [u64], compiled: &Compiled, args: &[Arg<Buffer>]) -> Result<(), RunError> {
    if compiled.args.len() != args.len() {
        return Err(RunError::Device(format!(
            "a kernel of {} arguments was given {}",
            compiled.args.len(),
            args.len()
        )));
    }
    for (slot, (arg, ty)) in slots.iter_mut().zip(args.iter().zip(&compiled.args)) {
        *slot = match (arg, ty) {
            (Arg::Scalar(value), Type::Scalar(ty)) if value.ty() == *ty => value.to_slot(),
            (Arg::Buffer(buffer), Type::Buffer(elem)) if buffer.elem() == *elem => {
                buffer.start() as u64
            }
            (Arg::Scalar(_) | Arg::Buffer(_), _) => {
                return Err(RunError::Device(
                    "an argument of a kernel has the wrong type".to_owned(),
                ));
            }
        };
    }
    Ok(())
}

/// A scalar of the launch, as a slot.
fn scalar(source: Source, slots: &[u64]) -> u64 {
    match source {
        Source::Const(value) => value.to_slot(),
        Source::Argument(i) => slots[i],
    }
}

impl Run<'_> {
    fn run(&self, compiled: &Compiled, window: Late<'_>) -> Result<(), RunError> {
        match &compiled.kind {
            CompiledKind::Seq { chunk } => {
                let mut worker = Worker::new(self.launch);
                map::call(*chunk, &mut worker, self.slots, (0, 1));
                Ok(())
            }
            CompiledKind::Map {
                chunk,
                lanes,
                vector,
                streamed,
                tiles,
            } => {
                let tiles = tiles.as_ref();
                self.store_past(*streamed);
                if !tiles.is_some_and(|tiles| self.tiles(tiles, None)) {
                    let (chunk, lanes) = self.faster((*chunk, *lanes), *vector);
                    self.map(chunk, lanes);
                }
                Ok(())
            }
            CompiledKind::Red {
                chunk,
                combine,
                columns,
                outs,
                tuple,
            } => {
                let columns = columns.filter(|_| self.is_wide());
                match self.rows {
                    Some(rows @ Rows::Offsets(_)) => {
                        self.reduce_ragged(rows, (*chunk, *combine), outs, tuple);
                    }
                    Some(Rows::Even(..)) | None => match columns {
                        Some(code) => self.reduce_columns((code, *combine), outs, tuple),
                        None => self.reduce(*chunk, *combine, outs, tuple),
                    },
                }
                Ok(())
            }
            CompiledKind::Scan {
                chunk,
                combine,
                other,
                outs,
                tuple,
                streamed,
            } => {
                self.store_past(*streamed);
                let codes = (*chunk, *combine, *other);
                match (self.rows, *other) {
                    (Some(rows @ Rows::Offsets(_)), ScanCode::Fix(fix)) => {
                        self.scan_ragged(rows, (*chunk, *combine, fix), outs, tuple);
                    }
                    _ => self.scan(codes, outs, tuple),
                }
                Ok(())
            }
            CompiledKind::Hist {
                chunk,
                has_window,
                tables,
                hists,
            } => self.hist((*chunk, *tables), has_window.then_some(window), hists),
        }
    }

    /// The number of points of the given dimensions.
    fn points(&self, extents: &[i64]) -> i64 {
        extents
            .iter()
            .fold(1, |n, extent| n.saturating_mul(*extent))
    }

    /// Does `work` for every chunk `0..count`, on all threads. A thread that takes part has one worker; chunks are
    /// handed out in order. Stops early when the launch is over.
    fn chunks(&self, count: usize, work: &(dyn Fn(&mut Worker<'_>, usize) + Sync)) {
        self.chunks_on(self.hands(count), count, work);
    }

    /// The same on so many threads.
    fn chunks_on(
        &self,
        hands: usize,
        count: usize,
        work: &(dyn Fn(&mut Worker<'_>, usize) + Sync),
    ) {
        let next = AtomicUsize::new(0);
        let claim = |_| {
            let mut worker = Worker::new(self.launch);
            loop {
                let chunk = next.fetch_add(1, Ordering::Relaxed);
                if chunk >= count || self.launch.over() {
                    break;
                }
                work(&mut worker, chunk);
            }
        };
        self.team.work(self.pool, hands, &claim);
    }

    /// The same, where the order does not matter: each thread begins with a share of its own, which is the same one from launch to
    /// launch, so that what an earlier launch has left near is still near; then it takes from the others.
    fn chunks_apart(&self, count: usize, work: &(dyn Fn(&mut Worker<'_>, usize) + Sync)) {
        self.shares(count, false, work);
    }

    /// The same, but every second launch goes through shares from their ends, of which more is near than of their beginnings. For what comes from
    /// memory that is slower: processors expect that what follows is wanted next.
    fn chunks_to_and_fro(&self, count: usize, work: &(dyn Fn(&mut Worker<'_>, usize) + Sync)) {
        self.shares(count, self.team.goes_back(), work);
    }

    fn shares(&self, count: usize, back: bool, work: &(dyn Fn(&mut Worker<'_>, usize) + Sync)) {
        let hands = self.hands(count);
        if hands <= 1 {
            return self.chunks_on(1, count, &|worker, chunk| {
                work(worker, if back { count - 1 - chunk } else { chunk });
            });
        }
        self.claims_apart(hands, (count, back), &|worker, next| {
            while let Some(chunk) = next() {
                work(worker, chunk);
            }
        });
    }

    /// The same for what each of so many threads begins with and ends with: `claim` is done once by each, and has the next of its chunks
    /// from the function that it is given.
    fn claims_apart(&self, hands: usize, (count, back): (usize, bool), claim: &Claim<'_>) {
        let shares: Vec<Share> = (0..hands)
            .map(|k| Share {
                done: AtomicUsize::new(0),
                chunks: k * count / hands..(k + 1) * count / hands,
            })
            .collect();
        let all = |home: usize| {
            let mut worker = Worker::new(self.launch);
            let (others, mine) = shares.split_at(home % hands);
            let mut left = mine.iter().chain(others).peekable();
            claim(&mut worker, &mut || {
                while let Some(share) = left.peek() {
                    if let Some(chunk) = share.next(back).filter(|_| !self.launch.over()) {
                        return Some(chunk);
                    }
                    left.next();
                }
                None
            });
        };
        self.team.work(self.pool, hands, &all);
    }

    /// How many threads are worth their while for so many chunks. Where the work may be far more than it seems, they are all.
    fn hands(&self, count: usize) -> usize {
        let all = self.threads.min(count);
        if !self.is_cost_known {
            return all;
        }
        let (items, cost) = self.items();
        let work = items as f64 * cost;
        let worth = |each: f64| (work / each).max(1.0) as usize;
        // Those who are awake are worth less.
        let awake = self.team.awake() + 1;
        all.min(worth(ALONE).max(worth(CHUNK.0).min(awake)))
    }

    /// The same on this thread alone.
    fn chunks_here(&self, count: usize, work: &(dyn Fn(&mut Worker<'_>, usize) + Sync)) {
        let mut worker = Worker::new(self.launch);
        for chunk in 0..count {
            if self.launch.over() {
                break;
            }
            work(&mut worker, chunk);
        }
    }

    /// The neutral element of a tuple, in slots.
    fn neutral(&self, tuple: &Tuple) -> Vec<u64> {
        tuple
            .neutral
            .iter()
            .map(|source| scalar(*source, self.slots))
            .collect()
    }

    /// The addresses of result buffers.
    fn table(&self, outs: &[usize]) -> Vec<*mut u8> {
        outs.iter().map(|i| self.slots[*i] as *mut u8).collect()
    }
}

/// What a thread does with the chunks that it is given one after the other.
type Claim<'a> = dyn Fn(&mut Worker<'_>, &mut dyn FnMut() -> Option<usize>) + Sync + 'a;

/// Chunks that one thread begins with, and how many of them are done or under way.
#[repr(align(128))]
struct Share {
    done: AtomicUsize,
    chunks: Range<usize>,
}

impl Share {
    /// The next of the chunks, from the last of them or from the first.
    fn next(&self, back: bool) -> Option<usize> {
        let chunks = self.chunks.clone();
        let done = self.done.fetch_add(1, Ordering::Relaxed);
        let mut left = chunks.skip(done);
        left.next().map(|chunk| match back {
            true => self.chunks.start + self.chunks.end - 1 - chunk,
            false => chunk,
        })
    }
}

/// Addresses that threads share.
#[derive(Clone, Copy)]
struct Shared<T>(*mut T);

// SAFETY: each thread works on its own part of what is behind the pointer.
unsafe impl<T> Send for Shared<T> {}
// SAFETY: as above.
unsafe impl<T> Sync for Shared<T> {}

impl<T> Shared<T> {
    fn at(&self, index: usize) -> *mut T {
        self.0.wrapping_add(index)
    }
}

/// The bounds of chunk `i` when `total` is cut into pieces of `size`.
fn piece(i: usize, size: i64, total: i64) -> (i64, i64) {
    let lo = i as i64 * size;
    (lo, lo.saturating_add(size).min(total))
}

/// The size of pieces such that there are about `count`, and not smaller than `least`; a multiple of 16, and of as many points as groups have at most where
/// that adds little, so that only the last piece has points that are left over.
fn piece_size(total: i64, count: i64, least: f64) -> i64 {
    let even = total
        .min(i64::MAX - 64)
        .unsigned_abs()
        .div_ceil(count.max(1).unsigned_abs()) as i64;
    let least = least.clamp(1.0, 1e15) as i64;
    let size = even.max(least).max(1);
    let multiple = match size {
        ..16 => 1,
        16..1024 => 16,
        _ => 64,
    };
    (size + multiple - 1) & -multiple
}

/// How many pieces of a size there are.
fn pieces(total: i64, size: i64) -> usize {
    total.unsigned_abs().div_ceil(size.unsigned_abs()) as usize
}

/// The element type of a component, for addresses.
const fn width(ty: ScalarType) -> usize {
    ty.bytes()
}

/// Turns the address of a unit into a function.
///
/// # Safety
/// `F` is the signature that the unit was emitted with.
unsafe fn function<F: Copy>(code: Code) -> F {
    const { assert!(size_of::<F>() == size_of::<*const u8>()) };
    // SAFETY: both are addresses; the caller vouches for the signature.
    unsafe { std::mem::transmute_copy::<*const u8, F>(&code.0) }
}

#[cfg(test)]
mod tests {
    use super::Share;
    use std::sync::atomic::AtomicUsize;

    #[test]
    fn shares_are_gone_through_from_either_end() {
        let all = |back: bool| {
            let share = Share {
                done: AtomicUsize::new(0),
                chunks: 3..7,
            };
            let chunks: Vec<usize> = std::iter::from_fn(|| share.next(back)).collect();
            assert_eq!(share.next(back), None);
            chunks
        };
        assert_eq!(all(false), [3, 4, 5, 6]);
        assert_eq!(all(true), [6, 5, 4, 3]);
    }
}
