//! Where the user's own files are, by the XDG Base Directory Specification.

use std::path::PathBuf;

/// Files that the user would miss.
pub(crate) fn data() -> Option<PathBuf> {
    directory("XDG_DATA_HOME", ".local/share")
}

/// Files that can be made again.
pub(crate) fn cache() -> Option<PathBuf> {
    directory("XDG_CACHE_HOME", ".cache")
}

/// The directory `arrc` in what a variable names, or else below the home directory; nothing if neither is an absolute path.
fn directory(variable: &str, otherwise: &str) -> Option<PathBuf> {
    let named = |name| {
        std::env::var_os(name)
            .map(PathBuf::from)
            .filter(|path| path.is_absolute())
    };
    let base = named(variable).or_else(|| Some(named("HOME")?.join(otherwise)))?;
    Some(base.join("arrc"))
}
