//! Measures operations over rows: how long they take in rows of every length, regular and ragged, beside the same elements
//! in one row. For histograms, the length of a row is the number of buckets.
//!
//! ```sh
//! cargo run --release -p arrc-backend-cpu --example segments [regular|ragged] [LOG2_ELEMENTS] [OPERATION]
//! ```
//!
//! Each line is a kind of rows; the figures are picoseconds per element, the medians of interleaved runs.

#![allow(clippy::print_stdout, reason = "the figures are what it is for")]

use backend_cpu::{CpuDevice, Module, Options as DeviceOptions};
use midend::device::{Device, Stop};
use midend::ir::mem::Mem;
use midend::ir::read;
use midend::ir::seg::Seg;
use midend::ir::syntax::Program;
use midend::pass::{self, PassCx};
use midend::pipeline;
use midend::plan::{Executable, Options, signatures};
use midend::value::{ArrayValue, Data, Value};
use std::time::Instant;

/// Runs of each measurement.
const RUNS: usize = 9;
/// How often a program does its operation in a run, for the arguments are copied to the device each time.
const REPEAT: i64 = 8;

/// A bucket of a point `i` that is as good as random.
const KEY: &str = "let big: i64 = mul.i64(i, 2654435761) let mixed: i64 = shr.i64(big, 7) \
                   let key: i64 = rem.i64(mixed, w)";

const SUM: &str = "\\(a: f32, b: f32) { let c: f32 = add.f32(a, b) yield c }";

/// A program that does an operation over rows several times. Results are dropped but for one element.
fn text(ragged: bool, operation: &str) -> String {
    let (shape, space) = match ragged {
        true => ("[n][..offs]f32", "(i: i64 < n, j: i64 in offs)"),
        false => ("[n][w]f32", "(i: i64 < n, j: i64 < w)"),
    };
    let body = "let x: f32 = index xss[i, j]";
    let (bound, exp) = match operation {
        "reduce" => (
            "[n]f32",
            format!("segred device {space} {{ {body} yield x }} reduce comm (0.0f32) {SUM}"),
        ),
        "scan" => (
            shape,
            format!("segscan device {space} {{ {body} yield x }} scan (0.0f32) {SUM}"),
        ),
        "map" => (
            shape,
            format!(
                "segmap device {space} {{ {body} let f: f32 = convert.i64.f32(i) \
                 let y: f32 = mul.f32(x, f) yield y }}"
            ),
        ),
        "hist" => (
            "[w]f32",
            format!(
                "seghist device (i: i64 < m) {{ {KEY} yield key, 1.0f32 }} \
                 into [w] (blank) by (0.0f32) {SUM}"
            ),
        ),
        _ => (
            "[n]f32",
            format!(
                "segmap device (i: i64 < n) {{
                   let s: f32 = loop (acc: f32 = 0.0f32) for j: i64 < w {{
                     {body} let u: f32 = add.f32(acc, x) yield u
                   }} yield s }}"
            ),
        ),
    };
    let reshape = if ragged { "[n, ..offs]" } else { "[n, w]" };
    format!(
        "flat fun main(n: i64, k: i64, m: i64, t: i64, ls: [n]i64, offs: [k]i64, xs: [m]f32, times: [t]i64) -> (r: f32)
          entry \"main\" sizes 4 -> 0 (ls: []i64, offs: []i64, xs: []f32, times: []i64) -> (f32)
        {{
          let w: i64 = index ls[0]
          let xss: {shape} = reshape {reshape} xs
          let last: f32 = loop (z: f32 = 0.0f32) for it: i64 < t {{
            {blank}
            let out: {bound} = {exp}
            let v: f32 = index out[{}]
            yield v
          }}
          yield last
        }}",
        if bound.matches('[').count() == 1 {
            "0"
        } else {
            "0, 0"
        },
        blank = if operation == "hist" {
            "let blank: [w]f32 = replicate [w] 0.0f32"
        } else {
            ""
        }
    )
}

struct Case {
    executable: Executable,
    module: Module,
}

fn compile(device: &CpuDevice, text: &str) -> Case {
    let flat: Program<Seg> = read::program(text).expect("a program");
    midend::verify::program(&flat).expect("a program that is right");
    let signatures = signatures(&flat);
    let mut remarks = Vec::new();
    let mut cx = PassCx {
        options: &pass::Options::default(),
        remarks: &mut remarks,
    };
    let plan: Program<Mem> = (pipeline::PLAN.run)(flat, &mut cx);
    let plan = pipeline::PLANNED
        .iter()
        .fold(plan, |p, pass| (pass.run)(p, &mut cx));
    Case {
        module: device.compile(&plan).expect("compiles"),
        executable: Executable::new(&plan, signatures),
    }
}

