//! The most memory that programs have at once, beside what somebody who plans by hand would need.
//!
//! The formulas stand in `docs/memory.md`, too, with the reasons; a test sees to it that they are the same. All bytes
//! of buffers count, arguments and results among them. What kernels need inside of themselves does not.

use arrc::session::{Options, Program, Session};
use midend::ir::scalar::Const;
use midend::ir::threshold::{Forced, INFINITE, ThresholdKind};
use midend::plan::Profile;
use midend::value::{ArrayValue, Data, Value};
use std::path::{Path, PathBuf};

/// How much more than the formula says is let pass.
const SLACK: f64 = 1.1;
/// Bytes of single values and the like, which no formula counts.
const SMALL: u64 = 256;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn programs() -> Program {
    let options = Options {
        threads: Some(2),
        // Inner parallelism is made sequential, as by default for inputs of a size that is worth a parallel program. There no thread
        // executes loops alone.
        thresholds: Forced::all(0).with_kind(ThresholdKind::Alone, INFINITE),
        ..Options::default()
    };
    let session = Session::new(options).expect("this machine is supported");
    let path = root().join("tests/programs/memory/eight.fut");
    match session.compile_file(&path) {
        Ok(program) => program,
        Err(error) => panic!("{}", error.render(frontend::render::Look::Plain)),
    }
}

fn profile(entry: &str, args: Vec<Value>) -> Profile {
    match programs().profile(entry, args) {
        Ok((_, profile)) => profile,
        Err(why) => panic!("{entry}: {why}"),
    }
}

/// Whether the formula stands in the page, and the program keeps to it.
fn keeps_to(entry: &str, formula: &str, planned: u64, args: Vec<Value>) {
    let page = std::fs::read_to_string(root().join("docs/memory.md")).expect("the page is there");
    let row = format!("| `{entry}` | `{formula}` |");
    assert!(page.contains(&row), "docs/memory.md has no row {row}");
    let profile = profile(entry, args);
    let most = (planned as f64 * SLACK) as u64 + SMALL;
    assert!(
        profile.peak <= most,
        "{entry}: {} bytes, planned {planned}\n{:#?}",
        profile.peak,
        profile.buffers
    );
    // A formula that is far too generous says nothing.
    assert!(
        profile.peak * 10 >= planned * 9,
        "{entry}: {} bytes only, planned {planned}",
        profile.peak
    );
}

fn i64s(shape: &[u64], f: impl Fn(u64) -> i64) -> Value {
    array(
        shape,
        Data::I64((0..shape.iter().product()).map(f).collect()),
    )
}

fn i32s(shape: &[u64], f: impl Fn(u64) -> i32) -> Value {
    array(
        shape,
        Data::I32((0..shape.iter().product()).map(f).collect()),
    )
}

fn f32s(shape: &[u64], f: impl Fn(u64) -> f32) -> Value {
    array(
        shape,
        Data::F32((0..shape.iter().product()).map(f).collect()),
    )
}

fn f64s(shape: &[u64], f: impl Fn(u64) -> f64) -> Value {
    array(
        shape,
        Data::F64((0..shape.iter().product()).map(f).collect()),
    )
}

fn array(shape: &[u64], data: Data) -> Value {
    let shape = shape.iter().map(|&n| n.cast_signed()).collect();
    Value::Array(ArrayValue { shape, data })
}

fn int(number: i32) -> Value {
    Value::Scalar(Const::I32(number))
}

/// Numbers without order.
fn mixed(i: u64) -> u64 {
    i.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(23) >> 40
}

#[test]
fn hotspot() {
    let (n, m) = (60, 50);
    let grid = |k: u64| f32s(&[n, m], move |i| (mixed(i + k) % 100) as f32);
    let args = vec![int(5), grid(0), grid(7)];
    keeps_to("hotspot", "12nm", 12 * n * m, args);
}

#[test]
fn kmeans() {
    let (n, d, k) = (500, 4, 8_u64);
    let points = f32s(&[n, d], |i| (mixed(i) % 1000) as f32);
    let args = vec![Value::Scalar(Const::I64(k.cast_signed())), int(4), points];
    let planned = 4 * n * d + 8 * n + 8 * k * d + 4 * k;
    keeps_to("kmeans", "4nd + 8n + 8kd + 4k", planned, args);
}

#[test]
fn tridag() {
    let (n, m) = (40, 30);
    let matrix = |k: u64| f64s(&[n, m], move |i| 3.0 + (mixed(i + k) % 10) as f64);
    let args = vec![matrix(0), matrix(1), matrix(2), matrix(3)];
    keeps_to("tridag", "40nm", 40 * n * m, args);
}

#[test]
fn matmul() {
    let (n, m, p) = (40, 50, 60);
    let matrix = |rows, columns| f32s(&[rows, columns], |i| (mixed(i) % 10) as f32);
    let args = vec![matrix(n, m), matrix(m, p)];
    let planned = 4 * (n * m + m * p + n * p);
    keeps_to("matmul", "4(nm + mp + np)", planned, args);
}

#[test]
fn pipeline() {
    let n = 3000;
    // A third of the sums is kept; there is room for all.
    let args = vec![i32s(&[n], |_| 1)];
    keeps_to("pipeline", "8n", 8 * n, args);
}

#[test]
fn sparse() {
    let (rows, each, columns) = (400, 10, 300);
    let n = rows * each;
    let args = vec![
        i64s(&[rows + 1], |i| (i * each).cast_signed()),
        i64s(&[n], |i| (mixed(i) % columns).cast_signed()),
        f64s(&[n], |i| i as f64),
        f64s(&[columns], |i| i as f64),
    ];
    let planned = 16 * rows + 16 * n + 8 * columns;
    keeps_to("sparse", "16r + 16n + 8c", planned, args);
}

#[test]
fn quicksort() {
    let k = 2000;
    let args = vec![i32s(&[k], |i| (mixed(i) % 100_000) as i32)];
    keeps_to("quicksort", "49k", 49 * k, args);
}

#[test]
fn nbody() {
    let n = 300;
    let column = |k: u64| f32s(&[n], move |i| (mixed(i + k) % 100) as f32);
    let args = vec![int(3), column(0), column(1), column(2), column(3)];
    keeps_to("nbody", "40n", 40 * n, args);
}
