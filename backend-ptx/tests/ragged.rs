//! Rows of any lengths by tiles of items, on the emulator with its blocks taking turns in many ways: reductions, scans and maps against
//! plain Rust.

mod common;

use common::plan::{Buffer, ROWS, blank, compile, device, download, i64s, run, upload};
use midend::device::Arg;
use midend::ir::mem::Mem;
use midend::ir::read;
use midend::ir::syntax::Program;
use midend::ir::types::ScalarType;
use midend::value::Data;

/// Lengths of rows at which something could go wrong.
fn shapes() -> Vec<Vec<i64>> {
    let mut shapes = vec![
        vec![0, 3, 0, 0, 700, 1, 0, 40, 0],
        vec![0, 0, 17],
        vec![17, 0, 0],
        vec![20_000],
        vec![1, 20_000, 1],
        vec![0; 5000],
        // Ends at the borders of tiles of 1024, 2048 and 4096 items.
        vec![1023, 1023, 2047, 2048, 4095, 4096, 4094, 1],
        (0..300).map(|i| i % 17 * (i % 3)).collect(),
        (0..70)
            .map(|i| if i == 33 { 9000 } else { i % 5 })
            .collect(),
    ];
    for n in [17, 31, 32, 33, 255, 256, 257, 1023, 1024, 1025] {
        shapes.push(vec![1; n]);
    }
    // More than a group of 32 tiles.
    shapes.push(vec![9; 14_000]);
    shapes.push(vec![3, 140_000, 0, 5]);
    let mut empty = vec![0; 4000];
    empty.extend([5, 0, 0, 3000]);
    empty.extend(vec![0; 4000]);
    shapes.push(empty);
    shapes
}

fn number(i: i64) -> u32 {
    (i * 7919 % 100_003) as u32
}

/// The rows of a shape: of each its number and its points.
fn rows(lengths: &[i64]) -> Vec<std::ops::Range<i64>> {
    let mut start = 0;
    let row = |n: &i64| {
        start += n;
        start - n..start
    };
    lengths.iter().map(row).collect()
}

fn step([sum, f, g]: [u32; 3], x: u32) -> [u32; 3] {
    let shifted = g.wrapping_mul(x).wrapping_add(x);
    [sum.wrapping_add(x), f.wrapping_mul(x), shifted]
}

const NEUTRAL: [u32; 3] = [0, 1, 0];

/// Runs a kernel of the plan; its results of so many elements.
fn results(kernel: &str, lengths: &[i64], len: usize, seed: u64) -> [Data; 4] {
    let program: Program<Mem> = read::program(ROWS).expect("it is a plan");
    let device = device(seed);
    let module = compile(&device, &program);
    let mut offsets = vec![0];
    offsets.extend(rows(lengths).iter().map(|row| row.end));
    let points = offsets[lengths.len()];
    let xs = (0..points).map(number).collect();
    let types = [
        ScalarType::U32,
        ScalarType::U32,
        ScalarType::U32,
        ScalarType::I64,
    ];
    let outs = types.map(|ty| blank(&device, ty, len));
    let arg = |buffer: Buffer| Arg::Buffer(buffer);
    let mut args = vec![
        i64s(lengths.len() as i64),
        arg(upload(&device, Data::I64(offsets))),
        arg(upload(&device, Data::U32(xs))),
    ];
    let used: &[usize] = match kernel {
        "totals" | "prefixes" => &[0, 1, 2],
        "handed" => &[0, 1, 3],
        _ => &[0, 3],
    };
    args.extend(used.iter().map(|k| arg(outs[*k].clone())));
    run(&device, &module, kernel, &args).expect("runs");
    let mut all = types.map(|ty| Data::zeros(ty, 0));
    for k in used {
        all[*k] = download(&device, &outs[*k], len);
    }
    all
}

/// Columns of an array of triples.
fn columns(triples: &[[u32; 3]]) -> [Data; 3] {
    [0, 1, 2].map(|k| Data::U32(triples.iter().map(|t| t[k]).collect()))
}

#[test]
fn sums_of_rows() {
    for lengths in shapes() {
        let sums = rows(&lengths)
            .into_iter()
            .map(|row| row.map(number).fold(NEUTRAL, step));
        let sums: Vec<[u32; 3]> = sums.collect();
        for seed in 1..3 {
            let found = results("totals", &lengths, lengths.len(), seed);
            assert!(
                found[..3] == columns(&sums),
                "{:?}",
                &lengths[..lengths.len().min(9)]
            );
        }
    }
}

#[test]
fn prefixes_of_rows() {
    for lengths in shapes() {
        let mut sums = Vec::new();
        let mut places = Vec::new();
        for (i, row) in (0..).zip(rows(&lengths)) {
            let mut sum = NEUTRAL;
            for point in row {
                sum = step(sum, number(point));
                sums.push(sum);
                places.push(i);
            }
        }
        let found = results("prefixes", &lengths, sums.len(), 1);
        assert!(
            found[..3] == columns(&sums),
            "{:?}",
            &lengths[..lengths.len().min(9)]
        );
        let found = results("handed", &lengths, sums.len(), 2);
        let numbers = (0..sums.len() as i64).map(number).collect();
        assert!(
            found[0] == columns(&sums)[0],
            "{:?}",
            &lengths[..lengths.len().min(9)]
        );
        assert!(found[1] == Data::U32(numbers));
        assert!(found[3] == Data::I64(places));
    }
}

#[test]
fn places_in_rows() {
    for lengths in shapes() {
        let (mut places, mut numbers) = (Vec::new(), Vec::new());
        for (i, row) in (0..).zip(rows(&lengths)) {
            places.extend((0..row.end - row.start).map(|j| i * 1_000_000 + j));
            numbers.extend(row.map(number));
        }
        let found = results("places", &lengths, places.len(), 1);
        assert!(found[0] == Data::U32(numbers));
        assert!(
            found[3] == Data::I64(places),
            "{:?}",
            &lengths[..lengths.len().min(9)]
        );
    }
}
