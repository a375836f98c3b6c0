//! Array operations that are done for a whole map nest at once: reshapes, arrays that are spread out, updates in place.

use super::Cx;
use super::context::{Axis, Def, Point, dims, space};
use super::distribute::Frame;
use super::label::{Label, is_small};
use crate::fired::fired;
use crate::ir::array::{ArrayOp, SliceDim};
use crate::ir::id::Var;
use crate::ir::scalar::{BinOp, CmpOp, ScalarOp};
use crate::ir::seg::{Seg, SegKind};
use crate::ir::soac::Soac;
use crate::ir::syntax::{Atom, Exp, Stm};
use crate::ir::types::{ScalarType, Type, is_ragged};
use crate::ir::walk::type_vars;
use std::rc::Rc;

impl Cx<'_> {
    /// Another shape of an array that is stored for all points: another shape of all of it (rule G6).
    pub(super) fn view(
        &mut self,
        f: &mut Frame<'_>,
        stm: &Stm<Soac>,
        out: &mut Vec<Stm<Seg>>,
    ) -> bool {
        let Exp::Op(Soac::Array(ArrayOp::Reshape { array, .. })) = &stm.exp else {
            return false;
        };
        self.spread_first(f, *array, out);
        let (v, context) = (stm.binds[0], f.context.clone());
        let Some(whole) = self.expanded(*array, &context) else {
            // One point cannot write rows of varying length: it makes them again.
            let again = self.is_row(v) || self.is_row(*array);
            if again {
                self.env.insert(v, Def::Again(Rc::new(stm.clone())));
            }
            return again;
        };
        let mut lengths = Vec::new();
        type_vars(&self.vars[v].ty, &mut |n| lengths.push(n));
        self.settle(f, &lengths, out);
        self.checks_before_extents(f, f.body.stms.len(), stm, out);
        self.prove(f, &stm.certs, out);
        fired("flatten/g6-reshape");
        let bind = self.stored(v, &context, out);
        if let Some(&root) = f.roots.get(&whole) {
            f.roots.insert(bind, root);
        }
        self.reshape_into(bind, whole, out);
        true
    }

    /// Spreads an array out for all points, if that waits, since what follows is for all points, too: otherwise each point makes its
    /// array alone.
    fn spread_first(&mut self, f: &mut Frame<'_>, array: Var, out: &mut Vec<Stm<Seg>>) {
        let waits = f.owner.get(&array).is_some_and(|i| {
            f.waiting.contains(i) && self.labels.of(&f.body.stms[*i]) == Label::Fill
        });
        if waits && !self.is_row(array) && !is_small(&self.vars[array].ty) {
            fired("flatten/spread-first");
            self.settle(f, &[array], out);
        }
    }

    /// An array that is stored for all points with dimensions in another order: all of it in that order.
    pub(super) fn rearranged(
        &mut self,
        f: &mut Frame<'_>,
        v: Var,
        out: &mut Vec<Stm<Seg>>,
    ) -> Option<Var> {
        let Some(Def::Again(stm)) = self.env.get(&v) else {
            return None;
        };
        let Exp::Op(Soac::Array(ArrayOp::Rearrange { perm, array })) = &stm.exp else {
            return None;
        };
        let (perm, context) = (perm.clone(), f.context.clone());
        let whole = self.expanded(*array, &context)?;
        let root = *f.roots.get(&whole)?;
        let (ty, of_point) = (&self.vars[whole].ty, &self.vars[*array].ty);
        let points = ty.rank().checked_sub(of_point.rank())?;
        if points != context.len() || is_ragged(ty.shape()) || !stm.certs.is_empty() {
            return None;
        }
        fired("flatten/g6-rearrange");
        let bind = self.stored(v, &context, out);
        f.roots.insert(bind, root);
        let inner = perm.iter().map(|d| points + d);
        let op = ArrayOp::Rearrange {
            perm: (0..points).chain(inner).collect(),
            array: whole,
        };
        self.push(out, vec![bind], Exp::Op(Seg::Array(op)));
        Some(bind)
    }

    /// An array that is another one, or a value, spread out: a map over all its elements.
    pub(super) fn fill(
        &mut self,
        f: &mut Frame<'_>,
        i: usize,
        bind: Option<Var>,
        out: &mut Vec<Stm<Seg>>,
    ) {
        let stm = &f.body.stms[i];
        let v = stm.binds[0];
        let Exp::Op(Soac::Array(op)) = &stm.exp else {
            return;
        };
        self.settle(f, &f.free[i].clone(), out);
        self.checks_before_extents(f, i, stm, out);
        f.waiting.remove(&i);
        fired(match op {
            ArrayOp::Concat { .. } => "flatten/concat-of-all-points",
            ArrayOp::Copy(_) => "flatten/copy-of-all-points",
            ArrayOp::Replicate { .. } => "flatten/replicate-of-all-points",
            ArrayOp::Iota { .. } => "flatten/iota-of-all-points",
            ArrayOp::Scratch { .. }
            | ArrayOp::Index { .. }
            | ArrayOp::Slice { .. }
            | ArrayOp::Update { .. }
            | ArrayOp::Literal { .. }
            | ArrayOp::Rearrange { .. }
            | ArrayOp::Reshape { .. }
            | ArrayOp::Manifest { .. }
            | ArrayOp::Trace(_)
            | ArrayOp::Stream(_) => "flatten/scratch-of-all-points",
        });
        let array = self.stored(v, &f.context.clone(), out);
        let array = match bind {
            Some(bind) => {
                let depth = f.context.len();
                self.env.insert(v, Def::Stored { array: bind, depth });
                bind
            }
            None => array,
        };
        f.roots.insert(array, array);
        let whole = self.around(&f.context, array);
        if let ArrayOp::Scratch { elem, .. } = op {
            let op = ArrayOp::Scratch {
                elem: *elem,
                shape: dims(&whole),
            };
            return self.push(out, vec![array], Exp::Op(Seg::Array(op)));
        }
        let mut point = self.point(&whole);
        self.need_all(&mut point, &f.free[i]);
        let inner = point.all()[space(&f.context).len()..].to_vec();
        let certs = self.certs(&stm.certs);
        let start = point.stms.len();
        let value = self.fill_value(op, &inner, &mut point);
        for made in &mut point.stms[start..] {
            made.certs.extend(&certs);
        }
        self.kernel(point, vec![value], SegKind::Map, vec![array], out);
    }

    /// The element of a spread array at some indices.
    fn fill_value(&mut self, op: &ArrayOp, inner: &[Atom], point: &mut Point) -> Atom {
        let whole = match op {
            ArrayOp::Copy(array) => return self.element_at(self.var(*array), inner, point),
            ArrayOp::Replicate { shape, value } => match self.atom(*value) {
                Atom::Var(row) if self.vars[row].ty.is_array() => {
                    return self.element_at(row, &inner[shape.len()..], point);
                }
                value @ (Atom::Var(_) | Atom::Const(_)) => return value,
            },
            ArrayOp::Iota { .. } => self.array_op(op),
            ArrayOp::Concat { arrays, .. } => {
                let arrays = self.all_vars(arrays);
                return self.concat_element(&arrays, inner, &mut point.stms);
            }
            ArrayOp::Index { .. }
            | ArrayOp::Slice { .. }
            | ArrayOp::Update { .. }
            | ArrayOp::Literal { .. }
            | ArrayOp::Scratch { .. }
            | ArrayOp::Rearrange { .. }
            | ArrayOp::Reshape { .. }
            | ArrayOp::Manifest { .. }
            | ArrayOp::Trace(_)
            | ArrayOp::Stream(_) => unreachable!("{op:?} is no fill"),
        };
        // The simplifier knows the elements of `0, 1, ..`.
        let ArrayOp::Iota { len, ty, .. } = &whole else {
            unreachable!("an iota stays one");
        };
        let ty = Type::array_of(&Type::Scalar(*ty), &[*len]);
        let array = self.array(&mut point.stms, "xs", ty, whole);
        self.element_at(array, inner, point)
    }

    /// The element of arrays one after another.
    fn concat_element(&mut self, arrays: &[Var], inner: &[Atom], out: &mut Vec<Stm<Seg>>) -> Atom {
        let (&first, rest) = arrays.split_first().expect("a concatenation of something");
        let ty = self.vars[first].ty.peel(inner.len()).unwrap_or(Type::I64);
        let index = |array| ArrayOp::Index {
            array,
            indices: inner.to_vec(),
        };
        let length = self.vars[first].ty.shape()[0].size();
        let (false, Some(length)) = (rest.is_empty(), length) else {
            return self.array(out, "x", ty, index(first)).into();
        };
        let lt = ScalarOp::Cmp(CmpOp::Lt, ScalarType::I64);
        let cond = self.scalar(out, "first", lt, vec![inner[0], length.into()]);
        let then = self.block(|cx, stms| {
            let x = cx.array(stms, "x", ty.clone(), index(first));
            vec![x.into()]
        });
        let otherwise = self.block(|cx, stms| {
            let sub = ScalarOp::Bin(BinOp::Sub, ScalarType::I64);
            let mut next = inner.to_vec();
            next[0] = cx.scalar(stms, "at", sub, vec![inner[0], length.into()]);
            vec![cx.concat_element(rest, &next, stms)]
        });
        let exp = Exp::If {
            cond,
            then,
            otherwise,
        };
        self.emit(out, "x", ty, exp).into()
    }

    pub(super) fn element_at(&mut self, array: Var, indices: &[Atom], point: &mut Point) -> Atom {
        let ty = self.vars[array].ty.peel(indices.len());
        let op = ArrayOp::Index {
            array,
            indices: indices.to_vec(),
        };
        Atom::Var(self.array(&mut point.stms, "x", ty.unwrap_or(Type::I64), op))
    }

    /// An update in place of an array that is stored for all points: writes to places of all of it.
    pub(super) fn update(
        &mut self,
        f: &mut Frame<'_>,
        i: usize,
        stm: &Stm<Soac>,
        out: &mut Vec<Stm<Seg>>,
    ) -> bool {
        let Exp::Op(Soac::Array(ArrayOp::Update { array, .. })) = &stm.exp else {
            return false;
        };
        self.spread_first(f, *array, out);
        // One point cannot write a row of varying length.
        let row = self.is_row(stm.binds[0]);
        if !row && self.expanded(*array, &f.context).is_none() {
            return false;
        }
        self.before_consumption(f, i, out);
        self.settle(f, &f.free[i].clone(), out);
        let whole = match self.expanded(*array, &f.context) {
            Some(whole) => self.of_own_rows(f, *array, whole, out),
            None if row => self.arrays(f, &[(*array).into()], out)[0],
            None => return false,
        };
        let whole = self.unshared(f, i, vec![whole], out)[0];
        let bind = self.stored(stm.binds[0], &f.context.clone(), out);
        if let Some(&root) = f.roots.get(&whole) {
            f.roots.insert(bind, root);
        }
        self.scatter_update(f, i, (whole, bind), out);
        true
    }

    /// An update of an array that is stored for all points, as parallel writes.
    fn scatter_update(
        &mut self,
        f: &mut Frame<'_>,
        i: usize,
        (whole, bind): (Var, Var),
        out: &mut Vec<Stm<Seg>>,
    ) {
        let stm = f.stm(i);
        let Exp::Op(Soac::Array(ArrayOp::Update { array, dims, value })) = &stm.exp else {
            return;
        };
        // The part that is written is a rectangle: one more dimension for each of the value's.
        let value_ty = value.ty(&self.vars);
        let over = self.type_over(&value_ty, &f.context, out);
        let outer = space(&f.context).len();
        let own = over.shape()[outer..].iter().map(|&dim| Axis::from(dim));
        let over: Vec<Axis> = f.context.iter().copied().chain(own).collect();
        let rank = self.vars[*array].ty.rank();
        let regular = !self.is_ragged(&over, &[whole]);
        fired(match regular {
            true => "flatten/update-of-all-points",
            false => "flatten/update-of-ragged-rows",
        });
        let dest = self.dest(&f.context, (*array, whole, rank), !regular, out);
        let mut point = self.point(&over);
        let reads: Vec<Var> = f.reads(i).to_vec();
        for v in reads.into_iter().filter(|v| v != array) {
            self.need(&mut point, v);
        }
        let certs = self.certs(&stm.certs);
        let start = point.stms.len();
        let indices = point.all();
        let mut inner = indices[outer..].iter().copied();
        let mut place = Vec::new();
        for dim in self.slice_dims(dims) {
            match dim {
                SliceDim::Fix(index) => place.push(index),
                SliceDim::Range { start, stride, .. } => {
                    let Some(k) = inner.next() else { continue };
                    let bin = |op| ScalarOp::Bin(op, ScalarType::I64);
                    let by = self.scalar(&mut point.stms, "at", bin(BinOp::Mul), vec![k, stride]);
                    let add = bin(BinOp::Add);
                    place.push(self.scalar(&mut point.stms, "at", add, vec![start, by]));
                }
            }
        }
        place.extend(inner);
        let mut result = self.place(&mut point, &f.context, (&dest, !regular), &place);
        let value = match self.atom(*value) {
            Atom::Var(v) if self.vars[v].ty.is_array() => {
                let op = ArrayOp::Index {
                    array: v,
                    indices: indices[outer..].to_vec(),
                };
                let ty = self.vars[v].ty.peel(indices.len() - outer);
                let ty = ty.unwrap_or(Type::I64);
                Atom::Var(self.array(&mut point.stms, "x", ty, op))
            }
            scalar @ (Atom::Var(_) | Atom::Const(_)) => scalar,
        };
        result.push(value);
        for made in &mut point.stms[start..] {
            made.certs.extend(&certs);
        }
        let dests = vec![dest.scatter(&f.context, !regular)];
        self.written(point, result, SegKind::Scatter(dests), &[bind], out);
    }
}
