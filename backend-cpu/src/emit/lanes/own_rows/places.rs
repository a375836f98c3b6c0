//! Where the elements are that points go to.

use super::within::Within;
use midend::analysis::sums::Sums;
use midend::ir::id::Var;
use midend::ir::mem::{Kernel, Mem};
use midend::ir::scalar::{BinOp, CmpOp, ScalarOp};
use midend::ir::syntax::{Atom, Body, Exp, LoopForm, Stm, Vars};
use midend::ir::types::ScalarType;
use midend::ir::walk::{all_stms, body_binders, free_in_stm};
use std::collections::{BTreeMap, BTreeSet};

/// Where a row begins, how far its elements are apart, and how many there are.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Row {
    pub(super) base: Atom,
    pub(super) step: Atom,
    pub(super) len: Atom,
}

/// What indices of a kernel are made of.
pub(super) struct Places<'k> {
    vars: &'k Vars,
    /// What the program computes as another number and a constant.
    sums: &'k Sums,
    /// How scalars are computed.
    scalars: BTreeMap<Var, (ScalarOp, &'k [Atom])>,
    /// What is bound in the kernel, and of that what is bound inside of statements.
    bound: BTreeSet<Var>,
    inner: BTreeSet<Var>,
    /// How many steps loops with counters have.
    counters: BTreeMap<Var, Atom>,
    /// What checks ask for.
    checks: BTreeMap<Var, Atom>,
    /// What differs from point to point of a row, as far as it is bound outside of statements, and what grows by one there.
    varying: BTreeSet<Var>,
    unit: BTreeSet<Var>,
    within: Within,
    /// The first statement of the body that a variable is used in.
    first: BTreeMap<Var, usize>,
}

impl<'k> Places<'k> {
    pub(super) fn of(vars: &'k Vars, kernel: &'k Kernel, sums: &'k Sums) -> Option<Self> {
        let (index, _) = *kernel.space.last()?;
        let mut scalars = BTreeMap::new();
        let (mut counters, mut checks) = (BTreeMap::new(), BTreeMap::new());
        all_stms(&kernel.body, &mut |stm| match (&stm.exp, &stm.binds[..]) {
            (Exp::Scalar(op, args), [bind]) => {
                scalars.insert(*bind, (*op, &args[..]));
            }
            (Exp::Assert { cond, .. }, [bind]) => {
                checks.insert(*bind, *cond);
            }
            (
                Exp::Loop {
                    form: LoopForm::For { index, bound },
                    ..
                },
                _,
            ) => {
                counters.insert(*index, *bound);
            }
            (_, _) => {}
        });
        let mut inner = BTreeSet::new();
        let (mut varying, mut unit) = (BTreeSet::from([index]), BTreeSet::from([index]));
        let mut first = BTreeMap::new();
        for (at, stm) in kernel.body.stms.iter().enumerate() {
            stm.exp.inner_binders(&mut |v| {
                inner.insert(v);
            });
            stm.exp.scopes(&mut |_, body| {
                body_binders(body, &mut |v| {
                    inner.insert(v);
                });
            });
            let among =
                |set: &BTreeSet<Var>, atom: &Atom| atom.as_var().is_some_and(|v| set.contains(&v));
            if let Exp::Scalar(ScalarOp::Bin(op, ScalarType::I64), args) = &stm.exp {
                let ahead = among(&unit, &args[0]) && !among(&varying, &args[1]);
                let behind = among(&unit, &args[1]) && !among(&varying, &args[0]);
                let grows = *op == BinOp::Add && (ahead || behind) || *op == BinOp::Sub && ahead;
                if grows {
                    unit.extend(&stm.binds);
                }
            }
            let free = free_in_stm(vars, stm);
            if free.iter().any(|v| varying.contains(v)) {
                varying.extend(&stm.binds);
            }
            for v in free {
                first.entry(v).or_insert(at);
            }
        }
        let mut bound = BTreeSet::new();
        body_binders(&kernel.body, &mut |v| {
            bound.insert(v);
        });
        Some(Self {
            vars,
            sums,
            scalars,
            bound,
            inner,
            counters,
            checks,
            varying,
            unit,
            within: Within::of(&kernel.body),
            first,
        })
    }

    /// Whether an atom is the same all through a point.
    fn is_fixed(&self, atom: Atom) -> bool {
        !atom.as_var().is_some_and(|v| self.inner.contains(&v))
    }

    /// Whether an atom is the same for all points.
    fn is_outside(&self, atom: Atom) -> bool {
        !atom.as_var().is_some_and(|v| self.bound.contains(&v))
    }

