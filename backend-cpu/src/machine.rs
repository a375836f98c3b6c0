//! The machine code of one unit.

use crate::compile::{Unit, Units, broken, emit};
use crate::emit::kernel::Role;
use crate::emit::lanes::lanes_of;
use crate::emit::{Emitted, Kept};
use crate::target::Target;
use crate::vector;
use crate::wide::{self, Refused, Width};
use cranelift_codegen::control::ControlPlane;
use cranelift_codegen::ir::Function;
use cranelift_codegen::isa::OwnedTargetIsa;
use cranelift_module::{FuncId, ModuleReloc};
use midend::ir::id::Var;
use midend::ir::mem::{Kernel, Mem};
use midend::ir::syntax::Program;
use midend::trap::RunError;

/// Machine code of one unit.
pub(crate) struct Machine {
    pub(crate) align: u64,
    pub(crate) bytes: Vec<u8>,
    pub(crate) relocs: Vec<ModuleReloc>,
    pub(crate) kept: Kept,
    /// If it was emitted for wider registers, whether it was widened, or why not as far as it might.
    pub(crate) widened: Option<Result<(), Refused>>,
    /// The bits of the vector registers that it uses for several points at a time; 0 if there are none.
    pub(crate) vector_bits: u32,
    /// The points that code for lanes works on at a time; 0 if there is no such code.
    pub(crate) lanes: usize,
    /// Why there is no such code, if it was wanted.
    pub(crate) remark: Option<String>,
}

/// Compiles one unit: for the widest registers by which it gains and for which it can be widened, else as it is.
pub(crate) fn build(
    program: &Program<Mem>,
    units: &Units,
    target: &Target,
    id: FuncId,
    unit: Unit<'_>,
) -> Result<Machine, RunError> {
    if let Unit::Kernel {
        kernel,
        args,
        role: Role::Lanes,
    } = unit
    {
        return Ok(vectorised((program, units), target, kernel, args));
    }
    let mut refused = None;
    for width in target.widths() {
        let emitted = emit(program, units, unit, width.parts());
        match &target.wide {
            Some(isa) if emitted.parts > 1 => match widened(isa, emitted) {
                Ok(machine) if refused.is_none() => return Ok(machine),
                Ok(machine) => {
                    let widened = refused;
                    return Ok(Machine { widened, ..machine });
                }
                Err(why) => refused = refused.or(Some(Err(why))),
            },
            Some(_) | None => return narrow(target, id, emitted),
        }
    }
    let emitted = emit(program, units, unit, 1);
    let machine = narrow(target, id, emitted)?;
    Ok(Machine {
        widened: refused,
        ..machine
    })
}

/// The code of a map of which neighbouring points become lanes. If there is none there is a trap: it is not needed where the scalar code works
/// on several points already, and where it would be slower.
fn vectorised(
    (program, units): (&Program<Mem>, &Units),
    target: &Target,
    kernel: &Kernel,
    args: &[Var],
) -> Machine {
    let none = || Machine {
        align: 16,
        bytes: UNDEFINED.to_vec(),
        relocs: vec![],
        kept: Kept::of_sites(Vec::new()),
        widened: None,
        vector_bits: 0,
        lanes: 0,
        remark: None,
    };
    let none = |why: String| Machine {
        remark: Some(why),
        ..none()
    };
    if target.widths().next() != Some(Width::Four) {
        return none("vector code under a mask is for registers of 512 bits".to_owned());
    }
    let in_lanes = lanes_of(program, (kernel, Width::Four.parts()), units).is_some();
    if in_lanes && !target.all_in_lanes {
        return none("it is vectorised without a mask".to_owned());
    }
    match vector::code(program, kernel, args, target.all_in_lanes) {
        Ok(code) => Machine {
            align: 64,
            bytes: code.bytes,
            relocs: vec![],
            kept: Kept::of_sites(code.sites),
            widened: None,
            vector_bits: 512,
            lanes: vector::LANES,
            remark: None,
        },
        Err(vector::Refused(why)) => none(why),
    }
}

/// An instruction that is none.
const UNDEFINED: [u8; 2] = [0x0f, 0x0b];

/// Compiles a unit that was emitted for wider registers, and widens it.
fn widened(
    isa: &OwnedTargetIsa,
    Emitted {
        func, kept, parts, ..
    }: Emitted,
) -> Result<Machine, Refused> {
    let width = if parts == 4 { Width::Four } else { Width::Two };
    wide::check(&func, width)?;
    let mut context = cranelift_codegen::Context::for_function(func);
    let compiled = context
        .compile(&**isa, &mut ControlPlane::default())
        .map_err(|error| Refused(format!("{:?}", error.inner)))?;
    if !compiled.buffer.relocs().is_empty() {
        return Err(Refused("a call of code elsewhere".to_owned()));
    }
    let layout = compiled.buffer.frame_layout();
    let layout = layout.ok_or_else(|| Refused("an unknown frame".to_owned()))?;
    let code = compiled.code_buffer().to_vec();
    let offsets = layout.stackslots.clone();
    let ends = context.func.sized_stack_slots.iter();
    let ends = ends.map(|(slot, data)| u64::from(offsets[slot].offset) + u64::from(data.size));
    let bytes = wide::widen(
        &code,
        ends.max().unwrap_or(0),
        width,
        in_general(&context.func),
    )?;
    Ok(Machine {
        align: width.bytes() as u64,
        bytes,
        relocs: vec![],
        kept,
        widened: Some(Ok(())),
        vector_bits: 8 * width.bytes() as u32,
        lanes: 0,
        remark: None,
    })
}

/// Whether only numbers in general registers go in and out, of the unit and of what it calls.
fn in_general(func: &Function) -> bool {
    let called = func.dfg.signatures.values();
    let mut signatures = called.chain([&func.signature]);
    signatures.all(|signature| {
        let mut all = signature.params.iter().chain(&signature.returns);
        all.all(|param| param.value_type.is_int())
    })
}

/// From so many instructions on a unit is compiled without the optimisations that need a graph of equal values: the passes have done most
/// of what they would, and they take a third of the time.
const LARGE: usize = 50_000;

/// Compiles a unit as it was emitted.
fn narrow(target: &Target, id: FuncId, emitted: Emitted) -> Result<Machine, RunError> {
    let Emitted {
        func,
        kept,
        in_lanes,
        ..
    } = emitted;
    let isa = match func.dfg.num_insts() < LARGE {
        true => &target.isa,
        false => &target.quick,
    };
    let mut context = cranelift_codegen::Context::for_function(func);
    let compiled = context
        .compile(&**isa, &mut ControlPlane::default())
        .map_err(|error| broken(format!("{:?}", error.inner)))?;
    let align = u64::from(compiled.buffer.alignment);
    let bytes = compiled.code_buffer().to_vec();
    let relocs = compiled.buffer.relocs().to_vec();
    let relocs = relocs
        .iter()
        .map(|reloc| ModuleReloc::from_mach_reloc(reloc, &context.func, id))
        .collect();
    Ok(Machine {
        align,
        bytes,
        relocs,
        kept,
        widened: None,
        vector_bits: if in_lanes { 128 } else { 0 },
        lanes: 0,
        remark: None,
    })
}
