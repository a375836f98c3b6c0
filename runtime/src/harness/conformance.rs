//! The page that tells how arrc fares on a test-suite.

use super::summary::Counts;
use super::{ProgramReport, Summary};
use crate::target::Target;
use std::fmt::Write as _;
use std::path::Path;

/// The page, in Markdown. Paths are shown relative to `root`.
pub fn conformance(reports: &[ProgramReport], target: Target, root: &Path) -> String {
    let summary = Summary::of(reports);
    let relative = |path: &str| {
        Path::new(path)
            .strip_prefix(root)
            .map_or_else(|_| path.to_owned(), |p| p.display().to_string())
    };
    let mut text = format!(
        "# Conformance\n\n\
         How arrc fares on Futhark's own test-suite (the folder `tests/` of its repository), on the target `{target}`.\n\
         This page is written by `arrc test --target={target} --conformance=docs/conformance.md DIR`; do not edit it.\n\n\
         A program passes when every one of its runs does. Programs that must be rejected pass when they are rejected \
         for\nwhat they mean; the wording is not compared. Runs marked `auto output` have no results in the suite: they \
         are compared\nwith arrc's interpreter where that is quick enough, and have to succeed in any case.\n\n\
         Programs in which the size of an element depends on the element are rejected by Futhark, and make \
         [irregular arrays](irregular.md) here:\n`mapiota.fut`, `shapes/error12.fut`, `shapes/recursive-sized-map.fut`, \
         `shapes/sized-map-error.fut` are accepted for that. Four more\nare accepted for other reasons: in \
         `shapes/funshape7.fut` the operand of a section has a size that is known only when it was computed, which it is before\n\
         the section is applied; in `types/loop-variant-size-escape.fut` the size `h - 1 + 1` is known to be `h`;\n\
         in `issue2316.fut` `copy` takes a value of an abstract type with sizes; in `types/inference5.fut` a local function is generalised.\n\n\
         Four derivatives are others than Futhark's: truth values, bits of floats and lengths are constants (`ad/not.fut`, `ad/issue2292.fut`,\n\
         `ad/iota0.fut`), and a bucket into which nothing falls keeps the derivative of what was in it (`ad/reducebyindex5.fut`: Futhark combines\n\
         it with the neutral element, which its operator does not leave as it is).\n\n\
         | what | passed | of | left out |\n|---|---|---|---|\n"
    );
    let rows = [
        ("programs", summary.programs),
        ("programs that must run", summary.run),
        ("programs that must be rejected", summary.reject),
        ("programs that must only compile", summary.compile),
        ("runs with given results", summary.cases),
        ("runs compared with the interpreter", summary.auto),
        ("runs with nothing to compare with", summary.auto_unchecked),
        ("properties", summary.properties),
    ];
    for (name, counts) in rows {
        if counts == Counts::default() {
            continue;
        }
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "| {name} | {} | {} | {} |",
            counts.passed,
            counts.tried(),
            counts.skipped
        );
    }
    if summary.causes.is_empty() {
        text.push_str("\nNothing fails.\n");
        return text;
    }
    text.push_str("\n## What fails, by cause\n");
    for (cause, programs) in summary.by_frequency() {
        let names: Vec<_> = programs
            .iter()
            .map(|p| format!("`{}`", relative(p)))
            .collect();
        let _ = write!(
            text,
            "\n**{}** ({})\n\n{}\n",
            cause.replace('|', "\\|"),
            programs.len(),
            names.join(", ")
        );
    }
    text
}
