//! Forms of a program that are compiled for targets: the CPU with one thread and with two, and the emulator of GPUs.

use super::Form;
use arrc::session::{Options, Program as Compiled, Session};
use arrc::target::Target;
use midend::ir::print;
use midend::ir::soac::Soac;
use midend::ir::syntax::Program;
use midend::ir::threshold::{Forced, INFINITE};
use std::cell::RefCell;
use std::rc::Rc;
use std::sync::LazyLock;

/// The most instructions of all lanes that the emulator executes in a run.
const CAP: u64 = 200_000_000;

/// The sessions, by what a form is called under all choices of guards.
static SESSIONS: LazyLock<Vec<([&str; 3], Session)>> = LazyLock::new(|| {
    let session = |target, threads| {
        let options = Options {
            target,
            threads: Some(threads),
            cap: Some(CAP),
            ..Options::default()
        };
        Session::new(options).expect("the target is there")
    };
    vec![
        (
            ["cpu", "cpu, all guards true", "cpu, no guard true"],
            session(Target::Cpu, 1),
        ),
        (
            [
                "cpu, 2 threads",
                "cpu, 2 threads, all guards true",
                "cpu, 2 threads, no guard true",
            ],
            session(Target::Cpu, 2),
        ),
        (
            [
                "ptx-emu",
                "ptx-emu, all guards true",
                "ptx-emu, no guard true",
            ],
            session(Target::PtxEmu, 1),
        ),
    ]
});

/// The program on every target, with the guards as they come, all true, and none true.
pub(super) fn forms(nested: &Program<Soac>) -> Result<Vec<Form<'static>>, String> {
    let mut forms = Vec::new();
    for (names, session) in &*SESSIONS {
        let compiled = session.compile_ir(nested.clone());
        let compiled = compiled.map_err(|why| format!("{}: {why:?}", names[0]))?;
        let compiled = Rc::new(RefCell::new(compiled));
        let choices = [Forced::new(), Forced::all(0), Forced::all(INFINITE)];
        for (name, forced) in names.iter().zip(choices) {
            forms.push(form(name, nested, Rc::clone(&compiled), forced));
        }
    }
    Ok(forms)
}

fn form(
    name: &'static str,
    nested: &Program<Soac>,
    compiled: Rc<RefCell<Compiled>>,
    forced: Forced,
) -> Form<'static> {
    let text = nested.clone();
    Form {
        name,
        text: Box::new(move || print::program(&text)),
        run: Box::new(move |args| {
            compiled.borrow_mut().force(forced.clone());
            compiled.borrow().call("main", args)
        }),
    }
}
