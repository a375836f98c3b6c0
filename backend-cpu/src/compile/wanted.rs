//! Which units of kernels are compiled.

use crate::emit::kernel::{Role, roles};
use midend::ir::mem::{Kernel, Mem};
use midend::ir::syntax::Program;

/// Whether a unit of a kernel is to be compiled.
pub(crate) type Wanted<'a> = &'a dyn Fn(&Kernel, Role) -> bool;

/// Whether some unit of a kernel is.
pub(super) fn wants_some(program: &Program<Mem>, kernel: &Kernel, wanted: Wanted<'_>) -> bool {
    let mut all = roles(program, kernel).into_iter();
    all.any(|role| wanted(kernel, role))
}
