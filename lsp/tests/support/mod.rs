//! A client in the same process, and a host that reads files.
#![allow(dead_code, reason = "each suite uses a part")]

use frontend::source::{FileId, SourceMap};
use lsp::{Host, Job, Report, Text, serve};
use lsp_server::{Connection, Message, Notification, Request, RequestId};
use lsp_types::{Diagnostic, Position, PublishDiagnosticsParams, Range, TextEdit};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::thread::JoinHandle;
use std::time::Duration;

/// Reads files from the disk.
struct Disk;

#[derive(Default)]
struct Loader {
    sources: SourceMap,
    known: BTreeMap<String, FileId>,
}

impl Loader {
    fn add(&mut self, path: &str, text: &str) -> FileId {
        let file = self.sources.add(path, text);
        self.known.insert(path.to_owned(), file);
        file
    }
}

impl frontend::Loader for Loader {
    fn sources(&mut self) -> &mut SourceMap {
        &mut self.sources
    }
    fn load(&mut self, from: FileId, path: &str) -> Result<FileId, String> {
        let from = self.sources.get(from).map(|file| file.name().to_owned());
        let from = from.unwrap_or_default();
        let folder = Path::new(&from).parent().unwrap_or(Path::new(""));
        let path = folder.join(format!("{path}.fut")).display().to_string();
        if let Some(file) = self.known.get(&path) {
            return Ok(*file);
        }
        let text = std::fs::read_to_string(&path).map_err(|why| why.to_string())?;
        Ok(self.add(&path, &text))
    }
}

impl Host for Disk {
    fn loader(&self, texts: &[Text]) -> (Box<dyn frontend::Loader>, Vec<FileId>) {
        let mut loader = Loader::default();
        let files = texts
            .iter()
            .map(|(path, text)| loader.add(path, text))
            .collect();
        (Box::new(loader), files)
    }
    fn read(&self, path: &Path) -> Option<String> {
        std::fs::read_to_string(path).ok()
    }
    fn programs(&self, folder: &Path) -> Vec<PathBuf> {
        let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
        let paths = entries.map(|entry| entry.path());
        let mut paths: Vec<PathBuf> = paths
            .filter(|path| path.extension().is_some_and(|e| e == "fut"))
            .collect();
        paths.sort();
        paths
    }
    /// Whatever has `wrong` in it fails.
    fn start(&self, job: Job, done: Box<dyn FnOnce(Report) + Send>) {
        std::thread::spawn(move || {
            let what = match &job {
                Job::Test { entry, .. } => entry,
                Job::Evaluate { expression, .. } => expression,
            };
            done(Report {
                good: !what.contains("wrong"),
                text: format!("the value of {what}\n"),
            });
        });
    }
}

/// An editor.
pub(crate) struct Client {
    connection: Connection,
    server: Option<JoinHandle<()>>,
    folder: PathBuf,
    next: i32,
    version: i32,
    diagnostics: BTreeMap<String, (i32, Vec<Diagnostic>)>,
}

impl Client {
    /// Starts a server for an empty folder.
    pub(crate) fn start(test: &str) -> Client {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR"))
            .join("lsp")
            .join(test);
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(&folder).expect("a temporary folder");
        let (server, connection) = Connection::memory();
        let server =
            std::thread::spawn(move || serve(&server, &Disk).expect("the server ends well"));
        let mut client = Client {
            connection,
            server: Some(server),
            folder,
            next: 0,
            version: 0,
            diagnostics: BTreeMap::new(),
        };
        let root = client.uri("").trim_end_matches('/').to_owned();
        let answer = client.raw("initialize", json!({"capabilities": {}, "rootUri": root}));
        assert!(
            answer["capabilities"]["hoverProvider"]
                .as_bool()
                .unwrap_or(false)
        );
        client.notify("initialized", json!({}));
        client
    }

    pub(crate) fn uri(&self, path: &str) -> String {
        format!("file://{}", self.folder.join(path).display())
    }

    pub(crate) fn write(&self, path: &str, text: &str) {
        std::fs::write(self.folder.join(path), text).expect("written");
    }

    pub(crate) fn notify(&mut self, method: &str, parameters: Value) {
        let notification = Notification::new(method.to_owned(), parameters);
        let sent = self
            .connection
            .sender
            .send(Message::Notification(notification));
        sent.expect("the server listens");
    }

    pub(crate) fn open(&mut self, path: &str, text: &str) {
        self.version += 1;
        let (uri, version) = (self.uri(path), self.version);
        self.notify(
            "textDocument/didOpen",
            json!({"textDocument": {"uri": uri, "languageId": "futhark", "version": version, "text": text}}),
        );
    }

