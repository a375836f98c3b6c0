//! Several steps of a map over what the step before wrote, done on some points before others, while what these read is still near.
//!
//! ```text
//! step 3      /a b c d e\ x x /a b c\          Points are cut into pieces, and pieces into strips, one for each thread. A point reads no farther than
//! step 2    /a b c d e f g\ x/a b c d e\       the next piece. In a strip, steps follow each other with a lag of one piece: a step on one piece, the next
//! step 1  /a b c d e f g h i\a b c d e f ..     step on the piece before that, and so on. Where strips meet, each step leaves a piece more to what
//! pieces  0 1 2 3 4 5 6 7 8 9 ..               comes when all strips are through with this (x).
//! ```
//!
//! There are two places for what steps write, in turns. A step overwrites a piece two steps old once all that read it are done. This is
//! time skewing (Wonnacott 2000) with trapezoids where strips meet (Frigo and Strumpen, *Cache oblivious stencil computations*, 2005).
//! Every point does what it does in a launch of its own, so results are the same to the bit.

mod blocks;

use super::map::call;
use super::{Run, fill, pieces, with_run};
use crate::buffer::{Account, Buffer};
use crate::compile::{Code, CompiledKind};
use crate::module::Module;
use crate::target::second_cache;
use crate::team::Team;
use crate::worker::{Launch, Worker};
use blocks::Blocks;
use midend::device::{Arg, Steps, Stop};
use midend::fired::fired;
use midend::trap::RunError;
use rayon::ThreadPool;
use std::sync::Arc;

/// Bytes that stay near a thread at most: half of the second nearest cache, where it is large.
pub(super) const NEAR: f64 = (1 << 20) as f64;
/// Blocks of planes may have so many times as much, which is the whole cache: they are smaller from step to step.
const WHOLE: i64 = 2;
/// The most steps that are done together.
const TOGETHER: i64 = 8;
/// Bytes of blocks of points of one dimension that stay in the nearest cache, and how many steps are done together there at most; and both where each step
/// reads of other arrays, too: what is asked for of these for the next block is there as well.
const NEAREST: (i64, i64) = (27 << 10, 12);
const NEAREST_OF_OTHERS: (i64, i64) = (18 << 10, 8);
/// So many such blocks for each thread are worth it, and so many bytes are too much without other arrays: then memory counts more than the nearest cache.
const FEW_BLOCKS: i64 = 6;
const MANY: i64 = 32 << 20;

/// Bytes that stay near a thread on this machine.
fn near() -> f64 {
    second_cache().map_or(NEAR, |bytes| NEAR.min(bytes as f64 / 2.0))
}

/// Whether steps over a space of so many dimensions that read and write so many bytes gain by it: else nearly all of it is near anyway.
pub(crate) fn is_worth(threads: usize, dearer: f64, (rank, bytes): (usize, u64)) -> bool {
    let nearest = (NEAREST.0 * FEW_BLOCKS) as f64;
    // One thread does not wait for others after each step.
    let enough = match (rank, threads) {
        (1, 2..) => nearest,
        _ => enough(),
    };
    bytes as f64 * dearer > enough * threads as f64
}

/// Bytes of which a good part is not in the second nearest cache.
fn enough() -> f64 {
    second_cache().map_or(NEAR, |bytes| NEAR.min(bytes as f64 * 0.875))
}

/// Runs a kernel several times, if that can be done so and nothing fails. Whether it was.
pub(crate) fn steps(
    (pool, team): (&ThreadPool, &Arc<Team>),
    (account, dearer): (&Account, f64),
    module: &Module,
    kernel: &str,
    steps: &Steps<'_, Buffer>,
    stop: &Stop,
) -> Result<bool, RunError> {
    let compiled = module.kernel(pool, kernel)?;
    let CompiledKind::Map {
        chunk,
        lanes,
        tiles: None,
        ..
    } = &compiled.kind
    else {
        return Ok(false);
    };
    let mut slots = vec![0; steps.args.len()];
    fill(&mut slots, compiled, steps.args)?;
    let launch = Launch::new(stop, account);
    let devices = (pool, team, dearer);
    let run = |run: &Run<'_>| run.steps(*chunk, *lanes, steps);
    if !with_run(devices, &launch, (compiled, &slots), run)? {
        return Ok(false);
    }
    // What fails first is found one step after the other.
    match launch.outcome(&module.spans) {
        Ok(()) => Ok(true),
        Err(RunError::Trap(_) | RunError::OutOfMemory { .. }) => Ok(false),
        Err(
            error @ (RunError::Interrupted
            | RunError::OutOfFuel
            | RunError::BadArguments(_)
            | RunError::Device(_)
            | RunError::Internal(_)),
        ) => Err(error),
    }
}

/// How points and steps are shared out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Shares {
    /// Points of a piece.
    piece: i64,
    /// Pieces.
    count: i64,
    /// Strips.
    strips: i64,
    /// Steps that are done together.
    together: i64,
}

