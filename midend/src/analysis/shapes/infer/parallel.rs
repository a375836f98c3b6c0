//! Parallel operations: elements of inputs at the index, results as functions of it, sums.

use super::Infer;
use crate::analysis::shapes::NestInfo;
use crate::analysis::shapes::facts::About;
use crate::analysis::shapes::form::{Family, Form, Nest, Value};
use crate::ir::id::Var;
use crate::ir::scalar::{BinOp, ScalarOp};
use crate::ir::soac::{Operator, Soac};
use crate::ir::syntax::{Atom, Exp, Lambda, Stm};
use crate::ir::types::{ScalarType, Size};

/// What a lambda yields at the index of its operation.
struct Point {
    results: Vec<Option<Value>>,
    width: Form,
    nest: Option<Nest>,
    start: u32,
}

impl<'p> Infer<'p> {
    pub(super) fn op(&mut self, stm: &'p Stm<Soac>, op: &'p Soac) {
        match op {
            Soac::Array(op) => self.array_op(stm, op),
            Soac::UpdateAcc(_) => self.bind_all(stm, &[]),
            Soac::Screma {
                width,
                arrays,
                lam,
                scans,
                reds,
            } => {
                let point = self.points(stm, *width, arrays, lam);
                self.operators(stm, op);
                let mut values = Vec::new();
                let mut results = point.results.iter().copied();
                for (i, op) in scans.iter().chain(reds).enumerate() {
                    let inputs: Vec<_> = results.by_ref().take(op.neutral.len()).collect();
                    values.extend(self.folded(&point, op, &inputs, i < scans.len()));
                }
                values.extend(results.map(|value| self.gathered(&point, value?)));
                self.bind_all(stm, &values);
            }
            Soac::Hist {
                width, arrays, lam, ..
            }
            | Soac::Scatter {
                width, arrays, lam, ..
            }
            | Soac::Filter { width, arrays, lam }
            | Soac::FlatMap {
                width, arrays, lam, ..
            }
            | Soac::WithAcc {
                width, arrays, lam, ..
            } => {
                if let Soac::WithAcc { acc, .. } = op {
                    acc.binders().into_iter().for_each(|v| self.bind(v, None));
                }
                self.points(stm, *width, arrays, lam);
                self.operators(stm, op);
                self.bind_all(stm, &[]);
            }
        }
    }

    /// Walks the lambda for one index.
    fn points(
        &mut self,
        stm: &'p Stm<Soac>,
        width: Size,
        arrays: &[Var],
        lam: &'p Lambda<Soac>,
    ) -> Point {
        let width = self.size(width);
        for array in arrays {
            // Equal, or there is no run.
            if let Some(length) = self.length(*array) {
                self.equal(length, width, stm.span);
            }
        }
        let first = stm.binds.first().or(lam.params.first());
        let nest = first.map(|v| Nest(v.0));
        let outer = self.nest;
        if let Some(nest) = nest {
            let info = NestInfo {
                width,
                outer,
                depth: self.depth,
            };
            self.nests.insert(nest, info);
            self.nest = Some(nest);
        }
        self.depth += 1;
        let mark = self.facts.mark();
        let start = self.tick();
        let index = nest.map(|nest| {
            self.table.start(nest, start);
            self.table.at_index(nest)
        });
        for (i, p) in lam.params.iter().enumerate() {
            let array = arrays.get(i).and_then(|a| self.now((*a).into()));
            let value = match (array, index) {
                (Some(Value::Array(family)), Some(index)) => self.table.rows(family, &[index]),
                (Some(Value::Scalar(_)) | None, _) | (_, None) => None,
            };
            let value = value.map(|v| self.resolved(v));
            self.bind(*p, value);
        }
        self.body(&lam.body);
        self.tick();
        let results = lam.body.result.iter().map(|a| self.now(*a)).collect();
        let point = Point {
            results,
            width,
            nest,
            start,
        };
        let checked = self.checked_elements(&point, mark);
        let now = self.now;
        self.facts.close(mark, now);
        self.depth -= 1;
        self.nest = outer;
        let now = self.tick();
        for (array, family) in checked {
            self.facts.add_array(array, family, now);
        }
        point
    }