    /// An index of an element of a row as where the row begins, far from the next point's, how far elements are apart, and the number of the element.
    fn split(&self, index: Atom) -> Option<(Atom, Atom, Atom)> {
        let (op, [a, b]) = self.defined(index)? else {
            return None;
        };
        let ScalarOp::Bin(BinOp::Add, ScalarType::I64) = op else {
            return None;
        };
        let (base, rest) = match (self.is_fixed(*a), self.is_fixed(*b)) {
            (true, false) => (*a, *b),
            (false, true) => (*b, *a),
            (_, _) => return None,
        };
        let (step, number) = match self.defined(rest) {
            Some((ScalarOp::Bin(BinOp::Mul, ScalarType::I64), [a, b])) if self.is_outside(*a) => {
                (*a, *b)
            }
            Some((ScalarOp::Bin(BinOp::Mul, ScalarType::I64), [a, b])) if self.is_outside(*b) => {
                (*b, *a)
            }
            Some(_) | None => (Atom::ONE, rest),
        };
        self.is_far(base).then_some((base, step, number))
    }

    /// Whether a place is one for each point, and that of the next not beside it.
    fn is_far(&self, base: Atom) -> bool {
        base.as_var()
            .is_some_and(|v| self.varying.contains(&v) && !self.unit.contains(&v))
    }

    /// The number of the element of a row that an index is.
    pub(super) fn number(&self, index: Atom, row: &Row) -> Option<Atom> {
        let (base, step, number) = self.split(index)?;
        ((base, step) == (row.base, row.step)).then_some(number)
    }

    fn defined(&self, atom: Atom) -> Option<(ScalarOp, &'k [Atom])> {
        self.scalars.get(&atom.as_var()?).copied()
    }

