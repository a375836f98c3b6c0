//! Operators of reductions where the left place is known to be less than the right one, as in lanes that have seen a point and go from point to point.
//!
//! ```text
//! \(i, x) (j, y) -> if x < y || x == y && i < j then (i, x) else (j, y)   ──►   if x <= y then (i, x) else (j, y)
//! ```

use crate::emit::lanes::is_large;
use midend::ir::mem::Mem;
use midend::ir::scalar::{BinOp, CmpOp, Const, ScalarOp};
use midend::ir::soac::Operator;
use midend::ir::syntax::{Atom, Body, Exp, Stm};
use midend::ir::types::ScalarType;

const TRUE: Atom = Atom::Const(Const::Bool(true));
const FALSE: Atom = Atom::Const(Const::Bool(false));

/// The same operator, if it asks which place is less; `places` are the components that are places.
pub(super) fn in_order(op: &Operator<Mem>, places: &[bool]) -> Option<Operator<Mem>> {
    if is_large(&op.lam.body) {
        return None;
    }
    let mut op = op.clone();
    let (left, right) = op.lam.params.split_at(op.neutral.len());
    let of = |params: &[_]| -> Vec<Atom> {
        let mine = params.iter().zip(places).filter(|(_, is)| **is);
        mine.map(|(v, _)| Atom::Var(*v)).collect()
    };
    let sides = [of(left), of(right)];
    let mut known = Vec::new();
    let mut changed = false;
    let stms = simpler(&op.lam.body, (&sides, &mut changed), &mut known);
    op.lam.body.stms = stms;
    changed.then_some(op)
}

/// What is known of variables: that they are the same as these.
type Known = Vec<(Atom, Atom)>;

fn known_as(known: &Known, atom: Atom) -> Atom {
    let same = known.iter().find(|(v, _)| *v == atom);
    same.map_or(atom, |(_, same)| *same)
}

/// The statements of a body with what is known of its places; choices between truths that are seen to be something simpler are that.
fn simpler(
    body: &Body<Mem>,
    (sides, changed): (&[Vec<Atom>; 2], &mut bool),
    known: &mut Known,
) -> Vec<Stm<Mem>> {
    let mut out: Vec<Stm<Mem>> = Vec::new();
    for stm in &body.stms {
        let mut stm = stm.clone();
        match &mut stm.exp {
            Exp::Scalar(ScalarOp::Cmp(cmp, _), args) => {
                let in_order = sides[0].contains(&args[0]) && sides[1].contains(&args[1]);
                let turned = sides[1].contains(&args[0]) && sides[0].contains(&args[1]);
                let holds = match cmp {
                    CmpOp::Lt | CmpOp::Le => in_order,
                    CmpOp::Eq => false,
                };
                if in_order || turned {
                    *changed = true;
                    stm.exp = Exp::Atom(if holds { TRUE } else { FALSE });
                }
            }
            Exp::If {
                cond,
                then,
                otherwise,
                ..
            } => {
                let (cond, mut both) = (known_as(known, *cond), Vec::new());
                let results = [&*then, &*otherwise].map(|side| {
                    both.extend(simpler(side, (sides, changed), known));
                    side.result.first().map(|atom| known_as(known, *atom))
                });
                let joined = match (&stm.binds[..], results, cond) {
                    ([_], [Some(TRUE), Some(other)], _) => Some(truth(BinOp::Or, cond, other)),
                    ([_], [Some(one), Some(FALSE)], _) => Some(truth(BinOp::And, cond, one)),
                    _ => None,
                };
                if let Some(joined) = joined.filter(|_| both.iter().all(is_plain)) {
                    out.extend(both);
                    stm.exp = joined;
                }
            }
            Exp::Atom(_)
            | Exp::Scalar(..)
            | Exp::Assert { .. }
            | Exp::Guard { .. }
            | Exp::Loop { .. }
            | Exp::Call { .. }
            | Exp::Op(_) => {}
        }
        if let Some(or) = at_most(&stm, &out) {
            stm.exp = or;
        }
        if let (Exp::Atom(same), [bind]) = (&stm.exp, &stm.binds[..]) {
            let same = known_as(known, *same);
            known.push(((*bind).into(), same));
        }
        out.push(stm);
    }
    out
}

/// Whether a statement may be done whatever is chosen.
fn is_plain(stm: &Stm<Mem>) -> bool {
    matches!(stm.exp, Exp::Atom(_) | Exp::Scalar(ScalarOp::Cmp(..), _))
        || matches!(
            stm.exp,
            Exp::Scalar(ScalarOp::Bin(BinOp::And | BinOp::Or, ScalarType::Bool), _)
        )
}

/// One truth and, or or, another.
fn truth(op: BinOp, a: Atom, b: Atom) -> Exp<Mem> {
    match (op, b) {
        (BinOp::Or, FALSE) | (BinOp::And, TRUE) => Exp::Atom(a),
        (BinOp::Or, TRUE) => Exp::Atom(TRUE),
        (BinOp::And, FALSE) => Exp::Atom(FALSE),
        _ => Exp::Scalar(ScalarOp::Bin(op, ScalarType::Bool), vec![a, b]),
    }
}

/// Less or equal, where that is what a statement asks.
fn at_most(stm: &Stm<Mem>, before: &[Stm<Mem>]) -> Option<Exp<Mem>> {
    let Exp::Scalar(ScalarOp::Bin(BinOp::Or, _), args) = &stm.exp else {
        return None;
    };
    let compared = |atom: &Atom| {
        let v = atom.as_var()?;
        let stm = before.iter().find(|stm| stm.binds == [v])?;
        let Exp::Scalar(ScalarOp::Cmp(cmp, ty), args) = &stm.exp else {
            return None;
        };
        Some((*cmp, *ty, args))
    };
    let [(CmpOp::Lt, ty, less), (CmpOp::Eq, _, same)] = [compared(&args[0])?, compared(&args[1])?]
    else {
        return None;
    };
    let turned = same.iter().rev().eq(less.iter());
    (less == same || turned).then(|| Exp::Scalar(ScalarOp::Cmp(CmpOp::Le, ty), less.clone()))
}
