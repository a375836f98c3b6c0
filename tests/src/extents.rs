//! Programs whose sizes overflow: every case ends in the right result or in an error, on every target.
//!
//! ```text
//! seed ─► program of array operations on sizes ─┬─ interpreter ─┐
//!     └─► sizes around 2^31, 2^32, 2^62, 2^63,  ├─ cpu          ├─ what the model says, or an error; no signal, no internal error
//!         some with products that wrap ─────────┴─ ptx-emu ─────┘
//! ```
//!
//! The model ([`model`]) computes extents as unbounded numbers, and elements where they are read. Where it says that a program fails, or
//! that an extent is no `i64`, a target must fail; elsewhere it gives these values, or has too little memory: most programs ask for more
//! than the limit. What is not decided in time counts as not decided.

mod model;
mod program;
mod sizes;

use crate::differential::Tried;
use crate::generate::Random;
use arrc::session::{self, Options, Session};
use arrc::target::Target;
use midend::device::Stop;
use midend::fired;
use midend::ir::threshold::{Forced, INFINITE};
use midend::trap::{RunError, TOO_LARGE};
use midend::value::Value;
use model::Expected;
use program::Program;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Bytes that the arrays of a run may occupy: small arrays fit, others do not.
const MEMORY: u64 = 256 << 10;
/// The most instructions of a run on the emulator.
const CAP: u64 = 2_000_000;
/// A run that takes longer is stopped.
const PATIENCE: Duration = Duration::from_millis(40);

const TARGETS: [Target; 3] = [Target::Interp, Target::Cpu, Target::PtxEmu];

/// Sessions for all targets, and a watch that stops runs which take long.
pub struct Extents {
    sessions: Vec<Session>,
    watch: Watch,
}

impl Extents {
    /// Opens the targets.
    pub fn new() -> Result<Self, String> {
        let open = |target| {
            let options = Options {
                target,
                memory_limit: Some(MEMORY),
                cap: Some(CAP),
                threads: Some(2),
                ..Options::default()
            };
            Session::new(options).map_err(|why| why.to_string())
        };
        let sessions = TARGETS.into_iter().map(open);
        let sessions = sessions.collect::<Result<Vec<Session>, String>>()?;
        let watch = Watch::new(sessions.iter().map(Session::stop).collect());
        Ok(Self { sessions, watch })
    }

    /// Tries the program of a seed with so many lists of arguments; `about` is told of each before it is tried.
    pub fn check(
        &self,
        seed: u64,
        cases: u64,
        about: &mut dyn FnMut(&str),
    ) -> Result<Tried, String> {
        let mut random = Random::new(seed);
        let program = Program::random(&mut random);
        let text = program.text();
        let (mut runs, mut on) = (0, BTreeSet::new());
        let (result, counts) = fired::counted(|| {
            let mut compiled = Vec::new();
            for session in &self.sessions {
                let done = session.compile("extents.fut", &text);
                compiled.push(done.map_err(|why| format!("compile: {why}\n{text}"))?);
            }
            for _ in 0..cases {
                let args = sizes::arguments(&mut random);
                let expected = model::run(&program, &args);
                about(&format!("{text}\n{args:?}\n{expected:?}\n"));
                let thresholds = [None, Some(0), Some(INFINITE)];
                let forced = random.pick(&thresholds).map_or(Forced::new(), Forced::all);
                for (target, program) in TARGETS.iter().zip(&mut compiled) {
                    program.force(forced.clone());
                    let result = self.watch.timed(|| program.call("main", args.values()));
                    runs += 1;
                    on.insert(target.name().to_owned());
                    judge(&expected, result).map_err(|why| {
                        let name = target.name();
                        format!(
                            "{name}: {why}\n{args:?} {:?}\n{expected:?}\n{text}",
                            forced.others
                        )
                    })?;
                }
            }
            Ok(())
        });
        result.map(|()| Tried {
            nested: false,
            ragged: false,
            tables: false,
            counts,
            runs,
            on,
        })
    }
}

/// What is wrong with a result.
fn judge(expected: &Expected, result: Result<Vec<Value>, RunError>) -> Result<(), String> {
    match (expected, result) {
        (
            _,
            Err(error @ (RunError::Internal(_) | RunError::Device(_) | RunError::BadArguments(_))),
        ) => Err(error.to_string()),
        (_, Err(RunError::Interrupted | RunError::OutOfFuel | RunError::OutOfMemory { .. }))
        | (Expected::Anything | Expected::Failure, Err(RunError::Trap(_)))
        | (Expected::Anything, Ok(_)) => Ok(()),
        (Expected::Values(_), Err(error @ RunError::Trap(_))) => {
            // A check of the program may find that memory does not hold an array.
            match error.to_string().contains(TOO_LARGE) {
                true => Ok(()),
                false => Err(error.to_string()),
            }
        }
        (Expected::Values(wanted), Ok(values)) => {
            let found: Vec<Option<i64>> = values.iter().map(number).collect();
            let same = wanted.len() == found.len()
                && wanted
                    .iter()
                    .zip(&found)
                    .all(|(a, b)| a.is_none_or(|a| Some(a) == *b));
            match same {
                true => Ok(()),
                false => Err(format!("gives {found:?}")),
            }
        }
        (Expected::Failure, Ok(values)) => {
            let found: Vec<Option<i64>> = values.iter().map(number).collect();
            Err(format!("gives {found:?} instead of an error"))
        }
    }
}

fn number(value: &Value) -> Option<i64> {
    match value {
        Value::Scalar(c) => c.as_i64(),
        Value::Array(_) => None,
    }
}

/// Raises the flags of sessions when a run takes too long.
struct Watch {
    stops: Arc<Vec<Arc<Stop>>>,
    start: Instant,
    /// When to stop the current run, in microseconds since the start; 0 if there is none.
    end: Arc<AtomicU64>,
}

impl Watch {
    fn new(stops: Vec<Arc<Stop>>) -> Self {
        let watch = Self {
            stops: Arc::new(stops),
            start: Instant::now(),
            end: Arc::new(AtomicU64::new(0)),
        };
        let (stops, end, start) = (
            Arc::downgrade(&watch.stops),
            Arc::clone(&watch.end),
            watch.start,
        );
        std::thread::spawn(move || {
            while let Some(stops) = stops.upgrade() {
                let at = end.load(Ordering::Relaxed);
                if at != 0 && start.elapsed().as_micros() as u64 > at {
                    stops.iter().for_each(|stop| stop.raise());
                }
                drop(stops);
                std::thread::sleep(Duration::from_millis(5));
            }
        });
        watch
    }

    /// Does something that ends at its time.
    fn timed<R>(&self, f: impl FnOnce() -> R) -> R {
        let end = self.start.elapsed() + PATIENCE;
        self.end.store(end.as_micros() as u64, Ordering::Relaxed);
        let result = f();
        self.end.store(0, Ordering::Relaxed);
        self.stops.iter().for_each(|stop| stop.lower());
        result
    }
}

/// Does something with targets that are open, on a stack that is large enough for the compiler.
pub fn with<R: Send>(f: impl FnOnce(&Extents) -> R + Send) -> Result<R, String> {
    session::on_big_stack(|| Extents::new().map(|extents| f(&extents)))
}
