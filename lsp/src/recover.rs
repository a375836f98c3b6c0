//! Texts that do not parse: cut at definitions, so that those which parse are checked.
//!
//! A definition begins in the first column. Where one does not parse, the last version of it that did replaces it. Offsets
//! are translated: what precedes and follows the difference between both versions is where it was.

use frontend::diagnostic::Diagnostic;
use frontend::source::{FileId, Span};
use frontend::syntax::parse_program;
use std::collections::BTreeMap;
use std::ops::Range;

/// The last version of each definition that parsed, by what it begins with.
pub(crate) type Good = BTreeMap<String, String>;

/// A text that parses, and where its parts are in the given text.
pub(crate) struct Patched {
    pub(crate) text: String,
    pieces: Vec<Piece>,
    /// What is wrong with the syntax; spans are of the given text.
    pub(crate) errors: Vec<Diagnostic>,
}

struct Piece {
    /// In the given text.
    old: Range<usize>,
    /// In the text that parses.
    new: Range<usize>,
    /// How many bytes at the beginning and at the end are the same.
    prefix: usize,
    suffix: usize,
}

/// What a definition begins with in the first column.
const HEADS: &[&str] = &[
    "def ", "let ", "entry ", "type ", "type~", "type^", "module ", "open ", "import ", "local ",
    "#[",
];

/// The pieces of a text, each with one definition; comments before one belong to the piece before.
fn pieces(text: &str) -> Vec<Range<usize>> {
    let mut starts = vec![0];
    let mut at = 0;
    let mut only_attributes = false;
    for line in text.split_inclusive('\n') {
        let begins = HEADS.iter().any(|head| line.starts_with(head));
        if begins && !only_attributes && at > 0 {
            starts.push(at);
        }
        if begins {
            only_attributes = line.starts_with("#[") && line.trim_end().ends_with(']');
        }
        at += line.len();
    }
    starts.push(text.len());
    starts.windows(2).map(|pair| pair[0]..pair[1]).collect()
}

/// The keyword and the name of a piece.
fn head(piece: &str) -> String {
    let line = piece
        .lines()
        .find(|line| !line.starts_with("--") && !line.starts_with("#[") && !line.trim().is_empty());
    let words = line.unwrap_or("").split([' ', '(', '=', ':', '[']);
    let words: Vec<&str> = words.filter(|word| !word.is_empty()).take(2).collect();
    words.join(" ")
}

/// Remembers the definitions of a text that parses.
pub(crate) fn remember(text: &str, good: &mut Good) {
    good.clear();
    for piece in pieces(text) {
        let piece = &text[piece];
        good.insert(head(piece), piece.to_owned());
    }
}

/// A text as it is, if it parses, or what is made of it.
pub(crate) fn patch(text: &str, good: &Good) -> Patched {
    if parse_program(FileId(0), text).is_ok() {
        let whole = Piece::same(0..text.len(), 0);
        return Patched {
            text: text.to_owned(),
            pieces: vec![whole],
            errors: Vec::new(),
        };
    }
    let mut out = Patched {
        text: String::with_capacity(text.len()),
        pieces: Vec::new(),
        errors: Vec::new(),
    };
    for old in pieces(text) {
        let piece = &text[old.clone()];
        let start = out.text.len();
        let Err(errors) = parse_program(FileId(0), piece) else {
            out.text.push_str(piece);
            out.pieces.push(Piece::same(old, start));
            continue;
        };
        out.errors
            .extend(errors.into_iter().map(|error| moved(error, old.start)));
        let blank = || " ".repeat(piece.len().saturating_sub(1)) + "\n";
        let version = good.get(&head(piece)).cloned().unwrap_or_else(blank);
        let (prefix, suffix) = common(piece.as_bytes(), version.as_bytes());
        out.text.push_str(&version);
        out.pieces.push(Piece {
            old,
            new: start..out.text.len(),
            prefix,
            suffix,
        });
    }
    // Pieces that parse alone may not do so together: then nothing is known.
    if parse_program(FileId(0), &out.text).is_err() {
        out.text.clear();
        out.pieces.clear();
    }
    out
}

