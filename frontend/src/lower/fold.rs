//! Reductions and scans of rows of any lengths.
//!
//! What an operator makes of two rows may have a length of its own, so that in general the rows are combined one after
//! another, by a loop. Concatenation is `flatten`. An operator that yields rows of the length that it gets (`map2 (+)`)
//! combines rows in parallel where they turn out to have one length.

use super::emit::int;
use super::index::Index;
use super::value::{Code, Instance, Leaf, Ty, Value, size_of_atom};
use super::{Lower, Res, unsupported};
use crate::source::Span;
use crate::typed::Op;
use midend::ir::scalar::{BinOp, CmpOp};
use midend::ir::soac::{Operator, Soac};
use midend::ir::syntax::Atom;
use midend::ir::types::{ScalarType, Size, Type};
use std::rc::Rc;

impl<'a> Lower<'a> {
    /// Whether an operation of this instance combines rows of any lengths.
    pub(super) fn combines_rows(&self, inst: &Instance, xs: &Value<'a>) -> bool {
        xs.has_rows() || inst.types.first().is_some_and(Ty::has_irregular)
    }

    /// The element type of a reduction or scan with irregular dimensions wherever there are rows.
    fn combined_type(&self, inst: &Instance, neutral: &Value<'a>, xs: &Value<'a>) -> Ty {
        let row = xs.peel(1);
        let row = if let Value::Rows(rows) = &row {
            rows.pool.clone()
        } else {
            row
        };
        let ty = inst.types.first().cloned();
        let ty = ty.unwrap_or_else(|| self.type_of(neutral));
        let ty = ty.map_dims(&mut |_| None);
        ty.irregular_like(&row).irregular_like(neutral)
    }

