//! Checks that failed in kernels: a record in the memory of the device, which the host reads when it waits anyway.
//!
//! The first word of the record is 0, or the number of the launch that failed (high half) and of the check (low half); values
//! for its message follow. A kernel that finds the failure of an earlier launch does nothing, so that nothing is computed
//! from what was never written, and the first failure stays.

use super::machine::{Machine, Place};
use crate::lower::{EXHAUSTED, Site, SitePart, VALUES};
use midend::interp::message::number;
use midend::ir::scalar::Const;
use midend::ir::span::Spans;
use midend::ir::types::ScalarType;
use midend::trap::{RunError, Trap, trail};
use midend::value::Data;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Counters that launches find at zero and leave at zero.
pub(super) const COUNTERS: usize = 256;

/// Bytes that lie ready for words with tags.
const TAGGED: usize = 1 << 19;
/// After so many launches there are zeros again, so that no tag comes twice: a tag is the lower 24 bits of a launch's number.
const LIFE: u32 = 1 << 23;

/// Words of the record.
const WORDS: usize = 1 + VALUES;

/// The checks of a program.
#[derive(Debug)]
pub(super) struct Sites {
    pub(super) sites: Vec<Site>,
    pub(super) spans: Spans,
}

/// What a launch came to.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// No check failed.
    Fine,
    /// A thread asked for so many bytes in vain.
    Exhausted(u64),
}

/// The record, and the launches that may write it.
#[derive(Debug)]
pub(super) struct Failures {
    /// Its address.
    pub(super) record: u64,
    /// The address of [`COUNTERS`] counters, which a launch that failed may have left as they were.
    pub(super) counters: u64,
    launches: Mutex<Launches>,
    tags: Mutex<Option<Tags>>,
}

/// Memory that holds zeros, or words with tags of launches.
#[derive(Clone, Copy, Debug)]
struct Tags {
    address: u64,
    /// The last launch before all were zeros.
    zeros: u32,
}

#[derive(Debug, Default)]
struct Launches {
    /// The number of the last one.
    last: u32,
    /// The checks of programs launched since the host looked, with the first launch of each.
    pending: Vec<(u32, Arc<Sites>)>,
}

impl Failures {
    /// A record on the machine.
    pub(super) fn new(machine: &impl Machine) -> Result<Self, RunError> {
        let record = machine.alloc(ScalarType::U64, WORDS)?;
        let counters = machine.alloc(ScalarType::U32, COUNTERS)?;
        let new = Self {
            record,
            counters,
            launches: Mutex::default(),
            tags: Mutex::default(),
        };
        new.clear(machine)?;
        Ok(new)
    }

    /// No check has failed, and nothing is counted.
    fn clear(&self, machine: &impl Machine) -> Result<(), RunError> {
        self.clear_counters(machine)?;
        machine.zero(self.record, 8 * WORDS)
    }

    /// Nothing is counted.
    pub(super) fn clear_counters(&self, machine: &impl Machine) -> Result<(), RunError> {
        machine.zero(self.counters, 4 * COUNTERS)
    }

    /// The address of so many bytes for words with tags of the next launch, if they are not too many. Launches follow one another, so
    /// that all have the same.
    pub(super) fn tagged(
        &self,
        machine: &impl Machine,
        bytes: usize,
    ) -> Result<Option<u64>, RunError> {
        if bytes > TAGGED {
            return Ok(None);
        }
        let last = self.launches().last;
        let mut tags = self.tags.lock().unwrap_or_else(PoisonError::into_inner);
        let address = match *tags {
            Some(tags) if last.wrapping_sub(tags.zeros) < LIFE => return Ok(Some(tags.address)),
            Some(tags) => tags.address,
            None => match machine.alloc(ScalarType::U8, TAGGED) {
                Ok(address) => address,
                // Whoever has so little may have enough for a few.
                Err(RunError::OutOfMemory { .. }) => return Ok(None),
                Err(other) => return Err(other),
            },
        };
        machine.zero(address, TAGGED)?;
        *tags = Some(Tags {
            address,
            zeros: last,
        });
        Ok(Some(address))
    }

