//! A table that forgets what was added in a scope.

use crate::hash::HashMap;
use std::hash::Hash;

/// A table with marks to go back to.
pub(super) struct Scoped<K, V> {
    map: HashMap<K, V>,
    log: Vec<(K, Option<V>)>,
}

impl<K, V> Default for Scoped<K, V> {
    fn default() -> Self {
        Self {
            map: HashMap::default(),
            log: Vec::new(),
        }
    }
}

impl<K: Clone + Eq + Hash, V> Scoped<K, V> {
    /// The value of the key.
    pub(super) fn get(&self, key: &K) -> Option<&V> {
        self.map.get(key)
    }

    /// Gives the key a value.
    pub(super) fn insert(&mut self, key: K, value: V) {
        let old = self.map.insert(key.clone(), value);
        self.log.push((key, old));
    }

    /// How much was added so far.
    pub(super) fn mark(&self) -> usize {
        self.log.len()
    }

    /// Forgets what was added since.
    pub(super) fn undo(&mut self, mark: usize) {
        while self.log.len() > mark {
            match self.log.pop() {
                Some((key, Some(old))) => drop(self.map.insert(key, old)),
                Some((key, None)) => drop(self.map.remove(&key)),
                None => return,
            }
        }
    }
}
