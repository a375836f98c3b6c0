//! Sizes in normal form: integer polynomials over names and opaque expressions.
//!
//! `1 + n` and `n + 1` are the same value of [`Size`], and so are `n * m` and `m * n`. What is not a polynomial
//! (a call, a division, ..) is an [`Opaque`] atom: a typed expression that equals another exactly when both have the same key.

mod terms;

pub use terms::Terms;

use super::ty::Name;
use crate::typed::Exp;
use std::sync::Arc;

/// A size: a sum of products of atoms, with integer coefficients that wrap as `i64` does.
///
/// The empty product is the constant term. Products are sorted and have no zero coefficients, so that equal sizes are
/// equal values.
#[derive(Clone, Debug, Default)]
pub struct Size {
    /// From sorted products of atoms to their coefficients.
    pub terms: Terms,
    /// How it was written, if as an operation; no part of its identity.
    pub(crate) written: Option<Arc<Written>>,
}

/// An operation of sizes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Arith {
    Add,
    Sub,
    Mul,
}

/// The two sides of an operation: `[2 * 3]t` taken as `[n * m]t` gives `n` and `m`, where the normal form has forgotten them.
#[derive(Clone, Debug)]
pub(crate) struct Written {
    depth: u8,
    pub(crate) op: Arith,
    pub(crate) left: Size,
    pub(crate) right: Size,
}

impl PartialEq for Size {
    fn eq(&self, other: &Self) -> bool {
        self.terms == other.terms
    }
}
impl Eq for Size {}
impl PartialOrd for Size {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for Size {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.terms.cmp(&other.terms)
    }
}
impl std::hash::Hash for Size {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.terms.hash(state);
    }
}

/// An indivisible part of a size.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Atom {
    /// A size parameter, an existential size, or an `i64` variable.
    Name(Name),
    /// An expression of type `i64` that is not a polynomial.
    Opaque(Arc<Opaque>),
    /// A size that is being inferred; never in a finished program.
    Meta(u32),
}

/// An expression used as a size.
///
/// The expression has no bindings inside (no `let`, lambda, loop or match) and its free names are in scope where the size is.
#[derive(Clone, Debug)]
pub struct Opaque {
    /// Canonical text, by which opaque sizes are compared.
    pub key: String,
    /// The expression, of type `i64`; evaluating it gives the size.
    pub exp: Exp,
    /// The free names of the expression, sorted: values and sizes.
    pub free: Vec<Name>,
    /// The sizes in it that are being inferred; empty in a finished program.
    pub metas: Vec<u32>,
    /// Whether it is computed from the size of an irregular dimension.
    pub(crate) irregular: bool,
    /// Whether the types in the expression have sizes that are being inferred, which are no part of its identity.
    pub(crate) open: bool,
}

impl PartialEq for Opaque {
    fn eq(&self, other: &Self) -> bool {
        self.key == other.key
    }
}
impl Eq for Opaque {}
impl PartialOrd for Opaque {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for Opaque {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.key.cmp(&other.key)
    }
}
impl std::hash::Hash for Opaque {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.key.hash(state);
    }
}

impl Size {
    /// A constant size.
    pub fn constant(k: i64) -> Size {
        Size::of(Terms::constant(k))
    }

    /// The size of an array of so many elements.
    pub(crate) fn length(elements: usize) -> Size {
        Size::constant(i64::try_from(elements).unwrap_or(i64::MAX))
    }

    /// One atom.
    pub fn atom(atom: Atom) -> Size {
        Size::of(Terms::atom(atom))
    }

    fn of(terms: Terms) -> Size {
        let irregular = |a: &Atom| match a {
            Atom::Name(name) => *name == Name::IRREGULAR,
            Atom::Opaque(opaque) => opaque.irregular,
            Atom::Meta(_) => false,
        };
        // Whatever is computed from the length of any row is the length of any row.
        let terms = if terms.keys().flatten().any(irregular) {
            Terms::atom(Atom::Name(Name::IRREGULAR))
        } else {
            terms
        };
        Size {
            terms,
            written: None,
        }
    }

