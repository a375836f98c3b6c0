//! Arrays of irregular arrays.

use super::{Deep, Number, Row, Rows, Source};

impl Source {
    pub(super) fn deep(&mut self, d: usize) -> String {
        match self.rng.below(12) {
            0 | 1 => format!(
                "(map {} {})",
                self.lambda(Number, Rows, d),
                self.exp(Row, d)
            ),
            2 | 3 => format!("(map {} {})", self.lambda(Row, Rows, d), self.exp(Rows, d)),
            4 | 5 => format!("(map {} {})", self.lambda(Rows, Rows, d), self.exp(Deep, d)),
            6 => format!(
                "(filter (\\rs -> length rs > {}) {})",
                self.rng.below(3),
                self.exp(Deep, d)
            ),
            7 => format!("(reverse {})", self.exp(Deep, d)),
            8 => format!(
                "(few_deep ({} ++ {}))",
                self.exp(Deep, d),
                self.exp(Deep, d)
            ),
            9 => format!("(replicate {} {})", self.rng.below(3), self.exp(Rows, d)),
            10 => format!(
                "(set_deep (copy {}) {} {})",
                self.exp(Deep, d),
                self.exp(Number, d),
                self.lambda(Number, Number, 1)
            ),
            _ => format!("(rotate {} {})", self.exp(Number, 0), self.exp(Deep, d)),
        }
    }
}
