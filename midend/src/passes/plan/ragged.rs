//! Ragged arrays and spaces. A ragged array is a vector of elements in memory; where an element is in it follows from
//! offsets, which are loaded where they are needed and not known yet. A kernel over a ragged space knows where the rows
//! of its point start, so that it loads nothing to read or write arrays of the same offsets:
//!
//! ```text
//! let ys = segmap (i < n, j in offs) { let x = xs[i, j]; yield x * x }
//! ──►
//! launch map (i < n, j in offs from s) { let at = s + j; let x = load xs at; let y = x * x; store ys at y }
//! ```

use super::Cx;
use super::view::View;
use crate::ir::array::SliceDim;
use crate::ir::id::Var;
use crate::ir::mem::{Extent, KernelSpace, Mem};
use crate::ir::scalar::{BinOp, ScalarOp};
use crate::ir::seg::{SegSpace, SpaceDim};
use crate::ir::syntax::Atom;
use crate::ir::types::{Dim, ScalarType, Type, is_ragged};

/// The extent of a dimension of a ragged array.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Level {
    /// The same in every row.
    Regular(Atom),
    /// Where rows start, and the number of points.
    Ragged(Offsets),
}

/// A vector of offsets in memory.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Offsets {
    buffer: Var,
    first: Atom,
    stride: Atom,
}

impl Level {
    /// Every variable and constant that the level names.
    pub(super) fn atoms(&self) -> Vec<Atom> {
        match self {
            Self::Regular(n) => vec![*n],
            Self::Ragged(offsets) => vec![offsets.buffer.into(), offsets.first, offsets.stride],
        }
    }
}

