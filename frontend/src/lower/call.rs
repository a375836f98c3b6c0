//! Calls: a definition is lowered once per *shape* of what it is applied to (types, functions with what they capture,
//! which values are the same variable); the variables in it are the parameters of the IR function.

mod abstraction;
mod instance;
mod rebuild;
mod result;

use super::apply::walk_def;
use super::env::{DefClosure, Frame};
use super::value::{Instance, Leaf, Ty, Value};
use super::{Lower, Res, unsupported};
use crate::source::Span;
use crate::typed::Prim;
use abstraction::Abstraction;
use midend::ir::id::{FunId, Var};
use midend::ir::syntax::{Atom, Exp as IrExp, Param};
use midend::ir::types::{Size, Type};
use std::collections::BTreeMap;
use std::rc::Rc;

/// A function that is lowered or being lowered.
pub struct Spec<'a> {
    /// The function.
    pub fun: FunId,
    params: Vec<Param>,
    /// The result in terms of parameters and result formals; nothing until it is known.
    result: Option<ResultShape<'a>>,
    def: Rc<DefClosure<'a>>,
    frame: Option<Rc<Frame<'a>>>,
}

#[derive(Clone)]
struct ResultShape<'a> {
    sizes: Vec<Var>,
    leaves: Vec<Param>,
    value: Value<'a>,
}

impl<'a> Lower<'a> {
    /// Calls a definition.
    pub fn call(
        &mut self,
        def: &Rc<DefClosure<'a>>,
        inst: &Instance,
        args: &[Value<'a>],
        span: Span,
    ) -> Res<Value<'a>> {
        let frame = self.prepare(def, inst, args);
        let captured = self.captured(
            std::ptr::from_ref(def.def).addr(),
            &mut |f| walk_def(def.def, f),
            &def.frame,
        );
        let mut bindings = frame.own();
        bindings.extend(captured);
        let mut abs = Abstraction::default();
        abs.tokens.push(std::ptr::from_ref(def.def).addr() as u64);
        abs.tokens.push(u64::from(self.home(&def.frame).id));
        // In parallel code payloads have other sizes, so that instances are not shared with other code.
        if self.is_parallel() && self.tells_payloads(def, &frame) {
            abs.tokens.push(u64::MAX);
        }
        self.abstract_bindings(&bindings, &mut abs);
        if abs.atoms.iter().any(|(a, _)| self.ty(*a).is_acc()) {
            // What an update does is only known in place.
            if def.def.recursive {
                let what = "an accumulator as an argument of a recursive function";
                return Err(unsupported(span, what));
            }
            return self.inline(def, inst, args, span);
        }
        let index = match self.specs.get(&abs.tokens) {
            Some(index) => *index,
            None => {
                let made = self.specialise(def, &bindings, &abs);
                made.map_err(|diagnostic| self.blame_the_call(diagnostic, span))?
            }
        };
        let result = self.spec_rows[index].result.as_ref();
        if result.is_some_and(|shape| shape.value.has_fun()) {
            // A function is no result of a call: what it captures is only known in place.
            return self.inline(def, inst, args, span);
        }
        self.emit_call(index, &abs, span)
    }

    /// The frame in which the body would be lowered in place, with sizes as variables.
    fn prepare(
        &mut self,
        def: &Rc<DefClosure<'a>>,
        inst: &Instance,
        originals: &[Value<'a>],
    ) -> Rc<Frame<'a>> {
        let sizes = inst.sizes.iter().map(|s| s.map(|s| self.size_var(s)));
        let inst = Instance {
            types: inst.types.clone(),
            sizes: sizes.collect(),
        };
        let frame = self.def_frame(def, &inst);
        let args: Vec<Value<'a>> = def
            .def
            .params
            .iter()
            .zip(originals)
            .map(|(param, arg)| {
                let arg = arg.with_shared(true);
                let prim = matches!(param.ty, crate::typed::Type::Prim(Prim::I64));
                match (&param.kind, &arg) {
                    // A number that may occur in sizes is passed as a variable too.
                    (crate::typed::PatKind::Name(_), Value::Leaf(leaf)) if prim => {
                        let size = super::value::size_of_atom(leaf.atom);
                        match size {
                            Some(size) => Value::scalar(self.size_var(size)),
                            None => arg,
                        }
                    }
                    _ => arg,
                }
            })
            .collect();
        self.bind_params(&def.def.params, &args, &frame);
        self.mark_unique(def, originals, &frame);
        frame
    }

