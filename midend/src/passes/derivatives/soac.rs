//! Parallel operators: tangents are further inputs, values of operators, destinations and results of the same traversal.

use super::Derive;
use super::reverse::{is_identity, is_row_sum};
use crate::fired::fired;
use crate::ir::id::Var;
use crate::ir::rename::{self, Subst};
use crate::ir::scalar::{BinOp, ScalarOp};
use crate::ir::soac::{HistOp, Operator, ScatterDest, Soac, UpdateAcc};
use crate::ir::syntax::{Atom, Body, Exp, Lambda};
use crate::ir::types::{AccType, ScalarType, Size, Type};
use crate::ir::walk;

/// What the neutral element of an operator is to be.
enum Neutral {
    /// What it is.
    Values,
    /// That, and the tangents of some parts.
    Pairs(Vec<bool>),
    /// The tangents.
    Tangents,
}

/// Results of a lambda with the tangents that there are.
type Results = Vec<(Atom, Option<Atom>)>;

impl Derive<'_> {
    pub(super) fn soac(&mut self, binds: Vec<Var>, op: Soac) {
        match op {
            Soac::Screma {
                width,
                mut arrays,
                lam,
                scans,
                reds,
            } => {
                let mut after = Bound::new(binds);
                let (mut new_scans, mut new_reds) = (Vec::new(), Vec::new());
                let lam = self.lambda(&mut arrays, lam, |t, results| {
                    let mut results = results.into_iter();
                    let mut out = Vec::new();
                    for (ops, new) in [(scans, &mut new_scans), (reds, &mut new_reds)] {
                        for op in ops {
                            let elems: Results = results.by_ref().take(op.neutral.len()).collect();
                            t.elements(op, elems, &mut after, &mut out, new);
                        }
                    }
                    for (atom, tangent) in results {
                        let v = after.next();
                        out.push(atom);
                        after.keep(v);
                        if let (Some(tangent), Some(v)) = (tangent, v) {
                            out.push(tangent);
                            after.new.push(t.new_tangent(v));
                        }
                    }
                    out
                });
                let op = Soac::Screma {
                    width,
                    arrays,
                    lam,
                    scans: self.with_neutral(new_scans),
                    reds: self.with_neutral(new_reds),
                };
                self.push(after.new, Exp::Op(op));
            }
            Soac::Hist {
                width,
                arrays,
                lam,
                ops,
            } if self.is_sum_of_inputs(&lam, &ops) => {
                self.histogram_of_tangents(binds, width, (arrays, lam), ops);
            }
            Soac::Hist {
                width,
                mut arrays,
                lam,
                ops,
            } => {
                let mut after = Bound::new(binds);
                let mut new_ops = Vec::new();
                let mut dests: Vec<(HistOp<Soac>, Vec<bool>)> = Vec::new();
                let lam = self.lambda(&mut arrays, lam, |t, results| {
                    let ranks = ops.iter().map(|op| op.shape.len()).sum();
                    let mut results = results.into_iter();
                    let buckets: Vec<Atom> = results.by_ref().take(ranks).map(|r| r.0).collect();
                    let mut out = buckets;
                    for op in ops {
                        let k = op.dests.len();
                        let elems: Results = results.by_ref().take(k).collect();
                        let active = t.is_active(&op.op, &elems)
                            || op.dests.iter().any(|v| t.of.contains_key(v));
                        let floats: Vec<bool> = op
                            .dests
                            .iter()
                            .map(|v| active && t.differentiable(*v))
                            .collect();
                        t.values(&elems, &floats, &mut after, &mut out);
                        dests.push((op, floats));
                    }
                    out
                });
                for (op, floats) in dests {
                    let mut to = op.dests.clone();
                    for (v, float) in op.dests.iter().zip(&floats) {
                        if *float {
                            to.extend(self.tangent_or_zero((*v).into()).as_var());
                        }
                    }
                    new_ops.push(HistOp {
                        shape: op.shape,
                        dests: to,
                        op: self.operator(op.op, &floats),
                    });
                }
                let op = Soac::Hist {
                    width,
                    arrays,
                    lam,
                    ops: new_ops,
                };
                self.push(after.new, Exp::Op(op));
            }
            Soac::Scatter {
                width,
                mut arrays,
                lam,
                dests,
            } => {
                let mut after = Bound::new(binds);
                let mut active = Vec::new();
                let lam = self.lambda(&mut arrays, lam, |t, results| {
                    let ranks: usize = dests.iter().map(|d| d.rank).sum();
                    let (mut indices, mut values) = (Vec::new(), Vec::new());
                    let mut at = 0;
                    for (k, dest) in dests.iter().enumerate() {
                        let (value, tangent) = results[ranks + k];
                        let own = results[at..at + dest.rank].iter().map(|r| r.0);
                        let own: Vec<Atom> = own.collect();
                        at += dest.rank;
                        let v = after.next();
                        after.keep(v);
                        indices.extend(&own);
                        values.push(value);
                        let moves = t.differentiable(dest.array)
                            && (tangent.is_some() || t.of.contains_key(&dest.array));
                        active.push(moves);
                        if let (true, Some(v)) = (moves, v) {
                            indices.extend(own);
                            values.push(tangent.unwrap_or_else(|| t.tangent_or_zero(value)));
                            after.new.push(t.new_tangent(v));
                        }
                    }
                    indices.into_iter().chain(values).collect()
                });
                let mut to = Vec::new();
                for (dest, active) in dests.into_iter().zip(active) {
                    let (rank, array) = (dest.rank, dest.array);
                    to.push(dest);
                    if active && let Some(array) = self.tangent_or_zero(array.into()).as_var() {
                        to.push(ScatterDest { rank, array });
                    }
                }
                let op = Soac::Scatter {
                    width,
                    arrays,
                    lam,
                    dests: to,
                };
                self.push(after.new, Exp::Op(op));
            }
            Soac::Filter {
                width,
                mut arrays,
                lam,
            } => {
                let mut after = Bound::new(binds);
                let v = after.next();
                after.keep(v);
                let lam = self.lambda(&mut arrays, lam, |t, results| {
                    let mut results = results.into_iter();
                    let mut out: Vec<Atom> = results.by_ref().take(1).map(|r| r.0).collect();
                    t.further(results, &mut after, &mut out);
                    out
                });
                self.push(after.new, Exp::Op(Soac::Filter { width, arrays, lam }));
            }
            Soac::FlatMap {
                width,
                mut arrays,
                lam,
                rows,
                marks,
            } => {
                let mut after = Bound::new(binds);
                for _ in 0..2 {
                    let v = after.next();
                    after.keep(v);
                }
                let mut count = rows;
                let lam = self.lambda(&mut arrays, lam, |t, results| {
                    let mut results = results.into_iter();
                    let mut out: Vec<Atom> = results.by_ref().take(1).map(|r| r.0).collect();
                    let of_rows: Results = results.by_ref().take(rows).collect();
                    t.further(of_rows.into_iter(), &mut after, &mut out);
                    count = out.len() - 1;
                    t.further(results, &mut after, &mut out);
                    out
                });
                let op = Soac::FlatMap {
                    width,
                    arrays,
                    lam,
                    rows: count,
                    marks,
                };
                self.push(after.new, Exp::Op(op));
            }
            Soac::WithAcc {
                width,
                mut arrays,
                lam,
                mut acc,
            } => {
                let floats: Vec<bool> = acc.dests.iter().map(|v| self.differentiable(*v)).collect();
                let mut more = Vec::new();
                let mut new = binds.clone();
                for (i, float) in floats.iter().enumerate() {
                    if !*float {
                        continue;
                    }
                    let part = acc.params.len() + more.len();
                    let tangent = self.new_tangent(acc.params[i]);
                    if let Type::Acc(ty) = &mut self.vars[tangent].ty {
                        ty.part = part;
                    }
                    more.push(tangent);
                    acc.dests
                        .extend(self.tangent_or_zero(acc.dests[i].into()).as_var());
                    new.push(self.new_tangent(binds[i]));
                }
                acc.params.extend(more);
                acc.op = acc.op.map(|op| self.operator(op, &floats));
                let lam = self.lambda(&mut arrays, lam, |_, results| {
                    let tangents: Vec<Atom> = results.iter().filter_map(|r| r.1).collect();
                    results.into_iter().map(|r| r.0).chain(tangents).collect()
                });
                let op = Soac::WithAcc {
                    width,
                    arrays,
                    lam,
                    acc,
                };
                self.push(new, Exp::Op(op));
            }
            Soac::UpdateAcc(update) => self.update_acc(binds, update),
            Soac::Array(op) => self.array(binds, op),
        }
    }

    /// Whether a histogram adds up what it is given as it is.
    fn is_sum_of_inputs(&self, lam: &Lambda<Soac>, ops: &[HistOp<Soac>]) -> bool {
        let [op] = ops else { return false };
        is_identity(lam) && is_row_sum(&op.op) && self.differentiable(op.dests[0])
    }

    /// The tangent of a sum is the sum of tangents, which is a histogram for itself: both keep their form.
    fn histogram_of_tangents(
        &mut self,
        binds: Vec<Var>,
        width: Size,
        (arrays, lam): (Vec<Var>, Lambda<Soac>),
        ops: Vec<HistOp<Soac>>,
    ) {
        let values = arrays.last().and_then(|array| self.array_tangent(*array));
        let dest = self.tangent_or_zero(ops[0].dests[0].into());
        let (mut inputs, mut second) = (arrays.clone(), ops.clone());
        let again = rename::lambda(self.vars, &mut Subst::new(), &lam);
        let first = Soac::Hist {
            width,
            arrays,
            lam,
            ops,
        };
        self.push(binds.clone(), Exp::Op(first));
        let (Some(values), Some(dest)) = (values, dest.as_var()) else {
            self.of.insert(binds[0], dest);
            return;
        };
        fired("derivatives/histogram-of-tangents");
        if let Some(last) = inputs.last_mut() {
            *last = values;
        }
        for HistOp { dests, op, .. } in &mut second {
            *dests = vec![dest];
            op.lam = rename::lambda(self.vars, &mut Subst::new(), &op.lam);
            for neutral in &mut op.neutral {
                *neutral = self.tangent_or_zero(*neutral);
            }
        }
        let sum = self.new_tangent(binds[0]);
        let second = Soac::Hist {
            width,
            arrays: inputs,
            lam: again,
            ops: second,
        };
        self.push(vec![sum], Exp::Op(second));
    }

    fn update_acc(&mut self, mut binds: Vec<Var>, update: UpdateAcc) {
        let (mut accs, mut values) = (update.accs.clone(), update.values.clone());
        for (i, acc) in update.accs.iter().enumerate() {
            let Some(tangent) = self.array_tangent(*acc) else {
                continue;
            };
            accs.push(tangent);
            values.push(self.tangent_or_zero(update.values[i]));
            let ty = self.vars[tangent].ty.clone();
            let bind = self.new_tangent(binds[i]);
            if let (Type::Acc(AccType { part, .. }), Type::Acc(new)) = (ty, &mut self.vars[bind].ty)
            {
                new.part = part;
            }
            binds.push(bind);
        }
        let update = UpdateAcc {
            accs,
            index: update.index,
            values,
        };
        self.push(binds, Exp::Op(Soac::UpdateAcc(update)));
    }

    /// A lambda that takes the rows of tangents too. What it yields is made of its results.
    fn lambda(
        &mut self,
        arrays: &mut Vec<Var>,
        mut lam: Lambda<Soac>,
        results: impl FnOnce(&mut Self, Results) -> Vec<Atom>,
    ) -> Lambda<Soac> {
        for (i, array) in arrays.clone().into_iter().enumerate() {
            if let Some(tangent) = self.array_tangent(array) {
                arrays.push(tangent);
                lam.params.push(self.new_tangent(lam.params[i]));
            }
        }
        let (result, stms) = self.nested(|t| {
            let (result, tangents) = t.body(lam.body);
            results(t, result.into_iter().zip(tangents).collect())
        });
        Lambda {
            params: lam.params,
            body: Body { stms, result },
        }
    }

    /// Results that become arrays, each followed by its tangent if it has one.
    fn further(
        &mut self,
        results: impl Iterator<Item = (Atom, Option<Atom>)>,
        after: &mut Bound,
        out: &mut Vec<Atom>,
    ) {
        for (atom, tangent) in results {
            let v = after.next();
            after.keep(v);
            out.push(atom);
            if let (Some(tangent), Some(v)) = (tangent, v) {
                out.push(tangent);
                after.new.push(self.new_tangent(v));
            }
        }
    }

    /// Whether the results of an operator have tangents.
    fn is_active(&self, op: &Operator<Soac>, elems: &Results) -> bool {
        let free = walk::free_in_lambda(self.vars, &op.lam);
        elems.iter().any(|(_, tangent)| tangent.is_some())
            || op.neutral.iter().any(|a| self.tangent_of(*a).is_some())
            || free.iter().any(|v| self.of.contains_key(v))
    }

    /// The elements of a scan or reduction, and its operator. The tangent of a sum is the sum of tangents.
    fn elements(
        &mut self,
        op: Operator<Soac>,
        elems: Results,
        after: &mut Bound,
        out: &mut Vec<Atom>,
        ops: &mut Vec<(Operator<Soac>, Neutral)>,
    ) {
        let active = self.is_active(&op, &elems);
        let floats: Vec<bool> = elems
            .iter()
            .map(|(atom, _)| active && self.differentiable_atom(*atom))
            .collect();
        self.values(&elems, &floats, after, out);
        if active && is_row_sum(&op) {
            let mut second = op.clone();
            second.lam = rename::lambda(self.vars, &mut Subst::new(), &op.lam);
            ops.extend([(op, Neutral::Values), (second, Neutral::Tangents)]);
        } else {
            ops.push((self.on_pairs(op, &floats), Neutral::Pairs(floats)));
        }
    }

    /// Operators on pairs with the tangents of their neutral elements, which are computed outside of the traversal.
    fn with_neutral(&mut self, ops: Vec<(Operator<Soac>, Neutral)>) -> Vec<Operator<Soac>> {
        let ops = ops.into_iter().map(|(mut op, of)| {
            let values = op.neutral.clone();
            match of {
                Neutral::Values => {}
                Neutral::Pairs(floats) => {
                    for (atom, _) in values.into_iter().zip(floats).filter(|(_, float)| *float) {
                        op.neutral.push(self.tangent_or_zero(atom));
                    }
                }
                Neutral::Tangents => {
                    let values = values.into_iter();
                    op.neutral = values.map(|atom| self.tangent_or_zero(atom)).collect();
                }
            }
            op
        });
        ops.collect()
    }

    /// Values for an operator, then the tangents of some of them.
    fn values(&mut self, elems: &Results, floats: &[bool], after: &mut Bound, out: &mut Vec<Atom>) {
        let vars: Vec<Option<Var>> = elems.iter().map(|_| after.next()).collect();
        for ((atom, _), v) in elems.iter().zip(&vars) {
            out.push(*atom);
            after.keep(*v);
        }
        for (((atom, tangent), float), v) in elems.iter().zip(floats).zip(vars) {
            if let (true, Some(v)) = (*float, v) {
                out.push(tangent.unwrap_or_else(|| self.tangent_or_zero(*atom)));
                after.new.push(self.new_tangent(v));
            }
        }
    }

    /// The operator on values and the tangents of some of them, with its neutral element.
    fn operator(&mut self, op: Operator<Soac>, floats: &[bool]) -> Operator<Soac> {
        let op = self.on_pairs(op, floats);
        let mut ops = self.with_neutral(vec![(op, Neutral::Pairs(floats.to_vec()))]);
        ops.remove(0)
    }

    /// The operator on values and the tangents of some of them, with the neutral element of the values.
    fn on_pairs(&mut self, op: Operator<Soac>, floats: &[bool]) -> Operator<Soac> {
        if !floats.contains(&true) {
            return op;
        }
        let neutral = op.neutral.clone();
        let mut params = Vec::new();
        for side in op.lam.params.chunks(floats.len()) {
            params.extend(side);
            for (param, _) in side.iter().zip(floats).filter(|(_, float)| **float) {
                params.push(self.new_tangent(*param));
            }
        }
        let (result, stms) = self.nested(|t| {
            let (mut result, tangents) = t.body(op.lam.body);
            for (i, tangent) in tangents.into_iter().enumerate() {
                if floats[i] {
                    result.push(tangent.unwrap_or_else(|| t.tangent_or_zero(result[i])));
                }
            }
            result
        });
        Operator {
            comm: op.comm,
            lam: Lambda {
                params,
                body: Body { stms, result },
            },
            neutral,
        }
    }
}

/// Whether an operator adds two numbers.
pub(super) fn is_sum(op: &Operator<Soac>) -> bool {
    let [stm] = &op.lam.body.stms[..] else {
        return false;
    };
    let [a, b] = op.lam.params[..] else {
        return false;
    };
    let Exp::Scalar(ScalarOp::Bin(BinOp::Add, ty), args) = &stm.exp else {
        return false;
    };
    let [x, y] = [Atom::Var(a), Atom::Var(b)];
    let result = stm.binds.first().map(|v| Atom::Var(*v));
    *ty != ScalarType::Bool
        && (args[..] == [x, y] || args[..] == [y, x])
        && op.lam.body.result.first().copied() == result
}

/// The variables that a statement binds: those of before in order, and what it binds now.
struct Bound {
    old: std::vec::IntoIter<Var>,
    new: Vec<Var>,
}

impl Bound {
    fn new(binds: Vec<Var>) -> Self {
        Self {
            old: binds.into_iter(),
            new: Vec::new(),
        }
    }
    fn next(&mut self) -> Option<Var> {
        self.old.next()
    }
    fn keep(&mut self, v: Option<Var>) {
        self.new.extend(v);
    }
}
