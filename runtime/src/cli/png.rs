//! Results as PNG files.

use crate::picture::picture;
use midend::value::Value;
use png::{BitDepth, ColorType, Encoder};
use std::fs::File;
use std::io::BufWriter;
use std::path::Path;

/// Writes the picture that a result is as a PNG file.
pub(super) fn write(results: &[Value], path: &Path) -> Result<(), String> {
    let picture = picture(results)?;
    let cannot = |why: &dyn std::fmt::Display| format!("cannot write {}: {why}", path.display());
    let file = File::create(path).map_err(|e| cannot(&e))?;
    let (width, height) = (picture.width as u32, picture.height as u32);
    let mut encoder = Encoder::new(BufWriter::new(file), width, height);
    encoder.set_color(if picture.is_grey {
        ColorType::Grayscale
    } else {
        ColorType::Rgb
    });
    encoder.set_depth(BitDepth::Eight);
    let mut writer = encoder.write_header().map_err(|e| cannot(&e))?;
    writer
        .write_image_data(&picture.bytes)
        .map_err(|e| cannot(&e))?;
    writer.finish().map_err(|e| cannot(&e))
}
