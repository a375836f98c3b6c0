//! Operators that write to places they compute, in a map nest: their destinations get a dimension for each map.
//!
//! Where destinations or the nest are ragged, places are counted from the first element of all: those of a point begin at an
//! offset.
//!
//! ```text
//! map (\n is -> scatter (replicate n 0) is vs) ns iss
//! ──►
//! segscatter (i < k, j in offs) { if 0 <= iss[i, j] < ns[i] then offs[i] + iss[i, j] else -1, vss[i, j] } into (flat)
//! ```

use super::context::{Axis, Point, dims, space};
use super::inner::Traversal;
use super::{Cx, bin, int};
use crate::fired::fired;
use crate::ir::array::ArrayOp;
use crate::ir::id::Var;
use crate::ir::scalar::{BinOp, ScalarOp};
use crate::ir::seg::{Seg, SegKind};
use crate::ir::soac::{HistOp, ScatterDest, Soac};
use crate::ir::syntax::{Atom, Exp, Stm};
use crate::ir::types::{ScalarType, Size, is_ragged};
use crate::ir::walk::type_vars;

/// Where an operator in a context writes.
pub(super) struct Dest {
    /// What the source calls it: its lengths are those of a point.
    pub(super) source: Var,
    /// The array over the context.
    pub(super) array: Var,
    /// The dimensions that indices address at a point.
    pub(super) axes: Vec<Axis>,
}