    /// `reduce op ne xs` of rows.
    pub(super) fn reduce_rows(
        &mut self,
        inst: &Instance,
        op: &Value<'a>,
        neutral: &Value<'a>,
        xs: &Value<'a>,
        span: Span,
    ) -> Res<Value<'a>> {
        let Some(n) = xs.dims().first().copied() else {
            return Err(unsupported(span, "a reduction of this array"));
        };
        let ty = self.combined_type(inst, neutral, xs);
        if is_concat(op) {
            let array = Ty::array(Some(n), self.type_of(&xs.peel(1))).irregular_like(xs);
            let rows = self.irregular_as(xs, &array);
            let Value::Rows(rows) = rows.peel(1) else {
                return self.reduced_in_turn(&ty, op, neutral, xs, span);
            };
            let all = self.compacted(&rows, &[n], span)?.pool;
            return self.concat_rows(vec![neutral.clone(), all], false, span);
        }
        if let (Value::Rows(rows), Some(have)) = (xs.peel(1), neutral.dims().first().copied())
            && !rows.pool.has_rows()
            && !neutral.has_rows()
        {
            let i64 = ScalarType::I64;
            let lengths = Value::Leaf(self.lengths(&rows, &[n]));
            let lengths = Value::array(&[n], lengths);
            let mut bound = |op| -> Res<Atom> {
                let v = self.fold_op(op, i64, &lengths, span)?;
                self.scalar_of(&v, span)
            };
            let (least, most) = (bound(Op::Minimum)?, bound(Op::Maximum)?);
            let length = self.i64_bin(BinOp::Max, int(0), most);
            let length = size_of_atom(length).unwrap_or(n);
            let mut inner = rows.pool.dims().to_vec();
            inner[0] = length;
            let row = rows.pool.peel(inner.len()).map_leaves(&mut |leaf| {
                let elem = self.ty(leaf.atom).peel(1).unwrap_or(Type::I64);
                let ty = Type::array_of(&elem, &[length]);
                Leaf::new(self.fresh("row", ty).into())
            });
            let row = Value::array(&inner, row);
            if let Some(operator) = self.operator_if_same(op, &row, span)? {
                let same = self.cmp(CmpOp::Eq, i64, least, most);
                let fits = self.cmp(CmpOp::Eq, i64, have.into(), most);
                let same = self.and(same, fits);
                let row = self.type_of(&row);
                return self.lower_if(
                    same,
                    None,
                    &mut |l| {
                        let all = l.compacted(&rows, &[n], span)?.pool;
                        let xs = all.peel(1).map_leaves(&mut |leaf| {
                            let ty = l.ty(leaf.atom);
                            let inner = ty.shape().iter().skip(1).filter_map(|d| d.size());
                            let shape: Vec<Size> = [n, length].into_iter().chain(inner).collect();
                            l.reshape(leaf, &shape)
                        });
                        let xs = Value::array(&[n, length], xs);
                        let neutral = l.cast(neutral, &row);
                        let operator = Operator {
                            neutral: neutral.atoms(),
                            ..operator.clone()
                        };
                        l.reduce_with(operator, &xs, span)
                    },
                    &mut |l| l.reduced_in_turn(&ty, op, neutral, xs, span),
                    span,
                );
            }
        }
        self.reduced_in_turn(&ty, op, neutral, xs, span)
    }

    /// An operator on elements of the shape, without its neutral element; nothing if its result may have another shape.
    fn operator_if_same(
        &mut self,
        op: &Value<'a>,
        elem: &Value<'a>,
        span: Span,
    ) -> Res<Option<Operator<Soac>>> {
        let ty = self.type_of(elem);
        let mut params = Vec::new();
        let mut side = |l: &mut Self, name: &str| {
            elem.map_leaves(&mut |leaf| {
                let ty = l.ty(leaf.atom);
                let v = l.fresh(name, ty);
                params.push(v);
                Leaf {
                    shared: true,
                    ..Leaf::new(v.into())
                }
            })
        };
        let (a, b) = (side(self, "a"), side(self, "b"));
        // No size is taken for that of the operands: the result must show it.
        let made = self.lambda_if_same(params, None, &mut |l| {
            l.apply(op.clone(), vec![a.clone(), b.clone()], span)
        })?;
        let Some((lam, v)) = made else {
            return Ok(None);
        };
        let dims = |v: &Value<'a>| super::loops::dims_of(v);
        if v.has_rows() || dims(&v) != dims(elem) || !super::cast::fits(&v, &ty) {
            return Ok(None);
        }
        Ok(Some(Operator {
            comm: super::reduce::commutes(&lam),
            lam,
            neutral: Vec::new(),
        }))
    }

    /// Rows combined from the first to the last.
    fn reduced_in_turn(
        &mut self,
        ty: &Ty,
        op: &Value<'a>,
        neutral: &Value<'a>,
        xs: &Value<'a>,
        span: Span,
    ) -> Res<Value<'a>> {
        let n = xs.dims().first().copied().unwrap_or(Size::Const(0));
        let start = self.irregular_as(neutral, ty).with_shared(true);
        let xs = xs.with_shared(true);
        self.counted(ty, &start, n, &mut |l, i, so_far| {
            let x = l.index_unchecked(&xs, &[Index::At(i)]);
            l.apply(op.clone(), vec![so_far.with_shared(true), x], span)
        })
    }

    /// `scan op ne xs` of rows: from the first to the last, each result put behind those before it.
    pub(super) fn scan_rows(
        &mut self,
        inst: &Instance,
        op: &Value<'a>,
        neutral: &Value<'a>,
        xs: &Value<'a>,
        span: Span,
    ) -> Res<Value<'a>> {
        let n = xs.dims().first().copied().unwrap_or(Size::Const(0));
        let ty = self.combined_type(inst, neutral, xs);
        // Inside of an array all dimensions of a row are irregular.
        let row = inner_irregular(&ty);
        let start = self.irregular_as(neutral, &ty).with_shared(true);
        let none = self.absent(
            &Ty::array(Some(Size::Const(0)), row.clone()),
            &mut Vec::new(),
        );
        let state = Ty::Tuple(Rc::from([ty, Ty::array(None, row.clone())]));
        let start = Value::tuple(vec![start, none]);
        let xs = xs.with_shared(true);
        let all = self.counted(&state, &start, n, &mut |l, i, state| {
            let so_far = super::exp::project_tuple(state, 0).with_shared(true);
            let before = super::exp::project_tuple(state, 1);
            let x = l.index_unchecked(&xs, &[Index::At(i)]);
            let next = l.apply(op.clone(), vec![so_far, x], span)?;
            let one = l.stack(std::slice::from_ref(&next), Size::Const(1));
            let one = l.irregular_as(&one, &Ty::array(None, row.clone()));
            let all = l.concat_rows(vec![before, one], false, span)?;
            Ok(Value::tuple(vec![next, all]))
        })?;
        let all = super::exp::project_tuple(&all, 1);
        Ok(self.same_width(n, &all))
    }

    /// `scatter dest is vs` of rows: where they begin and end is written; then the pool is made anew, so that it does not grow.
    pub(super) fn scatter_rows(
        &mut self,
        dest: &Value<'a>,
        indices: &Value<'a>,
        values: &Value<'a>,
        span: Span,
    ) -> Res<Value<'a>> {
        let (Some(n), Some(m)) = (dest.dims().first(), values.dims().first()) else {
            return Err(unsupported(span, "`scatter` of these arrays"));
        };
        let (n, m) = (*n, *m);
        // Both in one pool, the rows of the destination first.
        let both = self.concat_rows(vec![dest.clone(), values.clone()], false, span)?;
        let old = self.index_unchecked(&both, &[Index::Range(None, Some(n.into()), None)]);
        let new = [Index::Range(Some(n.into()), None, None)];
        let new = self.index_unchecked(&both, &new);
        let old = self.same_width(n, &old);
        let new = self.same_width(m, &new);
        let marks = old.map_leaves(&mut |leaf| self.copy_leaf(leaf));
        let all = self.scatter(&marks, indices, &new, span)?;
        self.outside_rows(&all, &mut Vec::new(), &mut |l, rows, shape| {
            let rows = super::rows::Rows {
                compact: false,
                ..rows.clone()
            };
            l.compacted(&rows, shape, span)
        })
    }
}

/// The type of a row with its own dimension irregular, as it is inside of an array.
fn inner_irregular(ty: &Ty) -> Ty {
    match ty {
        Ty::Scalar(_) | Ty::Fun => ty.clone(),
        Ty::Array(a) => {
            let mut a = super::value::ArrayTy::clone(a);
            a.irregular = true;
            Ty::Array(Rc::new(a))
        }
        Ty::Tuple(ts) => Ty::Tuple(ts.iter().map(inner_irregular).collect()),
        Ty::Record(ts) => {
            let ts = ts.iter();
            Ty::Record(ts.map(|(f, t)| (f.clone(), inner_irregular(t))).collect())
        }
        Ty::Sum(cons) => {
            let cons = cons.iter();
            let cons = cons.map(|(c, ts)| (c.clone(), ts.iter().map(inner_irregular).collect()));
            Ty::Sum(cons.collect())
        }
    }
}

/// Whether an operator is `++`.
fn is_concat(op: &Value<'_>) -> bool {
    let Value::Fun(fun) = op else { return false };
    match &fun.code {
        Code::Intrinsic { intrinsic, .. } => intrinsic.op == Op::Concat && fun.args.is_empty(),
        Code::Lambda { .. } | Code::Def { .. } => false,
    }
}
