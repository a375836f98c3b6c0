//! Matrices as pictures in a terminal: a character is two pixels, its upper half and its lower half.

use crate::picture::{Picture, picture};
use midend::value::Value;
use std::fmt::Write as _;

/// The picture of a result, of at most so many columns and lines.
pub(super) fn text(values: &[Value], (width, height): (usize, usize)) -> Result<String, String> {
    let whole = picture(values)?;
    let across = whole.width.div_ceil(width.max(1));
    let down = whole.height.div_ceil(height.max(1).saturating_mul(2));
    let scale = across.max(down).max(1);
    let (columns, rows) = (whole.width.div_ceil(scale), whole.height.div_ceil(scale));
    let mut out = String::new();
    for row in (0..rows).step_by(2) {
        for column in 0..columns {
            let upper = mean(&whole, column, row, scale);
            // Writing to a string cannot fail.
            let _ = match (row + 1 < rows).then(|| mean(&whole, column, row + 1, scale)) {
                Some(lower) => write!(out, "\x1b[38;2;{};48;2;{}m▀", colour(upper), colour(lower)),
                None => write!(out, "\x1b[38;2;{};49m▀", colour(upper)),
            };
        }
        out.push_str("\x1b[0m\n");
    }
    Ok(out)
}

fn colour([red, green, blue]: [u8; 3]) -> String {
    format!("{red};{green};{blue}")
}

/// The mean colour of a square of pixels.
fn mean(picture: &Picture, column: usize, row: usize, scale: usize) -> [u8; 3] {
    let rows = row * scale..((row + 1) * scale).min(picture.height);
    let columns = column * scale..((column + 1) * scale).min(picture.width);
    let count = (rows.len() * columns.len()).max(1);
    let mut sums = [0; 3];
    for y in rows {
        for x in columns.clone() {
            for (sum, level) in sums.iter_mut().zip(picture.pixel(x, y)) {
                *sum += usize::from(level);
            }
        }
    }
    sums.map(|sum| (sum / count) as u8)
}
