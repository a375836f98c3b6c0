//! Sequences on devices that work while the host goes on: elements of the next chunk are brought there before the host waits.
#![expect(clippy::unwrap_used, reason = "a panic is how a test fails")]

use arrc::session::{Options, Program, Session};
use arrc::stream::Outside;
use arrc::target::Target;
use arrc::typed::Argument as _;
use arrc::{RunError, Value};
use std::sync::Mutex;

/// The numbers below `count`, and what was read, gathered and written, in order.
struct Log {
    count: i64,
    /// Whether elements can be had without waiting.
    ready: bool,
    /// From which number on reading fails.
    fails: i64,
    state: Mutex<(i64, Vec<String>, Vec<i64>)>,
}

impl Log {
    fn new(count: i64, ready: bool) -> Self {
        Self {
            count,
            ready,
            fails: i64::MAX,
            state: Mutex::default(),
        }
    }
}

fn numbers(values: &[Value]) -> Vec<i64> {
    let Some(Value::Array(array)) = values.first() else {
        return Vec::new();
    };
    (0..array.data.len())
        .map(|i| array.data.get(i).as_i64().unwrap())
        .collect()
}

impl Outside for Log {
    fn read(&self, _: u32, most: i64) -> Result<Vec<Value>, RunError> {
        let mut state = self.state.lock().unwrap();
        let from = state.0;
        let to = (from + most).min(self.count);
        if to > self.fails {
            return Err(RunError::BadArguments(String::from("no more")));
        }
        state.0 = to;
        state.1.push(format!("read {from}..{to}"));
        Ok(vec![(from..to).collect::<Vec<i64>>().into_value()])
    }

    fn gather(&self, _: u32, _: i64, _: &dyn Fn() -> bool) -> bool {
        self.ready
    }

    fn write(&self, values: Vec<Value>) -> Result<(), RunError> {
        let found = numbers(&values);
        let mut state = self.state.lock().unwrap();
        state.1.push(format!("write {}", found.len()));
        state.2.extend(found);
        Ok(())
    }
}

fn program(target: Target, chunk: Option<i64>) -> Program {
    let options = Options {
        target,
        chunk,
        ..Options::default()
    };
    let text = "entry twice (s: seq i64) : seq i64 = seq.map (* 2) s
        entry sum (s: seq i64) : i64 = seq.reduce (+) 0 s
        entry inverse (s: seq i64) : seq i64 = seq.map (100 /) s";
    Session::new(options)
        .unwrap()
        .compile("ahead.fut", text)
        .unwrap()
}

fn steps(target: Target, ready: bool) -> Vec<String> {
    let log = Log::new(7, ready);
    let program = program(target, Some(3));
    program.call_streaming("twice", vec![], &log).unwrap();
    let (_, steps, written) = log.state.into_inner().unwrap();
    assert_eq!(written, (0..7).map(|i| 2 * i).collect::<Vec<_>>());
    steps
}

#[test]
fn the_next_chunk_is_read_before_this_one_is_written() {
    let wanted = [
        "read 0..3",
        "read 3..6",
        "write 3",
        "read 6..7",
        "write 3",
        "read 7..7",
        "write 1",
    ];
    assert_eq!(steps(Target::PtxEmu, true), wanted);
}

#[test]
fn what_would_have_to_be_waited_for_is_read_when_it_is_needed() {
    let wanted = [
        "read 0..3",
        "write 3",
        "read 3..6",
        "write 3",
        "read 6..7",
        "write 1",
    ];
    assert_eq!(steps(Target::PtxEmu, false), wanted);
    // Where the host does the work itself there is nothing to wait for.
    assert_eq!(steps(Target::Cpu, true), wanted);
}

#[test]
fn results_are_the_same_however_chunks_are_chosen() {
    for chunk in [Some(1), Some(100), None] {
        for count in [0, 1, 64, 65, 1000] {
            let log = Log::new(count, true);
            let program = program(Target::PtxEmu, chunk);
            let sum = program.call_streaming("sum", vec![], &log).unwrap();
            assert_eq!(sum, vec![Value::Scalar((count * (count - 1) / 2).into())]);
        }
    }
}

#[test]
fn a_failure_of_this_chunk_comes_before_one_of_the_next() {
    let mut log = Log::new(7, true);
    log.fails = 3;
    let program = program(Target::PtxEmu, Some(3));
    // The first chunk holds a zero.
    let failed = program.call_streaming("inverse", vec![], &log);
    assert!(matches!(failed, Err(RunError::Trap(_))), "{failed:?}");
    let log = Log {
        fails: 3,
        ..Log::new(7, true)
    };
    let failed = program.call_streaming("twice", vec![], &log);
    assert_eq!(failed, Err(RunError::BadArguments(String::from("no more"))));
    let (_, _, written) = log.state.into_inner().unwrap();
    assert_eq!(written, [0, 2, 4]);
}
