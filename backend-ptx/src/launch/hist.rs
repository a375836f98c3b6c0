//! Launches of histograms: the choice by buckets, operator and points.
//!
//! ```text
//! buckets fit into shared memory, and there are several points for each  ──►  blocks gather there: by atomic operations that
//!                                                                             there are on words, else in order
//! any order will do                                                      ──►  atomic operations on memory, a thread per point
//! order matters                                                          ──►  blocks gather in order, a range of buckets each
//! the body combines by itself                                            ──►  few threads, with a copy of the buckets each
//! ```
//!
//! Where order matters, sizes alone decide which points go together.

use super::{BLOCKS, Extra, First, MOST_BLOCKS, Planner, div_up, scalar};
use crate::lower::{Form, Hist, SHARED_BUCKETS, THREADS, words_of};
use midend::ir::types::ScalarType;

/// Copies of the buckets of a histogram, and values in all copies.
const COPIES: (i64, i64) = (1024, 1 << 20);
/// Points that each block has for each word of its buckets in shared memory, at least.
const GATHERED: i64 = 4;
/// Blocks that gather in order.
const ORDERED: i64 = 512;
/// Binary logarithms of the buckets that a block merges: of few buckets, and of many.
const MERGED: (u32, u32) = (3, 5);
/// So many buckets are many.
const MANY_BUCKETS: i64 = 4096;

/// How points and buckets are shared out in order.
struct Shares {
    /// Points of a block, and of each warp that works.
    size: i64,
    part: i64,
    runs: i64,
    /// Ranges of buckets, and buckets of a range.
    ranges: i64,
    range: i64,
    /// Copies of the buckets of a block.
    copies: i64,
}

impl Shares {
    /// The shares of so many points and buckets, with so many words for each bucket, on so many blocks at most.
    fn of(points: i64, buckets: i64, words: i64, blocks: i64) -> Self {
        let room = i64::from(SHARED_BUCKETS) / words;
        let range = buckets.min(room);
        let ranges = div_up(buckets, range);
        let copies = (room / range).min((THREADS / 32).into());
        let copies = 1 << copies.ilog2();
        // A run has more points than buckets, so that filling and merging do not cost more than the work.
        let points_each = (GATHERED * words * range).max(i64::from(4 * THREADS));
        let runs = (blocks / ranges).min(points / points_each).max(1);
        let part = (div_up(div_up(points, runs), copies) as u64).next_multiple_of(32) as i64;
        let size = part * copies;
        Self {
            size,
            part,
            runs: div_up(points, size),
            ranges,
            range,
            copies,
        }
    }
}

