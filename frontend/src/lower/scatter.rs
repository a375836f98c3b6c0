//! Parallel writes and histograms.

use super::soac::Input;
use super::value::{Leaf, Ty, Value};
use super::{Lower, Res, unsupported};
use crate::source::Span;
use midend::ir::soac::{HistOp, ScatterDest, Soac};
use midend::ir::syntax::{Atom, Body, Exp, Lambda};

impl<'a> Lower<'a> {
    /// Indices and values side by side: `(index atoms, value)` of an element.
    pub(super) fn indexed(
        &mut self,
        indices: &Value<'a>,
        values: &Value<'a>,
        row: &Ty,
        span: Span,
    ) -> Res<(Input<'a>, Vec<Atom>, Value<'a>)> {
        let Some(width) = indices.dims().first().copied() else {
            return Err(unsupported(span, "an array of indices is needed here"));
        };
        let values = self.cast(values, &Ty::array(Some(width), row.clone()));
        let rows = Value::tuple(vec![indices.peel(1), values.peel(1)]);
        let input = self.input(&Value::array(&[width], rows), span)?;
        let at = super::exp::project_tuple(&input.elem, 0).atoms();
        let value = super::exp::project_tuple(&input.elem, 1);
        Ok((input, at, value))
    }

    /// `scatter dest is vs`, in up to three dimensions.
    pub fn scatter(
        &mut self,
        dest: &Value<'a>,
        indices: &Value<'a>,
        values: &Value<'a>,
        span: Span,
    ) -> Res<Value<'a>> {
        let rank = indices.peel(1).leaves().len();
        let row = self.type_of(&dest.peel(rank));
        let (input, at, value) = self.indexed(indices, values, &row, span)?;
        let mut dests = Vec::new();
        let mut binds = Vec::new();
        let mut result = Vec::new();
        let updated = dest.map_leaves(&mut |leaf| {
            let Atom::Var(array) = self.consume(leaf) else {
                return leaf;
            };
            let info = self.vars[array].clone();
            let v = self.fresh(&info.name, info.ty);
            self.alias(v, [Atom::Var(array)]);
            dests.push(ScatterDest { rank, array });
            binds.push(v);
            result.extend(at.iter().copied());
            Leaf::new(v.into())
        });
        result.extend(value.atoms());
        let op = Soac::Scatter {
            width: input.width,
            arrays: input.arrays,
            lam: Lambda {
                params: input.params,
                body: Body {
                    stms: Vec::new(),
                    result,
                },
            },
            dests,
        };
        if !binds.is_empty() {
            self.push(binds, Exp::Op(op));
        }
        Ok(updated)
    }

    /// `reduce_by_index dest op ne is vs`, in up to three dimensions.
    pub fn hist(
        &mut self,
        dest: &Value<'a>,
        op: Value<'a>,
        neutral: &Value<'a>,
        indices: &Value<'a>,
        values: &Value<'a>,
        span: Span,
    ) -> Res<Value<'a>> {
        let rank = indices.peel(1).leaves().len();
        let shape = dest.dims().get(..rank).unwrap_or(&[]).to_vec();
        let row = self.type_of(&dest.peel(rank));
        let (input, mut result, value) = self.indexed(indices, values, &row, span)?;
        let operator = self.operator(&op, neutral, &value, true, span)?;
        let mut dests = Vec::new();
        let mut binds = Vec::new();
        let updated = dest.map_leaves(&mut |leaf| {
            let Atom::Var(array) = self.consume(leaf) else {
                return leaf;
            };
            let info = self.vars[array].clone();
            let v = self.fresh(&info.name, info.ty);
            self.alias(v, [Atom::Var(array)]);
            dests.push(array);
            binds.push(v);
            Leaf::new(v.into())
        });
        result.extend(value.atoms());
        let op = Soac::Hist {
            width: input.width,
            arrays: input.arrays,
            lam: Lambda {
                params: input.params,
                body: Body {
                    stms: Vec::new(),
                    result,
                },
            },
            ops: vec![HistOp {
                shape,
                dests,
                op: operator,
            }],
        };
        if !binds.is_empty() {
            self.push(binds, Exp::Op(op));
        }
        Ok(updated)
    }
}
