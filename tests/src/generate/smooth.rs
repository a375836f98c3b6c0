//! Random programs of the source language that compute derivatives of a function in forward and in reverse mode.
//!
//! ```text
//! f: (x, xs, zs, yss) -> (y, ys)       main: f, its derivatives along a direction, its gradient for weights, and both sides of <y', J x'> = <J^T y', x'>
//! ```
//!
//! What `f` computes are polynomials of small degree over halves, with `min`, `max`, absolute values and branches: every expression has a degree, and products are made
//! of what leaves room. So all results are exact, and all forms of a program have equal bits, but for the signs of zeros, which `main` removes.

use super::random::Random;
use midend::ir::scalar::Const;
use midend::value::{ArrayValue, Data, Value};

/// The largest degree of an expression.
const DEGREE: usize = 9;
/// The largest size of an array.
const MOST: usize = 4;

/// The type of a variable.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Type {
    Float,
    /// `[n]f64` or `[m]f64`.
    Row(char),
    /// `[m][n]f64`.
    Rows,
}

/// A variable, and its degree.
#[derive(Clone, Debug)]
struct Item {
    name: String,
    ty: Type,
    degree: usize,
}

struct Source {
    rng: Random,
    scope: Vec<Item>,
    /// Names of integers that are not negative.
    indices: Vec<String>,
    next: usize,
    /// Expressions left.
    budget: usize,
    /// Whether derivatives may be taken inside of the function.
    nests: bool,
}

const HELPERS: &str = "\
type opt = #none | #some f64
def some (c: bool) (x: f64) : opt = if c then #some x else #none
def at [n] (xs: [n]f64) (i: i64) : f64 = if n == 0 then 0.5 else xs[i % n]
def row [m] [n] (xss: [m][n]f64) (i: i64) : [n]f64 = if m == 0 then replicate n 0.5 else xss[i % m]
def least [n] (xs: [n]f64) : f64 = if n == 0 then 0 else f64.minimum xs
def most [n] (xs: [n]f64) : f64 = if n == 0 then 0 else f64.maximum xs
def put [n] (xs: [n]f64) (i: i64) (x: f64) : [n]f64 = if n == 0 then xs else copy xs with [i % n] = x
def put_row [m] [n] (xss: [m][n]f64) (i: i64) (xs: [n]f64) : [m][n]f64 = if m == 0 then xss else copy xss with [i % m] = xs
def fit [n] (m: i64) (xs: [n]f64) : [m]f64 = tabulate m (\\i -> at xs i)
#[noinline] def called [n] (x: f64) (xs: [n]f64) : (f64, [n]f64) = (f64.sum xs - x, map (\\y -> 2 * y + x) xs)
def power (x: f64) (k: i64) : f64 = loop y = 1 for _i < k do x * y
def dot [n] (xs: [n]f64) (ys: [n]f64) : f64 = f64.sum (map2 (*) xs ys)
def dots [m] [n] (xss: [m][n]f64) (yss: [m][n]f64) : f64 = f64.sum (map2 dot xss yss)
";

/// The text of a program from a seed, with about so many expressions. Its entry point is `main`.
pub fn text(seed: u64, budget: usize) -> String {
    let mut rng = Random::new(seed ^ 0x5300);
    let nests = rng.chance(15);
    let mut source = Source {
        rng,
        scope: [
            ("x", Type::Float),
            ("xs", Type::Row('n')),
            ("zs", Type::Row('m')),
            ("yss", Type::Rows),
        ]
        .map(|(name, ty)| Item {
            name: name.into(),
            ty,
            degree: 1,
        })
        .to_vec(),
        indices: vec!["k".into()],
        next: 0,
        budget,
        nests,
    };
    source.program()
}

