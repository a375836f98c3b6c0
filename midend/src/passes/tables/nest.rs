//! What numbers inside of a parallel operation are the same for all points that have the same values of some counters and indices, and which of
//! them tables hold.

use super::{Cost, DIMENSIONS, FEW, MOST, build, cost};
use crate::hash::{HashMap, HashSet};
use crate::ir::id::Var;
use crate::ir::scalar::{BinOp, ScalarOp};
use crate::ir::seg::{Seg, SegOp, SpaceDim};
use crate::ir::syntax::{Atom, Body, Exp, LoopForm, Stm, VarInfo, Vars};
use crate::ir::types::{ScalarType, Size, Type};
use crate::ir::walk::{all_bodies, all_stms, deep, result_uses, stm_uses};
use std::collections::{BTreeMap, BTreeSet};

/// Values from zero to below a bound.
pub(super) struct Range {
    pub(super) ty: ScalarType,
    pub(super) extent: Atom,
    pub(super) counter: Var,
}

/// A number that is the same for all points that have the same values of some ranges.
pub(super) struct Shared {
    pub(super) exp: (ScalarOp, Vec<Atom>),
    ranges: BTreeSet<usize>,
}

/// A number that a table over these ranges may hold.
struct Found {
    table: Vec<usize>,
    number: Var,
    cost: Cost,
}

/// What is known inside of a parallel operation of host code.
#[derive(Default)]
pub(super) struct Nest {
    /// Whether there can be a version that the host chooses.
    asks: bool,
    /// What is bound inside of it so far.
    inside: HashSet<Var>,
    pub(super) ranges: Vec<Range>,
    /// The ranges of the space.
    space: std::ops::Range<usize>,
    /// Counters and indices.
    counters: HashMap<Var, usize>,
    pub(super) shared: HashMap<Var, Shared>,
    /// The variables of `shared` in their order.
    pub(super) order: Vec<Var>,
    /// What tables may hold, in the order in which it is computed.
    found: Vec<Found>,
    /// For each set of ranges the tables over it, and what is in them.
    pub(super) tables: BTreeMap<Vec<usize>, Vec<(Var, Var)>>,
    /// The numbers that are read from tables: the ranges and the table of each.
    pub(super) read: HashMap<Var, (Vec<usize>, Var)>,
}

impl Nest {
    /// What there is in an operation, and the tables that it reads if there are any. `asks` tells whether there can be a version that the host
    /// chooses.
    pub(super) fn of(vars: &mut Vars, op: &SegOp, asks: bool) -> Self {
        let mut nest = Self {
            asks,
            ..Self::default()
        };
        nest.indices(op);
        nest.space = 0..nest.ranges.len();
        deep(|| nest.look(vars, &op.body));
        nest.choose(vars, op);
        nest
    }

    /// Makes tables over ranges that a function depends on, of what is used by more than numbers of tables.
    fn choose(&mut self, vars: &mut Vars, op: &SegOp) {
        let long = self.found.iter().filter(|found| found.cost == Cost::Long);
        let tables: BTreeSet<Vec<usize>> = long.map(|found| found.table.clone()).collect();
        if tables.is_empty() {
            return;
        }
        let mut found = std::mem::take(&mut self.found);
        found.retain(|found| tables.contains(&found.table));
        let held: HashSet<Var> = found.iter().map(|found| found.number).collect();
        let mut used = self.used(vars, op);
        for v in self.order.iter().rev() {
            if used.contains(v) && !held.contains(v) {
                let args = self.shared[v].exp.1.iter();
                used.extend(args.filter_map(|a| a.as_var()));
            }
        }
        found.retain(|found| used.contains(&found.number));
        for Found { table, number, .. } in found {
            let of = |r: &usize| Size::of(self.ranges[*r].extent);
            let extents: Vec<Size> = table.iter().map(of).collect();
            let ty = Type::array_of(&vars[number].ty, &extents);
            let name = "table".into();
            let array = vars.push(VarInfo { name, ty });
            self.read.insert(number, (table.clone(), array));
            self.tables.entry(table).or_default().push((array, number));
        }
    }

    /// What is used by other code than that of shared numbers.
    fn used(&self, vars: &Vars, op: &SegOp) -> HashSet<Var> {
        let mut used = HashSet::default();
        all_bodies(&op.body, &mut |body| {
            result_uses(body, &mut |v| {
                used.insert(v);
            });
            let bound = |stm: &&Stm<Seg>| {
                stm.binds
                    .first()
                    .is_some_and(|v| self.shared.contains_key(v))
            };
            for stm in body.stms.iter().filter(|stm| !bound(stm)) {
                stm_uses(vars, stm, &mut |v| {
                    used.insert(v);
                });
            }
        });
        used
    }

