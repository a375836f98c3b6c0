//! Values of the top level: each is one IR function without source parameters, called at the start of every entry point
//! that needs it; functions that use it get it as further parameters, added when everything is lowered.

use super::emit::FnCx;
use super::env::DefClosure;
use super::value::{Leaf, Value};
use super::{Lower, Res};
use crate::typed::Name;
use midend::ir::dialect::Dialect;
use midend::ir::id::{FunId, Var};
use midend::ir::soac::Soac;
use midend::ir::span::Spans;
use midend::ir::syntax::{Atom, Body, Exp, Fun, Inline, LoopForm, Param, Stm};
use midend::ir::types::{Size, Type};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// A value of the top level.
pub struct Global<'a> {
    def: Rc<DefClosure<'a>>,
    state: State<'a>,
}

#[derive(Clone)]
enum State<'a> {
    New,
    Busy,
    /// The function that computes it and its result in terms of the function's result formals.
    Done(FunId, Value<'a>, Vec<Var>),
    /// It is made of constants alone.
    Constant(Value<'a>),
}

impl<'a> Global<'a> {
    /// A value that has not been needed yet.
    pub fn new(def: Rc<DefClosure<'a>>) -> Self {
        Self {
            def,
            state: State::New,
        }
    }
}

impl<'a> Lower<'a> {
    /// The value of a global in the function that is being lowered.
    pub fn global_value(&mut self, global: usize) -> Res<Value<'a>> {
        if let Some(v) = self.cx.globals.get(&global) {
            return Ok(v.clone());
        }
        self.lower_global(global)?;
        match self.globals[global].state.clone() {
            State::Constant(v) => Ok(v),
            State::Done(_, shape, formals) => {
                let (v, vars) = self.fresh_global(&shape, &formals);
                self.cx.global_vars.extend(vars);
                self.cx.globals.insert(global, v.clone());
                Ok(v)
            }
            State::New | State::Busy => {
                let def = &self.globals[global].def.def;
                Err(super::unsupported(
                    def.span,
                    "a value that depends on itself",
                ))
            }
        }
    }

    /// An existential size of a global.
    pub fn global_size(&mut self, global: usize, name: Name) -> Option<Size> {
        let v = self.global_value(global).ok()?;
        let def = Rc::clone(&self.globals[global].def);
        let frame = self.frame(Some(Rc::clone(&def.frame)));
        self.bind_exts(&[name], &def.def.ret.ty, &v, &frame);
        match frame.lookup(name) {
            Some(super::env::Binding::Size(size)) => size,
            _ => None,
        }
    }

    /// Fresh variables for a global, sizes before arrays.
    fn fresh_global(&mut self, shape: &Value<'a>, formals: &[Var]) -> (Value<'a>, Vec<Var>) {
        let mut subst: BTreeMap<Var, Atom> = BTreeMap::new();
        let mut vars = Vec::new();
        for formal in formals {
            let info = self.vars[*formal].clone();
            let dims: Vec<Size> = info
                .ty
                .shape()
                .iter()
                .filter_map(|d| d.size())
                .map(|s| super::value::subst_size(s, &mut |a| through(&subst, a)))
                .collect();
            let elem = info.ty.elem().map_or(info.ty.clone(), Type::Scalar);
            let v = self.fresh(&info.name, Type::array_of(&elem, &dims));
            subst.insert(*formal, v.into());
            vars.push(v);
        }
        let v = shape.subst(&mut |a| through(&subst, a)).with_shared(true);
        (v, vars)
    }

    fn lower_global(&mut self, global: usize) -> Res<()> {
        if !matches!(self.globals[global].state, State::New) {
            return Ok(());
        }
        self.globals[global].state = State::Busy;
        let def = Rc::clone(&self.globals[global].def);
        let outer_cx = std::mem::take(&mut self.cx);
        let outer_at = std::mem::replace(&mut self.inlined_at, Spans::NONE);
        let outer_span = self.span;
        let frame = self.frame(Some(Rc::clone(&def.frame)));
        let (v, stms) = self.nested(|l| {
            let v = l.exp(&def.def.body, &frame)?;
            let ty = l.eval_type(&def.def.ret.ty, &frame);
            Ok(l.cast(&v, &ty))
        })?;
        let cx = std::mem::replace(&mut self.cx, outer_cx);
        self.inlined_at = outer_at;
        self.span = outer_span;
        let constant = v.parts().iter().all(|l| matches!(l.atom, Atom::Const(_)))
            && !v.has_fun()
            && super::loops::dims_of(&v)
                .iter()
                .all(|d| matches!(d, Size::Const(_)))
            && stms.is_empty();
        self.globals[global].state = if constant {
            State::Constant(v)
        } else {
            self.global_function(&def, v, stms, cx)
        };
        Ok(())
    }

    fn global_function(
        &mut self,
        def: &Rc<DefClosure<'a>>,
        v: Value<'a>,
        stms: Vec<Stm<Soac>>,
        cx: FnCx<'a>,
    ) -> State<'a> {
        let mut subst: BTreeMap<Var, Atom> = BTreeMap::new();
        let mut formals = Vec::new();
        let mut result = Vec::new();
        for dim in super::loops::dims_of(&v) {
            if let Size::Var(d) = dim
                && !subst.contains_key(&d)
            {
                let formal = self.fresh("n", Type::I64);
                subst.insert(d, formal.into());
                formals.push(formal);
                result.push(Atom::Var(d));
            }
        }
        let sizes = subst.clone();
        let shape = v.map_parts(&mut |leaf| {
            let ty = self.ty(leaf.atom);
            let dims: Vec<Size> = ty
                .shape()
                .iter()
                .filter_map(|d| d.size())
                .map(|s| super::value::subst_size(s, &mut |a| through(&sizes, a)))
                .collect();
            let elem = ty.elem().map_or(ty.clone(), Type::Scalar);
            let formal = self.fresh("g", Type::array_of(&elem, &dims));
            formals.push(formal);
            result.push(leaf.atom);
            Leaf::new(formal.into())
        });
        let shape = subst_dims(&shape, &sizes);
        let name = self.typed.names.get(def.def.name).text.clone();
        let name = self.unique_name(&name);
        let span = self.span_id(def.def.span);
        let results = formals.iter().map(|v| Param {
            var: *v,
            unique: false,
        });
        let fun = self.funs.push(Fun {
            name,
            entry: None,
            params: Vec::new(),
            results: results.collect(),
            body: Body { stms, result },
            inline: Inline::Auto,
            derivative: None,
            span,
        });
        self.fun_globals.insert(fun, cx.globals);
        State::Done(fun, shape, formals)
    }

    /// Gives every function the globals that it needs, and computes them in the entry points.
    pub fn pass_globals(&mut self) {
        let ids: Vec<FunId> = self.funs.ids().collect();
        let mut calls: BTreeMap<FunId, BTreeSet<FunId>> = BTreeMap::new();
        for id in &ids {
            let mut callees = BTreeSet::new();
            each_call(&mut self.funs[*id].body, &mut |fun, _| {
                callees.insert(fun);
            });
            calls.insert(*id, callees);
        }
        let mut needs: BTreeMap<FunId, BTreeSet<usize>> = BTreeMap::new();
        for id in &ids {
            let own = self.fun_globals.get(id);
            needs.insert(
                *id,
                own.into_iter().flat_map(|g| g.keys().copied()).collect(),
            );
        }
        // Entry points need what their globals need.
        let compute: BTreeMap<usize, FunId> = self
            .globals
            .iter()
            .enumerate()
            .filter_map(|(i, g)| match &g.state {
                State::Done(fun, ..) => Some((i, *fun)),
                State::New | State::Busy | State::Constant(_) => None,
            })
            .collect();
        loop {
            let mut changed = false;
            for id in &ids {
                let mut all = needs[id].clone();
                for callee in &calls[id] {
                    all.extend(&needs[callee]);
                }
                if self.funs[*id].entry.is_some() {
                    for global in all.clone() {
                        all.extend(&needs[&compute[&global]]);
                    }
                }
                if all.len() != needs[id].len() {
                    needs.insert(*id, all);
                    changed = true;
                }
            }
            if !changed {
                break;
            }
        }
        for id in ids {
            self.pass_to(id, &needs, &compute);
        }
    }

    fn pass_to(
        &mut self,
        id: FunId,
        needs: &BTreeMap<FunId, BTreeSet<usize>>,
        compute: &BTreeMap<usize, FunId>,
    ) {
        let own = self.fun_globals.remove(&id).unwrap_or_default();
        let mut vars: BTreeMap<usize, Vec<Var>> = BTreeMap::new();
        for global in &needs[&id] {
            let State::Done(_, shape, formals) = self.globals[*global].state.clone() else {
                continue;
            };
            let list = match own.get(global) {
                Some(v) => self.vars_like(&shape, &formals, v),
                None => self.fresh_global(&shape, &formals).1,
            };
            vars.insert(*global, list);
        }
        let globals = |fun: &FunId| -> Vec<Atom> {
            let needed = needs[fun].iter();
            needed
                .flat_map(|g| vars[g].iter().map(|v| Atom::Var(*v)))
                .collect()
        };
        let mut body = std::mem::replace(
            &mut self.funs[id].body,
            Body {
                stms: Vec::new(),
                result: Vec::new(),
            },
        );
        each_call(&mut body, &mut |fun, args| args.extend(globals(&fun)));
        if self.funs[id].entry.is_some() {
            let mut prologue = Vec::new();
            for global in global_order(&needs[&id], needs, compute) {
                let fun = compute[&global];
                prologue.push(Stm {
                    binds: vars[&global].clone(),
                    certs: Vec::new(),
                    exp: Exp::Call {
                        fun,
                        args: globals(&fun),
                    },
                    span: Spans::NONE,
                });
            }
            prologue.append(&mut body.stms);
            body.stms = prologue;
        } else {
            let params = vars.values().flatten().map(|v| Param {
                var: *v,
                unique: false,
            });
            let params: Vec<Param> = params.collect();
            self.funs[id].params.extend(params);
        }
        self.funs[id].body = body;
    }

    /// The variables that stand for the formals of a global in a value made by [`Lower::fresh_global`].
    fn vars_like(&self, shape: &Value<'a>, formals: &[Var], v: &Value<'a>) -> Vec<Var> {
        let mut found: BTreeMap<Var, Var> = BTreeMap::new();
        let dims = super::loops::dims_of(shape).into_iter();
        for (a, b) in dims.zip(super::loops::dims_of(v)) {
            if let (Size::Var(a), Size::Var(b)) = (a, b) {
                found.insert(a, b);
            }
        }
        for (a, b) in shape.parts().into_iter().zip(v.parts()) {
            if let (Atom::Var(a), Atom::Var(b)) = (a.atom, b.atom) {
                found.insert(a, b);
            }
        }
        let vars = formals.iter().filter_map(|f| found.get(f).copied());
        vars.collect()
    }
}

