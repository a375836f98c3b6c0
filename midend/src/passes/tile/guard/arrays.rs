//! The arrays that points have for themselves.

use super::Build;
use crate::ir::array::ArrayOp;
use crate::ir::id::Var;
use crate::ir::scalar::{BinOp, CmpOp, ScalarOp};
use crate::ir::seg::{Seg, SegKind};
use crate::ir::syntax::{Atom, Body, Exp, Stm, Vars};
use crate::ir::threshold::ELEMENTS;
use crate::ir::types::{Dim, ScalarType, Type};
use crate::ir::walk::{all_stms, body_binders};
use std::collections::{BTreeMap, BTreeSet};

/// The bytes of arrays of all points that are too many.
const TOO_MANY: i64 = 1 << 28;

/// The bytes of elements of arrays of each shape.
type Sizes = Vec<(Vec<Atom>, i64)>;

/// Whether points of a version go through loops.
pub(super) fn has_loops(body: &Body<Seg>) -> bool {
    let mut has = false;
    all_stms(body, &mut |stm| {
        if let Exp::Op(Seg::Par(op)) = &stm.exp {
            let loops = |stm: &Stm<Seg>| matches!(stm.exp, Exp::Loop { .. });
            has |= matches!(op.kind, SegKind::Map) && op.body.stms.iter().any(loops);
        }
    });
    has
}

/// How much a point of the first version of a choice makes of arrays whose sizes are known before the statements `between`.
pub(super) fn sizes(vars: &Vars, choice: &Exp<Seg>, between: &[Stm<Seg>]) -> Sizes {
    let Exp::If { then, .. } = choice else {
        return Vec::new();
    };
    let mut inside: BTreeSet<Var> = between.iter().flat_map(|stm| &stm.binds).copied().collect();
    body_binders(then, &mut |v| {
        inside.insert(v);
    });
    let mut sizes: BTreeMap<Vec<Var>, (Vec<Atom>, i64)> = BTreeMap::new();
    for stm in &then.stms {
        if let Exp::Op(Seg::Par(op)) = &stm.exp {
            all_stms(&op.body, &mut |stm| {
                for bind in stm.binds.iter().filter(|_| makes(&stm.exp)) {
                    let Some((shape, bytes)) = known(vars, *bind, &inside) else {
                        continue;
                    };
                    let key = shape.iter().filter_map(|n| n.as_var()).collect();
                    let known = sizes.entry(key).or_insert((shape, 0));
                    known.1 = known.1.saturating_add(bytes);
                }
            });
        }
    }
    sizes.into_values().collect()
}

/// Whether an expression makes new arrays.
fn makes(exp: &Exp<Seg>) -> bool {
    match exp {
        Exp::Op(Seg::Par(_)) => true,
        Exp::Op(Seg::Array(op)) => matches!(
            op,
            ArrayOp::Replicate { .. }
                | ArrayOp::Iota { .. }
                | ArrayOp::Copy(_)
                | ArrayOp::Scratch { .. }
                | ArrayOp::Concat { .. }
        ),
        Exp::Op(Seg::UpdateAcc(_))
        | Exp::Atom(_)
        | Exp::Scalar(..)
        | Exp::Assert { .. }
        | Exp::Guard { .. }
        | Exp::If { .. }
        | Exp::Loop { .. }
        | Exp::Call { .. } => false,
    }
}

/// The variables that the size of an array is the product of, and the bytes that are for each.
fn known(vars: &Vars, array: Var, inside: &BTreeSet<Var>) -> Option<(Vec<Atom>, i64)> {
    let ty = &vars[array].ty;
    let Type::Array(_) = ty else { return None };
    let mut bytes = ty.elem()?.bytes() as i64;
    let mut shape = Vec::new();
    for dim in ty.shape() {
        let Dim::Size(size) = dim else { return None };
        match Atom::from(*size) {
            Atom::Const(n) => bytes = bytes.saturating_mul(n.as_i64()?),
            Atom::Var(n) if inside.contains(&n) => return None,
            n @ Atom::Var(_) => shape.push(n),
        }
    }
    Some((shape, bytes))
}

/// How many times a mebibyte has room for the arrays of a point; very often if those of all points are too many.
pub(super) fn measure(new: &mut Build<'_>, sizes: &Sizes, points: Atom) -> Atom {
    let mut total = Atom::ZERO;
    for (shape, bytes) in sizes {
        let mut size = Atom::i64(*bytes);
        for n in shape {
            size = new.integer("bytes", BinOp::Mul, [size, *n]);
        }
        total = new.integer("bytes", BinOp::Add, [total, size]);
    }
    let some = new.integer("bytes", BinOp::Max, [total, Atom::i64(1)]);
    let near = new.integer("near", BinOp::Quot, [Atom::i64(ELEMENTS), some]);
    let all = new.integer("bytes", BinOp::Mul, [total, points]);
    let less = ScalarOp::Cmp(CmpOp::Lt, ScalarType::I64);
    let less = Exp::Scalar(less, vec![Atom::i64(TOO_MANY), all]);
    let many = new.bind("many", Type::BOOL, less);
    let select = ScalarOp::Select(ScalarType::I64);
    let args = vec![many.into(), Atom::i64(TOO_MANY), near];
    new.bind("room", Type::I64, Exp::Scalar(select, args))
        .into()
}
