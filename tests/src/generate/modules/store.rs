//! Modules of one module type, which hides how they keep the numbers that they are given; parametric modules of them.

use super::{Num, Row, Size, Source, Store, Type};

/// The module type.
const STORE: &str = "\
module type store = {
  type t [n]
  val of [n] : [n]i64 -> t [n]
  val get [n] : t [n] -> [n]i64
  val make : (n: i64) -> (i64 -> i64) -> t [n]
  val step [n] : i64 -> t [n] -> t [n]
  val join [n] [m] : t [n] -> t [m] -> t [n + m]
  val keep [n] : (i64 -> bool) -> t [n] -> ?[q].[q]i64
  val size [n] : t [n] -> i64
}
module type number = { val by: i64 val f : i64 -> i64 }
";

/// How a module keeps numbers: its type, how it is made of an array, and how it becomes one again.
const KEPT: [(&str, &str, &str); 7] = [
    ("[n]i64", "xs", "a"),
    ("{xs: [n]i64, s: i64}", "{xs, s = n}", "a.xs"),
    (
        "([n]i64, [n]bool)",
        "(map (+ 1) xs, map (> 0) xs)",
        "map2 (\\x p -> if p then x - 1 else x + (-1)) a.0 a.1",
    ),
    (
        "{first: [n + 1]i64, n: [n]()}",
        "{first = xs ++ [n], n = map (const ()) xs}",
        "take n a.first",
    ),
    (
        "#plain ([n]i64) | #twice ([2 * n]i64)",
        "if n > 2 then #plain xs else #twice (xs ++ xs :> [2 * n]i64)",
        "match a case #plain ys -> ys case #twice ys -> take n ys",
    ),
    (
        "{low: [n / 2]i64, high: [n - n / 2]i64, even: [n]bool}",
        "{low = take (n / 2) xs, high = drop (n / 2) xs, even = map (\\x -> x % 2 == 0) xs}",
        "(a.low ++ a.high) :> [n]i64",
    ),
    (
        "grid [n] [2] i64",
        "map (\\x -> [x, n] :> [2]i64) xs",
        "map (\\r -> r[0]) a",
    ),
];

/// So many of them have one array, and may be seen.
const OPEN: usize = 2;

/// What parametric modules make of the type of others.
const WRAPPED: [(&str, &str, &str); 4] = [
    ("A.t [n]", "A.step 0 (A.of xs)", "A.get a"),
    (
        "(A.t [2 * n], [n]bool)",
        "(A.of ((xs ++ map P.f xs) :> [2 * n]i64), map (> P.by) xs)",
        "take n (A.get a.0)",
    ),
    (
        "{in_: A.t [n], by: i64}",
        "{in_ = A.of xs, by = P.by}",
        "A.get a.in_",
    ),
    (
        "#some (A.t [n]) | #rest ([n]i64)",
        "if n % 2 == 0 then #some (A.of xs) else #rest xs",
        "match a case #some b -> A.get b case #rest ys -> ys",
    ),
];

impl Source {
    /// The module type and its modules `s0`, `s1`, ..
    pub(super) fn modules(&mut self) -> String {
        let mut out = String::from("type grid [n] [m] 'a = [n][m]a\n");
        out.push_str(STORE);
        let plain = 1 + self.rng.below(3);
        for _ in 0..plain {
            let kept = self.rng.below(KEPT.len());
            let (ty, of, get) = KEPT[kept];
            let body = self.members(ty, of, get);
            // Where branches differ, arrays of an abstract type still have one size, those of a record do not.
            let open = kept < OPEN && self.rng.chance(60);
            let sealed = if open { "" } else { " : store" };
            out.push_str(&format!("module s{}{sealed} = {{\n{body}}}\n", self.stores));
            self.stores += 1;
        }
        for _ in 0..self.rng.below(3) {
            let (ty, of, get) = *self.rng.pick(&WRAPPED);
            let body = self.members(ty, of, get);
            let name = self.name("mk");
            out.push_str(&format!(
                "module {name} (A: store) (P: number) : store = {{\n{body}}}\n"
            ));
            let (of, by) = (self.rng.below(self.stores), self.rng.below(4));
            out.push_str(&format!(
                "module s{} = {name} s{of} {{ def by = {by}i64 def f = (+ by) }}\n",
                self.stores
            ));
            self.stores += 1;
        }
        if self.rng.chance(50) {
            let body = self.members(
                "(A.t [n], B.t [n + 1])",
                "(A.of xs, B.of (xs ++ [n]))",
                "map2 (\\x y -> x + y - y) (A.get a.0) (take n (B.get a.1))",
            );
            out.push_str(&format!(
                "module pair (A: store) (B: store) : store = {{\n{body}}}\n"
            ));
            let (a, b) = (self.rng.below(self.stores), self.rng.below(self.stores));
            out.push_str(&format!("module s{} = pair s{a} s{b}\n", self.stores));
            self.stores += 1;
        }
        if self.rng.chance(30) {
            let of = self.rng.below(self.stores);
            out.push_str(&format!("module s{} = {{ open s{of} }}\n", self.stores));
            self.stores += 1;
        }
        out
    }

    /// The members of a module.
    fn members(&mut self, ty: &str, of: &str, get: &str) -> String {
        let step = self
            .rng
            .pick(&[
                "of (map (+ k) (get a))",
                "of (scan (+) k (get a))",
                "let b = get a in of (map2 (\\x i -> x * i + k) b (indices b))",
                "of (loop b = get a for i < 3 do map (+ i) b)",
                "twice (\\b -> of (reverse (get b))) a",
            ])
            .to_string();
        let keep = self
            .rng
            .pick(&[
                "filter p (get a)",
                "(let b = get a in if n > 1 && p n then filter p b else b)",
                "(loop (b: []i64) = get a for i < 2 do if p i then b ++ [i] else filter p b)",
            ])
            .to_string();
        let size = *self
            .rng
            .pick(&["n", "length (get a)", "i64.sum (map (const 1) (get a))"]);
        let make = *self.rng.pick(&[
            "of (tabulate n f)",
            "of (map f (iota n))",
            "step 1 (of (replicate n (f n)))",
        ]);
        format!(
            "  type t [n] = {ty}
  def of [n] (xs: [n]i64) : t [n] = {of}
  def get [n] (a: t [n]) : [n]i64 = {get}
  def step [n] (k: i64) (a: t [n]) : t [n] = {step}
  def make (n: i64) (f: i64 -> i64) : t [n] = {make}
  def join [n] [m] (a: t [n]) (b: t [m]) : t [n + m] = of (get a ++ get b)
  def keep [n] (p: i64 -> bool) (a: t [n]) : ?[q].[q]i64 = {keep}
  def size [n] (a: t [n]) : i64 = {size}
"
        )
    }

    /// A value of a module's abstract type.
    pub(super) fn store(&mut self, module: usize, n: &Size, d: usize) -> String {
        let ty = Store(module, n.clone());
        match (self.rng.below(5), n) {
            (0, Size::Plus(a, b)) => {
                let left = self.exp(&Store(module, (**a).clone()), d);
                let right = self.exp(&Store(module, (**b).clone()), d);
                format!("(s{module}.join {left} {right})")
            }
            (1, _) => {
                let (k, a) = (self.exp(&Num, d), self.exp(&ty, d));
                format!("(s{module}.step {k} {a})")
            }
            (2, _) if n.is_shown() => {
                let f = self.exp(&Type::Fun, d);
                format!("(s{module}.make ({n}) {f})")
            }
            _ => {
                let xs = self.exp(&Row(n.clone()), d);
                format!("(s{module}.of {xs})")
            }
        }
    }
}