/// Arguments for the programs of this generator: indices, what is differentiated, a direction, weights.
pub fn arguments(seed: u64) -> Vec<Value> {
    let mut rng = Random::new(seed ^ 0x9a_d0);
    let [n, m] = [(); 2].map(|()| *rng.pick(&[0, 1, 2, 3, 3, MOST as i64]));
    let k = rng.below(5) as i64;
    let indices = (0..n).map(|_| rng.below(MOST + 2) as i64 - 1).collect();
    let mut floats = |shape: &[i64], halves: bool| {
        let mut number = || {
            let whole = rng.below(if halves { 9 } else { 5 }) as f64;
            if halves {
                whole / 2.0 - 2.0
            } else {
                whole - 2.0
            }
        };
        if shape.is_empty() {
            return Value::Scalar(Const::f64(number()));
        }
        let data = (0..shape.iter().product()).map(|_| number()).collect();
        let (shape, data) = (shape.to_vec(), Data::F64(data));
        Value::Array(ArrayValue { shape, data })
    };
    let shapes = [&[][..], &[n], &[m], &[m, n]];
    let mut args = vec![
        Value::Scalar(Const::I64(k)),
        Value::Array(ArrayValue {
            shape: vec![n],
            data: Data::I64(indices),
        }),
    ];
    args.extend(shapes.map(|shape| floats(shape, true)));
    args.extend(shapes.map(|shape| floats(shape, false)));
    args.extend([&[][..], &[n]].map(|shape| floats(shape, false)));
    args
}

/// Whether both sides of the identity, the last results, are equal, and whether they are exact, so that no order of additions shows.
pub fn identity(results: &[Value]) -> Result<bool, String> {
    let number = |value: &Value| match value {
        Value::Scalar(Const::F64(bits)) => f64::from_bits(*bits),
        Value::Scalar(_) | Value::Array(_) => f64::NAN,
    };
    let [.., left, right] = results else {
        return Err("there are no results".into());
    };
    let (left, right) = (number(left), number(right));
    // Beyond that sums are rounded.
    let exact = left.abs().max(right.abs()) < (1u64 << 40) as f64;
    if left == right || !exact && (left - right).abs() <= 1e-6 * left.abs() {
        return Ok(exact);
    }
    Err(format!("<y', J x'> = {left}, but <J^T y', x'> = {right}"))
}

impl Source {
    fn program(&mut self) -> String {
        let mut body = String::new();
        while self.budget > 0 {
            body.push_str(&self.statement());
        }
        let newest = self.scope.iter().rev();
        let newest: Vec<Item> = newest.take(3).cloned().collect();
        let (mut y, mut ys) = (self.float(DEGREE / 2, 2), self.row('n', DEGREE / 2, 2));
        for item in newest {
            let name = item.name;
            match item.ty {
                Type::Float => y = format!("({y} + {name})"),
                Type::Row('n') => ys = format!("(map2 (+) {ys} {name})"),
                Type::Row(_) => y = format!("({y} - f64.sum {name})"),
                Type::Rows => y = format!("({y} + f64.sum (flatten {name}))"),
            }
        }
        format!(
            "{HELPERS}
def f [n] [m] (k: i64) (is: [n]i64) (x: f64, xs: [n]f64, zs: [m]f64, yss: [m][n]f64) : (f64, [n]f64) =
{body}  in ({y}, {ys})

entry main [n] [m] (k: i64) (is: [n]i64) (x: f64) (xs: [n]f64) (zs: [m]f64) (yss: [m][n]f64)
    (dx: f64) (dxs: [n]f64) (dzs: [m]f64) (dyss: [m][n]f64) (w: f64) (ws: [n]f64) =
  let ((y, ys), (dy, dys)) = jvp2 (f k is) (x, xs, zs, yss) (dx, dxs, dzs, dyss)
  let ((u, us), (gx, gxs, gzs, gyss)) = vjp2 (f k is) (x, xs, zs, yss) (w, ws)
  in (y + 0, map (+ 0) ys, u + 0, map (+ 0) us, dy + 0, map (+ 0) dys,
      gx + 0, map (+ 0) gxs, map (+ 0) gzs, map (map (+ 0)) gyss,
      w * dy + dot ws dys, gx * dx + dot gxs dxs + dot gzs dzs + dots gyss dyss)
"
        )
    }

    fn name(&mut self, prefix: &str) -> String {
        self.next += 1;
        format!("{prefix}{}", self.next)
    }

