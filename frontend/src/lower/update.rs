//! Updates in place, also of elements and rows of irregular arrays.
//!
//! No element of a pool belongs to two rows ([`super::rows`]), so that a row is updated by an update of its part of the
//! pool. Where it begins and ends stays as it is: a row is replaced by one of its length, which is checked. Several rows
//! at once are written to all places that the old ones have.

use super::coerce::shape_parts;
use super::emit::{int, text, value};
use super::env::Frame;
use super::exp::{project, project_tuple};
use super::index::Index;
use super::rows::Rows;
use super::segments::refused;
use super::value::{ArrayTy, Leaf, Ty, Value, size_of_atom};
use super::{Lower, Res};
use crate::source::Span;
use crate::typed::{Exp, Step, Sym};
use midend::ir::array::{ArrayOp, SliceDim};
use midend::ir::scalar::{BinOp, CmpOp};
use midend::ir::syntax::{Atom, TrapKind};
use midend::ir::types::{ScalarType, Size, Type};
use std::rc::Rc;

/// One step of the path of an update, evaluated.
enum Place<'s> {
    Field(&'s Sym),
    TupleField(usize),
    Index(Vec<Index>),
}

impl<'a> Lower<'a> {
    /// `source with path = value`.
    pub fn update_exp(
        &mut self,
        source: &'a Exp,
        path: &'a [Step],
        value: &'a Exp,
        frame: &Rc<Frame<'a>>,
    ) -> Res<Value<'a>> {
        let mut steps = Vec::with_capacity(path.len());
        for step in path {
            steps.push(match step {
                Step::Field(name) => Place::Field(name),
                Step::TupleField(i) => Place::TupleField(*i),
                Step::Index(slices) => Place::Index(self.slices(slices, frame)?),
            });
        }
        let new = self.exp(value, frame)?;
        let old = self.exp(source, frame)?;
        self.update_path(&old, &steps, &new, source.span)
    }

    fn update_path(
        &mut self,
        old: &Value<'a>,
        path: &[Place<'_>],
        new: &Value<'a>,
        span: Span,
    ) -> Res<Value<'a>> {
        let Some((step, rest)) = path.split_first() else {
            return Ok(new.clone());
        };
        Ok(match (step, old) {
            (Place::Field(name), Value::Record(fields)) => {
                let part = self.update_path(&project(old, name), rest, new, span)?;
                let fields = fields.iter().map(|(field, v)| {
                    let v = if field == *name {
                        part.clone()
                    } else {
                        v.clone()
                    };
                    (field.clone(), v)
                });
                Value::Record(fields.collect())
            }
            (Place::TupleField(n), Value::Tuple(fields)) => {
                let part = self.update_path(&project_tuple(old, *n), rest, new, span)?;
                let fields = fields.iter().enumerate();
                let fields = fields.map(|(i, v)| if i == *n { part.clone() } else { v.clone() });
                Value::Tuple(fields.collect())
            }
            (Place::Index(indices), _) if rest.is_empty() => {
                self.update(old, None, indices, new, span)?
            }
            (Place::Index(indices), _) => {
                let row = self.index_deep(old, indices, span)?;
                let part = self.update_path(&row.with_shared(true), rest, new, span)?;
                self.update(old, None, indices, &part, span)?
            }
            (Place::Field(_) | Place::TupleField(_), _) => old.clone(),
        })
    }

    /// An array with the part at the indices replaced, in place. The first index may be checked already; those that are left
    /// when a row of any length is reached are of that row.
    fn update(
        &mut self,
        v: &Value<'a>,
        first: Option<SliceDim>,
        indices: &[Index],
        new: &Value<'a>,
        span: Span,
    ) -> Res<Value<'a>> {
        let (shape, known) = (v.dims().to_vec(), usize::from(first.is_some()));
        let rank = shape.len() - known;
        let (outer, inner) = indices.split_at(rank.min(indices.len()));
        let (rest, certs) = self.check_indices(&shape[known..], outer);
        let dims: Vec<SliceDim> = first.into_iter().chain(rest).collect();
        let Some((at, inner)) = inner.split_first() else {
            let kept = dims.iter().filter_map(length);
            let kept: Vec<Size> = kept.chain(shape[dims.len()..].iter().copied()).collect();
            let new = self.fitting(v, &kept, new)?;
            let new = new.peel(kept.len());
            return self.with_certs(&certs, |l| {
                let elem = l.stored(&v.peel(shape.len()), &dims, &mut kept.clone(), &new, span)?;
                Ok(Value::array(&shape, elem))
            });
        };
        if dims.iter().any(|dim| length(dim).is_some()) {
            return Err(refused(span, "an update of parts of several rows of"));
        }
        let Value::Rows(rows) = v.peel(shape.len()) else {
            return Err(refused(span, "this update in place of"));
        };
        self.with_certs(&certs, |l| {
            let begin = l.pick_leaf(rows.begin, &dims).atom;
            let end = l.pick_leaf(rows.end, &dims).atom;
            let length = l.i64_bin(BinOp::Sub, end, begin);
            let length = size_of_atom(length).unwrap_or(Size::Const(0));
            let (inside, certs) = l.check_indices(&[length], &[*at]);
            let moved = inside.first().map(|dim| match *dim {
                SliceDim::Fix(i) => SliceDim::Fix(l.i64_bin(BinOp::Add, begin, i)),
                SliceDim::Range { start, len, stride } => SliceDim::Range {
                    start: l.i64_bin(BinOp::Add, begin, start),
                    len,
                    stride,
                },
            });
            let pool = l.with_certs(&certs, |l| l.update(&rows.pool, moved, inner, new, span))?;
            let rows = Rows::clone(&rows);
            Ok(Value::array(
                &shape,
                Value::Rows(Rc::new(Rows { pool, ..rows })),
            ))
        })
    }

    /// What is to be written, with the shape of the place where it is to be; a row may have any length so far.
    fn fitting(&mut self, v: &Value<'a>, kept: &[Size], new: &Value<'a>) -> Res<Value<'a>> {
        let row = without_pools(&self.type_of(&v.peel(v.dims().len())));
        let want = kept
            .iter()
            .rev()
            .fold(row, |row, n| Ty::array(Some(*n), row));
        let new = self.irregular_as(new, &want);
        let mut message = |have: &[Size], want: &[Size]| {
            let mut parts = vec![text("Shape of slice does not match shape of value: ")];
            parts.extend(shape_parts(want));
            parts.push(text(" and "));
            parts.extend(shape_parts(have));
            parts.push(text("."));
            parts
        };
        self.coerce_element(&new, &want, TrapKind::Shape, &mut message)
    }

    /// Elements of an array with the part at the indices replaced; `kept` is the shape of that part.
    fn stored(
        &mut self,
        v: &Value<'a>,
        dims: &[SliceDim],
        kept: &mut Vec<Size>,
        new: &Value<'a>,
        span: Span,
    ) -> Res<Value<'a>> {
        if !v.has_rows() {
            let mut values = new.atoms().into_iter();
            return Ok(v.map_leaves(&mut |leaf| match values.next() {
                Some(value) => self.update_leaf(leaf, dims, value),
                None => leaf,
            }));
        }
        Ok(match (v, new) {
            (Value::Tuple(vs), Value::Tuple(ns)) => {
                let pairs = vs.iter().zip(ns.iter());
                let vs = pairs.map(|(v, n)| self.stored(v, dims, kept, n, span));
                Value::Tuple(vs.collect::<Res<_>>()?)
            }
            (Value::Record(vs), Value::Record(ns)) => {
                let pairs = vs.iter().zip(ns.iter());
                let vs = pairs.map(|((name, v), (_, n))| {
                    Ok((name.clone(), self.stored(v, dims, kept, n, span)?))
                });
                Value::Record(vs.collect::<Res<_>>()?)
            }
            (Value::Array { dims: more, elem }, Value::Array { .. }) => {
                kept.extend(more.iter());
                let elem = self.stored(elem, dims, kept, &new.peel(more.len()), span)?;
                kept.truncate(kept.len() - more.len());
                Value::array(more, elem)
            }
            (Value::Rows(rows), _) => {
                let begin = self.pick_leaf(rows.begin, dims);
                let end = self.pick_leaf(rows.end, dims);
                let old = Rows {
                    begin,
                    end,
                    pool: rows.pool.clone(),
                    compact: false,
                };
                let pool = match new {
                    Value::Rows(new) => self.rows_stored(&old, new, kept, span)?,
                    Value::Array { .. }
                    | Value::Leaf(_)
                    | Value::Tuple(_)
                    | Value::Record(_)
                    | Value::Sum(_)
                    | Value::Fun(_) => self.row_stored(&old, new, span)?,
                };
                let rows = Rows::clone(rows);
                Value::Rows(Rc::new(Rows { pool, ..rows }))
            }
            (
                Value::Leaf(_)
                | Value::Array { .. }
                | Value::Tuple(_)
                | Value::Record(_)
                | Value::Sum(_)
                | Value::Fun(_),
                _,
            ) => return Err(refused(span, "an update in place of a sum with")),
        })
    }

    /// The pool with a row replaced by one of its length.
    fn row_stored(&mut self, old: &Rows<'a>, new: &Value<'a>, span: Span) -> Res<Value<'a>> {
        let have = new.dims().first().copied().unwrap_or(Size::Const(0));
        let length = self.i64_bin(BinOp::Sub, old.end.atom, old.begin.atom);
        let same = self.cmp(CmpOp::Eq, ScalarType::I64, have.into(), length);
        let message = vec![
            text("A row of length "),
            value(length),
            text(" cannot be replaced by one of length "),
            value(have),
            text(": an update in place keeps the lengths of rows."),
        ];
        let certs = self.assert(same, TrapKind::Shape, message);
        let part = SliceDim::Range {
            start: old.begin.atom,
            len: have,
            stride: int(1),
        };
        let shape = old.pool.dims().to_vec();
        let mut kept = vec![have];
        kept.extend(shape.iter().skip(1));
        let dims = [part];
        let new = self.fitting(&old.pool, &kept, new)?;
        self.with_certs(&certs, |l| {
            let elem = old.pool.peel(shape.len());
            let new = new.peel(kept.len());
            let elem = l.stored(&elem, &dims, &mut kept.clone(), &new, span)?;
            Ok(Value::array(&shape, elem))
        })
    }

    /// The pool with rows, which are the elements of an array of the shape, replaced by rows of their lengths.
    fn rows_stored(
        &mut self,
        old: &Rows<'a>,
        new: &Rows<'a>,
        shape: &[Size],
        span: Span,
    ) -> Res<Value<'a>> {
        let i64 = ScalarType::I64;
        let count = self.elements(shape);
        let (was, is) = (self.lengths(old, shape), self.lengths(new, shape));
        let longer = self.each_i64(BinOp::Sub, is, was.atom, shape);
        let longer = Value::Leaf(self.reshape(longer, &[count]));
        let longer = Value::array(&[count], longer);
        let mut fold = |op| -> Res<Atom> {
            let v = self.fold_op(op, i64, &longer, span)?;
            self.scalar_of(&v, span)
        };
        let (least, most) = (
            fold(crate::typed::Op::Minimum)?,
            fold(crate::typed::Op::Maximum)?,
        );
        let mut same = self.cmp(CmpOp::Eq, i64, least, int(0));
        let most = self.cmp(CmpOp::Eq, i64, most, int(0));
        same = self.and(same, most);
        let none = self.cmp(CmpOp::Eq, i64, count.into(), int(0));
        same = self.or(none, same);
        let message = vec![text(
            "Rows cannot be replaced by rows of other lengths: an update in place keeps the lengths of rows.",
        )];
        let certs = self.assert(same, TrapKind::Shape, message);
        self.with_certs(&certs, |l| {
            let all = old.pool.dims().first().copied().unwrap_or(Size::Const(0));
            let op = ArrayOp::Iota {
                len: all,
                start: int(0),
                step: int(1),
                ty: i64,
            };
            let ty = Type::array_of(&Type::I64, &[all]);
            let places = Value::array(&[all], Value::scalar(l.array_op("places", ty, op)));
            let places = Rows {
                pool: places,
                ..old.clone()
            };
            let places = l.compacted(&places, shape, span)?.pool;
            let new = l.compacted(new, shape, span)?.pool;
            l.scattered(&old.pool, &places, &new, span)
        })
    }

    /// An array with what stands at the places replaced.
    fn scattered(
        &mut self,
        dest: &Value<'a>,
        places: &Value<'a>,
        new: &Value<'a>,
        span: Span,
    ) -> Res<Value<'a>> {
        if !dest.has_rows() {
            return self.scatter(dest, places, new, span);
        }
        let (all, count) = (dest.dims()[..1].to_vec(), new.dims()[..1].to_vec());
        let mut part = |dest: &Value<'a>, new: &Value<'a>| -> Res<Value<'a>> {
            let (dest, new) = (
                Value::array(&all, dest.clone()),
                Value::array(&count, new.clone()),
            );
            Ok(self.scattered(&dest, places, &new, span)?.peel(1))
        };
        let elem = match (dest.peel(1), new.peel(1)) {
            (Value::Tuple(vs), Value::Tuple(ns)) => {
                let vs = vs.iter().zip(ns.iter()).map(|(v, n)| part(v, n));
                Value::Tuple(vs.collect::<Res<_>>()?)
            }
            (Value::Record(vs), Value::Record(ns)) => {
                let vs = vs.iter().zip(ns.iter());
                let vs = vs.map(|((name, v), (_, n))| Ok((name.clone(), part(v, n)?)));
                Value::Record(vs.collect::<Res<_>>()?)
            }
            (Value::Rows(rows), Value::Rows(new)) => {
                let marks = [rows.begin, rows.end].map(Value::Leaf);
                let marks = Value::array(&all, Value::tuple(marks.to_vec()));
                let input = self.input(places, span)?;
                let at = self.scalar_of(&input.elem, span)?;
                let old = self.map_over(input, None, false, span, &mut |l| {
                    Ok(l.index_unchecked(&marks, &[Index::At(at)]))
                })?;
                let old = old.leaves();
                let old = Rows {
                    begin: old[0],
                    end: old[1],
                    pool: rows.pool.clone(),
                    compact: false,
                };
                let pool = self.rows_stored(&old, &new, &count, span)?;
                let rows = Rows::clone(&rows);
                Value::Rows(Rc::new(Rows { pool, ..rows }))
            }
            _ => return Err(refused(span, "this update of several rows of")),
        };
        Ok(Value::array(&all, elem))
    }

    /// One leaf with the part replaced; the indices are in range.
    pub fn update_leaf(&mut self, leaf: Leaf, dims: &[SliceDim], value: Atom) -> Leaf {
        let Atom::Var(array) = self.consume(leaf) else {
            return leaf;
        };
        // What the source takes for a fresh array may be a part of the one that is updated: `map (\x -> x) xs[i]`.
        let value = match value {
            Atom::Var(new) if self.vars[new].ty.is_array() => {
                let new = self.roots(new);
                // Most are fresh: then nothing is asked of a long row of updates.
                if (new.len() == 1 && !new.contains(&array)) || self.roots(array).is_disjoint(&new)
                {
                    value
                } else {
                    self.copy_leaf(Leaf::new(value)).atom
                }
            }
            Atom::Var(_) | Atom::Const(_) => value,
        };
        let info = self.vars[array].clone();
        let op = ArrayOp::Update {
            array,
            dims: dims.to_vec(),
            value,
        };
        let v = self.array_op(&info.name, info.ty, op);
        self.alias(v, [Atom::Var(array)]);
        Leaf::new(Atom::Var(v))
    }
}

/// How many indices there are, unless it is one.
fn length(dim: &SliceDim) -> Option<Size> {
    match dim {
        SliceDim::Fix(_) => None,
        SliceDim::Range { len, .. } => Some(*len),
    }
}

/// The type without the sizes of pools: rows of any lengths have none.
fn without_pools(ty: &Ty) -> Ty {
    match ty {
        Ty::Scalar(_) | Ty::Fun => ty.clone(),
        Ty::Array(a) => Ty::Array(Rc::new(ArrayTy {
            dim: a.dim.filter(|_| !a.irregular),
            irregular: a.irregular,
            unique: a.unique,
            elem: without_pools(&a.elem),
        })),
        Ty::Tuple(ts) => Ty::Tuple(ts.iter().map(without_pools).collect()),
        Ty::Record(ts) => {
            let ts = ts.iter().map(|(name, t)| (name.clone(), without_pools(t)));
            Ty::Record(ts.collect())
        }
        Ty::Sum(cons) => {
            let cons = cons.iter();
            let cons =
                cons.map(|(name, ts)| (name.clone(), ts.iter().map(without_pools).collect()));
            Ty::Sum(cons.collect())
        }
    }
}
