//! The verifier finds what is wrong and says where, and finds nothing wrong with what is right.

use midend::ir::mem::Mem;
use midend::ir::read;
use midend::ir::seg::Seg;
use midend::ir::soac::Soac;
use midend::verify::{self, Verify};

#[path = "verify/accumulators.rs"]
mod accumulators;
#[path = "verify/blocks.rs"]
mod blocks;
#[path = "verify/ragged.rs"]
mod ragged;

fn faults<D: Verify>(text: &str) -> Vec<String> {
    let program = read::program::<D>(text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    match verify::program(&program) {
        Ok(()) => Vec::new(),
        Err(faults) => faults.iter().map(ToString::to_string).collect(),
    }
}

/// Checks a function body with two arrays, the second of which may be consumed.
fn nested(body: &str) -> Vec<String> {
    faults::<Soac>(&format!(
        "nested fun f(n: i64, m: i64, xs: [n]i32, *ys: [n]i32, x: f32, b: bool) -> () {{ {body} yield }}"
    ))
}

#[track_caller]
fn good(body: &str) {
    assert_eq!(nested(body), [""; 0], "{body}");
}

#[track_caller]
fn bad(body: &str, messages: &[&str]) {
    let found = nested(body);
    assert_eq!(found.len(), messages.len(), "{body}\n{found:#?}");
    for (found, message) in found.iter().zip(messages) {
        assert!(found.starts_with(message), "{body}\n{found}");
    }
}

#[test]
fn samples_are_right() {
    assert_eq!(faults::<Soac>(include_str!("text/nested.ir")), [""; 0]);
    assert_eq!(faults::<Seg>(include_str!("text/flat.ir")), [""; 0]);
    assert_eq!(faults::<Mem>(include_str!("text/plan.ir")), [""; 0]);
}

#[test]
fn scope() {
    bad(
        "let y: f32 = add.f32(x, z) let z: f32 = x",
        &["z_7 is used but not in scope, in `f`: let y_6: f32 = add.f32(x_4, z_7)"],
    );
    bad(
        "let y: f32 = if b { let z: f32 = x yield z } else { yield z }",
        &["z_7 is used but not in scope"],
    );
    bad(
        "let a: [k]i32 = scratch.i32 [n] let k: i64 = n",
        &["k_7 is used but not in scope"],
    );
    bad(
        "let y: f32 = <c> x let c: cert = assert b other ()",
        &["c_7 is used"],
    );
}

#[test]
fn scalar_types() {
    bad(
        "let y: f32 = add.f32(x, 1i32)",
        &["operand 2 has type i32, not f32, in `f`: let y_6: f32 = add.f32(x_4, 1i32)"],
    );
    bad(
        "let y: f64 = add.f32(x, x)",
        &["a bound variable has type f64, not f32"],
    );
    bad(
        "let y: f32 = add.f32(x)",
        &["1 operands where 2 are needed"],
    );
    bad(
        "let c: cert = assert x other (xs)",
        &[
            "the condition has type f32, not bool",
            "a value in the message is no scalar",
        ],
    );
    bad(
        "let y: f32 = <b> x",
        &["b_5 is named as a certificate but is none"],
    );
    good("let c: cert = assert b other (n, \"text\") let y: f32 = <c> x");
}

#[test]
fn sizes() {
    // Formals of results are replaced by what the bodies yield.
    good(
        "let k: i64, zs: [k]i32 = if b { yield n, xs } else { let e: [3]i32 = replicate [3] 0i32 yield 3, e }",
    );
    bad(
        "let k: i64, zs: [k]i32 = if b { yield m, xs } else { yield n, xs }",
        &["result 2 has type [n_0]i32, not [m_1]i32"],
    );
    // Copies and equal computations are looked through.
    good(
        "let k: i64 = add.i64(n, m) let l: i64 = add.i64(m, n) let j: i64 = l
         let zs: [k]i32 = scratch.i32 [k] let ws: [j]i32 = copy zs",
    );
    bad(
        "let ws: [m]i32 = copy xs",
        &["a bound variable has type [m_1]i32, not [n_0]i32"],
    );
    bad(
        "let ws: [x]i32 = scratch.i32 [n]",
        &["ws_6 has a size that is no i64", "a bound"],
    );
    bad(
        "let w: [..xs]i32 = copy xs",
        &["w_6 is an array with a ragged outermost", "a bound"],
    );
    good("let zs: [2][n]i32 = literal [n]i32 (xs, ys) let t: [n][2]i32 = rearrange (1, 0) zs");
    bad(
        "let t: [n]i32 = rearrange (1) xs",
        &["is given no permutation"],
    );
}

#[test]
fn loops() {
    good(
        "let k: i64, r: [k]i32 = loop (l: i64 = n, a: [l]i32 = xs) for i: i64 < 3 {
           let l2: i64 = mul.i64(l, 2) let a2: [l2]i32 = concat l2 (a, a) yield l2, a2 }",
    );
    bad(
        "let r: [n]i32 = loop (a: [n]i32 = xs) while { yield n } do { yield a }",
        &["result 1 has type i64, not bool"],
    );
    bad(
        "let r: [n]i32 = loop (a: [n]i32 = xs) for i: i32 < n { yield a, a }",
        &[
            "index and bound of the loop are not of one integer type",
            "2 results where 1 are needed",
        ],
    );
}

