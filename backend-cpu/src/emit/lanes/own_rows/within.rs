//! Which elements of rows are known to be there where they are read: by the counters of loops, and by what branches rest on.

use midend::analysis::ranges::Ranges;
use midend::ir::id::Var;
use midend::ir::mem::Mem;
use midend::ir::scalar::{BinOp, ScalarOp};
use midend::ir::syntax::{Atom, Body, Exp, LoopForm};
use midend::ir::types::ScalarType;
use std::collections::BTreeMap;

/// How many conjunctions deep conditions are looked at.
const DEPTH: usize = 8;

/// The numbers among the parts of indices that are not negative where an element is loaded, with what they are below, by the variable that the element is bound to.
#[derive(Default)]
pub(super) struct Within(BTreeMap<Var, Vec<(Var, Vec<Atom>)>>);

impl Within {
    pub(super) fn of(body: &Body<Mem>) -> Self {
        let mut finder = Finder::default();
        finder.body(body);
        finder.found
    }

    /// What a number is below where this element is loaded, if it is known not to be negative.
    pub(super) fn below(&self, loaded: Var, number: Atom) -> impl Iterator<Item = Atom> {
        let known = self.0.get(&loaded).into_iter().flatten();
        let mine = known.filter(move |(v, _)| number == (*v).into());
        mine.flat_map(|(_, below)| below.iter().copied())
    }
}

#[derive(Default)]
struct Finder<'b> {
    ranges: Ranges,
    scalars: BTreeMap<Var, (ScalarOp, &'b [Atom])>,
    /// Conditionals that are conjunctions or disjunctions.
    choices: BTreeMap<Var, (BinOp, [Atom; 2])>,
    found: Within,
}

impl<'b> Finder<'b> {
    fn body(&mut self, body: &'b Body<Mem>) {
        for stm in &body.stms {
            match &stm.exp {
                Exp::Scalar(op, args) => {
                    self.ranges.define(stm.binds[0], &stm.exp);
                    self.scalars.insert(stm.binds[0], (*op, args));
                }
                Exp::Op(Mem::Load { index, .. }) => self.load(stm.binds[0], *index),
                Exp::If {
                    cond,
                    then,
                    otherwise,
                } => {
                    self.branch(*cond, true, then);
                    self.branch(*cond, false, otherwise);
                    if let ([v], &[a], &[b]) =
                        (&stm.binds[..], &then.result[..], &otherwise.result[..])
                    {
                        let choice = match (a.as_bool(), b.as_bool()) {
                            (_, Some(false)) => Some((BinOp::And, [*cond, a])),
                            (Some(true), _) => Some((BinOp::Or, [*cond, b])),
                            (_, _) => None,
                        };
                        self.choices.extend(choice.map(|choice| (*v, choice)));
                    }
                }
                Exp::Loop { form, body, .. } => {
                    let mark = self.ranges.mark();
                    if let LoopForm::For { index, bound } = form {
                        self.ranges.index(*index, *bound);
                    }
                    self.body(body);
                    self.ranges.undo(mark);
                }
                Exp::Atom(_)
                | Exp::Assert { .. }
                | Exp::Guard { .. }
                | Exp::Call { .. }
                | Exp::Op(_) => {}
            }
        }
    }

    /// A branch that is taken only if the condition has this value.
    fn branch(&mut self, cond: Atom, value: bool, body: &'b Body<Mem>) {
        let mark = self.ranges.mark();
        self.learn(cond, value, DEPTH);
        self.body(body);
        self.ranges.undo(mark);
    }

    fn learn(&mut self, cond: Atom, value: bool, depth: usize) {
        let Some(v) = cond.as_var() else { return };
        let decided = if value { BinOp::And } else { BinOp::Or };
        let parts = match self.scalars.get(&v) {
            Some((ScalarOp::Cmp(op, ty), args)) if ty.is_integer() => {
                self.ranges.compared(*op, args[0], args[1], value);
                return;
            }
            Some((ScalarOp::Bin(op, ScalarType::Bool), args)) => Some((*op, [args[0], args[1]])),
            Some(_) | None => self.choices.get(&v).copied(),
        };
        if let Some((op, parts)) = parts
            && op == decided
            && let Some(depth) = depth.checked_sub(1)
        {
            parts
                .into_iter()
                .for_each(|part| self.learn(part, value, depth));
        }
    }

    /// Notes what is known of what an index is the sum of.
    fn load(&mut self, loaded: Var, index: Atom) {
        let mut parts = vec![index];
        let mut at = 0;
        while at < parts.len() && parts.len() < DEPTH {
            if let Some((ScalarOp::Bin(BinOp::Add | BinOp::Mul, ScalarType::I64), args)) =
                parts[at].as_var().and_then(|v| self.scalars.get(&v))
            {
                parts.extend(*args);
            }
            at += 1;
        }
        let numbers = parts.into_iter().filter_map(Atom::as_var);
        let known = numbers.filter(|v| self.ranges.is_not_negative((*v).into()));
        let known = known.map(|v| (v, self.ranges.below(v.into())));
        self.found.0.insert(loaded, known.collect());
    }
}
