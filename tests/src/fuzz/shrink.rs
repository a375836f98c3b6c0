//! Makes a finding small: pieces are cut out for as long as it is still found.

use std::time::{Duration, Instant};

/// A finding that takes long to shrink is better seen large than not at all.
const PATIENCE: Duration = Duration::from_secs(20);

/// The bytes without what the finding does not need: whole lines first, then ever smaller pieces.
pub(super) fn shrink(mut bytes: Vec<u8>, found: &dyn Fn(&[u8]) -> bool) -> Vec<u8> {
    let start = Instant::now();
    let mut size = bytes.len() / 2;
    while size > 0 {
        let mut at = 0;
        while at < bytes.len() && start.elapsed() < PATIENCE {
            let mut fewer = bytes[..at].to_vec();
            fewer.extend_from_slice(&bytes[(at + size).min(bytes.len())..]);
            if found(&fewer) {
                bytes = fewer;
            } else {
                at += size;
            }
        }
        size /= 2;
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_needed_stays() {
        let found = |bytes: &[u8]| bytes.contains(&b'x') && bytes.contains(&b'y');
        let bytes = shrink(b"aaaaxbbbbbbbbbbbyccccccccc".to_vec(), &found);
        assert_eq!(bytes, b"xy");
    }
}
