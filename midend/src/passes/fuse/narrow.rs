//! Numbers that a nest of maps widens at its end, and that one operator traverses in another shape, so that the nest is no part of it, are
//! kept as narrow as they were, and widened by who reads them: memory has fewer bytes to hold.
//!
//! ```text
//! let yss = map n (xss) \(xs) {                       let yss = map n (xss) \(xs) {
//!   let ys = map m (xs) \(x) {                          let ys = map m (xs) \(x) { .. yield i } yield ys }
//!     .. let j = convert.i32.i64(i); yield j }   ──►  let is = reshape [n*m] yss
//!   yield ys }                                        let a = hist (n*m) (is) \(i) { let j = convert.i32.i64(i); .. }
//! let js = reshape [n*m] yss
//! let a = hist (n*m) (js) \(j) { .. }
//! ```
//!
//! A number may also come from a choice, of which one side may be a constant that fits.

use super::Fuse;
use super::parts::{Consumer, Screma, Traversal, traversal};
use super::uses::Uses;
use crate::fired::fired;
use crate::ir::array::ArrayOp;
use crate::ir::id::Var;
use crate::ir::scalar::{Const, ScalarOp};
use crate::ir::soac::Soac;
use crate::ir::syntax::{Atom, Body, Exp, Stm, VarInfo, Vars};
use crate::ir::types::{Dim, ScalarType, Type};
use crate::ir::walk::free_in_stm;

impl Fuse<'_> {
    /// Lets nests of maps keep numbers narrow where that can be had.
    pub(super) fn narrow(&mut self, body: &mut Body<Soac>) {
        let is_reshape =
            |stm: &Stm<Soac>| matches!(stm.exp, Exp::Op(Soac::Array(ArrayOp::Reshape { .. })));
        if !body.stms.iter().any(is_reshape) {
            return;
        }
        let uses = Uses::of(body, self.vars, self.funs);
        for from in 0..body.stms.len() {
            let Some((at, reader, types)) = self.widening(body, &uses, from) else {
                continue;
            };
            fired("fuse/narrow-nest");
            let [narrow, _] = types;
            if let Exp::Op(Soac::Screma { lam, .. }) = &mut body.stms[from].exp {
                self.narrow_result(&mut lam.body, types);
            }
            self.retype(body.stms[from].binds[0], narrow);
            let reshaped = body.stms[at].binds[0];
            self.retype(reshaped, narrow);
            self.widen(&mut body.stms[reader], reshaped, types);
        }
    }

    /// The reshape of what a nest of maps makes, if nothing else reads that, and the one operator that reads its result, if that
    /// traverses it; and between which types the nest widens.
    fn widening(
        &self,
        body: &Body<Soac>,
        uses: &Uses,
        from: usize,
    ) -> Option<(usize, usize, [ScalarType; 2])> {
        let stm = &body.stms[from];
        let (&[made], Some(map)) = (&stm.binds[..], Screma::of(stm)) else {
            return None;
        };
        if !map.is_map() {
            return None;
        }
        let at = uses.only_read_by(made, from)?;
        let Exp::Op(Soac::Array(ArrayOp::Reshape { shape, .. })) = &body.stms[at].exp else {
            return None;
        };
        let (&[Dim::Size(_)], &[reshaped]) = (&shape[..], &body.stms[at].binds[..]) else {
            return None;
        };
        let by = uses.only_read_by(reshaped, at)?;
        let reader = Consumer::of(&body.stms[by])?;
        let traversed = reader.arrays.contains(&reshaped);
        let traversed = traversed && !reader.other_reads(self.vars).contains(&reshaped);
        let to = self.vars[made].ty.elem()?;
        let narrow = narrower(self.vars, &map.lam.body, to)?;
        traversed.then_some((at, by, [narrow, to]))
    }

    /// Lets a body yield its result before that is widened.
    fn narrow_result(&mut self, body: &mut Body<Soac>, types: [ScalarType; 2]) {
        let Atom::Var(result) = body.result[0] else {
            if let Some(fitting) = body.result[0].as_i64().and_then(|n| fitting(n, types[0])) {
                body.result[0] = Atom::Const(fitting);
            }
            return;
        };
        let Some(stm) = body.stms.iter_mut().find(|stm| stm.binds.contains(&result)) else {
            return;
        };
        match &mut stm.exp {
            Exp::Scalar(ScalarOp::Convert(..), args) => {
                body.result[0] = args[0];
                return;
            }
            Exp::Op(Soac::Screma { lam, .. }) => self.narrow_result(&mut lam.body, types),
            Exp::If {
                then, otherwise, ..
            } => {
                self.narrow_result(then, types);
                self.narrow_result(otherwise, types);
            }
            Exp::Atom(_)
            | Exp::Scalar(..)
            | Exp::Assert { .. }
            | Exp::Guard { .. }
            | Exp::Loop { .. }
            | Exp::Call { .. }
            | Exp::Op(_) => return,
        }
        self.retype(result, types[0]);
    }

    fn retype(&mut self, v: Var, elem: ScalarType) {
        let ty = &mut self.vars[v].ty;
        *ty = match ty.clone() {
            Type::Array(mut array) => {
                array.elem = elem;
                Type::Array(array)
            }
            Type::Scalar(_) | Type::Acc(_) | Type::Buffer(_) | Type::Cert => Type::Scalar(elem),
        };
    }

    /// Lets an operator widen the elements of an array.
    fn widen(&mut self, stm: &mut Stm<Soac>, array: Var, [from, to]: [ScalarType; 2]) {
        let span = stm.span;
        let Some(Traversal { arrays, lam }) = traversal(&mut stm.exp) else {
            return;
        };
        for (_, param) in arrays
            .iter()
            .zip(&mut lam.params)
            .filter(|(read, _)| **read == array)
        {
            let wide = *param;
            let name = self.vars[wide].name.clone();
            let ty = Type::Scalar(from);
            *param = self.vars.push(VarInfo { name, ty });
            let convert = Exp::Scalar(ScalarOp::Convert(from, to), vec![(*param).into()]);
            let stm = Stm {
                binds: vec![wide],
                certs: Vec::new(),
                exp: convert,
                span,
            };
            lam.body.stms.insert(0, stm);
        }
    }
}

