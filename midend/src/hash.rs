//! Tables with a quick hash. Most keys are dense identifiers, of which the checker, passes and the verifier look up
//! a few for every node of a program. Nothing that is put out depends on the order in such a table.

use rustc_hash::FxBuildHasher;

/// A table.
pub type HashMap<K, V> = std::collections::HashMap<K, V, FxBuildHasher>;
/// A set.
pub type HashSet<K> = std::collections::HashSet<K, FxBuildHasher>;
