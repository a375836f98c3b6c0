//! A typed model of PTX: instructions over virtual registers, in basic blocks, with what reads and writes them.
//!
//! Reading order: [`types`], [`inst`], [`func`]; then [`build`], which writes functions, [`verify`](mod@verify), which
//! says whether one is well-formed, and [`print`](mod@print), the only place that knows how PTX looks as text.
//!
//! Registers have no type but a width ([`types::Class`]): PTX lets an instruction of any type use an untyped register of
//! its width. Integers narrower than 32 bits live in 32-bit registers, sign- or zero-extended.

pub mod build;
pub mod flow;
pub mod func;
pub mod inst;
pub mod operands;
pub mod ops;
pub mod print;
pub mod require;
pub mod types;
pub mod verify;

pub use build::Builder;
pub use func::{
    Block, BlockId, Func, FuncId, Guard, Kind, Line, Module, Origin, Reg, Term, Variable,
};
pub use inst::{Address, Inst, Operand};
pub use types::{Class, Order, Scope, Space, Ty};
