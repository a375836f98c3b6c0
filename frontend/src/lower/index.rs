//! Indexing and slicing, with their checks.

use super::coerce::shape_parts;
use super::emit::{int, text, value};
use super::env::Frame;
use super::segments::refused;
use super::value::{Leaf, Value, size_of_atom};
use super::{Lower, Res};
use crate::source::Span;
use crate::typed::{Exp, Slice};
use midend::ir::array::{ArrayOp, SliceDim};
use midend::ir::id::Var;
use midend::ir::scalar::{BinOp, CmpOp, Const, ScalarOp, UnOp};
use midend::ir::syntax::{Atom, MessagePart, TrapKind};
use midend::ir::types::{ScalarType, Size, Type};
use std::rc::Rc;

/// One index, evaluated.
#[derive(Clone, Copy, Debug)]
pub enum Index {
    /// An element, an `i64`.
    At(Atom),
    /// A range, as written.
    Range(Option<Atom>, Option<Atom>, Option<Atom>),
}

/// One index with its check and how a message shows it.
struct Checked {
    dim: SliceDim,
    ok: Atom,
    shown: Vec<MessagePart>,
}

impl<'a> Lower<'a> {
    /// Evaluates indices.
    pub fn slices(&mut self, slices: &'a [Slice], frame: &Rc<Frame<'a>>) -> Res<Vec<Index>> {
        let mut out = Vec::with_capacity(slices.len());
        for slice in slices {
            out.push(match slice {
                Slice::Index(e) => {
                    let i = self.scalar_exp(e, frame)?;
                    let from = self.atom_scalar(i);
                    Index::At(self.convert(from, ScalarType::I64, i))
                }
                Slice::Range { start, end, stride } => {
                    let mut part = |e: &'a Option<Exp>| match e {
                        Some(e) => self.scalar_exp(e, frame).map(Some),
                        None => Ok(None),
                    };
                    Index::Range(part(start)?, part(end)?, part(stride)?)
                }
            });
        }
        Ok(out)
    }

    /// The part of an array that checked indices pick.
    pub fn index(&mut self, v: &Value<'a>, indices: &[Index]) -> Value<'a> {
        let (dims, certs) = self.check_indices(v.dims(), indices);
        self.with_certs(&certs, |l| l.pick(v, &dims))
    }

    /// The part of an array at indices that are known to be in range.
    pub fn index_unchecked(&mut self, v: &Value<'a>, indices: &[Index]) -> Value<'a> {
        let sizes = v.dims().to_vec();
        let dims: Vec<SliceDim> = indices
            .iter()
            .zip(sizes)
            .map(|(index, size)| self.check_index(*index, size).dim)
            .collect();
        self.pick(v, &dims)
    }

    /// The part of an array that checked indices pick; those that are left when a row of any length is reached are of that row.
    pub fn index_deep(&mut self, v: &Value<'a>, indices: &[Index], span: Span) -> Res<Value<'a>> {
        let rank = v.dims().len();
        if indices.len() <= rank {
            return Ok(self.index(v, indices));
        }
        let (outer, inner) = indices.split_at(rank);
        if outer.iter().any(|i| matches!(i, Index::Range(..))) {
            return Err(refused(span, "an index into several rows of"));
        }
        let row = self.index(v, outer);
        self.index_deep(&row, inner, span)
    }

    pub(super) fn check_indices(
        &mut self,
        shape: &[Size],
        indices: &[Index],
    ) -> (Vec<SliceDim>, Vec<Var>) {
        let mut ok = Atom::Const(Const::Bool(true));
        let mut dims = Vec::new();
        let mut message = vec![text("Index [")];
        for (i, (index, size)) in indices.iter().zip(shape).enumerate() {
            let checked = self.check_index(*index, *size);
            if i > 0 {
                message.push(text(", "));
            }
            message.extend(checked.shown);
            ok = self.and(ok, checked.ok);
            dims.push(checked.dim);
        }
        message.push(text("] out of bounds for array of shape "));
        message.extend(shape_parts(&shape[..dims.len()]));
        message.push(text("."));
        let certs = self.assert(ok, TrapKind::Bounds, message);
        (dims, certs)
    }

    fn check_index(&mut self, index: Index, size: Size) -> Checked {
        let i64 = ScalarType::I64;
        match index {
            Index::At(i) => {
                let above = self.cmp(CmpOp::Le, i64, int(0), i);
                let below = self.cmp(CmpOp::Lt, i64, i, size.into());
                Checked {
                    dim: SliceDim::Fix(i),
                    ok: self.and(above, below),
                    shown: vec![value(i)],
                }
            }
            Index::Range(start, end, None | Some(Atom::Const(Const::I64(1)))) => {
                let from = start.unwrap_or(int(0));
                let to = end.unwrap_or(size.into());
                let len = self.i64_bin(BinOp::Sub, to, from);
                // 0 <= from <= to <= size
                let a = self.cmp(CmpOp::Le, i64, int(0), from);
                let b = self.cmp(CmpOp::Le, i64, from, to);
                let c = self.cmp(CmpOp::Le, i64, to, size.into());
                let ok = self.and(a, b);
                let empty = self.cmp(CmpOp::Eq, i64, from, to);
                let inside = self.and(ok, c);
                let ok = match (start, end) {
                    (None, _) | (_, None) => inside,
                    // An empty slice is in range wherever it stands.
                    (Some(_), Some(_)) => self.or(empty, inside),
                };
                Checked {
                    dim: range(from, len, int(1)),
                    ok,
                    shown: shown(start, end, None),
                }
            }
            Index::Range(None, None, Some(Atom::Const(Const::I64(-1)))) => {
                let last = self.i64_bin(BinOp::Sub, size.into(), int(1));
                Checked {
                    dim: range(last, size.into(), int(-1)),
                    ok: Atom::Const(Const::Bool(true)),
                    shown: shown(None, None, Some(int(-1))),
                }
            }
            Index::Range(start, end, Some(stride)) => self.check_strided(start, end, stride, size),
        }
    }

    /// A slice with a stride. The number of elements is `(to - from + stride - sign) quot stride`; a slice that is
    /// not empty must have its first and last element in range and must run the right way.
    fn check_strided(
        &mut self,
        start: Option<Atom>,
        end: Option<Atom>,
        stride: Atom,
        size: Size,
    ) -> Checked {
        let i64 = ScalarType::I64;
        let back = self.cmp(CmpOp::Lt, i64, stride, int(0));
        let last = self.i64_bin(BinOp::Sub, size.into(), int(1));
        let from = match start {
            Some(from) => from,
            None => self.select(i64, back, last, int(0)),
        };
        let to = match end {
            Some(to) => to,
            None => self.select(i64, back, int(-1), size.into()),
        };
        let zero = self.cmp(CmpOp::Eq, i64, stride, int(0));
        let pace = self.select(i64, zero, int(1), stride);
        let sign = self.scalar(ScalarOp::Un(UnOp::Signum, i64), &[pace]);
        let distance = self.i64_bin(BinOp::Sub, to, from);
        let rounded = self.i64_bin(BinOp::Sub, pace, sign);
        let rounded = self.i64_bin(BinOp::Add, distance, rounded);
        let mut len = self.i64_bin(BinOp::Quot, rounded, pace);
        if !matches!(stride, Atom::Const(Const::I64(n)) if n.unsigned_abs() < 1 << 31) {
            // The same on the way to the end, without a sum that overflows.
            let before = self.i64_bin(BinOp::Sub, distance, sign);
            let steps = self.i64_bin(BinOp::Quot, before, pace);
            let ahead = self.i64_bin(BinOp::Add, steps, int(1));
            let side = self.scalar(ScalarOp::Un(UnOp::Signum, i64), &[distance]);
            let onwards = self.cmp(CmpOp::Eq, i64, side, sign);
            len = self.select(i64, onwards, ahead, len);
        }
        let empty = self.cmp(CmpOp::Eq, i64, len, int(0));
        let steps = self.i64_bin(BinOp::Sub, len, int(1));
        let reach = self.i64_bin(BinOp::Mul, steps, pace);
        let final_ = self.i64_bin(BinOp::Add, from, reach);
        let mut ok = self.cmp(CmpOp::Le, i64, int(0), len);
        for at in [from, final_] {
            let above = self.cmp(CmpOp::Le, i64, int(0), at);
            let below = self.cmp(CmpOp::Lt, i64, at, size.into());
            ok = self.and(ok, above);
            ok = self.and(ok, below);
        }
        let ok = self.or(empty, ok);
        let moving = self.not(zero);
        Checked {
            dim: range(from, len, stride),
            ok: self.and(moving, ok),
            shown: shown(start, end, Some(stride)),
        }
    }

    /// The part of an array; indices are in range.
    fn pick(&mut self, v: &Value<'a>, dims: &[SliceDim]) -> Value<'a> {
        let mut kept: Vec<Size> = Vec::new();
        for dim in dims {
            match dim {
                SliceDim::Fix(_) => {}
                SliceDim::Range { len, .. } => kept.push(*len),
            }
        }
        let elem = v
            .peel(dims.len())
            .map_leaves(&mut |leaf| self.pick_leaf(leaf, dims));
        if kept.is_empty() && dims.len() == v.dims().len() {
            return self.opened(&elem);
        }
        Value::array(&kept, elem)
    }

    pub(super) fn pick_leaf(&mut self, leaf: Leaf, dims: &[SliceDim]) -> Leaf {
        let Atom::Var(array) = leaf.atom else {
            return leaf;
        };
        let ty = slice_type(&self.vars[array].ty, dims);
        let indices: Option<Vec<Atom>> = dims
            .iter()
            .map(|dim| match dim {
                SliceDim::Fix(i) => Some(*i),
                SliceDim::Range { .. } => None,
            })
            .collect();
        let op = match indices {
            Some(indices) => ArrayOp::Index { array, indices },
            None => ArrayOp::Slice {
                array,
                dims: dims.to_vec(),
            },
        };
        let v = self.array_op("t", ty, op);
        self.alias(v, [leaf.atom]);
        Leaf {
            atom: Atom::Var(v),
            ..leaf
        }
    }
}

fn range(start: Atom, len: Atom, stride: Atom) -> SliceDim {
    SliceDim::Range {
        start,
        len: size_of_atom(len).unwrap_or(Size::Const(0)),
        stride,
    }
}

/// How a message shows a range.
fn shown(start: Option<Atom>, end: Option<Atom>, stride: Option<Atom>) -> Vec<MessagePart> {
    let mut parts: Vec<MessagePart> = start.map(value).into_iter().collect();
    parts.push(text(":"));
    parts.extend(end.map(value));
    if let Some(stride) = stride {
        parts.push(text(":"));
        parts.push(value(stride));
    }
    parts
}

/// The type of a part of an array.
fn slice_type(array: &Type, dims: &[SliceDim]) -> Type {
    let lens: Vec<Size> = dims
        .iter()
        .filter_map(|dim| match dim {
            SliceDim::Fix(_) => None,
            SliceDim::Range { len, .. } => Some(*len),
        })
        .collect();
    let row = array.peel(dims.len()).unwrap_or_else(|| array.clone());
    Type::array_of(&row, &lens)
}
