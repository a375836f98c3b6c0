//! The loop of the server: reads messages, keeps texts, answers requests in order.

mod dispatch;

use crate::document::Document;
use crate::lenses::{self, Reports};
use crate::position::{Lines, path_of, uri_of};
use crate::snapshot::Snapshot;
use crate::{Host, Job, Report, Text, diagnostics, semantic};
use frontend::types::index::Use;
use lsp_server::{Connection, Message, Notification, Request, Response};
use lsp_types::notification::{
    DidChangeTextDocument, DidCloseTextDocument, DidOpenTextDocument, Notification as _,
    PublishDiagnostics, ShowMessage,
};
use lsp_types::request::{CodeLensRefresh, Request as _};
use lsp_types::{
    CodeActionProviderCapability, CodeLensOptions, CompletionOptions, DidChangeTextDocumentParams,
    DidCloseTextDocumentParams, DidOpenTextDocumentParams, ExecuteCommandOptions,
    FoldingRangeProviderCapability, HoverProviderCapability, InitializeParams, MessageType, OneOf,
    PublishDiagnosticsParams, RenameOptions, SemanticTokensFullOptions, SemanticTokensOptions,
    SemanticTokensServerCapabilities, ServerCapabilities, ShowMessageParams, SignatureHelpOptions,
    TextDocumentSyncCapability, TextDocumentSyncKind,
};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;

/// What ends the server without success.
pub(crate) type Failure = Box<dyn std::error::Error + Send + Sync>;

/// More programs of a folder than these are not searched for uses of a name.
const MAX_PROGRAMS: usize = 400;

/// Answers an editor until it says that it is done.
///
/// # Errors
/// When the editor breaks the protocol, or the connection ends before it says so.
pub fn serve(connection: &Connection, host: &dyn Host) -> Result<(), Failure> {
    let capabilities = serde_json::to_value(capabilities())?;
    let parameters = connection.initialize(capabilities)?;
    let parameters: InitializeParams = serde_json::from_value(parameters)?;
    let (done, ended) = crossbeam_channel::unbounded();
    let mut server = Server {
        host,
        reports: Reports::new(),
        done,
        asked: 0,
        refreshes: refreshes(&parameters),
        documents: BTreeMap::new(),
        folders: folders(&parameters),
        others: BTreeMap::new(),
        dirty: BTreeSet::new(),
    };
    loop {
        // What is typed quickly is checked once.
        let message = match connection.receiver.try_recv() {
            Ok(message) => message,
            Err(_) => {
                server.publish(connection)?;
                crossbeam_channel::select! {
                    recv(connection.receiver) -> message => match message {
                        Ok(message) => message,
                        Err(_) => return Ok(()),
                    },
                    recv(ended) -> report => {
                        if let Ok((job, report)) = report {
                            server.ended(connection, job, report)?;
                        }
                        continue;
                    }
                }
            }
        };
        match message {
            Message::Request(request) => {
                if connection.handle_shutdown(&request)? {
                    return Ok(());
                }
                let response = server.answer(request);
                connection.sender.send(Message::Response(response))?;
            }
            Message::Notification(notification) => server.hear(notification),
            Message::Response(_) => {}
        }
    }
}

fn capabilities() -> ServerCapabilities {
    let characters = |text: &str| Some(text.chars().map(String::from).collect());
    ServerCapabilities {
        text_document_sync: Some(TextDocumentSyncCapability::Kind(
            TextDocumentSyncKind::INCREMENTAL,
        )),
        hover_provider: Some(HoverProviderCapability::Simple(true)),
        definition_provider: Some(OneOf::Left(true)),
        references_provider: Some(OneOf::Left(true)),
        document_highlight_provider: Some(OneOf::Left(true)),
        document_symbol_provider: Some(OneOf::Left(true)),
        workspace_symbol_provider: Some(OneOf::Left(true)),
        completion_provider: Some(CompletionOptions {
            trigger_characters: characters(".#"),
            ..CompletionOptions::default()
        }),
        rename_provider: Some(OneOf::Right(RenameOptions {
            prepare_provider: Some(true),
            work_done_progress_options: lsp_types::WorkDoneProgressOptions::default(),
        })),
        signature_help_provider: Some(SignatureHelpOptions {
            trigger_characters: characters(" "),
            ..SignatureHelpOptions::default()
        }),
        code_action_provider: Some(CodeActionProviderCapability::Simple(true)),
        code_lens_provider: Some(CodeLensOptions {
            resolve_provider: Some(false),
        }),
        execute_command_provider: Some(ExecuteCommandOptions {
            commands: vec![lenses::COMMAND.to_owned()],
            ..ExecuteCommandOptions::default()
        }),
        inlay_hint_provider: Some(OneOf::Left(true)),
        folding_range_provider: Some(FoldingRangeProviderCapability::Simple(true)),
        document_formatting_provider: Some(OneOf::Left(true)),
        semantic_tokens_provider: Some(SemanticTokensServerCapabilities::SemanticTokensOptions(
            SemanticTokensOptions {
                legend: semantic::legend(),
                full: Some(SemanticTokensFullOptions::Bool(true)),
                ..SemanticTokensOptions::default()
            },
        )),
        ..ServerCapabilities::default()
    }
}

