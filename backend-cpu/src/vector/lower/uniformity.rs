//! Which variables have one value for all lanes: a fixed point over the body, in which the index of the innermost dimension varies, and
//! what is computed from what varies, read at a location that varies or from an array of a lane, or decided by what varies.

use super::{DEEP, Refused};
use midend::ir::id::{FunId, Var};
use midend::ir::mem::Mem;
use midend::ir::syntax::{Atom, Body, Exp, LoopForm, Program, Stm};
use std::collections::HashSet;

/// The most statements that are visited: calls are inlined, and some functions call others several times.
const MOST: usize = 100_000;

/// What varies from lane to lane.
pub(super) struct Uniformity {
    varying: HashSet<Var>,
    /// The buffers that each lane has for itself.
    private: HashSet<Var>,
}

struct Walk<'a> {
    program: &'a Program<Mem>,
    known: Uniformity,
    changed: bool,
    calls: Vec<FunId>,
    /// The statements that have been visited, those of a function at each of its calls.
    visited: usize,
}

impl Uniformity {
    pub(super) fn of(
        program: &Program<Mem>,
        body: &Body<Mem>,
        index: Var,
    ) -> Result<Self, Refused> {
        let known = Self {
            varying: HashSet::from([index]),
            private: HashSet::new(),
        };
        let mut walk = Walk {
            program,
            known,
            changed: true,
            calls: Vec::new(),
            visited: 0,
        };
        while walk.changed {
            walk.changed = false;
            walk.body(body)?;
        }
        Ok(walk.known)
    }

    pub(super) fn is_uniform(&self, var: Var) -> bool {
        !self.varying.contains(&var)
    }

    /// Whether each lane has a buffer for itself.
    pub(super) fn is_private(&self, var: Var) -> bool {
        self.private.contains(&var)
    }

    fn varies(&self, atom: Atom) -> bool {
        atom.as_var().is_some_and(|v| self.varying.contains(&v))
    }
}

impl Walk<'_> {
    fn vary(&mut self, var: Var) {
        self.changed |= self.known.varying.insert(var);
    }

    /// A variable has what an atom has.
    fn flow(&mut self, from: Atom, to: Var) {
        let Some(v) = from.as_var() else {
            return;
        };
        if self.known.varying.contains(&v) {
            self.vary(to);
        }
        if self.known.private.contains(&v) {
            self.changed |= self.known.private.insert(to);
        }
    }

    fn body(&mut self, body: &Body<Mem>) -> Result<(), Refused> {
        body.stms.iter().try_for_each(|stm| self.stm(stm))
    }

    fn stm(&mut self, stm: &Stm<Mem>) -> Result<(), Refused> {
        self.visited += 1;
        if self.visited > MOST {
            return Err(Refused(
                "much code, with that of the functions that it calls".to_owned(),
            ));
        }
        match &stm.exp {
            Exp::Atom(atom) => stm.binds.iter().for_each(|v| self.flow(*atom, *v)),
            Exp::Scalar(_, args) => {
                if args.iter().any(|a| self.known.varies(*a)) {
                    stm.binds.iter().for_each(|v| self.vary(*v));
                }
            }
            Exp::Assert { .. } | Exp::Guard { .. } => {}
            Exp::If {
                cond,
                then,
                otherwise,
            } => {
                self.body(then)?;
                self.body(otherwise)?;
                for (k, v) in stm.binds.iter().enumerate() {
                    self.flow(then.result[k], *v);
                    self.flow(otherwise.result[k], *v);
                    if self.known.varies(*cond) {
                        self.vary(*v);
                    }
                }
            }
            Exp::Loop { params, form, body } => {
                let diverges = match form {
                    LoopForm::For { bound, .. } => self.known.varies(*bound),
                    LoopForm::While(cond) => {
                        self.body(cond)?;
                        cond.result.iter().any(|a| self.known.varies(*a))
                    }
                };
                self.body(body)?;
                for (k, param) in params.iter().enumerate() {
                    self.flow(param.init, param.var);
                    self.flow(body.result[k], param.var);
                    let stays = body.result[k] == Atom::Var(param.var);
                    if diverges && !stays {
                        self.vary(param.var);
                    }
                    self.flow(Atom::Var(param.var), stm.binds[k]);
                }
            }
            Exp::Call { fun, args } => {
                if self.calls.contains(fun) || self.calls.len() >= DEEP {
                    return Err(Refused("a call of a recursive function".to_owned()));
                }
                let program = self.program;
                let definition = &program.funs[*fun];
                for (param, arg) in definition.params.iter().zip(args) {
                    self.flow(*arg, param.var);
                }
                self.calls.push(*fun);
                self.body(&definition.body)?;
                self.calls.pop();
                for (from, to) in definition.body.result.iter().zip(&stm.binds) {
                    self.flow(*from, *to);
                }
            }
            Exp::Op(op) => self.memory(op, &stm.binds)?,
        }
        Ok(())
    }

    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "operations that bind nothing change nothing here"
    )]
    fn memory(&mut self, op: &Mem, binds: &[Var]) -> Result<(), Refused> {
        match op {
            Mem::Alloc { .. } => {
                for v in binds {
                    self.changed |= self.known.private.insert(*v);
                }
            }
            Mem::Load { buffer, index } => {
                let known = &self.known;
                let own = known.private.contains(buffer) || known.varying.contains(buffer);
                if own || known.varies(*index) {
                    binds.iter().for_each(|v| self.vary(*v));
                }
            }
            Mem::Launch(_) | Mem::Trace(_) | Mem::Stream(_) => {
                return Err(Refused("an operation of the host".to_owned()));
            }
            // What is left binds nothing.
            _ => {}
        }
        Ok(())
    }
}
