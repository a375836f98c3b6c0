//! Samples as WAV files.

use midend::value::{ArrayValue, Data, Value};

/// Samples of a second, if the directive does not say it.
pub(super) const RATE: u32 = 44100;

/// Formats of samples in WAV files: whole numbers and floats.
const WHOLE: u16 = 1;
const FLOAT: u16 = 3;

/// A WAV file of an array of samples, or of several, one for each channel.
pub(super) fn wav(value: &Value, rate: u32) -> Result<Vec<u8>, String> {
    let Value::Array(ArrayValue { shape, data }) = value else {
        return Err(String::from("sound is an array of samples"));
    };
    let (channels, length) = match shape.as_slice() {
        [length] => (1, *length),
        [channels, length] => (*channels, *length),
        _ => {
            return Err(String::from(
                "sound is an array of samples, or one for each channel",
            ));
        }
    };
    let (Ok(channels), Ok(length)) = (u16::try_from(channels), usize::try_from(length)) else {
        return Err(format!("sound cannot have {channels} channels"));
    };
    if channels == 0 {
        return Err(String::from("sound has at least one channel"));
    }
    // Samples of 8 bits are unsigned in these files, all others are signed.
    let (format, width, bytes): (u16, usize, Vec<u8>) = match data {
        Data::U8(v) => (WHOLE, 1, v.clone()),
        Data::I8(v) => {
            let unsigned = v.iter().map(|x| x.cast_unsigned() ^ 0x80);
            (WHOLE, 1, unsigned.collect())
        }
        Data::I16(v) => (WHOLE, 2, flat(v, |x| x.to_le_bytes())),
        Data::U16(v) => (WHOLE, 2, flat(v, |x| (x ^ 0x8000).to_le_bytes())),
        Data::I32(v) => (WHOLE, 4, flat(v, |x| x.to_le_bytes())),
        Data::U32(v) => (WHOLE, 4, flat(v, |x| (x ^ 0x8000_0000).to_le_bytes())),
        Data::F32(v) => (FLOAT, 4, flat(v, |x| x.to_le_bytes())),
        Data::F64(v) => (FLOAT, 8, flat(v, |x| x.to_le_bytes())),
        Data::I64(_) | Data::U64(_) | Data::F16(_) | Data::Bool(_) => {
            return Err(format!("samples cannot be of type {}", data.elem()));
        }
    };
    let mut samples = Vec::with_capacity(bytes.len());
    for i in 0..length {
        for channel in 0..usize::from(channels) {
            let at = (channel * length + i) * width;
            samples.extend_from_slice(&bytes[at..at + width]);
        }
    }
    let size = u32::try_from(samples.len())
        .ok()
        .filter(|n| *n < u32::MAX - 64);
    let size = size.ok_or("the sound is too long for a file")?;
    let frame = channels * width as u16;
    let mut out = Vec::new();
    out.extend(b"RIFF");
    out.extend((size + 36).to_le_bytes());
    out.extend(b"WAVEfmt ");
    out.extend(16u32.to_le_bytes());
    out.extend(format.to_le_bytes());
    out.extend(channels.to_le_bytes());
    out.extend(rate.to_le_bytes());
    out.extend((rate * u32::from(frame)).to_le_bytes());
    out.extend(frame.to_le_bytes());
    out.extend((8 * width as u16).to_le_bytes());
    out.extend(b"data");
    out.extend(size.to_le_bytes());
    out.extend(samples);
    Ok(out)
}

fn flat<T: Copy, const N: usize>(samples: &[T], bytes: impl Fn(T) -> [u8; N]) -> Vec<u8> {
    samples.iter().flat_map(|x| bytes(*x)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn channels_take_turns() {
        let value = Value::Array(ArrayValue {
            shape: vec![2, 2],
            data: Data::I16(vec![1, 2, 3, 4]),
        });
        let file = wav(&value, 8000).expect("a file");
        assert_eq!(&file[..4], b"RIFF");
        assert_eq!(&file[36..40], b"data");
        assert_eq!(file[44..], [1, 0, 3, 0, 2, 0, 4, 0]);
        assert_eq!(file.len(), 52);
        let numbers = Value::Array(ArrayValue {
            shape: vec![1],
            data: Data::I64(vec![1]),
        });
        assert!(wav(&numbers, 8000).is_err());
    }
}
