//! Reductions and scans that blocks share out, and whatever else is worked on by tiles of rows.

use super::{BLOCKS, Extra, First, MOST_BLOCKS, Planner, div_up};
use crate::lower::{GROUP, Large, Lowered, Published, THREADS};
use midend::ir::types::ScalarType;

impl Planner<'_> {
    /// In as many parts for each segment as keep the device busy if there are so many beside.
    pub(super) fn reduce(&mut self, inner: i64, (outer, beside): (i64, i64)) {
        // No segments, no blocks.
        let parts = (BLOCKS / beside.max(1)).clamp(1, (inner / i64::from(4 * THREADS)).max(1));
        let chunk = div_up(inner, parts);
        let parts = div_up(inner, chunk);
        let mut extras = [inner, parts, chunk]
            .map(|n| Extra::Value(n as u64))
            .to_vec();
        // A block that is alone with its segment leaves nothing to others.
        let shared = if parts > 1 { outer } else { 0 };
        extras.push(self.scratch(ScalarType::U32, shared, First::Counters));
        for ty in &self.kernel.tuple {
            extras.push(self.scratch(*ty, shared * parts, First::Anything));
        }
        self.step(1, (outer * parts) as u32, extras);
    }

    /// Rows of any lengths by tiles of items, unless they are short, all of them together; tells whether it is so.
    pub(super) fn by_items(&mut self, (rows, points): (i64, i64)) -> bool {
        let kernel = self.kernel;
        let (items, large) = match &kernel.lowered {
            Lowered::Map {
                ragged: Some((_, items)),
                ..
            } => (*items, None),
            Lowered::Red {
                ragged: Some(large),
                ..
            }
            | Lowered::Scan {
                ragged: Some(large),
                ..
            } => (large.items, Some(large)),
            Lowered::Map { .. }
            | Lowered::Red { .. }
            | Lowered::Scan { .. }
            | Lowered::Blocks { .. }
            | Lowered::Seq(_)
            | Lowered::Hist(_)
            | Lowered::Copies { .. } => return false,
        };
        let entry = kernel.entries().len() - 1;
        let tiles = div_up(rows.saturating_add(points), i64::from(THREADS * items));
        let (most, most_with_arena) = MOST_BLOCKS;
        let uses_arena = kernel.entries()[entry].uses_arena;
        let most = if uses_arena { most_with_arena } else { most };
        if points <= self.limits.ragged || tiles as u64 > most {
            return false;
        }
        let mut extras = [rows, points].map(|n| Extra::Value(n as u64)).to_vec();
        if let Some(large) = large {
            let groups = div_up(tiles, GROUP.into());
            extras.extend([groups, tiles].map(|n| Extra::Value(n as u64)));
            self.publish(&mut extras, large.published, (tiles, groups));
        }
        let blocks = match large {
            Some(_) => self.at_once(tiles),
            None => tiles as u32,
        };
        self.step(entry, blocks, extras);
        true
    }

    pub(super) fn scan(&mut self, inner: i64, outer: i64, large: &Large) {
        let tile = i64::from(THREADS * large.items);
        let tiles = div_up(inner, tile);
        let groups = div_up(tiles, GROUP.into());
        let sizes = [inner, tiles, groups, outer * tiles].map(|n| Extra::Value(n as u64));
        let mut extras = sizes.to_vec();
        self.publish(
            &mut extras,
            large.published,
            (outer * tiles, outer * groups),
        );
        self.step(2, self.at_once(outer * tiles), extras);
    }

    /// The blocks that take so many tiles in turn.
    fn at_once(&self, tiles: i64) -> u32 {
        tiles.min(self.limits.resident) as u32
    }

    /// A counter of tiles, and arrays for what so many tiles and groups publish.
    fn publish(
        &mut self,
        extras: &mut Vec<Extra>,
        published: Published,
        (tiles, groups): (i64, i64),
    ) {
        extras.push(self.scratch(ScalarType::U32, 1, First::Counters));
        match published {
            Published::Counts => extras.push(self.scratch(ScalarType::U64, tiles, First::Tagged)),
            Published::Tuples { .. } => {
                let (arrays, width) = published.arrays();
                for len in [tiles, groups, groups] {
                    for _ in 0..arrays {
                        extras.push(self.scratch(
                            ScalarType::U64,
                            len * width as i64,
                            First::Tagged,
                        ));
                    }
                }
            }
        }
    }
}
