//! Forms of a program that interpreters run: after each pass alone, and after each pass of the pipeline.

use super::planted::{Plant, Planted};
use super::{Form, Trials, claimed, options, share, targets, unwound, verified};
use midend::device::{Device, Stop};
use midend::interp::mem::Reference;
use midend::interp::{self, Options};
use midend::ir::mem::Mem;
use midend::ir::print;
use midend::ir::seg::Seg;
use midend::ir::soac::Soac;
use midend::ir::syntax::{Fun, Program};
use midend::ir::threshold::{Forced, INFINITE};
use midend::pass::{self, Pass, PassCx};
use midend::plan::{self, Executable, signatures};
use midend::{passes, pipeline};

/// Of so many programs with derivatives one is tried after each pass.
const EACH: u64 = 8;

/// Is told of a form.
type Try<'t> = dyn FnMut(&Form<'_>) -> Result<(), String> + 't;

/// How passes are run.
struct Passes {
    plant: Option<&'static Plant>,
    options: pass::Options,
}

impl Passes {
    /// The program after a pass, which must be well-formed.
    fn after<A: Clone, B: Planted>(
        &self,
        pass: &Pass<A, B>,
        program: &Program<A>,
    ) -> Result<Program<B>, String> {
        let result = unwound(|| {
            let mut remarks = Vec::new();
            let mut cx = PassCx {
                options: &self.options,
                remarks: &mut remarks,
            };
            (pass.run)(program.clone(), &mut cx)
        });
        let mut result = result.map_err(|why| format!("{}: {why}", pass.name))?;
        if let Some(plant) = self.plant.filter(|plant| plant.pass == pass.name) {
            B::change(plant, &mut result);
        }
        verified(pass.name, &result)?;
        Ok(result)
    }

    /// Whether the pass is left out.
    fn is_without<D>(&self, pass: &Pass<D>) -> bool {
        self.options.is_without(pass.name)
    }
}

fn nested_form<'a>(name: &str, program: &'a Program<Soac>, options: Options<'a>) -> Form<'a> {
    Form {
        name: name.into(),
        on: None,
        brief: !options.claims,
        text: Box::new(|| print::program(program)),
        run: Box::new(move |args| interp::run(program, "main", args, &options)),
    }
}

fn flat_form<'a>(name: &str, program: &'a Program<Seg>, thresholds: &'a Forced) -> Form<'a> {
    let brief = !name.starts_with("flat pipeline");
    let options = Options {
        thresholds: Some(thresholds),
        ..options()
    };
    Form {
        name: name.into(),
        on: None,
        brief,
        text: Box::new(|| print::program(program)),
        run: Box::new(move |args| interp::run_flat(program, "main", args, &options)),
    }
}

/// Tries a flat program with the guards as they come, and if there are any, with all true and with none.
fn try_versions(name: &str, program: &Program<Seg>, f: &mut Try<'_>) -> Result<(), String> {
    f(&flat_form(name, program, &Forced::new()))?;
    if midend::ir::threshold::of(program).is_empty() {
        return Ok(());
    }
    for (what, number) in [("all guards true", 0), ("no guard true", INFINITE)] {
        let name = format!("{name}, {what}");
        f(&flat_form(&name, program, &Forced::all(number)))?;
    }
    Ok(())
}

/// The plan, ready to be run. `nested` is what it was made of.
fn executable(program: &Program<Mem>, nested: &Program<Soac>) -> Executable {
    let mut signatures = signatures(nested);
    for signature in &mut signatures {
        // Passes may have renumbered the functions.
        let mut funs = program.funs.enumerate();
        let is_entry = |fun: &Fun<Mem>| {
            fun.entry
                .as_ref()
                .is_some_and(|e| e.name == signature.args.name)
        };
        if let Some((id, _)) = funs.find(|(_, fun)| is_entry(fun)) {
            signature.fun = id;
        }
    }
    Executable::new(program, signatures)
}

