//! Which file answers which request.

use super::Server;
use crate::position::path_of;
use crate::{
    completion, diagnostics, folding, hints, hover, lenses, navigate, rename, semantic, signature,
    symbols,
};
use lsp_server::{ErrorCode, Request};
use lsp_types::request as r;
use lsp_types::request::Request as Known;
use lsp_types::{Position, Range, TextEdit, Uri};
use serde_json::Value;

/// What is wrong with a request.
type Refused = (ErrorCode, String);

pub(super) fn answer(server: &mut Server<'_>, request: Request) -> Result<Value, Refused> {
    match request.method.as_str() {
        r::HoverRequest::METHOD => with::<r::HoverRequest>(request, |p| {
            let (snapshot, at) = server.at(&p.text_document_position_params)?;
            hover::at(&snapshot, at)
        }),
        r::GotoDefinition::METHOD => with::<r::GotoDefinition>(request, |p| {
            let (snapshot, at) = server.at(&p.text_document_position_params)?;
            navigate::definition(&snapshot, at)
        }),
        r::References::METHOD => with::<r::References>(request, |p| {
            let declared = p.context.include_declaration;
            navigate::references(server, &p.text_document_position, declared)
        }),
        r::DocumentHighlightRequest::METHOD => with::<r::DocumentHighlightRequest>(request, |p| {
            let (snapshot, at) = server.at(&p.text_document_position_params)?;
            Some(navigate::highlights(&snapshot, at))
        }),
        r::PrepareRenameRequest::METHOD => with::<r::PrepareRenameRequest>(request, |p| {
            let (snapshot, at) = server.at(&p)?;
            rename::prepare(&snapshot, at)
        }),
        r::Rename::METHOD => {
            let p = parameters::<r::Rename>(request)?;
            let edit = rename::rename(server, &p.text_document_position, &p.new_name);
            let edit = edit.map_err(|why| (ErrorCode::InvalidRequest, why))?;
            value(&edit)
        }
        r::DocumentSymbolRequest::METHOD => with::<r::DocumentSymbolRequest>(request, |p| {
            let snapshot = server.snapshot(&path_of(&p.text_document.uri))?;
            Some(symbols::of_document(&snapshot).into())
        }),
        r::WorkspaceSymbolRequest::METHOD => with::<r::WorkspaceSymbolRequest>(request, |p| {
            Some(lsp_types::WorkspaceSymbolResponse::Flat(
                symbols::of_workspace(server, &p.query),
            ))
        }),
        r::Completion::METHOD => with::<r::Completion>(request, |p| {
            let (snapshot, at) = server.at(&p.text_document_position)?;
            Some(completion::at(&snapshot, at).into())
        }),
        r::SignatureHelpRequest::METHOD => with::<r::SignatureHelpRequest>(request, |p| {
            let (snapshot, at) = server.at(&p.text_document_position_params)?;
            signature::at(&snapshot, at)
        }),
        r::CodeActionRequest::METHOD => with::<r::CodeActionRequest>(request, |p| {
            let snapshot = server.snapshot(&path_of(&p.text_document.uri))?;
            Some(diagnostics::actions(&snapshot, p.range))
        }),
        r::InlayHintRequest::METHOD => with::<r::InlayHintRequest>(request, |p| {
            let snapshot = server.snapshot(&path_of(&p.text_document.uri))?;
            Some(hints::of(&snapshot, p.range))
        }),
        r::SemanticTokensFullRequest::METHOD => {
            with::<r::SemanticTokensFullRequest>(request, |p| {
                let snapshot = server.snapshot(&path_of(&p.text_document.uri))?;
                Some(semantic::of(&snapshot).into())
            })
        }
        r::FoldingRangeRequest::METHOD => with::<r::FoldingRangeRequest>(request, |p| {
            let snapshot = server.snapshot(&path_of(&p.text_document.uri))?;
            Some(folding::of(&snapshot))
        }),
        r::CodeLensRequest::METHOD => with::<r::CodeLensRequest>(request, |p| {
            let path = path_of(&p.text_document.uri);
            let document = server.document(&path)?;
            let (text, lines) = (&document.text, &document.lines);
            Some(lenses::of(&path, text, lines, &server.reports))
        }),
        r::ExecuteCommand::METHOD => {
            let p = parameters::<r::ExecuteCommand>(request)?;
            let job = lenses::job(&p.arguments).filter(|_| p.command == lenses::COMMAND);
            let unknown = || {
                format!(
                    "the command {} with these arguments is not known",
                    p.command
                )
            };
            server.start(job.ok_or_else(|| (ErrorCode::InvalidParams, unknown()))?);
            Ok(Value::Null)
        }
        r::Formatting::METHOD => {
            with::<r::Formatting>(request, |p| formatted(server, &p.text_document.uri))
        }
        other => {
            let message = format!("the request {other} is not known");
            Err((ErrorCode::MethodNotFound, message))
        }
    }
}

fn parameters<R: Known>(request: Request) -> Result<R::Params, Refused> {
    serde_json::from_value(request.params)
        .map_err(|why| (ErrorCode::InvalidParams, why.to_string()))
}

fn value(result: &impl serde::Serialize) -> Result<Value, Refused> {
    serde_json::to_value(result).map_err(|why| (ErrorCode::InternalError, why.to_string()))
}

/// Answers a request whose result may be nothing.
fn with<R: Known>(
    request: Request,
    answer: impl FnOnce(R::Params) -> R::Result,
) -> Result<Value, Refused> {
    value(&answer(parameters::<R>(request)?))
}

/// The edit that formats a whole text; none if it does not parse.
fn formatted(server: &Server<'_>, uri: &Uri) -> Option<Vec<TextEdit>> {
    let document = server.document(&path_of(uri))?;
    let file = frontend::source::FileId(0);
    let formatted = frontend::syntax::format_program(file, &document.text).ok()?;
    if *formatted == *document.text {
        return Some(Vec::new());
    }
    let end = document.lines.position(&document.text, document.text.len());
    let range = Range::new(Position::new(0, 0), end);
    Some(vec![TextEdit::new(range, formatted)])
}
