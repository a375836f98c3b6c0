//! The one thing that differs between the IRs: the operations of a dialect, as generic passes see them.

use super::array::ArrayOp;
use super::id::Var;
use super::syntax::{Atom, Body};
use std::fmt::Debug;
use std::hash::Hash;

/// The operations of one IR. Everything generic (renaming, printing, verifying, dead code) is written once over this.
///
/// The methods speak of one operation only, not of what is inside its bodies, unless they say so.
pub trait Dialect: Sized + Clone + Debug + PartialEq + Hash + Send + Sync + 'static {
    /// The name in the text form: `nested`, `flat`, `plan`.
    const NAME: &'static str;

    /// Whether arrays are values: what reads equal operands computes the same, unless it has an effect.
    const IS_PURE: bool;

    /// Calls `f` on every operand, sizes and consumed arrays among them.
    fn operands(&self, f: &mut dyn FnMut(Atom));

    /// Replaces every operand. Where the operation needs a variable, `f` must yield one for a variable.
    fn map_operands(&mut self, f: &mut dyn FnMut(Atom) -> Atom);

    /// Calls `f` on every array that the operation consumes.
    fn consumed(&self, f: &mut dyn FnMut(Var));

    /// The array that the results alias, if they are not fresh. The results of parallel operations are fresh, even where
    /// their lambdas yield arrays from outside.
    fn aliased(&self) -> Option<Var>;

    /// Calls `f` on every nested body with the variables bound for it (lambda parameters, indices of the space).
    fn scopes<'a>(&'a self, f: &mut dyn FnMut(&[Var], &'a Body<Self>));

    /// The same for editing. `f` may rename the bound variables, and must not change their number.
    fn scopes_mut(&mut self, f: &mut dyn FnMut(&mut [Var], &mut Body<Self>));

    /// The array operation that this is, if it is one.
    fn as_array(&self) -> Option<&ArrayOp>;

    /// The array operation that this is, for editing.
    fn as_array_mut(&mut self) -> Option<&mut ArrayOp>;

    /// Calls `f` on every index variable bound for a body with its bound: it runs over 0, 1, .. below.
    fn index_bounds(&self, f: &mut dyn FnMut(Var, Atom));

    /// Calls `f` on every variable bound for a body that stands for an element of an array, with that array.
    fn elements(&self, f: &mut dyn FnMut(Var, Var));

    /// Whether the operation does something besides computing the values it binds (stores, frees, launches), so
    /// that it must stay though nothing reads its results.
    fn has_effect(&self) -> bool;

    /// Whether two equal operations (in scope of each other, nothing consumed in between) give values that may be
    /// shared. False for allocations and copies, since each may be consumed on its own.
    fn is_shareable(&self) -> bool;
}

mod array;
mod mem;
mod operand;
mod seg;
mod soac;

pub use seg::is_by_blocks;
