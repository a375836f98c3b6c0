//! Arrays of constant shape whose elements are known one by one, and code on them without loops.

use crate::hash::HashMap;
use crate::interp::scalar::eval;
use crate::ir::array::{ArrayOp, SliceDim};
use crate::ir::id::{SpanId, Var};
use crate::ir::rename::{self, Subst};
use crate::ir::soac::{Operator, Soac};
use crate::ir::syntax::{Atom, Body, Exp, Lambda, Stm, VarInfo, Vars};
use crate::ir::types::{Dim, ScalarType, Size, Type};
use crate::ir::walk::{all_stms, free_in_stm};

/// The most elements of an array whose elements are known one by one.
const MOST: usize = 64;
/// The most statements that the loops of an operator become.
const STATEMENTS: usize = 600;

/// The extents of an array whose shape is constant and small; those of a scalar are none.
pub(super) fn extents(ty: &Type) -> Option<Vec<usize>> {
    let shape: Option<Vec<usize>> = match ty {
        Type::Scalar(_) => Some(Vec::new()),
        Type::Array(array) => constant(&array.shape),
        Type::Acc(_) | Type::Buffer(_) | Type::Cert => None,
    };
    let count = |shape: &[usize]| shape.iter().try_fold(1, |n: usize, m| n.checked_mul(*m));
    shape.filter(|shape| count(shape).is_some_and(|n| n <= MOST))
}

/// The elements of an array, row-major.
#[derive(Clone)]
struct Known {
    shape: Vec<usize>,
    elems: Vec<Atom>,
    /// Whether there is such an array, too.
    is_bound: bool,
}

/// Arrays whose elements are known.
#[derive(Default)]
pub(super) struct Arrays(HashMap<Var, Known>);

/// A shape and elements.
pub(super) type Elements = (Vec<usize>, Vec<Atom>);

impl Arrays {
    /// Remembers what a statement binds, if it is an array whose elements are known.
    pub(super) fn note(&mut self, stm: &Stm<Soac>) {
        let (Exp::Op(Soac::Array(op)), [v]) = (&stm.exp, &stm.binds[..]) else {
            return;
        };
        if let Some((shape, elems)) = self.value(op).filter(|(shape, _)| !shape.is_empty()) {
            self.insert(*v, (shape, elems), true);
        }
    }

    fn insert(&mut self, v: Var, (shape, elems): Elements, is_bound: bool) {
        let known = Known {
            shape,
            elems,
            is_bound,
        };
        self.0.insert(v, known);
    }

    /// The elements of an array, if they are known.
    pub(super) fn elements(&self, atom: Atom) -> Option<Elements> {
        let known = self.0.get(&atom.as_var()?)?;
        Some((known.shape.clone(), known.elems.clone()))
    }

    /// The rows side by side, of which those that are no arrays are scalars.
    fn rows(&self, rows: &[Atom], row: &Type) -> Option<Elements> {
        let inner = extents(row)?;
        let mut elems = Vec::new();
        for atom in rows {
            if inner.is_empty() {
                elems.push(*atom);
            } else {
                elems.extend(self.elements(*atom)?.1);
            }
        }
        let shape = std::iter::once(rows.len()).chain(inner).collect();
        (elems.len() <= MOST).then_some((shape, elems))
    }

