//! Executing code.

use super::{Assign, Code, Element, Inst, Word};
use crate::interp::machine::{Exec, Machine};
use crate::interp::message;
use crate::interp::scalar;
use crate::interp::strided;
use crate::interp::value::{Array, Run, Val, internal};
use crate::ir::id::Var;
use crate::ir::scalar::{Const, ScalarOp};
use crate::ir::syntax::{Atom, Stm};
use crate::ir::threshold::reaches;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::rc::Rc;

/// What guards compare with unless something else is asked for: both versions of most programs get their turn.
const GUARD: i64 = 4;

impl<'p, D: Exec> Machine<'p, D> {
    /// Executes code of the function at hand.
    pub(crate) fn execute(&mut self, code: &Code<'p, D>) -> Run<()> {
        let mut at = 0;
        while let Some(inst) = code.insts.get(at) {
            at += 1;
            match inst {
                Inst::Tick(n) => self.tick(*n)?,
                Inst::Guard {
                    threshold,
                    measure,
                    to,
                } => {
                    let number = self
                        .options
                        .thresholds
                        .map_or(GUARD, |forced| forced.number(threshold, GUARD));
                    let reached = reaches(self.word(*measure) as i64, number);
                    self.put(*to, u64::from(reached));
                }
                Inst::Unary { f, a, to } => self.put(*to, (f.one)(self.word(*a))),
                Inst::Binary { f, a, b, to } => {
                    self.put(*to, (f.one)(self.word(*a), self.word(*b)));
                }
                Inst::Copy { a, to } => self.put(*to, self.word(*a)),
                Inst::Select { cond, a, b, to } => {
                    let chosen = if self.word(*cond) != 0 { a } else { b };
                    self.put(*to, self.word(*chosen));
                }
                Inst::Partial { f, op, a, b, to } => match f(self.word(*a), self.word(*b)) {
                    Some(value) => self.put(*to, value),
                    None => self.defined(*op, &[*a, *b], *to)?,
                },
                Inst::Defined { op, args, to } => self.defined(*op, args, *to)?,
                Inst::CopyAll(copies) => self.copy_all(copies),
                Inst::Assign(assigns, stm) => {
                    self.assign(assigns).map_err(|e| self.locate(e, stm.span))?
                }
                Inst::Element { array, to, stm } => {
                    let value = self.element(array).map_err(|e| self.locate(e, stm.span))?;
                    self.put(*to, value);
                }
                Inst::Replace {
                    array,
                    value,
                    to,
                    stm,
                } => self
                    .replace(array, *value, *to)
                    .map_err(|e| self.locate(e, stm.span))?,
                Inst::Assert { cond, message, stm } => {
                    if self.word(*cond) == 0 {
                        let text = message::text(message, |a| self.scalar(a))?;
                        return Err(self.trap(message.kind, text, stm.span));
                    }
                }
                Inst::Jump(to) => at = *to as usize,
                Inst::Unless { cond, to } => {
                    if self.word(*cond) == 0 {
                        at = *to as usize;
                    }
                }
                Inst::Start {
                    index,
                    bound,
                    sign,
                    to,
                } => {
                    let bound = self.word(*bound);
                    self.put(*index, 0);
                    if bound == 0 || bound & sign != 0 {
                        at = *to as usize;
                    }
                }
                Inst::Next { index, bound, to } => {
                    let next = self.word(*index) + 1;
                    if next < self.word(*bound) {
                        self.put(*index, next);
                        at = *to as usize;
                    }
                }
                Inst::Call { fun, args, stm } => self.call_stm(*fun, args, stm)?,
                Inst::Op(op, stm) => {
                    self.points_in(stm, op);
                    D::exec(self, op, stm).map_err(|e| self.locate(e, stm.span))?;
                    self.points_out();
                }
                Inst::Watch(what, vars) => self.watched(*what, vars)?,
                Inst::Wrong(stm, why) => {
                    return internal(&**why).map_err(|e| self.locate(e, stm.span));
                }
            }
        }
        Ok(())
    }

