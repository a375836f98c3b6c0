//! Values laid out for a terminal: in lines that are not too long, and not too many of them.
//!
//! ```text
//! [[0.5f32, 10.25f32, 2.0f32, ..., 9.0f32], [1.5f32, 2.0f32, 3.0f32, ..., 0.0f32], ..., [..]] -- [100][100]
//! =>
//! [[0.5f32, 10.25f32, 2.0f32, ..., 9.0f32],
//!  [1.5f32,   2.0f32, 3.0f32, ..., 0.0f32],
//!  ...,
//!  [..]] -- [100][100]
//! ```
//!
//! What is laid out is text as programs write it: brackets say what belongs together.

use crate::data::{Most, fitted_text};
use midend::ir::syntax::EntryType;
use midend::value::Value;

/// A value in at most so many lines, if it can be done, of at most so many characters. Of each dimension of an array at most so
/// many elements are shown, and fewer where they do not fit.
pub(super) fn text(
    ty: &EntryType,
    values: &[Value],
    items: usize,
    (width, height): (usize, usize),
) -> String {
    /// Fewer elements are shown of no dimension.
    const FEW: usize = 3;
    let rank = values.iter().map(|value| value.shape().len()).max();
    let outer = rank.unwrap_or(0).saturating_sub(1).max(1);
    // All rows are lines; there is no need to try with more of them.
    let rows = (height as f64).powf(1.0 / outer as f64).ceil() as usize;
    let mut most = Most {
        rows: items.min(rows.max(FEW)),
        elements: items,
    };
    loop {
        let flat = fitted_text(ty, values, most);
        if flat.chars().count() <= width {
            return flat;
        }
        let laid = lay_out(&flat, width);
        let is_long = laid.text.lines().count() > height;
        if laid.is_wrapped && most.elements > FEW {
            most.elements -= 1;
        } else if is_long && most.rows > FEW {
            most.rows -= 1;
        } else if is_long && most.elements > FEW {
            most.elements -= 1;
        } else {
            return laid.text;
        }
    }
}

/// A part of a text: words, and in brackets further parts.
enum Part<'a> {
    Word(&'a str),
    /// What stands before the parts, up to the bracket; the parts; what stands behind them, from the bracket on.
    Group(&'a str, Vec<Part<'a>>, &'a str),
}

/// A text laid out.
struct Laid {
    text: String,
    /// Whether some row inside of another did not fit into its line.
    is_wrapped: bool,
}

/// What stands before the shape of an array that is not shown whole.
const SHAPE: &str = " -- ";

fn lay_out(flat: &str, width: usize) -> Laid {
    let mut laid = Laid {
        text: String::new(),
        is_wrapped: false,
    };
    laid.part(&part(flat), (0, 0), width, true);
    laid
}

/// The parts of a text.
fn part(text: &str) -> Part<'_> {
    let Some(open) = text.find(['[', '(', '{']) else {
        return Part::Word(text);
    };
    let (mut parts, mut start, mut depth) = (Vec::new(), open + 1, 0_usize);
    for (at, c) in text.char_indices().skip_while(|(at, _)| *at < open) {
        match c {
            '[' | '(' | '{' => depth += 1,
            ']' | ')' | '}' => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    if start < at {
                        parts.push(part(&text[start..at]));
                    }
                    return Part::Group(&text[..=open], parts, &text[at..]);
                }
            }
            ',' if depth == 1 => {
                parts.push(part(&text[start..at]));
                start = at + 2;
            }
            _ => {}
        }
    }
    Part::Word(text)
}

impl Part<'_> {
    /// The part in one line.
    fn flat(&self) -> String {
        match self {
            Self::Word(word) => (*word).to_owned(),
            Self::Group(open, parts, close) => {
                let parts: Vec<String> = parts.iter().map(Part::flat).collect();
                format!("{open}{}{close}", parts.join(", "))
            }
        }
    }
    /// The words, if there is nothing else in a group that nothing stands before.
    fn words(&self) -> Option<Vec<&str>> {
        let Self::Group("[", parts, "]") = self else {
            return None;
        };
        let word = |part: &Self| match part {
            Part::Word(word) => Some(*word),
            Part::Group(..) => None,
        };
        parts.iter().map(word).collect::<Option<Vec<&str>>>()
    }
}

