//! Instructions. Data only: what they read and write is in [`super::operands`], their rules in [`super::verify`].

use super::func::{FuncId, Reg};
use super::ops::{AtomOp, Binary, Cache, Cmp, Round, Shuffle, Special, Ternary, Unary, Vote};
use super::types::{Order, Scope, Space, Ty};

/// A register or a constant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Operand {
    /// A register.
    Reg(Reg),
    /// A constant, by its bits; those beyond the width of the type are not looked at.
    Imm(u64),
}

impl From<Reg> for Operand {
    fn from(reg: Reg) -> Self {
        Self::Reg(reg)
    }
}

/// A place in memory: a register and a distance in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Address {
    /// The register, as wide as addresses of the space.
    pub base: Reg,
    /// Bytes behind it.
    pub offset: i32,
}

impl From<Reg> for Address {
    fn from(base: Reg) -> Self {
        Self { base, offset: 0 }
    }
}

/// An instruction.
#[derive(Clone, Debug, PartialEq)]
pub enum Inst {
    /// A copy.
    Mov {
        /// The type.
        ty: Ty,
        /// Where the result goes.
        dst: Reg,
        /// What is read.
        src: Operand,
    },
    /// What the machine knows.
    Special {
        /// Where the result goes.
        dst: Reg,
        /// Which one.
        which: Special,
    },
    /// The address of a variable of the function, in its state space.
    AddressOf {
        /// Where the result goes.
        dst: Reg,
        /// Its number.
        var: u32,
    },
    /// Two halves into one register.
    Pack {
        /// Where the result goes.
        dst: Reg,
        /// The lower half.
        low: Operand,
        /// The upper half.
        high: Operand,
    },
    /// One register into its halves.
    Unpack {
        /// The lower half.
        low: Reg,
        /// The upper half.
        high: Reg,
        /// What is read.
        src: Reg,
    },
    /// One of two values.
    Select {
        /// The type.
        ty: Ty,
        /// Where the result goes.
        dst: Reg,
        /// If the condition holds.
        yes: Operand,
        /// If not.
        no: Operand,
        /// The condition.
        cond: Reg,
    },
    /// An operation of one operand.
    Unary {
        /// The operation.
        op: Unary,
        /// The type.
        ty: Ty,
        /// Where the result goes.
        dst: Reg,
        /// First operand.
        a: Operand,
    },
    /// An operation of two operands.
    Binary {
        /// The operation.
        op: Binary,
        /// The type.
        ty: Ty,
        /// Where the result goes.
        dst: Reg,
        /// First operand.
        a: Operand,
        /// Second operand.
        b: Operand,
    },
    /// An operation of three operands.
    Ternary {
        /// The operation.
        op: Ternary,
        /// The type.
        ty: Ty,
        /// Where the result goes.
        dst: Reg,
        /// First operand.
        a: Operand,
        /// Second operand.
        b: Operand,
        /// Third operand.
        c: Operand,
    },
    /// A comparison.
    Compare {
        /// The operation.
        op: Cmp,
        /// The type.
        ty: Ty,
        /// Where the result goes.
        dst: Reg,
        /// First operand.
        a: Operand,
        /// Second operand.
        b: Operand,
    },
    /// A conversion.
    Convert {
        /// To here.
        to: Ty,
        /// From here.
        from: Ty,
        /// How to round.
        round: Round,
        /// Where the result goes.
        dst: Reg,
        /// What is read.
        src: Reg,
    },
    /// A parameter of the function, at a distance in bytes.
    Param {
        /// The type.
        ty: Ty,
        /// Where the result goes.
        dst: Reg,
        /// Bytes from the first parameter.
        offset: u32,
    },
    /// Consecutive elements from memory. With `undefined`, they need not have been written: they are only moved elsewhere.
    Load {
        /// The state space.
        space: Space,
        /// The memory order.
        order: Order,
        /// The caching.
        cache: Cache,
        /// The type.
        ty: Ty,
        /// Where the result goes.
        dst: Vec<Reg>,
        /// The place.
        at: Address,
        /// Whether the elements may be undefined.
        undefined: bool,
    },
    /// Consecutive elements to memory. With `any_wins`, other threads may store there as well at the same time, and the
    /// program does not care who is last.
    Store {
        /// The state space.
        space: Space,
        /// The memory order.
        order: Order,
        /// The caching.
        cache: Cache,
        /// The type.
        ty: Ty,
        /// What is read.
        src: Vec<Operand>,
        /// The place.
        at: Address,
        /// Whether other threads may store there too.
        any_wins: bool,
    },
    /// An atomic operation; without `dst` the old value is not wanted.
    Atom {
        /// The operation.
        op: AtomOp,
        /// The state space.
        space: Space,
        /// The memory order.
        order: Order,
        /// The type.
        ty: Ty,
        /// Where the result goes.
        dst: Option<Reg>,
        /// The place.
        at: Address,
        /// First operand.
        a: Operand,
        /// Second operand.
        b: Option<Operand>,
    },
    /// Everything before it is seen before everything after it.
    Fence(Scope),
    /// An asynchronous copy of 4, 8 or 16 bytes from global to shared memory.
    CopyAsync {
        /// How many.
        bytes: u32,
        /// To here.
        to: Address,
        /// From here.
        from: Address,
    },
    /// Brings the bytes around a place in global memory near, into the cache that all threads share.
    Prefetch(Address),
    /// Makes a group of the asynchronous copies so far.
    CopyCommit,
    /// Waits until at most so many groups are under way.
    CopyWait(u32),
    /// Reads a register of another lane; `ok` says whether that lane is in range.
    Shuffle {
        /// How.
        mode: Shuffle,
        /// Where the result goes.
        dst: Reg,
        /// Whether there is such a lane.
        ok: Option<Reg>,
        /// What is read.
        src: Operand,
        /// Which lane.
        lane: Operand,
        /// Where the range of lanes ends.
        clamp: Operand,
        /// The lanes that take part.
        mask: Operand,
    },
    /// Asks all lanes.
    Vote {
        /// How.
        mode: Vote,
        /// Where the result goes.
        dst: Reg,
        /// What is read.
        src: Reg,
        /// The lanes that take part.
        mask: Operand,
    },
    /// The lanes that hold the same value.
    Match {
        /// The type.
        ty: Ty,
        /// Where the result goes.
        dst: Reg,
        /// What is read.
        src: Reg,
        /// The lanes that take part.
        mask: Operand,
    },
    /// Combines a value of all lanes.
    Reduce {
        /// The operation.
        op: AtomOp,
        /// The type.
        ty: Ty,
        /// Where the result goes.
        dst: Reg,
        /// What is read.
        src: Reg,
        /// The lanes that take part.
        mask: Operand,
    },
    /// Waits for the lanes of the mask.
    WarpSync {
        /// The lanes that take part.
        mask: Operand,
    },
    /// Waits for all threads of the block.
    Barrier,
    /// The same, and asks them all: `and` or `or`.
    BarrierVote {
        /// The operation.
        op: Binary,
        /// Where the result goes.
        dst: Reg,
        /// What is read.
        src: Reg,
    },
    /// Waits a while.
    Nanosleep(Operand),
    /// Calls a function: arguments and results lie in slots of 8 bytes.
    Call {
        /// The function.
        fun: FuncId,
        /// Where the results go.
        results: Vec<Reg>,
        /// The arguments.
        args: Vec<Operand>,
    },
}
