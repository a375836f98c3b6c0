//! The driver runs and verifies what has changed, and nothing else.

use midend::driver::{Broken, Driver, Event, Settings};
use midend::hash::Fingerprint;
use midend::ir::id::Var;
use midend::ir::read;
use midend::ir::scalar::Const;
use midend::ir::soac::Soac;
use midend::ir::syntax::{Atom, Program};
use midend::pass::{Pass, PassCx};
use std::cell::Cell;
use std::collections::HashSet;
use std::time::Duration;

thread_local! {
    static VISITED: Cell<usize> = const { Cell::new(0) };
}

/// Counts how often it runs, and changes nothing.
const VISIT: Pass<Soac> = Pass {
    name: "visit",
    summary: "counts",
    run: |program, _: &mut PassCx<'_>| {
        VISITED.set(VISITED.get() + 1);
        program
    },
};

/// Yields the opposite of a constant that the program yields.
const NEGATE: Pass<Soac> = Pass {
    name: "negate",
    summary: "negates",
    run: |mut program, _: &mut PassCx<'_>| {
        for atom in results(&mut program) {
            if let Atom::Const(Const::I64(n)) = atom {
                *n = -*n;
            }
        }
        program
    },
};

/// Yields what is not bound.
const BREAK: Pass<Soac> = Pass {
    name: "break",
    summary: "breaks",
    run: |mut program, _: &mut PassCx<'_>| {
        let unbound = Var(u32::try_from(program.vars.len()).expect("there are few"));
        for atom in results(&mut program) {
            *atom = Atom::Var(unbound);
        }
        program
    },
};

fn results(program: &mut Program<Soac>) -> impl Iterator<Item = &mut Atom> {
    program.funs.iter_mut().flat_map(|fun| &mut fun.body.result)
}

/// What the driver makes of a program, with how often [`VISIT`] ran and the numbers of the passes that it told of.
fn driven(passes: &[Pass<Soac>]) -> (Result<Program<Soac>, Broken>, usize, Vec<usize>) {
    let program = read::program("nested fun f() -> (x: i64) { yield 3 }").expect("a program");
    let settings = Settings::default();
    let clock = || Duration::ZERO;
    let mut numbers = Vec::new();
    let mut tell = |event: Event<'_>| {
        if let Event::Ran { number, .. } = event {
            numbers.push(number);
        }
    };
    let mut driver = Driver::new(&settings, &clock, &mut tell);
    VISITED.set(0);
    let made = driver
        .start(&program)
        .and_then(|()| driver.run_all(passes, program));
    (made, VISITED.get(), numbers)
}

#[test]
fn a_pass_does_not_run_again_on_what_it_left_as_it_is() {
    let (made, visited, numbers) = driven(&[VISIT, VISIT, NEGATE, VISIT, NEGATE, VISIT, VISIT]);
    assert!(made.is_ok(), "{made:?}");
    // On the program, on its opposite, and on neither again.
    assert_eq!(visited, 2);
    assert_eq!(numbers, [1, 2, 3, 4, 5, 6, 7]);
}

#[test]
fn the_pass_that_breaks_a_program_is_blamed() {
    for passes in [
        &[BREAK][..],
        &[VISIT, BREAK],
        &[NEGATE, VISIT, BREAK, VISIT],
    ] {
        let (made, ..) = driven(passes);
        assert_eq!(made.err().map(|broken| broken.pass), Some("break"));
    }
}

#[test]
fn different_values_have_different_fingerprints() {
    let bits = (0..64).map(|i| 1_u64 << i);
    let words: Vec<u64> = [0, u64::MAX].into_iter().chain(bits).collect();
    let mut all = HashSet::new();
    let mut count = 0;
    for a in &words {
        for b in &words {
            for value in [vec![*a, *b], vec![*b, *a, 0], vec![*a, 0, *b]] {
                count += usize::from(all.insert(value));
            }
        }
    }
    let prints: HashSet<String> = all
        .iter()
        .map(|value| format!("{:?}", Fingerprint::of(value)))
        .collect();
    assert_eq!(prints.len(), count);
    assert_ne!(Fingerprint::of(&("ab", "c")), Fingerprint::of(&("a", "bc")));
}
