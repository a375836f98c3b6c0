//! Expressions of a wanted type.

use super::{Fun, Mat, Num, Opt, Pack, Packs, Row, Size, Source, Store, Table, Type};

/// Sizes with more operations are not multiplied any more.
const DEEPEST: usize = 5;

impl Source {
    /// Makes something where more variables are known.
    pub(super) fn with<R>(
        &mut self,
        more: &[(String, Type)],
        make: impl FnOnce(&mut Self) -> R,
    ) -> R {
        let before = self.scope.len();
        self.scope.extend_from_slice(more);
        let made = make(self);
        self.scope.truncate(before);
        made
    }

    /// Some size, one of a variable's or another one.
    pub(super) fn size(&mut self) -> Size {
        let used: Vec<Size> = self
            .scope
            .iter()
            .flat_map(|(_, ty)| ty.sizes().into_iter().cloned())
            .filter(|n| n.depth() <= 2)
            .collect();
        if !used.is_empty() && self.rng.chance(60) {
            return self.rng.pick(&used).clone();
        }
        Size::random(&self.sizes, &mut self.rng)
    }

    fn variable(&mut self, ty: &Type) -> Option<String> {
        let all: Vec<String> = self
            .scope
            .iter()
            .filter(|(_, t)| t == ty)
            .map(|(name, _)| name.clone())
            .collect();
        let last = all.len().min(3);
        (last > 0).then(|| all[all.len() - 1 - self.rng.below(last)].clone())
    }

    /// An expression of the type.
    pub(super) fn exp(&mut self, ty: &Type, depth: usize) -> String {
        self.budget = self.budget.saturating_sub(1);
        let leaf = depth == 0 || self.rng.chance(25);
        if leaf && let Some(name) = self.variable(ty) {
            return name;
        }
        if depth == 0 {
            return self.least(ty);
        }
        let d = depth - 1;
        if *ty != Fun && self.rng.chance(20) {
            return self.control(ty, d);
        }
        if self.rng.chance(25)
            && let Some(call) = self.call(ty, d)
        {
            return call;
        }
        match ty {
            Num => self.number(d),
            Row(n) => self.row(n, d),
            Mat(n, m) => self.matrix(n, m, d),
            Pack(n) => self.pack(n, d),
            Opt(n) => self.opt(n, d),
            Table(n) => self.table(n, d),
            Store(module, n) => self.store(*module, n, d),
            Packs(n, m) => self.packs(n, m, d),
            Fun => self.fun(d),
        }
    }

    /// An expression of the type without others in it.
    fn least(&mut self, ty: &Type) -> String {
        match ty {
            Num => format!("{}i64", self.rng.below(9)),
            Fun => "(+ 1)".into(),
            Row(n) if n.is_shown() => format!("(iota ({n}))"),
            Row(n) => self.of_hidden(n),
            Mat(n, m) => {
                let (xs, ys) = (self.least(&Row(n.clone())), self.least(&Row(m.clone())));
                format!("(map (\\x -> map (+ x) {ys}) {xs})")
            }
            Pack(n) => format!("(pack {} 2)", self.least(&Row(n.clone()))),
            Packs(n, m) => {
                let (xs, ys) = (self.least(&Row(n.clone())), self.least(&Row(m.clone())));
                format!("(map (pack {ys}) {xs})")
            }
            Opt(n) => format!("(some {})", self.least(&Row(n.clone()))),
            Table(n) => format!("(table {})", self.least(&Row(n.clone()))),
            Store(module, n) => format!("(s{module}.of {})", self.least(&Row(n.clone()))),
        }
    }

    /// An array of a size that has no name: a variable has it.
    fn of_hidden(&mut self, n: &Size) -> String {
        match n {
            Size::Plus(a, b) => {
                let (a, b) = (
                    self.least(&Row((**a).clone())),
                    self.least(&Row((**b).clone())),
                );
                format!("({a} ++ {b})")
            }
            Size::Times(a, b) => {
                let matrix = self.least(&Mat((**a).clone(), (**b).clone()));
                format!("(flatten {matrix})")
            }
            Size::Name(_) | Size::Const(_) | Size::Half(_) | Size::Call(_) | Size::Hidden(_) => {
                let all = self.scope.iter().rev();
                let mut of_size = all.filter_map(|(name, ty)| {
                    if let Row(m) = ty {
                        (m == n).then(|| name.clone())
                    } else if let Pack(m) = ty {
                        (m == n).then(|| format!("{name}.xs"))
                    } else if let Store(module, m) = ty {
                        (m == n).then(|| format!("(s{module}.get {name})"))
                    } else {
                        None
                    }
                });
                of_size.next().unwrap_or_else(|| "ns".into())
            }
        }
    }

