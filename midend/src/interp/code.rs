//! Resolved code: what a body is translated to when it is first executed, and executed as from then on.
//!
//! Control flow is flattened to jumps, operands are rows of the frame (constants too), scalar operations are functions
//! of words, and types are compared once. What remains is done by the machine, statement by statement.
//!
//! ```text
//! let c: bool = lt.i64(x, 10)         tick 3
//! let y: i64 = if c {                 c <- lt.i64(x, #10)
//!   let z: i64 = add.i64(x, 1)   →    unless c jump 6
//!   yield z                           tick 2
//! } else { yield 0 }                  z <- add.i64(x, #1);  y <- z;  jump 8
//!                                  6: tick 1;  y <- #0
//! ```

pub(crate) mod ops;
mod run;
pub(crate) mod translate;

use super::columns::Plan;
use crate::ir::id::{FunId, Var};
use crate::ir::scalar::ScalarOp;
use crate::ir::syntax::{Atom, Message, Stm};
use crate::ir::threshold::Threshold;
use crate::ir::types::ScalarType;
use std::cell::OnceCell;

/// A row of the words of a frame.
pub(crate) type Word = u32;

/// The code of a body; its results stand where the body says.
#[derive(Debug)]
pub(crate) struct Code<'p, D> {
    pub(crate) insts: Vec<Inst<'p, D>>,
    /// Whether the body is scalar code from start to end: no jumps, no statements for the machine, no updates.
    pub(crate) straight: bool,
    /// For straight code: how it is executed for many elements at once, found when that is first asked for.
    pub(crate) plan: OnceCell<Option<Plan>>,
}

/// One instruction.
#[derive(Debug)]
pub(crate) enum Inst<'p, D> {
    /// The start of a body of this many statements and its results, as fuel counts them.
    Tick(u32),
    Unary {
        f: ops::Unary,
        a: Word,
        to: Word,
    },
    Binary {
        f: ops::Binary,
        a: Word,
        b: Word,
        to: Word,
    },
    Partial {
        f: ops::Partial,
        op: ScalarOp,
        a: Word,
        b: Word,
        to: Word,
    },
    Select {
        cond: Word,
        a: Word,
        b: Word,
        to: Word,
    },
    /// An operation that is executed as it is defined.
    Defined {
        op: ScalarOp,
        args: [Word; 3],
        to: Word,
    },
    Copy {
        a: Word,
        to: Word,
    },
    /// Copies all at once: sources are read before anything is written.
    CopyAll(Box<[(Word, Word)]>),
    /// Values that are not scalars get other names, all at once.
    Assign(Box<[Assign]>, &'p Stm<D>),
    /// An element of an array.
    Element {
        array: Element,
        to: Word,
        stm: &'p Stm<D>,
    },
    /// An array with one element replaced; it moves from one variable to another.
    Replace {
        array: Element,
        value: Word,
        to: Var,
        stm: &'p Stm<D>,
    },
    /// Fails unless the condition holds.
    Assert {
        cond: Word,
        message: &'p Message,
        stm: &'p Stm<D>,
    },
    /// Whether an amount of parallelism reaches a threshold.
    Guard {
        threshold: &'p Threshold,
        measure: Word,
        to: Word,
    },
    Jump(u32),
    Unless {
        cond: Word,
        to: u32,
    },
    /// Sets a counter to zero; jumps unless the bound is positive.
    Start {
        index: Word,
        bound: Word,
        sign: u64,
        to: u32,
    },
    /// Adds one to the counter; jumps back if it is below the bound.
    Next {
        index: Word,
        bound: Word,
        to: u32,
    },
    Call {
        fun: FunId,
        args: &'p [Atom],
        stm: &'p Stm<D>,
    },
    /// An operation of the dialect, for the machine.
    Op(&'p D, &'p Stm<D>),
    /// Variables have been bound, or a loop begins or ends: where what analyses claim is checked.
    Watch(Watched, Box<[Var]>),
    /// What is not well-typed; it fails if it is reached.
    Wrong(&'p Stm<D>, Box<str>),
}

/// What has happened when variables have been bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Watched {
    /// A statement was executed.
    Statement,
    /// A loop begins.
    Enter,
    /// An iteration begins, or what decides about it.
    Round,
    /// The loop has ended.
    Leave,
}

/// A value that is not a scalar gets another name. If it moves, the old one is not used again.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Assign {
    from: Var,
    to: Var,
    moves: bool,
}

/// The place of an element: an array and an index for each of its dimensions.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Element {
    pub(crate) var: Var,
    pub(crate) val: u32,
    pub(crate) ty: ScalarType,
    pub(crate) rank: u8,
    pub(crate) indices: [Word; 3],
}
