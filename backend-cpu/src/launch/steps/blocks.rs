//! Steps together of spaces whose planes are too large to stay near: planes are cut, too.
//!
//! ```text
//!            plane z                                    In a block, steps follow each other through the planes with a lag of as many
//!  step 3    \ a a / x x \ b b /                        as a point reads away: a step on a plane, the next step on the plane before
//!  step 2   \ a a a a / \ b b b b /                     that, and so on. Each step takes as much off both sides of a block as a point
//!  step 1  \ a a a a a a / b b b b b b /                reads beyond its own rows, and what is left between blocks (x) is done in the
//!  points  0 1 2 3 4 5 6 7 8 9 ..                       same way when all blocks are through.
//! ```
//!
//! Places are numbers among all points here, so that nothing has to be known of edges: what follows the last point of a plane is the first one of the
//! next, and blocks meet there as they do elsewhere.

/// How planes, and steps on them, are shared out.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Blocks {
    /// Planes, and points of one.
    planes: i64,
    plane: i64,
    /// How many planes away a point reads.
    lag: i64,
    /// So many points each step takes off either side of a block, and blocks begin at multiples of `unit`.
    off: i64,
    unit: i64,
    /// Blocks of a plane.
    pub(super) count: i64,
    /// Steps that are done together.
    pub(super) together: i64,
    /// How much goes through memory in a step, as a part of what does if each is done alone.
    part: f64,
}

/// How far a point reads: for each read, numbers times numbers of points.
pub(super) type Far = [Vec<(i64, i64)>];

/// So much of what goes through memory is too much for steps to gain: what they write is read from there first, which single steps may do without, and
/// both places are written back.
const TOO_MUCH: f64 = 0.45;

/// Blocks have so many groups of lanes in each plane, or more.
const GROUPS: i64 = 16;
/// Fewer steps than these are not worth blocks of a line.
const FEW: i64 = 4;

impl Blocks {
    /// The best of the ways to see a space as planes, if `near` points stay near a thread, groups have so many lanes, and so many steps, `most` of which
    /// are done together, are shared by the threads.
    pub(super) fn of(
        (extents, lanes): (&[i64], i64),
        (far, most): (&Far, i64),
        (near, times): (i64, i64),
        threads: i64,
    ) -> Option<Self> {
        let ways = (1..extents.len()).flat_map(|outer| {
            (2..=most.min(times)).filter_map(move |together| {
                let space = (extents, outer, lanes);
                Self::with(space, (far, times), (together, near), threads)
            })
        });
        ways.filter(|way| way.part < TOO_MUCH)
            .min_by(|a, b| a.part.total_cmp(&b.part))
    }

    /// So many points as one plane: with as many steps done together as blocks of what stays near allow, but not a few.
    pub(super) fn of_line(
        (points, lanes): (i64, i64),
        (far, most): (&Far, i64),
        (near, times): (i64, i64),
        threads: i64,
    ) -> Option<Self> {
        let (most, extents) = (most.min(times), [points]);
        let mut ways = (most.min(FEW)..=most).rev().filter_map(|together| {
            let space = (&extents[..], 0, lanes);
            Self::with(space, (far, times), (together, near), threads)
        });
        ways.next()
    }

    /// Planes are what the outermost indices, so many of them, are of.
    fn with(
        (extents, outer, lanes): (&[i64], usize, i64),
        (far, times): (&Far, i64),
        (together, near): (i64, i64),
        threads: i64,
    ) -> Option<Self> {
        // As many each time, if they do not come out even.
        let turns = (times + together - 1) / together;
        let together = (times + turns - 1) / turns;
        let product = |extents: &[i64]| {
            let mut all = extents.iter();
            all.try_fold(1i64, |n, extent| n.checked_mul(*extent))
        };
        let (planes, plane) = (product(&extents[..outer])?, product(&extents[outer..])?);
        // Whole rows are taken off, or whole groups of lanes of the only row.
        let row = match &extents[outer + 1..] {
            [] => 1,
            inner => product(inner)?,
        };
        let unit = if row > 1 { row } else { lanes };
        if planes < 1 || plane < 1 || unit < 1 {
            return None;
        }
        let (mut lag, mut off) = (0, 0);
        for read in far {
            let (away, beside) = apart(read, (plane, row))?;
            lag = away.max(lag);
            off = beside.max(off);
        }
        let off = off.checked_add(unit - 1)? / unit * unit;
        // Those of which a step wants what another has written, at either end.
        let live = lag.checked_mul(together + 1)?.checked_add(1)?;
        let least = off
            .checked_mul(2 * (together - 1))?
            .max(unit)
            .max(GROUPS * lanes);
        let fits = near / live / unit * unit;
        if fits < least || fits >= plane {
            return None;
        }
        let units = plane / unit;
        let count = units.unsigned_abs().div_ceil((fits / unit).unsigned_abs()) as i64;
        let count = (count + threads - 1) / threads * threads;
        let size = units / count * unit;
        if size < least {
            return None;
        }
        let through = (size + 2 * off * together) * turns;
        Some(Self {
            planes,
            plane,
            lag,
            off,
            unit,
            count,
            together,
            part: through as f64 / (size * times) as f64,
        })
    }

    /// Where a block begins in each plane.
    const fn start(&self, block: i64) -> i64 {
        if block == self.count {
            return self.plane;
        }
        block * (self.plane / self.unit) / self.count * self.unit
    }

