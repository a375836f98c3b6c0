//! What can be done with ragged arrays, and what cannot.

use super::{Soac, faults};
use midend::ir::seg::Seg;

/// The faults of a function body in both dialects, which agree.
fn both(body: &str) -> Vec<String> {
    let text = |dialect: &str| {
        format!(
            "{dialect} fun f(n: i64, k: i64, m: i64, *offs: [k]i64, *xss: [n][..offs]i32, \
             wss: [n][..offs][2]i32, c: i64, deep: [c], xs: [m]i32) -> () {{ {body} yield }}"
        )
        .replace("deep: [c]", "o2: [c]i64, deep: [n][..offs][..o2]i32")
    };
    let found = faults::<Soac>(&text("nested"));
    assert_eq!(found, faults::<Seg>(&text("flat")));
    found
}

#[track_caller]
fn good(body: &str) {
    assert_eq!(both(body), [""; 0], "{body}");
}

#[track_caller]
fn bad(body: &str, message: &str) {
    let found = both(body);
    assert!(
        found.first().is_some_and(|f| f.starts_with(message)),
        "{body}\n{found:#?}"
    );
}

#[test]
fn what_can_be_done() {
    good("let x: i32 = index xss[0, 1]");
    good("let row: [m]i32 = index xss[0]");
    good("let rows: [m][2]i32 = index wss[0]");
    good("let row: [m]i32 = index deep[0, 1]");
    good("let pair: [2]i32 = index wss[0, 1] let y: [2]i32 = slice wss[0, 1]");
    good("let ys: [n][..offs]i32 = update xss[0, 0] = 1i32");
    good("let ys: [n][..offs]i32 = copy xss let zs: [n][..offs]i32 = manifest (0, 1) ys");
    good("let ys: [n][..offs][..o2]i32 = replicate [n, ..offs, ..o2] 1i32");
    good("let ys: [n][..offs][2]i32 = scratch.i32 [n, ..offs, 2]");
    good("let ys: [n][..offs]i32 = reshape [n, ..offs] xs let zs: [m]i32 = reshape [m] ys");
}

#[test]
fn rows_of_rows_stay_where_they_are() {
    bad(
        "let row: [m][..o2]i32 = index deep[0]",
        "yields a row that is itself ragged",
    );
    bad(
        "let part: [n][..offs]i32 = slice deep[0]",
        "takes a part that is itself ragged",
    );
    bad(
        "let row: [m]i32 = slice xss[0]",
        "takes a part that is itself ragged",
    );
    bad(
        "let row: [m]i32 = slice xss[0, 0 : m : 1]",
        "takes a range of a ragged dimension",
    );
    bad(
        "let row: [m]i32 = slice xss[0 : m : 1, 0]",
        "takes a range of a ragged dimension",
    );
    bad(
        "let row: [m]i32 = index xss[0] let ys: [n][..offs]i32 = update xss[1] = row",
        "takes a part that is itself ragged",
    );
}

#[test]
fn other_operations() {
    for op in [
        "rearrange (1, 0) xss",
        "manifest (1, 0) xss",
        "concat n (xss)",
    ] {
        bad(
            &format!("let ys: [n][..offs]i32 = {op}"),
            "xss_4 of type [n_0][..offs_3]i32 is ragged",
        );
    }
    bad(
        "let ys: [2][n][..offs]i32 = replicate [2] xss",
        "a ragged array is a row of another one",
    );
    bad(
        "let ys: [1][n][..offs]i32 = literal [n][..offs]i32 (xss)",
        "a ragged array is a row of another one",
    );
    bad(
        "let ys: [n][..xs]i32 = scratch.i32 [n, ..xs]",
        "ys_10 has a ragged dimension whose offsets are no vector of i64",
    );
}

#[test]
fn shapes_agree_if_they_name_the_same_offsets() {
    let other = "let o: [k]i64 = copy offs";
    bad(
        &format!("{other} let ys: [n][..o]i32 = copy xss"),
        "a bound variable has type [n_0][..o_10]i32, not [n_0][..offs_3]i32",
    );
    good("let o: [k]i64 = offs let ys: [n][..o]i32 = copy xss");
}

#[test]
fn offsets_live_as_long_as_the_array() {
    bad(
        "let o: [k]i64 = update offs[0] = 0 let x: i32 = index xss[0, 0]",
        "xss_4 is used after it or an alias of it was consumed",
    );
}

#[test]
fn operators_and_lambdas() {
    let nested = |body: &str| {
        faults::<Soac>(&format!(
            "nested fun f(n: i64, k: i64, offs: [k]i64, xss: [n][..offs]i32) -> () {{ {body} yield }}"
        ))
    };
    let found = nested("let r: [n]i32 = map n (xss) \\(x: i32) { yield x }");
    assert!(found[0].starts_with("xss_3 of type [n_0][..offs_2]i32 is ragged"));
    let flat = |body: &str| {
        faults::<Seg>(&format!(
            "flat fun f(n: i64, k: i64, offs: [k]i64, *xss: [n][..offs]i32) -> () {{ {body} yield }}"
        ))
    };
    let found = flat("let r: [n][n][..offs]i32 = segmap device (i: i64 < n) { yield xss }");
    assert!(
        found[0].starts_with("a ragged array is a row of another one"),
        "{found:?}"
    );
    let found = flat("let r: [..offs]i32 = segmap device (i: i64 in offs) { yield 1i32 }");
    assert!(
        found
            .iter()
            .any(|f| f.starts_with("has a ragged dimension outermost")),
        "{found:?}"
    );
    let scatter = "let r: [n][..offs]i32 = segscatter device (i: i64 < n) { yield i, i, 1i32 } into (xss : 2)";
    let found = flat(scatter);
    assert!(
        found[0].starts_with("xss_3 of type [n_0][..offs_2]i32 is ragged"),
        "{found:?}"
    );
}
