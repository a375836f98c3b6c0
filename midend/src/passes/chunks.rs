//! Loops that go through one sequence become one, so that its elements are read or computed once.
//!
//! ```text
//! let a, p = loop (a = 0, p = 0) while p < n { k = next 0 (p, n - p)   xs = ..   ys = map (xs) f   .. }
//! let b, q = loop (b = 1, q = 0) while q < n { l = next 1 (q, n - q)   zs = ..   .. }
//! ──►
//! let a, b, p = loop (a = 0, b = 1, p = 0) while p < n { k = next 0 (p, n - p)   xs = ..   ys = map (xs) f   ..   .. }
//! let q = p
//! ```
//!
//! Two loops go through one sequence if they would do the same steps with chunks of the same sizes, and compute or read some
//! array alike. Then the second takes what the first has computed. It must not need the result of the first; what it
//! needs of the statements between them is computed before both.
//!
//! Lowering runs it: whether a parameter is gone through more than once is a question about its outcome. Sequences that are
//! consumed in different branches, or inside of a loop and outside of it, stay apart.

mod ends;
mod steps;

use crate::analysis::aliases::{Aliases, consumed};
use crate::analysis::congruence::{Congruence, Table};
use crate::fired::fired;
use crate::hash::HashSet;
use crate::ir::array::{ArrayOp, StreamOp};
use crate::ir::id::{FunId, IdVec, SpanId, Var};
use crate::ir::rename::{Subst, fresh, substitute, substitute_type};
use crate::ir::soac::Soac;
use crate::ir::syntax::{Atom, Body, Exp, Fun, Program, Stm, Vars};
use crate::ir::walk::{all_stms, deep, free_in_stm};
use crate::pass::Pass;
use std::collections::BTreeSet;
use steps::{Walk, can_be_shared, is_iota, reads, step};

/// The pass.
pub const PASS: Pass<Soac> = Pass {
    name: "chunks",
    summary: "loops that go through one sequence become one",
    run: |program, _| run(program),
};

/// Makes one loop of those that go through one sequence.
pub fn run(mut program: Program<Soac>) -> Program<Soac> {
    for id in program.funs.ids().collect::<Vec<_>>() {
        let mut steps = 0;
        all_stms(&program.funs[id].body, &mut |stm| {
            steps += usize::from(step(&stm.exp).is_some_and(|step| step.op == StreamOp::Next));
        });
        if steps < 2 {
            continue;
        }
        let mut body = std::mem::replace(&mut program.funs[id].body, empty());
        let mut chunks = Chunks {
            vars: &mut program.vars,
            funs: &program.funs,
        };
        chunks.body(&mut body);
        program.funs[id].body = body;
    }
    program
}

struct Chunks<'p> {
    vars: &'p mut Vars,
    funs: &'p IdVec<FunId, Fun<Soac>>,
}

/// One loop that was two.
struct One {
    stm: Stm<Soac>,
    /// Variables that the second bound, each with that of the first which it is now.
    equal: Vec<(Var, Var)>,
}

/// What came of an attempt.
enum Joined {
    /// There is one loop.
    One(Box<One>),
    /// These are computed alike, but somebody writes over them.
    Unless(Vec<Var>),
    /// They stay two.
    Two,
}

