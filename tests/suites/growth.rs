//! The time to compile a program grows about as its length does: no pass is worse than n log n.
//!
//! Each kind of program is compiled at a length and at eight times that. Linear growth makes the ratio of times 8,
//! quadratic growth 64; the bound lies between. Times are the least of some attempts, more of them while the ratio is
//! too large, so that a busy machine does not fail the test.

use arrc::session::{Options, Session};
use std::fmt::Write as _;
use std::time::{Duration, Instant};

/// How much longer the long program is.
const LONGER: usize = 8;
/// The largest ratio of times.
const BOUND: f64 = 24.0;
/// How often a program is compiled at most.
const ATTEMPTS: usize = 8;

fn time(session: &Session, text: &str) -> Duration {
    let start = Instant::now();
    if let Err(error) = session.compile("growth.fut", text) {
        panic!("{}", error.render(frontend::render::Look::Plain));
    }
    start.elapsed()
}

/// Compares the times of programs of `n` parts and of eight times as many.
fn grows_slowly(n: usize, program: fn(usize) -> String) {
    let options = Options {
        threads: Some(1),
        ..Options::default()
    };
    let session = Session::new(options).expect("this machine is supported");
    let (short, long) = (program(n), program(LONGER * n));
    let mut best = (Duration::MAX, Duration::MAX);
    for _ in 0..ATTEMPTS {
        best.0 = best.0.min(time(&session, &short));
        best.1 = best.1.min(time(&session, &long));
        if best.1.as_secs_f64() < BOUND * best.0.as_secs_f64() {
            return;
        }
    }
    panic!(
        "{n} parts take {:?}, {LONGER} times as many {:?}",
        best.0, best.1
    );
}

/// The text of `start`, of each part from the second on, and of `end`.
fn text(start: &str, n: usize, part: impl Fn(usize) -> String, end: &str) -> String {
    let mut text = format!("{start}\n");
    for i in 1..n {
        writeln!(text, "{}", part(i)).expect("strings take everything");
    }
    text + end + "\n"
}

#[test]
fn functions_that_call_others() {
    grows_slowly(60, |n| {
        text(
            "def f0 (x: i32) : i32 = x",
            n,
            |i| {
                let (below, half) = (i - 1, i / 2);
                format!("def f{i} (x: i32) = if x > {i} then f{below} (x - 1) else f{half} x * 2")
            },
            &format!("def main (x: i32) = f{} x", n - 1),
        )
    });
}

#[test]
fn rows_of_maps() {
    grows_slowly(80, |n| {
        text(
            "def main [n] (x0: [n]i32) =",
            n,
            |i| {
                let (before, half) = (i - 1, i / 2);
                format!("  let x{i} = map2 (\\a b -> a + b * {i}) x{before} (rotate {i} x{half})")
            },
            &format!("  in reduce (+) 0 x{}", n - 1),
        )
    });
}

#[test]
fn rows_of_updates() {
    grows_slowly(250, |n| {
        text(
            "def main (xs: *[100]i32) =",
            n,
            |i| format!("  let xs[{}] = xs[{}] + {i}", i % 100, i * 7 % 100),
            "  in xs",
        )
    });
}

#[test]
fn rows_of_records() {
    grows_slowly(250, |n| {
        text(
            "def main (x: i32) (y: f32) =\n  let r0 = {a = x, b = y, c = iota 4}",
            n,
            |i| {
                let (before, half) = (i - 1, i / 2);
                format!("  let r{i} = r{before} with a = r{before}.a + {i} with b = r{half}.b")
            },
            &format!("  in (r{0}.a, r{0}.b)", n - 1),
        )
    });
}

#[test]
fn polymorphic_functions_and_modules() {
    grows_slowly(250, |n| {
        text(
            "def pair 'a 'b (x: a) (y: b) = (x, y)",
            n,
            |i| {
                format!(
                    "module m{i} = {{ type t = (i32, [3]f32) def f (x: t) : t = (x.0 + {i}, map (+ 1) x.1) }}\n\
                     def g{i} 'a (f: a -> a) (x: a) = let (p, q) = pair (f x) {i}i32 in (f p, q + 1)"
                )
            },
            &format!(
                "def main (x: i32) = (g{0} (+1) x, m{0}.f (x, [1, 2, 3]))",
                n - 1
            ),
        )
    });
}
