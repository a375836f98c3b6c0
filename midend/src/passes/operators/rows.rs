//! Flat maps whose rows have one length.

use super::Operators;
use crate::fired::fired;
use crate::ir::array::ArrayOp;
use crate::ir::id::Var;
use crate::ir::scalar::{BinOp, ScalarOp};
use crate::ir::soac::Soac;
use crate::ir::syntax::{Atom, Exp, Stm, VarInfo};
use crate::ir::types::{Dim, ScalarType, Size, Type};

impl Operators<'_> {
    /// A flat map whose rows have a length that its lambda does not compute: a map, of which the rows are seen as one dimension.
    /// Yields any other statement.
    pub(super) fn rows_of_one_length(
        &mut self,
        stm: Stm<Soac>,
        out: &mut Vec<Stm<Soac>>,
    ) -> Option<Stm<Soac>> {
        if !self.regular || !has_one_length(&stm.exp) {
            return Some(stm);
        }
        let Exp::Op(Soac::FlatMap {
            width,
            arrays,
            mut lam,
            rows,
            marks,
        }) = stm.exp
        else {
            return Some(stm);
        };
        fired("operators/rows-of-one-length");
        let mut push = |binds: Vec<Var>, exp: Exp<Soac>| {
            out.push(Stm {
                binds,
                certs: stm.certs.clone(),
                exp,
                span: stm.span,
            });
        };
        let length = lam.body.result.remove(0);
        let (data, mapped) = stm.binds[2..].split_at(rows);
        let mut bound = Vec::new();
        for (&v, row) in data.iter().zip(&lam.body.result) {
            let ty = Type::array_of(&row.ty(self.vars), &[width]);
            let name = self.vars[v].name.clone();
            bound.push(self.vars.push(VarInfo { name, ty }));
        }
        let all = bound.iter().chain(mapped).copied().collect();
        let map = Soac::Screma {
            width,
            arrays,
            lam,
            scans: Vec::new(),
            reds: Vec::new(),
        };
        push(all, Exp::Op(map));
        let (offsets, total) = (stm.binds[0], stm.binds[1]);
        let times = ScalarOp::Bin(BinOp::Mul, ScalarType::I64);
        push(vec![total], Exp::Scalar(times, vec![width.into(), length]));
        let iota = ArrayOp::Iota {
            len: marks,
            start: Atom::ZERO,
            step: length,
            ty: ScalarType::I64,
        };
        push(vec![offsets], iota.into());
        for (&v, &array) in data.iter().zip(&bound) {
            let mut shape = self.vars[v].ty.shape().to_vec();
            shape[0] = Dim::Size(Size::Var(total));
            push(vec![v], ArrayOp::Reshape { shape, array }.into());
        }
        None
    }
}

/// Whether this is a flat map whose lambda does not compute the length of the rows.
fn has_one_length(exp: &Exp<Soac>) -> bool {
    let Exp::Op(Soac::FlatMap { lam, .. }) = exp else {
        return false;
    };
    let length = lam.body.result.first();
    length.is_some_and(|length| !lam.binds(*length))
}
