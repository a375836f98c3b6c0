//! Types of the operations of the flat dialect.

use super::{Types, Verify};
use crate::ir::id::Var;
use crate::ir::seg::{Level, Seg, SegKind, SegOp, SegSpace, SpaceDim};
use crate::ir::types::{ArrayType, Dim, ScalarType, Size, Type};

impl Verify for Seg {
    fn verify_op<'p>(&'p self, cx: &mut Types<'_, 'p, Self>, binds: &'p [Var]) {
        match self {
            Self::Array(op) => cx.array_op(op, binds),
            Self::Par(op) => cx.seg_op(op, binds),
            Self::UpdateAcc(update) => cx.update_acc(update, binds),
        }
    }
}

impl<'p> Types<'_, 'p, Seg> {
    fn seg_op(&mut self, op: &'p SegOp, binds: &'p [Var]) {
        let nests = match self.parallel {
            None => true,
            Some(outer) => outer < op.level || outer == Level::Thread,
        };
        if !nests {
            self.fault("lies in an operation of the same or a lower level");
        }
        let regular = |(_, dim): &(Var, SpaceDim)| matches!(dim, SpaceDim::Regular(_));
        let is_plain = matches!(op.kind, SegKind::Map) && op.space.dims.iter().all(regular);
        self.tiled(
            op.tiled,
            &op.space.dims,
            is_plain && op.level == Level::Device,
        );
        let dims = self.space(&op.space);
        let outer = self.parallel.replace(op.level);
        let body = |cx: &mut Self| -> Vec<Type> {
            cx.body(&op.body);
            op.body.result.iter().map(|a| cx.atom(*a)).collect()
        };
        if let SegKind::WithAcc(acc) = &op.kind {
            self.accumulation(acc, binds, body);
            self.parallel = outer;
            return;
        }
        let results = body(self);
        self.values(&results);
        match &op.kind {
            SegKind::WithAcc(_) => {}
            SegKind::Map => self.arrays(&results, &dims, 0, binds),
            SegKind::Red(ops) => {
                let reduced = self.operators(&results, ops);
                self.arrays(&results, &dims, reduced, binds);
            }
            SegKind::Scan(ops) => {
                self.operators(&results, ops);
                self.arrays(&results, &dims, 0, binds);
            }
            SegKind::Hist(ops) => self.hist(&results, ops, binds),
            SegKind::Filter => self.seg_filter(&results, &dims, binds),
            SegKind::Scatter(dests) => self.scatter(&results, dests, binds),
        }
        self.parallel = outer;
    }

    /// Checks a filter: scalars over one regular dimension.
    fn seg_filter(&mut self, results: &[Type], dims: &[Dim], binds: &'p [Var]) {
        let Some((keep, kept)) = results.split_first() else {
            return self.fault("the body of a filter yields nothing");
        };
        self.fits("the first result", keep, &Type::BOOL);
        if !matches!(dims, [Dim::Size(_)]) {
            self.fault("filters over a space that is not one regular dimension");
        }
        if kept.iter().any(|ty| !matches!(ty, Type::Scalar(_))) {
            self.fault("filters what are no scalars");
        }
        let Some((count, _)) = binds.split_first() else {
            return self.fault("a filter binds a number first");
        };
        let arrays = kept
            .iter()
            .map(|ty| Type::array_of(ty, &[Size::Var(*count)]));
        let bound: Vec<Type> = std::iter::once(Type::I64).chain(arrays).collect();
        self.binds(binds, &bound);
    }

    /// Checks a space; yields its extents as dimensions of an array.
    fn space(&mut self, space: &SegSpace) -> Vec<Dim> {
        if space.dims.is_empty() {
            self.fault("runs over a space without dimensions");
        }
        let mut dims = Vec::new();
        for (i, (index, dim)) in space.dims.iter().enumerate() {
            self.scalar("an index of the space", (*index).into(), ScalarType::I64);
            dims.push(match *dim {
                SpaceDim::Regular(n) => {
                    self.size(n);
                    Dim::Size(n)
                }
                SpaceDim::Ragged { offsets } => {
                    if i == 0 || !self.is_offsets(offsets) {
                        self.fault("has a ragged dimension outermost or without offsets");
                    }
                    Dim::Ragged(offsets)
                }
            });
        }
        dims
    }

    /// Checks that arrays over the space are bound; the first `reduced` without its innermost dimension.
    fn arrays(&mut self, results: &[Type], dims: &[Dim], reduced: usize, binds: &'p [Var]) {
        let outer = &dims[..dims.len().saturating_sub(1)];
        let bound = results.iter().enumerate().filter_map(|(i, ty)| {
            let dims = if i < reduced { outer } else { dims };
            let shape: Vec<Dim> = dims.iter().chain(ty.shape()).copied().collect();
            let elem = ty.elem()?;
            Some(if shape.is_empty() {
                Type::Scalar(elem)
            } else {
                Type::Array(ArrayType { elem, shape })
            })
        });
        let bound: Vec<Type> = bound.collect();
        self.binds(binds, &bound);
    }
}
