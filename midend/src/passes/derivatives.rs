//! Writes the code of derivatives.
//!
//! A derivative in forward mode calls the *tangent function* of what it is the derivative of: the same function with a second
//! parameter for each float that has a tangent, and a second result for each float (dual numbers; Wengert 1964). Tangent functions
//! are made once for each function and set of parameters that have tangents, so that recursion is no special case. Inside, each statement is
//! followed by, or has in it, what computes the tangents of what it binds:
//!
//! - scalar operations by the table of [`crate::math::derivative`];
//! - array operations by the same operation on tangents ([`mod@array`]);
//! - parallel operators by the same operator with more inputs, operators on pairs of value and tangent, and more results
//!   ([`soac`]); such operators are associative if those that they are made of are;
//! - conditionals, loops and calls by more results, parameters and arguments ([`control`]).
//!
//! A variable without a tangent is constant, and no code is made for it; where a tangent is needed there are zeros. Tangents are
//! consumed where values are.
//!
//! A derivative inside of a function that is differentiated is written first.
//!
//! Derivatives in reverse mode call *adjoint functions* ([`reverse`]). Where they have no rule for something, [`refusals`] says what and where; the
//! front end reports it, so that the pass itself meets nothing of that kind.

mod array;
mod control;
mod reverse;
mod soac;

use crate::analysis::calls::calls;
use crate::fired::fired;
use crate::hash::{HashMap, HashSet};
use crate::ir::array::ArrayOp;
use crate::ir::id::{FunId, IdVec, SpanId, Var};
use crate::ir::rename::{self, Subst};
use crate::ir::scalar::{Const, ScalarOp};
use crate::ir::soac::Soac;
use crate::ir::span::Spans;
use crate::ir::syntax::{
    Atom, Body, Derivative, Exp, Fun, Inline, Mode, Param, Program, Stm, VarInfo, Vars,
};
use crate::ir::types::{ScalarType, Type};
use crate::ir::walk;
use crate::math::derivative::{self, Arith};
use crate::pass::Pass;
use reverse::{Adjoints, size_results};

/// The pass.
pub const PASS: Pass<Soac> = Pass {
    name: "derivatives",
    summary: "functions that are derivatives get code that computes them",
    run: |program, _| run(program),
};

/// Something that a derivative in reverse mode has no rule for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// Where it is.
    pub span: SpanId,
    /// What it is.
    pub what: &'static str,
}

/// What the derivatives of a program need that has no rule, with the derivative; nothing if the pass can write all of them.
pub fn refusals(program: &Program<Soac>) -> Vec<(FunId, Refusal)> {
    let is_reverse = |fun: &Fun<Soac>| fun.derivative.is_some_and(|d| d.mode == Mode::Reverse);
    if !program.funs.iter().any(is_reverse) {
        return Vec::new();
    }
    written(program.clone()).1
}

fn run(program: Program<Soac>) -> Program<Soac> {
    if program.funs.iter().all(|fun| fun.derivative.is_none()) {
        return program;
    }
    written(program).0
}

fn written(mut program: Program<Soac>) -> (Program<Soac>, Vec<(FunId, Refusal)>) {
    let names = program.funs.iter().map(|fun| fun.name.clone()).collect();
    let ids: Vec<FunId> = program.funs.ids().collect();
    let calls = calls(&program);
    let recursive = ids.iter().copied().filter(|fun| calls.recursive[*fun]);
    let recursive = recursive.collect();
    let mut derive = Derive {
        vars: &mut program.vars,
        funs: &mut program.funs,
        names,
        made: HashMap::default(),
        adjoints: HashMap::default(),
        integers: false,
        busy: HashSet::default(),
        of: HashMap::default(),
        back: Adjoints::default(),
        rules: HashMap::default(),
        recursive,
        refusals: Vec::new(),
        stms: Vec::new(),
        certs: Vec::new(),
        span: Spans::NONE,
    };
    let mut refused = Vec::new();
    ids.iter().for_each(|id| derive.take_rule(*id));
    for id in ids {
        derive.write(id);
        let found = std::mem::take(&mut derive.refusals);
        refused.extend(found.into_iter().map(|refusal| (id, refusal)));
    }
    (program, refused)
}