impl Dest {
    pub(super) fn scatter(&self, context: &[Axis], whole: bool) -> ScatterDest {
        let rank = if whole {
            1
        } else {
            space(context).len() + self.axes.len()
        };
        let array = self.array;
        ScatterDest { rank, array }
    }
}

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
        let whole = self.is_ragged(context, dests);
        fired(match whole {
            true => "flatten/ragged-histogram",
            false => "flatten/histogram",
        });
        let mut places = Vec::new();
        let mut left = dests.iter();
        for op in ops {
            let arrays = left.by_ref().take(op.dests.len());
            let pairs: Vec<(Var, Var)> = op.dests.iter().copied().zip(arrays.copied()).collect();
            places.extend(self.hist_dests(context, &pairs, op.shape.len(), whole, out));
        }
        let (mut point, results) = self.leaf(&inner, t);
        let (mut at, mut taken) = (0, 0);
        let mut result = Vec::new();
        let mut hists = Vec::new();
        for op in ops {
            let mine = &places[taken..taken + op.dests.len()];
            taken += op.dests.len();
            let buckets = &results[at..at + op.shape.len()];
            at += op.shape.len();
            let shape = if whole {
                result.push(self.flat_place(&mut point, context, &mine[0], buckets));
                vec![self.outermost(mine[0].array)]
            } else {
                result.extend(self.outer(&mut point, context.len()));
                result.extend(buckets);
                let outer = dims(context).into_iter().filter_map(|dim| dim.size());
                outer.chain(self.sizes(&op.shape)).collect()
            };
            hists.push(HistOp {
                shape,
                dests: mine.iter().map(|dest| dest.array).collect(),
                op: self.operator(&op.op),
            });
        }
        result.extend(&results[at..]);
        self.written(point, result, SegKind::Hist(hists), binds, out);
    }

    /// The destinations of a histogram, by source name and array over the context. Seen as one dimension, they have the same extent.
    fn hist_dests(
        &mut self,
        context: &[Axis],
        pairs: &[(Var, Var)],
        rank: usize,
        whole: bool,
        out: &mut Vec<Stm<Seg>>,
    ) -> Vec<Dest> {
        let mut dests: Vec<Dest> = Vec::new();
        for &(source, array) in pairs {
            let dest = match dests.first() {
                Some(first) if whole => {
                    let (count, axes) = (self.outermost(first.array), first.axes.clone());
                    let outer = space(context).len() + rank;
                    Dest {
                        source,
                        array: self.flat_to(count, array, outer, out),
                        axes,
                    }
                }
                Some(_) | None => self.dest(context, (source, array, rank), whole, out),
            };
            dests.push(dest);
        }
        dests
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
        let whole = self.is_ragged(context, dests);
        fired(match whole {
            true => "flatten/ragged-scatter",
            false => "flatten/scatter",
        });
        let mut all = Vec::new();
        for (place, &array) in places.iter().zip(dests) {
            let (source, rank) = (place.array, place.rank);
            all.push(self.dest(context, (source, array, rank), whole, out));
        }
        let (mut point, results) = self.leaf(&inner, t);
        let mut at = 0;
        let mut result = Vec::new();
        for dest in &all {
            let indices = &results[at..at + dest.axes.len()];
            at += dest.axes.len();
            result.extend(self.place(&mut point, context, (dest, whole), indices));
        }
        result.extend(&results[at..]);
        let dests = all.iter().map(|dest| dest.scatter(context, whole));
        self.written(point, result, SegKind::Scatter(dests.collect()), binds, out);
    }

    /// Whether places must be counted from the first element of all.
    pub(super) fn is_ragged(&self, context: &[Axis], dests: &[Var]) -> bool {
        let ragged = |&v: &Var| is_ragged(self.vars[v].ty.shape());
        is_ragged(&dims(context)) || dests.iter().any(ragged)
    }

    /// A destination: its source name, the array over the context, and how many indices address it at a point. All points and
    /// places of it can be seen as one dimension.
    pub(super) fn dest(
        &mut self,
        context: &[Axis],
        (source, array, rank): (Var, Var, usize),
        whole: bool,
        out: &mut Vec<Stm<Seg>>,
    ) -> Dest {
        let outer = space(context).len();
        let shape = &self.vars[array].ty.shape()[outer..][..rank];
        let axes = shape.iter().map(|&dim| dim.into()).collect();
        let array = if whole {
            self.flat(array, outer + rank, out).1
        } else {
            array
        };
        Dest {
            source,
            array,
            axes,
        }
    }

    /// What a point yields to address a destination.
    pub(super) fn place(
        &mut self,
        point: &mut Point,
        context: &[Axis],
        (dest, whole): (&Dest, bool),
        indices: &[Atom],
    ) -> Vec<Atom> {
        if whole {
            return vec![self.flat_place(point, context, dest, indices)];
        }
        let mut all = self.outer(point, context.len());
        all.extend(indices);
        all
    }

    /// A place of a point's own part of a destination, counted from the first element of all; -1 for one outside.
    fn flat_place(
        &mut self,
        point: &mut Point,
        context: &[Axis],
        dest: &Dest,
        indices: &[Atom],
    ) -> Atom {
        let ty = self.vars[dest.source].ty.clone();
        let mut lengths = Vec::new();
        type_vars(&ty, &mut |n| lengths.push(n));
        self.need_all(point, &lengths);
        let own = &ty.shape()[..dest.axes.len()];
        let extents: Vec<Size> = own.iter().filter_map(|dim| dim.size()).collect();
        let extents = self.sizes(&extents);
        let stms = &mut point.stms;
        let fits = self.in_range(indices, &extents, stms);
        let mut at = int(0);
        for (k, (&index, &extent)) in indices.iter().zip(&extents).enumerate() {
            if k > 0 {
                at = self.scalar(stms, "at", bin(BinOp::Mul), vec![at, extent.into()]);
                at = self.scalar(stms, "at", bin(BinOp::Add), vec![at, index]);
            } else {
                at = index;
            }
        }
        // Where the point's own part begins.
        let row = self.row(point, context);
        let start = dest
            .axes
            .iter()
            .fold(row, |at, &axis| self.step(point, at, axis));
        let stms = &mut point.stms;
        let place = self.scalar(stms, "place", bin(BinOp::Add), vec![start, at]);
        let select = ScalarOp::Select(ScalarType::I64);
        self.scalar(stms, "place", select, vec![fits, place, int(-1)])
    }

    /// A kernel that writes, and the shapes that its results have.
    pub(super) fn written(
        &mut self,
        point: Point,
        result: Vec<Atom>,
        kind: SegKind,
        binds: &[Var],
        out: &mut Vec<Stm<Seg>>,
    ) {
        let mut arrays = Vec::new();
        match &kind {
            SegKind::Hist(ops) => arrays.extend(ops.iter().flat_map(|op| op.dests.clone())),
            SegKind::Scatter(dests) => arrays.extend(dests.iter().map(|dest| dest.array)),
            SegKind::Map
            | SegKind::Filter
            | SegKind::Red(_)
            | SegKind::Scan(_)
            | SegKind::WithAcc(_) => {}
        }
        let mut results = Vec::new();
        let mut shaped = Vec::new();
        for (&bind, array) in binds.iter().zip(arrays) {
            if self.vars[bind].ty.rank() == self.vars[array].ty.rank() {
                results.push(bind);
                continue;
            }
            let ty = self.vars[array].ty.clone();
            let flat = self.fresh("flat", ty);
            results.push(flat);
            shaped.push((bind, flat));
        }
        self.kernel(point, result, kind, results, out);
        for (bind, array) in shaped {
            let shape = self.vars[bind].ty.shape().to_vec();
            let op = ArrayOp::Reshape { shape, array };
            self.push(out, vec![bind], Exp::Op(Seg::Array(op)));
        }
    }

    fn outermost(&self, array: Var) -> Size {
        let dim = self.vars[array].ty.shape().first().copied();
        dim.and_then(|dim| dim.size()).unwrap_or(Size::Const(0))
    }
}