impl Cx<'_> {
    /// Whether all that the shape of a type names can be used in the innermost frame.
    pub(super) fn shape_in_scope(&self, ty: &Type) -> bool {
        ty.shape().iter().all(|dim| match *dim {
            Dim::Size(size) => self.in_scope(self.atom(size.into())),
            Dim::Ragged(v) => self
                .views
                .get(&v)
                .is_some_and(|view| self.is_in_scope(view)),
        })
    }

    /// The dimensions of a ragged array; nothing for a regular one.
    pub(super) fn levels(&self, shape: &[Dim]) -> Option<Vec<Level>> {
        let level = |dim: &Dim| match *dim {
            Dim::Size(size) => Level::Regular(self.atom(size.into())),
            Dim::Ragged(v) => {
                let view = self.view(v);
                Level::Ragged(Offsets {
                    buffer: view.buffer,
                    first: view.offset,
                    stride: view.strides[0],
                })
            }
        };
        is_ragged(shape).then(|| shape.iter().map(level).collect())
    }

    /// The number of positions of dimensions, saturating.
    pub(super) fn positions(&mut self, levels: &[Level]) -> Atom {
        levels.iter().fold(Atom::ONE, |count, level| match level {
            Level::Regular(n) => self.count_product(count, *n),
            Level::Ragged(offsets) => self.offset_of(offsets, count),
        })
    }

    /// The offset of a row.
    fn offset_of(&mut self, offsets: &Offsets, row: Atom) -> Atom {
        let ahead = self.mul(row, offsets.stride);
        let index = self.add(offsets.first, ahead);
        if let Some(known) = self.known_load(offsets.buffer, index) {
            return known;
        }
        let start = self.fresh("start", Type::I64);
        let op = Mem::Load {
            buffer: offsets.buffer,
            index,
        };
        self.push_op(vec![start], op);
        self.know_load(offsets.buffer, index, start.into());
        start.into()
    }

    /// The position of leading indices among those of their dimensions.
    fn position_of(&mut self, levels: &[Level], indices: &[Atom]) -> Atom {
        let mut at = Atom::ZERO;
        for (level, &i) in levels.iter().zip(indices) {
            let start = match level {
                Level::Regular(n) => self.mul(at, *n),
                Level::Ragged(offsets) => self.offset_of(offsets, at),
            };
            at = self.add(start, i);
        }
        at
    }

    /// The element or regular row of a ragged array at indices that reach beyond the last ragged dimension.
    pub(super) fn ragged_row(&mut self, view: &View, levels: &[Level], indices: &[Atom]) -> View {
        let inner = &levels[indices.len()..];
        let at = self.position_of(levels, indices);
        let size = inner.iter().fold(Atom::ONE, |size, level| match level {
            Level::Regular(n) => self.mul(size, *n),
            Level::Ragged(offsets) => self.offset_of(offsets, size),
        });
        let ahead = self.mul(at, size);
        let offset = self.add(view.offset, ahead);
        let shape = inner.iter().flat_map(Level::atoms).collect();
        self.dense_view(view.buffer, view.elem, offset, shape)
    }

    /// A row of a ragged array, of the shape that its type states.
    pub(super) fn row_of_type(
        &mut self,
        view: &View,
        levels: &[Level],
        indices: &[Atom],
        shape: Vec<Atom>,
    ) -> View {
        let inner = &levels[indices.len()..];
        if inner.iter().all(|level| matches!(level, Level::Regular(_))) {
            return self.ragged_row(view, levels, indices);
        }
        let row = self.position_of(levels, indices);
        let start = inner.iter().fold(row, |at, level| match level {
            Level::Regular(n) => self.mul(at, *n),
            Level::Ragged(offsets) => self.offset_of(offsets, at),
        });
        let offset = self.add(view.offset, start);
        self.dense_view(view.buffer, view.elem, offset, shape)
    }

    /// A part of a ragged array: an element, or a part of a regular row.
    pub(super) fn ragged_slice(
        &mut self,
        view: &View,
        levels: &[Level],
        dims: &[SliceDim],
    ) -> View {
        let fixed = dims.iter().map_while(|dim| match *dim {
            SliceDim::Fix(i) => Some(i),
            SliceDim::Range { .. } => None,
        });
        let fixed: Vec<Atom> = fixed.map(|i| self.atom(i)).collect();
        let row = self.ragged_row(view, levels, &fixed);
        self.slice(&row, &dims[fixed.len()..])
    }

    /// A ragged array as rows over its outer `outer` dimensions, seen as one.
    pub(super) fn as_rows(&mut self, view: &View, outer: usize) -> View {
        let Some(levels) = view.levels.clone() else {
            return view.clone();
        };
        let mut shape = vec![self.positions(&levels[..outer])];
        shape.extend(levels[outer..].iter().flat_map(Level::atoms));
        self.dense_view(view.buffer, view.elem, view.offset, shape)
    }

    /// The space of a kernel. Offsets of ragged dimensions are at the start of their buffers.
    pub(super) fn space(&mut self, space: &SegSpace) -> KernelSpace {
        let mut dims = KernelSpace::new();
        for &(index, dim) in &space.dims {
            let extent = match dim {
                SpaceDim::Regular(size) => Extent::Regular(self.atom(size.into())),
                SpaceDim::Ragged { offsets } => {
                    let view = self.view(offsets);
                    let offsets = self.whole(&view).buffer;
                    let start = self.fresh("start", Type::I64);
                    Extent::Ragged { offsets, start }
                }
            };
            dims.push((index, extent));
        }
        dims
    }

    /// Brings the indices of a space into scope, and where the rows of the point start.
    pub(super) fn enter_space(&mut self, space: &KernelSpace) {
        for (index, extent) in space {
            self.define(*index);
            match extent {
                Extent::Regular(_) => {}
                Extent::Ragged { start, .. } => self.define(*start),
            }
        }
        let ragged = |(_, extent): &(Var, Extent)| matches!(extent, Extent::Ragged { .. });
        let last = space.iter().rposition(ragged).unwrap_or(0);
        let mut at = Atom::ZERO;
        for (index, extent) in &space[..last] {
            at = self.step_into(at, (*index).into(), extent);
        }
        if let Some((_, Extent::Ragged { offsets, start })) = space.get(last) {
            self.know_load(*offsets, at, (*start).into());
        }
    }

    /// The position of a point, given that of its row, whose start is bound.
    pub(super) fn step_into(&mut self, row: Atom, index: Atom, extent: &Extent) -> Atom {
        let start = match *extent {
            Extent::Regular(n) => self.mul(row, n),
            Extent::Ragged { offsets, start } => {
                self.know_load(offsets, row, start.into());
                start.into()
            }
        };
        self.add(start, index)
    }

    /// The number of points in the row at a position; binds where the row starts.
    pub(super) fn row_length(&mut self, row: Atom, extent: &Extent) -> Atom {
        match *extent {
            Extent::Regular(n) => n,
            Extent::Ragged { offsets, start } => {
                let load = |index| Mem::Load {
                    buffer: offsets,
                    index,
                };
                self.push_op(vec![start], load(row));
                self.know_load(offsets, row, start.into());
                let next = self.add(row, Atom::ONE);
                let end = self.fresh("end", Type::I64);
                self.push_op(vec![end], load(next));
                let sub = ScalarOp::Bin(BinOp::Sub, ScalarType::I64);
                self.scalar("length", sub, vec![end.into(), start.into()])
            }
        }
    }
}