#[test]
fn soacs() {
    good(
        "let s: i32, zs: [n]i32 = map n (xs, ys) \\(a: i32, c: i32) { let d: i32 = add.i32(a, c) yield d, a }
         reduce comm (0i32) \\(e: i32, g: i32) { let h: i32 = add.i32(e, g) yield h }",
    );
    bad(
        "let zs: [m]i32 = map m (xs) \\(a: f32) { yield a }",
        &[
            "xs_2 of type [n_0]i32 has not the length of the operation",
            "a parameter of the lambda has type f32, not i32",
            "a bound variable has type [m_1]i32, not [m_1]f32",
        ],
    );
    bad(
        "let s: i32 = map n (xs) \\(a: i32) { yield a } reduce (0i64) \\(e: i32, g: i32) { yield b }",
        &[
            "neutral element 1 has type i64, not i32",
            "result 1 has type bool, not i32",
        ],
    );
    bad(
        "let k: i64, zs: [n]i32 = filter n (xs) \\(a: i32) { yield b, a }",
        &["a bound variable has type [n_0]i32, not [k_6]i32"],
    );
}

#[test]
fn consumption() {
    good("let zs: [n]i32 = update ys[0] = 1i32 let w: i32 = index zs[0]");
    bad(
        "let zs: [n]i32 = update ys[0] = 1i32 let w: i32 = index ys[0]",
        &[
            "ys_3 is used after it or an alias of it was consumed, in `f`: let w_7: i32 = index ys_3[0]",
        ],
    );
    bad(
        "let zs: [n]i32 = update xs[0] = 1i32",
        &["xs_2 is consumed but not unique"],
    );
    bad(
        "let a: [m]i32 = slice ys[0 : m : 1] let zs: [n]i32 = update ys[0] = 1i32 let w: i32 = index a[0]",
        &["a_6 is used after it or an alias of it was consumed"],
    );
    bad(
        "let a: [m]i32 = slice ys[0 : m : 1] let zs: [n]i32 = update ys[1 : m : 1] = a",
        &["ys_3 is consumed by an operation that also uses it or an alias of it"],
    );
    // An alias of either branch.
    bad(
        "let a: [n]i32 = if b { yield xs } else { yield ys } let zs: [n]i32 = update a[0] = 1i32",
        &["a_6 is consumed but not unique"],
    );
    good(
        "let a: [n]i32 = if b { let c: [n]i32 = copy xs yield c } else { yield ys }
         let zs: [n]i32 = update a[0] = 1i32",
    );
    bad(
        "let a: [n]i32 = if b { let c: [n]i32 = update ys[0] = 1i32 yield c } else { yield ys }
         let w: i32 = index ys[0]",
        &["ys_3 is used after"],
    );
}

