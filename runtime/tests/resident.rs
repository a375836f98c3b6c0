//! Values that stay where programs run, on each target.

use arrc::session::{Accelerator, Options, Program, Resident, Session};
use arrc::target::Target;
use arrc::{ArrayValue, Data, RunError, Value};
use midend::ir::scalar::Const;
use std::time::Duration;

const TEXT: &str = "
entry twice (xs: []i32) = map (* 2) xs
entry put [n] (xs: *[n]i32) (i: i64) (x: i32) : *[n]i32 = xs with [i] = x
entry both (xs: []i32) = (xs, xs)
entry same (xs: []i32) = xs
entry sum (xs: []i32) (k: i32) = i32.sum xs + k
entry rows [n][m] (xss: [n][m]i32) = map i32.sum xss
";

fn array<const RANK: usize>(shape: [i64; RANK], elements: &[i32]) -> Value {
    Value::Array(ArrayValue {
        shape: shape.to_vec(),
        data: Data::I32(elements.to_vec()),
    })
}

fn vector(elements: &[i32]) -> Value {
    array([elements.len() as i64], elements)
}

fn scalar(c: Const) -> Value {
    Value::Scalar(c)
}

/// Does the work on each target: for the target `auto`, the emulator poses as a GPU.
fn on_each(work: impl Fn(&Session, &Program)) {
    for target in [Target::Interp, Target::Cpu, Target::PtxEmu, Target::Auto] {
        let options = Options {
            target,
            accelerator: Some(Accelerator {
                target: Target::PtxEmu,
                costs: None,
                start: Duration::ZERO,
            }),
            ..Options::default()
        };
        let session = Session::new(options).expect("a session");
        let program = session.compile("resident.fut", TEXT).expect("a program");
        work(&session, &program);
    }
}

fn call(program: &Program, entry: &str, args: Vec<Resident>) -> Vec<Resident> {
    let called = program.call_resident(entry, args);
    called.unwrap_or_else(|why| panic!("{entry}: {why}"))
}

fn get(value: &Resident) -> Value {
    value.clone().get().expect("the value")
}

#[test]
fn results_are_arguments() {
    on_each(|session, program| {
        let mut xs = vec![session.put(vector(&[1, 2, 3])).expect("put")];
        for _ in 0..5 {
            xs = call(program, "twice", xs);
        }
        let k = session.put(scalar(Const::I32(4))).expect("put");
        let sum = call(program, "sum", vec![xs[0].clone(), k]);
        assert_eq!(get(&sum[0]), scalar(Const::I32(196)));
        assert_eq!(get(&xs[0]), vector(&[32, 64, 96]));
    });
}

#[test]
fn what_is_consumed_stays_for_those_who_share_it() {
    on_each(|session, program| {
        let scalars = || {
            let put = |c| session.put(scalar(c)).expect("put");
            [put(Const::I64(1)), put(Const::I32(9))]
        };
        let updated = |xs| {
            let [i, x] = scalars();
            call(program, "put", vec![xs, i, x]).remove(0)
        };
        let xs = session.put(vector(&[1, 2, 3])).expect("put");
        let ys = updated(xs.clone());
        assert_eq!(get(&xs), vector(&[1, 2, 3]));
        assert_eq!(get(&ys), vector(&[1, 9, 3]));
        // The results share their elements with each other and with the argument.
        let both = call(program, "both", vec![xs.clone()]);
        let zs = updated(both[0].clone());
        assert_eq!(
            (get(&xs), get(&both[1])),
            (vector(&[1, 2, 3]), vector(&[1, 2, 3]))
        );
        assert_eq!(get(&zs), vector(&[1, 9, 3]));
        // The last reference goes into the call, which may write over it.
        assert_eq!(get(&updated(zs)), vector(&[1, 9, 3]));
        let own = xs.to_argument(true).expect("a copy");
        assert_eq!(get(&updated(own)), vector(&[1, 9, 3]));
        assert_eq!(get(&xs), vector(&[1, 2, 3]));
    });
}

#[test]
fn maps_write_over_results_only_when_nobody_has_them() {
    on_each(|session, program| {
        let xs = session.put(vector(&[1, 2, 3])).expect("put");
        let ys = call(program, "twice", vec![xs]);
        let zs = call(program, "twice", ys.clone());
        assert_eq!(
            (get(&ys[0]), get(&zs[0])),
            (vector(&[2, 4, 6]), vector(&[4, 8, 12]))
        );
        let same = call(program, "same", ys.clone());
        drop(ys);
        let ws = call(program, "twice", same.clone());
        assert_eq!(
            (get(&same[0]), get(&ws[0])),
            (vector(&[2, 4, 6]), vector(&[4, 8, 12]))
        );
    });
}

#[test]
fn shapes_stay() {
    on_each(|session, program| {
        for (shape, sums) in [
            ([2, 3], vec![6, 15]),
            ([0, 3], vec![]),
            ([3, 0], vec![0, 0, 0]),
        ] {
            let count = usize::try_from(shape[0] * shape[1]).expect("a count");
            let xss = array(shape, &[1, 2, 3, 4, 5, 6][..count]);
            let put = session.put(xss.clone()).expect("put");
            assert_eq!(get(&put), xss);
            assert_eq!(get(&call(program, "rows", vec![put])[0]), vector(&sums));
        }
    });
}

#[test]
fn wrong_arguments_are_told() {
    on_each(|session, program| {
        let refused = |entry: &str, args: Vec<Resident>, part: &str| match program
            .call_resident(entry, args)
        {
            Err(RunError::BadArguments(why)) => assert!(why.contains(part), "{why}"),
            other => panic!("{other:?}"),
        };
        let xs = session.put(vector(&[1, 2, 3])).expect("put");
        refused("none", vec![], "there is no entry point called `none`");
        refused("twice", vec![], "takes 1 argument");
        refused(
            "rows",
            vec![xs.clone()],
            "must have type [n][m]i32, but a value of type [3]i32",
        );
        refused("sum", vec![xs.clone(), xs], "must have type i32");
        let other = Session::new(session.options().clone()).expect("a session");
        let theirs = other.put(vector(&[1])).expect("put");
        refused("twice", vec![theirs], "was put into another session");
    });
}

#[test]
fn memory_is_limited() {
    let session = Session::new(Options {
        target: Target::Cpu,
        memory_limit: Some(1 << 20),
        ..Options::default()
    });
    let session = session.expect("a session");
    let program = session.compile("resident.fut", TEXT).expect("a program");
    let xs = session.put(vector(&vec![1; 150_000])).expect("it fits");
    let full = program.call_resident("twice", vec![xs.clone()]);
    assert!(
        matches!(full, Err(RunError::OutOfMemory { .. })),
        "{full:?}"
    );
    let k = session.put(scalar(Const::I32(0))).expect("put");
    let sum = call(&program, "sum", vec![xs, k]);
    assert_eq!(
        get(&sum[0]),
        scalar(Const::I32(150_000)),
        "what it took is given back"
    );
}
