//! Programs go through the whole front end, and the interpreter runs what comes out, checking types, shapes and
//! consumption while it runs.

use frontend::diagnostic::Code;
use frontend::source::{FileId, SourceMap};
use frontend::{Compiled, Loader, compile};
use midend::interp;
use midend::trap::RunError;
use midend::value::{ArrayValue, Data, Value};

/// A loader that knows one file.
#[derive(Default)]
struct Alone {
    sources: SourceMap,
}

impl Loader for Alone {
    fn sources(&mut self) -> &mut SourceMap {
        &mut self.sources
    }
    fn load(&mut self, _: FileId, path: &str) -> Result<FileId, String> {
        Err(format!("there is no file {path}"))
    }
}

fn front(text: &str) -> Result<Compiled, Vec<frontend::diagnostic::Diagnostic>> {
    let mut loader = Alone::default();
    let file = loader.sources.add("test.fut", text);
    compile(file, &mut loader)
}

fn ints(elements: &[i32]) -> Value {
    Value::Array(ArrayValue {
        shape: vec![elements.len() as i64],
        data: Data::I32(elements.to_vec()),
    })
}

fn long(n: i64) -> Value {
    Value::Scalar(midend::ir::scalar::Const::I64(n))
}

fn int(n: i32) -> Value {
    Value::Scalar(midend::ir::scalar::Const::I32(n))
}

fn run(text: &str, args: Vec<Value>) -> Result<Vec<Value>, RunError> {
    let compiled = match front(text) {
        Ok(compiled) => compiled,
        Err(errors) => panic!("refused: {errors:#?}\n{text}"),
    };
    if let Err(faults) = midend::verify::program(&compiled.program) {
        panic!("an invalid program: {}\n{text}", faults[0]);
    }
    interp::run(&compiled.program, "main", args, &interp::Options::default())
}

fn gives(text: &str, args: Vec<Value>, expected: &[Value]) {
    match run(text, args) {
        Ok(values) => assert_eq!(values, expected, "{text}"),
        Err(error) => panic!("{error}\n{text}"),
    }
}

fn fails(text: &str, args: Vec<Value>, message: &str) {
    match run(text, args) {
        Ok(values) => panic!("no failure, but {values:?}\n{text}"),
        Err(error) => assert!(error.to_string().contains(message), "{error}\n{text}"),
    }
}

fn refused(text: &str, code: Code) {
    match front(text) {
        Ok(_) => panic!("accepted:\n{text}"),
        Err(errors) => assert!(errors.iter().any(|e| e.code == code), "{errors:#?}\n{text}"),
    }
}

#[test]
fn functions_are_lowered_where_they_are_applied() {
    let text = "
      def twice 'a (f: a -> a) (x: a) = f (f x)
      def add (n: i32) (m: i32) = n + m
      def main (xs: []i32) (k: i32) = map (twice (add k)) xs";
    gives(
        text,
        vec![ints(&[1, 2, 3]), int(10)],
        &[ints(&[21, 22, 23])],
    );
    let text = "
      def compose 'a 'b 'c (f: a -> b) (g: b -> c) = \\x -> g (f x)
      def main (x: i32) = compose (+ 1) (compose (* 2) (\\y -> (y, -y))) x";
    gives(text, vec![int(4)], &[int(10), int(-10)]);
}

#[test]
fn nested_functions_cost_linear_code() {
    let mut text = String::from("def f0 (x: i32) = x + 1\n");
    for i in 1..40 {
        text += &format!("def f{i} (x: i32) = f{0} (f{0} x)\n", i - 1);
    }
    text += "def main (x: i32) = f39 x";
    let compiled = front(&text).expect("accepted");
    let stms: usize = compiled
        .program
        .funs
        .iter()
        .map(|f| f.body.stms.len())
        .sum();
    assert!(stms < 3000, "{stms} statements");
}

#[test]
fn recursion_is_a_call() {
    let text = "
      def fib (n: i32) : i32 = if n < 2 then n else fib (n - 1) + fib (n - 2)
      def main (n: i32) = fib n";
    gives(text, vec![int(10)], &[int(55)]);
    let text = "
      def halves [n] (xs: [n]i32) : i32 =
        if n == 0 then 0 else if n == 1 then xs[0]
        else halves xs[:n / 2] + halves xs[n / 2:]
      def main (xs: []i32) = halves xs";
    gives(text, vec![ints(&[1, 2, 3, 4, 5])], &[int(15)]);
}

