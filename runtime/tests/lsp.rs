//! `arrc lsp` as a process: messages over standard input and output, from the beginning to the end.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::process::{Child, ChildStdout, Command, Stdio};

struct Editor {
    child: Child,
    reader: BufReader<ChildStdout>,
}

impl Editor {
    fn start() -> Editor {
        let mut child = Command::new(env!("CARGO_BIN_EXE_arrc"))
            .args(["lsp", "--stdio"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the command can be started");
        let reader = BufReader::new(child.stdout.take().expect("it was piped"));
        Editor { child, reader }
    }

    fn send(&mut self, message: &str) {
        let stdin = self.child.stdin.as_mut().expect("it was piped");
        write!(stdin, "Content-Length: {}\r\n\r\n{message}", message.len()).expect("it reads");
    }

    fn receive(&mut self) -> String {
        let mut length = 0;
        loop {
            let mut line = String::new();
            self.reader.read_line(&mut line).expect("a line");
            if line.trim().is_empty() {
                break;
            }
            if let Some(value) = line.strip_prefix("Content-Length: ") {
                length = value.trim().parse().expect("a number");
            }
        }
        let mut body = vec![0; length];
        self.reader.read_exact(&mut body).expect("a message");
        String::from_utf8(body).expect("text")
    }
}

#[test]
fn an_editor_is_answered_and_ends_the_server() {
    let mut editor = Editor::start();
    editor.send(r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"capabilities":{}}}"#);
    assert!(editor.receive().contains("renameProvider"));
    editor.send(r#"{"jsonrpc":"2.0","method":"initialized","params":{}}"#);
    let text = r#"{"uri":"file:///a/b.fut","languageId":"futhark","version":1,"text":"def f = g"}"#;
    editor.send(&format!(
        r#"{{"jsonrpc":"2.0","method":"textDocument/didOpen","params":{{"textDocument":{text}}}}}"#
    ));
    let diagnostics = editor.receive();
    assert!(diagnostics.contains("unknown name `g`"), "{diagnostics}");
    editor.send(r#"{"jsonrpc":"2.0","id":2,"method":"shutdown"}"#);
    assert!(editor.receive().contains("\"id\":2"));
    editor.send(r#"{"jsonrpc":"2.0","method":"exit"}"#);
    assert_eq!(editor.child.wait().expect("it ends").code(), Some(0));
}

#[test]
fn an_editor_that_goes_away_ends_the_server() {
    let mut editor = Editor::start();
    drop(editor.child.stdin.take());
    let code = editor.child.wait().expect("it ends").code();
    assert_eq!(code, Some(1), "there was no end of the protocol");
}

#[test]
fn lenses_tell_what_came_of_tests_and_examples() {
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("lsp-lenses");
    std::fs::create_dir_all(&folder).expect("a temporary folder");
    let text = "-- >>> twice 21\ndef twice (x: i32) = 2 * x\n-- ==\n-- input { 1 } output { 2 }\n-- input { 1 } output { 3 }\nentry main = twice\n";
    let file = folder.join("program.fut");
    std::fs::write(&file, text).expect("written");
    let uri = format!("file://{}", file.display());
    let mut editor = Editor::start();
    editor.send(r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"capabilities":{"workspace":{"codeLens":{"refreshSupport":true}}}}}"#);
    assert!(editor.receive().contains("arrc.start"));
    editor.send(r#"{"jsonrpc":"2.0","method":"initialized","params":{}}"#);
    let opened = serde_json::json!({"jsonrpc": "2.0", "method": "textDocument/didOpen", "params": {
        "textDocument": {"uri": uri, "languageId": "futhark", "version": 1, "text": text},
    }});
    editor.send(&opened.to_string());
    let jobs = [
        serde_json::json!({"file": file, "expression": "twice 21"}),
        serde_json::json!({"file": file, "entry": "main"}),
    ];
    for (id, job) in jobs.iter().enumerate() {
        let request = serde_json::json!({
            "jsonrpc": "2.0", "id": 10 + id, "method": "workspace/executeCommand",
            "params": {"command": "arrc.start", "arguments": [job]},
        });
        editor.send(&request.to_string());
    }
    let (mut refreshed, mut message) = (0, String::new());
    while refreshed < jobs.len() {
        let heard = editor.receive();
        refreshed += usize::from(heard.contains("workspace/codeLens/refresh"));
        if heard.contains("window/showMessage") {
            message = heard;
        }
    }
    assert!(message.contains("expected 3i32, found 2i32"), "{message}");
    let request = serde_json::json!({
        "jsonrpc": "2.0", "id": 20, "method": "textDocument/codeLens",
        "params": {"textDocument": {"uri": uri}},
    });
    editor.send(&request.to_string());
    let lenses = editor.receive();
    assert!(lenses.contains("evaluate: 42i32"), "{lenses}");
    assert!(
        lenses.contains("test main: runs: 1 of 2 passed"),
        "{lenses}"
    );
    editor.send(r#"{"jsonrpc":"2.0","id":2,"method":"shutdown"}"#);
    assert!(editor.receive().contains("\"id\":2"));
    editor.send(r#"{"jsonrpc":"2.0","method":"exit"}"#);
    assert_eq!(editor.child.wait().expect("it ends").code(), Some(0));
}
