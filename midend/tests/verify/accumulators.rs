//! Accumulators are handed to a body, updated, and yielded; nothing else can be done with them.

use super::*;

/// An accumulation into `ys` by `op`, an operator or nothing, whose body is this.
fn accumulation(body: &str, op: &str) -> String {
    format!(
        "let zs: [n]i32 = withacc n (xs) into c: cert (a: acc(c, 0)[n]i32 = ys) \\(v: i32) {{ {body} }} {op}"
    )
}

#[test]
fn updates() {
    let update = "let u: acc(c, 0)[n]i32 = updateacc (a)[0] = (v)";
    let sum = "by comm (0i32) \\(l: i32, r: i32) { let s: i32 = add.i32(l, r) yield s }";
    good(&accumulation("yield a", ""));
    good(&accumulation(&format!("{update} yield u"), sum));
    good(&accumulation(
        "let w: acc(c, 0)[n]i32 = loop (q: acc(c, 0)[n]i32 = a) for i: i64 < n {
               let p: acc(c, 0)[n]i32 = if b { yield q } else {
                 let t: acc(c, 0)[n]i32 = updateacc (q)[i] = (v) yield t }
               yield p }
             let u: acc(c, 0)[n]i32 = updateacc (w)[0] = (v) yield u",
        sum,
    ));
    let cases = [
        (format!("{update} yield a"), "", "a_8 is used after it"),
        (
            String::from("let u: acc(c, 0)[n]i32 = updateacc (a)[0] = (x) yield u"),
            "",
            "value 1 has type f32, not i32",
        ),
        (
            String::from("let u: acc(c, 0)[n]i32 = updateacc (a)[x] = (v) yield u"),
            "",
            "the index has type f32, not i64",
        ),
        (
            String::from("let u: [n]i32 = updateacc (xs)[0] = (v) yield a"),
            "",
            "xs_2 is updated but no accumulator",
        ),
        (
            String::from("yield xs"),
            "",
            "a result of the body has type [n_0]i32, not acc(c_7, 0)[n_0]i32",
        ),
        (
            String::from("yield a, a"),
            "",
            "2 results of the body where 1 are needed",
        ),
        (
            String::from("let w: i32 = index a[0] yield a"),
            "",
            "a_8 of type acc(c_7, 0)[n_0]i32 has fewer than 1 dimensions",
        ),
        (
            String::from("let w: acc(c, 0)[n]i32 = copy a yield w"),
            "",
            "a_8 of type",
        ),
        (
            String::from("let w: acc(c, 0)[n]i32 = replicate [2] a yield w"),
            "",
            "what must be a scalar or an array is neither",
        ),
        (
            String::from("let w: i32 = index ys[0] yield a"),
            "",
            "ys_3 is used after it or an alias of it was consumed",
        ),
        (
            format!("let w: [n]i32 = map n (xs) \\(e: i32) {{ {update} yield e }} yield a"),
            "",
            "a_8 is consumed in a lambda or loop that does not own it",
        ),
        (
            String::from("let w: [n]i32 = map n () \\() { yield a } yield a"),
            "",
            "what must be a scalar or an array is neither",
        ),
        (
            String::from("yield a"),
            "by (0i64) \\(l: i32, r: i32) { yield l }",
            "neutral element 1 has type i64, not i32",
        ),
    ];
    for (body, op, message) in cases {
        let found = nested(&accumulation(&body, op));
        assert!(
            found.first().is_some_and(|f| f.starts_with(message)),
            "{body}\n{found:#?}"
        );
    }
}

#[test]
fn belonging() {
    let found = faults::<Soac>(
        "nested fun f(n: i64, *ys: [n]i32, *ws: [n]i32) -> () {
           let d: [n]i32, e: [n]i32 = withacc n () into c: cert
             (p: acc(c, 0)[n]i32 = ys, q: acc(c, 1)[n]i32 = ws) \\() { yield q, p }
           yield }",
    );
    assert!(
        found[0].starts_with("a result of the body has type acc("),
        "{found:#?}"
    );
    let found = faults::<Soac>(
        "nested fun f(n: i64, *ys: [n]i32, *ws: [n]i32) -> () {
           let d: [n]i32, e: [n]i32 = withacc n () into c: cert
             (p: acc(c, 0)[n]i32 = ys, q: acc(c, 1)[n]i32 = ws) \\() {
               let r: acc(c, 0)[n]i32 = updateacc (p)[0] = (1i32) yield r, q }
           yield }",
    );
    assert!(
        found[0].starts_with("does not update the accumulators of one"),
        "{found:#?}"
    );
    let found = faults::<Soac>("nested fun f(n: i64, c: cert, a: acc(c, 0)[n]i32) -> () { yield }");
    assert!(
        found[0].starts_with("an accumulator is a parameter or result of a function"),
        "{found:#?}"
    );
}
