//! Maps over the rows of a matrix whose operators hand rows on to one another: what a block of threads keeps in shared memory.

use super::bulk::{Fold, map};
use super::nest::reduction;
use super::{Gen, WORK};
use midend::ir::id::Var;
use midend::ir::scalar::BinOp;
use midend::ir::soac::Soac;
use midend::ir::syntax::{Exp, Lambda};
use midend::ir::types::{ScalarType, Size, Type};

const I64: ScalarType = ScalarType::I64;

impl Gen<'_> {
    /// Such a map. It gives the rows that came last, their sums, or both.
    pub(super) fn handing_on(&mut self) -> Option<()> {
        if self.depth > 0 {
            return None;
        }
        let (item, [n, m], elem) = self.matrix()?;
        if self.most(n) * self.most(m) > WORK {
            return None;
        }
        let row = self.b.fresh("row", item.ty.peel(1)?);
        let vector = Type::array_of(&Type::I64, &[m]);
        self.b.enter();
        let lam = self.elementwise(I64, elem, m);
        let first = map(m, vec![row], lam);
        let mut at = self.b.let_("first", vector.clone(), Exp::Op(first));
        for _ in 0..2 + self.rng.below(3) {
            let next = match self.rng.below(5) {
                0 | 1 => self.scanned(m, at)?,
                2 => {
                    let lam = self.elementwise(I64, I64, m);
                    map(m, vec![at], lam)
                }
                _ => self.gathered(m, at),
            };
            at = self.b.let_("next", vector.clone(), Exp::Op(next));
        }
        let mut result = vec![at.into()];
        let mut types = vec![Type::array_of(&Type::I64, &[n, m])];
        if self.rng.chance(60) {
            let lam = self.elementwise(I64, I64, m);
            let op = self.operator(Fold::Simple(BinOp::Add, I64))?;
            let sum = reduction(m, vec![at], lam, op);
            let sum = self.b.let_("sum", Type::I64, Exp::Op(sum));
            result.push(sum.into());
            types.push(Type::array_of(&Type::I64, &[n]));
            if self.rng.chance(40) {
                result.remove(0);
                types.remove(0);
            }
        }
        let body = self.b.leave(result);
        let params = vec![row];
        let soac = map(n, vec![item.var], Lambda { params, body });
        self.bind_all(types, soac);
        Some(())
    }

    /// A scan of a row.
    fn scanned(&mut self, width: Size, row: Var) -> Option<Soac> {
        let op = *self
            .rng
            .pick(&[BinOp::Add, BinOp::Add, BinOp::Max, BinOp::Xor]);
        let lam = self.elementwise(I64, I64, width);
        let scan = self.operator(Fold::Simple(op, I64))?;
        Some(Soac::Screma {
            width,
            arrays: vec![row],
            lam,
            scans: vec![scan],
            reds: Vec::new(),
        })
    }

    /// A map whose elements come from other places of a row each.
    fn gathered(&mut self, width: Size, row: Var) -> Soac {
        let here = self.b.iota(width);
        let (by, more) = (1 + self.rng.below(4) as i64, self.rng.below(3) as i64);
        let lam = self.b.lambda(&[("j", Type::I64)], |b, params| {
            let place = b.mul(params[0], by);
            let place = b.add(place, more);
            let place = b.bin(BinOp::Mod, I64, place, width);
            let x = b.index("x", row, &[place]);
            vec![b.bin(BinOp::Sub, I64, x, params[0])]
        });
        map(width, vec![here], lam)
    }
}
