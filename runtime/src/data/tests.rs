//! Readers and writers: exact cases, round trips, and a fuzzer that mutates valid inputs.

use super::*;
use half::f16;
use midend::ir::scalar::Const;
use midend::ir::syntax::EntryType;
use midend::ir::types::ScalarType;
use midend::value::{ArrayValue, Data};

fn read(text: &str) -> Result<Value, String> {
    let mut reader = Reader::new(text.as_bytes());
    let value = reader.value(None).map_err(|e| e.to_string())?;
    assert!(reader.at_end(), "all of {text:?} is read");
    Ok(value)
}

fn read_as(text: &str, rank: usize, elem: ScalarType) -> Result<Value, String> {
    Reader::new(text.as_bytes())
        .value(Some(Leaf { rank, elem }))
        .map_err(|e| e.to_string())
}

fn array(shape: &[i64], data: Data) -> Value {
    Value::Array(ArrayValue {
        shape: shape.to_vec(),
        data,
    })
}

#[test]
fn scalars_show_their_type_by_suffix_or_default() {
    let cases = [
        ("1", Const::I32(1)),
        ("-7i64", Const::I64(-7)),
        ("255u8", Const::U8(255)),
        ("-1u8", Const::U8(255)),
        ("0xffi8", Const::I8(-1)),
        ("65535u8", Const::U8(255)),
        ("0x1f32", Const::I32(0x1f32)),
        ("0b1_0_1u16", Const::U16(5)),
        ("-0f32", Const::f32(-0.0)),
        ("340282366920938463463374607431768211459i32", Const::I32(3)),
        (
            "1606938044258990275541962092341162602522202993782792835301376f64",
            Const::f64(2f64.powi(200)),
        ),
        ("1_000_000", Const::I32(1_000_000)),
        ("18446744073709551615u64", Const::U64(u64::MAX)),
        ("1.5", Const::f64(1.5)),
        ("1e3", Const::f64(1000.0)),
        ("1.e2f32", Const::f32(100.0)),
        ("2f32", Const::f32(2.0)),
        ("-0.0f32", Const::f32(-0.0)),
        ("1.5f16", Const::f16(f16::from_f32(1.5))),
        ("0x1.8p1f32", Const::f32(3.0)),
        ("f32.inf", Const::f32(f32::INFINITY)),
        ("-f64.inf", Const::f64(f64::NEG_INFINITY)),
        ("true", Const::Bool(true)),
        ("-- a comment\n  3", Const::I32(3)),
    ];
    for (text, expected) in cases {
        assert_eq!(read(text), Ok(Value::Scalar(expected)), "{text}");
    }
    let long = format!("0b11{}f64", "0".repeat(200));
    let expected = Const::f64(3.0 * 2f64.powi(200));
    assert_eq!(read(&long), Ok(Value::Scalar(expected)));
    assert!(
        matches!(read("f16.nan"), Ok(Value::Scalar(Const::F16(bits))) if f16::from_bits(bits).is_nan())
    );
}

#[test]
fn arrays_take_their_type_from_the_first_element() {
    assert_eq!(
        read("[1i8, 2, -3,]"),
        Ok(array(&[3], Data::I8(vec![1, 2, -3])))
    );
    assert_eq!(
        read("[[1, 2], [3, 4], [5, 6]]"),
        Ok(array(&[3, 2], Data::I32(vec![1, 2, 3, 4, 5, 6])))
    );
    assert_eq!(
        read("\"a\\n\\\"\""),
        Ok(array(&[3], Data::U8(b"a\n\"".to_vec())))
    );
    assert_eq!(
        read("empty([0][2]f32)"),
        Ok(array(&[0, 2], Data::F32(Vec::new())))
    );
    assert_eq!(
        read("empty([3][0]bool)"),
        Ok(array(&[3, 0], Data::Bool(Vec::new())))
    );
}

