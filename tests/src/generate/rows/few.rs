//! Functions and remainders of counters and indices of few values, in which all points of a map agree.

use super::{Number, Row, Rows, Source};

impl Source {
    /// A number that is costly and depends on a small one.
    fn costly(&mut self, small: &str) -> String {
        const FUNCTIONS: [&str; 6] = ["sin", "cos", "exp", "log", "tanh", "cbrt"];
        let name = *self.rng.pick::<&str>(&FUNCTIONS);
        let of = match self.rng.below(4) {
            0 => format!("({small} % {})", 2 + self.rng.below(4)),
            1 => format!("({small} * {})", self.rng.below(4)),
            2 => format!("({small} * (k % {}))", 1 + self.rng.below(9)),
            _ => small.to_owned(),
        };
        let by = *self.rng.pick(&["0.25", "0.5", "1.25"]);
        let number = match self.rng.below(3) {
            0 => format!("i64.f32 (100 * f32.{name} (f32.i64 {of} * {by}))"),
            _ => format!("i64.f64 (100 * f64.{name} (f64.i64 {of} * {by}))"),
        };
        match self.rng.below(4) {
            0 => format!("({number} + {of} % (k % 5 + 7))"),
            _ => format!("({number})"),
        }
    }

    /// A name in scope while an expression is made.
    fn within(&mut self, name: &str, d: usize) -> String {
        self.scope.push((name.to_owned(), Number));
        let e = self.exp(Number, d.min(1));
        self.scope.pop();
        e
    }

    /// What is costly, for each value of a name, and something that is made of others as well.
    fn each(&mut self, name: &str, d: usize) -> String {
        let costly = self.costly(name);
        let own = self.within(name, d);
        match self.rng.below(4) {
            0 => format!(
                "(if {own} % 2 == 0 then {costly} else {})",
                self.costly(name)
            ),
            1 => costly,
            2 => format!("({costly} + {own})"),
            _ => format!("({costly} * {own})"),
        }
    }

    /// How many values there are.
    fn values(&mut self) -> String {
        match self.rng.below(4) {
            0 => format!("(k % {})", 2 + self.rng.below(6)),
            _ => format!("{}", 2 + self.rng.below(6)),
        }
    }

    /// A number that a loop or a sum makes of such ones.
    pub(super) fn few_values(&mut self, d: usize) -> String {
        let (i, n) = (self.name("i"), self.values());
        let each = self.each(&i, d);
        match self.rng.below(3) {
            0 | 1 => {
                let (s, start) = (self.name("s"), self.exp(Number, d));
                format!("(loop {s} = {start} for {i} < {n} do {s} * 3 + {each})")
            }
            _ => format!("(i64.sum (map (\\{i} -> {each}) (iota {n})))"),
        }
    }

    /// A row of which each element takes some of them.
    pub(super) fn row_of_few(&mut self, d: usize) -> String {
        let (x, row) = (self.name("x"), self.exp(Row, d));
        self.scope.push((x.clone(), Number));
        let number = self.few_values(d);
        self.scope.pop();
        format!("(map (\\{x} -> {number}) {row})")
    }

    /// Rows of one length, or of those of others.
    pub(super) fn rows_of_few(&mut self, d: usize) -> String {
        let (x, i) = (self.name("x"), self.name("i"));
        if self.rng.chance(50) {
            let rows = self.exp(Rows, d);
            let each = self.each(&i, d);
            return format!(
                "(map (\\{x} -> map2 (\\{i} y -> {each} + y) (indices {x}) {x}) {rows})"
            );
        }
        let (row, n) = (self.exp(Row, d), self.values());
        self.scope.push((x.clone(), Number));
        let each = self.each(&i, d);
        self.scope.pop();
        format!("(map (\\{x} -> map (\\{i} -> {each}) (iota {n})) {row} :> [][..]i64)")
    }
}
