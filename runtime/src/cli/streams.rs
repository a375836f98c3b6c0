//! `arrc run` of entry points with sequences: elements are read by another thread while a chunk is worked on, and results are written as
//! they come.

use super::bar;
use super::exit::Exit;
use super::run::RunArguments;
use super::stop::while_running;
use crate::data::{
    Chunks, ReadError, Source, can_be_read, leaves, parameter_leaves, read_arguments, value_text,
    write_rows,
};
use crate::session::Program;
use indicatif::ProgressBar;
use midend::ir::syntax::{Entry, EntryType};
use midend::stream::{Outside, Rows};
use midend::trap::RunError;
use midend::value::{ArrayValue, Data, Value};
use std::fs::File;
use std::io::{self, BufWriter, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, sync_channel};
use std::sync::{Mutex, PoisonError};

/// How many pieces wait to be worked on.
const WAITING: usize = 4;

/// Elements, or why there are none.
type Piece = Result<Vec<Value>, ReadError>;

/// Where the sequences of a run come from and go to.
struct Files<'a> {
    inputs: Vec<Mutex<Input>>,
    output: Mutex<Output<'a>>,
}

struct Input {
    pieces: Receiver<Piece>,
    rows: Rows,
    ended: bool,
}

struct Output<'a> {
    ty: Option<&'a EntryType>,
    out: BufWriter<io::Stdout>,
    first: bool,
    /// Whether nothing is to be written.
    silent: bool,
    failed: Option<io::Error>,
}

impl Outside for Files<'_> {
    fn read(&self, stream: u32, most: i64) -> Result<Vec<Value>, RunError> {
        let missing = || RunError::Internal(String::from("there is no such sequence"));
        let input = self.inputs.get(stream as usize).ok_or_else(missing)?;
        let mut input = input.lock().unwrap_or_else(PoisonError::into_inner);
        let most = usize::try_from(most).unwrap_or(usize::MAX);
        while input.rows.len() < most && !input.ended {
            match input.pieces.recv() {
                Ok(Ok(values)) => input.rows.push(values)?,
                Ok(Err(why)) => return Err(RunError::BadArguments(why.to_string())),
                Err(_) => input.ended = true,
            }
        }
        input.rows.take(most)
    }

    fn write(&self, values: Vec<Value>) -> Result<(), RunError> {
        let mut output = self.output.lock().unwrap_or_else(PoisonError::into_inner);
        if output.silent {
            return Ok(());
        }
        let Output { ty, out, first, .. } = &mut *output;
        let Some(ty) = ty else { return Ok(()) };
        if let Err(why) = write_rows(ty, &values, first, out) {
            output.failed = Some(why);
            return Err(RunError::Interrupted);
        }
        Ok(())
    }
}

/// Whether the sequences of a run can be read and written piece by piece.
pub(super) fn can_stream(entry: &Entry, arguments: &RunArguments) -> bool {
    let has_sequences = entry.streamed || entry.params.iter().any(|param| param.streamed);
    let results = !entry.streamed || entry.results.iter().all(can_be_read);
    has_sequences && results && arguments.is_plain() && sources(entry, &arguments.inputs).is_some()
}

/// For each sequence its file; and what the other parameters are read from. Nothing if sequences cannot be told apart.
struct Sources {
    sequences: Vec<PathBuf>,
    others: Vec<PathBuf>,
    /// Whether the other parameters that are left come before the one sequence.
    before: bool,
}

