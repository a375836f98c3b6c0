//! Vertical fusion: a map whose results an operator traverses becomes part of that operator.
//!
//! ```text
//! let ys = map n (xs) \(x) { let y = mul.i32(x, x); yield y }
//! let s = map n (ys) \(z) { yield z } reduce (0) \(a, b) { .. }
//! ──►
//! let s = map n (xs) \(x) { let y = mul.i32(x, x); yield y } reduce (0) \(a, b) { .. }
//! ```
//!
//! Results of the map that are also read elsewhere stay results of the fused operator. No work is done twice: the
//! operator applies its lambda once to each element. A map of very many results is left alone. A map is not moved past a statement that consumes what the map reads, nor into an
//! operator that does. In host code, a map over rows that would take the second dimension of a perfectly nested pair of maps away
//! stays alone.

mod legal;
mod uses;

use crate::analysis::aliases::Aliases;
use crate::ir::id::{FunId, IdVec, Var};
use crate::ir::rename::{Subst, substitute};
use crate::ir::scalar::Const;
use crate::ir::soac::Soac;
use crate::ir::span::Spans;
use crate::ir::syntax::{Atom, Body, Exp, Fun, Lambda, Program, Stm, Vars};
use crate::ir::walk::deep;
use crate::pass::Pass;
use uses::Uses;

/// The pass.
pub const fn pass() -> Pass<Soac> {
    Pass {
        name: "fuse",
        summary: "maps become part of the operators that traverse their results",
        run: |program, _| run(program),
    }
}

fn run(mut program: Program<Soac>) -> Program<Soac> {
    for id in program.funs.ids().collect::<Vec<_>>() {
        let empty = Body {
            stms: Vec::new(),
            result: Vec::new(),
        };
        let mut body = std::mem::replace(&mut program.funs[id].body, empty);
        let mut fuse = Fuse {
            aliases: Aliases::of(&body),
            vars: &mut program.vars,
            funs: &program.funs,
        };
        fuse.body(&mut body, true);
        program.funs[id].body = body;
    }
    program
}

struct Fuse<'p> {
    vars: &'p mut Vars,
    funs: &'p IdVec<FunId, Fun<Soac>>,
    aliases: Aliases,
}

/// The parts of an operator that traverses arrays.
struct Traversal<'a> {
    arrays: &'a mut Vec<Var>,
    lam: &'a mut Lambda<Soac>,
}

/// The traversal that an expression is, for editing.
fn traversal(exp: &mut Exp<Soac>) -> Option<Traversal<'_>> {
    match exp {
        Exp::Op(
            Soac::Screma { arrays, lam, .. }
            | Soac::Hist { arrays, lam, .. }
            | Soac::Scatter { arrays, lam, .. }
            | Soac::Filter { arrays, lam, .. }
            | Soac::WithAcc { arrays, lam, .. },
        ) => Some(Traversal { arrays, lam }),
        Exp::Atom(_)
        | Exp::Scalar(..)
        | Exp::Assert { .. }
        | Exp::Guard { .. }
        | Exp::If { .. }
        | Exp::Loop { .. }
        | Exp::Call { .. }
        | Exp::Op(Soac::Array(_) | Soac::UpdateAcc(_)) => None,
    }
}

impl Fuse<'_> {
    /// Fuses the statements of a body, then those of the bodies in it, where fusion has brought more together.
    fn body(&mut self, body: &mut Body<Soac>, host: bool) {
        let operators = body.stms.iter_mut();
        let operators = operators.filter_map(|stm| traversal(&mut stm.exp)).count();
        if operators > 1 {
            self.statements(body, host);
        }
        for stm in &mut body.stms {
            let inside = host && traversal(&mut stm.exp).is_none();
            stm.exp
                .bodies_mut(&mut |inner| deep(|| self.body(inner, inside)));
        }
    }

    fn statements(&mut self, body: &mut Body<Soac>, host: bool) {
        let mut uses = Uses::of(body, self.vars, self.funs);
        for at in 0..body.stms.len() {
            while let Some((from, kept)) = self.producer(body, &uses, at, host) {
                // Nothing is left in its place until the body is done, so that statements keep their numbers.
                let producer = std::mem::replace(&mut body.stms[from], nothing());
                uses.moved(&producer, (from, at), &kept);
                self.merge(producer, &kept, &mut body.stms[at]);
            }
        }
        body.stms.retain(|stm| !is_nothing(stm));
    }

    /// Makes a map part of the operator that reads it. The results `kept` stay results.
    fn merge(&mut self, producer: Stm<Soac>, kept: &[Var], stm: &mut Stm<Soac>) {
        let (
            Exp::Op(Soac::Screma {
                arrays: inputs,
                lam: map,
                ..
            }),
            Some(consumer),
        ) = (producer.exp, traversal(&mut stm.exp))
        else {
            return;
        };
        let mut subst = Subst::new();
        let mut arrays = inputs;
        let mut params = map.params;
        let mut stms = map.body.stms;
        for (&array, &param) in consumer.arrays.iter().zip(&consumer.lam.params) {
            let result = producer.binds.iter().position(|&b| b == array);
            let read = arrays.iter().position(|&a| a == array);
            match (result, read) {
                (Some(k), _) => subst.insert(param, map.body.result[k]),
                (None, Some(k)) => subst.insert(param, params[k]),
                (None, None) => {
                    arrays.push(array);
                    params.push(param);
                }
            }
        }
        let mut rest = std::mem::replace(
            &mut consumer.lam.body,
            Body {
                stms: Vec::new(),
                result: Vec::new(),
            },
        );
        substitute(self.vars, &subst, &mut rest);
        stms.append(&mut rest.stms);
        let mut result = rest.result;
        for var in kept {
            let k = producer.binds.iter().position(|b| b == var);
            result.extend(k.map(|k| map.body.result[k]));
        }
        *consumer.arrays = arrays;
        *consumer.lam = Lambda {
            params,
            body: Body { stms, result },
        };
        stm.binds.extend_from_slice(kept);
        for cert in producer.certs {
            if !stm.certs.contains(&cert) {
                stm.certs.push(cert);
            }
        }
    }
}

/// What stands where a statement has been.
const fn nothing() -> Stm<Soac> {
    Stm {
        binds: Vec::new(),
        certs: Vec::new(),
        exp: Exp::Atom(Atom::Const(Const::Bool(false))),
        span: Spans::NONE,
    }
}

fn is_nothing(stm: &Stm<Soac>) -> bool {
    stm.binds.is_empty() && matches!(stm.exp, Exp::Atom(_))
}

/// Whether an atom is a variable among others.
fn is_among(atom: Atom, vars: &[Var]) -> bool {
    atom.as_var().is_some_and(|v| vars.contains(&v))
}
