//! Text as tokens and the structure that can be seen without a grammar: brackets, phrases, declarations.

use super::super::generate::Random;
use super::vocabulary::Vocabulary;
use std::ops::Range;

/// What a token is to a mutation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Blanks and comments.
    Space,
    /// A name or a keyword.
    Word,
    /// A number with its suffix.
    Number,
    /// A string or a character in quotes.
    Quote,
    /// An opening bracket.
    Open,
    /// A closing bracket.
    Close,
    /// Anything else: operators, commas.
    Sign,
}

/// A token of a text.
#[derive(Clone, Debug)]
pub struct Token {
    /// What it is.
    pub kind: Kind,
    /// Its bytes.
    pub text: String,
}

/// A text as tokens, blanks and comments among them: together they are the text.
#[derive(Clone, Debug, Default)]
pub struct Text {
    /// The tokens.
    pub tokens: Vec<Token>,
}

/// How much of a text one mutation concerns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// One token.
    Token,
    /// Brackets and what is between them.
    Group,
    /// What stands between two separators, at one depth of brackets.
    Phrase,
    /// From one word that begins declarations to the next.
    Declaration,
}

impl Level {
    /// All levels.
    pub const ALL: [Self; 4] = [Self::Token, Self::Group, Self::Phrase, Self::Declaration];
}

impl Text {
    /// Cuts a text into tokens.
    pub fn new(text: &str, vocabulary: &Vocabulary) -> Self {
        let mut tokens = Vec::new();
        let mut rest = text;
        while !rest.is_empty() {
            let (kind, length) = first_token(rest, vocabulary.comment);
            let (token, after) = rest.split_at(length);
            tokens.push(Token {
                kind,
                text: token.to_owned(),
            });
            rest = after;
        }
        Self { tokens }
    }

    /// The text again.
    pub fn to_text(&self) -> String {
        self.tokens
            .iter()
            .map(|token| token.text.as_str())
            .collect()
    }

    /// A random unit of a level: a range of tokens that is not empty.
    pub fn unit(
        &self,
        level: Level,
        vocabulary: &Vocabulary,
        random: &mut Random,
    ) -> Option<Range<usize>> {
        match level {
            Level::Token => {
                let at = self.find(random, |token| token.kind != Kind::Space)?;
                Some(at..at + 1)
            }
            Level::Group => {
                let open = self.find(random, |token| token.kind == Kind::Open)?;
                let close = self.forward(open + 1, |_| false);
                Some(open..(close + 1).min(self.tokens.len()))
            }
            Level::Phrase => {
                let inside = |token: &Token| !separates(token, vocabulary);
                let at = self.find(random, inside)?;
                let end = self.forward(at, |token| separates(token, vocabulary));
                Some(self.backward(at, vocabulary)..end.max(at + 1))
            }
            Level::Declaration => {
                let starts = self.declarations(vocabulary);
                let at = random.below(starts.len().max(1));
                let start = *starts.get(at)?;
                let end = starts.get(at + 1).copied().unwrap_or(self.tokens.len());
                Some(start..end)
            }
        }
    }

    /// Where declarations begin.
    pub fn declarations(&self, vocabulary: &Vocabulary) -> Vec<usize> {
        let begins = |at: &usize| {
            let token = &self.tokens[*at];
            let fresh = *at == 0 || self.tokens[at - 1].text.ends_with('\n');
            token.kind == Kind::Word && fresh && vocabulary.begins.contains(&token.text.as_str())
        };
        (0..self.tokens.len()).filter(begins).collect()
    }

    /// A random token of some kind, if there is one: the first from a random place on.
    pub fn find(&self, random: &mut Random, wanted: impl Fn(&Token) -> bool) -> Option<usize> {
        let count = self.tokens.len();
        let from = random.below(count.max(1));
        (from..count)
            .chain(0..from)
            .find(|at| wanted(&self.tokens[*at]))
    }

    /// The first token from `at` on that closes a bracket opened before, or satisfies `stop` outside of brackets.
    fn forward(&self, at: usize, stop: impl Fn(&Token) -> bool) -> usize {
        let mut depth = 0_usize;
        for (i, token) in self.tokens.iter().enumerate().skip(at) {
            match token.kind {
                Kind::Open => depth += 1,
                Kind::Close if depth == 0 => return i,
                Kind::Close => depth -= 1,
                _ if depth == 0 && stop(token) => return i,
                Kind::Space | Kind::Word | Kind::Number | Kind::Quote | Kind::Sign => {}
            }
        }
        self.tokens.len()
    }

