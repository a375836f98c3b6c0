//! The library as readers of its documentation know it: definitions with their comments, in the order of the source.

use super::built_in::{SEQ, SEQ_OWN};
use super::{SOURCE, piece, slices};

/// A definition of the prelude or of its module `seq`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Piece {
    /// What it defines; operators without parentheses.
    pub name: &'static str,
    /// Its source: `val`, which is built in, `def` or `module type`.
    pub text: &'static str,
    /// Its documentation comment, without the markers.
    pub doc: Option<String>,
    /// The line of the definition in the source, from 1.
    pub line: usize,
    /// The title of the group that it begins.
    pub title: Option<String>,
}

/// The sources: names of files and their texts.
pub fn sources() -> [(&'static str, &'static str); 2] {
    [("prelude.fut", SOURCE), ("seq.fut", SEQ)]
}

/// The definitions that programs see: without a module those that need no qualifier, or those of `seq`.
pub fn library(module: Option<&str>) -> Vec<Piece> {
    match module {
        None => documented(SOURCE, &[]),
        Some("seq") => documented(SEQ, SEQ_OWN),
        Some(_) => Vec::new(),
    }
}

/// Operators: names, types and what they do.
const OPERATORS: &[(&str, &str, &str)] = &[
    (
        "+",
        "val (+) 't : (x: t) -> (y: t) -> t",
        "The sum of numbers.",
    ),
    (
        "-",
        "val (-) 't : (x: t) -> (y: t) -> t",
        "The difference of numbers.",
    ),
    (
        "*",
        "val (*) 't : (x: t) -> (y: t) -> t",
        "The product of numbers.",
    ),
    (
        "/",
        "val (/) 't : (x: t) -> (y: t) -> t",
        "The quotient of numbers; of integers rounded down. A division of an integer by 0 is an error.",
    ),
    (
        "%",
        "val (%) 't : (x: t) -> (y: t) -> t",
        "What is left of `x` after division by `y`; of integers with the sign of `y`.",
    ),
    (
        "**",
        "val (**) 't : (x: t) -> (y: t) -> t",
        "`x` to the power of `y`.",
    ),
    (
        "//",
        "val (//) 't : (x: t) -> (y: t) -> t",
        "The quotient of integers, rounded towards 0.",
    ),
    (
        "%%",
        "val (%%) 't : (x: t) -> (y: t) -> t",
        "What is left of the integer `x` after division by `y`, with the sign of `x`.",
    ),
    (
        "&",
        "val (&) 't : (x: t) -> (y: t) -> t",
        "The bits that both integers have.",
    ),
    (
        "|",
        "val (|) 't : (x: t) -> (y: t) -> t",
        "The bits that either integer has.",
    ),
    (
        "^",
        "val (^) 't : (x: t) -> (y: t) -> t",
        "The bits in which integers differ.",
    ),
    (
        "<<",
        "val (<<) 't : (x: t) -> (y: t) -> t",
        "The bits of an integer, moved up by `y`.",
    ),
    (
        ">>",
        "val (>>) 't : (x: t) -> (y: t) -> t",
        "The bits of an integer, moved down by `y`; those of a signed integer keep the sign.",
    ),
    (
        ">>>",
        "val (>>>) 't : (x: t) -> (y: t) -> t",
        "The bits of an integer, moved down by `y`, with zeros above.",
    ),
    (
        "==",
        "val (==) '^t : (x: t) -> (y: t) -> bool",
        "Whether values are equal, element by element and field by field.",
    ),
    (
        "!=",
        "val (!=) '^t : (x: t) -> (y: t) -> bool",
        "Whether values differ.",
    ),
    (
        "<",
        "val (<) 't : (x: t) -> (y: t) -> bool",
        "Whether a scalar is less than another one.",
    ),
    (
        "<=",
        "val (<=) 't : (x: t) -> (y: t) -> bool",
        "Whether a scalar is at most another one.",
    ),
    (
        ">",
        "val (>) 't : (x: t) -> (y: t) -> bool",
        "Whether a scalar is greater than another one.",
    ),
    (
        ">=",
        "val (>=) 't : (x: t) -> (y: t) -> bool",
        "Whether a scalar is at least another one.",
    ),
    (
        "&&",
        "val (&&) : (x: bool) -> (y: bool) -> bool",
        "Whether both are true. `y` is not evaluated if `x` is false.",
    ),
    (
        "||",
        "val (||) : (x: bool) -> (y: bool) -> bool",
        "Whether either is true. `y` is not evaluated if `x` is true.",
    ),
];

/// The operators, which have no definition in the source.
pub fn operators() -> Vec<Piece> {
    let table = OPERATORS.iter().enumerate();
    let piece = |(i, (name, text, doc)): (usize, &(&'static str, &'static str, &str))| Piece {
        name,
        text,
        doc: Some((*doc).to_owned()),
        line: 0,
        title: (i == 0).then(|| String::from("Operators")),
    };
    table.map(piece).collect()
}

fn documented(source: &'static str, hidden: &[&str]) -> Vec<Piece> {
    let mut out = Vec::new();
    let mut comment: Vec<&str> = Vec::new();
    let mut title = None;
    // The first slice begins the source, which is a comment about all of it.
    let mut line = 1;
    for slice in slices(source) {
        let here = line;
        line += slice.matches('\n').count();
        if let Some(rest) = slice.strip_prefix("--") {
            // What is before the mark is for those who work on the library.
            if rest.starts_with(" |") {
                comment.clear();
            }
            comment.push(rest.trim_end());
            if slice.ends_with("\n\n") {
                let text = comment.join("\n");
                let is_first = here == comment.len();
                let name = text.split([':', '.']).next().unwrap_or("").trim();
                title = (!is_first && comment.len() == 1).then(|| name.to_owned());
                comment.clear();
            }
            continue;
        }
        let text = comment.join("\n");
        comment.clear();
        let Some((name, _)) = piece(slice) else {
            continue;
        };
        if !hidden.contains(&name) {
            out.push(Piece {
                name,
                text: slice.trim_end(),
                doc: text.strip_prefix(" |").map(str::to_owned),
                line: here,
                title: title.take(),
            });
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_belong_to_definitions_and_titles_to_groups() {
        const TEXT: &str = "-- All.\n\n-- Group.\n\n-- | One.\n-- More.\nval a : t\ndef b = 1\n\n-- Plain.\ndef c =\n  2\ndef d = 3\n";
        let found = documented(TEXT, &["d"]);
        let brief: Vec<_> = found
            .iter()
            .map(|p| (p.name, p.line, p.doc.as_deref(), p.title.as_deref()))
            .collect();
        let wanted = [
            ("a", 7, Some(" One.\n More."), Some("Group")),
            ("b", 8, None, None),
            ("c", 11, None, None),
        ];
        assert_eq!(brief, wanted);
        assert_eq!(found[2].text, "def c =\n  2");
    }

    #[test]
    fn operators_are_those_that_are_built_in() {
        for piece in operators() {
            let known = super::super::operators::find(piece.name);
            assert!(known.is_some(), "{} is no operator", piece.name);
        }
    }

    #[test]
    fn every_definition_has_a_comment() {
        for module in [None, Some("seq")] {
            for piece in library(module) {
                assert!(piece.doc.is_some(), "{} has none", piece.name);
            }
        }
    }
}
