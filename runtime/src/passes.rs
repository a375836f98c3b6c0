//! The names of the compiler's passes.

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

/// What to say of a pass that is not there; `on` says where, if it is elsewhere.
pub(crate) fn no_pass(name: &str, on: &str) -> String {
    let near = frontend::near(name, pass_names()).filter(|near| near != name);
    let hint = near.map_or_else(String::new, |near| format!("did you mean {near}? "));
    format!("there is no pass {name}{on}; {hint}`arrc opt --list` lists them")
}
