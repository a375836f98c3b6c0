//! Sums of the differences of neighbours are differences from the first: offsets that a program has are not summed of lengths again.
//!
//! ```text
//! segmap (i < n) {                                  ends = segmap (i < n) {
//!   a = index A[i]; b = index A[i + 1]                a = index A[i]; b = index A[i + 1]
//!   d = b - a; assert (0 <= d)                        d = b - a; assert (0 <= d)
//!   yield                                             first = index A[0]; e = b - first
//! }                                           ──►     yield e
//! ends = segscan (i < n) {                          }
//!   d = index A[i + 1] - index A[i]
//!   l = max d 0
//!   yield l
//! } scan (+)
//! ```
//!
//! Who goes through rows of these lengths finds them from the first offset on ([`starts`]).
//!
//! Where lengths are clamped at zero, a map over the same points before must check that none is negative; it makes the differences,
//! too. Numbers wrap around, which changes nothing: what is between is added and taken away again.

mod starts;

use crate::fired::fired;
use crate::hash::{HashMap, HashSet};
use crate::ir::array::ArrayOp;
use crate::ir::id::Var;
use crate::ir::scalar::{BinOp, CmpOp, Const, ScalarOp, UnOp};
use crate::ir::seg::{Seg, SegKind, SegOp, SpaceDim};
use crate::ir::soac::Operator;
use crate::ir::syntax::{Atom, Body, Exp, Program, Stm, VarInfo, Vars};
use crate::ir::types::{ScalarType, Size, Type};
use crate::ir::walk::deep;
use crate::pass::Pass;

/// The pass.
pub const PASS: Pass<Seg> = Pass {
    name: "differences",
    summary: "sums of the differences of neighbours are differences from the first",
    run: |mut program, _| {
        let Program { vars, funs, .. } = &mut program;
        for fun in funs.iter_mut() {
            body(vars, &mut fun.body);
        }
        program
    },
};

/// Host code, and what is nested in it.
fn body(vars: &mut Vars, body_: &mut Body<Seg>) {
    let mut i = 0;
    while i < body_.stms.len() {
        if matches!(body_.stms[i].exp, Exp::Op(Seg::Par(_))) {
            if rewritten(vars, &mut body_.stms, i) {
                continue;
            }
        } else {
            let exp = &mut body_.stms[i].exp;
            deep(|| exp.bodies_mut(&mut |inner| body(vars, inner)));
        }
        i += 1;
    }
}

/// The difference of two neighbours of an array at a point: of those so far from the index of the point and one further.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Difference {
    array: Var,
    from: i64,
}

/// Rewrites the statement with this number if it is a scan of differences. Whether it has gone.
fn rewritten(vars: &mut Vars, stms: &mut Vec<Stm<Seg>>, at: usize) -> bool {
    let Some((width, of, clamped)) = scanned(&stms[at]) else {
        return false;
    };
    if !clamped {
        if let Exp::Op(Seg::Par(op)) = &mut stms[at].exp {
            fired("differences/as-they-are");
            op.kind = SegKind::Map;
            op.body.result.clear();
            from_first(vars, op, of);
        }
        if let [ends] = stms[at].binds[..] {
            starts::named(vars, &mut stms[at..], ends, of);
        }
        return false;
    }
    let check = (0..at).rev().find(|&k| checks(&stms[k], width, of));
    let Some(check) = check else { return false };
    fired("differences/checked");
    let scan = stms.remove(at);
    // How many offsets there are is known before, so that the place of the sums among them is.
    let mut bound: HashSet<Var> = HashSet::default();
    let mut next = check;
    for k in check..at {
        let free = match &stms[k].exp {
            Exp::Scalar(_, args) => args
                .iter()
                .all(|a| a.as_var().is_none_or(|v| !bound.contains(&v))),
            Exp::Atom(_)
            | Exp::Assert { .. }
            | Exp::Guard { .. }
            | Exp::If { .. }
            | Exp::Loop { .. }
            | Exp::Call { .. }
            | Exp::Op(_) => false,
        };
        if free && stms[k].certs.is_empty() {
            let stm = stms.remove(k);
            stms.insert(next, stm);
            next += 1;
        } else {
            bound.extend(stms[k].binds.iter().copied());
        }
    }
    let stm = &mut stms[next];
    let ends = scan.binds.first().copied();
    stm.binds.extend(scan.binds);
    if let Exp::Op(Seg::Par(op)) = &mut stm.exp {
        from_first(vars, op, of);
    }
    if let Some(ends) = ends {
        starts::named(vars, &mut stms[next..], ends, of);
    }
    true
}

