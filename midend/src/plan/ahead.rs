//! Elements of sequences that are brought to the device while it works on those before them (*Streaming Irregular Arrays*, section 5).
//!
//! A device that works while the host goes on has the time of a chunk for the transfer of the next one. Each time the host is about to
//! wait for it, elements of the next chunk are gathered as long as it is busy; once all of them are there, they are uploaded beside its work.
//! That takes a chunk whose size is known one chunk before ([`crate::stream::Schedule::following`]), and elements that can be had without waiting
//! for longer than the device works ([`crate::stream::Outside::gather`]): what comes late holds up no results and no errors.

use super::exec::{Run, Val, malformed};
use super::memory::{Asker, counted};
use super::resolve::Streamed;
use crate::device::Device;
use crate::ir::id::SpanId;
use crate::ir::types::ScalarType;
use crate::stream::read_sizes;
use crate::trap::RunError;
use crate::value::Value;

/// What is known of the next chunks of the loops that are being gone through, and what of them is there.
#[derive(Debug)]
pub(super) struct Ahead<B> {
    /// The chunk that was asked for last.
    last: Option<Chunk>,
    wanted: Vec<Wanted>,
    there: Vec<Found<B>>,
}

impl<B> Default for Ahead<B> {
    fn default() -> Self {
        Self {
            last: None,
            wanted: Vec::new(),
            there: Vec::new(),
        }
    }
}

/// A chunk of a loop, and how long the one after it is.
#[derive(Clone, Copy, Debug)]
struct Chunk {
    looped: u32,
    len: i64,
    following: i64,
}

/// Elements of a sequence that will be read.
#[derive(Clone, Copy, Debug)]
struct Wanted {
    looped: u32,
    stream: u32,
    most: i64,
    span: SpanId,
}

/// Elements of a sequence that were read.
#[derive(Debug)]
struct Found<B> {
    stream: u32,
    most: i64,
    elements: Result<Elements<B>, RunError>,
}

/// What a read gives: the values of sizes, and arrays on the device.
type Read<B> = (Vec<i64>, Vec<Val<B>>);

/// Where elements are.
#[derive(Debug)]
enum Elements<B> {
    /// On the device, or soon: the values' shapes, and their memory.
    There(Vec<Vec<i64>>, Vec<Val<B>>),
    /// There is no room on the device yet.
    Here(Vec<Value>),
}

fn shapes_of(values: &[Value]) -> Vec<Vec<i64>> {
    values.iter().map(|value| value.shape().to_vec()).collect()
}

impl<D: Device> Run<'_, D> {
    /// Notes that a chunk of so many elements begins, with so many left after it.
    pub(super) fn plan_ahead(&mut self, looped: u32, len: i64, left: i64) {
        self.ahead.wanted.retain(|wanted| wanted.looped != looped);
        self.ahead.last = None;
        if self.options.streams.has_outside() && self.device.is_busy().is_some() {
            let following = self.options.streams.following(looped, left);
            self.ahead.last = following.map(|following| Chunk {
                looped,
                len,
                following,
            });
        }
    }

    /// The elements of a chunk.
    pub(super) fn next_elements(
        &mut self,
        step: &Streamed,
        most: i64,
        span: SpanId,
    ) -> Result<Read<D::Buffer>, RunError> {
        let stream = step.stream;
        let found = self.ahead.there.iter().position(|f| f.stream == stream);
        let elements = match found.map(|at| self.ahead.there.swap_remove(at)) {
            None => Elements::Here(self.options.streams.outside()?.read(stream, most)?),
            Some(found) if found.most == most => found.elements?,
            Some(_) => return Err(malformed("a chunk of another size than was said")),
        };
        if let Some(chunk) = self.ahead.last.filter(|chunk| chunk.len == most) {
            self.ahead.wanted.push(Wanted {
                looped: chunk.looped,
                stream,
                most: chunk.following,
                span,
            });
        }
        let (shapes, values) = match elements {
            Elements::There(shapes, values) => {
                self.device.arrive()?;
                (shapes, values)
            }
            Elements::Here(values) => {
                let shapes = shapes_of(&values);
                let values = values.into_iter().map(|value| self.brought_in(value, span));
                (shapes, values.collect::<Result<_, _>>()?)
            }
        };
        let sizes = read_sizes(|array| shapes.get(array).map(Vec::as_slice), &step.sizes);
        let sizes = sizes.ok_or_else(|| malformed("sizes that are not read"))?;
        Ok((sizes, values))
    }

    /// Before the host waits for the device: brings it what it will be given next.
    pub(super) fn look_ahead(&mut self) {
        if self.ahead.wanted.is_empty() {
            return;
        }
        let Ok(outside) = self.options.streams.outside() else {
            return;
        };
        for wanted in std::mem::take(&mut self.ahead.wanted) {
            let Wanted { stream, most, .. } = wanted;
            let busy = || self.device.is_busy() == Some(true) && !self.options.stop.is_raised();
            if outside.gather(stream, most, &busy) {
                let read = outside.read(stream, most);
                let elements = read.and_then(|values| self.send_ahead(values, wanted.span));
                self.ahead.there.push(Found {
                    stream,
                    most,
                    elements,
                });
            } else {
                self.ahead.wanted.push(wanted);
            }
        }
    }

    /// Uploads values beside the work of the device, if there is room for them.
    fn send_ahead(
        &self,
        values: Vec<Value>,
        span: SpanId,
    ) -> Result<Elements<D::Buffer>, RunError> {
        let mut sent = Vec::with_capacity(values.len());
        for value in &values {
            let held = match value {
                Value::Scalar(c) => Ok(Val::Scalar(*c)),
                Value::Array(array) => {
                    let extent = (array.data.elem(), array.data.len());
                    self.hold(extent, span, || self.device.upload_ahead(&array.data))
                }
            };
            match held {
                Ok(value) => sent.push(value),
                Err(why) => {
                    // What was sent is given up behind its transfer.
                    self.device.arrive()?;
                    return match why {
                        RunError::OutOfMemory { .. } => Ok(Elements::Here(values)),
                        RunError::Trap(_)
                        | RunError::Interrupted
                        | RunError::OutOfFuel
                        | RunError::BadArguments(_)
                        | RunError::Device(_)
                        | RunError::Internal(_) => Err(why),
                    };
                }
            }
        }
        Ok(Elements::There(shapes_of(&values), sent))
    }

    /// A value from outside, on the device.
    fn brought_in(&self, value: Value, span: SpanId) -> Result<Val<D::Buffer>, RunError> {
        match value {
            Value::Scalar(c) => Ok(Val::Scalar(c)),
            Value::Array(array) => {
                let (elem, len) = (array.data.elem(), array.data.len());
                self.hold((elem, len), span, || self.device.upload(array.data))
            }
        }
    }

    /// Memory for elements from outside, counted.
    fn hold(
        &self,
        extent: (ScalarType, usize),
        span: SpanId,
        make: impl FnOnce() -> Result<D::Buffer, RunError>,
    ) -> Result<Val<D::Buffer>, RunError> {
        let memory = &self.options.memory;
        counted::<D>(memory, Asker::Statement(span), extent, make).map(Val::Buffer)
    }

    /// Gives up what nobody has read; what is on its way is waited for by all that comes after.
    pub(super) fn drop_ahead(&mut self) -> Result<(), RunError> {
        if self.ahead.there.is_empty() {
            return Ok(());
        }
        let arrived = self.device.arrive();
        self.ahead = Ahead::default();
        arrived
    }
}
