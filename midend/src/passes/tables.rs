//! What costs much and depends on indices and counters of few values only is computed once, before the parallel operation, and
//! read from a table inside of it.
//!
//! ```text
//!                                            table = segmap device (s < 5, j < 32) { cos(f(s, j)) }
//! segmap device (i < n) {                    segmap device (i < n) {
//!   loop (ys = xs) for s < 5 {                 loop (ys = xs) for s < 5 {
//!     segmap block (j < 32) {                    segmap block (j < 32) {
//!       w = cos(f(s, j))              ──►          w = index table[s, j]
//!       w * ys[j]                                  w * ys[j]
//! ```
//!
//! A table has an element for each combination of values of the counters and indices that the number depends on. It is worth it where
//! the operation has many points besides these, each of which would compute all of it again. Where extents are not known, there
//! are two versions, of which the host takes the one with tables if they are small and shared by many points.
//!
//! This rests on rows that have one length and on loops that go the same way for all points: without the analysis of regularity there
//! are no tables. Only scalar code is taken along, which cannot fail; where it divides, a divisor that is zero is one in the
//! table, since what checks the divisor stays where it was.

mod build;

use crate::fired::fired;
use crate::hash::{HashMap, HashSet};
use crate::ir::array::ArrayOp;
use crate::ir::build::Builder;
use crate::ir::id::Var;
use crate::ir::rename::{self, Subst};
use crate::ir::scalar::{BinOp, ScalarOp};
use crate::ir::seg::{Seg, SegKind, SegOp, SpaceDim};
use crate::ir::syntax::{Atom, Body, Exp, LoopForm, Stm, VarInfo, Vars};
use crate::ir::types::{ScalarType, Size, Type};
use crate::ir::walk::{all_stms, deep};
use crate::math::{computed_by, definition};
use crate::pass::Pass;
use std::collections::{BTreeMap, BTreeSet};

/// The pass.
pub const PASS: Pass<Seg> = Pass {
    name: "tables",
    summary: "what points of an operation would compute again, for few values, is computed before it",
    run: |program, cx| {
        if cx.options.is_without("regularity") {
            return program;
        }
        program.map_funs(|vars, fun| host(vars, &mut fun.body))
    },
};

/// The most elements of a table whose extents are known: what caches near a core hold beside all else.
const MOST: i64 = 4096;
/// The most elements of another: what caches hold.
const MOST_ASKED: i64 = 1 << 18;
/// An element that fewer points share is not worth it.
const FEW: i64 = 16;
/// The most dimensions of a table.
const DIMENSIONS: usize = 3;
/// Operations of a definition from which on it is worth a table.
const LONG: usize = 8;

/// Code that is not inside of a parallel operation.
fn host(vars: &mut Vars, body: &mut Body<Seg>) {
    let mut out = Vec::with_capacity(body.stms.len());
    for mut stm in std::mem::take(&mut body.stms) {
        let is_par = matches!(stm.exp, Exp::Op(Seg::Par(_)));
        if !is_par {
            deep(|| stm.exp.bodies_mut(&mut |inner| host(vars, inner)));
        }
        if is_par && has_functions(&stm) {
            with_tables(vars, stm, &mut out);
        } else {
            out.push(stm);
        }
    }
    body.stms = out;
}

/// Whether a statement computes functions that are many operations.
fn has_functions(stm: &Stm<Seg>) -> bool {
    let Exp::Op(Seg::Par(op)) = &stm.exp else {
        return false;
    };
    let mut found = false;
    all_stms(&op.body, &mut |stm| {
        found |= matches!(&stm.exp, Exp::Scalar(op, _) if is_function(*op));
    });
    found
}

