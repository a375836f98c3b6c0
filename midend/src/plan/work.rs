//! What a run gives the device to do: kernels and copies, counted by their kinds.

use super::counts::Work;
use super::exec::{Frame, Run, Val, buffer, int, ints, malformed};
use super::memory::{Asker, Counted, counted};
use super::resolve::{Operand, Side, Slot};
use crate::device::{Arg, Device, Strided};
use crate::ir::id::SpanId;
use crate::ir::types::ScalarType;
use crate::trap::{RunError, check_count};
use std::sync::Arc;

impl<D: Device> Run<'_, D> {
    /// Memory for what is then in this slot.
    pub(super) fn alloc(
        &mut self,
        (slot, span): (Slot, SpanId),
        (elem, len): (ScalarType, usize),
    ) -> Result<Arc<Counted<D::Buffer>>, RunError> {
        if self.part.is_some() {
            return self.part_alloc((slot, span), (elem, len));
        }
        let (device, memory) = (self.device, &self.options.memory);
        let make = || device.alloc(elem, len);
        counted::<D>(memory, Asker::Statement(span), (elem, len), make)
    }

    /// Copies a box, unless it is where it should be.
    pub(super) fn copy(
        &self,
        frame: &Frame<D>,
        shape: &[Operand],
        dst: &Side,
        src: &Side,
    ) -> Result<(), RunError> {
        let mut shape = ints(frame, shape)?;
        let first = self.part.as_ref().map_or(0, |part| part.points.0);
        if let (Some(part), [points, ..]) = (&self.part, &mut shape[..]) {
            *points = part.points.1 - part.points.0;
        }
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
        let start =
            |offset: i64, strides: &[i64]| offset + strides.first().map_or(0, |n| n * first);
        let to = Strided {
            buffer: &to.buffer,
            offset: start(to_offset, &to_strides),
            strides: &to_strides,
        };
        let from = Strided {
            buffer: &from.buffer,
            offset: start(from_offset, &from_strides),
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
        space: &[Operand],
        slots: &[Slot],
    ) -> Result<(), RunError> {
        let mut points = 1i64;
        for &extent in space {
            points = points.saturating_mul(int(frame, extent)?.max(0));
        }
        check_count(points)?;
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
        let (device, stop) = (self.device, self.options.stop);
        let result = match &self.part {
            None => device.launch(self.module, kernel, &args, stop),
            Some(part) => device.launch_part(self.module, kernel, &args, part.points, stop),
        };
        // References must not outlive the launch, else their memory would not be free when it should.
        args.clear();
        self.args = args;
        result
    }
}
