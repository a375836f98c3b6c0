//! Rows of any lengths: what an irregular array is while a program is lowered.
//!
//! An array `[n][..]t` is an array of rows, of each of which it is known where it begins and ends in one array that holds the
//! elements of all, the *pool*. Whatever only moves rows (indexing, slices, `filter`, `zip`, ..) is done as for any other
//! array, on where they begin and end. A row that is used is a slice of the pool ([`Lower::opened`]). Rows that a `map`
//! yields are collected by a flat map ([`super::irregular`]); nothing says how a value with an irregular type is
//! represented: it is regular as long as nobody makes it irregular.

use super::Lower;
use super::emit::int;
use super::index::Index;
use super::value::{ArrayTy, Leaf, SumValue, Ty, Value};
use crate::typed::Sym;
use midend::ir::array::ArrayOp;
use midend::ir::scalar::BinOp;
use midend::ir::syntax::Atom;
use midend::ir::types::{ScalarType, Size, Type};
use std::rc::Rc;

/// Rows of any lengths: where each begins and ends in an array that holds the elements of all.
#[derive(Clone)]
pub struct Rows<'a> {
    /// Where a row begins, an `i64`.
    pub begin: Leaf,
    /// Where it ends, an `i64`.
    pub end: Leaf,
    /// The elements: an array without the dimensions around the rows.
    pub pool: Value<'a>,
    /// Whether the pool is exactly the rows, one after another.
    pub compact: bool,
}

impl<'a> Rows<'a> {
    /// The same rows with other leaves; those of the pool change if `deep` says so.
    pub(super) fn map_with(&self, deep: bool, f: &mut dyn FnMut(Leaf) -> Leaf) -> Self {
        Self {
            begin: f(self.begin),
            end: f(self.end),
            pool: if deep {
                self.pool.map_with(deep, f)
            } else {
                self.pool.clone()
            },
            compact: deep && self.compact,
        }
    }

    /// The same rows with other sizes and atoms.
    pub(super) fn subst(&self, f: &mut dyn FnMut(Atom) -> Atom) -> Self {
        let through = |leaf: Leaf, f: &mut dyn FnMut(Atom) -> Atom| Leaf {
            atom: f(leaf.atom),
            ..leaf
        };
        Self {
            begin: through(self.begin, f),
            end: through(self.end, f),
            pool: self.pool.subst(f),
            compact: self.compact,
        }
    }
}

impl<'a> Value<'a> {
    /// The same tree with other leaves, those of the elements of rows too.
    pub fn map_parts(&self, f: &mut dyn FnMut(Leaf) -> Leaf) -> Value<'a> {
        self.map_with(true, f)
    }

    /// All leaves in order, those of the elements of rows too.
    pub fn parts(&self) -> Vec<Leaf> {
        let mut parts = Vec::new();
        self.each_with(true, &mut |leaf| parts.push(leaf));
        parts
    }

    /// The same tree with other leaves, those of the elements of rows too, but for where rows begin and end.
    pub(super) fn map_elements(&self, f: &mut dyn FnMut(Leaf) -> Leaf) -> Value<'a> {
        match self {
            Value::Leaf(_) | Value::Fun(_) => self.map_leaves(f),
            Value::Array { dims, elem } => Value::Array {
                dims: Rc::clone(dims),
                elem: Rc::new(elem.map_elements(f)),
            },
            Value::Tuple(vs) => Value::Tuple(vs.iter().map(|v| v.map_elements(f)).collect()),
            Value::Record(vs) => {
                let vs = vs.iter();
                Value::Record(
                    vs.map(|(name, v)| (name.clone(), v.map_elements(f)))
                        .collect(),
                )
            }
            Value::Sum(sum) => {
                let tag = f(sum.tag);
                let cons = sum.cons.iter();
                let cons = cons.map(|(name, vs)| {
                    let vs = vs.iter().map(|v| v.map_elements(f)).collect();
                    (name.clone(), vs)
                });
                let cons = cons.collect();
                Value::Sum(Rc::new(SumValue { tag, cons }))
            }
            Value::Rows(rows) => Value::Rows(Rc::new(Rows {
                pool: rows.pool.map_elements(f),
                ..Rows::clone(rows)
            })),
        }
    }

    /// The leaves that [`Self::map_elements`] changes.
    pub(super) fn element_leaves(&self) -> Vec<Leaf> {
        let mut leaves = Vec::new();
        self.map_elements(&mut |leaf| {
            leaves.push(leaf);
            leaf
        });
        leaves
    }

    /// Where rows begin, in order; their lengths in the form that values have outside.
    pub(super) fn begins(&self) -> Vec<Leaf> {
        match self {
            Value::Leaf(_) | Value::Fun(_) => Vec::new(),
            Value::Array { elem, .. } => elem.begins(),
            Value::Tuple(vs) => vs.iter().flat_map(Value::begins).collect(),
            Value::Record(vs) => vs.iter().flat_map(|(_, v)| v.begins()).collect(),
            Value::Sum(sum) => {
                let payloads = sum.cons.iter().flat_map(|(_, vs)| vs);
                payloads.flat_map(Value::begins).collect()
            }
            Value::Rows(rows) => {
                let mut begins = vec![rows.begin];
                begins.extend(rows.pool.begins());
                begins
            }
        }
    }

    /// The same value, of whose rows only the marks are its own.
    pub(super) fn lend_pools(&self) -> Value<'a> {
        match self {
            Value::Leaf(_) | Value::Fun(_) => self.clone(),
            Value::Array { dims, elem } => Value::Array {
                dims: Rc::clone(dims),
                elem: Rc::new(elem.lend_pools()),
            },
            Value::Tuple(vs) => Value::Tuple(vs.iter().map(Value::lend_pools).collect()),
            Value::Record(vs) => {
                let vs = vs.iter();
                Value::Record(vs.map(|(f, v)| (f.clone(), v.lend_pools())).collect())
            }
            Value::Sum(sum) => {
                let cons = sum.cons.iter();
                let cons = cons.map(|(name, vs)| {
                    let vs = vs.iter().map(Value::lend_pools);
                    (name.clone(), vs.collect())
                });
                let cons = cons.collect();
                Value::Sum(Rc::new(SumValue { tag: sum.tag, cons }))
            }
            Value::Rows(rows) => Value::Rows(Rc::new(Rows {
                pool: rows.pool.lend(),
                ..Rows::clone(rows)
            })),
        }
    }

    /// Whether there are rows of any lengths anywhere in the value.
    pub fn has_rows(&self) -> bool {
        match self {
            Value::Leaf(_) | Value::Fun(_) => false,
            Value::Array { elem, .. } => elem.has_rows(),
            Value::Tuple(vs) => vs.iter().any(Value::has_rows),
            Value::Record(vs) => vs.iter().any(|(_, v)| v.has_rows()),
            Value::Sum(sum) => sum
                .cons
                .iter()
                .any(|(_, vs)| vs.iter().any(Value::has_rows)),
            Value::Rows(_) => true,
        }
    }
}