/// The state of the pass, and of the function that is being written.
struct Derive<'a> {
    vars: &'a mut Vars,
    funs: &'a mut IdVec<FunId, Fun<Soac>>,
    names: HashSet<String>,
    /// Tangent functions, by function, which of its parameters have tangents, and whether integers have.
    made: HashMap<(FunId, Vec<bool>, bool), FunId>,
    /// Adjoint functions, by function, which of its parameters they are with respect to, and whether integers have adjoints.
    adjoints: HashMap<(FunId, Vec<bool>, bool), FunId>,
    /// Whether integers have derivatives.
    integers: bool,
    /// Derivatives that are being written.
    busy: HashSet<FunId>,
    /// Tangents of variables.
    of: HashMap<Var, Atom>,
    /// Adjoints of variables.
    back: Adjoints,
    /// The derivatives that functions have of their own.
    rules: HashMap<FunId, Rule>,
    /// Functions that may call themselves.
    recursive: HashSet<FunId>,
    /// What has no rule.
    refusals: Vec<Refusal>,
    /// The body that is being written.
    stms: Vec<Stm<Soac>>,
    certs: Vec<Var>,
    span: SpanId,
}

impl Arith for Derive<'_> {
    type Num = Atom;
    fn op(&mut self, op: ScalarOp, args: &[Atom]) -> Atom {
        let v = self.fresh("t", Type::Scalar(op.result()));
        self.push(vec![v], Exp::Scalar(op, args.to_vec()));
        v.into()
    }
    fn constant(&mut self, c: Const) -> Atom {
        c.into()
    }
}

/// How a function that has a derivative of its own calls what computes it.
#[derive(Clone)]
struct Rule {
    fun: FunId,
    /// Arguments, in terms of the parameters and results of the function; the last of them, one for each result, stand for the adjoints of results.
    args: Vec<Atom>,
    params: Vec<Var>,
    results: Vec<Var>,
    /// The first of the parameters that it is with respect to.
    first: usize,
}