/// Whether the editor can be told to request its lenses again.
fn refreshes(parameters: &InitializeParams) -> bool {
    let workspace = parameters.capabilities.workspace.as_ref();
    let lenses = workspace.and_then(|workspace| workspace.code_lens.as_ref());
    lenses
        .and_then(|lenses| lenses.refresh_support)
        .unwrap_or(false)
}

fn folders(parameters: &InitializeParams) -> Vec<PathBuf> {
    let folders = parameters.workspace_folders.iter().flatten();
    let mut folders: Vec<PathBuf> = folders
        .map(|folder| PathBuf::from(path_of(&folder.uri)))
        .collect();
    #[expect(deprecated, reason = "older editors name one folder only")]
    if let (true, Some(root)) = (folders.is_empty(), &parameters.root_uri) {
        folders.push(PathBuf::from(path_of(root)));
    }
    folders
}

/// The state of the server.
pub(crate) struct Server<'h> {
    pub(crate) host: &'h dyn Host,
    /// What came of jobs since something was typed.
    pub(crate) reports: Reports,
    /// Where jobs report.
    done: crossbeam_channel::Sender<(Job, Report)>,
    /// How many requests were sent to the editor.
    asked: i32,
    /// Whether the editor can be told to request its lenses again.
    refreshes: bool,
    /// What is open, by its path.
    documents: BTreeMap<String, Document>,
    pub(crate) folders: Vec<PathBuf>,
    /// What is known of programs that are not open; forgotten when something is typed.
    others: BTreeMap<String, Rc<Snapshot>>,
    /// What changed since its diagnostics were sent.
    dirty: BTreeSet<String>,
}

