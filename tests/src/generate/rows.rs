//! Random programs of the source language with irregular arrays: every operation on rows of any lengths, at several depths,
//! inside of maps, branches and loops. Most of them run to their end: indices and lengths are made to fit.

mod deep;
mod few;
mod sequences;

pub use sequences::Sequences;

use super::random::Random;
use midend::value::{ArrayValue, Data, Value};

/// What an expression is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    /// `i64`.
    Number,
    /// `[]i64`.
    Row,
    /// `[][..]i64`.
    Rows,
    /// `[][..][..]i64`.
    Deep,
}

use Kind::{Deep, Number, Row, Rows};

/// The types of the kinds.
const TYPES: [&str; 4] = ["i64", "[]i64", "[][..]i64", "[][..][..]i64"];

const KINDS: [Kind; 4] = [Number, Row, Rows, Deep];

/// What programs begin with: operations that fit for whatever they are given.
const HELPERS: &str = "\
type opt 'a = #some a | #none
def keep 'a (b: bool) (x: a) : opt a = if b then #some x else #none
def io (n: i64) : []i64 = iota (n % 6)
def hide [n] (xs: [n]i64) : []i64 = let k = n in take k xs
def few [n] (xs: [n]i64) : []i64 = let k = i64.min n 9 in take k xs
def few_rows [n] (xss: [n][..]i64) : [][..]i64 = let k = i64.min n 7 in take k xss
def few_deep [n] (xsss: [n][..][..]i64) : [][..][..]i64 = let k = i64.min n 5 in take k xsss
def same [n] [m] (xss: [n][..]i64) (yss: [m][..]i64) : bool = n == m && xss == (yss :> [n][..]i64)
def at [n] (xs: [n]i64) (i: i64) : i64 = if n == 0 then i else xs[i % n]
def row [n] (xss: [n][..]i64) (i: i64) : []i64 = if n == 0 then [] else xss[i % n]
def rows [n] (xsss: [n][..][..]i64) (i: i64) : [][..]i64 = if n == 0 then ([] : [0][..]i64) else xsss[i % n]
def both [n] [m] (f: i64 -> i64 -> i64) (xs: [n]i64) (ys: [m]i64) : []i64 =
  let k = i64.min n m in map2 f (take k xs) (take k ys)
def both_rows [n] [m] (f: []i64 -> []i64 -> []i64) (xss: [n][..]i64) (yss: [m][..]i64) : [][..]i64 =
  let k = i64.min n m in map2 f (take k xss) (take k yss)
def part [n] (xss: [n][..]i64) (a: i64) (b: i64) : [][..]i64 =
  let (a, b) = (a % (n + 1), b % (n + 1)) in if a <= b then xss[a:b] else xss[b:a]
def set [n] (xss: *[n][..]i64) (i: i64) (j: i64) (x: i64) : *[n][..]i64 =
  if n == 0 || length xss[i % n] == 0 then xss else xss with [i % n, j % length xss[i % n]] = x
def set_row [n] (xss: *[n][..]i64) (i: i64) (f: i64 -> i64) : *[n][..]i64 =
  if n == 0 then xss else xss with [i % n] = map f xss[i % n]
def set_rows [n] (xss: *[n][..]i64) (k: i64) (f: i64 -> i64) : *[n][..]i64 =
  let k = k % (n + 1) in xss with [0:k] = map (map f) xss[0:k]
def set_deep [n] (xsss: *[n][..][..]i64) (i: i64) (f: i64 -> i64) : *[n][..][..]i64 =
  if n == 0 then xsss else xsss with [i % n] = map (map f) xsss[i % n]
";

/// The text of a program from a seed, with about so many expressions. Its entry point is `main`.
pub fn text(seed: u64, budget: usize, sequences: Sequences) -> String {
    let mut gen_ = Source {
        rng: Random::new(seed ^ 0x0c57),
        scope: vec![
            ("k".into(), Number),
            ("ns".into(), Row),
            ("xss".into(), Rows),
            ("xsss".into(), Deep),
        ],
        next: 0,
        budget,
        sequences,
    };
    gen_.program()
}

