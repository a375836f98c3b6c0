//! Memory that is watched: arrays, each with a shadow.
//!
//! An address names the array that it points into: of global addresses the bits from 40 up, of shared and local ones those
//! from 20 and 16 up. Offsets are relative to the middle of what the other bits can say, so that arrays have no neighbours
//! and an index out of range never hits another one.

use super::fault::{FaultKind, Trouble, trouble};
use super::shadow::{Bad, Cell, Clock, HOST, Intervals, Who};

/// Bits of an offset in a global address.
const GLOBAL_BITS: u32 = 40;
/// The global offset of the first byte.
const MIDDLE: u64 = 1 << (GLOBAL_BITS - 1);
/// Bits of an offset in a shared address.
const SHARED_BITS: u32 = 20;

/// Bytes of the smallest element that there are atomic operations on: memory comes in multiples of it.
const WORD: usize = 4;

/// An array of bytes, with a cell for each element. Atomic operations may touch the rest of the word that it ends in.
#[derive(Clone, Debug, Default)]
pub(super) struct Bank {
    bytes: Vec<u8>,
    /// How many of them the array has.
    len: usize,
    cells: Vec<Cell>,
    /// Which power of two the bytes of an element are.
    shift: u32,
}

impl Bank {
    pub(super) fn new(elem: u32, bytes: usize) -> Self {
        let shift = elem.max(1).trailing_zeros();
        let padded = bytes.checked_next_multiple_of(WORD).unwrap_or(bytes);
        let mut bank = Self {
            bytes: vec![0; padded],
            len: bytes,
            cells: vec![Cell::default(); padded.div_ceil(1 << shift)],
            shift,
        };
        bank.clear();
        bank
    }

    /// Forgets what was written, as at the start of a block.
    pub(super) fn clear(&mut self) {
        let end = self.len.div_ceil(1 << self.shift);
        self.cells[..end].fill(Cell::default());
        self.cells[end..].fill(Cell::DEFINED);
    }
}

/// Who accesses memory, and what it knows of others.
pub(super) struct Access<'a> {
    pub(super) who: Who,
    pub(super) intervals: &'a Intervals,
    pub(super) clocks: [&'a Clock; 2],
    pub(super) lane: u32,
    pub(super) undefined: bool,
}

impl Bank {
    /// Where an access begins, if it is in range and aligned.
    #[inline]
    fn place(&self, offset: u64, bytes: u64, access: &Access<'_>) -> Result<usize, Box<Trouble>> {
        let lane = access.lane;
        let end = if access.who.is_atomic() {
            self.bytes.len()
        } else {
            self.len
        } as u64;
        if offset.wrapping_add(bytes) > end || offset > end {
            return trouble(
                FaultKind::OutOfBounds,
                lane,
                format!(
                    "{bytes} bytes at {} of an array of {} bytes",
                    offset as i64, self.len
                ),
            );
        }
        if offset & (bytes - 1) != 0 {
            return trouble(
                FaultKind::Misaligned,
                lane,
                format!("{bytes} bytes at {offset} of an array"),
            );
        }
        Ok(offset as usize)
    }

    /// Notes a read of `bytes` bytes, and yields where they are.
    #[inline]
    pub(super) fn read(
        &mut self,
        offset: u64,
        bytes: u32,
        access: &Access<'_>,
    ) -> Result<usize, Box<Trouble>> {
        let at = self.place(offset, bytes.into(), access)?;
        let last = (at + bytes as usize - 1) >> self.shift;
        for cell in &mut self.cells[at >> self.shift..=last] {
            access
                .intervals
                .note_read(cell, &access.who, &access.clocks, access.undefined)
                .or_else(|bad| report(bad, offset, access.lane, "read"))?;
        }
        Ok(at)
    }

