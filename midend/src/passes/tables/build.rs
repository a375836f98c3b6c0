//! The operations that make tables, and the question whether they are worth it.

use super::{FEW, MOST_ASKED, Nest, divides};
use crate::fired::fired;
use crate::hash::{HashMap, HashSet};
use crate::interp::scalar::convert::convert;
use crate::ir::build::Builder;
use crate::ir::id::{SpanId, Var};
use crate::ir::scalar::{CmpOp, Const};
use crate::ir::seg::{Level, Seg, SegKind, SegOp, SegSpace, SpaceDim};
use crate::ir::syntax::{Atom, Exp, Stm, Vars};
use crate::ir::types::{ScalarType, Size, Type};

/// The number of values below a bound; a constant of any type is one of `i64`.
pub(super) fn extent(bound: Atom) -> Atom {
    match bound {
        Atom::Const(c) => convert(ScalarType::I64, c).into(),
        Atom::Var(_) => bound,
    }
}

/// The tables of an operation.
pub(super) fn tables(vars: &mut Vars, nest: &Nest, span: SpanId, out: &mut Vec<Stm<Seg>>) {
    for (table, made) in &nest.tables {
        fired("tables/made");
        let mut b = Builder::<Seg>::new(vars);
        b.span = span;
        let mut dims = Vec::new();
        let mut values: HashMap<Var, Atom> = HashMap::default();
        b.enter();
        for r in table {
            let range = &nest.ranges[*r];
            let index = b.fresh("i", Type::I64);
            dims.push((index, SpaceDim::Regular(Size::of(range.extent))));
            values.insert(range.counter, b.convert(ScalarType::I64, range.ty, index));
        }
        let numbers: Vec<Var> = made.iter().map(|(_, number)| *number).collect();
        let result = copied(&mut b, nest, &numbers, values);
        let body = b.leave(result);
        let op = SegOp {
            space: SegSpace { dims },
            level: Level::Device,
            tiled: 0,
            steady: false,
            body,
            kind: SegKind::Map,
        };
        let binds = made.iter().map(|(array, _)| *array).collect();
        b.bind(binds, Exp::Op(Seg::Par(op)));
        out.extend(b.finish(Vec::new()).stms);
    }
}

/// Code that computes numbers for given values of counters and indices.
fn copied(
    b: &mut Builder<'_, Seg>,
    nest: &Nest,
    numbers: &[Var],
    mut new: HashMap<Var, Atom>,
) -> Vec<Atom> {
    let mut needed: HashSet<Var> = numbers.iter().copied().collect();
    for v in nest.order.iter().rev() {
        if needed.contains(v) {
            let args = nest.shared[v].exp.1.iter();
            needed.extend(args.filter_map(|a| a.as_var()));
        }
    }
    let renamed = |new: &HashMap<Var, Atom>, a: Atom| {
        let changed = a.as_var().and_then(|v| new.get(&v).copied());
        changed.unwrap_or(a)
    };
    for v in nest.order.iter().filter(|v| needed.contains(v)) {
        let (op, args) = &nest.shared[v].exp;
        let mut args: Vec<Atom> = args.iter().map(|a| renamed(&new, *a)).collect();
        if let (Some(ty), Some(divisor)) = (divides(*op), args.get_mut(1))
            && divisor.as_const().is_none_or(|c| c == Const::zero(ty))
        {
            let none = b.cmp(CmpOp::Eq, ty, *divisor, Const::zero(ty));
            *divisor = b.select(ty, none, convert(ty, Const::I64(1)), *divisor);
        }
        let value = b.scalar("x", *op, args);
        new.insert(*v, value);
    }
    numbers.iter().map(|v| renamed(&new, (*v).into())).collect()
}

/// Whether the tables whose extents are not known are small, and shared by many points.
pub(super) fn question(
    vars: &mut Vars,
    nest: &Nest,
    span: SpanId,
    out: &mut Vec<Stm<Seg>>,
) -> Atom {
    let mut b = Builder::<Seg>::new(vars);
    b.span = span;
    let mut all = Atom::bool(true);
    for table in nest.tables.keys().filter(|table| nest.is_asked(table)) {
        // Extents of which each is small have a product that is a number.
        let mut size = Atom::ONE;
        for r in table {
            let extent = nest.ranges[*r].extent;
            let some = b.le(1, extent);
            let small = b.le(extent, MOST_ASKED);
            let fits = b.and(some, small);
            all = b.and(all, fits);
            size = b.mul(size, extent);
        }
        let small = b.le(size, MOST_ASKED);
        all = b.and(all, small);
        // Products of numbers of points wrap around only where there are more than memory holds.
        let others: Vec<Atom> = nest.others(table).collect();
        let shared = b.product(others);
        let many = b.le(FEW, shared);
        all = b.and(all, many);
    }
    out.extend(b.finish(Vec::new()).stms);
    all
}
