//! Causes of failures: messages without what differs from program to program, to be counted by.

use frontend::diagnostic::{Code, Diagnostic};
use midend::trap::RunError;

/// The cause behind a compile-time error.
pub(super) fn of_diagnostic(diagnostic: &Diagnostic) -> String {
    let what = generalise(&diagnostic.message);
    if diagnostic.code == Code::NotYetSupported {
        return format!("not yet supported: {what}");
    }
    format!("wrongly rejected: {} {what}", diagnostic.code)
}

/// The cause behind a run without a result.
pub(super) fn of_run_error(error: &RunError) -> String {
    match error {
        RunError::Trap(trap) => format!("failed while running: {}", generalise(&trap.message)),
        RunError::OutOfMemory { .. } => String::from("out of memory"),
        RunError::Interrupted => String::from("out of time"),
        RunError::OutOfFuel => String::from("over the cap of steps"),
        RunError::BadArguments(why) => format!("arguments refused: {}", generalise(why)),
        RunError::Internal(why) => format!("internal error: {}", generalise(why)),
        RunError::Device(why) => format!("device failure: {}", generalise(why)),
    }
}

/// The message with everything in quotes and every number replaced, cut after its first line.
pub(super) fn generalise(message: &str) -> String {
    let mut out = String::new();
    let mut quote = None;
    let mut previous = ' ';
    for c in message.lines().next().unwrap_or_default().chars() {
        match quote {
            Some(end) if c == end => {
                quote = None;
                out.push(c);
            }
            Some(_) => {}
            None if c == '`' || c == '"' => {
                quote = Some(c);
                out.push(c);
                out.push('_');
            }
            None if c.is_ascii_digit() && !previous.is_alphabetic() => {
                if !out.ends_with('#') {
                    out.push('#');
                }
            }
            None => out.push(c),
        }
        if !c.is_ascii_digit() {
            previous = c;
        }
    }
    match out.char_indices().nth(160) {
        Some((end, _)) => format!("{}...", &out[..end]),
        None => out,
    }
}

/// Whether the code is one of text and syntax, not of what the text means.
pub(super) fn is_syntax(code: Code) -> bool {
    code.as_str().starts_with("E01")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_lose_what_is_particular() {
        assert_eq!(
            generalise("expected `foo.bar`, found 12 of i64 [3][4]\nmore"),
            "expected `_`, found # of i64 [#][#]"
        );
    }
}
