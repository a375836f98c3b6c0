//! The failure record of a launch: a word that the first check to fail claims with its number, and the values of its
//! message behind it, 8 bytes each.

use crate::bits::const_of;
use crate::lower::{EXHAUSTED, Site, SitePart, VALUES};
use midend::interp::message::number;
use midend::ir::span::Spans;
use midend::ir::types::ScalarType;
use midend::trap::{RunError, Trap, trail};

/// Bytes of the record; all zeros before a launch.
pub(crate) const FAILURE_BYTES: usize = 8 * (1 + VALUES);

/// What a record says of a launch that did not fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// All went well.
    Fine,
    /// A thread asked for so many bytes of its share of the arena in vain: what the launch did does not count.
    Exhausted {
        /// The bytes.
        asked: u64,
    },
}

/// Reads a record; the failure of a check of the program is an error.
pub(crate) fn verdict(record: &[u8], sites: &[Site], spans: &Spans) -> Result<Verdict, RunError> {
    let mut words = record.chunks_exact(8).map(|word| {
        let mut bytes = [0; 8];
        bytes.copy_from_slice(word);
        u64::from_le_bytes(bytes)
    });
    let failed = words.next().unwrap_or(0) as u32;
    if failed == 0 {
        return Ok(Verdict::Fine);
    }
    if failed == EXHAUSTED {
        let asked = words.next().unwrap_or(0);
        return Ok(Verdict::Exhausted { asked });
    }
    let Some(site) = sites.get(failed as usize - 1) else {
        return Err(RunError::Internal(format!("there is no check {failed}")));
    };
    Err(RunError::Trap(Trap {
        kind: site.kind,
        message: message(site, words),
        trail: trail(spans, site.span),
    }))
}

fn message(site: &Site, mut words: impl Iterator<Item = u64>) -> String {
    let value = |ty: ScalarType, word: u64| number(const_of(ty, &word.to_le_bytes()));
    let mut message = String::new();
    for part in &site.parts {
        match part {
            SitePart::Text(text) => message.push_str(text),
            SitePart::Value(ty) => {
                if let Some(word) = words.next() {
                    message.push_str(&value(*ty, word));
                }
            }
        }
    }
    message
}
