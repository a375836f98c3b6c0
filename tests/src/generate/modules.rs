//! Random well-typed programs of the source language with modules, parametric modules, type abbreviations with size
//! parameters, size expressions, records, sums, functions of functions, loops and branches of different sizes.
//!
//! ```text
//! helpers ─► stores: modules of one module type ─► functions with size parameters ─► main
//! ```
//!
//! The generator knows the size of every array, be it an expression or one that only the compiler has a name for, and wants
//! two arrays of one size only where both have the same expression: each program must be accepted. All run to their end:
//! indices are made to fit.

mod data;
mod exp;
mod idioms;
mod size;
mod store;

use super::random::Random;
use midend::ir::scalar::Const;
use midend::value::{ArrayValue, Data, Value};
use size::Size;

/// The type of an expression.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Type {
    /// `i64`.
    Num,
    /// `[n]i64`.
    Vec(Size),
    /// `[n][m]i64`.
    Mat(Size, Size),
    /// A record.
    Pack(Size),
    /// A sum.
    Opt(Size),
    /// A record of arrays whose sizes are expressions.
    Table(Size),
    /// The abstract type of one of the modules.
    Store(usize, Size),
    /// An array of records.
    Packs(Size, Size),
    /// `i64 -> i64`.
    Fun,
}

use Type::{Fun, Mat, Num, Opt, Pack, Packs, Store, Table, Vec as Row};

impl Type {
    fn text(&self) -> String {
        match self {
            Num => "i64".into(),
            Row(n) => format!("[{n}]i64"),
            Mat(n, m) => format!("[{n}][{m}]i64"),
            Pack(n) => format!("pack [{n}]"),
            Opt(n) => format!("opt [{n}]"),
            Table(n) => format!("table [{n}]"),
            Store(module, n) => format!("s{module}.t [{n}]"),
            Packs(n, m) => format!("[{n}](pack [{m}])"),
            Fun => "(i64 -> i64)".into(),
        }
    }

    fn sizes(&self) -> Vec<&Size> {
        match self {
            Num | Fun => Vec::new(),
            Row(n) | Pack(n) | Opt(n) | Table(n) | Store(_, n) => vec![n],
            Mat(n, m) | Packs(n, m) => vec![n, m],
        }
    }

    /// The same type with other sizes.
    fn with(&self, f: &impl Fn(&Size) -> Size) -> Type {
        match self {
            Num => Num,
            Fun => Fun,
            Row(n) => Row(f(n)),
            Mat(n, m) => Mat(f(n), f(m)),
            Packs(n, m) => Packs(f(n), f(m)),
            Pack(n) => Pack(f(n)),
            Opt(n) => Opt(f(n)),
            Table(n) => Table(f(n)),
            Store(module, n) => Store(*module, f(n)),
        }
    }

    /// The same type with sizes in place of `n` and `m`.
    fn put(&self, n: &Size, m: &Size) -> Type {
        self.with(&|size| size.put(n, m))
    }

    /// Whether this is the other type but for sizes.
    fn is_like(&self, other: &Type) -> bool {
        let flat = |t: &Type| t.with(&|_| Size::Const(0));
        flat(self) == flat(other)
    }
}

/// A function of the program: its parameters, and its result unless only the call knows the size of that.
struct Function {
    name: String,
    params: Vec<Type>,
    result: Option<Type>,
}