    /// The number for a launch of a kernel of a program, as in the high half of the record's first word.
    pub(super) fn announce(&self, sites: &Arc<Sites>) -> u64 {
        let mut launches = self.launches();
        launches.last = launches.last.wrapping_add(1).max(1);
        let number = launches.last;
        let known = launches.pending.last();
        if known.is_none_or(|(_, last)| !Arc::ptr_eq(last, sites)) {
            launches.pending.push((number, Arc::clone(sites)));
        }
        u64::from(number) << 32
    }

    /// Waits, and reports the first failure since the last call.
    pub(super) fn settle(&self, machine: &impl Machine) -> Result<Verdict, RunError> {
        let mut launches = self.launches();
        if launches.pending.is_empty() {
            machine.wait()?;
            return Ok(Verdict::Fine);
        }
        let [first] = machine.read([self.words(1)])?;
        self.verdict(&mut launches, machine, &first)
    }

    /// Waits, reports the first failure since the last call, and reads elements, which mean nothing if there was one.
    pub(super) fn read(&self, machine: &impl Machine, place: Place) -> Result<Data, RunError> {
        let mut launches = self.launches();
        if launches.pending.is_empty() {
            let [data] = machine.read([place])?;
            return Ok(data);
        }
        let [first, data] = machine.read([self.words(1), place])?;
        self.verdict(&mut launches, machine, &first)?;
        Ok(data)
    }

    fn launches(&self) -> MutexGuard<'_, Launches> {
        self.launches.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// So many words of the record.
    const fn words(&self, len: usize) -> Place {
        Place {
            address: self.record,
            elem: ScalarType::U64,
            len,
        }
    }

    /// What the first word of the record says of the launches until now.
    fn verdict(
        &self,
        launches: &mut Launches,
        machine: &impl Machine,
        first: &Data,
    ) -> Result<Verdict, RunError> {
        let pending = std::mem::take(&mut launches.pending);
        let first = first.get(0).to_slot();
        if first == 0 {
            return Ok(Verdict::Fine);
        }
        let [words] = machine.read([self.words(WORDS)])?;
        let words: Vec<u64> = (0..WORDS).map(|i| words.get(i).to_slot()).collect();
        self.clear(machine)?;
        let (launch, check) = ((first >> 32) as u32, first as u32);
        if check == EXHAUSTED {
            return Ok(Verdict::Exhausted(words[1]));
        }
        let earlier = pending.iter().rev().find(|(from, _)| *from <= launch);
        let known = earlier.or(pending.first());
        Err(known
            .and_then(|(_, sites)| sites.error(check, &words[1..]))
            .unwrap_or_else(|| RunError::Internal(format!("there is no check {check}"))))
    }
}

impl Sites {
    /// The error of a check, with its values.
    fn error(&self, check: u32, words: &[u64]) -> Option<RunError> {
        let site = self.sites.get((check as usize).checked_sub(1)?)?;
        let mut words = words.iter();
        let mut message = String::new();
        for part in &site.parts {
            match part {
                SitePart::Text(text) => message.push_str(text),
                SitePart::Value(ty) => {
                    if let Some(word) = words.next() {
                        message.push_str(&number(Const::from_slot(*ty, *word)));
                    }
                }
            }
        }
        Some(RunError::Trap(Trap {
            kind: site.kind,
            message,
            trail: trail(&self.spans, site.span),
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::emulated::{Emulator, Options};

    #[test]
    fn words_with_tags_stay_until_tags_could_come_again() {
        let machine = Emulator::new(Options::default());
        let failures = Failures::new(&machine).expect("there is memory");
        let tagged = |bytes| failures.tagged(&machine, bytes).expect("there is memory");
        assert_eq!(tagged(TAGGED + 1), None);
        let address = tagged(8).expect("few are always there");
        let place = Place {
            address,
            elem: ScalarType::U64,
            len: 1,
        };
        let launch = |number| {
            failures.launches().last = number;
            assert_eq!(tagged(TAGGED), Some(address));
            let [word] = machine.read([place]).expect("it is there");
            word
        };
        let word = Data::U64(vec![1 << 40 | 5]);
        machine.write(address, &word).expect("it is there");
        assert_eq!(launch(LIFE - 1), word);
        assert_eq!(launch(LIFE), Data::U64(vec![0]));
        machine.write(address, &word).expect("it is there");
        assert_eq!(launch(LIFE + 1), word);
    }
}
