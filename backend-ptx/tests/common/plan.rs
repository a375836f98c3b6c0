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