/// A parallel operation of host code, with tables if there is something for them.
fn with_tables(vars: &mut Vars, mut stm: Stm<Seg>, out: &mut Vec<Stm<Seg>>) {
    let mut nest = Nest::default();
    let original = stm.clone();
    let Exp::Op(Seg::Par(op)) = &mut stm.exp else {
        return out.push(stm);
    };
    nest.asks = can_be_asked(vars, op, &original.binds);
    nest.indices(op);
    nest.space = 0..nest.ranges.len();
    deep(|| nest.inner(vars, &mut op.body));
    if nest.tables.is_empty() {
        return out.push(original);
    }
    if !nest.tables.keys().any(|table| nest.is_asked(table)) {
        build::tables(vars, &nest, stm.span, out);
        return out.push(stm);
    }
    fired("tables/asked");
    let enough = build::question(vars, &nest, stm.span, out);
    let copy = |vars: &mut Vars, stm: &Stm<Seg>, mut stms: Vec<Stm<Seg>>| {
        let copied = rename::stm(vars, &mut Subst::new(), stm);
        let result = copied.binds.iter().map(|v| Atom::Var(*v)).collect();
        stms.push(copied);
        Body { stms, result }
    };
    let mut made = Vec::new();
    build::tables(vars, &nest, stm.span, &mut made);
    let then = copy(vars, &stm, made);
    let otherwise = copy(vars, &original, Vec::new());
    out.push(Stm {
        binds: original.binds,
        certs: original.certs,
        exp: Exp::If {
            cond: enough,
            then,
            otherwise,
        },
        span: original.span,
    });
}

/// Whether there can be two versions of an operation: it makes arrays of sizes that are known before.
fn can_be_asked(vars: &Vars, op: &SegOp, binds: &[Var]) -> bool {
    let makes = match op.kind {
        SegKind::Map | SegKind::Red(_) | SegKind::Scan(_) => true,
        SegKind::Hist(_) | SegKind::Scatter(_) | SegKind::Filter | SegKind::WithAcc(_) => false,
    };
    let own = |v: &Var| {
        let dims = vars[*v].ty.shape().iter();
        dims.filter_map(|dim| dim.var())
            .any(|size| binds.contains(&size))
    };
    makes && !binds.iter().any(own)
}

/// Values from zero to below a bound.
struct Range {
    ty: ScalarType,
    extent: Atom,
    counter: Var,
}

/// A number that is the same for all points that have the same values of some ranges.
struct Shared {
    exp: (ScalarOp, Vec<Atom>),
    ranges: BTreeSet<usize>,
}

/// What is known inside of a parallel operation of host code.
#[derive(Default)]
struct Nest {
    /// Whether there can be a version that the host chooses.
    asks: bool,
    /// What is bound inside of it so far.
    inside: HashSet<Var>,
    ranges: Vec<Range>,
    /// The ranges of the space.
    space: std::ops::Range<usize>,
    /// Counters and indices.
    counters: HashMap<Var, usize>,
    shared: HashMap<Var, Shared>,
    /// The variables of `shared` in their order.
    order: Vec<Var>,
    /// For each set of ranges the tables over it, and what is in them.
    tables: BTreeMap<Vec<usize>, Vec<(Var, Var)>>,
}

impl Nest {
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
    fn others(&self, table: &[usize]) -> impl Iterator<Item = Atom> {
        let others = self.space.clone().filter(|r| !table.contains(r));
        others.map(|r| self.ranges[r].extent)
    }

