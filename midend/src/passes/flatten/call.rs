//! Calls of functions that hold parallelism, inside of a map nest (function lifting, *Shapes and Flattening*, section 5): the
//! function is lifted to one of the host that does for all points at once what it did for one.
//!
//! ```text
//! map (\i -> f i (iota i)) is
//! ──►
//! xss = ..the rows iota i, one after another..
//! if n > 0 then f_lifted n is (length xss) xss else ..
//! ```
//!
//! What differs between points crosses the call as an array over one dimension of points. Arrays whose lengths differ cross as
//! one vector, and the other side finds out from the lengths where rows begin. What is the same for all points is passed
//! as it is, so that each choice of such parameters has a lifted function of its own.
//!
//! Nothing is called for no points. So a lifted recursion ends when its active set is empty, though at each of its levels all
//! points go on together.

use super::context::Axis;
use super::distribute::{Frame, Wanted};
use super::functions::Version;
use super::label::{Labeller, Lifting, lengths_of_results};
use super::{Cx, Mode, int};
use crate::fired::fired;
use crate::ir::array::ArrayOp;
use crate::ir::id::{FunId, Var};
use crate::ir::scalar::{CmpOp, ScalarOp};
use crate::ir::seg::Seg;
use crate::ir::soac::Soac;
use crate::ir::syntax::{Atom, Body, Exp, Fun, Param, Stm};
use crate::ir::types::{Dim, ScalarType, Size, Type};

/// So many lifted versions of a function say which parameters are the same for all points; there is one more that says of
/// none but what must be the same.
const VERSIONS: usize = 4;

/// How a parameter or result of a function crosses a call for many points.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Crossing {
    /// As it is: it is the same for all.
    Same,
    /// With one more dimension, that of the points.
    Regular,
    /// All rows one after another, after their number of elements.
    Flat,
}

/// How parameters and results of a function cross calls, if these parameters are the same for all points.
fn crossings(cx: &Cx<'_>, fun: &Fun<Soac>, same: &[bool]) -> (Vec<Crossing>, Vec<Crossing>) {
    let known = |v: Var| {
        let mut params = fun.params.iter().zip(same);
        params.any(|(p, &same)| same && p.var == v)
    };
    let crossing = |p: &Param| {
        let mut shape = cx.vars[p.var].ty.shape().iter();
        let regular = shape.all(|dim| match *dim {
            Dim::Size(Size::Const(_)) => true,
            Dim::Size(Size::Var(v)) => known(v),
            Dim::Ragged(_) => false,
        });
        match regular {
            true => Crossing::Regular,
            false => Crossing::Flat,
        }
    };
    let params = fun.params.iter().zip(same).map(|(p, &same)| match same {
        true => Crossing::Same,
        false => crossing(p),
    });
    (params.collect(), fun.results.iter().map(crossing).collect())
}

impl<'p> Cx<'p> {
    /// A call for all points of a context.
    pub(super) fn lift_call(
        &mut self,
        f: &mut Frame<'_>,
        i: usize,
        (callee, args): (FunId, &[Atom]),
        out: &mut Vec<Stm<Seg>>,
    ) {
        fired("flatten/lifted-call");
        self.prove_free(f, i, out);
        // The call may fail, or take as much memory as there is.
        let checks = self.open_checks(f, i);
        self.prove(f, &checks, out);
        let context = f.context.clone();
        let points = Size::of(self.points(&context, out));
        let (callee, same) = self.lifted_version(callee, args);
        let fun = &self.source[callee.0];
        let (params, results) = crossings(self, fun, &same);
        let spread = args.iter().zip(&same).filter(|(_, same)| !**same);
        let spread: Vec<Atom> = spread.map(|(&a, _)| a).collect();
        let mut arrays = self.arrays(f, &spread, out).into_iter();
        let mut actual = vec![points.into()];
        for ((param, &arg), crossing) in fun.params.iter().zip(args).zip(params) {
            let array = match crossing {
                Crossing::Same => None,
                Crossing::Regular | Crossing::Flat => arrays.next(),
            };
            let Some(array) = array else {
                actual.push(self.atom(arg));
                continue;
            };
            if crossing == Crossing::Flat {
                fired("flatten/lifted-call-ragged");
                let (total, flat) = self.flat(array, self.vars[array].ty.rank(), out);
                actual.push(total.into());
                actual.push(flat.into());
                continue;
            }
            let row = self.vars[param.var].ty.clone();
            let row = at_call(&row, fun, args, |a| self.atom(a));
            let ty = Type::array_of(&row, &[points]);
            actual.push(self.with_shape(array, ty, out).into());
        }
        let made = self.called(callee.1, (fun, &results), (args, actual), points, out);
        // Lengths are bound before what has them.
        for (&bind, made) in f.stm(i).binds.iter().zip(made) {
            let array = self.stored(bind, &context, out);
            self.reshape_into(array, made, out);
            f.made(array);
            self.fetch_stored(bind, out);
        }
    }

