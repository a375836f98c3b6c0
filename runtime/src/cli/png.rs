//! Results as PNG files.

use crate::picture::picture;
use midend::value::Value;
use std::fs::File;
use std::io::BufWriter;
use std::path::Path;

/// Writes the picture that a result is as a PNG file.
pub(super) fn write(results: &[Value], path: &Path) -> Result<(), String> {
    let picture = picture(results)?;
    let cannot = |why: &dyn std::fmt::Display| format!("cannot write {}: {why}", path.display());
    let file = File::create(path).map_err(|e| cannot(&e))?;
    picture
        .write_png(BufWriter::new(file))
        .map_err(|e| cannot(&e))
}
