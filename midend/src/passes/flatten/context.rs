//! Map nest contexts: what the variables of a nest are outside of it, and how the body of a kernel gets at them.
//!
//! A context Σ is the list of the widths of the maps around a statement, all known to the host. A variable bound inside of
//! the nest is an element of an array, a value that was stored for every point of the context (or of an outer part of
//! it), or cheap to compute again. A kernel over the context, or over more dimensions inside of it, asks for
//! the variables that it needs; nothing else is read or computed there.

use super::{Cx, Mode};
use crate::hash::HashSet;
use crate::ir::array::ArrayOp;
use crate::ir::id::Var;
use crate::ir::scalar::Const;
use crate::ir::seg::SpaceDim;
use crate::ir::seg::{Seg, SegKind};
use crate::ir::soac::Soac;
use crate::ir::syntax::{Atom, Body, Exp, Stm};
use crate::ir::types::{Dim, Size, Type};
use crate::ir::walk::{deep, free_in_stm, type_vars};
use std::rc::Rc;

/// The widths of the maps around a statement, outermost first.
pub(super) type Context = Vec<Axis>;

/// The width of a map: known to the host, or given for each point of the maps around.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Axis {
    /// The same at every point.
    Regular(Size),
    /// Where the points of each row start.
    Ragged(Var),
    /// So many of the points of all dimensions before it, which one dimension numbers anew.
    Chosen {
        /// How many.
        count: Size,
        /// Which: an index into [`Cx::packs`], where for each dimension of the space before there is an array of indices.
        pack: usize,
    },
}

impl Axis {
    /// As the dimension of a space.
    pub(super) fn space(self) -> SpaceDim {
        match self {
            Self::Regular(size) | Self::Chosen { count: size, .. } => SpaceDim::Regular(size),
            Self::Ragged(offsets) => SpaceDim::Ragged { offsets },
        }
    }

    /// As the dimension of an array over that space.
    pub(super) fn dim(self) -> Dim {
        match self {
            Self::Regular(size) | Self::Chosen { count: size, .. } => Dim::Size(size),
            Self::Ragged(offsets) => Dim::Ragged(offsets),
        }
    }
}

impl From<Dim> for Axis {
    fn from(dim: Dim) -> Self {
        match dim {
            Dim::Size(size) => Self::Regular(size),
            Dim::Ragged(offsets) => Self::Ragged(offsets),
        }
    }
}

/// Where the dimensions begin that the space of a kernel over a context has: those before are found from them.
pub(super) fn space_start(context: &[Axis]) -> usize {
    let some = |axis: &Axis| matches!(axis, Axis::Chosen { .. });
    context.iter().rposition(some).unwrap_or(0)
}

/// The dimensions of the space of a kernel over a context.
pub(super) fn space(context: &[Axis]) -> &[Axis] {
    &context[space_start(context)..]
}

/// Dimensions of an array over a context.
pub(super) fn dims(context: &[Axis]) -> Vec<Dim> {
    space(context).iter().map(|axis| axis.dim()).collect()
}

/// What a variable of a nest is.
#[derive(Clone, Debug)]
pub(super) enum Def {
    /// The element of an array, itself of the nest or of the host, at the index of a dimension counted from 1.
    Elem { array: Var, depth: usize },
    /// Its values at all points of the outermost dimensions.
    Stored { array: Var, depth: usize },
    /// What can be computed again.
    Again(Rc<Stm<Soac>>),
    /// Not yet computed.
    Pending,
}

/// A check that a kernel made.
pub(super) struct MadeCheck {
    pub(super) cert: Var,
    /// How many branches and loops of the host were around the kernel.
    pub(super) level: usize,
    pub(super) space: Context,
}

/// The body of a kernel over a context, as it is being made.
pub(super) struct Point {
    /// The space.
    pub(super) dims: Vec<(Var, Axis)>,
    /// The context, and the index of each of its dimensions, once it is known.
    context: Context,
    indices: Vec<Option<Atom>>,
    pub(super) stms: Vec<Stm<Seg>>,
    known: HashSet<Var>,
    /// Arrays that share memory with one of these are copied before they are used.
    consumed: HashSet<Var>,
}

impl Point {
    /// Declares what the body has bound itself.
    pub(super) fn knows(&mut self, vars: &[Var]) {
        self.known.extend(vars);
    }