impl Shares {
    /// So many bytes of each of the points should stay near, of which there are whole `rows` in a piece, for steps that reach so far.
    fn of(
        (points, row): (i64, i64),
        (reach, times): (i64, i64),
        near: i64,
        threads: i64,
    ) -> Option<Self> {
        let rows = |points: i64| points.saturating_add(row - 1) / row * row;
        let least = rows(reach.max(1));
        // Two pieces more than steps: those on both sides that are read, too.
        let mut together = (near / least - 2).min(TOGETHER).min(times);
        if points <= 0 || together < 2 {
            return None;
        }
        let share = (near / (together + 2)).min(points / (4 * together * threads));
        let piece = (share / row * row).max(least);
        let count = pieces(points, piece) as i64;
        if threads > 1 {
            together = together.min(count / (2 * threads));
        }
        (together >= 2).then_some(Self {
            piece,
            count,
            strips: threads,
            together,
        })
    }

    /// The first piece of a strip.
    const fn start(&self, strip: i64) -> i64 {
        strip * self.count / self.strips
    }

    /// The points of pieces.
    const fn points(&self, (lo, hi): (i64, i64)) -> (i64, i64) {
        (lo * self.piece, hi * self.piece)
    }

    /// What is done in a strip: calls `f` with steps and ranges of pieces, in order.
    fn strip(&self, strip: i64, steps: i64, f: &mut dyn FnMut(i64, (i64, i64))) {
        let (start, end) = (self.start(strip), self.start(strip + 1));
        let (before, after) = (i64::from(strip > 0), i64::from(strip + 1 < self.strips));
        for front in start..end + steps {
            for step in 0..steps {
                let piece = front - step;
                if piece >= start + before * step && piece < end - after * step {
                    f(step, (piece, piece + 1));
                }
            }
        }
    }

    /// What is left where a strip and the one before meet.
    fn seam(&self, strip: i64, steps: i64, f: &mut dyn FnMut(i64, (i64, i64))) {
        let start = self.start(strip);
        for step in 1..steps {
            f(step, (start - step, start + step));
        }
    }
}

/// Who does which steps on which points.
enum Order {
    Pieces(Shares),
    Blocks(Blocks),
}

/// What is done with a step and a range of points.
type Do<'a> = dyn FnMut(i64, (i64, i64)) + 'a;

impl Order {
    const fn together(&self) -> i64 {
        match self {
            Self::Pieces(shares) => shares.together,
            Self::Blocks(blocks) => blocks.together,
        }
    }

    /// Parts that threads may do at the same time, and those that may be done when all these are.
    const fn parts(&self) -> (i64, i64) {
        match self {
            Self::Pieces(shares) => (shares.strips, shares.strips - 1),
            Self::Blocks(blocks) => (blocks.count, blocks.count),
        }
    }

    /// What is done in a part of the first kind.
    fn first(&self, part: i64, steps: i64, f: &mut Do<'_>) {
        match self {
            Self::Pieces(shares) => shares.strip(part, steps, &mut |step, pieces| {
                f(step, shares.points(pieces));
            }),
            Self::Blocks(blocks) => blocks.block(part, steps, f),
        }
    }

    /// What is done in a part of the second kind.
    fn second(&self, part: i64, steps: i64, f: &mut Do<'_>) {
        match self {
            Self::Pieces(shares) => shares.seam(part + 1, steps, &mut |step, pieces| {
                f(step, shares.points(pieces));
            }),
            Self::Blocks(blocks) => blocks.seam(part, steps, f),
        }
    }
}

