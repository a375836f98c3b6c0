//! Results written over what they are made of: a map that reads an element for the last time where it writes one may put the
//! new element in its place.
//!
//! ```text
//! let b = alloc.f32 n                                       let b = alloc.f32 n over a
//! do launch map (i < n) {                                   do launch map (i < n) {
//!   let x = load a[i]                                 ──►     ..
//!   ..
//!   do store b[i] = y
//! }                                                         }
//! do free a                                                 do free a
//! ```
//!
//! Whether the memory of `a` can be had is known at run time: it may have another name, also one of the caller. A
//! kernel in which points make arrays is left as it is, since a device that has too little memory for them runs it once more.

use crate::fired::fired;
use crate::hash::{HashMap, HashSet};
use crate::ir::id::Var;
use crate::ir::mem::{Extent, Kernel, KernelKind, Mem};
use crate::ir::scalar::{BinOp, ScalarOp};
use crate::ir::syntax::{Atom, Body, Exp, Program, Stm, Vars};
use crate::ir::types::ScalarType;
use crate::ir::walk::{all_bodies, deep, free_in_stm};
use crate::pass::Pass;

/// The pass.
pub const PASS: Pass<Mem> = Pass {
    name: "overwrite",
    summary: "maps write over what they read at the same place for the last time",
    run: |mut program, _| {
        let Program { vars, funs, .. } = &mut program;
        for fun in funs.iter_mut() {
            body(vars, &mut fun.body);
        }
        program
    },
};

/// Host code, and what is nested in it.
fn body(vars: &Vars, body_: &mut Body<Mem>) {
    for i in 0..body_.stms.len() {
        if let Exp::Op(Mem::Launch(kernel)) = &body_.stms[i].exp {
            let dying = dying(&body_.stms[i + 1..]);
            let pairs = pairs(vars, kernel, &dying);
            take(&mut body_.stms[..i], pairs);
        } else {
            let exp = &mut body_.stms[i].exp;
            deep(|| exp.bodies_mut(&mut |inner| body(vars, inner)));
        }
    }
}

/// The buffers that are freed next.
fn dying(after: &[Stm<Mem>]) -> Vec<Var> {
    let freed = after.iter().map_while(|stm| match &stm.exp {
        Exp::Op(Mem::Free(v)) => Some(*v),
        Exp::Op(_)
        | Exp::Atom(_)
        | Exp::Scalar(..)
        | Exp::Assert { .. }
        | Exp::Guard { .. }
        | Exp::If { .. }
        | Exp::Loop { .. }
        | Exp::Call { .. } => None,
    });
    freed.collect()
}

/// Lets buffers that are made right before take the memory of others, if they have elements of the same type.
fn take(before: &mut [Stm<Mem>], mut pairs: HashMap<Var, Var>) {
    for stm in before.iter_mut().rev() {
        match &mut stm.exp {
            Exp::Op(Mem::Alloc { over, .. }) => {
                if let Some(old) = pairs.remove(&stm.binds[0]) {
                    fired("overwrite/last-read");
                    *over = Some(old);
                }
            }
            Exp::Scalar(..) => {}
            Exp::Op(_)
            | Exp::Atom(_)
            | Exp::Assert { .. }
            | Exp::Guard { .. }
            | Exp::If { .. }
            | Exp::Loop { .. }
            | Exp::Call { .. } => return,
        }
    }
}

/// What a kernel does with buffers in the statements of its body itself.
#[derive(Default)]
struct Uses {
    /// Where each buffer is read, and the number of the statement that reads it last.
    loads: HashMap<Var, (Atom, usize)>,
    /// Where each is written, and the number of the statement.
    stores: HashMap<Var, (Atom, usize)>,
    /// Buffers that are used otherwise, or at several places.
    others: HashSet<Var>,
}

