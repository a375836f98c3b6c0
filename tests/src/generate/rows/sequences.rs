//! Sequences in random programs: such as are made inside of them, also in parallel code, and parameters, which several consumers
//! go through together.

use super::{Kind, Number, Random, Row, Rows, Source, array, lengths, number, numbers, total};
use midend::value::Value;

/// Which sequences a program has.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Sequences {
    /// None.
    Without,
    /// Such as are made in it.
    Inside,
    /// Parameters as well.
    Parameters,
}

/// Parameters, after the others.
pub(super) const PARAMETERS: &str = " (s: seq i64) (t: seq i64) (u: seq ([..]i64))";

/// How many consumers of parameters a program has at most.
const CONSUMERS: usize = 4;

/// Arguments for the parameters.
pub(super) fn arguments(seed: u64) -> Vec<Value> {
    let mut rng = Random::new(seed ^ 0x5e9);
    let most = *rng.pick(&[0, 1, 2, 3, 5, 9]);
    let mut args = Vec::new();
    for _ in 0..2 {
        let n = rng.below(most + 1);
        args.push((0..n).map(|_| number(&mut rng)).collect());
    }
    let n = rng.below(most + 1);
    let ls = lengths(&mut rng, n);
    let xs = numbers(&mut rng, total(&ls));
    args.extend([ls, xs]);
    args.into_iter().map(array).collect()
}

impl Source {
    /// What goes through a sequence, and gives a value of the kind.
    pub(super) fn consumer(&mut self, kind: Kind, d: usize) -> String {
        match kind {
            Number if self.rng.chance(70) => {
                let s = self.sequence(Number, d);
                self.number_of(&s, d)
            }
            Number if self.rng.chance(60) => {
                let s = self.sequence(Row, d);
                self.number_of_rows(&s)
            }
            Number => {
                let s = self.sequence(Rows, d);
                format!("(seq.fold (\\a r -> a * 3 + i64.sum (flatten r)) 0 {s})")
            }
            Row if self.rng.chance(60) => {
                let s = self.sequence(Number, d);
                self.row_of(&s)
            }
            Row => {
                let s = self.sequence(Row, d);
                self.row_of_rows(&s)
            }
            Rows => {
                let s = self.sequence(Row, d);
                self.rows_of(&s)
            }
            Kind::Deep if self.rng.chance(60) => {
                let s = self.sequence(Rows, d);
                format!("(seq.to_array {s})")
            }
            Kind::Deep => self.deep(d),
        }
    }

    /// A sequence of elements of the kind.
    fn sequence(&mut self, elem: Kind, d: usize) -> String {
        let d = d.saturating_sub(1);
        match self.rng.below(if d == 0 { 3 } else { 7 }) {
            0 => {
                let n = self.exp(Number, d.min(1));
                format!("(seq.produce ({n} % 8) {})", self.lambda(Number, elem, d))
            }
            1 | 2 => {
                let (array, more) = match elem {
                    Number => (Row, None),
                    Row => (Rows, None),
                    Rows | Kind::Deep => (Rows, Some(self.lambda(Row, Rows, d))),
                };
                let e = self.exp(array, d);
                match more {
                    Some(f) => format!("(seq.map {f} (seq.from_array {e}))"),
                    None => format!("(seq.from_array {e})"),
                }
            }
            3 | 4 => {
                let from = *self.rng.pick(&[Number, Row]);
                let s = self.sequence(from, d);
                format!("(seq.map {} {s})", self.lambda(from, elem, d))
            }
            5 => {
                let (s, t) = (self.sequence(Number, d), self.sequence(Row, d));
                let (x, r) = (self.name("x"), self.name("r"));
                let before = self.scope.len();
                self.scope.extend([(x.clone(), Number), (r.clone(), Row)]);
                let body = self.exp(elem, d);
                self.scope.truncate(before);
                format!("(seq.zip_with (\\{x} {r} -> {body}) {s} {t})")
            }
            _ => {
                let (s, t) = (self.sequence(Number, d), self.sequence(elem, d));
                format!("(seq.map (.1) (seq.zip {s} {t}))")
            }
        }
    }

