//! Faults planted in a kernel on whose points threads work together: the emulator reports each, with kernel, instruction and source line.

use arrc::loader::FileLoader;
use arrc::session::on_big_stack;
use backend_ptx::ptx::ops::Cmp;
use backend_ptx::ptx::{Inst, Line, Module, Operand, Space};
use backend_ptx::{EmuDevice, Options};
use midend::device::{Device, Stop};
use midend::driver::{Driver, Settings};
use midend::ir::scalar::Const;
use midend::pipeline;
use midend::plan::{self, Executable};
use midend::trap::RunError;
use midend::value::Value;
use std::time::Duration;

/// What scans, reduces and maps a row, each of the last two by what was made before.
const ROWS: &str = "entry main (n: i64) (m: i64) : [n][m]i64 =
  map (\\i ->
         let xs = scan (+) 0 (map (\\j -> (i + j * j) % 7) (iota m))
         let most = i64.maximum xs
         in map (\\j ->
                   xs[m - 1 - j] + most) (iota m)) (iota n)
";

/// What counts the numbers of a row in its histogram, sums that up, and scatters the row to where it is sorted by what it was counted by.
const WRITES: &str = "entry main (n: i64) (m: i64) : [n][m]i64 =
  map (\\i ->
         let xs = scan (+) 0 (map (\\j -> 1 + (i + j * j) % 7) (iota m))
         let counts = hist (+) 0 16 (map (% 16) xs) (replicate m 1)
         let sums = scan (+) 0 counts
         in scatter (replicate m 0) (map (\\j -> m - 1 - j) (iota m)) (map (\\x -> x + sums[x % 16]) xs)) (iota n)
";

/// Orders in which warps take their turns.
const SEEDS: std::ops::Range<u64> = 1..5;

