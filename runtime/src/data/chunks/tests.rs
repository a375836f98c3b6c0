//! Elements of sequences, read from bytes that come slowly.

use super::*;

fn read(ty: &EntryType, text: &[u8]) -> Result<Vec<Value>, String> {
    /// One byte at a time.
    struct Slowly<'a>(&'a [u8]);
    impl Read for Slowly<'_> {
        fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
            let Some((first, rest)) = self.0.split_first() else {
                return Ok(0);
            };
            to[0] = *first;
            self.0 = rest;
            Ok(1)
        }
    }
    let mut all = Vec::new();
    let mut chunks = Chunks::new(Slowly(text), "test");
    let mut give = |values| {
        all.extend(values);
        true
    };
    chunks
        .each(ty, &mut give)
        .map(|()| all)
        .map_err(|e| e.to_string())
}

fn vector(elem: EntryType) -> EntryType {
    EntryType::Array {
        rank: 1,
        elem: Box::new(elem),
    }
}

#[test]
fn elements_are_read_byte_by_byte() {
    let ints = vector(EntryType::Scalar(ScalarType::I32));
    let values = read(&ints, b" -- none\n [1, -2, -- two\n 3] ").expect("numbers");
    assert_eq!(
        values,
        [Value::Array(midend::value::ArrayValue {
            shape: vec![3],
            data: midend::value::Data::I32(vec![1, -2, 3]),
        })]
    );
    assert!(read(&ints, b"[]").expect("nothing").is_empty());
    assert!(read(&ints, b"empty([0]i32)").expect("nothing").is_empty());
    for bad in [&b"[1, 2"[..], b"[1, x]", b"[1] 2", b"3", b"", b"[[1]]"] {
        read(&ints, bad).expect_err("no sequence of i32");
    }
    let rows = vector(EntryType::Rows(Box::new(EntryType::Scalar(ScalarType::U8))));
    assert_eq!(read(&rows, b"[[1], [], [2, 3]]").expect("rows").len(), 2);
}

#[test]
fn binary_elements_are_read() {
    let value = Value::Array(midend::value::ArrayValue {
        shape: vec![3, 2],
        data: midend::value::Data::I16(vec![1, 2, 3, 4, 5, 6]),
    });
    let mut bytes = Vec::new();
    super::super::write_binary(&value, &mut bytes).expect("memory");
    let elem = EntryType::Scalar(ScalarType::I16);
    let ty = EntryType::Array {
        rank: 2,
        elem: Box::new(elem.clone()),
    };
    assert_eq!(read(&ty, &bytes).expect("an array"), [value]);
    read(&ty, &bytes[..bytes.len() - 1]).expect_err("cut off");
    read(&vector(elem), &bytes).expect_err("of another type");
}
