//! What a function was applied to, with the parameters of an instance in it.

use crate::lower::Lower;
use crate::lower::env::{Binding, DefClosure, Frame};
use crate::lower::rows::Rows;
use crate::lower::value::{Code, FunValue, Instance, Leaf, SumValue, Ty, Value};
use crate::typed::Name;
use midend::hash::HashMap;
use midend::ir::id::Var;
use midend::ir::syntax::Atom;
use midend::ir::types::Size;
use std::collections::BTreeMap;
use std::rc::Rc;

/// The substitution of an instance's parameters for what it was abstracted from, in the same order of traversal.
pub(super) struct Rebuild<'a> {
    pub(super) subst: BTreeMap<Var, Atom>,
    pub(super) constants: std::vec::IntoIter<Atom>,
    pub(super) closures: HashMap<usize, Rc<DefClosure<'a>>>,
}

impl Rebuild<'_> {
    fn atom(&mut self, atom: Atom) -> Atom {
        match atom {
            Atom::Var(v) => self.subst.get(&v).copied().unwrap_or(atom),
            Atom::Const(_) => self.constants.next().unwrap_or(atom),
        }
    }
    fn size(&mut self, size: Size) -> Size {
        match size {
            Size::Const(_) => size,
            Size::Var(_) => {
                crate::lower::value::size_of_atom(self.atom(Atom::from(size))).unwrap_or(size)
            }
        }
    }
    fn ty(&mut self, ty: &Ty) -> Ty {
        ty.map_dims(&mut |dim| dim.map(|d| self.size(d)))
    }
    fn inst(&mut self, inst: &Instance) -> Rc<Instance> {
        Rc::new(Instance {
            types: inst.types.iter().map(|t| self.ty(t)).collect(),
            sizes: inst.sizes.iter().map(|s| s.map(|s| self.size(s))).collect(),
        })
    }
}

impl<'a> Lower<'a> {
    pub(super) fn rebuild_binding(
        &mut self,
        binding: &Binding<'a>,
        r: &mut Rebuild<'a>,
    ) -> Binding<'a> {
        match binding {
            Binding::Value(v) => Binding::Value(self.rebuild_value(v, r)),
            Binding::Size(size) => Binding::Size(size.map(|s| r.size(s))),
            Binding::Ty(ty) => Binding::Ty(r.ty(ty)),
            Binding::Def(def) => Binding::Def(self.rebuild_def(def, r)),
            Binding::TypeDef(_)
            | Binding::Global(_)
            | Binding::GlobalSize(..)
            | Binding::Alias(_)
            | Binding::Functor(_) => binding.clone(),
        }
    }

    pub(super) fn rebuild_value(&mut self, v: &Value<'a>, r: &mut Rebuild<'a>) -> Value<'a> {
        match v {
            Value::Leaf(leaf) => Value::Leaf(Leaf {
                atom: r.atom(leaf.atom),
                ..*leaf
            }),
            Value::Array { dims, elem } => Value::Array {
                dims: dims.iter().map(|d| r.size(*d)).collect(),
                elem: Rc::new(self.rebuild_value(elem, r)),
            },
            Value::Tuple(vs) => Value::Tuple(vs.iter().map(|v| self.rebuild_value(v, r)).collect()),
            Value::Record(vs) => Value::Record(
                vs.iter()
                    .map(|(name, v)| (name.clone(), self.rebuild_value(v, r)))
                    .collect(),
            ),
            Value::Sum(sum) => {
                let tag = Leaf {
                    atom: r.atom(sum.tag.atom),
                    ..sum.tag
                };
                let cons = sum.cons.iter();
                let cons = cons
                    .map(|(name, vs)| {
                        let vs = vs.iter().map(|v| self.rebuild_value(v, r)).collect();
                        (name.clone(), vs)
                    })
                    .collect();
                Value::Sum(Rc::new(SumValue { tag, cons }))
            }
            Value::Rows(rows) => Value::Rows(Rc::new(Rows {
                begin: Leaf {
                    atom: r.atom(rows.begin.atom),
                    ..rows.begin
                },
                end: Leaf {
                    atom: r.atom(rows.end.atom),
                    ..rows.end
                },
                pool: self.rebuild_value(&rows.pool, r),
                compact: rows.compact,
            })),
            Value::Fun(fun) => Value::Fun(Rc::new(self.rebuild_fun(fun, r))),
        }
    }

    pub(super) fn rebuild_fun(&mut self, fun: &FunValue<'a>, r: &mut Rebuild<'a>) -> FunValue<'a> {
        let code = match &fun.code {
            Code::Lambda {
                params,
                body,
                ret,
                frame,
            } => {
                let code = std::ptr::from_ref(*body).addr();
                let captured = self.captured(code, &mut |_| {}, frame);
                let inner = self.rebuild_frame(frame, &captured, r);
                Code::Lambda {
                    params,
                    body,
                    ret,
                    frame: inner,
                }
            }
            Code::Def { def, inst } => Code::Def {
                def: self.rebuild_def(def, r),
                inst: r.inst(inst),
            },
            Code::Intrinsic { intrinsic, inst } => Code::Intrinsic {
                intrinsic: *intrinsic,
                inst: r.inst(inst),
            },
        };
        let args = fun.args.iter();
        let args = args
            .map(|v| self.rebuild_value(&v.with_shared(true), r))
            .collect();
        FunValue { code, args }
    }

    pub(super) fn rebuild_def(
        &mut self,
        def: &Rc<DefClosure<'a>>,
        r: &mut Rebuild<'a>,
    ) -> Rc<DefClosure<'a>> {
        let key = Rc::as_ptr(def).addr();
        if let Some(known) = r.closures.get(&key) {
            return Rc::clone(known);
        }
        let code = std::ptr::from_ref(def.def).addr();
        let captured = self.captured(code, &mut |_| {}, &def.frame);
        if captured.is_empty() {
            r.closures.insert(key, Rc::clone(def));
            return Rc::clone(def);
        }
        let frame = self.rebuild_frame(&def.frame, &captured, r);
        let new = Rc::new(DefClosure {
            def: def.def,
            frame,
        });
        r.closures.insert(key, Rc::clone(&new));
        new
    }

    pub(super) fn rebuild_frame(
        &mut self,
        frame: &Rc<Frame<'a>>,
        captured: &[(Name, Binding<'a>)],
        r: &mut Rebuild<'a>,
    ) -> Rc<Frame<'a>> {
        if frame.module {
            return Rc::clone(frame);
        }
        let inner = self.frame(Some(self.home(frame)));
        for (name, binding) in captured {
            let binding = self.rebuild_binding(binding, r);
            inner.bind(*name, binding);
        }
        inner
    }
}
