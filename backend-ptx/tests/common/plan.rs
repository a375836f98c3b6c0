//! Programs of the plan dialect built by hand, run on the emulator, their kernels assembled.

#[path = "../../../midend/tests/support/plans.rs"]
pub(crate) mod plans;

#[allow(unused_imports, reason = "each test file uses its own part")]
pub(crate) use plans::*;

use super::ptxas::{self, TARGETS};
use backend_ptx::{EmuDevice, Options};
use midend::device::{Arg, Device, Stop};
use midend::ir::mem::Mem;
use midend::ir::scalar::Const;
use midend::ir::syntax::Program;
use midend::ir::types::ScalarType;
use midend::trap::RunError;
use midend::value::Data;

pub(crate) type Buffer = <EmuDevice as Device>::Buffer;
pub(crate) type Module = <EmuDevice as Device>::Module;

/// A product of matrices of `n` by `m` and `m` by `p` numbers, in tiles.
pub(crate) const PRODUCT: &str = r#"plan
fun main(n: i64, m: i64, p: i64, a: buffer f32, b: buffer f32, out: buffer f32) -> ()
{
  do launch map "product" tiled 2 (i: i64 < n, j: i64 < p) {
    let at: i64 = mul.i64(i, p)
    let place: i64 = add.i64(at, j)
    let first: i64 = mul.i64(i, m)
    let sum: f32 = loop (acc: f32 = 0.0f32) for k: i64 < m {
      let here: i64 = add.i64(first, k)
      let x: f32 = load a[here]
      let line: i64 = mul.i64(k, p)
      let there: i64 = add.i64(line, j)
      let y: f32 = load b[there]
      let more: f32 = fma.f32(x, y, acc)
      yield more
    }
    do store out[place] = sum
    yield
  }
  yield
}
"#;

/// The numbers above zero of `n`, and where they were; how many there are.
pub(crate) const FILTER: &str = r#"plan
fun main(n: i64, xs: buffer f32, out: buffer f32, which: buffer i64, count: buffer i64) -> ()
{
  do launch scan "filter" (i: i64 < n) {
    let x: f32 = load xs[i]
    let keep: bool = lt.f32(0.0f32, x)
    let one: i64 = convert.bool.i64(keep)
    yield one, i, keep, x
  } scan comm (0) \(a: i64, b: i64) {
    let sum: i64 = add.i64(a, b)
    yield sum
  } out () then \(place: i64, j: i64, kept: bool, value: f32) {
    let at: i64 = sub.i64(place, 1)
    do if kept {
      do store out[at] = value
      do store which[at] = j
      yield
    } else {
      yield
    }
    let next: i64 = add.i64(j, 1)
    let last: bool = eq.i64(next, n)
    do if last {
      do store count[0] = place
      yield
    } else {
      yield
    }
    yield
  }
  yield
}
"#;

/// The same, with how many there are up to each.
pub(crate) const RANKS: &str = r#"plan
fun main(n: i64, xs: buffer f32, out: buffer f32, which: buffer i64, count: buffer i64) -> ()
{
  do launch scan "ranks" (i: i64 < n) {
    let x: f32 = load xs[i]
    let keep: bool = lt.f32(0.0f32, x)
    let one: i64 = convert.bool.i64(keep)
    yield one, i, keep, x
  } scan comm (0) \(a: i64, b: i64) {
    let sum: i64 = add.i64(a, b)
    yield sum
  } out () then \(place: i64, j: i64, kept: bool, value: f32) {
    let at: i64 = sub.i64(place, 1)
    do if kept {
      do store out[at] = value
      do store which[at] = j
      yield
    } else {
      yield
    }
    do store count[j] = place
    yield
  }
  yield
}
"#;

