//! Launches whose calls nest deeper than the stacks of a GPU allow. A GPU holds a stack for every thread that it could run at
//! once, so that the deepest nesting that is [promised](midend::trap::MOST_NESTED_CALLS) may need more memory than there is. Such a launch is
//! emulated: slower, with the same results.

use super::emulated::{Emulator, Options};
use super::launch::launch;
use super::{Buffer, Machine, Module, PtxDevice};
use midend::device::{Arg, Device as _, Stop};
use midend::trap::RunError;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Emulates a launch on copies of its arrays, and puts what it wrote into the memory of the device. `shallow` is the error of the
/// launch on the device; it stands if the copies do not fit into memory, or into what programs may use.
pub(super) fn emulate<M: Machine>(
    device: &PtxDevice<M>,
    module: &Module<M>,
    name: &str,
    args: &[Arg<Buffer<M>>],
    stop: &Stop,
    shallow: RunError,
) -> Result<(), RunError> {
    let emulated = emulated(device, module, name, args, stop);
    match emulated {
        Err(RunError::OutOfMemory { .. }) => Err(shallow),
        other => other,
    }
}

fn emulated<M: Machine>(
    device: &PtxDevice<M>,
    module: &Module<M>,
    name: &str,
    args: &[Arg<Buffer<M>>],
    stop: &Stop,
) -> Result<(), RunError> {
    let kernel = module.kernels.kernel(name)?;
    let options = Options {
        limits: device.machine().limits(),
        ..Options::default()
    };
    let emulator = PtxDevice::on(Emulator::new(options), device.shared.limit)?;
    emulator.machine().end_when_set(emulator.failures.record);
    let entries = kernel.entries().into_iter();
    let code = entries.map(|entry| emulator.machine().load(&entry.module, &entry.name));
    let code = code.collect::<Result<_, _>>()?;
    let copy = Module {
        kernels: Arc::clone(&module.kernels),
        sites: Arc::clone(&module.sites),
        code: [(name.to_owned(), code)].into(),
    };
    let mut copies: BTreeMap<u64, Buffer<Emulator>> = BTreeMap::new();
    let mut there = Vec::with_capacity(args.len());
    for arg in args {
        there.push(match arg {
            Arg::Scalar(value) => Arg::Scalar(*value),
            Arg::Buffer(buffer) => {
                let held = &buffer.0;
                let known = copies.get(&held.address).cloned();
                let copy = match known {
                    Some(copy) => copy,
                    None => emulator.upload(device.download(buffer, held.len)?)?,
                };
                copies.insert(held.address, copy.clone());
                Arg::Buffer(copy)
            }
        });
    }
    launch(&emulator, &copy, name, &there, stop)?;
    emulator.synchronise()?;
    for ((arg, copy), used) in args.iter().zip(&there).zip(&kernel.uses) {
        if let (Arg::Buffer(buffer), Arg::Buffer(copy)) = (arg, copy)
            && used.written
        {
            let data = emulator.download(copy, copy.0.len)?;
            device.machine().write(buffer.0.address, &data)?;
        }
    }
    Ok(())
}