    /// `if`, `match`, `loop`, functions that are given functions.
    fn control(&mut self, ty: &Type, d: usize) -> String {
        match self.rng.below(7) {
            6 => {
                let (x, e) = (self.exp(&Num, d), self.exp(ty, d));
                format!("(assert (small {x} < 101) {e})")
            }
            0 | 1 => {
                let (c, a, b) = (self.condition(d), self.exp(ty, d), self.exp(ty, d));
                format!("(if {c} then {a} else {b})")
            }
            2 => {
                let n = self.size();
                let o = self.exp(&Opt(n.clone()), d);
                let (xs, k, ys) = (self.name("a"), self.name("k"), self.name("b"));
                let none = self.exp(ty, d);
                let some = self.with(&[(xs.clone(), Row(n.clone()))], |g| g.exp(ty, d));
                let longer = Row(n.plus(Size::Const(1)));
                let two = self.with(&[(k.clone(), Num), (ys.clone(), longer)], |g| g.exp(ty, d));
                format!(
                    "(match {o} case #none -> {none} case #some {xs} -> {some} case #two {k} {ys} -> {two})"
                )
            }
            3 => {
                let (state, i) = (self.name("z"), self.name("i"));
                let start = self.exp(ty, d);
                let inside = [(i.clone(), Num), (state.clone(), ty.clone())];
                let body = self.with(&inside, |g| g.exp(ty, d));
                match self.rng.below(3) {
                    0 => {
                        let n = self.size();
                        let xs = self.exp(&Row(n), 0);
                        format!("(loop {state} = {start} for {i} in {xs} do {body})")
                    }
                    1 => format!(
                        "((loop ({i}, {state}) = (0, {start}) while {i} < 2 do ({i} + 1, {body})).1)"
                    ),
                    _ => format!("(loop {state} = {start} for {i} < 2 do {body})"),
                }
            }
            4 => {
                let (x, start) = (self.name("x"), self.exp(ty, d));
                let body = self.with(&[(x.clone(), ty.clone())], |g| g.exp(ty, d));
                if !ty.sizes().iter().all(|n| n.is_shown()) {
                    return format!("(let {x} = {start} in {body})");
                }
                let pick = *self.rng.pick(&["twice", "compose (\\y -> y)"]);
                format!("({pick} (\\({x}: {}) -> {body}) {start})", ty.text())
            }
            _ => {
                let (x, start) = (self.name("x"), self.exp(ty, d));
                let n = self.size();
                let other = self.exp(&Row(n), 0);
                let body = self.with(&[(x.clone(), ty.clone())], |g| g.exp(ty, d));
                format!("(let {x} = (swap (both {other} {start})).l in {body})")
            }
        }
    }

    /// A call of one of the program's functions.
    fn call(&mut self, ty: &Type, d: usize) -> Option<String> {
        let fits = |f: &super::Function| -> Option<(Option<Size>, Option<Size>)> {
            let result = f.result.as_ref().filter(|r| r.is_like(ty))?;
            let (mut n, mut m) = (None, None);
            let all = result.sizes().into_iter().zip(ty.sizes());
            all.into_iter()
                .all(|(have, want)| have.fits(want, &mut n, &mut m))
                .then_some((n, m))
        };
        let found: Vec<_> = self
            .functions
            .iter()
            .enumerate()
            .filter_map(|(i, f)| Some((i, fits(f)?)))
            .collect();
        if found.is_empty() {
            return None;
        }
        let (i, (n, m)) = self.rng.pick(&found).clone();
        let (n, m) = (
            n.unwrap_or_else(|| self.size()),
            m.unwrap_or_else(|| self.size()),
        );
        Some(self.call_of(i, &n, &m, d))
    }

    fn call_of(&mut self, i: usize, n: &Size, m: &Size, d: usize) -> String {
        let params = self.functions[i].params.clone();
        let mut text = format!("({}", self.functions[i].name);
        for ty in params {
            let arg = self.exp(&ty.put(n, m), d.min(1));
            text.push_str(&format!(" {arg}"));
        }
        text + ")"
    }

