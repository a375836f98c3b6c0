//! How the time to compile grows with the length of a program: as its power 1.15 at most.
//!
//! Some [shapes](shapes) have a larger bound. For a long match, pairs, expressions on one line, characters, rows and functions the number of
//! instructions grows with the length, too (as its power 0.97 to 1.02, counted by `valgrind --tool=callgrind`), so that the cause is probably the
//! second-level cache, which the program outgrows. TODO: count those of updates, else-ifs, and matches in a lambda and of records.
//!
//! Programs of 500 to 4,000 statements are compiled, and some of each [shape](shapes). What counts is the processor time, of which other
//! work on the machine takes little, and the least of several attempts; so this is the only test of its process.

#[path = "../../bench/src/bin/compiling/generated.rs"]
#[allow(dead_code, reason = "the names of kinds are for a table")]
mod generated;

#[path = "exponent/shapes.rs"]
mod shapes;

use arrc::session::{Options, Session, nested_ir, on_big_stack};
use cpu_time::ProcessTime;
use generated::{KINDS, Kind, generated};
use midend::ir::walk::all_stms;
use shapes::SHAPES;
use std::path::Path;

/// Statements of the programs.
const SIZES: [usize; 4] = [500, 1000, 2000, 4000];
/// The largest exponent.
const BOUND: f64 = 1.15;
/// How often programs are compiled at most.
const ATTEMPTS: usize = 12;

/// A program of about so many statements, and how many it has.
fn program(kind: Kind, wanted: usize) -> (String, usize) {
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("exponent-{kind:?}.fut"));
    let statements = |parts: usize| {
        let text = generated(kind, parts);
        std::fs::write(&file, &text).expect("a temporary file can be written");
        let program = match nested_ir(&file) {
            Ok(program) => program,
            Err(error) => panic!("{error}"),
        };
        let mut statements = 0;
        for fun in program.funs.iter() {
            all_stms(&fun.body, &mut |_| statements += 1);
        }
        (text, statements)
    };
    let each = (statements(20).1 - statements(10).1) / 10;
    statements(wanted / each)
}

/// The processor time to compile a program, in milliseconds; threads that have ended count.
fn compile(session: &Session, text: &str) -> f64 {
    let before = ProcessTime::now();
    if let Err(error) = session.compile("exponent.fut", text) {
        panic!("{error}");
    }
    before.elapsed().as_secs_f64() * 1e3
}

/// The slope of the straight line through the logarithms.
fn exponent(points: &[(f64, f64)]) -> f64 {
    let logs: Vec<(f64, f64)> = points.iter().map(|(x, y)| (x.ln(), y.ln())).collect();
    let n = logs.len() as f64;
    let mean = |f: fn(&(f64, f64)) -> f64| logs.iter().map(f).sum::<f64>() / n;
    let (x, y) = (mean(|p| p.0), mean(|p| p.1));
    let above: f64 = logs.iter().map(|p| (p.0 - x) * (p.1 - y)).sum();
    let below: f64 = logs.iter().map(|p| (p.0 - x).powi(2)).sum();
    above / below
}

#[test]
fn compiling_takes_about_as_long_as_the_program_is() {
    let options = Options {
        threads: Some(1),
        ..Options::default()
    };
    let session = Session::new(options).expect("this machine is supported");
    for &kind in KINDS {
        let programs = SIZES.map(|size| program(kind, size));
        grows_about_linearly(&session, (&format!("{kind:?}"), BOUND), &programs);
    }
    for shape in SHAPES {
        let programs = [2, 4, 8].map(|times| {
            let parts = times * shape.parts;
            ((shape.program)(parts), parts)
        });
        grows_about_linearly(
            &session,
            (shape.name, shape.bound.unwrap_or(BOUND)),
            &programs,
        );
    }
}

/// Compares the times of programs with so many parts each.
fn grows_about_linearly(
    session: &Session,
    (name, bound): (&str, f64),
    programs: &[(String, usize)],
) {
    let mut least = vec![f64::MAX; programs.len()];
    let mut found = f64::MAX;
    for _ in 0..ATTEMPTS {
        for (least, (text, _)) in least.iter_mut().zip(programs) {
            *least = least.min(on_big_stack(|| compile(session, text)));
        }
        let sizes = programs.iter().map(|(_, parts)| *parts as f64);
        let points: Vec<(f64, f64)> = sizes.zip(least.iter().copied()).collect();
        found = exponent(&points);
        if found <= bound {
            break;
        }
    }
    assert!(found <= bound, "{name}: {found:.3}, {least:?} ms");
}
