//! The server as an editor sees it: a scripted client sends every request over a connection in memory.
#![allow(
    clippy::mutable_key_type,
    reason = "the protocol's own type for edits has URIs as keys"
)]

mod support;

use lsp_types::request as r;
use lsp_types::{
    CodeActionOrCommand, CompletionResponse, DocumentSymbolResponse, GotoDefinitionResponse,
    HoverContents, InlayHintLabel, PrepareRenameResponse, SemanticTokensResult,
};
use serde_json::json;
use support::{Client, at, range_text};

const MAIN: &str = "\
-- | The sum of squares.
def squares [n] (xs: [n]f64) : f64 = f64.sum (map (\\x -> x * x) xs)

type point = {x: f64, y: f64}

module shapes = {
  def half (p: point) = p.x / 2
}

def swap ({x, y}: point) : point = {x = y, y = x}

def twice (p: point) =
  let x = p.x
  let y = shapes.half p
  in {x, y}

def named (s: #on | #off) = match s case #on -> 1i32 case #off -> 0

entry main (xs: []f64) = squares xs + shapes.half (swap {x = 1, y = 2})
";

fn hover(client: &mut Client, path: &str, text: &str, needle: &str) -> String {
    let position = at(text, needle);
    let result = client.request::<r::HoverRequest>(json!({
        "textDocument": {"uri": client.uri(path)}, "position": position,
    }));
    match result.map(|hover| hover.contents) {
        Some(HoverContents::Markup(markup)) => markup.value,
        other => panic!("no hover on {needle}: {other:?}"),
    }
}

fn labels(client: &mut Client, path: &str, text: &str, behind: &str) -> Vec<String> {
    let mut position = at(text, behind);
    position.character += u32::try_from(behind.len()).expect("short");
    let result = client.request::<r::Completion>(json!({
        "textDocument": {"uri": client.uri(path)}, "position": position,
    }));
    match result {
        Some(CompletionResponse::Array(items)) => {
            items.into_iter().map(|item| item.label).collect()
        }
        other => panic!("no completion: {other:?}"),
    }
}

fn has(labels: &[String], wanted: &[&str]) {
    for one in wanted {
        assert!(
            labels.iter().any(|label| label == one),
            "{one} is not in {labels:?}"
        );
    }
}

#[test]
fn hover_shows_types_with_sizes_and_documentation() {
    let mut client = Client::start("hover");
    client.open("main.fut", MAIN);
    let shown = hover(&mut client, "main.fut", MAIN, "squares xs");
    assert!(
        shown.contains("squares : [n]. (xs: [n]f64) -> f64"),
        "{shown}"
    );
    assert!(shown.contains("The sum of squares."), "{shown}");
    assert!(hover(&mut client, "main.fut", MAIN, "xs)\n\ntype").contains("xs : [n]f64"));
    assert!(hover(&mut client, "main.fut", MAIN, "x * x").contains("x : f64"));
    let shown = hover(&mut client, "main.fut", MAIN, "map ");
    assert!(shown.contains("The results of a function"), "{shown}");
    assert!(
        hover(&mut client, "main.fut", MAIN, "point) = p")
            .contains("type point = {x: f64, y: f64}")
    );
    assert!(
        hover(&mut client, "main.fut", MAIN, "2\n}").contains("f64"),
        "a number"
    );
    client.stop();
}

#[test]
fn names_are_found_across_files() {
    let mut client = Client::start("across");
    client.write(
        "lib.fut",
        "def one = 1i32\nmodule m = { def two = one + one }\n",
    );
    let main = "import \"lib\"\nmodule k = import \"lib\"\nentry main = one + m.two + k.one\n";
    client.open("main.fut", main);
    let definition = |client: &mut Client, needle: &str| {
        let position = at(main, needle);
        let result = client.request::<r::GotoDefinition>(json!({
            "textDocument": {"uri": client.uri("main.fut")}, "position": position,
        }));
        match result {
            Some(GotoDefinitionResponse::Scalar(location)) => location,
            other => panic!("no definition of {needle}: {other:?}"),
        }
    };
    let found = definition(&mut client, "one + m");
    assert_eq!(found.uri.to_string(), client.uri("lib.fut"));
    assert_eq!(
        (found.range.start.line, found.range.start.character),
        (0, 4)
    );
    let found = definition(&mut client, "two + k");
    assert_eq!(
        (found.range.start.line, found.range.start.character),
        (1, 17)
    );
    let found = definition(&mut client, "m.two");
    assert_eq!(
        (found.range.start.line, found.range.start.character),
        (1, 7)
    );

    let position = at(main, "one + m");
    let uses = client.request::<r::References>(json!({
        "textDocument": {"uri": client.uri("main.fut")}, "position": position,
        "context": {"includeDeclaration": true},
    }));
    assert_eq!(uses.expect("uses").len(), 5);

    let edit = client.request::<r::Rename>(json!({
        "textDocument": {"uri": client.uri("main.fut")}, "position": position, "newName": "uno",
    }));
    let changes = edit.and_then(|edit| edit.changes).expect("edits");
    let counts: Vec<usize> = {
        let mut counts: Vec<usize> = changes.values().map(Vec::len).collect();
        counts.sort_unstable();
        counts
    };
    assert_eq!(counts, [2, 3]);
    client.stop();
}

#[test]
fn renaming_keeps_fields_and_follows_updates() {
    let mut client = Client::start("rename");
    client.open("main.fut", MAIN);
    let rename = |client: &mut Client, text: &str, needle: &str, new: &str| -> String {
        let position = at(text, needle);
        let edit = client.request::<r::Rename>(json!({
            "textDocument": {"uri": client.uri("main.fut")}, "position": position, "newName": new,
        }));
        let changes = edit.and_then(|edit| edit.changes).expect("edits");
        let edits = changes.into_values().next().expect("one file");
        support::apply(text, edits)
    };
    let renamed = rename(&mut client, MAIN, "x = p.x", "left");
    assert!(
        renamed.contains("let left = p.x\n") && renamed.contains("in {x = left, y}"),
        "{renamed}"
    );
    let renamed = rename(&mut client, MAIN, "x, y}: point", "a");
    assert!(
        renamed.contains("({x = a, y}: point) : point = {x = y, y = a}"),
        "{renamed}"
    );
    let updated = "def f (xs: *[]i32) =\n  let xs[0] = 1\n  let xs[1] = 2\n  in xs\n";
    client.change("main.fut", updated);
    let renamed = rename(&mut client, updated, "xs: *", "ys");
    assert_eq!(renamed, updated.replace("xs", "ys"));

    let position = at(updated, "xs: *");
    let uri = client.uri("main.fut");
    let refused = client.refused::<r::Rename>(json!({
        "textDocument": {"uri": uri}, "position": position, "newName": "let",
    }));
    assert!(refused.contains("not a name"), "{refused}");
    let prepared = client.request::<r::PrepareRenameRequest>(json!({
        "textDocument": {"uri": uri}, "position": position,
    }));
    match prepared {
        Some(PrepareRenameResponse::RangeWithPlaceholder { placeholder, .. }) => {
            assert_eq!(placeholder, "xs");
        }
        other => panic!("{other:?}"),
    }
    client.stop();
}

#[test]
fn completion_knows_scopes_modules_fields_and_constructors() {
    let mut client = Client::start("completion");
    client.open("main.fut", MAIN);
    has(
        &labels(&mut client, "main.fut", MAIN, "shapes.half p\n  in "),
        &[
            "x", "y", "p", "squares", "shapes", "map", "let", "f64", "point",
        ],
    );
    // What is typed does not parse yet: the last version that did tells what is there.
    let broken = MAIN.replace("shapes.half p\n", "shapes.\n");
    client.change("main.fut", &broken);
    has(
        &labels(&mut client, "main.fut", &broken, "let y = shapes."),
        &["half"],
    );
    let broken = MAIN.replace("let y = shapes.half p", "let y = f64.");
    client.change("main.fut", &broken);
    has(
        &labels(&mut client, "main.fut", &broken, "let y = f64."),
        &["sum", "sqrt", "pi"],
    );
    let broken = MAIN.replace("let y = shapes.half p", "let y = p.");
    client.change("main.fut", &broken);
    let fields = labels(&mut client, "main.fut", &broken, "let y = p.");
    assert_eq!(fields, ["x", "y"]);
    let broken = MAIN.replace("case #off -> 0", "case #");
    client.change("main.fut", &broken);
    has(
        &labels(&mut client, "main.fut", &broken, "1i32 case #"),
        &["on", "off"],
    );
    client.stop();
}

#[test]
fn diagnostics_follow_the_text_and_hints_are_fixes() {
    let mut client = Client::start("diagnostics");
    let wrong = "def f (x: i32) = x\ndef g (y: i64) = ff (i32.i64 y)\ndef h = (\n";
    client.open("main.fut", wrong);
    let found = client.diagnostics("main.fut");
    assert!(found.len() >= 2, "{found:?}");
    let unknown = found
        .iter()
        .find(|one| one.message.contains("`ff`"))
        .expect("unknown name");
    assert_eq!(range_text(wrong, unknown.range), "ff");
    assert!(
        unknown.message.contains("hint: did you mean `f`?"),
        "{}",
        unknown.message
    );
    let actions = client.request::<r::CodeActionRequest>(json!({
        "textDocument": {"uri": client.uri("main.fut")}, "range": unknown.range,
        "context": {"diagnostics": []},
    }));
    let Some(CodeActionOrCommand::CodeAction(action)) =
        actions.and_then(|all| all.into_iter().next())
    else {
        panic!("no action");
    };
    let changes = action.edit.and_then(|edit| edit.changes).expect("an edit");
    let edits = changes.into_values().next().expect("one file");
    let right = support::apply(wrong, edits).replace("def h = (\n", "");
    client.change("main.fut", &right);
    assert_eq!(client.diagnostics("main.fut"), []);
    client.stop();
}

#[test]
fn symbols_folds_signatures_hints_colours_and_layout() {
    let mut client = Client::start("rest");
    client.open("main.fut", MAIN);
    let uri = client.uri("main.fut");
    let document = json!({"textDocument": {"uri": uri}});

    let Some(DocumentSymbolResponse::Nested(symbols)) =
        client.request::<r::DocumentSymbolRequest>(document.clone())
    else {
        panic!("no symbols");
    };
    let names: Vec<&str> = symbols.iter().map(|one| one.name.as_str()).collect();
    assert_eq!(
        names,
        [
            "squares", "point", "shapes", "swap", "twice", "named", "main"
        ]
    );
    assert_eq!(
        symbols[2]
            .children
            .as_ref()
            .map(|inner| inner[0].name.as_str()),
        Some("half")
    );

    client.write("other.fut", "def half_of_it = 1\n");
    let found = client.request::<r::WorkspaceSymbolRequest>(json!({"query": "half"}));
    let found = match found {
        Some(lsp_types::WorkspaceSymbolResponse::Flat(found)) => found,
        other => panic!("{other:?}"),
    };
    let names: Vec<&str> = found.iter().map(|one| one.name.as_str()).collect();
    assert_eq!(names, ["half", "half_of_it"]);

    let folds = client
        .request::<r::FoldingRangeRequest>(document.clone())
        .expect("folds");
    let lines: Vec<(u32, u32)> = folds
        .iter()
        .map(|one| (one.start_line, one.end_line))
        .collect();
    assert_eq!(lines, [(5, 7), (11, 14)]);

    let mut position = at(MAIN, "half (swap");
    position.character += 5;
    let help = client.request::<r::SignatureHelpRequest>(json!({
        "textDocument": {"uri": uri}, "position": position,
    }));
    let help = help.expect("a signature");
    assert!(
        help.signatures[0].label.starts_with("shapes.half : "),
        "{help:?}"
    );
    assert_eq!(help.active_parameter, Some(0));

    let hints = client.request::<r::InlayHintRequest>(json!({
        "textDocument": {"uri": uri},
        "range": {"start": {"line": 0, "character": 0}, "end": {"line": 99, "character": 0}},
    }));
    let hints = hints.expect("hints");
    let shown = |line: u32| -> Vec<String> {
        let here = hints.iter().filter(|one| one.position.line == line);
        here.map(|one| match &one.label {
            InlayHintLabel::String(text) => text.clone(),
            InlayHintLabel::LabelParts(_) => String::new(),
        })
        .collect()
    };
    assert_eq!(shown(12), [": f64"]);
    assert_eq!(shown(11), [": {x: f64, y: f64}"]);
    assert_eq!(shown(9), [": f64", ": f64"]);

    let tokens = client.request::<r::SemanticTokensFullRequest>(document.clone());
    match tokens {
        Some(SemanticTokensResult::Tokens(tokens)) => assert!(tokens.data.len() > 40),
        other => panic!("{other:?}"),
    }

    client.change("main.fut", "let   f x=x\n");
    let edits = client.request::<r::Formatting>(json!({
        "textDocument": {"uri": uri}, "options": {"tabSize": 2, "insertSpaces": true},
    }));
    assert_eq!(
        support::apply("let   f x=x\n", edits.expect("edits")),
        "def f x = x\n"
    );
    client.stop();
}

#[test]
fn lenses_run_tests_and_examples() {
    let mut client = Client::start("lenses");
    let text = "-- | One.\n-- >>> one + 1\ndef one = 1i32\n-- ==\n-- entry: main wrong\nentry main = one\nentry wrong = one\n";
    client.open("main.fut", text);
    let titles = |client: &mut Client| -> Vec<String> {
        let lenses = client.request::<r::CodeLensRequest>(json!({
            "textDocument": {"uri": client.uri("main.fut")},
        }));
        let lenses = lenses.expect("lenses").into_iter();
        let commands = lenses.map(|lens| lens.command.expect("a command"));
        commands.map(|command| command.title).collect()
    };
    assert_eq!(titles(&mut client), ["evaluate", "test main", "test wrong"]);
    let lenses = client.request::<r::CodeLensRequest>(json!({
        "textDocument": {"uri": client.uri("main.fut")},
    }));
    for lens in lenses.expect("lenses") {
        let command = lens.command.expect("a command");
        client.request::<r::ExecuteCommand>(json!({
            "command": command.command, "arguments": command.arguments,
        }));
    }
    let mut shown = titles(&mut client);
    while shown.iter().any(|title| title.ends_with(" ...")) {
        std::thread::sleep(std::time::Duration::from_millis(5));
        shown = titles(&mut client);
    }
    assert_eq!(
        shown,
        [
            "evaluate: the value of one + 1",
            "test main: the value of main",
            "test wrong: the value of wrong"
        ]
    );
    // What is typed makes it void.
    client.change("main.fut", &text.replace("1i32", "2i32"));
    assert_eq!(titles(&mut client), ["evaluate", "test main", "test wrong"]);
    let refused = client.refused::<r::ExecuteCommand>(json!({"command": "other"}));
    assert!(refused.contains("other"), "{refused}");
    client.stop();
}
