//! Bodies, statements, and the expressions that all dialects share.

use super::{Kind, Read, Reader};
use crate::ir::scalar::ScalarOp;
use crate::ir::syntax::{
    Body, Exp, Lambda, LoopForm, LoopParam, Message, MessagePart, Stm, TrapKind,
};
use crate::ir::text::Text;
use crate::ir::threshold::{Threshold, ThresholdKind};

impl Reader<'_> {
    /// A body in braces.
    pub(super) fn body<D: Text>(&mut self) -> Read<Body<D>> {
        self.nested(|r| {
            r.expect("{")?;
            let mut stms = Vec::new();
            while !r.eat_word("yield") {
                stms.push(r.stm()?);
            }
            let result = r.list("}", Self::atom)?;
            Ok(Body { stms, result })
        })
    }

    /// A lambda.
    pub(super) fn lambda<D: Text>(&mut self) -> Read<Lambda<D>> {
        self.expect("\\")?;
        self.expect("(")?;
        let params = self.list(")", Self::binder)?;
        let body = self.body()?;
        Ok(Lambda { params, body })
    }

    fn stm<D: Text>(&mut self) -> Read<Stm<D>> {
        let binds = if self.eat_word("do") {
            Vec::new()
        } else if self.eat_word("let") {
            self.list("=", Self::binder)?
        } else {
            return Err(self.error("expected `let`, `do` or `yield`"));
        };
        let certs = if self.eat("<") {
            self.list(">", Self::var)?
        } else {
            Vec::new()
        };
        let exp = self.exp()?;
        let span = self.place()?;
        Ok(Stm {
            binds,
            certs,
            exp,
            span,
        })
    }

    fn exp<D: Text>(&mut self) -> Read<Exp<D>> {
        let Some(word) = self.peek_word() else {
            return Ok(Exp::Atom(self.atom()?));
        };
        if self.eat_word("if") {
            return self.conditional();
        }
        if self.eat_word("loop") {
            return self.loop_();
        }
        if self.eat_word("call") {
            return self.call();
        }
        if self.eat_word("assert") {
            return self.assert();
        }
        if self.eat_word("guard") {
            return self.guard();
        }
        let stem = word.split('.').next().unwrap_or(word);
        if let Some(op) = D::read_op(stem, self)? {
            return Ok(Exp::Op(op));
        }
        if self.tokens.get(self.at + 1).map(|t| &t.kind) == Some(&Kind::Mark("(")) {
            let Ok(op) = word.parse::<ScalarOp>() else {
                return Err(self.error("there is no such operation"));
            };
            self.advance();
            return Ok(Exp::Scalar(op, self.atoms()?));
        }
        Ok(Exp::Atom(self.atom()?))
    }

    fn conditional<D: Text>(&mut self) -> Read<Exp<D>> {
        let cond = self.atom()?;
        let then = self.body()?;
        self.expect_word("else")?;
        let otherwise = self.body()?;
        Ok(Exp::If {
            cond,
            then,
            otherwise,
        })
    }

    fn loop_<D: Text>(&mut self) -> Read<Exp<D>> {
        self.expect("(")?;
        let params = self.list(")", |r| {
            let var = r.binder()?;
            r.expect("=")?;
            let init = r.atom()?;
            Ok(LoopParam { var, init })
        })?;
        let form = if self.eat_word("for") {
            let index = self.binder()?;
            self.expect("<")?;
            let bound = self.atom()?;
            LoopForm::For { index, bound }
        } else {
            self.expect_word("while")?;
            let cond = self.body()?;
            self.expect_word("do")?;
            LoopForm::While(cond)
        };
        let body = self.body()?;
        Ok(Exp::Loop { params, form, body })
    }

    fn call<D: Text>(&mut self) -> Read<Exp<D>> {
        let token = self.at;
        let name = self.name()?;
        let Some(fun) = self.funs.get(&name).copied() else {
            return Err(self.error_at(token, "there is no function of this name"));
        };
        let args = self.atoms()?;
        Ok(Exp::Call { fun, args })
    }

    fn guard<D: Text>(&mut self) -> Read<Exp<D>> {
        let Some(kind) = self.peek_word().and_then(ThresholdKind::from_name) else {
            return Err(self.error("expected the kind of a threshold"));
        };
        self.advance();
        let place = self.string()?.into();
        Ok(Exp::Guard {
            threshold: Threshold { place, kind },
            measure: self.atom()?,
        })
    }

    fn assert<D: Text>(&mut self) -> Read<Exp<D>> {
        let cond = self.atom()?;
        let Some(kind) = self.peek_word().and_then(TrapKind::from_name) else {
            return Err(self.error("expected the kind of the failure"));
        };
        self.advance();
        self.expect("(")?;
        let parts = self.list(")", |r| {
            Ok(match r.kind() {
                Kind::Str(_) => MessagePart::Text(r.string()?),
                Kind::Word(_) | Kind::Number(_) | Kind::Bits(..) | Kind::Mark(_) | Kind::End => {
                    MessagePart::Value(r.atom()?)
                }
            })
        })?;
        let message = Message { kind, parts };
        Ok(Exp::Assert { cond, message })
    }
}
