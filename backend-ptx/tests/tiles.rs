//! Maps worked on in tiles: every form is run on the emulator, at sizes that tiles cover and at others, and gives what plain Rust
//! gives, as the same kernel does point by point.

mod common;

use common::plan::{Buffer, PRODUCT, blank, compile, device, download, i64s, run, upload};
use midend::device::Arg;
use midend::ir::mem::Mem;
use midend::ir::read;
use midend::ir::syntax::Program;
use midend::ir::types::ScalarType;
use midend::value::Data;

/// A product of matrices of which one has its rows chosen by a vector, so that its reads are indirect; a vector gives each step
/// a weight. `TILED` stands for nothing or for tiles.
const CHOSEN: &str = r#"plan
fun main(n: i64, m: i64, p: i64, a: buffer i64, b: buffer i64, q: buffer i64, w: buffer i64, out: buffer i64) -> ()
{
  do launch map "k" TILED (i: i64 < n, j: i64 < p) {
    let row: i64 = load q[i]
    let at: i64 = mul.i64(i, p)
    let place: i64 = add.i64(at, j)
    let sum: i64 = loop (acc: i64 = j) for k: i64 < m {
      let first: i64 = mul.i64(row, m)
      let here: i64 = add.i64(first, k)
      let x: i64 = load a[here]
      let line: i64 = mul.i64(k, p)
      let there: i64 = add.i64(line, j)
      let y: i64 = load b[there]
      let z: i64 = load w[k]
      let xy: i64 = mul.i64(x, y)
      let c: bool = lt.i64(z, 0)
      let xyz: i64 = if c {
        yield 0
      } else {
        let t: i64 = mul.i64(xy, z)
        yield t
      }
      let more: i64 = add.i64(acc, xyz)
      let next: i64 = add.i64(more, k)
      yield next
    }
    do store out[place] = sum
    yield
  }
  yield
}
"#;

/// Of each column of a matrix of bytes that lie row by row, how many there are of the value that all rows share in a step, and
/// the last step where there was one.
const COUNTED: &str = r#"plan
fun main(n: i64, m: i64, l: i64, a: buffer u8, w: buffer u8, out: buffer i64, last: buffer i64) -> ()
{
  do launch map "k" TILED (h: i64 < l, i: i64 < n) {
    let at: i64 = mul.i64(h, n)
    let place: i64 = add.i64(at, i)
    let line: i64 = mul.i64(place, m)
    let count: i64, step: i64 = loop (c: i64 = 0, s: i64 = -1) for k: i64 < m {
      let here: i64 = add.i64(line, k)
      let x: u8 = load a[here]
      let y: u8 = load w[k]
      let e: bool = eq.u8(x, y)
      let c1: i64, s1: i64 = if e {
        let d: i64 = add.i64(c, 1)
        yield d, k
      } else {
        yield c, s
      }
      yield c1, s1
    }
    do store out[place] = count
    do store last[place] = step
    yield
  }
  yield
}
"#;

fn program(text: &str, tiled: &str) -> Program<Mem> {
    let text = text.replace("TILED", tiled);
    read::program(&text).unwrap_or_else(|e| panic!("{e}\n{text}"))
}

fn i64_data(f: impl FnMut(i64) -> i64, count: i64) -> Data {
    Data::I64((0..count).map(f).collect())
}

#[test]
fn rows_and_columns() {
    let sizes = [
        (64, 40, 64),
        (65, 17, 130),
        (33, 16, 31),
        (17, 100, 17),
        (5, 20, 70),
        (40, 3, 40),
        (40, 0, 40),
    ];
    let a = |i: i64, k: i64| i * 13 - k * 7;
    let b = |k: i64, j: i64| k * 3 + j * j;
    let w = |k: i64| k % 5 - 1;
    for tiled in ["", "tiled 2", "tiled 1"] {
        let program = program(CHOSEN, tiled);
        for (seed, (n, m, p)) in (1..).zip(sizes) {
            let q = |i: i64| (i * 7 + 3) % n;
            let device = device(seed);
            let module = compile(&device, &program);
            let buffers = [
                i64_data(|x| a(x / m.max(1), x % m.max(1)), n * m),
                i64_data(|x| b(x / p, x % p), m * p),
                i64_data(q, n),
                i64_data(w, m),
            ];
            let out = blank(&device, ScalarType::I64, (n * p) as usize);
            let mut args: Vec<Arg<Buffer>> = [n, m, p].map(i64s).to_vec();
            args.extend(buffers.map(|data| Arg::Buffer(upload(&device, data))));
            args.push(Arg::Buffer(out.clone()));
            run(&device, &module, "k", &args).expect("runs");
            let sum = |i: i64, j: i64| {
                let term = |k: i64| k + a(q(i), k) * b(k, j) * w(k).max(0);
                j + (0..m).map(term).sum::<i64>()
            };
            let expected = i64_data(|x| sum(x / p, x % p), n * p);
            let got = download(&device, &out, (n * p) as usize);
            assert_eq!(got, expected, "{n} by {m} by {p}, `{tiled}`");
        }
    }
}

