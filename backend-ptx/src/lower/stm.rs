//! Statements, and where they come from.

use super::{Lower, Value, operand, place};
use crate::ptx::{Operand, Origin};
use midend::analysis::kernels::has_value;
use midend::ir::id::{Id, Var};
use midend::ir::mem::Mem;
use midend::ir::syntax::{Body, Exp, Stm};

impl Lower<'_> {
    /// The place that a statement comes from, for comments and reports.
    pub(super) fn origin(&mut self, stm: &Stm<Mem>) {
        let place = place(&self.program.spans, stm.span);
        let what = match &stm.exp {
            Exp::Atom(_) => "copy".to_owned(),
            Exp::Scalar(op, _) => op.to_string(),
            Exp::Assert { .. } => "assert".to_owned(),
            Exp::Guard { .. } => "guard".to_owned(),
            Exp::If { .. } => "if".to_owned(),
            Exp::Loop { .. } => "loop".to_owned(),
            Exp::Call { fun, .. } => format!("call {}", self.program.funs[*fun].name),
            Exp::Op(Mem::Alloc { .. }) => "alloc".to_owned(),
            Exp::Op(Mem::Free(_)) => "free".to_owned(),
            Exp::Op(Mem::Apart(_)) => "apart".to_owned(),
            Exp::Op(Mem::Load { buffer, .. }) => format!("load {}", self.name(*buffer)),
            Exp::Op(Mem::Store { buffer, .. }) => format!("store {}", self.name(*buffer)),
            Exp::Op(Mem::Copy { .. }) => "copy".to_owned(),
            Exp::Op(Mem::Launch(kernel)) => format!("launch {}", kernel.name),
            Exp::Op(Mem::Trace(trace)) => format!("trace {}", trace.label),
            Exp::Op(Mem::Stream(stream)) => stream.op.name().to_owned(),
        };
        let binds: Vec<String> = stm.binds.iter().map(|v| self.name(*v)).collect();
        let what = if binds.is_empty() {
            what
        } else {
            format!("let {} = {what}", binds.join(", "))
        };
        self.b.origin(Origin { place, what });
    }

    pub(super) fn name(&self, var: Var) -> String {
        format!("{}_{}", self.program.vars[var].name, var.index())
    }

    /// The statements of a body; yields its results, certificates left out.
    pub(super) fn body(&mut self, body: &Body<Mem>) -> Vec<Value> {
        for stm in &body.stms {
            self.stm(stm);
        }
        self.settle();
        let results = self.with_value(&body.result);
        results.into_iter().map(|atom| self.any(atom)).collect()
    }

    /// The same for a body whose results are scalars.
    pub(super) fn scalars(&mut self, body: &Body<Mem>) -> Vec<Operand> {
        let values = self.body(body);
        values.into_iter().map(operand).collect()
    }

    pub(super) fn stm(&mut self, stm: &Stm<Mem>) {
        self.origin(stm);
        let program = self.program;
        let with_value = |v: &&Var| has_value(&program.vars[**v].ty);
        let binds: Vec<Var> = stm.binds.iter().filter(with_value).copied().collect();
        let values = match &stm.exp {
            Exp::Atom(atom) => self
                .with_value(&[*atom])
                .into_iter()
                .map(|atom| self.any(atom))
                .collect(),
            Exp::Scalar(op, args) => {
                let args: Vec<Operand> = args.iter().map(|a| self.atom(*a)).collect();
                vec![Value::Scalar(self.scalar(*op, &args))]
            }
            Exp::Assert { cond, message } => {
                self.assert(*cond, message, stm.span);
                vec![]
            }
            // Guards choose on the host; the verifier keeps them out of kernels, and any answer is right.
            Exp::Guard { .. } => vec![Value::Scalar(Operand::Imm(0))],
            Exp::If {
                cond,
                then,
                otherwise,
            } => {
                self.settle();
                self.conditional(&binds, *cond, then, otherwise)
            }
            Exp::Loop { params, form, body } => {
                self.settle();
                self.looped(params, form, body)
            }
            Exp::Call { fun, args } => self.call(*fun, args),
            Exp::Op(op) if self.is_together() => self.together_op(op, binds.first().copied()),
            Exp::Op(op) => self.memory(op, binds.first().copied()),
        };
        for (var, value) in binds.into_iter().zip(values) {
            self.bind(var, value);
        }
    }
}
