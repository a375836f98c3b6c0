//! Filters, on the emulator with its blocks taking turns in many ways: what is kept, where it was, and how many.

mod common;

use common::plan::{Buffer, FILTER, RANKS, blank, compile, device, download, i64s, run, upload};
use midend::device::Arg;
use midend::ir::mem::Mem;
use midend::ir::read;
use midend::ir::syntax::Program;
use midend::ir::types::ScalarType;
use midend::value::Data;

/// Every `k`-th of the numbers is above zero.
fn number(i: i64, k: i64) -> f32 {
    if i % k == 0 { (i + 1) as f32 } else { -1.0 }
}

/// What a kernel keeps, and what it says of how many there are, in an array of `counts` elements.
fn kept(text: &str, name: &str, (n, k): (i64, i64), counts: i64, seed: u64) -> [Data; 3] {
    let program: Program<Mem> = read::program(text).expect("it is a plan");
    let device = device(seed);
    let module = compile(&device, &program);
    let xs = (0..n).map(|i| number(i, k)).collect();
    let mut args: Vec<Arg<Buffer>> = vec![i64s(n)];
    args.push(Arg::Buffer(upload(&device, Data::F32(xs))));
    let places = n.unsigned_abs().div_ceil(k.unsigned_abs()) as usize;
    let outs = [
        (ScalarType::F32, places),
        (ScalarType::I64, places),
        (ScalarType::I64, counts as usize),
    ];
    let outs = outs.map(|(ty, len)| (blank(&device, ty, len), len));
    args.extend(outs.iter().map(|(buffer, _)| Arg::Buffer(buffer.clone())));
    run(&device, &module, name, &args).expect("runs");
    outs.map(|(buffer, len)| download(&device, &buffer, len))
}

/// Tiles that others follow, the last one, which may be whole, and more than 32 of them.
#[test]
fn what_is_kept_is_in_order() {
    let sizes = [
        (1, 1),
        (4095, 2),
        (4096, 1),
        (4097, 3),
        (12_288, 5),
        (200_001, 4),
    ];
    for (n, k) in sizes {
        for seed in 1..4 {
            let places = || (0..n).filter(|i| i % k == 0);
            let values = Data::F32(places().map(|i| number(i, k)).collect());
            let which = Data::I64(places().collect());
            let count = Data::I64(vec![places().count() as i64]);
            let found = kept(FILTER, "filter", (n, k), 1, seed);
            assert_eq!(
                found,
                [values.clone(), which.clone(), count],
                "{n} {k} {seed}"
            );
            let ranks = Data::I64((0..n).map(|i| i / k + 1).collect());
            let found = kept(RANKS, "ranks", (n, k), n, seed);
            assert_eq!(found, [values, which, ranks], "{n} {k} {seed}");
        }
    }
}
