//! An array read piece by piece, and written so: what a sequence is outside.

use super::irregular::{self, Level};
use super::{Leaf, Place, ReadError, Reader, binary, leaves, npy, structured_text, write_text};
use midend::ir::syntax::EntryType;
use midend::ir::types::ScalarType;
use midend::value::Value;
use std::io::{self, Read, Write};

/// Elements are read in pieces of about this many bytes.
const PIECE: usize = 1 << 18;

/// Whether an array of this type is one value in text form, so that it can be read and written piece by piece.
pub(crate) fn can_be_read(ty: &EntryType) -> bool {
    leaves(ty).len() == 1 || irregular::levels(ty).is_some()
}

/// Reads the elements of an array from a stream of bytes that is not there as a whole.
pub(crate) struct Chunks<R> {
    from: R,
    name: String,
    /// What has been read and not been used, and how far that has been looked through.
    bytes: Vec<u8>,
    ended: bool,
    /// Lines and bytes that came before.
    lines: u64,
    before: u64,
    /// Whether the bytes are a NumPy file.
    numpy: bool,
}

/// How the elements are written.
enum Form {
    /// As text, of which the first bracket has been read.
    Text,
    /// As so many rows of so many bytes, in a NumPy file behind this header.
    Binary {
        rows: u64,
        each: usize,
        shape: Vec<i64>,
        numpy: Option<npy::Header>,
    },
    /// As a whole that was read.
    Whole(Vec<Value>),
    /// There are none, or no more.
    Done,
}

impl<R: Read> Chunks<R> {
    /// Bytes, and what messages call them.
    pub(crate) fn new(from: R, name: &str) -> Self {
        Self {
            from,
            name: name.to_owned(),
            bytes: Vec::new(),
            ended: false,
            lines: 0,
            before: 0,
            numpy: false,
        }
    }

    /// The same of a NumPy file.
    pub(crate) fn numpy(from: R, name: &str) -> Self {
        Self {
            numpy: true,
            ..Self::new(from, name)
        }
    }

    /// Reads more bytes; whether there are some.
    fn more(&mut self) -> Result<bool, ReadError> {
        if self.ended {
            return Ok(false);
        }
        let start = self.bytes.len();
        self.bytes.resize(start + PIECE, 0);
        let got = loop {
            match self.from.read(&mut self.bytes[start..]) {
                Err(why) if why.kind() == io::ErrorKind::Interrupted => {}
                got => break got,
            }
        };
        let got = got.map_err(|why| self.failure(Place::Nowhere, why.to_string()))?;
        self.bytes.truncate(start + got);
        self.ended = got == 0;
        Ok(!self.ended)
    }

    fn failure(&self, place: Place, why: impl Into<String>) -> ReadError {
        ReadError::new(place, why)
            .after(self.lines, self.before)
            .in_source(&self.name)
    }

    /// Takes the first bytes away.
    fn take(&mut self, count: usize) -> Vec<u8> {
        let rest = self.bytes.split_off(count.min(self.bytes.len()));
        let taken = std::mem::replace(&mut self.bytes, rest);
        self.before += taken.len() as u64;
        self.lines += taken.iter().filter(|b| **b == b'\n').count() as u64;
        taken
    }

    /// Skips blanks and comments; the byte that follows.
    fn next(&mut self) -> Result<Option<u8>, ReadError> {
        loop {
            let mut reader = Reader::new(&self.bytes);
            let end = reader.at_end();
            let at = reader.position();
            // A comment may go on, and half of its sign may be all that is there.
            let cut = self.bytes[at..].starts_with(b"-") && self.bytes.len() - at < 2;
            if !end && !cut {
                self.take(at);
                return Ok(self.bytes.first().copied());
            }
            if !self.more()? {
                self.take(at);
                return Ok(self.bytes.first().copied());
            }
        }
    }

    /// The text or bytes of the next value as a whole.
    pub(crate) fn value(&mut self) -> Result<Vec<u8>, ReadError> {
        match self.next()? {
            None => Ok(Vec::new()),
            Some(b'[' | b'"') => {
                let end = self.end_of_element(0, 0)?;
                Ok(self.take(end))
            }
            Some(b'b') => {
                let (header, rows, each, _) = self.header(None)?;
                let all = usize::try_from(rows)
                    .unwrap_or(usize::MAX)
                    .saturating_mul(each);
                while self.bytes.len() < header.saturating_add(all) && self.more()? {}
                Ok(self.take(header.saturating_add(all)))
            }
            Some(_) => {
                let mut at = 0;
                let mut open = false;
                loop {
                    match self.bytes.get(at).copied() {
                        Some(b'(') => open = true,
                        Some(b')') => return Ok(self.take(at + 1)),
                        Some(b) if b.is_ascii_whitespace() && !open => break,
                        Some(_) => {}
                        None if self.more()? => continue,
                        None => break,
                    }
                    at += 1;
                }
                Ok(self.take(at))
            }
        }
    }

