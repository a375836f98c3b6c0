//! Copies of strided boxes: one move of bytes where both sides are contiguous, else a kernel.

use super::{Buffer, Grid, Machine, PtxDevice};
use crate::copy::CopyKernel;
use midend::device::{Stop, Strided, axes};
use midend::fired::fired;
use midend::trap::RunError;
use std::collections::btree_map::Entry;
use std::sync::{Arc, PoisonError};

/// The most blocks of a kernel.
const BLOCKS: u64 = (1 << 31) - 1;

impl<M: Machine> PtxDevice<M> {
    /// See [`Device::copy`](midend::device::Device::copy).
    pub(super) fn strided(
        &self,
        shape: &[i64],
        dst: Strided<'_, Buffer<M>>,
        src: Strided<'_, Buffer<M>>,
    ) -> Result<(), RunError> {
        if dst.buffer.0.elem != src.buffer.0.elem {
            let text = "a copy between buffers of different kinds";
            return Err(RunError::Device(text.to_owned()));
        }
        if shape.iter().any(|n| *n <= 0) {
            return Ok(());
        }
        dst.check(shape, dst.buffer.0.len)?;
        src.check(shape, src.buffer.0.len)?;
        let bytes = dst.buffer.0.elem.bytes();
        let start = |side: &Strided<'_, Buffer<M>>| {
            let offset = side.offset * bytes as i64;
            side.buffer.0.address.wrapping_add_signed(offset)
        };
        let (to, from) = (start(&dst), start(&src));
        if to == from && dst.strides == src.strides {
            return Ok(());
        }
        let mut axes = axes(shape, dst.strides, src.strides);
        match axes.as_slice() {
            [] => return self.machine().copy(to, from, bytes),
            [all] if all.dst == 1 && all.src == 1 => {
                let len = bytes * all.extent as usize;
                return self.machine().copy(to, from, len);
            }
            [_, ..] => {}
        }
        let copy = CopyKernel::of(&mut axes, bytes);
        fired(copy.described(&axes, to | from));
        let code = self.copier(copy)?;
        let blocks = copy.blocks(&axes).min(BLOCKS) as u32;
        let mut slots = copy.slots(to, from, &axes);
        // A copy takes as long as its memory; nobody needs to stop it.
        self.machine()
            .run(&code, Grid::of(blocks), &mut slots, &Stop::new())
    }

    fn copier(&self, copy: CopyKernel) -> Result<Arc<M::Code>, RunError> {
        let mut copies = self.copies.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(Arc::clone(match copies.entry(copy) {
            Entry::Occupied(there) => there.into_mut(),
            Entry::Vacant(place) => {
                let code = self.machine().load(&copy.module(), &copy.name())?;
                place.insert(Arc::new(code))
            }
        }))
    }
}
