//! What code is made for: this machine, and how wide its vector registers are to be.

use crate::compile::broken;
use crate::wide::Width;
use cranelift_codegen::isa::OwnedTargetIsa;
use cranelift_codegen::settings::{self, Configurable};
use midend::trap::RunError;
use std::sync::LazyLock;

/// What code is made for.
#[derive(Clone)]
pub(crate) struct Target {
    pub(crate) isa: OwnedTargetIsa,
    /// The same for units that are too large for all optimisations of Cranelift.
    pub(crate) quick: OwnedTargetIsa,
    /// The same without what Cranelift uses of AVX-512, if code is to be widened (see [`crate::wide`]).
    pub(crate) wide: Option<OwnedTargetIsa>,
    /// Whether registers are to have 512 bits where code gains by that.
    four: bool,
    /// Whether maps are vectorised, and their vector code executed, where scalar code is faster as well.
    pub(crate) all_in_lanes: bool,
}

impl Target {
    /// This machine, with vector registers of so many bits at most; 0 for as many as it has.
    pub(crate) fn new(vector_bits: u32) -> Result<Self, RunError> {
        let isa = target(&[], "speed")?;
        let needed = ["has_avx", "has_avx2", "has_fma"];
        let able = cfg!(target_arch = "x86_64") && needed.iter().all(|name| has(&isa, name));
        let (two, four) = match vector_bits {
            0 | 512 => (able, able && has_avx512()),
            256 => (able, false),
            128 => (false, false),
            other => {
                let why = format!("vector registers of {other} bits: there are 128, 256 and 512");
                return Err(RunError::Device(why));
            }
        };
        let flags = isa.isa_flags();
        let newer = flags.iter().map(|flag| flag.name);
        let newer: Vec<&str> = newer
            .filter(|name| name.starts_with("has_avx512"))
            .collect();
        let wide = if two {
            Some(target(&newer, "speed")?)
        } else {
            None
        };
        let quick = target(&[], "none")?;
        Ok(Self {
            isa,
            quick,
            wide,
            four,
            all_in_lanes: false,
        })
    }

    /// The registers that code may be widened for, the widest first.
    pub(crate) fn widths(&self) -> impl Iterator<Item = Width> {
        let four = self.four.then_some(Width::Four);
        four.into_iter()
            .chain(self.wide.is_some().then_some(Width::Two))
    }
}

/// Whether the machine has those parts of AVX-512 that code is widened to.
fn has_avx512() -> bool {
    #[cfg(target_arch = "x86_64")]
    let able = std::is_x86_feature_detected!("avx512f")
        && std::is_x86_feature_detected!("avx512bw")
        && std::is_x86_feature_detected!("avx512dq")
        && std::is_x86_feature_detected!("avx512vl");
    #[cfg(not(target_arch = "x86_64"))]
    let able = false;
    able
}

/// Whether code for the target multiplies and adds in one instruction.
pub(crate) fn has_fma(isa: &OwnedTargetIsa) -> bool {
    !cfg!(target_arch = "x86_64") || ["has_fma", "has_avx"].iter().all(|name| has(isa, name))
}

/// Whether the divider works on one half after the other of registers of 512 bits, as those of Intel's processors do.
pub(crate) fn divides_in_halves() -> bool {
    is_of_intel()
}

/// Whether what is read in order, with much to do in between, is there sooner where all of a strip is asked for at once: processors of AMD ask for
/// what comes next soon enough.
pub(crate) fn gains_by_asking() -> bool {
    is_of_intel()
}

fn is_of_intel() -> bool {
    ASKED.is_of_intel
}

/// Bytes of the second nearest cache of a core, if the processor tells.
pub(crate) fn second_cache() -> Option<u64> {
    ASKED.second_cache
}

/// What a processor says of itself, which is asked once: a virtual machine answers in place of it, in some microseconds.
#[derive(Default)]
struct Asked {
    is_of_intel: bool,
    second_cache: Option<u64>,
}

static ASKED: LazyLock<Asked> = LazyLock::new(asked);

#[cfg(target_arch = "x86_64")]
fn asked() -> Asked {
    const CACHES: u32 = 0x8000_0006;
    let ask = std::arch::x86_64::__cpuid;
    let vendor = ask(0);
    let name = [vendor.ebx, vendor.edx, vendor.ecx].map(u32::to_le_bytes);
    let kib = (ask(0x8000_0000).eax >= CACHES).then(|| ask(CACHES).ecx >> 16);
    Asked {
        is_of_intel: name.as_flattened() == b"GenuineIntel",
        second_cache: kib.filter(|kib| *kib > 0).map(|kib| u64::from(kib) << 10),
    }
}

#[cfg(not(target_arch = "x86_64"))]
fn asked() -> Asked {
    Asked::default()
}

/// Whether there is an instruction that finds bytes of a vector of 512 bits.
pub(crate) fn looks_up(isa: &OwnedTargetIsa) -> bool {
    has(isa, "has_avx512vbmi")
}

/// Whether the machine has something.
fn has(isa: &OwnedTargetIsa, name: &str) -> bool {
    let flags = isa.isa_flags();
    flags
        .iter()
        .any(|flag| flag.name == name && flag.as_bool() == Some(true))
}

/// This machine, without some of what it has, at a level of optimisation.
fn target(without: &[&str], level: &str) -> Result<OwnedTargetIsa, RunError> {
    let mut flags = settings::builder();
    let options = [
        ("opt_level", level),
        (
            "enable_verifier",
            if cfg!(debug_assertions) {
                "true"
            } else {
                "false"
            },
        ),
        ("is_pic", "false"),
        ("use_colocated_libcalls", "false"),
        ("unwind_info", "false"),
    ];
    for (name, value) in options {
        flags.set(name, value).map_err(broken)?;
    }
    let mut builder = cranelift_native::builder().map_err(broken)?;
    for name in without {
        builder.set(name, "false").map_err(broken)?;
    }
    let flags = settings::Flags::new(flags);
    builder.finish(flags).map_err(broken)
}
