//! Views of what maps make become views of what they read, so that they are in the way of no fusion, and nothing is made that is
//! not looked at.
//!
//! ```text
//! let ys = map n (xs) f                        let x = index xs[i]
//! let y = index ys[i]                    ──►   let y = f x
//!
//! let ys = map n (xs) f                        let vs = slice xs[a : k : 1]
//! let zs = slice ys[a : k : 1]           ──►   let zs = map k (vs) f
//!
//! let yss = map n (xss) \(xs) map m (xs) f     let vss = rearrange (1, 0) xss
//! let zss = rearrange (1, 0) yss         ──►   let zss = map m (vss) \(vs) map n (vs) f
//!
//! let zs = reshape [n*m] yss                   let uss = map n (yss) \(ys) map m (ys) g
//! let us = map (n*m) (zs) g              ──►   let us = reshape [n*m] uss
//! ```
//!
//! Only if nothing else reads what the map makes. Elements are left out (by an index or a slice) only if making them could
//! not have failed. A rearrangement stays where no operator traverses its result, a reshape where no map made what it reshapes.

use super::parts::{Screma, is_scalar_code};
use super::uses::Uses;
use super::{Fuse, add_certs, is_nothing, take};
use crate::fired::fired;
use crate::ir::array::{ArrayOp, SliceDim};
use crate::ir::id::{SpanId, Var};
use crate::ir::rename;
use crate::ir::soac::{Operator, Soac};
use crate::ir::syntax::{Atom, Body, Exp, Lambda, LoopForm, Stm, VarInfo};
use crate::ir::types::{Size, Type};
use crate::ir::walk::{all_stms, free_in_lambda};

/// A map and the one statement that reads what it makes.
#[derive(Clone, Copy)]
struct Pair {
    from: usize,
    at: usize,
}