    /// What an operation on arrays comes to.
    fn value(&self, op: &ArrayOp) -> Option<Elements> {
        match op {
            ArrayOp::Index { array, indices } => {
                let known = self.0.get(array)?;
                let (first, len) = part(&known.shape, indices)?;
                let elems = known.elems.get(first..first + len)?.to_vec();
                Some((known.shape[indices.len()..].to_vec(), elems))
            }
            ArrayOp::Literal { elems, row } => self.rows(elems, row),
            ArrayOp::Iota {
                len: Size::Const(n),
                start,
                step,
                ty: ScalarType::I64,
            } => {
                let (start, step) = (start.as_i64()?, step.as_i64()?);
                let n = usize::try_from(*n).ok().filter(|n| *n <= MOST)?;
                let elem = |i| Atom::i64(start.wrapping_add(step.wrapping_mul(i)));
                Some((vec![n], (0..n as i64).map(elem).collect()))
            }
            ArrayOp::Replicate { shape, value } => {
                let (inner, elems) = self.elements(*value)?;
                let outer = constant(shape)?;
                let count = outer.iter().try_fold(1, |n: usize, m| n.checked_mul(*m))?;
                let all = (count <= MOST).then(|| elems.repeat(count))?;
                let shape = outer.into_iter().chain(inner).collect();
                (all.len() <= MOST).then_some((shape, all))
            }
            ArrayOp::Copy(array) => self.elements(Atom::Var(*array)),
            ArrayOp::Reshape { shape, array } => {
                let (_, elems) = self.elements(Atom::Var(*array))?;
                let shape = constant(shape)?;
                (shape.iter().product::<usize>() == elems.len()).then_some((shape, elems))
            }
            ArrayOp::Rearrange { perm, array } => {
                let known = self.0.get(array)?;
                let shape: Vec<usize> = perm.iter().map(|i| known.shape[*i]).collect();
                let mut elems = Vec::new();
                for number in 0..known.elems.len() {
                    let mut rest = number;
                    let mut index = vec![0; shape.len()];
                    for (n, to) in shape.iter().zip(perm).rev() {
                        index[*to] = rest % n;
                        rest /= n;
                    }
                    let at = index.iter().zip(&known.shape);
                    elems.push(known.elems[at.fold(0, |at, (i, n)| at * n + i)]);
                }
                Some((shape, elems))
            }
            ArrayOp::Update { array, dims, value } => {
                let (shape, mut elems) = self.elements(Atom::Var(*array))?;
                let fixed = |dim: &SliceDim| match dim {
                    SliceDim::Fix(i) => Some(*i),
                    SliceDim::Range { .. } => None,
                };
                let indices: Vec<Atom> = dims.iter().map(fixed).collect::<Option<_>>()?;
                let (first, len) = part(&shape, &indices)?;
                let new = match self.elements(*value) {
                    Some((_, new)) => new,
                    None if indices.len() == shape.len() => vec![*value],
                    None => return None,
                };
                elems.get_mut(first..first + len)?.copy_from_slice(&new);
                Some((shape, elems))
            }
            ArrayOp::Concat { arrays, len: _ } => {
                let parts = arrays.iter().map(|a| self.elements(Atom::Var(*a)));
                let parts: Vec<Elements> = parts.collect::<Option<_>>()?;
                let mut shape = parts.first()?.0.clone();
                shape[0] = parts.iter().map(|(shape, _)| shape[0]).sum();
                let elems: Vec<Atom> = parts.into_iter().flat_map(|(_, elems)| elems).collect();
                (elems.len() <= MOST).then_some((shape, elems))
            }
            ArrayOp::Iota { .. }
            | ArrayOp::Slice { .. }
            | ArrayOp::Scratch { .. }
            | ArrayOp::Manifest { .. }
            | ArrayOp::Trace(_)
            | ArrayOp::Stream(_) => None,
        }
    }
}

/// Constant extents.
fn constant(shape: &[Dim]) -> Option<Vec<usize>> {
    let extent = |dim: &Dim| match dim {
        Dim::Size(Size::Const(n)) => usize::try_from(*n).ok(),
        Dim::Size(Size::Var(_)) | Dim::Ragged(_) => None,
    };
    shape.iter().map(extent).collect()
}

/// The first element and the elements of the part of an array at constant indices.
fn part(shape: &[usize], indices: &[Atom]) -> Option<(usize, usize)> {
    let mut first = 0;
    for (n, i) in shape.iter().zip(indices) {
        let i = usize::try_from(i.as_i64()?).ok().filter(|i| i < n)?;
        first = first * n + i;
    }
    let len = shape.get(indices.len()..)?.iter().product();
    Some((first * len, len))
}

/// Code on small arrays in the making.
pub(super) struct Unrolled<'v> {
    vars: &'v mut Vars,
    arrays: Arrays,
    /// What scalars are.
    subst: Subst,
    pub(super) stms: Vec<Stm<Soac>>,
    span: SpanId,
}

impl<'v> Unrolled<'v> {
    /// No code yet.
    pub(super) fn new(vars: &'v mut Vars, span: SpanId) -> Self {
        Self {
            vars,
            arrays: Arrays::default(),
            subst: Subst::new(),
            stms: Vec::new(),
            span,
        }
    }

    /// The code of a body as it is.
    pub(super) fn keep(&mut self, stms: Vec<Stm<Soac>>) {
        for stm in &stms {
            self.arrays.note(stm);
        }
        self.stms.extend(stms);
    }

    fn fresh(&mut self, like: Var, ty: Type) -> Var {
        let name = self.vars[like].name.clone();
        self.vars.push(VarInfo { name, ty })
    }

    fn know(&mut self, v: Var, elements: Elements) {
        self.arrays.insert(v, elements, false);
    }