/// What programs begin with.
const HELPERS: &str = "\
type pack [n] = {xs: [n]i64, s: i64}
type opt [n] = #none | #some ([n]i64) | #two i64 ([n + 1]i64)
def half (n: i64) : i64 = n / 2
type table [n] = {first: [2 * n]i64, second: [n + 1]i64, third: [half n]i64}
type wide [b] = {all: [2 ** b]i64}
type both 'a 'b = {l: a, r: b}
def fit [n] (m: i64) (xs: [n]i64) : [m]i64 = tabulate m (\\i -> if n == 0 then i else xs[i % n])
def like [n] [m] (_: [n]i64) (xs: [m]i64) : [n]i64 = fit n xs
def at [n] (xs: [n]i64) (i: i64) : i64 = if n == 0 then i else xs[i % n]
def small (x: i64) : i64 = x % 101
def pack [n] (xs: [n]i64) (s: i64) : pack [n] = {xs, s}
def some [n] (xs: [n]i64) : opt [n] = #some xs
def two [n] (xs: [n]i64) (x: i64) : opt [n] = #two x (xs ++ [x])
def none [n] (_: [n]i64) : opt [n] = #none
def table [n] (xs: [n]i64) : table [n] = {first = fit (2 * n) xs, second = xs ++ [n], third = take (half n) xs}
def wide (b: i64) (x: i64) : wide [b] = {all = replicate (2 ** b) x}
def wide_of (bits: i32) (w: wide [i64.i32 bits]) : i64 = i64.sum w.all
def mapped f xs = map f xs
def joined xs ys = xs ++ ys
def pairwise xs ys = map2 (\\x y -> small (x + y)) xs ys
def either (c: bool) (xs: []i64) (ys: []i64) = if c then xs else ys
def or_three (xs: []i64) = let ys = if length xs == 0 then [1, 2, 3] else xs in ys
def twice 'a (f: a -> a) (x: a) : a = f (f x)
def compose 'a 'b 'c (f: a -> b) (g: b -> c) (x: a) : c = g (f x)
def swap 'a 'b (p: both a b) : both b a = {l = p.r, r = p.l}
def both 'a 'b (l: a) (r: b) : both a b = {l, r}
def plus (x: i64) (y: i64) : i64 = x + y
def each [n] 'a (f: a -> a) (xs: [n]a) : [n]a = map f xs
def or_else [n] (o: opt [n]) (xs: [n]i64) : [n]i64 =
  match o case #none -> xs case #some ys -> ys case #two k ys -> map (+ k) (take n ys)
def first [n] (t: table [n]) : [n]i64 = take n t.first
";

/// The text of a program from a seed, with about so many expressions. Its entry point is `main`.
pub fn text(seed: u64, budget: usize) -> String {
    let mut source = Source {
        rng: Random::new(seed ^ 0x0d1e),
        scope: Vec::new(),
        sizes: Vec::new(),
        functions: Vec::new(),
        stores: 0,
        next: 0,
        budget,
    };
    source.program()
}

/// Arguments for the programs of this generator.
pub fn arguments(seed: u64) -> Vec<Value> {
    let mut rng = Random::new(seed ^ 0x0a45);
    let mut number = || rng.below(23) as i64 - 7;
    let k = number();
    let mut rng = Random::new(seed ^ 0x51fe);
    let n = *rng.pick(&[0, 1, 2, 3, 5]);
    let m = *rng.pick(&[0, 1, 2, 4]);
    let mut array = |shape: &[usize]| {
        let data = (0..shape.iter().product()).map(|_| number()).collect();
        let shape = shape.iter().map(|&d| d as i64).collect();
        let data = Data::I64(data);
        Value::Array(ArrayValue { shape, data })
    };
    vec![Value::Scalar(Const::I64(k)), array(&[n]), array(&[m, n])]
}

/// The state of generation.
struct Source {
    rng: Random,
    scope: Vec<(String, Type)>,
    /// The names that are sizes.
    sizes: Vec<Size>,
    functions: Vec<Function>,
    /// How many modules there are.
    stores: usize,
    next: usize,
    budget: usize,
}

impl Source {
    fn program(&mut self) -> String {
        let mut out = [HELPERS, idioms::HELPERS].concat();
        out.push_str(&self.modules());
        for _ in 0..2 + self.rng.below(3) {
            let text = self.function();
            out.push_str(&text);
        }
        self.scope = vec![
            ("k".into(), Num),
            ("ns".into(), Row(Size::name("n"))),
            ("ms".into(), Mat(Size::name("m"), Size::name("n"))),
        ];
        self.sizes = vec![Size::name("n"), Size::name("m")];
        let mut body = String::new();
        while self.budget > 0 {
            body.push_str(&self.statement());
        }
        let results = [self.newest(), self.exp(&Num, 2)];
        let (n, m) = (self.size(), self.size());
        let rows = [self.exp(&Row(n.clone()), 2), self.exp(&Mat(m, n), 2)];
        out.push_str("entry main [n] [m] (k: i64) (ns: [n]i64) (ms: [m][n]i64) : (i64, i64, []i64, [][]i64) =\n");
        out.push_str(&body);
        let [a, b] = results;
        let [c, d] = rows;
        out.push_str(&format!("  in ({a}, {b}, {c}, {d})\n"));
        out
    }

