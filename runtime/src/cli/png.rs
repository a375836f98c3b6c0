//! Results as pictures.

use midend::value::{ArrayValue, Data, Value};
use png::{BitDepth, ColorType, Encoder};
use std::fs::File;
use std::io::BufWriter;
use std::path::Path;

/// Writes a result as a PNG file: a matrix of `u8`, `f32` or `f64` (0 is black, 1 is white) or `bool` in grey, of
/// `u32` or `i32` as ARGB, or an array of three dimensions, the last of them red, green and blue.
pub(super) fn write(results: &[Value], path: &Path) -> Result<(), String> {
    let array = match results {
        [Value::Array(array)] => array,
        [Value::Scalar(_)] => return Err(String::from("a single number is no picture")),
        several => {
            return Err(format!(
                "a picture must be the only result, not one of {}",
                several.len()
            ));
        }
    };
    let (height, width, colour, bytes) = picture(array)?;
    let size = |n: i64| {
        u32::try_from(n)
            .ok()
            .filter(|n| *n > 0)
            .ok_or_else(|| format!("a picture cannot be {width} x {height} pixels large"))
    };
    let cannot = |why: &dyn std::fmt::Display| format!("cannot write {}: {why}", path.display());
    let file = File::create(path).map_err(|e| cannot(&e))?;
    let mut encoder = Encoder::new(BufWriter::new(file), size(width)?, size(height)?);
    encoder.set_color(colour);
    encoder.set_depth(BitDepth::Eight);
    let mut writer = encoder.write_header().map_err(|e| cannot(&e))?;
    writer.write_image_data(&bytes).map_err(|e| cannot(&e))?;
    writer.finish().map_err(|e| cannot(&e))
}

/// Height, width, colour type and bytes.
fn picture(array: &ArrayValue) -> Result<(i64, i64, ColorType, Vec<u8>), String> {
    let level = |x: f64| (x.clamp(0.0, 1.0) * 255.0).round() as u8;
    let levels = match &array.data {
        Data::U8(v) => Some(v.clone()),
        Data::F32(v) => Some(v.iter().map(|x| level(f64::from(*x))).collect()),
        Data::F64(v) => Some(v.iter().map(|x| level(*x)).collect()),
        Data::Bool(v) => Some(v.iter().map(|x| u8::from(*x) * 255).collect()),
        Data::I8(_)
        | Data::I16(_)
        | Data::I32(_)
        | Data::I64(_)
        | Data::U16(_)
        | Data::U32(_)
        | Data::U64(_)
        | Data::F16(_) => None,
    };
    match (array.shape.as_slice(), levels, &array.data) {
        ([h, w], Some(levels), _) => Ok((*h, *w, ColorType::Grayscale, levels)),
        ([h, w, 3], Some(levels), _) => Ok((*h, *w, ColorType::Rgb, levels)),
        ([h, w], None, Data::U32(v)) => Ok((*h, *w, ColorType::Rgb, argb(v.iter().copied()))),
        ([h, w], None, Data::I32(v)) => {
            let pixels = v.iter().map(|x| x.cast_unsigned());
            Ok((*h, *w, ColorType::Rgb, argb(pixels)))
        }
        (shape, _, data) => Err(format!(
            "an array of shape {shape:?} of {} is no picture: matrices of u8, f32, f64, bool, i32 and u32 are, and \
             arrays of shape [height, width, 3]",
            data.elem()
        )),
    }
}

/// Pixels without their alpha, which programs seldom set.
fn argb(pixels: impl Iterator<Item = u32>) -> Vec<u8> {
    pixels
        .flat_map(|p| {
            let [_, red, green, blue] = p.to_be_bytes();
            [red, green, blue]
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_and_pixels() {
        let array = |shape: &[i64], data| ArrayValue {
            shape: shape.to_vec(),
            data,
        };
        let grey = picture(&array(&[1, 3], Data::F32(vec![0.0, 0.5, 2.0])));
        assert_eq!(grey, Ok((1, 3, ColorType::Grayscale, vec![0, 128, 255])));
        let colour = picture(&array(&[1, 1], Data::U32(vec![0xff01_0203])));
        assert_eq!(colour, Ok((1, 1, ColorType::Rgb, vec![1, 2, 3])));
        assert!(picture(&array(&[3], Data::U8(vec![0; 3]))).is_err());
    }
}
