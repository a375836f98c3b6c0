//! Two files of times compared: which datasets became faster or slower, beyond what chance and a noisy machine do.

use super::json::Times;
use super::statistics::{fastest, rank_shift};
use std::collections::BTreeSet;

/// What two files have in common.
#[derive(Clone, Debug, Default)]
pub struct Comparison {
    /// In the order of programs and datasets.
    pub changes: Vec<Change>,
    /// What only one of them has, or what failed in one of them.
    pub missing: Vec<String>,
}

/// A dataset that both have.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// The program.
    pub program: String,
    /// The dataset.
    pub dataset: String,
    /// What its runs took that nothing disturbed, in microseconds.
    pub old: f64,
    /// What they take now.
    pub new: f64,
    /// Whether it is a change, and no chance.
    pub significant: bool,
}

impl Change {
    /// How many times as fast the new one is.
    pub fn speedup(&self) -> f64 {
        self.old / self.new
    }
    /// Whether it became slower beyond doubt.
    pub fn is_slower(&self) -> bool {
        self.significant && self.speedup() < 1.0
    }
}

/// Smaller changes are none, as a share: so much the times of a program differ from those of the same program in another process on
/// machines that are shared with others.
pub const CHANGE: f64 = 0.08;

/// So many standard deviations chance alone reaches three times in a hundred.
const CHANCE: f64 = 2.2;

/// Compares; a change of less than the share `threshold` is none.
pub fn compare(old: &Times, new: &Times, threshold: f64) -> Comparison {
    let mut comparison = Comparison::default();
    for program in union(old, new) {
        let (Some(mine), Some(theirs)) = (old.get(program), new.get(program)) else {
            let place = only(old.contains_key(program));
            comparison.missing.push(format!("{program}: {place}"));
            continue;
        };
        for name in union(mine, theirs) {
            let missing = |why: String| format!("{program}, {name}: {why}");
            match (mine.get(name), theirs.get(name)) {
                (Some(Ok(a)), Some(Ok(b))) => match (fastest(a), fastest(b)) {
                    (Some(old), Some(new)) => comparison.changes.push(Change {
                        program: program.clone(),
                        dataset: name.clone(),
                        old,
                        new,
                        significant: differ(a, b, threshold),
                    }),
                    (None, _) | (_, None) => {
                        comparison.missing.push(missing(String::from("no times")));
                    }
                },
                (Some(Err(why)), Some(_)) => {
                    let why = format!("failed in the old file: {why}");
                    comparison.missing.push(missing(why));
                }
                (Some(Ok(_)), Some(Err(why))) => {
                    let why = format!("failed in the new file: {why}");
                    comparison.missing.push(missing(why));
                }
                (one, _) => {
                    let why = only(one.is_some()).to_owned();
                    comparison.missing.push(missing(why));
                }
            }
        }
    }
    comparison
}

fn union<'a, T>(
    a: &'a std::collections::BTreeMap<String, T>,
    b: &'a std::collections::BTreeMap<String, T>,
) -> BTreeSet<&'a String> {
    a.keys().chain(b.keys()).collect()
}

fn only(old: bool) -> &'static str {
    if old {
        "only in the old file"
    } else {
        "only in the new file"
    }
}

/// Whether times differ: what runs take that nothing disturbs by more than the threshold, and the ranks of all in the same direction by
/// more than chance. The median is not looked at: on a machine that is shared with others, half of the runs and more may be
/// disturbed, and in one file more than in the other.
fn differ(old: &[f64], new: &[f64], threshold: f64) -> bool {
    let shift = rank_shift(new, old);
    let (Some(before), Some(after)) = (fastest(old), fastest(new)) else {
        return false;
    };
    let slower = |a: f64, b: f64| b > a * (1.0 + threshold);
    (shift > CHANCE && slower(before, after)) || (shift < -CHANCE && slower(after, before))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::SplitMix;

    /// Times as a busy machine gives them: a floor, a little noise, and every fifth run held up.
    fn noisy(random: &mut SplitMix, factor: f64) -> Vec<f64> {
        let mut uniform = || (random.next() >> 11) as f64 / (1u64 << 53) as f64;
        let mut time = || {
            let held = if uniform() < 0.2 {
                0.5 * uniform()
            } else {
                0.0
            };
            factor * 1000.0 * (1.0 + 0.05 * uniform() + held)
        };
        (0..40).map(|_| time()).collect()
    }

    fn file(times: Vec<f64>) -> Times {
        let datasets = [(String::from("x"), Ok(times))].into();
        [(String::from("a.fut"), datasets)].into()
    }

    #[test]
    fn a_slowdown_of_a_fifth_is_flagged_and_noise_is_not() {
        let mut random = SplitMix(7);
        for _ in 0..100 {
            let old = file(noisy(&mut random, 1.0));
            let slower = compare(&old, &file(noisy(&mut random, 1.2)), 0.05);
            assert!(slower.changes[0].is_slower());
            let faster = compare(&old, &file(noisy(&mut random, 0.8)), 0.05);
            assert!(faster.changes[0].significant && !faster.changes[0].is_slower());
            let same = compare(&old, &file(noisy(&mut random, 1.0)), 0.05);
            assert!(!same.changes[0].significant);
        }
    }

    /// Times of a machine that is slower by a seventh for seconds on end.
    fn in_spells(random: &mut SplitMix, factor: f64) -> Vec<f64> {
        let mut times = Vec::new();
        for _ in 0..10 {
            let spell = if random.next().is_multiple_of(4) {
                1.0
            } else {
                1.15
            };
            let spell = noisy(random, factor).into_iter().map(|time| time * spell);
            times.extend(spell);
        }
        times
    }

    #[test]
    fn spells_of_a_slower_machine_are_no_change() {
        let mut random = SplitMix(5);
        let (mut found, mut invented) = (0, 0);
        for _ in 0..100 {
            let old = file(in_spells(&mut random, 1.0));
            let slower = compare(&old, &file(in_spells(&mut random, 1.2)), CHANGE);
            found += usize::from(slower.changes[0].is_slower());
            let same = compare(&old, &file(in_spells(&mut random, 1.0)), CHANGE);
            invented += usize::from(same.changes[0].significant);
        }
        // In one file of eighteen all ten parts are slow.
        assert!(found >= 90 && invented <= 10, "{found} and {invented}");
    }

    #[test]
    fn few_runs_say_nothing() {
        let few = compare(&file(vec![1.0, 1.1]), &file(vec![2.0, 2.1]), 0.05);
        assert!(!few.changes[0].significant);
        assert!((few.changes[0].speedup() - 0.5).abs() < 1e-12);
    }

    #[test]
    fn what_is_missing_is_told() {
        let mut old = file(vec![1.0]);
        old.insert(String::from("b.fut"), Default::default());
        let mut new = Times::new();
        let failed = [(String::from("x"), Err(String::from("no")))];
        new.insert(String::from("a.fut"), failed.into());
        let comparison = compare(&old, &new, 0.05);
        assert!(comparison.changes.is_empty());
        assert_eq!(
            comparison.missing,
            [
                "a.fut, x: failed in the new file: no",
                "b.fut: only in the old file"
            ]
        );
    }
}
