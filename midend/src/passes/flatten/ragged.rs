//! Widths that differ from point to point: dimensions of a context whose rows begin at *offsets*.
//!
//! ```text
//! map (\i -> reduce (+) 0 (iota i)) is
//! ──►
//! ends = segscan (i < n) { max is[i] 0 } (+)          offs = concat [0] ends
//! segred (i < n, j in offs) { j } (+)
//! ```
//!
//! The offsets of a size are computed once for a context; equal sizes share them, and so do the arrays of that length
//! (segment descriptors of *Shapes and Flattening*, section 5). A negative size has no points: the check that forbids it
//! is made by itself.

use super::context::{Axis, Def, Point, dims, space};
use super::{Cx, Mode, bin, int};
use crate::fired::fired;
use crate::ir::array::{ArrayOp, SliceDim};
use crate::ir::id::Var;
use crate::ir::scalar::{BinOp, CmpOp, Const, ScalarOp};
use crate::ir::seg::{Seg, SegKind};
use crate::ir::syntax::{Atom, Exp, Message, MessagePart, Stm, TrapKind};
use crate::ir::types::{ArrayType, ScalarType, Size, Type, is_ragged};
use crate::trap::TOO_LARGE;

/// What offsets are for: a size inside of a context.
pub(super) type Rows = (Atom, Vec<Axis>);

/// The rows of a flat map of host code.
#[derive(Clone, Copy, PartialEq)]
pub(super) struct FlatRows {
    /// Where they begin.
    pub(super) offsets: Var,
    /// How many there are.
    pub(super) count: Size,
}

