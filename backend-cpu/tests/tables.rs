//! Elements that bytes and words find in tables, and points that are counted in several tables: the same results as those of the
//! interpreter and of a plain loop.

mod common;
mod nested;

use common::{device_of, download, i64s, run, upload};
use midend::device::{Arg, Device};
use midend::ir::types::ScalarType;
use midend::value::Data;
use nested::{devices, numbers, scalar_type};

/// Elements of tables of all widths go to vectors, alone or in several at once, also where one finds the index of another.
#[test]
fn elements_are_found() {
    let devices = devices();
    for ty in [
        "i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64", "f32", "f64",
    ] {
        let text = format!(
            r#"nested
            fun main(n: i64, ks: [n]u8, table: [256]{ty}, other: [256]u8) -> (p: [n]{ty}, q: [n]{ty}, r: [n]u8)
              entry "main" sizes 1 -> 0 (ks: []u8, table: []{ty}, other: []u8) -> ([]{ty}, []{ty}, []u8)
            {{
              let p1: [n]{ty}, q1: [n]{ty}, r1: [n]u8 = map n (ks) \(k: u8) {{
                let i: i64 = convert.u8.i64(k)
                let x: {ty} = index table[i]
                let l: u8 = index other[i]
                let j: i64 = convert.u8.i64(l)
                let y: {ty} = index table[j]
                let z: {ty} = add.{ty}(x, y)
                let m: u8 = xor.u8(k, l)
                yield x, z, m
              }}
              yield p1, q1, r1
            }}"#
        );
        nested::agrees(&devices, &text, |n| {
            vec![
                numbers(ScalarType::U8, n, 3),
                numbers(scalar_type(ty), 256, 5),
                numbers(ScalarType::U8, 256, 7),
            ]
        });
    }
}

/// Elements that are only stored, each at the place of its index.
#[test]
fn elements_are_stored() {
    let devices = devices();
    for ty in ["i8", "u8", "i16", "u16", "i32", "f64"] {
        let text = format!(
            r#"nested
            fun main(n: i64, ks: [n]u8, table: [256]{ty}, other: [256]u8) -> (p: [n]{ty}, q: [n]u8)
              entry "main" sizes 1 -> 0 (ks: []u8, table: []{ty}, other: []u8) -> ([]{ty}, []u8)
            {{
              let p1: [n]{ty}, q1: [n]u8 = map n (ks) \(k: u8) {{
                let i: i64 = convert.u8.i64(k)
                let l: u8 = index other[i]
                let j: i64 = convert.u8.i64(l)
                let x: {ty} = index table[j]
                let m: u8 = xor.u8(k, l)
                yield x, m
              }}
              yield p1, q1
            }}"#
        );
        nested::agrees(&devices, &text, |n| {
            vec![
                numbers(ScalarType::U8, n, 3),
                numbers(scalar_type(ty), 256, 5),
                numbers(ScalarType::U8, 256, 7),
            ]
        });
        // The last statement of the kernel stores what the one before finds.
        let text = text
            .replace("let m: u8 = xor.u8(k, l)\n", "")
            .replace("yield x, m", "yield x, k");
        nested::agrees(&devices, &text, |n| {
            vec![
                numbers(ScalarType::U8, n, 11),
                numbers(scalar_type(ty), 256, 13),
                numbers(ScalarType::U8, 256, 17),
            ]
        });
    }
}

/// Counts and sums of so many points that tables are made for them, and of fewer, in buckets that hold something before; some
/// indices are outside.
#[test]
fn points_in_turn() {
    let text = r#"plan
fun main(n: i64, m: i64, ks: buffer i16, xs: buffer i32, counts: buffer i32) -> ()
{
  do launch hist "sums" (i: i64 < n) {
    let k: i16 = load ks[i]
    let slot: i64 = convert.i16.i64(k)
    let x: i32 = load xs[i]
    yield slot, x
  } into [m] (counts) by comm (0i32) \(a: i32, b: i32) {
    let c: i32 = add.i32(b, a)
    yield c
  }
  yield
}
"#;
    let plan = midend::ir::read::program(text).expect("it is a program");
    for threads in [1, 2, 3] {
        for bits in [128, 256] {
            let device = device_of(threads, bits);
            let module = device.compile(&plan).expect("compiles");
            for buckets in [0, 1, 7, 100, 1000, 5000] {
                for n in [0, 1, 3, 4, 223, 224, 227, 3300, 300_001] {
                    let key =
                        |i: i64| ((i.wrapping_mul(7919) ^ (i >> 3)) % (buckets + 3)) as i16 - 1;
                    let value = |i: i64| (i.wrapping_mul(0x5851_F42D_4C95_7F2D) >> 30) as i32;
                    let mut expected: Vec<i32> = (0..buckets).map(|b| b as i32 - 5).collect();
                    let counts = upload(&device, Data::I32(expected.clone()));
                    for i in 0..n {
                        let bucket = usize::try_from(key(i)).ok();
                        if let Some(sum) = bucket.and_then(|b| expected.get_mut(b)) {
                            *sum = sum.wrapping_add(value(i));
                        }
                    }
                    let ks = upload(&device, Data::I16((0..n).map(key).collect()));
                    let xs = upload(&device, Data::I32((0..n).map(value).collect()));
                    let buffers = [ks, xs, counts.clone()].map(Arg::Buffer);
                    let mut args = vec![i64s(n), i64s(buckets)];
                    args.extend(buffers);
                    run(&device, &module, "sums", &args).expect("it runs");
                    let sums = download(&device, &counts);
                    assert_eq!(sums, Data::I32(expected), "{threads} {bits} {buckets} {n}");
                }
            }
        }
    }
}
