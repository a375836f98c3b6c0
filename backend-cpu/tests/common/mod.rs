//! Programs of the plan dialect built by hand, and running their kernels.
#![allow(dead_code, reason = "each test file uses its own part")]

#[path = "../../../midend/tests/support/plans.rs"]
pub(crate) mod plans;

#[allow(unused_imports, reason = "each test file uses its own part")]
pub(crate) use plans::*;

use backend_cpu::{Buffer, CpuDevice, Module, Options};
use midend::device::{Arg, Device, Stop};
use midend::ir::scalar::Const;
use midend::ir::types::ScalarType;
use midend::trap::RunError;
use midend::value::Data;

/// A device with so many threads.
pub(crate) fn device(threads: usize) -> CpuDevice {
    device_of(threads, 0)
}

/// A device with so many threads, and vector registers of so many bits.
pub(crate) fn device_of(threads: usize, vector_bits: u32) -> CpuDevice {
    CpuDevice::new(Options {
        threads,
        memory: None,
        vector_bits,
    })
    .expect("this machine is supported")
}

pub(crate) fn i64s(n: i64) -> Arg<Buffer> {
    Arg::Scalar(Const::I64(n))
}

pub(crate) fn upload(device: &CpuDevice, data: Data) -> Buffer {
    device.upload(data).expect("there is memory")
}

pub(crate) fn zeros(device: &CpuDevice, elem: ScalarType, len: usize) -> Buffer {
    upload(device, Data::zeros(elem, len))
}

pub(crate) fn run(
    device: &CpuDevice,
    module: &Module,
    kernel: &str,
    args: &[Arg<Buffer>],
) -> Result<(), RunError> {
    device.launch(module, kernel, args, &Stop::new())
}

pub(crate) fn download(device: &CpuDevice, buffer: &Buffer) -> Data {
    device
        .download(buffer, buffer.len())
        .expect("the length is right")
}