#[test]
fn arrays_of_tuples_are_tuples_of_arrays() {
    let text = "
      def main [n] (xs: [n]i32) =
        let ps = zip xs (map (* 2) xs)
        let (as, bs) = unzip (map (\\(a, b) -> (b, a)) ps)
        in (as, reduce (\\(a, b) (c, d) -> (a + c, i32.max b d)) (0, i32.lowest) (zip as bs))";
    let expected = [ints(&[2, 6, 4]), int(12), int(3)];
    gives(text, vec![ints(&[1, 3, 2])], &expected);
}

#[test]
fn what_zip_reads_is_not_overwritten() {
    let text = "
      def main (n: i64) =
        let xs = replicate n 1i32
        let ps = zip xs (iota n)
        let xs[0] = 7
        in (xs, map (.0) ps)";
    gives(text, vec![long(2)], &[ints(&[7, 1]), ints(&[1, 1])]);
    let text = "
      def main (n: i64) =
        let xs = replicate n 1i32
        let ps = zip xs xs
        let ps[0] = (5, 6)
        in (xs, map (.0) ps, map (.1) ps)";
    let expected = [ints(&[1, 1]), ints(&[5, 1]), ints(&[6, 1])];
    gives(text, vec![long(2)], &expected);
}

#[test]
fn sums_keep_every_payload() {
    let text = "
      type shape = #circle i32 | #rect i32 i32 | #none
      def area (s: shape) : i32 = match s
        case #circle r -> 3 * r * r
        case #rect 0 _ -> -1
        case #rect w h -> w * h
        case #none -> 0
      def pick (x: i32) : shape =
        if x == 0 then #none else if x < 5 then #circle x else #rect (x - 5) 2
      def main (xs: []i32) = map (\\x -> area (pick x)) xs";
    let expected = [ints(&[0, 12, -1, 4])];
    gives(text, vec![ints(&[0, 2, 5, 7])], &expected);
}

#[test]
fn branches_and_loops_may_change_sizes() {
    let text = "
      def main (xs: []i32) =
        if length xs > 2 then filter (> 1) xs else xs ++ xs";
    gives(text, vec![ints(&[1, 2, 3])], &[ints(&[2, 3])]);
    gives(text, vec![ints(&[1, 2])], &[ints(&[1, 2, 1, 2])]);
    let text = "
      def main (xs: []i32) = loop ys = xs for i < 2 do ys ++ [i]";
    gives(text, vec![ints(&[9])], &[ints(&[9, 0, 1])]);
}

#[test]
fn loops_update_in_place() {
    let text = "
      def main (n: i64) =
        loop (xs, s) = (replicate n 0i32, 0) for i < n do
          let xs[i] = i32.i64 i
          in (xs, s + xs[i])";
    gives(text, vec![long(4)], &[ints(&[0, 1, 2, 3]), int(6)]);
    let text = "
      def main (xs: *[]i32) (ys: []i32) =
        (xs with [1:3] = [8, 9], (copy ys) with [0] = 0, ys)";
    let args = vec![ints(&[1, 2, 3, 4]), ints(&[5])];
    gives(text, args, &[ints(&[1, 8, 9, 4]), ints(&[0]), ints(&[5])]);
}

#[test]
fn modules_are_evaluated() {
    let text = "
      module type monoid = { type t val op: t -> t -> t val ne: t }
      module folds (m: monoid) = {
        def total (xs: []m.t) : m.t = reduce m.op m.ne xs
        module twice = { def run (x: m.t) = m.op x x }
      }
      module sums = folds { type t = i32 def op = (i32.+) def ne = 0i32 }
      module products = folds { type t = i32 def op (x: i32) y = x * y def ne = 1i32 }
      def main (xs: []i32) = (sums.total xs, products.total xs, sums.twice.run 4)";
    gives(text, vec![ints(&[2, 3, 4])], &[int(9), int(24), int(8)]);
}

#[test]
fn globals_reach_functions() {
    let text = "
      def table : []i32 = map (\\i -> i32.i64 i * 3) (iota 4)
      def size = length table
      #[noinline] def at (i: i64) = table[i % size]
      def main (n: i64) = map at (iota n)";
    gives(text, vec![long(5)], &[ints(&[0, 3, 6, 9, 0])]);
}

