//! Host code that is not worth a statement-by-statement execution: loops without kernels, and calls of functions
//! without kernels that loop or recur, become one sequential kernel. A loop that makes whole arrays, or writes whole rows of one,
//! stays on the host, for devices copy in parallel.

use super::emit::FrameKind;
use super::{Cx, Mode, is_parallel};
use crate::fired::fired;
use crate::ir::array::ArrayOp;
use crate::ir::id::{FunId, Var};
use crate::ir::mem::{KernelKind, Mem};
use crate::ir::seg::Seg;
use crate::ir::syntax::{Atom, Body, Exp, LoopForm, LoopParam, Stm};
use crate::ir::types::Type;
use crate::ir::walk::all_stms;

/// Elements that one thread copies as soon as many do.
const SMALL: i64 = 64;

impl Cx<'_> {
    /// Lowers a loop of the host to a sequential kernel, if that can be done.
    pub(super) fn serial_loop(
        &mut self,
        stm: &Stm<Seg>,
        params: &[LoopParam],
        form: &LoopForm<Seg>,
        body: &Body<Seg>,
    ) -> bool {
        let parallel = is_parallel(body, &self.parallel)
            || match form {
                LoopForm::For { .. } => false,
                LoopForm::While(cond) => is_parallel(cond, &self.parallel),
            };
        let fits = params.iter().enumerate().all(|(k, param)| {
            self.definitions.is_carried(params, body, k)
                || self.shape_in_scope(&self.vars[param.var].ty)
        });
        if parallel || !fits || self.makes_arrays(body) {
            return false;
        }
        fired("plan/serial-loop");
        let inner: Vec<Var> = stm.binds.iter().map(|&b| self.twin(b)).collect();
        let mut cells = Vec::new();
        for (k, (&bind, &twin)) in stm.binds.iter().zip(&inner).enumerate() {
            if self.is_array(bind) && !self.definitions.is_carried(params, body, k) {
                let home = self.made(bind);
                self.dests.insert(twin, home);
            }
            cells.push(self.cell(bind));
        }
        self.serial(&inner, &cells, |cx| {
            cx.looping(&inner, (params, form, body))
        });
        self.collect(&stm.binds, &inner, &cells);
        true
    }

    /// Whether a body copies or fills arrays, or parts of them, that may be large.
    fn makes_arrays(&self, body: &Body<Seg>) -> bool {
        let mut makes = false;
        all_stms(body, &mut |stm| {
            if let Exp::Op(Seg::Array(op)) = &stm.exp {
                makes |= match op {
                    ArrayOp::Iota { .. }
                    | ArrayOp::Replicate { .. }
                    | ArrayOp::Copy(_)
                    | ArrayOp::Concat { .. }
                    | ArrayOp::Manifest { .. } => {
                        stm.binds.iter().any(|&b| !is_small(&self.vars[b].ty))
                    }
                    ArrayOp::Update { value, .. } => !is_small(&value.ty(&self.vars)),
                    ArrayOp::Index { .. }
                    | ArrayOp::Slice { .. }
                    | ArrayOp::Literal { .. }
                    | ArrayOp::Scratch { .. }
                    | ArrayOp::Rearrange { .. }
                    | ArrayOp::Reshape { .. }
                    | ArrayOp::Trace(_)
                    | ArrayOp::Stream(_) => false,
                };
            }
        });
        makes
    }

    /// Lowers a call of the host to a sequential kernel, if that can be done and is worth it.
    pub(super) fn serial_call(&mut self, stm: &Stm<Seg>, fun: FunId) -> bool {
        let Exp::Call { args, .. } = &stm.exp else {
            return false;
        };
        let body = &self.source[fun].body;
        let worth = !self.parallel[fun.0 as usize] && is_long(body) && !self.is_for_host(body);
        if !worth || stm.binds.iter().any(|&b| self.is_array(b)) {
            return false;
        }
        fired("plan/serial-call");
        let inner: Vec<Var> = stm.binds.iter().map(|&b| self.twin(b)).collect();
        let cells: Vec<Option<Var>> = stm.binds.iter().map(|&b| self.cell(b)).collect();
        self.serial(&inner, &cells, |cx| cx.call(&inner, fun, args));
        self.collect(&stm.binds, &inner, &cells);
        true
    }

    fn twin(&mut self, var: Var) -> Var {
        let info = self.vars[var].clone();
        self.fresh(&info.name, info.ty)
    }

    /// A sequential kernel that leaves the scalars among `inner` in the cells.
    fn serial(&mut self, inner: &[Var], cells: &[Option<Var>], make: impl FnOnce(&mut Self)) {
        let body = self.sequential(|cx| {
            make(cx);
            for (&var, cell) in inner.iter().zip(cells) {
                if let Some(buffer) = *cell {
                    let value = cx.atom(var.into());
                    cx.push_op(
                        Vec::new(),
                        Mem::Store {
                            buffer,
                            index: Atom::ZERO,
                            value,
                        },
                    );
                }
            }
        });
        self.launch("seq", (Vec::new(), 0), body, KernelKind::Seq);
    }

    /// The body of a kernel.
    pub(super) fn sequential(&mut self, make: impl FnOnce(&mut Self)) -> Body<Mem> {
        self.enter(FrameKind::Top);
        let (mode, base) = (std::mem::replace(&mut self.mode, Mode::Kernel), self.base);
        self.base = self.top();
        make(self);
        let body = self.leave(Vec::new());
        (self.mode, self.base) = (mode, base);
        body
    }

    /// Binds on the host what a sequential kernel made.
    fn collect(&mut self, binds: &[Var], inner: &[Var], cells: &[Option<Var>]) {
        for ((&bind, twin), cell) in binds.iter().zip(inner).zip(cells) {
            match (cell, self.views.get(twin).cloned()) {
                (Some(buffer), _) => {
                    self.push_op(
                        vec![bind],
                        Mem::Load {
                            buffer: *buffer,
                            index: Atom::ZERO,
                        },
                    );
                }
                (None, Some(view)) => {
                    self.views.insert(bind, view);
                }
                (None, None) => {}
            }
        }
    }
}

/// Whether a value is known to have few elements.
fn is_small(ty: &Type) -> bool {
    ty.known_elements().is_some_and(|n| n <= SMALL)
}

/// Whether executing a body may take many steps: it loops or calls.
fn is_long(body: &Body<Seg>) -> bool {
    let mut long = false;
    all_stms(body, &mut |stm| {
        long |= matches!(stm.exp, Exp::Loop { .. } | Exp::Call { .. })
    });
    long
}
