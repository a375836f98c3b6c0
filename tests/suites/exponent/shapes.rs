//! Programs that are long or deep in one way each.

use std::fmt::Write as _;

/// A kind of program, and how many parts of it make one that takes some milliseconds.
pub(super) struct Shape {
    pub(super) name: &'static str,
    pub(super) parts: usize,
    pub(super) program: fn(usize) -> String,
    /// The largest exponent, where caches make it larger than others.
    pub(super) bound: Option<f64>,
}

const fn shape(name: &'static str, parts: usize, program: fn(usize) -> String) -> Shape {
    Shape {
        name,
        parts,
        program,
        bound: None,
    }
}

impl Shape {
    /// The same with an exponent of its own.
    const fn up_to(self, bound: f64) -> Self {
        let bound = Some(bound);
        Self { bound, ..self }
    }
}

/// All of them.
pub(super) const SHAPES: &[Shape] = &[
    shape("a literal on one line", 4000, literal),
    shape("a literal of several rows", 1000, rows).up_to(1.5),
    shape("expressions on one line", 500, one_line).up_to(1.5),
    shape("characters that are no ASCII on one line", 8000, characters).up_to(1.6),
    shape("lets in a lambda", 150, lets),
    shape("lets that update an array in a lambda", 100, updates).up_to(1.4),
    shape("loops one after another in a lambda", 60, loops),
    shape("a long match", 500, long_match).up_to(1.6),
    shape("a long match in a lambda", 250, match_in_map).up_to(1.4),
    shape("a long match of pairs", 250, match_of_pairs).up_to(1.6),
    shape(
        "a long match of records that yields arrays",
        60,
        match_of_records,
    )
    .up_to(1.5),
    shape("conditions one after another", 150, else_if).up_to(1.4),
    shape(
        "conditions one after another in a lambda",
        100,
        else_if_in_map,
    ),
    shape("conditions inside of one another", 150, deep_if),
    shape(
        "conditions inside of one another in a lambda",
        60,
        deep_if_in_map,
    ),
    shape("brackets inside of one another", 150, brackets),
    shape("many functions", 250, functions).up_to(1.6),
    shape("many small kernels", 50, kernels),
    shape("a wide record", 60, record),
    shape("arrays of a wide record", 40, array_of_records),
    shape("a long concatenation", 80, concatenation),
];

/// `start`, the parts with these numbers one after another, and `end`.
fn all(start: &str, n: usize, part: impl Fn(usize) -> String, end: &str) -> String {
    let mut text = String::from(start);
    for i in 0..n {
        text.push_str(&part(i));
    }
    writeln!(text, "{end}").expect("strings take everything");
    text
}

fn literal(n: usize) -> String {
    all(
        "def main : []i32 = [1",
        n,
        |i| format!(", {}", i % 1000),
        "]",
    )
}

fn rows(n: usize) -> String {
    let row = |i| format!(", [({i}, true, {i}.5), ({}, false, 0)]", i + 1);
    all(
        "def main : [][2](i64, bool, f32) = [[(0, true, 1), (1, true, 1)]",
        n,
        row,
        "]",
    )
}

fn one_line(n: usize) -> String {
    let part = |i| format!(" + (if x > {i} then x * {i} else x - {i})");
    all("def main (x: i64) : i64 = x", n, part, "")
}

fn characters(n: usize) -> String {
    all(
        "def main : []u8 = \"",
        n,
        |i| String::from(if i % 2 == 0 { "\u{e9}" } else { "\u{2264}" }),
        "\"",
    )
}

fn lets(n: usize) -> String {
    let part = |i| {
        format!(
            "\n  let x = if x % {} == 0 then x / 2 else x * 3 + 1",
            i + 2
        )
    };
    all(
        "def main (xs: []i64) = map (\\x ->",
        n,
        part,
        "\n  in x) xs",
    )
}

fn updates(n: usize) -> String {
    let part = |i| format!("\n  let xs[{}] = xs[{}] + {i}", i % 50, i * 7 % 50);
    all(
        "def main (ys: []i32) = map (\\y -> let xs = replicate 50 y",
        n,
        part,
        "\n  in i32.sum xs) ys",
    )
}

fn loops(n: usize) -> String {
    let part = |i| {
        format!(
            "\n  let x = loop y = x for j < {} do y * {i} + j",
            i % 5 + 2
        )
    };
    all(
        "def main (xs: []i64) = map (\\x ->",
        n,
        part,
        "\n  in x) xs",
    )
}