    /// The size of an irregular dimension.
    pub fn irregular() -> Size {
        Size::name(Name::IRREGULAR)
    }

    /// Whether this is the size of an irregular dimension.
    pub fn is_irregular(&self) -> bool {
        self.as_name() == Some(Name::IRREGULAR)
    }

    /// Whether a size is being inferred in it, or in the types of an expression in it.
    pub(crate) fn is_open(&self) -> bool {
        self.terms.keys().flatten().any(|a| match a {
            Atom::Meta(_) => true,
            Atom::Opaque(o) => o.open || !o.metas.is_empty(),
            Atom::Name(_) => false,
        })
    }

    /// A named size.
    pub fn name(name: Name) -> Size {
        Size::atom(Atom::Name(name))
    }

    /// The value, if it is constant.
    pub fn as_constant(&self) -> Option<i64> {
        self.terms.as_constant()
    }

    /// The atom, if the size is one atom and nothing else.
    pub fn as_atom(&self) -> Option<&Atom> {
        self.terms.as_atom()
    }

    /// The name, if the size is one name and nothing else.
    pub fn as_name(&self) -> Option<Name> {
        match self.as_atom()? {
            Atom::Name(n) => Some(*n),
            Atom::Opaque(_) | Atom::Meta(_) => None,
        }
    }

    /// Sum.
    pub fn add(&self, other: &Size) -> Size {
        // What is nothing more stays as it was written.
        if other.terms.is_empty() {
            return self.clone();
        }
        Size::of(Terms::sum(self.terms.owned().chain(other.terms.owned())))
    }

    /// Difference.
    pub fn sub(&self, other: &Size) -> Size {
        self.add(&other.scale(-1))
    }

    /// Product with a constant.
    pub fn scale(&self, by: i64) -> Size {
        let scaled = self.terms.owned().map(|(p, k)| (p, k.wrapping_mul(by)));
        Size::of(Terms::sum(scaled))
    }

    /// Product.
    pub fn mul(&self, other: &Size) -> Size {
        let products = self.terms.iter().flat_map(|(p, k)| {
            other.terms.iter().map(move |(q, l)| {
                let mut product: Vec<Atom> = p.iter().chain(q).cloned().collect();
                product.sort();
                (product, k.wrapping_mul(*l))
            })
        });
        Size::of(Terms::sum(products))
    }

    /// What is left of the terms without those that the other has too.
    pub(crate) fn without(&self, other: &Size) -> Size {
        let differs = |p: &[Atom], k| other.terms.get(p) != Some(&k);
        Size::of(self.terms.filtered(differs))
    }

    /// Whether the sizes are equal and are also remembered to be written in one way: then either may stand for the other.
    pub(crate) fn is_same(&self, other: &Size) -> bool {
        let written = match (&self.written, &other.written) {
            (None, None) => true,
            (Some(a), Some(b)) => Arc::ptr_eq(a, b),
            (Some(_), None) | (None, Some(_)) => false,
        };
        // Equal opaque sizes may differ in the types of their expressions.
        let one = |pair: (&Atom, &Atom)| match pair {
            (Atom::Opaque(a), Atom::Opaque(b)) => Arc::ptr_eq(a, b),
            (Atom::Name(_) | Atom::Meta(_) | Atom::Opaque(_), _) => true,
        };
        written
            && self.terms == other.terms
            && (self.terms.keys().flatten())
                .zip(other.terms.keys().flatten())
                .all(one)
    }

    /// Remembers how the size was written.
    pub(crate) fn with_written(mut self, op: Arith, left: Size, right: Size) -> Size {
        // A tall tree is of no use here, and would be walked again and again.
        let depth = |s: &Size| s.written.as_ref().map_or(0, |w| w.depth);
        let depth = 1 + depth(&left).max(depth(&right));
        if depth <= 6 {
            self.written = Some(Arc::new(Written {
                depth,
                op,
                left,
                right,
            }));
        }
        self
    }
}
