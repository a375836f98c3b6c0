//! Operations on arrays with rows of any lengths: literals, concatenation, `flatten`, `segment`, coercion to a regular array.

use super::emit::{int, text, value, var_of};
use super::rows::Rows;
use super::value::{Leaf, SumValue, Ty, Value, size_of_atom};
use super::{Lower, Res, unsupported};
use crate::diagnostic::{Code, Diagnostic};
use crate::source::Span;
use crate::typed::Op;
use midend::ir::array::ArrayOp;
use midend::ir::id::Var;
use midend::ir::scalar::{BinOp, CmpOp, Const};
use midend::ir::soac::Soac;
use midend::ir::syntax::{Atom, Body, Exp, Lambda, TrapKind};
use midend::ir::types::{ScalarType, Size, Type};
use std::rc::Rc;

/// What becomes of rows at an entry point, given the shape of the array that they are the elements of.
type Change<'f, 'a> = &'f mut dyn FnMut(&mut Lower<'a>, &Rows<'a>, &mut Vec<Size>) -> Res<Rows<'a>>;

/// What is known of arrays that are put one after another.
struct Parts<'p> {
    lens: &'p [Size],
    len: Size,
    /// They are parts of one array that have no row in common.
    of_one: bool,
    span: Span,
}

impl<'a> Lower<'a> {
    /// Whether the values have one shape, with no rows of any lengths in them.
    pub(super) fn of_one_shape(&self, vs: &[Value<'a>]) -> bool {
        let mut shapes = vs.iter().map(super::loops::dims_of);
        let first = shapes.next();
        !vs.iter().any(Value::has_rows) && shapes.all(|shape| Some(&shape) == first.as_ref())
    }

    /// The array of the given rows, whose lengths may differ.
    pub(super) fn stack_rows(
        &mut self,
        rows: &[Value<'a>],
        row: &Ty,
        span: Span,
    ) -> Res<Value<'a>> {
        let one = Size::Const(1);
        let row = rows
            .iter()
            .fold(row.clone(), |row, v| row.irregular_like(v));
        let ty = Ty::array(None, row).map_dims(&mut |_| None);
        let mut singles = Vec::with_capacity(rows.len());
        for v in rows {
            let single = self.stack(std::slice::from_ref(v), one);
            singles.push(self.irregular_as(&single, &ty));
        }
        self.concat_rows(singles, false, span)
    }

    /// Arrays one after another, some with rows of any lengths. If they are `parts` of one array that have no row in common,
    /// only marks are moved.
    pub(super) fn concat_rows(
        &mut self,
        vs: Vec<Value<'a>>,
        parts: bool,
        span: Span,
    ) -> Res<Value<'a>> {
        let Some(first) = vs.first() else {
            return Ok(Value::unit());
        };
        let ty = self.type_of(first).map_dims(&mut |_| None);
        let ty = vs.iter().fold(ty, |ty, v| ty.irregular_like(v));
        let mut elems = Vec::with_capacity(vs.len());
        let (mut lens, mut len, mut certs) = (Vec::new(), Size::Const(0), Vec::new());
        for v in &vs {
            let v = self.irregular_as(v, &ty);
            let n = v.dims().first().copied().unwrap_or(Size::Const(0));
            let (sum, fits) = self.extents_sum(len, n);
            len = sum;
            certs.extend(fits);
            lens.push(n);
            elems.push(v.peel(1));
        }
        let parts = Parts {
            lens: &lens,
            len,
            of_one: parts,
            span,
        };
        let elem = self.with_certs(&certs, |l| l.concat_elems(&elems, &parts, &mut Vec::new()))?;
        Ok(Value::array(&[len], elem))
    }

