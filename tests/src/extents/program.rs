//! Programs of array operations on sizes, and their text.

use super::sizes::SIZES;
use crate::generate::Random;

/// The number of an array that an earlier statement makes.
pub(super) type Array = usize;

/// A size: arithmetic of the source, which wraps.
#[derive(Clone, Copy, Debug)]
pub(super) enum Size {
    Param(usize),
    Few(i64),
    Product(usize, usize),
    Sum(usize, usize),
    Difference(usize, usize),
}

/// What makes an array.
#[derive(Clone, Copy, Debug)]
pub(super) enum Op {
    /// `iota n`
    Iota(Size),
    /// `replicate n 7`
    Constant(Size),
    /// `tabulate_2d n m (\i j -> i * 31 + j)`
    Grid(Size, Size),
    /// `replicate n a`
    Repeat(Size, Array),
    /// `map (+ 3) a`
    Add(Array),
    /// `a ++ b`
    Concat(Array, Array),
    /// `flatten a`
    Flatten(Array),
    /// `unflatten (a :> [n * m]t) : [n][m]t`
    Unflatten(Size, Size, Array),
    /// `transpose a`
    Transpose(Array),
    /// `reverse a`
    Reverse(Array),
    /// `rotate n a`
    Rotate(Size, Array),
    /// `take n a`
    Take(Size, Array),
    /// `a[b:e:s]`
    Strided(Array, [Size; 3]),
    /// `map (\r -> r[k]) a`
    Column(Array, Size),
    /// `map (\x -> replicate n x) a`
    Spread(Array, Size),
    /// `flatten (map iota xs)`
    Rows,
    /// `scan (+) 0 a`
    Scan(Array),
    /// `filter (\x -> x % 2 == 0) a`
    Filter(Array),
    /// `reduce_by_index (replicate n 0) (+) 0 xs (map (\_ -> 1) xs)`
    Count(Size),
    /// `scatter (replicate n 0) xs (map (\_ -> 1) xs)`
    Scatter(Size),
    /// The same in two dimensions, at the indices `(x, x)`.
    Count2(Size, Size),
    /// `map (\i -> length (flatten (replicate n (replicate m i)))) (iota 3)`
    InnerProduct(Size, Size),
    /// `map (\i -> length (replicate n i ++ replicate m i)) (iota 3)`
    InnerSum(Size, Size),
    /// `map (\i -> (scan (+) 0 (replicate n i))[k]) (iota 3)`
    InnerScan(Size, Size),
    /// `map (\k -> length (flatten (map iota [k, k]))) xs`
    InnerRows,
}

/// The type of elements.
#[derive(Clone, Copy, Debug)]
pub(super) enum Elem {
    I8,
    I32,
    I64,
}

impl Elem {
    /// A number of the type.
    pub(super) const fn wrap(self, n: i64) -> i64 {
        match self {
            Self::I8 => n as i8 as i64,
            Self::I32 => n as i32 as i64,
            Self::I64 => n,
        }
    }

    const fn name(self) -> &'static str {
        match self {
            Self::I8 => "i8",
            Self::I32 => "i32",
            Self::I64 => "i64",
        }
    }
}

/// A program: arrays, the lengths of which it gives, and perhaps an element of the last.
#[derive(Clone, Debug)]
pub(super) struct Program {
    pub(super) elem: Elem,
    pub(super) ops: Vec<Op>,
    /// Where the element is that it gives.
    pub(super) read: Option<[Size; 3]>,
}

impl Program {
    pub(super) fn random(random: &mut Random) -> Self {
        let elem = *random.pick(&[Elem::I8, Elem::I32, Elem::I64, Elem::I64]);
        let count = 1 + random.below(5);
        let (mut ops, mut ranks): (Vec<Op>, Vec<usize>) = (Vec::new(), Vec::new());
        while ops.len() < count {
            if let Some(op) = random_op(&ranks, random) {
                ranks.push(rank(op, &ranks));
                ops.push(op);
            }
        }
        let read = random.chance(60).then(|| {
            [(); 3].map(|()| match random.chance(70) {
                true => Size::Few(random.below(3) as i64),
                false => Size::Param(random.below(SIZES)),
            })
        });
        Self { elem, ops, read }
    }

    /// The number of dimensions of each array.
    pub(super) fn ranks(&self) -> Vec<usize> {
        let mut ranks = Vec::new();
        for &op in &self.ops {
            ranks.push(rank(op, &ranks));
        }
        ranks
    }