impl Server<'_> {
    fn hear(&mut self, notification: Notification) {
        // A notification that cannot be read says nothing.
        let _ = match notification.method.as_str() {
            DidOpenTextDocument::METHOD => serde_json::from_value(notification.params)
                .map(|parameters| self.opened(parameters)),
            DidChangeTextDocument::METHOD => serde_json::from_value(notification.params)
                .map(|parameters| self.changed(parameters)),
            DidCloseTextDocument::METHOD => serde_json::from_value(notification.params)
                .map(|parameters| self.closed(&parameters)),
            _ => Ok(()),
        };
    }

    fn opened(&mut self, parameters: DidOpenTextDocumentParams) {
        let item = parameters.text_document;
        let path = path_of(&item.uri);
        let document = Document::new(path.clone(), item.text, item.version);
        self.documents.insert(path, document);
        self.forget();
    }

    fn changed(&mut self, parameters: DidChangeTextDocumentParams) {
        let path = path_of(&parameters.text_document.uri);
        if let Some(document) = self.documents.get_mut(&path) {
            document.change(parameters.content_changes, parameters.text_document.version);
            self.forget();
        }
    }

    fn closed(&mut self, parameters: &DidCloseTextDocumentParams) {
        let path = path_of(&parameters.text_document.uri);
        self.documents.remove(&path);
        self.forget();
        self.dirty.insert(path);
    }

    /// What is open may import each other.
    fn forget(&mut self) {
        self.others.clear();
        self.reports.clear();
        for (path, document) in &mut self.documents {
            document.snapshot = None;
            self.dirty.insert(path.clone());
        }
    }

    /// Begins a job, if it is not being done.
    pub(crate) fn start(&mut self, job: Job) {
        if self.reports.get(&job) == Some(&None) {
            return;
        }
        self.reports.insert(job.clone(), None);
        let (done, of) = (self.done.clone(), job.clone());
        self.host.start(
            job,
            Box::new(move |report| {
                // The server may have ended.
                let _ = done.send((of, report));
            }),
        );
    }

    /// Shows what came of a job: in its lens, and if it failed in a message. What was typed in the meantime makes it void.
    fn ended(&mut self, connection: &Connection, job: Job, report: Report) -> Result<(), Failure> {
        let Some(known) = self.reports.get_mut(&job) else {
            return Ok(());
        };
        if !report.good {
            let parameters = ShowMessageParams {
                typ: MessageType::ERROR,
                message: report.text.clone(),
            };
            let notification = Notification::new(ShowMessage::METHOD.to_owned(), parameters);
            let message = Message::Notification(notification);
            connection.sender.send(message)?;
        }
        *known = Some(report);
        if self.refreshes {
            self.asked += 1;
            let method = CodeLensRefresh::METHOD.to_owned();
            let request = Request::new(self.asked.into(), method, ());
            connection.sender.send(Message::Request(request))?;
        }
        Ok(())
    }

    fn publish(&mut self, connection: &Connection) -> Result<(), Failure> {
        for path in std::mem::take(&mut self.dirty) {
            let Some(uri) = uri_of(&path) else { continue };
            let snapshot = self.snapshot(&path);
            let diagnostics = snapshot.map_or_else(Vec::new, |snapshot| diagnostics::of(&snapshot));
            let version = self.documents.get(&path).map(|document| document.version);
            let parameters = PublishDiagnosticsParams {
                uri,
                diagnostics,
                version,
            };
            let method = PublishDiagnostics::METHOD.to_owned();
            let notification = Notification::new(method, parameters);
            connection
                .sender
                .send(Message::Notification(notification))?;
        }
        Ok(())
    }

    fn answer(&mut self, request: Request) -> Response {
        let id = request.id.clone();
        match dispatch::answer(self, request) {
            Ok(value) => Response::new_ok(id, value),
            Err((code, message)) => Response::new_err(id, code as i32, message),
        }
    }

    pub(crate) fn document(&self, path: &str) -> Option<&Document> {
        self.documents.get(path)
    }

    pub(crate) fn documents(&self) -> impl Iterator<Item = &Document> {
        self.documents.values()
    }

    fn texts(&self) -> Vec<Text> {
        let documents = self.documents.values();
        documents
            .map(|document| (document.path.clone(), document.parsed_text()))
            .collect()
    }

    /// What is known of an open text.
    pub(crate) fn snapshot(&mut self, path: &str) -> Option<Rc<Snapshot>> {
        let document = self.documents.get(path)?;
        if let Some(snapshot) = &document.snapshot {
            return Some(Rc::clone(snapshot));
        }
        let (text, lines) = (&document.text, &document.lines);
        let snapshot = Snapshot::new(self.host, path, text, lines, &document.good, &self.texts());
        let snapshot = Rc::new(snapshot);
        if let Some(document) = self.documents.get_mut(path) {
            document.snapshot = Some(Rc::clone(&snapshot));
        }
        Some(snapshot)
    }

    /// The programs of the folders that are not open.
    pub(crate) fn programs(&self) -> Vec<(String, String)> {
        let found = self
            .folders
            .iter()
            .flat_map(|folder| self.host.programs(folder));
        let paths = found.map(|path| path.display().to_string());
        let closed = paths.filter(|path| !self.documents.contains_key(path));
        let read = |path: String| {
            let text = self.host.read(Path::new(&path))?;
            Some((path, text))
        };
        closed.take(MAX_PROGRAMS).filter_map(read).collect()
    }

    /// What is known of all open texts, and of programs in the folders in which a word occurs.
    pub(crate) fn snapshots_with(&mut self, word: &str) -> Vec<Rc<Snapshot>> {
        let open: Vec<String> = self.documents.keys().cloned().collect();
        let mut out: Vec<Rc<Snapshot>> =
            open.iter().filter_map(|path| self.snapshot(path)).collect();
        let texts = self.texts();
        for (path, text) in self.programs() {
            if !text.contains(word) {
                continue;
            }
            let known = self.others.entry(path).or_insert_with_key(|path| {
                let lines = Rc::new(Lines::new(&text));
                let text = Arc::from(text.as_str());
                let good = BTreeMap::new();
                Rc::new(Snapshot::new(self.host, path, &text, &lines, &good, &texts))
            });
            out.push(Rc::clone(known));
        }
        out
    }

    /// The snapshot and the byte of a position.
    pub(crate) fn at(
        &mut self,
        position: &lsp_types::TextDocumentPositionParams,
    ) -> Option<(Rc<Snapshot>, usize)> {
        let snapshot = self.snapshot(&path_of(&position.text_document.uri))?;
        let offset = snapshot.lines.offset(&snapshot.text, position.position);
        Some((snapshot, offset))
    }
}

/// The shortest of names, which are all at one position.
pub(crate) fn innermost<'a>(uses: impl Iterator<Item = &'a Use>) -> Option<&'a Use> {
    uses.min_by_key(|one| one.at.hi - one.at.lo)
}
