//! Histograms of rows whose operator works element by element, as histograms of elements.
//!
//! ```text
//! hist n (is, xss) \(i, xs) { yield i, xs } into [k] (d) by (zs) \(as, bs) { map m (as, bs) \(a, b) { a + b } }
//! ──►
//! seghist (i < n, j < m) { yield is[i], j, xss[i, j] } into [k, m] (d) by (zs[0]) \(a, b) { a + b }
//! ```

use super::elementwise::is_elementwise;
use super::{Cx, int};
use crate::fired::fired;
use crate::ir::array::ArrayOp;
use crate::ir::id::Var;
use crate::ir::scalar::{CmpOp, Const, ScalarOp};
use crate::ir::seg::{Seg, SegKind, SpaceDim};
use crate::ir::soac::{HistOp, Operator, Soac};
use crate::ir::syntax::{Atom, Body, Exp, Lambda, Stm, Vars};
use crate::ir::types::{ScalarType, Size, Type};
use crate::ir::walk::free_in_lambda;

impl Cx<'_> {
    /// Whether a histogram can be made one of elements: the operator is one map over its operands and nothing else, and finding a
    /// bucket costs nothing.
    pub(super) fn is_hist_of_elements(&self, lam: &Lambda<Soac>, ops: &[HistOp<Soac>]) -> bool {
        let [op] = ops else { return false };
        let Some((_, arrays, inner)) = operator_map(&op.op) else {
            return false;
        };
        let rank = op.shape.len() + 1;
        let own = |v: &Var| op.op.lam.params.contains(v);
        is_elementwise(&op.op.lam)
            && arrays.iter().all(own)
            && inner.params.iter().all(|&p| !self.vars[p].ty.is_array())
            && op.dests.iter().all(|&d| self.vars[d].ty.rank() == rank)
            && lam.body.stms.iter().all(is_free)
    }

    pub(super) fn hist_of_elements(
        &mut self,
        width: Size,
        traversal: (&[Var], &Lambda<Soac>),
        op: &HistOp<Soac>,
        binds: &[Var],
        out: &mut Vec<Stm<Seg>>,
    ) {
        let Some((inner, arrays, lam)) = operator_map(&op.op) else {
            return;
        };
        fired("flatten/histogram-of-elements");
        let width = self.size(width);
        let inner = self.size(inner);
        let neutral = op
            .op
            .neutral
            .iter()
            .map(|&ne| self.first_element(ne, inner, out));
        let neutral = neutral.collect();
        let lam = self.element_operator(&op.op, arrays, lam);
        let index = self.fresh("i", Type::I64);
        let column = self.fresh("j", Type::I64);
        let mut stms = Vec::new();
        let results = self.apply_at(traversal, index, &mut stms);
        let (buckets, rows) = results.split_at(op.shape.len());
        let mut result = buckets.to_vec();
        result.push(column.into());
        for row in rows.iter().filter_map(|row| row.as_var()) {
            result.extend(self.element(&mut stms, row, column));
        }
        let mut shape = self.sizes(&op.shape);
        shape.push(inner);
        let op = HistOp {
            shape,
            dests: self.all_vars(&op.dests),
            op: Operator {
                comm: op.op.comm,
                lam,
                neutral,
            },
        };
        let dims = vec![
            (index, SpaceDim::Regular(width)),
            (column, SpaceDim::Regular(inner)),
        ];
        let body = Body { stms, result };
        self.seg(dims, body, SegKind::Hist(vec![op]), binds.to_vec(), out);
    }

    /// The operator on elements.
    pub(super) fn element_operator(
        &mut self,
        op: &Operator<Soac>,
        arrays: &[Var],
        inner: &Lambda<Soac>,
    ) -> Lambda<Seg> {
        let mut params = Vec::new();
        for &p in &op.lam.params {
            let elem = self.vars[p].ty.elem().unwrap_or(ScalarType::I64);
            params.push(self.fresh("x", Type::Scalar(elem)));
        }
        let args: Vec<Atom> = arrays
            .iter()
            .filter_map(|a| op.lam.params.iter().position(|p| p == a))
            .map(|k| params[k].into())
            .collect();
        let mut stms = Vec::new();
        let result = self.apply(inner, &args, &mut stms);
        Lambda {
            params,
            body: Body { stms, result },
        }
    }

    /// The first element of a row of neutral elements, which are all the same; anything for an empty row.
    pub(super) fn first_element(&mut self, row: Atom, len: Size, out: &mut Vec<Stm<Seg>>) -> Atom {
        let Atom::Var(row) = self.atom(row) else {
            return row;
        };
        let elem = self.vars[row].ty.elem().unwrap_or(ScalarType::I64);
        let empty = ScalarOp::Cmp(CmpOp::Le, ScalarType::I64);
        let cond = self.scalar(out, "empty", empty, vec![len.into(), int(0)]);
        let mut stms = Vec::new();
        let op = ArrayOp::Index {
            array: row,
            indices: vec![int(0)],
        };
        let first = self.array(&mut stms, "ne", Type::Scalar(elem), op);
        let exp = Exp::If {
            cond,
            then: Body {
                stms: Vec::new(),
                result: vec![Atom::Const(Const::zero(elem))],
            },
            otherwise: Body {
                stms,
                result: vec![first.into()],
            },
        };
        Atom::Var(self.emit(out, "ne", Type::Scalar(elem), exp))
    }
}

/// The map that an operator consists of.
pub(super) fn operator_map(op: &Operator<Soac>) -> Option<(Size, &[Var], &Lambda<Soac>)> {
    match op.lam.body.stms.first().map(|stm| &stm.exp) {
        Some(Exp::Op(Soac::Screma {
            width, arrays, lam, ..
        })) => Some((*width, arrays, lam)),
        Some(
            Exp::Op(_)
            | Exp::Atom(_)
            | Exp::Scalar(..)
            | Exp::Assert { .. }
            | Exp::Guard { .. }
            | Exp::If { .. }
            | Exp::Loop { .. }
            | Exp::Call { .. },
        )
        | None => None,
    }
}

/// The map that an operator is, and nothing else: its rows, over whole operands, in which no operand is read but by the current elements.
pub(in crate::passes) fn map_of_rows<'o>(
    vars: &Vars,
    op: &'o Operator<Soac>,
) -> Option<(Size, &'o [Var], &'o Lambda<Soac>)> {
    let [stm] = &op.lam.body.stms[..] else {
        return None;
    };
    let Exp::Op(Soac::Screma {
        width,
        arrays,
        lam,
        scans,
        reds,
    }) = &stm.exp
    else {
        return None;
    };
    let results = stm.binds.iter().map(|v| Atom::Var(*v));
    let operand = |v: &Var| op.lam.params.contains(v);
    let is_map = scans.is_empty()
        && reds.is_empty()
        && stm.certs.is_empty()
        && op.lam.body.result.iter().copied().eq(results)
        && arrays.iter().all(operand)
        && !free_in_lambda(vars, lam).iter().any(operand);
    is_map.then_some((*width, arrays, lam))
}

/// Whether a statement costs next to nothing, so that it may be repeated for every element of a row.
pub(in crate::passes) fn is_free(stm: &Stm<Soac>) -> bool {
    match &stm.exp {
        Exp::Atom(_) | Exp::Scalar(..) | Exp::Op(Soac::Array(ArrayOp::Index { .. })) => true,
        Exp::Op(_)
        | Exp::Assert { .. }
        | Exp::Guard { .. }
        | Exp::If { .. }
        | Exp::Loop { .. }
        | Exp::Call { .. } => false,
    }
}
