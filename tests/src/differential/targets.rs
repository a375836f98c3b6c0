//! Forms of a program that are compiled for targets: the CPU with one thread and vector registers of 128 bits, with one thread and 256 bits,
//! and with two threads and the widest, in every third program with small pieces for each, and the emulator of GPUs. A plan is compiled once for each of them; guards and chunks are
//! settled when it runs.

use super::forms::together;
use super::{Form, Trials};
use arrc::session::on_big_stack;
use backend_cpu::CpuDevice;
use backend_ptx::{EmuDevice, Limits};
use midend::device::{Device, Stop};
use midend::fired;
use midend::ir::mem::Mem;
use midend::ir::print;
use midend::ir::soac::Soac;
use midend::ir::syntax::Program;
use midend::ir::threshold::{Forced, INFINITE};
use midend::plan::{self, Executable};
use midend::stream::{Fixed, Streams};
use midend::trap::RunError;
use midend::value::Value;
use std::sync::LazyLock;

/// The most instructions of all lanes that the emulator executes in a run.
const CAP: u64 = 20_000_000;

/// How many guards are set alone; of more, those from a place on that the seed decides.
const ALONE: usize = 8;

/// How many times dearer points are taken to be where a few are to be shared out.
const DEARER: f64 = 2000.0;

/// From which sizes on launches take other forms, where not from the usual ones: from such as small programs have.
const FORMS: [Option<Limits>; 3] = [
    None,
    Some(Limits {
        wide: 20,
        tiles: 1,
        ragged: 4,
        resident: 2,
        room: 96 << 10,
    }),
    Some(Limits {
        wide: 1,
        tiles: 2,
        ragged: 0,
        resident: 1,
        room: 60 << 10,
    }),
];

/// A plan, and the same ready to be run.
pub(super) struct Plan {
    pub(super) program: Program<Mem>,
    pub(super) executable: Executable,
}

/// What the program has become.
pub(super) struct Plans<'a> {
    /// What it was.
    pub(super) nested: &'a Program<Soac>,
    /// The plan for the CPU.
    pub(super) host: Plan,
    /// The plan for GPUs.
    pub(super) gpu: Plan,
    /// The plan for the CPU without the analysis of regularity, if it is to be tried.
    pub(super) irregular: Option<Plan>,
}

/// A CPU with threads and vector registers of so many bits; 0 is the widest there are.
struct Host {
    name: &'static str,
    device: CpuDevice,
}

fn host(name: &'static str, threads: usize, vector_bits: u32) -> Host {
    let options = backend_cpu::Options {
        threads,
        memory: None,
        vector_bits,
    };
    let device = CpuDevice::new(options).expect("there is a CPU");
    Host { name, device }
}

static NARROW: LazyLock<Host> = LazyLock::new(|| host("cpu, 128 bits", 1, 128));
static HALF: LazyLock<Host> = LazyLock::new(|| host("cpu, 256 bits", 1, 256));
static WIDEST: LazyLock<Host> = LazyLock::new(|| host("cpu, 2 threads, widest", 2, 0));
/// The same, but that even a few points are shared out.
static SHARING: LazyLock<Host> = LazyLock::new(|| {
    let Host { name: _, device } = host("", 2, 0);
    Host {
        name: "cpu, 2 threads, widest, small pieces",
        device: device.with_dearer_points(DEARER),
    }
});

/// The same, but that all maps are vectorised under a mask.
static LANES: LazyLock<Host> = LazyLock::new(|| {
    let Host { name: _, device } = host("", 2, 0);
    Host {
        name: "cpu, 2 threads, all in lanes",
        device: device.with_dearer_points(DEARER).with_all_in_lanes(),
    }
});

/// In which ways a program is run.
#[derive(Clone, Copy, Default)]
struct Ways {
    /// Whether each guard is set alone.
    each: bool,
    /// Whether all lists of arguments are given to it.
    all: bool,
    /// Whether all are given to it at least with the guards as they come.
    usual: bool,
    /// In chunks of so many elements as well.
    chunk: Option<i64>,
}

/// Runs a plan that was compiled, with thresholds, in chunks of a size.
type Run<'a> = dyn Fn(Vec<Value>, &Forced, Option<i64>) -> Result<Vec<Value>, RunError> + 'a;