/// The width, the differences, and whether these are clamped at zero, of a statement that sums differences.
fn scanned(stm: &Stm<Seg>) -> Option<(Size, Difference, bool)> {
    let (Exp::Op(Seg::Par(op)), [_]) = (&stm.exp, &stm.binds[..]) else {
        return None;
    };
    let (SegKind::Scan(ops), &[result]) = (&op.kind, &op.body.result[..]) else {
        return None;
    };
    let [sum] = &ops[..] else { return None };
    let simple = |stm: &Stm<Seg>| match &stm.exp {
        Exp::Atom(_) | Exp::Scalar(..) | Exp::Op(Seg::Array(ArrayOp::Index { .. })) => true,
        Exp::Op(_)
        | Exp::Assert { .. }
        | Exp::Guard { .. }
        | Exp::If { .. }
        | Exp::Loop { .. }
        | Exp::Call { .. } => false,
    };
    if !adds(sum) || !op.body.stms.iter().all(simple) {
        return None;
    }
    let (width, point) = Point::of(op)?;
    let max = point.scalar(result, ScalarOp::Bin(BinOp::Max, ScalarType::I64));
    let inner = match max {
        Some(&[d, Atom::ZERO] | &[Atom::ZERO, d]) => d,
        Some(_) | None => result,
    };
    Some((width, point.difference(inner)?, max.is_some()))
}

/// Whether an operator adds numbers.
fn adds(op: &Operator<Seg>) -> bool {
    let (params, body) = (&op.lam.params, &op.lam.body);
    let ([stm], &[a, b]) = (&body.stms[..], &params[..]) else {
        return false;
    };
    let Exp::Scalar(ScalarOp::Bin(BinOp::Add, ScalarType::I64), args) = &stm.exp else {
        return false;
    };
    let both = [Atom::from(a), Atom::from(b)];
    op.neutral == [Atom::ZERO]
        && body.result == [Atom::from(stm.binds[0])]
        && (args[..] == both || args[..] == [both[1], both[0]])
}

/// Whether a statement is a map over so many points that fails where a difference is negative.
fn checks(stm: &Stm<Seg>, width: Size, of: Difference) -> bool {
    let Exp::Op(Seg::Par(op)) = &stm.exp else {
        return false;
    };
    let (SegKind::Map, Some((points, point))) = (&op.kind, Point::of(op)) else {
        return false;
    };
    points == width
        && op.body.stms.iter().any(|stm| match &stm.exp {
            Exp::Assert { cond, .. } => point.is_positive(of, *cond, true),
            Exp::Atom(_)
            | Exp::Scalar(..)
            | Exp::Guard { .. }
            | Exp::If { .. }
            | Exp::Loop { .. }
            | Exp::Call { .. }
            | Exp::Op(_) => false,
        })
}

/// Lets a map yield, besides what it does, how far the second of each two neighbours is from the first of all.
fn from_first(vars: &mut Vars, op: &mut SegOp, of: Difference) {
    let Some((_, point)) = Point::of(op) else {
        return;
    };
    let reads =
        |stm: &&Stm<Seg>, from: i64| point.neighbour(stm.binds[0].into()) == Some((of.array, from));
    let find = |from: i64| {
        op.body
            .stms
            .iter()
            .find(|stm| !stm.binds.is_empty() && reads(stm, from))
    };
    let (Some(a), Some(b)) = (find(of.from), find(of.from + 1)) else {
        return;
    };
    let (b, certs, span) = (b.binds[0], a.certs.clone(), a.span);
    let mut bind = |name: &str| {
        vars.push(VarInfo {
            name: name.to_owned(),
            ty: Type::I64,
        })
    };
    let (first, ahead) = (bind("first"), bind("ahead"));
    let read = ArrayOp::Index {
        array: of.array,
        indices: vec![Atom::i64(of.from)],
    };
    let sub = ScalarOp::Bin(BinOp::Sub, ScalarType::I64);
    let mut push = |bind, certs, exp| {
        op.body.stms.push(Stm {
            binds: vec![bind],
            certs,
            exp,
            span,
        });
    };
    // Where the neighbours of a point are in the array, so is the first.
    push(first, certs, Exp::Op(Seg::Array(read)));
    push(
        ahead,
        Vec::new(),
        Exp::Scalar(sub, vec![b.into(), first.into()]),
    );
    op.body.result.push(ahead.into());
}

/// What a point of a space of one dimension computes.
struct Point<'b> {
    index: Var,
    exps: HashMap<Var, &'b Exp<Seg>>,
}