    /// A binding.
    fn statement(&mut self) -> String {
        self.budget = self.budget.saturating_sub(1);
        let name = self.name("v");
        let degree = 1 + self.rng.below(DEGREE - 1);
        let (ty, value) = match self.rng.below(10) {
            0..=2 => (Type::Float, self.float(degree, 4)),
            3..=5 => (Type::Row('n'), self.row('n', degree, 4)),
            6..=7 => (Type::Row('m'), self.row('m', degree, 4)),
            _ => (Type::Rows, self.rows(degree, 3)),
        };
        let ty_text = match ty {
            Type::Float => "f64".into(),
            Type::Row(n) => format!("[{n}]f64"),
            Type::Rows => "[m][n]f64".into(),
        };
        self.scope.push(Item {
            name: name.clone(),
            ty,
            degree,
        });
        format!("  let {name} : {ty_text} = {value}\n")
    }

    fn variable(&mut self, ty: Type, degree: usize) -> Option<String> {
        let fits = |item: &&Item| item.ty == ty && item.degree <= degree;
        let all: Vec<&Item> = self.scope.iter().filter(fits).collect();
        if all.is_empty() {
            return None;
        }
        // What was made last is taken more often.
        let late = all.len().saturating_sub(3);
        let at = match self.rng.chance(60) {
            true => late + self.rng.below(all.len() - late),
            false => self.rng.below(all.len()),
        };
        Some(all[at].name.clone())
    }

    fn index(&mut self) -> String {
        let name = self.rng.pick(&self.indices).clone();
        match self.rng.below(4) {
            0 => format!("({name} + 1)"),
            1 => self.rng.below(3).to_string(),
            _ => name,
        }
    }

    fn constant(&mut self) -> String {
        (*self
            .rng
            .pick(&["0.5", "1", "2", "(-1)", "(-0.5)", "3", "0"]))
        .to_string()
    }

    /// What is made with more variables in scope.
    fn with<R>(&mut self, items: &[(&str, Type, usize)], f: impl FnOnce(&mut Self) -> R) -> R {
        let before = self.scope.len();
        for (name, ty, degree) in items {
            self.scope.push(Item {
                name: (*name).to_owned(),
                ty: *ty,
                degree: *degree,
            });
        }
        let result = f(self);
        self.scope.truncate(before);
        result
    }

    fn with_index<R>(&mut self, name: &str, f: impl FnOnce(&mut Self) -> R) -> R {
        self.indices.push(name.to_owned());
        let result = f(self);
        self.indices.pop();
        result
    }

    /// A condition.
    fn condition(&mut self, depth: usize) -> String {
        let index = self.index();
        match self.rng.below(3) {
            0 => format!("{index} % 2 == 0"),
            _ => {
                let (a, b) = (self.float(1, depth), self.constant());
                format!("{a} < {b}")
            }
        }
    }

    /// A size with an array that has it.
    fn some_row(&mut self, degree: usize, depth: usize) -> String {
        let n = *self.rng.pick(&['n', 'n', 'm']);
        self.row(n, degree, depth)
    }

