//! Ragged arrays and ragged spaces. The rows of most tests are `[10, 20, 30]`, `[]` and `[40]`.

use super::*;

const HEAD: &str = r#"fun main(n: i64, k: i64, m: i64, ls: [n]i64, offs: [k]i64, *xs: [m]i64) -> (res: [m]i64, tes: [n]i64)
  entry "main" sizes 3 -> 0 (ls: []i64, offs: []i64, xs: *[]i64) -> ([]i64, []i64)"#;

fn args(offs: &[i64], xs: &[i64]) -> Vec<Value> {
    let lengths: Vec<i64> = offs.windows(2).map(|pair| pair[1] - pair[0]).collect();
    vec![vector(&lengths), vector(offs), vector(xs)]
}

fn rows() -> Vec<Value> {
    args(&[0, 3, 3, 4], &[10, 20, 30, 40])
}

/// What a body does in both dialects, which agree.
#[track_caller]
fn both(body: &str, args: &[Value]) -> Result<Vec<Value>, RunError> {
    let results = nested(&format!("nested\n{HEAD}\n{{ {body} }}"), args.to_vec());
    let again = flat(&format!("flat\n{HEAD}\n{{ {body} }}"), args.to_vec());
    assert_eq!(results, again);
    results
}

#[track_caller]
fn fails(result: Result<Vec<Value>, RunError>, message: &str) {
    match result {
        Err(RunError::Internal(why)) if why.contains(message) => {}
        other => panic!("{other:?} instead of {message}"),
    }
}

#[test]
fn elements_and_rows() {
    let body = "let xss: [n][..offs]i64 = reshape [n, ..offs] xs
        let yss: [n][..offs]i64 = copy xss
        let zss: [n][..offs]i64 = update yss[2, 0] = 7
        let row: [3]i64 = index zss[0]
        let row2: [3]i64 = update row[1] = 8
        let r: [m]i64 = reshape [m] zss
        let e: i64 = index xss[0, 2]
        let f: i64 = index xss[2, 0]
        let t: [n]i64 = literal i64 (e, f, 0)
        yield r, t";
    // The row is part of what may not be used after it was consumed.
    fails(both(body, &rows()), "was consumed");
    let kept = body.replace("let row2: [3]i64 = update row[1] = 8", "");
    let results = both(&kept, &rows());
    assert_eq!(
        results,
        Ok(vec![vector(&[10, 20, 30, 7]), vector(&[30, 40, 0])])
    );
    let outside = kept.replace("xss[0, 2]", "xss[1, 0]");
    fails(both(&outside, &rows()), "no check before it");
    let longer = kept.replace("[3]i64 = index", "[2]i64 = index");
    fails(both(&longer, &rows()), "is given an array of shape [3]");
}

#[test]
fn regular_rows_inside_of_ragged_ones() {
    let body = "let xss: [n][..offs][2]i64 = reshape [n, ..offs, 2] xs
        let pair: [2]i64 = index xss[2, 0]
        let x: i64 = index pair[1]
        let yss: [n][..offs][2]i64 = update xss[2, 0, 0 : 2 : 1] = pair
        let zss: [n][..offs][2]i64 = update yss[0, 1, 1] = x
        let rows: [2][2]i64 = index zss[0]
        let e: i64 = index rows[1, 1]
        let t: [n]i64 = literal i64 (x, e, 5)
        let r: [m]i64 = reshape [m] zss
        yield r, t";
    let args = args(&[0, 2, 2, 3], &[1, 2, 3, 4, 5, 6]);
    let wanted = Ok(vec![vector(&[1, 2, 3, 6, 5, 6]), vector(&[6, 6, 5])]);
    assert_eq!(both(body, &args), wanted);
}

#[test]
fn fresh_arrays() {
    let body = "let v: i64 = index xs[0]
        let xss: [n][..offs]i64 = replicate [n, ..offs] v
        let yss: [n][..offs]i64 = manifest (0, 1) xss
        let s: [n][..offs]i64 = scratch.i64 [n, ..offs]
        let s2: [n][..offs]i64 = update s[0, 0] = 5
        let e: i64 = index s2[0, 0]
        let r: [m]i64 = reshape [m] yss
        let t: [n]i64 = replicate [n] e
        yield r, t";
    let wanted = Ok(vec![vector(&[10, 10, 10, 10]), vector(&[5, 5, 5])]);
    assert_eq!(both(body, &rows()), wanted);
}

#[test]
fn offsets_must_fit() {
    let body = "let xss: [n][..offs]i64 = reshape [n, ..offs] xs
        let r: [m]i64 = reshape [m] xss
        yield r, ls";
    let wrong = |offs: &[i64]| {
        let mut args = args(offs, &[10, 20, 30, 40]);
        args[0] = vector(&[0, 0, 0]);
        both(body, &args)
    };
    assert!(wrong(&[0, 0, 1, 4]).is_ok());
    fails(wrong(&[0, 3, 4]), "3 offsets for 3 rows");
    fails(wrong(&[1, 3, 3, 4]), "begin with 1");
    fails(wrong(&[0, 3, 2, 4]), "fall from 3 to 2");
    fails(wrong(&[0, 3, 3, 5]), "is reshaped to");
}

