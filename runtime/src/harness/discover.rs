//! Finding programs.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// A path without programs.
#[derive(Debug)]
pub struct DiscoverError {
    path: PathBuf,
    why: io::Error,
}

impl fmt::Display for DiscoverError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cannot read {}: {}", self.path.display(), self.why)
    }
}

impl std::error::Error for DiscoverError {}

/// The files among the paths and the programs (`*.fut`) in the directories among them, however deep, in the order of
/// their names.
pub fn discover(paths: &[PathBuf]) -> Result<Vec<PathBuf>, DiscoverError> {
    let mut found = Vec::new();
    for path in paths {
        let error = |why| DiscoverError {
            path: path.clone(),
            why,
        };
        if std::fs::metadata(path).map_err(error)?.is_dir() {
            walk(path, &mut found).map_err(error)?;
        } else {
            found.push(path.clone());
        }
    }
    let mut seen = std::collections::BTreeSet::new();
    found.retain(|path| seen.insert(path.clone()));
    Ok(found)
}

fn walk(directory: &Path, found: &mut Vec<PathBuf>) -> io::Result<()> {
    let mut entries = std::fs::read_dir(directory)?.collect::<io::Result<Vec<_>>>()?;
    entries.sort_by_key(std::fs::DirEntry::file_name);
    for entry in entries {
        let path = entry.path();
        // Links are not followed into directories, so that a circle of them does not matter.
        if entry.file_type()?.is_dir() {
            walk(&path, found)?;
        } else if path.extension().is_some_and(|e| e == "fut") && path.is_file() {
            found.push(path);
        }
    }
    Ok(())
}
