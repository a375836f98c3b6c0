//! At which statements of host code buffers get other names.

use crate::hash::HashMap;
use crate::ir::id::Var;
use crate::ir::mem::Mem;
use crate::ir::syntax::{Body, Exp};
use crate::ir::walk::deep;

/// The buffers that get other names, by the numbers of statements in the order of the text.
#[derive(Default)]
pub(super) struct Names {
    at: HashMap<usize, Vec<Var>>,
    next: usize,
    /// The statements around the current one, by their numbers.
    around: Vec<usize>,
    /// How many statements are around a buffer that has one name yet.
    made: HashMap<Var, usize>,
}

impl Names {
    /// Those of a body: where a buffer gets another name inside of a statement that follows it, that statement counts, for what
    /// is executed first in it may be executed again.
    pub(super) fn of(body: &Body<Mem>) -> Self {
        let mut names = Self::default();
        names.body(body);
        names.next = 0;
        names
    }

    /// The buffers that get other names at the next statement.
    pub(super) fn next(&mut self) -> Vec<Var> {
        self.next += 1;
        self.at.remove(&(self.next - 1)).unwrap_or_default()
    }

    fn body(&mut self, body: &Body<Mem>) {
        for stm in &body.stms {
            let depth = self.around.len();
            self.around.push(self.next);
            self.next += 1;
            match &stm.exp {
                Exp::Op(Mem::Alloc { .. }) => {
                    self.made.extend(stm.binds.iter().map(|v| (*v, depth)));
                }
                Exp::Op(_) | Exp::Scalar(..) | Exp::Assert { .. } | Exp::Guard { .. } => {}
                Exp::Atom(_) | Exp::If { .. } | Exp::Loop { .. } | Exp::Call { .. } => {
                    let named = &mut |atom: crate::ir::syntax::Atom| {
                        atom.as_var().into_iter().for_each(|v| self.named(v));
                    };
                    stm.exp.operands(named);
                    deep(|| stm.exp.scopes(&mut |_, inner| self.body(inner)));
                    stm.exp.scopes(&mut |_, inner| {
                        let results = inner.result.iter().filter_map(|atom| atom.as_var());
                        results.for_each(|v| self.named(v));
                    });
                }
            }
            self.around.pop();
        }
    }

    fn named(&mut self, v: Var) {
        if let Some(number) = self.made.get(&v).and_then(|depth| self.around.get(*depth)) {
            self.at.entry(*number).or_default().push(v);
            self.made.remove(&v);
        }
    }
}