/// Whole tiles and others, rows that begin at multiples of 16 bytes and others: each is read from in its own way.
#[test]
fn products() {
    let a = |i: i64, k: i64| ((i * 3 + k) % 7 - 2) as f32;
    let b = |k: i64, j: i64| ((k * 5 + j) % 9 - 3) as f32;
    let program = program(PRODUCT, "");
    let sizes = [
        (128, 16, 128),
        (256, 28, 128),
        (128, 17, 256),
        (128, 24, 129),
        (130, 19, 131),
        (1, 9, 128),
    ];
    for (seed, (n, m, p)) in (1..).zip(sizes) {
        let device = device(seed);
        let module = compile(&device, &program);
        let left = (0..n * m).map(|x| a(x / m, x % m)).collect();
        let right = (0..m * p).map(|x| b(x / p, x % p)).collect();
        let out = blank(&device, ScalarType::F32, (n * p) as usize);
        let mut args: Vec<Arg<Buffer>> = [n, m, p].map(i64s).to_vec();
        for data in [left, right] {
            args.push(Arg::Buffer(upload(&device, Data::F32(data))));
        }
        args.push(Arg::Buffer(out.clone()));
        run(&device, &module, "product", &args).expect("runs");
        let sum = |i: i64, j: i64| (0..m).map(|k| a(i, k) * b(k, j)).sum();
        let expected: Vec<f32> = (0..n * p).map(|x| sum(x / p, x % p)).collect();
        let got = download(&device, &out, (n * p) as usize);
        assert_eq!(got, Data::F32(expected), "{n} by {m} by {p}");
    }
}

#[test]
fn columns_only() {
    let a = |i: i64, k: i64| ((i * 5 + k * k) % 7) as u8;
    let w = |k: i64| (k % 7) as u8;
    for tiled in ["", "tiled 1"] {
        let program = program(COUNTED, tiled);
        for (l, n, m) in [
            (1, 256, 16),
            (3, 300, 33),
            (2, 129, 8),
            (2, 10, 50),
            (1, 600, 0),
        ] {
            let device = device(5);
            let module = compile(&device, &program);
            let points = (l * n) as usize;
            let bytes = (0..l * n * m).map(|x| a(x / m, x % m)).collect();
            let weights = (0..m).map(w).collect();
            let [count, last] = [(); 2].map(|()| blank(&device, ScalarType::I64, points));
            let mut args: Vec<Arg<Buffer>> = [n, m, l].map(i64s).to_vec();
            for data in [Data::U8(bytes), Data::U8(weights)] {
                args.push(Arg::Buffer(upload(&device, data)));
            }
            args.extend([&count, &last].map(|buffer| Arg::Buffer(buffer.clone())));
            run(&device, &module, "k", &args).expect("runs");
            let equal = |i: i64| (0..m).filter(move |k| a(i, *k) == w(*k));
            let counts = i64_data(|i| equal(i).count() as i64, l * n);
            let steps = i64_data(|i| equal(i).next_back().unwrap_or(-1), l * n);
            assert_eq!(download(&device, &count, points), counts, "{l} {n} {m}");
            assert_eq!(download(&device, &last, points), steps, "{l} {n} {m}");
        }
    }
}

#[test]
fn forms_are_made_for_what_is_shared() {
    let names = |text: &str, tiled: &str| -> Vec<String> {
        let device = device(1);
        let module = compile(&device, &program(text, tiled));
        module.texts(75).into_iter().map(|(name, _)| name).collect()
    };
    assert_eq!(names(CHOSEN, ""), ["k_k"]);
    assert_eq!(
        names(CHOSEN, "tiled 2"),
        ["k_k", "k_k_tile64", "k_k_tile32"]
    );
    assert_eq!(
        names(CHOSEN, "tiled 1"),
        ["k_k", "k_k_tile1024", "k_k_tile256"]
    );
    assert_eq!(names(COUNTED, "tiled 1"), ["k_k", "k_k_tile256"]);
    // Every point of a line has elements of its own.
    assert_eq!(names(COUNTED, "tiled 2"), ["k_k"]);
}
