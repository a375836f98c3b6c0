//! Loops keep the values that their parameters have at the start of each iteration; these are all that undoing an iteration needs.
//!
//! ```text
//! y = loop (p = a) for i < n do B      ──►   y, ps = loop (p = a, ps = scratch n) for i < n do { ps[i] = p  B }
//!                                            a', x' = loop (p' = y', x') for j < n do { i = n-1-j  p = ps[i]  B  B'(r' = p') }
//! ```
//!
//! Here `x` is what the body reads from outside. A parameter that is the same in all iterations is not kept. A `while` loop is executed once to count its
//! iterations. Arrays that change size are kept as in [`super::changing`].
//!
//! TODO: Every parameter is kept whole, in each iteration: of an array of which few elements change this is most of the work. `#[stripmine]` bounds
//! the memory where it is given.

use super::Derive;
use super::changing::{Changing, Pool};
use super::pieces::{Leaving, Piece};
use crate::fired::fired;
use crate::ir::array::{ArrayOp, SliceDim};
use crate::ir::id::Var;
use crate::ir::rename::{self, Subst};
use crate::ir::scalar::{BinOp, CmpOp, ScalarOp};
use crate::ir::soac::Soac;
use crate::ir::syntax::{Atom, Body, Exp, LoopForm, LoopParam, Stm};
use crate::ir::types::{ScalarType, Size, Type};

/// A `for` loop that has been executed.
pub(super) struct Kept {
    pub stm: Stm<Soac>,
    /// How many iterations there are.
    count: Size,
    /// For each parameter its values, if they are kept.
    values: Vec<Option<Values>>,
}

/// The values of a parameter in all iterations.
#[derive(Clone, Copy)]
pub(super) enum Values {
    /// One array of them.
    Rows(Var),
    /// Their elements one after another, and where each value starts.
    Pool { pool: Var, starts: Var },
}

/// What a loop carries to keep the values of a parameter.
enum Keeper {
    Rows(LoopParam),
    Pool(Pool),
}

impl Keeper {
    const fn params(&self) -> &[LoopParam] {
        match self {
            Self::Rows(param) => std::slice::from_ref(param),
            Self::Pool(pool) => pool.params(),
        }
    }
}

