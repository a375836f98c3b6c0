//! Updates of arrays through accumulators.

use super::Gen;
use super::bulk::Fold;
use midend::ir::build::Builder;
use midend::ir::id::Var;
use midend::ir::scalar::BinOp;
use midend::ir::soac::{Accumulation, Operator, Soac, UpdateAcc};
use midend::ir::syntax::{Atom, Exp, Lambda};
use midend::ir::types::{AccType, ScalarType, Size, Type};

const I64: ScalarType = ScalarType::I64;

/// An array that points update through an accumulator.
pub(super) struct Target {
    dest: Var,
    token: Var,
    /// The accumulator that points begin with.
    pub(super) acc: Var,
    ty: Type,
}

impl Gen<'_> {
    /// Updates through an accumulator, the second under a condition: with an operator anywhere, else of one place per element.
    pub(super) fn accumulating(&mut self) -> Option<()> {
        if self.depth > 2 {
            return None;
        }
        let (width, len) = (self.size(), self.size());
        let fold = match self.fold() {
            Fold::Linear | Fold::Exact(_) => None,
            fold @ (Fold::Simple(..) | Fold::Rows(..)) => Some(fold),
        };
        let (elem, shape) = match fold {
            Some(Fold::Simple(_, ty)) => (ty, vec![len]),
            Some(Fold::Rows(_, ty, size)) => (ty, vec![len, size]),
            Some(Fold::Linear | Fold::Exact(_)) | None => (self.scalar_type(), vec![len]),
        };
        let (items, mut params) = self.inputs(width);
        let index = self.b.fresh("i", Type::I64);
        params.push(index);
        let dest = self.fresh_array(elem, &shape);
        let target = self.target(dest)?;
        let most = self.most(width);
        let (body, ()) = self.nested(most, |g, _| {
            g.add_params(&params);
            g.statements(3);
            let shift = g.rng.below(5) as i64 - 2;
            let own = g.b.add(index, shift);
            let mut updates = Vec::new();
            for _ in 0..2 {
                updates.push(match fold {
                    Some(fold) => {
                        let raw = g.scalar(I64);
                        let range = g.b.add(len, 2);
                        let place = g.b.bin(BinOp::Mod, I64, raw, range);
                        (g.b.sub(place, 1), g.fold_elements(fold))
                    }
                    None => (own, vec![g.scalar(elem)]),
                });
            }
            let cond = g.scalar(ScalarType::Bool);
            let (index, values) = updates.pop().unwrap_or((own, Vec::new()));
            let (first_at, first) = updates.pop().unwrap_or((own, Vec::new()));
            let first = g.update(&target, target.acc, first_at, first);
            let second = |b: &mut Builder<'_, Soac>| {
                vec![Atom::Var(update(b, &target, first, index, values))]
            };
            let formals = [("acc", target.ty.clone())];
            let last = g.b.if_(cond, &formals, second, |_| vec![first.into()]);
            (vec![last[0].into()], ())
        });
        let op = match fold {
            Some(fold) => Some(self.operator(fold)?),
            None => None,
        };
        let iota = self.b.iota(width);
        let arrays = items.iter().map(|i| i.var).chain([iota]).collect();
        self.accumulate(width, arrays, Lambda { params, body }, target, op);
        Some(())
    }

    /// Makes an array one that is updated through an accumulator.
    pub(super) fn target(&mut self, dest: Var) -> Option<Target> {
        let Type::Array(array) = self.b.ty(dest) else {
            return None;
        };
        let token = self.b.fresh("token", Type::Cert);
        let part = 0;
        let ty = Type::Acc(AccType { token, part, array });
        let acc = self.b.fresh("acc", ty.clone());
        Some(Target {
            dest,
            token,
            acc,
            ty,
        })
    }

    /// An update through an accumulator, which gives the next one.
    pub(super) fn update(
        &mut self,
        target: &Target,
        acc: Var,
        index: Atom,
        values: Vec<Atom>,
    ) -> Var {
        update(&mut self.b, target, acc, index, values)
    }

    /// The updates of all points. What the array becomes comes into scope.
    pub(super) fn accumulate(
        &mut self,
        width: Size,
        arrays: Vec<Var>,
        lam: Lambda<Soac>,
        target: Target,
        op: Option<Operator<Soac>>,
    ) {
        let ty = self.b.ty(target.dest);
        let acc = Accumulation {
            token: target.token,
            params: vec![target.acc],
            dests: vec![target.dest],
            op,
        };
        let soac = Soac::WithAcc {
            width,
            arrays,
            lam,
            acc,
        };
        self.bind_all(vec![ty], soac);
    }
}

fn update(
    b: &mut Builder<'_, Soac>,
    target: &Target,
    acc: Var,
    index: Atom,
    values: Vec<Atom>,
) -> Var {
    let update = UpdateAcc {
        accs: vec![acc],
        index,
        values,
    };
    b.let_("acc", target.ty.clone(), Exp::Op(Soac::UpdateAcc(update)))
}
