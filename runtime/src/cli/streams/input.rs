//! Elements of sequences, read by threads of their own while others are worked on.

use super::super::bar;
use super::super::exit::Exit;
use crate::data::{
    Chunks, Place, ReadError, Source, can_be_read, check_constructors, choices, leaves, levels,
    parameter_leaves, read_arguments,
};
use flate2::read::MultiGzDecoder;
use indicatif::ProgressBar;
use midend::ir::syntax::{Entry, EntryParam, EntryType};
use midend::stream::Rows;
use midend::trap::RunError;
use midend::value::Value;
use std::fs::File;
use std::io::{self, Cursor, Read};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::time::Duration;

/// How many pieces wait to be worked on.
const WAITING: usize = 4;

/// How often it is asked whether the device is still at work while elements are waited for.
const PATIENCE: Duration = Duration::from_millis(1);

/// Elements, or why there are none.
type Piece = Result<Vec<Value>, ReadError>;

/// Where a sequence comes from: one file, or one for each component of its elements.
pub(super) struct Input {
    parts: Vec<Part>,
}

struct Part {
    pieces: Receiver<Piece>,
    rows: Rows,
    ended: bool,
    /// Why there are no more.
    failed: Option<RunError>,
}

impl Input {
    /// The next elements: so many, or all that are left.
    pub(super) fn read(&mut self, most: usize) -> Result<Vec<Value>, RunError> {
        let (mut values, mut counts) = (Vec::new(), Vec::with_capacity(self.parts.len()));
        for part in &mut self.parts {
            let (some, count) = part.take(most)?;
            values.extend(some);
            counts.push(count);
        }
        if counts.iter().any(|n| *n != counts[0]) {
            let why = "the components of a sequence differ in length";
            return Err(RunError::BadArguments(String::from(why)));
        }
        Ok(values)
    }

    /// Waits for elements as long as somebody is `busy`; whether so many, or all that are left, are there.
    pub(super) fn gather(&mut self, most: usize, busy: &dyn Fn() -> bool) -> bool {
        self.parts.iter_mut().all(|part| part.gather(most, busy))
    }
}

impl Part {
    /// Elements of this type, from a thread that reads them.
    fn new<R: Read + Send + 'static>(
        mut chunks: Chunks<R>,
        bar: ProgressBar,
        (ty, choices): (EntryType, Option<usize>),
    ) -> Self {
        let (send, pieces) = sync_channel::<Piece>(WAITING);
        let rows = Rows::new(ty.clone());
        std::thread::spawn(move || {
            let done = chunks.each(&ty, &mut |values| {
                let checked = match choices {
                    Some(choices) => values
                        .iter()
                        .try_for_each(|v| check_constructors(v, choices, || Place::Nowhere)),
                    None => Ok(()),
                };
                let more = checked.is_ok();
                // Nobody listens any more when the run is over.
                send.send(checked.map(|()| values)).is_ok() && more
            });
            bar.finish_and_clear();
            if let Err(why) = done {
                let _ = send.send(Err(why));
            }
        });
        Self {
            pieces,
            rows,
            ended: false,
            failed: None,
        }
    }

    /// The next elements, so many or all that are left, and how many they are. A piece is put behind those before as soon as it
    /// is there, so that nothing is there twice.
    fn take(&mut self, most: usize) -> Result<(Vec<Value>, usize), RunError> {
        let mut values = self.rows.empty();
        self.rows.reserve(most);
        let mut count = self.rows.take_into(&mut values, most)?;
        while count < most && !self.ended {
            if self.failed.is_none() {
                let piece = self.pieces.recv().ok();
                self.note(piece);
            }
            if let Some(why) = self.failed.take() {
                return Err(why);
            }
            count += self.rows.take_into(&mut values, most - count)?;
        }
        Ok((values, count))
    }

    /// See [`Input::gather`].
    fn gather(&mut self, most: usize, busy: &dyn Fn() -> bool) -> bool {
        while self.rows.len() < most && !self.ended && self.failed.is_none() {
            let piece = match self.pieces.recv_timeout(PATIENCE) {
                Ok(piece) => Some(piece),
                Err(RecvTimeoutError::Disconnected) => None,
                Err(RecvTimeoutError::Timeout) if busy() => continue,
                Err(RecvTimeoutError::Timeout) => return false,
            };
            self.note(piece);
        }
        true
    }

    /// What has come; nothing at the end.
    fn note(&mut self, piece: Option<Piece>) {
        match piece {
            Some(Ok(piece)) => self.failed = self.rows.push(piece).err(),
            Some(Err(why)) => self.failed = Some(RunError::BadArguments(why.to_string())),
            None => self.ended = true,
        }
    }
}

