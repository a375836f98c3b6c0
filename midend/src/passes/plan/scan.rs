//! Scans whose sums are wanted in a part of a larger array, as those are that begin behind a zero: each point puts its own there.
//!
//! ```text
//! let ends = segscan (i < n) { let x = index ks[i]; yield x } scan (+)
//! let offs = concat (zero, ends)
//! ──►
//! store offs[0] = 0
//! launch scan (i < n) { let x = load ks[i]; yield x, i } scan (+) then \(sum, i) { let at = i + 1; store offs[at] = sum }
//! ```

use super::Cx;
use crate::fired::fired;
use crate::ir::array::ArrayOp;
use crate::ir::id::Var;
use crate::ir::mem::{KernelKind, KernelSpace, Mem};
use crate::ir::seg::{Seg, SegKind, SegOp, SpaceDim};
use crate::ir::soac::Operator;
use crate::ir::syntax::{Atom, Body, Exp, Lambda};
use crate::ir::types::Type;

/// The most statements of a body that is executed twice rather than that its sums are copied.
const SMALL: usize = 16;

impl Cx<'_> {
    /// Whether there are places where some of these arrays are to be made.
    pub(super) fn is_wanted(&self, binds: &[Var]) -> bool {
        binds.iter().any(|bind| self.dests.contains_key(bind))
    }

    /// A scan that puts sums where they are wanted.
    pub(super) fn scan_into(
        &mut self,
        binds: &[Var],
        space: KernelSpace,
        body: &Body<Seg>,
        ops: &[Operator<Seg>],
    ) {
        fired("plan/scanned-in-place");
        let views: Vec<_> = binds.iter().map(|&bind| self.made(bind)).collect();
        let ops = self.operators(ops);
        let mut sums = Vec::new();
        for view in &views {
            sums.push(self.fresh("sum", Type::Scalar(view.elem)));
        }
        let indices: Vec<Var> = space.iter().map(|&(index, _)| index).collect();
        let again = indices.iter().map(|_| self.fresh("i", Type::I64));
        let again: Vec<Var> = again.collect();
        let params: Vec<Var> = sums.iter().chain(&again).copied().collect();
        let at: Vec<Atom> = again.into_iter().map(Atom::from).collect();
        let then = self.in_kernel(|cx| {
            params.iter().for_each(|&p| cx.define(p));
            for (view, &sum) in views.iter().zip(&sums) {
                let place = cx.row(view, &at);
                let store = Mem::Store {
                    buffer: place.buffer,
                    index: place.offset,
                    value: sum.into(),
                };
                cx.push_op(Vec::new(), store);
            }
            Vec::new()
        });
        let then = Some(Lambda { params, body: then });
        let (outs, k) = (Vec::new(), body.result.len());
        let kind = KernelKind::Scan { ops, outs, then };
        self.kernel(("scan", (space, 0), kind), body, (k, &[]), |cx, results| {
            let indices = indices.into_iter().map(Atom::from);
            cx.atoms(results).into_iter().chain(indices).collect()
        });
    }
}

/// Whether the sums of a scan go wherever they are wanted at once. The body is then executed twice for a point: it must be small, and do
/// nothing but read and compute.
pub(super) fn goes_anywhere(op: &SegOp) -> bool {
    let SegKind::Scan(ops) = &op.kind else {
        return false;
    };
    let regular = |(_, dim): &(Var, SpaceDim)| matches!(dim, SpaceDim::Regular(_));
    let reads = |exp: &Exp<Seg>| match exp {
        Exp::Atom(_)
        | Exp::Scalar(..)
        | Exp::Assert { .. }
        | Exp::Op(Seg::Array(ArrayOp::Index { .. })) => true,
        Exp::Op(_) | Exp::Guard { .. } | Exp::If { .. } | Exp::Loop { .. } | Exp::Call { .. } => {
            false
        }
    };
    let body = &op.body;
    let scanned: usize = ops.iter().map(|op| op.neutral.len()).sum();
    scanned == body.result.len()
        && op.space.dims.iter().all(regular)
        && body.stms.len() <= SMALL
        && body.stms.iter().all(|stm| reads(&stm.exp))
}