    fn concat_elems(
        &mut self,
        elems: &[Value<'a>],
        of: &Parts<'_>,
        inner: &mut Vec<Size>,
    ) -> Res<Value<'a>> {
        let len = of.len;
        let parts = |f: &dyn Fn(&Value<'a>) -> Value<'a>| -> Vec<Value<'a>> {
            elems.iter().map(f).collect()
        };
        Ok(match &elems[0] {
            Value::Leaf(_) => {
                let leaves: Vec<Leaf> = elems.iter().flat_map(Value::leaves).collect();
                Value::Leaf(self.concat_leaves(&leaves, len))
            }
            Value::Array { dims, .. } => {
                // What is inside of these dimensions may differ, as the elements of all rows of any lengths do; its turn comes.
                let outer = self.type_of(&elems[0]);
                let ty = outer.with_outer_dims(dims.len());
                let mut rows = Vec::with_capacity(elems.len());
                for (v, n) in elems.iter().zip(of.lens) {
                    let mut outer = vec![*n];
                    outer.extend(inner.iter());
                    rows.push(self.cast_in(v, &ty, &mut outer, false).peel(dims.len()));
                }
                inner.extend(dims.iter());
                let elem = self.concat_elems(&rows, of, inner)?;
                inner.truncate(inner.len() - dims.len());
                Value::array(dims, elem)
            }
            Value::Tuple(vs) => {
                let column = |i| parts(&|v| super::exp::project_tuple(v, i));
                let columns: Vec<_> = (0..vs.len()).map(column).collect();
                let columns = columns.iter();
                Value::Tuple(
                    columns
                        .map(|c| self.concat_elems(c, of, inner))
                        .collect::<Res<_>>()?,
                )
            }
            Value::Record(vs) => {
                let columns = vs.iter().map(|(name, _)| {
                    let column = parts(&|v| super::exp::project(v, name));
                    Ok((name.clone(), self.concat_elems(&column, of, inner)?))
                });
                Value::Record(columns.collect::<Res<_>>()?)
            }
            Value::Sum(sum) => {
                let sums: Vec<&SumValue<'a>> = elems.iter().filter_map(as_sum).collect();
                let tags: Vec<Leaf> = sums.iter().map(|sum| sum.tag).collect();
                let tag = self.concat_leaves(&tags, len);
                let mut cons = Vec::with_capacity(sum.cons.len());
                for (at, (name, vs)) in sum.cons.iter().enumerate() {
                    let mut payloads = Vec::with_capacity(vs.len());
                    for i in 0..vs.len() {
                        let column = sums.iter().map(|sum| sum.cons[at].1[i].clone());
                        let column: Vec<_> = column.collect();
                        payloads.push(self.concat_elems(&column, of, inner)?);
                    }
                    cons.push((name.clone(), payloads));
                }
                Value::Sum(Rc::new(SumValue { tag, cons }))
            }
            Value::Rows(_) => {
                let rows: Vec<Rc<Rows<'a>>> = elems.iter().filter_map(as_rows).collect();
                self.concat_marks(&rows, of, inner)?
            }
            Value::Fun(_) => elems[0].clone(),
        })
    }

    /// Rows one after another: their pools too, so that each begins behind the pools before its own. What no row holds is not
    /// copied, so that pools do not grow where parts of one array are put together again and again.
    fn concat_marks(
        &mut self,
        rows: &[Rc<Rows<'a>>],
        of: &Parts<'_>,
        inner: &[Size],
    ) -> Res<Value<'a>> {
        let atoms = |v: &Value<'a>| -> Vec<Atom> { v.parts().iter().map(|l| l.atom).collect() };
        let pool = atoms(&rows[0].pool);
        let shared = of.of_one && rows.iter().all(|rows| atoms(&rows.pool) == pool);
        let (mut begins, mut ends, mut before) = (Vec::new(), Vec::new(), int(0));
        let mut pools = Vec::with_capacity(rows.len());
        for (rows, n) in rows.iter().zip(of.lens) {
            let mut shape = vec![*n];
            shape.extend(inner);
            if shared {
                begins.push(rows.begin);
                ends.push(rows.end);
                continue;
            }
            let rows = self.compacted(rows, &shape, of.span)?;
            for (marks, leaf) in [(&mut begins, rows.begin), (&mut ends, rows.end)] {
                marks.push(if before == int(0) {
                    leaf
                } else {
                    self.each_i64(BinOp::Add, leaf, before, &shape)
                });
            }
            let all = rows.pool.dims().first().copied().unwrap_or(Size::Const(0));
            before = self.i64_bin(BinOp::Add, before, all.into());
            pools.push(rows.pool);
        }
        let pool = if shared {
            rows[0].pool.clone()
        } else {
            self.concat_rows(pools, false, of.span)?
        };
        Ok(Value::Rows(Rc::new(Rows {
            begin: self.concat_leaves(&begins, of.len),
            end: self.concat_leaves(&ends, of.len),
            pool,
            compact: !shared,
        })))
    }

