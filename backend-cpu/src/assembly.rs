//! Machine code as text, for people to read: that of the units as they are launched on this machine.

use crate::compile::{Declared, Unit, broken, declare, emit, wanted};
use crate::emit::Emitted;
use crate::machine::build;
use crate::target::Target;
use cranelift_codegen::control::ControlPlane;
use cranelift_codegen::isa::OwnedTargetIsa;
use cranelift_jit::{JITBuilder, JITModule};
use cranelift_module::{FuncId, default_libcall_names};
use midend::ir::mem::Mem;
use midend::ir::syntax::Program;
use midend::trap::RunError;

/// The machine code of every kernel and of every function that kernels call, with a name for each. Nothing of it is linked.
pub(crate) fn assembly(
    program: &Program<Mem>,
    target: &Target,
) -> Result<Vec<(String, String)>, RunError> {
    let kernels = wanted(program, &|_, _| true);
    let builder = JITBuilder::with_isa(target.isa.clone(), default_libcall_names());
    let mut jit = JITModule::new(builder);
    let declared = declare(program, target, &kernels, &mut jit)?;
    let Declared { units, work, .. } = &declared;
    let text = |(id, unit): &(FuncId, Unit<'_>)| {
        let name = match unit {
            Unit::Kernel { kernel, role, .. } => format!("{}, {}", kernel.name, role.name()),
            Unit::Function(fun) => format!("function {}", program.funs[*fun].name),
            Unit::InLanes(fun, lanes) => {
                format!("function {} for {lanes} lanes", program.funs[*fun].name)
            }
        };
        let machine = build(program, units, target, *id, *unit)?;
        if let Some(Ok(())) = machine.widened {
            let name = format!("{name}, in registers of {} bits", machine.vector_bits);
            return Ok((name, crate::wide::text(&machine.bytes)));
        }
        Ok((name, narrow(&target.isa, emit(program, units, *unit, 1))?))
    };
    work.iter().map(text).collect()
}

/// The text of a unit that is compiled as it was emitted.
fn narrow(isa: &OwnedTargetIsa, Emitted { func, .. }: Emitted) -> Result<String, RunError> {
    let mut context = cranelift_codegen::Context::for_function(func);
    context.set_disasm(true);
    let compiled = context
        .compile(&**isa, &mut ControlPlane::default())
        .map_err(|error| broken(format!("{:?}", error.inner)))?;
    Ok(compiled.vcode.clone().unwrap_or_default())
}
