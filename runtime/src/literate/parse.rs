//! The parts of a literate program: text, code, and directives.

use crate::script::{Exp, parse_prefix};

/// A part of a program.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Block {
    /// Comments, without their markers.
    Text(String),
    /// Definitions.
    Code(String),
    /// What is shown of a result; or what is wrong with the directive.
    Directive(Box<Directive>),
}

/// A comment that begins with `-- >`.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Directive {
    /// Its line, from 1.
    pub(super) line: usize,
    /// The directive as it is shown; the parameters are behind the first lines.
    pub(super) shown: Vec<String>,
    /// How many of the lines come before the parameters.
    pub(super) brief_lines: usize,
    /// Whether its parameters are not shown.
    pub(super) is_brief: bool,
    /// Whether it is not shown at all.
    pub(super) is_covert: bool,
    /// What it says.
    pub(super) order: Result<Order, String>,
}

/// What a directive shows.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Order {
    pub(super) what: What,
    pub(super) exp: Exp,
    /// The lines behind the expression.
    pub(super) parameters: Vec<String>,
}

/// How a result is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum What {
    Value,
    Image,
    Plot,
    Gnuplot,
    Video,
    Audio,
}

const DIRECTIVES: [(&str, What); 6] = [
    ("img", What::Image),
    ("plot2d", What::Plot),
    ("gnuplot", What::Gnuplot),
    ("video", What::Video),
    ("anim", What::Video),
    ("audio", What::Audio),
];

impl Order {
    /// The value of a parameter, `NAME: VALUE` or `NAME=VALUE`.
    pub(super) fn parameter(&self, name: &str) -> Option<&str> {
        self.pairs()
            .find(|(key, _)| *key == name)
            .map(|(_, value)| value)
    }

    fn pairs(&self) -> impl Iterator<Item = (&str, &str)> {
        let pairs = self.parameters.iter();
        pairs.filter_map(|line| {
            let (key, value) = line.split_once([':', '='])?;
            Some((key.trim(), value.trim()))
        })
    }

    /// Says what is wrong with the parameters, of which these are known.
    pub(super) fn know(&self, names: &[&str]) -> Result<(), String> {
        for line in &self.parameters {
            let key = line.split([':', '=']).next().unwrap_or("").trim();
            let is_pair = line.contains([':', '=']);
            if !is_pair || !names.contains(&key) {
                let known = names.join(", ");
                return Err(format!("`{line}` is no parameter; there are {known}"));
            }
        }
        Ok(())
    }
}

/// The parts of a program in order.
pub(super) fn blocks(text: &str) -> Vec<Block> {
    let lines: Vec<&str> = text.lines().collect();
    let is_comment = |line: &str| line == "--" || line.starts_with("-- ");
    let is_mark = |line: &str| line.starts_with("-- |") || line.starts_with("-- ==");
    let mut out = Vec::new();
    let mut at = 0;
    while at < lines.len() {
        let start = at;
        let line = lines[at];
        if line.trim().is_empty() {
            at += 1;
            continue;
        }
        // Documentation and test blocks stay with the definitions.
        let is_text = is_comment(line) && !is_mark(line);
        at += 1;
        if is_text && line.starts_with("-- >") {
            while at < lines.len() && is_comment(lines[at]) && !lines[at].starts_with("-- >") {
                at += 1;
            }
            out.push(Block::Directive(Box::new(directive(
                start,
                &lines[start..at],
            ))));
        } else if is_text {
            while at < lines.len() && is_comment(lines[at]) && !is_mark(lines[at]) {
                at += 1;
            }
            let text = lines[start..at].iter().map(|line| bare(line));
            out.push(Block::Text(text.collect::<Vec<_>>().join("\n")));
        } else {
            // Code goes on up to a comment behind a blank line.
            let ends = |at: usize| {
                let is_new = lines[at - 1].trim().is_empty();
                is_new && is_comment(lines[at]) && !is_mark(lines[at])
            };
            while at < lines.len() && !ends(at) {
                at += 1;
            }
            out.push(Block::Code(
                lines[start..at].join("\n").trim_end().to_owned(),
            ));
        }
    }
    out
}

/// A comment without its marker.
fn bare(line: &str) -> &str {
    line.strip_prefix("-- ")
        .or(line.strip_prefix("--"))
        .unwrap_or(line)
}

