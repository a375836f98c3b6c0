//! What host code tells the outside, and asks of it.

use super::exec::{Frame, Run, Val, buffer, constant, int, ints, malformed};
use super::resolve::{Operand, Streamed, Traced};
use crate::device::Device;
use crate::ir::array::StreamOp;
use crate::ir::id::SpanId;
use crate::ir::scalar::Const;
use crate::stream::Room;
use crate::trap::RunError;
use crate::value::{ArrayValue, Value, elements};

impl<D: Device> Run<'_, D> {
    /// Shows a value, if somebody looks.
    pub(super) fn trace(&self, frame: &Frame<D>, traced: &Traced) -> Result<(), RunError> {
        let Some(tracer) = self.options.tracer else {
            return Ok(());
        };
        let values = self.outside(frame, &traced.values)?;
        tracer.show(&traced.label, &traced.ty, &values);
        Ok(())
    }

    /// Values as the outside gets them.
    fn outside(
        &self,
        frame: &Frame<D>,
        shaped: &[(Operand, Vec<Operand>)],
    ) -> Result<Vec<Value>, RunError> {
        let mut values = Vec::with_capacity(shaped.len());
        for (value, shape) in shaped {
            let array = match *value {
                Operand::Slot(slot) => buffer(frame, slot).ok(),
                Operand::Const(_) | Operand::Last(_) => None,
            };
            values.push(match array {
                Some(array) => {
                    let shape = ints(frame, shape)?;
                    let len = elements(&shape).unwrap_or(0);
                    let data = self.device.download(&array.buffer, len)?;
                    Value::Array(ArrayValue { shape, data })
                }
                None => Value::Scalar(constant(frame, *value)?),
            });
        }
        Ok(values)
    }

    /// A step of a sequence.
    pub(super) fn stream(
        &mut self,
        frame: &mut Frame<D>,
        step: &Streamed,
        span: SpanId,
    ) -> Result<(), RunError> {
        match (step.op, &step.args[..], &step.to[..]) {
            (StreamOp::Next, [(before, _), (left, _)], &[to]) => {
                let (before, left) = (int(frame, *before)?, int(frame, *left)?);
                self.look_ahead();
                // What the last chunk took is known when it is done.
                self.device.synchronise()?;
                let memory = &self.options.memory;
                let room = Room {
                    used: memory.used(),
                    peak: memory.peak(),
                    limit: memory.limit(),
                };
                let streams = &self.options.streams;
                let next = streams.next(step.stream, before, left, &room);
                frame[to] = Val::Scalar(Const::I64(next));
                self.plan_ahead(step.stream, next, left - next);
                Ok(())
            }
            (StreamOp::Read, [(most, _)], to) => {
                let (sizes, values) = self.next_elements(step, int(frame, *most)?, span)?;
                let (scalars, arrays) = to.split_at(sizes.len().min(to.len()));
                for (&to, n) in scalars.iter().zip(sizes) {
                    frame[to] = Val::Scalar(Const::I64(n));
                }
                for (&to, value) in arrays.iter().zip(values) {
                    frame[to] = value;
                }
                Ok(())
            }
            (StreamOp::Write, ..) => {
                self.look_ahead();
                let values = self.outside(frame, &step.args)?;
                self.options.streams.outside()?.write(values)
            }
            (StreamOp::Next | StreamOp::Read, ..) => {
                Err(malformed("a step of a sequence without operands"))
            }
        }
    }
}
