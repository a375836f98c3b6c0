//! Measures the largest errors of the scalar functions as the CPU computes them, and prints the table of
//! `docs/scalar-functions.md`.
//!
//! ```text
//! cargo run --release -p arrc-tests --bin accuracy -- [--full] [--every=N] [--type=TYPE] [NAME..]
//! ```
//!
//! Of one operand every f16 is tried, and with `--full` every f32 (otherwise every 1021st, or every `N`th); of two, and
//! of f64, there are structured random points, ten million with `--full`. All cores work, each in a session of its own.

#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a command prints"
)]

use arrc::session::{Options, Program, Session};
use arrc_tests::accuracy::{
    Bits, FORMATS, Judge, constant, measured, name, of_type, operand, program, second, value,
};
use midend::ir::scalar::{Const, ScalarOp};
use midend::ir::types::ScalarType;
use midend::math::library::functions;
use midend::value::{ArrayValue, Data, Value};

/// Operands of one call.
const CHUNK: u64 = 1 << 16;

type Failure = Box<dyn std::error::Error + Send + Sync>;

fn main() -> Result<(), Failure> {
    let (flags, names): (Vec<String>, Vec<String>) = std::env::args()
        .skip(1)
        .partition(|arg| arg.starts_with("--"));
    let mut full = false;
    let mut every = None;
    let mut only = None;
    for flag in &flags {
        if let Some(ty) = flag.strip_prefix("--type=") {
            only = Some(ty);
        } else if let Some(step) = flag.strip_prefix("--every=") {
            every = Some(step.parse::<u64>()?.max(1));
        } else if flag == "--full" {
            full = true;
        } else {
            return Err("the flags are --full, --every=N and --type=TYPE".into());
        }
    }
    let step = every.unwrap_or(if full { 1 } else { 1021 });
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let workers: Vec<Vec<Program>> = std::thread::scope(|scope| {
        let starting: Vec<_> = (0..threads).map(|_| scope.spawn(programs)).collect();
        let started = starting.into_iter().map(|worker| worker.join());
        started
            .map(|worker| worker.map_err(|_| "a worker panicked")?)
            .collect::<Result<_, Failure>>()
    })?;
    println!("| function | bound | f16 | f32 | f64 |\n|---|---|---|---|---|");
    let mut wrong = false;
    let start = std::time::Instant::now();
    for (op, bound) in measured() {
        if !names.is_empty() && !names.iter().any(|n| n == name(op)) {
            continue;
        }
        let mut row = format!("| `{}` | {bound} |", name(op));
        for (place, ty) in FORMATS.into_iter().enumerate() {
            if only.is_some_and(|only| only != ty.name()) {
                row += " |";
                continue;
            }
            let op = of_type(op, ty);
            let programs: Vec<&Program> = workers.iter().map(|worker| &worker[place]).collect();
            let worst = worst(op, &programs, Points::of(op, full, step))?;
            eprintln!(
                "{op}: {:.4} at {:?}, after {:.0} s",
                worst.error,
                worst.args,
                start.elapsed().as_secs_f64()
            );
            row += &format!(" {:.3} |", worst.error);
            wrong |= worst.error > bound;
        }
        println!("{row}");
    }
    if wrong {
        Err("an error is above its bound".into())
    } else {
        Ok(())
    }
}

/// The functions of each format, compiled for a worker.
fn programs() -> Result<Vec<Program>, Failure> {
    let session = Session::new(Options {
        threads: Some(1),
        ..Options::default()
    })?;
    let compiled = FORMATS.map(|ty| session.compile("functions.fut", &program(&functions(ty))));
    Ok(compiled.into_iter().collect::<Result<_, _>>()?)
}

/// The largest error found, and where.
#[derive(Clone, Default)]
struct Worst {
    error: f64,
    args: Vec<f64>,
}

impl Worst {
    fn max(self, other: Self) -> Self {
        if other.error > self.error {
            other
        } else {
            self
        }
    }
}

/// How the operands are chosen.
#[derive(Clone, Copy)]
enum Points {
    /// Those whose bits are multiples of a step.
    Every(u64, u64),
    /// So many of a pseudo-random sequence.
    Random(u64),
}

impl Points {
    fn of(op: ScalarOp, full: bool, step: u64) -> Self {
        let random = Self::Random(if full { 10_000_000 } else { 200_000 });
        match (op.operand(0), op.arity()) {
            (ScalarType::F16, 1) => Self::Every(1 << 16, 1),
            (ScalarType::F32, 1) => Self::Every(1 << 32, step),
            _ => random,
        }
    }
    fn count(self) -> u64 {
        match self {
            Self::Every(all, step) => all.div_ceil(step),
            Self::Random(count) => count,
        }
    }
    /// The operands of a chunk.
    fn chunk(self, op: ScalarOp, first: u64) -> Vec<[f64; 2]> {
        let ty = op.operand(0);
        let mut bits = Bits(first);
        (first..(first + CHUNK).min(self.count()))
            .map(|i| match self {
                Self::Every(_, step) => {
                    let bits = i * step;
                    let c = if ty == ScalarType::F16 {
                        Const::F16(bits as u16)
                    } else {
                        Const::F32(bits as u32)
                    };
                    [value(c), 0.0]
                }
                Self::Random(_) => {
                    let x = operand(&mut bits, ty);
                    [
                        x,
                        if op.arity() == 2 {
                            second(op, x, &mut bits)
                        } else {
                            0.0
                        },
                    ]
                }
            })
            .collect()
    }
}

fn worst(op: ScalarOp, programs: &[&Program], points: Points) -> Result<Worst, Failure> {
    let judge = Judge::of(op);
    let next = std::sync::atomic::AtomicU64::new(0);
    let work = |program: &Program| -> Result<Worst, Failure> {
        let mut worst = Worst::default();
        loop {
            let first = next.fetch_add(CHUNK, std::sync::atomic::Ordering::Relaxed);
            if first >= points.count() {
                return Ok(worst);
            }
            worst = worst.max(chunk(op, &judge, program, &points.chunk(op, first))?);
        }
    };
    std::thread::scope(|scope| {
        let workers: Vec<_> = programs
            .iter()
            .map(|program| scope.spawn(|| work(program)))
            .collect();
        let mut worst = Worst::default();
        for worker in workers {
            worst = worst.max(worker.join().map_err(|_| "a worker panicked")??);
        }
        Ok(worst)
    })
}

fn chunk(
    op: ScalarOp,
    judge: &Judge,
    program: &Program,
    points: &[[f64; 2]],
) -> Result<Worst, Failure> {
    let ty = op.operand(0);
    let column = |i: usize| {
        let mut data = Data::zeros(ty, points.len());
        for (place, point) in points.iter().enumerate() {
            data.set(place, constant(ty, point[i]));
        }
        Value::Array(ArrayValue {
            shape: vec![points.len() as i64],
            data,
        })
    };
    let args = (0..op.arity()).map(column).collect();
    let results = program.call(&format!("lanes_{}", name(op)), args)?;
    let [Value::Array(results)] = &results[..] else {
        return Err("a map has one array as its result".into());
    };
    let mut worst = Worst::default();
    for (i, point) in points.iter().enumerate() {
        let args = &point[..op.arity()];
        match judge.error(args, value(results.data.get(i))) {
            Some(error) if error > worst.error => {
                worst = Worst {
                    error,
                    args: args.to_vec(),
                };
            }
            Some(_) | None => {}
        }
    }
    Ok(worst)
}
