//! The terms of a size. Nearly every size is a constant or one name, so those are kept without any allocation.

use super::Atom;
use std::sync::Arc;

/// A map from sorted products of atoms to coefficients that are not zero, in the order of the products.
#[derive(Clone, Debug)]
pub struct Terms(Kind);

/// A product and its coefficient.
type Term = (Vec<Atom>, i64);

/// Each map has one form only: the first that can hold it.
#[derive(Clone, Debug)]
enum Kind {
    /// No term, or only the empty product.
    Constant(i64),
    /// Only this atom, once.
    Atom(Atom),
    /// Anything else.
    Many(Arc<Vec<Term>>),
}

impl Default for Terms {
    fn default() -> Self {
        Self::constant(0)
    }
}

impl Terms {
    pub(super) fn constant(k: i64) -> Self {
        Self(Kind::Constant(k))
    }
    pub(super) fn atom(atom: Atom) -> Self {
        Self(Kind::Atom(atom))
    }
    fn of(terms: Vec<Term>) -> Self {
        match terms.as_slice() {
            [] => Self::constant(0),
            [(product, k)] if product.is_empty() => Self::constant(*k),
            [(product, 1)] if product.len() == 1 => Self::atom(product[0].clone()),
            _ => Self(Kind::Many(Arc::new(terms))),
        }
    }
    /// The value, if there is no atom.
    pub(super) fn as_constant(&self) -> Option<i64> {
        match &self.0 {
            Kind::Constant(k) => Some(*k),
            Kind::Atom(_) | Kind::Many(_) => None,
        }
    }
    /// The atom, if it is all there is.
    pub(super) fn as_atom(&self) -> Option<&Atom> {
        match &self.0 {
            Kind::Atom(atom) => Some(atom),
            Kind::Constant(_) | Kind::Many(_) => None,
        }
    }
    /// The number of terms.
    pub fn len(&self) -> usize {
        match &self.0 {
            Kind::Constant(k) => usize::from(*k != 0),
            Kind::Atom(_) => 1,
            Kind::Many(terms) => terms.len(),
        }
    }
    /// Whether it is the constant 0.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// The terms in order.
    pub fn iter(&self) -> Iter<'_> {
        Iter(match &self.0 {
            Kind::Constant(0) => Rest::Many(&[]),
            Kind::Constant(k) => Rest::One(&[], k),
            Kind::Atom(atom) => Rest::One(std::slice::from_ref(atom), &1),
            Kind::Many(terms) => Rest::Many(terms),
        })
    }
    /// The products in order.
    pub fn keys(&self) -> impl Iterator<Item = &[Atom]> {
        self.iter().map(|(product, _)| product)
    }
    /// The coefficient of a product.
    pub fn get(&self, product: &[Atom]) -> Option<&i64> {
        self.iter().find(|(p, _)| *p == product).map(|(_, k)| k)
    }
    /// The terms that are to stay.
    pub(crate) fn filtered(&self, stays: impl Fn(&[Atom], i64) -> bool) -> Self {
        let stay = self.iter().filter(|(product, k)| stays(product, **k));
        Self::of(stay.map(|(product, k)| (product.to_vec(), *k)).collect())
    }
    /// The sum of terms in any order; the products are sorted, but may repeat.
    pub(super) fn sum(terms: impl Iterator<Item = Term>) -> Self {
        let mut terms: Vec<Term> = terms.collect();
        terms.sort_by(|(p, _), (q, _)| p.cmp(q));
        terms.dedup_by(|(q, l), (p, k)| {
            let same = p == q;
            if same {
                *k = k.wrapping_add(*l);
            }
            same
        });
        terms.retain(|(_, k)| *k != 0);
        Self::of(terms)
    }
    /// The terms as they can be changed.
    pub(super) fn owned(&self) -> impl Iterator<Item = Term> {
        self.iter().map(|(product, k)| (product.to_vec(), *k))
    }
}

impl PartialEq for Terms {
    fn eq(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            (Kind::Constant(k), Kind::Constant(l)) => k == l,
            (Kind::Atom(a), Kind::Atom(b)) => a == b,
            (Kind::Many(a), Kind::Many(b)) => a == b,
            (Kind::Constant(_) | Kind::Atom(_) | Kind::Many(_), _) => false,
        }
    }
}
impl Eq for Terms {}
impl PartialOrd for Terms {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for Terms {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.iter().cmp(other.iter())
    }
}
impl std::hash::Hash for Terms {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        for term in self {
            term.hash(state);
        }
    }
}

/// The terms of a size in order.
#[derive(Clone, Debug)]
pub struct Iter<'a>(Rest<'a>);

#[derive(Clone, Debug)]
enum Rest<'a> {
    One(&'a [Atom], &'a i64),
    Many(&'a [Term]),
}

impl<'a> Iterator for Iter<'a> {
    type Item = (&'a [Atom], &'a i64);

    fn next(&mut self) -> Option<Self::Item> {
        match self.0 {
            Rest::One(product, k) => {
                self.0 = Rest::Many(&[]);
                Some((product, k))
            }
            Rest::Many(terms) => {
                let ((product, k), rest) = terms.split_first()?;
                self.0 = Rest::Many(rest);
                Some((product, k))
            }
        }
    }
}

impl<'a> IntoIterator for &'a Terms {
    type Item = (&'a [Atom], &'a i64);
    type IntoIter = Iter<'a>;

    fn into_iter(self) -> Iter<'a> {
        self.iter()
    }
}
