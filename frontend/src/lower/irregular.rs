//! Arrays of rows of any lengths as the results of `map`.
//!
//! What the lambda yields is taken apart into what has the same shape for all elements and *pools*, arrays whose lengths are
//! known only inside. A flat map makes one array of the pools of all elements; so that it knows where they begin, each pool is
//! brought into the form in which it is exactly its rows, one after another. Pools of one length are made
//! by one flat map, and share its offsets. A pool of another length is a flat map of its own, of a copy of the lambda: what
//! it does not need is dead there.

use super::emit::{int, var_of};
use super::rows::Rows;
use super::soac::Input;
use super::value::{Leaf, SumValue, Value, size_of_atom};
use super::{Lower, Res};
use crate::source::Span;
use midend::ir::array::{ArrayOp, SliceDim};
use midend::ir::id::Var;
use midend::ir::rename::{self, Subst};
use midend::ir::scalar::BinOp;
use midend::ir::soac::Soac;
use midend::ir::syntax::{Atom, Body, Exp, Lambda};
use midend::ir::types::{Size, Type};
use midend::ir::walk;
use std::collections::BTreeSet;
use std::rc::Rc;

/// Which sizes are known outside of a lambda.
pub(super) struct Outside {
    pub(super) watermark: usize,
    pub(super) hoisted: BTreeSet<Var>,
}

/// What a flat map has made of a pool.
struct Made {
    offsets: Var,
    total: Size,
    data: std::vec::IntoIter<Var>,
}

impl<'a> Lower<'a> {
    pub(super) fn is_outside(&self, size: Size, outside: &Outside) -> bool {
        self.visible(size, outside.watermark)
            || matches!(size, Size::Var(v) if outside.hoisted.contains(&v))
    }

    /// Whether a value has the same shape for all elements.
    pub(super) fn same_for_all(&self, v: &Value<'a>, outside: &Outside) -> bool {
        let dims = super::loops::dims_of(v);
        !v.has_rows() && dims.into_iter().all(|d| self.is_outside(d, outside))
    }

