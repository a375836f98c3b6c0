//! Histograms and scatters: of scalars and rows, of one and of two dimensions, of one array and of several.

use super::bulk::Fold;
use super::{Gen, Item, WORK};
use midend::ir::id::Var;
use midend::ir::scalar::BinOp;
use midend::ir::soac::{HistOp, ScatterDest, Soac};
use midend::ir::syntax::{Atom, Lambda};
use midend::ir::types::{ScalarType, Size, Type};

const I64: ScalarType = ScalarType::I64;

impl Gen<'_> {
    /// What is combined in places of arrays: with operators that may do so in any order.
    pub(super) fn unordered_fold(&mut self) -> Fold {
        match self.fold() {
            fold @ (Fold::Simple(..) | Fold::Rows(..) | Fold::Least(_)) => fold,
            Fold::Linear | Fold::Exact(_) => Fold::Simple(BinOp::Add, I64),
        }
    }

    /// Arrays of such elements, one for each of their parts.
    pub(super) fn places(&mut self, fold: Fold, shape: &[Size]) -> Vec<Var> {
        let types = Self::fold_types(fold).into_iter();
        let array = |ty: Type| {
            let inner = ty.shape().iter().filter_map(|dim| dim.size());
            let shape: Vec<Size> = shape.iter().copied().chain(inner).collect();
            self.fresh_array(ty.elem().unwrap_or(I64), &shape)
        };
        types.map(array).collect()
    }

    /// Two extents of which an array may be.
    fn extents(&mut self) -> Option<[Size; 2]> {
        let extents = [self.size(), self.size()];
        let all = self.most(extents[0]).saturating_mul(self.most(extents[1]));
        (all.saturating_mul(self.work) <= WORK).then_some(extents)
    }

    pub(super) fn histogram(&mut self) -> Option<()> {
        if self.depth > 2 {
            return None;
        }
        let width = self.size();
        let mut all: Vec<(Fold, Vec<Size>)> = Vec::new();
        for _ in 0..*self.rng.pick(&[1, 1, 1, 2]) {
            let fold = self.unordered_fold();
            let plane = !matches!(fold, Fold::Rows(..)) && self.rng.chance(25);
            let buckets = match plane {
                true => self.extents()?.to_vec(),
                false => vec![self.size()],
            };
            all.push((fold, buckets));
        }
        let (items, params) = self.inputs(width);
        let most = self.most(width);
        let (body, ()) = self.nested(most, |g, _| {
            g.add_params(&params);
            g.statements(3);
            let mut result = Vec::new();
            for &extent in all.iter().flat_map(|(_, buckets)| buckets) {
                let raw = g.scalar(I64);
                // Some buckets lie outside, on both sides.
                let range = g.b.add(extent, 2);
                let bucket = g.b.bin(BinOp::Mod, I64, raw, range);
                result.push(g.b.sub(bucket, 1));
            }
            for (fold, _) in &all {
                result.extend(g.fold_elements(*fold));
            }
            (result, ())
        });
        let (mut ops, mut types) = (Vec::new(), Vec::new());
        for (fold, shape) in all {
            let mut op = self.operator(fold)?;
            op.comm = true;
            let dests = self.places(fold, &shape);
            types.extend(dests.iter().map(|&dest| self.b.ty(dest)));
            ops.push(HistOp { shape, dests, op });
        }
        let soac = Soac::Hist {
            width,
            arrays: vars(&items),
            lam: Lambda { params, body },
            ops,
        };
        self.bind_all(types, soac);
        Some(())
    }

    /// Writes to indices of which no two are equal, some of them outside: of scalars or rows, or to two dimensions.
    pub(super) fn scattering(&mut self) -> Option<()> {
        if self.depth > 2 {
            return None;
        }
        let width = self.size();
        let (rank, shape) = match self.rng.below(10) {
            0..6 => (1, vec![self.size()]),
            6..8 => (1, self.extents()?.to_vec()),
            _ => (2, self.extents()?.to_vec()),
        };
        let (items, mut params) = self.inputs(width);
        let index = self.b.fresh("i", Type::I64);
        params.push(index);
        let (elem, most) = (self.scalar_type(), self.most(width));
        let (body, ()) = self.nested(most, |g, _| {
            g.add_params(&params);
            g.statements(3);
            let mut result = Vec::new();
            let mut place = Atom::Var(index);
            if rank == 2 {
                result.push(g.b.bin(BinOp::Div, I64, index, 3));
                place = g.b.bin(BinOp::Mod, I64, index, 3);
            }
            result.push(place);
            let shift = g.rng.below(5) as i64 - 2;
            result[0] = g.b.add(result[0], shift);
            let value = match &shape[rank..] {
                [] => g.scalar(elem),
                row => g.array(elem, row).into(),
            };
            result.push(value);
            (result, ())
        });
        let iota = self.b.iota(width);
        let array = self.fresh_array(elem, &shape);
        let soac = Soac::Scatter {
            width,
            arrays: vars(&items).into_iter().chain([iota]).collect(),
            lam: Lambda { params, body },
            dests: vec![ScatterDest { rank, array }],
        };
        let ty = self.b.ty(array);
        self.bind_all(vec![ty], soac);
        Some(())
    }
}

fn vars(items: &[Item]) -> Vec<Var> {
    items.iter().map(|item| item.var).collect()
}
