//! Documentation comments as text: the one above a definition, and the examples inside of one.
//!
//! ```text
//! -- | Twice a number.
//! --
//! -- >>> twice 3
//! -- 6
//! def twice (x: i64) = 2 * x
//! ```

use std::ops::Range;

/// An example of a documentation comment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Example {
    /// The lines of the comment that it is, from 0.
    pub lines: Range<usize>,
    /// What is evaluated: the text behind `>>>`, and behind `...` of the lines that follow.
    pub input: String,
    /// What that gives: the lines up to a blank one, if there are any.
    pub expected: Option<String>,
}

/// The documentation comment above a byte of a text, without its markers. Attributes may be between the two.
pub fn above(text: &str, at: usize) -> Option<String> {
    let before = text.get(..at)?;
    let before = &before[..before.rfind('\n')?];
    let mut lines: Vec<&str> = Vec::new();
    for line in before.lines().rev() {
        let line = line.trim();
        if let Some(first) = line.strip_prefix("-- |") {
            lines.push(first);
            lines.reverse();
            return Some(lines.join("\n").trim().to_owned());
        }
        match line.strip_prefix("--") {
            Some(more) => lines.push(more),
            None if line.starts_with("#[") && lines.is_empty() => {}
            None => return None,
        }
    }
    None
}

/// The examples of a comment without its markers, in order.
pub fn examples(comment: &str) -> Vec<Example> {
    let lines: Vec<&str> = comment.lines().map(str::trim).collect();
    let mut out = Vec::new();
    let mut at = 0;
    while at < lines.len() {
        let start = at;
        at += 1;
        let Some(first) = lines[start].strip_prefix(">>>") else {
            continue;
        };
        let mut input = first.trim().to_owned();
        while let Some(more) = lines.get(at).and_then(|line| line.strip_prefix("...")) {
            input.push('\n');
            input.push_str(more.strip_prefix(' ').unwrap_or(more));
            at += 1;
        }
        let answers = at;
        let ends = |line: &str| line.is_empty() || line.starts_with(">>>") || is_fence(line);
        while lines.get(at).is_some_and(|line| !ends(line)) {
            at += 1;
        }
        let expected = (answers < at).then(|| lines[answers..at].join("\n"));
        out.push(Example {
            lines: start..at,
            input,
            expected,
        });
    }
    out
}

/// Whether a line begins or ends a block of code in Markdown.
pub fn is_fence(line: &str) -> bool {
    line.starts_with("```") || line.starts_with("~~~")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_comment_is_found_above_attributes() {
        let text = "-- | One.\n--\n-- Two.\n#[inline]\ndef f = 1\ndef g = 2\n";
        let at = |word| text.find(word).expect("it is there");
        assert_eq!(above(text, at("f =")).as_deref(), Some("One.\n\n Two."));
        assert_eq!(above(text, at("g =")), None);
        assert_eq!(above(text, 0), None);
        assert_eq!(above(text, 1000), None);
    }

    #[test]
    fn examples_end_at_blank_lines() {
        let text = "Text.\n >>> f 1\n 2\n >>> g\n ...   2\n\n more\n>>> h\n[1,\n 2]\n```";
        let found = examples(text);
        let brief: Vec<_> = found
            .iter()
            .map(|e| (e.lines.clone(), &*e.input, e.expected.as_deref()))
            .collect();
        let wanted = [
            (1..3, "f 1", Some("2")),
            (3..5, "g\n  2", None),
            (7..10, "h", Some("[1,\n2]")),
        ];
        assert_eq!(brief, wanted);
    }
}
