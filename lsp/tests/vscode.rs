//! The extension for Visual Studio Code: its files are well formed, and its grammar knows every keyword.

use serde_json::Value;
use std::path::{Path, PathBuf};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../editors/vscode")
}

fn json(path: &str) -> Value {
    let text = std::fs::read_to_string(folder().join(path)).expect(path);
    serde_json::from_str(&text).unwrap_or_else(|why| panic!("{path}: {why}"))
}

#[test]
fn the_manifest_names_files_that_are_there() {
    let manifest = json("package.json");
    let contributes = &manifest["contributes"];
    let named = [
        &manifest["main"],
        &contributes["languages"][0]["configuration"],
        &contributes["grammars"][0]["path"],
        &contributes["snippets"][0]["path"],
    ];
    for path in named {
        let path = path.as_str().expect("a path");
        assert!(folder().join(path).is_file(), "{path}");
    }
    json("language-configuration.json");
}

#[test]
fn the_grammar_knows_every_keyword() {
    let grammar = json("syntaxes/futhark.tmLanguage.json").to_string();
    for keyword in lsp::KEYWORDS {
        let known = grammar
            .split(|c: char| !c.is_ascii_alphabetic())
            .any(|word| word == *keyword);
        assert!(known, "{keyword}");
    }
}

#[test]
fn snippets_are_programs_once_they_are_filled_in() {
    let snippets = json("snippets/futhark.json");
    for (name, snippet) in snippets.as_object().expect("an object") {
        let lines = snippet["body"].as_array().expect("lines");
        let lines: Vec<&str> = lines.iter().filter_map(Value::as_str).collect();
        let text = filled(&lines.join("\n"));
        let file = frontend::source::FileId(0);
        let parses = frontend::syntax::parse_program(file, &text).is_ok()
            || frontend::syntax::parse_expression(file, &text).is_ok();
        assert!(parses, "{name}:\n{text}");
    }
}

/// A snippet with its examples; what has none is a number.
fn filled(body: &str) -> String {
    let mut out = String::new();
    let mut rest = body;
    while let Some(at) = rest.find('$') {
        out.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        match rest.strip_prefix('{') {
            Some(inside) => {
                let end = inside.find('}').expect("a closing brace");
                let example = inside[..end]
                    .split_once(':')
                    .map_or("1", |(_, example)| example);
                out.push_str(example);
                rest = &inside[end + 1..];
            }
            None => {
                out.push('1');
                rest = rest.trim_start_matches(|c: char| c.is_ascii_digit());
            }
        }
    }
    out.push_str(rest);
    // The editor reads a doubled backslash as one.
    out.replace("\\\\", "\\")
}
