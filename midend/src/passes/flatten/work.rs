//! How much work the operators of a host loop do, estimated from the extents that are known before the loop.
//!
//! Work is counted in statements that a thread of a device executes. The estimate is a sum of products of extents with constant factors, which a
//! guard computes when the program runs.

use super::Cx;
use super::label::is_cheap;
use crate::hash::HashSet;
use crate::ir::array::ArrayOp;
use crate::ir::id::Var;
use crate::ir::scalar::Const;
use crate::ir::soac::{Operator, Soac};
use crate::ir::syntax::{Atom, Body, Exp, Lambda, LoopForm, Stm};
use crate::ir::types::{Dim, Size, Type};
use crate::ir::walk::{all_stms, deep};
use std::collections::BTreeMap;

/// What a block does while a kernel is launched, in statements: a launch takes 3 microseconds, in which a multiprocessor starts 5000 instructions of
/// warps of 32 threads, and a statement becomes two or three of them.
pub(super) const LAUNCH: i64 = 1 << 16;

/// How many statements of all threads take as long as one of sequential code, each instruction of which waits for the one before.
const ALONE: i64 = 64;

/// The number of steps and the extents that are not known before the loop.
const UNKNOWN: i64 = 32;

/// The statements of an operation that becomes many instructions, such as a division or a sine, of a memory access, and of a function.
const DEAR: i64 = 8;
const ACCESS: i64 = 4;
const FUNCTION: i64 = 64;

/// A sum of products of extents.
#[derive(Default)]
pub(super) struct Work {
    /// Without extents.
    pub(super) fixed: i64,
    /// By the extents, which are in order: the factor.
    pub(super) by_extents: BTreeMap<Vec<Var>, i64>,
}

impl Work {
    /// Makes it at least as much as another, whatever the extents.
    fn at_least(&mut self, other: Self) {
        self.fixed = self.fixed.max(other.fixed);
        for (extents, factor) in other.by_extents {
            let own = self.by_extents.entry(extents).or_default();
            *own = factor.max(*own);
        }
    }

    fn add(&mut self, times: &Times) {
        let own = match times.extents.is_empty() {
            true => &mut self.fixed,
            false => self.by_extents.entry(times.extents.clone()).or_default(),
        };
        *own = own.saturating_add(times.factor);
    }
}

/// How often something is executed.
#[derive(Clone)]
struct Times {
    /// Extents that are known before the loop, in order.
    extents: Vec<Var>,
    factor: i64,
}

impl Times {
    fn factor(factor: i64) -> Self {
        let extents = Vec::new();
        Self { extents, factor }
    }

    fn by(&self, n: i64) -> Self {
        let factor = self.factor.saturating_mul(n);
        let extents = self.extents.clone();
        Self { extents, factor }
    }
}

/// What estimates the work of the operators of a loop.
struct Estimate<'a, 'c> {
    cx: &'a Cx<'c>,
    /// What the loop binds.
    inside: HashSet<Var>,
    /// The most work that an operator does.
    most: Work,
}

impl Cx<'_> {
    /// The most work that an operator of a host loop does, or sequential code as long as that; nothing if it is more than a launch is worth,
    /// whatever the extents.
    pub(super) fn work_of_operators(&self, stm: &Stm<Soac>) -> Option<Work> {
        let mut inside = HashSet::default();
        stm.exp.inner_binders(&mut |v| {
            inside.insert(v);
        });
        stm.exp.scopes(&mut |_, body| {
            all_stms(body, &mut |stm| {
                inside.extend(&stm.binds);
                stm.exp.inner_binders(&mut |v| {
                    inside.insert(v);
                });
            });
        });
        let most = Work::default();
        let cx = self;
        let mut estimate = Estimate { cx, inside, most };
        estimate.step(stm);
        Some(estimate.most).filter(|most| most.fixed <= LAUNCH)
    }
}

impl Estimate<'_, '_> {
    /// A statement that the block executes: the threads share out the work of operators, and all do the rest.
    fn step(&mut self, stm: &Stm<Soac>) {
        let mut work = Work::default();
        match &stm.exp {
            Exp::If { .. } | Exp::Loop { .. } if self.holds_operators(stm) => {
                let mut stms = Vec::new();
                stm.exp.scopes(&mut |_, body| stms.extend(&body.stms));
                return stms.into_iter().for_each(|stm| deep(|| self.step(stm)));
            }
            Exp::Op(_) => self.stm(stm, &Times::factor(1), &mut work),
            Exp::Loop { .. } | Exp::If { .. } | Exp::Call { .. } => {
                self.stm(stm, &Times::factor(ALONE), &mut work);
            }
            Exp::Atom(_) | Exp::Scalar(..) | Exp::Assert { .. } | Exp::Guard { .. } => return,
        }
        self.most.at_least(work);
    }

    fn holds_operators(&self, stm: &Stm<Soac>) -> bool {
        let mut holds = false;
        stm.exp.scopes(&mut |_, body| {
            all_stms(body, &mut |stm| {
                let is_array = matches!(stm.exp, Exp::Op(Soac::Array(_)));
                holds |= matches!(stm.exp, Exp::Op(_)) && !is_array;
            });
        });
        holds
    }

