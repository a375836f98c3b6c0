//! What becomes of each statement inside of a map nest: one labelling pass, from the outside in, without backtracking.
//!
//! A variable inside of a nest is *uniform* if the host can compute it, *variant* otherwise. An array whose shape is variant can
//! be stored for all points, as a ragged array, if all points of it can be written in parallel; it is *irregular* if only
//! sequential code makes it, which then keeps it to itself. This is the avoidance of vectorisation: what is not labelled
//! [`Label::Par`] stays in maximal pieces of sequential code (Vectorisation Avoidance, section 4).

mod array;
mod control;
mod cost;
mod functions;
mod regular;

use super::elementwise::is_elementwise;
use super::rows::operator_map;
use crate::analysis::aliases::{Aliases, consumed};
use crate::analysis::totality::is_total;
use crate::hash::{HashMap, HashSet};
use crate::ir::id::{FunId, IdVec, Var};
use crate::ir::soac::{Operator, Soac};
use crate::ir::syntax::{Atom, Body, Exp, Fun, Lambda, Stm, Vars};
use crate::ir::types::{Size, Type};
use crate::ir::walk::{deep, free_in_lambda, free_in_stm, type_vars};
use crate::verify::sizes::Sizes;
pub(super) use cost::is_cheap;
use functions::holds_operators;
pub(super) use functions::{Lifting, holds_nests, lengths_of_results, worth};
pub(super) use regular::Facts;

/// How many cheap operations may be repeated for each point of an inner operator.
const CHEAP: u32 = 12;

/// An inner operator narrower than this stays a loop.
pub(super) const NARROW: i64 = 16;

/// Whether an array has few elements, however many points there are.
pub(super) fn is_small(ty: &Type) -> bool {
    ty.known_elements().is_some_and(|n| n < NARROW)
}

/// What becomes of a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Label {
    /// The host computes it, once for all points.
    Uniform,
    /// A check, made again wherever something needs it.
    Check,
    /// Costs next to nothing and is computed again wherever it is needed.
    Cheap,
    /// An array that is nothing but another one or a value spread out.
    Fill,
    /// The same elements under another shape.
    View,
    /// An update in place.
    Update,
    /// Sequential code.
    Seq,
    /// Holds parallelism worth having.
    Par,
}

/// The labels of everything inside of one operator of host code.
#[derive(Default)]
pub(super) struct Labels {
    /// By the first variable that a statement binds.
    labels: HashMap<Var, Label>,
    variant: HashSet<Var>,
    irregular: HashSet<Var>,
    /// What it costs to compute a cheap variable.
    cost: HashMap<Var, u32>,
    /// What may share memory with something that is consumed inside.
    hot: HashSet<Var>,
    aliases: Aliases,
    sizes: Sizes,
    /// Scalars that decide something, are the same for all points, and are computed by points only: the host fetches one.
    fetched: HashSet<Var>,
    /// Whether nothing inside of the nest is taken to be the same for all points.
    nothing_regular: bool,
}

impl Labels {
    /// The label of a statement.
    pub(super) fn of(&self, stm: &Stm<Soac>) -> Label {
        let first = stm.binds.first();
        first
            .and_then(|v| self.labels.get(v))
            .copied()
            .unwrap_or(Label::Seq)
    }

    /// Whether a body holds parallelism worth having.
    pub(super) fn is_parallel(&self, body: &Body<Soac>) -> bool {
        body.stms.iter().any(|stm| self.of(stm) == Label::Par)
    }

    /// Whether the host knows an atom.
    pub(super) fn uniform(&self, atom: Atom) -> bool {
        atom.as_var().is_none_or(|v| !self.variant.contains(&v))
    }

    /// Whether a size is the same for all points, so that arrays of it are regular.
    pub(super) fn regular(&self, size: Var) -> bool {
        !self.nothing_regular && self.uniform(size.into())
    }

    /// Whether nothing inside of the nest is taken to be the same for all points.
    pub(super) fn is_nothing_regular(&self) -> bool {
        self.nothing_regular
    }

    /// Whether the host fetches a scalar from one of the points that computed it.
    pub(super) fn is_fetched(&self, var: Var) -> bool {
        self.fetched.contains(&var)
    }

    /// What stands for all sizes that are the same as this one.
    pub(super) fn same(&self, size: Var) -> Atom {
        self.sizes.representative(size)
    }

    /// Whether an array of a shape that differs from point to point cannot leave the code that makes it.
    pub(super) fn irregular(&self, var: Var) -> bool {
        self.irregular.contains(&var)
    }

