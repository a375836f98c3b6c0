//! Arrays of somebody else: used where they are on the CPU, never changed unless they were given away, released once.

use arrc::session::{Options, Program, Resident, Session};
use arrc::target::Target;
use arrc::{ArrayValue, Data, Layout, Value, adopt};
use midend::ir::types::ScalarType;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

const PROGRAM: &str = "
entry same (xs: []i32) = xs
entry sum (xs: []i32) = i32.sum xs
entry twice [n] (xs: [n]i32) : [n]i32 = map (* 2) xs
entry update [n] (xs: *[n]i32) (i: i64) : *[n]i32 = xs with [i] = 7
entry loop_twice [n] (xs: [n]i32) : [n]i32 = loop xs for _i < 3i32 do map (* 2) xs
entry tail (xs: []i32) = drop 2 xs
";

const TARGETS: [Target; 3] = [Target::Cpu, Target::PtxEmu, Target::Interp];

fn program(target: Target) -> (Session, Program) {
    let options = Options {
        target,
        threads: Some(2),
        ..Options::default()
    };
    let session = Session::new(options).expect("a session");
    let program = session
        .compile("foreign.fut", PROGRAM)
        .expect("it is right");
    (session, program)
}

/// Elements, and how often whoever owns them was told that they are not used any more.
struct Lent {
    elements: Vec<i32>,
    released: Arc<AtomicUsize>,
}

struct Owner(Arc<AtomicUsize>);

impl Drop for Owner {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

impl Lent {
    fn new(count: i32) -> Self {
        Self {
            elements: (0..count).collect(),
            released: Arc::default(),
        }
    }
    fn lend(&mut self, session: &Session, is_read_only: bool) -> Resident {
        let shape = [self.elements.len() as i64];
        let layout = Layout {
            start: self.elements.as_mut_ptr().cast(),
            elem: ScalarType::I32,
            shape: &shape,
            strides: &[4],
        };
        let owner = Box::new(Owner(Arc::clone(&self.released)));
        // SAFETY: tests keep the elements, and read them only where nothing writes to them.
        let adopted = unsafe { adopt(layout, is_read_only, owner) }.expect("a shape");
        session.put_adopted(shape.to_vec(), adopted).expect("put")
    }
    fn releases(&self) -> usize {
        self.released.load(Ordering::SeqCst)
    }
    fn is_unchanged(&self) -> bool {
        self.elements.iter().zip(0..).all(|(x, i)| *x == i)
    }
}

fn one(program: &Program, entry: &str, args: Vec<Resident>) -> Resident {
    let mut results = program.call_resident(entry, args).expect("it runs");
    results.pop().expect("a result")
}

fn elements(resident: Resident) -> Vec<i32> {
    let value = resident.get().expect("a value");
    let Value::Array(ArrayValue {
        data: Data::I32(elements),
        ..
    }) = value
    else {
        panic!("{value:?}");
    };
    elements
}

fn index(session: &Session, i: i64) -> Resident {
    let value = Value::Scalar(midend::ir::scalar::Const::I64(i));
    session.put(value).expect("put")
}

#[test]
fn read_only_memory_never_changes() {
    for target in TARGETS {
        let (session, program) = program(target);
        for entry in ["same", "twice", "loop_twice", "tail", "update"] {
            let mut lent = Lent::new(1000);
            let mut args = vec![lent.lend(&session, true)];
            if entry == "update" {
                args.push(index(&session, 3));
            }
            let result = elements(one(&program, entry, args));
            assert!(lent.is_unchanged(), "{target} {entry}");
            assert_eq!(lent.releases(), 1, "{target} {entry}");
            let (at, expected) = match entry {
                "twice" => (5, 10),
                "loop_twice" => (5, 40),
                "tail" => (5, 7),
                "update" => (3, 7),
                _ => (5, 5),
            };
            assert_eq!(result[at], expected, "{target} {entry}");
        }
    }
}

#[test]
fn owners_are_released_once_and_after_the_last_use() {
    let (session, program) = program(Target::Cpu);
    let mut lent = Lent::new(100);
    let start = lent.elements.as_ptr();
    let argument = lent.lend(&session, true);
    let again = argument.clone();
    // A result that is an argument refers to the same memory.
    let result = one(&program, "same", vec![argument]);
    let host = result.host().expect("it is here");
    assert_eq!(host.start.cast::<i32>(), start);
    assert!(host.is_foreign && host.is_read_only && host.shape == [100]);
    drop(again);
    assert_eq!(lent.releases(), 0);
    drop(result);
    assert_eq!(lent.releases(), 1);
    // A failing call releases, too.
    let argument = lent.lend(&session, true);
    let failed = program.call_resident("update", vec![argument, index(&session, 100)]);
    assert!(failed.is_err());
    assert_eq!(lent.releases(), 2);
    let argument = lent.lend(&session, false);
    assert!(
        program
            .call_resident("sum", vec![argument.clone(), argument])
            .is_err()
    );
    assert_eq!(lent.releases(), 3);
    assert!(lent.is_unchanged());
}

#[test]
fn memory_that_was_given_away_is_updated_in_place() {
    let (session, program) = program(Target::Cpu);
    let mut lent = Lent::new(10_000);
    let start = lent.elements.as_ptr();
    let argument = lent.lend(&session, false);
    let result = one(&program, "update", vec![argument, index(&session, 9)]);
    let host = result.host().expect("it is here");
    assert_eq!(host.start.cast::<i32>(), start);
    assert!(host.is_foreign && !host.is_read_only);
    assert_eq!(lent.releases(), 0);
    drop(result);
    assert_eq!((lent.elements[9], lent.elements[10]), (7, 10));
    assert_eq!(lent.releases(), 1);
    // Not where somebody else holds the argument.
    let mut lent = Lent::new(10_000);
    let argument = lent.lend(&session, false);
    let result = one(
        &program,
        "update",
        vec![argument.clone(), index(&session, 9)],
    );
    assert!(!result.host().expect("it is here").is_foreign);
    assert!(lent.is_unchanged());
}

#[test]
fn sums_and_scalars_say_what_they_are() {
    for target in TARGETS {
        let (session, program) = program(target);
        let mut lent = Lent::new(10);
        let argument = lent.lend(&session, true);
        assert_eq!(
            (argument.shape(), argument.elem()),
            (&[10][..], ScalarType::I32)
        );
        assert!(argument.scalar().is_none());
        let sum = one(&program, "sum", vec![argument]);
        assert_eq!(sum.scalar(), Some(midend::ir::scalar::Const::I32(45)));
        assert!(sum.host().is_none() && sum.shape().is_empty());
        let doubled = one(&program, "twice", vec![lent.lend(&session, true)]);
        let host = doubled.host().expect("it is here");
        // SAFETY: the result has ten elements, and is there.
        let third = unsafe { host.start.cast::<i32>().add(2).read() };
        assert_eq!(third, 4, "{target}");
    }
}