impl Chunks<'_> {
    fn body(&mut self, body: &mut Body<Soac>) {
        for stm in &mut body.stms {
            deep(|| stm.exp.bodies_mut(&mut |inner| self.body(inner)));
        }
        while self.step(body) {}
    }

    /// Makes one loop of the first two that can be.
    fn step(&mut self, body: &mut Body<Soac>) -> bool {
        let walks = body.stms.iter().enumerate();
        let walks = walks.filter_map(|(i, stm)| Walk::of(stm).map(|_| i));
        let walks: Vec<usize> = walks.collect();
        if walks.len() < 2 {
            return false;
        }
        let known = scalars(self.vars, body);
        for (n, &second) in walks.iter().enumerate() {
            for &first in &walks[..n] {
                let Some(before) = self.moves(body, (first, second)) else {
                    continue;
                };
                let Some(one) = self.join(&known, &body.stms[first], &body.stms[second]) else {
                    continue;
                };
                fired("chunks/loops");
                place(body, (first, second), &before, *one);
                return true;
            }
        }
        false
    }

    /// Which statements between two must be executed before the second, if that can be done before the first, too.
    fn moves(&self, body: &Body<Soac>, (first, second): (usize, usize)) -> Option<BTreeSet<usize>> {
        let mut needed: HashSet<Var> = HashSet::default();
        needed.extend(free_in_stm(self.vars, &body.stms[second]));
        let mut before = BTreeSet::new();
        for at in (first..second).rev() {
            let stm = &body.stms[at];
            if stm.binds.iter().any(|v| needed.contains(v)) {
                if at == first {
                    return None;
                }
                before.insert(at);
                needed.extend(free_in_stm(self.vars, stm));
            }
        }
        let mut passed = free_in_stm(self.vars, &body.stms[first]);
        let mut aliases = None;
        for at in first + 1..=second {
            let stm = &body.stms[at];
            if at < second && !before.contains(&at) {
                passed.extend(free_in_stm(self.vars, stm));
                continue;
            }
            let mut taken = Vec::new();
            consumed(stm, self.funs, &mut |v| taken.push(v));
            if !taken.is_empty() {
                let aliases = aliases.get_or_insert_with(|| Aliases::of(body));
                if aliases.meet_any(taken, passed.clone()) {
                    return None;
                }
            }
        }
        Some(before)
    }

    /// One loop for two.
    fn join(
        &mut self,
        known: &Congruence,
        first: &Stm<Soac>,
        second: &Stm<Soac>,
    ) -> Option<Box<One>> {
        let mut apart = HashSet::default();
        loop {
            match self.attempt(known, (first, second), &apart) {
                Joined::One(one) => return Some(one),
                Joined::Unless(vars) => apart.extend(vars),
                Joined::Two => return None,
            }
        }
    }

    /// The same, where what binds one of some variables is computed twice.
    fn attempt(
        &mut self,
        known: &Congruence,
        (first, second): (&Stm<Soac>, &Stm<Soac>),
        apart: &HashSet<Var>,
    ) -> Joined {
        let (Some(a), Some(b)) = (Walk::of(first), Walk::of(second)) else {
            return Joined::Two;
        };
        let mut known = known.clone();
        let mut subst = Subst::new();
        for (i, j) in a.control().into_iter().zip(b.control()) {
            let (to, from) = (a.params[i], b.params[j]);
            if known.representative(to.init) != known.representative(from.init) {
                return Joined::Two;
            }
            known.equate(from.var, to.var.into());
            subst.insert(from.var, to.var);
        }
        let mut table = Table::new();
        let once = |stm: &&Stm<Soac>| stm.binds.iter().all(|v| !apart.contains(v));
        for stm in a.body.stms.iter().filter(once) {
            if can_be_shared(stm, self.funs) {
                table.add(&known, stm);
            }
        }
        let (mut own, mut shared, mut useful) = (Vec::new(), Vec::new(), false);
        let mut common: HashSet<Var> = HashSet::default();
        for stm in &b.body.stms {
            let found = match can_be_shared(stm, self.funs) {
                true => table.find(self.vars, &mut known, stm),
                false => None,
            };
            let Some(found) = found else {
                own.push(stm.clone());
                continue;
            };
            common.extend(found.binds.iter().copied());
            for (from, to) in stm.binds.iter().zip(&found.binds) {
                subst.insert(*from, *to);
                if self.vars[*from].ty.is_array() {
                    shared.push((*from, *to));
                    useful |= !is_iota(&found.exp);
                }
            }
        }
        let next = |walk: &Walk<'_>, i: usize| known.representative(walk.body.result[i]);
        let mut controls = a.control().into_iter().zip(b.control());
        let apart = controls.any(|(i, j)| next(&a, i) != next(&b, j));
        let both_read = |program| {
            reads(a.body, program)
                .intersection(&reads(b.body, program))
                .next()
                .is_some()
        };
        if !useful || apart && !both_read(self.funs) {
            return Joined::Two;
        }
        let own = Body {
            stms: own,
            result: b.body.result.clone(),
        };
        if reads(a.body, self.funs)
            .intersection(&reads(&own, self.funs))
            .next()
            .is_some()
        {
            return Joined::Two;
        }
        let aliases = aliases([first, second], &shared);
        let mut taken = Vec::new();
        for stm in [first, second] {
            consumed(stm, self.funs, &mut |v| taken.push(v));
        }
        let taken = aliases.closure(taken);
        let taken: Vec<Var> = shared
            .iter()
            .map(|(_, to)| *to)
            .filter(|v| taken.contains(v))
            .collect();
        if !taken.is_empty() {
            return Joined::Unless(taken);
        }
        let shared: HashSet<Var> = shared.into_iter().map(|(_, to)| to).collect();
        let shown = |a: &Atom| a.as_var().is_some_and(|v| aliases.meets(v, &shared));
        let copied: Vec<bool> = b.body.result.iter().map(shown).collect();
        if apart {
            return match self.ends((first, &a), (second, &b), (own, &common), (&subst, &copied)) {
                Some(stm) => Joined::One(Box::new(One {
                    stm,
                    equal: Vec::new(),
                })),
                None => Joined::Two,
            };
        }
        let equal = a.control().into_iter().zip(b.control());
        let equal: Vec<(Var, Var)> = equal
            .map(|(i, j)| (second.binds[j], first.binds[i]))
            .collect();
        let stm = self.one((first, &a), (second, &b), own, (&subst, &copied, &equal));
        Joined::One(Box::new(One { stm, equal }))
    }

    /// Makes a loop of two that read one sequence, of which one may end before the other. `common` is bound by what both do.
    fn ends(
        &mut self,
        (first, a): (&Stm<Soac>, &Walk<'_>),
        (second, b): (&Stm<Soac>, &Walk<'_>),
        (mut own, common): (Body<Soac>, &HashSet<Var>),
        (subst, copied): (&Subst, &[bool]),
    ) -> Option<Stm<Soac>> {
        if !ends::goes_on_when_full(a) || !ends::goes_on_when_full(b) {
            return None;
        }
        let is_common = |stm: &Stm<Soac>| stm.binds.iter().any(|v| common.contains(v));
        let (stms, alone): (Vec<_>, Vec<_>) = a.body.stms.iter().cloned().partition(is_common);
        let is_next = |stm: &&Stm<Soac>| step(&stm.exp).is_some_and(|s| s.op == StreamOp::Next);
        let count = stms.iter().find(is_next)?.binds[0];
        // In the second, its own place and whether there is more keep their names.
        let mut inner = subst.clone();
        for j in b.control() {
            inner.insert(b.params[j].var, b.params[j].var);
        }
        substitute(self.vars, &inner, &mut own);
        for (j, result) in own.result.iter_mut().enumerate() {
            if let Atom::Var(v) = *result
                && copied[j]
            {
                *result = Atom::Var(copy_of(self.vars, &mut own.stms, v, second.span));
            }
        }
        let halves = [
            ends::Half {
                stm: first,
                walk: a,
                own: Body {
                    stms: alone,
                    result: a.body.result.clone(),
                },
            },
            ends::Half {
                stm: second,
                walk: b,
                own,
            },
        ];
        ends::one(self.vars, self.funs, ends::Both { stms, count }, halves)
    }

    /// Makes the loop. Of the second one are left what it computes on its own, which of its results are copied, and which
    /// of the variables that it bound are now those of the first.
    fn one(
        &mut self,
        (first, a): (&Stm<Soac>, &Walk<'_>),
        (second, b): (&Stm<Soac>, &Walk<'_>),
        mut own: Body<Soac>,
        (subst, copied, equal): (&Subst, &[bool], &[(Var, Var)]),
    ) -> Stm<Soac> {
        substitute(self.vars, subst, &mut own);
        let outside = Subst::of(
            equal.iter().map(|(v, _)| *v),
            equal.iter().map(|(_, to)| Atom::Var(*to)),
        );
        let (mut params, mut body, mut binds) =
            (a.params.to_vec(), a.body.clone(), first.binds.clone());
        body.stms.extend(own.stms);
        for (j, result) in own.result.into_iter().enumerate() {
            if b.control().contains(&j) {
                continue;
            }
            substitute_type(self.vars, subst, b.params[j].var);
            substitute_type(self.vars, &outside, second.binds[j]);
            params.push(b.params[j]);
            binds.push(second.binds[j]);
            let result = match result {
                Atom::Var(v) if copied[j] => {
                    Atom::Var(copy_of(self.vars, &mut body.stms, v, second.span))
                }
                Atom::Var(_) | Atom::Const(_) => result,
            };
            body.result.push(result);
        }
        let mut certs = first.certs.clone();
        certs.extend(second.certs.iter().filter(|c| !first.certs.contains(c)));
        Stm {
            binds,
            certs,
            exp: Exp::Loop {
                params,
                form: a.form.clone(),
                body,
            },
            span: first.span,
        }
    }
}

/// What the scalars of a body are equal to.
fn scalars(vars: &Vars, body: &Body<Soac>) -> Congruence {
    let (mut known, mut table) = (Congruence::default(), Table::new());
    for stm in &body.stms {
        match (&stm.exp, &stm.binds[..]) {
            (Exp::Atom(a), [v]) => known.equate(*v, *a),
            (Exp::Scalar(op, args), [v]) if let Some(a) = ends::folded(&known, *op, args) => {
                known.equate(*v, a);
            }
            (Exp::Scalar(..), _) if table.find(vars, &mut known, stm).is_none() => {
                table.add(&known, stm);
            }
            _ => {}
        }
    }
    known
}

/// What may share memory in two loops, where arrays of the second are those of the first.
fn aliases(loops: [&Stm<Soac>; 2], shared: &[(Var, Var)]) -> Aliases {
    let mut aliases = Aliases::default();
    loops.into_iter().for_each(|stm| aliases.learn(stm));
    for (from, to) in shared {
        aliases.learn(&copy(*from, *to, loops[1].span));
    }
    aliases
}

/// A copy of an array that others have, too.
fn copy_of(vars: &mut Vars, stms: &mut Vec<Stm<Soac>>, v: Var, span: SpanId) -> Var {
    fired("chunks/copy");
    let copy = fresh(vars, &mut Subst::new(), v);
    stms.push(Stm {
        binds: vec![copy],
        certs: Vec::new(),
        exp: ArrayOp::Copy(v).into(),
        span,
    });
    copy
}

/// One variable as another.
fn copy(v: Var, of: Var, span: SpanId) -> Stm<Soac> {
    Stm {
        binds: vec![v],
        certs: Vec::new(),
        exp: Exp::Atom(of.into()),
        span,
    }
}

/// Puts a loop in the place of two.
fn place(
    body: &mut Body<Soac>,
    (first, second): (usize, usize),
    before: &BTreeSet<usize>,
    One { stm, equal }: One,
) {
    let (mut early, mut late) = (Vec::new(), Vec::new());
    let copies = equal
        .into_iter()
        .map(|(v, of)| copy(v, of, stm.span))
        .collect::<Vec<_>>();
    for (at, stm) in (first..).zip(body.stms.splice(first..=second, [])) {
        if before.contains(&at) {
            early.push(stm);
        } else if at != first && at != second {
            late.push(stm);
        }
    }
    early.push(stm);
    early.extend(copies);
    early.extend(late);
    body.stms.splice(first..first, early);
}

const fn empty() -> Body<Soac> {
    Body {
        stms: Vec::new(),
        result: Vec::new(),
    }
}