    /// Notes a write of `bytes` bytes, and yields where they go.
    #[inline]
    pub(super) fn write(
        &mut self,
        offset: u64,
        bytes: u32,
        access: &Access<'_>,
    ) -> Result<usize, Box<Trouble>> {
        let at = self.place(offset, bytes.into(), access)?;
        let last = (at + bytes as usize - 1) >> self.shift;
        for cell in &mut self.cells[at >> self.shift..=last] {
            access
                .intervals
                .note_write(cell, &access.who, &access.clocks)
                .or_else(|bad| report(bad, offset, access.lane, "written"))?;
        }
        Ok(at)
    }

    /// Makes elements undefined, in the hands of whoever wrote them last.
    pub(super) fn forget(&mut self, at: usize, bytes: u32) {
        let last = (at + bytes as usize - 1) >> self.shift;
        for cell in &mut self.cells[at >> self.shift..=last] {
            cell.forget();
        }
    }

    /// The element at a place.
    #[inline]
    pub(super) fn get<const N: usize>(&self, at: usize) -> [u8; N] {
        let mut out = [0; N];
        out.copy_from_slice(&self.bytes[at..at + N]);
        out
    }

    /// Changes the element at a place.
    #[inline]
    pub(super) fn set<const N: usize>(&mut self, at: usize, value: [u8; N]) {
        self.bytes[at..at + N].copy_from_slice(&value);
    }
}

fn report(bad: Bad, offset: u64, lane: u32, how: &str) -> Result<(), Box<Trouble>> {
    match bad {
        Bad::Undefined => trouble(
            FaultKind::Undefined,
            lane,
            format!("byte {offset} of an array was never written"),
        ),
        Bad::RaceWithWrite { thread, block } => trouble(
            FaultKind::Race,
            lane,
            format!(
                "byte {offset} of an array is {how}, and written by thread {thread} of block {block}"
            ),
        ),
        Bad::RaceWithRead { thread, block } => trouble(
            FaultKind::Race,
            lane,
            format!(
                "byte {offset} of an array is {how}, and read by thread {thread} of block {block}"
            ),
        ),
    }
}

/// The array and the offset that a shared address means.
#[inline]
pub(super) const fn shared(address: u32) -> (usize, u64) {
    let offset = (address & ((1 << SHARED_BITS) - 1)).wrapping_sub(1 << (SHARED_BITS - 1));
    (
        (address >> SHARED_BITS) as usize,
        offset as i32 as i64 as u64,
    )
}

/// The address of a shared array.
pub(super) const fn shared_address(bank: u32) -> u32 {
    (bank << SHARED_BITS) | 1 << (SHARED_BITS - 1)
}

/// The memory of the device.
#[derive(Debug, Default)]
pub struct Memory {
    banks: Vec<Option<Bank>>,
    free: Vec<usize>,
    /// Bytes of this machine that all arrays take, with their shadows.
    held: u64,
    /// The first interval of the next launch.
    pub(super) next: u32,
}

impl Memory {
    /// No memory yet.
    pub fn new() -> Self {
        Self {
            banks: Vec::new(),
            free: Vec::new(),
            held: 0,
            next: HOST + 1,
        }
    }

    /// The address of a new array of `len` elements of `elem` bytes each, a power of two, without values.
    pub fn alloc(&mut self, elem: u32, len: usize) -> u64 {
        self.held += Self::cost(elem, len);
        let bank = Bank::new(elem, len.saturating_mul(elem as usize));
        let place = self.free.pop().unwrap_or_else(|| {
            self.banks.push(None);
            self.banks.len() - 1
        });
        self.banks[place] = Some(bank);
        (place as u64 + 1) << GLOBAL_BITS | MIDDLE
    }

    /// Gives an array back.
    pub fn free(&mut self, address: u64) {
        let (place, _) = split(address);
        if let Some(bank) = self.banks.get_mut(place).and_then(Option::take) {
            self.held -= Self::cost(1 << bank.shift, bank.len >> bank.shift);
            self.free.push(place);
        }
    }

    /// Bytes of this machine that an array takes: every element has a shadow.
    pub fn cost(elem: u32, len: usize) -> u64 {
        (len as u64).saturating_mul(u64::from(elem) + size_of::<Cell>() as u64)
    }