/// How many bytes two texts have in common at the beginning, and at the end.
fn common(one: &[u8], other: &[u8]) -> (usize, usize) {
    let pairs = one.iter().zip(other);
    let prefix = pairs.take_while(|(a, b)| a == b).count();
    let most = one.len().min(other.len()) - prefix;
    let pairs = one.iter().rev().zip(other.iter().rev()).take(most);
    (prefix, pairs.take_while(|(a, b)| a == b).count())
}

/// A message about a piece, as one about the whole text.
fn moved(mut error: Diagnostic, by: usize) -> Diagnostic {
    let by = u32::try_from(by).unwrap_or(0);
    let shift = |span: Span| Span::new(span.file, span.lo + by, span.hi + by);
    error.primary.span = shift(error.primary.span);
    for label in &mut error.secondary {
        label.span = shift(label.span);
    }
    error
}

impl Piece {
    fn same(old: Range<usize>, start: usize) -> Piece {
        let len = old.len();
        Piece {
            old,
            new: start..start + len,
            prefix: len,
            suffix: 0,
        }
    }
}

impl Patched {
    /// Where an offset of the given text is in the one that parses; the one before the difference if it is nowhere.
    pub(crate) fn inside(&self, offset: usize) -> usize {
        let piece = self
            .pieces
            .iter()
            .rev()
            .find(|piece| piece.old.start <= offset);
        let Some(piece) = piece else {
            return 0;
        };
        let at = offset - piece.old.start;
        let from_end = piece.old.end.saturating_sub(offset);
        if at <= piece.prefix {
            piece.new.start + at
        } else if from_end <= piece.suffix {
            piece.new.end - from_end
        } else {
            piece.new.start + piece.prefix
        }
    }

    /// Where an offset of the text that parses is in the given one, if it is there.
    pub(crate) fn outside(&self, offset: usize) -> Option<usize> {
        let piece = self
            .pieces
            .iter()
            .rev()
            .find(|piece| piece.new.start <= offset)?;
        let at = offset - piece.new.start;
        let from_end = piece.new.end.checked_sub(offset)?;
        if at <= piece.prefix {
            Some(piece.old.start + at)
        } else if from_end <= piece.suffix {
            Some(piece.old.end - from_end)
        } else {
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = "def f (x: i32) = x + 1\n\n-- g\ndef g = f 2\n";

    #[test]
    fn a_text_that_parses_stays_as_it_is() {
        let patched = patch(GOOD, &Good::new());
        assert_eq!(patched.text, GOOD);
        for at in 0..=GOOD.len() {
            assert_eq!(patched.inside(at), at);
            assert_eq!(patched.outside(at), Some(at));
        }
    }

    #[test]
    fn the_last_good_version_stands_in() {
        let mut good = Good::new();
        remember(GOOD, &mut good);
        let broken = "def f (x: i32) = x + (\n\n-- g\ndef g = f 2\n";
        let patched = patch(broken, &good);
        assert_eq!(patched.text, GOOD);
        assert_eq!(patched.errors.len(), 1);
        let g = broken.find("f 2").expect("there");
        assert_eq!(patched.inside(g), GOOD.find("f 2").expect("there"));
        assert_eq!(patched.outside(patched.inside(g)), Some(g));
        let x = broken.find("x +").expect("there");
        assert_eq!(patched.outside(patched.inside(x)), Some(x));
    }

    #[test]
    fn without_a_good_version_the_others_are_checked() {
        let patched = patch("def f = (\ndef g = 2\n", &Good::new());
        assert_eq!(patched.text, "         \ndef g = 2\n");
        assert_eq!(patched.outside(patched.inside(14)), Some(14));
    }

    #[test]
    fn attributes_belong_to_what_follows() {
        let text = "#[inline]\ndef f = 1\n#[a] def g = 2\ndef h = 3\n";
        let pieces: Vec<&str> = pieces(text).into_iter().map(|piece| &text[piece]).collect();
        assert_eq!(
            pieces,
            ["#[inline]\ndef f = 1\n", "#[a] def g = 2\n", "def h = 3\n"]
        );
    }
}
