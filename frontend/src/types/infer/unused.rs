//! Local names that are bound but not used: most are slips of the pen.

use super::Infer;
use crate::diagnostic::{Code, Diagnostic};
use crate::source::Span;
use crate::types::ty::Name;
use midend::hash::HashSet;

/// The local names of one definition, and which of them are used.
#[derive(Default)]
pub(crate) struct Uses {
    bound: Vec<(Name, Span)>,
    used: HashSet<Name>,
}

impl Uses {
    /// A name is bound where the programmer wrote it.
    pub(crate) fn bind(&mut self, name: Name, span: Span) {
        self.bound.push((name, span));
    }

    /// A name is used.
    pub(crate) fn mention(&mut self, name: Name) {
        self.used.insert(name);
    }
}

impl Infer<'_, '_> {
    /// Warns of the names that nothing has used. One that begins with an underscore is meant to be unused.
    pub(crate) fn warn_of_unused(&mut self) {
        let Uses { bound, used } = std::mem::take(&mut self.uses);
        for (name, span) in bound {
            let text = self.cx.names.text(name);
            if used.contains(&name) || text.starts_with('_') {
                continue;
            }
            let hint = if text.starts_with(|c: char| c.is_alphabetic()) {
                format!("call it `_{text}` if that is meant")
            } else {
                "remove it, or call it `_` if that is meant".to_owned()
            };
            let warning =
                Diagnostic::warning(Code::UnusedName, span, format!("`{text}` is never used"));
            self.cx.diags.push(warning.hint(hint));
        }
    }
}