impl Uses {
    fn of(vars: &Vars, kernel: &Kernel) -> Self {
        let mut uses = Self::default();
        for (_, extent) in &kernel.space {
            if let Extent::Ragged { offsets, .. } = extent {
                uses.others.insert(*offsets);
            }
        }
        for (number, stm) in kernel.body.stms.iter().enumerate() {
            match &stm.exp {
                Exp::Op(Mem::Load { buffer, index }) => {
                    let first = *uses.loads.entry(*buffer).or_insert((*index, number));
                    if first.0 != *index {
                        uses.others.insert(*buffer);
                    }
                    uses.loads.insert(*buffer, (*index, number));
                }
                Exp::Op(Mem::Store { buffer, index, .. }) => {
                    if uses.stores.insert(*buffer, (*index, number)).is_some() {
                        uses.others.insert(*buffer);
                    }
                }
                Exp::Op(_)
                | Exp::Atom(_)
                | Exp::Scalar(..)
                | Exp::Assert { .. }
                | Exp::Guard { .. }
                | Exp::If { .. }
                | Exp::Loop { .. }
                | Exp::Call { .. } => uses.others.extend(free_in_stm(vars, stm)),
            }
        }
        uses
    }
}

/// Buffers that are written where dying ones have been read, each with one of these.
fn pairs(vars: &Vars, kernel: &Kernel, dying: &[Var]) -> HashMap<Var, Var> {
    let mut pairs = HashMap::default();
    if dying.is_empty() || !matches!(kernel.kind, KernelKind::Map) || runs_again(kernel) {
        return pairs;
    }
    let uses = Uses::of(vars, kernel);
    let numbers = Numbers::of(kernel);
    let mut stores: Vec<(Var, Atom, usize)> = uses
        .stores
        .iter()
        .filter(|(v, _)| !uses.others.contains(v) && !uses.loads.contains_key(v))
        .map(|(v, (index, number))| (*v, *index, *number))
        .collect();
    stores.sort_by_key(|(_, _, number)| *number);
    for old in dying {
        let Some((index, last)) = uses.loads.get(old) else {
            continue;
        };
        if uses.others.contains(old) || uses.stores.contains_key(old) {
            continue;
        }
        let fits = |(new, at, number): &(Var, Atom, usize)| {
            at == index && number > last && vars[*new].ty == vars[*old].ty
        };
        if let Some(found) = stores.iter().position(fits)
            && numbers.is_row_major(*index, &kernel.space)
        {
            pairs.insert(stores.remove(found).0, *old);
        }
    }
    pairs
}

/// Whether a device may have to run the kernel again: its points make arrays, or call what may make some.
fn runs_again(kernel: &Kernel) -> bool {
    let mut found = false;
    all_bodies(&kernel.body, &mut |body| {
        let mut exps = body.stms.iter().map(|stm| &stm.exp);
        found |= exps.any(|exp| matches!(exp, Exp::Op(Mem::Alloc { .. }) | Exp::Call { .. }));
    });
    found
}

/// The sums and products of indices in the body of a kernel.
struct Numbers(HashMap<Var, (BinOp, [Atom; 2])>);

impl Numbers {
    fn of(kernel: &Kernel) -> Self {
        let made = kernel.body.stms.iter().filter_map(|stm| match &stm.exp {
            Exp::Scalar(ScalarOp::Bin(op @ (BinOp::Add | BinOp::Mul), ScalarType::I64), args) => {
                Some((stm.binds[0], (*op, [args[0], args[1]])))
            }
            Exp::Scalar(..)
            | Exp::Atom(_)
            | Exp::Op(_)
            | Exp::Assert { .. }
            | Exp::Guard { .. }
            | Exp::If { .. }
            | Exp::Loop { .. }
            | Exp::Call { .. } => None,
        });
        Self(made.collect())
    }

    /// Whether an index is the row-major number of the point, which no other point has.
    fn is_row_major(&self, index: Atom, space: &[(Var, Extent)]) -> bool {
        let Some(((last, extent), outer)) = space.split_last() else {
            return false;
        };
        let last = Atom::Var(*last);
        match extent {
            Extent::Regular(_) if outer.is_empty() => index == last,
            Extent::Regular(size) => self.parts(BinOp::Add, index, last).is_some_and(|rows| {
                let outer_number = self.parts(BinOp::Mul, rows, *size);
                outer_number.is_some_and(|number| self.is_row_major(number, outer))
            }),
            Extent::Ragged { start, .. } => {
                self.parts(BinOp::Add, index, last) == Some(Atom::Var(*start))
            }
        }
    }

    /// The other operand of a sum or product in which this is one.
    fn parts(&self, op: BinOp, of: Atom, one: Atom) -> Option<Atom> {
        let (found, [a, b]) = self.0.get(&of.as_var()?)?;
        if *found != op {
            return None;
        }
        if *b == one {
            Some(*a)
        } else {
            (*a == one).then_some(*b)
        }
    }
}