    /// A loop of as many steps for all points in which nothing fails: its counter, their number, and what it does in each.
    fn steady<'s>(&self, stm: &'s Stm<Mem>) -> Option<(Var, Atom, &'s Body<Mem>)> {
        let Exp::Loop {
            form: LoopForm::For { index, bound },
            body,
            ..
        } = &stm.exp
        else {
            return None;
        };
        let mut fails = false;
        all_stms(body, &mut |stm| {
            let checked = stm.certs.iter().any(|v| self.inner.contains(v));
            fails |= checked || matches!(stm.exp, Exp::Assert { .. });
        });
        let in_i64 = self.vars[*index].ty.elem() == Some(ScalarType::I64);
        (!fails && in_i64 && self.is_outside(*bound)).then_some((*index, *bound, body))
    }

    /// Whether the number of an element is known to be one of so many, maybe by checks.
    fn is_within(&self, number: Atom, len: Atom, certs: &[Var]) -> bool {
        let checked = certs.iter().filter_map(|cert| self.checks.get(cert));
        let [mut low, mut high] = [false; 2];
        for check in checked {
            self.conjuncts(*check, &mut |op, args| {
                low |= op == CmpOp::Le && args == [Atom::ZERO, number];
                high |= op == CmpOp::Lt && args == [number, len];
            });
        }
        low && high || self.is_step(number, len) || self.is_ahead(number, len)
    }

    /// Whether a number is that of the step of a loop and a constant, and all of these are less than `len`.
    fn is_ahead(&self, number: Atom, len: Atom) -> bool {
        let (Some(counter), ahead) = self.sums.parts(number) else {
            return false;
        };
        let steps = self.counters.get(&counter);
        ahead >= 0 && steps.is_some_and(|steps| self.is_up_to(*steps, ahead, len))
    }

    /// Whether so many more than a number are known to be no more than `len`.
    fn is_up_to(&self, number: Atom, more: i64, len: Atom) -> bool {
        let ((of, some), (all, len)) = (self.sums.parts(number), self.sums.parts(len));
        let end = some.checked_add(more);
        of == all && end.is_some_and(|end| end <= len)
    }

    /// Calls `f` on the comparisons of numbers that all hold where a truth value does.
    fn conjuncts(&self, truth: Atom, f: &mut dyn FnMut(CmpOp, &[Atom])) {
        match self.defined(truth) {
            Some((ScalarOp::Bin(BinOp::And, ScalarType::Bool), args)) => {
                args.iter().for_each(|atom| self.conjuncts(*atom, f));
            }
            Some((ScalarOp::Cmp(op, ScalarType::I64), args)) => f(op, args),
            Some(_) | None => {}
        }
    }

    /// Whether a number is that of the step of a loop of so many steps, or of fewer.
    pub(super) fn is_step(&self, number: Atom, len: Atom) -> bool {
        let steps = number.as_var().and_then(|v| self.counters.get(&v));
        steps.is_some_and(|steps| match (steps.as_i64(), len.as_i64()) {
            (Some(steps), Some(len)) => steps <= len,
            (_, _) => *steps == len,
        })
    }

    /// The same where an element is loaded, as far as the branch at hand tells, too.
    pub(super) fn is_inside(&self, loaded: &[Var], number: Atom, len: Atom) -> bool {
        let (of, ahead) = self.sums.parts(number);
        let of = of.filter(|_| ahead >= 0);
        self.is_step(number, len)
            || loaded.iter().any(|v| {
                let mut below = self.within.below(*v, number);
                let mut behind = of
                    .into_iter()
                    .flat_map(|of| self.within.below(*v, of.into()));
                below.any(|bound| bound == len)
                    || behind.any(|bound| self.is_up_to(bound, ahead, len))
            })
    }

    /// The row of a buffer that each point goes to: all of it is written by the statement of this number, the first one.
    pub(super) fn written_row(&self, body: &Body<Mem>, buffer: Var) -> Option<(usize, Row)> {
        let at = *self.first.get(&buffer)?;
        let row = self
            .copied_row(&body.stms[at], buffer)
            .or_else(|| self.looped_row(&body.stms[at], buffer))?;
        // Nothing goes there in another way.
        let mut only = true;
        all_stms(body, &mut |stm| {
            let mut mentions = false;
            stm.exp
                .operands(&mut |atom| mentions |= atom == buffer.into());
            only &= match &stm.exp {
                Exp::Op(Mem::Load { buffer: b, index }) if *b == buffer => {
                    self.number(*index, &row).is_some()
                }
                Exp::Op(Mem::Store {
                    buffer: b, index, ..
                }) if *b == buffer => {
                    let number = self.number(*index, &row);
                    number.is_some_and(|number| self.is_within(number, row.len, &stm.certs))
                }
                Exp::Op(Mem::Copy { .. }) => !mentions || std::ptr::eq(stm, &body.stms[at]),
                Exp::Atom(_)
                | Exp::Scalar(..)
                | Exp::Assert { .. }
                | Exp::Guard { .. }
                | Exp::If { .. }
                | Exp::Loop { .. }
                | Exp::Call { .. }
                | Exp::Op(_) => !mentions,
            };
        });
        only.then_some((at, row))
    }

    /// The row that a copy writes.
    fn copied_row(&self, stm: &Stm<Mem>, buffer: Var) -> Option<Row> {
        let Exp::Op(Mem::Copy { shape, dst, src }) = &stm.exp else {
            return None;
        };
        let (&[len], &[step]) = (&shape[..], &dst.strides[..]) else {
            return None;
        };
        let there = dst.buffer == buffer && src.buffer != buffer;
        let known = self.is_outside(len) && self.is_outside(step) && self.is_far(dst.offset);
        (there && known).then_some(Row {
            base: dst.offset,
            step,
            len,
        })
    }

    /// The row that a loop writes, an element in each step, of which it reads no element before.
    fn looped_row(&self, stm: &Stm<Mem>, buffer: Var) -> Option<Row> {
        let (counter, len, inside) = self.steady(stm)?;
        let (at, index) = inside.stms.iter().enumerate().find_map(|(at, stm)| {
            let Exp::Op(Mem::Store {
                buffer: b, index, ..
            }) = &stm.exp
            else {
                return None;
            };
            (*b == buffer).then_some((at, *index))
        })?;
        let (base, step, number) = self.split(index)?;
        let row = Row { base, step, len };
        let mut written = true;
        for (k, stm) in inside.stms.iter().enumerate() {
            let one = std::slice::from_ref(stm);
            stms_in(one, &mut |stm| {
                if let Exp::Op(Mem::Load { buffer: b, index }) = &stm.exp
                    && *b == buffer
                {
                    let number = self.number(*index, &row);
                    written &= number.is_some_and(|number| {
                        k > at && number == counter.into() || self.is_before(number, counter)
                    });
                }
            });
        }
        (number == counter.into() && written).then_some(row)
    }

    /// Whether a number is that of a step before the one at hand.
    fn is_before(&self, number: Atom, counter: Var) -> bool {
        let sub = ScalarOp::Bin(BinOp::Sub, ScalarType::I64);
        self.defined(number).is_some_and(|(op, args)| {
            op == sub && args[0] == counter.into() && args[1].as_i64().is_some_and(|k| k > 0)
        })
    }

    /// The rows that a loop goes through, reading all of their elements.
    pub(super) fn read_rows(&self, stm: &Stm<Mem>) -> Vec<(Var, Row)> {
        let Some((counter, len, inside)) = self.steady(stm) else {
            return Vec::new();
        };
        let rows = inside.stms.iter().filter_map(|stm| {
            let Exp::Op(Mem::Load { buffer, index }) = &stm.exp else {
                return None;
            };
            let (base, step, number) = self.split(*index)?;
            let from_outside = !self.bound.contains(buffer);
            let whole = from_outside && number == counter.into();
            whole.then_some((*buffer, Row { base, step, len }))
        });
        rows.collect()
    }
}

/// Calls `f` on statements and on those inside of them.
fn stms_in(stms: &[Stm<Mem>], f: &mut dyn FnMut(&Stm<Mem>)) {
    for stm in stms {
        f(stm);
        stm.exp.scopes(&mut |_, inner| stms_in(&inner.stms, f));
    }
}
