//! Accumulators. In the source an accumulator is a value of an abstract type; here it has the structure of the array that it
//! updates, its leaves accumulators of the IR. Functions that take one are lowered in place.

use super::value::{Leaf, Value};
use super::{Lower, Res, unsupported};
use crate::diagnostic::{Code, Diagnostic};
use crate::source::Span;
use midend::ir::id::Var;
use midend::ir::soac::{Accumulation, Soac, UpdateAcc};
use midend::ir::syntax::{Atom, Exp};
use midend::ir::types::{AccType, Type};

impl<'a> Lower<'a> {
    /// `scatter_stream dest f bs`, and with an operator and its neutral element `hist_stream dest op ne f bs`.
    pub(super) fn accumulate(
        &mut self,
        dest: &Value<'a>,
        op: Option<(Value<'a>, Value<'a>)>,
        f: Value<'a>,
        bs: &Value<'a>,
        span: Span,
    ) -> Res<Value<'a>> {
        let op = match op {
            Some((op, neutral)) => {
                let row = self.row_shape(dest);
                Some(self.operator(&op, &neutral, &row, true, span)?)
            }
            None => None,
        };
        let token = self.fresh("token", Type::Cert);
        let (mut dests, mut params, mut binds) = (Vec::new(), Vec::new(), Vec::new());
        let mut accs = Vec::new();
        let updated = dest.map_leaves(&mut |leaf| {
            let Atom::Var(array) = self.consume(leaf) else {
                return leaf;
            };
            let info = self.vars[array].clone();
            if let Type::Array(array) = &info.ty {
                let part = params.len();
                let array = array.clone();
                let acc = Type::Acc(AccType { token, part, array });
                params.push(self.fresh("acc", acc));
                accs.extend(params.last().copied());
            }
            let v = self.fresh(&info.name, info.ty);
            self.alias(v, [Atom::Var(array)]);
            dests.push(array);
            binds.push(v);
            Leaf::new(v.into())
        });
        let mut next = accs.into_iter();
        let acc = dest.map_leaves(&mut |leaf| next.next().map_or(leaf, |v| Leaf::new(v.into())));
        let input = self.input(bs, span)?;
        let (elem, mut args) = (input.elem.clone(), Some((f, acc)));
        let (lam, v) = self.lambda(
            input.params.clone(),
            None,
            span,
            &mut |l| match args.take() {
                Some((f, acc)) => l.apply(f, vec![acc, elem.clone()], span),
                None => Ok(Value::unit()),
            },
        )?;
        let yielded = v.atoms().into_iter().map(|a| self.ty(a));
        if !yielded.eq(params.iter().map(|p| self.vars[*p].ty.clone())) {
            let message = "the function does not return the accumulator that it is given";
            return Err(Box::new(Diagnostic::error(Code::BadType, span, message)));
        }
        let op = Soac::WithAcc {
            width: input.width,
            arrays: input.arrays,
            lam,
            acc: Accumulation {
                token,
                params,
                dests,
                op,
            },
        };
        if !binds.is_empty() {
            self.push(binds, Exp::Op(op));
        }
        Ok(updated)
    }

    /// `acc_write acc i v`.
    pub(super) fn acc_write(
        &mut self,
        acc: &Value<'a>,
        index: &Value<'a>,
        v: &Value<'a>,
        span: Span,
    ) -> Res<Value<'a>> {
        let index = self.scalar_of(index, span)?;
        let accs: Vec<Var> = acc
            .leaves()
            .into_iter()
            .filter_map(|leaf| super::emit::var_of(leaf.atom))
            .collect();
        let mut values = Vec::new();
        for (acc, leaf) in accs.iter().zip(v.leaves()) {
            let Type::Acc(ty) = self.vars[*acc].ty.clone() else {
                return Err(unsupported(span, "an accumulator that is not there"));
            };
            // The value has this shape; only the names of its sizes may differ.
            let shape: Vec<_> = ty.array.shape[1..]
                .iter()
                .filter_map(|d| d.size())
                .collect();
            values.push(self.reshape(leaf, &shape).atom);
        }
        let mut binds = Vec::new();
        let updated = acc.map_leaves(&mut |leaf| {
            let v = self.fresh("acc", self.ty(leaf.atom));
            binds.push(v);
            Leaf::new(v.into())
        });
        let update = UpdateAcc {
            accs,
            index,
            values,
        };
        if !binds.is_empty() {
            self.push(binds, Exp::Op(Soac::UpdateAcc(update)));
        }
        Ok(updated)
    }
}
