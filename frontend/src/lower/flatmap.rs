//! `flatmap`: rows of any lengths, one after another in one array that grows as it must.

use super::emit::int;
use super::index::Index;
use super::value::{Instance, Leaf, Ty, Value, int_const, size_of_atom};
use super::{Lower, Res, unsupported};
use crate::source::Span;
use midend::ir::array::{ArrayOp, SliceDim};
use midend::ir::id::Var;
use midend::ir::scalar::{BinOp, CmpOp, Const};
use midend::ir::soac::{ScatterDest, Soac};
use midend::ir::syntax::{Atom, Body, Exp, Lambda, LoopForm, LoopParam};
use midend::ir::types::{ScalarType, Size, Type};

/// What the loop over the elements carries.
struct Carried<'a> {
    /// How many elements there is room for.
    room: Var,
    /// How many elements there are.
    count: Var,
    /// The number of elements of each row.
    lengths: Value<'a>,
    /// Where each row begins.
    offsets: Value<'a>,
    /// What else each application gave.
    rest: Value<'a>,
    /// The elements.
    data: Value<'a>,
}

impl<'a> Lower<'a> {
    /// `flatmap f xs`: lengths of the rows, flags at their beginnings, their offsets, all elements, and the rest.
    pub fn flat_map(
        &mut self,
        inst: &Instance,
        f: &Value<'a>,
        xs: &Value<'a>,
        span: Span,
    ) -> Res<Value<'a>> {
        let (Some(width), Some(row), Some(rest)) = (
            xs.dims().first().copied(),
            inst.types.get(1),
            inst.types.get(2),
        ) else {
            return Err(unsupported(span, "`flatmap` of these arguments"));
        };
        let mut inits: Vec<Atom> = vec![int(0), int(0)];
        let counts = Ty::array(Some(width), Ty::Scalar(ScalarType::I64));
        let rests = Ty::array(Some(width), rest.clone());
        for ty in [&counts, &counts, &rests] {
            inits.extend(self.absent(ty, &mut Vec::new()).atoms());
        }
        let none = Ty::array(Some(Size::Const(0)), row.clone());
        inits.extend(self.absent(&none, &mut Vec::new()).atoms());
        let mut params = Vec::new();
        let start = self.carried(&counts, &rests, row, &mut params);
        let index = self.fresh("i", Type::I64);
        let (result, stms) = self.nested(|l| {
            let x = l.index_unchecked(xs, &[Index::At(index.into())]);
            let v = l.apply(f.clone(), vec![x], span)?;
            l.append_row(&start, index, &v, (row, rest))
        })?;
        let mut after = Vec::new();
        let end = self.carried(&counts, &rests, row, &mut after);
        let loop_params = params.iter().zip(inits);
        let params = loop_params
            .map(|(var, init)| LoopParam { var: *var, init })
            .collect();
        let exp = Exp::Loop {
            params,
            form: LoopForm::For {
                index,
                bound: width.into(),
            },
            body: Body { stms, result },
        };
        self.push(after, exp);
        Ok(self.flat_result(end))
    }

    /// Fresh variables for what the loop carries, in order.
    fn carried(&mut self, counts: &Ty, rests: &Ty, row: &Ty, vars: &mut Vec<Var>) -> Carried<'a> {
        let room = self.fresh("room", Type::I64);
        let count = self.fresh("count", Type::I64);
        vars.extend([room, count]);
        let data = Ty::array(Some(Size::Var(room)), row.clone());
        let mut make = |l: &mut Self, ty: &Ty, name: &str| {
            l.template(
                ty,
                &mut Vec::new(),
                &mut |_, dim| dim.unwrap_or(Size::Const(0)),
                &mut |l, ty, _| {
                    let v = l.fresh(name, ty);
                    vars.push(v);
                    Leaf::new(v.into())
                },
                false,
            )
        };
        Carried {
            room,
            count,
            lengths: make(self, counts, "lengths"),
            offsets: make(self, counts, "offsets"),
            rest: make(self, rests, "rest"),
            data: make(self, &data, "data"),
        }
    }

    /// Appends one row; the elements move to a place of twice the size when there is no more room.
    fn append_row(
        &mut self,
        now: &Carried<'a>,
        index: Var,
        v: &Value<'a>,
        (row, rest): (&Ty, &Ty),
    ) -> Res<Vec<Atom>> {
        let i64 = ScalarType::I64;
        let new = self.cast(
            &super::exp::project_tuple(v, 0),
            &Ty::array(None, row.clone()),
        );
        let other = self.cast(&super::exp::project_tuple(v, 1), rest);
        let len = new.dims().first().copied().unwrap_or(Size::Const(0));
        let (count, room) = (Atom::Var(now.count), Atom::Var(now.room));
        let total = self.i64_bin(BinOp::Add, count, len.into());
        let full = self.cmp(CmpOp::Lt, i64, room, total);
        let data = now.data.clone();
        let kept = data.clone();
        let data = self.lower_if(
            full,
            None,
            &mut |l| {
                let twice = l.i64_bin(BinOp::Add, room, room);
                let more = l.i64_bin(BinOp::Max, twice, total);
                Ok(l.grown(&data, more, count))
            },
            &mut |_| Ok(kept.clone()),
            Span::default(),
        )?;
        let place = [SliceDim::Range {
            start: count,
            len,
            stride: int(1),
        }];
        let at = [SliceDim::Fix(index.into())];
        let data = self.replace(&data, &place, &new.atoms());
        let lengths = self.replace(&now.lengths, &at, &[len.into()]);
        let offsets = self.replace(&now.offsets, &at, &[count]);
        let rest = self.replace(&now.rest, &at, &other.atoms());
        let room = data.dims().first().copied().unwrap_or(Size::Const(0));
        let mut result = vec![Atom::from(room), total];
        for v in [&lengths, &offsets, &rest, &data] {
            result.extend(v.atoms());
        }
        Ok(result)
    }

    fn replace(&mut self, v: &Value<'a>, dims: &[SliceDim], new: &[Atom]) -> Value<'a> {
        let mut new = new.iter();
        v.map_leaves(&mut |leaf| match new.next() {
            Some(value) => self.update_leaf(leaf, dims, *value),
            None => leaf,
        })
    }

    /// The first `count` rows in a larger array.
    fn grown(&mut self, data: &Value<'a>, room: Atom, count: Atom) -> Value<'a> {
        let part = [Index::Range(None, Some(count), None)];
        let old = self.index_unchecked(data, &part).atoms();
        let room = size_of_atom(room).unwrap_or(Size::Const(0));
        let larger = data.peel(1).map_leaves(&mut |leaf| {
            let row = self.ty(leaf.atom).peel(1).unwrap_or(Type::I64);
            let ty = Type::array_of(&row, &[room]);
            let shape = ty.shape().to_vec();
            let elem = ty.elem().unwrap_or(ScalarType::Bool);
            let op = ArrayOp::Scratch { elem, shape };
            Leaf::new(self.array_op("data", ty, op).into())
        });
        let place = [SliceDim::Range {
            start: int(0),
            len: size_of_atom(count).unwrap_or(Size::Const(0)),
            stride: int(1),
        }];
        let larger = Value::array(&[room], larger);
        self.replace(&larger, &place, &old)
    }

    fn flat_result(&mut self, end: Carried<'a>) -> Value<'a> {
        let count = Size::Var(end.count);
        let used = [Index::Range(None, Some(end.count.into()), None)];
        let data = self.index_unchecked(&end.data, &used);
        let flags = self.row_flags(&end, count);
        let flags = Value::array(&[count], Value::scalar(flags));
        Value::tuple(vec![end.lengths, flags, end.offsets, data, end.rest])
    }

    /// Marks the first element of each row that has one.
    fn row_flags(&mut self, end: &Carried<'a>, count: Size) -> Var {
        let no = Atom::Const(Const::Bool(false));
        let ty = Type::array_of(&Type::BOOL, &[count]);
        let op = ArrayOp::Replicate {
            shape: vec![count.into()],
            value: no,
        };
        let flags = self.array_op("flags", ty.clone(), op);
        let width = end.lengths.dims().first().copied();
        let arrays = [&end.offsets, &end.lengths]
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
