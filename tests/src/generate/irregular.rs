//! Operators inside of a map whose lengths differ from point to point.

use super::Gen;
use super::bulk::Fold;
use midend::ir::array::ArrayOp;
use midend::ir::scalar::BinOp;
use midend::ir::soac::Soac;
use midend::ir::syntax::{Atom, Lambda};
use midend::ir::types::{ScalarType, Type};

const I64: ScalarType = ScalarType::I64;

impl Gen<'_> {
    /// A map whose points have operators of lengths of their own.
    pub(super) fn irregular(&mut self) -> Option<()> {
        if self.depth > 2 {
            return None;
        }
        let width = self.size();
        let here = self.b.array(
            "here",
            ArrayOp::Iota {
                len: width,
                start: Atom::ZERO,
                step: Atom::ONE,
                ty: I64,
            },
        );
        let (items, mut params) = self.inputs(width);
        let index = self.b.fresh("x", Type::I64);
        params.push(index);
        let most = self.most(width);
        let (body, types) = self.nested(most, |g, sizes| {
            g.add_params(&params);
            g.statements(2);
            for _ in 0..1 + g.rng.below(2) {
                let raw = g.scalar(I64);
                let raw = g.b.bin(BinOp::Xor, I64, raw, index);
                if let Some(length) = g.sizing(raw) {
                    let (scans, reds) = (g.simple_folds(), g.simple_folds());
                    g.traverse(length, scans, reds);
                }
            }
            g.statements(2);
            let (a, ty) = g.result(sizes);
            (vec![a, g.scalar(I64)], vec![ty, Type::I64])
        });
        let types = types.iter().map(|ty| Type::array_of(ty, &[width]));
        let arrays = items.iter().map(|i| i.var);
        let soac = Soac::Screma {
            width,
            arrays: arrays.chain([here]).collect(),
            lam: Lambda { params, body },
            scans: Vec::new(),
            reds: Vec::new(),
        };
        self.bind_all(types.collect(), soac);
        Some(())
    }

    fn simple_folds(&mut self) -> Vec<Fold> {
        let folds = self.folds().into_iter();
        folds
            .filter(|fold| !matches!(fold, Fold::Rows(..)))
            .collect()
    }
}