    /// The program in the source language.
    pub(super) fn text(&self) -> String {
        let t = self.elem.name();
        let params: Vec<String> = (0..SIZES).map(|i| format!("(s{i}: i64)")).collect();
        let mut text = format!("def main {} (xs: []i64) =\n", params.join(" "));
        let ranks = self.ranks();
        for (k, op) in self.ops.iter().enumerate() {
            text.push_str(&format!("  {}\n", statement(t, k, *op, &ranks)));
        }
        let mut results = Vec::new();
        for (k, rank) in ranks.iter().enumerate() {
            results.push(format!("length a{k}"));
            if *rank == 2 {
                results.push(format!("length (transpose a{k})"));
            }
        }
        if let (Some(at), Some(rank)) = (self.read, ranks.last()) {
            let at: Vec<String> = at[..*rank].iter().map(|n| size(*n)).collect();
            let last = ranks.len() - 1;
            results.push(format!("i64.{t} a{last}[{}]", at.join(", ")));
        }
        text.push_str(&format!("  in ({})\n", results.join(", ")));
        text
    }
}

fn random_size(random: &mut Random) -> Size {
    let mut param = || random.below(SIZES);
    let (a, b) = (param(), param());
    match random.below(20) {
        0..12 => Size::Param(a),
        12..15 => Size::Few(random.below(4) as i64),
        15..18 => Size::Product(a, b),
        18 => Size::Sum(a, b),
        _ => Size::Difference(a, b),
    }
}

/// An operation, if there is an array for it.
fn random_op(ranks: &[usize], random: &mut Random) -> Option<Op> {
    let of_rank = |wanted: &[usize], random: &mut Random| -> Option<Array> {
        let all = (0..ranks.len()).filter(|k| wanted.contains(&ranks[*k]));
        let all: Vec<Array> = all.collect();
        (!all.is_empty()).then(|| *random.pick(&all))
    };
    let mut size = || random_size(random);
    let (n, m, l) = (size(), size(), size());
    Some(match random.below(25) {
        0 => Op::Iota(n),
        1 => Op::Constant(n),
        2 => Op::Grid(n, m),
        3 | 4 => Op::Repeat(n, of_rank(&[1, 2], random)?),
        5 => Op::Add(of_rank(&[1, 2], random)?),
        6 => {
            let a = of_rank(&[1, 2], random)?;
            let b = match ranks[a] {
                1 => of_rank(&[1], random)?,
                _ => a,
            };
            Op::Concat(a, b)
        }
        7 | 8 => Op::Flatten(of_rank(&[2, 3], random)?),
        9 | 10 => Op::Unflatten(n, m, of_rank(&[1], random)?),
        11 => Op::Transpose(of_rank(&[2], random)?),
        12 => Op::Reverse(of_rank(&[1], random)?),
        13 => Op::Rotate(n, of_rank(&[1], random)?),
        14 => Op::Take(n, of_rank(&[1], random)?),
        15 => Op::Strided(of_rank(&[1], random)?, [n, m, l]),
        16 => Op::Column(of_rank(&[2], random)?, n),
        17 => Op::Spread(of_rank(&[1], random)?, n),
        18 => Op::Rows,
        19 => Op::Scan(of_rank(&[1], random)?),
        20 => Op::Filter(of_rank(&[1], random)?),
        21 => match random.below(3) {
            0 => Op::Count(n),
            1 => Op::Scatter(n),
            _ => Op::Count2(n, m),
        },
        22 => Op::InnerProduct(n, m),
        23 => match random.chance(50) {
            true => Op::InnerSum(n, m),
            false => Op::InnerScan(n, m),
        },
        _ => Op::InnerRows,
    })
}

/// The number of dimensions of what an operation makes.
fn rank(op: Op, ranks: &[usize]) -> usize {
    match op {
        Op::Grid(..) | Op::Unflatten(..) | Op::Spread(..) | Op::Count2(..) => 2,
        Op::Repeat(_, a) => ranks[a] + 1,
        Op::Flatten(a) => ranks[a] - 1,
        Op::Add(a) | Op::Concat(a, _) | Op::Transpose(a) => ranks[a],
        Op::Iota(_)
        | Op::Constant(_)
        | Op::Reverse(_)
        | Op::Rotate(..)
        | Op::Take(..)
        | Op::Strided(..)
        | Op::Column(..)
        | Op::Rows
        | Op::Scan(_)
        | Op::Filter(_)
        | Op::Count(_)
        | Op::Scatter(_)
        | Op::InnerProduct(..)
        | Op::InnerSum(..)
        | Op::InnerScan(..)
        | Op::InnerRows => 1,
    }
}