fn type_of(kind: Kind) -> &'static str {
    let at = KINDS.iter().position(|k| *k == kind);
    TYPES[at.unwrap_or(0)]
}

/// Arguments for the programs of this generator.
pub fn arguments(seed: u64, sequences: Sequences) -> Vec<Value> {
    let mut rng = Random::new(seed ^ 0x5eed);
    let most = *rng.pick(&[0, 1, 2, 3, 5, 8]);
    let count = |rng: &mut Random| rng.below(most + 1);
    let k = midend::ir::scalar::Const::I64(number(&mut rng));
    let n = count(&mut rng);
    let ns = numbers(&mut rng, n);
    let n = count(&mut rng);
    let ls = lengths(&mut rng, n);
    let xs = numbers(&mut rng, total(&ls));
    let n = count(&mut rng).min(4);
    let outer = lengths(&mut rng, n);
    let inner = lengths(&mut rng, total(&outer));
    let ys = numbers(&mut rng, total(&inner));
    let mut args = vec![Value::Scalar(k)];
    args.extend([ns, ls, xs, outer, inner, ys].map(array));
    if sequences == Sequences::Parameters {
        args.extend(sequences::arguments(seed));
    }
    args
}

fn number(rng: &mut Random) -> i64 {
    rng.below(23) as i64 - 7
}

fn numbers(rng: &mut Random, n: usize) -> Vec<i64> {
    (0..n).map(|_| number(rng)).collect()
}

fn lengths(rng: &mut Random, n: usize) -> Vec<i64> {
    let even = rng.chance(20).then(|| rng.below(4) as i64);
    (0..n)
        .map(|_| even.unwrap_or_else(|| rng.below(5) as i64))
        .collect()
}

fn total(lengths: &[i64]) -> usize {
    lengths.iter().sum::<i64>() as usize
}

fn array(data: Vec<i64>) -> Value {
    let shape = vec![data.len() as i64];
    Value::Array(ArrayValue {
        shape,
        data: Data::I64(data),
    })
}

/// The state of generation.
struct Source {
    rng: Random,
    scope: Vec<(String, Kind)>,
    next: usize,
    budget: usize,
    sequences: Sequences,
}

impl Source {
    fn program(&mut self) -> String {
        let mut out = String::from(HELPERS);
        let given = match self.sequences {
            Sequences::Parameters => sequences::PARAMETERS,
            Sequences::Without | Sequences::Inside => "",
        };
        out.push_str(&format!(
            "entry main (k: i64) (ns: []i64) (xss: [][..]i64) (xsss: [][..][..]i64){given}\n"
        ));
        let mut body = String::new();
        while self.budget > 0 {
            let kind = *self.rng.pick(&[Number, Row, Row, Rows, Rows, Rows, Deep]);
            let e = self.exp(kind, 3);
            let name = self.name("v");
            body.push_str(&format!("  let {name} = {e}\n"));
            self.scope.push((name, kind));
        }
        let mut types = TYPES.to_vec();
        let results = KINDS.map(|kind| {
            if self.rng.chance(70) {
                self.newest(kind)
            } else {
                self.exp(kind, 1)
            }
        });
        let mut results = results.to_vec();
        if self.sequences == Sequences::Parameters {
            for (kind, e) in self.consumers() {
                types.push(type_of(kind));
                results.push(e);
            }
        }
        out.push_str(&format!("    : ({}) =\n{body}", types.join(", ")));
        out.push_str(&format!("  in ({})\n", results.join(", ")));
        out
    }

    fn name(&mut self, prefix: &str) -> String {
        self.next += 1;
        format!("{prefix}{}", self.next)
    }

    /// What was bound last.
    fn newest(&mut self, kind: Kind) -> String {
        let of_kind = self.scope.iter().rev().find(|(_, k)| *k == kind);
        of_kind.map_or_else(|| "k".into(), |(name, _)| name.clone())
    }