fn vector(data: Vec<i64>) -> Value {
    Value::Array(ArrayValue {
        shape: vec![data.len() as i64],
        data: Data::I64(data),
    })
}

/// The arguments for rows of these lengths.
fn args(lengths: &[i64], repeat: i64) -> Vec<Value> {
    let mut offsets = vec![0];
    for length in lengths {
        offsets.push(offsets[offsets.len() - 1] + length);
    }
    let total = offsets[offsets.len() - 1];
    let elements = (0..total).map(|i| (i % 17) as f32).collect();
    vec![
        vector(lengths.to_vec()),
        vector(offsets),
        Value::Array(ArrayValue {
            shape: vec![total],
            data: Data::F32(elements),
        }),
        vector((0..repeat).collect()),
    ]
}

/// Seconds of one operation: the difference between many and one.
fn time(device: &CpuDevice, case: &Case, lengths: &[i64]) -> f64 {
    let run = |repeat: i64| {
        let (args, stop) = (args(lengths, repeat), Stop::new());
        let options = Options::new(&stop);
        let start = Instant::now();
        let result = device.pool().install(|| {
            case.executable
                .run(device, &case.module, "main", args, &options)
        });
        result.expect("runs");
        start.elapsed().as_secs_f64()
    };
    (run(1 + REPEAT) - run(1)) / REPEAT as f64
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

/// Rows of these kinds, of so many elements in all.
fn kinds(total: i64, ragged: bool) -> Vec<(String, Vec<i64>)> {
    let random = |i: i64| (i.wrapping_mul(6_364_136_223_846_793_005) >> 33).rem_euclid(1 << 20);
    let fill = |length: &dyn Fn(i64) -> i64| {
        let mut rows = Vec::new();
        let mut left = total;
        while left > 0 {
            let n = length(rows.len() as i64).min(left);
            rows.push(n);
            left -= n;
        }
        rows
    };
    let mut kinds = vec![("one row".into(), vec![total])];
    let lengths = if ragged {
        vec![1, 4, 16, 32, 64, 256, 1024]
    } else {
        (0..=24).step_by(2).map(|e| 1 << e).collect()
    };
    for n in lengths.into_iter().filter(|n| *n < total) {
        kinds.push((format!("rows of {n}"), vec![n; (total / n) as usize]));
    }
    if ragged {
        kinds.push(("1 to 4".into(), fill(&|i| 1 + random(i) % 4)));
        kinds.push(("0 to 8".into(), fill(&|i| random(i) % 9)));
        kinds.push(("32 to 96".into(), fill(&|i| 32 + random(i) % 65)));
        kinds.push(("0 to 2048".into(), fill(&|i| random(i) % 2049)));
        let skewed = |i: i64| {
            if i == 1000 {
                total / 2
            } else {
                1 + random(i) % 64
            }
        };
        kinds.push(("half in one, 1 to 64".into(), fill(&skewed)));
    }
    kinds
}

fn main() {
    let mut given = std::env::args().skip(1);
    let ragged = given.next().is_none_or(|kind| kind == "ragged");
    let total = 1 << given.next().and_then(|n| n.parse().ok()).unwrap_or(22);
    let threads = std::thread::available_parallelism().map_or(1, |n| n.get());
    let devices = [1, threads].map(|threads| {
        let options = DeviceOptions {
            threads,
            memory: None,
            vector_bits: 0,
        };
        CpuDevice::new(options).expect("this machine is supported")
    });
    let operations: &[&str] = match ragged {
        true => &["reduce", "scan", "map"],
        false => &["reduce", "scan", "map", "loop", "hist"],
    };
    let only = given.next();
    let wanted = |name: &&&str| only.as_ref().is_none_or(|only| only == **name);
    for operation in operations.iter().filter(wanted) {
        let cases: Vec<Case> = devices
            .iter()
            .map(|device| compile(device, &text(ragged, operation)))
            .collect();
        println!("{operation}: picoseconds per element on 1 and {threads} threads");
        let kinds = kinds(total, ragged);
        let mut times = vec![[Vec::new(), Vec::new()]; kinds.len()];
        for _ in 0..RUNS {
            for ((_, rows), times) in kinds.iter().zip(&mut times) {
                for ((device, case), times) in devices.iter().zip(&cases).zip(times) {
                    times.push(time(device, case, rows) * 1e12 / total as f64);
                }
            }
        }
        for ((name, _), [one, all]) in kinds.iter().zip(times) {
            println!("{name:>24} {:>9.0} {:>9.0}", median(one), median(all));
        }
    }
}