fn size(n: Size) -> String {
    match n {
        Size::Param(a) => format!("s{a}"),
        Size::Few(n) => format!("{n}i64"),
        Size::Product(a, b) => format!("(s{a} * s{b})"),
        Size::Sum(a, b) => format!("(s{a} + s{b})"),
        Size::Difference(a, b) => format!("(s{a} - s{b})"),
    }
}

fn statement(t: &str, k: usize, op: Op, ranks: &[usize]) -> String {
    let [zero, one, three] = ["0", "1", "3"].map(|n| format!("({t}.i64 {n})"));
    let ones = format!("(map (\\_ -> {one}) xs)");
    let exp = match op {
        Op::Iota(n) => format!("map {t}.i64 (iota {})", size(n)),
        Op::Constant(n) => format!("replicate {} ({t}.i64 7)", size(n)),
        Op::Grid(n, m) => {
            let body = format!("{t}.i64 (i * 31 + j)");
            format!("tabulate_2d {} {} (\\i j -> {body})", size(n), size(m))
        }
        Op::Repeat(n, a) => format!("replicate {} a{a}", size(n)),
        Op::Add(a) => match ranks[a] {
            1 => format!("map (\\x -> x + {three}) a{a}"),
            _ => format!("map (map (\\x -> x + {three})) a{a}"),
        },
        Op::Concat(a, b) => format!("a{a} ++ a{b}"),
        Op::Flatten(a) => format!("flatten a{a}"),
        Op::Unflatten(n, m, a) => {
            let (n, m) = (size(n), size(m));
            return format!(
                "let n{k} = {n} let m{k} = {m}\n  let a{k} : [n{k}][m{k}]{t} = unflatten (a{a} :> [n{k} * m{k}]{t})"
            );
        }
        Op::Transpose(a) => format!("transpose a{a}"),
        Op::Reverse(a) => format!("reverse a{a}"),
        Op::Rotate(n, a) => format!("rotate {} a{a}", size(n)),
        Op::Take(n, a) => format!("take {} a{a}", size(n)),
        Op::Strided(a, [from, to, step]) => {
            format!("a{a}[{}:{}:{}]", size(from), size(to), size(step))
        }
        Op::Column(a, n) => format!("map (\\r -> r[{}]) a{a}", size(n)),
        Op::Spread(a, n) => format!("map (\\x -> replicate {} x) a{a}", size(n)),
        Op::Rows => format!("flatten (map (\\k -> map {t}.i64 (iota k)) xs)"),
        Op::Scan(a) => format!("scan (+) {zero} a{a}"),
        Op::Filter(a) => format!("filter (\\x -> x % ({t}.i64 2) == {zero}) a{a}"),
        Op::Count(n) => {
            let dest = format!("(replicate {} {zero})", size(n));
            format!("reduce_by_index {dest} (+) {zero} xs {ones}")
        }
        Op::Scatter(n) => format!("scatter (replicate {} {zero}) xs {ones}", size(n)),
        Op::Count2(n, m) => {
            let dest = format!("(replicate {} (replicate {} {zero}))", size(n), size(m));
            format!("reduce_by_index_2d {dest} (+) {zero} (zip xs xs) {ones}")
        }
        Op::InnerProduct(n, m) => {
            let array = format!("replicate {} (replicate {} i)", size(n), size(m));
            format!("map (\\i -> {t}.i64 (length (flatten ({array})))) (iota 3)")
        }
        Op::InnerSum(n, m) => {
            let array = format!("replicate {} i ++ replicate {} i", size(n), size(m));
            format!("map (\\i -> {t}.i64 (length ({array}))) (iota 3)")
        }
        Op::InnerScan(n, at) => {
            let array = format!("scan (+) 0 (replicate {} i)", size(n));
            format!("map (\\i -> {t}.i64 ({array})[{}]) (iota 3)", size(at))
        }
        Op::InnerRows => {
            format!("map (\\k -> {t}.i64 (length (flatten (map iota [k, k])))) xs")
        }
    };
    format!("let a{k} = {exp}")
}
