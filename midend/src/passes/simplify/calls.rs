//! What all calls of a function have in common.
//!
//! ```text
//! fun f(x, k) { .. s .. yield x, s, 3 }            fun f(x, k) { .. s with 1 for k .. yield x, s, 3 }
//! let a, b, c = call f(y, 1)                ──►    let a, b, c = call f(y, 1)
//! yield a, b, c                                    yield y, b, 3
//! ```
//!
//! A parameter is a constant if every call gives it this constant, and a result of a call is what the function yields for it without
//! computing: a constant or an argument. So what loops pass through calls does not change from step to step. Dead code takes away the
//! parameters and results that nothing reads any more. Entry points are also called from outside, as are all functions
//! of a program without entry points.

use super::Simplify;
use crate::fired::fired;
use crate::hash::HashMap;
use crate::ir::dialect::Dialect;
use crate::ir::id::{FunId, Id};
use crate::ir::rename::{self, Subst};
use crate::ir::scalar::Const;
use crate::ir::syntax::{Atom, Exp, Fun, Program, Stm, Vars};
use crate::ir::types::Type;
use crate::ir::walk;

/// What is known of functions from all calls and all results.
#[derive(Debug, Default)]
pub(super) struct Functions {
    /// The constant that each parameter always gets, by function.
    constants: Vec<Vec<Option<Const>>>,
    /// What each result is known to be, by function.
    returned: Vec<Vec<Option<Returned>>>,
}

/// A result that is not computed.
#[derive(Clone, Copy, Debug)]
enum Returned {
    Constant(Const),
    Argument(usize),
}

/// What calls give for a parameter.
#[derive(Clone, Copy, PartialEq)]
enum Given {
    Nothing,
    Always(Const),
    Different,
}

impl Functions {
    /// What is known of the functions of a program. Of a program with derivatives nothing: a function is differentiated with respect to
    /// parameters that all calls agree on, too, and derivatives do not return what they will.
    pub(super) fn of<D: Dialect>(program: &Program<D>) -> Self {
        if program.funs.iter().any(|fun| fun.derivative.is_some()) {
            return Self::default();
        }
        let returned = program.funs.iter().map(|f| returned(&program.vars, f));
        Self {
            constants: constants(program),
            returned: returned.collect(),
        }
    }
}

/// The constants that parameters always get, also through the parameters of callers: the least facts that all calls agree with.
fn constants<D: Dialect>(program: &Program<D>) -> Vec<Vec<Option<Const>>> {
    let is_library = program.funs.iter().all(|f| f.entry.is_none());
    let mut places = HashMap::default();
    let mut given = Vec::new();
    for (id, fun) in program.funs.enumerate() {
        let outside = is_library || fun.entry.is_some();
        let start = if outside {
            Given::Different
        } else {
            Given::Nothing
        };
        for (i, param) in fun.params.iter().enumerate() {
            places.insert(param.var, (id.index(), i));
        }
        given.push(vec![start; fun.params.len()]);
    }
    let mut handed: HashMap<Place, Vec<Place>> = HashMap::default();
    let mut todo = Vec::new();
    for fun in program.funs.iter() {
        walk::all_stms(&fun.body, &mut |stm| {
            let Exp::Call { fun, args } = &stm.exp else {
                return;
            };
            for (i, arg) in args.iter().enumerate() {
                let to = (fun.index(), i);
                let value = match arg {
                    Atom::Const(c) => Given::Always(*c),
                    Atom::Var(v) => match places.get(v) {
                        Some(from) => {
                            handed.entry(*from).or_default().push(to);
                            continue;
                        }
                        None => Given::Different,
                    },
                };
                given[to.0][to.1] = given[to.0][to.1].and(value);
            }
        });
    }
    todo.extend(handed.keys().copied());
    while let Some(from) = todo.pop() {
        let value = given[from.0][from.1];
        for to in handed.get(&from).into_iter().flatten() {
            let before = given[to.0][to.1];
            let after = before.and(value);
            if after != before {
                given[to.0][to.1] = after;
                todo.push(*to);
            }
        }
    }
    let always = |given: Given| match given {
        Given::Always(c) => Some(c),
        Given::Nothing | Given::Different => None,
    };
    let all = given.into_iter();
    all.map(|given| given.into_iter().map(always).collect())
        .collect()
}

