//! How neighbouring points are worked on together.

use super::arrays::{Array, has_arrays};
use super::rows::Row;
use super::vector::lanes_per_vector;
use midend::ir::id::Var;
use midend::ir::mem::{Kernel, Mem};
use midend::ir::scalar::{BinOp, ScalarOp, UnOp};
use midend::ir::soac::Operator;
use midend::ir::syntax::{Atom, Exp, Stm, Vars};
use midend::ir::types::ScalarType;
use midend::ir::walk::all_stms;
use std::collections::{BTreeMap, BTreeSet};

/// How a map is worked on.
#[derive(Clone, Debug)]
pub(in crate::emit) struct Plan {
    /// Points at a time.
    pub(in crate::emit) width: usize,
    /// Whether each lane of a reduction has sums of its own; else the values of the lanes are added one by one, in
    /// order.
    pub(in crate::emit) own_sums: bool,
    /// How many groups are combined with each other before they are with what lanes have summed: a power of two.
    pub(in crate::emit) groups: usize,
    /// Whether integers are put in vectors, as floats are.
    pub(super) integers: bool,
    /// How many of Cranelift's vectors each of its vector values stands for: 2 or 4 for wider registers (see [`crate::wide`]),
    /// else 1.
    pub(in crate::emit) parts: usize,
    pub(super) varying: BTreeSet<Var>,
    /// What is for finding elements only, and computed lane by lane.
    pub(super) addresses: BTreeSet<Var>,
    /// Whether elements are found, or indices checked, lane by lane.
    pub(super) gathers: bool,
    /// Whether lanes find elements by vectors of addresses ([`super::gather`]).
    pub(super) by_vectors: bool,
    /// Rows of points that are put in panels.
    pub(super) rows: Vec<Row>,
    /// What loops that lanes leave at different steps end with and nothing uses.
    pub(super) unused: BTreeSet<Var>,
    /// The bytes that indices are which look up elements of tables in registers.
    pub(super) lookups: BTreeMap<Var, Var>,
    /// The rows that nothing writes to and that loops count in.
    pub(super) ranks: BTreeSet<Var>,
    /// The arrays that each lane has for itself, and the names under which they go.
    pub(super) arrays: Vec<Array>,
    pub(super) own: BTreeSet<Var>,
}

impl Plan {
    /// So many lanes of floats, for which these variables differ.
    pub(super) const fn of_lanes(width: usize, parts: usize, varying: BTreeSet<Var>) -> Self {
        Self {
            width,
            own_sums: false,
            groups: 1,
            integers: false,
            parts,
            varying,
            addresses: BTreeSet::new(),
            gathers: false,
            by_vectors: false,
            rows: Vec::new(),
            unused: BTreeSet::new(),
            lookups: BTreeMap::new(),
            ranks: BTreeSet::new(),
            arrays: Vec::new(),
            own: BTreeSet::new(),
        }
    }

    /// So many lanes of numbers of any kind, for which these variables differ.
    pub(super) fn of_numbers(width: usize, parts: usize, varying: BTreeSet<Var>) -> Self {
        let plan = Self::of_lanes(width, parts, varying);
        Self {
            integers: true,
            ..plan
        }
    }

    /// Whether a statement computes parts of addresses.
    pub(super) fn finds(&self, stm: &Stm<Mem>) -> bool {
        stm.binds.iter().any(|v| self.addresses.contains(v))
    }

    /// Whether an index looks up elements of tables in registers.
    pub(super) fn looks_up(&self, index: Atom) -> bool {
        index
            .as_var()
            .is_some_and(|v| self.lookups.contains_key(&v))
    }

    /// The plan with so many lanes, which fill vectors.
    pub(in crate::emit) fn of_width(&self, width: usize) -> Self {
        Self {
            width,
            groups: 1,
            ..self.clone()
        }
    }

    /// The plan with half as many lanes, if they still fill pairs of vectors of numbers of these types, and vectors of what is in panels.
    pub(in crate::emit) fn halved(&self, tys: &[ScalarType]) -> Option<Self> {
        let half = Self {
            width: self.width / 2,
            ..self.clone()
        };
        let per = |ty: &ScalarType| lanes_per_vector(*ty, self.integers);
        let fits = tys
            .iter()
            .all(|ty| per(ty).is_some_and(|per| 2 * per <= half.width));
        let in_panels = |row: &Row| half.per_vector(row.elem).is_some();
        (fits && half.rows.iter().all(in_panels)).then_some(half)
    }

    /// Whether all that differs from lane to lane is in vectors, which are loaded from neighbouring elements.
    pub(in crate::emit) fn is_full(&self) -> bool {
        self.integers
            && !(self.gathers || self.by_vectors)
            && self.rows.is_empty()
            && self.lookups.is_empty()
    }

