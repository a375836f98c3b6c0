//! Mutated programs: whatever the text, the parser answers soon, and what it accepts survives printing.
//! `ARRC_FUZZ_SECONDS` makes it last longer; `FUTHARK_TESTS` adds outside programs to start from.

use super::super::print::print_program;
use super::super::{parse_expression, parse_program_bytes, parse_type_scheme};
use super::round_trip::SAMPLES;
use super::{FILE, bare};
use crate::render::{Look, render_all};
use crate::source::SourceMap;
use std::time::{Duration, Instant};

/// A small generator of random numbers: a fixed seed gives the same run everywhere.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    fn below(&mut self, bound: usize) -> usize {
        (self.next() >> 11) as usize % bound.max(1)
    }
}

const PIECES: &[&str] = &[
    "(", ")", "[", "]", "{", "}", " ", "\n", ",", ".", "..", "...", "..<", ":", ":>", "->", "\\",
    "'", "\"", "`", "#[", "#", "_", "?", "???", "=", "+", "-", "*", "!", "<|", "--", "-- |", "~",
    "^", "|", "0", "1.5", "0x", "1e", "1f32", "x", "a.b", "m.+", "'a", "'^", "#c", "let ", "in ",
    "if ", "then ", "else ", "loop ", "for ", "do ", "match ", "case ", "with ", "def ", "type ",
    "module ", "val ", "open ", "import ", "local ", "entry ", "assert ", "while ", "include ",
    "å", "\u{0}", "\r", "\t",
];

fn mutate(random: &mut Random, samples: &[Vec<u8>], bytes: &mut Vec<u8>) {
    let at = random.below(bytes.len() + 1);
    let end = (at + 1 + random.below(12)).min(bytes.len());
    match random.below(7) {
        0 => {
            bytes.drain(at.min(end)..end);
        }
        1 => {
            let copy = bytes[at.min(end)..end].to_vec();
            let to = random.below(bytes.len() + 1);
            bytes.splice(to..to, copy);
        }
        2 if at < bytes.len() => bytes[at] = random.next() as u8,
        3 => {
            let other = &samples[random.below(samples.len())];
            let from = random.below(other.len());
            let to = (from + random.below(40)).min(other.len());
            bytes.splice(at..at, other[from..to].iter().copied());
        }
        _ => {
            let piece = PIECES[random.below(PIECES.len())];
            bytes.splice(at..at, piece.bytes());
        }
    }
}

/// Gives one text to everything that takes text.
fn check(bytes: &[u8]) {
    let start = Instant::now();
    let shown = || String::from_utf8_lossy(bytes).into_owned();
    match parse_program_bytes(FILE, bytes) {
        Ok(tree) => {
            let printed = print_program(&tree);
            match parse_program_bytes(FILE, printed.as_bytes()) {
                Ok(again) => assert_eq!(bare(&tree), bare(&again), "{}\n=>\n{printed}", shown()),
                Err(errors) => panic!("{}\n=>\n{printed}\n{}", shown(), super::messages(&errors)),
            }
        }
        Err(errors) => {
            assert!(!errors.is_empty(), "{}", shown());
            let mut sources = SourceMap::new();
            sources.add("fuzz.fut", shown());
            let text = render_all(&sources, &errors, Look::Plain);
            assert!(text.contains("error[E01"), "{text}");
        }
    }
    if let Ok(text) = std::str::from_utf8(bytes) {
        drop(parse_expression(FILE, text));
        drop(parse_type_scheme(FILE, text));
    }
    assert!(
        start.elapsed() < Duration::from_secs(2),
        "slow: {}",
        shown()
    );
}

/// What to mutate.
fn samples() -> Vec<Vec<u8>> {
    let mut samples: Vec<Vec<u8>> = SAMPLES
        .iter()
        .map(|text| text.as_bytes().to_vec())
        .collect();
    let outside = std::env::var_os("FUTHARK_TESTS").unwrap_or_default();
    let mut waiting: Vec<_> = std::env::split_paths(&outside).collect();
    while let Some(path) = waiting.pop() {
        if let Ok(entries) = std::fs::read_dir(&path) {
            waiting.extend(entries.flatten().map(|entry| entry.path()));
        } else if path.extension().is_some_and(|extension| extension == "fut") {
            samples.extend(std::fs::read(&path));
        }
    }
    samples
}

#[test]
fn mutated_programs_get_an_answer() {
    let seconds = std::env::var("ARRC_FUZZ_SECONDS").ok();
    let seconds = seconds.and_then(|text| text.parse().ok()).unwrap_or(0);
    let end = Instant::now() + Duration::from_secs(seconds);
    let samples = samples();
    let mut round = 0_u64;
    while round < 4000 || Instant::now() < end {
        let mut random =
            Random(0x9e37_79b9_7f4a_7c15 ^ (round + 1).wrapping_mul(0xd134_2543_de82_ef95));
        let mut bytes = samples[random.below(samples.len())].clone();
        for _ in 0..=random.below(4) {
            mutate(&mut random, &samples, &mut bytes);
        }
        check(&bytes);
        round += 1;
    }
}

#[test]
fn random_pieces_get_an_answer() {
    for round in 0..2000u64 {
        let mut random = Random(round + 1);
        let count = random.below(40);
        let pieces = (0..count).map(|_| PIECES[random.below(PIECES.len())]);
        let text: String = pieces.collect();
        check(text.as_bytes());
    }
}
