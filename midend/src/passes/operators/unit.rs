//! Reductions of arrays with one row, as reductions of the row.
//!
//! ```text
//! let t = map n (xs) \(x) { .. yield v } reduce (ne) \(a: [1][m]t, b: [1][m]t) { let p = index a[0]  let q = index b[0]  ..  let c = literal (r)  yield c }
//!   ──►
//! let ne0 = index ne[0]
//! let t0 = map n (xs) \(x) { ..  let v0 = index v[0]  yield v0 } reduce (ne0) \(p: [m]t, q: [m]t) { ..  yield r }
//! let t = literal (t0)
//! ```
//!
//! Products of matrices with one column, and their gradients, are made of such. Rows that arrays were made of are read where they are.

use super::Operators;
use crate::fired::fired;
use crate::ir::array::ArrayOp;
use crate::ir::id::Var;
use crate::ir::rename::{self, Subst};
use crate::ir::soac::{Operator, Soac};
use crate::ir::syntax::{Atom, Exp, Lambda, Stm, VarInfo};
use crate::ir::types::{Size, Type};
use crate::ir::walk;

impl Operators<'_> {
    /// Remembers what an array is made of.
    pub(super) fn note_rows(&mut self, stm: &Stm<Soac>) {
        if let (Exp::Op(Soac::Array(ArrayOp::Literal { elems, row })), &[v]) =
            (&stm.exp, &stm.binds[..])
            && row.is_array()
            && stm.certs.is_empty()
            && !self.consumed.contains(&v)
        {
            self.literals.insert(v, elems.clone());
        }
    }

    /// A row of an array that is made of rows, or an element of one, is read where it was before.
    pub(super) fn row_of_literal(&mut self, stm: &mut Stm<Soac>) {
        let Exp::Op(Soac::Array(ArrayOp::Index { array, indices })) = &stm.exp else {
            return;
        };
        let known = self.literals.get(array);
        let at = indices[0].as_i64().and_then(|i| usize::try_from(i).ok());
        let Some(Atom::Var(row)) = known.zip(at).and_then(|(rows, at)| rows.get(at)).copied()
        else {
            return;
        };
        if self.consumed.contains(&row) || stm.binds.iter().any(|v| self.consumed.contains(v)) {
            return;
        }
        fired("operators/row-of-literal");
        stm.exp = match &indices[1..] {
            [] => Exp::Atom(row.into()),
            rest => {
                let indices = rest.to_vec();
                ArrayOp::Index {
                    array: row,
                    indices,
                }
                .into()
            }
        };
    }

    /// Takes the unit dimension from what reductions of a statement combine. Yields the statement, and those that come after it.
    pub(super) fn without_unit_rows(
        &mut self,
        mut stm: Stm<Soac>,
        out: &mut Vec<Stm<Soac>>,
    ) -> (Stm<Soac>, Vec<Stm<Soac>>) {
        let mut after = Vec::new();
        let span = stm.span;
        let Exp::Op(Soac::Screma {
            lam, scans, reds, ..
        }) = &mut stm.exp
        else {
            return (stm, after);
        };
        let mut at: usize = scans.iter().map(|op| op.neutral.len()).sum();
        for op in reds {
            let k = op.neutral.len();
            let result = at;
            at += k;
            let Some(on_rows) = self.on_rows(op) else {
                continue;
            };
            fired("operators/unit-rows");
            let first = |t: &mut Self, v: Var, stms: &mut Vec<Stm<Soac>>| {
                let row = t.row_of(v);
                let indices = vec![Atom::ZERO];
                let exp = ArrayOp::Index { array: v, indices }.into();
                stms.push(Stm {
                    binds: vec![row],
                    certs: Vec::new(),
                    exp,
                    span,
                });
                Atom::Var(row)
            };
            if let (Some(value), Some(neutral)) =
                (lam.body.result[result].as_var(), op.neutral[0].as_var())
            {
                lam.body.result[result] = match only_row(lam, value) {
                    Some(row) => row,
                    None => first(self, value, &mut lam.body.stms),
                };
                let neutral = first(self, neutral, out);
                op.neutral = vec![neutral];
                op.lam = on_rows;
                let whole = stm.binds[result];
                let part = self.row_of(whole);
                stm.binds[result] = part;
                let row = self.vars[part].ty.clone();
                let elems = vec![part.into()];
                after.push(Stm {
                    binds: vec![whole],
                    certs: Vec::new(),
                    exp: ArrayOp::Literal { elems, row }.into(),
                    span,
                });
            }
        }
        (stm, after)
    }

    fn row_of(&mut self, v: Var) -> Var {
        let ty = self.vars[v].ty.peel(1).unwrap_or(Type::I64);
        let name = self.vars[v].name.clone();
        self.vars.push(VarInfo { name, ty })
    }

    /// An operator on arrays of one row that is one on the rows, as that.
    fn on_rows(&mut self, op: &Operator<Soac>) -> Option<Lambda<Soac>> {
        let &[a, b] = &op.lam.params[..] else {
            return None;
        };
        let ty = &self.vars[a].ty;
        let is_unit = ty.shape().first()?.size()? == Size::Const(1) && ty.rank() > 1;
        let result = op.lam.body.result[0].as_var()?;
        let row = only_row(&op.lam, result)?;
        // All that is read of the operands is the row.
        let (mut uses, mut rows) = (0, 0);
        walk::body_uses(self.vars, &op.lam.body, &mut |v| {
            uses += usize::from(v == a || v == b);
        });
        let mut subst = Subst::new();
        let params = vec![self.row_of(a), self.row_of(b)];
        for stm in &op.lam.body.stms {
            if let (Exp::Op(Soac::Array(ArrayOp::Index { array, indices })), &[v]) =
                (&stm.exp, &stm.binds[..])
                && (*array == a || *array == b)
                && indices[..] == [Atom::ZERO]
            {
                rows += 1;
                subst.insert(v, params[usize::from(*array == b)]);
            }
        }
        if !is_unit || uses != rows {
            return None;
        }
        let mut body = op.lam.body.clone();
        (body.stms).retain(|stm| !stm.binds.iter().any(|v| subst.get(*v).is_some()));
        body.result = vec![row];
        rename::substitute(self.vars, &subst, &mut body);
        Some(Lambda { params, body })
    }
}

/// The row of an array that a lambda makes of one.
fn only_row(lam: &Lambda<Soac>, array: Var) -> Option<Atom> {
    let made = lam.body.stms.iter().find(|stm| stm.binds == [array])?;
    let Exp::Op(Soac::Array(ArrayOp::Literal { elems, .. })) = &made.exp else {
        return None;
    };
    match elems[..] {
        [row] => Some(row),
        _ => None,
    }
}
