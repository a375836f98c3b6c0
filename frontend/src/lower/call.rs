//! Calls: a definition is lowered once per *shape* of what it is applied to (types, functions with what they capture,
//! which values are the same variable); the variables in it are the parameters of the IR function.

use super::apply::walk_def;
use super::emit::FnCx;
use super::env::{Binding, DefClosure, Frame};
use super::mentions;
use super::value::{Code, FunValue, Instance, Leaf, SumValue, Ty, Value};
use super::{Lower, Res, unsupported};
use crate::source::Span;
use crate::typed::{Name, Prim};
use midend::ir::id::{FunId, Var};
use midend::ir::span::Spans;
use midend::ir::syntax::{Atom, Body, Exp as IrExp, Fun, Inline, Param};
use midend::ir::types::{Dim, Size, Type};
use std::collections::{BTreeMap, BTreeSet, HashMap};
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

/// The collection of what a call depends on: `tokens` is the key, `atoms` are the arguments.
#[derive(Default)]
struct Abstraction {
    tokens: Vec<u64>,
    atoms: Vec<(Atom, bool)>,
    index: HashMap<Var, usize>,
    closures: HashMap<usize, u64>,
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
        self.abstract_bindings(&bindings, &mut abs);
        let index = match self.specs.get(&abs.tokens) {
            Some(index) => *index,
            None => self.specialise(def, &bindings, &abs)?,
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
            (Value::Tuple(vs), Ty::Tuple(ts)) => Value::Tuple(
                vs.iter()
                    .zip(ts.iter())
                    .map(|(v, t)| self.unique_parts(v, t, unique))
                    .collect(),
            ),
            (Value::Record(vs), Ty::Record(ts)) => Value::Record(
                vs.iter()
                    .zip(ts.iter())
                    .map(|((name, v), (_, t))| (name.clone(), self.unique_parts(v, t, unique)))
                    .collect(),
            ),
            (Value::Sum(sum), Ty::Sum(cons)) => {
                let pairs = sum.cons.iter().zip(cons.iter());
                let cons = pairs
                    .map(|((name, vs), (_, ts))| {
                        let vs = vs.iter().zip(ts);
                        let vs = vs.map(|(v, t)| self.unique_parts(v, t, unique));
                        (name.clone(), vs.collect())
                    })
                    .collect();
                Value::Sum(Rc::new(SumValue { tag: sum.tag, cons }))
            }
            (
                Value::Leaf(_)
                | Value::Array { .. }
                | Value::Tuple(_)
                | Value::Record(_)
                | Value::Sum(_)
                | Value::Fun(_),
                _,
            ) if unique => v.map_leaves(&mut |leaf| {
                if leaf.shared {
                    self.copy_leaf(leaf)
                } else {
                    leaf
                }
            }),
            (
                Value::Leaf(_)
                | Value::Array { .. }
                | Value::Tuple(_)
                | Value::Record(_)
                | Value::Sum(_)
                | Value::Fun(_),
                _,
            ) => v.clone(),
        }
    }

    // --- Abstraction --------------------------------------------------------

    fn abstract_bindings(&mut self, bindings: &[(Name, Binding<'a>)], abs: &mut Abstraction) {
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

    fn abstract_size(&mut self, size: Option<Size>, abs: &mut Abstraction) {
        match size {
            None => abs.tokens.push(1),
            Some(Size::Const(n)) => abs.tokens.extend([2, n.cast_unsigned()]),
            Some(Size::Var(v)) => self.abstract_atom(Atom::Var(v), false, abs),
        }
    }

    fn abstract_ty(&mut self, ty: &Ty, abs: &mut Abstraction) {
        match ty {
            Ty::Scalar(s) => abs.tokens.extend([10, *s as u64]),
            Ty::Array(a) => {
                abs.tokens.push(11);
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

    fn abstract_atom(&mut self, atom: Atom, unique: bool, abs: &mut Abstraction) {
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

    fn abstract_leaf(&mut self, leaf: Leaf, abs: &mut Abstraction) {
        let array = self.ty(leaf.atom).is_array();
        self.abstract_atom(leaf.atom, array && !leaf.shared, abs);
    }

    fn abstract_value(&mut self, v: &Value<'a>, abs: &mut Abstraction) {
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
            Value::Fun(fun) => self.abstract_fun(fun, abs),
        }
    }

    fn abstract_fun(&mut self, fun: &FunValue<'a>, abs: &mut Abstraction) {
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

    fn abstract_inst(&mut self, inst: &Instance, abs: &mut Abstraction) {
        abs.tokens
            .extend([inst.types.len() as u64, inst.sizes.len() as u64]);
        inst.types.iter().for_each(|t| self.abstract_ty(t, abs));
        inst.sizes.iter().for_each(|s| self.abstract_size(*s, abs));
    }

    fn abstract_def(&mut self, def: &Rc<DefClosure<'a>>, abs: &mut Abstraction) {
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

    // --- Instances ----------------------------------------------------------

    fn specialise(
        &mut self,
        def: &Rc<DefClosure<'a>>,
        bindings: &[(Name, Binding<'a>)],
        abs: &Abstraction,
    ) -> Res<usize> {
        let mut subst: BTreeMap<Var, Atom> = BTreeMap::new();
        let mut constants: Vec<Atom> = Vec::new();
        let mut params = Vec::new();
        for (atom, unique) in &abs.atoms {
            let ty = self.ty(*atom);
            let shape = ty.shape().iter().map(|dim| match dim {
                Dim::Size(Size::Var(v)) => match subst.get(v) {
                    Some(Atom::Var(p)) => Dim::Size(Size::Var(*p)),
                    Some(Atom::Const(_)) | None => *dim,
                },
                Dim::Size(Size::Const(_)) | Dim::Ragged(_) => *dim,
            });
            let ty = match &ty {
                Type::Array(a) => Type::Array(midend::ir::types::ArrayType {
                    elem: a.elem,
                    shape: shape.collect(),
                }),
                Type::Scalar(_) | Type::Buffer(_) | Type::Cert => ty.clone(),
            };
            let name = match atom {
                Atom::Var(v) => self.vars[*v].name.clone(),
                Atom::Const(_) => String::from("c"),
            };
            let param = self.fresh(&name, ty);
            params.push(Param {
                var: param,
                unique: *unique,
            });
            match atom {
                Atom::Var(v) => {
                    subst.insert(*v, param.into());
                }
                Atom::Const(_) => constants.push(param.into()),
            }
        }
        let fun = self.new_function(def);
        let index = self.spec_rows.len();
        self.specs.insert(abs.tokens.clone(), index);
        self.spec_rows.push(Spec {
            fun,
            params: params.clone(),
            result: None,
            def: Rc::clone(def),
            frame: None,
        });
        let home = self.home(&def.frame);
        let frame = self.frame(Some(home));
        self.spec_rows[index].frame = Some(Rc::clone(&frame));
        let mut rebuild = Rebuild {
            subst,
            constants: constants.into_iter(),
            closures: HashMap::new(),
        };
        for (name, binding) in bindings {
            let binding = self.rebuild_binding(binding, &mut rebuild);
            frame.bind(*name, binding);
        }
        self.lower_spec(def, index, &frame, &params)?;
        Ok(index)
    }

    fn new_function(&mut self, def: &Rc<DefClosure<'a>>) -> FunId {
        let name = self.unique_name(&self.typed.names.get(def.def.name).text.clone());
        let attr = |name: &str| def.def.attrs.iter().any(|a| a.name == name);
        let inline = if def.def.recursive || attr("noinline") {
            Inline::Never
        } else if attr("inline") {
            Inline::Always
        } else {
            Inline::Auto
        };
        let outer = std::mem::replace(&mut self.inlined_at, Spans::NONE);
        let place = self.span_id(def.def.span);
        self.inlined_at = outer;
        self.funs.push(Fun {
            name,
            entry: None,
            params: Vec::new(),
            results: Vec::new(),
            body: Body {
                stms: Vec::new(),
                result: Vec::new(),
            },
            inline,
            span: place,
        })
    }

    fn lower_spec(
        &mut self,
        def: &Rc<DefClosure<'a>>,
        index: usize,
        frame: &Rc<Frame<'a>>,
        params: &[Param],
    ) -> Res<()> {
        let outer_cx = std::mem::replace(&mut self.cx, FnCx::default());
        let outer_at = std::mem::replace(&mut self.inlined_at, Spans::NONE);
        let outer_span = self.span;
        let fixed: BTreeSet<Var> = params.iter().map(|p| p.var).collect();
        let ((), stms) = self.nested(|l| {
            if def.def.recursive {
                l.declare_result(def, index, frame, &fixed);
            }
            let v = l.exp(&def.def.body, frame)?;
            let ty = l.eval_type(&def.def.ret.ty, frame);
            let v = l.cast(&v, &ty);
            let shape = l.spec_rows[index].result.clone();
            let (shape, result) = match shape {
                Some(shape) => {
                    let result = l.result_in(&shape, &v);
                    (shape, result)
                }
                None => l.result_shape(&v, &ty, &fixed, params),
            };
            l.spec_result = result;
            l.spec_rows[index].result = Some(shape);
            Ok(())
        })?;
        let result = std::mem::take(&mut self.spec_result);
        let spec = &self.spec_rows[index];
        let formals = spec.result.iter().flat_map(|shape| {
            let sizes = shape.sizes.iter().map(|v| Param {
                var: *v,
                unique: false,
            });
            sizes.chain(shape.leaves.iter().copied())
        });
        let (fun, formals) = (spec.fun, formals.collect());
        let params = spec.params.clone();
        let row = &mut self.funs[fun];
        row.params = params;
        row.results = formals;
        row.body = Body { stms, result };
        let cx = std::mem::replace(&mut self.cx, outer_cx);
        self.fun_globals.insert(fun, cx.globals);
        self.inlined_at = outer_at;
        self.span = outer_span;
        Ok(())
    }

    /// A function that is called while it is lowered, through another one: its result is what its type says.
    fn declare_early(&mut self, index: usize) {
        let spec = &self.spec_rows[index];
        let fixed = spec.params.iter().map(|p| p.var).collect();
        let def = Rc::clone(&spec.def);
        if let Some(frame) = spec.frame.clone() {
            self.declare_result(&def, index, &frame, &fixed);
        }
    }

    /// The result of a recursive function, from its declared type alone.
    fn declare_result(
        &mut self,
        def: &Rc<DefClosure<'a>>,
        index: usize,
        frame: &Rc<Frame<'a>>,
        fixed: &BTreeSet<Var>,
    ) {
        let ty = self.eval_type(&def.def.ret.ty, frame);
        let mut sizes = Vec::new();
        let mut leaves = Vec::new();
        let value = self.template(
            &ty,
            &mut Vec::new(),
            &mut |l, dim| match dim {
                Some(Size::Const(n)) => Size::Const(n),
                Some(Size::Var(v)) if fixed.contains(&v) => Size::Var(v),
                Some(Size::Var(_)) | None => {
                    let v = l.fresh("n", Type::I64);
                    sizes.push(v);
                    Size::Var(v)
                }
            },
            &mut |l, ty, unique| {
                let var = l.fresh("r", ty.clone());
                let unique = unique && ty.is_array();
                leaves.push(Param { var, unique });
                Leaf {
                    shared: !unique,
                    ..Leaf::new(Atom::Var(var))
                }
            },
            false,
        );
        self.spec_rows[index].result = Some(ResultShape {
            sizes,
            leaves,
            value,
        });
    }

    /// The atoms of a result for a shape that is known.
    fn result_in(&mut self, shape: &ResultShape<'a>, v: &Value<'a>) -> Vec<Atom> {
        let mut found: BTreeMap<Var, Size> = BTreeMap::new();
        let want = super::loops::dims_of(&shape.value);
        let have = super::loops::dims_of(v);
        for (want, have) in want.into_iter().zip(have) {
            if let Size::Var(v) = want {
                found.entry(v).or_insert(have);
            }
        }
        let mut result: Vec<Atom> = Vec::new();
        for size in &shape.sizes {
            result.push(found.get(size).map_or(Atom::Var(*size), |s| (*s).into()));
        }
        for (param, leaf) in shape.leaves.iter().zip(v.leaves()) {
            let atom = if param.unique {
                self.owned_result(leaf, &result)
            } else {
                leaf.atom
            };
            result.push(atom);
        }
        result
    }

    /// A result that aliases nothing that the caller may still read.
    fn owned_result(&mut self, leaf: Leaf, others: &[Atom]) -> Atom {
        if leaf.shared || others.contains(&leaf.atom) {
            return self.copy_leaf(leaf).atom;
        }
        leaf.atom
    }

    /// The shape of a result, from the result itself: sizes that are not parameters are results too.
    fn result_shape(
        &mut self,
        v: &Value<'a>,
        ty: &Ty,
        fixed: &BTreeSet<Var>,
        params: &[Param],
    ) -> (ResultShape<'a>, Vec<Atom>) {
        let mut subst: BTreeMap<Var, Atom> = BTreeMap::new();
        let mut sizes = Vec::new();
        let mut result = Vec::new();
        for dim in super::loops::dims_of(v) {
            if let Size::Var(d) = dim
                && !fixed.contains(&d)
                && !subst.contains_key(&d)
            {
                let formal = self.fresh("n", Type::I64);
                subst.insert(d, formal.into());
                sizes.push(formal);
                result.push(Atom::Var(d));
            }
        }
        let declared = unique_leaves(ty);
        let frozen: BTreeSet<Var> = params.iter().filter(|p| !p.unique).map(|p| p.var).collect();
        let mut leaves = Vec::new();
        let mut seen: BTreeSet<Var> = BTreeSet::new();
        let mut next = 0;
        let value = v.map_leaves(&mut |leaf| {
            let is_array = self.ty(leaf.atom).is_array();
            let declared = declared.get(next).copied().unwrap_or(false);
            next += 1;
            let atom = if declared && is_array {
                self.owned_result(leaf, &result)
            } else {
                leaf.atom
            };
            let fresh = is_array && !(leaf.shared && atom == leaf.atom) && {
                let roots = match atom {
                    Atom::Var(v) => self.roots(v),
                    Atom::Const(_) => BTreeSet::new(),
                };
                let fresh = roots.is_disjoint(&frozen) && roots.is_disjoint(&seen);
                seen.extend(roots);
                fresh
            };
            result.push(atom);
            let ty = self.ty(atom);
            let shape: Vec<Size> = ty
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
            let var = self.fresh("r", Type::array_of(&elem, &shape));
            leaves.push(Param { var, unique: fresh });
            Leaf {
                shared: is_array && !fresh,
                ..Leaf::new(Atom::Var(var))
            }
        });
        let leaf_vars: BTreeSet<Var> = leaves.iter().map(|p| p.var).collect();
        let value = value.subst(&mut |a| match a {
            Atom::Var(v) if !leaf_vars.contains(&v) => subst.get(&v).copied().unwrap_or(a),
            Atom::Var(_) | Atom::Const(_) => a,
        });
        let shape = ResultShape {
            sizes,
            leaves,
            value,
        };
        (shape, result)
    }

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

/// The substitution of an instance's parameters for what it was abstracted from, in the same order of traversal.
struct Rebuild<'a> {
    subst: BTreeMap<Var, Atom>,
    constants: std::vec::IntoIter<Atom>,
    closures: HashMap<usize, Rc<DefClosure<'a>>>,
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
            Size::Var(_) => super::value::size_of_atom(self.atom(Atom::from(size))).unwrap_or(size),
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
    fn rebuild_binding(&mut self, binding: &Binding<'a>, r: &mut Rebuild<'a>) -> Binding<'a> {
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

    fn rebuild_value(&mut self, v: &Value<'a>, r: &mut Rebuild<'a>) -> Value<'a> {
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
            Value::Fun(fun) => Value::Fun(Rc::new(self.rebuild_fun(fun, r))),
        }
    }

    fn rebuild_fun(&mut self, fun: &FunValue<'a>, r: &mut Rebuild<'a>) -> FunValue<'a> {
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

    fn rebuild_def(&mut self, def: &Rc<DefClosure<'a>>, r: &mut Rebuild<'a>) -> Rc<DefClosure<'a>> {
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

    fn rebuild_frame(
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

/// For each leaf of a value of the type, whether the type calls it unique.
fn unique_leaves(ty: &Ty) -> Vec<bool> {
    fn go(ty: &Ty, unique: bool, out: &mut Vec<bool>) {
        match ty {
            Ty::Scalar(_) => out.push(unique),
            Ty::Array(a) => go(&a.elem, unique || a.unique, out),
            Ty::Tuple(ts) => ts.iter().for_each(|t| go(t, unique, out)),
            Ty::Record(ts) => ts.iter().for_each(|(_, t)| go(t, unique, out)),
            Ty::Sum(cons) => {
                out.push(unique);
                for (_, ts) in cons.iter() {
                    ts.iter().for_each(|t| go(t, unique, out));
                }
            }
            Ty::Fun => {}
        }
    }
    let mut out = Vec::new();
    go(ty, false, &mut out);
    out
}

/// A number for a text in a key. Equal numbers for different texts would need a collision of 64 bits.
fn text_token(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |h, b| {
        (h ^ u64::from(b)).wrapping_mul(0x0100_0000_01b3)
    })
}
