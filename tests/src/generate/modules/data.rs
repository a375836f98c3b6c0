//! Expressions of matrices, records and sums.

use super::{Mat, Num, Pack, Packs, Row, Size, Source};

impl Source {
    pub(super) fn matrix(&mut self, n: &Size, m: &Size, d: usize) -> String {
        match self.rng.below(6) {
            0 if n.is_shown() && m.is_shown() => {
                let (i, j) = (self.name("i"), self.name("j"));
                let inside = [(i.clone(), Num), (j.clone(), Num)];
                let body = self.with(&inside, |g| g.exp(&Num, d));
                format!("(tabulate_2d ({n}) ({m}) (\\{i} {j} -> {body}))")
            }
            1 => format!("(transpose {})", self.exp(&Mat(m.clone(), n.clone()), d)),
            2 if n.is_shown() => format!("(replicate ({n}) {})", self.exp(&Row(m.clone()), d)),
            3 => {
                let r = self.name("r");
                let row = Row(m.clone());
                let body = self.with(&[(r.clone(), row.clone())], |g| g.exp(&row, d));
                let matrix = self.exp(&Mat(n.clone(), m.clone()), d);
                format!("(map (\\{r} -> {body}) {matrix})")
            }
            4 if n.is_shown() && m.is_shown() => {
                let flat = self.exp(&Row(n.clone().times(m.clone())), d);
                format!("(unflatten {flat} : [{n}][{m}]i64)")
            }
            _ => {
                let x = self.name("x");
                let xs = self.exp(&Row(n.clone()), d);
                let body = self.with(&[(x.clone(), Num)], |g| g.exp(&Row(m.clone()), d));
                format!("(map (\\{x} -> {body}) {xs})")
            }
        }
    }

    pub(super) fn pack(&mut self, n: &Size, d: usize) -> String {
        let ty = Pack(n.clone());
        match self.rng.below(4) {
            0 => {
                let (r, x) = (self.exp(&ty, d), self.exp(&Num, d));
                format!("({r} with s = {x})")
            }
            1 => {
                let (r, xs) = (self.exp(&ty, d), self.exp(&Row(n.clone()), d));
                format!("({r} with xs = {xs})")
            }
            2 => {
                let (xs, s) = (self.exp(&Row(n.clone()), d), self.exp(&Num, d));
                format!("{{xs = {xs}, s = {s}}}")
            }
            _ => {
                let (xs, s) = (self.exp(&Row(n.clone()), d), self.exp(&Num, d));
                format!("(pack {xs} {s})")
            }
        }
    }

    pub(super) fn packs(&mut self, n: &Size, m: &Size, d: usize) -> String {
        let inner = Pack(m.clone());
        match self.rng.below(4) {
            0 if n.is_shown() => format!("(replicate ({n}) {})", self.exp(&inner, d)),
            1 => {
                let (rows, x) = (self.exp(&Packs(n.clone(), m.clone()), d), self.exp(&Num, d));
                format!("(map (\\(r: pack []) -> r with s = r.s + {x}) {rows})")
            }
            2 => {
                let (rows, s) = (self.exp(&Mat(n.clone(), m.clone()), d), self.exp(&Num, d));
                format!("(map (\\xs -> {{xs, s = {s}}}) {rows})")
            }
            _ => {
                let (x, xs) = (self.name("x"), self.exp(&Row(n.clone()), d));
                let body = self.with(&[(x.clone(), Num)], |g| g.exp(&inner, d));
                format!("(map (\\{x} -> {body}) {xs})")
            }
        }
    }

    pub(super) fn opt(&mut self, n: &Size, d: usize) -> String {
        let xs = self.exp(&Row(n.clone()), d);
        match self.rng.below(5) {
            0 => format!("(none {xs})"),
            1 if n.is_shown() => format!("(#some {xs} : opt [{n}])"),
            2 if n.is_shown() => {
                let ys = self.exp(&Row(n.clone().plus(Size::Const(1))), d);
                format!("(#two {} {ys} : opt [{n}])", self.exp(&Num, d))
            }
            3 => format!("(two {xs} {})", self.exp(&Num, d)),
            _ => format!("(some {xs})"),
        }
    }

    pub(super) fn table(&mut self, n: &Size, d: usize) -> String {
        if n.is_shown() && self.rng.chance(60) {
            let double = Size::Const(2).times(n.clone());
            let first = self.exp(&Row(double), d);
            let second = self.exp(&Row(n.clone().plus(Size::Const(1))), d);
            let third = self.exp(&Row(Size::Call(Box::new(n.clone()))), d);
            return format!(
                "({{first = {first}, second = {second}, third = {third}}} : table [{n}])"
            );
        }
        format!("(table {})", self.exp(&Row(n.clone()), d))
    }
}
