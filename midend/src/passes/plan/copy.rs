//! Moving arrays: copies, row-major forms, filling.

use super::control::Val;
use super::emit::FrameKind;
use super::view::View;
use super::{Cx, Mode};
use crate::analysis::kernels::shares_out;
use crate::ir::array::{Stream, StreamOp, Trace};
use crate::ir::id::Var;
use crate::ir::mem::{Extent, Kernel, KernelKind, KernelSpace, Mem, MemStream, MemTrace};
use crate::ir::syntax::{Atom, Body, Exp, LoopForm};
use crate::ir::types::Type;
use crate::stream::sizes_of;

impl Cx<'_> {
    /// Copies all elements, unless they are there already. The two do not overlap.
    pub(super) fn copy(&mut self, dst: &View, src: &View) {
        if !dst.same(src) {
            let op = Mem::Copy {
                shape: dst.shape.clone(),
                dst: dst.region(),
                src: src.region(),
            };
            self.push_op(Vec::new(), op);
        }
    }

    /// A fresh row-major copy.
    pub(super) fn fresh_copy(&mut self, src: &View) -> View {
        let dst = self.new_array(src.elem, src.shape.clone());
        self.copy(&dst, src);
        let levels = src.levels.clone();
        View { levels, ..dst }
    }

    /// The array in row-major form, itself if it is.
    pub(super) fn dense(&mut self, view: &View) -> View {
        if self.is_dense(view) {
            let mut view = view.clone();
            view.dense = true;
            view
        } else {
            self.fresh_copy(view)
        }
    }

    /// The array in row-major form from the start of its buffer, itself if it is.
    pub(super) fn whole(&mut self, view: &View) -> View {
        if view.offset == Atom::ZERO && self.is_dense(view) {
            self.dense(view)
        } else if let Some(view) = self.reordered(view) {
            view
        } else {
            self.fresh_copy(view)
        }
    }

    /// Shows a value. What runs in parallel, or as one kernel, shows nothing.
    pub(super) fn trace(&mut self, trace: &Trace) {
        if self.mode != Mode::Host {
            return;
        }
        let values = self.shaped(&trace.values);
        let (label, ty) = (trace.label.clone(), trace.ty.clone());
        let op = Mem::Trace(Box::new(MemTrace { label, ty, values }));
        self.push_op(Vec::new(), op);
    }

    /// Scalars, and row-major arrays at the start of buffers.
    fn shaped(&mut self, atoms: &[Atom]) -> Vec<(Atom, Vec<Atom>)> {
        let mut values = Vec::with_capacity(atoms.len());
        for &atom in atoms {
            values.push(match self.val(atom) {
                Val::Scalar(a) => (a, Vec::new()),
                Val::Array(view) => {
                    let view = self.whole(&view);
                    (view.buffer.into(), view.shape)
                }
            });
        }
        values
    }

    /// A step of a sequence. Arrays that are read lie row-major at the start of their buffers.
    pub(super) fn stream(&mut self, binds: &[Var], stream: &Stream) {
        let step = MemStream {
            op: stream.op,
            stream: stream.stream,
            args: self.shaped(&stream.args),
            sizes: match stream.op {
                StreamOp::Read => sizes_of(&self.vars, binds).unwrap_or_default(),
                StreamOp::Next | StreamOp::Write => Vec::new(),
            },
        };
        let mut bound = Vec::with_capacity(binds.len());
        for &bind in binds {
            bound.push(match self.is_array(bind) {
                true => self.pointer(bind, &[]),
                false => bind,
            });
        }
        self.push_op(bound.clone(), Mem::Stream(step));
        for (&bind, buffer) in binds.iter().zip(bound) {
            if self.is_array(bind) {
                self.point_to(bind, buffer, Atom::ZERO);
            }
        }
    }

    /// Stores a scalar or copies an array.
    pub(super) fn put(&mut self, dst: &View, value: Atom) {
        match value.as_var().and_then(|v| self.views.get(&v)).cloned() {
            Some(src) if dst.same(&src) => {}
            Some(src) if self.may_alias(dst.buffer, src.buffer) => {
                let apart = self.fresh_copy(&src);
                self.copy(dst, &apart);
            }
            Some(src) => self.copy(dst, &src),
            None => {
                let value = self.atom(value);
                let op = Mem::Store {
                    buffer: dst.buffer,
                    index: dst.offset,
                    value,
                };
                self.push_op(Vec::new(), op);
            }
        }
    }

    /// Fills an array with what `element` makes of indices: by a kernel on the host and where threads work together, by loops in a kernel. An array
    /// without gaps is filled by its flat index.
    pub(super) fn fill(&mut self, dst: &View, element: &mut dyn FnMut(&mut Self, &[Var]) -> Atom) {
        match self.mode {
            Mode::Host | Mode::Block => {
                self.enter(FrameKind::Top);
                let (mode, base) = (std::mem::replace(&mut self.mode, Mode::Kernel), self.base);
                self.base = self.top();
                let space: KernelSpace = dst
                    .shape
                    .iter()
                    .map(|&n| (self.fresh("i", Type::I64), Extent::Regular(n)))
                    .collect();
                let indices: Vec<Var> = space.iter().map(|&(v, _)| v).collect();
                for &i in &indices {
                    self.define(i);
                }
                self.fill_point(dst, &indices, element);
                let body = self.leave(Vec::new());
                (self.mode, self.base) = (mode, base);
                self.launch("fill", (space, 0), body, KernelKind::Map);
            }
            Mode::Kernel => self.fill_loops(dst, &mut Vec::new(), element),
        }
    }

    fn fill_point(
        &mut self,
        dst: &View,
        indices: &[Var],
        element: &mut dyn FnMut(&mut Self, &[Var]) -> Atom,
    ) {
        let value = element(self, indices);
        let at: Vec<Atom> = indices.iter().map(|&i| i.into()).collect();
        let index = self.position(dst, &at);
        let op = Mem::Store {
            buffer: dst.buffer,
            index,
            value,
        };
        self.push_op(Vec::new(), op);
    }

    fn fill_loops(
        &mut self,
        dst: &View,
        indices: &mut Vec<Var>,
        element: &mut dyn FnMut(&mut Self, &[Var]) -> Atom,
    ) {
        if indices.len() == dst.shape.len() {
            return self.fill_point(dst, indices, element);
        }
        let bound = dst.shape[indices.len()];
        self.enter(FrameKind::Loop);
        let index = self.fresh("i", Type::I64);
        self.define(index);
        indices.push(index);
        self.fill_loops(dst, indices, element);
        let body: Body<Mem> = self.leave(Vec::new());
        let form = LoopForm::For { index, bound };
        let exp = Exp::Loop {
            params: Vec::new(),
            form,
            body,
        };
        self.push(Vec::new(), exp);
    }

    /// Appends the launch of a kernel.
    pub(super) fn launch(
        &mut self,
        what: &str,
        (space, tiled): (KernelSpace, usize),
        mut body: Body<Mem>,
        kind: KernelKind,
    ) {
        let name = format!("{}.{what}_{}", self.fun_name, self.kernels);
        self.kernels += 1;
        let block = match self.mode {
            Mode::Host if shares_out(&body) => {
                let needs = self.plan_block(&mut body);
                self.by_blocks.push(needs.as_ref().map(|needs| needs.bytes));
                needs
            }
            Mode::Host | Mode::Block | Mode::Kernel => None,
        };
        let kernel = Kernel {
            name,
            space,
            tiled,
            steady: self.steady,
            block,
            body,
            kind,
        };
        self.push_op(Vec::new(), Mem::Launch(Box::new(kernel)));
    }
}