/// Runs the program with rows of a length on an emulator that changes kernels before it loads them.
fn run(
    text: &str,
    m: i64,
    seed: u64,
    changed: Option<fn(&mut Module)>,
) -> Result<Vec<Value>, RunError> {
    let mut loader = FileLoader::new();
    let file = loader.add_text("rows.fut", text);
    let compiled = frontend::compile(file, &mut loader).expect("it loads");
    let program = compiled.program;
    let settings = Settings::default();
    let (clock, mut tell) = (|| Duration::ZERO, |_: midend::driver::Event<'_>| {});
    let mut driver = Driver::new(&settings, &clock, &mut tell);
    let (program, signatures) = pipeline::plan(program, &mut driver).expect("it is planned");
    let executable = Executable::new(&program, signatures);
    let options = Options {
        seed,
        changed,
        ..Options::default()
    };
    let device = EmuDevice::new(options)?;
    let module = device.compile(&program)?;
    let args = [2, m].map(|n| Value::Scalar(Const::I64(n))).to_vec();
    let stop = Stop::new();
    let thresholds = midend::ir::threshold::Forced::new();
    let options = plan::Options {
        thresholds: &thresholds,
        ..plan::Options::new(&stop)
    };
    on_big_stack(|| executable.run(&device, &module, "main", args, &options))
}

/// Calls `f` on every line of kernels by blocks or by warps, and removes those for which it says so.
fn keep(module: &mut Module, mut f: impl FnMut(&mut Line) -> bool) {
    for func in &mut module.funcs {
        if func.name.contains("by256") || func.name.contains("by32") {
            for block in &mut func.blocks {
                block.lines.retain_mut(&mut f);
            }
        }
    }
}

/// The report, the same for all orders but for who comes first: all of a kind, in a kernel of that name, at such an instruction of a line.
fn reported(
    (text, m): (&str, i64),
    changed: fn(&mut Module),
    kinds: &[&str],
    (kernel, inst): (&str, &str),
    lines: &[u32],
) {
    for seed in SEEDS {
        let Err(RunError::Internal(text)) = run(text, m, seed, Some(changed)) else {
            panic!("a fault was planted");
        };
        let has = |text: &str, all: &[&str]| all.iter().any(|some| text.contains(some));
        assert!(has(&text, kinds), "{text}");
        assert!(text.contains("in kernel k_entry_main"), "{text}");
        assert!(text.contains(kernel), "{text}");
        assert!(text.contains(&format!("at `{inst}")), "{text}");
        let places: Vec<String> = lines.iter().map(|n| format!("rows.fut:{n}:")).collect();
        assert!(places.iter().any(|place| text.contains(place)), "{text}");
    }
}

#[test]
fn nothing_is_reported_without_a_mistake() {
    for (text, m) in [(ROWS, 40), (ROWS, 300), (WRITES, 40), (WRITES, 300)] {
        let first = run(text, m, 1, None).expect("no fault");
        for seed in SEEDS {
            assert_eq!(run(text, m, seed, None).as_ref(), Ok(&first));
        }
    }
}

fn without_barriers(module: &mut Module) {
    keep(module, |line| {
        !matches!(line.inst, Inst::Barrier | Inst::WarpSync { .. })
    });
}

#[test]
fn a_missing_barrier_is_reported() {
    for (m, kernel) in [(40, "by32"), (300, "by256")] {
        let kinds = ["data race", "read of undefined memory"];
        reported(
            (ROWS, m),
            without_barriers,
            &kinds,
            (kernel, ""),
            &[3, 4, 6],
        );
    }
}

/// Buckets are changed by threads that do not wait for those that fill them, nor do those wait that read them.
#[test]
fn a_missing_barrier_around_a_histogram_is_reported() {
    for (m, kernel) in [(40, "by32"), (300, "by256")] {
        let kinds = ["data race", "read of undefined memory"];
        reported(
            (WRITES, m),
            without_barriers,
            &kinds,
            (kernel, ""),
            &[3, 4, 5, 6],
        );
    }
}

/// Atomic operations on shared memory go beyond it.
fn buckets_out_of_range(module: &mut Module) {
    keep(module, |line| {
        if let Inst::Atom {
            space: Space::Shared,
            at,
            ..
        } = &mut line.inst
        {
            at.offset += 1 << 20;
        }
        true
    });
}

#[test]
fn a_bucket_out_of_range_is_reported() {
    for (m, kernel) in [(40, "by32"), (300, "by256")] {
        let kinds = ["access out of bounds"];
        reported(
            (WRITES, m),
            buckets_out_of_range,
            &kinds,
            (kernel, "red"),
            &[4],
        );
    }
}

/// The last access of the kernel to shared memory reads beyond it.
fn out_of_range(module: &mut Module) {
    let (mut count, mut last) = (0, 0);
    keep(module, |line| {
        count += 1;
        if matches!(
            &line.inst,
            Inst::Load {
                space: Space::Shared,
                ..
            }
        ) {
            last = count;
        }
        true
    });
    count = 0;
    keep(module, |line| {
        count += 1;
        if let (true, Inst::Load { at, .. }) = (count == last, &mut line.inst) {
            at.offset += 1 << 20;
        }
        true
    });
}

#[test]
fn an_index_out_of_range_is_reported() {
    for (m, kernel) in [(40, "by32"), (300, "by256")] {
        let kinds = ["access out of bounds"];
        reported((ROWS, m), out_of_range, &kinds, (kernel, "ld.shared"), &[6]);
    }
}

/// Nothing is written into shared memory but what is one word wide: what a row of 64-bit numbers is read from has nothing in it.
fn without_stores(module: &mut Module) {
    keep(
        module,
        |line| !matches!(&line.inst, Inst::Store { space: Space::Shared, ty, .. } if ty.bytes() == 8),
    );
}

#[test]
fn a_read_of_what_nobody_wrote_is_reported() {
    for (m, kernel) in [(40, "by32"), (300, "by256")] {
        let kinds = ["read of undefined memory"];
        reported(
            (ROWS, m),
            without_stores,
            &kinds,
            (kernel, "ld.shared"),
            &[3, 4],
        );
    }
}

/// Every thread takes itself for the first one.
fn all_first(module: &mut Module) {
    keep(module, |line| {
        if let Inst::Compare {
            op,
            b: Operand::Imm(0),
            ..
        } = &mut line.inst
            && *op == Cmp::Eq
        {
            *op = Cmp::Ge;
        }
        true
    });
}

#[test]
fn stores_that_race_are_reported() {
    for (m, kernel) in [(40, "by32"), (300, "by256")] {
        reported(
            (ROWS, m),
            all_first,
            &["data race"],
            (kernel, "st.shared"),
            &[4],
        );
    }
}
