//! Sessions that know which entry point is going to be called.

use arrc::session::{Options, Program, Session};
use arrc::target::Target;
use arrc::{RunError, Value};
use midend::ir::scalar::Const;

const TEXT: &str = "
def all (n: i64) = i64.sum (iota n)
entry one (n: i64) = all n
entry other (n: i64) = all n + i64.product (iota n)
";

fn program(target: Target, entry: Option<&str>) -> Program {
    let options = Options {
        target,
        entry: entry.map(str::to_owned),
        ..Options::default()
    };
    let session = Session::new(options).expect("a session");
    session.compile("entries.fut", TEXT).expect("a program")
}

fn call(program: &Program, entry: &str) -> Result<Vec<Value>, RunError> {
    program.call(entry, vec![Value::Scalar(Const::I64(5))])
}

#[test]
fn only_the_entry_point_that_is_called_is_compiled() {
    for target in [Target::Interp, Target::Cpu, Target::PtxEmu] {
        let (all, one) = (program(target, None), program(target, Some("one")));
        assert_eq!(call(&one, "one"), call(&all, "one"));
        // Messages name the others, too.
        let names = |program: &Program| -> Vec<String> {
            let entries = program.entries().iter();
            entries.map(|entry| entry.name.clone()).collect()
        };
        assert_eq!(names(&one), names(&all));
        assert!(matches!(
            call(&one, "other"),
            Err(RunError::BadArguments(_))
        ));
        assert!(call(&all, "other").is_ok());
        if target == Target::PtxEmu {
            let kernels = |program: &Program| program.kernel_texts(75).len();
            assert!(kernels(&one) < kernels(&all));
        }
    }
}

#[test]
fn an_entry_point_that_is_not_there_leaves_all() {
    let program = program(Target::Cpu, Some("none"));
    assert!(call(&program, "one").is_ok());
    assert!(call(&program, "other").is_ok());
}

#[test]
fn headings_are_what_the_source_says() {
    let heading = |text: &str, entry: &str| {
        let session = Session::new(Options::default()).expect("a session");
        let program = session.compile("headings.fut", text).expect("a program");
        program.heading(entry).cloned().expect("a heading")
    };
    let text = "-- | The file.\n\n-- | Adds.\n-- All.\nentry sum [n] (xs: [n]i32) : i32 = i32.sum xs\nentry twice x = x * 2i32\n";
    let sum = heading(text, "sum");
    assert_eq!(sum.doc.as_deref(), Some(" Adds.\n All."));
    assert_eq!(
        (sum.params, sum.result.as_deref()),
        (vec![String::from("[n]i32")], Some("i32"))
    );
    let twice = heading(text, "twice");
    assert_eq!((twice.doc, twice.result), (None, None));
    assert_eq!(twice.params, ["i32"]);
    // A comment at the beginning is that of the file, and of the first declaration if that has none.
    let first = "-- | Adds.\nentry sum (xs: []i32) = i32.sum xs\nentry other (x: i32) = x";
    assert_eq!(heading(first, "sum").doc.as_deref(), Some(" Adds."));
    assert_eq!(heading(first, "other").doc, None);
    let below = "-- | The file.\ndef one = 1i32\nentry other (x: i32) = x + one";
    assert_eq!(heading(below, "other").doc, None);
}
