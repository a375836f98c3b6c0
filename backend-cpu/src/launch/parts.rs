//! Parts of loops ([`midend::device::Device::parts`]): how many, who does them, and launches of some of the points of a map.

use super::steps::NEAR;
use super::{Run, map, pieces};
use crate::compile::{Compiled, CompiledKind};
use crate::team::Team;
use midend::trap::RunError;
use rayon::ThreadPool;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Points that are done between two looks at whether to stop cost at most so many nanoseconds.
const PATIENCE: f64 = 1e7;

/// Parts of a thread, so that threads end at about the same time.
const SHARES: usize = 4;

/// In how many parts to run a loop over so many points, a step of which goes through so many bytes, which are taken to be `dearer` times as
/// many: as many as it takes for those of each thread to stay near, and as many for each thread. Nothing if all of them do so anyway, if those of
/// one point do not, or if there are fewer points than threads.
pub(crate) fn parts(threads: usize, dearer: f64, (points, bytes): (i64, u64)) -> Option<usize> {
    let points = usize::try_from(points)
        .ok()
        .filter(|n| *n >= threads.max(2))?;
    let each = bytes as f64 / points as f64;
    if each > NEAR || bytes as f64 * dearer <= NEAR * threads as f64 {
        return None;
    }
    let together = ((NEAR / (each * dearer)) as usize).max(1);
    let least = points.div_ceil(together).max(SHARES * threads);
    let parts = least.next_multiple_of(threads);
    Some(parts.min(points)).filter(|parts| *parts > 1)
}

/// Does `work` for each part, on all threads.
pub(crate) fn in_parts(
    (pool, team): (&ThreadPool, &Arc<Team>),
    count: usize,
    work: &(dyn Fn(usize) + Sync),
) {
    let next = AtomicUsize::new(0);
    let hands = pool.current_num_threads().min(count);
    team.work(pool, hands, &|_| {
        loop {
            let part = next.fetch_add(1, Ordering::Relaxed);
            if part >= count {
                break;
            }
            work(part);
        }
    });
}

impl Run<'_> {
    /// Runs the points of some of the outermost indices, on this thread.
    pub(super) fn part(&self, compiled: &Compiled, (lo, hi): (i64, i64)) -> Result<(), RunError> {
        let CompiledKind::Map {
            chunk,
            lanes,
            vector,
            tiles,
            ..
        } = &compiled.kind
        else {
            return Err(RunError::Internal("a part of what is no map".to_owned()));
        };
        let tiles = tiles.as_ref();
        if tiles.is_some_and(|tiles| self.tiles(tiles, Some((lo, hi)))) {
            return Ok(());
        }
        let inner = self.points(self.extents.get(1..).unwrap_or_default());
        let (chunk, _) = self.faster((*chunk, *lanes), *vector);
        let (lo, total) = (lo * inner, (hi - lo) * inner);
        let size = ((PATIENCE / self.cost) as i64).clamp(1, total.max(1));
        self.chunks_here(pieces(total, size), &|worker, i| {
            let (from, to) = super::piece(i, size, total);
            map::call(chunk, worker, self.slots, (lo + from, lo + to));
        });
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::parts;

    #[test]
    fn parts_stay_near_and_threads_have_as_many() {
        let mib = 1 << 20;
        assert_eq!(parts(2, 1.0, (32, 5 * mib)), Some(8));
        assert_eq!(parts(1, 1.0, (32, 5 * mib)), Some(6));
        assert_eq!(parts(16, 1.0, (64, 64 * mib)), Some(64));
        // All of it is near anyway.
        assert_eq!(parts(2, 1.0, (32, 2 * mib)), None);
        assert_eq!(parts(16, 1.0, (32, 5 * mib)), None);
        // A point is too much, or there are too few.
        assert_eq!(parts(2, 1.0, (4, 64 * mib)), None);
        assert_eq!(parts(16, 1.0, (8, 64 * mib)), None);
        assert_eq!(parts(1, 1.0, (1, 64 * mib)), None);
        assert_eq!(parts(2, 1e6, (3, 300)), Some(3));
    }
}
