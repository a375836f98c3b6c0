//! Reverse mode, after Schenck, Rønning, Henriksen and Oancea, "AD for an Array Language with Nested Parallelism" (SC22).
//!
//! ```text
//! fun f(x) { S1 .. Sn  yield r }   ──►   fun f_adjoint(x, r') { S1 .. Sn  Sn' .. S1'  yield r, x' }
//! ```
//!
//! A body is executed, then its statements are undone in reverse order: what a statement binds has its *adjoint* by then, and
//! the statement adds to the adjoints of what it reads. There is no tape: a statement with bodies in it executes a copy of
//! each of them again where it is undone, so that what was computed in there is known, and only loops keep the values of their
//! parameters ([`loops`]). Each level of nesting is executed once more than the one around it; what is not needed the passes that
//! follow take out.
//!
//! - [`body`]: execution, activity, copies of what is consumed; scalars by the table of [`crate::math::derivative`].
//! - [`adjoint`]: the sums that adjoints are, zeros, and who may update them in place.
//! - [`pieces`]: adjoints of elements of arrays from outside of a parallel operation.
//! - [`one_hot`]: adjoints that are zero but for one element.
//! - [`normal`]: operators become maps and operators alone.
//! - [`mod@array`], [`control`], [`loops`], [`changing`], [`map`], [`scan`], [`histogram`], [`segments`], [`writes`], [`accumulator`]: the rules.
//!
//! What has no rule is recorded as a [`Refusal`], and the front end reports it.

mod accumulator;
mod adjoint;
mod array;
mod body;
mod changing;
mod consumed;
mod control;
mod histogram;
mod loops;
mod map;
mod normal;
mod one_hot;
mod pieces;
mod scan;
mod segments;
mod writes;

use super::{Derive, Refusal};
use crate::fired::fired;
use crate::hash::{HashMap, HashSet};
use crate::ir::array::{ArrayOp, StreamOp};
use crate::ir::id::{FunId, Var};
use crate::ir::rename::{self, Subst};
use crate::ir::scalar::{BinOp, ScalarOp};
use crate::ir::soac::Soac;
use crate::ir::syntax::{Atom, Body, Derivative, Exp, Fun, Param, Stm, VarInfo};
use crate::ir::types::{ScalarType, Type};
use crate::ir::walk;
use control::Aliases;
pub(super) use histogram::is_row_sum;
pub(super) use normal::is_identity;
use one_hot::OneHot;
use pieces::Piece;

/// What is known in the function that is being written.
#[derive(Default)]
pub(super) struct Adjoints {
    /// What the adjoint of a variable is so far. Nothing for zero.
    of: HashMap<Var, Atom>,
    /// Adjoints that are zero but for one element. Where there is one, there is none in `of`.
    one_hot: HashMap<Var, OneHot>,
    /// Adjoints that are arrays to which nothing else refers.
    owned: HashSet<Var>,
    /// Adjoints that may be one array.
    aliases: Aliases,
    /// Variables that depend on what the derivative is taken with respect to.
    active: HashSet<Var>,
    /// The number of parallel operations around the statement that binds a variable; nothing for none.
    home: HashMap<Var, usize>,
    /// The number of parallel operations around the current statement.
    depth: usize,
    /// What loops that only count their iterations bind last.
    counts: HashSet<Var>,
    /// The indices of what filters keep.
    kept_indices: HashSet<Var>,
    /// Arrays with nothing in them yet.
    scratch: HashSet<Var>,
    /// The arrays of numbers 0, 1, ..
    ranges: HashSet<Var>,
    /// Rows: the array and the indices.
    views: HashMap<Var, (Var, Vec<Atom>)>,
    /// Adjoints of elements of arrays from outside of the innermost parallel operation.
    pieces: Vec<Piece>,
}

/// The results of a function that are sizes of further ones.
pub(super) fn size_results(d: &Derive<'_>, fun: &Fun<Soac>) -> Vec<usize> {
    let mut named = HashSet::default();
    for formal in &fun.results {
        walk::type_vars(&d.vars[formal.var].ty, &mut |v| {
            named.insert(v);
        });
    }
    let results = fun.results.iter().enumerate();
    let sizes = results.filter(|(_, formal)| named.contains(&formal.var));
    sizes.map(|(i, _)| i).collect()
}

