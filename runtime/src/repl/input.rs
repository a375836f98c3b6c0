//! What an input is, and whether there is more of it to come.

use super::command::COMMANDS;
use frontend::diagnostic::{Code, Diagnostic};
use frontend::source::FileId;
use frontend::syntax::{parse_expression, parse_program};

/// What an input is.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Input<'a> {
    /// Blank, or comments alone.
    Nothing,
    /// `:name rest`.
    Command { name: &'a str, rest: &'a str },
    /// Declarations.
    Definitions,
    /// Anything else; mistakes too.
    Expression,
}

/// Says what an input is.
pub(super) fn classify(text: &str) -> Input<'_> {
    if let Some(command) = text.trim_start().strip_prefix(':') {
        let (name, rest) = command
            .split_once(char::is_whitespace)
            .unwrap_or((command, ""));
        return Input::Command {
            name: name.trim(),
            rest: rest.trim(),
        };
    }
    match parse_program(FileId::default(), text) {
        Ok(program) if program.decs.is_empty() => Input::Nothing,
        Ok(_) => Input::Definitions,
        Err(_)
            if begins_declaration(text) && parse_expression(FileId::default(), text).is_err() =>
        {
            Input::Definitions
        }
        Err(_) => Input::Expression,
    }
}

/// What those may have meant who typed something that is wrong.
pub(super) fn meant(text: &str) -> Option<String> {
    let text = text.trim();
    let word = text.split_whitespace().next()?;
    let command = if word == "exit" { "quit" } else { word };
    if COMMANDS.iter().any(|known| known.name == command) {
        return Some(format!("commands begin with a colon: `:{command}`"));
    }
    let (name, value) = text.split_once('=')?;
    let is_name = |c: char| c.is_alphanumeric() || c == '_';
    let defines = name.trim().chars().all(is_name) && !value.starts_with('=');
    defines.then(|| format!("definitions begin with `def` or `let`: `let {text}`"))
}

/// Whether the first word is one that only declarations begin with, so that mistakes are told as those of declarations.
fn begins_declaration(text: &str) -> bool {
    let first = text.split_whitespace().next().unwrap_or("");
    [
        "def", "let", "entry", "type", "type~", "type^", "module", "open", "import", "local", "val",
    ]
    .contains(&first)
}

/// Whether an input can be taken as it is: else it breaks off where more must come. A blank line at the end says that nothing
/// does.
pub fn is_complete(text: &str) -> bool {
    if text.trim_start().starts_with(':') || text.ends_with("\n\n") || text.trim().is_empty() {
        return true;
    }
    let ended = text.trim_end().len();
    let breaks_off = |errors: &[Diagnostic]| {
        errors.iter().any(|error| {
            error.primary.span.lo as usize >= ended
                || error.code == Code::UnbalancedBracket && opens(text)
        })
    };
    match parse_program(FileId::default(), text) {
        Ok(_) => true,
        Err(errors) if begins_declaration(text) && breaks_off(&errors) => {
            parse_expression(FileId::default(), text).is_ok()
        }
        Err(_) => match parse_expression(FileId::default(), text) {
            Ok(_) => true,
            Err(errors) => !breaks_off(&errors),
        },
    }
}

/// Whether more brackets are opened than closed.
fn opens(text: &str) -> bool {
    let count = |brackets: [char; 3]| text.matches(brackets).count();
    count(['(', '[', '{']) > count([')', ']', '}'])
}
