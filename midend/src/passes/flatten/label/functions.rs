//! Labels of functions that are called inside of map nests, and of their calls.

use super::{Facts, Label, Labeller, Labels};
use crate::analysis::calls::settled;
use crate::ir::dialect::Dialect;
use crate::ir::id::{FunId, Id, IdVec};
use crate::ir::soac::Soac;
use crate::ir::syntax::{Atom, Body, Exp, Fun, Stm, Vars};
use crate::ir::types::Dim;
use crate::ir::walk::{all_stms, calls, free_in_stm};

/// Where a function that is called inside of a map nest is lifted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum Lifting {
    /// Nowhere: it holds no parallelism worth having, or its results cannot be stored for many points.
    Never,
    /// Where the lengths of its results are the same for all points, for only sequential code makes one of them.
    SameLengths,
    /// Everywhere.
    Always,
}

impl<'a> Labeller<'a> {
    /// The labels of the body of a function for many points, of which these parameters are the same for all.
    pub(in super::super) fn function(
        vars: &'a Vars,
        funs: &'a IdVec<FunId, Fun<Soac>>,
        (worth, facts): (&'a [Lifting], Facts<'a>),
        fun: &Fun<Soac>,
        same: &[bool],
    ) -> Labels {
        let mut labeller = Self::new(vars, funs, worth, facts);
        labeller.know(&fun.body);
        for (param, _) in fun.params.iter().zip(same).filter(|(_, same)| !**same) {
            labeller.vary(param.var, true);
        }
        labeller.body(&fun.body);
        labeller.labels
    }

    /// A call is parallel if the function is, and all that it is given and gives can be stored for all points.
    pub(super) fn call(&self, stm: &Stm<Soac>, callee: FunId, args: &[Atom]) -> Label {
        let lifted = match self.worth[callee.index()] {
            Lifting::Never => false,
            Lifting::SameLengths => {
                let fun = &self.funs[callee];
                let same = self.labels.same_args(self.vars, fun, args);
                let lengths = lengths_of_results(self.vars, fun);
                lengths
                    .iter()
                    .zip(same)
                    .all(|(&length, same)| !length || same)
            }
            Lifting::Always => true,
        };
        let mut reads = free_in_stm(self.vars, stm).into_iter();
        match lifted && !reads.any(|v| self.labels.irregular(v)) {
            true => Label::Par,
            false => Label::Seq,
        }
    }
}

impl Labels {
    /// Which arguments of a call are the same for all points, with all sizes of theirs.
    pub(in super::super) fn same_args(
        &self,
        vars: &Vars,
        fun: &Fun<Soac>,
        args: &[Atom],
    ) -> Vec<bool> {
        let mut same: Vec<bool> = args.iter().map(|&a| self.uniform(a)).collect();
        let position = |dim: &Dim| fun.params.iter().position(|p| Some(p.var) == dim.var());
        // A length is none that is known if an array of that length has another name for it.
        for (param, arg) in fun.params.iter().zip(args) {
            let ty = arg.ty(vars);
            for (formal, dim) in vars[param.var].ty.shape().iter().zip(ty.shape()) {
                let known = dim.size().is_some_and(|n| self.uniform(n.into()));
                if let (false, Some(k)) = (known, position(formal)) {
                    same[k] = false;
                }
            }
        }
        for (k, param) in fun.params.iter().enumerate() {
            let mut dims = vars[param.var].ty.shape().iter().filter_map(position);
            same[k] &= !param.unique && dims.all(|n| same[n]);
        }
        same
    }

    fn any_parallel(&self) -> bool {
        self.labels.values().any(|&label| label == Label::Par)
    }
}

/// Which parameters of a function are lengths of its results.
pub(in super::super) fn lengths_of_results(vars: &Vars, fun: &Fun<Soac>) -> Vec<bool> {
    let is_length = |v| {
        let mut results = fun.results.iter();
        results.any(|r| {
            vars[r.var]
                .ty
                .shape()
                .iter()
                .any(|dim| dim.var() == Some(v))
        })
    };
    fun.params.iter().map(|p| is_length(p.var)).collect()
}

/// Whether a body holds operators, or calls functions that hold parallelism worth having.
pub(super) fn holds_operators(body: &Body<Soac>, worth: &[Lifting]) -> bool {
    let mut holds = false;
    all_stms(body, &mut |stm| {
        holds |= match &stm.exp {
            Exp::Op(
                Soac::Screma { .. }
                | Soac::Hist { .. }
                | Soac::Scatter { .. }
                | Soac::Filter { .. }
                | Soac::FlatMap { .. },
            ) => true,
            Exp::Call { fun, .. } => worth[fun.index()] != Lifting::Never,
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
    let worth = vec![Lifting::Always; funs.len()];
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

/// Where functions are lifted. First those hold parallelism worth having that do so by what the labels of their bodies say, also
/// through calls, if results could always be stored: the least of them, and only of `parallel`. Then those are given up, or most
/// of their calls, whose results cannot.
pub(in super::super) fn worth(
    vars: &Vars,
    funs: &IdVec<FunId, Fun<Soac>>,
    parallel: &[bool],
    facts: Facts<'_>,
) -> Vec<Lifting> {
    let mut called = vec![false; funs.len()];
    for fun in funs.iter() {
        calls(&fun.body, &mut |id| called[id.index()] = true);
    }
    let varying = |fun: &Fun<Soac>| vec![false; fun.params.len()];
    let never = vec![Lifting::Never; funs.len()];
    let all = settled(funs, never, |id, worth| {
        let (i, fun) = (id.index(), &funs[id]);
        let labels = || Labeller::function(vars, funs, (worth, facts), fun, &varying(fun));
        let is_worth = || parallel[i] && called[i] && labels().any_parallel();
        match worth[i] == Lifting::Always || is_worth() {
            true => Lifting::Always,
            false => Lifting::Never,
        }
    });
    settled(funs, all, |id, worth| {
        let fun = &funs[id];
        let is_stored = |same: &[bool]| {
            let labels = Labeller::function(vars, funs, (worth, facts), fun, same);
            labels.yields_shared(&fun.body)
        };
        match worth[id.index()] {
            Lifting::Always if is_stored(&varying(fun)) => Lifting::Always,
            Lifting::Always | Lifting::SameLengths if is_stored(&lengths_of_results(vars, fun)) => {
                Lifting::SameLengths
            }
            Lifting::Never | Lifting::SameLengths | Lifting::Always => Lifting::Never,
        }
    })
}
