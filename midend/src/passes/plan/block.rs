//! What a block of threads needs to work on a point of a kernel: how much memory its buffers take, and how many threads there is work for.
//! The host must know it, before it launches the kernel.

use super::Cx;
use crate::ir::mem::{BlockNeeds, Extent, Kernel, Mem, ROUNDING};
use crate::ir::syntax::{Atom, Body, Exp, LoopForm};
use crate::ir::types::Type;

/// What a body holds.
#[derive(Default)]
struct Holds {
    /// The extents of each kernel.
    kernels: Vec<Vec<Atom>>,
    /// The bytes of an element and the length of each buffer.
    buffers: Vec<(i64, Atom)>,
}

impl Cx<'_> {
    /// What the threads of a block need to execute a body together; nothing if there is nothing to share out, or the host does not know.
    pub(super) fn block_needs(&mut self, body: &Body<Mem>) -> Option<BlockNeeds> {
        let mut holds = Holds::default();
        if !self.note_body(body, false, &mut holds) || holds.kernels.is_empty() {
            return None;
        }
        let (mut widths, mut bytes) = (Vec::new(), Atom::ZERO);
        for extents in holds.kernels {
            let points = extents
                .into_iter()
                .fold(Atom::ONE, |a, n| self.count_product(a, n));
            if !widths.contains(&points) {
                widths.push(points);
            }
        }
        let width = widths.into_iter().reduce(|a, b| self.most(a, b))?;
        for (size, len) in holds.buffers {
            let own = self.count_product(len, Atom::i64(size));
            let own = self.count_sum(own, Atom::i64(ROUNDING));
            bytes = self.count_sum(bytes, own);
        }
        Some(BlockNeeds { width, bytes })
    }

    /// Notes what a body holds; false if threads cannot execute it together.
    fn note_body(&self, body: &Body<Mem>, in_loop: bool, holds: &mut Holds) -> bool {
        let is_buffer = |v| matches!(self.vars[v].ty, Type::Buffer(_));
        body.stms.iter().all(|stm| match &stm.exp {
            Exp::Op(Mem::Alloc { elem, len, .. }) => {
                holds.buffers.push((elem.bytes() as i64, *len));
                !in_loop && self.in_scope(*len)
            }
            Exp::Op(Mem::Launch(kernel)) => self.note_kernel(kernel, holds),
            Exp::Op(Mem::Load { .. } | Mem::Store { .. } | Mem::Copy { .. }) => true,
            Exp::Op(Mem::Free(_) | Mem::Apart(_) | Mem::Trace(_) | Mem::Stream(_)) => false,
            Exp::Scalar(..) | Exp::Assert { .. } => true,
            Exp::Atom(_) => !stm.binds.iter().any(|&v| is_buffer(v)),
            Exp::Guard { .. } => false,
            Exp::If {
                then, otherwise, ..
            } => {
                let both = [then, otherwise];
                !stm.binds.iter().any(|&v| is_buffer(v))
                    && both.iter().all(|body| self.note_body(body, in_loop, holds))
            }
            Exp::Loop { form, body, .. } => {
                let condition = match form {
                    LoopForm::For { .. } => true,
                    LoopForm::While(cond) => self.note_body(cond, true, holds),
                };
                !stm.binds.iter().any(|&v| is_buffer(v))
                    && condition
                    && self.note_body(body, true, holds)
            }
            Exp::Call { args, .. } => {
                let given = args.iter().filter_map(|a| a.as_var());
                !stm.binds.iter().copied().chain(given).any(is_buffer)
            }
        })
    }

    fn note_kernel(&self, kernel: &Kernel, holds: &mut Holds) -> bool {
        let extents = kernel.space.iter().map(|(_, extent)| match *extent {
            Extent::Regular(n) => Some(n).filter(|n| self.in_scope(*n)),
            Extent::Ragged { .. } => None,
        });
        let extents: Option<Vec<Atom>> = extents.collect();
        let known = extents.is_some();
        holds.kernels.extend(extents);
        known
    }
}
