//! Functions, for the host and for kernels.

use super::emit::FrameKind;
use super::{Cx, Mode};
use crate::ir::id::{FunId, Var};
use crate::ir::mem::Mem;
use crate::ir::rename::{self, Subst};
use crate::ir::seg::Seg;
use crate::ir::syntax::{Body, Fun, Param};
use crate::ir::types::Type;

impl Cx<'_> {
    pub(super) fn host_function(&mut self, fun: &Fun<Seg>) -> Fun<Mem> {
        self.function(fun, Mode::Host)
    }

    pub(super) fn kernel_function(&mut self, fun: &Fun<Seg>) -> Fun<Mem> {
        self.function(fun, Mode::Kernel)
    }

    /// The version for kernels of a function that the host calls too.
    pub(super) fn renamed_kernel_function(&mut self, fun: &Fun<Seg>) -> Fun<Mem> {
        let mut subst = Subst::new();
        let mut fresh = |params: &[Param], subst: &mut Subst| {
            let params = params.iter().map(|p| Param {
                var: rename::fresh(&mut self.vars, subst, p.var),
                unique: p.unique,
            });
            params.collect::<Vec<_>>()
        };
        let params = fresh(&fun.params, &mut subst);
        let results = fresh(&fun.results, &mut subst);
        let body = rename::body(&mut self.vars, &mut subst, &fun.body);
        self.definitions.add(&body);
        let copy = Fun {
            name: format!("{}_in_kernel", fun.name),
            entry: None,
            params,
            results,
            body,
            inline: fun.inline,
            derivative: None,
            span: fun.span,
        };
        self.kernel_function(&copy)
    }

    /// The function that code of kernels calls for `fun`.
    pub(super) fn version(&mut self, fun: FunId) -> FunId {
        if !self.runs_on_host(fun) {
            return fun;
        }
        let i = fun.0 as usize;
        if let Some(version) = self.versions[i] {
            return version;
        }
        let next = self.source.len() + self.pending.len();
        let version = FunId(u32::try_from(next).expect("fewer than 2^32 functions"));
        self.versions[i] = Some(version);
        self.pending.push(fun);
        version
    }

    fn function(&mut self, fun: &Fun<Seg>, mode: Mode) -> Fun<Mem> {
        self.mode = mode;
        self.base = 0;
        self.fun_name.clone_from(&fun.name);
        self.kernels = 0;
        self.span = fun.span;
        self.certs.clear();
        self.enter(FrameKind::Top);
        let params = self.formals(&fun.params, true);
        for p in &fun.params {
            if self.is_array(p.var) {
                let offset = self
                    .offsets
                    .get(&p.var)
                    .map_or(crate::ir::syntax::Atom::ZERO, |&o| o.into());
                self.point_to(p.var, p.var, offset);
            }
        }
        self.stms(&fun.body);
        let body = self.function_body(&fun.body);
        Fun {
            name: fun.name.clone(),
            entry: fun.entry.clone(),
            params,
            results: self.formals(&fun.results, false),
            body,
            inline: fun.inline,
            derivative: None,
            span: fun.span,
        }
    }

    /// Parameters or results with arrays as buffers, in kernels with offsets.
    fn formals(&mut self, params: &[Param], inside: bool) -> Vec<Param> {
        let mut formals = Vec::new();
        for &param in params {
            let mut add = |cx: &mut Self, param: Param| {
                if inside {
                    cx.define(param.var);
                }
                formals.push(param);
            };
            add(self, param);
            if self.is_array(param.var) && self.mode == Mode::Kernel {
                let offset: Var = self.fresh("offset", Type::I64);
                self.offsets.insert(param.var, offset);
                add(
                    self,
                    Param {
                        var: offset,
                        unique: false,
                    },
                );
            }
        }
        formals
    }

    /// Ends the body of a function.
    fn function_body(&mut self, body: &Body<Seg>) -> Body<Mem> {
        let mut result = Vec::new();
        for &atom in &body.result {
            match atom.as_var().and_then(|v| self.views.get(&v)).cloned() {
                None => result.push(self.atom(atom)),
                Some(view) => {
                    let view = self.crossing(&view);
                    result.push(view.buffer.into());
                    if self.mode == Mode::Kernel {
                        result.push(view.offset);
                    }
                }
            }
        }
        self.leave(result)
    }
}
