//! Values that stay on a device from one call to the next.

use super::memory::{Asker, Counted, Memory, counted};
use crate::device::{Device, Strided};
use crate::ir::scalar::Const;
use crate::ir::types::ScalarType;
use crate::trap::RunError;
use crate::value::entry::Argument;
use crate::value::{ArrayValue, Value, elements};
use std::sync::Arc;

/// An argument or a result whose elements are in the memory of a device. Clones share them; with the last one they are freed.
#[derive(Debug)]
pub struct Resident<B>(pub(super) Form<B>);

#[derive(Debug)]
pub(super) enum Form<B> {
    Scalar(Const),
    Array(Vec<i64>, Arc<Counted<B>>),
}

impl<B> Clone for Resident<B> {
    fn clone(&self) -> Self {
        Self(match &self.0 {
            Form::Scalar(c) => Form::Scalar(*c),
            Form::Array(shape, memory) => Form::Array(shape.clone(), Arc::clone(memory)),
        })
    }
}

impl<B> Argument for Resident<B> {
    fn elem(&self) -> ScalarType {
        match &self.0 {
            Form::Scalar(c) => c.ty(),
            Form::Array(_, memory) => memory.elem,
        }
    }
    fn shape(&self) -> &[i64] {
        match &self.0 {
            Form::Scalar(_) => &[],
            Form::Array(shape, _) => shape,
        }
    }
    fn scalar(&self) -> Option<Const> {
        match &self.0 {
            Form::Scalar(c) => Some(*c),
            Form::Array(..) => None,
        }
    }
    /// A device gave it the elements that its shape asks for.
    fn elements(&self) -> Option<usize> {
        None
    }
}

impl<B> Resident<B> {
    /// Brings a value to a device, whose memory is counted by `memory`.
    pub fn put<D: Device<Buffer = B>>(
        device: &D,
        value: Value,
        memory: &Arc<Memory>,
    ) -> Result<Self, RunError> {
        Ok(Self(match value {
            Value::Scalar(c) => Form::Scalar(c),
            Value::Array(ArrayValue { shape, data }) => {
                let size = (data.elem(), data.len());
                let upload = || device.upload(data);
                Form::Array(shape, counted::<D>(memory, Asker::Caller, size, upload)?)
            }
        }))
    }

    /// An array whose elements are in memory of a device already, which is counted by `memory`. Nothing is written to what is read-only:
    /// whatever consumes it gets a copy.
    pub fn adopt<D: Device<Buffer = B>>(
        shape: Vec<i64>,
        (elem, buffer): (ScalarType, B),
        is_read_only: bool,
        memory: &Arc<Memory>,
    ) -> Result<Self, RunError> {
        let size = (elem, count(&shape));
        let mut adopted = counted::<D>(memory, Asker::Caller, size, || Ok(buffer))?;
        if let Some(adopted) = Arc::get_mut(&mut adopted) {
            adopted.is_read_only = is_read_only;
        }
        Ok(Self(Form::Array(shape, adopted)))
    }

    /// The memory of an array.
    pub fn buffer(&self) -> Option<&B> {
        match &self.0 {
            Form::Scalar(_) => None,
            Form::Array(_, memory) => Some(&memory.buffer),
        }
    }

    /// Brings the value from the device where it is. Where nothing else refers to its memory, that may be handed over.
    pub fn get<D: Device<Buffer = B>>(self, device: &D) -> Result<Value, RunError> {
        Ok(match self.0 {
            Form::Scalar(c) => Value::Scalar(c),
            Form::Array(shape, memory) => {
                let len = count(&shape);
                let data = match Arc::try_unwrap(memory) {
                    Ok(last) => device.hand_over(last.buffer, len)?,
                    Err(shared) => device.download(&shared.buffer, len)?,
                };
                Value::Array(ArrayValue { shape, data })
            }
        })
    }

    /// The same value in memory that nothing else refers to, and that may be written to: a copy, unless this is such already.
    pub fn own<D: Device<Buffer = B>>(
        self,
        device: &D,
        memory: &Arc<Memory>,
    ) -> Result<Self, RunError> {
        let (shape, shared) = match self.0 {
            Form::Array(shape, shared) if Arc::strong_count(&shared) > 1 || shared.is_read_only => {
                (shape, shared)
            }
            form @ (Form::Scalar(_) | Form::Array(..)) => return Ok(Self(form)),
        };
        let size = (shared.elem, count(&shape));
        let own = counted::<D>(memory, Asker::Caller, size, || {
            let buffer = device.alloc(size.0, size.1)?;
            let all = |buffer| Strided {
                buffer,
                offset: 0,
                strides: &[1],
            };
            let extent = i64::try_from(size.1).unwrap_or(i64::MAX);
            device.copy(&[extent], all(&buffer), all(&shared.buffer))?;
            Ok(buffer)
        })?;
        Ok(Self(Form::Array(shape, own)))
    }
}

fn count(shape: &[i64]) -> usize {
    elements(shape).unwrap_or(0)
}
