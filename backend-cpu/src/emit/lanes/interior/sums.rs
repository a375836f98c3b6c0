//! Indices as sums: a multiple of the innermost index, multiples of numbers that a row has from the start, and a constant.

use midend::ir::id::Var;
use midend::ir::scalar::Const;
use midend::ir::syntax::Atom;
use std::collections::BTreeMap;

/// The largest factor in a sum, and the largest constant; with few terms that are not larger, no sum overflows.
const FACTOR: i64 = 1 << 8;
pub(super) const LARGE: i64 = 1 << 48;
/// The most terms of a sum.
const TERMS: usize = 6;

/// A sum, of `i64`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Sum {
    /// How often the innermost index is in it.
    pub(super) index: i64,
    pub(super) terms: BTreeMap<Var, i64>,
    pub(super) constant: i64,
}

impl Sum {
    pub(super) fn constant(constant: i64) -> Option<Self> {
        let sum = Self {
            constant,
            ..Self::default()
        };
        sum.is_small().then_some(sum)
    }

    pub(super) fn index() -> Self {
        Self {
            index: 1,
            ..Self::default()
        }
    }

    pub(super) fn term(var: Var) -> Self {
        Self {
            terms: BTreeMap::from([(var, 1)]),
            ..Self::default()
        }
    }

    /// This and so many times the other.
    pub(super) fn plus(&self, other: &Self, times: i64) -> Option<Self> {
        let mut terms = self.terms.clone();
        for (var, factor) in &other.terms {
            let all = terms.entry(*var).or_insert(0);
            *all += times * factor;
        }
        terms.retain(|_, factor| *factor != 0);
        let sum = Self {
            index: self.index + times * other.index,
            terms,
            constant: self.constant + times * other.constant,
        };
        sum.is_small().then_some(sum)
    }

    /// So many times this.
    pub(super) fn times(&self, factor: i64) -> Option<Self> {
        if !(-FACTOR..=FACTOR).contains(&factor) {
            return None;
        }
        Self::default().plus(self, factor)
    }

    /// The value, if it is the same everywhere.
    pub(super) fn known(&self) -> Option<i64> {
        (self.index == 0 && self.terms.is_empty()).then_some(self.constant)
    }

    /// How far it is from another that differs from it by a constant.
    pub(super) fn distance(&self, other: &Self) -> Option<i64> {
        other.plus(self, -1)?.known()
    }

    fn is_small(&self) -> bool {
        let mut factors = self.terms.values().chain([&self.index]);
        factors.all(|factor| (-FACTOR..=FACTOR).contains(factor))
            && self.terms.len() <= TERMS
            && (-LARGE..=LARGE).contains(&self.constant)
    }
}

/// The number that an atom is, if it is a constant.
pub(super) fn number(atom: Atom) -> Option<i64> {
    match atom {
        Atom::Const(Const::I64(number)) => Some(number),
        Atom::Const(_) | Atom::Var(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::Sum;

    #[test]
    fn the_least_number_is_not_small() {
        assert_eq!(Sum::constant(i64::MIN), None);
        assert_eq!(Sum::index().times(i64::MIN), None);
    }
}