    fn name(&mut self, prefix: &str) -> String {
        self.next += 1;
        format!("{prefix}{}", self.next)
    }

    /// A function with size parameters.
    fn function(&mut self) -> String {
        let budget = std::mem::replace(&mut self.budget, 6);
        let (n, m) = (Size::name("n"), Size::name("m"));
        self.sizes = vec![n.clone(), m.clone()];
        let module = self.rng.below(self.stores);
        let mut params = vec![Row(n.clone())];
        let anonymous = self.rng.chance(25);
        if anonymous {
            self.sizes.pop();
            params.push(Row(m.clone()));
        } else {
            let second = [Row(m.clone()), Mat(m.clone(), n.clone()), Pack(m.clone())];
            params.push(self.rng.pick(&second).clone());
        }
        let more = [
            Num,
            Fun,
            Pack(n.clone()),
            Opt(n.clone()),
            Table(n.clone()),
            Store(module, n.clone()),
        ];
        for _ in 0..self.rng.below(3) {
            params.push(self.rng.pick(&more).clone());
        }
        let names: Vec<String> = params.iter().map(|_| self.name("p")).collect();
        self.scope = names.iter().cloned().zip(params.iter().cloned()).collect();
        if anonymous {
            self.next += 1;
            self.scope[1].1 = Row(Size::Hidden(self.next));
        }
        let local = self.functions.len();
        let results = [
            Num,
            Row(n.clone()),
            Row(n.clone().plus(m.clone())),
            Row(n.clone().times(m.clone())),
            Row(Size::Const(2).times(n.clone())),
            Mat(n.clone(), m.clone()),
            Pack(m.clone()),
            Opt(n.clone()),
            Table(n.clone()),
            Store(module, n.clone()),
        ];
        let of_n = |ty: &&Type| !anonymous || ty.put(&n, &Size::Const(0)) == **ty;
        let results: Vec<&Type> = results.iter().filter(of_n).collect();
        let result = (!self.rng.chance(20)).then(|| (*self.rng.pick(&results)).clone());
        let mut body = String::new();
        while self.budget > 2 {
            body.push_str(&self.statement());
        }
        let (shown, value) = match &result {
            Some(ty) => (ty.text(), self.exp(ty, 2)),
            None if self.rng.chance(50) => ("?[q].[q]i64".into(), self.some_size(2)),
            None => ("[]i64".into(), self.some_size(2)),
        };
        self.budget = budget;
        self.functions.truncate(local);
        let name = self.name("f");
        let shown_params: String = names
            .iter()
            .zip(&params)
            .enumerate()
            .map(|(i, (name, ty))| {
                if matches!(ty, Row(_)) && anonymous && i == 1 {
                    format!(" ({name}: []i64)")
                } else {
                    format!(" ({name}: {})", ty.text())
                }
            })
            .collect();
        let sizes = if anonymous { "[n]" } else { "[n] [m]" };
        let plain = matches!(result, Some(Num) | None) || body.is_empty();
        let shown = if plain || self.rng.chance(70) {
            format!(" : {shown}")
        } else {
            String::new()
        };
        let text = if body.is_empty() {
            format!("def {name} {sizes}{shown_params}{shown} = {value}\n")
        } else {
            format!("def {name} {sizes}{shown_params}{shown} =\n{body}  in {value}\n")
        };
        self.functions.push(Function {
            name,
            params,
            result,
        });
        text
    }

