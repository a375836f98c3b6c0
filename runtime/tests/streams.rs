//! Sequences: results do not depend on chunks, and what does not fit in memory can be gone through.
#![expect(clippy::unwrap_used, reason = "a panic is how a test fails")]

use arrc::session::{Options, Session};
use arrc::stream::Ends;
use arrc::target::Target;
use arrc::{RunError, Value};

const CONSUMERS: &str = "
entry fold (n: i64) = seq.fold (\\a x -> a * 0.99 + x) 0f32 (seq.produce n (\\i -> 1 / f32.i64 (i + 1)))
entry reduce (n: i64) = seq.reduce (+) 0f32 (seq.produce n (\\i -> 1 / f32.i64 (i + 1)))
entry vectors (n: i64) = seq.reduce (map2 (+)) [0f32, 0] (seq.produce n (\\i -> [f32.i64 i / 3, 1 / f32.i64 (i + 1)]))
entry elements (n: i64) = seq.elements (seq.produce n (\\i -> iota (i % 4)))
entry rows (n: i64) : [][..]i64 = seq.rows (seq.produce n (\\i -> filter (\\x -> x % 3 == i % 3) (iota (i % 7))))
entry tabulate (n: i64) = seq.tabulate (seq.produce n (\\i -> iota (2 + i % 3)))
entry array (n: i64) = seq.to_array (seq.zip (seq.produce n (* 2)) (seq.produce (n - 1) f32.i64))
entry result (n: i64) : seq i64 = seq.produce n (\\i -> i * i)
entry together (n: i64) = let s = seq.produce n (\\i -> 1 / f32.i64 (i + 1)) in (seq.reduce (+) 0 s, seq.fold (\\a x -> a * 0.99 + x) 0 s, seq.to_array (seq.map f32.sqrt s))
entry inside (n: i64) = map (\\i -> seq.reduce (+) 0f32 (seq.produce i (\\j -> 1 / f32.i64 (j + 1)))) (iota (n % 300))
";

fn results(target: Target, chunk: Option<i64>) -> Vec<Vec<Value>> {
    let options = Options {
        target,
        chunk,
        ..Options::default()
    };
    let session = Session::new(options).unwrap();
    let program = session.compile("consumers.fut", CONSUMERS).unwrap();
    let mut all = Vec::new();
    for entry in program.entries() {
        for n in [0, 1, 2, 7, 255, 256, 257, 1000] {
            let n = Value::Scalar(i64::into(n));
            all.push(program.call(&entry.name, vec![n]).unwrap());
        }
    }
    all
}

#[test]
fn results_do_not_depend_on_chunks() {
    let wanted = results(Target::Interp, None);
    for target in [Target::Interp, Target::Cpu] {
        for chunk in [Some(1), Some(7), Some(256), Some(i64::MAX), None] {
            assert!(results(target, chunk) == wanted, "{target}, {chunk:?}");
        }
    }
}

#[test]
fn what_does_not_fit_is_gone_through() {
    const LIMIT: u64 = 1 << 20;
    let count = 8 * LIMIT as i64 / 8;
    let options = Options {
        target: Target::Cpu,
        memory_limit: Some(LIMIT),
        ..Options::default()
    };
    let session = Session::new(options).unwrap();
    let text = "entry twice (s: seq i64) : seq i64 = seq.map (* 2) s
        entry sum (s: seq i64) : i64 = seq.reduce (+) 0 s
        entry all (s: seq i64) : []i64 = seq.to_array s";
    let program = session.compile("twice.fut", text).unwrap();
    let mut sum = 0;
    let ends = Ends::new()
        .input(0..count)
        .output(|chunk: Vec<i64>| sum += chunk.iter().sum::<i64>());
    program.call_streaming("twice", vec![], &ends).unwrap();
    drop(ends);
    assert_eq!(sum, count * (count - 1));
    let results = program.call_streaming("sum", vec![], &Ends::new().input(0..count));
    assert_eq!(
        results,
        Ok(vec![Value::Scalar((count * (count - 1) / 2).into())])
    );
    let all = program.call_streaming("all", vec![], &Ends::new().input(0..count));
    assert!(matches!(all, Err(RunError::OutOfMemory { .. })));
}

