//! The type checker by examples: programs it must accept, programs it must refuse, and with which message.

use frontend::diagnostic::Diagnostic;
use frontend::source::{FileId, SourceMap};
use std::collections::BTreeMap;
use std::fmt::Write;

/// Files in memory.
#[derive(Default)]
struct Memory {
    sources: SourceMap,
    files: BTreeMap<&'static str, (&'static str, Option<FileId>)>,
}

impl frontend::Loader for Memory {
    fn sources(&mut self) -> &mut SourceMap {
        &mut self.sources
    }
    fn load(&mut self, _: FileId, path: &str) -> Result<FileId, String> {
        let Some((text, id)) = self.files.get_mut(path) else {
            return Err("no such file".to_owned());
        };
        let sources = &mut self.sources;
        Ok(*id.get_or_insert_with(|| sources.add(path, *text)))
    }
}

fn check_files(
    text: &str,
    files: &[(&'static str, &'static str)],
) -> Result<frontend::typed::Program, Vec<Diagnostic>> {
    let mut memory = Memory::default();
    for (path, text) in files {
        memory.files.insert(path, (text, None));
    }
    let file = memory.sources.add("test.fut", text);
    frontend::check(file, &mut memory).map(|(program, _)| program)
}

fn check(text: &str) -> Result<frontend::typed::Program, Vec<Diagnostic>> {
    check_files(text, &[])
}

#[track_caller]
fn accept(text: &str) {
    if let Err(ds) = check(text) {
        panic!("should be accepted:\n{text}\n{ds:#?}");
    }
}

/// The first message must have this code and contain this text.
#[track_caller]
fn refuse(code: &str, part: &str, text: &str) {
    match check(text) {
        Ok(_) => panic!("should be refused:\n{text}"),
        Err(ds) => {
            let d = ds.iter().find(|d| d.is_error()).expect("one is an error");
            let all = format!("{} {:?} {:?}", d.message, d.notes, d.secondary);
            assert_eq!(d.code.as_str(), code, "{text}\n{all}");
            assert!(all.contains(part), "{text}\n{all}");
        }
    }
}

#[test]
fn literals_take_the_type_of_their_context() {
    accept("def main (x: u8) (y: f16) = (x + 1, y * 2, 3 + x)");
    accept("def main = -128i8");
    refuse("E0308", "out of bounds", "def main : u8 = 256");
    refuse("E0308", "out of bounds", "def main : i8 = -129");
    refuse("E0301", "`bool`", "def main (b: bool) = b + 1");
}

#[test]
fn names_that_are_not_in_scope_get_a_suggestion() {
    refuse(
        "E0201",
        "did you mean `total`",
        "def main (total: i32) = totl + 1",
    );
    refuse(
        "E0201",
        "did you mean `reduce`",
        "def main (xs: []i32) = reduc (+) 0 xs",
    );
    refuse("E0201", "underscore", "def main (_x: i32) = _x");
}

#[test]
fn records_and_sums() {
    accept("def f (r: {a: i32, b: bool}) = (r with a = 2).a\ndef main x = f {b = x, a = 1}");
    accept(
        "type t = #none | #some i32\ndef get (x: t) = match x case #none -> 0 case #some y -> y\ndef main = get (#some 3)",
    );
    accept("def main (xs: [](i32, bool)) = map (.0) xs");
    refuse(
        "E0301",
        "no field `c`",
        "def f (r: {a: i32}) = r.c\ndef main = f {a = 1}",
    );
    refuse(
        "E0310",
        "",
        "def main (x: bool) : i32 = match x case true -> 1",
    );
    refuse("E0309", "", "def main (x: i32) = let 1 = x in x");
    refuse(
        "E0303",
        "not known",
        "def f x = x.foo\ndef main (y: i32) = y",
    );
}

#[test]
fn functions_are_values() {
    accept("def twice 'a (f: a -> a) (x: a) = f (f x)\ndef main (x: i32) = twice (+ 1) x");
    accept(
        "def compose '^a '^b '^c (f: a -> b) (g: b -> c) = \\x -> g (f x)\ndef main (x: i32) = compose (+ 1) (* 2) x",
    );
    refuse(
        "E0305",
        "function",
        "def main (b: bool) (x: i32) = (if b then \\y -> y + x else \\y -> y) x",
    );
    refuse(
        "E0305",
        "functions",
        "def f 'a (x: a) = x\ndef main (x: i32) = f (\\y -> y + x) 1",
    );
    refuse("E0301", "more", "def f (x: i32) = x\ndef main = f 1 2");
}

#[test]
fn sizes_are_compared_as_polynomials() {
    accept("def f [n] (xs: [n + 1]i32) (ys: [1 + n]i32) = map2 (+) xs ys");
    accept("def f [n] [m] (xs: [n * m]i32) (ys: [m * n]i32) = map2 (+) xs ys");
    accept("def main (n: i64) : [2 * n]i64 = iota n ++ iota n");
    refuse(
        "E0302",
        "not known to be equal",
        "def f [n] [m] (xs: [n]i32) (ys: [m]i32) = map2 (+) xs ys",
    );
    accept("def f [n] [m] (xs: [n]i32) (ys: [m]i32) = map2 (+) xs (ys :> [n]i32)");
    accept("def main = unflatten (iota (2 * 3)) : [2][3]i64");
}

