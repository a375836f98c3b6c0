//! Tables with a quick hash. Most keys are the dense ids of names, of which the checker looks up a few for every node of a
//! program; what is iterated over to make an output stands in ordered tables.

use rustc_hash::FxBuildHasher;

/// A table.
pub(crate) type HashMap<K, V> = std::collections::HashMap<K, V, FxBuildHasher>;
/// A set.
pub(crate) type HashSet<K> = std::collections::HashSet<K, FxBuildHasher>;
