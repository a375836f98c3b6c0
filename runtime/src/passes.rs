//! The compiler's passes: their names, and programs as some of them leave them.

use midend::ir::soac::Soac;
use midend::ir::syntax::Program;
use midend::pass::{Options, PassCx};
use midend::{passes, pipeline};

/// The names of all passes.
pub(crate) fn pass_names() -> impl Iterator<Item = &'static str> {
    let nested = passes::NESTED.iter().map(|pass| pass.name);
    let flat = passes::FLAT.iter().map(|pass| pass.name);
    let planned = passes::PLANNED.iter().map(|pass| pass.name);
    let between = [pipeline::FLATTEN.name, pipeline::PLAN.name];
    let analyses = passes::ANALYSES.iter().map(|analysis| analysis.name);
    let flat_analyses = passes::FLAT_ANALYSES.iter().map(|analysis| analysis.name);
    nested
        .chain(between)
        .chain(flat)
        .chain(planned)
        .chain(analyses)
        .chain(flat_analyses)
}

/// A program with what it calls in its place, and simplified.
pub(crate) fn inlined(program: Program<Soac>) -> Program<Soac> {
    let wanted = ["inline", "simplify"];
    let found = wanted.map(|name| passes::NESTED.iter().find(|pass| pass.name == name));
    found.into_iter().flatten().fold(program, |program, pass| {
        let mut cx = PassCx {
            options: &Options::default(),
            remarks: &mut Vec::new(),
        };
        (pass.run)(program, &mut cx)
    })
}

/// What to say of a pass that is not there; `on` says where, if it is elsewhere.
pub(crate) fn no_pass(name: &str, on: &str) -> String {
    let near = frontend::near(name, pass_names()).filter(|near| near != name);
    let hint = near.map_or_else(String::new, |near| format!("did you mean {near}? "));
    format!("there is no pass {name}{on}; {hint}`arrc opt --list` lists them")
}