impl Cx<'_> {
    /// The dimension that a width makes inside of a context.
    pub(super) fn axis(&mut self, width: Size, context: &[Axis], out: &mut Vec<Stm<Seg>>) -> Axis {
        match width {
            Size::Var(v) if !context.is_empty() && !self.labels.regular(v) => {
                Axis::Ragged(self.offsets(v, context, out))
            }
            Size::Var(_) | Size::Const(_) => Axis::Regular(self.size(width)),
        }
    }

    /// The type of an array that holds values of a type, as the source has it, at all points of a context.
    pub(super) fn type_over(
        &mut self,
        ty: &Type,
        context: &[Axis],
        out: &mut Vec<Stm<Seg>>,
    ) -> Type {
        let Some(elem) = ty.elem() else {
            return ty.clone();
        };
        let mut whole = context.to_vec();
        for dim in ty.shape() {
            let axis = match dim.size() {
                Some(size) => self.axis(size, &whole, out),
                None => Axis::from(*dim),
            };
            whole.push(axis);
        }
        let shape = dims(&whole);
        if shape.is_empty() {
            return Type::Scalar(elem);
        }
        Type::Array(ArrayType { elem, shape })
    }

    /// The offsets of rows whose lengths are a variable's values at all points of a context.
    fn offsets(&mut self, length: Var, context: &[Axis], out: &mut Vec<Stm<Seg>>) -> Var {
        let rows = (self.labels.same(length), context.to_vec());
        if let Some(&known) = self.offsets.get(&rows) {
            fired("flatten/shared-offsets");
            return known;
        }
        if let Some(known) = self.offsets_of_flat_map(length, context) {
            self.offsets_log.push(rows.clone());
            self.offsets.insert(rows, known);
            return known;
        }
        fired("flatten/offsets");
        let mut point = self.point(context);
        let clamped = !self.as_they_are.contains(&length);
        let mut length = self.need_atom(&mut point, length.into());
        if clamped {
            let args = vec![length, int(0)];
            length = self.scalar(&mut point.stms, "length", bin(BinOp::Max), args);
        }
        let sum = self.sum_of_lengths();
        let (count, length) = match *space(context) {
            [Axis::Regular(n) | Axis::Chosen { count: n, .. }] => (n, length),
            _ => {
                let ty = self.type_over(&Type::I64, context, out);
                let lengths = self.fresh("lengths", ty);
                self.kernel(point, vec![length], SegKind::Map, vec![lengths], out);
                let (count, lengths) = self.flat(lengths, space(context).len(), out);
                point = self.point(&[Axis::Regular(count)]);
                let length = self.element(&mut point.stms, lengths, point.dims[0].0);
                (count, length.map_or(int(0), Atom::from))
            }
        };
        // How many there are is known before, so that the sums can be put behind the zero at once.
        let len = self.scalar(out, "rows", bin(BinOp::Add), vec![count.into(), int(1)]);
        let len = Size::of(len);
        let ends = self.fresh("ends", Type::array_of(&Type::I64, &[count]));
        let kind = SegKind::Scan(vec![sum]);
        self.kernel(point, vec![length], kind, vec![ends], out);
        let zero = ArrayOp::Literal {
            elems: vec![int(0)],
            row: Type::I64,
        };
        let ty = Type::array_of(&Type::I64, &[Size::Const(1)]);
        let zero = self.array(out, "zero", ty, zero);
        let ty = Type::array_of(&Type::I64, &[len]);
        let arrays = vec![zero, ends];
        let offsets = self.array(out, "offs", ty, ArrayOp::Concat { arrays, len });
        self.offsets_log.push(rows.clone());
        self.offsets.insert(rows, offsets);
        offsets
    }

    /// The offsets of a flat map of host code, if the length of each of its rows is read again.
    fn offsets_of_flat_map(&self, length: Var, context: &[Axis]) -> Option<Var> {
        let [Axis::Regular(points)] = context else {
            return None;
        };
        let elem = |v: Var| match self.env.get(&v)? {
            Def::Elem { array, depth: 1 } => Some(self.var(*array)),
            Def::Elem { .. } | Def::Stored { .. } | Def::Again(_) | Def::Pending => None,
        };
        let known = match self.env.get(&length)? {
            Def::Elem { .. } => self.row_offsets.get(&elem(length)?).copied()?,
            Def::Again(stm) => {
                let Exp::Scalar(ScalarOp::Bin(BinOp::Sub, _), args) = &stm.exp else {
                    return None;
                };
                let mark = |a: Atom| self.marks.get(&elem(a.as_var()?)?).copied();
                let ((ends, 1), (starts, 0)) = (mark(args[0])?, mark(args[1])?) else {
                    return None;
                };
                (starts == ends).then_some(starts)?
            }
            Def::Stored { .. } | Def::Pending => return None,
        };
        // Whoever goes through some of them has offsets of its own.
        if known.count != *points {
            return None;
        }
        fired("flatten/offsets-of-a-flat-map");
        Some(known.offsets)
    }

    /// Notes where parts of a flat map's offsets are.
    pub(super) fn note_marks(&mut self, op: &ArrayOp, binds: &[Var], mode: Mode) {
        let ArrayOp::Slice { array, dims } = op else {
            return;
        };
        let &[
            SliceDim::Range {
                start: Atom::Const(Const::I64(start)),
                stride: Atom::ONE,
                ..
            },
        ] = &dims[..]
        else {
            return;
        };
        if let (Some(&(rows, 0)), Mode::Host, &[bind]) = (self.marks.get(array), mode, binds) {
            self.marks.insert(bind, (rows, start));
        }
    }

    /// The same for an array under another name, which certificates may have given it.
    pub(super) fn note_same_marks(&mut self, array: Atom, binds: &[Var], mode: Mode) {
        let (Atom::Var(array), Mode::Host, &[bind]) = (array, mode, binds) else {
            return;
        };
        if let Some(&known) = self.marks.get(&array) {
            self.marks.insert(bind, known);
        }
        if let Some(&known) = self.row_offsets.get(&array) {
            self.row_offsets.insert(bind, known);
        }
    }

    /// Forgets the offsets that were computed since there were so many.
    pub(super) fn forget_offsets(&mut self, since: usize) {
        for rows in self.offsets_log.drain(since..) {
            self.offsets.remove(&rows);
        }
    }

    /// An array over dimensions, the outer ones seen as a single one; and the extent of that.
    pub(super) fn flat(
        &mut self,
        array: Var,
        outer: usize,
        out: &mut Vec<Stm<Seg>>,
    ) -> (Size, Var) {
        let shape = &self.vars[array].ty.shape()[..outer];
        let context: Vec<Axis> = shape.iter().map(|&dim| dim.into()).collect();
        let count = Size::of(self.points(&context, out));
        (count, self.flat_to(count, array, outer, out))
    }

    /// An array over dimensions, the outer ones seen as a single one of this extent.
    pub(super) fn flat_to(
        &mut self,
        count: Size,
        array: Var,
        outer: usize,
        out: &mut Vec<Stm<Seg>>,
    ) -> Var {
        let (elem, shape) = match &self.vars[array].ty {
            Type::Array(ty) => (ty.elem, ty.shape.clone()),
            Type::Scalar(_) | Type::Acc(_) | Type::Buffer(_) | Type::Cert => {
                unreachable!("an array over a context")
            }
        };
        let mut inner = shape[outer..].to_vec();
        inner.insert(0, count.into());
        let ty = Type::Array(ArrayType {
            elem,
            shape: inner.clone(),
        });
        let op = ArrayOp::Reshape {
            shape: inner,
            array,
        };
        self.array(out, "flat", ty, op)
    }

    /// Binds an array with the elements of another, in the same order.
    pub(super) fn reshape_into(&mut self, bind: Var, mut array: Var, out: &mut Vec<Stm<Seg>>) {
        let shape = self.vars[bind].ty.shape().to_vec();
        let (rank, ragged) = {
            let ty = &self.vars[array].ty;
            (ty.rank(), is_ragged(ty.shape()))
        };
        if rank > 1 && (ragged || is_ragged(&shape)) {
            array = self.flat(array, rank, out).1;
        }
        let op = ArrayOp::Reshape { shape, array };
        self.push(out, vec![bind], Exp::Op(Seg::Array(op)));
    }

    /// The number of points of a context.
    pub(super) fn points(&mut self, context: &[Axis], out: &mut Vec<Stm<Seg>>) -> Atom {
        let mut points = Atom::ONE;
        for &axis in space(context) {
            points = match (points, axis) {
                (Atom::ONE, Axis::Regular(size) | Axis::Chosen { count: size, .. }) => size.into(),
                (points, Axis::Regular(Size::Const(1))) => points,
                (points, Axis::Regular(size) | Axis::Chosen { count: size, .. }) => {
                    self.scalar(out, "points", bin(BinOp::Mul), vec![points, size.into()])
                }
                (points, Axis::Ragged(array)) => {
                    let indices = vec![points];
                    let op = ArrayOp::Index { array, indices };
                    self.array(out, "points", Type::I64, op).into()
                }
            };
        }
        points
    }

    /// Fails if the points of a context of host code, which become an array, are more than can be counted.
    pub(super) fn check_points(&mut self, context: &[Axis], out: &mut Vec<Stm<Seg>>) {
        let (mut points, mut factors) = (Atom::ONE, 0);
        for &axis in space(context) {
            points = match axis {
                Axis::Regular(Size::Const(1)) => continue,
                Axis::Regular(size) | Axis::Chosen { count: size, .. } => {
                    let args = vec![points, size.into()];
                    self.scalar(out, "points", bin(BinOp::MulSat), args)
                }
                Axis::Ragged(_) => self.points(context, out),
            };
            factors += 1;
        }
        if factors < 2 {
            return;
        }
        let lt = ScalarOp::Cmp(CmpOp::Lt, ScalarType::I64);
        let cond = self.scalar(out, "fits", lt, vec![points, int(i64::MAX)]);
        let cert = self.fresh("ok", Type::Cert);
        let message = Message {
            kind: TrapKind::Memory,
            parts: vec![MessagePart::Text(TOO_LARGE.to_owned())],
        };
        self.push(out, vec![cert], Exp::Assert { cond, message });
    }

    /// The number of a point of a kernel among those of a context, row-major.
    pub(super) fn row(&mut self, point: &mut Point, context: &[Axis]) -> Atom {
        let mut at = int(0);
        for (&axis, index) in space(context).iter().zip(self.outer(point, context.len())) {
            let start = self.step(point, at, axis);
            at = if start == int(0) {
                index
            } else {
                self.scalar(&mut point.stms, "row", bin(BinOp::Add), vec![start, index])
            };
        }
        at
    }

    /// The number of the first point in a row.
    pub(super) fn step(&mut self, point: &mut Point, row: Atom, axis: Axis) -> Atom {
        match axis {
            Axis::Regular(_) | Axis::Chosen { .. } if row == int(0) => row,
            Axis::Regular(n) | Axis::Chosen { count: n, .. } => {
                let args = vec![row, n.into()];
                self.scalar(&mut point.stms, "row", bin(BinOp::Mul), args)
            }
            Axis::Ragged(array) => {
                let indices = vec![row];
                let op = ArrayOp::Index { array, indices };
                self.array(&mut point.stms, "start", Type::I64, op).into()
            }
        }
    }

    /// Whether a context has no points, for the host.
    pub(super) fn is_empty(&mut self, context: &[Axis], out: &mut Vec<Stm<Seg>>) -> Atom {
        let le = ScalarOp::Cmp(CmpOp::Le, ScalarType::I64);
        let or = ScalarOp::Bin(BinOp::Or, ScalarType::Bool);
        if context.iter().any(|axis| matches!(axis, Axis::Ragged(_))) {
            let points = self.points(context, out);
            return self.scalar(out, "empty", le, vec![points, int(0)]);
        }
        let mut empty: Option<Atom> = None;
        for &axis in space(context) {
            let none = match axis {
                Axis::Regular(Size::Const(n)) => Atom::bool(n <= 0),
                Axis::Regular(n @ Size::Var(_)) | Axis::Chosen { count: n, .. } => {
                    self.scalar(out, "empty", le, vec![n.into(), Atom::ZERO])
                }
                Axis::Ragged(_) => continue,
            };
            empty = Some(match (empty, none.as_bool()) {
                (None, _) => none,
                (Some(empty), Some(false)) => empty,
                (Some(_), Some(true)) => none,
                (Some(empty), None) => self.scalar(out, "empty", or, vec![empty, none]),
            });
        }
        empty.unwrap_or(Atom::bool(false))
    }

    /// Fetches a scalar from the first of the points that have computed it: it is the same for all.
    pub(super) fn take_first(&mut self, var: Var, array: Var, out: &mut Vec<Stm<Seg>>) {
        fired("flatten/fetched-from-first");
        let (count, flat) = self.flat(array, self.vars[array].ty.rank(), out);
        let first = self.first_element(flat.into(), count, out);
        self.subst.set(var, Some(first));
        self.env.remove(&var);
    }

    /// Fetches a variable that is stored for all points, if it is the same for all.
    pub(super) fn fetch_stored(&mut self, var: Var, out: &mut Vec<Stm<Seg>>) {
        if let (true, Some(&Def::Stored { array, .. })) =
            (self.labels.is_fetched(var), self.env.get(&var))
        {
            self.take_first(var, array, out);
        }
    }

    /// Whether the lengths of an array's rows differ from point to point.
    pub(super) fn varies(&self, atom: Atom) -> bool {
        let mut varies = false;
        if let Atom::Var(v) = atom {
            crate::ir::walk::type_vars(&self.vars[v].ty, &mut |n| {
                varies |= !self.labels.regular(n);
            });
        }
        varies
    }

    /// Whether a variable is an array whose lengths differ from point to point and that can be stored for all of them.
    pub(super) fn is_row(&self, v: Var) -> bool {
        self.varies(v.into()) && !self.labels.irregular(v)
    }

    /// Whether the rows of two arrays begin at the same offsets.
    pub(super) fn same_rows(&self, a: Var, b: Var) -> bool {
        let (a, b) = (self.vars[a].ty.shape(), self.vars[b].ty.shape());
        let mut dims = a.iter().zip(b);
        dims.all(|(a, b)| a.offsets() == b.offsets())
    }

    /// A context with the own dimensions of what an array over it holds.
    pub(super) fn around(&self, context: &[Axis], array: Var) -> Vec<Axis> {
        let own = self.vars[array].ty.shape()[space(context).len()..].iter();
        let own = own.map(|&dim| Axis::from(dim));
        context.iter().copied().chain(own).collect()
    }

    /// Copies an array of varying length at all points of a context into an array over it: a map over all elements.
    pub(super) fn spread(
        &mut self,
        context: &[Axis],
        value: Var,
        bind: Var,
        out: &mut Vec<Stm<Seg>>,
    ) {
        fired("flatten/spread");
        let outer = space(context).len();
        let whole = self.around(context, bind);
        let mut point = self.point(&whole);
        self.need(&mut point, value);
        let inner = point.all()[outer..].to_vec();
        let array = self.var(value);
        let elem = self.element_at(array, &inner, &mut point);
        self.kernel(point, vec![elem], SegKind::Map, vec![bind], out);
    }
}
