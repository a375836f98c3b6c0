//! From nested to flat: every parallel operator becomes an operation over a space of indices, or a loop.
//!
//! This is the plain way down. Operators at the top level of host code become one device-level operation each, over
//! several dimensions where maps are perfectly nested; whatever stands inside of them is sequential:
//!
//! ```text
//! map (\x -> reduce (+) 0 (map (* x) ys)) xs
//! ──►
//! segmap (i < n) { let x = xs[i]; loop acc = 0 for j < m do acc + ys[j] * x }
//! ```
//!
//! Functions that hold parallel operators exist twice afterwards: as host code and, where parallel bodies call them,
//! as sequential code.

mod acc;
mod elementwise;
mod names;
mod nest;
mod par;
mod rows;
mod seq;

use crate::ir::array::{ArrayOp, SliceDim};
use crate::ir::id::{FunId, IdMap, IdVec, SpanId, Var};
use crate::ir::scalar::Const;
use crate::ir::seg::Seg;
use crate::ir::soac::{HistOp, Operator, ScatterDest, Soac};
use crate::ir::span::Spans;
use crate::ir::syntax::{
    Atom, Body, Exp, Fun, Lambda, LoopForm, LoopParam, Message, MessagePart, Param, Program, Stm,
    Vars,
};
use crate::ir::walk::deep;

/// Flattens a program.
pub fn flatten(program: Program<Soac>) -> Program<Seg> {
    let Program { vars, funs, spans } = program;
    let mut cx = Cx {
        source: &funs,
        vars,
        subst: IdMap::new(),
        parallel: parallel_functions(&funs),
        sequential: vec![None; funs.len()],
        pending: Vec::new(),
        span: Spans::NONE,
    };
    let mut flat: IdVec<FunId, Fun<Seg>> = funs.iter().map(|fun| cx.host_function(fun)).collect();
    let mut done = 0;
    while let Some(&id) = cx.pending.get(done) {
        flat.push(cx.sequential_function(&funs[id]));
        done += 1;
    }
    Program {
        vars: cx.vars,
        funs: flat,
        spans,
    }
}

/// Who executes the code that is being made.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Mode {
    /// The host: operators become parallel operations, and variables keep their names.
    Host,
    /// A point of a parallel operation: operators become loops, and variables are renamed, for the same code may be
    /// instantiated several times.
    Seq,
}

/// The state of the pass.
struct Cx<'p> {
    source: &'p IdVec<FunId, Fun<Soac>>,
    vars: Vars,
    /// What stands for a variable of the source. Variables without an entry stand for themselves.
    subst: IdMap<Var, Option<Atom>>,
    /// Whether a function holds parallel operators, also through calls.
    parallel: Vec<bool>,
    /// The sequential version of a function, once it is asked for.
    sequential: Vec<Option<FunId>>,
    /// The functions whose sequential versions were asked for, in the order of the versions' identifiers.
    pending: Vec<FunId>,
    /// The place of the statement that is being translated.
    span: SpanId,
}

/// Which functions hold parallel operators, directly or through calls.
fn parallel_functions(funs: &IdVec<FunId, Fun<Soac>>) -> Vec<bool> {
    let mut facts = vec![false; funs.len()];
    loop {
        let mut changed = false;
        for (id, fun) in funs.enumerate() {
            let i = id.0 as usize;
            if !facts[i] && is_parallel(&fun.body, &facts) {
                facts[i] = true;
                changed = true;
            }
        }
        if !changed {
            return facts;
        }
    }
}

/// Whether the body holds parallel operators, given which functions do.
fn is_parallel(body: &Body<Soac>, funs: &[bool]) -> bool {
    body.stms.iter().any(|stm| match &stm.exp {
        Exp::Atom(_)
        | Exp::Scalar(..)
        | Exp::Assert { .. }
        | Exp::Guard { .. }
        | Exp::Op(Soac::Array(_) | Soac::UpdateAcc(_)) => false,
        Exp::If {
            then, otherwise, ..
        } => is_parallel(then, funs) || is_parallel(otherwise, funs),
        Exp::Loop { form, body, .. } => {
            is_parallel(body, funs)
                || match form {
                    LoopForm::For { .. } => false,
                    LoopForm::While(cond) => is_parallel(cond, funs),
                }
        }
        Exp::Call { fun, .. } => funs[fun.0 as usize],
        Exp::Op(
            Soac::Screma { .. }
            | Soac::Hist { .. }
            | Soac::Scatter { .. }
            | Soac::Filter { .. }
            | Soac::WithAcc { .. },
        ) => true,
    })
}