    /// Bytes of this machine that all arrays take.
    pub const fn held(&self) -> u64 {
        self.held
    }

    /// Writes from outside. Nothing, if the array is too short.
    pub fn write(&mut self, address: u64, bytes: &[u8]) -> Option<()> {
        let (place, offset) = split(address);
        let bank = self.banks.get_mut(place)?.as_mut()?;
        let end = offset.checked_add(bytes.len() as u64)?;
        let range = usize::try_from(offset).ok()?..usize::try_from(end).ok()?;
        let all = bank.bytes.get_mut(..bank.len)?;
        all.get_mut(range.clone())?.copy_from_slice(bytes);
        if !range.is_empty() {
            let last = (range.end - 1) >> bank.shift;
            bank.cells[range.start >> bank.shift..=last].fill(Cell::DEFINED);
        }
        Some(())
    }

    /// Reads from outside, defined or not. Nothing, if the array is too short.
    pub fn read(&self, address: u64, len: usize) -> Option<&[u8]> {
        let (place, offset) = split(address);
        let bank = self.banks.get(place)?.as_ref()?;
        let start = usize::try_from(offset).ok()?;
        bank.bytes[..bank.len].get(start..start.checked_add(len)?)
    }

    /// A copy of a whole array with what is known of it, to be put back by [`Memory::restore`].
    pub fn snapshot(&self, address: u64) -> Option<Snapshot> {
        let (place, _) = split(address);
        Some(Snapshot {
            place,
            bank: self.banks.get(place)?.clone()?,
        })
    }

    /// Puts an array back as it was.
    pub fn restore(&mut self, snapshot: Snapshot) {
        self.banks[snapshot.place] = Some(snapshot.bank);
    }

    /// Copies whole elements of two arrays of one type from outside; what is undefined stays so. Nothing, if an array is too
    /// short.
    pub fn copy(&mut self, to: u64, from: u64, bytes: usize) -> Option<()> {
        if bytes == 0 {
            return Some(());
        }
        let cells = |bank: &Bank, offset: u64| {
            let start = usize::try_from(offset).ok()?;
            let end = start.checked_add(bytes)?;
            (end <= bank.len).then_some((
                start..end,
                start >> bank.shift..((end - 1) >> bank.shift) + 1,
            ))
        };
        let (source, offset) = split(from);
        let bank = self.banks.get(source)?.as_ref()?;
        let (range, shadow) = cells(bank, offset)?;
        let values = bank.bytes[range].to_vec();
        let defined: Vec<bool> = bank.cells[shadow]
            .iter()
            .map(|cell| cell.written_ever())
            .collect();
        let (target, offset) = split(to);
        let bank = self.banks.get_mut(target)?.as_mut()?;
        let (range, shadow) = cells(bank, offset)?;
        bank.bytes[range].copy_from_slice(&values);
        for (cell, defined) in bank.cells[shadow].iter_mut().zip(defined) {
            *cell = if defined {
                Cell::DEFINED
            } else {
                Cell::default()
            };
        }
        Some(())
    }

    /// The array and the offset that an address means.
    #[inline]
    pub(super) fn bank(
        &mut self,
        address: u64,
        lane: u32,
    ) -> Result<(&mut Bank, u64), Box<Trouble>> {
        let (place, offset) = split(address);
        match self.banks.get_mut(place) {
            Some(Some(bank)) => Ok((bank, offset)),
            Some(None) | None => trouble(
                FaultKind::OutOfBounds,
                lane,
                format!("the address {address:#x} is in no array"),
            ),
        }
    }
}

/// An array as it was.
#[derive(Debug)]
pub struct Snapshot {
    place: usize,
    bank: Bank,
}

/// The place of the array, and the offset; far out of range for an address that is in none.
#[inline]
const fn split(address: u64) -> (usize, u64) {
    let offset = (address & ((1 << GLOBAL_BITS) - 1)).wrapping_sub(MIDDLE);
    (((address >> GLOBAL_BITS) as usize).wrapping_sub(1), offset)
}