    /// Parameters for the elements of a parameter.
    pub(super) fn param(&mut self, param: Var) -> Vec<Var> {
        let ty = self.vars[param].ty.clone();
        let (Type::Array(array), Some(shape)) = (&ty, extents(&ty)) else {
            return vec![param];
        };
        let count = 0..shape.iter().product();
        let elem = Type::Scalar(array.elem);
        let params: Vec<Var> = count.map(|_| self.fresh(param, elem.clone())).collect();
        let elems = params.iter().copied().map(Atom::Var).collect();
        self.know(param, (shape, elems));
        params
    }

    /// The elements of a value of a small constant shape.
    pub(super) fn elements(&mut self, atom: Atom) -> Vec<Atom> {
        let atom = self.subst.atom(atom);
        let (Some(v), ty) = (atom.as_var(), atom.ty(self.vars)) else {
            return vec![atom];
        };
        if let Some((_, elems)) = self.arrays.elements(atom) {
            return elems;
        }
        let (Type::Array(array), Some(shape)) = (&ty, extents(&ty)) else {
            return vec![atom];
        };
        let mut elems = Vec::new();
        for number in 0..shape.iter().product() {
            let mut rest = number;
            let mut indices = vec![Atom::ZERO; shape.len()];
            for (index, n) in indices.iter_mut().zip(&shape).rev() {
                *index = Atom::i64((rest % n) as i64);
                rest /= n;
            }
            let elem = self.fresh(v, Type::Scalar(array.elem));
            self.push(elem, ArrayOp::Index { array: v, indices }.into());
            elems.push(elem.into());
        }
        self.arrays.insert(v, (shape, elems.clone()), true);
        elems
    }

    fn push(&mut self, v: Var, exp: Exp<Soac>) {
        self.stms.push(Stm {
            binds: vec![v],
            certs: Vec::new(),
            exp,
            span: self.span,
        });
    }

    /// Binds an array that has elements to its name.
    pub(super) fn literal(&mut self, v: Var, elems: &[Atom]) {
        let Some(row) = self.vars[v].ty.peel(1) else {
            return;
        };
        let rows = match self.vars[v].ty.shape() {
            [Dim::Size(Size::Const(n)), ..] => *n as usize,
            _ => 0,
        };
        let elems = if row.is_array() {
            let each = elems.len() / rows.max(1);
            let rows = elems.chunks(each.max(1)).map(|elems| {
                let part = self.fresh(v, row.clone());
                self.literal(part, elems);
                Atom::Var(part)
            });
            rows.collect()
        } else {
            elems.to_vec()
        };
        self.push(v, ArrayOp::Literal { elems, row }.into());
    }

    /// Binds the arrays that a statement needs, and appends it.
    fn append(&mut self, stm: Stm<Soac>) {
        for v in free_in_stm(self.vars, &stm) {
            let Some(known) = self.arrays.0.get_mut(&v) else {
                continue;
            };
            if !std::mem::replace(&mut known.is_bound, true) {
                let elems = known.elems.clone();
                self.literal(v, &elems);
            }
        }
        self.stms.push(stm);
    }

    /// The code of a body, without loops where that can be.
    pub(super) fn body(&mut self, body: &Body<Soac>) {
        for stm in &body.stms {
            self.statement(stm.clone());
        }
    }

    fn statement(&mut self, mut stm: Stm<Soac>) {
        rename::substitute_stm(self.vars, &self.subst, &mut stm);
        match (&stm.exp, &stm.binds[..]) {
            (Exp::Atom(atom), [v]) => match self.arrays.elements(*atom) {
                Some(known) => self.know(*v, known),
                None if matches!(self.vars[*v].ty, Type::Scalar(_)) => {
                    self.subst.insert(*v, *atom);
                }
                None => self.append(stm),
            },
            (Exp::Scalar(op, args), [v]) => {
                let args = args.iter().map(|a| match a {
                    Atom::Const(c) => Some(*c),
                    Atom::Var(_) => None,
                });
                let args: Option<Vec<_>> = args.collect();
                match args.and_then(|args| eval(*op, &args).ok()) {
                    Some(value) => self.subst.insert(*v, Atom::Const(value)),
                    None => self.append(stm),
                }
            }
            (Exp::Op(Soac::Array(op)), [v]) => match self.value(op) {
                Some((shape, elems)) if shape.is_empty() => self.subst.insert(*v, elems[0]),
                Some(known) => self.know(*v, known),
                None => self.append(stm),
            },
            (
                Exp::Op(Soac::Screma {
                    width: Size::Const(n),
                    arrays,
                    lam,
                    scans,
                    reds,
                }),
                _,
            ) if scans.is_empty() && self.can_unroll(*n, arrays, lam, reds) => {
                let (arrays, lam, reds) = (arrays.clone(), lam.clone(), reds.clone());
                self.unroll(&stm, *n as usize, (&arrays, &lam), &reds);
            }
            (
                Exp::Atom(_)
                | Exp::Scalar(..)
                | Exp::Assert { .. }
                | Exp::Guard { .. }
                | Exp::If { .. }
                | Exp::Loop { .. }
                | Exp::Call { .. }
                | Exp::Op(_),
                _,
            ) => self.append(stm),
        }
    }

