//! Declarations, modules, comments and attributes.

use super::super::ast::{DecKind, Lift, ModExpKind, TypeParamKind, ValKeyword};
use super::super::print::print_program;
use super::{bare, program, refused};

/// Checks that a program prints as given.
#[track_caller]
fn prints_as(text: &str, printed: &str) {
    let printed = format!("{}\n", printed.trim());
    assert_eq!(print_program(&program(text)), printed, "{text}");
}

#[test]
fn values_and_functions() {
    prints_as("def x = 1", "def x = 1");
    prints_as("let x : i32 = 1", "let x : i32 = 1");
    prints_as(
        "entry f [n] 'a (xs: [n]a) (y, _): a = y",
        "entry f [n] 'a (xs: [n]a) (y, _) : a = y",
    );
    prints_as("def (+^) x y = x", "def (+^) x y = x");
    prints_as(
        "def (a, b) <+> {c} : t = a",
        "def (<+>) (a, b) {c = c} : t = a",
    );
    prints_as("def x `op` y = x", "def op x y = x");
    prints_as("def x - y = x", "def (-) x y = x");
    prints_as("def f 'a' #c 3 true = 1", "def f 'a' #c 3 true = 1");
    let DecKind::Val(bind) = &program("entry main = 1").decs[0].kind.clone() else {
        panic!("no value");
    };
    assert_eq!(bind.keyword, ValKeyword::Entry);
    assert!(refused("def x m.+ y = x").contains("qualifier"));
    assert!(refused("def (a, b) = c").contains("expected"));
}

#[test]
fn an_apostrophe_marks_a_type_parameter() {
    let tree = program("def f 'a 'b '^c '~d [n] (x': a) = x'");
    let DecKind::Val(bind) = &tree.decs[0].kind else {
        panic!("no value");
    };
    let kinds: Vec<TypeParamKind> = bind.type_params.iter().map(|param| param.kind).collect();
    let expected = [
        TypeParamKind::Type(Lift::Unlifted),
        TypeParamKind::Type(Lift::Unlifted),
        TypeParamKind::Type(Lift::Lifted),
        TypeParamKind::Type(Lift::SizeLifted),
        TypeParamKind::Size,
    ];
    assert_eq!(kinds, expected);
}

#[test]
fn types_and_names() {
    prints_as("type t = i32", "type t = i32");
    prints_as(
        "type^ t 'a [n] = a -> [n]i32",
        "type^ t 'a [n] = a -> [n]i32",
    );
    prints_as("type~ t = ?[n].[n]i32", "type~ t = ?[n].[n]i32");
    prints_as("open m.n local open f x", "open m.n\nlocal open f x");
    prints_as(
        "import \"a/b\" local import \"../c\"",
        "import \"a/b\"\nlocal import \"../c\"",
    );
}

#[test]
fn modules() {
    prints_as(
        "module m = { def x = 1 type t = i32 }",
        "module m = {\n  def x = 1\n  type t = i32\n}",
    );
    prints_as(
        "module m (p: s) (q: {type t}) : s with t = q.t = f p",
        "module m (p: s) (q: {\n  type t\n}) : s with t = q.t = f p",
    );
    prints_as(
        "module m = f x (g y) { } : s : t",
        "module m = f x (g y) {\n} : s : t",
    );
    prints_as(
        "module m = \\(p: s) : t -> p",
        "module m = \\(p: s) : t -> p",
    );
    prints_as(
        "module m = \\(p: s) : (t with a = b) -> import \"x\"",
        "module m = \\(p: s) : (t with a = b) -> import \"x\"",
    );
    prints_as("module m = (import \"x\")", "module m = import \"x\"");
    let tree = program("module m = f x y");
    let DecKind::Module(bind) = &tree.decs[0].kind else {
        panic!("no module");
    };
    assert!(
        matches!(&bind.body.kind, ModExpKind::Apply(f, _) if matches!(f.kind, ModExpKind::Apply(..)))
    );
}

#[test]
fn module_types() {
    prints_as(
        "module type s = { val x : i32 val (+) : t -> t -> t val - 'a : a val f [n] : [n]i32 -> i32 \
         type t type^ u 'a type v = i32 module m : s include t with a 'b = b }",
        "module type s = {\n  val x : i32\n  val (+) : t -> t -> t\n  val (-) 'a : a\n  \
         val f [n] : [n]i32 -> i32\n  type t\n  type^ u 'a\n  type v = i32\n  module m : s\n  \
         include t with a 'b = b\n}",
    );
    prints_as(
        "module type s = (p: a) -> b with t = p.t -> c",
        "module type s = (p: a) -> b with t = (p.t -> c)",
    );
    prints_as(
        "module type s = a -> b with t = u with v = w",
        "module type s = a -> b with t = u with v = w",
    );
    prints_as(
        "module type s = (a -> b) -> c",
        "module type s = (a -> b) -> c",
    );
}

#[test]
fn comments_document_what_follows() {
    let text = "-- | The file.\n-- More.\n\n-- | One.\ndef x = 1 -- plain\n-- | Two.\n#[inline]\ndef y = 2\n";
    let tree = program(text);
    assert_eq!(
        tree.doc.as_ref().map(|doc| doc.text.as_str()),
        Some(" The file.\n More.")
    );
    let docs: Vec<Option<&str>> = tree
        .decs
        .iter()
        .map(|dec| dec.doc.as_ref().map(|doc| doc.text.as_str()))
        .collect();
    assert_eq!(docs, [Some(" One."), Some(" Two.")]);
    let alone = program("-- | The file.\ndef x = 1");
    assert!(alone.doc.is_some() && alone.decs[0].doc.is_none());
    let spec = program("def z = 0 module type s = {\n-- | A value.\nval x : i32 }");
    assert!(bare(&spec).contains("A value."));
    assert!(refused("def x = -- | Not here.\n 1").contains("documents nothing"));
}

#[test]
fn attributes() {
    prints_as(
        "#[a] #[b(c, 1, d(e))] def x = #[f] 1",
        "#[a] #[b(c, 1, d(e))] def x = #[f] 1",
    );
    prints_as(
        "def f (#[unused] x: i32) = x",
        "def f (#[unused] x: i32) = x",
    );
    prints_as(
        "module type s = { #[a] val x : i32 }",
        "module type s = {\n  #[a] val x : i32\n}",
    );
}

#[test]
fn an_empty_file_is_a_program() {
    assert_eq!(program("").decs.len(), 0);
    assert_eq!(program(" -- nothing\n").decs.len(), 0);
    assert_eq!(program("\u{feff}def x = 1\r\n").decs.len(), 1);
}

#[test]
fn expression_numbers_are_dense() {
    let tree = program("def f x = x + 1 def g = let y = f 2 in y");
    let text = format!("{tree:?}");
    for id in 0..tree.exp_count {
        assert_eq!(
            text.matches(&format!("ExpId({id})")).count(),
            1,
            "number {id}"
        );
    }
}