/// For each sequence its files; and what the other parameters are read from.
pub(super) struct Sources {
    sequences: Vec<Vec<PathBuf>>,
    others: Vec<PathBuf>,
    /// Whether the other parameters come before the one sequence.
    before: bool,
}

/// The components of an array that are values of their own, if they can be read piece by piece; for each the number of constructors.
fn components(ty: &EntryType) -> Option<Vec<(EntryType, Option<usize>)>> {
    if levels(ty).is_some() {
        return Some(vec![(ty.clone(), None)]);
    }
    let leaves = leaves(ty);
    if can_be_read(ty) {
        let choices = choices(ty).first().copied().flatten();
        return Some(vec![(ty.clone(), choices)]);
    }
    let regular = !has_rows(ty);
    let array = |leaf: &crate::data::Leaf| EntryType::Array {
        rank: leaf.rank,
        elem: Box::new(EntryType::Scalar(leaf.elem)),
    };
    regular.then(|| leaves.iter().map(array).zip(choices(ty)).collect())
}

/// Whether there are irregular arrays somewhere in values of a type.
pub(super) fn has_rows(ty: &EntryType) -> bool {
    match ty {
        EntryType::Scalar(_) => false,
        EntryType::Rows(_) => true,
        EntryType::Array { elem, .. } => has_rows(elem),
        EntryType::Opaque { of, .. } => has_rows(of),
        EntryType::Tuple(parts) => parts.iter().any(has_rows),
        EntryType::Record(fields) => fields.iter().any(|(_, ty)| has_rows(ty)),
        EntryType::Sum(constructors) => constructors
            .iter()
            .any(|(_, parts)| parts.iter().any(has_rows)),
    }
}

/// The name of a file without that of a compression.
fn bare(path: &Path) -> String {
    let name = path.to_string_lossy();
    name.strip_suffix(".gz").unwrap_or(&name).to_owned()
}

fn is_npy(path: &Path) -> bool {
    bare(path).ends_with(".npy")
}

/// Where the sequences of an entry point come from; nothing if they cannot be told apart, or cannot be read piece by piece.
pub(super) fn sources(entry: &Entry, inputs: &[PathBuf]) -> Option<Sources> {
    let streamed = |param: &&EntryParam| param.streamed;
    let sequences = entry.params.iter().filter(streamed);
    let parts: Option<Vec<_>> = sequences.map(|param| components(&param.ty)).collect();
    let parts = parts?;
    if parts.is_empty() {
        let stdin = || vec![PathBuf::from("-")];
        return Some(Sources {
            sequences: Vec::new(),
            others: match inputs {
                [] => stdin(),
                inputs => inputs.to_vec(),
            },
            before: false,
        });
    }
    let plain = |path: &Path, ty: &EntryType| {
        let is_deep = is_npy(path) && levels(ty).is_some();
        !bare(path).ends_with(".npz") && !is_deep
    };
    // One sequence behind all other values, each of which is one value in text form.
    if inputs.len() <= 1 && parts.iter().map(Vec::len).sum::<usize>() == 1 {
        let (last, others) = entry.params.split_last()?;
        let simple = others
            .iter()
            .all(|p| !p.streamed && leaves(&p.ty).len() == 1);
        let path = inputs.first().cloned().unwrap_or_else(|| "-".into());
        let alone = others.is_empty() || !is_npy(&path);
        let can = last.streamed && simple && alone && plain(&path, &last.ty);
        return can.then(|| Sources {
            sequences: vec![vec![path]],
            others: Vec::new(),
            before: true,
        });
    }
    // Files of their own for parameters, or for all of their components.
    let mut parts = parts.into_iter();
    let counts = |by_component: bool| -> Vec<usize> {
        let mut parts = parts.clone();
        let count = |param: &EntryParam| match (param.streamed, by_component) {
            (true, true) => parts.next().map_or(0, |parts| parts.len()),
            (true, false) | (false, false) => 1,
            (false, true) if levels(&param.ty).is_some() => 1,
            (false, true) => leaves(&param.ty).len(),
        };
        entry.params.iter().map(count).collect()
    };
    let fits = |counts: &Vec<usize>| counts.iter().sum::<usize>() == inputs.len();
    let counts = [false, true].map(counts).into_iter().find(fits)?;
    let (mut rest, mut sequences, mut others) = (inputs, Vec::new(), Vec::new());
    for (param, count) in entry.params.iter().zip(counts) {
        let (mine, more) = rest.split_at_checked(count)?;
        rest = more;
        if !param.streamed {
            others.extend_from_slice(mine);
            continue;
        }
        let parts = parts.next()?;
        let mut each = mine.iter().zip(&parts);
        if mine.len() != parts.len() || !each.all(|(path, (ty, _))| plain(path, ty)) {
            return None;
        }
        sequences.push(mine.to_vec());
    }
    Some(Sources {
        sequences,
        others,
        before: false,
    })
}

