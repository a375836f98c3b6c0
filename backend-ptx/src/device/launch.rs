//! Launches: the plan of a launch carried out step by step.

use super::failures::{COUNTERS, Failures, Verdict};
use super::{Buffer, Grid, Machine, Module, PtxDevice, deep};
use crate::compile::Kernel;
use crate::launch::{First, Fixed, Plan, Scratch as Array, Share, Step, plan, slots};
use midend::device::{Arg, Device as _, Stop};
use midend::ir::syntax::TrapKind;
use midend::ir::types::ScalarType;
use midend::trap::{MOST_NESTED_CALLS, RunError};
use midend::value::Data;

/// What addresses of arrays that lie side by side are multiples of, in bytes.
const ALIGNMENT: usize = 256;

/// One launch.
struct Run<'a, M: Machine> {
    device: &'a PtxDevice<M>,
    module: &'a Module<M>,
    kernel: &'a Kernel,
    slots: Vec<u64>,
    /// The buffers that would not be the same after a second launch: address and bytes.
    buffers: Vec<(u64, usize)>,
    scratch: Scratch<'a, M>,
    stop: &'a Stop,
}

/// Arrays that live as long as a launch.
struct Scratch<'a, M: Machine> {
    machine: &'a M,
    /// What was allocated.
    held: Vec<u64>,
    /// Address and bytes.
    arrays: Vec<(u64, usize)>,
}

impl<'a, M: Machine> Scratch<'a, M> {
    const fn new(machine: &'a M) -> Self {
        Self {
            machine,
            held: Vec::new(),
            arrays: Vec::new(),
        }
    }

    fn alloc(&mut self, elem: ScalarType, len: usize) -> Result<u64, RunError> {
        let address = self.machine.alloc(elem, len)?;
        self.held.push(address);
        Ok(address)
    }

    /// The arrays of a plan. Where nothing depends on it they lie side by side, those with zeros first: asking for memory and
    /// writing zeros takes some microseconds each time. Few counters, and few words with tags, are those that are always there.
    fn of(machine: &'a M, failures: &Failures, plan: &Plan) -> Result<Self, RunError> {
        let mut all = Self::new(machine);
        let lasting = all.lasting(failures, plan)?;
        let of_others = |(array, there): (&Array, &Option<u64>)| there.is_none().then_some(*array);
        let others: Vec<Array> = plan
            .scratch
            .iter()
            .zip(&lasting)
            .filter_map(of_others)
            .collect();
        let others = if M::CHECKS || others.len() < 2 {
            all.one_by_one(&others)?
        } else {
            let (places, zeros, bytes) = side_by_side(&others);
            let start = match bytes {
                0 => 0,
                _ => all.alloc(ScalarType::U8, bytes)?,
            };
            machine.zero(start, zeros)?;
            places
                .into_iter()
                .map(|place| start + place as u64)
                .collect()
        };
        let mut others = others.into_iter();
        let place = |(array, there): (&Array, Option<u64>)| {
            let address = there.or_else(|| others.next()).unwrap_or(0);
            (address, array.bytes())
        };
        all.arrays = plan.scratch.iter().zip(lasting).map(place).collect();
        Ok(all)
    }

    /// The addresses of those arrays of a plan that are always there.
    fn lasting(&self, failures: &Failures, plan: &Plan) -> Result<Vec<Option<u64>>, RunError> {
        let is_tagged = |array: &Array| array.first == First::Tagged;
        let tagged = plan.scratch.iter().filter(|array| is_tagged(array));
        let tagged: Vec<Array> = tagged.copied().collect();
        let (places, _, bytes) = side_by_side(&tagged);
        let start = match bytes {
            0 => None,
            _ => failures.tagged(self.machine, bytes)?,
        };
        let mut places = places.into_iter();
        let of = |array: &Array| match array.first {
            First::Counters => (array.len <= COUNTERS).then_some(failures.counters),
            First::Tagged => Some(start? + places.next()? as u64),
            First::Anything => None,
        };
        Ok(plan.scratch.iter().map(of).collect())
    }

    /// Memory for each of some arrays.
    fn one_by_one(&mut self, arrays: &[Array]) -> Result<Vec<u64>, RunError> {
        let mut addresses = Vec::new();
        for array in arrays {
            let address = self.alloc(array.elem, array.len)?;
            if array.first != First::Anything {
                self.machine.zero(address, array.bytes())?;
            }
            addresses.push(address);
        }
        Ok(addresses)
    }
}

