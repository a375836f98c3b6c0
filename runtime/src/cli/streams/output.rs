//! A sequence that is the result of a run, written as its elements come. What is written behind them, as the second component of a tuple
//! is, or behind a header that says how many there are, as in the binary format, waits in temporary files.

use super::input::has_rows;
use crate::data::{
    can_be_read, leaves, levels, value_text, write_elements, write_header, write_parts, write_rows,
};
use midend::ir::syntax::EntryType;
use midend::ir::types::ScalarType;
use midend::stream::Rows;
use midend::value::{ArrayValue, Data, Value};
use std::fs::File;
use std::io::{self, BufWriter, Seek as _, SeekFrom, Stdout, Write};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};

/// So many bytes of elements are made text at once.
const PIECE: usize = 1 << 18;

/// Where the result goes.
pub(super) enum Output {
    /// Nowhere.
    Silent,
    /// As text to standard output.
    Text(Text),
    /// In the binary format.
    Binary(Binary),
}

/// The text of a result: for each component that is an array what stands before it, and what stands behind the last.
pub(super) struct Text {
    parts: Vec<Component>,
    end: String,
    out: BufWriter<Stdout>,
}

struct Component {
    before: String,
    ty: EntryType,
    first: bool,
    /// Nothing for the first component.
    waiting: Option<Spool>,
}

/// The elements of each value that a result is.
pub(super) struct Binary {
    ty: EntryType,
    leaves: Vec<Leaf>,
}

struct Leaf {
    elem: ScalarType,
    shape: Vec<i64>,
    waiting: Spool,
}

impl Output {
    /// What a result of this type is written to, or nothing if it cannot be written piece by piece.
    pub(super) fn new(ty: &EntryType, binary: bool) -> io::Result<Option<Self>> {
        if binary {
            let leaf = |leaf: crate::data::Leaf| {
                Ok(Leaf {
                    elem: leaf.elem,
                    shape: vec![0; leaf.rank],
                    waiting: Spool::new()?,
                })
            };
            let leaves = leaves(ty).into_iter().map(leaf);
            return Ok(Some(Self::Binary(Binary {
                ty: ty.clone(),
                leaves: leaves.collect::<io::Result<_>>()?,
            })));
        }
        let Some((parts, end)) = components(ty) else {
            return Ok(None);
        };
        let component = |(i, (before, ty))| {
            Ok(Component {
                before,
                ty,
                first: true,
                waiting: (i > 0).then(Spool::new).transpose()?,
            })
        };
        let parts = parts.into_iter().enumerate().map(component);
        Ok(Some(Self::Text(Text {
            parts: parts.collect::<io::Result<_>>()?,
            end,
            out: BufWriter::with_capacity(1 << 16, io::stdout()),
        })))
    }

    /// Takes elements.
    pub(super) fn write(&mut self, values: Vec<Value>) -> io::Result<()> {
        match self {
            Self::Silent => Ok(()),
            Self::Text(text) => text.write(values),
            Self::Binary(binary) => binary.write(&values),
        }
    }

    /// After the last element.
    pub(super) fn finish(self) -> io::Result<()> {
        match self {
            Self::Silent => Ok(()),
            Self::Text(text) => text.finish(),
            Self::Binary(binary) => binary.finish(),
        }
    }
}

impl Text {
    fn write(&mut self, values: Vec<Value>) -> io::Result<()> {
        let mut rest = values.into_iter();
        for part in &mut self.parts {
            let mine: Vec<Value> = rest.by_ref().take(leaves(&part.ty).len()).collect();
            let out: &mut dyn Write = match &mut part.waiting {
                Some(spool) => &mut spool.out,
                None => {
                    if part.first {
                        self.out.write_all(part.before.as_bytes())?;
                        part.before.clear();
                    }
                    &mut self.out
                }
            };
            // Text takes more room than what it is of.
            let bytes: usize = mine.iter().map(bytes).sum();
            let count = mine.first().and_then(|v| v.shape().first().copied());
            let count = count.and_then(|n| usize::try_from(n).ok()).unwrap_or(0);
            let most = (count * PIECE / bytes.max(1)).max(1);
            if count <= most {
                write_rows(&part.ty, &mine, &mut part.first, out)?;
                continue;
            }
            let mut rows = Rows::new(part.ty.clone());
            rows.push(mine).map_err(io::Error::other)?;
            while !rows.is_empty() {
                let some = rows.take(most).map_err(io::Error::other)?;
                write_rows(&part.ty, &some, &mut part.first, out)?;
            }
        }
        Ok(())
    }

    fn finish(mut self) -> io::Result<()> {
        for part in self.parts {
            self.out.write_all(part.before.as_bytes())?;
            if let Some(spool) = part.waiting {
                spool.copy(&mut self.out)?;
            }
            match part.first {
                true => self.out.write_all(nothing(&part.ty).as_bytes())?,
                false => self.out.write_all(b"]")?,
            }
        }
        writeln!(self.out, "{}", self.end)?;
        self.out.flush()
    }
}

impl Binary {
    fn write(&mut self, values: &[Value]) -> io::Result<()> {
        for (leaf, value) in self.leaves.iter_mut().zip(values) {
            match value.shape() {
                [] | [0, ..] => continue,
                [count, inner @ ..] => {
                    let before = leaf.shape.first().copied().unwrap_or(0);
                    leaf.shape = vec![before + count];
                    leaf.shape.extend_from_slice(inner);
                }
            }
            write_elements(value, &mut leaf.waiting.out)?;
        }
        Ok(())
    }