/// Tries the program on every target, with the guards as they come, all true, and none true, and with one true or one not true;
/// compiled without the analysis of regularity, too. Programs with sequences are tried with several sizes of chunks.
pub(super) fn try_all(
    plans: &Plans<'_>,
    seed: u64,
    trials: Trials,
    f: &mut dyn FnMut(&Form<'_>) -> Result<(), String>,
) -> Result<(), String> {
    let chunk = |n: i64| trials.sequences.then_some(n);
    let narrow = Ways {
        chunk: chunk(1),
        ..Ways::default()
    };
    on_host(&NARROW, &plans.host, plans.nested, seed, narrow, f)?;
    if trials.widths || seed % 4 == 1 {
        on_host(&HALF, &plans.host, plans.nested, seed, Ways::default(), f)?;
    }
    let widest = Ways {
        each: true,
        usual: true,
        chunk: chunk(3),
        ..Ways::default()
    };
    let wide = match (seed / 4) % 3 {
        0 => &SHARING,
        1 => &LANES,
        _ => &WIDEST,
    };
    on_host(wide, &plans.host, plans.nested, seed, widest, f)?;
    let emulated = Ways {
        each: true,
        all: true,
        chunk: chunk(2),
        ..Ways::default()
    };
    on_emulator(&plans.gpu, plans.nested, seed, emulated, f)?;
    if let Some(plan) = &plans.irregular {
        let ways = Ways::default();
        on_host(wide, plan, plans.nested, seed, ways, &mut |form| {
            f(form).map_err(|why| format!("without regularity, {why}"))
        })?;
    }
    Ok(())
}

fn on_host(
    host: &Host,
    plan: &Plan,
    nested: &Program<Soac>,
    seed: u64,
    ways: Ways,
    f: &mut dyn FnMut(&Form<'_>) -> Result<(), String>,
) -> Result<(), String> {
    let device = &host.device;
    let module = super::unwound(|| device.compile(&plan.program));
    let module = module.map_err(|why| format!("{}: {why}", host.name))?;
    let module = module.map_err(|why| format!("{}: {why}", host.name))?;
    let run = |args: Vec<Value>, thresholds: &Forced, chunk: Option<i64>| {
        let executable = &plan.executable;
        let run = || {
            let fixed = chunk.map(Fixed);
            let stop = Stop::new();
            let options = options(&stop, thresholds, fixed.as_ref());
            executable.run(device, &module, "main", args, &options)
        };
        // The pool has threads of its own.
        let (result, counts) = device.pool().install(|| fired::counted(run));
        fired::add(&counts);
        result
    };
    try_ways(host.name, &run, &plan.executable, nested, seed, ways, f)
}

fn on_emulator(
    plan: &Plan,
    nested: &Program<Soac>,
    seed: u64,
    ways: Ways,
    f: &mut dyn FnMut(&Form<'_>) -> Result<(), String>,
) -> Result<(), String> {
    let name = "ptx-emu";
    // Turns are taken in another order in every program, and forms of launches for much change at other sizes.
    let usual = backend_ptx::Options::default();
    let limits = backend_ptx::Options {
        seed,
        fuel: CAP,
        limits: FORMS[(seed % FORMS.len() as u64) as usize].unwrap_or(usual.limits),
        ..usual
    };
    let module = super::unwound(|| EmuDevice::new(limits)?.compile(&plan.program));
    let module = module.map_err(|why| format!("{name}: {why}"))?;
    let module = module.map_err(|why| format!("{name}: {why}"))?;
    let run = |args: Vec<Value>, thresholds: &Forced, chunk: Option<i64>| {
        let executable = &plan.executable;
        on_big_stack(|| {
            let device = EmuDevice::new(limits)?;
            let fixed = chunk.map(Fixed);
            let stop = Stop::new();
            let options = options(&stop, thresholds, fixed.as_ref());
            executable.run(&device, &module, "main", args, &options)
        })
    };
    try_ways(name, &run, &plan.executable, nested, seed, ways, f)
}

fn options<'a>(
    stop: &'a Stop,
    thresholds: &'a Forced,
    fixed: Option<&'a Fixed>,
) -> plan::Options<'a> {
    plan::Options {
        thresholds,
        streams: fixed.map_or(Streams::VARIED, |fixed| Streams::new(fixed)),
        ..plan::Options::new(stop)
    }
}

fn try_ways(
    name: &'static str,
    run: &Run<'_>,
    executable: &Executable,
    nested: &Program<Soac>,
    seed: u64,
    ways: Ways,
    f: &mut dyn FnMut(&Form<'_>) -> Result<(), String>,
) -> Result<(), String> {
    let names: Vec<String> = executable
        .thresholds()
        .iter()
        .map(ToString::to_string)
        .collect();
    let mut form = |what: &str, on: String, brief: bool, forced: &Forced, chunk: Option<i64>| {
        f(&Form {
            name: format!("{name}{what}"),
            on: Some(on),
            brief,
            text: Box::new(|| print::program(nested)),
            run: Box::new(|args| run(args, forced, chunk)),
        })
    };
    let choices = together(!names.is_empty());
    for (what, forced) in &choices {
        let brief = !(ways.all || ways.usual && what.is_empty());
        form(what, name.to_owned(), brief, forced, None)?;
    }
    if let Some(chunk) = ways.chunk {
        for (what, forced) in &choices {
            let brief = !ways.all;
            let what = format!("{what}, chunks of {chunk}");
            form(&what, format!("{name}, chunks"), brief, forced, Some(chunk))?;
        }
    }
    if !ways.each || names.len() < 2 {
        return Ok(());
    }
    let place = name;
    let from = seed as usize % names.len();
    for name in names.iter().cycle().skip(from).take(names.len().min(ALONE)) {
        for (what, others, number) in [
            (", one guard true", INFINITE, 0),
            (", all guards true but one", 0, INFINITE),
        ] {
            let mut forced = Forced::all(others);
            forced.named.insert(name.clone(), number);
            form(what, format!("{place}, each guard"), true, &forced, None)?;
        }
    }
    Ok(())
}
