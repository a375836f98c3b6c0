//! Maps, and maps perfectly nested in them, as operations over spaces of several dimensions.

use super::Cx;
use crate::ir::array::ArrayOp;
use crate::ir::id::Var;
use crate::ir::scalar::{BinOp, ScalarOp, UnOp};
use crate::ir::seg::{Seg, SegKind};
use crate::ir::soac::Soac;
use crate::ir::syntax::{Atom, Body, Exp, Lambda, Stm};
use crate::ir::types::{Size, Type};

/// How many statements may stand before an inner map and be repeated for each of its points.
const CHEAP: usize = 12;

/// An inner map narrower than this stays a loop.
const NARROW: i64 = 16;

/// A map inside of a lambda that contains nothing else but cheap statements before it.
struct Inner<'a> {
    before: &'a [Stm<Soac>],
    width: Size,
    arrays: &'a [Var],
    lam: &'a Lambda<Soac>,
    /// The checks that it needs; they are made outside, for cheap statements make none.
    certs: &'a [Var],
    /// For each result of the outer lambda, which result of the inner map it is.
    order: Vec<usize>,
}

impl Cx<'_> {
    pub(super) fn par_map(
        &mut self,
        width: Size,
        traversal: (&[Var], &Lambda<Soac>),
        binds: &[Var],
        out: &mut Vec<Stm<Seg>>,
    ) {
        let mut nest = Nest::default();
        let result = self.nest(width, traversal, &mut nest);
        self.seg(
            nest.dims,
            Body {
                stms: nest.stms,
                result,
            },
            SegKind::Map,
            binds.to_vec(),
            out,
        );
        if let Some(made) = out.last_mut() {
            made.certs = nest.certs;
        }
    }

    /// Adds a dimension for the map, and for maps perfectly nested in it.
    fn nest(
        &mut self,
        width: Size,
        (arrays, lam): (&[Var], &Lambda<Soac>),
        nest: &mut Nest,
    ) -> Vec<Atom> {
        let index = self.fresh("i", Type::I64);
        nest.dims.push((index, self.size(width)));
        let inner = perfect(lam).filter(|inner| !nest.binds(self.size(inner.width)));
        let Some(inner) = inner else {
            return self.apply_at((arrays, lam), index, &mut nest.stms);
        };
        let before = Lambda {
            params: lam.params.clone(),
            body: Body {
                stms: inner.before.to_vec(),
                result: Vec::new(),
            },
        };
        self.apply_at((arrays, &before), index, &mut nest.stms);
        nest.certs
            .extend(inner.certs.iter().filter_map(|&c| self.var_atom(c)));
        let results = self.nest(inner.width, (inner.arrays, inner.lam), nest);
        inner.order.iter().map(|&k| results[k]).collect()
    }
}

/// A space that is being built, with what happens at each of its points.
#[derive(Default)]
struct Nest {
    dims: Vec<(Var, Size)>,
    stms: Vec<Stm<Seg>>,
    certs: Vec<Var>,
}

impl Nest {
    /// Whether a size is computed at the points.
    fn binds(&self, size: Size) -> bool {
        match size {
            Size::Const(_) => false,
            Size::Var(v) => self.stms.iter().any(|stm| stm.binds.contains(&v)),
        }
    }
}

/// The map that the body of the lambda consists of, if it does.
fn perfect(lam: &Lambda<Soac>) -> Option<Inner<'_>> {
    let (last, before) = lam.body.stms.split_last()?;
    let Exp::Op(Soac::Screma {
        width,
        arrays,
        lam: inner,
        scans,
        reds,
    }) = &last.exp
    else {
        return None;
    };
    let plain = scans.is_empty() && reds.is_empty();
    if !plain || before.len() > CHEAP || !before.iter().all(is_cheap) {
        return None;
    }
    match *width {
        Size::Const(n) if n < NARROW => return None,
        Size::Var(v)
            if lam.params.contains(&v) || before.iter().any(|stm| stm.binds.contains(&v)) =>
        {
            return None;
        }
        Size::Const(_) | Size::Var(_) => {}
    }
    let order: Option<Vec<usize>> = lam
        .body
        .result
        .iter()
        .map(|&a| last.binds.iter().position(|&b| Atom::Var(b) == a))
        .collect();
    Some(Inner {
        before,
        width: *width,
        arrays,
        lam: inner,
        certs: &last.certs,
        order: order?,
    })
}

/// Whether a statement may be repeated for each point of an inner map: it costs little and cannot fail.
fn is_cheap(stm: &Stm<Soac>) -> bool {
    match &stm.exp {
        Exp::Atom(_) => true,
        Exp::Scalar(op, _) => is_cheap_scalar(*op),
        Exp::Op(Soac::Array(op)) => match op {
            ArrayOp::Index { .. }
            | ArrayOp::Slice { .. }
            | ArrayOp::Rearrange { .. }
            | ArrayOp::Reshape { .. } => true,
            ArrayOp::Update { .. }
            | ArrayOp::Literal { .. }
            | ArrayOp::Iota { .. }
            | ArrayOp::Replicate { .. }
            | ArrayOp::Scratch { .. }
            | ArrayOp::Copy(_)
            | ArrayOp::Concat { .. }
            | ArrayOp::Manifest { .. } => false,
        },
        Exp::Assert { .. } | Exp::If { .. } | Exp::Loop { .. } | Exp::Call { .. } => false,
        Exp::Op(
            Soac::Screma { .. } | Soac::Hist { .. } | Soac::Scatter { .. } | Soac::Filter { .. },
        ) => false,
    }
}

fn is_cheap_scalar(op: ScalarOp) -> bool {
    match op {
        ScalarOp::Cmp(..)
        | ScalarOp::Convert(..)
        | ScalarOp::ToBits(_)
        | ScalarOp::FromBits(_)
        | ScalarOp::Select(_)
        | ScalarOp::Tern(..) => true,
        ScalarOp::Un(op, _) => matches!(op, UnOp::Neg | UnOp::Not | UnOp::Abs),
        ScalarOp::Bin(op, ty) => match op {
            BinOp::Add
            | BinOp::Sub
            | BinOp::Mul
            | BinOp::And
            | BinOp::Or
            | BinOp::Xor
            | BinOp::Shl
            | BinOp::Shr => true,
            BinOp::Min | BinOp::Max => ty.is_integer(),
            BinOp::Div
            | BinOp::Mod
            | BinOp::Quot
            | BinOp::Rem
            | BinOp::Pow
            | BinOp::MulHi
            | BinOp::Atan2
            | BinOp::Atan2pi
            | BinOp::Hypot
            | BinOp::Copysign
            | BinOp::Nextafter
            | BinOp::Ldexp => false,
        },
    }
}
