//! Statements, control flow and calls.

use super::{Elements, Eval, Item, Num};
use crate::interp::message;
use crate::interp::value::{Run, internal};
use crate::ir::id::{FunId, Var};
use crate::ir::scalar::Const;
use crate::ir::soac::Soac;
use crate::ir::syntax::{Atom, Body, Exp, LoopForm, LoopParam, Stm, TrapKind};
use crate::ir::types::Size;
use crate::ir::walk;
use crate::trap::TOO_DEEP;
use std::rc::Rc;

impl<'p> Eval<'_, 'p> {
    pub(super) fn atom(&self, atom: Atom) -> Run<Item> {
        match atom {
            Atom::Const(c) => Ok(Item::Num(Num::Const(c))),
            Atom::Var(v) => match self.env.get(&v) {
                Some(item) => Ok(item.clone()),
                None => internal(format!("{v:?} is used in a derivative before it is bound")),
            },
        }
    }

    pub(super) fn atoms(&self, atoms: &[Atom]) -> Run<Vec<Item>> {
        atoms.iter().map(|a| self.atom(*a)).collect()
    }

    pub(super) fn num(&self, atom: Atom) -> Run<Num> {
        match self.atom(atom)? {
            Item::Num(num) => Ok(num),
            Item::Array(_) | Item::Cert => internal("a scalar is needed in a derivative"),
        }
    }

    pub(super) fn int(&self, atom: Atom) -> Run<i64> {
        match self.num(atom)?.constant().as_i64() {
            Some(n) => Ok(n),
            None => internal("an i64 is needed in a derivative"),
        }
    }

    pub(super) fn size(&self, size: Size) -> Run<i64> {
        self.int(size.into())
    }

    fn truth(&self, atom: Atom) -> Run<bool> {
        match self.num(atom)?.constant().as_bool() {
            Some(b) => Ok(b),
            None => internal("a bool is needed in a derivative"),
        }
    }

    pub(super) fn array(&self, v: Var) -> Run<Rc<Elements>> {
        match self.env.get(&v) {
            Some(Item::Array(array)) => Ok(Rc::clone(array)),
            Some(Item::Num(_) | Item::Cert) | None => {
                internal(format!("{v:?} is no array in a derivative"))
            }
        }
    }

    /// An array that is consumed.
    pub(super) fn taken(&mut self, v: Var) -> Run<Rc<Elements>> {
        match self.env.remove(&v) {
            Some(Item::Array(array)) => Ok(array),
            Some(Item::Num(_) | Item::Cert) | None => {
                internal(format!("{v:?} is no array in a derivative"))
            }
        }
    }

    pub(super) fn bind(&mut self, binds: &[Var], items: Vec<Item>) -> Run<()> {
        if binds.len() != items.len() {
            return internal("a statement of a derivative has a wrong number of results");
        }
        self.env.extend(binds.iter().copied().zip(items));
        Ok(())
    }

    /// The results of a body.
    pub(super) fn body(&mut self, body: &'p Body<Soac>) -> Run<Vec<Item>> {
        self.machine.tick(body.stms.len() as u32 + 1)?;
        for stm in &body.stms {
            self.stm(stm)
                .map_err(|e| self.machine.locate(e, stm.span))?;
        }
        self.atoms(&body.result)
    }

    /// The results of a body that is done. What it has bound is let go, so that its results are not held twice.
    pub(super) fn finished(&mut self, body: &'p Body<Soac>) -> Run<Vec<Item>> {
        let results = self.body(body)?;
        for v in body.stms.iter().flat_map(|stm| &stm.binds) {
            self.env.remove(v);
        }
        Ok(results)
    }

    fn stm(&mut self, stm: &'p Stm<Soac>) -> Run<()> {
        let results = match &stm.exp {
            Exp::Atom(a) => vec![self.atom(*a)?],
            Exp::Scalar(op, args) => {
                let args = args.iter().map(|a| self.num(*a));
                let args = args.collect::<Run<Vec<Num>>>()?;
                vec![Item::Num(self.scalar(*op, &args)?)]
            }
            Exp::Assert { cond, message } => {
                if !self.truth(*cond)? {
                    let value = |a| self.num(a).map(|num| num.constant());
                    let text = message::text(message, value)?;
                    return Err(self.machine.trap(message.kind, text, stm.span));
                }
                vec![Item::Cert]
            }
            Exp::Guard { .. } => vec![Item::Num(Num::Const(Const::Bool(true)))],
            Exp::If {
                cond,
                then,
                otherwise,
            } => {
                let body = if self.truth(*cond)? { then } else { otherwise };
                walk::deep(|| self.body(body))?
            }
            Exp::Loop { params, form, body } => walk::deep(|| self.looping(params, form, body))?,
            Exp::Call { fun, args } => {
                let args = self.atoms(args)?;
                let results = walk::deep(|| match self.machine.program.funs[*fun].derivative {
                    Some(_) => self.derivative(*fun, args),
                    None => self.call(*fun, args),
                });
                results.map_err(|e| self.machine.called_from(e, stm.span))?
            }
            Exp::Op(op) => return walk::deep(|| self.op(op, stm)),
        };
        self.bind(&stm.binds, results)
    }

    fn looping(
        &mut self,
        params: &'p [LoopParam],
        form: &'p LoopForm<Soac>,
        body: &'p Body<Soac>,
    ) -> Run<Vec<Item>> {
        let inits: Vec<Atom> = params.iter().map(|p| p.init).collect();
        let mut values = self.atoms(&inits)?;
        let vars: Vec<Var> = params.iter().map(|p| p.var).collect();
        let mut step = 0;
        let bound = match form {
            LoopForm::For { bound, .. } => self.num(*bound)?.constant().as_int(),
            LoopForm::While(_) => None,
        };
        loop {
            self.bind(&vars, values)?;
            match form {
                LoopForm::For { index, bound: max } => {
                    if bound.is_none_or(|bound| step >= bound) {
                        break;
                    }
                    let ty = self.num(*max)?.constant().ty();
                    let at = Const::int(ty, step).unwrap_or(Const::zero(ty));
                    self.env.insert(*index, Item::Num(Num::Const(at)));
                }
                LoopForm::While(cond) => {
                    self.machine.tick(cond.stms.len() as u32 + 1)?;
                    for stm in &cond.stms {
                        self.stm(stm)
                            .map_err(|e| self.machine.locate(e, stm.span))?;
                    }
                    let Some(&goes_on) = cond.result.first() else {
                        return internal("a loop without a condition");
                    };
                    if !self.truth(goes_on)? {
                        break;
                    }
                }
            }
            step += 1;
            values = self.finished(body)?;
        }
        vars.iter().map(|v| self.atom(Atom::Var(*v))).collect()
    }

    /// Calls a function that is no derivative.
    pub(super) fn call(&mut self, id: FunId, args: Vec<Item>) -> Run<Vec<Item>> {
        let fun = &self.machine.program.funs[id];
        if self.depth >= self.machine.options.depth {
            let text = TOO_DEEP.to_owned();
            return Err(self.machine.trap(TrapKind::Recursion, text, fun.span));
        }
        self.depth += 1;
        let params = fun.params.iter().map(|p| p.var);
        let inner = params.zip(args).collect();
        let outer = std::mem::replace(&mut self.env, inner);
        let results = walk::deep(|| self.body(&fun.body));
        self.env = outer;
        self.depth -= 1;
        results
    }
}
