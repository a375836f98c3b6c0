//! Numbers as the unevaluated sum of two binary64, for what one alone is too coarse for.
//!
//! The error-free sums and products are those of Knuth, Dekker and (with fma) Ogita, Rump and Oishi.

use super::code::Val;

/// A number as the sum of two; the second is at most about half a last bit of the first.
#[derive(Clone, Copy)]
pub struct Pair<'c> {
    /// The number, rounded.
    pub hi: Val<'c>,
    /// What is missing.
    pub lo: Val<'c>,
}

impl<'c> Pair<'c> {
    /// A number and what it lacks.
    pub fn new(hi: Val<'c>, lo: Val<'c>) -> Self {
        Self { hi, lo }
    }

    /// A number that lacks nothing.
    pub fn exact(hi: Val<'c>) -> Self {
        Self {
            hi,
            lo: hi.like(0.0),
        }
    }

    /// A constant in two parts.
    pub fn constant(like: Val<'c>, parts: [f64; 2]) -> Self {
        Self {
            hi: like.like(parts[0]),
            lo: like.like(parts[1]),
        }
    }

    /// The sum of two numbers, exactly.
    pub fn sum(a: Val<'c>, b: Val<'c>) -> Self {
        let hi = a + b;
        let part = hi - a;
        Self {
            hi,
            lo: (a - (hi - part)) + (b - part),
        }
    }

    /// The sum of two numbers of which the first is zero or not the smaller one, exactly.
    pub fn fast(a: Val<'c>, b: Val<'c>) -> Self {
        let hi = a + b;
        Self {
            hi,
            lo: b - (hi - a),
        }
    }

    /// The product of two numbers, exactly.
    pub fn product(a: Val<'c>, b: Val<'c>) -> Self {
        let hi = a * b;
        Self {
            hi,
            lo: a.fma(b, -hi),
        }
    }

    /// Sum.
    pub fn plus(self, b: Self) -> Self {
        let sum = Self::sum(self.hi, b.hi);
        Self::fast(sum.hi, sum.lo + (self.lo + b.lo))
    }

    /// Difference.
    pub fn minus(self, b: Self) -> Self {
        self.plus(-b)
    }

    /// Product.
    pub fn times(self, b: Self) -> Self {
        let product = self.near(b);
        Self::fast(product.hi, product.lo)
    }

    /// Product, of which the second part need not be small.
    pub fn near(self, b: Self) -> Self {
        let product = Self::product(self.hi, b.hi);
        let cross = self.hi.fma(b.lo, self.lo * b.hi);
        Self::new(product.hi, product.lo + cross)
    }

    /// Product with a single number.
    pub fn by(self, b: Val<'c>) -> Self {
        let product = Self::product(self.hi, b);
        Self::fast(product.hi, self.lo.fma(b, product.lo))
    }

    /// Both parts times a power of two.
    pub fn scaled(self, b: Val<'c>) -> Self {
        Self {
            hi: self.hi * b,
            lo: self.lo * b,
        }
    }

    /// Quotient.
    pub fn over(self, b: Self) -> Self {
        let q = self.hi.over(b.hi);
        let rest = (-q).fma(b.hi, self.hi) + (-q).fma(b.lo, self.lo);
        Self {
            hi: q,
            lo: rest.over(b.hi),
        }
    }

    /// Square root. Of zero it is zero.
    pub fn sqrt(self) -> Self {
        let root = self.hi.sqrt();
        let rest = (-root).fma(root, self.hi) + self.lo;
        let lo = rest.over(root + root);
        Self {
            hi: root,
            lo: lo.or_if(root.eq(0.0), 0.0),
        }
    }

    /// The first where the condition holds, else the second.
    pub fn select(cond: Val<'c>, a: Self, b: Self) -> Self {
        Self {
            hi: cond.select(a.hi, b.hi),
            lo: cond.select(a.lo, b.lo),
        }
    }

    /// As one number.
    pub fn rounded(self) -> Val<'c> {
        self.hi + self.lo
    }
}

impl<'c> std::ops::Neg for Pair<'c> {
    type Output = Self;
    fn neg(self) -> Self {
        Self {
            hi: -self.hi,
            lo: -self.lo,
        }
    }
}