/// Opens a file, decompresses it if it is compressed, by its first two bytes; how many of its bytes have been read is shown to whoever looks.
fn open(path: &Path, name: &str) -> Result<(Box<dyn Read + Send>, ProgressBar), Exit> {
    let failed = |why: io::Error| Exit::user(format!("cannot read {name}: {why}"));
    let (mut file, bar): (Box<dyn Read + Send>, _) = if path == Path::new("-") {
        (Box::new(io::stdin()), ProgressBar::hidden())
    } else {
        let file = File::open(path).map_err(failed)?;
        let size = file.metadata().map_or(0, |data| data.len());
        let bar = bar::bytes(size);
        (Box::new(bar.wrap_read(file)), bar)
    };
    let mut first = Vec::new();
    file.by_ref()
        .take(2)
        .read_to_end(&mut first)
        .map_err(failed)?;
    let compressed = first == [0x1f, 0x8b];
    let file = Cursor::new(first).chain(file);
    match compressed {
        true => Ok((Box::new(MultiGzDecoder::new(file)), bar)),
        false => Ok((Box::new(file), bar)),
    }
}

/// Opens what sequences are read from; and the arguments that are none.
pub(super) fn open_all(entry: &Entry, sources: &Sources) -> Result<(Vec<Input>, Vec<Value>), Exit> {
    let mut rest = entry.clone();
    rest.params.retain(|param| !param.streamed);
    let mut args = Vec::new();
    if !sources.before && !parameter_leaves(&rest).is_empty() {
        let opened = sources.others.iter().map(|path| Source::open(path));
        let opened = opened.collect::<Result<Vec<_>, _>>().map_err(Exit::user)?;
        args = read_arguments(&rest, &opened).map_err(Exit::user)?;
    }
    let mut inputs = Vec::new();
    let streamed = entry.params.iter().filter(|param| param.streamed);
    for (paths, param) in sources.sequences.iter().zip(streamed) {
        let mut parts = Vec::new();
        for (path, part) in paths
            .iter()
            .zip(components(&param.ty).into_iter().flatten())
        {
            let name = match path.to_str() {
                Some("-") => String::from("standard input"),
                _ => path.display().to_string(),
            };
            let (file, bar) = open(path, &name)?;
            let mut chunks = match is_npy(path) {
                true => Chunks::numpy(file, &name),
                false => Chunks::new(file, &name),
            };
            if sources.before && !rest.params.is_empty() {
                let mut texts = Vec::new();
                for _ in &rest.params {
                    let value = chunks.value().map_err(Exit::user)?;
                    texts.push(Source::from_bytes(name.clone(), value));
                }
                let texts = texts.into_iter().collect::<Result<Vec<_>, _>>();
                args = read_arguments(&rest, &texts.map_err(Exit::user)?).map_err(Exit::user)?;
            }
            parts.push(Part::new(chunks, bar, part));
        }
        inputs.push(Input { parts });
    }
    Ok((inputs, args))
}