    /// Arrays that the parameters' types call unique are consumed by the call.
    fn mark_unique(&mut self, def: &Rc<DefClosure<'a>>, args: &[Value<'a>], frame: &Rc<Frame<'a>>) {
        for (param, arg) in def.def.params.iter().zip(args) {
            let ty = self.eval_type(&param.ty, frame);
            if has_unique(&ty) {
                let arg = self.cast(arg, &ty);
                let own = self.unique_parts(&arg, &ty, false);
                self.bind_pat(param, &own, frame);
            }
        }
    }

    /// The value with its unique parts consumed: they are no longer shared.
    fn unique_parts(&mut self, v: &Value<'a>, ty: &Ty, unique: bool) -> Value<'a> {
        match (v, ty) {
            (Value::Array { dims, elem }, Ty::Array(a)) => {
                let mut row = ty;
                for _ in dims.iter() {
                    if let Ty::Array(a) = row {
                        row = &a.elem;
                    }
                }
                Value::Array {
                    dims: Rc::clone(dims),
                    elem: Rc::new(self.unique_parts(elem, row, unique || a.unique)),
                }
            }
            (
                Value::Leaf(_)
                | Value::Array { .. }
                | Value::Tuple(_)
                | Value::Record(_)
                | Value::Sum(_)
                | Value::Rows(_)
                | Value::Fun(_),
                _,
            ) => {
                let parts = v.map_typed(ty, &mut |v, t| self.unique_parts(v, t, unique));
                parts.unwrap_or_else(|| if unique { self.unshared(v) } else { v.clone() })
            }
        }
    }

    /// The value with copies of what is shared.
    fn unshared(&mut self, v: &Value<'a>) -> Value<'a> {
        v.map_parts(&mut |leaf| {
            if leaf.shared {
                self.copy_leaf(leaf)
            } else {
                leaf
            }
        })
    }

    // --- Abstraction --------------------------------------------------------

    // --- Instances ----------------------------------------------------------

    fn emit_call(&mut self, index: usize, abs: &Abstraction, span: Span) -> Res<Value<'a>> {
        if self.spec_rows[index].result.is_none() {
            self.declare_early(index);
        }
        let spec = &self.spec_rows[index];
        let Some(shape) = spec.result.clone() else {
            let message = "a function that calls itself through another function";
            return Err(unsupported(span, message));
        };
        let (fun, params) = (spec.fun, spec.params.clone());
        let mut subst: BTreeMap<Var, Atom> = BTreeMap::new();
        let mut args = Vec::with_capacity(params.len());
        for (param, (atom, unique)) in params.iter().zip(&abs.atoms) {
            let atom = if *unique {
                self.consume(Leaf::new(*atom))
            } else {
                *atom
            };
            subst.insert(param.var, atom);
            args.push(atom);
        }
        let mut binds = Vec::new();
        for size in &shape.sizes {
            let name = self.vars[*size].name.clone();
            let v = self.fresh(&name, Type::I64);
            subst.insert(*size, v.into());
            binds.push(v);
        }
        for leaf in &shape.leaves {
            let ty = self.vars[leaf.var].ty.clone();
            let dims: Vec<Size> = ty
                .shape()
                .iter()
                .filter_map(|d| d.size())
                .map(|s| {
                    super::value::subst_size(s, &mut |a| match a {
                        Atom::Var(v) => subst.get(&v).copied().unwrap_or(a),
                        Atom::Const(_) => a,
                    })
                })
                .collect();
            let elem = ty.elem().map_or(ty.clone(), Type::Scalar);
            let v = self.fresh("t", Type::array_of(&elem, &dims));
            subst.insert(leaf.var, v.into());
            binds.push(v);
            if !leaf.unique {
                self.alias(v, args.iter().copied());
            }
        }
        if !binds.is_empty() {
            self.push(binds, IrExp::Call { fun, args });
        }
        Ok(shape.value.subst(&mut |a| match a {
            Atom::Var(v) => subst.get(&v).copied().unwrap_or(a),
            Atom::Const(_) => a,
        }))
    }
}

/// Whether some part of the type is unique.
fn has_unique(ty: &Ty) -> bool {
    match ty {
        Ty::Scalar(_) | Ty::Fun => false,
        Ty::Array(a) => a.unique || has_unique(&a.elem),
        Ty::Tuple(ts) => ts.iter().any(has_unique),
        Ty::Record(ts) => ts.iter().any(|(_, t)| has_unique(t)),
        Ty::Sum(cons) => cons.iter().any(|(_, ts)| ts.iter().any(has_unique)),
    }
}
