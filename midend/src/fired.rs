//! Counts how often each rule of the passes is used, for campaigns of tests that must know whether they reach all of them.
//!
//! A pass calls [`fired`] where it uses a rule; unless somebody counts on the same thread, nothing comes of it.

use std::cell::RefCell;
use std::collections::BTreeMap;

/// How often rules were used, by `pass/rule`.
pub type Counts = BTreeMap<&'static str, u64>;

thread_local! {
    static COUNTS: RefCell<Option<Counts>> = const { RefCell::new(None) };
}

/// A rule was used.
pub fn fired(rule: &'static str) {
    COUNTS.with_borrow_mut(|counts| {
        if let Some(counts) = counts {
            *counts.entry(rule).or_default() += 1;
        }
    });
}

/// Rules were used on another thread.
pub fn add(more: &Counts) {
    COUNTS.with_borrow_mut(|counts| {
        for (rule, count) in more {
            if let Some(counts) = counts {
                *counts.entry(rule).or_default() += count;
            }
        }
    });
}

/// What `f` computes, and which rules were used meanwhile on this thread.
pub fn counted<R>(f: impl FnOnce() -> R) -> (R, Counts) {
    let before = COUNTS.replace(Some(Counts::new()));
    let result = f();
    let counts = COUNTS.replace(before).unwrap_or_default();
    (result, counts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_happens_meanwhile_counts() {
        fired("a");
        let ((), counts) = counted(|| {
            fired("a");
            fired("b");
            fired("a");
        });
        assert_eq!(counts, Counts::from([("a", 2), ("b", 1)]));
        assert!(counted(|| {}).1.is_empty());
        let ((), counts) = counted(|| add(&counts));
        assert_eq!(counts, Counts::from([("a", 2), ("b", 1)]));
    }
}
