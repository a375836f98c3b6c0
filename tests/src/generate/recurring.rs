//! Maps over the rows of a matrix whose points go through a row of their own, upwards or downwards, each step from what the one before
//! has made of it.

use super::bulk::map;
use super::{Gen, WORK};
use midend::ir::build::Builder;
use midend::ir::id::Var;
use midend::ir::scalar::BinOp;
use midend::ir::soac::Soac;
use midend::ir::syntax::{Atom, Exp, Lambda};
use midend::ir::types::{ScalarType, Type};

const I64: ScalarType = ScalarType::I64;

/// How the steps of a loop go through a row.
#[derive(Clone, Copy, PartialEq)]
enum Way {
    /// All elements, the first of which has none before.
    All,
    /// All but one, from the second on.
    Up,
    /// From the last but one on.
    Down,
}

/// What is written over what a step has made.
#[derive(Clone, Copy, PartialEq)]
enum Over {
    Nothing,
    /// In some steps, before it is read.
    Before,
    /// In some steps, afterwards.
    After,
}

impl Gen<'_> {
    /// Such a map.
    pub(super) fn recurring(&mut self) -> Option<()> {
        if self.depth > 1 {
            return None;
        }
        let (item, [n, m], elem) = self.matrix()?;
        if self.work * self.most(n) * self.most(m) > WORK {
            return None;
        }
        let tys = [
            I64,
            ScalarType::I32,
            ScalarType::F32,
            ScalarType::F64,
            ScalarType::U8,
        ];
        let ty = *self.rng.pick(&tys);
        let row = self.b.fresh("row", item.ty.peel(1)?);
        self.b.enter();
        let lam = self.elementwise(ty, elem, m);
        let start = map(m, vec![row], lam);
        let vector = Type::array_of(&Type::Scalar(ty), &[m]);
        let mut at = self.b.let_("start", vector.clone(), Exp::Op(start));
        for _ in 0..1 + self.rng.below(2) {
            let way = *self.rng.pick(&[Way::All, Way::Up, Way::Down]);
            let over = *self
                .rng
                .pick(&[Over::Nothing, Over::Nothing, Over::Before, Over::After]);
            let steps = match way {
                Way::All => Atom::from(m),
                Way::Up | Way::Down => self.b.bin(BinOp::Sub, I64, Atom::from(m), 1),
            };
            let last = self.b.bin(BinOp::Sub, I64, steps, 1);
            let x = self.b.fresh("x", vector.clone());
            let ends = self.b.for_(steps, &[(x, at.into())], |b, i, x| {
                vec![step(b, (ty, way, over), (i, last), x[0]).into()]
            });
            at = ends[0];
        }
        let body = self.b.leave(vec![at.into()]);
        let params = vec![row];
        let soac = map(n, vec![item.var], Lambda { params, body });
        let made = Type::array_of(&Type::Scalar(ty), &[n, m]);
        self.bind_all(vec![made], soac);
        Some(())
    }
}

/// What a step makes of a row. `last` is the number of the last step.
fn step(
    b: &mut Builder<'_, Soac>,
    (ty, way, over): (ScalarType, Way, Over),
    (i, last): (Var, Atom),
    mut row: Var,
) -> Var {
    let (here, before) = match way {
        Way::All => (Atom::Var(i), b.bin(BinOp::Sub, I64, i, 1)),
        Way::Up => (b.add(i, 1), Atom::Var(i)),
        Way::Down => {
            let here = b.bin(BinOp::Sub, I64, last, i);
            (here, b.add(here, 1))
        }
    };
    let small = |b: &mut Builder<'_, Soac>, by: i64| {
        let rest = b.bin(BinOp::Mod, I64, i, by);
        b.convert(I64, ty, rest)
    };
    let third = |b: &mut Builder<'_, Soac>| {
        let rest = b.bin(BinOp::Mod, I64, i, 3);
        b.lt(rest, 1)
    };
    let whole = b.ty(row);
    let write = |b: &mut Builder<'_, Soac>, row: Var, at: Atom| {
        let (some, value) = (third(b), small(b, 5));
        let written = |b: &mut Builder<'_, Soac>| vec![b.update("upd", row, &[at], value).into()];
        b.if_(some, &[("x", whole.clone())], written, |_| vec![row.into()])[0]
    };
    if over == Over::Before && way != Way::All {
        row = write(b, row, before);
    }
    let number = |b: &mut Builder<'_, Soac>| vec![Atom::Var(b.index("e", row, &[before]))];
    let number = match way {
        Way::All => {
            let (is_first, other) = (b.eq(i, 0), small(b, 7));
            b.if_(
                is_first,
                &[("last", Type::Scalar(ty))],
                |_| vec![other],
                number,
            )[0]
            .into()
        }
        Way::Up | Way::Down => number(b)[0],
    };
    let mine = Atom::Var(b.index("mine", row, &[here]));
    let twice = b.bin(BinOp::Add, ty, number, number);
    let value = b.bin(BinOp::Sub, ty, mine, twice);
    row = b.update("upd", row, &[here], value);
    if over == Over::After {
        row = write(b, row, here);
    }
    row
}