fn sources(entry: &Entry, inputs: &[PathBuf]) -> Option<Sources> {
    let streamed: Vec<bool> = entry.params.iter().map(|param| param.streamed).collect();
    let readable = |param: &&midend::ir::syntax::EntryParam| param.streamed;
    if !entry
        .params
        .iter()
        .filter(readable)
        .all(|param| can_be_read(&param.ty))
    {
        return None;
    }
    let plain = |path: &Path| {
        let name = path.to_string_lossy();
        !name.ends_with(".gz") && !name.ends_with(".npy")
    };
    let files = |wanted: bool| {
        let files = inputs.iter().zip(&streamed).filter(|(_, s)| **s == wanted);
        files.map(|(path, _)| path.clone()).collect::<Vec<_>>()
    };
    if !streamed.contains(&true) {
        let stdin = || vec![PathBuf::from("-")];
        return Some(Sources {
            sequences: Vec::new(),
            others: if inputs.is_empty() {
                stdin()
            } else {
                inputs.to_vec()
            },
            before: false,
        });
    }
    if inputs.len() == streamed.len() && inputs.len() > 1 {
        let sequences = files(true);
        let all = sequences.iter().all(|path| plain(path));
        return all.then(|| Sources {
            sequences,
            others: files(false),
            before: false,
        });
    }
    // One sequence behind all other values, each of which is one value in text form.
    let (last, others) = streamed.split_last()?;
    let simple = entry
        .params
        .iter()
        .all(|p| p.streamed || leaves(&p.ty).len() == 1);
    let path = match inputs {
        [] => PathBuf::from("-"),
        [one] => one.clone(),
        _ => return None,
    };
    (*last && !others.contains(&true) && simple && plain(&path)).then(|| Sources {
        sequences: vec![path],
        others: Vec::new(),
        before: true,
    })
}

/// Opens a file; how many of its bytes have been read is shown to whoever looks.
fn open(path: &Path) -> Result<(Box<dyn Read + Send>, ProgressBar), Exit> {
    if path == Path::new("-") {
        return Ok((Box::new(io::stdin()), ProgressBar::hidden()));
    }
    match File::open(path) {
        Ok(file) => {
            let size = file.metadata().map_or(0, |data| data.len());
            let bar = bar::bytes(size);
            Ok((Box::new(bar.wrap_read(file)), bar))
        }
        Err(why) => Err(Exit::user(format!("cannot read {}: {why}", path.display()))),
    }
}

/// Runs the entry point; its results but for a sequence, which is written.
pub(super) fn run(
    program: &Program,
    entry: &Entry,
    arguments: &RunArguments,
) -> Result<Result<Vec<Value>, RunError>, Exit> {
    let Some(sources) = sources(entry, &arguments.inputs) else {
        return Err(Exit::internal("sequences that cannot be told apart"));
    };
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
    for (path, param) in sources.sequences.iter().zip(streamed) {
        let name = match path.to_str() {
            Some("-") => String::from("standard input"),
            _ => path.display().to_string(),
        };
        let (file, bar) = open(path)?;
        let mut chunks = Chunks::new(file, &name);
        if sources.before && !rest.params.is_empty() {
            let mut texts = Vec::new();
            for _ in &rest.params {
                let value = chunks.value().map_err(Exit::user)?;
                texts.push(Source::from_bytes(name.clone(), value));
            }
            let texts = texts.into_iter().collect::<Result<Vec<_>, _>>();
            args = read_arguments(&rest, &texts.map_err(Exit::user)?).map_err(Exit::user)?;
        }
        let (send, pieces) = sync_channel::<Piece>(WAITING);
        let ty = param.ty.clone();
        std::thread::spawn(move || {
            // Nobody listens any more when the run is over.
            let done = chunks.each(&ty, &mut |values| send.send(Ok(values)).is_ok());
            bar.finish_and_clear();
            if let Err(why) = done {
                let _ = send.send(Err(why));
            }
        });
        inputs.push(Mutex::new(Input {
            pieces,
            rows: Rows::new(param.ty.clone()),
            ended: false,
        }));
    }
    let ty = entry.results.first().filter(|_| entry.streamed);
    let files = Files {
        inputs,
        output: Mutex::new(Output {
            ty,
            out: BufWriter::with_capacity(1 << 16, io::stdout()),
            first: true,
            silent: arguments.no_print_result,
            failed: None,
        }),
    };
    let results = while_running(|| program.call_streaming(&entry.name, args, &files));
    let mut output = files
        .output
        .into_inner()
        .unwrap_or_else(PoisonError::into_inner);
    if let Some(why) = output.failed {
        return Err(Exit::write(&why));
    }
    if let (Some(ty), Ok(_), false) = (ty, &results, output.silent) {
        let end = match output.first {
            true => nothing(ty),
            false => String::from("]"),
        };
        let written = writeln!(output.out, "{end}").and_then(|()| output.out.flush());
        written.map_err(|why| Exit::write(&why))?;
    }
    Ok(results)
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
