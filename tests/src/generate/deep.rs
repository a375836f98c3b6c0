//! A nest of many maps with much code inside, of which flattening makes so many versions that it has to stop. It is seldom made,
//! as it takes as long as some dozen other programs.

use super::Gen;
use super::bulk::{Fold, map};
use super::nest::reduction;
use midend::ir::id::Var;
use midend::ir::scalar::BinOp;
use midend::ir::syntax::{Atom, Exp, Lambda};
use midend::ir::types::{ScalarType, Size, Type};

const I64: ScalarType = ScalarType::I64;
/// How many maps are inside of one another, and how many numbers the innermost makes of one another: code may become four times
/// as long, but at least four thousand statements.
const MAPS: usize = 9;
const STEPS: usize = 500;

impl Gen<'_> {
    /// The nest.
    pub(super) fn deep(&mut self) -> Option<()> {
        let raw = self.scalar(I64);
        let widths: Vec<Size> = (0..MAPS).map(|k| self.narrow(raw, k)).collect();
        let made = self.level(raw, &widths)?;
        self.add(made, Type::I64, false);
        Some(())
    }

    /// A sum over a map in which there are others of these widths.
    fn level(&mut self, above: Atom, widths: &[Size]) -> Option<Var> {
        let (&width, inner) = widths.split_first()?;
        let numbers = self.b.iota(width);
        let i = self.b.fresh("i", Type::I64);
        self.b.enter();
        let own = self.b.bin(BinOp::Mul, I64, above, 5);
        let own = self.b.bin(BinOp::Xor, I64, own, i);
        let result = match inner {
            [] => self.innermost(own.as_var()?)?,
            _ => self.level(own, inner)?,
        };
        let result = self.b.sub(own, result);
        let body = self.b.leave(vec![result]);
        let params = vec![i];
        let made = Type::array_of(&Type::I64, &[width]);
        let soac = map(width, vec![numbers], Lambda { params, body });
        let made = self.b.let_("level", made, Exp::Op(soac));
        self.total(width, made)
    }

    /// Two for the outer maps, one for the others most of the time, which only a run can tell.
    fn narrow(&mut self, raw: Atom, number: usize) -> Size {
        if number < 2 {
            return Size::Const(2);
        }
        let two = self.b.eq(raw, 1_000 + number as i64);
        let more = self.b.convert(ScalarType::Bool, I64, two);
        let width = self.b.add(more, 1);
        Size::of(width)
    }

    /// Much to compute, and a sum.
    fn innermost(&mut self, own: Var) -> Option<Var> {
        let number = self.long(own, own, STEPS);
        let numbers = self.b.iota(Size::Const(3));
        let x = self.b.fresh("x", Type::I64);
        self.b.enter();
        let y = self.b.bin(BinOp::Mul, I64, number, x);
        let body = self.b.leave(vec![y]);
        let params = vec![x];
        let op = self.operator(Fold::Simple(BinOp::Add, I64))?;
        let soac = reduction(Size::Const(3), vec![numbers], Lambda { params, body }, op);
        Some(self.b.let_("sum", Type::I64, Exp::Op(soac)))
    }

    /// The sum of a vector.
    fn total(&mut self, width: Size, numbers: Var) -> Option<Var> {
        let x = self.b.fresh("x", Type::I64);
        let lam = Lambda {
            params: vec![x],
            body: self.b.body(|_| vec![x.into()]),
        };
        let op = self.operator(Fold::Simple(BinOp::Add, I64))?;
        let soac = reduction(width, vec![numbers], lam, op);
        Some(self.b.let_("total", Type::I64, Exp::Op(soac)))
    }
}