fn directive(start: usize, lines: &[&str]) -> Directive {
    let bare: Vec<&str> = lines.iter().map(|line| bare(line)).collect();
    let text = bare.join("\n");
    let mut rest = text.strip_prefix('>').unwrap_or(&text).trim_start();
    let (mut is_brief, mut is_covert) = (false, false);
    loop {
        if let Some(after) = word(rest, "brief") {
            is_brief = true;
            rest = after;
        } else if let Some(after) = word(rest, "covert") {
            is_covert = true;
            rest = after;
        } else {
            break;
        }
    }
    let name = rest.split_whitespace().next().unwrap_or("");
    let known = DIRECTIVES
        .iter()
        .find(|(known, _)| name.strip_prefix(':') == Some(*known));
    let (what, body) = match known {
        Some((known, what)) => (*what, word(rest, known).unwrap_or("")),
        None => (What::Value, rest),
    };
    let semicolon = bare.iter().position(|line| line.trim_end().ends_with(';'));
    Directive {
        line: start + 1,
        shown: bare.iter().map(|line| (*line).to_owned()).collect(),
        brief_lines: semicolon.map_or(bare.len(), |at| at + 1),
        is_brief,
        is_covert,
        order: match name.starts_with(':') && known.is_none() {
            true => Err(unknown(name)),
            false => order(what, body),
        },
    }
}

/// What follows a word `:name`.
fn word<'t>(text: &'t str, name: &str) -> Option<&'t str> {
    let rest = text.strip_prefix(':')?.strip_prefix(name)?;
    let is_whole = rest.is_empty() || rest.starts_with(char::is_whitespace);
    is_whole.then(|| rest.trim_start())
}

fn unknown(name: &str) -> String {
    let names = DIRECTIVES.iter().map(|(name, _)| format!(":{name}"));
    let names = names.chain([":brief", ":covert"].map(String::from));
    let names: Vec<String> = names.collect();
    format!(
        "there is no directive {name}\nhint: there are {}",
        names.join(", ")
    )
}

fn order(what: What, body: &str) -> Result<Order, String> {
    let (exp, length) = parse_prefix(body)?;
    let rest = body.get(length..).unwrap_or("").trim_start();
    let parameters = match rest.strip_prefix(';') {
        Some(parameters) => parameters,
        None if rest.is_empty() => "",
        None => return Err(format!("a `;` was expected, this is `{}`", rest.trim_end())),
    };
    let lines = parameters
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty());
    let parameters: Vec<String> = lines.map(str::to_owned).collect();
    if what == What::Value && !parameters.is_empty() {
        return Err(String::from("a value has no parameters"));
    }
    Ok(Order {
        what,
        exp,
        parameters,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_are_text_code_and_directives() {
        let text = "-- # Title\n-- words\n\n-- | Doc.\ndef f = 1\n\n-- inside no more\ndef g = 2\n-- stays\n\n-- ==\n-- input {}\n\n-- > f\n\n-- > :img g;\n-- file: a.png\n";
        let found = blocks(text);
        let kinds: Vec<&str> = found
            .iter()
            .map(|block| match block {
                Block::Text(text) | Block::Code(text) => text.as_str(),
                Block::Directive(directive) => &directive.shown[0],
            })
            .collect();
        let wanted = [
            "# Title\nwords",
            "-- | Doc.\ndef f = 1",
            "inside no more",
            "def g = 2\n-- stays\n\n-- ==\n-- input {}",
            "> f",
            "> :img g;",
        ];
        assert_eq!(kinds, wanted);
        let Some(Block::Directive(last)) = found.last() else {
            panic!("a directive is last");
        };
        let order = last.order.as_ref().expect("it is right");
        assert_eq!(
            (order.what, order.parameter("file")),
            (What::Image, Some("a.png"))
        );
        assert!(order.know(&["file"]).is_ok() && order.know(&["fps"]).is_err());
        assert_eq!((last.line, last.brief_lines), (16, 1));
    }

    #[test]
    fn directives_that_are_wrong_say_why() {
        let wrong = |text: &str| {
            let Some(Block::Directive(directive)) = blocks(text).pop() else {
                return None;
            };
            directive.order.err()
        };
        assert!(wrong("-- > :imge f").is_some_and(|why| why.contains("there are :img, ")));
        assert!(wrong("-- > f ) x").is_some_and(|why| why.contains("`;`")));
        assert!(wrong("-- > f;\n-- a: b").is_some_and(|why| why.contains("parameters")));
        assert!(wrong("-- > :brief :covert :img f").is_none());
    }
}