    /// Arrays of which every element was checked. φ(ι) = ψ(ι) for an unknown φ makes φ = ψ, and a right side without ι makes φ a
    /// constant function.
    fn checked_elements(&mut self, point: &Point, mark: usize) -> Vec<(Var, Family)> {
        let Some(nest) = point.nest else {
            return Vec::new();
        };
        let mut checked = Vec::new();
        for about in self.facts.since(mark) {
            let (Some(array), About::Term(t)) = (self.element_of(about, nest), about) else {
                continue;
            };
            let Some(equal) = self.facts.term(t, self.now) else {
                continue;
            };
            // All of the array, or nothing is known of the rest.
            let whole =
                self.known[array].born < point.start && self.length(array) == Some(point.width);
            if let Some(family) = self.table.abstracted(Value::Scalar(equal), nest)
                && whole
                && self.is_before(Value::Array(family), point.start)
            {
                checked.push((array, family));
            }
        }
        checked
    }

    /// The array of what a lambda yields.
    fn gathered(&mut self, point: &Point, value: Value) -> Option<Value> {
        let family = self.table.abstracted(value, point.nest?)?;
        let array = Value::Array(family);
        self.is_before(array, point.start).then_some(array)
    }

    /// The results of a scan or reduction. Only sums are known; the last element of a scan is the sum of all.
    fn folded(
        &mut self,
        point: &Point,
        op: &Operator<Soac>,
        inputs: &[Option<Value>],
        scan: bool,
    ) -> Vec<Option<Value>> {
        let unknown = vec![None; inputs.len()];
        let ([input], true) = (inputs, is_sum(op)) else {
            return unknown;
        };
        let Some(Value::Array(family)) = input.and_then(|v| self.gathered(point, v)) else {
            return unknown;
        };
        let Some(nest) = point.nest else {
            return unknown;
        };
        let sum = if scan {
            let index = self.table.at_index(nest);
            let one = self.table.constant(1);
            let count = self.table.add(index, 1, one);
            let sum = count.and_then(|n| self.table.sum(n, family));
            sum.and_then(|sum| self.table.abstracted(Value::Scalar(sum), nest))
                .map(Value::Array)
        } else {
            self.table.sum(point.width, family).map(Value::Scalar)
        };
        vec![sum]
    }

    /// Walks the operators: their operands are unknown.
    fn operators(&mut self, stm: &'p Stm<Soac>, op: &'p Soac) {
        let outer = self.nest;
        if let Some(first) = stm.binds.first() {
            self.nest = Some(Nest(first.0));
        }
        self.depth += 1;
        let mut operator = |op: &'p Operator<Soac>| {
            let lam = &op.lam;
            self.nested(&lam.body, &[], |this| {
                lam.params.iter().for_each(|p| this.bind(*p, None));
            });
        };
        match op {
            Soac::Screma { scans, reds, .. } => scans.iter().chain(reds).for_each(operator),
            Soac::Hist { ops, .. } => ops.iter().for_each(|op| operator(&op.op)),
            Soac::WithAcc { acc, .. } => acc.op.iter().for_each(operator),
            Soac::Array(_)
            | Soac::Scatter { .. }
            | Soac::Filter { .. }
            | Soac::FlatMap { .. }
            | Soac::UpdateAcc(_) => {}
        }
        self.depth -= 1;
        self.nest = outer;
    }
}

/// Whether the operator adds integers, from zero on.
fn is_sum(op: &Operator<Soac>) -> bool {
    let lam = &op.lam;
    let ([a, b], [stm], [zero]) = (&lam.params[..], &lam.body.stms[..], &op.neutral[..]) else {
        return false;
    };
    let add = ScalarOp::Bin(BinOp::Add, ScalarType::I64);
    let adds = match &stm.exp {
        Exp::Scalar(op, args) if *op == add => {
            args[..] == [Atom::Var(*a), Atom::Var(*b)] || args[..] == [Atom::Var(*b), Atom::Var(*a)]
        }
        Exp::Atom(_)
        | Exp::Scalar(..)
        | Exp::Assert { .. }
        | Exp::Guard { .. }
        | Exp::If { .. }
        | Exp::Loop { .. }
        | Exp::Call { .. }
        | Exp::Op(_) => false,
    };
    let result = stm.binds.iter().map(|v| Atom::Var(*v));
    adds && *zero == Atom::ZERO && result.eq(lam.body.result.iter().copied())
}
