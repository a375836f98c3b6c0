//! Views: where the elements of an array are.

use super::Cx;
use super::ragged::Level;
use crate::ir::array::SliceDim;
use crate::ir::id::Var;
use crate::ir::mem::Region;
use crate::ir::syntax::Atom;
use crate::ir::types::ScalarType;

/// An array in memory: element (i0, i1, ..) is at `offset + i0*strides[0] + ..` of the buffer.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct View {
    pub(super) buffer: Var,
    pub(super) elem: ScalarType,
    pub(super) offset: Atom,
    pub(super) shape: Vec<Atom>,
    pub(super) strides: Vec<Atom>,
    /// Known to be row-major without gaps.
    pub(super) dense: bool,
    /// The dimensions of a ragged array, of which `shape` and `strides` are those of the vector of its elements.
    pub(super) levels: Option<Vec<Level>>,
}

impl View {
    /// Whether both are the same array, but for how much of it there is.
    pub(super) fn equals(&self, other: &Self) -> bool {
        self.same(other) && self.levels == other.levels
    }

    /// Whether both are the same elements in the same order.
    pub(super) fn same(&self, other: &Self) -> bool {
        self.buffer == other.buffer && self.offset == other.offset && self.strides == other.strides
    }

    /// Where it begins and how it goes on, whatever its extents.
    pub(super) fn start(&self) -> Self {
        Self {
            shape: Vec::new(),
            ..self.clone()
        }
    }

    pub(super) fn region(&self) -> Region {
        Region {
            buffer: self.buffer,
            offset: self.offset,
            strides: self.strides.clone(),
        }
    }

    /// Every atom that the view names, but the buffer.
    pub(super) fn atoms(&self) -> impl Iterator<Item = Atom> + '_ {
        let rest = self.shape.iter().chain(&self.strides).copied();
        let levels = self.levels.iter().flatten().flat_map(Level::atoms);
        std::iter::once(self.offset).chain(rest).chain(levels)
    }

    /// The dimensions in another order: dimension `i` of the result is dimension `perm[i]`.
    pub(super) fn rearranged(&self, perm: &[usize]) -> Self {
        Self {
            shape: perm.iter().map(|&p| self.shape[p]).collect(),
            strides: perm.iter().map(|&p| self.strides[p]).collect(),
            dense: self.dense && perm.iter().enumerate().all(|(i, &p)| i == p),
            ..self.clone()
        }
    }
}