impl Ty {
    /// Whether the type has an irregular dimension.
    pub fn has_irregular(&self) -> bool {
        match self {
            Ty::Scalar(_) | Ty::Fun => false,
            Ty::Array(a) => a.irregular || a.elem.has_irregular(),
            Ty::Tuple(ts) => ts.iter().any(Ty::has_irregular),
            Ty::Record(ts) => ts.iter().any(|(_, t)| t.has_irregular()),
            Ty::Sum(cons) => cons.iter().any(|(_, ts)| ts.iter().any(Ty::has_irregular)),
        }
    }

    /// The type with its first `n` dimensions, and unknown ones inside of them.
    pub(super) fn with_outer_dims(&self, n: usize) -> Ty {
        match self {
            Ty::Array(a) if n > 0 => Ty::Array(Rc::new(ArrayTy {
                dim: a.dim,
                irregular: a.irregular,
                unique: a.unique,
                elem: a.elem.with_outer_dims(n - 1),
            })),
            Ty::Array(_) | Ty::Scalar(_) | Ty::Tuple(_) | Ty::Record(_) | Ty::Sum(_) | Ty::Fun => {
                self.map_dims(&mut |_| None)
            }
        }
    }

    /// The type with irregular dimensions where the value has rows.
    pub fn irregular_like(&self, v: &Value<'_>) -> Ty {
        match (self, v) {
            (Ty::Array(a), Value::Array { .. } | Value::Rows(_)) => {
                let (irregular, row) = match v {
                    Value::Rows(rows) => (true, rows.pool.peel(1)),
                    Value::Leaf(_)
                    | Value::Array { .. }
                    | Value::Tuple(_)
                    | Value::Record(_)
                    | Value::Sum(_)
                    | Value::Fun(_) => (false, v.peel(1)),
                };
                Ty::Array(Rc::new(ArrayTy {
                    dim: a.dim,
                    irregular: a.irregular || irregular,
                    unique: a.unique,
                    elem: a.elem.irregular_like(&row),
                }))
            }
            (Ty::Tuple(ts), Value::Tuple(vs)) => {
                let pairs = ts.iter().zip(vs.iter());
                Ty::Tuple(pairs.map(|(t, v)| t.irregular_like(v)).collect())
            }
            (Ty::Record(ts), Value::Record(vs)) => {
                let pairs = ts.iter().zip(vs.iter());
                let field = |((name, t), (_, v)): (&(Sym, Ty), &(Sym, Value<'_>))| {
                    (name.clone(), t.irregular_like(v))
                };
                Ty::Record(pairs.map(field).collect())
            }
            (Ty::Sum(types), Value::Sum(sum)) => {
                let pairs = types.iter().zip(&sum.cons);
                let cons = pairs.map(|((name, ts), (_, vs))| {
                    let pairs = ts.iter().zip(vs);
                    (
                        name.clone(),
                        pairs.map(|(t, v)| t.irregular_like(v)).collect(),
                    )
                });
                Ty::Sum(cons.collect())
            }
            (
                Ty::Scalar(_) | Ty::Array(_) | Ty::Tuple(_) | Ty::Record(_) | Ty::Sum(_) | Ty::Fun,
                _,
            ) => self.clone(),
        }
    }
}

impl<'a> Value<'a> {
    /// The same tuple, record or sum with other parts, each of which `f` is shown with its type; nothing of what has no parts.
    pub(super) fn map_typed(&self, ty: &Ty, f: &mut dyn FnMut(&Self, &Ty) -> Self) -> Option<Self> {
        Some(match (self, ty) {
            (Value::Tuple(vs), Ty::Tuple(ts)) => {
                Value::Tuple(vs.iter().zip(ts.iter()).map(|(v, t)| f(v, t)).collect())
            }
            (Value::Record(vs), Ty::Record(ts)) => {
                let pairs = vs.iter().zip(ts.iter());
                let field =
                    |((name, v), (_, t)): (&(Sym, Self), &(Sym, Ty))| (name.clone(), f(v, t));
                Value::Record(pairs.map(field).collect())
            }
            (Value::Sum(sum), Ty::Sum(types)) => {
                let pairs = sum.cons.iter().zip(types.iter());
                let cons = pairs.map(|((name, vs), (_, ts))| {
                    let vs = vs.iter().zip(ts).map(|(v, t)| f(v, t)).collect();
                    (name.clone(), vs)
                });
                let cons = cons.collect();
                Value::Sum(Rc::new(SumValue { tag: sum.tag, cons }))
            }
            (
                Value::Leaf(_)
                | Value::Array { .. }
                | Value::Tuple(_)
                | Value::Record(_)
                | Value::Sum(_)
                | Value::Rows(_)
                | Value::Fun(_),
                _,
            ) => return None,
        })
    }
}

impl<'a> Lower<'a> {
    /// A value with its rows, if it is one row or has some as components, as arrays: slices of what they are parts of.
    pub(super) fn opened(&mut self, v: &Value<'a>) -> Value<'a> {
        match v {
            Value::Leaf(_) | Value::Array { .. } | Value::Fun(_) => v.clone(),
            Value::Tuple(vs) => Value::Tuple(vs.iter().map(|v| self.opened(v)).collect()),
            Value::Record(vs) => {
                let vs = vs.iter();
                Value::Record(vs.map(|(f, v)| (f.clone(), self.opened(v))).collect())
            }
            Value::Sum(sum) => {
                let cons = sum.cons.iter();
                let cons = cons.map(|(name, vs)| {
                    let vs = vs.iter().map(|v| self.opened(v)).collect();
                    (name.clone(), vs)
                });
                let cons = cons.collect();
                Value::Sum(Rc::new(SumValue { tag: sum.tag, cons }))
            }
            Value::Rows(rows) => {
                let part = Index::Range(Some(rows.begin.atom), Some(rows.end.atom), None);
                let row = self.index_unchecked(&rows.pool, &[part]);
                row.with_shared(true)
            }
        }
    }

    /// The value with rows where its type has irregular dimensions inside of arrays.
    pub(super) fn irregular_as(&mut self, v: &Value<'a>, ty: &Ty) -> Value<'a> {
        if ty.has_irregular() {
            self.irregular_in(v, ty, &mut Vec::new())
        } else {
            v.clone()
        }
    }

    fn irregular_in(&mut self, v: &Value<'a>, ty: &Ty, outer: &mut Vec<Size>) -> Value<'a> {
        match (v, ty) {
            (Value::Array { dims, elem }, Ty::Array(_)) => {
                let mut row = ty;
                for (i, _) in dims.iter().enumerate() {
                    let Ty::Array(array) = row else { break };
                    if array.irregular && outer.len() + i > 0 {
                        let why = "an array with rows of one length becomes one with rows of any lengths, as what it is to stand for is";
                        self.remark_on_kept(None, why);
                        let rest = v.peel(i + 1);
                        outer.extend(&dims[..i]);
                        let rows = self.rows_of(&rest, outer, dims[i]);
                        outer.truncate(outer.len() - i);
                        let pool = Ty::array(None, array.elem.clone());
                        let pool = self.irregular_in(&rows.pool, &pool, &mut Vec::new());
                        let rows = Value::Rows(Rc::new(Rows { pool, ..rows }));
                        return Value::array(&dims[..i], rows);
                    }
                    row = &array.elem;
                }
                outer.extend(dims.iter());
                let elem = self.irregular_in(elem, row, outer);
                outer.truncate(outer.len() - dims.len());
                Value::Array {
                    dims: Rc::clone(dims),
                    elem: Rc::new(elem),
                }
            }
            (Value::Rows(rows), Ty::Array(array)) => {
                let pool = Ty::array(None, array.elem.clone());
                let pool = self.irregular_in(&rows.pool, &pool, &mut Vec::new());
                let rows = Rows::clone(rows);
                Value::Rows(Rc::new(Rows { pool, ..rows }))
            }
            (
                Value::Leaf(_)
                | Value::Array { .. }
                | Value::Tuple(_)
                | Value::Record(_)
                | Value::Sum(_)
                | Value::Rows(_)
                | Value::Fun(_),
                _,
            ) => {
                let parts = v.map_typed(ty, &mut |v, t| self.irregular_in(v, t, outer));
                parts.unwrap_or_else(|| v.clone())
            }
        }
    }

    /// Rows of one length: the elements of a regular array of the shape `outer`, then `length`.
    pub(super) fn rows_of(&mut self, elem: &Value<'a>, outer: &[Size], length: Size) -> Rows<'a> {
        let count = self.elements(outer);
        let (all, _) = self.extents_product(&[count, length]);
        let rank = outer.len() + 1;
        let pool = elem.map_leaves(&mut |leaf| {
            let shape = self.ty(leaf.atom).shape().to_vec();
            let inner = shape.iter().skip(rank).filter_map(|d| d.size());
            let shape: Vec<Size> = std::iter::once(all).chain(inner).collect();
            let leaf = self.reshape(leaf, &shape);
            Leaf {
                shared: true,
                ..leaf
            }
        });
        let pool = Value::array(&[all], pool);
        if outer.is_empty() {
            return Rows {
                begin: Leaf::new(int(0)),
                end: Leaf::new(length.into()),
                pool,
                compact: true,
            };
        }
        let mut steps = |start: Atom| {
            let op = ArrayOp::Iota {
                len: count,
                start,
                step: length.into(),
                ty: ScalarType::I64,
            };
            let ty = Type::array_of(&Type::I64, &[count]);
            let steps = self.array_op("marks", ty, op);
            self.reshape(Leaf::new(steps.into()), outer)
        };
        Rows {
            begin: steps(int(0)),
            end: steps(length.into()),
            pool,
            compact: true,
        }
    }

    /// The number of elements of a shape.
    pub(super) fn elements(&mut self, shape: &[Size]) -> Size {
        self.extents_product(shape).0
    }

    /// The lengths of rows, which are elements of an array of the shape.
    pub(super) fn lengths(&mut self, rows: &Rows<'a>, shape: &[Size]) -> Leaf {
        self.each_i64(BinOp::Sub, rows.end, rows.begin.atom, shape)
    }

    /// An operation on each element of an array of the shape and of another, or a number.
    pub(super) fn each_i64(&mut self, op: BinOp, a: Leaf, b: Atom, shape: &[Size]) -> Leaf {
        if shape.is_empty() {
            return Leaf::new(self.i64_bin(op, a.atom, b));
        }
        let count = self.elements(shape);
        let (mut arrays, mut params) = (Vec::new(), Vec::new());
        let mut operand = |l: &mut Self, atom: Atom| {
            if !l.ty(atom).is_array() {
                return atom;
            }
            let param = l.fresh("x", Type::I64);
            arrays.extend(super::emit::var_of(
                l.reshape(Leaf::new(atom), &[count]).atom,
            ));
            params.push(param);
            param.into()
        };
        let (a, b) = (operand(self, a.atom), operand(self, b));
        let result = self.fresh("x", Type::I64);
        let exp = midend::ir::syntax::Exp::Scalar(
            midend::ir::scalar::ScalarOp::Bin(op, ScalarType::I64),
            vec![a, b],
        );
        let stm = midend::ir::syntax::Stm {
            binds: vec![result],
            certs: Vec::new(),
            exp,
            span: self.span,
        };
        let body = midend::ir::syntax::Body {
            stms: vec![stm],
            result: vec![result.into()],
        };
        let op = midend::ir::soac::Soac::Screma {
            width: count,
            arrays,
            lam: midend::ir::syntax::Lambda { params, body },
            scans: Vec::new(),
            reds: Vec::new(),
        };
        let ty = Type::array_of(&Type::I64, &[count]);
        let all = self.bind1("marks", ty, midend::ir::syntax::Exp::Op(op));
        self.reshape(Leaf::new(all.into()), shape)
    }
}
