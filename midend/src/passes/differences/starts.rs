//! Where rows begin in offsets that a program has: how far from the first one that is, sums of lengths tell. Who goes through the rows
//! then finds them beside each other, from one place on that is the same for all.
//!
//! ```text
//! offs = concat (0, ends)                            offs = concat (0, ends)
//! segred (i < n, j in offs) {                        segred (i < n, j in offs) {
//!   a = index A[i]                           ──►       first = index A[0]; start = index offs[i]
//!   ..                                                 a = start + first; ..
//! ```

use super::Difference;
use crate::fired::fired;
use crate::ir::array::ArrayOp;
use crate::ir::id::Var;
use crate::ir::scalar::{BinOp, ScalarOp};
use crate::ir::seg::{Seg, SegOp, SpaceDim};
use crate::ir::syntax::{Atom, Exp, Stm, VarInfo, Vars};
use crate::ir::types::{ScalarType, Type};
use crate::ir::walk::deep;

/// Rewrites statements behind which, or in which, rows begin at the differences `ends` from the first element of an array.
pub(super) fn named(vars: &mut Vars, stms: &mut [Stm<Seg>], ends: Var, of: Difference) {
    if of.from != 0 {
        return;
    }
    let made = |array: Var| stms.iter().find(|stm| stm.binds[..] == [array]);
    let is_zero = |array: Var| match made(array).map(|stm| &stm.exp) {
        Some(Exp::Op(Seg::Array(ArrayOp::Literal { elems, .. }))) => elems[..] == [Atom::ZERO],
        Some(_) | None => false,
    };
    let begin = |stm: &Stm<Seg>| match (&stm.exp, &stm.binds[..]) {
        (Exp::Op(Seg::Array(ArrayOp::Concat { arrays, .. })), &[offsets]) => match arrays[..] {
            [zero, others] if others == ends && is_zero(zero) => Some(offsets),
            _ => None,
        },
        _ => None,
    };
    let Some(offsets) = stms.iter().find_map(begin) else {
        return;
    };
    for stm in stms {
        in_exp(vars, &mut stm.exp, (offsets, of.array));
    }
}

fn in_exp(vars: &mut Vars, exp: &mut Exp<Seg>, (offsets, array): (Var, Var)) {
    if let Exp::Op(Seg::Par(op)) = exp {
        return in_rows(vars, op, (offsets, array));
    }
    deep(|| {
        exp.bodies_mut(&mut |inner| {
            for stm in &mut inner.stms {
                in_exp(vars, &mut stm.exp, (offsets, array));
            }
        });
    });
}

/// Rewrites an operation over these rows.
fn in_rows(vars: &mut Vars, op: &mut SegOp, (offsets, array): (Var, Var)) {
    let row = match op.space.dims[..] {
        [
            (row, SpaceDim::Regular(_)),
            (_, SpaceDim::Ragged { offsets: own }),
        ] if own == offsets => row,
        _ => return,
    };
    let begins = |stm: &Stm<Seg>| match &stm.exp {
        Exp::Op(Seg::Array(ArrayOp::Index { array: of, indices })) => {
            *of == array && indices[..] == [Atom::from(row)]
        }
        Exp::Op(_)
        | Exp::Atom(_)
        | Exp::Scalar(..)
        | Exp::Assert { .. }
        | Exp::Guard { .. }
        | Exp::If { .. }
        | Exp::Loop { .. }
        | Exp::Call { .. } => false,
    };
    while let Some(at) = op.body.stms.iter().position(begins) {
        fired("differences/starts");
        let mut bind = |name: &str| {
            vars.push(VarInfo {
                name: name.to_owned(),
                ty: Type::I64,
            })
        };
        let (first, start) = (bind("first"), bind("start"));
        let stm = &mut op.body.stms[at];
        let index = |array, place| {
            Exp::Op(Seg::Array(ArrayOp::Index {
                array,
                indices: vec![place],
            }))
        };
        let (certs, span) = (std::mem::take(&mut stm.certs), stm.span);
        let add = ScalarOp::Bin(BinOp::Add, ScalarType::I64);
        stm.exp = Exp::Scalar(add, vec![start.into(), first.into()]);
        // Where the element of a row is in the array, so is the first.
        let loads = [
            (first, certs, index(array, Atom::ZERO)),
            (start, Vec::new(), index(offsets, row.into())),
        ];
        let loads = loads.map(|(bind, certs, exp)| Stm {
            binds: vec![bind],
            certs,
            exp,
            span,
        });
        op.body.stms.splice(at..at, loads);
    }
}