#[test]
fn consumption_in_lambdas_and_loops() {
    good(
        "let zs: [m][n]i32 = map m () \\() { let c: [n]i32 = copy xs let d: [n]i32 = update c[0] = 1i32 yield d }",
    );
    bad(
        "let zs: [m][n]i32 = map m () \\() { let d: [n]i32 = update ys[0] = 1i32 yield d }",
        &["ys_3 is consumed in a lambda or loop that does not own it"],
    );
    good(
        "let zs: [n]i32 = loop (a: [n]i32 = ys) for i: i64 < n {
           let c: [n]i32 = update a[i] = 1i32 yield c }
         let ws: [n]i32 = update zs[0] = 1i32",
    );
    bad(
        "let zs: [n]i32 = loop (a: [n]i32 = xs) for i: i64 < n {
           let c: [n]i32 = update a[i] = 1i32 yield c }",
        &["xs_2 is consumed but not unique"],
    );
    bad(
        "let zs: [n]i32 = loop (a: [n]i32 = ys) for i: i64 < n {
           let w: i32 = index ys[i] let c: [n]i32 = update a[i] = w yield c }",
        &["ys_3 is used in a loop that consumes it"],
    );
    bad(
        "let zs: [n]i32 = loop (a: [n]i32 = ys) for i: i64 < n {
           let c: [n]i32 = update a[i] = 1i32 yield xs }",
        &["a_7 is consumed, but its next value aliases something from outside of the loop"],
    );
    // Double buffering.
    good(
        "let e: [n]i32 = copy xs
         let zs: [n]i32, ws: [n]i32 = loop (a: [n]i32 = ys, c: [n]i32 = e) for i: i64 < n {
           let d: [n]i32 = update a[i] = 1i32 yield c, d }
         let us: [n]i32 = update zs[0] = 1i32
         let vs: [n]i32 = update ws[0] = 1i32",
    );
    bad(
        "let zs: [n]i32, ws: [n]i32 = loop (a: [n]i32 = ys, c: [n]i32 = xs) for i: i64 < n {
           let d: [n]i32 = update a[i] = 1i32 yield c, d }",
        &["xs_2 is consumed but not unique"],
    );
    bad(
        "let ws: [n]i32 = scatter n (ys) \\(a: i32) { let i: i64 = convert.i32.i64(a) yield i, a } into (ys : 1)",
        &["ys_3 is consumed by an operation"],
    );
}

#[test]
fn calls_and_results() {
    let head = "nested
        fun same(k: i64, a: [k]i32) -> (r: [k]i32) { yield a }
        fun eat(l: i64, *c: [l]i32) -> (*s: [l]i32) { yield c }";
    let with = |body: &str| {
        faults::<Soac>(&format!(
            "{head} fun f(n: i64, xs: [n]i32, *ys: [n]i32) -> (*r2: [n]i32) {{ {body} }}"
        ))
    };
    assert_eq!(with("let e: [n]i32 = call eat(n, ys) yield e"), [""; 0]);
    let cases = [
        (
            "let e: [n]i32 = call eat(n, xs) yield e",
            "xs_7 is consumed but not unique",
        ),
        (
            "let e: [n]i32 = call same(n, xs) yield e",
            "the unique result r_9 aliases a parameter that is not unique",
        ),
        (
            "let e: [n]i32 = call eat(n, ys) yield ys",
            "ys_8 is used after",
        ),
        (
            "let e: [n]i32 = call same(n, ys) let g: [n]i32 = call eat(n, ys) yield e",
            "e_10 is used after it or an alias",
        ),
        (
            "let e: [n]i32 = call eat(n) yield e",
            "1 arguments where 2 are needed",
        ),
        (
            "let e: [n]i32 = call eat(3, ys) yield e",
            "argument 2 has type [n_6]i32, not [3]i32",
        ),
    ];
    for (body, message) in cases {
        let found = with(body);
        assert!(found[0].starts_with(message), "{body}\n{found:#?}");
    }
}

