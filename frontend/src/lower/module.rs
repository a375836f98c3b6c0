//! Declarations and modules: evaluation that extends frames.

use super::env::{Alias, Binding, DefClosure, Frame, FunctorClosure, TypeDef};
use super::global::Global;
use super::{Lower, Res, unsupported};
use crate::source::Span;
use crate::typed::{Dec, ModuleBinds, ModuleExp, Name, Type, ValueDef};
use std::rc::Rc;

impl<'a> Lower<'a> {
    /// Evaluates declarations in order.
    pub fn decs(&mut self, decs: &'a [Dec], frame: &Rc<Frame<'a>>) -> Res<()> {
        for dec in decs {
            match dec {
                Dec::Value(def) => self.value_def(def, frame),
                Dec::Module(module) => self.module(module, frame)?,
                Dec::Functor(functor) => {
                    let closure = FunctorClosure::Plain {
                        functor,
                        frame: Rc::clone(frame),
                    };
                    frame.bind(functor.name, Binding::Functor(Rc::new(closure)));
                }
            }
        }
        Ok(())
    }

    /// A definition: a function, a value that is computed once, or a polymorphic value, computed wherever it is used.
    pub fn value_def(&mut self, def: &'a ValueDef, frame: &Rc<Frame<'a>>) {
        let closure = Rc::new(DefClosure {
            def,
            frame: Rc::clone(frame),
        });
        let data = def.params.is_empty()
            && def.scheme.types.is_empty()
            && def.scheme.sizes.is_empty()
            && !has_function(&def.ret.ty);
        if !data {
            frame.bind(def.name, Binding::Def(closure));
            return;
        }
        let global = self.globals.len();
        self.globals.push(Global::new(closure));
        frame.bind(def.name, Binding::Global(global));
        for ext in &def.ret.exts {
            frame.bind(*ext, Binding::GlobalSize(global, *ext));
        }
    }

    /// Evaluates a module for the ids that it binds.
    pub fn module(&mut self, module: &'a ModuleExp, frame: &Rc<Frame<'a>>) -> Res<()> {
        match module {
            ModuleExp::Known => Ok(()),
            ModuleExp::Struct(decs) => {
                stacker::maybe_grow(64 * 1024, 1024 * 1024, || self.decs(decs, frame))
            }
            ModuleExp::Seq(modules) => {
                for module in modules {
                    self.module(module, frame)?;
                }
                Ok(())
            }
            ModuleExp::Binds(binds) => {
                self.module_binds(binds, frame, frame);
                Ok(())
            }
            ModuleExp::Apply {
                functor,
                arg,
                param,
                result,
                span,
            } => {
                self.module(arg, frame)?;
                let closure = self.functor(*functor, frame, *span)?;
                let inner = self.apply_functor(&closure, param, frame)?;
                self.module_binds(result, frame, &inner);
                Ok(())
            }
        }
    }

    fn functor(
        &mut self,
        name: Name,
        frame: &Rc<Frame<'a>>,
        span: Span,
    ) -> Res<Rc<FunctorClosure<'a>>> {
        match frame.lookup(name) {
            Some(Binding::Functor(closure)) => Ok(closure),
            _ => Err(unsupported(
                span,
                "this parametric module is not known here",
            )),
        }
    }

    /// Evaluates the body of a functor with its parameter's ids bound by `param`, whose right-hand sides stand in
    /// `outside`. The frame that is returned binds the ids of the result.
    fn apply_functor(
        &mut self,
        closure: &Rc<FunctorClosure<'a>>,
        param: &'a ModuleBinds,
        outside: &Rc<Frame<'a>>,
    ) -> Res<Rc<Frame<'a>>> {
        self.functor_calls += 1;
        match &**closure {
            FunctorClosure::Plain { functor, frame } => {
                if self.functor_calls > 100_000 {
                    let message = "too many applications of parametric modules";
                    return Err(unsupported(functor.span, message));
                }
                let inner = self.module_frame(Rc::clone(frame));
                self.module_binds(param, &inner, outside);
                self.module(&functor.body, &inner)?;
                Ok(inner)
            }
            FunctorClosure::Adapted {
                bind,
                inner: old,
                frame,
            } => {
                let adapter = self.module_frame(Rc::clone(frame));
                self.module_binds(param, &adapter, outside);
                let body = self.apply_functor(old, &bind.param, &adapter)?;
                self.module_binds(&bind.result, &adapter, &body);
                Ok(adapter)
            }
        }
    }

    /// Binds new ids in `to`; the right-hand sides are looked up in `from`.
    fn module_binds(&mut self, binds: &'a ModuleBinds, to: &Rc<Frame<'a>>, from: &Rc<Frame<'a>>) {
        for ty in &binds.types {
            let def = TypeDef {
                params: &ty.params,
                rhs: &ty.rhs,
                frame: Rc::clone(from),
            };
            to.bind(ty.name, Binding::TypeDef(Rc::new(def)));
        }
        for value in &binds.values {
            let alias = Alias {
                scheme: &value.scheme,
                value: value.value,
                inst: &value.inst,
                frame: Rc::clone(from),
            };
            to.bind(value.name, Binding::Alias(Rc::new(alias)));
        }
        for bind in &binds.functors {
            if let Some(Binding::Functor(inner)) = from.lookup(bind.functor) {
                let closure = FunctorClosure::Adapted {
                    bind,
                    inner,
                    frame: Rc::clone(from),
                };
                to.bind(bind.name, Binding::Functor(Rc::new(closure)));
            }
        }
    }
}

/// Whether a type has functions in it (a type parameter is taken to have none).
pub fn has_function(ty: &Type) -> bool {
    match ty {
        Type::Prim(_) | Type::Meta(_) | Type::Named(_) => false,
        Type::Array(a) => has_function(&a.elem),
        Type::Tuple(ts) => ts.iter().any(has_function),
        Type::Record(ts) => ts.iter().any(|(_, t)| has_function(t)),
        Type::Sum(cs) => cs.iter().any(|(_, ts)| ts.iter().any(has_function)),
        Type::Fun(_) => true,
    }
}
