//! A program that is long and has something to check on every line.

use std::fmt::Write as _;

/// A program of about so many lines: groups of definitions that use the group before.
pub(crate) fn dense(lines: usize) -> String {
    let mut text = String::from(START);
    let start = START.lines().count();
    let each = group(1).lines().count();
    for i in 1..=lines.saturating_sub(start) / each {
        text.push_str(&group(i));
    }
    text
}

const START: &str = "\
type pair 'a 'b = {first: a, second: b}
module type scaled = { type t val scale : t -> i32 -> t val zero : t }
module scaled_f32 = { type t = f32 def scale (x: t) (k: i32) : t = x * f32.i32 k def zero : t = 0 }
module scaled_by (s: scaled) = { def all [n] (k: i32) (xs: [n]s.t) : [n]s.t = map (\\x -> s.scale x k) xs }
def series0 [n] (xs: [n]f32) (_k: i32) : [n]f32 = xs
def g0 (r: {x: i32, y: f32, tag: bool}) = r
";

fn group(i: usize) -> String {
    let before = i - 1;
    let mut text = String::new();
    // Writing to a string cannot fail.
    let _ = write!(
        text,
        "\
def series{i} [n] (xs: [n]f32) (k: i32) : [n]f32 =
  let a = f32.i32 k * {i} + 0.5
  let ys = map (\\x -> x * a + {i}) (series{before} xs (k + 1))
  let zs = scan (+) 0 ys
  let top = reduce f32.max f32.lowest zs
  let (low, high) = (f32.min top a, if k % 2 == 0 then top else a - top)
  in map2 (\\y z -> if y < z then y + low else z - high) ys zs
def g{i} (r: {{x: i32, y: f32, tag: bool}}) =
  let r' = g{before} (r with x = r.x + {i})
  let s = r' with y = r'.y * 2 + f32.i32 r'.x
  in if s.tag && s.x > {i} then s with tag = false else {{x = s.x, y = s.y, tag = !s.tag}}
def h{i} [n][m] (xss: [n][m]i64) (is: [n]i64) : [m][n]i64 =
  let sums = map i64.sum xss
  let picked = map (\\i -> if i >= 0 && i < n then sums[i] else 0) is
  let rows = map2 (\\row p -> map (+ p) row) xss picked
  let total = loop acc = 0 for p in picked do acc + p * {i}
  in transpose rows |> map (map (\\x -> (x ^ total) % {modulus}))
type shape{i} = #circle f32 | #box {{w: f32, h: f32}} | #many [2]f32 | #none
def area{i} (s: shape{i}) : f32 =
  match s
  case #circle r -> f32.pi * r ** 2
  case #box b -> b.w * b.h
  case #many a -> a[0] * a[1] + {i}
  case #none -> 0
def swap{i} 'a 'b (p: pair a b) : pair b a = {{first = p.second, second = p.first}}
def twice{i} 'a (f: a -> a) (x: a) : a = f (f x)
def use{i} (n: i64) (seed: i32) : (i32, f32) =
  let p = swap{i} {{first = seed, second = f32.i32 seed}}
  let k = twice{i} (\\x -> x * 3 + {i}) p.second
  let arr = replicate n 1 with [0] = k
  let counts = reduce_by_index (replicate 8 0) (+) 0 (map (\\x -> i64.i32 x % 8) arr) arr
  let best = counts |> zip (iota 8) |> map (\\(j, c) -> c - i32.i64 j) |> i32.maximum
  in (best + k, area{i} (#box {{w = p.first, h = f32.i32 best}}))
module m{i} = scaled_by {{ open scaled_f32 def scale (x: t) (j: i32) : t = scaled_f32.scale x (j + {i}) }}
def w{i} [n] (xs: [n]f32) = m{i}.all {i} (series{i} xs 3) |> filter (> 0) |> map (\\x -> x - 1) |> f32.sum
",
        modulus = i + 7
    );
    text
}