    fn concat_leaves(&mut self, leaves: &[Leaf], len: Size) -> Leaf {
        let arrays: Vec<Var> = leaves.iter().filter_map(|l| var_of(l.atom)).collect();
        let row = self.ty(leaves[0].atom).peel(1).unwrap_or(Type::I64);
        let ty = Type::array_of(&row, &[len]);
        let op = ArrayOp::Concat { arrays, len };
        Leaf::new(self.array_op("t", ty, op).into())
    }

    /// All elements of rows of any lengths, one after another.
    pub(super) fn flatten_rows(
        &mut self,
        elem: &Value<'a>,
        shape: &[Size],
        span: Span,
    ) -> Res<Value<'a>> {
        let Value::Rows(rows) = elem else {
            return Err(unsupported(span, "`flatten` of this array"));
        };
        let pool = self.compacted(rows, shape, span)?.pool;
        if let Some(&total) = pool.dims().first() {
            self.check_total(total);
        }
        Ok(pool)
    }

    /// `segment ls xs`: rows of the lengths, which together are the array.
    pub(super) fn segment(&mut self, ls: &Value<'a>, xs: &Value<'a>, span: Span) -> Res<Value<'a>> {
        let (Some(&n), Some(&m)) = (ls.dims().first(), xs.dims().first()) else {
            return Err(unsupported(span, "`segment` of these arguments"));
        };
        self.remark_on_kept(None, "`segment` makes rows of the lengths that it is given");
        let rows = self.rows_of_lengths(ls.leaves()[0], &[n], xs, m)?;
        Ok(Value::array(&[n], Value::Rows(Rc::new(rows))))
    }

    /// Rows of these lengths, which are an array of the shape, that together must be the `m` elements of a pool.
    pub(super) fn rows_of_lengths(
        &mut self,
        length: Leaf,
        shape: &[Size],
        pool: &Value<'a>,
        m: Size,
    ) -> Res<Rows<'a>> {
        let n = self.elements(shape);
        let length = self.reshape(length, &[n]);
        let (begin, end, sum) = self.ends_from(length, &[n]);
        let (least, fit) = self.rows_fit((begin, end), n)?;
        let all = self.cmp(CmpOp::Eq, ScalarType::I64, sum, m.into());
        let ok = self.and(fit, all);
        let message = vec![
            text("The lengths of rows, the least of them "),
            value(least),
            text(", add up to "),
            value(sum),
            text(", but there are "),
            value(m),
            text(" elements."),
        ];
        let certs = self.assert(ok, TrapKind::Shape, message);
        let mut guarded = |leaf: Leaf| {
            let ty = self.ty(leaf.atom);
            let v = self.with_certs(&certs, |l| l.bind1("marks", ty, Exp::Atom(leaf.atom)));
            self.alias(v, [leaf.atom]);
            let atom = v.into();
            self.reshape(Leaf { atom, ..leaf }, shape)
        };
        Ok(Rows {
            begin: guarded(begin),
            end: guarded(end),
            pool: pool.lend(),
            compact: true,
        })
    }

    /// The least length of rows, and whether none is negative and no sum of them was too large. That is so if no row ends before it
    /// begins: the first one begins at zero, and a length that takes a mark below the one before, or beyond all numbers, is seen there.
    fn rows_fit(&mut self, (begin, end): (Leaf, Leaf), n: Size) -> Res<(Atom, Atom)> {
        let (i64, bool) = (ScalarType::I64, ScalarType::Bool);
        let params = ["begin", "end"].map(|name| self.fresh(name, Type::I64));
        let [first, past] = params.map(Atom::from);
        let (result, stms) = self.nested(|l| {
            let rises = l.cmp(CmpOp::Le, i64, first, past);
            let own = l.i64_bin(BinOp::Sub, past, first);
            Ok(vec![own, rises])
        })?;
        let most = super::intrinsic::extreme(i64, true);
        let reds = vec![
            self.scalar_operator(BinOp::Min, i64, most)?,
            self.scalar_operator(BinOp::And, bool, Const::Bool(true))?,
        ];
        let least = self.fresh("least", Type::I64);
        let fit = self.fresh("fit", Type::BOOL);
        let arrays = [begin, end].into_iter();
        let op = Soac::Screma {
            width: n,
            arrays: arrays.filter_map(|leaf| var_of(leaf.atom)).collect(),
            lam: Lambda {
                params: params.to_vec(),
                body: Body { stms, result },
            },
            scans: Vec::new(),
            reds,
        };
        self.push(vec![least, fit], Exp::Op(op));
        Ok((least.into(), fit.into()))
    }

    /// A parameter of an entry point, of which the rows are given by their lengths.
    pub(super) fn rows_in(&mut self, v: &Value<'a>, shape: &mut Vec<Size>) -> Res<Value<'a>> {
        self.outside_rows(v, shape, &mut |l, rows, shape| {
            let pool = l.rows_in(&rows.pool, &mut Vec::new())?;
            let m = pool.dims().first().copied().unwrap_or(Size::Const(0));
            let made = l.rows_of_lengths(rows.begin, shape, &pool, m)?;
            // What the caller gives away is the program's own.
            Ok(Rows { pool, ..made })
        })
    }

    /// A result of an entry point, of which the rows are to be given by their lengths.
    pub(super) fn rows_out(&mut self, v: &Value<'a>, shape: &mut Vec<Size>) -> Res<Value<'a>> {
        self.outside_rows(v, shape, &mut |l, rows, shape| {
            let rows = l.compacted(rows, shape, Span::default())?;
            let length = l.lengths(&rows, shape);
            Ok(Rows {
                begin: length,
                end: length,
                pool: l.rows_out(&rows.pool, &mut Vec::new())?,
                compact: true,
            })
        })
    }

    pub(super) fn outside_rows(
        &mut self,
        v: &Value<'a>,
        shape: &mut Vec<Size>,
        f: Change<'_, 'a>,
    ) -> Res<Value<'a>> {
        if !v.has_rows() {
            return Ok(v.clone());
        }
        Ok(match v {
            Value::Leaf(_) | Value::Fun(_) => v.clone(),
            Value::Array { dims, elem } => {
                shape.extend(dims.iter());
                let elem = self.outside_rows(elem, shape, f)?;
                shape.truncate(shape.len() - dims.len());
                Value::Array {
                    dims: Rc::clone(dims),
                    elem: Rc::new(elem),
                }
            }
            Value::Tuple(vs) => {
                let vs = vs.iter().map(|v| self.outside_rows(v, shape, f));
                Value::Tuple(vs.collect::<Res<_>>()?)
            }
            Value::Record(vs) => {
                let vs = vs
                    .iter()
                    .map(|(name, v)| Ok((name.clone(), self.outside_rows(v, shape, f)?)));
                Value::Record(vs.collect::<Res<_>>()?)
            }
            Value::Sum(sum) => {
                let mut cons = Vec::with_capacity(sum.cons.len());
                for (name, vs) in &sum.cons {
                    let vs = vs.iter().map(|v| self.outside_rows(v, shape, f));
                    cons.push((name.clone(), vs.collect::<Res<_>>()?));
                }
                Value::Sum(Rc::new(SumValue { tag: sum.tag, cons }))
            }
            Value::Rows(rows) => Value::Rows(Rc::new(f(self, rows, shape)?)),
        })
    }

    /// Rows of any lengths as rows of one length, which is checked, and what the check gave. Without a length it is that of
    /// the longest row.
    pub(super) fn regular_rows(
        &mut self,
        rows: &Rows<'a>,
        shape: &[Size],
        length: Option<Size>,
        span: Span,
    ) -> Res<(Value<'a>, Vec<Var>)> {
        let i64 = ScalarType::I64;
        let count = self.elements(shape);
        let lengths = self.lengths(rows, shape);
        let lengths = Value::Leaf(self.reshape(lengths, &[count]));
        let lengths = Value::array(&[count], lengths);
        let mut fold = |op: Op| -> Res<Atom> {
            let v = self.fold_op(op, i64, &lengths, span)?;
            self.scalar_of(&v, span)
        };
        let (least, most) = (fold(Op::Minimum)?, fold(Op::Maximum)?);
        let length = match length {
            Some(length) => length,
            None => size_of_atom(self.i64_bin(BinOp::Max, int(0), most)).unwrap_or(count),
        };
        let mut ok = self.cmp(CmpOp::Eq, i64, least, length.into());
        let same = self.cmp(CmpOp::Eq, i64, most, length.into());
        ok = self.and(ok, same);
        let none = self.cmp(CmpOp::Eq, i64, count.into(), int(0));
        ok = self.or(none, ok);
        let message = vec![
            text("Rows have lengths from "),
            value(least),
            text(" to "),
            value(most),
            text(", but an array with rows of length "),
            value(length),
            text(" is needed."),
        ];
        let certs = self.assert(ok, TrapKind::Coercion, message);
        let rows = self.compacted(rows, shape, span)?;
        let mut whole = shape.to_vec();
        whole.push(length);
        let v = self.with_certs(&certs, |l| {
            rows.pool.peel(1).map_leaves(&mut |leaf| {
                let ty = l.ty(leaf.atom);
                let inner = ty.shape().iter().skip(1).filter_map(|d| d.size());
                let shape: Vec<Size> = whole.iter().copied().chain(inner).collect();
                l.reshape(leaf, &shape)
            })
        });
        Ok((Value::array(&whole, v), certs))
    }

    /// `==` of arrays that may differ in shape.
    pub(super) fn equal_if_alike(&mut self, a: &Value<'a>, b: &Value<'a>, span: Span) -> Res<Atom> {
        let ty = self.type_of(a).map_dims(&mut |_| None).irregular_like(b);
        let (a, b) = (self.irregular_as(a, &ty), self.irregular_as(b, &ty));
        let mut alike = Atom::Const(midend::ir::scalar::Const::Bool(true));
        for (x, y) in a.dims().to_vec().iter().zip(b.dims()) {
            let same = self.cmp(CmpOp::Eq, ScalarType::I64, (*x).into(), (*y).into());
            alike = self.and(alike, same);
        }
        let v = self.lower_if(
            alike,
            None,
            &mut |l| Ok(Value::scalar(l.equal_arrays(&a, &b, span)?)),
            &mut |_| {
                Ok(Value::scalar(Atom::Const(midend::ir::scalar::Const::Bool(
                    false,
                ))))
            },
            span,
        )?;
        self.scalar_of(&v, span)
    }
}

/// What cannot be done with rows of different lengths.
pub(super) fn refused(span: Span, what: &str) -> Box<Diagnostic> {
    let message = format!("{what} an irregular array is not possible");
    Box::new(
        Diagnostic::error(Code::BadType, span, message)
            .hint("`e :> [n][m]t` makes a regular array, and checks that all rows have one length"),
    )
}

fn as_sum<'v, 'a>(v: &'v Value<'a>) -> Option<&'v SumValue<'a>> {
    match v {
        Value::Sum(sum) => Some(sum),
        Value::Leaf(_)
        | Value::Array { .. }
        | Value::Tuple(_)
        | Value::Record(_)
        | Value::Rows(_)
        | Value::Fun(_) => None,
    }
}

fn as_rows<'a>(v: &Value<'a>) -> Option<Rc<Rows<'a>>> {
    match v {
        Value::Rows(rows) => Some(Rc::clone(rows)),
        Value::Leaf(_)
        | Value::Array { .. }
        | Value::Tuple(_)
        | Value::Record(_)
        | Value::Sum(_)
        | Value::Fun(_) => None,
    }
}
