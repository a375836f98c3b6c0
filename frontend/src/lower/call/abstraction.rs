//! The shape of what a function is applied to: a key, and the variables that become arguments.

use crate::lower::Lower;
use crate::lower::apply::walk_def;
use crate::lower::env::{Binding, DefClosure};
use crate::lower::mentions;
use crate::lower::value::{Code, FunValue, Instance, Leaf, Ty, Value};
use crate::typed::Name;
use midend::hash::HashMap;
use midend::ir::id::Var;
use midend::ir::syntax::Atom;
use midend::ir::types::Size;
use std::rc::Rc;

/// The collection of what a call depends on: `tokens` is the key, `atoms` are the arguments.
#[derive(Default)]
pub(super) struct Abstraction {
    pub(super) tokens: Vec<u64>,
    pub(super) atoms: Vec<(Atom, bool)>,
    pub(super) index: HashMap<Var, usize>,
    pub(super) closures: HashMap<usize, u64>,
}

impl<'a> Lower<'a> {
    pub(super) fn abstract_bindings(
        &mut self,
        bindings: &[(Name, Binding<'a>)],
        abs: &mut Abstraction,
    ) {
        abs.tokens.push(bindings.len() as u64);
        for (name, binding) in bindings {
            abs.tokens.push(u64::from(name.0));
            match binding {
                Binding::Value(v) => self.abstract_value(v, abs),
                Binding::Size(size) => self.abstract_size(*size, abs),
                Binding::Ty(ty) => self.abstract_ty(ty, abs),
                Binding::Def(def) => self.abstract_def(def, abs),
                Binding::Alias(alias) => {
                    abs.tokens.extend([40, u64::from(alias.frame.id)]);
                }
                Binding::TypeDef(def) => abs.tokens.extend([41, u64::from(def.frame.id)]),
                Binding::Global(global) | Binding::GlobalSize(global, _) => {
                    abs.tokens.extend([42, *global as u64]);
                }
                Binding::Functor(f) => abs.tokens.extend([43, Rc::as_ptr(f).addr() as u64]),
            }
        }
    }

    pub(super) fn abstract_size(&mut self, size: Option<Size>, abs: &mut Abstraction) {
        match size {
            None => abs.tokens.push(1),
            Some(Size::Const(n)) => abs.tokens.extend([2, n.cast_unsigned()]),
            Some(Size::Var(v)) => self.abstract_atom(Atom::Var(v), false, abs),
        }
    }

    pub(super) fn abstract_ty(&mut self, ty: &Ty, abs: &mut Abstraction) {
        match ty {
            Ty::Scalar(s) => abs.tokens.extend([10, *s as u64]),
            Ty::Array(a) => {
                abs.tokens.push(if a.irregular { 16 } else { 11 });
                self.abstract_size(a.dim, abs);
                self.abstract_ty(&a.elem, abs);
            }
            Ty::Tuple(ts) => {
                abs.tokens.extend([12, ts.len() as u64]);
                ts.iter().for_each(|t| self.abstract_ty(t, abs));
            }
            Ty::Record(ts) => {
                abs.tokens.extend([13, ts.len() as u64]);
                for (name, t) in ts.iter() {
                    abs.tokens.push(text_token(name));
                    self.abstract_ty(t, abs);
                }
            }
            Ty::Sum(cons) => {
                abs.tokens.extend([14, cons.len() as u64]);
                for (name, ts) in cons.iter() {
                    abs.tokens.extend([text_token(name), ts.len() as u64]);
                    ts.iter().for_each(|t| self.abstract_ty(t, abs));
                }
            }
            Ty::Fun => abs.tokens.push(15),
        }
    }

    pub(super) fn abstract_atom(&mut self, atom: Atom, unique: bool, abs: &mut Abstraction) {
        if let Atom::Var(v) = atom {
            if let Some(i) = abs.index.get(&v) {
                abs.tokens.extend([3, *i as u64]);
                return;
            }
            let dims = self.vars[v].ty.shape().to_vec();
            for dim in &dims {
                self.abstract_size(dim.size(), abs);
            }
            abs.index.insert(v, abs.atoms.len());
        }
        let ty = self.ty(atom);
        let elem = ty.elem().map_or(99, |s| s as u64);
        abs.tokens
            .extend([4, elem, ty.rank() as u64, u64::from(unique)]);
        abs.atoms.push((atom, unique));
    }

    pub(super) fn abstract_leaf(&mut self, leaf: Leaf, abs: &mut Abstraction) {
        let array = self.ty(leaf.atom).is_array();
        self.abstract_atom(leaf.atom, array && !leaf.shared, abs);
    }

    pub(super) fn abstract_value(&mut self, v: &Value<'a>, abs: &mut Abstraction) {
        match v {
            Value::Leaf(leaf) => {
                abs.tokens.push(20);
                self.abstract_leaf(*leaf, abs);
            }
            Value::Array { dims, elem } => {
                abs.tokens.extend([21, dims.len() as u64]);
                dims.iter().for_each(|d| self.abstract_size(Some(*d), abs));
                self.abstract_value(elem, abs);
            }
            Value::Tuple(vs) => {
                abs.tokens.extend([22, vs.len() as u64]);
                vs.iter().for_each(|v| self.abstract_value(v, abs));
            }
            Value::Record(vs) => {
                abs.tokens.extend([23, vs.len() as u64]);
                for (name, v) in vs.iter() {
                    abs.tokens.push(text_token(name));
                    self.abstract_value(v, abs);
                }
            }
            Value::Sum(sum) => {
                abs.tokens.extend([24, sum.cons.len() as u64]);
                self.abstract_leaf(sum.tag, abs);
                for (name, vs) in &sum.cons {
                    abs.tokens.extend([text_token(name), vs.len() as u64]);
                    vs.iter().for_each(|v| self.abstract_value(v, abs));
                }
            }
            Value::Rows(rows) => {
                abs.tokens.extend([25, u64::from(rows.compact)]);
                self.abstract_leaf(rows.begin, abs);
                self.abstract_leaf(rows.end, abs);
                self.abstract_value(&rows.pool, abs);
            }
            Value::Fun(fun) => self.abstract_fun(fun, abs),
        }
    }

    pub(super) fn abstract_fun(&mut self, fun: &FunValue<'a>, abs: &mut Abstraction) {
        match &fun.code {
            Code::Lambda {
                params,
                body,
                ret,
                frame,
            } => {
                let code = std::ptr::from_ref(*body).addr();
                abs.tokens.extend([30, code as u64]);
                abs.tokens.push(u64::from(self.home(frame).id));
                let captured = self.captured(
                    code,
                    &mut |f| {
                        params.iter().for_each(|p| mentions::pat(p, f));
                        mentions::ret(ret, f);
                        mentions::exp(body, f);
                    },
                    frame,
                );
                self.abstract_bindings(&captured, abs);
            }
            Code::Def { def, inst } => {
                self.abstract_def(def, abs);
                self.abstract_inst(inst, abs);
            }
            Code::Intrinsic { intrinsic, inst } => {
                abs.tokens
                    .extend([31, text_token(&format!("{intrinsic:?}"))]);
                self.abstract_inst(inst, abs);
            }
        }
        abs.tokens.push(fun.args.len() as u64);
        fun.args.iter().for_each(|v| {
            let v = v.with_shared(true);
            self.abstract_value(&v, abs);
        });
    }

    pub(super) fn abstract_inst(&mut self, inst: &Instance, abs: &mut Abstraction) {
        abs.tokens
            .extend([inst.types.len() as u64, inst.sizes.len() as u64]);
        inst.types.iter().for_each(|t| self.abstract_ty(t, abs));
        inst.sizes.iter().for_each(|s| self.abstract_size(*s, abs));
    }

    pub(super) fn abstract_def(&mut self, def: &Rc<DefClosure<'a>>, abs: &mut Abstraction) {
        let key = Rc::as_ptr(def).addr();
        if let Some(seen) = abs.closures.get(&key) {
            abs.tokens.extend([33, *seen]);
            return;
        }
        abs.closures.insert(key, abs.closures.len() as u64);
        let code = std::ptr::from_ref(def.def).addr();
        abs.tokens.extend([32, code as u64]);
        abs.tokens.push(u64::from(self.home(&def.frame).id));
        let captured = self.captured(code, &mut |f| walk_def(def.def, f), &def.frame);
        self.abstract_bindings(&captured, abs);
    }
}

/// A number for a text in a key. Equal numbers for different texts would need a collision of 64 bits.
pub(super) fn text_token(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |h, b| {
        (h ^ u64::from(b)).wrapping_mul(0x0100_0000_01b3)
    })
}
