//! What plans allocate and copy.

use super::*;
use midend::ir::threshold::{Forced, INFINITE};
use midend::plan::Memory;
use std::sync::Arc;

#[test]
fn updates_in_a_loop_are_one_kernel_without_allocations() {
    let text = r#"nested
        fun main(n: i64, *xs: [n]i64) -> (r: [n]i64)
          entry "main" sizes 1 -> 0 (xs: *[]i64) -> ([]i64)
        {
          let m: i64 = sub.i64(n, 1)
          let r2: [n]i64 = loop (ys: [n]i64 = xs) for i: i64 < m {
            let x: i64 = index ys [i]
            let j: i64 = add.i64(i, 1)
            let y: i64 = index ys [j]
            let c: bool = lt.i64(x, y)
            let zs: [n]i64 = if c {
              let us: [n]i64 = update ys [i] = y
              let vs: [n]i64 = update us [j] = x
              yield vs
            } else { yield ys }
            yield zs
          }
          yield r2
        }"#;
    gives(text, vec![vector(&[1, 4, 2, 3])], &[vector(&[4, 2, 3, 1])]);
    let (plan, _) = lowered(text);
    assert_eq!(
        count(&plan, |op| matches!(op, Mem::Alloc { .. })),
        0,
        "{}",
        print::program(&plan)
    );
    assert_eq!(
        count(&plan, |op| matches!(op, Mem::Copy { .. })),
        0,
        "{}",
        print::program(&plan)
    );
    assert_eq!(
        count(&plan, |op| matches!(op, Mem::Launch(_))),
        1,
        "{}",
        print::program(&plan)
    );
}

#[test]
fn rows_are_built_where_they_belong() {
    let text = r#"nested
        fun main(n: i64, m: i64, xs: [n]i64, ys: [m]i64) -> (r: [n][m]i64, s: [n][m][2]i64)
          entry "main" sizes 2 -> 0 (xs: []i64, ys: []i64) -> ([][]i64, [][][]i64)
        {
          let r2: [n][m]i64, s2: [n][m][2]i64 = map n (xs) \(x: i64) {
            let row: [m]i64, rows: [m][2]i64 = map m (ys) \(y: i64) {
              let z: i64 = mul.i64(x, y)
              let pair: [2]i64 = literal i64 (x, y)
              yield z, pair
            } 
            let w: i64 = map m (row) \(y3: i64) { yield y3 } reduce (0) \(a: i64, b: i64) {
              let c: i64 = add.i64(a, b)
              yield c
            }
            let row2: [m]i64 = update row [0] = w
            yield row2, rows
          }
          yield r2, s2
        }"#;
    gives(
        text,
        vec![vector(&[1, 2]), vector(&[3, 4])],
        &[
            ints(&[2, 2], &[7, 4, 14, 8]),
            ints(&[2, 2, 2], &[1, 3, 1, 4, 2, 3, 2, 4]),
        ],
    );
    let (plan, _) = lowered(text);
    // The two results in each version, and the sums of the rows where these are computed for themselves, or by a block the sum of one.
    assert_eq!(
        count(&plan, |op| matches!(op, Mem::Alloc { .. })),
        8,
        "{}",
        print::program(&plan)
    );
    assert_eq!(
        count(&plan, |op| matches!(op, Mem::Copy { .. })),
        0,
        "{}",
        print::program(&plan)
    );
}

/// The most bytes in use at once while a program gives this result, with an operator at a time.
fn peak(text: &str, args: Vec<Value>, expected: &Value) -> u64 {
    let (plan, executable) = lowered(text);
    let device = Reference::new();
    let module = device.compile(&plan).expect("a module");
    let stop = Stop::new();
    let forced = Forced::all(INFINITE);
    let mut options = Options::new(&stop);
    options.thresholds = &forced;
    options.memory = Arc::new(Memory::new(Some(1 << 20)));
    let result = executable.run(&device, &module, "main", args, &options);
    assert_eq!(result.as_deref(), Ok(std::slice::from_ref(expected)));
    assert_eq!(options.memory.used(), 0, "everything is given back");
    options.memory.peak()
}

#[test]
fn what_one_way_needs_no_more_is_freed_on_it() {
    let text = r#"nested
        fun main(n: i64, c: bool, xs: [n]i64) -> (r: [n]i64)
          entry "main" sizes 1 -> 0 (c: bool, xs: []i64) -> ([]i64)
        {
          let r2: [n]i64 = if c {
            let ys: [n]i64 = map n (xs) \(x: i64) {
              let y: i64 = add.i64(x, 1)
              yield y
            }
            let zs: [n]i64 = map n (ys) \(z: i64) {
              let z2: i64 = add.i64(z, 1)
              yield z2
            }
            yield zs
          } else {
            let us: [n]i64 = replicate [n] 1
            let vs: [n]i64 = map n (us) \(v: i64) {
              let v2: i64 = add.i64(v, 1)
              yield v2
            }
            yield vs
          }
          yield r2
        }"#;
    for c in [true, false] {
        let args = vec![Value::Scalar(Const::Bool(c)), vector(&[0; 100])];
        let bytes = peak(text, args, &vector(&[2; 100]));
        assert_eq!(bytes, 2 * 800, "{c}");
    }
}