#[test]
fn ends_that_are_missing_are_errors() {
    let session = Session::new(Options::default()).unwrap();
    let text = "entry sum (s: seq i64) : i64 = seq.fold (+) 0 s";
    let program = session.compile("sum.fut", text).unwrap();
    let none = program.call_streaming("sum", vec![], &Ends::new());
    assert!(matches!(none, Err(RunError::BadArguments(_))));
    let failing = Ends::new().input_values(|_| Err(RunError::BadArguments("gone".into())));
    let failed = program.call_streaming("sum", vec![], &failing);
    assert_eq!(failed, Err(RunError::BadArguments("gone".into())));
}

/// What is computed of an element in parallel: sums, running sums, histograms, of rows of one length and of any.
const INSIDE: &str = "
def xs (i: i64) (m: i64) = map (\\j -> 1 / f32.i64 (i + j + 1)) (iota m)
entry sums (n: i64) (m: i64) : seq f32 = seq.map (\\i -> f32.sum (xs i m)) (seq.produce n id)
entry ragged (n: i64) (m: i64) : seq f32 = seq.map (\\i -> f32.sum (xs i (i * 7 % m))) (seq.produce n id)
entry scans (n: i64) (m: i64) : seq f32 = seq.map (\\i -> f32.sum (scan (+) 0 (xs i m))) (seq.produce n id)
entry ragged_scans (n: i64) (m: i64) : seq f32 = seq.map (\\i -> f32.sum (scan (+) 0 (xs i (i * 7 % m)))) (seq.produce n id)
entry hists (n: i64) (m: i64) : seq f32 = seq.map (\\i -> f32.maximum (reduce_by_index (replicate 3 0) (+) 0 (map (% 3) (iota m)) (xs i m))) (seq.produce n id)
entry columns (n: i64) (m: i64) : seq f32 = seq.map (\\i -> f32.maximum (map f32.sum (transpose (map (\\j -> xs (i * j) 5) (iota m))))) (seq.produce n id)
entry folds (n: i64) (m: i64) : f32 = seq.fold (\\a ys -> a * 0.5 + f32.sum (map (* a) ys)) 1 (seq.map (\\i -> xs i (i * 7 % m)) (seq.produce n id))
";

fn do_not_depend_on_chunks_inside(target: Target, sizes: &[(i64, i64)]) {
    let mut wanted = None;
    for chunk in [Some(1), Some(7), Some(256), Some(i64::MAX), None] {
        let options = Options {
            target,
            chunk,
            threads: Some(2),
            ..Options::default()
        };
        let session = Session::new(options).unwrap();
        let program = session.compile("inside.fut", INSIDE).unwrap();
        let mut all = Vec::new();
        for entry in program.entries() {
            for &(n, m) in sizes {
                let args = vec![Value::Scalar(n.into()), Value::Scalar(m.into())];
                all.push((
                    entry.name.clone(),
                    n,
                    m,
                    program.call(&entry.name, args).unwrap(),
                ));
            }
        }
        let wanted = wanted.get_or_insert_with(|| all.clone());
        for (found, wanted) in all.iter().zip(wanted) {
            assert!(
                found == wanted,
                "{target}, {chunk:?}: {found:?}, not {wanted:?}"
            );
        }
    }
}

#[test]
fn sums_inside_of_elements_do_not_depend_on_chunks() {
    do_not_depend_on_chunks_inside(Target::Cpu, &[(300, 3), (300, 70), (100, 20_000)]);
}

#[test]
fn sums_inside_of_elements_do_not_depend_on_chunks_on_gpus() {
    do_not_depend_on_chunks_inside(Target::PtxEmu, &[(70, 3), (70, 40), (70, 300), (3, 1500)]);
}
