//! Numbers that kernels make and only kernels use stay on the device: loads, and the arithmetic on what they load, sink into the kernels that use
//! them (as LLVM's pass `sink` moves instructions to their uses). The host would wait for the device, and the device then for the host.
//!
//! ```text
//! do launch red .. out (a)             do launch red .. out (a)
//! let s = load a[0]                    do launch map (i < n) {
//! let m = div.f32(s, k)                  let s = load a[0]
//! do free a                      ──►     let m = div.f32(s, k)
//! do launch map (i < n) {                let x = load xs[i]
//!   let x = load xs[i]                   do store ys[i] = x - m
//!   do store ys[i] = x - m             }
//! }                                    do free a
//! ```
//!
//! Every point does again what the host did once, so that this is for few operations, whose cost is counted in additions ([`MOST_WORK`]), and
//! for devices that work while the host goes on ([`Options::asynchronous`](crate::pass::Options::asynchronous)). What is loaded is an element
//! of a small buffer, made in the same block and not written between the load and the kernels. Extents of kernels, guards, checks and
//! branches of the host need their numbers on the host.

use crate::fired::fired;
use crate::hash::{HashMap, HashSet};
use crate::ir::id::Var;
use crate::ir::mem::{Kernel, KernelKind, Mem};
use crate::ir::rename::{self, Subst, substitute};
use crate::ir::syntax::{Body, Exp, Program, Stm, Vars};
use crate::ir::walk::{deep, free_in_body, free_in_scope, free_in_stm};
use crate::pass::{Pass, PassCx};
use crate::plan::additions;
use std::collections::BTreeSet;
use std::ops::Range;

/// The pass.
pub const PASS: Pass<Mem> = Pass {
    name: "sink",
    summary: "numbers that kernels make and only kernels use are not read by the host",
    run: |mut program, cx: &mut PassCx<'_>| {
        if cx.options.asynchronous {
            let Program { vars, funs, .. } = &mut program;
            for fun in funs.iter_mut() {
                body(vars, &mut fun.body);
            }
        }
        program
    },
};

/// How many additions a point of a kernel may do instead of the host.
const MOST_WORK: f64 = 48.0;
/// The most elements of a buffer that lives longer for it.
const MOST_ELEMENTS: i64 = 64;

/// Host code, and what is nested in it.
fn body(vars: &mut Vars, body_: &mut Body<Mem>) {
    for stm in &mut body_.stms {
        if !matches!(stm.exp, Exp::Op(Mem::Launch(_))) {
            deep(|| stm.exp.bodies_mut(&mut |inner| body(vars, inner)));
        }
    }
    let mut banned = HashSet::default();
    // What is too costly is left out at once, so that this is done twice at most.
    while let Some(sunk) = Sunk::of(vars, body_, &banned) {
        let costly = sunk.too_costly(vars, body_);
        if costly.is_empty() {
            return sunk.carry_out(vars, body_);
        }
        banned.extend(costly);
    }
}

/// What of a block sinks.
struct Sunk {
    /// The statements, by what they bind.
    defs: HashMap<Var, usize>,
    /// For each buffer that is loaded from, the last kernel that does so then.
    last: HashMap<Var, usize>,
}

