//! Flat maps in sequential code: vectors that move to a place of at least twice the size when there is no more room.
//!
//! ```text
//! flat_map n (xs) \(x) { .. yield k, row }
//! ──►
//! loop (count = 0, offs = .., room = 0, data = ..) for i < n {
//!   let data = if room < count + k then (data in max (2 * room) (count + k)) else data
//!   yield count + k, offs with [i + 1] = count + k, data with [count : count + k] = row
//! }
//! ```

use super::{Cx, bin, int};
use crate::ir::array::{ArrayOp, SliceDim};
use crate::ir::id::Var;
use crate::ir::scalar::{BinOp, CmpOp, ScalarOp};
use crate::ir::seg::Seg;
use crate::ir::soac::Soac;
use crate::ir::syntax::{Atom, Body, Exp, Lambda, LoopParam, Stm};
use crate::ir::types::{ScalarType, Size, Type};

/// `len` rows from `start`.
fn part(start: Atom, len: Atom) -> Vec<SliceDim> {
    vec![SliceDim::Range {
        start,
        len: Size::of(len),
        stride: int(1),
    }]
}

/// What the loop over the elements carries.
struct Carried {
    /// How many rows there are.
    count: Var,
    offsets: Var,
    mapped: Vec<Var>,
    /// How many rows there is room for.
    room: Var,
    data: Vec<Var>,
}

impl Carried {
    fn all(&self) -> Vec<Var> {
        let mut all = vec![self.count, self.offsets];
        all.extend(&self.mapped);
        all.push(self.room);
        all.extend(&self.data);
        all
    }
}

impl Cx<'_> {
    /// A flat map as a loop.
    pub(super) fn seq_flat_map(
        &mut self,
        width: Size,
        traversal: (&[Var], &Lambda<Soac>),
        (rows, marks): (usize, Size),
        binds: &[Var],
        out: &mut Vec<Stm<Seg>>,
    ) {
        let (width, marks) = (self.size(width), self.size(marks));
        let elems: Vec<Type> = binds[2..2 + rows]
            .iter()
            .map(|&bind| self.vars[bind].ty.peel(1).unwrap_or(Type::I64))
            .collect();
        let mapped = &binds[2 + rows..];
        let offsets = Type::array_of(&Type::I64, &[marks]);
        let start = self.carried(&offsets, mapped, &elems);
        let mut inits = vec![int(0)];
        let none = self.scratch(start.offsets, out);
        inits.push(self.put(none, &[int(0)], int(0), out));
        for &bind in mapped {
            inits.push(self.scratch(bind, out).into());
        }
        inits.push(int(0));
        for elem in &elems {
            inits.push(self.empty(Size::Const(0), elem, out).into());
        }
        let params = start.all().into_iter().zip(inits);
        let params = params.map(|(var, init)| LoopParam { var, init }).collect();
        let index = self.fresh("i", Type::I64);
        let mut stms = Vec::new();
        let results = self.apply_at(traversal, index, &mut stms);
        let result = self.append(&start, index, &results, &elems, &mut stms);
        let mut end = self.carried(&offsets, mapped, &elems);
        (end.count, end.offsets) = (binds[1], binds[0]);
        end.mapped = mapped.to_vec();
        let body = Body { stms, result };
        self.for_loop((index, width), params, body, end.all(), out);
        for (&bind, &array) in binds[2..].iter().zip(&end.data) {
            let dims = part(int(0), end.count.into());
            let slice = ArrayOp::Slice { array, dims };
            self.push(out, vec![bind], Exp::Op(Seg::Array(slice)));
        }
    }

    /// Fresh variables for what the loop carries.
    fn carried(&mut self, offsets: &Type, mapped: &[Var], elems: &[Type]) -> Carried {
        let count = self.fresh("count", Type::I64);
        let offsets = self.fresh("offs", offsets.clone());
        let mut others = Vec::new();
        for &bind in mapped {
            let ty = self.vars[bind].ty.clone();
            others.push(self.fresh("out", ty));
        }
        let room = self.fresh("room", Type::I64);
        let rows = elems
            .iter()
            .map(|elem| self.fresh("data", Type::array_of(elem, &[Size::Var(room)])));
        Carried {
            count,
            offsets,
            mapped: others,
            room,
            data: rows.collect(),
        }
    }

    /// An array without values.
    fn empty(&mut self, len: Size, row: &Type, out: &mut Vec<Stm<Seg>>) -> Var {
        let like = self.fresh("room", Type::array_of(row, &[len]));
        self.scratch(like, out)
    }

    /// What the next step begins with.
    fn append(
        &mut self,
        now: &Carried,
        index: Var,
        results: &[Atom],
        elems: &[Type],
        stms: &mut Vec<Stm<Seg>>,
    ) -> Vec<Atom> {
        let length = results[0];
        let (rows, mapped) = results[1..].split_at(elems.len());
        let total = self.scalar(
            stms,
            "count",
            bin(BinOp::AddSat),
            vec![now.count.into(), length],
        );
        let next = self.scalar(stms, "next", bin(BinOp::Add), vec![index.into(), int(1)]);
        let mut result = vec![total, self.put(now.offsets, &[next], total, stms)];
        for (&array, &value) in now.mapped.iter().zip(mapped) {
            result.push(self.put(array, &[index.into()], value, stms));
        }
        let (room, data) = self.make_room(now, total, elems, stms);
        result.push(room.into());
        for ((array, &value), elem) in data.into_iter().zip(rows).zip(elems) {
            let update = ArrayOp::Update {
                array,
                dims: part(now.count.into(), length),
                value,
            };
            let ty = Type::array_of(elem, &[Size::Var(room)]);
            result.push(self.array(stms, "data", ty, update).into());
        }
        result
    }

    /// The vectors with room for `total` rows.
    fn make_room(
        &mut self,
        now: &Carried,
        total: Atom,
        elems: &[Type],
        stms: &mut Vec<Stm<Seg>>,
    ) -> (Var, Vec<Var>) {
        let lt = ScalarOp::Cmp(CmpOp::Lt, ScalarType::I64);
        let cond = self.scalar(stms, "full", lt, vec![now.room.into(), total]);
        let then = self.block(|cx, stms| {
            let room = now.room.into();
            let twice = cx.scalar(stms, "twice", bin(BinOp::AddSat), vec![room, room]);
            let more = cx.scalar(stms, "more", bin(BinOp::Max), vec![twice, total]);
            let mut result = vec![more];
            for (&data, elem) in now.data.iter().zip(elems) {
                let dims = part(int(0), now.count.into());
                let ty = Type::array_of(elem, &[Size::Var(now.count)]);
                let slice = ArrayOp::Slice {
                    array: data,
                    dims: dims.clone(),
                };
                let value = cx.array(stms, "old", ty, slice).into();
                let array = cx.empty(Size::of(more), elem, stms);
                let ty = cx.vars[array].ty.clone();
                let update = ArrayOp::Update { array, dims, value };
                result.push(cx.array(stms, "data", ty, update).into());
            }
            result
        });
        let mut kept = vec![Atom::Var(now.room)];
        kept.extend(now.data.iter().map(|&v| Atom::Var(v)));
        let otherwise = Body {
            stms: Vec::new(),
            result: kept,
        };
        let room = self.fresh("room", Type::I64);
        let data: Vec<Var> = elems
            .iter()
            .map(|elem| self.fresh("data", Type::array_of(elem, &[Size::Var(room)])))
            .collect();
        let binds = [&[room], &data[..]].concat();
        let exp = Exp::If {
            cond,
            then,
            otherwise,
        };
        self.push(stms, binds, exp);
        (room, data)
    }
}