    /// Whether it depends on extents that are not known whether a table is worth it.
    fn is_asked(&self, table: &[usize]) -> bool {
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

    /// Code inside of a parallel operation.
    fn inner(&mut self, vars: &mut Vars, body: &mut Body<Seg>) {
        let mut out = Vec::with_capacity(body.stms.len());
        for mut stm in std::mem::take(&mut body.stms) {
            match &mut stm.exp {
                Exp::Scalar(op, args) => {
                    let exp = (*op, args.clone());
                    self.number(vars, &mut stm, exp, &mut out);
                }
                Exp::If {
                    cond: _,
                    then,
                    otherwise,
                } => deep(|| {
                    self.inner(vars, then);
                    self.inner(vars, otherwise);
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
                        LoopForm::While(cond) => deep(|| self.inner(vars, cond)),
                    }
                    deep(|| self.inner(vars, body));
                }
                Exp::Op(Seg::Par(op)) => {
                    self.indices(op);
                    deep(|| self.inner(vars, &mut op.body));
                    bound_inside(op, &mut self.inside);
                }
                Exp::Op(Seg::Array(_) | Seg::UpdateAcc(_))
                | Exp::Atom(_)
                | Exp::Assert { .. }
                | Exp::Guard { .. }
                | Exp::Call { .. } => {}
            }
            self.inside.extend(&stm.binds);
            out.push(stm);
        }
        body.stms = out;
    }

    /// A scalar operation. If it is costly, what it yields is read from a table.
    fn number(
        &mut self,
        vars: &mut Vars,
        stm: &mut Stm<Seg>,
        exp: (ScalarOp, Vec<Atom>),
        out: &mut Vec<Stm<Seg>>,
    ) {
        let (op, args) = (exp.0, &exp.1);
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
        if is_costly(op, args) && self.is_worth_it(&table) {
            fired("tables/read");
            let of = |r: &usize| Size::of(self.ranges[*r].extent);
            let extents: Vec<Size> = table.iter().map(of).collect();
            let ty = Type::array_of(&Type::Scalar(op.result()), &extents);
            let name = "table".into();
            let array = vars.push(VarInfo { name, ty });
            let mut b = Builder::<Seg>::new(vars);
            b.span = stm.span;
            let index = |r: &usize| {
                let Range { ty, counter, .. } = self.ranges[*r];
                b.convert(ty, ScalarType::I64, counter)
            };
            let indices = table.iter().map(index).collect();
            stm.exp = Exp::Op(Seg::Array(ArrayOp::Index { array, indices }));
            for made in b.finish(Vec::new()).stms {
                self.inside.extend(&made.binds);
                out.push(made);
            }
            self.tables.entry(table).or_default().push((array, bind));
        }
        self.shared.insert(bind, Shared { exp, ranges });
        self.order.push(bind);
    }
}

/// The product of extents, if all are known.
fn known(mut extents: impl Iterator<Item = Atom>) -> Option<i64> {
    extents.try_fold(1i64, |n, extent| n.checked_mul(extent.as_i64()?))
}

/// What the operators of an operation bind.
fn bound_inside(op: &SegOp, inside: &mut HashSet<Var>) {
    all_stms(&op.body, &mut |stm| inside.extend(&stm.binds));
}

/// The type of what an operation divides that has no value where the divisor is zero.
fn divides(op: ScalarOp) -> Option<ScalarType> {
    match op {
        ScalarOp::Bin(BinOp::Div | BinOp::Mod | BinOp::Quot | BinOp::Rem, ty)
            if ty.is_integer() =>
        {
            Some(ty)
        }
        ScalarOp::Bin(..)
        | ScalarOp::Un(..)
        | ScalarOp::Cmp(..)
        | ScalarOp::Tern(..)
        | ScalarOp::Convert(..)
        | ScalarOp::ToBits(_)
        | ScalarOp::FromBits(_)
        | ScalarOp::Select(_) => None,
    }
}

/// Whether an operation is a function that is many operations.
fn is_function(op: ScalarOp) -> bool {
    definition(computed_by(op)).is_some_and(|code| code.body.stms.len() >= LONG)
}

/// Whether an operation takes much longer than to read a number that is near: a function, or a division of 64 bits by what is not
/// known.
fn is_costly(op: ScalarOp, args: &[Atom]) -> bool {
    let long = |ty: ScalarType| ty.bytes() == 8;
    if divides(op).is_some_and(long) {
        return args.get(1).is_some_and(|a| a.as_const().is_none());
    }
    is_function(op)
}