impl Derive<'_> {
    /// Makes a function that has a derivative of its own an ordinary one, and keeps the derivative.
    fn take_rule(&mut self, id: FunId) {
        let fun = &self.funs[id];
        let Some(Derivative {
            mode: Mode::Custom,
            first,
            ..
        }) = fun.derivative
        else {
            return;
        };
        let (Some(call), Some(last)) = (fun.body.stms.first(), fun.body.stms.last()) else {
            return;
        };
        let Exp::Call { fun: rule, args } = &last.exp else {
            return;
        };
        let rule = Rule {
            fun: *rule,
            args: args.clone(),
            params: fun.params.iter().map(|p| p.var).collect(),
            results: call.binds.clone(),
            first,
        };
        let body = Body {
            stms: vec![call.clone()],
            result: fun.body.result.clone(),
        };
        self.rules.insert(id, rule);
        self.set_body(id, body);
    }

    /// Writes a derivative, if it is one that is not there yet.
    fn write(&mut self, id: FunId) {
        let Some(how) = self.funs[id].derivative else {
            return;
        };
        let stm = self.funs[id].body.stms.first().cloned();
        let Some(Stm {
            exp: Exp::Call { fun: of, args },
            ..
        }) = stm
        else {
            return;
        };
        if !self.busy.insert(id) {
            return;
        }
        let integers = self.has_integers(of);
        let integers = std::mem::replace(&mut self.integers, integers);
        match how.mode {
            Mode::Forward => self.along(id, of, args, how),
            Mode::Reverse => self.gradient(id, of, args, how),
            Mode::Custom => {}
        }
        self.integers = integers;
        self.busy.remove(&id);
    }

    /// The body of a derivative in forward mode: a call of the tangent function.
    fn along(&mut self, id: FunId, of: FunId, args: Vec<Atom>, how: Derivative) {
        fired("derivatives/forward");
        let (first, count) = (how.first, how.count);
        let callee = self.funs[of].params.clone();
        let wrt = |i: usize| (first..first + count).contains(&i);
        let active: Vec<bool> = callee
            .iter()
            .enumerate()
            .map(|(i, p)| wrt(i) && self.differentiable(p.var))
            .collect();
        let tangent = self.tangent(of, active.clone());
        let own = &self.funs[id];
        let seeds = own.params.iter().skip(first + count);
        let seeds: Vec<Var> = seeds.take(count).map(|p| p.var).collect();
        let results = own.results.clone();
        let (span, primal) = (own.span, self.funs[of].results.len());
        let mut all = args;
        for (i, _) in active.iter().enumerate().filter(|(_, active)| **active) {
            all.extend(seeds.get(i - first).map(|v| Atom::Var(*v)));
        }
        let outer = self.start(span);
        let mut subst = Subst::new();
        let mut binds = Vec::new();
        for formal in &results {
            binds.push(rename::fresh(self.vars, &mut subst, formal.var));
        }
        let mut result: Vec<Atom> = binds.iter().map(|v| Atom::Var(*v)).collect();
        let mut bound = binds[..primal].to_vec();
        for (atom, v) in result.iter_mut().zip(&binds).skip(primal) {
            if self.differentiable(*v) {
                bound.push(*v);
            } else {
                *atom = Atom::ZERO;
            }
        }
        self.push(
            bound,
            Exp::Call {
                fun: tangent,
                args: all,
            },
        );
        for (atom, v) in result.iter_mut().zip(&binds).skip(primal) {
            if *atom == Atom::ZERO {
                *atom = self.zero_of_type(&self.vars[*v].ty.clone());
            }
        }
        let stms = self.finish(outer);
        self.set_body(id, Body { stms, result });
    }

    /// What was a derivative is a function with this body.
    fn set_body(&mut self, id: FunId, body: Body<Soac>) {
        let fun = &mut self.funs[id];
        fun.body = body;
        fun.derivative = None;
        fun.inline = Inline::Auto;
    }

    /// A name that no function has.
    fn name(&mut self, fun: &str, what: &str) -> String {
        let mut number = self.made.len() + self.adjoints.len();
        loop {
            let name = format!("{fun}_{what}{number}");
            if self.names.insert(name.clone()) {
                return name;
            }
            number += 1;
        }
    }

    /// The tangent function for these parameters. Its results are those of the function, then the tangents of those that are floats.
    fn tangent(&mut self, id: FunId, active: Vec<bool>) -> FunId {
        let key = (id, active, self.integers);
        if let Some(made) = self.made.get(&key) {
            return *made;
        }
        self.write(id);
        let active = key.1.clone();
        let mut fun = self.funs[id].clone();
        let name = self.name(&fun.name, "tangent");
        let mut subst = Subst::new();
        for param in &mut fun.params {
            param.var = rename::fresh(self.vars, &mut subst, param.var);
        }
        let body = rename::body(self.vars, &mut subst, &fun.body);
        for formal in &mut fun.results {
            formal.var = rename::fresh(self.vars, &mut subst, formal.var);
        }
        let outer_tangents = std::mem::take(&mut self.of);
        let outer = self.start(fun.span);
        for (i, param) in fun.params.clone().into_iter().enumerate() {
            if active[i] {
                let var = self.like(param.var);
                self.of.insert(param.var, var.into());
                fun.params.push(Param { var, ..param });
            }
        }
        for formal in fun.results.clone() {
            if self.differentiable(formal.var) {
                let var = self.like(formal.var);
                fun.results.push(Param { var, ..formal });
            }
        }
        fun.name = name;
        fun.entry = None;
        fun.body = Body {
            stms: Vec::new(),
            result: Vec::new(),
        };
        let made = self.funs.push(fun);
        self.made.insert(key, made);
        self.stms_of(body.stms);
        let mut result = body.result.clone();
        for atom in body.result {
            if self.differentiable_atom(atom) {
                result.push(self.tangent_or_zero(atom));
            }
        }
        let stms = self.finish(outer);
        self.of = outer_tangents;
        self.funs[made].body = Body { stms, result };
        made
    }

    fn start(&mut self, span: SpanId) -> (Vec<Stm<Soac>>, Vec<Var>, SpanId) {
        (
            std::mem::take(&mut self.stms),
            std::mem::take(&mut self.certs),
            std::mem::replace(&mut self.span, span),
        )
    }

    fn finish(&mut self, outer: (Vec<Stm<Soac>>, Vec<Var>, SpanId)) -> Vec<Stm<Soac>> {
        (self.certs, self.span) = (outer.1, outer.2);
        std::mem::replace(&mut self.stms, outer.0)
    }

    /// A nested body. It starts without certificates: those of the statement around it protect it.
    fn nested<R>(&mut self, f: impl FnOnce(&mut Self) -> R) -> (R, Vec<Stm<Soac>>) {
        let outer = self.start(self.span);
        let result = f(self);
        (result, self.finish(outer))
    }

    fn fresh(&mut self, name: &str, ty: Type) -> Var {
        let name = name.to_owned();
        self.vars.push(VarInfo { name, ty })
    }

    fn like(&mut self, v: Var) -> Var {
        let info = self.vars[v].clone();
        self.vars.push(info)
    }

    fn push(&mut self, binds: Vec<Var>, exp: Exp<Soac>) {
        self.stms.push(Stm {
            binds,
            certs: self.certs.clone(),
            exp,
            span: self.span,
        });
    }

    fn differentiable(&self, v: Var) -> bool {
        let elem = self.vars[v].ty.elem();
        elem.is_some_and(|elem| self.differentiable_type(elem))
    }

    fn differentiable_atom(&self, atom: Atom) -> bool {
        match atom {
            Atom::Const(c) => self.differentiable_type(c.ty()),
            Atom::Var(v) => self.differentiable(v),
        }
    }

    fn differentiable_type(&self, elem: ScalarType) -> bool {
        elem.is_float() || self.integers && elem.is_integer()
    }

    /// Whether a derivative of a function is one of integers: nothing but results that are integers depends on the derivatives of integers.
    fn has_integers(&self, of: FunId) -> bool {
        let fun = &self.funs[of];
        let sizes = size_results(self, fun);
        let results = fun.results.iter().enumerate();
        let mut results = results.filter(|(i, _)| !sizes.contains(i));
        results.any(|(_, formal)| {
            let elem = self.vars[formal.var].ty.elem();
            elem.is_some_and(ScalarType::is_integer)
        })
    }

    fn tangent_of(&self, atom: Atom) -> Option<Atom> {
        self.of.get(&atom.as_var()?).copied()
    }

    fn array_tangent(&self, v: Var) -> Option<Var> {
        self.of.get(&v)?.as_var()
    }

    fn tangent_or_zero(&mut self, atom: Atom) -> Atom {
        match self.tangent_of(atom) {
            Some(tangent) => tangent,
            None => self.zero_of_type(&atom.ty(self.vars)),
        }
    }

    fn zero_of_type(&mut self, ty: &Type) -> Atom {
        let Some(elem) = ty.elem() else {
            return Atom::ZERO;
        };
        let value = Atom::Const(Const::zero(elem));
        match ty {
            Type::Array(array) => {
                let v = self.fresh("zero", ty.clone());
                let shape = array.shape.clone();
                self.push(vec![v], ArrayOp::Replicate { shape, value }.into());
                v.into()
            }
            Type::Scalar(_) | Type::Acc(_) | Type::Buffer(_) | Type::Cert => value,
        }
    }

    /// A fresh variable that is the tangent of a variable.
    fn new_tangent(&mut self, v: Var) -> Var {
        let tangent = self.like(v);
        self.of.insert(v, tangent.into());
        tangent
    }

    fn stms_of(&mut self, stms: Vec<Stm<Soac>>) {
        for stm in stms {
            let free = walk::free_in_stm(self.vars, &stm);
            if !free.iter().any(|v| self.of.contains_key(v)) {
                self.stms.push(stm);
                continue;
            }
            let certs = std::mem::replace(&mut self.certs, stm.certs.clone());
            let span = std::mem::replace(&mut self.span, stm.span);
            walk::deep(|| self.stm(stm));
            self.certs = certs;
            self.span = span;
        }
    }

    /// The results of a body, then the tangents that there are.
    fn body(&mut self, body: Body<Soac>) -> (Vec<Atom>, Vec<Option<Atom>>) {
        self.stms_of(body.stms);
        let tangents = body.result.iter().map(|a| self.tangent_of(*a)).collect();
        (body.result, tangents)
    }

    fn stm(&mut self, stm: Stm<Soac>) {
        match stm.exp {
            Exp::Atom(a) => {
                if let (Some(tangent), [v]) = (self.tangent_of(a), &stm.binds[..]) {
                    self.of.insert(*v, tangent);
                }
                self.push(stm.binds, Exp::Atom(a));
            }
            Exp::Scalar(op, args) => {
                self.push(stm.binds.clone(), Exp::Scalar(op, args.clone()));
                let [v] = stm.binds[..] else { return };
                let tangents: Vec<Option<Atom>> =
                    args.iter().map(|a| self.tangent_of(*a)).collect();
                if !self.differentiable(v) {
                    return;
                }
                if let Some(t) = derivative::forward(self, op, &args, &v.into(), &tangents) {
                    self.of.insert(v, t);
                }
            }
            Exp::Assert { .. } | Exp::Guard { .. } => self.push(stm.binds, stm.exp),
            Exp::If {
                cond,
                then,
                otherwise,
            } => self.conditional(stm.binds, cond, then, otherwise),
            Exp::Loop { params, form, body } => self.looping(stm.binds, params, form, body),
            Exp::Call { fun, args } => self.call(stm.binds, fun, args),
            Exp::Op(Soac::Array(op)) => self.array(stm.binds, op),
            Exp::Op(op) => self.soac(stm.binds, op),
        }
    }
}