impl<'p> Cx<'p> {
    fn host_function(&mut self, fun: &'p Fun<Soac>) -> Fun<Seg> {
        Fun {
            name: fun.name.clone(),
            entry: fun.entry.clone(),
            params: fun.params.clone(),
            results: fun.results.clone(),
            body: self.body(&fun.body, Mode::Host),
            inline: fun.inline,
            span: fun.span,
        }
    }

    fn sequential_function(&mut self, fun: &'p Fun<Soac>) -> Fun<Seg> {
        let rename = |cx: &mut Self, params: &[Param]| {
            let renamed = params.iter().map(|p| Param {
                var: cx.bind(p.var, Mode::Seq),
                unique: p.unique,
            });
            renamed.collect::<Vec<_>>()
        };
        let params = rename(self, &fun.params);
        let body = self.body(&fun.body, Mode::Seq);
        Fun {
            name: format!("{}_seq", fun.name),
            entry: None,
            params,
            results: rename(self, &fun.results),
            body,
            inline: fun.inline,
            span: fun.span,
        }
    }

    /// The function to call for `fun` from code of this mode.
    fn callee(&mut self, fun: FunId, mode: Mode) -> FunId {
        let i = fun.0 as usize;
        if mode == Mode::Host || !self.parallel[i] {
            return fun;
        }
        if let Some(version) = self.sequential[i] {
            return version;
        }
        let next = self.source.len() + self.pending.len();
        let version = FunId(u32::try_from(next).expect("fewer than 2^32 functions"));
        self.sequential[i] = Some(version);
        self.pending.push(fun);
        version
    }

    fn body(&mut self, body: &Body<Soac>, mode: Mode) -> Body<Seg> {
        let mut stms = Vec::new();
        let result = self.stms(body, mode, &mut stms);
        Body { stms, result }
    }

    /// Translates the statements of a body into `out`, and gives its results.
    fn stms(&mut self, body: &Body<Soac>, mode: Mode, out: &mut Vec<Stm<Seg>>) -> Vec<Atom> {
        for stm in &body.stms {
            let start = out.len();
            let outer = std::mem::replace(&mut self.span, stm.span);
            deep(|| self.stm(stm, mode, out));
            self.span = outer;
            // What was proved before the statement is needed by everything that it became.
            let certs: Vec<Var> = stm.certs.iter().filter_map(|&c| self.var_atom(c)).collect();
            for made in &mut out[start..] {
                made.certs
                    .extend(certs.iter().filter(|c| !made.binds.contains(c)));
            }
        }
        self.atoms(&body.result)
    }

    fn stm(&mut self, stm: &Stm<Soac>, mode: Mode, out: &mut Vec<Stm<Seg>>) {
        let exp = match &stm.exp {
            Exp::Op(Soac::Array(op)) => Exp::Op(Seg::Array(self.array_op(op))),
            Exp::Op(soac) => {
                let binds = self.binds(&stm.binds, mode);
                return match mode {
                    Mode::Host => self.par_soac(soac, &binds, out),
                    Mode::Seq => self.seq_soac(soac, &binds, out),
                };
            }
            Exp::Atom(a) => Exp::Atom(self.atom(*a)),
            Exp::Scalar(op, args) => Exp::Scalar(*op, self.atoms(args)),
            Exp::Assert { cond, message } => Exp::Assert {
                cond: self.atom(*cond),
                message: self.message(message),
            },
            Exp::Guard { threshold, measure } => Exp::Guard {
                threshold: threshold.clone(),
                measure: self.atom(*measure),
            },
            Exp::If {
                cond,
                then,
                otherwise,
            } => Exp::If {
                cond: self.atom(*cond),
                then: self.body(then, mode),
                otherwise: self.body(otherwise, mode),
            },
            Exp::Loop { params, form, body } => self.loop_exp(params, form, body, mode),
            Exp::Call { fun, args } => Exp::Call {
                fun: self.callee(*fun, mode),
                args: self.atoms(args),
            },
        };
        let binds = self.binds(&stm.binds, mode);
        self.push(out, binds, exp);
    }

    fn loop_exp(
        &mut self,
        params: &[LoopParam],
        form: &LoopForm<Soac>,
        body: &Body<Soac>,
        mode: Mode,
    ) -> Exp<Seg> {
        let inits: Vec<Atom> = params.iter().map(|p| self.atom(p.init)).collect();
        let vars: Vec<Var> = params.iter().map(|p| self.bind(p.var, mode)).collect();
        let form = match form {
            LoopForm::For { index, bound } => LoopForm::For {
                bound: self.atom(*bound),
                index: self.bind(*index, mode),
            },
            LoopForm::While(cond) => LoopForm::While(self.body(cond, mode)),
        };
        let body = self.body(body, mode);
        let params = vars
            .into_iter()
            .zip(inits)
            .map(|(var, init)| LoopParam { var, init })
            .collect();
        Exp::Loop { params, form, body }
    }