/// Of each row of numbers: their sum, and the composition of the affine functions that they make, which may not change places; the same up
/// to each number; these sums, handed on with the number and its row; each number with its row and its place there. Sums
/// of products, of a sparse matrix and a vector.
pub(crate) const ROWS: &str = r#"plan
fun main(n: i64, offs: buffer i64, xs: buffer u32, r0: buffer u32, r1: buffer u32, r2: buffer u32, r3: buffer i64,
  js: buffer i32, as: buffer f32, vs: buffer f32, r4: buffer f32) -> ()
{
  do launch red "totals" (i: i64 < n, j: i64 in offs from s: i64) {
    let at: i64 = add.i64(s, j)
    let x: u32 = load xs[at]
    yield x, x, x
  } reduce comm (0u32) \(a: u32, b: u32) {
    let c: u32 = add.u32(a, b)
    yield c
  } reduce (1u32, 0u32) \(f: u32, g: u32, h: u32, k: u32) {
    let l: u32 = mul.u32(f, h)
    let m: u32 = mul.u32(g, h)
    let o: u32 = add.u32(m, k)
    yield l, o
  } out (r0, r1, r2)
  do launch scan "prefixes" (i2: i64 < n, j2: i64 in offs from s2: i64) {
    let at2: i64 = add.i64(s2, j2)
    let x2: u32 = load xs[at2]
    yield x2, x2, x2
  } scan comm (0u32) \(a2: u32, b2: u32) {
    let c2: u32 = add.u32(a2, b2)
    yield c2
  } scan (1u32, 0u32) \(f2: u32, g2: u32, h2: u32, k2: u32) {
    let l2: u32 = mul.u32(f2, h2)
    let m2: u32 = mul.u32(g2, h2)
    let o2: u32 = add.u32(m2, k2)
    yield l2, o2
  } out (r0, r1, r2)
  do launch scan "handed" (i3: i64 < n, j3: i64 in offs from s3: i64) {
    let at3: i64 = add.i64(s3, j3)
    let x3: u32 = load xs[at3]
    yield x3, x3, at3, i3
  } scan comm (0u32) \(a3: u32, b3: u32) {
    let c3: u32 = add.u32(a3, b3)
    yield c3
  } out () then \(sum: u32, number: u32, place: i64, row: i64) {
    do store r0[place] = sum
    do store r1[place] = number
    do store r3[place] = row
    yield
  }
  do launch map "places" (i4: i64 < n, j4: i64 in offs from s4: i64) {
    let at4: i64 = add.i64(s4, j4)
    let x4: u32 = load xs[at4]
    let row4: i64 = mul.i64(i4, 1000000)
    let all4: i64 = add.i64(row4, j4)
    do store r0[at4] = x4
    do store r3[at4] = all4
    yield
  }
  do launch red "products" (i5: i64 < n, j5: i64 in offs from s5: i64) {
    let at5: i64 = add.i64(s5, j5)
    let column: i32 = load js[at5]
    let value: f32 = load as[at5]
    let place5: i64 = convert.i32.i64(column)
    let other: f32 = load vs[place5]
    let product: f32 = mul.f32(value, other)
    yield product
  } reduce comm (0.0f32) \(a5: f32, b5: f32) {
    let c5: f32 = add.f32(a5, b5)
    yield c5
  } out (r4)
  yield
}
"#;

/// A device that takes turns as the seed says.
pub(crate) fn device(seed: u64) -> EmuDevice {
    let options = Options {
        seed,
        ..Options::default()
    };
    EmuDevice::new(options).expect("there is memory")
}

/// Compiles; every kernel is assembled for every target.
pub(crate) fn compile(device: &EmuDevice, program: &Program<Mem>) -> Module {
    let module = device.compile(program).expect("compiles");
    for target in TARGETS {
        let texts: Vec<String> = module.texts(target).into_iter().map(|(_, t)| t).collect();
        ptxas::assemble_all(&texts, target).unwrap_or_else(|log| panic!("{log}"));
    }
    module
}

pub(crate) fn i64s(n: i64) -> Arg<Buffer> {
    Arg::Scalar(Const::I64(n))
}

pub(crate) fn upload(device: &EmuDevice, data: Data) -> Buffer {
    device.upload(data).expect("there is memory")
}

pub(crate) fn zeros(device: &EmuDevice, elem: ScalarType, len: usize) -> Buffer {
    upload(device, Data::zeros(elem, len))
}

pub(crate) fn blank(device: &EmuDevice, elem: ScalarType, len: usize) -> Buffer {
    device.alloc(elem, len).expect("there is memory")
}

pub(crate) fn run(
    device: &EmuDevice,
    module: &Module,
    kernel: &str,
    args: &[Arg<Buffer>],
) -> Result<(), RunError> {
    device.launch(module, kernel, args, &Stop::new())?;
    device.synchronise()
}

pub(crate) fn download(device: &EmuDevice, buffer: &Buffer, len: usize) -> Data {
    device.download(buffer, len).expect("the length is right")
}