fn through(subst: &BTreeMap<Var, Atom>, atom: Atom) -> Atom {
    match atom {
        Atom::Var(v) => subst.get(&v).copied().unwrap_or(atom),
        Atom::Const(_) => atom,
    }
}

fn subst_dims<'a>(v: &Value<'a>, sizes: &BTreeMap<Var, Atom>) -> Value<'a> {
    v.subst(&mut |a| through(sizes, a))
}

/// Globals in the order in which they can be computed.
fn global_order(
    wanted: &BTreeSet<usize>,
    needs: &BTreeMap<FunId, BTreeSet<usize>>,
    compute: &BTreeMap<usize, FunId>,
) -> Vec<usize> {
    fn visit(
        g: usize,
        needs: &BTreeMap<FunId, BTreeSet<usize>>,
        compute: &BTreeMap<usize, FunId>,
        seen: &mut BTreeSet<usize>,
        order: &mut Vec<usize>,
    ) {
        if !seen.insert(g) {
            return;
        }
        for dep in &needs[&compute[&g]] {
            visit(*dep, needs, compute, seen, order);
        }
        order.push(g);
    }
    let mut order = Vec::new();
    let mut seen = BTreeSet::new();
    for g in wanted {
        visit(*g, needs, compute, &mut seen, &mut order);
    }
    order
}

/// Calls `f` on every call in a body and the bodies inside.
fn each_call(body: &mut Body<Soac>, f: &mut dyn FnMut(FunId, &mut Vec<Atom>)) {
    stacker::maybe_grow(64 * 1024, 1024 * 1024, || {
        for stm in &mut body.stms {
            match &mut stm.exp {
                Exp::Atom(_) | Exp::Scalar(..) | Exp::Assert { .. } | Exp::Guard { .. } => {}
                Exp::If {
                    then, otherwise, ..
                } => {
                    each_call(then, f);
                    each_call(otherwise, f);
                }
                Exp::Loop { form, body, .. } => {
                    if let LoopForm::While(cond) = form {
                        each_call(cond, f);
                    }
                    each_call(body, f);
                }
                Exp::Call { fun, args } => f(*fun, args),
                Exp::Op(op) => op.scopes_mut(&mut |_, body| each_call(body, f)),
            }
        }
    });
}
