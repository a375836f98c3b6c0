//! Scalar operations, run on the emulator, every kernel assembled: see `midend/tests/support/scalars.rs`.

mod common;
#[path = "../../midend/tests/support/scalars.rs"]
mod scalars;

use common::plan::{compile, device, plans};

#[test]
fn every_operation_gives_what_the_interpreter_gives() {
    let device = device(1);
    scalars::check_all(&device, |program| compile(&device, program));
}
