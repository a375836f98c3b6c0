//! Reading values one after another, text or binary as each begins.

use super::build::{elements, push};
use super::number::{Range, parse_token};
use super::{Leaf, Place, ReadError, binary, parse_number};
use midend::ir::scalar::Const;
use midend::ir::types::ScalarType;
use midend::value::{ArrayValue, Data, Value};

/// More dimensions than this are taken for a mistake.
pub(crate) const MAX_RANK: usize = 64;

/// Reads values from bytes.
#[derive(Clone, Debug)]
pub struct Reader<'a> {
    bytes: &'a [u8],
    pos: usize,
}

impl<'a> Reader<'a> {
    /// A reader at the start of `bytes`.
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, pos: 0 }
    }
    /// The number of bytes consumed so far.
    pub fn position(&self) -> usize {
        self.pos
    }
    pub(super) fn bytes(&self) -> &'a [u8] {
        self.bytes
    }
    pub(super) fn move_to(&mut self, position: usize) {
        self.pos = position;
    }
    /// Skips blanks and comments; whether nothing follows.
    pub fn at_end(&mut self) -> bool {
        self.skip();
        self.pos == self.bytes.len()
    }
    /// The next value; of the expected type if there is one, else of the type that it shows.
    pub fn value(&mut self, expected: Option<Leaf>) -> Result<Value, ReadError> {
        self.skip();
        match self.peek() {
            None => Err(match expected {
                Some(leaf) => ReadError::missing(leaf),
                None => self.fail("expected a value, found the end of the input"),
            }),
            Some(b'b') => {
                let (value, end) = binary::read(self.bytes, self.pos, expected)?;
                self.pos = end;
                Ok(value)
            }
            Some(b'[' | b'"') => self.array(expected),
            Some(_) => {
                let start = self.pos;
                match self.token() {
                    "empty" => self.empty(expected, start),
                    token => self.scalar(token, expected, start),
                }
            }
        }
    }
    /// The place of a value that begins at a position: a line of text, or bytes from the start for a binary value.
    pub(super) fn place_of(&self, start: usize) -> Place {
        match self.bytes.get(start) {
            Some(b'b') => Place::Offset(start as u64),
            Some(_) | None => self.line_of(start),
        }
    }
    /// The error for input that is left over.
    pub fn trailing(&mut self) -> ReadError {
        self.skip();
        let start = self.pos;
        let found = self.found();
        self.fail_at(
            start,
            format!("expected the end of the input, found {found}"),
        )
    }

    fn scalar(
        &self,
        token: &str,
        expected: Option<Leaf>,
        start: usize,
    ) -> Result<Value, ReadError> {
        if let Some(leaf) = expected
            && leaf.rank > 0
        {
            let found = self.clone_at(start).found();
            return Err(self.fail_at(
                start,
                format!("expected an array of type {leaf}, found {found}"),
            ));
        }
        parse_token(token, expected.map(|l| l.elem), range_for(expected))
            .map(Value::Scalar)
            .map_err(|why| {
                if token.is_empty() {
                    let found = self.clone_at(start).found();
                    self.fail_at(start, format!("expected a value, found {found}"))
                } else {
                    self.fail_at(start, why)
                }
            })
    }

    fn array(&mut self, expected: Option<Leaf>) -> Result<Value, ReadError> {
        let start = self.pos;
        if let Some(leaf) = expected
            && leaf.rank == 0
        {
            let found = self.clone_at(start).found();
            return Err(self.fail(format!("expected a value of type {leaf}, found {found}")));
        }
        let mut rows = Rows {
            expected,
            shape: Vec::new(),
            open: Vec::new(),
            rank: expected.map(|l| l.rank),
            data: expected.map(|l| Data::zeros(l.elem, 0)),
        };
        self.rows(&mut rows)?;
        rows.finish().map_err(|why| self.fail_at(start, why))
    }

    /// Reads brackets, elements and commas until the outermost bracket is closed.
    fn rows(&mut self, rows: &mut Rows) -> Result<(), ReadError> {
        // Whether an element, a bracket or (after a comma) a closing bracket may follow.
        let mut element = true;
        loop {
            self.skip();
            let start = self.pos;
            let done = match self.peek() {
                Some(b']') => {
                    self.pos += 1;
                    element = false;
                    rows.close()
                }
                Some(b',') if !element => {
                    self.pos += 1;
                    element = true;
                    continue;
                }
                Some(b'[') if element => {
                    self.pos += 1;
                    rows.open().map(|()| false)
                }
                Some(b'"') if element => {
                    let text = self.string()?;
                    element = false;
                    rows.string(&text)
                }
                Some(byte) if element && is_constituent(byte) => {
                    let token = self.token();
                    element = false;
                    rows.element(token).map(|()| false)
                }
                Some(_) | None => {
                    let found = self.found();
                    let what = if element {
                        "an element or `]`"
                    } else {
                        "`,` or `]`"
                    };
                    Err(format!("expected {what}, found {found}"))
                }
            };
            match done {
                Ok(true) => return Ok(()),
                Ok(false) => {}
                Err(why) => return Err(self.fail_at(start, why)),
            }
        }
    }

    /// `("[" n "]")+ type ")"` after the word `empty`.
    fn empty(&mut self, expected: Option<Leaf>, start: usize) -> Result<Value, ReadError> {
        self.expect(b'(')?;
        let mut shape = Vec::new();
        self.skip();
        while self.peek() == Some(b'[') {
            self.pos += 1;
            self.skip();
            let at = self.pos;
            let token = self.token();
            let size = match parse_number(token, Some(ScalarType::I64)) {
                Ok(Const::I64(n)) if n >= 0 && shape.len() < MAX_RANK => n,
                Ok(_) | Err(_) => {
                    return Err(self.fail_at(at, format!("expected a size, found `{token}`")));
                }
            };
            shape.push(size);
            self.expect(b']')?;
            self.skip();
        }
        let at = self.pos;
        let token = self.token();
        let Some(elem) = ScalarType::from_name(token) else {
            return Err(self.fail_at(at, format!("expected an element type, found `{token}`")));
        };
        self.expect(b')')?;
        if elements(&shape) != Some(0) {
            let why = "an array written with `empty` needs a dimension of size 0";
            return Err(self.fail_at(start, why));
        }
        let leaf = Leaf {
            rank: shape.len(),
            elem,
        };
        match expected {
            Some(wanted) if wanted != leaf => Err(self.fail_at(
                start,
                format!("expected a value of type {wanted}, found an empty array of type {leaf}"),
            )),
            Some(_) | None => Ok(Value::Array(ArrayValue {
                shape,
                data: Data::zeros(elem, 0),
            })),
        }
    }

    /// A string in quotes, as bytes.
    fn string(&mut self) -> Result<Vec<u8>, ReadError> {
        let start = self.pos;
        let mut out = Vec::new();
        self.pos += 1;
        loop {
            let byte = self.peek();
            self.pos += 1;
            match byte {
                Some(b'"') => return Ok(out),
                Some(b'\\') => {
                    let escaped = self.escape();
                    let Some(c) = escaped else {
                        return Err(self.fail("unknown escape sequence in a string"));
                    };
                    out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
                }
                Some(byte) => out.push(byte),
                None => {
                    self.pos = self.bytes.len();
                    return Err(self.fail_at(start, "this string is not closed"));
                }
            }
        }
    }

    /// What stands after a backslash.
    fn escape(&mut self) -> Option<char> {
        let byte = self.peek()?;
        self.pos += 1;
        Some(match byte {
            b'n' => '\n',
            b't' => '\t',
            b'r' => '\r',
            b'a' => '\x07',
            b'b' => '\x08',
            b'f' => '\x0c',
            b'v' => '\x0b',
            b'\\' | b'"' | b'\'' => char::from(byte),
            b'x' => char::from_u32(self.digits(16)?)?,
            b'0'..=b'9' => {
                self.pos -= 1;
                char::from_u32(self.digits(10)?)?
            }
            _ => return None,
        })
    }
    fn digits(&mut self, radix: u32) -> Option<u32> {
        let start = self.pos;
        let mut value = 0u32;
        while let Some(digit) = self.peek().and_then(|b| char::from(b).to_digit(radix)) {
            value = value.checked_mul(radix)?.checked_add(digit)?;
            self.pos += 1;
        }
        (self.pos > start).then_some(value)
    }

    /// What has not been read.
    pub(super) fn rest(&self) -> &'a [u8] {
        &self.bytes[self.pos..]
    }
    pub(super) fn peek(&self) -> Option<u8> {
        self.bytes.get(self.pos).copied()
    }
    fn clone_at(&self, pos: usize) -> Self {
        Self {
            bytes: self.bytes,
            pos,
        }
    }
    /// Skips blanks and `--` comments.
    pub(super) fn skip(&mut self) {
        while let Some(byte) = self.peek() {
            if byte.is_ascii_whitespace() || byte == b'\x0b' {
                self.pos += 1;
            } else if self.bytes[self.pos..].starts_with(b"--") {
                let rest = &self.bytes[self.pos..];
                self.pos += rest.iter().position(|b| *b == b'\n').unwrap_or(rest.len());
            } else {
                break;
            }
        }
    }
    /// The letters, digits and signs that stand here; empty if there are none.
    pub(super) fn token(&mut self) -> &'a str {
        let rest = &self.bytes[self.pos..];
        let len = rest.iter().take_while(|b| is_constituent(**b)).count();
        self.pos += len;
        str::from_utf8(&rest[..len]).unwrap_or("")
    }
    /// What stands here, for a message.
    fn found(&mut self) -> String {
        match self.peek() {
            None => String::from("the end of the input"),
            Some(byte) if is_constituent(byte) => {
                let token = self.token();
                let short: String = token.chars().take(40).collect();
                let dots = if short.len() < token.len() { "..." } else { "" };
                format!("`{short}{dots}`")
            }
            Some(byte) if byte.is_ascii_graphic() => format!("`{}`", char::from(byte)),
            Some(byte) => format!("the byte 0x{byte:02x}"),
        }
    }
    pub(super) fn expect(&mut self, byte: u8) -> Result<(), ReadError> {
        self.skip();
        if self.peek() == Some(byte) {
            self.pos += 1;
            return Ok(());
        }
        let start = self.pos;
        let found = self.found();
        let what = char::from(byte);
        Err(self.fail_at(start, format!("expected `{what}`, found {found}")))
    }
    pub(super) fn fail(&self, message: impl Into<String>) -> ReadError {
        self.fail_at(self.pos, message)
    }
    pub(super) fn fail_at(&self, pos: usize, message: impl Into<String>) -> ReadError {
        ReadError::new(self.line_of(pos), message)
    }

    fn line_of(&self, pos: usize) -> Place {
        let before = &self.bytes[..pos.min(self.bytes.len())];
        let line = before.iter().filter(|b| **b == b'\n').count() as u64 + 1;
        let column = before.iter().rev().take_while(|b| **b != b'\n').count() as u64 + 1;
        Place::Line(line, column)
    }
}