fn long_match(n: usize) -> String {
    let case = |i| format!("\n  case {i} -> {}", i * 7 % 1000);
    all(
        "def main (x: i64) : i64 = match x",
        n,
        case,
        "\n  case _ -> x",
    )
}

fn match_in_map(n: usize) -> String {
    let case = |i| format!("\n  case {} -> x * {i}", i * i % 10007);
    all(
        "def main (xs: []i32) : []i32 = map (\\x -> match x",
        n,
        case,
        "\n  case _ -> 0) xs",
    )
}

fn match_of_pairs(n: usize) -> String {
    let case = |i| format!("\n  case ({}, {}) -> {i} + x", i % 16, i / 16);
    all(
        "def main (x: i32) (y: u8) : i32 = match (x, y)",
        n,
        case,
        "\n  case _ -> 0",
    )
}

fn match_of_records(n: usize) -> String {
    let case = |i| format!("\n  case {{at = {i}, of}} -> replicate of {i}");
    let start = "def pick (r: {at: i64, of: i64}) : []i64 = match r";
    let end = "\n  case _ -> []\ndef main (x: i64) (y: i64) = pick {at = x, of = y}";
    all(start, n, case, end)
}

fn else_if(n: usize) -> String {
    let part = |i| format!("\n  if x < {i} then x * {i} else");
    all("def main (x: f64) : f64 =", n, part, " 7")
}

fn else_if_in_map(n: usize) -> String {
    let part = |i| format!("\n  if x < {i} then x * {i} else");
    all(
        "def main (xs: []f64) : []f64 = map (\\x ->",
        n,
        part,
        " 7) xs",
    )
}

fn deep_if(n: usize) -> String {
    let start = all(
        "def main (x: f64) (y: f64) : f64 =",
        n,
        |i| format!("\n  if x < {i} then"),
        " y",
    );
    all(&start, n, |i| format!("\n  else y * {i}"), "")
}

fn deep_if_in_map(n: usize) -> String {
    let start = all(
        "def main (xs: []f64) : []f64 = map (\\x ->",
        n,
        |i| format!("\n  if x < {i} then"),
        " x",
    );
    all(&start, n, |i| format!("\n  else x * {i}"), ") xs")
}

fn brackets(n: usize) -> String {
    let start = all(
        "def main (x: i64) : i64 = ",
        n,
        |_| String::from("(x + "),
        "x",
    );
    all(&start, n, |_| String::from(")"), "")
}

fn functions(n: usize) -> String {
    let part = |i: usize| {
        let (below, half) = (i.saturating_sub(1), i / 2);
        format!(
            "def f{i} (x: i32) = if x > {i} then g{below} x else g{half} x * 2\ndef g{i} (x: i32) = x + {i}\n"
        )
    };
    let mut text = String::new();
    for i in 0..n {
        let part = part(i);
        let (f, g) = part.split_once('\n').expect("two lines");
        text = text + g + f + "\n";
    }
    all(
        &(text + "def main (x: i32) = 0"),
        n,
        |i| format!(" + f{i} x"),
        "",
    )
}

fn kernels(n: usize) -> String {
    let part = |i| format!("\n  let s{i} = f32.sum (map (\\x -> x * {i} + f32.sqrt x) xs)");
    let start = all("def main (xs: []f32) =", n, part, "\n  in 0");
    all(&start, n, |i| format!(" + s{i}"), "")
}

fn record(n: usize) -> String {
    let start = all(
        "type wide = { first: i64",
        n,
        |i| format!(", a{i}: i64"),
        "}",
    );
    let start = all(
        &(start + "def make (x: i64) : wide = { first = x"),
        n,
        |i| format!(", a{i} = x + {i}"),
        "}",
    );
    let start = all(
        &(start + "def sum (r: wide) = r.first"),
        n,
        |i| format!(" + r.a{i}"),
        "",
    );
    start + "def main (x: i64) = sum (if x > 3 then make x else make (x * 2))\n"
}

fn array_of_records(n: usize) -> String {
    let start = all(
        "def main (xs: []i64) =\n  let rs = map (\\x -> { first = x",
        n,
        |i| format!(", a{i} = x + {i}"),
        "}) xs",
    );
    all(
        &(start + "  in map (\\r -> r.first"),
        n,
        |i| format!(" * r.a{i}"),
        ") rs",
    )
}

fn concatenation(n: usize) -> String {
    let part = |i| format!(" ++ [{i}] ++ map (+ {i}) xs");
    all("def main (xs: []i64) : []i64 = xs", n, part, "")
}
