//! Numbers that only go from one array to another stay where arrays are: the host would wait for what a kernel makes of them, to
//! give it back.
//!
//! ```text
//! do launch red .. out (a)           do launch red .. out (a)
//! let x = load a[0]
//! do free a                    ──►
//! do store b[i] = x                  do copy b[i] = a[0]
//!                                    do free a
//! ```
//!
//! The number must have been written by a kernel in the same block, to a buffer made there, and be used for nothing else.

use crate::fired::fired;
use crate::hash::{HashMap, HashSet};
use crate::ir::id::Var;
use crate::ir::mem::{Mem, Region};
use crate::ir::syntax::{Atom, Body, Exp, Program, Stm, Vars};
use crate::ir::walk::{body_uses, deep, free_in_stm};
use crate::pass::Pass;

/// The pass.
pub const PASS: Pass<Mem> = Pass {
    name: "forward",
    summary: "numbers that only go from one array to another are not read by the host",
    run: |mut program, _| {
        let Program { vars, funs, .. } = &mut program;
        for fun in funs.iter_mut() {
            let mut uses = HashMap::default();
            body_uses(vars, &fun.body, &mut |v| *uses.entry(v).or_insert(0) += 1);
            body(vars, &uses, &mut fun.body);
        }
        program
    },
};

/// How often each variable is used.
type Uses = HashMap<Var, usize>;

/// Host code, and what is nested in it.
fn body(vars: &Vars, uses: &Uses, body_: &mut Body<Mem>) {
    let mut block = Block::default();
    for mut stm in std::mem::take(&mut body_.stms) {
        if !matches!(stm.exp, Exp::Op(Mem::Launch(_))) {
            deep(|| stm.exp.bodies_mut(&mut |inner| body(vars, uses, inner)));
        }
        block.take(vars, uses, stm);
    }
    block.settle();
    body_.stms = block.done;
}

/// A block in the making.
#[derive(Default)]
struct Block {
    done: Vec<Stm<Mem>>,
    /// Buffers that were made here.
    made: HashSet<Var>,
    /// Those of them that a kernel was given.
    written: HashSet<Var>,
    /// Other buffers that got their names here, and may be one of these.
    named: HashSet<Var>,
    /// Reads that perhaps need not be, and frees that come after them.
    waiting: Vec<Stm<Mem>>,
}

impl Block {
    fn take(&mut self, vars: &Vars, uses: &Uses, stm: Stm<Mem>) {
        match &stm.exp {
            Exp::Op(Mem::Alloc { .. }) => {
                self.made.insert(stm.binds[0]);
            }
            Exp::Op(Mem::Load { buffer, .. })
                if self.written.contains(buffer) && uses.get(&stm.binds[0]) == Some(&1) =>
            {
                let mut index = self.reads_for(&stm);
                self.done.append(&mut index);
                return self.waiting.push(stm);
            }
            Exp::Op(Mem::Free(_)) if !self.waiting.is_empty() => return self.waiting.push(stm),
            Exp::Op(Mem::Store { buffer, .. }) if self.is_elsewhere(*buffer) => {}
            Exp::Scalar(..) | Exp::Assert { .. } | Exp::Op(Mem::Load { .. }) => {}
            Exp::Op(Mem::Launch(_)) => {
                self.settle();
                let free = free_in_stm(vars, &stm);
                self.written
                    .extend(free.into_iter().filter(|v| self.made.contains(v)));
            }
            Exp::Op(_)
            | Exp::Atom(_)
            | Exp::Guard { .. }
            | Exp::If { .. }
            | Exp::Loop { .. }
            | Exp::Call { .. } => {
                self.settle();
                self.named.extend(&stm.binds);
            }
        }
        match self.copied(&stm) {
            Some(copy) => {
                fired("forward/element");
                self.done.push(copy);
                let is_read = |stm: &Stm<Mem>| matches!(stm.exp, Exp::Op(Mem::Load { .. }));
                if !self.waiting.iter().any(is_read) {
                    self.settle();
                }
            }
            None => self.done.push(stm),
        }
    }

    /// Whether a buffer is none that is read by what waits.
    fn is_elsewhere(&self, buffer: Var) -> bool {
        let reads = |stm: &Stm<Mem>| matches!(stm.exp, Exp::Op(Mem::Load { buffer: from, .. }) if from == buffer);
        !self.named.contains(&buffer) && !self.waiting.iter().any(reads)
    }

    /// The reads of what a statement uses, which no longer wait.
    fn reads_for(&mut self, stm: &Stm<Mem>) -> Vec<Stm<Mem>> {
        let mut used = Vec::new();
        stm.exp.operands(&mut |atom| used.push(atom));
        let is_used = |read: &mut Stm<Mem>| {
            let binds = read.binds.first();
            binds.is_some_and(|v| used.contains(&Atom::Var(*v)))
        };
        self.waiting.extract_if(.., is_used).collect()
    }

    /// The copy that does what a store and the read of what it stores do; that read is no longer waited for. What a statement
    /// uses in another way is read before.
    fn copied(&mut self, stm: &Stm<Mem>) -> Option<Stm<Mem>> {
        let mut reads = self.reads_for(stm);
        if let Exp::Op(Mem::Store {
            buffer,
            index,
            value,
        }) = &stm.exp
            && let [read] = reads.as_slice()
            && Atom::Var(read.binds[0]) == *value
            && let Exp::Op(Mem::Load {
                buffer: from,
                index: at,
            }) = read.exp
        {
            let region = |buffer, offset| Region {
                buffer,
                offset,
                strides: vec![],
            };
            return Some(Stm {
                binds: vec![],
                certs: [stm.certs.as_slice(), &read.certs].concat(),
                exp: Exp::Op(Mem::Copy {
                    shape: vec![],
                    dst: region(*buffer, *index),
                    src: region(from, at),
                }),
                span: stm.span,
            });
        }
        self.done.append(&mut reads);
        None
    }

    /// What is waited for happens.
    fn settle(&mut self) {
        self.done.append(&mut self.waiting);
    }
}