    fn number(&mut self, d: usize) -> String {
        match self.rng.below(13) {
            11 => {
                let (bits, x) = (self.rng.below(5), self.exp(&Num, d));
                format!("(i64.sum (wide {bits} {x}).all)")
            }
            12 => {
                let (bits, x) = (self.name("bits"), self.exp(&Num, d));
                let number = self.rng.below(4);
                format!("(let {bits} = {number}i32 in wide_of {bits} (wide (i64.i32 {bits}) {x}))")
            }
            0 => {
                let (a, b) = (self.exp(&Num, d), self.exp(&Num, d));
                let op = *self.rng.pick(&["+", "-", "*", "`i64.max`"]);
                format!("(small ({a} {op} {b}))")
            }
            1 => format!("(i64.sum {})", self.some_size(d)),
            2 => format!("(length {})", self.some_size(d)),
            3 => {
                let (xs, i) = (self.some_size(d), self.exp(&Num, d));
                format!("(at {xs} {i})")
            }
            4 => {
                let (f, x) = (self.exp(&Fun, d), self.exp(&Num, d));
                format!("(twice {f} {x})")
            }
            5 => {
                let (f, g, x) = (self.exp(&Fun, d), self.exp(&Fun, d), self.exp(&Num, d));
                format!("(({f} >-> {g}) {x})")
            }
            6 => {
                let n = self.size();
                let r = self.exp(&Pack(n), d);
                format!("({r}.s)")
            }
            7 | 8 => {
                let ty = self.some_type();
                let (x, value) = (self.name("x"), self.exp(&ty, d));
                let number = self.number_of(&x, &ty);
                format!("(let {x} = {value} in {number})")
            }
            9 => {
                let n = self.size();
                let (f, xs) = (self.exp(&Fun, d), self.exp(&Row(n), d));
                format!("(reduce i64.max 0 (map {f} {xs}))")
            }
            _ => {
                let (f, x) = (self.exp(&Fun, d), self.exp(&Num, d));
                format!("({f} <| {x})")
            }
        }
    }

    pub(super) fn condition(&mut self, d: usize) -> String {
        let (a, b) = (self.exp(&Num, d), self.exp(&Num, 0));
        match self.rng.below(4) {
            0 => format!("({a} < {b})"),
            1 => format!("({a} % 2 == 0)"),
            2 => format!("({a} > 0 || {b} != 2)"),
            _ => format!("(any (> {b}) {})", self.some_size(d)),
        }
    }

    fn fun(&mut self, d: usize) -> String {
        match self.rng.below(6) {
            0 => format!("(+ {})", self.exp(&Num, d)),
            1 => format!("(plus {})", self.exp(&Num, d)),
            2 => {
                let (f, g) = (self.exp(&Fun, d), self.exp(&Fun, d));
                format!("({f} <-< {g})")
            }
            3 => format!("(twice {})", self.exp(&Fun, d)),
            _ => {
                let x = self.name("x");
                let body = self.with(&[(x.clone(), Num)], |g| g.exp(&Num, d));
                format!("(\\{x} -> {body})")
            }
        }
    }