    /// The indices of all dimensions of the space.
    pub(super) fn all(&self) -> Vec<Atom> {
        self.dims.iter().map(|&(index, _)| index.into()).collect()
    }
}

impl Cx<'_> {
    /// An empty body over a context.
    pub(super) fn point(&mut self, context: &[Axis]) -> Point {
        let start = space_start(context);
        let dims = context[start..].iter();
        let dims: Vec<(Var, Axis)> = dims.map(|&n| (self.fresh("i", Type::I64), n)).collect();
        let mut indices = vec![None; start];
        indices.extend(dims.iter().map(|&(index, _)| Some(index.into())));
        Point {
            dims,
            context: context.to_vec(),
            indices,
            stms: Vec::new(),
            known: HashSet::default(),
            consumed: HashSet::default(),
        }
    }

    /// An empty body over a context whose code consumes these variables.
    pub(super) fn point_consuming(&mut self, context: &[Axis], consumed: Vec<Var>) -> Point {
        let point = self.point(context);
        let consumed = self.labels.origins(consumed);
        Point { consumed, ..point }
    }

    /// The index of a dimension of the context.
    fn index_of(&mut self, point: &mut Point, k: usize) -> Atom {
        if let Some(known) = point.indices[k] {
            return known;
        }
        let after = |axis: &Axis| match axis {
            Axis::Chosen { pack, .. } => Some(*pack),
            Axis::Regular(_) | Axis::Ragged(_) => None,
        };
        let rest = point.context[k + 1..].iter().enumerate();
        let (ahead, pack) = rest
            .filter_map(|(ahead, axis)| Some((ahead, after(axis)?)))
            .next()
            .expect("a dimension outside of the space has points chosen from it");
        let numbered = self.index_of(point, k + 1 + ahead);
        let first = space_start(&point.context[..k + 1]);
        let array = self.packs[pack][k - first];
        let op = ArrayOp::Index {
            array,
            indices: vec![numbered],
        };
        let index: Atom = self.array(&mut point.stms, "i", Type::I64, op).into();
        point.indices[k] = Some(index);
        index
    }

    /// The indices of an array over the outermost dimensions of the context.
    pub(super) fn outer(&mut self, point: &mut Point, depth: usize) -> Vec<Atom> {
        let start = space_start(&point.context[..depth]);
        (start..depth).map(|k| self.index_of(point, k)).collect()
    }

    /// Makes a variable usable in the body.
    pub(super) fn need(&mut self, point: &mut Point, var: Var) {
        if point.known.contains(&var) {
            return;
        }
        let Some(def) = self.env.get(&var).cloned() else {
            return;
        };
        point.known.insert(var);
        match def {
            Def::Elem { array, depth } => {
                if let Some(row) = self.repeated_row(array) {
                    self.need(point, row);
                    let row = self.var(row);
                    self.subst.set(var, Some(row.into()));
                    return self.own(point, var);
                }
                self.need(point, array);
                let array = self.var(array);
                let index = self.index_of(point, depth - 1);
                let elem = self.element(&mut point.stms, array, index);
                self.subst.set(var, elem);
            }
            Def::Stored { array, depth } => {
                // The lengths of its rows are those at this point.
                let mut lengths = Vec::new();
                type_vars(&self.vars[var].ty, &mut |n| lengths.push(n));
                self.need_all(point, &lengths);
                if depth > 0 {
                    let ty = self.type_of(var);
                    let indices = self.outer(point, depth);
                    let op = ArrayOp::Index { array, indices };
                    let elem = self.array(&mut point.stms, "x", ty, op);
                    self.subst.set(var, Some(elem.into()));
                } else {
                    self.subst.set(var, Some(array.into()));
                }
            }
            Def::Again(stm) => {
                self.need_all(point, &free_in_stm(&self.vars, &stm));
                point.knows(&stm.binds);
                self.again(point, &stm);
            }
            Def::Pending => unreachable!("{var:?} is read before the code that computes it"),
        }
        self.own(point, var);
    }

    /// The row of which an array is copies, if it is made again wherever it is read: a point would make all of it for one row.
    fn repeated_row(&self, array: Var) -> Option<Var> {
        let Some(Def::Again(stm)) = self.env.get(&array) else {
            return None;
        };
        let Exp::Op(Soac::Array(ArrayOp::Replicate { shape, value })) = &stm.exp else {
            return None;
        };
        let row = value.as_var().filter(|_| shape.len() == 1)?;
        self.vars[row].ty.is_array().then_some(row)
    }

    /// Makes variables usable in the body.
    pub(super) fn need_all(&mut self, point: &mut Point, vars: &[Var]) {
        for &var in vars {
            deep(|| self.need(point, var));
        }
    }

    /// Makes what an atom names usable, and gives what stands for it.
    pub(super) fn need_atom(&mut self, point: &mut Point, atom: Atom) -> Atom {
        if let Atom::Var(v) = atom {
            self.need(point, v);
        }
        self.atom(atom)
    }

    /// The statement once more.
    fn again(&mut self, point: &mut Point, stm: &Stm<Soac>) {
        self.one(stm, Mode::Seq, &mut point.stms);
        if matches!(stm.exp, Exp::Assert { .. }) {
            self.made_checks.push(MadeCheck {
                cert: stm.binds[0],
                level: self.level,
                space: point.context.clone(),
            });
        }
    }

    /// What the code of the body consumes must be its own.
    fn own(&mut self, point: &mut Point, var: Var) {
        let hot = self.vars[var].ty.is_array() && self.labels.meets(var, &point.consumed);
        if let (true, Some(row)) = (hot, self.var_atom(var)) {
            let ty = self.vars[row].ty.clone();
            let copy = self.array(&mut point.stms, "own", ty, ArrayOp::Copy(row));
            self.subst.set(var, Some(copy.into()));
        }
    }

    /// A kernel from its body.
    pub(super) fn kernel(
        &mut self,
        point: Point,
        result: Vec<Atom>,
        kind: SegKind,
        binds: Vec<Var>,
        out: &mut Vec<Stm<Seg>>,
    ) {
        let body = Body {
            stms: point.stms,
            result,
        };
        let dims = point.dims.iter().map(|&(i, axis)| (i, axis.space()));
        self.seg(dims.collect(), body, kind, binds, out);
    }

    /// The body of a kernel that reads the elements of arrays over the context.
    pub(super) fn elements(&mut self, context: &[Axis], arrays: &[Var]) -> (Point, Vec<Atom>) {
        let mut point = self.point(context);
        let indices = point.all();
        let mut result = Vec::new();
        for &array in arrays {
            let ty = self.vars[array].ty.peel(indices.len()).unwrap_or(Type::I64);
            let op = ArrayOp::Index {
                array,
                indices: indices.clone(),
            };
            result.push(Atom::Var(self.array(&mut point.stms, "x", ty, op)));
        }
        (point, result)
    }

    /// The array that holds the values of a variable at all points of a context, if there is one.
    pub(super) fn expanded(&self, var: Var, context: &[Axis]) -> Option<Var> {
        match self.env.get(&var) {
            None => context.is_empty().then(|| self.var(var)),
            Some(Def::Stored { array, depth }) => (*depth == context.len()).then_some(*array),
            Some(Def::Elem { array, depth }) if *depth == context.len() => {
                let whole = self.expanded(*array, &context[..depth - 1])?;
                // Rows of other offsets are other rows.
                let rank = space(&context[..depth - 1]).len();
                let dim = self.vars[whole].ty.shape()[rank];
                let same = match context[depth - 1] {
                    Axis::Regular(_) | Axis::Chosen { .. } => dim.size().is_some(),
                    Axis::Ragged(offsets) => dim == Dim::Ragged(offsets),
                };
                same.then_some(whole)
            }
            Some(Def::Elem { .. } | Def::Again(_) | Def::Pending) => None,
        }
    }

    /// A variable for the values of another at all points of a context.
    pub(super) fn stored(&mut self, var: Var, context: &[Axis], out: &mut Vec<Stm<Seg>>) -> Var {
        let ty = self.vars[var].ty.clone();
        let ty = self.type_over(&ty, context, out);
        let name = self.vars[var].name.clone();
        let array = self.fresh(&name, ty);
        let depth = context.len();
        self.env.insert(var, Def::Stored { array, depth });
        array
    }

    /// Forgets certificates of checks that were made before everything that follows.
    pub(super) fn proved(&mut self, cert: Var) {
        self.env.remove(&cert);
        self.subst.set(cert, Some(Atom::Const(Const::Bool(true))));
    }
}