impl Fuse<'_> {
    /// Moves views of a body to what maps read.
    pub(super) fn views(&mut self, body: &mut Body<Soac>) {
        let is_view = |stm: &Stm<Soac>| viewed(stm).is_some();
        if !body.stms.iter().any(is_view) {
            return;
        }
        let uses = Uses::of(body, self.vars, self.funs);
        let mut out: Vec<Vec<Stm<Soac>>> = Vec::new();
        for at in 0..body.stms.len() {
            let mut new = Vec::new();
            if let Some((from, stms)) = self.view(body, &uses, at) {
                take(&mut body.stms[from]);
                take(&mut body.stms[at]);
                // What is moved later must know that the new views share memory with what they are views of.
                stms.iter().for_each(|stm| self.aliases.learn(stm));
                new = stms;
            }
            out.push(new);
        }
        let stms = std::mem::take(&mut body.stms).into_iter().zip(out);
        let stms = stms.flat_map(|(stm, new)| std::iter::once(stm).chain(new));
        body.stms = stms.filter(|stm| !is_nothing(stm)).collect();
    }

    /// What two statements become, and the first of them.
    fn view(
        &mut self,
        body: &Body<Soac>,
        uses: &Uses,
        at: usize,
    ) -> Option<(usize, Vec<Stm<Soac>>)> {
        let stm = &body.stms[at];
        if Screma::of(stm).is_some() {
            return self.reshaped(body, uses, at);
        }
        let array = viewed(stm)?;
        let from = self.only_reader(body, uses, array, at)?;
        let Exp::Op(Soac::Array(op)) = &stm.exp else {
            return None;
        };
        let pair = Pair { from, at };
        let stms = match op {
            ArrayOp::Index { indices, .. } => self.index(body, pair, indices),
            ArrayOp::Slice { dims, .. } => self.slice(body, pair, dims),
            ArrayOp::Rearrange { perm, .. } => self.rearrange(body, uses, pair, perm),
            ArrayOp::Reshape { .. }
            | ArrayOp::Update { .. }
            | ArrayOp::Literal { .. }
            | ArrayOp::Iota { .. }
            | ArrayOp::Replicate { .. }
            | ArrayOp::Scratch { .. }
            | ArrayOp::Copy(_)
            | ArrayOp::Concat { .. }
            | ArrayOp::Manifest { .. }
            | ArrayOp::Trace(_)
            | ArrayOp::Stream(_) => None,
        };
        Some((from, stms?))
    }

    /// The map that makes just this array, if statement `at` alone reads it and the map could be executed there.
    pub(super) fn only_reader(
        &self,
        body: &Body<Soac>,
        uses: &Uses,
        array: Var,
        at: usize,
    ) -> Option<usize> {
        let &[from] = &uses.binders(&[array])[..] else {
            return None;
        };
        let map = Screma::of(&body.stms[from]).is_some_and(|screma| screma.is_map());
        let only = body.stms[from].binds == [array]
            && !uses.reads_in(array, from + 1..at)
            && !uses.read_after(array, at);
        (map && only && self.can_sink(uses, (from, at))).then_some(from)
    }

    /// One element: the lambda is applied to the elements that it is made of.
    fn index(&mut self, body: &Body<Soac>, pair: Pair, indices: &[Atom]) -> Option<Vec<Stm<Soac>>> {
        let (map, stm) = (&body.stms[pair.from], &body.stms[pair.at]);
        let (_, arrays, lam) = parts(map)?;
        let &[result] = &lam.body.result[..] else {
            return None;
        };
        let &[index] = indices else { return None };
        if !is_total(lam) || !matches!(result.ty(self.vars), Type::Scalar(_)) {
            return None;
        }
        fired("fuse/map-index");
        let certs = certs_of(stm, map);
        let mut stms: Vec<Stm<Soac>> = Vec::new();
        for (&array, &param) in arrays.iter().zip(&lam.params) {
            let indices = vec![index];
            let exp = ArrayOp::Index { array, indices }.into();
            stms.push(statement(param, certs.clone(), exp, stm.span));
        }
        stms.extend(lam.body.stms.iter().cloned());
        stms.push(statement(stm.binds[0], certs, Exp::Atom(result), stm.span));
        Some(stms)
    }

    /// A part along the outermost dimension: a map of the parts that it is made of.
    fn slice(
        &mut self,
        body: &Body<Soac>,
        pair: Pair,
        dims: &[SliceDim],
    ) -> Option<Vec<Stm<Soac>>> {
        let (map, stm) = (&body.stms[pair.from], &body.stms[pair.at]);
        let (_, arrays, lam) = parts(map)?;
        let &[dim @ SliceDim::Range { len, .. }] = dims else {
            return None;
        };
        if !is_total(lam) {
            return None;
        }
        fired("fuse/map-slice");
        let certs = certs_of(stm, map);
        let mut stms = Vec::new();
        let mut slices = Vec::new();
        for &array in arrays {
            let ty = Type::array_of(&self.vars[array].ty.peel(1)?, &[len]);
            let part = self.fresh("part", ty);
            let dims = vec![dim];
            let exp = ArrayOp::Slice { array, dims }.into();
            stms.push(statement(part, certs.clone(), exp, stm.span));
            slices.push(part);
        }
        let exp = map_of(len, slices, lam.clone());
        stms.push(statement(stm.binds[0], certs, exp, map.span));
        Some(stms)
    }

    /// The transposition of what a perfect nest of two maps makes: the two change places.
    fn rearrange(
        &mut self,
        body: &Body<Soac>,
        uses: &Uses,
        pair: Pair,
        perm: &[usize],
    ) -> Option<Vec<Stm<Soac>>> {
        let (map, stm) = (&body.stms[pair.from], &body.stms[pair.at]);
        let swaps = perm
            .iter()
            .copied()
            .eq([1, 0].into_iter().chain(2..perm.len()));
        let (width, arrays, lam) = parts(map)?;
        let [row] = &lam.body.stms[..] else {
            return None;
        };
        let (inner_width, inner_arrays, inner) = parts(row)?;
        let perfect = row.binds.len() == 1 && lam.body.result == [row.binds[0].into()];
        if !(swaps && perfect && is_traversed(body, uses, stm.binds[0], pair.at)) {
            return None;
        }
        fired("fuse/map-rearrange");
        let mut stms = Vec::new();
        let (mut outer, mut columns) = ((Vec::new(), Vec::new()), (Vec::new(), Vec::new()));
        for (&array, &param) in inner_arrays.iter().zip(&inner.params) {
            let Some(k) = lam.params.iter().position(|p| *p == array) else {
                outer.0.push(array);
                outer.1.push(param);
                continue;
            };
            let ty = self.vars[arrays[k]].ty.clone();
            let rank = ty.rank();
            let elem = ty.peel(2)?;
            let view = self.fresh("columns", Type::array_of(&elem, &[inner_width, width]));
            let exp = ArrayOp::Rearrange {
                perm: [1, 0].into_iter().chain(2..rank).collect(),
                array: arrays[k],
            };
            stms.push(statement(view, map.certs.clone(), exp.into(), stm.span));
            let column = self.fresh("column", Type::array_of(&elem, &[width]));
            outer.0.push(view);
            outer.1.push(column);
            columns.0.push(column);
            columns.1.push(param);
        }
        // What the inner lambda reads of the outer one are elements of the inner dimension now.
        for v in free_in_lambda(self.vars, inner) {
            if let Some(k) = lam.params.iter().position(|p| *p == v) {
                columns.0.push(arrays[k]);
                columns.1.push(v);
            }
        }
        let elem = self.vars[row.binds[0]].ty.peel(1)?;
        let column = self.fresh("column", Type::array_of(&elem, &[width]));
        let nested = Lambda {
            params: columns.1,
            body: inner.body.clone(),
        };
        let certs = row.certs.clone();
        let new = statement(column, certs, map_of(width, columns.0, nested), row.span);
        let lam = Lambda {
            params: outer.1,
            body: Body {
                stms: vec![new],
                result: vec![column.into()],
            },
        };
        let certs = certs_of(stm, map);
        let exp = map_of(inner_width, outer.0, lam);
        stms.push(statement(stm.binds[0], certs, exp, map.span));
        Some(stms)
    }

    /// A map or reduction of scalars over all elements of what a nest of maps makes: the same over its rows.
    fn reshaped(
        &mut self,
        body: &Body<Soac>,
        uses: &Uses,
        at: usize,
    ) -> Option<(usize, Vec<Stm<Soac>>)> {
        let stm = &body.stms[at];
        let screma = Screma::of(stm)?;
        let Exp::Op(Soac::Screma { arrays, .. }) = &stm.exp else {
            return None;
        };
        let &[flat] = &arrays[..] else { return None };
        let &[from] = &uses.binders(&[flat])[..] else {
            return None;
        };
        let view = &body.stms[from];
        let Exp::Op(Soac::Array(ArrayOp::Reshape { array: rows, .. })) = view.exp else {
            return None;
        };
        self.only_reader(body, uses, rows, from)?;
        let [n, m] = &self.vars[rows].ty.shape().to_vec()[..] else {
            return None;
        };
        let (n, m) = (n.size()?, m.size()?);
        let folded = screma.folded();
        let closed = screma.is_map() || screma.scans.is_empty() && folded == stm.binds.len();
        let scalars = is_scalar_code(screma.lam) && screma.is_of_scalars(self.vars);
        let inside = |lam: &Lambda<Soac>| free_in_lambda(self.vars, lam).contains(&flat);
        let read_inside = inside(screma.lam) || screma.reds.iter().any(|op| inside(&op.lam));
        if !(closed && scalars)
            || read_inside
            || screma.reds.len() > 1
            || self.vars[flat].ty.rank() != 1
            || uses.reads_in(flat, from + 1..at)
            || uses.read_after(flat, at)
            || !self.can_sink(uses, (from, at))
        {
            return None;
        }
        fired(match screma.is_map() {
            true => "fuse/map-reshape",
            false => "fuse/map-reshape-reduce",
        });
        let certs = certs_of(view, stm);
        let types: Vec<Type> = screma
            .lam
            .body
            .result
            .iter()
            .map(|a| a.ty(self.vars))
            .collect();
        let elem = Type::Scalar(self.vars[rows].ty.elem()?);
        let row = self.fresh("row", Type::array_of(&elem, &[m]));
        let (reds, lam) = (screma.reds.to_vec(), screma.lam.clone());
        let inner_reds = reds
            .iter()
            .map(|op| Operator {
                lam: rename::lambda(self.vars, &mut rename::Subst::new(), &op.lam),
                ..op.clone()
            })
            .collect();
        let over = |ty: &Type, dims: &[Size]| match reds.is_empty() {
            true => Type::array_of(ty, dims),
            false => ty.clone(),
        };
        let of_row: Vec<Var> = types
            .iter()
            .map(|ty| self.fresh("of_row", over(ty, &[m])))
            .collect();
        let inner = Stm {
            binds: of_row.clone(),
            certs: Vec::new(),
            exp: screma_of(m, vec![row], lam, inner_reds),
            span: stm.span,
        };
        let lam = Lambda {
            params: vec![row],
            body: Body {
                stms: vec![inner],
                result: of_row.into_iter().map(Atom::Var).collect(),
            },
        };
        let mut stms = Vec::new();
        let binds = if reds.is_empty() {
            types
                .iter()
                .map(|ty| self.fresh("rows", over(ty, &[n, m])))
                .collect()
        } else {
            stm.binds.clone()
        };
        let made = binds.clone();
        let is_map = reds.is_empty();
        stms.push(Stm {
            binds,
            certs: certs.clone(),
            exp: screma_of(n, vec![rows], lam, reds),
            span: stm.span,
        });
        if is_map {
            for (v, array) in stm.binds.iter().zip(made) {
                let shape = self.vars[*v].ty.shape().to_vec();
                let exp = ArrayOp::Reshape { shape, array }.into();
                stms.push(statement(*v, certs.clone(), exp, view.span));
            }
        }
        Some((from, stms))
    }

    pub(super) fn fresh(&mut self, name: &str, ty: Type) -> Var {
        self.vars.push(VarInfo {
            name: name.into(),
            ty,
        })
    }
}

