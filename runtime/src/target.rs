//! The targets that programs can be run on: the one list of them.

use std::fmt;

/// Something that runs programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Target {
    /// Whichever of the CPU and the GPU, if there is one, each call is expected to be faster on.
    #[default]
    Auto,
    /// Machine code for all cores of this computer.
    Cpu,
    /// An NVIDIA GPU.
    Ptx,
    /// An emulator of an NVIDIA GPU.
    PtxEmu,
    /// The reference interpreter.
    Interp,
}

impl Target {
    /// Every place where programs can run.
    pub const PLACES: [Self; 4] = [Self::Cpu, Self::Ptx, Self::PtxEmu, Self::Interp];

    /// All of them, the default first.
    pub const ALL: [Self; 5] = [Self::Auto, Self::Cpu, Self::Ptx, Self::PtxEmu, Self::Interp];

    /// The name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Cpu => "cpu",
            Self::Ptx => "ptx",
            Self::PtxEmu => "ptx-emu",
            Self::Interp => "interp",
        }
    }
    /// The target in one sentence.
    pub const fn summary(self) -> &'static str {
        match self {
            Self::Auto => "for each call, the CPU or the GPU, whichever is expected to be faster",
            Self::Cpu => "machine code for all cores of this computer",
            Self::Ptx => "kernels for an NVIDIA GPU, compiled by its driver",
            Self::PtxEmu => {
                "kernels for NVIDIA GPUs, emulated on one core: every access to memory is checked"
            }
            Self::Interp => "the reference interpreter: slow, and right by definition",
        }
    }
    /// The tag by which a test case excludes the target.
    pub fn exclusion_tag(self) -> String {
        format!("no_{}", self.name())
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl std::str::FromStr for Target {
    type Err = String;
    fn from_str(name: &str) -> Result<Self, String> {
        let all = Self::ALL.into_iter();
        match all.clone().find(|target| target.name() == name) {
            Some(target) => Ok(target),
            None => {
                let names: Vec<_> = all.map(Self::name).collect();
                Err(format!("the targets are {}", names.join(", ")))
            }
        }
    }
}
