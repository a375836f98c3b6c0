//! Attributes that lowering heeds, and the warnings that they ask for.

use super::emit::int;
use super::entry::structure;
use super::env::Frame;
use super::value::{Leaf, Ty, Value};
use super::{Lower, Res};
use crate::diagnostic::{Code, Diagnostic};
use crate::source::Span;
use crate::typed::{Attr, Exp, ExpKind, Prim, Type as SourceType};
use crate::types::infer::attribute::levels;
use midend::hash::{HashMap, HashSet};
use midend::ir::array::{ArrayOp, Trace};
use midend::ir::id::{FunId, SpanId};
use midend::ir::soac::Soac;
use midend::ir::span::Spans;
use midend::ir::syntax::{Atom, Body, Exp as IrExp};
use midend::ir::types::Size;
use midend::ir::walk::deep;
use std::collections::BTreeSet;
use std::rc::Rc;

/// More loops around one save nothing: two iterations each for 512.
const MAX_LEVELS: usize = 8;

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
            "trace" => {
                let v = self.exp(inner, frame)?;
                let tag = attr.args.iter().flatten().next();
                let label = match tag {
                    Some(tag) => tag.name.clone(),
                    None => self.place(inner.span),
                };
                return Ok(self.trace(label, &v, inner.span));
            }
            // Not the next loop that happens to be in there.
            "unroll" if is_loop(inner) => self.unroll = true,
            "stripmine" if is_loop(inner) => {
                self.strip_mine = levels(attr).unwrap_or(0).min(MAX_LEVELS)
            }
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

    /// Shows a value, and gives it under new names: what is shown is not the same as what came before, so that `map` of a
    /// function that only shows its argument stays. Functions have nothing to show.
    pub fn trace(&mut self, label: String, v: &Value<'a>, span: Span) -> Value<'a> {
        if v.has_fun() {
            let message = "tracing has no effect: a function is no value that can be shown";
            self.warnings
                .push(Diagnostic::warning(Code::IdleAttribute, span, message));
            return v.clone();
        }
        if v.has_rows() {
            let message = "tracing has no effect yet on values with rows of any lengths";
            self.warnings
                .push(Diagnostic::warning(Code::IdleAttribute, span, message));
            return v.clone();
        }
        let ty = structure(&self.type_of(v));
        let values = v.atoms();
        let trace = ArrayOp::Trace(Box::new(Trace { label, ty, values }));
        self.push(Vec::new(), IrExp::Op(Soac::Array(trace)));
        v.map_leaves(&mut |leaf| {
            if let Atom::Const(_) = leaf.atom {
                return leaf;
            }
            let ty = self.ty(leaf.atom);
            let var = self.bind1("t", ty, IrExp::Atom(leaf.atom));
            self.alias(var, [leaf.atom]);
            let atom = var.into();
            Leaf { atom, ..leaf }
        })
    }

    /// The file, line and column of a place.
    fn place(&self, span: Span) -> String {
        match (self.sources.get(span.file), self.sources.line_col(span)) {
            (Some(file), Some(at)) => format!("{}:{}:{}", file.name(), at.line, at.col),
            _ => String::from("trace"),
        }
    }

    /// Warns of what is traced in parallel operations, also in the functions that they call: it is not shown by all targets.
    pub fn warn_of_traces(&mut self) {
        let mut places = BTreeSet::new();
        let mut todo = Vec::new();
        for fun in self.funs.iter() {
            each_parallel(&fun.body, false, &mut places, &mut todo);
        }
        let mut seen = HashSet::default();
        while let Some(fun) = todo.pop() {
            if seen.insert(fun) {
                each_parallel(&self.funs[fun].body, true, &mut places, &mut todo);
            }
        }
        if places.is_empty() {
            return;
        }
        let sources = self
            .span_ids
            .iter()
            .map(|((span, _), id)| (*id, *span))
            .collect::<HashMap<SpanId, Span>>();
        let spans: BTreeSet<Span> = places
            .iter()
            .filter_map(|id| sources.get(id).copied())
            .collect();
        for span in spans {
            let message =
                "tracing in a parallel operation shows nothing but with `--target=interp`";
            self.warnings
                .push(Diagnostic::warning(Code::IdleAttribute, span, message));
        }
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
                let checks = callee.is_none_or(|f| self.has_checks(f, &mut HashSet::default()));
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

/// Collects what is traced in the parallel operations of a body, and the functions that are called there.
fn each_parallel(
    body: &Body<Soac>,
    inside: bool,
    places: &mut BTreeSet<SpanId>,
    called: &mut Vec<FunId>,
) {
    deep(|| {
        for stm in &body.stms {
            let inner = match &stm.exp {
                IrExp::Op(Soac::Array(ArrayOp::Trace(_))) if inside => {
                    places.insert(stm.span);
                    inside
                }
                IrExp::Call { fun, args: _ } if inside => {
                    called.push(*fun);
                    inside
                }
                IrExp::Op(_) => true,
                IrExp::Atom(_)
                | IrExp::Scalar(..)
                | IrExp::Assert { .. }
                | IrExp::Guard { .. }
                | IrExp::If { .. }
                | IrExp::Loop { .. }
                | IrExp::Call { .. } => inside,
            };
            stm.exp
                .scopes(&mut |_, body| each_parallel(body, inner, places, called));
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

/// Whether an expression is a loop, with attributes or without.
fn is_loop(exp: &Exp) -> bool {
    if let ExpKind::Attr(_, inner) = &exp.kind {
        return is_loop(inner);
    }
    matches!(exp.kind, ExpKind::Loop { .. })
}

/// Whether a place lies in another.
fn within(at: Span, outer: Span) -> bool {
    at.file == outer.file && outer.lo <= at.lo && at.hi <= outer.hi
}