#[test]
fn what_a_loop_carries_and_does_not_read_is_freed_at_once() {
    let text = r#"nested
        fun main(n: i64, k: i64, xs: [n]i64, us: [n]i64) -> (r: [n]i64)
          entry "main" sizes 1 -> 0 (k: i64, xs: []i64, us: []i64) -> ([]i64)
        {
          let r2: [n]i64 = loop (ys: [n]i64 = xs) for i: i64 < k {
            let zs: [n]i64 = map n (us) \(u: i64) {
              let z: i64 = add.i64(u, i)
              yield z
            }
            yield zs
          }
          yield r2
        }"#;
    let args = vec![int(3), vector(&[7; 100]), vector(&[0; 100])];
    assert_eq!(peak(text, args, &vector(&[2; 100])), 2 * 800);
}

#[test]
fn long_loops_do_not_grow_memory() {
    let text = r#"nested
        fun main(n: i64, k: i64, xs: [n]i64) -> (r: [n]i64)
          entry "main" sizes 1 -> 0 (k: i64, xs: []i64) -> ([]i64)
        {
          let r2: [n]i64 = loop (ys: [n]i64 = xs) for i: i64 < k {
            let zs: [n]i64 = map n (ys) \(y: i64) {
              let z: i64 = add.i64(y, i)
              yield z
            }
            yield zs
          }
          yield r2
        }"#;
    let peak = |k: i64| {
        let args = vec![int(k), vector(&[0; 100])];
        peak(text, args, &vector(&[k * (k - 1) / 2; 100]))
    };
    assert_eq!(peak(50), peak(3));
    assert!(peak(50) <= 2 * 800, "{} bytes", peak(50));
}

#[test]
fn memory_is_limited() {
    let text = r#"nested
        fun main(n: i64) -> (r: [n]i64)
          entry "main" sizes 0 -> 0 (n: i64) -> ([]i64)
        {
          let r2: [n]i64 = iota.i64 n 0 1 @1
          yield r2
        }
        span 1 "big.fut" 2:5..2:9"#;
    let (plan, executable) = lowered(text);
    let device = Reference::new();
    let module = device.compile(&plan).expect("a module");
    let stop = Stop::new();
    let mut options = Options::new(&stop);
    options.memory = Arc::new(Memory::new(Some(1000)));
    let error = executable.run(&device, &module, "main", vec![int(1000)], &options);
    match error {
        Err(RunError::OutOfMemory {
            bytes,
            limit,
            trail,
        }) => {
            assert_eq!((bytes, limit, trail.len()), (8000, Some(1000), 1));
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn nothing_is_written_before_the_checks_of_an_update() {
    let text = r#"nested
        fun main(n: i64, k: i64, *xs: [n]i64) -> (r: [n]i64)
          entry "main" sizes 1 -> 0 (k: i64, xs: *[]i64) -> ([]i64)
        {
          let part: [k]i64 = iota.i64 k 0 1
          let c: bool = le.i64(k, n)
          let ok: cert = assert c bounds (k, " of ", n)
          let ys: [n]i64 = <ok> update xs [0:k:1] = part
          yield ys
        }"#;
    gives(
        text,
        vec![int(2), vector(&[7, 7, 7])],
        &[vector(&[0, 1, 7])],
    );
    let error = run_plan(text, vec![int(4), vector(&[7])]).expect_err("an error");
    assert_eq!(error.to_string(), "Error: 4 of 1");
}

#[test]
fn parts_of_concatenations_are_built_where_they_belong() {
    let text = r#"nested
        fun main(n: i64, xs: [n]i64) -> (m: i64, r: [m]i64)
          entry "main" sizes 1 -> 1 (xs: []i64) -> ([]i64)
        {
          let m2: i64 = add.i64(n, n)
          let m3: i64 = add.i64(m2, n)
          let ys: [n]i64 = map n (xs) \(x: i64) {
            let y: i64 = mul.i64(x, x)
            yield y
          }
          let zs: [n]i64 = map n (xs) \(x2: i64) {
            let z: i64 = add.i64(x2, 1)
            yield z
          }
          let all: [m3]i64 = concat m3 (ys, xs, zs)
          yield m3, all
        }"#;
    gives(text, vec![vector(&[2, 3])], &[vector(&[4, 9, 2, 3, 3, 4])]);
    let (plan, _) = lowered(text);
    let allocs = count(&plan, |op| matches!(op, Mem::Alloc { .. }));
    let copies = count(&plan, |op| matches!(op, Mem::Copy { .. }));
    assert_eq!((allocs, copies), (1, 1), "{}", print::program(&plan));
}

#[test]
fn memory_made_before_a_loop_does_not_outrun_the_checks_in_it() {
    let text = r#"nested
        fun main(n: i64, ks: [n]i64) -> (r: [n]i64)
          entry "main" sizes 1 -> 0 (ks: []i64) -> ([]i64)
        {
          let r2: [n]i64 = map n (ks) \(k: i64) {
            let s: i64 = loop (t: i64 = 0) for i: i64 < k {
              let m: i64 = sub.i64(k, 2)
              let c: bool = le.i64(0, m)
              let ok: cert = assert c negative_size ("size ", m)
              let xs: [m]i64 = <ok> iota.i64 m i 1
              let ys: [m]i64 = scatter m (xs) \(x: i64) { yield i, x } into (xs: 1)
              let u: i64 = map m (ys) \(y: i64) { yield y } reduce (t) \(a: i64, b: i64) {
                let d: i64 = add.i64(a, b)
                yield d
              }
              yield u
            }
            yield s
          }
          yield r2
        }"#;
    let text = text
        .replace("into (xs: 1)", "into (zs: 1)")
        .replace("let ys", "let zs: [m]i64 = copy xs\n              let ys");
    gives(&text, vec![vector(&[0, -7, 2])], &[vector(&[0, 0, 0])]);
    let error = run_plan(&text, vec![vector(&[1])]).expect_err("an error");
    assert_eq!(error.to_string(), "Error: size -1");
}
