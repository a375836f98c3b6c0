//! Names: binding patterns, and the value of a name at an instance.

use super::env::{Binding, DefClosure, Frame};
use super::exp::project;
use super::value::{Code, FunValue, Instance, Value};
use super::{Lower, Res, unsupported};
use crate::typed::{Name, NameKind, Pat, PatKind, ValueDef};
use std::rc::Rc;

impl<'a> Lower<'a> {
    /// Binds the names of an irrefutable pattern.
    pub fn bind_pat(&mut self, pat: &'a Pat, v: &Value<'a>, frame: &Rc<Frame<'a>>) {
        match (&pat.kind, v) {
            (PatKind::Name(name), _) => {
                let text = &self.typed.names.get(*name).text;
                v.each_leaf(&mut |leaf| self.hint(leaf.atom, text));
                self.hold(v);
                frame.bind(*name, Binding::Value(v.clone()));
            }
            (PatKind::Tuple(ps), Value::Tuple(vs)) => {
                for (p, v) in ps.iter().zip(vs.iter()) {
                    self.bind_pat(p, v, frame);
                }
            }
            (PatKind::Record(ps), _) => {
                for (field, p) in ps {
                    self.bind_pat(p, &project(v, field), frame);
                }
            }
            (PatKind::Construct(con, ps), Value::Sum(sum)) => {
                let payload = sum.cons.iter().find(|(name, _)| name == con);
                for (p, v) in ps.iter().zip(payload.map_or(&[][..], |(_, vs)| vs)) {
                    self.bind_pat(p, v, frame);
                }
            }
            (
                PatKind::Wild | PatKind::Literal(_) | PatKind::Tuple(_) | PatKind::Construct(..),
                _,
            ) => {}
        }
    }

    pub(super) fn bind_local_def(&mut self, def: &'a ValueDef, frame: &Rc<Frame<'a>>) {
        let closure = DefClosure {
            def,
            frame: Rc::clone(frame),
        };
        frame.bind(def.name, Binding::Def(Rc::new(closure)));
    }

    /// The value of a name at an instance.
    pub fn name_value(
        &mut self,
        name: Name,
        frame: &Rc<Frame<'a>>,
        inst: &Instance,
    ) -> Res<Value<'a>> {
        match frame.lookup(name) {
            Some(Binding::Value(v)) => Ok(v),
            Some(Binding::Size(Some(size))) => Ok(Value::scalar(size)),
            Some(Binding::Def(def)) if def.def.params.is_empty() => {
                let inner = self.def_frame(&def, inst);
                self.exp(&def.def.body, &inner)
            }
            Some(Binding::Def(def)) => Ok(Value::Fun(Rc::new(FunValue {
                code: Code::Def {
                    def,
                    inst: Rc::new(inst.clone()),
                },
                args: Vec::new(),
            }))),
            Some(Binding::Global(global)) => self.global_value(global),
            Some(Binding::GlobalSize(global, name)) => match self.global_size(global, name) {
                Some(size) => Ok(Value::scalar(size)),
                None => Err(self.unbound(name)),
            },
            Some(Binding::Alias(alias)) => {
                let inner = self.frame(Some(Rc::clone(&alias.frame)));
                self.bind_scheme(alias.scheme, inst, &inner);
                let inst = self.eval_inst(alias.inst, &inner);
                self.name_value(alias.value, &inner, &inst)
            }
            Some(
                Binding::Size(None) | Binding::Ty(_) | Binding::TypeDef(_) | Binding::Functor(_),
            ) => Err(self.unbound(name)),
            None => match self.intrinsic_of(name) {
                Some(intrinsic) => self.intrinsic_value(intrinsic, inst),
                None => Err(self.unbound(name)),
            },
        }
    }

    pub(super) fn unbound(&self, name: Name) -> Box<crate::diagnostic::Diagnostic> {
        let info = self.typed.names.get(name);
        if self.typed.irregular && info.kind == NameKind::Size {
            let what = format!("to tell the length `{}` of rows of", info.text);
            return super::segments::refused(info.span.unwrap_or_default(), &what);
        }
        let message = format!("`{}` has no value here", info.text);
        unsupported(info.span.unwrap_or_default(), message)
    }
}
