//! Positions: byte offsets here, lines and UTF-16 columns in the protocol; paths here, URIs there.

use lsp_types::{Position, Range, Uri};
use std::str::FromStr as _;

/// Where the lines of a text begin.
pub(crate) struct Lines {
    starts: Vec<usize>,
}

impl Lines {
    pub(crate) fn new(text: &str) -> Lines {
        let breaks = text.match_indices('\n').map(|(at, _)| at + 1);
        Lines {
            starts: std::iter::once(0).chain(breaks).collect(),
        }
    }

    /// The position of a byte; one inside of a character counts as its start.
    pub(crate) fn position(&self, text: &str, offset: usize) -> Position {
        let mut offset = offset.min(text.len());
        while !text.is_char_boundary(offset) {
            offset -= 1;
        }
        let line = self.starts.partition_point(|start| *start <= offset) - 1;
        let column = text[self.starts[line]..offset].encode_utf16().count();
        Position::new(number(line), number(column))
    }

    /// The byte at a position; one behind the end of a line counts as that end.
    pub(crate) fn offset(&self, text: &str, position: Position) -> usize {
        let line = position.line as usize;
        let Some(&start) = self.starts.get(line) else {
            return text.len();
        };
        let end = self
            .starts
            .get(line + 1)
            .map_or(text.len(), |next| next - 1);
        let mut column = 0;
        for (at, letter) in text[start..end].char_indices() {
            if column >= position.character as usize {
                return start + at;
            }
            column += letter.len_utf16();
        }
        end
    }

    pub(crate) fn range(&self, text: &str, lo: usize, hi: usize) -> Range {
        Range::new(self.position(text, lo), self.position(text, hi))
    }
}

fn number(value: usize) -> u32 {
    u32::try_from(value).unwrap_or(u32::MAX)
}

/// The path that a URI of a file names.
pub(crate) fn path_of(uri: &Uri) -> String {
    let text = uri.as_str();
    let Some(path) = text.strip_prefix("file://") else {
        return text.to_owned();
    };
    let path = path.find('/').map_or(path, |at| &path[at..]);
    let mut bytes = Vec::with_capacity(path.len());
    let mut rest = path.as_bytes();
    while let Some((&first, after)) = rest.split_first() {
        let digits = after.get(..2).and_then(|two| std::str::from_utf8(two).ok());
        let escaped = digits.and_then(|two| u8::from_str_radix(two, 16).ok());
        match escaped.filter(|_| first == b'%') {
            Some(byte) => {
                bytes.push(byte);
                rest = &after[2..];
            }
            None => {
                bytes.push(first);
                rest = after;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// The URI of a file.
pub(crate) fn uri_of(path: &str) -> Option<Uri> {
    if path.contains("://") {
        return Uri::from_str(path).ok();
    }
    let mut uri = String::from("file://");
    for byte in path.bytes() {
        if byte.is_ascii_alphanumeric() || b"/-_.~".contains(&byte) {
            uri.push(char::from(byte));
        } else {
            uri.push_str(&format!("%{byte:02X}"));
        }
    }
    Uri::from_str(&uri).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_count_in_utf_16() {
        let text = "ab\nå𝒳c\n";
        let lines = Lines::new(text);
        for (offset, line, column) in [
            (0, 0, 0),
            (2, 0, 2),
            (3, 1, 0),
            (5, 1, 1),
            (9, 1, 3),
            (11, 2, 0),
        ] {
            assert_eq!(lines.position(text, offset), Position::new(line, column));
            assert_eq!(lines.offset(text, Position::new(line, column)), offset);
        }
        assert_eq!(
            lines.position(text, 7),
            Position::new(1, 1),
            "inside of a character"
        );
        assert_eq!(
            lines.offset(text, Position::new(0, 99)),
            2,
            "behind the end of a line"
        );
        assert_eq!(lines.offset(text, Position::new(99, 0)), text.len());
    }

    #[test]
    fn paths_and_uris_are_each_others_inverse() {
        for path in ["/a/b.fut", "/with blank/å%.fut"] {
            let uri = uri_of(path).expect("a URI");
            assert_eq!(path_of(&uri), path);
        }
        let other = Uri::from_str("untitled:Untitled-1").expect("a URI");
        assert_eq!(path_of(&other), "untitled:Untitled-1");
    }
}
