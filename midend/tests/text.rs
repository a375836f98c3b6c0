//! The text form: what is printed reads back as the same program, and no bytes make the reader fail otherwise than
//! with a located error.

use midend::ir::mem::Mem;
use midend::ir::print;
use midend::ir::read;
use midend::ir::seg::Seg;
use midend::ir::soac::Soac;
use midend::ir::text::Text;
use midend::verify::{self, Verify};
use std::time::{Duration, Instant};

const NESTED: &str = include_str!("text/nested.ir");
const FLAT: &str = include_str!("text/flat.ir");
const PLAN: &str = include_str!("text/plan.ir");

fn round_trip<D: Text>(text: &str) -> String {
    let first = read::program::<D>(text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    let printed = print::program(&first);
    let second = read::program::<D>(&printed).unwrap_or_else(|e| panic!("{e}\n{printed}"));
    assert_eq!(printed, print::program(&second));
    // Variables and places are numbered in order of appearance by reader and printer alike.
    let third = read::program::<D>(&print::program(&second)).expect("was read before");
    assert_eq!(second, third);
    printed
}

#[test]
fn what_is_printed_reads_back() {
    let printed = round_trip::<Soac>(NESTED);
    let without_comment = NESTED.split_once('\n').expect("a first line").1;
    assert_eq!(without_comment, printed);
    round_trip::<Seg>(FLAT);
    round_trip::<Mem>(PLAN);
}

#[test]
fn places_survive() {
    let program = read::program::<Soac>(NESTED).expect("the sample is right");
    let all = program.spans.len();
    assert_eq!(all, 6);
    let assert = &program.funs.iter().next().expect("a function").body.stms[1];
    let trail = midend::trap::trail(&program.spans, assert.span);
    let lines: Vec<u32> = trail.iter().map(|place| place.start.0).collect();
    assert_eq!(lines, [2, 9, 9]);
}

#[test]
fn dialects_are_told_apart() {
    assert_eq!(read::dialect_name(NESTED), Some("nested"));
    assert_eq!(read::dialect_name(FLAT), Some("flat"));
    let wrong = read::program::<Seg>(NESTED).expect_err("another dialect");
    assert_eq!((wrong.line, wrong.column), (2, 1));
}

#[test]
fn errors_are_located() {
    let cases = [
        (
            "nested fun f() -> () { yield x }",
            "1:30: this variable is bound nowhere, found `x`",
        ),
        (
            "nested\nfun f(x: i64, x: i64) -> () { yield }",
            "2:15: this variable is bound a second time, found `x`",
        ),
        (
            "nested\nfun f() -> () { yield } @",
            "2:25: expected `fun`, `span` or the end, found `@`",
        ),
        (
            "nested fun f() -> () @3 { yield }",
            "1:23: there is no place of this number, found `3`",
        ),
        (
            "nested span 1 \"a\" 1:1..1:2 in 2 span 2 \"a\" 1:1..1:2 in 1",
            "1:57: place 1 was inlined into itself, found the end",
        ),
        (
            "nested fun f() -> () { let x: i8 = 300i8 yield }",
            "1:36: expected a variable or constant, found `300i8`",
        ),
        (
            "nested fun f() -> () { do call g() yield }",
            "1:32: there is no function of this name, found `g`",
        ),
    ];
    for (text, message) in cases {
        let error = read::program::<Soac>(text).expect_err(text);
        assert_eq!(error.to_string(), message, "{text}");
    }
}

#[test]
fn depth_is_limited() {
    let nest = |depth: usize| {
        // Each binder needs a name of its own.
        let open: String = (0..depth)
            .map(|i| format!("let x_{i}: i64 = if true {{"))
            .collect();
        let close = "yield } else { yield }".repeat(depth);
        format!("nested fun f() -> () {{{open}{close} yield }}")
    };
    let deep = read::program::<Soac>(&nest(read::MAX_DEPTH - 2)).expect("deep but allowed");
    print::program(&deep);
    let deeper = read::program::<Soac>(&nest(100_000)).expect_err("too deep");
    assert!(deeper.message.starts_with("nested too deeply"), "{deeper}");
}

/// Edits of the samples, the same in every run. `ARRC_FUZZ_SECONDS` makes it last longer.
#[test]
fn no_bytes_make_the_reader_panic() {
    let seconds = std::env::var("ARRC_FUZZ_SECONDS")
        .ok()
        .and_then(|s| s.parse().ok());
    let end = Instant::now() + Duration::from_secs(seconds.unwrap_or(0));
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let mut good = 0_usize;
    let mut round = 0_usize;
    while round < 3000 || Instant::now() < end {
        round += 1;
        let sample = [NESTED, FLAT, PLAN][round % 3];
        let text = mutate(sample, &mut random);
        good += usize::from(match round % 3 {
            0 => survives::<Soac>(&text),
            1 => survives::<Seg>(&text),
            _ => survives::<Mem>(&text),
        });
    }
    // If nothing were read the fuzzing would stop at the first token.
    assert!(good > round / 100, "{good} of {round} texts were read");
}

/// Reads the text; what can be read must also be printed and read again, and the verifier must survive it.
fn survives<D: Verify>(text: &str) -> bool {
    let Ok(program) = read::program::<D>(text) else {
        return false;
    };
    let printed = print::program(&program);
    if let Err(faults) = verify::program(&program) {
        assert!(!faults.is_empty());
    }
    match read::program::<D>(&printed) {
        Ok(again) => assert_eq!(printed, print::program(&again), "from\n{text}"),
        Err(error) => panic!("{error}\n{printed}\nfrom\n{text}"),
    }
    true
}

fn mutate(sample: &str, random: &mut Random) -> String {
    let mut bytes = sample.as_bytes().to_vec();
    for _ in 0..1 + random.below(3) {
        let at = random.below(bytes.len());
        let len = 1 + random.below(8);
        match random.below(5) {
            0 => bytes[at] = b"(){}[]<>,:=*\\@|#+-\"0aez.;\n\xc3\xff"[random.below(28)],
            1 => drop(bytes.drain(at..(at + len).min(bytes.len()))),
            2 => {
                let from = random.below(bytes.len());
                let piece = bytes[from..(from + len).min(bytes.len())].to_vec();
                bytes.splice(at..at, piece);
            }
            3 => bytes.truncate(at.max(1)),
            _ => {
                let digit = b'0' + u8::try_from(random.below(10)).expect("a digit");
                if let Some(byte) = bytes[at..].iter_mut().find(|b| b.is_ascii_digit()) {
                    *byte = digit;
                }
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// A xorshift generator.
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 11).expect("53 bits") % n.max(1)
    }
}
