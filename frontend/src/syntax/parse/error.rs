//! Says in words what the grammar did not find.

use super::grammar::Rule;
use super::lexer::Lexed;
use crate::diagnostic::{Code, Diagnostic};
use crate::source::{FileId, Span};
use pest::error::{Error, InputLocation};

/// Turns a failure of the grammar into a message.
pub(super) fn explain(
    file: FileId,
    _text: &str,
    lexed: &Lexed,
    _rule: Rule,
    failure: &Error<Rule>,
) -> Diagnostic {
    let at = match failure.location {
        InputLocation::Pos(at) | InputLocation::Span((at, _)) => at,
    };
    let span = match lexed.tokens.get(at) {
        Some(token) => Span::new(file, token.lo, token.hi),
        None => {
            let end = lexed.tokens.last().map_or(0, |token| token.hi);
            Span::new(file, end, end)
        }
    };
    Diagnostic::error(
        Code::UnexpectedToken,
        span,
        format!("{}", failure.variant.message()),
    )
}