/// The type that the only result of a body has before it is widened to another, if it is, and is used for nothing else.
fn narrower(vars: &Vars, body: &Body<Soac>, to: ScalarType) -> Option<ScalarType> {
    let &[Atom::Var(result)] = &body.result[..] else {
        return None;
    };
    let at = body.stms.iter().position(|stm| stm.binds == [result])?;
    let reads = |stm: &Stm<Soac>| free_in_stm(vars, stm).contains(&result);
    if body.stms[at + 1..].iter().any(reads) {
        return None;
    }
    match &body.stms[at].exp {
        Exp::Scalar(ScalarOp::Convert(from, ty), _) => {
            let widens = from.is_signed() && ty.is_signed() && from.bytes() < ty.bytes();
            (widens && *ty == to).then_some(*from)
        }
        Exp::Op(Soac::Screma {
            lam, scans, reds, ..
        }) if scans.is_empty() && reds.is_empty() => narrower(vars, &lam.body, to),
        Exp::If {
            then, otherwise, ..
        } => {
            let sides = [then, otherwise];
            let narrow = sides.iter().find_map(|side| narrower(vars, side, to))?;
            let fits = |side: &&Body<Soac>| match side.result[0] {
                Atom::Var(_) => narrower(vars, side, to) == Some(narrow),
                constant @ Atom::Const(_) => {
                    let number = constant.as_i64();
                    number.and_then(|n| fitting(n, narrow)).is_some()
                }
            };
            let all = sides.iter().map(|side| &**side).all(|side| fits(&side));
            all.then_some(narrow)
        }
        Exp::Atom(_)
        | Exp::Scalar(..)
        | Exp::Assert { .. }
        | Exp::Guard { .. }
        | Exp::Loop { .. }
        | Exp::Call { .. }
        | Exp::Op(_) => None,
    }
}

/// A number as one of a type, if it is one.
fn fitting(n: i64, ty: ScalarType) -> Option<Const> {
    match ty {
        ScalarType::I32 => i32::try_from(n).ok().map(Const::I32),
        ScalarType::I16 => i16::try_from(n).ok().map(Const::I16),
        ScalarType::I8 => i8::try_from(n).ok().map(Const::I8),
        ScalarType::I64
        | ScalarType::U8
        | ScalarType::U16
        | ScalarType::U32
        | ScalarType::U64
        | ScalarType::F16
        | ScalarType::F32
        | ScalarType::F64
        | ScalarType::Bool => None,
    }
}