    fn float(&mut self, degree: usize, depth: usize) -> String {
        let depth = depth.saturating_sub(1);
        let d = degree;
        if depth == 0 || d == 0 {
            return match self.variable(Type::Float, d) {
                Some(name) if self.rng.chance(80) => name,
                Some(_) | None => self.constant(),
            };
        }
        self.budget = self.budget.saturating_sub(1);
        match self.rng.below(28) {
            0 | 1 => {
                let op = *self.rng.pick(&["+", "-"]);
                format!("({} {op} {})", self.float(d, depth), self.float(d, depth))
            }
            2..=4 => {
                let left = self.rng.below(d + 1);
                let (a, b) = (self.float(left, depth), self.float(d - left, depth));
                format!("({a} * {b})")
            }
            5 => {
                let op = *self.rng.pick(&["f64.min", "f64.max"]);
                format!("({op} {} {})", self.float(d, depth), self.float(d, depth))
            }
            6 => format!("(f64.abs {})", self.float(d, depth)),
            7 => {
                let c = self.condition(depth);
                format!(
                    "(if {c} then {} else {})",
                    self.float(d, depth),
                    self.float(d, depth)
                )
            }
            8 => format!("(f64.sum {})", self.some_row(d, depth)),
            9 => {
                let op = *self.rng.pick(&["least", "most"]);
                format!("({op} {})", self.some_row(d, depth))
            }
            10 => format!("(at {} {})", self.some_row(d, depth), self.index()),
            11 if d >= MOST => format!("(f64.product {})", self.some_row(d / MOST, depth)),
            12 if d >= MOST => format!(
                "(reduce (\\a b -> a + b + a * b) 0 {})",
                self.some_row(d / MOST, depth)
            ),
            13 if d >= MOST => {
                // Linear functions, one after another.
                let n = *self.rng.pick(&['n', 'm']);
                let (a, b) = (self.row(n, d / MOST, depth), self.row(n, d / MOST, depth));
                format!(
                    "(let (p, q) = reduce (\\(a, b) (c, e) -> (a * c, b * c + e)) (1, 0) (zip {a} {b}) in p - q)"
                )
            }
            14 => {
                // A loop of numbers.
                let v = self.name("a");
                let i = self.name("i");
                let times = 1 + self.rng.below(3);
                let step = self.rng.below(d / (times + 1) + 1);
                let init = self.float(d - step * times, depth);
                let (factor, more) =
                    self.with_index(&i, |s| (s.float(step, depth), s.float(step, depth)));
                let body = format!("{v} * {factor} + {more}");
                match self.rng.chance(50) {
                    true => format!("(loop {v} = {init} for {i} < {times} do {body})"),
                    false => format!(
                        "(let ({v}, _) = loop ({v}, {i}) = ({init}, 0) while {i} < {times} && {v} < 64 do ({body}, {i} + 1) in {v})"
                    ),
                }
            }
            15 => {
                let x = self.name("x");
                let body = self.with(&[(&x, Type::Float, d)], |s| s.float(d, depth));
                format!("(let {x} = {} in {body})", self.float(d, depth))
            }
            16 => format!(
                "(called {} {}).0",
                self.float(d, depth),
                self.some_row(d, depth)
            ),
            17 if d > 2 => format!(
                "(power {} {})",
                self.float(d / 3, depth),
                1 + self.rng.below(3)
            ),
            18 => format!(
                "(f64.sum (filter (\\x -> x < {}) {}))",
                self.constant(),
                self.some_row(d, depth)
            ),
            19 if d > 1 => format!(
                "(dot {} {})",
                self.row('n', d / 2, depth),
                self.row('n', d - d / 2, depth)
            ),
            20 if self.nests && d > 2 => {
                let x = self.name("x");
                self.nests = false;
                let body = self.with(&[(&x, Type::Float, 1)], |s| s.float(d - 1, depth));
                self.nests = true;
                let how = *self.rng.pick(&["jvp", "vjp"]);
                format!(
                    "({how} (\\{x} -> {body}) {} {})",
                    self.float(1, 1),
                    self.constant()
                )
            }
            21 => {
                let (x, value) = (self.name("x"), self.float(d, depth));
                let c = self.condition(depth);
                let other = self.with(&[(&x, Type::Float, d)], |s| s.float(d, depth));
                format!(
                    "(match some ({c}) {value} case #some {x} -> {other} case #none -> {})",
                    self.float(d, depth)
                )
            }
            22 => {
                let i = self.name("i");
                let body = self.with_index(&i, |s| s.float(d, depth));
                format!(
                    "(f64.sum (tabulate {} (\\{i} -> {body})))",
                    1 + self.rng.below(3)
                )
            }
            23 | 24 => {
                // Elements of a row that is read by index around a branch or a loop.
                let (all, row) = (self.name("r"), self.name("r"));
                let (rows, which) = (self.rows(d, depth), self.index());
                let body = self.with(&[(&row, Type::Row('n'), d)], |s| {
                    let (c, a, b) = (s.condition(depth), s.index(), s.index());
                    let other = s.float(d, depth);
                    let (v, i) = (s.name("a"), s.name("i"));
                    format!(
                        "if {c} then at {row} {a} + {other} else loop {v} = {other} for {i} < 2 do {v} + at {row} ({b} + {i})"
                    )
                });
                format!(
                    "(let {all} = {rows} in if m == 0 then 0.5 else let {row} = {all}[{which} % m] in {body})"
                )
            }
            _ => match self.variable(Type::Float, d) {
                Some(name) => name,
                None => self.constant(),
            },
        }
    }

