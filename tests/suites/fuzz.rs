//! Fuzzing of everything that takes untrusted input: source text, values, the text of the IR. The parser and the readers
//! must refuse or accept it, and what they accept must survive being printed; the type checker and the compiler must
//! give an answer; what a compiled program does must not depend on a mistake in arrc.
//!
//! An ordinary test lasts seconds. `ARRC_FUZZ_SECONDS=600` makes each of these last ten minutes, `ARRC_SEED` starts
//! elsewhere, `FUTHARK_TESTS` names folders of more programs to start from.

use arrc::data::{Leaf, Reader, Source, read_all, read_npy, value_text, write_binary};
use arrc::loader::FileLoader;
use arrc::session::{Options, Session, on_big_stack};
use arrc::spec::{Generator, generate};
use arrc::target::Target;
use arrc_tests::fuzz::campaign::Campaign;
use arrc_tests::fuzz::mutate::{Mutator, bytes};
use arrc_tests::fuzz::samples::{Sample, ir, programs};
use arrc_tests::fuzz::vocabulary::Vocabulary;
use arrc_tests::generate::Random;
use frontend::diagnostic::Diagnostic;
use frontend::render::{Look, render_all};
use frontend::source::{FileId, SourceMap};
use frontend::syntax::bare::bare;
use frontend::syntax::print::print_program;
use frontend::syntax::{parse_expression, parse_program_bytes, parse_type_scheme};
use midend::ir::syntax::Entry;
use midend::ir::types::ScalarType;
use midend::ir::{mem::Mem, print, read, seg::Seg, soac::Soac};
use midend::trap::RunError;
use midend::value::Value;
use midend::verify::{self, Verify};
use std::path::Path;

/// The statements that a run of a mutated program may execute.
const FUEL: u64 = 200_000;

/// Bytes that its arrays may occupy.
const MEMORY: u64 = 64 << 20;

fn mutator<'v>(samples: &[Sample], vocabulary: &'v Vocabulary) -> Mutator<'v> {
    Mutator::new(samples.iter().map(|s| s.text.as_str()), vocabulary)
}

#[test]
fn parser() {
    let (samples, vocabulary) = (programs(), Vocabulary::source());
    let mutator = mutator(&samples, &vocabulary);
    let make = |random: &mut Random| {
        let sample = random.below(samples.len());
        let mut text = mutator.text(sample, 4, random).to_text().into_bytes();
        if random.chance(30) {
            bytes(&mut text, random);
        }
        text
    };
    Campaign {
        name: "parser",
        quick: 500,
        make: &make,
        check: &parses,
    }
    .run();
}

/// Gives one text to everything that takes text.
fn parses(bytes: &[u8]) -> Result<bool, String> {
    const FILE: FileId = FileId(0);
    if let Ok(text) = std::str::from_utf8(bytes) {
        drop(parse_expression(FILE, text));
        drop(parse_type_scheme(FILE, text));
    }
    let tree = match parse_program_bytes(FILE, bytes) {
        Ok(tree) => tree,
        Err(errors) => {
            let mut sources = SourceMap::new();
            sources.add("fuzz.fut", String::from_utf8_lossy(bytes));
            return refused(&sources, &errors, "E01");
        }
    };
    let printed = print_program(&tree);
    match parse_program_bytes(FILE, printed.as_bytes()) {
        Ok(again) if bare(&tree) == bare(&again) => Ok(true),
        Ok(_) => Err(String::from("printing changes what the program says")),
        Err(errors) => Err(format!("printed, it does not parse: {}", errors[0].message)),
    }
}

/// A refusal gives errors, all of which can be shown.
fn refused(sources: &SourceMap, errors: &[Diagnostic], code: &str) -> Result<bool, String> {
    let text = render_all(sources, errors, Look::Plain);
    if text.contains(&format!("error[{code}")) {
        Ok(false)
    } else {
        Err(format!("refused without an error: {text}"))
    }
}

/// A mutated program, below a line that says where its imports lie.
fn program(samples: &[Sample], mutator: &Mutator<'_>, random: &mut Random) -> Vec<u8> {
    let sample = random.below(samples.len());
    let text = mutator.text(sample, 2, random).to_text();
    format!("-- {}\n{text}", samples[sample].path.display()).into_bytes()
}

/// The path in the first line, and the text.
fn program_of(bytes: &[u8]) -> (String, String) {
    let text = String::from_utf8_lossy(bytes).into_owned();
    let first = text.lines().next().unwrap_or_default();
    let path = first.strip_prefix("-- ").unwrap_or_default().to_owned();
    (path, text)
}