    /// Replaces a whole text.
    pub(crate) fn change(&mut self, path: &str, text: &str) {
        self.edit(path, json!([{"text": text}]));
    }

    pub(crate) fn edit(&mut self, path: &str, changes: Value) {
        self.version += 1;
        let (uri, version) = (self.uri(path), self.version);
        self.notify(
            "textDocument/didChange",
            json!({"textDocument": {"uri": uri, "version": version}, "contentChanges": changes}),
        );
    }

    fn response(&mut self, method: &str, parameters: Value) -> lsp_server::Response {
        self.next += 1;
        let id = RequestId::from(self.next);
        let request = Request::new(id.clone(), method.to_owned(), parameters);
        let sent = self.connection.sender.send(Message::Request(request));
        sent.expect("the server listens");
        loop {
            match self.receive() {
                Message::Response(response) if response.id == id => return response,
                other @ (Message::Request(_) | Message::Response(_) | Message::Notification(_)) => {
                    self.hear(other);
                }
            }
        }
    }

    fn receive(&self) -> Message {
        let message = self
            .connection
            .receiver
            .recv_timeout(Duration::from_secs(60));
        message.expect("the server answers")
    }

    fn hear(&mut self, message: Message) {
        let Message::Notification(notification) = message else {
            return;
        };
        if notification.method == "textDocument/publishDiagnostics" {
            let heard: PublishDiagnosticsParams =
                serde_json::from_value(notification.params).expect("diagnostics");
            let version = heard.version.unwrap_or(0);
            self.diagnostics
                .insert(heard.uri.to_string(), (version, heard.diagnostics));
        }
    }

    /// Waits for the diagnostics of the last version of a text.
    pub(crate) fn diagnostics(&mut self, path: &str) -> Vec<Diagnostic> {
        let uri = self.uri(path);
        loop {
            match self.diagnostics.get(&uri) {
                Some((version, found)) if *version == self.version => return found.clone(),
                Some(_) | None => {
                    let message = self.receive();
                    self.hear(message);
                }
            }
        }
    }

    pub(crate) fn raw(&mut self, method: &str, parameters: Value) -> Value {
        let response = self.response(method, parameters);
        match response.response_result {
            Ok(value) => value,
            Err(error) => panic!("{method}: {error:?}"),
        }
    }

    pub(crate) fn request<R: lsp_types::request::Request>(
        &mut self,
        parameters: Value,
    ) -> R::Result {
        let value = self.raw(R::METHOD, parameters);
        serde_json::from_value(value).expect("a result of the right form")
    }

    /// A request that is refused, and why.
    pub(crate) fn refused<R: lsp_types::request::Request>(&mut self, parameters: Value) -> String {
        let response = self.response(R::METHOD, parameters);
        response.response_result.expect_err("it is refused").message
    }

    pub(crate) fn stop(mut self) {
        self.raw("shutdown", Value::Null);
        self.notify("exit", Value::Null);
        let server = self.server.take().expect("it runs");
        server.join().expect("the server does not panic");
    }
}

/// The byte of a position.
pub(crate) fn offset(text: &str, position: Position) -> usize {
    let mut start = 0;
    for _ in 0..position.line {
        start += text[start..]
            .find('\n')
            .map_or(text.len() - start, |at| at + 1);
    }
    let line = text[start..].split('\n').next().unwrap_or("");
    let mut column = 0;
    for (at, letter) in line.char_indices() {
        if column >= position.character {
            return start + at;
        }
        column += u32::try_from(letter.len_utf16()).expect("1 or 2");
    }
    start + line.len()
}

/// The position of a byte.
pub(crate) fn position(text: &str, at: usize) -> Position {
    let before = &text[..at];
    let line = before.matches('\n').count();
    let start = before.rfind('\n').map_or(0, |at| at + 1);
    let column = before[start..].encode_utf16().count();
    let number = |value: usize| u32::try_from(value).expect("short texts");
    Position::new(number(line), number(column))
}

/// The position of the first occurrence of a text.
pub(crate) fn at(text: &str, needle: &str) -> Position {
    position(
        text,
        text.find(needle)
            .unwrap_or_else(|| panic!("{needle:?} is not there")),
    )
}

pub(crate) fn range_text(text: &str, range: Range) -> &str {
    &text[offset(text, range.start)..offset(text, range.end)]
}

/// Applies edits, the last ones first.
pub(crate) fn apply(text: &str, mut edits: Vec<TextEdit>) -> String {
    edits
        .sort_by_key(|edit| std::cmp::Reverse((edit.range.start.line, edit.range.start.character)));
    let mut out = text.to_owned();
    for edit in edits {
        let (lo, hi) = (offset(text, edit.range.start), offset(text, edit.range.end));
        out.replace_range(lo..hi, &edit.new_text);
    }
    out
}