    fn defined(&mut self, op: ScalarOp, args: &[Word], to: Word) -> Run<()> {
        let mut values = [Const::Bool(false); 3];
        for (i, value) in values.iter_mut().enumerate().take(op.arity()) {
            *value = Const::from_word(op.operand(i), self.word(args[i]));
        }
        match scalar::eval(op, &values[..op.arity()]) {
            Ok(value) => {
                self.put(to, value.word());
                Ok(())
            }
            Err(trap) => internal(format!("{op}: {trap}, and no check before it")),
        }
    }

    /// Copies words, all at once.
    pub(crate) fn copy_all(&mut self, copies: &[(Word, Word)]) {
        if let [(from, to)] = copies {
            self.put(*to, self.word(*from));
            return;
        }
        let mut words = std::mem::take(&mut self.scratch);
        words.clear();
        words.extend(copies.iter().map(|(from, _)| self.word(*from)));
        for ((_, to), word) in copies.iter().zip(&words) {
            self.put(*to, *word);
        }
        self.scratch = words;
    }

    fn assign(&mut self, assigns: &[Assign]) -> Run<()> {
        if let [one] = assigns {
            let value = self.take(one)?;
            return self.set(one.to, value);
        }
        let values = assigns.iter().map(|assign| self.take(assign));
        let values = values.collect::<Run<Vec<Val>>>()?;
        for (assign, value) in assigns.iter().zip(values) {
            self.set(assign.to, value)?;
        }
        Ok(())
    }

    fn take(&mut self, assign: &Assign) -> Run<Val> {
        let value = self.atom(Atom::Var(assign.from))?;
        if assign.moves {
            self.unset(assign.from);
        }
        Ok(value)
    }

    /// The array and the place of an element in its buffer.
    fn find(&self, element: &Element) -> Run<(&Rc<Array>, usize)> {
        let Some(Val::Array(array)) = self.frame.vals.get(element.val as usize) else {
            // This says what is the matter.
            self.array(element.var)?;
            return internal("an array that is no array");
        };
        self.check_version(element.var, array)?;
        let rank = usize::from(element.rank);
        if array.rank() != rank {
            return internal("an array is indexed with a wrong number of indices");
        }
        let mut offset = array.offset;
        for (dim, &index) in array.dims.iter().zip(&element.indices) {
            let i = self.word(index) as i64;
            if i < 0 || i >= dim.extent {
                return internal(format!(
                    "index {i} is outside of {} rows, and no check before it",
                    dim.extent
                ));
            }
            offset += i * dim.stride;
        }
        Ok((array, offset as usize))
    }

    fn element(&self, element: &Element) -> Run<u64> {
        let (array, at) = self.find(element)?;
        Ok(strided::word(&array.buf.data.borrow(), at))
    }

    fn replace(&mut self, element: &Element, value: Word, to: Var) -> Run<()> {
        if self.find(element)?.0.repeats {
            let array = self.array(element.var)?;
            let copy = self.taken(&array)?;
            self.frame.vals[element.val as usize] = Val::Array(Rc::new(copy));
        }
        let (array, at) = self.find(element)?;
        strided::set_word(&mut array.buf.data.borrow_mut(), at, self.word(value));
        let version = array.buf.version.get().wrapping_add(1);
        array.buf.version.set(version);
        let old = &mut self.frame.vals[element.val as usize];
        let Val::Array(mut array) = std::mem::replace(old, Val::Gone) else {
            return internal(format!("{:?} is not bound to an array", element.var));
        };
        match Rc::get_mut(&mut array) {
            Some(array) => array.version = version,
            None => {
                array = Rc::new(Array {
                    version,
                    ..(*array).clone()
                });
            }
        }
        self.set(to, Val::Array(array))
    }

    fn call_stm(
        &mut self,
        fun: crate::ir::id::FunId,
        args: &'p [Atom],
        stm: &'p Stm<D>,
    ) -> Run<()> {
        // The first variable tells one call from another; calls that bind none go by what they are given.
        let name = stm
            .binds
            .first()
            .map_or_else(|| hashed(args), |v| v.0.into());
        let args = self.atoms(args)?;
        self.path_in(name);
        let results = self
            .call(fun, args)
            .map_err(|e| self.called_from(e, stm.span))?;
        self.path_out();
        self.bind(stm, results)
    }
}

/// A number that stands for arguments.
fn hashed(args: &[Atom]) -> i64 {
    let mut hasher = DefaultHasher::new();
    args.hash(&mut hasher);
    hasher.finish().cast_signed()
}
