//! Updates of arrays through accumulators.

use super::Gen;
use midend::ir::build::Builder;
use midend::ir::id::Var;
use midend::ir::scalar::BinOp;
use midend::ir::soac::{Accumulation, Operator, Soac, UpdateAcc};
use midend::ir::syntax::{Atom, Exp, Lambda};
use midend::ir::types::{AccType, ScalarType, Size, Type};

const I64: ScalarType = ScalarType::I64;

/// Arrays that points update through accumulators, all of one place at once.
pub(super) struct Target {
    dests: Vec<Var>,
    token: Var,
    /// The accumulators that points begin with.
    pub(super) accs: Vec<Var>,
    types: Vec<Type>,
}

/// What an update needs besides the accumulators: where, and values.
type Change = (Atom, Vec<Atom>);

impl Gen<'_> {
    /// Updates through accumulators, the second under a condition: with an operator anywhere, else of one place per element.
    pub(super) fn accumulating(&mut self) -> Option<()> {
        if self.depth > 2 {
            return None;
        }
        let (width, len) = (self.size(), self.size());
        let fold = self.rng.chance(70).then(|| self.unordered_fold());
        let elem = self.scalar_type();
        let (items, mut params) = self.inputs(width);
        let index = self.b.fresh("i", Type::I64);
        params.push(index);
        let dests = match fold {
            Some(fold) => self.places(fold, &[len]),
            None => vec![self.fresh_array(elem, &[len])],
        };
        let target = self.target(dests)?;
        let most = self.most(width);
        let (body, ()) = self.nested(most, |g, _| {
            g.add_params(&params);
            g.statements(3);
            let shift = g.rng.below(5) as i64 - 2;
            let own = g.b.add(index, shift);
            let [first, second] = [(); 2].map(|()| match fold {
                Some(fold) => {
                    let raw = g.scalar(I64);
                    let range = g.b.add(len, 2);
                    let place = g.b.bin(BinOp::Mod, I64, raw, range);
                    (g.b.sub(place, 1), g.fold_elements(fold))
                }
                None => (own, vec![g.scalar(elem)]),
            });
            let cond = g.scalar(ScalarType::Bool);
            let first = update(&mut g.b, &target, &target.accs, first);
            let all = atoms(&first);
            let second = |b: &mut Builder<'_, Soac>| atoms(&update(b, &target, &first, second));
            let types = target.types.iter();
            let formals: Vec<_> = types.map(|ty| ("acc", ty.clone())).collect();
            let last = g.b.if_(cond, &formals, second, |_| all);
            (atoms(&last), ())
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

    /// Makes arrays those that are updated through accumulators.
    pub(super) fn target(&mut self, dests: Vec<Var>) -> Option<Target> {
        let token = self.b.fresh("token", Type::Cert);
        let mut types = Vec::new();
        for (part, dest) in dests.iter().enumerate() {
            let Type::Array(array) = self.b.ty(*dest) else {
                return None;
            };
            types.push(Type::Acc(AccType { token, part, array }));
        }
        let fresh = |ty: &Type| self.b.fresh("acc", ty.clone());
        let accs = types.iter().map(fresh).collect();
        Some(Target {
            dests,
            token,
            accs,
            types,
        })
    }

    /// The first update of a point, which gives the next accumulators.
    pub(super) fn update(&mut self, target: &Target, index: Atom, values: Vec<Atom>) -> Vec<Atom> {
        atoms(&update(&mut self.b, target, &target.accs, (index, values)))
    }

    /// The updates of all points. What the arrays become comes into scope.
    pub(super) fn accumulate(
        &mut self,
        width: Size,
        arrays: Vec<Var>,
        lam: Lambda<Soac>,
        target: Target,
        op: Option<Operator<Soac>>,
    ) {
        let types = target.dests.iter().map(|&dest| self.b.ty(dest)).collect();
        let acc = Accumulation {
            token: target.token,
            params: target.accs,
            dests: target.dests,
            op,
        };
        let soac = Soac::WithAcc {
            width,
            arrays,
            lam,
            acc,
        };
        self.bind_all(types, soac);
    }
}

fn update(
    b: &mut Builder<'_, Soac>,
    target: &Target,
    accs: &[Var],
    (index, values): Change,
) -> Vec<Var> {
    let accs = accs.to_vec();
    let update = UpdateAcc {
        accs,
        index,
        values,
    };
    let types = target.types.iter();
    let formals: Vec<_> = types.map(|ty| ("acc", ty.clone())).collect();
    b.let_all(&formals, Exp::Op(Soac::UpdateAcc(update)))
}

fn atoms(vars: &[Var]) -> Vec<Atom> {
    vars.iter().copied().map(Atom::Var).collect()
}
