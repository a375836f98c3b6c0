//! Adjoints of elements. Where code reads an element of an array that it is inside of the same parallel operations as, the adjoint is added to that of the array in place.
//! Inside of further parallel operations that would be a race, and an array of zeros for each point would cost more than the
//! program does: there the index and the adjoint become results of the operation (a *piece*), and where the array is at home all
//! of them are added by a histogram. How many there are may be found inside, as in a loop of so many iterations as a point says: then they leave as lists, which
//! a flat map joins. Its order of additions is that of every histogram, so that gradients are as deterministic.

use super::Derive;
use super::adjoint::map_of;
use crate::fired::fired;
use crate::hash::HashSet;
use crate::ir::array::{ArrayOp, SliceDim};
use crate::ir::id::Var;
use crate::ir::scalar::BinOp;
use crate::ir::soac::{HistOp, Soac};
use crate::ir::syntax::{Atom, Body, Exp};
use crate::ir::types::{Dim, ScalarType, Size, Type};
use crate::ir::walk;

/// Adjoints of elements or rows of an array.
#[derive(Clone)]
pub(super) struct Piece {
    pub array: Var,
    /// How many there are, in the dimensions of the operations that they come from.
    pub dims: Vec<Size>,
    /// For each of the leading dimensions of the array, indices in these dimensions; what is out of range is none.
    pub indices: Vec<Atom>,
    /// Elements or rows in these dimensions.
    pub value: Atom,
}

/// The elements of an array of which the adjoint is made in place rather than of a list of unknown length.
const SMALL: i64 = 64;

/// Pieces that leave a body: those of which there are as many as is known outside, and lists of lengths that are found inside.
#[derive(Default)]
pub(super) struct Leaving {
    pub known: Vec<Piece>,
    pub found: Vec<Piece>,
}