impl Derive<'_> {
    /// Something that has no rule.
    pub(super) fn refuse(&mut self, what: &'static str) {
        let span = self.span;
        self.refusals.push(Refusal { span, what });
    }

    /// The body of a derivative in reverse mode: a call of the adjoint function.
    pub(super) fn gradient(&mut self, id: FunId, of: FunId, args: Vec<Atom>, how: Derivative) {
        fired("derivatives/reverse");
        let (first, count) = (how.first, how.count);
        let wrt = first..first + count;
        let callee = self.funs[of].params.clone();
        let params = callee.iter().enumerate();
        let active: Vec<bool> = params
            .map(|(i, p)| wrt.contains(&i) && self.differentiable(p.var))
            .collect();
        let refused = self.refusals.len();
        let adjoint = self.adjoint(of, active.clone());
        if self.refusals.len() > refused {
            return;
        }
        let own = &self.funs[id];
        let seeds: Vec<Var> = own
            .params
            .iter()
            .skip(first + count)
            .map(|p| p.var)
            .collect();
        let (results, span) = (own.results.clone(), own.span);
        let primal = self.funs[of].results.len();
        let sizes = size_results(self, &self.funs[of]);
        let mut subst = Subst::new();
        let mut binds = Vec::new();
        for formal in &results {
            binds.push(rename::fresh(self.vars, &mut subst, formal.var));
        }
        let mut all = args;
        for i in sizes {
            // The seeds have the sizes of the results.
            let size = self.seed_size(of, i, &seeds);
            all.push(size);
        }
        for (seed, v) in seeds.iter().zip(&binds[..primal]) {
            if self.differentiable(*v) {
                all.push((*seed).into());
            }
        }
        let outer = self.start(span);
        let mut result: Vec<Atom> = binds.iter().map(|v| Atom::Var(*v)).collect();
        let mut bound = binds[..primal].to_vec();
        for (k, v) in binds.iter().enumerate().skip(primal) {
            if active[first + k - primal] {
                bound.push(*v);
            } else {
                result[k] = Atom::ZERO;
            }
        }
        let call = Exp::Call {
            fun: adjoint,
            args: all,
        };
        self.push(bound, call);
        for (k, v) in binds.iter().enumerate().skip(primal) {
            if !active[first + k - primal] {
                result[k] = self.zero_of_type(&self.vars[*v].ty.clone());
            }
        }
        let stms = self.finish(outer);
        self.set_body(id, Body { stms, result });
    }

    /// The extent that result `i` of a function is, which a seed has in its type.
    fn seed_size(&self, of: FunId, i: usize, seeds: &[Var]) -> Atom {
        let results = &self.funs[of].results;
        let size = results[i].var;
        for (formal, seed) in results.iter().zip(seeds) {
            let dims = self.vars[formal.var].ty.shape().iter();
            for (dim, has) in dims.zip(self.vars[*seed].ty.shape()) {
                if let (Some(v), Some(has)) = (dim.var(), has.size())
                    && v == size
                {
                    return has.into();
                }
            }
        }
        Atom::ZERO
    }

    /// The adjoint function for these parameters. It takes the parameters of the function, the extents among its results, and an adjoint for each
    /// result that has one; it gives the results of the function, then the adjoints of these parameters. It consumes nothing.
    pub(super) fn adjoint(&mut self, id: FunId, active: Vec<bool>) -> FunId {
        let key = (id, active, self.integers);
        if let Some(made) = self.adjoints.get(&key) {
            return *made;
        }
        self.write(id);
        let mut fun = self.funs[id].clone();
        fun.name = self.name(&fun.name, "adjoint");
        fun.entry = None;
        let mut subst = Subst::new();
        for param in &mut fun.params {
            param.var = rename::fresh(self.vars, &mut subst, param.var);
            param.unique = false;
        }
        let own: Vec<Var> = fun.params.iter().map(|p| p.var).collect();
        let mut body = rename::body(self.vars, &mut subst, &fun.body);
        let sizes = size_results(self, &fun);
        let mut of_results = subst.clone();
        for formal in &mut fun.results {
            formal.var = rename::fresh(self.vars, &mut subst, formal.var);
            formal.unique = false;
        }
        let old = self.funs[id].results.clone();
        for i in sizes {
            let var = self.fresh("size", Type::I64);
            of_results.insert(old[i].var, var);
            fun.params.push(Param { var, unique: false });
        }
        let mut seeds = Vec::new();
        for formal in &old {
            seeds.push(self.differentiable(formal.var).then(|| {
                // The weight of a size is none.
                let VarInfo { name, ty } = self.vars[formal.var].clone();
                let var = self.fresh(&name, of_results.ty(&ty));
                fun.params.push(Param { var, unique: false });
                Atom::Var(var)
            }));
        }
        for (var, _) in own.iter().zip(&key.1).filter(|(_, active)| **active) {
            let var = self.like(*var);
            fun.results.push(Param { var, unique: false });
        }
        let empty = Body {
            stms: Vec::new(),
            result: Vec::new(),
        };
        fun.body = empty;
        let span = fun.span;
        let made = self.funs.push(fun);
        self.adjoints.insert(key.clone(), made);
        let back = std::mem::take(&mut self.back);
        let outer = self.start(span);
        for (var, _) in own.iter().zip(&key.1).filter(|(_, active)| **active) {
            self.activate(*var);
        }
        walk::all_stms_mut(&mut body, &mut chunk_of_one_length);
        self.sweep(body.stms, &body.result, &seeds);
        let mut result = body.result;
        for (var, _) in own.iter().zip(&key.1).filter(|(_, active)| **active) {
            result.push(self.taken_or_zero(*var));
        }
        let stms = self.finish(outer);
        self.back = back;
        self.funs[made].body = Body { stms, result };
        made
    }
}

/// Elements of a sequence that are worked on at once where a loop over it is undone.
const CHUNK: i64 = 1 << 15;

/// A chunk of a sequence may have another length when it is requested again, so that the loop over chunks could not be executed again.
fn chunk_of_one_length(stm: &mut Stm<Soac>) {
    if let Exp::Op(Soac::Array(ArrayOp::Stream(stream))) = &stm.exp
        && stream.op == StreamOp::Next
    {
        fired("derivatives/chunk");
        let args = vec![stream.args[1], Atom::i64(CHUNK)];
        stm.exp = Exp::Scalar(ScalarOp::Bin(BinOp::Min, ScalarType::I64), args);
    }
}
