//! `flatmap`: rows of any lengths, one after another in one array.

use super::emit::int;
use super::index::Index;
use super::value::{Instance, Leaf, Ty, Value, int_const, size_of_atom};
use super::{Lower, Res, unsupported};
use crate::source::Span;
use midend::ir::array::ArrayOp;
use midend::ir::id::Var;
use midend::ir::scalar::{BinOp, CmpOp, Const};
use midend::ir::soac::{ScatterDest, Soac};
use midend::ir::syntax::{Atom, Body, Exp, Lambda};
use midend::ir::types::{ScalarType, Size, Type};

impl<'a> Lower<'a> {
    /// `flatmap f xs`: lengths of the rows, flags at their beginnings, their offsets, all elements, and the rest.
    pub fn flat_map(
        &mut self,
        inst: &Instance,
        f: &Value<'a>,
        xs: &Value<'a>,
        span: Span,
    ) -> Res<Value<'a>> {
        let (Some(row), Some(rest)) = (inst.types.get(1), inst.types.get(2)) else {
            return Err(unsupported(span, "`flatmap` of these arguments"));
        };
        let input = self.input(xs, span)?;
        let elem = input.elem.clone();
        let ((len, rows, other), stms) = self.nested(|l| {
            let v = l.apply(f.clone(), vec![elem], span)?;
            let rows = super::exp::project_tuple(&v, 0);
            let rows = l.cast(&rows, &Ty::array(None, row.clone()));
            let other = l.cast(&super::exp::project_tuple(&v, 1), rest);
            let len = rows.dims().first().copied().unwrap_or(Size::Const(0));
            Ok((len, rows, other))
        })?;
        if rows.has_rows() || other.has_rows() {
            return Err(self.irregular(span));
        }
        let one_more = self.i64_bin(BinOp::Add, input.width.into(), int(1));
        let marks = size_of_atom(one_more).unwrap_or(Size::Const(1));
        let offsets = self.fresh("offs", Type::array_of(&Type::I64, &[marks]));
        let total = self.fresh("total", Type::I64);
        let (mut binds, mut result) = (vec![offsets, total], vec![Atom::from(len)]);
        let total = Size::Var(total);
        let data = rows.peel(1).map_leaves(&mut |leaf| {
            let row = self.ty(leaf.atom).peel(1).unwrap_or(Type::I64);
            let v = self.fresh("data", Type::array_of(&row, &[total]));
            binds.push(v);
            result.push(leaf.atom);
            Leaf::new(v.into())
        });
        let rows = result.len() - 1;
        let (counts, lengths) = self.bind_arrays(input.width, &Value::scalar(len));
        let (others, rest) = self.bind_arrays(input.width, &other);
        binds.extend(counts.into_iter().chain(others));
        result.push(len.into());
        result.extend(other.atoms());
        let body = Body { stms, result };
        let params = input.params;
        let op = Soac::FlatMap {
            width: input.width,
            arrays: input.arrays,
            lam: Lambda { params, body },
            rows,
            marks,
        };
        self.push(binds, Exp::Op(op));
        self.check_total(total);
        let offsets = Value::array(&[marks], Value::scalar(offsets));
        let starts = [Index::Range(None, Some(input.width.into()), None)];
        let starts = self.index_unchecked(&offsets, &starts);
        let flags = self.row_flags(&lengths, &starts, total);
        let flags = Value::array(&[total], Value::scalar(flags));
        let data = Value::array(&[total], data);
        Ok(Value::tuple(vec![lengths, flags, starts, data, rest]))
    }

    /// Marks the first element of each row that has one.
    fn row_flags(&mut self, lengths: &Value<'a>, offsets: &Value<'a>, count: Size) -> Var {
        let no = Atom::Const(Const::Bool(false));
        let ty = Type::array_of(&Type::BOOL, &[count]);
        let op = ArrayOp::Replicate {
            shape: vec![count.into()],
            value: no,
        };
        let flags = self.array_op("flags", ty.clone(), op);
        let width = lengths.dims().first().copied();
        let arrays = [offsets, lengths]
            .iter()
            .flat_map(|v| v.atoms())
            .filter_map(super::emit::var_of)
            .collect();
        let params = vec![
            self.fresh("offset", Type::I64),
            self.fresh("len", Type::I64),
        ];
        let (offset, len) = (Atom::Var(params[0]), Atom::Var(params[1]));
        let nested = self.nested(|l| {
            let i64 = ScalarType::I64;
            let some = l.cmp(CmpOp::Lt, i64, int(0), len);
            let nowhere = Atom::Const(int_const(i64, -1));
            let at = l.select(i64, some, offset, nowhere);
            Ok(vec![at, Atom::Const(Const::Bool(true))])
        });
        let (result, stms) = nested.unwrap_or_default();
        let lam = Lambda {
            params,
            body: Body { stms, result },
        };
        let dest = ScatterDest {
            rank: 1,
            array: flags,
        };
        let op = Soac::Scatter {
            width: width.unwrap_or(Size::Const(0)),
            arrays,
            lam,
            dests: vec![dest],
        };
        self.bind1("flags", ty, Exp::Op(op))
    }
}
