//! Results as pictures.

use midend::value::{ArrayValue, Data, Value};
use png::{BitDepth, ColorType, Decoder, Encoder, EncodingError, Transformations, Writer};
use std::io::{Read, Seek, Write};

/// A picture: rows of pixels from the top.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Picture {
    /// Pixels of a row.
    pub(crate) width: usize,
    /// Rows.
    pub(crate) height: usize,
    /// Whether a pixel is one byte, its brightness; else it is three, red, green and blue.
    pub(crate) is_grey: bool,
    /// The pixels.
    pub(crate) bytes: Vec<u8>,
}

impl Picture {
    /// Red, green and blue of a pixel.
    pub(crate) fn pixel(&self, x: usize, y: usize) -> [u8; 3] {
        let at = y * self.width + x;
        if self.is_grey {
            return [self.bytes[at]; 3];
        }
        [0, 1, 2].map(|i| self.bytes[3 * at + i])
    }

    /// Writes it as a PNG file.
    pub(crate) fn write_png(&self, out: impl Write) -> Result<(), EncodingError> {
        self.write_frames(out, None, |writer| writer.write_image_data(&self.bytes))
    }

    /// Writes a PNG file of pictures like this one, which the caller writes: one, or as many as are given with their rate a second.
    pub(crate) fn write_frames<W: Write>(
        &self,
        out: W,
        frames: Option<(u32, u16)>,
        write: impl FnOnce(&mut Writer<W>) -> Result<(), EncodingError>,
    ) -> Result<(), EncodingError> {
        let mut encoder = Encoder::new(out, self.width as u32, self.height as u32);
        encoder.set_color(if self.is_grey {
            ColorType::Grayscale
        } else {
            ColorType::Rgb
        });
        encoder.set_depth(BitDepth::Eight);
        if let Some((count, rate)) = frames {
            encoder.set_animated(count, 0)?;
            encoder.set_frame_delay(1, rate)?;
        }
        let mut writer = encoder.write_header()?;
        write(&mut writer)?;
        writer.finish()
    }
}

/// The picture that a result is: a matrix of `u8`, `f32` or `f64` (0 is black, 1 is white) or `bool` in grey, of `u32` or
/// `i32` as ARGB, or an array of three dimensions, the last of them red, green and blue.
pub(crate) fn picture(results: &[Value]) -> Result<Picture, String> {
    match results {
        [Value::Array(array)] => of_array(array),
        [Value::Scalar(_)] => Err(String::from("a single number is no picture")),
        several => Err(format!(
            "a picture must be the only result, not one of {}",
            several.len()
        )),
    }
}

fn of_array(array: &ArrayValue) -> Result<Picture, String> {
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
        ([h, w], Some(levels), _) => sized(*h, *w, true, levels),
        ([h, w, 3], Some(levels), _) => sized(*h, *w, false, levels),
        ([h, w], None, Data::U32(v)) => sized(*h, *w, false, argb(v.iter().copied())),
        ([h, w], None, Data::I32(v)) => {
            let pixels = v.iter().map(|x| x.cast_unsigned());
            sized(*h, *w, false, argb(pixels))
        }
        (shape, _, data) => Err(format!(
            "an array of shape {shape:?} of {} is no picture: matrices of u8, f32, f64, bool, i32 and u32 are, and \
             arrays of shape [height, width, 3]",
            data.elem()
        )),
    }
}

fn sized(height: i64, width: i64, is_grey: bool, bytes: Vec<u8>) -> Result<Picture, String> {
    let size = |n: i64| {
        let fits = usize::try_from(n)
            .ok()
            .filter(|n| *n > 0 && *n <= u32::MAX as usize);
        fits.ok_or_else(|| format!("a picture cannot be {width} x {height} pixels large"))
    };
    Ok(Picture {
        width: size(width)?,
        height: size(height)?,
        is_grey,
        bytes,
    })
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

/// A PNG file as a matrix of ARGB pixels.
pub(crate) fn read_png(from: impl Read + Seek) -> Result<Value, String> {
    let mut decoder = Decoder::new(std::io::BufReader::new(from));
    decoder.set_transformations(Transformations::normalize_to_color8() | Transformations::ALPHA);
    let mut reader = decoder.read_info().map_err(|why| why.to_string())?;
    let size = reader.output_buffer_size().ok_or("it is too large")?;
    let mut bytes = vec![0; size];
    let frame = reader
        .next_frame(&mut bytes)
        .map_err(|why| why.to_string())?;
    let samples = frame.color_type.samples();
    let pixel = |p: &[u8]| match *p {
        [grey, alpha] => [alpha, grey, grey, grey],
        [red, green, blue, alpha] => [alpha, red, green, blue],
        _ => [0; 4],
    };
    let pixels = bytes[..frame.buffer_size()].chunks_exact(samples);
    let pixels = pixels.map(|p| u32::from_be_bytes(pixel(p)));
    Ok(Value::Array(ArrayValue {
        shape: vec![i64::from(frame.height), i64::from(frame.width)],
        data: Data::U32(pixels.collect()),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pictures_are_read_as_they_were_written() {
        let picture = Picture {
            width: 2,
            height: 1,
            is_grey: false,
            bytes: vec![1, 2, 3, 4, 5, 6],
        };
        let mut file = Vec::new();
        picture.write_png(&mut file).expect("written");
        let read = read_png(std::io::Cursor::new(file)).expect("read");
        let wanted = Value::Array(ArrayValue {
            shape: vec![1, 2],
            data: Data::U32(vec![0xff01_0203, 0xff04_0506]),
        });
        assert_eq!(read, wanted);
        assert!(read_png(std::io::Cursor::new(b"no")).is_err());
    }

    #[test]
    fn levels_and_pixels() {
        let array = |shape: &[i64], data| {
            let shape = shape.to_vec();
            picture(&[Value::Array(ArrayValue { shape, data })])
        };
        let picture = |width, is_grey, bytes| Picture {
            width,
            height: 1,
            is_grey,
            bytes,
        };
        let grey = array(&[1, 3], Data::F32(vec![0.0, 0.5, 2.0]));
        assert_eq!(grey, Ok(picture(3, true, vec![0, 128, 255])));
        let colour = array(&[1, 1], Data::U32(vec![0xff01_0203]));
        assert_eq!(colour, Ok(picture(1, false, vec![1, 2, 3])));
        assert_eq!(colour.map(|picture| picture.pixel(0, 0)), Ok([1, 2, 3]));
        assert!(array(&[3], Data::U8(vec![0; 3])).is_err());
        assert!(array(&[0, 3], Data::U8(vec![])).is_err());
    }
}
