//! One corpus on every target: the programs under `tests/programs`, `examples` and `bench/programs`, with their test blocks.
//!
//! Programs about nesting and irregular arrays, and those after the papers, also run with all versions of their code forced: what is inside
//! sequential, and all in parallel.
//! Vector registers of all widths must give the same bits, and so must the interpreter, the CPU and the emulator, but for a list of
//! what is rounded in another order there. Compiling the same program twice must also give the same text after every pass, and NVIDIA's
//! assembler must take every kernel that a program becomes.

#[path = "../../backend-ptx/tests/common/ptxas.rs"]
mod ptxas;

use arrc::harness::{TestOptions, Verdict, discover, run_program};
use arrc::session::{Options, Session, on_big_stack};
use arrc::spec::{Action, Input, Spec, generate};
use arrc::target::Target;
use libtest_mimic::{Arguments, Failed, Trial};
use midend::driver::{DumpAfter, Event, Settings};
use midend::ir::threshold::{Forced, INFINITE};
use midend::trap::RunError;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// Cases whose results need not have the same bits on all targets, by program and entry point (`*`: all), with the reason. Whatever is not
/// here has. The list only shrinks.
const ROUNDED: &[(&str, &str, &str)] = &[
    (
        "examples/kmeans.fut",
        "main",
        "sums of f32: the means of points",
    ),
    (
        "tests/programs/arrays/histograms_of_rows.fut",
        "sums",
        "histograms of sums of floats",
    ),
    (
        "tests/programs/arrays/histograms_of_rows.fut",
        "wide",
        "histograms of sums of floats",
    ),
    (
        "examples/matmul.fut",
        "main",
        "sums of products of f32, each rounded once",
    ),
    (
        "bench/programs/srad.fut",
        "main",
        "sums of f32 over a small grid, by the threads of one block on GPUs",
    ),
    ("examples/nbody.fut", "*", "sums of forces in f32"),
    ("examples/sobol.fut", "main", "a sum of f64 over all points"),
];

/// The most lane-instructions of a case on the emulator where bits are compared; what takes more is compared with the interpreter's
/// results only, by the trials of the targets.
const BITS_CAP: u64 = if cfg!(debug_assertions) {
    2_000_000
} else {
    200_000_000
};

/// What does not pass yet, by target, program and reason. The list only shrinks.
const EXCEPTIONS: &[(Target, &str, &str)] = &[];

fn main() {
    let arguments = Arguments::from_args();
    let root = Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("tests are a member of the workspace");
    let places = ["tests/programs", "examples", "bench/programs"].map(|p| root.join(p));
    let programs = discover(&places).expect("the corpus can be listed");
    let gradients = discover(&[root.join("tests/gradients")]).expect("the corpus can be listed");
    let has_gpu = Session::new(Options {
        target: Target::Ptx,
        ..Options::default()
    })
    .is_ok();
    let mut trials = Vec::new();
    // What only the interpreter computes.
    for path in gradients {
        let name = path.file_stem().unwrap_or_default().display().to_string();
        let trial = Trial::test(format!("interp/gradients/{name}"), move || {
            check(&path, Target::Interp, false, Forced::new())
        });
        trials.push(trial);
    }
    for path in &programs {
        let name = path
            .strip_prefix(root)
            .unwrap_or(path)
            .display()
            .to_string();
        for target in Target::PLACES {
            let is_absent = target == Target::Ptx && !has_gpu;
            let path = path.clone();
            let known = EXCEPTIONS
                .iter()
                .any(|(t, p, _)| *t == target && *p == name);
            let trial = Trial::test(format!("{target}/{name}"), move || {
                check(&path, target, known, Forced::new())
            });
            trials.push(trial.with_ignored_flag(is_absent));
        }
        if ["nesting", "papers", "irregular"]
            .iter()
            .any(|place| name.contains(place))
        {
            for (what, number) in [("sequential", 0), ("parallel", INFINITE)] {
                for target in [Target::Cpu, Target::PtxEmu] {
                    let path = path.clone();
                    let trial = Trial::test(format!("{target}, {what}/{name}"), move || {
                        check(&path, target, false, Forced::all(number))
                    });
                    trials.push(trial);
                }
            }
        }
        let widths = path.clone();
        trials.push(Trial::test(format!("widths/{name}"), move || {
            same_bits(&widths)
        }));
        let (targets, program) = (path.clone(), name.clone());
        trials.push(Trial::test(format!("bits/{name}"), move || {
            same_on_all_targets(&targets, &program)
        }));
        let twice = path.clone();
        trials.push(Trial::test(format!("determinism/{name}"), move || {
            same_twice(&twice)
        }));
        let path = path.clone();
        trials.push(Trial::test(format!("ptxas/{name}"), move || {
            assembled(&path)
        }));
    }
    libtest_mimic::run(&arguments, trials).exit();
}