#[test]
fn an_expected_type_decides_for_what_has_no_suffix() {
    assert_eq!(
        read_as("[1, 2]", 1, ScalarType::F32),
        Ok(array(&[2], Data::F32(vec![1.0, 2.0])))
    );
    assert_eq!(
        read_as("[]", 2, ScalarType::I64),
        Ok(array(&[0, 0], Data::I64(Vec::new())))
    );
    assert_eq!(
        read_as("[[],[]]", 2, ScalarType::I64),
        Ok(array(&[2, 0], Data::I64(Vec::new())))
    );
    assert_eq!(
        read_as("5", 0, ScalarType::U64),
        Ok(Value::Scalar(Const::U64(5)))
    );
}

#[test]
fn errors_say_where_and_what_was_expected() {
    let fails = |text: &str, rank, elem, message: &str| {
        assert_eq!(read_as(text, rank, elem), Err(message.to_owned()));
    };
    fails(
        "[1,\n 2, x]",
        1,
        ScalarType::I32,
        "line 2, column 5: expected a number of type i32, found `x`",
    );
    fails(
        "[1, 2i64]",
        1,
        ScalarType::I32,
        "line 1, column 5: expected a value of type i32, found `2i64` of type i64",
    );
    fails(
        "[[1, 2], [3]]",
        2,
        ScalarType::I32,
        "line 1, column 12: this row has 1 elements, but the rows before it have 2",
    );
    fails(
        "3",
        2,
        ScalarType::I32,
        "line 1, column 1: expected an array of type [][]i32, found `3`",
    );
    fails(
        "256",
        0,
        ScalarType::I8,
        "line 1, column 1: `256` is out of the range of i8",
    );
    fails(
        "[1 2]",
        1,
        ScalarType::I32,
        "line 1, column 4: expected `,` or `]`, found `2`",
    );
    fails(
        "b\u{2}\u{1} i32\u{3}",
        1,
        ScalarType::I32,
        "byte 7: the input ends inside the extents of this array",
    );
}

#[test]
fn a_lying_header_does_not_make_the_reader_allocate() {
    let mut bytes = vec![b'b', 2, 2];
    bytes.extend(b" f64");
    bytes.extend((1u64 << 40).to_le_bytes());
    bytes.extend((1u64 << 40).to_le_bytes());
    bytes.extend([0; 64]);
    let error = Reader::new(&bytes).value(None).map_err(|e| e.to_string());
    assert!(error.is_err_and(|e| {
        e.starts_with("byte 23: an array of shape [1099511627776, 1099511627776]")
    }),);
    let mut negative = vec![b'b', 2, 1];
    negative.extend(b"  i8");
    negative.extend((-1i64).to_le_bytes());
    assert!(Reader::new(&negative).value(None).is_err());
}

#[test]
fn text_and_binary_may_be_mixed() {
    let mut bytes = b"  1i32 ".to_vec();
    let second = array(&[2], Data::U16(vec![7, 8]));
    write_binary(&second, &mut bytes).expect("writing to memory");
    bytes.extend(b" 3i32");
    let source = Source::from_bytes("in", bytes).expect("not compressed");
    let values = read_all(&source).expect("all three are read");
    assert_eq!(
        values,
        [
            Value::Scalar(Const::I32(1)),
            second,
            Value::Scalar(Const::I32(3))
        ]
    );
}

#[test]
fn compressed_input_is_decompressed() {
    use std::io::Write as _;
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder
        .write_all(b"[1i32, 2i32]")
        .expect("writing to memory");
    let bytes = encoder.finish().expect("writing to memory");
    let source = Source::from_bytes("in.gz", bytes).expect("valid gzip");
    assert_eq!(
        read_all(&source),
        Ok(vec![array(&[2], Data::I32(vec![1, 2]))])
    );
}