impl Run<'_> {
    /// How steps are done together, if they are: points in their order, unless planes are so large that more are if those are cut.
    fn order(&self, lanes: i64, steps: &Steps<'_, Buffer>) -> Option<Order> {
        let points = self.points(self.extents);
        // The bytes of a point: what is carried twice, and other buffers in which each has its own elements.
        let carried = steps.carried.iter();
        let of_carried: i64 = carried.map(|c| 2 * c.memory[0].elem().bytes() as i64).sum();
        let mut bytes = of_carried;
        for (arg, place) in steps.args.iter().zip(0..) {
            let is_carried = |c: &midend::device::Stepped<_>| c.from == place || c.to == place;
            if let Arg::Buffer(buffer) = arg
                && !steps.carried.iter().any(is_carried)
                && buffer.len() as i64 >= points
            {
                bytes += buffer.elem().bytes() as i64;
            }
        }
        let (nearest, most) = match bytes > of_carried {
            true => NEAREST_OF_OTHERS,
            false => NEAREST,
        };
        let is_line = self.extents.len() == 1;
        if is_line && (bytes > of_carried || points.saturating_mul(bytes) < MANY) {
            let (far, near) = ((steps.far, most), (nearest / bytes.max(1), steps.times));
            let line = Blocks::of_line((points, lanes.max(1)), far, near, self.threads as i64);
            if let Some(blocks) = line {
                fired("cpu/steps-in-blocks");
                return Some(Order::Blocks(blocks));
            }
        }
        let near = near() as i64 / bytes.max(1);
        let row = match self.extents {
            [_, inner @ ..] if !inner.is_empty() => self.points(inner).max(1),
            _ => lanes.max(1),
        };
        let (times, threads) = (steps.times, self.threads as i64);
        let shares = Shares::of((points, row), (steps.reach()?, times), near, threads);
        let together = shares.map_or(1, |shares| shares.together);
        if together < TOGETHER.min(times) {
            let (space, near) = ((self.extents, lanes.max(1)), WHOLE * near);
            let blocks = Blocks::of(space, (steps.far, TOGETHER), (near, times), threads);
            if let Some(blocks) = blocks.filter(|blocks| blocks.together > together) {
                fired("cpu/steps-in-blocks");
                return Some(Order::Blocks(blocks));
            }
        }
        shares.map(Order::Pieces)
    }

    /// All steps. Whether they were begun, and there was nothing that could not be computed.
    fn steps(&self, chunk: Code, lanes: i64, steps: &Steps<'_, Buffer>) -> bool {
        let Some(order) = self.order(lanes, steps) else {
            return false;
        };
        fired("cpu/steps-together");
        let points = self.points(self.extents);
        let (parts, seams) = order.parts();
        let mut first = 0;
        while first < steps.times && !self.launch.over() {
            let together = order.together().min(steps.times - first);
            let slots = (first..first + together).map(|step| self.slots_of(steps, step));
            let Some(slots) = slots.collect::<Option<Vec<_>>>() else {
                return false;
            };
            let on = |worker: &mut Worker<'_>, step: i64, (lo, hi): (i64, i64)| {
                let hi = hi.min(points);
                if lo < hi && !self.launch.over() {
                    call(chunk, worker, &slots[step as usize], (lo, hi));
                }
            };
            self.chunks_apart(parts as usize, &|worker, part| {
                order.first(part as i64, together, &mut |step, range| {
                    on(&mut *worker, step, range);
                });
            });
            self.chunks_apart(seams as usize, &|worker, part| {
                order.second(part as i64, together, &mut |step, range| {
                    on(&mut *worker, step, range);
                });
            });
            first += together;
        }
        true
    }

    /// The arguments of a step, if they can be computed.
    fn slots_of(&self, steps: &Steps<'_, Buffer>, step: i64) -> Option<Vec<u64>> {
        let mut slots = self.slots.to_vec();
        for carried in steps.carried {
            let memory = |step: i64| carried.memory[(step % 2) as usize].start() as u64;
            slots[carried.to] = memory(step);
            if step > 0 {
                slots[carried.from] = memory(step - 1);
            }
        }
        for (place, number) in (steps.numbers)(step).ok()? {
            slots[place] = number.to_slot();
        }
        Some(slots)
    }
}

#[cfg(test)]
mod tests {
    use super::Shares;

    /// Does steps in the order that strips and seams have, each piece as soon as may be, and checks that what is read is there.
    fn check(shares: Shares, steps: i64) {
        let count = shares.count as usize;
        // The steps that the places of even and of odd steps hold, piece by piece; what is given is the step before the first.
        let mut held = [vec![-2; count], vec![-1; count]];
        let mut on = |step: i64, (lo, hi): (i64, i64)| {
            for piece in lo..hi {
                let from = &held[(step + 1) as usize % 2];
                for read in (piece - 1).max(0)..(piece + 2).min(shares.count) {
                    assert_eq!(from[read as usize], step - 1, "{shares:?}: {step}, {piece}");
                }
                held[step as usize % 2][piece as usize] = step;
            }
        };
        // Strips in any order.
        for strip in (0..shares.strips).rev() {
            shares.strip(strip, steps, &mut on);
        }
        for strip in 1..shares.strips {
            shares.seam(strip, steps, &mut on);
        }
        assert!(
            held[(steps - 1) as usize % 2]
                .iter()
                .all(|s| *s == steps - 1)
        );
    }

    #[test]
    fn each_step_reads_what_the_one_before_wrote() {
        for threads in [1, 2, 3, 8] {
            for (points, row) in [(40_000, 100), (40_001, 16), (300_000, 7)] {
                for reach in [0, 1, 50, 700] {
                    for near in [1000, 5000, 20_000] {
                        let shares = Shares::of((points, row), (reach, 100), near, threads);
                        let Some(shares) = shares else { continue };
                        assert!(shares.piece >= reach && shares.piece * shares.count >= points);
                        for steps in 2..=shares.together {
                            check(shares, steps);
                        }
                    }
                }
            }
        }
        let hotspot = Shares::of((1 << 20, 1 << 10), (1025, 360), 87_381, 2);
        let expected = Shares {
            piece: 8 << 10,
            count: 128,
            strips: 2,
            together: 8,
        };
        assert_eq!(hotspot, Some(expected));
    }

    #[test]
    fn points_that_reach_far_are_done_step_by_step() {
        assert_eq!(
            Shares::of((1 << 20, 1 << 10), (1 << 15, 9), 87_381, 2),
            None
        );
        assert_eq!(Shares::of((1 << 10, 16), (16, 9), 87_381, 64), None);
        assert_eq!(Shares::of((0, 16), (16, 9), 87_381, 2), None);
    }
}
