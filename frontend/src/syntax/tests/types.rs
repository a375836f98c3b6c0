//! Types, sizes, type parameters.

use super::super::ast::{ExpKind, SizeExp, TypeKind};
use super::{exp, reads_as, refused, scheme_reads_as};

fn ty(text: &str, printed: &str) {
    reads_as(&format!("x : {text}"), &format!("x : {printed}"));
}

#[test]
fn schemes_of_built_in_functions() {
    scheme_reads_as(
        "'a 'x [n] : (a -> x) -> [n]a -> *[n]x",
        "'a 'x [n] : (a -> x) -> [n]a -> *[n]x",
    );
    scheme_reads_as(": i32", ": i32");
    scheme_reads_as("[2]i32 -> (x: i32) -> i32", ": [2]i32 -> (x: i32) -> i32");
    scheme_reads_as("'^a '~b[n][m]: a -> b", "'^a '~b [n] [m] : a -> b");
    scheme_reads_as(
        "[n] 'a : (n: i64) -> ?[m].[m + n]a",
        "[n] 'a : (n: i64) -> ?[m].[m + n]a",
    );
}

#[test]
fn arrows_lean_right_and_bind_loosest() {
    ty("a -> b -> c", "a -> b -> c");
    ty("(a -> b) -> c", "(a -> b) -> c");
    ty("a -> (b -> c)", "a -> b -> c");
    ty(
        "(n: i64) -> (m: i64) -> [n][m]t",
        "(n: i64) -> (m: i64) -> [n][m]t",
    );
    ty("*[n]a -> *a", "*[n]a -> *a");
    ty("#a | #b -> c", "#a | #b -> c");
    ty("?[n].[n]a -> b", "?[n].[n]a -> b");
    ty("a -> ?[n][m].[n][m]b", "a -> ?[n][m].[n][m]b");
    assert!(refused("type t = (x: i32)").contains("names the parameter"));
}

#[test]
fn arrays_and_sizes() {
    ty("[][n][n + 1]i32", "[][n][n + 1]i32");
    ty("[..]f32", "[..]f32");
    ty("[n]*t", "[n]*t");
    ty("[a[0] * 2]t", "[a[0] * 2]t");
    let tree = exp("x : [ ]t");
    let ExpKind::Ascribe(_, ty) = &tree.kind else {
        panic!("not an ascription");
    };
    assert!(matches!(ty.kind, TypeKind::Array(SizeExp::Any(_), _)));
}

#[test]
fn constructors_take_sizes_and_types() {
    ty("m.t [n] a (b, c)", "m.t [n] a (b, c)");
    ty("t[n][]", "t [n] []");
    ty("[n]t [m] a", "[n]t [m] a");
    ty("t ([n]a)", "t ([n]a)");
    ty("(t a) b", "(t a) b");
}

#[test]
fn records_tuples_and_sums() {
    ty("{x: a, 0: b -> c,}", "{x: a, 0: b -> c}");
    ty("(a, b -> c, (),)", "(a, b -> c, ())");
    ty("((a))", "a");
    ty("#a i32 (b c) | #d", "#a i32 (b c) | #d");
    ty("#a [n]i32", "#a ([n]i32)");
    ty("[n]#a | #b", "[n]#a | #b");
    assert!(refused("type t = (a,)").contains("two elements"));
}
