//! Expressions after what programs of others do: sizes that functions compute of arrays, functions that are given a length,
//! records of functions, in-place updates, slices.

use super::{Fun, Num, Row, Size, Source, Store};

/// What these expressions use.
pub(super) const HELPERS: &str = "\
def count [n] (xs: [n]i64) : i64 = i64.sum (map (\\x -> if x > 0 then 1 else 0) xs)
def front [n] (xs: [n]i64) : [count xs]i64 = take (count xs) xs
def span [n] (xs: [n]i64) : ([count xs]i64, [n - count xs]i64) = (take (count xs) xs, drop (count xs) xs)
def grown [n] (f: (k: i64) -> [k]i64) (_: [n]i64) : [n + 1]i64 = f (n + 1)
type^ maker = {make: (n: i64) -> [n]i64, by: i64}
def made (m: maker) (n: i64) : [n]i64 = map (+ m.by) (m.make n)
type square [n] = [n][n]i64
def product [n] (xs: [n]i64) : square [n] = map (\\x -> map (\\y -> x * y % 101) xs) xs
def diagonal [n] (xss: square [n]) : [n]i64 = tabulate n (\\i -> xss[i, i])
def set [n] (xs: *[n]i64) (x: i64) : *[n]i64 = if n == 0 then xs else xs with [n / 2] = x
def exactly [n] (m: i64) (xs: [n]i64) : [m]i64 = if n == m then xs :> [m]i64 else replicate m n
";

impl Source {
    /// An array of the size.
    pub(super) fn idiom(&mut self, n: &Size, d: usize) -> String {
        let same = Row(n.clone());
        match (self.rng.below(9), n) {
            (0 | 1, Size::Plus(a, b)) if **b == Size::Const(1) => {
                let xs = self.exp(&Row((**a).clone()), d);
                let f = self.exp(&Fun, d);
                let f = self
                    .rng
                    .pick(&["iota".into(), format!("(\\k -> tabulate k {f})")])
                    .clone();
                format!("(grown {f} {xs})")
            }
            (0 | 1, _) if n.is_shown() => {
                let (x, by) = (self.exp(&Num, d), self.exp(&Num, d));
                format!("(made {{make = \\k -> replicate k {x}, by = {by}}} ({n}))")
            }
            (2, _) if n.is_shown() => format!("(exactly ({n}) {})", self.some_size(d)),
            (3, _) => format!("(diagonal (product {}))", self.exp(&same, d)),
            (4, _) => {
                let (xs, x) = (self.exp(&same, d), self.exp(&Num, d));
                format!("(set (copy {xs}) {x})")
            }
            (5, _) => {
                let (xs, ys) = (self.exp(&same, d), self.some_size(d));
                let x = self.name("x");
                format!("(let {x} = {ys} in reduce_by_index (copy {xs}) (+) 0 (map (% 3) {x}) {x})")
            }
            (6, _) => {
                let (xs, ys) = (self.exp(&same, d), self.some_size(d));
                let x = self.name("x");
                format!("(let {x} = {ys} in scatter (copy {xs}) (indices {x}) {x})")
            }
            (7, _) => format!("({}[::-1])", self.exp(&same, d)),
            _ => {
                let (xs, ys) = (self.exp(&same, d), self.exp(&same, d));
                let pairs = format!("(map2 (\\a b -> {{a, b}}) {xs} {ys})");
                format!("(map (\\(p: {{a: i64, b: i64}}) -> small (p.a * p.b)) {pairs})")
            }
        }
    }

    /// An array of a size that is known when the program runs, made of another one.
    pub(super) fn idiom_of(&mut self, xs: &str, d: usize) -> String {
        let x = self.name("x");
        match self.rng.below(8) {
            0 => format!("(front {xs})"),
            1 => format!("((span {xs}).1)"),
            2 => format!("(let ({x}, y) = span {xs} in y ++ {x})"),
            3 => format!("(let {x} = {xs} in {x}[length {x} / 2:])"),
            4 => format!("(let {x} = {xs} let k = length {x} in {x} :> [k]i64)"),
            5 => {
                let ys = self.some_size(d);
                let i = self.name("i");
                format!(
                    "((loop ({x}: []i64, y: []i64) = ({xs}, {ys}) for {i} < 2 do (y, {x} ++ [{i}])).1)"
                )
            }
            6 => {
                let module = self.rng.below(self.stores);
                let n = self.size();
                let store = self.exp(&Store(module, n), d);
                format!(
                    "(let {x} = {xs} in if s{module}.(size {store}) > length {x} then {x} else s{module}.(keep (> 1) {store}))"
                )
            }
            _ => {
                let c = self.condition(d);
                format!(
                    "(let {x} = {xs} in match (length {x}, {c}) case (0, _) -> [1] case (_, true) -> {x} case _ -> {x} ++ {x})"
                )
            }
        }
    }
}