    /// Where the first bracket or string that is open at a position is closed.
    fn end_of_element(&mut self, mut at: usize, mut depth: usize) -> Result<usize, ReadError> {
        loop {
            let Some(&byte) = self.bytes.get(at) else {
                if self.more()? {
                    continue;
                }
                return Ok(self.bytes.len());
            };
            at += 1;
            match byte {
                b'[' => depth += 1,
                b']' if depth <= 1 => return Ok(at),
                b']' => depth -= 1,
                b'"' => {
                    at = self.end_of_string(at)?;
                    if depth == 0 {
                        return Ok(at);
                    }
                }
                b'-' => at = self.end_of_comment(at)?,
                _ => {}
            }
        }
    }

    fn end_of_string(&mut self, mut at: usize) -> Result<usize, ReadError> {
        loop {
            match self.bytes.get(at).copied() {
                Some(b'"') => return Ok(at + 1),
                Some(b'\\') => at += 2,
                Some(_) => at += 1,
                None if self.more()? => {}
                None => return Ok(self.bytes.len()),
            }
        }
    }

    /// After a minus sign: behind the comment that it may begin.
    fn end_of_comment(&mut self, at: usize) -> Result<usize, ReadError> {
        while self.bytes.len() <= at && self.more()? {}
        if self.bytes.get(at) != Some(&b'-') {
            return Ok(at);
        }
        let mut end = at;
        loop {
            match self.bytes.get(end).copied() {
                Some(b'\n') => return Ok(end),
                Some(_) => end += 1,
                None if self.more()? => {}
                None => return Ok(end),
            }
        }
    }

    /// The length of a binary header, the number of rows, the bytes of each, and the shape.
    fn header(&mut self, wanted: Option<Leaf>) -> Result<(usize, u64, usize, Vec<i64>), ReadError> {
        while self.bytes.len() < 7 && self.more()? {}
        let rank = usize::from(self.bytes.get(2).copied().unwrap_or(0));
        let header = 7 + 8 * rank;
        while self.bytes.len() < header && self.more()? {}
        let checked = binary::shape(&self.bytes, wanted)
            .map_err(|e| e.after(0, self.before).in_source(&self.name))?;
        let (shape, elem) = checked;
        let (rows, each) = self.rows(&shape, elem)?;
        Ok((header, rows, each, shape))
    }

    /// How many rows there are, and the bytes of each.
    fn rows(&self, shape: &[i64], elem: ScalarType) -> Result<(u64, usize), ReadError> {
        let (first, rest) = match shape.split_first() {
            Some((first, rest)) => (*first, rest),
            None => (1, &[][..]),
        };
        let each = rest.iter().try_fold(elem.bytes(), |n, &extent| {
            n.checked_mul(usize::try_from(extent).ok()?)
        });
        match (u64::try_from(first), each) {
            (Ok(rows), Some(each)) => Ok((rows, each)),
            _ => Err(self.failure(Place::Offset(0), "an array of impossible extents")),
        }
    }

    /// The header of a NumPy file. Where columns stand side by side and not rows, all of it is read.
    fn numpy_form(&mut self, leaf: Leaf) -> Result<Form, ReadError> {
        while self.bytes.len() < npy::MAX_HEADER && self.more()? {}
        let name = self.name.clone();
        let header = npy::header(&self.bytes, Some(leaf)).map_err(|e| e.in_source(&name))?;
        if !header.by_rows && leaf.rank > 1 {
            while self.more()? {}
            let whole = npy::read_npy(&self.bytes, Some(leaf)).map_err(|e| e.in_source(&name))?;
            return Ok(Form::Whole(vec![whole]));
        }
        let (rows, each) = self.rows(&header.shape, header.elem)?;
        self.take(header.start);
        let shape = header.shape.clone();
        Ok(Form::Binary {
            rows,
            each,
            shape,
            numpy: Some(header),
        })
    }

