//! Random programs of the flat dialect over ragged spaces, as text. They take lengths of rows, their offsets, and
//! elements; every array that they make goes into a few sums that they return.

use super::random::Random;

/// The spaces: a name, the dimensions of arrays over it, and the extents of its own.
const SPACES: &[(&[&str], &[&str])] = &[
    (&["n"], &["< n"]),
    (&["n", "..offs"], &["< n", "in offs"]),
    (&["n", "..offs", "3"], &["< n", "in offs", "< 3"]),
    (&["n", "..offs", "0"], &["< n", "in offs", "< 0"]),
    (&["n", "..offs", "..o2"], &["< n", "in offs", "in o2"]),
    (
        &["n", "..offs", "..o2", "2"],
        &["< n", "in offs", "in o2", "< 2"],
    ),
    (&["n", "2", "..twice"], &["< n", "< 2", "in twice"]),
];

/// Parameters, offsets of the points of rows, and offsets of two rows for each.
const HEAD: &str = r#"flat
fun main(n: i64, k: i64, m: i64, ls: [n]i64, offs: [k]i64, xs: [m]i64) -> (RESULTS)
  entry "main" sizes 3 -> 0 (ls: []i64, offs: []i64, xs: []i64) -> (TYPES)
{
  let xss: [n][..offs]i64 = reshape [n, ..offs] xs
  let m1: i64 = add.i64(m, 1)
  let ends: [m]i64 = segscan device (p0: i64 < m) {
    let x0: i64 = index xs[p0]
    let s0: i64 = mod.i64(x0, 4)
    yield s0
  } scan (0) \(a0: i64, b0: i64) { let c0: i64 = add.i64(a0, b0) yield c0 }
  let o2: [m1]i64 = segmap device (p1: i64 < m1) {
    let first: bool = eq.i64(p1, 0)
    let before: i64 = sub.i64(p1, 1)
    let v1: i64 = if first { yield 0 } else { let w1: i64 = index ends[before] yield w1 }
    yield v1
  }
  let n2: i64 = mul.i64(n, 2)
  let k2: i64 = add.i64(n2, 1)
  let twice: [k2]i64 = segmap device (p2: i64 < k2) {
    let half: i64 = quot.i64(p2, 2)
    let odd: i64 = rem.i64(p2, 2)
    let o0: i64 = index offs[half]
    let double: i64 = mul.i64(o0, 2)
    let even: bool = eq.i64(odd, 0)
    let r2: i64 = if even { yield double } else {
      let next: i64 = add.i64(half, 1)
      let o1: i64 = index offs[next]
      let l2: i64 = add.i64(o0, o1)
      yield l2
    }
    yield r2
  }
"#;

struct Gen {
    rng: Random,
    text: String,
    /// Variables so far.
    vars: usize,
    /// Arrays: name and dimensions.
    arrays: Vec<(String, Vec<&'static str>)>,
}

/// A program from a seed.
pub fn ragged_program(seed: u64) -> String {
    let mut generator = Gen {
        rng: Random::new(seed),
        text: String::new(),
        vars: 0,
        arrays: vec![("xss".into(), vec!["n", "..offs"])],
    };
    for _ in 0..4 + generator.rng.below(4) {
        generator.operation();
    }
    generator.finish()
}

impl Gen {
    fn fresh(&mut self, name: &str) -> String {
        self.vars += 1;
        format!("{name}_{}", self.vars)
    }

    /// A scalar made of two others, which are appended to a body.
    fn let_(&mut self, body: &mut String, op: &str, a: &str, b: &str) -> String {
        let v = self.fresh("v");
        body.push_str(&format!("    let {v}: i64 = {op}.i64({a}, {b})\n"));
        v
    }

    /// The indices of a space, and a value at a point of it, made of them and of elements of arrays.
    fn point(&mut self, which: usize) -> (Vec<String>, String, String) {
        let (dims, extents) = SPACES[which];
        let indices: Vec<String> = extents.iter().map(|_| self.fresh("i")).collect();
        let mut body = String::new();
        let mut value = self.rng.pick(&indices).clone();
        for _ in 0..1 + self.rng.below(3) {
            let known = self.arrays.iter().filter(|(_, of)| dims.starts_with(of));
            let known: Vec<_> = known.cloned().collect();
            let other = if known.is_empty() || self.rng.chance(30) {
                self.rng.pick(&indices).clone()
            } else {
                let (array, of) = self.rng.pick(&known).clone();
                let v = self.fresh("x");
                let at = indices[..of.len()].join(", ");
                body.push_str(&format!("    let {v}: i64 = index {array}[{at}]\n"));
                v
            };
            let op = *self.rng.pick(&["add", "sub", "mul", "min", "xor"]);
            value = self.let_(&mut body, op, &value, &other);
        }
        (indices, body, value)
    }

    fn space(which: usize, indices: &[String]) -> String {
        let extents = SPACES[which].1.iter().zip(indices);
        let dims = extents.map(|(extent, i)| format!("{i}: i64 {extent}"));
        dims.collect::<Vec<_>>().join(", ")
    }

    /// An operator with its neutral element: a sum, or the first number that is not negative.
    fn operator(&mut self, sum: bool) -> String {
        let [a, b, c, d] = ["a", "b", "c", "d"].map(|name| self.fresh(name));
        if sum {
            return format!(
                "comm (0) \\({a}: i64, {b}: i64) {{ let {c}: i64 = add.i64({a}, {b}) yield {c} }}"
            );
        }
        format!(
            "(-1) \\({a}: i64, {b}: i64) {{ let {c}: bool = lt.i64({a}, 0) \
             let {d}: i64 = select.i64({c}, {b}, {a}) yield {d} }}"
        )
    }

    fn operation(&mut self) {
        let which = self.rng.below(SPACES.len());
        let (indices, mut body, value) = self.point(which);
        let space = Self::space(which, &indices);
        let (dims, _) = SPACES[which];
        let ty = |dims: &[&str]| dims.iter().map(|d| format!("[{d}]")).collect::<String>() + "i64";
        let out = self.fresh("t");
        let sum = self.rng.chance(60);
        // What the second operator takes is at least -1.
        let value = if sum {
            value
        } else {
            self.let_(&mut body, "max", &value, "-1")
        };
        let (made, kind, rest) = match self.rng.below(3) {
            0 => (dims, "segmap", String::new()),
            1 if dims.len() > 1 => {
                let op = self.operator(sum);
                (&dims[..dims.len() - 1], "segred", format!(" reduce {op}"))
            }
            _ => (dims, "segscan", format!(" scan {}", self.operator(sum))),
        };
        let ty = ty(made);
        self.text.push_str(&format!(
            "  let {out}: {ty} = {kind} device ({space}) {{\n{body}    yield {value}\n  }}{rest}\n"
        ));
        self.arrays.push((out, made.to_vec()));
    }

    /// Sums of the elements of all arrays, by the innermost index modulo five.
    fn finish(mut self) -> String {
        let mut results = Vec::new();
        for (array, dims) in self.arrays.clone() {
            let Some(which) = SPACES.iter().position(|(of, _)| **of == dims[..]) else {
                continue;
            };
            let names = SPACES[which].1;
            let indices: Vec<String> = names.iter().map(|_| self.fresh("i")).collect();
            let space = Self::space(which, &indices);
            let at = indices.join(", ");
            let inner = &indices[indices.len() - 1];
            let [blank, out, x, b] = ["blank", "h", "x", "b"].map(|name| self.fresh(name));
            let op = self.operator(true);
            self.text.push_str(&format!(
                "  let {blank}: [5]i64 = replicate [5] 0
  let {out}: [5]i64 = seghist device ({space}) {{
    let {x}: i64 = index {array}[{at}]
    let {b}: i64 = mod.i64({inner}, 5)
    yield {b}, {x}
  }} into [5] ({blank}) by {op}\n"
            ));
            results.push(out);
        }
        let formals: Vec<String> = results.iter().map(|r| format!("r{r}: [5]i64")).collect();
        let types = vec!["[]i64"; results.len()].join(", ");
        let head = HEAD
            .replace("RESULTS", &formals.join(", "))
            .replace("TYPES", &types);
        format!("{head}{}  yield {}\n}}\n", self.text, results.join(", "))
    }
}
