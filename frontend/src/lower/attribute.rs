//! Attributes that lowering heeds, and the warnings that they ask for.

use super::emit::int;
use super::env::Frame;
use super::value::{Ty, Value};
use super::{Lower, Res};
use crate::diagnostic::{Code, Diagnostic};
use crate::source::Span;
use crate::typed::{Attr, Exp, Prim, Type as SourceType};
use midend::ir::id::{FunId, SpanId};
use midend::ir::soac::Soac;
use midend::ir::span::Spans;
use midend::ir::syntax::{Atom, Body, Exp as IrExp};
use midend::ir::types::Size;
use midend::ir::walk::deep;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::rc::Rc;

impl<'a> Lower<'a> {
    /// An expression with an attribute.
    pub fn attributed(
        &mut self,
        attr: &Attr,
        inner: &'a Exp,
        frame: &Rc<Frame<'a>>,
    ) -> Res<Value<'a>> {
        match attr.name.as_str() {
            "unsafe" => {
                let outer = std::mem::replace(&mut self.unchecked, true);
                let v = self.exp(inner, frame);
                self.unchecked = outer;
                return v;
            }
            "unroll" => self.unroll = true,
            "param" if matches!(inner.ty, SourceType::Prim(Prim::I64)) => {
                let name = attr.args.iter().flatten().map(|arg| &arg.name).next();
                if let Some(value) = name.and_then(|name| self.parameters.get(name)) {
                    return Ok(Value::scalar(int(*value)));
                }
            }
            // The value does not matter: where its type tells its sizes it is not computed.
            "blank" | "scratch" => {
                let ty = self.eval_type(&inner.ty, frame);
                if is_sized(&ty) {
                    return Ok(self.absent(&ty, &mut Vec::new()));
                }
            }
            "warn" if has_argument(attr, "safety_checks") => self.watched.push(inner.span),
            _ => {}
        }
        self.exp(inner, frame)
    }

    /// A loop with `#[unroll]` needs a known number of iterations.
    pub fn warn_of_unroll(&mut self, bound: Option<&Value<'a>>, span: Span) {
        let constant = match bound {
            Some(Value::Leaf(leaf)) => matches!(leaf.atom, Atom::Const(_)),
            Some(array) => matches!(array.dims().first(), Some(Size::Const(_))),
            None => false,
        };
        if !constant {
            let message = "`#[unroll]` has no effect: the number of iterations is not known here";
            self.warnings
                .push(Diagnostic::warning(Code::IdleAttribute, span, message));
        }
    }

    /// Warns of the checks in the expressions that have `#[warn(safety_checks)]`, also in the functions that they call.
    pub fn warn_of_checks(&mut self) {
        if self.watched.is_empty() {
            return;
        }
        let sources: HashMap<SpanId, (Span, SpanId)> = self
            .span_ids
            .iter()
            .map(|(place, id)| (*id, *place))
            .collect();
        let watched: HashSet<Span> = self.watched.drain(..).collect();
        let mut found = BTreeSet::new();
        for fun in self.funs.iter() {
            each_check(&fun.body, &mut |at, callee| {
                let checks = callee.is_none_or(|f| self.has_checks(f, &mut HashSet::new()));
                let chain = chain(at, &sources);
                let inside = |span: &&Span| chain.iter().any(|at| within(*at, **span));
                if let (true, Some(span), Some(at)) =
                    (checks, watched.iter().find(inside), chain.first())
                {
                    found.insert((*span, *at));
                }
            });
        }
        for (span, at) in found {
            let message = "Safety check required at run-time";
            let warning = Diagnostic::warning(Code::SafetyCheck, at, message);
            self.warnings
                .push(warning.also(span, "asked for by `#[warn(safety_checks)]`"));
        }
    }

    fn has_checks(&self, fun: FunId, seen: &mut HashSet<FunId>) -> bool {
        let mut found = false;
        if seen.insert(fun) {
            each_check(&self.funs[fun].body, &mut |_, callee| {
                found = found || callee.is_none_or(|f| self.has_checks(f, seen));
            });
        }
        found
    }
}

/// Whether a type tells all sizes of its values, and has no functions.
fn is_sized(ty: &Ty) -> bool {
    match ty {
        Ty::Scalar(_) => true,
        Ty::Array(a) => a.dim.is_some() && is_sized(&a.elem),
        Ty::Tuple(ts) => ts.iter().all(is_sized),
        Ty::Record(ts) => ts.iter().all(|(_, t)| is_sized(t)),
        Ty::Sum(cons) => cons.iter().all(|(_, ts)| ts.iter().all(is_sized)),
        Ty::Fun => false,
    }
}

/// Whether an attribute has this argument.
fn has_argument(attr: &Attr, name: &str) -> bool {
    attr.args.iter().flatten().any(|arg| arg.name == name)
}

/// Calls `f` with the place of every check, and of every call with what it calls.
fn each_check(body: &Body<Soac>, f: &mut dyn FnMut(SpanId, Option<FunId>)) {
    deep(|| {
        for stm in &body.stms {
            match &stm.exp {
                IrExp::Assert { .. } => f(stm.span, None),
                IrExp::Call { fun, args: _ } => f(stm.span, Some(*fun)),
                IrExp::Atom(_) | IrExp::Scalar(..) | IrExp::Guard { .. } => {}
                IrExp::If { .. } | IrExp::Loop { .. } | IrExp::Op(_) => {
                    stm.exp.scopes(&mut |_, body| each_check(body, f));
                }
            }
        }
    });
}

/// A place and those of the calls through which it was reached, innermost first.
fn chain(at: SpanId, sources: &HashMap<SpanId, (Span, SpanId)>) -> Vec<Span> {
    let mut chain = Vec::new();
    let mut next = at;
    while let Some((span, outer)) = sources.get(&next).filter(|_| next != Spans::NONE) {
        chain.push(*span);
        next = *outer;
    }
    chain
}

/// Whether a place lies in another.
fn within(at: Span, outer: Span) -> bool {
    at.file == outer.file && outer.lo <= at.lo && at.hi <= outer.hi
}
