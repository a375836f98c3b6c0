//! Fusion: operators that traverse the same arrays, or one the results of another, become one traversal.
//!
//! ```text
//! let ys = map n (xs) \(x) { let y = mul.i32(x, x); yield y }
//! let s = map n (ys) \(z) { yield z } reduce (0) \(a, b) { .. }
//! ──►
//! let s = map n (xs) \(x) { let y = mul.i32(x, x); yield y } reduce (0) \(a, b) { .. }
//! ```
//!
//! | rule | what becomes one | where |
//! |---|---|---|
//! | map-map, map-reduce, map-scan, map-filter, map-flat-map, map-hist, map-scatter, map-accumulate | a map and what traverses its results | `vertical.rs` |
//! | reduce-map, scan-map | a fold that also maps, and what traverses what it maps | `vertical.rs` |
//! | repeated-map | a map that only widens numbers, and each that traverses its results | `repeat.rs` |
//! | filter-reduce, filter-hist, filter-scatter | a filter and what takes all that it keeps | `filter.rs` |
//! | filter-map, filter-filter | a filter and a map or filter of what it keeps | `filter.rs` |
//! | filter-length | a filter of which only the number is wanted | `filter.rs` |
//! | map-map, reduce-reduce, scan-scan, map-reduce, map-scan, hist-hist, scatter-scatter | neighbours that share an input | `horizontal.rs` |
//! | map-rows | rows that maps make, and what traverses all of their elements | `flat.rs` |
//! | map-counter | what an operator finds by its counter, and what makes it | `counter.rs` |
//! | map-concat | an operator and the concatenations that it traverses, rotations among them | `concat.rs` |
//! | map-index, map-slice, map-rearrange, map-reshape | views of what maps make become views of what they read | `index.rs` |
//!
//! It goes by the components of tuples: results of a producer that are also read elsewhere stay results of the fused operator. No
//! work is done twice but the widening of numbers: an operator applies its lambda once to each element. What makes very many results is left alone. An operator
//! is not moved past a statement that consumes what it reads, nor into an operator that does. Fused operators consume nothing
//! that their parts did not consume.
//!
//! What does not become one: reductions and scans (no operation of the flat dialect is both), what reads the results of
//! a fold, reductions of arrays with anything but the map before them (they are cut in pieces only if they are alone), and, in host code, a
//! map over rows that would take the second dimension of a perfectly nested pair of maps away. There are no `stream_seq` and
//! `stream_par` (thesis 7.1): an operator that maps, scans and reduces at once becomes one loop without arrays between
//! its parts where it is executed sequentially, which is what the thesis has the stream forms for.

mod concat;
mod counter;
mod filter;
mod flat;
mod horizontal;
mod index;
mod legal;
mod narrow;
mod parts;
mod repeat;
mod uses;
mod vertical;

use crate::analysis::aliases::Aliases;
use crate::ir::id::{FunId, IdVec, Var};
use crate::ir::scalar::Const;
use crate::ir::soac::Soac;
use crate::ir::span::Spans;
use crate::ir::syntax::{Atom, Body, Exp, Fun, Program, Stm, Vars};
use crate::ir::walk::deep;
use crate::pass::Pass;
use parts::traversal;
use uses::Uses;

/// The pass.
pub const fn pass() -> Pass<Soac> {
    Pass {
        name: "fuse",
        summary: "operators that traverse the same arrays, or one the results of another, become one",
        run: |program, _| run(program),
    }
}

fn run(mut program: Program<Soac>) -> Program<Soac> {
    for id in program.funs.ids().collect::<Vec<_>>() {
        let empty = Body {
            stms: Vec::new(),
            result: Vec::new(),
        };
        let mut body = std::mem::replace(&mut program.funs[id].body, empty);
        let mut fuse = Fuse {
            aliases: Aliases::of(&body),
            vars: &mut program.vars,
            funs: &program.funs,
            sequential: false,
        };
        fuse.body(&mut body, true);
        program.funs[id].body = body;
    }
    program
}

/// Fuses the operators of a body that one thread executes: operators on arrays need not stay alone there.
pub(super) fn in_sequence(vars: &mut Vars, funs: &IdVec<FunId, Fun<Soac>>, body: &mut Body<Soac>) {
    let mut fuse = Fuse {
        aliases: Aliases::of(body),
        vars,
        funs,
        sequential: true,
    };
    fuse.body(body, false);
}

struct Fuse<'p> {
    vars: &'p mut Vars,
    funs: &'p IdVec<FunId, Fun<Soac>>,
    aliases: Aliases,
    /// Whether one thread executes the code.
    sequential: bool,
}

impl Fuse<'_> {
    /// Fuses the statements of a body, then those of the bodies in it, where fusion has brought more together.
    fn body(&mut self, body: &mut Body<Soac>, host: bool) {
        let operators = body.stms.iter_mut();
        let operators = operators.filter_map(|stm| traversal(&mut stm.exp)).count();
        if operators > 0 {
            for stm in &mut body.stms {
                self.count_only(stm);
            }
        }
        if operators > 0 {
            self.narrow(body);
            self.rows(body);
            self.views(body);
            self.concatenations(body);
            self.counters(body);
        }
        if operators > 1 {
            self.statements(body, host);
        }
        for stm in &mut body.stms {
            let inside = host && traversal(&mut stm.exp).is_none();
            stm.exp
                .bodies_mut(&mut |inner| deep(|| self.body(inner, inside)));
        }
    }

    /// First what reads one another, then what reads the same.
    fn statements(&mut self, body: &mut Body<Soac>, host: bool) {
        let mut uses = Uses::of(body, self.vars, self.funs);
        for at in 0..body.stms.len() {
            let mut next = Some(at);
            while let Some(at) = next {
                next = self.vertical(body, &mut uses, at, host);
            }
        }
        for at in 0..body.stms.len() {
            // What was before the filter may now be before what takes its place.
            while self.filtered(body, &mut uses, at)
                || self.vertical(body, &mut uses, at, host).is_some()
            {}
        }
        self.horizontal(body, &mut uses, host);
        body.stms.retain(|stm| !is_nothing(stm));
    }
}

/// What stands where a statement has been. Nothing is left in its place until the body is done, so that statements
/// keep their numbers.
const fn nothing() -> Stm<Soac> {
    Stm {
        binds: Vec::new(),
        certs: Vec::new(),
        exp: Exp::Atom(Atom::Const(Const::Bool(false))),
        span: Spans::NONE,
    }
}

fn is_nothing(stm: &Stm<Soac>) -> bool {
    stm.binds.is_empty() && matches!(stm.exp, Exp::Atom(_))
}

/// Takes a statement away.
fn take(stm: &mut Stm<Soac>) -> Stm<Soac> {
    std::mem::replace(stm, nothing())
}

/// Adds certificates that are not there yet.
fn add_certs(to: &mut Vec<Var>, certs: Vec<Var>) {
    for cert in certs {
        if !to.contains(&cert) {
            to.push(cert);
        }
    }
}

/// Whether an atom is a variable among others.
fn is_among(atom: Atom, vars: &[Var]) -> bool {
    atom.as_var().is_some_and(|v| vars.contains(&v))
}