    /// Where the phrase begins that the token `at` is in.
    fn backward(&self, at: usize, vocabulary: &Vocabulary) -> usize {
        let mut depth = 0_usize;
        for (i, token) in self.tokens.iter().enumerate().take(at).rev() {
            match token.kind {
                Kind::Close => depth += 1,
                Kind::Open if depth == 0 => return i + 1,
                Kind::Open => depth -= 1,
                _ if depth == 0 && separates(token, vocabulary) => return i + 1,
                Kind::Space | Kind::Word | Kind::Number | Kind::Quote | Kind::Sign => {}
            }
        }
        0
    }
}

/// Whether a token stands between phrases.
fn separates(token: &Token, vocabulary: &Vocabulary) -> bool {
    match token.kind {
        Kind::Word | Kind::Sign => vocabulary.separators.contains(&token.text.as_str()),
        Kind::Space | Kind::Number | Kind::Quote | Kind::Open | Kind::Close => false,
    }
}

/// The kind and the length of the token that a text, which is not empty, begins with.
fn first_token(text: &str, comment: &str) -> (Kind, usize) {
    let first = text.chars().next().unwrap_or(' ');
    let until = |stop: &dyn Fn(char) -> bool| text.find(stop).unwrap_or(text.len());
    let word = |c: char| c.is_alphanumeric() || c == '_' || c == '\'';
    if text.starts_with(comment) {
        return (Kind::Space, text.find('\n').unwrap_or(text.len()));
    }
    match first {
        ' ' | '\t' | '\r' | '\n' => {
            // A newline ends its token, so that a declaration is known by what stands before it.
            let end = until(&|c| !matches!(c, ' ' | '\t' | '\r' | '\n'));
            let line = text[..end].rfind('\n').map_or(end, |at| at + 1);
            (Kind::Space, line)
        }
        '(' | '[' | '{' => (Kind::Open, 1),
        ')' | ']' | '}' => (Kind::Close, 1),
        '0'..='9' => (Kind::Number, until(&|c| !word(c) && c != '.')),
        '"' => (Kind::Quote, quoted(text)),
        ',' => (Kind::Sign, 1),
        c if word(c) && c != '\'' => (Kind::Word, until(&|c| !word(c))),
        '\'' => {
            // A type parameter, or a character between two quotes.
            let length = text[1..].find('\'').filter(|at| (1..=4).contains(at));
            match length {
                Some(at) => (Kind::Quote, at + 2),
                None => (Kind::Sign, 1),
            }
        }
        first => {
            let signs = "+-*/%=!<>&|^~.:\\?#@$";
            let length = until(&|c| !signs.contains(c));
            (Kind::Sign, length.max(first.len_utf8()))
        }
    }
}

/// The length of the string that a text begins with.
fn quoted(text: &str) -> usize {
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            '"' if !escaped => return at + 1,
            '\n' => return at,
            _ => escaped = c == '\\' && !escaped,
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    const PROGRAM: &str = "-- c\ndef f (x: i32) = g 'a' \"s\\\"\" [1, x.0]\ndef 'g = 2.5f32 +% é\n";

    #[test]
    fn tokens_are_the_whole_text() {
        let text = Text::new(PROGRAM, &Vocabulary::source());
        assert_eq!(text.to_text(), PROGRAM);
        let of = |kind| {
            let all = text.tokens.iter().filter(|token| token.kind == kind);
            all.map(|token| token.text.as_str()).collect::<Vec<_>>()
        };
        assert_eq!(of(Kind::Quote), ["'a'", "\"s\\\"\""]);
        assert_eq!(of(Kind::Number), ["1", "0", "2.5f32"]);
        assert_eq!(of(Kind::Open), ["(", "["]);
    }

    #[test]
    fn units_are_what_they_seem() {
        let text = Text::new(PROGRAM, &Vocabulary::source());
        let mut random = Random::new(1);
        let mut seen = std::collections::BTreeSet::new();
        for _ in 0..200 {
            for level in [Level::Group, Level::Phrase, Level::Declaration] {
                let range = text
                    .unit(level, &Vocabulary::source(), &mut random)
                    .expect("has all");
                let tokens = &text.tokens[range];
                seen.insert(tokens.iter().map(|t| t.text.as_str()).collect::<String>());
            }
        }
        for unit in [
            "(x: i32)",
            "[1, x.0]",
            " x.0",
            "def f (x: i32) = g 'a' \"s\\\"\" [1, x.0]\n",
        ] {
            assert!(seen.contains(unit), "{unit} is not in {seen:#?}");
        }
    }
}