    /// The lifted version to call, and which parameters are the same for all points there.
    fn lifted_version(&mut self, fun: FunId, args: &[Atom]) -> ((FunId, FunId), Vec<bool>) {
        let callee = &self.source[fun];
        let mut same = self.labels.same_args(&self.vars, callee, args);
        let known = |version: &&Version| matches!(version, Version::Lifted(f, _) if *f == fun);
        let count = self.pending.iter().filter(known).count();
        let lifted = |same: &Vec<bool>| Version::Lifted(fun, same.clone());
        if count >= VERSIONS && !self.pending.contains(&lifted(&same)) {
            same = match self.worth[fun.0 as usize] {
                Lifting::SameLengths => lengths_of_results(&self.vars, callee),
                Lifting::Never | Lifting::Always => vec![false; same.len()],
            };
        }
        ((fun, self.version(lifted(&same))), same)
    }

    /// The call itself, if there are points; gives arrays over them.
    fn called(
        &mut self,
        lifted: FunId,
        (fun, results): (&Fun<Soac>, &[Crossing]),
        (args, actual): (&[Atom], Vec<Atom>),
        points: Size,
        out: &mut Vec<Stm<Seg>>,
    ) -> Vec<Var> {
        let (mut binds, mut made) = (Vec::new(), Vec::new());
        let (mut inner, mut none) = (Vec::new(), Vec::new());
        for (formal, crossing) in fun.results.iter().zip(results) {
            let ty = self.vars[formal.var].ty.clone();
            let name = self.vars[formal.var].name.clone();
            let mut outer = points;
            let mut row = at_call(&ty, fun, args, |a| self.atom(a));
            let mut own = points;
            let mut empty = points;
            if *crossing == Crossing::Flat {
                let total = self.fresh("total", Type::I64);
                let inside = self.fresh("total", Type::I64);
                binds.push(total);
                inner.push(inside);
                none.push(None);
                row = Type::Scalar(ty.elem().unwrap_or(ScalarType::I64));
                (outer, own, empty) = (Size::Var(total), Size::Var(inside), Size::Const(0));
            }
            let bind = self.fresh(&name, Type::array_of(&row, &[outer]));
            binds.push(bind);
            made.push(bind);
            inner.push(self.fresh(&name, Type::array_of(&row, &[own])));
            none.push(Some(Type::array_of(&row, &[empty])));
        }
        let lt = ScalarOp::Cmp(CmpOp::Lt, ScalarType::I64);
        let cond = self.scalar(out, "some", lt, vec![int(0), points.into()]);
        let then = Body {
            stms: vec![Stm {
                binds: inner.clone(),
                certs: Vec::new(),
                exp: Exp::Call {
                    fun: lifted,
                    args: actual,
                },
                span: self.span,
            }],
            result: inner.into_iter().map(Atom::Var).collect(),
        };
        let mut stms = Vec::new();
        let nothing = none.into_iter().map(|ty| match ty {
            Some(ty) => {
                let array = self.fresh("none", ty);
                self.scratch(array, &mut stms).into()
            }
            None => int(0),
        });
        let result = nothing.collect();
        let otherwise = Body { stms, result };
        let exp = Exp::If {
            cond,
            then,
            otherwise,
        };
        self.push(out, binds, exp);
        made
    }

    /// A function for many points, of which these parameters are the same for all.
    pub(super) fn lifted_function(&mut self, id: FunId, same: &[bool], number: usize) -> Fun<Seg> {
        let fun: &'p Fun<Soac> = &self.source[id];
        self.function.clone_from(&fun.name);
        self.function_span = fun.span;
        self.span = fun.span;
        let known = (&self.worth[..], self.facts());
        let labels = Labeller::function(&self.vars, self.source, known, fun, same);
        self.begin_nest(labels);
        let points = self.fresh("points", Type::I64);
        let context = vec![Axis::Regular(Size::Var(points))];
        let (params, results) = crossings(self, fun, same);
        let mut stms = Vec::new();
        let (params, own) = self.enter_lifted(points, fun, &params, &mut stms);
        let host = vec![false; fun.results.len()];
        let wanted = Wanted::Any {
            host: &host,
            own: &own,
        };
        let made = self.distribute(context, &fun.body, wanted, &mut stms);
        let (results, result) = self.leave_lifted(points, (fun, &results), made, &mut stms);
        Fun {
            name: format!("{}_lifted{number}", fun.name),
            entry: None,
            params,
            results,
            body: Body { stms, result },
            inline: fun.inline,
            derivative: None,
            span: fun.span,
        }
    }

