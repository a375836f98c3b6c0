//! Sequential reductions of arrays, in which operators become one with what makes their operands (the fold function of a `stream_red`, thesis
//! 4.3). The row of a point is then not written before it is added up.
//!
//! ```text
//! loop (acc = ne) for i < n {                      loop (acc = ne) for i < n {
//!   r = map w (ys) \y { x[i] * y }          ──►      map w (acc, ys) \(a, y) { a + x[i] * y }
//!   map w (acc, r) \(a, b) { a + b }               }
//! }
//! ```

use super::Cx;
use crate::fired::fired;
use crate::ir::id::Var;
use crate::ir::rename::{self, Subst};
use crate::ir::soac::{Operator, Soac};
use crate::ir::syntax::{Atom, Body, Exp, Lambda};
use crate::passes::fuse;

/// A step of reductions.
pub(super) struct Fold {
    /// From what is reduced so far, for each reduction that is in it, and elements. It yields what the lambda did, or what is reduced then.
    pub(super) lam: Lambda<Soac>,
    /// Which reductions are in it.
    pub(super) holds: Vec<bool>,
}

impl Cx<'_> {
    /// The step of those reductions whose operands operators of the lambda make; nothing if there are none.
    pub(super) fn fold_step(
        &mut self,
        lam: &Lambda<Soac>,
        reds: &[Operator<Soac>],
    ) -> Option<Fold> {
        let made = |a: &Atom| {
            a.as_var().is_some_and(|v| {
                self.vars[v].ty.is_array()
                    && lam.body.stms.iter().any(|stm| {
                        matches!(stm.exp, Exp::Op(Soac::Screma { .. })) && stm.binds.contains(&v)
                    })
            })
        };
        let mut at = 0;
        let holds: Vec<bool> = (reds.iter())
            .map(|op| {
                let operands = &lam.body.result[at..at + op.neutral.len()];
                at += op.neutral.len();
                operands.iter().any(made)
            })
            .collect();
        if !holds.contains(&true) {
            return None;
        }
        let mut step = rename::lambda(&mut self.vars, &mut Subst::new(), lam);
        let mut accs: Vec<Var> = Vec::new();
        let mut at = 0;
        for (op, holds) in reds.iter().zip(&holds) {
            let k = op.neutral.len();
            if *holds {
                let (so_far, element) = op.lam.params.split_at(k);
                let mut subst = Subst::of(
                    element.iter().copied(),
                    step.body.result[at..at + k].iter().copied(),
                );
                for v in so_far {
                    accs.push(rename::fresh(&mut self.vars, &mut subst, *v));
                }
                let next = rename::body(&mut self.vars, &mut subst, &op.lam.body);
                step.body.stms.extend(next.stms);
                step.body.result.splice(at..at + k, next.result);
            }
            at += k;
        }
        step.params.splice(0..0, accs);
        let operators = |body: &Body<Soac>| {
            let stms = body.stms.iter();
            stms.filter(|stm| matches!(stm.exp, Exp::Op(Soac::Screma { .. })))
                .count()
        };
        let before = operators(&step.body);
        fuse::in_sequence(&mut self.vars, self.source, &mut step.body);
        if operators(&step.body) == before {
            return None;
        }
        fired("flatten/fold-with-its-operands");
        Some(Fold { lam: step, holds })
    }
}
