//! The examples that are measured and the inputs they get: a table, and how an input is written.

use crate::Example;
use std::io::Write;

/// One input value.
pub(crate) enum Item {
    /// A scalar.
    I64(i64),
    /// A scalar.
    I32(i32),
    /// Uniform in [0, 1).
    F32s(&'static [u64]),
    /// Uniform over all values.
    U8s(&'static [u64]),
}

/// Everything there is to measure.
pub(crate) const EXAMPLES: &[Example] = &[
    Example {
        name: "mandelbrot",
        entry: "escape",
        input: &[Item::I64(1600), Item::I64(1200), Item::I32(1000)],
        tolerance: 0.0,
    },
    Example {
        name: "nbody",
        entry: "main",
        input: &[Item::I64(4096), Item::I32(30)],
        tolerance: 1e-3,
    },
    Example {
        name: "matmul",
        entry: "main",
        input: &[Item::F32s(&[1280, 1280]), Item::F32s(&[1280, 1280])],
        tolerance: 1e-4,
    },
    Example {
        name: "kmeans",
        entry: "main",
        input: &[Item::I64(16), Item::I32(20), Item::F32s(&[400_000, 16])],
        tolerance: 1e-2,
    },
    Example {
        name: "blackscholes",
        entry: "surface",
        input: &[Item::I64(16000), Item::I64(4000)],
        tolerance: 1e-6,
    },
    Example {
        name: "equalise",
        entry: "rounds",
        input: &[Item::I32(60), Item::U8s(&[4000, 4000])],
        tolerance: 0.0,
    },
    Example {
        name: "life",
        entry: "soup",
        input: &[Item::I64(2048), Item::I64(2048), Item::I32(100)],
        tolerance: 0.0,
    },
    Example {
        name: "sobol",
        entry: "main",
        input: &[Item::I64(10_000_000)],
        tolerance: 1e-9,
    },
];

/// Writes the values in the binary format.
pub(crate) fn write(items: &[Item], out: &mut impl Write) -> std::io::Result<()> {
    let mut state = 0x9E37_79B9_7F4A_7C15_u64;
    let mut random = move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    for item in items {
        match item {
            Item::I64(n) => {
                header(out, " i64", &[])?;
                out.write_all(&n.to_le_bytes())?;
            }
            Item::I32(n) => {
                header(out, " i32", &[])?;
                out.write_all(&n.to_le_bytes())?;
            }
            Item::F32s(shape) => {
                header(out, " f32", shape)?;
                for _ in 0..shape.iter().product::<u64>() {
                    let bits = u16::try_from(random() >> 48).unwrap_or(0);
                    out.write_all(&(f32::from(bits) / 65536.0).to_le_bytes())?;
                }
            }
            Item::U8s(shape) => {
                header(out, "  u8", shape)?;
                for _ in 0..shape.iter().product::<u64>() {
                    out.write_all(&random().to_be_bytes()[..1])?;
                }
            }
        }
    }
    Ok(())
}

fn header(out: &mut impl Write, ty: &str, shape: &[u64]) -> std::io::Result<()> {
    out.write_all(b"b\x02")?;
    out.write_all(&[u8::try_from(shape.len()).unwrap_or(u8::MAX)])?;
    out.write_all(ty.as_bytes())?;
    for extent in shape {
        out.write_all(&extent.to_le_bytes())?;
    }
    Ok(())
}
