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
//! What makes it worth it is a function that is many operations. Where one is read from a table, so are divisions and roots of the same counters
//! and indices: a number beside it costs less to read.
//!
//! A table has an element for each combination of values of the counters and indices that the number depends on. It is worth it where
//! the operation has many points besides these, each of which would compute all of it again. Where extents are not known, there
//! are two versions, of which the host takes the one with tables if they are small and shared by many points.
//!
//! This rests on rows that have one length and on loops that go the same way for all points: without the analysis of regularity there
//! are no tables. Only scalar code is taken along, which cannot fail; where it divides, a divisor that is zero is one in the
//! table, since what checks the divisor stays where it was.

mod build;
mod nest;

use crate::fired::fired;
use crate::ir::array::ArrayOp;
use crate::ir::build::Builder;
use crate::ir::id::Var;
use crate::ir::rename::{self, Subst};
use crate::ir::scalar::{BinOp, ScalarOp, UnOp};
use crate::ir::seg::{Seg, SegKind, SegOp};
use crate::ir::syntax::{Atom, Body, Exp, Stm, Vars};
use crate::ir::types::ScalarType;
use crate::ir::walk::{all_stms, deep};
use crate::math::{computed_by, definition};
use crate::pass::Pass;
use nest::{Nest, Range};

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
    let Exp::Op(Seg::Par(op)) = &stm.exp else {
        return out.push(stm);
    };
    let nest = Nest::of(vars, op, can_be_asked(vars, op, &stm.binds));
    if nest.tables.is_empty() {
        return out.push(stm);
    }
    let reading = |vars: &mut Vars, stm: &mut Stm<Seg>| {
        stm.exp
            .bodies_mut(&mut |body| deep(|| read(vars, &nest, body)));
    };
    if !nest.tables.keys().any(|table| nest.is_asked(table)) {
        reading(vars, &mut stm);
        build::tables(vars, &nest, stm.span, out);
        return out.push(stm);
    }
    fired("tables/asked");
    let original = stm.clone();
    reading(vars, &mut stm);
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

/// Code inside of a parallel operation, which reads tables.
fn read(vars: &mut Vars, nest: &Nest, body: &mut Body<Seg>) {
    let mut out = Vec::with_capacity(body.stms.len());
    for mut stm in std::mem::take(&mut body.stms) {
        match &mut stm.exp {
            Exp::Scalar(..) => {
                let bound = stm.binds.first();
                if let Some((table, array)) = bound.and_then(|v| nest.read.get(v)) {
                    fired("tables/read");
                    let mut b = Builder::<Seg>::new(vars);
                    b.span = stm.span;
                    let index = |r: &usize| {
                        let Range { ty, counter, .. } = nest.ranges[*r];
                        b.convert(ty, ScalarType::I64, counter)
                    };
                    let indices = table.iter().map(index).collect();
                    let array = *array;
                    stm.exp = Exp::Op(Seg::Array(ArrayOp::Index { array, indices }));
                    out.extend(b.finish(Vec::new()).stms);
                }
            }
            Exp::If { .. } | Exp::Loop { .. } | Exp::Op(Seg::Par(_)) => {
                stm.exp
                    .bodies_mut(&mut |inner| deep(|| read(vars, nest, inner)));
            }
            Exp::Op(Seg::Array(_) | Seg::UpdateAcc(_))
            | Exp::Atom(_)
            | Exp::Assert { .. }
            | Exp::Guard { .. }
            | Exp::Call { .. } => {}
        }
        out.push(stm);
    }
    body.stms = out;
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

/// What an operation takes that takes longer than to read a number that is near.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Cost {
    /// Enough for a table: a function, or a division of 64 bits by what is not known.
    Long,
    /// Enough where there is a table: a division or a root of floats.
    Short,
}

/// What an operation takes, if it is so much.
fn cost(op: ScalarOp, args: &[Atom]) -> Option<Cost> {
    let long = |ty: ScalarType| ty.bytes() == 8;
    if divides(op).is_some_and(long) {
        let unknown = args.get(1).is_some_and(|a| a.as_const().is_none());
        return unknown.then_some(Cost::Long);
    }
    let is_short = match op {
        ScalarOp::Bin(BinOp::Div, ty) => !ty.is_integer(),
        ScalarOp::Bin(BinOp::DivNear, _)
        | ScalarOp::Un(UnOp::Sqrt | UnOp::SqrtNear | UnOp::RsqrtNear, _) => true,
        ScalarOp::Bin(..)
        | ScalarOp::Un(..)
        | ScalarOp::Cmp(..)
        | ScalarOp::Tern(..)
        | ScalarOp::Convert(..)
        | ScalarOp::ToBits(_)
        | ScalarOp::FromBits(_)
        | ScalarOp::Select(_) => false,
    };
    match () {
        () if is_function(op) => Some(Cost::Long),
        () if is_short => Some(Cost::Short),
        () => None,
    }
}
