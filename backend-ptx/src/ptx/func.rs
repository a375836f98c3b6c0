//! Functions and modules: basic blocks of instructions, in the order in which they are laid out.

use super::inst::{Inst, Operand};
use super::types::{Class, Space};

/// A virtual register, a row of [`Func::regs`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Reg(pub u32);

/// A basic block, a row of [`Func::blocks`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct BlockId(pub u32);

/// A function, a row of [`Module::funcs`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FuncId(pub u32);

/// What is loaded at once: kernels and the functions that they call.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Module {
    /// The functions.
    pub funcs: Vec<Func>,
}

/// A kernel or a function that one calls.
#[derive(Clone, Debug, PartialEq)]
pub struct Func {
    /// Its name.
    pub name: String,
    /// Which of the two.
    pub kind: Kind,
    /// The width of every register.
    pub regs: Vec<Class>,
    /// Variables in shared and local memory.
    pub vars: Vec<Variable>,
    /// The code. It begins with the first block.
    pub blocks: Vec<Block>,
    /// Where code comes from. The first one says nothing.
    pub origins: Vec<Origin>,
}

/// What a function is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A kernel.
    Entry {
        /// Threads of a block, a multiple of 32.
        threads: u32,
        /// Bytes of parameters.
        params: u32,
        /// So many blocks should have room on a multiprocessor, for which threads get fewer registers; as it happens, if nothing.
        resident: Option<u32>,
    },
    /// A function for kernels to call. Parameters and results lie in slots of 8 bytes.
    Device {
        /// Widths of the parameters.
        params: Vec<Class>,
        /// Widths of the results.
        results: Vec<Class>,
    },
}

/// An array in shared or local memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variable {
    /// Its name.
    pub name: String,
    /// Shared (in kernels only) or local.
    pub space: Space,
    /// Bytes of an element.
    pub elem: u32,
    /// Number of elements; as many as a launch says where it is 0, which one shared variable of a kernel may have.
    pub len: u32,
}

impl Variable {
    /// Whether a launch says how long it is.
    pub fn is_sized_by_launch(&self) -> bool {
        self.space == Space::Shared && self.len == 0
    }
}

/// Where code comes from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Origin {
    /// File, line and column, or nothing.
    pub place: String,
    /// The statement of the plan, in short.
    pub what: String,
}

/// Instructions one after the other.
#[derive(Clone, Debug, PartialEq)]
pub struct Block {
    /// The instructions.
    pub lines: Vec<Line>,
    /// Where to go on.
    pub end: Term,
}

/// One instruction in its place.
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    /// The lanes that execute it.
    pub guard: Option<Guard>,
    /// The instruction.
    pub inst: Inst,
    /// A row of [`Func::origins`].
    pub origin: u32,
}

/// A truth value or its opposite.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Guard {
    /// The truth value.
    pub reg: Reg,
    /// Whether the opposite is meant.
    pub negate: bool,
}

impl From<Reg> for Guard {
    fn from(reg: Reg) -> Self {
        Self { reg, negate: false }
    }
}

/// The end of a block.
#[derive(Clone, Debug, PartialEq)]
pub enum Term {
    /// To one block.
    Jump(BlockId),
    /// To one of two.
    Branch {
        /// The condition.
        cond: Guard,
        /// When it holds.
        then: BlockId,
        /// When not.
        otherwise: BlockId,
        /// The promise that all lanes of a warp that come here go the same way.
        uniform: bool,
    },
    /// To the caller, with results; the end of a thread of a kernel.
    Return(Vec<Operand>),
}

impl Term {
    /// Calls `f` on the blocks that may come next.
    pub fn successors(&self, f: &mut dyn FnMut(BlockId)) {
        match self {
            Self::Jump(to) => f(*to),
            Self::Branch {
                then, otherwise, ..
            } => {
                f(*then);
                f(*otherwise);
            }
            Self::Return(_) => {}
        }
    }
}

impl Func {
    /// The width of a register.
    pub fn class(&self, reg: Reg) -> Option<Class> {
        self.regs.get(reg.0 as usize).copied()
    }
    /// The variable that a launch gives its length.
    pub fn sized_by_launch(&self) -> Option<usize> {
        self.vars.iter().position(Variable::is_sized_by_launch)
    }
    /// Bytes of shared memory that a block takes, besides those that a launch gives it.
    pub fn shared(&self) -> u64 {
        let shared = self.vars.iter().filter(|var| var.space == Space::Shared);
        shared.fold(0, |bytes: u64, var| {
            bytes.next_multiple_of(16) + u64::from(var.elem) * u64::from(var.len)
        })
    }
    /// The threads of a block, of a kernel.
    pub const fn threads(&self) -> Option<u32> {
        match &self.kind {
            Kind::Entry { threads, .. } => Some(*threads),
            Kind::Device { .. } => None,
        }
    }
}

impl Module {
    /// A function of the module.
    pub fn func(&self, id: FuncId) -> Option<&Func> {
        self.funcs.get(id.0 as usize)
    }
    /// The kernel with this name.
    pub fn entry(&self, name: &str) -> Option<FuncId> {
        let found = self
            .funcs
            .iter()
            .position(|f| f.name == name && f.threads().is_some())?;
        u32::try_from(found).ok().map(FuncId)
    }
}
