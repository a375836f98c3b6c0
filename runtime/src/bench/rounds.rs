//! Several rounds over all programs: each measures everything once more, in new processes and at another time.
//!
//! A machine is not equally fast at all times: its clock changes, and on a shared one neighbours take a part of a core for seconds.
//! What was measured within one moment is true of that moment. The fastest runs of several rounds are what a program takes when
//! nothing disturbs it, if some part of one round was quiet.

use super::{Dataset, Group, Side};
use std::time::Duration;

/// Rounds over few programs last so long in all: on a machine that two builds kept busy, its slow times lasted for up to three seconds.
const ALL: Duration = Duration::from_millis(7500);
/// An input is measured at least so long in each round.
const SHORTEST: Duration = Duration::from_millis(100);

/// How long each of so many rounds should last.
pub fn round_lasts(rounds: usize) -> Duration {
    match u32::try_from(rounds) {
        Ok(rounds @ 2..) => ALL / rounds,
        Ok(0 | 1) | Err(_) => Duration::ZERO,
    }
}

/// How long each of so many programs is measured in each of so many rounds.
pub(super) fn at_least(rounds: usize, programs: usize) -> Duration {
    let programs = u32::try_from(programs.max(1)).unwrap_or(u32::MAX);
    (round_lasts(rounds) / programs).max(SHORTEST)
}

/// Adds what another round over the same programs measured. What failed in one round has failed.
pub fn add_round(all: &mut Vec<Group>, round: Vec<Group>) {
    for group in round {
        match all.iter_mut().find(|before| before.name == group.name) {
            Some(before) => {
                let datasets = before.datasets.iter_mut().zip(group.datasets);
                datasets.for_each(|(before, dataset)| before.add(dataset));
            }
            None => all.push(group),
        }
    }
}

impl Dataset {
    /// Adds what was measured of the same sides in another round.
    fn add(&mut self, round: Self) {
        let sides = self.sides.iter_mut().zip(round.sides);
        sides.for_each(|(before, side)| before.add(side));
    }
}

impl Side {
    fn add(&mut self, round: Self) {
        match (&mut self.outcome, round.outcome) {
            (Ok(before), Ok(measured)) => {
                before.times.extend(measured.times);
                before.spent = measured.spent.or(before.spent.take());
                before.note = before.note.take().or(measured.note);
            }
            (Ok(_), Err(why)) => self.outcome = Err(why),
            (Err(_), Ok(_) | Err(_)) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Measured;
    use super::*;

    fn round(outcome: Result<Vec<f64>, &str>) -> Vec<Group> {
        let measured = |times| Measured {
            times,
            ..Measured::default()
        };
        let side = Side {
            name: String::from("cpu"),
            device: None,
            outcome: outcome.map(measured).map_err(str::to_owned),
        };
        let dataset = Dataset {
            name: String::from("x"),
            size: None,
            sides: vec![side],
        };
        vec![Group {
            name: String::from("a.fut"),
            datasets: vec![dataset],
        }]
    }

    #[test]
    fn times_of_rounds_are_joined_and_a_failure_stays_one() {
        let outcome = |all: &[Group]| all[0].datasets[0].sides[0].outcome.clone();
        let mut all = Vec::new();
        add_round(&mut all, round(Ok(vec![1.0, 2.0])));
        add_round(&mut all, round(Ok(vec![3.0])));
        let times = outcome(&all).map(|measured| measured.times);
        assert_eq!(times, Ok(vec![1.0, 2.0, 3.0]));
        add_round(&mut all, round(Err("crash")));
        add_round(&mut all, round(Ok(vec![4.0])));
        let failed = outcome(&all).map(|measured| measured.times);
        assert_eq!(failed, Err(String::from("crash")));
    }

    #[test]
    fn few_programs_are_measured_for_longer() {
        assert_eq!(round_lasts(1), Duration::ZERO);
        assert_eq!(at_least(1, 1), SHORTEST);
        assert_eq!(at_least(5, 1), Duration::from_millis(1500));
        assert_eq!(at_least(5, 3), Duration::from_millis(500));
        assert_eq!(at_least(5, 300), SHORTEST);
    }
}