impl Sunk {
    /// What sinks; nothing if that is nothing.
    fn of(vars: &Vars, body: &Body<Mem>, banned: &HashSet<Var>) -> Option<Self> {
        let candidates = candidates(body, banned);
        if candidates.is_empty() {
            return None;
        }
        // Backwards: what is needed on the host, and the last kernel that uses each number.
        let mut needed: HashSet<Var> = HashSet::default();
        let mut last: HashMap<Var, usize> = HashMap::default();
        needed.extend(body.result.iter().filter_map(|a| a.as_var()));
        let mut changes = Changes::of(&candidates);
        for (at, stm) in body.stms.iter().enumerate().rev() {
            needed.extend(&stm.certs);
            let used = stm.binds.first().and_then(|v| last.get(v)).copied();
            if let Exp::Op(Mem::Launch(kernel)) = &stm.exp {
                let inside = free_in_body(vars, &kernel.body);
                needed.extend(needed_by(vars, stm, kernel, &inside));
                for v in inside {
                    last.entry(v).or_insert(at);
                }
            } else if let (Exp::Scalar(_, args), Some(used)) = (&stm.exp, used)
                && !needed.contains(&stm.binds[0])
            {
                for v in args.iter().filter_map(|a| a.as_var()) {
                    let entry = last.entry(v).or_insert(used);
                    *entry = used.max(*entry);
                }
            } else if let Exp::Op(Mem::Load { index, .. }) = &stm.exp {
                needed.extend(index.as_var());
            } else if !matches!(stm.exp, Exp::Op(Mem::Free(_))) {
                // What nothing uses stays where it is, too.
                needed.extend(free_in_stm(vars, stm));
            }
            changes.learn(vars, stm, at);
        }
        // Forwards: loads, and what is computed from them.
        let mut sunk = Self {
            defs: HashMap::default(),
            last: HashMap::default(),
        };
        for (at, stm) in body.stms.iter().enumerate() {
            let Some(&v) = stm.binds.first() else {
                continue;
            };
            let (false, Some(&until)) = (needed.contains(&v), last.get(&v)) else {
                continue;
            };
            let is_sunk = if let Exp::Op(Mem::Load { buffer, .. }) = &stm.exp {
                candidates.contains_key(&v) && changes.has_none(*buffer, at + 1..until + 1)
            } else if let Exp::Scalar(_, args) = &stm.exp {
                let mut args = args.iter().filter_map(|a| a.as_var());
                args.any(|arg| sunk.defs.contains_key(&arg))
            } else {
                false
            };
            if is_sunk {
                sunk.defs.insert(v, at);
            }
            if let (true, Exp::Op(Mem::Load { buffer, .. })) = (is_sunk, &stm.exp) {
                let entry = sunk.last.entry(*buffer).or_insert(until);
                *entry = until.max(*entry);
            }
        }
        (!sunk.defs.is_empty()).then_some(sunk)
    }

    /// The sunk statements that these variables need, in their order.
    fn chain(&self, body: &Body<Mem>, used: &[Var]) -> Vec<usize> {
        let mut chain: Vec<usize> = Vec::new();
        let mut wanted: Vec<Var> = used.to_vec();
        while let Some(v) = wanted.pop() {
            let Some(&at) = self.defs.get(&v) else {
                continue;
            };
            if chain.contains(&at) {
                continue;
            }
            chain.push(at);
            body.stms[at]
                .exp
                .operands(&mut |a| wanted.extend(a.as_var()));
        }
        chain.sort_unstable();
        chain
    }

    /// The loads of kernels whose points would have too much to do.
    fn too_costly(&self, vars: &Vars, body: &Body<Mem>) -> Vec<Var> {
        let mut costly = Vec::new();
        for stm in &body.stms {
            let Exp::Op(Mem::Launch(kernel)) = &stm.exp else {
                continue;
            };
            let chain = self.chain(body, &free_in_body(vars, &kernel.body));
            let cost = |at: &usize| {
                if let Exp::Scalar(op, _) = &body.stms[*at].exp {
                    additions(*op)
                } else {
                    1.0
                }
            };
            if chain.iter().map(cost).sum::<f64>() > MOST_WORK {
                let loads = chain.iter().map(|at| &body.stms[*at]);
                let loads = loads.filter(|stm| matches!(stm.exp, Exp::Op(Mem::Load { .. })));
                costly.extend(loads.map(|stm| stm.binds[0]));
            }
        }
        costly
    }