impl Derive<'_> {
    /// What is free in bodies and may have an adjoint; of a row that is read by index the array, too, to whose adjoint that of the row's elements is added.
    pub(super) fn active_in<'b>(
        &self,
        bodies: impl IntoIterator<Item = &'b Body<Soac>>,
    ) -> Vec<Var> {
        let mut seen = HashSet::default();
        let mut active = Vec::new();
        for body in bodies {
            for v in walk::free_in_body(self.vars, body) {
                let mut next = Some(v);
                while let Some(v) = next.filter(|v| self.back.active.contains(v)) {
                    if !seen.insert(v) {
                        break;
                    }
                    active.push(v);
                    next = self.back.views.get(&v).map(|(array, _)| *array);
                }
            }
        }
        active
    }

    /// The array, and the indices of an element or row of it, of which a row by index is a part.
    pub(super) fn behind_views(&self, array: Var, indices: &[Atom]) -> (Var, Vec<Atom>) {
        let (mut array, mut indices) = (array, indices.to_vec());
        while let Some((of, first)) = self.back.views.get(&array) {
            array = *of;
            indices.splice(0..0, first.iter().copied());
        }
        (array, indices)
    }

    /// Adds to the adjoint of an element or row.
    pub(super) fn add_at(&mut self, array: Var, indices: &[Atom], value: Atom) {
        if !self.back.active.contains(&array) {
            return;
        }
        let (array, indices) = self.behind_views(array, indices);
        let Some(row) = self.vars[array].ty.peel(indices.len()) else {
            return;
        };
        let value = self.fit(value, &row);
        if self.is_local(array) {
            let sum = self.updatable(array);
            let before = self.index(sum, &indices);
            let value = self.plus(before.into(), value);
            let dims = indices.iter().map(|i| SliceDim::Fix(*i)).collect();
            let op = ArrayOp::Update {
                array: sum,
                dims,
                value,
            };
            let sum = self.array_op("adj", op);
            return self.set(array, sum);
        }
        fired("derivatives/element-from-outside");
        self.back.pieces.push(Piece {
            array,
            dims: Vec::new(),
            indices,
            value,
        });
    }

    /// Adds to the adjoint of a part.
    pub(super) fn add_to_part(&mut self, array: Var, dims: &[SliceDim], value: Atom) {
        if !self.back.active.contains(&array) {
            return;
        }
        let ranges = dims.iter().filter(|d| matches!(d, SliceDim::Range { .. }));
        if ranges.count() == 1 && !self.is_local(array) {
            let Some(len) = dims.iter().find_map(|d| match d {
                SliceDim::Range { len, .. } => Some(*len),
                SliceDim::Fix(_) => None,
            }) else {
                return;
            };
            let indices = dims.iter().map(|dim| {
                let op = match *dim {
                    SliceDim::Fix(value) => ArrayOp::Replicate {
                        shape: vec![Dim::Size(len)],
                        value,
                    },
                    SliceDim::Range { start, len, stride } => ArrayOp::Iota {
                        len,
                        start,
                        step: stride,
                        ty: ScalarType::I64,
                    },
                };
                Atom::Var(self.array_op("at", op))
            });
            let indices = indices.collect();
            return self.back.pieces.push(Piece {
                array,
                dims: vec![len],
                indices,
                value,
            });
        }
        let sum = self.updatable(array);
        let part = ArrayOp::Slice {
            array: sum,
            dims: dims.to_vec(),
        };
        let part = self.array_op("part", part);
        let value = self.fit(value, &self.vars[part].ty.clone());
        let value = self.plus(part.into(), value);
        let op = ArrayOp::Update {
            array: sum,
            dims: dims.to_vec(),
            value,
        };
        let sum = self.array_op("adj", op);
        self.set(array, sum);
    }

    /// The type of the values of a piece.
    pub(super) fn value_type(&self, piece: &Piece) -> Type {
        let row = self.vars[piece.array].ty.peel(piece.indices.len());
        Type::array_of(&row.unwrap_or(Type::I64), &piece.dims)
    }

    /// The pieces since `from`, which leave the current body.
    pub(super) fn leaving(&mut self, from: usize, params: &[Var]) -> Leaving {
        let mut bound: HashSet<Var> = params.iter().copied().collect();
        bound.extend(self.stms.iter().flat_map(|stm| stm.binds.iter().copied()));
        let mut leaving = Leaving::default();
        for piece in self.back.pieces.split_off(from) {
            let inside = |size: &Size| matches!(size, Size::Var(v) if bound.contains(v));
            if !piece.dims.iter().any(inside) {
                leaving.known.push(piece);
            } else if self.is_small(piece.array) {
                self.add_piece(piece);
            } else {
                fired("derivatives/pieces-of-any-number");
                leaving.found.extend(self.as_list(piece));
            }
        }
        leaving
    }

    /// Whether an array has so few elements that one of zeros costs less than a list of what is added to it.
    fn is_small(&self, array: Var) -> bool {
        let shape = self.vars[array].ty.shape().iter();
        let extents: Option<Vec<i64>> = shape
            .map(|dim| match dim.size() {
                Some(Size::Const(n)) => Some(n),
                Some(Size::Var(_)) | None => None,
            })
            .collect();
        extents.is_some_and(|extents| extents.iter().product::<i64>() <= SMALL)
    }

    /// A piece with one dimension.
    fn as_list(&mut self, mut piece: Piece) -> Option<Piece> {
        let mut count = Atom::from(*piece.dims.first()?);
        for dim in &piece.dims[1..] {
            count = self.int(BinOp::Mul, count, *dim);
        }
        let dims = vec![count.as_size()?];
        let row = self.vars[piece.array].ty.peel(piece.indices.len())?;
        let at = Type::array_of(&Type::I64, &dims);
        for index in &mut piece.indices {
            *index = self.fit(*index, &at);
        }
        piece.value = self.fit(piece.value, &Type::array_of(&row, &dims));
        piece.dims = dims;
        Some(piece)
    }

    /// What becomes of a piece outside of the operation that it comes from.
    pub(super) fn arrived(&mut self, piece: Piece) {
        if self.is_local(piece.array) {
            self.add_piece(piece);
        } else {
            self.back.pieces.push(piece);
        }
    }

    /// Adds a piece to the adjoint of its array.
    fn add_piece(&mut self, mut piece: Piece) {
        fired("derivatives/histogram-of-elements");
        let sum = self.updatable(piece.array);
        if piece.dims.is_empty() {
            let one = [Size::Const(1)];
            for index in &mut piece.indices {
                *index = self.replicate(&one, *index).into();
            }
            piece.value = self.replicate(&one, piece.value).into();
            piece.dims = one.to_vec();
        }
        let rank = piece.indices.len();
        let Some(row) = self.vars[piece.array].ty.peel(rank) else {
            return;
        };
        let mut count = Atom::from(piece.dims[0]);
        for dim in &piece.dims[1..] {
            count = self.int(BinOp::Mul, count, *dim);
        }
        let Some(width) = count.as_size() else { return };
        let mut arrays = Vec::new();
        let mut types = Vec::new();
        for (k, atom) in piece.indices.iter().chain([&piece.value]).enumerate() {
            let ty = if k < rank { Type::I64 } else { row.clone() };
            let flat = Type::array_of(&ty, &[width]);
            arrays.extend(self.fit(*atom, &flat).as_var());
            types.push(ty);
        }
        let shape = self.vars[piece.array].ty.shape()[..rank].iter();
        let shape: Vec<Size> = shape.filter_map(|dim| dim.size()).collect();
        let op = self.addition(&row);
        let params: Vec<Var> = types.into_iter().map(|ty| self.fresh("x", ty)).collect();
        let lam = self.lambda_of(params, |_, p| p.iter().map(|v| Atom::Var(*v)).collect());
        let result = self.like(piece.array);
        let op = Soac::Hist {
            width,
            arrays,
            lam,
            ops: vec![HistOp {
                shape,
                dests: vec![sum],
                op,
            }],
        };
        self.push(vec![result], Exp::Op(op));
        self.set(piece.array, result);
    }

    /// A map over positions: an array whose elements are computed from their index.
    pub(super) fn tabulate(
        &mut self,
        width: Size,
        types: &[Type],
        f: impl FnOnce(&mut Self, Atom) -> Vec<Atom>,
    ) -> Vec<Var> {
        let iota = self.iota(width);
        let i = self.fresh("i", Type::I64);
        let lam = self.lambda_of(vec![i], |t, p| f(t, p[0].into()));
        let mut binds = Vec::new();
        for ty in types {
            binds.push(self.fresh("y", Type::array_of(ty, &[width])));
        }
        self.push(binds.clone(), Exp::Op(map_of(width, vec![iota], lam)));
        self.back.owned.extend(binds.iter().copied());
        binds
    }
}