impl Cx<'_> {
    /// The shape of a regular array variable.
    pub(super) fn shape_of(&self, var: Var) -> Vec<Atom> {
        let sizes = self.vars[var].ty.shape().iter().filter_map(|d| d.size());
        sizes.map(|size| self.atom(size.into())).collect()
    }

    /// The array `var` as it is when it lies row-major in a buffer, from an offset on.
    pub(super) fn placed(&mut self, var: Var, buffer: Var, elem: ScalarType, offset: Atom) -> View {
        let levels = self.levels(self.vars[var].ty.shape());
        let shape = match &levels {
            Some(levels) => vec![self.positions(levels)],
            None => self.shape_of(var),
        };
        let view = self.dense_view(buffer, elem, offset, shape);
        View { levels, ..view }
    }

    /// New memory for the array `var`, row-major.
    pub(super) fn room_for(&mut self, var: Var) -> View {
        let elem = self.vars[var].ty.elem().unwrap_or(ScalarType::I64);
        let levels = self.levels(self.vars[var].ty.shape());
        let shape = match &levels {
            Some(levels) => vec![self.positions(levels)],
            None => self.shape_of(var),
        };
        let view = self.new_array(elem, shape);
        View { levels, ..view }
    }

    /// The row-major strides of a shape.
    pub(super) fn row_major(&mut self, shape: &[Atom]) -> Vec<Atom> {
        let mut strides = vec![Atom::ONE; shape.len()];
        for d in (1..shape.len()).rev() {
            strides[d - 1] = self.mul(shape[d], strides[d]);
        }
        strides
    }

    /// The number of elements of a shape, saturating. An extent of zero makes it zero, however large the others are.
    pub(super) fn count(&mut self, shape: &[Atom]) -> Atom {
        shape
            .iter()
            .rev()
            .fold(Atom::ONE, |product, &n| self.count_product(n, product))
    }

    /// The row-major view of a buffer from an offset on.
    pub(super) fn dense_view(
        &mut self,
        buffer: Var,
        elem: ScalarType,
        offset: Atom,
        shape: Vec<Atom>,
    ) -> View {
        let strides = self.row_major(&shape);
        View {
            buffer,
            elem,
            offset,
            shape,
            strides,
            dense: true,
            levels: None,
        }
    }

    /// New memory for an array, row-major.
    pub(super) fn new_array(&mut self, elem: ScalarType, shape: Vec<Atom>) -> View {
        let len = self.count(&shape);
        let buffer = self.alloc(elem, len);
        self.dense_view(buffer, elem, Atom::ZERO, shape)
    }

    /// Where the array is.
    ///
    /// # Panics
    /// If it is not bound yet, which the verifier excludes.
    pub(super) fn view(&self, var: Var) -> View {
        self.views
            .get(&var)
            .cloned()
            .expect("arrays are bound before they are used")
    }

    /// The index of an element in the buffer.
    pub(super) fn position(&mut self, view: &View, indices: &[Atom]) -> Atom {
        let mut at = view.offset;
        for (&i, &stride) in indices.iter().zip(&view.strides) {
            let part = self.mul(i, stride);
            at = self.add(at, part);
        }
        at
    }

    /// The row at leading indices.
    pub(super) fn row(&mut self, view: &View, indices: &[Atom]) -> View {
        if let Some(levels) = &view.levels {
            return self.ragged_row(view, levels, indices);
        }
        let offset = self.position(view, indices);
        let k = indices.len();
        View {
            offset,
            shape: view.shape[k..].to_vec(),
            strides: view.strides[k..].to_vec(),
            ..view.clone()
        }
    }

    /// `len` rows from an index on.
    pub(super) fn rows(&mut self, view: &View, from: Atom, len: Atom) -> View {
        let mut rows = self.row(view, &[from]);
        rows.shape.insert(0, len);
        rows.strides.insert(0, view.strides[0]);
        rows
    }

    /// A part.
    pub(super) fn slice(&mut self, view: &View, dims: &[SliceDim]) -> View {
        if let Some(levels) = &view.levels {
            return self.ragged_slice(view, levels, dims);
        }
        let mut part = View {
            shape: Vec::new(),
            strides: Vec::new(),
            ..view.clone()
        };
        for (d, dim) in dims.iter().enumerate() {
            let stride = view.strides[d];
            match *dim {
                SliceDim::Fix(i) => {
                    let i = self.atom(i);
                    let shift = self.mul(i, stride);
                    part.offset = self.add(part.offset, shift);
                    // Behind a range, a missing dimension leaves gaps.
                    part.dense &= part.shape.is_empty();
                }
                SliceDim::Range {
                    start,
                    len,
                    stride: step,
                } => {
                    let (start, step) = (self.atom(start), self.atom(step));
                    let len = self.atom(len.into());
                    let shift = self.mul(start, stride);
                    part.offset = self.add(part.offset, shift);
                    part.dense &=
                        step == Atom::ONE && (part.shape.is_empty() || len == view.shape[d]);
                    part.strides.push(self.mul(step, stride));
                    part.shape.push(len);
                }
            }
        }
        part.shape.extend_from_slice(&view.shape[dims.len()..]);
        part.strides.extend_from_slice(&view.strides[dims.len()..]);
        part
    }

    /// Whether the elements lie row-major without gaps.
    pub(super) fn is_dense(&self, view: &View) -> bool {
        let mut expected = Some(Atom::ONE);
        let mut dense = true;
        for (&n, &stride) in view.shape.iter().zip(&view.strides).rev() {
            dense &= n == Atom::ONE || expected == Some(stride);
            expected = expected.and_then(|e| self.known_product(n, e));
        }
        view.dense || dense
    }

    /// Whether two views may share memory.
    pub(super) fn may_alias(&self, a: Var, b: Var) -> bool {
        let roots = |v: Var| self.roots.get(&v).cloned().unwrap_or_else(|| [v].into());
        let (a, b) = (roots(a), roots(b));
        // What was allocated after a buffer was bound, whatever it is, is not that buffer. Variables are made in the order of the
        // statements, but for allocations that move out of loops, and these do not leave a loop that carries buffers.
        let may_be =
            |p: &Var, r: &Var| self.anything.contains(p) && (r < p || self.anything.contains(r));
        let pairs = || a.iter().flat_map(|x| b.iter().map(move |y| (x, y)));
        !a.is_disjoint(&b) || pairs().any(|(x, y)| may_be(x, y) || may_be(y, x))
    }

    /// Notes that a buffer may be any other.
    pub(super) fn may_be_anything(&mut self, buffer: Var) {
        self.anything.insert(buffer);
    }

    /// Notes that a buffer may be any of others.
    pub(super) fn joined(&mut self, buffer: Var, of: &[Var]) {
        let mut all = std::collections::BTreeSet::new();
        for v in of {
            match self.roots.get(v) {
                Some(roots) => all.extend(roots.iter().copied()),
                None => {
                    all.insert(*v);
                }
            }
        }
        all.insert(buffer);
        self.roots.insert(buffer, all);
    }
}
