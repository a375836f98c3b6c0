//! Strip-mining of loops, `#[stripmine(k)]`: a loop becomes `k` loops around one, each with about the `k + 1`st root of the iterations.
//! The state of a loop is kept for each iteration by derivatives in reverse mode; so that of `n` iterations `(k + 1) n^(1 / (k + 1))`
//! states are kept at one time instead of `n`, and the body is executed `k` times more often.
//!
//! ```text
//! loop p = a for i < n do B    ──►    c = ceil (sqrt n)
//!                                     loop q = a for j < ceil (n / c) do
//!                                       loop p = q for l < min c (n - c * j) do i = c * j + l  B
//! ```

use super::emit::int;
use super::{Lower, Res};
use midend::ir::id::Var;
use midend::ir::rename::{self, Subst};
use midend::ir::scalar::{BinOp, Const, ScalarOp, UnOp};
use midend::ir::soac::Soac;
use midend::ir::syntax::{Atom, Body, Exp, LoopForm, LoopParam, Stm};
use midend::ir::types::{ScalarType, Type};

/// A loop that is counted, and the iterations of its innermost loop when it is strip-mined.
struct Counted {
    params: Vec<LoopParam>,
    index: Var,
    body: Body<Soac>,
    /// The iterations of a loop with so many loops in it.
    strides: Vec<Atom>,
}

/// What is left to be looped over: from where, and how far.
#[derive(Clone, Copy)]
struct Rest {
    start: Atom,
    length: Atom,
}

impl Lower<'_> {
    /// The loop with so many loops around it. One without a count stays as it is.
    pub(super) fn strip_mined(
        &mut self,
        levels: usize,
        params: Vec<LoopParam>,
        form: LoopForm<Soac>,
        body: Body<Soac>,
    ) -> Res<Exp<Soac>> {
        let (LoopForm::For { index, bound }, 1..) = (&form, levels) else {
            return Ok(Exp::Loop { params, form, body });
        };
        let (index, ty) = (*index, self.ty(*bound));
        let length = self.convert(
            ty.elem().unwrap_or(ScalarType::I64),
            ScalarType::I64,
            *bound,
        );
        let float = self.convert(ScalarType::I64, ScalarType::F64, length);
        #[allow(clippy::cast_precision_loss, reason = "levels are few")]
        let power = Atom::Const(Const::f64(1.0 / (levels as f64 + 1.0)));
        let root = self.bin(BinOp::Pow, ScalarType::F64, float, power);
        let root = self.scalar(ScalarOp::Un(UnOp::Ceil, ScalarType::F64), &[root]);
        let root = self.convert(ScalarType::F64, ScalarType::I64, root);
        let root = self.i64_bin(BinOp::Max, root, int(1));
        let mut strides = vec![int(1)];
        for level in 0..levels {
            strides.push(self.i64_bin(BinOp::Mul, strides[level], root));
        }
        let inits = params.iter().map(|p| p.init).collect();
        let mut of = Counted {
            params,
            index,
            body,
            strides,
        };
        let start = int(0);
        self.level(levels, &mut of, Rest { start, length }, inits)
    }

    fn level(
        &mut self,
        level: usize,
        of: &mut Counted,
        rest: Rest,
        inits: Vec<Atom>,
    ) -> Res<Exp<Soac>> {
        let step = self.fresh("i", Type::I64);
        if level == 0 {
            return Ok(self.innermost(step, of, rest, &inits));
        }
        let stride = of.strides[level];
        let up = self.i64_bin(BinOp::Add, rest.length, stride);
        let up = self.i64_bin(BinOp::Sub, up, int(1));
        let bound = self.i64_bin(BinOp::Quot, up, stride);
        let mut subst = Subst::new();
        let own: Vec<Var> = (of.params.iter())
            .map(|p| rename::fresh(&mut self.vars, &mut subst, p.var))
            .collect();
        let (result, stms) = self.nested(|l| {
            let done = l.i64_bin(BinOp::Mul, step.into(), stride);
            let start = l.i64_bin(BinOp::Add, rest.start, done);
            let left = l.i64_bin(BinOp::Sub, rest.length, done);
            let length = l.i64_bin(BinOp::Min, left, stride);
            let inits = own.iter().map(|v| Atom::Var(*v)).collect();
            let inner = l.level(level - 1, of, Rest { start, length }, inits)?;
            let mut subst = Subst::new();
            let binds: Vec<Var> = (of.params.iter())
                .map(|p| rename::fresh(&mut l.vars, &mut subst, p.var))
                .collect();
            l.push(binds.clone(), inner);
            Ok(binds.into_iter().map(Atom::Var).collect())
        })?;
        let own = own.into_iter().zip(inits);
        Ok(Exp::Loop {
            params: own.map(|(var, init)| LoopParam { var, init }).collect(),
            form: LoopForm::For { index: step, bound },
            body: Body { stms, result },
        })
    }

    /// The loop itself, over its part.
    fn innermost(&mut self, step: Var, of: &mut Counted, rest: Rest, inits: &[Atom]) -> Exp<Soac> {
        let span = self.span;
        let mut before = Vec::new();
        let mut bind = |v: Var, op: ScalarOp, args: Vec<Atom>| {
            before.push(Stm {
                binds: vec![v],
                certs: Vec::new(),
                exp: Exp::Scalar(op, args),
                span,
            });
        };
        let add = ScalarOp::Bin(BinOp::Add, ScalarType::I64);
        match self.vars[of.index].ty.elem() {
            Some(ty) if ty != ScalarType::I64 => {
                let wide = self.fresh("i", Type::I64);
                bind(wide, add, vec![rest.start, step.into()]);
                let narrow = ScalarOp::Convert(ScalarType::I64, ty);
                bind(of.index, narrow, vec![wide.into()]);
            }
            Some(_) | None => bind(of.index, add, vec![rest.start, step.into()]),
        }
        before.append(&mut of.body.stms);
        let body = Body {
            stms: before,
            result: std::mem::take(&mut of.body.result),
        };
        for (param, init) in of.params.iter_mut().zip(inits) {
            param.init = *init;
        }
        Exp::Loop {
            params: of.params.clone(),
            form: LoopForm::For {
                index: step,
                bound: rest.length,
            },
            body,
        }
    }
}