    /// The plan with as few lanes as fill a vector of each type that there is, in as many parts; nothing if there are no more now.
    pub(in crate::emit) fn fewest(&self, vars: &Vars) -> Option<Self> {
        let tys = self.varying.iter().filter_map(|v| vars[*v].ty.elem());
        let most = tys
            .filter_map(|ty| lanes_per_vector(ty, self.integers))
            .max()?;
        let width = most * self.parts;
        let fewer = Self {
            width,
            ..self.clone()
        };
        (width < self.width).then_some(fewer)
    }

    /// The plan with twice as many lanes, and some groups of them at a time.
    pub(super) fn doubled(self, groups: usize) -> Self {
        Self {
            width: 2 * self.width,
            groups,
            ..self
        }
    }

    /// Whether points have arrays of their own.
    pub(in crate::emit) fn has_arrays(&self) -> bool {
        !self.arrays.is_empty()
    }

    /// Whether a choice makes such arrays on a side.
    pub(super) fn makes_arrays(&self, stm: &Stm<Mem>) -> bool {
        let Exp::If {
            then, otherwise, ..
        } = &stm.exp
        else {
            return false;
        };
        self.has_arrays() && [then, otherwise].into_iter().any(has_arrays)
    }

    /// Whether lanes have values of their own of the variable.
    pub(in crate::emit) fn varies(&self, var: Var) -> bool {
        self.varying.contains(&var)
    }

    /// Lanes of a vector of this type, of each part of a wider one; nothing for types that are not put in vectors here, or of which a
    /// group does not fill one.
    pub(in crate::emit) fn per_vector(&self, ty: ScalarType) -> Option<usize> {
        let per = lanes_per_vector(ty, self.integers);
        per.filter(|per| per * self.parts <= self.width)
    }

    /// How many vector values hold all lanes of this type.
    pub(in crate::emit) fn vectors(&self, ty: ScalarType) -> Option<usize> {
        self.per_vector(ty).map(|per| self.filled(per))
    }

    /// How many vector values with so many lanes, of each part of a wider one, there are.
    pub(super) const fn filled(&self, per: usize) -> usize {
        self.width / (per * self.parts)
    }

    /// Bytes from the place of a vector value to that of the next.
    pub(in crate::emit) const fn step(&self) -> i32 {
        16 * self.parts as i32
    }

    /// The same for registers of so many vectors at most, if each type, of which vectors have so many lanes at most, fills two.
    /// For four there are twice as many lanes if that fills them, and if there is room for `twice` as much code.
    pub(super) fn in_parts(self, asked: usize, most: usize, twice: bool) -> Self {
        let two = self.width >= 2 * most;
        let four = self.width >= 4 * most;
        let (parts, width) = match asked {
            4.. if four => (4, self.width),
            4.. if two && twice => (4, 2 * self.width),
            2.. if two => (2, self.width),
            _ => (1, self.width),
        };
        Self {
            parts,
            width,
            ..self
        }
    }

    /// The same where each lane sums on its own, for registers of so many vectors at most. There are no more lanes for registers of four vectors, but these where the lanes fill them,
    /// and where rows are long: half as many lanes, which shorter rest is for, are worked on one by one then.
    pub(super) fn of_own_sums(self, kernel: &Kernel, asked: usize, most: usize) -> Self {
        let long = kernel.space.len() == 1;
        let four = asked >= 4 && self.parts == 2 && long && self.width >= 4 * most;
        Self {
            own_sums: true,
            parts: if four { 4 } else { self.parts },
            ..self
        }
    }

    /// The same with as many lanes as it takes for so many wider registers, of numbers of which each part has `lanes`.
    pub(super) fn in_flight(self, registers: usize, lanes: usize) -> Self {
        let least = registers * lanes * self.parts;
        let width = if self.parts > 1 {
            self.width.max(least)
        } else {
            self.width
        };
        Self { width, ..self }
    }
}

/// Whether an operator adds floats and does nothing else: each sum waits for the one before, for longer in registers of 512 bits.
pub(super) fn is_sum(op: &Operator<Mem>) -> bool {
    match &op.lam.body.stms[..] {
        [stm] => {
            matches!(&stm.exp, Exp::Scalar(ScalarOp::Bin(BinOp::Add, ty), _) if ty.is_float())
        }
        _ => false,
    }
}

/// Whether an operator does nothing but compare its operands and choose one.
pub(crate) fn chooses(op: &Operator<Mem>) -> bool {
    let mut only = true;
    let mut compared = false;
    all_stms(&op.lam.body, &mut |stm| match &stm.exp {
        Exp::Atom(_) | Exp::If { .. } | Exp::Scalar(ScalarOp::Select(_), _) => {}
        Exp::Scalar(ScalarOp::Bin(BinOp::And | BinOp::Or, _) | ScalarOp::Un(UnOp::Not, _), _) => {}
        Exp::Scalar(ScalarOp::Cmp(..), _) => compared = true,
        Exp::Scalar(..)
        | Exp::Assert { .. }
        | Exp::Guard { .. }
        | Exp::Loop { .. }
        | Exp::Call { .. }
        | Exp::Op(_) => only = false,
    });
    only && compared
}