    /// The value that a lambda yields with every array of a size of its own as rows, of which `begin` is the length and the pool
    /// is exactly what they hold.
    pub(super) fn pooled(
        &mut self,
        v: &Value<'a>,
        shape: &mut Vec<Size>,
        outside: &Outside,
        span: Span,
    ) -> Res<Value<'a>> {
        Ok(match v {
            Value::Leaf(_) | Value::Fun(_) => v.clone(),
            Value::Array { dims, elem } => {
                let inside = dims.iter().position(|d| !self.is_outside(*d, outside));
                let Some(at) = inside else {
                    shape.extend(dims.iter());
                    let elem = self.pooled(elem, shape, outside, span)?;
                    shape.truncate(shape.len() - dims.len());
                    return Ok(Value::Array {
                        dims: Rc::clone(dims),
                        elem: Rc::new(elem),
                    });
                };
                shape.extend(&dims[..at]);
                let rows = self.rows_of(&v.peel(at + 1), shape, dims[at]);
                let rows = self.pooled_rows(&rows, shape, outside, span)?;
                shape.truncate(shape.len() - at);
                Value::array(&dims[..at], rows)
            }
            Value::Tuple(vs) => {
                let vs = vs.iter().map(|v| self.pooled(v, shape, outside, span));
                Value::Tuple(vs.collect::<Res<_>>()?)
            }
            Value::Record(vs) => {
                let vs = vs
                    .iter()
                    .map(|(name, v)| Ok((name.clone(), self.pooled(v, shape, outside, span)?)));
                Value::Record(vs.collect::<Res<_>>()?)
            }
            Value::Sum(sum) => {
                let mut cons = Vec::with_capacity(sum.cons.len());
                for (name, vs) in &sum.cons {
                    let vs = vs.iter().map(|v| self.pooled(v, shape, outside, span));
                    cons.push((name.clone(), vs.collect::<Res<_>>()?));
                }
                Value::Sum(Rc::new(SumValue { tag: sum.tag, cons }))
            }
            Value::Rows(rows) => {
                let rows = self.compacted(rows, shape, span)?;
                self.pooled_rows(&rows, shape, outside, span)?
            }
        })
    }

    fn pooled_rows(
        &mut self,
        rows: &Rows<'a>,
        shape: &[Size],
        outside: &Outside,
        span: Span,
    ) -> Res<Value<'a>> {
        let length = self.lengths(rows, shape);
        let all = rows.pool.dims().first().copied().unwrap_or(Size::Const(0));
        let elem = self.pooled(&rows.pool.peel(1), &mut vec![all], outside, span)?;
        Ok(Value::Rows(Rc::new(Rows {
            begin: length,
            end: length,
            pool: Value::array(&[all], elem),
            compact: true,
        })))
    }

    /// The same rows in a pool that is exactly these rows, one after another.
    pub(super) fn compacted(
        &mut self,
        rows: &Rows<'a>,
        shape: &[Size],
        span: Span,
    ) -> Res<Rows<'a>> {
        if rows.compact {
            return Ok(rows.clone());
        }
        let count = self.elements(shape);
        let marks = [rows.begin, rows.end].map(|leaf| Value::Leaf(self.reshape(leaf, &[count])));
        let marks = Value::array(&[count], Value::tuple(marks.to_vec()));
        let input = self.input(&marks, span)?;
        let leaves = input.elem.leaves();
        let row = Value::Rows(Rc::new(Rows {
            begin: leaves[0],
            end: leaves[1],
            pool: rows.pool.clone(),
            compact: false,
        }));
        let rows = self.map_over(input, None, true, span, &mut |l| Ok(l.opened(&row)))?;
        let Value::Rows(rows) = rows.peel(1) else {
            return Err(self.irregular(span));
        };
        let rows = Rows::clone(&rows);
        Ok(Rows {
            begin: self.reshape(rows.begin, shape),
            end: self.reshape(rows.end, shape),
            ..rows
        })
    }

    /// The results of a lambda over all elements; `v` is what it yields, as [`Lower::pooled`] has made it.
    pub(super) fn collect(
        &mut self,
        input: Input<'a>,
        lam: Lambda<Soac>,
        v: &Value<'a>,
    ) -> Value<'a> {
        let mut pools = Vec::new();
        pools_of(v, &mut pools);
        let one_more = self.i64_bin(BinOp::Add, input.width.into(), int(1));
        let marks = size_of_atom(one_more).unwrap_or(Size::Const(1));
        let mut fixed = Vec::new();
        each_fixed(v, true, &mut |leaf| fixed.push(leaf.atom));
        let mut made: Vec<Option<Made>> = pools.iter().map(|_| None).collect();
        let mut others = Vec::new();
        for i in 0..pools.len() {
            if made[i].is_some() {
                continue;
            }
            let mut lam = lam.clone();
            let length = length_of(&pools[i]);
            let offsets = self.fresh("offs", Type::array_of(&Type::I64, &[marks]));
            let total = self.fresh("total", Type::I64);
            let (mut result, mut rows) = (vec![length], 0);
            let mut binds = vec![offsets, total];
            for (pool, made) in pools.iter().zip(&mut made) {
                if made.is_some() || length_of(pool) != length {
                    continue;
                }
                let mut data = Vec::new();
                each_fixed(&pool.peel(1), false, &mut |leaf| {
                    let row = self.ty(leaf.atom).peel(1).unwrap_or(Type::I64);
                    data.push(self.fresh("data", Type::array_of(&row, &[Size::Var(total)])));
                    result.push(leaf.atom);
                });
                rows += data.len();
                binds.extend(&data);
                *made = Some(Made {
                    offsets,
                    total: Size::Var(total),
                    data: data.into_iter(),
                });
            }
            if i == 0 {
                for atom in &fixed {
                    let ty = Type::array_of(&self.ty(*atom), &[input.width]);
                    others.push(self.fresh("t", ty));
                }
                binds.extend(&others);
                result.extend(&fixed);
            }
            lam.body.result = result;
            if i > 0 {
                self.only_needed(&mut lam.body);
                lam = rename::lambda(&mut self.vars, &mut Subst::new(), &lam);
            }
            let op = Soac::FlatMap {
                width: input.width,
                arrays: input.arrays.clone(),
                lam,
                rows,
                marks,
            };
            self.push(binds, Exp::Op(op));
        }
        let made: Vec<Made> = made.into_iter().flatten().collect();
        let mut made = made.into_iter();
        let rows = self.rebuilt(
            v,
            &mut vec![input.width],
            true,
            &mut others.into_iter(),
            &mut made,
        );
        Value::array(&[input.width], rows)
    }

    /// Takes out of a copy what its results do not need, checks too: the first flat map has them. Else the copies of nested
    /// maps, each of which has copies inside, would be exponentially many.
    fn only_needed(&self, body: &mut Body<Soac>) {
        let mut needed: BTreeSet<Var> = body.result.iter().filter_map(|a| var_of(*a)).collect();
        let all = std::mem::take(&mut body.stms).into_iter().rev();
        for stm in all {
            if stm.binds.iter().any(|v| needed.contains(v)) {
                needed.extend(walk::free_in_stm(&self.vars, &stm));
                body.stms.push(stm);
            }
        }
        body.stms.reverse();
    }

    fn rebuilt(
        &mut self,
        v: &Value<'a>,
        shape: &mut Vec<Size>,
        top: bool,
        leaves: &mut std::vec::IntoIter<Var>,
        made: &mut std::vec::IntoIter<Made>,
    ) -> Value<'a> {
        let mut next = |old: Leaf| leaves.next().map_or(old, |v| Leaf::new(v.into()));
        match v {
            Value::Leaf(leaf) => Value::Leaf(next(*leaf)),
            Value::Fun(_) => v.clone(),
            Value::Array { dims, elem } => {
                shape.extend(dims.iter());
                let elem = self.rebuilt(elem, shape, false, leaves, made);
                shape.truncate(shape.len() - dims.len());
                Value::Array {
                    dims: Rc::clone(dims),
                    elem: Rc::new(elem),
                }
            }
            Value::Tuple(vs) => {
                let vs = vs.iter();
                Value::Tuple(
                    vs.map(|v| self.rebuilt(v, shape, top, leaves, made))
                        .collect(),
                )
            }
            Value::Record(vs) => {
                let vs = vs.iter();
                let vs = vs.map(|(f, v)| (f.clone(), self.rebuilt(v, shape, top, leaves, made)));
                Value::Record(vs.collect())
            }
            Value::Sum(sum) => {
                let tag = next(sum.tag);
                let mut cons = Vec::with_capacity(sum.cons.len());
                for (name, vs) in &sum.cons {
                    let vs = vs.iter();
                    let vs = vs.map(|v| self.rebuilt(v, shape, top, leaves, made));
                    cons.push((name.clone(), vs.collect()));
                }
                Value::Sum(Rc::new(SumValue { tag, cons }))
            }
            Value::Rows(rows) => {
                let length = (!top).then(|| next(rows.begin));
                let Some(mut pool) = made.next() else {
                    return v.clone();
                };
                let (begin, end) = match length {
                    None => self.ends_of(pool.offsets, shape[0]),
                    Some(length) => {
                        let (begin, end, _) = self.ends_from(length, shape);
                        (begin, end)
                    }
                };
                let all = &mut vec![pool.total];
                let elem = rows.pool.peel(1);
                let elem = self.rebuilt(&elem, all, false, &mut pool.data, made);
                Value::Rows(Rc::new(Rows {
                    begin,
                    end,
                    pool: Value::array(&[pool.total], elem),
                    compact: true,
                }))
            }
        }
    }

    /// Where rows begin and end whose offsets are known.
    pub(super) fn ends_of(&mut self, offsets: Var, count: Size) -> (Leaf, Leaf) {
        let mut part = |start: i64| {
            let dim = SliceDim::Range {
                start: int(start),
                len: count,
                stride: int(1),
            };
            let op = ArrayOp::Slice {
                array: offsets,
                dims: vec![dim],
            };
            let ty = Type::array_of(&Type::I64, &[count]);
            let part = self.array_op("marks", ty, op);
            self.alias(part, [offsets.into()]);
            Leaf {
                shared: true,
                ..Leaf::new(part.into())
            }
        };
        (part(0), part(1))
    }

    /// Where rows of these lengths, in an array of the shape, begin and end if they stand one after another, and where all end: a
    /// flat map that has no rows, whose offsets are then those of whoever goes through the rows.
    pub(super) fn ends_from(&mut self, length: Leaf, shape: &[Size]) -> (Leaf, Leaf, Atom) {
        let count = self.elements(shape);
        let lengths = self.reshape(length, &[count]);
        let one_more = self.i64_bin(BinOp::Add, count.into(), int(1));
        let marks = size_of_atom(one_more).unwrap_or(Size::Const(1));
        let param = self.fresh("length", Type::I64);
        let op = Soac::FlatMap {
            width: count,
            arrays: var_of(lengths.atom).into_iter().collect(),
            lam: Lambda {
                params: vec![param],
                body: Body {
                    stms: Vec::new(),
                    result: vec![param.into()],
                },
            },
            rows: 0,
            marks,
        };
        let offsets = self.fresh("offs", Type::array_of(&Type::I64, &[marks]));
        let total = self.fresh("total", Type::I64);
        self.push(vec![offsets, total], Exp::Op(op));
        let (begin, end) = self.ends_of(offsets, count);
        let [begin, end] = [begin, end].map(|mark| self.reshape(mark, shape));
        (begin, end, total.into())
    }
}