    /// Everything that arrays may share memory with because it is where they came from.
    pub(super) fn origins(&self, arrays: Vec<Var>) -> HashSet<Var> {
        self.aliases.closure(arrays)
    }

    /// Whether an array may share memory with some of which this is where they came from.
    pub(super) fn meets(&self, array: Var, origins: &HashSet<Var>) -> bool {
        self.aliases.meets(array, origins)
    }

    /// Whether an array or an alias of it is consumed somewhere inside.
    pub(super) fn hot(&self, var: Var) -> bool {
        self.hot.contains(&var)
    }
}

/// Labels what is inside of lambdas.
pub(super) struct Labeller<'a> {
    vars: &'a Vars,
    funs: &'a IdVec<FunId, Fun<Soac>>,
    /// Where functions are lifted.
    worth: &'a [Lifting],
    facts: Facts<'a>,
    /// The scalars that decide something.
    decisive: HashSet<Var>,
    labels: Labels,
    /// Whether the number of points of an operator around differs from point to point.
    ragged: bool,
}

impl<'a> Labeller<'a> {
    fn new(
        vars: &'a Vars,
        funs: &'a IdVec<FunId, Fun<Soac>>,
        worth: &'a [Lifting],
        facts: Facts<'a>,
    ) -> Self {
        let labels = Labels {
            nothing_regular: matches!(facts, Facts::Without),
            ..Labels::default()
        };
        Self {
            vars,
            funs,
            worth,
            facts,
            decisive: HashSet::default(),
            labels,
            ragged: false,
        }
    }

    /// The labels of what is inside of the lambda of an operator.
    pub(super) fn label(
        vars: &'a Vars,
        funs: &'a IdVec<FunId, Fun<Soac>>,
        worth: &'a [Lifting],
        facts: Facts<'a>,
        lam: &Lambda<Soac>,
    ) -> Labels {
        let mut labeller = Self::new(vars, funs, worth, facts);
        // Most code holds nothing, and then there is nothing to know.
        if holds_operators(&lam.body, worth) {
            labeller.know(&lam.body);
            labeller.lambda(lam);
        } else {
            labeller.labels.nothing_regular = false;
        }
        labeller.labels
    }

    /// The labels of what is inside of the lambda of an operator whose points may yield arrays of different lengths.
    pub(super) fn label_rows(
        vars: &'a Vars,
        funs: &'a IdVec<FunId, Fun<Soac>>,
        worth: &'a [Lifting],
        facts: Facts<'a>,
        lam: &Lambda<Soac>,
    ) -> Labels {
        let mut labeller = Self::new(vars, funs, worth, facts);
        labeller.know(&lam.body);
        labeller.lambda(lam);
        labeller.labels
    }

    /// Finds out about arrays of a body that share memory.
    fn know(&mut self, body: &Body<Soac>) {
        self.labels.aliases = Aliases::of(body);
        let mut taken = Vec::new();
        for stm in &body.stms {
            consumed(stm, self.funs, &mut |v| taken.push(v));
        }
        self.labels.hot = self.labels.aliases.touching(taken);
        self.decisive = regular::decisive(body, self.vars);
    }

    fn lambda(&mut self, lam: &Lambda<Soac>) -> bool {
        lam.params.iter().for_each(|&p| self.vary(p, true));
        self.body(&lam.body)
    }

    /// The lambda of an operator of this width.
    fn inner(&mut self, width: Size, lam: &Lambda<Soac>) -> bool {
        let around = self.ragged;
        self.ragged |= !self.labels.uniform(width.into());
        let parallel = self.lambda(lam);
        self.ragged = around;
        parallel
    }

    /// A variable that the host does not know, and whether many points can write it.
    fn vary(&mut self, var: Var, shared: bool) {
        let irregular =
            has_ragged_dims(&self.vars[var].ty) || !shared && self.has_variant_dims(var);
        self.labels.variant.insert(var);
        if irregular {
            self.labels.irregular.insert(var);
        }
    }

    fn has_variant_dims(&self, var: Var) -> bool {
        let mut variant = false;
        type_vars(&self.vars[var].ty, &mut |n| {
            variant |= !self.labels.regular(n);
        });
        variant
    }