impl Laid {
    /// Writes a part, which begins in a column; `after` characters follow in its last line.
    fn part(
        &mut self,
        part: &Part<'_>,
        (column, after): (usize, usize),
        width: usize,
        is_outer: bool,
    ) {
        let flat = part.flat();
        let length = flat.chars().count();
        match part {
            Part::Group(open, parts, close) if column + length + after > width => {
                self.text.push_str(open);
                let column = column + open.chars().count();
                // The shape may stand below.
                let (close, shape) = close.split_at(close.find(SHAPE).unwrap_or(close.len()));
                if parts.iter().all(|part| matches!(part, Part::Word(_))) {
                    self.is_wrapped |= !is_outer;
                    self.fill(parts, (column, close.len() + after), width);
                } else {
                    self.lines(parts, (column, close.len() + after), width);
                }
                self.text.push_str(close);
                let last = self.text.rsplit('\n').next().unwrap_or_default();
                if !shape.is_empty() && last.chars().count() + shape.len() > width {
                    self.begin_line(0);
                    self.text.push_str(shape.trim_start());
                } else {
                    self.text.push_str(shape);
                }
            }
            Part::Group(..) | Part::Word(_) => self.text.push_str(&flat),
        }
    }

    /// Words one after another, in as many lines as they need.
    fn fill(&mut self, words: &[Part<'_>], (column, after): (usize, usize), width: usize) {
        let mut at = column;
        for (i, word) in words.iter().enumerate() {
            let word = word.flat();
            let is_last = i + 1 == words.len();
            let length = word.chars().count() + if is_last { after } else { 1 };
            if i > 0 {
                if at + 1 + length > width {
                    self.begin_line(column);
                    at = column;
                } else {
                    self.text.push(' ');
                    at += 1;
                }
            }
            self.text.push_str(&word);
            if !is_last {
                self.text.push(',');
            }
            at += length;
        }
    }

    /// A line for each part, or several; rows of words in columns.
    fn lines(&mut self, parts: &[Part<'_>], (column, after): (usize, usize), width: usize) {
        let rows = columns(parts).filter(|rows| {
            let longest = rows.iter().map(|row| row.chars().count()).max();
            column + longest.unwrap_or(0) + after.max(1) <= width
        });
        for (i, part) in parts.iter().enumerate() {
            if i > 0 {
                self.text.push(',');
                self.begin_line(column);
            }
            let is_last = i + 1 == parts.len();
            match &rows {
                Some(rows) => self.text.push_str(&rows[i]),
                None => self.part(
                    part,
                    (column, if is_last { after } else { 1 }),
                    width,
                    false,
                ),
            }
        }
    }

    fn begin_line(&mut self, column: usize) {
        self.text.push('\n');
        self.text.extend(std::iter::repeat_n(' ', column));
    }
}

/// Rows of words of which each is as wide as those above and below it, if they are rows of as many words.
fn columns(parts: &[Part<'_>]) -> Option<Vec<String>> {
    const LEFT_OUT: &str = "...";
    let mut widths: Vec<usize> = Vec::new();
    let mut rows = Vec::new();
    for part in parts {
        if matches!(part, Part::Word(LEFT_OUT)) {
            rows.push(None);
            continue;
        }
        let words = part.words()?;
        if widths.is_empty() {
            widths = vec![0; words.len()];
        }
        if widths.len() != words.len() {
            return None;
        }
        for (width, word) in widths.iter_mut().zip(&words) {
            *width = (*width).max(word.chars().count());
        }
        rows.push(Some(words));
    }
    let row = |words: Option<Vec<&str>>| {
        let Some(words) = words else {
            return String::from(LEFT_OUT);
        };
        let cells = words.iter().zip(&widths);
        let cells: Vec<String> = cells
            .map(|(word, width)| format!("{word:>width$}"))
            .collect();
        format!("[{}]", cells.join(", "))
    };
    Some(rows.into_iter().map(row).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_fit_is_broken_into_lines() {
        let laid = |text, width| lay_out(text, width).text;
        assert_eq!(laid("[1, 2, 3]", 9), "[1, 2, 3]");
        assert_eq!(laid("[1, 2, 3] -- [3]", 9), "[1, 2, 3]\n-- [3]");
        assert_eq!(
            laid("[[1, 20], [300, 4], ..., [5, 6]] -- [9][2]", 30),
            "[[  1, 20],\n [300,  4],\n ...,\n [  5,  6]] -- [9][2]"
        );
        assert_eq!(
            laid("{name = [1, 2, 3], other = (true, [4, 5])}", 18),
            "{name = [1, 2, 3],\n other = (true,\n          [4, 5])}"
        );
        // Rows of different lengths, and what is too long for any line.
        assert_eq!(laid("([1, 2], [3])", 9), "([1, 2],\n [3])");
        assert_eq!(laid("[1234567, 1]", 5), "[1234567,\n 1]");
        assert!(lay_out("[[1, 2, 3], [4, 5, 6]]", 8).is_wrapped);
        assert!(!lay_out("[[1, 2, 3], [4, 5, 6]]", 14).is_wrapped);
    }
}
