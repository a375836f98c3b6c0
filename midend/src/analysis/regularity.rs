//! Regularity: what is the same for all points of the parallel operations around (*Preserving Regularity*, 4.3).
//!
//! For every variable the analysis finds with the indices of which operations its value varies, and the same for each extent of
//! an array. The triple ⟨n, i, k⟩ of the paper can be read off ([`Regularity::triple`]): `n` says for each dimension whether its
//! extent varies with nothing (R) or with something (Ir), `i` is ⊤ for a value that varies with nothing, and `k` is the
//! outermost of the operations that the value varies with. Sets of operations say more than `k`: what varies with the outermost
//! and the innermost of three is the same along the second.
//!
//! "The same" compares like with like: the same iteration of the same loops, of those points that come there. So the index of
//! a loop, and what a branch computes, may be uniform though not all points take part; the results of the loop and of the branch
//! then vary with what decides, except for those that have one canonical form however it is decided (see [`flow`]).
//!
//! ```text
//! map n (xss, ks) \(xs: [m]f64, k: i64) {     k varies 0; xs <R, varies, 0>
//!   let s = reduce .. xs                      width m is uniform
//!   let ys: [k]i64 = iota k                   ys <Ir, varies, 0>
//!   let zs: [m]f64 = loop (ws = xs) while ..  zs <R, varies, 0>, as the body keeps the shape; the number of trips varies 0
//! ```
//!
//! Functions are analysed once. Their variables vary with parameters, and [`Regularity::lifted`] says of a function that is called
//! inside of parallel operations which of its parameters are not the same for all points there: what the function is lifted to
//! has one argument per point for each of these, and α becomes φ in the sizes that it names (pre-lifting, *Shapes and Flattening*,
//! 4.1).

pub mod annotate;
pub mod levels;

mod flow;
mod lift;

use super::calls::calls;
use super::shapes::form::{Family, FamilyKind, Value};
use super::shapes::{Class, Extent, Shapes, shapes};
use crate::ir::id::{FunId, Id, IdMap, Var};
use crate::ir::soac::Soac;
use crate::ir::syntax::{Atom, Exp, LoopForm, Program};
use crate::ir::types::Size;
use flow::{Flow, Leaves, Summary, value_leaves};
use levels::Levels;
use std::collections::VecDeque;

/// A dimension of an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dimension {
    /// What the extent varies with.
    pub varies: Levels,
    /// Whether rows of this very array differ in extent.
    pub ragged: bool,
}

/// What the paper says of an expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Triple {
    /// `n`: for each dimension, whether it is regular.
    pub regular: Vec<bool>,
    /// `i`: whether the value is independent of the parallel operations around.
    pub independent: bool,
    /// `k`: the outermost operation that the value depends on.
    pub level: Option<u32>,
}

/// The result of the analysis.
#[derive(Clone, Debug)]
pub struct Regularity {
    shapes: Shapes,
    varies: IdMap<Var, Levels>,
    dims: IdMap<Var, Vec<Dimension>>,
    owner: IdMap<Var, u32>,
    lifted: Vec<Option<Levels>>,
}

/// Analyses a program.
pub fn regularity(program: &Program<Soac>) -> Regularity {
    let shapes = shapes(program);
    let calls = calls(program);
    let mut summaries: Vec<Summary> = vec![None; program.funs.len()];
    let mut places = IdMap::new();
    let mut result = Regularity {
        shapes,
        varies: IdMap::new(),
        dims: IdMap::new(),
        owner: IdMap::new(),
        lifted: Vec::new(),
    };
    for id in &calls.order {
        result.function(program, *id, &summaries, &mut places);
        if !calls.recursive[*id] && program.funs[*id].derivative.is_none() {
            let results = program.funs[*id].body.result.iter();
            summaries[id.index()] = Some(results.map(|a| result.varies(*a)).collect());
        }
    }
    result.lifted = lift::lifted(program, &result);
    result
}

impl Regularity {
    /// Solves the graph of a function: the least sets that satisfy all edges.
    fn function(
        &mut self,
        program: &Program<Soac>,
        id: FunId,
        summaries: &[Summary],
        places: &mut IdMap<Var, u32>,
    ) {
        let shapes = std::mem::take(&mut self.shapes);
        let flow = Flow::of(&program.funs[id], &shapes, summaries, places);
        let uses = flow.uses();
        let mut waiting: VecDeque<usize> = (0..flow.order.len()).collect();
        let mut waits = vec![true; flow.order.len()];
        while let Some(place) = waiting.pop_front() {
            waits[place] = false;
            let (v, origin) = (flow.order[place], &flow.origins[place]);
            let mut varies = origin.sources.iter().fold(origin.own, |levels, source| {
                let from = self.varies[source.from];
                levels.or(source.outside.map_or(from, |depth| from.outside(depth)))
            });
            if let Some(form) = &origin.form {
                varies = varies.and(self.leaves(form));
            }
            if varies != self.varies[v] {
                self.varies.set(v, varies);
                let first = uses.partition_point(|(from, _)| *from < place);
                let users = uses[first..].iter().take_while(|(from, _)| *from == place);
                for &(_, user) in users {
                    if !std::mem::replace(&mut waits[user], true) {
                        waiting.push_back(user);
                    }
                }
            }
        }
        for v in &flow.order {
            self.owner.set(*v, id.0);
            let dims = self.dimensions(program, &shapes, *v);
            self.dims.set(*v, dims);
        }
        self.shapes = shapes;
    }

