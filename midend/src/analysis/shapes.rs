//! Shape analysis: which sizes are equal.
//!
//! The program is a nested one. Its types name sizes by variables; the analysis finds for every integer variable the *canonical
//! form* of its value (see [`form`]), so that two sizes are equal if their forms are. In the terms of the papers (*Shapes and
//! Flattening*, sections 3 and 4; *Preserving Regularity*, 4.2):
//!
//! | there | here |
//! |---|---|
//! | fixed unknown size α | the value of a variable |
//! | dependent size φ(α), `Inner ns ⟨e⟩` | an element of an array at an index |
//! | varying size φ | a function of the index, [`form::FamilyKind::Abs`] |
//! | sums d1 + d2, Σ φ(α) | linear forms, [`form::TermKind::Sum`] |
//! | constraint d1 = d2 | a fact from the check (or the operation that cannot run without) on to the end of the body |
//! | φ = d, φ is constant | a fact on the elements of an array, learnt when a map over all of it has checked each |
//! | `int(v)` | the form of an integer variable |
//! | S1 `extent e`, S2, S3 | types name extents, so there is nothing to do |
//! | S4 `Outer ns1 ▷ Inner ns2 ⟨v⟩` and E1 | families: indices are abstracted when their operation ends, and match by their place |
//! | E2, inlining of `let` | forms are made of forms |
//! | [Cond-Shape] | a result that has the same form in both branches has it |
//! | [While-Shape] | what a loop carries has its first form if the body keeps it; assumed of all loops at once, and taken back until nothing more is |
//! | ∀α. τ → ∃β. τ' | [`signature::Signature`] |
//! | fresh label `u` | the variable itself |
//!
//! An equality that rests on a check is used only where the check dominates. Checks are never dead code, and two sizes that
//! can never be equal are no error, for the check may stand where no run comes by: [`Shapes::contradictions`] lists them.
//!
//! ```text
//! let k = add.i64(n, 1)                                             k = n + 1
//! let c = eq.i64(k, m)   let ok = assert c                          from here on n = m - 1 (n is the younger)
//! let is: [n]i64, ys: [n]i64 = map n (xs) \(x) { .. x + 1 .. }      ys[ι] = xs[ι] + 1
//! let s = map n (xs) \(x) { .. } reduce add.i64                     s = sum(ι < n) xs[ι]
//! ```

pub mod form;
pub mod show;
pub mod signature;

mod facts;
mod infer;
mod rewrite;

use crate::hash::HashMap;
use crate::ir::id::{FunId, Id, IdMap, SpanId, Var};
use crate::ir::soac::Soac;
use crate::ir::syntax::{Atom, Program};
use crate::ir::types::Size;
use facts::Facts;
use form::{Family, FamilyKind, Form, Nest, Table, TermKind, Value};
use signature::Signature;
use std::cell::RefCell;

/// The extent of a dimension.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Extent {
    /// All rows have it.
    Fixed(Form),
    /// Rows differ: the elements of the vector of offsets.
    Varying(Family),
}

/// A parallel operation, which applies a lambda to indices 0, 1, .. below a width.
#[derive(Clone, Debug)]
pub struct NestInfo {
    /// The number of indices.
    pub width: Form,
    /// The parallel operation around in the same function.
    pub outer: Option<Nest>,
    /// How many there are around.
    pub depth: usize,
}

/// The sizes of one row of points each, as a function of all indices around: equal classes are equal vectors of lengths, and
/// can share one vector of offsets.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Class {
    sizes: Family,
    widths: Vec<Family>,
}

/// What is known of a variable.
#[derive(Clone, Debug, Default)]
struct Known {
    value: Option<Value>,
    shape: Vec<Extent>,
    born: u32,
    fun: u32,
    nest: Option<Nest>,
}

/// The result of the analysis. Facts about variables are those of where they are bound, unless another place is named: that
/// where another variable is bound.
#[derive(Clone, Debug, Default)]
pub struct Shapes {
    table: RefCell<Table>,
    vars: IdMap<Var, Known>,
    nests: HashMap<Nest, NestInfo>,
    facts: Vec<Facts>,
    signatures: Vec<Signature>,
    contradictions: Vec<SpanId>,
}

/// Analyses a program.
pub fn shapes(program: &Program<Soac>) -> Shapes {
    infer::program(program)
}