    fn body(&self, body: &Body<Soac>, times: &Times, work: &mut Work) {
        let stms = body.stms.iter();
        stms.for_each(|stm| deep(|| self.stm(stm, times, work)));
    }

    fn stm(&self, stm: &Stm<Soac>, times: &Times, work: &mut Work) {
        match &stm.exp {
            Exp::Atom(_) | Exp::Assert { .. } | Exp::Guard { .. } => work.add(times),
            Exp::Scalar(op, _) => work.add(&times.by(if is_cheap(*op) { 1 } else { DEAR })),
            Exp::Call { .. } => work.add(&times.by(FUNCTION)),
            Exp::If { .. } => stm
                .exp
                .scopes(&mut |_, branch| self.body(branch, times, work)),
            Exp::Loop { form, body, .. } => {
                let steps = match form {
                    LoopForm::For { bound, .. } => self.steps(times, *bound),
                    LoopForm::While(cond) => {
                        let steps = times.by(UNKNOWN);
                        self.body(cond, &steps, work);
                        steps
                    }
                };
                self.body(body, &steps, work);
            }
            Exp::Op(Soac::Array(op)) => self.array(stm, op, times, work),
            Exp::Op(Soac::Screma {
                width,
                arrays,
                lam,
                scans,
                reds,
            }) => {
                let operators = scans.iter().chain(reds).map(|op: &Operator<Soac>| &op.lam);
                let points = self.extent(times, *width);
                self.points((arrays, lam), operators, &points, work);
            }
            Exp::Op(Soac::Hist {
                width,
                arrays,
                lam,
                ops,
            }) => {
                let operators = ops.iter().map(|op| &op.op.lam);
                let points = self.extent(times, *width);
                self.points((arrays, lam), operators, &points, work);
            }
            Exp::Op(
                Soac::Scatter {
                    width, arrays, lam, ..
                }
                | Soac::Filter { width, arrays, lam }
                | Soac::FlatMap {
                    width, arrays, lam, ..
                }
                | Soac::WithAcc {
                    width, arrays, lam, ..
                },
            ) => {
                let points = self.extent(times, *width);
                self.points((arrays, lam), [].into_iter(), &points, work);
            }
            Exp::Op(Soac::UpdateAcc(_)) => work.add(&times.by(ACCESS)),
        }
    }

    /// The points of an operator: elements are read, one for each result written.
    fn points<'a>(
        &self,
        (arrays, lam): (&[Var], &Lambda<Soac>),
        operators: impl Iterator<Item = &'a Lambda<Soac>>,
        points: &Times,
        work: &mut Work,
    ) {
        let accesses = arrays.len() + lam.body.result.len();
        work.add(&points.by(ACCESS * accesses as i64));
        self.body(&lam.body, points, work);
        operators.for_each(|op| self.body(&op.body, points, work));
    }

    fn array(&self, stm: &Stm<Soac>, op: &ArrayOp, times: &Times, work: &mut Work) {
        let written = match op {
            ArrayOp::Index { .. } => return work.add(&times.by(ACCESS)),
            ArrayOp::Slice { .. } | ArrayOp::Rearrange { .. } | ArrayOp::Reshape { .. } => {
                return;
            }
            ArrayOp::Update { value, .. } => value.ty(&self.cx.vars),
            ArrayOp::Literal { .. }
            | ArrayOp::Iota { .. }
            | ArrayOp::Replicate { .. }
            | ArrayOp::Scratch { .. }
            | ArrayOp::Copy(_)
            | ArrayOp::Concat { .. }
            | ArrayOp::Manifest { .. }
            | ArrayOp::Trace(_)
            | ArrayOp::Stream(_) => match stm.binds.first() {
                Some(&v) => self.cx.vars[v].ty.clone(),
                None => Type::I64,
            },
        };
        let elements = written
            .shape()
            .iter()
            .fold(times.by(ACCESS), |times, dim| match *dim {
                Dim::Size(n) => self.extent(&times, n),
                Dim::Ragged(_) => times.by(UNKNOWN),
            });
        work.add(&elements);
    }

    fn extent(&self, times: &Times, n: Size) -> Times {
        match n {
            Size::Const(n) => times.by(n),
            Size::Var(v) if self.inside.contains(&v) => times.by(UNKNOWN),
            Size::Var(v) => {
                let mut extents = times.extents.clone();
                let position = extents.partition_point(|&w| w < v);
                extents.insert(position, v);
                Times { extents, ..*times }
            }
        }
    }

    fn steps(&self, times: &Times, bound: Atom) -> Times {
        match bound {
            Atom::Const(Const::I64(n)) => times.by(n),
            Atom::Var(v) if self.cx.vars[v].ty == Type::I64 => self.extent(times, Size::Var(v)),
            Atom::Const(_) | Atom::Var(_) => times.by(UNKNOWN),
        }
    }
}
