//! Indices as sums of products, of which numbers are known to be in an interval.

use super::Sum;
use crate::ir::id::Var;
use crate::ir::scalar::BinOp;
use std::collections::{BTreeMap, BTreeSet};

/// The least and the greatest that a number may be.
pub(super) type Interval = (i64, i64);

/// A product: an index of the space, if one is a factor, and variables from outside, in order.
pub(super) type Product = (Option<usize>, Vec<Var>);

/// A sum of products, each times some number in an interval.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Form(pub(super) BTreeMap<Product, Interval>);

impl Form {
    pub(super) fn of(product: Product, number: i64) -> Self {
        Self(BTreeMap::from([(product, (number, number))])).normal()
    }

    pub(super) fn constant(number: i64) -> Self {
        Self::of((None, Vec::new()), number)
    }

    /// Without what is nothing.
    pub(super) fn normal(mut self) -> Self {
        self.0.retain(|_, interval| *interval != (0, 0));
        self
    }

    /// Takes the numbers of both together.
    pub(super) fn with(
        &self,
        other: &Self,
        f: impl Fn(Interval, Interval) -> Option<Interval>,
    ) -> Option<Self> {
        let products: BTreeSet<&Product> = self.0.keys().chain(other.0.keys()).collect();
        let number = |form: &Self, product| form.0.get(product).copied().unwrap_or((0, 0));
        let sum: Option<BTreeMap<Product, Interval>> = products
            .into_iter()
            .map(|p| Some((p.clone(), f(number(self, p), number(other, p))?)))
            .collect();
        Some(Self(sum?).normal())
    }

    pub(super) fn plus(&self, other: &Self) -> Option<Self> {
        self.with(other, |(a, b), (c, d)| {
            Some((a.checked_add(c)?, b.checked_add(d)?))
        })
    }

    pub(super) fn minus(&self, other: &Self) -> Option<Self> {
        self.with(other, |(a, b), (c, d)| {
            Some((a.checked_sub(d)?, b.checked_sub(c)?))
        })
    }

    /// What may be one or the other. What an index is a factor of must be the same.
    pub(super) fn either(&self, other: &Self) -> Option<Self> {
        let hull = self.with(other, |(a, b), (c, d)| Some((a.min(c), b.max(d))))?;
        let moving = |form: &Self| -> Vec<(Product, Interval)> {
            let all = form.0.iter().filter(|((index, _), _)| index.is_some());
            all.map(|(p, i)| (p.clone(), *i)).collect()
        };
        (moving(self) == moving(other)).then_some(hull)
    }

    pub(super) fn times(&self, other: &Self) -> Option<Self> {
        let mut all = Self::default();
        for ((i, xs), (a, b)) in &self.0 {
            for ((k, ys), (c, d)) in &other.0 {
                let index = match (*i, *k) {
                    (Some(_), Some(_)) => return None,
                    (one, other) => one.or(other),
                };
                let mut factors = [xs.clone(), ys.clone()].concat();
                factors.sort_unstable();
                let ends = [(a, c), (a, d), (b, c), (b, d)];
                let ends: Option<Vec<i64>> =
                    ends.map(|(x, y)| x.checked_mul(*y)).into_iter().collect();
                let ends = ends?;
                let interval = (*ends.iter().min()?, *ends.iter().max()?);
                let part = Self(BTreeMap::from([((index, factors), interval)]));
                all = all.plus(&part.normal())?;
            }
        }
        Some(all)
    }

    /// The index and what is added to it, if nothing else is.
    pub(super) fn near(&self) -> Option<(usize, Interval)> {
        let mut added = (0, 0);
        let mut found = None;
        for ((index, factors), interval) in &self.0 {
            match index {
                Some(index) if factors.is_empty() && *interval == (1, 1) && found.is_none() => {
                    found = Some(*index);
                }
                None if factors.is_empty() => added = *interval,
                Some(_) | None => return None,
            }
        }
        Some((found?, added))
    }

    /// The sum, if it is known exactly.
    pub(super) fn known(&self) -> Option<Sum> {
        let exact = self.0.iter().map(|((index, factors), (low, high))| {
            (index.is_none() && low == high).then(|| (*low, factors.clone()))
        });
        exact.collect()
    }
}

/// A sum, difference or product.
pub(super) fn operated(op: BinOp, a: &Form, b: &Form) -> Option<Form> {
    if op == BinOp::Add {
        a.plus(b)
    } else if op == BinOp::Sub {
        a.minus(b)
    } else if op == BinOp::Mul {
        a.times(b)
    } else {
        None
    }
}