    fn row(&mut self, n: &Size, d: usize) -> String {
        if self.rng.chance(25) {
            return self.idiom(n, d);
        }
        let same = Row(n.clone());
        match (self.rng.below(15), n) {
            (0..=2, Size::Const(count)) => {
                let all: Vec<String> = (0..*count).map(|_| self.exp(&Num, d)).collect();
                format!("[{}]", all.join(", "))
            }
            (11, _) => {
                let m = self.size();
                let rows = self.exp(&Packs(n.clone(), m), d);
                let map = *self
                    .rng
                    .pick(&["map (.s)", "map (\\(r: pack []) -> r.s + length r.xs)"]);
                format!("({map} {rows})")
            }
            (12, _) => {
                let (xs, ys) = (self.exp(&same, d), self.exp(&same, d));
                format!("(pairwise {xs} {ys})")
            }
            (13, _) => {
                let (xs, ys) = (self.exp(&same, d), self.exp(&same, d));
                format!("(zip {xs} {ys} |> unzip |> (.1))")
            }
            (0 | 1, Size::Plus(a, b)) => {
                let (a, b) = (
                    self.exp(&Row((**a).clone()), d),
                    self.exp(&Row((**b).clone()), d),
                );
                let join = *self.rng.pick(&["concat", "joined"]);
                format!("({join} {a} {b})")
            }
            (0 | 1, Size::Times(a, b)) => {
                let matrix = self.exp(&Mat((**a).clone(), (**b).clone()), d);
                format!("(flatten {matrix})")
            }
            (0 | 1, _) if n.is_shown() => {
                let f = self.exp(&Fun, d);
                format!("(tabulate ({n}) {f})")
            }
            (2, _) if n.is_shown() => format!("(replicate ({n}) {})", self.exp(&Num, d)),
            (3, _) if n.is_shown() => {
                let xs = self.some_size(d);
                format!("(fit ({n}) {xs})")
            }
            (3 | 4, _) => {
                let (xs, ys) = (self.exp(&same, d), self.some_size(d));
                format!("(like {xs} {ys})")
            }
            (5, _) => {
                let (xs, ys) = (self.exp(&same, d), self.exp(&same, d));
                format!("(map2 (\\x y -> small (x * y)) {xs} {ys})")
            }
            (6, _) => {
                let xs = self.exp(&same, d);
                format!("(scan (\\x y -> small (x + y)) 0 {xs})")
            }
            (7, _) => {
                let r = self.exp(&Pack(n.clone()), d);
                format!("({r}.xs)")
            }
            (8, _) => {
                let (o, xs) = (self.exp(&Opt(n.clone()), d), self.exp(&same, d));
                format!("(or_else {o} {xs})")
            }
            (9, _) => format!("(first {})", self.exp(&Table(n.clone()), d)),
            (10, _) => {
                let module = self.rng.below(self.stores);
                let a = self.exp(&Store(module, n.clone()), d);
                format!("(s{module}.get {a})")
            }
            _ => {
                let (f, xs) = (self.exp(&Fun, d), self.exp(&same, d));
                let map = *self.rng.pick(&["map", "each", "mapped"]);
                format!("({map} {f} {xs})")
            }
        }
    }

    /// An array of a size that is known when the program runs.
    pub(super) fn some_size(&mut self, depth: usize) -> String {
        let mut n = self.size();
        if n.depth() > DEEPEST {
            n = Size::Const(2);
        }
        if depth == 0 {
            return self.exp(&Row(n), 0);
        }
        let d = depth - 1;
        self.budget = self.budget.saturating_sub(1);
        let xs = self.exp(&Row(n.clone()), d);
        if self.rng.chance(35) {
            return self.idiom_of(&xs, d);
        }
        match self.rng.below(12) {
            9 => {
                let (c, ys) = (self.condition(d), self.some_size(d));
                format!("(either {c} {xs} {ys})")
            }
            10 => format!("(or_three {xs})"),
            0 => {
                let x = self.name("x");
                let c = self.with(&[(x.clone(), Num)], |g| g.condition(d));
                format!("(filter (\\{x} -> {c}) {xs})")
            }
            1..=3 => {
                let (c, ys) = (self.condition(d), self.some_size(d));
                format!("(if {c} then {xs} else {ys})")
            }
            4 => {
                let o = self.exp(&Opt(n), d);
                let (a, k, b) = (self.name("a"), self.name("k"), self.name("b"));
                format!(
                    "(match {o} case #none -> {xs} case #some {a} -> {a} case #two {k} {b} -> map (+ {k}) {b})"
                )
            }
            5 => {
                let (state, i) = (self.name("z"), self.name("i"));
                let c = self.with(&[(i.clone(), Num)], |g| g.condition(d));
                format!(
                    "(loop ({state}: []i64) = {xs} for {i} < 2 do if {c} then {state} ++ [{i}] else filter (> {i}) {state})"
                )
            }
            6 => {
                let unsized_: Vec<usize> = (0..self.functions.len())
                    .filter(|i| self.functions[*i].result.is_none())
                    .collect();
                if unsized_.is_empty() {
                    return xs;
                }
                let i = *self.rng.pick(&unsized_);
                let m = self.size();
                self.call_of(i, &n, &m, d)
            }
            7 => {
                let module = self.rng.below(self.stores);
                let (k, a) = (self.exp(&Num, 0), self.exp(&Store(module, n), d));
                format!("(s{module}.keep (> {k}) {a})")
            }
            8 => {
                let x = self.name("x");
                format!("(let {x} = {xs} in take (length {x} / 2) {x})")
            }
            _ => xs,
        }
    }
}
