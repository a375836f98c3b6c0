//! What tests of the back end share: assembling with `ptxas`, building kernels, running them on the emulator.
#![allow(dead_code, reason = "each test file uses its own part")]

pub(crate) mod plan;
pub(crate) mod ptxas;

use backend_ptx::emu::{self, Fault, Launch, Memory, Options, Program};
use backend_ptx::ptx::ops::{Binary, Cmp, Special};
use backend_ptx::ptx::verify::verify;
use backend_ptx::ptx::{Builder, Class, Kind, Module, Operand, Reg, Space, Ty};

/// A module of one kernel.
pub(crate) fn kernel(threads: u32, params: u32, f: impl FnOnce(&mut Builder)) -> Module {
    let mut b = Builder::new(
        "k",
        Kind::Entry {
            threads,
            params,
            resident: None,
        },
    );
    f(&mut b);
    Module {
        funcs: vec![b.finish()],
    }
}

/// Verifies, assembles, runs on the emulator.
pub(crate) fn run(
    module: &Module,
    memory: &mut Memory,
    blocks: u32,
    params: &[u64],
    seed: u64,
) -> Result<u64, Box<Fault>> {
    verify(module, 90).expect("the module is well-formed");
    let bytes: Vec<u8> = params.iter().flat_map(|p| p.to_le_bytes()).collect();
    let launch = Launch {
        kernel: "k",
        blocks,
        shared: 0,
        params: &bytes,
    };
    let options = Options {
        seed,
        ..Options::default()
    };
    emu::run(&Program::new(module), memory, launch, options).map(|stats| stats.steps)
}

/// An array of 32-bit words.
pub(crate) fn words(memory: &mut Memory, values: &[u32]) -> u64 {
    let at = memory.alloc(4, values.len());
    let bytes: Vec<u8> = values.iter().flat_map(|v| v.to_le_bytes()).collect();
    memory.write(at, &bytes).expect("the array is long enough");
    at
}

/// The words of an array.
pub(crate) fn read(memory: &Memory, at: u64, len: usize) -> Vec<u32> {
    let bytes = memory.read(at, 4 * len).expect("the array is long enough");
    bytes
        .chunks_exact(4)
        .map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]]))
        .collect()
}

/// A constant.
pub(crate) const fn imm(bits: u64) -> Operand {
    Operand::Imm(bits)
}

/// A global pointer from the parameters.
pub(crate) fn pointer(b: &mut Builder, offset: u32) -> Reg {
    let generic = b.param(Ty::U64, offset);
    b.un(backend_ptx::ptx::ops::Unary::ToGlobal, Ty::U64, generic)
}

/// The number of the thread in the grid.
pub(crate) fn thread(b: &mut Builder) -> Reg {
    let (block, size) = (b.special(Special::Ctaid), b.special(Special::Ntid));
    let tid = b.special(Special::Tid);
    let first = b.bin(Binary::Mul, Ty::U32, block, size);
    b.bin(Binary::Add, Ty::U32, first, tid)
}

/// The address of a word of a global array.
pub(crate) fn at(b: &mut Builder, base: Reg, index: Reg) -> Reg {
    let distance = b.bin(Binary::MulWide, Ty::U32, index, imm(4));
    b.bin(Binary::Add, Ty::U64, base, distance)
}

/// The address of a word of a shared array.
pub(crate) fn near(b: &mut Builder, base: Reg, index: Reg) -> Reg {
    let distance = b.bin(Binary::Mul, Ty::U32, index, imm(4));
    b.bin(Binary::Add, Ty::U32, base, distance)
}

/// Whether a word is below another.
pub(crate) fn below(b: &mut Builder, x: Reg, y: impl Into<Operand>) -> Reg {
    b.cmp(Cmp::Lt, Ty::U32, x, y)
}

/// A shared array of words; its address.
pub(crate) fn shared(b: &mut Builder, len: u32) -> Reg {
    let var = b.variable("shared", Space::Shared, 4, len);
    b.address_of(var)
}

/// A new register that can be changed.
pub(crate) fn variable(b: &mut Builder, value: u64) -> Reg {
    let reg = b.reg(Class::B32);
    b.set(Ty::B32, reg, imm(value));
    reg
}
