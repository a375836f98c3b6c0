//! What fuzzing starts from: the programs of this repository, and those that `FUTHARK_TESTS` names.

use super::super::generate;
use midend::ir::{print, read};
use midend::pass::{Options, PassCx};
use midend::passes;
use std::path::{Path, PathBuf};

/// Longer samples cost time and show nothing new.
const MAX_BYTES: u64 = 40_000;

/// A sample: where it is from, and its text.
#[derive(Clone, Debug)]
pub struct Sample {
    /// Its path; what it imports lies beside it.
    pub path: PathBuf,
    /// Its text.
    pub text: String,
}

/// Source programs: of this repository, and of the folders that `FUTHARK_TESTS` names (separated by colons).
pub fn programs() -> Vec<Sample> {
    let here = ["tests/programs", "tests/errors", "examples"].map(|place| root().join(place));
    let outside = std::env::var_os("FUTHARK_TESTS").unwrap_or_default();
    let places = here.into_iter().chain(std::env::split_paths(&outside));
    places
        .flat_map(|place| files(&place, "fut"))
        .filter_map(sample)
        .collect()
}

/// Programs of the IR, in all dialects: the filetests, and random programs on their way down.
pub fn ir() -> Vec<String> {
    let places = ["tests/passes", "midend/tests/text"].map(|place| root().join(place));
    let files = places.iter().flat_map(|place| files(place, "ir"));
    let texts = files.filter_map(sample).map(|sample| sample.text);
    let mut all: Vec<String> = texts
        .filter(|text| read::dialect_name(text).is_some())
        .collect();
    for seed in 0..12 {
        let nested = generate::program(seed, 20);
        all.push(print::program(&nested));
        let options = Options::default();
        let mut remarks = Vec::new();
        let mut cx = PassCx {
            options: &options,
            remarks: &mut remarks,
        };
        let flat = (passes::FLATTEN.run)(nested, &mut cx);
        all.push(print::program(&flat));
        all.push(print::program(&(passes::PLAN.run)(flat, &mut cx)));
    }
    all
}

fn root() -> &'static Path {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here)
}

fn sample(path: PathBuf) -> Option<Sample> {
    let short = std::fs::metadata(&path).ok()?.len() <= MAX_BYTES;
    let text = std::fs::read_to_string(&path).ok().filter(|_| short)?;
    Some(Sample { path, text })
}

/// The files in a folder and below whose names end so, in order.
fn files(place: &Path, extension: &str) -> Vec<PathBuf> {
    let mut entries: Vec<PathBuf> = std::fs::read_dir(place)
        .map(|entries| entries.flatten().map(|entry| entry.path()).collect())
        .unwrap_or_default();
    entries.sort();
    let mut found = Vec::new();
    for path in entries {
        if path.is_dir() {
            found.extend(files(&path, extension));
        } else if path.extension().is_some_and(|e| e == extension) {
            found.push(path);
        }
    }
    found
}