    fn variable(&mut self, kind: Kind) -> String {
        let all: Vec<&String> = self
            .scope
            .iter()
            .filter(|(_, k)| *k == kind)
            .map(|(n, _)| n)
            .collect();
        // Those that were bound last are the more interesting ones.
        let last = all.len().min(3);
        let pick = if self.rng.chance(60) {
            all.len() - 1 - self.rng.below(last)
        } else {
            self.rng.below(all.len())
        };
        all[pick].clone()
    }

    /// A function of one parameter of the kind.
    fn lambda(&mut self, param: Kind, result: Kind, depth: usize) -> String {
        let name = self.name("x");
        let before = self.scope.len();
        self.scope.push((name.clone(), param));
        let body = self.exp(result, depth);
        self.scope.truncate(before);
        format!("(\\{name} -> {body})")
    }

    fn exp(&mut self, kind: Kind, depth: usize) -> String {
        self.budget = self.budget.saturating_sub(1);
        if depth == 0 || self.rng.chance(10) {
            return match kind {
                Number if self.rng.chance(40) => format!("{}", self.rng.below(9)),
                Number | Row | Rows | Deep => self.variable(kind),
            };
        }
        if self.rng.chance(12) {
            return self.control(kind, depth - 1);
        }
        let d = depth - 1;
        if self.sequences != Sequences::Without && self.rng.chance(25) {
            let e = self.consumer(kind, d);
            return self.held(kind, &e);
        }
        let e = match kind {
            Number => self.number(d),
            Row => self.row(d),
            Rows => self.rows(d),
            Deep => self.deep(d),
        };
        self.held(kind, &e)
    }

    /// `if`, `loop` and `match`.
    fn control(&mut self, kind: Kind, d: usize) -> String {
        match self.rng.below(4) {
            0 | 1 => {
                let cond = self.condition(d);
                let (a, b) = (self.exp(kind, d), self.exp(kind, d));
                format!("(if {cond} then {a} else {b})")
            }
            2 => {
                let (state, i) = (self.name("s"), self.name("i"));
                let start = self.exp(kind, d);
                let before = self.scope.len();
                self.scope.push((i.clone(), Number));
                self.scope.push((state.clone(), kind));
                let body = self.exp(kind, d);
                self.scope.truncate(before);
                let (start, body) = (self.held(kind, &start), self.held(kind, &body));
                let steps = self.rng.below(4);
                format!(
                    "(loop ({state} : {}) = {start} for {i} < {steps} do {body})",
                    type_of(kind)
                )
            }
            _ => {
                let (r, e, cond) = (self.name("x"), self.exp(Row, d), self.condition(d));
                let before = self.scope.len();
                self.scope.push((r.clone(), Row));
                let some = self.exp(kind, d);
                self.scope.truncate(before);
                let none = self.exp(kind, d);
                format!(
                    "(let p = {e} in match keep ({cond}) p case #some {r} -> {some} case #none -> {none})"
                )
            }
        }
    }

    /// A value with its sizes forgotten, and not too long.
    fn held(&mut self, kind: Kind, e: &str) -> String {
        match kind {
            Number => e.to_owned(),
            Row => format!("(few {e})"),
            Rows => format!("(few_rows {e} :> [][..]i64)"),
            Deep => format!("(few_deep {e} :> [][..][..]i64)"),
        }
    }

    fn condition(&mut self, d: usize) -> String {
        match self.rng.below(3) {
            0 => format!("{} % 2 == 0", self.exp(Number, d)),
            1 => format!("length {} > {}", self.exp(Row, d), self.rng.below(4)),
            _ => format!("{} < {}", self.exp(Number, d), self.exp(Number, d)),
        }
    }