#[test]
fn entry_points() {
    let entry = |entry: &str| {
        faults::<Soac>(&format!(
            "nested fun f(n: i64, *xs: [n]i32, y: f32) -> (k: i64, r: [k]i32)
             entry \"f\" {entry} {{ yield n, xs }}"
        ))
    };
    assert_eq!(
        entry("sizes 1 -> 1 (a: *[]i32, b: f32) -> ([]i32)").len(),
        0
    );
    let found = entry("sizes 1 -> 1 (a: [](i32, f32)) -> ([][]i32)");
    assert!(
        found[0].starts_with("xs_1 is unique") || found[0].starts_with("y_2 of type"),
        "{found:#?}"
    );
    assert!(
        found
            .iter()
            .any(|f| f.starts_with("r_4 of type [k_3]i32 is not what")),
        "{found:#?}"
    );
    let found = entry("sizes 0 -> 1 (a: *[]i32, b: f32) -> ([]i32)");
    assert!(
        found[0].starts_with("3 parameters where the entry point has 0 sizes"),
        "{found:#?}"
    );
}

#[test]
fn plans() {
    let plan = |body: &str| {
        faults::<Mem>(&format!(
            "plan fun f(n: i64, xs: buffer f32) -> () {{ {body} yield }}
             fun g(ys: buffer f32) -> () {{ do free ys yield }}"
        ))
    };
    assert_eq!(plan("do store xs[n] = 1.0f32"), [""; 0]);
    let cases = [
        ("do store xs[n] = 1i32", "the value has type i32, not f32"),
        (
            "do launch map \"k\" (i: i64 < n) { do free xs yield }",
            "only host code may do this",
        ),
        (
            "do launch map \"k\" (i: i64 < n) { do call g(xs) yield }",
            "a kernel calls a function that launches or frees",
        ),
        (
            "do launch map \"k\" (i: i64 < n) { yield i }",
            "1 results where 0 are needed",
        ),
        (
            "let a: [n]f32 = alloc.f32 n",
            "a_2 is an array, which plans do not have",
        ),
        (
            "do launch map \"k\" (i: i64 < n) { yield } do launch map \"k\" (j: i64 < n) { yield }",
            "a second kernel is named k",
        ),
    ];
    for (body, message) in cases {
        let found = plan(body);
        assert!(
            found.first().is_some_and(|f| f.starts_with(message)),
            "{body}\n{found:#?}"
        );
    }
}

#[test]
fn levels() {
    let found = faults::<Seg>(
        "flat fun f(n: i64) -> () {
           let a: [n][n]i64 = segmap block (i: i64 < n) {
             let c: [n]i64 = segmap device (j: i64 < n) { yield j } yield c }
           yield }",
    );
    assert!(
        found[0].starts_with("lies in an operation of the same or a lower level"),
        "{found:#?}"
    );
}

#[test]
fn rows_of_flat_maps_have_the_length_that_is_given() {
    let map = |binds: &str, result: &str, rest: &str| {
        format!(
            "let m1: i64 = add.i64(n, 1) \
             let o: [m1]i64, t: i64{binds} = flat_map n (xs) \\(v: i32) {{ \
               let k: i64 = convert.i32.i64(v) \
               let r: [k]i32 = replicate [k] v \
               let l: i64 = add.i64(k, 1) \
               yield {result} \
             }} {rest}"
        )
    };
    good(&map(
        ", d: [t]i32, e: [n]i64",
        "k, r, l",
        "rows 1 offsets m1",
    ));
    good(&map(", e: [n]i64", "k, l", "rows 0 offsets m1"));
    let rest = "rows 1 offsets m1";
    bad(&map(", d: [t]i32", "l, r", rest), &["a row has type"]);
    bad(
        &map(", d: [n]i32", "k, r", rest),
        &["a bound variable has type"],
    );
    bad(
        &map("", "v", "rows 0 offsets m1"),
        &["the length of a row has type"],
    );
    bad(
        &map("", "k", "rows 1 offsets m1"),
        &["1 results of the lambda"],
    );
}
