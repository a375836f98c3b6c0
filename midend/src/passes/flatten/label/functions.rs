//! Labels of functions that are called inside of map nests, and of their calls.

use super::{Facts, Label, Labeller, Labels};
use crate::analysis::calls::spread;
use crate::ir::dialect::Dialect;
use crate::ir::id::{FunId, IdVec};
use crate::ir::soac::Soac;
use crate::ir::syntax::{Body, Exp, Fun, Stm, Vars};
use crate::ir::walk::{all_stms, calls, free_in_stm};

impl<'a> Labeller<'a> {
    /// The labels of the body of a function for many points, of which these parameters are the same for all.
    pub(in super::super) fn function(
        vars: &'a Vars,
        funs: &'a IdVec<FunId, Fun<Soac>>,
        (worth, facts): (&'a [bool], Facts<'a>),
        fun: &Fun<Soac>,
        same: &[bool],
    ) -> Labels {
        let mut labeller = Self::new(vars, worth, facts);
        labeller.know(&fun.body, funs);
        for (param, _) in fun.params.iter().zip(same).filter(|(_, same)| !**same) {
            labeller.vary(param.var, true);
        }
        labeller.body(&fun.body);
        labeller.labels
    }

    /// A call is parallel if the function is and all that it is given can be stored for all points.
    pub(super) fn call(&self, stm: &Stm<Soac>, fun: FunId) -> Label {
        let mut reads = free_in_stm(self.vars, stm).into_iter();
        let shared = !reads.any(|v| self.labels.irregular(v));
        match self.worth[fun.0 as usize] && shared {
            true => Label::Par,
            false => Label::Seq,
        }
    }
}

/// Whether a body holds operators, or calls functions that hold parallelism worth having.
pub(super) fn holds_operators(body: &Body<Soac>, worth: &[bool]) -> bool {
    let mut holds = false;
    all_stms(body, &mut |stm| {
        holds |= match &stm.exp {
            Exp::Op(
                Soac::Screma { .. }
                | Soac::Hist { .. }
                | Soac::Scatter { .. }
                | Soac::Filter { .. },
            ) => true,
            Exp::Call { fun, .. } => worth[fun.0 as usize],
            Exp::Op(Soac::Array(_) | Soac::WithAcc { .. } | Soac::UpdateAcc(_))
            | Exp::Atom(_)
            | Exp::Scalar(..)
            | Exp::Assert { .. }
            | Exp::Guard { .. }
            | Exp::If { .. }
            | Exp::Loop { .. } => false,
        };
    });
    holds
}

/// Whether there are operators, or calls, inside of operators.
pub(in super::super) fn holds_nests(funs: &IdVec<FunId, Fun<Soac>>) -> bool {
    let worth = vec![true; funs.len()];
    let mut holds = false;
    for fun in funs.iter() {
        all_stms(&fun.body, &mut |stm| {
            if let (false, Exp::Op(op)) = (holds, &stm.exp) {
                op.scopes(&mut |_, body| holds |= holds_operators(body, &worth));
            }
        });
    }
    holds
}

/// Which functions hold parallelism worth having for many points at once, also through calls: the least that satisfies
/// what the labels of their bodies say. Only those of `parallel` can.
pub(in super::super) fn worth(
    vars: &Vars,
    funs: &IdVec<FunId, Fun<Soac>>,
    parallel: &[bool],
) -> Vec<bool> {
    let mut called = vec![false; funs.len()];
    for fun in funs.iter() {
        calls(&fun.body, &mut |id| called[id.0 as usize] = true);
    }
    spread(funs, |id, worth| {
        let (i, fun) = (id.0 as usize, &funs[id]);
        let same = vec![false; fun.params.len()];
        let known = (worth, Facts::Host);
        parallel[i] && called[i] && Labeller::function(vars, funs, known, fun, &same).any_parallel()
    })
}

impl Labels {
    fn any_parallel(&self) -> bool {
        self.labels.values().any(|&label| label == Label::Par)
    }
}