#[test]
fn checker() {
    let (samples, vocabulary) = (programs(), Vocabulary::source());
    let mutator = mutator(&samples, &vocabulary);
    let campaign = || {
        Campaign {
            name: "checker",
            quick: 100,
            make: &|random| program(&samples, &mutator, random),
            check: &checks,
        }
        .run();
    };
    on_big_stack(campaign);
}

/// Gives a program to the type checker.
fn checks(bytes: &[u8]) -> Result<bool, String> {
    let (path, text) = program_of(bytes);
    let mut loader = FileLoader::new();
    let file = loader.add_text(&path, &text);
    match frontend::check(file, &mut loader) {
        Ok((_, warnings)) => {
            render_all(loader.sources(), &warnings, Look::Plain);
            Ok(true)
        }
        Err(errors) => refused(loader.sources(), &errors, "E"),
    }
}

#[test]
fn programs_that_run() {
    let (samples, vocabulary) = (programs(), Vocabulary::source());
    let mutator = mutator(&samples, &vocabulary);
    let session = Session::new(Options {
        target: Target::Interp,
        memory_limit: Some(MEMORY),
        check: true,
        claims: true,
        keep_reference: true,
        ..Options::default()
    })
    .expect("the interpreter needs nothing");
    let campaign = || {
        Campaign {
            name: "programs_that_run",
            quick: 200,
            make: &|random| program(&samples, &mutator, random),
            check: &|bytes| runs(&session, bytes),
        }
        .run();
    };
    on_big_stack(campaign);
}

/// Compiles a program and calls its entry points.
fn runs(session: &Session, bytes: &[u8]) -> Result<bool, String> {
    let (path, text) = program_of(bytes);
    let program = match session.compile(&path, &text) {
        Ok(program) => program,
        Err(why) if why.is_internal() => return Err(format!("compiling: {why}")),
        Err(_) => return Ok(false),
    };
    for entry in program.entries() {
        let args = arguments(entry)?;
        let failure = program
            .call_reference(&entry.name, args, FUEL)
            .and_then(Result::err);
        match failure {
            Some(RunError::Internal(why) | RunError::Device(why)) => {
                return Err(format!("running: {why}"));
            }
            Some(
                RunError::Trap(_)
                | RunError::OutOfMemory { .. }
                | RunError::OutOfFuel
                | RunError::Interrupted
                | RunError::BadArguments(_),
            )
            | None => {}
        }
    }
    Ok(true)
}

/// Some arguments for an entry point: all extents are 3, of arrays of many dimensions 1; numbers that may be sizes are
/// small.
fn arguments(entry: &Entry) -> Result<Vec<Value>, String> {
    let one = |leaf: Leaf| match (leaf.rank, leaf.elem) {
        (0, ScalarType::I64) => Generator::Constant(midend::ir::scalar::Const::I64(3)),
        (0, ScalarType::I32) => Generator::Constant(midend::ir::scalar::Const::I32(3)),
        (rank, elem) => Generator::Random {
            shape: vec![if rank <= 4 { 3 } else { 1 }; rank],
            elem,
        },
    };
    let leaves = arrc::data::parameter_leaves(entry);
    let generators: Vec<_> = leaves.into_iter().map(|(_, _, leaf)| one(leaf)).collect();
    generate(&generators, 1)
}

#[test]
fn values() {
    let vocabulary = Vocabulary::values();
    let texts: Vec<String> = (0..200).map(text_values).collect();
    let mutator = Mutator::new(texts.iter().map(String::as_str), &vocabulary);
    let make = |random: &mut Random| {
        let sample = random.below(texts.len());
        let mut case = match random.below(4) {
            0 | 1 => mutator.text(sample, 5, random).to_text().into_bytes(),
            2 => binary_values(random),
            _ => npy(&mutator, random),
        };
        for _ in 0..random.below(4) {
            bytes(&mut case, random);
        }
        case
    };
    Campaign {
        name: "values",
        quick: 3000,
        make: &make,
        check: &reads,
    }
    .run();
}

fn random_value(random: &mut Random) -> Value {
    let elem = *random.pick(&ScalarType::ALL);
    let shape = (0..random.below(4))
        .map(|_| random.below(5) as i64)
        .collect();
    let generator = Generator::Random { shape, elem };
    let values = generate(&[generator], random.bits());
    values.expect("small arrays are made").remove(0)
}

fn text_values(seed: u64) -> String {
    let mut random = Random::new(seed);
    let values = (0..=random.below(3)).map(|_| value_text(&random_value(&mut random)));
    let values: Vec<String> = values.collect();
    values.join("\n")
}

fn binary_values(random: &mut Random) -> Vec<u8> {
    let mut bytes = Vec::new();
    for _ in 0..=random.below(3) {
        write_binary(&random_value(random), &mut bytes).expect("writing to memory");
    }
    bytes
}