/// Runs the test blocks of a program on a target. A known exception must still fail.
fn check(path: &Path, target: Target, known: bool, thresholds: Forced) -> Result<(), Failed> {
    // The tag says "not for interpreters": such cases are large.
    let exclude = match target {
        Target::Interp | Target::PtxEmu => vec!["compiled".to_owned()],
        Target::Auto | Target::Cpu | Target::Ptx => vec![],
    };
    let options = TestOptions {
        target,
        exclude,
        timeout: Duration::from_secs(600),
        thresholds: thresholds.clone(),
        ..TestOptions::default()
    };
    let settings = Options {
        target,
        memory_limit: Some(options.memory_limit),
        cap: Some(options.cap),
        check: true,
        claims: true,
        thresholds,
        keep_reference: target != Target::Interp,
        ..Options::default()
    };
    let session = Session::new(settings).map_err(|e| e.to_string())?;
    let report = on_big_stack(|| run_program(&session, path, &options, &mut |_| {}));
    match (report.verdict, known) {
        (Verdict::Pass | Verdict::Skip { .. }, false) | (Verdict::Fail { .. }, true) => Ok(()),
        (Verdict::Pass | Verdict::Skip { .. }, true) => {
            Err("it passes now: take it off the list".into())
        }
        (Verdict::Fail { cause, detail }, false) => Err(format!("{cause}\n{detail}").into()),
    }
}

/// Runs a program on its inputs, but large ones, with vector registers of 128, 256 and 512 bits, as far as there are any: results are the same to the bit.
fn same_bits(path: &Path) -> Result<(), Failed> {
    let text = std::fs::read_to_string(path)?;
    let spec = Spec::parse(&text).map_err(|e| e.to_string())?;
    let Action::Accept { cases, .. } = &spec.action else {
        return Ok(());
    };
    let programs = [128, 256, 512].map(|bits| {
        let settings = Options {
            target: Target::Cpu,
            vector_bits: Some(bits),
            ..Options::default()
        };
        let session = Session::new(settings).map_err(|e| e.to_string())?;
        session
            .compile_file(path)
            .map_err(|e| e.render(frontend::render::Look::Plain))
    });
    let [narrow, wide, widest] = programs;
    let programs = [narrow?, wide?, widest?];
    for case in cases
        .iter()
        .filter(|c| c.tags.iter().all(|tag| tag != "compiled"))
    {
        let args = match &case.input {
            Input::Values(values) => values.clone(),
            Input::Random(generators) => generate(generators, 1)?,
            Input::File(_) | Input::Script(_) | Input::ScriptFile(_) => continue,
        };
        let [expected, wide, widest] = programs.each_ref().map(|program| {
            let result = on_big_stack(|| program.call(&case.entry, args.clone()));
            // Floats are written as they are to the bit; bits of a NaN are nobody's business.
            result.map_or_else(|error| error.to_string(), |values| format!("{values:?}"))
        });
        for (found, bits) in [(wide, 256), (widest, 512)] {
            if expected != found {
                let what = format!("{found} with {bits} bits, {expected} else");
                return Err(format!("{}: {what}", case.title()).into());
            }
        }
    }
    Ok(())
}

