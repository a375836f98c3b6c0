//! Launches on the emulator: the plan of a launch carried out step by step.

use super::{Buffer, EmuDevice, Module, State, lock};
use crate::bits::const_of;
use crate::compile::Kernel;
use crate::emu::{self, FaultKind, Memory, Program as Code, Snapshot};
use crate::failure::{FAILURE_BYTES, Verdict, verdict};
use crate::launch::{Fixed, Plan, Share, Step, plan, slots};
use midend::device::{Arg, Stop};
use midend::ir::scalar::Const;
use midend::ir::types::{ScalarType, Type};
use midend::trap::RunError;

/// One launch.
struct Run<'a> {
    device: &'a EmuDevice,
    module: &'a Module,
    kernel: &'a Kernel,
    slots: Vec<u64>,
    /// The addresses of the scratch arrays.
    scratch: Vec<u64>,
    stop: &'a Stop,
}

/// Runs a kernel to its end.
pub(super) fn launch(
    device: &EmuDevice,
    module: &Module,
    name: &str,
    args: &[Arg<Buffer>],
    stop: &Stop,
) -> Result<(), RunError> {
    let kernel = module.kernels.kernel(name)?;
    let slots = slots(kernel, args, |buffer| (buffer.0.address, buffer.0.elem))?;
    let mut state = lock(&device.state);
    let plan = plan(kernel, &slots, |arg, row| {
        offset(&state.memory, slots[arg], row)
    })?;
    let memory = &mut state.memory;
    let scratch = plan.scratch.iter().map(|array| {
        let address = memory.alloc(array.elem as u32, array.len);
        if array.zeros {
            let _ = memory.write(address, &vec![0; array.len * array.elem]);
        }
        address
    });
    let run = Run {
        device,
        module,
        kernel,
        slots: slots.clone(),
        scratch: scratch.collect(),
        stop,
    };
    let result = run.steps(&mut state, &plan, &module.code[name]);
    for address in &run.scratch {
        state.memory.free(*address);
    }
    result
}

/// The offset of a row, in an array of them.
fn offset(memory: &Memory, offsets: u64, row: i64) -> Result<i64, RunError> {
    let bytes = memory.read(offsets.wrapping_add_signed(8 * row), 8);
    match bytes.map(|bytes| const_of(ScalarType::I64, bytes)) {
        Some(Const::I64(offset)) => Ok(offset),
        Some(_) | None => Err(RunError::Device(
            "a kernel has too few offsets of rows".to_owned(),
        )),
    }
}

impl Run<'_> {
    fn steps(&self, state: &mut State, plan: &Plan, code: &[Code]) -> Result<(), RunError> {
        for step in &plan.steps {
            self.step(state, step, &code[step.entry])?;
        }
        Ok(())
    }

    /// Runs a step. If threads run out of memory for local buffers, everything is put back as it was, and they get more.
    fn step(&self, state: &mut State, step: &Step, code: &Code) -> Result<(), RunError> {
        let uses_arena = self.kernel.entries()[step.entry].uses_arena;
        let mut share = Share::first(step.threads());
        loop {
            let saved = if uses_arena {
                self.snapshots(&state.memory)
            } else {
                vec![]
            };
            match self.once(state, step, code, share)? {
                Verdict::Fine => return Ok(()),
                Verdict::Exhausted { asked } => {
                    let limit = self.device.options.memory;
                    share = share.grow(asked, step.threads(), limit)?;
                    for snapshot in saved {
                        state.memory.restore(snapshot);
                    }
                }
            }
        }
    }

    /// Copies of all arrays that the kernel may write.
    fn snapshots(&self, memory: &Memory) -> Vec<Snapshot> {
        let buffers = self.slots.iter().zip(&self.kernel.args);
        let buffers = buffers
            .filter(|(_, ty)| matches!(ty, Type::Buffer(_)))
            .map(|(slot, _)| *slot);
        let mut all: Vec<u64> = buffers.chain(self.scratch.iter().copied()).collect();
        all.sort_unstable();
        all.dedup();
        all.into_iter().filter_map(|a| memory.snapshot(a)).collect()
    }

    /// Runs a step once.
    fn once(
        &self,
        state: &mut State,
        step: &Step,
        code: &Code,
        Share(share): Share,
    ) -> Result<Verdict, RunError> {
        let memory = &mut state.memory;
        let entry = self.kernel.entries()[step.entry];
        let failure = memory.alloc(8, FAILURE_BYTES / 8);
        let _ = memory.write(failure, &[0; FAILURE_BYTES]);
        let arena = if entry.uses_arena {
            memory.alloc(4, (share * step.threads() / 4) as usize)
        } else {
            0
        };
        let fixed = Fixed {
            failure,
            arena,
            share,
        };
        let launch = emu::Launch {
            kernel: &entry.name,
            blocks: step.blocks,
            params: &step.params(&self.slots, fixed, &self.scratch),
        };
        let options = emu::Options {
            seed: self.device.options.seed,
            fuel: self.device.options.fuel,
            stop: Some(self.stop),
        };
        let result = emu::run(code, memory, launch, options);
        let record = memory.read(failure, FAILURE_BYTES).map(<[u8]>::to_vec);
        memory.free(failure);
        if entry.uses_arena {
            memory.free(arena);
        }
        result.map_err(|fault| match fault.kind {
            FaultKind::Stopped => RunError::Interrupted,
            FaultKind::OutOfFuel => RunError::OutOfFuel,
            FaultKind::Race
            | FaultKind::Undefined
            | FaultKind::OutOfBounds
            | FaultKind::Misaligned
            | FaultKind::Divergence
            | FaultKind::Deadlock
            | FaultKind::StackOverflow
            | FaultKind::BadLaunch => RunError::Internal(fault.to_string()),
        })?;
        let kernels = &self.module.kernels;
        verdict(&record.unwrap_or_default(), &kernels.sites, &kernels.spans)
    }
}