impl Shapes {
    /// Looks at forms.
    pub fn table(&self) -> std::cell::Ref<'_, Table> {
        self.table.borrow()
    }

    /// The canonical value of a variable; nothing for what is no value.
    pub fn value(&self, v: Var) -> Option<Value> {
        self.vars[v].value
    }

    /// The canonical value of a scalar.
    pub fn scalar(&self, a: Atom) -> Option<Form> {
        match a {
            Atom::Const(c) => Some(self.table.borrow_mut().scalar_constant(c)),
            Atom::Var(v) => match self.value(v)? {
                Value::Scalar(f) => Some(f),
                Value::Array(_) => None,
            },
        }
    }

    /// The extents of an array.
    pub fn shape(&self, v: Var) -> &[Extent] {
        &self.vars[v].shape
    }

    /// The parallel operation directly around where a variable is bound.
    pub fn nest(&self, v: Var) -> Option<Nest> {
        self.vars[v].nest
    }

    /// What is known of a parallel operation.
    pub fn info(&self, nest: Nest) -> Option<&NestInfo> {
        self.nests.get(&nest)
    }

    /// The type of a function with its sizes.
    pub fn signature(&self, fun: FunId) -> &Signature {
        &self.signatures[fun.index()]
    }

    /// Checks of two sizes that can never be equal.
    pub fn contradictions(&self) -> &[SpanId] {
        &self.contradictions
    }

    fn resolved(&self, f: Form, at: Var) -> Form {
        let here = &self.vars[at];
        match self.facts.get(here.fun as usize) {
            Some(facts) => facts.resolve(&mut self.table.borrow_mut(), f, here.born),
            None => f,
        }
    }

    /// The canonical form of a size where `at` is bound.
    pub fn size(&self, size: Size, at: Var) -> Option<Form> {
        Some(self.resolved(self.scalar(size.into())?, at))
    }

    /// Whether two sizes are equal where `at` is bound, whenever that is executed.
    pub fn equal(&self, a: Size, b: Size, at: Var) -> bool {
        a == b
            || self
                .size(a, at)
                .is_some_and(|a| Some(a) == self.size(b, at))
    }

    /// Whether two arrays agree in shape where `at` is bound.
    pub fn same_shape(&self, a: Var, b: Var, at: Var) -> bool {
        let (left, right) = (self.shape(a), self.shape(b));
        let same = |(a, b): (&Extent, &Extent)| match (*a, *b) {
            (Extent::Fixed(a), Extent::Fixed(b)) => self.resolved(a, at) == self.resolved(b, at),
            (Extent::Varying(a), Extent::Varying(b)) => a == b,
            (Extent::Fixed(_), Extent::Varying(_)) | (Extent::Varying(_), Extent::Fixed(_)) => {
                false
            }
        };
        left.len() == right.len() && left.iter().zip(right).all(same)
    }

    /// The class of a size that is used where `at` is bound, inside of some parallel operations.
    pub fn class(&self, size: Size, at: Var) -> Option<Class> {
        let form = self.size(size, at)?;
        let mut around = Vec::new();
        let mut next = self.nest(at);
        while let Some(nest) = next {
            around.push(nest);
            next = self.info(nest)?.outer;
        }
        let closed = |f: Form, around: &[Nest]| {
            let mut table = self.table.borrow_mut();
            let scalar = table.of_family(FamilyKind::Scalar(f));
            around.iter().try_fold(scalar, |family, nest| {
                table.abstracted(Value::Array(family), *nest)
            })
        };
        let widths = (0..around.len()).map(|i| {
            let width = self.resolved(self.info(around[i])?.width, at);
            closed(width, &around[i + 1..])
        });
        Some(Class {
            sizes: closed(form, &around)?,
            widths: widths.collect::<Option<_>>()?,
        })
    }
}

/// The extent of the rows of a dimension with these offsets: equal if the offsets are the multiples of a number, so that an
/// array with such a dimension is rectangular (*Shapes and Flattening*, 4.4).
fn rows_of(table: &mut Table, offsets: Family) -> Extent {
    let FamilyKind::Abs(bound, body) = *table.family(offsets) else {
        return Extent::Varying(offsets);
    };
    let index = |table: &mut Table, n: i64| {
        let n = table.constant(n);
        table.element(offsets, &[n])
    };
    let (Some(zero), Some(step)) = (index(table, 0), index(table, 1)) else {
        return Extent::Varying(offsets);
    };
    let linear = (|| {
        let i = table.of_term(TermKind::Bound(bound))?;
        let line = table.mul(step, i)?;
        Some(table.of_family(FamilyKind::Scalar(line)))
    })();
    if table.as_constant(zero) == Some(0) && linear == Some(body) {
        return Extent::Fixed(step);
    }
    Extent::Varying(offsets)
}
