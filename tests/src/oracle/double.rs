//! Arithmetic with pairs of binary64, about 104 bits (Dekker 1971; Hida, Li and Bailey 2001).

use std::ops::{Add, Div, Mul, Neg, Sub};

/// The sum of two numbers, the second at most half a last bit of the first.
#[derive(Clone, Copy, Debug)]
pub struct Dd(pub f64, pub f64);

/// Zero.
pub const ZERO: Dd = Dd(0.0, 0.0);
/// One.
pub const ONE: Dd = Dd(1.0, 0.0);
/// pi.
pub const PI: Dd = Dd(std::f64::consts::PI, 1.224_646_799_147_353_2e-16);
/// log(2).
pub const LN_2: Dd = Dd(std::f64::consts::LN_2, 2.319_046_813_846_299_6e-17);
/// log(10).
pub const LN_10: Dd = Dd(std::f64::consts::LN_10, -2.170_756_223_382_249_4e-16);

fn two_sum(a: f64, b: f64) -> Dd {
    let s = a + b;
    let t = s - a;
    Dd(s, (a - (s - t)) + (b - t))
}

fn fast(a: f64, b: f64) -> Dd {
    let s = a + b;
    Dd(s, b - (s - a))
}

impl Dd {
    /// The exact product of two numbers.
    pub fn product(a: f64, b: f64) -> Self {
        let p = a * b;
        Self(p, a.mul_add(b, -p))
    }
    /// Square root.
    pub fn sqrt(self) -> Self {
        if self.0 <= 0.0 {
            return Self(self.0.sqrt(), 0.0);
        }
        let root = Self::from(self.0.sqrt());
        root + (self - root * root) / (root + root)
    }
    /// Times a power of two.
    pub fn scale(self, exponent: i32) -> Self {
        let (a, b) = (exponent / 2, exponent - exponent / 2);
        let (a, b) = (2f64.powi(a), 2f64.powi(b));
        Self(self.0 * a * b, self.1 * a * b)
    }
    /// Magnitude.
    pub fn abs(self) -> Self {
        if self.0 < 0.0 { -self } else { self }
    }
    /// The sum of `first` and terms that `next` makes, each from the one before and its number (from one), until they
    /// do not count any more.
    pub fn series(first: Self, mut next: impl FnMut(Self, f64) -> (Self, Self)) -> Self {
        let (mut sum, mut state) = (first, first);
        for n in 1..400 {
            let (following, term) = next(state, f64::from(n));
            sum = sum + term;
            state = following;
            if term.0.abs() <= sum.0.abs() * 1e-34 {
                break;
            }
        }
        sum
    }
}

impl From<f64> for Dd {
    fn from(x: f64) -> Self {
        Self(x, 0.0)
    }
}

impl Neg for Dd {
    type Output = Self;
    fn neg(self) -> Self {
        Self(-self.0, -self.1)
    }
}

impl Add for Dd {
    type Output = Self;
    fn add(self, b: Self) -> Self {
        let (high, low) = (two_sum(self.0, b.0), two_sum(self.1, b.1));
        let first = fast(high.0, high.1 + low.0);
        fast(first.0, first.1 + low.1)
    }
}

impl Sub for Dd {
    type Output = Self;
    fn sub(self, b: Self) -> Self {
        self + -b
    }
}

impl Mul for Dd {
    type Output = Self;
    fn mul(self, b: Self) -> Self {
        let p = Self::product(self.0, b.0);
        fast(p.0, p.1 + self.0.mul_add(b.1, self.1 * b.0))
    }
}

impl Div for Dd {
    type Output = Self;
    fn div(self, b: Self) -> Self {
        let first = self.0 / b.0;
        let rest = self - b * Self::from(first);
        let second = rest.0 / b.0;
        let rest = rest - b * Self::from(second);
        let sum = fast(first, second);
        fast(sum.0, sum.1 + rest.0 / b.0)
    }
}

impl Add<f64> for Dd {
    type Output = Self;
    fn add(self, b: f64) -> Self {
        self + Self::from(b)
    }
}

impl Sub<f64> for Dd {
    type Output = Self;
    fn sub(self, b: f64) -> Self {
        self + Self::from(-b)
    }
}

impl Mul<f64> for Dd {
    type Output = Self;
    fn mul(self, b: f64) -> Self {
        self * Self::from(b)
    }
}

impl Div<f64> for Dd {
    type Output = Self;
    fn div(self, b: f64) -> Self {
        self / Self::from(b)
    }
}
