//! Loops whose steps a device may run together ([`crate::analysis::stencil`]).

use super::counts::Work;
use super::exec::{Frame, Run, Val, int, malformed};
use super::memory::{Asker, counted};
use super::resolve::{Operand, Resolver, Slot};
use crate::analysis::kernels::arguments;
use crate::analysis::stencil::{Stencil, Sum};
use crate::device::{self, Arg, Device, Stepped};
use crate::ir::id::{SpanId, Var};
use crate::ir::scalar::Const;
use crate::ir::types::ScalarType;
use crate::trap::RunError;

/// A sum of products of a number and values of slots.
type Slots = Vec<(i64, Vec<Slot>)>;

/// A kernel that each step launches on what the one before wrote.
#[derive(Debug)]
pub(super) struct Steps {
    kernel: String,
    work: Option<Work>,
    args: Vec<Slot>,
    carried: Vec<Carried>,
    counter: Option<usize>,
    /// How far reads are, each.
    reach: Vec<Slots>,
    /// What is not negative if the reach is that.
    bounds: Vec<Slots>,
}

/// A buffer that is carried: which arguments a step reads and writes.
#[derive(Debug)]
struct Carried {
    from: usize,
    to: usize,
    elem: ScalarType,
    len: Operand,
}

impl Resolver<'_> {
    /// The steps of a loop with this counter.
    pub(super) fn steps(&mut self, found: &Stencil<'_>, counter: Var) -> Option<Box<Steps>> {
        let args = arguments(self.vars, found.launch);
        let place = |v: Var| args.iter().position(|arg| *arg == v);
        let carried = found.carried.iter().map(|carried| {
            Some(Carried {
                // What no point reads is no argument.
                from: place(carried.from)?,
                to: place(carried.to)?,
                elem: carried.elem,
                len: self.operand(carried.len),
            })
        });
        Some(Box::new(Steps {
            kernel: found.kernel.name.clone(),
            work: Work::of(found.kernel),
            carried: carried.collect::<Option<_>>()?,
            counter: place(counter),
            reach: found.reach.iter().map(|sum| self.sum(sum)).collect(),
            bounds: found.bounds.iter().map(|sum| self.sum(sum)).collect(),
            args: self.all(&args),
        }))
    }

    fn sum(&mut self, sum: &Sum) -> Slots {
        let all = sum.iter();
        all.map(|(n, factors)| (*n, self.all(factors))).collect()
    }
}

/// The products of a sum, if they are in range.
fn products<D: Device>(frame: &Frame<D>, sum: &Slots) -> Result<Option<Vec<i64>>, RunError> {
    let mut all = Vec::new();
    for (n, factors) in sum {
        let mut product = Some(*n);
        for slot in factors {
            let factor = int(frame, Operand::Slot(*slot))?;
            product = product.and_then(|product| product.checked_mul(factor));
        }
        let Some(product) = product else {
            return Ok(None);
        };
        all.push(product);
    }
    Ok(Some(all))
}

impl<D: Device> Run<'_, D> {
    /// Leaves so many steps to the device, whose counter begins with this number, and of which the first reads what the frame
    /// holds. Gives what the last one wrote; nothing if the steps have to be run one by one.
    pub(super) fn steps(
        &self,
        frame: &Frame<D>,
        (steps, span): (&Steps, SpanId),
        (first, times): (Const, i64),
    ) -> Result<Option<Vec<Val<D::Buffer>>>, RunError> {
        // Profiles tell of each step.
        if times < 2 || self.options.profiler.is_some() || self.part.is_some() {
            return Ok(None);
        }
        for bound in &steps.bounds {
            let sum = products::<D>(frame, bound)?;
            let sum = sum.and_then(|all| all.into_iter().try_fold(0i64, i64::checked_add));
            if sum.is_none_or(|sum| sum < 0) {
                return Ok(None);
            }
        }
        let far = |all: Vec<i64>| {
            let mut all = all.into_iter();
            all.try_fold(0i64, |sum, product| sum.checked_add(product.checked_abs()?))
        };
        let mut reach = 0;
        for read in &steps.reach {
            let Some(far) = products::<D>(frame, read)?.and_then(far) else {
                return Ok(None);
            };
            reach = far.max(reach);
        }
        let mut bytes = 0u64;
        let mut lens = Vec::new();
        for carried in &steps.carried {
            let len = usize::try_from(int(frame, carried.len)?).unwrap_or(0);
            bytes = bytes.saturating_add(2 * (len.saturating_mul(carried.elem.bytes()) as u64));
            lens.push(len);
        }
        if !self.device.is_worth_steps(bytes) {
            return Ok(None);
        }
        let (mut memory, mut carried) = (Vec::new(), Vec::new());
        for (stepped, len) in steps.carried.iter().zip(lens) {
            let make = || {
                let (asker, memory) = (Asker::Statement(span), &self.options.memory);
                let alloc = || self.device.alloc(stepped.elem, len);
                counted::<D>(memory, asker, (stepped.elem, len), alloc)
            };
            // One by one, steps need less memory.
            let (Ok(even), Ok(odd)) = (make(), make()) else {
                return Ok(None);
            };
            carried.push(Stepped {
                from: stepped.from,
                to: stepped.to,
                memory: [even.buffer.clone(), odd.buffer.clone()],
            });
            memory.push([even, odd]);
        }
        let mut args = Vec::new();
        for (&slot, place) in steps.args.iter().zip(0..) {
            let written = carried.iter().find(|carried| carried.to == place);
            args.push(match (&frame[slot], written) {
                (_, Some(written)) => Arg::Buffer(written.memory[0].clone()),
                (_, None) if steps.counter == Some(place) => Arg::Scalar(first),
                (Val::Scalar(c), None) => Arg::Scalar(*c),
                (Val::Buffer(b), None) => Arg::Buffer(b.buffer.clone()),
                (Val::Empty, None) => return Err(malformed("an argument of a kernel is missing")),
            });
        }
        let all = device::Steps {
            args: &args,
            carried: &carried,
            counter: steps.counter,
            times,
            reach,
        };
        let stop = self.options.stop;
        let device = self.device;
        if !device.steps(self.module, &steps.kernel, &all, stop)? {
            return Ok(None);
        }
        (0..times).for_each(|_| self.note(steps.work));
        let last = |[even, odd]: [_; 2]| Val::Buffer(if times % 2 == 1 { even } else { odd });
        Ok(Some(memory.into_iter().map(last).collect()))
    }
}