/// Runs a program on its inputs, but large ones, on the interpreter, the CPU and the emulator: results are the same to the bit, unless
/// they are known to be [`ROUNDED`].
fn same_on_all_targets(path: &Path, name: &str) -> Result<(), Failed> {
    let text = std::fs::read_to_string(path)?;
    let spec = Spec::parse(&text).map_err(|e| e.to_string())?;
    let Action::Accept { cases, .. } = &spec.action else {
        return Ok(());
    };
    let targets = [Target::Interp, Target::Cpu, Target::PtxEmu];
    let excluded: Vec<String> = targets.iter().map(|t| t.exclusion_tag()).collect();
    let left_out = |tag: &String| tag == "compiled" || excluded.contains(tag);
    let programs = targets.map(|target| {
        let settings = Options {
            target,
            cap: Some(BITS_CAP),
            ..Options::default()
        };
        let session = Session::new(settings).map_err(|e| e.to_string())?;
        session
            .compile_file(path)
            .map_err(|e| e.render(frontend::render::Look::Plain))
    });
    let [interp, cpu, emu] = programs;
    let others = [(Target::Cpu, cpu?), (Target::PtxEmu, emu?)];
    let (interp, mut differing) = (interp?, Vec::new());
    for case in cases.iter().filter(|c| !c.tags.iter().any(left_out)) {
        let args = match &case.input {
            Input::Values(values) => values.clone(),
            Input::Random(generators) => generate(generators, 1)?,
            Input::File(_) | Input::Script(_) | Input::ScriptFile(_) => continue,
        };
        // Of two failures either may be reported, and what fails on one target fails on all: the trials of the targets see to that.
        let Ok(expected) = on_big_stack(|| interp.call(&case.entry, args.clone())) else {
            continue;
        };
        let expected = format!("{expected:?}");
        for (target, program) in &others {
            let found = match on_big_stack(|| program.call(&case.entry, args.clone())) {
                Err(RunError::OutOfFuel) => continue,
                Ok(values) => format!("{values:?}"),
                Err(why) => why.to_string(),
            };
            if found != expected {
                let what = format!(
                    "{}: {found} on {target}, {expected} on interp",
                    case.title()
                );
                differing.push((case.entry.clone(), what));
            }
        }
    }
    let is_known = |entry: &str| {
        let mut known = ROUNDED.iter();
        known.any(|(p, e, _)| *p == name && (*e == "*" || *e == entry))
    };
    if let Some((_, what)) = differing.iter().find(|(entry, _)| !is_known(entry)) {
        return Err(what.as_str().into());
    }
    let same = |e: &str| !differing.iter().any(|(entry, _)| e == "*" || e == entry);
    match ROUNDED.iter().find(|(p, e, _)| *p == name && same(e)) {
        // With few instructions, not every difference shows.
        Some((_, entry, _)) if !cfg!(debug_assertions) => {
            Err(format!("{entry} has the same bits now: take it off the list").into())
        }
        Some(_) | None => Ok(()),
    }
}

/// Assembles the kernels of a program for all capabilities.
fn assembled(path: &Path) -> Result<(), Failed> {
    let settings = Options {
        target: Target::PtxEmu,
        ..Options::default()
    };
    let session = Session::new(settings).map_err(|e| e.to_string())?;
    let program = session
        .compile_file(path)
        .map_err(|e| e.render(frontend::render::Look::Plain))?;
    for capability in ptxas::TARGETS {
        let texts = program.kernel_texts(capability);
        let texts: Vec<String> = texts.into_iter().map(|(_, text)| text).collect();
        ptxas::assemble_all(&texts, capability)?;
    }
    Ok(())
}

/// Compiles a program twice and compares the IR after every pass.
fn same_twice(path: &Path) -> Result<(), Failed> {
    let (first, second) = (dumps(path)?, dumps(path)?);
    let differ = first.iter().zip(&second).find(|(a, b)| a != b);
    match differ {
        Some(((pass, _), _)) => Err(format!("after `{pass}`, two compilations differ").into()),
        None if first.len() != second.len() || first.is_empty() => {
            Err("the passes that ran differ".into())
        }
        None => Ok(()),
    }
}

/// The text of the program after every pass.
fn dumps(path: &Path) -> Result<Vec<(String, String)>, Failed> {
    let texts = Arc::new(Mutex::new(Vec::new()));
    let told = Arc::clone(&texts);
    let settings = Options {
        passes: Settings {
            dump_after: DumpAfter::All,
            ..Settings::default()
        },
        ..Options::default()
    };
    let session = Session::observed(settings, move |event| {
        if let (Event::Dump { pass, text, .. }, Ok(mut texts)) = (event, told.lock()) {
            texts.push((pass.to_owned(), text.unwrap_or_default().to_owned()));
        }
    })
    .map_err(|e| e.to_string())?;
    session
        .compile_file(path)
        .map_err(|e| e.render(frontend::render::Look::Plain))?;
    let texts = texts.lock().map_err(|e| e.to_string())?;
    Ok(texts.clone())
}
