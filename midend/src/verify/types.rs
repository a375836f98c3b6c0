//! Types of functions, statements and the expressions that all dialects share.

use super::sizes::Sizes;
use super::{Cx, Verify, entry, mem};
use crate::ir::dialect::Dialect;
use crate::ir::id::{FunId, Var};
use crate::ir::rename::Subst;
use crate::ir::soac::Soac;
use crate::ir::syntax::{
    Atom, Body, Derivative, Exp, Fun, Lambda, LoopForm, LoopParam, Message, MessagePart, Mode,
    Param, Stm, Vars,
};
use crate::ir::types::{AccType, Dim, ScalarType, Size, Type};
use crate::ir::walk::deep;
use std::collections::BTreeSet;

/// Checks all functions.
pub(super) fn check<'p, D: Verify>(cx: &mut Cx<'p, D>) {
    let program = cx.program;
    let mut types = Types {
        cx,
        sizes: Sizes::default(),
        parallel: None,
        kernels: Vec::new(),
        accs: Vec::new(),
        reach_host: None,
    };
    for fun in program.funs.iter() {
        types.cx.fun = Some(fun);
        types.fun(fun);
        entry::check(types.cx, fun);
    }
    types.cx.fun = None;
    mem::check_kernel_names(&mut types);
}

/// The state of checking types.
pub struct Types<'c, 'p, D> {
    pub(super) cx: &'c mut Cx<'p, D>,
    pub(super) sizes: Sizes,
    /// The level of the parallel operation around the statement at hand; a kernel of the plan counts as device.
    pub(super) parallel: Option<crate::ir::seg::Level>,
    /// The names of the kernels seen.
    pub(super) kernels: Vec<&'p str>,
    /// The accumulations around the statement at hand: tokens, and how many accumulators each has.
    pub(super) accs: Vec<(Var, usize)>,
    /// The functions that do, or call what does, what only host code may do; found when a kernel calls something.
    pub(super) reach_host: Option<BTreeSet<FunId>>,
}

