//! Patterns that messages must match.

use regex::{Regex, RegexBuilder};
use std::fmt;

/// A regular expression, or nothing where any message will do.
#[derive(Clone, Debug)]
pub struct Pattern {
    text: String,
    regex: Option<Regex>,
}

impl Pattern {
    /// The pattern that a test block writes; an empty one matches everything. A line break in the message is a
    /// character like any other. What is no regular expression is searched for as it stands.
    pub fn new(text: &str) -> Self {
        let build = |pattern: &str| {
            RegexBuilder::new(pattern)
                .dot_matches_new_line(true)
                .size_limit(1 << 20)
                .build()
                .ok()
        };
        let text = text.trim();
        let regex = (!text.is_empty())
            .then(|| build(text).or_else(|| build(&regex::escape(text))))
            .flatten();
        Self {
            text: text.to_owned(),
            regex,
        }
    }
    /// Whether the message matches.
    pub fn matches(&self, message: &str) -> bool {
        self.regex.as_ref().is_none_or(|r| r.is_match(message))
    }
    /// Whether every message matches.
    pub fn is_any(&self) -> bool {
        self.regex.is_none()
    }
}

impl PartialEq for Pattern {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}
