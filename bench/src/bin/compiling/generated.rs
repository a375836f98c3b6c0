//! Programs of any length, to see how the time of compiling grows.

use std::fmt::Write as _;

/// What a program consists of.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Kind {
    /// One long function of scalar code, maps, reductions, loops and branches.
    Straight,
    /// Many functions that are called, with nested parallelism in them.
    Functions,
}

/// All of them.
pub(crate) const KINDS: &[Kind] = &[Kind::Straight, Kind::Functions];

impl Kind {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Straight => "straight",
            Self::Functions => "functions",
        }
    }
}

/// A program of so many parts.
pub(crate) fn generated(kind: Kind, parts: usize) -> String {
    match kind {
        Kind::Straight => straight(parts),
        Kind::Functions => functions(parts),
    }
}

/// Parts of a function: an expression may not nest deeper than 10,000 levels, and each `let` is one.
const PARTS: usize = 500;

fn straight(parts: usize) -> String {
    let mut text = String::new();
    let mut calls = String::from("def main [n] (x0: [n]i32) (s0: i32) =\n");
    let blocks = parts.div_ceil(PARTS);
    for block in 0..blocks {
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "def block{block} [n] (x0: [n]i32) (s0: i32) : ([n]i32, i32) ="
        );
        let mine = PARTS.min(parts - block * PARTS);
        for i in 1..=mine {
            let (before, half) = (i - 1, i / 2);
            let _ = writeln!(
                text,
                "  let y{i} = map2 (\\a b -> (a + s{before}) * b - {i}) x{before} x{half}\n  \
                   let r{i} = reduce (+) 0 y{i}\n  \
                   let t{i} = if r{i} > s{half} then r{i} * 3 + s{before} else r{i} - s{half}\n  \
                   let s{i} = loop acc = t{i} for j < 8 do (acc ^ j) * {i} + s{half}\n  \
                   let x{i} = scan i32.max s{i} y{i}"
            );
        }
        let _ = writeln!(text, "  in (x{mine}, s{mine})");
        let next = block + 1;
        let _ = writeln!(
            calls,
            "  let (x{next}, s{next}) = block{block} x{block} s{block}"
        );
    }
    let _ = writeln!(calls, "  in (x{blocks}, s{blocks})");
    text + &calls
}

fn functions(parts: usize) -> String {
    let mut text = String::from("def fun0 [n] (xs: [n]f32) (k: f32) : f32 = f32.sum xs * k\n");
    for i in 1..=parts {
        let _ = writeln!(
            text,
            "def fun{i} [n] (xs: [n]f32) (k: f32) : f32 =\n  \
               let rows = map (\\x -> map (\\y -> f32.max (x - y) 0 * {i}) xs) xs\n  \
               let sums = map f32.sum rows\n  \
               let best = loop b = k for s in sums do if s > b then s else b * 0.5\n  \
               let is = map (\\s -> i64.f32 s % 16) sums\n  \
               let h = reduce_by_index (replicate 16 0) (+) 0 is sums\n  \
               in best + f32.maximum h + f32.i64 (length (filter (> best) sums))"
        );
    }
    let _ = write!(text, "def main [n] (xs: [n]f32) = fun0 xs 1");
    for i in 1..=parts {
        let _ = write!(text, "\n  + fun{i} xs {i}");
    }
    text.push('\n');
    text
}
