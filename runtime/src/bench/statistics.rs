//! What times say: medians with intervals, and whether two sets of times differ.
//!
//! Nothing is assumed of how times are distributed: they have a least value and a long tail, and are not normal.

/// The median of some times, and where the true median lies with 95 % probability.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Summary {
    /// The median.
    pub median: f64,
    /// The lower end of the interval.
    pub low: f64,
    /// The upper end.
    pub high: f64,
    /// How many times there are.
    pub runs: usize,
}

impl Summary {
    /// A summary of times in any unit; nothing if there are none. Fewer than six say too little for 95 %: their interval is all
    /// that was seen.
    pub fn of(times: &[f64]) -> Option<Self> {
        let mut sorted = times.to_vec();
        sorted.sort_by(f64::total_cmp);
        let n = sorted.len();
        let last = n.checked_sub(1)?;
        // The number of times below the median is binomial: this many times from either end it is with 2.5 %.
        let rank = (n as f64 / 2.0 - 0.98 * (n as f64).sqrt() + 0.5).max(1.0) as usize - 1;
        Some(Self {
            median: (sorted[last / 2] + sorted[n / 2]) / 2.0,
            low: sorted[rank],
            high: sorted[last - rank],
            runs: n,
        })
    }
    /// Half of the interval's width as a share of the median.
    pub fn spread(&self) -> f64 {
        (self.high - self.low) / (2.0 * self.median.max(f64::MIN_POSITIVE))
    }
}

/// The time below which a hundredth of the times lies: what runs take that nothing else on the machine disturbs.
pub fn fastest(times: &[f64]) -> Option<f64> {
    let mut sorted = times.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.get(sorted.len() / 100).copied()
}

/// How far the ranks of `a` lie above those of `b`, in standard deviations of what chance makes of equal distributions (Mann
/// and Whitney's test, with the correction for ties). 0 where there is nothing to tell.
pub fn rank_shift(a: &[f64], b: &[f64]) -> f64 {
    let mut all: Vec<(f64, bool)> = a.iter().map(|x| (*x, true)).collect();
    all.extend(b.iter().map(|x| (*x, false)));
    all.sort_by(|x, y| x.0.total_cmp(&y.0));
    let (m, n) = (a.len() as f64, b.len() as f64);
    let (mut ranks, mut ties) = (0.0, 0.0);
    let mut start = 0;
    for equal in all.chunk_by(|x, y| x.0 == y.0) {
        let t = equal.len() as f64;
        let rank = start as f64 + (t + 1.0) / 2.0;
        ranks += rank * equal.iter().filter(|(_, of_a)| *of_a).count() as f64;
        ties += t * t * t - t;
        start += equal.len();
    }
    let all = m + n;
    let variance = m * n / 12.0 * (all + 1.0 - ties / (all * (all - 1.0)).max(1.0));
    if variance <= 0.0 {
        return 0.0;
    }
    (ranks - m * (m + 1.0) / 2.0 - m * n / 2.0) / variance.sqrt()
}

/// The geometric mean; 1 of nothing.
pub fn geometric_mean(ratios: &[f64]) -> f64 {
    let sum: f64 = ratios.iter().map(|ratio| ratio.ln()).sum();
    (sum / ratios.len().max(1) as f64).exp()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::SplitMix;

    #[test]
    fn intervals_are_order_statistics() {
        assert_eq!(Summary::of(&[]), None);
        let few = Summary::of(&[3.0, 1.0, 2.0]).expect("there are times");
        assert_eq!((few.median, few.low, few.high), (2.0, 1.0, 3.0));
        let times: Vec<f64> = (1..=10).map(f64::from).collect();
        let ten = Summary::of(&times).expect("there are times");
        // Ranks 2 and 9 of 10 hold the median with 97.9 %, 3 and 8 with 89 %.
        assert_eq!((ten.median, ten.low, ten.high), (5.5, 2.0, 9.0));
        let times: Vec<f64> = (1..=20).map(f64::from).collect();
        let twenty = Summary::of(&times).expect("there are times");
        assert_eq!((twenty.low, twenty.high), (6.0, 15.0));
    }

    #[test]
    fn the_interval_holds_the_median_nineteen_times_of_twenty() {
        let mut random = SplitMix(1);
        let mut uniform = || (random.next() >> 11) as f64 / (1u64 << 53) as f64;
        for n in [6, 10, 25, 100] {
            let held = (0..2000).filter(|_| {
                // Times have a long tail: the median of these is 2.
                let times: Vec<f64> = (0..n).map(|_| 1.0 / (1.0 - uniform())).collect();
                Summary::of(&times).is_some_and(|s| s.low <= 2.0 && 2.0 <= s.high)
            });
            let held = held.count();
            assert!((1880..=1990).contains(&held), "{n} runs: {held} of 2000");
        }
    }

    #[test]
    fn ranks_tell_shifted_times_from_equal_ones() {
        let a = [5.0, 6.0, 7.0, 8.0, 9.0, 10.0];
        let b = [1.0, 2.0, 3.0, 4.0, 4.5, 4.8];
        // All of a lies above all of b: U is 36, its mean 18, its variance 39.
        assert!((rank_shift(&a, &b) - 18.0 / 39.0f64.sqrt()).abs() < 1e-12);
        assert!((rank_shift(&b, &a) + 18.0 / 39.0f64.sqrt()).abs() < 1e-12);
        assert_eq!(rank_shift(&a, &a), 0.0);
        assert_eq!(rank_shift(&[1.0; 5], &[1.0; 7]), 0.0, "ties only");
        assert_eq!(rank_shift(&[], &[]), 0.0);
    }

    #[test]
    fn ratios_have_a_geometric_mean() {
        assert!((geometric_mean(&[0.5, 2.0, 4.0]) - 4.0f64.powf(1.0 / 3.0)).abs() < 1e-12);
        assert_eq!(geometric_mean(&[]), 1.0);
    }
}