    fn finish(self) -> io::Result<()> {
        let mut out = BufWriter::with_capacity(1 << 16, io::stdout());
        if let Some((levels, elem)) = levels(&self.ty) {
            let shapes: Vec<Vec<i64>> = self.leaves.iter().map(|l| l.shape.clone()).collect();
            let extent = |at: usize, dim: usize| shapes.get(at)?.get(dim).copied();
            let mut waiting: Vec<Option<Spool>> =
                self.leaves.into_iter().map(|l| Some(l.waiting)).collect();
            write_parts((&levels, elem), extent, &mut out, |at, out| {
                let spool = waiting.get_mut(at).and_then(Option::take);
                spool.map_or(Ok(()), |spool| spool.copy(out))
            })?;
            return out.flush();
        }
        for leaf in self.leaves {
            write_header(&leaf.shape, leaf.elem, &mut out)?;
            leaf.waiting.copy(&mut out)?;
        }
        out.flush()
    }
}

/// How many bytes the elements of a value take.
fn bytes(value: &Value) -> usize {
    match value {
        Value::Array(array) => array.data.len() * array.data.elem().bytes(),
        Value::Scalar(c) => c.ty().bytes(),
    }
}

/// What a component is preceded by, and its type.
type Named = (String, EntryType);

/// The components of an array as text, each with what stands before it, and what stands behind all. Nothing if they are not one array each.
fn components(ty: &EntryType) -> Option<(Vec<Named>, String)> {
    if can_be_read(ty) {
        return Some((vec![(String::new(), ty.clone())], String::new()));
    }
    let (mut parts, mut text) = (Vec::new(), String::new());
    go(ty, 0, &mut parts, &mut text)?;
    Some((parts, text))
}

fn go(ty: &EntryType, outer: usize, parts: &mut Vec<Named>, text: &mut String) -> Option<()> {
    match ty {
        EntryType::Rows(_) => return None,
        EntryType::Array { rank, elem } if !leaves(elem).is_empty() => {
            go(elem, outer + rank, parts, text)?;
        }
        // Elements without data have no array that they are part of.
        EntryType::Array { .. } => return None,
        EntryType::Scalar(_) => {
            let ty = EntryType::Array {
                rank: outer,
                elem: Box::new(ty.clone()),
            };
            parts.push((std::mem::take(text), ty));
        }
        EntryType::Opaque { of, .. } => go(of, outer, parts, text)?,
        EntryType::Tuple(of) => {
            text.push('(');
            for (i, ty) in of.iter().enumerate() {
                text.push_str(if i > 0 { ", " } else { "" });
                go(ty, outer, parts, text)?;
            }
            text.push(')');
        }
        EntryType::Record(of) => {
            text.push('{');
            for (i, (name, ty)) in of.iter().enumerate() {
                text.push_str(if i > 0 { ", " } else { "" });
                text.push_str(name);
                text.push_str(" = ");
                go(ty, outer, parts, text)?;
            }
            text.push('}');
        }
        EntryType::Sum(_) if has_rows(ty) => return None,
        // The constructors, and what each of them holds.
        EntryType::Sum(_) => {
            let all = leaves(ty);
            text.push_str(if all.len() > 1 { "(" } else { "" });
            for (i, leaf) in all.iter().enumerate() {
                text.push_str(if i > 0 { ", " } else { "" });
                go(
                    &EntryType::Scalar(leaf.elem),
                    outer + leaf.rank,
                    parts,
                    text,
                )?;
            }
            text.push_str(if all.len() > 1 { ")" } else { "" });
        }
    }
    Some(())
}

/// The text of a sequence without elements.
fn nothing(ty: &EntryType) -> String {
    let leaves = leaves(ty);
    let Some(leaf) = leaves.last() else {
        return String::from("[]");
    };
    let rank = leaf.rank + leaves.len() - 1;
    value_text(&Value::Array(ArrayValue {
        shape: vec![0; rank],
        data: Data::zeros(leaf.elem, 0),
    }))
}

/// A temporary file.
struct Spool {
    path: PathBuf,
    out: BufWriter<File>,
}

impl Spool {
    fn new() -> io::Result<Self> {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        loop {
            let number = NUMBER.fetch_add(1, Ordering::Relaxed);
            let name = format!("arrc-{}-{number}.part", std::process::id());
            let path = std::env::temp_dir().join(name);
            let mut options = File::options();
            match options.read(true).write(true).create_new(true).open(&path) {
                Ok(file) => {
                    let out = BufWriter::with_capacity(1 << 16, file);
                    return Ok(Self { path, out });
                }
                Err(why) if why.kind() == io::ErrorKind::AlreadyExists => {}
                Err(why) => return Err(why),
            }
        }
    }

    /// Copies all that was written.
    fn copy(mut self, to: &mut impl Write) -> io::Result<()> {
        self.out.seek(SeekFrom::Start(0))?;
        io::copy(self.out.get_mut(), to).map(|_| ())
    }
}

impl Drop for Spool {
    fn drop(&mut self) {
        // Systems that clean up temporary files do so later.
        let _ = std::fs::remove_file(&self.path);
    }
}
