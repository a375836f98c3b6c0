//! Kernels inside of kernels, whose points threads share out.

use super::{Mem, faults};

/// The faults of a kernel with this body, and with this beside it.
fn kernel(beside: &str, body: &str) -> Vec<String> {
    faults::<Mem>(&format!(
        "plan fun f(n: i64, m: i64, ys: buffer i64) -> () {{ \
           do launch map \"k\" {beside}(i: i64 < n) {{ {body} yield }} yield }}"
    ))
}

#[track_caller]
fn bad(beside: &str, body: &str, message: &str) {
    let found = kernel(beside, body);
    assert!(
        found.first().is_some_and(|f| f.starts_with(message)),
        "{body}\n{found:#?}"
    );
}

const MAP: &str = "do launch map \"a\" (j: i64 < m) { do store ys[j] = i yield }";

#[test]
fn maps_reductions_and_scans_may_be_shared_out() {
    let fold = |kind: &str, word: &str, n: u32| {
        format!(
            "do launch {kind} \"{kind}\" (j{n}: i64 < m) {{ yield j{n} }} {word} comm (0) \
             \\(a{n}: i64, b{n}: i64) {{ let c{n}: i64 = add.i64(a{n}, b{n}) yield c{n} }} out (ys)"
        )
    };
    let (red, scan) = (fold("red", "reduce", 1), fold("scan", "scan", 2));
    let body = format!("{MAP} {red} do loop () for k: i64 < m {{ {scan} yield }}");
    assert_eq!(kernel("block (m, 64) ", &body), [""; 0]);
    assert_eq!(kernel("", &body), [""; 0]);
}

/// A histogram that counts numbers.
const HIST: &str = "do launch hist \"h\" (j: i64 < m) { yield j, 1 } into [m] (ys) by comm (0) \\(a: i64, b: i64) \
                    { let c: i64 = add.i64(a, b) yield c }";

#[test]
fn histograms_may_be_shared_out() {
    assert_eq!(kernel("block (m, 64) ", HIST), [""; 0]);
    assert_eq!(kernel("", HIST), [""; 0]);
}

#[test]
fn nothing_else_may() {
    let none = "is no map, reduction or scan of one row";
    // Its body would combine by itself, for which points are gone through in order.
    bad("", &HIST.replace("yield j, 1", "yield"), none);
    bad("", "do launch seq \"b\" () { yield }", none);
    bad("", &MAP.replace("(j", "block (m, 8) (j"), none);
    let deeper = MAP.replace("yield", "do launch map \"b\" (k: i64 < m) { yield } yield");
    bad("", &deeper, "is launched where there are no threads");
}

#[test]
fn needs_are_sizes() {
    bad("block (true, 8) ", MAP, "an index has type");
}
