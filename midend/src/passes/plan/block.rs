//! What a block of threads needs to work on a point of a kernel: how much shared memory its buffers take, and how many threads there is
//! work for. The host must know it before it launches the kernel.
//!
//! Buffers of one type and length whose live ranges are disjoint share memory. A buffer is live from its allocation to the last
//! statement of the body around it that uses it; no conditional and no loop of such a kernel binds buffers.
//!
//! ```text
//! let a = alloc f32 n                              let a = alloc f32 n
//! launch map (i < n) { .. store a i .. }           let b = alloc f32 n
//! for k < m {                                      launch map (i < n) { .. store a i .. }
//!   let b = alloc f32 n                            for k < m {
//!   launch map (i < n) { .. store b i .. }   ──►     launch map (i < n) { .. store b i .. }
//!   launch map (i < n) { .. load b j .. }            launch map (i < n) { .. load b j .. }
//!   let c = alloc f32 n                              launch map (i < n) { .. store b i .. }
//!   launch map (i < n) { .. store c i .. }           ..
//!   ..                                             }
//! }
//! ```

use super::Cx;
use crate::fired::fired;
use crate::hash::HashMap;
use crate::ir::id::Var;
use crate::ir::mem::{BlockNeeds, Extent, Kernel, Mem, ROUNDING};
use crate::ir::rename::{Subst, substitute};
use crate::ir::syntax::{Atom, Body, Exp, LoopForm, Stm};
use crate::ir::types::{ScalarType, Type};
use crate::ir::walk::free_in_stm;
use std::collections::BTreeMap;

/// Shared memory that buffers take turns in.
struct Slot {
    buffer: Var,
    elem: ScalarType,
    len: Atom,
}

/// The shared memory of a kernel.
#[derive(Default)]
struct Slots {
    all: Vec<Slot>,
    /// Those that no buffer is live in, by the type and number of their elements.
    free: BTreeMap<(ScalarType, Atom), Vec<usize>>,
    /// Statements that allocate slots, to be placed before the current statement of the outermost body.
    made: Vec<Stm<Mem>>,
    /// The slots of buffers that have none of their own.
    subst: Subst,
}

