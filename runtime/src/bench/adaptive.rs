//! How often to run: until there are enough runs, and enough time, and the interval is narrow.

use super::rounds;
use super::statistics::Summary;
use std::time::Duration;

/// When there are enough runs.
#[derive(Clone, Copy, Debug)]
pub struct Patience {
    /// At least so many runs.
    pub runs: usize,
    /// Whether to go on until the interval is narrow.
    pub converge: bool,
    /// If so, at least for so long.
    pub at_least: Duration,
    /// No longer than this for the sake of a narrow interval.
    pub at_most: Duration,
}

/// Half the width of a narrow interval, as a share of the median.
const NARROW: f64 = 0.01;
/// So many runs are enough, however short they are.
const RUNS: usize = 5000;

impl Patience {
    /// At least so much time is measured where runs are not a given number.
    pub const AT_LEAST: Duration = Duration::from_millis(500);

    /// What this asks of each of so many rounds over so many programs.
    pub fn of_round(self, rounds: usize, programs: usize) -> Self {
        if rounds < 2 {
            return self;
        }
        Self {
            runs: self.runs.div_ceil(rounds),
            at_least: rounds::at_least(rounds, programs),
            at_most: self.at_most / u32::try_from(rounds).unwrap_or(u32::MAX),
            ..self
        }
    }
    /// How many runs are missed after so many, at least one.
    pub(super) fn left(&self, runs: usize) -> usize {
        let enough = if self.converge && runs >= self.runs {
            RUNS
        } else {
            self.runs
        };
        enough.saturating_sub(runs).max(1)
    }
    /// Whether these times, in microseconds, are enough.
    pub(super) fn satisfied(&self, times: &[f64]) -> bool {
        if times.len() < self.runs {
            return false;
        }
        if !self.converge || times.len() >= RUNS {
            return true;
        }
        let spent = times.iter().sum::<f64>();
        let micros = |time: Duration| time.as_secs_f64() * 1e6;
        if spent >= micros(self.at_most) {
            return true;
        }
        // Sorting all times again after each run would take time squared: only sometimes is it looked at.
        let look = times.len().is_multiple_of((times.len() / 20).max(1));
        let narrow = || Summary::of(times).is_some_and(|s| s.spread() <= NARROW);
        spent >= micros(self.at_least) && look && narrow()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_end_when_the_interval_is_narrow_or_time_is_over() {
        let patience = Patience {
            runs: 10,
            converge: true,
            at_least: Patience::AT_LEAST,
            at_most: Duration::from_secs(5),
        };
        let steady = |n| vec![100_000.0; n];
        assert!(!patience.satisfied(&steady(9)), "too few");
        assert!(patience.satisfied(&steady(10)));
        assert!(!patience.satisfied(&[100.0; 30]), "too short a time");
        let unsteady = |n: u32| -> Vec<f64> {
            let odd = |i: u32| 100_000.0 * f64::from(1 + i % 2);
            (0..n).map(odd).collect()
        };
        assert!(!patience.satisfied(&unsteady(20)), "too wide");
        assert!(patience.satisfied(&unsteady(40)), "six seconds");
        assert!(patience.satisfied(&vec![1.0; RUNS]), "many runs");
        let fixed = Patience {
            converge: false,
            ..patience
        };
        assert!(fixed.satisfied(&unsteady(10)));
    }

    #[test]
    fn rounds_share_what_is_asked() {
        let patience = Patience {
            runs: 11,
            converge: true,
            at_least: Patience::AT_LEAST,
            at_most: Duration::from_secs(10),
        };
        assert_eq!(patience.of_round(1, 1).runs, 11);
        let round = patience.of_round(5, 3);
        assert_eq!((round.runs, round.at_most), (3, Duration::from_secs(2)));
        assert_eq!(round.at_least, Patience::AT_LEAST);
    }

    #[test]
    fn no_more_runs_are_missed_than_are_wanted() {
        let patience = Patience {
            runs: 10,
            converge: true,
            at_least: Patience::AT_LEAST,
            at_most: Duration::from_secs(5),
        };
        assert_eq!([0, 7, 10, 4999].map(|n| patience.left(n)), [10, 3, 4990, 1]);
        let fixed = Patience {
            converge: false,
            ..patience
        };
        assert_eq!([0, 9].map(|n| fixed.left(n)), [10, 1]);
    }
}