/// A `.npy` file of version 1 with this header text.
fn npy(header: &str, body: &[u8]) -> Vec<u8> {
    let mut text = header.to_owned();
    while !(10 + text.len() + 1).is_multiple_of(64) {
        text.push(' ');
    }
    text.push('\n');
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((text.len() as u16).to_le_bytes());
    bytes.extend(text.as_bytes());
    bytes.extend(body);
    bytes
}

#[test]
fn numpy_files_are_read_in_either_order_and_endianness() {
    let rows: Vec<u8> = (1..=6i32).flat_map(i32::to_le_bytes).collect();
    let header = "{'descr': '<i4', 'fortran_order': False, 'shape': (2, 3), }";
    assert_eq!(
        read_npy(&npy(header, &rows), None),
        Ok(array(&[2, 3], Data::I32(vec![1, 2, 3, 4, 5, 6])))
    );
    let header = "{'descr': '<i4', 'fortran_order': True, 'shape': (2, 3), }";
    assert_eq!(
        read_npy(&npy(header, &rows), None),
        Ok(array(&[2, 3], Data::I32(vec![1, 3, 5, 2, 4, 6])))
    );
    let big: Vec<u8> = [1.5f32, -2.0]
        .into_iter()
        .flat_map(f32::to_be_bytes)
        .collect();
    let header = "{'descr': '>f4', 'fortran_order': False, 'shape': (2,), }";
    assert_eq!(
        read_npy(&npy(header, &big), None),
        Ok(array(&[2], Data::F32(vec![1.5, -2.0])))
    );
    // The time to read brackets inside of brackets would double with each.
    let nested = format!("{}1{}", "[".repeat(60), "]".repeat(60));
    let refused = read_npy(&npy(&nested, &[]), None).map_err(|e| e.to_string());
    assert!(refused.is_err_and(|why| why.ends_with("nested too deeply")));
    let header = "{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000,), }";
    assert!(read_npy(&npy(header, &big), None).is_err());
    let header = "{'descr': '<f8', 'fortran_order': False, 'shape': (4294967296, 0, 4294967296), }";
    assert!(read_npy(&npy(header, &big), None).is_err());
}

#[test]
fn floats_print_with_the_fewest_digits_that_read_back() {
    assert_eq!(const_text(Const::f32(0.1)), "0.1f32");
    assert_eq!(const_text(Const::f64(1.0)), "1.0f64");
    assert_eq!(const_text(Const::f64(1e300)), "1e300f64");
    assert_eq!(const_text(Const::f16(f16::from_f32(0.1))), "0.1f16");
    assert_eq!(const_text(Const::f32(-0.0)), "-0.0f32");
    assert_eq!(const_text(Const::f64(f64::NAN)), "f64.nan");
    assert_eq!(const_text(Const::f32(f32::NEG_INFINITY)), "-f32.inf");
    for bits in 0..=u16::MAX {
        let value = f16::from_bits(bits);
        if value.is_finite() {
            let text = const_text(Const::f16(value));
            assert_eq!(read(&text), Ok(Value::Scalar(Const::f16(value))), "{text}");
        }
    }
}

#[test]
fn arrays_print_as_they_are_read() {
    let matrix = array(&[2, 2], Data::I64(vec![1, 2, 3, 4]));
    assert_eq!(value_text(&matrix), "[[1i64, 2i64], [3i64, 4i64]]");
    let empty = array(&[0, 2], Data::I32(Vec::new()));
    assert_eq!(value_text(&empty), "empty([0][2]i32)");
    let bools = array(&[2], Data::Bool(vec![true, false]));
    assert_eq!(value_text(&bools), "[true, false]");
}