/// A NumPy file, whose header may be mutated.
fn npy(mutator: &Mutator<'_>, random: &mut Random) -> Vec<u8> {
    let types = [
        "<i4", ">f8", "|b1", "|u1", "<f2", "<i8", "<c8", "O", "<U3", ">i2", "<f16",
    ];
    let order = random.pick(&["True", "False"]);
    let shapes = [
        "",
        "3,",
        "2, 3",
        "0, 4",
        "9223372036854775807, 2",
        "-1,",
        "4294967296, 4294967296, 0",
    ];
    let shape = random.pick(&shapes);
    let kind = random.pick(&types);
    let mut header =
        format!("{{'descr': '{kind}', 'fortran_order': {order}, 'shape': ({shape}), }}");
    if random.chance(20) {
        header = mutator.text(random.below(200), 2, random).to_text();
    }
    let length = u16::try_from(header.len()).unwrap_or(u16::MAX);
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend_from_slice(&length.to_le_bytes());
    bytes.extend_from_slice(header.as_bytes());
    bytes.extend((0..random.below(64)).map(|i| i as u8));
    bytes
}

/// Reads values in every way that there is; what is read must be whole, and read back the same from its text.
fn reads(bytes: &[u8]) -> Result<bool, String> {
    let mut accepted = false;
    if let Ok(value) = read_npy(bytes, None) {
        whole(&value)?;
        accepted = true;
    }
    let leaves = [
        None,
        Some((0, ScalarType::F32)),
        Some((1, ScalarType::I64)),
        Some((2, ScalarType::U8)),
    ];
    for leaf in leaves {
        let expected = leaf.map(|(rank, elem)| Leaf { rank, elem });
        let mut reader = Reader::new(bytes);
        while !reader.at_end() {
            let Ok(value) = reader.value(expected) else {
                break;
            };
            whole(&value)?;
            accepted |= leaf.is_none();
        }
    }
    for name in ["a.gz", "b.npy", "c"] {
        if let Ok(source) = Source::from_bytes(name, bytes.to_vec()) {
            drop(read_all(&source));
        }
    }
    Ok(accepted)
}

fn whole(value: &Value) -> Result<(), String> {
    if let Value::Array(array) = value {
        let count: i64 = array.shape.iter().product();
        if count != array.data.len() as i64 || array.shape.is_empty() {
            return Err(format!(
                "{:?} has {} elements",
                array.shape,
                array.data.len()
            ));
        }
    }
    let text = value_text(value);
    match Reader::new(text.as_bytes()).value(Some(Leaf::of(value))) {
        Ok(again) if value_text(&again) == text => Ok(()),
        Ok(again) => Err(format!("printed and read it is {}", value_text(&again))),
        Err(why) => Err(format!("printed, it is not read: {why}")),
    }
}

#[test]
fn intermediate_programs() {
    let vocabulary = Vocabulary::ir();
    let samples = ir();
    let mutator = Mutator::new(samples.iter().map(String::as_str), &vocabulary);
    let make = |random: &mut Random| {
        let sample = random.below(samples.len());
        let mut text = mutator.text(sample, 3, random).to_text().into_bytes();
        if random.chance(30) {
            bytes(&mut text, random);
        }
        text
    };
    Campaign {
        name: "intermediate_programs",
        quick: 500,
        make: &make,
        check: &survives,
    }
    .run();
}

/// Reads IR as what it says it is.
fn survives(bytes: &[u8]) -> Result<bool, String> {
    let text = String::from_utf8_lossy(bytes);
    match read::dialect_name(&text) {
        Some("flat") => survives_as::<Seg>(&text),
        Some("plan") => survives_as::<Mem>(&text),
        Some(_) | None => survives_as::<Soac>(&text),
    }
}

/// Reads the text; what can be read must also be printed and read again, and the verifier must survive it.
fn survives_as<D: Verify>(text: &str) -> Result<bool, String> {
    let Ok(program) = read::program::<D>(text) else {
        return Ok(false);
    };
    let printed = print::program(&program);
    if verify::program(&program).is_err_and(|faults| faults.is_empty()) {
        return Err(String::from("the verifier refuses it without a fault"));
    }
    match read::program::<D>(&printed) {
        Ok(again) if printed == print::program(&again) => Ok(true),
        Ok(_) => Err(String::from(
            "printed, read and printed again it is another text",
        )),
        Err(why) => Err(format!("printed, it is not read: {why}")),
    }
}

/// The path of a sample is a place to look for its imports.
#[test]
fn programs_know_their_place() {
    let samples = programs();
    assert!(samples.len() > 20, "there are only {}", samples.len());
    let case = format!("-- {}\ndef x = 1", samples[0].path.display());
    let (path, _) = program_of(case.as_bytes());
    assert_eq!(Path::new(&path), samples[0].path);
}