    fn array_op(&self, op: &ArrayOp) -> ArrayOp {
        match op {
            ArrayOp::Index { array, indices } => ArrayOp::Index {
                array: self.var(*array),
                indices: self.atoms(indices),
            },
            ArrayOp::Slice { array, dims } => ArrayOp::Slice {
                array: self.var(*array),
                dims: self.slice_dims(dims),
            },
            ArrayOp::Update { array, dims, value } => ArrayOp::Update {
                array: self.var(*array),
                dims: self.slice_dims(dims),
                value: self.atom(*value),
            },
            ArrayOp::Literal { elems, row } => ArrayOp::Literal {
                elems: self.atoms(elems),
                row: self.ty(row),
            },
            ArrayOp::Iota {
                len,
                start,
                step,
                ty,
            } => ArrayOp::Iota {
                len: self.size(*len),
                start: self.atom(*start),
                step: self.atom(*step),
                ty: *ty,
            },
            ArrayOp::Replicate { shape, value } => ArrayOp::Replicate {
                shape: self.dims(shape),
                value: self.atom(*value),
            },
            ArrayOp::Scratch { elem, shape } => ArrayOp::Scratch {
                elem: *elem,
                shape: self.dims(shape),
            },
            ArrayOp::Copy(array) => ArrayOp::Copy(self.var(*array)),
            ArrayOp::Concat { arrays, len } => ArrayOp::Concat {
                arrays: self.all_vars(arrays),
                len: self.size(*len),
            },
            ArrayOp::Rearrange { perm, array } => ArrayOp::Rearrange {
                perm: perm.clone(),
                array: self.var(*array),
            },
            ArrayOp::Reshape { shape, array } => ArrayOp::Reshape {
                shape: self.dims(shape),
                array: self.var(*array),
            },
            ArrayOp::Manifest { perm, array } => ArrayOp::Manifest {
                perm: perm.clone(),
                array: self.var(*array),
            },
        }
    }

    fn slice_dims(&self, dims: &[SliceDim]) -> Vec<SliceDim> {
        let dims = dims.iter().map(|dim| match *dim {
            SliceDim::Fix(i) => SliceDim::Fix(self.atom(i)),
            SliceDim::Range { start, len, stride } => SliceDim::Range {
                start: self.atom(start),
                len: self.size(len),
                stride: self.atom(stride),
            },
        });
        dims.collect()
    }

    fn message(&self, message: &Message) -> Message {
        let parts = message.parts.iter().map(|part| match part {
            MessagePart::Text(text) => MessagePart::Text(text.clone()),
            MessagePart::Value(value) => MessagePart::Value(self.atom(*value)),
        });
        Message {
            kind: message.kind,
            parts: parts.collect(),
        }
    }

    /// A lambda as it stands, for operators that stay with a parallel operation; its body is sequential.
    fn lambda(&mut self, lam: &Lambda<Soac>) -> Lambda<Seg> {
        Lambda {
            params: self.binds(&lam.params, Mode::Seq),
            body: self.body(&lam.body, Mode::Seq),
        }
    }

    fn operator(&mut self, op: &Operator<Soac>) -> Operator<Seg> {
        Operator {
            comm: op.comm,
            neutral: self.atoms(&op.neutral),
            lam: self.lambda(&op.lam),
        }
    }

    fn hist_op(&mut self, op: &HistOp<Soac>) -> HistOp<Seg> {
        HistOp {
            shape: self.sizes(&op.shape),
            dests: self.all_vars(&op.dests),
            op: self.operator(&op.op),
        }
    }

    fn scatter_dest(&self, dest: &ScatterDest) -> ScatterDest {
        ScatterDest {
            rank: dest.rank,
            array: self.var(dest.array),
        }
    }

    /// The sequential code of a lambda applied to arguments; gives its results.
    fn apply(&mut self, lam: &Lambda<Soac>, args: &[Atom], out: &mut Vec<Stm<Seg>>) -> Vec<Atom> {
        for (&param, &arg) in lam.params.iter().zip(args) {
            self.subst.set(param, Some(arg));
        }
        self.stms(&lam.body, Mode::Seq, out)
    }
}

/// The constant `n` of type `i64`.
const fn int(n: i64) -> Atom {
    Atom::Const(Const::I64(n))
}