    /// What is done in a block: calls `f` with steps and ranges of points, in order.
    pub(super) fn block(&self, block: i64, steps: i64, f: &mut dyn FnMut(i64, (i64, i64))) {
        let (start, end) = (self.start(block), self.start(block + 1));
        self.through(self.planes, steps, &mut |step, plane| {
            let off = step * self.off;
            f(step, (plane + start + off, plane + end - off));
        });
    }

    /// What is left where a block and the one before meet; the one before the first is the last one of the plane before.
    pub(super) fn seam(&self, block: i64, steps: i64, f: &mut dyn FnMut(i64, (i64, i64))) {
        let (start, points) = (self.start(block), self.planes * self.plane);
        self.through(self.planes + 1, steps, &mut |step, plane| {
            let off = step * self.off;
            let meet = plane + start;
            f(step, ((meet - off).max(0), (meet + off).min(points)));
        });
    }

    /// Steps and where planes begin, with a lag.
    fn through(&self, planes: i64, steps: i64, f: &mut dyn FnMut(i64, i64)) {
        for front in 0..planes + self.lag * (steps - 1) {
            for step in 0..steps {
                let plane = front - step * self.lag;
                if (0..planes).contains(&plane) {
                    f(step, plane * self.plane);
                }
            }
        }
    }
}

/// How many planes away a read is, and how many points beside that.
fn apart(read: &[(i64, i64)], (plane, row): (i64, i64)) -> Option<(i64, i64)> {
    let (mut planes, mut rows, mut rest) = (0i64, 0i64, 0i64);
    for (number, size) in read {
        let (number, size) = (number.checked_abs()?, size.checked_abs()?);
        let add = |sum: i64, one: i64| sum.checked_add(one.checked_mul(number)?);
        planes = add(planes, size / plane)?;
        rows = add(rows, size % plane / row)?;
        rest = add(rest, size % plane % row)?;
    }
    // The row before or behind is as near as the end of this one.
    let rows = rows.checked_add(rest.checked_add(row - 1)? / row)?;
    Some((planes, rows.checked_mul(row)?))
}

#[cfg(test)]
mod tests {
    use super::Blocks;

    /// Does steps in the order that blocks and seams have, and checks that what is read is there.
    fn check(blocks: &Blocks, steps: i64) {
        let points = blocks.planes * blocks.plane;
        // The steps that the places of even and of odd steps hold; what is given is the step before the first.
        let mut held = [vec![-2; points as usize], vec![-1; points as usize]];
        let mut on = |step: i64, (lo, hi): (i64, i64)| {
            for point in lo..hi {
                let from = &held[(step + 1) as usize % 2];
                for plane in -blocks.lag..=blocks.lag {
                    for beside in [-blocks.off, -blocks.off / 2, 0, blocks.off] {
                        let read = point + plane * blocks.plane + beside;
                        if (0..points).contains(&read) {
                            assert_eq!(
                                from[read as usize],
                                step - 1,
                                "{blocks:?}: {step}, {point}"
                            );
                        }
                    }
                }
                held[step as usize % 2][point as usize] = step;
            }
        };
        // Blocks in any order.
        for block in (0..blocks.count).rev() {
            blocks.block(block, steps, &mut on);
        }
        for seam in (0..blocks.count).rev() {
            blocks.seam(seam, steps, &mut on);
        }
        let last = &held[(steps - 1) as usize % 2];
        assert!(last.iter().all(|s| *s == steps - 1), "{blocks:?}");
    }

    #[test]
    fn each_step_reads_what_the_one_before_wrote() {
        let mut count = 0;
        for extents in [
            &[5, 40, 9][..],
            &[3, 103, 4],
            &[2, 3, 90, 5],
            &[7, 1000],
            &[1, 300, 3],
        ] {
            let inner = |d: usize| extents[d + 1..].iter().product::<i64>();
            let strides: Vec<i64> = (0..extents.len()).map(inner).collect();
            for reach in [0, 1, 2] {
                let mut far: Vec<Vec<(i64, i64)>> =
                    strides.iter().map(|s| vec![(reach, *s)]).collect();
                far.push(strides.iter().map(|s| (1, *s)).collect());
                for far in [&far[..], &far[..strides.len()], &far[1..strides.len()]] {
                    for near in [400, 1000, 2500] {
                        for threads in [1, 2, 3] {
                            let blocks = Blocks::of((extents, 8), (far, 8), (near, 24), threads);
                            let Some(blocks) = blocks else { continue };
                            count += 1;
                            for steps in 2..=blocks.together {
                                check(&blocks, steps);
                            }
                        }
                    }
                }
            }
        }
        assert!(count > 50, "{count}");
        for (reach, points, threads) in [(0, 4000, 1), (1, 4005, 2), (9, 5000, 3), (1, 900, 2)] {
            let (most, near) = (([vec![(reach, 1)]], 12), (800, 25));
            let blocks = Blocks::of_line((points, 16), (&most.0, most.1), near, threads);
            let blocks = blocks.filter(|blocks| blocks.together > 5).expect("blocks");
            (2..=blocks.together).for_each(|steps| check(&blocks, steps));
        }
    }

    #[test]
    fn planes_that_stay_near_are_not_cut() {
        let far = [vec![(1, 4096)], vec![(1, 64)], vec![(1, 1)]];
        assert_eq!(
            Blocks::of((&[64, 64, 64], 16), (&far, 8), (65_536, 24), 2),
            None
        );
        // All of a large plane is read.
        let far = [vec![(1, 1 << 17)]];
        assert_eq!(
            Blocks::of((&[64, 512, 512], 16), (&far, 8), (65_536, 24), 2),
            None
        );
        assert_eq!(
            Blocks::of((&[0, 512, 512], 16), (&[], 8), (65_536, 24), 2),
            None
        );
    }
}
