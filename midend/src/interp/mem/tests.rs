//! The reference device: what kernels compute, and what it refuses.

use super::*;

/// Launches the only kernel of a plan with an `i64` and two buffers of `i64`, and brings the buffers back.
fn launch(kernel: &str, n: i64, a: &[i64], b: &[i64]) -> Result<[Data; 2], RunError> {
    let text = format!(
        r#"plan
        fun main(n: i64, a: buffer i64, b: buffer i64) -> ()
        {{
          do launch {kernel}
          yield
        }}"#
    );
    let program = crate::ir::read::program::<Mem>(&text).expect("a plan");
    let device = Reference::new();
    let module = device.compile(&program)?;
    let upload = |data: &[i64]| device.upload(Data::I64(data.to_vec()));
    let (a, b) = (upload(a)?, upload(b)?);
    let all = [
        Arg::Scalar(Const::I64(n)),
        Arg::Buffer(a.clone()),
        Arg::Buffer(b.clone()),
    ];
    let params = &module.kernels["k"].params;
    let args: Vec<_> = params.iter().map(|v| all[v.0 as usize].clone()).collect();
    device.launch(&module, "k", &args, &Stop::new())?;
    let len = |buffer: &Buffer| buffer.lock().len();
    Ok([device.download(&a, len(&a))?, device.download(&b, len(&b))?])
}

fn refused(kernel: &str, n: i64, a: &[i64], b: &[i64]) -> String {
    match launch(kernel, n, a, b) {
        Err(RunError::Internal(why)) => why,
        other => panic!("{other:?}"),
    }
}

const MAP: &str = r#"map "k" (i: i64 < n) {
    let x: i64 = load a[i]
    let y: i64 = add.i64(x, i)
    do store b[i] = y
    yield
}"#;

#[test]
fn a_map_stores() {
    let [_, b] = launch(MAP, 3, &[5, 6, 7], &[0; 3]).expect("a run");
    assert_eq!(b, Data::I64(vec![5, 7, 9]));
    assert_eq!(
        refused(MAP, 4, &[5, 6, 7], &[0; 4]),
        "element 3 of a buffer of 3 elements is accessed"
    );
}

#[test]
fn points_that_depend_on_each_other_are_found() {
    let after = MAP.replace("load a[i]", "load b[0]");
    assert!(refused(&after, 3, &[], &[0; 3]).contains("which another one"));
    let before = r#"map "k" (i: i64 < n) {
        let j: i64 = add.i64(i, 1)
        let x: i64 = load a[j]
        do store a[i] = x
        yield
    }"#;
    assert!(refused(before, 2, &[1, 2, 3], &[]).contains("which another one reads"));
    let in_place = MAP.replace("store b[i]", "store a[i]");
    let [a, _] = launch(&in_place, 3, &[5, 6, 7], &[]).expect("a run");
    assert_eq!(a, Data::I64(vec![5, 7, 9]));
}

#[test]
fn folds_and_histograms() {
    let red = r#"red "k" (i: i64 < 2, j: i64 < n) {
        let l: i64 = mul.i64(i, n)
        let m: i64 = add.i64(l, j)
        let x: i64 = load a[m]
        yield x
    } reduce (0) \(p: i64, q: i64) { let s: i64 = add.i64(p, q) yield s } out (b)"#;
    let [_, b] = launch(red, 3, &[1, 2, 3, 4, 5, 6], &[9, 9]).expect("a run");
    assert_eq!(b, Data::I64(vec![6, 15]));
    let [_, b] = launch(red, 0, &[], &[9, 9]).expect("a run");
    assert_eq!(b, Data::I64(vec![0, 0]));
    let scan = r#"scan "k" (i: i64 < n) {
        let x: i64 = load a[i]
        yield x
    } scan (0) \(p: i64, q: i64) { let s: i64 = add.i64(p, q) yield s } out (b)"#;
    let [_, b] = launch(scan, 3, &[1, 2, 3], &[9, 9, 9]).expect("a run");
    assert_eq!(b, Data::I64(vec![1, 3, 6]));
    let hist = r#"hist "k" (i: i64 < n) {
        let x: i64 = load a[i]
        yield x, 10
    } into [2] (b) by (0) \(p: i64, q: i64) { let s: i64 = add.i64(p, q) yield s }"#;
    let [_, b] = launch(hist, 4, &[1, 0, 1, 7], &[1, 2]).expect("a run");
    assert_eq!(b, Data::I64(vec![11, 22]));
}

#[test]
fn memory_of_a_point_is_its_own() {
    let seq = r#"seq "k" () {
        let t: buffer i64 = alloc.i64 n
        do copy [2] t[0 + (1)] = a[1 + (1)]
        do copy [2] b[0 + (1)] = t[0 + (1)]
        yield
    }"#;
    let [_, b] = launch(seq, 2, &[1, 2, 3], &[0, 0]).expect("a run");
    assert_eq!(b, Data::I64(vec![2, 3]));
    let undefined = r#"seq "k" () {
        let t: buffer i64 = alloc.i64 n
        let x: i64 = load t[0]
        do store b[0] = x
        yield
    }"#;
    assert!(refused(undefined, 2, &[], &[0]).contains("never written"));
    let overlap = r#"seq "k" () {
        do copy [2] a[0 + (1)] = a[1 + (1)]
        yield
    }"#;
    assert!(refused(overlap, 2, &[1, 2, 3], &[0]).contains("overlaps"));
}

#[test]
fn what_was_never_written_cannot_be_brought_back() {
    let device = Reference::new();
    let buffer = device.alloc(ScalarType::F32, 2).expect("memory");
    device.store(&buffer, 0, 1f32.into()).expect("a store");
    assert_eq!(device.load(&buffer, 0), Ok(1f32.into()));
    assert_eq!(device.download(&buffer, 1), Ok(Data::F32(vec![1.0])));
    assert!(device.download(&buffer, 2).is_err());
    let stride = |offset: i64| Strided {
        buffer: &buffer,
        offset,
        strides: &[1],
    };
    device.copy(&[1], stride(1), stride(0)).expect("a copy");
    assert_eq!(device.download(&buffer, 2), Ok(Data::F32(vec![1.0, 1.0])));
}