impl Planner<'_> {
    /// The numbers of buckets of all histograms.
    fn buckets(&self) -> impl Iterator<Item = (i64, &[(usize, ScalarType)])> {
        let hists = self.kernel.hists.iter();
        hists.map(|(n, dests)| ((scalar(*n, self.slots) as i64).max(0), dests.as_slice()))
    }

    pub(super) fn hist(&mut self, hist: &Hist, points: i64) {
        if points == 0 {
            return;
        }
        // Points without buckets may fail all the same.
        let most = self.buckets().map(|(n, _)| n).max().unwrap_or(0).max(1);
        let types = self.buckets().flat_map(|(_, dests)| dests);
        let words: usize = types.map(|(_, ty)| words_of(*ty)).sum();
        let words = words as i64;
        let fits = most <= i64::from(SHARED_BUCKETS) / words;
        let are_many = points >= most.saturating_mul(GATHERED * words);
        let index = |form| {
            let entries = hist.entries();
            entries.iter().position(|(other, _)| *other == form)
        };
        match (index(Form::Atomic), index(Form::Shared)) {
            (_, Some(shared)) if self.gather(shared, points) => {}
            (Some(atomic), Some(_)) => {
                self.threads(atomic, points, vec![Extra::Value(points as u64)]);
            }
            (Some(atomic), None) if !(fits && are_many) => {
                self.threads(atomic, points, vec![Extra::Value(points as u64)]);
            }
            (None | Some(_), _) => {
                let steps = index(Form::Ordered).zip(index(Form::Merge));
                if let Some(steps) = steps {
                    self.ordered(steps, points, (most, words));
                }
            }
        }
    }

    /// A histogram in shared memory, if there is room for the buckets, and more points than buckets; tells whether it is.
    fn gather(&mut self, entry: usize, points: i64) -> bool {
        let mut words = 0i64;
        for (buckets, dests) in self.buckets() {
            let each: usize = dests.iter().map(|(_, ty)| words_of(*ty)).sum();
            words = words.saturating_add(buckets.saturating_mul(each as i64));
        }
        let blocks = BLOCKS.min(points / (GATHERED * words).max(i64::from(4 * THREADS)));
        if words > i64::from(SHARED_BUCKETS) || blocks == 0 {
            return false;
        }
        let copies = (i64::from(SHARED_BUCKETS) / words.max(1)).clamp(1, (THREADS / 32).into());
        let size = div_up(points, blocks);
        let extras = [points, size, 1 << copies.ilog2()];
        let extras = extras.map(|n| Extra::Value(n as u64)).to_vec();
        let uses_arena = self.kernel.entries()[entry].uses_arena;
        if uses_arena && div_up(points, size) as u64 > MOST_BLOCKS.1 {
            return false;
        }
        self.step(entry, div_up(points, size) as u32, extras);
        true
    }

    /// Blocks that gather in order, and blocks that merge what they come to.
    fn ordered(&mut self, (work, merge): (usize, usize), points: i64, (most, words): (i64, i64)) {
        let blocks = if self.kernel.entries()[work].uses_arena {
            MOST_BLOCKS.1 as i64
        } else {
            ORDERED
        };
        let shares = Shares::of(points, most, words, blocks);
        let Shares { runs, ranges, .. } = shares;
        let mut arrays = Vec::new();
        for (buckets, dests) in &self.kernel.hists {
            let buckets = (scalar(*buckets, self.slots) as i64).max(0);
            for (_, ty) in dests {
                let len = if runs > 1 { buckets * runs } else { 0 };
                arrays.push(self.scratch(*ty, len, First::Anything));
            }
        }
        let with = |first: &[i64]| {
            let first = first.iter().map(|n| Extra::Value(*n as u64));
            first.chain(arrays.iter().copied()).collect::<Vec<_>>()
        };
        let Shares { size, part, .. } = shares;
        let Shares { range, copies, .. } = shares;
        let sizes = [points, size, part, runs, ranges, range, copies];
        // Where points take memory from the arena, blocks have several tasks each rather than too many threads.
        let tasks = runs.saturating_mul(ranges);
        let tasks = if blocks == ORDERED {
            tasks.min(MOST_BLOCKS.0 as i64)
        } else {
            tasks.min(blocks)
        };
        self.step(work, tasks as u32, with(&sizes));
        if runs > 1 {
            let (few, many) = MERGED;
            let shift = if most < MANY_BUCKETS { few } else { many };
            let each = div_up(runs, i64::from(THREADS >> shift));
            let parts = div_up(runs, each);
            let blocks = div_up(most, 1 << shift).min(MOST_BLOCKS.0 as i64);
            self.step(
                merge,
                blocks as u32,
                with(&[runs, shift.into(), parts, each]),
            );
        }
    }

    /// By few threads.
    pub(super) fn copies(&mut self, points: i64) {
        if points == 0 {
            return;
        }
        let kernel = self.kernel;
        let hists: Vec<(i64, &[(usize, ScalarType)])> = kernel
            .hists
            .iter()
            .map(|(n, dests)| ((scalar(*n, self.slots) as i64).max(0), dests.as_slice()))
            .collect();
        let values: i64 = hists.iter().map(|(n, dests)| n * dests.len() as i64).sum();
        // A run is longer than its buckets, so that filling and merging do not cost more than the work.
        let most = match kernel.steady {
            true => 1,
            false => (COPIES.1 / values.max(1)).min(points / values.max(16)),
        };
        let size = div_up(points, most.clamp(1, COPIES.0));
        let runs = div_up(points, size);
        let mut tables = Vec::new();
        for (buckets, dests) in &hists {
            for (arg, ty) in *dests {
                tables.push(if runs == 1 {
                    Extra::Value(self.slots[*arg])
                } else {
                    self.scratch(*ty, buckets * runs, First::Anything)
                });
            }
        }
        let with = |first: &[i64]| {
            let first = first.iter().map(|n| Extra::Value(*n as u64));
            first.chain(tables.iter().copied()).collect::<Vec<_>>()
        };
        let [fill, work, merge] = [0, 1, 2];
        let most_buckets = hists.iter().map(|(n, _)| *n).max().unwrap_or(0);
        if runs > 1 {
            self.threads(fill, most_buckets * runs, with(&[runs]));
        }
        self.threads(work, runs, with(&[points, size, runs]));
        if runs > 1 {
            self.threads(merge, most_buckets, with(&[runs]));
        }
    }
}
