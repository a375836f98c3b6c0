//! What nothing reads goes: statements, results of conditionals, loops and parallel operations, parameters and results of functions,
//! and functions that nothing calls.
//!
//! ```text
//! fun f(n, xs, k) -> (a, b) { .. }                         fun f(n, xs) -> (a) { .. }
//! let a, b = call f(n, xs, k)                              let a = call f(n, xs)
//! let s, ys = map n (xs, zs) \(x, z) {                     let s = map n (xs) \(x) {
//!   let y = mul.i32(z, z)                          ──►
//!   yield x, y                                               yield x
//! } reduce ..                                              } reduce ..
//! yield a, s                                               yield a, s
//! ```
//!
//! Checks are never dead, nor is what a plan does to memory, nor a `while` loop or a recursion, which may not end. What
//! they need lives, and what lives needs what its type names. Entry points keep their parameters and results. A program without
//! entry points is a library: all its functions are kept as they are seen from outside.
//!
//! One marking pass over the whole program (`mark.rs`), then one rewrite (`sweep.rs`); both linear.

mod mark;
mod needs;
mod sweep;

use crate::ir::syntax::Program;
use crate::pass::Pass;

pub use needs::Needs;

/// The pass.
pub const fn pass<D: Needs>() -> Pass<D> {
    Pass {
        name: "dead-code",
        summary: "statements, results, parameters and functions that nothing needs go",
        run: |program, _| run(program),
    }
}

fn run<D: Needs>(program: Program<D>) -> Program<D> {
    let live = mark::mark(&program);
    sweep::sweep(program, &live)
}