    /// Moves statements into kernels, and frees behind them.
    fn carry_out(self, vars: &mut Vars, body: &mut Body<Mem>) {
        for at in 0..body.stms.len() {
            let Exp::Op(Mem::Launch(kernel)) = &body.stms[at].exp else {
                continue;
            };
            let chain = self.chain(body, &free_in_body(vars, &kernel.body));
            if chain.is_empty() {
                continue;
            }
            fired("sink/kernel");
            let mut subst = Subst::new();
            let moved: Vec<Stm<Mem>> = chain
                .iter()
                .map(|&k| Stm {
                    // The host has made its checks by then.
                    certs: vec![],
                    ..rename::stm(vars, &mut subst, &body.stms[k])
                })
                .collect();
            if let Exp::Op(Mem::Launch(kernel)) = &mut body.stms[at].exp {
                substitute(vars, &subst, &mut kernel.body);
                kernel.body.stms.splice(0..0, moved);
            }
        }
        let mut freed: HashMap<usize, Vec<Stm<Mem>>> = HashMap::default();
        let stms = std::mem::take(&mut body.stms);
        for (at, stm) in stms.into_iter().enumerate() {
            let freed_later = if let Exp::Op(Mem::Free(buffer)) = &stm.exp {
                self.last.get(buffer).filter(|last| **last > at)
            } else {
                None
            };
            if let Some(&last) = freed_later {
                freed.entry(last).or_default().push(stm);
                continue;
            }
            let is_sunk = stm.binds.first().is_some_and(|v| self.defs.contains_key(v));
            if !is_sunk {
                body.stms.push(stm);
            }
            body.stms.extend(freed.remove(&at).into_iter().flatten());
        }
    }
}

/// A load that may sink: of a buffer that is made in the same block.
#[derive(Clone, Copy)]
struct Candidate {
    buffer: Var,
    /// Whether the buffer may live longer.
    is_small: bool,
}

/// The loads that may sink, by what they bind.
fn candidates(body: &Body<Mem>, banned: &HashSet<Var>) -> HashMap<Var, Candidate> {
    let (mut made, mut all) = (HashMap::default(), HashMap::default());
    for stm in &body.stms {
        if let Exp::Op(Mem::Alloc { len, .. }) = &stm.exp {
            let is_small = len.as_i64().is_some_and(|n| n <= MOST_ELEMENTS);
            made.insert(stm.binds[0], is_small);
        } else if let Exp::Op(Mem::Load { buffer, .. }) = &stm.exp
            && !banned.contains(&stm.binds[0])
        {
            let (buffer, is_small) = (*buffer, made.get(buffer));
            let candidate = is_small.map(|&is_small| Candidate { buffer, is_small });
            all.extend(candidate.map(|candidate| (stm.binds[0], candidate)));
        }
    }
    all
}

/// The statements that may change buffers that are loaded from, or end the life of one that may not live longer.
struct Changes {
    /// For each buffer, whether it may live longer, and the statements.
    of: HashMap<Var, (bool, BTreeSet<usize>)>,
}

impl Changes {
    fn of(candidates: &HashMap<Var, Candidate>) -> Self {
        let all = candidates.values();
        Self {
            of: all
                .map(|load| (load.buffer, (load.is_small, BTreeSet::new())))
                .collect(),
        }
    }

    fn learn(&mut self, vars: &Vars, stm: &Stm<Mem>, at: usize) {
        if let Exp::Op(Mem::Free(buffer)) = &stm.exp {
            if let Some((false, all)) = self.of.get_mut(buffer) {
                all.insert(at);
            }
        } else if !matches!(stm.exp, Exp::Op(Mem::Load { .. }) | Exp::Scalar(..)) {
            for v in free_in_stm(vars, stm) {
                if let Some((_, all)) = self.of.get_mut(&v) {
                    all.insert(at);
                }
            }
        }
    }

    fn has_none(&self, buffer: Var, range: Range<usize>) -> bool {
        let changes = self.of.get(&buffer);
        changes.is_none_or(|(_, all)| all.range(range).next().is_none())
    }
}

/// What a launch needs to know on the host, or where nothing can be moved to: all but what the body of its kernel uses.
fn needed_by(vars: &Vars, stm: &Stm<Mem>, kernel: &Kernel, inside: &[Var]) -> Vec<Var> {
    let mut needed = Vec::new();
    stm.exp.operands(&mut |a| needed.extend(a.as_var()));
    stm.exp.scopes(&mut |params, body| {
        if !std::ptr::eq(body, &raw const kernel.body) {
            needed.extend(free_in_scope(vars, params, body));
        }
    });
    // Tiles are found by the form of a body, and a sequential kernel is one that the host might be instead.
    if kernel.tiled > 0 || matches!(kernel.kind, KernelKind::Seq) {
        needed.extend(inside);
    }
    needed
}
