//! Requests at every position of programs, and after random edits: each is answered, and in good time.

mod support;

use serde_json::json;
use std::path::Path;
use std::time::{Duration, Instant};
use support::{Client, position};

/// An editor waits no longer; the machine of a test may be busy.
const LIMIT: Duration = Duration::from_millis(1500);

/// Programs of every kind, none of them long.
const PROGRAMS: &[&str] = &["tests/programs", "examples"];

fn programs() -> Vec<(String, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut waiting: Vec<_> = PROGRAMS.iter().map(|path| root.join(path)).collect();
    let mut found = Vec::new();
    while let Some(path) = waiting.pop() {
        if let Ok(entries) = std::fs::read_dir(&path) {
            waiting.extend(entries.flatten().map(|entry| entry.path()));
        } else if path.extension().is_some_and(|extension| extension == "fut") {
            let text = std::fs::read_to_string(&path).expect("a program");
            found.push((path.display().to_string(), text));
        }
    }
    found.sort();
    found
}

/// Programs of others, in the directories that `FUTHARK_TESTS` names.
fn outside() -> Vec<String> {
    let directories = std::env::var_os("FUTHARK_TESTS").unwrap_or_default();
    let mut waiting: Vec<_> = std::env::split_paths(&directories).collect();
    let mut found = Vec::new();
    while let Some(path) = waiting.pop() {
        if let Ok(entries) = std::fs::read_dir(&path) {
            waiting.extend(entries.flatten().map(|entry| entry.path()));
        } else if path.extension().is_some_and(|extension| extension == "fut") {
            found.extend(std::fs::read_to_string(&path));
        }
    }
    found.sort();
    found
}

#[test]
fn programs_of_others_are_answered() {
    let programs = outside();
    let mut client = Client::start("outside");
    client.open("main.fut", "");
    let mut slowest = Duration::ZERO;
    for text in programs.iter().step_by(programs.len() / 150 + 1) {
        client.change("main.fut", text);
        ask_for_all(&mut client);
        let positions: Vec<usize> = text.char_indices().map(|(at, _)| at).collect();
        for at in positions.iter().step_by(positions.len() / 150 + 1) {
            ask(&mut client, text, *at, &mut slowest);
        }
        assert!(slowest < LIMIT, "{slowest:?}:\n{text}");
    }
    client.stop();
}

const AT_POSITIONS: &[&str] = &[
    "textDocument/hover",
    "textDocument/definition",
    "textDocument/documentHighlight",
    "textDocument/completion",
    "textDocument/signatureHelp",
    "textDocument/prepareRename",
];

const OF_DOCUMENTS: &[&str] = &[
    "textDocument/documentSymbol",
    "textDocument/foldingRange",
    "textDocument/semanticTokens/full",
];

fn ask(client: &mut Client, text: &str, at: usize, slowest: &mut Duration) {
    let uri = client.uri("main.fut");
    for method in AT_POSITIONS {
        let begin = Instant::now();
        client.raw(
            method,
            json!({"textDocument": {"uri": uri}, "position": position(text, at)}),
        );
        *slowest = (*slowest).max(begin.elapsed());
    }
}

fn ask_for_all(client: &mut Client) {
    let uri = client.uri("main.fut");
    for method in OF_DOCUMENTS {
        client.raw(method, json!({"textDocument": {"uri": uri}}));
    }
    let all =
        json!({"start": {"line": 0, "character": 0}, "end": {"line": 100_000, "character": 0}});
    client.raw(
        "textDocument/inlayHint",
        json!({"textDocument": {"uri": uri}, "range": all}),
    );
    client.raw(
        "textDocument/codeAction",
        json!({"textDocument": {"uri": uri}, "range": all, "context": {"diagnostics": []}}),
    );
}

#[test]
fn every_position_is_answered() {
    let mut client = Client::start("everywhere");
    client.open("main.fut", "");
    let mut slowest = Duration::ZERO;
    for (name, text) in programs().iter().step_by(23) {
        client.change("main.fut", text);
        ask_for_all(&mut client);
        for (at, _) in text.char_indices().take(2500) {
            ask(&mut client, text, at, &mut slowest);
        }
        assert!(slowest < LIMIT, "{name}: {slowest:?}");
    }
    client.stop();
}

#[test]
fn random_edits_are_survived() {
    let mut client = Client::start("edits");
    client.open("main.fut", "");
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    let mut random = |below: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        usize::try_from(state % below.max(1) as u64).expect("small")
    };
    let mut slowest = Duration::ZERO;
    let pieces = [
        "(", ")", "let ", "in ", "\n", "def f = ", "x", ".", "#", "[", "]", "-- ", "\"", "å", "{",
        "+ 1",
    ];
    for (_, original) in programs().iter().step_by(17) {
        let mut text = original.clone();
        client.change("main.fut", &text);
        for _ in 0..12 {
            let boundary = |at: usize| {
                (0..=at)
                    .rev()
                    .find(|at| text.is_char_boundary(*at))
                    .unwrap_or(0)
            };
            let lo = boundary(random(text.len() + 1));
            let hi = boundary((lo + random(6)).min(text.len())).max(lo);
            let piece = pieces[random(pieces.len())];
            let (start, end) = (position(&text, lo), position(&text, hi));
            client.edit(
                "main.fut",
                json!([{"range": {"start": start, "end": end}, "text": piece}]),
            );
            text.replace_range(lo..hi, piece);
            ask(&mut client, &text, lo, &mut slowest);
            ask_for_all(&mut client);
        }
        // The server has the same text: formatting gives it back, or nothing where it does not parse.
        let uri = client.uri("main.fut");
        let options = json!({"tabSize": 2, "insertSpaces": true});
        let edits = client.raw(
            "textDocument/formatting",
            json!({"textDocument": {"uri": uri}, "options": options}),
        );
        let file = frontend::source::FileId(0);
        match (
            frontend::syntax::format_program(file, &text),
            edits.as_array(),
        ) {
            (Err(_), None) => {}
            (Ok(formatted), Some(edits)) => match edits.first() {
                Some(edit) => assert_eq!(edit["newText"].as_str(), Some(formatted.as_str())),
                None => assert_eq!(formatted, text),
            },
            (here, there) => panic!("{here:?}, but {there:?}:\n{text}"),
        }
    }
    assert!(slowest < LIMIT, "{slowest:?}");
    client.stop();
}
