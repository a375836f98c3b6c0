//! Bodies that are too large to be worked on in lanes, for which no plan is looked for.

use super::choose::MOST;
use midend::ir::mem::Mem;
use midend::ir::syntax::Body;

/// The most bodies that are nested in one another.
const LEVELS: usize = 64;

/// Whether a body has more statements than the code of one group has room for, or too many levels of nesting.
pub(in crate::emit) fn is_large(body: &Body<Mem>) -> bool {
    !fits(body, LEVELS, &mut { 4 * MOST })
}

/// Whether a body has no more levels and statements; takes its statements from these.
fn fits(body: &Body<Mem>, levels: usize, statements: &mut usize) -> bool {
    let Some(levels) = levels.checked_sub(1) else {
        return false;
    };
    body.stms.iter().all(|stm| {
        let mut ok = *statements > 0;
        *statements = statements.saturating_sub(1);
        stm.exp
            .scopes(&mut |_, inner| ok = ok && fits(inner, levels, statements));
        ok
    })
}
