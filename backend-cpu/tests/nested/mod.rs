//! Programs of the nested dialect on the CPU, with vectors of both widths, and in the interpreter.
#![allow(dead_code, reason = "each test file uses its own part")]

use backend_cpu::{CpuDevice, Options as DeviceOptions};
use midend::device::{Device, Stop};
use midend::interp;
use midend::ir::read;
use midend::ir::scalar::Const;
use midend::ir::types::ScalarType;
use midend::passes::{flatten::flatten, plan::plan};
use midend::plan::{Executable, Options, signatures};
use midend::value::{ArrayValue, Data, Value};

/// Lengths around those of groups.
const LENGTHS: [i64; 9] = [0, 1, 15, 16, 31, 64, 67, 129, 200];

/// Runs a program of the nested dialect with vector registers of both widths and in the interpreter, for arguments of many
/// lengths. Yields the first kernel that has code for one width alone, and why.
pub(crate) fn agrees(
    devices: &[CpuDevice],
    text: &str,
    args: impl Fn(i64) -> Vec<Value>,
) -> Option<(String, Option<String>)> {
    let nested = read::program(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let signatures = signatures(&nested);
    let options = midend::pass::Options::default();
    let plan = plan(flatten(nested.clone(), &options), &options);
    let modules: Vec<_> = devices
        .iter()
        .map(|device| device.compile(&plan).expect("compiles"))
        .collect();
    let executable = Executable::new(&plan, signatures);
    let stop = Stop::new();
    for n in LENGTHS {
        let expected = interp::run(&nested, "main", args(n), &interp::Options::default());
        for (device, module) in devices.iter().zip(&modules) {
            let result = executable.run(device, module, "main", args(n), &Options::new(&stop));
            assert_eq!(result, expected, "{n}\n{text}");
        }
    }
    let mut kernels = modules.iter().flat_map(|module| module.widened());
    kernels.find(|(_, why)| why.is_some())
}

/// A device for each width of vector registers.
pub(crate) fn devices() -> [CpuDevice; 3] {
    [128, 256, 512].map(|vector_bits| {
        let options = DeviceOptions {
            threads: 2,
            memory: None,
            vector_bits,
        };
        CpuDevice::new(options).expect("this machine is supported")
    })
}

/// A vector of numbers all over the range of the type.
pub(crate) fn numbers(ty: ScalarType, n: i64, seed: i64) -> Value {
    let mut data = Data::zeros(ty, n as usize);
    for i in 0..n {
        let mixed = (i + seed)
            .wrapping_mul(0x5851_F42D_4C95_7F2D)
            .rotate_left(23);
        let number = interp::scalar::convert::convert(ty, Const::I64(mixed));
        data.set(i as usize, number);
    }
    Value::Array(ArrayValue {
        shape: vec![n],
        data,
    })
}

pub(crate) fn scalar_type(name: &str) -> ScalarType {
    let found = ScalarType::ALL
        .into_iter()
        .find(|ty| ty.to_string() == name);
    found.expect("types print as they are called")
}