/// How many elements a pool has.
fn length_of(pool: &Value<'_>) -> Atom {
    pool.dims().first().map_or(int(0), |n| Atom::from(*n))
}

/// The pools of a value, those inside of others after them.
fn pools_of<'a>(v: &Value<'a>, out: &mut Vec<Value<'a>>) {
    match v {
        Value::Leaf(_) | Value::Fun(_) => {}
        Value::Array { elem, .. } => pools_of(elem, out),
        Value::Tuple(vs) => vs.iter().for_each(|v| pools_of(v, out)),
        Value::Record(vs) => vs.iter().for_each(|(_, v)| pools_of(v, out)),
        Value::Sum(sum) => {
            let vs = sum.cons.iter().flat_map(|(_, vs)| vs);
            vs.for_each(|v| pools_of(v, out));
        }
        Value::Rows(rows) => {
            out.push(rows.pool.clone());
            pools_of(&rows.pool, out);
        }
    }
}

/// The leaves that have one shape for all elements; the lengths of rows too, except at the top, where offsets tell them.
fn each_fixed(v: &Value<'_>, top: bool, f: &mut dyn FnMut(Leaf)) {
    match v {
        Value::Leaf(leaf) => f(*leaf),
        Value::Fun(_) => {}
        Value::Array { elem, .. } => each_fixed(elem, false, f),
        Value::Tuple(vs) => vs.iter().for_each(|v| each_fixed(v, top, f)),
        Value::Record(vs) => vs.iter().for_each(|(_, v)| each_fixed(v, top, f)),
        Value::Sum(sum) => {
            f(sum.tag);
            let vs = sum.cons.iter().flat_map(|(_, vs)| vs);
            vs.for_each(|v| each_fixed(v, top, f));
        }
        Value::Rows(rows) => {
            if !top {
                f(rows.begin);
            }
        }
    }
}
