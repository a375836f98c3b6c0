//! Array operations, one small program each.

use super::*;

/// Runs a body whose array operation is given, on the 2x3 array 1..6.
fn on_matrix(ty: &str, op: &str) -> Value {
    let rank: String = "[]".repeat(ty.matches('[').count());
    let text = format!(
        r#"nested
        fun main(*xss: [2][3]i64) -> (r: {ty}i64)
          entry "main" sizes 0 -> 0 (xss: *[][]i64) -> ({rank}i64)
        {{
          let ys: {ty}i64 = {op}
          yield ys
        }}"#
    );
    let results = nested(&text, vec![ints(&[2, 3], &[1, 2, 3, 4, 5, 6])]);
    results.expect("a result").pop().expect("one value")
}

#[test]
fn indexing() {
    assert_eq!(on_matrix("", "index xss [1, 2]"), int(6));
    assert_eq!(on_matrix("[3]", "index xss [1]"), vector(&[4, 5, 6]));
}

#[test]
fn slicing() {
    assert_eq!(on_matrix("[2]", "slice xss [0:2:1, 1]"), vector(&[2, 5]));
    assert_eq!(
        on_matrix("[2][2]", "slice xss [0:2:1, 2:2:-2]"),
        ints(&[2, 2], &[3, 1, 6, 4])
    );
    assert_eq!(
        on_matrix("[2][3]", "slice xss [1:2:0]"),
        ints(&[2, 3], &[4, 5, 6, 4, 5, 6])
    );
    assert_eq!(on_matrix("[0][3]", "slice xss [2:0:1]"), ints(&[0, 3], &[]));
}

#[test]
fn updating() {
    assert_eq!(
        on_matrix("[2][3]", "update xss [1, 0] = 9"),
        ints(&[2, 3], &[1, 2, 3, 9, 5, 6])
    );
}

#[test]
fn reordering() {
    let transposed = ints(&[3, 2], &[1, 4, 2, 5, 3, 6]);
    assert_eq!(on_matrix("[3][2]", "rearrange (1, 0) xss"), transposed);
    assert_eq!(
        on_matrix("[2][3]", "manifest (1, 0) xss"),
        ints(&[2, 3], &[1, 2, 3, 4, 5, 6])
    );
    assert_eq!(
        on_matrix("[6]", "reshape [6] xss"),
        vector(&[1, 2, 3, 4, 5, 6])
    );
    assert_eq!(
        on_matrix("[3][2]", "reshape [3, 2] xss"),
        ints(&[3, 2], &[1, 2, 3, 4, 5, 6])
    );
    assert_eq!(
        on_matrix("[2][3]", "copy xss"),
        ints(&[2, 3], &[1, 2, 3, 4, 5, 6])
    );
    assert_eq!(
        on_matrix("[4][3]", "concat 4 (xss, xss)"),
        ints(&[4, 3], &[1, 2, 3, 4, 5, 6, 1, 2, 3, 4, 5, 6])
    );
}

#[test]
fn reshaping_what_is_not_dense() {
    let text = r#"nested
        fun main(xss: [2][3]i64) -> (r: [6]i64)
          entry "main" sizes 0 -> 0 (xss: [][]i64) -> ([]i64)
        {
          let t: [3][2]i64 = rearrange (1, 0) xss
          let ys: [6]i64 = reshape [6] t
          yield ys
        }"#;
    assert_eq!(
        nested(text, vec![ints(&[2, 3], &[1, 2, 3, 4, 5, 6])]),
        Ok(vec![vector(&[1, 4, 2, 5, 3, 6])])
    );
}

#[test]
fn making() {
    assert_eq!(on_matrix("[3]", "iota.i64 3 5 -2"), vector(&[5, 3, 1]));
    assert_eq!(
        on_matrix("[2][2]", "replicate [2, 2] 7"),
        ints(&[2, 2], &[7, 7, 7, 7])
    );
    assert_eq!(on_matrix("[2]", "literal i64 (4, 2)"), vector(&[4, 2]));
    assert_eq!(
        on_matrix("[1][2][3]", "replicate [1] xss"),
        ints(&[1, 2, 3], &[1, 2, 3, 4, 5, 6])
    );
    assert_eq!(
        on_matrix("[2][2][3]", "literal [2][3]i64 (xss, xss)"),
        ints(&[2, 2, 3], &[1, 2, 3, 4, 5, 6, 1, 2, 3, 4, 5, 6])
    );
}

#[test]
fn iota_of_floats_rounds_each_element_once_per_step() {
    let text = r#"nested
        fun main() -> (r: [3]f32)
          entry "main" sizes 0 -> 0 () -> ([]f32)
        {
          let ys: [3]f32 = iota.f32 3 1.0f32 0.5f32
          yield ys
        }"#;
    let Ok(Value::Array(array)) = nested(text, vec![]).map(|mut r| r.remove(0)) else {
        panic!("no array");
    };
    assert_eq!(array.data, Data::F32(vec![1.0, 1.5, 2.0]));
}

#[test]
fn overlapping_parts_are_copied_as_if_at_once() {
    let text = r#"nested
        fun main(*xs: [4]i64) -> (r: [4]i64)
          entry "main" sizes 0 -> 0 (xs: *[]i64) -> ([]i64)
        {
          let part: [3]i64 = slice xs [0:3:1]
          let ys: [4]i64 = update xs [1:3:1] = part
          yield ys
        }"#;
    assert_eq!(
        nested(text, vec![vector(&[1, 2, 3, 4])]),
        Ok(vec![vector(&[1, 1, 2, 3])])
    );
}
