//! Maps worked on in tiles give what the same maps give point by point, to the bit, at sizes around those of blocks, panels
//! and tiles, on one thread and on three.

mod common;

use common::{device_of, download, i64s, run, upload};
use midend::device::{Arg, Device};
use midend::ir::mem::Mem;
use midend::ir::read;
use midend::ir::syntax::Program;
use midend::ir::types::ScalarType;
use midend::value::Data;

/// A product of matrices with a start, a weight of each step, and something made of the sum; the rows of the first matrix are
/// chosen by a vector. `TYPE` and `TILED` are filled in.
const PRODUCT: &str = r#"plan
fun main(n: i64, m: i64, p: i64, a: buffer TYPE, b: buffer TYPE, q: buffer i64, w: buffer TYPE, out: buffer TYPE) -> ()
{
  do launch map "k" TILED (i: i64 < n, j: i64 < p) {
    let sums: i64 = mul.i64(i, j)
    let start: TYPE = convert.i64.TYPE(sums)
    let at: i64 = mul.i64(i, p)
    let place: i64 = add.i64(at, j)
    let sum: TYPE = loop (acc: TYPE = start) for k: i64 < m {
      let row: i64 = load q[i]
      let first: i64 = mul.i64(row, m)
      let here: i64 = add.i64(first, k)
      let x: TYPE = load a[here]
      let line: i64 = mul.i64(k, p)
      let there: i64 = add.i64(line, j)
      let y: TYPE = load b[there]
      let z: TYPE = load w[k]
      let xy: TYPE = mul.TYPE(x, y)
      let xyz: TYPE = div.TYPE(xy, z)
      let next: TYPE = add.TYPE(acc, xyz)
      yield next
    }
    let result: TYPE = add.TYPE(sum, start)
    do store out[place] = result
    yield
  }
  yield
}
"#;

/// Two values that change places in every step, over columns that lie step by step; what comes after the loop branches.
const PLACES: &str = r#"plan
fun main(n: i64, m: i64, p: i64, a: buffer TYPE, b: buffer TYPE, q: buffer i64, w: buffer TYPE, out: buffer TYPE) -> ()
{
  do launch map "k" TILED (i: i64 < n, j: i64 < p) {
    let rows: i64 = mul.i64(i, m)
    let columns: i64 = mul.i64(j, m)
    let s: TYPE, t: TYPE = loop (u: TYPE = 0.0TYPE, v: TYPE = 1.0TYPE) for k: i64 < m {
      let here: i64 = add.i64(rows, k)
      let x: TYPE = load a[here]
      let there: i64 = add.i64(columns, k)
      let y: TYPE = load b[there]
      let d: TYPE = sub.TYPE(x, y)
      let e: TYPE = mul.TYPE(d, d)
      let f: TYPE = add.TYPE(u, e)
      yield v, f
    }
    let at: i64 = mul.i64(i, p)
    let place: i64 = add.i64(at, j)
    let c: bool = lt.TYPE(s, t)
    let r: TYPE = if c {
      let o: i64 = load q[i]
      let none: i64 = mul.i64(o, 0)
      let l: TYPE = load w[none]
      let z: TYPE = sub.TYPE(t, l)
      yield z
    } else {
      yield s
    }
    do store out[place] = r
    yield
  }
  yield
}
"#;

fn program(text: &str, ty: ScalarType, tiled: &str) -> Program<Mem> {
    let text = text.replace("TILED", tiled).replace("TYPE", ty.name());
    read::program(&text).unwrap_or_else(|e| panic!("{e}\n{text}"))
}

/// Numbers whose sums are rounded.
fn numbers(ty: ScalarType, count: i64, seed: i64) -> Data {
    let number = |i: i64| ((i + seed) * 7919 % 1013 + 1) as f64 / 97.0;
    let all = (0..count).map(number);
    if ty == ScalarType::F32 {
        Data::F32(all.map(|x| x as f32).collect())
    } else {
        Data::F64(all.collect())
    }
}

fn result(
    program: &Program<Mem>,
    ty: ScalarType,
    (threads, vector_bits): (usize, u32),
    [n, m, p]: [i64; 3],
) -> Data {
    let device = device_of(threads, vector_bits);
    let module = device.compile(program).expect("compiles");
    let refused = module.widened().into_iter().find(|(_, why)| why.is_some());
    assert_eq!(refused, None);
    let rows = (0..n).map(|i| (i * 7 + 3) % n.max(1)).collect();
    let out = upload(&device, Data::zeros(ty, (n * p) as usize));
    let mut args = [n, m, p].map(i64s).to_vec();
    let data = [
        numbers(ty, n * m, 1),
        numbers(ty, m * p, 2),
        Data::I64(rows),
        numbers(ty, m.max(1), 3),
    ];
    args.extend(data.map(|data| Arg::Buffer(upload(&device, data))));
    args.push(Arg::Buffer(out.clone()));
    run(&device, &module, "k", &args).expect("runs");
    download(&device, &out)
}

#[test]
fn tiles_and_points_give_the_same_bits() {
    let sizes = [
        [8, 8, 16],
        [8, 600, 16],
        [9, 513, 17],
        [11, 9, 63],
        [130, 20, 70],
        [257, 8, 129],
        [8, 7, 16],
        [0, 8, 16],
        [20, 0, 20],
    ];
    for text in [PRODUCT, PLACES] {
        for ty in [ScalarType::F32, ScalarType::F64] {
            let [plain, tiled] = ["", "tiled 2"].map(|tiled| program(text, ty, tiled));
            for size in sizes {
                let expected = result(&plain, ty, (1, 128), size);
                for how in [(1, 128), (1, 256), (3, 256), (1, 512)] {
                    let got = result(&tiled, ty, how, size);
                    assert_eq!(got, expected, "{size:?}, {ty:?}, {how:?}");
                }
            }
        }
    }
}
