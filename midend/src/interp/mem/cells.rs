//! Memory with a shadow: who wrote and who read each element last.

use crate::interp::value::{Meter, Run, internal};
use crate::ir::scalar::Const;
use crate::ir::types::ScalarType;
use crate::value::Data;

/// The stamp of an element that was never written.
const NEVER: u64 = 0;
/// The stamp of what happens outside of kernels.
pub(super) const HOST: u64 = 1;
/// The first stamp of a point.
pub(super) const FIRST_POINT: u64 = 2;

/// Who does something: a point and the first point of its launch.
pub(super) type Stamp = (u64, u64);

/// The elements of a buffer.
#[derive(Debug)]
pub(super) struct Cells {
    data: Data,
    /// The stamp of the last writer.
    written: Vec<u64>,
    /// The stamp of the last reader.
    read: Vec<u64>,
}

impl Default for Cells {
    fn default() -> Self {
        Self {
            data: Data::U8(Vec::new()),
            written: Vec::new(),
            read: Vec::new(),
        }
    }
}

impl Cells {
    /// Elements without values.
    pub(super) fn undefined(elem: ScalarType, len: usize) -> Run<Self> {
        // The meter asks whether there is enough memory; the shadow takes twice eight bytes more per element.
        let meter = Meter::new(None);
        meter.alloc(
            ScalarType::U64,
            &[i64::try_from(len).unwrap_or(i64::MAX), 3],
        )?;
        Ok(Self {
            data: Data::zeros(elem, len),
            written: vec![NEVER; len],
            read: vec![NEVER; len],
        })
    }

    /// Elements with values.
    pub(super) fn defined(data: Data) -> Self {
        Self {
            written: vec![HOST; data.len()],
            read: vec![NEVER; data.len()],
            data,
        }
    }

    /// The first elements, which have all been written.
    pub(super) fn prefix(&self, len: usize) -> Run<Data> {
        if len > self.data.len() {
            return internal(format!("{len} elements are taken of {}", self.data.len()));
        }
        if let Some(i) = self.written[..len].iter().position(|&w| w == NEVER) {
            return internal(format!("element {i} of a result was never written"));
        }
        let mut data = Data::zeros(self.data.elem(), len);
        for i in 0..len {
            data.set(i, self.data.get(i));
        }
        Ok(data)
    }

    /// The number of elements.
    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.data.len()
    }

    fn place(&self, index: i64) -> Run<usize> {
        match usize::try_from(index) {
            Ok(i) if i < self.data.len() => Ok(i),
            Ok(_) | Err(_) => internal(format!(
                "element {index} of a buffer of {} elements is accessed",
                self.data.len()
            )),
        }
    }

    /// Notes that `point` reads an element.
    fn note_read(&mut self, i: usize, point: u64, launch: u64) -> Run<()> {
        let writer = self.written[i];
        if writer >= launch && writer != point && launch != HOST {
            return internal(format!(
                "a point of a kernel reads element {i}, which another one writes"
            ));
        }
        self.read[i] = point;
        Ok(())
    }

    /// Notes that `point` writes an element.
    fn note_write(&mut self, i: usize, point: u64, launch: u64) -> Run<()> {
        let reader = self.read[i];
        if reader >= launch && reader != point && launch != HOST {
            return internal(format!(
                "a point of a kernel writes element {i}, which another one reads"
            ));
        }
        self.written[i] = point;
        Ok(())
    }

    pub(super) fn load(&mut self, index: i64, point: u64, launch: u64) -> Run<Const> {
        let i = self.place(index)?;
        if self.written[i] == NEVER {
            return internal(format!(
                "element {i} of a buffer is read, and was never written"
            ));
        }
        self.note_read(i, point, launch)?;
        Ok(self.data.get(i))
    }

    pub(super) fn store(&mut self, index: i64, value: Const, point: u64, launch: u64) -> Run<()> {
        let i = self.place(index)?;
        if value.ty() != self.data.elem() {
            return internal(format!(
                "a {} is stored to a buffer of {}",
                value.ty(),
                self.data.elem()
            ));
        }
        self.note_write(i, point, launch)?;
        self.data.set(i, value);
        Ok(())
    }

    /// Elements to be copied elsewhere; those that were never written stay undefined there.
    pub(super) fn take(
        &mut self,
        places: &[i64],
        (point, launch): Stamp,
    ) -> Run<Vec<Option<Const>>> {
        let mut values = Vec::with_capacity(places.len());
        for &place in places {
            let i = self.place(place)?;
            self.note_read(i, point, launch)?;
            let defined = self.written[i] != NEVER;
            values.push(defined.then(|| self.data.get(i)));
        }
        Ok(values)
    }

    /// Stores what was taken elsewhere.
    pub(super) fn put(
        &mut self,
        places: &[i64],
        values: Vec<Option<Const>>,
        (point, launch): Stamp,
    ) -> Run<()> {
        for (&place, value) in places.iter().zip(values) {
            match value {
                Some(value) => self.store(place, value, point, launch)?,
                None => {
                    let i = self.place(place)?;
                    self.note_write(i, point, launch)?;
                    self.written[i] = NEVER;
                }
            }
        }
        Ok(())
    }
}

/// The places of a strided box, in row-major order of the box.
pub(super) fn places(shape: &[i64], offset: i64, strides: &[i64]) -> Run<Vec<i64>> {
    if shape.len() != strides.len() {
        return internal("a copy with a wrong number of strides");
    }
    let mut places = vec![offset];
    for (&extent, &stride) in shape.iter().zip(strides) {
        let outer = std::mem::take(&mut places);
        for place in outer {
            places.extend((0..extent).map(|i| place + i * stride));
        }
    }
    Ok(places)
}

/// Whether no place is on both sides.
pub(super) fn check_apart(from: &[i64], to: &[i64]) -> Run<()> {
    let from: std::collections::BTreeSet<i64> = from.iter().copied().collect();
    match to.iter().find(|place| from.contains(place)) {
        Some(place) => internal(format!(
            "a copy inside of one buffer overlaps at element {place}"
        )),
        None => Ok(()),
    }
}
