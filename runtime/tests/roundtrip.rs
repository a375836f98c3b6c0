//! Every value that is printed is an argument: in text, in binary form, and as NumPy files.

use arrc::Value;
use arrc::data::{
    Source, leaves, parameter_leaves, read_arguments, structured_text, write_npy, write_npz,
    write_results,
};
use arrc::session::{Options, Program, Session};
use arrc::target::Target;
use midend::ir::syntax::EntryType;

const TEXT: &str = "
type option 't = #some t | #none
type~ pair = {left: []i32, right: (bool, f64)}
module hidden : { type~ t  val same : t -> t } = { type~ t = {a: []u8, n: i64}  def same (x: t) = x }

entry scalars (a: i8) (b: u16) (c: i32) (d: u64) (e: f16) (f: f32) (g: f64) (h: bool) = (a, b, c, d, e, f, g, h)
entry vector (xs: []f32) = xs
entry matrix (xs: [][]i64) = xs
entry wide (xs: [][3]i16) = xs
entry truths (xs: []bool) = xs
entry pairs [n] (xs: [n](i32, []bool)) = xs
entry records [n] (xs: [n]{a: i32, b: [2]f64}) = xs
entry record (x: pair) = x
entry deep (x: {a: (i32, pair), b: {c: [][2]u8}}) = x
entry sum (x: #none | #one i32 | #two ([]i32) (i8, bool)) = x
entry sums (x: option (option (f32, bool))) = x
entry rows_of_sum (x: option ([][..]i32)) = x
entry sums_in_array [n] (xs: [n](option i32)) = xs
entry tags [n] (xs: [n](#red | #green)) = xs
entry abstract (x: hidden.t) = hidden.same x
entry rows [n] (x: [n][..]i64) : [n][..]i64 = x
entry fixed_rows [n] (x: [n][..][2]i64) : [n][..][2]i64 = x
entry rows_of_fixed [n] (x: [n][2][..]i64) : [n][2][..]i64 = x
entry rows_of_rows [n] (x: [n][..][..]u8) : [n][..][..]u8 = x
entry rows_of_pairs [n] (x: [n][..](i64, bool)) : [n][..](i64, bool) = x
entry with_rows (x: {r: [][..]i32, s: (i32, [][..][2]f32)}) = x
entry several (x: [][..]i32) (y: []i32) (z: option i32) (w: [][..][2]i32) = (x, y, z, w)
";

/// Arguments of each entry point.
const VALUES: &[(&str, &[&str])] = &[
    (
        "scalars",
        &[
            "-1 2 -3 4 -0.0 1e-3 2.5 true",
            "-128 65535 -2147483648 18446744073709551615 f16.nan f32.inf -f64.inf false",
            "0 0 0 0 65504 1.4e-45 5e-324 true",
        ],
    ),
    ("vector", &["[1, -0.0, f32.nan]", "[]", "empty([0]f32)"]),
    (
        "matrix",
        &[
            "[[1, 2], [3, 4]]",
            "empty([0][3]i64)",
            "empty([2][0]i64)",
            "[[], []]",
            "[]",
        ],
    ),
    ("wide", &["[[1, 2, 3]]", "empty([0][3]i16)"]),
    ("truths", &["[true, false]", "[]"]),
    (
        "pairs",
        &[
            "([1, 2], [[true], [false]])",
            "[1] empty([1][0]bool)",
            "[] empty([0][2]bool)",
        ],
    ),
    (
        "records",
        &[
            "[1, 2] [[1, 2], [3, 4]]",
            "{a = [1], b = [[0.5, f64.nan]]}",
            "[] empty([0][2]f64)",
        ],
    ),
    (
        "record",
        &[
            "{left = [1, 2], right = (true, 0.1)}",
            "{right = (true, 0.1), left = []}",
            "[] true 3",
        ],
    ),
    (
        "deep",
        &[
            "(7, {left = [], right = (false, 1)}) {c = [[1, 2]]}",
            "7 [1] true 2 empty([0][2]u8)",
        ],
    ),
    (
        "sum",
        &[
            "#none",
            "#one -5",
            "#two [1, 2] (3, true)",
            "#two [] (3, true)",
            "1 8 [] 0 false",
        ],
    ),
    (
        "sums",
        &[
            "#none",
            "#some #none",
            "#some (#some (1.5, true))",
            "1 1 0.5 false",
        ],
    ),
    (
        "rows_of_sum",
        &[
            "#some [[1], [], [2, 3]]",
            "#some empty([0][0]i32)",
            "#some []",
            "#none",
            "0 []",
        ],
    ),
    (
        "sums_in_array",
        &["([0, 1], [5, 7])", "[1, 0] [3, 4]", "[] []"],
    ),
    ("tags", &["[0, 1, 0]", "[]"]),
    ("abstract", &["{a = [1, 2], n = 3}", "[] 3", "\"text\" 4"]),
    (
        "rows",
        &[
            "[[1, 2], []]",
            "[[], []]",
            "[]",
            "empty([0][0]i64)",
            "empty([2][0]i64)",
            "[2, 0] [1, 2]",
            "empty([0]i64) []",
        ],
    ),
    (
        "fixed_rows",
        &[
            "[[[1, 2]], []]",
            "[empty([0][2]i64), empty([0][2]i64)]",
            "empty([0][0][2]i64)",
            "[1, 0] [[5, 6]]",
            "[0] empty([0][2]i64)",
        ],
    ),
    (
        "rows_of_fixed",
        &["[[[1, 2], []]]", "[[[], []]]", "empty([0][2][0]i64)"],
    ),
    (
        "rows_of_rows",
        &[
            "[[[1], [2, 3]], [], [[]]]",
            "[[], []]",
            "[[[]]]",
            "[]",
            "empty([0][0][0]u8)",
        ],
    ),
    (
        "rows_of_pairs",
        &[
            "([2, 0], [1, 2], [true, false])",
            "[1] ([7], [true])",
            "[] [] []",
            "[0, 0] empty([0]i64) []",
        ],
    ),
    (
        "with_rows",
        &[
            "{r = [[1], []], s = (2, [[[1, 2]], []])}",
            "[] 3 empty([0][0][2]f32)",
            "{r = [[], []], s = (0, [empty([0][2]f32)])}",
        ],
    ),
    (
        "several",
        &[
            "[[1]] [2] #some 3 [[[4, 5]]]",
            "[] [] #none [empty([0][2]i32)]",
            "[0] [] [1] #none [1] [[1, 2]]",
        ],
    ),
];

/// What an entry point yields for arguments.
fn called(program: &Program, name: &str, sources: &[Source]) -> Vec<Value> {
    let entry = program.entry(name).expect("it is an entry point");
    let args = read_arguments(entry, sources).unwrap_or_else(|why| panic!("{name}: {why}"));
    let results = program.call(name, args);
    results.unwrap_or_else(|why| panic!("{name}: {why}"))
}

/// The lines that are printed for results.
fn printed(types: &[EntryType], values: &[Value]) -> Vec<String> {
    let mut rest = values;
    let mut lines = Vec::new();
    for ty in types {
        let (mine, others) = rest.split_at(leaves(ty).len());
        rest = others;
        lines.push(structured_text(ty, mine));
    }
    lines
}

fn source(name: &str, bytes: impl Into<Vec<u8>>) -> Source {
    Source::from_bytes(name, bytes.into()).expect("not compressed")
}

#[test]
fn what_is_printed_is_an_argument() {
    let options = Options {
        target: Target::Interp,
        ..Options::default()
    };
    let session = Session::new(options).expect("the interpreter is always there");
    let program = session.compile("values.fut", TEXT).expect("it compiles");
    let named: Vec<&str> = VALUES.iter().map(|(name, _)| *name).collect();
    let entries: Vec<&str> = program.entries().iter().map(|e| e.name.as_str()).collect();
    assert_eq!(named, entries, "all entry points are called");
    for (name, all) in VALUES {
        let entry = program.entry(name).expect("it is an entry point");
        for text in *all {
            let first = called(&program, name, &[source("text", *text)]);
            let lines = printed(&entry.results, &first);
            let text = lines.join("\n");
            let again = called(&program, name, &[source("printed", text.as_str())]);
            assert_eq!(printed(&entry.results, &again), lines, "{name}: from text");

            let files: Vec<Source> = lines.iter().map(|l| source("line", l.as_str())).collect();
            let again = called(&program, name, &files);
            assert_eq!(
                printed(&entry.results, &again),
                lines,
                "{name}: from a file for each"
            );

            let mut bytes = Vec::new();
            write_results(&entry.results, &first, &mut bytes).expect("memory can be written to");
            let again = called(&program, name, &[source("binary", bytes)]);
            assert_eq!(
                printed(&entry.results, &again),
                lines,
                "{name}: from binary"
            );

            let files = first.iter().map(|value| {
                let mut bytes = Vec::new();
                write_npy(value, &mut bytes).expect("memory can be written to");
                source("value.npy", bytes)
            });
            let files: Vec<Source> = files.collect();
            assert_eq!(files.len(), parameter_leaves(entry).len());
            let again = called(&program, name, &files);
            assert_eq!(printed(&entry.results, &again), lines, "{name}: from .npy");
        }
    }
}

#[test]
fn irregular_arrays_are_arguments_from_archives() {
    let session = Session::new(Options::default()).expect("there is a CPU");
    let program = session.compile("values.fut", TEXT).expect("it compiles");
    for text in ["[[1, 2], []]", "[[], []]", "[]"] {
        let first = called(&program, "rows", &[source("text", text)]);
        let entry = program.entry("rows").expect("it is an entry point");
        let mut archive = std::io::Cursor::new(Vec::new());
        write_npz(&entry.results, &first, &mut archive).expect("memory can be written to");
        let again = called(
            &program,
            "rows",
            &[source("rows.npz", archive.into_inner())],
        );
        assert_eq!(again, first, "{text}");
    }
}

#[test]
fn what_is_no_value_of_a_type_is_refused() {
    let session = Session::new(Options::default()).expect("there is a CPU");
    let program = session.compile("values.fut", TEXT).expect("it compiles");
    let refused = |name: &str, text: &str| {
        let entry = program.entry(name).expect("it is an entry point");
        let read = read_arguments(entry, &[source("text", text)]);
        read.expect_err(text).to_string()
    };
    for (name, text, why) in [
        (
            "record",
            "{left = [1], left = []}",
            "expected a field, one of `right`, found `left`",
        ),
        ("record", "{left = [1]}", "expected `,`, found `}`"),
        (
            "record",
            "{left = [1], right = (true)}",
            "expected `,`, found `)`",
        ),
        (
            "sum",
            "#three",
            "expected a constructor, one of `#none`, `#one`, `#two`, found `#three`",
        ),
        ("sum", "#one", "the input ended"),
        ("sum", "7 0 [] 0 false", "constructor 7 is none of the type"),
        ("sums", "#some (#some (1, true)", "expected `)`"),
        ("sums_in_array", "([2], [5])", "constructor 2 of element 0"),
        ("rows", "empty([0]i64)", "the input ended"),
        (
            "rows",
            "empty([9000000000000][0]i64)",
            "rows without elements",
        ),
        ("rows", "[empty([0]i32)]", "expected a value of type []i64"),
        ("rows", "empty([2][1]i64)", "needs a dimension of size 0"),
        ("fixed_rows", "[[[1, 2]], empty([0][3]i64)]", "rows of"),
        ("several", "[] []", "the input ended"),
    ] {
        let found = refused(name, text);
        assert!(found.contains(why), "{name} {text}: {found}");
    }
}
