//! Leaves out what does not live.

use super::Needs;
use super::mark::Live;
use crate::fired::fired;
use crate::ir::id::{FunId, Id, IdVec, Var};
use crate::ir::syntax::{Body, Exp, Fun, Program, Stm};
use crate::ir::walk::deep;

/// The program without what does not live.
pub(super) fn sweep<D: Needs>(program: Program<D>, live: &Live) -> Program<D> {
    let Program { vars, funs, spans } = program;
    let mut renumbered = Vec::new();
    let mut next = 0;
    for (id, _) in funs.enumerate() {
        renumbered.push(FunId::new(next));
        next += usize::from(live.funs[id.index()]);
    }
    let signatures = funs.iter().map(|fun| Signature {
        params: fun
            .params
            .iter()
            .map(|p| live.vars[p.var.index()])
            .collect(),
        results: fun
            .results
            .iter()
            .map(|p| live.vars[p.var.index()])
            .collect(),
    });
    let signatures: Vec<Signature> = signatures.collect();
    let mut sweeper = Sweeper {
        live,
        signatures: &signatures,
        renumbered: &renumbered,
        number: 0,
    };
    let mut kept = IdVec::new();
    let mut old = funs;
    for (i, fun) in old.iter_mut().enumerate() {
        let mut fun = take(fun);
        sweeper.body(&mut fun.body);
        if live.funs[i] {
            retain(&mut fun.params, &signatures[i].params);
            retain(&mut fun.results, &signatures[i].results);
            retain(&mut fun.body.result, &signatures[i].results);
            kept.push(fun);
        } else {
            fired("dead-code/function");
        }
    }
    Program {
        vars,
        funs: kept,
        spans,
    }
}

fn take<D>(fun: &mut Fun<D>) -> Fun<D> {
    let empty = Fun {
        name: String::new(),
        entry: None,
        params: Vec::new(),
        results: Vec::new(),
        body: Body {
            stms: Vec::new(),
            result: Vec::new(),
        },
        inline: fun.inline,
        derivative: None,
        span: fun.span,
    };
    std::mem::replace(fun, empty)
}

/// Which parameters and results of a function stay.
struct Signature {
    params: Vec<bool>,
    results: Vec<bool>,
}

struct Sweeper<'l> {
    live: &'l Live,
    signatures: &'l [Signature],
    renumbered: &'l [FunId],
    /// The number of the next statement.
    number: usize,
}

impl Sweeper<'_> {
    fn body<D: Needs>(&mut self, body: &mut Body<D>) {
        body.stms.retain_mut(|stm| {
            let number = self.number;
            if !self.live.stms[number] {
                fired("dead-code/statement");
                self.number = self.live.ends[number];
                return false;
            }
            self.number += 1;
            deep(|| self.stm(stm));
            true
        });
    }

    fn stm<D: Needs>(&mut self, stm: &mut Stm<D>) {
        // Bodies come first, also those that go: statements are numbered as they stood.
        stm.exp.bodies_mut(&mut |body| self.body(body));
        let live = |v: Var| self.live.vars[v.index()];
        let kept: Vec<bool> = stm.binds.iter().map(|v| live(*v)).collect();
        let bound = stm.binds.len();
        match &mut stm.exp {
            Exp::Atom(_) | Exp::Scalar(..) | Exp::Assert { .. } | Exp::Guard { .. } => {}
            Exp::If {
                cond: _,
                then,
                otherwise,
            } => {
                retain(&mut stm.binds, &kept);
                retain(&mut then.result, &kept);
                retain(&mut otherwise.result, &kept);
                told(bound, stm.binds.len(), "dead-code/result-of-if");
            }
            Exp::Loop {
                params,
                form: _,
                body,
            } => {
                let kept: Vec<bool> = params.iter().map(|p| live(p.var)).collect();
                retain(&mut stm.binds, &kept);
                retain(params, &kept);
                retain(&mut body.result, &kept);
                told(bound, stm.binds.len(), "dead-code/loop-parameter");
            }
            Exp::Call { fun, args } => {
                let signature = &self.signatures[fun.index()];
                told(
                    1,
                    usize::from(signature.params.iter().all(|p| *p)),
                    "dead-code/argument",
                );
                retain(args, &signature.params);
                retain(&mut stm.binds, &signature.results);
                told(bound, stm.binds.len(), "dead-code/result-of-call");
                *fun = self.renumbered[fun.index()];
            }
            Exp::Op(op) => {
                op.prune(&mut stm.binds, &live);
                told(bound, stm.binds.len(), "dead-code/result-of-operator");
            }
        }
    }
}

/// Counts a rule if it has left something out.
fn told(before: usize, after: usize, rule: &'static str) {
    if after < before {
        fired(rule);
    }
}

/// Keeps the items whose flag is set.
fn retain<T>(items: &mut Vec<T>, kept: &[bool]) {
    let mut flags = kept.iter();
    items.retain(|_| flags.next() != Some(&false));
}
