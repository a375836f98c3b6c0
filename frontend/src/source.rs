//! Source text: numbered files, byte spans into them, and lines and columns.

use std::fmt;
use std::sync::Arc;

/// The number of a source file in a [`SourceMap`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct FileId(pub u32);

/// A range of bytes in one source file; `hi` is exclusive.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Span {
    /// The file that the range lies in.
    pub file: FileId,
    /// The first byte.
    pub lo: u32,
    /// One past the last byte.
    pub hi: u32,
}

impl Span {
    /// The range `lo..hi` of `file`.
    pub fn new(file: FileId, lo: u32, hi: u32) -> Span {
        Span { file, lo, hi }
    }

    /// The smallest range that covers both; the two must lie in one file.
    pub fn to(self, other: Span) -> Span {
        debug_assert_eq!(self.file, other.file, "a span never crosses files");
        Span {
            file: self.file,
            lo: self.lo.min(other.lo),
            hi: self.hi.max(other.hi),
        }
    }

    /// The empty range at the start of this one.
    pub fn start(self) -> Span {
        Span {
            hi: self.lo,
            ..self
        }
    }

    /// The empty range at the end of this one.
    pub fn end(self) -> Span {
        Span {
            lo: self.hi,
            ..self
        }
    }

    /// Whether the range holds no byte.
    pub fn is_empty(self) -> bool {
        self.lo >= self.hi
    }
}

impl fmt::Debug for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "@{}:{}..{}", self.file.0, self.lo, self.hi)
    }
}

/// A place in a file as people count it, both from one; columns count characters.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct LineCol {
    /// The line, from one.
    pub line: u32,
    /// The column in characters, from one.
    pub col: u32,
}

/// Bytes between two offsets up to which characters have been counted.
const STEP: usize = 256;

/// Whether a character begins with a byte.
const fn begins(byte: u8) -> bool {
    byte & 0xC0 != 0x80
}

/// How many characters begin before each multiple of [`STEP`] bytes.
fn characters(text: &str) -> Vec<u32> {
    let mut counts = Vec::with_capacity(text.len() / STEP + 1);
    let mut count = 0;
    counts.push(count);
    for step in text.as_bytes().chunks_exact(STEP) {
        count += step
            .iter()
            .map(|byte| u32::from(begins(*byte)))
            .sum::<u32>();
        counts.push(count);
    }
    counts
}

/// One source file: its name as shown to the user, and its text.
#[derive(Clone, Debug)]
pub struct SourceFile {
    name: String,
    text: Arc<str>,
    line_starts: Vec<u32>,
    /// How many characters begin before each multiple of [`STEP`] bytes.
    characters: Vec<u32>,
    /// Lines at the beginning that nobody wrote, and nobody counts.
    hidden: u32,
}

impl SourceFile {
    fn new(name: String, text: Arc<str>) -> SourceFile {
        let newlines = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
        let after = newlines.map(|(at, _)| u32::try_from(at + 1).unwrap_or(u32::MAX));
        let line_starts = std::iter::once(0).chain(after).collect();
        SourceFile {
            name,
            characters: characters(&text),
            text,
            line_starts,
            hidden: 0,
        }
    }

    /// The name under which the file is shown.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The whole text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The whole text, shared.
    pub fn shared_text(&self) -> Arc<str> {
        Arc::clone(&self.text)
    }

    /// The line and column of a byte; a place past the end counts as the end.
    pub fn line_col(&self, at: u32) -> LineCol {
        let mut byte = (at as usize).min(self.text.len());
        while !self.text.is_char_boundary(byte) {
            byte -= 1;
        }
        let line = self
            .line_starts
            .partition_point(|start| *start as usize <= byte);
        let start = self.line_starts[line - 1] as usize;
        let col = self.characters_before(byte) - self.characters_before(start) + 1;
        let line = u32::try_from(line).unwrap_or(u32::MAX);
        LineCol {
            line: line.saturating_sub(self.hidden).max(1),
            col: u32::try_from(col).unwrap_or(u32::MAX),
        }
    }

