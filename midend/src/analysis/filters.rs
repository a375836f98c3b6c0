//! Filters: scans that count the points which are kept, and store something of those one after the other.
//!
//! ```text
//! launch scan (i < n) {
//!   ..
//!   one = convert.bool.i64(keep)
//!   yield one, i, keep, value
//! } scan (0) add.i64 then \(place, i, keep, value) {
//!   at = sub.i64(place, 1)
//!   if keep { store out[at] = value }
//!   last = eq.i64(add.i64(i, 1), n)
//!   if last { store count[0] = place }
//! }
//! ```

use crate::ir::id::Var;
use crate::ir::mem::{Extent, Kernel, Mem};
use crate::ir::scalar::{BinOp, CmpOp, Const, ScalarOp};
use crate::ir::soac::Operator;
use crate::ir::syntax::{Atom, Body, Exp, Lambda, Stm};
use crate::ir::types::ScalarType;

/// The most arrays that points are stored to.
const ARRAYS: usize = 4;

/// What is stored of points that are kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kept {
    /// The statement that stores, by its number.
    pub statement: usize,
    /// Where to, and what.
    pub stores: Vec<(Var, Atom)>,
    /// Whether whatever else is stored is stored at the last point alone.
    pub else_at_end: bool,
}

/// What a scan stores of points that are kept, if that is what it counts.
pub fn kept(kernel: &Kernel, ops: &[Operator<Mem>], then: &Lambda<Mem>) -> Option<Kept> {
    let [op] = ops else { return None };
    let ([a, b], [sum]) = (&op.lam.params[..], &op.lam.body.stms[..]) else {
        return None;
    };
    let adds = matches!(&sum.exp, Exp::Scalar(ScalarOp::Bin(BinOp::Add, ScalarType::I64), args)
        if args[..] == [Atom::Var(*a), Atom::Var(*b)]);
    if !adds || op.lam.body.result != [Atom::Var(sum.binds[0])] {
        return None;
    }
    let results = &kernel.body.result;
    let one = defined(&kernel.body, results[0])?;
    let Exp::Scalar(ScalarOp::Convert(ScalarType::Bool, ScalarType::I64), keep) = &one.exp else {
        return None;
    };
    let keeps = |cond: Atom| {
        let param = then.params.iter().position(|p| cond == Atom::Var(*p));
        param.is_some_and(|k| k > 0 && results[k] == keep[0])
    };
    let is_place = |at: Atom| {
        let wanted = [Atom::Var(then.params[0]), Atom::Const(Const::I64(1))];
        defined(&then.body, at).is_some_and(|stm| {
            matches!(&stm.exp, Exp::Scalar(ScalarOp::Bin(BinOp::Sub, ScalarType::I64), args)
                if args[..] == wanted)
        })
    };
    let found = then.body.stms.iter().enumerate().find_map(|(n, stm)| {
        let Exp::If {
            cond,
            then,
            otherwise,
        } = &stm.exp
        else {
            return None;
        };
        let stores: Option<Vec<(Var, Atom)>> = then
            .stms
            .iter()
            .map(|stm| {
                let Exp::Op(Mem::Store {
                    buffer,
                    index,
                    value,
                }) = &stm.exp
                else {
                    return None;
                };
                is_place(*index).then_some((*buffer, *value))
            })
            .collect();
        let alone = stm.binds.is_empty() && otherwise.stms.is_empty() && keeps(*cond);
        let stores = stores.filter(|stores| alone && (1..=ARRAYS).contains(&stores.len()))?;
        Some(Kept {
            statement: n,
            stores,
            else_at_end: false,
        })
    })?;
    let others = || {
        let all = then.body.stms.iter().enumerate();
        all.filter(|(n, _)| *n != found.statement)
            .map(|(_, stm)| stm)
    };
    let (index, extent) = kernel.space.last()?;
    let at_end = |cond: Atom| match extent {
        Extent::Regular(size) => is_last(
            &then.body,
            cond,
            |a| {
                let param = then.params.iter().position(|p| a == Atom::Var(*p));
                param.is_some_and(|k| results[k] == Atom::Var(*index))
            },
            *size,
        ),
        Extent::Ragged { .. } => false,
    };
    let waits = |stm: &Stm<Mem>| match &stm.exp {
        Exp::Atom(_) | Exp::Scalar(..) => true,
        Exp::If {
            cond, otherwise, ..
        } => otherwise.stms.is_empty() && at_end(*cond),
        Exp::Assert { .. }
        | Exp::Guard { .. }
        | Exp::Loop { .. }
        | Exp::Call { .. }
        | Exp::Op(_) => false,
    };
    let else_at_end = others().all(waits);
    let apart = others().all(|stm| stays_away(stm, &found.stores));
    apart.then_some(Kept {
        else_at_end,
        ..found
    })
}

/// Whether a condition is that an index, and 1, is a size.
fn is_last(body: &Body<Mem>, cond: Atom, is_index: impl Fn(Atom) -> bool, size: Atom) -> bool {
    let args = |atom: Atom, wanted: ScalarOp| {
        let Exp::Scalar(op, args) = &defined(body, atom)?.exp else {
            return None;
        };
        (*op == wanted).then(|| [args[0], args[1]])
    };
    let equal = args(cond, ScalarOp::Cmp(CmpOp::Eq, ScalarType::I64));
    equal.is_some_and(|[next, end]| {
        let next = args(next, ScalarOp::Bin(BinOp::Add, ScalarType::I64));
        let is_next = |[at, one]: [Atom; 2]| is_index(at) && one == Atom::Const(Const::I64(1));
        end == size && next.is_some_and(is_next)
    })
}

/// The statement of a body that binds what an atom is.
fn defined(body: &Body<Mem>, atom: Atom) -> Option<&Stm<Mem>> {
    let var = atom.as_var()?;
    body.stms.iter().find(|stm| stm.binds == [var])
}

/// Whether a statement does no more than compute and store elsewhere.
fn stays_away(stm: &Stm<Mem>, stores: &[(Var, Atom)]) -> bool {
    match &stm.exp {
        Exp::Atom(_) | Exp::Scalar(..) => true,
        Exp::Op(Mem::Store { buffer, .. }) => stores.iter().all(|(other, _)| other != buffer),
        Exp::If {
            then, otherwise, ..
        } => {
            let mut inner = then.stms.iter().chain(&otherwise.stms);
            inner.all(|stm| stays_away(stm, stores))
        }
        Exp::Assert { .. }
        | Exp::Guard { .. }
        | Exp::Loop { .. }
        | Exp::Call { .. }
        | Exp::Op(_) => false,
    }
}