#[test]
fn branches_carry_offsets_and_data() {
    let body = "let c: bool = lt.i64(n, 3)
        let o: [k]i64, yss: [n][..o]i64 = if c { let no: [k]i64 = copy offs
            let as: [n][..no]i64 = replicate [n, ..no] 1 yield no, as
          } else { let bs: [n][..offs]i64 = reshape [n, ..offs] xs yield offs, bs }
        let t: [n]i64 = copy ls
        let r: [m]i64 = reshape [m] yss
        yield r, t";
    let wanted = Ok(vec![vector(&[10, 20, 30, 40]), vector(&[3, 0, 1])]);
    assert_eq!(both(body, &rows()), wanted);
}

/// Runs a flat body.
fn seg(body: &str, args: Vec<Value>) -> Result<Vec<Value>, RunError> {
    flat(&format!("flat\n{HEAD}\n{{ {body} }}"), args)
}

/// An operator whose variables end in a letter.
fn sum(x: char) -> String {
    format!("\\(a{x}: i64, b{x}: i64) {{ let c{x}: i64 = add.i64(a{x}, b{x}) yield c{x} }}")
}

#[test]
fn maps_reductions_and_scans() {
    let body = format!(
        "let xss: [n][..offs]i64 = reshape [n, ..offs] xs
        let t: [n]i64, yss: [n][..offs]i64 = segred device (i: i64 < n, j: i64 in offs) {{
          let x: i64 = index xss[i, j]
          let y: i64 = add.i64(x, j)
          yield x, y
        }} reduce (0) {}
        let zss: [n][..offs]i64 = segscan device (p: i64 < n, q: i64 in offs) {{
          let z: i64 = index yss[p, q]
          let w: i64 = add.i64(z, p)
          yield w
        }} scan (0) {}
        let r: [m]i64 = reshape [m] zss
        yield r, t",
        sum('x'),
        sum('y'),
    );
    let wanted = Ok(vec![vector(&[10, 31, 63, 42]), vector(&[60, 0, 40])]);
    assert_eq!(seg(&body, rows()), wanted);
}

#[test]
fn dimensions_of_all_kinds() {
    // Two times the rows; in each of their elements as many points as the second offsets say, two by two.
    let body = "let two: [2][..o2]i64 = segmap device (a: i64 < 2, b: i64 in o2) {
          let ten: i64 = mul.i64(a, 10)
          let s: i64 = add.i64(ten, b)
          yield s
        }
        let deep: [2][..o2][..offs][2]i64 =
          segmap device (i: i64 < 2, j: i64 in o2, l: i64 in offs, d: i64 < 2) {
          let s2: i64 = index two[i, j]
          let s3: i64 = mul.i64(s2, 100)
          let l10: i64 = mul.i64(l, 10)
          let s4: i64 = add.i64(s3, l10)
          let s5: i64 = add.i64(s4, d)
          yield s5
        }
        let r: [m]i64 = reshape [m] deep
        yield r, ls"
        .replacen(
            "let two",
            "let o2: [3]i64 = literal i64 (0, 1, 3)\nlet two",
            1,
        );
    // Row 0 has one element, row 1 two; these have 2, 0 and 1 points.
    let wanted = [0, 1, 10, 11, 1100, 1101];
    let results = seg(&body, args(&[0, 2, 2, 3], &[0; 6]));
    assert_eq!(results, Ok(vec![vector(&wanted), vector(&[2, 0, 1])]));
}

#[test]
fn writes() {
    let body = format!(
        "let xss: [n][..offs]i64 = reshape [n, ..offs] xs
        let zeros: [n]i64 = replicate [n] 0
        let h: [n]i64 = seghist device (i: i64 < n, j: i64 in offs) {{
          let x: i64 = index xss[i, j]
          yield j, x
        }} into [n] (zeros) by (0) {}
        let w: [n]i64 = segscatter device (e: i64 < n, f: i64 in offs) {{
          let five: i64 = add.i64(f, 5)
          yield f, five
        }} into (h : 1)
        let u: [n]i64 = segacc device (g: i64 < n, l: i64 in offs) into c: cert (acc: acc(c, 0)[n]i64 = w) {{
          let done: acc(c, 0)[n]i64 = updateacc (acc)[l] = (1000)
          yield done
        }} by (0) {}
        let r: [m]i64 = reshape [m] xss
        yield r, u",
        sum('x'),
        sum('y'),
    );
    let wanted = Ok(vec![vector(&[10, 20, 30, 40]), vector(&[2005, 1006, 1007])]);
    assert_eq!(seg(&body, rows()), wanted);
}