impl Cx<'_> {
    /// Lets the buffers of a body share memory, and tells what the threads of a block need to execute it together; nothing if there is
    /// nothing to share out, or the host does not know it.
    pub(super) fn plan_block(&mut self, body: &mut Body<Mem>) -> Option<BlockNeeds> {
        let mut kernels = Vec::new();
        if !self.note_body(body, &mut kernels) || kernels.is_empty() {
            return None;
        }
        let mut widths = Vec::new();
        for extents in kernels {
            let points = extents
                .into_iter()
                .fold(Atom::ONE, |a, n| self.count_product(a, n));
            if !widths.contains(&points) {
                widths.push(points);
            }
        }
        let width = widths.into_iter().reduce(|a, b| self.most(a, b))?;
        let mut slots = Slots::default();
        self.share_memory(body, true, &mut slots);
        if !slots.subst.is_empty() {
            fired("plan/shared-memory-reused");
            substitute(&mut self.vars, &slots.subst, body);
        }
        let mut bytes = Atom::ZERO;
        for Slot { elem, len, .. } in slots.all {
            let own = self.count_product(len, Atom::i64(elem.bytes() as i64));
            let own = self.count_sum(own, Atom::i64(ROUNDING));
            bytes = self.count_sum(bytes, own);
        }
        Some(BlockNeeds { width, bytes })
    }

    /// Notes the extents of the kernels that a body holds; false if threads cannot execute it together.
    fn note_body(&self, body: &Body<Mem>, kernels: &mut Vec<Vec<Atom>>) -> bool {
        let is_buffer = |v| matches!(self.vars[v].ty, Type::Buffer(_));
        let binds_buffers = |stm: &Stm<Mem>| stm.binds.iter().any(|&v| is_buffer(v));
        body.stms.iter().all(|stm| match &stm.exp {
            Exp::Op(Mem::Alloc { len, .. }) => self.in_scope(*len),
            Exp::Op(Mem::Launch(kernel)) => self.note_kernel(kernel, kernels),
            Exp::Op(Mem::Load { .. } | Mem::Store { .. } | Mem::Copy { .. }) => true,
            Exp::Op(Mem::Free(_) | Mem::Apart(_) | Mem::Trace(_) | Mem::Stream(_)) => false,
            Exp::Scalar(..) | Exp::Assert { .. } => true,
            Exp::Atom(_) => !binds_buffers(stm),
            Exp::Guard { .. } => false,
            Exp::If {
                then, otherwise, ..
            } => {
                let both = [then, otherwise];
                !binds_buffers(stm) && both.iter().all(|body| self.note_body(body, kernels))
            }
            Exp::Loop { form, body, .. } => {
                let condition = match form {
                    LoopForm::For { .. } => true,
                    LoopForm::While(cond) => self.note_body(cond, kernels),
                };
                !binds_buffers(stm) && condition && self.note_body(body, kernels)
            }
            Exp::Call { args, .. } => {
                let mut given = args.iter().filter_map(|a| a.as_var());
                !binds_buffers(stm) && !given.any(is_buffer)
            }
        })
    }

    fn note_kernel(&self, kernel: &Kernel, kernels: &mut Vec<Vec<Atom>>) -> bool {
        let extents = kernel.space.iter().map(|(_, extent)| match *extent {
            Extent::Regular(n) => Some(n).filter(|n| self.in_scope(*n)),
            Extent::Ragged { .. } => None,
        });
        let extents: Option<Vec<Atom>> = extents.collect();
        let known = extents.is_some();
        kernels.extend(extents);
        known
    }

    /// Gives the buffers that a body allocates slots that are free, or new ones, which the kernel's own body (the outermost) allocates.
    fn share_memory(&mut self, body: &mut Body<Mem>, outermost: bool, slots: &mut Slots) {
        let mut last: HashMap<Var, usize> = HashMap::default();
        for (i, stm) in body.stms.iter().enumerate() {
            if let Exp::Op(Mem::Alloc { .. }) = stm.exp {
                last.extend(stm.binds.iter().map(|&v| (v, i)));
            }
            for used in free_in_stm(&self.vars, stm) {
                last.entry(used).and_modify(|at| *at = i);
            }
        }
        let mut ends: Vec<Vec<Var>> = vec![Vec::new(); body.stms.len()];
        for stm in &body.stms {
            for bind in stm.binds.iter().filter(|v| last.contains_key(v)) {
                ends[last[bind]].push(*bind);
            }
        }
        let mut live: HashMap<Var, usize> = HashMap::default();
        let mut stms = Vec::new();
        for (i, mut stm) in std::mem::take(&mut body.stms).into_iter().enumerate() {
            if let Exp::Op(Mem::Alloc { elem, len, .. }) = stm.exp {
                let slot = self.slot((stm.binds[0], elem, len), outermost, slots);
                live.insert(stm.binds[0], slot);
            } else {
                if !matches!(stm.exp, Exp::Op(_)) {
                    let exp = &mut stm.exp;
                    exp.bodies_mut(&mut |inner| self.share_memory(inner, false, slots));
                }
                if outermost {
                    stms.append(&mut slots.made);
                }
                stms.push(stm);
            }
            for ended in ends[i].iter().filter_map(|v| live.remove(v)) {
                let Slot { elem, len, .. } = slots.all[ended];
                slots.free.entry((elem, len)).or_default().push(ended);
            }
        }
        body.stms = stms;
    }

    /// The slot of a buffer.
    fn slot(
        &mut self,
        (buffer, elem, len): (Var, ScalarType, Atom),
        outermost: bool,
        slots: &mut Slots,
    ) -> usize {
        let free = slots.free.get_mut(&(elem, len));
        if let Some(slot) = free.and_then(|free| free.pop()) {
            slots.subst.insert(buffer, slots.all[slot].buffer);
            return slot;
        }
        // The check that the length is none below zero may stand inside.
        let room = if outermost {
            len
        } else {
            self.most(len, Atom::ZERO)
        };
        let op = Mem::Alloc {
            elem,
            len: room,
            over: None,
        };
        slots.made.push(Stm {
            binds: vec![buffer],
            certs: Vec::new(),
            exp: Exp::Op(op),
            span: self.span,
        });
        slots.all.push(Slot { buffer, elem, len });
        slots.all.len() - 1
    }
}
