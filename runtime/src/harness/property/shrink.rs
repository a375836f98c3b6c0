//! Making counterexamples smaller.

use super::Trouble;
use super::subject::Subject;
use crate::spec::SplitMix;
use midend::ir::scalar::Const;
use midend::trap::RunError;
use midend::value::Value;

/// A counterexample, and what it was made from.
pub(super) struct Found {
    pub(super) candidate: Vec<Value>,
    pub(super) size: i64,
    pub(super) seed: u64,
}

/// The smallest counterexample that was found, and a note where something went wrong on the way: from the shrinker of the
/// property; without one, or if that fails, from the same seed and smaller sizes.
pub(super) fn shrunk(
    subject: &Subject<'_>,
    found: Found,
    seeds: &mut SplitMix,
    tries: u32,
) -> (Vec<Value>, String) {
    let Found {
        mut candidate,
        size,
        seed,
    } = found;
    let mut notes = String::new();
    let mut note = |what: &str, trouble: &Trouble| {
        notes.push_str(&format!("\n{what}: {}", trouble.text()));
    };
    if let Some(shrinker) = &subject.property.shrinker {
        match by_shrinker(subject, shrinker, &mut candidate, seeds, tries) {
            Ok(()) => return (candidate, notes),
            Err(trouble) => note("it may not be the smallest", &trouble),
        }
    }
    if let Err(trouble) = by_size(subject, size, seed, &mut candidate) {
        note("smaller sizes were not all tried", &trouble);
    }
    (candidate, notes)
}

/// Lets the shrinker change the candidate until it fails `tries` times in a row to give another counterexample.
fn by_shrinker(
    subject: &Subject<'_>,
    shrinker: &str,
    candidate: &mut Vec<Value>,
    seeds: &mut SplitMix,
    tries: u32,
) -> Result<(), Trouble> {
    let mut failed = 0;
    // A shrinker that gives back what it got does not fail; but one that does nothing else must come to an end.
    let mut idle = 0;
    while failed < tries && idle < tries.saturating_mul(20) {
        let random = seeds.next();
        let mut args = candidate.clone();
        args.push(Value::Scalar(Const::U64(random)));
        let smaller = subject.program.call(shrinker, args).map_err(|error| {
            let what = format!("the shrinker `{shrinker}` (random number {random}) failed");
            Trouble::Run(what, error)
        })?;
        if smaller == *candidate {
            idle += 1;
        } else if subject.holds(&smaller).map_err(in_property)? {
            failed += 1;
        } else {
            *candidate = smaller;
            (failed, idle) = (0, 0);
        }
    }
    Ok(())
}

/// Tries all smaller sizes with the same seed; the smallest of which the property is false is taken.
fn by_size(
    subject: &Subject<'_>,
    size: i64,
    seed: u64,
    candidate: &mut Vec<Value>,
) -> Result<(), Trouble> {
    for smaller in (1..size).rev() {
        let next = subject.candidate(smaller, seed)?;
        if !subject.holds(&next).map_err(in_property)? {
            *candidate = next;
        }
    }
    Ok(())
}

fn in_property(error: RunError) -> Trouble {
    Trouble::Run(
        String::from("the property failed on a smaller argument"),
        error,
    )
}
