//! Scalar operations, compiled: see `midend/tests/support/scalars.rs`.

mod common;
#[path = "../../midend/tests/support/scalars.rs"]
mod scalars;

use common::{buffer, device, kernel, load, plans, program, store, zeros};
use midend::device::{Arg, Device};
use midend::ir::mem::KernelKind;
use midend::ir::types::ScalarType;

#[test]
fn every_operation_gives_what_the_interpreter_gives() {
    let device = device(2);
    scalars::check_all(&device, |program| {
        device.compile(program).expect("everything compiles")
    });
}

/// A divisor of zero is ruled out by checks, but must not bring the process down where one is missing.
#[test]
fn division_by_zero_does_not_kill() {
    use midend::ir::scalar::BinOp;
    let types = ScalarType::ALL.into_iter().filter(|ty| ty.is_integer());
    let cases: Vec<(BinOp, ScalarType)> = types
        .flat_map(|ty| [BinOp::Div, BinOp::Mod, BinOp::Quot, BinOp::Rem].map(|op| (op, ty)))
        .collect();
    let program = program(|b| {
        for (i, (op, ty)) in cases.iter().enumerate() {
            let a = b.fresh("a", buffer(*ty));
            kernel(b, &format!("k{i}"), &[], KernelKind::Seq, |b, _| {
                let (x, y) = (load(b, a, 0), load(b, a, 1));
                let value = b.bin(*op, *ty, x, y);
                store(b, a, 0, value);
                vec![]
            });
        }
    });
    let device = device(1);
    let module = device.compile(&program).expect("everything compiles");
    for (i, (_, ty)) in cases.iter().enumerate() {
        let memory = zeros(&device, *ty, 2);
        common::run(&device, &module, &format!("k{i}"), &[Arg::Buffer(memory)])
            .expect("nothing fails");
    }
}
