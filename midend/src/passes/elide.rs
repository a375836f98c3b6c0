//! Copies that nobody could tell from what they copy are no copies.
//!
//! ```text
//! let a = map ..                          let a = map ..
//! let b = copy a                  ──►     let b = a
//! let c = update b[i] = x                 let c = update b[i] = x
//! ```
//!
//! A copy goes if neither it nor what it copies is ever consumed, nor must be a fresh result; or if what it copies was
//! made in the same body and is not used any more. Arrays that may share memory are one *class* (union of all that is
//! bound to, passed on or yielded as one another, whichever way is taken); classes know whether something of them is consumed.
//! Copies of parts and of permutations stay: they are how programs ask for another layout.

use crate::fired::fired;
use crate::hash::HashSet;
use crate::ir::array::ArrayOp;
use crate::ir::dialect::Dialect;
use crate::ir::id::{FunId, Id, IdVec, Var};
use crate::ir::soac::Soac;
use crate::ir::syntax::{Atom, Body, Exp, Fun, Param, Program, Stm, Vars};
use crate::ir::types::Type;
use crate::ir::walk::{self, deep};
use crate::pass::Pass;

mod classes;

use classes::Classes;

/// The pass.
pub const PASS: Pass<Soac> = Pass {
    name: "elide-copies",
    summary: "copies that nobody could tell from what they copy go",
    run: |program, _| run(program),
};

/// Which parameters and results of a function are unique.
type Unique = (Vec<bool>, Vec<bool>);

fn unique(funs: &IdVec<FunId, Fun<Soac>>) -> Vec<Unique> {
    let of = |fun: &Fun<Soac>| {
        let flags = |params: &[Param]| params.iter().map(|p| p.unique).collect();
        (flags(&fun.params), flags(&fun.results))
    };
    funs.iter().map(of).collect()
}

/// The offsets that flat maps bind and that nobody consumes, nor wants to be fresh, under whatever name.
pub(super) fn kept_offsets(vars: &Vars, funs: &IdVec<FunId, Fun<Soac>>) -> HashSet<Var> {
    let mut kept = HashSet::default();
    let mut of_all = None;
    for fun in funs.iter() {
        let mut bound = Vec::new();
        walk::all_stms(&fun.body, &mut |stm| {
            if matches!(stm.exp, Exp::Op(Soac::FlatMap { .. })) {
                bound.extend(stm.binds.first().copied());
            }
        });
        if !bound.is_empty() {
            let unique = of_all.get_or_insert_with(|| unique(funs));
            let mut classes = Classes::of(vars, fun, unique);
            kept.extend(bound.into_iter().filter(|&v| classes.are_shared(v, v)));
        }
    }
    kept
}

fn run(program: Program<Soac>) -> Program<Soac> {
    let unique = unique(&program.funs);
    let Program {
        vars,
        mut funs,
        spans,
    } = program;
    for fun in funs.iter_mut() {
        let mut copies = 0_usize;
        let mut size = 0_usize;
        walk::all_stms(&fun.body, &mut |stm| {
            copies += usize::from(copied(stm).is_some());
            size += 1;
        });
        // Each copy looks at what follows it.
        if copies > 0 && copies.saturating_mul(size) < 2_000_000 {
            let mut elide = Elide {
                classes: Classes::of(&vars, fun, &unique),
                vars: &vars,
                next: 0,
            };
            let mut body = take(fun);
            elide.body(&mut body);
            fun.body = body;
        }
    }
    Program { vars, funs, spans }
}

fn take(fun: &mut Fun<Soac>) -> Body<Soac> {
    let empty = Body {
        stms: Vec::new(),
        result: Vec::new(),
    };
    std::mem::replace(&mut fun.body, empty)
}

/// What a statement copies, if it is a copy.
fn copied(stm: &Stm<Soac>) -> Option<(Var, Var)> {
    match (&stm.exp, &stm.binds[..]) {
        (Exp::Op(Soac::Array(ArrayOp::Copy(a))), &[v]) => Some((v, *a)),
        (
            Exp::Op(_)
            | Exp::Atom(_)
            | Exp::Scalar(..)
            | Exp::Assert { .. }
            | Exp::Guard { .. }
            | Exp::If { .. }
            | Exp::Loop { .. }
            | Exp::Call { .. },
            _,
        ) => None,
    }
}

struct Elide<'v> {
    vars: &'v Vars,
    classes: Classes,
    /// The number of the next body.
    next: usize,
}

impl Elide<'_> {
    fn body(&mut self, body: &mut Body<Soac>) {
        let number = self.next;
        self.next += 1;
        for i in 0..body.stms.len() {
            if let Some((v, a)) = copied(&body.stms[i])
                && self.classes.is_whole(a)
                && let Some(rule) = self.needless((v, a), number, &body.stms[i + 1..], &body.result)
            {
                fired(rule);
                self.classes.union(v, a);
                body.stms[i].exp = Exp::Atom(a.into());
            }
            let stm = &mut body.stms[i];
            deep(|| stm.exp.bodies_mut(&mut |inner| self.body(inner)));
        }
    }

    /// Why a copy need not be made.
    fn needless(
        &mut self,
        (v, a): (Var, Var),
        body: usize,
        rest: &[Stm<Soac>],
        result: &[Atom],
    ) -> Option<&'static str> {
        if self.classes.are_shared(v, a) {
            return Some("elide-copies/never-consumed");
        }
        let last = self.is_last_use(body, a, rest, result);
        last.then_some("elide-copies/last-use")
    }

    /// Whether all that may share memory with `a` was made in this body and is not used any more.
    fn is_last_use(&mut self, body: usize, a: Var, rest: &[Stm<Soac>], result: &[Atom]) -> bool {
        if !self.classes.is_made_in(a, body) {
            return false;
        }
        let mut used = false;
        for stm in rest {
            for v in walk::free_in_stm(self.vars, stm) {
                used |= self.is_array(v) && self.classes.same(v, a);
            }
            if used {
                return false;
            }
        }
        let results = result.iter().filter_map(|r| r.as_var());
        for v in results {
            used |= self.is_array(v) && self.classes.same(v, a);
        }
        !used
    }

    fn is_array(&self, v: Var) -> bool {
        self.vars[v].ty.is_consumable()
    }
}