    /// Labels the statements of a body; whether it holds parallelism worth having.
    fn body(&mut self, body: &Body<Soac>) -> bool {
        let whole = self.read_whole(body);
        let mut parallel = false;
        for stm in &body.stms {
            let label = deep(|| self.stm(stm, &whole));
            self.labels.sizes.learn(stm);
            parallel |= label == Label::Par;
            if let Some(&first) = stm.binds.first() {
                self.labels.labels.insert(first, label);
            }
            let shared = match label {
                Label::Uniform => continue,
                Label::Cheap | Label::Fill | Label::View | Label::Update | Label::Par => true,
                Label::Check | Label::Seq => false,
            };
            for &v in &stm.binds {
                if label == Label::Par && self.carried(stm, v) {
                    continue;
                }
                if self.is_same(stm, label, v) {
                    self.labels.fetched.insert(v);
                } else {
                    self.vary(v, shared);
                }
            }
        }
        parallel
    }

    /// Whether a result of a parallel loop is known to the host.
    fn carried(&self, stm: &Stm<Soac>, bind: Var) -> bool {
        let Exp::Loop { params, .. } = &stm.exp else {
            return false;
        };
        let k = stm.binds.iter().position(|&b| b == bind);
        k.is_some_and(|k| self.labels.uniform(params[k].var.into()))
    }

    fn stm(&mut self, stm: &Stm<Soac>, whole: &HashSet<Var>) -> Label {
        let certified = stm.certs.iter().all(|&c| self.labels.uniform(c.into()));
        match &stm.exp {
            Exp::Atom(a) if certified && self.labels.uniform(*a) => Label::Uniform,
            Exp::Atom(_) => self.cheap(stm, 0),
            Exp::Scalar(op, args) => {
                let known = args.iter().all(|&a| self.labels.uniform(a));
                match () {
                    () if known && certified && is_total(*op, args) => Label::Uniform,
                    () if is_cheap(*op) => self.cheap(stm, 1),
                    () => Label::Seq,
                }
            }
            Exp::Assert { .. } => {
                let mut known = true;
                stm.exp.operands(&mut |a| known &= self.labels.uniform(a));
                if known && certified {
                    Label::Uniform
                } else {
                    Label::Check
                }
            }
            Exp::Guard { .. } => Label::Seq,
            Exp::Call { fun, args } => self.call(stm, *fun, args),
            Exp::If {
                cond,
                then,
                otherwise,
            } => self.conditional(stm, *cond, (then, otherwise)),
            Exp::Loop { params, form, body } => {
                let parallel = self.looping(params, form, body);
                self.parallel(stm, parallel)
            }
            Exp::Op(op) => self.op(stm, op, whole),
        }
    }

    /// What is computed again wherever it is needed, unless that costs too much or cannot be done.
    fn cheap(&mut self, stm: &Stm<Soac>, own: u32) -> Label {
        let mut cost = own;
        let mut fit = true;
        stm.exp.operands(&mut |a| {
            if let Atom::Var(v) = a {
                cost = cost.saturating_add(self.labels.cost.get(&v).copied().unwrap_or(0));
                fit &= !self.labels.irregular(v);
                fit &= !(self.vars[v].ty.is_array() && self.labels.hot(v));
            }
        });
        fit &= !stm.binds.iter().any(|&v| has_ragged_dims(&self.vars[v].ty));
        if !fit || cost > CHEAP {
            return Label::Seq;
        }
        for &v in &stm.binds {
            self.labels.cost.insert(v, cost);
        }
        Label::Cheap
    }

    /// Parallel if it is worth it and no irregular array comes in or goes out. The lengths of what goes out are known before.
    fn parallel(&self, stm: &Stm<Soac>, worth: bool) -> Label {
        if !worth {
            return Label::Seq;
        }
        let mut regular = true;
        for &v in &stm.binds {
            type_vars(&self.vars[v].ty, &mut |n| {
                regular &= !stm.binds.contains(&n) || self.carried(stm, n);
            });
        }
        let free = free_in_stm(self.vars, stm);
        if regular && !free.iter().any(|&v| self.labels.irregular(v)) {
            Label::Par
        } else {
            Label::Seq
        }
    }

