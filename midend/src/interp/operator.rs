//! Accumulators of reductions and scans, in all dialects.

use super::code::{Code, Inst, Word};
use super::machine::{Exec, Machine};
use super::value::{Run, Val, internal};
use crate::ir::soac::Operator;
use crate::ir::syntax::Atom;
use std::rc::Rc;

/// The running value of an operator.
pub(crate) struct Accumulator<'p, D> {
    op: &'p Operator<D>,
    code: Rc<Code<'p, D>>,
    /// The results of the body before it that are combined.
    elems: &'p [Atom],
    held: Held,
}

/// Where the value of everything up to here is held.
enum Held {
    /// Scalars: in the parameters of the operator.
    Params {
        /// From the elements to their parameters.
        feed: Box<[(Word, Word)]>,
        /// From the results to the parameters that hold the value.
        back: Box<[(Word, Word)]>,
    },
    Values(Vec<Val>),
}

impl<'p, D: Exec> Accumulator<'p, D> {
    /// Holds the neutral element, not shared with anything.
    pub(crate) fn new(
        machine: &mut Machine<'p, D>,
        op: &'p Operator<D>,
        elems: &'p [Atom],
    ) -> Run<Self> {
        let (lam, k) = (&op.lam, op.neutral.len());
        if lam.params.len() != 2 * k || lam.body.result.len() != k || elems.len() != k {
            return internal("an operator has a wrong number of parameters or results");
        }
        let code = machine.code(&lam.body);
        let neutral = machine.atoms(&op.neutral)?;
        let held = match held_in_params(machine, op, elems) {
            Some((feed, back)) => {
                for (param, value) in lam.params.iter().zip(neutral) {
                    machine.set(*param, value)?;
                }
                Held::Params { feed, back }
            }
            None => {
                let apart = neutral.into_iter().map(|v| machine.unshared(v));
                Held::Values(apart.collect::<Run<_>>()?)
            }
        };
        Ok(Self {
            op,
            code,
            elems,
            held,
        })
    }

    /// The number of values in the tuple.
    pub(crate) fn arity(&self) -> usize {
        self.elems.len()
    }

    /// Combines with the elements that the body before it has yielded.
    pub(crate) fn add(&mut self, machine: &mut Machine<'p, D>) -> Run<()> {
        let lam = &self.op.lam;
        match &mut self.held {
            Held::Params { feed, back } => {
                machine.copy_all(feed);
                machine.check_claims(lam.params.iter().copied())?;
                machine.execute(&self.code)?;
                machine.copy_all(back);
            }
            Held::Values(value) => {
                for (param, elem) in lam.params[value.len()..].iter().zip(self.elems) {
                    let elem = machine.atom(*elem)?;
                    machine.set(*param, elem)?;
                }
                for (param, value) in lam.params.iter().zip(&*value) {
                    machine.set(*param, value.clone())?;
                }
                machine.check_claims(lam.params.iter().copied())?;
                machine.execute(&self.code)?;
                for (value, result) in value.iter_mut().zip(&lam.body.result) {
                    *value = machine.atom(*result)?;
                }
            }
        }
        Ok(())
    }

    /// Value `i` of the tuple of everything up to here.
    pub(crate) fn value(&self, machine: &Machine<'p, D>, i: usize) -> Run<Val> {
        match &self.held {
            Held::Params { .. } => machine.atom(self.op.lam.params[i].into()),
            Held::Values(values) => Ok(values[i].clone()),
        }
    }

    /// The values of the tuple of everything up to here.
    pub(crate) fn values(&self, machine: &Machine<'p, D>) -> Run<Vec<Val>> {
        (0..self.arity()).map(|i| self.value(machine, i)).collect()
    }

    /// For scalars: where the elements are put, and where the values up to here are then found.
    pub(crate) fn words(&self) -> Option<impl Iterator<Item = (Word, Word)>> {
        match &self.held {
            Held::Params { feed, back } => {
                let back = back.iter().map(|(_, to)| *to);
                Some(feed.iter().map(|(from, _)| *from).zip(back))
            }
            Held::Values(_) => None,
        }
    }

    /// The operator, if it is a single operation that has a value for all operands, of one scalar.
    pub(crate) fn single(&self) -> Option<Single> {
        let Held::Params { feed, back } = &self.held else {
            return None;
        };
        let ([(from, elem)], [(result, held)]) = (&**feed, &**back) else {
            return None;
        };
        let [Inst::Tick(cost), Inst::Binary { f, a, b, to }] = self.code.insts[..] else {
            return None;
        };
        let in_order = (a, b) == (*held, *elem);
        let operands = in_order || (a, b) == (*elem, *held);
        (operands && to == *result).then_some(Single {
            from: *from,
            held: *held,
            cost,
            op: f.one,
            in_order,
        })
    }
}

impl<'p, D: Exec> Machine<'p, D> {
    /// Accumulators of leading results.
    pub(crate) fn accumulators(
        &mut self,
        ops: &'p [Operator<D>],
        mut results: &'p [Atom],
    ) -> Run<Vec<Accumulator<'p, D>>> {
        let mut accs = Vec::with_capacity(ops.len());
        for op in ops {
            let Some((elems, rest)) = results.split_at_checked(op.neutral.len()) else {
                return internal("too few results are combined");
            };
            results = rest;
            accs.push(Accumulator::new(self, op, elems)?);
        }
        Ok(accs)
    }
}

/// An operator that is a single operation.
pub(crate) struct Single {
    /// The element.
    pub(crate) from: Word,
    held: Word,
    cost: u32,
    op: fn(u64, u64) -> u64,
    in_order: bool,
}

impl Single {
    /// Combines with elements, and replaces each by the value up to there.
    pub(crate) fn add<D: Exec>(&self, machine: &mut Machine<'_, D>, elems: &mut [u64]) -> Run<()> {
        machine.tick(self.cost.saturating_mul(elems.len() as u32))?;
        let mut value = machine.word(self.held);
        for elem in elems {
            value = if self.in_order {
                (self.op)(value, *elem)
            } else {
                (self.op)(*elem, value)
            };
            *elem = value;
        }
        machine.put(self.held, value);
        Ok(())
    }
}

type Copies = Box<[(Word, Word)]>;

/// The copies into and out of an operator on scalars.
fn held_in_params<'p, D: Exec>(
    machine: &Machine<'p, D>,
    op: &Operator<D>,
    elems: &[Atom],
) -> Option<(Copies, Copies)> {
    let (held, fed) = op.lam.params.split_at(elems.len());
    let copy = |from: &Atom, to| {
        let (ty, word) = machine.scalar_place(to)?;
        Some((machine.word_of(*from, ty)?, word))
    };
    let feed = elems.iter().zip(fed).map(|(from, to)| copy(from, *to));
    let results = op.lam.body.result.iter();
    let back = results.zip(held).map(|(from, to)| copy(from, *to));
    Some((feed.collect::<Option<_>>()?, back.collect::<Option<_>>()?))
}
