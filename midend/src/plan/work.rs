//! What a run gives the device to do: kernels and copies, counted by their kinds.

use super::counts::Work;
use super::exec::{Frame, Run, Val, buffer, int, ints, malformed};
use super::resolve::{Operand, Side, Slot};
use crate::device::{Arg, Device, Strided};
use crate::trap::RunError;
use std::sync::Arc;

impl<D: Device> Run<'_, D> {
    /// Copies a box, unless it is where it should be.
    pub(super) fn copy(
        &self,
        frame: &Frame<D>,
        shape: &[Operand],
        dst: &Side,
        src: &Side,
    ) -> Result<(), RunError> {
        let shape = ints(frame, shape)?;
        if shape.iter().any(|&n| n <= 0) {
            return Ok(());
        }
        let (to, from) = (buffer(frame, dst.buffer)?, buffer(frame, src.buffer)?);
        let (to_offset, from_offset) = (int(frame, dst.offset)?, int(frame, src.offset)?);
        let (to_strides, from_strides) = (ints(frame, &dst.strides)?, ints(frame, &src.strides)?);
        let same_layout = to_strides
            .iter()
            .zip(&from_strides)
            .zip(&shape)
            .all(|((a, b), &n)| n == 1 || a == b);
        if Arc::ptr_eq(to, from) && to_offset == from_offset && same_layout {
            return Ok(());
        }
        self.note(Some(Work::Copy));
        let to = Strided {
            buffer: &to.buffer,
            offset: to_offset,
            strides: &to_strides,
        };
        let from = Strided {
            buffer: &from.buffer,
            offset: from_offset,
            strides: &from_strides,
        };
        self.device.copy(&shape, to, from)
    }

    /// Counts a piece of work, if somebody wants to know.
    pub(super) fn note(&self, work: Option<Work>) {
        if let (Some(work), Some(counts)) = (work, self.options.counts) {
            counts.add(work);
        }
    }

    /// Runs a kernel.
    pub(super) fn launch(
        &mut self,
        frame: &Frame<D>,
        (kernel, work): (&str, Option<Work>),
        slots: &[Slot],
    ) -> Result<(), RunError> {
        self.note(work);
        let mut args = std::mem::take(&mut self.args);
        args.clear();
        for &slot in slots {
            args.push(match &frame[slot] {
                Val::Scalar(c) => Arg::Scalar(*c),
                Val::Buffer(b) => Arg::Buffer(b.buffer.clone()),
                Val::Empty => return Err(malformed("an argument of a kernel is missing")),
            });
        }
        let result = self
            .device
            .launch(self.module, kernel, &args, self.options.stop);
        // References must not outlive the launch, else their memory would not be free when it should.
        args.clear();
        self.args = args;
        result
    }
}
