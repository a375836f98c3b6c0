//! Array operations: views where there is nothing to do, copies and loops where there is.

use super::Cx;
use super::view::View;
use crate::ir::array::{ArrayOp, inverse};
use crate::ir::id::Var;
use crate::ir::mem::Mem;
use crate::ir::scalar::{BinOp, Const, ScalarOp};
use crate::ir::syntax::Atom;
use crate::ir::types::{Dim, ScalarType};

impl Cx<'_> {
    pub(super) fn array_op(&mut self, binds: &[Var], op: &ArrayOp) {
        if let ArrayOp::Stream(stream) = op {
            return self.stream(binds, stream);
        }
        let &[bind] = binds else {
            if let ArrayOp::Trace(trace) = op {
                self.trace(trace);
            }
            return;
        };
        match op {
            // They were translated before.
            ArrayOp::Trace(_) | ArrayOp::Stream(_) => {}
            ArrayOp::Index { array, indices } => self.index(bind, *array, indices),
            ArrayOp::Slice { array, dims } => {
                let view = self.view(*array);
                let view = self.slice(&view, dims);
                self.views.insert(bind, view);
            }
            ArrayOp::Update { array, dims, value } => {
                let view = self.view(*array);
                let part = self.slice(&view, dims);
                self.put(&part, *value);
                self.views.insert(bind, view);
            }
            ArrayOp::Literal { elems, .. } => self.literal(bind, elems),
            ArrayOp::Iota {
                start, step, ty, ..
            } => self.iota(bind, *start, *step, *ty),
            ArrayOp::Replicate { shape, value } => self.replicate(bind, shape, *value),
            ArrayOp::Scratch { .. } => {
                self.made(bind);
            }
            ArrayOp::Copy(array) => {
                let src = self.view(*array);
                let dst = self.made(bind);
                self.copy(&dst, &src);
            }
            ArrayOp::Concat { arrays, .. } => self.concat(bind, arrays),
            ArrayOp::Rearrange { perm, array } => {
                let view = self.view(*array).rearranged(perm);
                self.views.insert(bind, view);
            }
            ArrayOp::Reshape { array, .. } => {
                let view = self.view(*array);
                let dense = self.dense(&view);
                let view = self.placed(bind, dense.buffer, dense.elem, dense.offset);
                self.views.insert(bind, view);
            }
            ArrayOp::Manifest { perm, array } => self.manifest(bind, perm, *array),
        }
    }

    /// Where an array that is made now goes: where somebody wants it, or into new memory.
    pub(super) fn made(&mut self, bind: Var) -> View {
        let view = match self.dests.remove(&bind) {
            Some(view) => view,
            None => self.room_for(bind),
        };
        self.views.insert(bind, view.clone());
        view
    }

    fn index(&mut self, bind: Var, array: Var, indices: &[Atom]) {
        let view = self.view(array);
        let indices = self.atoms(indices);
        let row = match &view.levels {
            // Without indices, the row is the array.
            Some(_) if indices.is_empty() => view,
            Some(levels) if self.is_array(bind) => {
                let shape = self.shape_of(bind);
                self.row_of_type(&view, levels, &indices, shape)
            }
            Some(_) | None => self.row(&view, &indices),
        };
        if self.is_array(bind) {
            self.views.insert(bind, row);
        } else {
            let op = Mem::Load {
                buffer: row.buffer,
                index: row.offset,
            };
            self.push_op(vec![bind], op);
        }
    }

    fn literal(&mut self, bind: Var, elems: &[Atom]) {
        let dst = self.made(bind);
        for (i, &elem) in (0..).zip(elems) {
            let row = self.row(&dst, &[Atom::i64(i)]);
            self.put(&row, elem);
        }
    }

    fn iota(&mut self, bind: Var, start: Atom, step: Atom, ty: ScalarType) {
        let (start, step) = (self.atom(start), self.atom(step));
        let dst = self.made(bind);
        let bin = |op| ScalarOp::Bin(op, ty);
        self.fill(&dst, &mut |cx, indices| {
            let mut value = Atom::Var(indices[0]);
            if ty != ScalarType::I64 {
                let convert = ScalarOp::Convert(ScalarType::I64, ty);
                value = cx.scalar("x", convert, vec![value]);
            }
            if step != Atom::Const(Const::one(ty)) {
                value = cx.scalar("x", bin(BinOp::Mul), vec![value, step]);
            }
            if start == Atom::Const(Const::zero(ty)) {
                value
            } else {
                cx.scalar("x", bin(BinOp::Add), vec![start, value])
            }
        });
    }

    fn replicate(&mut self, bind: Var, shape: &[Dim], value: Atom) {
        let dst = self.made(bind);
        match value.as_var().and_then(|v| self.views.get(&v)).cloned() {
            None => {
                let value = self.atom(value);
                self.fill(&dst, &mut |_, _| value);
            }
            Some(src) => {
                // The same row again and again: a stride of nothing.
                let dst = self.as_rows(&dst, shape.len());
                let mut strides = vec![Atom::ZERO; dst.shape.len() - src.shape.len()];
                strides.extend_from_slice(&src.strides);
                let src = View {
                    shape: dst.shape.clone(),
                    strides,
                    dense: false,
                    ..src
                };
                self.copy(&dst, &src);
            }
        }
    }

    fn concat(&mut self, bind: Var, arrays: &[Var]) {
        let dst = self.made(bind);
        let mut at = Atom::ZERO;
        for &array in arrays {
            let src = self.view(array);
            let part = self.rows(&dst, at, src.shape[0]);
            self.copy(&part, &src);
            at = self.add(at, src.shape[0]);
        }
    }

    fn manifest(&mut self, bind: Var, perm: &[usize], array: Var) {
        let src = self.view(array);
        if src.levels.is_some() {
            let dst = self.made(bind);
            return self.copy(&dst, &src);
        }
        let in_memory = src.rearranged(perm);
        let made = self.new_array(src.elem, in_memory.shape);
        let dst = made.rearranged(&inverse(perm));
        self.copy(&dst, &src);
        self.views.insert(bind, dst);
    }
}
