//! Application: arguments are collected until a function has all of them, then its body is lowered in place or, for a
//! large or recursive definition, called.

use super::env::{Binding, DefClosure, Frame, module_frame};
use super::mentions::{self, Mention};
use super::value::{Code, FunValue, Instance, Value};
use super::{Lower, Res, unsupported};
use crate::source::Span;
use crate::typed::{Exp, Name, Pat, Scheme, ValueDef};
use std::rc::Rc;

/// Definitions up to this size, calls to small ones counted in, are lowered where they are applied.
const INLINE_COST: usize = 120;
/// How often one piece of code is lowered in place before it becomes a function.
const INLINE_TIMES: usize = 64;

/// Walks a piece of code.
pub type Walk<'w> = &'w mut dyn FnMut(&mut dyn FnMut(Mention));

impl<'a> Lower<'a> {
    /// `f a b ..`: see [`crate::typed::ExpKind::Apply`] for the order of evaluation.
    pub fn apply_exp(
        &mut self,
        e: &'a Exp,
        fun: &'a Exp,
        args: &'a [Exp],
        infix: bool,
        frame: &Rc<Frame<'a>>,
    ) -> Res<Value<'a>> {
        let mut values = Vec::with_capacity(args.len());
        if infix {
            for arg in args {
                values.push(self.exp(arg, frame)?);
            }
        } else {
            for arg in args.iter().rev() {
                values.push(self.exp(arg, frame)?);
            }
            values.reverse();
        }
        let f = self.exp(fun, frame)?;
        if !matches!(f, Value::Fun(_)) {
            // The function is a hole, which has failed already.
            let ty = self.eval_type(&e.ty, frame);
            return Ok(self.absent(&ty, &mut Vec::new()));
        }
        self.apply(f, values, e.span)
    }

    /// Applies a function to arguments.
    pub fn apply(&mut self, f: Value<'a>, args: Vec<Value<'a>>, span: Span) -> Res<Value<'a>> {
        let mut f = f;
        let args: Vec<Value<'a>> = args.iter().map(|arg| self.opened(arg)).collect();
        let mut args = args.into_iter().peekable();
        while args.peek().is_some() {
            let Value::Fun(fun) = f else {
                return Err(unsupported(span, "only functions can be applied"));
            };
            let arity = match &fun.code {
                Code::Lambda { params, .. } => params.len(),
                Code::Def { def, .. } => def.def.params.len(),
                Code::Intrinsic { intrinsic, .. } => super::arity::arity(intrinsic.op),
            };
            let mut all = fun.args.clone();
            while all.len() < arity {
                match args.next() {
                    Some(arg) => all.push(arg),
                    None => break,
                }
            }
            let code = fun.code.clone();
            f = if all.len() < arity {
                all.iter().for_each(|arg| self.hold(arg));
                // The function may be called several times: it must not consume what it holds, only copies of that.
                let args = all.iter().map(|arg| arg.with_shared(true)).collect();
                Value::Fun(Rc::new(FunValue { code, args }))
            } else {
                stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || {
                    self.saturated(code, all, span)
                })?
            };
        }
        Ok(f)
    }

    fn saturated(&mut self, code: Code<'a>, args: Vec<Value<'a>>, span: Span) -> Res<Value<'a>> {
        match code {
            Code::Intrinsic { intrinsic, inst } => self.intrinsic(intrinsic, &inst, args, span),
            Code::Lambda {
                params,
                body,
                ret,
                frame,
            } => {
                let _ = ret;
                let inner = self.frame(Some(frame));
                self.bind_params(params, &args, &inner);
                self.exp(body, &inner)
            }
            Code::Def { def, inst } => {
                let site = self.site;
                if !self.is_in_prelude(span) {
                    self.site = span;
                }
                let v = if self.inlines(&def) {
                    self.inline(&def, &inst, &args, span)
                } else {
                    self.call(&def, &inst, &args, span)
                };
                self.site = site;
                v
            }
        }
    }

    /// Whether the definition is lowered in place.
    fn inlines(&mut self, def: &Rc<DefClosure<'a>>) -> bool {
        let attr = |name: &str| def.def.attrs.iter().any(|a| a.name == name);
        if def.def.recursive || attr("noinline") {
            return false;
        }
        let returns_function = matches!(def.def.ret.ty, crate::typed::Type::Fun(_));
        if returns_function || attr("inline") {
            return true;
        }
        // Only consumers that stand beside one another go through a sequence together.
        let mut types = def.def.params.iter().map(|param| &param.ty);
        if types.any(|ty| self.mentions_sequences(ty)) {
            return true;
        }
        if self.cost(def) > INLINE_COST {
            return false;
        }
        let times = self
            .inlined
            .entry(std::ptr::from_ref(def.def).addr())
            .or_default();
        *times += 1;
        *times <= INLINE_TIMES
    }

    /// The size of a definition, the definitions that are lowered in place inside it counted in.
    fn cost(&mut self, def: &Rc<DefClosure<'a>>) -> usize {
        let key = (std::ptr::from_ref(def.def).addr(), def.frame.id);
        if let Some(cost) = self.costs.get(&key) {
            return *cost;
        }
        self.costs.insert(key, INLINE_COST + 1);
        let mut cost = 0;
        let mut names = Vec::new();
        mentions::exp(&def.def.body, &mut |m| match m {
            Mention::Node => cost += 1,
            Mention::Name(name) => names.push(name),
        });
        for name in names {
            if cost > INLINE_COST {
                break;
            }
            if let Some(Binding::Def(callee)) = def.frame.lookup(name)
                && !callee.def.recursive
            {
                let callee = self.cost(&callee);
                if callee <= INLINE_COST {
                    cost += callee;
                }
            }
        }
        self.costs.insert(key, cost);
        cost
    }

    /// Lowers the body of a definition in place.
    pub fn inline(
        &mut self,
        def: &Rc<DefClosure<'a>>,
        inst: &Instance,
        args: &[Value<'a>],
        span: Span,
    ) -> Res<Value<'a>> {
        let inner = self.def_frame(def, inst);
        self.bind_params(&def.def.params, args, &inner);
        let call = self.span_id(span);
        let outer = std::mem::replace(&mut self.inlined_at, call);
        let v = self.exp(&def.def.body, &inner);
        self.inlined_at = outer;
        let v = v.map_err(|diagnostic| self.blame_the_call(diagnostic, span))?;
        let ty = self.eval_type(&def.def.ret.ty, &inner);
        Ok(self.cast_result(&v, &ty))
    }

    /// A frame for the body of a definition, its type and size parameters bound.
    pub fn def_frame(&mut self, def: &Rc<DefClosure<'a>>, inst: &Instance) -> Rc<Frame<'a>> {
        let inner = self.frame(Some(Rc::clone(&def.frame)));
        self.bind_scheme(&def.def.scheme, inst, &inner);
        inner
    }

    /// Binds the parameters of a scheme.
    pub fn bind_scheme(&mut self, scheme: &'a Scheme, inst: &Instance, frame: &Frame<'a>) {
        for ((name, _), ty) in scheme.types.iter().zip(&inst.types) {
            frame.bind(*name, Binding::Ty(ty.clone()));
        }
        for (i, name) in scheme.sizes.iter().enumerate() {
            let size = inst.sizes.get(i).copied().flatten();
            frame.bind(*name, Binding::Size(size));
        }
    }

    /// Binds parameters: sizes that only the arguments tell first, then each pattern, the argument cast to its type.
    pub fn bind_params(&mut self, params: &'a [Pat], args: &[Value<'a>], frame: &Rc<Frame<'a>>) {
        for (param, arg) in params.iter().zip(args) {
            self.deduce_sizes(param, arg, frame);
            let ty = self.eval_type(&param.ty, frame);
            let arg = self.cast(arg, &ty);
            self.bind_pat(param, &arg, frame);
        }
    }

    /// Sizes that are still unknown are those of the argument.
    fn deduce_sizes(&mut self, param: &'a Pat, arg: &Value<'a>, frame: &Rc<Frame<'a>>) {
        let mut unknown: Vec<Name> = Vec::new();
        mentions::ty(&param.ty, &mut |m| {
            if let Mention::Name(name) = m
                && matches!(frame.lookup(name), Some(Binding::Size(None)))
                && !unknown.contains(&name)
            {
                unknown.push(name);
            }
        });
        if !unknown.is_empty() {
            self.bind_exts(&unknown, &param.ty, arg, frame);
        }
    }

    /// Everything that a local piece of code may refer to outside of its module: what it captures.
    pub fn captured(
        &mut self,
        code: usize,
        walk: Walk<'_>,
        frame: &Rc<Frame<'a>>,
    ) -> Vec<(Name, Binding<'a>)> {
        if frame.module {
            return Vec::new();
        }
        let names = match self.mentioned.get(&code) {
            Some(names) => Rc::clone(names),
            None => {
                let mut names = std::collections::BTreeSet::new();
                walk(&mut |m| {
                    if let Mention::Name(name) = m {
                        names.insert(name);
                    }
                });
                let names: Rc<[Name]> = names.into_iter().collect();
                self.mentioned.insert(code, Rc::clone(&names));
                names
            }
        };
        let mut captured = Vec::new();
        for name in names.iter() {
            if let Some((binding, false)) = frame.lookup_with(*name) {
                let binding = match binding {
                    // What is captured is not consumed.
                    Binding::Value(v) => Binding::Value(v.with_shared(true)),
                    Binding::Size(_)
                    | Binding::Ty(_)
                    | Binding::TypeDef(_)
                    | Binding::Def(_)
                    | Binding::Global(_)
                    | Binding::GlobalSize(..)
                    | Binding::Alias(_)
                    | Binding::Functor(_) => binding,
                };
                captured.push((*name, binding));
            }
        }
        captured
    }

    /// The frame of the module around a frame.
    pub fn home(&self, frame: &Rc<Frame<'a>>) -> Rc<Frame<'a>> {
        module_frame(frame)
    }
}

/// Walks everything in a definition.
pub fn walk_def(def: &ValueDef, f: &mut dyn FnMut(Mention)) {
    def.params.iter().for_each(|p| mentions::pat(p, f));
    mentions::ret(&def.ret, f);
    mentions::exp(&def.body, f);
}