#[test]
fn sizes_may_be_computed_by_the_program() {
    accept("def main (xs: []i32) = let ys = filter (> 0) xs in map2 (+) ys ys");
    refuse(
        "E0302",
        "computed",
        "def main (xs: []i32) = map2 (+) (filter (> 0) xs) (filter (< 0) xs)",
    );
    accept("def main (xs: []i32) = xs |> filter (> 0) |> map (+ 1)");
    accept("def f (b: bool) (n: i64) (m: i64) = if b then iota n else iota m");
    refuse(
        "E0307",
        "before",
        "def main (b: bool) (xs: []i32) = let f = map2 (+) (rep 1) in f (filter (> 0) xs)",
    );
    accept("def main (n: i64) = let (k, xs) = (n + 1, iota (n + 1)) in xs :> [k]i64");
}

#[test]
fn loops_find_out_which_sizes_change() {
    accept("def main (n: i64) = loop xs = [1i64] for i < n do xs ++ xs");
    accept("def main [n] (xs: [n]i32) : [n]i32 = loop ys = xs for i < 10i32 do map (+ i) ys");
    accept(
        "def main [n] (xs: [n]i32) : ([n]i32, [n]i32) = loop (a, b) = (xs, xs) for _i < 3i32 do (b, a)",
    );
    refuse(
        "E0302",
        "",
        "def main [n] (xs: [n]i32) : [n]i32 = loop ys = xs for i < 10i32 do ys ++ [i]",
    );
}

#[test]
fn functions_may_call_themselves() {
    accept("def fib (n: i32) : i32 = if n < 2 then n else fib (n - 1) + fib (n - 2)");
    accept("def id (x: i32) = x\ndef f (x: i32) = x\ndef main = f 1");
    // The name means an earlier definition where the function itself would not fit.
    accept("def sum (x: i32) = x\ndef sum' = sum 1\ndef main = i32.sum [1, sum']");
    refuse("E0201", "unknown name", "def x : i32 = x + 1");
}

#[test]
fn modules_hide_and_are_parametric() {
    let counter = "module type counter = { type t val zero : t val next : t -> t val get : t -> i32 }\n\
                   module up : counter = { type t = i32 def zero = 0i32 def next x = x + 1 def get x : i32 = x }\n";
    accept(&format!("{counter}def main = up.get (up.next up.zero)"));
    refuse("E0301", "", &format!("{counter}def main = up.zero + 1i32"));
    accept(&format!(
        "{counter}module twice (c: counter) = {{ def go x = c.next (c.next x) }}\nmodule t = twice up\ndef main = up.get (t.go up.zero)"
    ));
    refuse(
        "E0204",
        "`next`",
        "module type s = { val next : i32 -> i32 }\nmodule m : s = { def prev (x: i32) = x }\ndef main = 1i32",
    );
    refuse(
        "E0204",
        "another type",
        "module type s = { val x : i32 }\nmodule m : s = { def x = true }\ndef main = 1i32",
    );
    accept("module sum (p: numeric) = { def go [n] (xs: [n]p.t) = p.sum (map (p.+ p.i32 1) xs) }\nmodule s = sum f32\ndef main (xs: []f32) = s.go xs" .replace("(p.+ p.i32 1)", "(\\x -> p.(x + i32 1))").as_str());
    refuse("E0202", "twice", "def x = 1i32\ndef x = 2i32");
}

#[test]
fn files_are_imported_once() {
    let files = [("a", "def one : i32 = 1"), ("loop", "import \"loop\"")];
    let ok = check_files(
        "import \"a\"\nmodule m = import \"a\"\ndef main = one + m.one",
        &files,
    );
    assert_eq!(ok.expect("checks").files.len(), 2);
    for (text, part) in [
        ("import \"b\"", "no such file"),
        ("import \"loop\"", "imports itself"),
    ] {
        let ds = check_files(text, &files).expect_err("is refused");
        assert!(ds[0].message.contains(part), "{ds:?}");
    }
}

#[test]
fn entry_points_are_data() {
    refuse("E0312", "functions", "entry f (g: i32 -> i32) = g 1");
    refuse("E0312", "polymorphic", "entry f 'a (x: a) = x");
    let program =
        check("entry f [n] (xs: [n]i32) (k: i64) : ([n]i32, i64) = (xs, k)").expect("checks");
    let entry = &program.entries[0];
    assert_eq!(
        (entry.name.as_str(), entry.params[0].type_text.as_str()),
        ("f", "[n]i32")
    );
}

#[test]
fn derivatives_of_ones_own_have_the_type_of_the_argument() {
    check("def f (x: f32) (c: i64) = with_vjp (\\y -> (y * y, c)) (\\(_, _) (d, _) -> d) x")
        .expect("checks");
    refuse(
        "E0301",
        "f64",
        "def f (x: f32) = with_vjp (\\y -> y * y) (\\_ d -> f64.f32 d) x",
    );
}