impl Derive<'_> {
    /// A `while` loop as a `for` loop, after another one that counts.
    pub(super) fn counted(
        &mut self,
        stm: &Stm<Soac>,
        params: &[LoopParam],
        cond: &Body<Soac>,
        body: &Body<Soac>,
    ) {
        fired("derivatives/while");
        let mut subst = Subst::new();
        let mut own = params.to_vec();
        for param in &mut own {
            param.var = rename::fresh(self.vars, &mut subst, param.var);
        }
        let test = rename::body(self.vars, &mut subst.clone(), cond);
        let mut again = rename::body(self.vars, &mut subst, body);
        let so_far = self.fresh("count", Type::I64);
        let next = self.fresh("count", Type::I64);
        again.stms.push(Stm {
            binds: vec![next],
            certs: Vec::new(),
            exp: Exp::Scalar(
                ScalarOp::Bin(BinOp::Add, ScalarType::I64),
                vec![so_far.into(), Atom::ONE],
            ),
            span: stm.span,
        });
        again.result.push(next.into());
        own.push(LoopParam {
            var: so_far,
            init: Atom::ZERO,
        });
        // What the loop consumes it consumes twice.
        for param in &mut own {
            if let Atom::Var(v) = param.init
                && self.vars[v].ty.is_array()
            {
                param.init = self.array_op("copy", self.copy_of(v)).into();
            }
        }
        let mut binds = Vec::new();
        let mut of_binds = Subst::new();
        for v in &stm.binds {
            binds.push(rename::fresh(self.vars, &mut of_binds, *v));
        }
        let count = self.fresh("count", Type::I64);
        binds.push(count);
        self.back.counts.insert(count);
        self.push(
            binds,
            Exp::Loop {
                params: own,
                form: LoopForm::While(test),
                body: again,
            },
        );
        let index = self.fresh("i", Type::I64);
        let form = LoopForm::For {
            index,
            bound: count.into(),
        };
        let exp = Exp::Loop {
            params: params.to_vec(),
            form,
            body: body.clone(),
        };
        self.push(stm.binds.clone(), exp);
    }

    /// Executes a loop, as `run`.
    pub(super) fn keep(&mut self, stm: Stm<Soac>, run: Stm<Soac>) -> super::body::Step {
        let Exp::Loop { params, form, body } = run.exp else {
            return super::body::Step::Plain(stm);
        };
        let LoopForm::For { index, bound } = form else {
            self.refuse("a loop");
            return super::body::Step::Plain(stm);
        };
        fired("derivatives/loop");
        for param in &params {
            let ty = &self.vars[param.var].ty;
            if ty.shape().iter().any(|dim| dim.size().is_none()) {
                self.refuse("a loop over rows of different lengths");
                return super::body::Step::Plain(stm);
            }
            if ty.is_acc() {
                self.refuse("a loop over an accumulator");
            }
        }
        let changing = Changing::of(self, &params);
        let totals = match &changing.arrays[..] {
            [] => Vec::new(),
            arrays => self.totals(&params, (index, bound), &body, arrays),
        };
        let times = self.as_i64(bound);
        let count = self.int(BinOp::Max, times, Atom::ZERO);
        let count = count.as_size().unwrap_or(Size::Const(0));
        let mut values = Vec::new();
        let mut all = params.clone();
        let mut binds = stm.binds.clone();
        let mut keepers = Vec::new();
        for (k, (param, result)) in params.iter().zip(&body.result).enumerate() {
            let ty = self.vars[param.var].ty.clone();
            let Some(elem) = ty.elem().filter(|_| *result != Atom::Var(param.var)) else {
                values.push(None);
                continue;
            };
            let keeper = match changing.arrays.iter().position(|array| *array == k) {
                Some(k) => Keeper::Pool(self.pool(elem, totals[k], count)),
                None => {
                    let shape = Type::array_of(&ty, &[count]).shape().to_vec();
                    let init = self.array_op("kept", ArrayOp::Scratch { elem, shape });
                    let var = self.like(init);
                    let init = init.into();
                    Keeper::Rows(LoopParam { var, init })
                }
            };
            let first = binds.len();
            for carried in keeper.params() {
                all.push(*carried);
                let kept = self.like(carried.var);
                self.settle_at(kept);
                binds.push(kept);
            }
            values.push(Some(match keeper {
                Keeper::Rows(_) => Values::Rows(binds[first]),
                Keeper::Pool(_) => Values::Pool {
                    pool: binds[first],
                    starts: binds[first + 1],
                },
            }));
            keepers.push((param.var, keeper));
        }
        let (mut result, stms) = self.nested(|t| {
            let at = t.as_i64(index.into());
            let mut kept = Vec::new();
            for (var, keeper) in &keepers {
                match keeper {
                    Keeper::Rows(into) => kept.push(t.written(into.var, at, (*var).into())),
                    Keeper::Pool(pool) => kept.extend(t.pooled(pool, at, *var)),
                }
            }
            kept
        });
        let mut all_stms = stms;
        all_stms.extend(body.stms);
        let mut results = body.result;
        results.append(&mut result);
        let new = Body {
            stms: all_stms,
            result: results,
        };
        let form = LoopForm::For { index, bound };
        self.push(
            binds,
            Exp::Loop {
                params: all,
                form,
                body: new,
            },
        );
        super::body::Step::Loop(Kept { stm, count, values })
    }

    fn as_i64(&mut self, a: Atom) -> Atom {
        match a.ty(self.vars).elem() {
            Some(ty) if ty != ScalarType::I64 => {
                self.scalar(ScalarOp::Convert(ty, ScalarType::I64), &[a])
            }
            Some(_) | None => a,
        }
    }

    /// An array with an element or row written.
    pub(super) fn written(&mut self, array: Var, at: Atom, value: Atom) -> Atom {
        let op = ArrayOp::Update {
            array,
            dims: vec![SliceDim::Fix(at)],
            value,
        };
        self.array_op("kept", op).into()
    }

    pub(super) fn undo_loop(&mut self, kept: Kept) {
        let Kept { stm, count, values } = kept;
        let seeds: Vec<Option<Atom>> = stm.binds.iter().map(|v| self.taken(*v)).collect();
        if seeds.iter().all(Option::is_none) {
            return;
        }
        let Exp::Loop {
            params,
            form: LoopForm::For { index, .. },
            body,
        } = stm.exp
        else {
            return;
        };
        let mut free = self.active_in([&body]);
        free.retain(|v| !params.iter().any(|p| p.var == *v));
        // The adjoints of parameters, then of what is at home here, are carried; arrays from further outside have zeros
        // only if there is more to add than pieces.
        // Sizes come first.
        let mut carried: Vec<LoopParam> = Vec::new();
        let active: Vec<bool> = params.iter().map(|p| self.differentiable(p.var)).collect();
        let sizes = Changing::of(self, &params).sizes;
        let mut of_last = Subst::new();
        for k in &sizes {
            let var = rename::fresh(self.vars, &mut of_last, params[*k].var);
            let init = stm.binds[*k].into();
            carried.push(LoopParam { var, init });
        }
        for (k, param) in params.iter().enumerate().filter(|(k, _)| active[*k]) {
            let last = stm.binds[k];
            let init = match seeds[k] {
                Some(seed) => self.fit(seed, &self.vars[last].ty.clone()),
                None => self.zero_adjoint(last),
            };
            let init = self.own_atom(init);
            let var = rename::fresh(self.vars, &mut of_last, param.var);
            carried.push(LoopParam { var, init });
        }
        let carries = |t: &Self, v: Var| t.is_local(v) || !t.vars[v].ty.is_array();
        let (local, far): (Vec<Var>, Vec<Var>) = free.into_iter().partition(|v| carries(self, *v));
        for v in &local {
            let init = self.taken_or_zero(*v);
            let init = self.own_atom(init);
            let var = self.like(*v);
            carried.push(LoopParam { var, init });
        }
        let outside = self.set_aside();
        let from = self.back.pieces.len();
        let mut subst = Subst::new();
        let step = self.fresh("i", Type::I64);
        let ((mut result, Leaving { known, found }, late), mut stms) = self.nested(|t| {
            let last = t.int(BinOp::Sub, count, Atom::ONE);
            let at = t.int(BinOp::Sub, last, step);
            let own = rename::fresh(t.vars, &mut subst, index);
            let own_ty = t.vars[own].ty.elem().unwrap_or(ScalarType::I64);
            let exp = if own_ty == ScalarType::I64 {
                Exp::Atom(at)
            } else {
                Exp::Scalar(ScalarOp::Convert(ScalarType::I64, own_ty), vec![at])
            };
            t.push(vec![own], exp);
            t.settle_at(own);
            let mut again = Vec::new();
            for (k, param) in params.iter().enumerate() {
                let var = rename::fresh(t.vars, &mut subst, param.var);
                let exp = match values[k] {
                    Some(values) => t.kept_value(values, at, &t.vars[var].ty.clone()),
                    None => Exp::Atom(param.init),
                };
                t.push(vec![var], exp);
                t.settle_at(var);
                if active[k] {
                    t.activate(var);
                }
                again.push(var);
            }
            let body = rename::body(t.vars, &mut subst, &body);
            let mut seeds = vec![None; params.len()];
            let mut next = carried[sizes.len()..].iter();
            for (k, seed) in seeds.iter_mut().enumerate() {
                if active[k] {
                    *seed = next.next().map(|p| Atom::Var(p.var));
                }
            }
            for p in &carried {
                t.back.owned.insert(p.var);
            }
            for (v, p) in local.iter().zip(next) {
                t.back.of.insert(*v, p.var.into());
            }
            t.sweep(body.stms, &body.result, &seeds);
            let pieces = t.leaving(from, &[step]);
            let mut result: Vec<Atom> = sizes.iter().map(|k| again[*k].into()).collect();
            for (k, var) in again.iter().enumerate() {
                if active[k] {
                    let sum = t.taken_or_zero(*var);
                    result.push(t.own_atom(sum));
                }
            }
            for v in &local {
                let sum = t.taken_or_zero(*v);
                result.push(t.own_atom(sum));
            }
            let late: Vec<(Var, Atom)> = far
                .iter()
                .filter_map(|v| Some((*v, t.taken(*v)?)))
                .collect();
            (result, pieces, late)
        });
        self.take_up(outside);
        for (v, part) in &late {
            let init = self.zero_adjoint(*v);
            let var = self.like(*v);
            carried.push(LoopParam { var, init });
            let (sum, more) = self.nested(|t| t.plus(var.into(), *part));
            stms.extend(more);
            result.push(sum);
        }
        let mut arrived = Vec::new();
        let mut lists = Vec::new();
        if !found.is_empty() {
            let totals = self.total_lengths(&carried, (step, count), (&stms, &result), &found);
            for (piece, total) in found.into_iter().zip(totals) {
                arrived.push(self.appended(
                    piece,
                    total,
                    (&mut carried, &mut lists),
                    (&mut stms, &mut result),
                ));
            }
        }
        for piece in known {
            arrived.push(self.listed(
                piece,
                (count, step),
                (&mut carried, &mut lists),
                (&mut stms, &mut result),
            ));
        }
        let mut of_binds = Subst::new();
        let mut binds = Vec::new();
        for param in &carried[..carried.len() - lists.len()] {
            binds.push(rename::fresh(self.vars, &mut of_binds, param.var));
        }
        binds.extend(&lists);
        self.back.owned.extend(binds.iter().copied());
        let form = LoopForm::For {
            index: step,
            bound: count.into(),
        };
        self.push(
            binds.clone(),
            Exp::Loop {
                params: carried,
                form,
                body: Body { stms, result },
            },
        );
        let of_params = active.iter().filter(|active| **active).count();
        let mut binds = binds.into_iter().skip(sizes.len());
        let sums: Vec<Var> = binds.by_ref().take(of_params).collect();
        // These have what came before in them.
        for v in local {
            let Some(sum) = binds.next() else { return };
            self.back.of.insert(v, sum.into());
        }
        let params = params.iter().zip(&active).filter(|(_, active)| **active);
        for ((param, _), sum) in params.zip(sums) {
            self.add(param.init, sum.into());
        }
        for (v, _) in late {
            let Some(sum) = binds.next() else { return };
            self.add(v.into(), sum.into());
        }
        for piece in arrived {
            self.arrived(piece);
        }
    }

    /// A piece of each iteration, as arrays that the loop carries.
    fn listed(
        &mut self,
        piece: Piece,
        (count, step): (Size, Var),
        (carried, binds): (&mut Vec<LoopParam>, &mut Vec<Var>),
        (stms, result): (&mut Vec<Stm<Soac>>, &mut Vec<Atom>),
    ) -> Piece {
        let of_step: Vec<Atom> = piece.indices.iter().copied().chain([piece.value]).collect();
        let at = Type::array_of(&Type::I64, &piece.dims);
        let value = self.value_type(&piece);
        let first = binds.len();
        let piece = self.bound_piece(piece, &[count], binds);
        for (k, atom) in of_step.iter().enumerate() {
            let ty = if k + 1 < of_step.len() { &at } else { &value };
            let var = self.like(binds[first + k]);
            let Type::Array(array) = self.vars[var].ty.clone() else {
                continue;
            };
            let scratch = ArrayOp::Scratch {
                elem: array.elem,
                shape: array.shape,
            };
            let init = self.array_op("list", scratch).into();
            carried.push(LoopParam { var, init });
            let (list, more) = self.nested(|t| {
                let atom = t.fit(*atom, ty);
                t.written(var, step.into(), atom)
            });
            stms.extend(more);
            result.push(list);
        }
        piece
    }

    /// Whether an index is inside of an extent.
    pub(super) fn in_range(&mut self, index: Atom, extent: Size) -> Atom {
        let le = ScalarOp::Cmp(CmpOp::Le, ScalarType::I64);
        let lt = ScalarOp::Cmp(CmpOp::Lt, ScalarType::I64);
        let low = self.scalar(le, &[Atom::ZERO, index]);
        let high = self.scalar(lt, &[index, extent.into()]);
        self.scalar(ScalarOp::Bin(BinOp::And, ScalarType::Bool), &[low, high])
    }
}