    /// What an operation on arrays comes to.
    fn value(&self, op: &ArrayOp) -> Option<Elements> {
        if let ArrayOp::Replicate { shape, value } = op
            && matches!(value.ty(self.vars), Type::Scalar(_))
        {
            let shape = constant(shape)?;
            let count = shape.iter().try_fold(1, |n: usize, m| n.checked_mul(*m))?;
            return (count <= MOST).then(|| (shape, vec![*value; count]));
        }
        self.arrays.value(op)
    }

    fn can_unroll(
        &self,
        n: i64,
        arrays: &[Var],
        lam: &Lambda<Soac>,
        reds: &[Operator<Soac>],
    ) -> bool {
        let mut statements = 1;
        all_stms(&lam.body, &mut |_| statements += 1);
        for op in reds {
            all_stms(&op.lam.body, &mut |_| statements += 1);
        }
        let is_small = |v: &Var| extents(&self.vars[*v].ty).is_some();
        let few = usize::try_from(n).is_ok_and(|n| {
            (1..=MOST).contains(&n) && n * statements + self.stms.len() <= STATEMENTS
        });
        let params = reds.iter().flat_map(|op| &op.lam.params);
        let results = lam.body.result.iter();
        few && arrays.iter().all(is_small)
            && lam.params.iter().chain(params).all(is_small)
            && results.clone().all(|r| {
                let shape = extents(&r.ty(self.vars));
                shape.is_some_and(|s| s.iter().product::<usize>() * n as usize <= MOST)
            })
    }

    /// The code of a map and reductions, element after element.
    fn unroll(
        &mut self,
        stm: &Stm<Soac>,
        n: usize,
        (arrays, lam): (&[Var], &Lambda<Soac>),
        reds: &[Operator<Soac>],
    ) {
        let inputs: Vec<Vec<Atom>> = arrays
            .iter()
            .map(|a| self.elements(Atom::Var(*a)))
            .collect();
        let reduced: usize = reds.iter().map(|op| op.neutral.len()).sum();
        let mut totals: Vec<Vec<Atom>> = Vec::new();
        let mut mapped = vec![Vec::new(); lam.body.result.len() - reduced];
        for i in 0..n {
            let rows = inputs.iter().map(|elems| {
                let each = elems.len() / n;
                elems[i * each..(i + 1) * each].to_vec()
            });
            let mut results = self.apply(stm, lam, rows.collect());
            for (elems, row) in mapped.iter_mut().zip(results.split_off(reduced)) {
                elems.extend(row);
            }
            // What folds one element yields it as it is.
            totals = if i == 0 {
                results
            } else {
                let mut new = Vec::new();
                for op in reds {
                    let share = new.len()..new.len() + op.neutral.len();
                    let args = totals[share.clone()].iter().chain(&results[share]);
                    let args = args.cloned().collect();
                    new.extend(self.apply(stm, &op.lam, args));
                }
                new
            };
        }
        for (v, elems) in stm.binds.iter().zip(totals.into_iter().chain(mapped)) {
            match extents(&self.vars[*v].ty) {
                Some(shape) if !shape.is_empty() => self.know(*v, (shape, elems)),
                Some(_) | None => self.subst.insert(*v, elems[0]),
            }
        }
    }

    /// The code of a lambda for the elements of its arguments; the elements of its results.
    fn apply(
        &mut self,
        stm: &Stm<Soac>,
        lam: &Lambda<Soac>,
        args: Vec<Vec<Atom>>,
    ) -> Vec<Vec<Atom>> {
        let mut subst = Subst::new();
        for (param, elems) in lam.params.iter().zip(args) {
            let ty = self.vars[*param].ty.clone();
            match extents(&ty) {
                Some(shape) if !shape.is_empty() => {
                    let v = self.fresh(*param, ty);
                    self.know(v, (shape, elems));
                    subst.insert(*param, v);
                }
                Some(_) | None => subst.insert(*param, elems[0]),
            }
        }
        let body = rename::body(self.vars, &mut subst, &lam.body);
        for mut inner in body.stms {
            for cert in &stm.certs {
                if !inner.certs.contains(cert) {
                    inner.certs.push(*cert);
                }
            }
            self.statement(inner);
        }
        let results = body.result.into_iter();
        results.map(|result| self.elements(result)).collect()
    }
}
