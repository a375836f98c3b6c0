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
//!                                                               g = guard outer "main:4" n
//! g = guard outer "main:4" n                                    s = guard arrays "main:4" (1048576 / max(8 * m * k, 1))
//! if g { segmap (i < n) { .. copy (yss : [m][k]f64) .. } }      if g && s { segmap (i < n) { .. copy (yss : [m][k]f64) .. } }
//! else { segmap (i < n, j < m) { loop .. } .. }           ──►   else { segmap (i < n, j < m) { loop .. } .. }
//!
//!                                                               g = guard ragged "main:3" n
//! g = guard outer "main:3" n                                    if g { .. }
//! if g { .. } else { segred (i < n, j in offs) { .. } .. } ──►  else { segred (i < n, j in offs) { .. } .. }
//!
//! g = guard outer "main:4" n                                    g = guard columns "main:4" n
//! if g { .. }                                                   if g { .. }
//! else { segred (i < n, j < m) { xss[j, i] } .. }         ──►   else { segred (i < n, j < m) { xss[j, i] } .. }
//! ```
//!
//! Tiles of two dimensions make up for less parallelism. Rows whose elements lie side by side are added in vector registers, or by
//! neighbouring threads, in an operation that [goes along them](crate::analysis::rows). It needs no lack of points to be the
//! better version, but rows long enough. So do the points of a map over rows. Where rows differ in length, the reduction shares out
//! what there is to do, however long one of them is; it is up to the device whether enough points that each go through a row of
//! their own make up for that. So it is where neighbouring points have neighbouring elements: a device that adds several columns side
//! by side needs many more of them than threads before it is better not to cut them.

mod arrays;

use crate::analysis::rows::{along_rows, maps_rows, reduces_columns, reduces_ragged_rows};
use crate::fired::fired;
use crate::hash::HashSet;
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
    /// The other reduces columns.
    Columns,
    /// The other goes along rows of this length: reduces them, or computes each element of them.
    Rows(Atom),
    /// The first makes arrays at each point, the other has loops at more points.
    Arrays,
}

/// Looks at the guards of a body.
pub(super) fn body(vars: &mut Vars, body: &mut Body<Seg>) {
    for stm in &mut body.stms {
        deep(|| stm.exp.bodies_mut(&mut |inner| self::body(vars, inner)));
    }
    let guards = body
        .stms
        .iter()
        .filter(|stm| matches!(stm.exp, Exp::Guard { .. }));
    let guards: HashSet<Var> = guards.flat_map(|stm| stm.binds.clone()).collect();
    if guards.is_empty() {
        return;
    }
    for i in (0..body.stms.len()).rev() {
        if let Some((cond, versions)) = choice(vars, &guards, &body.stms[i]) {
            decide(vars, &mut body.stms, (i, cond), versions);
        }
    }
}

/// The guard of a choice between versions that are of a kind of their own.
fn choice(vars: &Vars, guards: &HashSet<Var>, stm: &Stm<Seg>) -> Option<(Var, Versions)> {
    let Exp::If {
        cond,
        then,
        otherwise,
    } = &stm.exp
    else {
        return None;
    };
    let cond = cond.as_var().filter(|cond| guards.contains(cond))?;
    let in_tiles = |stm: &Stm<Seg>| matches!(&stm.exp, Exp::Op(Seg::Par(op)) if op.tiled == 2);
    let versions = if then.stms.iter().any(in_tiles) {
        Versions::Tiles
    } else if reduces_ragged_rows(otherwise) {
        Versions::Ragged
    } else if reduces_columns(vars, otherwise) {
        Versions::Columns
    } else if let Some(length) = along_rows(vars, otherwise).or_else(|| maps_rows(otherwise)) {
        Versions::Rows(length)
    } else if arrays::has_loops(otherwise) {
        Versions::Arrays
    } else {
        return None;
    };
    Some((cond, versions))
}