    fn number_of(&mut self, s: &str, d: usize) -> String {
        match self.rng.below(6) {
            0 => format!("(seq.reduce (+) 0 {s})"),
            1 => format!("(seq.reduce i64.max i64.lowest {s} % 97)"),
            2 => format!("(seq.length {s})"),
            3 => format!("(seq.fold_chunks (\\a c (ys: [c]i64) -> a + c * 5 + i64.sum ys) 0 {s})"),
            4 => format!(
                "(seq.fold (\\a y -> a * 3 + y) {} {s})",
                self.exp(Number, d.min(1))
            ),
            _ => format!("(seq.fold {} 1 {s})", self.operator()),
        }
    }

    fn number_of_rows(&mut self, s: &str) -> String {
        match self.rng.below(4) {
            0 => format!("(seq.length {s})"),
            1 => format!("(seq.fold (\\a r -> a * 3 + i64.sum r) 0 {s})"),
            2 => format!("(seq.reduce (+) 0 (seq.map length {s}))"),
            _ => format!("(i64.sum (seq.elements {s}))"),
        }
    }

    fn row_of(&mut self, s: &str) -> String {
        match self.rng.below(5) {
            0 | 1 => format!("(seq.to_array {s})"),
            2 => format!("(seq.elements (seq.map (\\y -> io y) {s}))"),
            3 => format!(
                "(seq.fold (\\(a: [3]i64) y -> map2 (+) (map (* 2) a) [y, 1, a[0]]) [0, 1, 2] {s})"
            ),
            _ => format!(
                "(let (a, b) = unzip (seq.to_array (seq.map (\\y -> (y, y * {})) {s})) in map2 (-) a b)",
                self.rng.below(5)
            ),
        }
    }

    fn row_of_rows(&mut self, s: &str) -> String {
        match self.rng.below(4) {
            0 | 1 => format!("(seq.elements {s})"),
            2 => format!("(seq.to_array (seq.map i64.sum {s}))"),
            _ => format!("(lengths (seq.rows {s}))"),
        }
    }

    fn rows_of(&mut self, s: &str) -> String {
        match self.rng.below(4) {
            0 | 1 => format!("(seq.rows {s})"),
            2 => format!("(seq.to_array {s})"),
            _ => format!("(seq.tabulate {s} :> [][..]i64)"),
        }
    }

    /// Consumers of parameters, with the kinds of what they give. None needs what another one gives.
    pub(super) fn consumers(&mut self) -> Vec<(Kind, String)> {
        let count = self.rng.below(CONSUMERS + 1);
        let mut all = Vec::new();
        for _ in 0..count {
            let kind = *self.rng.pick(&[Number, Row, Rows]);
            let f = self.rng.chance(40).then(|| self.lambda(Number, Number, 2));
            let mapped = |s: String| match f {
                Some(f) => format!("(seq.map {f} {s})"),
                None => s,
            };
            let numbers = ["s", "t", "(seq.zip_with (+) s t)", "(seq.map i64.sum u)"];
            let numbers = mapped((*self.rng.pick(&numbers)).to_owned());
            let rows = [
                "u",
                "(seq.map (\\r -> map (+ 1) r) u)",
                "(seq.map (\\y -> io y) s)",
            ];
            let rows = (*self.rng.pick(&rows)).to_owned();
            let e = match kind {
                Number if self.rng.chance(70) => self.number_of(&numbers, 1),
                Number => self.number_of_rows(&rows),
                Row if self.rng.chance(60) => self.row_of(&numbers),
                Row => self.row_of_rows(&rows),
                Rows | Kind::Deep => self.rows_of(&rows),
            };
            all.push((kind, self.held(kind, &e)));
        }
        all
    }
}