    /// The parameters of a lifted function, and the arrays among them that are its own.
    fn enter_lifted(
        &mut self,
        points: Var,
        fun: &Fun<Soac>,
        crossings: &[Crossing],
        out: &mut Vec<Stm<Seg>>,
    ) -> (Vec<Param>, Vec<Var>) {
        let context = vec![Axis::Regular(Size::Var(points))];
        let plain = |var| Param { var, unique: false };
        let mut params = vec![plain(points)];
        let (mut own, mut rows) = (Vec::new(), Vec::new());
        for (&Param { var, unique }, crossing) in fun.params.iter().zip(crossings) {
            let ty = self.vars[var].ty.clone();
            let name = self.vars[var].name.clone();
            match crossing {
                Crossing::Same => params.push(plain(self.bind(var, Mode::Seq))),
                Crossing::Regular => {
                    let ty = Type::array_of(&self.type_of(var), &[Size::Var(points)]);
                    let array = self.fresh(&name, ty);
                    params.push(Param { var: array, unique });
                    rows.push((var, array, unique));
                }
                Crossing::Flat => {
                    let total = self.fresh("total", Type::I64);
                    let elem = Type::Scalar(ty.elem().unwrap_or(ScalarType::I64));
                    let flat = Type::array_of(&elem, &[Size::Var(total)]);
                    let flat = self.fresh(&name, flat);
                    params.extend([plain(total), Param { var: flat, unique }]);
                    rows.push((var, flat, unique));
                }
            }
        }
        // Lengths come before what has them.
        rows.sort_by_key(|row| self.vars[row.0].ty.is_array());
        for (var, passed, unique) in rows {
            let array = self.stored(var, &context, out);
            if self.vars[array].ty == self.vars[passed].ty {
                self.define(var, passed, &context);
                own.extend(unique.then_some(passed));
            } else {
                self.reshape_into(array, passed, out);
                own.extend(unique.then_some(array));
            }
        }
        (params, own)
    }

    /// The results of a lifted function, which belong to the caller.
    fn leave_lifted(
        &mut self,
        points: Var,
        (fun, crossings): (&Fun<Soac>, &[Crossing]),
        made: Vec<(Atom, bool)>,
        out: &mut Vec<Stm<Seg>>,
    ) -> (Vec<Param>, Vec<Atom>) {
        let (mut formals, mut result) = (Vec::new(), Vec::new());
        let mut formal = |cx: &mut Self, name: &str, ty: Type| {
            let unique = ty.is_array();
            let var = cx.fresh(name, ty);
            formals.push(Param { var, unique });
            var
        };
        let made = made
            .into_iter()
            .filter_map(|(a, own)| Some((a.as_var()?, own)));
        for ((param, crossing), (mut array, own)) in fun.results.iter().zip(crossings).zip(made) {
            let ty = self.vars[param.var].ty.clone();
            let name = self.vars[param.var].name.clone();
            if !own {
                let ty = self.vars[array].ty.clone();
                array = self.array(out, &name, ty, ArrayOp::Copy(array));
            }
            if *crossing == Crossing::Flat {
                let (count, flat) = self.flat(array, self.vars[array].ty.rank(), out);
                let total = formal(self, "total", Type::I64);
                let elem = Type::Scalar(ty.elem().unwrap_or(ScalarType::I64));
                formal(self, &name, Type::array_of(&elem, &[Size::Var(total)]));
                result.push(count.into());
                result.push(flat.into());
                continue;
            }
            let ty = Type::array_of(&self.ty(&ty), &[Size::Var(points)]);
            formal(self, &name, ty.clone());
            result.push(self.with_shape(array, ty, out).into());
        }
        (formals, result)
    }

    /// An array with the elements of another, of a given type.
    fn with_shape(&mut self, array: Var, ty: Type, out: &mut Vec<Stm<Seg>>) -> Var {
        if self.vars[array].ty == ty {
            return array;
        }
        let shaped = self.fresh("shaped", ty);
        self.reshape_into(shaped, array, out);
        shaped
    }
}

/// The type of a parameter or result, with the arguments of a call for the parameters that it names.
fn at_call(ty: &Type, fun: &Fun<Soac>, args: &[Atom], atom: impl Fn(Atom) -> Atom) -> Type {
    let params = fun.params.iter().map(|p| p.var);
    let actual = args.iter().map(|&a| atom(a));
    crate::ir::rename::Subst::of(params, actual).ty(ty)
}
