//! Types of instructions, widths of registers, state spaces, memory order.

/// The width of a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Class {
    /// A truth value.
    Pred,
    /// 16 bits: a binary16.
    B16,
    /// 32 bits, also for narrower integers.
    B32,
    /// 64 bits.
    B64,
}

/// The type that an instruction gives to its operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Ty {
    /// A truth value.
    Pred,
    /// An unsigned byte: in memory, or the low bits of a 32-bit register.
    U8,
    /// A signed byte, as above.
    S8,
    /// An unsigned 16-bit integer, as above.
    U16,
    /// A signed 16-bit integer, as above.
    S16,
    /// 16 bits in a register of that width.
    B16,
    /// A binary16.
    F16,
    /// 32 bits.
    B32,
    /// An unsigned 32-bit integer.
    U32,
    /// A signed 32-bit integer.
    S32,
    /// A binary32.
    F32,
    /// 64 bits.
    B64,
    /// An unsigned 64-bit integer.
    U64,
    /// A signed 64-bit integer.
    S64,
    /// A binary64.
    F64,
}

impl Ty {
    /// The register that holds a value of the type.
    pub const fn class(self) -> Class {
        match self {
            Self::Pred => Class::Pred,
            Self::B16 | Self::F16 => Class::B16,
            Self::U8
            | Self::S8
            | Self::U16
            | Self::S16
            | Self::B32
            | Self::U32
            | Self::S32
            | Self::F32 => Class::B32,
            Self::B64 | Self::U64 | Self::S64 | Self::F64 => Class::B64,
        }
    }
    /// Bytes in memory; a truth value has none.
    pub const fn bytes(self) -> u32 {
        match self {
            Self::Pred => 0,
            Self::U8 | Self::S8 => 1,
            Self::U16 | Self::S16 | Self::B16 | Self::F16 => 2,
            Self::B32 | Self::U32 | Self::S32 | Self::F32 => 4,
            Self::B64 | Self::U64 | Self::S64 | Self::F64 => 8,
        }
    }
    /// Whether a float.
    pub const fn is_float(self) -> bool {
        matches!(self, Self::F16 | Self::F32 | Self::F64)
    }
    /// Whether a signed integer.
    pub const fn is_signed(self) -> bool {
        matches!(self, Self::S8 | Self::S16 | Self::S32 | Self::S64)
    }
    /// Whether an integer of 32 or 64 bits, for which there is arithmetic.
    pub const fn is_int(self) -> bool {
        matches!(self, Self::U32 | Self::S32 | Self::U64 | Self::S64)
    }
    /// Whether untyped bits of 32 or 64, for which there is logic.
    pub const fn is_bits(self) -> bool {
        matches!(self, Self::B32 | Self::B64)
    }
    /// The untyped bits of a register.
    pub const fn of_class(class: Class) -> Self {
        match class {
            Class::Pred => Self::Pred,
            Class::B16 => Self::B16,
            Class::B32 => Self::B32,
            Class::B64 => Self::B64,
        }
    }
}

/// Where memory is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Space {
    /// Memory of the device; addresses have 64 bits.
    Global,
    /// Memory of the block; addresses have 32 bits.
    Shared,
    /// Memory of the thread and the call; addresses have 32 bits.
    Local,
}

impl Space {
    /// The width of addresses.
    pub const fn class(self) -> Class {
        match self {
            Self::Global => Class::B64,
            Self::Shared | Self::Local => Class::B32,
        }
    }
}

/// Who is meant by a memory order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Scope {
    /// The threads of the block.
    Cta,
    /// All threads of the device.
    Gpu,
    /// All threads of the machine.
    Sys,
}

/// The order of a memory access among others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Order {
    /// An ordinary access: no other thread may touch the place at the same time.
    Weak,
    /// One of several threads that touch the place at the same time.
    Relaxed(Scope),
    /// A relaxed read after which come all later accesses of the thread.
    Acquire(Scope),
    /// A relaxed write before which come all earlier accesses of the thread.
    Release(Scope),
    /// Both, of an atomic operation.
    AcquireRelease(Scope),
}

impl Order {
    /// The scope of an access that is not weak.
    pub const fn scope(self) -> Option<Scope> {
        match self {
            Self::Weak => None,
            Self::Relaxed(s) | Self::Acquire(s) | Self::Release(s) | Self::AcquireRelease(s) => {
                Some(s)
            }
        }
    }
}
