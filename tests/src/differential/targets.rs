//! Forms of a program that are compiled for targets: the CPU with one thread and narrow vector registers (one program of four also with those of
//! 256 bits) and with two threads and the widest, and the emulator of GPUs.

use super::Form;
use arrc::session::{Options, Program as Compiled, Session};
use arrc::target::Target;
use midend::driver::Settings;
use midend::ir::print;
use midend::ir::soac::Soac;
use midend::ir::syntax::Program;
use midend::ir::threshold::{Forced, INFINITE};
use midend::pass;
use std::cell::RefCell;
use std::rc::Rc;
use std::sync::LazyLock;

/// The most instructions of all lanes that the emulator executes in a run.
const CAP: u64 = 20_000_000;

/// The place with vector registers of two vectors.
const HALF: &str = "cpu, 256 bits";
/// The place that tries most.
const MOST: &str = "cpu, 2 threads";

/// How many guards are set alone.
const ALONE: usize = 4;

/// A target, what it is called, and how programs are compiled for it.
struct Place {
    name: &'static str,
    session: Session,
}

fn place(name: &'static str, target: Target, threads: usize, without: &[&str]) -> Place {
    chunked(name, target, threads, without, None)
}

/// The same with chunks of a size.
fn chunked(
    name: &'static str,
    target: Target,
    threads: usize,
    without: &[&str],
    chunk: Option<i64>,
) -> Place {
    let without = without.iter().map(|name| (*name).to_owned()).collect();
    let options = Options {
        target,
        threads: Some(threads),
        // On one thread with narrow vector registers, on two with the widest.
        vector_bits: (threads == 1).then_some(match name == HALF {
            true => 256,
            false => 128,
        }),
        cap: Some(CAP),
        chunk,
        passes: Settings {
            options: pass::Options {
                without,
                ..pass::Options::default()
            },
            ..Settings::default()
        },
        ..Options::default()
    };
    Place {
        name,
        session: Session::new(options).expect("the target is there"),
    }
}

static PLACES: LazyLock<[Place; 3]> = LazyLock::new(|| {
    [
        place("cpu, 128 bits", Target::Cpu, 1, &[]),
        place(MOST, Target::Cpu, 2, &[]),
        place("ptx-emu", Target::PtxEmu, 1, &[]),
    ]
});

static WIDER: LazyLock<Place> = LazyLock::new(|| place(HALF, Target::Cpu, 1, &[]));

/// Where programs with sequences are tried as well: what they compute must not depend on chunks.
static CHUNKED: LazyLock<[Place; 3]> = LazyLock::new(|| {
    [
        chunked("cpu, chunks of 1", Target::Cpu, 1, &[], Some(1)),
        chunked("cpu, chunks of 3", Target::Cpu, 2, &[], Some(3)),
        chunked("ptx-emu, chunks of 2", Target::PtxEmu, 1, &[], Some(2)),
    ]
});

static IRREGULAR: LazyLock<Place> =
    LazyLock::new(|| place("cpu without regularity", Target::Cpu, 2, &["regularity"]));

/// Tries the program on every target, with the guards as they come, all true, and none true; on the CPU also with one true or
/// one not true, and compiled without the analysis of regularity. Programs with sequences are tried with several sizes of chunks.
pub(super) fn try_all(
    nested: &Program<Soac>,
    seed: u64,
    sequences: bool,
    f: &mut dyn FnMut(&Form<'_>) -> Result<(), String>,
) -> Result<(), String> {
    for place in PLACES.iter() {
        try_on(place, nested, place.name == MOST, f)?;
    }
    if seed % 4 == 1 {
        try_on(&WIDER, nested, false, f)?;
    }
    if sequences {
        for place in CHUNKED.iter() {
            try_on(place, nested, false, f)?;
        }
    }
    if seed.is_multiple_of(4) {
        try_on(&IRREGULAR, nested, false, f)?;
    }
    Ok(())
}

fn try_on(
    place: &Place,
    nested: &Program<Soac>,
    each: bool,
    f: &mut dyn FnMut(&Form<'_>) -> Result<(), String>,
) -> Result<(), String> {
    let compiled = super::unwound(|| place.session.compile_ir(nested.clone()));
    let compiled = compiled.map_err(|why| format!("{}: {why}", place.name))?;
    let compiled = compiled.map_err(|why| format!("{}: {why:?}", place.name))?;
    let names: Vec<String> = compiled
        .thresholds()
        .iter()
        .map(ToString::to_string)
        .collect();
    let mut choices = vec![("", Forced::new())];
    if !names.is_empty() {
        choices.push((", all guards true", Forced::all(0)));
        choices.push((", no guard true", Forced::all(INFINITE)));
    }
    if each && names.len() > 1 {
        for name in names.iter().take(ALONE) {
            for (what, others, number) in [
                (", one guard true", INFINITE, 0),
                (", all guards true but one", 0, INFINITE),
            ] {
                let mut forced = Forced::all(others);
                forced.named.insert(name.clone(), number);
                choices.push((what, forced));
            }
        }
    }
    let compiled = Rc::new(RefCell::new(compiled));
    choices
        .into_iter()
        .try_for_each(|(what, forced)| f(&form(place.name, what, nested, &compiled, forced)))
}

fn form<'a>(
    name: &str,
    what: &str,
    nested: &'a Program<Soac>,
    compiled: &Rc<RefCell<Compiled>>,
    forced: Forced,
) -> Form<'a> {
    let compiled = Rc::clone(compiled);
    Form {
        name: format!("{name}{what}"),
        brief: name != "ptx-emu" && (name, what) != (MOST, ""),
        text: Box::new(move || print::program(nested)),
        run: Box::new(move |args| {
            compiled.borrow_mut().force(forced.clone());
            compiled.borrow().call("main", args)
        }),
    }
}
