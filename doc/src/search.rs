//! The script that searches: all definitions, and the code that shows those that match.

use std::fmt::Write as _;

const SCRIPT: &str = include_str!("search.js");

/// A definition that can be found.
pub(crate) struct Entry {
    /// Its name behind those of the modules around it.
    pub(crate) name: String,
    /// What kind of thing it is.
    pub(crate) kind: &'static str,
    /// The page that it is on, for readers.
    pub(crate) page: String,
    /// Its target.
    pub(crate) target: String,
    pub(crate) summary: String,
}

/// The text of the script.
pub(crate) fn script(entries: &[Entry]) -> String {
    let mut out = String::from("\"use strict\";\nconst INDEX = [\n");
    for entry in entries {
        let fields = [
            &*entry.name,
            entry.kind,
            &entry.page,
            &entry.target,
            &entry.summary,
        ];
        let fields = fields.map(quoted).join(", ");
        // Writing to a string cannot fail.
        let _ = writeln!(out, "[{fields}],");
    }
    out + "];\n" + SCRIPT
}

/// A string of JavaScript.
fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            c if c.is_control() || c == '\u{2028}' || c == '\u{2029}' => {
                let _ = write!(out, "\\u{:04x}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out + "\""
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_are_quoted() {
        assert_eq!(quoted("a\"\\\n"), "\"a\\\"\\\\\\u000a\"");
    }
}
