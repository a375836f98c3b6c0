//! Conditionals, loops and calls: tangents are further results, parameters and arguments.

use super::Derive;
use crate::ir::id::{FunId, Var};
use crate::ir::soac::Soac;
use crate::ir::syntax::{Atom, Body, Exp, LoopForm, LoopParam};

impl Derive<'_> {
    /// A result has a tangent if it has one in either branch.
    pub(super) fn conditional(
        &mut self,
        mut binds: Vec<Var>,
        cond: Atom,
        then: Body<Soac>,
        otherwise: Body<Soac>,
    ) {
        let mut branches = Vec::new();
        for body in [then, otherwise] {
            branches.push(self.nested(|t| t.body(body)));
        }
        let active: Vec<bool> = (0..binds.len())
            .map(|i| {
                branches
                    .iter()
                    .any(|((_, tangents), _)| tangents[i].is_some())
            })
            .collect();
        let mut bodies = Vec::new();
        for ((mut result, tangents), mut stms) in branches {
            let (more, zeros) = self.nested(|t| {
                let mut more = Vec::new();
                for (i, tangent) in tangents.into_iter().enumerate() {
                    if active[i] {
                        more.push(tangent.unwrap_or_else(|| t.tangent_or_zero(result[i])));
                    }
                }
                more
            });
            result.extend(more);
            stms.extend(zeros);
            bodies.push(Body { stms, result });
        }
        let values = binds.clone();
        for (i, v) in values.iter().enumerate() {
            if active[i] {
                let tangent = self.new_tangent(*v);
                self.with_accumulator_of(tangent, bodies[0].result[binds.len()]);
                binds.push(tangent);
            }
        }
        if let (Some(otherwise), Some(then)) = (bodies.pop(), bodies.pop()) {
            self.push(
                binds,
                Exp::If {
                    cond,
                    then,
                    otherwise,
                },
            );
        }
    }

    /// Every float of the loop has a tangent.
    pub(super) fn looping(
        &mut self,
        mut binds: Vec<Var>,
        mut params: Vec<LoopParam>,
        form: LoopForm<Soac>,
        body: Body<Soac>,
    ) {
        let (mut active, mut inits) = (Vec::new(), Vec::new());
        for param in params.clone() {
            let is_acc = self.vars[param.var].ty.is_acc();
            let has = self.tangent_of(param.init).is_some();
            active.push(self.differentiable(param.var) && (has || !is_acc));
            if active.last() == Some(&true) {
                let init = self.tangent_or_zero(param.init);
                let var = self.new_tangent(param.var);
                self.with_accumulator_of(var, init);
                params.push(LoopParam { var, init });
                inits.push(init);
            }
        }
        let (result, stms) = self.nested(|t| {
            let (mut result, tangents) = t.body(body);
            for (i, tangent) in tangents.into_iter().enumerate() {
                if active[i] {
                    let tangent = tangent.unwrap_or_else(|| t.tangent_or_zero(result[i]));
                    result.push(tangent);
                }
            }
            result
        });
        let mut inits = inits.into_iter();
        for (i, v) in binds.clone().into_iter().enumerate() {
            if active[i] {
                let tangent = self.new_tangent(v);
                if let Some(init) = inits.next() {
                    self.with_accumulator_of(tangent, init);
                }
                binds.push(tangent);
            }
        }
        let body = Body { stms, result };
        self.push(binds, Exp::Loop { params, form, body });
    }

    /// The tangent of an accumulator is an accumulator of its own, whose token is that of the tangent that it continues.
    fn with_accumulator_of(&mut self, tangent: Var, from: Atom) {
        if let Some(from) = from.as_var()
            && self.vars[from].ty.is_acc()
        {
            self.vars[tangent].ty = self.vars[from].ty.clone();
        }
    }

    pub(super) fn call(&mut self, mut binds: Vec<Var>, fun: FunId, mut args: Vec<Atom>) {
        let tangents: Vec<Option<Atom>> = args.iter().map(|a| self.tangent_of(*a)).collect();
        let active = tangents.iter().map(Option::is_some).collect();
        let fun = self.tangent(fun, active);
        args.extend(tangents.into_iter().flatten());
        for v in binds.clone() {
            if self.differentiable(v) {
                binds.push(self.new_tangent(v));
            }
        }
        self.push(binds, Exp::Call { fun, args });
    }
}
