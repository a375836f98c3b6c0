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