/// The array of which a statement is a view or an element.
fn viewed(stm: &Stm<Soac>) -> Option<Var> {
    let Exp::Op(Soac::Array(op)) = &stm.exp else {
        return None;
    };
    op.aliased()
}

/// The parts of a map.
fn parts(stm: &Stm<Soac>) -> Option<(Size, &[Var], &Lambda<Soac>)> {
    match &stm.exp {
        Exp::Op(Soac::Screma {
            width,
            arrays,
            lam,
            scans,
            reds,
        }) if scans.is_empty() && reds.is_empty() => Some((*width, arrays, lam)),
        Exp::Op(_)
        | Exp::Atom(_)
        | Exp::Scalar(..)
        | Exp::Assert { .. }
        | Exp::Guard { .. }
        | Exp::If { .. }
        | Exp::Loop { .. }
        | Exp::Call { .. } => None,
    }
}

/// Whether an operator traverses the array, and nothing else reads it after statement `at`.
fn is_traversed(body: &Body<Soac>, uses: &Uses, array: Var, at: usize) -> bool {
    let Some(reader) = uses.only_read_by(array, at) else {
        return false;
    };
    super::parts::Consumer::of(&body.stms[reader])
        .is_some_and(|consumer| consumer.arrays.contains(&array))
}

/// Whether a lambda cannot fail and ends, so that it need not be applied.
pub(super) fn is_total(lam: &Lambda<Soac>) -> bool {
    let mut total = true;
    all_stms(&lam.body, &mut |stm| {
        total &= match &stm.exp {
            Exp::Assert { .. } | Exp::Call { .. } => false,
            Exp::Loop { form, .. } => matches!(form, LoopForm::For { .. }),
            Exp::Op(op) => !matches!(op, Soac::Array(ArrayOp::Trace(_) | ArrayOp::Stream(_))),
            Exp::Atom(_) | Exp::Scalar(..) | Exp::Guard { .. } | Exp::If { .. } => true,
        };
    });
    total
}

/// What two statements that become one were proved by.
fn certs_of(one: &Stm<Soac>, other: &Stm<Soac>) -> Vec<Var> {
    let mut certs = one.certs.clone();
    add_certs(&mut certs, other.certs.clone());
    certs
}

pub(super) fn statement(v: Var, certs: Vec<Var>, exp: Exp<Soac>, span: SpanId) -> Stm<Soac> {
    Stm {
        binds: vec![v],
        certs,
        exp,
        span,
    }
}

fn map_of(width: Size, arrays: Vec<Var>, lam: Lambda<Soac>) -> Exp<Soac> {
    screma_of(width, arrays, lam, Vec::new())
}

fn screma_of(
    width: Size,
    arrays: Vec<Var>,
    lam: Lambda<Soac>,
    reds: Vec<Operator<Soac>>,
) -> Exp<Soac> {
    Exp::Op(Soac::Screma {
        width,
        arrays,
        lam,
        scans: Vec::new(),
        reds,
    })
}