impl<'b> Point<'b> {
    fn of(op: &'b SegOp) -> Option<(Size, Self)> {
        let &[(index, SpaceDim::Regular(width))] = &op.space.dims[..] else {
            return None;
        };
        let one = |stm: &'b Stm<Seg>| match stm.binds[..] {
            [bind] => Some((bind, &stm.exp)),
            _ => None,
        };
        let exps = op.body.stms.iter().filter_map(one).collect();
        Some((width, Self { index, exps }))
    }

    /// The operands of what an atom is, if that is this operation.
    fn scalar(&self, atom: Atom, op: ScalarOp) -> Option<&'b [Atom]> {
        match self.exps.get(&atom.as_var()?)? {
            Exp::Scalar(found, args) if *found == op => Some(args),
            Exp::Scalar(..)
            | Exp::Atom(_)
            | Exp::Assert { .. }
            | Exp::Guard { .. }
            | Exp::If { .. }
            | Exp::Loop { .. }
            | Exp::Call { .. }
            | Exp::Op(_) => None,
        }
    }

    /// How far from the index of the point a place is.
    fn ahead_of_index(&self, place: Atom) -> Option<i64> {
        if place.as_var() == Some(self.index) {
            return Some(0);
        }
        match *self.scalar(place, ScalarOp::Bin(BinOp::Add, ScalarType::I64))? {
            [Atom::Var(v), Atom::Const(Const::I64(k))]
            | [Atom::Const(Const::I64(k)), Atom::Var(v)]
                if v == self.index && k >= 0 =>
            {
                Some(k)
            }
            _ => None,
        }
    }

    /// The array that an atom is an element of, and how far from the index of the point.
    fn neighbour(&self, atom: Atom) -> Option<(Var, i64)> {
        match self.exps.get(&atom.as_var()?)? {
            Exp::Op(Seg::Array(ArrayOp::Index { array, indices })) => match indices[..] {
                // What the body makes itself is another one at each point.
                [place] if !self.exps.contains_key(array) => {
                    Some((*array, self.ahead_of_index(place)?))
                }
                _ => None,
            },
            Exp::Op(_)
            | Exp::Scalar(..)
            | Exp::Atom(_)
            | Exp::Assert { .. }
            | Exp::Guard { .. }
            | Exp::If { .. }
            | Exp::Loop { .. }
            | Exp::Call { .. } => None,
        }
    }

    fn difference(&self, atom: Atom) -> Option<Difference> {
        let sub = ScalarOp::Bin(BinOp::Sub, ScalarType::I64);
        let &[b, a] = self.scalar(atom, sub)? else {
            return None;
        };
        let ((array, from), (other, next)) = (self.neighbour(a)?, self.neighbour(b)?);
        let of = Difference { array, from };
        (array == other && next == from.checked_add(1)?).then_some(of)
    }

    /// Whether a difference is not negative where a condition is as stated.
    fn is_positive(&self, of: Difference, cond: Atom, holds: bool) -> bool {
        let (i64, u64) = (ScalarType::I64, ScalarType::U64);
        let Some(Exp::Scalar(op, args)) = cond.as_var().and_then(|v| self.exps.get(&v)) else {
            return false;
        };
        let is = |atom: Atom| self.difference(atom) == Some(of);
        let unsigned = |atom: Atom| {
            let convert = ScalarOp::Convert(i64, u64);
            self.scalar(atom, convert).is_some_and(|args| is(args[0]))
        };
        let small = |atom: Atom| matches!(atom, Atom::Const(Const::U64(k)) if k <= 1 << 63);
        match (*op, holds) {
            (ScalarOp::Un(UnOp::Not, _), _) => deep(|| self.is_positive(of, args[0], !holds)),
            (ScalarOp::Bin(BinOp::And, ScalarType::Bool), true)
            | (ScalarOp::Bin(BinOp::Or, ScalarType::Bool), false) => args
                .iter()
                .any(|&arg| deep(|| self.is_positive(of, arg, holds))),
            (ScalarOp::Cmp(CmpOp::Le, ty), true) if ty == i64 => {
                args[0] == Atom::ZERO && is(args[1])
            }
            (ScalarOp::Cmp(CmpOp::Lt, ty), false) if ty == i64 => {
                is(args[0]) && args[1] == Atom::ZERO
            }
            (ScalarOp::Cmp(CmpOp::Lt, ty), true) if ty == u64 => {
                unsigned(args[0]) && small(args[1])
            }
            (ScalarOp::Cmp(CmpOp::Le, ty), false) if ty == u64 => {
                small(args[0]) && unsigned(args[1])
            }
            _ => false,
        }
    }
}
