//! Operators inside of a map whose lengths differ from point to point.

use super::Gen;
use super::bulk::Fold;
use midend::ir::array::ArrayOp;
use midend::ir::id::Var;
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
                if g.rng.chance(25) {
                    g.own_way(raw);
                } else if let Some(length) = g.sizing(raw) {
                    let (scans, mut reds) = (g.simple_folds(), g.simple_folds());
                    reds.push(Fold::Simple(BinOp::Add, I64));
                    g.traverse(length, scans, reds);
                }
            }
            match g.rng.below(8) {
                0 => g.concat(),
                1 => g.calling(),
                2 => g.varying(),
                _ => None,
            };
            g.statements(2);
            let (a, ty) = g.result(sizes);
            (vec![a, g.all_numbers()], vec![ty, Type::I64])
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

    /// A number that all of those of the body at hand went into, or most.
    fn all_numbers(&mut self) -> Atom {
        let made = self.scope[self.base..].iter().rev();
        let numbers = made
            .filter(|item| item.ty == Type::I64)
            .map(|item| item.var);
        let numbers: Vec<Var> = numbers.take(12).collect();
        let both = |a, v| self.b.bin(BinOp::Xor, I64, a, v);
        numbers.into_iter().fold(Atom::ZERO, both)
    }

    /// A branch or loop that holds parallelism, and that points take or leave as they like.
    fn own_way(&mut self, raw: Atom) -> Option<()> {
        if self.rng.chance(50) {
            let odd = self.b.bin(BinOp::And, I64, raw, 1);
            let cond = self.b.eq(odd, 0);
            return self.branching(cond, true);
        }
        let steps = self.b.bin(BinOp::Mod, I64, raw, 4);
        self.stepping(steps, true)
    }

    /// An operator of some length.
    pub(super) fn operator_inside(&mut self) {
        let width = self.size();
        let (scans, reds) = (self.simple_folds(), self.simple_folds());
        self.traverse(width, scans, reds);
    }

    fn simple_folds(&mut self) -> Vec<Fold> {
        let folds = self.folds().into_iter();
        folds
            .filter(|fold| !matches!(fold, Fold::Rows(..)))
            .collect()
    }
}
