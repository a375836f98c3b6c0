//! Statements and the expressions that all dialects share.

use super::Printer;
use crate::ir::id::Var;
use crate::ir::syntax::{Exp, LoopForm, Message, MessagePart, Stm};
use crate::ir::text::Text;

impl Printer<'_> {
    /// A statement, without a line end.
    pub fn stm<D: Text>(&mut self, stm: &Stm<D>) {
        self.notes_on(stm.binds.iter().copied());
        if stm.binds.is_empty() {
            self.word("do ");
        } else {
            self.word("let ");
            self.list(&stm.binds, |p, v| p.binder(*v));
            self.word(" = ");
        }
        if !stm.certs.is_empty() {
            self.word("<");
            self.list(&stm.certs, |p, v| p.var(*v));
            self.word("> ");
        }
        self.exp(&stm.exp);
        self.place(stm.span);
    }

    fn exp<D: Text>(&mut self, exp: &Exp<D>) {
        match exp {
            Exp::Atom(a) => self.atom(*a),
            Exp::Scalar(op, args) => {
                self.word(&op.to_string());
                self.atoms(args);
            }
            Exp::Assert { cond, message } => {
                self.word("assert ");
                self.atom(*cond);
                self.message(message);
            }
            Exp::Guard { threshold, measure } => {
                self.word("guard ");
                self.word(threshold.kind.name());
                self.word(" ");
                self.string(&threshold.place);
                self.word(" ");
                self.atom(*measure);
            }
            Exp::If {
                cond,
                then,
                otherwise,
            } => {
                self.word("if ");
                self.atom(*cond);
                self.word(" ");
                self.body(then);
                self.word(" else ");
                self.body(otherwise);
            }
            Exp::Loop { params, form, body } => {
                self.word("loop (");
                self.list(params, |p, param| {
                    p.binder(param.var);
                    p.word(" = ");
                    p.atom(param.init);
                });
                let mut bound_in: Vec<Var> = params.iter().map(|p| p.var).collect();
                match form {
                    LoopForm::For { index, bound } => {
                        bound_in.push(*index);
                        self.word(") for ");
                        self.binder(*index);
                        self.word(" < ");
                        self.atom(*bound);
                        self.word(" ");
                    }
                    LoopForm::While(cond) => {
                        self.word(") while ");
                        self.body(cond);
                        self.word(" do ");
                    }
                }
                self.body_for(&bound_in, body);
            }
            Exp::Call { fun, args } => {
                self.word("call ");
                self.fun_ref(*fun);
                self.atoms(args);
            }
            Exp::Op(op) => op.print_op(self),
        }
    }

    fn message(&mut self, message: &Message) {
        self.word(" ");
        self.word(message.kind.name());
        self.word(" (");
        self.list(&message.parts, |p, part| match part {
            MessagePart::Text(text) => p.string(text),
            MessagePart::Value(a) => p.atom(*a),
        });
        self.word(")");
    }
}