    fn op(&mut self, stm: &Stm<Soac>, op: &Soac, whole: &HashSet<Var>) -> Label {
        match op {
            Soac::Array(op) => self.array_op(stm, op, whole),
            Soac::Screma {
                width,
                lam,
                scans,
                reds,
                ..
            } => {
                let inner = self.inner(*width, lam);
                let rows = scans.is_empty() && self.is_reduction_of_rows(*width, lam, reds, stm);
                let fits = rows
                    || scans
                        .iter()
                        .chain(reds)
                        .all(|op| self.is_scalar_operator(op));
                let yielded = lam.body.result.iter().filter_map(|a| a.as_var());
                let whole = !yielded.clone().any(|v| self.labels.irregular(v));
                self.parallel(stm, whole && fits && self.is_wide(*width, inner))
            }
            Soac::Hist {
                width, lam, ops, ..
            } => {
                let inner = self.inner(*width, lam);
                let fits = ops.iter().all(|op| self.is_scalar_operator(&op.op));
                self.parallel(stm, fits && self.is_wide(*width, inner))
            }
            Soac::Scatter {
                width, lam, dests, ..
            } => {
                let inner = self.inner(*width, lam);
                let mut places = dests.iter();
                let fits = places.all(|dest| self.has_known_rows(dest.array, dest.rank));
                self.parallel(stm, fits && self.is_wide(*width, inner))
            }
            Soac::Filter { width, lam, .. } => {
                let inner = self.inner(*width, lam);
                let mut kept = lam.body.result[1..].iter().filter_map(|a| a.as_var());
                let fits = kept.all(|v| self.has_known_rows(v, 0)) && self.is_wide(*width, inner);
                let free = free_in_stm(self.vars, stm);
                if fits && !free.iter().any(|&v| self.labels.irregular(v)) {
                    Label::Par
                } else {
                    Label::Seq
                }
            }
            Soac::FlatMap {
                width, lam, rows, ..
            } => {
                let inner = self.inner(*width, lam);
                let made = |k: usize, v: Var| {
                    let indices = usize::from(k < *rows);
                    !self.labels.irregular(v) && self.has_known_rows(v, indices)
                };
                let results = lam.body.result[1..].iter().enumerate();
                let mut made_of = results.filter_map(|(k, a)| Some((k, a.as_var()?)));
                let fits = made_of.all(|(k, v)| made(k, v)) && self.is_wide(*width, inner);
                let free = free_in_stm(self.vars, stm);
                if fits && !free.iter().any(|&v| self.labels.irregular(v)) {
                    Label::Par
                } else {
                    Label::Seq
                }
            }
            Soac::WithAcc { .. } | Soac::UpdateAcc(_) => Label::Seq,
        }
    }

    fn is_wide(&self, width: Size, inner: bool) -> bool {
        let narrow = matches!(width, Size::Const(n) if n < NARROW);
        inner || !narrow
    }

    /// Whether the rows of an array that so many indices address have the same shape at all points.
    fn has_known_rows(&self, array: Var, indices: usize) -> bool {
        let rows = &self.vars[array].ty.shape()[indices..];
        let mut vars = rows.iter().filter_map(|dim| dim.var());
        vars.all(|n| self.labels.regular(n)) && !has_ragged_dims(&self.vars[array].ty)
    }

    /// An operator on scalars that the host knows: it is applied between points, so that it may depend on none.
    fn is_scalar_operator(&self, op: &Operator<Soac>) -> bool {
        op.lam.params.iter().all(|&p| !self.vars[p].ty.is_array()) && self.is_known_operator(op)
    }

    fn is_known_operator(&self, op: &Operator<Soac>) -> bool {
        let free = free_in_lambda(self.vars, &op.lam);
        op.neutral.iter().all(|&a| self.labels.uniform(a))
            && free.iter().all(|&v| self.labels.uniform(v.into()))
    }

    /// A reduction of vectors by one map over its operands, which rule G5 makes a map of reductions.
    fn is_reduction_of_rows(
        &self,
        width: Size,
        lam: &Lambda<Soac>,
        reds: &[Operator<Soac>],
        stm: &Stm<Soac>,
    ) -> bool {
        let [op] = reds else { return false };
        let regular = self.labels.uniform(width.into())
            && !stm.binds.iter().any(|&v| self.has_variant_dims(v));
        regular
            && is_reduction_of_rows(self.vars, lam, op, stm.binds.len())
            && self.is_known_operator(op)
    }
}

/// Whether rows of an array differ in length.
fn has_ragged_dims(ty: &Type) -> bool {
    ty.shape().iter().any(|dim| dim.size().is_none())
}

/// Whether a reduction with this operator yields vectors, combined by one map over both operands, and nothing else.
pub(super) fn is_reduction_of_rows(
    vars: &Vars,
    lam: &Lambda<Soac>,
    op: &Operator<Soac>,
    binds: usize,
) -> bool {
    let Some((_, arrays, inner)) = operator_map(op) else {
        return false;
    };
    let k = op.neutral.len();
    k == binds
        && lam.body.result.len() == k
        && is_elementwise(&op.lam)
        && arrays.iter().all(|v| op.lam.params.contains(v))
        && inner.params.iter().all(|&p| !vars[p].ty.is_array())
        && op.lam.params.iter().all(|&p| vars[p].ty.rank() == 1)
}