/// A parameter: the number of its function and its own.
type Place = (usize, usize);

impl Given {
    fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::Nothing, given) | (given, Self::Nothing) => given,
            (Self::Always(a), Self::Always(b)) if a == b => self,
            (Self::Always(_) | Self::Different, Self::Always(_) | Self::Different) => {
                Self::Different
            }
        }
    }
}

/// What the results of a function are known to be. Arrays only where consuming is no question, and no sizes of other results,
/// as those have types that name them.
fn returned<D: Dialect>(vars: &Vars, fun: &Fun<D>) -> Vec<Option<Returned>> {
    let one = |(i, a): (usize, &Atom)| {
        let formal = fun.results.get(i)?;
        let mut named = false;
        for other in &fun.results {
            walk::type_vars(&vars[other.var].ty, &mut |v| named |= v == formal.var);
        }
        if named {
            return None;
        }
        let v = match *a {
            Atom::Const(c) => return Some(Returned::Constant(c)),
            Atom::Var(v) => v,
        };
        let place = fun.params.iter().position(|p| p.var == v)?;
        let fits = match &vars[v].ty {
            Type::Scalar(_) => true,
            Type::Array(_) => {
                let shared = !fun.params[place].unique && !formal.unique;
                shared && vars[v].ty == vars[formal.var].ty
            }
            Type::Acc(_) | Type::Buffer(_) | Type::Cert => false,
        };
        fits.then_some(Returned::Argument(place))
    };
    fun.body.result.iter().enumerate().map(one).collect()
}

/// Puts the constants that all calls agree on in place of the parameters, and does no more. Tells which these are, by function.
pub(in crate::passes) fn agreed<D: Dialect>(program: &mut Program<D>) -> Vec<Vec<Option<Const>>> {
    let constants = constants(program);
    let Program { vars, funs, .. } = program;
    for (fun, constants) in funs.iter_mut().zip(&constants) {
        let mut subst = Subst::new();
        put(vars, &mut subst, fun, constants);
        rename::substitute(vars, &subst, &mut fun.body);
    }
    constants
}

/// From now on replaces parameters by constants.
fn put<D>(vars: &mut Vars, subst: &mut Subst, fun: &Fun<D>, constants: &[Option<Const>]) {
    for (param, constant) in fun.params.iter().zip(constants) {
        if let Some(c) = constant {
            fired("fold/argument");
            subst.insert(param.var, Atom::Const(*c));
        }
    }
    for v in fun.params.iter().chain(&fun.results) {
        rename::substitute_type(vars, subst, v.var);
    }
}

impl<D: Dialect> Simplify<'_, D> {
    /// Learns which parameters are constants.
    pub(super) fn parameters(&mut self, id: FunId, fun: &Fun<D>) {
        if let Some(constants) = self.functions.constants.get(id.index()) {
            put(self.vars, &mut self.subst, fun, constants);
        }
    }

    /// A call. Who uses a result of a call with certificates stays behind the checks.
    pub(super) fn call(&mut self, stm: Stm<D>, out: &mut Vec<Stm<D>>) {
        if let Exp::Call { fun, args } = &stm.exp
            && self.rules.fold
            && stm.certs.is_empty()
            && let Some(returned) = self.functions.returned.get(fun.index())
        {
            for (v, returned) in stm.binds.iter().zip(returned) {
                let known = match returned {
                    Some(Returned::Constant(c)) => Atom::Const(*c),
                    Some(Returned::Argument(i)) => args[*i],
                    None => continue,
                };
                fired("fold/returned");
                self.subst.insert(*v, known);
            }
        }
        self.keep(stm, out);
    }
}