    /// Where the line of a byte begins and ends, without what ends it; past the end of the file is the last line.
    pub fn line_of(&self, byte: usize) -> (usize, usize) {
        let byte = byte.min(self.text.len());
        let next = self
            .line_starts
            .partition_point(|start| *start as usize <= byte);
        let end = self.line_starts.get(next).map(|end| *end as usize - 1);
        let start = self.line_starts[next - 1] as usize;
        (start, end.unwrap_or(self.text.len()))
    }

    /// How many characters begin before a byte: lines can be long, so they are not counted from the beginning of one.
    fn characters_before(&self, byte: usize) -> usize {
        let step = byte / STEP;
        let since = &self.text.as_bytes()[step * STEP..byte];
        self.characters[step] as usize + since.iter().filter(|byte| begins(**byte)).count()
    }

    /// The text of a range, clipped to the file and to whole characters.
    pub fn slice(&self, lo: u32, hi: u32) -> &str {
        let mut lo = (lo as usize).min(self.text.len());
        let mut hi = (hi as usize).min(self.text.len()).max(lo);
        while !self.text.is_char_boundary(lo) {
            lo -= 1;
        }
        while !self.text.is_char_boundary(hi) {
            hi += 1;
        }
        &self.text[lo..hi]
    }
}

/// All source files of one compilation, by number.
#[derive(Clone, Debug, Default)]
pub struct SourceMap {
    files: Vec<SourceFile>,
}

impl SourceMap {
    /// A map without files.
    pub fn new() -> SourceMap {
        SourceMap::default()
    }

    /// Adds a file and gives its number.
    pub fn add(&mut self, name: impl Into<String>, text: impl Into<Arc<str>>) -> FileId {
        let id = FileId(u32::try_from(self.files.len()).unwrap_or(u32::MAX));
        self.files.push(SourceFile::new(name.into(), text.into()));
        id
    }

    /// Adds a file that begins with some lines which nobody wrote: the line behind them is the first.
    pub fn add_behind(&mut self, name: impl Into<String>, lines: &str, text: &str) -> FileId {
        let id = self.add(name, format!("{lines}{text}"));
        if let Some(file) = self.files.last_mut() {
            file.hidden = u32::try_from(lines.matches('\n').count()).unwrap_or(u32::MAX);
        }
        id
    }

    /// The file of that number, if the map has it.
    pub fn get(&self, file: FileId) -> Option<&SourceFile> {
        self.files.get(file.0 as usize)
    }

    /// All files in order of their numbers.
    pub fn iter(&self) -> impl Iterator<Item = (FileId, &SourceFile)> {
        (0..).map(FileId).zip(&self.files)
    }

    /// The text of a span; empty when the file is not in the map.
    pub fn text(&self, span: Span) -> &str {
        self.get(span.file)
            .map_or("", |file| file.slice(span.lo, span.hi))
    }

    /// The line and column where a span begins.
    pub fn line_col(&self, span: Span) -> Option<LineCol> {
        self.get(span.file).map(|file| file.line_col(span.lo))
    }

    /// `file:line:col` of where a span begins, as messages show it.
    pub fn location(&self, span: Span) -> String {
        match self.get(span.file) {
            Some(file) => {
                let at = file.line_col(span.lo);
                format!("{}:{}:{}", file.name(), at.line, at.col)
            }
            None => String::from("<unknown>"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_that_nobody_wrote_are_not_counted() {
        let mut sources = SourceMap::new();
        let file = sources.add_behind("input", "open it\n", "one\ntwo");
        assert_eq!(sources.location(Span::new(file, 8, 11)), "input:1:1");
        assert_eq!(sources.location(Span::new(file, 13, 14)), "input:2:2");
        assert_eq!(sources.location(Span::new(file, 2, 3)), "input:1:3");
    }

    #[test]
    fn lines_and_columns_count_characters() {
        let mut map = SourceMap::new();
        let file = map.add("a.fut", "ab\nåb c\n");
        let at = |lo| map.location(Span::new(file, lo, lo));
        assert_eq!(at(0), "a.fut:1:1");
        assert_eq!(at(3), "a.fut:2:1");
        assert_eq!(at(5), "a.fut:2:2");
        assert_eq!(at(4), "a.fut:2:1", "inside a character is its start");
        assert_eq!(at(900), "a.fut:3:1");
        assert_eq!(map.text(Span::new(file, 4, 6)), "åb");
    }
}
