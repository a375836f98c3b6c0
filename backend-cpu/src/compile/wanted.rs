//! Which units of kernels are compiled.

use crate::emit::kernel::{Role, roles};
use midend::analysis::kernels::{launched, shares_out};
use midend::ir::id::Var;
use midend::ir::mem::{Kernel, Mem};
use midend::ir::syntax::Program;

/// A kernel of which units are compiled.
pub(crate) struct Wanted<'a> {
    pub(crate) kernel: &'a Kernel,
    /// What it is given.
    pub(crate) args: Vec<Var>,
    /// Its units.
    pub(crate) roles: Vec<Role>,
}

/// The kernels of a program of which some units are wanted. No processor has blocks of threads.
pub(crate) fn wanted<'a>(
    program: &'a Program<Mem>,
    is_wanted: &dyn Fn(&Kernel, Role) -> bool,
) -> Vec<Wanted<'a>> {
    let launched = launched(program).into_iter();
    let alone = launched.filter(|(kernel, _)| !shares_out(&kernel.body));
    let all = alone.map(|(kernel, args)| {
        let mut roles = roles(program, kernel);
        roles.retain(|role| is_wanted(kernel, *role));
        Wanted {
            kernel,
            args,
            roles,
        }
    });
    all.filter(|some| !some.roles.is_empty()).collect()
}