    /// Reads all elements, and gives them away in pieces, as the values that arrays of them are; until `give` says that it wants no more.
    pub(crate) fn each(
        &mut self,
        ty: &EntryType,
        give: &mut dyn FnMut(Vec<Value>) -> bool,
    ) -> Result<(), ReadError> {
        let leaf = leaves(ty).into_iter().next_back();
        let leaf = leaf.unwrap_or(Leaf {
            rank: 1,
            elem: ScalarType::Bool,
        });
        let levels = irregular::levels(ty);
        let begins = match self.numpy {
            true => None,
            false => self.next()?,
        };
        let mut form = match begins {
            None if self.numpy => self.numpy_form(leaf)?,
            None => return Err(ReadError::missing(leaf).in_source(&self.name)),
            Some(b'b') if levels.is_none() => {
                let (header, rows, each, shape) = self.header(Some(leaf))?;
                self.take(header);
                Form::Binary {
                    rows,
                    each,
                    shape,
                    numpy: None,
                }
            }
            // The lengths of all rows stand before all elements: none is known before the end.
            Some(b'b') => {
                while self.more()? {}
                let (bytes, wanted) = (self.take(usize::MAX), levels.as_ref());
                let mut reader = Reader::new(&bytes);
                let wanted = wanted.map(|(levels, elem)| (levels.as_slice(), *elem));
                let read = reader.ragged_values(wanted);
                let values = read.map_err(|e| e.in_source(&self.name))?;
                self.bytes = bytes[reader.position()..].to_vec();
                Form::Whole(values)
            }
            Some(b'[') => {
                self.take(1);
                Form::Text
            }
            Some(_) => {
                let text = self.value()?;
                let read = Reader::new(&text).value(levels.is_none().then_some(leaf));
                let value = read.map_err(|e| e.in_source(&self.name))?;
                if value.shape().first() != Some(&0) {
                    return Err(
                        self.failure(Place::Nowhere, format!("expected an array of type {leaf}"))
                    );
                }
                Form::Done
            }
        };
        loop {
            let values = match &mut form {
                Form::Done => break,
                Form::Text => {
                    let (text, last) = self.elements()?;
                    if last {
                        form = Form::Done;
                    }
                    self.parse(text, levels.as_ref(), leaf)?
                }
                Form::Binary { rows: 0, .. } => break,
                Form::Whole(_) => match std::mem::replace(&mut form, Form::Done) {
                    Form::Whole(values) => values,
                    Form::Text | Form::Binary { .. } | Form::Done => break,
                },
                Form::Binary {
                    rows,
                    each,
                    shape,
                    numpy,
                } => {
                    let most = (PIECE / (*each).max(1)).max(1) as u64;
                    let count = most.min(*rows);
                    *rows -= count;
                    let (bytes, mut shape) = (count as usize * *each, shape.clone());
                    while self.bytes.len() < bytes && self.more()? {}
                    if self.bytes.len() < bytes {
                        let at = Place::Offset(self.bytes.len() as u64);
                        return Err(self.failure(at, "the input ends inside of an array"));
                    }
                    let body = self.take(bytes);
                    let data = match numpy {
                        Some(header) => header.decode(&body, 0),
                        None => binary::decode(&body, leaf.elem, 0),
                    };
                    let data = data.map_err(|e| e.after(0, self.before).in_source(&self.name))?;
                    if let Some(first) = shape.first_mut() {
                        *first = count as i64;
                    }
                    vec![Value::Array(midend::value::ArrayValue { shape, data })]
                }
            };
            if values.iter().any(|v| v.shape().first() != Some(&0)) && !give(values) {
                return Ok(());
            }
        }
        if self.numpy {
            return Ok(());
        }
        match self.next()? {
            None => Ok(()),
            Some(_) => Err(self.failure(
                Place::Line(1, 1),
                "expected the end of the input behind the elements of a sequence",
            )),
        }
    }

    /// The text of some elements in brackets, and whether they are the last.
    fn elements(&mut self) -> Result<(Vec<u8>, bool), ReadError> {
        let (mut at, mut cut) = (0, None);
        let (end, last) = loop {
            let Some(&byte) = self.bytes.get(at) else {
                if self.more()? {
                    continue;
                }
                return Err(self.failure(Place::Nowhere, "the input ends inside of an array"));
            };
            at += 1;
            match byte {
                b'[' => at = self.end_of_element(at, 1)?,
                b']' => break (at, true),
                b'"' => at = self.end_of_string(at)?,
                b'-' => at = self.end_of_comment(at)?,
                b',' => cut = Some(at),
                _ => {}
            }
            if let Some(cut) = cut
                && at >= PIECE
            {
                break (cut, false);
            }
        };
        let mut text = vec![b'['];
        // The comma or bracket at the end is one byte.
        text.extend_from_slice(&self.bytes[..end - 1]);
        text.push(b']');
        Ok((text, last))
    }

    fn parse(
        &mut self,
        text: Vec<u8>,
        levels: Option<&(Vec<Level>, ScalarType)>,
        leaf: Leaf,
    ) -> Result<Vec<Value>, ReadError> {
        let mut reader = Reader::new(&text);
        let blank = {
            let mut inner = Reader::new(&text[1..text.len() - 1]);
            inner.at_end()
        };
        let read = match levels {
            _ if blank => Ok(Vec::new()),
            Some((levels, elem)) => reader.irregular(levels, Some(*elem)),
            None => reader.value(Some(leaf)).map(|value| vec![value]),
        };
        let read = read.map_err(|e| e.after(self.lines, self.before).in_source(&self.name));
        self.take(text.len() - 1);
        read
    }
}

/// Writes elements behind others: as a part of an array in text form.
pub(crate) fn write_rows(
    ty: &EntryType,
    values: &[Value],
    first: &mut bool,
    out: &mut dyn Write,
) -> io::Result<()> {
    if values.first().is_none_or(|v| v.shape().first() == Some(&0)) {
        return Ok(());
    }
    out.write_all(if *first { b"[" } else { b", " })?;
    *first = false;
    let mut text = Vec::new();
    match values {
        [value] if value.shape().iter().all(|n| *n > 0) => write_text(value, &mut text)?,
        _ => text.extend_from_slice(structured_text(ty, values).as_bytes()),
    }
    let inner = text.strip_prefix(b"[").and_then(|t| t.strip_suffix(b"]"));
    out.write_all(inner.unwrap_or(&text))
}

#[cfg(test)]
mod tests;