fn ready(program: Program<Mem>, nested: &Program<Soac>) -> targets::Plan {
    targets::Plan {
        executable: executable(&program, nested),
        program,
    }
}

/// The guards as they come, and if there are any all true and none true.
pub(super) fn together(any: bool) -> Vec<(&'static str, Forced)> {
    let mut choices = vec![("", Forced::new())];
    if any {
        choices.push((", all guards true", Forced::all(0)));
        choices.push((", no guard true", Forced::all(INFINITE)));
    }
    choices
}

/// Tries a plan in the same ways. `nested` is what it was made of, before arrays became buffers.
fn try_plan(
    name: &str,
    program: &Program<Mem>,
    nested: &Program<Soac>,
    f: &mut Try<'_>,
) -> Result<(), String> {
    let executable = executable(program, nested);
    let device = Reference::new();
    let module = device
        .compile(program)
        .map_err(|e| format!("{name}: {e}"))?;
    let any = !midend::ir::threshold::of(program).is_empty();
    for (what, thresholds) in &together(any) {
        f(&Form {
            name: format!("{name}{what}"),
            on: None,
            brief: name != "pipeline",
            text: Box::new(|| print::program(program)),
            run: Box::new(|args| {
                let stop = Stop::new();
                let options = plan::Options {
                    thresholds,
                    ..plan::Options::new(&stop)
                };
                executable.run(&device, &module, "main", args, &options)
            }),
        })?;
    }
    Ok(())
}

/// Tries the program in all its forms; says what it became.
pub(super) fn try_all(
    nested: &Program<Soac>,
    seed: u64,
    trials: Trials,
    f: &mut Try<'_>,
) -> Result<Became, String> {
    let passes_with = |coalesce: bool, without: &[&str]| Passes {
        plant: trials.plant,
        options: pass::Options {
            coalesce,
            asynchronous: coalesce,
            without: without.iter().map(|name| (*name).to_owned()).collect(),
            ..pass::Options::default()
        },
    };
    let all = passes_with(true, &[]);
    // Other passes read programs whose derivatives are written.
    let nested = &if pipeline::has_derivatives(nested) {
        let derived = all.after(&pipeline::DERIVATIVES, nested)?;
        let name = pipeline::DERIVATIVES.name;
        f(&nested_form(name, &derived, options()))?;
        let mut before = nested.clone();
        for pass in pipeline::BEFORE_DERIVATIVES {
            before = all.after(pass, &before)?;
        }
        let derived = all.after(&pipeline::DERIVATIVES, &before)?;
        let name = format!("{name} of what is fused");
        f(&nested_form(&name, &derived, options()))?;
        derived
    } else {
        nested.clone()
    };
    // Derivatives are long: what each pass makes of them is tried for some.
    let each = !trials.derivatives || seed.is_multiple_of(EACH);
    if each {
        alone(&all, nested, f)?;
    }
    let down = in_order(&all, "pipeline", each, nested, f)?;
    // One after the other is left out.
    let left_out = pipeline::NESTED.iter().map(|pass| pass.name);
    let left_out: Vec<&str> = left_out.chain(["regularity"]).collect();
    let pick = (seed % left_out.len() as u64) as usize;
    let without = left_out[pick];
    let name = format!("pipeline without {without}");
    in_order(&passes_with(true, &[without]), &name, false, nested, f)?;
    let became = Became {
        ragged: down.ragged,
        tables: share::has_tables(&down.flat),
    };
    if !trials.targets {
        return Ok(became);
    }
    // On the CPU neighbours read what suits them, and launches take less time, so that plans may differ from here on.
    let on_cpu = passes_with(false, &[]);
    let flat = on_cpu.after(&pipeline::FLATTEN, &down.nested)?;
    let flat = on_cpu.flat(&flat)?;
    let host = if flat == down.flat {
        down.plan.clone()
    } else {
        on_cpu.planned(&flat)?
    };
    let irregular = if seed.is_multiple_of(4) {
        let mut ignored = |_: &Form<'_>| Ok(());
        let passes = passes_with(false, &["regularity"]);
        let down = in_order(&passes, "pipeline", false, nested, &mut ignored)?;
        Some(ready(down.plan, &down.nested))
    } else {
        None
    };
    let plans = targets::Plans {
        nested,
        host: ready(host, &down.nested),
        gpu: ready(down.plan, &down.nested),
        irregular,
    };
    targets::try_all(&plans, seed, trials, f)?;
    Ok(became)
}