/// How many bytes behind the start of all each of some arrays begins, those with zeros first; the bytes of these, and of all. What
/// does not fit into memory is as large as can be.
fn side_by_side(arrays: &[Array]) -> (Vec<usize>, usize, usize) {
    let (mut places, mut zeros, mut bytes) = (vec![0; arrays.len()], 0, 0usize);
    for with_zeros in [true, false] {
        for (place, array) in places.iter_mut().zip(arrays) {
            if (array.first != First::Anything) == with_zeros {
                *place = bytes;
                let rounded = array.bytes().checked_next_multiple_of(ALIGNMENT);
                bytes = bytes.saturating_add(rounded.unwrap_or(usize::MAX));
            }
        }
        if with_zeros {
            zeros = bytes;
        }
    }
    (places, zeros, bytes)
}

impl<M: Machine> Drop for Scratch<'_, M> {
    fn drop(&mut self) {
        for address in &self.held {
            self.machine.free(*address);
        }
    }
}

/// Has a kernel run.
pub(super) fn launch<M: Machine>(
    device: &PtxDevice<M>,
    module: &Module<M>,
    name: &str,
    args: &[Arg<Buffer<M>>],
    stop: &Stop,
) -> Result<(), RunError> {
    let kernel = module.kernels.kernel(name)?;
    let slots = slots(kernel, args, |buffer| (buffer.0.address, buffer.0.elem))?;
    let plan = plan(
        kernel,
        device.machine().limits(),
        &slots,
        |arg, row| match &args[arg] {
            Arg::Buffer(offsets) => offset(device, offsets, row),
            Arg::Scalar(_) => Err(no_offsets()),
        },
    )?;
    let scratch = Scratch::of(device.machine(), &device.failures, &plan)?;
    let uses = || args.iter().zip(&kernel.uses);
    let is_read = |address: u64| {
        uses()
            .any(|(arg, used)| matches!(arg, Arg::Buffer(b) if used.read && b.0.address == address))
    };
    let buffers = uses().filter_map(|(arg, used)| match arg {
        Arg::Buffer(buffer) if used.written && is_read(buffer.0.address) => {
            Some((buffer.0.address, buffer.0.bytes()))
        }
        Arg::Buffer(_) | Arg::Scalar(_) => None,
    });
    let run = Run {
        device,
        module,
        kernel,
        slots,
        buffers: buffers.collect(),
        scratch,
        stop,
    };
    let done = run.steps(&plan, &module.code[name]);
    if !matches!(done, Ok(Done::All)) {
        // What was stopped halfway has left its counters anywhere; the error says more than one of clearing them.
        let _ = device.failures.clear_counters(device.machine());
    }
    match done? {
        Done::All => Ok(()),
        Done::TooDeep(error) => deep::emulate(device, module, name, args, stop, error),
    }
}

/// How a launch ended.
enum Done {
    All,
    /// Calls nest deeper than the stacks allow; everything is as it was before.
    TooDeep(RunError),
}

/// Whether the stacks of a kernel hold fewer calls than are promised.
fn is_shallow<M: Machine>(machine: &M, code: &M::Code) -> Result<bool, RunError> {
    Ok(machine.depth(code)? < MOST_NESTED_CALLS as u64)
}

fn is_too_deep(error: &RunError) -> bool {
    matches!(error, RunError::Trap(trap) if trap.kind == TrapKind::Recursion)
}

fn no_offsets() -> RunError {
    RunError::Device("a kernel has too few offsets of rows".to_owned())
}

/// The offset of a row, in an array of them.
fn offset<M: Machine>(
    device: &PtxDevice<M>,
    offsets: &Buffer<M>,
    row: i64,
) -> Result<i64, RunError> {
    let row = usize::try_from(row).map_err(|_| no_offsets())?;
    device.load(offsets, row)?.as_i64().ok_or_else(no_offsets)
}