#[test]
fn histograms_and_scatters() {
    let text = "
      def main (is: []i64) (vs: []i32) =
        (reduce_by_index (replicate 3 0i32) (+) 0 is vs, scatter (replicate 3 0i32) is vs)";
    let is = Value::Array(ArrayValue {
        shape: vec![4],
        data: Data::I64(vec![2, 0, 2, 9]),
    });
    let args = vec![is, ints(&[5, 6, 7, 8])];
    let Ok(values) = run(text, args) else {
        panic!("it runs")
    };
    assert_eq!(values[0], ints(&[6, 0, 12]));
}

#[test]
fn flatmap_grows_its_result() {
    let text = "
      def main (ks: []i64) =
        let f (k: i64, x: i32) : ?[m].([m]i32, i32) = (replicate k x, x)
        let (lens, flags, offs, elems, _) = flatmap f (zip ks (map i32.i64 ks))
        in (lens, flags, offs, elems)";
    let ks = |v: &[i64]| {
        Value::Array(ArrayValue {
            shape: vec![v.len() as i64],
            data: Data::I64(v.to_vec()),
        })
    };
    let flags = Value::Array(ArrayValue {
        shape: vec![3],
        data: Data::Bool(vec![true, false, true]),
    });
    let expected = [ks(&[2, 0, 1]), flags, ks(&[0, 2, 2]), ints(&[2, 2, 1])];
    gives(text, vec![ks(&[2, 0, 1])], &expected);
}

#[test]
fn failures_say_what_and_where() {
    let index = "def main (xs: []i32) (i: i64) = xs[i]";
    let message = "Index [3] out of bounds for array of shape [2].\n  at test.fut:1:33";
    fails(index, vec![ints(&[1, 2]), long(3)], message);
    fails(
        "def main (x: i32) (y: i32) = x / y",
        vec![int(1), int(0)],
        "division by zero",
    );
    fails(
        "def main (n: i64) = iota n",
        vec![long(-2)],
        "Range 0..1..<-2 is invalid.",
    );
    fails(
        "def main (x: i32) = assert (x != 3) x",
        vec![int(3)],
        "Assertion is false: (x != 3)",
    );
    fails(
        "def main (xs: []i32) = xs :> [3]i32",
        vec![ints(&[1])],
        "Value of (desugared) shape [1] cannot match shape of type \"[3]i32\".",
    );
    let calls = "
      def f (xs: []i32) (i: i64) = xs[i]
      def main (xs: []i32) = f xs 5";
    fails(calls, vec![ints(&[])], "called from test.fut:3:30");
    let sizes = "def main [n] (xs: [n]i32) (ys: [n]i32) = map2 (+) xs ys";
    fails(sizes, vec![ints(&[1]), ints(&[1, 2])], "invalid sizes");
}

#[test]
fn consumption_is_checked() {
    refused(
        "def main (xs: *[]i32) = let ys = xs with [0] = 1 in (xs, ys)",
        Code::UseAfterConsume,
    );
    refused(
        "def main (xs: []i32) = xs with [0] = 1",
        Code::NotConsumable,
    );
    refused(
        "def main (xs: *[]i32) = map (\\i -> (xs with [0] = i)[0]) [1, 2]",
        Code::NotConsumable,
    );
    refused("def main (xs: []i32) : *[]i32 = xs", Code::SharedResult);
    refused(
        "def main (n: i64) : (*[]i64, *[]i64) = let a = iota n in (a, a)",
        Code::SharedResult,
    );
    refused(
        "def main (xs: *[]i64) = scatter xs xs xs",
        Code::SharedArgument,
    );
    refused(
        "def f (xs: *[]i32) (i: i32) = xs with [0] = i
         def main (xs: *[]i32) = let g = f xs in g 0",
        Code::ConsumingFunction,
    );
    refused(
        "def main (n: i64) = loop (xs: *[]i32, ys: *[]i32) = (replicate n 0, replicate n 0)
         for _i < 3 do (xs, xs)",
        Code::SharedLoop,
    );
    let text = "
      def f (xs: *[]i32) = xs with [0] = 5
      def fresh (n: i64) = replicate n 1i32
      def main (n: i64) = let a = fresh n let b = f a in (b, f (copy b))";
    gives(text, vec![long(2)], &[ints(&[5, 1]), ints(&[5, 1])]);
}

#[test]
fn matches_cover_all_values() {
    refused(
        "type t = #a | #b i32 def main (x: i32) = match (#b x : t) case #a -> 0 case #b 0 -> 1",
        Code::UnmatchedCases,
    );
}
