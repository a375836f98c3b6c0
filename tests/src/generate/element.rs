//! Loops over the elements of arrays, which are changed in place: one element after the other, or a row at a time.

use super::bulk::map;
use super::varying::joining;
use super::{Gen, WORK};
use midend::ir::id::Var;
use midend::ir::scalar::BinOp;
use midend::ir::syntax::{Atom, Exp, Lambda, LoopForm};
use midend::ir::types::{ScalarType, Size, Type};

const I64: ScalarType = ScalarType::I64;

impl Gen<'_> {
    /// A loop along the outermost dimension of an array of its own.
    pub(super) fn filling(&mut self) -> Option<()> {
        if self.depth > 2 {
            return None;
        }
        let n = self.size();
        let rows = self.rng.chance(40).then(|| self.size());
        let shape: Vec<Size> = [n].into_iter().chain(rows).collect();
        let all = shape.iter().map(|&size| self.most(size)).product::<u64>();
        if self.work.saturating_mul(all) > WORK {
            return None;
        }
        let elem = self.scalar_type();
        let start = self.fresh_array(elem, &shape);
        let ty = self.b.ty(start);
        let (array, i) = (self.b.fresh("a", ty.clone()), self.b.fresh("i", Type::I64));
        let (body, ()) = self.nested(self.most(n), |g, _| {
            g.add(i, Type::I64, false);
            let next = match rows {
                None => g.element_set(array, n, &[i.into()], elem),
                Some(m) if g.rng.chance(50) => g.elements_set(array, i, m, elem),
                Some(m) => g.row_set(array, i, m, elem),
            };
            (vec![next.into()], ())
        });
        let form = LoopForm::For {
            index: i,
            bound: n.into(),
        };
        let made = self.b.loop_(&[(array, start.into())], form, body)[0];
        self.add(made, ty, true);
        Some(())
    }

    /// Sets the element at a place, by what is there and, of a vector, what is somewhere else in it.
    fn element_set(&mut self, array: Var, n: Size, at: &[Atom], elem: ScalarType) -> Var {
        for _ in 0..self.rng.below(3) {
            self.scalar_statement();
        }
        let mut value = self.scalar(elem);
        let own = self.b.index("own", array, at);
        value = self.combined(value, own, elem);
        if let (&[i], true) = (at, self.rng.chance(50)) {
            // There is an element, for the loop is in a step.
            let by = *self.rng.pick(&[-1, 1, 2]);
            let other = self.b.add(i, by);
            let other = self.b.bin(BinOp::Mod, I64, other, Atom::from(n));
            let other = self.b.index("other", array, &[other]);
            value = self.combined(value, other, elem);
        }
        self.b.update("set", array, at, value)
    }

    /// A loop along a row, element by element.
    fn elements_set(&mut self, array: Var, i: Var, m: Size, elem: ScalarType) -> Var {
        let ty = self.b.ty(array);
        let (inner, j) = (self.b.fresh("a", ty), self.b.fresh("j", Type::I64));
        let (body, ()) = self.nested(self.most(m), |g, _| {
            g.add(j, Type::I64, false);
            let next = g.element_set(inner, m, &[i.into(), j.into()], elem);
            (vec![next.into()], ())
        });
        let form = LoopForm::For {
            index: j,
            bound: m.into(),
        };
        self.b.loop_(&[(inner, array.into())], form, body)[0]
    }

    /// Sets a row to one that an operator makes, of the row that is there or of others.
    fn row_set(&mut self, array: Var, i: Var, m: Size, elem: ScalarType) -> Var {
        let ty = Type::array_of(&Type::Scalar(elem), &[m]);
        let row = match self.rng.chance(50) {
            true => self.b.index("row", array, &[i.into()]),
            false => self.array(elem, &[m]),
        };
        let x = self.b.fresh("x", Type::Scalar(elem));
        let (body, ()) = self.nested(self.most(m), |g, _| {
            g.add(x, Type::Scalar(elem), false);
            g.scalar_statement();
            let value = g.scalar(elem);
            (vec![g.combined(value, x, elem)], ())
        });
        let params = vec![x];
        let soac = map(m, vec![row], Lambda { params, body });
        let row = self.b.let_("row", ty, Exp::Op(soac));
        self.b.update("set", array, &[i.into()], row.into())
    }

    fn combined(&mut self, a: Atom, b: Var, elem: ScalarType) -> Atom {
        self.b.bin(joining(elem), elem, a, b)
    }
}