impl<M: Machine> Run<'_, M> {
    fn steps(&self, plan: &Plan, code: &[M::Code]) -> Result<Done, RunError> {
        let machine = self.device.machine();
        let mut before = Vec::new();
        if plan.steps.len() > 1 {
            for step in &plan.steps {
                if before.is_empty() && is_shallow(machine, &code[step.entry])? {
                    before = self.save()?;
                }
            }
        }
        for step in &plan.steps {
            if let Done::TooDeep(error) = self.step(step, &code[step.entry])? {
                for saved in before {
                    machine.restore(saved)?;
                }
                return Ok(Done::TooDeep(error));
            }
        }
        Ok(Done::All)
    }

    /// Runs a step. If threads run out of memory for local buffers or for calls, everything is put back as it was, and they get more.
    fn step(&self, step: &Step, code: &M::Code) -> Result<Done, RunError> {
        let machine = self.device.machine();
        let uses_arena = self.kernel.entries()[step.entry].uses_arena;
        let shallow = is_shallow(machine, code)?;
        if !uses_arena && !shallow {
            self.once(step, code, Share(0), 0)?;
            return Ok(Done::All);
        }
        let mut step = step.clone();
        let mut share = Share::first(step.threads());
        loop {
            // Whoever failed before is told apart from who runs out of memory here.
            self.device.settle()?;
            let saved = self.save()?;
            let mut arena = Scratch::new(machine);
            let address = match uses_arena {
                true => arena.alloc(ScalarType::U32, (share.0 * step.threads() / 4) as usize)?,
                false => 0,
            };
            self.once(&step, code, share, address)?;
            match self.device.failures.settle(machine) {
                Ok(Verdict::Fine) => return Ok(Done::All),
                Err(error) if shallow && is_too_deep(&error) => {
                    for saved in saved {
                        machine.restore(saved)?;
                    }
                    if !machine.deepen(code)? {
                        return Ok(Done::TooDeep(error));
                    }
                }
                Err(error) => return Err(error),
                Ok(Verdict::Exhausted(asked)) => {
                    let limit = self.device.limit();
                    share = match share.grow(asked, step.threads(), limit) {
                        Err(_) if self.kernel.can_do_with_fewer(&mut step) => {
                            share.grow(asked, step.threads(), limit)?
                        }
                        grown => grown?,
                    };
                    for saved in saved {
                        machine.restore(saved)?;
                    }
                }
            }
        }
    }

    /// Copies of all arrays that the kernel reads and may write, for it to be run again.
    fn save(&self) -> Result<Vec<M::Saved>, RunError> {
        let mut all = [self.buffers.as_slice(), &self.scratch.arrays].concat();
        all.sort_unstable();
        all.dedup();
        let machine = self.device.machine();
        all.into_iter()
            .map(|(at, bytes)| machine.save(at, bytes))
            .collect()
    }

    /// Runs a step once.
    fn once(
        &self,
        step: &Step,
        code: &M::Code,
        Share(share): Share,
        arena: u64,
    ) -> Result<(), RunError> {
        let (machine, failures) = (self.device.machine(), &self.device.failures);
        let fixed = Fixed {
            failure: failures.record,
            launch: failures.announce(&self.module.sites),
            arena,
            share,
            depth: machine.depth(code)?,
        };
        let scratch: Vec<u64> = self.scratch.arrays.iter().map(|(at, _)| *at).collect();
        let mut slots = step.params(&self.slots, fixed, &scratch);
        let grid = Grid {
            blocks: step.blocks,
            shared: step.shared,
        };
        if !self.kernel.entries()[step.entry].indirect {
            return machine.run(code, grid, &mut slots, self.stop);
        }
        let mut array = Scratch::new(machine);
        let address = array.alloc(ScalarType::U64, slots.len())?;
        machine.write(address, &Data::U64(slots))?;
        machine.run(code, grid, &mut [address], self.stop)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrays_side_by_side_do_not_overlap() {
        let array = |len, first| Array {
            elem: ScalarType::U64,
            len,
            first,
        };
        let arrays = [
            array(3, First::Anything),
            array(32, First::Tagged),
            array(33, First::Counters),
            array(0, First::Anything),
        ];
        let (places, zeros, bytes) = side_by_side(&arrays);
        assert_eq!((places, zeros, bytes), (vec![768, 0, 256, 1024], 768, 1024));
        let (_, zeros, bytes) =
            side_by_side(&[array(usize::MAX, First::Anything), array(1, First::Tagged)]);
        assert_eq!((zeros, bytes), (256, usize::MAX));
    }
}
