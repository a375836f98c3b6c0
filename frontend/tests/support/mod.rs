//! What several suites need.

use std::path::{Path, PathBuf};

/// The source programs below a directory, if there is one.
pub(crate) fn programs(directory: &Path, found: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(directory) else {
        return;
    };
    for entry in entries.flatten() {
        let path = entry.path();
        if path.is_dir() {
            programs(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "fut") {
            found.push(path);
        }
    }
}