#[test]
fn every_definition_of_the_prelude_checks() {
    let names = "map map1 map2 map3 map4 map5 reduce reduce_comm scan filter partition partition2 hist reduce_by_index \
        reduce_by_index_2d reduce_by_index_3d scatter scatter_2d scatter_3d zip zip2 zip3 zip4 zip5 unzip unzip2 unzip3 unzip4 \
        unzip5 (++) concat flatten flatten_3d flatten_4d unflatten unflatten_3d unflatten_4d transpose reverse rotate iota \
        replicate rep length copy manifest opaque trace break flatmap flatmap' (|>) (<|) (>->) (<-<) id const flip curry \
        uncurry iterate iterate_while iterate_until all any and or foldl foldr exscan spread null head last tail init take \
        drop split sized indices tabulate tabulate_2d tabulate_3d not r32 t32 r64 t64 (+) (-) (*) (/) (%) (**) (//) (%%) (&) (|) \
        (^) (<<) (>>) (>>>) (<) (<=) (>) (>=) (==) (!=) (&&) (||)";
    let mut memory = Memory::default();
    for name in names.split_whitespace() {
        // A use at a type that is never decided is enough: the definition itself is what is checked.
        let file = memory.sources.add(
            "test.fut",
            format!("module m = {{ local def f (x: i32) = x }}\ndef g = {name}"),
        );
        if let Err(ds) = frontend::check(file, &mut memory) {
            let foreign = ds
                .iter()
                .find(|d| d.is_error() && d.primary.span.file != file);
            assert!(foreign.is_none(), "{name}: {foreign:?}");
        }
    }
    for module in ["i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64"] {
        accept(&format!(
            "module m : integral with t = {module} = {module}\ndef main = m.(i32 3)"
        ));
    }
    for (module, bits) in [("f16", "u16"), ("f32", "u32"), ("f64", "u64")] {
        accept(&format!(
            "module m : float with t = {module} with int_t = {bits} = {module}\ndef main = m.pi"
        ));
    }
    accept("module m : from_prim with t = bool = bool\ndef main = m.i32 1");
}

#[test]
fn large_programs_take_little_time() {
    let mut lets = String::from("def main (x: i64) (y: i64) =\n");
    for i in 0..60 {
        let _ = writeln!(lets, "let x{} = ({} + 1) * ({} + y)", i + 1, var(i), var(i));
    }
    accept(&format!("{lets}in iota x60"));
    let mut nested = String::from("def main (x: i32) =\n");
    for i in 0..300 {
        let _ = writeln!(nested, "let y{i} = if x > {i} then x else x + {i}");
    }
    accept(&format!("{nested}in y299"));
}

fn var(i: usize) -> String {
    if i == 0 {
        "x".to_owned()
    } else {
        format!("x{i}")
    }
}

#[test]
fn flat_arrays_have_views_of_several_dimensions() {
    for (dims, ty) in [
        ("2 1 3 2", "[2][3]"),
        ("2 1 3 2 4 1", "[2][3][4]"),
        ("2 1 3 2 4 1 5 1", "[2][3][4][5]"),
    ] {
        let rank = ty.matches('[').count();
        accept(&format!(
            "def main (xs: []i32) : {ty}i32 = intrinsics.flat_index_{rank}d xs 0 {dims}"
        ));
        let strides = vec!["1"; rank].join(" ");
        let any = "[]".repeat(rank);
        accept(&format!(
            "def main (xs: *[]i32) (ys: {any}i32) = intrinsics.flat_update_{rank}d xs 0 {strides} ys"
        ));
    }
}

#[test]
fn types_do_not_grow_without_bound() {
    let nested =
        |open: &str, close: &str, times| format!("{}1{}", open.repeat(times), close.repeat(times));
    let doubles = "def two 'a (x: a) = (x, x)\n";
    let pairs: String = (1..40)
        .map(|i| format!("let x{i} = (x{0}, x{0}) ", i - 1))
        .collect();
    let squares: String = (1..12)
        .map(|i| format!("def f{i} x = f{0} (f{0} x)\n", i - 1))
        .collect();
    let names: String = (1..40)
        .map(|i| format!("type t{i} = (t{0}, t{0})\n", i - 1))
        .collect();
    let applied = format!(
        "type d 'a = (a, a)\ndef f (x: {}i32{}) = x",
        "d (".repeat(40),
        ")".repeat(40)
    );
    let programs = [
        format!("{doubles}def main = {}", nested("two (", ")", 40)),
        format!("def main = {}", nested("(\\x -> (x, x)) (", ")", 40)),
        format!("def main = {}1", "id ".repeat(3000)),
        format!("def main = let x0 = 1 {pairs}in x39"),
        format!("def f0 x = (x, x)\n{squares}"),
        format!("type t0 = i32\n{names}def f (x: t39) = x"),
        applied,
    ];
    let start = std::time::Instant::now();
    for text in &programs {
        refuse("E0313", "more than 50000 parts", text);
    }
    assert!(start.elapsed().as_secs() < 60, "took {:?}", start.elapsed());
    accept(&format!("{doubles}def main = {}", nested("two (", ")", 9)));
}