/// The program after each pass alone, on its way down without other passes.
fn alone(passes: &Passes, nested: &Program<Soac>, f: &mut Try<'_>) -> Result<(), String> {
    for pass in passes::NESTED {
        let program = passes.after(pass, nested)?;
        if program != *nested {
            f(&nested_form(pass.name, &program, options()))?;
        }
    }
    let flat = passes.after(&passes::FLATTEN, nested)?;
    try_versions("flatten", &flat, f)?;
    for pass in passes::FLAT {
        let program = passes.after(pass, &flat)?;
        if program != flat {
            f(&flat_form(pass.name, &program, &Forced::new()))?;
        }
    }
    let planned = passes.after(&passes::PLAN, &flat)?;
    try_plan("plan", &planned, nested, f)?;
    for pass in passes::PLANNED {
        let program = passes.after(pass, &planned)?;
        if program != planned {
            try_plan(pass.name, &program, nested, f)?;
        }
    }
    Ok(())
}

/// What is known of a program after all passes.
pub(super) struct Became {
    /// Whether a parallel operation goes over rows of different lengths.
    pub(super) ragged: bool,
    /// Whether something is read from a table.
    pub(super) tables: bool,
}

/// What a program was on its way down.
struct Down {
    /// Whether a parallel operation goes over rows of different lengths.
    ragged: bool,
    nested: Program<Soac>,
    flat: Program<Seg>,
    plan: Program<Mem>,
}

impl Passes {
    /// A flat program after the passes of its dialect.
    fn flat(&self, program: &Program<Seg>) -> Result<Program<Seg>, String> {
        let mut program = program.clone();
        for pass in pipeline::FLAT {
            if !self.is_without(pass) {
                program = self.after(pass, &program)?;
            }
        }
        Ok(program)
    }

    /// The plan of a flat program.
    fn planned(&self, flat: &Program<Seg>) -> Result<Program<Mem>, String> {
        let mut planned = self.after(&pipeline::PLAN, flat)?;
        for pass in pipeline::PLANNED {
            if !self.is_without(pass) {
                planned = self.after(pass, &planned)?;
            }
        }
        Ok(planned)
    }
}

/// The program after all passes, and, if `each`, after each.
fn in_order(
    passes: &Passes,
    name: &str,
    each: bool,
    nested: &Program<Soac>,
    f: &mut Try<'_>,
) -> Result<Down, String> {
    let mut program = nested.clone();
    for (i, pass) in pipeline::NESTED.iter().enumerate() {
        if passes.is_without(pass) {
            continue;
        }
        let next = passes.after(pass, &program)?;
        if each && next != program {
            let name = format!("{name} up to {} {}", i + 1, pass.name);
            f(&nested_form(&name, &next, options()))?;
        }
        program = next;
    }
    f(&nested_form(&format!("nested {name}"), &program, claimed()))?;
    let flat = passes.after(&pipeline::FLATTEN, &program)?;
    let ragged = share::is_ragged(&flat);
    if each {
        try_versions(&format!("{name} up to flatten"), &flat, f)?;
    }
    let flat = passes.flat(&flat)?;
    try_versions(&format!("flat {name}"), &flat, f)?;
    let plan = passes.planned(&flat)?;
    try_plan(name, &plan, &program, f)?;
    Ok(Down {
        ragged,
        nested: program,
        flat,
        plan,
    })
}
