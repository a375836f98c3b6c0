//! Guards that choose between versions of a kind of their own compare with thresholds of their own.
//!
//! ```text
//! g = guard outer "main:1" points                               g = guard tiles "main:1" points
//! if g { segmap device tiled 2 .. } else { .. }           ──►   if g { segmap device tiled 2 .. } else { .. }
//!
//!                                                               g = guard outer "main:2" n
//! g = guard outer "main:2" n                                    s = guard rows "main:2" (1048576 / max(m, 1))
//! if g { segmap (i < n) { loop .. } }                           if g && s { segmap (i < n) { loop .. } }
//! else { segred (i < n, j < m) { xss[i, j] } .. }         ──►   else { segred (i < n, j < m) { xss[i, j] } .. }
//!
//!                                                               g = guard ragged "main:3" n
//! g = guard outer "main:3" n                                    if g { .. }
//! if g { .. } else { segred (i < n, j in offs) { .. } .. } ──►  else { segred (i < n, j in offs) { .. } .. }
//! ```
//!
//! Tiles of two dimensions make up for less parallelism. Rows whose elements lie side by side are added in vector registers, or by
//! neighbouring threads, in an operation that [goes along them](crate::analysis::rows). It needs no lack of points to be the
//! better version, but rows long enough. So do the points of a map over rows. Where rows differ in length, the reduction shares out
//! what there is to do, however long one of them is; it is up to the device whether enough points that each go through a row of
//! their own make up for that.

use crate::analysis::rows::{along_rows, maps_rows, reduces_ragged_rows};
use crate::fired::fired;
use crate::ir::id::{SpanId, Var};
use crate::ir::scalar::{BinOp, ScalarOp};
use crate::ir::seg::Seg;
use crate::ir::syntax::{Atom, Body, Exp, Stm, VarInfo, Vars};
use crate::ir::threshold::{ELEMENTS, Threshold, ThresholdKind};
use crate::ir::types::{ScalarType, Type};
use crate::ir::walk::deep;

/// What the versions of a choice are.
#[derive(Clone, Copy)]
enum Versions {
    /// The first is worked on in tiles of two dimensions.
    Tiles,
    /// The other reduces rows whose lengths differ.
    Ragged,
    /// The other goes along rows of this length: reduces them, or computes each element of them.
    Rows(Atom),
}

/// Looks at the guards of a body.
pub(super) fn body(vars: &mut Vars, body: &mut Body<Seg>) {
    for stm in &mut body.stms {
        deep(|| stm.exp.bodies_mut(&mut |inner| self::body(vars, inner)));
    }
    for i in (0..body.stms.len()).rev() {
        if let Some((cond, versions)) = choice(vars, &body.stms[i]) {
            decide(vars, &mut body.stms, (i, cond), versions);
        }
    }
}

/// The condition of a choice between versions that are of a kind of their own.
fn choice(vars: &Vars, stm: &Stm<Seg>) -> Option<(Var, Versions)> {
    let Exp::If {
        cond,
        then,
        otherwise,
    } = &stm.exp
    else {
        return None;
    };
    let in_tiles = |stm: &Stm<Seg>| matches!(&stm.exp, Exp::Op(Seg::Par(op)) if op.tiled == 2);
    let versions = if then.stms.iter().any(in_tiles) {
        Versions::Tiles
    } else if reduces_ragged_rows(otherwise) {
        Versions::Ragged
    } else {
        Versions::Rows(along_rows(vars, otherwise).or_else(|| maps_rows(otherwise))?)
    };
    Some((cond.as_var()?, versions))
}

/// Changes the guard that decides statement `at`, if it is in the same body and the length of rows is known there.
fn decide(vars: &mut Vars, stms: &mut Vec<Stm<Seg>>, (at, cond): (usize, Var), versions: Versions) {
    let guard = stms[..at].iter().rposition(|stm| stm.binds.contains(&cond));
    let Some(guard) = guard else { return };
    let between = &stms[guard..at];
    let late = match versions {
        Versions::Tiles | Versions::Ragged => false,
        Versions::Rows(length) => {
            let bound = |v: Var| between.iter().any(|stm| stm.binds.contains(&v));
            length.as_var().is_some_and(bound)
        }
    };
    let span = stms[guard].span;
    let Exp::Guard { threshold, .. } = &mut stms[guard].exp else {
        return;
    };
    let place = threshold.place.clone();
    match versions {
        Versions::Tiles => {
            fired("tile/guard");
            threshold.kind = ThresholdKind::Tiles;
        }
        Versions::Ragged => {
            fired("tile/ragged-guard");
            threshold.kind = ThresholdKind::Ragged;
        }
        Versions::Rows(_) if late => {}
        Versions::Rows(length) => {
            let kind = ThresholdKind::Rows;
            let (both, new) = short(vars, length, cond, Threshold { place, kind }, span);
            if let Exp::If { cond, .. } = &mut stms[at].exp {
                *cond = both.into();
            }
            stms.splice(guard + 1..guard + 1, new);
        }
    }
}

/// Whether there are enough points and rows of a length are short; with the statements that compute it.
fn short(
    vars: &mut Vars,
    length: Atom,
    enough: Var,
    threshold: Threshold,
    span: SpanId,
) -> (Var, Vec<Stm<Seg>>) {
    let mut stms = Vec::new();
    let mut bind = |name: &str, ty, exp| {
        let name = name.into();
        let v = vars.push(VarInfo { name, ty });
        stms.push(Stm {
            binds: vec![v],
            certs: Vec::new(),
            exp,
            span,
        });
        v
    };
    let integer = |op| ScalarOp::Bin(op, ScalarType::I64);
    let some = Exp::Scalar(integer(BinOp::Max), vec![length, Atom::i64(1)]);
    let some = bind("length", Type::I64, some);
    let args = vec![Atom::i64(ELEMENTS), some.into()];
    let measure = bind("rows", Type::I64, Exp::Scalar(integer(BinOp::Quot), args));
    let measure = measure.into();
    let short = bind("short", Type::BOOL, Exp::Guard { threshold, measure });
    let and = ScalarOp::Bin(BinOp::And, ScalarType::Bool);
    let both = Exp::Scalar(and, vec![enough.into(), short.into()]);
    let both = bind("both", Type::BOOL, both);
    (both, stms)
}