impl<'p, D: Verify> Types<'_, 'p, D> {
    /// The table of variables.
    pub(super) fn vars(&self) -> &'p Vars {
        &self.cx.program.vars
    }

    pub(super) fn fault(&mut self, message: impl Into<String>) {
        self.cx.fault(message);
    }

    /// Checks that only maps over regular dimensions are worked on in tiles, and no more dimensions than there are.
    pub(super) fn tiled<E>(&mut self, tiled: usize, dims: &[E], is_plain: bool) {
        if tiled > dims.len().min(2) || (tiled > 0 && !is_plain) {
            self.fault(
                "is worked on in tiles, which only one or two regular dimensions of a map are",
            );
        }
    }

    /// The type of a variable.
    pub(super) fn var(&self, v: Var) -> &'p Type {
        &self.vars()[v].ty
    }

    /// The type of an atom.
    pub(super) fn atom(&self, a: Atom) -> Type {
        a.ty(self.vars())
    }

    fn fun(&mut self, fun: &'p Fun<D>) {
        for p in fun.params.iter().chain(&fun.results) {
            self.well_formed(p.var);
            if self.var(p.var).is_acc() {
                self.fault("an accumulator is a parameter or result of a function");
            }
        }
        if let Some(derivative) = fun.derivative {
            self.derivative(fun, derivative);
        }
        self.body(&fun.body);
        let formals: Vec<Var> = fun.results.iter().map(|p| p.var).collect();
        let wanted: Vec<Type> = formals.iter().map(|v| self.var(*v).clone()).collect();
        let subst = self.sizes_of(formals, fun.body.result.iter().copied());
        self.results(&fun.body, &wanted, &subst);
    }

    /// Types of parameters and results follow from what the body calls.
    fn derivative(&mut self, fun: &'p Fun<D>, derivative: Derivative) {
        let Derivative { mode, first, count } = derivative;
        if D::NAME != Soac::NAME {
            return self.fault("a derivative is left");
        }
        let Some(Stm {
            exp: Exp::Call { fun: of, .. },
            binds,
            ..
        }) = fun.body.stms.first()
        else {
            return self.fault("a derivative does not call what it is the derivative of");
        };
        let ys = binds.len();
        let (seeds, derivatives) = match mode {
            Mode::Forward => (count, ys),
            Mode::Reverse => (ys, count),
            Mode::Custom => (0, 0),
        };
        let fits = self.cx.program.funs.get(*of).is_some_and(|of| {
            of.results.len() == ys && of.params.len() + seeds == fun.params.len()
        });
        if !fits
            || first + count + seeds > fun.params.len()
            || fun.results.len() != ys + derivatives
        {
            return self.fault("a derivative has a wrong number of parameters or results");
        }
        let types = |params: &[Param]| -> Vec<Option<ScalarType>> {
            params.iter().map(|p| self.var(p.var).elem()).collect()
        };
        let inputs = types(&fun.params[first..first + count]);
        let seeds = types(&fun.params[first + count..first + count + seeds]);
        let (outputs, derivatives) = (types(&fun.results[..ys]), types(&fun.results[ys..]));
        let same = match mode {
            Mode::Custom => self.is_rule(fun, count, ys),
            Mode::Forward => inputs == seeds && outputs == derivatives,
            Mode::Reverse => outputs == seeds && inputs == derivatives,
        };
        if !same {
            self.fault("a derivative has other types than what it belongs to");
        }
    }

    /// Whether the last statement calls a function for the derivative with respect to so many parameters.
    fn is_rule(&self, fun: &'p Fun<D>, count: usize, ys: usize) -> bool {
        let Some(Stm {
            exp: Exp::Call { fun: rule, args },
            binds,
            ..
        }) = fun.body.stms.last()
        else {
            return false;
        };
        let rule = self.cx.program.funs.get(*rule);
        fun.body.stms.len() > 1
            && binds.len() == count
            && args.len() >= 2 * ys
            && rule.is_some_and(|rule| rule.params.len() == args.len())
    }

    /// The statements of a body; its results are checked by whoever knows what is wanted.
    pub(super) fn body(&mut self, body: &'p Body<D>) {
        for stm in &body.stms {
            let outer = self.cx.stm.replace(stm);
            self.stm(stm);
            self.cx.stm = outer;
        }
    }

    fn stm(&mut self, stm: &'p Stm<D>) {
        for cert in &stm.certs {
            if *self.var(*cert) != Type::Cert {
                let name = self.cx.name(*cert);
                self.fault(format!("{name} is named as a certificate but is none"));
            }
        }
        stm.binds.iter().for_each(|v| self.well_formed(*v));
        stm.exp.inner_binders(&mut |v| self.well_formed(v));
        // The operation may be checked by equalities of sizes that this very statement does not give.
        deep(|| self.exp(stm));
        self.sizes.learn(stm);
    }

    fn exp(&mut self, stm: &'p Stm<D>) {
        let binds = &stm.binds[..];
        match &stm.exp {
            Exp::Atom(a) => {
                let ty = self.atom(*a);
                self.binds(binds, &[ty]);
            }
            Exp::Scalar(op, args) => {
                if !op.is_valid() {
                    self.fault(format!("there is no operation {op}"));
                }
                let wanted: [Type; 3] = std::array::from_fn(|i| match i < op.arity() {
                    true => Type::Scalar(op.operand(i)),
                    false => Type::Cert,
                });
                self.atoms("operand", args, &wanted[..op.arity()]);
                self.binds(binds, &[Type::Scalar(op.result())]);
            }
            Exp::Assert { cond, message } => {
                self.scalar("the condition", *cond, ScalarType::Bool);
                self.message(message);
                self.binds(binds, &[Type::Cert]);
            }
            Exp::Guard { measure, .. } => {
                self.scalar("the measure", *measure, ScalarType::I64);
                if self.parallel.is_some() {
                    self.fault("a guard lies in a parallel operation");
                }
                self.binds(binds, &[Type::BOOL]);
            }
            Exp::If {
                cond,
                then,
                otherwise,
            } => {
                self.scalar("the condition", *cond, ScalarType::Bool);
                let wanted: Vec<Type> = binds.iter().map(|v| self.var(*v).clone()).collect();
                for body in [then, otherwise] {
                    self.body(body);
                    let result = body.result.iter().copied();
                    let subst = self.sizes_of(binds.iter().copied(), result);
                    self.results(body, &wanted, &subst);
                }
            }
            Exp::Loop { params, form, body } => self.loop_(binds, params, form, body),
            Exp::Call { fun, args } => self.call(binds, *fun, args),
            Exp::Op(op) => op.verify_op(self, binds),
        }
    }

    fn message(&mut self, message: &Message) {
        for part in &message.parts {
            match part {
                MessagePart::Text(_) => {}
                MessagePart::Value(a) => {
                    if !matches!(self.atom(*a), Type::Scalar(_)) {
                        self.fault("a value in the message is no scalar");
                    }
                }
            }
        }
    }

    fn loop_(
        &mut self,
        binds: &'p [Var],
        params: &'p [LoopParam],
        form: &'p LoopForm<D>,
        body: &'p Body<D>,
    ) {
        let formals = || params.iter().map(|p| p.var);
        let wanted: Vec<Type> = formals().map(|v| self.var(v).clone()).collect();
        let inits: Vec<Atom> = params.iter().map(|p| p.init).collect();
        let start = self.sizes_of(formals(), inits.iter().copied());
        let at_start: Vec<Type> = wanted.iter().map(|ty| start.ty(ty)).collect();
        self.atoms("start", &inits, &at_start);
        match form {
            LoopForm::For { index, bound } => {
                let ty = self.var(*index);
                let integer = matches!(ty, Type::Scalar(s) if s.is_integer());
                if !integer || *ty != self.atom(*bound) {
                    self.fault("index and bound of the loop are not of one integer type");
                }
            }
            LoopForm::While(cond) => {
                self.body(cond);
                self.results(cond, &[Type::BOOL], &Subst::new());
            }
        }
        self.body(body);
        let step = self.sizes_of(formals(), body.result.iter().copied());
        self.results(body, &wanted, &step);
        let end = self.sizes_of(formals(), binds.iter().map(|v| Atom::Var(*v)));
        if binds.len() == params.len() {
            let at_end: Vec<Type> = wanted.iter().map(|ty| end.ty(ty)).collect();
            self.binds(binds, &at_end);
        } else {
            self.count("variables", binds.len(), params.len());
        }
    }

    fn call(&mut self, binds: &'p [Var], fun: FunId, args: &[Atom]) {
        let fun = &self.cx.program.funs[fun];
        let formals = fun.params.iter().map(|p| p.var);
        let mut subst = self.sizes_of(formals, args.iter().copied());
        if args.len() == fun.params.len() {
            let wanted: Vec<Type> = self.substituted(fun.params.iter().map(|p| p.var), &subst);
            self.atoms("argument", args, &wanted);
        } else {
            return self.count("arguments", args.len(), fun.params.len());
        }
        for (formal, v) in fun.results.iter().zip(binds) {
            subst.insert(formal.var, *v);
        }
        if binds.len() == fun.results.len() {
            let results = self.substituted(fun.results.iter().map(|p| p.var), &subst);
            self.binds(binds, &results);
        } else {
            self.count("variables", binds.len(), fun.results.len());
        }
    }

    /// A substitution of those formals that types can name.
    fn sizes_of(
        &self,
        formals: impl IntoIterator<Item = Var>,
        values: impl IntoIterator<Item = Atom>,
    ) -> Subst {
        let named = |v: &Var| match self.var(*v) {
            Type::Scalar(ty) => *ty == ScalarType::I64,
            Type::Array(_) | Type::Acc(_) | Type::Buffer(_) | Type::Cert => true,
        };
        let pairs = formals.into_iter().zip(values);
        let (from, to): (Vec<Var>, Vec<Atom>) = pairs.filter(|(v, _)| named(v)).unzip();
        Subst::of(from, to)
    }

    fn substituted(&self, vars: impl Iterator<Item = Var>, subst: &Subst) -> Vec<Type> {
        vars.map(|v| subst.ty(self.var(v))).collect()
    }

    /// Checks that a body yields values of the wanted types, after substitution.
    pub(super) fn results(&mut self, body: &Body<D>, wanted: &[Type], subst: &Subst) {
        if body.result.len() != wanted.len() {
            return self.count("results", body.result.len(), wanted.len());
        }
        let wanted: Vec<Type> = wanted.iter().map(|ty| subst.ty(ty)).collect();
        self.atoms("result", &body.result, &wanted);
    }

    /// Checks the body of a lambda, and that its parameters have these types. Yields the types of its results.
    pub(super) fn lambda(&mut self, lam: &'p Lambda<D>, params: &[Type]) -> Vec<Type> {
        if lam.params.len() == params.len() {
            for (v, wanted) in lam.params.iter().zip(params) {
                let ty = self.var(*v);
                self.fits("a parameter of the lambda", ty, wanted);
            }
        } else {
            self.count("parameters of the lambda", lam.params.len(), params.len());
        }
        self.body(&lam.body);
        lam.body.result.iter().map(|a| self.atom(*a)).collect()
    }

    /// Checks that atoms have the wanted types.
    pub(super) fn atoms(&mut self, what: &str, atoms: &[Atom], wanted: &[Type]) {
        if atoms.len() != wanted.len() {
            return self.count(&format!("{what}s"), atoms.len(), wanted.len());
        }
        for (i, (a, wanted)) in atoms.iter().zip(wanted).enumerate() {
            let fits = match *a {
                Atom::Const(c) => *wanted == Type::Scalar(c.ty()),
                Atom::Var(v) => self.sizes.same_type(self.var(v), wanted),
            };
            if !fits {
                let ty = self.atom(*a);
                self.fits(&format!("{what} {}", i + 1), &ty, wanted);
            }
        }
    }

    /// Checks that an atom is a scalar of this type.
    pub(super) fn scalar(&mut self, what: &str, a: Atom, ty: ScalarType) {
        let found = self.atom(a);
        self.fits(what, &found, &Type::Scalar(ty));
    }

    /// Checks that the bound variables have these types, which name no bound variables except themselves.
    pub(super) fn binds(&mut self, binds: &[Var], types: &[Type]) {
        if binds.len() != types.len() {
            return self.count("variables", binds.len(), types.len());
        }
        for (v, ty) in binds.iter().zip(types) {
            let found = self.var(*v);
            self.fits("a bound variable", found, ty);
        }
    }

    pub(super) fn count(&mut self, what: &str, found: usize, wanted: usize) {
        self.fault(format!("{found} {what} where {wanted} are needed"));
    }

    /// Checks that two types are equal.
    pub(super) fn fits(&mut self, what: &str, found: &Type, wanted: &Type) {
        if !self.sizes.same_type(found, wanted) {
            let (found, wanted) = (self.cx.show(found), self.cx.show(wanted));
            self.fault(format!("{what} has type {found}, not {wanted}"));
        }
    }

    /// Checks that the type of a variable is one that the dialect has.
    fn well_formed(&mut self, v: Var) {
        let plan = D::NAME == <crate::ir::mem::Mem as Dialect>::NAME;
        let problem = match self.var(v) {
            Type::Scalar(_) | Type::Cert => None,
            Type::Buffer(_) if plan => None,
            Type::Buffer(_) => Some("is a buffer, which only plans have"),
            Type::Array(_) if plan => Some("is an array, which plans do not have"),
            Type::Acc(_) if plan => Some("is an accumulator, which plans do not have"),
            Type::Acc(acc) if *self.var(acc.token) != Type::Cert => {
                Some("is an accumulator whose token is no certificate")
            }
            Type::Array(a) | Type::Acc(AccType { array: a, .. }) => match a.shape.first() {
                None => Some("is an array without dimensions"),
                Some(Dim::Ragged(_)) => Some("is an array with a ragged outermost dimension"),
                Some(Dim::Size(_)) => a.shape.iter().find_map(|dim| self.dim_problem(*dim)),
            },
        };
        if let Some(problem) = problem {
            let name = self.cx.name(v);
            self.fault(format!("{name} {problem}"));
        }
    }

    fn dim_problem(&self, dim: Dim) -> Option<&'static str> {
        match dim {
            Dim::Size(Size::Const(_)) => None,
            Dim::Size(Size::Var(v)) => {
                (*self.var(v) != Type::I64).then_some("has a size that is no i64")
            }
            Dim::Ragged(v) => (!self.is_offsets(v))
                .then_some("has a ragged dimension whose offsets are no vector of i64"),
        }
    }
}
