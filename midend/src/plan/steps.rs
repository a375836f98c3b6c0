//! Loops whose steps a device may run together ([`crate::analysis::stencil`]).

use super::counts::Work;
use super::exec::{Frame, Run, Val, constant, int, malformed, number, scalar_op};
use super::memory::{Asker, counted};
use super::resolve::{Operand, Resolver, Slot};
use crate::analysis::kernels::arguments;
use crate::analysis::stencil::{Stencil, Sum};
use crate::device::{self, Arg, Device, Stepped};
use crate::ir::id::{SpanId, Var};
use crate::ir::scalar::{Const, ScalarOp};
use crate::ir::types::ScalarType;
use crate::trap::RunError;

/// A sum of products of a number and values of slots.
type Slots = Vec<(i64, Vec<Slot>)>;

/// A kernel that each step launches on what the one before wrote.
#[derive(Debug)]
pub(super) struct Steps {
    kernel: String,
    rank: usize,
    work: Option<Work>,
    args: Vec<Slot>,
    carried: Vec<Carried>,
    /// The number of the step, and what is computed of it.
    counter: Slot,
    scalars: Vec<(Slot, ScalarOp, Vec<Operand>)>,
    /// Which arguments are of these.
    varying: Vec<(usize, Slot)>,
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
        let carried = carried.collect::<Option<_>>()?;
        let scalars = found.scalars.iter().map(|(v, op, args)| {
            let args = args.iter().map(|arg| self.operand(*arg)).collect();
            (self.slot(*v), *op, args)
        });
        let scalars: Vec<_> = scalars.collect();
        let others = found.scalars.iter().map(|s| s.0).chain([counter]);
        let varying = others.filter_map(|v| Some((place(v)?, self.slot(v))));
        let varying: Vec<_> = varying.collect();
        Some(Box::new(Steps {
            kernel: found.kernel.name.clone(),
            rank: found.kernel.space.len(),
            work: Work::of(found.kernel),
            carried,
            counter: self.slot(counter),
            varying,
            scalars,
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

/// The numbers of a sum, and what each is a factor of, if that is in range.
fn products<D: Device>(frame: &Frame<D>, sum: &Slots) -> Result<Option<Vec<(i64, i64)>>, RunError> {
    let mut all = Vec::new();
    for (n, factors) in sum {
        let mut product = Some(1i64);
        for slot in factors {
            let factor = int(frame, Operand::Slot(*slot))?;
            product = product.and_then(|product| product.checked_mul(factor));
        }
        let Some(product) = product else {
            return Ok(None);
        };
        all.push((*n, product));
    }
    Ok(Some(all))
}

impl Steps {
    /// The arguments that each step has anew, for one step.
    fn numbers<D: Device>(
        &self,
        frame: &Frame<D>,
        (ty, step): (ScalarType, i64),
    ) -> Result<Vec<(usize, Const)>, RunError> {
        let mut known = vec![(self.counter, number(ty, step.into())?)];
        let of = |known: &[(Slot, Const)], slot| known.iter().find(|k| k.0 == slot).map(|k| k.1);
        for (to, op, args) in &self.scalars {
            let args = args.iter().map(|&arg| match arg {
                Operand::Slot(slot) if let Some(number) = of(&known, slot) => Ok(number),
                Operand::Slot(_) | Operand::Const(_) | Operand::Last(_) => constant(frame, arg),
            });
            let args = args.collect::<Result<Vec<_>, _>>()?;
            known.push((*to, scalar_op(*op, &args)?));
        }
        let places = self.varying.iter();
        let of = |slot| of(&known, slot).ok_or_else(|| malformed("a number of a step is missing"));
        places
            .map(|(place, slot)| Ok((*place, of(*slot)?)))
            .collect()
    }
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
            let sum = sum.and_then(|all| {
                let mut all = all.into_iter();
                all.try_fold(0i64, |sum, (n, size)| sum.checked_add(n.checked_mul(size)?))
            });
            if sum.is_none_or(|sum| sum < 0) {
                return Ok(None);
            }
        }
        let mut far = Vec::new();
        for read in &steps.reach {
            let Some(read) = products::<D>(frame, read)? else {
                return Ok(None);
            };
            far.push(read);
        }
        let mut bytes = 0u64;
        let mut lens = Vec::new();
        for carried in &steps.carried {
            let len = usize::try_from(int(frame, carried.len)?).unwrap_or(0);
            bytes = bytes.saturating_add(2 * (len.saturating_mul(carried.elem.bytes()) as u64));
            lens.push(len);
        }
        if !self.device.is_worth_steps(steps.rank, bytes) {
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
        let numbers = |step: i64| steps.numbers::<D>(frame, (first.ty(), step));
        let (mut args, first) = (Vec::new(), numbers(0)?);
        for (&slot, place) in steps.args.iter().zip(0..) {
            let written = carried.iter().find(|carried| carried.to == place);
            let number = first.iter().find(|(varying, _)| *varying == place);
            args.push(match (&frame[slot], written) {
                (_, Some(written)) => Arg::Buffer(written.memory[0].clone()),
                (_, None) if let Some((_, number)) = number => Arg::Scalar(*number),
                (Val::Scalar(c), None) => Arg::Scalar(*c),
                (Val::Buffer(b), None) => Arg::Buffer(b.buffer.clone()),
                (Val::Empty, None) => return Err(malformed("an argument of a kernel is missing")),
            });
        }
        let all = device::Steps {
            args: &args,
            carried: &carried,
            numbers: &numbers,
            times,
            far: &far,
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