    /// The ranges that an atom depends on, if it is the same for all points apart from these.
    fn depends(&self, atom: Atom) -> Option<BTreeSet<usize>> {
        let Atom::Var(v) = atom else {
            return Some(BTreeSet::new());
        };
        if let Some(range) = self.counters.get(&v) {
            return Some(BTreeSet::from([*range]));
        }
        if let Some(shared) = self.shared.get(&v) {
            return Some(shared.ranges.clone());
        }
        (!self.inside.contains(&v)).then(BTreeSet::new)
    }

    /// The dimensions of the space that a table does not have.
    pub(super) fn others(&self, table: &[usize]) -> impl Iterator<Item = Atom> {
        let others = self.space.clone().filter(|r| !table.contains(r));
        others.map(|r| self.ranges[r].extent)
    }

    /// Whether it depends on extents that are not known whether a table is worth it.
    pub(super) fn is_asked(&self, table: &[usize]) -> bool {
        table
            .iter()
            .any(|r| self.ranges[*r].extent.as_i64().is_none())
    }

    /// Whether a table over these ranges may be worth it.
    fn is_worth_it(&self, table: &[usize]) -> bool {
        if table.is_empty() || table.len() > DIMENSIONS || self.is_asked(table) && !self.asks {
            return false;
        }
        let size = known(table.iter().map(|r| self.ranges[*r].extent));
        let shared = known(self.others(table));
        size.is_none_or(|n| n <= MOST) && shared.is_none_or(|n| n >= FEW)
    }

    /// A variable with the values of a range.
    fn count(&mut self, counter: Var, ty: ScalarType, extent: Atom) {
        let known = match extent {
            Atom::Const(_) => extent.as_i64().is_some_and(|n| n > 0),
            Atom::Var(v) => !self.inside.contains(&v),
        };
        self.inside.insert(counter);
        if known {
            self.counters.insert(counter, self.ranges.len());
            self.ranges.push(Range {
                ty,
                extent,
                counter,
            });
        }
    }

    /// The indices of a space.
    fn indices(&mut self, op: &SegOp) {
        for (index, dim) in &op.space.dims {
            match dim {
                SpaceDim::Regular(extent) => self.count(*index, ScalarType::I64, (*extent).into()),
                SpaceDim::Ragged { .. } => {
                    self.inside.insert(*index);
                }
            }
        }
    }

    /// Looks at code inside of a parallel operation.
    fn look(&mut self, vars: &Vars, body: &Body<Seg>) {
        for stm in &body.stms {
            match &stm.exp {
                Exp::Scalar(op, args) => self.number(stm, *op, args),
                Exp::If {
                    cond: _,
                    then,
                    otherwise,
                } => deep(|| {
                    self.look(vars, then);
                    self.look(vars, otherwise);
                }),
                Exp::Loop { params, form, body } => {
                    self.inside.extend(params.iter().map(|p| p.var));
                    match form {
                        LoopForm::For { index, bound } => {
                            let ty = vars[*index].ty.elem().unwrap_or(ScalarType::I64);
                            self.count(*index, ty, build::extent(*bound));
                            if ty != ScalarType::I64 && bound.as_const().is_none() {
                                self.counters.remove(index);
                            }
                        }
                        LoopForm::While(cond) => deep(|| self.look(vars, cond)),
                    }
                    deep(|| self.look(vars, body));
                }
                Exp::Op(Seg::Par(op)) => {
                    self.indices(op);
                    deep(|| self.look(vars, &op.body));
                    all_stms(&op.body, &mut |stm| self.inside.extend(&stm.binds));
                }
                Exp::Op(Seg::Array(_) | Seg::UpdateAcc(_))
                | Exp::Atom(_)
                | Exp::Assert { .. }
                | Exp::Guard { .. }
                | Exp::Call { .. } => {}
            }
            self.inside.extend(&stm.binds);
        }
    }

    /// A scalar operation. If it is costly, a table may hold what it yields.
    fn number(&mut self, stm: &Stm<Seg>, op: ScalarOp, args: &[Atom]) {
        let mut ranges = BTreeSet::new();
        for arg in args {
            let Some(more) = self.depends(*arg) else {
                return;
            };
            ranges.extend(more);
        }
        let &[bind] = &stm.binds[..] else { return };
        if matches!(op, ScalarOp::Bin(BinOp::Pow, ty) if ty.is_integer()) {
            return;
        }
        let table: Vec<usize> = ranges.iter().copied().collect();
        if let Some(cost) = cost(op, args)
            && self.is_worth_it(&table)
        {
            self.found.push(Found {
                table,
                number: bind,
                cost,
            });
        }
        let exp = (op, args.to_vec());
        self.shared.insert(bind, Shared { exp, ranges });
        self.order.push(bind);
    }
}

/// The product of extents, if all are known.
fn known(mut extents: impl Iterator<Item = Atom>) -> Option<i64> {
    extents.try_fold(1i64, |n, extent| n.checked_mul(extent.as_i64()?))
}
