//! Maps, and maps perfectly nested in them, as operations over spaces of several dimensions.

use super::{Cx, int};
use crate::ir::array::ArrayOp;
use crate::ir::id::Var;
use crate::ir::scalar::{BinOp, CmpOp, ScalarOp, UnOp};
use crate::ir::seg::{Seg, SegKind};
use crate::ir::soac::Soac;
use crate::ir::syntax::{Atom, Body, Exp, Lambda, Stm};
use crate::ir::types::{ScalarType, Size, Type};
use crate::ir::walk::{free_in_lambda, free_in_stm};

/// How many statements may stand before an inner map and be repeated for each of its points.
const CHEAP: usize = 12;

/// An inner map narrower than this stays a loop.
const NARROW: i64 = 16;

/// A map whose lambda contains nothing else but cheap statements and another map.
struct Outer<'a> {
    width: Size,
    arrays: &'a [Var],
    /// The cheap statements, with the parameters of the lambda.
    before: Lambda<Soac>,
    /// The width of the inner map.
    inner: Size,
    /// The checks that the inner map needs.
    certs: &'a [Var],
    /// For each result of the lambda, which result of the inner map it is.
    order: Vec<usize>,
}

/// A map as it stands: its width, its arrays, its lambda.
type Map<'a> = (Size, &'a [Var], &'a Lambda<Soac>);

impl Cx<'_> {
    pub(super) fn par_map(
        &mut self,
        width: Size,
        (arrays, lam): (&[Var], &Lambda<Soac>),
        binds: &[Var],
        out: &mut Vec<Stm<Seg>>,
    ) {
        let (outers, innermost) = self.levels((width, arrays, lam));
        for (depth, outer) in outers.iter().enumerate() {
            let checks = |stm: &Stm<Soac>| matches!(stm.exp, Exp::Assert { .. });
            if outer.before.body.stms.iter().any(checks) {
                self.outer_checks(&outers[..=depth], outer.inner, out);
            }
        }
        let mut stms = Vec::new();
        let mut dims = self.outer_dims(&outers, &mut stms);
        let (width, arrays, lam) = innermost;
        let index = self.fresh("i", Type::I64);
        dims.push((index, self.size(width)));
        let start = stms.len();
        let mut result = self.apply_at((arrays, lam), index, &mut stms);
        for outer in outers.iter().rev() {
            result = outer.order.iter().map(|&k| result[k]).collect();
        }
        let certs = outers.iter().flat_map(|outer| outer.certs);
        let certs: Vec<Var> = certs.filter_map(|&c| self.var_atom(c)).collect();
        let (inside, outside): (Vec<Var>, Vec<Var>) = certs
            .into_iter()
            .partition(|c| stms.iter().any(|stm| stm.binds.contains(c)));
        for stm in &mut stms[start..] {
            stm.certs.extend_from_slice(&inside);
        }
        self.seg(
            dims,
            Body { stms, result },
            SegKind::Map,
            binds.to_vec(),
            out,
        );
        if let Some(made) = out.last_mut() {
            made.certs = outside;
        }
    }

    /// The dimensions of the outer maps; what stands before the inner ones goes to `stms`.
    fn outer_dims(&mut self, outers: &[Outer<'_>], stms: &mut Vec<Stm<Seg>>) -> Vec<(Var, Size)> {
        let mut dims = Vec::new();
        for outer in outers {
            let index = self.fresh("i", Type::I64);
            dims.push((index, self.size(outer.width)));
            self.apply_at((outer.arrays, &outer.before), index, stms);
        }
        dims
    }

    /// What is checked before an inner map is checked also when the inner map has no points.
    fn outer_checks(&mut self, outers: &[Outer<'_>], inner: Size, out: &mut Vec<Stm<Seg>>) {
        let empty = ScalarOp::Cmp(CmpOp::Le, ScalarType::I64);
        let width = self.size(inner).into();
        let cond = self.scalar(out, "empty", empty, vec![width, int(0)]);
        let mut stms = Vec::new();
        let dims = self.outer_dims(outers, &mut stms);
        let body = Body {
            stms,
            result: Vec::new(),
        };
        let mut then = Vec::new();
        self.seg(dims, body, SegKind::Map, Vec::new(), &mut then);
        let block = |stms| Body {
            stms,
            result: Vec::new(),
        };
        let exp = Exp::If {
            cond,
            then: block(then),
            otherwise: block(Vec::new()),
        };
        self.push(out, Vec::new(), exp);
    }

    /// Takes a nest of maps apart.
    fn levels<'a>(&self, map: Map<'a>) -> (Vec<Outer<'a>>, Map<'a>) {
        let mut outers: Vec<Outer<'a>> = Vec::new();
        let mut bound: Vec<Var> = Vec::new();
        let mut map = map;
        while let Some((outer, inner)) = self.perfect(map) {
            bound.extend_from_slice(&outer.before.params);
            bound.extend(outer.before.body.stms.iter().flat_map(|stm| &stm.binds));
            // All of a space is known before any of its points.
            if matches!(outer.inner, Size::Var(v) if bound.contains(&v)) {
                break;
            }
            outers.push(outer);
            map = inner;
        }
        (outers, map)
    }

    /// The map that the lambda of another consists of, if it does.
    fn perfect<'a>(&self, (width, arrays, lam): Map<'a>) -> Option<(Outer<'a>, Map<'a>)> {
        let (last, before) = lam.body.stms.split_last()?;
        let Exp::Op(Soac::Screma {
            width: inner,
            arrays: rows,
            lam: body,
            scans,
            reds,
        }) = &last.exp
        else {
            return None;
        };
        let narrow = matches!(inner, Size::Const(n) if *n < NARROW);
        if !scans.is_empty() || !reds.is_empty() || narrow || before.len() > CHEAP {
            return None;
        }
        let element_wise = |v: Var| {
            rows.contains(&v)
                && !free_in_lambda(&self.vars, body).contains(&v)
                && !before
                    .iter()
                    .any(|stm| free_in_stm(&self.vars, stm).contains(&v))
        };
        if !before.iter().all(|stm| is_cheap(stm, &element_wise)) {
            return None;
        }
        let order = lam
            .body
            .result
            .iter()
            .map(|&a| last.binds.iter().position(|&b| Atom::Var(b) == a));
        let outer = Outer {
            width,
            arrays,
            before: Lambda {
                params: lam.params.clone(),
                body: Body {
                    stms: before.to_vec(),
                    result: Vec::new(),
                },
            },
            inner: *inner,
            certs: &last.certs,
            order: order.collect::<Option<Vec<usize>>>()?,
        };
        Some((outer, (*inner, rows, body)))
    }
}

