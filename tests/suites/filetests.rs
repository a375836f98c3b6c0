//! Tests of passes as files: `tests/passes/<pass>/*.ir` holds a program, what to run it on, and what the pass makes of it.
//!
//! ```text
//! ; why: what this is about
//! nested
//! fun main(..) .. { .. }
//! ; run: main [1, 2] 3i32 == [3]
//! ; fails: main [1, 2] 9i32 with "out of bounds"
//! ; device: synchronous (if it is about a device that the host waits for)
//! ; ---- expected
//! ; nested
//! ; ..
//! ```
//!
//! Each file is read, printed and read again, verified, given to the pass that its folder is named after, verified again and
//! compared; entry points are interpreted before and after on the arguments that the file gives.
//! `ARRC_BLESS=1` writes what the pass makes into the files instead of comparing.

#[path = "filetests/directive.rs"]
mod directive;
#[path = "filetests/run.rs"]
mod run;

use directive::File;
use libtest_mimic::{Arguments, Failed, Trial};
use midend::ir::mem::Mem;
use midend::ir::print;
use midend::ir::read;
use midend::ir::seg::Seg;
use midend::ir::soac::Soac;
use midend::ir::syntax::Program;
use midend::pass::{Analysis, Options, Pass, PassCx};
use midend::passes;
use midend::verify::{self, Verify};
use run::Run;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

fn main() -> ExitCode {
    let args = Arguments::from_args();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/passes");
    libtest_mimic::run(&args, trials(&root)).exit_code()
}

/// One test per file, named `pass/file`.
fn trials(root: &Path) -> Vec<Trial> {
    let mut trials = Vec::new();
    for folder in entries(root) {
        for path in entries(&folder) {
            if path.extension().is_none_or(|ext| ext != "ir") {
                continue;
            }
            let (pass, stem) = (name(&folder), name(&path.with_extension("")));
            let title = format!("{pass}/{stem}");
            trials.push(Trial::test(title, move || test(&pass, &path)));
        }
    }
    trials
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let read = fs::read_dir(folder).into_iter().flatten();
    let mut paths: Vec<PathBuf> = read.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    paths
}

fn name(path: &Path) -> String {
    path.file_name()
        .map_or(String::new(), |n| n.to_string_lossy().into_owned())
}

fn test(pass: &str, path: &Path) -> Result<(), Failed> {
    let text = fs::read_to_string(path)?;
    let file = File::parse(&text)?;
    match read::dialect_name(&text) {
        Some("nested") if pass == passes::FLATTEN.name => apply(&passes::FLATTEN, &file, path),
        Some("nested") => match passes::ANALYSES.iter().find(|a| a.name == pass) {
            Some(analysis) => annotate(analysis, &file, path),
            None => apply(find(passes::NESTED, pass)?, &file, path),
        },
        Some("flat") if pass == passes::PLAN.name => apply(&passes::PLAN, &file, path),
        Some("flat") => match passes::FLAT_ANALYSES.iter().find(|a| a.name == pass) {
            Some(analysis) => annotate(analysis, &file, path),
            None => apply(find(passes::FLAT, pass)?, &file, path),
        },
        Some("plan") => apply(find(passes::PLANNED, pass)?, &file, path),
        Some(_) | None => Err("the file does not begin with the name of a dialect".into()),
    }
}

fn find<'p, D>(passes: &'p [Pass<D>], name: &str) -> Result<&'p Pass<D>, Failed> {
    passes
        .iter()
        .find(|pass| pass.name == name)
        .ok_or_else(|| format!("there is no pass `{name}` of this dialect").into())
}

fn apply<From: Run, To: Run>(
    pass: &Pass<From, To>,
    file: &File,
    path: &Path,
) -> Result<(), Failed> {
    let before: Program<From> = read::program(&file.program).map_err(|e| e.to_string())?;
    round_trip(&before)?;
    verified("before the pass", &before)?;
    for case in &file.cases {
        case.check("before the pass", &before)?;
    }
    // What does nothing otherwise shows what it does.
    let options = Options {
        fast_math: true,
        unchecked: true,
        asynchronous: !file.is_synchronous,
        ..Options::default()
    };
    let mut remarks = Vec::new();
    let mut cx = PassCx {
        options: &options,
        remarks: &mut remarks,
    };
    let after = (pass.run)(before, &mut cx);
    verified("after the pass", &after)?;
    let printed = print::program(&after);
    for case in &file.cases {
        let explain =
            |e: Failed| -> Failed { format!("{}\n{printed}", e.message().unwrap_or("")).into() };
        case.check("after the pass", &after).map_err(explain)?;
    }
    if std::env::var_os("ARRC_BLESS").is_some() {
        return Ok(fs::write(path, file.blessed(&printed))?);
    }
    round_trip(&after)?;
    file.compare(&printed)
}

/// An analysis changes nothing but comments, and what it claims holds in every run.
fn annotate<D: Run>(analysis: &Analysis<D>, file: &File, path: &Path) -> Result<(), Failed> {
    let program: Program<D> = read::program(&file.program).map_err(|e| e.to_string())?;
    round_trip(&program)?;
    verified("as given", &program)?;
    for case in &file.cases {
        case.check("as given", &program)?;
    }
    let annotated = (analysis.annotated)(&program);
    let again: Program<D> = read::program(&annotated).map_err(|e| e.to_string())?;
    if print::program(&again) != print::program(&program) {
        return Err(format!("the comments change the program:\n{annotated}").into());
    }
    if std::env::var_os("ARRC_BLESS").is_some() {
        return Ok(fs::write(path, file.blessed(&annotated))?);
    }
    file.compare(&annotated)
}

/// What is printed reads back as what it was.
fn round_trip<D: Verify>(program: &Program<D>) -> Result<(), Failed> {
    let printed = print::program(program);
    let again: Program<D> = read::program(&printed).map_err(|e| format!("{e}\n{printed}"))?;
    if print::program(&again) == printed {
        Ok(())
    } else {
        Err(format!("what was printed reads back as something else:\n{printed}").into())
    }
}

fn verified<D: Verify>(when: &str, program: &Program<D>) -> Result<(), Failed> {
    let Err(faults) = verify::program(program) else {
        return Ok(());
    };
    let faults: Vec<String> = faults.iter().map(ToString::to_string).collect();
    Err(format!(
        "{when}:\n{}\n{}",
        faults.join("\n"),
        print::program(program)
    )
    .into())
}

/// The dialects, named so that a missing one is a compile-time error here.
const _: fn() = || {
    fn run<D: Run>() {}
    run::<Soac>();
    run::<Seg>();
    run::<Mem>();
};