    fn operator(&mut self) -> &'static str {
        const ALL: [&str; 5] = ["(+)", "(-)", "i64.min", "i64.max", "(\\a b -> a * 2 + b)"];
        self.rng.pick::<&'static str>(&ALL)
    }

    fn number(&mut self, d: usize) -> String {
        match self.rng.below(11) {
            10 => self.few_values(d),
            0 | 1 => {
                let op = *self.rng.pick(&["+", "-", "*"]);
                format!("({} {op} {})", self.exp(Number, d), self.exp(Number, d))
            }
            2 => format!("(i64.sum {})", self.exp(Row, d)),
            3 => format!("(reduce i64.max i64.lowest {})", self.exp(Row, d)),
            4 => format!("(length {})", self.exp(Rows, d)),
            5 => format!("(at {} {})", self.exp(Row, d), self.exp(Number, d)),
            6 => format!("(at (row {} {}) 1)", self.exp(Rows, d), self.exp(Number, d)),
            7 => format!(
                "(i64.sum (map {} {}))",
                self.lambda(Row, Number, d),
                self.exp(Rows, d)
            ),
            8 => format!(
                "(i64.bool (same {} {}))",
                self.exp(Rows, d),
                self.exp(Rows, d)
            ),
            _ => format!("(i64.sum (flatten (flatten {})))", self.exp(Deep, d)),
        }
    }

    fn row(&mut self, d: usize) -> String {
        match self.rng.below(18) {
            17 => self.row_of_few(d),
            0 => format!("(io {})", self.exp(Number, d)),
            1 | 2 => format!(
                "(map {} {})",
                self.lambda(Number, Number, d),
                self.exp(Row, d)
            ),
            3 => format!(
                "(filter (\\y -> y % 3 != {}) {})",
                self.rng.below(3),
                self.exp(Row, d)
            ),
            4 => format!("(lengths {})", self.exp(Rows, d)),
            5 => format!("(few (flatten {}))", self.exp(Rows, d)),
            6 | 7 => format!(
                "(map {} {})",
                self.lambda(Row, Number, d),
                self.exp(Rows, d)
            ),
            8 => format!("(row {} {})", self.exp(Rows, d), self.exp(Number, d)),
            9 => format!("(few ({} ++ {}))", self.exp(Row, d), self.exp(Row, d)),
            10 => format!("(scan (+) 0 {})", self.exp(Row, d)),
            11 => format!("(few (reduce (++) [] {}))", self.exp(Rows, d)),
            12 => format!(
                "(both {} {} {})",
                self.operator(),
                self.exp(Row, d),
                self.exp(Row, d)
            ),
            13 => format!(
                "(map {} {})",
                self.lambda(Rows, Number, d),
                self.exp(Deep, d)
            ),
            14 => format!(
                "(let (a, b) = unzip (map (\\y -> (y, {})) {}) in map2 (+) a b)",
                self.exp(Number, d),
                self.exp(Row, d)
            ),
            15 => format!("(reverse {})", self.exp(Row, d)),
            _ => format!(
                "(reduce (\\a b -> if length a < length b then b else a) [] {})",
                self.exp(Rows, d)
            ),
        }
    }

    fn rows(&mut self, d: usize) -> String {
        match self.rng.below(31) {
            30 => self.rows_of_few(d),
            0..=2 => format!("(map {} {})", self.lambda(Number, Row, d), self.exp(Row, d)),
            3..=5 => format!("(map {} {})", self.lambda(Row, Row, d), self.exp(Rows, d)),
            6 => format!(
                "(filter (\\r -> length r > {}) {})",
                self.rng.below(3),
                self.exp(Rows, d)
            ),
            7 => format!("(reverse {})", self.exp(Rows, d)),
            8 => format!("(rotate {} {})", self.exp(Number, 0), self.exp(Rows, d)),
            9 => format!(
                "(few_rows ({} ++ {}))",
                self.exp(Rows, d),
                self.exp(Rows, d)
            ),
            10 => format!(
                "(part {} {} {})",
                self.exp(Rows, d),
                self.exp(Number, d),
                self.exp(Number, d)
            ),
            11 => {
                let (r, e) = (self.name("r"), self.exp(Rows, d));
                format!(
                    "(let {r} = {e} in segment (lengths {r}) (map (\\y -> y * 2) (flatten {r})))"
                )
            }
            12 => {
                let r = self.name("r");
                let (a, e) = (self.exp(Rows, d), self.exp(Row, d));
                format!("(let {r} = {e} in map (\\y -> row {a} y) {r})")
            }
            13 | 14 => format!(
                "(set (copy {}) {} {} {})",
                self.exp(Rows, d),
                self.exp(Number, d),
                self.exp(Number, d),
                self.exp(Number, d)
            ),
            15 => format!(
                "(set_row (copy {}) {} {})",
                self.exp(Rows, d),
                self.exp(Number, d),
                self.lambda(Number, Number, 1)
            ),
            16 => format!(
                "(set_rows (copy {}) {} {})",
                self.exp(Rows, d),
                self.exp(Number, d),
                self.lambda(Number, Number, 1)
            ),
            17 => {
                let (s, i, e) = (self.name("s"), self.name("i"), self.exp(Rows, d));
                let x = self.exp(Number, 1);
                format!(
                    "(let {s} = {e} in loop {s} = copy {s} for {i} < length {s} do set {s} {i} {i} {x})"
                )
            }
            18 => {
                let (r, s) = (self.name("r"), self.name("r"));
                let (e, f) = (self.exp(Rows, d), self.exp(Rows, d));
                let by = self.rng.below(3);
                format!(
                    "(let {r} = {e} let {s} = {f} in scatter (copy {r}) (map (+ {by}) (indices {s})) {s})"
                )
            }
            19 => format!("(scan (\\a b -> few (a ++ b)) [] {})", self.exp(Rows, d)),
            20 => format!("(few_rows (flatten {}))", self.exp(Deep, d)),
            21 => format!("(map {} {})", self.lambda(Rows, Row, d), self.exp(Deep, d)),
            22 => format!("(rows {} {})", self.exp(Deep, d), self.exp(Number, d)),
            23 => format!(
                "([{}, {}] :> [2][..]i64)",
                self.exp(Row, d),
                self.exp(Row, d)
            ),
            24 => {
                let op = self.operator();
                format!(
                    "(both_rows (\\r s -> both {op} r s) {} {})",
                    self.exp(Rows, d),
                    self.exp(Rows, d)
                )
            }
            25 => {
                let (x, s) = (self.name("x"), self.exp(Row, d));
                let before = self.scope.len();
                self.scope.push((x.clone(), Number));
                let (a, b) = (self.exp(Row, d), self.exp(Row, d));
                self.scope.truncate(before);
                let pick = *self.rng.pick(&["a", "b", "few_rows (a ++ b)"]);
                format!(
                    "(let (a, b) = unzip (map (\\{x} -> ({a}, {b})) {s}) let (a, b) = (a :> [][..]i64, b :> [][..]i64) in {pick})"
                )
            }
            26 => format!(
                "(map (\\r -> map (.0) (filter (.1) r)) (map (\\r -> map (\\y -> (y, y % 2 == 0)) r) {}))",
                self.exp(Rows, d)
            ),
            27 => {
                let (e, least) = (self.exp(Rows, d), self.rng.below(3));
                format!(
                    "(let os = map (\\r -> keep (length r > {least}) r) {e} in map (\\o -> match o case #some r -> few (r ++ r) case #none -> []) os)"
                )
            }
            28 => format!(
                "(let rs = map (\\r -> {{at = length r, r}}) {} in map (\\q -> map (+ q.at) q.r) rs)",
                self.exp(Rows, d)
            ),
            // This may fail.
            _ => format!(
                "(both_rows (\\r s -> map2 (+) r s) {} {})",
                self.exp(Rows, d),
                self.exp(Rows, d)
            ),
        }
    }
}