    /// A binding.
    fn statement(&mut self) -> String {
        match self.rng.below(12) {
            10 => self.local_function(),
            0..=2 => {
                let size = Size::name(&self.name("q"));
                let (name, value) = (self.name("v"), self.some_size(3));
                self.scope.push((name.clone(), Row(size.clone())));
                let text = format!("  let [{size}] ({name}: [{size}]i64) = {value}\n");
                self.sizes.push(size);
                text
            }
            3 => {
                self.next += 1;
                let size = Size::Hidden(self.next);
                let (ty, value) = self.one_of_two(size);
                let name = self.name("v");
                self.scope.push((name.clone(), ty));
                format!("  let {name} = {value}\n")
            }
            4 => {
                let size = self.size();
                let value = self.exp(&Pack(size.clone()), 3);
                let (xs, s) = (self.name("v"), self.name("v"));
                self.scope.push((xs.clone(), Row(size)));
                self.scope.push((s.clone(), Num));
                format!("  let {{xs = {xs}, s = {s}}} = {value}\n")
            }
            5 => {
                let x = self.name("x");
                let body = self.with(&[(x.clone(), Num)], |g| g.exp(&Num, 2));
                let name = self.name("g");
                self.scope.push((name.clone(), Fun));
                format!("  let {name} ({x}: i64) = {body}\n")
            }
            _ => {
                let ty = self.some_type();
                let value = self.exp(&ty, 3);
                let name = self.name("v");
                let shown = if self.rng.chance(30) && ty.sizes().iter().all(|n| n.is_shown()) {
                    format!(": {}", ty.text())
                } else {
                    String::new()
                };
                self.scope.push((name.clone(), ty));
                format!("  let {name}{shown} = {value}\n")
            }
        }
    }

    /// A value of a size that has no name: of a branch that takes one of two, with the type that it has.
    fn one_of_two(&mut self, size: Size) -> (Type, String) {
        let module = self.rng.below(self.stores);
        let kinds = [Pack(size.clone()), Store(module, size.clone())];
        if self.rng.chance(40) {
            return (Row(size), self.some_size(3));
        }
        let ty = self.rng.pick(&kinds).clone();
        let (a, b) = (self.size(), self.size());
        let c = self.condition(2);
        let a = self.exp(&ty.with(&|_| a.clone()), 2);
        let b = self.exp(&ty.with(&|_| b.clone()), 2);
        (ty, format!("if {c} then {a} else {b}"))
    }

    /// A function with a size parameter in another one.
    fn local_function(&mut self) -> String {
        let (own, xs) = (self.name("q"), self.name("p"));
        let n = Size::name("n");
        let results = [
            Num,
            Row(n.clone()),
            Row(n.clone().plus(Size::Const(1))),
            Pack(n.clone()),
            Table(n.clone()),
        ];
        let result = self.rng.pick(&results).clone();
        let inner = result.put(&Size::name(&own), &n);
        let param = [(xs.clone(), Row(Size::name(&own)))];
        self.sizes.push(Size::name(&own));
        let body = self.with(&param, |g| g.exp(&inner, 2));
        self.sizes.pop();
        let name = self.name("h");
        let text = format!(
            "  let {name} [{own}] ({xs}: [{own}]i64) : {} = {body}\n",
            inner.text()
        );
        self.functions.push(Function {
            name,
            params: vec![Row(n)],
            result: Some(result),
        });
        text
    }

    fn some_type(&mut self) -> Type {
        let n = self.size();
        let m = self.size();
        match self.rng.below(10) {
            9 => Packs(n, m),
            0 => Num,
            1 | 2 => Row(n),
            3 => Mat(n, m),
            4 => Pack(n),
            5 => Opt(n),
            6 => Table(n),
            _ => Store(self.rng.below(self.stores), n),
        }
    }

    /// The sum of what was bound last.
    fn newest(&mut self) -> String {
        let last = self.scope.iter().rev().find(|(_, ty)| *ty != Fun).cloned();
        let (name, ty) = last.unwrap_or_else(|| ("k".into(), Num));
        self.number_of(&name, &ty)
    }

    /// A number made of a value.
    fn number_of(&mut self, name: &str, ty: &Type) -> String {
        match ty {
            Num => name.to_owned(),
            Fun => format!("({name} 3)"),
            Row(_) => format!("(i64.sum {name})"),
            Mat(..) => format!("(i64.sum (map i64.sum {name}))"),
            Pack(_) => format!("(i64.sum {name}.xs + {name}.s)"),
            Opt(_) => format!(
                "(match {name} case #none -> 1 case #some a -> i64.sum a case #two k a -> k + at a 1)"
            ),
            Table(_) => {
                format!("(i64.sum {name}.first + i64.product {name}.second + length {name}.third)")
            }
            Packs(..) => format!("(i64.sum (map (\\(r: pack []) -> i64.sum r.xs + r.s) {name}))"),
            Store(module, _) => format!("(s{module}.size {name} + i64.sum (s{module}.get {name}))"),
        }
    }
}
