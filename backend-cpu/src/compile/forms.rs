//! Forms of functions that are called with vectors: which there may be, and which of them are called.

use super::{Unit, Units, broken};
use crate::emit::lanes::lanes_of;
use crate::machine::Machine;
use crate::target::Target;
use crate::wide::Width;
use cranelift_codegen::isa::CallConv;
use cranelift_jit::JITModule;
use cranelift_module::{FuncId, Linkage, Module as _};
use midend::analysis::kernels::called;
use midend::fired::Counts;
use midend::ir::id::{FunId, Id};
use midend::ir::mem::{Kernel, Mem};
use midend::ir::syntax::Program;
use midend::trap::RunError;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

/// A function that is called with vectors.
pub(crate) struct Form {
    pub(super) id: FuncId,
    /// Where its address is once it is known: code for wider registers is not linked.
    pub(crate) place: Arc<AtomicU64>,
}

/// The forms of functions that compiled units call and that are not compiled.
pub(super) fn missing<'a>(
    units: &Units,
    work: &[(FuncId, Unit<'a>)],
    machines: &[(Result<Machine, RunError>, Counts)],
) -> Vec<(FuncId, Unit<'a>)> {
    let made: BTreeSet<FuncId> = work.iter().map(|(id, _)| *id).collect();
    let machines = machines.iter().filter_map(|(made, _)| made.as_ref().ok());
    let called: BTreeSet<_> = machines.flat_map(|m| m.kept.calls.called()).collect();
    let open = called.into_iter().map(|(fun, lanes)| {
        let id = units.forms[&(fun, lanes)].id;
        (id, Unit::InLanes(fun, lanes))
    });
    open.filter(|(id, _)| !made.contains(id)).collect()
}

/// The functions that a kernel may call with vectors, for registers of how many vectors, and with how many lanes.
pub(super) fn forms(
    program: &Program<Mem>,
    units: &Units,
    target: &Target,
    kernel: &Kernel,
) -> Vec<(usize, FunId, usize)> {
    let mut forms = Vec::new();
    let called = called(program, [&kernel.body]);
    if !called.iter().any(|fun| units.in_lanes.has(*fun)) {
        return forms;
    }
    for asked in target.widths().map(Width::parts).chain([1]) {
        if let Some(lanes) = lanes_of(program, (kernel, asked), units) {
            let able = called.iter().filter(|fun| units.in_lanes.has(**fun));
            forms.extend(able.map(|fun| (asked, *fun, lanes)));
        }
    }
    forms
}

pub(super) fn form(
    conv: CallConv,
    (fun, lanes): (FunId, usize),
    jit: &mut JITModule,
) -> Result<Form, RunError> {
    let signature = crate::emit::signature(conv, &[], &[]);
    let name = format!("f{}_{lanes}", fun.index());
    let id = jit
        .declare_function(&name, Linkage::Local, &signature)
        .map_err(broken)?;
    let place = Arc::default();
    Ok(Form { id, place })
}