    fn row(&mut self, n: char, degree: usize, depth: usize) -> String {
        let depth = depth.saturating_sub(1);
        let d = degree;
        if depth == 0 || d == 0 {
            return match self.variable(Type::Row(n), d) {
                Some(name) if self.rng.chance(85) => name,
                Some(_) | None => format!("(replicate {n} {})", self.float(d, 1)),
            };
        }
        self.budget = self.budget.saturating_sub(1);
        match self.rng.below(28) {
            0..=3 => {
                let x = self.name("x");
                let inner = self.rng.below(d) + 1;
                let body = self.with(&[(&x, Type::Float, inner)], |s| s.float(d, depth));
                format!("(map (\\{x} -> {body}) {})", self.row(n, inner, depth))
            }
            4..=6 => {
                let (x, y) = (self.name("x"), self.name("y"));
                let inner = self.rng.below(d) + 1;
                let items = [(&x[..], Type::Float, inner), (&y[..], Type::Float, inner)];
                let body = self.with(&items, |s| s.float(d, depth));
                format!(
                    "(map2 (\\{x} {y} -> {body}) {} {})",
                    self.row(n, inner, depth),
                    self.row(n, inner, depth)
                )
            }
            7 | 8 => {
                let i = self.name("i");
                let body = self.with_index(&i, |s| s.float(d, depth));
                format!("(tabulate {n} (\\{i} -> {body}))")
            }
            9 => format!("(scan (+) 0 {})", self.row(n, d, depth)),
            10 => format!("(scan f64.max f64.lowest {})", self.row(n, d, depth)),
            11 if d >= MOST => format!("(scan (*) 1 {})", self.row(n, d / MOST, depth)),
            12 if d >= MOST => format!(
                "(map (\\(p, q) -> p + q) (scan (\\(a, b) (c, e) -> (a * c, b * c + e)) (1, 0) (zip {} {})))",
                self.row(n, d / MOST, depth),
                self.row(n, d / MOST, depth)
            ),
            13 => {
                // Indices that are all different, some of them outside.
                let from = self.rng.below(3);
                format!(
                    "(scatter (copy {}) (map (\\i -> 2 * i - {from}) (iota n)) {})",
                    self.row(n, d, depth),
                    self.row('n', d, depth)
                )
            }
            14 | 15 => {
                let (op, neutral) = *self.rng.pick(&[
                    ("(+)", "0"),
                    ("f64.min", "f64.highest"),
                    ("f64.max", "f64.lowest"),
                ]);
                format!(
                    "(reduce_by_index (copy {}) {op} {neutral} is {})",
                    self.row(n, d, depth),
                    self.row('n', d, depth)
                )
            }
            16 if d > MOST => {
                let (op, neutral) = *self
                    .rng
                    .pick(&[("(*)", "1"), ("(\\a b -> a + b + a * b)", "0")]);
                let part = d / (MOST + 1);
                format!(
                    "(reduce_by_index (copy {}) {op} {neutral} is {})",
                    self.row(n, part, depth),
                    self.row('n', part, depth)
                )
            }
            17 => format!(
                "(put {} {} {})",
                self.row(n, d, depth),
                self.index(),
                self.float(d, depth)
            ),
            18 => format!("(reverse {})", self.row(n, d, depth)),
            19 => format!(
                "(fit {n} ({} ++ {}))",
                self.some_row(d, depth),
                self.row(n, d, depth)
            ),
            20 => {
                let c = self.condition(depth);
                format!(
                    "(if {c} then {} else {})",
                    self.row(n, d, depth),
                    self.row(n, d, depth)
                )
            }
            21 | 22 => {
                // A loop that updates an array in place.
                let (v, i) = (self.name("a"), self.name("i"));
                let times = 1 + self.rng.below(3);
                let step = self.rng.below(d / (times + 1) + 1);
                let init = self.row(n, d - step * times, depth);
                let (factor, more, at) = self.with_index(&i, |s| {
                    (s.float(step, depth), s.float(step, depth), s.index())
                });
                let body = match self.rng.below(3) {
                    0 => format!("map (\\x -> x * {factor} + {more}) {v}"),
                    1 => format!("put {v} {at} (at {v} {i} * {factor} + {more})"),
                    _ => format!(
                        "if {n} == 0 then {v} else {v} with [{at} % {n}] = {v}[({i} + 1) % {n}] * {factor}"
                    ),
                };
                format!("(loop {v} = copy {init} for {i} < {times} do {body})")
            }
            23 => {
                let r = self.name("r");
                let (of, body) = match n {
                    'm' => (
                        "".to_owned(),
                        self.with(&[(&r, Type::Row('n'), d)], |s| s.float(d, depth)),
                    ),
                    _ => (
                        "transpose ".to_owned(),
                        self.with(&[(&r, Type::Row('m'), d)], |s| s.float(d, depth)),
                    ),
                };
                format!("(map (\\{r} -> {body}) ({of}{}))", self.rows(d, depth))
            }
            24 if n == 'n' => format!("(row {} {})", self.rows(d, depth), self.index()),
            24 => format!(
                "(called {} {}).1",
                self.float(d, depth),
                self.row(n, d, depth)
            ),
            25 if n == 'n' => format!(
                "(reduce (map2 (+)) (replicate n 0) {})",
                self.rows(d, depth)
            ),
            26 => {
                // Rows of different lengths.
                let i = self.name("i");
                let body = self.with_index(&i, |s| s.float(d, depth));
                format!("(tabulate {n} (\\{i} -> f64.sum (tabulate {i} (\\{i} -> {body}))))")
            }
            _ => match self.variable(Type::Row(n), d) {
                Some(name) => name,
                None => format!("(replicate {n} {})", self.float(d, depth)),
            },
        }
    }

