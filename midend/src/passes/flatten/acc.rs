//! Accumulations: parallel operations on the host, and inside of one operations of a single thread, since what
//! becomes of an update there depends on nobody else.

use super::{Cx, Mode};
use crate::fired::fired;
use crate::ir::id::Var;
use crate::ir::seg::{Level, Seg, SegKind, SegOp, SegSpace, SpaceDim};
use crate::ir::soac::{Accumulation, Soac, UpdateAcc};
use crate::ir::syntax::{Exp, Lambda, Stm};
use crate::ir::types::Size;

impl Cx<'_> {
    pub(super) fn with_acc(
        &mut self,
        level: Level,
        (width, arrays, lam): (Size, &[Var], &Lambda<Soac>),
        acc: &Accumulation<Soac>,
        binds: &[Var],
        out: &mut Vec<Stm<Seg>>,
    ) {
        fired(match level {
            Level::Device => "flatten/accumulation",
            Level::Block | Level::Thread => "flatten/accumulation-at-a-point",
        });
        let width = self.size(width);
        let dests = self.all_vars(&acc.dests);
        let op = acc.op.as_ref().map(|op| self.operator(op));
        // The body is sequential, and there everything gets a new name.
        let token = self.bind(acc.token, Mode::Seq);
        let params = self.binds(&acc.params, Mode::Seq);
        let (index, body) = self.traverse((arrays, lam));
        let acc = Accumulation {
            token,
            params,
            dests,
            op,
        };
        let op = SegOp {
            space: SegSpace {
                dims: vec![(index, SpaceDim::Regular(width))],
            },
            level,
            tiled: 0,
            steady: false,
            body,
            kind: SegKind::WithAcc(acc),
        };
        self.push(out, binds.to_vec(), Exp::Op(Seg::Par(op)));
    }

    pub(super) fn update_acc(&self, update: &UpdateAcc, binds: &[Var], out: &mut Vec<Stm<Seg>>) {
        let update = UpdateAcc {
            accs: self.all_vars(&update.accs),
            index: self.atom(update.index),
            values: self.atoms(&update.values),
        };
        self.push(out, binds.to_vec(), Exp::Op(Seg::UpdateAcc(update)));
    }
}