/// Whether a statement may be repeated for each point of an inner map: it costs little. Arrays whose elements are a function of
/// the index cost nothing if they are read `element_wise`.
fn is_cheap(stm: &Stm<Soac>, element_wise: &dyn Fn(Var) -> bool) -> bool {
    match &stm.exp {
        Exp::Atom(_) => true,
        Exp::Scalar(op, _) => is_cheap_scalar(*op),
        Exp::Op(Soac::Array(op)) => match op {
            ArrayOp::Index { .. }
            | ArrayOp::Slice { .. }
            | ArrayOp::Rearrange { .. }
            | ArrayOp::Reshape { .. } => true,
            ArrayOp::Iota { .. } => element_wise(stm.binds[0]),
            ArrayOp::Replicate { shape, .. } => shape.len() == 1 && element_wise(stm.binds[0]),
            ArrayOp::Update { .. }
            | ArrayOp::Literal { .. }
            | ArrayOp::Scratch { .. }
            | ArrayOp::Copy(_)
            | ArrayOp::Concat { .. }
            | ArrayOp::Manifest { .. } => false,
        },
        Exp::Assert { .. } => true,
        Exp::Guard { .. } | Exp::If { .. } | Exp::Loop { .. } | Exp::Call { .. } => false,
        Exp::Op(
            Soac::Screma { .. }
            | Soac::Hist { .. }
            | Soac::Scatter { .. }
            | Soac::Filter { .. }
            | Soac::WithAcc { .. }
            | Soac::UpdateAcc(_),
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
