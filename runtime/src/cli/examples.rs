//! Executing the examples of documentation comments as they would be typed into `arrc repl`, with their file loaded.

use crate::repl::{Repl, Settings};
use crate::session::Options;
use crate::target::Target;
use doc::Case;
use frontend::typed::Prim;
use midend::device::Stop;
use std::path::Path;
use std::sync::Arc;

/// Elements of a dimension that are shown.
const ITEMS: usize = 100_000;

/// The session of the examples of one comment.
pub(super) struct Examples {
    repl: Repl,
}

impl Examples {
    /// A session with the file of the examples loaded; those of the prelude are in no file.
    pub(super) fn new(target: Target, cases: &[Case]) -> Result<Self, String> {
        let options = Options {
            target,
            ..Options::default()
        };
        let settings = Settings {
            items: ITEMS,
            // No table fits, so that values are as programs write them.
            width: 0,
            layout: false,
            ..Settings::default()
        };
        let mut repl = Repl::new(options, settings).map_err(|why| why.to_string())?;
        let file = cases.first().map(|case| Path::new(&case.file));
        if let Some(file) = file.filter(|file| file.is_file()) {
            repl.input(&format!(":load {}", file.display()))?;
        }
        Ok(Self { repl })
    }

    /// The flag that stops an example.
    pub(super) fn stop(&self) -> Arc<Stop> {
        self.repl.stop()
    }

    /// Executes an example.
    ///
    /// # Errors
    /// What it gave instead of what it says.
    pub(super) fn execute(&mut self, case: &Case) -> Result<(), String> {
        let given = self.repl.input(&case.input).map(|told| told.text);
        let Some(expected) = &case.expected else {
            return given.map(|_| ()).map_err(|why| failed(case, &why));
        };
        match (given, expected.strip_prefix("error")) {
            (Err(why), Some(wanted)) => {
                let wanted = wanted.trim_start_matches(':').trim();
                if why.contains(wanted) {
                    return Ok(());
                }
                Err(differs(case, expected, &why))
            }
            (Err(why), None) => Err(failed(case, &why)),
            (Ok(given), _) if is_same(expected, &given) => Ok(()),
            (Ok(given), _) => Err(differs(case, expected, &given)),
        }
    }
}

fn failed(case: &Case, why: &str) -> String {
    format!("`{}` failed:\n{}", case.input, why.trim_end())
}

fn differs(case: &Case, expected: &str, given: &str) -> String {
    format!(
        "`{}` gives\n{}\ninstead of\n{expected}",
        case.input,
        given.trim_end()
    )
}

/// Whether a value is what an example says: blanks do not matter, and types of numbers may be left out.
fn is_same(expected: &str, given: &str) -> bool {
    let blank = |text: &str| text.split_whitespace().collect::<String>();
    let (expected, given) = (blank(expected), blank(given));
    expected == given || expected == untyped(&given)
}

/// A text whose numbers have no types.
fn untyped(text: &str) -> String {
    let mut out = String::new();
    let mut word = String::new();
    for c in text.chars().chain(['\n']) {
        if c.is_alphanumeric() || c == '_' || c == '.' {
            word.push(c);
            continue;
        }
        let is_number = word.starts_with(|c: char| c.is_ascii_digit());
        let mut types = Prim::ALL.into_iter();
        let number = types.find_map(|ty| word.strip_suffix(ty.name()));
        out.push_str(number.filter(|_| is_number).unwrap_or(&word));
        out.push(c);
        word.clear();
    }
    out.pop();
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_of_numbers_may_be_left_out() {
        assert_eq!(untyped("[1i32, -2.5f64]"), "[1, -2.5]");
        assert_eq!(untyped("f32.nan {x1 = 3u8}"), "f32.nan {x1 = 3}");
        assert!(is_same("[1, 2]", "[1i32, 2i32]\n"));
        assert!(is_same("[1i32,2i32]", "[1i32, 2i32]\n"));
        assert!(!is_same("[1i64, 2i64]", "[1i32, 2i32]\n"));
        assert!(!is_same("1", "1.0f32"));
    }
}