    fn leaves(&self, leaves: &Leaves) -> Levels {
        let vars = leaves.vars.iter();
        vars.fold(leaves.own, |levels, v| levels.or(self.varies[*v]))
    }

    fn dimensions(&self, program: &Program<Soac>, shapes: &Shapes, v: Var) -> Vec<Dimension> {
        let table = shapes.table();
        let types = program.vars[v].ty.shape();
        let dimension = |(extent, dim): (&Extent, &crate::ir::types::Dim)| {
            let value = match extent {
                Extent::Fixed(f) => Value::Scalar(*f),
                Extent::Varying(f) => Value::Array(*f),
            };
            let form = self.leaves(&value_leaves(&table, shapes, value));
            let named = dim.var().map_or(Levels::NONE, |v| self.varies[v]);
            Dimension {
                varies: form.and(named),
                ragged: matches!(extent, Extent::Varying(_)),
            }
        };
        shapes.shape(v).iter().zip(types).map(dimension).collect()
    }

    /// The shape analysis that this rests on.
    pub fn shapes(&self) -> &Shapes {
        &self.shapes
    }

    /// What the value of an atom varies with.
    pub fn varies(&self, a: Atom) -> Levels {
        match a {
            Atom::Const(_) => Levels::NONE,
            Atom::Var(v) => self.varies[v],
        }
    }

    /// The dimensions of an array.
    pub fn dims(&self, v: Var) -> &[Dimension] {
        &self.dims[v]
    }

    /// The parameters of a function that are not the same for all points which call it; nothing for a function that is called
    /// by no parallel operation, on whatever way.
    pub fn lifted(&self, fun: FunId) -> Option<Levels> {
        self.lifted.get(fun.index()).copied().flatten()
    }

    /// The parameters of the function that binds a variable which differ between points that call it.
    pub fn differs(&self, v: Var) -> Levels {
        self.lifted(FunId(self.owner[v])).unwrap_or(Levels::NONE)
    }

    /// The number of parallel operations around where a variable is bound, in its function.
    pub fn depth(&self, v: Var) -> usize {
        let info = self.shapes.nest(v).and_then(|nest| self.shapes.info(nest));
        info.map_or(0, |info| info.depth + 1)
    }

    /// Whether something that varies like this, in the function that binds `at`, is the same for all points: those of the
    /// parallel operations around it, and those that call the function.
    fn is_uniform_at(&self, varies: Levels, at: Var) -> bool {
        varies.nests().is_none() && !varies.meets(self.differs(at))
    }

    /// Whether the value of an atom is the same for all points, of callers too.
    pub fn is_uniform(&self, a: Atom) -> bool {
        match a {
            Atom::Const(_) => true,
            Atom::Var(v) => self.is_uniform_at(self.varies[v], v),
        }
    }

    /// Whether each dimension of an array has the same extent for all points, and in all rows.
    pub fn is_regular(&self, v: Var) -> bool {
        let regular = |d: &Dimension| !d.ragged && self.is_uniform_at(d.varies, v);
        self.dims[v].iter().all(regular)
    }

    /// What the paper says of a variable.
    pub fn triple(&self, v: Var) -> Triple {
        let dims = self.dims[v].iter();
        let regular = dims.map(|d| !d.ragged && self.is_uniform_at(d.varies, v));
        Triple {
            regular: regular.collect(),
            independent: self.is_uniform_at(self.varies[v], v),
            level: self.varies[v].outermost(),
        }
    }

    /// What decides how an expression is executed: the condition of a branch, what ends a loop, the width of a parallel
    /// operation. Nothing for all other expressions.
    pub fn decides(exp: &Exp<Soac>) -> Option<Atom> {
        match exp {
            Exp::If { cond, .. } => Some(*cond),
            Exp::Loop { form, .. } => match form {
                LoopForm::For { bound, .. } => Some(*bound),
                LoopForm::While(cond) => cond.result.first().copied(),
            },
            Exp::Op(
                Soac::Screma { width, .. }
                | Soac::Hist { width, .. }
                | Soac::Scatter { width, .. }
                | Soac::Filter { width, .. }
                | Soac::FlatMap { width, .. }
                | Soac::WithAcc { width, .. },
            ) => Some((*width).into()),
            Exp::Atom(_)
            | Exp::Scalar(..)
            | Exp::Assert { .. }
            | Exp::Guard { .. }
            | Exp::Call { .. }
            | Exp::Op(Soac::Array(_) | Soac::UpdateAcc(_)) => None,
        }
    }

    /// The class of the lengths that a size makes with all indices around where `at` is bound; operations whose widths are of
    /// one class can share a vector of offsets.
    pub fn class(&self, size: Size, at: Var) -> Option<Class> {
        self.shapes.class(size, at)
    }

    /// Whether all rows of an array along its first dimension are known to be the same.
    pub fn has_equal_rows(&self, v: Var) -> bool {
        let table = self.shapes.table();
        match self.shapes.value(v) {
            Some(Value::Array(family)) => equal_rows(&table, family),
            Some(Value::Scalar(_)) | None => false,
        }
    }
}

fn equal_rows(table: &super::shapes::form::Table, family: Family) -> bool {
    match table.family(family) {
        FamilyKind::Abs(bound, body) => !table.mentions(*body, *bound),
        FamilyKind::Scalar(_) | FamilyKind::Rows { .. } => false,
    }
}