#[test]
fn structured_results_print_in_the_notation_of_the_source() {
    let scalar = |ty| EntryType::Scalar(ty);
    let record = EntryType::Record(vec![
        ("x".to_owned(), scalar(ScalarType::I32)),
        (
            "y".to_owned(),
            EntryType::Tuple(vec![scalar(ScalarType::Bool), scalar(ScalarType::U8)]),
        ),
    ]);
    let values = [Const::I32(1), Const::Bool(true), Const::U8(2)].map(Value::Scalar);
    assert_eq!(
        structured_text(&record, &values),
        "{x = 1i32, y = (true, 2u8)}"
    );
    let sum = EntryType::Sum(vec![
        ("a".to_owned(), vec![scalar(ScalarType::I32)]),
        ("b".to_owned(), vec![scalar(ScalarType::U8)]),
    ]);
    let values = [Const::U8(1), Const::I32(0), Const::U8(9)].map(Value::Scalar);
    assert_eq!(structured_text(&sum, &values), "#b 9u8");
}

/// A generator for tests: small, and the same every time.
struct Lehmer(u64);

impl Lehmer {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(0xda94_2042_e4dd_58b5).wrapping_add(1);
        self.0 ^ (self.0 >> 29)
    }
    fn below(&mut self, n: usize) -> usize {
        (self.next() >> 11) as usize % n.max(1)
    }
}

fn random_value(rng: &mut Lehmer) -> Value {
    let elem = ScalarType::ALL[rng.below(12)];
    let shape: Vec<i64> = (0..rng.below(4)).map(|_| rng.below(5) as i64).collect();
    let generator = crate::spec::Generator::Random { shape, elem };
    crate::spec::generate(&[generator], rng.next())
        .expect("small arrays are made")
        .remove(0)
}

#[test]
fn what_is_written_reads_back_the_same() {
    let mut rng = Lehmer(1);
    for _ in 0..2000 {
        let value = random_value(&mut rng);
        let text = value_text(&value);
        assert_eq!(read(&text).as_ref(), Ok(&value), "{text}");
        let leaf = Leaf::of(&value);
        assert_eq!(read_as(&text, leaf.rank, leaf.elem).as_ref(), Ok(&value));
        let mut binary = Vec::new();
        write_binary(&value, &mut binary).expect("writing to memory");
        let mut reader = Reader::new(&binary);
        assert_eq!(reader.value(Some(leaf)).as_ref(), Ok(&value));
        assert!(reader.at_end());
    }
}

fn entry(params: &[(&str, EntryType)]) -> Entry {
    Entry {
        name: "main".to_owned(),
        size_params: 0,
        size_results: 0,
        params: params
            .iter()
            .map(|(name, ty)| EntryParam {
                name: (*name).to_owned(),
                ty: ty.clone(),
                unique: false,
                streamed: false,
            })
            .collect(),
        results: Vec::new(),
        streamed: false,
    }
}

#[test]
fn arguments_come_from_several_sources_and_name_their_parameter() {
    let vector = EntryType::Array {
        rank: 1,
        elem: Box::new(EntryType::Scalar(ScalarType::F32)),
    };
    let entry = entry(&[("n", EntryType::Scalar(ScalarType::I64)), ("xs", vector)]);
    let source = |name: &str, text: &str| {
        Source::from_bytes(name, text.as_bytes().to_vec()).expect("not compressed")
    };
    let values = read_arguments(&entry, &[source("a", "3"), source("b", "[1, 2.5]")]);
    assert_eq!(
        values,
        Ok(vec![
            Value::Scalar(Const::I64(3)),
            array(&[2], Data::F32(vec![1.0, 2.5]))
        ])
    );
    let message = |sources: &[Source]| read_arguments(&entry, sources).map_err(|e| e.to_string());
    assert_eq!(
        message(&[source("a", "3 [1, y]")]),
        Err(String::from(
            "argument 2 (xs: []f32): a: line 1, column 7: expected a number of type f32, found `y`"
        ))
    );
    assert_eq!(
        message(&[source("a", "3")]),
        Err(String::from(
            "argument 2 (xs: []f32): the input ended where a value of type []f32 was expected"
        ))
    );
    assert_eq!(
        message(&[source("a", "3 [1] 4")]),
        Err(String::from(
            "a: line 1, column 7: expected the end of the input, found `4`"
        ))
    );
}
