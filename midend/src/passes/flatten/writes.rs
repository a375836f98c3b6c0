//! Operators that write to places they compute, in a map nest: their destinations get a dimension for each map.

use super::Cx;
use super::context::Axis;
use super::inner::Traversal;
use crate::ir::id::Var;
use crate::ir::seg::{Seg, SegKind};
use crate::ir::soac::{HistOp, ScatterDest, Soac};
use crate::ir::syntax::{Atom, Stm};
use crate::ir::types::Size;

impl Cx<'_> {
    /// Histograms in a context: one more dimension of buckets for each map around them.
    pub(super) fn hist_in(
        &mut self,
        context: &[Axis],
        t: Traversal<'_>,
        ops: &[HistOp<Soac>],
        dests: &[Var],
        binds: &[Var],
        out: &mut Vec<Stm<Seg>>,
    ) {
        let inner = self.inside(context, t, out);
        let (point, results) = self.leaf(&inner, t);
        let outer: Vec<Atom> = point.dims[..context.len()]
            .iter()
            .map(|dim| dim.0.into())
            .collect();
        let (mut at, mut taken) = (0, 0);
        let mut result = Vec::new();
        let mut hists = Vec::new();
        for op in ops {
            result.extend(&outer);
            result.extend(&results[at..at + op.shape.len()]);
            at += op.shape.len();
            let mut shape = sizes(context);
            shape.extend(self.sizes(&op.shape));
            let mine = dests[taken..taken + op.dests.len()].to_vec();
            taken += op.dests.len();
            hists.push(HistOp {
                shape,
                dests: mine,
                op: self.operator(&op.op),
            });
        }
        result.extend(&results[at..]);
        self.kernel(point, result, SegKind::Hist(hists), binds.to_vec(), out);
    }

    /// Parallel writes in a context, into arrays with one more dimension for each map around them.
    pub(super) fn scatter_in(
        &mut self,
        context: &[Axis],
        t: Traversal<'_>,
        places: &[ScatterDest],
        dests: &[Var],
        binds: &[Var],
        out: &mut Vec<Stm<Seg>>,
    ) {
        let inner = self.inside(context, t, out);
        let (point, results) = self.leaf(&inner, t);
        let outer: Vec<Atom> = point.dims[..context.len()]
            .iter()
            .map(|dim| dim.0.into())
            .collect();
        let mut at = 0;
        let mut result = Vec::new();
        let mut all = Vec::new();
        for (place, &array) in places.iter().zip(dests) {
            result.extend(&outer);
            result.extend(&results[at..at + place.rank]);
            at += place.rank;
            let rank = context.len() + place.rank;
            all.push(ScatterDest { rank, array });
        }
        result.extend(&results[at..]);
        self.kernel(point, result, SegKind::Scatter(all), binds.to_vec(), out);
    }
}

/// The sizes of a context that is regular.
fn sizes(context: &[Axis]) -> Vec<Size> {
    let size = |axis: &Axis| axis.dim().size();
    context.iter().filter_map(size).collect()
}