    fn rows(&mut self, degree: usize, depth: usize) -> String {
        let depth = depth.saturating_sub(1);
        let d = degree;
        if depth == 0 || d == 0 {
            return match self.variable(Type::Rows, d) {
                Some(name) => name,
                None => format!("(replicate m (replicate n {}))", self.float(d, 1)),
            };
        }
        self.budget = self.budget.saturating_sub(1);
        match self.rng.below(11) {
            0..=2 => {
                let r = self.name("r");
                let inner = self.rng.below(d) + 1;
                let body = self.with(&[(&r, Type::Row('n'), inner)], |s| s.row('n', d, depth));
                format!("(map (\\{r} -> {body}) {})", self.rows(inner, depth))
            }
            3 => {
                let (i, j) = (self.name("i"), self.name("j"));
                let body = self.with_index(&i, |s| s.with_index(&j, |s| s.float(d, depth)));
                format!("(tabulate_2d m n (\\{i} {j} -> {body}))")
            }
            4 => format!("(scan (map2 (+)) (replicate n 0) {})", self.rows(d, depth)),
            5 => format!(
                "(put_row {} {} {})",
                self.rows(d, depth),
                self.index(),
                self.row('n', d, depth)
            ),
            6 => {
                let (x, r) = (self.name("x"), self.name("r"));
                let items = [(&x[..], Type::Float, d), (&r[..], Type::Row('n'), d)];
                let body = self.with(&items, |s| s.row('n', d, depth));
                format!(
                    "(map2 (\\{x} {r} -> {body}) {} {})",
                    self.row('m', d, depth),
                    self.rows(d, depth)
                )
            }
            7 => {
                let op = *self.rng.pick(&["+", "-"]);
                format!(
                    "(map2 (map2 ({op})) {} {})",
                    self.rows(d, depth),
                    self.rows(d, depth)
                )
            }
            8 => {
                let r = self.name("r");
                let body = self.with(&[(&r, Type::Row('m'), d)], |s| s.row('m', d, depth));
                format!(
                    "(transpose (map (\\{r} -> {body}) (transpose {})))",
                    self.rows(d, depth)
                )
            }
            9 => {
                let c = self.condition(depth);
                format!(
                    "(if {c} then {} else {})",
                    self.rows(d, depth),
                    self.rows(d, depth)
                )
            }
            _ => match self.variable(Type::Rows, d) {
                Some(name) => name,
                None => format!("(replicate m {})", self.row('n', d, depth)),
            },
        }
    }
}
