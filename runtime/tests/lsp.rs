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