/// Changes the guard that decides statement `at`, if it is in the same body and the length of rows is known there.
fn decide(vars: &mut Vars, stms: &mut Vec<Stm<Seg>>, (at, cond): (usize, Var), versions: Versions) {
    let guard = stms[..at].iter().rposition(|stm| stm.binds.contains(&cond));
    let Some(guard) = guard else { return };
    let between = &stms[guard..at];
    let late = match versions {
        Versions::Tiles | Versions::Ragged | Versions::Columns | Versions::Arrays => false,
        Versions::Rows(length) => {
            let bound = |v: Var| between.iter().any(|stm| stm.binds.contains(&v));
            length.as_var().is_some_and(bound)
        }
    };
    let span = stms[guard].span;
    // A block of threads has its arrays near, and one thread alone those of one point.
    let at_once = matches!(&stms[guard].exp, Exp::Guard { threshold, .. } if matches!(threshold.kind, ThresholdKind::Block | ThresholdKind::Alone));
    let sizes = match versions {
        Versions::Arrays if !at_once => arrays::sizes(vars, &stms[at].exp, between),
        Versions::Tiles
        | Versions::Ragged
        | Versions::Columns
        | Versions::Rows(_)
        | Versions::Arrays => Vec::new(),
    };
    let Exp::Guard { threshold, measure } = &mut stms[guard].exp else {
        return;
    };
    let (place, points) = (threshold.place.clone(), *measure);
    match versions {
        Versions::Tiles => {
            fired("tile/guard");
            threshold.kind = ThresholdKind::Tiles;
        }
        Versions::Ragged => {
            fired("tile/ragged-guard");
            threshold.kind = ThresholdKind::Ragged;
        }
        Versions::Columns => {
            fired("tile/columns-guard");
            threshold.kind = ThresholdKind::Columns;
        }
        Versions::Rows(_) if late => {}
        Versions::Rows(length) => {
            let kind = ThresholdKind::Rows;
            let mut new = Build::new(vars, span);
            let both = short(&mut new, length, cond, Threshold { place, kind });
            choose(&mut stms[at], both);
            let new = new.stms;
            stms.splice(guard + 1..guard + 1, new);
        }
        Versions::Arrays if sizes.is_empty() => {}
        Versions::Arrays => {
            fired("tile/arrays-guard");
            let kind = ThresholdKind::Arrays;
            let mut new = Build::new(vars, span);
            let measure = arrays::measure(&mut new, &sizes, points);
            let both = new.both(cond, "near", Threshold { place, kind }, measure);
            choose(&mut stms[at], both);
            let new = new.stms;
            stms.splice(guard + 1..guard + 1, new);
        }
    }
}

/// Has a choice between versions decided by something else.
fn choose(stm: &mut Stm<Seg>, by: Var) {
    if let Exp::If { cond, .. } = &mut stm.exp {
        *cond = by.into();
    }
}

/// Whether there are enough points and rows of a length are short.
fn short(new: &mut Build<'_>, length: Atom, enough: Var, threshold: Threshold) -> Var {
    let some = new.integer("length", BinOp::Max, [length, Atom::i64(1)]);
    let measure = new.integer("rows", BinOp::Quot, [Atom::i64(ELEMENTS), some]);
    new.both(enough, "short", threshold, measure)
}

/// Statements that compute what is compared.
struct Build<'v> {
    vars: &'v mut Vars,
    span: SpanId,
    stms: Vec<Stm<Seg>>,
}

impl<'v> Build<'v> {
    const fn new(vars: &'v mut Vars, span: SpanId) -> Self {
        let stms = Vec::new();
        Self { vars, span, stms }
    }

    fn bind(&mut self, name: &str, ty: Type, exp: Exp<Seg>) -> Var {
        let name = name.into();
        let v = self.vars.push(VarInfo { name, ty });
        self.stms.push(Stm {
            binds: vec![v],
            certs: Vec::new(),
            exp,
            span: self.span,
        });
        v
    }

    fn integer(&mut self, name: &str, op: BinOp, args: [Atom; 2]) -> Atom {
        let op = ScalarOp::Bin(op, ScalarType::I64);
        self.bind(name, Type::I64, Exp::Scalar(op, args.to_vec()))
            .into()
    }

    /// Whether there are enough points, and a measure reaches a threshold.
    fn both(&mut self, enough: Var, name: &str, threshold: Threshold, measure: Atom) -> Var {
        let reached = self.bind(name, Type::BOOL, Exp::Guard { threshold, measure });
        let and = ScalarOp::Bin(BinOp::And, ScalarType::Bool);
        let both = Exp::Scalar(and, vec![enough.into(), reached.into()]);
        self.bind("both", Type::BOOL, both)
    }
}