/// Who expects a type wants values of that type; values that only show their type are those of test blocks.
pub(super) fn range_for(expected: Option<Leaf>) -> Range {
    match expected {
        Some(_) => Range::Checked,
        None => Range::Wrapping,
    }
}

fn is_constituent(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'+' | b'_')
}

/// An array while it is read.
struct Rows {
    expected: Option<Leaf>,
    /// Extents that are known, by depth, once the first row at that depth is closed.
    shape: Vec<Option<i64>>,
    /// Elements read so far in every open bracket.
    open: Vec<i64>,
    /// The number of dimensions, once known.
    rank: Option<usize>,
    data: Option<Data>,
}

impl Rows {
    fn open(&mut self) -> Result<(), String> {
        if self.rank == Some(self.open.len()) || self.open.len() >= MAX_RANK {
            return Err(match self.expected {
                Some(leaf) => {
                    format!("expected an element of {leaf}, found `[`: too many dimensions")
                }
                None => String::from("the rows of an array must have as many dimensions"),
            });
        }
        self.count();
        self.open.push(0);
        if self.shape.len() < self.open.len() {
            self.shape.push(None);
        }
        Ok(())
    }
    fn count(&mut self) {
        if let Some(count) = self.open.last_mut() {
            *count += 1;
        }
    }
    fn element(&mut self, token: &str) -> Result<(), String> {
        match self.rank {
            Some(rank) if rank != self.open.len() => {
                return Err(format!(
                    "expected `[` (the array has {rank} dimensions), found `{token}`"
                ));
            }
            Some(_) | None => self.rank = Some(self.open.len()),
        }
        let elem = self.data.as_ref().map(Data::elem);
        let value = parse_token(token, elem, range_for(self.expected))?;
        self.count();
        let data = self.data.get_or_insert_with(|| Data::zeros(value.ty(), 0));
        push(data, value);
        Ok(())
    }
    /// A string is a row of bytes; whether it was the whole array.
    fn string(&mut self, text: &[u8]) -> Result<bool, String> {
        self.open()?;
        match self.rank {
            Some(rank) if rank != self.open.len() => {
                return Err(format!(
                    "expected an array of {rank} dimensions, found a string"
                ));
            }
            Some(_) | None => self.rank = Some(self.open.len()),
        }
        let data = self.data.get_or_insert_with(|| Data::U8(Vec::new()));
        let Data::U8(bytes) = data else {
            return Err(format!(
                "expected elements of type {}, found a string, which is an array of u8",
                data.elem()
            ));
        };
        bytes.extend_from_slice(text);
        if let Some(count) = self.open.last_mut() {
            *count = text.len() as i64;
        }
        self.close()
    }
    /// Closes a bracket; whether it was the outermost one.
    fn close(&mut self) -> Result<bool, String> {
        let Some(count) = self.open.pop() else {
            return Err(String::from("expected a value, found `]`"));
        };
        let depth = self.open.len();
        match self.shape[depth] {
            Some(before) if before != count => {
                return Err(format!(
                    "this row has {count} elements, but the rows before it have {before}"
                ));
            }
            Some(_) | None => self.shape[depth] = Some(count),
        }
        Ok(depth == 0)
    }
    fn finish(self) -> Result<Value, String> {
        let Some(data) = self.data else {
            return Err(String::from(
                "the element type of this empty array cannot be told: write `empty([0]i32)` or the like",
            ));
        };
        let mut shape: Vec<i64> = self.shape.into_iter().map(|n| n.unwrap_or(0)).collect();
        match self.rank {
            Some(rank) if shape.len() < rank && data.is_empty() => shape.resize(rank, 0),
            Some(rank) if shape.len() != rank => {
                return Err(format!(
                    "expected an array of {rank} dimensions, found {}",
                    shape.len()
                ));
            }
            Some(_) | None => {}
        }
        match elements(&shape) {
            Some(len) if len == data.len() => Ok(Value::Array(ArrayValue { shape, data })),
            Some(_) | None => Err(String::from(
                "the rows of this array are not of equal shape",
            )),
        }
    }
}
